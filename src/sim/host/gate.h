/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - a host of a simulation whose programs are outside of it: its port, and nothing behind
 * it.
 *
 * The gate pulls, as the transport's driver does: when its wire is free it asks for a packet, and
 * keeps one back for each queue that flow control stops. What comes for the host is handed out at
 * the time at which a real adapter would have it in memory. A packet is known outside by its qpn,
 * which the fabric carries and does not read.
 */
#ifndef WF_SIM_HOST_GATE_H
#define WF_SIM_HOST_GATE_H

#include "fabric/endpoint.h"
#include "sim/host/gated.h"

struct wf_gate_env {
	const struct wf_fabric *fabric;
	const struct wf_gate_ops *ops;
	void *arg;
};

/* Creates host number host of the topology, in a shard. env is borrowed. NULL: no more memory. */
struct wf_device *wf_gate_create(struct wf_shard *shard, const struct wf_gate_env *env,
                                 uint32_t host) WF_MUST_USE;

/* How a gate asks who is outside: what a managed one's station has for st->pull. */
const struct wf_pull_ops *wf_gate_pull(void);

/* Tells who is outside of a packet that was dropped: wf_fabric.lost; arg: the env. */
void wf_gate_lost(void *arg, struct wf_fabric_shard *shard, const struct wf_packet *pkt,
                  bool trimmed);

/* Tells who is outside of a copy: wf_fabric.copied; arg: the env. */
bool wf_gate_copied(void *arg, struct wf_fabric_shard *shard, struct wf_packet *copy);

#endif
