/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - a host of the fabric at a real network address: RoCE v2 over an ordinary UDP socket.
 *
 * The daemon owns the sockets. A program whose queue pairs talk to addresses outside of the fabric gets one
 * link to the daemon for all of them; a packet in it has the other's IPv4 address where hosts of the fabric
 * have their number: in dst going out, in src coming in. Packets that come in are for the program whose slot
 * the destination queue pair's number has.
 *
 * The ICRC covers the IP header's identification. The sockets that send are not connected and set Don't
 * Fragment, so that the kernel puts 0 there; what others put is not known to the socket that receives
 * (wire/icrc_id.h). Source ports are of the range that RoCE v2 uses, a socket for each of a few.
 */
#ifndef WF_LIVE_WIRE_H
#define WF_LIVE_WIRE_H

#include "live/daemon_priv.h"

/* Binds the hosts that cfg has addresses for. Returns 0 or -errno; wf_wire_close() in any case. */
int wf_wire_open(struct wf_daemon *d, const struct wf_daemon_cfg *cfg) WF_MUST_USE;
void wf_wire_close(struct wf_daemon *d);

/* Makes the link between client c and the wire. Returns 0 or -errno. */
int wf_wire_connect(struct wf_daemon *d, struct wf_dclient *c, struct wf_live_reply *reply,
                    int fds[WF_LIVE_MAX_FDS]) WF_MUST_USE;

/* A client that is on the wire ends: what it had sent still goes out. */
void wf_wire_leave(struct wf_daemon *d, struct wf_dclient *c);

/* Whether what, from epoll, is one of the wire's descriptors. */
bool wf_wire_owns(const struct wf_daemon *d, const void *what);

/* Moves packets both ways. */
void wf_wire_serve(struct wf_daemon *d);

/* Before the daemon waits: how many milliseconds at most, -1: for ever. */
int wf_wire_rest(struct wf_daemon *d);

#endif
