/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gated.h - a simulation whose programs are outside of it (wf_sim_cfg.gate): run piece by piece,
 * told of what happens to its links while it stands.
 */
#ifndef WF_SIM_HOST_GATED_H
#define WF_SIM_HOST_GATED_H

#include "rdma/qp.h"
#include "sim/sim.h"
#include "wire/packet.h"

/* Who is outside. Every function but the last is set; they are called while the simulation runs. */
struct wf_gate_ops {
	/*
	 * The port of host can send. Gives it the next packet (type, dst, size, cls, flags, opcode,
	 * entropy, length, qpn) whose class is not in held. Returns false when there is none now;
	 * one that will be there later lowers *again_p to then.
	 */
	bool (*next)(void *arg, uint32_t host, uint32_t held, wf_time now, struct wf_packet *pkt,
	             wf_time *again_p);
	/* A packet has come to its host, trimmed, marked or bad (WF_PACKET_BAD) as it may be. */
	void (*deliver)(void *arg, uint32_t host, const struct wf_packet *pkt, wf_time now);
	/* A packet, or one of its copies, will never come. */
	void (*lost)(void *arg, const struct wf_packet *pkt);
	/* After every window: whether to go on. */
	bool (*go_on)(void *arg, wf_time now);
	/*
	 * There is one more of a packet: a switch has copied what is for a group. NULL where nobody
	 * manages the fabric.
	 */
	void (*copied)(void *arg, const struct wf_packet *pkt);
};

/* Nothing happens before this time; WF_TIME_NEVER: not until somebody does something. */
wf_time wf_gated_next(const struct wf_sim *sim);

/*
 * Runs everything before until, or until the gates' go_on() says no: see wf_sim_now(). Returns 0 or
 * -ENOMEM.
 */
int wf_gated_run(struct wf_sim *sim, wf_time until) WF_MUST_USE;

/* Host may have something to send from at on, or from now on if that is over. */
void wf_gated_wake(struct wf_sim *sim, uint32_t host, wf_time at);

/* The adapter of host lets nobody send to it, from now on; on or off. */
void wf_gated_storm(struct wf_sim *sim, uint32_t host, bool on);

/* What changes in a fabric that runs. */
struct wf_gated_change {
	/*
	 * Devices may be set to more configurations than before, which stand behind those that
	 * there were; borrowed for the life of the simulation. NULL: to no others.
	 */
	const struct wf_devices *devices;
	/* What happens from now on, in any order. */
	const struct wf_sim_fault *faults;
	size_t n;
	/* It has all that devices will be set to, and replaces what was planned of that before. */
	bool settings;
};

/* Returns 0, -ENOMEM, or -EINVAL with err filled, and then nothing has changed. */
int wf_gated_change(struct wf_sim *sim, const struct wf_gated_change *change,
                    struct wf_err *err) WF_MUST_USE;

/* Nothing is wrong with a link, or with a host's adapter, nor will be. Returns 0 or -ENOMEM. */
int wf_gated_mend_link(struct wf_sim *sim, uint32_t link) WF_MUST_USE;
void wf_gated_mend_host(struct wf_sim *sim, uint32_t host);

/*
 * All is well again: nothing that was planned happens, links and adapters work, and devices are set
 * to what they were at the start (devices; NULL: all to the fabric's own). Returns 0 or -ENOMEM.
 */
int wf_gated_clear(struct wf_sim *sim, const struct wf_devices *devices) WF_MUST_USE;

/* How often a link went down or up, or an adapter began or ceased to pause: grows. */
uint32_t wf_gated_changes(const struct wf_sim *sim);

/* Whether a link is down, or a host's adapter pauses, for whatever reason. */
bool wf_gated_is_down(const struct wf_sim *sim, uint32_t link);
bool wf_gated_storms(const struct wf_sim *sim, uint32_t host);

/* What is wrong with a link, in both directions. */
struct wf_gated_fault {
	bool down;
	uint64_t loss;    /* units of 2^-32, besides what the topology says */
	uint64_t corrupt; /* units of 2^-32: packets that come with WF_PACKET_BAD */
	wf_time delay;    /* besides its own */
};

/*
 * A link changes now. Routes follow later, as configured. Returns 0, -ERANGE (delay: more than
 * wf_gated_delay_max()) or -ENOMEM.
 */
int wf_gated_set_link(struct wf_sim *sim, uint32_t link,
                      const struct wf_gated_fault *fault) WF_MUST_USE;
void wf_gated_fault(const struct wf_sim *sim, uint32_t link, struct wf_gated_fault *fault_p);
wf_time wf_gated_delay_max(const struct wf_sim *sim);

/* How queue pairs are to be set up there, with cc: as wf_conn_tune() does it. */
int wf_gated_tune(const struct wf_sim *sim, const struct wf_cc_choice *cc, struct wf_qp_tune *tune,
                  struct wf_err *err) WF_MUST_USE;

#endif
