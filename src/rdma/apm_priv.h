/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apm_priv.h - automatic path migration of RC, UC and XRC queue pairs (IBTA vol. 1, 17.2.8), for
 * src/rdma only.
 *
 *	          modify: REARM                 a packet with M = 0
 *	        (an alternate path               came by the primary
 *	           is loaded)                          path
 *	MIGRATED ------------------> REARM ---------------------------> ARMED
 *	  M = 1                      M = 0                              M = 0
 *	    ^                                                             |
 *	    |   the alternate path is the primary one from now on         |
 *	    +-------------------------------------------------------------+
 *	        modify: MIGRATED; or the retries of a request are used up (counted anew on the new
 *	        path); or a packet with M = 1 came by the alternate path, for then the peer is there
 *
 * M is the MigReq bit of all packets that a queue pair sends, so that both ends are armed once each
 * has heard that the other is ready. What the driver may do with WF_QP_PATH_MIG_STATE is what is
 * drawn: ARMED is not for it, and REARM cannot be taken back. A new queue pair is MIGRATED.
 *
 * A packet is of a path when it comes from the peer's address there to the queue pair's own there.
 * An armed queue pair drops what has M = 1 and is not of the alternate path, and raises
 * PATH_MIG_ERR, once until it is armed anew; what is of no path of its own it drops always, late
 * packets of a path that it left among them. PATH_MIG is raised where the driver did not ask for
 * the migration itself.
 *
 * A queue pair without alternate path costs nothing here: struct wf_qp.from is its peer's address,
 * and what has another one comes to check_path() in hca.c.
 */
#ifndef WF_RDMA_APM_PRIV_H
#define WF_RDMA_APM_PRIV_H

#include "rdma/qp_priv.h"

/* struct wf_qp.from of those whose packets have to be looked at; nobody's address. */
#define WF_APM_LOOK UINT32_MAX

enum wf_apm_way { WF_APM_NONE, WF_APM_PRIMARY, WF_APM_ALTERNATE };

/* The path that pkt came by; WF_APM_NONE: it is to be dropped. */
enum wf_apm_way wf_apm_way(struct wf_qp *qp, const struct wf_packet *pkt);

/* pkt, which came by way, is a right one: qp is armed, or migrates. */
void wf_apm_came(struct wf_qp *qp, const struct wf_packet *pkt, enum wf_apm_way way);

/* Whether src is an address of its peer. */
static inline bool wf_apm_knows(const struct wf_qp *qp, uint32_t src)
{
	return src == qp->dest ||
	       (qp->attr.path_mig_state != WF_MIG_MIGRATED && src == qp->attr.alt_ah_attr.dest);
}

/*
 * The retries on the primary path are used up. Returns whether qp was armed; then it has migrated,
 * and may retry as often as ever.
 */
bool wf_apm_escape(struct wf_qp *qp);

/* Whether the driver may ask for what mask names of attr in a transition to next. */
bool wf_apm_allows(const struct wf_qp *qp, const struct wf_qp_attr *attr, uint32_t mask,
                   enum wf_qp_state next);

/* The driver asked for it, and the attributes but for path_mig_state are set. */
void wf_apm_set(struct wf_qp *qp, enum wf_mig_state state);

/* Brings from, src and the bit M in line with the attributes. */
void wf_apm_apply(struct wf_qp *qp);

#endif
