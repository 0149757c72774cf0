/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_loss.c - packets that links lose, and how queue pairs recover (link.loss, sender.recovery).
 */
#include "rig.h"

#include "rdma/counter.h"

#define BYTES (UINT64_C(64) << 20)
#define PACKETS (BYTES / 4096)

/* One write of 64 MiB; packets that were sent again. */
static uint64_t resent(const char *loss, const char *recovery, wf_time *end)
{
	struct rig r;
	uint64_t n;

	rig_init(&r, "none", "single", 2);
	rig_set(&r, "sender.window", "4MiB");
	rig_set(&r, "sender.timeout", "1ms");
	rig_set(&r, "link.loss", loss);
	rig_set(&r, "sender.recovery", recovery);
	rig_flow(&r, 0, 1, BYTES, 0, 3);
	r.flows.flow[0].op = WF_FLOW_WRITE;
	rig_run(&r, 1);
	assert_true(r.result->finished);
	assert_int_equal(r.result->flows_done, 1);
	assert_int_equal(r.result->packets_sent,
	                 r.result->packets_delivered + r.result->packets_dropped);
	n = wf_hca_counter(wf_adapter_hca(r.sim->adapters[0]), WF_CTR_TX_RETRANSMITS);
	*end = r.result->last_delivery;
	rig_fini(&r);
	return n;
}

static void test_chance(void **state)
{
	struct rig r;
	uint64_t lost;

	(void)state;
	rig_init(&r, "none", "single", 2);
	rig_set(&r, "link.loss", "1%");
	rig_set(&r, "sender.recovery", "selective");
	rig_flow(&r, 0, 1, BYTES, 0, 3);
	r.flows.flow[0].op = WF_FLOW_WRITE;
	rig_run(&r, 1);
	/* Every packet crosses two links: one in 50 is lost; five standard deviations around it. */
	lost = r.result->packets_dropped * 50;
	assert_in_range(lost, r.result->packets_sent * 75 / 100,
	                r.result->packets_sent * 125 / 100);
	rig_fini(&r);
}

/* Selective repeat sends what was lost, go-back-N also what was in flight behind it. */
static void test_recovery(void **state)
{
	wf_time clean, end, selective;
	uint64_t gbn, sr;

	(void)state;
	assert_int_equal(resent("0", "go-back-n", &clean), 0);
	assert_int_equal(resent("0", "selective", &end), 0);
	gbn = resent("1%", "go-back-n", &end);
	sr = resent("1%", "selective", &selective);
	/* Two links: 2 % of what is sent; lost repeats and their like come on top. */
	assert_in_range(sr, PACKETS / 100, PACKETS * 4 / 100);
	assert_true(gbn > 5 * sr);
	assert_true(clean < selective && selective < end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_recovery),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
