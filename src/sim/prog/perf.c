/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.c - the two programs of a measurement.
 *
 * Each side has its own state, which only its adapter's thread touches; the other side's is read
 * before the run and after it. A side that requests takes its completions in the order in which
 * the program sees them: those of READs and atomics are due a fetch later than they come.
 */
#include "sim/prog/perf.h"

#include <errno.h>

#include "rdma/cq.h"
#include "rdma/mr.h"
#include "sim/prog/conn.h"
#include "sim/prog/perf_priv.h"

#define REGION_BYTES (UINT64_C(1) << 31) /* of each side; nothing is behind it */
#define POLL 16
#define SPARE 16 /* entries of a queue beyond what can be outstanding */
#define ACCESS                                                                                     \
	(WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE_WRITE | WF_ACCESS_REMOTE_READ |                  \
	 WF_ACCESS_REMOTE_ATOMIC)

static const struct {
	const char *name;
	enum wf_wr_opcode opcode;
	bool one_sided; /* latency: the requester measures alone */
	bool receives;  /* takes a receive work request at the other side */
} ops[] = {
	[WF_PERF_WRITE] = { "write", WF_WR_RDMA_WRITE, false, false },
	[WF_PERF_WRITE_IMM] = { "write-imm", WF_WR_RDMA_WRITE_WITH_IMM, false, true },
	[WF_PERF_SEND] = { "send", WF_WR_SEND, false, true },
	[WF_PERF_READ] = { "read", WF_WR_RDMA_READ, true, false },
	[WF_PERF_CAS] = { "cas", WF_WR_ATOMIC_CMP_AND_SWP, true, false },
	[WF_PERF_FADD] = { "fadd", WF_WR_ATOMIC_FETCH_AND_ADD, true, false },
};

_Static_assert(WF_ARRAY_SIZE(ops) == WF_PERF_OPS, "a row for each operation");

const char *wf_perf_op_name(enum wf_perf_op op)
{
	return ops[op].name;
}

static int check_cfg(const struct wf_perf_cfg *cfg, struct wf_err *err)
{
	if (cfg->client == cfg->server)
		return wf_err_say(err, "perf: client and server are the same host");
	if (cfg->size < 1 || cfg->size > WF_MSG_MAX)
		return wf_err_say(err, "perf: a message has 1 to %u bytes, not %u", WF_MSG_MAX,
		                  cfg->size);
	if (wf_perf_op_is_atomic(cfg->op) && cfg->size != 8)
		return wf_err_say(err, "perf: %s is always of 8 bytes, not %u", ops[cfg->op].name,
		                  cfg->size);
	if (cfg->iters < 1 || cfg->iters > WF_PERF_MAX_ITERS || cfg->qps < 1 ||
	    cfg->qps > WF_PERF_MAX_QPS || cfg->depth < 1 || cfg->depth > WF_PERF_MAX_DEPTH)
		return wf_err_say(err,
		                  "perf: 1 to %d iterations, 1 to %d queue pairs, a depth of "
		                  "1 to %d",
		                  WF_PERF_MAX_ITERS, WF_PERF_MAX_QPS, WF_PERF_MAX_DEPTH);
	if (cfg->qps * cfg->depth > WF_PERF_MAX_OUT)
		return wf_err_say(err, "perf: %u queue pairs of depth %u are more than %d messages",
		                  cfg->qps, cfg->depth, WF_PERF_MAX_OUT);
	return 0;
}

static int make_side(struct wf_perf *perf, struct wf_perf_side *s)
{
	struct wf_mem *mem = wf_mem_heap();
	size_t n = perf->cfg.iters;

	s->perf = perf;
	s->status = WF_WC_SUCCESS;
	s->qp = mem->alloc(mem, 2 * (size_t)perf->qps * sizeof(struct wf_qp *));
	s->due = mem->alloc(mem, (size_t)perf->qps * perf->depth * sizeof(*s->due));
	s->posted_at = mem->alloc(mem, n * sizeof(*s->posted_at));
	s->done_at = mem->alloc(mem, n * sizeof(*s->done_at));
	return s->qp == NULL || s->due == NULL || s->posted_at == NULL || s->done_at == NULL
	               ? -ENOMEM
	               : 0;
}

int wf_perf_create(const struct wf_perf_cfg *cfg, struct wf_perf **perf_p, struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_perf *perf;
	int ret = check_cfg(cfg, err);

	if (ret != 0)
		return ret;
	perf = mem->alloc(mem, sizeof(*perf));
	if (perf == NULL)
		return -ENOMEM;
	perf->cfg = *cfg;
	perf->qps = cfg->bandwidth ? cfg->qps : 1;
	perf->depth = cfg->bandwidth ? cfg->depth : 1;
	perf->one_sided = ops[cfg->op].one_sided;
	perf->side[0].requests = true;
	perf->side[1].requests = cfg->bandwidth && cfg->both_ways;
	ret = make_side(perf, &perf->side[0]);
	if (ret == 0)
		ret = make_side(perf, &perf->side[1]);
	if (ret != 0) {
		wf_perf_destroy(perf);
		return ret;
	}
	*perf_p = perf;
	return 0;
}

void wf_perf_destroy(struct wf_perf *perf)
{
	struct wf_mem *mem = wf_mem_heap();

	if (perf == NULL)
		return;
	for (int i = 0; i < 2; i++) {
		mem->free(mem, perf->side[i].qp);
		mem->free(mem, perf->side[i].due);
		mem->free(mem, perf->side[i].posted_at);
		mem->free(mem, perf->side[i].done_at);
	}
	mem->free(mem, perf);
}

/* ---- posting ---- */

/* Posts one message on the q-th queue pair. */
static void post(struct wf_perf_side *s, uint32_t q, wf_time now)
{
	const struct wf_perf_cfg *cfg = &s->perf->cfg;
	struct wf_sge sge = { .length = cfg->size, .lkey = wf_mr_lkey(s->mr) };
	struct wf_send_wr wr = {
		.wr_id = q,
		.sge = &sge,
		.num_sge = 1,
		.opcode = ops[cfg->op].opcode,
		/* Who measures by the answer of the other side needs no completion of its own. */
		.flags = cfg->bandwidth || s->perf->one_sided ? WF_SEND_SIGNALED : 0,
	};
	const struct wf_send_wr *bad;
	int ret;

	if (wf_perf_op_is_atomic(cfg->op))
		wr.atomic.rkey = s->peer_rkey;
	else
		wr.rdma.rkey = s->peer_rkey;
	/* The queue has room for all that can be outstanding. */
	ret = wf_adapter_post(s->adapter, s->qp[q], &wr, &bad, now);
	assert(ret == 0);
	(void)ret;
}

/* Posts the next message that is measured, if any is left. */
static void post_next(struct wf_perf_side *s, uint32_t q, wf_time now)
{
	if (s->posted == s->perf->cfg.iters)
		return;
	s->posted_at[s->posted++] = now;
	post(s, q, now);
}

/* A message that is measured is over: the next one goes on the same queue pair. */
static void one_done(struct wf_perf_side *s, uint32_t q, wf_time now)
{
	assert(s->done < s->posted);
	s->done_at[s->done++] = now;
	post_next(s, q, now);
}

static int post_receive(const struct wf_perf_side *s, struct wf_qp *qp, uint32_t q)
{
	struct wf_sge sge = { .length = s->perf->cfg.size, .lkey = wf_mr_lkey(s->mr) };
	struct wf_recv_wr wr = { .wr_id = q, .sge = &sge, .num_sge = 1 };
	const struct wf_recv_wr *bad;

	return wf_qp_post_recv(qp, &wr, &bad);
}

/* ---- programs ---- */

/* Ping-pong: something came in. The client measures, the server answers. */
static void answered(struct wf_perf_side *s, wf_time now)
{
	if (!s->requests)
		post(s, 0, now);
	else if (s->done < s->posted)
		one_done(s, 0, now);
}

/* Takes the completions that the program sees by now. */
static void take_due(struct wf_perf_side *s, wf_time now)
{
	uint32_t room = s->perf->qps * s->perf->depth;

	while (s->due_tail != s->due_head && s->due[s->due_tail % room].at <= now)
		one_done(s, s->due[s->due_tail++ % room].qp, now);
	if (s->due_tail != s->due_head)
		wf_adapter_call_at(s->adapter, s->due[s->due_tail % room].at);
}

static void side_run(void *arg, struct wf_adapter *adapter, wf_time now)
{
	struct wf_perf_side *s = arg;

	(void)adapter;
	if (s->requests && s->posted == 0) {
		for (uint32_t i = 0; i < s->perf->depth; i++) {
			for (uint32_t q = 0; q < s->perf->qps; q++)
				post_next(s, q, now);
		}
	}
	take_due(s, now);
}

static void take_receive(struct wf_perf_side *s, const struct wf_wc *wc, wf_time now)
{
	struct wf_qp *qp = wf_hca_qp(wf_adapter_hca(s->adapter), wc->qp_num);
	int ret = post_receive(s, qp, (uint32_t)wc->wr_id);

	assert(ret == 0);
	(void)ret;
	if (!s->perf->cfg.bandwidth)
		answered(s, now);
}

static void side_complete(void *arg, struct wf_adapter *adapter, struct wf_cq *cq, wf_time now)
{
	struct wf_perf_side *s = arg;
	uint32_t room = s->perf->qps * s->perf->depth;
	struct wf_wc wc[POLL];
	int n;

	wf_cq_arm(cq, false);
	while ((n = wf_cq_poll_seen(cq, POLL, wc)) > 0) {
		for (int i = 0; i < n && s->status == WF_WC_SUCCESS; i++) {
			if (wc[i].status != WF_WC_SUCCESS) {
				s->status = wc[i].status;
			} else if (wc[i].opcode >= WF_WC_RECV) {
				take_receive(s, &wc[i], now);
			} else {
				s->due[s->due_head % room].qp = (uint32_t)wc[i].wr_id;
				s->due[s->due_head++ % room].at =
					wf_adapter_seen(adapter, wc[i].opcode, now);
				take_due(s, now);
			}
		}
	}
}

static void side_written(void *arg, struct wf_adapter *adapter, uint64_t writes, wf_time now)
{
	struct wf_perf_side *s = arg;

	(void)adapter;
	for (; s->writes < writes; s->writes++)
		answered(s, now);
}

static const struct wf_program polls_queue = { .run = side_run, .complete = side_complete };
static const struct wf_program polls_memory = {
	.run = side_run,
	.complete = side_complete,
	.written = side_written,
};

/* ---- application ---- */

/* Queue pairs at each end: those of the client's requests, then those of the server's. */
static uint32_t all_qps(const struct wf_perf *perf)
{
	return perf->qps * (perf->side[1].requests ? 2 : 1);
}

static uint32_t cq_entries(const struct wf_perf *perf)
{
	/* Of each queue pair: what it sent and what it received. */
	return all_qps(perf) * 2 * (perf->depth + SPARE);
}

static void perf_attr(void *arg, uint32_t host, struct wf_hca_attr *attr)
{
	const struct wf_perf *perf = arg;

	(void)host;
	attr->max_qp = all_qps(perf) + 1;
	attr->max_mr = 1;
	attr->max_cqe = cq_entries(perf);
	attr->max_events = 4;
}

static int open_side(struct wf_perf_side *s, struct wf_adapter *adapter)
{
	const struct wf_perf *perf = s->perf;
	const struct wf_mr_attr region = { .length = REGION_BYTES, .access = ACCESS };
	struct wf_hca *hca = wf_adapter_hca(adapter);
	bool memory = perf->cfg.op == WF_PERF_WRITE && !perf->cfg.bandwidth;
	int ret;

	s->adapter = adapter;
	wf_adapter_add_program(adapter, memory ? &polls_memory : &polls_queue, s);
	ret = wf_pd_create(hca, &s->pd);
	if (ret == 0)
		ret = wf_mr_reg(s->pd, &region, &s->mr);
	if (ret == 0)
		ret = wf_cq_create(hca, cq_entries(perf), &s->cq);
	if (ret == 0)
		wf_cq_arm(s->cq, false);
	return ret;
}

static int make_qp(struct wf_perf_side *s, const struct wf_fabric *fabric, struct wf_qp **qp_p,
                   struct wf_err *err)
{
	const struct wf_perf *perf = s->perf;
	struct wf_qp_init init = {
		.type = WF_QPT_RC,
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.cap = { .max_send_wr = perf->depth + SPARE,
		         .max_recv_wr = perf->depth + SPARE,
		         .max_send_sge = 1,
		         .max_recv_sge = 1 },
	};
	int ret = wf_conn_tune(fabric, s->host, perf->cfg.cc, &init.tune, err);

	return ret != 0 ? ret : wf_qp_create(s->pd, &init, qp_p);
}

static int fill_receives(struct wf_perf_side *s, struct wf_qp *qp, uint32_t q)
{
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < s->perf->depth + SPARE; i++)
		ret = post_receive(s, qp, q);
	return ret;
}

/* Connects the q-th queue pair that a requests with. */
static int connect_qp(struct wf_perf_side *a, struct wf_perf_side *b, uint32_t q,
                      const struct wf_fabric *fabric, struct wf_err *err)
{
	const struct wf_perf_cfg *cfg = &a->perf->cfg;
	struct wf_qp *peer;
	int ret = make_qp(a, fabric, &a->qp[q], err);

	if (ret == 0)
		ret = make_qp(b, fabric, &peer, err);
	if (ret != 0)
		return ret;
	/* Where the server only answers, it answers on the queue pair that it is asked on. */
	if (!b->requests)
		b->qp[q] = peer;
	ret = wf_conn_up(fabric, a->qp[q], b->host, wf_qp_num(peer), cfg->cls, ACCESS);
	if (ret == 0)
		ret = wf_conn_up(fabric, peer, a->host, wf_qp_num(a->qp[q]), cfg->cls, ACCESS);
	if (ret == 0 && ops[cfg->op].receives)
		ret = fill_receives(b, peer, q);
	if (ret == 0 && ops[cfg->op].receives && !cfg->bandwidth)
		ret = fill_receives(a, a->qp[q], q);
	return ret;
}

static int perf_start(void *arg, const struct wf_fabric *fabric, struct wf_adapter **adapters,
                      struct wf_err *err)
{
	struct wf_perf *perf = arg;
	struct wf_perf_side *client = &perf->side[0], *server = &perf->side[1];
	enum wf_mtu mtu;
	int ret = wf_conn_mtu(fabric, &mtu, err);

	client->host = perf->cfg.client;
	server->host = perf->cfg.server;
	if (ret == 0 &&
	    (client->host >= fabric->topo->n_hosts || server->host >= fabric->topo->n_hosts))
		return wf_err_say(err, "topology.hosts: two hosts are needed; it has %u",
		                  fabric->topo->n_hosts);
	if (ret == 0)
		ret = open_side(client, adapters[client->host]);
	if (ret == 0)
		ret = open_side(server, adapters[server->host]);
	if (ret != 0)
		return ret;
	client->peer_rkey = wf_mr_rkey(server->mr);
	server->peer_rkey = wf_mr_rkey(client->mr);
	for (uint32_t q = 0; ret == 0 && q < perf->qps; q++)
		ret = connect_qp(client, server, q, fabric, err);
	for (uint32_t q = 0; ret == 0 && server->requests && q < perf->qps; q++)
		ret = connect_qp(server, client, q, fabric, err);
	if (ret == -EINVAL && err->text[0] == '\0')
		return wf_err_say(err, "perf: a queue pair cannot be set up so (more work requests "
		                       "than a queue holds)");
	return ret;
}

static bool side_done(const struct wf_perf_side *s)
{
	return !s->requests || s->done == s->perf->cfg.iters;
}

static bool perf_done(void *arg, wf_time now)
{
	const struct wf_perf *perf = arg;

	(void)now;
	if (perf->side[0].status != WF_WC_SUCCESS || perf->side[1].status != WF_WC_SUCCESS)
		return true;
	return side_done(&perf->side[0]) && side_done(&perf->side[1]);
}

void wf_perf_app(struct wf_perf *perf, struct wf_sim_app *app)
{
	*app = (struct wf_sim_app){
		.arg = perf, .attr = perf_attr, .start = perf_start, .done = perf_done
	};
}
