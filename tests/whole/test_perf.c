/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios: weft perf on the profiles that ship: what must hold of latency and bandwidth. */
/* ctest: tsan=*threads* */
#include "rig.h"

#include <errno.h>
#include <stdlib.h>

#include "study/perf.h"

#define MAX_CHANGES 4
#define BYTE_400G 20 /* ps of a byte at 400 Gb/s */

/* A measurement in a few lines: perf_init(), perf_set(), perf_run(). */
struct perf {
	struct wf_perf_plan plan;
	struct wf_perf_report *report;
	struct wf_paths *paths;
	struct wf_override change[MAX_CHANGES];
};

static void perf_init(struct perf *p, enum wf_perf_op op, const char *fabrics, const char *sizes)
{
	struct wf_err err = { "" };
	char dir[512];

	memset(p, 0, sizeof(*p));
	p->plan = (struct wf_perf_plan){
		.op = op,
		.latency = true,
		.qps = 1,
		.depth = 128,
		.cls = 3,
		.seed = WF_PERF_SEED,
		.topology = "single",
		.fabrics = fabrics,
		.overrides = p->change,
	};
	p->report = calloc(1, sizeof(*p->report));
	p->paths = calloc(1, sizeof(*p->paths));
	assert_non_null(p->report);
	assert_non_null(p->paths);
	assert_non_null(getenv("WEFT_SOURCE_DIR"));
	snprintf(dir, sizeof(dir), "%s/profiles", getenv("WEFT_SOURCE_DIR"));
	assert_int_equal(wf_paths_init(p->paths, dir, &err), 0);
	p->plan.paths = p->paths;
	assert_int_equal(wf_perf_sizes_parse(sizes, &p->plan, &err), 0);
}

static void perf_set(struct perf *p, const char *name, const char *value)
{
	assert_true(p->plan.n_overrides < MAX_CHANGES);
	p->change[p->plan.n_overrides++] =
		(struct wf_override){ .where = "test", .name = name, .value = value };
}

static const struct wf_perf_row *perf_run(struct perf *p)
{
	struct wf_err err = { "" };

	if (wf_perf_measure(&p->plan, p->report, &err) != 0)
		fail_msg("%s", err.text);
	return p->report->block[0].row;
}

static void perf_fini(struct perf *p)
{
	free(p->report);
	free(p->paths);
}

/* The latency of a message of 8 bytes with one parameter changed; NULL: none. */
static wf_time latency(const char *fabric, enum wf_perf_op op, const char *topology,
                       const char *name, const char *value)
{
	struct wf_perf_latency l;
	struct perf p;

	perf_init(&p, op, fabric, "8");
	p.plan.iters = 20;
	p.plan.topology = topology;
	if (name != NULL)
		perf_set(&p, name, value);
	l = perf_run(&p)->latency;
	perf_fini(&p);
	assert_int_equal(l.n, 20);
	assert_int_equal(l.min, l.max);
	assert_int_equal(l.typical, l.mean);
	assert_int_equal(l.stdev, 0);
	return l.mean;
}

static void test_small_write_latency(void **state)
{
	wf_time ib = latency("ib-ndr", WF_PERF_WRITE, "single", NULL, NULL);
	wf_time roce = latency("roce-400g", WF_PERF_WRITE, "single", NULL, NULL);

	(void)state;
	assert_in_range(ib, 900 * WF_NS, 1100 * WF_NS);
	assert_in_range(roce, 1500 * WF_NS, 2000 * WF_NS);
}

/*
 * Every nanosecond of an 8-byte WRITE and READ over one switch, as docs/validation.md lists them.
 */
static void test_latency_adds_up(void **state)
{
	/* Two links of 3 m, 5 ns each, and their PHYs; the switch. */
	const wf_time way = 2 * (15 + 120) * WF_NS + 130 * WF_NS;
	/* 8 bytes over PCIe at 440 Gb/s: 18.18 ps a byte. */
	const wf_time pcie = 145;
	/* LRH 8, BTH 12, RETH 16, payload 8, ICRC 4, VCRC 2, at the host and at the switch. */
	const wf_time write = 2 * 50 * BYTE_400G;
	/* The request has no payload, the response an AETH of 4 instead of the RETH. */
	const wf_time read = 2 * (42 + 38) * BYTE_400G;

	(void)state;
	assert_int_equal(latency("ib-ndr", WF_PERF_WRITE, "single", NULL, NULL),
	                 (150 + 150 + 300) * WF_NS + way + write + pcie);
	assert_int_equal(latency("ib-ndr", WF_PERF_READ, "single", NULL, NULL),
	                 (150 + 150 + 300 + 450 + 300) * WF_NS + 2 * way + read + pcie);
}

/* Each parameter moves the latency by as much as it grows, times how often it is passed. */
static void test_each_parameter_counts(void **state)
{
	static const struct {
		const char *name, *from, *to; /* 100 ns apart */
		int write, read;              /* how often */
		int write3;                   /* the same over three switches */
	} rows[] = {
		{ "fabric.nic.doorbell", "150ns", "250ns", 1, 1, 1 },
		{ "fabric.nic.tx", "150ns", "250ns", 1, 1, 1 },
		{ "fabric.nic.rx", "300ns", "400ns", 1, 2, 1 },
		{ "fabric.nic.fetch", "450ns", "550ns", 0, 1, 0 },
		{ "fabric.link.phy", "120ns", "220ns", 2, 4, 4 },
		{ "fabric.switch.latency", "130ns", "230ns", 1, 2, 3 },
		{ "topology.cable.host", "3m", "23m", 2, 4, 2 },
	};
	static const char *const fabrics[] = { "ib-ndr", "roce-400g" };

	(void)state;
	for (unsigned f = 0; f < WF_ARRAY_SIZE(fabrics); f++) {
		for (unsigned i = 0; i < WF_ARRAY_SIZE(rows); i++) {
			wf_time moved[3];

			for (unsigned k = 0; k < 3; k++) {
				enum wf_perf_op op = k == 1 ? WF_PERF_READ : WF_PERF_WRITE;
				const char *kind = k == 2 ? "leaf-spine" : "single";

				moved[k] =
					latency(fabrics[f], op, kind, rows[i].name, rows[i].to) -
					latency(fabrics[f], op, kind, rows[i].name, rows[i].from);
			}
			assert_int_equal(moved[0], rows[i].write * 100 * WF_NS);
			assert_int_equal(moved[1], rows[i].read * 100 * WF_NS);
			assert_int_equal(moved[2], rows[i].write3 * 100 * WF_NS);
		}
	}
}

/* Data that does not come with the doorbell is fetched. */
static void test_inline_saves_the_fetch(void **state)
{
	(void)state;
	assert_int_equal(latency("ib-ndr", WF_PERF_WRITE, "single", "fabric.nic.inline", "0B") -
	                         latency("ib-ndr", WF_PERF_WRITE, "single", NULL, NULL),
	                 450 * WF_NS);
}

/* Ping-pongs cost the same whoever tells of the message; whole operations cost twice the way. */
static void test_operations_compare(void **state)
{
	wf_time t[WF_PERF_OPS];

	(void)state;
	for (enum wf_perf_op op = 0; op < WF_PERF_OPS; op++)
		t[op] = latency("roce-400g", op, "single", NULL, NULL);
	/*
	 * An immediate is 4 bytes more; a SEND has no RETH of 16. They count once: the switch sends
	 * on after 64 bytes, and the packets have more.
	 */
	assert_int_equal(t[WF_PERF_WRITE_IMM] - t[WF_PERF_WRITE], 4 * BYTE_400G);
	assert_int_equal(t[WF_PERF_WRITE] - t[WF_PERF_SEND], 16 * BYTE_400G);
	assert_int_equal(t[WF_PERF_CAS], t[WF_PERF_FADD]);
	assert_true(t[WF_PERF_READ] > 2 * t[WF_PERF_WRITE]);
}

/* 8 MiB: at least 97 % of what the headers leave of 400 Gb/s. */
static void test_large_writes_fill_the_link(void **state)
{
	/* Headers of a packet in the middle, and the gap. */
	static const struct {
		const char *fabric;
		uint64_t header;
	} rows[] = { { "ib-ndr", 26 }, { "roce-400g", 62 + 20 } };

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		uint64_t most = UINT64_C(400000000000) * 4096 / (4096 + rows[i].header);
		const struct wf_perf_bandwidth *b;
		struct perf p;

		perf_init(&p, WF_PERF_WRITE, rows[i].fabric, "8M");
		p.plan.latency = false;
		p.plan.bandwidth = true;
		b = &perf_run(&p)->bandwidth;
		assert_int_equal(b->bytes, b->messages << 23);
		assert_in_range(b->average, most / 100 * 97, most);
		assert_in_range(b->peak, b->average, most);
		p.plan.both_ways = true;
		b = &perf_run(&p)->bandwidth;
		assert_in_range(b->average, 2 * (most / 100 * 97), 2 * most);
		perf_fini(&p);
	}
}

/*
 * Messages per second of 8-byte writes: so many of a queue pair, as many times as there are queue
 * pairs, and not more than the adapter begins; a queue pair of 100,000 messages of 64 KiB, 52 Gb/s,
 * that could be twice as fast.
 */
static void test_message_rate(void **state)
{
	static const struct {
		const char *qp, *all;
		uint32_t qps;
		uint64_t rate;
	} rows[] = {
		{ "1000000", "auto", 1, 1000000 },
		{ "1000000", "auto", 4, 4000000 },
		{ "auto", "2500000", 1, 2500000 },
		{ "1000000", "2500000", 4, 2500000 },
	};
	const struct wf_perf_bandwidth *b;
	struct perf p;

	(void)state;
	for (size_t i = 0; i <= WF_ARRAY_SIZE(rows); i++) {
		bool large = i == WF_ARRAY_SIZE(rows);
		uint64_t want = large ? UINT64_C(100000) << 19 : rows[i].rate * 64;

		perf_init(&p, WF_PERF_WRITE, "roce-400g", large ? "64K" : "8");
		perf_set(&p, "fabric.nic.qp_messages", large ? "100000" : rows[i].qp);
		perf_set(&p, "fabric.nic.messages", large ? "auto" : rows[i].all);
		p.plan.latency = false;
		p.plan.bandwidth = true;
		p.plan.qps = large ? 1 : rows[i].qps;
		p.plan.iters = 1000;
		b = &perf_run(&p)->bandwidth;
		assert_in_range(b->average, want * 99 / 100, want * 101 / 100);
		perf_fini(&p);
	}
}

/*
 * Every operation in both tests and both ways over every profile of 400 Gb/s; and twice the same.
 */
static void test_everything_runs_and_repeats(void **state)
{
	(void)state;
	for (enum wf_perf_op op = 0; op < WF_PERF_OPS; op++) {
		struct wf_perf_block *first = calloc(WF_PERF_MAX_FABRICS, sizeof(*first));
		struct perf p;

		assert_non_null(first);
		perf_init(&p, op, "ib-ndr,ib-ndr-static,roce-400g,roce-400g-lossy,roce-400g-spray",
		          wf_perf_op_is_atomic(op) ? "8" : "1,8,5000,65536");
		p.plan.bandwidth = p.plan.both_ways = true;
		p.plan.topology = "fat-tree";
		p.plan.qps = 3;
		p.plan.depth = 5;
		p.plan.iters = 100;
		(void)perf_run(&p);
		assert_int_equal(p.report->n, 5);
		assert_int_equal(p.report->switches, 5);
		memcpy(first, p.report->block, sizeof(p.report->block));
		(void)perf_run(&p);
		for (unsigned f = 0; f < p.report->n; f++) {
			for (unsigned i = 0; i < p.plan.n_sizes; i++) {
				const struct wf_perf_row *row = &p.report->block[f].row[i];

				assert_int_equal(row->latency.n, 100);
				assert_int_equal(row->bandwidth.messages, 200);
				assert_true(row->bandwidth.average > 0);
				/* The peaks of two sides are rounded down each. */
				assert_true(row->bandwidth.peak + 1 >= row->bandwidth.average);
				assert_memory_equal(row, &first[f].row[i], sizeof(*row));
			}
		}
		free(first);
		perf_fini(&p);
	}
}

/* The same figures on any number of threads. */
static void test_same_on_threads(void **state)
{
	static const unsigned threads[] = { 1, 2, 4 };
	struct wf_perf_bandwidth first = { 0 };
	struct wf_err err = { "" };
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "fat-tree", 16);
	rig_set(&r, "link.ber", "1e-8");
	rig_set(&r, "sender.timeout", "100us");
	assert_int_equal(
		wf_topo_find("fat-tree")
			->build(&r.topo_cfg, NULL, 0, "test", wf_mem_heap(), &r.topo, &err),
		0);
	for (unsigned i = 0; i < WF_ARRAY_SIZE(threads); i++) {
		const struct wf_perf_cfg cfg = {
			.op = WF_PERF_SEND,
			.bandwidth = true,
			.both_ways = true,
			.client = 1,
			.server = 14,
			.size = 20000,
			.iters = 300,
			.qps = 2,
			.depth = 8,
			.cls = 3,
		};
		struct wf_sim_app app;
		const struct wf_sim_cfg sim_cfg = {
			.topo = r.topo,
			.fabric = &r.fabric,
			.app = &app,
			.until = WF_S,
			.seed = 1,
			.threads = threads[i],
		};
		struct wf_perf_bandwidth b = { 0 };
		struct wf_perf *perf;

		assert_int_equal(wf_perf_create(&cfg, &perf, &err), 0);
		wf_perf_app(perf, &app);
		assert_int_equal(wf_sim_create(&sim_cfg, &r.sim, &err), 0);
		assert_int_equal(wf_sim_run(r.sim, NULL, NULL), 0);
		rig_result(&r);
		assert_true(r.result->finished);
		assert_true(r.result->packets_dropped > 0);
		assert_int_equal(wf_perf_bandwidth(perf, &b, &err), 0);
		if (i == 0)
			first = b;
		assert_memory_equal(&b, &first, sizeof(b));
		rig_again(&r);
		wf_perf_destroy(perf);
	}
	rig_fini(&r);
}

/* A link that loses everything: the queue pair gives up, and the measurement says so. */
static void test_failure_is_told(void **state)
{
	struct wf_err err = { "" };
	struct perf p;

	(void)state;
	perf_init(&p, WF_PERF_WRITE, "roce-400g", "1M");
	perf_set(&p, "fabric.link.ber", "1e-3");
	perf_set(&p, "fabric.sender.timeout", "10us");
	assert_int_equal(wf_perf_measure(&p.plan, p.report, &err), -EIO);
	assert_non_null(strstr(err.text, "roce-400g, 1048576 bytes: the client's queue pair failed "
	                                 "after 0 of 32 messages"));
	perf_fini(&p);
}

static void test_plans_that_cannot_be(void **state)
{
	static const struct {
		struct wf_perf_cfg cfg;
		const char *says;
	} rows[] = {
		{ { .client = 1, .server = 1 }, "same host" },
		{ { .server = 1, .size = 0 }, "1 to 1073741824 bytes" },
		{ { .server = 1, .op = WF_PERF_CAS, .size = 16 }, "cas is always of 8 bytes" },
		{ { .server = 1, .size = 8, .qps = 1, .depth = 1 }, "iterations" },
		{ { .server = 1, .size = 8, .iters = 1, .qps = 1024, .depth = 16384 }, "messages" },
	};

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		struct wf_err err = { "" };
		struct wf_perf *perf;

		assert_int_equal(wf_perf_create(&rows[i].cfg, &perf, &err), -EINVAL);
		assert_non_null(strstr(err.text, rows[i].says));
	}
	wf_perf_destroy(NULL);
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		unsigned n;
		uint64_t first, last;
	} good[] = {
		{ "2..8M", 23, 2, 8388608 },   { "8", 1, 8, 8 },
		{ "2,64,4K", 3, 2, 4096 },     { "3..13", 3, 3, 12 },
		{ "1g", 1, 1 << 30, 1 << 30 }, { "1,2..4,1k", 4, 1, 1024 },
	};
	static const char *const bad[] = { "",    "0",   "x",    "-1",
		                           "2G",  "2..", "4..2", "2,",
		                           "2;4", "1K2", "2.4",  "99999999999999999999",
		                           " 2" };
	struct wf_perf_plan plan;

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(good); i++) {
		struct wf_err err = { "" };

		assert_int_equal(wf_perf_sizes_parse(good[i].text, &plan, &err), 0);
		assert_int_equal(plan.n_sizes, good[i].n);
		assert_int_equal(plan.sizes[0], good[i].first);
		assert_int_equal(plan.sizes[plan.n_sizes - 1], good[i].last);
	}
	for (unsigned i = 0; i < WF_ARRAY_SIZE(bad); i++) {
		struct wf_err err = { "" };

		assert_int_equal(wf_perf_sizes_parse(bad[i], &plan, &err), -EINVAL);
		assert_true(err.text[0] != '\0');
	}
}

static void test_operations_have_names(void **state)
{
	(void)state;
	for (enum wf_perf_op op = 0; op < WF_PERF_OPS; op++)
		assert_int_equal(wf_perf_op_find(wf_perf_op_name(op)), op);
	assert_int_equal(wf_perf_op_find("wrte"), WF_PERF_OPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_write_latency),
		cmocka_unit_test(test_latency_adds_up),
		cmocka_unit_test(test_each_parameter_counts),
		cmocka_unit_test(test_inline_saves_the_fetch),
		cmocka_unit_test(test_operations_compare),
		cmocka_unit_test(test_large_writes_fill_the_link),
		cmocka_unit_test(test_message_rate),
		cmocka_unit_test(test_everything_runs_and_repeats),
		cmocka_unit_test(test_same_on_threads),
		cmocka_unit_test(test_failure_is_told),
		cmocka_unit_test(test_plans_that_cannot_be),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_operations_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
