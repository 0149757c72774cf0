/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tap.c - who is told of packets on the wire: the check of their bytes, and one listener.
 */
#include <errno.h>

#include "fabric/station.h"
#include "fabric/telemetry.h"
#include "sim/sim_priv.h"

/* Whether a host is at one of the two ends of a port's link. */
static bool at_host(const struct wf_topo *topo, uint32_t node, unsigned port)
{
	const struct wf_topo_node *n = &topo->nodes[node];

	return n->kind == WF_TOPO_HOST ||
	       topo->nodes[topo->ports[n->first_port + port].peer].kind == WF_TOPO_HOST;
}

/* By what LIDs a packet goes, and the bytes of one with a MAD. */
static void find_lids(const struct wf_sim *sim, const struct wf_device *dev,
                      const struct wf_packet *pkt, struct wf_sim_lids *lids)
{
	const struct wf_sim_manager *m = &sim->manager;

	*lids = (struct wf_sim_lids){ .slid = (uint16_t)pkt->src, .dlid = pkt->entropy };
	if (pkt->type == WF_PACKET_SMP || pkt->type == WF_PACKET_GMP)
		lids->mad = wf_station_mad(dev->station, pkt)->bytes;
	else
		lids->slid = m->lid != NULL ? m->lid(m->arg, wf_packet_src(pkt)) : 0;
}

static void on_wire(void *arg, const struct wf_device *dev, const struct wf_port *port,
                    const struct wf_packet *pkt, wf_time now)
{
	struct wf_sim *sim = arg;
	bool managed = dev->station != NULL && pkt->type != WF_PACKET_CREDIT;
	struct wf_packet counted, plain;
	struct wf_sim_lids lids = { .mad = NULL };

	if (managed)
		find_lids(sim, dev, pkt, &lids);
	if (sim->fabric.hops_count) {
		counted = *pkt;
		counted.src = wf_packet_src(pkt);
		pkt = &counted;
	}
	/* Telemetry has no bytes here: it is shown as if it were not there (docs/limits.md). */
	if (pkt->type == WF_PACKET_RDMA || pkt->type == WF_PACKET_TRIMMED) {
		plain = *pkt;
		if (plain.flags & WF_PACKET_INT)
			plain.size =
				(uint16_t)(plain.size - wf_int_detach(dev->shard, &plain)->bytes);
		wf_packet_forget_born(&plain);
		pkt = &plain;
	}
	if (sim->check != NULL && lids.mad == NULL && at_host(sim->topo, dev->id, port->number))
		wf_wire_check_packet(sim->check, dev, pkt, now);
	if (sim->tap != NULL)
		sim->tap(sim->tap_arg, dev->id, port->number, pkt, managed ? &lids : NULL, now);
}

static void tap_port(struct wf_sim *sim, uint32_t node, unsigned port)
{
	sim->fabric.tap = on_wire;
	sim->fabric.tap_arg = sim;
	sim->net.devices[node]->ports[port].hooked |= WF_HOOK_TAP;
}

void wf_sim_set_tap(struct wf_sim *sim, wf_sim_tap_fn *fn, void *arg)
{
	sim->tap = fn;
	sim->tap_arg = arg;
}

int wf_sim_tap_port(struct wf_sim *sim, uint32_t node, unsigned port)
{
	if (node >= sim->topo->n_nodes || port >= sim->topo->nodes[node].n_ports)
		return -EINVAL;
	tap_port(sim, node, port);
	return 0;
}

int wf_sim_check_wire(struct wf_sim *sim)
{
	const struct wf_topo *topo = sim->topo;
	int ret = wf_wire_check_create(&sim->fabric, sim->n_shards, &sim->check);

	if (ret != 0)
		return ret;
	for (uint32_t id = 0; id < topo->n_nodes; id++) {
		for (unsigned p = 0; p < topo->nodes[id].n_ports; p++) {
			if (at_host(topo, id, p))
				tap_port(sim, id, p);
		}
	}
	return 0;
}

uint64_t wf_sim_wire_checked(const struct wf_sim *sim)
{
	return sim->check != NULL ? wf_wire_check_count(sim->check) : 0;
}

int wf_sim_wire_result(const struct wf_sim *sim, struct wf_err *err)
{
	return sim->check != NULL ? wf_wire_check_result(sim->check, err) : 0;
}
