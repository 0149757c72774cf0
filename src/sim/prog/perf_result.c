/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_result.c - from the times of posts and completions to the figures that perftest prints.
 */
#include <errno.h>

#include "base/sort.h"
#include "sim/prog/perf_priv.h"

typedef unsigned __int128 wf_u128;

static int check_end(const struct wf_perf *perf, struct wf_err *err)
{
	for (int i = 0; i < 2; i++) {
		const struct wf_perf_side *s = &perf->side[i];

		if (s->status != WF_WC_SUCCESS)
			(void)wf_err_say(err,
			                 "the %s's queue pair failed after %u of %u messages: %s",
			                 i == 0 ? "client" : "server", s->done, perf->cfg.iters,
			                 wf_wc_status_name(s->status));
		else if (s->requests && s->done != perf->cfg.iters)
			(void)wf_err_say(err, "virtual time ran out after %u of %u messages",
			                 s->done, perf->cfg.iters);
		else
			continue;
		return -EIO;
	}
	return 0;
}

static int by_length(const void *a, const void *b, const void *arg)
{
	const wf_time *x = a, *y = b;

	(void)arg;
	return *x < *y ? -1 : *x > *y;
}

/* Nearest rank: the smallest value that per_mille thousandths do not exceed. */
static wf_time quantile(const wf_time *t, uint64_t n, uint64_t per_mille)
{
	return t[(n * per_mille + 999) / 1000 - 1];
}

/* The largest r with r * r <= v. */
static uint64_t root(wf_u128 v)
{
	uint64_t r = 0;

	for (uint64_t bit = UINT64_C(1) << 62; bit != 0; bit >>= 1) {
		if ((wf_u128)(r | bit) * (r | bit) <= v)
			r |= bit;
	}
	return r;
}

static void summarize(const wf_time *t, uint64_t n, struct wf_perf_latency *r)
{
	wf_u128 sum = 0, square = 0;

	assert(n > 0);
	for (uint64_t i = 0; i < n; i++)
		sum += (wf_u128)t[i];
	r->n = n;
	r->min = t[0];
	r->max = t[n - 1];
	r->typical = quantile(t, n, 500);
	r->mean = (wf_time)((sum + n / 2) / n);
	for (uint64_t i = 0; i < n; i++)
		square += (wf_u128)((__int128)(t[i] - r->mean) * (t[i] - r->mean));
	r->stdev = (wf_time)root(square / n);
	r->p99 = quantile(t, n, 990);
	r->p999 = quantile(t, n, 999);
}

int wf_perf_latency(const struct wf_perf *perf, struct wf_perf_latency *result, struct wf_err *err)
{
	const struct wf_perf_side *s = &perf->side[0];
	struct wf_mem *mem = wf_mem_heap();
	wf_time *t;
	int ret = check_end(perf, err);

	assert(!perf->cfg.bandwidth);
	if (ret != 0)
		return ret;
	t = mem->alloc(mem, 2 * s->done * sizeof(*t)); /* half of it to sort in */
	if (t == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->done; i++)
		t[i] = (s->done_at[i] - s->posted_at[i]) / (perf->one_sided ? 1 : 2);
	wf_sort(t, t + s->done, s->done, sizeof(*t), by_length, NULL);
	summarize(t, s->done, result);
	mem->free(mem, t);
	return 0;
}

/* count messages of size bytes in a time, in bits/s. */
static uint64_t rate(uint64_t count, uint32_t size, wf_time time)
{
	return time <= 0 ? 0
	                 : (uint64_t)((wf_u128)count * size * 8 * (uint64_t)WF_S / (uint64_t)time);
}

/* The fewest ps per message of any run of messages, as count and time. */
static uint64_t peak(const struct wf_perf_side *s)
{
	uint64_t count = 1;
	wf_time best = WF_TIME_NEVER;

	if (s->done > WF_PERF_PEAK_ITERS)
		return 0;
	for (uint32_t i = 0; i < s->done; i++) {
		for (uint32_t j = i; j < s->done; j++) {
			wf_time t = s->done_at[j] - s->posted_at[i];

			if ((wf_u128)t * count < (wf_u128)best * (j - i + 1)) {
				best = t;
				count = j - i + 1;
			}
		}
	}
	return rate(count, s->perf->cfg.size, best);
}

int wf_perf_bandwidth(const struct wf_perf *perf, struct wf_perf_bandwidth *result,
                      struct wf_err *err)
{
	struct wf_perf_bandwidth r = { 0 };
	int ret = check_end(perf, err);

	assert(perf->cfg.bandwidth);
	if (ret != 0)
		return ret;
	for (int i = 0; i < 2; i++) {
		const struct wf_perf_side *s = &perf->side[i];

		if (!s->requests)
			continue;
		r.messages += s->done;
		r.time = wf_max_time(r.time, s->done_at[s->done - 1] - s->posted_at[0]);
		r.peak += peak(s);
	}
	r.bytes = r.messages * perf->cfg.size;
	r.average = rate(r.messages, perf->cfg.size, r.time);
	r.rate = rate(r.messages, 1, r.time) / 8;
	*result = r;
	return 0;
}
