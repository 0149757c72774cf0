/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig_qp.h - queue pairs on a rig: made, connected, recycled; work posted in a line.
 */
#ifndef WF_TESTS_RIG_QP_H
#define WF_TESTS_RIG_QP_H

#include "rig.h"

#define RIG_RTR_RC                                                                                 \
	(WF_QP_STATE | WF_QP_AV | WF_QP_PATH_MTU | WF_QP_DEST_QPN | WF_QP_RQ_PSN |                 \
	 WF_QP_MAX_DEST_RD_ATOMIC | WF_QP_MIN_RNR_TIMER)
#define RIG_RTR_UC (WF_QP_STATE | WF_QP_AV | WF_QP_PATH_MTU | WF_QP_DEST_QPN | WF_QP_RQ_PSN)
#define RIG_RTS_RC                                                                                 \
	(WF_QP_STATE | WF_QP_TIMEOUT | WF_QP_RETRY_CNT | WF_QP_RNR_RETRY | WF_QP_SQ_PSN |          \
	 WF_QP_MAX_QP_RD_ATOMIC)
#define RIG_RTS_UC (WF_QP_STATE | WF_QP_SQ_PSN)
#define RIG_QKEY 0x1234

/* What rig_connect() uses; change before. */
static inline void rig_attr_defaults(struct wf_qp_attr *attr)
{
	*attr = (struct wf_qp_attr){
		.port_num = 1,
		.qkey = RIG_QKEY,
		.path_mtu = WF_MTU_1024,
		.qp_access_flags = WF_ACCESS_REMOTE,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.timeout = 5,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = { .port_num = 1 },
		.alt_ah_attr = { .port_num = 1 },
		.alt_port_num = 1,
	};
}

static inline void rig_init_qp(struct wf_qp_init *init, struct rig_host *h, enum wf_qp_type type)
{
	*init = (struct wf_qp_init){
		.type = type,
		.send_cq = h->cq,
		.recv_cq = h->cq,
		.cap = { .max_send_wr = 256,
		         .max_recv_wr = 256,
		         .max_send_sge = 4,
		         .max_recv_sge = 4,
		         .max_inline_data = 256 },
	};
}

static inline struct wf_qp *rig_make_qp(struct rig *rig, uint32_t host, enum wf_qp_type type,
                                        const struct wf_qp_tune *tune)
{
	struct wf_qp_init init;
	struct wf_qp *qp;

	rig_init_qp(&init, &rig->host[host], type);
	if (tune != NULL)
		init.tune = *tune;
	rig_must(wf_qp_create(rig->host[host].pd, &init, &qp) == 0);
	return qp;
}

static inline void rig_to_init(struct wf_qp *qp, struct wf_qp_attr *attr)
{
	uint32_t mask = WF_QP_STATE | WF_QP_PKEY_INDEX | WF_QP_PORT;

	attr->qp_state = WF_QPS_INIT;
	mask |= wf_qp_type(qp) == WF_QPT_UD ? WF_QP_QKEY : WF_QP_ACCESS_FLAGS;
	rig_must(wf_qp_modify(qp, attr, mask) == 0);
}

/* From RESET to RTS, towards queue pair qpn on host dest; PSNs start at sq_psn and rq_psn. */
static inline void rig_bring_up(struct wf_qp *qp, const struct wf_qp_attr *base, uint32_t dest,
                                uint32_t qpn, uint32_t sq_psn, uint32_t rq_psn)
{
	enum wf_qp_type type = wf_qp_type(qp);
	struct wf_qp_attr attr = *base;

	rig_to_init(qp, &attr);
	attr.qp_state = WF_QPS_RTR;
	attr.dest_qp_num = qpn;
	attr.ah_attr.dest = dest;
	attr.rq_psn = rq_psn;
	attr.sq_psn = sq_psn;
	rig_must(wf_qp_modify(qp, &attr,
	                      type == WF_QPT_RC   ? RIG_RTR_RC
	                      : type == WF_QPT_UC ? RIG_RTR_UC
	                                          : WF_QP_STATE) == 0);
	attr.qp_state = WF_QPS_RTS;
	rig_must(wf_qp_modify(qp, &attr, type == WF_QPT_RC ? RIG_RTS_RC : RIG_RTS_UC) == 0);
}

/* Connects a on host ha with b on host hb; PSNs from psn and psn + 1000. */
static inline void rig_connect(struct wf_qp *a, uint32_t ha, struct wf_qp *b, uint32_t hb,
                               const struct wf_qp_attr *attr, uint32_t psn)
{
	uint32_t back = (psn + 1000) & 0xffffff;

	rig_bring_up(a, attr, hb, wf_qp_num(b), psn, back);
	rig_bring_up(b, attr, ha, wf_qp_num(a), back, psn);
}

static inline void rig_reset_qp(struct wf_qp *qp)
{
	struct wf_qp_attr attr = { .qp_state = WF_QPS_RESET };

	rig_must(wf_qp_modify(qp, &attr, WF_QP_STATE) == 0);
}

/* A region of length bytes at host, addressed by its pointer. */
static inline struct wf_mr *rig_reg(struct rig_host *h, void *host, size_t length, uint32_t access)
{
	struct wf_mr_attr attr = {
		.host = host, .iova = (uintptr_t)host, .length = length, .access = access
	};
	struct wf_mr *mr;

	rig_must(wf_mr_reg(h->pd, &attr, &mr) == 0);
	return mr;
}

static inline struct wf_sge rig_sge(const void *addr, uint32_t length, const struct wf_mr *mr)
{
	return (struct wf_sge){ .addr = (uintptr_t)addr,
		                .length = length,
		                .lkey = mr != NULL ? wf_mr_lkey(mr) : 0 };
}

static inline int rig_post(struct wf_qp *qp, struct wf_send_wr *wr, const struct wf_sge *sge)
{
	const struct wf_send_wr *bad;

	if (sge != NULL) {
		wr->sge = sge;
		wr->num_sge = 1;
	}
	return wf_qp_post_send(qp, wr, &bad);
}

static inline int rig_recv(struct wf_qp *qp, uint64_t wr_id, const struct wf_sge *sge)
{
	struct wf_recv_wr wr = { .wr_id = wr_id, .sge = sge, .num_sge = sge != NULL };
	const struct wf_recv_wr *bad;

	return wf_qp_post_recv(qp, &wr, &bad);
}

/* Takes one completion, if there is one. */
static inline bool rig_poll(struct rig *rig, uint32_t host, struct wf_wc *wc)
{
	return wf_cq_poll(rig->host[host].cq, 1, wc) == 1;
}

#endif
