/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - plans the simulations of a comparison, runs them and judges their figures.
 */
#include "study/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "study/compare_priv.h"
#include "study/perf.h"
#include "run/pool.h"
#include "results/record_find.h"

#define CELL 64

struct work {
	const struct wf_compare_cfg *cfg;
	struct wf_compare *result;
	enum wf_metric decides;
	size_t first_cure; /* task of it */
	struct {
		unsigned fabric, cure, place;
	} cures[WF_SCENARIO_MAX_FABRICS * WF_VERDICT_CURES];
	size_t n_cures;
};

static enum wf_family family_of(const struct wf_fabric_cfg *cfg)
{
	if (strcmp(cfg->link_layer, "infiniband") == 0)
		return WF_FAMILY_INFINIBAND;
	if (strcmp(cfg->nic_stack, "rdma") != 0)
		return WF_FAMILY_TCP;
	return strcmp(cfg->flowctl, "none") == 0 ? WF_FAMILY_LOSSY : WF_FAMILY_ROCE;
}

/* ---- over the seeds ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Median (the lower one of two), least and most of what the seeds have; NAN: none has it. */
static void spread_of(double *v, unsigned n, double *median, double *low, double *high)
{
	*median = *low = *high = (double)NAN;
	if (n == 0)
		return;
	qsort(v, n, sizeof(*v), by_value);
	*median = v[(n - 1) / 2];
	*low = v[0];
	*high = v[n - 1];
}

static void take_range(const struct wf_bill_range *range, enum wf_metric which,
                       struct wf_verdict_fabric *out)
{
	if (range->high == 0)
		return;
	out->low.value[which] = (double)range->low;
	out->high.value[which] = (double)range->high;
}

/* The figures of a fabric from n of its seeds, beginning with number first. */
static void summarise(const struct wf_compare_fabric *f, unsigned first, unsigned n,
                      struct wf_verdict_fabric *out)
{
	out->seeds = n;
	out->finished = true;
	for (unsigned s = first; s < first + n; s++)
		out->finished &= f->run[s].finished;
	for (unsigned m = 0; m < WF_METRICS; m++) {
		double v[WF_SCENARIO_MAX_SEEDS];
		unsigned k = 0;

		for (unsigned s = first; s < first + n; s++) {
			if (wf_metric_has(&f->run[s].metrics, m))
				v[k++] = f->run[s].metrics.value[m];
		}
		spread_of(v, k, &out->metrics.value[m], &out->low.value[m], &out->high.value[m]);
	}
	/* These have no seeds, but a range of their own. */
	take_range(&f->fabric->bill.watts, WF_METRIC_POWER, out);
	take_range(&f->fabric->bill.dollars, WF_METRIC_COST, out);
}

/* Which run has the median of what decides; one that did not finish, where there is one. */
static unsigned median_run(const struct wf_compare *r, const struct wf_compare_fabric *f,
                           enum wf_metric decides)
{
	for (unsigned s = 0; s < r->seeds; s++) {
		if (!f->run[s].finished)
			return s;
	}
	for (unsigned s = 0; s < r->seeds; s++) {
		if (f->run[s].metrics.value[decides] == f->judged.metrics.value[decides])
			return s;
	}
	return 0;
}

static void median_points(const struct wf_compare *r, struct wf_compare_fabric *f)
{
	for (unsigned k = 0; k < r->n_sizes; k++) {
		double time[WF_SCENARIO_MAX_SEEDS], low, high, median;
		unsigned n = 0;

		for (unsigned s = 0; s < r->seeds; s++) {
			if (f->run[s].point[k].time >= 0)
				time[n++] = (double)f->run[s].point[k].time;
		}
		spread_of(time, n, &median, &low, &high);
		f->point[k].time = -1;
		for (unsigned s = 0; n == r->seeds && s < r->seeds; s++) {
			if ((double)f->run[s].point[k].time == median)
				f->point[k] = f->run[s].point[k];
		}
	}
}

/* ---- columns that do not differ ---- */

/* A figure reads the same, or is one that the other cannot have and that is 0. */
static bool reads_same(enum wf_metric which, double a, double b)
{
	char x[CELL], y[CELL];

	if ((isnan(a) && b == 0) || (isnan(b) && a == 0))
		return true;
	wf_metric_format(which, a, x, sizeof(x));
	wf_metric_format(which, b, y, sizeof(y));
	return strcmp(x, y) == 0;
}

static bool same_column(const struct wf_compare *r, unsigned i, unsigned k)
{
	const struct wf_verdict_fabric *a = &r->fabric[i].judged, *b = &r->fabric[k].judged;

	if (a->finished != b->finished)
		return false;
	for (unsigned m = 0; m < WF_METRICS; m++) {
		if (!reads_same(m, a->metrics.value[m], b->metrics.value[m]) ||
		    !reads_same(m, a->low.value[m], b->low.value[m]) ||
		    !reads_same(m, a->high.value[m], b->high.value[m]))
			return false;
	}
	for (unsigned s = 0; s < r->n_sizes; s++) {
		if (!reads_same(WF_METRIC_COLL_LARGE, (double)r->fabric[i].point[s].time,
		                (double)r->fabric[k].point[s].time))
			return false;
	}
	return true;
}

static void fold(struct wf_compare *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		r->fabric[i].same_as = -1;
		for (unsigned k = 0; k < i && r->fabric[i].same_as < 0; k++) {
			if (r->fabric[k].same_as < 0 && same_column(r, i, k))
				r->fabric[i].same_as = (int)k;
		}
		r->fabric[i].judged.folded = r->fabric[i].same_as >= 0;
	}
}

/* ---- running ---- */

/* All fabrics with the first seed, then all with the next. */
static int do_run(void *arg, size_t task, struct wf_err *err)
{
	struct work *w = arg;
	const struct wf_watch *watch = w->cfg->watch;
	unsigned fabric = (unsigned)(task % w->result->n), seed = (unsigned)(task / w->result->n);
	int rc;

	watch->begin(watch->arg, task, w->result->fabric[fabric].judged.label);
	rc = wf_compare_run(w->cfg, w->result, fabric, seed == 0, task,
	                    &w->result->fabric[fabric].run[seed], err);
	watch->end(watch->arg, task);
	return rc;
}

static int do_cure(void *arg, size_t task, struct wf_err *err)
{
	struct work *w = arg;
	const struct wf_watch *watch = w->cfg->watch;
	struct wf_verdict_fabric *f = &w->result->fabric[w->cures[task].fabric].judged;
	int rc;

	watch->begin(watch->arg, w->first_cure + task, f->label);
	rc = wf_compare_cure(w->cfg, w->result, w->cures[task].fabric, w->cures[task].cure,
	                     w->decides, w->first_cure + task, &f->cure[w->cures[task].place], err);
	watch->end(watch->arg, w->first_cure + task);
	return rc;
}

/*
 * Those that are slower than the best by what counts say why, and are run with what would cure it.
 */
static void plan_cures(struct work *w)
{
	struct wf_compare *r = w->result;
	double best = (double)INFINITY;

	for (unsigned i = 0; i < r->n; i++) {
		if (r->fabric[i].judged.finished)
			best = fmin(best, r->fabric[i].judged.metrics.value[w->decides]);
	}
	for (unsigned i = 0; i < r->n; i++) {
		struct wf_compare_fabric *f = &r->fabric[i];
		const struct wf_compare_run *run = &f->run[f->median];
		const struct wf_note *cause = wf_compare_cause(&run->notes);
		unsigned cures[WF_VERDICT_CURES];

		f->judged.seed = run->seed;
		f->judged.time = run->metrics.value[w->decides];
		f->judged.why = run->stuck.text[0] != '\0' ? run->stuck.text
		                : cause != NULL            ? cause->text
		                                           : NULL;
		if (f->same_as >= 0 ||
		    (f->judged.finished &&
		     f->judged.metrics.value[w->decides] <= best * (1 + WF_VERDICT_ALIKE)))
			continue;
		f->judged.n_cures = wf_compare_cures(r, i, cures);
		for (unsigned k = 0; k < f->judged.n_cures; k++) {
			w->cures[w->n_cures].fabric = i;
			w->cures[w->n_cures].place = k;
			w->cures[w->n_cures++].cure = cures[k];
		}
	}
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

void wf_compare_judge(const struct wf_compare *r, unsigned first, unsigned n, unsigned matters,
                      struct wf_verdict *verdict)
{
	struct wf_verdict_fabric judged[WF_SCENARIO_MAX_FABRICS];

	for (unsigned i = 0; i < r->n; i++) {
		judged[i] = r->fabric[i].judged;
		summarise(&r->fabric[i], first, n, &judged[i]);
	}
	wf_verdict(judged, r->n, matters, verdict);
}

static int make_fabrics(const struct wf_scenario *s, struct wf_compare *r)
{
	r->scenario = s;
	r->n = s->n_fabrics;
	r->seeds = s->cfg.compare_seeds;
	for (unsigned i = 0; i < r->n; i++) {
		struct wf_compare_fabric *f = &r->fabric[i];

		f->fabric = &s->fabrics[i];
		f->judged.label = s->fabrics[i].label;
		f->judged.family = family_of(&s->fabrics[i].cfg);
		f->judged.states = s->fabrics[i].states;
		f->run = calloc(r->seeds, sizeof(*f->run));
		if (f->run == NULL)
			return -ENOMEM;
		for (unsigned k = 0; k < r->seeds; k++) {
			f->run[k].seed = s->cfg.seed + k;
			f->run[k].recorded = -1;
		}
	}
	return 0;
}

/* Goes on with the comparison, where the file has it: looks for its runs. */
static int resume(struct wf_record *record, struct wf_compare *r, struct wf_err *err)
{
	const struct wf_scenario *s = r->scenario;
	int rc = wf_record_resume(record, s->cfg.name, s->text, s->overrides, err);

	for (unsigned i = 0; rc == 0 && i < r->n; i++) {
		struct wf_recording_head of;

		rc = wf_recording_head_init(&of, s, i, NULL);
		if (rc != 0)
			break;
		for (unsigned k = 0; k < r->seeds; k++) {
			of.head.seed = r->fabric[i].run[k].seed;
			r->fabric[i].run[k].recorded = wf_stale_find(&r->stale, record, &of.head);
		}
		wf_recording_head_fini(&of);
	}
	return rc;
}

/* From the runs to medians, causes and cures. */
static int explain(struct work *w, struct wf_err *err)
{
	struct wf_compare *r = w->result;
	struct wf_verdict_fabric judged[WF_SCENARIO_MAX_FABRICS];

	for (unsigned i = 0; i < r->n; i++) {
		summarise(&r->fabric[i], 0, r->seeds, &r->fabric[i].judged);
		median_points(r, &r->fabric[i]);
		judged[i] = r->fabric[i].judged;
	}
	w->decides = wf_verdict_decides(judged, r->n);
	for (unsigned i = 0; i < r->n; i++)
		r->fabric[i].median = median_run(r, &r->fabric[i], w->decides);
	fold(r);
	plan_cures(w);
	w->cfg->watch->tasks(w->cfg->watch->arg, w->first_cure + w->n_cures);
	return wf_pool_run(w->n_cures, w->cfg->at_once, do_cure, w, err);
}

int wf_compare(const struct wf_compare_cfg *cfg, struct wf_compare *result, struct wf_err *err)
{
	const struct wf_scenario *s = cfg->scenario;
	struct work w = { .cfg = cfg, .result = result };
	struct wf_err why = { "" };
	unsigned matters;
	int rc;

	memset(result, 0, sizeof(*result));
	if (wf_matters_parse(s->cfg.matters, &matters, &why) != 0) {
		struct wf_err named = { "" };

		(void)wf_err_say(&named, "matters: %.200s", why.text);
		return wf_settings_err(&s->settings, &s->topo_place, &named, err);
	}
	rc = make_fabrics(s, result);
	if (rc == 0 && cfg->record.record != NULL)
		rc = resume(cfg->record.record, result, err);
	if (rc == 0)
		rc = read_sizes(s, result, err);
	if (rc != 0)
		return rc;
	w.first_cure = (size_t)result->n * result->seeds;
	cfg->watch->tasks(cfg->watch->arg, w.first_cure);
	rc = wf_pool_run(w.first_cure, cfg->at_once, do_run, &w, err);
	if (rc == 0)
		rc = explain(&w, err);
	if (rc != 0)
		return rc;
	wf_compare_judge(result, 0, result->seeds, matters, &result->verdict);
	return record_verdict(cfg->record.record, &result->verdict, err);
}

void wf_compare_fini(struct wf_compare *result)
{
	for (unsigned i = 0; i < result->n; i++)
		free(result->fabric[i].run);
	result->n = 0;
}
