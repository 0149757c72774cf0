/* SPDX-License-Identifier: Apache-2.0 */
/* test_flow.c - a peer that takes nothing in: its sender waits, others go on, nothing is lost. */
#include "check.h"
#include "rig_nic.h"
#include "wire/opcode.h"

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

static int post_send(struct rig *r, struct wf_ah *ah, uint32_t slot, uint64_t number)
{
	struct wf_sge sge = { (uintptr_t)r->memory, 4096, wf_mr_lkey(r->mr) };
	struct wf_send_wr wr = {
		.wr_id = number,
		.sge = &sge,
		.num_sge = 1,
		.opcode = WF_WR_SEND,
		.flags = WF_SEND_SIGNALED,
		.ud = { .ah = ah, .qpn = slot << WF_LIVE_QPN_BITS | 2, .qkey = 1 },
	};
	const struct wf_send_wr *bad;

	return wf_qp_post_send(ah != NULL ? r->ud : r->rc, &wr, &bad);
}

/* Takes one packet in at peer i; false when there is none. */
static bool take(struct rig *r, unsigned i, struct wf_packet *pkt)
{
	const void *payload;

	if (!wf_ring_peek(&r->far[i].rx, pkt, &payload))
		return false;
	wf_ring_consume(&r->far[i].rx);
	(void)wf_ring_release(&r->far[i].rx);
	return true;
}

/* Payload is written into the ring where it is, not copied there. */
static void test_in_place(void **state)
{
	struct rig *r = *state;
	const void *payload;
	struct wf_packet pkt;

	memset(r->memory, 0x77, 4096);
	memset(r->nic->bounce, 0, sizeof(r->nic->bounce));
	assert_int_equal(post_send(r, NULL, 0, 1), 0);
	assert_int_equal(wf_nic_progress(r->nic), 1);
	assert_true(wf_ring_peek(&r->far[0].rx, &pkt, &payload));
	assert_int_equal(pkt.opcode, WF_OP_RC_SEND_ONLY);
	assert_int_equal(pkt.input, 4096);
	assert_memory_equal(payload, r->memory, 4096);
	assert_int_equal(r->nic->bounce[0], 0);
}

static void test_hold(void **state)
{
	struct rig *r = *state;
	struct wf_packet pkt;

	wf_qp_hold(r->rc, true);
	assert_int_equal(post_send(r, NULL, 0, 1), 0);
	assert_int_equal(wf_nic_progress(r->nic), 0);
	assert_false(take(r, 0, &pkt));
	wf_qp_hold(r->rc, false);
	assert_int_equal(wf_nic_progress(r->nic), 1);
	assert_true(take(r, 0, &pkt));
}

static void test_full(void **state)
{
	struct rig *r = *state;
	struct wf_ah_attr attr = { .dest = 1, .port_num = 1 };
	uint32_t sent = 0, got = 0, psn = 0;
	struct wf_packet pkt;
	struct wf_ah *ah;
	struct wf_wc wc;

	assert_int_equal(wf_ah_create(r->pd, &attr, &ah), 0);
	/* Datagrams to peer 0, more than its ring holds: the queue pair is held back. */
	while (sent < 400) {
		if (post_send(r, ah, 1, sent) == 0)
			sent++;
		else if (!r->nic->peers[0]->full)
			(void)wf_nic_progress(r->nic);
		else
			break;
		while (wf_cq_poll(r->cq, 1, &wc) == 1)
			assert_int_equal(wc.status, WF_WC_SUCCESS);
		(void)wf_nic_progress(r->nic);
	}
	assert_true(r->nic->peers[0]->full);
	assert_true(sent < 400);
	/*
	 * The reliable queue pair goes to the same peer and waits; what comes from peer 1 is
	 * served.
	 */
	pkt = (struct wf_packet){ .qpn = 5 };
	rig_send(r, 1, &pkt, NULL, 0);
	assert_true(wf_nic_progress(r->nic) >= 1);
	/* The peer takes all in: every datagram is there, in order. */
	for (uint32_t i = 0; i < 2000; i++) {
		while (take(r, 0, &pkt)) {
			assert_int_equal(pkt.psn, psn++);
			got++;
		}
		(void)wf_nic_progress(r->nic);
		while (wf_cq_poll(r->cq, 1, &wc) == 1)
			assert_int_equal(wc.status, WF_WC_SUCCESS);
	}
	assert_int_equal(got, sent);
	assert_false(r->nic->peers[0]->full);
	assert_int_equal(r->nic->peers[0]->n_held, 0);
	wf_ah_destroy(ah);
}

/* A peer that is gone while its ring is full: its senders are let go. */
static void test_gone_while_full(void **state)
{
	struct rig *r = *state;
	struct wf_ah_attr attr = { .dest = 1, .port_num = 1 };
	struct wf_ah *ah;
	struct wf_wc wc;

	assert_int_equal(wf_ah_create(r->pd, &attr, &ah), 0);
	for (uint32_t i = 0; i < 1000 && !r->nic->peers[0]->full; i++) {
		(void)post_send(r, ah, 1, i);
		(void)wf_nic_progress(r->nic);
		while (wf_cq_poll(r->cq, 1, &wc) == 1)
			;
	}
	assert_true(r->nic->peers[0]->full);
	wf_nic_peer_break(r->nic, r->nic->peers[0]);
	/* Now to the other one: it can be heard there. */
	while (post_send(r, ah, 2, 0) != 0) {
		(void)wf_nic_progress(r->nic);
		while (wf_cq_poll(r->cq, 1, &wc) == 1)
			;
	}
	(void)wf_nic_progress(r->nic);
	assert_true(wf_ring_ready(&r->far[1].rx));
	wf_ah_destroy(ah);
}

/*
 * Longer than all retries take, in steps of a timeout. Returns how many answers were found to be
 * late.
 */
static uint64_t wait_long(struct rig *r)
{
	for (int i = 0; i < 20; i++) {
		r->nic->start -= 100 * WF_MS;
		(void)wf_nic_progress(r->nic);
	}
	return wf_hca_counter(r->nic->hca, WF_CTR_LOCAL_ACK_TIMEOUT_ERR);
}

/* A peer that gets no CPU is not taken for one that is gone; one that does not answer is. */
static void test_starved(void **state)
{
	struct rig *r = *state;
	struct wf_packet pkt;
	struct wf_wc wc;

	assert_int_equal(post_send(r, NULL, 0, 7), 0);
	assert_int_equal(wf_nic_progress(r->nic), 1);
	assert_int_equal(wait_long(r), 0);
	assert_int_equal(wf_cq_poll(r->cq, 1, &wc), 0);
	assert_true(take(r, 0, &pkt));
	assert_false(take(r, 0, &pkt));
	for (int i = 0; i < 8; i++) {
		r->nic->start -= 100 * WF_MS;
		(void)wf_nic_progress(r->nic);
		while (take(r, 0, &pkt))
			;
	}
	assert_int_equal(wf_cq_poll(r->cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 7);
	assert_int_equal(wc.status, WF_WC_RETRY_EXC_ERR);
}

/* What a fault keeps waiting is late. */
static void test_paused(void **state)
{
	struct rig *r = *state;
	struct wf_wc wc;

	atomic_store(&r->nic->table->host[1].paused, 1);
	assert_int_equal(post_send(r, NULL, 0, 7), 0);
	assert_int_equal(wf_nic_progress(r->nic), 1);
	assert_true(wait_long(r) > 7);
	assert_int_equal(wf_cq_poll(r->cq, 1, &wc), 1);
	assert_int_equal(wc.status, WF_WC_RETRY_EXC_ERR);
}

/* This program got no CPU: the answer is there, behind much else. */
static void test_late_to_look(void **state)
{
	struct rig *r = *state;
	struct wf_packet other = { .qpn = 5 };
	struct wf_packet pkt;
	struct wf_wc wc;

	assert_int_equal(post_send(r, NULL, 0, 7), 0);
	assert_int_equal(wf_nic_progress(r->nic), 1);
	assert_true(take(r, 0, &pkt));
	for (int i = 0; i < 1000; i++)
		rig_send(r, 0, &other, NULL, 0);
	pkt = (struct wf_packet){
		.opcode = WF_OP_RC_ACK,
		.qpn = wf_qp_num(r->rc),
		.psn = pkt.psn,
		.pkey = 0xffff,
		.u.aeth = { .syndrome = 0x1f, .msn = 1 },
	};
	rig_send(r, 0, &pkt, NULL, 0);
	r->nic->start -= WF_S;
	for (int i = 0; i < 20; i++)
		(void)wf_nic_progress(r->nic);
	assert_int_equal(wf_hca_counter(r->nic->hca, WF_CTR_LOCAL_ACK_TIMEOUT_ERR), 0);
	assert_int_equal(wf_cq_poll(r->cq, 1, &wc), 1);
	assert_int_equal(wc.status, WF_WC_SUCCESS);
}

/* What was taken in is answered, and its room given back. */
static void test_answer(void **state)
{
	struct rig *r = *state;
	struct wf_packet pkt = {
		.opcode = WF_OP_RC_SEND_ONLY,
		.flags = WF_PACKET_ACK_REQ,
		.qpn = wf_qp_num(r->rc),
		.pkey = 0xffff,
	};

	rig_send(r, 0, &pkt, NULL, 0);
	wf_ring_refresh(&r->far[0].tx);
	assert_true(r->far[0].tx.tail != r->far[0].tx.pos);
	assert_int_equal(wf_nic_progress(r->nic), 2);
	wf_ring_refresh(&r->far[0].tx);
	assert_true(r->far[0].tx.tail == r->far[0].tx.pos);
	assert_true(take(r, 0, &pkt));
	assert_int_equal(pkt.opcode, WF_OP_RC_ACK);
}

static void test_numbers(void **state)
{
	struct rig *r = *state;

	assert_int_equal(wf_live_slot(wf_qp_num(r->rc)), 1);
	assert_int_equal(wf_live_slot(wf_qp_num(r->ud)), 1);
	assert_int_not_equal(wf_qp_num(r->rc), wf_qp_num(r->ud));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_in_place, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hold, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone_while_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_starved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_paused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late_to_look, setup, teardown),
		cmocka_unit_test_setup_teardown(test_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
