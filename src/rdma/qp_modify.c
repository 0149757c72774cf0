/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp_modify.c - which transitions a queue pair can make, and with which attributes.
 *
 * The table is IBTA vol. 1, 11.2.5.2: for each service, what a transition needs and what it may
 * have besides. To RESET and to ERR nothing is needed and nothing else allowed.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "rdma/apm_priv.h"
#include "rdma/lag_priv.h"
#include "rdma/path_priv.h"
#include "rdma/qp_flow.h"

#define SENDER (WF_QP_RETRY_CNT | WF_QP_RNR_RETRY | WF_QP_MAX_QP_RD_ATOMIC)
#define ALT (WF_QP_ALT_PATH | WF_QP_ACCESS_FLAGS | WF_QP_PATH_MIG_STATE)

struct rule {
	uint32_t need;
	uint32_t may;
};

struct transition {
	bool allowed;
	struct rule rc, uc, ud;
};

static const struct transition table[WF_QPS_STATES][WF_QPS_STATES] = {
	[WF_QPS_RESET] = {
		[WF_QPS_RESET] = { .allowed = true },
		[WF_QPS_ERR] = { .allowed = true },
		[WF_QPS_INIT] = {
			.allowed = true,
			.rc = { .need = WF_QP_PKEY_INDEX | WF_QP_PORT | WF_QP_ACCESS_FLAGS },
			.uc = { .need = WF_QP_PKEY_INDEX | WF_QP_PORT | WF_QP_ACCESS_FLAGS },
			.ud = { .need = WF_QP_PKEY_INDEX | WF_QP_PORT | WF_QP_QKEY },
		},
	},
	[WF_QPS_INIT] = {
		[WF_QPS_RESET] = { .allowed = true },
		[WF_QPS_ERR] = { .allowed = true },
		[WF_QPS_INIT] = {
			.allowed = true,
			.rc = { .may = WF_QP_PKEY_INDEX | WF_QP_PORT | WF_QP_ACCESS_FLAGS },
			.uc = { .may = WF_QP_PKEY_INDEX | WF_QP_PORT | WF_QP_ACCESS_FLAGS },
			.ud = { .may = WF_QP_PKEY_INDEX | WF_QP_PORT | WF_QP_QKEY },
		},
		[WF_QPS_RTR] = {
			.allowed = true,
			.rc = { .need = WF_QP_AV | WF_QP_PATH_MTU | WF_QP_DEST_QPN | WF_QP_RQ_PSN |
			                WF_QP_MAX_DEST_RD_ATOMIC | WF_QP_MIN_RNR_TIMER,
			        .may = WF_QP_ALT_PATH | WF_QP_ACCESS_FLAGS | WF_QP_PKEY_INDEX },
			.uc = { .need = WF_QP_AV | WF_QP_PATH_MTU | WF_QP_DEST_QPN | WF_QP_RQ_PSN,
			        .may = WF_QP_ALT_PATH | WF_QP_ACCESS_FLAGS | WF_QP_PKEY_INDEX },
			.ud = { .may = WF_QP_PKEY_INDEX | WF_QP_QKEY },
		},
	},
	[WF_QPS_RTR] = {
		[WF_QPS_RESET] = { .allowed = true },
		[WF_QPS_ERR] = { .allowed = true },
		[WF_QPS_RTS] = {
			.allowed = true,
			.rc = { .need = WF_QP_TIMEOUT | WF_QP_RETRY_CNT | WF_QP_RNR_RETRY |
			                WF_QP_SQ_PSN | WF_QP_MAX_QP_RD_ATOMIC,
			        .may = WF_QP_CUR_STATE | ALT | WF_QP_MIN_RNR_TIMER },
			.uc = { .need = WF_QP_SQ_PSN, .may = WF_QP_CUR_STATE | ALT },
			.ud = { .need = WF_QP_SQ_PSN, .may = WF_QP_CUR_STATE | WF_QP_QKEY },
		},
	},
	[WF_QPS_RTS] = {
		[WF_QPS_RESET] = { .allowed = true },
		[WF_QPS_ERR] = { .allowed = true },
		[WF_QPS_RTS] = {
			.allowed = true,
			.rc = { .may = WF_QP_CUR_STATE | ALT | WF_QP_MIN_RNR_TIMER },
			.uc = { .may = WF_QP_CUR_STATE | ALT },
			.ud = { .may = WF_QP_CUR_STATE | WF_QP_QKEY },
		},
		[WF_QPS_SQD] = {
			.allowed = true,
			.rc = { .may = WF_QP_EN_SQD_ASYNC_NOTIFY },
			.uc = { .may = WF_QP_EN_SQD_ASYNC_NOTIFY },
			.ud = { .may = WF_QP_EN_SQD_ASYNC_NOTIFY },
		},
	},
	[WF_QPS_SQD] = {
		[WF_QPS_RESET] = { .allowed = true },
		[WF_QPS_ERR] = { .allowed = true },
		[WF_QPS_RTS] = {
			.allowed = true,
			.rc = { .may = WF_QP_CUR_STATE | ALT | WF_QP_MIN_RNR_TIMER },
			.uc = { .may = WF_QP_CUR_STATE | ALT },
			.ud = { .may = WF_QP_CUR_STATE | WF_QP_QKEY },
		},
		[WF_QPS_SQD] = {
			.allowed = true,
			.rc = { .may = WF_QP_PORT | WF_QP_AV | WF_QP_TIMEOUT | WF_QP_RETRY_CNT |
			               WF_QP_RNR_RETRY | WF_QP_MAX_QP_RD_ATOMIC |
			               WF_QP_MAX_DEST_RD_ATOMIC | ALT | WF_QP_PKEY_INDEX |
			               WF_QP_MIN_RNR_TIMER },
			.uc = { .may = WF_QP_AV | ALT | WF_QP_PKEY_INDEX },
			.ud = { .may = WF_QP_PKEY_INDEX | WF_QP_QKEY },
		},
	},
	[WF_QPS_SQE] = {
		[WF_QPS_RESET] = { .allowed = true },
		[WF_QPS_ERR] = { .allowed = true },
		[WF_QPS_RTS] = {
			.allowed = true,
			.uc = { .may = WF_QP_CUR_STATE | WF_QP_ACCESS_FLAGS },
			.ud = { .may = WF_QP_CUR_STATE | WF_QP_QKEY },
		},
	},
	[WF_QPS_ERR] = {
		[WF_QPS_RESET] = { .allowed = true },
		[WF_QPS_ERR] = { .allowed = true },
	},
};

/* Whether the transition exists and mask is what it takes. */
static bool transition_is_legal(const struct wf_qp *qp, enum wf_qp_state cur, enum wf_qp_state next,
                                uint32_t mask)
{
	const struct transition *t = &table[cur][next];
	struct rule rule = t->rc;

	if (wf_qp_is_ud(qp))
		rule = t->ud;
	else if (qp->type == WF_QPT_UC)
		rule = t->uc;
	/*
	 * IBTA A14: a queue pair that only sends, or only receives, does not take attributes of the
	 * other.
	 */
	if (qp->type == WF_QPT_XRC_SEND) {
		rule.need &= ~(uint32_t)(WF_QP_MAX_DEST_RD_ATOMIC | WF_QP_MIN_RNR_TIMER);
		rule.may &= ~(uint32_t)(WF_QP_MAX_DEST_RD_ATOMIC | WF_QP_MIN_RNR_TIMER);
	} else if (qp->type == WF_QPT_XRC_RECV) {
		rule.need &= ~(uint32_t)SENDER;
		rule.may &= ~(uint32_t)SENDER;
	}
	/* QPN 1 is of one port, so it does not name it (IBTA 11.2.5.2). */
	if (qp->type == WF_QPT_GSI) {
		rule.may |= rule.need & WF_QP_PORT;
		rule.need &= ~(uint32_t)WF_QP_PORT;
	}
	return t->allowed && (mask & rule.need) == rule.need &&
	       (mask & ~(rule.need | rule.may | WF_QP_STATE)) == 0;
}

static bool path_is_valid(const struct wf_ah_attr *ah)
{
	return ah->sl <= 15 && ah->flow_label <= 0xfffff;
}

/* Several ports that are one to the outside are port 1. */
static bool port_is_valid(const struct wf_hca_attr *hca, uint8_t port)
{
	return port >= 1 && port <= (hca->port_step != 0 ? hca->ports : 1);
}

static bool values_are_valid(const struct wf_qp *qp, const struct wf_qp_attr *a, uint32_t mask)
{
	const struct wf_hca_attr *hca = &qp->hca->attr;
	const struct {
		uint32_t bit;
		bool ok;
	} check[] = {
		{ WF_QP_PKEY_INDEX, a->pkey_index < hca->num_pkeys },
		{ WF_QP_PORT, port_is_valid(hca, a->port_num) },
		{ WF_QP_ACCESS_FLAGS, (a->qp_access_flags & ~(uint32_t)WF_ACCESS_ALL) == 0 },
		{ WF_QP_AV, path_is_valid(&a->ah_attr) },
		{ WF_QP_ALT_PATH, path_is_valid(&a->alt_ah_attr) },
		{ WF_QP_ALT_PATH, port_is_valid(hca, a->alt_port_num) },
		{ WF_QP_ALT_PATH, a->alt_pkey_index < hca->num_pkeys },
		{ WF_QP_ALT_PATH, a->alt_timeout <= 31 },
		{ WF_QP_PATH_MTU, a->path_mtu >= WF_MTU_256 && a->path_mtu <= WF_MTU_4096 },
		{ WF_QP_DEST_QPN, a->dest_qp_num <= WF_QPN_MASK },
		{ WF_QP_RQ_PSN, a->rq_psn <= WF_PSN_MASK },
		{ WF_QP_SQ_PSN, a->sq_psn <= WF_PSN_MASK },
		{ WF_QP_TIMEOUT, a->timeout <= 31 },
		{ WF_QP_RETRY_CNT, a->retry_cnt <= 7 },
		{ WF_QP_RNR_RETRY, a->rnr_retry <= 7 },
		{ WF_QP_MIN_RNR_TIMER, a->min_rnr_timer <= 31 },
		{ WF_QP_MAX_QP_RD_ATOMIC, a->max_rd_atomic <= hca->max_rd_atomic },
		{ WF_QP_MAX_DEST_RD_ATOMIC, a->max_dest_rd_atomic <= hca->max_rd_atomic },
		{ WF_QP_PATH_MIG_STATE, a->path_mig_state <= WF_MIG_ARMED },
	};

	for (size_t i = 0; i < WF_ARRAY_SIZE(check); i++) {
		if ((mask & check[i].bit) != 0 && !check[i].ok)
			return false;
	}
	return true;
}

static void set_timeout(struct wf_qp *qp)
{
	uint8_t timeout = qp->attr.timeout;

	qp->req.timeout = timeout == 0 ? 0 : (4096 * WF_NS) << timeout << qp->patience;
}

void wf_qp_set_path(struct wf_qp *qp)
{
	const struct wf_ah_attr *ah = &qp->attr.ah_attr;

	qp->dest = ah->dest;
	qp->cls = ah->sl;
	qp->traffic_class = ah->traffic_class;
	qp->hca->classes |= 1u << ah->sl;
	qp->hca->data_classes |= 1u << ah->sl;
	if (qp->init.tune.cnp_cls != 0)
		qp->hca->classes |= 1u << (qp->init.tune.cnp_cls & 15);
	if (qp->init.tune.ack_cls != 0)
		qp->hca->classes |= 1u << (qp->init.tune.ack_cls & 15);
	qp->dest_qpn = qp->attr.dest_qp_num;
	qp->marks = wf_path_ect(qp, ah);
	qp->entropy = wf_path_entropy(ah, qp->qpn, qp->dest_qpn);
	qp->pkey_index = qp->attr.pkey_index;
	set_timeout(qp);
	wf_apm_apply(qp);
	if (qp->hca->attr.ports > 1)
		wf_lag_place(qp);
}

static void copy_attrs(struct wf_qp_attr *to, const struct wf_qp_attr *from, uint32_t mask)
{
#define COPY(bit, field)                                                                           \
	do {                                                                                       \
		if ((mask & (bit)) != 0)                                                           \
			to->field = from->field;                                                   \
	} while (0)
	COPY(WF_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	COPY(WF_QP_ACCESS_FLAGS, qp_access_flags);
	COPY(WF_QP_PKEY_INDEX, pkey_index);
	COPY(WF_QP_PORT, port_num);
	COPY(WF_QP_QKEY, qkey);
	COPY(WF_QP_AV, ah_attr);
	COPY(WF_QP_PATH_MTU, path_mtu);
	COPY(WF_QP_TIMEOUT, timeout);
	COPY(WF_QP_RETRY_CNT, retry_cnt);
	COPY(WF_QP_RNR_RETRY, rnr_retry);
	COPY(WF_QP_RQ_PSN, rq_psn);
	COPY(WF_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	COPY(WF_QP_ALT_PATH, alt_ah_attr);
	COPY(WF_QP_ALT_PATH, alt_pkey_index);
	COPY(WF_QP_ALT_PATH, alt_port_num);
	COPY(WF_QP_ALT_PATH, alt_timeout);
	COPY(WF_QP_MIN_RNR_TIMER, min_rnr_timer);
	COPY(WF_QP_SQ_PSN, sq_psn);
	COPY(WF_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	COPY(WF_QP_DEST_QPN, dest_qp_num);
#undef COPY
}

static void set_port(struct wf_qp *qp)
{
	wf_apm_apply(qp);
	if (qp->hca->attr.ports > 1)
		wf_lag_place(qp);
}

/* Brings what the data path uses in line with the attributes. */
static void apply_attrs(struct wf_qp *qp, uint32_t mask)
{
	const struct wf_qp_attr *a = &qp->attr;

	qp->pkey_index = a->pkey_index;
	qp->mtu_shift = (uint8_t)(a->path_mtu + 7);
	if ((mask & WF_QP_PORT) != 0)
		set_port(qp);
	if ((mask & (WF_QP_AV | WF_QP_DEST_QPN)) != 0)
		wf_qp_set_path(qp);
	if ((mask & WF_QP_RQ_PSN) != 0)
		qp->resp.epsn = a->rq_psn;
	if ((mask & WF_QP_SQ_PSN) != 0)
		wf_req_start(qp, a->sq_psn);
	qp->resp.max_rd = a->max_dest_rd_atomic;
	qp->req.max_rd = a->max_rd_atomic;
	set_timeout(qp);
	if ((mask & WF_QP_RETRY_CNT) != 0)
		qp->req.retry_left = a->retry_cnt;
	if ((mask & WF_QP_RNR_RETRY) != 0)
		qp->req.rnr_left = a->rnr_retry;
}

static void reset(struct wf_qp *qp)
{
	wf_qp_unschedule(qp);
	wf_event_purge(qp->hca, qp);
	/* Old completions go, as drivers do it: those from now on are of its new life. */
	if (qp->send_cq != NULL)
		wf_cq_forget(qp->send_cq, qp->qpn);
	if (qp->recv_cq != NULL)
		wf_cq_forget(qp->recv_cq, qp->qpn);
	qp->state = WF_QPS_RESET;
	qp->why = WF_WC_SUCCESS;
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->attr.path_mtu = WF_MTU_4096;
	qp->attr.cap = qp->init.cap;
	wf_apm_apply(qp);
	wf_req_reset(qp);
	wf_resp_reset(qp);
}

static void enter(struct wf_qp *qp, enum wf_qp_state next)
{
	enum wf_qp_state cur = wf_qp_state(qp);

	if (next == WF_QPS_RESET) {
		reset(qp);
		return;
	}
	if (next == WF_QPS_ERR) {
		if (cur == WF_QPS_RESET)
			qp->state = WF_QPS_ERR;
		wf_qp_to_error(qp);
		return;
	}
	qp->state = (uint8_t)next;
	if (next == WF_QPS_SQD && cur != WF_QPS_SQD) {
		qp->req.drained = false;
		wf_comp_drained(qp);
	}
	if (next == WF_QPS_RTS && wf_req_pending(qp))
		wf_qp_kick(qp);
}

int wf_qp_modify(struct wf_qp *qp, const struct wf_qp_attr *attr, uint32_t mask)
{
	enum wf_qp_state cur = wf_qp_state(qp);
	enum wf_qp_state next = (mask & WF_QP_STATE) != 0 ? attr->qp_state : cur;

	if (next >= WF_QPS_STATES || ((mask & WF_QP_CUR_STATE) != 0 && attr->cur_qp_state != cur))
		return -EINVAL;
	if (!transition_is_legal(qp, cur, next, mask) || !values_are_valid(qp, attr, mask) ||
	    !wf_apm_allows(qp, attr, mask, next))
		return -EINVAL;
	if (next == WF_QPS_INIT && cur == WF_QPS_RESET)
		wf_cc_init(qp->cc, qp->cc->ops, qp->init.tune.cc_param, qp->hca->attr.line_rate,
		           qp->hca->now);
	copy_attrs(&qp->attr, attr, mask);
	if (next != WF_QPS_RESET && next != WF_QPS_ERR)
		apply_attrs(qp, mask);
	if ((mask & WF_QP_PATH_MIG_STATE) != 0)
		wf_apm_set(qp, attr->path_mig_state);
	enter(qp, next);
	return 0;
}

void wf_qp_query(const struct wf_qp *qp, struct wf_qp_attr *attr_p, struct wf_qp_init *init_p)
{
	*attr_p = qp->attr;
	attr_p->qp_state = wf_qp_state(qp);
	attr_p->cur_qp_state = wf_qp_state(qp);
	attr_p->sq_draining = qp->state == WF_QPS_SQD && qp->req.cons != qp->req.fresh;
	attr_p->rq_psn = qp->state < WF_QPS_RTR ? qp->attr.rq_psn : qp->resp.epsn;
	attr_p->sq_psn = qp->state < WF_QPS_RTS ? qp->attr.sq_psn : qp->req.out.next;
	if (init_p != NULL)
		*init_p = qp->init;
}
