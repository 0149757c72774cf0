/* SPDX-License-Identifier: Apache-2.0 */
/* run_job.c - the job of a scenario in a run on one of its fabrics. */
#include "run/run_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/job_scale.h"

/* ---- two observers ---- */

static void both_op(void *arg, uint32_t rank, uint32_t stream, const struct wf_op *op,
                    wf_time start, wf_time end)
{
	const struct wf_run_job *job = arg;

	if (job->theirs->op != NULL)
		job->theirs->op(job->theirs->arg, rank, stream, op, start, end);
}

static void both_message(void *arg, uint32_t src, uint32_t dst, uint64_t bytes, wf_time posted,
                         wf_time done, bool net)
{
	const struct wf_run_job *job = arg;

	if (job->theirs->message != NULL)
		job->theirs->message(job->theirs->arg, src, dst, bytes, posted, done, net);
}

static void both_begin(void *arg, uint32_t rank, uint32_t group, wf_time now)
{
	const struct wf_run_job *job = arg;

	job->own.begin(job->own.arg, rank, group, now);
	if (job->theirs->begin != NULL)
		job->theirs->begin(job->theirs->arg, rank, group, now);
}

static void both_end(void *arg, uint32_t rank, uint32_t group, wf_time now)
{
	const struct wf_run_job *job = arg;

	job->own.end(job->own.arg, rank, group, now);
	if (job->theirs->end != NULL)
		job->theirs->end(job->theirs->arg, rank, group, now);
}

/*
 * Who watches: the caller's observer, and over a training step the one that says where time goes.
 */
static int choose_observer(const struct wf_job_cfg *cfg, const struct wf_schedule *schedule,
                           const struct wf_job_observer *theirs, struct wf_run_job *job,
                           const struct wf_job_observer **observer_p)
{
	*observer_p = theirs;
	if (!wf_job_is_train(cfg))
		return 0;
	if (wf_train_watch_create(schedule, wf_mem_heap(), &job->watch) != 0)
		return -ENOMEM;
	wf_train_watch_observer(job->watch, &job->own);
	*observer_p = &job->own;
	if (theirs == NULL)
		return 0;
	job->theirs = theirs;
	job->both =
		(struct wf_job_observer){ .arg = job,
		                          .op = theirs->op != NULL ? both_op : NULL,
		                          .message = theirs->message != NULL ? both_message : NULL,
		                          .begin = both_begin,
		                          .end = both_end };
	*observer_p = &job->both;
	return 0;
}

/* ---- who reduces in the fabric's switches ---- */

/* A communicator's heads, as hosts. */
static int join_sharp(void *arg, const uint32_t *ranks, uint32_t n, uint32_t n_groups,
                      uint32_t *first_p)
{
	const struct wf_run_job *job = arg;
	uint32_t all = n * n_groups, first;
	uint32_t *hosts = calloc(all, sizeof(*hosts));
	enum wf_sharp_no no = WF_SHARP_YES;
	int rc = hosts == NULL ? -ENOMEM : 0;

	*first_p = WF_GROUP_NONE;
	for (uint32_t i = 0; i < all && rc == 0; i++) {
		hosts[i] = wf_cluster_host(&job->cluster, ranks[i]);
		/* A trace has more ranks than there are hosts: that is refused when it is read. */
		if (hosts[i] >= job->sharp->topo->n_hosts)
			goto out;
	}
	if (rc == 0)
		rc = wf_sharp_join(job->sharp, hosts, n, n_groups, &first, &no);
	if (rc == 0 && no == WF_SHARP_YES)
		*first_p = first;
out:
	free(hosts);
	return rc;
}

/* Switches reduce for jobs that ask for it, over RDMA. */
static int make_sharp(const struct wf_scenario *scenario, const struct wf_run *run,
                      struct wf_run_job *job, struct wf_err *err)
{
	const struct wf_fabric_cfg *cfg = &run->fabric->cfg;
	struct wf_err why = { "" };
	int rc;

	if (!cfg->sharp.enabled || !scenario->job.cfg.coll.collnet ||
	    strcmp(cfg->nic_stack, "sockets") == 0)
		return 0;
	rc = wf_sharp_create(run->fabric->net->topo, cfg, wf_mem_heap(), &job->sharp, &why);
	if (rc == -EINVAL)
		wf_devices_err(scenario, run->fabric, &why, err);
	/* A scaled job chooses by its real sizes, here, too. */
	if (rc == 0 && cfg->sharp.streaming != (uint64_t)WF_PARAM_AUTO)
		job->sharp->cfg.streaming = wf_job_scaled(&scenario->job.cfg, cfg->sharp.streaming);
	return rc;
}

/* ---- the job ---- */

static int make_schedule(const struct wf_scenario *scenario, struct wf_run *run,
                         struct wf_run_job *job, struct wf_err *err)
{
	const struct wf_net_reducer reducer = { .arg = job, .join = join_sharp };
	struct wf_job_fabric fabric;
	int rc = wf_job_fabric_init(&fabric, run->fabric->net->topo, &run->fabric->cfg,
	                            scenario->host_rate);

	if (job->sharp != NULL)
		fabric.net.reducer = &reducer;
	if (rc == 0)
		rc = wf_job_schedule(&scenario->job.cfg, &job->cluster, &fabric.net, &run->schedule,
		                     &job->info, err);
	wf_job_fabric_fini(&fabric);
	return rc;
}

/*
 * A rail has the NICs of a number; both sides count a server's, and must agree if both say how
 * many.
 */
static int check_rails(const struct wf_scenario *scenario, const struct wf_cluster *cluster,
                       struct wf_err *err)
{
	const struct wf_place nowhere = { .file = NULL };
	const char *kind = scenario->topo_cfg.kind;
	uint32_t gpus = scenario->topo_cfg.gpus;
	bool given = wf_settings_place(&scenario->topo_settings, "gpus", &nowhere).file != NULL;

	if ((strcmp(kind, "rail") != 0 && strcmp(kind, "auto") != 0 && !given) ||
	    cluster->nics == gpus)
		return 0;
	return wf_err_say(
		err,
		"gpus_per_server: the job's servers have %u NICs, the topology's %u (gpus); "
		"ranks would be on other rails than they think; write the same",
		cluster->nics, gpus);
}

int wf_run_job_make(const struct wf_scenario *scenario, const struct wf_run_opts *opts,
                    struct wf_recording *rec, struct wf_run *run, struct wf_run_job *job,
                    struct wf_err *err)
{
	const struct wf_scenario_job *of = &scenario->job;
	const struct wf_job_observer *theirs = opts->observer, *observer = NULL;
	struct wf_job_net net;
	struct wf_err why = { "" };
	int rc = wf_job_cluster(&of->cfg, scenario->n_hosts, &job->cluster, &why);

	job->cluster.nic_rate = scenario->host_rate;
	if (rc == 0) {
		rc = make_sharp(scenario, run, job, err);
		if (rc != 0)
			return rc;
	}
	if (rc == 0)
		rc = check_rails(scenario, &job->cluster, &why);
	if (rc == 0)
		rc = make_schedule(scenario, run, job, &why);
	if (rc == 0 && theirs == NULL) {
		rc = wf_recording_job(rec, &opts->record, run->schedule, &job->cluster);
		if (rec->job != NULL)
			theirs = wf_record_job_observer(rec->job);
	}
	if (rc == 0)
		rc = choose_observer(&of->cfg, run->schedule, theirs, job, &observer);
	if (rc == 0) {
		wf_job_net(&of->cfg, &net);
		if (net.qps == 0)
			net.qps = run->fabric->values.use.job_qps;
		net.sockets = strcmp(run->fabric->cfg.nic_stack, "sockets") == 0;
		rc = wf_job_app_create(run->schedule, &job->cluster, &net, &run->fabric->values.cc,
		                       observer, scenario->n_hosts, &job->app, &why);
	}
	return rc == -EINVAL ? wf_settings_err(&of->settings, &of->place, &why, err) : rc;
}

int wf_run_job_keep(const struct wf_scenario *scenario, const struct wf_run_job *job,
                    struct wf_run *run, struct wf_err *err)
{
	uint32_t n;
	int rc;

	if (job->app == NULL)
		return 0;
	rc = wf_job_app_check(job->app, err);
	if (rc != 0)
		return rc;
	run->job = malloc(sizeof(*run->job));
	if (run->job == NULL)
		return -ENOMEM;
	run->memory = job->info.memory.total;
	if (job->sharp != NULL)
		memcpy(run->sharp, job->sharp->no, sizeof(run->sharp));
	wf_job_app_result(job->app, run->job);
	n = run->job->n_groups;
	run->job_groups = calloc(n + (size_t)1, sizeof(*run->job_groups));
	if (run->job_groups == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		wf_job_app_group(job->app, i, &run->job_groups[i]);
	if (job->watch == NULL || !run->job->finished)
		return 0;
	run->train = calloc(1, sizeof(*run->train));
	if (run->train == NULL)
		return -ENOMEM;
	run->train->info = job->info;
	wf_train_watch_result(job->watch, &job->info, &scenario->job.cfg.gpu, run->job->end,
	                      &run->train->result);
	run->train->scale = (double)scenario->job.cfg.train.scale / (double)WF_RATIO_ONE;
	run->train->exposed = run->train->result.other;
	for (enum wf_train_kind k = 0; k < WF_TRAIN_KINDS; k++)
		run->train->exposed += wf_train_is_compute(k) ? 0 : run->train->result.exposed[k];
	return 0;
}

void wf_run_job_fini(struct wf_run_job *job)
{
	wf_job_app_destroy(job->app);
	wf_train_watch_destroy(job->watch);
	wf_sharp_destroy(job->sharp);
	job->app = NULL;
	job->watch = NULL;
	job->sharp = NULL;
}
