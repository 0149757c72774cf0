/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcast.c - multicast forwarding tables: a spanning tree for each group that subnet
 * administration has, made anew with each routing, and the blocks of switches' tables that
 * differ.
 */
#include <errno.h>
#include <string.h>

#include "mgmt/sm/steps_priv.h"
#include "subnet/route.h"

#define LIDS WF_MFT_PER_BLOCK
#define PORTS WF_MFT_PORTS_PER_POSITION

/* ---- groups ---- */

void wf_sm_groups_free(struct wf_sm *sm)
{
	while (sm->groups != NULL) {
		struct wf_sm_group *group = sm->groups;

		sm->groups = group->next;
		sm->mem->free(sm->mem, group->guids);
		sm->mem->free(sm->mem, group);
	}
}

static void drop_group(struct wf_sm *sm, struct wf_sm_group **at)
{
	struct wf_sm_group *group = *at;

	*at = group->next;
	sm->mem->free(sm->mem, group->guids);
	sm->mem->free(sm->mem, group);
}

/* Where the group is, or would be: they are in the order of their LIDs. */
static struct wf_sm_group **find(struct wf_sm *sm, uint16_t mlid)
{
	struct wf_sm_group **at = &sm->groups;

	while (*at != NULL && (*at)->mlid < mlid)
		at = &(*at)->next;
	return at;
}

int wf_sm_set_group(struct wf_sm *sm, uint16_t mlid, const uint64_t *guids, uint32_t n)
{
	struct wf_sm_group **at, *group;
	uint64_t *copy;

	if (mlid < WF_LID_MULTICAST || mlid == WF_LID_PERMISSIVE)
		return -EINVAL;
	at = find(sm, mlid);
	group = *at != NULL && (*at)->mlid == mlid ? *at : NULL;
	if (n == 0) {
		if (group != NULL)
			drop_group(sm, at);
		return 0;
	}
	copy = sm->mem->alloc(sm->mem, n * sizeof(*copy));
	if (copy != NULL && group == NULL) {
		group = sm->mem->alloc(sm->mem, sizeof(*group));
		if (group != NULL) {
			group->mlid = mlid;
			group->next = *at;
			*at = group;
		}
	}
	if (copy == NULL || group == NULL) {
		sm->mem->free(sm->mem, copy);
		return -ENOMEM;
	}
	memcpy(copy, guids, n * sizeof(*copy));
	sm->mem->free(sm->mem, group->guids);
	group->guids = copy;
	group->n = n;
	return 0;
}

/* ---- trees ---- */

static uint64_t *row_of(const struct wf_sm *sm, uint32_t number, uint32_t sw)
{
	return sm->mft + ((size_t)number * sm->cur->subnet->n_switches + sw) * WF_MFT_WORDS;
}

static int make_tree(struct wf_sm *sm, struct wf_sm_trees *trees, const struct wf_sm_group *group)
{
	const struct wf_sm_view *view = sm->cur;
	uint32_t *members = sm->mem->alloc(sm->mem, group->n * sizeof(*members));
	struct wf_sm_tree tree;
	uint32_t n = 0;

	if (members == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t index = wf_subnet_find_port(view->subnet, group->guids[i]);

		if (index != WF_SUBNET_NONE && wf_sm_is_end_port(view, index))
			members[n++] = index;
	}
	wf_sm_trees_build(trees, members, n, row_of(sm, group->mlid - WF_LID_MULTICAST, 0), &tree);
	sm->mem->free(sm->mem, members);
	return 0;
}

uint16_t wf_sm_top_group(const struct wf_sm *sm)
{
	uint16_t top = WF_LID_MULTICAST - 1;

	for (const struct wf_sm_group *g = sm->groups; g != NULL; g = g->next)
		top = g->mlid;
	return top;
}

static int make_trees(struct wf_sm *sm)
{
	struct wf_sm_trees *trees;
	size_t words;
	int ret;

	sm->mem->free(sm->mem, sm->mft);
	sm->n_mlids = wf_sm_top_group(sm) - (WF_LID_MULTICAST - 1u);
	words = (size_t)sm->n_mlids * sm->cur->subnet->n_switches * WF_MFT_WORDS;
	sm->mft = sm->mem->alloc(sm->mem, (words + 1) * sizeof(*sm->mft));
	if (sm->mft == NULL) {
		sm->n_mlids = 0;
		return -ENOMEM;
	}
	if (sm->n_mlids == 0)
		return 0;
	ret = wf_sm_trees_create(sm->cur->subnet, &trees);
	if (ret != 0)
		return ret;
	for (const struct wf_sm_group *g = sm->groups; g != NULL && ret == 0; g = g->next)
		ret = make_tree(sm, trees, g);
	wf_sm_trees_destroy(trees);
	return ret;
}

/* ---- blocks ---- */

static int dev_room(struct wf_sm *sm, struct wf_sm_dev *dev, uint32_t blocks, uint8_t positions)
{
	size_t n = (size_t)blocks * positions, had = (size_t)dev->mft_blocks * dev->mft_positions;
	uint16_t *mft;
	uint8_t *known;

	if (blocks <= dev->mft_blocks && positions == dev->mft_positions)
		return 0;
	mft = sm->mem->alloc(sm->mem, n * LIDS * sizeof(*mft));
	known = sm->mem->alloc(sm->mem, n);
	if (mft == NULL || known == NULL) {
		sm->mem->free(sm->mem, known);
		sm->mem->free(sm->mem, mft);
		return -ENOMEM;
	}
	if (positions == dev->mft_positions && had != 0) {
		memcpy(mft, dev->mft, had * LIDS * sizeof(*mft));
		memcpy(known, dev->mft_known, had);
	}
	sm->mem->free(sm->mem, dev->mft_known);
	sm->mem->free(sm->mem, dev->mft);
	dev->mft = mft;
	dev->mft_known = known;
	dev->mft_blocks = blocks;
	dev->mft_positions = positions;
	return 0;
}

static void want_block(const struct wf_sm *sm, uint32_t sw, uint32_t block, unsigned position,
                       struct wf_multicast_ft *table)
{
	unsigned port = position * PORTS;

	for (uint32_t i = 0; i < LIDS; i++) {
		uint32_t number = block * LIDS + i;

		table->ports[i] = 0;
		if (number < sm->n_mlids)
			table->ports[i] =
				(uint16_t)(row_of(sm, number, sw)[port / 64] >> (port % 64));
	}
}

static int push_blocks(struct wf_sm *sm, uint32_t sw)
{
	uint32_t node = sm->cur->subnet->switches[sw];
	struct wf_sm_dev *dev = sm->cur->switches[sw].dev;
	uint8_t positions = (uint8_t)(sm->cur->subnet->nodes[node].n_ports / PORTS + 1);
	uint32_t cap = sm->cur->switches[sw].info.multicast_fdb_cap, n = sm->n_mlids;
	uint32_t blocks;
	int ret;

	if (n > cap)
		n = cap;
	blocks = (n + LIDS - 1) / LIDS;
	if (dev != NULL && blocks < dev->mft_blocks)
		blocks = dev->mft_blocks;
	ret = dev == NULL ? -ENOMEM : dev_room(sm, dev, blocks, positions);
	if (ret != 0)
		return ret;
	for (uint32_t i = 0; i < blocks * positions; i++) {
		struct wf_multicast_ft table;

		want_block(sm, sw, i / positions, i % positions, &table);
		if (dev->mft_known[i] == 0 ||
		    memcmp(dev->mft + (size_t)i * LIDS, table.ports, sizeof(table.ports)) != 0)
			wf_sm_push(sm, WF_SM_SET_MULTICAST_FT, node, i % positions, i / positions);
	}
	return 0;
}

int wf_sm_want_groups(struct wf_sm *sm)
{
	int ret;

	if (sm->cfg.disable_multicast)
		return 0;
	ret = make_trees(sm);
	for (uint32_t sw = 0; sw < sm->cur->subnet->n_switches && ret == 0; sw++) {
		uint32_t node = sm->cur->subnet->switches[sw];

		if (!sm->cur->nodes[node].whole)
			continue;
		wf_sm_push_switch_info(sm, node);
		ret = push_blocks(sm, sw);
	}
	return ret;
}

void wf_sm_fill_multicast_ft(struct wf_sm *sm, const struct wf_sm_work *work, uint8_t *data)
{
	struct wf_multicast_ft table;

	want_block(sm, sm->cur->subnet->nodes[work->node].sw, work->arg, work->port, &table);
	wf_multicast_ft_encode(&table, data);
}

void wf_sm_done_multicast_ft(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	struct wf_sm_dev *dev = sm->cur->switches[sm->cur->subnet->nodes[work->node].sw].dev;
	size_t i = (size_t)work->arg * dev->mft_positions + work->port;
	struct wf_multicast_ft table;

	assert(work->arg < dev->mft_blocks && work->port < dev->mft_positions);
	dev->mft_known[i] = data != NULL;
	if (data == NULL)
		return;
	wf_multicast_ft_decode(data, &table);
	memcpy(dev->mft + i * LIDS, table.ports, sizeof(table.ports));
}

bool wf_sm_multicast_block(const struct wf_sm *sm, uint32_t sw, uint32_t block, unsigned position,
                           struct wf_multicast_ft *table)
{
	const struct wf_sm_dev *dev = sm->view->switches[sw].dev;
	size_t i;

	if (dev == NULL || block >= dev->mft_blocks || position >= dev->mft_positions)
		return false;
	i = (size_t)block * dev->mft_positions + position;
	if (dev->mft_known[i] == 0)
		return false;
	memcpy(table->ports, dev->mft + i * LIDS, sizeof(table->ports));
	return true;
}
