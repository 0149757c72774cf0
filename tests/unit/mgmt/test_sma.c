/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sma.c - the subnet management agent: what nodes say of themselves, what a manager may set
 * and what it may not, the state machine of ports, M_Keys, traps and their intervals.
 */
#include "mgmt_test.h"

#define GET WF_MAD_METHOD_GET
#define SET WF_MAD_METHOD_SET

struct fixture {
	struct test_hw hw;
	struct wf_sma *sma;
	uint8_t mad[WF_MAD_LEN];
	struct mem_fail mem;
};

static void setup(struct fixture *f, bool is_switch)
{
	memset(f, 0, sizeof(*f));
	f->mem = mem_fail_after(1000);
	f->sma = test_sma(&f->hw, is_switch, is_switch ? 4 : 1, &f->mem.mem);
	assert_non_null(f->sma);
}

static void teardown(struct fixture *f)
{
	wf_sma_destroy(f->sma);
	assert_int_equal(f->mem.held, 0);
}

static struct wf_port_info get_port(struct fixture *f, unsigned port)
{
	struct wf_port_info info;

	assert_int_equal(test_smp(f->sma, 1, f->mad, GET, WF_SMP_PORT_INFO, port), 0);
	wf_port_info_decode(f->mad + WF_SMP_DATA, &info);
	return info;
}

/* A Set of PortInfo: what it is now but for *info, and no change of the state where it says so. */
static unsigned set_port(struct fixture *f, unsigned port, const struct wf_port_info *info)
{
	wf_port_info_encode(info, f->mad + WF_SMP_DATA);
	f->hw.what = 0;
	f->hw.physical_port = 0;
	return test_smp(f->sma, 1, f->mad, SET, WF_SMP_PORT_INFO, port | UINT32_C(0x80000000));
}

static struct wf_port_info asked(struct fixture *f, unsigned port)
{
	struct wf_port_info info = get_port(f, port);

	info.port_state = WF_PORT_NOP;
	info.port_physical_state = WF_PHYS_NOP;
	return info;
}

static void configure(struct fixture *f, unsigned port, uint16_t lid)
{
	struct wf_port_info info = asked(f, port);

	info.lid = lid;
	info.master_sm_lid = 3;
	info.neighbor_mtu = 5;
	info.operational_vls = 4;
	assert_int_equal(set_port(f, port, &info), 0);
}

static unsigned set_state(struct fixture *f, unsigned port, uint8_t state, uint8_t phys)
{
	struct wf_port_info info = asked(f, port);

	info.port_state = state;
	info.port_physical_state = phys;
	return set_port(f, port, &info);
}

static void test_node(void **state)
{
	struct wf_node_info info;
	struct wf_port_info port;
	struct fixture f;

	(void)state;
	setup(&f, true);
	assert_int_equal(test_smp(f.sma, 3, f.mad, GET, WF_SMP_NODE_INFO, 0), 0);
	wf_node_info_decode(f.mad + WF_SMP_DATA, &info);
	assert_int_equal(info.node_type, WF_NODE_SWITCH);
	assert_int_equal(info.num_ports, 4);
	assert_int_equal(info.local_port_num, 3);
	assert_int_equal(info.node_guid, 0x1000);
	assert_int_equal(info.port_guid, 0x1000);
	assert_int_equal(info.vendor_id, 0x2c9);
	/* of all its ports, the same: by it ibnetdiscover knows where not to look again */
	assert_int_equal(test_smp(f.sma, 3, f.mad, GET, WF_SMP_PORT_INFO, 1), 0);
	wf_port_info_decode(f.mad + WF_SMP_DATA, &port);
	assert_int_equal(port.local_port_num, 3);
	assert_int_equal(test_smp(f.sma, 3, f.mad, GET, WF_SMP_NODE_DESCRIPTION, 0), 0);
	assert_string_equal((char *)f.mad + WF_SMP_DATA, "leaf1");
	/* nobody sets these */
	assert_int_equal(test_smp(f.sma, 3, f.mad, SET, WF_SMP_NODE_INFO, 0), WF_MAD_BAD_ATTRIBUTE);
	assert_int_equal(test_smp(f.sma, 3, f.mad, SET, WF_SMP_NODE_DESCRIPTION, 0),
	                 WF_MAD_BAD_ATTRIBUTE);
	/* iblinkinfo asks for this one of a vendor */
	assert_int_equal(test_smp(f.sma, 3, f.mad, GET, 0xff90, 1), WF_MAD_BAD_ATTRIBUTE);
	assert_int_equal(test_smp(f.sma, 3, f.mad, GET, WF_SMP_NODE_INFO, 1), WF_MAD_INVALID_FIELD);
	assert_int_equal(test_smp(f.sma, 3, f.mad, 0x12, WF_SMP_NODE_INFO, 0), WF_MAD_BAD_METHOD);
	teardown(&f);
	setup(&f, false);
	assert_int_equal(test_smp(f.sma, 1, f.mad, GET, WF_SMP_NODE_INFO, 0), 0);
	wf_node_info_decode(f.mad + WF_SMP_DATA, &info);
	assert_int_equal(info.node_type, WF_NODE_CA);
	assert_int_equal(info.port_guid, 0x1001);
	/* a switch's attributes */
	assert_int_equal(test_smp(f.sma, 1, f.mad, GET, WF_SMP_SWITCH_INFO, 0),
	                 WF_MAD_BAD_ATTRIBUTE);
	assert_int_equal(test_smp(f.sma, 1, f.mad, GET, WF_SMP_LINEAR_FT, 0), WF_MAD_BAD_ATTRIBUTE);
	teardown(&f);
}

/* What ports are before anybody has set anything, and descriptions that are too long. */
static void test_defaults(void **state)
{
	static const char text[] =
		"0123456789012345678901234567890123456789012345678901234567890123+";
	struct wf_sma_cfg cfg;
	struct wf_port_info info;
	struct fixture f;

	(void)state;
	setup(&f, false);
	memset(f.mad + WF_SMP_DATA, 0xee, WF_SMP_DATA_LEN);
	assert_int_equal(test_smp(f.sma, 1, f.mad, GET, WF_SMP_NODE_INFO, 0), 0);
	assert_int_equal(f.mad[WF_SMP_DATA + 40], 0); /* behind the attribute */
	info = get_port(&f, 1);
	assert_true(info.gid_prefix == UINT64_C(0xfe80000000000000));
	/* traps, SL mapping, LEDs, image GUID, speeds, directed notices, 144, reregister */
	assert_int_equal(info.capability_mask, 0x06604a48);
	assert_int_equal(info.capability_mask2, 0);
	assert_int_equal(info.link_width_active, WF_WIDTH_4X);
	assert_int_equal(info.lid, 0);
	assert_int_equal(info.neighbor_mtu, 1);
	assert_int_equal(info.mtu_cap, 5);
	assert_int_equal(info.vl_cap, 4);
	assert_int_equal(info.guid_cap, 128);
	assert_int_equal(info.subnet_timeout, 18);
	wf_sma_set_description(f.sma, text, 0);
	assert_int_equal(test_smp(f.sma, 1, f.mad, GET, WF_SMP_NODE_DESCRIPTION, 0), 0);
	assert_memory_equal(f.mad + WF_SMP_DATA, text, 63);
	assert_int_equal(f.mad[WF_SMP_DATA + 63], 0);
	wf_sma_set_description(f.sma, "short", 0);
	assert_int_equal(test_smp(f.sma, 1, f.mad, GET, WF_SMP_NODE_DESCRIPTION, 0), 0);
	assert_string_equal((char *)f.mad + WF_SMP_DATA, "short");
	assert_int_equal(f.mad[WF_SMP_DATA + 40], 0);
	teardown(&f);
	memset(&f, 0, sizeof(f));
	f.mem = mem_fail_after(1000);
	test_sma_cfg(&cfg, &f.hw, true, 4);
	cfg.widths |= WF_WIDTH_2X;
	cfg.speeds |= WF_SPEED_XDR;
	cfg.enforcement_cap = 0;
	cfg.description = text;
	assert_int_equal(wf_sma_create(&cfg, &f.mem.mem, &f.sma), 0);
	assert_int_equal(test_smp(f.sma, 1, f.mad, GET, WF_SMP_NODE_DESCRIPTION, 0), 0);
	assert_int_equal(f.mad[WF_SMP_DATA + 63], 0);
	info = get_port(&f, 0);
	assert_int_equal(info.capability_mask2,
	                 WF_CAP2_WIDTH_2X | WF_CAP2_EXTENDED_SPEEDS2 | WF_CAP2_XDR);
	assert_int_equal(info.capability_mask & WF_CAP_PKEY_SWITCH_TRAP, 0);
	/* what is port 0's is not said of the others */
	info = get_port(&f, 1);
	assert_true(info.gid_prefix == 0 && info.capability_mask == 0 && info.guid_cap == 0);
	assert_true(info.capability_mask2 == 0 && info.subnet_timeout == 0);
	info = asked(&f, 1);
	info.partition_enforcement_inbound = true;
	assert_int_equal(set_port(&f, 1, &info), WF_MAD_INVALID_FIELD);
	info = asked(&f, 1);
	info.partition_enforcement_outbound = true;
	assert_int_equal(set_port(&f, 1, &info), WF_MAD_INVALID_FIELD);
	wf_sma_link_up(f.sma, 1, WF_WIDTH_2X, WF_SPEED_XDR, 0);
	info = get_port(&f, 1);
	assert_true(wf_ib_port_rate(&info, wf_sma_port(f.sma, 0)) == UINT64_C(400000000000));
	info = asked(&f, 1);
	info.link_speed_ext_enabled = 30;
	assert_int_equal(set_port(&f, 1, &info), 0);
	info = get_port(&f, 1);
	assert_true(info.link_speed_ext_enabled == 0 && info.link_speed_ext_enabled2 == 0);
	info.link_speed_ext_enabled2 = 7;
	info.port_state = info.port_physical_state = 0;
	assert_int_equal(set_port(&f, 1, &info), 0);
	assert_int_equal(get_port(&f, 1).link_speed_ext_enabled2, 1);
	teardown(&f);
}

/* Each port of an adapter is an end of its own: a GUID, a LID, a key. */
static void test_two_ports(void **state)
{
	struct wf_node_info node;
	struct wf_port_info info;
	struct fixture f;

	(void)state;
	memset(&f, 0, sizeof(f));
	f.mem = mem_fail_after(1000);
	f.sma = test_sma(&f.hw, false, 2, &f.mem.mem);
	assert_int_equal(test_smp(f.sma, 2, f.mad, GET, WF_SMP_NODE_INFO, 0), 0);
	wf_node_info_decode(f.mad + WF_SMP_DATA, &node);
	assert_true(node.port_guid == 0x1002 && node.local_port_num == 2 && node.num_ports == 2);
	assert_int_equal(test_smp(f.sma, 2, f.mad, GET, WF_SMP_PORT_INFO, 0), 0);
	wf_port_info_decode(f.mad + WF_SMP_DATA, &info);
	assert_int_equal(info.local_port_num, 2);
	info.port_state = info.port_physical_state = 0;
	info.lid = 5;
	info.mkey = 6;
	info.mkey_protect_bits = 2;
	wf_port_info_encode(&info, f.mad + WF_SMP_DATA);
	assert_int_equal(test_smp(f.sma, 2, f.mad, SET, WF_SMP_PORT_INFO, 0), 0);
	assert_int_equal(wf_sma_port(f.sma, 2)->lid, 5);
	assert_int_equal(wf_sma_port(f.sma, 1)->lid, 0);
	/* the key is the port's by which the SMP came */
	test_request(f.mad, WF_MAD_CLASS_SUBN_LID, 1, GET, WF_SMP_NODE_INFO, 0);
	assert_int_equal(wf_sma_rx(f.sma, 2, f.mad, 0), WF_SMA_DROP);
	test_request(f.mad, WF_MAD_CLASS_SUBN_LID, 1, GET, WF_SMP_NODE_INFO, 0);
	assert_int_equal(wf_sma_rx(f.sma, 1, f.mad, 0), WF_SMA_ANSWER);
	teardown(&f);
}

/* Versions, classes and methods; what is for a manager; the header of an answer. */
static void test_headers(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, false);
	test_request(f.mad, WF_MAD_CLASS_SUBN_DR, 1, GET, WF_SMP_NODE_INFO, 0);
	assert_int_equal(wf_sma_rx(f.sma, 1, f.mad, 0), WF_SMA_ANSWER);
	assert_int_equal(wf_be16_get(f.mad + 4), WF_SMP_DIRECTION);
	assert_int_equal(wf_be64_get(f.mad + 8), 0x1122);
	test_request(f.mad, WF_MAD_CLASS_SUBN_LID, 2, GET, WF_SMP_NODE_INFO, 0);
	assert_int_equal(wf_sma_rx(f.sma, 1, f.mad, 0), WF_SMA_ANSWER);
	assert_int_equal(wf_be16_get(f.mad + 4), WF_MAD_BAD_VERSION);
	test_request(f.mad, WF_MAD_CLASS_SUBN_LID, 1, GET, WF_SMP_NODE_INFO, 0);
	f.mad[0] = 2;
	assert_int_equal(wf_sma_rx(f.sma, 1, f.mad, 0), WF_SMA_ANSWER);
	assert_int_equal(wf_be16_get(f.mad + 4), WF_MAD_BAD_VERSION);
	test_request(f.mad, WF_MAD_CLASS_SUBN_LID, 1, GET, WF_SMP_SM_INFO, 0);
	assert_int_equal(wf_sma_rx(f.sma, 1, f.mad, 0), WF_SMA_FOR_SM);
	test_request(f.mad, WF_MAD_CLASS_SUBN_LID, 1, WF_MAD_METHOD_TRAP, WF_MAD_ATTR_NOTICE, 0);
	assert_int_equal(wf_sma_rx(f.sma, 1, f.mad, 0), WF_SMA_FOR_SM);
	test_request(f.mad, WF_MAD_CLASS_SUBN_LID, 1, WF_MAD_METHOD_GET_RESP, WF_SMP_NODE_INFO, 0);
	assert_int_equal(wf_sma_rx(f.sma, 1, f.mad, 0), WF_SMA_FOR_SM);
	test_request(f.mad, WF_MAD_CLASS_PERF, 1, GET, WF_SMP_NODE_INFO, 0);
	assert_int_equal(wf_sma_rx(f.sma, 1, f.mad, 0), WF_SMA_DROP);
	test_request(f.mad, WF_MAD_CLASS_SUBN_LID, 1, GET, WF_SMP_NODE_INFO, 0);
	assert_int_equal(wf_sma_rx(f.sma, 2, f.mad, 0), WF_SMA_DROP);
	teardown(&f);
}

static void test_states(void **state)
{
	struct wf_port_info info;
	struct fixture f;

	(void)state;
	setup(&f, true);
	info = get_port(&f, 2);
	assert_int_equal(info.port_state, WF_PORT_DOWN);
	assert_int_equal(info.port_physical_state, WF_PHYS_POLLING);
	for (uint8_t to = WF_PORT_INIT; to < 16; to++)
		assert_int_equal(set_state(&f, 2, to, 0), WF_MAD_INVALID_FIELD);
	wf_sma_link_up(f.sma, 2, WF_WIDTH_4X, WF_SPEED_EDR, 0);
	assert_int_equal(f.hw.what & WF_SMA_STATE, WF_SMA_STATE);
	info = get_port(&f, 2);
	assert_int_equal(info.port_state, WF_PORT_INIT);
	assert_int_equal(info.port_physical_state, WF_PHYS_LINK_UP);
	assert_int_equal(wf_ib_port_rate(&info, wf_sma_port(f.sma, 0)), UINT64_C(100000000000));
	wf_sma_data(f.sma, 2);
	assert_int_equal(wf_sma_port(f.sma, 2)->port_state, WF_PORT_INIT);
	assert_int_equal(set_state(&f, 2, WF_PORT_ACTIVE, 0), WF_MAD_INVALID_FIELD);
	assert_int_equal(set_state(&f, 2, WF_PORT_INIT, 0), WF_MAD_INVALID_FIELD);
	assert_int_equal(f.hw.what, 0);
	assert_int_equal(set_state(&f, 2, WF_PORT_ARMED, 0), 0);
	assert_int_equal(f.hw.what, WF_SMA_STATE);
	assert_int_equal(f.hw.port, 2);
	assert_int_equal(set_state(&f, 2, WF_PORT_ARMED, 0), 0);
	assert_int_equal(f.hw.what, 0);
	assert_int_equal(set_state(&f, 2, WF_PORT_ACTIVE, 0), 0);
	assert_int_equal(get_port(&f, 2).port_state, WF_PORT_ACTIVE);
	assert_int_equal(set_state(&f, 2, WF_PORT_ARMED, 0), WF_MAD_INVALID_FIELD);
	assert_int_equal(set_state(&f, 2, WF_PORT_ACTIVE, 0), 0);
	teardown(&f);
}

/* A switch's port 2, up and active. */
static void setup_active(struct fixture *f)
{
	setup(f, true);
	wf_sma_link_up(f->sma, 2, WF_WIDTH_4X, WF_SPEED_EDR, 0);
	assert_int_equal(set_state(f, 2, WF_PORT_ARMED, 0), 0);
	assert_int_equal(set_state(f, 2, WF_PORT_ACTIVE, 0), 0);
}

static void test_physical_states(void **state)
{
	struct wf_port_info info;
	struct fixture f;

	(void)state;
	setup_active(&f);
	/* nobody sets training or link up; a state and a physical state exclude one another */
	for (uint8_t phys = WF_PHYS_TRAINING; phys < 16; phys++)
		assert_int_equal(set_state(&f, 2, WF_PORT_DOWN, phys), WF_MAD_INVALID_FIELD);
	assert_int_equal(set_state(&f, 2, WF_PORT_ACTIVE, WF_PHYS_POLLING), WF_MAD_INVALID_FIELD);
	assert_int_equal(get_port(&f, 2).port_state, WF_PORT_ACTIVE);
	assert_int_equal(f.hw.physical_port, 0);
	/* ibportstate's disable and enable */
	assert_int_equal(set_state(&f, 2, WF_PORT_DOWN, WF_PHYS_DISABLED), 0);
	assert_int_equal(f.hw.physical_port, 2);
	assert_int_equal(f.hw.physical, WF_PHYS_DISABLED);
	info = get_port(&f, 2);
	assert_int_equal(info.port_state, WF_PORT_DOWN);
	assert_int_equal(info.port_physical_state, WF_PHYS_DISABLED);
	assert_int_equal(set_state(&f, 2, WF_PORT_NOP, WF_PHYS_POLLING), 0);
	assert_int_equal(f.hw.physical, WF_PHYS_POLLING);
	wf_sma_link_up(f.sma, 2, WF_WIDTH_1X, WF_SPEED_QDR, 0);
	info = get_port(&f, 2);
	assert_int_equal(wf_ib_port_rate(&info, wf_sma_port(f.sma, 0)), UINT64_C(10000000000));
	/* what is down stays down, in the default state: a link that is there begins anew */
	assert_int_equal(set_state(&f, 2, WF_PORT_ARMED, 0), 0);
	f.hw.what = 0;
	wf_sma_data(f.sma, 2);
	assert_int_equal(f.hw.what, WF_SMA_STATE);
	assert_int_equal(wf_sma_port(f.sma, 2)->port_state, WF_PORT_ACTIVE);
	info = asked(&f, 2);
	info.port_state = WF_PORT_DOWN;
	info.link_down_default_state = WF_PHYS_SLEEP;
	assert_int_equal(set_port(&f, 2, &info), 0);
	assert_int_equal(f.hw.physical, WF_PHYS_LINK_UP);
	info = get_port(&f, 2);
	assert_int_equal(info.port_state, WF_PORT_INIT);
	assert_int_equal(info.port_physical_state, WF_PHYS_LINK_UP);
	wf_sma_link_down(f.sma, 2, 0);
	info = asked(&f, 2);
	info.port_state = WF_PORT_DOWN;
	assert_int_equal(set_port(&f, 2, &info), 0);
	assert_int_equal(f.hw.physical, WF_PHYS_SLEEP);
	wf_sma_link_reset(f.sma, 2, 0);
	assert_int_equal(get_port(&f, 2).port_state, WF_PORT_DOWN);
	/* a switch's own port is always active */
	info = get_port(&f, 0);
	assert_int_equal(info.port_state, WF_PORT_ACTIVE);
	assert_int_equal(set_state(&f, 0, WF_PORT_DOWN, 0), WF_MAD_INVALID_FIELD);
	assert_int_equal(set_state(&f, 0, WF_PORT_ACTIVE, 0), 0);
	assert_int_equal(get_port(&f, 0).port_state, WF_PORT_ACTIVE);
	teardown(&f);
}

static void test_link_lost(void **state)
{
	struct wf_switch_info sw;
	struct fixture f;

	(void)state;
	setup(&f, true);
	wf_sma_link_up(f.sma, 1, WF_WIDTH_4X, WF_SPEED_EDR, 0);
	assert_true(wf_sma_switch(f.sma)->port_state_change);
	assert_int_equal(test_smp(f.sma, 1, f.mad, GET, WF_SMP_SWITCH_INFO, 0), 0);
	wf_switch_info_decode(f.mad + WF_SMP_DATA, &sw);
	assert_true(sw.port_state_change && sw.enhanced_port0);
	/* written 0 it stays, written 1 it is cleared; a Set is no change of state */
	sw.port_state_change = false;
	wf_switch_info_encode(&sw, f.mad + WF_SMP_DATA);
	assert_int_equal(test_smp(f.sma, 1, f.mad, SET, WF_SMP_SWITCH_INFO, 0), 0);
	assert_true(wf_sma_switch(f.sma)->port_state_change);
	sw.port_state_change = true;
	wf_switch_info_encode(&sw, f.mad + WF_SMP_DATA);
	assert_int_equal(test_smp(f.sma, 1, f.mad, SET, WF_SMP_SWITCH_INFO, 0), 0);
	assert_int_equal(f.mad[WF_SMP_DATA + 11] & 4, 0);
	assert_int_equal(set_state(&f, 1, WF_PORT_ARMED, 0), 0);
	assert_int_equal(set_state(&f, 1, WF_PORT_ACTIVE, 0), 0);
	assert_false(wf_sma_switch(f.sma)->port_state_change);
	wf_sma_link_down(f.sma, 1, 0);
	assert_true(wf_sma_switch(f.sma)->port_state_change);
	assert_int_equal(get_port(&f, 1).port_state, WF_PORT_DOWN);
	assert_int_equal(get_port(&f, 1).port_physical_state, WF_PHYS_POLLING);
	/* and again is nothing new */
	f.hw.calls = 0;
	wf_sma_link_down(f.sma, 1, 0);
	assert_int_equal(f.hw.calls, 0);
	teardown(&f);
}

/* What a Set of PortInfo changes, field by field, and who is told. */
static void test_fields(void **state)
{
	struct wf_port_info info, now;
	struct fixture f;

	(void)state;
	setup(&f, false);
	wf_sma_link_up(f.sma, 1, WF_WIDTH_4X, WF_SPEED_EDR, 0);
	info = asked(&f, 0);
	info.lid = 0x11;
	info.lmc = 2;
	info.gid_prefix = 5;
	assert_int_equal(set_port(&f, 1, &info), 0);
	assert_int_equal(f.hw.what, WF_SMA_LID);
	info.master_sm_lid = 1;
	info.master_sm_sl = 3;
	info.subnet_timeout = 10;
	assert_int_equal(set_port(&f, 1, &info), 0);
	assert_int_equal(f.hw.what, WF_SMA_SM);
	info.neighbor_mtu = 4;
	info.operational_vls = 3;
	assert_int_equal(set_port(&f, 1, &info), 0);
	assert_int_equal(f.hw.what, WF_SMA_MTU_VLS);
	info.operational_vls = 0; /* no change */
	info.vl_high_limit = 200;
	info.hoq_life = 16;
	info.vl_stall_count = 7;
	assert_int_equal(set_port(&f, 1, &info), 0);
	assert_int_equal(f.hw.what, WF_SMA_QOS);
	info.local_phy_errors = 3;
	info.overrun_errors = 4;
	info.init_type = 5;
	info.multicast_pkey_trap_suppression = 1;
	assert_int_equal(set_port(&f, 1, &info), 0);
	assert_int_equal(f.hw.what, 0); /* nobody needs to know */
	info.link_speed_enabled = 15;
	info.link_width_enabled = 255;
	info.link_speed_ext_enabled = 30;
	assert_int_equal(set_port(&f, 1, &info), 0);
	assert_int_equal(f.hw.what, WF_SMA_LINK);
	now = get_port(&f, 1);
	assert_int_equal(now.lid, 0x11);
	assert_int_equal(now.lmc, 2);
	assert_int_equal(now.gid_prefix, 5);
	assert_int_equal(now.master_sm_sl, 3);
	assert_int_equal(now.subnet_timeout, 10);
	assert_int_equal(now.operational_vls, 3);
	assert_int_equal(now.neighbor_mtu, 4);
	assert_int_equal(now.vl_high_limit, 200);
	assert_int_equal(now.hoq_life, 16);
	assert_int_equal(now.vl_stall_count, 7);
	assert_true(now.local_phy_errors == 3 && now.overrun_errors == 4);
	assert_true(now.init_type == 5 && now.multicast_pkey_trap_suppression == 1);
	assert_int_equal(now.link_width_enabled, WF_WIDTH_4X);
	assert_int_equal(now.link_speed_enabled, 7);
	assert_int_equal(now.link_speed_ext_enabled, 0);
	teardown(&f);
}

static void test_extended_fields(void **state)
{
	struct wf_port_info info, now;
	struct fixture f;

	(void)state;
	setup(&f, false);
	wf_sma_link_up(f.sma, 1, WF_WIDTH_4X, WF_SPEED_EDR, 0);
	info = asked(&f, 1);
	info.link_speed_ext_enabled = 30;
	assert_int_equal(set_port(&f, 1, &info), 0);
	info = asked(&f, 1);
	info.link_speed_ext_enabled = 31;
	info.client_reregister = true;
	info.vl_high_limit = 1;
	info.guid_cap = 1; /* nobody sets that */
	assert_int_equal(set_port(&f, 1, &info), 0);
	assert_int_equal(f.hw.what, WF_SMA_LINK | WF_SMA_REREGISTER | WF_SMA_QOS);
	wf_port_info_decode(f.mad + WF_SMP_DATA, &now);
	assert_true(now.client_reregister);
	assert_int_equal(now.link_speed_ext_enabled, 3);
	now = get_port(&f, 1);
	assert_false(now.client_reregister);
	assert_int_equal(now.guid_cap, 128);
	assert_int_equal(now.local_port_num, 1);
	/* without the modifier's bit, who asks knows no extended speeds */
	info = asked(&f, 1);
	info.link_speed_ext_enabled = 1;
	wf_port_info_encode(&info, f.mad + WF_SMP_DATA);
	assert_int_equal(test_smp(f.sma, 1, f.mad, SET, WF_SMP_PORT_INFO, 1), 0);
	assert_int_equal(get_port(&f, 1).link_speed_ext_enabled, 3);
	teardown(&f);
}

/* One wrong value each: refused, and nothing is changed, nobody told. */
static void check_refused(struct fixture *f, unsigned port, const struct wf_port_info *info,
                          const char *what)
{
	struct wf_port_info before = *wf_sma_port(f->sma, port), with = *info;

	/* something that would be right, beside it */
	with.vl_high_limit ^= 1;
	if (set_port(f, port, &with) != WF_MAD_INVALID_FIELD)
		fail_msg("%s was not refused", what);
	assert_int_equal(f->hw.what, 0);
	assert_memory_equal(&before, wf_sma_port(f->sma, port), sizeof(before));
}

#define REFUSED(f, port, member, value)                                                            \
	do {                                                                                       \
		struct wf_port_info wrong = asked((f), (port));                                    \
		wrong.member = (value);                                                            \
		check_refused((f), (port), &wrong, #member " = " #value);                          \
	} while (0)

static void test_refused(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, false);
	wf_sma_link_up(f.sma, 1, WF_WIDTH_4X, WF_SPEED_EDR, 0);
	configure(&f, 1, 9);
	REFUSED(&f, 1, lid, 0);
	REFUSED(&f, 1, lid, 0xc000);
	REFUSED(&f, 1, master_sm_lid, 0);
	REFUSED(&f, 1, master_sm_lid, 0xffff);
	REFUSED(&f, 1, link_width_enabled, WF_WIDTH_1X | WF_WIDTH_4X);
	REFUSED(&f, 1, link_speed_enabled, 8);
	REFUSED(&f, 1, link_speed_ext_enabled, 4);
	REFUSED(&f, 1, link_speed_ext_enabled2, 1);
	REFUSED(&f, 1, neighbor_mtu, 0);
	REFUSED(&f, 1, neighbor_mtu, 6);
	REFUSED(&f, 1, operational_vls, 5);
	REFUSED(&f, 1, link_down_default_state, 3);
	REFUSED(&f, 1, port_state, 7);
	REFUSED(&f, 1, port_physical_state, 4);
	assert_int_equal(test_smp(f.sma, 1, f.mad, GET, WF_SMP_PORT_INFO, 2), WF_MAD_INVALID_FIELD);
	assert_int_equal(test_smp(f.sma, 1, f.mad, GET, WF_SMP_PORT_INFO, 0x100),
	                 WF_MAD_INVALID_FIELD);
	teardown(&f);
}

/* Of a switch's external port, LIDs and keys are not set; partitions are enforced there. */
static void test_switch_port(void **state)
{
	struct wf_port_info info;
	struct fixture f;

	(void)state;
	setup(&f, true);
	info = asked(&f, 3);
	assert_int_equal(info.capability_mask, 0);
	info.lid = 77;
	info.mkey = 5;
	info.partition_enforcement_inbound = info.filter_raw_outbound = true;
	assert_int_equal(set_port(&f, 3, &info), 0);
	assert_int_equal(f.hw.what, WF_SMA_ENFORCE);
	info = get_port(&f, 3);
	assert_int_equal(info.lid, 0);
	assert_int_equal(info.mkey, 0);
	assert_true(info.partition_enforcement_inbound && info.filter_raw_outbound);
	assert_false(info.partition_enforcement_outbound || info.filter_raw_inbound);
	info.port_state = info.port_physical_state = 0;
	info.partition_enforcement_outbound = info.filter_raw_inbound = true;
	assert_int_equal(set_port(&f, 3, &info), 0);
	info = get_port(&f, 3);
	assert_true(info.partition_enforcement_outbound && info.filter_raw_inbound);
	assert_int_equal(info.local_port_num, 1); /* by which the request came */
	configure(&f, 0, 12);
	assert_int_equal(wf_sma_port(f.sma, 0)->lid, 12);
	teardown(&f);
}

static unsigned smp_with_key(struct fixture *f, uint64_t mkey, uint8_t method, uint16_t attr_id,
                             wf_time now, enum wf_sma_verdict verdict)
{
	test_request(f->mad, WF_MAD_CLASS_SUBN_LID, 1, method, attr_id, 0);
	wf_be64_put(f->mad + 24, mkey);
	if (method == SET)
		wf_port_info_encode(wf_sma_port(f->sma, 1), f->mad + WF_SMP_DATA);
	if (method == SET) {
		f->mad[WF_SMP_DATA + 32] &= 0xf0;
		f->mad[WF_SMP_DATA + 33] &= 0x0f;
		f->mad[WF_SMP_DATA + 38] = 99; /* VLHighLimit */
	}
	assert_int_equal(wf_sma_rx(f->sma, 1, f->mad, now), verdict);
	return verdict == WF_SMA_ANSWER ? test_status(f->mad) : 0;
}

static void protect(struct fixture *f, uint8_t level, uint16_t lease)
{
	struct wf_port_info info = asked(f, 1);

	wf_be64_put(f->mad + 24, info.mkey);
	info.mkey = 0xabcd;
	info.mkey_protect_bits = level;
	info.mkey_lease_period = lease;
	assert_int_equal(set_port(f, 1, &info), 0);
}

/* IBTA 14.2.4.1's table of levels. */
static void test_mkey_levels(void **state)
{
	struct fixture f;

	(void)state;
	for (uint8_t level = 0; level < 4; level++) {
		enum wf_sma_verdict get = level < 2 ? WF_SMA_ANSWER : WF_SMA_DROP;

		setup(&f, false);
		protect(&f, level, 0);
		smp_with_key(&f, 1, GET, WF_SMP_NODE_INFO, 0, get);
		smp_with_key(&f, 1, GET, WF_SMP_PORT_INFO, 0, get);
		if (get == WF_SMA_ANSWER)
			assert_int_equal(wf_be64_get(f.mad + WF_SMP_DATA), level == 1 ? 0 : 0xabcd);
		assert_int_equal(wf_sma_port(f.sma, 1)->mkey_violations, level < 2 ? 0 : 2);
		smp_with_key(&f, 0xabcd, GET, WF_SMP_PORT_INFO, 0, WF_SMA_ANSWER);
		assert_int_equal(wf_be64_get(f.mad + WF_SMP_DATA), 0xabcd);
		smp_with_key(&f, 0, SET, WF_SMP_PORT_INFO, 0, WF_SMA_DROP);
		assert_int_equal(wf_sma_port(f.sma, 1)->mkey_violations, level < 2 ? 1 : 3);
		assert_int_equal(wf_sma_port(f.sma, 1)->vl_high_limit, 0);
		assert_int_equal(smp_with_key(&f, 0xabcd, SET, WF_SMP_PORT_INFO, 0, WF_SMA_ANSWER),
		                 0);
		assert_int_equal(wf_sma_port(f.sma, 1)->vl_high_limit, 99);
		teardown(&f);
	}
}

/* Counters of violations: a Set of 0 begins them anew, any other number leaves them. */
static void test_violations(void **state)
{
	struct wf_trap_key key = { .lid1 = 1 };
	struct wf_port_info info;
	struct fixture f;

	(void)state;
	setup(&f, false);
	protect(&f, 0, 0);
	smp_with_key(&f, 1, SET, WF_SMP_PORT_INFO, 0, WF_SMA_DROP);
	wf_sma_violation(f.sma, 1, WF_TRAP_BAD_PKEY, &key, 0);
	wf_sma_violation(f.sma, 1, WF_TRAP_BAD_QKEY, &key, 0);
	wf_sma_violation(f.sma, 1, WF_TRAP_BAD_QKEY, &key, 0);
	wf_be64_put(f.mad + 24, 0xabcd);
	info = asked(&f, 1);
	assert_true(info.mkey_violations == 1 && info.pkey_violations == 1);
	assert_int_equal(info.qkey_violations, 2);
	info.mkey_violations = info.pkey_violations = info.qkey_violations = 77;
	assert_int_equal(set_port(&f, 1, &info), 0);
	info = asked(&f, 1);
	assert_true(info.mkey_violations == 1 && info.qkey_violations == 2);
	info.mkey_violations = info.pkey_violations = 0;
	assert_int_equal(set_port(&f, 1, &info), 0);
	info = asked(&f, 1);
	assert_true(info.mkey_violations == 0 && info.pkey_violations == 0);
	assert_int_equal(info.qkey_violations, 2);
	info.qkey_violations = 0;
	assert_int_equal(set_port(&f, 1, &info), 0);
	assert_int_equal(get_port(&f, 1).qkey_violations, 0);
	for (unsigned i = 0; i < UINT16_MAX + 5; i++)
		wf_sma_violation(f.sma, 1, WF_TRAP_BAD_PKEY, &key, 0);
	assert_int_equal(get_port(&f, 1).pkey_violations, UINT16_MAX);
	teardown(&f);
}

/* A wrong key begins the lease; the right one ends it; when it ends by itself, all may read. */
static void test_mkey_lease(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, false);
	protect(&f, 2, 10);
	assert_int_equal(wf_sma_deadline(f.sma), WF_TIME_NEVER);
	smp_with_key(&f, 1, GET, WF_SMP_PORT_INFO, WF_S, WF_SMA_DROP);
	smp_with_key(&f, 1, GET, WF_SMP_PORT_INFO, 2 * WF_S, WF_SMA_DROP);
	assert_int_equal(wf_sma_deadline(f.sma), 11 * WF_S);
	smp_with_key(&f, 0xabcd, GET, WF_SMP_NODE_INFO, 5 * WF_S, WF_SMA_ANSWER);
	assert_int_equal(wf_sma_deadline(f.sma), WF_TIME_NEVER);
	smp_with_key(&f, 1, GET, WF_SMP_PORT_INFO, 6 * WF_S, WF_SMA_DROP);
	smp_with_key(&f, 1, GET, WF_SMP_PORT_INFO, 16 * WF_S - 1, WF_SMA_DROP);
	wf_sma_tick(f.sma, 16 * WF_S - 1);
	assert_int_equal(wf_sma_port(f.sma, 1)->mkey_protect_bits, 2);
	smp_with_key(&f, 1, GET, WF_SMP_PORT_INFO, 16 * WF_S, WF_SMA_ANSWER);
	assert_int_equal(wf_be64_get(f.mad + WF_SMP_DATA), 0xabcd);
	assert_int_equal(wf_sma_port(f.sma, 1)->mkey_violations, 4);
	assert_int_equal(wf_sma_deadline(f.sma), WF_TIME_NEVER);
	/* and it is still the key */
	smp_with_key(&f, 1, SET, WF_SMP_PORT_INFO, 17 * WF_S, WF_SMA_DROP);
	teardown(&f);
}

/* The next trap that is due, decoded. */
static bool next_trap(struct fixture *f, wf_time now, struct wf_notice *notice_p,
                      struct wf_sma_packet *packet_p, uint64_t *tid_p)
{
	struct wf_mad h;

	if (!wf_sma_tx(f->sma, now, packet_p, f->mad))
		return false;
	wf_mad_decode(f->mad, &h);
	assert_int_equal(h.mgmt_class, WF_MAD_CLASS_SUBN_LID);
	assert_int_equal(h.method, WF_MAD_METHOD_TRAP);
	assert_int_equal(h.attr_id, WF_MAD_ATTR_NOTICE);
	*tid_p = h.tid;
	wf_notice_decode(f->mad + WF_SMP_DATA, notice_p);
	assert_true(notice_p->is_generic);
	return true;
}

static void repress(struct fixture *f, uint64_t tid, wf_time now)
{
	test_request(f->mad, WF_MAD_CLASS_SUBN_LID, 1, WF_MAD_METHOD_TRAP_REPRESS,
	             WF_MAD_ATTR_NOTICE, 0);
	wf_be64_put(f->mad + 8, tid);
	assert_int_equal(wf_sma_rx(f->sma, 1, f->mad, now), WF_SMA_DROP);
}

static void test_trap_link_state(void **state)
{
	wf_time interval = wf_ib_time_decode(18), now = WF_S;
	struct wf_sma_packet packet;
	struct wf_notice notice;
	struct wf_trap_lid lid;
	struct fixture f;
	uint64_t tid, again;

	(void)state;
	setup(&f, true);
	/* nobody to tell */
	wf_sma_link_up(f.sma, 1, WF_WIDTH_4X, WF_SPEED_EDR, now);
	assert_int_equal(wf_sma_deadline(f.sma), WF_TIME_NEVER);
	configure(&f, 0, 12);
	assert_false(next_trap(&f, now, &notice, &packet, &tid));
	wf_sma_link_up(f.sma, 2, WF_WIDTH_4X, WF_SPEED_EDR, now);
	assert_int_equal(wf_sma_deadline(f.sma), now);
	assert_true(next_trap(&f, now, &notice, &packet, &tid));
	assert_int_equal(packet.dlid, 3);
	assert_int_equal(packet.port, 0);
	assert_int_equal(notice.trap_number, WF_TRAP_LINK_STATE);
	assert_int_equal(notice.type, WF_NOTICE_URGENT);
	assert_int_equal(notice.producer_type, WF_NODE_SWITCH);
	assert_int_equal(notice.issuer_lid, 12);
	wf_trap_lid_decode(notice.details, &lid);
	assert_int_equal(lid.lid, 12);
	/* again, as nobody has said that it came; and no other sooner, however much happens */
	assert_int_equal(wf_sma_deadline(f.sma), now + interval);
	wf_sma_link_down(f.sma, 2, now + 1);
	assert_false(next_trap(&f, now + interval - 1, &notice, &packet, &again));
	now += interval;
	assert_true(next_trap(&f, now, &notice, &packet, &again));
	assert_int_not_equal(again, tid);
	/* that is not the one */
	repress(&f, tid, now);
	assert_int_equal(wf_sma_deadline(f.sma), now + interval);
	now += interval;
	assert_true(next_trap(&f, now, &notice, &packet, &tid));
	assert_int_equal(again, tid);
	repress(&f, tid, now);
	assert_int_equal(wf_sma_deadline(f.sma), WF_TIME_NEVER);
	/* the next one waits until the interval has passed */
	wf_sma_link_up(f.sma, 2, WF_WIDTH_4X, WF_SPEED_EDR, now + 5);
	assert_int_equal(wf_sma_deadline(f.sma), now + interval);
	teardown(&f);
}

static void test_switch_traps(void **state)
{
	struct wf_trap_key key = { .lid1 = 4, .lid2 = 5, .key = 0x8001, .qp1 = 6, .gid2 = { 7 } };
	struct wf_trap_switch_key bad;
	struct wf_trap_change change;
	struct wf_sma_packet packet;
	struct wf_trap_port port;
	struct wf_notice n;
	struct fixture f;
	uint64_t tid;

	(void)state;
	setup(&f, true);
	configure(&f, 0, 12);
	wf_sma_violation(f.sma, 3, WF_TRAP_BAD_SWITCH_PKEY, &key, 0);
	assert_int_equal(wf_sma_port(f.sma, 3)->pkey_violations, 1);
	assert_true(next_trap(&f, 0, &n, &packet, &tid));
	assert_int_equal(n.trap_number, 259);
	assert_int_equal(n.type, WF_NOTICE_SECURITY);
	wf_trap_switch_key_decode(n.details, &bad);
	assert_int_equal(bad.pkey, 0x8001);
	assert_int_equal(bad.lid2, 5);
	assert_int_equal(bad.gid2[0], 7);
	assert_int_equal(bad.switch_lid, 12);
	assert_int_equal(bad.port, 3);
	wf_sma_threshold(f.sma, 2, WF_TRAP_BUFFER_OVERRUN, 0);
	assert_true(next_trap(&f, 0, &n, &packet, &tid));
	assert_int_equal(n.trap_number, 130);
	wf_trap_port_decode(n.details, &port);
	assert_int_equal(port.port, 2);
	wf_sma_set_description(f.sma, "spine", 0);
	assert_true(next_trap(&f, 0, &n, &packet, &tid));
	assert_int_equal(n.trap_number, 144);
	wf_trap_change_decode(n.details, &change);
	assert_true(change.other_local_changes);
	assert_int_equal(change.change_flags, WF_CHANGE_NODE_DESCRIPTION);
	assert_false(next_trap(&f, 0, &n, &packet, &tid));
	teardown(&f);
}

static void test_adapter_traps(void **state)
{
	struct wf_trap_key key = { .lid1 = 4, .lid2 = 5, .key = 0x8001, .qp1 = 6, .gid2 = { 7 } };
	struct wf_trap_change change;
	struct wf_sma_packet packet;
	struct wf_trap_mkey mkey;
	struct wf_trap_key out;
	struct wf_notice n;
	struct fixture f;
	uint64_t tid;

	(void)state;
	setup(&f, false);
	wf_sma_link_up(f.sma, 1, WF_WIDTH_4X, WF_SPEED_EDR, 0);
	configure(&f, 1, 12);
	wf_sma_violation(f.sma, 1, WF_TRAP_BAD_QKEY, &key, 0);
	assert_false(next_trap(&f, 0, &n, &packet, &tid)); /* it is not active */
	assert_int_equal(set_state(&f, 1, WF_PORT_ARMED, 0), 0);
	assert_int_equal(set_state(&f, 1, WF_PORT_ACTIVE, 0), 0);
	wf_sma_violation(f.sma, 1, WF_TRAP_BAD_PKEY, &key, 0);
	assert_true(next_trap(&f, 0, &n, &packet, &tid));
	assert_int_equal(packet.port, 1);
	assert_int_equal(n.trap_number, 257);
	wf_trap_key_decode(n.details, &out);
	assert_true(out.lid1 == 4 && out.lid2 == 5 && out.key == 0x8001 && out.qp1 == 6);
	assert_int_equal(out.gid2[0], 7);
	/* who makes himself the manager says so; twice is once */
	wf_sma_set_capability(f.sma, 1, WF_CAP_SM, 0, 0);
	wf_sma_set_capability(f.sma, 1, WF_CAP_SM, 0, 0);
	assert_true(next_trap(&f, 0, &n, &packet, &tid));
	wf_trap_change_decode(n.details, &change);
	assert_int_equal(change.capability_mask & WF_CAP_SM, WF_CAP_SM);
	assert_false(change.other_local_changes);
	/* a wrong M_Key by directed route says along which */
	protect(&f, 2, 0);
	test_request(f.mad, WF_MAD_CLASS_SUBN_DR, 1, SET, WF_SMP_PORT_INFO, 9);
	wf_be64_put(f.mad + 24, 0x1234);
	f.mad[7] = 31;
	assert_int_equal(wf_sma_rx(f.sma, 1, f.mad, 0), WF_SMA_DROP);
	assert_true(next_trap(&f, 0, &n, &packet, &tid));
	wf_trap_mkey_decode(n.details, &mkey);
	assert_true(mkey.dr_path_truncated && mkey.dr_hop_count == 30);
	test_request(f.mad, WF_MAD_CLASS_SUBN_DR, 1, SET, WF_SMP_PORT_INFO, 9);
	wf_be64_put(f.mad + 24, 0x1234);
	wf_be16_put(f.mad + 32, 0xffff);
	f.mad[7] = 2;
	f.mad[WF_SMP_RETURN_PATH + 1] = 8;
	f.mad[WF_SMP_RETURN_PATH + 2] = 1;
	assert_int_equal(wf_sma_rx(f.sma, 1, f.mad, 0), WF_SMA_DROP);
	assert_true(next_trap(&f, 10 * WF_S, &n, &packet, &tid));
	while (n.trap_number != 256)
		assert_true(next_trap(&f, 10 * WF_S, &n, &packet, &tid));
	assert_int_equal(n.trap_number, 256);
	wf_trap_mkey_decode(n.details, &mkey);
	assert_true(mkey.dr_notice && mkey.dr_hop_count == 2 && mkey.dr_return_path[0] == 8);
	assert_true(mkey.dr_slid == 0xffff && !mkey.dr_path_truncated);
	assert_int_equal(mkey.mkey, 0x1234);
	assert_int_equal(mkey.method, SET);
	assert_int_equal(mkey.attr_mod, 9);
	/* a Set does not end what is still to be sent; that the port goes down does */
	wf_be64_put(f.mad + 24, 0xabcd);
	configure(&f, 1, 12);
	assert_true(wf_sma_deadline(f.sma) < WF_TIME_NEVER);
	wf_sma_link_down(f.sma, 1, 0);
	assert_int_equal(wf_sma_deadline(f.sma), WF_TIME_NEVER);
	wf_sma_link_up(f.sma, 1, WF_WIDTH_4X, WF_SPEED_EDR, 0);
	assert_int_equal(set_state(&f, 1, WF_PORT_ARMED, 0), 0);
	assert_int_equal(set_state(&f, 1, WF_PORT_ACTIVE, 0), 0);
	assert_int_equal(wf_sma_deadline(f.sma), WF_TIME_NEVER);
	wf_sma_set_capability(f.sma, 1, 0, WF_CAP_SM, 0);
	assert_true(wf_sma_deadline(f.sma) < WF_TIME_NEVER);
	assert_int_equal(set_state(&f, 1, WF_PORT_DOWN, 0), 0);
	assert_int_equal(set_state(&f, 1, WF_PORT_ARMED, 0), 0);
	assert_int_equal(set_state(&f, 1, WF_PORT_ACTIVE, 0), 0);
	assert_int_equal(wf_sma_deadline(f.sma), WF_TIME_NEVER);
	/* the other end has been set down, so this one begins anew, too */
	f.hw.what = 0;
	wf_sma_link_reset(f.sma, 1, 0);
	assert_int_equal(f.hw.what, WF_SMA_STATE);
	assert_int_equal(get_port(&f, 1).port_state, WF_PORT_INIT);
	f.hw.what = 0;
	wf_sma_link_reset(f.sma, 1, 0);
	assert_int_equal(f.hw.what, 0);
	teardown(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_node),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_two_ports),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_violations),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_link_lost),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_switch_port),
		cmocka_unit_test(test_mkey_levels),
		cmocka_unit_test(test_mkey_lease),
		cmocka_unit_test(test_trap_link_state),
		cmocka_unit_test(test_switch_traps),
		cmocka_unit_test(test_adapter_traps),
		cmocka_unit_test(test_physical_states),
		cmocka_unit_test(test_extended_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
