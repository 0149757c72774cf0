/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - plans the simulations of a comparison, runs them and takes their figures.
 */
#include "lab/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/perf.h"
#include "lab/pool.h"
#include "lab/run.h"

#define SMALL_WRITE 8
#define SMALL_ITERS 100

/* Tasks are numbered: for each fabric its latency and its sizes, the largest first; then the jobs. */
struct work {
	const struct wf_compare_cfg *cfg;
	struct wf_compare *result;
	unsigned per_fabric; /* tasks before the jobs */
	size_t first_job;
};

static enum wf_family family_of(const struct wf_fabric_cfg *cfg)
{
	if (strcmp(cfg->link_layer, "infiniband") == 0)
		return WF_FAMILY_INFINIBAND;
	if (strcmp(cfg->nic_stack, "tcp") == 0)
		return WF_FAMILY_TCP;
	return strcmp(cfg->flowctl, "none") == 0 ? WF_FAMILY_LOSSY : WF_FAMILY_ROCE;
}

/* ---- the latency ---- */

static int measure_latency(const struct wf_scenario *s, struct wf_compare_fabric *f,
                           struct wf_err *err)
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
		.cc = &f->fabric->values.cc,
	};
	struct wf_perf_row row;
	int rc;

	if (s->n_hosts < 2)
		return 0;
	rc = wf_perf_one(f->fabric->net->topo, &f->fabric->cfg, s->cfg.seed, &cfg, &row, err);
	if (rc == 0)
		f->judged.metrics.value[WF_METRIC_LATENCY] = (double)row.latency.typical;
	return rc;
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
		{ WF_METRIC_DROPS, run->result.packets_dropped, true },
		{ WF_METRIC_RESENT, run->result.resent, true },
	};

	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		if (row[i].is)
			m->value[row[i].which] = (double)row[i].value;
	}
}

static void take_train(const struct wf_run_train *train, double *v)
{
	v[WF_METRIC_STEP_TIME] = (double)train->result.step / train->scale;
	v[WF_METRIC_EXPOSED] = (double)train->exposed / train->scale;
	v[WF_METRIC_MFU] = train->result.mfu;
}

static void take_job(const struct wf_run *run, struct wf_compare_fabric *f)
{
	const struct wf_job_result *job = run->job;
	double *v = f->judged.metrics.value;
	const struct wf_hist *latency = job != NULL ? &job->latency[1] : &run->result.flow_time;

	f->notes = run->notes;
	f->judged.finished = job != NULL ? job->finished : run->completion >= 0;
	if (run->train != NULL)
		take_train(run->train, v);
	else if (f->judged.finished)
		v[WF_METRIC_JOB_TIME] = (double)(job != NULL ? job->end : run->completion);
	else if (job != NULL && job->n_stuck > 0)
		f->stuck = job->stuck[0];
	if (latency->n > 0) {
		v[WF_METRIC_MSG_P50] = (double)wf_hist_quantile(latency, 500);
		v[WF_METRIC_MSG_P99] = (double)wf_hist_quantile(latency, 990);
		v[WF_METRIC_MSG_P999] = (double)wf_hist_quantile(latency, 999);
	}
	take_counts(run, &f->judged.metrics);
}

/* Rows of a run that are the comparison's, not the simulation's. */
struct more {
	const struct wf_compare *result;
	struct wf_compare_fabric *fabric;
	const struct wf_run *run;
};

static void record_more(void *arg, struct wf_record_run *run)
{
	const struct more *more = arg;
	const struct wf_compare *r = more->result;
	const struct wf_metrics *m = &more->fabric->judged.metrics;

	take_job(more->run, more->fabric);
	/* Steps, latencies and counts are recorded with the run itself. */
	for (unsigned i = 0; i < WF_METRIC_STEP_TIME; i++) {
		const struct wf_metric_row *row = &wf_metric_rows[i];

		if (wf_metric_has(m, i))
			wf_record_real(run, row->key, m->value[i], wf_metric_unit_name(row->unit));
	}
	for (unsigned i = 0; i < r->n_sizes; i++) {
		const struct wf_compare_point *p = &more->fabric->point[i];
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
}

/* ---- running ---- */

static int run_scenario(struct work *w, const struct wf_scenario *s, unsigned fabric, size_t task,
                        const struct wf_record_opts *record, struct wf_run *run, struct wf_err *err)
{
	struct wf_watch_task step = { w->cfg->watch, task };
	struct wf_run_opts opts = { .threads = 1, .progress = wf_watch_step, .arg = &step };
	int rc;

	if (record != NULL)
		opts.record = *record;
	rc = wf_run_fabric(s, fabric, &opts, run, err);
	if (rc == 0 && run->stopped)
		rc = -EINTR;
	return rc;
}

static int run_point(struct work *w, unsigned fabric, unsigned size, size_t task,
                     struct wf_err *err)
{
	struct wf_compare_fabric *f = &w->result->fabric[fabric];
	struct wf_scenario *s = malloc(sizeof(*s));
	struct wf_run *run = calloc(1, sizeof(*run));
	int rc = s == NULL || run == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		make_point(w->cfg->scenario, w->result->size[size], s);
		rc = run_scenario(w, s, fabric, task, NULL, run, err);
	}
	if (rc == 0)
		take_point(run, &f->point[size]);
	if (run != NULL)
		wf_run_fini(run);
	free(run);
	free(s);
	return rc;
}

/* The figures that come from the sizes. */
static void take_sizes(const struct wf_compare *r, struct wf_compare_fabric *f)
{
	double *v = f->judged.metrics.value;
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
	if (f->point[least].time >= 0)
		v[WF_METRIC_COLL_SMALL] = (double)f->point[least].time;
	if (f->point[middle].time >= 0 && middle != least && middle != most)
		v[WF_METRIC_COLL_MIDDLE] = (double)f->point[middle].time;
	if (f->point[most].time >= 0) {
		v[WF_METRIC_COLL_LARGE] = (double)f->point[most].time;
		v[WF_METRIC_BUSBW_LARGE] = f->point[most].busbw;
	}
}

static int run_job(struct work *w, unsigned fabric, size_t task, struct wf_err *err)
{
	struct wf_compare_fabric *f = &w->result->fabric[fabric];
	struct wf_run *run = calloc(1, sizeof(*run));
	struct more more = { w->result, f, run };
	struct wf_record_opts record = w->cfg->record;
	int rc;

	if (run == NULL)
		return -ENOMEM;
	record.more = record_more;
	record.arg = &more;
	rc = run_scenario(w, w->cfg->scenario, fabric, task, &record, run, err);
	if (rc == 0)
		take_job(run, f);
	wf_run_fini(run);
	free(run);
	return rc;
}

/* One task; those of a fabric before its job. */
static int do_task(void *arg, size_t task, struct wf_err *err)
{
	struct work *w = arg;
	const struct wf_watch *watch = w->cfg->watch;
	unsigned fabric = (unsigned)(task / w->per_fabric), part = (unsigned)(task % w->per_fabric);
	int rc;

	watch->begin(watch->arg, task, w->result->fabric[fabric].judged.label);
	/* The largest size takes longest, and begins first. */
	rc = part < w->result->n_sizes
	             ? run_point(w, fabric, w->result->n_sizes - 1 - part, task, err)
	             : measure_latency(w->cfg->scenario, &w->result->fabric[fabric], err);
	watch->end(watch->arg, task);
	return rc;
}

static int do_job(void *arg, size_t fabric, struct wf_err *err)
{
	struct work *w = arg;
	const struct wf_watch *watch = w->cfg->watch;
	size_t task = w->first_job + fabric;
	int rc;

	watch->begin(watch->arg, task, w->result->fabric[fabric].judged.label);
	rc = run_job(w, (unsigned)fabric, task, err);
	watch->end(watch->arg, task);
	return rc;
}

/* ---- all of it ---- */

static int read_sizes(const struct wf_scenario *s, struct wf_compare *r, struct wf_err *err)
{
	struct wf_perf_plan plan = { .n_sizes = 0 };
	struct wf_err why = { "" };
	struct wf_cluster cluster;

	if (!s->job.given || strcmp(s->cfg.compare_sizes, "none") == 0)
		return 0;
	if (wf_coll_kind_find(s->cfg.compare_collective) == WF_COLL_KINDS) {
		(void)wf_err_say(&why, "compare.collective: there is no collective '%s'",
		                 s->cfg.compare_collective);
		return wf_settings_err(&s->settings, &s->job.place, &why, err);
	}
	if (wf_perf_sizes_parse(s->cfg.compare_sizes, &plan, &why) != 0) {
		struct wf_err named = { "" };

		(void)wf_err_say(&named, "compare.sizes: %.200s", why.text);
		return wf_settings_err(&s->settings, &s->job.place, &named, err);
	}
	if (wf_job_cluster(&s->job.cfg, s->n_hosts, &cluster, &why) != 0)
		return wf_settings_err(&s->job.settings, &s->job.place, &why, err);
	r->ranks = cluster.n_ranks;
	r->n_sizes = plan.n_sizes;
	memcpy(r->size, plan.sizes, plan.n_sizes * sizeof(plan.sizes[0]));
	return 0;
}

static int record_verdict(struct wf_record *record, const struct wf_verdict *v, struct wf_err *err)
{
	int rc = 0;

	if (record == NULL)
		return 0;
	rc = wf_record_study_note(record, "verdict", v->text, err);
	for (unsigned i = 0; rc == 0 && i < v->n_reasons; i++)
		rc = wf_record_study_note(record, "reason", v->reason[i], err);
	return rc;
}

static void judge(struct wf_compare *r, unsigned matters)
{
	struct wf_verdict_fabric judged[WF_SCENARIO_MAX_FABRICS];

	for (unsigned i = 0; i < r->n; i++)
		judged[i] = r->fabric[i].judged;
	wf_verdict(judged, r->n, matters, &r->verdict);
}

int wf_compare(const struct wf_compare_cfg *cfg, struct wf_compare *result, struct wf_err *err)
{
	const struct wf_scenario *s = cfg->scenario;
	struct work w = { .cfg = cfg, .result = result };
	struct wf_err why = { "" };
	unsigned matters;
	int rc;

	memset(result, 0, sizeof(*result));
	result->scenario = s;
	result->n = s->n_fabrics;
	if (wf_matters_parse(s->cfg.matters, &matters, &why) != 0) {
		struct wf_err named = { "" };

		(void)wf_err_say(&named, "matters: %.200s", why.text);
		return wf_settings_err(&s->settings, &s->topo_place, &named, err);
	}
	rc = read_sizes(s, result, err);
	if (rc != 0)
		return rc;
	for (unsigned i = 0; i < result->n; i++) {
		struct wf_compare_fabric *f = &result->fabric[i];

		f->fabric = &s->fabrics[i];
		f->judged.label = s->fabrics[i].label;
		f->judged.family = family_of(&s->fabrics[i].cfg);
		wf_metrics_init(&f->judged.metrics);
	}
	w.per_fabric = result->n_sizes + 1;
	w.first_job = (size_t)w.per_fabric * result->n;
	cfg->watch->tasks(cfg->watch->arg, w.first_job + result->n);
	rc = wf_pool_run(w.first_job, cfg->at_once, do_task, &w, err);
	for (unsigned i = 0; rc == 0 && i < result->n; i++)
		take_sizes(result, &result->fabric[i]);
	if (rc == 0)
		rc = wf_pool_run(result->n, cfg->at_once, do_job, &w, err);
	if (rc != 0)
		return rc;
	judge(result, matters);
	return record_verdict(cfg->record.record, &result->verdict, err);
}
