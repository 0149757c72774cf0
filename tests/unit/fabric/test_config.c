/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_config.c - the table of fabric parameters, the compiled classes and the cross-checks.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/classes.h"

/* Defaults, then the settings "name=value", ended by NULL. */
static int configure(struct wf_fabric_cfg *cfg, const char *const *settings, struct wf_err *err)
{
	int rc = wf_param_defaults(wf_fabric_params, wf_fabric_n_params, cfg, err);

	for (; rc == 0 && *settings != NULL; settings++) {
		const char *eq = strchr(*settings, '=');
		const struct wf_param *row;
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)(eq - *settings), *settings);
		row = wf_param_find(wf_fabric_params, wf_fabric_n_params, name);
		if (row == NULL)
			fail_msg("no parameter %s", name);
		rc = wf_param_set(row, cfg, eq + 1, err);
	}
	return rc;
}

static const char *const ib[] = { "link_layer=infiniband", "flowctl=credit", "header=ib", NULL };

/* Every row has a help line, a default in range, and a field nobody else has. */
static void test_table(void **state)
{
	struct wf_fabric_cfg cfg;
	struct wf_err err = { "" };
	size_t bytes = 0;

	(void)state;
	memset(&cfg, 0xaa, sizeof(cfg));
	if (wf_param_defaults(wf_fabric_params, wf_fabric_n_params, &cfg, &err) != 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < wf_fabric_n_params; i++) {
		const struct wf_param *row = &wf_fabric_params[i];
		char text[256];
		struct wf_fabric_cfg copy = cfg;

		assert_non_null(row->help);
		assert_ptr_equal(wf_param_find(wf_fabric_params, wf_fabric_n_params, row->name),
		                 row);
		wf_param_format(row, &cfg, text, sizeof(text));
		assert_int_equal(wf_param_set(row, &copy, text, &err), 0);
		assert_memory_equal(&copy, &cfg, sizeof(cfg));
		bytes += row->size;
		for (size_t k = 0; k < i; k++) {
			const struct wf_param *other = &wf_fabric_params[k];

			assert_true(row->offset >= other->offset + other->size ||
			            other->offset >= row->offset + row->size);
		}
	}
	/* No field is without a row: what is left is padding. Drives have a table of their own. */
	assert_true(sizeof(cfg) - sizeof(cfg.drive) - bytes < 64);
	assert_int_equal(wf_fabric_check(&cfg, &err), 0);
}

static void test_ethernet(void **state)
{
	struct wf_fabric_cfg cfg;
	struct wf_classes c;
	struct wf_err err = { "" };
	static const char *const none[] = { NULL };
	static const char *const lossy[] = { "flowctl=none", NULL };
	static const char *const empty[] = { "classes.lossless=", "classes.strict=", "classes.ecn=",
		                             "classes.weights=", NULL };
	static const char *const other[] = { "classes.lossless=4, 5", "classes.strict=7",
		                             "classes.ecn=", "classes.weights=4:10,5:20", NULL };

	(void)state;
	assert_int_equal(configure(&cfg, none, &err), 0);
	assert_int_equal(wf_classes_parse(&cfg, &c, &err), 0);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.queue[0].id, 0);
	assert_false(c.queue[0].lossless || c.queue[0].strict || c.queue[0].ecn);
	assert_int_equal(c.queue[0].weight, 50);
	assert_int_equal(c.queue[1].id, 3);
	assert_true(c.queue[1].lossless && c.queue[1].ecn && !c.queue[1].strict);
	assert_int_equal(c.queue[2].id, 6);
	assert_true(c.queue[2].strict);
	assert_int_equal(c.queue[2].weight, 0);
	assert_int_equal(c.of[3], 1);
	assert_int_equal(c.of[6], 2);
	assert_int_equal(c.of[7], 0);
	assert_int_equal(c.of[15], 0);

	assert_int_equal(configure(&cfg, lossy, &err), 0);
	assert_int_equal(wf_classes_parse(&cfg, &c, &err), 0);
	assert_false(c.queue[1].lossless);

	assert_int_equal(configure(&cfg, empty, &err), 0);
	assert_int_equal(wf_classes_parse(&cfg, &c, &err), 0);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.queue[0].weight, 1);

	assert_int_equal(configure(&cfg, other, &err), 0);
	assert_int_equal(wf_classes_parse(&cfg, &c, &err), 0);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.queue[0].id, 4);
	assert_int_equal(c.of[0], 0);
	assert_int_equal(c.of[5], 1);
}

static void test_infiniband(void **state)
{
	struct wf_fabric_cfg cfg;
	struct wf_classes c;
	struct wf_err err = { "" };

	(void)state;
	assert_int_equal(configure(&cfg, ib, &err), 0);
	assert_int_equal(wf_classes_parse(&cfg, &c, &err), 0);
	assert_int_equal(c.n, 5);
	assert_true(c.queue[0].lossless && !c.queue[0].exempt);
	assert_int_equal(c.queue[4].id, 15);
	assert_true(c.queue[4].exempt && c.queue[4].strict && !c.queue[4].lossless);
	assert_int_equal(c.of[6], 2);
	assert_int_equal(c.of[15], 4);
	assert_int_equal(c.n_high, 0);
	assert_int_equal(c.n_low, 4);

	strcpy(cfg.vl_sl2vl, "0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,15");
	strcpy(cfg.vl_arb_high, "3:255");
	strcpy(cfg.vl_arb_low, "0:64,1:32,2:1,0:64,3:0");
	assert_int_equal(wf_classes_parse(&cfg, &c, &err), 0);
	assert_int_equal(c.of[7], 3);
	assert_int_equal(c.of[15], 4);
	assert_int_equal(c.n_high, 1);
	assert_int_equal(c.high[0].weight, 255);
	assert_int_equal(c.n_low, 5);
	assert_int_equal(c.low[3].queue, 0);
}

static void test_wrong(void **state)
{
	static const struct {
		bool ib;
		const char *set;
		const char *says;
	} cases[] = {
		{ false, "classes.lossless=3,x",
		  "classes.lossless: \"3,x\" is not a list of priorities: entry 2: \"x\"" },
		{ false, "classes.lossless=3,", "entry 2: there is nothing in it; write 0 to 7" },
		{ false, "classes.lossless=8", "entry 1: \"8\" is out of range; it may be 0 to 7" },
		{ false, "classes.lossless=3 4", "entry 1: a colon or a comma is missing" },
		{ false, "classes.strict=6,6", "classes.strict: priority 6 is there twice" },
		{ false, "classes.trim=6,0", "classes.trim: \"6,0\" names several priorities" },
		{ false, "classes.trim=3", "classes.trim: priority 3 is lossless or marked" },
		{ false, "classes.trim=9", "classes.trim: \"9\" is not a list of priorities" },
		{ false, "classes.strict=3",
		  "classes.weights: priority 3 is in classes.strict too" },
		{ false, "classes.ecn=-1", "classes.ecn: " },
		{ false, "classes.ecn=5", "classes.weights: priority 5 has no weight; add 5:50" },
		{ false, "classes.weights=0:50,3",
		  "classes.weights: \"0:50,3\" is not a list of weights: entry 2: a value is "
		  "missing" },
		{ false, "classes.weights=0:0", "would never send" },
		{ false, "classes.weights=0:1,0:2", "there twice" },
		{ false, "classes.weights=0:99999999999", "classes.weights: " },
		{ false, "flowctl=credit", "flowctl: credit cannot be had on Ethernet" },
		{ false, "header=ib", "header: ib does not go with ethernet; write rocev2" },
		{ false, "ecn.kmin=2MB", "ecn.kmin: it is above ecn.kmax" },
		{ false, "sender.window=2KB", "sender.window: it is less than a packet" },
		{ false, "sender.ack=100", "sender.ack: 100 packets are more" },
		{ true, "flowctl=pfc", "flowctl: pfc cannot be had on InfiniBand" },
		{ true, "vl.sl2vl=0,1", "vl.sl2vl: \"0,1\" is not a list of 16" },
		{ true, "vl.sl2vl=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "list of 16" },
		{ true, "vl.sl2vl=0,1,2,3,4,0,0,0,0,0,0,0,0,0,0,0", "level 4 goes to VL 4" },
		{ true, "vl.sl2vl=15,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "level 0 goes to VL 15" },
		{ true, "vl.arb_high=4:1", "vl.arb_high: it names VL 4, but vl.count is 4" },
		{ true, "vl.arb_low=0:256", "vl.arb_low: \"0:256\" is not" },
		{ true, "vl.arb_low=0:1", "vl.arb_low: VL 1 has no weight" },
		{ false, "adaptive.low=200KB", "adaptive.low: the grades need" },
		{ false, "adaptive.low=4GiB", "adaptive.low: the grades need" },
		{ true, "vl.buffer=4096", "vl.buffer: no packet of mtu 4096B" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		struct wf_fabric_cfg cfg;
		struct wf_err err = { "" };
		const char *settings[5] = { NULL };
		size_t n = 0;

		for (; cases[i].ib && ib[n] != NULL; n++)
			settings[n] = ib[n];
		settings[n] = cases[i].set;
		assert_int_equal(configure(&cfg, settings, &err), 0);
		if (wf_fabric_check(&cfg, &err) != -EINVAL)
			fail_msg("%s is accepted", cases[i].set);
		if (strstr(err.text, cases[i].says) == NULL)
			fail_msg("%s: %s", cases[i].set, err.text);
	}
}

/* Without IP and UDP there are no ports to spray by and no DSCP for what was trimmed. */
static void test_roce1(void **state)
{
	static const struct {
		const char *set, *says;
	} cases[] = {
		{ "mtu=4096B", "" },
		{ "sender.spray=true", "sender.spray: rocev1 has no UDP ports" },
		{ "classes.trim=6", "classes.trim: rocev1 has no DSCP" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		const char *settings[] = { "header=rocev1", cases[i].set, NULL };
		struct wf_fabric_cfg cfg;
		struct wf_err err = { "" };
		int want = cases[i].says[0] == '\0' ? 0 : -EINVAL;

		assert_int_equal(configure(&cfg, settings, &err), 0);
		assert_int_equal(wf_fabric_check(&cfg, &err), want);
		assert_non_null(strstr(err.text, cases[i].says));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),      cmocka_unit_test(test_ethernet),
		cmocka_unit_test(test_infiniband), cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_roce1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
