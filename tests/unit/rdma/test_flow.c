/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of when packets go: timeouts, RNR waits, pacing, ACKs, CNPs, credits, draining, turns.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cc/algs.h"
#include "rdma/rig_pair.h"

/* What passed, by time. */
struct trace {
	wf_time at[512];
	struct wf_packet pkt[512];
	uint32_t n;
	uint32_t lose; /* the packet with this number, from 1 */
	bool (*also)(const struct wf_packet *pkt);
};

static bool record(struct rig *rig, struct wf_packet *pkt)
{
	struct trace *t = rig->ctx;

	rig_must(t->n < 512);
	t->at[t->n] = rig->now;
	t->pkt[t->n++] = *pkt;
	return t->n != t->lose && (t->also == NULL || t->also(pkt));
}

static uint32_t count(const struct trace *t, bool (*is)(uint8_t op))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += is(t->pkt[i].opcode);
	return n;
}

static uint64_t counter(struct pair *p, uint32_t host, enum wf_counter c)
{
	return wf_hca_counter(p->rig.host[host].hca, c);
}

static bool lose_all(const struct wf_packet *pkt)
{
	(void)pkt;
	return false;
}

/*
 * IEEE 802.3: an Ethernet frame has 64 bytes at least. An empty SEND would have 62 (Ethernet 14,
 * IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4); with a byte of payload it has 66.
 */
static void test_least_size(void **state)
{
	struct wf_send_wr empty = { .opcode = WF_WR_SEND };
	struct trace t = { .n = 0 };
	struct wf_qp_attr attr;
	struct wf_sge sge;
	struct pair p;

	(void)state;
	rig_attr_defaults(&attr);
	pair_init(&p, NULL, &attr, 0);
	p.rig.filter = record;
	p.rig.ctx = &t;
	sge = rig_sge(p.mem[1], 8, p.mr[1]);
	assert_int_equal(rig_recv(p.qp[1], 1, &sge), 0);
	assert_int_equal(rig_recv(p.qp[1], 2, &sge), 0);
	assert_int_equal(rig_post(p.qp[0], &empty, NULL), 0);
	rig_run(&p.rig);
	assert_int_equal(t.pkt[0].opcode, WF_OP_RC_SEND_ONLY);
	assert_int_equal(t.pkt[0].size, 64);
	sge = rig_sge(p.mem[0], 1, p.mr[0]);
	assert_int_equal(rig_post(p.qp[0], &empty, &sge), 0);
	rig_run(&p.rig);
	assert_int_equal(t.pkt[2].opcode, WF_OP_RC_SEND_ONLY);
	assert_int_equal(t.pkt[2].size, 66);
	pair_fini(&p);
}

/* 4.096 us * 2^timeout between tries, retry_cnt of them. */
static void test_timeout(void **state)
{
	struct trace t = { .also = lose_all };
	struct wf_qp_attr attr;
	struct pair p;
	struct wf_wc wc;

	(void)state;
	rig_attr_defaults(&attr);
	attr.timeout = 3;
	attr.retry_cnt = 4;
	pair_init(&p, NULL, &attr, 0);
	p.rig.filter = record;
	p.rig.ctx = &t;
	pair_post_write(&p, 1, 8);
	rig_run(&p.rig);
	assert_int_equal(t.n, 5);
	for (uint32_t i = 1; i < 5; i++)
		assert_int_equal(t.at[i] - t.at[i - 1], (4096 << 3) * WF_NS);
	assert_true(rig_poll(&p.rig, 0, &wc));
	assert_int_equal(wc.status, WF_WC_RETRY_EXC_ERR);
	assert_int_equal(wc.time - t.at[4], (4096 << 3) * WF_NS);
	assert_int_equal(counter(&p, 0, WF_CTR_LOCAL_ACK_TIMEOUT_ERR), 5);
	assert_true(wf_hca_deadline(p.rig.host[0].hca) == WF_TIME_NEVER);
	pair_fini(&p);
}

/* One packet of ten is lost: one NAK; go-back-N sends it and all behind it, the other only it. */
static void test_one_loss(void **state)
{
	(void)state;
	for (int selective = 0; selective < 2; selective++) {
		struct wf_qp_tune tune = { .recovery = selective ? WF_RECOVERY_SELECTIVE
			                                         : WF_RECOVERY_GO_BACK_N };
		struct trace t = { .lose = 3 };
		struct pair p;

		pair_init(&p, &tune, NULL, 0xfffffc);
		p.rig.filter = record;
		p.rig.ctx = &t;
		pair_post_write(&p, 1, 10000);
		rig_run(&p.rig);
		expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
		assert_memory_equal(p.mem[0], p.mem[1] + PAIR_BYTES / 2, 10000);
		assert_int_equal(count(&t, wf_op_is_write), selective ? 11 : 18);
		assert_int_equal(counter(&p, 1, WF_CTR_OUT_OF_SEQUENCE), 7);
		assert_int_equal(counter(&p, 0, WF_CTR_LOCAL_ACK_TIMEOUT_ERR), 0);
		assert_int_equal(counter(&p, 0, WF_CTR_PACKET_SEQ_ERR), selective ? 7 : 1);
		assert_int_equal(counter(&p, 0, WF_CTR_TX_RETRANSMITS), selective ? 1 : 8);
		assert_int_equal(counter(&p, 1, WF_CTR_OOO_PLACED), selective ? 7 : 0);
		pair_fini(&p);
	}
}

/* A READ response that is lost: asked for again from there, not from the start. */
static void test_lost_response(void **state)
{
	struct trace t = { .lose = 4 };
	struct wf_sge sge;
	struct wf_send_wr wr = { .opcode = WF_WR_RDMA_READ, .flags = WF_SEND_SIGNALED };
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 0xfffffe);
	p.rig.filter = record;
	p.rig.ctx = &t;
	sge = rig_sge(p.mem[0], 5000, p.mr[0]);
	wr.rdma.addr = (uintptr_t)p.mem[1];
	wr.rdma.rkey = wf_mr_rkey(p.mr[1]);
	assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	rig_run(&p.rig);
	assert_memory_equal(p.mem[0], p.mem[1], 5000);
	assert_int_equal(count(&t, wf_op_is_read_req), 2);
	assert_int_equal(count(&t, wf_op_is_read_resp), 5 + 3);
	for (uint32_t i = 1; i < t.n; i++) {
		if (!wf_op_is_read_req(t.pkt[i].opcode))
			continue;
		assert_int_equal(t.pkt[i].psn, 0);
		assert_int_equal(t.pkt[i].u.reth.va, (uintptr_t)p.mem[1] + 2048);
		assert_int_equal(t.pkt[i].u.reth.dma_len, 5000 - 2048);
	}
	assert_true(counter(&p, 0, WF_CTR_IMPLIED_NAK_SEQ_ERR) >= 1);
	pair_fini(&p);
}

/* min_rnr_timer 14 is 1.28 ms; 0 is 655.36 ms. */
static void test_rnr(void **state)
{
	static const struct {
		uint8_t code;
		wf_time wait;
	} row[] = { { 1, 10 * WF_US },
		    { 14, 1280 * WF_US },
		    { 31, 491520 * WF_US },
		    { 0, 655360 * WF_US } };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_send_wr wr = { .opcode = WF_WR_SEND };
		struct trace t = { .n = 0 };
		struct wf_qp_attr attr;
		struct wf_wc wc;
		struct pair p;

		rig_attr_defaults(&attr);
		attr.min_rnr_timer = row[i].code;
		attr.rnr_retry = 3;
		pair_init(&p, NULL, &attr, 0);
		p.rig.filter = record;
		p.rig.ctx = &t;
		assert_int_equal(rig_post(p.qp[0], &wr, NULL), 0);
		rig_run(&p.rig);
		assert_int_equal(count(&t, wf_op_is_send), 4);
		assert_int_equal(t.pkt[1].u.aeth.syndrome, 0x20 | row[i].code);
		assert_int_equal(t.at[2] - t.at[1] - RIG_DELAY, row[i].wait);
		assert_true(rig_poll(&p.rig, 0, &wc));
		assert_int_equal(wc.status, WF_WC_RNR_RETRY_EXC_ERR);
		assert_int_equal(counter(&p, 1, WF_CTR_OUT_OF_BUFFER), 4);
		pair_fini(&p);
	}
}

/* A message of 64 packets draws one ACK; with ack_every, more. */
static void test_acks(void **state)
{
	static const uint32_t every[] = { 0, 4 };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(every); i++) {
		struct wf_qp_tune tune = { .ack_every = every[i] };
		struct trace t = { .n = 0 };
		struct pair p;

		pair_init(&p, &tune, NULL, 0);
		p.rig.filter = record;
		p.rig.ctx = &t;
		pair_post_write(&p, 1, 10000);
		rig_run(&p.rig);
		assert_int_equal(count(&t, wf_op_is_ack), every[i] == 0 ? 1 : 3);
		assert_int_equal(t.pkt[t.n - 1].psn, 9);
		assert_int_equal(t.pkt[t.n - 1].u.aeth.syndrome, 0x1f);
		assert_int_equal(t.pkt[t.n - 1].u.aeth.msn, 1);
		pair_fini(&p);
	}
}

/* At 8 Gb/s a packet of 1024 + 12 + 50 bytes takes a nanosecond a byte. */
static void test_pacing(void **state)
{
	struct wf_cc_fixed_param param = { .rate = UINT64_C(8000000000) };
	struct wf_qp_tune tune = { .cc = &wf_cc_fixed, .cc_param = &param };
	struct trace t = { .n = 0 };
	struct pair p;

	(void)state;
	pair_init(&p, &tune, NULL, 0);
	p.rig.filter = record;
	p.rig.ctx = &t;
	pair_post_write(&p, 1, 8192);
	assert_int_equal(wf_hca_tx_time(p.rig.host[0].hca), 0);
	rig_run(&p.rig);
	for (uint32_t i = 1; i < 8; i++)
		assert_int_equal(t.at[i] - t.at[i - 1], t.pkt[i - 1].size * WF_NS);
	assert_int_equal(t.pkt[1].size, 1024 + 12 + 50);
	assert_int_equal(t.pkt[0].size, 1024 + 12 + 16 + 50);
	assert_true(wf_hca_tx_time(p.rig.host[0].hca) == WF_TIME_NEVER);
	pair_fini(&p);
}

/* 8 Mb/s, ten times that after 100 us, and 1 Gb/s less than the port after 150 us. */
static void growing_timer(struct wf_cc *cc, wf_time now)
{
	bool first = cc->timer == 100 * WF_US;

	assert_true(now >= cc->timer);
	wf_cc_set_rate(cc, first ? UINT64_C(80000000) : cc->line_rate - UINT64_C(1000000000));
	cc->timer = first ? 150 * WF_US : WF_TIME_NEVER;
}

static void growing_start(struct wf_cc *cc, const void *param, wf_time now)
{
	(void)param;
	(void)now;
	wf_cc_set_rate(cc, UINT64_C(8000000));
	cc->timer = 100 * WF_US;
}

static void growing_send(struct wf_cc *cc, uint32_t bytes, wf_time now)
{
	(void)cc;
	(void)bytes;
	(void)now;
}

static void growing_ack(struct wf_cc *cc, const struct wf_cc_ack *ack)
{
	(void)cc;
	(void)ack;
}

static void growing_cnp(struct wf_cc *cc, wf_time now)
{
	(void)cc;
	(void)now;
}

static void growing_loss(struct wf_cc *cc, enum wf_cc_loss loss, wf_time now)
{
	(void)cc;
	(void)loss;
	(void)now;
}

/*
 * What is left of a packet's wait shrinks as the rate grows: 1.1 ms at 8 Mb/s are not waited for.
 */
static void test_pacing_follows_the_rate(void **state)
{
	static const struct wf_cc_ops growing = {
		.name = "growing",
		.help = "for this test",
		.size = sizeof(struct wf_cc),
		.start = growing_start,
		.on_send = growing_send,
		.on_ack = growing_ack,
		.on_cnp = growing_cnp,
		.on_loss = growing_loss,
		.on_timer = growing_timer,
	};
	struct wf_qp_tune tune = { .cc = &growing };
	struct trace t = { .n = 0 };
	struct pair p;
	wf_time left;

	(void)state;
	pair_init(&p, &tune, NULL, 0);
	p.rig.filter = record;
	p.rig.ctx = &t;
	pair_post_write(&p, 1, 2048);
	rig_run(&p.rig);
	assert_int_equal(t.at[0], 0);
	/*
	 * 1102 bytes at a microsecond each, 100 us of them waited; of the rest a tenth, 50 us
	 * waited.
	 */
	left = (t.pkt[0].size * WF_US - 100 * WF_US) / 10 - 50 * WF_US;
	assert_true(t.at[1] >= 150 * WF_US && t.at[1] < 150 * WF_US + left / 100);
	pair_fini(&p);
}

/* Never more than the window is unacknowledged. */
static void test_window(void **state)
{
	struct wf_cc_fixed_param param = { .window = 3000 };
	struct wf_qp_tune tune = { .cc = &wf_cc_fixed, .cc_param = &param };
	struct trace t = { .n = 0 };
	uint32_t acked = 0, sent = 0;
	struct pair p;

	(void)state;
	pair_init(&p, &tune, NULL, 0);
	p.rig.filter = record;
	p.rig.ctx = &t;
	pair_post_write(&p, 1, 10000);
	rig_run(&p.rig);
	expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
	for (uint32_t i = 0; i < t.n; i++) {
		if (wf_op_is_ack(t.pkt[i].opcode))
			acked = t.pkt[i].psn + 1;
		else
			sent = t.pkt[i].psn + 1;
		assert_true((sent - acked) * 1024 <= 3072);
	}
	pair_fini(&p);
}

/* The same of READ responses, which are acknowledged then; the responder asks for that in time. */
static void test_read_window(void **state)
{
	static const uint64_t windows[] = { 1, 1024, 3000, 5000, 100000 };

	(void)state;
	for (uint32_t k = 0; k < 2 * WF_ARRAY_SIZE(windows); k++) {
		struct wf_cc_fixed_param param = { .window = windows[k / 2] };
		struct wf_qp_tune tune = { .cc = &wf_cc_fixed,
			                   .cc_param = &param,
			                   .read_acks = true };
		struct wf_send_wr wr = { .opcode = WF_WR_RDMA_READ, .flags = WF_SEND_SIGNALED };
		struct trace t = { .n = 0 };
		uint32_t acked = 0, sent = 0, acks = 0;
		struct wf_sge sge;
		struct pair p;

		tune.recovery = k % 2 == 0 ? WF_RECOVERY_GO_BACK_N : WF_RECOVERY_SELECTIVE;
		pair_init(&p, &tune, NULL, 0);
		p.rig.filter = record;
		p.rig.ctx = &t;
		sge = rig_sge(p.mem[0], 10000, p.mr[0]);
		wr.rdma.addr = (uintptr_t)p.mem[1];
		wr.rdma.rkey = wf_mr_rkey(p.mr[1]);
		assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
		rig_run(&p.rig);
		expect_wc(&p, 0, 0, WF_WC_RDMA_READ, 10000);
		for (uint32_t i = 0; i < t.n; i++) {
			if (wf_op_is_ack(t.pkt[i].opcode)) {
				assert_int_equal(t.pkt[i].u.aeth.syndrome, 0x40);
				acked = t.pkt[i].psn;
				acks++;
			} else if (wf_op_is_read_resp(t.pkt[i].opcode)) {
				sent = t.pkt[i].psn + 1;
			}
			assert_true((sent - acked) * 1024 <= wf_max_u64(param.window, 1024));
		}
		assert_int_equal(sent, 10);
		assert_int_equal(acks, param.window > 10000 ? 1 : param.window < 2048 ? 10 : acks);
		pair_fini(&p);
	}
}

static bool mark_writes(const struct wf_packet *pkt)
{
	return !wf_op_is_write(pkt->opcode) || (pkt->flags & WF_PACKET_BAD) == 0;
}

/* Marked packets draw CNPs, which slow a sender down, or are ignored where it knows none. */
static void check_cnp(const struct wf_cc_ops *cc, uint64_t handled, uint64_t ignored)
{
	struct wf_qp_tune tune = {
		.cc = cc,
		.cnp_interval = 500 * WF_NS,
		.ecn_echo = true,
		.ect = true,
		.cnp_cls = 6,
	};
	struct trace t = { .also = mark_writes };
	struct pair p;
	wf_time last = 0;
	uint32_t n = 0;

	pair_init(&p, &tune, NULL, 0);
	p.rig.filter = record;
	p.rig.ctx = &t;
	p.rig.faults.mark = UINT32_MAX;
	pair_post_write(&p, 1, 10000);
	rig_run(&p.rig);
	for (uint32_t i = 0; i < t.n; i++) {
		if (wf_op_is_write(t.pkt[i].opcode))
			assert_true((t.pkt[i].flags & WF_PACKET_ECT) != 0);
		if (wf_op_is_ack(t.pkt[i].opcode))
			assert_true((t.pkt[i].flags & WF_PACKET_BECN) != 0);
		if (!wf_op_is_cnp(t.pkt[i].opcode) || t.pkt[i].src != 1)
			continue;
		assert_true(n == 0 || t.at[i] - last >= 500 * WF_NS);
		assert_int_equal(t.pkt[i].opcode, WF_OP_CNP);
		assert_int_equal(t.pkt[i].cls, 6);
		last = t.at[i];
		n++;
	}
	assert_int_equal(n, 2); /* ten packets, 100 ns apart */
	assert_int_equal(counter(&p, 1, WF_CTR_NP_CNP_SENT), 2);
	assert_int_equal(counter(&p, 1, WF_CTR_NP_ECN_MARKED_ROCE_PACKETS), 10);
	assert_int_equal(counter(&p, 0, WF_CTR_RP_CNP_HANDLED), handled);
	assert_int_equal(counter(&p, 0, WF_CTR_RP_CNP_IGNORED), ignored);
	pair_fini(&p);
}

static void test_cnp(void **state)
{
	(void)state;
	check_cnp(&wf_cc_dcqcn, 2, 0);
	check_cnp(NULL, 0, 2);
	check_cnp(&wf_cc_timely, 0, 2);
}

/* With credits, a sender that is told of none sends one packet and waits. */
static void test_credits(void **state)
{
	struct wf_qp_tune tune = { .credits = true };
	struct wf_send_wr wr = { .opcode = WF_WR_SEND };
	struct trace t = { .n = 0 };
	struct pair p;

	(void)state;
	pair_init(&p, &tune, NULL, 0);
	p.rig.filter = record;
	p.rig.ctx = &t;
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(rig_recv(p.qp[1], i, NULL), 0);
	assert_int_equal(rig_post(p.qp[0], &wr, NULL), 0);
	rig_run(&p.rig);
	assert_int_equal(t.pkt[1].u.aeth.syndrome, 2);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(rig_post(p.qp[0], &wr, NULL), 0);
	(void)rig_step(&p.rig, p.rig.now + RIG_DELAY);
	while (rig_step(&p.rig, p.rig.now + 9 * WF_US))
		continue;
	/* Two that have credits, one to find out, and its RNR NAK. */
	assert_int_equal(count(&t, wf_op_is_send), 1 + 2 + 1);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(rig_recv(p.qp[1], 10 + i, NULL), 0);
	rig_run(&p.rig);
	assert_int_equal(counter(&p, 1, WF_CTR_OUT_OF_BUFFER), 1);
	assert_int_equal(wf_cq_waiting(p.rig.host[1].cq), 9);
	pair_fini(&p);
}

static void test_drain(void **state)
{
	struct wf_qp_attr attr = { .qp_state = WF_QPS_SQD, .en_sqd_async_notify = true };
	struct wf_event event;
	struct wf_wc wc;
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 0);
	pair_post_write(&p, 1, 5000);
	pair_post_write(&p, 2, 5000);
	(void)rig_step(&p.rig, p.rig.now);
	assert_int_equal(wf_qp_modify(p.qp[0], &attr, WF_QP_STATE | WF_QP_EN_SQD_ASYNC_NOTIFY), 0);
	wf_qp_query(p.qp[0], &attr, NULL);
	assert_true(attr.sq_draining);
	assert_false(wf_hca_next_event(p.rig.host[0].hca, &event));
	rig_run(&p.rig);
	/* The one that had begun is finished, the other has not begun. */
	expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
	assert_false(rig_poll(&p.rig, 0, &wc));
	assert_true(wf_hca_next_event(p.rig.host[0].hca, &event));
	assert_int_equal(event.type, WF_EVENT_SQ_DRAINED);
	wf_qp_query(p.qp[0], &attr, NULL);
	assert_false(attr.sq_draining);
	attr.qp_state = WF_QPS_RTS;
	assert_int_equal(wf_qp_modify(p.qp[0], &attr, WF_QP_STATE), 0);
	rig_run(&p.rig);
	expect_wc(&p, 0, 2, WF_WC_RDMA_WRITE, 0);
	pair_fini(&p);
}

/* Queue pairs with work take turns, and one that has none costs nothing. */
static void test_turns(void **state)
{
	struct wf_qp *a[5], *b[5];
	struct trace t = { .n = 0 };
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 0);
	for (uint32_t i = 0; i < 5; i++) {
		a[i] = rig_make_qp(&p.rig, 0, WF_QPT_RC, NULL);
		b[i] = rig_make_qp(&p.rig, 1, WF_QPT_RC, NULL);
		rig_connect(a[i], 0, b[i], 1, &p.attr, 0);
	}
	p.rig.filter = record;
	p.rig.ctx = &t;
	for (uint32_t i = 0; i < 5; i += 2) {
		p.qp[0] = a[i];
		pair_post_write(&p, i, 4096);
	}
	rig_run(&p.rig);
	for (uint32_t i = 0; i + 3 < 12; i++)
		assert_int_equal(t.pkt[i].qpn, t.pkt[i + 3].qpn);
	assert_int_not_equal(t.pkt[0].qpn, t.pkt[1].qpn);
	pair_fini(&p);
}

/* A fence waits for the READs before it. */
static void test_fence(void **state)
{
	struct trace t = { .n = 0 };
	struct wf_send_wr wr = { .opcode = WF_WR_RDMA_READ };
	struct wf_sge sge;
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 0);
	p.rig.filter = record;
	p.rig.ctx = &t;
	sge = rig_sge(p.mem[0], 3000, p.mr[0]);
	wr.rdma.addr = (uintptr_t)p.mem[1];
	wr.rdma.rkey = wf_mr_rkey(p.mr[1]);
	assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	wr.opcode = WF_WR_RDMA_WRITE;
	wr.flags = WF_SEND_FENCE;
	assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	rig_run(&p.rig);
	for (uint32_t i = 1; i <= 3; i++)
		assert_true(wf_op_is_read_resp(t.pkt[i].opcode));
	assert_true(wf_op_is_write(t.pkt[4].opcode));
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_least_size), cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_one_loss),   cmocka_unit_test(test_lost_response),
		cmocka_unit_test(test_rnr),        cmocka_unit_test(test_acks),
		cmocka_unit_test(test_pacing),     cmocka_unit_test(test_pacing_follows_the_rate),
		cmocka_unit_test(test_window),     cmocka_unit_test(test_read_window),
		cmocka_unit_test(test_cnp),        cmocka_unit_test(test_credits),
		cmocka_unit_test(test_drain),      cmocka_unit_test(test_turns),
		cmocka_unit_test(test_fence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
