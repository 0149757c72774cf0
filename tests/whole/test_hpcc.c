/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios: HPCC on queue pairs, with telemetry of every hop and with one code for the busiest. */
/* ctest: tsan=*threads* */
#include "rig.h"

#include "fabric/telemetry.h"
#include "api/api_priv.h"

static const char *const telemetry[] = { "int", "pint" };

static void use_hpcc(struct rig *r, const char *how)
{
	for (size_t i = 0; i < r->flows.n; i++)
		r->flows.flow[i].op = WF_FLOW_WRITE;
	rig_set(r, "switch.telemetry", how);
	rig_set(r, "switch.pint_rtt", "5us");
	rig_cc(r, "cc.algorithm", "hpcc");
	rig_cc(r, "cc.hpcc.base_rtt", "5us");
}

/* Bytes that wait for host 0's port of the only switch. */
static uint64_t queue_of(const struct rig *r)
{
	const struct wf_topo_port *port =
		&r->topo->ports[r->topo->nodes[r->topo->host_node[0]].first_port];
	const struct wf_device *sw = r->sim->net.devices[port->peer];
	uint64_t bytes = 0;

	for (unsigned q = 0; q < sw->n_queues; q++)
		bytes += wf_device_lane(sw, port->peer_port, q)->bytes;
	return bytes;
}

/*
 * 16:1. All begin with a window each, which is 16 round trips of queue; HPCC lets it drain and then
 * keeps it near empty, with the link nearly full. Without, it stands as long as the flows last.
 */
static void incast(const char *rate, const char *how, uint64_t bits, uint64_t packet)
{
	struct wf_err err = { "" };
	wf_time end, last;
	struct rig r;
	uint64_t sum = 0, most = 0, n = 0;

	rig_init(&r, "pfc", "single", 17);
	rig_topo(&r, "host_rate", rate);
	rig_incast(&r, 16, 0, 4000000);
	use_hpcc(&r, how);
	if (rig_build(&r, 1, &err) != 0)
		fail_msg("%s", err.text);
	/* Half of what the flows take at line rate, so that all of them still send. */
	last = (wf_time)(16 * 4000000 * 4 * (uint64_t)WF_US / (bits / 1000000));
	for (wf_time t = 150 * WF_US; t < last; t += WF_US / 2, n++) {
		assert_int_equal(wf_sim_run_until(r.sim, t, &end), 0);
		sum += queue_of(&r);
		most = wf_max_u64(most, queue_of(&r));
	}
	assert_true(n > 100);
	assert_in_range(sum / n, 0, 3 * packet);
	assert_in_range(most, 0, 16 * packet); /* one packet of each */
	rig_again(&r);

	rig_run(&r, 1);
	assert_true(r.result->finished);
	assert_int_equal(r.result->packets_dropped, 0);
	assert_int_equal(rig_queue(&r, 3)->pause_tx, 0);
	assert_true(r.result->last_delivery < 2 * last * 100 / 80);
	rig_fini(&r);
}

static void test_incast(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		incast("100Gbps", telemetry[i], UINT64_C(100000000000), 4200);
		incast("400Gbps", telemetry[i], UINT64_C(400000000000), 4200);
	}
}

/* The telemetry header is on the wire: a flow alone takes as much longer as it has bytes. */
static void test_bytes(void **state)
{
	wf_time took[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct rig r;

		rig_init(&r, "pfc", "single", 2);
		rig_topo(&r, "host_rate", "100Gbps");
		rig_flow(&r, 0, 1, 4096 * 1000, 0, 3);
		use_hpcc(&r, "int");
		/* Nothing but its own utilisation holds it back: aim at all of it. */
		rig_cc(&r, "cc.hpcc.eta", "1");
		rig_cc(&r, "cc.hpcc.window", "1MB");
		rig_cc(&r, "cc.hpcc.min_rate", "100Gbps");
		if (i == 1)
			rig_cc(&r, "cc.algorithm", "none");
		rig_run(&r, 1);
		took[i] = wf_sim_flow_end(r.sim, 0);
		rig_fini(&r);
	}
	/* 42 B of each of 1000 packets, 80 ps a byte; and once more behind the switch. */
	assert_in_range(took[0] - took[1], 42 * 80 * 999, 42 * 80 * 1002);
}

static void add_all(struct rig *r, unsigned n)
{
	rig_incast(r, 8, 3, 500000);
	rig_shift(r, n, 7, 300000);
}

static void test_threads(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct rig r;

		rig_init(&r, "pfc", "fat-tree", 16);
		add_all(&r, 16);
		use_hpcc(&r, telemetry[i]);
		rig_same(&r);
		assert_true(r.result->finished);
		rig_fini(&r);
	}
}

/* Records of lost packets are used again; in the end all are free. */
static void test_losses(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "leaf-spine", 16);
	rig_set(&r, "link.ber", "1e-7");
	rig_set(&r, "sender.timeout", "100us");
	rig_shift(&r, 16, 9, 2000000);
	use_hpcc(&r, "int");
	rig_run(&r, 1);
	assert_true(r.result->finished);
	assert_true(r.result->packets_dropped > 100);
	rig_drain(&r);
	assert_int_equal(wf_store_in_use(r.sim->net.shards[0]->records), 0);
	assert_in_range(wf_store_made(r.sim->net.shards[0]->records), 1, 3000);
	rig_fini(&r);
}

#define PAIRS 8

/* Queue pairs of host 0 with host 1, with HPCC; each sends one large message. */
static struct weft_fabric *talk(struct weft_qp *qps[PAIRS], unsigned char *memory, uint32_t bytes)
{
	static const char *const set[] = { "fabric.cc.algorithm=hpcc", "topology.host_rate=100Gbps",
		                           NULL };
	const struct weft_fabric_attr attr = { .profile = "roce-100g", .hosts = 2, .set = set };
	struct weft_adapter *a[2];
	struct weft_fabric *f;
	struct weft_cq *cq[2];
	struct weft_mr *mr[2];
	char error[512] = "";

	if (weft_fabric_create(&attr, error, sizeof(error), &f) != 0)
		fail_msg("%s", error);
	for (unsigned i = 0; i < 2; i++) {
		a[i] = weft_adapter_open(f, i);
		assert_int_equal(weft_cq_create(a[i], 64, &cq[i]), 0);
		assert_int_equal(weft_mr_create(a[i], memory, bytes, WEFT_ALL_ACCESS, &mr[i]), 0);
	}
	for (unsigned i = 0; i < PAIRS; i++) {
		struct weft_sge sge = { (uintptr_t)memory, bytes / 2, weft_mr_lkey(mr[0]) };
		struct weft_send wr = {
			.opcode = WEFT_WRITE,
			.sge = &sge,
			.n_sge = 1,
			.remote_addr = (uintptr_t)memory + bytes / 2,
			.rkey = weft_mr_rkey(mr[1]),
		};
		struct weft_qp_attr qp_attr = { .send_cq = cq[0], .recv_cq = cq[0] };
		struct weft_qp *qp;

		assert_int_equal(weft_qp_create(a[0], &qp_attr, &qp), 0);
		qp_attr.send_cq = qp_attr.recv_cq = cq[1];
		assert_int_equal(weft_qp_create(a[1], &qp_attr, &qps[i]), 0);
		assert_int_equal(weft_qp_connect(qp, qps[i], NULL), 0);
		assert_int_equal(weft_post_send(qp, &wr), 0);
	}
	return f;
}

/*
 * A receiver whose acknowledgements are paused keeps a record for each queue pair; whether these
 * are destroyed or reset meanwhile, the records are free at once, and in the end all are.
 */
static void test_records_of_queue_pairs_that_end(void **state)
{
	static unsigned char memory[2 << 20];
	struct weft_qp *qps[PAIRS];
	struct weft_fabric *f = talk(qps, memory, sizeof(memory));
	const struct wf_store *records = f->sim->net.shards[0]->records;
	uint64_t before;

	(void)state;
	assert_int_equal(weft_run(f, 20 * WF_US), 0);
	rig_pause(f->sim, 1, 3, UINT16_MAX); /* 335 us */
	assert_int_equal(weft_run(f, 100 * WF_US), 0);
	before = wf_store_in_use(records);
	assert_true(before >= PAIRS);
	for (unsigned i = 0; i < PAIRS; i++) {
		if (i % 2 == 0)
			weft_qp_destroy(qps[i]);
		else
			assert_int_equal(weft_qp_reset(qps[i]), 0);
	}
	assert_int_equal(before - wf_store_in_use(records), PAIRS);
	assert_int_equal(weft_run(f, WEFT_FOREVER), 0);
	assert_int_equal(wf_store_in_use(records), 0);
	weft_fabric_destroy(f);
}

/* What does not go together is refused. */
static void test_refused(void **state)
{
	struct wf_err err = { "" };
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "single", 2);
	rig_flow(&r, 0, 1, 1000, 0, 3);
	use_hpcc(&r, "none");
	assert_int_not_equal(rig_build(&r, 1, &err), 0);
	assert_non_null(strstr(err.text, "switch.telemetry"));
	rig_fini(&r);
}

/* Bytes of packets are as they are, with telemetry left out. */
static void test_wire(void **state)
{
	struct wf_err err = { "" };
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "single", 4);
	rig_shift(&r, 4, 1, 100000);
	use_hpcc(&r, "auto");
	if (rig_build(&r, 1, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(wf_sim_check_wire(r.sim), 0);
	assert_int_equal(wf_sim_run(r.sim, NULL, NULL), 0);
	assert_int_equal(wf_sim_wire_result(r.sim, &err), 0);
	assert_true(wf_sim_wire_checked(r.sim) > 100);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_incast),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_records_of_queue_pairs_that_end),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_wire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
