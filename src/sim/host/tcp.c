/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp.c - a host's parameters as its TCP takes them.
 */
#include "sim/host/tcp.h"

#include <string.h>

static void put_costs(const struct wf_fabric_tcp *t, struct wf_tcp_costs *cost)
{
	*cost = (struct wf_tcp_costs){
		.syscall = t->syscall,
		.wakeup = t->wakeup,
		.tx_burst = t->tx_burst,
		.tx_packet = t->tx_packet,
		.rx_packet = t->rx_packet,
		.rx_burst = t->rx_burst,
		.ack = t->ack,
		.copy_tx = wf_rate_per_byte(t->copy_tx),
		.copy_rx = wf_rate_per_byte(t->copy_rx),
		.digest = wf_rate_per_byte(t->digest),
	};
}

static void put_conn(const struct wf_fabric *fabric, const struct wf_fabric_tcp *t,
                     struct wf_tcp_conn_cfg *conn)
{
	enum wf_encap encap = wf_header_encap(fabric->cfg.header);
	const struct wf_fabric_cfg *cfg = &fabric->cfg;
	uint32_t mtu = t->mtu == (uint64_t)WF_PARAM_AUTO
	                       ? wf_tcp_mtu_as_rdma(wf_narrow_u32(cfg->mtu), encap)
	                       : wf_narrow_u32(t->mtu);

	*conn = (struct wf_tcp_conn_cfg){
		.cc = wf_tcp_cc_find(t->cc),
		.encap = encap,
		.mss = wf_tcp_mss(mtu, encap, t->timestamps),
		.init_window = t->init_window,
		.rmem = t->rmem,
		.burst = wf_narrow_u32(t->burst),
		.rto_min = t->rto_min,
		.delack = t->delack,
		.timestamps = t->timestamps,
		.idle_restart = t->idle_restart,
	};
	/* InfiniBand marks its own header, which IP does not see. */
	conn->ecn = wf_encap_is_eth(encap) &&
	            (strcmp(t->ecn, "auto") == 0 ? conn->cc->ecn : strcmp(t->ecn, "on") == 0);
}

void wf_host_tcp_cfg(const struct wf_fabric *fabric, const struct wf_setup *setup,
                     struct wf_tcp_stack_cfg *cfg)
{
	const struct wf_fabric_tcp *t = &setup->cfg.tcp;

	memset(cfg, 0, sizeof(*cfg));
	put_conn(fabric, t, &cfg->conn);
	put_costs(t, &cfg->cost);
	cfg->cores = t->cores;
	cfg->ring = t->ring;
	cfg->interrupt = t->interrupt;
	/* The adapter hears of it and fetches it, as of any work. */
	cfg->tx_delay = setup->cfg.nic_doorbell + setup->cfg.nic_tx + setup->cfg.nic_fetch;
	cfg->wmem = t->wmem;
	cfg->small_queue = t->small_queue;
	cfg->chunk = t->chunk;
}
