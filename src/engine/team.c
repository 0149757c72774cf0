/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.c - rounds of tasks over threads that spin briefly, then sleep.
 *
 * A round is over when its tasks are done, not when every thread has seen it: a worker that the
 * system does not let run holds nobody up. So a worker may come late, even into the next round.
 * That is harmless because all it needs is in one word, its share: taking a task adds one to the
 * word and yields a task of whichever round the word belongs to, or none.
 *
 * A sleeper registers (sleepers, leader_sleeps) under the lock before it looks a last time, and
 * whoever changes what it waits for reads the registration afterwards, so no wake-up is lost.
 */
#include "engine/team.h"

#include <assert.h>
#include <errno.h>

#include "base/relax.h"

#define SPINS 4000

static void task_done(struct wf_team *team)
{
	if (atomic_fetch_sub(&team->left, 1) == 1 && atomic_load(&team->leader_sleeps)) {
		pthread_mutex_lock(&team->lock);
		pthread_cond_signal(&team->done);
		pthread_mutex_unlock(&team->lock);
	}
}

/* Takes tasks from one member's share until it is empty. */
static void do_share(struct wf_team *team, struct wf_team_member *m)
{
	for (;;) {
		uint64_t share = atomic_load_explicit(&m->share, memory_order_relaxed);

		if ((uint32_t)share >= share >> 32)
			return;
		share = atomic_fetch_add_explicit(&m->share, 1, memory_order_acq_rel);
		if ((uint32_t)share >= share >> 32)
			return;
		team->fn(team->arg, (unsigned)(uint32_t)share);
		task_done(team);
	}
}

static void do_round(struct wf_team *team, unsigned self)
{
	for (unsigned i = 0; i < team->n; i++)
		do_share(team, &team->member[(self + i) % team->n]);
}

static void wait_for_round(struct wf_team *team, unsigned seen)
{
	for (int i = 0; i < SPINS; i++) {
		if (atomic_load_explicit(&team->round, memory_order_acquire) != seen)
			return;
		wf_relax();
	}
	pthread_mutex_lock(&team->lock);
	atomic_fetch_add(&team->sleepers, 1);
	while (atomic_load(&team->round) == seen)
		pthread_cond_wait(&team->start, &team->lock);
	atomic_fetch_sub(&team->sleepers, 1);
	pthread_mutex_unlock(&team->lock);
}

static void *worker(void *arg)
{
	struct wf_team_member *m = arg;
	struct wf_team *team = m->team;
	unsigned seen = 0;

	for (;;) {
		wait_for_round(team, seen);
		seen = atomic_load(&team->round);
		if (atomic_load(&team->stop))
			return NULL;
		do_round(team, m->number);
	}
}

static void begin_round(struct wf_team *team)
{
	atomic_fetch_add(&team->round, 1);
	if (atomic_load(&team->sleepers) > 0) {
		pthread_mutex_lock(&team->lock);
		pthread_cond_broadcast(&team->start);
		pthread_mutex_unlock(&team->lock);
	}
}

static void wait_for_tasks(struct wf_team *team)
{
	for (int i = 0; i < SPINS; i++) {
		if (atomic_load_explicit(&team->left, memory_order_acquire) == 0)
			return;
		wf_relax();
	}
	pthread_mutex_lock(&team->lock);
	atomic_store(&team->leader_sleeps, true);
	while (atomic_load(&team->left) != 0)
		pthread_cond_wait(&team->done, &team->lock);
	atomic_store(&team->leader_sleeps, false);
	pthread_mutex_unlock(&team->lock);
}

void wf_team_round(struct wf_team *team, unsigned n_tasks)
{
	assert(atomic_load(&team->left) == 0);
	if (n_tasks == 0)
		return;
	atomic_store(&team->left, n_tasks);
	for (unsigned i = 0; i < team->n; i++) {
		uint64_t next = (uint64_t)n_tasks * i / team->n;
		uint64_t end = (uint64_t)n_tasks * (i + 1) / team->n;

		atomic_store(&team->member[i].share, end << 32 | next);
	}
	begin_round(team);
	do_round(team, 0);
	wait_for_tasks(team);
}

static void end_threads(struct wf_team *team, unsigned n)
{
	atomic_store(&team->stop, true);
	begin_round(team);
	for (unsigned i = 1; i < n; i++)
		pthread_join(team->member[i].thread, NULL);
	pthread_cond_destroy(&team->done);
	pthread_cond_destroy(&team->start);
	pthread_mutex_destroy(&team->lock);
}

int wf_team_start(struct wf_team *team, unsigned n, wf_team_fn *fn, void *arg)
{
	assert(n >= 1 && n <= WF_TEAM_MAX);
	team->n = n;
	team->fn = fn;
	team->arg = arg;
	atomic_store(&team->stop, false);
	atomic_store(&team->round, 0);
	atomic_store(&team->left, 0);
	atomic_store(&team->sleepers, 0);
	atomic_store(&team->leader_sleeps, false);
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->start, NULL);
	pthread_cond_init(&team->done, NULL);
	for (unsigned i = 0; i < n; i++) {
		struct wf_team_member *m = &team->member[i];

		m->team = team;
		m->number = i;
		atomic_store(&m->share, 0);
	}
	for (unsigned i = 1; i < n; i++) {
		if (pthread_create(&team->member[i].thread, NULL, worker, &team->member[i]) != 0) {
			end_threads(team, i);
			return -EAGAIN;
		}
	}
	return 0;
}

void wf_team_stop(struct wf_team *team)
{
	end_threads(team, team->n);
}
