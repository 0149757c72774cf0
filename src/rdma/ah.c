/* SPDX-License-Identifier: Apache-2.0 */
/* ah.c - address handles. */
#include <errno.h>

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
