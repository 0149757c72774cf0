/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_nvlink.c - the inside of a server in a simulation: NVLink (job/nvlink.h), and where ranks
 * meet.
 *
 * A message is one cell over the server's switch, and so is word of a rank that begins what its
 * server does together; when all have, the switch tells each of them. The switch is a node of its
 * own since hosts are late nodes, which exchange nothing with one another.
 */
#include <errno.h>
#include <string.h>

#include "job/plan.h"
#include "run/job_app_priv.h"
#include "sim/host/adapter.h"

/* A cell's words. */
enum {
	CELL_WORD,     /* a message: connection and immediate value; a meeting: rank and handle */
	CELL_BYTES,    /* or one of the values below */
	CELL_TIME,     /* posted; a meeting: when the rank has begun, or the last of all has */
	CELL_NIC,      /* of the server, to which it goes; a meeting: from which it comes */
	CELL_WHO,      /* a meeting: its first rank and tag */
	CELL_HOW_MANY, /* ranks, and channel */
};

#define CELL_ANNOUNCE (UINT64_C(1) << 63)
#define CELL_MEET (UINT64_C(1) << 62)

/* ---- out ---- */

/* NIC of its server that a rank belongs to. */
static uint64_t nic_of(const struct wf_job_app *job, uint32_t rank)
{
	return wf_cluster_nic(&job->cluster, rank);
}

static void commit(struct job_host *h, wf_time now)
{
	wf_link_commit(&h->link, wf_adapter_device(h->adapter)->node.shard,
	               now + h->job->side_delay);
}

static struct wf_cell *slot(struct job_host *h)
{
	return wf_link_slot(&h->link, wf_adapter_device(h->adapter)->node.shard);
}

static void send_cell(struct job_host *h, uint32_t to, uint64_t word, uint64_t bytes,
                      wf_time posted, wf_time now)
{
	struct wf_cell *cell = slot(h);

	cell->body[CELL_WORD] = word;
	cell->body[CELL_BYTES] = bytes;
	cell->body[CELL_TIME] = (uint64_t)posted;
	cell->body[CELL_NIC] = nic_of(h->job, to);
	commit(h, now);
}

static void message_leaves(void *ctx, const struct wf_nv_message *m, wf_time now)
{
	struct job_rank *r = ctx;

	send_cell(r->host, r->host->job->conns[m->conn].rank[1], (uint64_t)m->conn << 32 | m->imm,
	          m->bytes, m->posted, now);
}

static void message_left(void *ctx, const struct wf_nv_message *m, wf_time now)
{
	const struct job_rank *r = ctx;

	wf_exec_sent(r->exec, m->handle, now);
}

static void message_there(void *ctx, const struct wf_nv_message *m, wf_time now)
{
	const struct job_rank *r = ctx;

	wf_exec_arrived(r->exec, r->host->job->conns[m->conn].end[1], m->imm, m->posted, false,
	                now);
}

const struct wf_nv_user wf_job_nvlink_user = {
	.leaves = message_leaves,
	.left = message_left,
	.there = message_there,
};

void wf_job_nvlink_data(struct job_rank *r, const struct wf_post *post, wf_time now)
{
	const struct wf_nv_message m = {
		.bytes = post->bytes, .conn = post->conn, .imm = post->imm, .handle = post->handle
	};

	wf_nv_send(&r->nvlink, &m, now);
}

void wf_job_nvlink_announce(struct job_rank *r, const struct wf_post *post, wf_time now)
{
	send_cell(r->host, r->host->job->conns[post->conn].rank[0],
	          (uint64_t)post->conn << 32 | post->imm, CELL_ANNOUNCE, now, now);
}

void wf_job_nvlink_meet(struct job_rank *r, const struct wf_op *op, uint32_t handle, wf_time now)
{
	struct wf_cell *cell = slot(r->host);

	cell->body[CELL_WORD] = (uint64_t)r->number << 32 | handle;
	cell->body[CELL_BYTES] = CELL_MEET;
	cell->body[CELL_TIME] = (uint64_t)now;
	cell->body[CELL_NIC] = nic_of(r->host->job, r->number);
	cell->body[CELL_WHO] = (uint64_t)op->peer << 32 | op->tag;
	cell->body[CELL_HOW_MANY] = (uint64_t)op->blocks << 32 | op->channel;
	commit(r->host, now);
}

/* ---- in ---- */

void wf_job_nvlink_cell(struct job_host *h, const struct wf_cell *cell, wf_time now)
{
	uint32_t number = (uint32_t)(cell->body[CELL_WORD] >> 32);
	uint32_t low = (uint32_t)cell->body[CELL_WORD];
	struct wf_nv_message m = { .imm = low,
		                   .conn = number,
		                   .bytes = cell->body[CELL_BYTES],
		                   .posted = (wf_time)cell->body[CELL_TIME] };
	const struct job_conn *c;

	if (cell->body[CELL_BYTES] == CELL_MEET) {
		wf_exec_met(h->job->ranks[number].exec, low, (wf_time)cell->body[CELL_TIME], now);
		return;
	}
	c = &h->job->conns[number];
	if (cell->body[CELL_BYTES] == CELL_ANNOUNCE)
		wf_exec_announced(h->job->ranks[c->rank[0]].exec, c->end[0], low, now);
	else
		wf_nv_comes(&h->job->ranks[c->rank[1]].nvlink, &m, now);
}

/* ---- the switch ---- */

static void pass_on(struct nv_switch *sw, const uint64_t *body, wf_time now)
{
	struct wf_link *out = &sw->out[body[CELL_NIC]];
	struct wf_cell *cell = wf_link_slot(out, sw->node.shard);

	memcpy(cell->body, body, sizeof(cell->body));
	wf_link_commit(out, sw->node.shard, now);
}

static bool same_meeting(const uint64_t *a, const uint64_t *b)
{
	return a[CELL_WHO] == b[CELL_WHO] && a[CELL_HOW_MANY] == b[CELL_HOW_MANY];
}

/* A rank has begun: with the last of a meeting, all of them hear of it. */
static void gather(struct nv_switch *sw, const struct wf_cell *cell, wf_time now)
{
	uint32_t here = 1, kept = 0;

	for (uint32_t i = 0; i < sw->n_waiting; i++)
		here += same_meeting(sw->waiting[i].body, cell->body);
	memcpy(sw->waiting[sw->n_waiting++].body, cell->body, sizeof(cell->body));
	assert(sw->n_waiting <= sw->room);
	if (here < cell->body[CELL_HOW_MANY] >> 32)
		return;
	for (uint32_t i = 0; i < sw->n_waiting; i++) {
		struct nv_waiting *w = &sw->waiting[i];

		if (same_meeting(w->body, cell->body)) {
			w->body[CELL_TIME] = cell->body[CELL_TIME];
			pass_on(sw, w->body, now);
		} else {
			sw->waiting[kept++] = *w;
		}
	}
	sw->n_waiting = kept;
}

static void switch_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct nv_switch *sw = wf_container_of(node, struct nv_switch, node);

	(void)input;
	if (cell->body[CELL_BYTES] == CELL_MEET)
		gather(sw, cell, now);
	else
		pass_on(sw, cell->body, now);
}

static void switch_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	(void)node;
	(void)slot;
	(void)now;
	assert(0);
}

static void switch_warm(const struct wf_node *node, unsigned input)
{
	(void)node;
	(void)input;
}

static const struct wf_node_ops switch_ops = {
	.name = "nvswitch",
	.rx = switch_rx,
	.timer = switch_timer,
	.warm = switch_warm,
};

/* The switch of the server whose first host is hosts[0]; meetings: whether its ranks have any. */
static int make_switch(struct job_host *hosts, uint32_t n, bool meetings)
{
	const struct wf_job_app *job = hosts[0].job;
	struct wf_shard *shard = wf_adapter_device(hosts[0].adapter)->node.shard;
	/* A rank is in one meeting of a lane at a time. */
	uint32_t room = meetings ? job->cluster.gpus * WF_PLAN_MAX_LANES : 0;
	size_t links = n * sizeof(struct wf_link);
	struct nv_switch *sw;
	struct wf_node *node = wf_engine_add_node(
		shard, &switch_ops, sizeof(*sw) + links + room * sizeof(struct nv_waiting), n, 1);
	int ret = node == NULL ? -ENOMEM : 0;

	if (ret != 0)
		return ret;
	sw = wf_container_of(node, struct nv_switch, node);
	sw->room = room;
	sw->waiting = (struct nv_waiting *)(void *)(sw->out + n);
	for (uint32_t i = 0; i < n && ret == 0; i++) {
		struct wf_node *nic = &wf_adapter_device(hosts[i].adapter)->node;

		ret = wf_link_connect(&hosts[i].link, nic, node, i);
		if (ret == 0)
			ret = wf_link_connect(&sw->out[i], node, nic, WF_ADAPTER_SIDE);
	}
	return ret;
}

int wf_job_nvlink_start(struct wf_job_app *job)
{
	bool meetings = job->schedule->shortest_meet > 0;
	uint32_t nics = job->cluster.nics;
	int ret = 0;

	for (uint32_t h = 0; h < job->n_hosts && ret == 0 && job->side_delay > 0; h += nics)
		ret = make_switch(&job->hosts[h], (uint32_t)wf_min_u64(nics, job->n_hosts - h),
		                  meetings);
	return ret;
}
