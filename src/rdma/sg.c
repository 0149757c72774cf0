/* SPDX-License-Identifier: Apache-2.0 */
/* sg.c - bytes in and out of scatter/gather lists, with every key, right and bound checked. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "rdma/qp_flow.h"
#include "rdma/sg_priv.h"

/* The bytes of one sge that lie in the part asked for. */
struct piece {
	uint64_t addr;
	uint32_t length;
};

/* Cuts [*offset, *offset + length) out of sge. Returns false when the part lies behind it. */
static inline bool cut(const struct wf_sge *sge, uint32_t *offset, uint32_t length,
                       struct piece *piece)
{
	if (*offset >= sge->length) {
		*offset -= sge->length;
		return false;
	}
	piece->addr = sge->addr + *offset;
	piece->length = sge->length - *offset;
	if (piece->length > length)
		piece->length = length;
	*offset = 0;
	return true;
}

int wf_sg_gather(const struct wf_qp *qp, struct wf_swqe *wqe, uint32_t offset, uint32_t length,
                 void *buf)
{
	const struct wf_sge *sge = wf_swqe_sge(wqe);
	char *to = buf;

	assert(offset <= wqe->length && length <= wqe->length - offset);
	if ((wqe->flags & WF_SEND_INLINE) != 0) {
		if (to != NULL)
			memcpy(to, (const char *)(wqe + 1) + offset, length);
		return 0;
	}
	for (uint32_t i = 0; i < wqe->num_sge && length > 0; i++) {
		const struct wf_region *r;
		struct piece piece;

		if (!cut(&sge[i], &offset, length, &piece))
			continue;
		r = wf_region_check(qp->hca, qp->pd, qp->qpn, sge[i].lkey, piece.addr, piece.length,
		                    0, false);
		if (r == NULL)
			return -EACCES;
		if (to != NULL) {
			const char *from = wf_region_host(r, piece.addr);

			if (from == NULL)
				memset(to, 0, piece.length);
			else if (wf_unlikely(!wf_qp_fetch(qp, to, from, piece.length)))
				return -EFAULT;
			to += piece.length;
		}
		length -= piece.length;
	}
	assert(length == 0);
	return 0;
}

int wf_sg_scatter(const struct wf_qp *qp, const struct wf_sge *sge, uint32_t num_sge,
                  uint32_t offset, uint32_t length, const void *buf)
{
	const char *from = buf;

	for (uint32_t i = 0; i < num_sge && length > 0; i++) {
		const struct wf_region *r;
		struct piece piece;
		char *to;

		if (!cut(&sge[i], &offset, length, &piece))
			continue;
		r = wf_region_check(qp->hca, qp->pd, qp->qpn, sge[i].lkey, piece.addr, piece.length,
		                    WF_ACCESS_LOCAL_WRITE, false);
		if (r == NULL)
			return -EACCES;
		to = wf_region_host(r, piece.addr);
		if (from != NULL) {
			if (to != NULL && wf_unlikely(!wf_qp_store(qp, to, from, piece.length)))
				return -EFAULT;
			from += piece.length;
		}
		length -= piece.length;
	}
	return length == 0 ? 0 : -EACCES;
}
