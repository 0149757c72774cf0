/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of an adapter with two ports (lag.c): who sends by which, and what moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/rig_qp.h"

#define QPS 8

/* Two hosts, and queue pairs from the first, which has two ports, to the second. */
struct bond {
	struct rig rig;
	struct wf_qp *qp[QPS];
	uint64_t posted;
};

static void make(struct bond *b, enum wf_lag lag, bool follow, const struct wf_qp_tune *tune)
{
	struct wf_hca_attr attr;
	struct wf_qp_attr usual;

	memset(b, 0, sizeof(*b));
	wf_hca_attr_defaults(&attr);
	attr.max_qp = 64;
	attr.max_mr = 256;
	attr.ports = 2;
	attr.lag = lag;
	attr.lag_key = 7;
	attr.lag_follow = follow;
	rig_init(&b->rig, 2, &attr, 1);
	rig_attr_defaults(&usual);
	for (uint32_t i = 0; i < QPS; i++) {
		struct wf_qp *peer = rig_make_qp(&b->rig, 1, WF_QPT_RC, tune);

		b->qp[i] = rig_make_qp(&b->rig, 0, WF_QPT_RC, tune);
		rig_connect(b->qp[i], 0, peer, 1, &usual, 100 * i);
	}
}

static struct wf_hca *hca_of(const struct bond *b)
{
	return b->rig.host[0].hca;
}

/* An empty SEND, which needs no memory, on queue pair i. */
static void post(struct bond *b, uint32_t i)
{
	struct wf_send_wr wr = { .wr_id = b->posted++, .opcode = WF_WR_SEND };

	rig_must(rig_post(b->qp[i], &wr, NULL) == 0);
}

/* The number of the queue pair that a port sends next; QPS: none. */
static uint32_t next_on(struct bond *b, uint32_t port, wf_time now)
{
	struct wf_packet pkt;
	bool sent;

	wf_hca_ask(hca_of(b), port, now);
	sent = wf_hca_tx(hca_of(b), now, &pkt, NULL);
	wf_hca_asked(hca_of(b));
	for (uint32_t i = 0; sent && i < QPS; i++) {
		if (wf_hca_sender(hca_of(b)) == b->qp[i])
			return i;
	}
	assert_false(sent);
	return QPS;
}

/* Queue pairs take turns on two ports, and on a port as they do with one. */
static void test_affinity(void **state)
{
	struct bond b;

	(void)state;
	make(&b, WF_LAG_AFFINITY, false, NULL);
	assert_true(wf_hca_tx_time_by(hca_of(&b), 0) == WF_TIME_NEVER);
	for (uint32_t i = 0; i < QPS; i++)
		post(&b, i);
	assert_true(wf_hca_tx_time_by(hca_of(&b), 1) == 0);
	for (uint32_t i = 0; i < QPS; i += 2) {
		assert_int_equal(next_on(&b, 1, 0), i + 1);
		assert_int_equal(next_on(&b, 0, 0), i);
	}
	assert_int_equal(next_on(&b, 0, 0), QPS);
	assert_int_equal(next_on(&b, 1, 0), QPS);
	assert_true(wf_hca_tx_time_by(hca_of(&b), 0) == WF_TIME_NEVER);
	assert_true(wf_hca_tx_time_by(hca_of(&b), 1) == WF_TIME_NEVER);
	rig_fini(&b.rig);
}

/* A class that one port may not send goes on by the other. */
static void test_held(void **state)
{
	struct bond b;

	(void)state;
	make(&b, WF_LAG_AFFINITY, false, NULL);
	post(&b, 0);
	post(&b, 1);
	wf_hca_ask(hca_of(&b), 0, 0);
	wf_hca_hold(hca_of(&b), 1);
	wf_hca_asked(hca_of(&b));
	assert_int_equal(next_on(&b, 0, 0), QPS);
	assert_true(wf_hca_tx_time_by(hca_of(&b), 0) == WF_TIME_NEVER);
	assert_int_equal(next_on(&b, 1, 0), 1);
	wf_hca_ask(hca_of(&b), 0, 0);
	wf_hca_hold(hca_of(&b), 0);
	wf_hca_asked(hca_of(&b));
	assert_int_equal(next_on(&b, 0, 0), 0);
	rig_fini(&b.rig);
}

/* What waits moves with its queue pair, from a port that is held, too, and back. */
static void test_moves(void **state)
{
	struct bond b;

	(void)state;
	make(&b, WF_LAG_AFFINITY, false, NULL);
	for (uint32_t i = 0; i < 4; i++)
		post(&b, i);
	wf_hca_ask(hca_of(&b), 0, 0);
	wf_hca_hold(hca_of(&b), 1);
	wf_hca_asked(hca_of(&b));
	assert_int_equal(next_on(&b, 0, 0), QPS);
	wf_hca_use_ports(hca_of(&b), 2);
	/* Behind those that were there. */
	assert_int_equal(next_on(&b, 1, 0), 1);
	assert_int_equal(next_on(&b, 1, 0), 3);
	assert_int_equal(next_on(&b, 1, 0), 0);
	assert_int_equal(next_on(&b, 1, 0), 2);
	post(&b, 4);
	wf_hca_use_ports(hca_of(&b), 0); /* nobody is left: nothing happens */
	assert_int_equal(next_on(&b, 1, 0), 4);
	post(&b, 4);
	wf_hca_use_ports(hca_of(&b), 3);
	wf_hca_ask(hca_of(&b), 0, 0);
	wf_hca_hold(hca_of(&b), 0);
	wf_hca_asked(hca_of(&b));
	assert_int_equal(next_on(&b, 1, 0), QPS);
	assert_int_equal(next_on(&b, 0, 0), 4);
	rig_fini(&b.rig);
}

/* By hash every queue pair stays where it is, and both ports have some; backup has one port. */
static void test_hash_and_backup(void **state)
{
	uint32_t on[2] = { 0, 0 };
	struct bond b;

	(void)state;
	make(&b, WF_LAG_HASH, false, NULL);
	for (uint32_t round = 0; round < 2; round++) {
		uint32_t n[2] = { 0, 0 };

		for (uint32_t i = 0; i < QPS; i++)
			post(&b, i);
		for (uint32_t port = 0; port < 2; port++) {
			while (next_on(&b, port, 0) != QPS)
				n[port]++;
		}
		assert_int_equal(n[0] + n[1], QPS);
		assert_true(n[0] > 0 && n[1] > 0);
		assert_true(round == 0 || n[0] == on[0]);
		on[0] = n[0];
	}
	rig_fini(&b.rig);
	make(&b, WF_LAG_BACKUP, false, NULL);
	for (uint32_t i = 0; i < QPS; i++)
		post(&b, i);
	assert_int_equal(next_on(&b, 1, 0), QPS);
	for (uint32_t i = 0; i < QPS; i++)
		assert_int_equal(next_on(&b, 0, 0), i);
	wf_hca_use_ports(hca_of(&b), 2);
	post(&b, 3);
	assert_int_equal(next_on(&b, 0, 0), QPS);
	assert_int_equal(next_on(&b, 1, 0), 3);
	rig_fini(&b.rig);
}

/* Who is paced is woken for its own port, whichever is asked. */
static void test_paced(void **state)
{
	static const struct wf_cc_fixed_param rate = { .rate = UINT64_C(1000000000) };
	struct wf_qp_tune tune = { .cc = &wf_cc_fixed, .cc_param = &rate };
	struct bond b;
	wf_time at;

	(void)state;
	make(&b, WF_LAG_AFFINITY, false, &tune);
	for (uint32_t i = 0; i < 2; i++) {
		post(&b, 1);
		post(&b, 1);
	}
	assert_int_equal(next_on(&b, 1, 0), 1);
	assert_int_equal(next_on(&b, 1, 0), QPS);
	at = wf_hca_tx_time_by(hca_of(&b), 1);
	assert_true(at > 0 && at != WF_TIME_NEVER);
	assert_int_equal(next_on(&b, 0, at), QPS);
	assert_true(wf_hca_tx_time_by(hca_of(&b), 1) == 0);
	assert_int_equal(next_on(&b, 1, at), 1);
	rig_fini(&b.rig);
}

/* A sprayed packet has the port of its own entropy's hash. */
static void test_sprayed(void **state)
{
	struct wf_qp_tune tune = { .spray = true, .recovery = WF_RECOVERY_SELECTIVE };
	unsigned on[2] = { 0, 0 };
	struct bond b;

	(void)state;
	make(&b, WF_LAG_HASH, false, &tune);
	for (uint32_t n = 0; n < 200; n++) {
		uint32_t port = n % 2;
		struct wf_packet pkt;

		if (n < 100)
			post(&b, 0);
		wf_hca_ask(hca_of(&b), port, 0);
		if (wf_hca_tx(hca_of(&b), 0, &pkt, NULL)) {
			on[port]++;
			assert_int_equal(wf_lag_hash(7, 0, 1, pkt.entropy, 2), port);
		}
		wf_hca_asked(hca_of(&b));
	}
	assert_in_range(on[0], 15, 85);
	assert_in_range(on[1], 15, 85);
	rig_fini(&b.rig);
}

/* Of those in use: the port itself, or another, as long as one is. */
static void test_port(void **state)
{
	(void)state;
	assert_int_equal(wf_lag_port(0, 3), 0);
	assert_int_equal(wf_lag_port(1, 3), 1);
	assert_int_equal(wf_lag_port(0, 2), 1);
	assert_int_equal(wf_lag_port(1, 1), 0);
	assert_int_equal(wf_lag_port(1, 0), 1);
}

/*
 * Who looks for a path takes the other port when no answer comes in time, and answers by that by
 * which it was asked; who does not stays.
 */
static void test_follow(void **state)
{
	(void)state;
	for (int follow = 0; follow < 2; follow++) {
		struct bond b;
		wf_time at;

		make(&b, WF_LAG_AFFINITY, follow == 1, NULL);
		post(&b, 0);
		assert_int_equal(next_on(&b, 0, 0), 0);
		at = wf_hca_deadline(hca_of(&b));
		wf_hca_tick(hca_of(&b), at);
		assert_int_equal(next_on(&b, (uint32_t)follow, at), 0);
		wf_hca_came(hca_of(&b), wf_qp_num(b.qp[2]), 1);
		post(&b, 2);
		assert_int_equal(next_on(&b, (uint32_t)follow, at), 2);
		rig_fini(&b.rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_affinity), cmocka_unit_test(test_held),
		cmocka_unit_test(test_moves),    cmocka_unit_test(test_hash_and_backup),
		cmocka_unit_test(test_paced),    cmocka_unit_test(test_sprayed),
		cmocka_unit_test(test_port),     cmocka_unit_test(test_follow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
