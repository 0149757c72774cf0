/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_maps.c - what an Ethernet device makes of DSCPs, classes and pause frames. SONiC's stock
 * maps are those of sonic-buildimage, files/build_templates/qos_config.j2 (AZURE).
 */
#include "check.h"

#include <errno.h>
#include <string.h>

#include "fabric/config.h"
#include "fabric/maps.h"
#include "fabric/setup.h"
#include "wire/addr.h"

static void set(struct wf_fabric_cfg *cfg, const char *name, const char *value)
{
	const struct wf_param *row = wf_param_find(wf_fabric_params, wf_fabric_n_params, name);
	struct wf_err err = { "" };

	assert_non_null(row);
	if (wf_param_set(row, cfg, value, &err) != 0)
		fail_msg("%s: %s", name, err.text);
}

static void defaults(struct wf_fabric_cfg *cfg)
{
	struct wf_err err = { "" };

	memset(cfg, 0, sizeof(*cfg));
	assert_int_equal(wf_param_defaults(wf_fabric_params, wf_fabric_n_params, cfg, &err), 0);
	set(cfg, "link_layer", "ethernet");
	set(cfg, "flowctl", "pfc");
	set(cfg, "header", "rocev2");
}

static struct wf_maps parse(const struct wf_fabric_cfg *cfg)
{
	struct wf_err err = { "" };
	struct wf_classes classes;
	struct wf_maps m = { 0 };

	if (wf_classes_parse(cfg, &classes, &err) != 0 ||
	    wf_maps_parse(cfg, &classes, &m, &err) != 0)
		fail_msg("%s", err.text);
	return m;
}

static void refuse(const char *name, const char *value)
{
	struct wf_err err = { "" };
	struct wf_classes classes;
	struct wf_fabric_cfg cfg;
	struct wf_maps m;

	defaults(&cfg);
	set(&cfg, name, value);
	assert_int_equal(wf_classes_parse(&cfg, &classes, &err), 0);
	assert_int_equal(wf_maps_parse(&cfg, &classes, &m, &err), -EINVAL);
	assert_memory_equal(err.text, name, strlen(name));
}

/* By default nothing is moved, and PFC is for the lossless priorities, both ways. */
static void test_defaults(void **state)
{
	struct wf_fabric_cfg cfg;
	struct wf_maps m;

	(void)state;
	defaults(&cfg);
	m = parse(&cfg);
	assert_true(m.same);
	assert_false(m.marks);
	assert_int_equal(m.used, 0);
	assert_int_equal(m.pfc_tx, 1 << 3);
	assert_int_equal(m.pfc_rx, 1 << 3);
	for (unsigned i = 0; i < WF_DSCPS; i++)
		assert_int_equal(m.dscp_tc[i], i / 8);
	/* What an adapter marks class 3 with is class 3 again: 26 / 8. */
	assert_int_equal(m.dscp[3], 26);
	assert_int_equal(m.dscp_tc[m.dscp[3]], 3);
}

static void test_sonic(void **state)
{
	struct wf_fabric_cfg cfg;
	struct wf_maps m;

	(void)state;
	defaults(&cfg);
	set(&cfg, "maps.dscp_tc", "sonic");
	set(&cfg, "maps.tc_pg", "sonic");
	m = parse(&cfg);
	assert_false(m.same);
	assert_int_equal(m.dscp_tc[3], 3);
	assert_int_equal(m.dscp_tc[4], 4);
	assert_int_equal(m.dscp_tc[5], 2);
	assert_int_equal(m.dscp_tc[8], 0);
	assert_int_equal(m.dscp_tc[26], 1);
	assert_int_equal(m.dscp_tc[46], 5);
	assert_int_equal(m.dscp_tc[48], 6);
	assert_int_equal(m.tc_pg[3], 3);
	assert_int_equal(m.tc_pg[4], 4);
	assert_int_equal(m.tc_pg[7], 7);
	assert_int_equal(m.tc_pg[1], 0);
	assert_int_equal(m.tc_pg[6], 0);
}

/* The last entry that names something counts; ranges, blanks. */
static void test_text(void **state)
{
	struct wf_fabric_cfg cfg;
	struct wf_maps m;

	(void)state;
	defaults(&cfg);
	set(&cfg, "maps.dscp_tc", "0-63:0, 24-31: 4, 26:3");
	set(&cfg, "maps.tc_queue", "4:3");
	set(&cfg, "maps.pfc_queue", "4:3");
	set(&cfg, "pfc.rx", "3,4");
	set(&cfg, "pfc.tx", "none");
	set(&cfg, "nic.dscp", "3:24,6:40");
	set(&cfg, "nic.cnp_dscp", "48");
	m = parse(&cfg);
	assert_int_equal(m.dscp_tc[23], 0);
	assert_int_equal(m.dscp_tc[24], 4);
	assert_int_equal(m.dscp_tc[26], 3);
	assert_int_equal(m.dscp_tc[31], 4);
	assert_int_equal(m.dscp_tc[32], 0);
	assert_int_equal(m.tc_queue[4], 3);
	assert_int_equal(m.pfc_queue[4], 3);
	assert_int_equal(m.used, 1 << 3);
	assert_int_equal(m.pfc_tx, 0);
	assert_int_equal(m.pfc_rx, 1 << 3 | 1 << 4);
	assert_true(m.marks);
	assert_int_equal(m.dscp[3], 24);
	assert_int_equal(m.dscp[6], 40);
	assert_int_equal(m.cnp_dscp, 48);
}

static void test_refused(void **state)
{
	(void)state;
	refuse("maps.dscp_tc", "64:0");
	refuse("maps.dscp_tc", "0:8");
	refuse("maps.dscp_tc", "5-3:0");
	refuse("maps.dscp_tc", "3");
	refuse("maps.dscp_tc", "3:1,");
	refuse("maps.dscp_tc", "3:1 4:1");
	refuse("maps.dscp_tc", "1000:1");
	refuse("maps.pcp_tc", "8:0");
	refuse("maps.tc_queue", "0:8");
	refuse("maps.tc_pg", "azure");
	refuse("maps.pfc_queue", "-1:0");
	refuse("maps.pfc_pg", "3:x");
	refuse("pfc.tx", "3-4");
	refuse("pfc.rx", "8");
	refuse("nic.dscp", "3:64");
}

static void test_hash(void **state)
{
	struct wf_err err = { "" };
	unsigned fields;

	(void)state;
	assert_int_equal(wf_hash_parse("src,dst,sport", &fields, &err), 0);
	assert_int_equal(fields, WF_HASH_ALL);
	assert_int_equal(wf_hash_parse("sport", &fields, &err), 0);
	assert_int_equal(fields, WF_HASH_SPORT);
	assert_int_equal(wf_hash_parse("dst, src", &fields, &err), 0);
	assert_int_equal(fields, WF_HASH_SRC | WF_HASH_DST);
	assert_int_equal(wf_hash_parse("", &fields, &err), 0);
	assert_int_equal(fields, 0);
	assert_int_equal(wf_hash_parse("dport", &fields, &err), -EINVAL);
}

/* Adapters of a fabric may use 15 DSCPs besides those that follow from the class. */
static void test_marks(void **state)
{
	static struct wf_setup setups[3];
	struct wf_fabric_cfg cfg, host[2];
	const struct wf_fabric_cfg *more[2] = { &host[0], &host[1] };
	const uint16_t none[1] = { 0 };
	struct wf_devices devices = { 2, more, NULL, none, none };
	uint8_t dscp[WF_MARKS];
	struct wf_err err = { "" };

	(void)state;
	defaults(&cfg);
	host[0] = host[1] = cfg;
	set(&host[0], "nic.dscp", "0:1,1:2,2:3,3:4,4:5,5:6,6:7,7:9");
	set(&host[1], "nic.dscp", "0:10,1:11,2:12,3:13,4:14,5:15,6:17,7:1");
	memset(setups, 0, sizeof(setups));
	assert_int_equal(wf_setups_compile(&cfg, &devices, setups, dscp, &err), 0);
	assert_int_equal(dscp[setups[1].mark_of[0]], 1);
	assert_int_equal(dscp[setups[2].mark_of[7]], 1);
	assert_int_equal(setups[1].mark_of[0], setups[2].mark_of[7]);
	assert_int_equal(dscp[setups[2].mark_of[6]], 17);
	set(&host[1], "nic.cnp_dscp", "63");
	memset(setups, 0, sizeof(setups));
	assert_int_equal(wf_setups_compile(&cfg, &devices, setups, dscp, &err), -EINVAL);
	assert_non_null(strstr(err.text, "nic.dscp: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_sonic),
		cmocka_unit_test(test_text),     cmocka_unit_test(test_refused),
		cmocka_unit_test(test_hash),     cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
