/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lids.c - who has which LID, and who came and went.
 *
 * As OpenSM does it: a GUID keeps the LID that it was given, also while its port is not there; a
 * port that this manager has not seen before keeps the one that it came with, unless somebody has
 * it; the others get the lowest that are free (subnet/lids.h), the manager's own
 * port first, then in the order of GUIDs that OpenSM has (wf_subnet_guid_order()).
 */
#include <errno.h>
#include <string.h>

#include "base/sort.h"
#include "mgmt/sm/steps_priv.h"
#include "subnet/lids.h"

/* ---- the LIDs of GUIDs ---- */

static uint32_t hash(uint64_t guid, uint32_t size)
{
	guid ^= guid >> 31;
	guid *= UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(guid >> 32) & (size - 1);
}

static uint32_t place_of(const struct wf_sm_lids *lids, uint64_t guid)
{
	uint32_t i = hash(guid, lids->size);

	while (lids->at[i].guid != 0 && lids->at[i].guid != guid)
		i = (i + 1) & (lids->size - 1);
	return i;
}

static const struct wf_sm_lid_of *find(const struct wf_sm *sm, uint64_t guid)
{
	const struct wf_sm_lids *lids = &sm->lids;
	uint32_t i;

	if (lids->size == 0 || guid == 0)
		return NULL;
	i = place_of(lids, guid);
	return lids->at[i].guid == 0 ? NULL : &lids->at[i];
}

static int grow(struct wf_sm *sm)
{
	struct wf_sm_lids *lids = &sm->lids;
	struct wf_sm_lids more = { .size = lids->size == 0 ? 64 : 2 * lids->size };

	more.at = sm->mem->alloc(sm->mem, more.size * sizeof(*more.at));
	if (more.at == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < lids->size; i++) {
		if (lids->at[i].guid != 0)
			more.at[place_of(&more, lids->at[i].guid)] = lids->at[i];
	}
	more.n = lids->n;
	sm->mem->free(sm->mem, lids->at);
	*lids = more;
	return 0;
}

static int keep(struct wf_sm *sm, uint64_t guid, uint16_t lid, uint8_t lmc)
{
	struct wf_sm_lids *lids = &sm->lids;
	uint32_t i;

	if (guid == 0)
		return 0;
	if (2 * (lids->n + 1) > lids->size) {
		int ret = grow(sm);

		if (ret != 0)
			return ret;
	}
	i = place_of(lids, guid);
	lids->n += lids->at[i].guid == 0;
	lids->at[i] = (struct wf_sm_lid_of){ .guid = guid, .lid = lid, .lmc = lmc };
	return 0;
}

void wf_sm_lids_clear(struct wf_sm *sm)
{
	sm->mem->free(sm->mem, sm->lids.at);
	sm->lids = (struct wf_sm_lids){ 0 };
}

/* ---- giving them ---- */

struct giving {
	struct wf_sm *sm;
	struct wf_sm_view *view;
	uint32_t *ends; /* indices of ports: the manager's own, then the others in order */
	uint32_t n;
	struct wf_lids lids; /* those of GUIDs that are not there are kept */
};

static int guid_order(const void *a, const void *b, const void *arg)
{
	const struct wf_sm_view *view = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t self = wf_sm_self(view);

	if (x == self || y == self)
		return (y == self) - (x == self);
	return wf_subnet_guid_order(view->subnet->ports[x].guid, view->subnet->ports[y].guid);
}

static int list_ends(struct giving *g)
{
	struct wf_mem *mem = g->sm->mem;
	uint32_t n_ports = g->view->subnet->n_ports;
	uint32_t *room = mem->alloc(mem, n_ports * sizeof(*room));

	g->ends = mem->alloc(mem, n_ports * sizeof(*g->ends));
	if (g->ends == NULL || room == NULL) {
		mem->free(mem, room);
		mem->free(mem, g->ends);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n_ports; i++) {
		if (wf_sm_is_end_port(g->view, i))
			g->ends[g->n++] = i;
	}
	wf_sort(g->ends, room, g->n, sizeof(*room), guid_order, g->view);
	mem->free(mem, room);
	return 0;
}

static uint8_t lmc_of(const struct giving *g, uint32_t index)
{
	const struct wf_subnet_node *node =
		&g->view->subnet->nodes[g->view->subnet->ports[index].node];
	bool has = node->kind != WF_SUBNET_SWITCH || (node->enhanced && g->sm->cfg.lmc_esp0);

	return has ? (uint8_t)g->sm->cfg.lmc : 0;
}

static void mark_away(struct giving *g)
{
	const struct wf_sm_lids *lids = &g->sm->lids;

	for (uint32_t i = 0; i < lids->size; i++) {
		const struct wf_sm_lid_of *of = &lids->at[i];
		uint32_t index;

		if (of->guid == 0)
			continue;
		index = wf_subnet_find_port(g->view->subnet, of->guid);
		if (index != WF_SUBNET_NONE && wf_sm_is_end_port(g->view, index))
			continue;
		wf_lids_keep(&g->lids, of->lid, of->lmc);
	}
}

static void set(struct giving *g, uint32_t index, unsigned lid, uint8_t lmc)
{
	struct wf_subnet *subnet = g->view->subnet;
	const struct wf_subnet_port *port = &subnet->ports[index];
	int ret = wf_subnet_set_lid(subnet, port->node, wf_subnet_number(subnet, port),
	                            (uint16_t)lid, lmc);

	assert(ret == 0);
	(void)ret;
}

/* The LID that it was given before, or came with. */
static void keep_old(struct giving *g, uint32_t index, bool given)
{
	const struct wf_subnet_port *port = &g->view->subnet->ports[index];
	const struct wf_sm_lid_of *of = find(g->sm, port->guid);
	uint8_t lmc = lmc_of(g, index);
	unsigned lid = 0;

	if (port->lid != 0 || (of != NULL) != given)
		return;
	if (!given)
		lid = g->view->ports[index].found_lid;
	else if (of->lmc >= lmc)
		lid = of->lid;
	if (wf_lids_fit(&g->lids, lid, lmc))
		set(g, index, lid, lmc);
}

static int give_all(struct giving *g)
{
	int ret = 0;

	wf_lids_init(&g->lids, g->view->subnet);
	mark_away(g);
	for (uint32_t i = 0; i < g->n; i++)
		keep_old(g, g->ends[i], true);
	for (uint32_t i = 0; i < g->n; i++)
		keep_old(g, g->ends[i], false);
	for (uint32_t i = 0; i < g->n && ret == 0; i++) {
		if (g->view->subnet->ports[g->ends[i]].lid == 0)
			ret = wf_lids_give(&g->lids, g->ends[i], lmc_of(g, g->ends[i]));
	}
	return ret;
}

static int remember(struct giving *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const struct wf_subnet_port *port = &g->view->subnet->ports[g->ends[i]];
		int ret = keep(g->sm, port->guid, port->lid, port->lmc);

		if (ret != 0)
			return ret;
		g->sm->sweep.lids += port->lid != g->view->ports[g->ends[i]].found_lid;
	}
	return 0;
}

int wf_sm_give_lids(struct wf_sm *sm)
{
	struct giving g = { .sm = sm, .view = sm->cur };
	int ret = list_ends(&g);

	if (ret != 0)
		return ret;
	if (sm->first)
		wf_sm_lids_clear(sm);
	if (sm->first && sm->cfg.reassign_lids) {
		for (uint32_t i = 0; i < g.n; i++)
			g.view->ports[g.ends[i]].found_lid = 0;
	}
	ret = give_all(&g);
	if (ret == -ENOSPC) {
		/* LIDs of those that are not there have to go. */
		for (uint32_t i = 0; i < g.n; i++)
			set(&g, g.ends[i], 0, 0);
		wf_sm_lids_clear(sm);
		ret = give_all(&g);
	}
	if (ret == 0)
		ret = remember(&g);
	sm->lid = sm->cur->subnet->ports[wf_sm_self(sm->cur)].lid;
	sm->mem->free(sm->mem, g.ends);
	return ret;
}

/* ---- who came, and who went ---- */

/* The port of that GUID in another view, if it is an end of paths there. */
static bool is_in(const struct wf_sm_view *view, uint64_t guid)
{
	uint32_t index;

	if (view == NULL || guid == 0)
		return false;
	index = wf_subnet_find_port(view->subnet, guid);
	return index != WF_SUBNET_NONE && wf_sm_is_end_port(view, index);
}

void wf_sm_find_fresh(struct wf_sm *sm)
{
	for (uint32_t i = 0; i < sm->cur->subnet->n_ports; i++) {
		if (wf_sm_is_end_port(sm->cur, i))
			sm->cur->ports[i].fresh = !is_in(sm->view, sm->cur->subnet->ports[i].guid);
	}
}

static void tell_port(struct wf_sm *sm, enum wf_sm_event_type type, const struct wf_sm_view *view,
                      uint32_t index)
{
	const struct wf_subnet_port *port = &view->subnet->ports[index];
	struct wf_sm_event event = {
		.type = type,
		.guid = port->guid,
		.node_guid = view->subnet->nodes[port->node].guid,
		.lid = port->lid,
		.port = (uint8_t)wf_subnet_number(view->subnet, port),
	};

	wf_sm_event(sm, &event);
}

void wf_sm_tell_lost(struct wf_sm *sm)
{
	const struct wf_sm_view *old = sm->view;

	for (uint32_t i = 0; old != NULL && i < old->subnet->n_ports; i++) {
		if (wf_sm_is_end_port(old, i) && !is_in(sm->next, old->subnet->ports[i].guid))
			tell_port(sm, WF_SM_EV_PORT_LOST, old, i);
	}
}

void wf_sm_tell_found(struct wf_sm *sm)
{
	for (uint32_t i = 0; i < sm->view->subnet->n_ports; i++) {
		if (sm->view->ports[i].fresh)
			tell_port(sm, WF_SM_EV_PORT_FOUND, sm->view, i);
	}
}
