/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - putting packets on links, and losing them there.
 */
#include "fabric/device.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "fabric/errors.h"
#include "fabric/retry.h"
#include "fabric/station.h"
#include "fabric/telemetry.h"
#include "fabric/transmit.h"
#include "fabric/watchdog.h"
#include "wire/ether.h"
#include "wire/opcode.h"

#define RNG_PORT 1 /* domain of the draws for loss on links */

void wf_device_fini_nothing(struct wf_device *dev)
{
	(void)dev;
}

int wf_device_init(struct wf_device *dev, const struct wf_device_ops *ops,
                   const struct wf_fabric *fabric, uint32_t id)
{
	struct wf_shard *shard = dev->node.shard;
	unsigned n_ports = fabric->topo->nodes[id].n_ports;
	unsigned n_queues = fabric->classes.n;
	/* A switch that sends packets itself has one more, which is its own. */
	bool own = (fabric->managed || fabric->sharp != NULL) &&
	           fabric->topo->nodes[id].kind == WF_TOPO_SWITCH;
	size_t n = n_ports + (own ? 1 : 0);

	dev->ops = ops;
	dev->fabric = fabric;
	dev->setup = wf_fabric_setup(fabric, id);
	dev->classes = &dev->setup->classes;
	dev->shard = wf_shard_user(shard);
	dev->id = id;
	dev->n_ports = n_ports;
	dev->n_queues = n_queues;
	dev->ports = wf_shard_alloc(shard, n * sizeof(*dev->ports));
	dev->lanes = wf_shard_alloc(shard, n * n_queues * sizeof(*dev->lanes));
	if (dev->ports == NULL || dev->lanes == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < n_ports; i++) {
		struct wf_port *port = &dev->ports[i];

		port->number = (uint16_t)i;
		port->up = true;
		port->setup = wf_fabric_port_setup(fabric, id, i);
		port->classes = &port->setup->classes;
		port->maps = fabric->maps || fabric->managed;
		port->hooked = fabric->hooks != NULL ? WF_HOOK_DRIVER : 0;
		port->rng_key = wf_rand_key(fabric->seed, RNG_PORT, (uint64_t)id << 16 | i);
		port->lanes = &dev->lanes[i * n_queues];
		for (unsigned q = 0; q < n_queues; q++)
			port->lanes[q].wait_since = WF_TIME_NEVER;
	}
	return wf_watchdog_init(dev);
}

void wf_port_set_rate(struct wf_port *port, uint64_t rate)
{
	port->rate = rate;
	port->per_byte = wf_rate_per_byte(rate);
}

void wf_port_put_hooked(struct wf_device *dev, struct wf_port *port, const struct wf_packet *pkt,
                        wf_time now)
{
	const struct wf_fabric *fabric = dev->fabric;
	uint32_t bytes = pkt->size + fabric->gap;
	uint32_t head = bytes < port->cut ? bytes : port->cut;
	wf_time free_at = now + wf_port_time(port, bytes);
	wf_time at = now + wf_port_time(port, head) + port->delay;

	if (port->hooked & WF_HOOK_TAP)
		fabric->tap(fabric->tap_arg, dev, port, pkt, now);
	if (port->hooked & WF_HOOK_DRIVER) {
		free_at = fabric->hooks->wire_free(dev, port, bytes, now);
		at = free_at + port->delay;
	}
	if (port->hooked & WF_HOOK_RETRY) {
		wf_time again = wf_retry_send(dev, port, pkt, free_at - now, now);

		at += again;
		free_at = wf_retry_wait(port->retry, pkt, bytes, free_at + again);
	}
	port->free_at = free_at;
	wf_link_commit(&port->link, dev->node.shard, at);
}

void wf_port_transmit_control(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	struct wf_packet pkt = { .size = (uint16_t)dev->fabric->control_size };

	assert(port->control != 0);
	dev->fabric->flowctl->make_control(dev, port, &pkt, now);
	port->control_packets++;
	wf_port_put(dev, port, &pkt, now);
}

void wf_port_want_control(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now)
{
	port->control |= (uint16_t)(1u << queue);
	if (port->up)
		wf_port_wake(dev, port, now);
}

void wf_lane_stop(struct wf_lane *lane, wf_time now)
{
	if (lane->wait_since != WF_TIME_NEVER)
		return;
	lane->wait_since = now;
	lane->stop_bytes = lane->tx_bytes;
	lane->stops++;
}

void wf_port_set_loss(const struct wf_fabric *fabric, uint32_t node, struct wf_port *port)
{
	const struct wf_topo *topo = fabric->topo;
	const struct wf_fabric_cfg *cfg = &port->setup->cfg;
	uint32_t link = topo->ports[topo->nodes[node].first_port + port->number].link;

	port->loss =
		wf_min_u64(topo->links[link].loss + cfg->link_loss + port->more_loss, WF_PROB_ONE);
	/* It stays on where the link went down before: what was cut is still to come. */
	port->lossy |= fabric->hops_count || port->loss != 0 || port->corrupt != 0 ||
	               cfg->link_ber != 0 || cfg->link_raw_ber != 0 || cfg->burst_ber != 0 ||
	               cfg->port_mtu != (uint64_t)WF_PARAM_AUTO;
}

void wf_device_changed(struct wf_device *dev, wf_time now)
{
	wf_watchdog_changed(dev, now);
	if (dev->station != NULL)
		wf_station_changed(dev);
	for (unsigned i = 0; i < dev->n_ports; i++) {
		wf_port_set_loss(dev->fabric, dev->id, &dev->ports[i]);
		dev->fabric->flowctl->changed(dev, &dev->ports[i], now);
	}
}

/* Whether it comes with contents that are wrong. */
static bool is_spoilt(struct wf_port *port)
{
	return wf_rand64(port->rng_key, port->rng_count++) >> 32 < port->corrupt;
}

bool wf_port_refuses(const struct wf_fabric *fabric, const struct wf_port *port,
                     const struct wf_packet *pkt)
{
	const struct wf_fabric_cfg *cfg = &port->setup->cfg;
	uint32_t around = WF_ETH_LEN + WF_SIZE_FCS + (fabric->roce1 ? WF_VLAN_LEN : 0);

	if (cfg->port_mtu == (uint64_t)WF_PARAM_AUTO)
		return false;
	if (fabric->flowctl->uses_credits)
		return (pkt->type == WF_PACKET_TCP ||
		        (pkt->type == WF_PACKET_RDMA && !wf_op_is_atomic(pkt->opcode))) &&
		       pkt->length > cfg->port_mtu;
	return pkt->size > cfg->port_mtu + around;
}

/* Counts a switch that a packet came to. True: it was one too many. */
static bool goes_round(const struct wf_device *dev, struct wf_packet *pkt)
{
	if (dev->fabric->topo->nodes[dev->id].kind == WF_TOPO_HOST) {
		pkt->src = wf_packet_src(pkt);
		return false;
	}
	pkt->src += 1u << WF_PACKET_SRC_BITS;
	return pkt->src >> WF_PACKET_SRC_BITS > WF_PACKET_HOPS_MAX;
}

bool wf_port_loses(struct wf_device *dev, struct wf_port *port, struct wf_packet *pkt, wf_time now)
{
	const struct wf_fabric *fabric = dev->fabric;
	bool control = wf_packet_is_control(pkt->type);
	bool round = !control && fabric->hops_count && goes_round(dev, pkt);
	bool large = !control && wf_port_refuses(fabric, port, pkt);
	bool gone = pkt->input == WF_PACKET_GONE;

	assert(gone || port->up); /* nothing is sent into a link that is down */
	if (pkt->type == WF_PACKET_SMP) {
		if (!gone && !wf_port_draws(fabric, port, pkt, now))
			return false;
		wf_station_forget(dev, pkt);
		return true;
	}
	/*
	 * Control packets are short and repeated by real links; errors spare them (docs/limits.md).
	 */
	if (control && (gone || fabric->hooks == NULL))
		return gone;
	if (!gone && !large && !round) {
		if (fabric->hooks != NULL ? !fabric->hooks->loses(dev, port, pkt)
		                          : !wf_port_draws(fabric, port, pkt, now)) {
			if (wf_unlikely(port->corrupt != 0) && !control && is_spoilt(port))
				pkt->flags |= WF_PACKET_BAD;
			return false;
		}
		if (control)
			return true;
		/* It was sent and received, if not whole: its credits come back. */
		fabric->flowctl->pass(dev, port, pkt->vl, pkt->size, now);
	}
	if (!gone && (large || round))
		fabric->flowctl->pass(dev, port, pkt->vl, pkt->size, now);
	wf_port_lane(port, pkt->vl)->rx_lost++;
	wf_port_lane(port, pkt->vl)->rx_down += gone;
	wf_device_drop(dev, port, pkt->vl, pkt,
	               gone    ? WF_DROP_DOWN
	               : large ? WF_DROP_MTU
	               : round ? WF_DROP_HOPS
	                       : WF_DROP_ERROR,
	               now);
	return true;
}

static void note_drop(struct wf_device *dev, const struct wf_port *port, unsigned queue,
                      const struct wf_packet *pkt, enum wf_drop why, wf_time now)
{
	const struct wf_incident note = {
		.at = now,
		.node = dev->id,
		.src = pkt->src,
		.dst = pkt->dst,
		.port = port->number,
		.queue = (uint8_t)queue,
		.kind = WF_INCIDENT_DROP,
		.why = (uint8_t)why,
	};

	wf_incident_add(dev->fabric, dev->shard, &note);
}

void wf_device_drop(struct wf_device *dev, struct wf_port *port, unsigned queue,
                    const struct wf_packet *pkt, enum wf_drop why, wf_time now)
{
	struct wf_packet whole = *pkt;
	struct wf_int_record *record = wf_int_detach(dev->shard, &whole);

	whole.src = wf_packet_src(pkt);
	wf_port_lane(port, queue)->drops[why]++;
	dev->shard->tally[pkt->cls].dropped++;
	if (record != NULL)
		wf_int_put(dev->shard, record);
	if (pkt->type == WF_PACKET_GMP) {
		wf_station_forget(dev, pkt);
		return;
	}
	if (dev->fabric->incidents != 0)
		note_drop(dev, port, queue, &whole, why, now);
	if (dev->fabric->lost != NULL)
		dev->fabric->lost(dev->fabric->lost_arg, dev->shard, &whole, false);
}

void wf_port_set_up(struct wf_device *dev, struct wf_port *port, bool up, wf_time now)
{
	if (port->up == up)
		return;
	port->up = up;
	port->control = 0;
	port->blocked = 0;
	for (unsigned q = 0; q < dev->fabric->classes.n; q++)
		wf_lane_go(wf_port_lane(port, q), now);
	if (!up) {
		dev->fabric->flowctl->down(dev, port, now);
		wf_timer_clear(&dev->node, port->number);
		wf_timer_clear(&dev->node, dev->n_ports + port->number);
		return;
	}
	dev->fabric->flowctl->start(dev, port, now);
	/*
	 * A switch has nothing waiting: its port is woken by what comes. A timer without need would
	 * be due while the port sends what went straight through at the same time.
	 */
	if (dev->fabric->topo->nodes[dev->id].kind == WF_TOPO_HOST)
		wf_port_wake(dev, port, now);
}

static void mark_gone(void *arg, struct wf_cell *cell)
{
	(void)arg;
	((struct wf_packet *)(void *)cell)->input = WF_PACKET_GONE;
}

void wf_port_cut(struct wf_device *dev, struct wf_port *in, const struct wf_port *out)
{
	in->lossy = true;
	wf_link_walk(&out->link, &dev->node.in[in->number], 0, mark_gone, NULL);
}
