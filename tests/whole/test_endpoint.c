/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios: a host's port. Which queue sends next, and when a program sees what came. */
/* ctest: tsan */
#include "rig.h"

#include <errno.h>
#include <stdint.h>

#include "weft/weft.h"

#define BYTES 8000000u

/* ---- which queue sends next ---- */

/*
 * Two flows of the same size from one host to another, class a and class b. Returns when a's is
 * over, in thousandths of when b's is. With a share of s until then, that is (1 / s) / 2 of the
 * time of both.
 */
static uint64_t race(struct rig *r, enum wf_flow_op op, uint8_t a, uint8_t b)
{
	wf_time end_a, end_b;

	/* Whoever is named first would win with queues that go by their number. */
	rig_flow(r, 0, 1, BYTES, 0, b);
	rig_flow(r, 0, 1, BYTES, 0, a);
	for (size_t i = 0; i < r->flows.n; i++)
		r->flows.flow[i].op = (uint8_t)op;
	rig_run(r, 1);
	assert_true(r->result->finished);
	end_b = wf_sim_flow_end(r->sim, 0);
	end_a = wf_sim_flow_end(r->sim, 1);
	rig_fini(r);
	return (uint64_t)(end_a * 1000 / end_b);
}

/* Ethernet: by weight among classes, and strict classes before all others (802.1Qaz). */
static void test_ets_at_the_host(void **state)
{
	static const enum wf_flow_op ops[] = { WF_FLOW_WINDOW, WF_FLOW_WRITE };
	struct rig r;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(ops); i++) {
		rig_init(&r, "pfc", "single", 2);
		rig_set(&r, "classes.weights", "0:25,3:75");
		assert_in_range(race(&r, ops[i], 3, 0), 656, 676); /* (1 / 0.75) / 2 */
		rig_init(&r, "pfc", "single", 2);
		rig_set(&r, "classes.weights", "0:75,3:25");
		assert_in_range(race(&r, ops[i], 0, 3), 656, 676);
		rig_init(&r, "pfc", "single", 2);
		rig_set(&r, "classes.strict", "6");
		assert_in_range(race(&r, ops[i], 6, 3), 490, 510); /* (1 / 1) / 2 */
	}
}

/* InfiniBand: by the weights of the low table. */
static void test_vl_arbitration_at_the_host(void **state)
{
	static const enum wf_flow_op ops[] = { WF_FLOW_WINDOW, WF_FLOW_WRITE };
	struct rig r;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(ops); i++) {
		rig_init(&r, "credit", "single", 2);
		rig_set(&r, "vl.arb_high", "");
		rig_set(&r, "vl.count", "2");
		rig_set(&r, "vl.arb_low", "0:64,1:192");
		assert_in_range(race(&r, ops[i], 1, 0), 646, 686);
	}
}

/* ---- what waits is looked at again ---- */

static struct wf_endpoint *host_0(const struct rig *r)
{
	return wf_endpoint_of_device(wf_network_host(&r->sim->net, 0));
}

static void build(struct rig *r)
{
	struct wf_err err = { "" };

	for (size_t i = 0; i < r->flows.n; i++)
		r->flows.flow[i].op = WF_FLOW_WRITE;
	if (rig_build(r, 1, &err) != 0)
		fail_msg("%s", err.text);
}

/* Goes on for a moment. */
static void step(struct rig *r, wf_time give_up)
{
	wf_time to = wf_sim_now(r->sim) + 100 * WF_NS, end;

	assert_true(to < give_up);
	assert_int_equal(wf_sim_run_until(r->sim, to, &end), 0);
	wf_sim_rest(r->sim, to);
}

/* All flows end well, before at. */
static void finish(struct rig *r, wf_time at)
{
	wf_time end;

	assert_int_equal(wf_sim_run_until(r->sim, WF_S, &end), 0);
	rig_result(r);
	assert_true(r->result->finished);
	assert_int_equal(r->result->flows_failed, 0);
	for (size_t i = 0; i < r->flows.n; i++)
		assert_true(wf_sim_flow_end(r->sim, i) < at);
	rig_fini(r);
}

/*
 * A pause runs out, and nobody says so, after the port has sent link control of its own: a storm
 * began and ended. What waited goes on when the pause is over.
 */
static void test_link_control_before_a_pause_runs_out(void **state)
{
	struct wf_endpoint *ep;
	wf_time end;
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "single", 2);
	rig_topo(&r, "host_rate", "100Gbps");
	rig_flow(&r, 0, 1, 4000000, 0, 3);
	build(&r);
	ep = host_0(&r);
	assert_int_equal(wf_sim_run_until(r.sim, 50 * WF_US, &end), 0);
	rig_pause(r.sim, 0, 3, 4000); /* 20.5 us */
	while (ep->waiting == 0)
		step(&r, 60 * WF_US);
	for (unsigned i = 1; i <= 2; i++) {
		wf_endpoint_storm(ep, i == 1, wf_sim_now(r.sim));
		while (wf_endpoint_port(ep)->control_packets != i)
			step(&r, 60 * WF_US);
	}
	assert_true(ep->waiting != 0);
	/* 977 packets of 4174 B at 80 ps/B are 326 us. */
	finish(&r, 360 * WF_US);
}

/*
 * A class, of which one packet is left, is let go while PCIe, slower than the link, still brings
 * the payload of another class's packet: it leaves when PCIe is idle.
 */
static void test_let_go_while_pcie_is_busy(void **state)
{
	const struct wf_lane *other;
	struct wf_endpoint *ep;
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "single", 3);
	rig_topo(&r, "host_rate", "100Gbps");
	rig_set(&r, "nic.pcie", "1Gbps");
	rig_flow(&r, 0, 1, 4096, 10 * WF_US, 3);
	rig_flow(&r, 0, 2, 4096, 50 * WF_US, 0);
	build(&r);
	ep = host_0(&r);
	rig_pause(r.sim, 0, 3, UINT16_MAX); /* 335 us */
	while (ep->waiting == 0)
		step(&r, 20 * WF_US);
	other = wf_device_lane(&ep->dev, 0, wf_fabric_queue(&ep->dev, 0));
	while (other->tx_packets == 0)
		step(&r, 60 * WF_US);
	assert_true(ep->waiting != 0);
	rig_pause(r.sim, 0, 3, 0);
	/* PCIe takes 32.8 us for each, and as long at the receiver; the rest is less than 5. */
	finish(&r, (51 + 33 + 33 + 5) * WF_US);
}

/* ---- when a program sees what came ---- */

#define QUEUES 20

static bool refused; /* callbacks post to the senders' queue pairs */

struct receiver {
	struct weft_cq *cq[QUEUES];
	struct weft_qp *qp[QUEUES];
	weft_time at[QUEUES];
	unsigned n;
	int destroy; /* the number of a queue that the first callback destroys; -1: none */
	bool one;    /* all have one completion queue */
	struct weft_qp
		*other; /* a queue pair of another host, to which a callback posts; or NULL */
};

struct watched {
	struct receiver *r;
	unsigned number;
};

static void on_receive(void *arg, const struct weft_wc *wc)
{
	struct watched *w = arg;
	struct receiver *r = w->r;
	int victim = r->destroy;

	assert_int_equal(wc->status, WEFT_SUCCESS);
	r->at[r->one ? r->n : w->number] = wc->time;
	r->n++;
	if (r->other != NULL) {
		const struct weft_send send = { .opcode = WEFT_SEND };

		assert_int_equal(weft_post_send(r->other, &send), -EINVAL);
	}
	if (victim < 0)
		return;
	r->destroy = -1;
	weft_qp_destroy(r->qp[victim]);
	assert_int_equal(weft_cq_destroy(r->cq[victim]), 0);
}

static void send_one(struct weft_fabric *f, struct receiver *r, struct watched *w, unsigned i,
                     unsigned char *memory, const struct weft_mr *to)
{
	struct weft_adapter *a = weft_adapter_open(f, i + 1);
	struct weft_sge from = { (uintptr_t)memory, 65536, 0 };
	struct weft_sge into = { (uintptr_t)memory, 65536, weft_mr_lkey(to) };
	struct weft_recv recv = { .sge = &into, .n_sge = 1 };
	struct weft_send send = { .opcode = WEFT_SEND, .sge = &from, .n_sge = 1 };
	struct weft_qp_attr attr = { 0 };
	struct weft_cq *cq;
	struct weft_mr *mr;
	struct weft_qp *qp;

	/* With one queue for all it is the order of completions that gives the number. */
	w->r = r;
	w->number = i;
	assert_int_equal(weft_mr_create(a, memory, 65536, WEFT_LOCAL_WRITE, &mr), 0);
	assert_int_equal(weft_cq_create(a, 16, &cq), 0);
	if (i > 0 && r->one)
		r->cq[i] = r->cq[0];
	else
		assert_int_equal(weft_cq_create(weft_adapter_open(f, 0), 2 * QUEUES, &r->cq[i]), 0);
	if (i == 0 || !r->one)
		weft_cq_on_completion(r->cq[i], on_receive, w);
	attr.send_cq = attr.recv_cq = cq;
	assert_int_equal(weft_qp_create(a, &attr, &qp), 0);
	attr.send_cq = attr.recv_cq = r->cq[i];
	assert_int_equal(weft_qp_create(weft_adapter_open(f, 0), &attr, &r->qp[i]), 0);
	assert_int_equal(weft_qp_connect(qp, r->qp[i], NULL), 0);
	if (refused)
		r->other = qp;
	from.lkey = weft_mr_lkey(mr);
	assert_int_equal(weft_post_recv(r->qp[i], &recv), 0);
	assert_int_equal(weft_post_send(qp, &send), 0);
}

/* n senders to one host whose PCIe is four times as slow as its link, a completion queue each. */
static void receive(struct receiver *r, unsigned n, int destroy, bool one)
{
	static const char *const set[] = { "fabric.nic.pcie=100Gbps", NULL };
	const struct weft_fabric_attr attr = { .profile = "ib-ndr", .hosts = n + 1, .set = set };
	static unsigned char memory[65536];
	struct watched w[QUEUES];
	struct weft_fabric *f;
	char error[512] = "";
	struct weft_mr *mr;

	memset(r, 0, sizeof(*r));
	r->destroy = destroy;
	r->one = one;
	if (weft_fabric_create(&attr, error, sizeof(error), &f) != 0)
		fail_msg("%s", error);
	assert_int_equal(weft_mr_create(weft_adapter_open(f, 0), memory, sizeof(memory),
	                                WEFT_LOCAL_WRITE, &mr),
	                 0);
	for (unsigned i = 0; i < n; i++)
		send_one(f, r, &w[i], i, memory, mr);
	assert_int_equal(weft_run(f, WEFT_FOREVER), 0);
	weft_fabric_destroy(f);
}

/*
 * The last packets of the messages come in one after the other, faster than PCIe takes them to
 * memory: programs see each 4096 B * 80 ps/B after the one before.
 */
static void test_each_queue_is_seen_in_its_time(void **state)
{
	struct receiver r;

	(void)state;
	receive(&r, 4, -1, false);
	assert_int_equal(r.n, 4);
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(r.at[i] - r.at[i - 1], 4096 * 80);
	/* More than one would think of: none waits for another's sake. */
	receive(&r, QUEUES, -1, false);
	assert_int_equal(r.n, QUEUES);
	for (unsigned i = 1; i < QUEUES; i++)
		assert_int_equal(r.at[i] - r.at[i - 1], 4096 * 80);
}

/* A callback may destroy a queue whose completion is in memory, but not seen. */
static void test_a_queue_that_is_gone_is_not_seen(void **state)
{
	struct receiver r;

	(void)state;
	receive(&r, 4, 2, false);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.at[2], 0);
}

/* The same of completions in one queue: each is seen in its own time. */
static void test_each_completion_is_seen_in_its_time(void **state)
{
	struct receiver r;

	(void)state;
	receive(&r, QUEUES, -1, true);
	assert_int_equal(r.n, QUEUES);
	for (unsigned i = 1; i < QUEUES; i++)
		assert_int_equal(r.at[i] - r.at[i - 1], 4096 * 80);
}

/* A callback may destroy the queue for which it was called. */
static void test_a_queue_is_destroyed_by_its_own_callback(void **state)
{
	struct receiver r;

	(void)state;
	receive(&r, 4, 0, false);
	assert_int_equal(r.n, 4);
}

/*
 * What a callback of one host posts to another's queue pair is refused, and is not lost in silence.
 */
static void test_another_hosts_queue_pair_is_refused(void **state)
{
	struct receiver r;

	(void)state;
	refused = true;
	receive(&r, 2, -1, false);
	refused = false;
	assert_int_equal(r.n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ets_at_the_host),
		cmocka_unit_test(test_vl_arbitration_at_the_host),
		cmocka_unit_test(test_link_control_before_a_pause_runs_out),
		cmocka_unit_test(test_let_go_while_pcie_is_busy),
		cmocka_unit_test(test_each_queue_is_seen_in_its_time),
		cmocka_unit_test(test_each_completion_is_seen_in_its_time),
		cmocka_unit_test(test_a_queue_that_is_gone_is_not_seen),
		cmocka_unit_test(test_a_queue_is_destroyed_by_its_own_callback),
		cmocka_unit_test(test_another_hosts_queue_pair_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
