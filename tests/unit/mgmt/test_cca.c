/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cca.c - the congestion control agent: settings of switches and adapters, the control table,
 * keys and their lease, and the logs.
 */
#include "mgmt_test.h"

#include "mgmt/cca.h"

#define GET WF_MAD_METHOD_GET
#define SET WF_MAD_METHOD_SET

struct fixture {
	struct wf_cca *cca;
	struct mem_fail mem;
	unsigned what;
	uint8_t mad[WF_MAD_LEN];
	uint64_t key;
	wf_time now;
};

static void changed(void *arg, unsigned what)
{
	((struct fixture *)arg)->what |= what;
}

static void setup(struct fixture *f, bool is_switch)
{
	struct wf_cca_cfg cfg = {
		.is_switch = is_switch,
		.n_ports = 40,
		.table_blocks = 2,
		.credit_starvation = true,
		.changed = changed,
		.arg = f,
	};

	memset(f, 0, sizeof(*f));
	f->mem = mem_fail_after(1000);
	assert_int_equal(wf_cca_create(&cfg, &f->mem.mem, &f->cca), 0);
}

static void teardown(struct fixture *f)
{
	wf_cca_destroy(f->cca);
	assert_int_equal(f->mem.held, 0);
}

static bool ask(struct fixture *f, uint8_t method, uint16_t attr_id, uint32_t modifier)
{
	uint8_t data[WF_MAD_LEN - WF_CONG_DATA];

	memcpy(data, f->mad + WF_CONG_DATA, sizeof(data));
	test_request(f->mad, WF_MAD_CLASS_CC, 2, method, attr_id, modifier);
	wf_be64_put(f->mad + WF_CONG_KEY, f->key);
	memcpy(f->mad + WF_CONG_DATA, data, sizeof(data));
	f->what = 0;
	return wf_cca_rx(f->cca, f->mad, f->now);
}

static void ask_ok(struct fixture *f, uint8_t method, uint16_t attr_id, uint32_t modifier)
{
	assert_true(ask(f, method, attr_id, modifier));
	assert_int_equal(test_status(f->mad), 0);
}

static void ask_bad(struct fixture *f, uint8_t method, uint16_t attr_id, uint32_t modifier,
                    unsigned status)
{
	assert_true(ask(f, method, attr_id, modifier));
	assert_int_equal(test_status(f->mad), status);
	assert_int_equal(f->what, 0);
}

static void test_switch(void **state)
{
	struct wf_cong_switch_setting setting = { .control_map = 0x1f, .threshold = 15 };
	struct wf_cong_switch_ports ports = { .port[7] = { true, false, 3, 9, 77 },
		                              .port[8] = { true, false, 3, 9, 78 } };
	struct wf_cong_info info;
	struct fixture f;

	(void)state;
	setup(&f, true);
	ask_ok(&f, GET, WF_CONG_INFO, 0);
	wf_cong_info_decode(f.mad + WF_CONG_DATA, &info);
	assert_int_equal(info.congestion_info, 1);
	assert_int_equal(info.control_table_cap, 0);
	wf_cong_switch_setting_encode(&setting, f.mad + WF_CONG_DATA);
	ask_ok(&f, SET, WF_CONG_SWITCH_SETTING, 0);
	assert_int_equal(f.what, WF_CCA_SWITCH);
	assert_int_equal(wf_cca_switch(f.cca)->threshold, 15);
	wf_cong_switch_ports_encode(&ports, f.mad + WF_CONG_DATA);
	ask_ok(&f, SET, WF_CONG_SWITCH_PORT_SETTING, 1);
	assert_int_equal(f.what, WF_CCA_PORTS);
	assert_int_equal(wf_cca_port(f.cca, 39).marking_rate, 77);
	assert_int_equal(wf_cca_port(f.cca, 40).marking_rate, 78);
	assert_false(wf_cca_port(f.cca, 7).valid);
	assert_false(wf_cca_port(f.cca, 41).valid);
	ask_ok(&f, GET, WF_CONG_SWITCH_PORT_SETTING, 1);
	wf_cong_switch_ports_decode(f.mad + WF_CONG_DATA, &ports);
	assert_int_equal(ports.port[7].threshold, 3);
	ask_bad(&f, SET, WF_CONG_SWITCH_PORT_SETTING, 2, WF_MAD_INVALID_FIELD);
	ask_bad(&f, SET, WF_CONG_SWITCH_SETTING, 1, WF_MAD_INVALID_FIELD);
	ask_bad(&f, SET, WF_CONG_CA_SETTING, 0, WF_MAD_BAD_ATTRIBUTE);
	ask_bad(&f, GET, WF_CONG_CONTROL_TABLE, 0, WF_MAD_BAD_ATTRIBUTE);
	ask_bad(&f, SET, WF_CONG_INFO, 0, WF_MAD_BAD_ATTRIBUTE);
	ask_bad(&f, GET, 0x30, 0, WF_MAD_BAD_ATTRIBUTE);
	ask_bad(&f, WF_MAD_METHOD_TRAP, WF_CONG_INFO, 0, WF_MAD_BAD_METHOD);
	teardown(&f);
}

static void test_adapter(void **state)
{
	struct wf_cong_ca_setting setting = { .control_map = 0xffff, .entry[15].ccti_timer = 68 };
	struct wf_cong_table table = { .ccti_limit = 127, .entry[63] = { 2, 0x1234 } };
	struct fixture f;

	(void)state;
	setup(&f, false);
	wf_cong_ca_setting_encode(&setting, f.mad + WF_CONG_DATA);
	ask_ok(&f, SET, WF_CONG_CA_SETTING, 0);
	assert_int_equal(f.what, WF_CCA_CA);
	assert_int_equal(wf_cca_ca(f.cca)->entry[15].ccti_timer, 68);
	memset(f.mad + WF_CONG_DATA, 0, 132);
	ask_ok(&f, GET, WF_CONG_CA_SETTING, 0);
	wf_cong_ca_setting_decode(f.mad + WF_CONG_DATA, &setting);
	assert_true(setting.control_map == 0xffff && setting.entry[15].ccti_timer == 68);
	wf_cong_table_encode(&table, f.mad + WF_CONG_DATA);
	ask_ok(&f, SET, WF_CONG_CONTROL_TABLE, 1);
	assert_int_equal(f.what, WF_CCA_TABLE);
	assert_int_equal(wf_cca_cct_limit(f.cca), 127);
	assert_int_equal(wf_cca_cct(f.cca, 127).multiplier, 0x1234);
	assert_int_equal(wf_cca_cct(f.cca, 127).shift, 2);
	assert_int_equal(wf_cca_cct(f.cca, 63).shift, 0);
	assert_int_equal(wf_cca_cct(f.cca, 128).shift, 0);
	ask_ok(&f, GET, WF_CONG_CONTROL_TABLE, 0);
	wf_cong_table_decode(f.mad + WF_CONG_DATA, &table);
	assert_int_equal(table.ccti_limit, 127);
	assert_int_equal(table.entry[63].multiplier, 0);
	table.ccti_limit = 128; /* there are 2 blocks of 64 */
	wf_cong_table_encode(&table, f.mad + WF_CONG_DATA);
	ask_bad(&f, SET, WF_CONG_CONTROL_TABLE, 0, WF_MAD_INVALID_FIELD);
	assert_int_equal(wf_cca_cct_limit(f.cca), 127);
	ask_bad(&f, GET, WF_CONG_CONTROL_TABLE, 2, WF_MAD_INVALID_FIELD);
	ask_bad(&f, GET, WF_CONG_SWITCH_SETTING, 0, WF_MAD_BAD_ATTRIBUTE);
	f.now = 1024 * WF_US;
	ask_ok(&f, GET, WF_CONG_TIMESTAMP, 0);
	assert_int_equal(wf_be32_get(f.mad + WF_CONG_DATA), 1000);
	teardown(&f);
}

static void test_key(void **state)
{
	struct wf_cong_key_info info = { .cc_key = 5, .protect = true, .lease_period = 2 };
	struct fixture f;

	(void)state;
	setup(&f, false);
	wf_cong_key_info_encode(&info, f.mad + WF_CONG_DATA);
	ask_ok(&f, SET, WF_CONG_KEY_INFO, 0);
	assert_int_equal(wf_be64_get(f.mad + WF_CONG_DATA), 5);
	/* without the key everything may be read but the key, and nothing is set */
	ask_ok(&f, GET, WF_CONG_KEY_INFO, 0);
	wf_cong_key_info_decode(f.mad + WF_CONG_DATA, &info);
	assert_true(info.cc_key == 0 && info.protect);
	ask_ok(&f, GET, WF_CONG_CA_SETTING, 0);
	f.now = WF_S;
	f.key = 6;
	f.mad[WF_CONG_DATA + 3] = 1;
	assert_false(ask(&f, SET, WF_CONG_CA_SETTING, 0));
	assert_int_equal(f.what, 0);
	assert_int_equal(wf_cca_ca(f.cca)->control_map, 0);
	ask_ok(&f, GET, WF_CONG_KEY_INFO, 0);
	wf_cong_key_info_decode(f.mad + WF_CONG_DATA, &info);
	assert_int_equal(info.violations, 1);
	/* a second wrong one does not make the lease longer, and the right one ends it */
	f.now = 2 * WF_S;
	assert_false(ask(&f, SET, WF_CONG_CA_SETTING, 0));
	f.key = 5;
	ask_ok(&f, GET, WF_CONG_TIMESTAMP, 0);
	f.key = 6;
	f.now = 3 * WF_S;
	ask_ok(&f, GET, WF_CONG_KEY_INFO, 0);
	wf_cong_key_info_decode(f.mad + WF_CONG_DATA, &info);
	assert_true(info.protect);
	f.now = 10 * WF_S;
	assert_false(ask(&f, SET, WF_CONG_CA_SETTING, 0));
	f.now = 11 * WF_S;
	assert_false(ask(&f, SET, WF_CONG_CA_SETTING, 0));
	/* two seconds later the key is not protected any more, but is the key */
	f.now = 12 * WF_S;
	ask_ok(&f, GET, WF_CONG_KEY_INFO, 0);
	wf_cong_key_info_decode(f.mad + WF_CONG_DATA, &info);
	assert_true(info.cc_key == 5 && !info.protect);
	assert_false(ask(&f, SET, WF_CONG_CA_SETTING, 0));
	f.key = 5;
	ask_ok(&f, SET, WF_CONG_CA_SETTING, 0);
	/* violations are written 0, or stay */
	info.violations = 9;
	wf_cong_key_info_encode(&info, f.mad + WF_CONG_DATA);
	ask_ok(&f, SET, WF_CONG_KEY_INFO, 0);
	wf_cong_key_info_decode(f.mad + WF_CONG_DATA, &info);
	assert_int_equal(info.violations, 5);
	info.violations = 0;
	wf_cong_key_info_encode(&info, f.mad + WF_CONG_DATA);
	ask_ok(&f, SET, WF_CONG_KEY_INFO, 0);
	wf_cong_key_info_decode(f.mad + WF_CONG_DATA, &info);
	assert_int_equal(info.violations, 0);
	teardown(&f);
}

static void test_logs(void **state)
{
	struct wf_cong_log_switch_entry marked = { .slid = 3, .dlid = 4, .sl = 1 };
	struct wf_cong_log_ca_entry slowed = { .local_qp = 0x123456, .sl = 9 };
	struct wf_cong_log_switch sw;
	struct wf_cong_log_ca ca;
	struct fixture f;

	(void)state;
	setup(&f, true);
	for (unsigned i = 0; i < 20; i++) {
		marked.slid = (uint16_t)i;
		wf_cca_log_switch(f.cca, 10, &marked, 2048 * WF_NS);
	}
	ask_ok(&f, GET, WF_CONG_LOG, 0);
	wf_cong_log_switch_decode(f.mad + WF_CONG_LOG_DATA, &sw);
	assert_int_equal(sw.log_type, 1);
	assert_int_equal(sw.event_counter, 20);
	assert_int_equal(sw.entry[0].slid, 19);
	assert_int_equal(sw.entry[14].slid, 5);
	assert_int_equal(sw.entry[14].timestamp, 2);
	assert_int_equal(sw.port_map[30], 4);
	assert_int_equal(sw.timestamp, 0);
	f.now = 1024 * WF_MS;
	ask_ok(&f, GET, WF_CONG_LOG, 0);
	wf_cong_log_switch_decode(f.mad + WF_CONG_LOG_DATA, &sw);
	assert_int_equal(sw.timestamp, 1000000);
	ask_bad(&f, SET, WF_CONG_LOG, 0, WF_MAD_BAD_ATTRIBUTE);
	for (unsigned i = 0; i < UINT16_MAX; i++)
		wf_cca_log_switch(f.cca, 10, &marked, 0);
	ask_ok(&f, GET, WF_CONG_LOG, 0);
	wf_cong_log_switch_decode(f.mad + WF_CONG_LOG_DATA, &sw);
	assert_int_equal(sw.event_counter, UINT16_MAX);
	teardown(&f);
	setup(&f, false);
	ask_ok(&f, GET, WF_CONG_LOG, 0);
	wf_cong_log_ca_decode(f.mad + WF_CONG_LOG_DATA, &ca);
	assert_int_equal(ca.log_type, 2);
	assert_int_equal(ca.event_counter, 0);
	wf_cca_log_ca(f.cca, &(struct wf_cong_log_ca_entry){ .local_qp = 3 }, 0);
	wf_cca_log_ca(f.cca, &slowed, 5 * 1024 * WF_NS);
	f.now = 7 * 1024 * WF_NS;
	ask_ok(&f, GET, WF_CONG_LOG, 0);
	wf_cong_log_ca_decode(f.mad + WF_CONG_LOG_DATA, &ca);
	assert_int_equal(ca.log_type, 2);
	assert_int_equal(ca.timestamp, 7);
	assert_int_equal(ca.entry[0].timestamp, 5);
	assert_int_equal(ca.entry[1].local_qp, 3);
	assert_int_equal(ca.event_counter, 2);
	assert_int_equal(ca.event_map, 1 << 9 | 1);
	assert_int_equal(ca.entry[0].local_qp, 0x123456);
	teardown(&f);
}

static void test_no_memory(void **state)
{
	struct wf_cong_log_ca_entry slowed = { .sl = 9 };
	struct fixture f;

	(void)state;
	setup(&f, false);
	f.mem.left = 0;
	memset(f.mad + WF_CONG_DATA, 0, 100);
	ask_bad(&f, SET, WF_CONG_CONTROL_TABLE, 0, WF_MAD_BUSY);
	wf_cca_log_ca(f.cca, &slowed, 0);
	ask_ok(&f, GET, WF_CONG_LOG, 0);
	teardown(&f);
	setup(&f, true);
	f.mem.left = 0;
	ask_bad(&f, SET, WF_CONG_SWITCH_PORT_SETTING, 0, WF_MAD_BUSY);
	ask_ok(&f, GET, WF_CONG_SWITCH_PORT_SETTING, 0);
	teardown(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switch),    cmocka_unit_test(test_adapter),
		cmocka_unit_test(test_key),       cmocka_unit_test(test_logs),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
