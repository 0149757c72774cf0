/* SPDX-License-Identifier: Apache-2.0 */
/* nic_drive.c - the state machine of nic_drive.h: the thread's steps, and the program's calls. */
#define _GNU_SOURCE
#include "live/nic_drive.h"

#include <assert.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/relax.h"
#include "live/nic_priv.h"
#include "live/cpus.h"

/*
 * The parameters. A thread that sleeps is woken within a MOMENT, so whatever is worth less than
 * that is not worth sleeping for, and whatever is worth much more is not worth spinning for.
 */
#define MOMENT (50 * WF_US)
#define OFTEN 16            /* times in a row mean that it goes on so */
#define MANY_CPUS 4         /* two programs that poll and two threads that spin have one each */
#define MEMORY (20 * WF_MS) /* what was found out about the program or the machine counts so long */

#define ANSWER (MOMENT / 10)  /* a peer that runs, on a CPU of its own, answers sooner */
#define LOST (20 * MOMENT)    /* less than that a program that shares a CPU does not take */
#define CROWDED (10 * MEMORY) /* to find out again takes a whole turn of the CPU, some ms */
#define WATCH (10 * MOMENT)   /* how often the thread looks whether the program still polls */
#define SPIN (2 * MOMENT)     /* how long it waits for the next packet without sleeping */
#define SPIN_GAP (3 * SPIN)   /* when that comes sooner than this, on the average */
#define GAP_MAX (100 * SPIN)  /* a pause counts for no more in that average */
#define JUDGE (40 * MOMENT)   /* how often the thread looks whether the program computes */
#define NUDGE_EVERY (2 * OFTEN)
#define LINK_WAIT (50 * MEMORY) /* how long a program's call waits for a link: the daemon is busy */

static wf_time cpu_time(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (wf_time)ts.tv_sec * WF_S + (wf_time)ts.tv_nsec * WF_NS;
}

/* ---- the state ---- */

static bool may_enter(enum wf_drive_state from, enum wf_drive_state to)
{
	static const bool allowed[WF_DRIVE_STATES][WF_DRIVE_STATES] = {
		[WF_DRIVE_NOBODY] = { [WF_DRIVE_THREAD] = true },
		[WF_DRIVE_THREAD] = { [WF_DRIVE_NOBODY] = true,
		                      [WF_DRIVE_WAITS] = true,
		                      [WF_DRIVE_PROGRAM] = true },
		[WF_DRIVE_WAITS] = { [WF_DRIVE_THREAD] = true, [WF_DRIVE_PROGRAM] = true },
		[WF_DRIVE_PROGRAM] = { [WF_DRIVE_THREAD] = true },
	};

	return allowed[from][to];
}

static void tell_peer(struct wf_nic_peer *p, bool asleep)
{
	p->told = asleep;
	wf_pipe_set_asleep(&p->pipe, asleep);
}

/* The only place where the state changes. Peers wake the thread in WAITS, and only there. */
static void enter(struct wf_nic *nic, enum wf_drive_state to)
{
	enum wf_drive_state from = nic->drive.state;

	assert(nic->locked && may_enter(from, to));
	(void)may_enter;
	nic->drive.state = to;
	if ((from == WF_DRIVE_WAITS) == (to == WF_DRIVE_WAITS))
		return;
	for (uint32_t i = 0; i < nic->n_peers; i++) {
		if (wf_nic_is_linked(nic->peers[i]))
			tell_peer(nic->peers[i], to == WF_DRIVE_WAITS);
	}
}

void wf_nic_assert(const struct wf_nic *nic)
{
#ifndef NDEBUG
	uint32_t asked = 0;

	assert(nic->locked);
	assert(nic->drive.state < WF_DRIVE_STATES);
	assert(nic->n_peers <= nic->max_peers);
	for (uint32_t i = 0; i < nic->n_peers; i++) {
		const struct wf_nic_peer *p = nic->peers[i];

		/* Packets are staged where, and only where, there was no room for one. */
		assert(p->full == (p->staged != NULL));
		/* Whoever leaves packets staged has asked for room. */
		assert(!p->full || p->waits || p->link == WF_NIC_ASKED);
		/* Only queue pairs whose packets are staged are held. */
		assert(p->full || p->n_held == 0);
		assert(wf_nic_is_linked(p) || p->link == WF_NIC_ASKED || !p->full);
		asked += p->link == WF_NIC_ASKED;
		/* Nobody who might send something is left believing the wrong thing. */
		assert(!wf_nic_is_linked(p) || p == nic->self ||
		       p->told == (nic->drive.state == WF_DRIVE_WAITS));
		assert(p->link != WF_NIC_GONE || nic->reap);
		/* Room is given back after the answers, and not forgotten. */
		assert(!wf_nic_is_linked(p) || nic->taken || p->pipe.rx.tail == p->pipe.rx.pos);
	}
	assert(asked == nic->n_asked && (asked == 0 || !nic->orphan));
#else
	(void)nic;
#endif
}

/* When there is something to do, as far as is known here; 0: now. */
static wf_time due(const struct wf_nic *nic)
{
	wf_time at = wf_min_time(wf_nic_deadline(nic), wf_hca_tx_time(nic->hca));

	if (wf_nic_gsi_pending(nic))
		return 0;
	return wf_min_time(at, wf_nic_blocked(nic));
}

bool wf_drive_arm(struct wf_nic *nic)
{
	struct wf_drive *d = &nic->drive;
	bool room;

	/*
	 * First everybody is told, then everything is looked at: what comes in between is seen, or
	 * wakes the thread. The daemon's events and the eventfd itself are in rest()'s poll.
	 */
	enter(nic, WF_DRIVE_WAITS);
	room = wf_nic_ask_for_room(nic);
	wf_pipe_fence();
	d->until = due(nic);
	if (!room && !wf_nic_pending(nic) && d->until > wf_nic_now(nic) && !nic->stop) {
		wf_nic_assert(nic);
		return true;
	}
	enter(nic, WF_DRIVE_THREAD);
	return false;
}

void wf_drive_call_thread(struct wf_nic *nic)
{
	uint64_t one = 1;
	ssize_t n = write(nic->wake, &one, sizeof(one));

	(void)n; /* full: it wakes anyway */
}

void wf_drive_wake_self(struct wf_nic *nic)
{
	if (nic->drive.state == WF_DRIVE_WAITS)
		wf_drive_call_thread(nic);
}

void wf_drive_new_peer(struct wf_nic *nic, struct wf_nic_peer *p)
{
	bool waits = nic->drive.state == WF_DRIVE_WAITS;

	tell_peer(p, waits);
	/* It may have sent something before it could know. */
	if (waits)
		wf_drive_call_thread(nic);
}

/* ---- is there a CPU? ---- */

/*
 * A thread of which this is asked again and again, while it waits without sleeping, gets all the
 * time that passes, unless others want its CPU, too, and it is taken away. Then it had better
 * sleep: who it waits for may be one of them.
 */
static bool is_crowded(struct wf_crowd *c, wf_time now)
{
	bool same = pthread_equal(c->who, pthread_self());
	wf_time cpu, passed = now - c->at;
	struct rusage use;

	if (now < c->until)
		return true;
	if ((same && passed < MOMENT) || getrusage(RUSAGE_THREAD, &use) != 0)
		return false;
	cpu = (wf_time)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * WF_S +
	      (wf_time)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * WF_US;
	/* Of a time in which it slept nothing follows: it had nothing, as it wanted nothing. */
	if (same && passed < MEMORY && use.ru_nvcsw == c->slept && use.ru_nivcsw != c->preempted &&
	    passed - (cpu - c->cpu) > wf_max_time(passed / 4, LOST))
		c->until = now + CROWDED;
	c->who = pthread_self();
	c->at = now;
	c->cpu = cpu;
	c->preempted = use.ru_nivcsw;
	c->slept = use.ru_nvcsw;
	return now < c->until;
}

/* On few CPUs, spinning is no good while the program itself computes: it would wait for us. */
static void judge(struct wf_drive *d, wf_time now)
{
	wf_time cpu, own, passed = now - d->judged;

	if (d->many_cpus || passed < JUDGE)
		return;
	cpu = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
	own = cpu_time(CLOCK_THREAD_CPUTIME_ID);
	d->computes = (cpu - d->cpu) - (own - d->own) >= passed / 2;
	d->judged = now;
	d->cpu = cpu;
	d->own = own;
}

/* Whether the thread looks again at once instead of sleeping. */
static bool go_on(struct wf_drive *d, unsigned done, wf_time now)
{
	struct wf_crowd *c = &d->thread;

	if (done != 0) {
		if (c->since != 0)
			d->gap += (wf_min_time(now - c->since, GAP_MAX) - d->gap) / 8;
		c->since = 0;
		return true;
	}
	if (c->since == 0) {
		c->since = now;
		judge(d, now);
	}
	return !d->computes && d->gap < SPIN_GAP && now - c->since < SPIN && !is_crowded(c, now);
}

/* ---- the thread ---- */

/* The thread's way to the lock: a program that holds it shall not have to wake anybody. */
static void lock_politely(struct wf_nic *nic)
{
	for (int i = 0; i < 256; i++) {
		if (pthread_mutex_trylock(&nic->lock) == 0) {
			nic->locked = true;
			return;
		}
		for (int j = 0; j < 32; j++)
			wf_relax();
	}
	wf_nic_lock(nic);
}

/*
 * Sleeps for left at most (WF_TIME_NEVER: for ever), or until a peer, the daemon or the program
 * wakes it. Returns whether one did. Without the lock.
 */
static bool doze(const struct wf_nic *nic, int events, wf_time left)
{
	struct pollfd fds[2] = {
		{ .fd = nic->wake, .events = POLLIN },
		{ .fd = events, .events = POLLIN },
	};
	struct timespec ts = { .tv_sec = left / WF_S, .tv_nsec = left % WF_S / WF_NS };

	return ppoll(fds, 2, left == WF_TIME_NEVER ? NULL : &ts, NULL) != 0;
}

/* Takes in what woke the thread. */
static void hear(struct wf_nic *nic)
{
	uint64_t count;
	ssize_t n = read(nic->wake, &count, sizeof(count));

	(void)n; /* it was something else */
	wf_nic_events(nic);
}

/* WAITS: sleeps. */
static void sleep_armed(struct wf_nic *nic)
{
	wf_time until = nic->drive.until;
	int events = nic->orphan ? -1 : nic->events;
	wf_time left = WF_TIME_NEVER;
	bool woken;

	if (until != WF_TIME_NEVER)
		left = wf_max_time(until - wf_nic_now(nic), 0);
	wf_nic_unlock(nic);
	woken = doze(nic, events, left);
	lock_politely(nic);
	if (woken)
		hear(nic);
	if (nic->drive.state == WF_DRIVE_WAITS)
		enter(nic, WF_DRIVE_THREAD);
}

/* PROGRAM: looks now and then, without the lock, whether the program still polls. */
static void watch(struct wf_nic *nic)
{
	struct wf_drive *d = &nic->drive;
	int events = nic->orphan ? -1 : nic->events;
	uint32_t seen = 0;
	bool woken = false;

	wf_nic_unlock(nic);
	while (!woken && seen != atomic_load_explicit(&d->polls, memory_order_relaxed)) {
		seen = atomic_load_explicit(&d->polls, memory_order_relaxed);
		woken = doze(nic, events, WATCH);
	}
	lock_politely(nic);
	if (woken)
		hear(nic);
	else
		atomic_store_explicit(&d->polls, 0, memory_order_relaxed); /* it has stopped */
	/* What waits here waits for us: between its polls the program does something else. */
	if (wf_nic_pending(nic)) {
		d->linger = OFTEN;
		(void)wf_nic_progress(nic);
	}
	if (d->state == WF_DRIVE_PROGRAM)
		enter(nic, WF_DRIVE_THREAD);
}

/* THREAD: one round. */
static void serve(struct wf_nic *nic)
{
	struct wf_drive *d = &nic->drive;
	unsigned done;

	if (atomic_load_explicit(&d->polls, memory_order_relaxed) >= OFTEN &&
	    wf_nic_clock() >= d->distrust) {
		enter(nic, WF_DRIVE_PROGRAM);
		return;
	}
	done = wf_nic_progress(nic);
	if (wf_unlikely(atomic_load_explicit(&nic->ending, memory_order_relaxed)))
		wf_nic_publish(nic);
	if (!go_on(d, done, nic->clock)) {
		wf_nic_publish(nic);
		(void)!wf_drive_arm(nic);
		return;
	}
	wf_nic_unlock(nic);
	for (int i = 0; i < 8 && done == 0; i++)
		wf_relax();
	lock_politely(nic);
}

void *wf_drive_main(void *arg)
{
	struct wf_nic *nic = arg;

	wf_ask_for_short_turns();
	wf_nic_lock(nic);
	nic->drive.many_cpus = wf_cpus() >= MANY_CPUS;
	enter(nic, WF_DRIVE_THREAD);
	while (!nic->stop) {
		wf_nic_assert(nic);
		switch (nic->drive.state) {
		case WF_DRIVE_THREAD:
			serve(nic);
			break;
		case WF_DRIVE_WAITS:
			sleep_armed(nic);
			break;
		case WF_DRIVE_PROGRAM:
			watch(nic);
			break;
		case WF_DRIVE_NOBODY:
		case WF_DRIVE_STATES:
			assert(false);
		}
	}
	if (nic->drive.state != WF_DRIVE_THREAD)
		enter(nic, WF_DRIVE_THREAD);
	enter(nic, WF_DRIVE_NOBODY);
	wf_nic_unlock(nic);
	return NULL;
}

/* ---- the program ---- */

static uint32_t count_poll(struct wf_drive *d)
{
	uint32_t n = atomic_load_explicit(&d->polls, memory_order_relaxed) + 1;

	atomic_store_explicit(&d->polls, n, memory_order_relaxed);
	return n;
}

/* At the end of a call: the program may not come again. A thread that sleeps longer is woken. */
static void leave(struct wf_nic *nic)
{
	struct wf_drive *d = &nic->drive;
	wf_time at;

	if (wf_likely(d->state != WF_DRIVE_WAITS))
		return;
	wf_nic_publish(nic); /* what the call has sent: the thread may sleep for long */
	at = due(nic);
	if (at < d->until) {
		d->until = at;
		wf_drive_call_thread(nic);
	}
}

/*
 * What a program posts has left when the call returns, as far as it depends on us: it may end right
 * after. So the first packet for another program waits for the link to it, but without the lock,
 * and not for long if the daemon does not answer.
 */
static void wait_for_links(struct wf_nic *nic)
{
	const struct timespec moment = { .tv_nsec = MOMENT / WF_NS };

	while (nic->n_asked != 0 && wf_nic_now(nic) - nic->asked < LINK_WAIT) {
		struct pollfd fd = { .fd = nic->events, .events = POLLIN };

		wf_nic_unlock(nic);
		(void)ppoll(&fd, 1, &moment, NULL); /* the thread may hear it first */
		wf_nic_lock(nic);
		(void)wf_nic_progress(nic);
	}
}

void wf_nic_kick(struct wf_nic *nic)
{
	(void)count_poll(&nic->drive);
	(void)wf_nic_progress(nic);
	if (wf_unlikely(nic->n_asked != 0))
		wait_for_links(nic);
	leave(nic);
}

/* Whether packets pass through a daemon, which needs a CPU. */
static bool needs_daemon(const struct wf_nic *nic)
{
	bool found = nic->model != NULL;

	for (uint32_t i = 0; i < nic->n_peers && !found; i++)
		found = wf_nic_is_wire(nic->peers[i]) && wf_nic_is_linked(nic->peers[i]);
	return found;
}

/*
 * The program polls and nothing happens. For a moment that is the fastest way to wait. Then who it
 * waits for may be waiting for this CPU: a daemon where there are few, anybody where it is crowded.
 */
static void poll_in_vain(struct wf_nic *nic)
{
	const struct timespec moment = { .tv_nsec = MOMENT / WF_NS };
	struct wf_drive *d = &nic->drive;

	if (d->program.since == 0)
		d->program.since = nic->clock;
	if (nic->clock - d->program.since < ANSWER)
		return;
	if (!is_crowded(&d->program, nic->clock) &&
	    (nic->clock - d->program.since < MOMENT || d->many_cpus || !needs_daemon(nic)))
		return;
	wf_nic_unlock(nic);
	(void)nanosleep(&moment, NULL);
	wf_nic_lock(nic);
	if (wf_nic_progress(nic) != 0)
		d->program.since = 0;
}

void wf_nic_poll(struct wf_nic *nic)
{
	struct wf_drive *d = &nic->drive;
	uint32_t n = count_poll(d);

	if (wf_nic_progress(nic) != 0)
		d->program.since = 0;
	else
		poll_in_vain(nic);
	if (wf_unlikely(n % NUDGE_EVERY == 0))
		wf_nic_nudge(nic);
	if (wf_likely(d->state != WF_DRIVE_WAITS))
		return;
	if (n >= OFTEN && nic->clock >= d->distrust) {
		/* From now on peers need not wake anybody; but somebody has to watch. */
		enter(nic, WF_DRIVE_PROGRAM);
		wf_drive_call_thread(nic);
	} else {
		leave(nic);
	}
}

void wf_nic_linger(struct wf_nic *nic)
{
	struct wf_drive *d = &nic->drive;
	uint64_t writes;
	wf_time end;

	if (wf_likely(d->linger == 0))
		return;
	writes = wf_hca_counter(nic->hca, WF_CTR_RX_WRITES);
	end = wf_nic_clock() + MOMENT;
	do {
		(void)wf_nic_progress(nic);
		if (wf_hca_counter(nic->hca, WF_CTR_RX_WRITES) != writes) {
			d->linger = OFTEN;
			return;
		}
	} while (nic->clock < end);
	if (--d->linger > 0)
		return;
	/* It is something else that it does: the thread has to serve it. */
	d->distrust = nic->clock + MEMORY;
	if (d->state == WF_DRIVE_PROGRAM)
		enter(nic, WF_DRIVE_THREAD);
	wf_drive_call_thread(nic);
}

void wf_nic_wait(struct wf_nic *nic)
{
	struct wf_drive *d = &nic->drive;

	atomic_store_explicit(&d->polls, 0, memory_order_relaxed);
	/* What it is going to wait for may have come already. */
	wf_nic_tell(nic);
	if (d->state == WF_DRIVE_PROGRAM) {
		enter(nic, WF_DRIVE_THREAD);
		wf_drive_call_thread(nic);
	}
}
