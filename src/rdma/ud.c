/* SPDX-License-Identifier: Apache-2.0 */
/* ud.c - datagrams in: Q_Key, the 40 bytes of the GRH, one receive work request. */
#include <errno.h>
#include <string.h>

#include "rdma/qp_flow.h"
#include "rdma/sg_priv.h"

/* Writes header and payload. Returns what the completion says. */
static enum wf_wc_status place(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload,
                               bool *grh_p)
{
	const struct wf_hca_attr *attr = &qp->hca->attr;
	const struct wf_rwqe *wqe = qp->resp.wqe;
	uint8_t grh[WF_GRH_LEN];

	*grh_p = attr->grh != NULL && attr->grh(attr->grh_ctx, pkt, grh);
	if ((uint64_t)pkt->length + WF_GRH_LEN > wqe->length)
		return WF_WC_LOC_LEN_ERR;
	if (wf_sg_scatter(qp, wqe->sge, wqe->num_sge, 0, WF_GRH_LEN, *grh_p ? grh : NULL) != 0)
		return WF_WC_LOC_PROT_ERR;
	if (wf_sg_scatter(qp, wqe->sge, wqe->num_sge, WF_GRH_LEN, pkt->length, payload) != 0)
		return WF_WC_LOC_PROT_ERR;
	return WF_WC_SUCCESS;
}

void wf_ud_rx(struct wf_qp *qp, const struct wf_packet *pkt, const struct wf_hca_rx_extra *extra)
{
	struct wf_hca *hca = qp->hca;
	enum wf_wc_status status;
	struct wf_wc wc;
	bool grh;

	if (pkt->u.deth.qkey != qp->attr.qkey) {
		wf_hca_count(hca, WF_CTR_QKEY_VIOLATIONS);
		wf_hca_count(hca, WF_CTR_RX_DISCARDS);
		return;
	}
	/* IBTA 9.8.3: without a receive work request the datagram is dropped. */
	if (!wf_resp_take_recv(qp)) {
		wf_hca_count(hca, WF_CTR_OUT_OF_BUFFER);
		return;
	}
	status = place(qp, pkt, extra->payload, &grh);
	if (status != WF_WC_SUCCESS) {
		if (status == WF_WC_LOC_LEN_ERR)
			wf_hca_count(hca, WF_CTR_RESP_LOCAL_LENGTH_ERROR);
		wf_resp_complete(qp, status, pkt);
		wf_qp_to_error(qp);
		return;
	}
	wc = (struct wf_wc){
		.wr_id = qp->resp.wqe->wr_id,
		.opcode = WF_WC_RECV,
		.byte_len = pkt->length + WF_GRH_LEN,
		.qp_num = qp->qpn,
		.src_qp = pkt->u.deth.src_qpn,
		.src = pkt->src,
		.sl = pkt->cls,
		.pkey_index = qp->pkey_index,
		.flags = grh ? WF_WC_GRH : 0,
		.time = hca->now,
	};
	if (wf_op_has_imm(pkt->opcode)) {
		wc.imm = pkt->imm;
		wc.flags |= WF_WC_WITH_IMM;
	}
	qp->resp.have_wqe = false;
	wf_qp_complete(qp, qp->recv_cq, &wc, (pkt->flags & WF_PACKET_SOLICITED) != 0);
}
