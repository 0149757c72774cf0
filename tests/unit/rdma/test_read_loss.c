/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of READ responses that are under a congestion window, and of which one is lost, or an
 * acknowledgement of them: the window opens again, and nothing is sent that the requester discards
 * for longer than a round trip.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/qp_priv.h"
#include "rdma/rig_pair.h"

#define MTU 256
#define PACKETS 64

/* Loses one packet of a kind, or two, and counts the responses. */
struct loser {
	bool (*is)(uint8_t opcode);
	uint32_t lose;   /* number of it, from 1 */
	uint32_t second; /* number of another one; 0: none */
	uint32_t seen;
	uint32_t responses;
};

static bool lose_one(struct rig *rig, struct wf_packet *pkt)
{
	struct loser *l = rig->ctx;

	l->responses += wf_op_is_read_resp(pkt->opcode);
	if (!l->is(pkt->opcode))
		return true;
	l->seen++;
	return l->seen != l->lose && l->seen != l->second;
}

static void post_read(struct pair *p, uint64_t id, uint32_t at, uint32_t bytes)
{
	struct wf_send_wr wr = { .wr_id = id,
		                 .opcode = WF_WR_RDMA_READ,
		                 .flags = WF_SEND_SIGNALED };
	struct wf_sge sge = rig_sge(p->mem[0] + at, bytes, p->mr[0]);

	wr.rdma.addr = (uintptr_t)p->mem[1] + at;
	wr.rdma.rkey = wf_mr_rkey(p->mr[1]);
	assert_int_equal(rig_post(p->qp[0], &wr, &sge), 0);
}

/* READs of PACKETS packets in all, in as many READs; returns how often the timer ran out. */
static uint64_t run(struct loser *l, const struct wf_qp_tune *tune, uint32_t reads)
{
	uint32_t bytes = PACKETS / reads * MTU;
	struct wf_qp_attr attr;
	uint64_t timeouts;
	struct pair p;

	rig_attr_defaults(&attr);
	attr.path_mtu = WF_MTU_256;
	pair_init(&p, tune, &attr, 0xfffff8);
	p.rig.filter = lose_one;
	p.rig.ctx = l;
	for (uint32_t i = 0; i < reads; i++)
		post_read(&p, i, i * bytes, bytes);
	rig_run(&p.rig);
	for (uint32_t i = 0; i < reads; i++)
		expect_wc(&p, 0, i, WF_WC_RDMA_READ, bytes);
	assert_memory_equal(p.mem[0], p.mem[1], PACKETS * MTU);
	timeouts = wf_hca_counter(p.rig.host[0].hca, WF_CTR_LOCAL_ACK_TIMEOUT_ERR);
	pair_fini(&p);
	return timeouts;
}

static const uint64_t windows[] = { 1 * MTU, 2 * MTU, 3 * MTU, 8 * MTU, 100 * MTU };

/*
 * With go-back-N, a gap asks for the rest at once, and only where nothing comes behind it the timer
 * has to: of the last response, or of one that fills the window. A window may go in vain, and after
 * a timeout a second one; the rest of a READ of any length does not.
 */
static void test_lost_response(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < WF_ARRAY_SIZE(windows) * PACKETS * 3; k++) {
		struct wf_cc_fixed_param param = { .window = windows[k / PACKETS / 3] };
		struct wf_qp_tune tune = { .cc = &wf_cc_fixed,
			                   .cc_param = &param,
			                   .read_acks = true };
		struct loser l = { .is = wf_op_is_read_resp, .lose = k / 3 % PACKETS + 1 };
		uint64_t timeouts = run(&l, &tune, 1U << k % 3);

		assert_true(timeouts <= 1);
		if (l.lose < PACKETS && param.window >= 100 * MTU)
			assert_int_equal(timeouts, 0);
		assert_true(l.responses <=
		            PACKETS + wf_min_u64(2 * param.window / MTU, PACKETS - l.lose + 1));
	}
}

/*
 * The acknowledgement that opens the window is lost: the timer has it sent again, and one response
 * may be on its way already when the READ is asked for again.
 */
static void test_lost_ack(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < WF_ARRAY_SIZE(windows) * PACKETS * 6; k++) {
		struct wf_cc_fixed_param param = { .window = windows[k / PACKETS / 6] };
		struct wf_qp_tune tune = { .cc = &wf_cc_fixed,
			                   .cc_param = &param,
			                   .read_acks = true,
			                   .recovery = k % 2 == 0 ? WF_RECOVERY_GO_BACK_N
			                                          : WF_RECOVERY_SELECTIVE };
		struct loser l = { .is = wf_op_is_ack, .lose = k / 6 % PACKETS + 1 };

		assert_true(run(&l, &tune, 1U << k / 2 % 3) <= 1);
		assert_true(l.responses <= PACKETS + 1);
	}
}

/*
 * Without acknowledgements too the response goes back to what is missing, at once. By hand: a slot
 * is 100 ns, a way 1 us. The third packet leaves 200 ns after the first and shows the gap, and the
 * responder hears of it 2 us later: by then 22 are out, of which 21 go again. The same is so if a
 * second one of those is lost. If it is among what goes again, that gap is seen at once too, unless
 * it is the same packet a second time, the 23rd: then only the timer can tell.
 */
static void test_long_read(void **state)
{
	(void)state;
	for (uint32_t second = 0; second <= PACKETS; second++) {
		struct loser l = { .is = wf_op_is_read_resp, .lose = 2, .second = second };

		assert_int_equal(run(&l, NULL, 1), second == 23);
		if (second < 23)
			assert_int_equal(l.responses, PACKETS + 21 + (second == 1 || second == 3));
		else if (second > 23)
			assert_int_equal(l.responses, PACKETS + 2 * 21);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_response),
		cmocka_unit_test(test_lost_ack),
		cmocka_unit_test(test_long_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
