/* SPDX-License-Identifier: Apache-2.0 */
/* qp.c - queue pairs and address handles. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compat/verbs/verbs_priv.h"
#include "rdma/xrc.h"
#include "wire/ether.h"
#include "wire/transport.h"

#define WINDOW 128 /* packets without an acknowledgement: half a ring's worth */
#define CNP_INTERVAL                                                                               \
	(50 * WF_US) /* between two CNPs for marked packets, which come from the wire */
#define ACK_EVERY 32 /* packets of a message until one asks for an acknowledgement */

/* Extended work requests that it knows to make. */
#define SEND_OPS                                                                                   \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |    \
	 IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |                                 \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |                 \
	 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV |        \
	 IBV_QP_EX_WITH_ATOMIC_WRITE)

/* What is cast, and what is copied, is the same on both sides. */
_Static_assert((int)WF_QPS_ERR == (int)IBV_QPS_ERR && (int)WF_QPS_SQD == (int)IBV_QPS_SQD,
               "states");
_Static_assert((int)WF_QPT_UD == (int)IBV_QPT_UD && (int)WF_QPT_XRC_RECV == (int)IBV_QPT_XRC_RECV,
               "types");
_Static_assert((int)WF_MTU_4096 == (int)IBV_MTU_4096 && (int)WF_MIG_ARMED == (int)IBV_MIG_ARMED,
               "path");
_Static_assert((int)WF_QP_DEST_QPN == (int)IBV_QP_DEST_QPN && (int)WF_QP_AV == (int)IBV_QP_AV &&
                       (int)WF_QP_RATE_LIMIT == (int)IBV_QP_RATE_LIMIT,
               "masks of attributes");
_Static_assert(offsetof(struct ibv_qp_init_attr, sq_sig_all) ==
                               offsetof(struct ibv_qp_init_attr_ex, sq_sig_all) &&
                       offsetof(struct ibv_qp_init_attr, cap) ==
                               offsetof(struct ibv_qp_init_attr_ex, cap),
               "the extended form begins as the plain one");

int wv_ah_attr(struct ibv_context *c, const struct ibv_ah_attr *from, struct wf_ah_attr *to)
{
	struct wf_nic *nic = wv_nic(c);
	int ret;

	assert(wf_nic_is_locked(nic));
	*to = (struct wf_ah_attr){
		.flow_label = from->grh.flow_label & 0xfffff,
		.dlid = from->dlid,
		.sgid_index = from->grh.sgid_index,
		.hop_limit = from->grh.hop_limit,
		.traffic_class = from->grh.traffic_class,
		.sl = from->sl & 15,
		.src_path_bits = from->src_path_bits,
		.static_rate = from->static_rate,
		.is_global = from->is_global != 0,
		.port_num = from->port_num,
	};
	memcpy(to->dgid, from->grh.dgid.raw, sizeof(to->dgid));
	to->roce1 = wf_live_is_roce1(wf_nic_table(nic), to->sgid_index);
	if (wf_nic_table(nic)->layer == WF_LIVE_ROCE && !to->is_global)
		return EINVAL;
	ret = wf_nic_resolve(nic, to);
	/* On InfiniBand nobody checks a LID: what is sent there is lost. */
	if (ret == -EHOSTUNREACH && wf_nic_table(nic)->layer == WF_LIVE_IB) {
		to->dest = wf_nic_table(nic)->n_hosts;
		return 0;
	}
	return -ret;
}

void wv_ah_attr_back(const struct wf_ah_attr *from, struct ibv_ah_attr *to)
{
	memset(to, 0, sizeof(*to));
	memcpy(to->grh.dgid.raw, from->dgid, sizeof(from->dgid));
	to->grh.flow_label = from->flow_label;
	to->grh.sgid_index = from->sgid_index;
	to->grh.hop_limit = from->hop_limit;
	to->grh.traffic_class = from->traffic_class;
	to->dlid = from->dlid;
	to->sl = from->sl;
	to->src_path_bits = from->src_path_bits;
	to->static_rate = from->static_rate;
	to->is_global = from->is_global;
	to->port_num = from->port_num;
}

static int make_qp(struct wv_qp *qp, struct ibv_context *c, const struct ibv_qp_init_attr_ex *attr)
{
	struct wf_qp_init init = {
		.type = (enum wf_qp_type)attr->qp_type,
		.send_cq = attr->send_cq != NULL ? wv_cq(attr->send_cq)->cq : NULL,
		.recv_cq = attr->recv_cq != NULL ? wv_cq(attr->recv_cq)->cq : NULL,
		.srq = attr->srq != NULL ? ((struct wv_srq *)(void *)attr->srq)->srq : NULL,
		.cap = { attr->cap.max_send_wr, attr->cap.max_recv_wr, attr->cap.max_send_sge,
		         attr->cap.max_recv_sge, attr->cap.max_inline_data },
		.sq_sig_all = attr->sq_sig_all != 0,
		.tune = { .window = WINDOW, .ack_every = ACK_EVERY, .cnp_interval = CNP_INTERVAL },
	};
	struct wf_pd *pd = NULL;
	int ret;

	/* A send has room for its sges anyway; as other adapters do, offer it for data. */
	init.cap.max_inline_data = (uint32_t)wf_max_u64(
		init.cap.max_inline_data, init.cap.max_send_sge * sizeof(struct ibv_sge));
	if (!wv_lock(c))
		return EIO;
	wf_nic_tune(wv_nic(c), init.type, &init.tune);
	if (attr->qp_type == IBV_QPT_XRC_RECV) {
		init = (struct wf_qp_init){ .type = WF_QPT_XRC_RECV, .tune = init.tune };
		init.xrcd = wv_xrcd(attr->xrcd);
		pd = wf_xrcd_pd(init.xrcd);
	} else {
		if (attr->qp_type == IBV_QPT_XRC_SEND)
			init.recv_cq = NULL;
		pd = wv_pd(attr->pd);
	}
	ret = wf_qp_create(pd, &init, &qp->qp);
	if (ret == 0) {
		wf_qp_set_user(qp->qp, qp);
		ret = wf_nic_add_qp(wv_nic(c), qp->qp);
		qp->ex.qp_base.qp_num = wf_qp_num(qp->qp);
	}
	wv_unlock(c);
	return -ret;
}

static int check_init(const struct ibv_qp_init_attr_ex *attr)
{
	uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
	                 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_XRCD;
	bool xrc = attr->qp_type == IBV_QPT_XRC_SEND || attr->qp_type == IBV_QPT_XRC_RECV;

	if ((attr->comp_mask & ~known) != 0)
		return EOPNOTSUPP;
	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return (attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) == 0 ||
		                       !wv_handle_is(attr->xrcd, WV_XRCD) || attr->srq != NULL
		               ? EINVAL
		               : 0;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || !wv_handle_is(attr->pd, WV_PD))
		return EINVAL;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && attr->create_flags != 0)
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0 &&
	    (attr->send_ops_flags & ~(uint64_t)SEND_OPS) != 0)
		return EOPNOTSUPP;
	if (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UC &&
	    attr->qp_type != IBV_QPT_UD && !xrc)
		return EOPNOTSUPP;
	if (!wv_handle_is(attr->send_cq, WV_CQ) || (!xrc && !wv_handle_is(attr->recv_cq, WV_CQ)) ||
	    (xrc && attr->srq != NULL) || (attr->srq != NULL && !wv_handle_is(attr->srq, WV_SRQ)))
		return EINVAL;
	return 0;
}

struct ibv_qp *wv_create_qp_ex(struct ibv_context *c, struct ibv_qp_init_attr_ex *attr)
{
	int error = check_init(attr);
	struct wv_qp *qp;
	struct ibv_qp *ibv;

	if (error != 0)
		return wv_fail(error);
	qp = wv_handle_make(sizeof(*qp), WV_QP);
	if (qp == NULL)
		return NULL;
	qp->handles = calloc(1, sizeof(*qp->handles));
	error = qp->handles == NULL ? ENOMEM : make_qp(qp, c, attr);
	if (error != 0) {
		free(qp->handles);
		wv_handle_free(qp);
		return wv_fail(error);
	}
	*qp->handles = 1;
	ibv = &qp->ex.qp_base;
	ibv->context = c;
	ibv->qp_context = attr->qp_context;
	/* One of XRC_RECV has no use for it, but librdmacm takes it from there. */
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_PD) != 0)
		ibv->pd = attr->pd;
	if (attr->qp_type != IBV_QPT_XRC_RECV)
		ibv->send_cq = attr->send_cq;
	if (attr->qp_type != IBV_QPT_XRC_RECV && attr->qp_type != IBV_QPT_XRC_SEND)
		ibv->recv_cq = attr->recv_cq;
	ibv->srq = attr->srq;
	ibv->handle = ibv->qp_num;
	ibv->state = IBV_QPS_RESET;
	ibv->qp_type = attr->qp_type;
	pthread_mutex_init(&ibv->mutex, NULL);
	pthread_cond_init(&ibv->cond, NULL);
	memcpy(&qp->init, attr, sizeof(qp->init)); /* its first members are the same */
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0)
		wv_qp_ex_init(qp);
	return ibv;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = { .comp_mask = 0 };

	memcpy(&ex, attr, sizeof(*attr));
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	ex.pd = pd;
	return wv_create_qp_ex(pd->context, &ex);
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *ibv)
{
	return wv_qp(ibv)->extended ? &wv_qp(ibv)->ex : NULL;
}

static int convert_attr(struct ibv_qp *ibv, const struct ibv_qp_attr *a, uint32_t mask,
                        struct wf_qp_attr *to)
{
	*to = (struct wf_qp_attr){
		.qp_state = (enum wf_qp_state)a->qp_state,
		.cur_qp_state = (enum wf_qp_state)a->cur_qp_state,
		.path_mtu = (enum wf_mtu)a->path_mtu,
		.path_mig_state = (enum wf_mig_state)a->path_mig_state,
		.qkey = a->qkey,
		.rq_psn = a->rq_psn & WF_PSN_MASK,
		.sq_psn = a->sq_psn & WF_PSN_MASK,
		.dest_qp_num = a->dest_qp_num,
		.qp_access_flags = a->qp_access_flags & WF_ACCESS_ALL,
		.pkey_index = a->pkey_index,
		.alt_pkey_index = a->alt_pkey_index,
		.en_sqd_async_notify = a->en_sqd_async_notify != 0,
		.max_rd_atomic = a->max_rd_atomic,
		.max_dest_rd_atomic = a->max_dest_rd_atomic,
		.min_rnr_timer = a->min_rnr_timer,
		.port_num = a->port_num,
		.timeout = a->timeout,
		.retry_cnt = a->retry_cnt,
		.rnr_retry = a->rnr_retry,
		.alt_port_num = a->alt_port_num,
		.alt_timeout = a->alt_timeout,
		.rate_limit = a->rate_limit,
	};
	if ((mask & IBV_QP_PORT) != 0 && a->port_num != WV_PORT)
		return EINVAL;
	/* Longer packets would be lost on the way. */
	if ((mask & IBV_QP_PATH_MTU) != 0 &&
	    (to->path_mtu > WF_MTU_4096 ||
	     wf_mtu_bytes(to->path_mtu) > wf_nic_table(wv_nic(ibv->context))->mtu))
		return EINVAL;
	if ((mask & IBV_QP_AV) != 0) {
		int error = wv_ah_attr(ibv->context, &a->ah_attr, &to->ah_attr);

		if (error != 0)
			return error;
	}
	if ((mask & IBV_QP_ALT_PATH) != 0)
		return wv_ah_attr(ibv->context, &a->alt_ah_attr, &to->alt_ah_attr);
	return 0;
}

/*
 * The attributes that count: as Linux does, those that a queue pair which only sends, or only
 * receives, has no use for are left out, not refused.
 */
static uint32_t useful_attrs(enum ibv_qp_type type, uint32_t mask)
{
	if (type == IBV_QPT_XRC_SEND)
		return mask & ~(uint32_t)(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (type == IBV_QPT_XRC_RECV)
		return mask &
		       ~(uint32_t)(IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY);
	return mask;
}

int ibv_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int attr_mask)
{
	struct wv_qp *qp = wv_qp(ibv);
	uint32_t mask = useful_attrs(ibv->qp_type, (uint32_t)attr_mask);
	struct wf_nic *nic = wv_nic(ibv->context);
	struct wf_qp_attr a;
	int ret;

	if (!wv_handle_is(qp, WV_QP))
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	if ((mask & IBV_QP_STATE) != 0)
		wf_nic_catch_up(nic, qp->qp);
	ret = -convert_attr(ibv, attr, mask, &a);
	/* The lock may have been let go. */
	if (ret == 0)
		ret = wv_handle_is(qp, WV_QP) ? wf_qp_modify(qp->qp, &a, mask) : -EINVAL;
	if (ret == 0) {
		if ((mask & IBV_QP_DEST_QPN) != 0) {
			struct wf_qp_attr now;

			wf_qp_query(qp->qp, &now, NULL);
			wf_nic_bind(nic, qp->qp, now.ah_attr.dest, now.dest_qp_num);
		}
		ibv->state = (enum ibv_qp_state)wf_qp_state(qp->qp);
		wf_nic_kick(nic);
	}
	wv_unlock(ibv->context);
	return -ret;
}

static void attr_back(const struct wf_qp_attr *a, struct ibv_qp_attr *to)
{
	memset(to, 0, sizeof(*to));
	to->qp_state = (enum ibv_qp_state)a->qp_state;
	to->cur_qp_state = (enum ibv_qp_state)a->cur_qp_state;
	to->path_mtu = (enum ibv_mtu)a->path_mtu;
	to->path_mig_state = (enum ibv_mig_state)a->path_mig_state;
	to->qkey = a->qkey;
	to->rq_psn = a->rq_psn;
	to->sq_psn = a->sq_psn;
	to->dest_qp_num = a->dest_qp_num;
	to->qp_access_flags = a->qp_access_flags;
	to->pkey_index = a->pkey_index;
	to->alt_pkey_index = a->alt_pkey_index;
	to->en_sqd_async_notify = a->en_sqd_async_notify;
	to->sq_draining = a->sq_draining;
	to->max_rd_atomic = a->max_rd_atomic;
	to->max_dest_rd_atomic = a->max_dest_rd_atomic;
	to->min_rnr_timer = a->min_rnr_timer;
	to->port_num = a->port_num;
	to->timeout = a->timeout;
	to->retry_cnt = a->retry_cnt;
	to->rnr_retry = a->rnr_retry;
	to->alt_port_num = a->alt_port_num;
	to->alt_timeout = a->alt_timeout;
	to->rate_limit = a->rate_limit;
	to->cap = (struct ibv_qp_cap){ a->cap.max_send_wr, a->cap.max_recv_wr, a->cap.max_send_sge,
		                       a->cap.max_recv_sge, a->cap.max_inline_data };
	wv_ah_attr_back(&a->ah_attr, &to->ah_attr);
	wv_ah_attr_back(&a->alt_ah_attr, &to->alt_ah_attr);
}

int ibv_query_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask,
                 struct ibv_qp_init_attr *init)
{
	struct wv_qp *qp = wv_qp(ibv);
	struct wf_qp_attr a;

	(void)mask;
	if (!wv_handle_is(qp, WV_QP))
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	wf_qp_query(qp->qp, &a, NULL);
	wv_unlock(ibv->context);
	attr_back(&a, attr);
	*init = qp->init;
	init->cap = attr->cap;
	ibv->state = attr->qp_state;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *ibv)
{
	struct wv_qp *qp = wv_qp(ibv);
	uint32_t asyncs;

	if (!wv_handle_is(qp, WV_QP))
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	assert(*qp->handles > 0);
	if (--*qp->handles == 0) {
		wf_nic_catch_up(wv_nic(ibv->context), qp->qp);
		wf_nic_remove_qp(wv_nic(ibv->context), qp->qp);
		wf_qp_destroy(qp->qp);
		free(qp->handles);
	} else if (wf_qp_user(qp->qp) == qp) {
		wf_qp_set_user(qp->qp, NULL); /* events are this one's */
	}
	wv_async_purge(wv_context(ibv->context), qp);
	asyncs = qp->asyncs;
	wv_unlock(ibv->context);
	pthread_mutex_lock(&ibv->mutex);
	while (ibv->events_completed != asyncs)
		pthread_cond_wait(&ibv->cond, &ibv->mutex);
	pthread_mutex_unlock(&ibv->mutex);
	wv_handle_remove(qp);
	wv_qp_ex_fini(qp);
	free(qp);
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct wv_ah *ah = wv_handle_make(sizeof(*ah), WV_AH);
	struct wf_ah_attr a;
	int ret;

	if (ah == NULL)
		return NULL;
	if (!wv_lock(pd->context)) {
		wv_handle_free(ah);
		return wv_fail(EIO);
	}
	ret = attr->port_num != WV_PORT ? -EINVAL : -wv_ah_attr(pd->context, attr, &a);
	if (ret == 0)
		ret = wf_ah_create(wv_pd(pd), &a, &ah->ah);
	wv_unlock(pd->context);
	if (ret != 0) {
		wv_handle_free(ah);
		return wv_fail(-ret);
	}
	ah->ibv.context = pd->context;
	ah->ibv.pd = pd;
	return &ah->ibv;
}

int ibv_destroy_ah(struct ibv_ah *ibv)
{
	struct wv_ah *ah = (struct wv_ah *)(void *)ibv;

	if (!wv_handle_is(ah, WV_AH))
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	wf_ah_destroy(ah->ah);
	wv_unlock(ibv->context);
	wv_handle_free(ah);
	return 0;
}

/* From whom a datagram came: RoCE shows his IP address where the GRH would be. */
int ibv_init_ah_from_wc(struct ibv_context *c, uint8_t port, struct ibv_wc *wc, struct ibv_grh *grh,
                        struct ibv_ah_attr *attr)
{
	static const uint8_t v4_mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
	bool roce = wf_nic_table(wv_nic(c))->layer == WF_LIVE_ROCE;

	memset(attr, 0, sizeof(*attr));
	attr->dlid = wc->slid;
	attr->sl = roce ? 0 : wc->sl;
	attr->src_path_bits = wc->dlid_path_bits;
	attr->port_num = port;
	if ((wc->wc_flags & IBV_WC_GRH) == 0)
		return 0;
	attr->is_global = 1;
	attr->grh.hop_limit = 0xff;
	if (((const uint8_t *)grh)[0] >> 4 == 6) {
		attr->grh.dgid = grh->sgid;
		if (roce && grh->next_hdr == WF_IP_PROTO_IBA)
			attr->grh.sgid_index = WF_LIVE_GID_ROCE1;
	} else if (roce) {
		memcpy(attr->grh.dgid.raw, v4_mapped, sizeof(v4_mapped));
		memcpy(attr->grh.dgid.raw + 12, (const uint8_t *)grh + 20 + 12, 4);
		attr->grh.sgid_index = 1;
	}
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
                                     uint8_t port)
{
	struct ibv_ah_attr attr;

	if (ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr) != 0)
		return NULL;
	return ibv_create_ah(pd, &attr);
}

static int mcast(struct ibv_qp *ibv, const union ibv_gid *gid, bool join)
{
	struct wv_qp *qp = wv_qp(ibv);
	struct wf_nic *nic = wv_nic(ibv->context);
	int ret;

	if (!wv_handle_is(qp, WV_QP) || ibv->qp_type != IBV_QPT_UD || !wf_live_is_group(gid->raw))
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	ret = join ? wf_nic_join(nic, qp->qp, gid->raw) : wf_nic_leave(nic, qp->qp, gid->raw);
	wv_unlock(ibv->context);
	return -ret;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)lid;
	return mcast(qp, gid, true);
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)lid;
	return mcast(qp, gid, false);
}

int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	(void)qp;
	(void)op;
	(void)flags;
	return 0;
}

/* No vendor's extensions to agree on. */
int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp;
	(void)ece;
	return EOPNOTSUPP;
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp;
	(void)ece;
	return EOPNOTSUPP;
}
