/* SPDX-License-Identifier: Apache-2.0 */
/* qp_post.c - work requests into the queues. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "rdma/mr.h"
#include "rdma/path_priv.h"
#include "rdma/qp_flow.h"
#include "rdma/wr_priv.h"

/* Bits of struct op_rule.services. */
#define RC 1
#define UC 2
#define UD 4

struct op_rule {
	uint8_t services;
	bool inline_ok;
};

static const struct op_rule op_rules[WF_WR_OPCODES] = {
	[WF_WR_RDMA_WRITE] = { RC | UC, true },
	[WF_WR_RDMA_WRITE_WITH_IMM] = { RC | UC, true },
	[WF_WR_SEND] = { RC | UC | UD, true },
	[WF_WR_SEND_WITH_IMM] = { RC | UC | UD, true },
	[WF_WR_RDMA_READ] = { RC, false },
	[WF_WR_ATOMIC_CMP_AND_SWP] = { RC, false },
	[WF_WR_ATOMIC_FETCH_AND_ADD] = { RC, false },
	[WF_WR_LOCAL_INV] = { RC | UC, false },
	[WF_WR_BIND_MW] = { RC | UC, false },
	[WF_WR_SEND_WITH_INV] = { RC, true },
	[WF_WR_ATOMIC_WRITE] = { RC, false },
};

static uint8_t service_bit(const struct wf_qp *qp)
{
	return qp->reliable ? RC : qp->type == WF_QPT_UC ? UC : UD;
}

/* What can be seen to be wrong before the work is carried out. */
static int check_wr(const struct wf_qp *qp, const struct wf_send_wr *wr)
{
	if ((uint32_t)wr->opcode >= WF_WR_OPCODES || (wr->flags & ~(uint32_t)WF_SEND_FLAGS) != 0)
		return -EINVAL;
	if ((op_rules[wr->opcode].services & service_bit(qp)) == 0 || qp->type == WF_QPT_XRC_RECV)
		return -EINVAL;
	if (qp->type == WF_QPT_XRC_SEND &&
	    (wr->srqn > UINT16_MAX || wr->opcode == WF_WR_ATOMIC_WRITE))
		return -EINVAL;
	if (wr->opcode == WF_WR_ATOMIC_WRITE && wr->num_sge != 0)
		return -EINVAL;
	if ((wr->flags & WF_SEND_INLINE) != 0 && !op_rules[wr->opcode].inline_ok)
		return -EINVAL;
	if (wr->num_sge > qp->init.cap.max_send_sge && (wr->flags & WF_SEND_INLINE) == 0)
		return -EINVAL;
	if (wf_qp_is_ud(qp) && (wr->ud.ah == NULL || wr->ud.qpn > WF_QPN_MASK))
		return -EINVAL;
	if (wr->opcode == WF_WR_BIND_MW && (wr->mw.mw == NULL || wr->mw.bind.mr == NULL))
		return -EINVAL;
	return 0;
}

static uint64_t sge_bytes(const struct wf_send_wr *wr)
{
	uint64_t length = 0;

	for (uint32_t i = 0; i < wr->num_sge; i++)
		length += wr->sge[i].length;
	return length;
}

static void copy_inline(struct wf_swqe *wqe, const struct wf_send_wr *wr)
{
	char *to = (char *)(wqe + 1);

	for (uint32_t i = 0; i < wr->num_sge; i++) {
		const void *from = (const void *)(uintptr_t)wr->sge[i].addr;

		if (from != NULL)
			memcpy(to, from, wr->sge[i].length);
		else
			memset(to, 0, wr->sge[i].length);
		to += wr->sge[i].length;
	}
	wqe->num_sge = 0;
}

/* Lengths that the operation cannot have become a completion in error. */
static enum wf_wc_status length_status(const struct wf_qp *qp, const struct wf_send_wr *wr,
                                       uint64_t length)
{
	if (length > WF_MSG_MAX)
		return WF_WC_LOC_LEN_ERR;
	if (wf_qp_is_ud(qp) && length > wf_qp_mtu(qp))
		return WF_WC_LOC_LEN_ERR;
	if ((wr->opcode == WF_WR_ATOMIC_CMP_AND_SWP || wr->opcode == WF_WR_ATOMIC_FETCH_AND_ADD) &&
	    length != 8)
		return WF_WC_LOC_LEN_ERR;
	return WF_WC_SUCCESS;
}

static void set_ud(const struct wf_qp *qp, struct wf_swqe *wqe, const struct wf_send_wr *wr)
{
	const struct wf_ah *ah = wr->ud.ah;

	if (ah->pd != qp->pd && wqe->status == WF_WC_SUCCESS)
		wqe->status = WF_WC_LOC_QP_OP_ERR;
	wqe->ud.dest = ah->attr.dest;
	wqe->ud.qpn = wr->ud.qpn;
	/* A privileged Q_Key stands for the queue pair's own. */
	wqe->ud.qkey = (wr->ud.qkey & 0x80000000) != 0 ? qp->attr.qkey : wr->ud.qkey;
	wqe->ud.entropy = wf_path_entropy(&ah->attr, qp->qpn, wr->ud.qpn);
	wqe->ud.cls = ah->attr.sl;
	wqe->ud.traffic_class = ah->attr.traffic_class;
	qp->hca->classes |= 1u << ah->attr.sl;
	qp->hca->data_classes |= 1u << ah->attr.sl;
	wqe->ud.ect = wf_path_ect(qp, &ah->attr);
}

static void set_operands(const struct wf_qp *qp, struct wf_swqe *wqe, const struct wf_send_wr *wr)
{
	switch (wr->opcode) {
	case WF_WR_RDMA_WRITE:
	case WF_WR_RDMA_WRITE_WITH_IMM:
	case WF_WR_RDMA_READ:
		wqe->addr = wr->rdma.addr;
		wqe->rkey = wr->rdma.rkey;
		break;
	case WF_WR_ATOMIC_CMP_AND_SWP:
	case WF_WR_ATOMIC_FETCH_AND_ADD:
	case WF_WR_ATOMIC_WRITE:
		wqe->addr = wr->atomic.addr;
		wqe->rkey = wr->atomic.rkey;
		wqe->compare_add = wr->atomic.compare_add;
		wqe->swap = wr->atomic.swap;
		break;
	case WF_WR_BIND_MW:
		wqe->addr = wr->mw.bind.addr;
		wqe->swap = wr->mw.bind.length;
		wqe->rkey = wr->mw.rkey;
		*wf_swqe_bind(wqe) = (struct wf_swqe_bind){
			.mw = &wr->mw.mw->region,
			.mr = &wr->mw.bind.mr->region,
			.mr_key = wr->mw.bind.mr->region.key,
			.access = wr->mw.bind.access,
		};
		break;
	case WF_WR_SEND:
	case WF_WR_SEND_WITH_IMM:
	case WF_WR_SEND_WITH_INV:
		if (wf_qp_is_ud(qp))
			set_ud(qp, wqe, wr);
		break;
	case WF_WR_LOCAL_INV:
	case WF_WR_OPCODES:
		break;
	}
}

/* An empty queue starts over, so that a short one keeps to its first lines of memory. */
static void restart(struct wf_req *req)
{
	assert(req->send == req->cons && req->fresh == req->cons);
	req->prod = req->send = req->fresh = req->cons = req->rtx_wqe = 0;
}

static int post_one(struct wf_qp *qp, const struct wf_send_wr *wr)
{
	struct wf_req *req = &qp->req;
	uint64_t length = 0;
	struct wf_swqe *wqe;

	if (check_wr(qp, wr) != 0)
		return -EINVAL;
	if (req->prod - req->cons >= qp->init.cap.max_send_wr)
		return -ENOMEM;
	if (!wf_wr_is_local((uint8_t)wr->opcode))
		length = sge_bytes(wr);
	if ((wr->flags & WF_SEND_INLINE) != 0 && length > qp->init.cap.max_inline_data)
		return -EINVAL;

	if (req->prod == req->cons)
		restart(req);
	wqe = wf_sq_at(req, req->prod);
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->opcode = (uint8_t)wr->opcode;
	wqe->flags = (uint8_t)wr->flags;
	wqe->imm = wr->imm;
	wqe->srqn = (uint16_t)wr->srqn;
	wqe->status = (uint8_t)length_status(qp, wr, length);
	wqe->length = wqe->status == WF_WC_SUCCESS ? (uint32_t)length : 0;
	if ((wr->flags & WF_SEND_INLINE) != 0) {
		copy_inline(wqe, wr);
	} else if (!wf_wr_is_local(wqe->opcode)) {
		wqe->num_sge = (uint8_t)wr->num_sge;
		for (uint32_t i = 0; i < wr->num_sge; i++)
			wf_swqe_sge(wqe)[i] = wr->sge[i];
	}
	set_operands(qp, wqe, wr);
	req->prod++;
	return 0;
}

void wf_qp_delay(struct wf_qp *qp, wf_time at)
{
	if (wf_req_pending(qp) || at <= qp->next_tx)
		return;
	qp->next_tx = at;
	qp->paced = 0; /* a change of rate does not move it */
}

int wf_qp_post_send(struct wf_qp *qp, const struct wf_send_wr *wr, const struct wf_send_wr **bad_p)
{
	int ret = 0;

	wf_qp_warm(qp);
	if (qp->state < WF_QPS_RTS) {
		*bad_p = wr;
		return -EINVAL;
	}
	for (; wr != NULL && ret == 0; wr = wr->next) {
		if (wr->opcode == WF_WR_BIND_MW && wr->mw.mw != NULL &&
		    wr->mw.mw->region.kind != WF_REGION_MW2)
			ret = -EINVAL;
		else
			ret = post_one(qp, wr);
		if (ret != 0)
			*bad_p = wr;
	}
	if (qp->state == WF_QPS_ERR || qp->state == WF_QPS_SQE)
		wf_comp_flush(qp);
	else
		wf_qp_kick(qp);
	return ret;
}

int wf_qp_bind_mw(struct wf_qp *qp, struct wf_mw *mw, uint64_t wr_id, uint32_t flags,
                  const struct wf_mw_bind *bind)
{
	struct wf_send_wr wr = {
		.wr_id = wr_id,
		.opcode = WF_WR_BIND_MW,
		.flags = flags,
		.mw = { .mw = mw, .rkey = wf_rkey_next(mw->region.next_key), .bind = *bind },
	};
	int ret;

	if (mw->region.kind != WF_REGION_MW1 || qp->state < WF_QPS_RTS)
		return -EINVAL;
	ret = post_one(qp, &wr);
	if (ret != 0)
		return ret;
	mw->region.next_key = wr.mw.rkey;
	if (qp->state == WF_QPS_ERR || qp->state == WF_QPS_SQE)
		wf_comp_flush(qp);
	else
		wf_qp_kick(qp);
	return 0;
}

int wf_qp_post_recv(struct wf_qp *qp, const struct wf_recv_wr *wr, const struct wf_recv_wr **bad_p)
{
	int ret = qp->state == WF_QPS_RESET || qp->srq != NULL || wf_qp_is_xrc(qp) ? -EINVAL : 0;

	if (ret != 0)
		*bad_p = wr;
	for (; wr != NULL && ret == 0; wr = wr->next) {
		ret = wf_rq_post(&qp->rq, wr);
		if (ret != 0)
			*bad_p = wr;
	}
	if (qp->state == WF_QPS_ERR)
		wf_resp_flush(qp);
	return ret;
}
