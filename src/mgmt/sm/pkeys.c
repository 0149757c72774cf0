/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pkeys.c - P_Key tables: those of ends as the partitions say, and those of the switches' ports
 * to them, which have the same keys and let nothing else pass.
 *
 * A key that is in a table stays where it is, so that queue pairs that go by its index keep
 * theirs; the default partition, or the one that is to be first, is at index 0.
 */
#include <errno.h>
#include <string.h>

#include "mgmt/sm/steps_priv.h"

#define BASE(pkey) ((pkey)&WF_PART_DEFAULT)

unsigned wf_sm_pkey_blocks(const struct wf_sm_view *view, uint32_t node, unsigned port)
{
	bool external = wf_subnet_is_switch(view->subnet, node) && port != 0;
	unsigned cap;

	if (external)
		cap = view->switches[view->subnet->nodes[node].sw].info.partition_enforcement_cap;
	else
		cap = view->nodes[node].info.partition_cap;
	if (cap > (UINT16_MAX + 1) / 2)
		cap = (UINT16_MAX + 1) / 2;
	return (cap + WF_PKEYS_PER_BLOCK - 1) / WF_PKEYS_PER_BLOCK;
}

/* ---- which keys at which index ---- */

struct table {
	uint16_t *was; /* as the port has it */
	uint16_t *is;  /* as it is to be */
	unsigned n;
};

/* A key that the port has, with another membership perhaps, stays at its index. */
static bool stays(struct table *t, uint16_t pkey, uint16_t first)
{
	for (unsigned i = 0; i < t->n; i++) {
		if (t->was[i] == 0 || BASE(t->was[i]) != BASE(pkey))
			continue;
		if ((i == 0) != (BASE(pkey) == BASE(first)))
			return false;
		t->is[i] = pkey;
		return true;
	}
	return false;
}

/* A new one comes behind the last that is used; where there is no room left, to the first free. */
static bool comes(struct table *t, uint16_t pkey, uint16_t first)
{
	unsigned i = t->n;

	if (BASE(pkey) == BASE(first)) {
		t->is[0] = pkey;
		return true;
	}
	while (i > 1 && t->is[i - 1] == 0)
		i--;
	if (i == t->n) {
		for (i = 1; i < t->n && t->is[i] != 0; i++)
			;
	}
	if (i >= t->n)
		return false;
	t->is[i] = pkey;
	return true;
}

static bool fill_table(struct table *t, const uint16_t *pkeys, unsigned n, uint16_t first)
{
	bool all = true;

	memset(t->is, 0, t->n * sizeof(*t->is));
	for (unsigned i = 0; i < n; i++)
		(void)stays(t, pkeys[i], first);
	for (unsigned i = 0; i < n; i++) {
		bool there = false;

		for (unsigned j = 0; j < t->n && !there; j++)
			there = t->is[j] == pkeys[i];
		if (!there)
			all &= comes(t, pkeys[i], first);
	}
	return all;
}

/* ---- setting them ---- */

/* Takes over a table and queues the blocks that differ from what the port has. */
static void change(struct wf_sm *sm, uint32_t index, const uint16_t *is)
{
	struct wf_sm_port *port = &sm->cur->ports[index];
	const struct wf_subnet_port *at = &sm->cur->subnet->ports[index];
	unsigned number = wf_subnet_number(sm->cur->subnet, at);

	for (unsigned i = 0; i < port->n_pkeys; i += WF_PKEYS_PER_BLOCK) {
		if (memcmp(port->pkeys + i, is + i, WF_PKEYS_PER_BLOCK * sizeof(*is)) == 0)
			continue;
		memcpy(port->pkeys + i, is + i, WF_PKEYS_PER_BLOCK * sizeof(*is));
		wf_sm_push(sm, WF_SM_SET_PKEYS, at->node, number, i / WF_PKEYS_PER_BLOCK);
	}
}

/* The same keys, without gaps, for the switch's port at the other end. */
static void change_peer(struct wf_sm *sm, uint32_t index, const uint16_t *is, unsigned n,
                        uint16_t *room)
{
	struct wf_sm_view *view = sm->cur;
	const struct wf_subnet_port *port = &view->subnet->ports[index];
	const struct wf_subnet_port *far = wf_subnet_peer(view->subnet, port);
	unsigned cap, used = 0;
	struct wf_sm_port *peer;

	if (far == NULL || !wf_subnet_is_switch(view->subnet, far->node))
		return;
	peer = &view->ports[far - view->subnet->ports];
	cap = view->switches[view->subnet->nodes[far->node].sw].info.partition_enforcement_cap;
	if (peer->pkeys == NULL || cap == 0)
		return;
	memset(room, 0, peer->n_pkeys * sizeof(*room));
	for (unsigned i = 0; i < n; i++) {
		if (is[i] == 0)
			continue;
		if (used == cap) {
			wf_sm_note(sm, "a switch has no room for all P_Keys of a port, and does "
			               "not look at them there");
			return;
		}
		room[used++] = is[i];
	}
	peer->enforce = true;
	change(sm, (uint32_t)(far - view->subnet->ports), room);
}

static void want_port(struct wf_sm *sm, uint32_t index, uint16_t *keys, uint16_t *is,
                      uint16_t *room)
{
	struct wf_sm_view *view = sm->cur;
	const struct wf_subnet_port *at = &view->subnet->ports[index];
	struct wf_sm_port *port = &view->ports[index];
	struct wf_part_port who = {
		.guid = at->guid,
		.kind = view->subnet->nodes[at->node].kind,
		.self = index == wf_sm_self(view),
	};
	unsigned cap = view->nodes[at->node].info.partition_cap, n;
	struct table t = { .was = port->pkeys, .is = is };
	uint16_t first;

	if (port->pkeys == NULL)
		return;
	t.n = cap < port->n_pkeys ? cap : port->n_pkeys;
	memset(is, 0, port->n_pkeys * sizeof(*is));
	n = wf_parts_pkeys(sm->parts, &who, keys, sm->parts->n, &first);
	if (!fill_table(&t, keys, n, first)) {
		wf_sm_note(sm, "a port is in more partitions than its P_Key table has room for");
		sm->sweep.errors++;
	}
	if (!wf_subnet_is_switch(view->subnet, at->node))
		change_peer(sm, index, is, t.n, room);
	change(sm, index, is);
}

int wf_sm_want_pkeys(struct wf_sm *sm)
{
	const struct wf_sm_view *view = sm->cur;
	size_t most = WF_PKEYS_PER_BLOCK;
	uint16_t *room;

	for (uint32_t i = 0; i < view->subnet->n_ports; i++) {
		if (view->ports[i].n_pkeys > most)
			most = view->ports[i].n_pkeys;
	}
	room = sm->mem->alloc(sm->mem, (2 * most + sm->parts->n) * sizeof(*room));
	if (room == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < view->subnet->n_ports; i++) {
		if (wf_sm_is_end_port(view, i))
			want_port(sm, i, room + 2 * most, room, room + most);
	}
	sm->mem->free(sm->mem, room);
	return 0;
}

void wf_sm_fill_pkeys(struct wf_sm *sm, const struct wf_sm_work *work, uint8_t *data)
{
	const struct wf_sm_port *port =
		&sm->cur->ports[wf_sm_index(sm->cur, work->node, work->port)];
	struct wf_pkey_table table;

	memcpy(table.pkey, port->pkeys + (size_t)work->arg * WF_PKEYS_PER_BLOCK,
	       sizeof(table.pkey));
	wf_pkey_table_encode(&table, data);
}

/* What the port has now; where it did not take the keys, the next sweep tries again. */
void wf_sm_done_set_pkeys(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	wf_sm_done_get_pkeys(sm, work, data);
}
