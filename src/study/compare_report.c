/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_report.c - a comparison for people and for programs.
 */
#include <inttypes.h>
#include <string.h>

#include "study/compare.h"
#include "text/human.h"
#include "text/json.h"

#define NAME_WIDTH 28
#define MIN_WIDTH 16
#define CELL 64
#define TEXT_WIDTH 100

static int width_of(const struct wf_compare_fabric *f)
{
	int n = (int)strlen(f->judged.label);

	return 2 + (n > MIN_WIDTH ? n : MIN_WIDTH);
}

/* The columns: every fabric that is not folded into another. */
static const struct wf_compare_fabric *column(const struct wf_compare *r, unsigned *i)
{
	while (*i < r->n && r->fabric[*i].same_as >= 0)
		++*i;
	return *i < r->n ? &r->fabric[(*i)++] : NULL;
}

static void put_heading(const struct wf_compare *r, FILE *file, const char *name)
{
	const struct wf_compare_fabric *f;

	fprintf(file, "%-*s", NAME_WIDTH, name);
	for (unsigned i = 0; (f = column(r, &i)) != NULL;)
		fprintf(file, "%*s", width_of(f), f->judged.label);
	fputc('\n', file);
}

static void put_size(uint64_t bytes, char *buf)
{
	static const char units[] = "BKMG";
	unsigned unit = 0;

	while (bytes >= 1024 && bytes % 1024 == 0 && unit < 3) {
		bytes /= 1024;
		unit++;
	}
	snprintf(buf, CELL, "%" PRIu64 " %.1s%s", bytes, &units[unit], unit > 0 ? "iB" : "");
}

/* The name of a row; the sizes of the collective are the comparison's. */
static void row_name(const struct wf_compare *r, enum wf_metric which, char *buf)
{
	uint64_t least = UINT64_MAX, middle = 0, most = 0;
	char size[CELL];

	for (unsigned i = 0; i < r->n_sizes; i++) {
		least = r->size[i] < least ? r->size[i] : least;
		most = r->size[i] > most ? r->size[i] : most;
		if (r->size[i] <= WF_COMPARE_MIDDLE && r->size[i] > middle)
			middle = r->size[i];
	}
	if (which != WF_METRIC_COLL_SMALL && which != WF_METRIC_COLL_MIDDLE &&
	    which != WF_METRIC_COLL_LARGE) {
		snprintf(buf, CELL, "%s", wf_metric_rows[which].name);
		return;
	}
	put_size(which == WF_METRIC_COLL_SMALL   ? least
	         : which == WF_METRIC_COLL_LARGE ? most
	                                         : middle,
	         size);
	snprintf(buf, CELL, "%s, %s", r->scenario->cfg.compare_collective, size);
}

/* "148.2-151.0 ms": the unit once where both have the same; "" where they read the same. */
static bool put_range(const struct wf_verdict_fabric *f, enum wf_metric which, char *buf)
{
	char low[CELL], high[CELL];
	const char *unit;

	wf_metric_format(which, f->low.value[which], low, sizeof(low));
	wf_metric_format(which, f->high.value[which], high, sizeof(high));
	buf[0] = '\0';
	if (strcmp(low, high) == 0)
		return false;
	unit = strrchr(high, ' ');
	if (unit != NULL && strrchr(low, ' ') != NULL && strcmp(strrchr(low, ' '), unit) == 0)
		*strrchr(low, ' ') = '\0';
	snprintf(buf, CELL, "%.30s-%.30s", low, high);
	return true;
}

/* What the seeds came to, below a figure that decides. */
static void put_ranges(const struct wf_compare *r, enum wf_metric which, FILE *file)
{
	const struct wf_compare_fabric *f;
	char name[CELL], cell[CELL];
	bool some = false;

	for (unsigned i = 0; (f = column(r, &i)) != NULL;)
		some |= put_range(&f->judged, which, cell);
	if (!some || wf_metric_rows[which].better == 0)
		return;
	if (which == WF_METRIC_POWER || which == WF_METRIC_COST)
		snprintf(name, sizeof(name), "    least to most");
	else
		snprintf(name, sizeof(name), "    over %u seeds", r->seeds);
	fprintf(file, "%-*s", NAME_WIDTH, name);
	for (unsigned i = 0; (f = column(r, &i)) != NULL;) {
		put_range(&f->judged, which, cell);
		fprintf(file, "%*s", width_of(f), cell);
	}
	fputc('\n', file);
}

static void put_metric(const struct wf_compare *r, enum wf_metric which, FILE *file)
{
	const struct wf_compare_fabric *f;
	char name[CELL], cell[CELL];
	/* Links that do what they should are not worth a row. */
	bool quiet = which == WF_METRIC_LINK_ERRORS || which == WF_METRIC_LINK_DOWN ||
	             which == WF_METRIC_STORAGE_FAILED;
	bool some = false;

	for (unsigned i = 0; i < r->n; i++)
		some |= wf_metric_has(&r->fabric[i].judged.metrics, which) &&
		        (!quiet || r->fabric[i].judged.high.value[which] > 0);
	if (!some)
		return;
	row_name(r, which, name);
	fprintf(file, "%-*s", NAME_WIDTH, name);
	for (unsigned i = 0; (f = column(r, &i)) != NULL;) {
		wf_metric_format(which, f->judged.metrics.value[which], cell, sizeof(cell));
		if ((which == WF_METRIC_JOB_TIME || which == WF_METRIC_STEP_TIME) &&
		    !f->judged.finished)
			snprintf(cell, sizeof(cell), "unfinished");
		fprintf(file, "%*s", width_of(f), cell);
	}
	fputc('\n', file);
	put_ranges(r, which, file);
}

/* Times or bus bandwidths by size, a column for each fabric; nccl-tests' figures. */
static void put_sizes(const struct wf_compare *r, bool times, FILE *file)
{
	const struct wf_compare_fabric *f;
	char name[CELL];

	if (r->n_sizes == 0)
		return;
	fprintf(file, "\n%s of %" PRIu32 " GPUs: %s\n", r->scenario->cfg.compare_collective,
	        r->ranks, times ? "time" : "bus bandwidth");
	put_heading(r, file, "size");
	for (unsigned k = 0; k < r->n_sizes; k++) {
		put_size(r->size[k], name);
		fprintf(file, "%-*s", NAME_WIDTH, name);
		for (unsigned i = 0; (f = column(r, &i)) != NULL;) {
			const struct wf_compare_point *p = &f->point[k];
			char cell[CELL] = "unfinished";

			if (p->time >= 0)
				wf_metric_format(
					times ? WF_METRIC_COLL_LARGE : WF_METRIC_BUSBW_LARGE,
					times ? (double)p->time : p->busbw, cell, sizeof(cell));
			fprintf(file, "%*s", width_of(f), cell);
		}
		fputc('\n', file);
	}
}

/* Text in lines of at most TEXT_WIDTH, the first behind mark, the others below it. */
static void put_text(FILE *file, const char *mark, const char *text)
{
	int indent = (int)strlen(mark), at = indent;

	fputs(mark, file);
	while (*text != '\0') {
		int len = (int)strcspn(text, " ");

		if (at > indent && at + 1 + len > TEXT_WIDTH) {
			fprintf(file, "\n%*s", indent, "");
			at = indent;
		}
		at += fprintf(file, "%s%.*s", at > indent ? " " : "", len, text);
		text += len + strspn(text + len, " ");
	}
	fputc('\n', file);
}

/* Which columns stand for others, too. */
static void put_folded(const struct wf_compare *r, FILE *file)
{
	for (unsigned i = 0; i < r->n; i++) {
		if (r->fabric[i].same_as >= 0)
			fprintf(file, "%s: every figure as %s, so it has no column\n",
			        r->fabric[i].judged.label,
			        r->fabric[r->fabric[i].same_as].judged.label);
	}
}

/* What the fabric's median run says of itself. */
static void put_notes(const struct wf_compare *r, const struct wf_compare_fabric *f, FILE *file)
{
	const struct wf_compare_run *run = &f->run[f->median];

	if (run->notes.n == 0 && run->stuck.text[0] == '\0')
		return;
	fprintf(file, "\n%s", f->judged.label);
	if (r->seeds > 1)
		fprintf(file, " (seed %" PRIu64 ")", run->seed);
	fputc('\n', file);
	if (run->stuck.text[0] != '\0')
		put_text(file, "  - ", run->stuck.text);
	for (unsigned k = 0; k < run->notes.n; k++)
		put_text(file, "  - ", run->notes.note[k].text);
}

/* That a step is scaled, and by how much that may lengthen it: what is compared has to be known. */
static void put_scale(const struct wf_scenario_job *job, FILE *file)
{
	double error = 100 * (double)job->cfg.train.scale_error / (double)WF_RATIO_ONE;

	if (!job->given || !wf_job_is_train(&job->cfg) || job->cfg.train.scale == WF_RATIO_ONE)
		return;
	fprintf(file, " at 1/%.4g of its size, so that delays weigh more (%.*f %% at most)",
	        (double)WF_RATIO_ONE / (double)job->cfg.train.scale, error < 10 ? 1 : 0, error);
}

void wf_compare_table(const struct wf_compare *r, FILE *file)
{
	const struct wf_scenario *s = r->scenario;
	const struct wf_compare_fabric *f;

	fprintf(file, "%s\n", s->cfg.name[0] != '\0' ? s->cfg.name : s->file);
	fprintf(file, "%s, %u hosts, %s; ", s->topo_cfg.kind, (unsigned)s->n_hosts,
	        s->n_nets > 1 ? "each fabric on a network of its own switches"
	                      : "the same network for all");
	if (r->ranks > 0)
		fprintf(file, "%" PRIu32 " GPUs, ", r->ranks);
	fprintf(file, "%s",
	        s->job.given       ? s->job.cfg.kind
	        : s->n_traffic > 0 ? "traffic"
	                           : "storage");
	put_scale(&s->job, file);
	fprintf(file, "; ");
	if (r->seeds > 1)
		fprintf(file, "medians of seeds %" PRIu64 " to %" PRIu64 "\n\n", s->cfg.seed,
		        s->cfg.seed + r->seeds - 1);
	else
		fprintf(file, "seed %" PRIu64 "\n\n", s->cfg.seed);
	put_heading(r, file, "");
	for (unsigned i = 0; i < WF_METRICS; i++)
		put_metric(r, i, file);
	put_folded(r, file);
	put_sizes(r, true, file);
	put_sizes(r, false, file);
	for (unsigned i = 0; (f = column(r, &i)) != NULL;)
		put_notes(r, f, file);
	fputc('\n', file);
	put_text(file, "", r->verdict.text);
	for (unsigned i = 0; i < r->verdict.n_reasons; i++)
		put_text(file, "  - ", r->verdict.reason[i]);
}

static void put_real(struct wf_json *j, const char *key, double v)
{
	if (isnan(v))
		wf_json_null(j, key);
	else
		wf_json_real(j, key, v);
}

static const char *state_name(unsigned states, unsigned bit)
{
	return (states & bit) == 0       ? NULL
	       : bit == WF_STATE_BEST    ? "best"
	       : bit == WF_STATE_DEFAULT ? "default"
	                                 : "neglected";
}

/* Each seed's figures, so that others can make their own statistics. */
static void json_runs(const struct wf_compare *r, const struct wf_compare_fabric *f,
                      struct wf_json *j)
{
	wf_json_open(j, "seeds", '[');
	for (unsigned k = 0; k < r->seeds; k++) {
		wf_json_open(j, NULL, '{');
		wf_json_u64(j, "seed", f->run[k].seed);
		wf_json_bool(j, "finished", f->run[k].finished);
		for (unsigned i = 0; i < WF_METRICS; i++) {
			if (wf_metric_has(&f->run[k].metrics, i))
				wf_json_real(j, wf_metric_rows[i].key, f->run[k].metrics.value[i]);
		}
		wf_json_close(j, '{');
	}
	wf_json_close(j, '[');
}

static void json_cures(const struct wf_verdict_fabric *f, struct wf_json *j)
{
	if (f->why == NULL)
		wf_json_null(j, "why");
	else
		wf_json_text(j, "why", f->why);
	wf_json_open(j, "cures", '[');
	for (unsigned k = 0; k < f->n_cures; k++) {
		wf_json_open(j, NULL, '{');
		wf_json_text(j, "what", f->cure[k].what);
		wf_json_u64(j, "seed", f->seed);
		put_real(j, "before_ps", f->time);
		put_real(j, "after_ps", f->cure[k].time);
		wf_json_close(j, '{');
	}
	wf_json_close(j, '[');
}

static void json_fabric(const struct wf_compare *r, const struct wf_compare_fabric *f,
                        struct wf_json *j)
{
	static const char *const families[] = { "infiniband", "roce", "roce-lossy", "tcp" };

	wf_json_open(j, NULL, '{');
	wf_json_text(j, "fabric", f->judged.label);
	wf_json_text(j, "family", families[f->judged.family]);
	wf_json_open(j, "state", '[');
	for (unsigned bit = WF_STATE_BEST; bit <= WF_STATE_NEGLECTED; bit <<= 1) {
		if (state_name(f->judged.states, bit) != NULL)
			wf_json_text(j, NULL, state_name(f->judged.states, bit));
	}
	wf_json_close(j, '[');
	if (f->same_as >= 0)
		wf_json_text(j, "same_as", r->fabric[f->same_as].judged.label);
	wf_json_bool(j, "finished", f->judged.finished);
	for (unsigned i = 0; i < WF_METRICS; i++)
		put_real(j, wf_metric_rows[i].key, f->judged.metrics.value[i]);
	wf_json_open(j, "low", '{');
	for (unsigned i = 0; i < WF_METRICS; i++)
		put_real(j, wf_metric_rows[i].key, f->judged.low.value[i]);
	wf_json_close(j, '{');
	wf_json_open(j, "high", '{');
	for (unsigned i = 0; i < WF_METRICS; i++)
		put_real(j, wf_metric_rows[i].key, f->judged.high.value[i]);
	wf_json_close(j, '{');
	wf_json_open(j, "sizes", '[');
	for (unsigned k = 0; k < r->n_sizes; k++) {
		wf_json_open(j, NULL, '{');
		wf_json_u64(j, "bytes", r->size[k]);
		if (f->point[k].time >= 0) {
			wf_json_u64(j, "time_ps", (uint64_t)f->point[k].time);
			wf_json_real(j, "algbw", f->point[k].algbw);
			wf_json_real(j, "busbw", f->point[k].busbw);
		} else {
			wf_json_null(j, "time_ps");
		}
		wf_json_close(j, '{');
	}
	wf_json_close(j, '[');
	wf_json_open(j, "notes", '[');
	for (unsigned k = 0; k < f->run[f->median].notes.n; k++)
		wf_json_text(j, NULL, f->run[f->median].notes.note[k].text);
	wf_json_close(j, '[');
	json_cures(&f->judged, j);
	json_runs(r, f, j);
	wf_json_close(j, '{');
}

void wf_compare_json(const struct wf_compare *r, FILE *file)
{
	static const char *const outcomes[] = { "none", "either", "take" };
	struct wf_json j;

	wf_json_init(&j, file);
	wf_json_document(&j, "weft.compare", 1);
	wf_json_text(&j, "file", r->scenario->file);
	wf_json_text(&j, "name", r->scenario->cfg.name);
	wf_json_u64(&j, "seed", r->scenario->cfg.seed);
	wf_json_u64(&j, "seeds", r->seeds);
	wf_json_u64(&j, "hosts", r->scenario->n_hosts);
	wf_json_u64(&j, "ranks", r->ranks);
	wf_json_text(&j, "collective", r->scenario->cfg.compare_collective);
	wf_json_open(&j, "fabrics", '[');
	for (unsigned i = 0; i < r->n; i++)
		json_fabric(r, &r->fabric[i], &j);
	wf_json_close(&j, '[');
	wf_json_text(&j, "outcome", outcomes[r->verdict.outcome]);
	wf_json_text(&j, "choice",
	             r->verdict.choice < 0 ? "" : r->fabric[r->verdict.choice].judged.label);
	wf_json_text(&j, "verdict", r->verdict.text);
	wf_json_open(&j, "reasons", '[');
	for (unsigned i = 0; i < r->verdict.n_reasons; i++)
		wf_json_text(&j, NULL, r->verdict.reason[i]);
	wf_json_close(&j, '[');
	wf_json_close(&j, '{');
}
