/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hca.h - one host channel adapter, without I/O.
 *
 *   packet  wf_hca_rx()        ->  +--------+  ->  wf_hca_tx(), wf_hca_tx_time()  packet
 *   time    wf_hca_tick()      ->  | wf_hca |  ->  wf_hca_deadline()              time
 *   work    wf_qp_post_send()  ->  +--------+  ->  wf_cq_poll()                   done
 *                                              ->  wf_hca_next_comp(), _event()   notice
 *
 * The adapter never reads a clock, opens a socket, starts a thread or, but for what it keeps
 * of packets in flight (room.c), allocates on the data path. Its driver does: sim/ feeds it virtual
 * time and packets from modelled ports, live/ feeds it the system's clock and packets from shared
 * memory or a socket. The same calls in the same order with the same times give the same packets.
 *
 * A driver's loop: after any call (post, receive, tick, transmit) ask wf_hca_tx_time() when the
 * port is free and wf_hca_deadline() for the next tick. Neither changes without a call.
 *
 * Threads: none inside. A driver may call from any thread, one at a time per adapter; two adapters
 * share nothing. Time: now never goes backwards between calls on one adapter.
 */
#ifndef WF_RDMA_HCA_H
#define WF_RDMA_HCA_H

#include <stdbool.h>

#include "base/base.h"
#include "base/mem.h"
#include "cc/cc.h"
#include "rdma/counter.h"
#include "rdma/lag.h"
#include "rdma/verbs.h"
#include "wire/ib.h"
#include "wire/packet.h"
#include "wire/transport.h"

#define WF_MSG_MAX (UINT32_C(1) << 30) /* bytes in a message */
#define WF_HCA_PKEYS 128               /* places of a P_Key table, at the most */

struct wf_hca;

/*
 * Writes the global route header of a received UD packet, as the receive buffer will show it.
 * Returns false where the packet had none (InfiniBand within a subnet); the 40 bytes then stay
 * untouched.
 */
typedef bool wf_hca_grh_fn(void *ctx, const struct wf_packet *pkt, uint8_t grh[WF_GRH_LEN]);

/*
 * Where the payload of a packet of a connected queue pair is to be written: pkt->length bytes.
 * Called within wf_hca_tx(), when all but the payload of *pkt is known. Returns NULL for the buffer
 * that wf_hca_tx() was given. It may be called for a packet that is not sent after all.
 */
typedef void *wf_hca_place_fn(void *ctx, const struct wf_packet *pkt);

/* Copies contents, as memmove(). Returns false where the region's memory is not there. */
typedef bool wf_hca_copy_fn(void *to, const void *from, size_t n);

/*
 * A packet of a SEND came to a queue pair of an XRC domain, for a shared receive queue that is not
 * this adapter's: hands it on to the adapter that has that number, which calls wf_xrc_take().
 */
enum wf_forward {
	WF_FORWARD_DONE,
	WF_FORWARD_LATER,  /* there is no way yet, or no room: the sender has to try again */
	WF_FORWARD_NOBODY, /* no adapter has that number, or is in that domain */
};
typedef enum wf_forward wf_hca_forward_fn(void *ctx, struct wf_qp *qp, const struct wf_packet *pkt,
                                          const void *payload);

/*
 * Whether what qp has sent last is still on its way: its receiver cannot have answered yet. Asked
 * when no answer came within timeout; nothing is sent again then, and the retries stay as they are.
 * For drivers whose receivers may not get to run for long, where an adapter would not have to wait
 * for a CPU.
 */
typedef bool wf_hca_underway_fn(void *ctx, const struct wf_qp *qp, wf_time timeout);

/*
 * Called for an echo (struct wf_hca_rx_extra) that is lost: its queue pair was reset or destroyed.
 */
typedef void wf_hca_forget_fn(void *ctx, uint32_t echo);

struct wf_hca_attr {
	uint64_t guid;
	uint64_t line_rate; /* of the port, bits/s, not 0; what pacing cannot exceed */
	uint32_t host;      /* this adapter's host number: struct wf_packet.src */
	/*
	 * InfiniBand's several ports: each has an address of its own, the first the host's number,
	 * the next one so much further. A queue pair is of the port that it was set to, and gets to
	 * another by path migration alone (apm_priv.h); lag is WF_LAG_OWN. 0: all ports are one.
	 */
	uint32_t port_step;
	uint32_t max_qp;        /* 1 to 2^20 */
	uint32_t max_mr;        /* regions and windows together, 1 to 2^20 */
	uint32_t max_qp_wr;     /* in a send, receive or shared receive queue */
	uint32_t max_sge;       /* of a work request, 1 to 64 */
	uint32_t max_inline;    /* bytes */
	uint32_t max_cqe;       /* in a completion queue */
	uint32_t max_rd_atomic; /* READs and atomics in flight towards a queue pair, 1 to 128 */
	uint32_t max_mcast;     /* attachments to multicast groups, 0 to 2^16 */
	uint32_t max_events;    /* asynchronous events that may wait */
	uint32_t qpn_base;      /* queue pairs are numbered from here: a multiple of 2^qpn_bits */
	uint8_t qpn_bits;       /* so many numbers, 2^n > max_qp + 1; 0: all 2^24, from 0 */
	/*
	 * The same of shared receive queues of XRC domains, below 2^16: adapters that are one to
	 * others have each its own, so that no number means another's queue.
	 */
	uint32_t srqn_base;
	uint8_t srqn_bits;
	uint16_t overhead;     /* bytes of a packet besides BTH, extended headers, payload, pad */
	uint16_t num_pkeys;    /* entries of the P_Key table, 1 to WF_HCA_PKEYS */
	const uint16_t *pkeys; /* borrowed until create returns; NULL: 0xffff first, then none */
	bool data;             /* payload bytes are carried; false: only their lengths are */
	bool roce;             /* CNPs are RoCE's; false: InfiniBand's */
	uint8_t ports;         /* 1 to WF_HCA_PORTS */
	enum wf_lag lag;       /* how queue pairs get one of several */
	uint64_t lag_key;      /* of the hash */
	bool lag_follow;       /* they look for a path: no answer, the next port; wf_hca_came() */
	wf_hca_grh_fn *grh;    /* NULL: no packet has a GRH */
	void *grh_ctx;
	wf_hca_place_fn *place; /* NULL: always the buffer of wf_hca_tx() */
	void *place_ctx;
	wf_hca_copy_fn *fetch; /* from a region to where payload is to be written; NULL: memcpy() */
	wf_hca_copy_fn *store; /* from payload into a region; NULL: wf_place() */
	wf_hca_forward_fn *forward; /* NULL: there are no others */
	void *forward_ctx;
	wf_hca_underway_fn *underway; /* NULL: time alone decides */
	void *underway_ctx;
	wf_hca_forget_fn *forget; /* NULL: nobody asks */
	void *forget_ctx;
};

/* Everything set to what a present-day adapter offers, at 400 Gb/s on RoCE v2. */
void wf_hca_attr_defaults(struct wf_hca_attr *attr);

/*
 * Creates an adapter. The memory of its tables is taken from mem here, that of queue pairs,
 * completion queues and the like when they are created; after that only for what selective repeat
 * and READ responses under congestion control keep of packets in flight. mem must outlive it. On
 * success *hca_p is owned by the caller, who frees it with wf_hca_destroy(); on failure it is
 * untouched.
 *
 * Returns 0, -EINVAL (attr out of range) or -ENOMEM.
 */
int wf_hca_create(const struct wf_hca_attr *attr, struct wf_mem *mem,
                  struct wf_hca **hca_p) WF_MUST_USE;

/* Frees an adapter and everything created on it that still exists. NULL is allowed. */
void wf_hca_destroy(struct wf_hca *hca);

/* What a driver may hand over with a packet; each may be NULL. Borrowed until the call returns. */
struct wf_hca_rx_extra {
	const void *payload;               /* pkt->length bytes; NULL: contents do not matter */
	const struct wf_cc_int *telemetry; /* what came back with an acknowledgement */
	/*
	 * A number of the driver's that comes out again in the ACK that answers, with
	 * WF_PACKET_INT; 0: none. *spare becomes an older one that this one replaces, or 0; NULL:
	 * nobody asks.
	 */
	uint32_t echo;
	uint32_t *spare;
};

/*
 * Gives a received packet to the adapter; it is borrowed until the call returns. A packet that is
 * wrong in any way is dropped and counted. extra may be NULL.
 */
void wf_hca_rx(struct wf_hca *hca, const struct wf_packet *pkt, const struct wf_hca_rx_extra *extra,
               wf_time now);

/*
 * The next packet for the port. Acknowledgements go first; then the queue pairs that have work take
 * turns, a packet each, as far as their pacing allows. Writes *pkt (all but .at; .input is the
 * traffic class that the address handle or the queue pair's path has, until the driver says
 * otherwise) and, when payload is not NULL, its pkt->length bytes; payload has room for 4096.
 * pkt->payload is 0. WF_PACKET_INT is set in packets that want telemetry, which the driver adds and
 * pkt->size includes, and in ACKs whose payload is an echo (see struct wf_hca_rx_extra).
 *
 * Returns true when there was one.
 */
bool wf_hca_tx(struct wf_hca *hca, wf_time now, struct wf_packet *pkt, void *payload) WF_MUST_USE;

/*
 * The earliest time at which wf_hca_tx() may have a packet: 0 for at once, WF_TIME_NEVER when
 * nothing waits. It may turn out that there is none after all.
 */
wf_time wf_hca_tx_time(const struct wf_hca *hca);

/*
 * Keeps packets of some classes back: wf_hca_tx() does not return any whose bit is set in classes
 * (bit n: class n). A driver holds a class while the port may not send it, so that the others go
 * on.
 */
void wf_hca_hold(struct wf_hca *hca, uint32_t classes);

/*
 * Messages begin to be sent gap or more after one another, and those of one queue pair qp_gap; 0,
 * the default, as fast as packets go. From now on; no packet is held back but the first of a
 * message.
 */
void wf_hca_set_messages(struct wf_hca *hca, wf_time gap, wf_time qp_gap);

/* Bit per class that a queue pair's data has had so far, in requests and READ responses. */
uint32_t wf_hca_classes(const struct wf_hca *hca);

/* The queue pair whose packet wf_hca_tx() returned last; valid until the next call. */
struct wf_qp *wf_hca_sender(const struct wf_hca *hca);

/* The earliest time at which wf_hca_tick() has work; WF_TIME_NEVER if none. */
wf_time wf_hca_deadline(const struct wf_hca *hca);

/* Runs every timer that is due at now. */
void wf_hca_tick(struct wf_hca *hca, wf_time now);

struct wf_event {
	enum wf_event_type type;
	union {
		struct wf_qp *qp;
		struct wf_cq *cq;
		struct wf_srq *srq;
		uint32_t port;
	};
};

/* Takes the oldest asynchronous event. Returns false when there is none. */
bool wf_hca_next_event(struct wf_hca *hca, struct wf_event *event_p) WF_MUST_USE;

/*
 * The device is gone: wf_qp_fail() with FATAL_ERR for all queue pairs but number 1, which is the
 * driver's.
 */
void wf_hca_fail(struct wf_hca *hca);

/* Adds an event about the port (PORT_ACTIVE, PORT_ERR, LID_CHANGE …); the driver's to raise. */
void wf_hca_port_event(struct wf_hca *hca, enum wf_event_type type);

/*
 * Takes the next completion queue whose wf_cq_arm() came true, in the order in which programs see
 * what is in them; NULL when there is none.
 */
struct wf_cq *wf_hca_next_comp(struct wf_hca *hca);

/* When a program sees the completions of the queue that is next; WF_TIME_NEVER when none is. */
wf_time wf_hca_comp_time(const struct wf_hca *hca);

/*
 * Completions made from now on are seen at at, or later if they are made later. It never goes back.
 */
void wf_hca_set_seen(struct wf_hca *hca, wf_time at);

/* It is now: for a driver that calls programs at other times than it calls the functions above. */
void wf_hca_set_now(struct wf_hca *hca, wf_time now);

uint64_t wf_hca_counter(const struct wf_hca *hca, enum wf_counter counter);

enum wf_hca_note { WF_HCA_RETRANSMIT, WF_HCA_QP_ERROR };

/*
 * Told when a queue pair with host dest sends a request packet again, or goes into error: status is
 * that of the work request that failed, WF_WC_SUCCESS where none did. It changes nothing.
 */
typedef void wf_hca_watch_fn(void *ctx, enum wf_hca_note note, uint32_t dest,
                             enum wf_wc_status status, wf_time now);

/* Has fn called from now on. */
void wf_hca_watch(struct wf_hca *hca, wf_hca_watch_fn *fn, void *ctx);

const struct wf_hca_attr *wf_hca_attr(const struct wf_hca *hca);

/* The P_Key at an index; 0 (never valid) outside the table. */
uint16_t wf_hca_pkey(const struct wf_hca *hca, uint32_t index);

/*
 * Changes an entry of the P_Key table and raises PKEY_CHANGE. Queue pairs that use the entry go on
 * with the new key. Returns 0 or -EINVAL (no such entry).
 */
int wf_hca_set_pkey(struct wf_hca *hca, uint32_t index, uint16_t pkey) WF_MUST_USE;

/* The same with the table as a whole, of which keys are the first n entries. One event, if any. */
void wf_hca_set_pkeys(struct wf_hca *hca, const uint16_t *keys, uint32_t n);

/* The queue pair with that number, or NULL. */
struct wf_qp *wf_hca_qp(const struct wf_hca *hca, uint32_t qpn);

#endif
