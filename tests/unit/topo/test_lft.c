/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forwarding tables, against what is known of d-mod-k: on a full fat tree every shift, by whatever
 * distance, puts at most one flow on a link (Zahavi 2011, "Fat-trees routing and node ordering
 * providing contention free traffic for MPI global collectives", theorem 1 and 2), also where links
 * are parallel.
 */

#include "topo/routes.h"
#include "topo/topo_test.h"

static struct wf_routes *tables(const struct wf_topo *topo, const uint8_t *down)
{
	struct wf_routes *routes = NULL;

	assert_int_equal(wf_routes_create(topo, down, wf_mem_heap(), &routes), 0);
	assert_int_equal(wf_routes_fill_lft(routes, topo), 0);
	return routes;
}

/* Sends a flow by the tables and counts it on each port that it leaves by; the links crossed. */
static uint32_t send(const struct wf_topo *topo, const struct wf_routes *routes, uint32_t src,
                     uint32_t dst, uint32_t *load)
{
	uint32_t node = test_port(topo, topo->host_node[src], 0)->peer;
	uint32_t leaf = routes->leaf_of_host[dst], hops = 1;

	while (test_is_switch(topo, node)) {
		const struct wf_route_switch *rs = &routes->switches[node];
		const struct wf_route_set *set = &rs->sets[rs->set_of_leaf[leaf]];
		uint32_t port = rs->leaf == leaf ? routes->port_of_host[dst] : rs->lft[dst];
		bool minimal = rs->leaf == leaf;

		for (uint32_t i = 0; i < set->n; i++)
			minimal = minimal || rs->ports[set->first + i] == port;
		if (!minimal)
			assert_int_equal(set->n, 0);
		if (set->n == 0 && rs->leaf != leaf)
			return 0;
		load[topo->nodes[node].first_port + port]++;
		node = test_port(topo, node, port)->peer;
		hops++;
	}
	assert_int_equal(node, topo->host_node[dst]);
	return hops;
}

/* The most flows on a link, of a shift by distance. */
static uint32_t worst(const struct wf_topo *topo, const struct wf_routes *routes, uint32_t distance,
                      uint32_t *load)
{
	uint32_t most = 0;

	memset(load, 0, topo->n_ports * sizeof(*load));
	for (uint32_t i = 0; i < topo->n_hosts; i++)
		assert_int_not_equal(send(topo, routes, i, (i + distance) % topo->n_hosts, load),
		                     0);
	for (uint32_t i = 0; i < topo->n_ports; i++)
		most = load[i] > most ? load[i] : most;
	return most;
}

static void check_shifts(const char *text, uint32_t bound)
{
	struct wf_topo *topo = test_topo(text);
	struct wf_routes *routes = tables(topo, NULL);
	uint32_t *load = calloc(topo->n_ports, sizeof(*load));

	assert_non_null(load);
	for (uint32_t d = 1; d < topo->n_hosts; d++) {
		uint32_t most = worst(topo, routes, d, load);

		if (most > bound)
			fail_msg("%s: shift by %u: %u flows on one link", text, d, most);
	}
	free(load);
	wf_routes_destroy(routes);
	wf_topo_destroy(topo);
}

static void test_full_trees(void **state)
{
	(void)state;
	check_shifts("kind=leaf-spine hosts=32 radix=32", 1); /* 16 parallel links */
	check_shifts("kind=leaf-spine hosts=32 radix=16", 1);
	check_shifts("kind=leaf-spine hosts=128 radix=16", 1);
	check_shifts("kind=leaf-spine hosts=512 radix=64", 1);
	check_shifts("kind=leaf-spine hosts=512 radix=32", 1);
	check_shifts("kind=fat-tree hosts=128 radix=8", 1);
	check_shifts("kind=fat-tree hosts=128 radix=16", 1);
	check_shifts("kind=fat-tree hosts=512 radix=16", 1);
	check_shifts("kind=fat-tree hosts=1024 radix=16", 1);
	check_shifts("kind=rail hosts=256 gpus=8 radix=16", 1);
	check_shifts("kind=rail hosts=256 gpus=8 radix=32", 1);
	check_shifts("kind=rail hosts=256 gpus=8 radix=64", 1);
}

/* With two hosts for each link up, two flows share it, and never three. */
static void test_blocking(void **state)
{
	(void)state;
	check_shifts("kind=leaf-spine hosts=256 radix=24 blocking=2", 2);
	check_shifts("kind=fat-tree hosts=288 radix=12 blocking=2", 2);
}

/*
 * Where the last leaf is not full, a shift that leads round the end has two runs of destinations
 * from one leaf. No table can keep all those apart: the hosts of each leaf's width in a row would
 * have to repeat with a period that does not divide their number. Two may meet, not three.
 */
static void test_partial_trees(void **state)
{
	(void)state;
	check_shifts("kind=leaf-spine hosts=100 radix=16", 2);
	check_shifts("kind=leaf-spine hosts=300 radix=64", 2);
	check_shifts("kind=rail hosts=256 gpus=8", 2);
	check_shifts("kind=fat-tree hosts=300 radix=64", 2);
	check_shifts("kind=fat-tree hosts=100 radix=12", 2);
}

/*
 * Every pair of any graph is connected by minimal ports, with links down as well where it can be.
 */
static void test_any_graph(void **state)
{
	static const char *const text[] = {
		"kind=single hosts=9",
		"kind=leaf-spine hosts=100 radix=16",
		"kind=fat-tree hosts=90 radix=12",
		"kind=rail hosts=64 gpus=4 radix=16",
		"kind=dragonfly hosts=72",
		"kind=dragonfly hosts=100 radix=11",
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(text); i++) {
		struct wf_topo *topo = test_topo(text[i]);
		uint8_t *down = calloc(topo->n_links, 1);
		uint32_t *load = calloc(topo->n_ports, sizeof(*load));

		assert_non_null(down);
		assert_non_null(load);
		for (uint32_t step = 0; step < 10; step += 3) {
			struct wf_routes *routes;

			for (uint32_t l = 0; l < topo->n_links; l++)
				down[l] = step != 0 && l % (14 - step) == 0;
			routes = tables(topo, down);
			for (uint32_t n = 0; n < topo->n_hosts * topo->n_hosts; n++) {
				uint32_t hops = send(topo, routes, n % topo->n_hosts,
				                     n / topo->n_hosts, load);

				if (step == 0)
					assert_in_range(hops, 2, 6);
			}
			wf_routes_destroy(routes);
		}
		free(load);
		free(down);
		wf_topo_destroy(topo);
	}
}

static void test_out_of_memory(void **state)
{
	struct wf_topo *topo = test_topo("kind=fat-tree hosts=16");
	int ret = -ENOMEM;

	(void)state;
	for (long n = 0; ret != 0; n++) {
		struct test_mem mem = test_mem_make(n);
		struct wf_routes *routes = NULL;

		ret = wf_routes_create(topo, NULL, &mem.mem, &routes);
		if (ret == 0)
			ret = wf_routes_fill_lft(routes, topo);
		if (ret != 0)
			assert_int_equal(ret, -ENOMEM);
		wf_routes_destroy(routes);
		assert_int_equal(mem.live, 0);
		assert_true(n < 200);
	}
	wf_topo_destroy(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_trees),    cmocka_unit_test(test_blocking),
		cmocka_unit_test(test_partial_trees), cmocka_unit_test(test_any_graph),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
