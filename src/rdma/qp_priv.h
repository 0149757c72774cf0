/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp_priv.h - the inside of a queue pair, for src/rdma only.
 *
 * The send queue is a ring of work requests; all indices run freely and are masked when used, and
 * are 0 again when one is posted to an empty queue:
 *
 *	cons <= send <= prod     cons <= fresh <= prod
 *
 *	cons   oldest not completed          out.una    oldest PSN not acknowledged
 *	send   the one being sent            psn        next PSN to send, in at(send)
 *	fresh  first not begun               out.next   first PSN never sent; psn <= out.next
 *	prod   one past the newest           exec       the peer has executed all before it
 *
 * Go-back-N moves send and psn back to una. Selective repeat leaves them and sends the PSNs that
 * are lost, from out.rtx on, before new ones (sack.c).
 */
#ifndef WF_RDMA_QP_PRIV_H
#define WF_RDMA_QP_PRIV_H

#include "rdma/cq_priv.h"
#include "rdma/hca_priv.h"
#include "rdma/sack_priv.h"
#include "rdma/psn.h"
#include "rdma/qp.h"
#include "rdma/resp_priv.h"
#include "wire/aeth.h"
#include "wire/opcode.h"

#define WF_RTT_SAMPLES 4 /* a power of two */
#define WF_SWQE_SGE_MIN 2

/* A posted bind, in the place of the sges. */
struct wf_swqe_bind {
	struct wf_region *mw;
	struct wf_region *mr;
	uint32_t mr_key; /* when it was posted: the region must still be the same */
	uint32_t access;
};

/* A send work request in the queue; its sges or inline data follow. */
struct wf_swqe {
	uint64_t wr_id;
	union {
		struct {
			uint64_t addr; /* remote address; bind: start of the window */
			uint64_t compare_add;
			uint64_t swap; /* bind: length of the window */
		};
		struct {
			uint32_t dest;
			uint32_t qpn;
			uint32_t qkey;
			uint16_t entropy;
			uint8_t cls, ect, traffic_class;
		} ud;
	};
	uint32_t rkey; /* bind: the window's new key */
	uint32_t imm;
	uint32_t length; /* of the message, bytes */
	uint32_t first_psn;
	uint32_t last_psn;
	uint32_t ssn;    /* number of the request, from 1 */
	uint8_t opcode;  /* enum wf_wr_opcode */
	uint8_t flags;   /* WF_SEND_* */
	uint8_t status;  /* enum wf_wc_status: why it cannot be carried out, found while sending */
	uint8_t num_sge; /* 0 with inline data */
	bool done;       /* local operation: carried out */
	uint16_t srqn;   /* XRC */
};

_Static_assert(sizeof(struct wf_swqe) <= 64, "a send work request's head is one cache line");

static inline struct wf_sge *wf_swqe_sge(struct wf_swqe *wqe)
{
	return (struct wf_sge *)(void *)(wqe + 1);
}

static inline struct wf_swqe_bind *wf_swqe_bind(struct wf_swqe *wqe)
{
	return (struct wf_swqe_bind *)(void *)(wqe + 1);
}

_Static_assert(sizeof(struct wf_swqe_bind) <= WF_SWQE_SGE_MIN * sizeof(struct wf_sge), "it fits");

/* The requester. */
struct wf_req {
	char *sq;
	uint32_t mask;
	uint32_t stride;
	uint32_t prod, send, fresh, cons;
	struct wf_flight out;
	uint32_t psn, exec;
	uint32_t room;   /* PSNs that may be unacknowledged before one more is sent, <= limit */
	uint32_t ssn;    /* of the newest request that has PSNs */
	uint32_t lsn;    /* limit sequence number: the last request the peer has room for */
	uint32_t since;  /* packets since one that asked for an ACK */
	wf_time timeout; /* 0: none */
	uint16_t rd_out; /* READs and atomics in flight */
	uint8_t max_rd;  /* how many may be */
	uint8_t retry_left;
	uint8_t rnr_left;
	bool no_credit;   /* the peer does not count credits (any more) */
	bool retrying;    /* una is being sent again after a NAK: a second one says nothing new */
	uint8_t waits;    /* timeouts in a row for which the next one waits longer */
	bool rnr_wait;    /* the timer runs for an RNR NAK: send no request */
	bool drained;     /* SQD: SQ_DRAINED was raised */
	bool selective;   /* selective repeat; else go-back-N */
	uint32_t rtx_wqe; /* index of the work request that holds out.rtx, or of an older one */
	bool read_ack;    /* the responder is to be told of READ responses */
	bool ce;          /* a marked one came since it was last told */
	bool resumed;     /* una has moved since something was last sent again */
	uint32_t echo;    /* for the next time that it is told, see struct wf_hca_rx_extra */
	uint32_t limit;   /* what room is when no timeout made it less: backoff.c */
	uint32_t sample_head, sample_tail;
	struct {
		wf_time at;
		uint32_t psn;
	} sample[WF_RTT_SAMPLES]; /* when packets that asked for an ACK left */
};

enum wf_tx_where {
	WF_TX_NONE,
	WF_TX_RING,
	WF_TX_PACED,
	WF_TX_HELD,   /* its class may not send */
	WF_TX_PARKED, /* held by wf_qp_hold(); in no list */
};

/*
 * A job has thousands of queue pairs and uses each for a moment, so that every line of one is
 * fetched anew: what is used together lies together, and what is seldom used comes last.
 */
struct wf_qp {
	struct wf_hca *hca;
	struct wf_list ack_link;
	struct wf_list tx_link;
	uint32_t heap_pos[WF_HEAPS];
	wf_time timer_at; /* when the timer is really due; its place in the heap may be earlier */
	wf_time next_tx;  /* pacing: no data packet before */
	uint64_t paced;   /* the gap of cc that next_tx follows from; 0: from none */
	struct wf_cc *cc;
	struct wf_pd *pd;
	uint32_t qpn;
	uint32_t dest_qpn;
	uint32_t dest; /* the peer's address: host number, or that of one of its ports */
	uint16_t pkey_index;
	uint16_t entropy;
	uint8_t state; /* enum wf_qp_state */
	uint8_t type;  /* enum wf_qp_type */
	uint8_t service;
	uint8_t mtu_shift;
	uint8_t cls;
	uint8_t marks; /* flags that all its packets have: WF_PACKET_ECT, WF_PACKET_MIGRATED */
	uint8_t traffic_class;
	uint8_t patience; /* see wf_qp_set_patience() */
	uint8_t tx_where; /* enum wf_tx_where */
	bool was_paced;   /* it has had packets to send ever since next_tx, for which it waited */
	uint8_t why;      /* enum wf_wc_status of the work request that failed */
	bool sq_sig_all;
	bool reliable;  /* requests are acknowledged: RC and XRC */
	bool hold;      /* wf_qp_hold() */
	bool backoff;   /* wf_qp_set_backoff() */
	bool read_acks; /* READ responses are acknowledged, and under the congestion window */
	uint32_t src;   /* its address: that of the port which it is of */
	uint32_t from;  /* the peer's, and what comes from there is right; or WF_APM_LOOK */
	struct wf_req req;
	struct wf_cq *send_cq;
	struct wf_cq *recv_cq;
	struct wf_srq *srq;
	struct wf_resp resp;
	struct wf_rq rq;
	struct wf_qp_init init;
	struct wf_qp_attr attr; /* as set by wf_qp_modify() */
	void *user;
	uint64_t sprayed;   /* packets with an entropy of their own */
	wf_time message_at; /* wf_hca_set_messages(): no message begins before */
	bool has_slot;      /* it has its turn among the adapter's messages, from next_tx on: */
	uint32_t slot_of;   /* to begin this one, a value of req.fresh */
	uint8_t lag_port;   /* of several ports, the one that it has */
	uint8_t lag_turn;   /* and which it got when it was created */
	uint8_t lag_shift;  /* and by how many it has gone on since */
	bool mig_heard;     /* the peer, by the path migrated to */
	bool mig_refused;   /* PATH_MIG_ERR was raised since it was armed */
	uint32_t inlet;     /* of this queue pair of another adapter (xrc.c); 0: it is none */
	struct wf_list inlet_link;
};

_Static_assert(offsetof(struct wf_qp, req) == 128 && offsetof(struct wf_qp, resp) % 64 == 0 &&
                       offsetof(struct wf_resp, jobs) == 64 &&
                       offsetof(struct wf_resp, out.untold) < 128 &&
                       offsetof(struct wf_qp, init.tune) % 64 == 0,
               "lines are as drawn up");

/* Fetches what a packet needs of a queue pair: all lines at once, not one after the other. */
static inline void wf_qp_warm(const struct wf_qp *qp)
{
	for (size_t i = 0; i < offsetof(struct wf_qp, resp.job); i += WF_CACHE_LINE)
		__builtin_prefetch((const char *)qp + i);
	__builtin_prefetch(&qp->init.tune);
}

static inline struct wf_swqe *wf_sq_at(const struct wf_req *req, uint32_t i)
{
	return (struct wf_swqe *)(void *)(req->sq + (size_t)(i & req->mask) * req->stride);
}

static inline bool wf_qp_is_ud(const struct wf_qp *qp)
{
	return qp->type == WF_QPT_UD || qp->type == WF_QPT_GSI;
}

static inline uint32_t wf_qp_mtu(const struct wf_qp *qp)
{
	return UINT32_C(1) << qp->mtu_shift;
}

/* Payload that was sent and is neither acknowledged nor lost: requests' and READ responses'. */
static inline uint64_t wf_qp_inflight(const struct wf_qp *qp)
{
	return qp->req.out.inflight + qp->resp.out.inflight;
}

/* How many packets a message of length bytes takes; an empty one takes one. */
static inline uint32_t wf_qp_packets(const struct wf_qp *qp, uint32_t length)
{
	return length == 0 ? 1
	                   : (uint32_t)(((uint64_t)length + wf_qp_mtu(qp) - 1) >> qp->mtu_shift);
}

#endif
