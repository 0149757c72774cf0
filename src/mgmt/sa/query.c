/* SPDX-License-Identifier: Apache-2.0 */
/* query.c - PathRecord and MultiPathRecord: whose paths, and how many of them. */
#include <string.h>

#include "mgmt/sa/sa_priv.h"
#include "wire/ib_rate.h"

#define MULTICAST_BYTE 0xff /* the first of a multicast GID */
#define LINK_LOCAL UINT64_C(0xfe80000000000000)
#define HOPS_MAX 255
#define PATHS_MAX 127 /* of a MultiPathRecord, as OpenSM has it */
#define SCOPE_LINK_LOCAL 2

struct query {
	struct wf_sa_wish wish;
	struct wf_path_record wanted;
	bool has_sgid;
	unsigned most; /* paths of a pair of ports */
};

static bool asks(const struct query *q, unsigned component)
{
	return (q->wish.mask >> component & 1) != 0;
}

/* ---- one path ---- */

static void add_path(struct wf_sa *sa, struct wf_sa_req *req, const struct query *q,
                     const struct wf_sa_path *path, const uint32_t ends[2], const uint16_t lids[2],
                     uint8_t preference)
{
	const struct wf_subnet_port *ports = req->view->subnet->ports;
	struct wf_path_record r = {
		.slid = lids[0],
		.dlid = lids[1],
		.reversible = path->reversible,
		.pkey = path->pkey,
		.sl = path->sl,
		.mtu_selector = WF_SA_EXACTLY,
		.mtu = path->mtu,
		.rate_selector = WF_SA_EXACTLY,
		.rate = path->rate,
		.life_selector = WF_SA_EXACTLY,
		.life = ends[0] == ends[1] ? 0 : path->life,
		.preference = preference,
	};

	if (q->has_sgid)
		memcpy(r.sgid, q->wanted.sgid, sizeof(r.sgid));
	else
		wf_sa_gid(sa, ports[ends[0]].guid, r.sgid);
	wf_sa_gid(sa, ports[ends[1]].guid, r.dgid);
	wf_sa_add(sa, req, &wf_path_record_layout, &r);
}

/* From one LID to another; true when there is such a path. */
static bool try_lids(struct wf_sa *sa, struct wf_sa_req *req, const struct query *q,
                     const uint32_t ends[2], unsigned slid, unsigned dlid, uint8_t preference)
{
	const uint16_t lids[2] = { (uint16_t)slid, (uint16_t)dlid };
	struct wf_sa_path path, back;

	if (!wf_sa_path(sa, &q->wish, ends[0], ends[1], lids[1], &path))
		return false;
	path.reversible = wf_sa_path(sa, &q->wish, ends[1], ends[0], lids[0], &back);
	if (asks(q, WF_PATH_C_REVERSIBLE) && q->wanted.reversible && !path.reversible)
		return false;
	add_path(sa, req, q, &path, ends, lids, preference);
	return true;
}

/* ---- the paths of two ports ---- */

struct lids {
	unsigned from, n;
};

static struct lids lids_of(const struct wf_sm_view *view, uint32_t index, bool one, uint16_t lid)
{
	const struct wf_subnet_port *port = &view->subnet->ports[index];

	return one ? (struct lids){ lid, 1 } : (struct lids){ port->lid, 1u << port->lmc };
}

/*
 * First the paths that have no LID in common, then the others, as OpenSM has them: the former are
 * those that may have different ways at both ends.
 */
static unsigned pair(struct wf_sa *sa, struct wf_sa_req *req, const struct query *q, uint32_t from,
                     uint32_t to)
{
	const uint32_t ends[2] = { from, to };
	struct lids s = lids_of(req->view, from, asks(q, WF_PATH_C_SLID), q->wanted.slid);
	struct lids d = lids_of(req->view, to, asks(q, WF_PATH_C_DLID), q->wanted.dlid);
	unsigned n = 0;

	if (!wf_sa_share(sa, req->port, from) || !wf_sa_share(sa, req->port, to) ||
	    !wf_sa_share(sa, from, to) || s.from == 0 || d.from == 0)
		return 0;
	for (unsigned i = 0; i < s.n && i < d.n && n < q->most && !req->full; i++)
		n += try_lids(sa, req, q, ends, s.from + i, d.from + i, 0);
	for (unsigned i = 0; i < s.n && n < q->most && !req->full; i++) {
		for (unsigned j = 0; j < d.n && n < q->most; j++) {
			if (i != j)
				n += try_lids(sa, req, q, ends, s.from + i, d.from + j, 2);
		}
	}
	return n;
}

/* ---- PathRecord ---- */

/* A GID's port: WF_SUBNET_NONE, where it is of another subnet, or nobody's. */
static uint32_t by_gid(const struct wf_sa *sa, const struct wf_sa_req *req, const uint8_t *gid)
{
	uint64_t prefix = wf_sa_gid_prefix(gid);

	if (prefix != LINK_LOCAL && prefix != wf_sm_prefix(sa->sm))
		return WF_SUBNET_NONE;
	return wf_sa_by_guid(req->view, wf_sa_gid_guid(gid));
}

struct end {
	bool given;
	uint32_t index;
};

/*
 * An end of the paths, as it is given by a GID, a LID, or both. False: there is none; *status_p:
 * the two are not the same one's.
 */
static bool find_end(const struct wf_sa *sa, const struct wf_sa_req *req, unsigned gid_component,
                     const uint8_t *gid, uint16_t lid, struct end *end, uint16_t *status_p)
{
	/* The LIDs' components are those behind the GIDs'. */
	bool has_lid = wf_sa_has(req, gid_component + 2), has_gid = wf_sa_has(req, gid_component);
	uint32_t by_lid = has_lid ? wf_sa_by_lid(req->view, lid) : WF_SUBNET_NONE;

	*end = (struct end){ has_gid || has_lid, by_lid };
	if (has_gid)
		end->index = by_gid(sa, req, gid);
	if (end->given && (end->index == WF_SUBNET_NONE || (has_lid && by_lid == WF_SUBNET_NONE)))
		return false;
	if (has_gid && has_lid && by_lid != end->index)
		*status_p = WF_SA_REQ_INVALID;
	return true;
}

static void pairs(struct wf_sa *sa, struct wf_sa_req *req, const struct query *q,
                  const struct end *from, const struct end *to)
{
	bool one = req->head.method == WF_MAD_METHOD_GET;

	for (uint32_t j = 0; j < (to->given ? 1 : sa->n_ends); j++) {
		for (uint32_t i = 0; i < (from->given ? 1 : sa->n_ends); i++) {
			if (req->full || (one && req->n != 0))
				return;
			(void)pair(sa, req, q, from->given ? from->index : sa->ends[i],
			           to->given ? to->index : sa->ends[j]);
		}
	}
}

/* What a group says of packets to it. */
static bool group_fits(const struct wf_sa_req *req, const struct wf_path_record *wanted,
                       const struct wf_sa_group *group)
{
	const struct wf_mc_member_record *g = &group->record;
	uint32_t by_lid = wf_sa_by_lid(req->view, wanted->slid);

	if (wf_sa_has(req, WF_PATH_C_SGID) &&
	    wf_sa_member_find(group, wf_sa_gid_guid(wanted->sgid)) == NULL)
		return false;
	if (wf_sa_has(req, WF_PATH_C_SLID) &&
	    (by_lid == WF_SUBNET_NONE ||
	     wf_sa_member_find(group, req->view->subnet->ports[by_lid].guid) == NULL))
		return false;
	return (!wf_sa_has(req, WF_PATH_C_DLID) || wanted->dlid == g->mlid) &&
	       (!wf_sa_has(req, WF_PATH_C_PKEY) || wanted->pkey == g->pkey) &&
	       (!wf_sa_has(req, WF_PATH_C_SL) || wanted->sl == g->sl) &&
	       (!wf_sa_has(req, WF_PATH_C_FLOW_LABEL) || wanted->flow_label == g->flow_label) &&
	       (!wf_sa_has(req, WF_PATH_C_HOP_LIMIT) || wanted->hop_limit == g->hop_limit) &&
	       (!wf_sa_has(req, WF_PATH_C_TCLASS) || wanted->tclass == g->tclass) &&
	       (!wf_sa_has(req, WF_PATH_C_NUMB_PATH) || wanted->numb_path != 0 ||
	        req->head.method == WF_MAD_METHOD_GET);
}

static void path_to_group(struct wf_sa *sa, struct wf_sa_req *req,
                          const struct wf_path_record *wanted)
{
	const struct wf_sa_group *group = wf_sa_group_find(sa, wanted->dgid);
	const struct wf_mc_member_record *g;
	struct wf_path_record r = *wanted;

	if (group == NULL || !group_fits(req, wanted, group))
		return;
	g = &group->record;
	r.dlid = g->mlid;
	r.tclass = g->tclass;
	r.reversible = false;
	r.numb_path = 1;
	r.pkey = g->pkey;
	r.mtu_selector = r.rate_selector = r.life_selector = WF_SA_EXACTLY;
	r.mtu = g->mtu;
	r.rate = g->rate;
	r.life = g->life;
	r.sl = g->sl;
	r.qos_class = 0;
	r.raw_traffic = false;
	r.flow_label = g->flow_label;
	r.hop_limit = (g->mgid[1] & 0xf) == SCOPE_LINK_LOCAL ? g->hop_limit : HOPS_MAX;
	wf_sa_add(sa, req, &wf_path_record_layout, &r);
}

/* What is asked for with a selector is a rate, or an MTU. */
static bool values_are(const struct query *q)
{
	uint64_t mask = q->wish.mask;
	uint64_t rate = WF_COMPONENT(WF_PATH_C_RATE) | WF_COMPONENT(WF_PATH_C_RATE_SELECTOR);
	uint64_t mtu = WF_COMPONENT(WF_PATH_C_MTU) | WF_COMPONENT(WF_PATH_C_MTU_SELECTOR);

	return ((mask & rate) != rate || wf_ib_rate_decode(q->wanted.rate) != 0) &&
	       ((mask & mtu) != mtu || wf_ib_mtu_decode(q->wanted.mtu) != 0);
}

/* Both halves of a service ID, or none. */
static bool id_is_whole(uint64_t mask, unsigned first, unsigned second)
{
	return (mask >> first & 1) == (mask >> second & 1);
}

uint16_t wf_sa_answer_path(struct wf_sa *sa, struct wf_sa_req *req)
{
	struct query q = { .most = UINT32_MAX };
	struct end from, to;
	uint16_t status = 0;

	wf_path_record_decode(req->data, &q.wanted);
	q.wish = (struct wf_sa_wish){ &q.wanted, req->sa.comp_mask };
	q.has_sgid = wf_sa_has(req, WF_PATH_C_SGID);
	if (!values_are(&q))
		return WF_SA_REQ_INVALID;
	if (!id_is_whole(req->sa.comp_mask, WF_PATH_C_SERVICE_ID, WF_PATH_C_SERVICE_ID + 1))
		return WF_SA_INSUFFICIENT_COMPONENTS;
	if (wf_sa_has(req, WF_PATH_C_DGID) && q.wanted.dgid[0] == MULTICAST_BYTE) {
		path_to_group(sa, req, &q.wanted);
		return 0;
	}
	if (!find_end(sa, req, WF_PATH_C_SGID, q.wanted.sgid, q.wanted.slid, &from, &status) ||
	    !find_end(sa, req, WF_PATH_C_DGID, q.wanted.dgid, q.wanted.dlid, &to, &status))
		return 0;
	if (req->head.method == WF_MAD_METHOD_GET)
		q.most = 1;
	else if (wf_sa_has(req, WF_PATH_C_NUMB_PATH))
		q.most = q.wanted.numb_path;
	if (status == 0)
		pairs(sa, req, &q, &from, &to);
	return status;
}

/* ---- MultiPathRecord ---- */

/* Its components as those of a PathRecord. */
static void translate(const struct wf_sa_req *req, const struct wf_multi_path_record *m,
                      struct query *q)
{
	static const uint8_t as[][2] = {
		{ WF_MULTI_PATH_C_RAW_TRAFFIC, WF_PATH_C_RAW_TRAFFIC },
		{ WF_MULTI_PATH_C_REVERSIBLE, WF_PATH_C_REVERSIBLE },
		{ WF_MULTI_PATH_C_PKEY, WF_PATH_C_PKEY },
		{ WF_MULTI_PATH_C_SL, WF_PATH_C_SL },
		{ WF_MULTI_PATH_C_MTU_SELECTOR, WF_PATH_C_MTU_SELECTOR },
		{ WF_MULTI_PATH_C_MTU, WF_PATH_C_MTU },
		{ WF_MULTI_PATH_C_RATE_SELECTOR, WF_PATH_C_RATE_SELECTOR },
		{ WF_MULTI_PATH_C_RATE, WF_PATH_C_RATE },
		{ WF_MULTI_PATH_C_LIFE_SELECTOR, WF_PATH_C_LIFE_SELECTOR },
		{ WF_MULTI_PATH_C_LIFE, WF_PATH_C_LIFE },
	};

	q->wanted = (struct wf_path_record){
		.raw_traffic = m->raw_traffic,
		.reversible = m->reversible,
		.pkey = m->pkey,
		.sl = m->sl,
		.mtu_selector = m->mtu_selector,
		.mtu = m->mtu,
		.rate_selector = m->rate_selector,
		.rate = m->rate,
		.life_selector = m->life_selector,
		.life = m->life,
	};
	q->wish = (struct wf_sa_wish){ .record = &q->wanted };
	for (unsigned i = 0; i < WF_ARRAY_SIZE(as); i++) {
		if (wf_sa_has(req, as[i][0]))
			q->wish.mask |= WF_COMPONENT(as[i][1]);
	}
}

/* Two ports at each end, and two paths that have nothing in common (C15-0.1.22). */
struct apm {
	uint32_t from, to;
	uint16_t slid, dlid;
	struct wf_sa_path path;
	bool there;
};

static void try_apm(const struct wf_sa *sa, const struct wf_sa_req *req, const struct query *q,
                    unsigned offset, struct apm *a)
{
	struct lids s = lids_of(req->view, a->from, false, 0);
	struct lids d = lids_of(req->view, a->to, false, 0);
	struct wf_sa_path back;

	if (!wf_sa_share(sa, req->port, a->from) || !wf_sa_share(sa, req->port, a->to) ||
	    !wf_sa_share(sa, a->from, a->to))
		return;
	for (unsigned i = 0; i < s.n && i < d.n && !a->there; i++) {
		a->slid = (uint16_t)(s.from + (offset + i) % s.n);
		a->dlid = (uint16_t)(d.from + (offset + i) % d.n);
		if (!wf_sa_path(sa, &q->wish, a->from, a->to, a->dlid, &a->path))
			continue;
		a->path.reversible = wf_sa_path(sa, &q->wish, a->to, a->from, a->slid, &back);
		a->there = a->path.reversible || !asks(q, WF_PATH_C_REVERSIBLE) ||
		           !q->wanted.reversible;
	}
}

static void add_apm(struct wf_sa *sa, struct wf_sa_req *req, const struct query *q,
                    const struct apm *a)
{
	const uint32_t ends[2] = { a->from, a->to };
	const uint16_t lids[2] = { a->slid, a->dlid };

	if (a->there)
		add_path(sa, req, q, &a->path, ends, lids, 0);
}

/* Hops of the two paths: the shorter one's, and of both. */
static void count_hops(const struct apm *a, const struct apm *b, unsigned *least_p, unsigned *sum_p)
{
	unsigned x = a->there ? a->path.hops : 0, y = b->there ? b->path.hops : 0;

	*sum_p = x + y;
	*least_p = x == 0 || (y != 0 && y < x) ? y : x;
}

static void swap_into_order(const struct wf_sm_view *view, uint32_t ends[2])
{
	const struct wf_subnet_port *ports = view->subnet->ports;
	uint32_t first = ends[0];

	if (wf_subnet_guid_order(ports[ends[0]].guid, ports[ends[1]].guid) < 0)
		return;
	ends[0] = ends[1];
	ends[1] = first;
}

/* Straight or crossed: the ways that are shorter; which LIDs, goes by who asks for whom. */
static void apm_paths(struct wf_sa *sa, struct wf_sa_req *req, const struct query *q,
                      uint32_t ends[4])
{
	const struct wf_subnet_port *ports = req->view->subnet->ports;
	unsigned lmc = wf_sm_cfg(sa->sm)->lmc, a, b, offset, least[2], sum[2];
	struct apm apm[2][2] = { 0 };

	swap_into_order(req->view, ends);
	swap_into_order(req->view, ends + 2);
	a = ports[ends[0]].lid;
	b = ports[ends[2]].lid;
	offset = ((a < b ? a : b) >> lmc << 4 | (a < b ? b : a) >> lmc) % 103;
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned j = 0; j < 2; j++) {
			apm[i][j].from = ends[i];
			apm[i][j].to = ends[2 + j];
			try_apm(sa, req, q, offset + i, &apm[i][j]);
		}
	}
	count_hops(&apm[0][0], &apm[1][1], &least[0], &sum[0]);
	count_hops(&apm[0][1], &apm[1][0], &least[1], &sum[1]);
	if (least[0] <= least[1] || (least[0] == least[1] && sum[0] < sum[1])) {
		add_apm(sa, req, q, &apm[0][0]);
		add_apm(sa, req, q, &apm[1][1]);
	} else {
		add_apm(sa, req, q, &apm[0][1]);
		add_apm(sa, req, q, &apm[1][0]);
	}
}

/* Ports of a request, sources first. Returns 0 or a status. */
static uint16_t find_ports(const struct wf_sa *sa, const struct wf_sa_req *req,
                           const struct wf_multi_path_record *m, unsigned n,
                           uint32_t ends[WF_MULTI_PATH_GIDS])
{
	for (unsigned i = 0; i < n; i++) {
		ends[i] = by_gid(sa, req, m->gids[i]);
		if (ends[i] == WF_SUBNET_NONE)
			return WF_SA_INVALID_GID;
	}
	return 0;
}

uint16_t wf_sa_answer_multi_path(struct wf_sa *sa, struct wf_sa_req *req)
{
	struct wf_multi_path_record m;
	uint32_t ends[WF_MULTI_PATH_GIDS] = { 0 };
	struct query q = { .most = PATHS_MAX };
	unsigned n_from = 0, n_to = 0, left;
	uint16_t status;

	if (!req->rmpp)
		return WF_SA_REQ_INVALID;
	wf_multi_path_record_decode(req->data, &m);
	translate(req, &m, &q);
	if (!values_are(&q))
		return WF_SA_REQ_INVALID;
	if (!id_is_whole(req->sa.comp_mask, WF_MULTI_PATH_C_SERVICE_ID_MSB,
	                 WF_MULTI_PATH_C_SERVICE_ID_LSB))
		return WF_SA_INSUFFICIENT_COMPONENTS;
	if (wf_sa_has(req, WF_MULTI_PATH_C_SGID_COUNT))
		n_from = m.sgid_count < WF_MULTI_PATH_GIDS ? m.sgid_count : WF_MULTI_PATH_GIDS;
	if (wf_sa_has(req, WF_MULTI_PATH_C_DGID_COUNT))
		n_to = m.dgid_count < WF_MULTI_PATH_GIDS - n_from ? m.dgid_count
		                                                  : WF_MULTI_PATH_GIDS - n_from;
	status = find_ports(sa, req, &m, n_from + n_to, ends);
	if (status == 0 && (n_from == 0 || n_to == 0))
		status = WF_SA_INSUFFICIENT_COMPONENTS;
	if (status != 0)
		return status;
	if (n_from == 2 && n_to == 2 && m.numb_path == 2) {
		apm_paths(sa, req, &q, ends);
		return 0;
	}
	left = wf_sa_has(req, WF_MULTI_PATH_C_NUMB_PATH) ? m.numb_path : PATHS_MAX;
	for (unsigned i = 0; i < n_from; i++) {
		for (unsigned j = 0; j < n_to; j++) {
			q.most = left;
			left -= pair(sa, req, &q, ends[i], ends[n_from + j]);
		}
	}
	return 0;
}
