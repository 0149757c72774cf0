/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lag_priv.h - queue pairs of an adapter with several ports, for src/rdma only.
 */
#ifndef WF_RDMA_LAG_PRIV_H
#define WF_RDMA_LAG_PRIV_H

#include "base/rng.h"
#include "rdma/lag.h"
#include "rdma/qp_priv.h"
#include "wire/ether.h"

/* The entropy of packet n that qp sprays: any of the 2^14 UDP source ports that RoCE v2 uses. */
static inline uint16_t wf_qp_spray(const struct wf_qp *qp, uint64_t n)
{
	uint64_t v = (uint64_t)qp->qpn << 40 ^ (uint64_t)qp->hca->attr.host << 20 ^ n;

	return wf_udp_source(wf_mix64(v) >> 50);
}

/* Nothing waits for any port, and no port is asked. */
void wf_lag_init(struct wf_hca *hca);

/* Gives a new queue pair its port. */
void wf_lag_add(struct wf_qp *qp);

/* The path of qp, or what is in use, has changed: finds its port anew. */
void wf_lag_place(struct wf_qp *qp);

/* No answer came in time: where queue pairs look for a path, it tries the next port. */
void wf_lag_lost(struct wf_qp *qp);

#endif
