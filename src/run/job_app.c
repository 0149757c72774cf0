/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_app.c - drives the executors of a job with queue pairs of the transport.
 */
#include "run/job_app.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run/job_app_priv.h"
#include "rdma/cq.h"
#include "rdma/mr.h"
#include "rdma/srq.h"
#include "sim/host/reduce.h"
#include "sim/prog/conn.h"
#include "sim/sim.h"

#define REGION_BYTES (UINT64_C(1) << 40)  /* of every host; nothing is behind it */
#define MESSAGE_MAX (UINT64_C(256) << 30) /* a send queue has room for its parts */
#define ANNOUNCE_BYTES 64                 /* an entry of NCCL's FIFO of free buffers */
#define POLL 16
#define WR_ANNOUNCE UINT64_MAX

/* ---- what executors ask for ---- */

/* A work request on a connection failed; the first of a host is remembered. */
static void fail(struct job_host *h, const struct job_conn *c, enum wf_wc_status status)
{
	h->shard->errors++;
	if (h->failed != WF_WC_SUCCESS)
		return;
	h->failed = status;
	h->failed_on = c;
}

/*
 * What is longer than a message may be goes in several, of which the last tells that all are there:
 * what is posted on a queue pair arrives in order.
 */
static void post_write(struct job_host *h, struct wf_qp *qp, uint64_t bytes, uint32_t imm,
                       uint32_t rkey, uint64_t wr_id, wf_time now)
{
	struct wf_sge sge = { .lkey = wf_mr_lkey(h->mr) };
	struct wf_send_wr wr = {
		.wr_id = wr_id,
		.sge = &sge,
		.num_sge = bytes > 0,
		.opcode = WF_WR_RDMA_WRITE,
		.imm = imm,
		.rdma.rkey = rkey,
	};
	const struct wf_send_wr *bad;

	do {
		sge.length = (uint32_t)wf_min_u64(bytes, WF_MSG_MAX);
		bytes -= sge.length;
		if (bytes == 0) {
			wr.opcode = WF_WR_RDMA_WRITE_WITH_IMM;
			wr.flags = wr_id == WR_ANNOUNCE ? 0 : WF_SEND_SIGNALED;
		}
		/* There is room for all of them, and in error a queue pair takes them as well. */
		if (wf_adapter_post(h->adapter, qp, &wr, &bad, now) != 0)
			fail(h, wf_qp_user(qp), WF_WC_GENERAL_ERR);
	} while (bytes > 0);
}

/* A message goes in equal parts over the queue pairs of its connection. */
static void post_data(struct job_rank *r, struct job_conn *c, const struct wf_post *post,
                      wf_time now)
{
	uint64_t left = post->bytes;
	uint32_t place;

	if (c->out++ == 0)
		c->sends = 0;
	place = c->sends++ % JOB_SENDS;
	c->posted[post->imm % WF_EXEC_RECEIVES] = now;
	c->send[place].handle = post->handle;
	if (r->host->job->net.sockets) {
		wf_job_tcp_data(c, post, place, now);
		return;
	}
	c->send[place].left = c->qps;
	for (uint32_t q = 0; q < c->qps; q++) {
		uint64_t part = left / (c->qps - q);

		left -= part;
		post_write(r->host, c->qp[0][q], part, post->imm, c->rkey[0],
		           (uint64_t)post->conn << 32 | place, now);
	}
}

static void rank_post(void *ctx, const struct wf_post *post, wf_time now)
{
	struct job_rank *r = ctx;
	struct job_conn *c = &r->host->job->conns[post->conn];

	if (post->kind == WF_POST_ANNOUNCE && c->net && r->host->job->net.sockets)
		wf_job_tcp_announce(c, post, now);
	else if (post->kind == WF_POST_ANNOUNCE && c->net)
		post_write(r->host, c->qp[1][0], ANNOUNCE_BYTES, post->imm, c->rkey[1], WR_ANNOUNCE,
		           now);
	else if (post->kind == WF_POST_ANNOUNCE)
		wf_job_nvlink_announce(r, post, now);
	else if (c->net)
		post_data(r, c, post, now);
	else
		wf_job_nvlink_data(r, post, now);
}

static void rank_call_at(void *ctx, wf_time at)
{
	struct job_rank *r = ctx;

	r->due = wf_min_time(r->due, at);
}

static void rank_finished(void *ctx, wf_time now)
{
	struct job_rank *r = ctx;

	(void)now;
	r->host->shard->finished++;
}

static void rank_meet(void *ctx, const struct wf_op *op, uint32_t handle, wf_time now)
{
	wf_job_nvlink_meet(ctx, op, handle, now);
}

static void rank_reduce(void *ctx, const struct wf_op *op, uint32_t handle, wf_time now)
{
	const struct job_rank *r = ctx;

	wf_adapter_reduce(r->host->adapter, op->peer, op->bytes, (uint8_t)r->host->job->net.cls,
	                  (uint64_t)r->number << 32 | handle, now);
}

static const struct wf_exec_driver rank_driver = {
	.post = rank_post,
	.call_at = rank_call_at,
	.meet = rank_meet,
	.reduce = rank_reduce,
	.finished = rank_finished,
};

/* ---- what comes ---- */

void wf_job_host_plan(struct job_host *h)
{
	wf_time at = WF_TIME_NEVER;

	for (uint32_t i = 0; i < h->n_ranks; i++) {
		const struct job_rank *r = &h->job->ranks[h->first_rank + i];

		at = wf_min_time(at, wf_min_time(r->due, wf_nv_due(&r->nvlink)));
	}
	if (at != WF_TIME_NEVER)
		wf_adapter_call_at(h->adapter, at);
}

static void host_run(void *arg, struct wf_adapter *adapter, wf_time now)
{
	struct job_host *h = arg;

	(void)adapter;
	for (uint32_t i = 0; i < h->n_ranks; i++) {
		struct job_rank *r = &h->job->ranks[h->first_rank + i];

		if (!h->started)
			wf_exec_start(r->exec, now);
		wf_nv_run(&r->nvlink, now);
		if (r->due <= now) {
			r->due = WF_TIME_NEVER;
			wf_exec_run(r->exec, now);
		}
	}
	h->started = true;
	wf_job_host_plan(h);
}

static void host_side(void *arg, struct wf_adapter *adapter, const struct wf_cell *cell,
                      wf_time now)
{
	struct job_host *h = arg;

	(void)adapter;
	wf_job_nvlink_cell(h, cell, now);
	wf_job_host_plan(h);
}

/* A write came: an announcement at the sending end, a part of a message at the receiving one. */
static void take_write(struct job_host *h, const struct wf_wc *wc, wf_time now)
{
	const struct wf_recv_wr wr = { 0 };
	const struct wf_recv_wr *bad;
	struct wf_qp *qp = wf_hca_qp(wf_adapter_hca(h->adapter), wc->qp_num);
	struct job_conn *c = wf_qp_user(qp);
	uint32_t place = wc->imm % WF_EXEC_RECEIVES;

	if (wf_srq_post_recv(h->srq, &wr, &bad) != 0)
		fail(h, c, WF_WC_GENERAL_ERR);
	if (job_host_of(h->job, c->rank[0]) == h && qp == c->qp[0][0]) {
		wf_exec_announced(h->job->ranks[c->rank[0]].exec, c->end[0], wc->imm, now);
		return;
	}
	if (++c->come[place] < c->qps)
		return;
	c->come[place] = 0;
	wf_exec_arrived(h->job->ranks[c->rank[1]].exec, c->end[1], wc->imm, c->posted[place], true,
	                now);
}

static void take(struct job_host *h, const struct wf_wc *wc, wf_time now)
{
	struct job_conn *c;
	uint32_t place;

	if (wc->status != WF_WC_SUCCESS) {
		fail(h, wf_qp_user(wf_hca_qp(wf_adapter_hca(h->adapter), wc->qp_num)), wc->status);
		return;
	}
	if (wc->opcode == WF_WC_RECV_RDMA_WITH_IMM) {
		take_write(h, wc, now);
		return;
	}
	c = &h->job->conns[wc->wr_id >> 32];
	place = (uint32_t)wc->wr_id;
	if (--c->send[place].left == 0) {
		c->out--;
		wf_exec_sent(h->job->ranks[c->rank[0]].exec, c->send[place].handle, now);
	}
}

static void host_complete(void *arg, struct wf_adapter *adapter, struct wf_cq *cq, wf_time now)
{
	struct job_host *h = arg;
	struct wf_wc wc[POLL];
	int n;

	(void)adapter;
	/* Armed first: what comes while we poll is not missed. */
	wf_cq_arm(cq, false);
	while ((n = wf_cq_poll_seen(cq, POLL, wc)) > 0) {
		for (int i = 0; i < n; i++)
			take(h, &wc[i], now);
	}
	wf_job_host_plan(h);
}

static void host_reduced(void *arg, struct wf_adapter *adapter, uint64_t handle, wf_time now)
{
	struct job_host *h = arg;

	(void)adapter;
	wf_exec_reduced(h->job->ranks[handle >> 32].exec, (uint32_t)handle, now);
	wf_job_host_plan(h);
}

/* SHARP stops the job, and NCCL, which has begun it, ends with an error. */
static void host_reduce_lost(void *arg, uint32_t group, wf_time now)
{
	struct job_host *h = arg;

	(void)group, (void)now;
	h->shard->lost++;
}

static const struct wf_program host_program = {
	.run = host_run,
	.complete = host_complete,
	.side = host_side,
	.reduced = host_reduced,
	.reduce_lost = host_reduce_lost,
};

/* ---- setting up ---- */

struct peers {
	struct wf_job_app *job;
	uint32_t rank;
	int ret;
};

/* A connection from rank to peer. */
static void add_conn(void *arg, uint32_t peer, uint16_t channel)
{
	struct peers *p = arg;
	struct wf_job_app *job = p->job;
	uint32_t from = 0, to = 0;
	struct job_conn *c;
	int ret;

	if (p->ret != 0)
		return;
	if (peer >= job->schedule->n_ranks) {
		p->ret = wf_err_say(&job->err, "job: rank %u sends to rank %u; there are %u",
		                    p->rank, peer, job->schedule->n_ranks);
		return;
	}
	if (job->n_conns == job->conns_room) {
		uint32_t room = job->conns_room == 0 ? 1024 : 2 * job->conns_room;
		struct job_conn *more = realloc(job->conns, room * sizeof(*more));

		if (more == NULL) {
			p->ret = -ENOMEM;
			return;
		}
		job->conns = more;
		job->conns_room = room;
	}
	ret = wf_exec_connect(job->ranks[p->rank].exec, peer, channel, true, job->n_conns, &from);
	if (ret == -EEXIST)
		return;
	if (ret == 0)
		ret = wf_exec_connect(job->ranks[peer].exec, p->rank, channel, false, job->n_conns,
		                      &to);
	if (ret != 0) {
		p->ret = ret;
		return;
	}
	c = &job->conns[job->n_conns++];
	memset(c, 0, sizeof(*c));
	c->rank[0] = p->rank;
	c->rank[1] = peer;
	c->end[0] = from;
	c->end[1] = to;
	c->net = !wf_cluster_local(&job->cluster, p->rank, peer);
	c->qps = c->net ? (uint8_t)job->net.qps : 0;
	job->n_local += !c->net;
	job->n_qps += c->qps;
	job_host_of(job, p->rank)->n_qps += c->qps;
	job_host_of(job, peer)->n_qps += c->qps;
}

static int find_conns(struct wf_job_app *job)
{
	struct peers p = { .job = job };

	for (p.rank = 0; p.rank < job->schedule->n_ranks && p.ret == 0; p.rank++) {
		if (job->schedule->ops->peers(job->schedule, p.rank, add_conn, &p) != 0)
			p.ret = -ENOMEM;
	}
	return p.ret;
}

static struct job_shard *make_shard(struct wf_job_app *job)
{
	struct job_shard *s = job->mem->alloc(job->mem, sizeof(*s));
	uint32_t n = job->schedule->n_groups;

	if (s == NULL)
		return NULL;
	s->counts.groups = job->mem->alloc(job->mem, (n + (size_t)1) * sizeof(*s->counts.groups));
	if (s->counts.groups == NULL) {
		job->mem->free(job->mem, s);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		s->counts.groups[i] = (struct wf_group_time){ .begin = WF_TIME_NEVER, .end = -1 };
	return s;
}

/* The shard that a host's thread counts in. */
static int take_shard(struct wf_job_app *job, struct job_host *h)
{
	unsigned number = wf_adapter_device(h->adapter)->shard->number;

	if (number >= job->n_shards) {
		struct job_shard **more =
			realloc(job->shards, (number + 1) * sizeof(struct job_shard *));

		if (more == NULL)
			return -ENOMEM;
		memset(more + job->n_shards, 0,
		       (number + 1 - job->n_shards) * sizeof(struct job_shard *));
		job->shards = more;
		job->n_shards = number + 1;
	}
	if (job->shards[number] == NULL)
		job->shards[number] = make_shard(job);
	h->shard = job->shards[number];
	return h->shard == NULL ? -ENOMEM : 0;
}

static void lay_out(struct wf_job_app *job)
{
	/* The last server may have NICs without ranks. */
	for (uint32_t i = 0; i < job->n_hosts; i++) {
		job->hosts[i].job = job;
		job->hosts[i].number = i;
	}
	for (uint32_t i = 0; i < job->schedule->n_ranks; i++) {
		uint32_t number = wf_cluster_host(&job->cluster, i);
		struct job_host *h = &job->hosts[number];

		if (h->n_ranks++ == 0)
			h->first_rank = i;
		job->ranks[i].host = h;
		job->ranks[i].number = i;
		job->ranks[i].due = WF_TIME_NEVER;
		wf_nv_init(&job->ranks[i].nvlink, &job->net.nvlink, &wf_job_nvlink_user,
		           &job->ranks[i], job->mem);
	}
}

static int make_ranks(struct wf_job_app *job)
{
	int ret = 0;

	for (uint32_t i = 0; i < job->schedule->n_ranks && ret == 0; i++) {
		const struct wf_exec_cfg cfg = { .schedule = job->schedule,
			                         .driver = &rank_driver,
			                         .ctx = &job->ranks[i],
			                         .observer = job->observer,
			                         .mem = job->mem,
			                         .rank = i };

		ret = wf_exec_create(&cfg, &job->ranks[i].exec);
	}
	return ret;
}

/*
 * How long word takes from one GPU of a server to another: a message NVLink's latency, which no
 * meeting is shorter than; where there are only meetings, up to what the shortest takes.
 */
static wf_time side_delay(const struct wf_job_app *job)
{
	if (job->n_local > 0)
		return job->net.nvlink.latency;
	return wf_min_time(job->schedule->shortest_meet, WF_US);
}

#define COUNTED_RANKS 4
#define HOP_BYTES 1024 /* a packet of 4 KiB passes about four links */

/* Work is counted in what it takes to simulate it: an operation, a packet on one of its links. */
static uint64_t work(uint64_t ops, uint64_t net_bytes)
{
	return ops + net_bytes / HOP_BYTES;
}

/* Guesses how much work there is: that of some ranks, times the others. */
static int count_work(struct wf_job_app *job)
{
	const struct wf_schedule *s = job->schedule;
	uint32_t step = (s->n_ranks + COUNTED_RANKS - 1) / COUNTED_RANKS, ranks = 0;
	uint64_t ops = 0, bytes = 0;
	void *cursor = job->mem->alloc(job->mem, s->ops->cursor + 1);

	if (cursor == NULL)
		return -ENOMEM;
	for (uint32_t rank = 0; rank < s->n_ranks; rank += step, ranks++) {
		for (uint32_t stream = 0; stream < s->ops->streams(s, rank); stream++) {
			struct wf_op op = { .kind = WF_OP_CALC };

			memset(cursor, 0, s->ops->cursor);
			s->ops->start(s, rank, stream, cursor);
			for (; s->ops->next(s, cursor, &op); ops++) {
				if (op.kind == WF_OP_REDUCE ||
				    (op.kind == WF_OP_SEND &&
				     op.peer / job->cluster.gpus != rank / job->cluster.gpus))
					bytes += op.bytes;
				op = (struct wf_op){ .unit = WF_UNIT_NONE, .group = WF_GROUP_NONE };
			}
		}
	}
	job->mem->free(job->mem, cursor);
	job->work = work(ops, bytes) * s->n_ranks / (ranks > 0 ? ranks : 1);
	return 0;
}

int wf_job_app_create(const struct wf_schedule *schedule, const struct wf_cluster *cluster,
                      const struct wf_job_net *net, const struct wf_cc_choice *cc,
                      const struct wf_job_observer *observer, uint32_t n_hosts,
                      struct wf_job_app **app_p, struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	uint32_t servers = (schedule->n_ranks + cluster->gpus - 1) / cluster->gpus;
	struct wf_job_app *job;
	int ret;

	if (schedule->max_message > MESSAGE_MAX)
		return wf_err_say(err,
		                  "job: a message of %" PRIu64 " bytes is too long; %" PRIu64
		                  " are possible",
		                  schedule->max_message, MESSAGE_MAX);
	if ((uint64_t)servers * cluster->nics > n_hosts)
		return wf_err_say(
			err,
			"gpus_per_server: %u GPUs are in %u servers with %u NICs each; the "
			"topology has only %u hosts",
			schedule->n_ranks, servers, cluster->nics, n_hosts);
	job = mem->alloc(mem, sizeof(*job));
	if (job == NULL)
		return -ENOMEM;
	job->schedule = schedule;
	job->cluster = *cluster;
	job->net = *net;
	job->cc = cc;
	job->observer = observer;
	job->mem = mem;
	job->parts = (uint32_t)((schedule->max_message / net->qps + WF_MSG_MAX) / WF_MSG_MAX);
	job->n_hosts = servers * cluster->nics;
	job->hosts = mem->alloc(mem, job->n_hosts * sizeof(*job->hosts));
	job->ranks = mem->alloc(mem, schedule->n_ranks * sizeof(*job->ranks));
	ret = job->hosts == NULL || job->ranks == NULL ? -ENOMEM : 0;
	if (ret == 0) {
		lay_out(job);
		ret = make_ranks(job);
	}
	if (ret == 0)
		ret = find_conns(job);
	if (ret == 0)
		ret = count_work(job);
	if (ret == 0)
		job->side_delay = side_delay(job);
	if (ret == -EINVAL)
		*err = job->err;
	if (ret != 0) {
		wf_job_app_destroy(job);
		return ret;
	}
	*app_p = job;
	return 0;
}

void wf_job_app_destroy(struct wf_job_app *job)
{
	struct wf_mem *mem;

	if (job == NULL)
		return;
	mem = job->mem;
	for (uint32_t i = 0; job->ranks != NULL && i < job->schedule->n_ranks; i++) {
		wf_exec_destroy(job->ranks[i].exec);
		wf_nv_fini(&job->ranks[i].nvlink);
	}
	for (unsigned i = 0; i < job->n_shards; i++) {
		if (job->shards[i] != NULL)
			mem->free(mem, job->shards[i]->counts.groups);
		mem->free(mem, job->shards[i]);
	}
	free(job->shards);
	free(job->conns);
	mem->free(mem, job->qps);
	mem->free(mem, job->socks);
	mem->free(mem, job->ranks);
	mem->free(mem, job->hosts);
	mem->free(mem, job);
}

/* ---- as an application ---- */

/* Receives that may be taken before the program sees them. */
static uint32_t receives(const struct job_host *h)
{
	return (uint32_t)wf_min_u64(32768, 64 + UINT64_C(16) * h->n_qps);
}

/*
 * Receives that are announced on a connection at a time. With many connections they are few, since
 * every queue pair has room for the messages of twice as many: those that have come and are not
 * acknowledged yet.
 */
static uint32_t announced(const struct wf_job_app *job)
{
	return job->n_qps / job->n_hosts > JOB_MANY ? WF_EXEC_RECEIVES / 4 : WF_EXEC_RECEIVES;
}

/* Operations that can have started on a host. */
static uint64_t in_flight(const struct job_host *h)
{
	const struct wf_schedule *s = h->job->schedule;
	uint64_t ops = 0;

	for (uint32_t i = 0; i < h->n_ranks; i++) {
		uint32_t rank = h->first_rank + i;

		for (uint32_t k = 0; k < s->ops->streams(s, rank); k++)
			ops += s->ops->window(s, rank, k);
	}
	return ops;
}

/* All receives, and the sends of all queue pairs or of all operations. */
static uint32_t completions(const struct job_host *h)
{
	uint64_t sends = wf_min_u64(UINT64_C(2) * announced(h->job) * h->n_qps,
	                            in_flight(h) * h->job->net.qps);

	return (uint32_t)wf_min_u64(UINT32_C(1) << 20, 64 + receives(h) + sends);
}

static void job_attr(void *arg, uint32_t host, struct wf_hca_attr *attr)
{
	const struct wf_job_app *job = arg;

	attr->max_mr = 1;
	attr->max_events = 4;
	attr->max_rd_atomic = 16;
	if (host >= job->n_hosts) {
		attr->max_qp = 1;
		return;
	}
	attr->max_qp = job->hosts[host].n_qps + 1;
	attr->max_cqe = completions(&job->hosts[host]);
}

static int open_host(struct job_host *h)
{
	const struct wf_mr_attr region = {
		.length = REGION_BYTES,
		.access = WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE_WRITE,
	};
	const struct wf_srq_attr srq = { .max_wr = receives(h), .max_sge = 1 };
	struct wf_hca *hca = wf_adapter_hca(h->adapter);
	const struct wf_recv_wr wr = { 0 };
	const struct wf_recv_wr *bad;
	int ret = wf_pd_create(hca, &h->pd);

	if (ret == 0)
		ret = wf_mr_reg(h->pd, &region, &h->mr);
	if (ret == 0)
		ret = wf_cq_create(hca, completions(h), &h->cq);
	if (ret == 0)
		ret = wf_srq_create(h->pd, &srq, &h->srq);
	for (uint32_t i = 0; i < srq.max_wr && ret == 0; i++)
		ret = wf_srq_post_recv(h->srq, &wr, &bad);
	if (ret == 0)
		wf_cq_arm(h->cq, false);
	for (uint32_t i = 0; i < h->n_ranks && ret == 0; i++) {
		struct wf_exec *exec = h->job->ranks[h->first_rank + i].exec;

		wf_exec_set_counts(exec, &h->shard->counts);
		wf_exec_set_receives(exec, announced(h->job));
	}
	return ret;
}

static int make_qp(struct job_host *h, const struct wf_fabric *fabric, struct job_conn *c,
                   struct wf_qp **qp_p, struct wf_err *err)
{
	struct wf_qp_init init = {
		.type = WF_QPT_RC,
		.send_cq = h->cq,
		.recv_cq = h->cq,
		.srq = h->srq,
		.cap = { .max_send_wr = 2 * announced(h->job) * h->job->parts, .max_send_sge = 1 },
	};
	int ret = wf_conn_tune(fabric, h->number, h->job->cc, &init.tune, err);

	if (ret == 0)
		ret = wf_qp_create(h->pd, &init, qp_p);
	if (ret == 0)
		wf_qp_set_user(*qp_p, c);
	return ret;
}

static int connect_one(struct wf_job_app *job, const struct wf_fabric *fabric, struct job_conn *c,
                       uint32_t q, struct wf_err *err)
{
	struct job_host *a = job_host_of(job, c->rank[0]), *b = job_host_of(job, c->rank[1]);
	int ret = make_qp(a, fabric, c, &c->qp[0][q], err);

	if (ret == 0)
		ret = make_qp(b, fabric, c, &c->qp[1][q], err);
	if (ret == 0)
		ret = wf_conn_up(fabric, c->qp[0][q], b->number, wf_qp_num(c->qp[1][q]),
		                 (uint8_t)job->net.cls, WF_ACCESS_REMOTE_WRITE);
	if (ret == 0)
		ret = wf_conn_up(fabric, c->qp[1][q], a->number, wf_qp_num(c->qp[0][q]),
		                 (uint8_t)job->net.cls, WF_ACCESS_REMOTE_WRITE);
	c->rkey[0] = wf_mr_rkey(b->mr);
	c->rkey[1] = wf_mr_rkey(a->mr);
	return ret;
}

static int connect_all(struct wf_job_app *job, const struct wf_fabric *fabric, struct wf_err *err)
{
	struct wf_qp **next;
	int ret = 0;

	job->qps = job->mem->alloc(job->mem, (2 * (size_t)job->n_qps + 1) * sizeof(struct wf_qp *));
	if (job->qps == NULL)
		return -ENOMEM;
	next = job->qps;
	for (uint32_t i = 0; i < job->n_conns && ret == 0; i++) {
		struct job_conn *c = &job->conns[i];

		c->qp[0] = next;
		c->qp[1] = next + c->qps;
		next += 2 * (size_t)c->qps;
		for (uint32_t q = 0; q < c->qps && ret == 0; q++)
			ret = connect_one(job, fabric, c, q, err);
	}
	return ret;
}

static int job_start(void *arg, const struct wf_fabric *fabric, struct wf_adapter **adapters,
                     struct wf_err *err)
{
	struct wf_job_app *job = arg;
	enum wf_mtu mtu;
	int ret = job->net.sockets ? 0 : wf_conn_mtu(fabric, &mtu, err);

	for (uint32_t i = 0; i < job->n_hosts && ret == 0; i++) {
		struct job_host *h = &job->hosts[i];

		h->adapter = adapters[i];
		wf_adapter_add_program(h->adapter, &host_program, h);
		ret = take_shard(job, h);
		if (ret == 0)
			ret = open_host(h);
	}
	if (ret == 0)
		ret = wf_job_nvlink_start(job);
	if (ret == 0)
		ret = job->net.sockets ? wf_job_tcp_start(job, fabric)
		                       : connect_all(job, fabric, err);
	if (ret == -EINVAL && err->text[0] == '\0')
		return wf_err_say(err, "job: a queue pair cannot be set up so (too many "
		                       "connections)");
	return ret;
}

/* All ranks have come to their end, or cannot any more. */
static bool job_done(void *arg, wf_time now)
{
	const struct wf_job_app *job = arg;
	uint64_t finished = 0, errors = 0;

	(void)now;
	for (unsigned i = 0; i < job->n_shards; i++) {
		finished += job->shards[i] != NULL ? job->shards[i]->finished : 0;
		errors +=
			job->shards[i] != NULL ? job->shards[i]->errors + job->shards[i]->lost : 0;
	}
	return finished == job->schedule->n_ranks || errors > 0;
}

static uint32_t job_share(void *arg)
{
	const struct wf_job_app *job = arg;
	uint64_t ops = 0, bytes = 0, done;

	for (unsigned i = 0; i < job->n_shards; i++) {
		if (job->shards[i] == NULL)
			continue;
		ops += job->shards[i]->counts.ops;
		bytes += job->shards[i]->counts.bytes[1];
	}
	done = work(ops, bytes);
	if (done >= job->work)
		return job->work > 0 ? WF_SIM_ALL : 0;
	return (uint32_t)((unsigned __int128)done * WF_SIM_ALL / job->work);
}

void wf_job_app_init(struct wf_job_app *job, struct wf_sim_app *app)
{
	*app = (struct wf_sim_app){
		.arg = job,
		.tcp = job->net.sockets,
		.side_delay = job->side_delay,
		.attr = job_attr,
		.start = job_start,
		.done = job_done,
		.share = job_share,
	};
}
