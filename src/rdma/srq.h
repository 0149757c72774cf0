/* SPDX-License-Identifier: Apache-2.0 */
/*
 * srq.h - shared receive queues.
 */
#ifndef WF_RDMA_SRQ_H
#define WF_RDMA_SRQ_H

#include "rdma/hca.h"

struct wf_srq_attr {
	uint32_t max_wr;
	uint32_t max_sge;
	uint32_t limit; /* raise SRQ_LIMIT_REACHED once when fewer wait; 0: do not */
};

/* limit is taken as 0. Returns 0, -EINVAL (out of the adapter's range) or -ENOMEM. */
int wf_srq_create(struct wf_pd *pd, const struct wf_srq_attr *attr,
                  struct wf_srq **srq_p) WF_MUST_USE;

/* Returns 0, or -EBUSY while a queue pair uses it. */
int wf_srq_destroy(struct wf_srq *srq) WF_MUST_USE;

#define WF_SRQ_MAX_WR 1
#define WF_SRQ_LIMIT 2

/* Changes what mask names. Returns 0, -ENOMEM, or -EINVAL (limit above max_wr, too few places). */
int wf_srq_modify(struct wf_srq *srq, const struct wf_srq_attr *attr, uint32_t mask) WF_MUST_USE;

void wf_srq_query(const struct wf_srq *srq, struct wf_srq_attr *attr_p);

/*
 * Posts a list of receive work requests. Returns 0, or with *bad_p at the first one not posted:
 * -EINVAL (too many sges) or -ENOMEM (queue full).
 */
int wf_srq_post_recv(struct wf_srq *srq, const struct wf_recv_wr *wr,
                     const struct wf_recv_wr **bad_p) WF_MUST_USE;

void wf_srq_set_user(struct wf_srq *srq, void *user);
void *wf_srq_user(const struct wf_srq *srq);

#endif
