/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of packets that are spaced by a rate, when the driver comes in time and when late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/rig_pair.h"

/*
 * A WRITE of 1024 bytes is one packet: 50 bytes around it, 12 of BTH and 16 of RETH make 1102,
 * which at 1 Gb/s take 8816 ns.
 */
#define GAP (8816 * WF_NS)
#define START (10 * WF_S)

static const struct wf_cc_fixed_param rate = { .rate = UINT64_C(1000000000) };

static void begin(struct pair *p, wf_time catch_up, unsigned writes)
{
	struct wf_qp_tune tune = { .cc = &wf_cc_fixed, .cc_param = &rate, .catch_up = catch_up };

	pair_init(p, &tune, NULL, 0);
	for (unsigned i = 0; i < writes; i++)
		pair_post_write(p, i, 1024);
}

/* How many packets leave at one moment. */
static unsigned burst(struct pair *p, wf_time now)
{
	struct wf_hca *hca = p->rig.host[0].hca;
	struct wf_packet pkt;
	char payload[4096];
	unsigned n = 0;

	while (wf_hca_tx_time(hca) <= now && wf_hca_tx(hca, now, &pkt, payload))
		n++;
	return n;
}

static wf_time next(const struct pair *p)
{
	return wf_hca_tx_time(p->rig.host[0].hca);
}

/* A driver that comes in time sends one at a time, each in its slot. */
static void test_in_time(void **state)
{
	static const wf_time catch_up[] = { 0, 10 * GAP };

	(void)state;
	for (size_t k = 0; k < WF_ARRAY_SIZE(catch_up); k++) {
		struct pair p;

		begin(&p, catch_up[k], 20);
		for (unsigned i = 0; i < 19; i++) {
			assert_int_equal(burst(&p, START + i * GAP), 1);
			assert_int_equal(next(&p), START + (i + 1) * GAP);
		}
		pair_fini(&p);
	}
}

/* Who may not catch up loses the slots that passed. */
static void test_lost(void **state)
{
	struct pair p;

	(void)state;
	begin(&p, 0, 20);
	assert_int_equal(burst(&p, START), 1);
	assert_int_equal(burst(&p, START + 4 * GAP), 1);
	assert_int_equal(next(&p), START + 5 * GAP);
	pair_fini(&p);
}

/* Who may, takes those that passed while packets waited, back to catch_up, and no others. */
static void test_caught_up(void **state)
{
	struct pair p;

	(void)state;
	begin(&p, 10 * GAP, 40);
	assert_int_equal(burst(&p, START), 1);
	/* Slots 1, 2, 3 and 4. */
	assert_int_equal(burst(&p, START + 4 * GAP), 4);
	assert_int_equal(next(&p), START + 5 * GAP);
	/* Between two slots. */
	assert_int_equal(burst(&p, START + 6 * GAP + GAP / 2), 2);
	assert_int_equal(next(&p), START + 7 * GAP);
	/* Twenty passed; of ten the time is over. */
	assert_int_equal(burst(&p, START + 27 * GAP), 11);
	assert_int_equal(next(&p), START + 28 * GAP);
	pair_fini(&p);
}

/* Time in which there was nothing to send gives no slots. */
static void test_idle(void **state)
{
	struct pair p;

	(void)state;
	begin(&p, 10 * GAP, 3);
	assert_int_equal(burst(&p, START), 1);
	assert_int_equal(burst(&p, START + 5 * GAP), 2);
	assert_int_equal(next(&p), WF_TIME_NEVER);
	for (unsigned i = 0; i < 4; i++)
		pair_post_write(&p, i, 1024);
	assert_int_equal(burst(&p, START + 30 * GAP), 1);
	assert_int_equal(next(&p), START + 31 * GAP);
	pair_fini(&p);
}

/* Nor does time in which it was held. */
static void test_held(void **state)
{
	struct pair p;

	(void)state;
	begin(&p, 10 * GAP, 20);
	assert_int_equal(burst(&p, START), 1);
	wf_qp_hold(p.qp[0], true);
	assert_int_equal(burst(&p, START + 2 * GAP), 0);
	wf_qp_hold(p.qp[0], false);
	assert_int_equal(burst(&p, START + 9 * GAP), 1);
	assert_int_equal(next(&p), START + 10 * GAP);
	pair_fini(&p);
}

/*
 * A queue pair that begins a message per microsecond: no sooner, whoever comes late, and no packet
 * of one waits.
 */
static void test_messages_of_a_queue_pair(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 0);
	wf_hca_set_messages(p.rig.host[0].hca, 0, WF_US);
	for (unsigned i = 0; i < 3; i++)
		pair_post_write(&p, i, 1024);
	pair_post_write(&p, 3, 5000);
	pair_post_write(&p, 4, 1024);
	assert_int_equal(burst(&p, START), 1);
	assert_int_equal(next(&p), START + WF_US);
	assert_int_equal(burst(&p, START + WF_US - 1), 0);
	assert_int_equal(burst(&p, START + WF_US), 1);
	/* 300 ns late: the next is a microsecond after that. */
	assert_int_equal(burst(&p, START + 2 * WF_US + 300 * WF_NS), 1);
	assert_int_equal(next(&p), START + 3 * WF_US + 300 * WF_NS);
	/* 5000 bytes are five packets of 1024, all of one message. */
	assert_int_equal(burst(&p, START + 4 * WF_US), 5);
	assert_int_equal(next(&p), START + 5 * WF_US);
	/* No limit any more: what waits for its time still does. */
	wf_hca_set_messages(p.rig.host[0].hca, 0, 0);
	pair_post_write(&p, 5, 1024);
	assert_int_equal(burst(&p, START + 5 * WF_US), 2);
	pair_fini(&p);
}

/*
 * An adapter that begins a message per 500 ns, and a queue pair one per 1.2 us. Two take turns: at
 * 0, 500 ns, 1.2 us (the first may again), 1.7 us, 2.4 us and 2.9 us.
 */
static void test_messages_of_an_adapter(void **state)
{
	static const wf_time at[] = { 0, 500, 1200, 1700, 2400, 2900 };
	struct wf_hca *hca;
	struct wf_qp *other[2];
	struct wf_packet pkt;
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 0);
	hca = p.rig.host[0].hca;
	wf_hca_set_messages(hca, 500 * WF_NS, 1200 * WF_NS);
	for (uint32_t i = 0; i < 2; i++)
		other[i] = rig_make_qp(&p.rig, i, WF_QPT_RC, NULL);
	rig_connect(other[0], 0, other[1], 1, &p.attr, 0);
	for (unsigned i = 0; i < 3; i++) {
		struct wf_qp *mine = p.qp[0];

		pair_post_write(&p, i, 1024);
		p.qp[0] = other[0];
		pair_post_write(&p, i, 1024);
		p.qp[0] = mine;
	}
	for (size_t i = 0; i < WF_ARRAY_SIZE(at); i++) {
		char payload[4096];

		if (i > 0)
			assert_false(wf_hca_tx(hca, START + at[i] * WF_NS - 1, &pkt, payload));
		assert_true(wf_hca_tx_time(hca) <= START + at[i] * WF_NS);
		assert_true(wf_hca_tx(hca, START + at[i] * WF_NS, &pkt, payload));
		assert_int_equal(pkt.qpn, wf_qp_num(i % 2 == 0 ? p.qp[1] : other[1]));
	}
	assert_int_equal(next(&p), WF_TIME_NEVER);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_time),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_caught_up),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_messages_of_a_queue_pair),
		cmocka_unit_test(test_messages_of_an_adapter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
