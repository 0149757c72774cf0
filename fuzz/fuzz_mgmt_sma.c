/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_mgmt_sma.c - a subnet management agent is told anything: SMPs of every kind, links that come
 * and go, time. What it does not answer with success has changed nothing that a manager sets.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mgmt/route_dr.h"
#include "mgmt/sma.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PORTS 3
#define GROUPS 5

static void changed(void *arg, unsigned port, unsigned what)
{
	unsigned *calls = arg;

	if (port > PORTS || what == 0)
		abort();
	(*calls)++;
}

static void physical(void *arg, unsigned port, enum wf_port_phys to)
{
	unsigned *calls = arg;

	if (port < 1 || port > PORTS || to < WF_PHYS_SLEEP || to > WF_PHYS_DISABLED)
		abort();
	(*calls)++;
}

/* Groups have ports that there are, and LIDs groups that there are. */
static void check_groups(const struct wf_sma *sma)
{
	struct wf_sma_adaptive a;

	wf_sma_adaptive(sma, &a);
	for (unsigned i = 0; i < a.n_groups; i++) {
		for (unsigned w = 0; w < WF_GROUP_WORDS; w++) {
			if ((a.ports[i][w] & ~(w == 0 ? (UINT64_C(2) << PORTS) - 2 : 0)) != 0)
				abort();
		}
	}
	for (uint32_t lid = 0; lid < a.n_lids; lid++) {
		if (a.group_of[lid] > GROUPS)
			abort();
	}
}

static void check(const struct wf_sma *sma, bool is_switch)
{
	check_groups(sma);
	for (unsigned p = is_switch ? 0 : 1; p <= PORTS; p++) {
		const struct wf_port_info *info = wf_sma_port(sma, p);
		bool up = info->port_physical_state == WF_PHYS_LINK_UP;

		if (up != (info->port_state >= WF_PORT_INIT) || info->port_state > WF_PORT_ACTIVE ||
		    info->port_state < WF_PORT_DOWN || info->neighbor_mtu < 1 ||
		    info->neighbor_mtu > info->mtu_cap || info->operational_vls > info->vl_cap ||
		    (info->link_width_enabled & ~info->link_width_supported) != 0)
			abort();
	}
}

static void ask(const struct wf_sma *sma, const uint8_t *data)
{
	uint16_t lid = (uint16_t)(data[0] << 8 | data[1]);

	(void)wf_sma_lft(sma, lid);
	(void)wf_sma_mft(sma, lid, data[2] % (PORTS + 1));
	(void)wf_sma_pkey_ok(sma, 1 + data[2] % PORTS, lid);
	(void)wf_sma_guid(sma, 1, data[3]);
	(void)wf_sma_vl_arb(sma, 1, data[2] % 2 != 0, data[3]);
	if (wf_sma_vl(sma, data[0] % (PORTS + 1), 1 + data[1] % PORTS, data[2] & 0xf) > 15)
		abort();
}

/* An SMP whose header is near what is right; the rest of it is what came. */
static size_t smp(struct wf_sma *sma, bool is_switch, const uint8_t *data, size_t size, wf_time now,
                  unsigned *calls)
{
	struct wf_dr_node node = { is_switch, PORTS };
	size_t n = size < WF_MAD_LEN - 3 ? size : WF_MAD_LEN - 3;
	uint8_t mad[WF_MAD_LEN] = { 1, data[0] % 4 == 0 ? WF_MAD_CLASS_SUBN_DR : 1, 1 };
	unsigned before = *calls;
	struct wf_dr_next next;
	enum wf_sma_verdict verdict;

	memcpy(mad + 3, data, n);
	if (data[0] % 16 != 15)
		mad[3] = data[0] % 2 == 0 ? WF_MAD_METHOD_GET : WF_MAD_METHOD_SET;
	if (data[0] % 16 != 14) {
		mad[16] = 0;
		mad[17] = 0x10 + mad[17] % 0x24;
	}
	if (data[0] % 16 >= 12 && data[0] % 16 < 14) { /* weft's own */
		mad[16] = WF_SMP_ADAPTIVE_INFO >> 8;
		mad[17] = (uint8_t)(WF_SMP_ADAPTIVE_INFO + mad[17] % 3);
	}
	if (mad[1] == WF_MAD_CLASS_SUBN_DR &&
	    wf_dr_rx(&node, 1 + data[1] % PORTS, mad, &next) != WF_DR_MINE)
		return n;
	verdict = wf_sma_rx(sma, data[1] % (PORTS + 2), mad, now);
	if (*calls != before && (verdict != WF_SMA_ANSWER || (mad[5] & 0x1f) != 0))
		abort();
	return n;
}

static size_t step(struct wf_sma *sma, bool is_switch, const uint8_t *data, size_t size,
                   wf_time now, unsigned *calls)
{
	struct wf_trap_key key = { .lid1 = data[2] };
	struct wf_sma_packet packet;
	uint8_t mad[WF_MAD_LEN];
	unsigned port = 1 + data[1] % PORTS;

	switch (data[0] % 8) {
	case 0:
		wf_sma_link_up(sma, port, WF_WIDTH_4X, 1U << data[2] % 9, now);
		return 3;
	case 1:
		wf_sma_link_down(sma, port, now);
		return 3;
	case 2:
		wf_sma_data(sma, port);
		wf_sma_violation(sma, port, (uint16_t)(257 + data[2] % 3), &key, now);
		wf_sma_threshold(sma, port, (uint16_t)(129 + data[2] % 3), now);
		return 3;
	case 3:
		wf_sma_set_description(sma, "x", now);
		while (wf_sma_tx(sma, now, &packet, mad))
			if (packet.dlid == 0 || packet.port > PORTS)
				abort();
		if (wf_sma_deadline(sma) <= now) {
			wf_sma_tick(sma, now);
			if (wf_sma_deadline(sma) <= now)
				abort();
		}
		return 3;
	default:
		return 1 + smp(sma, is_switch, data + 1, size - 1, now, calls);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct wf_sma_ops ops = { changed, physical };
	struct wf_sma_cfg cfg;
	struct wf_sma *sma;
	bool is_switch;
	unsigned calls = 0;
	wf_time now = 0;

	if (size < 8)
		return 0;
	is_switch = data[0] % 2 == 0;
	wf_sma_cfg_init(&cfg, is_switch);
	cfg.n_ports = PORTS;
	cfg.group_cap = is_switch ? GROUPS : 0;
	cfg.ops = &ops;
	cfg.arg = &calls;
	cfg.speeds = 0x1f7;
	if (wf_sma_create(&cfg, wf_mem_heap(), &sma) != 0)
		return 0;
	data++, size--;
	while (size >= 6) {
		size_t n = step(sma, is_switch, data, size, now, &calls);

		check(sma, is_switch);
		ask(sma, data);
		now += (wf_time)data[2] << 32;
		n = n < size ? n : size;
		data += n;
		size -= n;
	}
	wf_sma_destroy(sma);
	return 0;
}
