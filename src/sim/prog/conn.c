/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.c - from a fabric's parameters to the attributes of a queue pair.
 */
#include "sim/prog/conn.h"

#include <errno.h>
#include <string.h>

#define SELECTIVE_WINDOW 65536 /* packets that can be told apart: more than any path holds */
#define SELECTIVE_REORDER 3    /* on one path, as TCP has it */

static int find_mtu(uint64_t bytes, enum wf_mtu *mtu_p)
{
	for (enum wf_mtu mtu = WF_MTU_256; mtu <= WF_MTU_4096; mtu++) {
		if (wf_mtu_bytes(mtu) == bytes) {
			*mtu_p = mtu;
			return 0;
		}
	}
	return -EINVAL;
}

int wf_conn_mtu(const struct wf_fabric *fabric, enum wf_mtu *mtu_p, struct wf_err *err)
{
	if (find_mtu(fabric->cfg.mtu, mtu_p) == 0)
		return 0;
	return wf_err_say(err, "mtu: queue pairs have a path MTU of 256, 512, 1024, 2048 or "
	                       "4096 bytes");
}

/* What an adapter is set to; host WF_TOPO_NONE: none that differs. */
static const struct wf_setup *setup_of(const struct wf_fabric *fabric, uint32_t host)
{
	return host == WF_TOPO_NONE ? fabric->setups
	                            : wf_fabric_setup(fabric, fabric->topo->host_node[host]);
}

int wf_conn_tune(const struct wf_fabric *fabric, uint32_t host, const struct wf_cc_choice *cc,
                 struct wf_qp_tune *tune, struct wf_err *err)
{
	const struct wf_setup *setup = setup_of(fabric, host);
	const struct wf_fabric_cfg *cfg = &setup->cfg;
	bool reorders;
	int ret;

	if (setup->user != NULL)
		cc = setup->user;

	/* No window: hardware has none. sender.window is the windowed sender's alone. */
	tune->ack_every = cfg->sender_ack;
	tune->ack_cls = wf_narrow_u8(cfg->sender_ack_class);
	tune->spray = cfg->sender_spray;
	tune->ect = !fabric->roce1;
	reorders = fabric->route->reorders || tune->spray;
	if (strcmp(cfg->sender_recovery, "auto") == 0
	            ? reorders || fabric->classes.trims
	            : strcmp(cfg->sender_recovery, "selective") == 0) {
		tune->recovery = WF_RECOVERY_SELECTIVE;
		tune->window = SELECTIVE_WINDOW;
		/* Where packets overtake one another, being early is no sign of a loss. */
		tune->reorder = reorders ? SELECTIVE_WINDOW - 1 : SELECTIVE_REORDER;
		tune->direct = strcmp(cfg->sender_placement, "direct") == 0;
	}
	if (cc == NULL)
		return 0;
	ret = wf_cc_choice_tune(cc, tune, err);
	if (ret == 0 && fabric->roce1 && tune->cc->marks)
		return wf_err_say(err,
		                  "header: rocev1 has no IP header that switches could mark, and "
		                  "%s lives on marks; set cc.algorithm to none, timely or swift, "
		                  "or header to rocev2",
		                  tune->cc->name);
	if (ret != 0 || !tune->cc->telemetry)
		return ret;
	if (fabric->telemetry == WF_TELEMETRY_NONE)
		return wf_err_say(err, "switch.telemetry: %s lives on it; write int, pint or auto",
		                  tune->cc->name);
	tune->int_bytes = fabric->int_bytes;
	tune->ack_every = 1; /* what was written is old news after a few packets */
	return 0;
}

uint8_t wf_conn_timeout(wf_time at)
{
	uint8_t n = 1;

	while (n < 31 && (INT64_C(4096) * WF_NS << n) < at)
		n++;
	return n;
}

/*
 * The port to which a queue pair and its peer belong, from 0: the same for both, and for successive
 * queue pairs of a host to hosts with higher numbers one after the other.
 */
static uint32_t port_of(const struct wf_fabric *fabric, const struct wf_qp *qp, uint32_t peer_host,
                        uint32_t peer_qpn)
{
	uint32_t number = wf_qp_host(qp) < peer_host ? wf_qp_num(qp) : peer_qpn;

	if (!fabric->by_port || strcmp(fabric->cfg.nic_qp_port, "first") == 0)
		return 0;
	return number % fabric->topo->host_ports;
}

/* Loads the path by the other ports as the alternate one. Returns 0 or -EINVAL. */
static int arm(const struct wf_fabric *fabric, struct wf_qp *qp, const struct wf_qp_attr *attr,
               uint32_t peer_host)
{
	struct wf_qp_attr alt = { .alt_ah_attr = attr->ah_attr,
		                  .alt_timeout = attr->timeout,
		                  .path_mig_state = WF_MIG_REARM };
	uint32_t other = attr->port_num % fabric->topo->host_ports; /* from 0 */

	alt.alt_port_num = alt.alt_ah_attr.port_num = (uint8_t)(other + 1);
	alt.alt_ah_attr.dest = other * fabric->topo->n_hosts + peer_host;
	return wf_qp_modify(qp, &alt, WF_QP_ALT_PATH | WF_QP_PATH_MIG_STATE);
}

int wf_conn_up(const struct wf_fabric *fabric, struct wf_qp *qp, uint32_t peer_host,
               uint32_t peer_qpn, uint8_t cls, uint32_t access)
{
	const struct wf_setup *setup = setup_of(fabric, wf_qp_host(qp));
	struct wf_qp_attr attr = {
		.qp_state = WF_QPS_INIT,
		.qp_access_flags = access,
		.dest_qp_num = peer_qpn,
		.ah_attr = { .sl = cls, .roce1 = fabric->roce1 },
		.max_rd_atomic = 16,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 12,
		.timeout = wf_conn_timeout(setup->cfg.sender_timeout),
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
	uint32_t port = port_of(fabric, qp, peer_host, peer_qpn);
	int ret = find_mtu(fabric->cfg.mtu, &attr.path_mtu);

	attr.port_num = attr.ah_attr.port_num = (uint8_t)(port + 1);
	attr.ah_attr.dest = port * fabric->topo->n_hosts + peer_host;

	if (ret == 0)
		ret = wf_qp_modify(qp, &attr,
		                   WF_QP_STATE | WF_QP_PKEY_INDEX | WF_QP_PORT |
		                           WF_QP_ACCESS_FLAGS);
	attr.qp_state = WF_QPS_RTR;
	if (ret == 0)
		ret = wf_qp_modify(qp, &attr,
		                   WF_QP_STATE | WF_QP_AV | WF_QP_PATH_MTU | WF_QP_DEST_QPN |
		                           WF_QP_RQ_PSN | WF_QP_MAX_DEST_RD_ATOMIC |
		                           WF_QP_MIN_RNR_TIMER);
	attr.qp_state = WF_QPS_RTS;
	if (ret == 0)
		ret = wf_qp_modify(qp, &attr,
		                   WF_QP_STATE | WF_QP_TIMEOUT | WF_QP_RETRY_CNT | WF_QP_RNR_RETRY |
		                           WF_QP_SQ_PSN | WF_QP_MAX_QP_RD_ATOMIC);
	if (ret == 0 && fabric->by_port && strcmp(fabric->cfg.nic_apm, "armed") == 0)
		ret = arm(fabric, qp, &attr, peer_host);
	return ret;
}
