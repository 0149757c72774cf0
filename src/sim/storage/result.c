/* SPDX-License-Identifier: Apache-2.0 */
/* result.c - the figures of storage. */
#include "sim/storage/result.h"

#include <string.h>

void wf_storage_result_init(struct wf_storage_result *r)
{
	memset(r, 0, sizeof(*r));
	r->begin = WF_TIME_NEVER;
}

void wf_storage_result_add(struct wf_storage_result *a, const struct wf_storage_result *b)
{
	a->hosts += b->hosts;
	a->targets += b->targets;
	a->queues += b->queues;
	for (int op = 0; op < WF_STORAGE_OPS; op++) {
		a->ios[op] += b->ios[op];
		a->bytes[op] += b->bytes[op];
		wf_hist_merge(&a->latency[op], &b->latency[op]);
	}
	a->failed += b->failed;
	a->open += b->open;
	a->wanted += b->wanted;
	a->begin = wf_min_time(a->begin, b->begin);
	a->end = wf_max_time(a->end, b->end);
	a->longest = wf_max_time(a->longest, b->longest);
	a->device += b->device;
}

static bool always(const struct wf_storage_result *r)
{
	(void)r;
	return true;
}

static uint64_t ios(const struct wf_storage_result *r)
{
	return r->ios[WF_STORAGE_READ] + r->ios[WF_STORAGE_WRITE];
}

static uint64_t failed(const struct wf_storage_result *r)
{
	return r->failed;
}

static uint64_t open_ios(const struct wf_storage_result *r)
{
	return r->open;
}

static bool has_reads(const struct wf_storage_result *r)
{
	return r->ios[WF_STORAGE_READ] > 0;
}

static bool has_writes(const struct wf_storage_result *r)
{
	return r->ios[WF_STORAGE_WRITE] > 0;
}

static bool has_ios(const struct wf_storage_result *r)
{
	return ios(r) > 0;
}

/* So many in the time from begin to end, of a second. */
static uint64_t a_second(const struct wf_storage_result *r, uint64_t n)
{
	return r->end <= r->begin ? 0
	                          : (uint64_t)((unsigned __int128)n * (uint64_t)WF_S /
	                                       (uint64_t)(r->end - r->begin));
}

static uint64_t iops(const struct wf_storage_result *r)
{
	return a_second(r, ios(r));
}

static uint64_t read_rate(const struct wf_storage_result *r)
{
	return a_second(r, 8 * r->bytes[WF_STORAGE_READ]);
}

static uint64_t write_rate(const struct wf_storage_result *r)
{
	return a_second(r, 8 * r->bytes[WF_STORAGE_WRITE]);
}

static uint64_t device(const struct wf_storage_result *r)
{
	return r->device;
}

static uint64_t all_latency(const struct wf_storage_result *r)
{
	return r->latency[WF_STORAGE_READ].sum + r->latency[WF_STORAGE_WRITE].sum;
}

/* All bytes were written (read), and acknowledged. */
static bool has_longest(const struct wf_storage_result *r)
{
	return r->longest > 0;
}

static uint64_t longest(const struct wf_storage_result *r)
{
	return (uint64_t)r->longest;
}

#define LATENCY(what, op)                                                                          \
	static uint64_t what##_mean(const struct wf_storage_result *r)                             \
	{                                                                                          \
		return wf_hist_mean(&r->latency[op]);                                              \
	}                                                                                          \
	static uint64_t what##_p50(const struct wf_storage_result *r)                              \
	{                                                                                          \
		return wf_hist_quantile(&r->latency[op], 500);                                     \
	}                                                                                          \
	static uint64_t what##_p99(const struct wf_storage_result *r)                              \
	{                                                                                          \
		return wf_hist_quantile(&r->latency[op], 990);                                     \
	}                                                                                          \
	static uint64_t what##_p999(const struct wf_storage_result *r)                             \
	{                                                                                          \
		return wf_hist_quantile(&r->latency[op], 999);                                     \
	}                                                                                          \
	static uint64_t what##_max(const struct wf_storage_result *r)                              \
	{                                                                                          \
		return r->latency[op].max;                                                         \
	}

LATENCY(read, WF_STORAGE_READ)
LATENCY(write, WF_STORAGE_WRITE)

const struct wf_storage_figure wf_storage_figures[WF_STORAGE_FIGURES] = {
	{ "ios", "I/Os", NULL, "", ios, NULL, always },
	{ "failed", "failed", NULL, "", failed, NULL, always },
	{ "open", NULL, NULL, "", open_ios, NULL, always },
	{ "iops", "I/Os a second", "iops", "1/s", iops, NULL, has_ios },
	{ "read_rate", "read", "read_bps", "bit/s", read_rate, NULL, has_reads },
	{ "write_rate", "written", "write_bps", "bit/s", write_rate, NULL, has_writes },
	{ "time", "time to the last byte", "time_ps", "ps", longest, NULL, has_longest },
	{ "read_latency_mean", "read latency, mean", NULL, "ps", read_mean, NULL, has_reads },
	{ "read_latency_p50", NULL, NULL, "ps", read_p50, NULL, has_reads },
	{ "read_latency_p99", "read latency, p99", NULL, "ps", read_p99, NULL, has_reads },
	{ "read_latency_p999", "read latency, p99.9", NULL, "ps", read_p999, NULL, has_reads },
	{ "read_latency_max", NULL, NULL, "ps", read_max, NULL, has_reads },
	{ "write_latency_mean", "write latency, mean", NULL, "ps", write_mean, NULL, has_writes },
	{ "write_latency_p50", NULL, NULL, "ps", write_p50, NULL, has_writes },
	{ "write_latency_p99", "write latency, p99", NULL, "ps", write_p99, NULL, has_writes },
	{ "write_latency_p999", "write latency, p99.9", NULL, "ps", write_p999, NULL, has_writes },
	{ "write_latency_max", NULL, NULL, "ps", write_max, NULL, has_writes },
	{ "device_share", "share of the drives", NULL, "", device, all_latency, has_ios },
};
