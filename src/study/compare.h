/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - the same job on several fabrics: the figures that decide, side by side, and a
 * verdict.
 *
 * For each fabric of a scenario: the latency of a small write between the hosts farthest apart, a
 * collective of the job's ranks at several sizes, and the job itself; all of it with each of
 * several seeds. Each is a simulation of its own; they run on as many threads as there are
 * processors and do not know of each other. What a fabric did with one seed is a run of the results
 * file, and is not done again when the file has it, of the same files and build of weft. Then the
 * slow ones are run once more with what would cure them.
 */
#ifndef WF_STUDY_COMPARE_H
#define WF_STUDY_COMPARE_H

#include <stdio.h>

#include "run/notes.h"
#include "run/record_run.h"
#include "study/stale.h"
#include "study/verdict.h"
#include "run/watch.h"

/* What is compared where a scenario names no fabric. */
#define WF_COMPARE_FABRICS                                                                         \
	"ib-ndr,ib-ndr-static,roce-400g,roce-400g-qps,roce-400g-spray,roce-400g-mistuned,uec-400g"
#define WF_COMPARE_MAX_SIZES 64
#define WF_COMPARE_MIDDLE (UINT64_C(32) << 10) /* the largest of the small messages */

/* A collective of some size. */
struct wf_compare_point {
	wf_time time;        /* -1: it did not finish */
	double algbw, busbw; /* bytes/s */
};

/* A fabric with one seed. */
struct wf_compare_run {
	uint64_t seed;
	int64_t recorded; /* its number in the results file; -1: it is not there */
	bool finished;
	struct wf_metrics metrics;
	struct wf_compare_point point[WF_COMPARE_MAX_SIZES];
	struct wf_notes notes; /* of the job */
	struct wf_err stuck;   /* what the first rank that did not finish waits for; "" */
};

struct wf_compare_fabric {
	const struct wf_scenario_fabric *fabric;
	struct wf_verdict_fabric judged; /* label, family, medians and ranges, why it is slow */
	struct wf_compare_run *run;      /* one for each seed */
	unsigned median;                 /* which of them has the median of what decides */
	struct wf_compare_point point[WF_COMPARE_MAX_SIZES]; /* medians */
	int same_as; /* the first fabric whose column would read the same; -1: it is itself */
};

struct wf_compare {
	const struct wf_scenario *scenario;
	unsigned n_sizes; /* 0: the scenario has no job to take the ranks from */
	uint64_t size[WF_COMPARE_MAX_SIZES];
	uint32_t ranks;
	unsigned seeds;
	unsigned n;
	struct wf_compare_fabric fabric[WF_SCENARIO_MAX_FABRICS];
	struct wf_verdict verdict;
	struct wf_stale stale; /* runs that the results file had and that were done anew */
};

struct wf_compare_cfg {
	const struct wf_scenario *scenario; /* built */
	unsigned at_once;                   /* simulations */
	struct wf_record_opts record;
	const struct wf_watch *watch;
};

/*
 * Compares. *result may be handed to wf_compare_fini() whatever is returned: 0, -EINTR when watch
 * said so, or what went wrong with err filled.
 */
int wf_compare(const struct wf_compare_cfg *cfg, struct wf_compare *result,
               struct wf_err *err) WF_MUST_USE;

void wf_compare_fini(struct wf_compare *result);

/*
 * The same verdict from n of the seeds, beginning with number first: that it does not depend on
 * them.
 */
void wf_compare_judge(const struct wf_compare *result, unsigned first, unsigned n, unsigned matters,
                      struct wf_verdict *verdict);

/* The tables and the verdict; and the same figures as JSON, times in ps, rates in bytes/s. */
void wf_compare_table(const struct wf_compare *result, FILE *file);
void wf_compare_json(const struct wf_compare *result, FILE *file);

#endif
