/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watchdog.c - looks at queues that are told to stop, and acts.
 *
 * What holds between two calls: a queue of a switch that acted is looked at again, and so is one
 * that is paused where there are rules. Nothing of this is on the packet path: pause frames begin
 * it, a timer goes on with it, and packets are looked at while some queue of the switch drops what
 * comes to it (wf_switch_shut()).
 */
#include "fabric/watchdog.h"

#include <errno.h>

#include "base/rng.h"
#include "fabric/fabric.h"
#include "fabric/switch.h"

#define RNG_WATCHDOG 4 /* domain of the draws for when polls are */

static bool is_host(const struct wf_device *dev)
{
	return dev->fabric->topo->nodes[dev->id].kind == WF_TOPO_HOST;
}

static struct wf_switch *to_switch(struct wf_device *dev)
{
	return wf_container_of(dev, struct wf_switch, dev);
}

static struct wf_watchdog_queue *watch_of(const struct wf_device *dev, unsigned port,
                                          unsigned queue)
{
	return &dev->watchdog->of[port * dev->n_queues + queue];
}

int wf_watchdog_init(struct wf_device *dev)
{
	unsigned n = dev->n_ports * dev->n_queues;

	if (!dev->fabric->watchdogs || dev->fabric->flowctl != &wf_flowctl_pfc)
		return 0;
	dev->watchdog = wf_shard_alloc(
		dev->node.shard, sizeof(*dev->watchdog) + n * sizeof(struct wf_watchdog_queue));
	if (dev->watchdog == NULL)
		return -ENOMEM;
	dev->watchdog->phase = wf_rand64(wf_rand_key(dev->fabric->seed, RNG_WATCHDOG, dev->id), 0);
	for (unsigned i = 0; i < n; i++)
		dev->watchdog->of[i].due = WF_TIME_NEVER;
	return 0;
}

const struct wf_watchdog_queue *wf_watchdog_look(const struct wf_device *dev, unsigned port,
                                                 unsigned queue)
{
	return dev->watchdog == NULL ? NULL : watch_of(dev, port, queue);
}

wf_time wf_watchdog_acted(const struct wf_watchdog_queue *w, wf_time end)
{
	return w->acted_ps + (w->acted && end > w->since ? end - w->since : 0);
}

static void note(struct wf_device *dev, const struct wf_port *port, unsigned queue,
                 const struct wf_watchdog_queue *w, enum wf_incident_kind kind, wf_time now)
{
	const struct wf_incident n = {
		.at = now,
		.dur = kind == WF_INCIDENT_RESTORED ? now - w->since : 0,
		.node = dev->id,
		.src = WF_INCIDENT_NONE,
		.dst = WF_INCIDENT_NONE,
		.port = port->number,
		.queue = (uint8_t)queue,
		.kind = (uint8_t)kind,
		.why = w->action,
	};

	wf_incident_add(dev->fabric, dev->shard, &n);
}

/* It acts: what it does is the caller's. */
static void begin(struct wf_device *dev, const struct wf_port *port, unsigned queue, uint8_t action,
                  wf_time now)
{
	struct wf_watchdog_queue *w = watch_of(dev, port->number, queue);

	assert(!w->acted);
	w->acted = true;
	w->action = action;
	w->since = now;
	w->times++;
	note(dev, port, queue, w, WF_INCIDENT_WATCHDOG, now);
}

/* It no longer does. */
static void end(struct wf_device *dev, const struct wf_port *port, unsigned queue, wf_time now)
{
	struct wf_watchdog_queue *w = watch_of(dev, port->number, queue);

	assert(w->acted);
	note(dev, port, queue, w, WF_INCIDENT_RESTORED, now);
	w->acted_ps += now - w->since;
	w->acted = false;
	w->ends++;
}

/* ---- a switch ---- */

static struct wf_watchdog_times times_of(const struct wf_device *dev, const struct wf_port *port)
{
	return wf_watchdog_times(&port->setup->watchdog, dev->n_ports);
}

/* The first poll after now. */
static wf_time next_poll(const struct wf_device *dev, const struct wf_port *port, wf_time poll,
                         wf_time now)
{
	const struct wf_watchdog_set *set = &port->setup->watchdog;
	wf_time phase = (wf_time)(dev->watchdog->phase % (uint64_t)poll);

	if (set->phase != WF_PARAM_AUTO)
		phase = set->phase / set->speedup % poll;
	return now < phase ? phase : now + poll - (now - phase) % poll;
}

static bool is_watched(const struct wf_port *port, unsigned queue)
{
	return port->setup->watchdog.rules != NULL && port->setup->classes.queue[queue].lossless;
}

static void poll_at(struct wf_device *dev, wf_time at)
{
	unsigned slot = wf_watchdog_slot(dev->n_ports);

	if (dev->node.timer[slot] > at)
		wf_timer_set(&dev->node, slot, at);
}

/*
 * Begins to watch a queue: what a poll would have found the last time is known, since nobody told
 * the queue to stop then, but for what was sent since. Something was, as far as can be told, if the
 * wire was busy.
 */
static void watch(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now)
{
	struct wf_watchdog_queue *w = watch_of(dev, port->number, queue);
	const struct wf_lane *lane = wf_port_lane(port, queue);
	wf_time poll = times_of(dev, port).poll;

	w->due = next_poll(dev, port, poll, now);
	w->stuck = w->quiet = 0;
	w->tx_packets = lane->tx_packets;
	if (lane->tx_packets != 0 && port->free_at > w->due - poll)
		w->tx_packets--;
	w->paused = wf_pfc_paused(dev, port, queue, now, &w->paused_ps);
	w->pause_rx = lane->pause_rx;
	w->stops = lane->stops;
	poll_at(dev, w->due);
}

bool wf_watchdog_frame(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now)
{
	struct wf_watchdog_queue *w = watch_of(dev, port->number, queue);

	if (w->due == WF_TIME_NEVER && !is_host(dev) && is_watched(port, queue))
		watch(dev, port, queue, now);
	return w->ignores;
}

/* What is so of a queue since the last poll, and is so at this one. */
static unsigned look(const struct wf_port *port, const struct wf_watchdog_queue *w,
                     const struct wf_lane *lane, bool paused, uint64_t paused_ps, wf_time poll)
{
	uint64_t share = (uint64_t)poll / 100 * port->setup->watchdog.rules->share;
	unsigned so = 0;

	if (lane->tx_packets == w->tx_packets)
		so |= WF_WATCHDOG_UNSENT;
	if (lane->pause_rx != w->pause_rx)
		so |= WF_WATCHDOG_FRAMES;
	if (paused)
		so |= WF_WATCHDOG_PAUSED;
	if (paused && w->paused && lane->stops == w->stops)
		so |= WF_WATCHDOG_HELD;
	if (paused_ps - w->paused_ps >= share)
		so |= WF_WATCHDOG_SHARE;
	return so;
}

static void act(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now)
{
	const struct wf_watchdog_set *set = &port->setup->watchdog;
	struct wf_watchdog_queue *w = watch_of(dev, port->number, queue);
	bool keeps = (set->rules->flags & WF_WATCHDOG_KEEP) != 0;

	begin(dev, port, queue, (uint8_t)set->action, now);
	w->stuck = w->quiet = 0;
	w->drops_out = set->action == WF_WATCHDOG_DROP;
	w->drops_in = w->drops_out && (set->rules->flags & WF_WATCHDOG_BOTH) != 0;
	w->ignores = set->action == WF_WATCHDOG_FORWARD || (w->drops_out && keeps);
	if (w->drops_out)
		wf_switch_shut(to_switch(dev), 1);
	if (w->ignores)
		wf_pfc_go(dev, port, queue, now);
	else if (w->drops_out)
		wf_switch_flush(to_switch(dev), port, queue, WF_DROP_WATCHDOG, now);
}

static void restore(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now)
{
	struct wf_watchdog_queue *w = watch_of(dev, port->number, queue);

	end(dev, port, queue, now);
	if (w->drops_out)
		wf_switch_shut(to_switch(dev), -1);
	w->drops_out = w->drops_in = w->ignores = false;
	w->stuck = w->quiet = 0;
}

/* Whether what it did is over: for alert there is nothing to end but the alert. */
static bool is_over(const struct wf_port *port, struct wf_watchdog_queue *w, unsigned so,
                    bool stuck, const struct wf_watchdog_times *t)
{
	bool quiet = (so & WF_WATCHDOG_FRAMES) == 0 ||
	             (port->setup->watchdog.rules->flags & WF_WATCHDOG_ANYWAY) != 0;

	if (w->action == WF_WATCHDOG_ALERT)
		return !stuck;
	w->quiet = quiet ? w->quiet + t->poll : 0;
	return w->quiet >= t->restore;
}

static void poll_queue(struct wf_device *dev, struct wf_port *port, unsigned queue, wf_time now)
{
	const struct wf_watchdog_rules *rules = port->setup->watchdog.rules;
	const struct wf_watchdog_times t = times_of(dev, port);
	struct wf_watchdog_queue *w = watch_of(dev, port->number, queue);
	const struct wf_lane *lane = wf_port_lane(port, queue);
	uint64_t paused_ps;
	bool paused = wf_pfc_paused(dev, port, queue, now, &paused_ps);
	unsigned so = look(port, w, lane, paused, paused_ps, t.poll);
	unsigned want = lane->head != NULL ? rules->waiting : rules->empty;
	bool stuck = want != 0 && (so & want) == want;

	w->tx_packets = lane->tx_packets;
	w->paused_ps = paused_ps;
	w->pause_rx = lane->pause_rx;
	w->stops = lane->stops;
	w->paused = paused;
	if (w->acted) {
		if (is_over(port, w, so, stuck, &t))
			restore(dev, port, queue, now);
	} else {
		w->stuck = stuck ? w->stuck + t.poll : 0;
		if (w->stuck >= t.detect)
			act(dev, port, queue, now);
	}
	if (!w->acted && !paused && (so & WF_WATCHDOG_FRAMES) == 0)
		w->due = WF_TIME_NEVER;
	else
		w->due = next_poll(dev, port, t.poll, now);
}

void wf_watchdog_poll(struct wf_device *dev, wf_time now)
{
	wf_time next = WF_TIME_NEVER;

	for (unsigned i = 0; i < dev->n_ports * dev->n_queues; i++) {
		struct wf_watchdog_queue *w = &dev->watchdog->of[i];

		if (w->due <= now)
			poll_queue(dev, &dev->ports[i / dev->n_queues], i % dev->n_queues, now);
		assert(w->due > now);
		next = wf_min_time(next, w->due);
	}
	if (next != WF_TIME_NEVER)
		poll_at(dev, next);
}

bool wf_watchdog_refuses(const struct wf_device *dev, unsigned in, unsigned group, unsigned out,
                         unsigned queue)
{
	return dev->watchdog != NULL &&
	       (watch_of(dev, out, queue)->drops_out || watch_of(dev, in, group)->drops_in);
}

void wf_watchdog_drop(struct wf_device *dev, struct wf_port *in, struct wf_port *out,
                      unsigned queue, const struct wf_packet *pkt, wf_time now)
{
	if (watch_of(dev, out->number, queue)->drops_out) {
		wf_device_drop(dev, out, queue, pkt, WF_DROP_WATCHDOG, now);
		return;
	}
	watch_of(dev, in->number, pkt->vl)->rx_drops++;
	wf_device_drop(dev, in, pkt->vl, pkt, WF_DROP_WATCHDOG, now);
}

/* ---- an adapter ---- */

wf_time wf_watchdog_stops(struct wf_device *dev, const struct wf_port *port, unsigned queue,
                          wf_time now)
{
	const struct wf_watchdog_set *set = &port->setup->adapter_watchdog;
	struct wf_watchdog_queue *w;

	if (dev->watchdog == NULL || !is_host(dev) || set->rules == NULL)
		return WF_TIME_NEVER;
	w = watch_of(dev, port->number, queue);
	assert(!w->acted);
	if (w->due == WF_TIME_NEVER)
		w->due = now + wf_watchdog_times(set, 1).detect;
	return wf_max_time(w->due, now + 1); /* it may have passed while the link was down */
}

void wf_watchdog_goes(struct wf_device *dev, const struct wf_port *port, unsigned queue,
                      wf_time now)
{
	struct wf_watchdog_queue *w;

	if (dev->watchdog == NULL || !is_host(dev))
		return;
	assert(!wf_watchdog_is_mute(dev, port, queue));
	w = watch_of(dev, port->number, queue);
	w->due = WF_TIME_NEVER;
	if (w->acted)
		end(dev, port, queue, now);
}

void wf_watchdog_mute(struct wf_device *dev, struct wf_port *port, wf_time now)
{
	for (unsigned q = 0; dev->watchdog != NULL && is_host(dev) && q < dev->n_queues; q++) {
		struct wf_watchdog_queue *w = watch_of(dev, port->number, q);

		if (w->due > now)
			continue;
		w->due = WF_TIME_NEVER;
		port->control &= (uint16_t) ~(1u << q);
		begin(dev, port, q, WF_INCIDENT_MUTE, now);
	}
}

bool wf_watchdog_is_mute(const struct wf_device *dev, const struct wf_port *port, unsigned queue)
{
	const struct wf_watchdog_rules *rules = port->setup->adapter_watchdog.rules;

	if (dev->watchdog == NULL || !is_host(dev) || !watch_of(dev, port->number, queue)->acted)
		return false;
	return wf_port_lane(port, queue)->xoff ||
	       (rules != NULL && (rules->flags & WF_WATCHDOG_NEVER) != 0);
}

/* ---- both ---- */

void wf_watchdog_changed(struct wf_device *dev, wf_time now)
{
	bool host = is_host(dev);

	for (unsigned i = 0; dev->watchdog != NULL && i < dev->n_ports * dev->n_queues; i++) {
		struct wf_port *port = &dev->ports[i / dev->n_queues];
		struct wf_watchdog_queue *w = &dev->watchdog->of[i];
		unsigned queue = i % dev->n_queues;
		uint64_t ps;

		if (host && port->setup->adapter_watchdog.rules == NULL) {
			w->due = WF_TIME_NEVER;
			if (w->acted)
				end(dev, port, queue, now);
		} else if (!host && !is_watched(port, queue)) {
			w->due = WF_TIME_NEVER;
			if (w->acted)
				restore(dev, port, queue, now);
		} else if (!host && w->due == WF_TIME_NEVER &&
		           wf_pfc_paused(dev, port, queue, now, &ps)) {
			watch(dev, port, queue, now);
		}
	}
}
