/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hist.h - a histogram of non-negative integers with a relative error below 0.8 %.
 *
 * Log-linear: 64 buckets to each power of two. Adding is O(1) and two histograms merge exactly, so
 * each thread keeps its own and the sum does not depend on how many there were.
 */
#ifndef WF_BASE_HIST_H
#define WF_BASE_HIST_H

#include "base/base.h"

#define WF_HIST_SUB_BITS 6
#define WF_HIST_BUCKETS ((65 - WF_HIST_SUB_BITS) << WF_HIST_SUB_BITS)

struct wf_hist {
	uint64_t n;
	uint64_t sum; /* wraps after 2^64 */
	uint64_t min, max;
	uint64_t bucket[WF_HIST_BUCKETS];
};

static inline unsigned wf_hist_bucket(uint64_t v)
{
	unsigned top = 63 - (unsigned)__builtin_clzll(v | 1);
	unsigned shift = top < WF_HIST_SUB_BITS ? 0 : top - WF_HIST_SUB_BITS;

	return (shift << WF_HIST_SUB_BITS) + (unsigned)(v >> shift);
}

static inline void wf_hist_add(struct wf_hist *h, uint64_t v)
{
	h->bucket[wf_hist_bucket(v)]++;
	h->sum += v;
	if (v > h->max)
		h->max = v;
	if (v < h->min || h->n == 0)
		h->min = v;
	h->n++;
}

/* The largest value that falls into bucket i. */
uint64_t wf_hist_bucket_end(unsigned i);

/* Adds all of b to a. */
void wf_hist_merge(struct wf_hist *a, const struct wf_hist *b);

/*
 * The smallest value v such that at least per_mille thousandths of all values are <= v, to the
 * bucket's upper end, and never above the maximum; 0 for an empty histogram.
 */
uint64_t wf_hist_quantile(const struct wf_hist *h, unsigned per_mille);

/* Mean, rounded down; 0 for an empty histogram. */
uint64_t wf_hist_mean(const struct wf_hist *h);

#endif
