/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_priv.h - what packets carry of their way through the fabric, for src/rdma only.
 */
#ifndef WF_RDMA_PATH_PRIV_H
#define WF_RDMA_PATH_PRIV_H

#include "rdma/verbs.h"

struct wf_qp;

/*
 * What selects the path of a flow between queue pairs a and b: the same both ways, unless a flow
 * label says otherwise; or the DLID. 0 for RoCE v1, and where there is no DLID.
 */
uint16_t wf_path_entropy(const struct wf_ah_attr *ah, uint32_t a, uint32_t b);

/* WF_PACKET_ECT where packets of qp on that path may be marked; else 0. */
uint8_t wf_path_ect(const struct wf_qp *qp, const struct wf_ah_attr *ah);

#endif
