/* SPDX-License-Identifier: Apache-2.0 */
/* srq.c - queues of receive work requests, shared or not. */
#include "rdma/srq.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "rdma/cq_priv.h"
#include "rdma/qp_flow.h"

int wf_rq_init(struct wf_rq *rq, uint32_t max_wr, uint32_t max_sge, struct wf_mem *mem)
{
	memset(rq, 0, sizeof(*rq));
	rq->max_wr = max_wr;
	rq->max_sge = max_sge;
	rq->stride = wf_rwqe_bytes(max_sge);
	rq->mask = wf_pow2_ceil(max_wr) - 1;
	rq->ring = mem->alloc(mem, ((size_t)rq->mask + 1) * rq->stride);
	return rq->ring == NULL ? -ENOMEM : 0;
}

int wf_rq_post(struct wf_rq *rq, const struct wf_recv_wr *wr)
{
	struct wf_rwqe *wqe;
	uint64_t length = 0;

	if (wr->num_sge > rq->max_sge)
		return -EINVAL;
	if (wf_rq_waiting(rq) >= rq->max_wr)
		return -ENOMEM;
	wqe = wf_rq_at(rq, rq->prod);
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	for (uint32_t i = 0; i < wr->num_sge; i++) {
		wqe->sge[i] = wr->sge[i];
		length += wr->sge[i].length;
	}
	wqe->length = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
	rq->prod++;
	return 0;
}

bool wf_rq_take(struct wf_rq *rq, struct wf_rwqe *wqe)
{
	const struct wf_rwqe *from;

	if (rq->prod == rq->cons)
		return false;
	from = wf_rq_at(rq, rq->cons++);
	assert(from->num_sge <= rq->max_sge);
	memcpy(wqe, from, sizeof(*from) + from->num_sge * sizeof(from->sge[0]));
	return true;
}

bool wf_srq_take(struct wf_srq *srq, struct wf_rwqe *wqe)
{
	if (!wf_rq_take(&srq->rq, wqe))
		return false;
	if (srq->limit != 0 && wf_rq_waiting(&srq->rq) < srq->limit) {
		struct wf_event event = { .type = WF_EVENT_SRQ_LIMIT_REACHED, .srq = srq };

		srq->limit = 0;
		wf_event_add(srq->pd->hca, &event);
	}
	return true;
}

int wf_srq_create(struct wf_pd *pd, const struct wf_srq_attr *attr, struct wf_srq **srq_p)
{
	struct wf_hca *hca = pd->hca;
	struct wf_mem *mem = hca->mem;
	struct wf_srq *srq;

	if (attr->max_wr == 0 || attr->max_wr > hca->attr.max_qp_wr ||
	    attr->max_sge > hca->attr.max_sge)
		return -EINVAL;
	srq = mem->alloc(mem, sizeof(*srq));
	if (srq == NULL)
		return -ENOMEM;
	srq->pd = pd;
	if (wf_rq_init(&srq->rq, attr->max_wr, attr->max_sge, mem) != 0)
		goto err_free_srq;
	pd->refs++;
	wf_list_append(&hca->srqs, &srq->link);
	*srq_p = srq;
	return 0;

err_free_srq:
	mem->free(mem, srq);
	return -ENOMEM;
}

int wf_srq_destroy(struct wf_srq *srq)
{
	struct wf_mem *mem = srq->pd->hca->mem;

	if (srq->refs != 0)
		return -EBUSY;
	if (srq->xrcd != NULL)
		wf_xrc_srq_forget(srq);
	wf_event_purge(srq->pd->hca, srq);
	wf_list_remove(&srq->link);
	srq->pd->refs--;
	mem->free(mem, srq->rq.ring);
	mem->free(mem, srq);
	return 0;
}

static int srq_resize(struct wf_srq *srq, uint32_t max_wr)
{
	struct wf_mem *mem = srq->pd->hca->mem;
	struct wf_rq rq;

	if (max_wr == 0 || max_wr > srq->pd->hca->attr.max_qp_wr ||
	    max_wr < wf_rq_waiting(&srq->rq))
		return -EINVAL;
	if (wf_rq_init(&rq, max_wr, srq->rq.max_sge, mem) != 0)
		return -ENOMEM;
	while (wf_rq_take(&srq->rq, wf_rq_at(&rq, rq.prod)))
		rq.prod++;
	mem->free(mem, srq->rq.ring);
	srq->rq = rq;
	return 0;
}

int wf_srq_modify(struct wf_srq *srq, const struct wf_srq_attr *attr, uint32_t mask)
{
	uint32_t max_wr = (mask & WF_SRQ_MAX_WR) != 0 ? attr->max_wr : srq->rq.max_wr;
	int ret;

	if ((mask & ~(uint32_t)(WF_SRQ_MAX_WR | WF_SRQ_LIMIT)) != 0)
		return -EINVAL;
	if ((mask & WF_SRQ_LIMIT) != 0 && attr->limit > max_wr)
		return -EINVAL;
	if ((mask & WF_SRQ_MAX_WR) != 0) {
		ret = srq_resize(srq, max_wr);
		if (ret != 0)
			return ret;
	}
	if ((mask & WF_SRQ_LIMIT) != 0)
		srq->limit = attr->limit;
	return 0;
}

void wf_srq_query(const struct wf_srq *srq, struct wf_srq_attr *attr_p)
{
	attr_p->max_wr = srq->rq.max_wr;
	attr_p->max_sge = srq->rq.max_sge;
	attr_p->limit = srq->limit;
}

int wf_srq_post_recv(struct wf_srq *srq, const struct wf_recv_wr *wr,
                     const struct wf_recv_wr **bad_p)
{
	for (; wr != NULL; wr = wr->next) {
		int ret = wf_rq_post(&srq->rq, wr);

		if (ret != 0) {
			*bad_p = wr;
			return ret;
		}
	}
	return 0;
}

void wf_srq_set_user(struct wf_srq *srq, void *user)
{
	srq->user = user;
}

void *wf_srq_user(const struct wf_srq *srq)
{
	return srq->user;
}
