/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole fabrics with TCP: beside RDMA in its own class and in the same, in lossless and lossy
 * classes, on InfiniBand; what published work says of incast and of queues; CPUs; the same on any
 * number of threads.
 *
 * ctest: tsan=*threads*
 */
#include "scen.h"

#include <math.h>

#include "base/rng.h"

static uint64_t tcp_of(const struct scen *s, enum wf_tcp_counter id)
{
	return s->result->tcp.counter[id];
}

/* Mbit/s of payload. */
static uint64_t goodput(const struct scen *s)
{
	return s->result->bytes_delivered * 8 * 1000 / (uint64_t)(s->result->last_delivery / WF_NS);
}

static const char mixed[] =
	"topology: {kind: leaf-spine, hosts: 16, radix: 8, host_rate: 400Gbps}\n"
	"fabric:\n"
	"  - {profile: roce-400g, name: pfc}\n"
	"  - {profile: roce-400g-lossy, name: lossy, tcp: {rto_min: 1ms}}\n"
	"  - {profile: ib-ndr, name: ipoib}\n"
	"  - {profile: roce-400g, name: marks, tcp: {cc: dctcp}}\n"
	"  - {profile: roce-400g, name: intake, nic: {rx_full: pause, pcie: 200Gbps},"
	" tcp: {rto_min: 1ms}}\n"
	"traffic:\n"
	"  - {kind: permutation, op: write, size: 1MB, class: 3}\n"
	"  - {kind: permutation, op: tcp, size: 1MB, class: 0}\n"
	"  - {kind: incast, op: tcp, size: 500KB, class: 3, fanin: 8}\n"
	"run: {until: 1s}\n";

/* Everything comes, in all classes; where a class is lossless nothing of TCP is lost either. */
static void test_mixed(void **state)
{
	struct scen s;

	(void)state;
	scen_load(&s, mixed);
	for (unsigned i = 0; i < s.scenario.n_fabrics; i++) {
		scen_run(&s, s.scenario.fabrics[i].label, 1);
		assert_true(s.result->finished);
		assert_int_equal(s.result->flows_done, 40);
		assert_int_equal(s.result->bytes_delivered, 16 * 1000000 * 2 + 8 * 500000);
		assert_int_equal(s.result->packets_inside + s.result->packets_delivered +
		                         s.result->packets_dropped,
		                 s.result->packets_sent);
		assert_int_equal(s.lossless_drops, 0);
		assert_int_equal(s.result->tcp.hosts, 16);
		assert_true(s.result->tcp.busy > 0);
		if (strcmp(s.fabric->label, "marks") == 0)
			assert_true(tcp_of(&s, WF_TCP_CTR_ECE) > 0);
		else
			assert_int_equal(tcp_of(&s, WF_TCP_CTR_CE), 0);
		for (size_t f = 0; f < wf_sim_flows(s.sim); f++)
			assert_true(wf_sim_flow_end(s.sim, f) != WF_TIME_NEVER);
	}
	scen_fini(&s);
}

static void test_threads(void **state)
{
	struct scen s;

	(void)state;
	scen_load(&s, mixed);
	for (unsigned i = 0; i < s.scenario.n_fabrics; i++)
		scen_same(&s, s.scenario.fabrics[i].label);
	scen_fini(&s);
}

/*
 * Vasudevan et al., SIGCOMM 2009: servers answer at once through a switch with little buffer,
 * next round when all have answered; with timeouts of 200 ms goodput falls by more than nine
 * tenths, with those of a millisecond it stays. Rounds here are flows that start one after the
 * other on 48 servers.
 */
static void test_incast(void **state)
{
	static const char scenario[] =
		"topology: {kind: single, hosts: 49, host_rate: 10Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-400g-lossy, name: long, nic: {rate_min: 0}, mtu: 1024B, "
		"buffer: {size: 400KB}, tcp: {rto_min: 200ms, mtu: 1500B}}\n"
		"  - {profile: roce-400g-lossy, name: short, nic: {rate_min: 0}, mtu: 1024B, "
		"buffer: {size: 400KB}, tcp: {rto_min: 1ms, mtu: 1500B}}\n"
		"traffic:\n"
		"  - {kind: incast, op: tcp, size: 20KB, class: 0, fanin: 48}\n"
		"run: {until: 10s}\n";
	uint64_t slow, fast;
	struct scen s;

	(void)state;
	scen_load(&s, scenario);
	scen_run(&s, "long", 1);
	assert_true(s.result->finished);
	assert_true(tcp_of(&s, WF_TCP_CTR_TIMEOUTS) + tcp_of(&s, WF_TCP_CTR_LOSS_PROBES) > 0);
	slow = goodput(&s);
	assert_true(s.result->last_delivery > 200 * WF_MS);
	scen_run(&s, "short", 1);
	assert_true(s.result->finished);
	fast = goodput(&s);
	if (slow * 10 > fast || fast < 2000)
		fail_msg("%u and %u Mb/s", (unsigned)slow, (unsigned)fast);
	scen_fini(&s);
}

/* Cores bound it: one connection 42 Gb/s with jumbo frames; four on four cores four times that. */
static void test_cores(void **state)
{
	static const char scenario[] =
		"topology: {kind: single, hosts: 5, host_rate: 400Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-400g-lossy, name: four, tcp: {mtu: 9000B, cores: 4}}\n"
		"  - {profile: roce-400g-lossy, name: one, tcp: {mtu: 9000B, cores: 4},"
		" devices: {h0: {tcp: {cores: 1}}}}\n"
		"traffic:\n"
		"  - {kind: incast, op: tcp, size: 40MB, class: 0, fanin: 4}\n"
		"run: {until: 10s}\n";
	struct scen s;
	uint64_t rate;

	(void)state;
	scen_load(&s, scenario);
	scen_run(&s, "four", 1);
	rate = goodput(&s);
	if (rate < 150000 || rate > 176000)
		fail_msg("%u Mb/s on four cores", (unsigned)rate);
	assert_true(s.result->tcp.host_busy > (uint64_t)s.result->end * 38 / 10);
	assert_int_equal(s.result->tcp.host_cores, 4);
	/* A device has its own. */
	scen_run(&s, "one", 1);
	rate = goodput(&s);
	if (rate < 36000 || rate > 44000)
		fail_msg("%u Mb/s on one core", (unsigned)rate);
	assert_int_equal(s.result->tcp.host_cores, 1);
	scen_fini(&s);
}

/*
 * ETS: while both have data, the class of RDMA and that of TCP have the shares that the switch
 * gives.
 */
static void test_shares(void **state)
{
	static const char scenario[] =
		"topology: {kind: single, hosts: 10, host_rate: 25Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-400g-lossy, name: half, nic: {rate_min: 0},"
		" classes: {weights: \"0:50,3:50\"}, cc: {algorithm: none}, tcp: {cc: cubic}}\n"
		"  - {profile: roce-400g-lossy, name: fifth, nic: {rate_min: 0},"
		" classes: {weights: \"0:20,3:80\"}, cc: {algorithm: none}, tcp: {cc: cubic}}\n"
		"traffic:\n"
		"  - {kind: incast, op: tcp, size: 1GB, class: 0, fanin: 4}\n"
		"  - {kind: incast, op: write, size: 1GB, class: 3, fanin: 2}\n"
		"run: {until: 10ms}\n";
	static const char *const names[] = { "half", "fifth" };
	static const double share[] = { 0.5, 0.2 };
	struct scen s;

	(void)state;
	scen_load(&s, scenario);
	for (unsigned i = 0; i < 2; i++) {
		double tcp, rdma;

		scen_run(&s, names[i], 1);
		tcp = (double)scen_port(&s, "leaf0", "h0", 0).tx_bytes;
		rdma = (double)scen_port(&s, "leaf0", "h0", 3).tx_bytes;
		if (fabs(tcp / (tcp + rdma) - share[i]) > 0.04)
			fail_msg("%s: TCP has %g", names[i], tcp / (tcp + rdma));
	}
	scen_fini(&s);
}

/*
 * A cable that is pulled for a while, a slow copy: what is lost comes again, and what is slow
 * stays slow.
 */
static void test_faults(void **state)
{
	static const char scenario[] = "topology: {kind: single, hosts: 3, host_rate: 100Gbps}\n"
				       "fabric: {profile: roce-400g-lossy, name: x, nic: "
				       "{rate_min: 0}, tcp: {rto_min: 1ms}}\n"
				       "traffic:\n"
				       "  - {kind: incast, op: tcp, size: 30MB, class: 0}\n"
				       "faults:\n"
				       "  - {on: h0-leaf0, at: 1ms, until: 5ms, fault: down}\n"
				       "  - {on: h0, at: 6ms, set: {tcp: {copy_rx: 1Gbps}}}\n"
				       "run: {until: 10s}\n";
	struct scen s;

	(void)state;
	scen_load(&s, scenario);
	scen_run(&s, "x", 1);
	assert_true(s.result->finished);
	assert_int_equal(s.result->bytes_delivered, 60000000);
	assert_true(tcp_of(&s, WF_TCP_CTR_RETRANS_SEGS) > 0);
	assert_int_equal(s.result->resent, tcp_of(&s, WF_TCP_CTR_RETRANS_SEGS));
	/* At 1 Gb/s a core: the rest of 30 MB each is copied on two cores. */
	assert_true(s.result->last_delivery > 40 * WF_MS);
	scen_fini(&s);
}

/* Packets that overtake each other are seldom sent again, and a link that loses is no obstacle. */
static void test_loss(void **state)
{
	static const char scenario[] =
		"topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-400g-lossy, name: spray, nic: {rate_min: 0}, routing: spray}\n"
		"  - {profile: roce-400g-lossy, name: errors, nic: {rate_min: 0},"
		" link: {ber: 1e-8}, tcp: {rto_min: 1ms}}\n"
		"traffic:\n"
		"  - {kind: permutation, op: tcp, size: 10MB, class: 0}\n"
		"run: {until: 10s}\n";
	struct scen s;

	(void)state;
	scen_load(&s, scenario);
	scen_run(&s, "spray", 1);
	assert_true(s.result->finished);
	assert_true(tcp_of(&s, WF_TCP_CTR_OFO_QUEUE) > 20);
	assert_true(tcp_of(&s, WF_TCP_CTR_RETRANS_SEGS) * 50 < tcp_of(&s, WF_TCP_CTR_OUT_SEGS));
	scen_run(&s, "errors", 1);
	assert_true(s.result->finished);
	assert_true(s.result->packets_dropped > 0);
	/* One for each that was lost, less acknowledgements; and a few that only seemed to be. */
	assert_true(tcp_of(&s, WF_TCP_CTR_RETRANS_SEGS) <= s.result->packets_dropped * 3 / 2 + 3);
	scen_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mixed),  cmocka_unit_test(test_threads),
		cmocka_unit_test(test_incast), cmocka_unit_test(test_cores),
		cmocka_unit_test(test_shares), cmocka_unit_test(test_faults),
		cmocka_unit_test(test_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
