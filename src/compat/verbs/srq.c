/* SPDX-License-Identifier: Apache-2.0 */
/* srq.c - shared receive queues. */
#include <errno.h>
#include <stdlib.h>

#include "compat/verbs/verbs_priv.h"
#include "rdma/xrc.h"

_Static_assert(WF_SRQ_MAX_WR == (int)IBV_SRQ_MAX_WR && WF_SRQ_LIMIT == (int)IBV_SRQ_LIMIT,
               "masks of attributes");

/* xrcd and cq: NULL for one that is of no domain. */
static struct ibv_srq *create(struct ibv_pd *pd, void *user, struct ibv_srq_attr *attr,
                              struct ibv_xrcd *xrcd, struct ibv_cq *cq)
{
	struct wf_srq_attr a = { .max_wr = attr->max_wr, .max_sge = attr->max_sge };
	struct wv_srq *srq = wv_handle_make(sizeof(*srq), WV_SRQ);
	int ret;

	if (srq == NULL)
		return NULL;
	if (!wv_lock(pd->context)) {
		wv_handle_free(srq);
		return wv_fail(EIO);
	}
	ret = xrcd == NULL
	              ? wf_srq_create(wv_pd(pd), &a, &srq->srq)
	              : wf_xrc_srq_create(wv_pd(pd), &a, wv_xrcd(xrcd), wv_cq(cq)->cq, &srq->srq);
	if (ret == 0) {
		wf_srq_set_user(srq->srq, srq);
		wf_srq_query(srq->srq, &a);
	}
	wv_unlock(pd->context);
	if (ret != 0) {
		wv_handle_free(srq);
		return wv_fail(-ret);
	}
	attr->max_wr = a.max_wr;
	attr->max_sge = a.max_sge;
	srq->ibv.context = pd->context;
	srq->ibv.srq_context = user;
	srq->ibv.pd = pd;
	pthread_mutex_init(&srq->ibv.mutex, NULL);
	pthread_cond_init(&srq->ibv.cond, NULL);
	return &srq->ibv;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	return create(pd, attr->srq_context, &attr->attr, NULL, NULL);
}

struct ibv_srq *wv_create_srq_ex(struct ibv_context *c, struct ibv_srq_init_attr_ex *attr)
{
	uint32_t known = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
	                 IBV_SRQ_INIT_ATTR_CQ;
	uint32_t domain = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	enum ibv_srq_type type =
		(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0 ? attr->srq_type : IBV_SRQT_BASIC;

	(void)c;
	if ((attr->comp_mask & ~known) != 0 || type > IBV_SRQT_XRC)
		return wv_fail(EOPNOTSUPP);
	if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || !wv_handle_is(attr->pd, WV_PD))
		return wv_fail(EINVAL);
	if (type == IBV_SRQT_BASIC)
		return create(attr->pd, attr->srq_context, &attr->attr, NULL, NULL);
	if ((attr->comp_mask & domain) != domain || !wv_handle_is(attr->xrcd, WV_XRCD) ||
	    !wv_handle_is(attr->cq, WV_CQ))
		return wv_fail(EINVAL);
	return create(attr->pd, attr->srq_context, &attr->attr, attr->xrcd, attr->cq);
}

int wv_get_srq_num(struct ibv_srq *srq, uint32_t *num)
{
	uint32_t n;

	if (!wv_handle_is(srq, WV_SRQ))
		return EINVAL;
	n = wf_srq_num(((struct wv_srq *)(void *)srq)->srq);
	if (n == 0)
		return EOPNOTSUPP; /* only those of XRC have numbers */
	*num = n;
	return 0;
}

int ibv_modify_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr, int mask)
{
	struct wv_srq *srq = (struct wv_srq *)(void *)ibv;
	struct wf_srq_attr a = { .max_wr = attr->max_wr, .limit = attr->srq_limit };
	int ret;

	if (!wv_handle_is(srq, WV_SRQ))
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	ret = wf_srq_modify(srq->srq, &a, (uint32_t)mask);
	wv_unlock(ibv->context);
	return -ret;
}

int ibv_query_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr)
{
	struct wv_srq *srq = (struct wv_srq *)(void *)ibv;
	struct wf_srq_attr a;

	if (!wv_handle_is(srq, WV_SRQ))
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	wf_srq_query(srq->srq, &a);
	wv_unlock(ibv->context);
	*attr = (struct ibv_srq_attr){ a.max_wr, a.max_sge, a.limit };
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *ibv)
{
	struct wv_srq *srq = (struct wv_srq *)(void *)ibv;
	uint32_t asyncs;
	int ret;

	if (!wv_handle_is(srq, WV_SRQ))
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	ret = wf_srq_destroy(srq->srq);
	if (ret == 0)
		wv_async_purge(wv_context(ibv->context), srq);
	asyncs = srq->asyncs;
	wv_unlock(ibv->context);
	if (ret != 0)
		return -ret;
	pthread_mutex_lock(&ibv->mutex);
	while (ibv->events_completed != asyncs)
		pthread_cond_wait(&ibv->cond, &ibv->mutex);
	pthread_mutex_unlock(&ibv->mutex);
	wv_handle_free(srq);
	return 0;
}
