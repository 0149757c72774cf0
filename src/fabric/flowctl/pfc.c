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
 * What arrives until the peer has stopped goes into the headroom (headroom.c). Sending side: a
 * pause frame stops the class from reaction time after it came in until its quanta have run out;
 * quanta 0 starts it again, the same reaction time later. One frame speaks for all classes that
 * have something to say.
 */
#include "fabric/fabric.h"
#include "fabric/flowctl/flowctl.h"
#include "fabric/flowctl/headroom.h"
#include "fabric/switch.h"
#include "fabric/watchdog.h"

static wf_time pause_time(const struct wf_port *port, uint32_t quanta)
{
	return wf_port_time_long(port, (uint64_t)quanta * WF_PFC_QUANTUM);
}

/* What holds of a queue between any two calls. */
static void assert_lane(const struct wf_device *dev, const struct wf_port *port, unsigned queue)
{
	const struct wf_lane *lane = wf_port_lane(port, queue);

	/*
	 * Receiving: what comes after XOFF fits the headroom, and only lossless classes have one.
	 */
	assert(lane->headroom <= lane->capacity);
	assert(!lane->xoff || port->setup->classes.queue[queue].lossless);
	/* Sending: pauses begin before they end, one after another, and who has one is asked. */
	assert(lane->pause.from <= lane->pause.until);
	assert(lane->again.from <= lane->again.until);
	assert(lane->again.until == 0 || lane->again.from >= lane->pause.until);
	assert(lane->pause.until != 0 || lane->again.until == 0);
	assert(lane->pause.until == 0 || port->held >> queue & 1);
	(void)dev;
	(void)lane;
}

/* What the packet path needs of the port's setup. */
static void set_lane(struct wf_port *port, unsigned queue)
{
	const struct wf_class *c = &port->setup->classes.queue[queue];
	struct wf_lane *lane = wf_port_lane(port, queue);

	lane->lossless = c->lossless;
	lane->alpha = wf_narrow_u32(port->setup->cfg.buffer_alpha);
	lane->out_alpha = c->alpha;
}

/* Has a frame sent about a queue that is full, or no longer: where frames are sent about it. */
static void tell_peer(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now)
{
	if (port->setup->pause_of[queue] != 0 && !wf_watchdog_is_mute(dev, port, queue))
		wf_port_want_control(dev, port, queue, now);
}

static void pfc_start(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	for (unsigned q = 0; q < dev->fabric->classes.n; q++) {
		struct wf_lane *lane = wf_port_lane(port, q);

		assert(lane->pause.until == 0 && lane->again.until == 0);
		set_lane(port, q);
		port->held &= (uint16_t) ~(1u << q);
		if (lane->xoff) /* the link was down: say it again */
			tell_peer(dev, port, q, now);
		assert_lane(dev, port, q);
	}
}

static void stop_peer(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now)
{
	struct wf_lane *lane = wf_port_lane(port, queue);

	lane->xoff = true;
	tell_peer(dev, port, queue, now);
}

/* Once, for links as they are then: what is headroom and what is shared does not change later. */
static int pfc_divide(struct wf_switch *sw, struct wf_err *err)
{
	const struct wf_fabric *fabric = sw->dev.fabric;
	uint64_t headroom = 0;
	uint32_t n_lossless = 0;

	for (unsigned i = 0; i < sw->dev.n_ports; i++) {
		uint64_t given = wf_pfc_headroom_given(&sw->dev, &sw->dev.ports[i]);

		for (unsigned q = 0; q < fabric->classes.n; q++) {
			if (!sw->dev.ports[i].setup->classes.queue[q].lossless)
				continue;
			n_lossless++;
			wf_device_lane(&sw->dev, i, q)->capacity =
				(uint32_t)wf_min_u64(given, UINT32_MAX);
			headroom += given;
		}
	}
	return wf_buffer_init(&sw->buffer, &sw->dev.setup->cfg,
	                      fabric->topo->nodes[sw->dev.id].name, n_lossless, headroom, err);
}

static bool pfc_admit(struct wf_switch *sw, struct wf_port *in, const struct wf_lane *out,
                      const struct wf_packet *pkt, wf_time now)
{
	struct wf_lane *lane = wf_device_lane(&sw->dev, in->number, pkt->vl);

	if (!lane->lossless)
		return wf_buffer_take_lossy(&sw->buffer, lane, out, pkt->size);

	switch (wf_buffer_take(&sw->buffer, lane, pkt->size)) {
	case WF_BUFFER_OK:
		return true;
	case WF_BUFFER_XOFF:
		if (!lane->xoff)
			stop_peer(&sw->dev, in, pkt->vl, now);
		assert_lane(&sw->dev, in, pkt->vl);
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

	if (!lane->lossless) {
		wf_buffer_give_lossy(&sw->buffer, lane, pkt->size);
		return;
	}
	wf_buffer_give(&sw->buffer, lane, pkt->size);
	if (wf_unlikely(lane->xoff) && wf_buffer_is_low(&sw->buffer, lane)) {
		lane->xoff = false;
		tell_peer(&sw->dev, in, pkt->vl, now);
	}
	assert(lane->xoff ||
	       lane->headroom == 0); /* the headroom is used by who was told to stop */
	assert_lane(&sw->dev, in, pkt->vl);
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
	if (now >= lane->pause.from && now < lane->pause.until)
		return lane->pause.until;
	if (wf_unlikely(now >= lane->again.from && now < lane->again.until))
		return lane->again.until;
	return now;
}

static void pfc_sent(struct wf_lane *lane, uint32_t size)
{
	(void)lane;
	(void)size;
}

/* Counts the pauses of queue that are over at now; the next takes its place. */
static void roll(struct wf_device *dev, const struct wf_port *port, unsigned queue, wf_time now)
{
	struct wf_lane *lane = wf_port_lane(port, queue);

	while (lane->pause.until != 0 && lane->pause.until <= now) {
		wf_time from = lane->pause.from, until = lane->pause.until;

		if (until > from) {
			lane->stopped_ps += (uint64_t)(until - from);
			if (dev->fabric->incidents != 0)
				wf_pfc_incident(dev, port, queue, from, until);
		}
		lane->pause.from = lane->again.from;
		lane->pause.until = lane->again.until;
		lane->again.from = lane->again.until = 0;
	}
}

/* Pauses end with the link, in the middle or before they have begun. */
static void pfc_down(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	for (unsigned q = 0; q < dev->fabric->classes.n; q++) {
		struct wf_lane *lane = wf_port_lane(port, q);

		lane->pause.until = wf_min_time(lane->pause.until, now);
		lane->again.until = wf_min_time(lane->again.until, now);
		roll(dev, port, q, now);
		assert(lane->pause.until == 0 && lane->again.until == 0);
	}
}

/* A frame ends the pause of queue at at, when the device has reacted; until then it holds. */
static void go(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time at, wf_time now)
{
	struct wf_lane *lane = wf_port_lane(port, queue);

	lane->pause.until = wf_min_time(lane->pause.until, at);
	lane->again.until = wf_min_time(lane->again.until, at);
	if (port->blocked >> queue & 1)
		wf_port_wake(dev, port, wf_max_time(lane->pause.until, now));
}

bool wf_pfc_paused(struct wf_device *dev, const struct wf_port *port, unsigned queue, wf_time now,
                   uint64_t *ps_p)
{
	const struct wf_lane *lane = wf_port_lane(port, queue);

	roll(dev, port, queue, now);
	*ps_p = lane->stopped_ps;
	if (lane->pause.until == 0 || lane->pause.from > now)
		return false;
	*ps_p += (uint64_t)(now - lane->pause.from);
	return true;
}

void wf_pfc_go(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now)
{
	roll(dev, port, queue, now);
	if (wf_port_lane(port, queue)->pause.until != 0)
		go(dev, port, queue, now, now);
	roll(dev, port, queue, now);
	assert_lane(dev, port, queue);
}

/* Whether pause frames of some priority stop a queue. */
static bool is_stopped_by_frames(const struct wf_port *port, unsigned queue)
{
	for (unsigned p = 0; p < WF_PRIORITIES; p++) {
		if (port->setup->pause_queue[p] == queue)
			return true;
	}
	return false;
}

/*
 * Who became full while nobody was to be told, is told now. A queue that frames stop no longer goes
 * on at once: nobody could end its pause.
 */
static void pfc_changed(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	for (unsigned q = 0; q < dev->n_queues; q++) {
		set_lane(port, q);
		if (!port->up)
			continue;
		if (wf_port_lane(port, q)->xoff)
			tell_peer(dev, port, q, now);
		if (!is_stopped_by_frames(port, q))
			wf_pfc_go(dev, port, q, now);
		roll(dev, port, q, now);
		assert_lane(dev, port, q);
	}
}

/*
 * A frame asks for a pause from at to end. It goes on with the one that lasts until then, or is a
 * new one, also when the last frame said go so shortly before that this has not yet happened. Of a
 * third within the reaction time nothing is kept but its end: what lies between is shorter than
 * that time.
 */
static void stop(struct wf_lane *lane, wf_time at, wf_time end)
{
	if (lane->again.until != 0) {
		lane->again.until = end;
		return;
	}
	if (lane->pause.until >= at) {
		lane->pause.until = end;
		return;
	}
	lane->stops++;
	if (lane->pause.until == 0) {
		lane->pause.from = at;
		lane->pause.until = end;
	} else {
		lane->again.from = at;
		lane->again.until = end;
	}
}

static void take_pause(struct wf_device *dev, struct wf_port *port, unsigned queue, uint16_t quanta,
                       wf_time now)
{
	struct wf_lane *lane = wf_port_lane(port, queue);
	wf_time at = now + wf_pfc_reaction(&port->setup->cfg, port->rate,
	                                   &dev->fabric->topo->nodes[dev->id]);

	bool ignored =
		dev->watchdog != NULL && quanta != 0 && wf_watchdog_frame(dev, port, queue, now);

	roll(dev, port, queue, now);
	assert(lane->pause.until == 0 || lane->pause.until > now);
	lane->pause_rx += quanta != 0;
	if (quanta == 0) {
		go(dev, port, queue, at, now);
	} else if (!ignored) {
		port->held |= (uint16_t)(1u << queue);
		stop(lane, at, at + pause_time(port, quanta));
	}
	assert_lane(dev, port, queue);
}

void wf_pfc_incident(struct wf_device *dev, const struct wf_port *port, unsigned queue,
                     wf_time from, wf_time end)
{
	const struct wf_incident note = {
		.at = from,
		.dur = end - from,
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
		uint8_t queue = port->setup->pause_queue[__builtin_ctz(mask)];
		uint16_t quanta = pkt->u.pause.quanta[n++];

		if (queue != WF_NO_LANE) /* else PFC is off for that priority here */
			take_pause(dev, port, queue, quanta, now);
	}
}

/* Has what a frame said said again: before it runs out, and when the watchdog looks. */
static void say_again(struct wf_device *dev, const struct wf_port *port, unsigned queue,
                      wf_time now)
{
	unsigned timer = dev->n_ports + port->number;
	wf_time limit = wf_watchdog_stops(dev, port, queue, now);
	wf_time again = now + pause_time(port, port->setup->cfg.pfc_quanta) / 2;

	/* Counted from when the frame begins to leave. */
	if (!wf_timer_is_set(&dev->node, timer) || dev->node.timer[timer] > limit)
		wf_timer_set(&dev->node, timer, wf_min_time(again, limit));
}

static void pfc_make_control(struct wf_device *dev, struct wf_port *port, struct wf_packet *pkt,
                             wf_time now)
{
	uint32_t quanta = port->setup->cfg.pfc_quanta;
	unsigned stopped = 0, n = 0;

	pkt->type = WF_PACKET_PAUSE;
	for (; port->control != 0;
	     port->control = (uint16_t)(port->control & (port->control - 1))) {
		unsigned q = (unsigned)__builtin_ctz(port->control);
		unsigned of = port->setup->pause_of[q];
		struct wf_lane *lane = wf_port_lane(port, q);

		if (__builtin_popcount(pkt->u.pause.mask | of) >
		    (int)WF_ARRAY_SIZE(pkt->u.pause.quanta))
			break;
		pkt->u.pause.mask |= (uint16_t)of;
		if (!lane->xoff) {
			wf_watchdog_goes(dev, port, q, now);
			continue;
		}
		stopped |= of;
		lane->pause_tx++;
		say_again(dev, port, q, now);
	}
	for (uint32_t mask = pkt->u.pause.mask; mask != 0; mask &= mask - 1)
		pkt->u.pause.quanta[n++] =
			(stopped & mask & -mask) != 0 ? wf_narrow_u16(quanta) : 0;
}

/* Says again what still holds. */
static void pfc_timer(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	wf_watchdog_mute(dev, port, now);
	for (unsigned q = 0; q < dev->fabric->classes.n; q++) {
		if (wf_port_lane(port, q)->xoff)
			tell_peer(dev, port, q, now);
	}
}

const struct wf_flowctl_ops wf_flowctl_pfc = {
	.name = "pfc",
	.help = "Ethernet with priority flow control (802.1Qbb) on the lossless classes",
	.uses_credits = false,
	.start = pfc_start,
	.changed = pfc_changed,
	.down = pfc_down,
	.divide = pfc_divide,
	.admit = pfc_admit,
	.release = pfc_release,
	.pass = pfc_pass,
	.keep = pfc_pass,
	.give = pfc_pass,
	.ready = pfc_ready,
	.sent = pfc_sent,
	.control = pfc_control,
	.make_control = pfc_make_control,
	.timer = pfc_timer,
};
