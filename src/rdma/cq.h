/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cq.h - completion queues.
 */
#ifndef WF_RDMA_CQ_H
#define WF_RDMA_CQ_H

#include "rdma/hca.h"

/* A queue for cqe completions. Returns 0, -EINVAL (0 or more than max_cqe) or -ENOMEM. */
int wf_cq_create(struct wf_hca *hca, uint32_t cqe, struct wf_cq **cq_p) WF_MUST_USE;

/* Returns 0, or -EBUSY while a queue pair uses it. */
int wf_cq_destroy(struct wf_cq *cq) WF_MUST_USE;

/*
 * Makes room for cqe completions, keeping those that wait. Returns 0, -EINVAL (out of range, or
 * fewer than are waiting) or -ENOMEM.
 */
int wf_cq_resize(struct wf_cq *cq, uint32_t cqe) WF_MUST_USE;

/*
 * Takes up to n of the oldest completions into wc. Returns how many, or -EIO when the queue
 * overflowed: then completions were lost, CQ_ERR was raised, and there are no more of them.
 */
int wf_cq_poll(struct wf_cq *cq, uint32_t n, struct wf_wc *wc) WF_MUST_USE;

/* The same of those that are seen by now: see wf_hca_set_seen() and wf_hca_set_now(). */
int wf_cq_poll_seen(struct wf_cq *cq, uint32_t n, struct wf_wc *wc) WF_MUST_USE;

/*
 * Asks to be listed by wf_hca_next_comp() once, when the next completion is added (solicited_only:
 * the next one that is solicited or an error). Completions that wait already count when the queue
 * was not armed as they came, and not for solicited_only: adapters of hardware look at what the
 * program has polled when it arms a queue, and programs that poll, arm and then wait rely on it.
 */
void wf_cq_arm(struct wf_cq *cq, bool solicited_only);

uint32_t wf_cq_size(const struct wf_cq *cq);
uint32_t wf_cq_waiting(const struct wf_cq *cq);

/* The caller's own pointer, NULL at first; for drivers that go from the queue to their object. */
void wf_cq_set_user(struct wf_cq *cq, void *user);
void *wf_cq_user(const struct wf_cq *cq);

#endif
