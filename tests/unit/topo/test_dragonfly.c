/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of topo/dragonfly.c. */
#include "topo/topo_test.h"

/* Links between two groups, from the ports' flags. */
static uint32_t between(const struct wf_topo *topo, uint32_t g, uint32_t h)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < topo->n_links; i++) {
		uint32_t a = topo->nodes[topo->links[i].a].group;
		uint32_t b = topo->nodes[topo->links[i].b].group;

		n += (a == g && b == h) || (a == h && b == g);
	}
	return n;
}

static uint32_t global_ports(const struct wf_topo *topo, uint32_t id)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < topo->nodes[id].n_ports; p++)
		n += test_port(topo, id, p)->global;
	return n;
}

static const struct fly_case {
	const char *text;
	uint32_t p, a, h, groups;
	uint32_t links; /* in all */
	uint32_t least; /* between two groups */
	uint32_t most;
} fly_cases[] = {
	/* Balanced and full: g = a h + 1 groups, one link between each two. */
	{ "kind=dragonfly hosts=6", 1, 2, 1, 3, 6 + 3 + 3, 1, 1 },
	{ "kind=dragonfly hosts=72", 2, 4, 2, 9, 72 + 54 + 36, 1, 1 },
	{ "kind=dragonfly hosts=342", 3, 6, 3, 19, 342 + 19 * 15 + 171, 1, 1 },
	{ "kind=dragonfly hosts=72 radix=7", 2, 4, 2, 9, 72 + 54 + 36, 1, 1 },
	/* Fewer groups: 8 global links over 3 others, 2 each and 2 more on the ring. */
	{ "kind=dragonfly hosts=32 radix=7", 2, 4, 2, 4, 32 + 24 + 16, 2, 3 },
	/* 8 over 4 others: 2 each. */
	{ "kind=dragonfly hosts=40 radix=7", 2, 4, 2, 5, 40 + 30 + 20, 2, 2 },
	/* 8 over 5 others: 1 each and 3 more, one of them to the group opposite. */
	{ "kind=dragonfly hosts=48 radix=7", 2, 4, 2, 6, 48 + 36 + 24, 1, 2 },
	/* 5 over 2 others with 3 groups: 2 each, and one port cannot be used. */
	{ "kind=dragonfly hosts=15 switch_hosts=1 group_switches=5 global_links=1", 1, 5, 1, 3,
	  15 + 30 + 6, 2, 2 },
	/* Two groups: all global links run between them. */
	{ "kind=dragonfly hosts=16 radix=7", 2, 4, 2, 2, 16 + 12 + 8, 8, 8 },
	/* One group, with the switches that the hosts need. */
	{ "kind=dragonfly hosts=5 radix=7", 2, 3, 2, 1, 5 + 3, 0, 0 },
	{ "kind=dragonfly hosts=1 radix=7", 2, 1, 2, 1, 1, 0, 0 },
	/* Groups of one switch. */
	{ "kind=dragonfly hosts=12 switch_hosts=4 group_switches=1 global_links=2", 4, 1, 2, 3,
	  12 + 0 + 3, 1, 1 },
	/* The last group has fewer hosts and as many switches. */
	{ "kind=dragonfly hosts=66 radix=7", 2, 4, 2, 9, 66 + 54 + 36, 1, 1 },
};

static void check_switches(const struct wf_topo *topo, const struct fly_case *c)
{
	uint32_t local = c->a - 1;

	for (uint32_t i = topo->n_hosts; i < topo->n_nodes; i++) {
		uint32_t sw = i - topo->n_hosts;
		uint32_t first = sw * c->p;
		uint32_t hosts = first >= topo->n_hosts
		                         ? 0
		                         : (uint32_t)wf_min_u64(c->p, topo->n_hosts - first);
		uint32_t global = global_ports(topo, i);

		assert_int_equal(topo->nodes[i].group, sw / c->a);
		assert_int_equal(topo->nodes[i].tier, 1);
		assert_int_equal(topo->nodes[i].n_ports, hosts + local + global);
		assert_true(global <= c->h && (c->groups == 1 || global + 1 >= c->h));
		for (uint32_t p = 0; p < hosts; p++)
			assert_int_equal(test_port(topo, i, p)->peer, first + p);
		for (uint32_t p = 0; p < topo->nodes[i].n_ports; p++)
			assert_int_equal(test_port(topo, i, p)->global, p >= hosts + local);
	}
}

static void test_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(fly_cases); i++) {
		const struct fly_case *c = &fly_cases[i];
		struct wf_topo *topo = test_topo(c->text);

		if (topo->n_links != c->links || topo->n_nodes != topo->n_hosts + c->a * c->groups)
			fail_msg("%s: %u nodes, %u links", c->text, topo->n_nodes, topo->n_links);
		check_switches(topo, c);
		for (uint32_t g = 0; g < c->groups; g++) {
			for (uint32_t h = 0; h < g; h++) {
				assert_true(between(topo, g, h) >= c->least);
				assert_true(between(topo, g, h) <= c->most);
			}
		}
		wf_topo_destroy(topo);
	}
}

static void test_wires(void **state)
{
	struct wf_topo *topo = test_topo("kind=dragonfly hosts=72 host_rate=200G fabric_rate=400G");

	(void)state;
	assert_int_equal(topo->links[0].rate, UINT64_C(200000000000));
	assert_int_equal(topo->links[0].delay, 15 * WF_NS);
	assert_int_equal(topo->links[72].rate, UINT64_C(400000000000));
	assert_int_equal(topo->links[72].delay, 150 * WF_NS);
	assert_int_equal(topo->links[72 + 54].delay, 500 * WF_NS);
	assert_int_equal(wf_topo_node_by_name(topo, "group8-sw3"), topo->n_nodes - 1);
	wf_topo_destroy(topo);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *text;
		const char *want;
	} row[] = {
		{ "kind=dragonfly hosts=73 radix=7", "1 to 72 hosts, not 73" },
		{ "kind=dragonfly hosts=73 switch_hosts=2", "p 2, a 4, h 2" },
		{ "kind=dragonfly hosts=10 radix=6 global_links=2", "need 7 ports, not 6" },
		{ "kind=dragonfly hosts=10 group_switches=1024", "ports, not 1024" },
		{ "kind=dragonfly hosts=1048576", "at most 1048576" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct test_mem mem = test_mem_make(-1);
		struct wf_err err = { { 0 } };
		struct wf_topo *topo = NULL;

		assert_int_equal(test_build(row[i].text, &mem.mem, &topo, &err), -EINVAL);
		if (strstr(err.text, row[i].want) == NULL)
			fail_msg("%s: %s", row[i].text, err.text);
		assert_null(topo);
		assert_int_equal(mem.live, 0);
	}
}

static void test_out_of_memory(void **state)
{
	int ret = -ENOMEM;

	(void)state;
	for (long n = 0; ret != 0; n++) {
		struct test_mem mem = test_mem_make(n);
		struct wf_err err = { { 0 } };
		struct wf_topo *topo = NULL;

		ret = test_build("kind=dragonfly hosts=6 radix=3", &mem.mem, &topo, &err);
		assert_true(ret == 0 || ret == -ENOMEM);
		wf_topo_destroy(topo);
		assert_int_equal(mem.live, 0);
		assert_true(n < 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_wires),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
