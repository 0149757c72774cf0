/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of UC and UD: what is lost is lost, and what the receiver then sees. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/rig_qp.h"

struct two {
	struct rig rig;
	struct wf_qp *qp[2];
	struct wf_mr *mr[2];
	uint8_t *mem[2];
	struct wf_ah *ah;
	uint32_t lose; /* the packet with this number, from 1 */
};

static bool lose_one(struct rig *rig, struct wf_packet *pkt)
{
	struct two *t = rig->ctx;

	(void)pkt;
	return t->lose == 0 || --t->lose != 0;
}

static bool show_grh(void *ctx, const struct wf_packet *pkt, uint8_t grh[WF_GRH_LEN])
{
	(void)ctx;
	memset(grh, (int)(0x60 + pkt->src), WF_GRH_LEN);
	return true;
}

static void two_init(struct two *t, enum wf_qp_type type)
{
	struct wf_ah_attr ah = { .dest = 1, .sl = 3 };
	struct wf_hca_attr hca;
	struct wf_qp_attr attr;

	memset(t, 0, sizeof(*t));
	wf_hca_attr_defaults(&hca);
	hca.grh = show_grh;
	rig_init(&t->rig, 2, &hca, 1);
	rig_attr_defaults(&attr);
	for (uint32_t i = 0; i < 2; i++) {
		t->mem[i] = calloc(1, 20000);
		assert_non_null(t->mem[i]);
		t->mr[i] = rig_reg(&t->rig.host[i], t->mem[i], 20000,
		                   WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE);
		t->qp[i] = rig_make_qp(&t->rig, i, type, NULL);
	}
	memset(t->mem[0], 0xab, 20000);
	rig_connect(t->qp[0], 0, t->qp[1], 1, &attr, 0xffffff);
	rig_must(wf_ah_create(t->rig.host[0].pd, &ah, &t->ah) == 0);
	t->rig.ctx = t;
	t->rig.filter = lose_one;
}

static void two_fini(struct two *t)
{
	rig_fini(&t->rig);
	free(t->mem[0]);
	free(t->mem[1]);
}

static void post(struct two *t, uint64_t wr_id, enum wf_wr_opcode opcode, uint32_t size)
{
	struct wf_sge sge = rig_sge(t->mem[0], size, t->mr[0]);
	struct wf_send_wr wr = { .wr_id = wr_id,
		                 .opcode = opcode,
		                 .flags = WF_SEND_SIGNALED,
		                 .imm = (uint32_t)wr_id + 100,
		                 .rdma = { .addr = (uintptr_t)t->mem[1],
		                           .rkey = wf_mr_rkey(t->mr[1]) } };

	if (wf_qp_type(t->qp[0]) == WF_QPT_UD) {
		wr.ud.ah = t->ah;
		wr.ud.qpn = wf_qp_num(t->qp[1]);
		wr.ud.qkey = RIG_QKEY;
	}
	assert_int_equal(rig_post(t->qp[0], &wr, &sge), 0);
}

static void post_recv(struct two *t, uint64_t wr_id, uint32_t size)
{
	struct wf_sge sge = rig_sge(t->mem[1] + 10000, size, t->mr[1]);

	assert_int_equal(rig_recv(t->qp[1], wr_id, &sge), 0);
}

static struct wf_wc next_wc(struct two *t, uint32_t host)
{
	struct wf_wc wc;

	assert_true(rig_poll(&t->rig, host, &wc));
	return wc;
}

/* IBTA 9.8.2: a message with a hole is dropped; its receive serves the next message. */
static void test_uc_loss(void **state)
{
	static const uint32_t which[] = { 1, 2, 3, 5 };
	struct wf_wc wc;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(which); i++) {
		struct two t;

		two_init(&t, WF_QPT_UC);
		t.lose = which[i];
		post_recv(&t, 1, 6000);
		post(&t, 10, WF_WR_SEND, 5000);
		post(&t, 11, WF_WR_SEND_WITH_IMM, 3000);
		rig_run(&t.rig);
		/* The sender knows of nothing. */
		assert_int_equal(next_wc(&t, 0).wr_id, 10);
		assert_int_equal(next_wc(&t, 0).wr_id, 11);
		wc = next_wc(&t, 1);
		assert_int_equal(wc.status, WF_WC_SUCCESS);
		assert_int_equal(wc.wr_id, 1);
		assert_int_equal(wc.byte_len, 3000);
		assert_int_equal(wc.imm, 111);
		assert_false(rig_poll(&t.rig, 1, &wc));
		two_fini(&t);
	}
}

static void test_uc_write(void **state)
{
	struct two t;
	struct wf_wc wc;

	(void)state;
	two_init(&t, WF_QPT_UC);
	post_recv(&t, 1, 0);
	post(&t, 10, WF_WR_RDMA_WRITE_WITH_IMM, 5000);
	rig_run(&t.rig);
	assert_int_equal(t.mem[1][4999], 0xab);
	wc = next_wc(&t, 1);
	assert_int_equal(wc.opcode, WF_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(wc.byte_len, 5000);
	/* Without a receive, or without the right, it is dropped; the connection lives. */
	post(&t, 11, WF_WR_RDMA_WRITE_WITH_IMM, 100);
	rig_run(&t.rig);
	assert_int_equal(wf_hca_counter(t.rig.host[1].hca, WF_CTR_OUT_OF_BUFFER), 1);
	assert_int_equal(wf_mr_dereg(t.mr[1]), 0);
	t.mr[1] = rig_reg(&t.rig.host[1], t.mem[1], 20000, WF_ACCESS_LOCAL_WRITE);
	post(&t, 12, WF_WR_RDMA_WRITE, 100);
	rig_run(&t.rig);
	assert_int_equal(wf_qp_state(t.qp[1]), WF_QPS_RTS);
	assert_false(rig_poll(&t.rig, 1, &wc));
	two_fini(&t);
}

/* A send that fails locally stops the send queue alone, which can be started again. */
static void test_sqe(void **state)
{
	static const enum wf_qp_type types[] = { WF_QPT_UC, WF_QPT_UD };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(types); i++) {
		struct wf_qp_attr attr = { .qp_state = WF_QPS_RTS, .cur_qp_state = WF_QPS_SQE };
		struct two t;

		two_init(&t, types[i]);
		post_recv(&t, 1, 200);
		post_recv(&t, 2, 200);
		assert_int_equal(wf_mr_dereg(t.mr[0]), 0);
		post(&t, 10, WF_WR_SEND, 100);
		post(&t, 11, WF_WR_SEND, 100);
		rig_run(&t.rig);
		assert_int_equal(next_wc(&t, 0).status, WF_WC_LOC_PROT_ERR);
		assert_int_equal(next_wc(&t, 0).status, WF_WC_WR_FLUSH_ERR);
		assert_int_equal(wf_qp_state(t.qp[0]), WF_QPS_SQE);
		post(&t, 12, WF_WR_SEND, 100);
		assert_int_equal(next_wc(&t, 0).status, WF_WC_WR_FLUSH_ERR);
		t.mr[0] = rig_reg(&t.rig.host[0], t.mem[0], 20000, 0);
		assert_int_equal(wf_qp_modify(t.qp[0], &attr, WF_QP_STATE | WF_QP_CUR_STATE), 0);
		post(&t, 13, WF_WR_SEND, 100);
		rig_run(&t.rig);
		assert_int_equal(next_wc(&t, 0).status, WF_WC_SUCCESS);
		assert_int_equal(next_wc(&t, 1).status, WF_WC_SUCCESS);
		two_fini(&t);
	}
}

static void test_ud(void **state)
{
	struct two t;
	struct wf_wc wc;

	(void)state;
	two_init(&t, WF_QPT_UD);
	post_recv(&t, 1, 40 + 4096);
	post(&t, 10, WF_WR_SEND_WITH_IMM, 4096);
	rig_run(&t.rig);
	wc = next_wc(&t, 1);
	assert_int_equal(wc.status, WF_WC_SUCCESS);
	assert_int_equal(wc.byte_len, 4096 + 40);
	assert_int_equal(wc.flags, WF_WC_GRH | WF_WC_WITH_IMM);
	assert_int_equal(wc.imm, 110);
	assert_int_equal(wc.src_qp, wf_qp_num(t.qp[0]));
	assert_int_equal(wc.src, 0);
	assert_int_equal(wc.sl, 3);
	assert_int_equal(t.mem[1][10000], 0x60);
	assert_int_equal(t.mem[1][10039], 0x60);
	assert_int_equal(t.mem[1][10040], 0xab);
	assert_int_equal(next_wc(&t, 0).wr_id, 10);

	/* No receive: dropped. Larger than the MTU: a local length error. */
	post(&t, 11, WF_WR_SEND, 8);
	rig_run(&t.rig);
	assert_int_equal(wf_hca_counter(t.rig.host[1].hca, WF_CTR_OUT_OF_BUFFER), 1);
	assert_int_equal(next_wc(&t, 0).status, WF_WC_SUCCESS);
	post(&t, 12, WF_WR_SEND, 4097);
	rig_run(&t.rig);
	assert_int_equal(next_wc(&t, 0).status, WF_WC_LOC_LEN_ERR);
	two_fini(&t);
}

static void test_ud_receive_too_small(void **state)
{
	struct two t;

	(void)state;
	two_init(&t, WF_QPT_UD);
	post_recv(&t, 1, 40 + 7);
	post_recv(&t, 2, 40 + 7);
	post(&t, 10, WF_WR_SEND, 8);
	rig_run(&t.rig);
	assert_int_equal(next_wc(&t, 1).status, WF_WC_LOC_LEN_ERR);
	assert_int_equal(next_wc(&t, 1).status, WF_WC_WR_FLUSH_ERR);
	assert_int_equal(wf_qp_state(t.qp[1]), WF_QPS_ERR);
	two_fini(&t);
}

static void test_ud_qkey(void **state)
{
	struct wf_qp_attr attr = { .qkey = 0x5555 };
	struct two t;
	struct wf_wc wc;

	(void)state;
	two_init(&t, WF_QPT_UD);
	post_recv(&t, 1, 100);
	assert_int_equal(wf_qp_modify(t.qp[1], &attr, WF_QP_QKEY), 0);
	post(&t, 10, WF_WR_SEND, 8);
	rig_run(&t.rig);
	assert_false(rig_poll(&t.rig, 1, &wc));
	assert_int_equal(wf_hca_counter(t.rig.host[1].hca, WF_CTR_QKEY_VIOLATIONS), 1);
	two_fini(&t);
}

/* Each queue pair in the group gets a copy, and no other. */
static void test_multicast(void **state)
{
	struct wf_packet pkt = { .src = 0,
		                 .dst = 0x80000007,
		                 .opcode = WF_OP_UD_SEND_ONLY,
		                 .pkey = 0xffff,
		                 .length = 4,
		                 .qpn = WF_QPN_MULTICAST,
		                 .u.deth = { .qkey = RIG_QKEY, .src_qpn = 9 } };
	struct wf_hca_rx_extra extra = { .payload = "abcd" };
	struct wf_qp *other;
	struct two t;
	struct wf_wc wc;

	(void)state;
	two_init(&t, WF_QPT_UD);
	post_recv(&t, 1, 100);
	post_recv(&t, 2, 100);
	other = rig_make_qp(&t.rig, 1, WF_QPT_RC, NULL);
	assert_int_equal(wf_qp_attach_mcast(other, 0x80000007), -EINVAL);
	wf_hca_rx(t.rig.host[1].hca, &pkt, &extra, t.rig.now);
	assert_false(rig_poll(&t.rig, 1, &wc));
	assert_int_equal(wf_qp_attach_mcast(t.qp[1], 0x80000007), 0);
	assert_int_equal(wf_qp_attach_mcast(t.qp[1], 0x80000007), 0);
	assert_int_equal(wf_qp_attach_mcast(t.qp[1], 0x80000008), 0);
	wf_hca_rx(t.rig.host[1].hca, &pkt, &extra, t.rig.now);
	wc = next_wc(&t, 1);
	assert_int_equal(wc.byte_len, 44);
	assert_int_equal(wc.src_qp, 9);
	assert_memory_equal(t.mem[1] + 10040, "abcd", 4);
	assert_false(rig_poll(&t.rig, 1, &wc));
	assert_int_equal(wf_qp_detach_mcast(t.qp[1], 0x80000007), 0);
	assert_int_equal(wf_qp_detach_mcast(t.qp[1], 0x80000007), -EINVAL);
	wf_hca_rx(t.rig.host[1].hca, &pkt, &extra, t.rig.now);
	assert_false(rig_poll(&t.rig, 1, &wc));
	wf_qp_destroy(t.qp[1]);
	pkt.dst++;
	wf_hca_rx(t.rig.host[1].hca, &pkt, &extra, t.rig.now);
	two_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uc_loss),
		cmocka_unit_test(test_uc_write),
		cmocka_unit_test(test_sqe),
		cmocka_unit_test(test_ud),
		cmocka_unit_test(test_ud_receive_too_small),
		cmocka_unit_test(test_ud_qkey),
		cmocka_unit_test(test_multicast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
