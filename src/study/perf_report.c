/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_report.c - what weft perf prints. The columns are those of perftest
 * (src/perftest_parameters.h there), whose users know them; numbers come from integers, so that the
 * same run prints the same.
 */
#include <inttypes.h>
#include <string.h>

#include "text/json.h"
#include "study/perf.h"

#define COLUMN 32

/* v with digits decimals, rounded; unit is what 1 is in v. */
static const char *decimal(uint64_t v, uint64_t unit, unsigned digits, char buf[COLUMN])
{
	uint64_t scale = 1, whole, part;

	for (unsigned i = 0; i < digits; i++)
		scale *= 10;
	whole = v / unit;
	part = ((v % unit) * scale + unit / 2) / unit;
	if (part == scale) {
		whole++;
		part = 0;
	}
	snprintf(buf, COLUMN, "%" PRIu64 ".%0*" PRIu64, whole, (int)digits, part);
	return buf;
}

static const char *usec(wf_time ps, char buf[COLUMN])
{
	return decimal((uint64_t)ps, (uint64_t)WF_US, 3, buf);
}

static void put_heading(const struct wf_perf_report *r, const struct wf_perf_block *block,
                        const char *what, FILE *file)
{
	char rate[COLUMN];

	fprintf(file, " %s: %s %s, RC, %u switch%s, links of %s Gb/s, MTU %" PRIu64 "\n",
	        block->label, wf_perf_op_name(r->plan->op), what, r->switches,
	        r->switches == 1 ? "" : "es", decimal(r->rate, 1000000000, 1, rate),
	        block->cfg.mtu);
}

static void put_latency(const struct wf_perf_report *r, const struct wf_perf_block *block,
                        FILE *file)
{
	put_heading(r, block, "latency", file);
	fprintf(file, " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    "
	              "t_avg[usec]    t_stdev[usec]   99%% percentile[usec]   "
	              "99.9%% percentile[usec]\n");
	for (unsigned i = 0; i < r->plan->n_sizes; i++) {
		const struct wf_perf_latency *l = &block->row[i].latency;
		char t[7][COLUMN];

		fprintf(file, " %-7" PRIu64 " %-11" PRIu64 " %13s %14s %16s %14s %16s %22s %24s\n",
		        block->row[i].size, l->n, usec(l->min, t[0]), usec(l->max, t[1]),
		        usec(l->typical, t[2]), usec(l->mean, t[3]), usec(l->stdev, t[4]),
		        usec(l->p99, t[5]), usec(l->p999, t[6]));
	}
}

static void put_bandwidth(const struct wf_perf_report *r, const struct wf_perf_block *block,
                          FILE *file)
{
	const uint64_t giga = 1000000000, mega = 1000000;
	char what[64];

	snprintf(what, sizeof(what), "%sbandwidth, %u queue pair%s, depth %u",
	         r->plan->both_ways ? "bidirectional " : "", r->plan->qps,
	         r->plan->qps == 1 ? "" : "s", r->plan->depth);
	put_heading(r, block, what, file);
	fprintf(file, " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   "
	              "MsgRate[Mpps]\n");
	for (unsigned i = 0; i < r->plan->n_sizes; i++) {
		const struct wf_perf_bandwidth *b = &block->row[i].bandwidth;
		char t[3][COLUMN];

		fprintf(file, " %-10" PRIu64 " %-11" PRIu64 " %18s %21s %15s\n", block->row[i].size,
		        b->messages, decimal(b->peak, giga, 2, t[0]),
		        decimal(b->average, giga, 2, t[1]), decimal(b->rate, mega, 6, t[2]));
	}
}

void wf_perf_table(const struct wf_perf_report *r, FILE *file)
{
	for (unsigned i = 0; i < r->n; i++) {
		if (i > 0)
			fputc('\n', file);
		if (r->plan->latency)
			put_latency(r, &r->block[i], file);
		if (r->plan->latency && r->plan->bandwidth)
			fputc('\n', file);
		if (r->plan->bandwidth)
			put_bandwidth(r, &r->block[i], file);
	}
}

static void json_latency(struct wf_json *j, uint64_t size, const struct wf_perf_latency *l)
{
	wf_json_open(j, NULL, '{');
	wf_json_u64(j, "bytes", size);
	wf_json_u64(j, "iterations", l->n);
	wf_json_u64(j, "min_ps", (uint64_t)l->min);
	wf_json_u64(j, "max_ps", (uint64_t)l->max);
	wf_json_u64(j, "typical_ps", (uint64_t)l->typical);
	wf_json_u64(j, "mean_ps", (uint64_t)l->mean);
	wf_json_u64(j, "stdev_ps", (uint64_t)l->stdev);
	wf_json_u64(j, "p99_ps", (uint64_t)l->p99);
	wf_json_u64(j, "p999_ps", (uint64_t)l->p999);
	wf_json_close(j, '{');
}

static void json_bandwidth(struct wf_json *j, uint64_t size, const struct wf_perf_bandwidth *b)
{
	wf_json_open(j, NULL, '{');
	wf_json_u64(j, "bytes", size);
	wf_json_u64(j, "iterations", b->messages);
	wf_json_u64(j, "time_ps", (uint64_t)b->time);
	wf_json_u64(j, "peak_bps", b->peak);
	wf_json_u64(j, "average_bps", b->average);
	wf_json_u64(j, "messages_per_s", b->rate);
	wf_json_close(j, '{');
}

static void json_block(struct wf_json *j, const struct wf_perf_report *r,
                       const struct wf_perf_block *block)
{
	wf_json_open(j, NULL, '{');
	wf_json_text(j, "fabric", block->label);
	wf_json_text(j, "link_layer", block->cfg.link_layer);
	wf_json_u64(j, "mtu", block->cfg.mtu);
	if (r->plan->latency) {
		wf_json_open(j, "latency", '[');
		for (unsigned i = 0; i < r->plan->n_sizes; i++)
			json_latency(j, block->row[i].size, &block->row[i].latency);
		wf_json_close(j, '[');
	}
	if (r->plan->bandwidth) {
		wf_json_open(j, "bandwidth", '[');
		for (unsigned i = 0; i < r->plan->n_sizes; i++)
			json_bandwidth(j, block->row[i].size, &block->row[i].bandwidth);
		wf_json_close(j, '[');
	}
	wf_json_close(j, '{');
}

void wf_perf_json(const struct wf_perf_report *r, FILE *file)
{
	struct wf_json j;

	wf_json_init(&j, file);
	wf_json_document(&j, "weft.perf", 1);
	wf_json_text(&j, "op", wf_perf_op_name(r->plan->op));
	wf_json_text(&j, "topology", r->plan->topology);
	wf_json_u64(&j, "switches", r->switches);
	wf_json_u64(&j, "host_rate_bps", r->rate);
	wf_json_u64(&j, "queue_pairs", r->plan->qps);
	wf_json_u64(&j, "depth", r->plan->depth);
	wf_json_bool(&j, "bidirectional", r->plan->both_ways);
	wf_json_open(&j, "fabrics", '[');
	for (unsigned i = 0; i < r->n; i++)
		json_block(&j, r, &r->block[i]);
	wf_json_close(&j, '[');
	wf_json_close(&j, '{');
}
