/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of selective repeat: trimmed packets, direct placement, what counts as in flight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/qp_priv.h"
#include "rdma/rig_pair.h"

#define MTU 1024

static const struct wf_qp_tune selective = {
	.recovery = WF_RECOVERY_SELECTIVE, .window = 64, .reorder = 63, .ack_every = 1
};

/* What happens to the first packet with a PSN, and what is looked at when something passes. */
struct plan {
	uint32_t psn;
	bool trim, lose;
	bool (*is)(uint8_t op);
	uint32_t naks, requests;
	const uint8_t *early; /* memory that a packet behind the lost one belongs to */
	const uint8_t *want;
	bool there; /* it was in memory when the requester was told of it */
	bool done;
};

static bool apply(struct rig *rig, struct wf_packet *pkt)
{
	struct plan *plan = rig->ctx;

	plan->requests += plan->is(pkt->opcode);
	if (wf_op_is_ack(pkt->opcode)) {
		plan->naks += pkt->u.aeth.syndrome == WF_NAK_TRIMMED;
		if (plan->early != NULL && pkt->u.aeth.syndrome == WF_NAK_PSN_SEQUENCE &&
		    pkt->u.aeth.msn == plan->psn + 1)
			plan->there = memcmp(plan->early, plan->want, MTU) == 0;
	}
	if (plan->done || pkt->psn != plan->psn || !plan->is(pkt->opcode))
		return true;
	plan->done = true;
	if (plan->trim) {
		pkt->type = WF_PACKET_TRIMMED;
		pkt->length = 0;
	}
	return !plan->lose;
}

static uint64_t counter(struct pair *p, uint32_t host, enum wf_counter c)
{
	return wf_hca_counter(p->rig.host[host].hca, c);
}

/*
 * Whichever packet of a WRITE is trimmed, the last one too: exactly that one goes again, at once.
 */
static void test_trimmed_write(void **state)
{
	(void)state;
	for (uint32_t psn = 0; psn < 8; psn++) {
		struct plan plan = { .psn = psn, .trim = true, .is = wf_op_is_write };
		struct pair p;

		pair_init(&p, &selective, NULL, 0);
		p.rig.filter = apply;
		p.rig.ctx = &plan;
		pair_post_write(&p, 1, 8 * MTU);
		rig_run(&p.rig);
		expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
		assert_memory_equal(p.mem[0], p.mem[1] + PAIR_BYTES / 2, 8 * MTU);
		assert_int_equal(plan.naks, 1);
		assert_int_equal(plan.requests, 9);
		assert_int_equal(counter(&p, 1, WF_CTR_RX_TRIMMED), 1);
		assert_int_equal(counter(&p, 0, WF_CTR_TX_RETRANSMITS), 1);
		assert_int_equal(counter(&p, 0, WF_CTR_LOCAL_ACK_TIMEOUT_ERR), 0);
		assert_int_equal(p.qp[0]->req.out.inflight, 0);
		pair_fini(&p);
	}
}

/*
 * What is kept of packets grows with those in flight, at both ends, and is given back when none is:
 * of 39 packets the first is lost.
 */
static void test_room_grows(void **state)
{
	static const struct wf_qp_tune wide = {
		.recovery = WF_RECOVERY_SELECTIVE, .window = 65536, .reorder = 65535, .ack_every = 1
	};
	struct plan plan = { .psn = 0xfffff0, .lose = true, .is = wf_op_is_write };
	uint64_t most[2] = { 0, 0 };
	struct wf_qp_attr attr;
	struct pair p;

	(void)state;
	rig_attr_defaults(&attr);
	attr.path_mtu = WF_MTU_256;
	pair_init(&p, &wide, &attr, 0xfffff0);
	p.rig.filter = apply;
	p.rig.ctx = &plan;
	for (uint64_t id = 1; id <= 2; id++) {
		assert_null(p.qp[0]->req.out.ring);
		assert_null(p.qp[1]->resp.held);
		memset(p.mem[1], 0, PAIR_BYTES);
		pair_post_write(&p, id, 39 * 256);
		while (rig_step(&p.rig, WF_TIME_NEVER - 1)) {
			most[0] = wf_max_u64(most[0], p.qp[0]->req.out.mask);
			most[1] = wf_max_u64(most[1], p.qp[1]->resp.held_mask);
		}
		expect_wc(&p, 0, id, WF_WC_RDMA_WRITE, 0);
		assert_memory_equal(p.mem[0], p.mem[1] + PAIR_BYTES / 2, 39 * 256);
		assert_int_equal(most[0], 63);
		assert_int_equal(most[1], 63);
	}
	assert_null(p.qp[0]->req.out.ring);
	assert_null(p.qp[1]->resp.held);
	assert_null(p.qp[1]->resp.held_data);
	pair_fini(&p);
}

/* Go-back-N takes it for a gap, and knows of it without the timer. */
static void test_trimmed_go_back_n(void **state)
{
	struct plan plan = { .psn = 7, .trim = true, .is = wf_op_is_write };
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 0);
	p.rig.filter = apply;
	p.rig.ctx = &plan;
	pair_post_write(&p, 1, 8 * MTU);
	rig_run(&p.rig);
	expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
	assert_memory_equal(p.mem[0], p.mem[1] + PAIR_BYTES / 2, 8 * MTU);
	assert_int_equal(plan.naks, 0);
	assert_int_equal(plan.requests, 9);
	assert_int_equal(counter(&p, 0, WF_CTR_LOCAL_ACK_TIMEOUT_ERR), 0);
	pair_fini(&p);
}

/*
 * A trimmed response: the responder is told, and sends that one again; with go-back-N the READ is
 * asked for again from there.
 */
static void test_trimmed_response(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < 16; k++) {
		struct plan plan = { .psn = k / 2, .trim = true, .is = wf_op_is_read_resp };
		struct wf_send_wr wr = { .opcode = WF_WR_RDMA_READ, .flags = WF_SEND_SIGNALED };
		struct wf_sge sge;
		struct pair p;

		pair_init(&p, k % 2 == 0 ? &selective : NULL, NULL, 0);
		p.rig.filter = apply;
		p.rig.ctx = &plan;
		sge = rig_sge(p.mem[0], 8 * MTU, p.mr[0]);
		wr.rdma.addr = (uintptr_t)p.mem[1];
		wr.rdma.rkey = wf_mr_rkey(p.mr[1]);
		assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
		rig_run(&p.rig);
		assert_memory_equal(p.mem[0], p.mem[1], 8 * MTU);
		assert_int_equal(counter(&p, k % 2 == 0 ? 1 : 0, WF_CTR_TX_RETRANSMITS), 1);
		assert_int_equal(counter(&p, k % 2 == 0 ? 0 : 1, WF_CTR_TX_RETRANSMITS), 0);
		if (k % 2 == 0)
			assert_int_equal(plan.requests, 9); /* responses */
		assert_int_equal(counter(&p, 0, WF_CTR_LOCAL_ACK_TIMEOUT_ERR), 0);
		assert_int_equal(p.qp[1]->resp.out.inflight, 0);
		assert_null(p.qp[0]->req.out.ring);
		assert_null(p.qp[1]->resp.out.ring);
		pair_fini(&p);
	}
}

static void post_read(struct pair *p, uint64_t id, uint32_t to, uint32_t from, uint32_t bytes)
{
	struct wf_send_wr wr = { .wr_id = id,
		                 .opcode = WF_WR_RDMA_READ,
		                 .flags = WF_SEND_SIGNALED };
	struct wf_sge sge = rig_sge(p->mem[0] + to, bytes, p->mr[0]);

	wr.rdma.addr = (uintptr_t)p->mem[1] + from;
	wr.rdma.rkey = wf_mr_rkey(p->mr[1]);
	assert_int_equal(rig_post(p->qp[0], &wr, &sge), 0);
}

/*
 * READs and WRITEs on one queue pair, half of the packets trimmed, all in any order, notices too:
 * nothing waits for the timer, and every trimmed packet goes again exactly once, of responses as
 * well.
 */
static void test_trimmed_reads(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct wf_wc wc;
		struct pair p;

		pair_init(&p, &selective, NULL, 0xfffff0);
		p.rig.key = seed;
		p.rig.faults =
			(struct rig_faults){ .trim = UINT32_C(1) << 31, .late = UINT32_C(3) << 30 };
		post_read(&p, 1, 10000, 0, 4 * MTU + 7);
		pair_post_write(&p, 2, 3 * MTU);
		post_read(&p, 3, 15000, 4096, 4 * MTU);
		rig_run(&p.rig);
		for (uint64_t id = 1; id <= 3; id++) {
			assert_true(rig_poll(&p.rig, 0, &wc));
			assert_int_equal(wc.wr_id, id);
			assert_int_equal(wc.status, WF_WC_SUCCESS);
		}
		assert_memory_equal(p.mem[0] + 10000, p.mem[1], 4 * MTU + 7);
		assert_memory_equal(p.mem[0], p.mem[1] + PAIR_BYTES / 2, 3 * MTU);
		assert_memory_equal(p.mem[0] + 15000, p.mem[1] + 4096, 4 * MTU);
		assert_int_equal(counter(&p, 0, WF_CTR_LOCAL_ACK_TIMEOUT_ERR), 0);
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(counter(&p, i, WF_CTR_TX_RETRANSMITS),
			                 counter(&p, 1 - i, WF_CTR_RX_TRIMMED));
		assert_int_equal(wf_qp_inflight(p.qp[0]) + wf_qp_inflight(p.qp[1]), 0);
		assert_null(p.qp[0]->req.out.ring);
		pair_fini(&p);
	}
}

/*
 * Responses that are lost without a word: the timer asks again, and the window does not stay full
 * of them.
 */
static void test_lost_responses(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct wf_cc_fixed_param fixed = { .window = 2 * MTU };
		struct wf_qp_tune tune = selective;
		struct wf_wc wc;
		struct pair p;

		if (seed % 2 == 0)
			tune = (struct wf_qp_tune){ .read_acks = true, .ack_every = 4 };
		tune.cc = &wf_cc_fixed;
		tune.cc_param = &fixed;
		pair_init(&p, &tune, NULL, 0xfffff0);
		p.rig.key = seed;
		p.rig.faults = (struct rig_faults){ .drop = UINT32_C(1) << 29 };
		post_read(&p, 1, 0, 0, 9 * MTU + 7);
		rig_run(&p.rig);
		assert_true(rig_poll(&p.rig, 0, &wc));
		if (wc.status == WF_WC_SUCCESS)
			assert_memory_equal(p.mem[0], p.mem[1], 9 * MTU + 7);
		else
			assert_int_equal(wc.status, WF_WC_RETRY_EXC_ERR);
		pair_fini(&p);
	}
}

/*
 * Half of the packets are trimmed, and all come in any order, notices too: nothing waits for the
 * timer, and every trimmed packet goes again exactly once.
 */
static void test_trimmed_and_reordered(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct pair p;

		pair_init(&p, &selective, NULL, 0xfffff0);
		p.rig.key = seed;
		p.rig.faults =
			(struct rig_faults){ .trim = UINT32_C(1) << 31, .late = UINT32_C(3) << 30 };
		pair_post_write(&p, 1, 9 * MTU + 5);
		rig_run(&p.rig);
		expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
		assert_memory_equal(p.mem[0], p.mem[1] + PAIR_BYTES / 2, 9 * MTU + 5);
		assert_int_equal(counter(&p, 0, WF_CTR_LOCAL_ACK_TIMEOUT_ERR), 0);
		assert_int_equal(counter(&p, 0, WF_CTR_TX_RETRANSMITS),
		                 counter(&p, 1, WF_CTR_RX_TRIMMED));
		assert_int_equal(p.qp[0]->req.out.inflight, 0);
		pair_fini(&p);
	}
}

/* A packet is lost. What came behind it is in memory when it comes, or only in its turn. */
static void test_direct_placement(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		bool direct = k % 2 != 0, first = k / 2 != 0;
		struct wf_qp_tune tune = selective;
		struct plan plan = { .psn = first ? 0 : 3, .lose = true, .is = wf_op_is_write };
		struct pair p;

		tune.direct = direct;
		pair_init(&p, &tune, NULL, 0);
		plan.early = p.mem[1] + PAIR_BYTES / 2 + (plan.psn + 1) * MTU;
		plan.want = p.mem[0] + (plan.psn + 1) * MTU;
		p.rig.filter = apply;
		p.rig.ctx = &plan;
		pair_post_write(&p, 1, 8 * MTU);
		rig_run(&p.rig);
		expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
		assert_memory_equal(p.mem[0], p.mem[1] + PAIR_BYTES / 2, 8 * MTU);
		/* Without the packet that has the address nobody knows where. */
		assert_int_equal(plan.there, direct && !first);
		pair_fini(&p);
	}
}

/*
 * The last packet of one WRITE is lost: all of the next is placed at once, and completes after it.
 */
static void test_direct_placement_of_the_next(void **state)
{
	struct wf_qp_tune tune = selective;
	struct plan plan = { .psn = 1, .lose = true, .is = wf_op_is_write };
	struct wf_send_wr wr = { .wr_id = 2,
		                 .opcode = WF_WR_RDMA_WRITE,
		                 .flags = WF_SEND_SIGNALED };
	struct wf_sge sge;
	struct pair p;

	(void)state;
	tune.direct = true;
	pair_init(&p, &tune, NULL, 0);
	p.rig.filter = apply;
	p.rig.ctx = &plan;
	pair_post_write(&p, 1, 2 * MTU);
	sge = rig_sge(p.mem[0] + 4 * MTU, 3 * MTU, p.mr[0]);
	wr.rdma.addr = (uintptr_t)p.mem[1];
	wr.rdma.rkey = wf_mr_rkey(p.mr[1]);
	assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	plan.early = p.mem[1];
	plan.want = p.mem[0] + 4 * MTU;
	rig_run(&p.rig);
	expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
	expect_wc(&p, 0, 2, WF_WC_RDMA_WRITE, 0);
	assert_true(plan.there);
	assert_memory_equal(p.mem[1], p.mem[0] + 4 * MTU, 3 * MTU);
	assert_memory_equal(p.mem[1] + PAIR_BYTES / 2, p.mem[0], 2 * MTU);
	pair_fini(&p);
}

/* A WRITE that may not be is refused in its turn, and places nothing before. */
static void test_direct_placement_is_checked(void **state)
{
	struct wf_qp_tune tune = selective;
	struct plan plan = { .psn = 0, .lose = true, .is = wf_op_is_write };
	struct wf_send_wr wr = { .wr_id = 2,
		                 .opcode = WF_WR_RDMA_WRITE,
		                 .flags = WF_SEND_SIGNALED };
	uint8_t before[PAIR_BYTES];
	struct wf_sge sge;
	struct wf_wc wc;
	struct pair p;

	(void)state;
	tune.direct = true;
	pair_init(&p, &tune, NULL, 0);
	memcpy(before, p.mem[1], PAIR_BYTES);
	p.rig.filter = apply;
	p.rig.ctx = &plan;
	pair_post_write(&p, 1, 8);
	sge = rig_sge(p.mem[0], 2 * MTU, p.mr[0]);
	wr.rdma.addr = (uintptr_t)p.mem[1];
	wr.rdma.rkey = wf_mr_rkey(p.mr[1]) ^ 1;
	assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	rig_run(&p.rig);
	expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
	assert_true(rig_poll(&p.rig, 0, &wc));
	assert_int_equal(wc.status, WF_WC_REM_ACCESS_ERR);
	assert_memory_equal(p.mem[1], before, PAIR_BYTES / 2);
	pair_fini(&p);
}

/* Every packet says another way; without spraying all say the same. */
static void test_spray(void **state)
{
	(void)state;
	for (unsigned spray = 0; spray < 2; spray++) {
		struct wf_qp_tune tune = selective;
		struct wf_packet pkt;
		uint16_t last = 0;
		unsigned changes = 0;
		struct pair p;

		tune.spray = spray != 0;
		pair_init(&p, &tune, NULL, 0);
		pair_post_write(&p, 1, 8 * MTU);
		for (unsigned i = 0; i < 8; i++) {
			assert_true(wf_hca_tx(p.rig.host[0].hca, (wf_time)i * WF_US, &pkt, NULL));
			assert_true(pkt.entropy >= 0xc000);
			changes += i > 0 && pkt.entropy != last;
			last = pkt.entropy;
		}
		assert_int_equal(changes, spray != 0 ? 7 : 0);
		pair_fini(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trimmed_write),
		cmocka_unit_test(test_room_grows),
		cmocka_unit_test(test_trimmed_reads),
		cmocka_unit_test(test_lost_responses),
		cmocka_unit_test(test_trimmed_go_back_n),
		cmocka_unit_test(test_trimmed_response),
		cmocka_unit_test(test_trimmed_and_reordered),
		cmocka_unit_test(test_direct_placement),
		cmocka_unit_test(test_direct_placement_of_the_next),
		cmocka_unit_test(test_direct_placement_is_checked),
		cmocka_unit_test(test_spray),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
