/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hist.c - merging histograms and reading quantiles from them.
 */
#include "base/hist.h"

#include <assert.h>

void wf_hist_merge(struct wf_hist *a, const struct wf_hist *b)
{
	if (b->n == 0)
		return;
	for (unsigned i = 0; i < WF_HIST_BUCKETS; i++)
		a->bucket[i] += b->bucket[i];
	if (a->n == 0 || b->min < a->min)
		a->min = b->min;
	if (b->max > a->max)
		a->max = b->max;
	a->n += b->n;
	a->sum += b->sum;
}

uint64_t wf_hist_bucket_end(unsigned i)
{
	unsigned shift = i >> WF_HIST_SUB_BITS;
	uint64_t sub;

	if (shift > 0)
		shift--;
	sub = i - (shift << WF_HIST_SUB_BITS);
	return (sub << shift) + ((UINT64_C(1) << shift) - 1);
}

uint64_t wf_hist_quantile(const struct wf_hist *h, unsigned per_mille)
{
	uint64_t want, seen = 0;

	assert(per_mille <= 1000);
	if (h->n == 0)
		return 0;
	want = (h->n / 1000) * per_mille + ((h->n % 1000) * per_mille + 999) / 1000;
	if (want == 0)
		want = 1;
	for (unsigned i = 0; i < WF_HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= want)
			return wf_min_u64(wf_hist_bucket_end(i), h->max);
	}
	return h->max;
}

uint64_t wf_hist_mean(const struct wf_hist *h)
{
	return h->n == 0 ? 0 : h->sum / h->n;
}
