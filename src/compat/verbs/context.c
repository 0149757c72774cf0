/* SPDX-License-Identifier: Apache-2.0 */
/* context.c - the functions that programs find in a context, and those that are not there. */
#include <errno.h>

#include "compat/verbs/verbs_priv.h"

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	(void)qp;
	(void)attr;
	return wv_fail(EOPNOTSUPP);
}

static int destroy_flow(struct ibv_flow *flow)
{
	(void)flow;
	return EOPNOTSUPP;
}

static struct ibv_wq *create_wq(struct ibv_context *c, struct ibv_wq_init_attr *attr)
{
	(void)c;
	(void)attr;
	return wv_fail(EOPNOTSUPP);
}

static struct ibv_dm *alloc_dm(struct ibv_context *c, struct ibv_alloc_dm_attr *attr)
{
	(void)c;
	(void)attr;
	return wv_fail(EOPNOTSUPP);
}

static struct ibv_counters *create_counters(struct ibv_context *c,
                                            struct ibv_counters_init_attr *attr)
{
	(void)c;
	(void)attr;
	return wv_fail(EOPNOTSUPP);
}

static int modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	(void)qp;
	(void)attr;
	return EOPNOTSUPP;
}

/* What is left NULL, the inline functions of verbs.h answer with EOPNOTSUPP themselves. */
void wv_fill_ops(struct verbs_context *v)
{
	struct ibv_context_ops *ops = &v->context.ops;

	ops->_compat_query_device = ibv_query_device;
	ops->alloc_mw = wv_alloc_mw;
	ops->bind_mw = wv_bind_mw;
	ops->dealloc_mw = wv_dealloc_mw;
	ops->poll_cq = wv_poll_cq;
	ops->req_notify_cq = wv_req_notify_cq;
	ops->post_srq_recv = wv_post_srq_recv;
	ops->post_send = wv_post_send;
	ops->post_recv = wv_post_recv;

	v->query_port = wv_query_port;
	v->advise_mr = wv_advise_mr;
	v->create_counters = create_counters;
	v->alloc_dm = alloc_dm;
	v->modify_qp_rate_limit = modify_qp_rate_limit;
	v->alloc_parent_domain = wv_alloc_parent_domain;
	v->alloc_td = wv_alloc_td;
	v->dealloc_td = wv_dealloc_td;
	v->modify_cq = wv_modify_cq;
	v->create_wq = create_wq;
	v->query_rt_values = wv_query_rt_values;
	v->create_cq_ex = wv_create_cq_ex;
	v->query_device_ex = wv_query_device_ex;
	v->ibv_create_flow = create_flow;
	v->ibv_destroy_flow = destroy_flow;
	v->open_qp = wv_open_qp;
	v->create_qp_ex = wv_create_qp_ex;
	v->get_srq_num = wv_get_srq_num;
	v->create_srq_ex = wv_create_srq_ex;
	v->open_xrcd = wv_open_xrcd;
	v->close_xrcd = wv_close_xrcd;
}
