/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of subnet/subnet.c, lids.c and names.c. */
#include "subnet/subnet_test.h"

#include "subnet/names.h"

static void test_graph(void **state)
{
	struct wf_subnet *s = test_empty(wf_mem_heap());
	uint32_t sw = test_node(s, WF_SUBNET_SWITCH, 4, 0x11);
	uint32_t ca = test_node(s, WF_SUBNET_ADAPTER, 2, 0x22);
	struct wf_subnet_node bad = { .kind = WF_SUBNET_SWITCH, .n_ports = 255 };
	uint32_t id;

	(void)state;
	assert_int_equal(s->n_nodes, 2);
	assert_int_equal(s->n_switches, 1);
	assert_int_equal(s->n_ports, 5 + 3);
	assert_int_equal(wf_subnet_add(s, &bad, &id), -EINVAL);
	wf_subnet_join(s, sw, 3, ca, 2);
	assert_int_equal(wf_subnet_port(s, sw, 3)->peer, ca);
	assert_int_equal(wf_subnet_port(s, ca, 2)->peer_port, 3);
	assert_ptr_equal(wf_subnet_peer(s, wf_subnet_port(s, ca, 2)), wf_subnet_port(s, sw, 3));
	assert_int_equal(wf_subnet_number(s, wf_subnet_port(s, sw, 3)), 3);
	assert_true(wf_subnet_goes(s, wf_subnet_port(s, sw, 3)));
	wf_subnet_port(s, ca, 2)->state = WF_SUBNET_DOWN;
	assert_false(wf_subnet_goes(s, wf_subnet_port(s, sw, 3)));
	wf_subnet_part(s, ca, 2);
	wf_subnet_part(s, ca, 2);
	assert_null(wf_subnet_peer(s, wf_subnet_port(s, sw, 3)));
	wf_subnet_destroy(s);
}

/* A thousand nodes are found, each by its GUID; the first of two with the same one. */
static void test_guids(void **state)
{
	struct wf_subnet *s = test_empty(wf_mem_heap());

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(test_node(s, WF_SUBNET_ADAPTER, 1, (i + 1) * 0x10001), i);
	(void)test_node(s, WF_SUBNET_ADAPTER, 1, 7 * 0x10001);
	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t guid = (i + 1) * 0x10001;

		assert_int_equal(wf_subnet_find(s, guid), i);
		assert_int_equal(wf_subnet_find_port(s, guid + (UINT64_C(1) << 32)),
		                 s->nodes[i].first_port + 1);
	}
	assert_int_equal(wf_subnet_find(s, 5), WF_SUBNET_NONE);
	assert_int_equal(wf_subnet_find(s, 0), WF_SUBNET_NONE);
	wf_subnet_destroy(s);
}

/* By the last byte first: on little-endian machines, OpenSM has GUIDs as they are on the wire. */
static void test_order(void **state)
{
	(void)state;
	assert_true(wf_subnet_guid_order(0x0200, 0x0001) < 0);
	assert_true(wf_subnet_guid_order(0x0001, 0x0200) > 0);
	assert_true(wf_subnet_guid_order(0x0101, 0x0201) < 0);
	assert_int_equal(wf_subnet_guid_order(0x77, 0x77), 0);
	assert_true(wf_subnet_guid_order(test_guid(255), test_guid(256)) < 0);
}

static void test_set_lid(void **state)
{
	struct wf_subnet *s = test_empty(wf_mem_heap());
	uint32_t a = test_node(s, WF_SUBNET_ADAPTER, 1, 1);
	uint32_t b = test_node(s, WF_SUBNET_ADAPTER, 1, 2);
	uint32_t at_a = s->nodes[a].first_port + 1, at_b = s->nodes[b].first_port + 1;

	(void)state;
	assert_int_equal(wf_subnet_set_lid(s, a, 1, 8, 2), 0);
	for (unsigned lid = 8; lid < 12; lid++)
		assert_int_equal(wf_subnet_by_lid(s, lid), at_a);
	assert_int_equal(s->top_lid, 11);
	assert_int_equal(wf_subnet_set_lid(s, b, 1, 10, 1), -EEXIST);
	assert_int_equal(wf_subnet_by_lid(s, 10), at_a);
	assert_int_equal(wf_subnet_set_lid(s, b, 1, 9, 1), -EINVAL); /* no multiple of 2 */
	assert_int_equal(wf_subnet_set_lid(s, b, 1, 8, 8), -EINVAL);
	assert_int_equal(wf_subnet_set_lid(s, b, 1, WF_LID_MAX + 1, 0), -EINVAL);
	assert_int_equal(wf_subnet_set_lid(s, b, 1, WF_LID_MAX, 0), 0);
	assert_int_equal(s->top_lid, WF_LID_MAX);
	assert_int_equal(wf_subnet_set_lid(s, b, 1, 4, 0), 0);
	assert_int_equal(s->top_lid, 11);
	assert_int_equal(wf_subnet_set_lid(s, a, 1, 0, 0), 0);
	assert_int_equal(s->top_lid, 4);
	assert_int_equal(wf_subnet_by_lid(s, 4), at_b);
	assert_int_equal(wf_subnet_by_lid(s, 8), WF_SUBNET_NONE);
	assert_int_equal(wf_subnet_by_lid(s, 0x10000), WF_SUBNET_NONE);
	wf_subnet_destroy(s);
}

/*
 * By hand: a switch with port 0 not enhanced, and three adapters, in the order of GUIDs s0 (0), h1
 * (1), h2 (2), h3 (3). h2 has LID 6 already and keeps it where it is good.
 */
static void test_assign(void **state)
{
	static const struct {
		unsigned lmc;
		uint32_t first; /* node */
		uint16_t lid[4];
	} row[] = {
		{ 0, WF_SUBNET_NONE, { 1, 2, 6, 3 } },
		{ 0, 3, { 2, 3, 6, 1 } },
		{ 1, WF_SUBNET_NONE, { 1, 2, 6, 4 } }, /* 6 is good with LMC 1, too, if it had it */
		{ 2, WF_SUBNET_NONE, { 1, 4, 8, 12 } },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_subnet *s = test_empty(wf_mem_heap());
		uint32_t first = row[i].first;

		(void)test_node(s, WF_SUBNET_SWITCH, 4, test_guid(0));
		for (unsigned k = 1; k < 4; k++)
			test_link(s, 0, test_node(s, WF_SUBNET_ADAPTER, 2, test_guid(k)));
		assert_int_equal(wf_subnet_set_lid(s, 2, 1, 6, row[i].lmc == 1 ? 1 : 0), 0);
		if (first != WF_SUBNET_NONE)
			first = s->nodes[first].first_port + 1;
		assert_int_equal(wf_subnet_assign_lids(s, row[i].lmc, first), 0);
		assert_int_equal(wf_subnet_port(s, 0, 0)->lid, row[i].lid[0]);
		for (unsigned k = 1; k < 4; k++) {
			assert_int_equal(wf_subnet_port(s, k, 1)->lid, row[i].lid[k]);
			assert_int_equal(wf_subnet_port(s, k, 1)->lmc, row[i].lmc);
			assert_int_equal(wf_subnet_port(s, k, 2)->lid, 0); /* not connected */
		}
		wf_subnet_destroy(s);
	}
}

/* A switch gets no LMC, enhanced or not; one that has it, and may, keeps it. */
static void test_assign_enhanced(void **state)
{
	struct wf_subnet *s = test_empty(wf_mem_heap());

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		(void)test_node(s, WF_SUBNET_SWITCH, 4, test_guid(i));
		s->nodes[i].enhanced = i != 1;
	}
	assert_int_equal(wf_subnet_set_lid(s, 1, 0, 8, 1), 0);
	assert_int_equal(wf_subnet_set_lid(s, 2, 0, 12, 1), 0);
	assert_int_equal(wf_subnet_assign_lids(s, 1, WF_SUBNET_NONE), 0);
	assert_int_equal(wf_subnet_port(s, 0, 0)->lid, 1);
	assert_int_equal(wf_subnet_port(s, 0, 0)->lmc, 0);
	assert_int_equal(wf_subnet_port(s, 1, 0)->lid, 2);
	assert_int_equal(wf_subnet_port(s, 1, 0)->lmc, 0);
	assert_int_equal(wf_subnet_port(s, 2, 0)->lid, 12);
	assert_int_equal(wf_subnet_port(s, 2, 0)->lmc, 1);
	wf_subnet_destroy(s);
}

/* In OpenSM's order, 0x0201 comes before 0x0102. */
static void test_assign_order(void **state)
{
	struct wf_subnet *s = test_empty(wf_mem_heap());

	(void)state;
	(void)test_node(s, WF_SUBNET_SWITCH, 4, 0x0300);
	test_link(s, 0, test_node(s, WF_SUBNET_ADAPTER, 1, 0x0102));
	test_link(s, 0, test_node(s, WF_SUBNET_ADAPTER, 1, 0x0201));
	test_lids(s, 0);
	assert_int_equal(wf_subnet_port(s, 0, 0)->lid, 1);
	assert_int_equal(wf_subnet_port(s, 2, 1)->lid, 2);
	assert_int_equal(wf_subnet_port(s, 1, 1)->lid, 3);
	wf_subnet_destroy(s);
}

/* Two with one LID: the first keeps it. */
static void test_assign_twice(void **state)
{
	struct wf_subnet *s = test_ring(3, 1);

	(void)state;
	for (uint32_t id = 3; id < 6; id++)
		(void)wf_subnet_set_lid(s, id, 1, 9, 0);
	test_lids(s, 0);
	assert_int_equal(wf_subnet_port(s, 3, 1)->lid, 9);
	assert_int_not_equal(wf_subnet_port(s, 4, 1)->lid, 9);
	assert_int_not_equal(wf_subnet_port(s, 5, 1)->lid, wf_subnet_port(s, 4, 1)->lid);
	for (unsigned lid = 1; lid <= s->top_lid; lid++) {
		uint32_t at = wf_subnet_by_lid(s, lid);

		if (at != WF_SUBNET_NONE)
			assert_int_equal(s->ports[at].lid, lid);
	}
	wf_subnet_destroy(s);
}

/* 49,151 LIDs are not enough for 400 ports of 128 each. */
static void test_assign_full(void **state)
{
	struct wf_subnet *s = test_empty(wf_mem_heap());

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		(void)test_node(s, WF_SUBNET_SWITCH, 254, test_guid(i));
	for (unsigned i = 0; i < 400; i++)
		test_link(s, i / 200, test_node(s, WF_SUBNET_ADAPTER, 1, test_guid(2 + i)));
	assert_int_equal(wf_subnet_assign_lids(s, 7, WF_SUBNET_NONE), -ENOSPC);
	assert_int_equal(wf_subnet_assign_lids(s, 6, WF_SUBNET_NONE), 0);
	wf_subnet_destroy(s);
}

static void test_names(void **state)
{
	struct wf_subnet *s = test_empty(wf_mem_heap());
	struct wf_subnet_names names;
	char buf[WF_SUBNET_NAME];

	(void)state;
	(void)test_node(s, WF_SUBNET_SWITCH, 4, 0xab);
	(void)test_node(s, WF_SUBNET_ADAPTER, 1, 0xcd);
	(void)test_node(s, WF_SUBNET_ADAPTER, 1, 0xef);
	memcpy(s->nodes[2].desc, s->nodes[1].desc, sizeof(s->nodes[2].desc));
	assert_int_equal(wf_subnet_names_init(&names, s), 0);
	assert_string_equal(wf_subnet_name(&names, 0, buf), "s0");
	assert_string_equal(wf_subnet_name(&names, 2, buf), "h1 0xef");
	assert_string_equal(wf_subnet_port_name(&names, s->nodes[0].first_port + 4, buf), "s0[4]");
	wf_subnet_names_fini(&names);
	wf_subnet_destroy(s);
}

static void test_rates(void **state)
{
	(void)state;
	/* Data rates of 4x links, in Mb/s, as the speeds are sold. */
	static const uint64_t gb[] = { 0,     8000,   16000,  32000,  40000,
		                       54545, 100000, 200000, 400000, 800000 };

	for (unsigned i = 0; i < WF_SUBNET_N_SPEEDS; i++)
		assert_int_equal(wf_subnet_rate(4, i) / 1000000, gb[i]);
	assert_int_equal(wf_subnet_rate(4, 200), 0);
}

static void test_out_of_memory(void **state)
{
	int ret = -ENOMEM;

	(void)state;
	for (long n = 0; ret != 0; n++) {
		struct mem_fail mem = mem_fail_after(n);
		struct wf_subnet_node like = { .kind = WF_SUBNET_SWITCH, .n_ports = 40 };
		struct wf_subnet *s = NULL;
		uint32_t id;

		ret = wf_subnet_create(&mem.mem, &s);
		for (unsigned i = 0; ret == 0 && i < 100; i++) {
			like.guid = i + 1;
			ret = wf_subnet_add(s, &like, &id);
		}
		if (ret == 0)
			ret = wf_subnet_assign_lids(s, 0, WF_SUBNET_NONE);
		assert_true(ret == 0 || ret == -ENOMEM);
		wf_subnet_destroy(s);
		assert_int_equal(mem.held, 0);
		assert_true(n < 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graph),           cmocka_unit_test(test_guids),
		cmocka_unit_test(test_order),           cmocka_unit_test(test_set_lid),
		cmocka_unit_test(test_assign),          cmocka_unit_test(test_assign_twice),
		cmocka_unit_test(test_assign_enhanced), cmocka_unit_test(test_assign_order),
		cmocka_unit_test(test_assign_full),     cmocka_unit_test(test_names),
		cmocka_unit_test(test_rates),           cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
