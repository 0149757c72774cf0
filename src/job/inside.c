/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inside.c - a server of its own: executors, their NVLinks, and an event loop.
 */
#include "job/inside.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "job/exec.h"
#include "job/plan.h"
#include "job/plan_coll.h"

#define FIRST_ROOM 16

/* What makes a collective's time. */
struct known {
	struct wf_coll coll; /* comm.n 0: a free place */
	wf_time time;
};

struct wf_inside {
	struct wf_cluster cluster; /* of one server */
	const struct wf_coll_cfg *cfg;
	struct wf_nvlink nvlink;
	struct wf_mem *mem;
	struct known *table; /* open addressing, at most half full */
	uint32_t n, room;
};

/* ---- the table ---- */

/* Where a group is makes no difference: all GPUs of a server are alike. */
static bool same(const struct wf_coll *a, const struct wf_coll *b)
{
	return a->kind == b->kind && a->alg == b->alg && a->proto == b->proto &&
	       a->bytes == b->bytes && a->comm.n == b->comm.n;
}

static struct known *find(const struct wf_inside *in, const struct wf_coll *coll)
{
	uint64_t h = (coll->bytes * 64 + coll->comm.n) * 16 + coll->kind;
	uint32_t i = (uint32_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	while (in->table[i & (in->room - 1)].coll.comm.n != 0 &&
	       !same(&in->table[i & (in->room - 1)].coll, coll))
		i++;
	return &in->table[i & (in->room - 1)];
}

static int make_room(struct wf_inside *in)
{
	struct wf_inside larger = *in;

	if (2 * (in->n + 1) <= in->room)
		return 0;
	larger.room = in->room == 0 ? FIRST_ROOM : 2 * in->room;
	larger.table = in->mem->alloc(in->mem, larger.room * sizeof(*larger.table));
	if (larger.table == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->room; i++) {
		if (in->table[i].coll.comm.n != 0)
			*find(&larger, &in->table[i].coll) = in->table[i];
	}
	in->mem->free(in->mem, in->table);
	*in = larger;
	return 0;
}

/* ---- a server ---- */

struct gpu {
	struct server *server;
	struct wf_exec *exec;
	struct wf_nv_port nvlink;
	wf_time due;
};

struct conn {
	uint32_t rank[2], end[2]; /* 0 sends, 1 receives */
};

/* Something on its way through the switch. All take the same time, so they come in in order. */
struct passing {
	wf_time at;
	struct wf_nv_message m;
	bool announces;
};

struct server {
	struct wf_mem *mem;
	wf_time latency;
	struct gpu *gpus;
	uint32_t n;
	struct conn *conns;
	uint32_t n_conns, conns_room;
	struct passing *passing;
	uint32_t head, tail, room; /* room: a power of two, or 0 */
	wf_time end;               /* of the last rank that has finished */
	int ret;
};

static void pass(struct server *s, const struct wf_nv_message *m, bool announces, wf_time now)
{
	if (s->head - s->tail == s->room) {
		uint32_t room = s->room == 0 ? FIRST_ROOM : 2 * s->room;
		struct passing *more = s->mem->alloc(s->mem, room * sizeof(*more));

		if (more == NULL) {
			s->ret = -ENOMEM;
			return;
		}
		for (uint32_t i = s->tail; i != s->head; i++)
			more[i & (room - 1)] = s->passing[i & (s->room - 1)];
		s->mem->free(s->mem, s->passing);
		s->passing = more;
		s->room = room;
	}
	s->passing[s->head++ & (s->room - 1)] =
		(struct passing){ .at = now + s->latency, .m = *m, .announces = announces };
}

static void message_leaves(void *ctx, const struct wf_nv_message *m, wf_time now)
{
	const struct gpu *g = ctx;

	pass(g->server, m, false, now);
}

static void message_left(void *ctx, const struct wf_nv_message *m, wf_time now)
{
	const struct gpu *g = ctx;

	wf_exec_sent(g->exec, m->handle, now);
}

static void message_there(void *ctx, const struct wf_nv_message *m, wf_time now)
{
	const struct gpu *g = ctx;

	wf_exec_arrived(g->exec, g->server->conns[m->conn].end[1], m->imm, m->posted, false, now);
}

static const struct wf_nv_user nvlink_user = {
	.leaves = message_leaves,
	.left = message_left,
	.there = message_there,
};

static void gpu_post(void *ctx, const struct wf_post *post, wf_time now)
{
	struct gpu *g = ctx;
	const struct wf_nv_message m = {
		.bytes = post->bytes, .conn = post->conn, .imm = post->imm, .handle = post->handle
	};

	if (post->kind == WF_POST_ANNOUNCE)
		pass(g->server, &m, true, now);
	else
		wf_nv_send(&g->nvlink, &m, now);
}

static void gpu_call_at(void *ctx, wf_time at)
{
	struct gpu *g = ctx;

	g->due = wf_min_time(g->due, at);
}

/* A server of its own has nothing that is only calculated. */
static void gpu_meet(void *ctx, const struct wf_op *op, uint32_t handle, wf_time now)
{
	(void)ctx;
	(void)op;
	(void)handle;
	(void)now;
	assert(0);
}

static void gpu_finished(void *ctx, wf_time now)
{
	const struct gpu *g = ctx;

	g->server->end = wf_max_time(g->server->end, now);
}

/* What stays inside a server reaches no network. */
static void gpu_reduce(void *ctx, const struct wf_op *op, uint32_t handle, wf_time now)
{
	(void)ctx;
	(void)op;
	(void)handle;
	(void)now;
	assert(false);
}

static const struct wf_exec_driver gpu_driver = {
	.post = gpu_post,
	.call_at = gpu_call_at,
	.meet = gpu_meet,
	.reduce = gpu_reduce,
	.finished = gpu_finished,
};

struct peers {
	struct server *server;
	uint32_t rank;
};

static void connect_peer(void *arg, uint32_t peer, uint16_t channel)
{
	const struct peers *p = arg;
	struct server *s = p->server;
	struct conn c = { .rank = { p->rank, peer } };
	int ret;

	if (s->n_conns == s->conns_room && s->ret == 0) {
		uint32_t room = s->conns_room == 0 ? FIRST_ROOM : 2 * s->conns_room;
		struct conn *more = s->mem->alloc(s->mem, room * sizeof(*more));

		if (more == NULL) {
			s->ret = -ENOMEM;
			return;
		}
		if (s->n_conns > 0)
			memcpy(more, s->conns, s->n_conns * sizeof(*more));
		s->mem->free(s->mem, s->conns);
		s->conns = more;
		s->conns_room = room;
	}
	if (s->ret != 0)
		return;
	ret = wf_exec_connect(s->gpus[p->rank].exec, peer, channel, true, s->n_conns, &c.end[0]);
	if (ret == -EEXIST)
		return;
	if (ret == 0)
		ret = wf_exec_connect(s->gpus[peer].exec, p->rank, channel, false, s->n_conns,
		                      &c.end[1]);
	s->ret = ret;
	if (ret == 0)
		s->conns[s->n_conns++] = c;
}

static void run_gpu(struct gpu *g, wf_time now)
{
	wf_nv_run(&g->nvlink, now);
	if (g->due <= now) {
		g->due = WF_TIME_NEVER;
		wf_exec_run(g->exec, now);
	}
}

/* What comes through the switch at now. */
static void come_in(struct server *s, wf_time now)
{
	while (s->tail != s->head && s->passing[s->tail & (s->room - 1)].at <= now) {
		struct passing p = s->passing[s->tail++ & (s->room - 1)];
		const struct conn *c = &s->conns[p.m.conn];

		if (p.announces)
			wf_exec_announced(s->gpus[c->rank[0]].exec, c->end[0], p.m.imm, now);
		else
			wf_nv_comes(&s->gpus[c->rank[1]].nvlink, &p.m, now);
	}
}

static void run_server(struct server *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		wf_exec_start(s->gpus[i].exec, 0);
	while (s->ret == 0) {
		wf_time now =
			s->tail != s->head ? s->passing[s->tail & (s->room - 1)].at : WF_TIME_NEVER;

		for (uint32_t i = 0; i < s->n; i++)
			now = wf_min_time(
				now, wf_min_time(s->gpus[i].due, wf_nv_due(&s->gpus[i].nvlink)));
		if (now == WF_TIME_NEVER)
			break;
		come_in(s, now);
		for (uint32_t i = 0; i < s->n; i++)
			run_gpu(&s->gpus[i], now);
	}
	for (uint32_t i = 0; i < s->n && s->ret == 0; i++) {
		if (wf_exec_out_of_memory(s->gpus[i].exec) || s->gpus[i].nvlink.no_memory)
			s->ret = -ENOMEM;
	}
}

/* Executes a schedule on a server. */
static int execute(const struct wf_inside *in, const struct wf_schedule *schedule, wf_time *time_p)
{
	struct wf_mem *mem = in->mem;
	struct server s = { .mem = mem, .latency = in->nvlink.latency, .n = schedule->n_ranks };
	struct wf_group_time group = { .begin = WF_TIME_NEVER, .end = -1 };
	struct wf_exec_counts *counts = mem->alloc(mem, sizeof(*counts));
	struct wf_exec_cfg cfg = {
		.schedule = schedule, .driver = &gpu_driver, .counts = counts, .mem = mem
	};

	s.gpus = mem->alloc(mem, s.n * sizeof(*s.gpus));
	if (s.gpus == NULL || counts == NULL)
		s.ret = -ENOMEM;
	else
		counts->groups = &group;
	for (cfg.rank = 0; cfg.rank < s.n && s.ret == 0; cfg.rank++) {
		struct gpu *g = &s.gpus[cfg.rank];

		g->server = &s;
		g->due = WF_TIME_NEVER;
		cfg.ctx = g;
		wf_nv_init(&g->nvlink, &in->nvlink, &nvlink_user, g, mem);
		s.ret = wf_exec_create(&cfg, &g->exec);
	}
	for (struct peers p = { .server = &s }; p.rank < s.n && s.ret == 0; p.rank++) {
		if (schedule->ops->peers(schedule, p.rank, connect_peer, &p) != 0)
			s.ret = -ENOMEM;
	}
	if (s.ret == 0)
		run_server(&s);
	*time_p = s.end;
	for (uint32_t i = 0; s.gpus != NULL && i < s.n; i++) {
		wf_exec_destroy(s.gpus[i].exec);
		wf_nv_fini(&s.gpus[i].nvlink);
	}
	mem->free(mem, s.gpus);
	mem->free(mem, s.conns);
	mem->free(mem, s.passing);
	mem->free(mem, counts);
	return s.ret;
}

/* ---- what others see ---- */

int wf_inside_create(const struct wf_cluster *cluster, const struct wf_coll_cfg *cfg,
                     const struct wf_nvlink *nvlink, struct wf_mem *mem,
                     struct wf_inside **inside_p)
{
	struct wf_inside *in = mem->alloc(mem, sizeof(*in));

	if (in == NULL)
		return -ENOMEM;
	in->cluster = *cluster;
	in->cluster.n_ranks = cluster->gpus;
	in->cfg = cfg;
	in->nvlink = *nvlink;
	in->mem = mem;
	*inside_p = in;
	return 0;
}

void wf_inside_destroy(struct wf_inside *in)
{
	if (in == NULL)
		return;
	in->mem->free(in->mem, in->table);
	in->mem->free(in->mem, in);
}

bool wf_inside_has(const struct wf_cluster *cluster, const struct wf_comm *comm)
{
	return wf_cluster_local(cluster, wf_comm_rank(comm, 0), wf_comm_rank(comm, comm->n - 1));
}

int wf_inside_learn(struct wf_inside *in, const struct wf_coll *coll)
{
	struct wf_coll mine = *coll;
	struct wf_schedule *schedule;
	struct wf_plan *plan;
	wf_time time;
	int ret = make_room(in);

	if (ret != 0 || find(in, coll)->coll.comm.n != 0)
		return ret;
	mine.comm = (struct wf_comm){ .n = coll->comm.n, .stride = 1 };
	ret = wf_plan_coll_create(&in->cluster, &mine, 1, in->mem, &plan);
	if (ret == 0)
		ret = wf_plan_schedule(plan, in->cfg, NULL, NULL, in->mem, &schedule);
	if (ret != 0)
		return ret;
	ret = execute(in, schedule, &time);
	wf_schedule_destroy(schedule);
	if (ret != 0)
		return ret;
	*find(in, coll) = (struct known){ .coll = mine, .time = time };
	in->n++;
	return 0;
}

wf_time wf_inside_time(const struct wf_inside *in, const struct wf_coll *coll)
{
	const struct known *k = find(in, coll);

	assert(k->coll.comm.n != 0);
	return k->time;
}
