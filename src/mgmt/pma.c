/* SPDX-License-Identifier: Apache-2.0 */
/* pma.c - the performance management agent: where each counter is in an attribute, as a table. */
#include "mgmt/pma.h"

#include <errno.h>
#include <string.h>

#include "mgmt/agent_priv.h"

#define CLASS_VERSION 1

enum set_of {
	CLASSIC,  /* PortCounters */
	EXTENDED, /* PortCountersExtended */
	SETS
};

/* What of a simple attribute's counters of a port was there when they were last set. */
struct simple_base {
	struct simple_base *next;
	uint16_t attr_id;
	uint8_t port;
	uint64_t base[WF_PERF_SIMPLE_MAX];
};

struct wf_pma {
	struct wf_mem *mem;
	const struct wf_pma_ops *ops;
	void *arg;
	bool is_switch;
	uint8_t n_ports, resp_time;
	struct simple_base *simple;
	uint64_t *base[][SETS]; /* of each port; NULL: nobody has set one */
};

/*
 * Where a counter is in an attribute: its member, the bits of the field, and its bit of
 * CounterSelect, or 16 and its bit of CounterSelect2.
 */
struct place {
	uint16_t at;
	uint8_t size, bits, select;
};

#define CLASSIC_PLACE(member, bits, select)                                                        \
	{                                                                                          \
		offsetof(struct wf_port_counters, member),                                         \
			sizeof(((struct wf_port_counters *)0)->member), bits, select               \
	}
#define EXTENDED_PLACE(member, select)                                                             \
	{                                                                                          \
		offsetof(struct wf_port_counters_ext, member), 8, 64, select                       \
	}
#define SELECT2 16

static const struct place places[SETS][WF_PMA_COUNTERS] = {
	[CLASSIC] = {
		[WF_PMA_SYMBOL_ERRORS] = CLASSIC_PLACE(symbol_errors, 16, 0),
		[WF_PMA_LINK_ERROR_RECOVERY] = CLASSIC_PLACE(link_error_recovery, 8, 1),
		[WF_PMA_LINK_DOWNED] = CLASSIC_PLACE(link_downed, 8, 2),
		[WF_PMA_RCV_ERRORS] = CLASSIC_PLACE(rcv_errors, 16, 3),
		[WF_PMA_RCV_REMOTE_PHYSICAL_ERRORS] =
			CLASSIC_PLACE(rcv_remote_physical_errors, 16, 4),
		[WF_PMA_RCV_SWITCH_RELAY_ERRORS] = CLASSIC_PLACE(rcv_switch_relay_errors, 16, 5),
		[WF_PMA_XMIT_DISCARDS] = CLASSIC_PLACE(xmit_discards, 16, 6),
		[WF_PMA_XMIT_CONSTRAINT_ERRORS] = CLASSIC_PLACE(xmit_constraint_errors, 8, 7),
		[WF_PMA_RCV_CONSTRAINT_ERRORS] = CLASSIC_PLACE(rcv_constraint_errors, 8, 8),
		[WF_PMA_LOCAL_LINK_INTEGRITY_ERRORS] =
			CLASSIC_PLACE(local_link_integrity_errors, 4, 9),
		[WF_PMA_EXCESSIVE_BUFFER_OVERRUNS] =
			CLASSIC_PLACE(excessive_buffer_overruns, 4, 10),
		[WF_PMA_VL15_DROPPED] = CLASSIC_PLACE(vl15_dropped, 16, 11),
		[WF_PMA_XMIT_DATA] = CLASSIC_PLACE(xmit_data, 32, 12),
		[WF_PMA_RCV_DATA] = CLASSIC_PLACE(rcv_data, 32, 13),
		[WF_PMA_XMIT_PKTS] = CLASSIC_PLACE(xmit_pkts, 32, 14),
		[WF_PMA_RCV_PKTS] = CLASSIC_PLACE(rcv_pkts, 32, 15),
		[WF_PMA_XMIT_WAIT] = CLASSIC_PLACE(xmit_wait, 32, SELECT2),
		[WF_PMA_QP1_DROPPED] = CLASSIC_PLACE(qp1_dropped, 16, SELECT2 + 1),
	},
	[EXTENDED] = {
		[WF_PMA_XMIT_DATA] = EXTENDED_PLACE(xmit_data, 0),
		[WF_PMA_RCV_DATA] = EXTENDED_PLACE(rcv_data, 1),
		[WF_PMA_XMIT_PKTS] = EXTENDED_PLACE(xmit_pkts, 2),
		[WF_PMA_RCV_PKTS] = EXTENDED_PLACE(rcv_pkts, 3),
		[WF_PMA_UNICAST_XMIT_PKTS] = EXTENDED_PLACE(unicast_xmit_pkts, 4),
		[WF_PMA_UNICAST_RCV_PKTS] = EXTENDED_PLACE(unicast_rcv_pkts, 5),
		[WF_PMA_MULTICAST_XMIT_PKTS] = EXTENDED_PLACE(multicast_xmit_pkts, 6),
		[WF_PMA_MULTICAST_RCV_PKTS] = EXTENDED_PLACE(multicast_rcv_pkts, 7),
		[WF_PMA_SYMBOL_ERRORS] = EXTENDED_PLACE(symbol_errors, SELECT2),
		[WF_PMA_LINK_ERROR_RECOVERY] = EXTENDED_PLACE(link_error_recovery, SELECT2 + 1),
		[WF_PMA_LINK_DOWNED] = EXTENDED_PLACE(link_downed, SELECT2 + 2),
		[WF_PMA_RCV_ERRORS] = EXTENDED_PLACE(rcv_errors, SELECT2 + 3),
		[WF_PMA_RCV_REMOTE_PHYSICAL_ERRORS] =
			EXTENDED_PLACE(rcv_remote_physical_errors, SELECT2 + 4),
		[WF_PMA_RCV_SWITCH_RELAY_ERRORS] =
			EXTENDED_PLACE(rcv_switch_relay_errors, SELECT2 + 5),
		[WF_PMA_XMIT_DISCARDS] = EXTENDED_PLACE(xmit_discards, SELECT2 + 6),
		[WF_PMA_XMIT_CONSTRAINT_ERRORS] =
			EXTENDED_PLACE(xmit_constraint_errors, SELECT2 + 7),
		[WF_PMA_RCV_CONSTRAINT_ERRORS] = EXTENDED_PLACE(rcv_constraint_errors, SELECT2 + 8),
		[WF_PMA_LOCAL_LINK_INTEGRITY_ERRORS] =
			EXTENDED_PLACE(local_link_integrity_errors, SELECT2 + 9),
		[WF_PMA_EXCESSIVE_BUFFER_OVERRUNS] =
			EXTENDED_PLACE(excessive_buffer_overruns, SELECT2 + 10),
		[WF_PMA_VL15_DROPPED] = EXTENDED_PLACE(vl15_dropped, SELECT2 + 11),
		[WF_PMA_XMIT_WAIT] = EXTENDED_PLACE(xmit_wait, SELECT2 + 12),
		[WF_PMA_QP1_DROPPED] = EXTENDED_PLACE(qp1_dropped, SELECT2 + 13),
	},
};

int wf_pma_create(const struct wf_pma_cfg *cfg, struct wf_mem *mem, struct wf_pma **pma_p)
{
	struct wf_pma *pma =
		mem->alloc(mem, sizeof(*pma) + (cfg->n_ports + 1U) * sizeof(pma->base[0]));

	if (pma == NULL)
		return -ENOMEM;
	pma->mem = mem;
	pma->ops = cfg->ops;
	pma->arg = cfg->arg;
	pma->is_switch = cfg->is_switch;
	pma->n_ports = cfg->n_ports;
	pma->resp_time = cfg->resp_time;
	*pma_p = pma;
	return 0;
}

void wf_pma_destroy(struct wf_pma *pma)
{
	if (pma == NULL)
		return;
	for (unsigned p = 0; p <= pma->n_ports; p++)
		for (unsigned set = 0; set < SETS; set++)
			pma->mem->free(pma->mem, pma->base[p][set]);
	while (pma->simple != NULL) {
		struct simple_base *s = pma->simple;

		pma->simple = s->next;
		pma->mem->free(pma->mem, s);
	}
	pma->mem->free(pma->mem, pma);
}

/* The ports that a request is about, from first to last. False: it is none of the node's. */
static bool select_ports(const struct wf_pma *pma, uint8_t select, unsigned *first_p,
                         unsigned *last_p)
{
	unsigned lowest = pma->is_switch ? 0 : 1;

	if (select == WF_PERF_ALL_PORTS) {
		*first_p = lowest;
		*last_p = pma->n_ports;
		return true;
	}
	*first_p = *last_p = select;
	return select >= lowest && select <= pma->n_ports;
}

static uint64_t greatest(unsigned bits)
{
	return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static uint64_t load(const void *attr, const struct place *place)
{
	const uint8_t *p = (const uint8_t *)attr + place->at;
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	if (place->size == 8)
		return memcpy(&v64, p, 8), v64;
	if (place->size == 4)
		return memcpy(&v32, p, 4), v32;
	if (place->size == 2)
		return memcpy(&v16, p, 2), v16;
	return *p;
}

static void store(void *attr, const struct place *place, uint64_t v)
{
	uint8_t *p = (uint8_t *)attr + place->at;
	uint32_t v32 = (uint32_t)v;
	uint16_t v16 = (uint16_t)v;

	if (place->size == 8)
		memcpy(p, &v, 8);
	else if (place->size == 4)
		memcpy(p, &v32, 4);
	else if (place->size == 2)
		memcpy(p, &v16, 2);
	else
		*p = (uint8_t)v;
}

/* The counters of those ports, added up, as far as the fields go. */
static void get_counters(const struct wf_pma *pma, enum set_of set, unsigned first, unsigned last,
                         void *attr)
{
	uint64_t sum[WF_PMA_COUNTERS] = { 0 }, now[WF_PMA_COUNTERS];

	for (unsigned p = first; p <= last; p++) {
		const uint64_t *base = pma->base[p][set];

		memset(now, 0, sizeof(now));
		pma->ops->read(pma->arg, p, now);
		for (unsigned c = 0; c < WF_PMA_COUNTERS; c++)
			sum[c] += now[c] - (base == NULL ? 0 : base[c]);
	}
	for (unsigned c = 0; c < WF_PMA_COUNTERS; c++)
		if (places[set][c].bits != 0)
			store(attr, &places[set][c],
			      wf_min_u64(sum[c], greatest(places[set][c].bits)));
}

/* Those that select says are what attr says from now on. */
static bool set_counters(struct wf_pma *pma, enum set_of set, unsigned first, unsigned last,
                         uint64_t select, const void *attr)
{
	uint64_t now[WF_PMA_COUNTERS];

	for (unsigned p = first; p <= last; p++)
		if (pma->base[p][set] == NULL)
			pma->base[p][set] = pma->mem->alloc(pma->mem, sizeof(now));
	for (unsigned p = first; p <= last; p++)
		if (pma->base[p][set] == NULL)
			return false;
	for (unsigned p = first; p <= last; p++) {
		memset(now, 0, sizeof(now));
		pma->ops->read(pma->arg, p, now);
		for (unsigned c = 0; c < WF_PMA_COUNTERS; c++) {
			const struct place *place = &places[set][c];

			if (place->bits != 0 && (select >> place->select & 1) != 0)
				pma->base[p][set][c] = now[c] - load(attr, place);
		}
	}
	return true;
}

static unsigned port_counters(struct wf_pma *pma, bool set, uint8_t *data)
{
	struct wf_port_counters attr;
	unsigned first, last;

	wf_port_counters_decode(data, &attr);
	if (!select_ports(pma, attr.port_select, &first, &last))
		return WF_MAD_INVALID_FIELD;
	if (set &&
	    !set_counters(pma, CLASSIC, first, last,
	                  attr.counter_select | (uint64_t)attr.counter_select2 << SELECT2, &attr))
		return WF_MAD_BUSY;
	get_counters(pma, CLASSIC, first, last, &attr);
	wf_port_counters_encode(&attr, data);
	return WF_MAD_OK;
}

static unsigned port_counters_ext(struct wf_pma *pma, bool set, uint8_t *data)
{
	struct wf_port_counters_ext attr;
	unsigned first, last;

	wf_port_counters_ext_decode(data, &attr);
	if (!select_ports(pma, attr.port_select, &first, &last))
		return WF_MAD_INVALID_FIELD;
	if (set &&
	    !set_counters(pma, EXTENDED, first, last,
	                  (attr.counter_select & 0xff) | (uint64_t)attr.counter_select2 << SELECT2,
	                  &attr))
		return WF_MAD_BUSY;
	get_counters(pma, EXTENDED, first, last, &attr);
	wf_port_counters_ext_encode(&attr, data);
	return WF_MAD_OK;
}

static struct simple_base *find_simple(const struct wf_pma *pma, uint16_t attr_id, unsigned port)
{
	struct simple_base *s = pma->simple;

	while (s != NULL && (s->attr_id != attr_id || s->port != port))
		s = s->next;
	return s;
}

static struct simple_base *make_simple(struct wf_pma *pma, uint16_t attr_id, unsigned port)
{
	struct simple_base *s = find_simple(pma, attr_id, port);

	if (s != NULL)
		return s;
	s = pma->mem->alloc(pma->mem, sizeof(*s));
	if (s == NULL)
		return NULL;
	s->attr_id = attr_id;
	s->port = (uint8_t)port;
	s->next = pma->simple;
	pma->simple = s;
	return s;
}

static unsigned simple_counters(struct wf_pma *pma, uint16_t attr_id, bool set, uint8_t *data)
{
	uint64_t now[WF_PERF_SIMPLE_MAX], sum[WF_PERF_SIMPLE_MAX] = { 0 };
	unsigned bits, n = wf_perf_simple_shape(attr_id, &bits), first, last;
	struct wf_perf_simple attr;

	wf_perf_simple_decode(attr_id, data, &attr);
	if (n == 0)
		return WF_MAD_BAD_ATTRIBUTE;
	if (!select_ports(pma, attr.port_select, &first, &last))
		return WF_MAD_INVALID_FIELD;
	for (unsigned p = first; p <= last; p++)
		if (!pma->ops->read_simple(pma->arg, p, attr_id, now))
			return WF_MAD_BAD_ATTRIBUTE;
	for (unsigned p = first; set && p <= last; p++)
		if (make_simple(pma, attr_id, p) == NULL)
			return WF_MAD_BUSY;
	for (unsigned p = first; p <= last; p++) {
		struct simple_base *s = find_simple(pma, attr_id, p);

		memset(now, 0, sizeof(now));
		(void)pma->ops->read_simple(pma->arg, p, attr_id, now);
		for (unsigned i = 0; i < n; i++) {
			if (set && s != NULL && (attr.counter_select >> i & 1) != 0)
				s->base[i] = now[i] - attr.counter[i];
			sum[i] += now[i] - (s == NULL ? 0 : s->base[i]);
		}
	}
	for (unsigned i = 0; i < n; i++)
		attr.counter[i] = (uint32_t)wf_min_u64(sum[i], greatest(bits));
	wf_perf_simple_encode(attr_id, &attr, data);
	return WF_MAD_OK;
}

static unsigned class_port_info(const struct wf_pma *pma, bool set, uint8_t *data)
{
	struct wf_class_port_info info = {
		.base_version = WF_MAD_BASE_VERSION,
		.class_version = CLASS_VERSION,
		.capability_mask = WF_PERF_CAP_ALL_PORT_SELECT | WF_PERF_CAP_EXTENDED_WIDTH |
		                   WF_PERF_CAP_XMIT_WAIT | WF_PERF_CAP_QP1_DROPPED,
		.capability_mask2 = WF_PERF_CAP2_ADDITIONAL_EXTENDED,
		.resp_time_value = pma->resp_time,
	};

	if (set)
		return WF_MAD_BAD_ATTRIBUTE;
	wf_class_port_info_encode(&info, data);
	return WF_MAD_OK;
}

bool wf_pma_rx(struct wf_pma *pma, uint8_t *mad)
{
	uint8_t *data = mad + WF_PERF_DATA;
	struct wf_mad h;
	unsigned status;
	bool set;

	wf_mad_decode(mad, &h);
	if (h.mgmt_class != WF_MAD_CLASS_PERF || wf_mad_is_response(h.method))
		return false;
	set = h.method == WF_MAD_METHOD_SET;
	status = wf_agent_check(&h, CLASS_VERSION);
	if (status != WF_MAD_OK)
		;
	else if (h.attr_id == WF_MAD_ATTR_CLASS_PORT_INFO)
		status = class_port_info(pma, set, data);
	else if (h.attr_id == WF_PERF_COUNTERS)
		status = port_counters(pma, set, data);
	else if (h.attr_id == WF_PERF_COUNTERS_EXT)
		status = port_counters_ext(pma, set, data);
	else
		status = simple_counters(pma, h.attr_id, set, data);
	wf_agent_answer(mad, status);
	return true;
}
