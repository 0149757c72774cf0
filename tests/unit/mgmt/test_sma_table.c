/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sma_table.c - the tables of a subnet management agent: forwarding, partition keys, lanes,
 * arbitration, GUIDs; modifiers at their limits, memory that fails, and how much of it is taken.
 */
#include "mgmt_test.h"

#include "wire/ib.h"

#define GET WF_MAD_METHOD_GET
#define SET WF_MAD_METHOD_SET

struct fixture {
	struct test_hw hw;
	struct wf_sma *sma;
	uint8_t mad[WF_MAD_LEN];
	struct mem_fail mem;
};

static void setup(struct fixture *f, bool is_switch, unsigned n_ports)
{
	memset(f, 0, sizeof(*f));
	f->mem = mem_fail_after(100000);
	f->sma = test_sma(&f->hw, is_switch, n_ports, &f->mem.mem);
	assert_non_null(f->sma);
}

static void teardown(struct fixture *f)
{
	wf_sma_destroy(f->sma);
	assert_int_equal(f->mem.held, 0);
}

static unsigned ask(struct fixture *f, uint8_t method, uint16_t attr_id, uint32_t modifier)
{
	f->hw.what = 0;
	return test_smp(f->sma, 1, f->mad, method, attr_id, modifier);
}

/* A Get of what was set before gives it, and one of what nobody set does not. */
static void set_and_get(struct fixture *f, uint16_t attr_id, uint32_t modifier, unsigned bytes)
{
	uint8_t data[WF_SMP_DATA_LEN];

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i % 8);
	memcpy(f->mad + WF_SMP_DATA, data, sizeof(data));
	assert_int_equal(ask(f, SET, attr_id, modifier), 0);
	assert_memory_equal(f->mad + WF_SMP_DATA, data, bytes);
	memset(f->mad + WF_SMP_DATA, 0xee, sizeof(data));
	assert_int_equal(ask(f, GET, attr_id, modifier), 0);
	assert_memory_equal(f->mad + WF_SMP_DATA, data, bytes);
}

static void set_top(struct fixture *f, uint16_t top, unsigned status)
{
	struct wf_switch_info sw = *wf_sma_switch(f->sma);

	sw.linear_fdb_top = top;
	sw.life_time_value = 18;
	wf_switch_info_encode(&sw, f->mad + WF_SMP_DATA);
	assert_int_equal(ask(f, SET, WF_SMP_SWITCH_INFO, 0), status);
}

static void test_forwarding(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, true, 4);
	assert_int_equal(ask(&f, GET, WF_SMP_LINEAR_FT, 3), 0);
	for (unsigned i = 0; i < WF_LFT_PER_BLOCK; i++)
		assert_int_equal(f.mad[WF_SMP_DATA + i], 255);
	f.hw.calls = 0;
	set_and_get(&f, WF_SMP_LINEAR_FT, 3, 64);
	assert_int_equal(f.hw.calls, 1);
	assert_int_equal(ask(&f, SET, WF_SMP_LINEAR_FT, 3), 0);
	assert_int_equal(f.hw.what, WF_SMA_LFT);
	assert_int_equal(wf_sma_lft(f.sma, 3 * 64 + 5), 255); /* above the top */
	set_top(&f, 3 * 64 + 4, 0);
	assert_int_equal(f.hw.what, WF_SMA_SWITCH);
	assert_int_equal(wf_sma_lft(f.sma, 3 * 64 + 4), 4);
	assert_int_equal(wf_sma_lft(f.sma, 3 * 64 + 5), 255);
	assert_int_equal(wf_sma_lft(f.sma, 5), 255);
	set_top(&f, 49151, 0);
	set_top(&f, 49152, WF_MAD_INVALID_FIELD);
	assert_int_equal(wf_sma_switch(f.sma)->linear_fdb_top, 49151);
	assert_int_equal(wf_sma_switch(f.sma)->life_time_value, 18);
	assert_int_equal(wf_sma_lft(f.sma, 40000), 255);
	set_and_get(&f, WF_SMP_LINEAR_FT, 767, 64); /* the last block, 49088 to 49151 */
	assert_int_equal(wf_sma_lft(f.sma, 49151), 7);
	assert_int_equal(wf_sma_lft(f.sma, 3 * 64 + 5), 5); /* it grew, and has kept this */
	assert_int_equal(ask(&f, GET, WF_SMP_LINEAR_FT, 768), WF_MAD_INVALID_FIELD);
	assert_int_equal(ask(&f, SET, WF_SMP_LINEAR_FT, 0x10000), WF_MAD_INVALID_FIELD);
	teardown(&f);
}

static void test_multicast(void **state)
{
	struct wf_switch_info sw;
	struct fixture f;

	(void)state;
	setup(&f, true, 20);
	assert_false(wf_sma_mft(f.sma, 0xc000, 0));
	assert_int_equal(ask(&f, GET, WF_SMP_MULTICAST_FT, 2), 0);
	assert_int_equal(f.mad[WF_SMP_DATA], 0);
	/* ports 16 to 20 of LIDs 0xc040 to 0xc05f: entry 1 has 0x0203, entry 2 0x0405 */
	set_and_get(&f, WF_SMP_MULTICAST_FT, UINT32_C(0x10000002), 64);
	assert_true(wf_sma_mft(f.sma, 0xc041, 16));
	assert_true(wf_sma_mft(f.sma, 0xc041, 17));
	assert_false(wf_sma_mft(f.sma, 0xc041, 18));
	assert_false(wf_sma_mft(f.sma, 0xc041, 0));
	assert_true(wf_sma_mft(f.sma, 0xc042, 18));
	assert_false(wf_sma_mft(f.sma, 0xbfff, 16));
	assert_false(wf_sma_mft(f.sma, 0xffff, 16));
	/* above the top there are none */
	sw = *wf_sma_switch(f.sma);
	sw.multicast_fdb_top = 0xc041;
	wf_switch_info_encode(&sw, f.mad + WF_SMP_DATA);
	assert_int_equal(ask(&f, SET, WF_SMP_SWITCH_INFO, 0), 0);
	assert_true(wf_sma_mft(f.sma, 0xc041, 16));
	assert_false(wf_sma_mft(f.sma, 0xc042, 18));
	sw.multicast_fdb_top = 0xbffe;
	wf_switch_info_encode(&sw, f.mad + WF_SMP_DATA);
	assert_int_equal(ask(&f, SET, WF_SMP_SWITCH_INFO, 0), WF_MAD_INVALID_FIELD);
	sw.multicast_fdb_top = 0xffff; /* 0xc000 + 16384 is one too many */
	wf_switch_info_encode(&sw, f.mad + WF_SMP_DATA);
	assert_int_equal(ask(&f, SET, WF_SMP_SWITCH_INFO, 0), 0);
	sw.multicast_fdb_top = 0xbfff;
	sw.default_port = 3;
	sw.default_multicast_primary_port = 20;
	sw.default_multicast_not_primary_port = 19;
	wf_switch_info_encode(&sw, f.mad + WF_SMP_DATA);
	assert_int_equal(ask(&f, SET, WF_SMP_SWITCH_INFO, 0), 0);
	assert_int_equal(wf_sma_switch(f.sma)->default_port, 3);
	assert_int_equal(wf_sma_switch(f.sma)->default_multicast_primary_port, 20);
	assert_int_equal(wf_sma_switch(f.sma)->default_multicast_not_primary_port, 19);
	assert_false(wf_sma_mft(f.sma, 0xc041, 16));
	sw.default_multicast_primary_port = 21;
	wf_switch_info_encode(&sw, f.mad + WF_SMP_DATA);
	assert_int_equal(ask(&f, SET, WF_SMP_SWITCH_INFO, 0), WF_MAD_INVALID_FIELD);
	assert_int_equal(ask(&f, SET, WF_SMP_SWITCH_INFO, 1), WF_MAD_INVALID_FIELD);
	/* no such position (32 to 47), block (16384 / 32 is 512, and 9 bits), bits between */
	assert_int_equal(ask(&f, GET, WF_SMP_MULTICAST_FT, UINT32_C(0x20000000)),
	                 WF_MAD_INVALID_FIELD);
	assert_int_equal(ask(&f, GET, WF_SMP_MULTICAST_FT, 511), 0);
	assert_int_equal(ask(&f, GET, WF_SMP_MULTICAST_FT, 512), WF_MAD_INVALID_FIELD);
	teardown(&f);
}

static void put_pkeys(struct fixture *f, uint16_t first, uint16_t second)
{
	memset(f->mad + WF_SMP_DATA, 0, WF_SMP_DATA_LEN);
	wf_be16_put(f->mad + WF_SMP_DATA, first);
	wf_be16_put(f->mad + WF_SMP_DATA + 2, second);
}

/* An adapter whose tables do not end where blocks do, and have more than one. */
static void test_other_sizes(void **state)
{
	struct wf_sma_cfg cfg;
	struct fixture f;

	(void)state;
	memset(&f, 0, sizeof(f));
	f.mem = mem_fail_after(1000);
	test_sma_cfg(&cfg, &f.hw, false, 1);
	cfg.partition_cap = 40;
	cfg.vl_arb_cap = 64;
	assert_int_equal(wf_sma_create(&cfg, &f.mem.mem, &f.sma), 0);
	set_and_get(&f, WF_SMP_PKEY_TABLE, 1, 16);
	assert_int_equal(wf_be16_get(f.mad + WF_SMP_DATA + 16), 0); /* key 40 is none */
	assert_int_equal(wf_sma_pkey(f.sma, 1, 39), 0x0607);
	assert_int_equal(wf_sma_pkey(f.sma, 1, 40), 0);
	assert_int_equal(ask(&f, SET, WF_SMP_PKEY_TABLE, 2), WF_MAD_INVALID_FIELD);
	set_and_get(&f, WF_SMP_VL_ARB, 0x20000, 64);
	assert_int_equal(wf_sma_vl_arb(f.sma, 1, false, 33).weight, 3);
	assert_int_equal(wf_sma_vl_arb(f.sma, 1, false, 1).weight, 0);
	assert_int_equal(wf_sma_vl_arb(f.sma, 1, true, 33).weight, 0);
	set_and_get(&f, WF_SMP_VL_ARB, 0x40000, 64);
	assert_int_equal(wf_sma_vl_arb(f.sma, 1, true, 33).weight, 3);
	assert_int_equal(wf_sma_vl_arb(f.sma, 1, true, 1).weight, 0);
	assert_int_equal(wf_sma_vl_arb(f.sma, 1, true, 64).weight, 0);
	teardown(&f);
}

static void test_pkeys(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, false, 1);
	assert_int_equal(ask(&f, GET, WF_SMP_PKEY_TABLE, 0), 0);
	assert_int_equal(wf_be16_get(f.mad + WF_SMP_DATA), 0xffff);
	assert_int_equal(wf_be16_get(f.mad + WF_SMP_DATA + 2), 0);
	assert_true(wf_sma_pkey_ok(f.sma, 1, 0x7fff));
	assert_false(wf_sma_pkey_ok(f.sma, 1, 0x8001));
	/* beyond the first block, the default key stays where it is */
	set_and_get(&f, WF_SMP_PKEY_TABLE, 3, 64);
	assert_int_equal(wf_sma_pkey(f.sma, 1, 0), 0xffff);
	put_pkeys(&f, 0x8001, 0x0002);
	assert_int_equal(ask(&f, SET, WF_SMP_PKEY_TABLE, 0), 0);
	assert_int_equal(f.hw.what, WF_SMA_PKEYS);
	assert_true(wf_sma_pkey_ok(f.sma, 1, 0x0001));
	assert_true(wf_sma_pkey_ok(f.sma, 1, 0x8001));
	assert_true(wf_sma_pkey_ok(f.sma, 1, 0x8002));
	assert_false(wf_sma_pkey_ok(f.sma, 1, 0x0002)); /* both are limited members */
	assert_false(wf_sma_pkey_ok(f.sma, 1, 0xffff));
	assert_false(wf_sma_pkey_ok(f.sma, 1, 0x8000)); /* no key */
	assert_int_equal(ask(&f, GET, WF_SMP_PKEY_TABLE, 4), WF_MAD_INVALID_FIELD);
	assert_int_equal(ask(&f, GET, WF_SMP_PKEY_TABLE, 0x50000), 0); /* its port does not count */
	teardown(&f);
	setup(&f, true, 4);
	put_pkeys(&f, 0x8001, 0);
	assert_int_equal(ask(&f, SET, WF_SMP_PKEY_TABLE, 0x20000), 0);
	assert_int_equal(f.hw.port, 2);
	assert_true(wf_sma_pkey_ok(f.sma, 2, 0x0001));
	assert_false(wf_sma_pkey_ok(f.sma, 3, 0x0001));
	assert_false(wf_sma_pkey_ok(f.sma, 3, 0xffff));
	assert_true(wf_sma_pkey_ok(f.sma, 0, 0xffff));
	assert_int_equal(ask(&f, GET, WF_SMP_PKEY_TABLE, 0x50000), WF_MAD_INVALID_FIELD);
	assert_int_equal(ask(&f, GET, WF_SMP_PKEY_TABLE, 0x20001), WF_MAD_INVALID_FIELD);
	teardown(&f);
}

static void test_lanes(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, true, 4);
	assert_int_equal(wf_sma_vl(f.sma, 1, 2, 5), 0);
	/* from port 1 to port 2: SL 2 on lane 0, SL 3 on lane 1 */
	set_and_get(&f, WF_SMP_SL_TO_VL, 0x0102, 8);
	assert_int_equal(wf_sma_vl(f.sma, 1, 2, 3), 1);
	assert_int_equal(wf_sma_vl(f.sma, 1, 2, 2), 0);
	assert_int_equal(wf_sma_vl(f.sma, 1, 2, 15), 7);
	assert_int_equal(wf_sma_vl(f.sma, 3, 2, 15), 0);
	assert_int_equal(wf_sma_vl(f.sma, 2, 1, 15), 0);
	/* all inputs of an output at once; then all of them */
	memset(f.mad + WF_SMP_DATA, 0x33, 8);
	assert_int_equal(ask(&f, SET, WF_SMP_SL_TO_VL, 0x20002), 0);
	assert_int_equal(f.hw.what, WF_SMA_SL_TO_VL);
	assert_int_equal(f.hw.port, 2);
	for (unsigned in = 0; in <= 4; in++)
		assert_int_equal(wf_sma_vl(f.sma, in, 2, 0), 3);
	assert_int_equal(wf_sma_vl(f.sma, 0, 1, 0), 0);
	memset(f.mad + WF_SMP_DATA, 0x44, 8);
	assert_int_equal(ask(&f, SET, WF_SMP_SL_TO_VL, 0x10003), 0);
	assert_int_equal(wf_sma_vl(f.sma, 0, 4, 0), 4); /* input 0 to all outputs */
	assert_int_equal(wf_sma_vl(f.sma, 1, 4, 0), 0);
	memset(f.mad + WF_SMP_DATA, 0x55, 8);
	assert_int_equal(ask(&f, SET, WF_SMP_SL_TO_VL, 0x30000), 0);
	for (unsigned i = 0; i < 25; i++)
		assert_int_equal(wf_sma_vl(f.sma, i / 5, i % 5, 9), 5);
	assert_int_equal(ask(&f, GET, WF_SMP_SL_TO_VL, 0x30000), WF_MAD_INVALID_FIELD);
	assert_int_equal(ask(&f, GET, WF_SMP_SL_TO_VL, 0x0005), WF_MAD_INVALID_FIELD);
	assert_int_equal(ask(&f, GET, WF_SMP_SL_TO_VL, 0x0500), WF_MAD_INVALID_FIELD);
	assert_int_equal(ask(&f, SET, WF_SMP_SL_TO_VL, 0x40000), WF_MAD_INVALID_FIELD);
	teardown(&f);
	setup(&f, false, 1);
	set_and_get(&f, WF_SMP_SL_TO_VL, 0, 8);
	assert_int_equal(wf_sma_vl(f.sma, 0, 1, 15), 7);
	teardown(&f);
}

static void test_arbitration(void **state)
{
	struct wf_vl_arb_entry e;
	struct fixture f;

	(void)state;
	setup(&f, true, 4);
	/* entries 0 to 7: lane 0 weight 1, lane 2 weight 3, ..., lane 4 weight 5, ... */
	set_and_get(&f, WF_SMP_VL_ARB, 0x30002, 16);
	assert_int_equal(ask(&f, SET, WF_SMP_VL_ARB, 0x30002), 0);
	assert_int_equal(f.hw.what, WF_SMA_VL_ARB);
	assert_int_equal(f.hw.port, 2);
	e = wf_sma_vl_arb(f.sma, 2, true, 1);
	assert_int_equal(e.vl, 2);
	assert_int_equal(e.weight, 3);
	assert_int_equal(f.mad[WF_SMP_DATA + 16], 0); /* above the capability of 8 */
	assert_int_equal(wf_sma_vl_arb(f.sma, 2, false, 1).weight, 0);
	assert_int_equal(wf_sma_vl_arb(f.sma, 3, true, 1).weight, 0);
	assert_int_equal(wf_sma_vl_arb(f.sma, 2, true, 8).weight, 0);
	set_and_get(&f, WF_SMP_VL_ARB, 0x10000, 16);
	assert_int_equal(wf_sma_vl_arb(f.sma, 0, false, 3).weight, 7);
	for (uint32_t half = 0; half < 7; half++)
		assert_int_equal(ask(&f, GET, WF_SMP_VL_ARB, half << 16),
		                 half == 1 || half == 3 ? 0 : WF_MAD_INVALID_FIELD);
	assert_int_equal(ask(&f, GET, WF_SMP_VL_ARB, 0x10005), WF_MAD_INVALID_FIELD);
	teardown(&f);
}

static void test_guids_and_led(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, false, 1);
	assert_int_equal(ask(&f, GET, WF_SMP_GUID_INFO, 0), 0);
	assert_int_equal(wf_be64_get(f.mad + WF_SMP_DATA), 0x1001);
	assert_int_equal(wf_be64_get(f.mad + WF_SMP_DATA + 8), 0);
	wf_be64_put(f.mad + WF_SMP_DATA, 9); /* the first stays */
	wf_be64_put(f.mad + WF_SMP_DATA + 8, 10);
	assert_int_equal(ask(&f, SET, WF_SMP_GUID_INFO, 0), 0);
	assert_int_equal(f.hw.what, WF_SMA_GUIDS);
	assert_int_equal(wf_be64_get(f.mad + WF_SMP_DATA), 0x1001);
	assert_int_equal(wf_sma_guid(f.sma, 1, 1), 10);
	set_and_get(&f, WF_SMP_GUID_INFO, 15, 64);
	assert_int_equal(ask(&f, GET, WF_SMP_GUID_INFO, 16), WF_MAD_INVALID_FIELD);
	assert_int_equal(wf_sma_guid(f.sma, 1, 128), 0);
	f.mad[WF_SMP_DATA] = 0x80;
	assert_int_equal(ask(&f, SET, WF_SMP_LED_INFO, 0), 0);
	assert_int_equal(f.hw.what, WF_SMA_LED);
	assert_int_equal(ask(&f, GET, WF_SMP_LED_INFO, 1), 0);
	assert_int_equal(f.mad[WF_SMP_DATA], 0x80);
	assert_int_equal(ask(&f, GET, WF_SMP_LED_INFO, 2), WF_MAD_INVALID_FIELD);
	teardown(&f);
}

/* Without memory a table is not set, and the agent goes on. */
static void test_no_memory(void **state)
{
	static const struct {
		uint16_t attr_id;
		uint32_t modifier;
	} sets[] = {
		{ WF_SMP_LINEAR_FT, 1 },     { WF_SMP_MULTICAST_FT, 1 }, { WF_SMP_PKEY_TABLE, 0 },
		{ WF_SMP_SL_TO_VL, 0x0102 }, { WF_SMP_VL_ARB, 0x10001 }, { WF_SMP_GUID_INFO, 0 },
	};
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(sets); i++) {
		setup(&f, true, 4);
		f.mem.left = sets[i].attr_id == WF_SMP_MULTICAST_FT ? 1 : 0;
		memset(f.mad + WF_SMP_DATA, 0x12, WF_SMP_DATA_LEN);
		assert_int_equal(ask(&f, SET, sets[i].attr_id, sets[i].modifier), WF_MAD_BUSY);
		assert_int_equal(f.hw.what, 0);
		assert_int_equal(ask(&f, GET, sets[i].attr_id, sets[i].modifier), 0);
		assert_int_not_equal(f.mad[WF_SMP_DATA], 0x12);
		teardown(&f);
	}
	f.mem = mem_fail_after(0);
	assert_null(test_sma(&f.hw, true, 4, &f.mem.mem));
}

/* A counting allocator: what agents take, all together. */
struct counted {
	struct wf_mem mem;
	size_t bytes;
};

static void *counted_alloc(struct wf_mem *mem, size_t size)
{
	wf_container_of(mem, struct counted, mem)->bytes += size;
	return wf_mem_heap()->alloc(wf_mem_heap(), size);
}

static void counted_free(struct wf_mem *mem, void *ptr)
{
	(void)mem;
	wf_mem_heap()->free(wf_mem_heap(), ptr);
}

/*
 * 16,384 hosts in three tiers of 64-port switches are 1,280 switches (512 + 512 + 256). With LIDs
 * routed, keys in every adapter and lanes in every port they take under 70 MB.
 */
static void test_memory(void **state)
{
	struct counted c = { .mem = { counted_alloc, counted_free } };
	struct test_hw hw;
	struct wf_sma *sma;
	uint8_t mad[WF_MAD_LEN] = { 0 };
	size_t of_switch, of_host;

	(void)state;
	sma = test_sma(&hw, true, 64, &c.mem);
	/* the last block first: what a table that grows gives back is not counted */
	for (uint32_t block = 17664 / 64 + 1; block-- > 0;)
		assert_int_equal(test_smp(sma, 1, mad, SET, WF_SMP_LINEAR_FT, block), 0);
	assert_int_equal(test_smp(sma, 1, mad, SET, WF_SMP_SL_TO_VL, 0x30000), 0);
	for (uint32_t port = 0; port <= 64; port++)
		assert_int_equal(test_smp(sma, 1, mad, SET, WF_SMP_VL_ARB, 0x10000 | port), 0);
	wf_sma_destroy(sma);
	of_switch = c.bytes;
	c.bytes = 0;
	sma = test_sma(&hw, false, 1, &c.mem);
	assert_int_equal(test_smp(sma, 1, mad, SET, WF_SMP_PKEY_TABLE, 0), 0);
	assert_int_equal(test_smp(sma, 1, mad, SET, WF_SMP_VL_ARB, 0x10000), 0);
	wf_sma_destroy(sma);
	of_host = c.bytes;
	print_message("switch %zu, host %zu bytes\n", of_switch, of_host);
	assert_true(of_switch * 1280 + of_host * 16384 < 70u * 1000 * 1000);
}

/* ---- adaptive routing ---- */

static unsigned set_groups(struct fixture *f, uint32_t block, unsigned port, unsigned other)
{
	struct wf_adaptive_groups table = { .ports = { 0 } };

	table.ports[port / 64] |= UINT64_C(1) << port % 64;
	table.ports[WF_GROUP_WORDS + other / 64] |= UINT64_C(1) << other % 64;
	if (other == 0)
		memset(table.ports + WF_GROUP_WORDS, 0, sizeof(table.ports) / 2);
	wf_adaptive_groups_encode(&table, f->mad + WF_SMP_DATA);
	return ask(f, SET, WF_SMP_ADAPTIVE_GROUPS, block);
}

/* A switch with three groups and 70 ports. What it refuses changes nothing, and is not told of. */
static void test_adaptive(void **state)
{
	struct fixture f;
	struct wf_sma_cfg cfg;
	struct wf_sma_adaptive a;
	struct wf_adaptive_info info;

	(void)state;
	memset(&f, 0, sizeof(f));
	f.mem = mem_fail_after(100000);
	test_sma_cfg(&cfg, &f.hw, true, 70);
	cfg.group_cap = 3;
	assert_int_equal(wf_sma_create(&cfg, &f.mem.mem, &f.sma), 0);
	assert_int_equal(ask(&f, GET, WF_SMP_ADAPTIVE_INFO, 0), 0);
	wf_adaptive_info_decode(f.mad + WF_SMP_DATA, &info);
	assert_false(info.enabled);
	assert_int_equal(info.group_cap, 3);
	assert_int_equal(ask(&f, GET, WF_SMP_ADAPTIVE_INFO, 1), WF_MAD_INVALID_FIELD);
	wf_sma_adaptive(f.sma, &a);
	assert_int_equal(a.n_lids + a.n_groups, 0);

	assert_int_equal(set_groups(&f, 0, 1, 70), 0);
	assert_int_equal(f.hw.what, WF_SMA_ADAPTIVE);
	assert_int_equal(set_groups(&f, 1, 64, 0), 0);
	wf_sma_adaptive(f.sma, &a);
	assert_int_equal(a.n_groups, 3);
	assert_true(a.ports[0][0] == 2 && a.ports[1][1] == 1u << 6 && a.ports[2][1] == 1);
	assert_int_equal(set_groups(&f, 0, 0, 70), WF_MAD_INVALID_FIELD);  /* its own port, */
	assert_int_equal(set_groups(&f, 0, 71, 70), WF_MAD_INVALID_FIELD); /* one that is not, */
	assert_int_equal(set_groups(&f, 1, 64, 1), WF_MAD_INVALID_FIELD);  /* or a fourth group */
	assert_int_equal(set_groups(&f, 2, 64, 0), WF_MAD_INVALID_FIELD);
	assert_int_equal(set_groups(&f, 0x80000000, 64, 0), WF_MAD_INVALID_FIELD);
	assert_int_equal(f.hw.what, 0);
	wf_sma_adaptive(f.sma, &a);
	assert_true(a.ports[0][0] == 2 && a.ports[1][1] == 1u << 6 && a.ports[2][1] == 1);
	assert_int_equal(ask(&f, GET, WF_SMP_ADAPTIVE_GROUPS, 1), 0);
	assert_int_equal(f.mad[WF_SMP_DATA + 15], 1);
	assert_int_equal(ask(&f, GET, WF_SMP_ADAPTIVE_GROUPS, 2), WF_MAD_INVALID_FIELD);

	memset(f.mad + WF_SMP_DATA, 0, WF_SMP_DATA_LEN);
	f.mad[WF_SMP_DATA + 7] = 3;
	assert_int_equal(ask(&f, SET, WF_SMP_ADAPTIVE_LIDS, 2), 0);
	wf_sma_adaptive(f.sma, &a);
	assert_true(a.n_lids >= 192);
	assert_int_equal(a.group_of[128 + 7], 3);
	assert_int_equal(a.group_of[7], 0);
	f.mad[WF_SMP_DATA + 7] = 4;
	assert_int_equal(ask(&f, SET, WF_SMP_ADAPTIVE_LIDS, 2), WF_MAD_INVALID_FIELD);
	assert_int_equal(ask(&f, SET, WF_SMP_ADAPTIVE_LIDS, 768), WF_MAD_INVALID_FIELD);
	assert_int_equal(ask(&f, GET, WF_SMP_ADAPTIVE_LIDS, 2), 0);
	assert_int_equal(f.mad[WF_SMP_DATA + 7], 3);
	assert_int_equal(ask(&f, GET, WF_SMP_ADAPTIVE_LIDS, 767), 0);

	f.mad[WF_SMP_DATA] = 0x80;
	assert_int_equal(ask(&f, SET, WF_SMP_ADAPTIVE_INFO, 0), 0);
	wf_sma_adaptive(f.sma, &a);
	assert_true(a.enabled);
	teardown(&f);

	/* One that cannot, and an adapter, say that there is no such thing. */
	for (int i = 0; i < 2; i++) {
		setup(&f, i == 0, 4);
		for (uint16_t attr = WF_SMP_ADAPTIVE_INFO; attr <= WF_SMP_ADAPTIVE_LIDS; attr++) {
			memset(f.mad + WF_SMP_DATA, 0, WF_SMP_DATA_LEN);
			assert_int_equal(ask(&f, GET, attr, 0), WF_MAD_BAD_ATTRIBUTE);
			assert_int_equal(ask(&f, SET, attr, 0), WF_MAD_BAD_ATTRIBUTE);
			assert_int_equal(f.hw.what, 0);
		}
		teardown(&f);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forwarding),    cmocka_unit_test(test_multicast),
		cmocka_unit_test(test_pkeys),         cmocka_unit_test(test_other_sizes),
		cmocka_unit_test(test_lanes),         cmocka_unit_test(test_arbitration),
		cmocka_unit_test(test_guids_and_led), cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_memory),        cmocka_unit_test(test_adaptive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
