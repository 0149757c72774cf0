/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - hosts of a managed fabric in multicast groups, for programs that join by rdma_cm.
 *
 * What a kernel does for them is done here: a host is in a group once, however many of its programs
 * are. The subnet administration that is there, weft's or another, is asked over the host's queue
 * pair 1 (umad.h), with Linux's timeouts:
 *
 *	        first program                broadcast group        in
 *	 OUT ------------------> ASKS ----------------> JOINS ------------> IN <--- others are told
 *	  ^                        | no                   | no               |
 *	  |<-----------------------+----------------------+                  | the last has left
 *	  +-------------------------------------------------- LEAVES <-------+
 *
 * A group is like the broadcast group of its partition, as rdma_cm makes it. Where the port gets
 * another manager, which knows of no members, the host joins again, as IPoIB does.
 */
#ifndef WF_LIVE_JOIN_H
#define WF_LIVE_JOIN_H

#include "live/daemon_priv.h"

/*
 * A program wants its host in a group, or no more; an event says what came of a join. Returns 0 or
 * -errno: -ENODEV: nobody manages this fabric.
 */
int wf_join_begin(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req);
int wf_join_end(struct wf_daemon *d, struct wf_dclient *c, uint32_t cookie);

/* A program ends: it leaves all groups. */
void wf_join_forget(struct wf_daemon *d, const struct wf_dclient *c);

/* What management has set of a host's port is not as it was: WF_LIVE_PORT_*. */
void wf_join_port(struct wf_daemon *d, uint32_t host, uint32_t what);

/* With the daemon, before wf_umad_close(). */
void wf_join_close(struct wf_daemon *d);

#endif
