/* SPDX-License-Identifier: Apache-2.0 */
/*
 * htsim.c - reads the .topo files of htsim, which describe a tree of two or three tiers:
 *
 *	Nodes 32		hosts
 *	Tiers 2			2 or 3
 *	Podsize 32		hosts of a pod; with 2 tiers all of them
 *
 *	Tier 0			0 the leaves, 1 what is above them, 2 the core
 *	Downlink_speed_Gbps 100	and the other keys below, in any order
 *	...
 *
 * A key is written in any case of letters. Every switch of a tier has Radix_Down and Radix_Up
 * ports; Bundle is how many of the former lead to the same switch. The radices decide;
 * Oversubscribed, where it is given, must agree with them. Queue sizes are read and dropped: a
 * switch's buffer is not a matter of the topology.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/rate.h"
#include "base/text.h"
#include "topo/topo_priv.h"

#define MAX_TIERS 3
#define GBPS UINT64_C(1000000000)

enum key {
	KEY_SPEED,
	KEY_RADIX_DOWN,
	KEY_RADIX_UP,
	KEY_LATENCY,
	KEY_SWITCH_LATENCY,
	KEY_BUNDLE,
	KEY_OVERSUB,
	KEY_QUEUE_DOWN,
	KEY_QUEUE_UP,
	KEYS
};

enum head { HEAD_NODES, HEAD_TIERS, HEAD_PODSIZE, HEADS };

struct key_rule {
	const char *name;
	uint64_t min, max;
};

static const struct key_rule key_rules[] = {
	[KEY_SPEED] = { "Downlink_speed_Gbps", 1, WF_RATE_MAX / GBPS },
	[KEY_RADIX_DOWN] = { "Radix_Down", 1, WF_TOPO_MAX_PORTS },
	[KEY_RADIX_UP] = { "Radix_Up", 1, WF_TOPO_MAX_PORTS },
	[KEY_LATENCY] = { "Downlink_Latency_ns", 0, 1000000000 },
	[KEY_SWITCH_LATENCY] = { "Switch_Latency_ns", 0, 1000000000 },
	[KEY_BUNDLE] = { "Bundle", 1, WF_TOPO_MAX_PORTS },
	[KEY_OVERSUB] = { "Oversubscribed", 1, WF_TOPO_MAX_PORTS },
	[KEY_QUEUE_DOWN] = { "Queue_Down", 0, INT64_MAX },
	[KEY_QUEUE_UP] = { "Queue_Up", 0, INT64_MAX },
};

static const struct key_rule head_rules[] = {
	[HEAD_NODES] = { "Nodes", 1, WF_TOPO_MAX_NODES },
	[HEAD_TIERS] = { "Tiers", 2, MAX_TIERS },
	[HEAD_PODSIZE] = { "Podsize", 1, WF_TOPO_MAX_NODES },
};

_Static_assert(WF_ARRAY_SIZE(key_rules) == KEYS, "a rule for every key");
_Static_assert(WF_ARRAY_SIZE(head_rules) == HEADS, "a rule for every key");

/* A value and where it is; line 0 where it is not. */
struct setting {
	uint64_t value;
	unsigned line;
};

struct tier {
	unsigned line; /* 0: not in the file */
	struct setting set[KEYS];
};

struct htsim {
	struct wf_text text;
	struct setting head[HEADS];
	struct tier tier[MAX_TIERS];
};

/* Reads the value of a key, which may not be there twice, and the end of its line. */
static int read_setting(struct wf_text *text, const struct key_rule *rule, struct setting *setting)
{
	struct wf_word word;
	int ret;

	if (setting->line != 0)
		return wf_err_at(text->err, text->name, text->line, 0,
		                 "%s is set a second time; line %u has it already", rule->name,
		                 setting->line);
	ret = wf_text_expect(text, rule->name, &word);
	if (ret == 0)
		ret = wf_text_number(text, &word, rule->name, rule->min, rule->max,
		                     &setting->value);
	if (ret == 0)
		ret = wf_text_end_line(text, "a key and a number");
	setting->line = word.line;
	return ret;
}

/* The rule that word names, or n. */
static size_t find_rule(const struct key_rule *rules, size_t n, const struct wf_word *word)
{
	size_t i = 0;

	while (i < n && !wf_word_is(word, rules[i].name))
		i++;
	return i;
}

static int read_tier(struct htsim *htsim, struct tier **tier_p)
{
	static const struct key_rule rule = { "Tier", 0, MAX_TIERS - 1 };
	struct wf_text *text = &htsim->text;
	struct setting number = { 0 };
	int ret;

	ret = read_setting(text, &rule, &number);
	if (ret != 0)
		return ret;
	*tier_p = &htsim->tier[number.value];
	if ((*tier_p)->line != 0)
		return wf_err_at(text->err, text->name, number.line, 0,
		                 "tier %" PRIu64
		                 " is there a second time; line %u begins it already",
		                 number.value, (*tier_p)->line);
	(*tier_p)->line = number.line;
	return 0;
}

static int read_all(struct htsim *htsim)
{
	struct wf_text *text = &htsim->text;
	struct tier *tier = NULL;
	struct wf_word word;
	size_t i;
	int ret = 0;

	while (ret == 0 && wf_text_seek(text)) {
		wf_text_word(text, &word);
		if (wf_word_is(&word, "Tier")) {
			ret = read_tier(htsim, &tier);
			continue;
		}
		i = find_rule(head_rules, HEADS, &word);
		if (i < HEADS) {
			ret = read_setting(text, &head_rules[i], &htsim->head[i]);
			continue;
		}
		i = find_rule(key_rules, KEYS, &word);
		if (i < KEYS && tier != NULL)
			ret = read_setting(text, &key_rules[i], &tier->set[i]);
		else if (i < KEYS)
			ret = wf_err_at(text->err, text->name, word.line, word.column,
			                "%s belongs to a tier; put \"Tier 0\" before it",
			                key_rules[i].name);
		else
			ret = wf_err_at(
				text->err, text->name, word.line, word.column,
				"\"%.*s\" is no key; Nodes, Tiers, Podsize, Tier, "
				"Downlink_speed_Gbps, Radix_Down, Radix_Up, Queue_Down, "
				"Queue_Up, Downlink_Latency_ns, Switch_Latency_ns, Bundle and "
				"Oversubscribed are",
				(int)wf_min_u64(word.len, 40), word.at);
	}
	return ret;
}

/* Says that key of tier t is wrong, and what would be right. */
static int say_wrong(const struct htsim *htsim, uint32_t t, enum key key, uint64_t right,
                     const char *why)
{
	const struct setting *set = &htsim->tier[t].set[key];
	unsigned line = set->line != 0 ? set->line : htsim->tier[t].line;

	return wf_err_at(htsim->text.err, htsim->text.name, line, 0,
	                 "%s %" PRIu64 " of tier %" PRIu32 " does not close; %" PRIu64 " would: %s",
	                 key_rules[key].name, set->value, t, right, why);
}

static int check_tier_keys(const struct htsim *htsim, uint32_t t, bool top)
{
	static const enum key needed[] = { KEY_SPEED, KEY_RADIX_DOWN, KEY_LATENCY, KEY_RADIX_UP };
	const struct wf_text *text = &htsim->text;
	const struct tier *tier = &htsim->tier[t];
	uint64_t ports = tier->set[KEY_RADIX_DOWN].value;

	if (tier->line == 0)
		return wf_err_at(text->err, text->name, text->line, 0,
		                 "tier %" PRIu32 " is missing; there are tiers 0 to %" PRIu64, t,
		                 htsim->head[HEAD_TIERS].value - 1);
	for (size_t i = 0; i < WF_ARRAY_SIZE(needed); i++) {
		if (tier->set[needed[i]].line == 0 && !(top && needed[i] == KEY_RADIX_UP))
			return wf_err_at(text->err, text->name, tier->line, 0,
			                 "tier %" PRIu32 " has no %s; every tier%s needs it", t,
			                 key_rules[needed[i]].name,
			                 needed[i] == KEY_RADIX_UP ? " but the highest" : "");
	}
	if (t == MAX_TIERS - 1 && tier->set[KEY_RADIX_UP].line != 0)
		return wf_err_at(text->err, text->name, tier->set[KEY_RADIX_UP].line, 0,
		                 "the highest tier has no Radix_Up; leave it out");
	if (!top)
		ports += tier->set[KEY_RADIX_UP].value;
	if (ports > WF_TOPO_MAX_PORTS)
		return wf_err_at(text->err, text->name, tier->line, 0,
		                 "a switch of tier %" PRIu32 " has %" PRIu64
		                 " ports; at most %d are allowed",
		                 t, ports, WF_TOPO_MAX_PORTS);
	return 0;
}

static int check_keys(const struct htsim *htsim)
{
	const struct wf_text *text = &htsim->text;
	uint32_t tiers;

	for (size_t i = 0; i < HEADS; i++) {
		if (htsim->head[i].line == 0)
			return wf_err_at(text->err, text->name, text->line, 0,
			                 "%s is missing; it comes before the tiers",
			                 head_rules[i].name);
	}
	tiers = (uint32_t)htsim->head[HEAD_TIERS].value;
	for (uint32_t t = 0; t < tiers; t++) {
		int ret = check_tier_keys(htsim, t, t == tiers - 1);

		if (ret != 0)
			return ret;
	}
	if (tiers < MAX_TIERS && htsim->tier[tiers].line != 0)
		return wf_err_at(text->err, text->name, htsim->tier[tiers].line, 0,
		                 "there is a tier %" PRIu32 "; with Tiers %" PRIu32
		                 " the highest is %" PRIu32,
		                 tiers, tiers, tiers - 1);
	return 0;
}

static uint64_t key_of(const struct htsim *htsim, uint32_t t, enum key key)
{
	const struct setting *set = &htsim->tier[t].set[key];

	return set->line == 0 && key == KEY_BUNDLE ? 1 : set->value;
}

/* Oversubscribed of tier t, where given: downlink over uplink bandwidth of its switches. */
static int check_oversub(const struct htsim *htsim, uint32_t t)
{
	uint64_t down = key_of(htsim, t, KEY_RADIX_DOWN) * key_of(htsim, t, KEY_SPEED);
	uint64_t up = key_of(htsim, t, KEY_RADIX_UP) * key_of(htsim, t + 1, KEY_SPEED);

	if (htsim->tier[t].set[KEY_OVERSUB].line == 0 || down == up * key_of(htsim, t, KEY_OVERSUB))
		return 0;
	return say_wrong(htsim, t, KEY_OVERSUB, (down + up - 1) / up,
	                 "it is the downlinks' bandwidth over the uplinks'");
}

/* Fills the numbers of hosts, leaves and pods. */
static int plan_hosts(const struct htsim *htsim, struct wf_tree *tree)
{
	const struct wf_text *text = &htsim->text;
	uint64_t nodes = htsim->head[HEAD_NODES].value;
	uint64_t pod = htsim->head[HEAD_PODSIZE].value;

	tree->tiers = (uint32_t)htsim->head[HEAD_TIERS].value;
	if (tree->tiers == 2 && pod != nodes)
		return wf_err_at(text->err, text->name, htsim->head[HEAD_PODSIZE].line, 0,
		                 "Podsize is %" PRIu64
		                 "; with 2 tiers all hosts are one pod, so it "
		                 "would be %" PRIu64,
		                 pod, nodes);
	if (nodes % pod != 0)
		return wf_err_at(text->err, text->name, htsim->head[HEAD_PODSIZE].line, 0,
		                 "%" PRIu64 " nodes are not whole pods of %" PRIu64
		                 "; Podsize divides Nodes",
		                 nodes, pod);
	tree->hosts = (uint32_t)nodes;
	tree->leaf_hosts = (uint32_t)key_of(htsim, 0, KEY_RADIX_DOWN);
	tree->rails = 1;
	tree->leaf_rails = 1;
	tree->homed = (struct wf_homed){ WF_HOMING_SAME, 1, 1, 1, 1 };
	tree->pods = (uint32_t)(nodes / pod);
	if (pod % tree->leaf_hosts != 0)
		return wf_err_at(text->err, text->name, htsim->tier[0].set[KEY_RADIX_DOWN].line, 0,
		                 "a pod of %" PRIu64 " hosts is not whole leaves of %" PRIu32
		                 "; Radix_Down of tier 0 divides Podsize",
		                 pod, tree->leaf_hosts);
	tree->units = (uint32_t)(nodes / tree->leaf_hosts);
	if (key_of(htsim, 0, KEY_BUNDLE) != 1)
		return say_wrong(htsim, 0, KEY_BUNDLE, 1, "a host has one link");
	return 0;
}

/*
 * Joins tier t - 1 to tier t: each of below switches of a pod (or, for the core, each of below
 * pods) has a bundle of links to each of *n_p switches.
 */
static int plan_tier(const struct htsim *htsim, uint32_t t, uint64_t below, uint32_t *n_p,
                     uint32_t *bundle_p)
{
	uint64_t bundle = key_of(htsim, t, KEY_BUNDLE);
	uint64_t up = key_of(htsim, t - 1, KEY_RADIX_UP);

	if (up % bundle != 0)
		return say_wrong(htsim, t - 1, KEY_RADIX_UP, (up / bundle + 1) * bundle,
		                 "it is a multiple of the next tier's Bundle");
	if (key_of(htsim, t, KEY_RADIX_DOWN) != below * bundle)
		return say_wrong(htsim, t, KEY_RADIX_DOWN, below * bundle,
		                 t == 1 ? "it is the leaves of a pod times Bundle"
		                        : "it is the pods times Bundle");
	*n_p = (uint32_t)(up / bundle);
	*bundle_p = (uint32_t)bundle;
	return check_oversub(htsim, t - 1);
}

static void plan_wire(const struct htsim *htsim, uint32_t t, struct wf_tree *tree,
                      struct wf_wire *wire)
{
	wire->rate = key_of(htsim, t, KEY_SPEED) * GBPS;
	wire->delay = (wf_time)key_of(htsim, t, KEY_LATENCY) * WF_NS;
	wire->line = htsim->tier[t].line;
	tree->latency[t] = (struct wf_tree_latency){
		.said = htsim->tier[t].set[KEY_SWITCH_LATENCY].line != 0,
		.time = (wf_time)key_of(htsim, t, KEY_SWITCH_LATENCY) * WF_NS,
	};
}

static int htsim_build(const struct wf_topo_cfg *cfg, const char *bytes, size_t len,
                       const char *name, struct wf_mem *mem, struct wf_topo **topo_p,
                       struct wf_err *err)
{
	struct htsim htsim;
	struct wf_homed homed;
	struct wf_tree tree;
	int ret = wf_homed_init(&homed, cfg, "htsim", 0, err);

	if (ret != 0)
		return ret;
	memset(&htsim, 0, sizeof(htsim));
	memset(&tree, 0, sizeof(tree));
	wf_text_init(&htsim.text, bytes, len, name, err);
	ret = read_all(&htsim);
	if (ret == 0)
		ret = check_keys(&htsim);
	if (ret == 0)
		ret = plan_hosts(&htsim, &tree);
	if (ret != 0)
		return ret;
	assert(tree.pods > 0);
	ret = plan_tier(&htsim, 1, tree.units / tree.pods, &tree.aggs, &tree.agg_bundle);
	if (ret == 0 && tree.tiers == 3)
		ret = plan_tier(&htsim, 2, tree.pods, &tree.cores, &tree.core_bundle);
	if (ret != 0)
		return ret;

	plan_wire(&htsim, 0, &tree, &tree.wires.host);
	plan_wire(&htsim, 1, &tree, &tree.wires.fabric);
	if (tree.tiers == 3)
		plan_wire(&htsim, 2, &tree, &tree.wires.core);
	return wf_tree_build(&tree, name, mem, topo_p, err);
}

const struct wf_topo_ops wf_topo_htsim = {
	.name = "htsim",
	.help = "reads a .topo file of htsim",
	.build = htsim_build,
	.reads_file = true,
};
