/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sack_priv.h - what is kept of packets in flight (sack.c), and where the memory for it comes from
 * (room.c); for src/rdma only.
 */
#ifndef WF_RDMA_SACK_PRIV_H
#define WF_RDMA_SACK_PRIV_H

#include "rdma/hca_priv.h"

/* What is known of a packet that was sent and is not acknowledged; all zero: nothing. */
struct wf_sent {
	wf_time at;     /* when it was sent last; WF_TIME_NEVER: unclear which copy came (doubt) */
	uint16_t bytes; /* of payload */
	uint8_t flags;  /* WF_SENT_* */
};

#define WF_SENT_OUT 0x01   /* in flight */
#define WF_SENT_GOT 0x02   /* reported received, or answered */
#define WF_SENT_LOST 0x04  /* to be sent again */
#define WF_SENT_AGAIN 0x08 /* sent more than once */
#define WF_SENT_TELL 0x10  /* of a READ's response: it came, and its sender is to be told */
#define WF_SENT_CUT 0x20   /* the same: it came trimmed */

/* Packets that were sent and are not acknowledged (sack.c); of go-back-N the ring is not used. */
struct wf_flight {
	uint64_t inflight; /* payload bytes sent, not acknowledged and not lost */
	uint32_t n_lost;
	uint32_t untold;      /* how many have WF_SENT_TELL or WF_SENT_CUT */
	struct wf_sent *ring; /* in place psn & mask; NULL: none yet */
	wf_time newest_at;    /* when the packet acknowledged last was sent */
	uint32_t mask;
	uint32_t una, next;
	uint32_t high;  /* one past the highest PSN reported received */
	uint32_t mark;  /* gaps before it are known */
	uint32_t doubt; /* before it, an answer may be to either of two copies: a timeout */
	uint32_t rtx;   /* none before it is lost */
	uint32_t tell;  /* none before it is untold */
};

/* room.c */

/*
 * n places of a kind, a power of two from WF_ROOM_LEAST to WF_ROOM_MOST; those of WF_ROOM_SENT are
 * zero. NULL: there is no memory.
 */
void *wf_room_get(struct wf_hca *hca, enum wf_room room, uint32_t n);

/* Gives them back; those of WF_ROOM_SENT are zero. NULL is allowed. */
void wf_room_put(struct wf_hca *hca, enum wf_room room, void *block, uint32_t n);

/* Frees all that was given back. */
void wf_room_fini(struct wf_hca *hca);

/* sack.c: selective repeat; psn is in [una, next) */

/* Begins anew: nothing is in flight, and psn is the first to be sent. */
void wf_sack_start(struct wf_flight *f, uint32_t psn);

/* Makes room to note psn. Returns false when it is too far from una, or memory is short. */
bool wf_sack_reach(struct wf_hca *hca, struct wf_flight *f, uint32_t psn);

/* Gives the room back when nothing is in flight. */
void wf_sack_rest(struct wf_hca *hca, struct wf_flight *f);

/* Forgets all, and gives the room back. */
void wf_sack_clear(struct wf_hca *hca, struct wf_flight *f);

/* Whether the packet was reported received, or answered. */
bool wf_sack_received(const struct wf_flight *f, uint32_t psn);

/* Whether it was sent and nothing more is known of it. */
bool wf_sack_is_out(const struct wf_flight *f, uint32_t psn);

/* Whether it was sent more than once. */
bool wf_sack_was_repeated(const struct wf_flight *f, uint32_t psn);

/*
 * It was sent, for the first time or again, with that much payload; wf_sack_reach() has made room.
 */
void wf_sack_sent(struct wf_flight *f, uint32_t psn, uint32_t bytes, bool again, wf_time now);

/* It was received. Returns the payload bytes that were not known to be. */
uint32_t wf_sack_take(struct wf_flight *f, uint32_t psn);

/* The packet at una was received, and una moves past it. Returns as wf_sack_take(). */
uint32_t wf_sack_pass(struct wf_flight *f);

/* It was not received after all. */
void wf_sack_forget(struct wf_flight *f, uint32_t psn);

/* It is lost, unless it was received. Returns whether that is news. */
bool wf_sack_lose(struct wf_flight *f, uint32_t psn);

/* Those from from to last, as far as the room reaches, are not to be sent again. */
void wf_sack_unlose(struct wf_flight *f, uint32_t from, uint32_t last);

/* They are not in flight any more, and not lost: whoever sends them again says so. */
void wf_sack_recall(struct wf_flight *f, uint32_t from, uint32_t last);

/* How it came is to be told: flag is WF_SENT_TELL or WF_SENT_CUT; wf_sack_reach() has made room. */
void wf_sack_note(struct wf_flight *f, uint32_t psn, uint8_t flag);

/* The next one to be told, and how it came. Returns false: there is none. */
bool wf_sack_told(struct wf_flight *f, uint32_t *psn_p, uint8_t *flag_p);

/* The first packet that is lost. Returns false: none is. */
bool wf_sack_next(struct wf_flight *f, uint32_t *psn_p);

#endif
