/* SPDX-License-Identifier: Apache-2.0 */
/* mcast.c - which UD queue pairs are in which multicast group. */
#include <assert.h>
#include <errno.h>

#include "rdma/qp_priv.h"

/* The place of qp in group, or the number of attachments when it is not in it. */
static uint32_t mcast_find(const struct wf_hca *hca, const struct wf_qp *qp, uint32_t group)
{
	uint32_t i = 0;

	while (i < hca->mcasts && (hca->mcast[i].qp != qp || hca->mcast[i].group != group))
		i++;
	return i;
}

/* The others keep their order: it is the order in which copies are delivered. */
static void mcast_remove(struct wf_hca *hca, uint32_t at)
{
	assert(at < hca->mcasts);
	hca->mcasts--;
	for (uint32_t i = at; i < hca->mcasts; i++)
		hca->mcast[i] = hca->mcast[i + 1];
}

int wf_qp_attach_mcast(struct wf_qp *qp, uint32_t group)
{
	struct wf_hca *hca = qp->hca;

	if (qp->type != WF_QPT_UD)
		return -EINVAL;
	if (mcast_find(hca, qp, group) != hca->mcasts)
		return 0;
	if (hca->mcasts == hca->attr.max_mcast)
		return -ENOMEM;
	hca->mcast[hca->mcasts++] = (struct wf_mcast){ .group = group, .qp = qp };
	return 0;
}

int wf_qp_detach_mcast(struct wf_qp *qp, uint32_t group)
{
	uint32_t at = mcast_find(qp->hca, qp, group);

	if (at == qp->hca->mcasts)
		return -EINVAL;
	mcast_remove(qp->hca, at);
	return 0;
}

void wf_mcast_purge(struct wf_hca *hca, const struct wf_qp *qp)
{
	for (uint32_t i = hca->mcasts; i > 0; i--) {
		if (hca->mcast[i - 1].qp == qp)
			mcast_remove(hca, i - 1);
	}
}
