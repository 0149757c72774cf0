/* SPDX-License-Identifier: Apache-2.0 */
/* rules_pause.c - who stops whom: deadlocks, storms, slow receivers, where pauses come from. */
#include "diagnose/diagnose_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST 800         /* thousandths of the time: nearly all of it */
#define MANY_PAUSES 1000 /* of one snapshot, of a time that nobody knows */
#define FEW_PAUSES 20
#define MANY_TICKS 100000                 /* of waiting for credits; fewer are nothing */
#define FULL_BITS (65535 * UINT64_C(512)) /* that the longest pause lasts */

/* ---- deadlocks ---- */

static bool is_stuck(const struct wf_diag *c, uint32_t p, unsigned q)
{
	return !wf_diag_is_host(c, c->ev->ports[p].device) &&
	       c->ports[p].peer_device != WF_EV_NONE &&
	       wf_diag_share(c, c->ports[p].q[q].stopped) >= MOST;
}

/* Leaves only ports that wait for a switch that waits itself: what is left leads into a circle. */
static unsigned find_circle(struct wf_diag *c, unsigned q, bool *in)
{
	unsigned n = 0, gone = 1;

	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		in[p] = is_stuck(c, p, q);
		n += in[p];
	}
	while (n > 0 && gone > 0) {
		gone = 0;
		for (uint32_t p = 0; p < c->ev->n_ports; p++) {
			const struct wf_ev_device *d = &c->ev->devices[c->ports[p].peer_device];
			bool waits = false;

			if (!in[p])
				continue;
			for (uint32_t k = d->first_port; k != WF_EV_NONE; k = c->ev->ports[k].next)
				waits |= in[k];
			in[p] = waits;
			gone += !waits;
		}
		n -= gone;
	}
	return n;
}

static void say_circle(struct wf_diag *c, unsigned q, const bool *in, unsigned n)
{
	struct wf_found *f = NULL;
	char where[WF_DIAG_WHERE];

	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		if (!in[p])
			continue;
		if (f == NULL) {
			wf_diag_where(c, p, where);
			f = wf_diag_find(c, WF_SEVERITY_ERROR, p, (int)q,
			                 "%u ports between switches are stopped for most of the "
			                 "time and wait for one another in a circle, %s among them",
			                 n, where);
		}
		wf_diag_stand(c, f, p, (int)q, WF_EV_paused_ps);
	}
}

static void say_proved(struct wf_diag *c)
{
	struct wf_found *f = NULL;
	char where[WF_DIAG_WHERE];

	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		for (int q = WF_EV_NO_QUEUE; q < WF_DIAG_WHOLE; q++) {
			if (wf_evidence_get(c->ev, p, q, WF_EV_deadlocked, NULL) == NULL)
				continue;
			if (f == NULL) {
				wf_diag_where(c, p, where);
				f = wf_diag_find(
					c, WF_SEVERITY_ERROR, p, q,
					"queues wait for one another in a circle that none "
					"can leave, %s among them",
					where);
			}
			wf_diag_stand(c, f, p, q, WF_EV_deadlocked);
		}
	}
}

void wf_diag_deadlock(struct wf_diag *c)
{
	bool *in;

	say_proved(c);
	if (c->d->n > 0)
		return;
	if (!c->links || c->span <= 0) {
		wf_diag_lacks(c);
		return;
	}
	in = c->d->mem->alloc(c->d->mem, c->ev->n_ports + 1);
	for (unsigned q = 0; in != NULL && q < WF_DIAG_QUEUES; q++) {
		unsigned n = c->paused[q] ? find_circle(c, q, in) : 0;

		if (n > 0)
			say_circle(c, q, in, n);
	}
	c->d->mem->free(c->d->mem, in);
}

/* ---- hosts that stop others ---- */

/* What a host does to its switch in one priority: what either end says. */
struct stopper {
	uint32_t port, told; /* the host's, WF_EV_NONE: not known; and where it is counted */
	bool at_host;        /* told is the host's */
	uint64_t frames, ps, rate;
};

/* Pauses that come from a host at port p, by what the host or the switch says. */
static bool find_stopper(const struct wf_diag *c, uint32_t p, unsigned q, struct stopper *s)
{
	const struct wf_diag_queue *mine = &c->ports[p].q[q], *theirs = NULL;
	uint32_t peer = c->ev->ports[p].peer;

	memset(s, 0, sizeof(*s));
	s->rate = c->ev->ports[p].rate;
	if (wf_diag_is_host(c, c->ev->ports[p].device)) {
		/* A switch at the other end says it, too, and says it below. */
		if (peer != WF_EV_NONE && c->ports[peer].q[q].pause_rx > 0)
			return false;
		*s = (struct stopper){ p, p, true, mine->pause_tx, mine->pausing, s->rate };
		return mine->pause_tx > 0;
	}
	if (!c->ports[p].to_host)
		return false;
	theirs = &c->ports[peer].q[q];
	s->port = peer;
	s->told = p;
	s->frames = mine->pause_rx;
	s->ps = mine->knows_stopped || c->ev->whole ? mine->stopped : theirs->pausing;
	return mine->pause_rx > 0;
}

/* Pauses follow one another as long as they last: nothing is sent in between. */
static bool is_storm(const struct wf_diag *c, const struct stopper *s)
{
	uint64_t full, events = 0;

	if (wf_evidence_sum(c->ev, s->port, WF_EV_storm_warnings, &events) && events > 0)
		return true;
	if (wf_diag_share(c, s->ps) >= 950)
		return true;
	if (s->rate == 0 || s->ps == 0)
		return false;
	/* An adapter refreshes a pause when half of it is over. */
	full = (uint64_t)((unsigned __int128)FULL_BITS * WF_S / s->rate);
	return s->ps / s->frames >= full / 100 * 35;
}

static bool is_much(const struct wf_diag *c, const struct stopper *s)
{
	if (c->span > 0 && s->ps > 0)
		return wf_diag_share(c, s->ps) >= 20;
	return s->frames >= (c->span > 0 ? FEW_PAUSES : MANY_PAUSES);
}

/* How far pauses of a priority came: hosts and switches that were told to stop. */
static void count_stopped(const struct wf_diag *c, unsigned q, unsigned *hosts, unsigned *switches)
{
	*hosts = *switches = 0;
	for (uint32_t d = 0; d < c->ev->n_devices; d++) {
		bool stopped = false;

		for (uint32_t p = c->ev->devices[d].first_port; p != WF_EV_NONE;
		     p = c->ev->ports[p].next)
			stopped |= c->ports[p].q[q].pause_rx > 0;
		*(wf_diag_is_host(c, d) ? hosts : switches) += stopped;
	}
}

static void say_stopper(struct wf_diag *c, const struct stopper *s, unsigned q, bool storm)
{
	char n[WF_HUMAN], t[WF_HUMAN] = "", where[WF_DIAG_WHERE];
	unsigned hosts, switches;
	struct wf_found *f;
	size_t used;

	wf_human_count(s->frames, n, sizeof(n));
	wf_human_time(s->ps, t, sizeof(t));
	wf_diag_where(c, s->port, where);
	f = wf_diag_find(c, storm ? WF_SEVERITY_ERROR : WF_SEVERITY_WARNING, s->port, (int)q,
	                 storm ? "%s sends pauses without a break: %s frames%s%s%s: nobody can "
	                         "send to it, and what waits for it stops others"
	                       : "%s takes in less than comes: it sent %s pauses%s%s%s, with "
	                         "times to go on in between",
	                 where, n, s->ps > 0 ? ", which stopped its switch for " : "",
	                 s->ps > 0 ? t : "", s->ps > 0 ? " in all" : "");
	count_stopped(c, q, &hosts, &switches);
	used = f != NULL ? strlen(f->what) : 0;
	if (f != NULL && switches > 1)
		snprintf(f->what + used, sizeof(f->what) - used,
		         "; %u switches and %u hosts were told to stop", switches, hosts);
	wf_diag_stand(c, f, s->port, (int)q, WF_EV_pause_tx);
	wf_diag_stand(c, f, s->port, (int)q, WF_EV_pausing_ps);
	wf_diag_stand(c, f, s->port, WF_EV_NO_QUEUE, WF_EV_storm_warnings);
	if (!s->at_host) {
		wf_diag_stand(c, f, s->told, (int)q, WF_EV_pause_rx);
		wf_diag_stand(c, f, s->told, (int)q, WF_EV_paused_ps);
	}
	c->d->hot[c->ev->ports[s->port].device] = true;
}

/* Of a port's priorities the one that stops most is told of. */
static void stoppers(struct wf_diag *c, bool storm)
{
	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		struct stopper most = { .frames = 0 };
		unsigned at = 0;

		for (unsigned q = 0; q < WF_DIAG_QUEUES; q++) {
			struct stopper s;

			if (!find_stopper(c, p, q, &s) || !is_much(c, &s) ||
			    is_storm(c, &s) != storm || s.frames <= most.frames)
				continue;
			most = s;
			at = q;
		}
		if (most.frames > 0)
			say_stopper(c, &most, at, storm);
	}
}

void wf_diag_storm(struct wf_diag *c)
{
	stoppers(c, true);
}

/* An adapter that drops what it has no room for. */
static void droppers(struct wf_diag *c)
{
	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		uint64_t discards = 0, n = c->ports[p].all.drops;
		char text[WF_HUMAN], where[WF_DIAG_WHERE];
		struct wf_found *f;

		if (!wf_diag_is_host(c, c->ev->ports[p].device))
			continue;
		if (wf_evidence_sum(c->ev, p, WF_EV_nic_discards, &discards))
			n = wf_max_u64(n, discards);
		if (n == 0)
			continue;
		wf_human_count(n, text, sizeof(text));
		wf_diag_where(c, p, where);
		f = wf_diag_find(c, WF_SEVERITY_WARNING, p, WF_EV_NO_QUEUE,
		                 "the adapter of %s dropped %s packets for which it had no room",
		                 where, text);
		wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_nic_discards);
		wf_diag_stand_all(c, f, p, WF_EV_drops_buffer);
		c->d->hot[c->ev->ports[p].device] = true;
	}
}

static uint64_t ticks_of(const struct wf_diag *c, uint32_t p)
{
	uint64_t v;

	return wf_evidence_sum(c->ev, p, WF_EV_xmit_wait_ticks, &v) ? v : 0;
}

/*
 * InfiniBand: the port to a host waits for its credits. Nothing is behind it but the host. Where it
 * counts ticks, of whatever length, those of other ports are what they are held against.
 */
static bool waits_for_host(const struct wf_diag *c, uint32_t p, uint64_t most_ticks)
{
	if (!c->ports[p].to_host || c->ethernet)
		return false;
	if (c->ports[p].all.stopped > 0)
		return wf_diag_share(c, c->ports[p].all.stopped) >= 200;
	return most_ticks >= MANY_TICKS && ticks_of(c, p) >= most_ticks / 2;
}

static void no_credits(struct wf_diag *c)
{
	uint64_t most = 0;

	for (uint32_t p = 0; p < c->ev->n_ports; p++)
		most = wf_max_u64(most, ticks_of(c, p));
	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		char where[WF_DIAG_WHERE], t[WF_HUMAN];
		struct wf_found *f;

		if (!waits_for_host(c, p, most))
			continue;
		wf_diag_where(c, p, where);
		if (c->ports[p].all.stopped > 0)
			wf_human_time(c->ports[p].all.stopped, t, sizeof(t));
		else
			snprintf(t, sizeof(t), "%" PRIu64 " ticks", ticks_of(c, p));
		f = wf_diag_find(c, WF_SEVERITY_WARNING, c->ev->ports[p].peer, WF_EV_NO_QUEUE,
		                 "%s waited %s for credits: the host behind it takes in less than "
		                 "comes",
		                 where, t);
		wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_credit_wait_ps);
		wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_xmit_wait_ticks);
		c->d->hot[c->ports[p].peer_device] = true;
	}
}

void wf_diag_slow_receiver(struct wf_diag *c)
{
	stoppers(c, false);
	droppers(c);
	no_credits(c);
}

void wf_diag_global_pause(struct wf_diag *c)
{
	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		uint64_t rx = 0, tx = 0;
		char where[WF_DIAG_WHERE];
		struct wf_found *f;

		(void)wf_evidence_sum(c->ev, p, WF_EV_global_pause_rx, &rx);
		(void)wf_evidence_sum(c->ev, p, WF_EV_global_pause_tx, &tx);
		if (rx + tx == 0)
			continue;
		wf_diag_where(c, p, where);
		f = wf_diag_find(c, WF_SEVERITY_WARNING, p, WF_EV_NO_QUEUE,
		                 "%s has pauses for the whole link, which stop all classes", where);
		wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_global_pause_rx);
		wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_global_pause_tx);
	}
}

void wf_diag_watchdog(struct wf_diag *c)
{
	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		for (int q = WF_EV_NO_QUEUE; q < WF_DIAG_WHOLE; q++) {
			uint64_t acted = 0, holds = 0, tx = 0, rx = 0;
			char where[WF_DIAG_WHERE], n[WF_HUMAN], lost[WF_HUMAN];
			struct wf_found *f;
			char queue[24] = "a queue";

			(void)wf_evidence_get(c->ev, p, q, WF_EV_watchdog_acted, &acted);
			(void)wf_evidence_get(c->ev, p, q, WF_EV_wd_stormed, &holds);
			if (acted + holds == 0)
				continue;
			(void)wf_evidence_get(c->ev, p, q, WF_EV_tx_watchdog, &tx);
			(void)wf_evidence_get(c->ev, p, q, WF_EV_rx_watchdog, &rx);
			if (q >= 0)
				snprintf(queue, sizeof(queue), "queue %d", q);
			wf_diag_where(c, p, where);
			wf_human_count(acted, n, sizeof(n));
			wf_human_count(tx + rx, lost, sizeof(lost));
			f = wf_diag_find(c, WF_SEVERITY_ERROR, p, q,
			                 "the PFC watchdog of %s acted %s time%s on %s and "
			                 "dropped %s packets%s",
			                 where, n, acted == 1 ? "" : "s", queue, lost,
			                 holds != 0 ? "; it holds the queue now" : "");
			wf_diag_stand(c, f, p, q, WF_EV_watchdog_acted);
			wf_diag_stand(c, f, p, q, WF_EV_watchdog_restored);
			wf_diag_stand(c, f, p, q, WF_EV_wd_stormed);
			wf_diag_stand(c, f, p, q, WF_EV_tx_watchdog);
			wf_diag_stand(c, f, p, q, WF_EV_rx_watchdog);
			wf_diag_stand(c, f, p, q, WF_EV_pause_rx);
		}
	}
}

/* ---- where pauses come from ---- */

static void count_device(const struct wf_diag *c, uint32_t device, unsigned q, uint64_t *tx,
                         uint64_t *rx)
{
	*tx = *rx = 0;
	for (uint32_t p = c->ev->devices[device].first_port; p != WF_EV_NONE;
	     p = c->ev->ports[p].next) {
		*tx += c->ports[p].q[q].pause_tx;
		*rx += c->ports[p].q[q].pause_rx;
	}
}

/* The port that holds the longest queue: what is congested. */
static uint32_t longest_of(const struct wf_diag *c, uint32_t device, unsigned q)
{
	uint32_t best = WF_EV_NONE;

	for (uint32_t p = c->ev->devices[device].first_port; p != WF_EV_NONE;
	     p = c->ev->ports[p].next) {
		if (best == WF_EV_NONE || c->ports[p].q[q].longest > c->ports[best].q[q].longest ||
		    (c->ports[p].q[q].longest == c->ports[best].q[q].longest &&
		     c->ports[p].q[q].bytes > c->ports[best].q[q].bytes))
			best = p;
	}
	return best;
}

static void say_origin(struct wf_diag *c, unsigned q, uint32_t origin, uint64_t tx)
{
	uint32_t hot = longest_of(c, origin, q);
	unsigned hosts = 0, relays = 0;
	char class[WF_DIAG_CLASS];
	char n[WF_HUMAN], where[WF_DIAG_WHERE];
	struct wf_found *f;

	for (uint32_t d = 0; d < c->ev->n_devices; d++) {
		uint64_t sent, got;

		count_device(c, d, q, &sent, &got);
		hosts += got > 0 && wf_diag_is_host(c, d);
		relays += got > 0 && sent > 0 && !wf_diag_is_host(c, d);
	}
	wf_human_count(tx, n, sizeof(n));
	wf_diag_where(c, hot, where);
	f = wf_diag_find(c, WF_SEVERITY_INFO, hot, (int)q,
	                 "pauses of %s come from %s, which sent %s and received none: the "
	                 "congested port is %s; %u other switch%s passed them on, %u host%s "
	                 "stopped",
	                 wf_diag_class(q, class), wf_diag_name(c, origin), n, where, relays,
	                 relays == 1 ? "" : "es", hosts, hosts == 1 ? " was" : "s were");
	for (uint32_t p = c->ev->devices[origin].first_port; p != WF_EV_NONE;
	     p = c->ev->ports[p].next) {
		if (c->ports[p].q[q].pause_tx > 0 && f != NULL && f->n_evidence < 2)
			wf_diag_stand(c, f, p, (int)q, WF_EV_pause_tx);
	}
	wf_diag_stand(c, f, hot, (int)q, WF_EV_max_queue_bytes);
	wf_diag_stand(c, f, hot, (int)q, WF_EV_queue_watermark);
	if (c->ports[hot].peer_device != WF_EV_NONE)
		c->d->hot[c->ports[hot].peer_device] = true;
}

/* Everybody who pauses is paused: who began is not among those who say what they counted. */
static void say_relayed(struct wf_diag *c, unsigned q)
{
	uint32_t worst = WF_EV_NONE;
	char class[WF_DIAG_CLASS];
	char where[WF_DIAG_WHERE], n[WF_HUMAN];
	struct wf_found *f;

	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		if (c->ports[p].q[q].pause_rx > 0 && !wf_diag_is_host(c, c->ev->ports[p].device) &&
		    (worst == WF_EV_NONE ||
		     c->ports[p].q[q].pause_rx > c->ports[worst].q[q].pause_rx))
			worst = p;
	}
	if (worst == WF_EV_NONE)
		return;
	wf_diag_where(c, worst, where);
	wf_human_count(c->ports[worst].q[q].pause_rx, n, sizeof(n));
	f = wf_diag_find(c, WF_SEVERITY_INFO, worst, (int)q,
	                 "pauses of %s: %s was told to stop most often, %s times; who began is "
	                 "further on, behind that port",
	                 wf_diag_class(q, class), where, n);
	wf_diag_stand(c, f, worst, (int)q, WF_EV_pause_rx);
	wf_diag_stand(c, f, worst, (int)q, WF_EV_pause_tx);
}

void wf_diag_congestion(struct wf_diag *c)
{
	for (unsigned q = 0; q < WF_DIAG_QUEUES; q++) {
		uint32_t origin = WF_EV_NONE;
		uint64_t most = 0;

		for (uint32_t d = 0; c->paused[q] && d < c->ev->n_devices; d++) {
			uint64_t tx, rx;

			count_device(c, d, q, &tx, &rx);
			if (wf_diag_is_host(c, d) || tx <= most || rx > 0)
				continue;
			most = tx;
			origin = d;
		}
		if (origin != WF_EV_NONE)
			say_origin(c, q, origin, most);
		else if (c->paused[q] && c->d->n == 0)
			say_relayed(c, q);
	}
}

/* ---- InfiniBand ---- */

void wf_diag_credits(struct wf_diag *c)
{
	uint32_t worst = WF_EV_NONE;
	uint64_t most = 0;
	unsigned n = 0;
	char where[WF_DIAG_WHERE], t[WF_HUMAN];
	struct wf_found *f;

	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		uint64_t wait = c->ports[p].all.stopped, ticks;

		if (c->ethernet)
			return;
		if (wait == 0 && wf_evidence_sum(c->ev, p, WF_EV_xmit_wait_ticks, &ticks))
			wait = ticks;
		n += wait > 0;
		if (wait <= most)
			continue;
		most = wait;
		worst = p;
	}
	if (worst == WF_EV_NONE || (c->span > 0 && wf_diag_share(c, most) < 100))
		return;
	wf_diag_where(c, worst, where);
	wf_human_time(c->ports[worst].all.stopped, t, sizeof(t));
	f = wf_diag_find(c, WF_SEVERITY_INFO, worst, WF_EV_NO_QUEUE,
	                 "%u port%s had data and no credits, %s most%s%s%s", n, n == 1 ? "" : "s",
	                 where, c->ports[worst].all.stopped > 0 ? " (" : "",
	                 c->ports[worst].all.stopped > 0 ? t : "",
	                 c->ports[worst].all.stopped > 0 ? ")" : "");
	wf_diag_stand(c, f, worst, WF_EV_NO_QUEUE, WF_EV_credit_wait_ps);
	wf_diag_stand(c, f, worst, WF_EV_NO_QUEUE, WF_EV_xmit_wait_ticks);
	wf_diag_stand(c, f, worst, WF_EV_NO_QUEUE, WF_EV_tx_bytes);
}

void wf_diag_life(struct wf_diag *c)
{
	for (uint32_t p = 0; p < c->ev->n_ports; p++) {
		uint64_t life = 0, stuck = 0;
		char where[WF_DIAG_WHERE], n[WF_HUMAN];
		struct wf_found *f;

		(void)wf_evidence_sum(c->ev, p, WF_EV_drops_life, &stuck);
		(void)wf_evidence_sum(c->ev, p, WF_EV_life_discards, &life);
		if (life + stuck == 0)
			continue;
		wf_diag_where(c, p, where);
		wf_human_count(life + stuck, n, sizeof(n));
		f = wf_diag_find(c, WF_SEVERITY_ERROR, p, WF_EV_NO_QUEUE,
		                 "%s dropped %s packets that waited for longer than they live",
		                 where, n);
		wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_drops_life);
		wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_life_discards);
		wf_diag_stand(c, f, p, WF_EV_NO_QUEUE, WF_EV_credit_wait_ps);
	}
}
