/* SPDX-License-Identifier: Apache-2.0 */
/* counts.c - reading what ports have counted, and the table of it. */
#include "sim/look/counts.h"

#include <assert.h>

#include "fabric/retry.h"
#include "fabric/watchdog.h"
#include "sim/look/state.h"
#include "sim/sim_priv.h"
#include "wire/ib.h"

#define ROW(field, ...)                                                                            \
	{ .name = #field, .offset = offsetof(struct wf_sim_counts, field), __VA_ARGS__ },

const struct wf_port_counter wf_port_counters[WF_PORT_COUNTERS_N] = { WF_PORT_COUNTERS(ROW, ROW) };

const char *wf_counter_kind_name(enum wf_counter_kind kind)
{
	return kind == WF_COUNTER ? "counter" : kind == WF_GAUGE ? "gauge" : "maximum";
}

bool wf_counter_is_of(enum wf_counter_of of, const char *flowctl)
{
	switch (of) {
	case WF_OF_ALL:
		return true;
	case WF_OF_PFC:
		return strcmp(flowctl, "pfc") == 0;
	case WF_OF_CREDIT:
		return strcmp(flowctl, "credit") == 0;
	case WF_OF_ALL_BUT_CREDIT:
		return strcmp(flowctl, "credit") != 0;
	}
	return false;
}

void wf_counts_add(struct wf_sim_counts *sum, const struct wf_sim_counts *counts)
{
	for (size_t i = 0; i < WF_PORT_COUNTERS_N; i++) {
		const struct wf_port_counter *row = &wf_port_counters[i];
		uint64_t v =
			wf_counts_sum(row, wf_counts_get(sum, row), wf_counts_get(counts, row));

		memcpy((char *)sum + row->offset, &v, sizeof(v));
	}
}

bool wf_counts_cell(const struct wf_sim_counts *counts, size_t table, unsigned at,
                    struct wf_counts_cell *cell)
{
	*cell = (struct wf_counts_cell){ .title = NULL };
	for (size_t i = 0; i < WF_PORT_COUNTERS_N; i++) {
		const struct wf_port_counter *row = &wf_port_counters[i];
		struct wf_column column;

		memcpy(&column, (const char *)row + table, sizeof(column));
		if (column.at != at)
			continue;
		cell->title = column.title;
		cell->width = column.width;
		cell->unit = row->unit;
		cell->value += counts != NULL ? wf_counts_get(counts, row) : 0;
	}
	return cell->title != NULL;
}

/* Time a lane was stopped by flow control up to end, with a wait or pause that still lasts. */
static uint64_t stopped(const struct wf_fabric *fabric, const struct wf_lane *lane, wf_time end)
{
	uint64_t ps = lane->stopped_ps;

	if (lane->wait_since != WF_TIME_NEVER && end > lane->wait_since)
		ps += (uint64_t)(end - lane->wait_since);
	if (!fabric->flowctl->uses_credits) {
		wf_time until = wf_min_time(lane->pause.until, end);

		if (until > lane->pause.from)
			ps += (uint64_t)(until - lane->pause.from);
		until = wf_min_time(lane->again.until, end);
		if (until > lane->again.from)
			ps += (uint64_t)(until - lane->again.from);
	}
	return ps;
}

#define TAKE(field, ...) .field = lane->field,
#define LEAVE(field, ...)

/* What a lane counts itself is taken as it is; the others are made here. */
static void read_lane(const struct wf_sim *sim, const struct wf_lane *lane, struct wf_sim_counts *c)
{
	bool credits = sim->fabric.flowctl->uses_credits;
	uint64_t unit = credits ? WF_IB_BLOCK : 1;
	uint64_t ps = stopped(&sim->fabric, lane, wf_sim_now(sim));

	assert(lane->rx_down <= lane->drops[WF_DROP_DOWN]);
	*c = (struct wf_sim_counts){
		WF_PORT_COUNTERS(TAKE, LEAVE).tx_packets = lane->tx_packets,
		.tx_bytes = lane->tx_bytes,
		.drops_congestion =
			(uint64_t)lane->drops[WF_DROP_BUFFER] + lane->drops[WF_DROP_LIFE],
		.drops_buffer = lane->drops[WF_DROP_BUFFER],
		.drops_life = lane->drops[WF_DROP_LIFE],
		.drops_error = lane->drops[WF_DROP_ERROR],
		.drops_down = lane->drops[WF_DROP_DOWN],
		.tx_down = lane->drops[WF_DROP_DOWN] - lane->rx_down,
		.drops_route = lane->drops[WF_DROP_ROUTE],
		.drops_hops = lane->drops[WF_DROP_HOPS],
		.drops_mtu = lane->drops[WF_DROP_MTU],
		.drops_pkey = lane->drops[WF_DROP_PKEY],
		.drops_watchdog = lane->drops[WF_DROP_WATCHDOG],
		.paused_ps = credits ? 0 : ps,
		.credit_waits = credits ? lane->stops : 0,
		.credit_wait_ps = credits ? ps : 0,
		.queue_bytes = lane->bytes,
		.buffer_bytes = unit * (lane->used + (credits ? 0 : (uint64_t)lane->headroom)),
		.max_queue_bytes = lane->max_bytes,
		.max_buffer_bytes = unit * lane->max_used,
	};
	c->vl_stalls = credits ? lane->hoq.times : 0;
	c->tx_discards = c->drops_life + c->tx_down;
	for (unsigned why = 0; why < WF_DROPS; why++)
		c->drops += lane->drops[why];
}

/* What its watchdog did to a queue, or with an adapter. */
static void read_watchdog(const struct wf_watchdog_queue *w, bool of_switch,
                          struct wf_sim_counts *c)
{
	if (w == NULL)
		return;
	c->watchdog_acted = w->times;
	c->watchdog_restored = w->ends;
	c->storm_errors = of_switch ? 0 : w->times;
	c->rx_watchdog = w->rx_drops;
	c->tx_watchdog = c->drops_watchdog - w->rx_drops;
}

bool wf_sim_port_counts(const struct wf_sim *sim, uint32_t node, unsigned port, unsigned queue,
                        struct wf_sim_counts *counts)
{
	const struct wf_port *own, *peer;
	const struct wf_topo_port *tp;
	bool of_switch;

	if (node >= sim->topo->n_nodes || port >= sim->net.devices[node]->n_ports ||
	    queue >= sim->fabric.classes.n)
		return false;
	of_switch = sim->topo->nodes[node].kind == WF_TOPO_SWITCH;
	tp = &sim->topo->ports[sim->topo->nodes[node].first_port + port];
	own = &sim->net.devices[node]->ports[port];
	peer = &sim->net.devices[tp->peer]->ports[tp->peer_port];
	read_lane(sim, &own->lanes[queue], counts);
	read_watchdog(wf_watchdog_look(sim->net.devices[node], port, queue), of_switch, counts);
	if (!sim->fabric.flowctl->uses_credits)
		counts->pausing_ps = stopped(&sim->fabric, &peer->lanes[queue], wf_sim_now(sim));
	if (own->fec != NULL)
		counts->fec_uncorrected = own->fec->uncorrected[queue];
	/* Of what a link sends again its sender knows what the FEC gave up. */
	if (peer->retry != NULL)
		counts->fec_uncorrected += peer->retry->uncorrected[queue];
	if (own->retry != NULL)
		counts->link_retries = own->retry->again[queue];
	return true;
}

void wf_sim_port_whole(const struct wf_sim *sim, uint32_t node, unsigned port,
                       struct wf_sim_counts *counts)
{
	const struct wf_topo_port *tp = &sim->topo->ports[sim->topo->nodes[node].first_port + port];
	struct wf_sim_link_state link = { .times = 0 };
	struct wf_fec_sums fec = wf_port_fec(&sim->net.devices[node]->ports[port], wf_sim_now(sim));

	(void)wf_sim_link_state(sim, tp->link, &link);
	*counts = (struct wf_sim_counts){
		.fec_corrected = fec.codewords,
		.fec_symbols = fec.symbols,
		.fec_bits = fec.bits,
		.link_downed = link.times,
	};
}

void wf_sim_port_total(const struct wf_sim *sim, uint32_t node, unsigned port,
                       struct wf_sim_counts *counts)
{
	const struct wf_topo_port *tp = &sim->topo->ports[sim->topo->nodes[node].first_port + port];
	struct wf_sim_counts c;
	uint64_t sent = 0;

	wf_sim_port_whole(sim, node, port, counts);
	for (unsigned q = 0; wf_sim_port_counts(sim, node, port, q, &c); q++)
		wf_counts_add(counts, &c);
	for (unsigned q = 0; wf_sim_port_counts(sim, tp->peer, tp->peer_port, q, &c); q++)
		sent += c.tx_packets;
	/* What the other end sent and was not lost on the way has come, or is about to. */
	counts->rx_packets = sent - wf_min_u64(sent, counts->rx_lost);
}
