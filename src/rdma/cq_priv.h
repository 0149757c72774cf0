/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cq_priv.h - the inside of completion queues and receive queues, for src/rdma only.
 */
#ifndef WF_RDMA_CQ_PRIV_H
#define WF_RDMA_CQ_PRIV_H

#include "rdma/cq.h"
#include "rdma/hca_priv.h"
#include "rdma/srq.h"

enum wf_cq_arm_state { WF_CQ_IDLE, WF_CQ_ARM_SOLICITED, WF_CQ_ARM_ANY };

struct wf_cq {
	struct wf_list link;
	struct wf_list comp_link; /* in hca->comps while notices > 0 */
	wf_time seen;             /* when the program sees what it is listed for */
	struct wf_hca *hca;
	struct wf_wc *ring;
	uint32_t mask;
	uint32_t size; /* as asked; at most mask + 1 */
	uint32_t prod;
	uint32_t cons;
	uint32_t told; /* the program was told of those before this one; it may lie before cons */
	uint32_t refs; /* send and receive queues that complete here */
	uint32_t notices; /* how often an arm came true since the last wf_hca_next_comp() */
	uint8_t armed;    /* enum wf_cq_arm_state */
	bool failed;      /* it overflowed */
	void *user;
};

/* Adds a completion. Returns 0, or -ENOSPC when the queue is full or failed, with one CQ_ERR. */
int wf_cq_push(struct wf_cq *cq, const struct wf_wc *wc, bool solicited);

/* Takes out the completions of a queue pair that starts anew. */
void wf_cq_forget(struct wf_cq *cq, uint32_t qpn);

/* A receive work request in a queue. */
struct wf_rwqe {
	uint64_t wr_id;
	uint32_t num_sge;
	uint32_t length; /* of all sges, bytes; UINT32_MAX when more */
	struct wf_sge sge[];
};

/* A queue of receive work requests: a queue pair's own or a shared one. */
struct wf_rq {
	char *ring;
	uint32_t mask;
	uint32_t stride;
	uint32_t prod;
	uint32_t cons;
	uint32_t max_wr;
	uint32_t max_sge;
};

struct wf_srq {
	struct wf_list link;
	struct wf_pd *pd;
	struct wf_rq rq;
	uint32_t limit;
	uint32_t refs;        /* queue pairs that receive from it */
	struct wf_xrcd *xrcd; /* NULL: of no domain */
	struct wf_cq *cq;     /* in a domain: gets the completions of receives */
	uint32_t num;
	void *user;
};

static inline uint32_t wf_rwqe_bytes(uint32_t max_sge)
{
	return (uint32_t)(sizeof(struct wf_rwqe) + max_sge * sizeof(struct wf_sge));
}

static inline uint32_t wf_rq_waiting(const struct wf_rq *rq)
{
	return rq->prod - rq->cons;
}

static inline struct wf_rwqe *wf_rq_at(const struct wf_rq *rq, uint32_t i)
{
	return (struct wf_rwqe *)(void *)(rq->ring + (size_t)(i & rq->mask) * rq->stride);
}

/* Takes the ring's memory from mem. Returns 0 or -ENOMEM. */
int wf_rq_init(struct wf_rq *rq, uint32_t max_wr, uint32_t max_sge, struct wf_mem *mem) WF_MUST_USE;

/* Returns 0, -EINVAL (too many sges) or -ENOMEM (full). */
int wf_rq_post(struct wf_rq *rq, const struct wf_recv_wr *wr) WF_MUST_USE;

/* Copies the oldest one into *wqe and takes it off. Returns false when there is none. */
bool wf_rq_take(struct wf_rq *rq, struct wf_rwqe *wqe);

/* The same from a shared queue, which may raise SRQ_LIMIT_REACHED. */
bool wf_srq_take(struct wf_srq *srq, struct wf_rwqe *wqe);

/* The smallest power of two that is at least n, 1 <= n <= 2^31. */
static inline uint32_t wf_pow2_ceil(uint32_t n)
{
	return n <= 1 ? 1 : UINT32_C(1) << (32 - __builtin_clz(n - 1));
}

#endif
