/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_field.c - the tables of management's attributes: each makes sense in itself, keeps every bit
 * that it names and no other, and has records' components where their masks have them.
 *
 * Where the bits should be is not told here: test_ibmad.c asks libibmad, test_tshark_mad.c tshark.
 */
#include "attr_test.h"

/* Marks bits first to first + n, which nobody has marked yet. */
static void mark(const struct wf_layout *layout, const struct wf_field *f, uint8_t *map,
                 unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++) {
		if ((map[i / 8] & 0x80 >> i % 8) != 0)
			fail_msg("%s.%s: bit %u has two owners", layout->name, f->name, i);
		map[i / 8] |= (uint8_t)(0x80 >> i % 8);
	}
}

/* Which bits of the wire, and which bytes of the struct, a layout has. */
static void map_layout(const struct wf_layout *layout, unsigned bit, uint8_t *wire, unsigned at,
                       uint8_t *memory)
{
	for (unsigned i = 0; i < layout->n_fields; i++) {
		const struct wf_field *f = &layout->fields[i];

		for (unsigned e = 0; e < f->count; e++) {
			unsigned first = bit + f->bit + e * f->every;

			if (f->sub != NULL) {
				map_layout(f->sub, first, wire, at + f->at + e * f->size, memory);
				continue;
			}
			mark(layout, f, wire, first, f->bits);
			mark(layout, f, memory, (at + f->at + e * f->size) * 8, f->size * 8U);
		}
	}
}

static void check_row(const struct wf_layout *layout, const struct wf_field *f)
{
	unsigned end = f->bit + (f->count - 1U) * f->every + f->bits;

	if (end > layout->bytes * 8U || f->at + f->count * f->size > layout->size)
		fail_msg("%s.%s is outside", layout->name, f->name);
	if (f->count > 1 && f->every < f->bits)
		fail_msg("%s.%s: elements overlap", layout->name, f->name);
	if (f->sub != NULL) {
		assert_int_equal(f->bit % 8, 0);
		assert_int_equal(f->bits, f->sub->bytes * 8);
		assert_int_equal(f->size, f->sub->size);
	} else if (f->bits > 64) {
		assert_int_equal(f->bit % 8, 0);
		assert_int_equal(f->bits, f->size * 8);
	} else if (f->bits > f->size * 8U || f->bit % 8U + f->bits > 64) {
		fail_msg("%s.%s does not fit", layout->name, f->name);
	}
}

static void test_tables(void **state)
{
	uint8_t wire[256], memory[ATTR_MAX];

	(void)state;
	for (size_t n = 0; n < WF_ARRAY_SIZE(attr_layouts); n++) {
		const struct wf_layout *layout = attr_layouts[n];

		assert_true(layout->size <= ATTR_MAX && layout->bytes <= 224);
		for (unsigned i = 0; i < layout->n_fields; i++)
			check_row(layout, &layout->fields[i]);
		memset(wire, 0, sizeof(wire));
		memset(memory, 0, sizeof(memory));
		map_layout(layout, 0, wire, 0, memory);
	}
}

/* A bool may only be 0 or 1, and is: it has one bit. */
static void check_round_trip(const struct wf_layout *layout, struct test_rnd *r)
{
	uint8_t in[256], out[256], wire[256] = { 0 }, memory[ATTR_MAX] = { 0 };
	uint8_t attr[ATTR_MAX], again[ATTR_MAX];

	test_rnd_fill(r, in, sizeof(in));
	memset(out, 0xa5, sizeof(out));
	map_layout(layout, 0, wire, 0, memory);
	memset(attr, 0, sizeof(attr));
	memset(again, 0, sizeof(again));
	wf_layout_decode(layout, in, attr);
	wf_layout_encode(layout, attr, out);
	for (unsigned i = 0; i < layout->bytes; i++)
		if (out[i] != (in[i] & wire[i]))
			fail_msg("%s: byte %u is %02x, not %02x", layout->name, i, out[i],
			         in[i] & wire[i]);
	for (size_t i = layout->bytes; i < sizeof(out); i++)
		assert_int_equal(out[i], 0xa5);
	wf_layout_decode(layout, out, again);
	assert_memory_equal(attr, again, layout->size);
	for (size_t i = layout->size; i < sizeof(attr); i++)
		assert_int_equal(attr[i], 0);
}

static void test_round_trip(void **state)
{
	struct test_rnd r = test_rnd_seed(40);

	(void)state;
	for (size_t n = 0; n < WF_ARRAY_SIZE(attr_layouts); n++)
		for (unsigned i = 0; i < 50; i++)
			check_round_trip(attr_layouts[n], &r);
}

/* What is too great for its bits is cut, and touches no neighbour. */
static void test_too_great(void **state)
{
	struct wf_port_info info = { .lmc = 0xff, .link_round_trip_latency = UINT32_MAX };
	uint8_t bytes[64];

	(void)state;
	wf_port_info_encode(&info, bytes);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], i == 34 ? 7 : i >= 57 && i < 60 ? 0xff : 0);
}

/* The tables that no other reader has fields for, by hand from IBTA's figures. */
static void test_small_tables(void **state)
{
	static const uint8_t sl_to_vl[] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
	struct wf_vl_arb arb = { .entry[1] = { .vl = 0xe, .weight = 0x21 } };
	struct wf_multicast_ft mft = { .ports[31] = 0x8001 };
	struct wf_pkey_table pkeys = { .pkey[1] = 0x7fff };
	struct wf_sl_to_vl map;
	uint8_t bytes[64];

	(void)state;
	wf_sl_to_vl_decode(sl_to_vl, &map);
	for (unsigned sl = 0; sl < WF_SLS; sl++)
		assert_int_equal(map.vl[sl], sl);
	wf_vl_arb_encode(&arb, bytes);
	assert_int_equal(bytes[2] << 8 | bytes[3], 0x0e21);
	wf_multicast_ft_encode(&mft, bytes);
	assert_int_equal(bytes[62] << 8 | bytes[63], 0x8001);
	wf_pkey_table_encode(&pkeys, bytes);
	assert_int_equal(bytes[2] << 8 | bytes[3], 0x7fff);
}

static void test_simple_counters(void **state)
{
	static const uint8_t errors[] = { 0, 3, 0x80, 0x01, 0x1b, 0xe4 };
	uint8_t in[WF_PERF_SIMPLE_LEN], out[WF_PERF_SIMPLE_LEN];
	struct test_rnd r = test_rnd_seed(41);
	struct wf_perf_simple attr;
	unsigned bits, found = 0;

	(void)state;
	for (unsigned id = 0; id < 0x100; id++) {
		unsigned n = wf_perf_simple_shape((uint16_t)id, &bits);

		assert_int_equal(n == 0, bits == 0);
		found += n != 0;
		test_rnd_fill(&r, in, sizeof(in));
		memset(out, 0, sizeof(out));
		wf_perf_simple_decode((uint16_t)id, in, &attr);
		wf_perf_simple_encode((uint16_t)id, &attr, out);
		if (n != 0)
			assert_memory_equal(in, out, 4 + n * bits / 8);
		for (size_t i = n == 0 ? 0 : 4 + n * bits / 8; i < sizeof(out); i++)
			assert_int_equal(out[i], 0);
	}
	assert_int_equal(found, 16);
	memset(in, 0, sizeof(in));
	memcpy(in, errors, sizeof(errors));
	wf_perf_simple_decode(WF_PERF_VL_XMIT_FLOW_CTL_ERRORS, in, &attr);
	assert_int_equal(attr.port_select, 3);
	assert_int_equal(attr.counter_select, 0x8001);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(attr.counter[i], i < 4 ? i : 7 - i);
}

/* Rows of ours against the numbers that OpenSM's headers have for the components. */
static void test_components(void **state)
{
	static const struct {
		const struct wf_layout *layout;
		const char *path;
		unsigned number;
	} rows[] = {
		{ &wf_node_record_layout, "lid", WF_NODE_C_LID },
		{ &wf_node_record_layout, "info.node_type", WF_NODE_C_NODE_TYPE },
		{ &wf_node_record_layout, "info.vendor_id", 13 },
		{ &wf_node_record_layout, "info.node_guid", WF_NODE_C_NODE_GUID },
		{ &wf_node_record_layout, "description.text", WF_NODE_C_DESCRIPTION },
		{ &wf_port_info_record_layout, "port", WF_PORT_INFO_C_PORT },
		{ &wf_port_info_record_layout, "info.mkey", 3 },
		{ &wf_port_info_record_layout, "info.lid", WF_PORT_INFO_C_BASE_LID },
		{ &wf_port_info_record_layout, "info.port_state", WF_PORT_INFO_C_PORT_STATE },
		{ &wf_port_info_record_layout, "info.mkey_protect_bits", 18 },
		{ &wf_port_info_record_layout, "info.lmc", 20 },
		{ &wf_port_info_record_layout, "info.neighbor_mtu", 23 },
		{ &wf_port_info_record_layout, "info.guid_cap", 42 },
		{ &wf_port_info_record_layout, "info.subnet_timeout", 45 },
		{ &wf_port_info_record_layout, "info.overrun_errors", 49 },
		{ &wf_port_info_record_layout, "info.capability_mask2", 53 },
		{ &wf_port_info_record_layout, "info.link_speed_ext_enabled", 57 },
		{ &wf_path_record_layout, "dgid", WF_PATH_C_DGID },
		{ &wf_path_record_layout, "tclass", WF_PATH_C_TCLASS },
		{ &wf_path_record_layout, "pkey", WF_PATH_C_PKEY },
		{ &wf_path_record_layout, "rate", WF_PATH_C_RATE },
		{ &wf_path_record_layout, "life", WF_PATH_C_LIFE },
		{ &wf_mc_member_record_layout, "pkey", WF_MC_C_PKEY },
		{ &wf_mc_member_record_layout, "sl", WF_MC_C_SL },
		{ &wf_mc_member_record_layout, "join_state", WF_MC_C_JOIN_STATE },
		{ &wf_mc_member_record_layout, "proxy_join", WF_MC_C_PROXY_JOIN },
		{ &wf_service_record_layout, "data8", WF_SERVICE_C_DATA },
		{ &wf_service_record_layout, "data64", 35 },
		{ &wf_guid_info_record_layout, "info.guid", WF_GUID_INFO_C_GUID },
		{ &wf_multi_path_record_layout, "service_id_lsb", 21 },
		{ &wf_multicast_ft_record_layout, "block", WF_MULTICAST_FT_C_BLOCK },
		{ &wf_sm_info_record_layout, "info.sm_state", WF_SM_INFO_C_STATE },
		{ &wf_link_record_layout, "to_lid", WF_LINK_C_TO_LID },
		{ &wf_inform_info_record_layout, "info.trap_number", WF_INFORM_C_TRAP_NUMBER },
		{ &wf_inform_info_record_layout, "info.producer_type", 15 },
	};
	uint8_t a[ATTR_MAX], b[ATTR_MAX];
	const struct wf_field *f;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		uint64_t bit = WF_COMPONENT(rows[i].number);

		memset(a, 0, sizeof(a));
		memset(b, 0, sizeof(b));
		assert_true(wf_layout_matches(rows[i].layout, a, b, UINT64_MAX));
		b[attr_member(rows[i].layout, b, rows[i].path, 0, &f) - b] = 1;
		if (wf_layout_matches(rows[i].layout, a, b, bit) ||
		    !wf_layout_matches(rows[i].layout, a, b, ~bit))
			fail_msg("%s.%s is not component %u", rows[i].layout->name, rows[i].path,
			         rows[i].number);
	}
	/* of an array each element has its own */
	memset(b, 0, sizeof(b));
	b[attr_member(&wf_service_record_layout, b, "data16", 7, &f) - b] = 1;
	assert_false(wf_layout_matches(&wf_service_record_layout, a, b, WF_COMPONENT(30)));
	assert_true(wf_layout_matches(&wf_service_record_layout, a, b, ~WF_COMPONENT(30)));
}

static void test_records(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned id = 0; id <= UINT16_MAX; id++) {
		const struct wf_layout *layout = wf_sa_layout((uint16_t)id);

		n += layout != NULL;
		assert_true(layout == NULL || layout->bytes <= WF_SA_DATA_LEN);
	}
	assert_int_equal(n, 19);
	/* NodeRecord is 108 bytes: 14 words, as every captured answer says */
	assert_int_equal(wf_sa_offset(wf_sa_layout(WF_SA_NODE)), 14);
	assert_int_equal(wf_sa_offset(wf_sa_layout(WF_SA_PATH)), 8);
	assert_int_equal(wf_sa_offset(wf_sa_layout(WF_SA_MC_MEMBER)), 7);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),          cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_too_great),       cmocka_unit_test(test_small_tables),
		cmocka_unit_test(test_simple_counters), cmocka_unit_test(test_components),
		cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
