/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.h - one end of a TCP connection, without I/O: segments and the time go in; segments, a
 * deadline and what the program may read come out.
 *
 *	program --write--> [una ... nxt ... end) --tx--> bursts of segments --> network
 *	program <--read--- [read ... rcv_nxt) + what came early <--rx--- segments <-- network
 *
 * It does what Linux does, as its documentation and the RFCs have it: SACK (RFC 2018) with loss
 * detection by time (RACK and tail loss probes, RFC 8985), the window reduced in proportion while
 * it recovers (PRR, RFC 6937), RTT and timeouts (RFC 6298, where the least timeout is the least
 * variance), acknowledgements of every second segment, at once at the start and when something is
 * missing (RFC 5681), ECN (RFC 3168, and RFC 8257's where congestion control wants it).
 * Connections are established before they are used: there are no SYNs and no FINs. Sequence
 * numbers are offsets in the stream, of 64 bits, and only on the wire of 32.
 *
 * Who drives it decides when what is due is done, since that costs a CPU time: stack.h.
 */
#ifndef WF_TCP_CONN_H
#define WF_TCP_CONN_H

#include "base/mem.h"
#include "tcp/cc.h"
#include "tcp/counter.h"
#include "wire/tcp.h"

/* What all connections of a host have in common. */
struct wf_tcp_conn_cfg {
	const struct wf_tcp_cc_ops *cc;
	enum wf_encap encap;
	uint16_t mss;
	uint32_t init_window; /* segments */
	uint64_t rmem;        /* bytes that may wait for the program, at most: the window */
	uint32_t burst;       /* bytes that are handed to the adapter at once */
	wf_time rto_min;
	wf_time delack;
	bool timestamps;
	bool ecn;          /* packets are ECN-capable */
	bool idle_restart; /* a window that was not used shrinks */
};

/* One connection. */
struct wf_tcp_conn_attr {
	uint32_t host, peer;
	uint32_t peer_number; /* of the connection, at its peer: struct wf_packet.qpn */
	uint16_t client_port, server_port;
	bool back; /* this is the side that waited */
	uint8_t cls;
	uint32_t isn, peer_isn;
	uint64_t peer_window; /* bytes that the peer takes at first */
};

/* Where connections' memory comes from: pools that grow, and that belong to one host. */
struct wf_tcp_pool;
struct wf_tcp_conn;

/* On success *pool_p is owned by the caller; mem must outlive it. Returns 0 or -ENOMEM. */
int wf_tcp_pool_create(struct wf_mem *mem, struct wf_tcp_pool **pool_p) WF_MUST_USE;

/* Gives back what the pool took; no connection of it is used any more. NULL is allowed. */
void wf_tcp_pool_destroy(struct wf_tcp_pool *pool);

/* Whether it ran out of memory: what connections did since then is not to be used. */
bool wf_tcp_pool_failed(const struct wf_tcp_pool *pool);

/*
 * An established connection. cfg and counters (WF_TCP_CTRS of them) are borrowed while it is
 * there. On success *conn_p belongs to the pool. Returns 0 or -ENOMEM.
 */
int wf_tcp_conn_create(struct wf_tcp_pool *pool, const struct wf_tcp_conn_cfg *cfg,
                       const struct wf_tcp_conn_attr *attr, uint64_t *counters,
                       struct wf_tcp_conn **conn_p) WF_MUST_USE;

const struct wf_tcp_conn_attr *wf_tcp_conn_attr(const struct wf_tcp_conn *c);

/* Payload bytes of a full segment. */
uint16_t wf_tcp_conn_mss(const struct wf_tcp_conn *c);

/* ---- the program ---- */

/* The program has written bytes more. */
void wf_tcp_conn_write(struct wf_tcp_conn *c, uint64_t bytes, wf_time now);

/* Bytes that were written so far, and of them those that the peer has. */
uint64_t wf_tcp_conn_written(const struct wf_tcp_conn *c);
uint64_t wf_tcp_conn_acked(const struct wf_tcp_conn *c);

/* Bytes that may be read; and so many are. */
uint64_t wf_tcp_conn_readable(const struct wf_tcp_conn *c);
void wf_tcp_conn_read(struct wf_tcp_conn *c, uint64_t bytes);

/* ---- the network ---- */

/*
 * Takes a segment, or several in a row that were merged: pkt is the last of them, but that its
 * sequence number is the first one's and len are the bytes of all.
 */
void wf_tcp_conn_rx(struct wf_tcp_conn *c, const struct wf_packet *pkt, uint32_t len, wf_time now);

/* Segments that are handed to the adapter at once: the first, and the bytes of all. */
struct wf_tcp_burst {
	struct wf_packet pkt; /* .length is 0 */
	uint32_t bytes;
	uint32_t again; /* segments of it that were sent before */
};

/* The next burst that may be sent. Returns false when there is none now. */
bool wf_tcp_conn_tx(struct wf_tcp_conn *c, wf_time now, struct wf_tcp_burst *burst) WF_MUST_USE;

/* Whether there is one; it may turn out that there is none. */
bool wf_tcp_conn_wants_tx(const struct wf_tcp_conn *c);

/* The next acknowledgement that is due at once. Returns false when none is. */
bool wf_tcp_conn_ack(struct wf_tcp_conn *c, wf_time now, struct wf_packet *pkt) WF_MUST_USE;

/* When wf_tcp_conn_tick() has work; WF_TIME_NEVER: never. */
wf_time wf_tcp_conn_deadline(const struct wf_tcp_conn *c);
void wf_tcp_conn_tick(struct wf_tcp_conn *c, wf_time now);

/* ---- looking at it ---- */

enum wf_tcp_state {
	WF_TCP_OPEN,     /* nothing is missing */
	WF_TCP_CWR,      /* a mark came back: the window goes down to ssthresh */
	WF_TCP_RECOVERY, /* something is lost: the same */
	WF_TCP_LOSS,     /* after a timeout */
	WF_TCP_STATES
};

struct wf_tcp_conn_state {
	enum wf_tcp_state state;
	uint32_t cwnd, ssthresh;            /* segments */
	uint32_t out, sacked, lost, resent; /* segments not acknowledged, and of them … */
	uint64_t una, nxt, rcv_nxt, window; /* bytes; window: what the peer lets it send */
	wf_time srtt, rttvar, min_rtt, rto;
	uint32_t alpha;        /* DCTCP, of 2^10 */
	unsigned quick, early; /* acknowledgements sent at once; ranges that came early */
};

void wf_tcp_conn_state(const struct wf_tcp_conn *c, struct wf_tcp_conn_state *state);

#endif
