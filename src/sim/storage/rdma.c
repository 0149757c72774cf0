/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma.c - NVMe over Fabrics over RDMA (NVMe RDMA transport specification): a queue pair for each
 * I/O queue, over which everything of it goes.
 *
 *	command           SEND from the host, with the data of a small write behind it
 *	data of a read    RDMA WRITE by the target, then the response
 *	data of a write   RDMA READ by the target
 *	response          SEND from the target; keys are not invalidated with it
 *
 * Memory is registered once. The host's send queue has a place for each command, which is free when
 * the capsule is acknowledged; the target's has two, for what a read takes, and commands that find
 * none left wait in their order.
 */
#include "sim/storage/nvmf.h"

#include "rdma/cq.h"
#include "rdma/mr.h"
#include "rdma/qp.h"
#include "sim/prog/conn.h"

#define REGION_BYTES (UINT64_C(1) << 40) /* of every host; nothing is behind it */
#define POLL 16
#define ACCESS (WF_ACCESS_REMOTE_WRITE | WF_ACCESS_REMOTE_READ)

/* ---- posting ---- */

static void post(struct wf_nvmf_host *h, struct wf_qp *qp, const struct wf_send_wr *wr, wf_time now)
{
	const struct wf_send_wr *bad;
	int ret = wf_adapter_post(h->adapter, qp, wr, &bad, now);

	/* There is room, and in error a queue pair takes work as well. */
	assert(ret == 0);
	(void)ret;
}

static void post_receive(struct wf_nvmf_host *h, struct wf_qp *qp, uint64_t bytes)
{
	const struct wf_sge sge = { .length = (uint32_t)bytes, .lkey = wf_mr_lkey(h->mr) };
	const struct wf_recv_wr wr = { .sge = &sge, .num_sge = 1 };
	const struct wf_recv_wr *bad;
	int ret = wf_qp_post_recv(qp, &wr, &bad);

	assert(ret == 0);
	(void)ret;
}

static uint64_t capsule_room(const struct wf_nvmf_queue *q)
{
	return WF_NVMF_COMMAND + q->in_capsule;
}

static void rdma_command(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	const struct wf_nvmf_command *c = &q->command[id];
	struct wf_nvmf_host *h = q->host.at;
	const struct wf_sge sge = {
		.length = WF_NVMF_COMMAND + (wf_nvmf_in_capsule(q, c) ? c->bytes : 0),
		.lkey = wf_mr_lkey(h->mr),
	};
	const struct wf_send_wr wr = {
		.wr_id = id,
		.sge = &sge,
		.num_sge = 1,
		.opcode = WF_WR_SEND,
		.flags = WF_SEND_SIGNALED,
	};

	post(h, q->host.qp, &wr, now);
}

/* Where the host has the data of a command. */
static uint64_t data_address(const struct wf_nvmf_queue *q, uint32_t id)
{
	return id * q->entry->cfg.block;
}

static void post_fetch(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	struct wf_nvmf_host *h = q->target.at;
	const struct wf_sge sge = { .length = q->command[id].bytes, .lkey = wf_mr_lkey(h->mr) };
	const struct wf_send_wr wr = {
		.wr_id = id,
		.sge = &sge,
		.num_sge = 1,
		.opcode = WF_WR_RDMA_READ,
		.flags = WF_SEND_SIGNALED,
		.rdma = { .addr = data_address(q, id), .rkey = q->target.rkey },
	};

	q->target.room--;
	post(h, q->target.qp, &wr, now);
}

/* Work requests that a reply takes: a read's data is one. */
static uint32_t reply_room(const struct wf_nvmf_queue *q, uint32_t id)
{
	return q->command[id].write ? 1 : 2;
}

static void post_reply(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	struct wf_nvmf_host *h = q->target.at;
	const struct wf_sge sge[2] = {
		{ .length = q->command[id].bytes, .lkey = wf_mr_lkey(h->mr) },
		{ .length = WF_NVMF_RESPONSE, .lkey = wf_mr_lkey(h->mr) },
	};
	const struct wf_send_wr response = {
		.wr_id = reply_room(q, id),
		.sge = &sge[1],
		.num_sge = 1,
		.opcode = WF_WR_SEND,
		.flags = WF_SEND_SIGNALED,
	};
	const struct wf_send_wr data = {
		.next = &response,
		.sge = &sge[0],
		.num_sge = 1,
		.opcode = WF_WR_RDMA_WRITE,
		.rdma = { .addr = data_address(q, id), .rkey = q->target.rkey },
	};

	q->target.room -= reply_room(q, id);
	wf_nvmf_put(q, &q->answered, id);
	/* The host may send another command as soon as it has the response. */
	post_receive(h, q->target.qp, capsule_room(q));
	post(h, q->target.qp, q->command[id].write ? &response : &data, now);
}

/* Posts for the commands that wait, as far as there is room. */
static void post_waiting(struct wf_nvmf_queue *q, wf_time now)
{
	struct wf_nvmf_ring *wait = &q->target.wait;

	while (wait->tail != wait->head) {
		uint32_t id = wf_nvmf_first(q, wait);
		bool fetch = q->command[id].stage == WF_NVMF_FETCH;

		if (q->target.room < (fetch ? 1 : reply_room(q, id)))
			return;
		wait->tail++;
		if (fetch)
			post_fetch(q, id, now);
		else
			post_reply(q, id, now);
	}
}

/* The stage that the command has come to says what is posted. */
static void rdma_post(struct wf_nvmf_queue *q, uint32_t id, wf_time now)
{
	assert(q->target.wait.head - q->target.wait.tail < q->depth);
	wf_nvmf_put(q, &q->target.wait, id);
	post_waiting(q, now);
}

/* ---- completions ---- */

static void host_came(struct wf_nvmf_queue *q, const struct wf_wc *wc, wf_time now)
{
	if (wc->opcode == WF_WC_SEND) {
		wf_nvmf_sent(q, (uint32_t)wc->wr_id, now);
		return;
	}
	assert(wc->opcode == WF_WC_RECV);
	post_receive(q->host.at, q->host.qp, WF_NVMF_RESPONSE);
	wf_nvmf_response_came(q, wf_nvmf_take(q, &q->answered), now);
}

static void target_came(struct wf_nvmf_queue *q, const struct wf_wc *wc, wf_time now)
{
	const struct wf_adapter *a = q->target.at->adapter;

	if (wc->opcode == WF_WC_RECV) {
		wf_nvmf_command_came(q, wf_nvmf_take(q, &q->sent), now);
		return;
	}
	if (wc->opcode == WF_WC_RDMA_READ) {
		q->target.room++;
		wf_nvmf_data_came(q, (uint32_t)wc->wr_id, wf_adapter_seen(a, wc->opcode, now));
	} else {
		q->target.room += (uint32_t)wc->wr_id;
	}
	assert(q->target.room <= 2 * q->depth);
	post_waiting(q, now);
}

static void take(struct wf_nvmf_host *h, const struct wf_wc *wc, wf_time now)
{
	struct wf_nvmf_queue *q = wf_qp_user(wf_hca_qp(wf_adapter_hca(h->adapter), wc->qp_num));
	bool is_host = q->host.at == h;

	if (wc->status != WF_WC_SUCCESS && is_host)
		wf_nvmf_host_failed(q);
	else if (wc->status != WF_WC_SUCCESS)
		wf_nvmf_target_failed(q);
	else if (is_host)
		host_came(q, wc, now);
	else
		target_came(q, wc, now);
}

static void host_complete(void *arg, struct wf_adapter *adapter, struct wf_cq *cq, wf_time now)
{
	struct wf_nvmf_host *h = arg;
	struct wf_wc wc[POLL];
	int n;

	(void)adapter;
	/* Armed first: what comes while we poll is not missed. */
	wf_cq_arm(cq, false);
	while ((n = wf_cq_poll_seen(cq, POLL, wc)) > 0) {
		for (int i = 0; i < n; i++)
			take(h, &wc[i], now);
	}
	wf_nvmf_host_run(h, now);
}

static void host_run(void *arg, struct wf_adapter *adapter, wf_time now)
{
	(void)adapter;
	wf_nvmf_host_run(arg, now);
}

static bool host_owns(void *arg, const struct wf_cq *cq)
{
	const struct wf_nvmf_host *h = arg;

	return cq == h->cq;
}

static const struct wf_program program = {
	.run = host_run,
	.complete = host_complete,
	.owns = host_owns,
};

/* ---- setting up ---- */

/* Completions that can wait: what is sent, and what is received, also where it is flushed. */
static uint32_t completions(const struct wf_nvmf_host *h)
{
	return 2 * h->depths[0] + 3 * h->depths[1] + 1;
}

static void rdma_attr(const struct wf_nvmf_host *h, struct wf_hca_attr *attr)
{
	attr->max_qp = h->n_queues + h->n_served + 1;
	attr->max_mr = 1;
	attr->max_cqe = (uint32_t)wf_max_u64(attr->max_cqe, completions(h));
	attr->max_events = 4;
}

static int rdma_open(struct wf_nvmf_host *h)
{
	const struct wf_mr_attr region = {
		.length = REGION_BYTES,
		.access = WF_ACCESS_LOCAL_WRITE | ACCESS,
	};
	struct wf_hca *hca = wf_adapter_hca(h->adapter);
	int ret = wf_pd_create(hca, &h->pd);

	wf_adapter_add_program(h->adapter, &program, h);
	if (ret == 0)
		ret = wf_mr_reg(h->pd, &region, &h->mr);
	if (ret == 0)
		ret = wf_cq_create(hca, completions(h), &h->cq);
	if (ret == 0)
		wf_cq_arm(h->cq, false);
	return ret;
}

static int make_qp(struct wf_nvmf_queue *q, struct wf_nvmf_host *h, const struct wf_fabric *fabric,
                   struct wf_qp **qp_p, struct wf_err *err)
{
	bool target = h == q->target.at;
	struct wf_qp_init init = {
		.type = WF_QPT_RC,
		.send_cq = h->cq,
		.recv_cq = h->cq,
		.cap = { .max_send_wr = target ? 2 * q->depth : q->depth,
		         .max_recv_wr = q->depth,
		         .max_send_sge = 1,
		         .max_recv_sge = 1 },
	};
	int ret = wf_conn_tune(fabric, h->number, h->storage->cc, &init.tune, err);

	if (ret == 0)
		ret = wf_qp_create(h->pd, &init, qp_p);
	if (ret == 0)
		wf_qp_set_user(*qp_p, q);
	return ret;
}

static int rdma_connect(struct wf_nvmf_queue *q, const struct wf_fabric *fabric, struct wf_err *err)
{
	uint8_t cls = wf_narrow_u8(q->entry->cfg.cls);
	int ret = make_qp(q, q->host.at, fabric, &q->host.qp, err);

	if (ret == 0)
		ret = make_qp(q, q->target.at, fabric, &q->target.qp, err);
	if (ret == 0)
		ret = wf_conn_up(fabric, q->host.qp, q->target.at->number, wf_qp_num(q->target.qp),
		                 cls, ACCESS);
	if (ret == 0)
		ret = wf_conn_up(fabric, q->target.qp, q->host.at->number, wf_qp_num(q->host.qp),
		                 cls, ACCESS);
	if (ret != 0)
		return ret;
	q->target.rkey = wf_mr_rkey(q->host.at->mr);
	q->target.room = 2 * q->depth;
	for (uint32_t i = 0; i < q->depth; i++) {
		post_receive(q->host.at, q->host.qp, WF_NVMF_RESPONSE);
		post_receive(q->target.at, q->target.qp, capsule_room(q));
	}
	return 0;
}

const struct wf_nvmf_transport wf_nvmf_rdma = {
	.name = "rdma",
	.waits = 2,
	.attr = rdma_attr,
	.open = rdma_open,
	.connect = rdma_connect,
	.command = rdma_command,
	.fetch = rdma_post,
	.reply = rdma_post,
};
