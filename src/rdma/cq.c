/* SPDX-License-Identifier: Apache-2.0 */
/* cq.c - completion queues: a ring, its notice, its overflow. */
#include "rdma/cq.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "rdma/cq_priv.h"

/* What holds between any two calls. */
static void assert_cq(const struct wf_cq *cq)
{
	assert(cq->size >= 1 && cq->size <= cq->mask + 1);
	assert(cq->prod - cq->cons <= cq->size);
	assert((cq->notices != 0) == !wf_list_empty(&cq->comp_link));
	(void)cq;
}

int wf_cq_create(struct wf_hca *hca, uint32_t cqe, struct wf_cq **cq_p)
{
	struct wf_mem *mem = hca->mem;
	struct wf_cq *cq;

	if (cqe == 0 || cqe > hca->attr.max_cqe)
		return -EINVAL;
	cq = mem->alloc(mem, sizeof(*cq));
	if (cq == NULL)
		return -ENOMEM;
	cq->hca = hca;
	cq->size = cqe;
	cq->mask = wf_pow2_ceil(cqe) - 1;
	cq->ring = mem->alloc(mem, ((size_t)cq->mask + 1) * sizeof(*cq->ring));
	if (cq->ring == NULL)
		goto err_free_cq;
	wf_list_init(&cq->comp_link);
	wf_list_append(&hca->cqs, &cq->link);
	*cq_p = cq;
	return 0;

err_free_cq:
	mem->free(mem, cq);
	return -ENOMEM;
}

int wf_cq_destroy(struct wf_cq *cq)
{
	struct wf_mem *mem = cq->hca->mem;

	if (cq->refs != 0)
		return -EBUSY;
	wf_event_purge(cq->hca, cq);
	wf_list_remove(&cq->comp_link);
	wf_list_remove(&cq->link);
	mem->free(mem, cq->ring);
	mem->free(mem, cq);
	return 0;
}

/* How many of the completions that wait the program was told of. */
static uint32_t count_told(const struct wf_cq *cq)
{
	uint32_t n = cq->told - cq->cons;

	return n <= cq->prod - cq->cons ? n : 0;
}

int wf_cq_resize(struct wf_cq *cq, uint32_t cqe)
{
	struct wf_mem *mem = cq->hca->mem;
	uint32_t n = cq->prod - cq->cons;
	struct wf_wc *ring;
	uint32_t mask;

	if (cqe == 0 || cqe > cq->hca->attr.max_cqe || cqe < n)
		return -EINVAL;
	mask = wf_pow2_ceil(cqe) - 1;
	ring = mem->alloc(mem, ((size_t)mask + 1) * sizeof(*ring));
	if (ring == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		ring[i & mask] = cq->ring[(cq->cons + i) & cq->mask];
	mem->free(mem, cq->ring);
	cq->told = count_told(cq);
	cq->ring = ring;
	cq->mask = mask;
	cq->size = cqe;
	cq->cons = 0;
	cq->prod = n;
	assert_cq(cq);
	return 0;
}

/* Takes up to n of the oldest completions, of which no more than waiting count. */
static int take(struct wf_cq *cq, uint32_t waiting, uint32_t n, struct wf_wc *wc)
{
	if (n > waiting)
		n = waiting;
	for (uint32_t i = 0; i < n; i++)
		wc[i] = cq->ring[cq->cons++ & cq->mask];
	/*
	 * Starts over, so that a queue that is polled in time keeps to its first lines of memory.
	 */
	if (cq->cons == cq->prod)
		cq->cons = cq->prod = cq->told = 0;
	return (int)n;
}

int wf_cq_poll(struct wf_cq *cq, uint32_t n, struct wf_wc *wc)
{
	assert_cq(cq);
	if (cq->cons == cq->prod)
		return cq->failed ? -EIO : 0;
	return take(cq, cq->prod - cq->cons, n, wc);
}

/* How many of the completions that wait, at most max, are seen by now. They are in that order. */
static uint32_t count_seen(const struct wf_cq *cq, uint32_t max)
{
	uint32_t n = 0;

	while (n < max && cq->cons + n != cq->prod &&
	       cq->ring[(cq->cons + n) & cq->mask].time <= cq->hca->now)
		n++;
	return n;
}

int wf_cq_poll_seen(struct wf_cq *cq, uint32_t n, struct wf_wc *wc)
{
	assert_cq(cq);
	if (cq->cons == cq->prod)
		return cq->failed ? -EIO : 0;
	return take(cq, count_seen(cq, n), n, wc);
}

/* Puts the queue behind all whose completions are seen at the same time or sooner. */
static void comp_add(struct wf_cq *cq)
{
	struct wf_list *before = cq->hca->comps.prev;

	while (before != &cq->hca->comps &&
	       wf_container_of(before, struct wf_cq, comp_link)->seen > cq->seen)
		before = before->prev;
	wf_list_append(before->next, &cq->comp_link);
}

/* A completion that was asked for is seen at seen. */
static void cq_notify(struct wf_cq *cq, wf_time seen)
{
	cq->armed = WF_CQ_IDLE;
	cq->told = cq->prod;
	if (cq->notices++ != 0)
		return;
	cq->seen = seen;
	comp_add(cq);
}

void wf_cq_arm(struct wf_cq *cq, bool solicited_only)
{
	uint32_t n;

	/* A request for the next completion is not weakened by one for the next solicited one. */
	if (!solicited_only)
		cq->armed = WF_CQ_ARM_ANY;
	else if (cq->armed == WF_CQ_IDLE)
		cq->armed = WF_CQ_ARM_SOLICITED;
	if (cq->cons == cq->prod)
		return;
	n = count_seen(cq, UINT32_MAX);
	if (!solicited_only && count_told(cq) < n)
		cq_notify(cq, cq->hca->now);
	/* What is made, but not seen yet, is a completion still to come. */
	else if (n < cq->prod - cq->cons)
		cq_notify(cq, cq->ring[(cq->cons + n) & cq->mask].time);
}

int wf_cq_push(struct wf_cq *cq, const struct wf_wc *wc, bool solicited)
{
	struct wf_wc *entry;

	assert_cq(cq);
	if (wf_unlikely(cq->failed))
		return -ENOSPC;
	if (wf_unlikely(cq->prod - cq->cons >= cq->size)) {
		struct wf_event event = { .type = WF_EVENT_CQ_ERR, .cq = cq };

		cq->failed = true;
		wf_event_add(cq->hca, &event);
		return -ENOSPC;
	}
	entry = &cq->ring[cq->prod++ & cq->mask];
	*entry = *wc;
	entry->time = wf_max_time(wc->time, cq->hca->seen);
	if (cq->armed == WF_CQ_ARM_ANY ||
	    (cq->armed == WF_CQ_ARM_SOLICITED && (solicited || wc->status != WF_WC_SUCCESS)))
		cq_notify(cq, entry->time);
	return 0;
}

void wf_cq_forget(struct wf_cq *cq, uint32_t qpn)
{
	uint32_t kept = cq->cons;

	for (uint32_t i = cq->cons; i != cq->prod; i++) {
		const struct wf_wc *wc = &cq->ring[i & cq->mask];

		if (wc->qp_num != qpn)
			cq->ring[kept++ & cq->mask] = *wc;
	}
	cq->prod = kept;
	assert_cq(cq);
}

struct wf_cq *wf_hca_next_comp(struct wf_hca *hca)
{
	struct wf_cq *cq;

	if (wf_list_empty(&hca->comps))
		return NULL;
	cq = wf_container_of(hca->comps.next, struct wf_cq, comp_link);
	wf_list_remove(&cq->comp_link);
	if (--cq->notices != 0)
		comp_add(cq);
	return cq;
}

wf_time wf_hca_comp_time(const struct wf_hca *hca)
{
	if (wf_list_empty(&hca->comps))
		return WF_TIME_NEVER;
	return wf_container_of(hca->comps.next, struct wf_cq, comp_link)->seen;
}

void wf_hca_set_now(struct wf_hca *hca, wf_time now)
{
	assert(now >= hca->now);
	hca->now = now;
}

void wf_hca_set_seen(struct wf_hca *hca, wf_time at)
{
	assert(at >= hca->seen);
	hca->seen = at;
}

uint32_t wf_cq_size(const struct wf_cq *cq)
{
	return cq->size;
}

uint32_t wf_cq_waiting(const struct wf_cq *cq)
{
	return cq->prod - cq->cons;
}

void wf_cq_set_user(struct wf_cq *cq, void *user)
{
	cq->user = user;
}

void *wf_cq_user(const struct wf_cq *cq)
{
	return cq->user;
}
