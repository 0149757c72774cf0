/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - draws the line that says how far a simulation is.
 */
#include "cli/progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lab/human.h"

#define PERIOD_NS UINT64_C(200000000)

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The second one kills. */
void wf_progress_catch(void)
{
	const struct sigaction action = {
		.sa_handler = on_interrupt,
		.sa_flags = (int)SA_RESETHAND,
	};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void wf_progress_begin(struct wf_progress *progress, const char *label, wf_time until,
                       uint64_t flows, bool quiet)
{
	wf_progress_catch();
	*progress = (struct wf_progress){
		.label = label,
		.until = until,
		.flows = flows,
		.shown = !quiet && isatty(STDERR_FILENO),
		.start_ns = now_ns(),
	};
	progress->last_ns = progress->start_ns;
}

bool wf_progress_step(void *arg, wf_time now, uint64_t hops, uint64_t flows_done)
{
	struct wf_progress *p = arg;
	uint64_t t = now_ns(), spent = t - p->start_ns;
	uint64_t permille, by_time;
	char simulated[WF_HUMAN];

	if (interrupted)
		return false;
	if (!p->shown || t - p->last_ns < PERIOD_NS)
		return true;
	p->last_ns = t;
	permille = p->flows > 0 ? flows_done * 1000 / p->flows : 0;
	by_time = (uint64_t)((unsigned __int128)now * 1000 / (uint64_t)p->until);
	permille = permille > by_time ? permille : by_time;
	wf_human_time((uint64_t)now, simulated, sizeof(simulated));
	fprintf(stderr, "\r\033[K%s: %s simulated, %.1f million packet-hops/s, %" PRIu64 " %%",
	        p->label, simulated, (double)hops * 1e3 / (double)spent, permille / 10);
	if (permille >= 20 && permille < 1000)
		fprintf(stderr, ", %" PRIu64 " s left",
		        spent / permille * (1000 - permille) / 1000000000);
	p->drawn = true;
	fflush(stderr);
	return true;
}

void wf_progress_end(struct wf_progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	progress->drawn = false;
}

/* ---- several at once ---- */

#define MAX_AT_ONCE 64

struct wf_progress_team {
	pthread_mutex_t lock;
	const char *what;
	bool shown, drawn;
	size_t n, done;
	uint64_t hops; /* of tasks that are over */
	struct {
		size_t task;
		bool used;
		wf_time now;
		uint64_t hops;
	} live[MAX_AT_ONCE];
	uint64_t start_ns, last_ns;
};

static void team_tasks(void *arg, size_t n)
{
	struct wf_progress_team *t = arg;

	t->n = n;
	t->start_ns = t->last_ns = now_ns();
}

/* The slot of a task, or a free one. */
static unsigned slot_of(const struct wf_progress_team *t, size_t task)
{
	unsigned unused = MAX_AT_ONCE - 1;

	for (unsigned i = MAX_AT_ONCE; i-- > 0;) {
		if (t->live[i].used && t->live[i].task == task)
			return i;
		if (!t->live[i].used)
			unused = i;
	}
	return unused;
}

static void team_begin(void *arg, size_t task, const char *label)
{
	struct wf_progress_team *t = arg;
	unsigned i;

	(void)label;
	pthread_mutex_lock(&t->lock);
	i = slot_of(t, task);
	t->live[i].used = true;
	t->live[i].task = task;
	t->live[i].now = 0;
	t->live[i].hops = 0;
	pthread_mutex_unlock(&t->lock);
}

static void team_draw(struct wf_progress_team *t)
{
	uint64_t spent = t->last_ns - t->start_ns, hops = t->hops;
	wf_time now = 0;
	char simulated[WF_HUMAN];

	for (unsigned i = 0; i < MAX_AT_ONCE; i++) {
		hops += t->live[i].used ? t->live[i].hops : 0;
		now = wf_max_time(now, t->live[i].used ? t->live[i].now : 0);
	}
	wf_human_time((uint64_t)now, simulated, sizeof(simulated));
	fprintf(stderr, "\r\033[K%zu of %zu %s done, at %s, %.1f million packet-hops/s", t->done,
	        t->n, t->what, simulated, (double)hops * 1e3 / (double)(spent > 0 ? spent : 1));
	if (t->done > 0 && t->done < t->n)
		fprintf(stderr, ", %" PRIu64 " s left",
		        spent / t->done * (t->n - t->done) / 1000000000);
	fflush(stderr);
	t->drawn = true;
}

static bool team_step(void *arg, size_t task, wf_time now, uint64_t hops)
{
	struct wf_progress_team *t = arg;
	uint64_t clock = now_ns();
	unsigned i;

	if (interrupted)
		return false;
	if (!t->shown)
		return true;
	pthread_mutex_lock(&t->lock);
	i = slot_of(t, task);
	t->live[i].now = now;
	t->live[i].hops = hops;
	if (clock - t->last_ns >= PERIOD_NS) {
		t->last_ns = clock;
		team_draw(t);
	}
	pthread_mutex_unlock(&t->lock);
	return true;
}

static void team_end(void *arg, size_t task)
{
	struct wf_progress_team *t = arg;
	unsigned i;

	pthread_mutex_lock(&t->lock);
	i = slot_of(t, task);
	t->live[i].used = false;
	t->hops += t->live[i].hops;
	t->done++;
	pthread_mutex_unlock(&t->lock);
}

struct wf_progress_team *wf_progress_team_create(const char *what, bool quiet,
                                                 struct wf_watch *watch)
{
	struct wf_progress_team *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	wf_progress_catch();
	pthread_mutex_init(&t->lock, NULL);
	t->what = what;
	t->shown = !quiet && isatty(STDERR_FILENO);
	*watch = (struct wf_watch){ t, team_tasks, team_begin, team_step, team_end };
	return t;
}

void wf_progress_team_destroy(struct wf_progress_team *t)
{
	if (t == NULL)
		return;
	if (t->drawn)
		fputs("\r\033[K", stderr);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

bool wf_progress_interrupted(void)
{
	return interrupted;
}
