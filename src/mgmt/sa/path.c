/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.c - a path: the way that the tables say, hop by hop, with the least MTU and rate on it, its
 * P_Key and service level; and whether it is what was asked for.
 */
#include <string.h>

#include "mgmt/sa/sa_priv.h"
#include "subnet/part.h"
#include "subnet/tables.h"
#include "wire/ib_rate.h"

#define MAX_HOPS 64

struct walk {
	uint64_t rate;
	uint8_t mtu, hops;
};

static void narrow(const struct wf_sa *sa, uint32_t index, struct walk *w)
{
	w->rate = wf_min_u64(w->rate, sa->ports[index].rate);
	w->mtu = sa->ports[index].mtu < w->mtu ? sa->ports[index].mtu : w->mtu;
}

/* The port by which a switch sends to a LID: index, or WF_SUBNET_NONE. */
static uint32_t way_out(const struct wf_sm_view *view, uint32_t node, uint16_t dlid)
{
	const struct wf_subnet_node *n = &view->subnet->nodes[node];
	unsigned port = wf_tables_port(view->tables, n->sw, dlid);

	return port > n->n_ports ? WF_SUBNET_NONE : n->first_port + port;
}

/* One switch on: at is a port by which packets leave. False: they do not get further. */
static bool step(const struct wf_sa *sa, const struct wf_sm_view *view, uint32_t *at, uint32_t to,
                 uint16_t dlid, struct walk *w)
{
	const struct wf_subnet *subnet = view->subnet;
	const struct wf_subnet_port *in = wf_subnet_peer(subnet, &subnet->ports[*at]);
	uint32_t index;

	if (in == NULL)
		return false;
	index = (uint32_t)(in - subnet->ports);
	if (index == to) {
		*at = to;
		return true;
	}
	if (!wf_subnet_is_switch(subnet, in->node) || w->hops == MAX_HOPS)
		return false;
	narrow(sa, index, w);
	*at = way_out(view, in->node, dlid);
	if (*at == WF_SUBNET_NONE)
		return false;
	narrow(sa, *at, w);
	w->hops++;
	return true;
}

static bool walk(const struct wf_sa *sa, uint32_t from, uint32_t to, uint16_t dlid, struct walk *w)
{
	const struct wf_sm_view *view = wf_sm_view(sa->sm);
	uint32_t at = from, node = view->subnet->ports[from].node;

	*w = (struct walk){ .rate = sa->ports[from].rate, .mtu = sa->ports[from].mtu };
	if (view->tables == NULL)
		return false;
	if (wf_subnet_is_switch(view->subnet, node))
		at = way_out(view, node, dlid);
	if (at == WF_SUBNET_NONE)
		return false;
	while (at != to) {
		if (!step(sa, view, &at, to, dlid, w))
			return false;
	}
	narrow(sa, to, w);
	return true;
}

/* ---- as it is wished ---- */

static bool wishes(const struct wf_sa_wish *wish, unsigned selector, unsigned value)
{
	return (wish->mask >> selector & 1) != 0 && (wish->mask >> value & 1) != 0;
}

/*
 * MTUs and times: less than what was asked for is the next below it, which a path can be used with
 * as well; exactly is that much of what there is.
 */
static bool fit_code(unsigned selector, uint8_t wanted, uint8_t *has)
{
	switch (selector) {
	case WF_SA_GREATER:
		return *has > wanted;
	case WF_SA_LESS:
		if (*has < wanted)
			return true;
		*has = (uint8_t)(wanted - 1);
		return wanted > 1;
	case WF_SA_EXACTLY:
		if (*has < wanted)
			return false;
		*has = wanted;
		return true;
	default:
		return true;
	}
}

static bool fit_rate(unsigned selector, uint8_t wanted, uint8_t *has)
{
	uint64_t there = wf_ib_rate_decode(*has), asked = wf_ib_rate_decode(wanted);

	if (selector == WF_SA_LESS && there >= asked) {
		*has = wf_sa_slower(wanted);
		return *has != 0;
	}
	return wf_sa_selects(selector, there, asked);
}

static bool fits(const struct wf_sa_wish *wish, struct wf_sa_path *path)
{
	const struct wf_path_record *r = wish->record;

	if (wishes(wish, WF_PATH_C_MTU_SELECTOR, WF_PATH_C_MTU) &&
	    !fit_code(r->mtu_selector, r->mtu, &path->mtu))
		return false;
	if (wishes(wish, WF_PATH_C_RATE_SELECTOR, WF_PATH_C_RATE) &&
	    !fit_rate(r->rate_selector, r->rate, &path->rate))
		return false;
	return !wishes(wish, WF_PATH_C_LIFE_SELECTOR, WF_PATH_C_LIFE) ||
	       fit_code(r->life_selector, r->life, &path->life);
}

/* ---- partition and service level ---- */

static bool is_raw(const struct wf_sa_wish *wish)
{
	return (wish->mask & WF_COMPONENT(WF_PATH_C_RAW_TRAFFIC)) != 0 && wish->record->raw_traffic;
}

/* The P_Key that packets go with; false: there is none. */
static bool choose_key(const struct wf_sa *sa, const struct wf_sa_wish *wish, uint32_t from,
                       uint32_t to, uint16_t *key_p)
{
	if (!is_raw(wish) && (wish->mask & WF_COMPONENT(WF_PATH_C_PKEY)) != 0) {
		*key_p = wish->record->pkey;
		return wf_sa_share_key(sa, from, to, *key_p);
	}
	*key_p = wf_sa_common_key(sa, from, to);
	return is_raw(wish) || *key_p != 0;
}

static uint8_t level_of_partition(const struct wf_sa *sa, uint16_t key)
{
	const struct wf_parts *parts = wf_sm_parts(sa->sm);

	for (uint32_t i = 0; i < parts->n && wf_sm_cfg(sa->sm)->qos; i++) {
		if (((parts->part[i].pkey ^ key) & WF_PART_DEFAULT) == 0)
			return parts->part[i].sl;
	}
	return 0;
}

/* The service level that the routing wants of packets from a port to a LID. */
static uint8_t level_of_route(const struct wf_sm_view *view, uint32_t from, uint16_t dlid,
                              uint8_t level)
{
	const struct wf_subnet_port *port = &view->subnet->ports[from];
	uint32_t node = port->node;

	if (view->tables->sl == NULL)
		return level;
	if (!wf_subnet_is_switch(view->subnet, node))
		node = port->peer;
	if (node == WF_SUBNET_NONE || !wf_subnet_is_switch(view->subnet, node))
		return level;
	return wf_tables_sl(view->tables, view->subnet->nodes[node].sw, dlid);
}

static bool choose_level(const struct wf_sa *sa, const struct wf_sa_wish *wish, uint32_t from,
                         uint16_t dlid, struct wf_sa_path *path)
{
	const struct wf_sm_view *view = wf_sm_view(sa->sm);
	bool wanted = (wish->mask & WF_COMPONENT(WF_PATH_C_SL)) != 0;
	struct wf_sl_to_vl lanes;
	uint8_t level = wanted ? wish->record->sl : level_of_partition(sa, path->pkey);

	if (wf_sm_cfg(sa->sm)->qos && wf_sm_sl_to_vl(sa->sm, from, &lanes) &&
	    lanes.vl[level] == WF_VL_MGMT)
		return false; /* dropped */
	path->sl = level_of_route(view, from, dlid, level);
	return !wanted || path->sl == level;
}

bool wf_sa_path(const struct wf_sa *sa, const struct wf_sa_wish *wish, uint32_t from, uint32_t to,
                uint16_t dlid, struct wf_sa_path *path)
{
	struct walk w;

	if (!walk(sa, from, to, dlid, &w))
		return false;
	*path = (struct wf_sa_path){
		.mtu = w.mtu,
		.rate = wf_ib_rate_encode(w.rate),
		.life = from == to ? 0 : (uint8_t)wf_sm_cfg(sa->sm)->subnet_timeout,
		.hops = w.hops,
	};
	if (!fits(wish, path) || !choose_key(sa, wish, from, to, &path->pkey) ||
	    !choose_level(sa, wish, from, dlid, path))
		return false;
	if (is_raw(wish))
		path->pkey = 0;
	return true;
}
