/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_run.c - what one fabric does with one seed: latency, sizes, job.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "study/compare_priv.h"
#include "study/perf.h"
#include "results/record_find.h"

#define SMALL_WRITE 8
#define SMALL_ITERS 100
#define KEY 64

/* ---- the latency ---- */

static int measure_latency(const struct wf_scenario *s, const struct wf_scenario_fabric *fabric,
                           struct wf_metrics *m, struct wf_err *err)
{
	const struct wf_perf_cfg cfg = {
		.op = WF_PERF_WRITE,
		.client = 0,
		.server = s->n_hosts - 1,
		.size = SMALL_WRITE,
		.iters = SMALL_ITERS,
		.qps = 1,
		.depth = 1,
		.cls = s->job.given ? (uint8_t)s->job.cfg.net.cls : 3,
		.cc = &fabric->values.cc,
	};
	struct wf_perf_row row;
	int rc;

	/* Where messages go over sockets nobody writes so. */
	if (s->n_hosts < 2 || strcmp(fabric->cfg.nic_stack, "sockets") == 0)
		return 0;
	rc = wf_perf_one(fabric->net->topo, &fabric->cfg, s->cfg.seed, &cfg, &row, err);
	if (rc == 0)
		m->value[WF_METRIC_LATENCY] = (double)row.latency.typical;
	return rc;
}

/* ---- the network ---- */

static double middle(const struct wf_bill_range *range)
{
	return range->high == 0 ? (double)NAN : (double)(range->low + range->high) / 2;
}

static void take_bill(const struct wf_bill *bill, struct wf_metrics *m)
{
	m->value[WF_METRIC_SWITCHES] = (double)bill->switches;
	m->value[WF_METRIC_SWITCH_PORTS] = bill->ports == 0 ? (double)NAN : (double)bill->ports;
	m->value[WF_METRIC_TIERS] = (double)bill->tiers;
	m->value[WF_METRIC_OPTICS] = bill->media_known ? (double)bill->transceivers : (double)NAN;
	m->value[WF_METRIC_POWER] = middle(&bill->watts);
	m->value[WF_METRIC_COST] = middle(&bill->dollars);
}

/* ---- the sizes ---- */

/* The scenario with a collective in place of its job. */
static void make_point(const struct wf_scenario *s, uint64_t size, struct wf_scenario *point)
{
	*point = *s;
	snprintf(point->job.cfg.kind, sizeof(point->job.cfg.kind), "%s", s->cfg.compare_collective);
	snprintf(point->job.cfg.algorithm, sizeof(point->job.cfg.algorithm), "auto");
	point->job.cfg.bytes = size;
	point->job.cfg.iterations = 1;
	point->n_faults = 0;
}

static void take_point(const struct wf_run *run, struct wf_compare_point *p)
{
	const struct wf_job_group *g = run->job_groups;

	p->time = -1;
	if (run->job == NULL || !run->job->finished || run->job->n_groups == 0)
		return;
	p->time = g->took;
	p->algbw = (double)g->algbw;
	p->busbw = (double)g->busbw;
}

int wf_compare_simulate(const struct wf_compare_cfg *cfg, const struct wf_scenario *s,
                        unsigned fabric, size_t task, const struct wf_record_opts *record,
                        struct wf_run *run, struct wf_err *err)
{
	struct wf_watch_task step = { cfg->watch, task };
	struct wf_run_opts opts = { .threads = 1, .progress = wf_watch_step, .arg = &step };
	int rc;

	if (record != NULL)
		opts.record = *record;
	rc = wf_run_fabric(s, fabric, &opts, run, err);
	if (rc == 0 && run->stopped)
		rc = -EINTR;
	return rc;
}

static int run_point(const struct wf_compare_cfg *cfg, const struct wf_scenario *s, unsigned fabric,
                     uint64_t size, size_t task, struct wf_compare_point *p, struct wf_err *err)
{
	struct wf_scenario *point = malloc(sizeof(*point));
	struct wf_run *run = calloc(1, sizeof(*run));
	int rc = point == NULL || run == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		make_point(s, size, point);
		rc = wf_compare_simulate(cfg, point, fabric, task, NULL, run, err);
	}
	if (rc == 0)
		take_point(run, p);
	if (run != NULL)
		wf_run_fini(run);
	free(run);
	free(point);
	return rc;
}

/* The figures that come from the sizes. */
static void take_sizes(const struct wf_compare *r, struct wf_compare_run *run)
{
	double *v = run->metrics.value;
	unsigned least = 0, most = 0, middle = 0;

	for (unsigned i = 1; i < r->n_sizes; i++) {
		least = r->size[i] < r->size[least] ? i : least;
		most = r->size[i] > r->size[most] ? i : most;
		if (r->size[i] <= WF_COMPARE_MIDDLE &&
		    (r->size[i] > r->size[middle] || r->size[middle] > WF_COMPARE_MIDDLE))
			middle = i;
	}
	if (r->n_sizes == 0)
		return;
	if (run->point[least].time >= 0 && least != most)
		v[WF_METRIC_COLL_SMALL] = (double)run->point[least].time;
	if (run->point[middle].time >= 0 && middle != least && middle != most)
		v[WF_METRIC_COLL_MIDDLE] = (double)run->point[middle].time;
	if (run->point[most].time >= 0) {
		v[WF_METRIC_COLL_LARGE] = (double)run->point[most].time;
		v[WF_METRIC_BUSBW_LARGE] = run->point[most].busbw;
	}
}

/* ---- the job ---- */

static void take_counts(const struct wf_run *run, struct wf_metrics *m)
{
	const char *flowctl = run->fabric->cfg.flowctl;
	bool pfc = strcmp(flowctl, "pfc") == 0, credit = strcmp(flowctl, "credit") == 0;
	const struct {
		enum wf_metric which;
		uint64_t value;
		bool is; /* the fabric can have it */
	} row[] = {
		{ WF_METRIC_PAUSES, run->total.pause_tx, pfc },
		{ WF_METRIC_PAUSED_TIME, run->total.paused_ps, pfc },
		{ WF_METRIC_ECN_MARKS, run->total.ecn_marked, true },
		{ WF_METRIC_CNPS, run->result.adapters[WF_CTR_NP_CNP_SENT], true },
		{ WF_METRIC_CREDIT_WAITS, run->total.credit_waits, credit },
		{ WF_METRIC_CREDIT_TIME, run->total.credit_wait_ps, credit },
		{ WF_METRIC_LOSSLESS_DROPS, run->lossless_drops, pfc || credit },
		{ WF_METRIC_DROPS, run->total.drops_congestion, true },
		{ WF_METRIC_LINK_ERRORS, run->total.drops_error, true },
		{ WF_METRIC_LINK_DOWN, run->total.drops_down, true },
		{ WF_METRIC_RESENT, run->result.resent, true },
	};

	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		if (row[i].is)
			m->value[row[i].which] = (double)row[i].value;
	}
}

/* Of all storage together. */
static void take_storage(const struct wf_run *run, double *v)
{
	const struct wf_storage_result *r = &run->storage[run->n_storage];
	const struct wf_hist *read = &r->latency[WF_STORAGE_READ];
	const struct wf_hist *write = &r->latency[WF_STORAGE_WRITE];

	if (r->longest > 0)
		v[WF_METRIC_STORAGE_TIME] = (double)r->longest;
	if (read->n > 0)
		v[WF_METRIC_STORAGE_READ_P99] = (double)wf_hist_quantile(read, 990);
	if (write->n > 0)
		v[WF_METRIC_STORAGE_WRITE_P99] = (double)wf_hist_quantile(write, 990);
	v[WF_METRIC_STORAGE_FAILED] = (double)r->failed;
}

static void take_train(const struct wf_run_train *train, double *v)
{
	v[WF_METRIC_STEP_TIME] = (double)train->result.step / train->scale;
	v[WF_METRIC_EXPOSED] = (double)train->exposed / train->scale;
	v[WF_METRIC_MFU] = train->result.mfu;
}

/* Storage alone: its job is to bring all bytes to their place; whether there is one. */
static bool take_bulk(const struct wf_run *run, double *v)
{
	wf_time took = run->storage[run->n_storage].longest;

	if (took > 0 && run->result.finished)
		v[WF_METRIC_JOB_TIME] = (double)took;
	return took > 0 && run->result.finished;
}

void wf_compare_take_job(const struct wf_run *run, struct wf_metrics *metrics, bool *finished)
{
	const struct wf_job_result *job = run->job;
	double *v = metrics->value;
	const struct wf_hist *latency = job != NULL ? &job->latency[1] : &run->result.flow_time;

	*finished = job != NULL ? job->finished : run->completion >= 0;
	if (run->n_storage > 0)
		take_storage(run, v);
	if (run->train != NULL)
		take_train(run->train, v);
	else if (job == NULL && run->result.flows == 0 && run->n_storage > 0)
		*finished = take_bulk(run, v);
	else if (*finished)
		v[WF_METRIC_JOB_TIME] = (double)(job != NULL ? job->end : run->completion);
	if (latency->n > 0) {
		v[WF_METRIC_MSG_P50] = (double)wf_hist_quantile(latency, 500);
		v[WF_METRIC_MSG_P99] = (double)wf_hist_quantile(latency, 990);
		v[WF_METRIC_MSG_P999] = (double)wf_hist_quantile(latency, 999);
	}
	take_counts(run, metrics);
}

static void take_run(const struct wf_run *run, struct wf_compare_run *out)
{
	wf_compare_take_job(run, &out->metrics, &out->finished);
	out->notes = run->notes;
	if (!out->finished && run->job != NULL && run->job->n_stuck > 0)
		out->stuck = run->job->stuck[0];
}

/* ---- the results file ---- */

/* Rows of a run that are the comparison's, not the simulation's. */
struct more {
	const struct wf_compare *result;
	struct wf_compare_run *out;
	const struct wf_run *run;
};

/* What is read back goes there. */
struct restored {
	const struct wf_compare *result;
	struct wf_compare_run *run;
};

static const char *metric_key(enum wf_metric which, char key[KEY])
{
	snprintf(key, KEY, "compare.%s", wf_metric_rows[which].key);
	return key;
}

static void record_more(void *arg, struct wf_record_run *run)
{
	const struct more *more = arg;
	const struct wf_compare *r = more->result;
	char key[KEY];

	take_run(more->run, more->out);
	for (unsigned i = 0; i < WF_METRICS; i++) {
		const struct wf_metric_row *row = &wf_metric_rows[i];
		double v = more->out->metrics.value[i];
		const char *unit = wf_metric_unit_name(row->unit);

		if (isnan(v))
			continue;
		wf_record_real(run, metric_key(i, key), v, unit);
		/* Steps, latencies and counts are recorded with the run itself. */
		if (i < WF_METRIC_STEP_TIME)
			wf_record_real(run, row->key, v, unit);
	}
	for (unsigned i = 0; i < r->n_sizes; i++) {
		const struct wf_compare_point *p = &more->out->point[i];
		const struct wf_record_bandwidth point = {
			.collective = r->scenario->cfg.compare_collective,
			.algorithm = "auto",
			.ranks = r->ranks,
			.bytes = r->size[i],
			.time = p->time,
			.algbw = p->algbw,
			.busbw = p->busbw,
		};

		if (p->time >= 0)
			wf_record_bandwidth(run, &point);
	}
	if (more->out->stuck.text[0] != '\0')
		wf_record_note(run, "stuck", NULL, more->out->stuck.text);
	wf_record_value(run, "compare.finished", more->out->finished, "");
}

static void restore_point(void *arg, const struct wf_record_bandwidth *point)
{
	const struct restored *to = arg;

	for (unsigned i = 0; i < to->result->n_sizes; i++) {
		if (to->result->size[i] == point->bytes)
			to->run->point[i] = (struct wf_compare_point){ point->time, point->algbw,
				                                       point->busbw };
	}
}

static void restore_note(void *arg, const char *kind, const char *rule, const char *text)
{
	const struct restored *to = arg;
	struct wf_notes *notes = &to->run->notes;
	struct wf_note_rule known;

	if (strcmp(kind, "stuck") == 0)
		(void)wf_err_say(&to->run->stuck, "%s", text);
	for (size_t i = 0; rule != NULL && wf_notes_rule(i, &known); i++) {
		if (strcmp(known.name, rule) != 0 || notes->n == WF_NOTES_MAX)
			continue;
		notes->note[notes->n].rule = known.name;
		snprintf(notes->note[notes->n++].text, WF_NOTE_TEXT, "%s", text);
	}
}

/* Takes a run from the results file. False: it has none that is whole. */
static bool restore(struct wf_record *record, const struct wf_compare *r,
                    struct wf_compare_run *run)
{
	struct restored to = { r, run };
	char key[KEY], unit[KEY];
	int64_t id = run->recorded;
	double v;

	if (record == NULL || id < 0 ||
	    !wf_record_read(record, id, "compare.finished", &v, unit, sizeof(unit)))
		return false;
	run->finished = v != 0;
	for (unsigned i = 0; i < WF_METRICS; i++) {
		if (wf_record_read(record, id, metric_key(i, key), &v, unit, sizeof(unit)))
			run->metrics.value[i] = v;
	}
	wf_record_read_bandwidth(record, id, restore_point, &to);
	wf_record_read_notes(record, id, restore_note, &to);
	return true;
}

/* ---- all of it ---- */

static int run_job(const struct wf_compare_cfg *cfg, const struct wf_compare *r,
                   const struct wf_scenario *s, unsigned fabric, bool first, size_t task,
                   struct wf_compare_run *out, struct wf_err *err)
{
	struct wf_run *run = calloc(1, sizeof(*run));
	struct more more = { r, out, run };
	struct wf_record_opts record = cfg->record;
	int rc;

	if (run == NULL)
		return -ENOMEM;
	record.more = record_more;
	record.arg = &more;
	record.brief = !first;
	rc = wf_compare_simulate(cfg, s, fabric, task, &record, run, err);
	if (rc == 0)
		take_run(run, out);
	wf_run_fini(run);
	free(run);
	return rc;
}

int wf_compare_run(const struct wf_compare_cfg *cfg, const struct wf_compare *r, unsigned fabric,
                   bool first, size_t task, struct wf_compare_run *run, struct wf_err *err)
{
	struct wf_scenario seeded;
	int rc;

	wf_metrics_init(&run->metrics);
	take_bill(&r->scenario->fabrics[fabric].bill, &run->metrics);
	for (unsigned i = 0; i < r->n_sizes; i++)
		run->point[i].time = -1;
	if (restore(cfg->record.record, r, run))
		return 0;
	rc = wf_scenario_reseed(r->scenario, run->seed, &seeded, err);
	if (rc != 0)
		return rc;
	rc = measure_latency(&seeded, &seeded.fabrics[fabric], &run->metrics, err);
	for (unsigned i = 0; rc == 0 && i < r->n_sizes; i++)
		rc = run_point(cfg, &seeded, fabric, r->size[i], task, &run->point[i], err);
	if (rc == 0) {
		take_sizes(r, run);
		rc = run_job(cfg, r, &seeded, fabric, first, task, run, err);
	}
	wf_scenario_reseed_fini(&seeded);
	return rc;
}
