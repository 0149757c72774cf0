/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - hosts of the fabric at real network addresses: RoCE v2 over ordinary UDP sockets.
 *
 * The daemon owns the sockets. A program whose queue pairs talk to addresses outside of the fabric
 * has one link to the daemon for all of them, made when it asks for it or when the first packet
 * comes for it. Where packets in it have numbers of hosts within the fabric:
 *
 *	out  dst   WF_LIVE_REMOTE | number of the address, or the number of a multicast group
 *	     src   the traffic class
 *	in   src   WF_LIVE_REMOTE | number of the address
 *	     dst   what the IP header said (wf_live_ip_info()), or the number of a multicast group
 *
 * Packets that come in are for the program whose slot the destination queue pair's number has;
 * messages for queue pair 1 for the one that their communication ID names, or that listens for
 * their service. What finds no room in a program's ring waits in the daemon, and where much does,
 * in the sockets' buffers: they are not read then. A program that takes in nothing for a while
 * loses what comes, so that the others of its host go on.
 *
 * The ICRC covers the IPv4 header's identification. The sockets that send are not connected and set
 * Don't Fragment, so that the kernel puts 0 there; what others put is not known to the socket that
 * receives (wire/icrc_id.h). Source ports are of the range that RoCE v2 uses, a socket for each of
 * a few.
 */
#ifndef WF_LIVE_WIRE_H
#define WF_LIVE_WIRE_H

#include "live/daemon_priv.h"

/* Binds the hosts that cfg has addresses for. Returns 0 or -errno; wf_wire_close() in any case. */
int wf_wire_open(struct wf_daemon *d, const struct wf_daemon_cfg *cfg) WF_MUST_USE;
void wf_wire_close(struct wf_daemon *d);

/*
 * Makes the link between client c and the wire. Returns 0 or -errno; -EALREADY: it has been told of
 * one.
 */
int wf_wire_connect(struct wf_daemon *d, struct wf_dclient *c, struct wf_live_reply *reply,
                    int fds[WF_LIVE_MAX_FDS]) WF_MUST_USE;

/* WF_LIVE_REMOTE_NUMBER and _GID. Returns 0 or -errno. */
int wf_wire_remote_of(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req,
                      struct wf_live_reply *reply) WF_MUST_USE;

/*
 * A client ends. Where it was on the wire, what it had sent still goes out, and its connections are
 * ended.
 */
void wf_wire_leave(struct wf_daemon *d, struct wf_dclient *c);

/* Who is in a multicast group has changed. */
void wf_wire_groups(struct wf_daemon *d);

/* Moves packets both ways. */
void wf_wire_serve(struct wf_daemon *d);

/* Before the daemon waits: how many milliseconds at most, -1: for ever. */
int wf_wire_rest(struct wf_daemon *d);

/* Adds what the system counted for a host. */
void wf_wire_counts(const struct wf_daemon *d, uint32_t host, uint64_t count[WF_LIVE_COUNTS]);

#endif
