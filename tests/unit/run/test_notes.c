/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_notes.c - each rule speaks where it should, and nowhere else: every case names all rules
 * that speak in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "load.h"
#include "run/run.h"

static struct wf_paths paths;

static int find_paths(void **state)
{
	(void)state;
	return wf_paths_init(&paths, NULL, NULL);
}

static void load(struct wf_scenario *s, const char *text)
{
	const struct wf_scenario_opts opts = { .paths = &paths };

	load_scenario(s, text, WEFT_SOURCE_DIR "/examples/x.yaml", &opts);
}

static void run(const struct wf_scenario *s, struct wf_run *r)
{
	struct wf_run_opts opts = { .threads = 1 };
	struct wf_err err = { "" };

	if (wf_run_fabric(s, 0, &opts, r, &err) != 0)
		fail_msg("%s", err.text);
}

/* The rules that spoke, with blanks between. */
static void spoke(const struct wf_run *r, char *text, size_t size)
{
	text[0] = '\0';
	for (unsigned i = 0; i < r->notes.n; i++)
		snprintf(text + strlen(text), size - strlen(text), "%s%s", i == 0 ? "" : " ",
		         r->notes.note[i].rule);
}

static const char *note_of(const struct wf_run *r, const char *rule)
{
	for (unsigned i = 0; i < r->notes.n; i++) {
		if (strcmp(r->notes.note[i].rule, rule) == 0)
			return r->notes.note[i].text;
	}
	fail_msg("%s did not speak", rule);
	return "";
}

#define SINGLE(n) "topology: {kind: single, hosts: " n ", host_rate: 100Gbps}\n"
#define LEAVES "topology: {kind: leaf-spine, hosts: 16, radix: 8, host_rate: 100Gbps}\n"
#define SCALED(cc)                                                                                 \
	"topology: {kind: leaf-spine, hosts: 16, radix: 8}\n"                                      \
	"fabric: {profile: roce-400g, ecn: {kmin: 5KB, kmax: 10KB}, cc: {algorithm: " cc "}}\n"    \
	"job: {kind: train, model: llama3-8b, layers: 1, gpus_per_server: 4, tp: 4, "              \
	"micro_batches: 1, scale: 1/1024, scale_error: 1000, memory_check: false}\n"
#define INCAST(n) "traffic: [{kind: incast, fanin: " n ", target: 0, size: 2MB, op: write}]\n"
#define STORM "faults: [{on: h0, at: 50us, until: 1ms, fault: pause-storm}]\n"
#define PERMUTE "traffic: [{kind: permutation, size: 2MB, op: write}]\n"
#define FABRIC(more) "fabric: {profile: roce-400g" more "}\n"
#define SLOW(full) "devices: {h0: {nic: {rx_rate: 10Gbps, " full "}}}\n"
#define SMALL ", buffer: {size: 10MB, alpha: 1/16}"

static const struct {
	const char *text;
	const char *rules;
	const char *says[4]; /* what the notes say, among other things */
} row[] = {
	/* Nothing happens: nothing is said. */
	{ SINGLE("4") FABRIC("") PERMUTE, "", { NULL } },
	{ SINGLE("4") "fabric: ib-ndr\n" PERMUTE, "", { NULL } },
	/* Marks first, and no pauses: as it should be. */
	{ SINGLE("9") FABRIC("") INCAST("8"), "", { NULL } },
	/* Marks first and pauses later, on one switch: no rule. */
	{ SINGLE("9") FABRIC(SMALL) INCAST("8"), "", { NULL } },
	{ SINGLE("9") FABRIC(SMALL ", ecn: {kmin: 4MB, kmax: 8MB}") INCAST("8"),
	  "ecn-above-xoff",
	  { "marks begin at a queue of 4.000 MB", "never sees", " 0 marks" } },
	/* Beside the incast, hosts that have nothing to do with it. */
	{ LEAVES FABRIC(SMALL ", ecn: {kmin: 4MB, kmax: 8MB}") "seed: 3\n"
	                                                       "traffic:\n"
	                                                       "  - {kind: incast, fanin: 6, "
	                                                       "target: 0, size: 2MB, op: write}\n"
	                                                       "  - {kind: permutation, size: 2MB, "
	                                                       "op: write}\n",
	  "ecn-above-xoff pauses-spread path-collision",
	  { "spread from leaf0, where the queue to h0", "spine", "victims" } },
	{ SINGLE("9") FABRIC(", buffer: {size: 4MB, headroom: 10KB}, sender: {timeout: 200us}")
	          INCAST("8"),
	  "lossless-drops resend-storm",
	  { "buffer.headroom holds 10.00 KB", "too little", "sent again" } },
	{ SINGLE("9") "fabric: {profile: roce-400g-lossy, buffer: {size: 1MB}, cc: {algorithm: "
	              "none}, "
	              "sender: {timeout: 200us}}\n" INCAST("8"),
	  "resend-storm",
	  { "go-back-N" } },
	/* Errors and links that were down are said of the links, and no class is accused. */
	{ SINGLE("4") FABRIC(", link: {ber: 1e-7}, sender: {timeout: 200us}") PERMUTE "seed: 2\n",
	  "link-errors",
	  { "lost to errors on", "(link.ber is 1e-07)", "(port ", "not congestion" } },
	/*
	 * log10(2.4e-4 / 2.1e-4) is 0.058; with nearly a decade, and with none that is short of it,
	 * nothing is said; at 1e-3 it is 0.62 beyond, and packets are lost, or are not where the
	 * link sends them again.
	 */
	{ SINGLE("4") FABRIC("") PERMUTE
	  "devices: {'h1:leaf0': {link: {raw_ber: 2.1e-4}}, 'leaf0:h1': {link: {raw_ber: 1e-4}}}\n",
	  "fec-margin",
	  { "from leaf0 (port 1) to h1 (port 0) has a bit error rate of 2.1e-04",
	    "RS(544,514) x 2 begins to lose frames from 2.4e-04 on: 0.06 decades of margin",
	    "so has 1 more direction of links" } },
	{ SINGLE("4") FABRIC(", link: {raw_ber: 2.4e-5}") PERMUTE, "", { NULL } },
	{ SINGLE("4") FABRIC("") PERMUTE "faults: [{on: h1-leaf0, at: 5us, until: 100us, set: "
	                                 "{link: {raw_ber: 1e-3, fec: rs528}}}]\n",
	  "link-errors fec-margin resend-storm",
	  { "before its FEC; RS(528,514) loses frames from 5.0e-05 on: 1.30 decades beyond it" } },
	{ SINGLE("4") FABRIC(", link: {raw_ber: 1.5e-3, retry: llr, retry_max: 15}") PERMUTE,
	  "fec-margin link-retries",
	  { "links sent packets again", "of its wire, and nothing was lost" } },
	{ SINGLE("4") "fabric: {profile: ib-ndr, sender: {timeout: 200us}}\n" PERMUTE
	              "faults: [{link: [h1, leaf0], down: 20us, up: 25us}, "
	              "{link: [leaf0, h1], down: 40us, up: 45us}, {link: [h2, leaf0], down: 1s}]\n",
	  "link-down",
	  { "the link from h1 (port 0) to leaf0 (port 1) was down 2 times, for 10.00 us in all" } },
	/* The same hash, and what does not hash. */
	{ LEAVES FABRIC("") PERMUTE "seed: 1\n",
	  "path-collision",
	  { "the link from spine0 (port 7) to leaf3", "bundle of 4 links" } },
	{ LEAVES FABRIC(", routing: adaptive") PERMUTE "seed: 1\n", "", { NULL } },
	/* A kilometre of cable, and credits for a few packets. */
	{ "topology: {kind: single, hosts: 2, host_rate: 400Gbps, cable: {host: 1km}}\n"
	  "fabric: {profile: ib-ndr, vl: {buffer: 32KiB}}\n" PERMUTE,
	  "credits-stalled",
	  { "vl.buffer is 32.77 KB", "raise it" } },
	/* Rates that fall to the least at the first mark and do not come back. */
	{ SINGLE("5") FABRIC(
		  ", ecn: {kmin: 5KB, kmax: 10KB, pmax: 100%}, cc: {dcqcn: {rpg_min_rate: "
		  "1Mbps, initial_alpha_value: 1023, rpg_time_reset: 1ms, rpg_byte_reset: 0, "
		  "rpg_ai_rate: 1Mbps, rpg_hai_rate: 1Mbps, clamp_tgt_rate: true}}")
	          INCAST("4") "run: {until: 20ms}\n",
	  "cc-collapse",
	  { "dcqcn" } },
	/* A storm, and what a watchdog makes of it at 1/1000 of its times. */
	{ SINGLE("4") "fabric: {profile: roce-100g, pfc: {quanta: 8192}, watchdog: {rules: "
	              "sonic, phase: 0, speedup: 1000}}\n" INCAST("1") STORM,
	  "pfc-watchdog pfc-watchdog resend-storm",
	  { "the PFC watchdog (sonic) acted 1 time on class 3 of leaf0 to h0 (for ",
	    "it, not congestion, dropped ", "and restored 1: ",
	    "watchdog times are at 1/1000 of those of sonic: a poll every 200.0 us" } },
	/* InfiniBand's: heads that wait for too long, until the lane drops all. */
	{ SINGLE("4") "fabric: {profile: ib-ndr, vl: {hoq_life: 20us, stall_count: 7}}\n" INCAST(
		  "1") STORM,
	  "lossless-drops resend-storm",
	  { "longer than vl.hoq_life", "came while it was stalled (vl.stall_count)" } },
	/* A receive buffer that is drained as fast as it is filled, and some that are not. */
	{ SINGLE("4") FABRIC(", nic: {rx_full: pause}") INCAST("3"), "", { NULL } },
	{ SINGLE("4") FABRIC("") SLOW("rx_full: pause") INCAST("3"),
	  "slow-receiver",
	  { "h0's adapter took in 10.2 Gb/s of the 100.0 Gb/s", "it paused leaf0 for 8" } },
	{ SINGLE("4") FABRIC(", sender: {timeout: 200us}") SLOW("rx_full: drop") INCAST("3"),
	  "lossless-drops slow-receiver resend-storm",
	  { "most at h0, whose adapter drops what finds no room", "it dropped" } },
	{ SINGLE("4") FABRIC(", sender: {timeout: 200us}")
	          SLOW("rx_full: pause, rx_buffer: 100KB, rx_xoff: 90KB") INCAST("3"),
	  "lossless-drops slow-receiver resend-storm",
	  { "nic.rx_xoff leaves 10.00 KB", "write nic.rx_xoff: auto", "and it dropped" } },
	{ LEAVES "fabric: ib-ndr\n" SLOW(
		  "rx_full: pause") "traffic:\n"
	                            "  - {kind: incast, fanin: 6, target: 0, size: 2MB, op: "
	                            "write}\n"
	                            "  - {kind: permutation, size: 2MB, op: write}\n",
	  "slow-receiver credits-stalled",
	  { "gave no credits to leaf0 for", "hosts that send nothing to it were stopped, too" } },
	/* What hangs on an adapter is no deadlock. */
	{ SINGLE("4") FABRIC(SMALL ", cc: {algorithm: none}")
	          INCAST("3") "faults: [{on: h0, at: 10us, fault: pause-storm}]\n"
	                      "run: {until: 2ms}\n",
	  "standstill",
	  { "no deadlock: 1 queue with ", "hangs on the adapter of h0, which lets nobody send" } },
	/* A job that is scaled, and congestion control that is not; the same without it. */
	{ SCALED("dcqcn"),
	  "path-collision scaled-congestion",
	  { "timers are not scaled", "scale_error does not bound" } },
	{ SCALED("none"), "path-collision", { NULL } },
};

static void test_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_scenario s;
		struct wf_run r;
		char rules[256], all[WF_NOTES_MAX * WF_NOTE_TEXT] = "";

		load(&s, row[i].text);
		run(&s, &r);
		spoke(&r, rules, sizeof(rules));
		for (unsigned k = 0; k < r.notes.n; k++)
			strcat(all, r.notes.note[k].text);
		if (strcmp(rules, row[i].rules) != 0)
			fail_msg("case %zu: \"%s\", not \"%s\": %s", i, rules, row[i].rules, all);
		for (unsigned k = 0; k < 4 && row[i].says[k] != NULL; k++) {
			if (strstr(all, row[i].says[k]) == NULL)
				fail_msg("case %zu does not say \"%s\": %s", i, row[i].says[k],
				         all);
		}
		wf_run_fini(&r);
		wf_scenario_fini(&s);
	}
}

/*
 * Five switches in a ring, every host sends to the one two further on: with PFC nothing moves at
 * last.
 */
static void test_deadlock(void **state)
{
	static const char text[] = "topology: {kind: hpcc, file: topologies/ring.txt}\n"
				   "fabric:\n"
				   "  profile: roce-400g-nocc\n"
				   "  buffer: {size: 3MB, alpha: 1/16, reserved: 4608B}\n"
				   "  sender: {timeout: 200ms}\n"
				   "traffic: [{kind: permutation, size: 1MB}]\n"
				   "run: {until: 20ms}\n";
	struct wf_scenario s;
	struct wf_run r;
	char line[400];

	(void)state;
	load(&s, text);
	for (uint32_t by = 2; by >= 1; by--) {
		for (uint32_t i = 0; i < 5; i++)
			s.flows.flow[i] = (struct wf_flow_spec){
				.src = i, .dst = (i + by) % 5, .bytes = 20000000, .cls = 3
			};
		run(&s, &r);
		assert_int_equal(r.result.finished, by == 1);
		if (by == 2) {
			const char *note = note_of(&r, "deadlock");

			assert_non_null(strstr(note, "deadlock: 5 queues of class 3 wait for one "
			                             "another in a circle, complete at "));
			assert_non_null(
				strstr(note, "can never move again, and 5 hosts cannot send"));
			assert_int_equal(r.n_deadlocks, 1);
			assert_int_equal(r.deadlocks_found, 1);
			assert_true(r.deadlocks[0].certain);
			wf_note_deadlock_link(&r, r.deadlocks, 0, line, sizeof(line));
			assert_non_null(strstr(line, "sw5:1 -> sw6, class 3: "));
			assert_non_null(strstr(line, " first h4 -> h1; "));
			assert_non_null(strstr(line, " of them from sw9; stopped since "));
		} else {
			assert_int_equal(r.notes.n, 0);
			assert_int_equal(r.n_deadlocks, 0);
		}
		wf_run_fini(&r);
	}
	wf_scenario_fini(&s);
}

static void test_table(void **state)
{
	struct wf_note_rule rule, other;
	size_t n = 0;

	(void)state;
	for (; wf_notes_rule(n, &rule); n++) {
		assert_true(rule.help[0] != '\0');
		for (size_t k = 0; k < n; k++) {
			assert_true(wf_notes_rule(k, &other));
			assert_string_not_equal(rule.name, other.name);
		}
	}
	assert_int_equal(n, 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_deadlock),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, find_paths, NULL);
}
