/* SPDX-License-Identifier: Apache-2.0 */
/* ib.c - the LRH and flow control packets, byte by byte. */
#include "wire/ib.h"

#include <assert.h>

#include "wire/byte.h"
#include "wire/crc.h"

void wf_lrh_encode(const struct wf_lrh *lrh, uint8_t *p)
{
	assert(lrh->vl <= 0xf && lrh->lver <= 0xf && lrh->sl <= 0xf && lrh->reserved2 <= 3);
	assert(lrh->lnh <= 3 && lrh->reserved5 <= 0x1f && lrh->length <= 0x7ff);
	p[0] = (uint8_t)(lrh->vl << 4 | (lrh->lver & 0xf));
	p[1] = (uint8_t)(lrh->sl << 4 | (lrh->reserved2 & 3) << 2 | (lrh->lnh & 3));
	wf_be16_put(p + 2, lrh->dlid);
	wf_be16_put(p + 4, (uint16_t)(lrh->reserved5 << 11 | (lrh->length & 0x7ff)));
	wf_be16_put(p + 6, lrh->slid);
}

void wf_lrh_decode(const uint8_t *p, struct wf_lrh *lrh_p)
{
	*lrh_p = (struct wf_lrh){
		.vl = p[0] >> 4,
		.lver = p[0] & 0xf,
		.sl = p[1] >> 4,
		.reserved2 = p[1] >> 2 & 3,
		.lnh = p[1] & 3,
		.dlid = wf_be16_get(p + 2),
		.reserved5 = p[4] >> 3,
		.length = wf_be16_get(p + 4) & 0x7ff,
		.slid = wf_be16_get(p + 6),
	};
}

void wf_fcp_encode(const struct wf_fcp *fcp, uint8_t *p)
{
	assert(fcp->op <= 0xf && fcp->fctbs <= WF_FCP_COUNT_MASK);
	assert(fcp->vl <= 0xf && fcp->fccl <= WF_FCP_COUNT_MASK);
	wf_be16_put(p, (uint16_t)(fcp->op << 12 | (fcp->fctbs & WF_FCP_COUNT_MASK)));
	wf_be16_put(p + 2, (uint16_t)(fcp->vl << 12 | (fcp->fccl & WF_FCP_COUNT_MASK)));
	wf_le16_put(p + 4, fcp->lpcrc);
}

void wf_fcp_decode(const uint8_t *p, struct wf_fcp *fcp_p)
{
	*fcp_p = (struct wf_fcp){
		.op = p[0] >> 4,
		.fctbs = wf_be16_get(p) & WF_FCP_COUNT_MASK,
		.vl = p[2] >> 4,
		.fccl = wf_be16_get(p + 2) & WF_FCP_COUNT_MASK,
		.lpcrc = wf_le16_get(p + 4),
	};
}

uint16_t wf_fcp_lpcrc(const struct wf_fcp *fcp)
{
	uint8_t bytes[WF_FCP_LEN];

	wf_fcp_encode(fcp, bytes);
	return wf_crc16(bytes, 4);
}
