/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - draws the line that says how far a simulation is.
 */
#include "cli/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run/eta.h"
#include "text/human.h"
#include "sim/sim.h"

#define PERIOD_NS UINT64_C(200000000)

static volatile sig_atomic_t interrupted; /* by this signal; 0: not */

static void on_interrupt(int signal)
{
	interrupted = signal;
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

void wf_progress_init(struct wf_progress *progress, size_t n, bool quiet)
{
	wf_progress_catch();
	*progress = (struct wf_progress){
		.n = n,
		.shown = !quiet && isatty(STDERR_FILENO),
		.start_ns = now_ns(),
	};
	progress->last_ns = progress->start_ns;
}

void wf_progress_begin(struct wf_progress *progress, const char *label, wf_time until)
{
	progress->label = label;
	progress->until = until;
}

bool wf_progress_step(void *arg, wf_time now, uint64_t hops, uint32_t share)
{
	struct wf_progress *p = arg;
	uint64_t t = now_ns();
	double part = (double)share / WF_SIM_ALL, by_time = (double)now / (double)p->until;
	char simulated[WF_HUMAN], text[WF_ETA_TEXT];

	if (interrupted)
		return false;
	if (!p->shown || t - p->last_ns < PERIOD_NS)
		return true;
	p->last_ns = t;
	part = part > by_time ? part : by_time;
	wf_eta_text(t - p->start_ns, ((double)p->done + part) / (double)p->n, p->hops + hops, text,
	            sizeof(text));
	wf_human_time((uint64_t)now, simulated, sizeof(simulated));
	fprintf(stderr, "\r\033[K%s", p->label);
	if (p->n > 1)
		fprintf(stderr, ", %zu of %zu fabrics", p->done + 1, p->n);
	fprintf(stderr, ": at %s, %s", simulated, text);
	p->drawn = true;
	fflush(stderr);
	return true;
}

void wf_progress_end(struct wf_progress *progress, uint64_t hops)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	progress->drawn = false;
	progress->done++;
	progress->hops += hops;
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
		uint32_t share;
	} live[MAX_AT_ONCE];
	uint64_t share; /* that was shown, of WF_SIM_ALL each */
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
	t->live[i].share = 0;
	pthread_mutex_unlock(&t->lock);
}

static void team_draw(struct wf_progress_team *t)
{
	uint64_t hops = t->hops, share = t->done * WF_SIM_ALL;
	wf_time now = 0;
	char simulated[WF_HUMAN], text[WF_ETA_TEXT];

	for (unsigned i = 0; i < MAX_AT_ONCE; i++) {
		if (!t->live[i].used)
			continue;
		hops += t->live[i].hops;
		share += t->live[i].share;
		now = wf_max_time(now, t->live[i].now);
	}
	/* A task of several simulations begins anew with each; what is shown does not. */
	t->share = wf_max_u64(t->share, share);
	wf_human_time((uint64_t)now, simulated, sizeof(simulated));
	wf_eta_text(t->last_ns - t->start_ns, (double)t->share / WF_SIM_ALL / (double)t->n, hops,
	            text, sizeof(text));
	fprintf(stderr, "\r\033[K%zu of %zu %s done, at %s, %s", t->done, t->n, t->what, simulated,
	        text);
	fflush(stderr);
	t->drawn = true;
}

static bool team_step(void *arg, size_t task, wf_time now, uint64_t hops, uint32_t share)
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
	t->live[i].share = share;
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
	return interrupted != 0;
}

int wf_progress_status(void)
{
	return 128 + interrupted;
}
