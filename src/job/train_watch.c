/* SPDX-License-Identifier: Apache-2.0 */
/* train_watch.c - where the time of a training step goes. */
#include "job/train_watch.h"

#include <errno.h>
#include <string.h>

/* Communications that a rank remembers: there are seldom more between two calculations. */
#define MEMORY 16

/* Communication that is over. */
struct past {
	wf_time begun, ended;
	unsigned kind;
};

/* Of a rank; only its thread touches it. */
struct rank {
	wf_time computed; /* when it last ended computing */
	wf_time busy;
	wf_time begun[WF_TRAIN_KINDS]; /* when one of a kind last began */
	struct past past[MEMORY];      /* a ring, in the order they ended */
	unsigned n_past;
	wf_time exposed[WF_TRAIN_KINDS];
	wf_time other;
} WF_ALIGNED(WF_CACHE_LINE);

struct wf_train_watch {
	struct wf_mem *mem;
	uint32_t n_ranks;
	struct rank *ranks;
	uint8_t *kinds; /* of each group */
};

static uint8_t kind_of(const char *name)
{
	uint8_t kind = 0;

	while (kind < WF_TRAIN_KINDS && strcmp(wf_train_kind_name(kind), name) != 0)
		kind++;
	return kind;
}

int wf_train_watch_create(const struct wf_schedule *schedule, struct wf_mem *mem,
                          struct wf_train_watch **watch_p)
{
	struct wf_train_watch *watch = mem->alloc(mem, sizeof(*watch));

	if (watch == NULL)
		return -ENOMEM;
	watch->mem = mem;
	watch->n_ranks = schedule->n_ranks;
	watch->ranks = mem->alloc(mem, schedule->n_ranks * sizeof(*watch->ranks));
	watch->kinds = mem->alloc(mem, schedule->n_groups + (size_t)1);
	if (watch->ranks == NULL || watch->kinds == NULL) {
		wf_train_watch_destroy(watch);
		return -ENOMEM;
	}
	for (uint32_t g = 0; g < schedule->n_groups; g++) {
		struct wf_group group;

		schedule->ops->group(schedule, g, &group);
		watch->kinds[g] = kind_of(group.kind);
	}
	*watch_p = watch;
	return 0;
}

void wf_train_watch_destroy(struct wf_train_watch *watch)
{
	if (watch == NULL)
		return;
	watch->mem->free(watch->mem, watch->ranks);
	watch->mem->free(watch->mem, watch->kinds);
	watch->mem->free(watch->mem, watch);
}

/*
 * Lays the time since the last calculation to what was waited for, backwards: the communication
 * that ended last until it began, then the one that had ended last before that, and so on.
 */
static void lay_gap(struct rank *rank, wf_time now)
{
	wf_time to = now;

	for (unsigned i = 1; i <= MEMORY && i <= rank->n_past && to > rank->computed; i++) {
		const struct past *past = &rank->past[(rank->n_past - i) % MEMORY];
		wf_time from = wf_max_time(past->begun, rank->computed);

		if (past->ended <= rank->computed)
			break;
		if (past->ended > to || from >= to)
			continue;
		rank->exposed[past->kind] += to - from;
		to = from;
	}
	rank->other += to - wf_min_time(rank->computed, to);
}

static void watch_begin(void *arg, uint32_t rank, uint32_t group, wf_time now)
{
	struct wf_train_watch *watch = arg;
	struct rank *r = &watch->ranks[rank];
	unsigned kind = watch->kinds[group];

	if (kind == WF_TRAIN_KINDS)
		return;
	if (wf_train_is_compute(kind))
		lay_gap(r, now);
	r->begun[kind] = now;
}

static void watch_end(void *arg, uint32_t rank, uint32_t group, wf_time now)
{
	struct wf_train_watch *watch = arg;
	struct rank *r = &watch->ranks[rank];
	unsigned kind = watch->kinds[group];

	if (kind == WF_TRAIN_KINDS)
		return;
	if (wf_train_is_compute(kind)) {
		r->busy += now - r->begun[kind];
		r->computed = now;
		return;
	}
	r->past[r->n_past++ % MEMORY] =
		(struct past){ .begun = r->begun[kind], .ended = now, .kind = kind };
}

void wf_train_watch_observer(struct wf_train_watch *watch, struct wf_job_observer *observer)
{
	*observer =
		(struct wf_job_observer){ .arg = watch, .begin = watch_begin, .end = watch_end };
}

void wf_train_watch_result(const struct wf_train_watch *watch, const struct wf_train_info *info,
                           const struct wf_gpu_cfg *gpu, wf_time end,
                           struct wf_train_result *result)
{
	uint32_t n = watch->n_ranks;

	*result = (struct wf_train_result){ .step = end };
	for (uint32_t i = 0; i < n; i++) {
		const struct rank *r = &watch->ranks[i];

		result->busy += r->busy / n;
		result->other += r->other / n;
		for (unsigned k = 0; k < WF_TRAIN_KINDS; k++)
			result->exposed[k] += r->exposed[k] / n;
		/* Until others are done: the pipeline's, or if there is none, chance's. */
		if (info->idle > 0)
			result->exposed[WF_TRAIN_PP] += (end - r->computed) / n;
		else
			result->other += (end - r->computed) / n;
	}
	result->bubble = wf_min_time(info->idle, result->exposed[WF_TRAIN_PP]);
	result->exposed[WF_TRAIN_PP] -= result->bubble;
	result->mfu = wf_train_mfu(info, gpu, end);
}
