/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.c - finding a rank in a group.
 */
#include "job/cluster.h"

uint32_t wf_comm_pos(const struct wf_comm *comm, uint32_t rank)
{
	uint32_t lo = 0, hi = comm->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (wf_comm_rank(comm, mid) < rank)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < comm->n && wf_comm_rank(comm, lo) == rank ? lo : UINT32_MAX;
}
