/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm.h - communication management: how two queue pairs find each other (IBTA vol. 1, chapter 12).
 *
 *   MAD    wf_cm_rx()        ->  +-------+  ->  wf_cm_tx()         MAD
 *   time   wf_cm_tick()      ->  | wf_cm |  ->  wf_cm_deadline()   time
 *   calls  wf_cm_connect()   ->  +-------+  ->  wf_cm_event_fn     what happened
 *
 * One for all connections of a program. Without I/O: messages and the time come in, messages and
 * the time of the next tick go out; the driver carries them to queue pair 1 of a host and back.
 * They may be lost on the way: REQ, REP, DREQ and SIDR_REQ are sent again until they are answered
 * or were sent often enough.
 *
 *   active                                        passive
 *     connect --REQ-->                              [REQ event]
 *   REQ_SENT          <--MRA, when it takes long--  REQ_RCVD
 *     [REP event]     <--REP--                        accept
 *   REP_RCVD                                        REP_SENT
 *     establish --RTU-->                              [ESTABLISHED event]
 *   ESTABLISHED                                     ESTABLISHED
 *     disconnect --DREQ-->                            [DISCONNECTED event]
 *   DREQ_SENT                                       DREQ_RCVD
 *     [DISCONNECTED]  <--DREP--                       disconnect
 *   TIMEWAIT [TIMEWAIT_EXIT]                        TIMEWAIT [TIMEWAIT_EXIT]
 *
 *   either one before ESTABLISHED: reject --REJ--> [REJECTED event]
 *   no answer: [UNREACHABLE event]
 *   datagrams: SIDR_SENT --SIDR_REQ--> SIDR_RCVD [SIDR_REQ event] --SIDR_REP--> [SIDR_REP event]
 *
 * A connection lives from wf_cm_connect() or a REQ or SIDR_REQ event to wf_cm_release(), which says
 * to the peer what has to be said.
 */
#ifndef WF_MGMT_CM_H
#define WF_MGMT_CM_H

#include "base/base.h"
#include "base/mem.h"
#include "wire/cm.h"

struct wf_cm;
struct wf_cm_conn;

enum wf_cm_state {
	WF_CM_REQ_SENT,
	WF_CM_REQ_RCVD,
	WF_CM_REP_SENT,
	WF_CM_REP_RCVD,
	WF_CM_ESTABLISHED,
	WF_CM_DREQ_SENT,
	WF_CM_DREQ_RCVD,
	WF_CM_TIMEWAIT,
	WF_CM_SIDR_SENT,
	WF_CM_SIDR_RCVD,
	WF_CM_CLOSED, /* nothing more happens to it */
	WF_CM_STATES
};

enum wf_cm_event_type {
	WF_CM_EV_REQ,
	WF_CM_EV_REP,
	WF_CM_EV_ESTABLISHED,
	WF_CM_EV_REJECTED,     /* status: enum wf_cm_reason */
	WF_CM_EV_UNREACHABLE,  /* nobody answered */
	WF_CM_EV_DISCONNECTED, /* status: -ETIMEDOUT when our DREQ was not answered */
	WF_CM_EV_TIMEWAIT_EXIT,
	WF_CM_EV_SIDR_REQ,
	WF_CM_EV_SIDR_REP, /* status: enum wf_cm_sidr_status */
};

struct wf_cm_event {
	enum wf_cm_event_type type;
	struct wf_cm_conn *conn; /* REQ, SIDR_REQ: the new one */
	void *user;              /* the connection's; REQ, SIDR_REQ: the listener's */
	int status;
	uint32_t qpn, qkey;  /* SIDR_REP */
	const uint8_t *data; /* private data, borrowed; NULL: none came */
	unsigned length;
};

/*
 * Told within wf_cm_rx() and wf_cm_tick(). It may set the connection's user, and calls nothing else
 * here. REQ and SIDR_REQ: returns 0 when it wants the connection; otherwise it is rejected, and
 * gone.
 */
typedef int wf_cm_event_fn(void *arg, const struct wf_cm_event *event);

struct wf_cm_cfg {
	uint64_t ca_guid;
	uint32_t id_base; /* the upper WF_CM_ID_SHIFT.. bits of all its communication IDs */
	wf_cm_event_fn *event;
	void *arg;
};

#define WF_CM_ID_SHIFT 22 /* so many bits of a communication ID are wf_cm's own */

/* What queue pairs need to know of a connection. */
struct wf_cm_info {
	enum wf_cm_state state;
	bool passive;
	uint32_t host;
	uint32_t local_id, remote_id;
	uint32_t local_qpn, remote_qpn;
	uint32_t local_psn;          /* with which the remote side begins */
	uint32_t remote_psn;         /* with which this side begins */
	uint8_t responder_resources; /* of this side */
	uint8_t initiator_depth;
	uint8_t retry_count, rnr_retry;
	bool flow_control, srq;
	uint64_t service;
	struct wf_cm_req req; /* as it was sent or came */
};

int wf_cm_create(const struct wf_cm_cfg *cfg, struct wf_mem *mem, struct wf_cm **cm_p) WF_MUST_USE;

/* Frees it and all connections, without a word to their peers. NULL is allowed. */
void wf_cm_destroy(struct wf_cm *cm);

/* REQs and SIDR_REQs for a service are for user from now on. Returns 0, -EADDRINUSE or -ENOMEM. */
int wf_cm_listen(struct wf_cm *cm, uint64_t service, void *user) WF_MUST_USE;
void wf_cm_unlisten(struct wf_cm *cm, uint64_t service);

/*
 * Sends a REQ to host: *req without local_id and ca_guid, which are set. Private data that is
 * shorter than its place is filled up with zeros. Returns 0, -EINVAL (too much private data) or
 * -ENOMEM.
 */
int wf_cm_connect(struct wf_cm *cm, uint32_t host, const struct wf_cm_req *req, const void *data,
                  unsigned length, void *user, wf_time now, struct wf_cm_conn **conn_p) WF_MUST_USE;

/* Sends a SIDR_REQ, again every timeout at most max_tries times. */
int wf_cm_resolve(struct wf_cm *cm, uint32_t host, uint64_t service, uint16_t pkey,
                  const void *data, unsigned length, void *user, wf_time now,
                  struct wf_cm_conn **conn_p) WF_MUST_USE;

/* REQ_RCVD: sends a REP; of *rep all but the IDs and ca_guid. Returns 0 or -EINVAL. */
int wf_cm_accept(struct wf_cm_conn *conn, const struct wf_cm_rep *rep, const void *data,
                 unsigned length, wf_time now) WF_MUST_USE;

/* REP_RCVD: sends the RTU. REP_SENT: the queue pair has received something, so the RTU was lost. */
int wf_cm_establish(struct wf_cm_conn *conn) WF_MUST_USE;

/* Sends a REJ. Returns 0 or -EINVAL (the state). */
int wf_cm_reject(struct wf_cm_conn *conn, uint16_t reason, const void *data,
                 unsigned length) WF_MUST_USE;

/* SIDR_RCVD: answers. Returns 0 or -EINVAL. */
int wf_cm_resolved(struct wf_cm_conn *conn, enum wf_cm_sidr_status status, uint32_t qpn,
                   uint32_t qkey, const void *data, unsigned length) WF_MUST_USE;

/* ESTABLISHED (or nearly): sends a DREQ; DREQ_RCVD: sends the DREP. Returns 0 or -EINVAL. */
int wf_cm_disconnect(struct wf_cm_conn *conn, wf_time now) WF_MUST_USE;

/* The user forgets it; the peer is told what its state demands. */
void wf_cm_release(struct wf_cm_conn *conn, wf_time now);

void wf_cm_set_user(struct wf_cm_conn *conn, void *user);
const struct wf_cm_info *wf_cm_info(const struct wf_cm_conn *conn);
/* For the driver: what the passive side will offer, once it knows. */
void wf_cm_set_local(struct wf_cm_conn *conn, uint32_t psn);

/*
 * A MAD of WF_MAD_LEN bytes came from host. What is no CM message, or makes no sense, is dropped.
 */
void wf_cm_rx(struct wf_cm *cm, uint32_t host, const uint8_t *mad, wf_time now);

/* The next MAD to send. Returns false when there is none. */
bool wf_cm_tx(struct wf_cm *cm, uint32_t *host_p, uint8_t mad[WF_MAD_LEN]) WF_MUST_USE;

/* Whether wf_cm_tx() has one. */
bool wf_cm_has_tx(const struct wf_cm *cm);

wf_time wf_cm_deadline(const struct wf_cm *cm);
void wf_cm_tick(struct wf_cm *cm, wf_time now);

/*
 * The REQ or SIDR_REQ in mad, which wf_cm_tx() gave, goes to the program whose communication IDs
 * have these upper bits.
 */
void wf_cm_aim(struct wf_cm *cm, const uint8_t *mad, uint32_t id_base);

/* Whether a REQ or SIDR_REQ that wf_cm_tx() gave is still to be answered. */
bool wf_cm_is_waiting(const struct wf_cm *cm, const uint8_t *mad);

/*
 * The operating system of a host would end the connections of a program that died. Does as if it
 * had: those with host whose remote communication ID has these upper bits, or would have, are
 * disconnected or rejected. Nobody would answer for its datagrams: they are unreachable.
 */
void wf_cm_gone(struct wf_cm *cm, uint32_t host, uint32_t id_base, wf_time now);

/*
 * For who has to end the connections of a program that died: a connection as *info tells of it,
 * whose local_id has the cm's upper bits or is 0, for any. It has no user, and wf_cm_release() is
 * what is to be done with it. Returns 0, -EINVAL (the ID), -EEXIST or -ENOMEM.
 */
int wf_cm_adopt(struct wf_cm *cm, const struct wf_cm_info *info,
                struct wf_cm_conn **conn_p) WF_MUST_USE;

/*
 * How many connections there are, those that were released and still have something to say
 * included.
 */
uint32_t wf_cm_count(const struct wf_cm *cm);

/*
 * Nobody can be reached any more: connections are disconnected, those that are being made
 * unreachable.
 */
void wf_cm_fail(struct wf_cm *cm, wf_time now);

/*
 * The answer to a REQ or SIDR_REQ where nobody listens: writes it to answer. Returns false when mad
 * is something else.
 */
bool wf_cm_refuse(const uint8_t *mad, uint8_t answer[WF_MAD_LEN]);

#endif
