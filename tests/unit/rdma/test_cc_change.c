/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of what the requester makes of a rate or a window that changes under it. */
#include "check.h"

#include "rdma/rig_pair.h"

/* What the algorithm of these tests does at its first acknowledgement, and when that was. */
struct plan {
	uint64_t rate, window; /* before */
	uint64_t then_rate, then_window;
	bool repace;
	wf_time at;
};

struct changing {
	struct wf_cc cc;
	struct plan *plan;
};

static void changing_start(struct wf_cc *cc, const void *param, wf_time now)
{
	struct plan *const *plan = param;

	(void)now;
	wf_container_of(cc, struct changing, cc)->plan = *plan;
	wf_cc_set_rate(cc, (*plan)->rate);
	if ((*plan)->window != 0)
		cc->window = (*plan)->window;
	cc->repace = (*plan)->repace;
}

static void changing_ack(struct wf_cc *cc, const struct wf_cc_ack *ack)
{
	struct plan *plan = wf_container_of(cc, struct changing, cc)->plan;

	if (plan->at != 0)
		return;
	plan->at = ack->now;
	wf_cc_set_rate(cc, plan->then_rate);
	if (plan->then_window != 0)
		cc->window = plan->then_window;
}

static void no_send(struct wf_cc *cc, uint32_t bytes, wf_time now)
{
	(void)cc;
	(void)bytes;
	(void)now;
}

static void no_cnp(struct wf_cc *cc, wf_time now)
{
	(void)cc;
	(void)now;
}

static void no_loss(struct wf_cc *cc, enum wf_cc_loss loss, wf_time now)
{
	(void)cc;
	(void)loss;
	(void)now;
}

static const struct wf_cc_ops changing = {
	.name = "changing",
	.help = "for these tests",
	.size = sizeof(struct changing),
	.start = changing_start,
	.on_send = no_send,
	.on_ack = changing_ack,
	.on_cnp = no_cnp,
	.on_loss = no_loss,
	.on_timer = no_cnp,
};

/* Notes when the second packet left: the first but one that is not an ACK. */
struct trace {
	uint32_t requests;
	wf_time second;
};

static bool record(struct rig *rig, struct wf_packet *pkt)
{
	struct trace *t = rig->ctx;

	if (!wf_op_is_ack(pkt->opcode) && ++t->requests == 2)
		t->second = rig->now;
	return true;
}

/*
 * Writes n packets under a plan; *second_p: when the second one left. Returns the requester's
 * timeouts.
 */
static uint64_t run(struct plan *plan, uint32_t n, uint32_t ack_every, wf_time *second_p)
{
	struct wf_qp_tune tune = { .cc = &changing, .cc_param = &plan, .ack_every = ack_every };
	struct trace t = { 0 };
	struct wf_qp_attr attr;
	uint64_t timeouts;
	struct pair p;

	rig_attr_defaults(&attr);
	attr.path_mtu = WF_MTU_256;
	pair_init(&p, &tune, &attr, 0);
	p.rig.filter = record;
	p.rig.ctx = &t;
	pair_post_write(&p, 1, n * 256);
	rig_run(&p.rig);
	expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
	timeouts = wf_hca_counter(p.rig.host[0].hca, WF_CTR_LOCAL_ACK_TIMEOUT_ERR);
	*second_p = t.second;
	pair_fini(&p);
	return timeouts;
}

/* 8 Mb/s: the first of two packets, 334 bytes, takes 334 us; meanwhile the rate changes. */
static void test_repace(void **state)
{
	static const uint64_t rates[] = { 4000000, 80000000 };
	struct plan plain = { .rate = 8000000, .then_rate = 4000000 };
	wf_time second = 0, left;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct plan plan = { .rate = 8000000, .then_rate = rates[i], .repace = true };

		(void)run(&plan, 2, 1, &second);
		assert_true(plan.at > 0 && plan.at < 100 * WF_US);
		left = (334 * WF_US - plan.at) * 8000000 / (wf_time)rates[i];
		assert_in_range(second, plan.at + left - WF_NS, plan.at + left + WF_NS);
	}
	/* Who does not ask for it waits for as long as was said, if the rate falls. */
	(void)run(&plain, 2, 1, &second);
	assert_in_range(second, 334 * WF_US - WF_NS, 334 * WF_US + WF_NS);
}

/*
 * Some 20 packets are out, one in a few asks for an ACK, and the first ACK brings a window of
 * nothing: when those that asked are answered, no timeout is needed to go on.
 */
static void test_shrinking_window(void **state)
{
	(void)state;
	for (uint32_t every = 1; every < 12; every++) {
		struct plan plan = { .window = 100 * 256, .then_window = 1 };
		wf_time second;

		assert_int_equal(run(&plan, 39, every, &second), 0);
		assert_true(plan.at != 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repace),
		cmocka_unit_test(test_shrinking_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
