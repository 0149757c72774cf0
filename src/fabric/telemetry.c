/* SPDX-License-Identifier: Apache-2.0 */
/* telemetry.c - records, and what switches write into them. */
#include "fabric/telemetry.h"

#include "base/rng.h"
#include "fabric/switch.h"

int wf_int_make_store(const struct wf_fabric *fabric, struct wf_engine *engine,
                      struct wf_store **store_p)
{
	*store_p = NULL;
	if (fabric->telemetry == WF_TELEMETRY_NONE)
		return 0;
	return wf_store_create(engine, sizeof(struct wf_int_record), store_p);
}

struct wf_int_record *wf_int_get(struct wf_fabric_shard *shard)
{
	uint32_t number = wf_store_get(shard->records, shard->number);
	struct wf_int_record *r;

	if (wf_unlikely(number == 0))
		return NULL;
	r = wf_store_at(shard->records, number);
	r->number = number;
	r->hops = 0;
	r->code = 0;
	r->bytes = 0;
	return r;
}

/* What the port sent before this packet, and what the packet leaves behind. */
static void stamp_hop(struct wf_switch *sw, const struct wf_port *out, struct wf_int_record *r,
                      wf_time now)
{
	struct wf_int_hop *hop = &r->hop[r->hops % WF_INT_HOPS];
	uint64_t bytes = (uint64_t)out->control_packets * sw->dev.fabric->control_size;

	for (unsigned q = 0; q < sw->dev.n_queues; q++)
		bytes += wf_device_lane(&sw->dev, out->number, q)->tx_bytes;
	r->hops++;
	hop->at = now;
	hop->tx_bytes = bytes;
	hop->rate = out->rate;
	hop->queued = sw->load[out->number];
}

static void stamp_code(struct wf_switch *sw, struct wf_port *out, struct wf_int_record *r,
                       wf_time now)
{
	const struct wf_pint *pint = &sw->dev.fabric->pint;
	uint64_t u = wf_pint_use(pint, out, sw->load[out->number], now);
	uint32_t code = wf_pint_encode(pint, u, wf_rand64(sw->rng_key, sw->rng_count++));

	if (code > r->code)
		r->code = code;
	r->hops++;
}

void wf_int_stamp(struct wf_switch *sw, struct wf_port *out, const struct wf_packet *pkt,
                  wf_time now)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	bool asks = (pkt->flags & WF_PACKET_INT) && !(pkt->atomic_va & WF_INT_BACK);

	if (fabric->telemetry == WF_TELEMETRY_INT) {
		if (asks)
			stamp_hop(sw, out, wf_int_record(sw->dev.shard, pkt), now);
		return;
	}
	if (asks)
		stamp_code(sw, out, wf_int_record(sw->dev.shard, pkt), now);
	out->last_bytes = pkt->size;
	out->last_left = now;
}
