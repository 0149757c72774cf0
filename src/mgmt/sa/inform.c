/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inform.c - InformInfo: who wants to be told of what; and telling them. A report is sent again
 * until it is acknowledged, as often as the manager's own requests.
 */
#include <string.h>

#include "mgmt/agent_priv.h"
#include "mgmt/sa/sa_priv.h"

#define ALL_LIDS 0xffff
#define ALL_TYPES 0xffff
#define ALL_NUMBERS 0xffff
#define ALL_PRODUCERS 0xffffff
#define CLASS_MANAGER 4 /* a producer type */
#define QPN_MASK 0xffffff

static void drop(struct wf_sa *sa, struct wf_sa_subscription **at)
{
	struct wf_sa_subscription *s = *at;

	*at = s->next;
	sa->mem->free(sa->mem, s);
}

void wf_sa_informs_lose(struct wf_sa *sa, uint64_t guid)
{
	struct wf_sa_subscription **at = &sa->subscriptions;

	while (*at != NULL) {
		if ((*at)->guid == guid)
			drop(sa, at);
		else
			at = &(*at)->next;
	}
}

void wf_sa_informs_drop(struct wf_sa *sa)
{
	while (sa->subscriptions != NULL)
		drop(sa, &sa->subscriptions);
}

/* ---- subscribing ---- */

static bool is_null(const uint8_t *gid)
{
	static const uint8_t none[WF_SA_GID_LEN];

	return memcmp(gid, none, sizeof(none)) == 0;
}

/* The same one's wish for the same: by its address, and all but whether it begins or ends. */
static struct wf_sa_subscription **find(struct wf_sa *sa, const struct wf_sa_req *req,
                                        const struct wf_inform_info *info)
{
	struct wf_sa_subscription **at = &sa->subscriptions;

	for (; *at != NULL; at = &(*at)->next) {
		const struct wf_inform_info *has = &(*at)->record.info;
		bool same = is_null(info->gid) ? info->lid_range_begin == has->lid_range_begin &&
		                                         info->lid_range_end == has->lid_range_end
		                               : memcmp(info->gid, has->gid, sizeof(has->gid)) == 0;

		if (same && (*at)->addr.lid == req->from->lid && has->qpn == info->qpn &&
		    has->type == info->type && has->is_generic == info->is_generic &&
		    has->trap_number == info->trap_number &&
		    has->resp_time_value == info->resp_time_value &&
		    has->producer_type == info->producer_type)
			break;
	}
	return at;
}

/* o13-14.1.1: the sources of what is asked for may be known of. */
static bool may_hear(const struct wf_sa *sa, const struct wf_sa_req *req,
                     const struct wf_inform_info *info)
{
	uint16_t end = info->lid_range_end == 0 ? info->lid_range_begin : info->lid_range_end;
	uint32_t port;

	if (!is_null(info->gid)) {
		port = wf_sa_by_guid(req->view, wf_sa_gid_guid(info->gid));
		return port != WF_SUBNET_NONE && wf_sa_share(sa, port, req->port);
	}
	if (info->lid_range_begin == ALL_LIDS)
		return true;
	if (info->lid_range_begin > req->view->subnet->top_lid)
		return false;
	for (uint32_t lid = info->lid_range_begin; lid <= end && lid <= req->view->subnet->top_lid;
	     lid++) {
		port = wf_sa_by_lid(req->view, lid);
		if (port != WF_SUBNET_NONE && !wf_sa_share(sa, port, req->port))
			return false;
	}
	return true;
}

static uint16_t subscribe(struct wf_sa *sa, const struct wf_sa_req *req,
                          const struct wf_inform_info *info)
{
	struct wf_sa_subscription *s = *find(sa, req, info);

	if (!may_hear(sa, req, info))
		return WF_SA_REQ_INVALID;
	if (s == NULL) {
		s = sa->mem->alloc(sa->mem, sizeof(*s));
		if (s == NULL)
			return WF_SA_NO_RESOURCES;
		s->next = sa->subscriptions;
		sa->subscriptions = s;
	}
	s->addr = *req->from;
	s->guid = req->view->subnet->ports[req->port].guid;
	s->record.info = *info;
	wf_sa_gid(sa, s->guid, s->record.subscriber_gid);
	return 0;
}

uint16_t wf_sa_answer_inform(struct wf_sa *sa, struct wf_sa_req *req)
{
	struct wf_inform_info info, asked;
	uint16_t status = 0;

	wf_inform_info_decode(req->data, &asked);
	info = asked;
	if (asked.subscribe > 1)
		return WF_SA_REQ_INVALID;
	/* C15-0.2-1.16: of violations only the trusted are told. */
	if (!req->trusted && asked.is_generic && asked.trap_number >= WF_TRAP_BAD_MKEY &&
	    asked.trap_number <= WF_TRAP_BAD_SWITCH_PKEY)
		return WF_SA_REQ_INVALID;
	if (asked.subscribe != 0) {
		info.qpn = req->from->qpn & QPN_MASK;
		status = subscribe(sa, req, &info);
	} else {
		struct wf_sa_subscription **at = find(sa, req, &info);

		if (*at == NULL)
			status = WF_SA_REQ_INVALID;
		else
			drop(sa, at);
	}
	if (status != 0) {
		asked.subscribe = 0; /* o13-13.1.1 */
		wf_inform_info_encode(&asked, req->data);
		return status;
	}
	wf_sa_add(sa, req, &wf_inform_info_layout, &asked);
	return 0;
}

uint16_t wf_sa_answer_inform_record(struct wf_sa *sa, struct wf_sa_req *req)
{
	struct wf_inform_info_record wanted;

	wf_inform_info_record_decode(req->data, &wanted);
	for (const struct wf_sa_subscription *s = sa->subscriptions; s != NULL; s = s->next) {
		struct wf_inform_info_record has = s->record;
		uint32_t port = wf_sa_by_guid(req->view, s->guid);

		if (port == WF_SUBNET_NONE || !wf_sa_share(sa, port, req->port) ||
		    !wf_layout_matches(&wf_inform_info_record_layout, &has, &wanted,
		                       req->sa.comp_mask))
			continue;
		if (!req->trusted)
			has.info.qpn = 0;
		wf_sa_add(sa, req, &wf_inform_info_record_layout, &has);
	}
	return 0;
}

/* ---- reports ---- */

static bool is_meant(const struct wf_inform_info *info, const struct wf_notice_gid *notice)
{
	const struct wf_notice *n = &notice->notice;
	uint16_t end = info->lid_range_end == 0 ? info->lid_range_begin : info->lid_range_end;

	if (!is_null(info->gid)) {
		if (memcmp(info->gid, notice->issuer_gid, sizeof(info->gid)) != 0)
			return false;
	} else if (info->lid_range_begin != ALL_LIDS &&
	           (n->issuer_lid < info->lid_range_begin || n->issuer_lid > end)) {
		return false;
	}
	return (info->is_generic != 0) == n->is_generic &&
	       (info->type == ALL_TYPES || info->type == n->type) &&
	       (info->trap_number == ALL_NUMBERS || info->trap_number == n->trap_number) &&
	       (info->producer_type == ALL_PRODUCERS || info->producer_type == n->producer_type);
}

/* A subscriber is told of groups whose key it has, and of ports with which it shares one. */
static bool may_know(const struct wf_sa *sa, const struct wf_sa_subscription *s,
                     const struct wf_notice_gid *notice)
{
	const struct wf_sm_view *view = wf_sm_view(sa->sm);
	uint32_t to = wf_sa_by_lid(view, s->addr.lid), about;
	uint16_t number = notice->notice.is_generic ? notice->notice.trap_number : 0;
	bool of_port = number == WF_TRAP_GID_IN_SERVICE || number == WF_TRAP_GID_OUT_OF_SERVICE;
	const struct wf_sa_group *group;
	struct wf_trap_gid named;

	if (to == WF_SUBNET_NONE)
		return false;
	wf_trap_gid_decode(notice->notice.details, &named);
	if (number == WF_TRAP_MGID_CREATED || number == WF_TRAP_MGID_DESTROYED) {
		group = wf_sa_group_find(sa, named.gid);
		return group != NULL && wf_sa_has_key(sa, to, group->record.pkey);
	}
	about = wf_sa_by_guid(view, wf_sa_gid_guid(of_port ? named.gid : notice->issuer_gid));
	return about != WF_SUBNET_NONE && wf_sa_share(sa, about, to);
}

static void send_report(struct wf_sa *sa, const struct wf_sa_subscription *s,
                        const struct wf_notice_gid *notice)
{
	const struct wf_sm_cfg *cfg = wf_sm_cfg(sa->sm);
	struct wf_mad head = {
		.base_version = WF_MAD_BASE_VERSION,
		.mgmt_class = WF_MAD_CLASS_SA,
		.class_version = WF_SA_CLASS_VERSION,
		.method = WF_MAD_METHOD_REPORT,
		.attr_id = WF_SA_NOTICE,
		.tid = ++sa->report_tid,
	};
	uint8_t mad[WF_MAD_LEN] = { 0 };

	wf_mad_encode(&head, mad);
	wf_notice_gid_encode(notice, mad + WF_SA_DATA);
	if (wf_mux_send(sa->agent, &s->addr, mad, WF_MAD_LEN, cfg->transaction_timeout,
	                cfg->transaction_retries, NULL) == 0)
		sa->stats.reports++;
	else
		sa->stats.reports_lost++;
}

/* To all who want to know, and may. */
static void report(struct wf_sa *sa, const struct wf_notice_gid *notice)
{
	if (sa->subscriptions == NULL || !wf_sm_serves(sa->sm))
		return;
	if (wf_sa_index(sa) != 0) {
		sa->stats.reports_lost++;
		return;
	}
	for (const struct wf_sa_subscription *s = sa->subscriptions; s != NULL; s = s->next) {
		if (is_meant(&s->record.info, notice) && may_know(sa, s, notice))
			send_report(sa, s, notice);
	}
}

void wf_sa_report_gid(struct wf_sa *sa, uint16_t trap, const uint8_t *gid)
{
	struct wf_notice_gid notice = {
		.notice = { .is_generic = true,
		            .type = WF_NOTICE_MANAGEMENT,
		            .producer_type = CLASS_MANAGER,
		            .trap_number = trap,
		            .issuer_lid = wf_sm_lid(sa->sm) },
	};
	struct wf_trap_gid about;

	memcpy(about.gid, gid, sizeof(about.gid));
	wf_trap_gid_encode(&about, notice.notice.details);
	wf_sa_gid(sa, wf_sm_guid(sa->sm), notice.issuer_gid);
	report(sa, &notice);
}

void wf_sa_report_trap(struct wf_sa *sa, uint16_t lid, const struct wf_notice *trap)
{
	struct wf_notice_gid notice = { .notice = *trap };
	const struct wf_sm_view *view = wf_sm_view(sa->sm);
	uint32_t port = view == NULL ? WF_SUBNET_NONE : wf_sa_by_lid(view, lid);

	if (port == WF_SUBNET_NONE)
		return;
	wf_sa_gid(sa, view->subnet->ports[port].guid, notice.issuer_gid);
	report(sa, &notice);
}
