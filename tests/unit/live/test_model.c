/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_model.c - packets of programs in the modelled fabric: who may send what, order, room, and
 * the end.
 */
#include "check.h"

#include "live/model_priv.h"
#include "rig_model.h"

/* Serves until nothing is under way. */
static void settle(struct rig_model *r)
{
	struct wf_live_model m;

	for (unsigned i = 0; i < 100000; i++) {
		wf_model_serve(&r->d);
		wf_model_look(&r->d, &m);
		if (m.under_way == 0 && wf_model_rest(&r->d) != 0)
			return;
	}
	fail_msg("it does not come to rest");
}

/* Takes everything out of a program's ring. Returns how many; *last_p is the last one. */
static unsigned take_all(struct rig_model *r, uint32_t host, struct wf_packet *last_p)
{
	const void *payload;
	unsigned n = 0;

	while (wf_ring_peek(&r->far[host].rx, last_p, &payload)) {
		for (unsigned i = 0; i < last_p->input; i++)
			assert_int_equal(((const uint8_t *)payload)[i], 0x5a);
		wf_ring_consume(&r->far[host].rx);
		n++;
	}
	(void)wf_ring_release(&r->far[host].rx);
	return n;
}

static void test_packets_pass(void **state)
{
	(void)state;
	/* InfiniBand, RoCE v2, and RoCE v1, whose packets nobody can mark. */
	for (int kind = 0; kind < 3; kind++) {
		struct rig_model *r = rig_model_create(WF_LIVE_NONE, kind == 0);
		struct wf_packet pkt = rig_model_packet(1, 1000), got;
		uint8_t ect = kind == 2 ? 0 : WF_PACKET_ECT;

		if (kind == 2)
			pkt.entropy = 0;
		pkt.flags = WF_PACKET_ECT | WF_PACKET_ACK_REQ | WF_PACKET_CE | WF_PACKET_BAD;
		pkt.src = 77;
		assert_true(rig_model_send(r, 0, &pkt, 1000));
		settle(r);
		assert_int_equal(take_all(r, 1, &got), 1);
		/* Who sent it is what the daemon knows; marks are the fabric's. */
		assert_int_equal(got.src, wf_live_program(0, RIG_SLOT));
		assert_int_equal(got.flags, ect | WF_PACKET_ACK_REQ);
		assert_int_equal(got.dst, 1);
		assert_int_equal(got.length, 1000);
		assert_int_equal(take_all(r, 2, &got), 0);
		rig_model_destroy(r);
	}
}

/* Each way to send what may not be sent; and what may. */
static void test_only_what_is_right(void **state)
{
	static const struct {
		uint8_t opcode;
		uint32_t dst, qpn, src_qpn, named;
		uint16_t length, bytes;
		uint8_t cls;
		bool ok;
	} cases[] = {
		{ WF_OP_RC_SEND_ONLY, 1, 1 << 14 | 9, 0, 0, 64, 64, 0, true },
		{ WF_OP_RC_SEND_ONLY, 1, 1 << 14 | 9, 0, 0, 64, 128, 0, false },
		{ WF_OP_RC_SEND_ONLY, 1, 1 << 14 | 9, 0, 0, 64, 64, 15, true },
		{ WF_OP_RC_SEND_ONLY, 0, 1 << 14 | 9, 0, 0, 64, 64, 0, false }, /* to itself */
		{ WF_OP_RC_SEND_ONLY, 3, 1 << 14 | 9, 0, 0, 64, 64, 0, false },
		{ WF_OP_RC_SEND_ONLY, WF_LIVE_MODEL, 1 << 14 | 9, 0, 0, 64, 64, 0, false },
		{ WF_OP_RC_SEND_ONLY, 1, 9, 0, 0, 64, 64, 0, false }, /* no program's */
		{ WF_OP_RC_SEND_ONLY, 1, UINT32_MAX, 0, 0, 64, 64, 0, false },
		{ WF_OP_RC_ACK, 1, 1 << 14 | 9, 0, 0, 0, 0, 0, true },
		{ WF_OP_RC_ACK, 1, 1 << 14 | 9, 0, 0, 0, 64, 0, false },
		{ 0xff, 1, 1 << 14 | 9, 0, 0, 64, 64, 0, false },
		{ WF_OP_UD_SEND_ONLY, 1, 1 << 14 | 9, 1 << 14 | 7, 0, 64, 64, 0, true },
		{ WF_OP_UD_SEND_ONLY, 1, 1 << 14 | 9, 2 << 14 | 7, 0, 64, 64, 0, false },
		{ WF_OP_UD_SEND_ONLY, 1, 1 << 14 | 9, 1, 0, 64, 64, 0, false },
		/* Queue pair 1 and groups: whose they are is said. */
		{ WF_OP_UD_SEND_ONLY, 1, 1, 1, 1 << 12 | 1, 256, 256, 0, true },
		{ WF_OP_UD_SEND_ONLY, 1, 1, 1, 1 << 12 | 0, 256, 256, 0, false },
		{ WF_OP_UD_SEND_ONLY, 1, 1, 1, 0 << 12 | 1, 256, 256, 0, false },
		{ WF_OP_UD_SEND_ONLY, WF_LIVE_GROUP, 0xffffff, 1 << 14 | 7, 1 << 12 | 2, 64, 64, 0,
		  true },
		{ WF_OP_UD_SEND_ONLY, WF_LIVE_GROUP, 0xffffff, 1, 1 << 12 | 2, 64, 64, 0, false },
		{ WF_OP_UD_SEND_ONLY, WF_LIVE_GROUP, 0xffffff, 1 << 14 | 7, UINT32_MAX, 64, 64, 0,
		  false },
	};

	struct rig_model *r = rig_model_create(WF_LIVE_NONE, false);

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		struct wf_packet pkt = {
			.opcode = cases[i].opcode,
			.dst = cases[i].dst,
			.qpn = cases[i].qpn,
			.cls = cases[i].cls & WF_PACKET_CLASS,
			.mark = 5, /* nobody may have one of its own */
			.length = cases[i].length,
			.payload = cases[i].named,
			.u.deth.src_qpn = cases[i].src_qpn,
		};
		struct wf_live_model before, after;
		struct wf_packet got;

		wf_model_look(&r->d, &before);
		assert_true(rig_model_send(r, 0, &pkt, cases[i].bytes));
		settle(r);
		wf_model_look(&r->d, &after);
		if ((after.refused == before.refused) != cases[i].ok)
			fail_msg("case %zu", i);
		assert_int_equal(after.delivered - before.delivered, cases[i].ok);
		for (uint32_t host = 1; host < 3; host++) {
			if (take_all(r, host, &got) != 0)
				assert_int_equal(got.mark, 0);
		}
	}
	rig_model_destroy(r);
}

/*
 * A program that makes its packets larger than the fabric's MTU, or gives them headers that no
 * packet of the fabric has, has sent nothing; the largest that may be sent passes.
 */
static void test_none_larger_than_the_mtu(void **state)
{
	static const struct {
		uint8_t opcode;
		uint16_t length;
		bool ok;
	} cases[] = {
		{ WF_OP_RC_SEND_ONLY, 1024, true },  { WF_OP_RC_WRITE_ONLY_IMM, 1024, true },
		{ WF_OP_RC_SEND_ONLY, 1025, false }, { WF_OP_RC_WRITE_ONLY_IMM, 1028, false },
		{ WF_OP_RC_SEND_ONLY, 4096, false }, { WF_OP_RD_WRITE_ONLY_IMM, 1024, false },
	};

	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		struct rig_model *r = rig_model_create_mtu(WF_LIVE_NONE, kind == 0, "1024B");
		unsigned refused = 0, passed = 0;
		struct wf_live_model m;
		struct wf_packet got;

		for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
			struct wf_packet pkt = rig_model_packet(1, cases[i].length);

			pkt.opcode = cases[i].opcode;
			if (kind == 2)
				pkt.entropy = 0; /* RoCE v1 */
			assert_true(rig_model_send(r, 0, &pkt, cases[i].length));
			settle(r);
			refused += !cases[i].ok;
			passed += cases[i].ok;
			wf_model_look(&r->d, &m);
			assert_int_equal(m.refused, refused);
			assert_int_equal(m.delivered, passed);
		}
		assert_int_equal(take_all(r, 1, &got), passed);
		rig_model_destroy(r);
	}
}

/*
 * Somebody who takes in nothing keeps the others waiting for a while only, and loses only its own.
 */
static void test_one_that_stands_still(void **state)
{
	struct rig_model *r = rig_model_create(WF_LIVE_NONE, false);
	struct wf_packet to1 = rig_model_packet(1, 4096), to2 = rig_model_packet(2, 64), got;
	struct wf_live_model m;
	unsigned sent = 0;

	(void)state;
	do {
		while (sent < 1000 && rig_model_send(r, 0, &to1, 4096))
			sent++;
		wf_model_serve(&r->d);
		wf_model_look(&r->d, &m);
	} while (sent < 1000 || m.under_way != 0);
	while (!rig_model_send(r, 0, &to2, 64))
		wf_model_serve(&r->d);
	for (unsigned n = 0; n == 0; n = take_all(r, 2, &got))
		wf_model_serve(&r->d);
	settle(r);
	wf_model_look(&r->d, &m);
	assert_true(m.unclaimed > 500 && m.lost == 0);
	/* It looks again, and gets what is sent from then on. */
	assert_true(take_all(r, 1, &got) > 200);
	assert_true(rig_model_send(r, 0, &to1, 4096));
	settle(r);
	assert_int_equal(take_all(r, 1, &got), 1);
	rig_model_destroy(r);
}

/* What a program has sent before its end still arrives; what comes for it does not. */
static void test_end(void **state)
{
	struct rig_model *r = rig_model_create(WF_LIVE_NONE, true);
	struct wf_packet there = rig_model_packet(1, 512), back = rig_model_packet(0, 512), got;
	struct wf_live_model m;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		assert_true(rig_model_send(r, 0, &there, 512));
	r->client[0].doomed = true;
	assert_false(wf_model_is_done(&r->d, &r->client[0]));
	assert_true(rig_model_send(r, 1, &back, 512));
	settle(r);
	assert_true(wf_model_is_done(&r->d, &r->client[0]));
	wf_model_leave(&r->d, &r->client[0]);
	assert_int_equal(take_all(r, 1, &got), 100);
	wf_model_look(&r->d, &m);
	assert_int_equal(m.unclaimed, 1);
	/* Its ring is still there, and full of nonsense: nobody looks. */
	assert_true(rig_model_send(r, 0, &there, 512));
	settle(r);
	assert_int_equal(take_all(r, 1, &got), 0);
	rig_model_destroy(r);
}

static void test_faults(void **state)
{
	struct rig_model *r = rig_model_create(WF_LIVE_NONE, false);
	struct wf_packet pkt = rig_model_packet(1, 512), got;
	struct wf_live_port port;
	uint32_t link = wf_model_host_link(&r->d, 1);

	(void)state;
	assert_int_equal(wf_model_link_host(&r->d, link), 1);
	assert_int_equal(wf_model_links(&r->d), 3);
	assert_int_equal(wf_model_fault(&r->d, link, WF_LIVE_FAULT_DOWN, 1), 0);
	assert_true(rig_model_send(r, 0, &pkt, 512));
	settle(r);
	assert_int_equal(take_all(r, 1, &got), 0);
	assert_int_equal(wf_model_fault(&r->d, link, WF_LIVE_FAULT_CLEAR, 0), 0);
	assert_int_equal(wf_model_fault(&r->d, link, WF_LIVE_FAULT_CORRUPT, WF_PROB_ONE), 0);
	/* Routes come back at once here. */
	assert_true(rig_model_send(r, 0, &pkt, 512));
	settle(r);
	assert_int_equal(take_all(r, 1, &got), 1);
	assert_true((got.flags & WF_PACKET_BAD) != 0);
	wf_model_port(&r->d, 0, &port);
	assert_true(port.is_switch != 0 && port.both == 0 && port.number == 1);
	assert_int_equal(wf_model_fault(&r->d, 9, WF_LIVE_FAULT_DOWN, 1), -ENOENT);
	assert_int_equal(wf_model_fault(&r->d, 0, WF_LIVE_FAULT_KILL, 1), -EINVAL);
	assert_int_equal(wf_model_fault(&r->d, 0, WF_LIVE_FAULT_DELAY, WF_LIVE_DELAY_MAX), -ERANGE);
	rig_model_destroy(r);
}

/* By the clock: nothing comes before it is due, and virtual time is never ahead. */
static void test_wall(void **state)
{
	struct rig_model *r = rig_model_create(WF_LIVE_WALL, false);
	struct wf_packet pkt = rig_model_packet(1, 512), got;
	struct wf_live_model before, m;
	uint32_t begin, due;
	unsigned n = 0;

	(void)state;
	begin = (uint32_t)((uint64_t)wf_model_clock() / WF_NS);
	assert_int_equal(wf_model_fault(&r->d, 0, WF_LIVE_FAULT_DELAY, 20 * WF_MS), 0);
	wf_model_serve(&r->d);
	wf_model_look(&r->d, &before);
	assert_true(rig_model_send(r, 0, &pkt, 512));
	while (n == 0) {
		wf_model_serve(&r->d);
		(void)wf_model_rest(&r->d);
		n = take_all(r, 1, &got);
	}
	wf_model_look(&r->d, &m);
	/* The stamp of the packet was 0, which is long ago: it counts from when the model stood. */
	assert_true(m.time_ps - before.time_ps >= 20 * (uint64_t)WF_MS);
	assert_int_equal(m.under_way, 0);
	/* It says when it was due, by the clock. */
	due = got.payload - begin;
	assert_in_range(due, 20 * WF_MS / WF_NS,
	                (uint32_t)((uint64_t)wf_model_clock() / WF_NS) - begin);
	rig_model_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets_pass),
		cmocka_unit_test(test_only_what_is_right),
		cmocka_unit_test(test_none_larger_than_the_mtu),
		cmocka_unit_test(test_one_that_stands_still),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_wall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
