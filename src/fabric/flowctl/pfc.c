/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pfc.c - priority flow control, IEEE 802.1Qbb: a receiver that fills up tells the peer to stop.
 *
 * Receiving side, per port and lossless class (a priority group):
 *
 *	            above threshold: send XOFF, arm refresh
 *	   flowing ----------------------------------------> stopped --+ refresh: send XOFF again
 *	           <----------------------------------------          <+
 *	            below threshold - xon: send XON
 *
 * What arrives until the peer has stopped goes into the headroom. Sending side: a pause frame stops
 * the class from reaction time after it came in until its quanta have run out; quanta 0 starts it
 * again. One frame speaks for all classes that have something to say.
 */
#include "fabric/fabric.h"
#include "fabric/flowctl/flowctl.h"
#include "fabric/switch.h"

#define QUANTUM_BYTES 64 /* 512 bit times */

static wf_time pause_time(const struct wf_port *port, uint32_t quanta)
{
	return wf_port_time(port, (uint64_t)quanta * QUANTUM_BYTES);
}

/* How many packets of bytes, gap included, can begin in a time that starts with one of them. */
static uint64_t packets_in(const struct wf_port *port, wf_time time, uint64_t bytes)
{
	uint64_t one = bytes * port->ps_q16;

	return (((uint64_t)time << 16) + one - 1) / one;
}

/*
 * From when the packet that goes over the threshold began to leave the peer until the peer stops: its own
 * way here; our frame, which waits for the largest packet that has just begun, and for other frames when
 * there are more classes than one can speak for; its way there; the reaction.
 */
static wf_time stop_time(const struct wf_fabric *fabric, const struct wf_port *port)
{
	const struct wf_packet *pkt = NULL;
	uint64_t largest = fabric->max_wire + fabric->gap;
	uint64_t frames = 0;

	for (unsigned q = 0; q < fabric->classes.n; q++)
		frames += fabric->classes.queue[q].lossless;
	frames = (frames + WF_ARRAY_SIZE(pkt->u.pause.quanta) - 1) /
	         WF_ARRAY_SIZE(pkt->u.pause.quanta);
	return wf_port_time(port, 2 * largest + frames * (fabric->control_size + fabric->gap)) +
	       port->in_delay + port->delay + fabric->cfg.pfc_reaction;
}

uint64_t wf_pfc_headroom(const struct wf_fabric *fabric, const struct wf_port *port)
{
	uint64_t cell = fabric->cfg.buffer_cell, small = fabric->cfg.buffer_small;
	wf_time time = stop_time(fabric, port);
	uint64_t of_large = (fabric->max_wire + cell - 1) / cell;
	uint64_t of_small = (fabric->header + cell - 1) / cell;
	uint64_t n_large = packets_in(port, time, fabric->max_wire + fabric->gap);
	uint64_t n_small = packets_in(port, time, fabric->header + fabric->gap);
	/* Small packets take a cell each; one large one among them makes it worse. */
	uint64_t worst = wf_max_u64(n_small * of_small + of_large, n_large * of_large);
	uint64_t more = worst - n_large * of_large;

	return (n_large * of_large + ((more * small + WF_PROB_ONE - 1) >> 32)) * cell;
}

static void pfc_start(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	const struct wf_fabric *fabric = dev->fabric;
	uint64_t headroom = fabric->cfg.buffer_headroom;

	if (headroom == (uint64_t)WF_PARAM_AUTO)
		headroom = wf_pfc_headroom(fabric, port);
	for (unsigned q = 0; q < fabric->classes.n; q++) {
		struct wf_lane *lane = wf_port_lane(port, q);

		lane->pause.from = 0;
		lane->pause.until = 0;
		port->held &= (uint16_t) ~(1u << q);
		lane->capacity = fabric->classes.queue[q].lossless ? (uint32_t)headroom : 0;
		if (lane->xoff) /* the link was down: say it again */
			wf_port_want_control(dev, port, q, now);
	}
}

static void stop_peer(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now)
{
	struct wf_lane *lane = wf_port_lane(port, queue);

	lane->xoff = true;
	wf_port_want_control(dev, port, queue, now);
}

static bool pfc_admit(struct wf_switch *sw, struct wf_port *in, const struct wf_lane *out,
                      const struct wf_packet *pkt, wf_time now)
{
	struct wf_lane *lane = wf_device_lane(&sw->dev, in->number, pkt->vl);

	if (!sw->dev.fabric->classes.queue[pkt->vl].lossless)
		return wf_buffer_take_lossy(&sw->buffer, lane, out, pkt->size);

	switch (wf_buffer_take(&sw->buffer, lane, pkt->size)) {
	case WF_BUFFER_OK:
		return true;
	case WF_BUFFER_XOFF:
		if (!lane->xoff)
			stop_peer(&sw->dev, in, pkt->vl, now);
		return true;
	case WF_BUFFER_FULL:
		break;
	}
	return false;
}

static void pfc_release(struct wf_switch *sw, struct wf_port *in, const struct wf_packet *pkt,
                        wf_time now)
{
	struct wf_lane *lane = wf_device_lane(&sw->dev, in->number, pkt->vl);

	if (!sw->dev.fabric->classes.queue[pkt->vl].lossless) {
		wf_buffer_give_lossy(&sw->buffer, lane, pkt->size);
		return;
	}
	wf_buffer_give(&sw->buffer, lane, pkt->size);
	if (wf_unlikely(lane->xoff) && wf_buffer_is_low(&sw->buffer, lane)) {
		lane->xoff = false;
		wf_port_want_control(&sw->dev, in, pkt->vl, now);
	}
}

static void pfc_pass(struct wf_device *dev, struct wf_port *in, unsigned queue, uint32_t size,
                     wf_time now)
{
	(void)dev;
	(void)in;
	(void)queue;
	(void)size;
	(void)now;
}

static wf_time pfc_ready(const struct wf_lane *lane, uint32_t size, wf_time now)
{
	(void)size;
	return now >= lane->pause.from && now < lane->pause.until ? lane->pause.until : now;
}

static void pfc_sent(struct wf_lane *lane, uint32_t size)
{
	(void)lane;
	(void)size;
}

/* Adds the pause of queue that is over, or ends at end, to the time the lane was stopped. */
static void settle(struct wf_device *dev, const struct wf_port *port, unsigned queue, wf_time end)
{
	struct wf_lane *lane = wf_port_lane(port, queue);

	if (end > lane->pause.from) {
		lane->stopped_ps += (uint64_t)(end - lane->pause.from);
		if (dev->fabric->incidents != 0)
			wf_pfc_incident(dev, port, queue, end);
	}
	lane->pause.from = end;
	lane->pause.until = end;
}

static void take_pause(struct wf_device *dev, struct wf_port *port, unsigned queue, uint16_t quanta,
                       wf_time now)
{
	struct wf_lane *lane = wf_port_lane(port, queue);
	wf_time from = now + dev->fabric->cfg.pfc_reaction;

	if (quanta == 0) {
		if (lane->pause.until > from)
			settle(dev, port, queue, from);
		if (port->blocked >> queue & 1)
			wf_port_wake(dev, port, from);
		return;
	}
	lane->pause_rx++;
	port->held |= (uint16_t)(1u << queue);
	if (lane->pause.until <= now) {
		settle(dev, port, queue, lane->pause.until);
		lane->pause.from = from;
		lane->stops++;
	}
	lane->pause.until = from + pause_time(port, quanta);
}

void wf_pfc_incident(struct wf_device *dev, const struct wf_port *port, unsigned queue, wf_time end)
{
	const struct wf_lane *lane = wf_port_lane(port, queue);
	const struct wf_incident note = {
		.at = lane->pause.from,
		.dur = end - lane->pause.from,
		.node = dev->id,
		.src = WF_INCIDENT_NONE,
		.dst = WF_INCIDENT_NONE,
		.port = port->number,
		.queue = (uint8_t)queue,
		.kind = WF_INCIDENT_PAUSE,
	};

	wf_incident_add(dev->fabric, dev->shard, &note);
}

static void pfc_control(struct wf_device *dev, struct wf_port *port, const struct wf_packet *pkt,
                        wf_time now)
{
	unsigned n = 0;

	for (uint32_t mask = pkt->u.pause.mask; mask != 0; mask &= mask - 1) {
		unsigned priority = (unsigned)__builtin_ctz(mask);

		take_pause(dev, port, dev->fabric->classes.of[priority], pkt->u.pause.quanta[n++],
		           now);
	}
}

static void pfc_make_control(struct wf_device *dev, struct wf_port *port, struct wf_packet *pkt,
                             wf_time now)
{
	const struct wf_fabric *fabric = dev->fabric;
	unsigned timer = dev->n_ports + port->number;
	unsigned n = 0;

	pkt->type = WF_PACKET_PAUSE;
	/* Queues are in the order of their priorities, so mask and quanta agree. */
	for (; port->control != 0 && n < WF_ARRAY_SIZE(pkt->u.pause.quanta);
	     port->control = (uint16_t)(port->control & (port->control - 1))) {
		unsigned q = (unsigned)__builtin_ctz(port->control);
		struct wf_lane *lane = wf_port_lane(port, q);

		pkt->u.pause.mask |= (uint16_t)(1u << fabric->classes.queue[q].id);
		pkt->u.pause.quanta[n++] = lane->xoff ? (uint16_t)fabric->cfg.pfc_quanta : 0;
		if (!lane->xoff)
			continue;
		lane->pause_tx++;
		/* Say it again before it runs out, counted from when the frame has left. */
		if (!wf_timer_is_set(&dev->node, timer))
			wf_timer_set(&dev->node, timer,
			             now + pause_time(port, fabric->cfg.pfc_quanta) / 2);
	}
}

/* Says again what still holds. */
static void pfc_timer(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	for (unsigned q = 0; q < dev->fabric->classes.n; q++) {
		if (wf_port_lane(port, q)->xoff)
			wf_port_want_control(dev, port, q, now);
	}
}

const struct wf_flowctl_ops wf_flowctl_pfc = {
	.name = "pfc",
	.help = "Ethernet with priority flow control (802.1Qbb) on the lossless classes",
	.uses_credits = false,
	.sees_all = false,
	.start = pfc_start,
	.admit = pfc_admit,
	.release = pfc_release,
	.pass = pfc_pass,
	.ready = pfc_ready,
	.sent = pfc_sent,
	.control = pfc_control,
	.make_control = pfc_make_control,
	.timer = pfc_timer,
};
