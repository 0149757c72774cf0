/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_watchdog.c - the table of watchdogs' rules, what times they come to, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/watchdog.h"

#define CONDITIONS 31u /* all of WF_WATCHDOG_UNSENT to WF_WATCHDOG_SHARE */

static void set(struct wf_fabric_cfg *cfg, const char *name, const char *value)
{
	struct wf_err err = { "" };
	const struct wf_param *row = wf_param_find(wf_fabric_params, wf_fabric_n_params, name);

	assert_non_null(row);
	if (wf_param_set(row, cfg, value, &err) != 0)
		fail_msg("%s: %s", name, err.text);
}

static void defaults(struct wf_fabric_cfg *cfg)
{
	struct wf_err err = { "" };

	assert_int_equal(wf_param_defaults(wf_fabric_params, wf_fabric_n_params, cfg, &err), 0);
}

/* Every row is whole, and its name is the word that chooses it. */
static void test_table(void **state)
{
	for (unsigned i = 0; i < WF_WATCHDOG_IDS; i++) {
		const struct wf_watchdog_rules *r = wf_watchdog_at((enum wf_watchdog_id)i);
		bool adapters = wf_watchdog_is_adapters((enum wf_watchdog_id)i);
		struct wf_watchdog_set of_switch, of_adapter;
		struct wf_fabric_cfg cfg;

		(void)state;
		assert_non_null(r->help);
		defaults(&cfg);
		set(&cfg, adapters ? "watchdog.adapter" : "watchdog.rules", r->name);
		wf_watchdog_compile(&cfg, &of_switch, &of_adapter);
		assert_ptr_equal(of_switch.rules, adapters ? NULL : r);
		assert_ptr_equal(of_adapter.rules, adapters ? r : NULL);
		if (adapters) {
			assert_true(r->detect > 0 && r->poll == 0);
			continue;
		}
		assert_true(r->poll > 0 && (r->detect > 0) != (r->polls > 0));
		assert_true(r->waiting != 0 && ((r->waiting | r->empty) & ~CONDITIONS) == 0);
		assert_true(((r->waiting | r->empty) & WF_WATCHDOG_SHARE) == 0 ||
		            (r->share > 0 && r->share < 100));
	}
}

/*
 * What times come to: by the rules, with the ports of a SONiC switch, where something else is said,
 * and divided.
 */
static void test_times(void **state)
{
	static const struct {
		const char *rules, *ports, *poll, *detect, *restore, *speedup;
		uint32_t n_ports;
		wf_time want[3]; /* us */
	} rows[] = {
		{ "sonic", "0", "auto", "auto", "auto", "1", 32, { 200000, 200000, 200000 } },
		{ "sonic", "0", "auto", "auto", "auto", "1", 33, { 400000, 400000, 400000 } },
		{ "sonic", "128", "auto", "auto", "auto", "1", 8, { 800000, 800000, 800000 } },
		/* No poll is rarer than once a second. */
		{ "sonic", "256", "auto", "auto", "auto", "1", 8, { 1000000, 1600000, 1600000 } },
		{ "sonic", "128", "auto", "400ms", "auto", "1000", 8, { 800, 400, 800 } },
		{ "cumulus", "128", "auto", "auto", "auto", "1", 8, { 100000, 300000, 100000 } },
		{ "cumulus", "0", "200ms", "auto", "auto", "1", 8, { 200000, 600000, 200000 } },
		{ "cisco", "0", "auto", "auto", "auto", "100", 8, { 1000, 1000, 10000 } },
		{ "juniper", "0", "auto", "auto", "50ms", "10", 8, { 10000, 20000, 5000 } },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		struct wf_watchdog_set of_switch, of_adapter;
		struct wf_watchdog_times t;
		struct wf_fabric_cfg cfg;

		defaults(&cfg);
		set(&cfg, "watchdog.rules", rows[i].rules);
		set(&cfg, "switch.ports", rows[i].ports);
		set(&cfg, "watchdog.poll", rows[i].poll);
		set(&cfg, "watchdog.detect", rows[i].detect);
		set(&cfg, "watchdog.restore", rows[i].restore);
		set(&cfg, "watchdog.speedup", rows[i].speedup);
		wf_watchdog_compile(&cfg, &of_switch, &of_adapter);
		t = wf_watchdog_times(&of_switch, rows[i].n_ports);
		assert_int_equal(t.poll, rows[i].want[0] * WF_US);
		assert_int_equal(t.detect, rows[i].want[1] * WF_US);
		assert_int_equal(t.restore, rows[i].want[2] * WF_US);
	}
}

static void test_refused(void **state)
{
	struct wf_err err = { "" };
	struct wf_fabric_cfg cfg;

	(void)state;
	defaults(&cfg);
	set(&cfg, "flowctl", "none");
	assert_int_equal(wf_watchdog_check(&cfg, &err), 0);
	set(&cfg, "watchdog.adapter", "connectx");
	assert_int_not_equal(wf_watchdog_check(&cfg, &err), 0);
	assert_non_null(strstr(err.text, "watchdog.adapter: flowctl is none"));
	set(&cfg, "flowctl", "pfc");
	assert_int_equal(wf_watchdog_check(&cfg, &err), 0);
	/* 100 ms by 1000000 is 100 ns. */
	set(&cfg, "watchdog.rules", "cisco");
	set(&cfg, "watchdog.speedup", "1000000");
	assert_int_equal(wf_watchdog_check(&cfg, &err), 0);
	set(&cfg, "watchdog.poll", "50ms");
	err.text[0] = '\0';
	assert_int_not_equal(wf_watchdog_check(&cfg, &err), 0);
	assert_non_null(strstr(err.text, "watchdog.speedup: "));
	assert_non_null(strstr(err.text, "at most 500000"));
	set(&cfg, "watchdog.speedup", "500000");
	assert_int_equal(wf_watchdog_check(&cfg, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
