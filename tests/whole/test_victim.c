/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios: PFC's congestion spreads to a flow that has nothing to do with it, as the DCQCN paper
 * (SIGCOMM 2015, figures 2, 4 and 9) measured it.
 */
#include "rig.h"

#include <stdlib.h>

/*
 * Fifteen draws of ECMP's paths; builds with asserts look at one, for what it does, not for the
 * figure.
 */
#ifdef NDEBUG
#define SEEDS 15
#else
#define SEEDS 1
#endif
#define MEASURE (10 * WF_MS)

/* Hosts in the order of the file below. */
enum { H11, H12, H13, H14, VS, VR, H31, H32, R, H4 };

/*
 * The paper's testbed: four ToR switches T1 to T4 (9 to 12), two leaves to a pair of them (13 to
 * 16), two spines (17, 18), everything at 40 Gb/s. The cables are 20 m.
 */
#define LINKS                                                                                      \
	"9 10 11 12 13 14 15 16 17 18\n"                                                           \
	"0 9 40Gbps 0.0001ms 0\n"                                                                  \
	"1 9 40Gbps 0.0001ms 0\n"                                                                  \
	"2 9 40Gbps 0.0001ms 0\n"                                                                  \
	"3 9 40Gbps 0.0001ms 0\n"                                                                  \
	"4 9 40Gbps 0.0001ms 0\n"                                                                  \
	"5 10 40Gbps 0.0001ms 0\n"                                                                 \
	"6 11 40Gbps 0.0001ms 0\n"                                                                 \
	"7 11 40Gbps 0.0001ms 0\n"                                                                 \
	"8 12 40Gbps 0.0001ms 0\n"                                                                 \
	"9 13 40Gbps 0.0001ms 0\n"                                                                 \
	"9 14 40Gbps 0.0001ms 0\n"                                                                 \
	"10 13 40Gbps 0.0001ms 0\n"                                                                \
	"10 14 40Gbps 0.0001ms 0\n"                                                                \
	"11 15 40Gbps 0.0001ms 0\n"                                                                \
	"11 16 40Gbps 0.0001ms 0\n"                                                                \
	"12 15 40Gbps 0.0001ms 0\n"                                                                \
	"12 16 40Gbps 0.0001ms 0\n"                                                                \
	"13 17 40Gbps 0.0001ms 0\n"                                                                \
	"13 18 40Gbps 0.0001ms 0\n"                                                                \
	"14 17 40Gbps 0.0001ms 0\n"                                                                \
	"14 18 40Gbps 0.0001ms 0\n"                                                                \
	"15 17 40Gbps 0.0001ms 0\n"                                                                \
	"15 18 40Gbps 0.0001ms 0\n"                                                                \
	"16 17 40Gbps 0.0001ms 0\n"                                                                \
	"16 18 40Gbps 0.0001ms 0\n"

static const char testbed[] = "19 10 25\n" LINKS;
/* With H4 (19) under T4, beside R. */
static const char testbed_near[] = "20 10 26\n" LINKS "19 12 40Gbps 0.0001ms 0\n";

static uint64_t received_by(const struct rig *r, unsigned host)
{
	const struct wf_topo_port *port =
		&r->topo->ports[r->topo->nodes[r->topo->host_node[host]].first_port];
	struct wf_sim_counts c;
	uint64_t sum = 0;

	for (unsigned q = 0; wf_sim_port_counts(r->sim, port->peer, port->peer_port, q, &c); q++)
		sum += c.tx_bytes;
	return sum;
}

static uint64_t sent_by(const struct rig *r, unsigned host)
{
	struct wf_sim_counts c;
	uint64_t sum = 0;

	for (unsigned q = 0; wf_sim_port_counts(r->sim, r->topo->host_node[host], 0, q, &c); q++)
		sum += c.tx_bytes;
	return sum;
}

static void send(struct rig *r, uint32_t src, uint32_t dst)
{
	rig_flow(r, src, dst, UINT64_C(1000000000), 0, 3);
	r->flows.flow[r->flows.n - 1].op = WF_FLOW_WRITE;
}

/* The paper's, section 5; the rest are the defaults of cc. */
static void use_dcqcn(struct rig *r)
{
	rig_cc(r, "cc.algorithm", "dcqcn");
	rig_set(r, "ecn.kmin", "5KB");
	rig_set(r, "ecn.kmax", "200KB");
	rig_set(r, "ecn.pmax", "1%");
}

/* What the victim gets beside H11 to H14 and that many senders under T3, Mb/s, after settle. */
static unsigned victim(unsigned others, bool dcqcn, wf_time settle, uint64_t seed)
{
	const struct wf_topo_ops *ops = wf_topo_find("hpcc");
	struct wf_err err = { "" };
	uint64_t got;
	struct rig r;
	wf_time end;

	rig_init(&r, "pfc", "hpcc", 9);
	if (ops->build(&r.topo_cfg, testbed, sizeof(testbed) - 1, "testbed", wf_mem_heap(), &r.topo,
	               &err) != 0)
		fail_msg("%s", err.text);
	r.seed = seed;
	if (dcqcn)
		use_dcqcn(&r);
	for (uint32_t i = H11; i <= H14; i++)
		send(&r, i, R);
	send(&r, VS, VR);
	for (uint32_t i = 0; i < others; i++)
		send(&r, H31 + i, R);
	if (rig_build(&r, 1, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(wf_sim_run_until(r.sim, settle, &end), 0);
	got = received_by(&r, VR);
	assert_int_equal(wf_sim_run_until(r.sim, settle + MEASURE, &end), 0);
	got = received_by(&r, VR) - got;
	rig_result(&r);
	assert_int_equal(r.result->packets_dropped, 0);
	rig_fini(&r);
	return (unsigned)(got * 8 / (uint64_t)(MEASURE / WF_US));
}

static int by_size(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

/* The median over the seeds: over the paths that ECMP chose. */
static unsigned median(unsigned others, bool dcqcn, wf_time settle)
{
	unsigned v[SEEDS];

	for (unsigned i = 0; i < SEEDS; i++)
		v[i] = victim(others, dcqcn, settle, i + 1);
	qsort(v, SEEDS, sizeof(v[0]), by_size);
	print_message("%s, %u senders under T3: %u to %u, median %u Mb/s\n",
	              dcqcn ? "DCQCN" : "PFC only", others, v[0], v[SEEDS - 1], v[SEEDS / 2]);
	return v[SEEDS / 2];
}

static void check(unsigned got, unsigned low, unsigned high)
{
	if (SEEDS > 1)
		assert_in_range(got, low, high);
}

/*
 * Figure 4: with PFC alone the victim gets a median of 10 Gb/s instead of the 20 that its uplink
 * has to spare, and 4.5 when two senders under T3, with which it shares no link, join. The settings
 * are the defaults; 40 ms fill the buffers, after which nothing changes any more.
 */
static void test_pfc(void **state)
{
	(void)state;
	check(median(0, false, 40 * WF_MS), 9000, 11000);
	check(median(2, false, 40 * WF_MS), 4000, 5500);
}

/*
 * Figure 9: with DCQCN about 20 Gb/s, however many send under T3. Of an uplink that it shares with
 * two of the four that send to R, max-min leaves the victim 20 Gb/s beside none and 26.7 beside
 * two.
 */
static void test_dcqcn(void **state)
{
	(void)state;
	check(median(0, true, 40 * WF_MS), 18000, 26700);
	check(median(2, true, 40 * WF_MS), 18000, 29000);
}

/* What R gets of each of H1 to H4, under T1 to T4, Mb/s. */
static void shares(bool dcqcn, uint64_t seed, unsigned got[4])
{
	static const uint32_t from[] = { H11, VR, H31, H4 };
	const struct wf_topo_ops *ops = wf_topo_find("hpcc");
	uint64_t before[WF_ARRAY_SIZE(from)];
	struct wf_err err = { "" };
	struct rig r;
	wf_time end;

	rig_init(&r, "pfc", "hpcc", 10);
	if (ops->build(&r.topo_cfg, testbed_near, sizeof(testbed_near) - 1, "testbed",
	               wf_mem_heap(), &r.topo, &err) != 0)
		fail_msg("%s", err.text);
	r.seed = seed;
	if (dcqcn)
		use_dcqcn(&r);
	for (size_t i = 0; i < WF_ARRAY_SIZE(from); i++)
		send(&r, from[i], R);
	if (rig_build(&r, 1, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(wf_sim_run_until(r.sim, 40 * WF_MS, &end), 0);
	for (size_t i = 0; i < WF_ARRAY_SIZE(from); i++)
		before[i] = sent_by(&r, from[i]);
	assert_int_equal(wf_sim_run_until(r.sim, 40 * WF_MS + MEASURE, &end), 0);
	for (size_t i = 0; i < WF_ARRAY_SIZE(from); i++)
		got[i] = (unsigned)((sent_by(&r, from[i]) - before[i]) * 8 /
		                    (uint64_t)(MEASURE / WF_US));
	rig_fini(&r);
}

/*
 * Figures 3 and 8: of four senders the one under the receiver's own ToR, alone on its port, gets up
 * to 20 Gb/s with PFC alone, and the others, who share ports by chance, less; with DCQCN all get
 * the same.
 */
static void test_unfairness(void **state)
{
	(void)state;
	for (int dcqcn = 0; dcqcn < 2; dcqcn++) {
		unsigned near[SEEDS], far[3 * SEEDS], got[4];

		for (unsigned i = 0; i < SEEDS; i++) {
			shares(dcqcn != 0, i + 1, got);
			near[i] = got[3];
			memcpy(&far[3 * i], got, 3 * sizeof(got[0]));
		}
		qsort(near, SEEDS, sizeof(near[0]), by_size);
		qsort(far, 3 * (size_t)SEEDS, sizeof(far[0]), by_size);
		print_message("%s: near %u to %u, median %u; others %u to %u, median %u Mb/s\n",
		              dcqcn ? "DCQCN" : "PFC only", near[0], near[SEEDS - 1],
		              near[SEEDS / 2], far[0], far[3 * SEEDS - 1], far[3 * SEEDS / 2]);
		if (dcqcn) {
			assert_in_range(near[SEEDS / 2], 8500, 10500);
			check(far[0], 8000, 10500);
		} else {
			check(near[SEEDS - 1], 18000, 21000);
			check(far[3 * SEEDS / 2], 5000, near[SEEDS / 2] * 3 / 4);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pfc),
		cmocka_unit_test(test_dcqcn),
		cmocka_unit_test(test_unfairness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
