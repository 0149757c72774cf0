/* SPDX-License-Identifier: Apache-2.0 */
/* member.c - MCMemberRecord: who joins and leaves groups, makes them, and asks for them. */
#include <string.h>

#include "mgmt/sa/sa_priv.h"
#include "wire/ib_rate.h"

#define MULTICAST_BYTE 0xff
#define LINK_LOCAL UINT64_C(0xfe80000000000000)
#define SCOPE_LINK_LOCAL 2
#define FULL (WF_MC_FULL_MEMBER | WF_MC_SEND_ONLY_FULL_MEMBER)
#define IPV4 0x401b /* signatures in MGIDs */
#define IPV6 0x601b
#define OWN 0xa01b

#define COMPONENTS(a, b, c) (WF_COMPONENT(a) | WF_COMPONENT(b) | WF_COMPONENT(c))
#define TO_JOIN COMPONENTS(WF_MC_C_MGID, WF_MC_C_PORT_GID, WF_MC_C_JOIN_STATE)
#define TO_CREATE                                                                                  \
	(TO_JOIN | COMPONENTS(WF_MC_C_QKEY, WF_MC_C_TCLASS, WF_MC_C_PKEY) |                        \
	 WF_COMPONENT(WF_MC_C_FLOW_LABEL) | WF_COMPONENT(WF_MC_C_SL))

static bool has_both(const struct wf_sa_req *req, unsigned a, unsigned b)
{
	return wf_sa_has(req, a) && wf_sa_has(req, b);
}

static bool rates_are(const struct wf_sa_req *req, const struct wf_mc_member_record *r)
{
	return (!has_both(req, WF_MC_C_RATE_SELECTOR, WF_MC_C_RATE) ||
	        wf_ib_rate_decode(r->rate) != 0) &&
	       (!has_both(req, WF_MC_C_MTU_SELECTOR, WF_MC_C_MTU) || wf_ib_mtu_decode(r->mtu) != 0);
}

/* ---- what a request says of a group ---- */

static bool keys_meet(uint16_t a, uint16_t b)
{
	return ((a ^ b) & 0x7fff) == 0 && ((a | b) & 0x8000) != 0;
}

/* What packets to a group have in them is as it says, as far as it does. */
static bool headers_fit(const struct wf_sa_req *req, const struct wf_mc_member_record *r,
                        const struct wf_mc_member_record *group)
{
	return (!wf_sa_has(req, WF_MC_C_QKEY) || r->qkey == group->qkey) &&
	       (!wf_sa_has(req, WF_MC_C_PKEY) || keys_meet(r->pkey, group->pkey)) &&
	       (!wf_sa_has(req, WF_MC_C_TCLASS) || r->tclass == group->tclass) &&
	       (!wf_sa_has(req, WF_MC_C_SL) || r->sl == group->sl) &&
	       (!wf_sa_has(req, WF_MC_C_FLOW_LABEL) || r->flow_label == group->flow_label) &&
	       (!wf_sa_has(req, WF_MC_C_HOP_LIMIT) || r->hop_limit == group->hop_limit);
}

static bool limits_fit(const struct wf_sa_req *req, const struct wf_mc_member_record *r,
                       const struct wf_mc_member_record *group)
{
	return (!wf_sa_has(req, WF_MC_C_MTU_SELECTOR) ||
	        wf_sa_selects(r->mtu_selector, group->mtu, r->mtu)) &&
	       (!wf_sa_has(req, WF_MC_C_RATE_SELECTOR) ||
	        wf_sa_selects(r->rate_selector, wf_ib_rate_decode(group->rate),
	                      wf_ib_rate_decode(r->rate)));
}

/* ---- making a group ---- */

/* An MTU or rate for a group that the port can have; false: it cannot be as it is asked for. */
static bool choose_mtu(const struct wf_sa *sa, const struct wf_sa_req *req, uint32_t port,
                       struct wf_mc_member_record *r)
{
	uint8_t has = sa->ports[port].neighbor_mtu;

	if (!has_both(req, WF_MC_C_MTU, WF_MC_C_MTU_SELECTOR) || r->mtu_selector == WF_SA_BEST)
		r->mtu = has;
	else if (r->mtu_selector == WF_SA_GREATER && r->mtu >= has)
		return false;
	else if (r->mtu_selector == WF_SA_GREATER ||
	         (r->mtu_selector == WF_SA_LESS && r->mtu > has))
		r->mtu = has;
	else if (r->mtu_selector == WF_SA_LESS)
		r->mtu--;
	return wf_ib_mtu_decode(r->mtu) != 0;
}

static bool choose_rate(const struct wf_sa *sa, const struct wf_sa_req *req, uint32_t port,
                        struct wf_mc_member_record *r)
{
	uint64_t wanted = wf_ib_rate_decode(r->rate);
	uint8_t has = wf_ib_rate_encode(sa->ports[port].rate);

	if (!has_both(req, WF_MC_C_RATE, WF_MC_C_RATE_SELECTOR) || r->rate_selector == WF_SA_BEST)
		r->rate = has;
	else if (r->rate_selector == WF_SA_GREATER && wanted >= wf_ib_rate_decode(has))
		return false;
	else if (r->rate_selector == WF_SA_GREATER ||
	         (r->rate_selector == WF_SA_LESS && wanted > wf_ib_rate_decode(has)))
		r->rate = has;
	else if (r->rate_selector == WF_SA_LESS)
		r->rate = wf_sa_slower(r->rate);
	return wf_ib_rate_decode(r->rate) != 0;
}

static bool is_null(const uint8_t *gid)
{
	static const uint8_t none[WF_SA_GID_LEN];

	return memcmp(gid, none, sizeof(none)) == 0;
}

/* One that nobody has: ff1s:a01b:prefix:number. */
static void make_mgid(struct wf_sa *sa, const struct wf_sa_req *req, struct wf_mc_member_record *r)
{
	uint8_t scope = wf_sa_has(req, WF_MC_C_SCOPE) ? r->scope : SCOPE_LINK_LOCAL;

	do {
		r->mgid[0] = MULTICAST_BYTE;
		r->mgid[1] = 0x10 | scope;
		wf_be16_put(r->mgid + 2, OWN);
		wf_be64_put(r->mgid + 4, wf_sm_prefix(sa->sm));
		wf_be32_put(r->mgid + 12, sa->made++);
	} while (wf_sa_group_find(sa, r->mgid) != NULL);
}

/* o15-0.2.2: what an MGID has to be. */
bool wf_sa_mgid_is_valid(const uint8_t *mgid)
{
	uint16_t signature = wf_be16_get(mgid + 2);

	if (mgid[0] != MULTICAST_BYTE)
		return false;
	if (signature == IPV4 || signature == IPV6)
		return true;
	return (mgid[1] & 0xe0) == 0 && !(signature == OWN && (mgid[1] & 0xf) == SCOPE_LINK_LOCAL);
}

/* IP's groups are like their partition's broadcast group, without which there are none. */
static bool is_like_broadcast(const struct wf_sa *sa, const struct wf_sa_req *req,
                              const struct wf_mc_member_record *r)
{
	uint8_t mgid[WF_SA_GID_LEN] = { MULTICAST_BYTE, 0x10, 0x40, 0x1b };
	uint16_t signature = wf_be16_get(r->mgid + 2);
	const struct wf_sa_group *broadcast;

	if (signature != IPV4 && signature != IPV6)
		return true;
	mgid[1] |= r->mgid[1] & 0xf;
	memcpy(mgid + 4, r->mgid + 4, 2);
	memset(mgid + 12, 0xff, 4);
	if (memcmp(mgid, r->mgid, sizeof(mgid)) == 0)
		return true;
	broadcast = wf_sa_group_find(sa, mgid);
	return broadcast != NULL && headers_fit(req, r, &broadcast->record);
}

static uint16_t create(struct wf_sa *sa, const struct wf_sa_req *req, uint32_t port,
                       const struct wf_mc_member_record *asked, struct wf_sa_group **group_p)
{
	struct wf_mc_member_record r = *asked;

	memset(r.port_gid, 0, sizeof(r.port_gid));
	if ((r.join_state & FULL) == 0)
		return WF_SA_REQ_INVALID;
	if ((req->sa.comp_mask & TO_CREATE) != TO_CREATE)
		return WF_SA_INSUFFICIENT_COMPONENTS;
	if (is_null(r.mgid))
		make_mgid(sa, req, &r);
	else if (!wf_sa_mgid_is_valid(r.mgid) || !is_like_broadcast(sa, req, &r))
		return WF_SA_REQ_INVALID;
	if (!choose_mtu(sa, req, port, &r) || !choose_rate(sa, req, port, &r))
		return WF_SA_REQ_INVALID;
	return wf_sa_group_create(sa, &r, group_p);
}

/* ---- joining ---- */

/* The port's GID is of this subnet; who does not know its prefix may say the default one. */
static bool is_local(const struct wf_sa *sa, const uint8_t *gid)
{
	uint64_t prefix = wf_sa_gid_prefix(gid);

	return prefix == LINK_LOCAL || prefix == wf_sm_prefix(sa->sm);
}

static bool port_can(const struct wf_sa *sa, uint32_t port, const struct wf_sa_group *group)
{
	return sa->ports[port].neighbor_mtu >= group->record.mtu &&
	       wf_ib_rate_decode(wf_ib_rate_encode(sa->ports[port].rate)) >=
	               wf_ib_rate_decode(group->record.rate);
}

/*
 * o15-0.2.1: what a member is, only the port itself may change; if somebody else has joined for it,
 * whoever is in the group's partition.
 */
static bool may_change(const struct wf_sa *sa, const struct wf_sa_req *req,
                       const struct wf_sa_group *group, const struct wf_sa_member *member)
{
	if (member->proxy)
		return wf_sa_has_key(sa, req->port, group->record.pkey);
	return req->view->subnet->ports[req->port].guid == member->guid;
}

/* What the answer to a join or leave has of the group. */
static void put_group(const struct wf_sa_group *group, struct wf_mc_member_record *r)
{
	struct wf_mc_member_record was = *r;

	*r = group->record;
	memcpy(r->port_gid, was.port_gid, sizeof(r->port_gid));
	r->join_state = was.join_state;
	r->proxy_join = was.proxy_join;
}

static uint16_t check_join(const struct wf_sa *sa, const struct wf_sa_req *req, uint32_t port,
                           const struct wf_sa_group *group, const struct wf_mc_member_record *r)
{
	const struct wf_sa_member *member =
		wf_sa_member_find(group, req->view->subnet->ports[port].guid);

	if (!headers_fit(req, r, &group->record) || !limits_fit(req, r, &group->record) ||
	    !port_can(sa, port, group) || r->join_state == 0 ||
	    !wf_sa_has_key(sa, port, group->record.pkey) ||
	    (member != NULL && !may_change(sa, req, group, member)))
		return WF_SA_REQ_INVALID;
	return 0;
}

static uint16_t join(struct wf_sa *sa, struct wf_sa_req *req, struct wf_mc_member_record *r)
{
	uint64_t guid = wf_sa_gid_guid(r->port_gid);
	uint32_t port = wf_sa_by_guid(req->view, guid);
	struct wf_mc_member_record answer = *r;
	struct wf_sa_group *group;
	uint16_t status;

	if (!is_local(sa, r->port_gid))
		return WF_SA_INVALID_GID;
	if (port == WF_SUBNET_NONE || !wf_sa_share(sa, port, req->port) ||
	    (wf_sa_has(req, WF_MC_C_PKEY) && (r->pkey & 0x7fff) == 0))
		return WF_SA_REQ_INVALID;
	group = wf_sa_group_find(sa, r->mgid);
	if (group == NULL) {
		status = create(sa, req, port, r, &group);
		if (status != 0)
			return status;
	}
	status = check_join(sa, req, port, group, r);
	if (status == 0) {
		put_group(group, &answer);
		wf_sa_gid(sa, guid, answer.port_gid);
		status = wf_sa_group_join(sa, group, guid, port != req->port, &answer);
	}
	if (status != 0) {
		wf_sa_group_cleanup(sa, group);
		return status;
	}
	memcpy(answer.port_gid, r->port_gid, sizeof(answer.port_gid));
	wf_sa_add(sa, req, &wf_mc_member_record_layout, &answer);
	return 0;
}

static uint16_t leave(struct wf_sa *sa, struct wf_sa_req *req, struct wf_mc_member_record *r)
{
	struct wf_sa_group *group = wf_sa_group_find(sa, r->mgid);
	struct wf_sa_member *member;

	if (!is_local(sa, r->port_gid))
		return WF_SA_INVALID_GID;
	member = group == NULL ? NULL : wf_sa_member_find(group, wf_sa_gid_guid(r->port_gid));
	if (member == NULL || (r->join_state & member->join_state) == 0 ||
	    (r->join_state & ~member->join_state) != 0 || !may_change(sa, req, group, member))
		return WF_SA_REQ_INVALID;
	r->scope = member->scope;
	r->join_state = wf_sa_group_leave(sa, group, member, r->join_state);
	r->mtu_selector = r->rate_selector = r->life_selector = WF_SA_EXACTLY;
	wf_sa_add(sa, req, &wf_mc_member_record_layout, r);
	return 0;
}

/* ---- asking ---- */

static bool states_fit(const struct wf_sa_req *req, const struct wf_mc_member_record *r,
                       uint8_t scope, uint8_t join_state)
{
	return (!wf_sa_has(req, WF_MC_C_SCOPE) || r->scope == scope) &&
	       (!wf_sa_has(req, WF_MC_C_JOIN_STATE) || r->join_state == join_state);
}

static void add_member(struct wf_sa *sa, struct wf_sa_req *req, const struct wf_sa_group *group,
                       const struct wf_sa_member *member, const struct wf_mc_member_record *r)
{
	struct wf_mc_member_record has = group->record;

	if (member != NULL) {
		has.scope = member->scope;
		has.join_state = member->join_state;
		has.proxy_join = member->proxy;
		memcpy(has.port_gid, member->port_gid, sizeof(has.port_gid));
	} else {
		memset(has.port_gid, 0, sizeof(has.port_gid));
	}
	if (!states_fit(req, r, has.scope, has.join_state))
		return;
	if (!req->trusted) { /* nobody's business */
		memset(has.port_gid, 0, sizeof(has.port_gid));
		has.join_state = 0;
		has.proxy_join = false;
	}
	wf_sa_add(sa, req, &wf_mc_member_record_layout, &has);
}

static bool group_fits(const struct wf_sa *sa, const struct wf_sa_req *req,
                       const struct wf_sa_group *group, const struct wf_mc_member_record *r)
{
	const struct wf_mc_member_record *g = &group->record;

	return (!wf_sa_has(req, WF_MC_C_MGID) || memcmp(r->mgid, g->mgid, sizeof(g->mgid)) == 0) &&
	       (!wf_sa_has(req, WF_MC_C_MLID) || r->mlid == g->mlid) &&
	       wf_sa_has_key(sa, req->port, g->pkey) && headers_fit(req, r, g) &&
	       limits_fit(req, r, g);
}

static void query(struct wf_sa *sa, struct wf_sa_req *req, const struct wf_mc_member_record *r)
{
	bool one = wf_sa_has(req, WF_MC_C_PORT_GID);

	for (const struct wf_sa_group *g = sa->groups; g != NULL; g = g->next) {
		const struct wf_sa_member *m = g->members;

		if (!group_fits(sa, req, g, r))
			continue;
		if (one)
			m = wf_sa_member_find(g, wf_sa_gid_guid(r->port_gid));
		if (one && m == NULL)
			continue;
		if (one || !req->trusted) {
			add_member(sa, req, g, one ? m : NULL, r);
			continue;
		}
		for (; m != NULL; m = m->next)
			add_member(sa, req, g, m, r);
	}
}

uint16_t wf_sa_answer_mc_member(struct wf_sa *sa, struct wf_sa_req *req)
{
	uint8_t method = req->head.method;
	struct wf_mc_member_record r;

	wf_mc_member_record_decode(req->data, &r);
	if (method == WF_MAD_METHOD_SET || method == WF_MAD_METHOD_DELETE) {
		if ((req->sa.comp_mask & TO_JOIN) != TO_JOIN)
			return WF_SA_INSUFFICIENT_COMPONENTS;
		if (!rates_are(req, &r))
			return WF_SA_REQ_INVALID;
		return method == WF_MAD_METHOD_SET ? join(sa, req, &r) : leave(sa, req, &r);
	}
	if (!rates_are(req, &r))
		return WF_SA_REQ_INVALID;
	query(sa, req, &r);
	return 0;
}
