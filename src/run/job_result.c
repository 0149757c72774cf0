/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_result.c - what a job's run comes to.
 */
#include <errno.h>
#include <string.h>

#include "run/job_app_priv.h"

void wf_job_app_group(const struct wf_job_app *job, uint32_t group, struct wf_job_group *g)
{
	const struct wf_schedule *s = job->schedule;

	memset(g, 0, sizeof(*g));
	s->ops->group(s, group, &g->group);
	g->time = (struct wf_group_time){ .begin = WF_TIME_NEVER, .end = -1 };
	for (unsigned i = 0; i < job->n_shards; i++) {
		const struct wf_group_time *t;

		if (job->shards[i] == NULL)
			continue;
		t = &job->shards[i]->counts.groups[group];
		g->time.begin = wf_min_time(g->time.begin, t->begin);
		g->time.end = wf_max_time(g->time.end, t->end);
		g->time.longest = wf_max_time(g->time.longest, t->longest);
		g->time.ranks += t->ranks;
	}
	/*
	 * Where several communicators do the same (each server's tensor-parallel group), how far
	 * they are apart is no time of the collective.
	 */
	g->took = g->time.ranks > g->group.ranks ? g->time.longest : g->time.end - g->time.begin;
	if (g->group.algorithm == NULL || g->time.ranks < g->group.ranks || g->group.bytes == 0 ||
	    g->took <= 0)
		return;
	g->algbw =
		(uint64_t)((unsigned __int128)g->group.bytes * (uint64_t)WF_S / (uint64_t)g->took);
	if (g->group.busbw[1] != 0)
		g->busbw = (uint64_t)((unsigned __int128)g->group.bytes * (uint64_t)WF_S *
		                      g->group.busbw[0] / g->group.busbw[1] / (uint64_t)g->took);
}

/*
 * Retries that come to nothing are the fabric's doing, and with them all that is behind is flushed.
 */
static bool is_fabrics(enum wf_wc_status status)
{
	return status == WF_WC_SUCCESS || status == WF_WC_RETRY_EXC_ERR ||
	       status == WF_WC_RNR_RETRY_EXC_ERR || status == WF_WC_WR_FLUSH_ERR;
}

int wf_job_app_check(const struct wf_job_app *job, struct wf_err *err)
{
	for (unsigned i = 0; i < job->n_shards; i++)
		if (job->shards[i] != NULL && job->shards[i]->no_memory)
			return -ENOMEM;
	for (uint32_t i = 0; i < job->schedule->n_ranks; i++)
		if (wf_exec_out_of_memory(job->ranks[i].exec) || job->ranks[i].nvlink.no_memory)
			return -ENOMEM;
	for (uint32_t i = 0; i < job->n_hosts; i++) {
		const struct job_host *h = &job->hosts[i];

		if (is_fabrics(h->failed))
			continue;
		wf_err_say(err, "job: a work request of rank %u for rank %u failed: %s",
		           h->failed_on->rank[0], h->failed_on->rank[1],
		           wf_wc_status_name(h->failed));
		return -EIO;
	}
	return 0;
}

static void add_ranks(const struct wf_job_app *job, struct wf_job_result *r)
{
	uint32_t n = job->schedule->n_ranks;
	wf_time busy = 0, exposed = 0;

	r->busy_min = WF_TIME_NEVER;
	for (uint32_t i = 0; i < n; i++) {
		struct wf_exec_result x;

		wf_exec_result(job->ranks[i].exec, &x);
		r->end = wf_max_time(r->end, x.end);
		r->busy_min = wf_min_time(r->busy_min, x.busy);
		r->busy_max = wf_max_time(r->busy_max, x.busy);
		r->exposed_max = wf_max_time(r->exposed_max, x.end - x.busy);
		busy += x.busy / n;
		exposed += (x.end - x.busy) / n;
		if (x.finished)
			continue;
		r->finished = false;
		if (r->n_stuck < WF_JOB_STUCK)
			(void)wf_exec_stuck(job->ranks[i].exec, &r->stuck[r->n_stuck]);
		r->n_stuck++;
	}
	r->busy_mean = busy;
	r->exposed_mean = exposed;
}

void wf_job_app_result(const struct wf_job_app *job, struct wf_job_result *r)
{
	memset(r, 0, sizeof(*r));
	r->finished = true;
	r->n_groups = job->schedule->n_groups;
	r->n_connections = job->n_conns;
	r->n_queue_pairs = 2 * job->n_qps;
	add_ranks(job, r);
	for (unsigned i = 0; i < job->n_shards; i++) {
		const struct job_shard *s = job->shards[i];

		if (s == NULL)
			continue;
		for (int net = 0; net < 2; net++) {
			r->messages[net] += s->counts.messages[net];
			r->bytes[net] += s->counts.bytes[net];
			wf_hist_merge(&r->latency[net], &s->counts.latency[net]);
		}
		r->ops += s->counts.ops;
		r->errors += s->errors;
	}
}
