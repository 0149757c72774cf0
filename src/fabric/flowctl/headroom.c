/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headroom.c - how long a peer takes to stop, and what arrives until then: counted exactly for this
 * model, by SONiC's calculation, or from a table.
 */
#include "fabric/flowctl/headroom.h"

#include <string.h>

#include "base/rows.h"
#include "fabric/fabric.h"
#include "fabric/retry.h"

#define KIB UINT64_C(1024)
#define GBPS UINT64_C(1000000000)
#define MM_PER_NS 198 /* light in fibre, as SONiC has it */

/* IEEE 802.3 31B.3.7, as buffer_headroom_mellanox.lua lists it. */
static const struct {
	uint64_t rate;
	uint32_t quanta;
} responses[] = {
	{ GBPS / 10, 1 },    { GBPS, 2 },         { 10 * GBPS, 67 },   { 25 * GBPS, 80 },
	{ 40 * GBPS, 118 },  { 50 * GBPS, 147 },  { 100 * GBPS, 394 }, { 200 * GBPS, 453 },
	{ 400 * GBPS, 905 }, { 800 * GBPS, 905 },
};

/* Rates in between have the quanta of the next higher one, those above that of the last. */
static uint32_t quanta_of(uint64_t rate)
{
	size_t i = 0;

	while (i + 1 < WF_ARRAY_SIZE(responses) && responses[i].rate < rate)
		i++;
	return responses[i].quanta;
}

wf_time wf_pfc_response(const struct wf_fabric_cfg *cfg, uint64_t rate)
{
	if (cfg->pfc_reaction != WF_PARAM_AUTO)
		return cfg->pfc_reaction;
	return (wf_time)((unsigned __int128)quanta_of(rate) * WF_PFC_QUANTUM * 8 * (uint64_t)WF_S /
	                 rate);
}

wf_time wf_pfc_reaction(const struct wf_fabric_cfg *cfg, uint64_t rate,
                        const struct wf_topo_node *node)
{
	wf_time way = cfg->link_phy + wf_fabric_pipeline(cfg, node);

	return wf_max_time(wf_pfc_response(cfg, rate) - way, 0);
}

/* ---- exact ---- */

/* How many packets of bytes, gap included, can begin in a time that starts with one of them. */
static uint64_t packets_in(const struct wf_port *port, wf_time time, uint64_t bytes)
{
	unsigned __int128 one = (unsigned __int128)bytes * port->per_byte;
	unsigned __int128 all = (unsigned __int128)(uint64_t)time << WF_RATE_SHIFT;

	return (uint64_t)((all + one - 1) / one);
}

/*
 * From when the packet that goes over the threshold began to leave the peer until the peer stops:
 * its own way here; our frame, which waits for a full packet that has just begun, once again if the
 * link sends that again, and for other frames when there are more classes than one can speak for;
 * its way there; the rest of the reaction. Full packets are those inside a message: the 20 bytes
 * more that the first packet of a WRITE may have are left out, as in the tables that this is
 * compared with (docs/validation.md).
 */
static wf_time stop_time(const struct wf_device *dev, const struct wf_port *port)
{
	const struct wf_fabric *fabric = dev->fabric;
	const struct wf_topo *topo = fabric->topo;
	uint32_t peer = topo->ports[topo->nodes[dev->id].first_port + port->number].peer;
	const struct wf_packet *pkt = NULL;
	uint64_t largest = fabric->max_wire + fabric->gap;
	uint64_t frames = 0;

	for (unsigned q = 0; q < fabric->classes.n; q++)
		frames += port->setup->classes.queue[q].lossless;
	frames = (frames + WF_ARRAY_SIZE(pkt->u.pause.quanta) - 1) /
	         WF_ARRAY_SIZE(pkt->u.pause.quanta);
	return wf_port_time_long(port,
	                         2 * largest + frames * (fabric->control_size + fabric->gap)) +
	       wf_retry_longest(port, wf_port_time_long(port, largest)) + port->in_delay +
	       port->delay +
	       wf_pfc_reaction(&wf_fabric_peer_setup(fabric, dev->id, port->number)->cfg,
	                       port->rate, &topo->nodes[peer]);
}

uint64_t wf_pfc_headroom(const struct wf_device *dev, const struct wf_port *port)
{
	const struct wf_fabric *fabric = dev->fabric;
	const struct wf_fabric_cfg *cfg = &port->setup->cfg;
	uint64_t cell = cfg->buffer_cell, small = cfg->buffer_small;
	wf_time time = stop_time(dev, port);
	uint64_t of_large = (fabric->max_wire + cell - 1) / cell;
	uint64_t of_small = (fabric->header + cell - 1) / cell;
	uint64_t n_large = packets_in(port, time, fabric->max_wire + fabric->gap);
	uint64_t n_small = packets_in(port, time, fabric->header + fabric->gap);
	/* Small packets take a cell each; one large one among them makes it worse. */
	uint64_t worst = wf_max_u64(n_small * of_small + of_large, n_large * of_large);
	uint64_t more = worst - n_large * of_large;

	return (n_large * of_large + ((more * small + WF_PROB_ONE - 1) >> 32)) * cell;
}

uint64_t wf_pfc_headroom_bytes(const struct wf_device *dev, const struct wf_port *port)
{
	const struct wf_fabric *fabric = dev->fabric;
	/* Two packets are on the wire in that time, each with all headers that it can have. */
	uint64_t more = 2 * (uint64_t)(fabric->largest - fabric->max_wire);

	return wf_rate_bytes(port->per_byte, stop_time(dev, port)) + more + fabric->largest;
}

/* ---- SONiC's ---- */

static uint64_t whole_kib(uint64_t bytes)
{
	return (bytes + KIB - 1) / KIB * KIB;
}

uint64_t wf_sonic_headroom(const struct wf_sonic_headroom *in, uint64_t *xon_p)
{
	const uint64_t port_mtu = 9100, mac_phy = 819, pipeline = 19 * KIB, least = 64;
	uint64_t cable = (uint64_t)((unsigned __int128)in->cable * 2 * in->rate /
	                            (8 * (uint64_t)WF_S) * 1000 / KIB);
	uint64_t way = port_mtu + cable + mac_phy + (uint64_t)quanta_of(in->rate) * WF_PFC_QUANTUM;
	/* What a cell holds at the worst, of 2^16: a small packet each, or one byte too many. */
	uint64_t factor = in->cell > 2 * least ? (in->cell << 16) / least
	                                       : (2 * in->cell << 16) / (1 + in->cell);
	uint64_t more = factor > 1 << 16 ? factor - (1 << 16) : 0;

	*xon_p = pipeline;
	return whole_kib(in->lossless_mtu + way +
	                 (uint64_t)(((unsigned __int128)way * more * in->small) >> 48));
}

/* ---- a table's ---- */

#define FIELD(field) WF_PARAM_FIELD(struct wf_headroom_row, field)

static const struct wf_param fields[] = {
	{ .name = "rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(rate),
	  .min = WF_RATE_MIN,
	  .max = WF_RATE_MAX },
	{ .name = "length", .kind = WF_PARAM_LENGTH, FIELD(length), .max = INT64_C(1) << 40 },
	{ .name = "bytes", .kind = WF_PARAM_BYTES, FIELD(bytes), .max = WF_BUFFER_MAX },
};

static const struct wf_rows table = {
	.name = "buffer.headroom_table",
	.what = "a table of headrooms",
	.example = "rate:length:bytes, with commas between, e.g. 400Gbps:40m:123904B",
	.fields = fields,
	.n_fields = WF_ARRAY_SIZE(fields),
	.size = sizeof(struct wf_headroom_row),
	.max = WF_HEADROOM_ROWS,
};

int wf_headroom_parse(const char *text, struct wf_headroom_row *rows, unsigned *n_p,
                      struct wf_err *err)
{
	return wf_rows_parse(&table, text, rows, n_p, err);
}

/* The row of the shortest cable that is long enough, else of the longest; 0: none of the rate. */
static uint64_t from_table(const struct wf_fabric_cfg *cfg, uint64_t rate, wf_time cable)
{
	struct wf_headroom_row rows[WF_HEADROOM_ROWS];
	const struct wf_headroom_row *best = NULL;
	struct wf_err err;
	uint64_t mm = (uint64_t)cable * MM_PER_NS / WF_NS;
	unsigned n;

	if (wf_headroom_parse(cfg->buffer_headroom_table, rows, &n, &err) != 0)
		return 0; /* wf_fabric_check() refused it */
	for (unsigned i = 0; i < n; i++) {
		bool fits = rows[i].length >= mm;

		if (rows[i].rate != rate)
			continue;
		if (best == NULL ||
		    (fits && (best->length < mm || rows[i].length < best->length)) ||
		    (!fits && rows[i].length > best->length && best->length < mm))
			best = &rows[i];
	}
	return best == NULL ? 0 : best->bytes;
}

uint64_t wf_pfc_headroom_given(const struct wf_device *dev, const struct wf_port *port)
{
	const struct wf_fabric_cfg *cfg = &port->setup->cfg;
	const struct wf_topo *topo = dev->fabric->topo;
	wf_time cable =
		topo->links[topo->ports[topo->nodes[dev->id].first_port + port->number].link].delay;
	uint64_t bytes = cfg->buffer_headroom, xon;

	if (bytes != (uint64_t)WF_PARAM_AUTO)
		return bytes;
	bytes = from_table(cfg, port->rate, cable);
	if (bytes != 0)
		return bytes;
	if (strcmp(cfg->buffer_headroom_by, "sonic") == 0) {
		const struct wf_sonic_headroom in = {
			.rate = port->rate,
			.cable = (uint64_t)cable,
			.lossless_mtu = dev->fabric->max_wire,
			.cell = cfg->buffer_cell,
			.small = cfg->buffer_small,
		};

		bytes = wf_sonic_headroom(&in, &xon);
		return bytes + xon;
	}
	return wf_pfc_headroom(dev, port);
}
