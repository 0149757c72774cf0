/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sanet.h - a client of subnet administration in the little network of smnet.h. MADs go between the
 * two at once, by whose LID is as it is wanted; the client joins and cuts segments as a kernel does
 * (mgmt/mux.h), so that both sides of RMPP are in it.
 */
#ifndef WF_TESTS_SANET_H
#define WF_TESTS_SANET_H

#include "smnet.h"

#include "mgmt/mux.h"
#include "mgmt/sa/sa.h"
#include "wire/sa.h"

#define SANET_REPORTS 64

struct sanet {
	struct net *net;
	struct net_manager *m;
	struct wf_sa *sa;
	struct wf_mux *mux;
	struct wf_mux_agent *agent;
	uint16_t lid; /* of who asks */
	uint32_t qpn, tid;
	uint64_t key; /* SM_Key of requests */
	uint32_t mod;
	bool silent;   /* reports are not acknowledged */
	unsigned drop; /* the n-th packet to the client is lost; 0: none */
	/* The last answer: status (-1: none came), records, bytes of one. */
	int status;
	unsigned n, stride;
	uint8_t method;
	uint16_t attr;
	uint8_t *bytes;
	unsigned n_reports;
	struct wf_notice_gid reports[SANET_REPORTS];
	uint16_t reported_to[SANET_REPORTS];
};

static inline void sanet_report(struct sanet *s, const struct wf_mux_event *event)
{
	uint8_t mad[WF_MAD_LEN];

	assert_true(s->n_reports < SANET_REPORTS);
	wf_notice_gid_decode(event->data + WF_SA_DATA, &s->reports[s->n_reports]);
	s->reported_to[s->n_reports++] = s->lid;
	if (s->silent)
		return;
	memcpy(mad, event->data, sizeof(mad));
	mad[3] = WF_MAD_METHOD_REPORT_RESP;
	assert_int_equal(wf_mux_send(s->agent, event->addr, mad, sizeof(mad), 0, 0, NULL), 0);
}

static inline void sanet_event(void *arg, const struct wf_mux_event *event)
{
	struct sanet *s = arg;
	struct wf_mad head;
	struct wf_sa_hdr hdr;

	if (event->type != WF_MUX_RECV)
		return;
	wf_mad_decode(event->data, &head);
	wf_sa_hdr_decode(event->data, &hdr);
	if (head.method == WF_MAD_METHOD_REPORT) {
		sanet_report(s, event);
		return;
	}
	s->status = head.status;
	s->method = head.method;
	s->attr = head.attr_id;
	s->stride = hdr.attr_offset * 8u;
	assert_int_equal(hdr.sm_key, 0);
	free(s->bytes);
	s->bytes = malloc(event->length);
	memcpy(s->bytes, event->data, event->length);
	s->n = 1;
	if (head.method == WF_MAD_METHOD_GET_TABLE_RESP ||
	    head.method == WF_MAD_METHOD_GET_MULTI_RESP)
		s->n = s->stride == 0 ? 0 : (unsigned)((event->length - WF_SA_DATA) / s->stride);
	if (head.status != 0)
		s->n = 0;
}

/* All packets that either side has, until neither has any. */
static inline void sanet_pump(struct sanet *s)
{
	struct wf_mux_packet p;
	bool any = true;

	while (any) {
		any = false;
		while (wf_mux_tx(s->mux, WF_MUX_QPS, s->net->now, &p)) {
			const struct wf_mux_addr from = { .lid = s->lid, .qpn = s->qpn };

			any = true;
			wf_sa_rx(s->sa, &from, p.mad, s->net->now);
		}
		while (wf_sa_tx(s->sa, s->net->now, &p)) {
			const struct wf_mux_addr from = { .lid = wf_sm_lid(s->m->sm), .qpn = 1 };
			uint16_t was = s->lid;

			any = true;
			if (s->drop != 0 && --s->drop == 0)
				continue;
			s->lid = p.addr.lid;
			wf_mux_rx(s->mux, 1, &from, p.mad, s->net->now);
			s->lid = was;
		}
	}
	net_pump(s->net, s->m);
}

/* Lets time pass for both, and for the network. */
static inline void sanet_run(struct sanet *s, wf_time end)
{
	for (;;) {
		wf_time at = wf_min_time(wf_sa_deadline(s->sa), wf_mux_deadline(s->mux));

		at = wf_min_time(at, net_next(s->net));
		if (at > end)
			break;
		if (!net_go(s->net, at))
			s->net->now = wf_max_time(s->net->now, at);
		wf_mux_tick(s->mux, s->net->now);
		if (wf_sa_deadline(s->sa) <= s->net->now)
			wf_sa_tick(s->sa, s->net->now);
		sanet_pump(s);
	}
	s->net->now = wf_max_time(s->net->now, end);
}

/* Asks; the answer is in s. Returns its status, or -1 when there was none. */
static inline int sanet_ask_bytes(struct sanet *s, uint8_t method, uint16_t attr, uint64_t mask,
                                  const uint8_t *data, size_t length)
{
	struct wf_mad head = {
		.base_version = WF_MAD_BASE_VERSION,
		.mgmt_class = WF_MAD_CLASS_SA,
		.class_version = WF_SA_CLASS_VERSION,
		.method = method,
		.tid = ++s->tid,
		.attr_id = attr,
		.attr_mod = s->mod,
	};
	struct wf_sa_hdr hdr = { .sm_key = s->key, .comp_mask = mask };
	const struct wf_mux_addr to = { .lid = wf_sm_lid(s->m->sm), .qpn = 1 };
	uint8_t mad[WF_MAD_LEN] = { 0 };

	wf_mad_encode(&head, mad);
	wf_sa_hdr_encode(&hdr, mad);
	if (method == WF_MAD_METHOD_GET_MULTI)
		mad[26] = 1; /* RMPP */
	if (length != 0)
		memcpy(mad + WF_SA_DATA, data, length);
	s->status = -1;
	s->n = 0;
	assert_int_equal(wf_mux_send(s->agent, &to, mad, WF_MAD_LEN, 10 * WF_S, 0, NULL), 0);
	sanet_pump(s);
	return s->status;
}

static inline int sanet_ask(struct sanet *s, uint8_t method, uint16_t attr, uint64_t mask,
                            const void *record)
{
	const struct wf_layout *layout = wf_sa_layout(attr);
	uint8_t data[WF_SA_DATA_LEN] = { 0 };

	if (record != NULL)
		wf_layout_encode(layout, record, data);
	return sanet_ask_bytes(s, method, attr, mask, data, sizeof(data));
}

static inline int sanet_get(struct sanet *s, uint16_t attr, uint64_t mask, const void *record)
{
	return sanet_ask(s, WF_MAD_METHOD_GET, attr, mask, record);
}

/* All records that match; returns how many. */
static inline unsigned sanet_table(struct sanet *s, uint16_t attr, uint64_t mask,
                                   const void *record)
{
	assert_int_equal(sanet_ask(s, WF_MAD_METHOD_GET_TABLE, attr, mask, record), 0);
	assert_int_equal(s->method, WF_MAD_METHOD_GET_TABLE_RESP);
	return s->n;
}

/* Record i of the answer. */
static inline void sanet_record(const struct sanet *s, unsigned i, void *record)
{
	assert_true(i < s->n);
	wf_layout_decode(wf_sa_layout(s->attr), s->bytes + WF_SA_DATA + (size_t)i * s->stride,
	                 record);
}

static inline void sanet_told(void *arg, const struct wf_sm_event *event)
{
	struct sanet *s = arg;

	if (s->sa != NULL)
		wf_sa_event(s->sa, event);
}

/* A manager at a node with its administration, which is not up yet. */
static inline struct sanet *sanet_new(struct net *net, uint32_t node, const struct wf_sm_cfg *cfg,
                                      struct wf_mem *mem)
{
	struct wf_mux_agent_cfg agent = {
		.qp = 1,
		.mgmt_class = WF_MAD_CLASS_SA,
		.class_version = WF_SA_CLASS_VERSION,
		.methods = { UINT64_C(1) << WF_MAD_METHOD_REPORT },
		.rmpp = true,
		.event = sanet_event,
	};
	struct sanet *s = calloc(1, sizeof(*s));

	s->net = net;
	s->qpn = 1;
	s->m = net_manage(net, node, cfg);
	s->m->also = sanet_told;
	s->m->also_arg = s;
	if (wf_sa_create(s->m->sm, mem, &s->sa) != 0)
		s->sa = NULL;
	agent.arg = s;
	assert_int_equal(wf_mux_create(wf_mem_heap(), &s->mux), 0);
	assert_int_equal(wf_mux_register(s->mux, &agent, &s->agent), 0);
	return s;
}

/* The same, up; who asks is the first host. */
static inline struct sanet *sanet_up(struct net *net, const struct wf_sm_cfg *cfg)
{
	struct sanet *s = sanet_new(net, 0, cfg, wf_mem_heap());

	assert_non_null(s->sa);
	assert_true(net_run_up(net, s->m, WF_S));
	s->lid = net_lid(net, 0);
	return s;
}

/* The network is the caller's. */
static inline void sanet_close(struct sanet *s)
{
	wf_sa_destroy(s->sa);
	wf_mux_destroy(s->mux);
	free(s->bytes);
	s->m->also = NULL;
	free(s);
}

static inline void sanet_free(struct sanet *s)
{
	struct net *net = s->net;

	sanet_close(s);
	net_free(net);
}

static inline void sanet_gid(uint64_t guid, uint8_t gid[16])
{
	wf_be64_put(gid, UINT64_C(0xfe80000000000000));
	wf_be64_put(gid + 8, guid);
}

static inline uint64_t sanet_guid(const struct sanet *s, uint32_t host)
{
	return wf_subnet_port(s->net->topo, host, 1)->guid;
}

#endif
