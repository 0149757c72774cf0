/* SPDX-License-Identifier: Apache-2.0 */
/* mux_priv.h - sends and transfers, and what the two files of the mux know of one another. */
#ifndef WF_MGMT_MUX_PRIV_H
#define WF_MGMT_MUX_PRIV_H

#include "mgmt/mux.h"

#define WF_MUX_HASH 64
#define WF_MUX_WINDOW 64 /* segments; a bit of wf_mux_recv's map each */

/* RMPP's type and flags (13.6.2), and reasons to give up. */
enum wf_rmpp_type {
	WF_RMPP_DATA = 1,
	WF_RMPP_ACK = 2,
	WF_RMPP_STOP = 3,
	WF_RMPP_ABORT = 4,
};

#define WF_RMPP_ACTIVE 1
#define WF_RMPP_FIRST 2
#define WF_RMPP_LAST 4
#define WF_RMPP_VERSION 1
#define WF_RMPP_NO_TIME 31 /* no RRespTime */

enum wf_rmpp_status {
	WF_RMPP_RESOURCES = 1, /* with STOP */
	WF_RMPP_TOO_LONG = 118,
	WF_RMPP_BAD_LENGTH = 119,
	WF_RMPP_BAD_FIRST = 120,
	WF_RMPP_BAD_TYPE = 121,
	WF_RMPP_WINDOW_TOO_SMALL = 122,
	WF_RMPP_SEGMENT_TOO_BIG = 123,
	WF_RMPP_BAD_STATUS = 124,
	WF_RMPP_BAD_VERSION = 125,
	WF_RMPP_TOO_MANY_RETRIES = 126,
};

/* A member of a list that knows its neighbours; alone it points to itself. */
struct wf_mux_link {
	struct wf_mux_link *next, *prev;
};

static inline void wf_mux_link_init(struct wf_mux_link *link)
{
	link->next = link->prev = link;
}

static inline bool wf_mux_link_alone(const struct wf_mux_link *link)
{
	return link->next == link;
}

static inline void wf_mux_link_del(struct wf_mux_link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	wf_mux_link_init(link);
}

/* Before at: at the end of a list whose head at is. */
static inline void wf_mux_link_add(struct wf_mux_link *at, struct wf_mux_link *link)
{
	link->prev = at->prev;
	link->next = at;
	at->prev->next = link;
	at->prev = link;
}

struct wf_mux_timer {
	struct wf_mux_link link; /* of the mux's, in the order of their times */
	wf_time at;
	void (*expired)(struct wf_mux *mux, struct wf_mux_timer *timer, wf_time now);
};

/* Something that an agent has sent. It waits to go out (ready), for an answer or ACK (timer). */
struct wf_mux_send {
	struct wf_mux_link agent_link, hash_link, ready;
	struct wf_mux_timer timer;
	struct wf_mux_agent *agent;
	struct wf_mux_addr addr;
	void *context;
	uint64_t tid;
	bool is_response, rmpp;
	uint8_t mgmt_class;
	unsigned retries, retries_left;
	wf_time timeout; /* 0: no answer is expected */
	/* RMPP: segments sent, acknowledged, allowed, and in all */
	uint32_t seg, acked, window, segments;
	size_t length;
	uint8_t data[];
};

/* Something that comes in segments, or has come and may be asked about again. */
struct wf_mux_recv {
	struct wf_mux_link agent_link;
	struct wf_mux_timer timer;
	struct wf_mux_agent *agent;
	struct wf_mux_addr addr;
	uint64_t tid;
	uint8_t mgmt_class, method;
	bool complete;
	/* all to seg are there, to acked was said so; last is 0 as long as nobody knows */
	uint32_t seg, acked, window, last;
	uint32_t last_length; /* payload length of the last one */
	uint64_t map;         /* of those behind: bit i is segment seg + 1 + i */
	uint8_t *data;        /* the first header, then all data; size bytes of room */
	size_t size;
	uint8_t header[WF_MAD_LEN]; /* of the segment that came last: ACKs are made of it */
};

/* A MAD without a story: an ACK, an answer of the mux's own. */
struct wf_mux_control {
	struct wf_mux_link ready;
	struct wf_mux_packet packet;
};

struct wf_mux_agent {
	struct wf_mux_link link;
	struct wf_mux *mux;
	struct wf_mux_agent_cfg cfg;
	uint32_t hi_tid;
	size_t used; /* of cfg.room */
	struct wf_mux_link sends, recvs;
};

struct wf_mux {
	struct wf_mem *mem;
	uint32_t last_hi_tid;
	struct wf_mux_link agents, timers;
	struct wf_mux_link ready[2], controls[2]; /* by queue pair */
	struct wf_mux_link hash[WF_MUX_HASH];     /* sends, by transaction ID */
};

void wf_mux_timer_set(struct wf_mux *mux, struct wf_mux_timer *timer, wf_time at);
void wf_mux_timer_stop(struct wf_mux_timer *timer);

/* Whether an agent may take so much more, which is then counted; and gives it back. */
bool wf_mux_take_room(struct wf_mux_agent *agent, size_t size);
void wf_mux_give_room(struct wf_mux_agent *agent, size_t size);

/* Queues a MAD of the mux's own; without memory it is as if it had been lost on the way. */
void wf_mux_control(struct wf_mux *mux, unsigned qp, const struct wf_mux_addr *addr,
                    const uint8_t *mad);

/* A send that waits for what came with this transaction ID, or NULL. */
struct wf_mux_send *wf_mux_find_send(struct wf_mux *mux, const struct wf_mux_agent *agent,
                                     uint64_t tid, uint8_t mgmt_class, bool is_response);

/* A send has ended: its agent is told FAILED when status is not 0, else ENDED; it is freed. */
void wf_mux_send_end(struct wf_mux *mux, struct wf_mux_send *send, int status);
void wf_mux_send_ready(struct wf_mux *mux, struct wf_mux_send *send);

/* Something has come whole: to the agent, and what it answers has ended. */
void wf_mux_deliver(struct wf_mux_agent *agent, const struct wf_mux_addr *addr, const uint8_t *data,
                    size_t length, uint64_t tid, uint8_t mgmt_class, bool is_response);

/* RMPP: begins a send; its next segment; whether the window has one more; how long to wait then. */
void wf_mux_rmpp_begin(struct wf_mux_send *send);
void wf_mux_rmpp_next(struct wf_mux_send *send, uint8_t *mad);
bool wf_mux_rmpp_may_send(const struct wf_mux_send *send);
wf_time wf_mux_rmpp_ack_time(const struct wf_mux_send *send);

/* A MAD with RMPP active came for an agent that has it. */
void wf_mux_rmpp_rx(struct wf_mux_agent *agent, const struct wf_mux_addr *addr, const uint8_t *mad,
                    wf_time now);
void wf_mux_recv_free(struct wf_mux *mux, struct wf_mux_recv *recv);

#endif
