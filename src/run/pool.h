/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - independent pieces of work on several threads.
 */
#ifndef WF_RUN_POOL_H
#define WF_RUN_POOL_H

#include <stddef.h>

#include "base/err.h"

/* Does task number task. Returns 0 or a negative errno, with err filled where there is a text. */
typedef int wf_pool_fn(void *arg, size_t task, struct wf_err *err);

/*
 * Does tasks 0 to n - 1, each once, on up to threads threads, and returns when all are over. When
 * one fails no other is begun. Returns 0, or what the first of those that failed returned, with its
 * err.
 */
int wf_pool_run(size_t n, unsigned threads, wf_pool_fn *fn, void *arg,
                struct wf_err *err) WF_MUST_USE;

/* How many processors this process may use, at least 1. */
unsigned wf_pool_cpus(void);

#endif
