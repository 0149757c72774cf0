/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sg_priv.h - bytes between regions and packets, for src/rdma only.
 */
#ifndef WF_RDMA_SG_PRIV_H
#define WF_RDMA_SG_PRIV_H

#include <string.h>

#include "base/place.h"
#include "rdma/qp_flow.h"

/* Where the payload of a packet goes, which is complete but for it. The driver may know better. */
static inline void *wf_qp_place(const struct wf_qp *qp, const struct wf_packet *pkt, void *payload)
{
	const struct wf_hca_attr *attr = &qp->hca->attr;
	void *at;

	/* The address of a datagram is not known here. */
	if (attr->place == NULL || wf_qp_is_ud(qp))
		return payload;
	at = attr->place(attr->place_ctx, pkt);
	return at != NULL ? at : payload;
}

/* Contents of a region to where wf_qp_place() said. False: they are not there. */
static inline bool wf_qp_fetch(const struct wf_qp *qp, void *to, const void *from, size_t n)
{
	wf_hca_copy_fn *fetch = qp->hca->attr.fetch;

	if (fetch != NULL)
		return fetch(to, from, n);
	memcpy(to, from, n);
	return true;
}

/* Payload into a region. False: its memory is not there. */
static inline bool wf_qp_store(const struct wf_qp *qp, void *to, const void *from, size_t n)
{
	wf_hca_copy_fn *store = qp->hca->attr.store;

	if (store != NULL)
		return store(to, from, n);
	wf_place(to, from, n);
	return true;
}

/*
 * Copies length bytes from offset of wqe's message to buf (NULL: only checks). 0, -EACCES or
 * -EFAULT (the memory is not there).
 */
int wf_sg_gather(const struct wf_qp *qp, struct wf_swqe *wqe, uint32_t offset, uint32_t length,
                 void *buf) WF_MUST_USE;

/* Copies length bytes from buf to offset of the list (NULL: only checks). Returns as above. */
int wf_sg_scatter(const struct wf_qp *qp, const struct wf_sge *sge, uint32_t num_sge,
                  uint32_t offset, uint32_t length, const void *buf) WF_MUST_USE;

#endif
