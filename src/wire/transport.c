/* SPDX-License-Identifier: Apache-2.0 */
/* transport.c - BTH and extended headers, byte by byte. */
#include "wire/transport.h"

#include <assert.h>

#include "wire/byte.h"

/*
 *  0       1       2       3
 * +-------+-------+-------+-------+
 * |opcode |SMPPTTTT|     P_Key    |
 * +-------+-------+-------+-------+
 * |FBrrrrrr|   destination QPN    |
 * +-------+-------+-------+-------+
 * |Arrrrrrr|         PSN          |
 * +-------+-------+-------+-------+
 */
void wf_bth_encode(const struct wf_bth *bth, uint8_t *p)
{
	assert(bth->pad <= 3 && bth->tver <= 0xf);
	assert(bth->qpn <= WF_QPN_MASK && bth->psn <= WF_PSN_MASK);
	p[0] = bth->opcode;
	p[1] = (uint8_t)(bth->solicited << 7 | bth->migrated << 6 | (bth->pad & 3) << 4 |
	                 (bth->tver & 0xf));
	wf_be16_put(p + 2, bth->pkey);
	p[4] = (uint8_t)(bth->fecn << 7 | bth->becn << 6 | (bth->reserved6 & 0x3f));
	wf_be24_put(p + 5, bth->qpn);
	p[8] = (uint8_t)(bth->ack_req << 7 | (bth->reserved7 & 0x7f));
	wf_be24_put(p + 9, bth->psn);
}

void wf_bth_decode(const uint8_t *p, struct wf_bth *bth_p)
{
	*bth_p = (struct wf_bth){
		.opcode = p[0],
		.solicited = p[1] >> 7,
		.migrated = p[1] >> 6 & 1,
		.pad = p[1] >> 4 & 3,
		.tver = p[1] & 0xf,
		.pkey = wf_be16_get(p + 2),
		.fecn = p[4] >> 7,
		.becn = p[4] >> 6 & 1,
		.reserved6 = p[4] & 0x3f,
		.qpn = wf_be24_get(p + 5),
		.ack_req = p[8] >> 7,
		.reserved7 = p[8] & 0x7f,
		.psn = wf_be24_get(p + 9),
	};
}

void wf_rdeth_encode(const struct wf_rdeth *rdeth, uint8_t *p)
{
	assert(rdeth->eecn <= 0xffffff);
	p[0] = rdeth->reserved;
	wf_be24_put(p + 1, rdeth->eecn);
}

void wf_rdeth_decode(const uint8_t *p, struct wf_rdeth *rdeth_p)
{
	rdeth_p->reserved = p[0];
	rdeth_p->eecn = wf_be24_get(p + 1);
}

void wf_xrceth_encode(const struct wf_xrceth *xrceth, uint8_t *p)
{
	assert(xrceth->srqn <= 0xffffff);
	p[0] = xrceth->reserved;
	wf_be24_put(p + 1, xrceth->srqn);
}

void wf_xrceth_decode(const uint8_t *p, struct wf_xrceth *xrceth_p)
{
	xrceth_p->reserved = p[0];
	xrceth_p->srqn = wf_be24_get(p + 1);
}

void wf_deth_encode(const struct wf_deth *deth, uint8_t *p)
{
	assert(deth->src_qpn <= WF_QPN_MASK);
	wf_be32_put(p, deth->qkey);
	p[4] = deth->reserved;
	wf_be24_put(p + 5, deth->src_qpn);
}

void wf_deth_decode(const uint8_t *p, struct wf_deth *deth_p)
{
	deth_p->qkey = wf_be32_get(p);
	deth_p->reserved = p[4];
	deth_p->src_qpn = wf_be24_get(p + 5);
}

void wf_reth_encode(const struct wf_reth *reth, uint8_t *p)
{
	wf_be64_put(p, reth->va);
	wf_be32_put(p + 8, reth->rkey);
	wf_be32_put(p + 12, reth->dma_len);
}

void wf_reth_decode(const uint8_t *p, struct wf_reth *reth_p)
{
	reth_p->va = wf_be64_get(p);
	reth_p->rkey = wf_be32_get(p + 8);
	reth_p->dma_len = wf_be32_get(p + 12);
}

void wf_atomiceth_encode(const struct wf_atomiceth *atomiceth, uint8_t *p)
{
	wf_be64_put(p, atomiceth->va);
	wf_be32_put(p + 8, atomiceth->rkey);
	wf_be64_put(p + 12, atomiceth->swap_add);
	wf_be64_put(p + 20, atomiceth->compare);
}

void wf_atomiceth_decode(const uint8_t *p, struct wf_atomiceth *atomiceth_p)
{
	atomiceth_p->va = wf_be64_get(p);
	atomiceth_p->rkey = wf_be32_get(p + 8);
	atomiceth_p->swap_add = wf_be64_get(p + 12);
	atomiceth_p->compare = wf_be64_get(p + 20);
}

void wf_aeth_encode(const struct wf_aeth *aeth, uint8_t *p)
{
	assert(aeth->msn <= WF_MSN_MASK);
	p[0] = aeth->syndrome;
	wf_be24_put(p + 1, aeth->msn);
}

void wf_aeth_decode(const uint8_t *p, struct wf_aeth *aeth_p)
{
	aeth_p->syndrome = p[0];
	aeth_p->msn = wf_be24_get(p + 1);
}

void wf_atomicacketh_encode(uint64_t orig, uint8_t *p)
{
	wf_be64_put(p, orig);
}

uint64_t wf_atomicacketh_decode(const uint8_t *p)
{
	return wf_be64_get(p);
}

void wf_immdt_encode(uint32_t imm, uint8_t *p)
{
	wf_be32_put(p, imm);
}

uint32_t wf_immdt_decode(const uint8_t *p)
{
	return wf_be32_get(p);
}

void wf_ieth_encode(uint32_t rkey, uint8_t *p)
{
	wf_be32_put(p, rkey);
}

uint32_t wf_ieth_decode(const uint8_t *p)
{
	return wf_be32_get(p);
}
