/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_clock.c - when the modelled fabric runs.
 *
 * A turn of the daemon runs the model up to the time that it is. With nothing due the model stands
 * and its time follows the clock without it. When a turn comes much later than what was due in it,
 * because the machine was busy or the model is more than it can carry, the clock of the model is
 * set back by what was missed: a program then sees a slower network for a while, and never a faster
 * one.
 *
 * With pace none time goes on as fast as it can be calculated while packets are under way. Where
 * devices are managed that is so while management is at work, too, and otherwise time follows the
 * clock from where it is: managers look at their subnet now and then, whether there are packets or
 * not.
 */
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "live/model_priv.h"
#include "live/umad.h"

#define LATE (1 * WF_MS) /* what a turn may be late without setting the clock back */
#define TURN (1 * WF_MS) /* of the clock: then others are served */
#define TURN_NONE (200 * WF_US)
#define LOOK_EVERY 64    /* windows of the engine until the clock is looked at again */
#define SOON (5 * WF_US) /* not worth going to sleep for */
#define BACKLOG_MS 10    /* looking after those that take in nothing */
#define FOREVER (WF_TIME_NEVER / 2)
#define MAD_SOON (1 * WF_MS) /* virtual: what is due within it belongs to what goes on */

wf_time wf_model_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (wf_time)ts.tv_sec * WF_S + (wf_time)ts.tv_nsec * WF_NS;
}

/* Whether nothing is due before so much virtual time has passed. */
static bool is_still(const struct wf_dmodel *m, wf_time time)
{
	return wf_gated_next(m->sim) > wf_sim_now(m->sim) + time;
}

bool wf_model_is_quiet(const struct wf_dmodel *m)
{
	if (m->managed == NULL)
		return wf_gated_next(m->sim) == WF_TIME_NEVER;
	return is_still(m, MAD_SOON) && !wf_managed_is_busy(m->managed);
}

/*
 * Pace none: whether time goes on as fast as it can. What moves nothing in a managed fabric, whose
 * managers always have something to do later, waits by the clock.
 */
static bool is_at_work(const struct wf_dmodel *m)
{
	if (m->managed == NULL)
		return m->under_way != 0 || m->waiting;
	return !wf_model_is_quiet(m) ||
	       (m->under_way != 0 && !is_still(m, wf_gated_delay_max(m->sim)));
}

bool wf_model_go_on(void *arg, wf_time now)
{
	struct wf_dmodel *m = arg;

	(void)now;
	if (m->backlogs == 0 && (m->pace == WF_LIVE_WALL || is_at_work(m)) &&
	    (++m->windows % LOOK_EVERY != 0 || wf_model_clock() < m->turn_end))
		return true;
	m->stopped = true;
	return false;
}

/* Lets the gates know of programs that have something to send. */
static void wake_gates(struct wf_dmodel *m)
{
	struct wf_packet pkt;
	const void *payload;

	m->waiting = false;
	for (uint32_t h = 0; h < m->topo->n_hosts; h++) {
		for (struct wf_dclient *c = m->clients[h]; c != NULL; c = c->host_next) {
			struct wf_ring *rx = &c->model.rx;

			if (!wf_ring_peek(rx, &pkt, &payload))
				continue;
			m->waiting = true;
			if (c->model_woken == rx->pos)
				continue;
			c->model_woken = rx->pos;
			wf_gated_wake(m->sim, h, wf_model_sent_at(m, pkt.src));
		}
	}
}

/* Sets the target of this turn by the clock, and the clock back where that is not to be reached. */
static void set_target(struct wf_dmodel *m)
{
	wf_time due = wf_gated_next(m->sim);

	if (due == WF_TIME_NEVER)
		return;
	due = wf_max_time(due, wf_sim_now(m->sim)) + LATE;
	if (m->target <= due)
		return;
	m->slip += m->target - due;
	m->zero += m->target - due;
	m->target = due;
}

/* Up to the time that it is by the clock. */
static void run_by_clock(struct wf_dmodel *m)
{
	/* Without memory it stands still, and its programs see their packets lost. */
	if (wf_gated_next(m->sim) <= m->target && wf_gated_run(m->sim, m->target + 1) != 0)
		m->d->stop = true;
	if (!m->stopped)
		wf_sim_rest(m->sim, m->target);
}

/* As long as there is something to do. In a managed fabric that may begin by the clock. */
static void run_freely(struct wf_dmodel *m)
{
	if (m->managed != NULL && !is_at_work(m))
		run_by_clock(m);
	if (!is_at_work(m))
		return;
	if (wf_gated_run(m->sim, FOREVER) != 0)
		m->d->stop = true;
	/* From here on it follows the clock, until there is something to do again. */
	if (m->managed != NULL)
		m->zero = wf_model_clock() - wf_sim_now(m->sim);
}

static void run(struct wf_dmodel *m)
{
	m->stopped = false;
	m->windows = 0;
	if (m->pace == WF_LIVE_WALL)
		run_by_clock(m);
	else
		run_freely(m);
}

/* Tells programs of room in their rings, and of packets that have come. */
static void tell_clients(struct wf_dmodel *m)
{
	for (uint32_t h = 0; h < m->topo->n_hosts; h++) {
		for (struct wf_dclient *c = m->clients[h]; c != NULL; c = c->host_next) {
			bool room = wf_ring_release(&c->model.rx);

			if (c->model.rx.broken || c->model.tx.broken)
				c->doomed = true;
			if (!c->model_touched && !room)
				continue;
			c->model_touched = false;
			wf_pipe_fence();
			(void)wf_pipe_wake(&c->model);
		}
	}
}

static void set_asleep(struct wf_dmodel *m, bool asleep)
{
	for (uint32_t h = 0; h < m->topo->n_hosts; h++) {
		for (struct wf_dclient *c = m->clients[h]; c != NULL; c = c->host_next)
			wf_pipe_set_asleep(&c->model, asleep);
	}
}

/* Whether links, adapters or ports are not as the table of hosts has them. */
static bool has_changed(struct wf_dmodel *m)
{
	uint32_t changes = wf_gated_changes(m->sim), settings = m->settings;

	if (m->managed != NULL)
		settings = wf_managed_changes(m->managed);
	if (changes == m->changes && settings == m->settings)
		return false;
	m->changes = changes;
	m->settings = settings;
	return true;
}

void wf_model_serve(struct wf_daemon *d)
{
	struct wf_dmodel *m = d->model;
	uint64_t count;
	wf_time clock;

	if (m == NULL)
		return;
	set_asleep(m, false);
	if (read(m->wake, &count, sizeof(count)) < 0)
		count = 0; /* nobody wrote */
	if (read(m->timer, &count, sizeof(count)) > 0)
		m->armed = WF_TIME_NEVER;
	clock = wf_model_clock();
	m->clock = (uint32_t)((uint64_t)clock / WF_NS);
	m->target = clock - m->zero;
	m->turn_end = clock + (m->pace == WF_LIVE_WALL ? TURN : TURN_NONE);
	m->moved = false;
	for (uint32_t h = 0; h < m->topo->n_hosts && m->backlogs != 0; h++) {
		for (struct wf_dclient *c = m->clients[h]; c != NULL; c = c->host_next)
			wf_model_flush(m, c, clock);
	}
	wake_gates(m);
	if (m->pace == WF_LIVE_WALL)
		set_target(m);
	if (m->backlogs == 0)
		run(m);
	wf_umad_serve(d);
	if (has_changed(m))
		wf_daemon_links_changed(d);
	wf_model_watch(m);
	tell_clients(m);
}

/* Whether programs have something that the gates do not know of, or (any) something at all. */
static bool has_news(const struct wf_dmodel *m, bool any)
{
	for (uint32_t h = 0; h < m->topo->n_hosts; h++) {
		for (const struct wf_dclient *c = m->clients[h]; c != NULL; c = c->host_next) {
			if (wf_ring_ready(&c->model.rx) && !c->model.rx.broken &&
			    (any || c->model_woken != c->model.rx.pos))
				return true;
		}
	}
	return false;
}

/* Has the timer wake the daemon at virtual time at. Returns false when that is as good as now. */
static bool arm(struct wf_dmodel *m, wf_time at)
{
	wf_time clock = at + m->zero;
	struct itimerspec when = { .it_value = { clock / WF_S, clock % WF_S / WF_NS } };

	if (clock - wf_model_clock() < SOON)
		return false;
	if (m->armed == clock)
		return true;
	m->armed = clock;
	return timerfd_settime(m->timer, TFD_TIMER_ABSTIME, &when, NULL) == 0;
}

int wf_model_rest(struct wf_daemon *d)
{
	struct wf_dmodel *m = d->model;
	wf_time next;

	if (m == NULL)
		return -1;
	set_asleep(m, true);
	wf_pipe_fence();
	if (m->backlogs != 0)
		return BACKLOG_MS;
	next = wf_min_time(wf_gated_next(m->sim), wf_umad_next(d));
	if (m->pace == WF_LIVE_NONE) {
		bool at_work = m->under_way != 0 || has_news(m, true);

		/* What nothing moves, as in a storm, is not to take a CPU. */
		if (at_work)
			return m->moved || has_news(m, false) ? 0 : 1;
		if (m->managed == NULL)
			return -1;
		if (!wf_model_is_quiet(m))
			return 0;
	}
	if (has_news(m, false))
		return 0;
	return next == WF_TIME_NEVER || arm(m, next) ? -1 : 0;
}
