/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rc.h - flows as messages on reliable connected queue pairs.
 *
 * Each flow has a queue pair at both ends, connected before the run begins. Its requester (the
 * source for WRITE and SEND, the destination for READ) posts the flow's bytes as one message, or
 * several where they exceed what a message may have, and the flow is over when the last completes.
 * Contents do not matter: keys, bounds and order are checked, no bytes are moved.
 */
#ifndef WF_SIM_PROG_RC_H
#define WF_SIM_PROG_RC_H

#include "sim/prog/app.h"
#include "sim/prog/cc_choice.h"
#include "sim/traffic/traffic.h"

struct wf_rc;

/*
 * Plans n flows; those over TCP are left out. flows is copied; cc (NULL: none) is borrowed.
 * Returns 0, -ENOMEM, or -EINVAL with err filled (an MTU that the transport does not have).
 */
int wf_rc_create(const struct wf_fabric *fabric, const struct wf_cc_choice *cc,
                 const struct wf_flow_spec *flows, size_t n, struct wf_rc **rc_p,
                 struct wf_err *err) WF_MUST_USE;

/*
 * The flows as an application: creates and connects the queue pairs and sets the adapters'
 * programs. rc must outlive the simulation's run.
 */
void wf_rc_app(struct wf_rc *rc, struct wf_sim_app *app);

/* When flow i started: as planned, or, of a turn, when it was its turn. */
wf_time wf_rc_flow_start(const struct wf_rc *rc, size_t i);

/* When flow i ended; WF_TIME_NEVER: it has not, or failed. */
wf_time wf_rc_flow_end(const struct wf_rc *rc, size_t i);

struct wf_sim_flow_state;

/* How far flow i has come: wf_sim_flow_state(). mtu: bytes of a whole packet. */
void wf_rc_flow_state(const struct wf_rc *rc, size_t i, uint64_t mtu,
                      struct wf_sim_flow_state *state);

/* Frees everything but the adapters. NULL is allowed. */
void wf_rc_destroy(struct wf_rc *rc);

#endif
