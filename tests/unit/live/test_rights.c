/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rights.c - what a program may do to another: only what its own queue pairs and keys allow,
 * whatever it writes into the ring.
 */
#include <errno.h>
#include <pthread.h>

#include "base/rng.h"
#include "check.h"
#include "live/gsi.h"
#include "rig_nic.h"
#include "wire/opcode.h"

#define QPN(slot, n) ((uint32_t)(slot) << WF_LIVE_QPN_BITS | (n))

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

/* A WRITE of 8 bytes with the expected PSN to the reliable queue pair. */
static struct wf_packet write8(const struct rig *r, const struct wf_mr *mr, const char *at)
{
	return (struct wf_packet){
		.dst = 0,
		.type = WF_PACKET_RDMA,
		.flags = WF_PACKET_ACK_REQ,
		.opcode = WF_OP_RC_WRITE_ONLY,
		.pkey = 0xffff,
		.length = 8,
		.qpn = wf_qp_num(r->rc),
		.u.reth = { .va = (uintptr_t)at, .rkey = wf_mr_rkey(mr), .dma_len = 8 },
	};
}

static void test_allowed(void **state)
{
	struct rig *r = *state;
	struct wf_packet pkt = write8(r, r->mr, r->memory);

	rig_send(r, 0, &pkt, "weft8888", 8);
	assert_int_equal(wf_nic_progress(r->nic), 2); /* it, and its acknowledgement */
	assert_memory_equal(r->memory, "weft8888", 8);
	assert_true(wf_ring_ready(&r->far[0].rx));
}

static void test_other_program(void **state)
{
	struct rig *r = *state;
	struct wf_packet pkt = write8(r, r->mr, r->memory);

	/* On the same host as the peer, but another program. */
	rig_send(r, 1, &pkt, "weft8888", 8);
	(void)wf_nic_progress(r->nic);
	assert_int_equal(r->memory[0], 0);
	assert_int_equal(r->nic->dropped, 1);
	/* Nor does it help to claim another source. */
	pkt.src = 0;
	rig_send(r, 1, &pkt, "weft8888", 8);
	(void)wf_nic_progress(r->nic);
	assert_int_equal(r->memory[0], 0);
	assert_int_equal(wf_qp_state(r->rc), WF_QPS_RTS);
}

static void test_no_rights(void **state)
{
	struct rig *r = *state;
	struct wf_packet pkt = write8(r, r->hidden, r->secret);

	rig_send(r, 0, &pkt, "weft8888", 8);
	(void)wf_nic_progress(r->nic);
	assert_int_equal(r->secret[0], RIG_KEY_BYTE);
	assert_int_equal(wf_hca_counter(r->nic->hca, WF_CTR_RESP_REMOTE_ACCESS_ERRORS), 1);
	assert_int_equal(wf_qp_state(r->rc), WF_QPS_ERR);
}

static void test_out_of_bounds(void **state)
{
	struct rig *r = *state;
	struct wf_packet pkt = write8(r, r->mr, r->memory + RIG_BYTES - 7);

	rig_send(r, 0, &pkt, "weft8888", 8);
	(void)wf_nic_progress(r->nic);
	assert_int_equal(r->secret[0], RIG_KEY_BYTE);
	assert_int_equal(wf_qp_state(r->rc), WF_QPS_ERR);
}

/* The header promises more payload than the entry has. */
static void test_short_payload(void **state)
{
	struct rig *r = *state;
	struct wf_packet pkt = write8(r, r->mr, r->memory);

	pkt.length = 4096;
	pkt.u.reth.dma_len = 4096;
	rig_send(r, 0, &pkt, "weft8888", 8);
	(void)wf_nic_progress(r->nic);
	assert_int_equal(r->memory[0], 0);
	assert_int_equal(r->nic->dropped, 1);
}

static void test_forged_datagram(void **state)
{
	struct rig *r = *state;
	struct wf_sge sge = { (uintptr_t)r->memory, 256, wf_mr_lkey(r->mr) };
	struct wf_recv_wr recv = { .sge = &sge, .num_sge = 1 };
	const struct wf_recv_wr *bad;
	struct wf_packet pkt = {
		.type = WF_PACKET_RDMA,
		.opcode = WF_OP_UD_SEND_ONLY,
		.pkey = 0xffff,
		.length = 8,
		.qpn = wf_qp_num(r->ud),
		.u.deth = { .qkey = 0x1234, .src_qpn = QPN(1, 7) },
	};
	struct wf_wc wc;

	assert_int_equal(wf_qp_post_recv(r->ud, &recv, &bad), 0);
	/* Peer 1 has slot 2: a number of slot 1 is not its own. */
	rig_send(r, 1, &pkt, "weft8888", 8);
	(void)wf_nic_progress(r->nic);
	assert_int_equal(wf_cq_poll(r->cq, 1, &wc), 0);
	pkt.u.deth.src_qpn = QPN(2, 7);
	rig_send(r, 1, &pkt, "weft8888", 8);
	(void)wf_nic_progress(r->nic);
	assert_int_equal(wf_cq_poll(r->cq, 1, &wc), 1);
	assert_int_equal(wc.src, 1);
	assert_int_equal(wc.src_qp, QPN(2, 7));
}

#define SERVICE UINT64_C(0x1060123)

/* What the listener was asked for last, and by whom. */
static uint32_t requests, requester;

static int on_cm(void *arg, const struct wf_cm_event *event)
{
	(void)arg;
	if (event->type != WF_CM_EV_REQ)
		return 0;
	requests++;
	requester = wf_cm_info(event->conn)->remote_id >> WF_CM_ID_SHIFT;
	return -ECONNREFUSED;
}

/* The sender writes another program's name over its own, after it was let in. */
static void rename_sender(void *payload)
{
	wf_be32_put((uint8_t *)payload + WF_CM_DATA, UINT32_C(1) << WF_CM_ID_SHIFT | 5);
}

static void send_req(struct rig *r, unsigned peer, uint32_t id)
{
	struct wf_cm_req req = { .local_id = id, .service = SERVICE, .qpn = 77 };
	struct wf_packet pkt = {
		.type = WF_PACKET_RDMA,
		.opcode = WF_OP_UD_SEND_ONLY,
		.pkey = 0xffff,
		.length = WF_MAD_LEN,
		.qpn = WF_QPN_GSI,
		.u.deth = { .qkey = WF_QKEY_GMP, .src_qpn = WF_QPN_GSI },
	};
	uint8_t mad[WF_MAD_LEN] = { 0 };

	wf_cm_header(mad, WF_CM_REQ, id);
	wf_cm_req_encode(&req, mad);
	rig_send(r, peer, &pkt, mad, sizeof(mad));
	(void)wf_nic_progress(r->nic);
}

/* A message of communication management is in its sender's name, whenever it is looked at. */
static void test_forged_message(void **state)
{
	struct rig *r = *state;
	struct wf_cm *cm;

	r->nic->cfg.cm_event = on_cm;
	requests = 0;
	assert_int_equal(wf_nic_cm(r->nic, &cm), 0);
	assert_int_equal(wf_cm_listen(cm, SERVICE, r), 0);
	send_req(r, 1, UINT32_C(2) << WF_CM_ID_SHIFT | 4);
	assert_int_equal(requests, 1);
	assert_int_equal(requester, 2);
	/* In another's name from the beginning. */
	send_req(r, 1, UINT32_C(1) << WF_CM_ID_SHIFT | 4);
	assert_int_equal(requests, 1);
	assert_int_equal(r->nic->dropped, 1);
	/* And from after it was looked at. */
	rig_before_store = rename_sender;
	send_req(r, 1, UINT32_C(2) << WF_CM_ID_SHIFT | 6);
	rig_before_store = NULL;
	assert_int_equal(requests, 1);
	assert_int_equal(r->nic->dropped, 2);
}

/* Changes the length in a header for ever: one that is right, and one that is much too long. */
struct flipper {
	struct wf_packet *header;
	_Atomic bool stop;
};

static void *flip(void *arg)
{
	struct flipper *f = arg;
	volatile uint16_t *input = &f->header->input;

	while (!atomic_load_explicit(&f->stop, memory_order_relaxed)) {
		*input = 8;
		*input = UINT16_MAX;
	}
	return NULL;
}

/* A header that changes while it is looked at: what was checked is what is used. */
static void test_flipped_header(void **state)
{
	struct rig *r = *state;
	struct wf_ring rx = r->nic->peers[0]->pipe.rx;
	struct flipper f = { .header = (struct wf_packet *)(void *)wf_ring_at(&rx, rx.pos) };
	struct wf_packet pkt = { .psn = 1 };
	pthread_t thread;

	rig_send(r, 0, &pkt, "weft8888", 8);
	assert_int_equal(pthread_create(&thread, NULL, flip, &f), 0);
	for (uint32_t i = 0; i < 500000; i++) {
		const void *payload;

		if (wf_ring_peek(&rx, &pkt, &payload)) {
			assert_true(pkt.input <= WF_RING_PAYLOAD);
			assert_int_equal(rx.lines, wf_ring_entry_bytes(pkt.input));
		} else {
			assert_true(rx.broken);
			rx.broken = false;
		}
	}
	atomic_store(&f.stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	f.header->input = 8;
}

/*
 * Anything at all in the ring and in what the consumer says: nothing is touched that must not be.
 */
static void test_noise(void **state)
{
	struct rig *r = *state;

	for (uint32_t round = 0; round < 20000; round++) {
		uint64_t words[8 + 16];
		struct wf_packet pkt;
		uint32_t bytes = (uint32_t)(wf_rand64(7, round) % 129);

		for (unsigned i = 0; i < WF_ARRAY_SIZE(words); i++)
			words[i] = wf_rand64(round, i);
		memcpy(&pkt, words, sizeof(pkt));
		if (round % 2 == 0) { /* plausible ones get further */
			pkt.qpn = round % 4 == 0 ? wf_qp_num(r->rc) : wf_qp_num(r->ud);
			pkt.dst = 0;
			pkt.pkey = 0xffff;
			pkt.length = (uint16_t)bytes;
			pkt.psn &= 15;
		}
		if (wf_ring_reserve(&r->far[round % 2].tx, bytes) != NULL)
			rig_send(r, round % 2, &pkt, words + 8, bytes);
		(void)wf_nic_progress(r->nic);
		/* Take in what it answers, so that it can go on. */
		for (unsigned i = 0; i < RIG_PEERS; i++) {
			const void *payload;

			while (wf_ring_peek(&r->far[i].rx, &pkt, &payload))
				wf_ring_consume(&r->far[i].rx);
			(void)wf_ring_release(&r->far[i].rx);
		}
	}
	for (unsigned i = 0; i < RIG_BYTES; i++)
		assert_int_equal(r->secret[i], RIG_KEY_BYTE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_allowed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_program, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_rights, setup, teardown),
		cmocka_unit_test_setup_teardown(test_out_of_bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_short_payload, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forged_datagram, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forged_message, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flipped_header, setup, teardown),
		cmocka_unit_test_setup_teardown(test_noise, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
