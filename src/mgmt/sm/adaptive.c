/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adaptive.c - adaptive routing: groups of ports (subnet/groups.h), written block by block where a
 * switch has other ones, or may have.
 *
 *	ASK --> GROUPS --> LIDS --> ON
 *
 * Only switches of weft's vendor are asked: to others the attributes may mean something else. Each
 * stage ends before the next begins, so that no LID has a group whose ports the switch does not
 * know, and groups count when all of them are there. A group keeps its number, and one that is
 * another now has the number of its LIDs' old one: a lost link is mostly one block.
 */
#include <errno.h>
#include <string.h>

#include "mgmt/sm/steps_priv.h"
#include "wire/addr.h"

enum stage { ASK, GROUPS, LIDS, ON, END };

#define PER_BLOCK WF_GROUPS_PER_BLOCK
#define MASK_BYTES (WF_GROUP_WORDS * sizeof(uint64_t))

static bool is_known(const uint64_t *bits, uint32_t block)
{
	return (bits[block / 64] >> block % 64 & 1) != 0;
}

void wf_sm_forget_spread(struct wf_sm_dev *dev)
{
	if (dev->spread == NULL)
		return;
	memset(dev->spread->known, 0, sizeof(dev->spread->known));
	memset(dev->spread->of_known, 0, sizeof(dev->spread->of_known));
}

void wf_sm_free_spread(struct wf_sm *sm, struct wf_sm_dev *dev)
{
	if (dev->spread != NULL)
		sm->mem->free(sm->mem, dev->spread->of);
	sm->mem->free(sm->mem, dev->spread);
}

/* What is known of a switch that can, and is to have groups; NULL: it cannot, or has none. */
static struct wf_sm_dev *that_can(const struct wf_sm *sm, uint32_t sw)
{
	struct wf_sm_dev *dev = sm->cur->switches[sw].dev;

	if (dev == NULL || dev->adaptive.group_cap == 0)
		return NULL;
	return wf_groups_count(sm->cur->groups, sw) != 0 ? dev : NULL;
}

static uint32_t lid_blocks(const struct wf_sm *sm)
{
	return (sm->cur->groups->n_lids + WF_LFT_PER_BLOCK - 1) / WF_LFT_PER_BLOCK;
}

static int room(struct wf_sm *sm, struct wf_sm_dev *dev)
{
	uint32_t n = lid_blocks(sm);
	uint8_t *of;

	if (dev->spread == NULL)
		dev->spread = sm->mem->alloc(sm->mem, sizeof(*dev->spread));
	if (dev->spread == NULL)
		return -ENOMEM;
	if (n <= dev->spread->n_blocks)
		return 0;
	of = sm->mem->alloc(sm->mem, (size_t)n * WF_LFT_PER_BLOCK);
	if (of == NULL)
		return -ENOMEM;
	if (dev->spread->of != NULL)
		memcpy(of, dev->spread->of, (size_t)dev->spread->n_blocks * WF_LFT_PER_BLOCK);
	sm->mem->free(sm->mem, dev->spread->of);
	dev->spread->of = of;
	dev->spread->n_blocks = n;
	return 0;
}

/* ---- numbers ---- */

static unsigned cap_of(const struct wf_sm_dev *dev)
{
	return dev->adaptive.group_cap < WF_GROUPS_MAX ? dev->adaptive.group_cap : WF_GROUPS_MAX;
}

static bool is_group_known(const struct wf_sm_spread *s, unsigned number)
{
	return s->known[(number - 1) / PER_BLOCK] != 0;
}

/* Groups that the switch has already keep their numbers. */
static unsigned keep_same(const struct wf_sm *sm, const struct wf_sm_dev *dev, uint32_t sw,
                          bool *taken)
{
	struct wf_sm_spread *s = dev->spread;
	unsigned n = wf_groups_count(sm->cur->groups, sw), kept = 0;

	for (unsigned i = 1; i <= n; i++) {
		const struct wf_group_ports *want = wf_groups_ports(sm->cur->groups, sw, i);

		for (unsigned k = 1; k <= cap_of(dev) && s->number[i] == 0; k++) {
			if (taken[k] || !is_group_known(s, k) ||
			    memcmp(s->ports[k - 1], want->word, MASK_BYTES) != 0)
				continue;
			s->number[i] = (uint8_t)k;
			taken[k] = true;
			kept++;
		}
	}
	return kept;
}

/* Others have those of their LIDs. */
static void keep_of_lids(const struct wf_sm *sm, const struct wf_sm_dev *dev, uint32_t sw,
                         bool *taken)
{
	const struct wf_groups *g = sm->cur->groups;
	struct wf_sm_spread *s = dev->spread;

	for (uint32_t lid = 1; lid < g->n_lids; lid++) {
		unsigned want = wf_groups_of(g, sw, lid), old = s->of[lid];

		if (want == 0 || s->number[want] != 0 || old == 0 || old > cap_of(dev) ||
		    taken[old] || !is_known(s->of_known, lid / WF_LFT_PER_BLOCK))
			continue;
		s->number[want] = (uint8_t)old;
		taken[old] = true;
	}
}

/* Numbers for all groups of a switch, as far as it has some. */
static void give_numbers(const struct wf_sm *sm, const struct wf_sm_dev *dev, uint32_t sw)
{
	struct wf_sm_spread *s = dev->spread;
	unsigned n = wf_groups_count(sm->cur->groups, sw), next = 1;
	bool taken[WF_GROUPS_MAX + 1] = { false };

	memset(s->number, 0, sizeof(s->number));
	if (keep_same(sm, dev, sw, taken) < n)
		keep_of_lids(sm, dev, sw, taken);
	memcpy(s->want, s->ports, sizeof(s->want));
	for (unsigned i = 1; i <= n; i++) {
		while (s->number[i] == 0 && next <= cap_of(dev)) {
			if (!taken[next])
				s->number[i] = (uint8_t)next;
			taken[next++] = true;
		}
		if (s->number[i] != 0)
			memcpy(s->want[s->number[i] - 1],
			       wf_groups_ports(sm->cur->groups, sw, i)->word, MASK_BYTES);
	}
}

/* Whether a block has a group that counts. */
static bool is_used(const struct wf_sm *sm, const struct wf_sm_spread *s, uint32_t sw,
                    uint32_t block)
{
	for (unsigned i = 1; i <= wf_groups_count(sm->cur->groups, sw); i++) {
		if (s->number[i] != 0 && (s->number[i] - 1u) / PER_BLOCK == block)
			return true;
	}
	return false;
}

/* ---- stages ---- */

static void ask(struct wf_sm *sm, uint32_t sw)
{
	uint32_t node = sm->cur->subnet->switches[sw];
	struct wf_sm_dev *dev = sm->cur->switches[sw].dev;

	if (dev == NULL)
		return;
	dev->adaptive = (struct wf_adaptive_info){ .enabled = false };
	if (sm->cur->nodes[node].whole && sm->cur->nodes[node].info.vendor_id == WF_WIRE_VENDOR)
		wf_sm_push(sm, WF_SM_GET_ADAPTIVE, node, 0, 0);
}

static int push_groups(struct wf_sm *sm, uint32_t sw)
{
	uint32_t node = sm->cur->subnet->switches[sw];
	struct wf_sm_dev *dev = that_can(sm, sw);
	struct wf_sm_spread *s;
	int ret;

	if (dev == NULL) {
		dev = sm->cur->switches[sw].dev;
		if (dev != NULL && dev->adaptive.enabled)
			wf_sm_push(sm, WF_SM_SET_ADAPTIVE, node, 0, false);
		return 0;
	}
	ret = room(sm, dev);
	if (ret != 0) {
		dev->adaptive.group_cap = 0;
		return ret;
	}
	s = dev->spread;
	give_numbers(sm, dev, sw);
	for (uint32_t b = 0; b < WF_GROUPS_MAX / PER_BLOCK; b++) {
		if (!is_used(sm, s, sw, b) ||
		    (s->known[b] != 0 && memcmp(s->ports[b * PER_BLOCK], s->want[b * PER_BLOCK],
		                                PER_BLOCK * MASK_BYTES) == 0))
			continue;
		wf_sm_push(sm, WF_SM_SET_ADAPTIVE_GROUPS, node, 0, b);
		sm->rerouted = true;
	}
	return 0;
}

static void want_lids(const struct wf_sm *sm, uint32_t sw, uint32_t block,
                      struct wf_adaptive_lids *table)
{
	const struct wf_sm_spread *s = sm->cur->switches[sw].dev->spread;

	for (unsigned i = 0; i < WF_LFT_PER_BLOCK; i++)
		table->group[i] =
			s->number[wf_groups_of(sm->cur->groups, sw, block * WF_LFT_PER_BLOCK + i)];
}

static void push_lids(struct wf_sm *sm, uint32_t sw)
{
	const struct wf_sm_dev *dev = that_can(sm, sw);
	uint32_t n = dev == NULL ? 0 : dev->spread->n_blocks;

	for (uint32_t b = 0; b < n; b++) {
		struct wf_adaptive_lids table;

		want_lids(sm, sw, b, &table);
		if (is_known(dev->spread->of_known, b) &&
		    memcmp(dev->spread->of + (size_t)b * WF_LFT_PER_BLOCK, table.group,
		           sizeof(table.group)) == 0)
			continue;
		wf_sm_push(sm, WF_SM_SET_ADAPTIVE_LIDS, sm->cur->subnet->switches[sw], 0, b);
		sm->rerouted = true;
	}
}

/* All that counts has been written. */
static bool is_whole(const struct wf_sm *sm, const struct wf_sm_dev *dev, uint32_t sw)
{
	const struct wf_sm_spread *s = dev->spread;

	for (uint32_t b = 0; b < WF_GROUPS_MAX / PER_BLOCK; b++) {
		if (is_used(sm, s, sw, b) && s->known[b] == 0)
			return false;
	}
	for (uint32_t b = 0; b < s->n_blocks; b++) {
		if (!is_known(s->of_known, b))
			return false;
	}
	return true;
}

static void switch_on(struct wf_sm *sm, uint32_t sw)
{
	const struct wf_sm_dev *dev = that_can(sm, sw);
	bool on;

	if (dev == NULL)
		return;
	on = is_whole(sm, dev, sw);
	sm->sweep.adaptive += on;
	if (dev->adaptive.enabled != on)
		wf_sm_push(sm, WF_SM_SET_ADAPTIVE, sm->cur->subnet->switches[sw], 0, on);
}

int wf_sm_want_adaptive(struct wf_sm *sm)
{
	struct wf_sm_view *view = sm->cur;
	int ret;

	sm->adaptive_stage = END;
	if (!sm->cfg.adaptive || view->tables == NULL)
		return 0;
	ret = wf_groups_create(view->subnet, view->tables, &view->groups);
	if (ret != 0)
		return ret;
	if (view->groups->note[0] != '\0')
		wf_sm_note(sm, view->groups->note);
	sm->adaptive_stage = ASK;
	for (uint32_t sw = 0; sw < view->subnet->n_switches; sw++)
		ask(sm, sw);
	return 0;
}

bool wf_sm_next_adaptive(struct wf_sm *sm)
{
	int ret = 0;

	if (sm->adaptive_stage == END)
		return false;
	sm->adaptive_stage++;
	for (uint32_t sw = 0; sw < sm->cur->subnet->n_switches && ret == 0; sw++) {
		if (sm->adaptive_stage == GROUPS)
			ret = push_groups(sm, sw);
		else if (sm->adaptive_stage == LIDS)
			push_lids(sm, sw);
		else if (sm->adaptive_stage == ON)
			switch_on(sm, sw);
	}
	if (ret != 0) {
		/* Those that have no numbers yet are left as they are. */
		sm->sweep.errors++;
		sm->adaptive_stage = END;
	}
	return true;
}

/* ---- what is set ---- */

void wf_sm_fill_adaptive(struct wf_sm *sm, const struct wf_sm_work *work, uint8_t *data)
{
	const struct wf_adaptive_info info = { .enabled = work->arg != 0 };

	(void)sm;
	wf_adaptive_info_encode(&info, data);
}

static struct wf_sm_dev *dev_of(const struct wf_sm *sm, const struct wf_sm_work *work)
{
	return sm->cur->switches[sm->cur->subnet->nodes[work->node].sw].dev;
}

void wf_sm_done_adaptive(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	struct wf_sm_dev *dev = dev_of(sm, work);

	dev->adaptive = (struct wf_adaptive_info){ .enabled = false };
	if (data != NULL)
		wf_adaptive_info_decode(data, &dev->adaptive);
}

void wf_sm_fill_adaptive_groups(struct wf_sm *sm, const struct wf_sm_work *work, uint8_t *data)
{
	const struct wf_sm_spread *s = dev_of(sm, work)->spread;
	struct wf_adaptive_groups table;

	memcpy(table.ports, s->want[(size_t)work->arg * PER_BLOCK], sizeof(table.ports));
	wf_adaptive_groups_encode(&table, data);
}

/* What the switch says that it has now; without an answer nobody knows. */
void wf_sm_done_adaptive_groups(struct wf_sm *sm, const struct wf_sm_work *work,
                                const uint8_t *data)
{
	struct wf_sm_spread *s = dev_of(sm, work)->spread;
	struct wf_adaptive_groups table;

	s->known[work->arg] = data != NULL;
	if (data == NULL)
		return;
	wf_adaptive_groups_decode(data, &table);
	memcpy(s->ports[(size_t)work->arg * PER_BLOCK], table.ports, sizeof(table.ports));
	sm->sweep.group_blocks++;
}

void wf_sm_fill_adaptive_lids(struct wf_sm *sm, const struct wf_sm_work *work, uint8_t *data)
{
	struct wf_adaptive_lids table;

	want_lids(sm, sm->cur->subnet->nodes[work->node].sw, work->arg, &table);
	wf_adaptive_lids_encode(&table, data);
}

void wf_sm_done_adaptive_lids(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	struct wf_sm_spread *s = dev_of(sm, work)->spread;
	uint64_t bit = UINT64_C(1) << work->arg % 64;
	struct wf_adaptive_lids table;

	assert(work->arg < s->n_blocks);
	s->of_known[work->arg / 64] &= ~bit;
	if (data == NULL)
		return;
	wf_adaptive_lids_decode(data, &table);
	memcpy(s->of + (size_t)work->arg * WF_LFT_PER_BLOCK, table.group, sizeof(table.group));
	s->of_known[work->arg / 64] |= bit;
	sm->sweep.group_blocks++;
}
