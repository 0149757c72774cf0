/* SPDX-License-Identifier: Apache-2.0 */
/* mad.c - headers of management datagrams, byte by byte. */
#include "wire/mad.h"

#include <assert.h>

#include "wire/byte.h"

#define SMP_MKEY 24
#define SMP_DR_SLID 32
#define SMP_DR_DLID 34
#define RMPP 24

void wf_mad_encode(const struct wf_mad *mad, uint8_t *p)
{
	p[0] = mad->base_version;
	p[1] = mad->mgmt_class;
	p[2] = mad->class_version;
	p[3] = mad->method;
	wf_be16_put(p + 4, mad->status);
	wf_be16_put(p + 6, mad->class_specific);
	wf_be64_put(p + 8, mad->tid);
	wf_be16_put(p + 16, mad->attr_id);
	wf_be16_put(p + 18, mad->reserved);
	wf_be32_put(p + 20, mad->attr_mod);
}

void wf_mad_decode(const uint8_t *p, struct wf_mad *mad_p)
{
	*mad_p = (struct wf_mad){
		.base_version = p[0],
		.mgmt_class = p[1],
		.class_version = p[2],
		.method = p[3],
		.status = wf_be16_get(p + 4),
		.class_specific = wf_be16_get(p + 6),
		.tid = wf_be64_get(p + 8),
		.attr_id = wf_be16_get(p + 16),
		.reserved = wf_be16_get(p + 18),
		.attr_mod = wf_be32_get(p + 20),
	};
}

void wf_smp_encode(const struct wf_smp *smp, uint8_t *p)
{
	wf_be64_put(p + SMP_MKEY, smp->mkey);
	wf_be16_put(p + SMP_DR_SLID, smp->dr_slid);
	wf_be16_put(p + SMP_DR_DLID, smp->dr_dlid);
}

void wf_smp_decode(const uint8_t *p, struct wf_smp *smp_p)
{
	smp_p->mkey = wf_be64_get(p + SMP_MKEY);
	smp_p->dr_slid = wf_be16_get(p + SMP_DR_SLID);
	smp_p->dr_dlid = wf_be16_get(p + SMP_DR_DLID);
}

void wf_rmpp_encode(const struct wf_rmpp *rmpp, uint8_t *p)
{
	assert(rmpp->resp_time <= 0x1f && rmpp->flags <= 7);
	p[RMPP] = rmpp->version;
	p[RMPP + 1] = rmpp->type;
	p[RMPP + 2] = (uint8_t)(rmpp->resp_time << 3 | (rmpp->flags & 7));
	p[RMPP + 3] = rmpp->status;
	wf_be32_put(p + RMPP + 4, rmpp->data1);
	wf_be32_put(p + RMPP + 8, rmpp->data2);
}

void wf_rmpp_decode(const uint8_t *p, struct wf_rmpp *rmpp_p)
{
	*rmpp_p = (struct wf_rmpp){
		.version = p[RMPP],
		.type = p[RMPP + 1],
		.resp_time = p[RMPP + 2] >> 3,
		.flags = p[RMPP + 2] & 7,
		.status = p[RMPP + 3],
		.data1 = wf_be32_get(p + RMPP + 4),
		.data2 = wf_be32_get(p + RMPP + 8),
	};
}

void wf_sa_hdr_encode(const struct wf_sa_hdr *sa, uint8_t *p)
{
	wf_be64_put(p + WF_SA_HEADER, sa->sm_key);
	wf_be16_put(p + WF_SA_HEADER + 8, sa->attr_offset);
	wf_be16_put(p + WF_SA_HEADER + 10, sa->reserved);
	wf_be64_put(p + WF_SA_HEADER + 12, sa->comp_mask);
}

void wf_sa_hdr_decode(const uint8_t *p, struct wf_sa_hdr *sa_p)
{
	sa_p->sm_key = wf_be64_get(p + WF_SA_HEADER);
	sa_p->attr_offset = wf_be16_get(p + WF_SA_HEADER + 8);
	sa_p->reserved = wf_be16_get(p + WF_SA_HEADER + 10);
	sa_p->comp_mask = wf_be64_get(p + WF_SA_HEADER + 12);
}
