/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h - where ranks are: GPUs in servers, each server with its NICs; and groups of ranks.
 *
 * Rank r is GPU r % gpus of server r / gpus. Every NIC is a host of the fabric: NIC k of server s
 * is host s * nics + k. GPU g uses NIC g * nics / gpus of its server, so that with as many NICs as
 * GPUs each has its own (rails), and with fewer, neighbours share one.
 */
#ifndef WF_JOB_CLUSTER_H
#define WF_JOB_CLUSTER_H

#include <stdbool.h>

#include "base/base.h"

struct wf_cluster {
	uint32_t n_ranks;
	uint32_t gpus;     /* per server, >= 1 */
	uint32_t nics;     /* per server, 1..gpus */
	uint64_t nic_rate; /* bits/s; 0: unknown */
};

static inline uint32_t wf_cluster_server(const struct wf_cluster *c, uint32_t rank)
{
	return rank / c->gpus;
}

/* Which NIC of its server a rank uses. */
static inline uint32_t wf_cluster_nic(const struct wf_cluster *c, uint32_t rank)
{
	return rank % c->gpus * c->nics / c->gpus;
}

static inline uint32_t wf_cluster_host(const struct wf_cluster *c, uint32_t rank)
{
	return rank / c->gpus * c->nics + wf_cluster_nic(c, rank);
}

/* Whether two ranks reach one another over NVLink. */
static inline bool wf_cluster_local(const struct wf_cluster *c, uint32_t a, uint32_t b)
{
	return a / c->gpus == b / c->gpus;
}

/*
 * A group of ranks in which collectives run (a communicator): base, base + stride, ..., or a list,
 * ascending and without repeats, which is borrowed.
 */
struct wf_comm {
	uint32_t n;
	uint32_t base, stride;
	const uint32_t *list; /* NULL: base and stride count */
};

/* The rank at a position. */
static inline uint32_t wf_comm_rank(const struct wf_comm *comm, uint32_t pos)
{
	return comm->list != NULL ? comm->list[pos] : comm->base + pos * comm->stride;
}

/* The position of a rank; UINT32_MAX when it is not in it. */
uint32_t wf_comm_pos(const struct wf_comm *comm, uint32_t rank);

#endif
