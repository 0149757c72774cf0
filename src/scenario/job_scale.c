/* SPDX-License-Identifier: Apache-2.0 */
/* job_scale.c - whether a job's scale keeps what it may not break. */
#include "scenario/job_scale.h"

#include <errno.h>
#include <stdlib.h>

#include "fabric/fabric.h"

/* ---- the fabric's delays ---- */

/* The delay along a path of the fewest links; the wire's part of a message's time is not in it. */
static wf_time path_delay(const struct wf_job_fabric *f, uint32_t from, uint32_t to)
{
	const struct wf_topo *topo = f->topo;
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < topo->n_nodes; i++)
		f->delay[i] = -1;
	f->delay[from] = 0;
	f->queue[tail++] = from;
	while (head < tail && f->delay[to] < 0) {
		uint32_t at = f->queue[head++];
		const struct wf_topo_node *node = &topo->nodes[at];

		for (uint32_t i = 0; i < node->n_ports; i++) {
			const struct wf_topo_port *port = &topo->ports[node->first_port + i];

			if (f->delay[port->peer] >= 0)
				continue;
			f->delay[port->peer] =
				f->delay[at] + topo->links[port->link].delay + f->cfg->link_phy;
			if (topo->nodes[port->peer].kind == WF_TOPO_SWITCH)
				f->delay[port->peer] +=
					wf_fabric_pipeline(f->cfg, &topo->nodes[port->peer]);
			f->queue[tail++] = port->peer;
		}
	}
	return wf_max_time(0, f->delay[to]);
}

static wf_time latency(const void *arg, uint32_t from, uint32_t to)
{
	const struct wf_job_fabric *f = arg;
	const struct wf_fabric_cfg *cfg = f->cfg;

	return cfg->nic_doorbell + cfg->nic_fetch + cfg->nic_tx + cfg->nic_rx +
	       path_delay(f, f->topo->host_node[from], f->topo->host_node[to]);
}

int wf_job_fabric_init(struct wf_job_fabric *f, const struct wf_topo *topo,
                       const struct wf_fabric_cfg *cfg, uint64_t rate)
{
	*f = (struct wf_job_fabric){ .topo = topo, .cfg = cfg };
	f->queue = calloc(topo->n_nodes, sizeof(*f->queue));
	f->delay = calloc(topo->n_nodes, sizeof(*f->delay));
	f->net = (struct wf_scale_net){
		.latency = latency, .arg = f, .rate = rate, .packet = cfg->mtu
	};
	return f->queue == NULL || f->delay == NULL ? -ENOMEM : 0;
}

void wf_job_fabric_fini(struct wf_job_fabric *f)
{
	free(f->queue);
	free(f->delay);
	f->queue = NULL;
	f->delay = NULL;
}

/* ---- the check ---- */

/* Excess over computing, of 2^16, rounded up; without computing everything is too much. */
static uint64_t share(const struct wf_scale_cost *cost)
{
	unsigned __int128 part = (unsigned __int128)(uint64_t)cost->excess * WF_RATIO_ONE;

	if (cost->excess == 0)
		return 0;
	if (cost->compute == 0)
		return UINT32_MAX;
	part = (part + (uint64_t)cost->compute - 1) / (uint64_t)cost->compute;
	return part > UINT32_MAX ? UINT32_MAX : (uint64_t)part;
}

/* The largest n for which 1/n is good enough; 1 always is. */
static int find_scale(const struct wf_plan *plan, const struct wf_coll_cfg *coll, uint64_t scale,
                      uint64_t error, const struct wf_scale_net *net, uint64_t *n_p)
{
	uint64_t good = 1, bad = WF_RATIO_ONE / scale + 1;

	while (bad - good > 1) {
		uint64_t n = good + (bad - good) / 2;
		struct wf_scale_cost cost;
		int ret = wf_plan_scale_cost(plan, coll, scale, WF_RATIO_ONE / n, net,
		                             wf_mem_heap(), &cost);

		if (ret != 0)
			return ret;
		if (share(&cost) <= error)
			good = n;
		else
			bad = n;
	}
	*n_p = good;
	return 0;
}

int wf_job_scale_check(const struct wf_plan *plan, const struct wf_coll_cfg *coll, uint64_t scale,
                       uint64_t error, const struct wf_scale_net *net, uint64_t *excess_p,
                       struct wf_err *err)
{
	struct wf_scale_cost cost;
	struct wf_group group = { .name = "communication" };
	uint64_t n = 1;
	int ret = wf_plan_scale_cost(plan, coll, scale, scale, net, wf_mem_heap(), &cost);

	if (ret != 0)
		return ret;
	*excess_p = share(&cost);
	if (*excess_p <= error)
		return 0;
	ret = find_scale(plan, coll, scale, error, net, &n);
	if (ret != 0)
		return ret;
	if (cost.group != WF_GROUP_NONE)
		plan->ops->group(plan, cost.group, coll, &group);
	return wf_err_say(
		err,
		"scale: the fabric's delays are not scaled and could lengthen computing by "
		"%.0f %%, most of it in %s%s of %u ranks; %s%.0u would do (%.1f %% are "
		"allowed, scale_error)",
		(double)*excess_p * 100 / (double)WF_RATIO_ONE, group.name,
		cost.ranks == 0 ? " between stages" : "",
		cost.ranks == 0 ? plan->cluster.n_ranks : cost.ranks, n == 1 ? "1" : "1/",
		n == 1 ? 0 : (unsigned)n, (double)error * 100 / (double)WF_RATIO_ONE);
}
