/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz: runs=1/4 */
/*
 * fuzz_mgmt_sm.c - a subnet manager at a switch with three hosts, whose answers are bent, lost,
 * doubled or made up, and who is told of traps and other managers. Whatever it then believes, its
 * graph holds together.
 *
 * The input is read step by step, a byte of what and bytes of how; where it ends, answers are
 * right.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mgmt/route_dr.h"
#include "mgmt/sm/sm.h"
#include "mgmt/sma.h"
#include "wire/addr.h"
#include "wire/ib.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOSTS 3
#define STEPS 700 /* requests at most */
#define SWITCH HOSTS

struct star {
	struct wf_sma *sma[HOSTS + 1]; /* hosts, and the switch */
	struct wf_sm *sm;
	const uint8_t *data;
	size_t size;
	wf_time now;
};

static void changed(void *arg, unsigned port, unsigned what)
{
	(void)arg, (void)port, (void)what;
}

static void physical(void *arg, unsigned port, enum wf_port_phys to)
{
	(void)arg, (void)port, (void)to;
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
		cfg.vendor_id = WF_WIRE_VENDOR;
		cfg.group_cap = i == SWITCH ? 2 : 0;
		if (wf_sma_create(&cfg, wf_mem_heap(), &s->sma[i]) != 0)
			abort();
		for (unsigned p = 1; p <= cfg.n_ports; p++)
			wf_sma_link_up(s->sma[i], p, WF_WIDTH_4X, WF_SPEED_NDR, 0);
	}
}

/* The agent at the end of a request's path, and its port; false: there is none. */
static bool carry(struct star *s, uint8_t *mad)
{
	const uint8_t *path = mad + WF_SMP_INITIAL_PATH;
	unsigned hops = mad[7], at, port;

	if (hops == 0) {
		at = 0;
		port = 0;
	} else if (hops == 1 && path[1] == 1) {
		at = SWITCH;
		port = 1;
	} else if (hops == 2 && path[1] == 1 && path[2] >= 1 && path[2] <= HOSTS) {
		at = path[2] - 1u;
		port = 1;
	} else {
		return false;
	}
	mad[6] = (uint8_t)(hops + 1);
	if (wf_sma_rx(s->sma[at], port, mad, s->now) != WF_SMA_ANSWER)
		return false;
	mad[6] = 0;
	return true;
}

static void give(struct star *s, uint16_t lid, const uint8_t *mad)
{
	const struct wf_sm_addr from = { .lid = lid };

	wf_sm_rx(s->sm, &from, mad, s->now);
}

static void bend(struct star *s, uint8_t *mad, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned at = take(s);

		mad[at] = take(s);
	}
}

/* A trap, SMInfo that another manager asks or sets, or anything else. */
static void make_up(struct star *s, uint8_t what)
{
	static const uint8_t methods[] = { 1, 2, 5, 0x81 };
	uint8_t mad[WF_MAD_LEN] = { 1, what & 1 ? 0x81 : 1, 1, methods[what >> 1 & 3] };

	mad[17] = what & 8 ? WF_SMP_NOTICE : WF_SMP_SM_INFO;
	mad[23] = what >> 5;
	mad[7] = take(s);
	for (unsigned i = 0; i < 24; i++)
		mad[WF_SMP_DATA + i] = take(s);
	give(s, take(s), mad);
}

static void answer(struct star *s, uint8_t *mad)
{
	uint8_t what = take(s);

	if (what >= 0xc0) {
		if (what >= 0xf0)
			return; /* lost */
		make_up(s, what);
	}
	if (!carry(s, mad))
		return;
	if (what >= 0x80 && what < 0xc0)
		bend(s, mad, what & 7);
	give(s, WF_LID_PERMISSIVE, mad);
	if ((what & 0xf0) == 0x70)
		give(s, WF_LID_PERMISSIVE, mad);
}

static void check(const struct star *s)
{
	const struct wf_sm_view *view = wf_sm_view(s->sm);

	if (wf_sm_state(s->sm) > WF_SM_MASTER)
		abort();
	for (unsigned lid = 1; view != NULL && lid <= WF_LID_MAX; lid++) {
		uint32_t index = wf_subnet_by_lid(view->subnet, lid);
		const struct wf_subnet_port *port;

		if (index == WF_SUBNET_NONE)
			continue;
		port = &view->subnet->ports[index];
		if (lid < port->lid || lid >= port->lid + (1u << port->lmc))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct star s = { .data = data, .size = size };
	struct wf_sm_cfg cfg;
	struct wf_sm_addr to;
	struct wf_err err = { "" };
	uint8_t mad[WF_MAD_LEN];
	uint8_t options = take(&s);

	if (wf_sm_cfg_init(&cfg, &err) != 0)
		abort();
	cfg.qos = (options & 1) != 0;
	cfg.adaptive = (options & 32) != 0;
	cfg.lmc = options >> 1 & 3;
	cfg.babbling_port_policy = (options & 8) != 0;
	cfg.transaction_retries = options >> 6;
	if ((options & 16) != 0)
		cfg.partitions = "a:ALL=full;b=0x10,defmember=full:0x101,0x111;";
	setup(&s);
	if (wf_sm_create(&cfg, NULL, NULL, wf_mem_heap(), &s.sm, &err) != 0)
		abort();
	for (unsigned steps = 0; steps < STEPS && s.now < 60 * WF_S;) {
		while (steps < STEPS && wf_sm_tx(s.sm, &to, mad)) {
			steps++;
			s.now += WF_US;
			if (mad[1] == WF_MAD_CLASS_SUBN_DR && (mad[3] & 0x80) == 0)
				answer(&s, mad);
		}
		if (s.size == 0 && s.now > 15 * WF_S)
			break;
		if (wf_sm_deadline(s.sm) == WF_TIME_NEVER)
			break;
		s.now = wf_max_time(s.now, wf_sm_deadline(s.sm));
		wf_sm_tick(s.sm, s.now);
	}
	check(&s);
	wf_sm_destroy(s.sm);
	for (unsigned i = 0; i <= HOSTS; i++)
		wf_sma_destroy(s.sma[i]);
	return 0;
}
