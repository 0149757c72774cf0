/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - counters and notes of a simulation that runs.
 */
#include "sim/look/watch.h"

#include "sim/sim_priv.h"

void wf_sim_set_tick(struct wf_sim *sim, wf_time first, wf_sim_tick_fn *fn, void *arg)
{
	sim->tick = fn;
	sim->tick_arg = arg;
	sim->tick_at = first;
}

uint64_t wf_sim_hops(const struct wf_sim *sim)
{
	uint64_t hops = 0;

	for (unsigned i = 0; i < sim->n_shards; i++)
		hops += sim->net.shards[i]->hops;
	return hops;
}

bool wf_sim_queue_used(const struct wf_sim *sim, uint32_t node, unsigned queue)
{
	return sim->topo->nodes[node].kind == WF_TOPO_HOST ||
	       (sim->net.devices[node]->queues_used >> queue & 1) != 0;
}

uint64_t wf_sim_host_counter(const struct wf_sim *sim, uint32_t host, enum wf_counter counter)
{
	return sim->has_app ? wf_hca_counter(wf_adapter_hca(sim->adapters[host]), counter) : 0;
}

/* The adapter's word of a queue pair, as a note; ctx is the adapter. */
static void note_qp(void *ctx, enum wf_hca_note what, uint32_t dest, enum wf_wc_status status,
                    wf_time now)
{
	struct wf_adapter *a = ctx;
	const struct wf_device *dev = wf_adapter_device(a);
	const struct wf_incident note = {
		.at = now,
		.node = dev->id,
		.src = dev->fabric->topo->nodes[dev->id].host,
		.dst = dest,
		.queue = WF_INCIDENT_NO_QUEUE,
		.kind = what == WF_HCA_RETRANSMIT ? WF_INCIDENT_RETRANSMIT : WF_INCIDENT_QP_ERROR,
		.why = (uint8_t)status,
	};

	wf_incident_add(dev->fabric, dev->shard, &note);
}

/* The same of TCP, which tells of several segments at once. */
static void note_tcp(void *ctx, uint32_t peer, uint32_t segs, wf_time now)
{
	for (; segs > 0; segs--)
		note_qp(ctx, WF_HCA_RETRANSMIT, peer, WF_WC_SUCCESS, now);
}

void wf_sim_keep_incidents(struct wf_sim *sim, uint32_t kinds)
{
	sim->fabric.incidents = kinds;
	for (uint32_t i = 0; i < sim->topo->n_hosts && sim->has_app; i++) {
		struct wf_tcp_stack *tcp = wf_adapter_tcp(sim->adapters[i]);

		wf_hca_watch(wf_adapter_hca(sim->adapters[i]), kinds != 0 ? note_qp : NULL,
		             sim->adapters[i]);
		if (tcp != NULL)
			wf_tcp_stack_watch(tcp, kinds != 0 ? note_tcp : NULL, sim->adapters[i]);
	}
}

void wf_sim_incident_link(struct wf_sim *sim, uint32_t link, bool up, wf_time now)
{
	const struct wf_topo_link *l = &sim->topo->links[link];
	const uint32_t ends[2] = { l->a, l->b };
	const uint16_t ports[2] = { l->a_port, l->b_port };

	for (int i = 0; i < 2; i++) {
		const struct wf_incident note = {
			.at = now,
			.node = ends[i],
			.src = WF_INCIDENT_NONE,
			.dst = WF_INCIDENT_NONE,
			.port = ports[i],
			.queue = WF_INCIDENT_NO_QUEUE,
			.kind = up ? WF_INCIDENT_LINK_UP : WF_INCIDENT_LINK_DOWN,
		};

		wf_incident_add(&sim->fabric, sim->net.devices[ends[i]]->shard, &note);
	}
}

void wf_sim_end_incidents(struct wf_sim *sim)
{
	wf_sim_end_deadlocks(sim);
	if (sim->fabric.flowctl != &wf_flowctl_pfc)
		return;
	for (uint32_t id = 0; id < sim->topo->n_nodes; id++) {
		struct wf_device *dev = sim->net.devices[id];

		for (unsigned i = 0; i < dev->n_ports * dev->n_queues; i++) {
			const struct wf_port *port = &dev->ports[i / dev->n_queues];
			const struct wf_lane *lane = &dev->lanes[i];
			wf_time end = wf_min_time(lane->pause.until, wf_sim_now(sim));

			if (end > lane->pause.from)
				wf_pfc_incident(dev, port, i % dev->n_queues, lane->pause.from,
				                end);
			end = wf_min_time(lane->again.until, wf_sim_now(sim));
			if (end > lane->again.from)
				wf_pfc_incident(dev, port, i % dev->n_queues, lane->again.from,
				                end);
		}
	}
}

void wf_sim_take_incidents(struct wf_sim *sim, wf_sim_incident_fn *fn, void *arg)
{
	for (unsigned i = 0; i < sim->n_shards; i++) {
		struct wf_fabric_shard *fs = sim->net.shards[i];
		struct wf_incident_chunk *chunk = fs->first_incident;

		for (; chunk != NULL; chunk = fs->first_incident) {
			for (uint32_t k = 0; k < chunk->n; k++)
				fn(arg, &chunk->note[k]);
			fs->first_incident = chunk->next;
			chunk->next = fs->free_incidents;
			fs->free_incidents = chunk;
		}
		fs->last_incident = NULL;
	}
}
