/* SPDX-License-Identifier: Apache-2.0 */
/*
 * umad.h - management programs on the hosts of a modelled fabric whose devices answer management
 * packets (sim/mgmt): OpenSM, ibnetdiscover, perfquery.
 *
 * What a kernel does for them is done here. A host has one mux (mgmt/mux.h) with the agents of all
 * of its programs, so two of them cannot want the same requests, and an answer finds who has asked.
 * A file that a program has open is a client of the daemon (umad_proto.h):
 *
 *	program --ask--> file --> mux of the host --> the host's port, queue pairs 0 and 1
 *	program <-parts- file <-- mux             <-- the fabric: what no agent of weft's takes
 *
 * A program that ends takes its agents with it, and what they wait for. All that it may hold here
 * is bounded: what it sends and has not been answered, and what has come and it does not read.
 *
 * MADs leave when the model stands, as many as the port has room for; the others wait in the mux.
 * Timeouts are of the model's clock, which falls behind where the machine is too busy for it; with
 * pace none, of the system's.
 */
#ifndef WF_LIVE_UMAD_H
#define WF_LIVE_UMAD_H

#include "live/daemon_priv.h"

/* With a model that is managed: programs may come from now on. Returns 0 or -ENOMEM. */
int wf_umad_start(struct wf_daemon *d) WF_MUST_USE;

/* A program opens one on a host. Returns 0 or -errno: -ENODEV: nobody manages this fabric. */
int wf_umad_open(struct wf_daemon *d, struct wf_dclient *c, uint32_t host,
                 struct wf_live_reply *reply, int fds[WF_LIVE_MAX_FDS]) WF_MUST_USE;

/* A program is to be the manager of a host, whose port then has IsSM set. Returns the same. */
int wf_umad_open_issm(struct wf_daemon *d, struct wf_dclient *c, uint32_t host, bool waits,
                      struct wf_live_reply *reply) WF_MUST_USE;

/* A client ends, whatever it was. */
void wf_umad_leave(struct wf_daemon *d, struct wf_dclient *c);

/* In each turn, when the model has run: what is due is done, and what waits is sent. */
void wf_umad_serve(struct wf_daemon *d);

/* Before the daemon waits: the model's time when there is something to do; WF_TIME_NEVER. */
wf_time wf_umad_next(const struct wf_daemon *d);

/* With the daemon, when no client is left. */
void wf_umad_close(struct wf_daemon *d);

#endif
