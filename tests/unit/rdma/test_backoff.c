/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of what a queue pair does about timeouts when it backs off, and that one that does not
 * is as it was. All times and numbers of packets are by hand: a way is 1 us, a slot of the port
 * 100 ns, a message 32 packets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/rig_pair.h"

#define MTU 256
#define PACKETS 32
#define TIMEOUT 5
#define FIRST_PSN 0xfffff0 /* so that it wraps */
#define T ((WF_NS * 4096) << TIMEOUT)

struct trace {
	wf_time at[512]; /* of requests */
	uint32_t psn[512];
	uint32_t n;
	uint32_t pass, lose; /* after so many requests, so many are lost */
	wf_time deaf;        /* answers before are lost */
	wf_time slow;        /* answers take so much longer, */
	wf_time slower;      /* and this for each 8 packets before them */
};

static bool record(struct rig *rig, struct wf_packet *pkt)
{
	struct rig_packet *p =
		(struct rig_packet *)(void *)((char *)pkt - offsetof(struct rig_packet, pkt));
	struct trace *t = rig->ctx;

	if (wf_op_is_response(pkt->opcode)) {
		p->at += t->slow + t->slower * (((pkt->psn - FIRST_PSN) & 0xffffff) / 8);
		return rig->now >= t->deaf;
	}
	rig_must(t->n < WF_ARRAY_SIZE(t->at));
	t->at[t->n] = rig->now;
	t->psn[t->n++] = pkt->psn;
	return t->n <= t->pass || t->n - t->pass > t->lose;
}

static void start(struct pair *p, struct trace *t, const struct wf_qp_tune *tune, uint8_t timeout,
                  bool backoff)
{
	struct wf_qp_attr attr;

	rig_attr_defaults(&attr);
	attr.path_mtu = WF_MTU_256;
	attr.timeout = timeout;
	pair_init(p, tune, &attr, FIRST_PSN);
	wf_qp_set_backoff(p->qp[0], backoff);
	p->rig.filter = record;
	p->rig.ctx = t;
	pair_post_write(p, 1, PACKETS * MTU);
}

/* A message goes as if nothing had happened: all of it, packet behind packet. */
static void expect_at_once(struct pair *p, struct trace *t)
{
	*t = (struct trace){ .n = 0 };
	pair_post_write(p, 2, PACKETS * MTU);
	rig_run(&p->rig);
	expect_wc(p, 0, 2, WF_WC_RDMA_WRITE, 0);
	assert_int_equal(t->n, PACKETS);
	assert_int_equal(t->at[PACKETS - 1] - t->at[0], (PACKETS - 1) * RIG_SLOT);
}

/* Nobody answers: T, 2 T, 4 T, then 8 T each time; one packet goes, not all that are out. */
static void test_nobody(void **state)
{
	static const unsigned after[] = { 1, 3, 7, 15, 23, 31, 39 };
	struct trace t = { .lose = UINT32_MAX };
	struct pair p;
	struct wf_wc wc;

	(void)state;
	start(&p, &t, NULL, TIMEOUT, true);
	rig_run(&p.rig);
	assert_int_equal(t.n, PACKETS + 7);
	for (unsigned i = 0; i < 7; i++) {
		assert_int_equal(t.at[PACKETS + i] - t.at[0], after[i] * T);
		assert_int_equal(t.psn[PACKETS + i], t.psn[0]);
	}
	assert_true(rig_poll(&p.rig, 0, &wc));
	assert_int_equal(wc.status, WF_WC_RETRY_EXC_ERR);
	assert_int_equal(wc.time - t.at[0], 47 * T);
	assert_int_equal(wf_hca_counter(p.rig.host[0].hca, WF_CTR_LOCAL_ACK_TIMEOUT_ERR), 8);
	/* In its next life it begins anew. */
	pair_recycle(&p, 0);
	expect_at_once(&p, &t);
	pair_fini(&p);
}

/* Without it: everything goes again, after T each time. */
static void test_plain(void **state)
{
	struct trace t = { .lose = UINT32_MAX };
	struct pair p;
	struct wf_wc wc;

	(void)state;
	start(&p, &t, NULL, TIMEOUT, false);
	rig_run(&p.rig);
	assert_int_equal(t.n, 8 * PACKETS);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(t.at[i * PACKETS] - t.at[0], i * T);
	assert_true(rig_poll(&p.rig, 0, &wc));
	assert_int_equal(wc.time - t.at[0], 8 * T);
	pair_fini(&p);
}

/*
 * The wait does not grow beyond 4 s: with 4.096 us * 2^17 = 0.537 s it is 2.1 s at most (1 + 2 + 6
 * times 4), with 2^19 2.1 s always, and one that is longer than 4 s itself (2^20) stays. With 7
 * retries that ends after 14.5, 17.2 and 34.4 s.
 */
static void test_bound(void **state)
{
	static const struct {
		uint8_t timeout;
		unsigned waits; /* until the end, in timeouts */
	} c[] = { { 1, 47 },         { 16, 47 }, { 17, 1 + 2 + 6 * 4 },
		  { 18, 1 + 7 * 2 }, { 19, 8 },  { 20, 8 },
		  { 31, 8 },         { 0, 0 } };

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(c); i++) {
		struct trace t = { .lose = UINT32_MAX };
		struct pair p;
		struct wf_wc wc;

		start(&p, &t, NULL, c[i].timeout, true);
		rig_run(&p.rig);
		if (c[i].timeout == 0) {
			expect_no_wc(&p);
			assert_int_equal(t.n, PACKETS);
		} else {
			assert_true(rig_poll(&p.rig, 0, &wc));
			assert_int_equal(wc.time - t.at[0],
			                 c[i].waits * ((WF_NS * 4096) << c[i].timeout));
		}
		pair_fini(&p);
	}
}

/*
 * All were lost. Of those that go again each round trip has twice as many as the one before, and
 * the last of them asks for the acknowledgement: 1, 2, 4, 8, 16 and the last one. A round of n
 * takes 2 us and n - 1 slots.
 */
static void test_growth(void **state)
{
	static const uint32_t first[] = { 0, 1, 3, 7, 15, 31 };
	static const wf_time after[] = { 0, 2000, 4100, 6400, 9100, 12600 };
	struct trace t = { .lose = PACKETS };
	struct pair p;
	struct wf_wc wc;

	(void)state;
	start(&p, &t, NULL, TIMEOUT, true);
	rig_run(&p.rig);
	assert_int_equal(t.n, 2 * PACKETS);
	for (unsigned i = 0; i < WF_ARRAY_SIZE(first); i++) {
		assert_int_equal(t.at[PACKETS + first[i]] - t.at[0], T + after[i] * WF_NS);
		assert_int_equal(t.psn[PACKETS + first[i]], t.psn[first[i]]);
	}
	assert_true(rig_poll(&p.rig, 0, &wc));
	assert_int_equal(wc.status, WF_WC_SUCCESS);
	assert_int_equal(wc.time - t.at[0], T + 14600 * WF_NS);
	/* It stays as wide as it was, and the next message goes at once. */
	expect_at_once(&p, &t);
	pair_fini(&p);
}

/*
 * The peer has it all, and its answers are lost for two timeouts and a half: two packets go again.
 * After that it gets little at first.
 */
static void test_lost_answers(void **state)
{
	struct trace t = { .n = 0 };
	struct pair p;

	(void)state;
	t.deaf = 5 * T / 2;
	start(&p, &t, NULL, TIMEOUT, true);
	rig_run(&p.rig);
	expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
	assert_int_equal(t.n, PACKETS + 2);
	assert_int_equal(t.at[PACKETS] - t.at[0], T);
	assert_int_equal(t.at[PACKETS + 1] - t.at[0], 3 * T);
	t.n = 0;
	pair_post_write(&p, 2, PACKETS * MTU);
	rig_run(&p.rig);
	expect_wc(&p, 0, 2, WF_WC_RDMA_WRITE, 0);
	assert_int_equal(t.n, PACKETS);
	assert_int_equal(t.at[1] - t.at[0], 2000 * WF_NS);
	assert_int_equal(t.at[3] - t.at[0], 4100 * WF_NS);
	pair_fini(&p);
}

/*
 * The peer is slow: its acknowledgements of 8, 16, 24 and 32 packets come after 2.5 T, 2.6 T and so
 * on. The first packet goes again at T, and with each acknowledgement but the last the next one:
 * 4. Without back-off all 32 go at T and at 2 T; the first acknowledgement comes behind that.
 */
static void test_slow_peer(void **state)
{
	(void)state;
	for (int backoff = 0; backoff < 2; backoff++) {
		struct wf_qp_tune tune = { .ack_every = 8 };
		struct trace t = { .slow = 5 * T / 2, .slower = T / 10 };
		struct pair p;

		start(&p, &t, &tune, TIMEOUT, backoff != 0);
		rig_run(&p.rig);
		expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
		assert_int_equal(t.n, PACKETS + (backoff != 0 ? 4 : 2 * PACKETS));
		for (uint32_t i = 0; backoff != 0 && i < 4; i++)
			assert_int_equal(t.psn[PACKETS + i], t.psn[8 * i]);
		expect_no_wc(&p);
		pair_fini(&p);
	}
}

/*
 * The second half of the message is lost, and the answers to the first. What goes again at T is
 * answered with all that the peer has, which is more than that; so one packet is next, and the
 * others follow as they did in test_growth(): 1, 2, 4, 8 and the last one.
 */
static void test_lost_tail(void **state)
{
	static const uint32_t first[] = { 0, 1, 2, 4, 8, 16 };
	static const uint32_t psn[] = { 0, 16, 17, 19, 23, 31 };
	static const wf_time after[] = { 0, 2000, 4000, 6100, 8400, 11100 };
	struct trace t = { .pass = PACKETS / 2, .lose = PACKETS / 2, .deaf = T };
	struct pair p;

	(void)state;
	start(&p, &t, NULL, TIMEOUT, true);
	rig_run(&p.rig);
	expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
	assert_int_equal(t.n, PACKETS + 1 + PACKETS / 2);
	for (unsigned i = 0; i < WF_ARRAY_SIZE(first); i++) {
		assert_int_equal(t.at[PACKETS + first[i]] - t.at[0], T + after[i] * WF_NS);
		assert_int_equal(t.psn[PACKETS + first[i]], t.psn[psn[i]]);
	}
	assert_memory_equal(p.mem[0], p.mem[1] + PAIR_BYTES / 2, PACKETS * MTU);
	pair_fini(&p);
}

/* Selective repeat: the wait grows; all that is missing goes each time. */
static void test_selective(void **state)
{
	struct wf_qp_tune tune = { .recovery = WF_RECOVERY_SELECTIVE };
	struct trace t = { .lose = 3 * PACKETS };
	struct pair p;

	(void)state;
	start(&p, &t, &tune, TIMEOUT, true);
	rig_run(&p.rig);
	expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
	assert_int_equal(t.n, 4 * PACKETS);
	assert_int_equal(t.at[PACKETS] - t.at[0], T);
	assert_int_equal(t.at[2 * PACKETS] - t.at[0], 3 * T);
	assert_int_equal(t.at[3 * PACKETS] - t.at[0], 7 * T);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody),       cmocka_unit_test(test_plain),
		cmocka_unit_test(test_bound),        cmocka_unit_test(test_growth),
		cmocka_unit_test(test_lost_answers), cmocka_unit_test(test_slow_peer),
		cmocka_unit_test(test_lost_tail),    cmocka_unit_test(test_selective),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
