/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.h - weft perf without its command line: which messages to measure on which fabrics, and the
 * tables that come out.
 */
#ifndef WF_STUDY_PERF_H
#define WF_STUDY_PERF_H

#include <stdio.h>

#include "scenario/fabric_table.h"
#include "scenario/paths.h"
#include "scenario/scenario.h"
#include "sim/prog/perf.h"

#define WF_PERF_MAX_SIZES 64
#define WF_PERF_MAX_FABRICS 16
#define WF_PERF_SEED 1 /* of a fabric that loses packets or sprays them */

/* What to measure. */
struct wf_perf_plan {
	enum wf_perf_op op;
	bool latency, bandwidth;
	bool both_ways; /* bandwidth */
	uint64_t sizes[WF_PERF_MAX_SIZES];
	unsigned n_sizes;
	uint32_t iters; /* 0: as many as is sensible for each size */
	uint32_t qps, depth;
	uint32_t cls;
	const char *topology; /* "single", "leaf-spine", "fat-tree" … */
	const char *fabrics;  /* "a,b" */
	const struct wf_override *overrides;
	size_t n_overrides;
	const struct wf_paths *paths;
	uint64_t seed; /* WF_PERF_SEED unless somebody says another */
	/* Is told before each size of a fabric how many are done; NULL: nobody is. */
	void (*progress)(void *arg, const char *fabric, unsigned done);
	void *arg;
};

/* One size on one fabric. */
struct wf_perf_row {
	uint64_t size;
	struct wf_perf_latency latency;
	struct wf_perf_bandwidth bandwidth;
};

struct wf_perf_block {
	char label[64];
	union {
		struct wf_fabric_values values;
		struct wf_fabric_cfg cfg; /* its first member */
	};
	struct wf_perf_row row[WF_PERF_MAX_SIZES]; /* plan->n_sizes of them */
};

struct wf_perf_report {
	const struct wf_perf_plan *plan;
	unsigned switches; /* between the two hosts */
	uint64_t rate;     /* bits/s of the client's link */
	unsigned n;
	struct wf_perf_block block[WF_PERF_MAX_FABRICS];
};

/* The operation called name, or WF_PERF_OPS. */
enum wf_perf_op wf_perf_op_find(const char *name);

/*
 * Reads sizes: a list of numbers and ranges, "2,64,4K" or "2..8M", in which every size is twice the
 * one before. K, M and G are powers of 1024. Returns 0 or -EINVAL with err filled.
 */
int wf_perf_sizes_parse(const char *text, struct wf_perf_plan *plan,
                        struct wf_err *err) WF_MUST_USE;

/* Iterations of a size when nobody says how many. */
uint32_t wf_perf_default_iters(uint64_t size, bool bandwidth);

/*
 * Measures everything. Returns 0, -EINVAL with err filled (what was asked cannot be), -EIO with err
 * filled (a measurement did not come to its end), -ENOMEM, or -EAGAIN.
 */
int wf_perf_measure(const struct wf_perf_plan *plan, struct wf_perf_report *report,
                    struct wf_err *err) WF_MUST_USE;

/*
 * One measurement on a topology, a simulation of its own: fills row's latency or bandwidth. Returns
 * as wf_perf_measure().
 */
int wf_perf_one(const struct wf_topo *topo, const struct wf_fabric_cfg *fabric, uint64_t seed,
                const struct wf_perf_cfg *cfg, struct wf_perf_row *row,
                struct wf_err *err) WF_MUST_USE;

/* perftest's tables, a block for each fabric. */
void wf_perf_table(const struct wf_perf_report *report, FILE *file);

/* The same as JSON: times in ps, rates in bits/s. */
void wf_perf_json(const struct wf_perf_report *report, FILE *file);

#endif
