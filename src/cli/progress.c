/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - draws the line that says how far a simulation is.
 */
#include "cli/progress.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
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

void wf_progress_begin(struct wf_progress *progress, const char *label, wf_time until,
                       uint64_t flows, bool quiet)
{
	/* The second one kills. */
	const struct sigaction action = {
		.sa_handler = on_interrupt,
		.sa_flags = (int)SA_RESETHAND,
	};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
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

bool wf_progress_interrupted(void)
{
	return interrupted;
}
