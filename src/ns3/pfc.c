/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pfc.c - priority flow control as the HPCC simulator (ns-3) models it.
 *
 * What differs from fabric/flowctl/pfc.c, so that the two can be compared (docs/validation.md):
 *
 *  - A pause lasts until the frame that ends it; there are no quanta and nothing is said twice. One
 *    frame speaks of one class. A pause that ends before its frame was sent is still sent.
 *  - Bytes are counted, not cells. reserved, then shared up to the threshold, then headroom; a
 *    packet is in one of the last two as a whole, and may be shared again while headroom is taken.
 *  - A packet is dropped when neither headroom nor threshold would let it in.
 *  - Headroom is three times rate * delay of the port's link, and is kept, as reserved is, once for
 *    a port, not for each class.
 *  - alpha holds for ports of the hosts' rate and doubles with every doubling of the rate, up to 1.
 *  - Packets that go straight through count too, for an instant.
 *  - Frames are lost on links as other packets are, and nobody repeats them.
 */
#include "fabric/flowctl/flowctl.h"
#include "ns3/ns3_priv.h"

#define HEADROOM_DELAYS 3

/* Bytes of headroom: as the simulator computes them, with whole bytes of rate * delay. */
static uint64_t headroom_of(const struct wf_port *port)
{
	uint64_t ns = (uint64_t)(port->in_delay / WF_NS);

	return port->rate / 8 * ns / 1000000000 * HEADROOM_DELAYS;
}

static void ns3_start(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	const struct wf_fabric *fabric = dev->fabric;
	uint64_t headroom = fabric->cfg.buffer_headroom;

	if (headroom == (uint64_t)WF_PARAM_AUTO)
		headroom = headroom_of(port);
	for (unsigned q = 0; q < fabric->classes.n; q++) {
		struct wf_lane *lane = wf_port_lane(port, q);

		lane->pause.from = now;
		lane->pause.until = now;
		lane->capacity = (uint32_t)headroom;
		lane->granted = 0;
		lane->xoff = false;
	}
	port->held = 0;
}

/* Headroom and what is reserved are kept once for a port, whatever its classes. */
static int ns3_divide(struct wf_switch *sw, struct wf_err *err)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	const struct wf_topo *topo = fabric->topo;
	uint64_t nic =
		topo->links[topo->ports[topo->nodes[topo->host_node[0]].first_port].link].rate;
	uint64_t headroom = 0;

	for (unsigned i = 0; i < sw->dev.n_ports; i++) {
		const struct wf_port *port = &sw->dev.ports[i];
		uint64_t alpha = fabric->cfg.buffer_alpha;

		headroom += wf_port_lane(port, 0)->capacity;
		for (uint64_t rate = port->rate; rate > nic && alpha < WF_RATIO_ONE; rate /= 2)
			alpha *= 2;
		wf_ns3_switch_of(sw)->port[i].alpha = (uint32_t)alpha;
	}
	return wf_buffer_init(&sw->buffer, &fabric->cfg, topo->nodes[sw->dev.id].name,
	                      sw->dev.n_ports, headroom, err);
}

static uint64_t shared_part(const struct wf_buffer *b, uint64_t used)
{
	return used > b->reserved ? used - b->reserved : 0;
}

/* How much of the shared part a class that comes in by a port may have. */
static uint64_t threshold(struct wf_switch *sw, const struct wf_port *in)
{
	const struct wf_buffer *b = &sw->buffer;
	uint64_t alpha = wf_ns3_switch_of(sw)->port[in->number].alpha;

	if (b->shared_used >= b->shared_size)
		return 0;
	return ((b->shared_size - b->shared_used) * alpha) >> 16;
}

/*
 * Asks for one more frame; it goes after those that wait, which take turns: stop, go, stop. If the
 * wire is free it leaves now, before whatever caused it goes on.
 */
static void say(struct wf_device *dev, struct wf_port *port, unsigned queue, bool stop, wf_time now)
{
	struct wf_ns3_shared *shared = wf_ns3_shared(dev);
	struct wf_lane *lane = wf_port_lane(port, queue);

	assert(lane->xoff != stop);
	lane->xoff = stop;
	lane->granted++;
	if (stop)
		(void)wf_mrg_row_next(&shared->coins);
	else
		shared->coins_owed++;
	port->control |= (uint16_t)(1u << queue);
	if (port->up && !wf_ns3_is_busy(dev, port))
		wf_port_transmit_control(dev, port, now);
}

/* Gives a packet its place. */
static void place(struct wf_switch *sw, const struct wf_port *in, struct wf_lane *lane,
                  uint32_t size)
{
	struct wf_buffer *b = &sw->buffer;
	uint64_t after = shared_part(b, (uint64_t)lane->used + size);

	if (after > threshold(sw, in)) {
		lane->headroom += size;
	} else {
		lane->used += size;
		b->shared_used += wf_min_u64(size, after);
	}
	b->used += size;
	if (b->used > b->max_used)
		b->max_used = b->used;
	if (lane->used + lane->headroom > lane->max_used)
		lane->max_used = lane->used + lane->headroom;
}

static void ns3_down(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	(void)dev;
	(void)port;
	(void)now;
}

static bool ns3_admit(struct wf_switch *sw, struct wf_port *in, const struct wf_lane *out,
                      const struct wf_packet *pkt, wf_time now)
{
	struct wf_lane *lane = wf_device_lane(&sw->dev, in->number, pkt->vl);
	struct wf_buffer *b = &sw->buffer;

	(void)out;
	if ((uint64_t)pkt->size + lane->headroom > lane->capacity &&
	    pkt->size + shared_part(b, lane->used) > threshold(sw, in))
		return false;
	place(sw, in, lane, pkt->size);
	if (!lane->xoff && (lane->headroom > 0 || shared_part(b, lane->used) >= threshold(sw, in)))
		say(&sw->dev, in, pkt->vl, true, now);
	return true;
}

static void ns3_release(struct wf_switch *sw, struct wf_port *in, const struct wf_packet *pkt,
                        wf_time now)
{
	struct wf_lane *lane = wf_device_lane(&sw->dev, in->number, pkt->vl);
	struct wf_buffer *b = &sw->buffer;
	uint32_t from_headroom = pkt->size < lane->headroom ? pkt->size : lane->headroom;
	uint32_t rest = pkt->size - from_headroom;
	uint64_t shared;

	assert(lane->used >= rest && b->used >= pkt->size);
	assert(b->shared_used >= wf_min_u64(rest, shared_part(b, lane->used)));
	b->shared_used -= wf_min_u64(rest, shared_part(b, lane->used));
	lane->headroom -= from_headroom;
	lane->used -= rest;
	b->used -= pkt->size;
	if (wf_likely(!lane->xoff) || lane->headroom != 0)
		return;
	shared = shared_part(b, lane->used);
	if (shared == 0 || shared + b->xon <= threshold(sw, in))
		say(&sw->dev, in, pkt->vl, false, now);
}

static void ns3_pass(struct wf_device *dev, struct wf_port *in, unsigned queue, uint32_t size,
                     wf_time now)
{
	(void)dev;
	(void)in;
	(void)queue;
	(void)size;
	(void)now;
}

static wf_time ns3_ready(const struct wf_lane *lane, uint32_t size, wf_time now)
{
	(void)size;
	return lane->pause.until == WF_TIME_NEVER ? WF_TIME_NEVER : now;
}

static void ns3_sent(struct wf_lane *lane, uint32_t size)
{
	(void)lane;
	(void)size;
}

/* Notes a frame that came in. */
static void note(struct wf_device *dev, const struct wf_port *port, bool stop, wf_time now)
{
	struct wf_ns3_shared *shared = wf_ns3_shared(dev);
	struct wf_ns3_pause_log *log = shared->last_pauses;

	if (log == NULL || log->n == WF_NS3_PAUSES) {
		log = wf_shard_alloc(dev->node.shard, sizeof(*log));
		if (log == NULL) {
			wf_shard_no_memory(dev->node.shard);
			return;
		}
		if (shared->last_pauses == NULL)
			shared->pauses = log;
		else
			shared->last_pauses->next = log;
		shared->last_pauses = log;
	}
	log->pause[log->n++] = (struct wf_ns3_pause){
		.at = now,
		.node = dev->id,
		.port = port->number,
		.stop = stop,
	};
}

static void ns3_control(struct wf_device *dev, struct wf_port *port, const struct wf_packet *pkt,
                        wf_time now)
{
	unsigned priority = (unsigned)__builtin_ctz(pkt->u.pause.mask);
	unsigned queue = dev->fabric->classes.of[priority];
	struct wf_lane *lane = wf_port_lane(port, queue);
	bool stop = pkt->u.pause.quanta[0] != 0;

	assert((pkt->u.pause.mask & (pkt->u.pause.mask - 1)) == 0); /* one class */
	note(dev, port, stop, now);
	if (stop) {
		lane->pause_rx++;
		if (!(port->held >> queue & 1)) {
			lane->pause.from = now;
			lane->stops++;
		}
		lane->pause.until = WF_TIME_NEVER;
		port->held |= (uint16_t)(1u << queue);
		return;
	}
	if (port->held >> queue & 1)
		lane->stopped_ps += (uint64_t)(now - lane->pause.from);
	lane->pause.until = now;
	lane->wait_since = WF_TIME_NEVER; /* the time is counted above */
	port->held &= (uint16_t) ~(1u << queue);
	dev->node.ops->timer(&dev->node, port->number, now); /* looks at once what to send */
}

static void ns3_make_control(struct wf_device *dev, struct wf_port *port, struct wf_packet *pkt,
                             wf_time now)
{
	unsigned q = (unsigned)__builtin_ctz(port->control);
	struct wf_lane *lane = wf_port_lane(port, q);
	bool stop = lane->xoff == (lane->granted % 2 == 1);

	(void)now;
	assert(lane->granted > 0);
	pkt->type = WF_PACKET_PAUSE;
	pkt->u.pause.mask = (uint16_t)(1u << dev->fabric->classes.queue[q].id);
	pkt->u.pause.quanta[0] = stop ? UINT16_MAX : 0;
	lane->pause_tx += stop;
	if (--lane->granted == 0)
		port->control &= (uint16_t) ~(1u << q);
}

static void ns3_timer(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	(void)dev;
	(void)port;
	(void)now;
}

const struct wf_flowctl_ops wf_ns3_pfc = {
	.name = "ns3",
	.help = "PFC as the HPCC simulator (ns-3) models it: no quanta, explicit resume",
	.uses_credits = false,
	.start = ns3_start,
	.changed = ns3_timer, /* settings do not change here */
	.down = ns3_down,
	.divide = ns3_divide,
	.admit = ns3_admit,
	.release = ns3_release,
	.pass = ns3_pass,
	.keep = ns3_pass,
	.give = ns3_pass,
	.ready = ns3_ready,
	.sent = ns3_sent,
	.control = ns3_control,
	.make_control = ns3_make_control,
	.timer = ns3_timer,
};
