/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_input.c - reading the files of the HPCC simulator.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ns3/config.h"

#define FILES "TOPOLOGY_FILE t.txt\nFLOW_FILE f.txt\n"

static const char topology[] = "6 2 5\n4 5\n"
			       "0 4 100Gbps 1000ns 0\n1 4 100Gbps 1000ns 0\n"
			       "2 5 100Gbps 1000ns 0\n3 5 100Gbps 1000ns 0\n"
			       "4 5 400Gbps 1000ns 0\n";

static int parse(const char *text, struct wf_ns3_config *c, struct wf_err *err)
{
	return wf_ns3_config_parse(c, text, strlen(text), "c.txt", err);
}

static void test_config(void **state)
{
	struct wf_ns3_config c;
	struct wf_err err = { "" };

	(void)state;
	assert_int_equal(parse(FILES "\nCC_MODE 3\nHAS_WIN 1\nVAR_WIN 0\nRATE_AI 50Mb/s\n"
	                             "ALPHA_RESUME_INTERVAL 1\nSIMULATOR_STOP_TIME 2.5\n"
	                             "EWMA_GAIN 0.00390625\nQLEN_MON_FILE x y z\nNOT_KNOWN 1\n"
	                             "KMAX_MAP 2 100000000000 1600 400000000000 6400\n"
	                             "KMIN_MAP 2 400000000000 1600 100000000000 400\n"
	                             "PMAX_MAP 1 100000000000 0.20\n",
	                       &c, &err),
	                 0);
	assert_string_equal(c.topology, "t.txt");
	assert_int_equal(c.cc_mode, WF_NS3_HPCC);
	assert_true(c.has_win);
	assert_false(c.var_win);
	assert_int_equal(c.rate_ai, 50000000);
	assert_int_equal(c.alpha_resume, WF_US);
	assert_int_equal(c.stop, 2500 * WF_MS);
	assert_int_equal(c.gain, WF_PROB_ONE / 256);
	assert_int_equal(c.n_ecn, 2);
	assert_int_equal(c.ecn[0].ecn.kmin, 400000);
	assert_int_equal(c.ecn[1].ecn.kmax, 6400000);
	/* What that simulator has where nothing is said; its timers count in whole us. */
	assert_int_equal(parse(FILES "RP_TIMER 55.9\n", &c, &err), 0);
	assert_int_equal(c.rp_timer, 55 * WF_US);
	assert_int_equal(c.buffer_mib, 16);
	assert_true(c.has_win && c.multi_rate && c.global_t && !c.var_win);
	assert_int_equal(c.gain, 0);
}

static void test_bad_config(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} bad[] = {
		{ "FLOW_FILE f\n", "TOPOLOGY_FILE is missing" },
		{ "TOPOLOGY_FILE t\n", "FLOW_FILE is missing" },
		{ FILES "CC_MODE 2\n", "CC_MODE 2 is not supported" },
		{ FILES "PINT_LOG_BASE 0.5\n", "PINT_LOG_BASE" },
		{ FILES "CC_MODE 1\nRP_TIMER 0.5\n", "RP_TIMER" },
		{ FILES "CC_MODE\n", "c.txt:3:8" },
		{ FILES "RATE_AI 5\n", "c.txt:3:9" },
		{ FILES "LINK_DOWN 5 1 2\n", "LINK_DOWN" },
		{ FILES "KMAX_MAP 2 1 1\n", "c.txt:3" },
		{ FILES "KMAX_MAP 1 100 1\nKMIN_MAP 1 100 2\n", "KMIN_MAP is above" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(bad); i++) {
		struct wf_ns3_config c;
		struct wf_err err = { "" };

		assert_int_equal(parse(bad[i].text, &c, &err), -EINVAL);
		if (strstr(err.text, bad[i].says) == NULL)
			fail_msg("%s: %s", bad[i].says, err.text);
	}
}

static void start(struct wf_ns3_input *in)
{
	struct wf_topo_cfg cfg;
	struct wf_err err = { "" };

	memset(in, 0, sizeof(*in));
	assert_int_equal(wf_param_defaults(wf_topo_params, wf_topo_n_params, &cfg, &err), 0);
	assert_int_equal(wf_topo_find("hpcc")->build(&cfg, topology, strlen(topology), "t.txt",
	                                             wf_mem_heap(), &in->topo, &err),
	                 0);
}

static int flows(struct wf_ns3_input *in, const char *text, struct wf_err *err)
{
	return wf_ns3_flows_parse(in, text, strlen(text), "f.txt", err);
}

static void test_flows(void **state)
{
	struct wf_ns3_input in;
	struct wf_err err = { "" };

	(void)state;
	start(&in);
	assert_int_equal(flows(&in,
	                       "4\n0 2 3 100 1000 2\n1 3 3 100 5 2.002\n"
	                       "0 2 3 100 7 2.004\n0 3 3 100 7 2.004\n",
	                       &err),
	                 0);
	assert_int_equal(in.n_lines, 4);
	assert_int_equal(in.lines[0].sport, 10000);
	assert_int_equal(in.lines[1].sport, 10000);
	assert_int_equal(in.lines[2].sport, 10001);
	assert_int_equal(in.lines[3].sport, 10000);
	/* As binary fractions have it. */
	assert_int_equal(in.lines[0].start_ns, UINT64_C(2000000000));
	assert_int_equal(in.lines[1].start_ns, UINT64_C(2001999999));
	assert_int_equal(in.lines[2].start_ns, UINT64_C(2004000000));
	wf_ns3_input_fini(&in);
}

static void test_bad_flows(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"2\n0 2 3 100 1000 2\n",
		"1\n0 4 3 100 1000 2\n",
		"1\n0 0 3 100 1000 2\n",
		"1\n0 9 3 100 1000 2\n",
		"1\n0 2 8 100 1000 2\n",
		"1\n0 2 3 100 0 2\n",
		"1\n0 2 3 100 1000 soon\n",
		"1\n0 2 3 100 1000\n",
		"1\n0 2 3 100 1000 2 3\n",
		"2\n0 2 3 100 1000 2\n0 2 3 100 1000 1\n",
		"4000000000\n",
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(bad); i++) {
		struct wf_ns3_input in;
		struct wf_err err = { "" };

		start(&in);
		assert_int_equal(flows(&in, bad[i], &err), -EINVAL);
		assert_ptr_equal(strstr(err.text, "f.txt:"), err.text);
		wf_ns3_input_fini(&in);
	}
}

static int paths(struct wf_ns3_input *in, const char *text, struct wf_err *err)
{
	return wf_ns3_paths_parse(in, text, strlen(text), "p.txt", err);
}

static void test_paths(void **state)
{
	static const char *const bad[] = {
		"0 2 10000 100 0-4-5-2\n",
		"0 2 10000 100 0-4-2 2-5-4-0\n",
		"0 2 10000 100 0-4-5-3 2-5-4-0\n",
		"0 2 10000 100 1-4-5-2 2-5-4-0\n",
		"0 2 10000 100 0-4-5-2 2-5-4-\n",
		"0 2 10000 100 0-4-5-99999999999999999999 2-5-4-0\n",
		"0 2 10001 100 0-4-5-2 2-5-4-0\n",
		"",
	};
	struct wf_ns3_input in;
	struct wf_err err = { "" };

	(void)state;
	start(&in);
	assert_int_equal(flows(&in, "1\n0 2 3 100 1000 2\n", &err), 0);
	assert_int_equal(paths(&in, "0 2 10000 100 0-4-5-2 2-5-4-0\n", &err), 0);
	assert_int_equal(in.paths[0].hop[0].node, 4);
	assert_int_equal(in.paths[0].hop[0].port, 2);
	assert_int_equal(in.paths[0].hop[1].node, 5);
	assert_int_equal(in.paths[0].hop[1].port, 0);
	assert_int_equal(in.paths[0].hop[2].node, WF_TOPO_NONE);
	assert_int_equal(in.paths[1].hop[0].port, 2);
	wf_ns3_input_fini(&in);
	for (size_t i = 0; i < WF_ARRAY_SIZE(bad); i++) {
		err.text[0] = '\0';
		start(&in);
		assert_int_equal(flows(&in, "1\n0 2 3 100 1000 2\n", &err), 0);
		assert_int_equal(paths(&in, bad[i], &err), -EINVAL);
		wf_ns3_input_fini(&in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config), cmocka_unit_test(test_bad_config),
		cmocka_unit_test(test_flows),  cmocka_unit_test(test_bad_flows),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
