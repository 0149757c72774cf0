/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.c - linear forwarding tables: made by a routing engine (subnet/route.h), written block
 * by block where a switch has another one, or may have.
 *
 * A switch that has forgotten its LID, or has another LinearFDBTop than it was told, was reset:
 * what it was told before does not count.
 */
#include <errno.h>
#include <string.h>

#include "mgmt/sm/steps_priv.h"
#include "subnet/route.h"

/* ---- making them ---- */

static int make(struct wf_sm *sm, struct wf_tables **tables_p)
{
	struct wf_sm_route_cfg cfg = { .vls = sm->cfg.vls };
	int ret = -EINVAL;

	if (sm->n_roots > 0) {
		cfg.roots = sm->roots;
		cfg.n_roots = sm->n_roots;
	}
	for (uint32_t i = 0; i < sm->n_engines && ret == -EINVAL; i++) {
		struct wf_err err = { "" };

		ret = wf_sm_route(sm->cur->subnet, sm->engines[i], &cfg, true, tables_p, &err);
		if (ret == -EINVAL)
			wf_sm_note(sm, err.text);
	}
	if (ret == -EINVAL)
		ret = wf_sm_route(sm->cur->subnet, wf_sm_route_find("minhop"), &cfg, false,
		                  tables_p, NULL);
	return ret;
}

/* ---- what switches have ---- */

static bool known(const struct wf_sm_dev *dev, uint32_t block)
{
	return (dev->lft_known[block / 64] >> (block % 64) & 1) != 0;
}

static int dev_room(struct wf_sm *sm, struct wf_sm_dev *dev, uint32_t n_blocks)
{
	uint8_t *lft;

	if (n_blocks <= dev->n_blocks)
		return 0;
	lft = sm->mem->alloc(sm->mem, (size_t)n_blocks * WF_LFT_PER_BLOCK);
	if (lft == NULL)
		return -ENOMEM;
	if (dev->lft != NULL)
		memcpy(lft, dev->lft, (size_t)dev->n_blocks * WF_LFT_PER_BLOCK);
	sm->mem->free(sm->mem, dev->lft);
	dev->lft = lft;
	dev->n_blocks = n_blocks;
	return 0;
}

static bool was_reset(const struct wf_sm *sm, uint32_t node)
{
	const struct wf_sm_view *view = sm->cur;
	const struct wf_sm_port *port = &view->ports[wf_sm_index(view, node, 0)];
	uint16_t top = sm->view != NULL ? sm->view->subnet->top_lid : 0;

	return sm->first || port->fresh || port->found_lid == 0 ||
	       view->switches[view->subnet->nodes[node].sw].info.linear_fdb_top != top;
}

/* ---- SwitchInfo ---- */

static void want_switch_info(const struct wf_sm *sm, const struct wf_sm_work *work,
                             struct wf_switch_info *info)
{
	const struct wf_sm_view *view = sm->cur;
	struct wf_port_info port;

	wf_sm_port_info(view, wf_sm_index(view, work->node, 0), &port);
	*info = view->switches[view->subnet->nodes[work->node].sw].info;
	info->port_state_change = false; /* cleared before, and not again */
	info->linear_fdb_top = view->subnet->top_lid;
	info->life_time_value = wf_narrow_u8(sm->cfg.packet_life_time);
	if (sm->cfg.use_mfttop && !sm->cfg.disable_multicast &&
	    (port.capability_mask & WF_CAP_MULTICAST_FDB_TOP) != 0)
		info->multicast_fdb_top = wf_sm_top_group(sm);
}

void wf_sm_fill_switch_info(struct wf_sm *sm, const struct wf_sm_work *work, uint8_t *data)
{
	struct wf_switch_info info;

	want_switch_info(sm, work, &info);
	wf_switch_info_encode(&info, data);
}

/* Nothing but that PortStateChange goes away: it does when a one is written. */
void wf_sm_fill_clear(struct wf_sm *sm, const struct wf_sm_work *work, uint8_t *data)
{
	uint32_t sw = sm->cur->subnet->nodes[work->node].sw;

	wf_switch_info_encode(&sm->cur->switches[sw].info, data);
}

void wf_sm_done_set_switch_info(struct wf_sm *sm, const struct wf_sm_work *work,
                                const uint8_t *data)
{
	if (data != NULL)
		wf_switch_info_decode(
			data, &sm->cur->switches[sm->cur->subnet->nodes[work->node].sw].info);
}

void wf_sm_push_switch_info(struct wf_sm *sm, uint32_t node)
{
	const struct wf_switch_info *has = &sm->cur->switches[sm->cur->subnet->nodes[node].sw].info;
	struct wf_sm_work work = { .node = node };
	uint8_t old[WF_SMP_DATA_LEN], new[WF_SMP_DATA_LEN];
	struct wf_switch_info was = *has, info;

	want_switch_info(sm, &work, &info);
	was.port_state_change = false;
	memset(old, 0, sizeof(old));
	memset(new, 0, sizeof(new));
	wf_switch_info_encode(&was, old);
	wf_switch_info_encode(&info, new);
	if (memcmp(old, new, sizeof(old)) != 0)
		wf_sm_push(sm, WF_SM_SET_SWITCH_INFO, node, 0, 0);
}

/* ---- blocks ---- */

/* What a block of a switch's table is to hold; LIDs that there are not have no port. */
static void want_block(const struct wf_sm *sm, uint32_t sw, uint32_t block,
                       struct wf_linear_ft *table)
{
	const struct wf_tables *tables = sm->cur->tables;
	uint32_t first = block * WF_LFT_PER_BLOCK, n = 0;

	if (first < tables->n_lids)
		n = tables->n_lids - first < WF_LFT_PER_BLOCK ? tables->n_lids - first
		                                              : WF_LFT_PER_BLOCK;
	memset(table->port, WF_LFT_NONE, sizeof(table->port));
	if (n != 0)
		memcpy(table->port, wf_tables_row(tables, sw) + first, n);
}

static int push_blocks(struct wf_sm *sm, uint32_t sw)
{
	struct wf_sm_dev *dev = sm->cur->switches[sw].dev;
	uint32_t n = sm->cur->tables->n_lids / WF_LFT_PER_BLOCK +
	             (sm->cur->tables->n_lids % WF_LFT_PER_BLOCK != 0);
	uint32_t cap = sm->cur->switches[sw].info.linear_fdb_cap;
	int ret = dev == NULL ? -ENOMEM : dev_room(sm, dev, n);

	if (ret != 0)
		return ret;
	if (cap < sm->cur->tables->n_lids)
		wf_sm_note(sm, "a switch's forwarding table has no room for all LIDs");
	for (uint32_t block = 0; block < n; block++) {
		struct wf_linear_ft table;

		want_block(sm, sw, block, &table);
		if (known(dev, block) && memcmp(dev->lft + (size_t)block * WF_LFT_PER_BLOCK,
		                                table.port, sizeof(table.port)) == 0)
			continue;
		wf_sm_push(sm, WF_SM_SET_LINEAR_FT, sm->cur->subnet->switches[sw], 0, block);
		sm->rerouted = true;
	}
	return 0;
}

int wf_sm_want_routes(struct wf_sm *sm)
{
	struct wf_sm_view *view = sm->cur;
	int ret = make(sm, &view->tables);

	if (ret != 0)
		return ret;
	if (view->tables->note[0] != '\0')
		wf_sm_note(sm, view->tables->note);
	for (uint32_t sw = 0; sw < view->subnet->n_switches && ret == 0; sw++) {
		uint32_t node = view->subnet->switches[sw];
		struct wf_sm_dev *dev = view->switches[sw].dev;

		if (!view->nodes[node].whole)
			continue;
		if (dev != NULL && was_reset(sm, node)) {
			memset(dev->lft_known, 0, sizeof(dev->lft_known));
			wf_sm_forget_spread(dev);
			if (dev->mft_known != NULL)
				memset(dev->mft_known, 0,
				       (size_t)dev->mft_blocks * dev->mft_positions);
		}
		wf_sm_push_switch_info(sm, node);
		ret = push_blocks(sm, sw);
	}
	return ret;
}

void wf_sm_fill_linear_ft(struct wf_sm *sm, const struct wf_sm_work *work, uint8_t *data)
{
	struct wf_linear_ft table;

	want_block(sm, sm->cur->subnet->nodes[work->node].sw, work->arg, &table);
	wf_linear_ft_encode(&table, data);
}

/* What the switch says that it has now; without an answer nobody knows. */
void wf_sm_done_linear_ft(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	struct wf_sm_dev *dev = sm->cur->switches[sm->cur->subnet->nodes[work->node].sw].dev;
	uint64_t bit = UINT64_C(1) << (work->arg % 64);
	struct wf_linear_ft table;

	assert(work->arg < dev->n_blocks);
	dev->lft_known[work->arg / 64] &= ~bit;
	if (data == NULL)
		return;
	wf_linear_ft_decode(data, &table);
	memcpy(dev->lft + (size_t)work->arg * WF_LFT_PER_BLOCK, table.port, sizeof(table.port));
	dev->lft_known[work->arg / 64] |= bit;
	sm->sweep.lft_blocks++;
}
