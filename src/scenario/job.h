/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - the job of a scenario: from its parameters to a schedule.
 */
#ifndef WF_SCENARIO_JOB_H
#define WF_SCENARIO_JOB_H

#include "base/param.h"
#include "job/cluster.h"
#include "job/coll.h"
#include "job/net.h"
#include "job/scale.h"
#include "job/schedule.h"
#include "job/train.h"
#include "scenario/profile.h"

/* The values of a scenario's job section. */
struct wf_job_cfg {
	struct wf_coll_cfg coll; /* its rows come first */
	char kind[24];           /* a collective's name, train, or the format of file */
	char file[256], groups[256];
	char model_name[64], gpu_name[64];
	uint32_t sequence, layers; /* 0: the model's */
	struct wf_train_cfg train; /* its rows come last */
	char algorithm[24];
	char inside[16];
	char protocol[12];
	uint64_t bytes;
	uint32_t iterations;
	uint32_t ranks; /* 0: as many as the hosts have */
	uint32_t root;
	uint32_t gpus, nics; /* per server; nics 0: one for each GPU */
	struct wf_job_net net;
	uint64_t nvlink_efficiency; /* units of 2^-16: share of nvlink_rate that data gets */

	/* filled by wf_job_load() */
	struct wf_model_cfg model;
	struct wf_gpu_cfg gpu;
	const char *from;                /* the scenario's file, which others are named from */
	const struct wf_infiles *inputs; /* what was read for it; NULL: nobody keeps account */
};

/*
 * The rows for a struct wf_job_cfg, in the arena's memory. Returns 0 or -ENOMEM.
 */
int wf_job_table(struct wf_arena *arena, const struct wf_param **rows_p, size_t *n_p) WF_MUST_USE;

/*
 * Checks what can be checked by itself. Returns 0, or -EINVAL with a message in err of the form
 * "<parameter>: <what is wrong>; <what would be right>".
 */
int wf_job_check(const struct wf_job_cfg *cfg, struct wf_err *err) WF_MUST_USE;

/* Where the ranks are, on a topology with n_hosts hosts. Returns as wf_job_check(). */
int wf_job_cluster(const struct wf_job_cfg *cfg, uint32_t n_hosts, struct wf_cluster *cluster,
                   struct wf_err *err) WF_MUST_USE;

/* How they are connected: net, with what is left to choose. */
void wf_job_net(const struct wf_job_cfg *cfg, struct wf_job_net *net);

/* What so many bytes of the real job are in the one that is run: less where that is scaled. */
uint64_t wf_job_scaled(const struct wf_job_cfg *cfg, uint64_t bytes);

/* Whether it is a training step; the other kinds are a collective's, or a trace's. */
bool wf_job_is_train(const struct wf_job_cfg *cfg);

/*
 * Reads what the values name, the model and the GPU of a training step, and adds the files of
 * traces, which are read again for each run, to inputs, kept. s are the settings of *cfg; from,
 * kept, is the scenario's file. Returns 0, -ENOMEM, or -EINVAL with err filled.
 */
int wf_job_load(struct wf_job_cfg *cfg, const struct wf_settings *s, const struct wf_place *place,
                const struct wf_paths *paths, const char *from, struct wf_infiles *inputs,
                struct wf_arena *arena, struct wf_err *err) WF_MUST_USE;

/*
 * The schedule for a network; owned by the caller. A trace says itself how many ranks it has:
 * cluster gets that. info is filled for a training step. Returns 0, -ENOMEM, or -EINVAL as
 * wf_job_check().
 */
int wf_job_schedule(const struct wf_job_cfg *cfg, struct wf_cluster *cluster,
                    const struct wf_scale_net *net, struct wf_schedule **schedule_p,
                    struct wf_train_info *info, struct wf_err *err) WF_MUST_USE;

/*
 * The schedule of a plan that may be scaled, which is taken over; coll is scaled, nvlink as in
 * wf_plan_schedule(), *excess_p as in wf_job_scale_check(). Returns as wf_job_schedule().
 */
int wf_job_plan_schedule(const struct wf_job_cfg *cfg, struct wf_plan *plan,
                         const struct wf_coll_cfg *coll, const struct wf_nvlink *nvlink,
                         const struct wf_scale_net *net, struct wf_schedule **schedule_p,
                         uint64_t *excess_p, struct wf_err *err) WF_MUST_USE;

#endif
