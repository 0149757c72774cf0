/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of topo/topo.c: the tables of kinds and parameters. */
#include "topo/topo_test.h"

/* Every kind can be found by its name and is a word that the parameter kind takes. */
static void test_kinds(void **state)
{
	const struct wf_param *row = wf_param_find(wf_topo_params, wf_topo_n_params, "kind");
	size_t n = 0;

	(void)state;
	for (; wf_topo_kinds()[n] != NULL; n++) {
		const struct wf_topo_ops *ops = wf_topo_kinds()[n];

		assert_ptr_equal(wf_topo_find(ops->name), ops);
		assert_string_equal(row->names[n], ops->name);
		assert_non_null(ops->build);
		assert_true(strlen(ops->help) > 0);
	}
	assert_null(row->names[n]);
	assert_null(wf_topo_find("torus"));
	assert_null(wf_topo_find(""));
}

static void test_defaults(void **state)
{
	struct wf_topo_cfg cfg = test_cfg("");

	(void)state;
	assert_string_equal(cfg.kind, "fat-tree");
	assert_string_equal(cfg.file, "");
	assert_int_equal(cfg.hosts, 128);
	assert_int_equal(cfg.radix, WF_PARAM_AUTO);
	assert_int_equal(cfg.blocking, WF_RATIO_ONE);
	assert_int_equal(cfg.host_rate, UINT64_C(400000000000));
	assert_int_equal(cfg.fabric_rate, WF_PARAM_AUTO);
	assert_int_equal(cfg.host_cable, 3000);
	assert_int_equal(cfg.fabric_cable, 30000);
	assert_int_equal(cfg.core_cable, 100000);
	assert_int_equal(cfg.cable_delay, 5 * WF_NS);
	assert_int_equal(cfg.gpus, 8);
}

/* Every row lies within the struct, apart from the others, and has a help text. */
static void test_params(void **state)
{
	char used[sizeof(struct wf_topo_cfg)] = { 0 };

	(void)state;
	for (size_t i = 0; i < wf_topo_n_params; i++) {
		const struct wf_param *row = &wf_topo_params[i];

		assert_true(row->offset + row->size <= sizeof(used));
		for (size_t b = 0; b < row->size; b++)
			assert_int_equal(used[row->offset + b]++, 0);
		assert_true(strlen(row->help) > 0 && strlen(row->help) < 90);
		assert_ptr_equal(wf_param_find(wf_topo_params, wf_topo_n_params, row->name), row);
	}
}

static void test_rates_in_range(void **state)
{
	const struct wf_param *row = wf_param_find(wf_topo_params, wf_topo_n_params, "host_rate");
	struct wf_topo_cfg cfg = test_cfg("host_rate=800G fabric_rate=1600Gbps blocking=2:1");
	struct wf_err err = { { 0 } };

	(void)state;
	assert_int_equal(cfg.host_rate, UINT64_C(800000000000));
	assert_int_equal(cfg.blocking, 2 * WF_RATIO_ONE);
	assert_int_equal(wf_param_set(row, &cfg, "1Mbps", &err), 0);
	assert_int_equal(wf_param_set(row, &cfg, "10Tbps", &err), 0);
	assert_int_equal(wf_param_set(row, &cfg, "10.1Tbps", &err), -EINVAL);
	assert_non_null(strstr(err.text, "it may be 1Mbps to 10Tbps"));
}

static void test_node_by_name(void **state)
{
	struct wf_topo *topo = test_topo("kind=fat-tree hosts=16");

	(void)state;
	for (uint32_t i = 0; i < topo->n_nodes; i++)
		assert_int_equal(wf_topo_node_by_name(topo, topo->nodes[i].name), i);
	assert_int_equal(wf_topo_node_by_name(topo, "h16"), WF_TOPO_NONE);
	assert_int_equal(wf_topo_node_by_name(topo, ""), WF_TOPO_NONE);
	wf_topo_destroy(topo);
	wf_topo_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),        cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_params),       cmocka_unit_test(test_rates_in_range),
		cmocka_unit_test(test_node_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
