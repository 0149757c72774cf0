/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - a simulation in the model of the HPCC simulator (ns-3): topology and flows in, flow
 * completion times and pause frames out.
 *
 * Ports, links, buffers and routes are the fabric's, with its options set to that simulator's way
 * by wf_ns3_fabric_cfg(). What it does in its own way are the hosts (host.h), what a switch does
 * with a packet (switch.c), pause frames (pfc.c), time on the wire and chance (hooks.c), and the
 * order of events (order.h). docs/validation.md lists what differs.
 */
#ifndef WF_NS3_SIM_H
#define WF_NS3_SIM_H

#include "base/err.h"
#include "ns3/host.h"

struct wf_ns3_sim_cfg {
	const struct wf_topo *topo;         /* borrowed for the life of the simulation */
	const struct wf_fabric_cfg *fabric; /* borrowed until wf_ns3_sim_create() returns */
	const struct wf_ns3_flow *flows;    /* by start; borrowed for the life of the simulation */
	uint32_t n_flows;
	const struct wf_ns3_paths *paths; /* the same; NULL: flows are hashed */
	struct wf_ns3_env host;           /* what hosts do: mtu to telemetry, and cc */
	uint64_t loss; /* units of 2^-32: on links that have no loss of their own */
	wf_time until;
	uint64_t seed;
};

struct wf_ns3_sim;

/* A pause frame that a device received. */
struct wf_ns3_pause {
	wf_time at;
	uint32_t node;
	uint16_t port;
	bool stop;
};

/*
 * Sets cfg to the defaults, then every option to the way of the HPCC simulator, for classes of
 * traffic that are the bits of mask. Returns 0, or -EINVAL with err filled.
 */
int wf_ns3_fabric_cfg(struct wf_fabric_cfg *cfg, uint32_t mask, struct wf_err *err) WF_MUST_USE;

/*
 * Builds the simulation. On success *sim_p is owned by the caller. Returns 0, -EINVAL with err
 * filled, or -ENOMEM.
 */
int wf_ns3_sim_create(const struct wf_ns3_sim_cfg *cfg, struct wf_ns3_sim **sim_p,
                      struct wf_err *err) WF_MUST_USE;

/* Runs until nothing happens any more. Returns 0 or -ENOMEM. */
int wf_ns3_sim_run(struct wf_ns3_sim *sim) WF_MUST_USE;

/* When the last acknowledgement of a flow came; WF_TIME_NEVER: it did not. */
wf_time wf_ns3_sim_end(const struct wf_ns3_sim *sim, uint32_t flow);

/*
 * All pause frames received, in their order: *pauses_p, of *n_p, is the caller's to free with
 * wf_mem_heap(). Returns 0 or -ENOMEM.
 */
int wf_ns3_sim_pauses(const struct wf_ns3_sim *sim, struct wf_ns3_pause **pauses_p,
                      size_t *n_p) WF_MUST_USE;

struct wf_ns3_sim_counts {
	uint64_t hops;    /* packets put on links, control included */
	uint64_t dropped; /* for lack of buffer or on links */
	uint64_t marked;
};

void wf_ns3_sim_counts(const struct wf_ns3_sim *sim, struct wf_ns3_sim_counts *counts);

/* Frees a simulation. NULL is allowed. */
void wf_ns3_sim_destroy(struct wf_ns3_sim *sim);

#endif
