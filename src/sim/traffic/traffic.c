/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic.c - the parameters of traffic, the table of patterns, and the patterns that are a list of
 * pairs: permutation, incast, all-to-all. The random one is in traffic_random.c.
 */
#include "sim/traffic/traffic.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/rng.h"

#define FIELD(field) WF_PARAM_FIELD(struct wf_traffic_cfg, field)

/* In the order of enum wf_flow_op. */
static const char *const flow_ops[] = { "window", "write", "send", "read", "tcp", NULL };

_Static_assert(WF_ARRAY_SIZE(flow_ops) == WF_FLOW_OPS + 1, "name every operation");

enum wf_flow_op wf_flow_op_find(const char *name)
{
	enum wf_flow_op op = WF_FLOW_WINDOW;

	while (op < WF_FLOW_OPS && strcmp(flow_ops[op], name) != 0)
		op++;
	return op;
}

const struct wf_param wf_traffic_params[] = {
	{ .name = "kind",
	  .kind = WF_PARAM_TEXT,
	  FIELD(kind),
	  .def = "permutation",
	  .help = "who sends to whom (weft list traffic)" },
	{ .name = "op",
	  .kind = WF_PARAM_NAME,
	  FIELD(op),
	  .names = flow_ops,
	  .def = "window",
	  .help = "carried by a simple windowed sender, by RC queue pairs (write, send, read), or "
	          "by "
	          "TCP" },
	{ .name = "size",
	  .kind = WF_PARAM_BYTES,
	  FIELD(size),
	  .min = 1,
	  .max = INT64_C(1) << 40,
	  .def = "1MB",
	  .help = "payload of each flow; random: where sizes names no distribution" },
	{ .name = "class",
	  .kind = WF_PARAM_U32,
	  FIELD(cls),
	  .max = 15,
	  .def = "3",
	  .help = "priority (Ethernet, 0 to 7) or service level (InfiniBand, 0 to 15)" },
	{ .name = "fanin",
	  .kind = WF_PARAM_U32,
	  FIELD(fanin),
	  .max = UINT32_MAX,
	  .def = "0",
	  .help = "incast: how many send; 0: all other hosts" },
	{ .name = "target",
	  .kind = WF_PARAM_U32,
	  FIELD(target),
	  .max = UINT32_MAX,
	  .def = "0",
	  .help = "incast: the host that receives; the hosts after it send" },
	{ .name = "distance",
	  .kind = WF_PARAM_U32,
	  FIELD(distance),
	  .max = UINT32_MAX,
	  .def = "0",
	  .help = "shift: host i sends to host i + distance; 0: half of the hosts" },
	{ .name = "repeat",
	  .kind = WF_PARAM_U32,
	  FIELD(repeat),
	  .min = 1,
	  .max = 1000000,
	  .def = "1",
	  .help = "rounds; each starts when the one before could be over at line rate; pairs: when "
	          "both messages of it have come, as MPI_Sendrecv() in a loop" },
	{ .name = "load",
	  .kind = WF_PARAM_RATIO,
	  FIELD(load),
	  .min = 1,
	  .max = 2 * (int64_t)WF_RATIO_ONE,
	  .def = "0.5",
	  .help = "random: payload offered, as a part of the rate of the hosts' links" },
	{ .name = "duration",
	  .kind = WF_PARAM_TIME,
	  FIELD(duration),
	  .min = 1,
	  .max = 10000 * WF_S,
	  .def = "1ms",
	  .help = "random: how long new flows start" },
	{ .name = "start",
	  .kind = WF_PARAM_TIME,
	  FIELD(start),
	  .max = 10000 * WF_S,
	  .def = "0ps",
	  .help = "when the first flow starts" },
	{ .name = "sizes",
	  .kind = WF_PARAM_TEXT,
	  FIELD(sizes),
	  .def = "",
	  .help = "random: distribution of flow sizes, a name (weft list sizes) or a file" },
};

const size_t wf_traffic_n_params = WF_ARRAY_SIZE(wf_traffic_params);

static const struct wf_traffic_ops *const all_kinds[] = {
	&wf_traffic_permutation,
	&wf_traffic_shift,
	&wf_traffic_pairs,
	&wf_traffic_incast,
	&wf_traffic_all_to_all,
	&wf_traffic_random,
	NULL,
};

const struct wf_traffic_ops *const *wf_traffic_kinds(void)
{
	return all_kinds;
}

const struct wf_traffic_ops *wf_traffic_find(const char *name)
{
	for (size_t i = 0; all_kinds[i] != NULL; i++) {
		if (strcmp(all_kinds[i]->name, name) == 0)
			return all_kinds[i];
	}
	return NULL;
}

int wf_flow_list_add(struct wf_flow_list *list, const struct wf_flow_spec *spec)
{
	if (list->n == list->room) {
		size_t room = list->room == 0 ? 64 : list->room * 2;
		struct wf_flow_spec *flow;

		if (room > SIZE_MAX / sizeof(*flow))
			return -ENOMEM;
		flow = list->mem->alloc(list->mem, room * sizeof(*flow));
		if (flow == NULL)
			return -ENOMEM;
		if (list->n > 0)
			memcpy(flow, list->flow, list->n * sizeof(*flow));
		list->mem->free(list->mem, list->flow);
		list->flow = flow;
		list->room = room;
	}
	list->flow[list->n++] = *spec;
	return 0;
}

void wf_flow_list_fini(struct wf_flow_list *list)
{
	list->mem->free(list->mem, list->flow);
	list->flow = NULL;
	list->n = 0;
	list->room = 0;
}

/* ---- patterns of pairs ---- */

static int check_hosts(uint32_t n_hosts, struct wf_err *err)
{
	if (n_hosts < 2)
		return wf_err_say(err, "kind: it takes two hosts to talk; the topology has %u",
		                  (unsigned)n_hosts);
	return 0;
}

static int check_count(uint64_t pairs, uint32_t repeat, struct wf_err *err)
{
	if (pairs > WF_TRAFFIC_MAX_FLOWS || pairs * repeat > WF_TRAFFIC_MAX_FLOWS)
		return wf_err_say(
			err, "repeat: %llu flows in each of %u rounds; at most %d are allowed",
			(unsigned long long)pairs, (unsigned)repeat, WF_TRAFFIC_MAX_FLOWS);
	return 0;
}

/*
 * Sets the start of a round of which the busiest link carries so many flows; false: too far away.
 */
static bool round_start(const struct wf_traffic_cfg *cfg, uint64_t flows, uint64_t host_rate,
                        uint32_t round, wf_time *start)
{
	unsigned __int128 t = (unsigned __int128)cfg->size * 8 * flows * WF_S / host_rate;

	if (t > INT64_MAX / 2)
		t = INT64_MAX / 2;
	t = t * round + (uint64_t)cfg->start;
	if (t > INT64_MAX / 2)
		return false;
	*start = (wf_time)t;
	return true;
}

static int too_late(const struct wf_traffic_cfg *cfg, struct wf_err *err)
{
	return wf_err_say(err,
	                  "repeat: the last of %u rounds would start after more than 50 days; "
	                  "write fewer",
	                  (unsigned)cfg->repeat);
}

/* Shuffles to[0..n) (Fisher and Yates); false when an element stayed where it was. */
static bool shuffle(uint32_t *to, uint32_t n, uint64_t key, uint64_t *counter)
{
	bool moved = true;

	for (uint32_t i = 0; i < n; i++)
		to[i] = i;
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t k = wf_rand_below(wf_rand64(key, (*counter)++), i + 1);
		uint32_t x = to[i];

		to[i] = to[k];
		to[k] = x;
	}
	for (uint32_t i = 0; i < n; i++)
		moved &= to[i] != i;
	return moved;
}

/*
 * Adds repeat rounds in which host i sends to host to[i], or to none where that is itself. They are
 * turns, or follow each other by the clock.
 */
static int list_rounds(const struct wf_traffic_cfg *cfg, const uint32_t *to, uint32_t n_hosts,
                       uint64_t host_rate, bool turns, struct wf_flow_list *list,
                       struct wf_err *err)
{
	struct wf_flow_spec spec = { .bytes = cfg->size,
		                     .cls = wf_narrow_u8(cfg->cls),
		                     .op = (uint8_t)wf_flow_op_find(cfg->op) };
	int rc = 0;

	spec.turn = turns;
	for (uint32_t round = 0; rc == 0 && round < cfg->repeat; round++) {
		if (!round_start(cfg, 1, host_rate, turns ? 0 : round, &spec.start))
			rc = too_late(cfg, err);
		for (uint32_t i = 0; rc == 0 && i < n_hosts; i++) {
			spec.src = i;
			spec.dst = to[i];
			if (to[i] != i)
				rc = wf_flow_list_add(list, &spec);
		}
	}
	return rc;
}

/* Allocates *to_p for the pattern of n_hosts hosts, each of which sends at most once in a round. */
static int start_rounds(const struct wf_traffic_cfg *cfg, uint32_t n_hosts,
                        const struct wf_flow_list *list, uint32_t **to_p, struct wf_err *err)
{
	if (check_hosts(n_hosts, err) != 0 || check_count(n_hosts, cfg->repeat, err) != 0)
		return -EINVAL;
	*to_p = list->mem->alloc(list->mem, n_hosts * sizeof(**to_p));
	return *to_p == NULL ? -ENOMEM : 0;
}

static int list_permutation(const struct wf_traffic_cfg *cfg, uint32_t n_hosts, uint64_t host_rate,
                            uint64_t key, struct wf_flow_list *list, struct wf_err *err)
{
	uint64_t counter = 0;
	uint32_t *to;
	int rc = start_rounds(cfg, n_hosts, list, &to, err);

	if (rc != 0)
		return rc;
	/* Of all shuffles a part of 1/e leaves nothing in place, so this is over soon. */
	while (!shuffle(to, n_hosts, key, &counter))
		;
	rc = list_rounds(cfg, to, n_hosts, host_rate, false, list, err);
	list->mem->free(list->mem, to);
	return rc;
}

static int list_shift(const struct wf_traffic_cfg *cfg, uint32_t n_hosts, uint64_t host_rate,
                      uint64_t key, struct wf_flow_list *list, struct wf_err *err)
{
	uint32_t distance = cfg->distance == 0 ? n_hosts / 2 : cfg->distance;
	uint32_t *to;
	int rc;

	(void)key;
	if (distance >= n_hosts && n_hosts >= 2)
		return wf_err_say(err, "distance: %u leads round %u hosts; it may be at most %u",
		                  (unsigned)distance, (unsigned)n_hosts, (unsigned)n_hosts - 1);
	rc = start_rounds(cfg, n_hosts, list, &to, err);
	if (rc != 0)
		return rc;
	for (uint32_t i = 0; i < n_hosts; i++)
		to[i] = (uint32_t)(((uint64_t)i + distance) % n_hosts);
	rc = list_rounds(cfg, to, n_hosts, host_rate, false, list, err);
	list->mem->free(list->mem, to);
	return rc;
}

/* Of a random order, the first two hosts are a pair, the next two, ...; an odd one is left over. */
static int list_pairs(const struct wf_traffic_cfg *cfg, uint32_t n_hosts, uint64_t host_rate,
                      uint64_t key, struct wf_flow_list *list, struct wf_err *err)
{
	uint64_t counter = 0;
	uint32_t *to, *order;
	int rc;

	if (cfg->repeat > 1 && wf_flow_op_find(cfg->op) != WF_FLOW_SEND)
		return wf_err_say(err,
		                  "op: a host has to notice its partner's message before it "
		                  "starts the next of %u rounds; write op: send",
		                  (unsigned)cfg->repeat);
	rc = start_rounds(cfg, n_hosts, list, &to, err);
	if (rc != 0)
		return rc;
	order = list->mem->alloc(list->mem, n_hosts * sizeof(*order));
	if (order == NULL) {
		list->mem->free(list->mem, to);
		return -ENOMEM;
	}
	(void)shuffle(order, n_hosts, key, &counter);
	to[order[n_hosts - 1]] = order[n_hosts - 1];
	for (uint32_t i = 0; i + 1 < n_hosts; i += 2) {
		to[order[i]] = order[i + 1];
		to[order[i + 1]] = order[i];
	}
	rc = list_rounds(cfg, to, n_hosts, host_rate, cfg->repeat > 1, list, err);
	list->mem->free(list->mem, order);
	list->mem->free(list->mem, to);
	return rc;
}

static int list_incast(const struct wf_traffic_cfg *cfg, uint32_t n_hosts, uint64_t host_rate,
                       uint64_t key, struct wf_flow_list *list, struct wf_err *err)
{
	struct wf_flow_spec spec = { .bytes = cfg->size,
		                     .cls = wf_narrow_u8(cfg->cls),
		                     .op = (uint8_t)wf_flow_op_find(cfg->op) };
	uint32_t fanin = cfg->fanin == 0 ? n_hosts - 1 : cfg->fanin;
	int rc = 0;

	(void)key;
	if (check_hosts(n_hosts, err) != 0)
		return -EINVAL;
	if (cfg->target >= n_hosts)
		return wf_err_say(err, "target: there is no host %u; the hosts are 0 to %u",
		                  (unsigned)cfg->target, (unsigned)n_hosts - 1);
	if (fanin >= n_hosts)
		return wf_err_say(err,
		                  "fanin: %u hosts cannot send to one of %u; it may be at most %u",
		                  (unsigned)fanin, (unsigned)n_hosts, (unsigned)n_hosts - 1);
	if (check_count(fanin, cfg->repeat, err) != 0)
		return -EINVAL;
	assert(n_hosts >= 2 && host_rate > 0);
	spec.dst = cfg->target;
	for (uint32_t round = 0; rc == 0 && round < cfg->repeat; round++) {
		if (!round_start(cfg, fanin, host_rate, round, &spec.start))
			rc = too_late(cfg, err);
		for (uint32_t i = 1; rc == 0 && i <= fanin; i++) {
			spec.src = (uint32_t)(((uint64_t)cfg->target + i) % n_hosts);
			rc = wf_flow_list_add(list, &spec);
		}
	}
	return rc;
}

/* In step k host i sends to host i + k, so that at no step two hosts send to the same one. */
static int list_all_to_all(const struct wf_traffic_cfg *cfg, uint32_t n_hosts, uint64_t host_rate,
                           uint64_t key, struct wf_flow_list *list, struct wf_err *err)
{
	struct wf_flow_spec spec = { .bytes = cfg->size,
		                     .cls = wf_narrow_u8(cfg->cls),
		                     .op = (uint8_t)wf_flow_op_find(cfg->op) };
	int rc = 0;

	(void)key;
	if (check_hosts(n_hosts, err) != 0 ||
	    check_count((uint64_t)n_hosts * (n_hosts - 1), cfg->repeat, err) != 0)
		return -EINVAL;
	assert(n_hosts >= 2 && host_rate > 0);
	for (uint32_t round = 0; rc == 0 && round < cfg->repeat; round++) {
		if (!round_start(cfg, n_hosts - 1, host_rate, round, &spec.start))
			rc = too_late(cfg, err);
		for (uint32_t step = 1; rc == 0 && step < n_hosts; step++) {
			for (uint32_t i = 0; rc == 0 && i < n_hosts; i++) {
				spec.src = i;
				spec.dst = (uint32_t)(((uint64_t)i + step) % n_hosts);
				rc = wf_flow_list_add(list, &spec);
			}
		}
	}
	return rc;
}

const struct wf_traffic_ops wf_traffic_permutation = {
	.name = "permutation",
	.help = "every host sends to one other and receives from one other, drawn at random",
	.list = list_permutation,
};

const struct wf_traffic_ops wf_traffic_shift = {
	.name = "shift",
	.help = "every host sends to the one distance further on, round the end",
	.list = list_shift,
};

const struct wf_traffic_ops wf_traffic_pairs = {
	.name = "pairs",
	.help = "hosts are paired at random, and the two of a pair send to each other",
	.list = list_pairs,
};

const struct wf_traffic_ops wf_traffic_incast = {
	.name = "incast",
	.help = "many hosts (fanin) send to one (target) at the same time",
	.list = list_incast,
};

const struct wf_traffic_ops wf_traffic_all_to_all = {
	.name = "all-to-all",
	.help = "every host sends to every other, beginning with its neighbour",
	.list = list_all_to_all,
};
