/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sma_trap.c - traps: raised, sent until they are repressed, never oftener than the port's
 * SubnetTimeOut allows (IBTA vol. 1, 13.4.9 and 14.2.5.1).
 */
#include "mgmt/sma_priv.h"

#include <string.h>

#define SLOTS_MAX 16 /* more kinds than there are; an adapter with many ports may have some left */

/* A port's manager is known, and what is sent to it can get there. */
static bool can_send(const struct wf_sma *sma, unsigned port)
{
	const struct wf_port_info *info = &sma->port[port].info;

	return info->master_sm_lid != 0 && info->lid != 0 && info->port_state == WF_PORT_ACTIVE;
}

static struct wf_sma_trap *find(struct wf_sma *sma, const struct wf_sma_event *event)
{
	struct wf_sma_trap *t;
	unsigned n = 0;

	for (t = sma->traps; t != NULL; t = t->next, n++)
		if (t->number == event->number && t->port == event->port)
			return t;
	if (n >= SLOTS_MAX)
		return NULL;
	t = sma->mem->alloc(sma->mem, sizeof(*t));
	if (t == NULL)
		return NULL;
	t->number = event->number;
	t->port = event->port;
	t->next = sma->traps;
	sma->traps = t;
	return t;
}

void wf_sma_raise(struct wf_sma *sma, const struct wf_sma_event *event, wf_time now)
{
	struct wf_sma_trap *t;

	if (!can_send(sma, event->port))
		return;
	t = find(sma, event);
	if (t == NULL)
		return;
	t->type = event->type;
	wf_layout_encode(event->layout, event->details, t->details);
	t->tid = 0; /* who represses what was sent before does not mean this one */
	t->at = wf_max_time(t->at, now);
	t->pending = true;
}

void wf_sma_repress(struct wf_sma *sma, uint64_t tid)
{
	for (struct wf_sma_trap *t = sma->traps; t != NULL; t = t->next)
		if (t->tid == tid && tid != 0)
			t->pending = false;
}

void wf_sma_forget_traps(struct wf_sma *sma, unsigned port)
{
	for (struct wf_sma_trap *t = sma->traps; t != NULL; t = t->next)
		if (t->port == port)
			t->pending = false;
}

void wf_sma_free_traps(struct wf_sma *sma)
{
	while (sma->traps != NULL) {
		struct wf_sma_trap *t = sma->traps;

		sma->traps = t->next;
		sma->mem->free(sma->mem, t);
	}
}

bool wf_sma_tx(struct wf_sma *sma, wf_time now, struct wf_sma_packet *packet_p, uint8_t *mad_p)
{
	struct wf_sma_trap *t = sma->traps;
	struct wf_mad h = {
		.base_version = WF_MAD_BASE_VERSION,
		.mgmt_class = WF_MAD_CLASS_SUBN_LID,
		.class_version = 1,
		.method = WF_MAD_METHOD_TRAP,
		.attr_id = WF_MAD_ATTR_NOTICE,
	};
	struct wf_notice notice = { .is_generic = true };
	const struct wf_port_info *info;

	while (t != NULL && (!t->pending || t->at > now || !can_send(sma, t->port)))
		t = t->next;
	if (t == NULL)
		return false;
	if (t->tid == 0)
		t->tid = ++sma->next_tid;
	info = &sma->port[t->port].info;
	t->at = now + wf_ib_time_decode(info->subnet_timeout);
	h.tid = t->tid;
	notice.type = t->type;
	notice.producer_type = sma->is_switch ? WF_NODE_SWITCH : WF_NODE_CA;
	notice.trap_number = t->number;
	notice.issuer_lid = info->lid;
	memcpy(notice.details, t->details, sizeof(notice.details));
	memset(mad_p, 0, WF_MAD_LEN);
	wf_mad_encode(&h, mad_p);
	wf_notice_encode(&notice, mad_p + WF_SMP_DATA);
	*packet_p = (struct wf_sma_packet){
		.port = t->port,
		.dlid = info->master_sm_lid,
		.sl = info->master_sm_sl,
	};
	return true;
}

/* Of a switch only port 0 has a key. */
static unsigned last_end(const struct wf_sma *sma)
{
	return sma->is_switch ? 0 : sma->n_ports;
}

wf_time wf_sma_deadline(const struct wf_sma *sma)
{
	wf_time at = WF_TIME_NEVER;

	for (const struct wf_sma_trap *t = sma->traps; t != NULL; t = t->next)
		if (t->pending && can_send(sma, t->port))
			at = wf_min_time(at, t->at);
	for (unsigned p = wf_sma_first_port(sma); p <= last_end(sma); p++)
		at = wf_min_time(at, sma->port[p].lease_ends);
	return at;
}

void wf_sma_tick(struct wf_sma *sma, wf_time now)
{
	for (unsigned p = wf_sma_first_port(sma); p <= last_end(sma); p++) {
		struct wf_sma_port *port = &sma->port[p];

		if (port->lease_ends > now)
			continue;
		port->lease_ends = WF_TIME_NEVER;
		port->info.mkey_protect_bits = 0;
	}
}

void wf_sma_bad_mkey(struct wf_sma *sma, unsigned end, const uint8_t *mad, wf_time now)
{
	struct wf_trap_mkey d = { .lid = sma->port[end].info.lid };
	struct wf_mad h;
	struct wf_smp smp;

	wf_mad_decode(mad, &h);
	wf_smp_decode(mad, &smp);
	d.method = h.method;
	d.attr_id = h.attr_id;
	d.attr_mod = h.attr_mod;
	d.mkey = smp.mkey;
	if (h.mgmt_class == WF_MAD_CLASS_SUBN_DR) {
		unsigned hops = wf_smp_hop_count(&h), n = WF_ARRAY_SIZE(d.dr_return_path);

		d.dr_notice = true;
		d.dr_slid = smp.dr_slid;
		d.dr_path_truncated = hops > n;
		d.dr_hop_count = (uint8_t)(hops < n ? hops : n);
		memcpy(d.dr_return_path, mad + WF_SMP_RETURN_PATH + 1, d.dr_hop_count);
	}
	wf_sma_raise(sma,
	             &(struct wf_sma_event){ WF_TRAP_BAD_MKEY, (uint8_t)end, WF_NOTICE_SECURITY,
	                                     &wf_trap_mkey_layout, &d },
	             now);
}
