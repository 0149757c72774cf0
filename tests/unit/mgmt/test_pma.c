/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pma.c - the performance management agent: counters that come up in both attributes, where
 * fields end, what a Set with which selection does, all ports at once.
 */
#include "mgmt_test.h"

#include "mgmt/pma.h"

#define GET WF_MAD_METHOD_GET
#define SET WF_MAD_METHOD_SET
#define PORTS 3

/* Counter c of port p is value[p] + c, of simple attributes value[p] + 100 + c. */
struct fixture {
	struct wf_pma *pma;
	struct mem_fail mem;
	uint64_t value[PORTS + 1];
	bool simple;
	uint8_t mad[WF_MAD_LEN];
};

static void read_all(void *arg, unsigned port, uint64_t counter[WF_PMA_COUNTERS])
{
	struct fixture *f = arg;

	assert_in_range(port, 0, PORTS);
	for (unsigned c = 0; c < WF_PMA_COUNTERS; c++)
		counter[c] = f->value[port] + c;
}

static bool read_simple(void *arg, unsigned port, uint16_t attr_id,
                        uint64_t counter[WF_PERF_SIMPLE_MAX])
{
	struct fixture *f = arg;

	assert_in_range(port, 0, PORTS);
	if (!f->simple || attr_id == WF_PERF_VL_OP_DATA)
		return false;
	for (unsigned c = 0; c < WF_PERF_SIMPLE_MAX; c++)
		counter[c] = f->value[port] + 100 + c;
	return true;
}

static const struct wf_pma_ops ops = { read_all, read_simple };

static void setup(struct fixture *f, bool is_switch)
{
	struct wf_pma_cfg cfg = {
		.is_switch = is_switch,
		.n_ports = PORTS,
		.resp_time = 14,
		.ops = &ops,
		.arg = f,
	};

	memset(f, 0, sizeof(*f));
	f->mem = mem_fail_after(1000);
	assert_int_equal(wf_pma_create(&cfg, &f->mem.mem, &f->pma), 0);
}

static void teardown(struct fixture *f)
{
	wf_pma_destroy(f->pma);
	assert_int_equal(f->mem.held, 0);
}

/* The attribute in f->mad is asked for or set; its status. */
static unsigned ask(struct fixture *f, uint8_t method, uint16_t attr_id)
{
	uint8_t data[WF_MAD_LEN - WF_PERF_DATA];

	memcpy(data, f->mad + WF_PERF_DATA, sizeof(data));
	test_request(f->mad, WF_MAD_CLASS_PERF, 1, method, attr_id, 0);
	memcpy(f->mad + WF_PERF_DATA, data, sizeof(data));
	assert_true(wf_pma_rx(f->pma, f->mad));
	return test_status(f->mad);
}

static struct wf_port_counters classic(struct fixture *f, unsigned port)
{
	struct wf_port_counters c;

	memset(f->mad + WF_PERF_DATA, 0, 192);
	f->mad[WF_PERF_DATA + 1] = (uint8_t)port;
	assert_int_equal(ask(f, GET, WF_PERF_COUNTERS), 0);
	wf_port_counters_decode(f->mad + WF_PERF_DATA, &c);
	assert_int_equal(c.port_select, port);
	return c;
}

static struct wf_port_counters_ext extended(struct fixture *f, unsigned port)
{
	struct wf_port_counters_ext c;

	memset(f->mad + WF_PERF_DATA, 0, 192);
	f->mad[WF_PERF_DATA + 1] = (uint8_t)port;
	assert_int_equal(ask(f, GET, WF_PERF_COUNTERS_EXT), 0);
	wf_port_counters_ext_decode(f->mad + WF_PERF_DATA, &c);
	return c;
}

static void test_values(void **state)
{
	struct wf_port_counters_ext e;
	struct wf_port_counters c;
	struct fixture f;

	(void)state;
	setup(&f, true);
	c = classic(&f, 1);
	assert_int_equal(c.rcv_data, 1);
	assert_int_equal(c.rcv_pkts, 3);
	assert_int_equal(c.symbol_errors, 8);
	assert_int_equal(c.link_downed, 10);
	assert_int_equal(c.xmit_discards, 14);
	assert_int_equal(c.local_link_integrity_errors, 15); /* of 17: 4 bits */
	assert_int_equal(c.vl15_dropped, 19);
	assert_int_equal(c.xmit_wait, 20);
	assert_int_equal(c.qp1_dropped, 21);
	f.value[1] = UINT64_C(1) << 40;
	c = classic(&f, 1);
	assert_int_equal(c.xmit_data, UINT32_MAX);
	assert_int_equal(c.symbol_errors, UINT16_MAX);
	assert_int_equal(c.link_downed, UINT8_MAX);
	assert_int_equal(c.excessive_buffer_overruns, 15);
	assert_int_equal(c.xmit_wait, UINT32_MAX);
	e = extended(&f, 1);
	assert_true(e.xmit_data == UINT64_C(1) << 40);
	assert_true(e.multicast_rcv_pkts == (UINT64_C(1) << 40) + 7);
	assert_true(e.symbol_errors == (UINT64_C(1) << 40) + 8);
	assert_true(e.qp1_dropped == (UINT64_C(1) << 40) + 21);
	/* ports add up; a switch has a port 0 */
	f.value[1] = f.value[2] = f.value[3] = 1000;
	assert_int_equal(classic(&f, 0).xmit_data, 0);
	assert_int_equal(classic(&f, 255).xmit_data, 3000);
	assert_true(extended(&f, 255).rcv_data == 3004);
	teardown(&f);
}

static void test_set(void **state)
{
	struct wf_port_counters c = { .port_select = 2 };
	struct wf_port_counters_ext e = { .port_select = 2 };
	struct fixture f;

	(void)state;
	setup(&f, true);
	f.value[1] = f.value[2] = 50;
	/* symbol errors (bit 0) and discards (6) begin anew; the answer shows it */
	c.counter_select = 0x41;
	c.xmit_discards = 5;
	wf_port_counters_encode(&c, f.mad + WF_PERF_DATA);
	assert_int_equal(ask(&f, SET, WF_PERF_COUNTERS), 0);
	wf_port_counters_decode(f.mad + WF_PERF_DATA, &c);
	assert_int_equal(c.symbol_errors, 0);
	assert_int_equal(c.xmit_discards, 5);
	assert_int_equal(c.rcv_errors, 61);
	assert_int_equal(c.xmit_data, 50);
	f.value[2] += 7;
	c = classic(&f, 2);
	assert_int_equal(c.symbol_errors, 7);
	assert_int_equal(c.xmit_discards, 12);
	assert_int_equal(c.rcv_errors, 68);
	assert_int_equal(classic(&f, 1).symbol_errors, 58);
	/* of the other attribute nothing was set */
	assert_true(extended(&f, 2).symbol_errors == 65);
	/* the second selection: XmitWait */
	c.counter_select = 0;
	c.counter_select2 = 1;
	c.xmit_wait = 0;
	wf_port_counters_encode(&c, f.mad + WF_PERF_DATA);
	assert_int_equal(ask(&f, SET, WF_PERF_COUNTERS), 0);
	c = classic(&f, 2);
	assert_int_equal(c.xmit_wait, 0);
	assert_int_equal(c.qp1_dropped, 78);
	assert_int_equal(c.symbol_errors, 7);
	/* data (bit 0) and, of the errors, link downed (bit 2 of the second selection) */
	e.counter_select = 1;
	e.counter_select2 = 4;
	wf_port_counters_ext_encode(&e, f.mad + WF_PERF_DATA);
	assert_int_equal(ask(&f, SET, WF_PERF_COUNTERS_EXT), 0);
	e = extended(&f, 2);
	assert_true(e.xmit_data == 0 && e.link_downed == 0);
	assert_true(e.rcv_data == 58 && e.symbol_errors == 65);
	assert_int_equal(classic(&f, 2).xmit_data, 57);
	/* all ports: perfquery -a -R */
	c = (struct wf_port_counters){ .port_select = 255, .counter_select = 0xffff };
	wf_port_counters_encode(&c, f.mad + WF_PERF_DATA);
	assert_int_equal(ask(&f, SET, WF_PERF_COUNTERS), 0);
	for (unsigned p = 0; p <= PORTS; p++)
		assert_int_equal(classic(&f, p).rcv_pkts, 0);
	f.value[3] = 4;
	assert_int_equal(classic(&f, 255).rcv_pkts, 4);
	teardown(&f);
}

/* Every field is set to a number of its own, and says it. */
static void test_set_values(void **state)
{
	struct wf_port_counters c = { .port_select = 1,
		                      .counter_select = 0xffff,
		                      .counter_select2 = 3 };
	struct wf_port_counters_ext e = { .port_select = 1,
		                          .counter_select = 0xff,
		                          .counter_select2 = 0x3fff };
	struct wf_perf_simple s = { .port_select = 255, .counter_select = 3, .counter = { 5, 6 } };
	uint8_t bytes[192];
	struct fixture f;

	(void)state;
	setup(&f, true);
	f.simple = true;
	f.value[1] = 1000;
	memset(bytes, 0x5a, sizeof(bytes));
	bytes[1] = 1;
	bytes[2] = bytes[3] = 0xff;
	bytes[18] = 3;
	wf_port_counters_decode(bytes, &c);
	wf_port_counters_encode(&c, f.mad + WF_PERF_DATA);
	wf_port_counters_encode(&c, bytes);
	assert_int_equal(ask(&f, SET, WF_PERF_COUNTERS), 0);
	assert_memory_equal(f.mad + WF_PERF_DATA, bytes, 44);
	memset(bytes, 0x6b, sizeof(bytes));
	wf_port_counters_ext_decode(bytes, &e);
	e.port_select = 1;
	e.counter_select = 0xff;
	e.counter_select2 = 0x3fff;
	wf_port_counters_ext_encode(&e, f.mad + WF_PERF_DATA);
	wf_port_counters_ext_encode(&e, bytes);
	assert_int_equal(ask(&f, SET, WF_PERF_COUNTERS_EXT), 0);
	assert_memory_equal(f.mad + WF_PERF_DATA, bytes, 184);
	/* of all ports each is set, and they add up */
	wf_perf_simple_encode(WF_PERF_RCV_CON_CTRL, &s, f.mad + WF_PERF_DATA);
	assert_int_equal(ask(&f, SET, WF_PERF_RCV_CON_CTRL), 0);
	wf_perf_simple_decode(WF_PERF_RCV_CON_CTRL, f.mad + WF_PERF_DATA, &s);
	assert_true(s.counter[0] == 4 * 5 && s.counter[1] == 4 * 6);
	teardown(&f);
}

static void test_simple(void **state)
{
	struct wf_perf_simple s = { .port_select = 1, .counter_select = 2 };
	struct fixture f;

	(void)state;
	setup(&f, false);
	wf_perf_simple_encode(WF_PERF_RCV_ERROR_DETAILS, &s, f.mad + WF_PERF_DATA);
	assert_int_equal(ask(&f, GET, WF_PERF_RCV_ERROR_DETAILS), WF_MAD_BAD_ATTRIBUTE);
	f.simple = true;
	assert_int_equal(ask(&f, GET, WF_PERF_RCV_ERROR_DETAILS), 0);
	wf_perf_simple_decode(WF_PERF_RCV_ERROR_DETAILS, f.mad + WF_PERF_DATA, &s);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(s.counter[i], 100 + i);
	memset(s.counter, 0, sizeof(s.counter));
	wf_perf_simple_encode(WF_PERF_RCV_ERROR_DETAILS, &s, f.mad + WF_PERF_DATA);
	assert_int_equal(ask(&f, SET, WF_PERF_RCV_ERROR_DETAILS), 0);
	f.value[1] = 3;
	assert_int_equal(ask(&f, GET, WF_PERF_RCV_ERROR_DETAILS), 0);
	wf_perf_simple_decode(WF_PERF_RCV_ERROR_DETAILS, f.mad + WF_PERF_DATA, &s);
	assert_int_equal(s.counter[0], 103);
	assert_int_equal(s.counter[1], 3);
	/* another attribute and another port have their own */
	assert_int_equal(ask(&f, GET, WF_PERF_XMIT_DISCARD_DETAILS), 0);
	wf_perf_simple_decode(WF_PERF_XMIT_DISCARD_DETAILS, f.mad + WF_PERF_DATA, &s);
	assert_int_equal(s.counter[1], 104);
	f.value[1] = UINT64_C(1) << 33;
	assert_int_equal(ask(&f, GET, WF_PERF_XMIT_DISCARD_DETAILS), 0);
	wf_perf_simple_decode(WF_PERF_XMIT_DISCARD_DETAILS, f.mad + WF_PERF_DATA, &s);
	assert_int_equal(s.counter[1], UINT16_MAX);
	assert_int_equal(ask(&f, GET, WF_PERF_FLOW_CTL_COUNTERS), 0);
	wf_perf_simple_decode(WF_PERF_FLOW_CTL_COUNTERS, f.mad + WF_PERF_DATA, &s);
	assert_int_equal(s.counter[1], UINT32_MAX);
	assert_int_equal(ask(&f, GET, WF_PERF_VL_OP_DATA), WF_MAD_BAD_ATTRIBUTE);
	assert_int_equal(ask(&f, GET, WF_PERF_SAMPLES_CONTROL), WF_MAD_BAD_ATTRIBUTE);
	teardown(&f);
}

static void test_headers(void **state)
{
	struct wf_class_port_info info;
	struct fixture f;

	(void)state;
	setup(&f, false);
	assert_int_equal(ask(&f, GET, WF_MAD_ATTR_CLASS_PORT_INFO), 0);
	wf_class_port_info_decode(f.mad + WF_PERF_DATA, &info);
	assert_int_equal(info.base_version, 1);
	assert_int_equal(info.class_version, 1);
	assert_int_equal(info.resp_time_value, 14);
	/* perfquery looks for these: all ports, extended counters, XmitWait, more extended ones */
	assert_int_equal(info.capability_mask & 0x1300, 0x1300);
	assert_int_equal(info.capability_mask2, 2);
	assert_int_equal(ask(&f, SET, WF_MAD_ATTR_CLASS_PORT_INFO), WF_MAD_BAD_ATTRIBUTE);
	assert_int_equal(ask(&f, WF_MAD_METHOD_SEND, WF_PERF_COUNTERS), WF_MAD_BAD_METHOD);
	/* an adapter has no port 0, nobody a port 4 */
	memset(f.mad + WF_PERF_DATA, 0, 192);
	assert_int_equal(ask(&f, GET, WF_PERF_COUNTERS), WF_MAD_INVALID_FIELD);
	f.mad[WF_PERF_DATA + 1] = PORTS + 1;
	assert_int_equal(ask(&f, GET, WF_PERF_COUNTERS), WF_MAD_INVALID_FIELD);
	assert_int_equal(ask(&f, SET, WF_PERF_COUNTERS_EXT), WF_MAD_INVALID_FIELD);
	test_request(f.mad, WF_MAD_CLASS_PERF, 2, GET, WF_PERF_COUNTERS, 0);
	assert_true(wf_pma_rx(f.pma, f.mad));
	assert_int_equal(test_status(f.mad), WF_MAD_BAD_VERSION);
	test_request(f.mad, WF_MAD_CLASS_PERF, 1, WF_MAD_METHOD_GET_RESP, WF_PERF_COUNTERS, 0);
	assert_false(wf_pma_rx(f.pma, f.mad));
	test_request(f.mad, WF_MAD_CLASS_CC, 1, GET, WF_PERF_COUNTERS, 0);
	assert_false(wf_pma_rx(f.pma, f.mad));
	teardown(&f);
}

/* Without memory nothing is set; of all ports none. */
static void test_no_memory(void **state)
{
	struct wf_port_counters c = { .port_select = 255, .counter_select = 0xffff };
	struct wf_perf_simple s = { .port_select = 1, .counter_select = 1 };
	struct wf_pma_cfg cfg = { .n_ports = 1, .ops = &ops };
	struct mem_fail none = mem_fail_after(0);
	struct fixture f;
	struct wf_pma *pma;

	(void)state;
	assert_int_not_equal(wf_pma_create(&cfg, &none.mem, &pma), 0);
	setup(&f, false);
	f.simple = true;
	f.value[1] = 9;
	f.mem.left = 2;
	wf_port_counters_encode(&c, f.mad + WF_PERF_DATA);
	assert_int_equal(ask(&f, SET, WF_PERF_COUNTERS), WF_MAD_BUSY);
	assert_int_equal(classic(&f, 1).xmit_data, 9);
	wf_perf_simple_encode(WF_PERF_RCV_CON_CTRL, &s, f.mad + WF_PERF_DATA);
	assert_int_equal(ask(&f, SET, WF_PERF_RCV_CON_CTRL), WF_MAD_BUSY);
	teardown(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),  cmocka_unit_test(test_set),
		cmocka_unit_test(test_simple),  cmocka_unit_test(test_set_values),
		cmocka_unit_test(test_headers), cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
