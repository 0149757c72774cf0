/* SPDX-License-Identifier: Apache-2.0 */
/* test_io.c - what has come counts before what the program does next. */
#include "check.h"
#include "rig_nic.h"
#include "wire/opcode.h"

#define MANY 200 /* packets: more than are taken at once */

static int setup(void **state)
{
	*state = rig_create();
	return 0;
}

static int teardown(void **state)
{
	rig_destroy(*state);
	return 0;
}

/* A packet of peer 0 for the reliable queue pair. */
static struct wf_packet packet(const struct rig *r, uint8_t opcode, uint32_t psn)
{
	return (struct wf_packet){
		.type = WF_PACKET_RDMA,
		.flags = WF_PACKET_ACK_REQ,
		.opcode = opcode,
		.pkey = 0xffff,
		.qpn = wf_qp_num(r->rc),
		.psn = psn,
	};
}

/*
 * A program hears by TCP that its peer is done, and gives its queue pair up: what the peer has
 * acknowledged is done, however much waits before the acknowledgement.
 */
static void test_acknowledged(void **state)
{
	struct rig *r = *state;
	struct wf_qp_attr error = { .qp_state = WF_QPS_ERR };
	struct wf_sge sge = { (uintptr_t)r->memory, 8, wf_mr_lkey(r->mr) };
	struct wf_send_wr wr = {
		.opcode = WF_WR_RDMA_WRITE, .sge = &sge, .num_sge = 1, .flags = WF_SEND_SIGNALED
	};
	const struct wf_send_wr *bad;
	struct wf_packet old = packet(r, WF_OP_RC_ACK, WF_PSN_MASK), ack;
	struct wf_wc wc[2];

	assert_int_equal(wf_qp_post_send(r->rc, &wr, &bad), 0);
	(void)wf_nic_progress(r->nic);
	assert_true(wf_ring_ready(&r->far[0].rx));
	for (int i = 0; i < MANY; i++)
		rig_send(r, 0, &old, NULL, 0);
	ack = packet(r, WF_OP_RC_ACK, 0);
	rig_send(r, 0, &ack, NULL, 0);
	wf_nic_catch_up(r->nic, r->rc);
	assert_int_equal(wf_qp_modify(r->rc, &error, WF_QP_STATE), 0);
	assert_int_equal(wf_cq_poll(r->cq, 2, wc), 1);
	assert_int_equal(wc[0].status, WF_WC_SUCCESS);
}

/* And what the peer wants acknowledged is, before its queue pair is gone. */
static void test_answered(void **state)
{
	struct rig *r = *state;
	struct wf_packet write = packet(r, WF_OP_RC_WRITE_ONLY, 0), pkt;
	const void *payload;

	write.length = 8;
	write.u.reth.va = (uintptr_t)r->memory;
	write.u.reth.rkey = wf_mr_rkey(r->mr);
	write.u.reth.dma_len = 8;
	for (; write.psn < MANY; write.psn++)
		rig_send(r, 0, &write, "weft8888", 8);
	wf_nic_catch_up(r->nic, r->rc);
	pkt.psn = 0;
	while (wf_ring_peek(&r->far[0].rx, &pkt, &payload)) {
		assert_int_equal(pkt.opcode, WF_OP_RC_ACK);
		wf_ring_consume(&r->far[0].rx);
	}
	assert_int_equal(pkt.psn, MANY - 1);
}

/* Its sender has the room back, also where nothing is answered: else it takes it for under way. */
static void test_room_is_given_back(void **state)
{
	struct rig *r = *state;
	struct wf_packet stray = packet(r, WF_OP_RC_ACK, 0);

	stray.qpn++;
	rig_send(r, 0, &stray, NULL, 0);
	wf_nic_catch_up(r->nic, r->rc);
	assert_int_equal(r->nic->dropped, 1);
	wf_ring_refresh(&r->far[0].tx);
	assert_int_equal(r->far[0].tx.tail, r->far[0].tx.pos);
}

/* A peer that is connected sends at once: what comes before the queue pair is ready waits. */
static void test_too_early(void **state)
{
	static const struct {
		enum wf_qp_state state;
		bool taken;
	} tries[] = { { WF_QPS_RESET, false }, { WF_QPS_INIT, false }, { WF_QPS_RTR, true } };
	struct rig *r = *state;
	struct wf_qp_attr a = { .qp_state = WF_QPS_RESET,
		                .port_num = 1,
		                .qp_access_flags = WF_ACCESS_REMOTE,
		                .path_mtu = WF_MTU_4096,
		                .dest_qp_num = 1 << WF_LIVE_QPN_BITS | 2,
		                .ah_attr = { .dest = 1, .port_num = 1 } };
	uint32_t mask[] = { [WF_QPS_RESET] = WF_QP_STATE,
		            [WF_QPS_INIT] = WF_QP_STATE | WF_QP_PKEY_INDEX | WF_QP_PORT |
		                            WF_QP_ACCESS_FLAGS,
		            [WF_QPS_RTR] = WF_QP_STATE | WF_QP_AV | WF_QP_PATH_MTU |
		                           WF_QP_DEST_QPN | WF_QP_RQ_PSN |
		                           WF_QP_MAX_DEST_RD_ATOMIC | WF_QP_MIN_RNR_TIMER };
	struct wf_packet write = packet(r, WF_OP_RC_WRITE_ONLY, 0);

	write.length = 8;
	write.u.reth.va = (uintptr_t)r->memory;
	write.u.reth.rkey = wf_mr_rkey(r->mr);
	write.u.reth.dma_len = 8;
	rig_send(r, 0, &write, "weft8888", 8);
	for (size_t i = 0; i < WF_ARRAY_SIZE(tries); i++) {
		a.qp_state = tries[i].state;
		assert_int_equal(wf_qp_modify(r->rc, &a, mask[a.qp_state]), 0);
		wf_nic_catch_up(r->nic, r->rc);
		assert_int_equal(memcmp(r->memory, "weft8888", 8) == 0, tries[i].taken);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_acknowledged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_room_is_given_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_early, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
