/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapter_ports.c - an adapter with several ports: a bond, or InfiniBand's, which have an address
 * each. The functions here stand around those of the adapter with one port.
 */
#include <errno.h>
#include <string.h>

#include "fabric/station.h"
#include "sim/host/adapter_priv.h"
#include "wire/opcode.h"

/* What the transport has may be for any port; none sends while PCIe is busy. */
void wf_ports_wake(struct wf_adapter *a, wf_time now)
{
	for (unsigned i = 0; i < a->ep.dev.n_ports; i++) {
		struct wf_port *port = &a->ep.dev.ports[i];
		wf_time at = wf_hca_tx_time_by(a->hca, i);

		if ((port->up || a->rails != NULL) && at != WF_TIME_NEVER)
			wf_port_wake(&a->ep.dev, port,
			             wf_max_time(at, wf_max_time(now, a->pcie_tx)));
	}
}

/*
 * A port is to look for what it can send. Of those that look at the same time, because they waited
 * for PCIe, the one that sent last comes last.
 */
static void bond_tx(struct wf_adapter *a, unsigned port, wf_time now)
{
	struct wf_node *node = &a->ep.dev.node;
	unsigned n = a->ep.dev.n_ports, first = a->last + 1;

	for (unsigned k = 0; k < n; k++) {
		unsigned i = (first + k) % n;
		wf_time free_at;

		if (i != port && node->timer[i] != now)
			continue;
		wf_timer_clear(node, i);
		wf_endpoint_turn(&a->ep, i);
		free_at = a->ep.port->free_at;
		wf_hca_ask(a->hca, i, now);
		if (a->ep.dev.station != NULL && wf_station_takes_timer(&a->ep.dev, i, now))
			wf_adapter_lose_next(a, now);
		else
			wf_adapter_timer(node, WF_ENDPOINT_WIRE, now);
		wf_hca_asked(a->hca);
		if (a->ep.port->free_at != free_at)
			a->last = i;
	}
}

/* What was pulled for the port at hand will not leave by it: it was sent, and is lost. */
static void lose_heads(struct wf_adapter *a, wf_time now)
{
	struct wf_device *dev = &a->ep.dev;
	struct wf_packet pkt;

	wf_hca_ask(a->hca, a->ep.port->number, now);
	while (wf_endpoint_take_back(&a->ep, a->pull, &pkt)) {
		a->pull->leave(&a->ep, &pkt, now);
		dev->shard->tally[pkt.cls].sent++;
		wf_device_drop(dev, wf_endpoint_port(&a->ep), pkt.vl, &pkt, WF_DROP_DOWN, now);
	}
	wf_hca_asked(a->hca);
}

static void plan_bond(struct wf_adapter *a, wf_time now)
{
	wf_time at = a->rails == NULL ? wf_bond_next(a->bond) : wf_rails_next(a->rails);

	if (at == WF_TIME_NEVER)
		wf_timer_clear(&a->ep.dev.node, WF_ADAPTER_BOND);
	else
		wf_timer_set(&a->ep.dev.node, WF_ADAPTER_BOND, wf_max_time(at, now));
}

/* A link has been down, or up, for long enough: queue pairs move. */
static void bond_follow(struct wf_adapter *a, wf_time now)
{
	uint32_t gone = wf_bond_follow(a->bond, now);

	wf_hca_set_now(a->hca, now);
	for (; gone != 0; gone &= gone - 1) {
		wf_endpoint_turn(&a->ep, (unsigned)__builtin_ctz(gone));
		lose_heads(a, now);
	}
	wf_hca_use_ports(a->hca, a->bond->used);
	plan_bond(a, now);
	wf_adapter_settle(a, now);
}

/* Ports that are not one: what waits for a dead one is lost, and software acts. */
static void rails_act(struct wf_adapter *a, wf_time now)
{
	struct wf_rails *rails = a->rails;

	wf_hca_set_now(a->hca, now);
	for (; rails->lost != 0; rails->lost &= rails->lost - 1) {
		wf_endpoint_turn(&a->ep, (unsigned)__builtin_ctz(rails->lost));
		lose_heads(a, now);
	}
	wf_rails_act(rails, now);
	plan_bond(a, now);
	wf_adapter_settle(a, now);
}

/* Somebody may have migrated. */
static void hear_rails(struct wf_adapter *a, wf_time now)
{
	wf_rails_hear(a->rails, now);
	if (a->ep.dev.node.timer[WF_ADAPTER_BOND] > wf_rails_next(a->rails))
		plan_bond(a, now);
}

static void bond_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(wf_endpoint_of(node));
	unsigned n = a->ep.dev.n_ports;

	if (slot < 2 * n)
		wf_endpoint_turn(&a->ep, slot % n);
	if (slot < n)
		bond_tx(a, slot, now);
	else if (slot < 2 * n)
		wf_adapter_timer(node, WF_ENDPOINT_FLOWCTL, now);
	else if (slot == WF_ADAPTER_BOND && a->rails != NULL)
		rails_act(a, now);
	else if (slot == WF_ADAPTER_BOND)
		bond_follow(a, now);
	else
		wf_adapter_timer(node, slot, now);
	if (a->rails != NULL)
		hear_rails(a, now);
	wf_ports_wake(a, now);
}

static void bond_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(wf_endpoint_of(node));
	const struct wf_packet *pkt = wf_packet_of(cell);

	if (input != WF_ADAPTER_SIDE) {
		wf_endpoint_turn(&a->ep, input);
		if (!wf_packet_is_control(pkt->type) && pkt->input != WF_PACKET_GONE &&
		    !wf_op_is_response(pkt->opcode) && !wf_op_is_cnp(pkt->opcode))
			wf_hca_came(a->hca, pkt->qpn, input);
	}
	wf_adapter_rx(node, input, cell, now);
	if (a->rails != NULL)
		hear_rails(a, now);
	wf_ports_wake(a, now);
}

/*
 * In a managed fabric: a link that is up is of use when its port is active, and no more when a
 * manager has it begin anew.
 */
static void hear_ports(struct wf_adapter *a, wf_time now)
{
	const struct wf_device *dev = &a->ep.dev;

	for (unsigned i = 0; i < dev->n_ports; i++) {
		bool open = dev->ports[i].up && dev->station->port[i].active;

		if (open == ((a->rails->down >> i & 1) != 0))
			wf_rails_link(a->rails, i, open, now);
	}
}

void wf_ports_set_up(struct wf_device *dev, struct wf_port *port, bool up, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of(dev);

	wf_endpoint_set_up(dev, port, up, now);
	if (a->rails != NULL && dev->station != NULL)
		hear_ports(a, now);
	else if (a->rails != NULL)
		wf_rails_link(a->rails, port->number, up, now);
	else
		wf_bond_link(a->bond, port->number, up, now);
	plan_bond(a, now);
}

const struct wf_node_ops wf_ports_node = {
	.name = "bond",
	.late = true,
	.rx = bond_rx,
	.timer = bond_timer,
	.warm = wf_adapter_warm,
};

/* ---- in a managed fabric ---- */

/* After anything that may have set ports. */
static void managed_settle(struct wf_adapter *a, wf_time now)
{
	hear_ports(a, now);
	if (a->ep.dev.node.timer[WF_ADAPTER_BOND] > wf_rails_next(a->rails))
		plan_bond(a, now);
	wf_station_look_again(&a->ep.dev, now);
}

static void managed_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(wf_endpoint_of(node));

	if (slot < a->ep.dev.n_ports || !wf_station_takes_timer(&a->ep.dev, slot, now))
		bond_timer(node, slot, now);
	managed_settle(a, now);
}

static void managed_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	bond_rx(node, input, cell, now);
	managed_settle(wf_adapter_of_endpoint(wf_endpoint_of(node)), now);
}

const struct wf_node_ops wf_managed_ports_node = {
	.name = "bond",
	.late = true,
	.rx = managed_rx,
	.timer = managed_timer,
	.warm = wf_adapter_warm,
};

static int make_rails(struct wf_adapter *a, uint32_t max_qp)
{
	struct wf_shard *shard = a->ep.dev.node.shard;

	a->rails = wf_shard_alloc(shard, sizeof(*a->rails));
	if (a->rails == NULL)
		return -ENOMEM;
	return wf_rails_init(a->rails, shard, a->ep.dev.fabric, &a->ep.dev.setup->cfg, max_qp);
}

int wf_ports_fill(struct wf_adapter *a, struct wf_hca_attr *attr)
{
	attr->ports = (uint8_t)a->ep.dev.n_ports;
	if (a->bond == NULL)
		return 0;
	if (a->ep.dev.fabric->by_port) {
		attr->lag = WF_LAG_OWN;
		attr->port_step = a->ep.dev.fabric->topo->n_hosts;
		/* All may migrate before anybody hears of it. */
		attr->max_events += attr->max_qp;
		return make_rails(a, attr->max_qp);
	}
	attr->lag = a->bond->lag;
	attr->lag_key = a->bond->key;
	attr->lag_follow = strcmp(a->ep.dev.setup->cfg.nic_bond_path, "follow") == 0;
	return 0;
}
