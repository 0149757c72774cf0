/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h - readers of other programs' workloads.
 *
 * They get bytes in memory, whatever these are, and make a schedule or a plan, or say what is wrong
 * and where. docs/traces.md says what of each format means what here, and what is not supported.
 */
#ifndef WF_JOB_READ_H
#define WF_JOB_READ_H

#include "base/err.h"
#include "base/mem.h"
#include "job/model.h"
#include "job/plan.h"
#include "job/schedule.h"

/* Limits of one operation in a file: 11 days, a terabyte. */
#define WF_READ_MAX_NS UINT64_C(1000000000000000)
#define WF_READ_MAX_BYTES (UINT64_C(1) << 40)

/*
 * The text of a schedule in GOAL (LogGOPSim, ATLAHS). Returns 0, -ENOMEM, or -EINVAL with err
 * filled.
 */
int wf_read_goal(const char *text, size_t len, const char *file, struct wf_mem *mem,
                 struct wf_schedule **schedule_p, struct wf_err *err) WF_MUST_USE;

/* A connection matrix of htsim (.cm). Errors as above. */
int wf_read_htsim(const char *text, size_t len, const char *file, struct wf_mem *mem,
                  struct wf_schedule **schedule_p, struct wf_err *err) WF_MUST_USE;

/* ---- Chakra ---- */

/* A file in memory; everything is borrowed. */
struct wf_read_file {
	const void *bytes;
	size_t len;
	const char *name;
};

/* A named group of ranks, ascending. */
struct wf_read_group {
	const char *name;
	const uint32_t *ranks;
	uint32_t n;
};

struct wf_chakra_cfg {
	struct wf_cluster cluster;
	const struct wf_read_file *files; /* of each rank, in their order */
	const struct wf_read_group *groups;
	uint32_t n_groups;
	const struct wf_gpu_cfg *gpu; /* for calculations that say what they do, not how long */
};

/* Execution traces of MLCommons Chakra, a file for each rank. Errors as above. */
int wf_read_chakra(const struct wf_chakra_cfg *cfg, struct wf_mem *mem, struct wf_plan **plan_p,
                   struct wf_err *err) WF_MUST_USE;

/*
 * A workload of SimAI (ASTRA-sim 1.0's text, as AICB writes it) for a cluster of as many ranks as
 * it says. scale, of 2^16, is that of all bytes and times. Errors as above.
 */
int wf_read_simai(const char *text, size_t len, const char *file, const struct wf_cluster *cluster,
                  uint64_t scale, struct wf_mem *mem, struct wf_plan **plan_p,
                  struct wf_err *err) WF_MUST_USE;

#endif
