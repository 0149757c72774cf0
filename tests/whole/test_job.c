/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios: collectives on modelled fabrics reach what theory says, the same on any threads. */
/* ctest: tsan=*threads* */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/run.h"
#include "scenario/scenario.h"

#define TEXT 1024

static struct wf_paths paths;

static int setup(void **state)
{
	(void)state;
	return wf_paths_init(&paths, NULL, NULL);
}

/* How much of a job is done, as it says itself, by packet-hops. */
struct part {
	uint64_t hops[4096];
	uint32_t share[4096];
	unsigned n;
};

static bool note_share(void *arg, wf_time now, uint64_t hops, uint32_t share)
{
	struct part *p = arg;

	(void)now;
	if (p != NULL && p->n < WF_ARRAY_SIZE(p->share)) {
		p->hops[p->n] = hops;
		p->share[p->n++] = share;
	}
	return true;
}

/* Runs the job given, on a topology and a fabric; every packet is also written as bytes. */
static void run_noted(const char *topology, const char *fabric, const char *job, unsigned threads,
                      struct part *part, struct wf_run *run)
{
	struct wf_scenario_opts opts = { .paths = &paths };
	struct wf_run_opts run_opts = {
		.threads = threads, .wire_check = threads == 1, .progress = note_share, .arg = part
	};
	struct wf_scenario *s = calloc(1, sizeof(*s));
	struct wf_err err = { "" };
	char text[TEXT];

	assert_non_null(s);
	snprintf(text, sizeof(text), "topology: {%s}\nfabric: %s\njob: {%s}\n", topology, fabric,
	         job);
	if (wf_scenario_parse(s, text, strlen(text), "test", &opts, &err) != 0 ||
	    wf_scenario_build(s, &err) != 0 || wf_run_fabric(s, 0, &run_opts, run, &err) != 0)
		fail_msg("%s", err.text);
	run->fabric = NULL; /* goes with the scenario */
	wf_scenario_fini(s);
	free(s);
}

static void run_job(const char *topology, const char *fabric, const char *job, unsigned threads,
                    struct wf_run *run)
{
	run_noted(topology, fabric, job, threads, NULL, run);
}

static void assert_finished(const struct wf_run *run)
{
	if (!run->job->finished)
		fail_msg("%u ranks have not finished: %s", run->job->n_stuck,
		         run->job->stuck[0].text);
	assert_int_equal(run->job->errors, 0);
	assert_int_equal(run->result.packets_dropped, 0);
	assert_int_equal(run->result.packets_inside, 0);
}

/* Progress is worth something: it grows as the work is done, from a part near 0 to one near all. */
static void test_progress(void **state)
{
	static const char *const cases[] = {
		"kind: all-reduce, algorithm: ring, bytes: 16MiB, iterations: 4",
		"kind: train, model: llama3-8b, layers: 4, tp: 4, pp: 2, micro_batches: 4, "
		"sequence: 1024, scale: 1/64, scale_error: 100",
	};
	static struct part p;
	struct wf_run run;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		p.n = 0;
		run_noted("kind: rail, hosts: 32, gpus: 8", "ib-ndr", cases[i], 2, &p, &run);
		assert_finished(&run);
		assert_true(p.n > 8);
		assert_true(p.share[0] < WF_SIM_ALL / 10);
		assert_true(p.share[p.n - 1] > WF_SIM_ALL / 10 * 8);
		for (unsigned k = 0; k < p.n; k++) {
			double hops = (double)p.hops[k] / (double)run.result.hops;

			assert_true(k == 0 || p.share[k] >= p.share[k - 1]);
			assert_true(p.share[k] <= WF_SIM_ALL);
			assert_float_equal((float)p.share[k] / WF_SIM_ALL, (float)hops, 0.3f);
		}
		wf_run_fini(&run);
	}
}

/* One GPU a server, no contention: the ring runs at the line's rate, less headers and its start. */
static void test_ring_at_line_rate(void **state)
{
	static const struct {
		const char *fabric;
		uint64_t most; /* bytes/s: 50 GB/s less headers of 30 or 82 bytes with 4096 */
	} cases[] = { { "ib-ndr", UINT64_C(49640000000) }, { "roce-400g", UINT64_C(49020000000) } };
	struct wf_run run;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i += check_step(2)) {
		run_job("kind: single, hosts: 8", cases[i].fabric,
		        "algorithm: ring, protocol: simple, bytes: 32MiB, gpus_per_server: 1, "
		        "nvlink.simple: 0, net.tree.simple: 4us",
		        1, &run);
		assert_finished(&run);
		assert_in_range(run.job_groups[0].busbw, cases[i].most / 100 * 95, cases[i].most);
		assert_int_equal(run.job->bytes[1], UINT64_C(14) * (32 << 20));
		assert_int_equal(run.job->bytes[0], 0);
		wf_run_fini(&run);
	}
}

/* Rails: the ring enters and leaves a server by the same NIC, so no packet sees a spine. */
static void test_ring_on_rails(void **state)
{
	struct wf_run run;

	(void)state;
	check_is_long();
	run_job("kind: rail, hosts: 32, gpus: 8, radix: 0", "ib-ndr",
	        "algorithm: ring, protocol: simple, bytes: 32MiB, nvlink: {simple: 1us}, "
	        "net: {simple: 4us}",
	        1, &run);
	assert_finished(&run);
	/* Each server sends 2 * 31 / 32 of the data. */
	assert_int_equal(run.job->bytes[1], UINT64_C(4) * 2 * 31 * (1 << 20));
	/* Two hops each way for all that is sent: data, announcements, acknowledgements. */
	assert_true(run.result.hops < 3 * run.result.packets_sent);
	/* NVLink, 450 GB/s at 82 %, carries all channels: it is the bottleneck. */
	assert_in_range(run.job_groups[0].busbw, UINT64_C(230000000000), UINT64_C(369000000000));
	wf_run_fini(&run);
}

static const char *const jobs[] = {
	"kind: all-reduce, algorithm: ring, bytes: 1000001",
	"kind: all-reduce, algorithm: ring, bytes: 1MiB, protocol: simple, iterations: 3",
	"kind: all-reduce, algorithm: tree, bytes: 3000000",
	"kind: all-reduce, algorithm: halving-doubling, bytes: 1MiB",
	"kind: all-reduce, bytes: 8",
	"kind: reduce-scatter, bytes: 2MiB",
	"kind: all-gather, bytes: 2MiB",
	"kind: all-to-all, bytes: 1MiB",
	"kind: all-to-all, bytes: 1MiB, pxn: false",
	"kind: broadcast, bytes: 4MiB, root: 3",
	"kind: barrier, iterations: 4",
	"kind: all-reduce, algorithm: ring, bytes: 2MiB, qps_per_connection: 4",
	"kind: all-reduce, algorithm: tree, bytes: 2MiB, nics_per_server: 4",
	"kind: all-reduce, algorithm: ring, bytes: 2MiB, ranks: 13, pxn: false",
	"kind: all-reduce, algorithm: nvls-tree, bytes: 3MiB, iterations: 2",
	"kind: all-reduce, algorithm: nvls-tree, bytes: 4MiB, nics_per_server: 4",
	"kind: all-reduce, bytes: 2MiB, collnet: true",
	"kind: all-reduce, algorithm: collnet-direct, bytes: 2MiB, collnet: true",
	"kind: all-reduce, algorithm: nvls, bytes: 2MiB, ranks: 8",
};

/*
 * Each ends, also where ranks share NICs; on four threads, the first on two as well, with the same
 * results. Where time is dear, every third: rings, trees and NVLS are among them.
 */
static void test_all_kinds_on_threads(void **state)
{
	static const char *const fabrics[] = { "ib-ndr", "roce-400g" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(jobs); i += check_step(3)) {
		const char *fabric = fabrics[i % WF_ARRAY_SIZE(fabrics)];
		/* Rails have as many NICs in a server as the job. */
		const char *topology = strstr(jobs[i], "nics_per_server") != NULL
		                               ? "kind: single, hosts: 24"
		                               : "kind: rail, hosts: 24, gpus: 8, radix: 0";
		struct wf_run one, more;

		run_job(topology, fabric, jobs[i], 1, &one);
		assert_finished(&one);
		for (unsigned threads = i == 0 ? 2 : 4; threads <= 4; threads *= 2) {
			run_job(topology, fabric, jobs[i], threads, &more);
			assert_memory_equal(one.job, more.job, sizeof(*one.job));
			for (uint32_t g = 0; g < one.job->n_groups; g++) {
				assert_int_equal(one.job_groups[g].time.begin,
				                 more.job_groups[g].time.begin);
				assert_int_equal(one.job_groups[g].time.end,
				                 more.job_groups[g].time.end);
			}
			assert_int_equal(one.result.hops, more.result.hops);
			assert_int_equal(one.result.end, more.result.end);
			wf_run_fini(&more);
		}
		wf_run_fini(&one);
	}
}

/* What stays inside a server takes the same time whether it is calculated or executed. */
static void test_inside(void **state)
{
	static const char *const kinds[] = { "all-reduce", "reduce-scatter", "all-gather",
		                             "all-to-all", "broadcast",      "barrier" };
	static const char *const sizes[] = { "8", "100000", "2MiB" };
	char job[200];

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(kinds) * WF_ARRAY_SIZE(sizes); i++) {
		struct wf_run run[2];

		for (int k = 0; k < 2; k++) {
			snprintf(job, sizeof(job), "kind: %s, bytes: %s, inside: %s",
			         kinds[i % WF_ARRAY_SIZE(kinds)], sizes[i / WF_ARRAY_SIZE(kinds)],
			         k == 0 ? "calculate" : "execute");
			run_job("kind: single, hosts: 8", "ib-ndr", job, 1, &run[k]);
			assert_finished(&run[k]);
		}
		assert_int_equal(run[0].job->end, run[1].job->end);
		assert_true(run[0].job->messages[0] == 0 && run[1].job->messages[0] > 0);
		wf_run_fini(&run[0]);
		wf_run_fini(&run[1]);
	}
}

/* Rings that pass through servers, estimated: within 6 % of what executing them gives. */
static void test_estimate(void **state)
{
	static const char *const jobs_of[] = {
		"kind: all-reduce, algorithm: ring, bytes: 8",
		"kind: all-reduce, algorithm: ring, bytes: 300001, iterations: 2",
		"kind: all-gather, algorithm: ring, bytes: 4MiB",
		"kind: reduce-scatter, protocol: simple, bytes: 24MiB, net: {simple: 7us}",
		"kind: all-reduce, algorithm: ring, bytes: 1MiB, ranks: 19",
	};
	char job[200];

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(jobs_of); i += check_step(2)) {
		struct wf_run run[3];

		for (int k = 0; k < 3; k++) {
			snprintf(job, sizeof(job), "%s, inside: %s", jobs_of[i],
			         k < 2 ? "estimate" : "execute");
			run_job("kind: rail, hosts: 24, gpus: 8, radix: 0", "ib-ndr", job,
			        k == 1 ? 4 : 1, &run[k]);
			assert_finished(&run[k]);
		}
		assert_memory_equal(run[0].job, run[1].job, sizeof(*run[0].job));
		/* What is on the fabric is the same. */
		assert_int_equal(run[0].job->messages[1], run[2].job->messages[1]);
		assert_int_equal(run[0].job->bytes[1], run[2].job->bytes[1]);
		assert_in_range(run[0].job->end, run[2].job->end * 94 / 100,
		                run[2].job->end * 106 / 100);
		assert_true(run[0].job->ops * 2 < run[2].job->ops);
		for (int k = 0; k < 3; k++)
			wf_run_fini(&run[k]);
	}
}

/* A training step with both: the same to a thousandth, on any number of threads the same at all. */
static void test_inside_step(void **state)
{
	static const char *const ways[] = { "calculate", "calculate", "execute" };
	struct wf_run run[3];
	char job[200];

	(void)state;
	check_is_long();
	for (int i = 0; i < 3; i++) {
		snprintf(job, sizeof(job),
		         "kind: train, model: llama3-8b, layers: 2, tp: 8, micro_batches: 2, "
		         "scale: 1/16, inside: %s",
		         ways[i]);
		run_job("kind: rail, hosts: 16, gpus: 8, radix: 0", "ib-ndr", job, i == 1 ? 4 : 1,
		        &run[i]);
		assert_finished(&run[i]);
	}
	assert_memory_equal(run[0].job, run[1].job, sizeof(*run[0].job));
	assert_in_range(run[0].job->end, run[2].job->end * 999 / 1000,
	                run[2].job->end * 1001 / 1000);
	assert_true(run[0].job->ops * 10 < run[2].job->ops);
	for (int i = 0; i < 3; i++)
		wf_run_fini(&run[i]);
}

/* Packets get lost, and the collective still ends; it takes longer. */
static void test_loss(void **state)
{
	struct wf_run good, bad;

	(void)state;
	run_job("kind: single, hosts: 4", "ib-ndr",
	        "algorithm: ring, bytes: 4MiB, gpus_per_server: 1", 1, &good);
	run_job("kind: single, hosts: 4", "{profile: ib-ndr, link: {ber: 1e-7}}",
	        "algorithm: ring, bytes: 4MiB, gpus_per_server: 1", 1, &bad);
	assert_finished(&good);
	assert_true(bad.result.packets_dropped > 0);
	assert_true(bad.job->finished);
	assert_true(bad.job->end > good.job->end);
	wf_run_fini(&good);
	wf_run_fini(&bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_progress),      cmocka_unit_test(test_ring_at_line_rate),
		cmocka_unit_test(test_ring_on_rails), cmocka_unit_test(test_all_kinds_on_threads),
		cmocka_unit_test(test_inside),        cmocka_unit_test(test_estimate),
		cmocka_unit_test(test_inside_step),   cmocka_unit_test(test_loss),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
