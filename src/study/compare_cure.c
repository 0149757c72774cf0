/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_cure.c - what holds a slow fabric up, and what would cure it: tried, not guessed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "study/compare_priv.h"

#define QPS 4 /* queue pairs of a connection, as a cure */

static bool is_infiniband(const struct wf_fabric_values *v)
{
	return strcmp(v->cfg.link_layer, "infiniband") == 0;
}

/* Each tells whether there is anything to change, and changes it. */

static bool more_queue_pairs(struct wf_fabric_values *v, struct wf_job_cfg *job)
{
	/* On InfiniBand the path follows from the destination alone. */
	if (is_infiniband(v) || job->net.qps >= QPS || v->use.job_qps >= QPS)
		return false;
	job->net.qps = QPS;
	return true;
}

static bool is_static(const struct wf_fabric_values *v)
{
	return strcmp(v->cfg.routing, "ecmp") == 0 || strcmp(v->cfg.routing, "lft") == 0;
}

static bool spray(struct wf_fabric_values *v, struct wf_job_cfg *job)
{
	(void)job;
	if (is_infiniband(v) || !is_static(v))
		return false;
	snprintf(v->cfg.routing, sizeof(v->cfg.routing), "spray");
	return true;
}

static bool route_adaptively(struct wf_fabric_values *v, struct wf_job_cfg *job)
{
	(void)job;
	if (!is_infiniband(v) || !is_static(v))
		return false;
	snprintf(v->cfg.routing, sizeof(v->cfg.routing), "adaptive");
	return true;
}

static bool no_congestion_control(struct wf_fabric_values *v, struct wf_job_cfg *job)
{
	(void)job;
	if (strcmp(v->cc.algorithm, "none") == 0)
		return false;
	snprintf(v->cc.algorithm, sizeof(v->cc.algorithm), "none");
	return true;
}

static bool enough_headroom(struct wf_fabric_values *v, struct wf_job_cfg *job)
{
	(void)job;
	if (v->cfg.buffer_headroom == WF_PARAM_AUTO)
		return false;
	v->cfg.buffer_headroom = WF_PARAM_AUTO;
	return true;
}

/* By what a run says of itself: in the order of how much they explain. */
static const struct {
	const char *rule;
	const char *what;
	bool (*apply)(struct wf_fabric_values *values, struct wf_job_cfg *job);
} cures[] = {
	{ "lossless-drops", "headroom as the cables ask for it", enough_headroom },
	{ "path-collision", "4 queue pairs a connection", more_queue_pairs },
	{ "path-collision", "packets sprayed over all paths", spray },
	{ "path-collision", "adaptive routing", route_adaptively },
	{ "path-collision", "without congestion control", no_congestion_control },
	{ "cc-collapse", "without congestion control", no_congestion_control },
	{ "pauses-spread", "packets sprayed over all paths", spray },
};

const struct wf_note *wf_compare_cause(const struct wf_notes *notes)
{
	for (size_t c = 0; c < WF_ARRAY_SIZE(cures); c++) {
		for (unsigned i = 0; i < notes->n; i++) {
			if (strcmp(notes->note[i].rule, cures[c].rule) == 0)
				return &notes->note[i];
		}
	}
	for (unsigned i = 0; i < notes->n; i++) {
		if (strcmp(notes->note[i].rule, "scaled-congestion") != 0)
			return &notes->note[i];
	}
	return NULL;
}

unsigned wf_compare_cures(const struct wf_compare *r, unsigned fabric,
                          unsigned found[WF_VERDICT_CURES])
{
	const struct wf_compare_fabric *f = &r->fabric[fabric];
	const struct wf_note *cause = wf_compare_cause(&f->run[f->median].notes);
	unsigned n = 0;

	for (size_t c = 0; cause != NULL && c < WF_ARRAY_SIZE(cures); c++) {
		struct wf_fabric_values values = f->fabric->values;
		struct wf_job_cfg job = r->scenario->job.cfg;

		if (!r->scenario->job.given)
			job.net.qps = QPS; /* traffic opens its own */
		if (strcmp(cures[c].rule, cause->rule) == 0 && n < WF_VERDICT_CURES &&
		    cures[c].apply(&values, &job))
			found[n++] = (unsigned)c;
	}
	return n;
}

/* The scenario of one seed, with a cure for one of its fabrics. */
static int make_cured(const struct wf_compare *r, unsigned fabric, unsigned which,
                      struct wf_scenario *s, struct wf_scenario_fabric **fabrics_p,
                      struct wf_err *err)
{
	const struct wf_compare_fabric *f = &r->fabric[fabric];
	struct wf_scenario_fabric *fabrics = malloc(r->n * sizeof(*fabrics));
	int rc;

	if (fabrics == NULL)
		return -ENOMEM;
	rc = wf_scenario_reseed(r->scenario, f->run[f->median].seed, s, err);
	if (rc != 0) {
		free(fabrics);
		return rc;
	}
	memcpy(fabrics, s->fabrics, r->n * sizeof(*fabrics));
	(void)cures[which].apply(&fabrics[fabric].values, &s->job.cfg);
	s->fabrics = fabrics;
	*fabrics_p = fabrics;
	return 0;
}

int wf_compare_cure(const struct wf_compare_cfg *cfg, const struct wf_compare *r, unsigned fabric,
                    unsigned which, enum wf_metric decides, size_t task,
                    struct wf_verdict_cure *cure, struct wf_err *err)
{
	struct wf_run *run = calloc(1, sizeof(*run));
	struct wf_scenario_fabric *fabrics = NULL;
	struct wf_metrics metrics;
	struct wf_scenario s;
	bool finished = false;
	int rc = run == NULL ? -ENOMEM : make_cured(r, fabric, which, &s, &fabrics, err);

	cure->what = cures[which].what;
	cure->time = (double)NAN;
	if (rc != 0)
		goto out;
	wf_metrics_init(&metrics);
	rc = wf_compare_simulate(cfg, &s, fabric, task, NULL, run, err);
	if (rc == 0)
		wf_compare_take_job(run, &metrics, &finished);
	if (finished)
		cure->time = metrics.value[decides];
	wf_run_fini(run);
	wf_scenario_reseed_fini(&s);
out:
	free(fabrics);
	free(run);
	return rc;
}
