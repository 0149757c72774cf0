/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_nvlink.c - NVLink inside a server.
 *
 *	GPU a: egress queue --> [switch] --> ingress queue: GPU b
 *	       rate of a GPU    latency       rate of a GPU
 *
 * A message is one cell. It leaves when all before it have left, at the GPU's rate; its cell passes
 * the switch a latency after its first byte left; it is there when its last byte is in, behind all
 * that came before. The switch itself never is the bottleneck (NVSwitch has the sum of all rates). It
 * is a node of its own since hosts are late nodes, which exchange nothing with one another.
 */
#include <errno.h>
#include <string.h>

#include "lab/job_app_priv.h"
#include "sim/adapter.h"

#define CELL_ANNOUNCE (UINT64_C(1) << 63)

static wf_time duration(const struct wf_job_app *job, uint64_t bytes)
{
	return (wf_time)(((unsigned __int128)bytes * job->ps_q16) >> 16);
}

/* ---- queues ---- */

static bool is_empty(const struct nv_queue *q)
{
	return q->head == q->tail;
}

static struct nv_message *first(const struct nv_queue *q)
{
	return &q->ring[q->tail & (q->room - 1)];
}

static void put(struct job_rank *r, struct nv_queue *q, const struct nv_message *m)
{
	struct wf_mem *mem = r->host->job->mem;

	if (q->head - q->tail == q->room) {
		uint32_t room = q->room == 0 ? 8 : 2 * q->room;
		struct nv_message *ring = mem->alloc(mem, room * sizeof(*ring));

		if (ring == NULL) {
			r->host->shard->no_memory = true;
			return;
		}
		for (uint32_t i = q->tail; i != q->head; i++)
			ring[i & (room - 1)] = q->ring[i & (q->room - 1)];
		mem->free(mem, q->ring);
		q->ring = ring;
		q->room = room;
	}
	q->ring[q->head++ & (q->room - 1)] = *m;
}

/* ---- out ---- */

/* NIC of its server that a rank belongs to. */
static uint64_t nic_of(const struct wf_job_app *job, uint32_t rank)
{
	return wf_cluster_nic(&job->cluster, rank);
}

static void send_cell(struct job_host *h, uint32_t to, uint64_t word, uint64_t bytes,
                      wf_time posted, wf_time now)
{
	struct wf_shard *shard = wf_adapter_device(h->adapter)->node.shard;
	struct wf_cell *cell = wf_link_slot(&h->link, shard);

	cell->body[0] = word;
	cell->body[1] = bytes;
	cell->body[2] = (uint64_t)posted;
	cell->body[3] = nic_of(h->job, to);
	wf_link_commit(&h->link, shard, now + h->job->net.nvlink_latency);
}

/* The first of the queue leaves. */
static void begin_egress(struct job_rank *r, wf_time now)
{
	const struct nv_message *m = first(&r->egress);
	struct wf_job_app *job = r->host->job;

	send_cell(r->host, job->conns[m->conn].rank[1], (uint64_t)m->conn << 32 | m->imm, m->bytes,
	          m->posted, now);
	r->egress_end = now + duration(job, m->bytes);
}

void wf_job_nvlink_data(struct job_rank *r, const struct wf_post *post, wf_time now)
{
	const struct nv_message m = { .posted = now,
		                      .bytes = post->bytes,
		                      .conn = post->conn,
		                      .imm = post->imm,
		                      .handle = post->handle };

	put(r, &r->egress, &m);
	if (r->egress_end == WF_TIME_NEVER)
		begin_egress(r, now);
}

void wf_job_nvlink_announce(struct job_rank *r, const struct wf_post *post, wf_time now)
{
	send_cell(r->host, r->host->job->conns[post->conn].rank[0],
	          (uint64_t)post->conn << 32 | post->imm, CELL_ANNOUNCE, now, now);
}

/* ---- in ---- */

void wf_job_nvlink_cell(struct job_host *h, const struct wf_cell *cell, wf_time now)
{
	uint32_t number = (uint32_t)(cell->body[0] >> 32);
	const struct job_conn *c = &h->job->conns[number];
	struct nv_message m = { .imm = (uint32_t)cell->body[0],
		                .conn = number,
		                .bytes = cell->body[1],
		                .posted = (wf_time)cell->body[2] };
	struct job_rank *r;

	if (cell->body[1] & CELL_ANNOUNCE) {
		wf_exec_announced(h->job->ranks[c->rank[0]].exec, c->end[0], m.imm, now);
		return;
	}
	r = &h->job->ranks[c->rank[1]];
	r->ingress_end = wf_max_time(r->ingress_end, now) + duration(h->job, m.bytes);
	m.at = r->ingress_end;
	put(r, &r->ingress, &m);
}

void wf_job_nvlink_run(struct job_rank *r, wf_time now)
{
	while (r->egress_end <= now) {
		uint32_t handle = first(&r->egress)->handle;

		r->egress.tail++;
		r->egress_end = WF_TIME_NEVER;
		if (!is_empty(&r->egress))
			begin_egress(r, now);
		wf_exec_sent(r->exec, handle, now);
	}
	while (!is_empty(&r->ingress) && first(&r->ingress)->at <= now) {
		struct nv_message m = *first(&r->ingress);

		r->ingress.tail++;
		wf_exec_arrived(r->exec, r->host->job->conns[m.conn].end[1], m.imm, m.posted, false,
		                now);
	}
}

wf_time wf_job_nvlink_due(const struct job_rank *r)
{
	return is_empty(&r->ingress) ? r->egress_end
	                             : wf_min_time(r->egress_end, first(&r->ingress)->at);
}

/* ---- the switch ---- */

static void switch_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct nv_switch *sw = wf_container_of(node, struct nv_switch, node);
	struct wf_link *out = &sw->out[cell->body[3]];
	struct wf_cell *slot = wf_link_slot(out, node->shard);

	(void)input;
	memcpy(slot->body, cell->body, sizeof(slot->body));
	wf_link_commit(out, node->shard, now);
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

/* The switch of the server whose first host is hosts[0]. */
static int make_switch(struct job_host *hosts, uint32_t n)
{
	struct wf_shard *shard = wf_adapter_device(hosts[0].adapter)->node.shard;
	struct nv_switch *sw;
	struct wf_node *node =
		wf_engine_add_node(shard, &switch_ops, sizeof(*sw) + n * sizeof(sw->out[0]), n, 1);
	int ret = node == NULL ? -ENOMEM : 0;

	for (uint32_t i = 0; i < n && ret == 0; i++) {
		struct wf_node *nic = &wf_adapter_device(hosts[i].adapter)->node;

		sw = wf_container_of(node, struct nv_switch, node);
		ret = wf_link_connect(&hosts[i].link, nic, node, i);
		if (ret == 0)
			ret = wf_link_connect(&sw->out[i], node, nic, WF_ADAPTER_SIDE);
	}
	return ret;
}

int wf_job_nvlink_start(struct wf_job_app *job)
{
	uint32_t nics = job->cluster.nics;
	int ret = 0;

	for (uint32_t h = 0; h < job->n_hosts && ret == 0; h += nics)
		ret = make_switch(&job->hosts[h], (uint32_t)wf_min_u64(nics, job->n_hosts - h));
	return ret;
}
