/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp.h - queue pairs and address handles.
 *
 *                       +-----------------------------------------------+
 *                       v                                               |
 *	create -> RESET -> INIT -> RTR -> RTS <-> SQD      any -> RESET, any -> ERR
 *	                                   ^ |
 *	                                   | v (UC, UD: a send fails)
 *	                                   SQE
 *
 * In ERR every work request, waiting or posted later, completes with WR_FLUSH_ERR. RESET forgets
 * everything, completions that nobody has taken yet included; the queue pair can then be brought up
 * again.
 */
#ifndef WF_RDMA_QP_H
#define WF_RDMA_QP_H

#include "rdma/hca.h"

/* What the requester does about loss. */
enum wf_recovery {
	WF_RECOVERY_GO_BACK_N,
	/*
	 * Only what is missing is sent again, and packets that come out of order are kept until
	 * their turn. A NAK for a PSN sequence error tells in its MSN field which PSN came, one
	 * with syndrome 0x7f which was trimmed. Both ends of a connection choose it.
	 */
	WF_RECOVERY_SELECTIVE,
};

/* Which CNPs cnp_interval separates: those of a queue pair, to a host, or of the adapter. */
enum wf_cnp_per { WF_CNP_PER_QP, WF_CNP_PER_HOST, WF_CNP_PER_PORT };

/* How the hardware is set up, beyond what the verbs say. All zero is a plain queue pair. */
struct wf_qp_tune {
	const struct wf_cc_ops *cc; /* NULL: wf_cc_none */
	const void *cc_param;       /* borrowed while the queue pair lives */
	wf_time cnp_interval;       /* least time between two CNPs; 0: send none */
	enum wf_cnp_per cnp_per;    /* which ones it separates */
	enum wf_recovery recovery;
	uint32_t window;  /* packets unacknowledged at most; selective: a power of two, 64..65536 */
	uint32_t reorder; /* selective: a gap is a loss when a packet this far behind it came */
	uint32_t ack_every; /* ask for an ACK every so many packets, besides each message's end */
	uint8_t cnp_cls;    /* class of CNPs; 0: as all packets */
	uint8_t int_bytes;  /* telemetry in packets with payload, and in ACKs; 0: none */
	uint8_t ack_cls;    /* class of ACKs and NAKs; 0: as all packets */
	bool spray;         /* every data packet has an entropy of its own */
	/*
	 * Selective: packets of WRITEs that come early are placed at once, where the packet with
	 * the address has come, not kept until their turn. Completions stay in order, but of two
	 * WRITEs to the same bytes in flight at once either may win, as in Ultra Ethernet's
	 * unordered mode.
	 */
	bool direct;
	bool ect;      /* packets say that they may be marked */
	bool ecn_echo; /* ACKs echo congestion marks (BECN) */
	/*
	 * READ responses are acknowledged, and the congestion window counts them (read_ack.c).
	 * Selective repeat always does. Both ends of a connection choose it.
	 */
	bool read_acks;
	bool credits; /* ACKs tell how many receive work requests wait */
	bool free;    /* at the line rate packets are not spaced: what is below sees to that */
	/*
	 * For drivers that may come late, because they sleep or wait for a CPU: a packet that was
	 * due catch_up ago at most does not delay those behind it. 0: its slot is lost.
	 */
	wf_time catch_up;
};

struct wf_qp_init {
	enum wf_qp_type type;
	struct wf_cq *send_cq; /* XRC_RECV: NULL */
	struct wf_cq *recv_cq; /* XRC: NULL */
	struct wf_srq *srq;    /* NULL: its own receive queue */
	struct wf_xrcd *xrcd;  /* XRC_RECV: its domain; the protection domain is wf_xrcd_pd()'s */
	struct wf_qp_cap cap;
	bool sq_sig_all;
	struct wf_qp_tune tune;
};

/*
 * Creates a queue pair in RESET. Returns 0, -EINVAL (caps beyond the adapter's, wrong tune),
 * -EEXIST (a second GSI) or -ENOMEM.
 */
int wf_qp_create(struct wf_pd *pd, const struct wf_qp_init *init, struct wf_qp **qp_p) WF_MUST_USE;

/* Frees it, whatever its state. Completions already in a queue stay there. */
void wf_qp_destroy(struct wf_qp *qp);

/*
 * Changes what mask names, as the table in qp_modify.c allows for the present state. All or
 * nothing. Returns 0 or -EINVAL (no such transition, an attribute missing, not allowed or out of
 * range).
 */
int wf_qp_modify(struct wf_qp *qp, const struct wf_qp_attr *attr, uint32_t mask) WF_MUST_USE;

/* Everything at once; init_p may be NULL. */
void wf_qp_query(const struct wf_qp *qp, struct wf_qp_attr *attr_p, struct wf_qp_init *init_p);

/*
 * Of an adapter whose ports have addresses: whether the peer was heard by the path that qp has
 * migrated to, so that it has migrated as well.
 */
bool wf_qp_peer_came(const struct wf_qp *qp);

uint32_t wf_qp_num(const struct wf_qp *qp);

/* The number of its adapter's host. */
uint32_t wf_qp_host(const struct wf_qp *qp);
enum wf_qp_state wf_qp_state(const struct wf_qp *qp);
enum wf_qp_type wf_qp_type(const struct wf_qp *qp);

/*
 * A driver calls it before it posts: the adapter learns of the work at at, and sends none of it
 * before. If older work still waits to be sent, the adapter learns of the new in time and nothing
 * is delayed. READ responses of the queue pair wait, too.
 */
void wf_qp_delay(struct wf_qp *qp, wf_time at);

/*
 * Keeps all packets of one queue pair back, acknowledgements too, until it is called with false: a
 * driver does so while the way to its peer is full, so that the others go on.
 */
void wf_qp_hold(struct wf_qp *qp, bool hold);

/*
 * Makes the queue pair wait 2^shift times as long for acknowledgements as the attribute says: 0 to
 * 2, since the wait may be up to four times that (C9-141). For drivers whose way to the peer
 * depends on other processes.
 */
void wf_qp_set_patience(struct wf_qp *qp, unsigned shift);

/*
 * Makes the queue pair back off: after each timeout in a row the wait for the next doubles, three
 * times at most and not beyond 4 s, and only the oldest packet is sent again; answers to that let
 * more and more of the others follow (backoff.c). retry_cnt counts as ever. Without it every
 * timeout is the same and has all that is unacknowledged sent again, as adapters do on networks
 * that are theirs. For drivers whose peers may be slow. A property of the path, not of the tune:
 * where the packets go is known when the queue pair is connected.
 */
void wf_qp_set_backoff(struct wf_qp *qp, bool backoff);

/*
 * Posts a list of send work requests. Inline data and address handles are copied; memory of other
 * sges is read while the work is carried out. Returns 0, or with *bad_p at the first one not
 * posted: -EINVAL (state, operation not of this service, too many sges, too much inline data) or
 * -ENOMEM (queue full).
 */
int wf_qp_post_send(struct wf_qp *qp, const struct wf_send_wr *wr,
                    const struct wf_send_wr **bad_p) WF_MUST_USE;

/* The same for receive work requests; -EINVAL also when it has a shared receive queue. */
int wf_qp_post_recv(struct wf_qp *qp, const struct wf_recv_wr *wr,
                    const struct wf_recv_wr **bad_p) WF_MUST_USE;

/*
 * Posts the bind of a type 1 window: gives it its next key at once (wf_mw_rkey()) and carries the
 * bind out in the order of the send queue. A length of 0 unbinds. Returns as wf_qp_post_send().
 */
int wf_qp_bind_mw(struct wf_qp *qp, struct wf_mw *mw, uint64_t wr_id, uint32_t flags,
                  const struct wf_mw_bind *bind) WF_MUST_USE;

/*
 * Lets a UD queue pair receive what comes for QPN 0xffffff with that destination in the packet
 * (struct wf_packet.dst): the number the driver has for the multicast group. Attaching twice is
 * once. Returns 0, -EINVAL (not UD) or -ENOMEM (max_mcast).
 */
int wf_qp_attach_mcast(struct wf_qp *qp, uint32_t group) WF_MUST_USE;

/* The opposite. Returns 0 or -EINVAL (it was not attached). */
int wf_qp_detach_mcast(struct wf_qp *qp, uint32_t group) WF_MUST_USE;

/*
 * Ends a queue pair for a reason of the driver's (the device is gone, the peer was removed): the
 * oldest send work request completes with status (FATAL_ERR, REM_ABORT_ERR, GENERAL_ERR …), the
 * rest is flushed, QP_FATAL is raised.
 */
void wf_qp_fail(struct wf_qp *qp, enum wf_wc_status status);

/* The rate at which its congestion control lets it send, bits/s. */
uint64_t wf_qp_rate(const struct wf_qp *qp);

/* The bytes that it lets be unacknowledged; UINT64_MAX: any number. */
uint64_t wf_qp_window(const struct wf_qp *qp);

/* Packets that are acknowledged since it was ready to send, modulo 2^24. */
uint32_t wf_qp_acked(const struct wf_qp *qp);

void wf_qp_set_user(struct wf_qp *qp, void *user);
void *wf_qp_user(const struct wf_qp *qp);

/* Returns 0, -EINVAL or -ENOMEM. */
int wf_ah_create(struct wf_pd *pd, const struct wf_ah_attr *attr, struct wf_ah **ah_p) WF_MUST_USE;
void wf_ah_destroy(struct wf_ah *ah);

#endif
