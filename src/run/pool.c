/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c - threads that take tasks from a counter until there are none.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* sched_getaffinity() */
#endif
#include "run/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#define MAX_THREADS 64

struct pool {
	pthread_mutex_t lock;
	size_t next, n;
	wf_pool_fn *fn;
	void *arg;
	size_t failed; /* the first task that did; SIZE_MAX: none */
	int rc;        /* what it returned */
	struct wf_err *err;
};

/* Takes the next task; false when there is none, or one has failed. */
static bool take(struct pool *pool, size_t *task)
{
	bool some;

	pthread_mutex_lock(&pool->lock);
	some = pool->next < pool->n && pool->failed == SIZE_MAX;
	if (some)
		*task = pool->next++;
	pthread_mutex_unlock(&pool->lock);
	return some;
}

static void *work(void *arg)
{
	struct pool *pool = arg;
	size_t task;

	while (take(pool, &task)) {
		struct wf_err err = { "" };
		int rc = pool->fn(pool->arg, task, &err);

		if (rc == 0)
			continue;
		pthread_mutex_lock(&pool->lock);
		if (task < pool->failed) {
			pool->failed = task;
			pool->rc = rc;
			*pool->err = err;
		}
		pthread_mutex_unlock(&pool->lock);
	}
	return NULL;
}

int wf_pool_run(size_t n, unsigned threads, wf_pool_fn *fn, void *arg, struct wf_err *err)
{
	struct pool pool = { .n = n, .fn = fn, .arg = arg, .failed = SIZE_MAX, .err = err };
	pthread_t thread[MAX_THREADS];
	unsigned started = 0;

	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	if (threads > n)
		threads = (unsigned)n;
	pthread_mutex_init(&pool.lock, NULL);
	/* This thread works too; threads that cannot be had are done without. */
	while (started + 1 < threads && pthread_create(&thread[started], NULL, work, &pool) == 0)
		started++;
	work(&pool);
	for (unsigned i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	pthread_mutex_destroy(&pool.lock);
	return pool.rc;
}

unsigned wf_pool_cpus(void)
{
	long n = 0;
#if defined(__linux__)
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = CPU_COUNT(&set);
#elif defined(_SC_NPROCESSORS_ONLN)
	n = sysconf(_SC_NPROCESSORS_ONLN);
#endif
	return n > 0 ? (unsigned)n : 1;
}
