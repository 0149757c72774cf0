/* SPDX-License-Identifier: Apache-2.0 */
/* test_rules.c - weft diagnose's rules on evidence that is made here: what must be found. */
#include "diagnose/diagnose.h"

#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mem_fail.h"

#define RATE UINT64_C(400000000000)

struct count {
	const char *device, *port;
	int queue;
	enum wf_ev_counter counter;
	uint64_t value;
};

struct wire {
	const char *a, *a_port, *b, *b_port;
};

/* h1 - s1 = s2 - h2: ports 1 to hosts, 2 and 3 between the switches. */
static const struct wire wires[] = {
	{ "h1", "1", "s1", "1" },
	{ "h2", "1", "s2", "1" },
	{ "s1", "2", "s2", "2" },
	{ "s1", "3", "s2", "3" },
};

#define NONE WF_EV_NO_QUEUE
#define COUNTS 12

static const struct {
	wf_time span;      /* 0: one snapshot */
	const char *first; /* NULL: nothing is found */
	enum wf_severity severity;
	const char *device;
	struct count count[COUNTS];
} cases[] = {
	{ WF_MS, NULL, WF_SEVERITY_INFO, NULL, { { "h1", "1", 3, WF_EV_tx_bytes, 1000 } } },
	/* Pauses of 42 us each follow one another; the same of 10 us do not. */
	{ 10 * WF_MS,
	  "pause-storm",
	  WF_SEVERITY_ERROR,
	  "h2",
	  { { "s2", "1", 3, WF_EV_pause_rx, 100 },
	    { "s2", "1", 3, WF_EV_paused_ps, 4200 * WF_US } } },
	{ 10 * WF_MS,
	  "slow-receiver",
	  WF_SEVERITY_WARNING,
	  "h2",
	  { { "s2", "1", 3, WF_EV_pause_rx, 100 },
	    { "s2", "1", 3, WF_EV_paused_ps, 1000 * WF_US } } },
	/* Ticks of waiting for credits, of whatever length: at the port to a host, or not there. */
	{ 0,
	  "slow-receiver",
	  WF_SEVERITY_WARNING,
	  "h2",
	  { { "s2", "1", NONE, WF_EV_xmit_wait_ticks, 700000 },
	    { "s1", "2", NONE, WF_EV_xmit_wait_ticks, 900000 } } },
	{ 0,
	  "credits",
	  WF_SEVERITY_INFO,
	  "s1",
	  { { "s2", "1", NONE, WF_EV_xmit_wait_ticks, 70000 },
	    { "s1", "2", NONE, WF_EV_xmit_wait_ticks, 900000 } } },
	/* The same of a port whose counters are not told apart by priority. */
	{ 10 * WF_MS,
	  "pause-storm",
	  WF_SEVERITY_ERROR,
	  "h2",
	  { { "s2", "1", NONE, WF_EV_pause_rx, 100 },
	    { "s2", "1", NONE, WF_EV_paused_ps, 4200 * WF_US } } },
	/* What stops for less than 2 % of the time is told of, and no matter. */
	{ WF_S,
	  "congestion",
	  WF_SEVERITY_INFO,
	  "s2",
	  { { "h2", "1", 3, WF_EV_pause_tx, 100 },
	    { "s2", "1", 3, WF_EV_pause_rx, 100 },
	    { "s2", "1", 3, WF_EV_paused_ps, 1000 * WF_US } } },
	/* Each waits for the other; one of them alone does not. */
	{ WF_MS,
	  "deadlock",
	  WF_SEVERITY_ERROR,
	  "s1",
	  { { "s1", "2", 3, WF_EV_pause_rx, 30 },
	    { "s1", "2", 3, WF_EV_paused_ps, 950 * WF_US },
	    { "s2", "3", 3, WF_EV_pause_rx, 30 },
	    { "s2", "3", 3, WF_EV_paused_ps, 950 * WF_US } } },
	{ WF_MS,
	  "congestion",
	  WF_SEVERITY_INFO,
	  "s2",
	  { { "s1", "2", 3, WF_EV_pause_rx, 30 },
	    { "s1", "2", 3, WF_EV_paused_ps, 950 * WF_US },
	    { "s2", "2", 3, WF_EV_pause_tx, 30 },
	    { "s2", "2", 3, WF_EV_ecn_marked, 5 } } },
	{ WF_MS,
	  "headroom",
	  WF_SEVERITY_ERROR,
	  "s1",
	  { { "s1", "2", 3, WF_EV_pause_tx, 5 }, { "s1", "2", 3, WF_EV_drops_buffer, 7 } } },
	{ WF_MS,
	  "pause-ignored",
	  WF_SEVERITY_ERROR,
	  "s1",
	  { { "s1", "1", 3, WF_EV_pause_tx, 5 },
	    { "s1", "1", 3, WF_EV_drops_buffer, 7 },
	    { "h1", "1", 3, WF_EV_paused_ps, 0 } } },
	/* Nobody tells of pauses: 3 is lossless nearly everywhere, 1 is not. */
	{ 0, "headroom", WF_SEVERITY_WARNING, "s1", { { "s1", "2", 3, WF_EV_queue_drops, 7 } } },
	{ 0, "lossy-drops", WF_SEVERITY_INFO, "s1", { { "s1", "2", 1, WF_EV_queue_drops, 7 } } },
	{ WF_MS,
	  "ecn-off",
	  WF_SEVERITY_ERROR,
	  "s1",
	  { { "s1", "2", 3, WF_EV_pause_tx, 60 },
	    { "s1", "2", 3, WF_EV_ecn_marked, 0 },
	    { "s2", "1", 3, WF_EV_ecn_marked, 9 } } },
	{ WF_MS,
	  "ecn-after-pfc",
	  WF_SEVERITY_WARNING,
	  "s1",
	  { { "s1", "2", 3, WF_EV_pause_tx, 60 }, { "s1", "2", 3, WF_EV_ecn_marked, 0 } } },
	{ WF_MS,
	  "cc-off",
	  WF_SEVERITY_ERROR,
	  "h2",
	  { { "h2", "1", NONE, WF_EV_HCA_NP_ECN_MARKED_ROCE_PACKETS, 500 },
	    { "h2", "1", NONE, WF_EV_HCA_NP_CNP_SENT, 0 } } },
	{ WF_MS,
	  "cnp-ignored",
	  WF_SEVERITY_ERROR,
	  "h1",
	  { { "h1", "1", NONE, WF_EV_HCA_RP_CNP_IGNORED, 500 },
	    { "h1", "1", NONE, WF_EV_HCA_RP_CNP_HANDLED, 2 } } },
	{ WF_MS,
	  "cnp-class",
	  WF_SEVERITY_ERROR,
	  "h1",
	  { { "h1", "1", NONE, WF_EV_HCA_NP_CNP_SENT, 500 },
	    { "h1", "1", 3, WF_EV_tx_packets, 90000 },
	    { "h1", "1", 6, WF_EV_tx_packets, 3 } } },
	/* They are in a priority of their own. */
	{ WF_MS,
	  NULL,
	  WF_SEVERITY_INFO,
	  NULL,
	  { { "h1", "1", NONE, WF_EV_HCA_NP_CNP_SENT, 500 },
	    { "h1", "1", 3, WF_EV_tx_packets, 90000 },
	    { "h1", "1", 6, WF_EV_tx_packets, 500 } } },
	{ WF_MS,
	  "link-down",
	  WF_SEVERITY_ERROR,
	  "s1",
	  { { "s1", "2", NONE, WF_EV_link_downed, 2 } } },
	{ WF_MS,
	  "link-down",
	  WF_SEVERITY_WARNING,
	  "s1",
	  { { "s2", "2", NONE, WF_EV_link_downed, 1 } } },
	{ 0, "link-down", WF_SEVERITY_INFO, "s1", { { "s1", "2", NONE, WF_EV_link_downed, 2 } } },
	/* A timeout follows from errors on a link. */
	{ WF_MS,
	  "link-errors",
	  WF_SEVERITY_ERROR,
	  "s2",
	  { { "h1", "1", NONE, WF_EV_HCA_LOCAL_ACK_TIMEOUT_ERR, 2 },
	    { "s2", "2", NONE, WF_EV_drops_error, 3 } } },
	{ WF_MS,
	  "retransmissions",
	  WF_SEVERITY_WARNING,
	  "h1",
	  { { "h1", "1", NONE, WF_EV_HCA_LOCAL_ACK_TIMEOUT_ERR, 2 } } },
	/* 1 of 10^4 bits is mended, and nothing lost. */
	{ WF_MS,
	  "fec-margin",
	  WF_SEVERITY_WARNING,
	  "s1",
	  { { "s1", "2", NONE, WF_EV_fec_bits, 40000 } } },
	{ WF_MS, NULL, WF_SEVERITY_INFO, NULL, { { "s1", "2", NONE, WF_EV_fec_bits, 400 } } },
	{ WF_MS, "mtu", WF_SEVERITY_ERROR, "s1", { { "s1", "3", NONE, WF_EV_drops_mtu, 1 } } },
	{ WF_MS,
	  "routing-loop",
	  WF_SEVERITY_ERROR,
	  "s1",
	  { { "s1", "3", NONE, WF_EV_drops_hops, 1 } } },
};

static void put(struct wf_evidence *ev, const struct count *c)
{
	struct wf_ev_sample s = { .queue = (int16_t)c->queue,
		                  .counter = (uint16_t)c->counter,
		                  .value = c->value };
	uint32_t device = wf_evidence_find_device(ev, c->device, strlen(c->device));

	s.port = wf_evidence_find_port(ev, device, c->port, strlen(c->port));
	assert_int_not_equal(s.port, WF_EV_NONE);
	assert_int_equal(wf_evidence_put(ev, &s), 0);
}

static uint32_t port(struct wf_evidence *ev, const char *device, const char *name)
{
	uint32_t d, p;

	assert_int_equal(wf_evidence_device(ev, device, strlen(device), &d), 0);
	ev->devices[d].kind = device[0] == 'h' ? WF_EV_HOST : WF_EV_SWITCH;
	assert_int_equal(wf_evidence_port(ev, d, name, strlen(name), &p), 0);
	ev->ports[p].rate = RATE;
	return p;
}

static struct wf_evidence *make(size_t i)
{
	struct wf_evidence *ev;

	assert_int_equal(wf_evidence_create(wf_mem_heap(), &ev), 0);
	for (size_t k = 0; k < WF_ARRAY_SIZE(wires); k++) {
		uint32_t a = port(ev, wires[k].a, wires[k].a_port);

		wf_evidence_link(ev, a, port(ev, wires[k].b, wires[k].b_port));
	}
	for (size_t k = 0; k < COUNTS && cases[i].count[k].device != NULL; k++)
		put(ev, &cases[i].count[k]);
	ev->interval = cases[i].span;
	assert_int_equal(wf_evidence_finish(ev), 0);
	return ev;
}

static void test_cases(void **state)
{
	static struct wf_diagnosis d;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		struct wf_evidence *ev = make(i);

		assert_int_equal(wf_diagnose(ev, wf_mem_heap(), &d), 0);
		if (cases[i].first == NULL) {
			if (d.n != 0)
				fail_msg("case %zu: %s: %s", i, d.found[0].rule->name,
				         d.found[0].what);
		} else {
			if (d.n == 0)
				fail_msg("case %zu: nothing is found", i);
			assert_string_equal(d.found[0].rule->name, cases[i].first);
			if (d.found[0].severity != cases[i].severity)
				fail_msg("case %zu: %s", i, d.found[0].what);
			assert_string_equal(ev->devices[d.found[0].device].name, cases[i].device);
			assert_true(d.found[0].n_evidence > 0);
			assert_int_equal(d.found[0].follows, -1);
			for (unsigned k = 1; k < d.n; k++)
				assert_true(!d.found[k].rule->effect || d.found[0].rule->effect ||
				            d.found[k].follows == 0);
		}
		assert_int_equal(wf_diagnosis_worst(&d),
		                 cases[i].first == NULL ? WF_SEVERITY_INFO : cases[i].severity);
		wf_diagnosis_fini(&d);
		wf_evidence_destroy(ev);
	}
}

static void test_no_memory(void **state)
{
	static struct wf_diagnosis d;
	struct wf_evidence *ev = make(1);
	bool done = false;

	(void)state;
	for (long n = 0; !done; n++) {
		struct mem_fail mem = mem_fail_after(n);
		int ret = wf_diagnose(ev, &mem.mem, &d);

		assert_true(ret == 0 || ret == -ENOMEM);
		/* A rule that finds no memory to look does not speak; nothing else is lost. */
		done = ret == 0 && mem.left >= 0;
		if (ret == 0)
			wf_diagnosis_fini(&d);
		assert_int_equal(mem.held, 0);
	}
	wf_evidence_destroy(ev);
}

/* Every rule says what it looks at, what the cause is and what to do; names are their own. */
static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < wf_rules_n; i++) {
		const struct wf_rule *rule = wf_rule_at(i);

		assert_true(rule->name[0] != '\0' && rule->help[0] != '\0' &&
		            rule->needs[0] != '\0');
		assert_true(rule->cause[0] != '\0' && rule->cure[0] != '\0');
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(rule->name, wf_rule_at(k)->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
