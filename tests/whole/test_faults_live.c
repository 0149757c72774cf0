/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios: faults of a fabric that runs already, in the words of a file: they happen when they
 * should, end, are mended, and what is refused leaves nothing behind.
 */
#include "scen.h"

#include <errno.h>

#include "fabric/watchdog.h"
#include "scenario/faults_live.h"

/* A fabric whose programs are outside, and say nothing. */
struct running {
	struct scen s;
	struct wf_faults_live live;
	struct wf_err err;
};

static bool next(void *arg, uint32_t host, uint32_t held, wf_time now, struct wf_packet *pkt,
                 wf_time *again_p)
{
	(void)arg, (void)host, (void)held, (void)now, (void)pkt, (void)again_p;
	return false;
}

static void deliver(void *arg, uint32_t host, const struct wf_packet *pkt, wf_time now)
{
	(void)arg, (void)host, (void)pkt, (void)now;
}

static void lost(void *arg, const struct wf_packet *pkt)
{
	(void)arg, (void)pkt;
}

static bool go_on(void *arg, wf_time now)
{
	(void)arg, (void)now;
	return true;
}

static const struct wf_gate_ops gates = {
	.next = next, .deliver = deliver, .lost = lost, .go_on = go_on
};

static const char plain[] = "topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: 100Gbps}\n"
			    "fabric: roce-100g\n";

static struct running *start(const char *text)
{
	struct running *r = calloc(1, sizeof(*r));
	struct wf_scenario_opts opts = { .programs = true };
	struct wf_scenario_fabric *f;
	struct wf_sim_cfg cfg;

	assert_non_null(r);
	opts.paths = &r->s.paths;
	assert_int_equal(wf_paths_init(&r->s.paths, NULL, NULL), 0);
	if (wf_scenario_parse(&r->s.scenario, text, strlen(text), "x.yaml", &opts, &r->err) != 0)
		fail_msg("%s", r->err.text);
	r->s.scenario.endless = true;
	if (wf_scenario_build(&r->s.scenario, &r->err) != 0)
		fail_msg("%s", r->err.text);
	f = &r->s.scenario.fabrics[0];
	cfg = (struct wf_sim_cfg){
		.topo = f->net->topo,
		.fabric = &f->cfg,
		.devices = wf_devices_of(&f->devices),
		.faults = f->events,
		.n_faults = f->n_events,
		.cc = &f->values.cc,
		.gate = &gates,
		.threads = 1,
	};
	if (wf_sim_create(&cfg, &r->s.sim, &r->err) != 0)
		fail_msg("%s", r->err.text);
	wf_faults_live_init(&r->live, &r->s.scenario, f);
	return r;
}

static void stop(struct running *r)
{
	wf_sim_destroy(r->s.sim);
	wf_faults_live_fini(&r->live);
	wf_scenario_fini(&r->s.scenario);
	free(r);
}

static void at(struct running *r, wf_time time)
{
	assert_int_equal(wf_gated_run(r->s.sim, time), 0);
	wf_sim_rest(r->s.sim, time);
	assert_int_equal(wf_sim_now(r->s.sim), time);
}

static void add(struct running *r, const char *text)
{
	if (wf_faults_live_add(&r->live, r->s.sim, text, "word", &r->err) != 0)
		fail_msg("%s: %s", text, r->err.text);
}

static void refused(struct running *r, const char *text, const char *why)
{
	r->err.text[0] = '\0';
	assert_int_equal(wf_faults_live_add(&r->live, r->s.sim, text, "word", &r->err), -EINVAL);
	if (strstr(r->err.text, why) == NULL)
		fail_msg("%s: %s", text, r->err.text);
}

static void clear(struct running *r, const char *on)
{
	if (wf_faults_live_clear(&r->live, r->s.sim, on, &r->err) != 0)
		fail_msg("%s", r->err.text);
}

static unsigned lines(const struct running *r)
{
	struct wf_faults_line line;
	unsigned n = 0;

	while (wf_faults_live_line(&r->live, n, wf_sim_now(r->s.sim), &line))
		n++;
	return n;
}

static uint32_t node(const struct running *r, const char *name)
{
	return wf_topo_node_by_name(r->s.sim->topo, name);
}

/* The configuration that a device has now. */
static const struct wf_fabric_cfg *cfg_of(const struct running *r, const char *name)
{
	return &r->s.sim->net.devices[node(r, name)]->setup->cfg;
}

static uint32_t link_of(const struct running *r, const char *name, unsigned port)
{
	const struct wf_topo *t = r->s.sim->topo;

	return t->ports[t->nodes[node(r, name)].first_port + port].link;
}

static bool is_down(const struct running *r, const char *host)
{
	return wf_gated_is_down(r->s.sim, link_of(r, host, 0));
}

/* At once, later, for a while, and again and again. */
static void test_links(void **state)
{
	struct running *r = start(plain);

	(void)state;
	add(r, "{on: h1, fault: down}");
	assert_true(is_down(r, "h1"));
	at(r, 5 * WF_MS);
	add(r, "{on: h2-leaf0, fault: down, at: 1ms, until: 3ms}");
	add(r, "{on: h3, fault: flap, every: 10ms, for: 1ms}");
	assert_true(!is_down(r, "h2") && is_down(r, "h3"));
	at(r, 5999 * WF_US);
	assert_true(!is_down(r, "h2") && is_down(r, "h3"));
	at(r, 6001 * WF_US);
	assert_true(is_down(r, "h2") && !is_down(r, "h3"));
	at(r, 7999 * WF_US);
	assert_true(is_down(r, "h2"));
	at(r, 8001 * WF_US);
	assert_true(!is_down(r, "h2"));
	for (int i = 1; i < 1000; i++) {
		at(r, (5 + 10 * i) * WF_MS + WF_US);
		assert_true(is_down(r, "h3"));
		at(r, (6 + 10 * i) * WF_MS + WF_US);
		assert_true(!is_down(r, "h3"));
	}
	assert_int_equal(lines(r), 2); /* h2's is over */
	clear(r, "h3");
	at(r, 20 * WF_S);
	assert_true(is_down(r, "h1") && !is_down(r, "h3"));
	assert_int_equal(lines(r), 1);
	clear(r, "");
	assert_true(!is_down(r, "h1"));
	assert_int_equal(lines(r), 0);
	stop(r);
}

/* A device that dies, adapters that pause, and both at the same time from two faults. */
static void test_devices_and_storms(void **state)
{
	struct running *r = start(plain);

	(void)state;
	add(r, "{on: leaf0, fault: down, until: 2ms}");
	add(r, "{on: h0, fault: down, at: 1ms, until: 4ms}");
	add(r, "{on: 'h*', fault: pause-storm, until: 1ms}");
	add(r, "{on: h6, fault: pause-storm, at: 500us, until: 3ms}");
	assert_true(is_down(r, "h0") && is_down(r, "h1") && !is_down(r, "h6"));
	assert_true(wf_gated_storms(r->s.sim, 0) && wf_gated_storms(r->s.sim, 6));
	at(r, 1500 * WF_US);
	assert_true(!wf_gated_storms(r->s.sim, 0) && wf_gated_storms(r->s.sim, 6));
	at(r, 2500 * WF_US);
	assert_true(is_down(r, "h0") && !is_down(r, "h1"));
	at(r, 4500 * WF_US);
	assert_true(!is_down(r, "h0") && !wf_gated_storms(r->s.sim, 6));
	stop(r);
}

/* Settings that overlap: each ends by itself, and the last one counts while it lasts. */
static void test_settings(void **state)
{
	struct running *r = start(plain);
	uint64_t was = cfg_of(r, "leaf0")->ecn_kmin;

	(void)state;
	add(r, "{on: leaf0, set: {ecn.kmin: 10KB}, until: 10ms}");
	assert_int_equal(cfg_of(r, "leaf0")->ecn_kmin, 10000);
	assert_int_equal(cfg_of(r, "leaf1")->ecn_kmin, was);
	at(r, 1 * WF_MS);
	add(r, "{on: 'leaf*', set: {ecn.kmin: 20KB}, at: 1ms, until: 3ms}");
	add(r, "{on: h5, set: {nic.pcie: 32Gbps}}");
	add(r, "{on: h1-leaf0, set: {link.rate: 10Mbps}, at: 2ms}");
	assert_int_equal(cfg_of(r, "leaf0")->ecn_kmin, 10000);
	assert_int_equal(cfg_of(r, "h5")->nic_pcie, 32000000000);
	at(r, 2001 * WF_US);
	assert_int_equal(cfg_of(r, "leaf0")->ecn_kmin, 20000);
	assert_int_equal(cfg_of(r, "leaf1")->ecn_kmin, 20000);
	at(r, 4001 * WF_US);
	assert_int_equal(cfg_of(r, "leaf0")->ecn_kmin, 10000);
	assert_int_equal(cfg_of(r, "leaf1")->ecn_kmin, was);
	assert_int_equal(r->s.sim->net.devices[node(r, "h1")]->ports[0].rate, 10000000);
	at(r, 10001 * WF_US);
	assert_int_equal(cfg_of(r, "leaf0")->ecn_kmin, was);
	assert_int_equal(cfg_of(r, "h5")->nic_pcie, 32000000000);
	clear(r, "h5");
	assert_int_not_equal(cfg_of(r, "h5")->nic_pcie, 32000000000);
	assert_int_equal(lines(r), 1);
	stop(r);
}

/* What is refused, by the text or by the fabric that runs, changes nothing. */
static void test_refused(void **state)
{
	struct running *r = start(plain);
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "{on: leaf9, fault: down}", "did you mean" },
		{ "{on: leaf0, fault: dwon}", "did you mean down" },
		{ "{on: leaf0, set: {pfc.rxx: none}}", "did you mean pfc.rx" },
		{ "{on: leaf0, set: {pfc.rx: none}, fault: down}", "one of them" },
		{ "{on: leaf0, fault: flap}", "a flap needs every and for" },
		{ "{on: leaf0, fault: down, at: 2s, until: 1s}", "until: it is over before" },
		{ "{on: leaf0, fault: down, at: 2s, at: 1s}", "" },
		{ "{link: [leaf0, spine0], down: 1s}", "write what it happens to" },
		{ "leaf0 down", "write what it happens to" },
		{ "{on: leaf0, set: {buffer.size: 1MB}}", "cannot change while" },
		{ "{on: leaf0, set: {ecn.kmin: 10MB}}", "kmin" },
		{ "{on: h1-leaf0, set: {link.rate: 5Mbps}}", "slower than 10000 kb/s" },
		{ "{on: leaf0, set: {maps: {tc_queue: '3:7'}}}", "before it runs" },
		{ "{on: h1, fault: pause-storm", "" },
		{ "{on: leaf1, fault: pause-storm}", "is no host" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(bad); i++)
		refused(r, bad[i].text, bad[i].why);
	assert_int_equal(lines(r), 0);
	assert_int_equal(r->s.scenario.n_rules + r->s.scenario.n_faults, 0);
	assert_null(r->live.entries);
	assert_int_equal(wf_faults_live_clear(&r->live, r->s.sim, "leaf9", &r->err), -EINVAL);
	add(r, "{on: leaf0, set: {ecn.kmin: 10KB}}");
	assert_int_equal(cfg_of(r, "leaf0")->ecn_kmin, 10000);
	stop(r);
}

/* What the file said is there again when all is cleared; what it planned does not happen. */
static void test_file_and_clear(void **state)
{
	char text[512];
	struct running *r;
	struct wf_faults_line line;

	(void)state;
	snprintf(text, sizeof(text),
	         "%sdevices: {leaf1: {ecn: {kmin: 30KB}}}\n"
	         "faults: [{on: h2, at: 1ms, fault: flap, every: 1ms, for: 100us},\n"
	         "  {on: leaf1, at: 2ms, until: 4ms, set: {ecn: {kmin: 40KB}}},\n"
	         "  {link: [leaf0, spine0], down: 50ms}]\n",
	         plain);
	r = start(text);
	assert_int_equal(lines(r), 3);
	assert_true(wf_faults_live_line(&r->live, 1, 0, &line));
	assert_string_equal(line.settings, "ecn.kmin=40KB");
	at(r, 1050 * WF_US);
	assert_true(is_down(r, "h2"));
	assert_int_equal(cfg_of(r, "leaf1")->ecn_kmin, 30000);
	at(r, 3 * WF_MS);
	assert_int_equal(cfg_of(r, "leaf1")->ecn_kmin, 40000);
	add(r, "{on: leaf1, set: {ecn: {kmin: 50KB}}, until: 2ms}");
	assert_int_equal(cfg_of(r, "leaf1")->ecn_kmin, 50000);
	at(r, 4500 * WF_US);
	assert_int_equal(cfg_of(r, "leaf1")->ecn_kmin, 50000);
	clear(r, "");
	assert_int_equal(cfg_of(r, "leaf1")->ecn_kmin, 30000);
	assert_int_equal(lines(r), 0);
	at(r, 60 * WF_MS);
	assert_true(!is_down(r, "h2"));
	assert_false(wf_gated_is_down(r->s.sim, link_of(r, "spine0", 0)));
	stop(r);
}

/*
 * A link gets raw bit errors while the fabric runs, for 1 ms: 19,531 codewords of 640 B at 100
 * Gb/s, of which 1 - 0.9999^5440 have errors that are mended. It may begin to send again what it
 * loses, and become narrower, as far as there was room made for it.
 */
static void test_errors(void **state)
{
	struct running *r = start(plain);
	const struct wf_port *port = &r->s.sim->net.devices[node(r, "h0")]->ports[0];
	struct wf_sim_counts c;

	(void)state;
	at(r, WF_MS);
	add(r, "{on: h0-leaf0, set: {link: {raw_ber: 1e-4, fec: rs544, retry: llr, width: 1/8}}, "
	       "at: 1ms, until: 2ms}");
	add(r, "{on: h0-leaf0, set: {link: {width: 1}}, at: 1ms}");
	refused(r, "{on: h0-leaf0, set: {link: {width: 1/16}}}", "link.width");
	assert_null(port->retry);
	at(r, 2500 * WF_US);
	assert_non_null(port->retry);
	assert_int_equal(port->hooked, WF_HOOK_RETRY);
	at(r, 5 * WF_MS);
	assert_int_equal(port->hooked, 0);
	wf_sim_port_total(r->s.sim, node(r, "h0"), 0, &c);
	assert_in_range(c.fec_corrected, 8194, 8196);
	stop(r);
}

/*
 * Many, one after the other: none is forgotten, and clearing makes room again for as many as there
 * may be.
 */
static void test_many(void **state)
{
	static const int many[] = { 50, WF_SCENARIO_MAX_RULES };
	struct running *r = start(plain);
	char text[80];

	(void)state;
	for (size_t round = 0; round < WF_ARRAY_SIZE(many); round++) {
		for (int i = 0; i < many[round]; i++) {
			snprintf(text, sizeof(text), "{on: leaf%d, set: {ecn.kmin: %dKB}}", i % 2,
			         i + 1);
			add(r, text);
		}
		assert_int_equal(cfg_of(r, "leaf1")->ecn_kmin, many[round] * 1000);
		assert_int_equal(cfg_of(r, "leaf0")->ecn_kmin, (many[round] - 1) * 1000);
		if (many[round] == WF_SCENARIO_MAX_RULES)
			refused(r, "{on: leaf0, set: {ecn.kmin: 1KB}}", "at most 256");
		clear(r, "");
		assert_int_equal(lines(r), 0);
	}
	stop(r);
}

/*
 * A watchdog that is set while the fabric runs: by Cumulus' rules a queue that is paused for three
 * polls of 100 ms, wherever the first of them is, and let go a poll after the last pause frame.
 */
static void test_watchdog(void **state)
{
	struct running *r = start(plain);
	const struct wf_watchdog_queue *w;
	unsigned queue = 0;

	(void)state;
	while (r->s.scenario.fabrics[0].classes.queue[queue].id != 3)
		queue++;
	w = wf_watchdog_look(r->s.sim->net.devices[node(r, "leaf0")], 1, queue);
	assert_non_null(w);
	add(r, "{on: h1, fault: pause-storm, until: 3s}");
	at(r, WF_S);
	assert_int_equal(w->times, 0);
	add(r, "{on: leaf0, set: {watchdog: {rules: cumulus}}}");
	at(r, 1200 * WF_MS);
	assert_int_equal(w->times, 0);
	at(r, 1301 * WF_MS);
	assert_int_equal(w->times, 1);
	at(r, 2999 * WF_MS);
	assert_int_equal(w->ends, 0);
	at(r, 3201 * WF_MS);
	assert_int_equal(w->ends, 1);
	assert_int_equal(w->times, 1);
	stop(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),          cmocka_unit_test(test_devices_and_storms),
		cmocka_unit_test(test_settings),       cmocka_unit_test(test_refused),
		cmocka_unit_test(test_file_and_clear), cmocka_unit_test(test_many),
		cmocka_unit_test(test_watchdog),       cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
