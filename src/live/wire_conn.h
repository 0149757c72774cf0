/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_conn.h - the connections over the wire of a program, as its messages of communication
 * management tell: the daemon carries them, and reads them as they pass. A program that is killed
 * leaves them to it, to be ended as a host's operating system ends them.
 *
 *	the program sends                      the program is sent
 *
 *	REQ   --> REQ_SENT                     REQ   --> REQ_RCVD
 *	REP   REQ_RCVD --> REP_SENT            REP   REQ_SENT --> REP_RCVD
 *	RTU   REP_RCVD --> ESTABLISHED         RTU   REP_SENT --> ESTABLISHED
 *	DREQ  --> DREQ_SENT                    DREQ  --> DREQ_RCVD
 *	REJ, DREP  forgotten                   REJ, DREP  forgotten
 *
 * What the program does not see, because it had no room, is asked again, by either side: a state is
 * then behind for a while, and no message that follows from it is wrong.
 */
#ifndef WF_LIVE_WIRE_CONN_H
#define WF_LIVE_WIRE_CONN_H

#include "mgmt/cm.h"

#define WF_WIRE_CONN_BUCKETS 256
#define WF_WIRE_CONNS_MAX 16384 /* of a program */

struct wf_wire_conn {
	struct wf_wire_conn *next_local, *next_remote;
	struct wf_cm_info info; /* local_id 0: the program has not chosen one */
};

/* All 0: none. A connection is in local once its local ID is known, in remote likewise. */
struct wf_wire_conns {
	uint32_t n, cursor;
	struct wf_wire_conn *local[WF_WIRE_CONN_BUCKETS], *remote[WF_WIRE_CONN_BUCKETS];
};

/* A message of WF_MAD_LEN bytes passes, from the program to a host or from there to it. */
void wf_wire_conns_sent(struct wf_wire_conns *t, uint32_t host, const uint8_t *mad);
void wf_wire_conns_got(struct wf_wire_conns *t, uint32_t host, const uint8_t *mad);

/*
 * The program is gone: cm, which has its upper bits of IDs, ends all of them. None are left in t.
 */
void wf_wire_conns_bury(struct wf_wire_conns *t, struct wf_cm *cm, wf_time now);

void wf_wire_conns_clear(struct wf_wire_conns *t);

#endif
