/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setup.h - makes the configuration of a simulation of what the HPCC simulator was given.
 */
#ifndef WF_NS3_SETUP_H
#define WF_NS3_SETUP_H

#include "ns3/config.h"
#include "ns3/sim.h"

/* What lies between two hosts. */
struct wf_ns3_pair {
	uint64_t rtt; /* ns */
	uint64_t bw;  /* bits/s */
	uint64_t bdp; /* bytes */
};

struct wf_ns3_setup {
	struct wf_ns3_sim_cfg sim; /* for wf_ns3_sim_create(); it points to what follows */
	const struct wf_ns3_input *in;
	struct wf_fabric_cfg fabric;
	struct wf_ns3_flow *flows;
	struct wf_ns3_pair *pairs; /* by flow */
	uint64_t max_rtt, max_bdp;
	const struct wf_cc_ops *cc;
	uint64_t seed;
	char *params; /* of cc: one for all, or one for each flow */
	struct wf_ns3_paths paths;
};

/*
 * Makes a setup of in, which is borrowed. The caller gives it to wf_ns3_setup_fini(), whatever this
 * returns: 0, -EINVAL with err filled (the input cannot be), or -ENOMEM.
 */
int wf_ns3_setup_init(struct wf_ns3_setup *setup, const struct wf_ns3_input *in, uint64_t seed,
                      struct wf_err *err) WF_MUST_USE;

/* Frees what init took. */
void wf_ns3_setup_fini(struct wf_ns3_setup *setup);

/* The completion time that a flow would have alone, in ns, as that simulator computes it. */
uint64_t wf_ns3_setup_alone(const struct wf_ns3_setup *setup, uint32_t flow);

#endif
