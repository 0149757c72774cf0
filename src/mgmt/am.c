/* SPDX-License-Identifier: Apache-2.0 */
/* am.c - the aggregation manager's requests, step by step. */
#include "mgmt/am.h"

#include <errno.h>
#include <string.h>

#include "wire/am.h"

#define TID_UPPER UINT64_C(0x57464d) /* "WFM": of the manager's transactions */

enum step { STEP_INFO, STEP_QPS, STEP_WRITE, STEP_ADD, STEPS };

/* A request that is under way. */
struct slot {
	uint32_t place, item; /* item: which link, of STEP_QPS */
	uint32_t number;      /* of the transaction */
	wf_time due;          /* WF_TIME_NEVER: it is to be sent */
	unsigned tries;       /* 0: the slot is free */
};

struct wf_am {
	struct wf_mem *mem;
	struct wf_am_cfg cfg;
	struct wf_am_place *places;
	const struct wf_am_link *links;
	uint32_t n;
	enum step step;       /* STEPS: it is over, or has not begun */
	uint32_t place, item; /* the next request */
	struct slot *slots;   /* cfg.max_wire */
	unsigned n_used;
	uint32_t number;
	struct wf_am_stats stats;
	bool begun;
};

int wf_am_create(const struct wf_am_cfg *cfg, struct wf_mem *mem, struct wf_am **am_p)
{
	struct wf_am *am = mem->alloc(mem, sizeof(*am));

	assert(cfg->max_wire > 0);
	if (am == NULL)
		return -ENOMEM;
	am->mem = mem;
	am->cfg = *cfg;
	am->step = STEPS;
	am->slots = mem->alloc(mem, cfg->max_wire * sizeof(*am->slots));
	if (am->slots == NULL) {
		mem->free(mem, am);
		return -ENOMEM;
	}
	*am_p = am;
	return 0;
}

void wf_am_destroy(struct wf_am *am)
{
	if (am == NULL)
		return;
	am->mem->free(am->mem, am->slots);
	am->mem->free(am->mem, am);
}

void wf_am_begin(struct wf_am *am, struct wf_am_place *places, uint32_t n,
                 const struct wf_am_link *links)
{
	assert(wf_am_is_over(am) || !am->begun);
	am->places = places;
	am->links = links;
	am->n = n;
	am->step = n > 0 ? STEP_INFO : STEPS;
	am->place = am->item = 0;
	am->begun = true;
}

bool wf_am_is_over(const struct wf_am *am)
{
	return am->begun && am->step == STEPS;
}

static uint32_t children(const struct wf_am_place *p)
{
	return p->n - (p->root ? 0 : 1);
}

/* Requests of a step for a place. */
static uint32_t items(const struct wf_am *am, uint32_t place)
{
	const struct wf_am_place *p = &am->places[place];

	switch (am->step) {
	case STEP_INFO:
		return p->again ? 0 : 1;
	case STEP_QPS:
		return p->failed ? 0 : p->n;
	case STEP_WRITE:
		return p->failed ? 0 : 1;
	case STEP_ADD: /* one after the other: each is the next when the last is answered */
		return p->failed || p->written >= children(p) ? 0 : 1;
	case STEPS:
		break;
	}
	return 0;
}

/* ---- MADs ---- */

static uint32_t qpn_of(uint16_t tree, uint8_t port)
{
	return (uint32_t)tree << 8 | port;
}

static void fill_qp(const struct wf_am *am, const struct slot *s, uint8_t *p)
{
	const struct wf_am_place *place = &am->places[s->place];
	const struct wf_am_link *link = &am->links[place->first + s->item];
	const struct wf_am_queue_pair c = {
		.qpn = qpn_of(place->tree, link->port),
		.active = true,
		.port = link->port,
		.mtu = 5,
		.pkey = 0xffff,
		.peer_lid = link->lid,
		.peer_qpn = qpn_of(place->tree, link->peer_port),
	};

	wf_am_queue_pair_encode(&c, p);
}

/* The next children that the switch does not know of, up to as many as fit. */
static uint8_t list_children(const struct wf_am *am, const struct wf_am_place *p,
                             uint32_t qpn[WF_AM_CHILDREN])
{
	uint32_t first = p->first + (p->root ? 0 : 1) + p->written;
	uint32_t left = children(p) - p->written;
	uint8_t n = (uint8_t)(left < WF_AM_CHILDREN ? left : WF_AM_CHILDREN);

	for (unsigned i = 0; i < n; i++)
		qpn[i] = qpn_of(p->tree, am->links[first + i].port);
	return n;
}

static void fill_tree(const struct wf_am *am, const struct slot *s, uint8_t *p)
{
	const struct wf_am_place *place = &am->places[s->place];
	struct wf_am_tree c = {
		.tree = place->tree,
		.does = am->step == STEP_WRITE ? WF_AM_WRITE : WF_AM_ADD,
		.enabled = true,
		.streams = place->streams,
		/* A group's trees are a pair; the first is the low-latency one. */
		.locked_by = place->streams ? (uint16_t)(place->tree - 1) : 0,
	};

	if (am->step == STEP_WRITE && !place->root)
		c.parent = qpn_of(place->tree, am->links[place->first].port);
	c.n = list_children(am, place, c.child);
	wf_am_tree_encode(&c, p);
}

static void fill(const struct wf_am *am, const struct slot *s, uint8_t *mad)
{
	static const uint16_t attrs[STEPS] = { WF_AM_NODE, WF_AM_QUEUE_PAIR, WF_AM_TREE,
		                               WF_AM_TREE };
	const struct wf_mad h = {
		.base_version = WF_MAD_BASE_VERSION,
		.mgmt_class = WF_MAD_CLASS_AM,
		.class_version = WF_AM_CLASS_VERSION,
		.method = am->step == STEP_INFO ? WF_MAD_METHOD_GET : WF_MAD_METHOD_SET,
		.tid = TID_UPPER << 32 | s->number,
		.attr_id = attrs[am->step],
	};

	memset(mad, 0, WF_MAD_LEN);
	wf_mad_encode(&h, mad);
	if (am->step == STEP_QPS)
		fill_qp(am, s, mad + WF_AM_DATA);
	else if (am->step != STEP_INFO)
		fill_tree(am, s, mad + WF_AM_DATA);
}

/* ---- steps ---- */

/* Goes to the next step once all of this one is answered. */
static void go_on(struct wf_am *am)
{
	while (am->step != STEPS && am->n_used == 0) {
		while (am->place < am->n && am->item >= items(am, am->place)) {
			am->place++;
			am->item = 0;
		}
		if (am->place < am->n)
			return;
		am->place = am->item = 0;
		if (am->step == STEP_ADD) { /* again, until all children are known */
			bool more = false;

			for (uint32_t i = 0; i < am->n; i++)
				more |= items(am, i) > 0;
			if (more)
				return;
		}
		am->step++;
	}
}

static struct slot *next_request(struct wf_am *am)
{
	while (am->place < am->n && am->item >= items(am, am->place)) {
		am->place++;
		am->item = 0;
	}
	if (am->place == am->n || am->n_used == am->cfg.max_wire)
		return NULL;
	for (unsigned i = 0; i < am->cfg.max_wire; i++) {
		struct slot *s = &am->slots[i];

		if (s->tries > 0)
			continue;
		*s = (struct slot){ .place = am->place,
			            .item = am->item++,
			            .number = ++am->number };
		am->n_used++;
		return s;
	}
	return NULL;
}

bool wf_am_tx(struct wf_am *am, uint16_t *lid_p, uint8_t *mad, wf_time now)
{
	struct slot *s = NULL;

	go_on(am);
	if (am->step == STEPS)
		return false;
	for (unsigned i = 0; i < am->cfg.max_wire && s == NULL; i++) {
		if (am->slots[i].tries > 0 && am->slots[i].due == WF_TIME_NEVER)
			s = &am->slots[i];
	}
	if (s != NULL)
		am->stats.again++;
	else
		s = next_request(am);
	if (s == NULL)
		return false;
	s->tries++;
	s->due = now + am->cfg.timeout;
	am->stats.sent++;
	*lid_p = am->places[s->place].lid;
	fill(am, s, mad);
	return true;
}

static void end(struct wf_am *am, struct slot *s, bool failed)
{
	struct wf_am_place *p = &am->places[s->place];

	/* A switch that says nothing of itself fails in all of its trees. */
	for (uint32_t i = 0; failed && am->step == STEP_INFO && i < am->n; i++)
		am->places[i].failed |= am->places[i].lid == p->lid;
	p->failed |= failed;
	if (am->step == STEP_WRITE || am->step == STEP_ADD) {
		uint32_t left = children(p) - p->written;

		p->written =
			(uint16_t)(p->written + (left < WF_AM_CHILDREN ? left : WF_AM_CHILDREN));
	}
	s->tries = 0;
	am->n_used--;
	go_on(am);
}

void wf_am_rx(struct wf_am *am, const uint8_t *mad)
{
	struct wf_mad h;

	wf_mad_decode(mad, &h);
	if (h.mgmt_class != WF_MAD_CLASS_AM || h.method != WF_MAD_METHOD_GET_RESP ||
	    h.tid >> 32 != TID_UPPER)
		return;
	for (unsigned i = 0; i < am->cfg.max_wire; i++) {
		struct slot *s = &am->slots[i];

		if (s->tries == 0 || s->number != (uint32_t)h.tid)
			continue;
		am->stats.answered++;
		am->stats.refused += h.status != WF_MAD_OK;
		end(am, s, h.status != WF_MAD_OK);
		return;
	}
}

wf_time wf_am_deadline(const struct wf_am *am)
{
	wf_time at = WF_TIME_NEVER;

	for (unsigned i = 0; i < am->cfg.max_wire; i++) {
		if (am->slots[i].tries > 0)
			at = wf_min_time(at, am->slots[i].due);
	}
	return at;
}

void wf_am_tick(struct wf_am *am, wf_time now)
{
	for (unsigned i = 0; i < am->cfg.max_wire; i++) {
		struct slot *s = &am->slots[i];

		if (s->tries == 0 || s->due > now)
			continue;
		if (s->tries <= am->cfg.retries) {
			s->due = WF_TIME_NEVER;
			continue;
		}
		am->stats.lost++;
		end(am, s, true);
	}
}

void wf_am_stats(const struct wf_am *am, struct wf_am_stats *stats_p)
{
	*stats_p = am->stats;
}
