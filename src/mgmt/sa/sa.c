/* SPDX-License-Identifier: Apache-2.0 */
/* sa.c - subnet administration as others see it: requests in, answers out, and what it lives by. */
#include "mgmt/sa/sa_priv.h"

#include <errno.h>
#include <string.h>

#include "mgmt/agent_priv.h"

#define NOT_WITH_METHOD WF_MAD_BAD_ATTRIBUTE
#define RMPP_FLAGS_AT 26
#define RMPP_ACTIVE 1
#define FIRST_SIZE 1024

/* What OpenSM does not know (RandomForwardingTableRecord, TraceRecord) is not answered. */
static const struct wf_sa_row rows[] = {
	{ WF_SA_CLASS_PORT_INFO, WF_SA_DOES_GET, WF_SA_REQ_INVALID, wf_sa_answer_class_port_info },
	{ WF_SA_NODE, WF_SA_QUERY, NOT_WITH_METHOD, wf_sa_answer_node },
	{ WF_SA_PORT_INFO, WF_SA_QUERY, NOT_WITH_METHOD, wf_sa_answer_port_info },
	{ WF_SA_SWITCH_INFO, WF_SA_QUERY, NOT_WITH_METHOD, wf_sa_answer_switch_info },
	{ WF_SA_GUID_INFO, WF_SA_QUERY, NOT_WITH_METHOD, wf_sa_answer_guid_info },
	{ WF_SA_LINK, WF_SA_QUERY, NOT_WITH_METHOD, wf_sa_answer_link },
	{ WF_SA_SM_INFO, WF_SA_QUERY, NOT_WITH_METHOD, wf_sa_answer_sm_info },
	{ WF_SA_LINEAR_FT, WF_SA_QUERY, NOT_WITH_METHOD, wf_sa_answer_linear_ft },
	{ WF_SA_MULTICAST_FT, WF_SA_QUERY, NOT_WITH_METHOD, wf_sa_answer_multicast_ft },
	{ WF_SA_PKEY_TABLE, WF_SA_QUERY, NOT_WITH_METHOD, wf_sa_answer_pkeys },
	{ WF_SA_SL_TO_VL, WF_SA_QUERY, NOT_WITH_METHOD, wf_sa_answer_sl_to_vl },
	{ WF_SA_VL_ARB, WF_SA_QUERY, NOT_WITH_METHOD, wf_sa_answer_vl_arb },
	{ WF_SA_PATH, WF_SA_QUERY, NOT_WITH_METHOD, wf_sa_answer_path },
	{ WF_SA_MULTI_PATH, WF_SA_DOES_MULTI, NOT_WITH_METHOD, wf_sa_answer_multi_path },
	{ WF_SA_MC_MEMBER, WF_SA_QUERY | WF_SA_DOES_SET | WF_SA_DOES_DELETE, NOT_WITH_METHOD,
	  wf_sa_answer_mc_member },
	{ WF_SA_SERVICE, WF_SA_QUERY | WF_SA_DOES_SET | WF_SA_DOES_DELETE, NOT_WITH_METHOD,
	  wf_sa_answer_service },
	{ WF_SA_INFORM_INFO, WF_SA_DOES_SET, NOT_WITH_METHOD, wf_sa_answer_inform },
	{ WF_SA_INFORM_INFO_RECORD, WF_SA_QUERY, NOT_WITH_METHOD, wf_sa_answer_inform_record },
};

static const struct wf_sa_row *find_row(uint16_t attr_id)
{
	for (unsigned i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		if (rows[i].attr_id == attr_id)
			return &rows[i];
	}
	return NULL;
}

static unsigned does(uint8_t method)
{
	switch (method) {
	case WF_MAD_METHOD_GET:
		return WF_SA_DOES_GET;
	case WF_MAD_METHOD_GET_TABLE:
		return WF_SA_DOES_TABLE;
	case WF_MAD_METHOD_SET:
		return WF_SA_DOES_SET;
	case WF_MAD_METHOD_DELETE:
		return WF_SA_DOES_DELETE;
	case WF_MAD_METHOD_GET_MULTI:
		return WF_SA_DOES_MULTI;
	default:
		return 0;
	}
}

/* ---- answers ---- */

static bool make_room(struct wf_sa *sa, struct wf_sa_req *req, size_t n)
{
	size_t size = req->size == 0 ? FIRST_SIZE : req->size;
	uint8_t *more;

	if (n <= req->size)
		return true;
	while (size < n)
		size *= 2;
	more = size > WF_SA_ANSWER_MAX ? NULL : sa->mem->alloc(sa->mem, size);
	if (more == NULL)
		return false;
	if (req->bytes != NULL)
		memcpy(more, req->bytes, req->used);
	sa->mem->free(sa->mem, req->bytes);
	req->bytes = more;
	req->size = size;
	return true;
}

void wf_sa_add(struct wf_sa *sa, struct wf_sa_req *req, const struct wf_layout *layout,
               const void *record)
{
	if (req->n == 0) {
		req->stride = (size_t)wf_sa_offset(layout) * 8;
		req->used = WF_SA_DATA;
	}
	if (req->full || !make_room(sa, req, req->used + req->stride)) {
		req->full = true;
		return;
	}
	memset(req->bytes + req->used, 0, req->stride);
	wf_layout_encode(layout, record, req->bytes + req->used);
	req->used += req->stride;
	req->n++;
}

/* What OpenSM does, too: the answer to MultiPathRecord is one of PathRecords. */
static uint16_t answered_attr(uint16_t attr_id)
{
	return attr_id == WF_SA_MULTI_PATH ? WF_SA_PATH : attr_id;
}

static uint8_t answered_method(uint8_t method)
{
	return method == WF_MAD_METHOD_SET ? WF_MAD_METHOD_GET_RESP : method | 0x80;
}

static void put_headers(const struct wf_sa_req *req, uint16_t status, uint8_t *mad)
{
	struct wf_mad head = req->head;
	struct wf_sa_hdr sa = req->sa;

	head.method = answered_method(req->head.method);
	head.status = status;
	head.attr_id = answered_attr(req->head.attr_id);
	sa.sm_key = 0; /* C15-0.1.5 */
	sa.attr_offset = (uint16_t)(req->n == 0 ? 0 : req->stride / 8);
	wf_mad_encode(&head, mad);
	memset(mad + WF_MAD_HEADER_LEN, 0, WF_RMPP_LEN);
	if (status == WF_MAD_OK && (head.method == WF_MAD_METHOD_GET_TABLE_RESP ||
	                            head.method == WF_MAD_METHOD_GET_MULTI_RESP))
		mad[RMPP_FLAGS_AT] = RMPP_ACTIVE;
	wf_sa_hdr_encode(&sa, mad);
}

static void send_answer(struct wf_sa *sa, const struct wf_sa_req *req, const uint8_t *mad,
                        size_t length)
{
	int ret = wf_mux_send(sa->agent, req->from, mad, length, 0,
	                      wf_sm_cfg(sa->sm)->transaction_retries, NULL);

	/* The same was asked again while its answer is on its way: it is as if it had not been. */
	if (ret == 0)
		sa->stats.answered++;
}

/* A request comes back with its attribute. */
static void refuse(struct wf_sa *sa, struct wf_sa_req *req, uint16_t status)
{
	uint8_t mad[WF_MAD_LEN] = { 0 };
	uint16_t offset = req->sa.attr_offset;

	req->n = 0;
	put_headers(req, status, mad);
	if (req->head.method != WF_MAD_METHOD_GET_TABLE)
		wf_be16_put(mad + WF_SA_HEADER + 8, offset);
	memcpy(mad + WF_SA_DATA, req->data, WF_SA_DATA_LEN);
	sa->stats.refused++;
	send_answer(sa, req, mad, WF_MAD_LEN);
}

static void respond(struct wf_sa *sa, struct wf_sa_req *req)
{
	bool one = req->head.method == WF_MAD_METHOD_GET;
	uint8_t mad[WF_MAD_LEN] = { 0 };

	if (req->full) {
		refuse(sa, req, WF_SA_NO_RESOURCES);
	} else if (one && req->n != 1) { /* C15-0.1.30 */
		refuse(sa, req, req->n == 0 ? WF_SA_NO_RECORDS : WF_SA_TOO_MANY_RECORDS);
	} else if (req->used > WF_MAD_LEN) {
		put_headers(req, WF_MAD_OK, req->bytes);
		sa->stats.records += req->n;
		send_answer(sa, req, req->bytes, req->used);
	} else {
		bool rmpp;

		if (req->n != 0)
			memcpy(mad, req->bytes, req->used);
		put_headers(req, WF_MAD_OK, mad);
		rmpp = (mad[RMPP_FLAGS_AT] & RMPP_ACTIVE) != 0;
		sa->stats.records += req->n;
		send_answer(sa, req, mad,
		            !rmpp         ? WF_MAD_LEN
		            : req->n == 0 ? WF_SA_DATA
		                          : req->used);
	}
}

/* ---- requests ---- */

static bool serves(const struct wf_sa *sa)
{
	return wf_sm_serves(sa->sm);
}

static void answer(struct wf_sa *sa, struct wf_sa_req *req)
{
	const struct wf_sa_row *row = find_row(req->head.attr_id);
	uint16_t status;

	req->view = wf_sm_view(sa->sm);
	req->port = wf_sa_by_lid(req->view, req->from->lid);
	if (row == NULL || does(req->head.method) == 0 || req->port == WF_SUBNET_NONE) {
		sa->stats.ignored++;
		return;
	}
	sa->stats.asked++;
	if ((row->methods & does(req->head.method)) == 0)
		status = row->status;
	else if (wf_sa_index(sa) != 0)
		status = WF_SA_NO_RESOURCES;
	else
		status = row->answer(sa, req);
	if (status != 0)
		refuse(sa, req, status);
	else
		respond(sa, req);
	sa->mem->free(sa->mem, req->bytes);
}

static void take(void *arg, const struct wf_mux_event *event)
{
	struct wf_sa *sa = arg;
	struct wf_sa_req req = { .from = event->addr, .mad = event->data };
	size_t length = event->length;

	if (event->type == WF_MUX_FAILED) {
		sa->stats.reports_lost += event->data[WF_MAD_AT_METHOD] == WF_MAD_METHOD_REPORT;
		return;
	}
	if (event->type != WF_MUX_RECV)
		return;
	wf_mad_decode(event->data, &req.head);
	if (wf_mad_is_response(req.head.method)) /* of a subscriber, to a report */
		return;
	if (length < WF_SA_DATA || !serves(sa)) {
		sa->stats.ignored++;
		return;
	}
	wf_sa_hdr_decode(event->data, &req.sa);
	if (req.sa.sm_key != 0 && req.sa.sm_key != wf_sm_key(sa->sm)) {
		sa->stats.ignored++; /* C15-0.1.5 */
		return;
	}
	req.trusted = req.sa.sm_key != 0;
	req.rmpp = (event->data[RMPP_FLAGS_AT] & RMPP_ACTIVE) != 0;
	length = wf_min_u64(length - WF_SA_DATA, WF_SA_DATA_LEN);
	memcpy(req.data, event->data + WF_SA_DATA, length);
	answer(sa, &req);
}

/* What has changed of the subnet since it was called last. */
static void catch_up(struct wf_sa *sa, wf_time now)
{
	sa->now = now;
	if (sa->groups_wanted && serves(sa))
		wf_sa_groups_of_partitions(sa);
}

/* What has changed here: the manager is told. */
static void pass_on(struct wf_sa *sa)
{
	if (!sa->groups_changed)
		return;
	wf_sa_groups_tell(sa);
	wf_sm_multicast(sa->sm, sa->now);
}

void wf_sa_rx(struct wf_sa *sa, const struct wf_mux_addr *from, const uint8_t *mad, wf_time now)
{
	catch_up(sa, now);
	if (mad[1] != WF_MAD_CLASS_SA) {
		sa->stats.ignored++;
		return;
	}
	wf_mux_rx(sa->mux, 1, from, mad, now);
	pass_on(sa);
}

bool wf_sa_tx(struct wf_sa *sa, wf_time now, struct wf_mux_packet *packet_p)
{
	return wf_mux_tx(sa->mux, WF_MUX_QPS, now, packet_p);
}

bool wf_sa_has_tx(const struct wf_sa *sa)
{
	return wf_mux_has_tx(sa->mux, WF_MUX_QPS);
}

wf_time wf_sa_deadline(const struct wf_sa *sa)
{
	wf_time at = wf_min_time(wf_mux_deadline(sa->mux), wf_sa_services_deadline(sa));

	return sa->groups_changed ? wf_min_time(at, sa->now) : at;
}

void wf_sa_tick(struct wf_sa *sa, wf_time now)
{
	catch_up(sa, now);
	wf_mux_tick(sa->mux, now);
	wf_sa_services_tick(sa);
	pass_on(sa);
}

/* ---- what the manager tells ---- */

static void forget_all(struct wf_sa *sa)
{
	wf_sa_groups_drop(sa);
	wf_sa_services_drop(sa);
	wf_sa_informs_drop(sa);
}

static void forget_port(struct wf_sa *sa, uint64_t guid)
{
	uint8_t gid[WF_SA_GID_LEN];

	wf_sa_gid(sa, guid, gid);
	wf_sa_informs_lose(sa, guid);
	wf_sa_report_gid(sa, WF_TRAP_GID_OUT_OF_SERVICE, gid);
	wf_sa_groups_lose(sa, guid);
	wf_sa_services_lose(sa, guid);
}

static void found_port(struct wf_sa *sa, uint64_t guid)
{
	uint8_t gid[WF_SA_GID_LEN];

	wf_sa_gid(sa, guid, gid);
	wf_sa_report_gid(sa, WF_TRAP_GID_IN_SERVICE, gid);
}

void wf_sa_event(struct wf_sa *sa, const struct wf_sm_event *event)
{
	sa->now = wf_max_time(sa->now, event->now);
	switch (event->type) {
	case WF_SM_EV_STATE:
		if (event->state != WF_SM_MASTER)
			forget_all(sa);
		break;
	case WF_SM_EV_PORT_LOST:
		forget_port(sa, event->guid);
		break;
	case WF_SM_EV_SWEEP_END: /* there may be another view: nothing of the last is left */
		wf_sa_index_drop(sa);
		sa->groups_wanted = true;
		break;
	case WF_SM_EV_PORT_FOUND:
		found_port(sa, event->guid);
		break;
	case WF_SM_EV_TRAP:
		wf_sa_report_trap(sa, event->lid, event->notice);
		break;
	case WF_SM_EV_SWEEP_BEGIN:
	case WF_SM_EV_ROUTED:
	case WF_SM_EV_UP:
	case WF_SM_EV_ERROR:
	case WF_SM_EV_NOTE:
		break;
	}
}

/* ---- being there ---- */

static uint64_t method_bit(unsigned method)
{
	return UINT64_C(1) << (method % 64);
}

int wf_sa_create(struct wf_sm *sm, struct wf_mem *mem, struct wf_sa **sa_p)
{
	struct wf_sa *sa = mem->alloc(mem, sizeof(*sa));
	struct wf_mux_agent_cfg cfg = {
		.qp = 1,
		.mgmt_class = WF_MAD_CLASS_SA,
		.class_version = WF_SA_CLASS_VERSION,
		.rmpp = true,
		.room = WF_SA_ROOM,
		.event = take,
	};
	int ret;

	if (sa == NULL)
		return -ENOMEM;
	sa->sm = sm;
	sa->mem = mem;
	sa->groups_wanted = true;
	cfg.arg = sa;
	cfg.methods[0] = method_bit(WF_MAD_METHOD_GET) | method_bit(WF_MAD_METHOD_SET) |
	                 method_bit(WF_MAD_METHOD_GET_TABLE) |
	                 method_bit(WF_MAD_METHOD_GET_TRACE_TABLE) |
	                 method_bit(WF_MAD_METHOD_GET_MULTI) | method_bit(WF_MAD_METHOD_DELETE);
	sa->mlids = mem->alloc(mem, WF_SA_MLIDS);
	ret = sa->mlids == NULL ? -ENOMEM : wf_mux_create(mem, &sa->mux);
	if (ret == 0)
		ret = wf_mux_register(sa->mux, &cfg, &sa->agent);
	if (ret != 0)
		wf_sa_destroy(sa);
	else
		*sa_p = sa;
	return ret;
}

void wf_sa_destroy(struct wf_sa *sa)
{
	if (sa == NULL)
		return;
	forget_all(sa);
	wf_sa_index_drop(sa);
	sa->mem->free(sa->mem, sa->mlids);
	wf_mux_destroy(sa->mux);
	sa->mem->free(sa->mem, sa);
}

static uint32_t count_members(const struct wf_sa *sa, uint32_t *groups_p)
{
	uint32_t n = 0;

	*groups_p = 0;
	for (const struct wf_sa_group *g = sa->groups; g != NULL; g = g->next, ++*groups_p)
		n += g->n_members;
	return n;
}

void wf_sa_stats(const struct wf_sa *sa, struct wf_sa_stats *stats_p)
{
	*stats_p = sa->stats;
	stats_p->members = count_members(sa, &stats_p->groups);
	for (const struct wf_sa_service *s = sa->services; s != NULL; s = s->next)
		stats_p->services++;
	for (const struct wf_sa_subscription *s = sa->subscriptions; s != NULL; s = s->next)
		stats_p->subscriptions++;
}
