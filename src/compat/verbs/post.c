/* SPDX-License-Identifier: Apache-2.0 */
/* post.c - work requests from libibverbs' form into the transport's. */
#include <endian.h>
#include <errno.h>

#include "compat/verbs/verbs_priv.h"

_Static_assert((int)WF_WR_SEND_WITH_INV == (int)IBV_WR_SEND_WITH_INV &&
                       (int)WF_WR_RDMA_READ == (int)IBV_WR_RDMA_READ,
               "kinds of work");
_Static_assert((int)WF_SEND_INLINE == (int)IBV_SEND_INLINE &&
                       (int)WF_SEND_SIGNALED == (int)IBV_SEND_SIGNALED,
               "flags of sends");
_Static_assert(sizeof(struct ibv_sge) == sizeof(struct wf_sge) &&
                       offsetof(struct ibv_sge, addr) == offsetof(struct wf_sge, addr) &&
                       offsetof(struct ibv_sge, length) == offsetof(struct wf_sge, length) &&
                       offsetof(struct ibv_sge, lkey) == offsetof(struct wf_sge, lkey),
               "a list of one is a list of the other");

static int convert_bind(const struct ibv_send_wr *wr, struct wf_send_wr *to)
{
	const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;

	if (wr->bind_mw.mw == NULL || info->mr == NULL)
		return EINVAL;
	to->mw.mw = ((struct wv_mw *)(void *)wr->bind_mw.mw)->mw;
	to->mw.rkey = wr->bind_mw.rkey;
	to->mw.bind = (struct wf_mw_bind){
		.mr = ((struct wv_mr *)(void *)info->mr)->mr,
		.addr = info->addr,
		.length = info->length,
		.access = info->mw_access_flags & WV_MW_ACCESS,
	};
	return 0;
}

static int convert(const struct ibv_qp *qp, const struct ibv_send_wr *wr, struct wf_send_wr *to)
{
	to->wr_id = wr->wr_id;
	to->next = NULL;
	to->sge = (const struct wf_sge *)(const void *)wr->sg_list;
	to->num_sge = (uint32_t)wr->num_sge;
	to->opcode = (enum wf_wr_opcode)wr->opcode;
	to->flags = wr->send_flags;
	to->imm = be32toh(wr->imm_data);
	to->srqn = qp->qp_type == IBV_QPT_XRC_SEND ? wr->qp_type.xrc.remote_srqn : 0;
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
		to->rdma.addr = wr->wr.rdma.remote_addr;
		to->rdma.rkey = wr->wr.rdma.rkey;
		return 0;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		to->atomic.addr = wr->wr.atomic.remote_addr;
		to->atomic.compare_add = wr->wr.atomic.compare_add;
		to->atomic.swap = wr->wr.atomic.swap;
		to->atomic.rkey = wr->wr.atomic.rkey;
		return 0;
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
		if (wr->opcode == IBV_WR_SEND_WITH_INV)
			to->imm = wr->invalidate_rkey;
		if (qp->qp_type != IBV_QPT_UD)
			return 0;
		if (wr->wr.ud.ah == NULL)
			return EINVAL;
		to->ud.ah = ((struct wv_ah *)(void *)wr->wr.ud.ah)->ah;
		to->ud.qpn = wr->wr.ud.remote_qpn;
		to->ud.qkey = wr->wr.ud.remote_qkey;
		return 0;
	case IBV_WR_LOCAL_INV:
		to->imm = wr->invalidate_rkey;
		return 0;
	case IBV_WR_BIND_MW:
		return convert_bind(wr, to);
	case IBV_WR_TSO:
	case IBV_WR_DRIVER1:
	case IBV_WR_ATOMIC_WRITE:
	default:
		return EINVAL;
	}
}

int wv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct wf_qp *to = wv_qp(qp)->qp;
	const struct wf_send_wr *refused;
	struct wf_send_wr one;
	int ret = 0;

	if (wf_unlikely(!wv_lock(qp->context))) {
		*bad = wr;
		return EIO;
	}
	for (; wr != NULL; wr = wr->next) {
		ret = convert(qp, wr, &one);
		if (ret == 0)
			ret = -wf_qp_post_send(to, &one, &refused);
		if (ret != 0) {
			*bad = wr;
			break;
		}
	}
	wf_nic_kick(wv_nic(qp->context));
	wv_unlock(qp->context);
	return ret;
}

int wv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct wf_mw_bind b = {
		.addr = bind->bind_info.addr,
		.length = bind->bind_info.length,
		.access = bind->bind_info.mw_access_flags & WV_MW_ACCESS,
	};
	int ret;

	if (!wv_handle_is(mw, WV_MW) || !wv_handle_is(bind->bind_info.mr, WV_MR) ||
	    mw->type != IBV_MW_TYPE_1)
		return EINVAL;
	b.mr = ((struct wv_mr *)(void *)bind->bind_info.mr)->mr;
	if (!wv_lock(qp->context))
		return EIO;
	ret = wf_qp_bind_mw(wv_qp(qp)->qp, ((struct wv_mw *)(void *)mw)->mw, bind->wr_id,
	                    bind->send_flags, &b);
	if (ret == 0) {
		mw->rkey = wf_mw_rkey(((struct wv_mw *)(void *)mw)->mw);
		wf_nic_kick(wv_nic(qp->context));
	}
	wv_unlock(qp->context);
	return -ret;
}

static void convert_recv(const struct ibv_recv_wr *wr, struct wf_recv_wr *to)
{
	to->wr_id = wr->wr_id;
	to->next = NULL;
	to->sge = (const struct wf_sge *)(const void *)wr->sg_list;
	to->num_sge = (uint32_t)wr->num_sge;
}

int wv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const struct wf_recv_wr *refused;
	struct wf_recv_wr one;
	int ret = 0;

	if (wf_unlikely(!wv_lock(qp->context))) {
		*bad = wr;
		return EIO;
	}
	for (; wr != NULL && ret == 0; wr = wr->next) {
		convert_recv(wr, &one);
		ret = wf_qp_post_recv(wv_qp(qp)->qp, &one, &refused);
		if (ret != 0)
			*bad = wr;
	}
	/*
	 * A queue pair in error flushes it at once, and nothing else may happen that tells of it.
	 */
	if (wf_unlikely(wf_qp_state(wv_qp(qp)->qp) == WF_QPS_ERR))
		wf_nic_kick(wv_nic(qp->context));
	wv_unlock(qp->context);
	return -ret;
}

int wv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const struct wf_recv_wr *refused;
	struct wf_recv_wr one;
	int ret = 0;

	if (wf_unlikely(!wv_lock(srq->context))) {
		*bad = wr;
		return EIO;
	}
	for (; wr != NULL && ret == 0; wr = wr->next) {
		convert_recv(wr, &one);
		ret = wf_srq_post_recv(((struct wv_srq *)(void *)srq)->srq, &one, &refused);
		if (ret != 0)
			*bad = wr;
	}
	wv_unlock(srq->context);
	return -ret;
}
