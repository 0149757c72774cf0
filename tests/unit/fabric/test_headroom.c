/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests: headroom by SONiC's calculation against the tables NVIDIA ships with SONiC, the time
 * to react against IEEE 802.3, and tables in a parameter's text.
 *
 * The tables are sonic-buildimage's pg_profile_lookup.ini of two switches with a Spectrum-4. That
 * of ACS-SN5600 is ready for small packets only (cells of 192 B for 64 B: three times as much),
 * that of Mellanox-SN5610N-C256S2 for large ones.
 */
#include "check.h"

#include <string.h>

#include "fabric/flowctl/headroom.h"

#define CELL 192
#define XON 19456

struct row {
	uint64_t rate;  /* Gb/s */
	uint64_t cable; /* m */
	uint64_t xoff;
};

static const struct row sn5600[] = {
	{ 10, 5, 45056 },     { 25, 5, 48128 },     { 40, 5, 57344 },     { 50, 5, 63488 },
	{ 100, 5, 113664 },   { 200, 5, 131072 },   { 400, 5, 231424 },   { 800, 5, 257024 },
	{ 10, 40, 46080 },    { 25, 40, 52224 },    { 40, 40, 62464 },    { 50, 40, 69632 },
	{ 100, 40, 126976 },  { 200, 40, 157696 },  { 400, 40, 283648 },  { 800, 40, 362496 },
	{ 100, 300, 225280 }, { 200, 300, 355328 }, { 400, 300, 677888 }, { 800, 300, 1150976 },
};

static const struct row sn5610n[] = {
	{ 10, 5, 20480 },      { 25, 5, 21504 },       { 40, 5, 24576 },     { 50, 5, 26624 },
	{ 100, 5, 44032 },     { 200, 5, 50176 },      { 400, 5, 86016 },    { 800, 5, 95232 },
	{ 100, 40, 49152 },    { 200, 40, 60416 },     { 400, 40, 104448 },  { 800, 40, 132096 },
	{ 100, 300, 83968 },   { 200, 300, 130048 },   { 400, 300, 243712 }, { 800, 300, 411648 },
	{ 400, 1000, 610304 }, { 800, 1000, 1153024 },
};

/* The largest factor between the calculation and the table, either way, of 1000. */
static uint64_t worst_of(const struct row *rows, size_t n, uint64_t small)
{
	uint64_t worst = 1000;

	for (size_t i = 0; i < n; i++) {
		const struct wf_sonic_headroom in = {
			.rate = rows[i].rate * 1000000000,
			.cable = rows[i].cable * 1000000 / 198,
			.lossless_mtu = 4178, /* RoCE's largest packet */
			.cell = CELL,
			.small = small,
		};
		uint64_t xon, xoff = wf_sonic_headroom(&in, &xon);
		uint64_t up = xoff * 1000 / rows[i].xoff, down = rows[i].xoff * 1000 / xoff;

		assert_int_equal(xon, XON);
		print_message("%4lluG %4llu m: %7llu, table %7llu\n",
		              (unsigned long long)rows[i].rate, (unsigned long long)rows[i].cable,
		              (unsigned long long)xoff, (unsigned long long)rows[i].xoff);
		worst = wf_max_u64(worst, wf_max_u64(up, down));
	}
	return worst;
}

static void test_sonic_tables(void **state)
{
	uint64_t all = worst_of(sn5600, WF_ARRAY_SIZE(sn5600), WF_PROB_ONE);
	uint64_t none = worst_of(sn5610n, WF_ARRAY_SIZE(sn5610n), 0);

	(void)state;
	print_message("at most %llu and %llu thousandths apart\n", (unsigned long long)all,
	              (unsigned long long)none);
	assert_true(all <= 1160);
	assert_true(none <= 1230);
}

/* 905 quanta at 400 and 800 Gb/s, 453 at 200, 394 at 100, 118 at 40: IEEE 802.3 31B.3.7. */
static void test_response(void **state)
{
	static const struct {
		uint64_t gbps;
		wf_time ps;
	} rows[] = { { 800, 579200 },  { 400, 1158400 }, { 200, 1159680 }, { 100, 2017280 },
		     { 50, 1505280 },  { 40, 1510400 },  { 25, 1638400 },  { 10, 3430400 },
		     { 1600, 289600 }, { 60, 3362133 } };
	struct wf_fabric_cfg cfg = { .pfc_reaction = WF_PARAM_AUTO,
		                     .link_phy = 120 * WF_NS,
		                     .switch_latency = 600 * WF_NS,
		                     .nic_rx = 330 * WF_NS };

	const struct wf_topo_node host = { .kind = WF_TOPO_HOST };
	struct wf_topo_node a_switch = { .kind = WF_TOPO_SWITCH };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++)
		assert_int_equal(wf_pfc_response(&cfg, rows[i].gbps * 1000000000), rows[i].ps);
	assert_int_equal(wf_pfc_reaction(&cfg, 400000000000, &a_switch), 438400);
	assert_int_equal(wf_pfc_reaction(&cfg, 400000000000, &host), 708400);
	a_switch.has_latency = true; /* from its topology's file: 400 ns less than the 600 above */
	a_switch.latency = 200 * WF_NS;
	assert_int_equal(wf_pfc_reaction(&cfg, 400000000000, &a_switch), 838400);
	a_switch.has_latency = false;
	cfg.pfc_reaction = 700 * WF_NS; /* the pipeline alone takes longer */
	assert_int_equal(wf_pfc_reaction(&cfg, 400000000000, &a_switch), 0);
	assert_int_equal(wf_pfc_response(&cfg, 100000000000), 700 * WF_NS);
}

static void test_table_text(void **state)
{
	struct wf_headroom_row rows[WF_HEADROOM_ROWS];
	char many[WF_HEADROOM_TEXT] = "";
	struct wf_err err = { "" }, second = { "" };
	unsigned n;

	(void)state;
	assert_int_equal(wf_headroom_parse("", rows, &n, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(wf_headroom_parse("400Gbps:5m:105472B, 100G:40m:68608B", rows, &n, &err),
	                 0);
	assert_int_equal(n, 2);
	assert_int_equal(rows[1].rate, 100000000000);
	assert_int_equal(rows[1].length, 40000);
	assert_int_equal(rows[1].bytes, 68608);
	assert_int_not_equal(wf_headroom_parse("400Gbps:5m", rows, &n, &err), 0);
	assert_non_null(
		strstr(err.text,
	               "\"400Gbps:5m\" is not a table of headrooms: entry 1: a value is missing; "
	               "write rate:length:bytes"));
	assert_int_not_equal(wf_headroom_parse("400Gbps:5m:x", rows, &n, &err), 0);
	for (unsigned i = 0; i <= WF_HEADROOM_ROWS; i++)
		strcat(many, i == 0 ? "1G:1m:1B" : ",1G:1m:1B");
	assert_int_not_equal(wf_headroom_parse(many, rows, &n, &second), 0);
	assert_string_equal(second.text,
	                    "buffer.headroom_table: \"1G:1m:1B,1G:1m:1B,1G:1m:1B,1G:1m:1B,"
	                    "1G:1m:1B,1G:1m:1B,1G:1m:...\" is not a table of "
	                    "headrooms: entry 33: it is one too many; leave it out");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sonic_tables),
		cmocka_unit_test(test_response),
		cmocka_unit_test(test_table_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
