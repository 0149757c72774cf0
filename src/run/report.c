/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - the table: one row for each figure, one column for each fabric.
 */
#include "run/report.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text/human.h"

#define NAME_WIDTH 32
#define MIN_WIDTH 14
#define HEADROOM_WIDTH 20
#define CELL 96
#define NOTE_WIDTH 100
#define LINK_TEXT 400

/*
 * One figure. cell writes its text; a row that is empty in every column is left out. Without name:
 * the counters of the next part (fabric/counter.h). Without cell: the figures of storage.
 */
struct row {
	const char *name;
	void (*cell)(const struct wf_scenario *s, const struct wf_run *run, char *buf);
};

/* A job or storage alone has no flows. */
static bool has_flows(const struct wf_run *run)
{
	return (run->job == NULL && run->n_storage == 0) || run->result.flows > 0;
}

static void flows_done(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	char done[WF_HUMAN], all[WF_HUMAN];

	(void)s;
	if (!has_flows(run))
		return;
	wf_human_count(run->result.flows_done, done, sizeof(done));
	wf_human_count(run->result.flows, all, sizeof(all));
	snprintf(buf, CELL, "%s of %s", done, all);
}

static void completion(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (!has_flows(run))
		return;
	if (run->completion < 0)
		snprintf(buf, CELL, "unfinished");
	else
		wf_human_time((uint64_t)run->completion, buf, CELL);
}

static void goodput(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (!has_flows(run))
		return;
	snprintf(buf, CELL, "%" PRIu64 ".%01" PRIu64 " Gb/s", run->goodput / 1000000000,
	         run->goodput / 100000000 % 10);
}

static void goodput_share(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	unsigned __int128 line = (unsigned __int128)s->host_rate * s->receivers;
	uint64_t tenths;

	if (line == 0)
		return;
	tenths = (uint64_t)(((unsigned __int128)run->goodput * 1000 + line / 2) / line);
	snprintf(buf, CELL, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
}

#define COUNT_CELL(name, value)                                                                    \
	static void name(const struct wf_scenario *s, const struct wf_run *run, char *buf)         \
	{                                                                                          \
		(void)s;                                                                           \
		wf_human_count(value, buf, CELL);                                                  \
	}

/* A reason that did not occur leaves its cell, and so perhaps its row, empty. */
#define SOME_CELL(name, value)                                                                     \
	static void name(const struct wf_scenario *s, const struct wf_run *run, char *buf)         \
	{                                                                                          \
		(void)s;                                                                           \
		if ((value) != 0)                                                                  \
			wf_human_count(value, buf, CELL);                                          \
	}

#define TIME_CELL(name, value)                                                                     \
	static void name(const struct wf_scenario *s, const struct wf_run *run, char *buf)         \
	{                                                                                          \
		(void)s;                                                                           \
		wf_human_time(value, buf, CELL);                                                   \
	}

/* Of a distribution: what has not happened at all took no time. */
static void hist_cell(const struct wf_hist *h, uint64_t value, char *buf)
{
	if (h->n == 0)
		snprintf(buf, CELL, "-");
	else
		wf_human_time(value, buf, CELL);
}

#define PACKET_CELL(name, value)                                                                   \
	static void name(const struct wf_scenario *s, const struct wf_run *run, char *buf)         \
	{                                                                                          \
		(void)s;                                                                           \
		hist_cell(&run->result.packet_latency, value, buf);                                \
	}

/* A job has no flows. */
#define FLOW_CELL(name, value)                                                                     \
	static void name(const struct wf_scenario *s, const struct wf_run *run, char *buf)         \
	{                                                                                          \
		(void)s;                                                                           \
		if (has_flows(run))                                                                \
			hist_cell(&run->result.flow_time, value, buf);                             \
	}

COUNT_CELL(sent, run->result.packets_sent)
COUNT_CELL(delivered, run->result.packets_delivered)
COUNT_CELL(dropped, run->result.packets_dropped)
SOME_CELL(migrated, run->result.adapters[WF_CTR_PATH_MIGRATIONS])
SOME_CELL(inside, run->result.packets_inside)
COUNT_CELL(resent, run->result.resent)
PACKET_CELL(latency_p50, wf_hist_quantile(&run->result.packet_latency, 500))
PACKET_CELL(latency_p99, wf_hist_quantile(&run->result.packet_latency, 990))
PACKET_CELL(latency_max, run->result.packet_latency.max)
FLOW_CELL(flow_p50, wf_hist_quantile(&run->result.flow_time, 500))
FLOW_CELL(flow_p99, wf_hist_quantile(&run->result.flow_time, 990))
FLOW_CELL(flow_max, run->result.flow_time.max)
COUNT_CELL(hops, run->result.hops)
TIME_CELL(end, (uint64_t)run->result.end)

static bool has_flowctl(const struct wf_run *run, const char *name)
{
	return strcmp(run->fabric->cfg.flowctl, name) == 0;
}

/* What a fabric cannot have is "-", not 0. */
static void lossless_drops(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (has_flowctl(run, "none"))
		snprintf(buf, CELL, "-");
	else
		wf_human_count(run->lossless_drops, buf, CELL);
}

/* With credits a switch has no memory that its ports share. */
static void max_switch(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (has_flowctl(run, "credit"))
		snprintf(buf, CELL, "-");
	else
		wf_human_bytes(run->result.max_switch_bytes, buf, CELL);
}

/* Of the port that needs most; a profile that says less than that is told. */
static void headroom(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	char has[WF_HUMAN], needs[WF_HUMAN];

	(void)s;
	if (run->headroom_needed == 0) {
		snprintf(buf, CELL, "-");
		return;
	}
	wf_human_bytes(run->headroom, has, sizeof(has));
	wf_human_bytes(run->headroom_needed, needs, sizeof(needs));
	if (run->headroom >= run->headroom_needed)
		snprintf(buf, CELL, "%s", has);
	else
		snprintf(buf, CELL, "%s of %s", has, needs);
}

/* ---- TCP ---- */

/* busy ps of so many cores: how many that is, and of those that there are. */
static void put_load(const struct wf_run *run, uint64_t busy, uint64_t hosts, uint64_t cores,
                     char *buf)
{
	double load = (double)busy / (double)run->result.end;

	snprintf(buf, CELL, "%.2f (%.1f %%)", load / (double)hosts, load * 100 / (double)cores);
}

static bool has_tcp(const struct wf_run *run)
{
	return run->result.tcp.hosts > 0 && run->result.end > 0;
}

static void tcp_load_mean(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	const struct wf_sim_tcp *t = &run->result.tcp;

	(void)s;
	if (has_tcp(run))
		put_load(run, t->busy, t->hosts, t->cores, buf);
}

static void tcp_load_max(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	const struct wf_sim_tcp *t = &run->result.tcp;

	(void)s;
	if (has_tcp(run))
		put_load(run, t->host_busy, 1, t->host_cores, buf);
}

static void tcp_core_max(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (has_tcp(run))
		snprintf(buf, CELL, "%.1f %%",
		         (double)run->result.tcp.core_busy * 100 / (double)run->result.end);
}

/* ---- the job ---- */

/* Groups are summed up over those that are over. */
static void job_done(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (run->job == NULL)
		return;
	if (run->job->finished)
		wf_human_time((uint64_t)run->job->end, buf, CELL);
	else
		snprintf(buf, CELL, "unfinished");
}

static void put_gbytes(uint64_t rate, char *buf)
{
	snprintf(buf, CELL, "%" PRIu64 ".%02" PRIu64 " GB/s", rate / 1000000000,
	         rate / 10000000 % 100);
}

/* Mean over the groups of what get() says of each. */
static uint64_t job_mean(const struct wf_run *run, uint64_t (*get)(const struct wf_job_group *g))
{
	uint64_t sum = 0, n = 0;

	for (uint32_t i = 0; run->job != NULL && i < run->job->n_groups; i++) {
		const struct wf_job_group *g = &run->job_groups[i];

		if (g->algbw == 0)
			continue;
		sum += get(g);
		n++;
	}
	return n == 0 ? 0 : sum / n;
}

static uint64_t get_time(const struct wf_job_group *g)
{
	return (uint64_t)g->took;
}

static uint64_t get_algbw(const struct wf_job_group *g)
{
	return g->algbw;
}

static uint64_t get_busbw(const struct wf_job_group *g)
{
	return g->busbw;
}

static void job_time(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (job_mean(run, get_time) != 0)
		wf_human_time(job_mean(run, get_time), buf, CELL);
}

static void job_algbw(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (job_mean(run, get_algbw) != 0)
		put_gbytes(job_mean(run, get_algbw), buf);
}

static void job_busbw(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (job_mean(run, get_busbw) != 0)
		put_gbytes(job_mean(run, get_busbw), buf);
}

#define JOB_TIME(name, value)                                                                      \
	static void name(const struct wf_scenario *s, const struct wf_run *run, char *buf)         \
	{                                                                                          \
		(void)s;                                                                           \
		if (run->job != NULL)                                                              \
			wf_human_time(value, buf, CELL);                                           \
	}

JOB_TIME(message_p50, wf_hist_quantile(&run->job->latency[1], 500))
JOB_TIME(message_p99, wf_hist_quantile(&run->job->latency[1], 990))
JOB_TIME(message_p999, wf_hist_quantile(&run->job->latency[1], 999))

static void messages(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (run->job != NULL)
		wf_human_count(run->job->messages[1], buf, CELL);
}

static void job_bytes(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (run->job != NULL)
		wf_human_bytes(run->job->bytes[1], buf, CELL);
}

/* ---- a training step ---- */

#define TRAIN_TIME(name, value)                                                                    \
	static void name(const struct wf_scenario *s, const struct wf_run *run, char *buf)         \
	{                                                                                          \
		(void)s;                                                                           \
		if (run->train != NULL && (value) != 0)                                            \
			wf_human_time((uint64_t)(value), buf, CELL);                               \
	}

TRAIN_TIME(train_ideal, run->train->info.ideal)
TRAIN_TIME(train_busy, run->train->result.busy)
TRAIN_TIME(train_bubble, run->train->result.bubble)
TRAIN_TIME(train_tp, run->train->result.exposed[WF_TRAIN_TP])
TRAIN_TIME(train_pp, run->train->result.exposed[WF_TRAIN_PP])
TRAIN_TIME(train_ep, run->train->result.exposed[WF_TRAIN_EP])
TRAIN_TIME(train_dp, run->train->result.exposed[WF_TRAIN_DP])
TRAIN_TIME(train_other, run->train->result.other)

static void train_mfu(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (run->train != NULL)
		snprintf(buf, CELL, "%.1f %%", 100 * run->train->result.mfu);
}

/* Whoever simulates a part of the bytes and operations is told what the whole would take. */
static void train_whole(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	uint64_t scale = s->job.cfg.train.scale;

	if (run->train != NULL && scale != WF_RATIO_ONE)
		wf_human_time((uint64_t)((unsigned __int128)(uint64_t)run->train->result.step *
		                         WF_RATIO_ONE / scale),
		              buf, CELL);
}

static void train_excess(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	if (run->train != NULL && s->job.cfg.train.scale != WF_RATIO_ONE)
		snprintf(buf, CELL, "%.1f %%",
		         (double)run->train->info.scale_excess * 100 / (double)WF_RATIO_ONE);
}

static void train_memory(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (run->job != NULL && run->memory != 0)
		wf_human_bytes(run->memory, buf, CELL);
}

static const struct row rows[] = {
	{ "job time", job_done },
	{ "MFU", train_mfu },
	{ "step time / scale", train_whole },
	{ "  delays add to it, at most", train_excess },
	{ "GPU memory, at least", train_memory },
	{ "step, network takes no time", train_ideal },
	{ "computing, mean of GPUs", train_busy },
	{ "pipeline bubble", train_bubble },
	{ "exposed: tensor parallel", train_tp },
	{ "exposed: pipeline", train_pp },
	{ "exposed: experts", train_ep },
	{ "exposed: data parallel", train_dp },
	{ "exposed: other", train_other },
	{ "collective time, mean", job_time },
	{ "algorithm bandwidth", job_algbw },
	{ "bus bandwidth", job_busbw },
	{ "messages over the fabric", messages },
	{ "bytes over the fabric", job_bytes },
	{ "message latency, p50", message_p50 },
	{ "message latency, p99", message_p99 },
	{ "message latency, p99.9", message_p999 },
	{ "storage", NULL },
	{ "flows done", flows_done },
	{ "completion time", completion },
	{ "goodput, all hosts", goodput },
	{ "goodput of a receiver's line", goodput_share },
	{ "packets sent", sent },
	{ "packets delivered", delivered },
	{ "packets lost", dropped },
	{ NULL, NULL }, /* WF_REPORT_LOSSES */
	{ "drops in lossless classes", lossless_drops },
	{ NULL, NULL }, /* WF_REPORT_QUEUES */
	{ "packets sent again", resent },
	{ "paths migrated", migrated },
	{ "packets still inside", inside },
	{ NULL, NULL }, /* WF_REPORT_PAUSES */
	{ "PFC headroom of a port", headroom },
	{ NULL, NULL }, /* WF_REPORT_CREDITS */
	{ "packet latency, p50", latency_p50 },
	{ "packet latency, p99", latency_p99 },
	{ "packet latency, max", latency_max },
	{ "flow completion, p50", flow_p50 },
	{ "flow completion, p99", flow_p99 },
	{ "flow completion, max", flow_max },
	{ NULL, NULL }, /* WF_REPORT_LONGEST */
	{ "fullest shared buffer", max_switch },
	{ "packet-hops", hops },
	{ "virtual time", end },
};

/* Width on a terminal, as far as that is the number of characters. */
static int width_of(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void pad(FILE *file, const char *text, int width)
{
	fprintf(file, "%*s%s", width > width_of(text) ? width - width_of(text) : 0, "", text);
}

static int column_width(const struct wf_run *run)
{
	int width = width_of(run->fabric->label);
	/* "123.9 KB of 126.7 KB" is the longest cell, where there is one. */
	int least = run->headroom < run->headroom_needed ? HEADROOM_WIDTH : MIN_WIDTH;

	return 2 + (width > least ? width : least);
}

static void print_cells(const struct wf_report *report, const char *name, char cells[][CELL],
                        FILE *file)
{
	bool empty = true;

	for (size_t i = 0; i < report->n; i++)
		empty &= cells[i][0] == '\0';
	if (empty)
		return;
	fprintf(file, "%-*s", NAME_WIDTH, name);
	for (size_t i = 0; i < report->n; i++)
		pad(file, cells[i][0] == '\0' ? "0" : cells[i], column_width(&report->runs[i]));
	fputc('\n', file);
}

static void print_row(const struct wf_report *report, const struct row *row, FILE *file)
{
	char cells[WF_SCENARIO_MAX_FABRICS][CELL];

	for (size_t i = 0; i < report->n; i++) {
		cells[i][0] = '\0';
		row->cell(report->scenario, &report->runs[i], cells[i]);
	}
	print_cells(report, row->name, cells, file);
}

/* A figure of storage as people read it; what has not happened leaves its cell empty. */
static void storage_cell(const struct wf_storage_figure *f, const struct wf_storage_result *r,
                         char *buf)
{
	uint64_t value = f->has(r) ? f->get(r) : 0;

	if (!f->has(r)) {
		if (strcmp(f->name, "time") == 0 && r->wanted > 0)
			snprintf(buf, CELL, "unfinished");
	} else if (f->of != NULL) {
		snprintf(buf, CELL, "%.1f %%", (double)value * 100 / (double)f->of(r));
	} else if (strcmp(f->unit, "ps") == 0) {
		wf_human_time(value, buf, CELL);
	} else if (strcmp(f->unit, "bit/s") == 0) {
		put_gbytes(value / 8, buf);
	} else if (value != 0 || strcmp(f->name, "failed") != 0) {
		wf_human_count(value, buf, CELL);
	}
}

/* A block of rows for each entry, whose name heads the first. */
static void print_storage(const struct wf_report *report, FILE *file)
{
	char cells[WF_SCENARIO_MAX_FABRICS][CELL], name[CELL];

	for (unsigned k = 0; k < report->scenario->n_storage; k++) {
		for (size_t i = 0; i < WF_STORAGE_FIGURES; i++) {
			const struct wf_storage_figure *f = &wf_storage_figures[i];

			if (f->title == NULL)
				continue;
			for (size_t n = 0; n < report->n; n++) {
				cells[n][0] = '\0';
				storage_cell(f, &report->runs[n].storage[k], cells[n]);
			}
			snprintf(name, sizeof(name), "%s%s%s",
			         i == 0 ? wf_storage_name(&report->scenario->storage[k].cfg) : "",
			         i == 0 ? ": " : "  ", f->title);
			print_cells(report, name, cells, file);
		}
	}
}

/* What a fabric cannot have is "-", not 0. What is rare and did not occur leaves its cell empty. */
static void counter_cell(const struct wf_run *run, const struct wf_port_counter *row, char *buf)
{
	uint64_t value = wf_counts_get(&run->total, row);

	buf[0] = '\0';
	if (row->rare && value == 0)
		return;
	if (!wf_counter_is_of(row->of, run->fabric->cfg.flowctl))
		snprintf(buf, CELL, "-");
	else if (strcmp(row->unit, "ps") == 0)
		wf_human_time(value, buf, CELL);
	else if (strcmp(row->unit, "bytes") == 0)
		wf_human_bytes(value, buf, CELL);
	else
		wf_human_count(value, buf, CELL);
}

static void print_counters(const struct wf_report *report, unsigned part, FILE *file)
{
	char cells[WF_SCENARIO_MAX_FABRICS][CELL];

	for (unsigned at = part + 1; at < part + WF_REPORT_PART; at++) {
		for (size_t k = 0; k < WF_PORT_COUNTERS_N; k++) {
			const struct wf_port_counter *row = &wf_port_counters[k];

			if (row->report.at != at)
				continue;
			for (size_t i = 0; i < report->n; i++)
				counter_cell(&report->runs[i], row, cells[i]);
			print_cells(report, row->report.title, cells, file);
		}
	}
}

/* What TCP counted, where there is any, and what it cost. */
static void print_tcp(const struct wf_report *report, FILE *file)
{
	static const struct row loads[] = {
		{ "CPU cores for TCP, mean host", tcp_load_mean },
		{ "CPU cores for TCP, busiest host", tcp_load_max },
		{ "busiest CPU core for TCP", tcp_core_max },
	};
	char cells[WF_SCENARIO_MAX_FABRICS][CELL];

	for (size_t i = 0; i < WF_ARRAY_SIZE(loads); i++)
		print_row(report, &loads[i], file);
	for (size_t k = 0; k < WF_TCP_CTRS; k++) {
		if (wf_tcp_counters[k].title == NULL)
			continue;
		for (size_t i = 0; i < report->n; i++) {
			cells[i][0] = '\0';
			if (has_tcp(&report->runs[i]))
				wf_human_count(report->runs[i].result.tcp.counter[k], cells[i],
				               CELL);
		}
		print_cells(report, wf_tcp_counters[k].title, cells, file);
	}
}

static void sm_up(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (run->managed != NULL && run->managed->up == WF_TIME_NEVER)
		snprintf(buf, CELL, "not up");
	else if (run->managed != NULL && run->managed->up > 0)
		wf_human_time((uint64_t)run->managed->up, buf, CELL);
}

/* Where nobody manages the fabric, routes follow when it was said that they do. */
static void sm_reroute(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	if (run->managed != NULL && run->managed->reroutes > 0)
		wf_human_time((uint64_t)run->managed->reroute_max, buf, CELL);
	else if (run->managed != NULL && run->managed->pending)
		snprintf(buf, CELL, "not yet");
	else if (run->managed == NULL && run->fabric->n_events > 0)
		wf_human_time(
			(uint64_t)wf_fabric_convergence(&run->fabric->values, s->cfg.reconverge),
			buf, CELL);
}

static void sm_packets(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (run->managed != NULL)
		wf_human_count(run->managed->smps, buf, CELL);
}

static void sm_lost(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (run->managed != NULL && run->managed->lost > 0)
		wf_human_count(run->managed->lost, buf, CELL);
}

static void sm_trees(const struct wf_scenario *s, const struct wf_run *run, char *buf)
{
	(void)s;
	if (run->managed == NULL || run->managed->trees.sent == 0)
		return;
	if (run->managed->trees_up == WF_TIME_NEVER)
		snprintf(buf, CELL, "not up");
	else if (run->managed->trees_up > 0)
		wf_human_time((uint64_t)run->managed->trees_up, buf, CELL);
}

/* Of managed fabrics, beside others if there are any. */
static void print_managed(const struct wf_report *report, FILE *file)
{
	static const struct row lines[] = {
		{ "subnet up after", sm_up },
		{ "trees of reductions up after", sm_trees },
		{ "new routes after", sm_reroute },
		{ "management packets, hops", sm_packets },
		{ "management packets lost", sm_lost },
	};
	bool any = false;

	for (size_t i = 0; i < report->n; i++)
		any |= report->runs[i].managed != NULL;
	for (size_t i = 0; any && i < WF_ARRAY_SIZE(lines); i++)
		print_row(report, &lines[i], file);
}

static void print_heading(const struct wf_report *report, FILE *file)
{
	const struct wf_scenario *s = report->scenario;
	char flows[CELL], net[512];

	wf_human_count(s->flows.n, flows, sizeof(flows));
	wf_scenario_net_text(s, true, net, sizeof(net));
	fprintf(file, "%s\n", s->cfg.name[0] != '\0' ? s->cfg.name : s->file);
	fprintf(file, "%s, %u hosts, %s; %s flow%s; seed %" PRIu64 "\n\n", s->topo_cfg.kind,
	        (unsigned)s->n_hosts, net, flows, s->flows.n == 1 ? "" : "s", s->cfg.seed);
	fprintf(file, "%-*s", NAME_WIDTH, "");
	for (size_t i = 0; i < report->n; i++)
		pad(file, report->runs[i].fabric->label, column_width(&report->runs[i]));
	fputc('\n', file);
}

static void print_stuck(const struct wf_run *run, FILE *file)
{
	const struct wf_job_result *j = run->job;
	char at[CELL];

	wf_human_time((uint64_t)run->result.end, at, sizeof(at));
	fprintf(file, "\n%s: %u ranks have not finished at %s", run->fabric->label, j->n_stuck, at);
	if (j->errors > 0)
		fprintf(file, "; %" PRIu64 " work requests failed", j->errors);
	fputc('\n', file);
	for (unsigned i = 0; i < j->n_stuck && i < WF_JOB_STUCK; i++)
		fprintf(file, "  %s\n", j->stuck[i].text);
}

/* Why flows wait whose packets are nowhere: for a timeout, which comes after the end. */
static void print_waits(const struct wf_scenario *s, const struct wf_run *run, FILE *file)
{
	const struct wf_sim_result *r = &run->result;
	char until[CELL], timeout[CELL], passed[CELL];

	if (r->flows_done + r->flows_failed == r->flows || run->stopped || r->end >= s->cfg.until ||
	    r->packets_dropped + r->resent == 0)
		return;
	wf_human_time((uint64_t)s->cfg.until, until, sizeof(until));
	wf_human_time((uint64_t)run->fabric->cfg.sender_timeout, timeout, sizeof(timeout));
	wf_human_count(r->adapters[WF_CTR_LOCAL_ACK_TIMEOUT_ERR], passed, sizeof(passed));
	fprintf(file,
	        "; their senders wait for a timeout to send again what was lost (sender.timeout is "
	        "%s; %s have passed), and run.until, %s, comes before",
	        timeout, passed, until);
}

/* I/Os that came to no good end. */
static void print_open(const struct wf_run *run, FILE *file)
{
	const struct wf_storage_result *all = &run->storage[run->n_storage];
	char at[CELL], open[CELL], failed[CELL];

	if (all->open + all->failed == 0)
		return;
	wf_human_time((uint64_t)run->result.end, at, sizeof(at));
	wf_human_count(all->open, open, sizeof(open));
	wf_human_count(all->failed, failed, sizeof(failed));
	fprintf(file,
	        "\n%s: storage: %s I/Os are under way at %s; %s failed, for their queue "
	        "pairs gave up\n",
	        run->fabric->label, open, at, failed);
}

static void print_unfinished(const struct wf_scenario *s, const struct wf_run *run, FILE *file)
{
	const struct wf_sim_result *r = &run->result;
	char left[CELL], all[CELL], at[CELL], stuck[CELL];

	if (run->job != NULL && !run->job->finished)
		print_stuck(run, file);
	if (run->n_storage > 0)
		print_open(run, file);
	if (r->flows_done == r->flows)
		return;
	wf_human_count(r->flows - r->flows_done, left, sizeof(left));
	wf_human_count(r->flows, all, sizeof(all));
	wf_human_time((uint64_t)r->end, at, sizeof(at));
	wf_human_count(r->packets_inside, stuck, sizeof(stuck));
	fprintf(file, "\n%s: %s of %s flows unfinished at %s: %s packets are stuck in the fabric",
	        run->fabric->label, left, all, at, stuck);
	if (r->flows_failed > 0) {
		wf_human_count(r->flows_failed, left, sizeof(left));
		fprintf(file, "; %s failed, for their queue pairs gave up", left);
	}
	if (r->packets_inside == 0)
		print_waits(s, run, file);
	fputc('\n', file);
}

#define WORSE(a, b)                                                                                \
	if ((a) != (b))                                                                            \
	return (a) > (b) ? -1 : 1

/* Lost packets are worst, then time that was lost, then pauses, marks and queues. */
static int worst_first(const void *pa, const void *pb)
{
	const struct wf_run_port *a = *(const struct wf_run_port *const *)pa;
	const struct wf_run_port *b = *(const struct wf_run_port *const *)pb;
	const struct wf_sim_counts *x = &a->counts, *y = &b->counts;

	WORSE(x->drops, y->drops);
	WORSE(x->paused_ps + x->credit_wait_ps, y->paused_ps + y->credit_wait_ps);
	WORSE(x->pause_tx, y->pause_tx);
	WORSE(x->ecn_marked, y->ecn_marked);
	WORSE(x->max_queue_bytes, y->max_queue_bytes);
	return a < b ? -1 : 1;
}

/* A counter as people read it. */
static void print_cell(const struct wf_counts_cell *cell, FILE *file)
{
	char text[CELL];

	if (strcmp(cell->unit, "ps") == 0)
		wf_human_time(cell->value, text, sizeof(text));
	else if (strcmp(cell->unit, "bytes") == 0)
		wf_human_bytes(cell->value, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%" PRIu64, cell->value);
	fprintf(file, " %*s", cell->width, text);
}

static void print_port(const struct wf_run *run, const struct wf_run_port *p, FILE *file)
{
	const struct wf_topo *topo = run->fabric->net->topo;
	const struct wf_topo_node *node = &topo->nodes[p->node];
	struct wf_counts_cell cell;
	char name[CELL];

	snprintf(name, sizeof(name), "%s:%u", node->name, p->port);
	fprintf(file, "%-20s %-16s %5u", name,
	        topo->nodes[topo->ports[node->first_port + p->port].peer].name,
	        run->result.queue_id[p->queue]);
	for (unsigned at = 1; wf_counts_cell(&p->counts, WF_COUNTS_PORTS, at, &cell); at++)
		print_cell(&cell, file);
	fputc('\n', file);
}

static void print_ports(const struct wf_run *run, FILE *file)
{
	const struct wf_run_port **sorted = calloc(run->n_ports + 1, sizeof(struct wf_run_port *));
	struct wf_counts_cell cell;

	fprintf(file, "\n%s: ports with losses, pauses, waits or marks%s\n", run->fabric->label,
	        run->n_ports == 0 ? ": none" : ", the worst first:");
	if (run->n_ports == 0) {
		free(sorted);
		return;
	}
	fprintf(file, "%-20s %-16s %5s", "port", "to", "class");
	for (unsigned at = 1; wf_counts_cell(NULL, WF_COUNTS_PORTS, at, &cell); at++)
		fprintf(file, " %*s", cell.width, cell.title);
	fputc('\n', file);
	for (size_t i = 0; i < run->n_ports && sorted != NULL; i++)
		sorted[i] = &run->ports[i];
	if (sorted != NULL)
		qsort(sorted, run->n_ports, sizeof(*sorted), worst_first);
	for (size_t i = 0; i < run->n_ports; i++)
		print_port(run, sorted != NULL ? sorted[i] : &run->ports[i], file);
	free(sorted);
}

/* Words, broken at blanks so that a terminal shows them whole. */
static void print_wrapped(const char *text, const char *indent, FILE *file)
{
	int column = width_of(indent);

	fputs(indent, file);
	while (*text != '\0') {
		int len = (int)strcspn(text, " ");

		if (column + 1 + len > NOTE_WIDTH && column > width_of(indent)) {
			fprintf(file, "\n%*s", width_of(indent), "");
			column = width_of(indent);
		} else if (column > width_of(indent)) {
			fputc(' ', file);
			column++;
		}
		fprintf(file, "%.*s", len, text);
		column += len;
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', file);
}

/* The circle, queue by queue. */
static void print_circle(const struct wf_run *run, const struct wf_deadlock *d, FILE *file)
{
	char text[LINK_TEXT];

	for (uint32_t i = 0; i < d->n; i++) {
		wf_note_deadlock_link(run, d, i, text, sizeof(text));
		print_wrapped(text, "      - ", file);
	}
}

static void print_notes(const struct wf_run *run, FILE *file)
{
	uint32_t deadlock = 0;

	if (run->notes.n == 0)
		return;
	fprintf(file, "\n%s:\n", run->fabric->label);
	for (unsigned i = 0; i < run->notes.n; i++) {
		print_wrapped(run->notes.note[i].text, "  * ", file);
		if (strcmp(run->notes.note[i].rule, "deadlock") == 0 &&
		    deadlock < run->n_deadlocks && deadlock < WF_NOTE_DEADLOCKS)
			print_circle(run, &run->deadlocks[deadlock++], file);
	}
}

void wf_report_table(const struct wf_report *report, FILE *file)
{
	unsigned part = WF_REPORT_LOSSES;

	print_heading(report, file);
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		if (rows[i].name != NULL && rows[i].cell == NULL) {
			print_storage(report, file);
		} else if (rows[i].name != NULL) {
			print_row(report, &rows[i], file);
		} else {
			print_counters(report, part, file);
			part += WF_REPORT_PART;
		}
	}
	assert(part == WF_REPORT_END);
	print_tcp(report, file);
	print_managed(report, file);
	for (size_t i = 0; i < report->n; i++)
		print_unfinished(report->scenario, &report->runs[i], file);
	for (size_t i = 0; i < report->n; i++)
		print_notes(&report->runs[i], file);
	for (size_t i = 0; report->ports && i < report->n; i++)
		print_ports(&report->runs[i], file);
}
