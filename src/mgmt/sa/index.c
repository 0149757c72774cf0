/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.c - what many answers need of a view: rates, MTUs and P_Keys of ports, ends of paths in
 * order; and who may know of whom.
 *
 * OpenSM's order of P_Keys is that of their bytes as they are on the wire, the lower one first.
 */
#include <errno.h>
#include <string.h>

#include "base/sort.h"
#include "mgmt/sa/sa_priv.h"
#include "subnet/part.h"
#include "wire/ib_rate.h"

#define BASE WF_PART_DEFAULT

static uint16_t rank(uint16_t key)
{
	uint16_t base = key & BASE;

	return (uint16_t)(base << 8 | base >> 8);
}

/* ---- making it ---- */

static int end_order(const void *a, const void *b, const void *arg)
{
	const struct wf_sm_view *view = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return wf_subnet_guid_order(view->subnet->ports[x].guid, view->subnet->ports[y].guid);
}

static int make_ends(struct wf_sa *sa, const struct wf_sm_view *view)
{
	uint32_t n = view->subnet->n_ports;
	uint32_t *room = sa->mem->alloc(sa->mem, ((size_t)n + 1) * sizeof(*room));

	sa->ends = sa->mem->alloc(sa->mem, ((size_t)n + 1) * sizeof(*sa->ends));
	if (room == NULL || sa->ends == NULL) {
		sa->mem->free(sa->mem, room);
		return -ENOMEM;
	}
	sa->n_ends = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (wf_sm_is_end_port(view, i))
			sa->ends[sa->n_ends++] = i;
	}
	wf_sort(sa->ends, room, sa->n_ends, sizeof(*room), end_order, view);
	sa->mem->free(sa->mem, room);
	return 0;
}

/* Puts a key where it belongs; of the same partition the full membership counts. */
static void add_key(uint16_t *keys, uint16_t *n_p, uint16_t key)
{
	unsigned at = *n_p;

	if ((key & BASE) == 0)
		return;
	while (at > 0 && rank(keys[at - 1]) > rank(key))
		at--;
	if (at > 0 && rank(keys[at - 1]) == rank(key)) {
		keys[at - 1] |= key;
		return;
	}
	memmove(keys + at + 1, keys + at, (*n_p - at) * sizeof(*keys));
	keys[at] = key;
	++*n_p;
}

static int make_ports(struct wf_sa *sa, const struct wf_sm_view *view)
{
	uint32_t n = view->subnet->n_ports, used = 0;
	size_t keys = 0;

	for (uint32_t i = 0; i < n; i++)
		keys += view->ports[i].pkeys == NULL ? 0 : view->ports[i].n_pkeys;
	sa->ports = sa->mem->alloc(sa->mem, ((size_t)n + 1) * sizeof(*sa->ports));
	sa->keys = sa->mem->alloc(sa->mem, (keys + 1) * sizeof(*sa->keys));
	if (sa->ports == NULL || sa->keys == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct wf_sm_port *port = &view->ports[i];
		uint32_t node = view->subnet->ports[i].node;
		struct wf_port_info info, caps;

		sa->ports[i] = (struct wf_sa_port){ .keys = used };
		if (!port->known)
			continue;
		wf_sm_port_info(view, i, &info);
		caps = info;
		if (wf_subnet_is_switch(view->subnet, node))
			wf_sm_port_info(view, view->subnet->nodes[node].first_port, &caps);
		sa->ports[i].rate = wf_ib_port_rate(&info, &caps);
		sa->ports[i].mtu = info.mtu_cap;
		sa->ports[i].neighbor_mtu = info.neighbor_mtu;
		for (unsigned k = 0; port->pkeys != NULL && k < port->n_pkeys; k++)
			add_key(sa->keys + used, &sa->ports[i].n_keys, port->pkeys[k]);
		used += sa->ports[i].n_keys;
	}
	return 0;
}

int wf_sa_index(struct wf_sa *sa)
{
	const struct wf_sm_view *view = wf_sm_view(sa->sm);
	int ret;

	if (sa->indexed)
		return 0;
	ret = make_ends(sa, view);
	if (ret == 0)
		ret = make_ports(sa, view);
	if (ret != 0)
		wf_sa_index_drop(sa);
	else
		sa->indexed = true;
	return ret;
}

void wf_sa_index_drop(struct wf_sa *sa)
{
	sa->mem->free(sa->mem, sa->ends);
	sa->mem->free(sa->mem, sa->keys);
	sa->mem->free(sa->mem, sa->ports);
	sa->ends = NULL;
	sa->keys = NULL;
	sa->ports = NULL;
	sa->n_ends = 0;
	sa->indexed = false;
}

/* ---- partitions ---- */

static bool meet(uint16_t a, uint16_t b)
{
	return (a & BASE) == (b & BASE) && ((a | b) & WF_PKEY_FULL) != 0;
}

uint16_t wf_sa_common_key(const struct wf_sa *sa, uint32_t a, uint32_t b)
{
	const struct wf_sa_port *x = &sa->ports[a], *y = &sa->ports[b];
	unsigned i = 0, j = 0;

	while (i < x->n_keys && j < y->n_keys) {
		uint16_t p = sa->keys[x->keys + i], q = sa->keys[y->keys + j];

		if (meet(p, q))
			return p;
		i += rank(p) <= rank(q);
		j += rank(q) <= rank(p);
	}
	return 0;
}

bool wf_sa_share(const struct wf_sa *sa, uint32_t a, uint32_t b)
{
	return a == b || sa->ports[a].n_keys == 0 || sa->ports[b].n_keys == 0 ||
	       wf_sa_common_key(sa, a, b) != 0;
}

static uint16_t find_key(const struct wf_sa *sa, uint32_t port, uint16_t key)
{
	const struct wf_sa_port *p = &sa->ports[port];

	for (unsigned i = 0; i < p->n_keys; i++) {
		if (((sa->keys[p->keys + i] ^ key) & BASE) == 0)
			return sa->keys[p->keys + i];
	}
	return 0;
}

bool wf_sa_share_key(const struct wf_sa *sa, uint32_t a, uint32_t b, uint16_t key)
{
	uint16_t p = find_key(sa, a, key), q = find_key(sa, b, key);

	return p != 0 && q != 0 && meet(p, q);
}

bool wf_sa_has_key(const struct wf_sa *sa, uint32_t port, uint16_t key)
{
	return (key & BASE) == 0 || find_key(sa, port, key) != 0;
}

/* ---- ports ---- */

uint32_t wf_sa_by_guid(const struct wf_sm_view *view, uint64_t guid)
{
	uint32_t index = guid == 0 ? WF_SUBNET_NONE : wf_subnet_find_port(view->subnet, guid);

	return index != WF_SUBNET_NONE && wf_sm_is_end_port(view, index) ? index : WF_SUBNET_NONE;
}

uint32_t wf_sa_by_lid(const struct wf_sm_view *view, unsigned lid)
{
	uint32_t index = wf_subnet_by_lid(view->subnet, lid);

	return index != WF_SUBNET_NONE && wf_sm_is_end_port(view, index) ? index : WF_SUBNET_NONE;
}

void wf_sa_gid(const struct wf_sa *sa, uint64_t guid, uint8_t gid[WF_SA_GID_LEN])
{
	wf_be64_put(gid, wf_sm_prefix(sa->sm));
	wf_be64_put(gid + 8, guid);
}

static const struct wf_subnet_port *with_lid(const struct wf_sm_view *view, uint32_t index)
{
	const struct wf_subnet_port *port = &view->subnet->ports[index];

	return wf_subnet_is_switch(view->subnet, port->node)
	               ? wf_subnet_port(view->subnet, port->node, 0)
	               : port;
}

uint16_t wf_sa_lid(const struct wf_sm_view *view, uint32_t index)
{
	return with_lid(view, index)->lid;
}

bool wf_sa_lid_is(const struct wf_sm_view *view, uint32_t index, unsigned lid)
{
	const struct wf_subnet_port *port = with_lid(view, index);

	return lid >= port->lid && lid < port->lid + (1u << port->lmc);
}

bool wf_sa_selects(unsigned selector, uint64_t has, uint64_t wanted)
{
	switch (selector) {
	case WF_SA_GREATER:
		return has > wanted;
	case WF_SA_LESS:
		return has < wanted;
	case WF_SA_EXACTLY:
		return has == wanted;
	default:
		return true;
	}
}

uint8_t wf_sa_slower(uint8_t code)
{
	uint64_t rate = wf_ib_rate_decode(code);
	uint8_t less = rate == 0 ? code : wf_ib_rate_encode(rate - 1);

	return less == code ? 0 : less;
}
