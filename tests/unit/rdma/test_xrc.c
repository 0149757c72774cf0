/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of extended reliable connections: one connection, several receive queues. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rdma/hca_priv.h"
#include "rdma/rig_pair.h"
#include "rdma/xrc.h"

#define QUEUES 2

/* Host 0 sends to two queues of host 1; the pair's own connection is there besides. */
struct xrc {
	struct pair p;
	struct wf_xrcd *xrcd;
	struct wf_srq *srq[QUEUES];
	struct wf_cq *cq[QUEUES];
	struct wf_qp *send, *recv;
};

/* hca: NULL for the usual adapters. */
static void xrc_init_with(struct xrc *x, const struct wf_hca_attr *hca)
{
	struct wf_qp_init init;
	struct wf_qp_attr attr;

	pair_init_with(&x->p, hca, NULL, NULL, 1);
	assert_int_equal(wf_xrcd_create(x->p.rig.host[1].hca, &x->xrcd), 0);
	for (int i = 0; i < QUEUES; i++) {
		struct wf_srq_attr a = { .max_wr = 16, .max_sge = 2 };

		assert_int_equal(wf_cq_create(x->p.rig.host[1].hca, 64, &x->cq[i]), 0);
		assert_int_equal(
			wf_xrc_srq_create(x->p.rig.host[1].pd, &a, x->xrcd, x->cq[i], &x->srq[i]),
			0);
	}
	rig_init_qp(&init, &x->p.rig.host[0], WF_QPT_XRC_SEND);
	init.recv_cq = NULL;
	assert_int_equal(wf_qp_create(x->p.rig.host[0].pd, &init, &x->send), 0);
	init = (struct wf_qp_init){ .type = WF_QPT_XRC_RECV, .xrcd = x->xrcd };
	assert_int_equal(wf_qp_create(wf_xrcd_pd(x->xrcd), &init, &x->recv), 0);

	attr = x->p.attr;
	rig_to_init(x->send, &attr);
	rig_to_init(x->recv, &attr);
	attr.qp_state = WF_QPS_RTR;
	attr.sq_psn = attr.rq_psn = 0xfffffe;
	attr.ah_attr.dest = 1;
	attr.dest_qp_num = wf_qp_num(x->recv);
	/* What only a receiver has a sender does not take. */
	assert_int_equal(wf_qp_modify(x->send, &attr, RIG_RTR_RC), -EINVAL);
	assert_int_equal(wf_qp_modify(x->send, &attr, RIG_RTR_UC), 0);
	attr.ah_attr.dest = 0;
	attr.dest_qp_num = wf_qp_num(x->send);
	assert_int_equal(wf_qp_modify(x->recv, &attr, RIG_RTR_UC), -EINVAL);
	assert_int_equal(wf_qp_modify(x->recv, &attr, RIG_RTR_RC), 0);
	attr.qp_state = WF_QPS_RTS;
	assert_int_equal(wf_qp_modify(x->send, &attr, RIG_RTS_RC), 0);
	assert_int_equal(wf_qp_modify(x->recv, &attr, RIG_RTS_RC), -EINVAL);
	assert_int_equal(wf_qp_modify(x->recv, &attr, WF_QP_STATE | WF_QP_TIMEOUT | WF_QP_SQ_PSN),
	                 0);
}

static void xrc_init(struct xrc *x)
{
	xrc_init_with(x, NULL);
}

static void post_recv(struct xrc *x, int queue, uint64_t wr_id, uint8_t *at, uint32_t length)
{
	struct wf_sge sge = rig_sge(at, length, x->p.mr[1]);
	struct wf_recv_wr wr = { .wr_id = wr_id, .sge = &sge, .num_sge = 1 };
	const struct wf_recv_wr *bad;

	assert_int_equal(wf_srq_post_recv(x->srq[queue], &wr, &bad), 0);
}

static int post(struct xrc *x, enum wf_wr_opcode opcode, uint32_t srqn, uint32_t length)
{
	struct wf_sge sge = rig_sge(x->p.mem[0], length, x->p.mr[0]);
	struct wf_send_wr wr = {
		.opcode = opcode,
		.flags = WF_SEND_SIGNALED,
		.srqn = srqn,
		.imm = 77,
		.wr_id = 5,
	};

	if (opcode == WF_WR_ATOMIC_FETCH_AND_ADD) {
		wr.atomic.addr = (uintptr_t)x->p.mem[1] + 8000;
		wr.atomic.rkey = wf_mr_rkey(x->p.mr[1]);
		wr.atomic.compare_add = 3;
	} else {
		wr.rdma.addr = (uintptr_t)x->p.mem[1] + 8000;
		wr.rdma.rkey = wf_mr_rkey(x->p.mr[1]);
	}
	return rig_post(x->send, &wr, &sge);
}

static enum wf_wc_status sent(struct xrc *x)
{
	struct wf_wc wc;

	assert_true(rig_poll(&x->p.rig, 0, &wc));
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(wc.qp_num, wf_qp_num(x->send));
	return wc.status;
}

/* Messages of several packets find their queue and its completion queue. */
static void test_each_queue_gets_its_own(void **state)
{
	struct wf_wc wc;
	struct xrc x;

	(void)state;
	xrc_init(&x);
	assert_true(wf_srq_num(x.srq[0]) != 0 && wf_srq_num(x.srq[0]) != wf_srq_num(x.srq[1]));
	for (int i = 0; i < 4; i++) {
		int queue = i & 1;
		uint8_t *to = x.p.mem[1] + 4000 * i;

		post_recv(&x, queue, 100 + (uint64_t)i, to, 4000);
		memset(x.p.mem[0], i + 1, 3000);
		assert_int_equal(post(&x, WF_WR_SEND_WITH_IMM, wf_srq_num(x.srq[queue]), 3000), 0);
		rig_run(&x.p.rig);
		assert_int_equal(sent(&x), WF_WC_SUCCESS);
		assert_int_equal(wf_cq_poll(x.cq[queue], 1, &wc), 1);
		assert_int_equal(wf_cq_waiting(x.cq[1 - queue]), 0);
		assert_int_equal(wc.wr_id, 100 + i);
		assert_int_equal(wc.byte_len, 3000);
		assert_int_equal(wc.imm, 77);
		assert_int_equal(wc.qp_num, wf_qp_num(x.recv));
		assert_memory_equal(to, x.p.mem[0], 3000);
	}
	pair_fini(&x.p);
}

static void test_one_sided(void **state)
{
	uint64_t before, after;
	struct wf_wc wc;
	struct xrc x;

	(void)state;
	xrc_init(&x);
	/* Before any queue was named: the domain's. */
	memcpy(&before, x.p.mem[1] + 8000, 8);
	assert_int_equal(post(&x, WF_WR_ATOMIC_FETCH_AND_ADD, wf_srq_num(x.srq[0]), 8), 0);
	rig_run(&x.p.rig);
	assert_int_equal(sent(&x), WF_WC_SUCCESS);
	memcpy(&after, x.p.mem[1] + 8000, 8);
	assert_true(after == before + 3);
	assert_int_equal(post(&x, WF_WR_RDMA_WRITE, wf_srq_num(x.srq[1]), 5000), 0);
	rig_run(&x.p.rig);
	assert_int_equal(sent(&x), WF_WC_SUCCESS);
	assert_memory_equal(x.p.mem[1] + 8000, x.p.mem[0], 5000);
	memset(x.p.mem[0], 0, 5000);
	assert_int_equal(post(&x, WF_WR_RDMA_READ, wf_srq_num(x.srq[0]), 5000), 0);
	rig_run(&x.p.rig);
	assert_int_equal(sent(&x), WF_WC_SUCCESS);
	assert_memory_equal(x.p.mem[1] + 8000, x.p.mem[0], 5000);
	post_recv(&x, 1, 9, x.p.mem[1], 8);
	assert_int_equal(post(&x, WF_WR_RDMA_WRITE_WITH_IMM, wf_srq_num(x.srq[1]), 100), 0);
	rig_run(&x.p.rig);
	assert_int_equal(sent(&x), WF_WC_SUCCESS);
	assert_int_equal(wf_cq_poll(x.cq[1], 1, &wc), 1);
	assert_int_equal(wc.opcode, WF_WC_RECV_RDMA_WITH_IMM);
	pair_fini(&x.p);
}

/* Nobody's number, another domain's, one that is gone: an invalid request each time. */
static void test_wrong_queue(void **state)
{
	struct wf_srq_attr a = { .max_wr = 4, .max_sge = 1 };
	struct wf_xrcd *other;
	struct wf_srq *srq;
	uint32_t num;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct xrc x;

		xrc_init(&x);
		assert_int_equal(wf_xrcd_create(x.p.rig.host[1].hca, &other), 0);
		assert_int_equal(wf_xrc_srq_create(x.p.rig.host[1].pd, &a, other, x.cq[0], &srq),
		                 0);
		num = i == 0 ? 999 : i == 1 ? wf_srq_num(srq) : wf_srq_num(x.srq[0]);
		if (i == 2) {
			/* It was in use. */
			post_recv(&x, 0, 1, x.p.mem[1], 100);
			assert_int_equal(post(&x, WF_WR_SEND, num, 100), 0);
			rig_run(&x.p.rig);
			assert_int_equal(sent(&x), WF_WC_SUCCESS);
			assert_int_equal(wf_srq_destroy(x.srq[0]), 0);
		}
		assert_int_equal(post(&x, WF_WR_SEND, num, 100), 0);
		rig_run(&x.p.rig);
		assert_int_equal(sent(&x), WF_WC_REM_INV_REQ_ERR);
		assert_int_equal(wf_qp_state(x.recv), WF_QPS_ERR);
		pair_fini(&x.p);
	}
}

/*
 * Adapters of one host have their own numbers. What is for another's queue is refused, and does not
 * come to the one that would have that number if all counted from 1.
 */
static void test_own_numbers(void **state)
{
	struct wf_srq_attr a = { .max_wr = 4, .max_sge = 1 };
	struct wf_hca_attr attr;
	struct wf_srq *srq;
	unsigned n = 0;
	struct xrc x;

	(void)state;
	wf_hca_attr_defaults(&attr);
	attr.srqn_base = 5 << 6;
	attr.srqn_bits = 6;
	xrc_init_with(&x, &attr);
	assert_int_equal(wf_srq_num(x.srq[0]), 5 << 6 | 1);
	assert_int_equal(wf_srq_num(x.srq[1]), 5 << 6 | 2);
	post_recv(&x, 0, 1, x.p.mem[1], 100);
	assert_int_equal(post(&x, WF_WR_SEND, 5 << 6 | 1, 100), 0);
	rig_run(&x.p.rig);
	assert_int_equal(sent(&x), WF_WC_SUCCESS);
	post_recv(&x, 0, 2, x.p.mem[1], 100);
	assert_int_equal(post(&x, WF_WR_SEND, 6 << 6 | 1, 100), 0);
	rig_run(&x.p.rig);
	assert_int_equal(sent(&x), WF_WC_REM_INV_REQ_ERR);
	/* All of its numbers, and no more. */
	while (wf_xrc_srq_create(x.p.rig.host[1].pd, &a, x.xrcd, x.cq[0], &srq) == 0)
		n++;
	assert_int_equal(n, 61);
	assert_int_equal(wf_srq_num(srq), 5 << 6 | 63);
	pair_fini(&x.p);
	/* Bases that do not fit. */
	attr.srqn_base = 5;
	assert_int_equal(wf_hca_create(&attr, wf_mem_heap(), &x.p.rig.host[0].hca), -EINVAL);
	attr.srqn_base = 1 << 16;
	assert_int_equal(wf_hca_create(&attr, wf_mem_heap(), &x.p.rig.host[0].hca), -EINVAL);
}

/*
 * Host 1 has the queue pair, and host 0's adapter, which is the sender's here, stands for another
 * program with the same domain: what comes for a queue of it is handed on.
 */
struct other {
	struct wf_hca *hca; /* whose queue it is */
	struct wf_xrc_id id;
	enum wf_forward say; /* when it is not DONE */
	unsigned handed, refused;
};

static enum wf_forward hand_on(void *ctx, struct wf_qp *qp, const struct wf_packet *pkt,
                               const void *payload)
{
	struct other *o = ctx;
	struct wf_packet out = *pkt;
	int ret;

	if (o->say != WF_FORWARD_DONE)
		return o->say;
	if (o->hca == NULL)
		return WF_FORWARD_NOBODY;
	out.qpn = wf_qp_num(qp);
	o->id = wf_qp_xrc_id(qp);
	ret = wf_xrc_take(o->hca, &o->id, &out, payload, o->hca->now);
	if (ret == -EAGAIN)
		return WF_FORWARD_LATER;
	o->handed++;
	o->refused += ret != 0;
	return WF_FORWARD_DONE;
}

static const struct wf_xrc_id file = { 7, 4711 };

/* The other program: host 0 with a domain of that file, a queue in it, and room for length. */
static uint32_t make_other(struct xrc *x, struct other *o, const struct wf_xrc_id *id,
                           struct wf_xrcd **xrcd_p, struct wf_srq **srq_p)
{
	struct wf_srq_attr a = { .max_wr = 16, .max_sge = 2 };
	struct rig_host *h = &x->p.rig.host[0];

	o->hca = h->hca;
	h->hca->attr.srqn_base = 3 << 12;
	x->p.rig.host[1].hca->attr.forward = hand_on;
	x->p.rig.host[1].hca->attr.forward_ctx = o;
	wf_xrcd_set_id(x->xrcd, &file);
	assert_int_equal(wf_xrcd_create(h->hca, xrcd_p), 0);
	wf_xrcd_set_id(*xrcd_p, id);
	assert_int_equal(wf_xrc_srq_create(h->pd, &a, *xrcd_p, h->cq, srq_p), 0);
	return wf_srq_num(*srq_p);
}

static void post_other(struct xrc *x, struct wf_srq *srq, uint64_t wr_id, uint32_t length)
{
	struct wf_sge sge = rig_sge(x->p.mem[0] + 10000, length, x->p.mr[0]);
	struct wf_recv_wr wr = { .wr_id = wr_id, .sge = &sge, .num_sge = 1 };
	const struct wf_recv_wr *bad;

	assert_int_equal(wf_srq_post_recv(srq, &wr, &bad), 0);
}

/* The next completion of host 0 that is, or is not, of a receive. */
static struct wf_wc next_of(struct xrc *x, bool receive)
{
	struct wf_wc wc;

	assert_true(rig_poll(&x->p.rig, 0, &wc));
	if ((wc.wr_id != 5) != receive)
		assert_true(rig_poll(&x->p.rig, 0, &wc));
	assert_int_equal(wc.wr_id != 5, receive);
	return wc;
}

static void test_between_programs(void **state)
{
	struct other o = { .say = WF_FORWARD_DONE };
	struct wf_xrcd *xrcd;
	struct wf_srq *srq;
	struct wf_wc wc, local;
	uint32_t num;
	wf_time end;
	struct xrc x;

	(void)state;
	xrc_init(&x);
	num = make_other(&x, &o, &file, &xrcd, &srq);
	assert_int_equal(num, 3 << 12 | 1);
	/* Messages of several packets, for the other's queue and for its own in turn. */
	for (unsigned i = 0; i < 3; i++) {
		memset(x.p.mem[0] + 10000, 0, 3000);
		post_other(&x, srq, 100 + i, 4000);
		post_recv(&x, 0, i, x.p.mem[1], 4000);
		assert_int_equal(post(&x, WF_WR_SEND_WITH_IMM, num, 3000), 0);
		rig_run(&x.p.rig);
		wc = next_of(&x, true);
		assert_int_equal(wc.wr_id, 100 + i);
		assert_int_equal(wc.status, WF_WC_SUCCESS);
		assert_int_equal(wc.byte_len, 3000);
		assert_int_equal(wc.imm, 77);
		assert_int_equal(wc.qp_num, wf_qp_num(x.recv)); /* as it is known outside */
		assert_memory_equal(x.p.mem[0], x.p.mem[0] + 10000, 3000);
		assert_int_equal(next_of(&x, false).status, WF_WC_SUCCESS);
		assert_int_equal(wf_cq_poll(x.cq[0], 1, &local), 0);
		assert_int_equal(post(&x, WF_WR_SEND, wf_srq_num(x.srq[0]), 3000), 0);
		rig_run(&x.p.rig);
		assert_int_equal(sent(&x), WF_WC_SUCCESS);
		assert_int_equal(wf_cq_poll(x.cq[0], 1, &local), 1);
	}
	assert_int_equal(o.handed, 9);
	/* No receive is posted: the sender tries again until one is. */
	assert_int_equal(post(&x, WF_WR_SEND, num, 100), 0);
	end = x.p.rig.now + 100 * WF_US;
	while (rig_step(&x.p.rig, end))
		;
	expect_no_wc(&x.p);
	post_other(&x, srq, 200, 100);
	rig_run(&x.p.rig);
	assert_int_equal(next_of(&x, true).wr_id, 200);
	assert_int_equal(next_of(&x, false).status, WF_WC_SUCCESS);
	/* It does not fit: whose queue it is hears of it. */
	post_other(&x, srq, 300, 2000);
	assert_int_equal(post(&x, WF_WR_SEND, num, 5000), 0);
	rig_run(&x.p.rig);
	assert_int_equal(next_of(&x, true).status, WF_WC_LOC_LEN_ERR);
	assert_int_equal(next_of(&x, false).status, WF_WC_SUCCESS);
	assert_int_equal(o.refused, 4); /* the packet that did not fit, and those behind it */
	/* Who closes its domain need not know of the others'. */
	assert_int_equal(wf_srq_destroy(srq), 0);
	assert_int_equal(wf_xrcd_destroy(xrcd), 0);
	pair_fini(&x.p);
}

/* The program with the queue pair ends in the middle of a message: the receive is given back. */
static void test_sender_of_another_ends(void **state)
{
	struct other o = { .say = WF_FORWARD_DONE };
	struct wf_xrcd *xrcd;
	struct wf_srq *srq;
	struct wf_packet pkt = { .opcode = WF_OP_XRC_SEND_FIRST, .length = 1024, .qpn = 99 };
	struct wf_wc wc;
	struct xrc x;

	(void)state;
	xrc_init(&x);
	pkt.srqn = (uint16_t)make_other(&x, &o, &file, &xrcd, &srq);
	post_other(&x, srq, 100, 4000);
	assert_int_equal(wf_xrc_take(o.hca, &file, &pkt, x.p.mem[1], o.hca->now), 0);
	expect_no_wc(&x.p);
	wf_xrc_forget(o.hca, 100, 50);
	expect_no_wc(&x.p);
	wf_xrc_forget(o.hca, 50, 50);
	assert_true(rig_poll(&x.p.rig, 0, &wc));
	assert_int_equal(wc.wr_id, 100);
	assert_int_equal(wc.status, WF_WC_WR_FLUSH_ERR);
	/* Its queue pair begins anew in the middle of one: the next message is whole. */
	post_other(&x, srq, 102, 4000);
	post_other(&x, srq, 103, 4000);
	assert_int_equal(wf_xrc_take(o.hca, &file, &pkt, x.p.mem[1], o.hca->now), 0);
	pkt.opcode = WF_OP_XRC_SEND_ONLY;
	assert_int_equal(wf_xrc_take(o.hca, &file, &pkt, x.p.mem[1], o.hca->now), 0);
	assert_true(rig_poll(&x.p.rig, 0, &wc));
	assert_int_equal(wc.wr_id, 102);
	assert_int_equal(wc.status, WF_WC_WR_FLUSH_ERR);
	assert_true(rig_poll(&x.p.rig, 0, &wc));
	assert_int_equal(wc.wr_id, 103);
	assert_int_equal(wc.status, WF_WC_SUCCESS);
	assert_int_equal(wc.byte_len, 1024);
	/* A message does not begin in the middle. */
	pkt.opcode = WF_OP_XRC_SEND_LAST;
	post_other(&x, srq, 101, 4000);
	assert_int_equal(wf_xrc_take(o.hca, &file, &pkt, x.p.mem[1], o.hca->now), -EINVAL);
	pair_fini(&x.p);
}

/*
 * Another file's domain, none, nobody there, and what is not handed on: each is an invalid request.
 */
static void test_not_shared(void **state)
{
	static const struct wf_xrc_id ids[] = { { 7, 4712 }, { 8, 4711 }, { 0, 0 } };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(ids) + 3; i++) {
		bool foreign = i < WF_ARRAY_SIZE(ids);
		struct other o = { .say = WF_FORWARD_DONE };
		struct wf_xrcd *xrcd;
		struct wf_srq *srq;
		uint32_t num;
		struct xrc x;

		xrc_init(&x);
		num = make_other(&x, &o, foreign ? &ids[i] : &file, &xrcd, &srq);
		post_other(&x, srq, 100, 4000);
		if (i == WF_ARRAY_SIZE(ids))
			o.hca = NULL;
		assert_int_equal(post(&x,
		                      i == WF_ARRAY_SIZE(ids) + 1   ? WF_WR_RDMA_WRITE
		                      : i == WF_ARRAY_SIZE(ids) + 2 ? WF_WR_RDMA_READ
		                                                    : WF_WR_SEND,
		                      num, 100),
		                 0);
		rig_run(&x.p.rig);
		/* Of another domain's queue the adapter that has it knows, and drops it. */
		assert_int_equal(sent(&x), foreign ? WF_WC_SUCCESS : WF_WC_REM_INV_REQ_ERR);
		assert_int_equal(o.refused, foreign);
		expect_no_wc(&x.p);
		pair_fini(&x.p);
	}
}

/* Packets lost in both directions: everything comes, once, in order. */
static void test_loss(void **state)
{
	struct wf_wc wc;
	struct xrc x;

	(void)state;
	xrc_init(&x);
	x.p.rig.faults.drop = UINT32_MAX / 8;
	for (int i = 0; i < 8; i++)
		assert_int_equal(post(&x, WF_WR_SEND, wf_srq_num(x.srq[i & 1]), 4000), 0);
	for (int i = 0; i < 8; i++)
		post_recv(&x, i & 1, (uint64_t)i, x.p.mem[1], 4000);
	rig_run(&x.p.rig);
	for (int i = 0; i < 8; i++)
		assert_int_equal(sent(&x), WF_WC_SUCCESS);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(wf_cq_poll(x.cq[i & 1], 1, &wc), 1);
		assert_int_equal(wc.wr_id, i);
	}
	pair_fini(&x.p);
}

static void test_what_is_refused(void **state)
{
	struct wf_send_wr wr = { .opcode = WF_WR_SEND };
	struct wf_qp_init init;
	struct wf_qp *qp;
	struct xrc x;

	(void)state;
	xrc_init(&x);
	assert_int_equal(rig_post(x.recv, &wr, NULL), -EINVAL);
	assert_int_equal(rig_recv(x.recv, 1, NULL), -EINVAL);
	assert_int_equal(rig_recv(x.send, 1, NULL), -EINVAL);
	assert_int_equal(post(&x, WF_WR_SEND, 0x10000, 8), -EINVAL);
	/* A receiver without a domain, a sender in one, an ordinary one on a domain's queue. */
	init = (struct wf_qp_init){ .type = WF_QPT_XRC_RECV };
	assert_int_equal(wf_qp_create(x.p.rig.host[1].pd, &init, &qp), -EINVAL);
	rig_init_qp(&init, &x.p.rig.host[1], WF_QPT_XRC_SEND);
	init.recv_cq = NULL;
	init.xrcd = x.xrcd;
	assert_int_equal(wf_qp_create(x.p.rig.host[1].pd, &init, &qp), -EINVAL);
	rig_init_qp(&init, &x.p.rig.host[1], WF_QPT_RC);
	init.srq = x.srq[0];
	assert_int_equal(wf_qp_create(x.p.rig.host[1].pd, &init, &qp), -EINVAL);
	/* What is in use stays. */
	assert_int_equal(wf_xrcd_destroy(x.xrcd), -EBUSY);
	assert_int_equal(wf_cq_destroy(x.cq[0]), -EBUSY);
	wf_qp_destroy(x.recv);
	assert_int_equal(wf_xrcd_destroy(x.xrcd), -EBUSY);
	assert_int_equal(wf_srq_destroy(x.srq[0]), 0);
	assert_int_equal(wf_srq_destroy(x.srq[1]), 0);
	assert_int_equal(wf_xrcd_destroy(x.xrcd), 0);
	assert_int_equal(wf_cq_destroy(x.cq[0]), 0);
	pair_fini(&x.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_queue_gets_its_own),
		cmocka_unit_test(test_one_sided),
		cmocka_unit_test(test_wrong_queue),
		cmocka_unit_test(test_own_numbers),
		cmocka_unit_test(test_between_programs),
		cmocka_unit_test(test_sender_of_another_ends),
		cmocka_unit_test(test_not_shared),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_what_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
