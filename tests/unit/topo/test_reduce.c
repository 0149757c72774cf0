/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of topo/reduce.c: trees join just their hosts, by links that are there, with one way
 * up from each switch, and end at the lowest switch that has all of them below it.
 */
#include "topo/reduce.h"

#include "topo/topo_test.h"

static struct wf_topo *build(const char *kind, const char *text)
{
	struct wf_topo_cfg cfg = test_cfg(text);
	struct wf_topo *topo = NULL;
	struct wf_err err = { "" };

	if (wf_topo_find(kind)->build(&cfg, NULL, 0, "t", wf_mem_heap(), &topo, &err) != 0)
		fail_msg("%s", err.text);
	return topo;
}

/* Goes down a tree from one of its switches; counts hosts and switches that it comes to. */
static void walk(const struct wf_topo *topo, const struct wf_reduce_tree *t, uint32_t at,
                 uint32_t *seen, uint32_t *switches)
{
	const struct wf_reduce_node *node = &t->nodes[at];

	(*switches)++;
	assert_true(node->n_down > 0);
	for (unsigned i = 0; i < node->n_down; i++) {
		uint16_t number = t->down[node->first_down + i];
		const struct wf_topo_port *port =
			&topo->ports[topo->nodes[node->id].first_port + number];
		uint32_t child = 0;

		assert_true(i == 0 || number > t->down[node->first_down + i - 1]);
		if (topo->nodes[port->peer].kind == WF_TOPO_HOST) {
			seen[topo->nodes[port->peer].host]++;
			continue;
		}
		while (child < t->n_nodes && t->nodes[child].id != port->peer)
			child++;
		assert_true(child < t->n_nodes);
		assert_int_equal(t->nodes[child].parent, at);
		assert_int_equal(t->nodes[child].up, port->peer_port);
		walk(topo, t, child, seen, switches);
	}
}

/* The tree of some hosts; returns how many switches it has, and in *root_p its root. */
static uint32_t check(const struct wf_topo *topo, const uint32_t *hosts, uint32_t n, uint32_t root,
                      uint32_t pick, uint32_t *root_p)
{
	uint8_t *level = calloc(topo->n_nodes, 1);
	uint32_t *queue = calloc(topo->n_nodes, sizeof(*queue));
	uint32_t *seen = calloc(topo->n_hosts, sizeof(*seen));
	uint32_t switches = 0, top = WF_TOPO_NONE;
	struct wf_reduce_tree *t;

	assert_true(level != NULL && queue != NULL && seen != NULL);
	wf_reduce_levels(topo, root, level, queue);
	assert_int_equal(wf_reduce_tree_create(topo, hosts, n, level, pick, wf_mem_heap(), &t), 0);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (t->nodes[i].parent == WF_TOPO_NONE) {
			assert_int_equal(top, WF_TOPO_NONE);
			top = i;
		}
	}
	assert_int_not_equal(top, WF_TOPO_NONE);
	walk(topo, t, top, seen, &switches);
	assert_int_equal(switches, t->n_nodes);
	for (uint32_t i = 0; i < n; i++)
		seen[hosts[i]]--;
	for (uint32_t i = 0; i < topo->n_hosts; i++)
		assert_int_equal(seen[i], 0);
	*root_p = t->nodes[top].id;
	wf_reduce_tree_destroy(t);
	free(level);
	free(queue);
	free(seen);
	return switches;
}

static void fill(uint32_t *hosts, uint32_t n, uint32_t first, uint32_t step)
{
	for (uint32_t i = 0; i < n; i++)
		hosts[i] = first + i * step;
}

static void test_leaf_spine(void **state)
{
	/* 64 hosts at four leaves of 16, two spines with eight links to each leaf. */
	struct wf_topo *topo = build("leaf-spine", "hosts=64 radix=32");
	uint32_t spine = wf_topo_node_by_name(topo, "spine1"), hosts[64], root;

	(void)state;
	fill(hosts, 64, 0, 1);
	for (uint32_t pick = 0; pick < 20; pick++) {
		assert_int_equal(check(topo, hosts, 64, spine, pick, &root), 5);
		assert_int_equal(root, spine);
	}
	/* One host of each of two leaves. */
	fill(hosts, 2, 3, 32);
	assert_int_equal(check(topo, hosts, 2, spine, 0, &root), 3);
	assert_int_equal(root, spine);
	/* All below one leaf: the spine adds nothing. One host alone still has its leaf. */
	fill(hosts, 16, 16, 1);
	assert_int_equal(check(topo, hosts, 16, spine, 0, &root), 1);
	assert_int_equal(root, wf_topo_node_by_name(topo, "leaf1"));
	fill(hosts, 1, 63, 1);
	assert_int_equal(check(topo, hosts, 1, spine, 3, &root), 1);
	assert_int_equal(root, wf_topo_node_by_name(topo, "leaf3"));
	wf_topo_destroy(topo);
}

static void test_three_tiers(void **state)
{
	/* 128 hosts, radix 8: 8 pods of 16 hosts, 4 leaves and 4 aggregation switches each. */
	struct wf_topo *topo = build("fat-tree", "hosts=128 radix=8");
	uint32_t core = wf_topo_node_by_name(topo, "core5"), hosts[128], root;

	(void)state;
	fill(hosts, 128, 0, 1);
	/* The core, one aggregation switch of each pod, all leaves. */
	assert_int_equal(check(topo, hosts, 128, core, 0, &root), 1 + 8 + 32);
	assert_int_equal(root, core);
	/* A pod: its leaves and the aggregation switch on the way to the core. */
	fill(hosts, 16, 16, 1);
	assert_int_equal(check(topo, hosts, 16, core, 0, &root), 1 + 4);
	assert_int_equal(topo->nodes[root].tier, 2);
	/* A leaf. */
	fill(hosts, 4, 16, 1);
	assert_int_equal(check(topo, hosts, 4, core, 0, &root), 1);
	assert_int_equal(topo->nodes[root].tier, 1);
	/* Two pods, one host each. */
	fill(hosts, 2, 1, 100);
	assert_int_equal(check(topo, hosts, 2, core, 0, &root), 1 + 2 + 2);
	wf_topo_destroy(topo);
}

/* Rails: each has its own leaf, which is all that its hosts need. */
static void test_rails(void **state)
{
	struct wf_topo *topo = build("rail", "hosts=64 gpus=8 leaf_rails=1");
	uint32_t spine = topo->n_nodes - 1, hosts[8], root;

	(void)state;
	assert_int_equal(topo->nodes[spine].kind, WF_TOPO_SWITCH);
	for (uint32_t rail = 0; rail < 8; rail++) {
		fill(hosts, 8, rail, 8);
		assert_int_equal(check(topo, hosts, 8, spine, rail, &root), 1);
		assert_int_equal(topo->nodes[root].tier, 1);
	}
	wf_topo_destroy(topo);
}

static void test_dragonfly(void **state)
{
	struct wf_topo *topo = build("dragonfly", "hosts=72");
	uint32_t hosts[72], root = 0;

	(void)state;
	fill(hosts, 72, 0, 1);
	while (topo->nodes[root].kind != WF_TOPO_SWITCH)
		root++;
	/* All switches have hosts, so all are in it. */
	assert_int_equal(check(topo, hosts, 72, root, 1, &root), topo->n_nodes - 72);
	wf_topo_destroy(topo);
}

/* Each allocation fails in turn, and nothing is left. */
static void test_memory(void **state)
{
	struct wf_topo *topo = build("leaf-spine", "hosts=64 radix=32");
	uint32_t hosts[64];
	uint8_t *level = calloc(topo->n_nodes, 1);
	uint32_t *queue = calloc(topo->n_nodes, sizeof(*queue));
	int ret = -ENOMEM;

	(void)state;
	assert_true(level != NULL && queue != NULL);
	fill(hosts, 64, 0, 1);
	wf_reduce_levels(topo, topo->n_nodes - 1, level, queue);
	for (long fail_at = 0; ret == -ENOMEM; fail_at++) {
		struct test_mem mem = test_mem_make(fail_at);
		struct wf_reduce_tree *t;

		ret = wf_reduce_tree_create(topo, hosts, 64, level, 0, &mem.mem, &t);
		if (ret == 0) {
			assert_true(fail_at > 3);
			wf_reduce_tree_destroy(t);
		}
		assert_int_equal(mem.live, 0);
	}
	assert_int_equal(ret, 0);
	wf_reduce_tree_destroy(NULL);
	wf_topo_destroy(topo);
	free(level);
	free(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leaf_spine), cmocka_unit_test(test_three_tiers),
		cmocka_unit_test(test_rails),      cmocka_unit_test(test_dragonfly),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
