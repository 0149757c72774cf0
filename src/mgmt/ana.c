/* SPDX-License-Identifier: Apache-2.0 */
/* ana.c - the aggregation agent. */
#include "mgmt/ana.h"

#include <errno.h>
#include <string.h>

#include "mgmt/agent_priv.h"
#include "wire/perf.h"

/* A queue pair, found by its number. */
struct qp {
	uint32_t qpn;
	uint32_t tree; /* that named it last, counted from 1; 0: none did */
	bool active;
	uint8_t port;
};

struct wf_ana {
	struct wf_mem *mem;
	struct wf_ana_cfg cfg;
	struct qp *qp; /* ascending */
	uint32_t n_qps, max_qps;
	struct wf_ana_tree *tree; /* ascending */
	uint32_t n_trees, max_trees;
};

int wf_ana_create(const struct wf_ana_cfg *cfg, struct wf_mem *mem, struct wf_ana **ana_p)
{
	struct wf_ana *ana = mem->alloc(mem, sizeof(*ana));

	if (ana == NULL)
		return -ENOMEM;
	ana->mem = mem;
	ana->cfg = *cfg;
	*ana_p = ana;
	return 0;
}

void wf_ana_destroy(struct wf_ana *ana)
{
	if (ana == NULL)
		return;
	ana->mem->free(ana->mem, ana->qp);
	ana->mem->free(ana->mem, ana->tree);
	ana->mem->free(ana->mem, ana);
}

/* Room for one item more behind n. */
static bool make_room(struct wf_ana *ana, void **items, uint32_t n, uint32_t *max_p, size_t size)
{
	uint32_t max = *max_p == 0 ? 16 : 2 * *max_p;
	void *more;

	if (n < *max_p)
		return true;
	more = ana->mem->alloc(ana->mem, max * size);
	if (more == NULL)
		return false;
	if (n > 0)
		memcpy(more, *items, n * size);
	ana->mem->free(ana->mem, *items);
	*items = more;
	*max_p = max;
	return true;
}

/* Where a queue pair is, or belongs. */
static uint32_t place_of_qp(const struct wf_ana *ana, uint32_t qpn)
{
	uint32_t low = 0, high = ana->n_qps;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (ana->qp[mid].qpn < qpn)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static uint32_t place_of_tree(const struct wf_ana *ana, uint16_t id)
{
	uint32_t low = 0, high = ana->n_trees;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (ana->tree[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The port of a queue pair that is active; WF_ANA_NO_PORT: there is none. */
static uint8_t port_of(const struct wf_ana *ana, uint32_t qpn)
{
	uint32_t at = place_of_qp(ana, qpn);

	if (at == ana->n_qps || ana->qp[at].qpn != qpn || !ana->qp[at].active)
		return WF_ANA_NO_PORT;
	return ana->qp[at].port;
}

static unsigned class_port_info(uint8_t *p, bool set)
{
	const struct wf_class_port_info info = {
		.base_version = WF_MAD_BASE_VERSION,
		.class_version = WF_AM_CLASS_VERSION,
	};

	if (set) /* of whom traps would be told, and there are none */
		return WF_MAD_BAD_ATTRIBUTE;
	wf_class_port_info_encode(&info, p);
	return WF_MAD_OK;
}

static unsigned node(struct wf_ana *ana, uint8_t *p, bool set)
{
	const struct wf_am_node info = {
		.streams = ana->cfg.streams,
		.radix = ana->cfg.n_ports,
		.trees = ana->cfg.trees,
		.jobs = ana->cfg.trees,
		.pending = ana->cfg.operations,
		.queue_pairs = UINT16_MAX,
	};

	if (set)
		return WF_MAD_BAD_ATTRIBUTE;
	wf_am_node_encode(&info, p);
	return WF_MAD_OK;
}

static unsigned queue_pair(struct wf_ana *ana, uint8_t *p, bool set)
{
	struct wf_am_queue_pair c;
	void *qps = ana->qp;
	uint32_t at;
	bool found;

	wf_am_queue_pair_decode(p, &c);
	at = place_of_qp(ana, c.qpn);
	found = at < ana->n_qps && ana->qp[at].qpn == c.qpn;
	if (!set) {
		c = (struct wf_am_queue_pair){ .qpn = c.qpn };
		if (found) {
			c.active = ana->qp[at].active;
			c.port = ana->qp[at].port;
		}
		wf_am_queue_pair_encode(&c, p);
		return WF_MAD_OK;
	}
	if (c.qpn == 0 || c.port == 0 || c.port > ana->cfg.n_ports)
		return WF_MAD_INVALID_FIELD;
	if (!found) {
		bool room = make_room(ana, &qps, ana->n_qps, &ana->max_qps, sizeof(*ana->qp));

		ana->qp = qps;
		if (!room || ana->n_qps == UINT16_MAX)
			return WF_MAD_BUSY;
		memmove(&ana->qp[at + 1], &ana->qp[at], (ana->n_qps++ - at) * sizeof(*ana->qp));
	}
	ana->qp[at] = (struct qp){ .qpn = c.qpn, .active = c.active, .port = c.port };
	return WF_MAD_OK;
}

static bool has_child(const struct wf_ana_tree *t, uint8_t port)
{
	return (t->down[port / 8] >> port % 8 & 1) != 0;
}

/* Adds or takes away the children of a MAD. False: one is no queue pair. */
static bool change_children(const struct wf_ana *ana, const struct wf_am_tree *c,
                            struct wf_ana_tree *t, bool add)
{
	for (unsigned i = 0; i < c->n; i++) {
		uint8_t port = port_of(ana, c->child[i]);

		if (port == WF_ANA_NO_PORT)
			return false;
		if (has_child(t, port) == add)
			continue;
		t->down[port / 8] ^= (uint8_t)(1u << port % 8);
		t->n_down = (uint16_t)(add ? t->n_down + 1 : t->n_down - 1);
	}
	return true;
}

static bool set_parent(const struct wf_ana *ana, const struct wf_am_tree *c, struct wf_ana_tree *t)
{
	t->up = c->parent == 0 ? WF_ANA_NO_PORT : port_of(ana, c->parent);
	return c->parent == 0 || t->up != WF_ANA_NO_PORT;
}

/* What a MAD makes of a tree. False: it cannot be. */
static bool change_tree(const struct wf_ana *ana, const struct wf_am_tree *c, struct wf_ana_tree *t)
{
	switch (c->does) {
	case WF_AM_ADD:
	case WF_AM_REMOVE:
		return change_children(ana, c, t, c->does == WF_AM_ADD);
	case WF_AM_PARENT:
		return set_parent(ana, c, t);
	case WF_AM_WRITE:
		*t = (struct wf_ana_tree){ .id = t->id };
		t->enabled = c->enabled;
		t->streams = c->streams;
		return !c->enabled || (c->streams <= ana->cfg.streams && set_parent(ana, c, t) &&
		                       change_children(ana, c, t, true));
	default:
		return false;
	}
}

static void tell_tree(const struct wf_ana *ana, struct wf_am_tree *c, const struct wf_ana_tree *t)
{
	*c = (struct wf_am_tree){ .does = WF_AM_WRITE, .tree = c->tree };
	if (t == NULL)
		return;
	c->enabled = t->enabled;
	c->streams = t->streams;
	for (uint32_t i = 0; i < ana->n_qps; i++) {
		const struct qp *qp = &ana->qp[i];

		if (qp->tree != t->id + 1u)
			continue;
		if (qp->port == t->up)
			c->parent = qp->qpn;
		else if (has_child(t, qp->port) && c->n < WF_AM_CHILDREN)
			c->child[c->n++] = qp->qpn;
	}
}

/* Its queue pairs are those of the tree. */
static void mark_qps(struct wf_ana *ana, const struct wf_am_tree *c)
{
	if (c->parent != 0 && port_of(ana, c->parent) != WF_ANA_NO_PORT)
		ana->qp[place_of_qp(ana, c->parent)].tree = c->tree + 1u;
	for (unsigned i = 0; i < c->n; i++) {
		if (port_of(ana, c->child[i]) != WF_ANA_NO_PORT)
			ana->qp[place_of_qp(ana, c->child[i])].tree = c->tree + 1u;
	}
}

static unsigned tree(struct wf_ana *ana, uint8_t *p, bool set)
{
	struct wf_am_tree c;
	struct wf_ana_tree t = { .id = 0 };
	void *trees = ana->tree;
	uint32_t at;
	bool found;

	wf_am_tree_decode(p, &c);
	if (c.tree >= ana->cfg.trees || c.n > WF_AM_CHILDREN)
		return WF_MAD_INVALID_FIELD;
	at = place_of_tree(ana, c.tree);
	found = at < ana->n_trees && ana->tree[at].id == c.tree;
	if (!set) {
		tell_tree(ana, &c, found ? &ana->tree[at] : NULL);
		wf_am_tree_encode(&c, p);
		return WF_MAD_OK;
	}
	if (found)
		t = ana->tree[at];
	t.id = c.tree;
	if (!change_tree(ana, &c, &t))
		return WF_MAD_INVALID_FIELD;
	if (!found) {
		bool room =
			make_room(ana, &trees, ana->n_trees, &ana->max_trees, sizeof(*ana->tree));

		ana->tree = trees;
		if (!room)
			return WF_MAD_BUSY;
		memmove(&ana->tree[at + 1], &ana->tree[at],
		        (ana->n_trees++ - at) * sizeof(*ana->tree));
	}
	ana->tree[at] = t;
	mark_qps(ana, &c);
	ana->cfg.tree(ana->cfg.arg, &ana->tree[at]);
	return WF_MAD_OK;
}

bool wf_ana_rx(struct wf_ana *ana, uint8_t *mad)
{
	uint8_t *p = mad + WF_AM_DATA;
	unsigned status;
	struct wf_mad h;
	bool set;

	wf_mad_decode(mad, &h);
	if (wf_mad_is_response(h.method))
		return false;
	set = h.method == WF_MAD_METHOD_SET;
	status = wf_agent_check(&h, WF_AM_CLASS_VERSION);
	if (status == WF_MAD_OK && h.attr_mod != 0)
		status = WF_MAD_INVALID_FIELD;
	if (status == WF_MAD_OK) {
		switch (h.attr_id) {
		case WF_MAD_ATTR_CLASS_PORT_INFO:
			status = class_port_info(p, set);
			break;
		case WF_AM_NODE:
			status = node(ana, p, set);
			break;
		case WF_AM_QUEUE_PAIR:
			status = queue_pair(ana, p, set);
			break;
		case WF_AM_TREE:
			status = tree(ana, p, set);
			break;
		default:
			status = WF_MAD_BAD_ATTRIBUTE;
			break;
		}
	}
	wf_agent_answer(mad, status);
	return true;
}

const struct wf_ana_tree *wf_ana_tree(const struct wf_ana *ana, uint16_t id)
{
	uint32_t at = place_of_tree(ana, id);

	return at < ana->n_trees && ana->tree[at].id == id ? &ana->tree[at] : NULL;
}
