/* SPDX-License-Identifier: Apache-2.0 */
/* ah.c - address handles. */
#include <errno.h>
#include <string.h>

#include "rdma/hca_priv.h"
#include "rdma/qp.h"

int wf_ah_create(struct wf_pd *pd, const struct wf_ah_attr *attr, struct wf_ah **ah_p)
{
	struct wf_mem *mem = pd->hca->mem;
	struct wf_ah *ah;

	if (attr->sl > 15 || attr->flow_label > 0xfffff)
		return -EINVAL;
	ah = mem->alloc(mem, sizeof(*ah));
	if (ah == NULL)
		return -ENOMEM;
	ah->pd = pd;
	ah->attr = *attr;
	pd->refs++;
	wf_list_append(&pd->hca->ahs, &ah->link);
	*ah_p = ah;
	return 0;
}

void wf_ah_destroy(struct wf_ah *ah)
{
	struct wf_mem *mem = ah->pd->hca->mem;

	ah->pd->refs--;
	wf_list_remove(&ah->link);
	mem->free(mem, ah);
}

void wf_ah_query(const struct wf_ah *ah, struct wf_ah_attr *attr_p)
{
	*attr_p = ah->attr;
}

int wf_ah_from_wc(const struct wf_wc *wc, struct wf_ah_attr *attr_p)
{
	if (wc->status != WF_WC_SUCCESS || wc->opcode != WF_WC_RECV || wc->src_qp == 0)
		return -EINVAL;
	memset(attr_p, 0, sizeof(*attr_p));
	attr_p->dest = wc->src;
	attr_p->sl = wc->sl;
	attr_p->port_num = 1;
	attr_p->is_global = (wc->flags & WF_WC_GRH) != 0;
	return 0;
}
