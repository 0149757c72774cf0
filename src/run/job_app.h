/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_app.h - a schedule on the hosts of a simulation.
 *
 * Each rank is run by an executor (job/exec.h) on the thread of its NIC's adapter. What goes to
 * another server goes as RDMA WRITE with immediate on RC queue pairs, which are connected before
 * the run: announcements of receives as small writes, data as one write per queue pair of the
 * connection. What stays in the server goes over NVLink: out at the GPU's rate, through a switch
 * after a latency, in at the GPU's rate.
 */
#ifndef WF_RUN_JOB_APP_H
#define WF_RUN_JOB_APP_H

#include "base/hist.h"
#include "job/cluster.h"
#include "job/exec.h"
#include "job/net.h"
#include "sim/prog/app.h"
#include "sim/prog/cc_choice.h"

/* What a group took. */
struct wf_job_group {
	struct wf_group group;
	struct wf_group_time time; /* begin of the first rank, end of the last */
	wf_time took; /* from begin to end, or the longest on a rank where several did the same */
	uint64_t algbw, busbw; /* bytes/s, as nccl-tests has them; 0: not over, or it has none */
};

struct wf_job_result {
	bool finished;
	wf_time end;          /* of the last operation */
	uint64_t messages[2]; /* [0] NVLink, [1] the fabric */
	uint64_t bytes[2];    /* of them, protocol included */
	uint64_t ops;
	uint64_t errors;                       /* completions in error */
	struct wf_hist latency[2];             /* ps: posted to in memory */
	wf_time busy_min, busy_max, busy_mean; /* computing, of a rank */
	wf_time exposed_max, exposed_mean;     /* until its end and not computing */
	uint32_t n_groups;
	uint32_t n_connections;
	uint32_t n_queue_pairs;
	/* Why it did not finish: what up to WF_JOB_STUCK ranks wait for. */
#define WF_JOB_STUCK 4
	unsigned n_stuck; /* ranks that have not finished */
	struct wf_err stuck[WF_JOB_STUCK];
};

struct wf_job_app;

/*
 * Prepares schedule for a fabric with n_hosts hosts: finds out who talks to whom. schedule, cc
 * (NULL: none) and observer (NULL: nobody) are borrowed while it lives. Returns 0, -ENOMEM, or
 * -EINVAL with a message in err of the form "<parameter>: <text>".
 */
int wf_job_app_create(const struct wf_schedule *schedule, const struct wf_cluster *cluster,
                      const struct wf_job_net *net, const struct wf_cc_choice *cc,
                      const struct wf_job_observer *observer, uint32_t n_hosts,
                      struct wf_job_app **app_p, struct wf_err *err) WF_MUST_USE;

/* It as an application of a simulation, which it must outlive. */
void wf_job_app_init(struct wf_job_app *job, struct wf_sim_app *app);

/* After the run. */
void wf_job_app_result(const struct wf_job_app *job, struct wf_job_result *result);

/*
 * After the run: whether it says anything. -EIO, with err filled, when a work request failed for
 * another reason than that the fabric did not deliver it; -ENOMEM when memory ran out; else 0.
 */
int wf_job_app_check(const struct wf_job_app *job, struct wf_err *err) WF_MUST_USE;

/* What a group took, group below the schedule's n_groups. */
void wf_job_app_group(const struct wf_job_app *job, uint32_t group, struct wf_job_group *group_p);

/* NULL is allowed. */
void wf_job_app_destroy(struct wf_job_app *job);

#endif
