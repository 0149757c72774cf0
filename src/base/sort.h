/* SPDX-License-Identifier: Apache-2.0 */
/* sort.h - sorts arrays of anything in n log n steps; equal items keep their order. */
#ifndef WF_BASE_SORT_H
#define WF_BASE_SORT_H

#include "base/base.h"

/* Below 0: a comes first; above 0: b does; 0: they are equal. */
typedef int wf_compare_fn(const void *a, const void *b, const void *arg);

/*
 * Sorts n items of size bytes. room has space for as many and holds nothing useful afterwards.
 */
void wf_sort(void *items, void *room, size_t n, size_t size, wf_compare_fn *compare,
             const void *arg);

#endif
