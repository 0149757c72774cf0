/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_priv.h - the inside of communication management: cm.c is what users call, cm_rx.c what comes
 * in.
 */
#ifndef WF_MGMT_CM_PRIV_H
#define WF_MGMT_CM_PRIV_H

#include <assert.h>

#include "mgmt/cm.h"

#define WF_CM_INDEX_BITS                                                                           \
	16 /* of a communication ID; between them and WF_CM_ID_SHIFT: a turn count */
#define WF_CM_BUCKETS 1024
#define WF_CM_SERVICE_TIMEOUT 24 /* of the MRAs that we send: a minute */

struct wf_cm_conn {
	struct wf_cm *cm;
	struct wf_cm_conn *next; /* in its bucket, by host and remote ID */
	struct wf_cm_info info;
	void *user;
	bool released; /* nobody hears of it any more */
	bool known;    /* remote_id is known, and it is in its bucket */
	uint32_t aim;  /* REQ_SENT: the upper bits of IDs of the program it went to; 0: not known */
	wf_time at;    /* of its timer */
	wf_time timeout;
	unsigned tries, max_tries;
	uint8_t msg[WF_MAD_LEN]; /* what is sent again */
};

struct wf_cm_listener {
	struct wf_cm_listener *next;
	uint64_t service;
	void *user;
};

struct wf_cm_out {
	struct wf_cm_out *next;
	uint32_t host;
	uint8_t mad[WF_MAD_LEN];
};

struct wf_cm {
	struct wf_mem *mem;
	struct wf_cm_cfg cfg;
	struct wf_cm_conn **conns; /* by the lower bits of their IDs */
	uint32_t max;              /* a power of two */
	uint32_t n;
	uint32_t cursor; /* goes round, and counts the turns */
	struct wf_cm_conn *bucket[WF_CM_BUCKETS];
	struct wf_cm_listener *listeners;
	struct wf_cm_out *out, **out_tail;
	wf_time deadline; /* no timer is due before */
};

/* 4.096 us * 2^exponent. */
static inline wf_time wf_cm_time(uint8_t exponent)
{
	return (4096 * WF_NS) << (exponent & 31);
}

/* What holds of a connection between messages, calls and timers. */
static inline void wf_cm_assert(const struct wf_cm_conn *conn)
{
	(void)conn;
	assert(conn->info.state < WF_CM_STATES);
	assert(conn->cm->conns[conn->info.local_id & (conn->cm->max - 1)] == conn);
	assert(conn->tries <= conn->max_tries);
	assert(conn->info.state != WF_CM_CLOSED || conn->at == WF_TIME_NEVER);
	assert(conn->info.state != WF_CM_TIMEWAIT || conn->at != WF_TIME_NEVER);
	assert(conn->info.state != WF_CM_ESTABLISHED || conn->known);
	assert(conn->info.state != WF_CM_REQ_SENT || !conn->info.passive);
	assert(conn->info.state != WF_CM_REQ_RCVD || (conn->info.passive && conn->known));
}

/* A new connection in that state; NULL: no memory. */
struct wf_cm_conn *wf_cm_conn_create(struct wf_cm *cm, uint32_t host, enum wf_cm_state state);
void wf_cm_conn_free(struct wf_cm_conn *conn);

/* The peer's name for it is known now. */
void wf_cm_conn_know(struct wf_cm_conn *conn, uint32_t remote_id);
struct wf_cm_conn *wf_cm_find(const struct wf_cm *cm, uint32_t local_id);
struct wf_cm_conn *wf_cm_find_remote(const struct wf_cm *cm, uint32_t host, uint32_t remote_id);
struct wf_cm_listener *wf_cm_find_listener(const struct wf_cm *cm, uint64_t service);

/* Sends a message once; one that there is no memory for is lost. */
void wf_cm_post(struct wf_cm *cm, uint32_t host, const uint8_t *mad);
/* Sends conn->msg until it is answered. */
void wf_cm_send(struct wf_cm_conn *conn, wf_time timeout, unsigned retries, wf_time now);
void wf_cm_set_timer(struct wf_cm_conn *conn, wf_time at);

/* A REJ for a message that came; conn may be NULL. */
void wf_cm_send_rej(struct wf_cm *cm, uint32_t host, uint32_t local_id, uint32_t remote_id,
                    enum wf_cm_about about, uint16_t reason, const void *data, unsigned length);
/* RTU or DREP. */
void wf_cm_send_pair(struct wf_cm_conn *conn, uint16_t attr_id);
void wf_cm_send_dreq(struct wf_cm_conn *conn, wf_time now);
void wf_cm_timewait(struct wf_cm_conn *conn, wf_time now);

/* Tells the user. conn is gone afterwards when it was released and is closed. */
int wf_cm_tell(struct wf_cm_conn *conn, enum wf_cm_event_type type, int status, const uint8_t *mad);

#endif
