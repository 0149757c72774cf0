/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - makes the points of a sweep and runs those that the results file does not have.
 */
#include "study/sweep.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text/csv.h"
#include "text/human.h"
#include "text/json.h"
#include "run/pool.h"
#include "results/record_find.h"
#include "run/run.h"

#define MAX_SETS 128
#define CELL 64

struct run {
	uint32_t point, fabric;
	int64_t id; /* in the results file; -1: it is not there */
	uint64_t seed;
};

struct wf_sweep {
	const struct wf_sweep_cfg *cfg;
	uint32_t n_points;
	struct run *runs; /* by point, then by fabric */
	size_t n_runs, n_found;
	char (*labels)[WF_SCENARIO_LABEL]; /* of the fabrics */
	size_t *missing;                   /* numbers of runs */
	size_t n_missing;
	struct wf_stale stale;
	struct wf_arena arena;
	struct wf_infiles *files; /* of all points, as they were when the sweep began */
};

/* A point, as overrides and as text. */
struct point {
	struct wf_override set[MAX_SETS];
	size_t n;
	char where[WF_SWEEP_MAX_AXES][WF_AXIS_NAME + WF_AXIS_VALUE + 16];
	char text[WF_SWEEP_POINT];
};

/* Which value of each axis a point has: the last axis changes fastest. */
static const char *value_at(const struct wf_sweep_cfg *cfg, uint32_t point, unsigned axis)
{
	for (unsigned a = cfg->n_axes; a-- > axis + 1;)
		point /= cfg->axes[a].n;
	return cfg->axes[axis].value[point % cfg->axes[axis].n];
}

static void make_point(const struct wf_sweep_cfg *cfg, uint32_t number, struct point *p)
{
	size_t len = 0;

	p->n = 0;
	for (size_t i = 0; i < cfg->opts.n_overrides; i++)
		p->set[p->n++] = cfg->opts.overrides[i];
	p->text[0] = '\0';
	for (unsigned a = 0; a < cfg->n_axes; a++) {
		const char *name = cfg->axes[a].name, *value = value_at(cfg, number, a);

		snprintf(p->where[a], sizeof(p->where[a]), "--vary %s=%s", name, value);
		p->set[p->n++] = (struct wf_override){ p->where[a], name, value };
		if (len < sizeof(p->text))
			len += (size_t)snprintf(p->text + len, sizeof(p->text) - len, "%s%s=%s",
			                        a > 0 ? " " : "", name, value);
	}
}

/*
 * Reads the scenario as it is at a point, of the files that the sweep began with; s is the caller's
 * to free, whatever is returned.
 */
static int read_point(const struct wf_sweep *sweep, uint32_t number, struct point *p,
                      struct wf_scenario *s, bool begins, struct wf_err *err)
{
	struct wf_scenario_opts opts = sweep->cfg->opts;
	int rc;

	make_point(sweep->cfg, number, p);
	opts.overrides = p->set;
	opts.n_overrides = p->n;
	rc = wf_scenario_read(s, sweep->cfg->scenario, &opts, err);
	return rc != 0 ? rc : wf_infiles_join(sweep->files, s->inputs, begins, err);
}

/* Finds the run of a point in the file: *id_p is -1 when it is not there. Returns 0 or -ENOMEM. */
static int find_run(const struct wf_sweep *sweep, const struct wf_scenario *s, uint32_t fabric,
                    const char *point, struct wf_stale *stale, int64_t *id_p)
{
	struct wf_recording_head head;
	int rc = wf_recording_head_init(&head, s, fabric, point);

	if (rc != 0)
		return rc;
	*id_p = wf_stale_find(stale, sweep->cfg->record.record, &head.head);
	wf_recording_head_fini(&head);
	return 0;
}

/*
 * Goes on with the sweep of the same parameters, where the file has one. What its points have in
 * common is what the first one, p, has but its values.
 */
static int resume(const struct wf_sweep *sweep, const struct wf_scenario *s, const struct point *p,
                  struct wf_err *err)
{
	const struct wf_sweep_cfg *cfg = sweep->cfg;
	size_t len = strlen(s->overrides);
	char *common, *end;
	int rc;

	common = malloc(len + 1); /* names are shorter than names and values */
	if (common == NULL)
		return -ENOMEM;
	for (unsigned a = 0; a < cfg->n_axes; a++)
		len -= strlen(p->where[a]) + 1;
	memcpy(common, s->overrides, len);
	end = common + len;
	*end = '\0';
	for (unsigned a = 0; a < cfg->n_axes; a++)
		end = stpcpy(stpcpy(stpcpy(end, "--vary "), cfg->axes[a].name), "\n");
	rc = wf_record_resume(cfg->record.record, s->cfg.name, s->text, common, err);
	free(common);
	return rc;
}

/* Lists the runs once it is known how many fabrics there are. */
static int list_runs(struct wf_sweep *sweep, const struct wf_scenario *s, struct wf_err *err)
{
	size_t n = (size_t)sweep->n_points * s->n_fabrics;

	if (n > WF_SWEEP_MAX_RUNS)
		return wf_err_say(err, "%zu runs are too many; at most %d are done", n,
		                  WF_SWEEP_MAX_RUNS);
	sweep->runs = calloc(n, sizeof(*sweep->runs));
	sweep->missing = calloc(n, sizeof(*sweep->missing));
	sweep->labels = calloc(s->n_fabrics, sizeof(*sweep->labels));
	if (sweep->runs == NULL || sweep->missing == NULL || sweep->labels == NULL)
		return -ENOMEM;
	for (unsigned f = 0; f < s->n_fabrics; f++)
		memcpy(sweep->labels[f], s->fabrics[f].label, sizeof(sweep->labels[f]));
	sweep->n_runs = n;
	for (size_t i = 0; i < n; i++) {
		sweep->runs[i].point = (uint32_t)(i / s->n_fabrics);
		sweep->runs[i].fabric = (uint32_t)(i % s->n_fabrics);
		sweep->runs[i].id = -1;
	}
	return 0;
}

/* Looks for the runs of one point; those that are missing are to be done. */
static int look_up_point(struct wf_sweep *sweep, uint32_t number, struct wf_err *err)
{
	struct wf_scenario s;
	struct point p;
	int rc = read_point(sweep, number, &p, &s, true, err);

	if (rc == 0 && sweep->runs == NULL) {
		rc = list_runs(sweep, &s, err);
		if (rc == 0)
			rc = resume(sweep, &s, &p, err);
	}
	assert(rc != 0 || sweep->runs != NULL);
	for (uint32_t f = 0; rc == 0 && f < s.n_fabrics; f++) {
		size_t i = (size_t)number * s.n_fabrics + f;

		sweep->runs[i].seed = s.cfg.seed;
		rc = find_run(sweep, &s, f, p.text, &sweep->stale, &sweep->runs[i].id);
		if (rc != 0)
			break;
		if (sweep->runs[i].id < 0)
			sweep->missing[sweep->n_missing++] = i;
		else
			sweep->n_found++;
	}
	wf_scenario_fini(&s);
	return rc;
}

/* What can be told from the axes alone. */
static int check(const struct wf_sweep_cfg *cfg, uint64_t points, struct wf_err *err)
{
	for (unsigned a = 1; a < cfg->n_axes; a++) {
		for (unsigned b = 0; b < a; b++) {
			if (strcmp(cfg->axes[a].name, cfg->axes[b].name) == 0)
				return wf_err_say(err, "--vary %s: it is varied already",
				                  cfg->axes[a].name);
		}
	}
	if (points > WF_SWEEP_MAX_RUNS)
		return wf_err_say(err, "%" PRIu64 " points are too many; at most %d runs are done",
		                  points, WF_SWEEP_MAX_RUNS);
	if (cfg->opts.n_overrides + cfg->n_axes > MAX_SETS)
		return wf_err_say(err, "more than %d parameters are changed", MAX_SETS);
	return 0;
}

int wf_sweep_create(const struct wf_sweep_cfg *cfg, struct wf_sweep **sweep_p, struct wf_err *err)
{
	struct wf_sweep *sweep = calloc(1, sizeof(*sweep));
	uint64_t points = 1;
	int rc;

	if (sweep == NULL)
		return -ENOMEM;
	sweep->cfg = cfg;
	wf_arena_init(&sweep->arena);
	sweep->files = wf_infiles_create(&sweep->arena);
	for (unsigned a = 0; a < cfg->n_axes && points <= WF_SWEEP_MAX_RUNS; a++)
		points *= cfg->axes[a].n;
	rc = sweep->files == NULL ? -ENOMEM : check(cfg, points, err);
	sweep->n_points = (uint32_t)points;
	for (uint32_t i = 0; rc == 0 && i < sweep->n_points; i++)
		rc = look_up_point(sweep, i, err);
	if (rc != 0)
		wf_sweep_destroy(sweep);
	else
		*sweep_p = sweep;
	return rc;
}

void wf_sweep_destroy(struct wf_sweep *sweep)
{
	if (sweep == NULL)
		return;
	free(sweep->runs);
	free(sweep->missing);
	free(sweep->labels);
	wf_arena_fini(&sweep->arena);
	free(sweep);
}

size_t wf_sweep_runs(const struct wf_sweep *sweep)
{
	return sweep->n_runs;
}

size_t wf_sweep_found(const struct wf_sweep *sweep)
{
	return sweep->n_found;
}

const struct wf_stale *wf_sweep_stale(const struct wf_sweep *sweep)
{
	return &sweep->stale;
}

/* ---- running ---- */

/* Runs a point whose scenario has been read. */
static int run_point(struct wf_sweep *sweep, size_t task, struct wf_scenario *s, struct run *r,
                     const char *point, struct wf_err *err)
{
	const struct wf_watch *watch = sweep->cfg->watch;
	struct wf_watch_task step = { watch, task };
	struct wf_run_opts opts = {
		.threads = 1,
		.progress = wf_watch_step,
		.arg = &step,
		.record = sweep->cfg->record,
	};
	struct wf_stale stale = { .n = 0 };
	struct wf_run *run = calloc(1, sizeof(*run));
	int rc = run == NULL ? -ENOMEM : wf_scenario_build(s, err);

	opts.record.point = point;
	if (rc == 0)
		rc = wf_run_fabric(s, r->fabric, &opts, run, err);
	if (rc == 0) {
		rc = find_run(sweep, s, r->fabric, point, &stale, &r->id);
		rc = run->stopped ? -EINTR : rc;
		wf_run_fini(run);
	}
	free(run);
	return rc;
}

static int run_one(void *arg, size_t task, struct wf_err *err)
{
	struct wf_sweep *sweep = arg;
	const struct wf_watch *watch = sweep->cfg->watch;
	struct run *r = &sweep->runs[sweep->missing[task]];
	struct wf_stale stale = { .n = 0 };
	struct wf_scenario s;
	struct point p;
	int rc = read_point(sweep, r->point, &p, &s, false, err);

	/* Another process may have done it by now. */
	if (rc == 0)
		rc = find_run(sweep, &s, r->fabric, p.text, &stale, &r->id);
	if (rc == 0) {
		watch->begin(watch->arg, task, p.text);
		if (r->id < 0)
			rc = run_point(sweep, task, &s, r, p.text, err);
		watch->end(watch->arg, task);
	}
	wf_scenario_fini(&s);
	return rc;
}

int wf_sweep_run(struct wf_sweep *sweep, struct wf_err *err)
{
	sweep->cfg->watch->tasks(sweep->cfg->watch->arg, sweep->n_missing);
	return wf_pool_run(sweep->n_missing, sweep->cfg->at_once, run_one, sweep, err);
}

/* ---- what came out ---- */

static void format(double v, const char *unit, char *buf, size_t size)
{
	if (strcmp(unit, "ps") == 0)
		wf_human_time((uint64_t)v, buf, size);
	else if (strcmp(unit, "bytes") == 0)
		wf_human_bytes((uint64_t)v, buf, size);
	else if (strcmp(unit, "bit/s") == 0)
		snprintf(buf, size, "%.1f Gb/s", v / 1e9);
	else if (strcmp(unit, "bytes/s") == 0)
		snprintf(buf, size, "%.2f GB/s", v / 1e9);
	else if (v == (double)(int64_t)v && v >= 0)
		wf_human_count((uint64_t)v, buf, size);
	else
		snprintf(buf, size, "%.4g", v);
}

/* A cell: the axes, the fabric, then what is shown. */
static void cell(const struct wf_sweep *sweep, const struct run *r, unsigned column,
                 const char *const *show, bool plain, char *buf)
{
	unsigned n_axes = sweep->cfg->n_axes;
	char unit[CELL];
	double v;

	if (column < n_axes)
		snprintf(buf, CELL, "%s", value_at(sweep->cfg, r->point, column));
	else if (column == n_axes)
		snprintf(buf, CELL, "%s", sweep->labels[r->fabric]);
	else if (r->id < 0 || !wf_record_read(sweep->cfg->record.record, r->id,
	                                      show[column - n_axes - 1], &v, unit, sizeof(unit)))
		snprintf(buf, CELL, "%s", plain ? "" : "-");
	else if (plain)
		snprintf(buf, CELL, "%.17g", v);
	else
		format(v, unit, buf, CELL);
}

static const char *heading(const struct wf_sweep *sweep, unsigned column, const char *const *show)
{
	unsigned n_axes = sweep->cfg->n_axes;

	if (column < n_axes)
		return sweep->cfg->axes[column].name;
	return column == n_axes ? "fabric" : show[column - n_axes - 1];
}

void wf_sweep_table(const struct wf_sweep *sweep, const char *const *show, unsigned n, FILE *file)
{
	unsigned columns = sweep->cfg->n_axes + 1 + n;
	int width[WF_SWEEP_MAX_AXES + 1 + WF_SWEEP_MAX_SHOWN];
	char text[CELL];

	for (unsigned c = 0; c < columns; c++) {
		width[c] = (int)strlen(heading(sweep, c, show));
		for (size_t i = 0; i < sweep->n_runs; i++) {
			cell(sweep, &sweep->runs[i], c, show, false, text);
			width[c] = (int)strlen(text) > width[c] ? (int)strlen(text) : width[c];
		}
	}
	for (unsigned c = 0; c < columns; c++)
		fprintf(file, "%s%*s", c > 0 ? "  " : "", width[c], heading(sweep, c, show));
	fputc('\n', file);
	for (size_t i = 0; i < sweep->n_runs; i++) {
		for (unsigned c = 0; c < columns; c++) {
			cell(sweep, &sweep->runs[i], c, show, false, text);
			fprintf(file, "%s%*s", c > 0 ? "  " : "", width[c], text);
		}
		fputc('\n', file);
	}
}

void wf_sweep_csv(const struct wf_sweep *sweep, const char *const *show, unsigned n, FILE *file)
{
	unsigned columns = sweep->cfg->n_axes + 1 + n;
	char text[CELL];

	for (unsigned c = 0; c < columns; c++) {
		fputs(c > 0 ? "," : "", file);
		wf_csv_cell(file, heading(sweep, c, show));
	}
	fputc('\n', file);
	for (size_t i = 0; i < sweep->n_runs; i++) {
		for (unsigned c = 0; c < columns; c++) {
			cell(sweep, &sweep->runs[i], c, show, true, text);
			fputs(c > 0 ? "," : "", file);
			wf_csv_cell(file, text);
		}
		fputc('\n', file);
	}
}

/* Whether a name is shown that was not before: a key is there once. */
static bool shown_first(const char *const *show, unsigned i)
{
	for (unsigned k = 0; k < i; k++) {
		if (strcmp(show[k], show[i]) == 0)
			return false;
	}
	return true;
}

/* What is shown, and its unit in the results file; null: no run has it. */
static void json_shown(const struct wf_sweep *sweep, const char *name, struct wf_json *j)
{
	char unit[CELL];
	bool has = false;
	double v;

	for (size_t i = 0; i < sweep->n_runs && !has; i++)
		has = sweep->runs[i].id >= 0 &&
		      wf_record_read(sweep->cfg->record.record, sweep->runs[i].id, name, &v, unit,
		                     sizeof(unit));
	wf_json_open(j, NULL, '{');
	wf_json_text(j, "name", name);
	if (has)
		wf_json_text(j, "unit", unit);
	else
		wf_json_null(j, "unit");
	wf_json_close(j, '{');
}

/* A value of a run; null: it has none. */
static void json_value(const struct wf_sweep *sweep, const struct run *r, const char *name,
                       struct wf_json *j)
{
	char unit[CELL];
	double v;

	if (r->id >= 0 &&
	    wf_record_read(sweep->cfg->record.record, r->id, name, &v, unit, sizeof(unit)))
		wf_json_real(j, name, v);
	else
		wf_json_null(j, name);
}

/*
 * What did not finish is not in the file, and a sweep that was stopped prints nothing: a run
 * without a number is one that could not be recorded.
 */
static void json_run(const struct wf_sweep *sweep, const struct run *r, const char *const *show,
                     unsigned n, struct wf_json *j)
{
	wf_json_open(j, NULL, '{');
	if (r->id >= 0)
		wf_json_u64(j, "run", (uint64_t)r->id);
	else
		wf_json_null(j, "run");
	wf_json_text(j, "state", r->id >= 0 ? "finished" : "missing");
	wf_json_text(j, "fabric", sweep->labels[r->fabric]);
	wf_json_u64(j, "seed", r->seed);
	wf_json_open(j, "point", '{');
	for (unsigned a = 0; a < sweep->cfg->n_axes; a++)
		wf_json_text(j, sweep->cfg->axes[a].name, value_at(sweep->cfg, r->point, a));
	wf_json_close(j, '{');
	wf_json_open(j, "values", '{');
	for (unsigned i = 0; i < n; i++) {
		if (shown_first(show, i))
			json_value(sweep, r, show[i], j);
	}
	wf_json_close(j, '{');
	wf_json_close(j, '{');
}

void wf_sweep_json(const struct wf_sweep *sweep, const char *results, const char *const *show,
                   unsigned n, FILE *file)
{
	struct wf_json j;

	wf_json_init(&j, file);
	wf_json_document(&j, "weft.sweep", 1);
	wf_json_text(&j, "file", sweep->cfg->scenario);
	wf_json_text(&j, "results", results);
	wf_json_open(&j, "axes", '[');
	for (unsigned a = 0; a < sweep->cfg->n_axes; a++)
		wf_json_text(&j, NULL, sweep->cfg->axes[a].name);
	wf_json_close(&j, '[');
	wf_json_open(&j, "shown", '[');
	for (unsigned i = 0; i < n; i++) {
		if (shown_first(show, i))
			json_shown(sweep, show[i], &j);
	}
	wf_json_close(&j, '[');
	wf_json_open(&j, "runs", '[');
	for (size_t i = 0; i < sweep->n_runs; i++)
		json_run(sweep, &sweep->runs[i], show, n, &j);
	wf_json_close(&j, '[');
	wf_json_close(&j, '{');
}
