/* SPDX-License-Identifier: Apache-2.0 */
/* apm.c - which path packets of a queue pair come by, and going over to the alternate one. */
#include "rdma/apm_priv.h"

#include "rdma/backoff_priv.h"
#include "rdma/path_priv.h"
#include "rdma/qp_flow.h"

/* The address of a port, which is numbered from 1. */
static uint32_t address_of(const struct wf_hca *hca, uint8_t port)
{
	return hca->attr.host + (port > 1 ? (port - 1u) * hca->attr.port_step : 0);
}

void wf_apm_apply(struct wf_qp *qp)
{
	bool migrated = qp->attr.path_mig_state == WF_MIG_MIGRATED;
	bool look = !migrated || qp->hca->attr.port_step != 0;

	qp->src = address_of(qp->hca, qp->attr.port_num);
	qp->from = look ? WF_APM_LOOK : qp->dest;
	qp->marks &= (uint8_t)~WF_PACKET_MIGRATED;
	if (migrated && !wf_qp_is_ud(qp))
		qp->marks |= WF_PACKET_MIGRATED;
}

/* Everything goes by the alternate path from now on. */
static void migrate(struct wf_qp *qp)
{
	struct wf_qp_attr *a = &qp->attr;

	a->ah_attr = a->alt_ah_attr;
	a->port_num = a->alt_port_num;
	a->pkey_index = a->alt_pkey_index;
	a->timeout = a->alt_timeout;
	a->path_mig_state = WF_MIG_MIGRATED;
	qp->mig_heard = false;
	wf_hca_count(qp->hca, WF_CTR_PATH_MIGRATIONS);
	wf_qp_set_path(qp);
	/* Retries and longer waits were the other path's. */
	qp->req.retry_left = a->retry_cnt;
	wf_backoff_end(&qp->req);
}

enum wf_apm_way wf_apm_way(struct wf_qp *qp, const struct wf_packet *pkt)
{
	const struct wf_qp_attr *a = &qp->attr;
	uint32_t own = qp->src, peer = qp->dest;
	bool asks = a->path_mig_state == WF_MIG_ARMED && (pkt->flags & WF_PACKET_MIGRATED) != 0;

	if (asks) {
		own = address_of(qp->hca, a->alt_port_num);
		peer = a->alt_ah_attr.dest;
	}
	if (pkt->src == peer && (pkt->dst == own || qp->hca->attr.port_step == 0))
		return asks ? WF_APM_ALTERNATE : WF_APM_PRIMARY;
	if (asks && !qp->mig_refused) {
		qp->mig_refused = true;
		wf_qp_event(qp, WF_EVENT_PATH_MIG_ERR);
	}
	return WF_APM_NONE;
}

void wf_apm_came(struct wf_qp *qp, const struct wf_packet *pkt, enum wf_apm_way way)
{
	if (way == WF_APM_ALTERNATE) {
		migrate(qp);
		qp->mig_heard = true;
		wf_qp_event(qp, WF_EVENT_PATH_MIG);
	} else if (qp->attr.path_mig_state == WF_MIG_REARM &&
	           (pkt->flags & WF_PACKET_MIGRATED) == 0) {
		qp->attr.path_mig_state = WF_MIG_ARMED;
	} else {
		qp->mig_heard = true;
	}
}

bool wf_qp_peer_came(const struct wf_qp *qp)
{
	return qp->mig_heard;
}

bool wf_apm_escape(struct wf_qp *qp)
{
	if (qp->attr.path_mig_state != WF_MIG_ARMED)
		return false;
	migrate(qp);
	wf_qp_event(qp, WF_EVENT_PATH_MIG);
	return true;
}

bool wf_apm_allows(const struct wf_qp *qp, const struct wf_qp_attr *attr, uint32_t mask,
                   enum wf_qp_state next)
{
	enum wf_mig_state cur = qp->attr.path_mig_state;
	/* No port has number 0: there never was one. */
	bool has_alternate = (mask & WF_QP_ALT_PATH) != 0 || qp->attr.alt_port_num != 0;

	if ((mask & WF_QP_PATH_MIG_STATE) == 0)
		return true;
	if (attr->path_mig_state == WF_MIG_REARM)
		return next == WF_QPS_RTS && cur != WF_MIG_ARMED && has_alternate;
	return attr->path_mig_state == WF_MIG_MIGRATED && cur != WF_MIG_REARM;
}

void wf_apm_set(struct wf_qp *qp, enum wf_mig_state state)
{
	if (state == WF_MIG_REARM) {
		qp->attr.path_mig_state = WF_MIG_REARM;
		qp->mig_refused = false;
		wf_apm_apply(qp);
	} else if (qp->attr.path_mig_state == WF_MIG_ARMED) {
		migrate(qp);
	}
}
