/* SPDX-License-Identifier: Apache-2.0 */
/* xrc.c - XRC domains and their shared receive queues. */
#include "rdma/xrc.h"

#include <assert.h>
#include <errno.h>

#include "rdma/mr.h"
#include "rdma/qp_flow.h"

/* How many queues there may be; number 0 of them is not used. */
static uint32_t max_srqs(const struct wf_hca *hca)
{
	return UINT32_C(1) << hca->attr.srqn_bits;
}

int wf_xrcd_create(struct wf_hca *hca, struct wf_xrcd **xrcd_p)
{
	struct wf_mem *mem = hca->mem;
	struct wf_xrcd *xrcd;

	if (hca->xsrqs == NULL)
		hca->xsrqs = mem->alloc(mem, max_srqs(hca) * sizeof(struct wf_srq *));
	xrcd = hca->xsrqs == NULL ? NULL : mem->alloc(mem, sizeof(*xrcd));
	if (xrcd == NULL)
		return -ENOMEM;
	if (wf_pd_create(hca, &xrcd->pd) != 0) {
		mem->free(mem, xrcd);
		return -ENOMEM;
	}
	wf_list_append(&hca->xrcds, &xrcd->link);
	*xrcd_p = xrcd;
	return 0;
}

/*
 * Destroys the inlets of a domain (NULL: of any) for queue pairs with numbers [first, first + n).
 */
static void forget_inlets(struct wf_hca *hca, const struct wf_xrcd *xrcd, uint32_t first,
                          uint32_t n)
{
	struct wf_list *next;

	for (struct wf_list *l = hca->inlets.next; l != &hca->inlets; l = next) {
		struct wf_qp *qp = wf_container_of(l, struct wf_qp, inlet_link);

		next = l->next;
		if (qp->inlet - first >= n || (xrcd != NULL && qp->init.xrcd != xrcd))
			continue;
		/* The rest of its message will not come. */
		if (qp->resp.have_wqe)
			wf_resp_complete(qp, WF_WC_WR_FLUSH_ERR, NULL);
		wf_qp_destroy(qp);
	}
}

int wf_xrcd_destroy(struct wf_xrcd *xrcd)
{
	struct wf_hca *hca = xrcd->pd->hca;
	int ret;

	if (xrcd->srqs != 0)
		return -EBUSY;
	forget_inlets(hca, xrcd, 0, UINT32_MAX);
	ret = wf_pd_destroy(xrcd->pd);
	if (ret != 0)
		return ret;
	wf_list_remove(&xrcd->link);
	hca->mem->free(hca->mem, xrcd);
	return 0;
}

void wf_xrcd_set_id(struct wf_xrcd *xrcd, const struct wf_xrc_id *id)
{
	xrcd->id = *id;
}

struct wf_xrc_id wf_qp_xrc_id(const struct wf_qp *qp)
{
	assert(qp->init.xrcd != NULL);
	return qp->init.xrcd->id;
}

struct wf_pd *wf_xrcd_pd(struct wf_xrcd *xrcd)
{
	return xrcd->pd;
}

int wf_xrc_srq_create(struct wf_pd *pd, const struct wf_srq_attr *attr, struct wf_xrcd *xrcd,
                      struct wf_cq *cq, struct wf_srq **srq_p)
{
	struct wf_hca *hca = pd->hca;
	uint32_t num = 1;
	int ret;

	if (xrcd->pd->hca != hca || cq->hca != hca)
		return -EINVAL;
	while (num < max_srqs(hca) && hca->xsrqs[num] != NULL)
		num++;
	if (num == max_srqs(hca))
		return -ENOMEM;
	ret = wf_srq_create(pd, attr, srq_p);
	if (ret != 0)
		return ret;
	(*srq_p)->xrcd = xrcd;
	(*srq_p)->cq = cq;
	(*srq_p)->num = hca->attr.srqn_base | num;
	hca->xsrqs[num] = *srq_p;
	xrcd->srqs++;
	cq->refs++;
	return 0;
}

uint32_t wf_srq_num(const struct wf_srq *srq)
{
	return srq->num;
}

/* The queue pair receives for no queue any more. */
static void lower(struct wf_qp *qp)
{
	qp->resp.have_wqe = false;
	qp->resp.in_msg = WF_IN_NONE;
	qp->srq = NULL;
	qp->recv_cq = NULL;
	qp->pd = qp->init.xrcd->pd;
}

void wf_xrc_srq_forget(struct wf_srq *srq)
{
	struct wf_hca *hca = srq->pd->hca;

	for (uint32_t i = 0; i <= hca->qp_mask; i++) {
		struct wf_qp *qp = hca->qps[i];

		if (qp != NULL && qp->init.xrcd != NULL && qp->srq == srq)
			lower(qp);
	}
	hca->xsrqs[srq->num & (max_srqs(hca) - 1)] = NULL;
	srq->xrcd->srqs--;
	srq->cq->refs--;
}

/* The queue with that number; NULL: there is none here. */
static struct wf_srq *find(const struct wf_hca *hca, uint32_t num)
{
	uint32_t mask = max_srqs(hca) - 1;

	return (num & ~mask) == hca->attr.srqn_base ? hca->xsrqs[num & mask] : NULL;
}

/* The first queue of the domain; NULL: it has none. */
static struct wf_srq *first_of(const struct wf_hca *hca, const struct wf_xrcd *xrcd)
{
	for (uint32_t i = 1; i < max_srqs(hca); i++) {
		if (hca->xsrqs[i] != NULL && hca->xsrqs[i]->xrcd == xrcd)
			return hca->xsrqs[i];
	}
	return NULL;
}

bool wf_xrc_aim(struct wf_qp *qp, const struct wf_packet *pkt)
{
	const struct wf_hca *hca = qp->hca;
	struct wf_srq *srq;

	if (wf_op_is_atomic(pkt->opcode))
		srq = qp->srq != NULL ? qp->srq : first_of(hca, qp->init.xrcd);
	else
		srq = find(hca, pkt->srqn);
	if (srq == NULL || srq->xrcd != qp->init.xrcd)
		return false;
	if (wf_likely(srq == qp->srq))
		return true;
	/* A message is for one queue, all of it. */
	if (qp->resp.in_msg != WF_IN_NONE)
		return false;
	assert(!qp->resp.have_wqe);
	qp->srq = srq;
	qp->recv_cq = srq->cq;
	qp->pd = srq->pd;
	return true;
}

/*
 * What another adapter's queue pair received for a queue here is taken in by a queue pair that only
 * remembers, between two packets, how far the message is: an inlet. Returns it, NULL: no memory.
 */
static struct wf_qp *inlet_of(struct wf_hca *hca, struct wf_xrcd *xrcd, uint32_t qpn)
{
	struct wf_qp_init init = { .type = WF_QPT_XRC_RECV, .xrcd = xrcd };
	struct wf_qp *qp;

	for (struct wf_list *l = hca->inlets.next; l != &hca->inlets; l = l->next) {
		qp = wf_container_of(l, struct wf_qp, inlet_link);
		if (qp->inlet == qpn && qp->init.xrcd == xrcd)
			return qp;
	}
	if (wf_qp_create(xrcd->pd, &init, &qp) != 0)
		return NULL;
	qp->inlet = qpn;
	wf_list_append(&hca->inlets, &qp->inlet_link);
	return qp;
}

int wf_xrc_take(struct wf_hca *hca, const struct wf_xrc_id *id, const struct wf_packet *pkt,
                const void *payload, wf_time now)
{
	struct wf_srq *srq = hca->xsrqs != NULL ? find(hca, pkt->srqn) : NULL;
	struct wf_qp *qp;

	assert(now >= hca->now);
	hca->now = now;
	if (srq == NULL || pkt->qpn == 0 || !wf_op_is_send(pkt->opcode) ||
	    (id->dev | id->ino) == 0 || srq->xrcd->id.dev != id->dev ||
	    srq->xrcd->id.ino != id->ino)
		return -EINVAL;
	qp = inlet_of(hca, srq->xrcd, pkt->qpn);
	return qp == NULL ? -ENOMEM : wf_resp_take(qp, pkt, payload);
}

void wf_xrc_forget(struct wf_hca *hca, uint32_t first, uint32_t n)
{
	forget_inlets(hca, NULL, first, n);
}
