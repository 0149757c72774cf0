/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_apm.c - hosts with two ports on InfiniBand: which of them queue pairs belong to, how long it
 * takes until they migrate from a path that has died, and that without alternate path they fail.
 *
 * A WRITE of 8 MB is 1953 packets of 4096 bytes, with 26 around each (LRH, BTH, two CRCs), and one
 * of 512; with the first one's RETH that is 8,050,820 bytes: 322.03 us at 200 Gb/s (LINE).
 *
 * sender.timeout 30us is 4.096 us * 2^3, 32.768 us, the next that verbs have. A path is given up
 * after the first wait and seven retries, each of which waits as long (GIVE_UP).
 */
/* ctest: tsan=*threads* */
#include "scen.h"

#include <errno.h>

#define LINE (UINT64_C(8050820) * 8 * 5)  /* ps at 200 Gb/s */
#define GIVE_UP (8 * (4096 * WF_NS << 3)) /* 262.144 us */
#define SLACK (6 * WF_US)                 /* a path, an acknowledgement, what was on its way */

#define TO_H0 "kind: incast, fanin: 1, target: 0, op: write, size: 8MB"
#define PLANES "kind: single, hosts: 2, ports: 2, homing: planes"
#define PAIR "kind: leaf-spine, hosts: 8, radix: 8, ports: 2"
#define DOWN "faults: [{on: h1-leaf0, at: 100us, fault: down}]\nrun: {until: 50ms}"

static void load_on(struct scen *s, const char *topology, const char *fabric, const char *traffic,
                    unsigned n, const char *rest)
{
	char text[8192];
	int len = snprintf(text, sizeof(text),
	                   "topology: {%s, host_rate: 200Gbps, fabric_rate: 200Gbps}\n"
	                   "fabric: {profile: ib-ndr, name: f, %s, sender: {timeout: 30us}}\n"
	                   "%s\ntraffic:\n",
	                   topology, fabric, rest);

	for (unsigned i = 0; i < n; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "  - {%s}\n", traffic);
	scen_load(s, text);
}

/* A scenario of n flows of 8 MB, or other traffic, with those settings of adapters. */
static void load(struct scen *s, const char *topology, const char *nic, const char *traffic,
                 unsigned n, const char *rest)
{
	char fabric[256];

	snprintf(fabric, sizeof(fabric), "nic: {rate_min: 0, %s}", nic);
	load_on(s, topology, fabric, traffic, n, rest);
}

/* What a port of a host sent in class 3, bytes. */
static uint64_t sent(const struct scen *s, uint32_t host, unsigned port)
{
	struct wf_sim_counts c;
	uint64_t bytes = 0;

	for (unsigned q = 0; q < s->result->n_queues; q++) {
		assert_true(wf_sim_port_counts(s->sim, s->fabric->net->topo->host_node[host], port,
		                               q, &c));
		bytes += c.tx_bytes;
	}
	return bytes;
}

static uint64_t migrations(const struct scen *s)
{
	return s->result->adapters[WF_CTR_PATH_MIGRATIONS];
}

/* Everything was delivered, by that time or at most SLACK later, and lost only where links were. */
static void check_end(const struct scen *s, uint64_t flows, wf_time end)
{
	assert_int_equal(s->result->flows_done, flows);
	assert_int_equal(s->result->flows_failed, 0);
	assert_int_equal(s->total.drops, s->total.drops_down);
	if (s->result->last_delivery < end || s->result->last_delivery > end + SLACK)
		fail_msg("%lld ns, not %lld", (long long)(s->result->last_delivery / WF_NS),
		         (long long)(end / WF_NS));
}

/* A queue pair has one port's rate. Of several each port carries half, or the first all. */
static void test_ports(void **state)
{
	static const unsigned n[] = { 1, 2, 8 };

	(void)state;
	for (size_t i = 0; i < 2 * WF_ARRAY_SIZE(n); i++) {
		unsigned flows = n[i / 2];
		bool first = i % 2 != 0;
		struct scen s;

		load(&s, PLANES, first ? "qp_port: first" : "qp_port: turns", TO_H0, flows, "");
		assert_int_equal(s.scenario.host_rate, UINT64_C(400000000000));
		scen_run(&s, "f", 1);
		check_end(&s, flows, (wf_time)LINE * (first ? flows : (flows + 1) / 2));
		if (first)
			assert_int_equal(sent(&s, 1, 1), 0);
		else if (flows > 1)
			assert_int_equal(sent(&s, 1, 0), sent(&s, 1, 1));
		assert_int_equal(s.total.drops, 0);
		assert_int_equal(migrations(&s), 0);
		scen_fini(&s);
	}
}

/*
 * The sender's link, its leaf, or the receiver's link dies for good at 100 us. Nobody answers any
 * more, and GIVE_UP after the last answer both ends are on the other path, where the rest of the
 * message takes as long as ever. Seven retries, and the eighth wait is the end of them.
 */
static void test_path_dies(void **state)
{
	static const char *const what[] = { "h1-leaf0", "leaf0", "h0-leaf0" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(what); i++) {
		char rest[128];
		struct scen s;

		snprintf(rest, sizeof(rest),
		         "faults: [{on: %s, at: 100us, fault: down}]\nrun: {until: 50ms}", what[i]);
		load(&s, PLANES, "qp_port: first, apm: armed", TO_H0, 1, rest);
		scen_run(&s, "f", 1);
		check_end(&s, 1, (wf_time)LINE + GIVE_UP);
		assert_int_equal(migrations(&s), 2);
		assert_int_equal(s.result->adapters[WF_CTR_LOCAL_ACK_TIMEOUT_ERR], 8);
		/* What is left after 100 us, 2.5 MB. */
		assert_in_range(sent(&s, 1, 1), 8050820 - 2500000, 8050820 - 2400000);
		scen_fini(&s);

		/* The same without an alternate path: that is the end. */
		load(&s, PLANES, "qp_port: first", TO_H0, 1, rest);
		scen_run(&s, "f", 1);
		assert_int_equal(s.result->flows_failed, 1);
		assert_int_equal(migrations(&s), 0);
		assert_int_equal(s.result->adapters[WF_CTR_LOCAL_ACK_TIMEOUT_ERR], 8);
		assert_int_equal(sent(&s, 1, 1), 0);
		scen_fini(&s);
	}
}

/* Of two queue pairs the one that belongs to the port that dies goes to the other's. */
static void test_half(void **state)
{
	struct scen s;

	(void)state;
	load(&s, PLANES, "apm: armed", TO_H0, 2, DOWN);
	scen_run(&s, "f", 1);
	/* The other is done by then. */
	check_end(&s, 2, (wf_time)LINE + GIVE_UP);
	assert_int_equal(migrations(&s), 2);
	scen_fini(&s);
	load(&s, PLANES, "apm: none", TO_H0, 2, DOWN);
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 1);
	assert_int_equal(s.result->flows_failed, 1);
	scen_fini(&s);
}

/* Reads and sends: what asks for them migrates, whichever way the data goes. */
static void test_ops(void **state)
{
	static const char *const op[] = { "write", "send", "read" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(op); i++) {
		char traffic[128];
		struct scen s;

		snprintf(traffic, sizeof(traffic),
		         "kind: incast, fanin: 1, target: 0, op: %s, size: 8MB", op[i]);
		load(&s, PLANES, "apm: armed, qp_port: first", traffic, 4, DOWN);
		scen_run(&s, "f", 1);
		assert_int_equal(s.result->flows_done, 4);
		assert_int_equal(migrations(&s), 8);
		assert_true(sent(&s, 0, 1) > 0 && sent(&s, 1, 1) > 0);
		scen_fini(&s);
	}
}

/*
 * A message that begins while the port is down: its first packet is lost, and so are its retries.
 * Who has never heard from its peer is not armed, and fails.
 */
static void test_idle(void **state)
{
	struct scen s;

	(void)state;
	load(&s, PLANES, "apm: armed, qp_port: first", TO_H0 ", start: 200us", 1,
	     "faults: [{on: h1-leaf0, at: 100us, fault: down}]\nrun: {until: 50ms}");
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_failed, 1);
	assert_int_equal(migrations(&s), 0);
	assert_true(s.total.drops_down > 0);
	scen_fini(&s);
}

/*
 * The link is back at 500 us, and 100 us later the sender's software takes its queue pair back,
 * which has an alternate path again since 50 us after it migrated: the first port sends what is
 * left then. 8 MB of two messages are 644 us of work, of which 338 us are done by 700.8 us.
 */
static void test_return(void **state)
{
	static const char *const nic[] = { "apm_return: 100us", "apm_return: auto",
		                           "apm_load: auto, apm_return: 100us" };
	char all[128];
	struct scen s;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(nic); i++) {
		uint64_t by_first;

		snprintf(all, sizeof(all), "apm: armed, qp_port: first, %s%s",
		         i == 2 ? "" : "apm_load: 50us, ", nic[i]);
		load(&s, PLANES, all, TO_H0, 2,
		     "faults: [{on: h1-leaf0, at: 100us, until: 500us, fault: down}]\n"
		     "run: {until: 50ms, reconverge: 20us}");
		scen_run(&s, "f", 1);
		check_end(&s, 2, 2 * (wf_time)LINE + GIVE_UP);
		assert_int_equal(migrations(&s), i == 0 ? 8 : 4);
		by_first = sent(&s, 1, 0);
		/* 100 us, and from 600 us to the end at 906 us. */
		if (i == 0)
			assert_in_range(by_first, 25000 * 395, 25000 * 410);
		else
			assert_in_range(by_first, 25000 * 95, 25000 * 101);
		scen_fini(&s);
	}
}

/*
 * Two leaves for the same hosts: one dies, and what belongs to it migrates past it by the other;
 * across the spines, and with any routing. With one leaf, and one port, all of that fails.
 */
static void test_leaf_dies(void **state)
{
	static const char *const routing[] = { "adaptive", "lft", "ecmp" };
	static const char across[] = "kind: incast, fanin: 1, target: 3, op: write, size: 8MB}\n"
				     "  - {kind: incast, fanin: 1, target: 7, op: write, size: 8MB";

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(routing); i++) {
		static const char rest[] = "faults: [{on: leaf0, at: 100us, fault: down}]\n"
					   "run: {reconverge: 20us, until: 100ms}";
		char fabric[128];
		struct scen s;

		snprintf(fabric, sizeof(fabric), "nic: {rate_min: 0, apm: armed}, routing: %s",
		         routing[i]);
		load_on(&s, PAIR, fabric, across, 4, rest);
		scen_run(&s, "f", 1);
		assert_int_equal(s.result->flows_done, 8);
		assert_int_equal(s.total.drops, s.total.drops_down + s.total.drops_route);
		/* Of four queue pairs of each sender two belong to leaf0, and both their ends. */
		assert_int_equal(migrations(&s), 8);
		scen_fini(&s);

		snprintf(fabric, sizeof(fabric), "nic: {rate_min: 0}, routing: %s", routing[i]);
		load_on(&s, "kind: leaf-spine, hosts: 8, radix: 8", fabric, across, 4, rest);
		scen_run(&s, "f", 1);
		assert_int_equal(s.result->flows_failed, 8);
		scen_fini(&s);
	}
}

/* Both planes die, the second while retries on the first still count: as many on each. */
static void test_both_die(void **state)
{
	struct scen s;

	(void)state;
	load(&s, PLANES, "apm: armed, qp_port: first", TO_H0, 1,
	     "faults:\n"
	     "  - {on: leaf0, at: 100us, fault: down}\n"
	     "  - {on: leaf1, at: 200us, fault: down}\n"
	     "run: {until: 50ms}");
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_failed, 1);
	assert_int_equal(migrations(&s), 1);
	assert_int_equal(s.result->adapters[WF_CTR_LOCAL_ACK_TIMEOUT_ERR], 16);
	scen_fini(&s);
}

/*
 * The same on any number of threads, with all that can happen. h1 and h5 have two flows each way
 * whose queue pairs belong to the first port: they leave it for the second, which is dead by then.
 */
static void test_threads(void **state)
{
	struct scen s;

	(void)state;
	load(&s, PAIR, "apm: armed, apm_load: 50us, apm_return: 100us",
	     "kind: shift, distance: 4, op: write, size: 2MB", 4,
	     "faults:\n"
	     "  - {on: leaf0, at: 50us, until: 400us, fault: down}\n"
	     "  - {on: h5-leaf3, at: 60us, fault: down}\n"
	     "  - {on: h2-leaf1, at: 600us, until: 900us, fault: down}\n"
	     "run: {reconverge: 20us, until: 20ms}");
	scen_same(&s, "f");
	assert_true(migrations(&s) > 0);
	assert_int_equal(s.result->flows_done, 28);
	assert_int_equal(s.result->flows_failed, 4);
	scen_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports),     cmocka_unit_test(test_path_dies),
		cmocka_unit_test(test_half),      cmocka_unit_test(test_ops),
		cmocka_unit_test(test_idle),      cmocka_unit_test(test_return),
		cmocka_unit_test(test_leaf_dies), cmocka_unit_test(test_both_die),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests_name("apm", tests, NULL, NULL);
}
