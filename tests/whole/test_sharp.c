/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios: reductions in switches take what a hand calculation says, to the picosecond on an idle
 * tree and at the line's rate for much data; with limits, with failures, the same on any threads.
 * That everybody is in each result, once, is asserted where results come in (sim/host/reduce.c).
 */
/* ctest: tsan=*threads* */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/run.h"
#include "scenario/scenario.h"

#define TEXT 1024

/* 64 hosts, 16 at each of four leaves, two spines; 400 Gb/s is 20 ps a byte. */
#define TREE                                                                                       \
	"kind: leaf-spine, hosts: 64, radix: 32, host_rate: 400Gbps, "                             \
	"cable: {host: 2m, fabric: 20m, delay: 5ns}"
#define SETTINGS                                                                                   \
	"link: {phy: 120ns}, nic: {doorbell: 150ns, tx: 150ns, fetch: 450ns, inline: 220B, "       \
	"pcie: 400Gbps, rx: 300ns}"
#define CUT "}, switch: {latency: 130ns, cut_through: true"
#define STORE "}, switch: {latency: 130ns, cut_through: false"
/* No GPUs, no proxy: what is left is the network's and the adapter's. */
#define BARE                                                                                       \
	"gpus_per_server: 1, collnet: true, algorithm: collnet-chain, launch: 0, net.collnet: 0"

#define HEADERS (26 + 16)               /* LRH, BTH, ICRC, VCRC; the reduction's own */
#define UP_1 ((10 + 120 + 130) * WF_NS) /* host to leaf: cable, PHY, the switch's pipeline */
#define UP_2 ((100 + 120 + 130) * WF_NS)
#define DOWN_1 ((10 + 120 + 300) * WF_NS)
#define POST (300 * WF_NS)
#define FETCH (450 * WF_NS)

static struct wf_paths paths;

static int setup(void **state)
{
	(void)state;
	return wf_paths_init(&paths, NULL, NULL);
}

/* Runs a job; returns the scenario, whose the run's fabric is. */
static struct wf_scenario *start(const char *topology, const char *fabric, const char *job,
                                 const char *more, unsigned threads, struct wf_run *run)
{
	struct wf_scenario_opts opts = { .paths = &paths };
	struct wf_run_opts run_opts = { .threads = threads, .wire_check = threads == 1 };
	struct wf_scenario *s = calloc(1, sizeof(*s));
	struct wf_err err = { "" };
	char text[TEXT];

	assert_non_null(s);
	snprintf(text, sizeof(text),
	         "topology: {%s}\nfabric: {profile: ib-ndr, sharp: {%s%s}, %s}\njob: {%s}\n%s\n",
	         topology, fabric, strstr(fabric, "switch:") != NULL ? "" : CUT, SETTINGS, job,
	         more);
	if (wf_scenario_parse(s, text, strlen(text), "test", &opts, &err) != 0 ||
	    wf_scenario_build(s, &err) != 0 || wf_run_fabric(s, 0, &run_opts, run, &err) != 0)
		fail_msg("%s", err.text);
	return s;
}

static void end(struct wf_scenario *s, struct wf_run *run)
{
	run->fabric = NULL;
	wf_run_fini(run);
	wf_scenario_fini(s);
	free(s);
}

static void run_job(const char *topology, const char *fabric, const char *job, unsigned threads,
                    struct wf_run *run)
{
	struct wf_scenario *s = start(topology, fabric, job, "", threads, run);

	run->fabric = NULL;
	wf_scenario_fini(s);
	free(s);
	if (!run->job->finished)
		fail_msg("%u ranks have not finished: %s", run->job->n_stuck,
		         run->job->stuck[0].text);
	assert_int_equal(run->result.packets_dropped, 0);
	assert_int_equal(run->result.packets_inside, 0);
}

static wf_time end_of(const char *topology, const char *fabric, const char *job)
{
	struct wf_run run;
	wf_time at;

	run_job(topology, fabric, job, 1, &run);
	at = run.job->end;
	wf_run_fini(&run);
	return at;
}

static wf_time bytes400(uint64_t bytes)
{
	return (wf_time)(bytes * 20);
}

/*
 * A barrier: 4 bytes and 42 of headers over four links, one after the other, which no switch cuts
 * through because they are shorter than what it has to see; two switches reduce; PCIe at 400 Gb/s.
 */
static void test_barrier(void **state)
{
	wf_time links = 4 * bytes400(4 + HEADERS) + UP_1 + 2 * UP_2 + DOWN_1;

	(void)state;
	assert_int_equal(end_of(TREE, "enabled: true, latency: 350ns", "kind: barrier, " BARE),
	                 POST + links + 2 * 350 * WF_NS + bytes400(4));
	/* Of eight bytes it is an all-reduce, four bytes longer on each link and on PCIe. */
	assert_int_equal(end_of(TREE, "enabled: true, latency: 1us", "bytes: 8, " BARE),
	                 POST + links + 4 * bytes400(4) + 2 * WF_US + bytes400(8));
	/* The hosts of one leaf go no further: one switch, two links. */
	assert_int_equal(
		end_of(TREE, "enabled: true, latency: 350ns", "kind: barrier, ranks: 16, " BARE),
		POST + 2 * bytes400(4 + HEADERS) + UP_1 + DOWN_1 + 350 * WF_NS + bytes400(4));
}

/* A packet that could be cut through is taken in whole before it is reduced, and cut going down. */
static void test_whole_packets(void **state)
{
	wf_time up = 2 * bytes400(4096 + HEADERS) + UP_1 + UP_2;
	wf_time down = bytes400(64) + UP_2 + bytes400(4096 + HEADERS) + DOWN_1;

	(void)state;
	assert_int_equal(
		end_of(TREE, "enabled: true, latency: 350ns, streaming: 1B", "bytes: 4KiB, " BARE),
		POST + FETCH + up + down + 2 * 350 * WF_NS + bytes400(4096));
	/* Where switches store packets whole, they do so on the way down, too. */
	assert_int_equal(end_of(TREE, "enabled: true, latency: 350ns, streaming: 1B" STORE,
	                        "bytes: 4KiB, " BARE),
	                 POST + FETCH + up + down + bytes400(4096 + HEADERS - 64) +
	                         2 * 350 * WF_NS + bytes400(4096));
}

/*
 * Low latency: as many operations as may be under way. With one, each of four waits for the result
 * of the one before; with four, software posts one after the other.
 */
static void test_operations(void **state)
{
	wf_time one = 2 * bytes400(1024 + HEADERS) + UP_1 + UP_2 + bytes400(64) + UP_2 +
	              bytes400(1024 + HEADERS) + DOWN_1 + 2 * 350 * WF_NS;

	(void)state;
	assert_int_equal(end_of(TREE, "enabled: true, latency: 350ns, operations: 1, fragment: 0",
	                        "bytes: 4KiB, " BARE),
	                 POST + FETCH + 4 * one + bytes400(1024));
	assert_int_equal(end_of(TREE, "enabled: true, latency: 350ns, operations: 4, fragment: 5us",
	                        "bytes: 4KiB, " BARE),
	                 POST + FETCH + 3 * 5 * WF_US + one + bytes400(1024));
	/* A Switch-IB 2 has 256 bytes in an operation, and no streaming trees. */
	one -= 3 * bytes400(768);
	assert_int_equal(end_of(TREE,
	                        "enabled: true, latency: 350ns, operations: 1, fragment: 0, "
	                        "generation: switch-ib-2, streaming: 1B",
	                        "bytes: 4KiB, " BARE),
	                 POST + FETCH + 16 * one + bytes400(256));
}

/*
 * Much data: 4,096 bytes of 4,138 are data, on every link of the tree at once, which as NCCL counts
 * bus bandwidth is 2 x 63 / 64 of the line: what a ring cannot have, whose data crosses each link
 * twice. And what waits for the first packet, and for the last.
 */
static void test_line_rate(void **state)
{
	const uint64_t packets = 2048;
	wf_time wire = (wf_time)packets * bytes400(4096 + HEADERS);
	struct wf_run sharp, ring;

	(void)state;
	run_job(TREE, "enabled: true", "bytes: 8MiB, " BARE, 2, &sharp);
	assert_in_range(sharp.job->end, wire, wire + 4 * WF_US);
	assert_in_range(sharp.job_groups[0].busbw, UINT64_C(95500000000), UINT64_C(97450000000));
	/* 64 hosts and four leaves up, and back. */
	assert_int_equal(sharp.result.packets_sent, packets * 2 * 68);
	run_job(TREE, "enabled: true",
	        "bytes: 8MiB, gpus_per_server: 1, algorithm: ring, protocol: simple, launch: 0, "
	        "net.simple: 0, net.tree.simple: 0",
	        2, &ring);
	assert_true(ring.job_groups[0].busbw < UINT64_C(49640000000));
	assert_true(sharp.job_groups[0].busbw > ring.job_groups[0].busbw * 19 / 10);
	wf_run_fini(&sharp);
	wf_run_fini(&ring);
}

/* A unit that takes in 100 Gb/s has 16 contributions for each result: the leaf gives 6.25 Gb/s. */
static void test_rate(void **state)
{
	wf_time reducing = (wf_time)((UINT64_C(1) << 20) * 16 * 80);

	(void)state;
	assert_in_range(end_of(TREE, "enabled: true, rate: 100Gbps", "bytes: 1MiB, " BARE),
	                reducing, reducing + 10 * WF_US);
}

/* What may be under way bounds the rate: 64 KiB in the time that a packet takes there and back. */
static void test_buffer(void **state)
{
	wf_time one = POST + FETCH + 2 * bytes400(4096 + HEADERS) + UP_1 + UP_2 + bytes400(64) +
	              UP_2 + bytes400(4096 + HEADERS) + DOWN_1 + 2 * 350 * WF_NS;
	wf_time rounds = 16;
	wf_time got =
		end_of(TREE, "enabled: true, latency: 350ns, buffer: 64KiB", "bytes: 1MiB, " BARE);

	(void)state;
	assert_in_range(got, rounds * (one - POST - FETCH), rounds * one);
}

static const char *const jobs[] = {
	"bytes: 1MiB, iterations: 3",
	"bytes: 8, iterations: 3",
	"bytes: 3000001, algorithm: collnet-chain, nvls: false",
	"bytes: 1MiB, algorithm: collnet-direct, nics_per_server: 4",
};

/* NCCL's own collectives on rails, on one, two and four threads; all that they say is the same. */
static void test_servers_on_threads(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(jobs); i++) {
		bool shared = strstr(jobs[i], "nics_per_server") != NULL;
		const char *topology = shared ? "kind: leaf-spine, hosts: 32, radix: 16"
		                              : "kind: rail, hosts: 64, gpus: 8, radix: 16";
		char job[160];
		struct wf_run one, more;

		snprintf(job, sizeof(job), "%s, gpus_per_server: 8, collnet: true", jobs[i]);
		run_job(topology, "enabled: true", job, 1, &one);
		/* Heads have the NICs, and packets went through switches: each is counted. */
		assert_true(one.job->messages[1] > 0);
		assert_int_equal(one.sharp[WF_SHARP_YES], 1);
		for (unsigned threads = 2; threads <= 4; threads *= 2) {
			run_job(topology, "enabled: true", job, threads, &more);
			assert_memory_equal(one.job, more.job, sizeof(*one.job));
			assert_int_equal(one.result.hops, more.result.hops);
			assert_int_equal(one.result.end, more.result.end);
			assert_int_equal(one.job_groups[0].time.end, more.job_groups[0].time.end);
			wf_run_fini(&more);
		}
		wf_run_fini(&one);
	}
}

/* NCCL's times with the data on the fabric: as its model has them, 43 us and the rate. */
static void test_model(void **state)
{
	static const struct {
		const char *bytes;
		double us;
	} rows[] = { { "8", 43 }, { "1MiB", 48.5 }, { "4MiB", 64.8 }, { "16MiB", 130 } };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		char job[96];
		double got;

		snprintf(job, sizeof(job), "bytes: %s, collnet: true", rows[i].bytes);
		got = (double)end_of("kind: rail, hosts: 64, gpus: 8", "enabled: true", job) / 1e6;
		if (got < rows[i].us * .9 || got > rows[i].us * 1.1)
			fail_msg("%s: %.1f us, NCCL's model has %.1f", rows[i].bytes, got,
			         rows[i].us);
	}
}

/* Off, or without collnet, nothing of it is there. */
static void test_off(void **state)
{
	static const char *const off[][2] = {
		{ "enabled: false", "bytes: 1MiB, collnet: true" },
		{ "enabled: true", "bytes: 1MiB, collnet: false" },
		{ "enabled: false", "bytes: 1MiB, collnet: false" },
	};
	struct wf_run run[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		run_job("kind: rail, hosts: 32, gpus: 8", off[i][0], off[i][1], 1, &run[i]);
		assert_int_equal(run[i].sharp[WF_SHARP_YES], 0);
	}
	assert_memory_equal(run[1].job, run[2].job, sizeof(*run[1].job));
	assert_int_equal(run[1].result.hops, run[2].result.hops);
	/* Calculated: the meeting is on the fabric, the data is not. */
	assert_true(run[0].job->bytes[1] < (1 << 20));
	for (int i = 0; i < 3; i++)
		wf_run_fini(&run[i]);
}

/* A link of the tree goes down: reductions wait for ever, and the run says who waits for what. */
static void test_failure(void **state)
{
	struct wf_scenario *s;
	struct wf_run run;

	(void)state;
	s = start(TREE, "enabled: true", "bytes: 8MiB, " BARE,
	          "run: {until: 1ms}\nfaults: [{link: [h5, leaf0], down: 100us, up: 150us}]", 2,
	          &run);
	assert_false(run.job->finished);
	assert_int_equal(run.job->n_stuck, 64);
	assert_non_null(strstr(run.job->stuck[0].text, "waits for the result of the network's "
	                                               "switches"));
	assert_true(run.result.packets_dropped > 0);
	end(s, &run);
}

/*
 * A host that lets nobody send to it, while a flow elsewhere goes on: results for it wait in its
 * leaf, in no port's buffer, and whoever looks for deadlocks finds none, but who stands still.
 */
static void test_storm(void **state)
{
	static const char *const topologies[] = { TREE, "kind: single, hosts: 8" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct wf_scenario *s;
		struct wf_run run;
		bool stands = false;

		s = start(topologies[i], "enabled: true", "bytes: 2MiB, " BARE,
		          "run: {until: 2ms}\nfaults: [{on: h5, at: 20us, fault: pause-storm}]\n"
		          "traffic: [{kind: incast, fanin: 1, target: 6, size: 40MB, op: write}]",
		          2, &run);
		assert_false(run.job->finished);
		assert_int_equal(run.n_deadlocks, 0);
		for (unsigned k = 0; k < run.notes.n; k++)
			stands |= strcmp(run.notes.note[k].rule, "standstill") == 0;
		assert_true(stands);
		end(s, &run);
	}
}

/* A link that no tree has matters to none. */
static void test_failure_beside(void **state)
{
	struct wf_scenario *s;
	struct wf_run run;

	(void)state;
	s = start(TREE, "enabled: true", "bytes: 1MiB, ranks: 32, " BARE,
	          "faults: [{link: [h40, leaf2], down: 5us, up: 50us}]", 1, &run);
	assert_true(run.job->finished);
	end(s, &run);
}

/*
 * Two communicators want streaming trees over the same adapters: the first has them, the second
 * falls back, as NCCL does, and a note says so. For low latency alone both have trees, unless an
 * adapter may serve but one.
 */
static void test_limits(void **state)
{
	static const struct {
		const char *sharp;
		uint32_t yes; /* of nine */
		enum wf_sharp_no no;
		const char *note;
	} rows[] = {
		{ "enabled: true", 4, WF_SHARP_STREAMS, "each port is in one" },
		{ "enabled: true, generation: quantum", 2, WF_SHARP_STREAMS,
		  "each switch is in one" },
		{ "enabled: true, streaming: auto", 9, WF_SHARP_YES, NULL },
		{ "enabled: true, streaming: auto, jobs: 1", 4, WF_SHARP_ADAPTER, "sharp.jobs" },
		{ "enabled: true, streaming: auto, trees: 1, tree_jobs: 2", 3, WF_SHARP_TREES,
		  "sharp.tree_jobs" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		struct wf_scenario *s;
		struct wf_run run;

		/*
		 * Groups of experts are four hosts, two groups below each leaf; data parallelism
		 * has four groups across them, and one of all. As ranks name them: the first group
		 * of experts, all, those across; the second of experts, the third, the fourth.
		 */
		s = start("kind: leaf-spine, hosts: 16, radix: 16", rows[i].sharp,
		          "kind: train, model: mixtral-8x7b, layers: 2, tp: 1, pp: 1, ep: 4, "
		          "gpus_per_server: 1, micro_batches: 1, sequence: 256, scale: 1/1024, "
		          "scale_error: 100, collnet: true",
		          "", 2, &run);
		assert_true(run.job->finished);
		assert_int_equal(run.sharp[WF_SHARP_YES], rows[i].yes);
		if (rows[i].yes < 9) {
			assert_int_equal(run.sharp[rows[i].no], 9 - rows[i].yes);
			assert_int_equal(run.notes.n, 1);
			assert_string_equal(run.notes.note[0].rule, "sharp-fallback");
			assert_non_null(strstr(run.notes.note[0].text, rows[i].note));
		}
		end(s, &run);
	}
}

/* ---- under a subnet manager ---- */

#define MANAGED                                                                                    \
	"enabled: true, latency: 350ns}, sm: weft, switch: {latency: 130ns, cut_through: true"
#define COLD                                                                                       \
	"enabled: true, latency: 350ns}, sm: weft, sm.start: cold, "                               \
	"switch: {latency: 130ns, cut_through: true"

/* Trees that management packets have set up are those that are there without. */
static void test_managed(void **state)
{
	static const char *const rows[] = {
		"kind: barrier, " BARE,
		"bytes: 8, " BARE,
		"bytes: 64KiB, iterations: 3, " BARE,
		"bytes: 1MiB, ranks: 16, " BARE,
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++)
		assert_int_equal(end_of(TREE, MANAGED, rows[i]),
		                 end_of(TREE, "enabled: true, latency: 350ns", rows[i]));
}

/*
 * By hand: a group has a tree for low latency and one for much data, over four leaves and a spine.
 * Each: both ends of the leaves' links up, 8 queue pairs, and one of each host, 64; 5 places. Five
 * switches are asked of themselves once. A barrier begins when the trees are there.
 */
static void test_managed_cold(void **state)
{
	wf_time ideal = end_of(TREE, "enabled: true, latency: 350ns", "kind: barrier, " BARE);
	struct wf_scenario *s;
	struct wf_run run;

	(void)state;
	s = start(TREE, COLD, "kind: barrier, " BARE, "", 1, &run);
	assert_true(run.job->finished);
	assert_int_equal(run.managed->trees.sent, 5 + 2 * (8 + 64 + 5));
	assert_int_equal(run.managed->trees.answered, run.managed->trees.sent);
	assert_true(run.managed->trees_up > run.managed->up);
	/* Each of 4 leaves works on 2 * 18 requests, 20 us each; the steps wait for one another. */
	assert_true(run.managed->trees_up - run.managed->up >= 2 * 18 * 20 * WF_US);
	assert_int_equal(run.job->end, run.managed->trees_up + ideal - POST);
	end(s, &run);
	/* Two leaves with 48 hosts each: of their children 44 go into the first MAD. */
	s = start("kind: leaf-spine, hosts: 96, radix: 192, host_rate: 400Gbps", COLD,
	          "kind: barrier, " BARE, "", 1, &run);
	assert_true(run.job->finished);
	assert_int_equal(run.managed->trees.sent, 3 + 2 * (4 + 96 + 3 + 2));
	end(s, &run);
}

/* A link of a tree goes down: the job is stopped after the sweep that finds it, not before. */
static void test_managed_failure(void **state)
{
	uint64_t sent = 0;
	wf_time at = 0;

	(void)state;
	for (unsigned threads = 1; threads <= 4; threads *= 2) {
		bool said = false;
		struct wf_scenario *s;
		struct wf_run run;

		s = start(TREE, MANAGED, "bytes: 64KiB, iterations: 1000, " BARE,
		          "run: {until: 1s}\nfaults: [{on: leaf0-spine0, at: 20us, fault: down}]",
		          threads, &run);
		assert_false(run.job->finished);
		assert_int_equal(run.managed->trees_lost, 1);
		assert_true(run.managed->reroutes > 0);
		assert_true(run.managed->trees_lost_at >= 20 * WF_US + run.managed->reroute_last);
		assert_true(run.result.end < 100 * WF_MS); /* it does not stand to the end */
		for (unsigned i = 0; i < run.notes.n; i++)
			said |= strcmp(run.notes.note[i].rule, "sharp-lost") == 0;
		assert_true(said);
		if (threads > 1) {
			assert_int_equal(run.managed->trees_lost_at, at);
			assert_int_equal(run.result.packets_sent, sent);
		}
		at = run.managed->trees_lost_at;
		sent = run.result.packets_sent;
		end(s, &run);
	}
}

/* One that no tree has is found, too, and stops nothing; one that is down before it begins does. */
static void test_managed_beside(void **state)
{
	struct wf_scenario *s;
	struct wf_run run;

	(void)state;
	s = start(TREE, MANAGED,
	          "bytes: 8, iterations: 100, ranks: 32, gpus_per_server: 1, collnet: true, "
	          "algorithm: collnet-chain, launch: 500us, net.collnet: 0",
	          "run: {until: 1s}\nfaults: [{on: leaf3-spine0, at: 20us, fault: down}]", 1, &run);
	assert_true(run.job->finished);
	assert_true(run.managed->reroutes > 0);
	assert_int_equal(run.managed->trees_lost, 0);
	end(s, &run);
}

/* Links that lose packets and send them again themselves are right for trees. */
static void test_llr(void **state)
{
	static const char *const fabrics[] = {
		"enabled: true}, link.loss: 0.001, link.retry: llr, "
		"switch: {latency: 130ns, cut_through: true",
		"enabled: true}, sm: weft, link.loss: 0.001, link.retry: llr, "
		"switch: {latency: 130ns, cut_through: true",
	};
	wf_time clean = end_of(TREE, "enabled: true", "bytes: 1MiB, iterations: 4, " BARE);

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(fabrics); i++) {
		struct wf_scenario *s;
		struct wf_run run;

		s = start(TREE, fabrics[i], "bytes: 1MiB, iterations: 4, " BARE, "", 2, &run);
		assert_true(run.job->finished);
		assert_int_equal(run.result.packets_dropped, 0);
		assert_true(run.job->end > clean); /* some were sent again */
		end(s, &run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_whole_packets),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_line_rate),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_buffer),
		cmocka_unit_test(test_servers_on_threads),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_failure_beside),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_managed),
		cmocka_unit_test(test_managed_cold),
		cmocka_unit_test(test_managed_failure),
		cmocka_unit_test(test_managed_beside),
		cmocka_unit_test(test_llr),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
