/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_mgmt_sa.c - subnet administration at a switch with three hosts, which is asked anything by
 * anybody: requests with any components, segments and acknowledgements in any order, MADs of any
 * bytes; while time passes, and links go and come. What it sends is always of its class, goes to
 * who has asked or subscribed, and says as many records as there are.
 *
 * The input is read step by step, a byte of what and bytes of how.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mgmt/sa/sa.h"
#include "mgmt/sma.h"
#include "wire/byte.h"
#include "wire/ib.h"
#include "wire/sa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOSTS 3
#define SWITCH HOSTS
#define STEPS 300   /* of the input */
#define SMPS 4000   /* requests of the manager */
#define PACKETS 200 /* that are taken at a time */

struct star {
	struct wf_sma *sma[HOSTS + 1];
	bool up[HOSTS];
	struct wf_sm *sm;
	struct wf_sa *sa;
	const uint8_t *data;
	size_t size;
	wf_time now;
	unsigned smps;
	uint8_t last[WF_MAD_LEN]; /* that it sent */
	uint16_t last_lid;
};

static void changed(void *arg, unsigned port, unsigned what)
{
	(void)arg, (void)port, (void)what;
}

static void physical(void *arg, unsigned port, enum wf_port_phys to)
{
	(void)arg, (void)port, (void)to;
}

static void told(void *arg, const struct wf_sm_event *event)
{
	struct star *s = arg;

	if (s->sa != NULL)
		wf_sa_event(s->sa, event);
}

static uint8_t take(struct star *s)
{
	if (s->size == 0)
		return 0;
	s->size--;
	return *s->data++;
}

static void setup(struct star *s)
{
	static const struct wf_sma_ops ops = { changed, physical };

	for (unsigned i = 0; i <= HOSTS; i++) {
		struct wf_sma_cfg cfg;

		wf_sma_cfg_init(&cfg, i == SWITCH);
		cfg.n_ports = i == SWITCH ? HOSTS : 1;
		cfg.node_guid = 0x100 + 0x10 * i;
		cfg.port_guid = i == SWITCH ? cfg.node_guid : cfg.node_guid + 1;
		cfg.description = "node";
		cfg.widths = WF_WIDTH_4X;
		cfg.speeds = WF_SPEED_NDR;
		cfg.ops = &ops;
		if (wf_sma_create(&cfg, wf_mem_heap(), &s->sma[i]) != 0)
			abort();
	}
}

static void link(struct star *s, unsigned host, bool up)
{
	s->up[host] = up;
	if (up) {
		wf_sma_link_up(s->sma[host], 1, WF_WIDTH_4X, WF_SPEED_NDR, s->now);
		wf_sma_link_up(s->sma[SWITCH], host + 1, WF_WIDTH_4X, WF_SPEED_NDR, s->now);
	} else {
		wf_sma_link_down(s->sma[host], 1, s->now);
		wf_sma_link_down(s->sma[SWITCH], host + 1, s->now);
	}
}

/* A request of the manager to whom it is for, and the answer back. */
static void carry(struct star *s, uint8_t *mad)
{
	static const struct wf_sm_addr from = { .lid = WF_LID_PERMISSIVE };
	const uint8_t *path = mad + WF_SMP_INITIAL_PATH;
	unsigned hops = mad[7], at = 0, port = hops == 0 ? 0 : 1;

	if (hops >= 1)
		at = SWITCH;
	if (hops == 2 && path[2] >= 1 && path[2] <= HOSTS)
		at = path[2] - 1u;
	if (hops > 2 || (hops > 0 && !s->up[0]) || (at < HOSTS && hops > 0 && !s->up[at]))
		return;
	mad[6] = (uint8_t)(hops + 1);
	if (wf_sma_rx(s->sma[at], port, mad, s->now) != WF_SMA_ANSWER)
		return;
	mad[6] = 0;
	wf_sm_rx(s->sm, &from, mad, s->now);
}

static void manage(struct star *s)
{
	struct wf_sm_addr to;
	uint8_t mad[WF_MAD_LEN];

	while (s->smps < SMPS && wf_sm_tx(s->sm, &to, mad)) {
		s->smps++;
		if (mad[1] == WF_MAD_CLASS_SUBN_DR && (mad[3] & 0x80) == 0)
			carry(s, mad);
	}
}

static void pass(struct star *s, wf_time time)
{
	wf_time end = s->now + time;

	while (s->smps < SMPS) {
		wf_time at = wf_min_time(wf_sm_deadline(s->sm), wf_sa_deadline(s->sa));

		if (at > end)
			break;
		s->now = wf_max_time(s->now, at);
		if (wf_sm_deadline(s->sm) <= s->now)
			wf_sm_tick(s->sm, s->now);
		if (wf_sa_deadline(s->sa) <= s->now)
			wf_sa_tick(s->sa, s->now);
		manage(s);
	}
	s->now = wf_max_time(s->now, end);
}

/* ---- the one who asks ---- */

static void give(struct star *s, uint16_t lid, const uint8_t *mad)
{
	const struct wf_mux_addr from = { .lid = lid, .qpn = 1 };

	wf_sa_rx(s->sa, &from, mad, s->now);
	manage(s);
}

static void request(struct star *s)
{
	static const uint8_t methods[] = { 1, 2, 0x12, 0x14, 0x15, 0x13, 0x86, 0x81 };
	static const uint16_t attrs[] = {
		WF_SA_CLASS_PORT_INFO,
		WF_SA_INFORM_INFO,
		WF_SA_NODE,
		WF_SA_PORT_INFO,
		WF_SA_SL_TO_VL,
		WF_SA_SWITCH_INFO,
		WF_SA_LINEAR_FT,
		WF_SA_MULTICAST_FT,
		WF_SA_SM_INFO,
		WF_SA_LINK,
		WF_SA_GUID_INFO,
		WF_SA_SERVICE,
		WF_SA_PKEY_TABLE,
		WF_SA_PATH,
		WF_SA_VL_ARB,
		WF_SA_MC_MEMBER,
		WF_SA_MULTI_PATH,
		WF_SA_INFORM_INFO_RECORD,
	};
	uint8_t mad[WF_MAD_LEN] = { 1, WF_MAD_CLASS_SA, WF_SA_CLASS_VERSION };
	uint8_t how = take(s), n = take(s), what = take(s);
	uint16_t lid = how >> 6;

	mad[3] = methods[how & 7];
	mad[15] = what;
	wf_be16_put(mad + 16, attrs[n % WF_ARRAY_SIZE(attrs)]);
	mad[20] = what & 0x80;
	mad[26] = how >> 3 & 1;
	mad[43] = how >> 4 & 1; /* the manager's key */
	for (unsigned i = 4; i < 8; i++)
		mad[48 + i] = take(s);
	for (unsigned i = take(s) % WF_SA_DATA_LEN, at = 0; i > 0 && s->size > 0; i--)
		mad[WF_SA_DATA + at++] = take(s);
	give(s, lid + 1, mad);
}

/* A segment, an acknowledgement, or the end of a transfer: of what it sent last, or of nothing. */
static void segment(struct star *s)
{
	uint8_t mad[WF_MAD_LEN], how = take(s);

	memcpy(mad, s->last, sizeof(mad));
	mad[1] = WF_MAD_CLASS_SA;
	if ((how & 0x80) != 0)
		mad[3] ^= 0x80;
	mad[24] = 1;
	mad[25] = how & 7;
	mad[26] = (how >> 3 & 7) | 1;
	wf_be32_put(mad + 28, take(s));
	wf_be32_put(mad + 32, take(s));
	give(s, s->last_lid, mad);
}

static void any_bytes(struct star *s)
{
	uint8_t mad[WF_MAD_LEN] = { 0 };
	uint16_t lid = take(s);

	for (unsigned i = 0; i < WF_MAD_LEN && s->size > 0; i++)
		mad[i] = take(s);
	give(s, lid, mad);
}

/* What it sends; reports are acknowledged, or not. */
static void receive(struct star *s, bool acknowledge)
{
	struct wf_mux_packet p;

	for (unsigned i = 0; i < PACKETS && wf_sa_tx(s->sa, s->now, &p); i++) {
		unsigned status = wf_be16_get(p.mad + 4), words = wf_be16_get(p.mad + 44);

		if (p.mad[0] != 1 || p.mad[1] != WF_MAD_CLASS_SA || p.qp != 1)
			abort();
		/* The key is never told; a kernel's acknowledgements and refusals are echoes. */
		if ((p.mad[3] & 0x80) != 0 && status == 0 &&
		    ((p.mad[26] & 1) == 0 || p.mad[25] == 1) && wf_be64_get(p.mad + 36) != 0)
			abort();
		/* One record where one was asked for. */
		if (p.mad[3] == WF_MAD_METHOD_GET_RESP && status == 0 && words * 8 > WF_SA_DATA_LEN)
			abort();
		memcpy(s->last, p.mad, sizeof(s->last));
		s->last_lid = p.addr.lid;
		if (p.mad[3] == WF_MAD_METHOD_REPORT && acknowledge) {
			p.mad[3] = WF_MAD_METHOD_REPORT_RESP;
			give(s, p.addr.lid, p.mad);
		}
	}
}

static void step(struct star *s)
{
	uint8_t what = take(s);

	switch (what & 7) {
	case 0:
	case 1:
	case 2:
		request(s);
		break;
	case 3:
		segment(s);
		break;
	case 4:
		any_bytes(s);
		break;
	case 5:
		pass(s, (what >> 3) * (WF_S / 4));
		break;
	case 6:
		link(s, 1 + (what >> 3 & 1), (what >> 4 & 1) != 0);
		wf_sm_resweep(s->sm, true, s->now);
		manage(s);
		break;
	default:
		receive(s, (what & 8) != 0);
		break;
	}
}

/* ---- what holds whatever happens ---- */

static void check(struct star *s)
{
	struct wf_sa_stats stats;

	wf_sa_stats(s->sa, &stats);
	if (stats.answered > stats.asked || stats.refused > stats.asked ||
	    stats.members > stats.groups * HOSTS + stats.groups)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct star s = { .data = data, .size = size };
	struct wf_sm_cfg cfg;
	struct wf_err err = { "" };
	uint8_t options = take(&s);

	if (wf_sm_cfg_init(&cfg, &err) != 0)
		abort();
	cfg.qos = (options & 1) != 0;
	cfg.lmc = options >> 1 & 3;
	cfg.transaction_retries = options >> 6;
	if ((options & 8) != 0)
		(void)strcpy(cfg.routing_engine, "dfsssp");
	if ((options & 16) != 0)
		cfg.partitions = "Default=0x7fff,ipoib:ALL,SELF=full;"
				 "b=0x10,ipoib,defmember=full:0x101,0x111;";
	setup(&s);
	if (wf_sm_create(&cfg, told, &s, wf_mem_heap(), &s.sm, &err) != 0 ||
	    wf_sa_create(s.sm, wf_mem_heap(), &s.sa) != 0)
		abort();
	for (unsigned i = 0; i < HOSTS; i++)
		link(&s, i, true);
	if ((options & 32) == 0)
		pass(&s, WF_S);
	for (unsigned i = 0; i < STEPS && s.size > 0; i++)
		step(&s);
	receive(&s, true);
	check(&s);
	wf_sa_destroy(s.sa);
	wf_sm_destroy(s.sm);
	for (unsigned i = 0; i <= HOSTS; i++)
		wf_sma_destroy(s.sma[i]);
	return 0;
}
