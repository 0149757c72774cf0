/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rc.c - sets up queue pairs for flows, posts their messages and takes their completions.
 */
#include "sim/prog/rc.h"

#include <errno.h>
#include <string.h>

#include "base/sort.h"
#include "rdma/cq.h"
#include "rdma/mr.h"
#include "rdma/qp.h"
#include "sim/prog/conn.h"
#include "sim/sim.h"

#define REGION_BYTES (UINT64_C(1) << 40) /* of every host; nothing is behind it */
#define MESSAGE_MAX (UINT64_C(1) << 30)
#define POLL 16
#define TURN 1 /* wr_id of the receive that ends a turn */
#define QP_ACCESS (WF_ACCESS_REMOTE_WRITE | WF_ACCESS_REMOTE_READ)

/* One flow, seen by its requester; only that host touches it during the run. */
struct flow {
	struct wf_flow_spec spec;
	struct wf_qp *qp;
	uint32_t rkey;
	uint32_t left; /* messages not completed */
	wf_time end;
};

/* What runs on one host. */
struct host {
	struct wf_rc *rc;
	struct wf_adapter *adapter;
	struct wf_pd *pd;
	struct wf_cq *cq;
	struct wf_mr *mr;
	uint32_t *starts; /* flows it requests, by start time; then those that are turns */
	uint32_t n_starts, next;
	uint32_t n_turns, turn;        /* how many it has, and has started */
	uint32_t turns_done, turns_in; /* its own that are completed, others' that have come */
	uint32_t n_qps;
	uint32_t n_messages;
};

struct wf_rc {
	struct wf_mem *mem;
	uint32_t n_flows, n_hosts;
	struct flow *flows;
	uint32_t *starts; /* of all hosts, one after the other */
	struct host *hosts;
	const struct wf_cc_choice *cc; /* NULL: none */
};

static uint32_t requester(const struct wf_flow_spec *f)
{
	return f->op == WF_FLOW_READ ? f->dst : f->src;
}

static uint32_t responder(const struct wf_flow_spec *f)
{
	return f->op == WF_FLOW_READ ? f->src : f->dst;
}

static uint32_t messages(const struct wf_flow_spec *f)
{
	return (uint32_t)((f->bytes + MESSAGE_MAX - 1) / MESSAGE_MAX);
}

/* Flows by their start; those that start together in the order of their numbers. */
static int by_start(const void *a, const void *b, const void *flows)
{
	const struct flow *x = (const struct flow *)flows + *(const uint32_t *)a;
	const struct flow *y = (const struct flow *)flows + *(const uint32_t *)b;

	if (x->spec.start != y->spec.start)
		return x->spec.start < y->spec.start ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Shares the flows out over the hosts. room is for as many numbers as there are flows. */
static void plan_hosts(struct wf_rc *rc, uint32_t *room)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < rc->n_flows; i++) {
		const struct wf_flow_spec *f = &rc->flows[i].spec;

		if (f->op == WF_FLOW_TCP)
			continue;
		if (f->turn)
			rc->hosts[requester(f)].n_turns++;
		else
			rc->hosts[requester(f)].n_starts++;
		rc->hosts[f->src].n_qps++;
		rc->hosts[f->dst].n_qps++;
		rc->hosts[f->src].n_messages += messages(f);
		rc->hosts[f->dst].n_messages += messages(f);
	}
	for (uint32_t h = 0; h < rc->n_hosts; h++) {
		rc->hosts[h].rc = rc;
		rc->hosts[h].starts = rc->starts + first;
		first += rc->hosts[h].n_starts + rc->hosts[h].n_turns;
		rc->hosts[h].turn = rc->hosts[h].n_starts;
		rc->hosts[h].n_starts = 0;
	}
	for (uint32_t i = 0; i < rc->n_flows; i++) {
		struct host *h = &rc->hosts[requester(&rc->flows[i].spec)];

		if (rc->flows[i].spec.op == WF_FLOW_TCP)
			continue;
		if (rc->flows[i].spec.turn)
			h->starts[h->turn++] = i;
		else
			h->starts[h->n_starts++] = i;
	}
	for (uint32_t h = 0; h < rc->n_hosts; h++) {
		rc->hosts[h].turn = 0;
		wf_sort(rc->hosts[h].starts, room, rc->hosts[h].n_starts, sizeof(*room), by_start,
		        rc->flows);
	}
}

/* Flows over TCP are not here, but have their numbers. */
static bool has_messages(const struct wf_flow_spec *flows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (flows[i].op != WF_FLOW_TCP)
			return true;
	}
	return false;
}

int wf_rc_create(const struct wf_fabric *fabric, const struct wf_cc_choice *cc,
                 const struct wf_flow_spec *flows, size_t n, struct wf_rc **rc_p,
                 struct wf_err *err)
{
	struct wf_mem *mem = fabric->mem;
	struct wf_rc *rc;
	uint32_t *room;
	enum wf_mtu mtu;

	if (has_messages(flows, n) && wf_conn_mtu(fabric, &mtu, err) != 0)
		return -EINVAL;
	rc = mem->alloc(mem, sizeof(*rc));
	if (rc == NULL)
		return -ENOMEM;
	rc->mem = mem;
	rc->cc = cc;
	rc->n_flows = (uint32_t)n;
	rc->n_hosts = fabric->topo->n_hosts;
	rc->flows = mem->alloc(mem, n * sizeof(*rc->flows));
	rc->starts = mem->alloc(mem, n * sizeof(*rc->starts));
	rc->hosts = mem->alloc(mem, rc->n_hosts * sizeof(*rc->hosts));
	room = mem->alloc(mem, n * sizeof(*room));
	if (rc->flows == NULL || rc->starts == NULL || rc->hosts == NULL || room == NULL) {
		mem->free(mem, room);
		wf_rc_destroy(rc);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		rc->flows[i].spec = flows[i];
		rc->flows[i].left = messages(&flows[i]);
		rc->flows[i].end = WF_TIME_NEVER;
	}
	plan_hosts(rc, room);
	mem->free(mem, room);
	*rc_p = rc;
	return 0;
}

void wf_rc_destroy(struct wf_rc *rc)
{
	struct wf_mem *mem;

	if (rc == NULL)
		return;
	mem = rc->mem;
	mem->free(mem, rc->flows);
	mem->free(mem, rc->starts);
	mem->free(mem, rc->hosts);
	mem->free(mem, rc);
}

static void rc_attr(void *arg, uint32_t host, struct wf_hca_attr *attr)
{
	const struct wf_rc *rc = arg;
	const struct host *h = &rc->hosts[host];

	attr->max_qp = h->n_qps + 1;
	attr->max_mr = 1;
	attr->max_cqe = h->n_messages + 1;
	attr->max_events = 4;
}

wf_time wf_rc_flow_start(const struct wf_rc *rc, size_t i)
{
	return rc->flows[i].spec.start;
}

wf_time wf_rc_flow_end(const struct wf_rc *rc, size_t i)
{
	return rc->flows[i].end;
}

void wf_rc_flow_state(const struct wf_rc *rc, size_t i, uint64_t mtu,
                      struct wf_sim_flow_state *state)
{
	const struct flow *f = &rc->flows[i];
	uint64_t window;

	*state = (struct wf_sim_flow_state){ 0 };
	if (f->qp == NULL)
		return;
	state->acked = wf_min_u64(wf_qp_acked(f->qp) * mtu, f->spec.bytes);
	/* What is read is limited by the queue pair at its other end. */
	if (rc->cc == NULL || strcmp(rc->cc->algorithm, "none") == 0 || f->spec.op == WF_FLOW_READ)
		return;
	window = wf_qp_window(f->qp);
	state->rate = wf_qp_rate(f->qp);
	state->window = window == UINT64_MAX ? 0 : window;
}

/* Posts all messages of a flow. */
static void post_flow(struct host *h, uint32_t number, wf_time now)
{
	struct flow *f = &h->rc->flows[number];
	uint64_t left = f->spec.bytes;

	while (left > 0) {
		uint32_t bytes = (uint32_t)wf_min_u64(left, MESSAGE_MAX);
		struct wf_sge sge = { .length = bytes, .lkey = wf_mr_lkey(h->mr) };
		const struct wf_send_wr *bad;
		struct wf_send_wr wr = {
			.wr_id = number,
			.sge = &sge,
			.num_sge = 1,
			.flags = WF_SEND_SIGNALED,
			.rdma.rkey = f->rkey,
		};
		int ret;

		switch ((enum wf_flow_op)f->spec.op) {
		case WF_FLOW_WRITE:
			wr.opcode = WF_WR_RDMA_WRITE;
			break;
		case WF_FLOW_SEND:
			wr.opcode = WF_WR_SEND;
			break;
		case WF_FLOW_READ:
			wr.opcode = WF_WR_RDMA_READ;
			break;
		case WF_FLOW_WINDOW:
		case WF_FLOW_TCP:
		case WF_FLOW_OPS:
			assert(0);
		}
		/* The queue was made for all of them. */
		ret = wf_adapter_post(h->adapter, f->qp, &wr, &bad, now);
		assert(ret == 0);
		(void)ret;
		left -= bytes;
	}
}

/* Starts the host's next turn if its time has come; a turn's start is when it did. */
static void next_turn(struct host *h, wf_time now)
{
	uint32_t number;
	struct flow *f;

	if (h->turn == h->n_turns || h->turns_done < h->turn || h->turns_in < h->turn)
		return;
	number = h->starts[h->n_starts + h->turn];
	f = &h->rc->flows[number];
	if (f->spec.start > now) {
		wf_adapter_call_at(h->adapter, f->spec.start);
		return;
	}
	h->turn++;
	f->spec.start = now;
	post_flow(h, number, now);
}

static void host_run(void *arg, struct wf_adapter *adapter, wf_time now)
{
	struct host *h = arg;

	next_turn(h, now);
	while (h->next < h->n_starts) {
		uint32_t number = h->starts[h->next];
		wf_time start = h->rc->flows[number].spec.start;

		if (start > now) {
			wf_adapter_call_at(adapter, start);
			return;
		}
		h->next++;
		post_flow(h, number, now);
	}
}

/* A message of a flow is over. */
static void take(struct host *h, const struct wf_wc *wc, wf_time now)
{
	struct wf_host_counts *c = wf_adapter_counts(h->adapter);
	struct flow *f = &h->rc->flows[wc->wr_id];
	wf_time seen = wf_adapter_seen(h->adapter, wc->opcode, wf_max_time(now, wc->time));

	if (f->left == 0)
		return; /* it failed before */
	if (wc->status != WF_WC_SUCCESS) {
		f->left = 0;
		c->flows_failed++;
		return;
	}
	if (--f->left > 0)
		return;
	f->end = seen;
	h->turns_done += f->spec.turn;
	c->bytes_delivered += f->spec.bytes;
	c->flows_done++;
	c->last_delivery = wf_max_time(c->last_delivery, seen);
	wf_hist_add(&c->flow_time, (uint64_t)(seen - f->spec.start));
}

static void host_complete(void *arg, struct wf_adapter *adapter, struct wf_cq *cq, wf_time now)
{
	struct host *h = arg;
	struct wf_wc wc[POLL];
	int n;

	(void)adapter;
	/* Armed first: what comes while we poll is not missed. */
	wf_cq_arm(cq, false);
	while ((n = wf_cq_poll_seen(cq, POLL, wc)) > 0) {
		for (int i = 0; i < n; i++) {
			/* Other receives need no notice: the sender's completion ends the flow. */
			if (wc[i].status == WF_WC_SUCCESS && wc[i].opcode >= WF_WC_RECV)
				h->turns_in += wc[i].wr_id == TURN;
			else
				take(h, &wc[i], now);
		}
	}
	next_turn(h, now);
}

static bool host_owns(void *arg, const struct wf_cq *cq)
{
	const struct host *h = arg;

	return cq == h->cq;
}

static const struct wf_program host_program = {
	.run = host_run,
	.complete = host_complete,
	.owns = host_owns,
};

static int open_host(struct wf_rc *rc, uint32_t number, struct wf_adapter *adapter)
{
	struct wf_mr_attr region = {
		.length = REGION_BYTES,
		.access = WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE_WRITE | WF_ACCESS_REMOTE_READ,
	};
	struct host *h = &rc->hosts[number];
	struct wf_hca *hca = wf_adapter_hca(adapter);
	int ret;

	h->adapter = adapter;
	wf_adapter_add_program(adapter, &host_program, h);
	ret = wf_pd_create(hca, &h->pd);
	if (ret == 0)
		ret = wf_mr_reg(h->pd, &region, &h->mr);
	if (ret == 0)
		ret = wf_cq_create(hca, h->n_messages + 1, &h->cq);
	if (ret == 0)
		wf_cq_arm(h->cq, false);
	return ret;
}

static int make_qp(struct host *h, const struct wf_fabric *fabric, const struct wf_flow_spec *f,
                   struct wf_qp **qp_p, struct wf_err *err)
{
	struct wf_qp_init init = {
		.type = WF_QPT_RC,
		.send_cq = h->cq,
		.recv_cq = h->cq,
		.cap = { .max_send_wr = messages(f),
		         .max_recv_wr = f->op == WF_FLOW_SEND ? messages(f) : 1,
		         .max_send_sge = 1,
		         .max_recv_sge = 1 },
	};
	int ret = wf_conn_tune(fabric, (uint32_t)(h - h->rc->hosts), h->rc->cc, &init.tune, err);

	return ret != 0 ? ret : wf_qp_create(h->pd, &init, qp_p);
}

static int post_receives(struct host *h, struct wf_qp *qp, const struct wf_flow_spec *f)
{
	uint64_t left = f->bytes;
	int ret = 0;

	while (left > 0 && ret == 0 && f->op == WF_FLOW_SEND) {
		uint32_t bytes = (uint32_t)wf_min_u64(left, MESSAGE_MAX);
		struct wf_sge sge = { .length = bytes, .lkey = wf_mr_lkey(h->mr) };
		struct wf_recv_wr wr = { .sge = &sge, .num_sge = 1 };
		const struct wf_recv_wr *bad;

		left -= bytes;
		wr.wr_id = left == 0 && f->turn ? TURN : 0;
		ret = wf_qp_post_recv(qp, &wr, &bad);
	}
	return ret;
}

static int connect_flow(struct wf_rc *rc, const struct wf_fabric *fabric, struct flow *f,
                        struct wf_err *err)
{
	uint32_t from = requester(&f->spec), to = responder(&f->spec);
	struct wf_qp *peer;
	int ret = make_qp(&rc->hosts[from], fabric, &f->spec, &f->qp, err);

	if (ret == 0)
		ret = make_qp(&rc->hosts[to], fabric, &f->spec, &peer, err);
	if (ret != 0)
		return ret;
	f->rkey = wf_mr_rkey(rc->hosts[to].mr);
	ret = wf_conn_up(fabric, f->qp, to, wf_qp_num(peer), f->spec.cls, QP_ACCESS);
	if (ret == 0)
		ret = wf_conn_up(fabric, peer, from, wf_qp_num(f->qp), f->spec.cls, QP_ACCESS);
	if (ret == 0)
		ret = post_receives(&rc->hosts[to], peer, &f->spec);
	return ret;
}

static int rc_start(void *arg, const struct wf_fabric *fabric, struct wf_adapter **adapters,
                    struct wf_err *err)
{
	struct wf_rc *rc = arg;
	int ret = 0;

	for (uint32_t i = 0; i < rc->n_hosts && ret == 0; i++)
		ret = open_host(rc, i, adapters[i]);
	for (uint32_t i = 0; i < rc->n_flows && ret == 0; i++) {
		if (rc->flows[i].spec.op != WF_FLOW_TCP)
			ret = connect_flow(rc, fabric, &rc->flows[i], err);
	}
	if (ret == -EINVAL && err->text[0] == '\0')
		return wf_err_say(err, "traffic: a queue pair cannot be set up so (more messages "
		                       "than a queue holds)");
	return ret;
}

/* The simulation counts the flows; there is nothing else to wait for. */
static bool rc_done(void *arg, wf_time now)
{
	(void)arg;
	(void)now;
	return true;
}

void wf_rc_app(struct wf_rc *rc, struct wf_sim_app *app)
{
	*app = (struct wf_sim_app){
		.arg = rc, .attr = rc_attr, .start = rc_start, .done = rc_done
	};
}
