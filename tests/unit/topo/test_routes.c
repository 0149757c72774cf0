/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of topo/routes.c. */
#include "topo/routes.h"

#include "topo/topo_test.h"

#define FAR UINT32_MAX

static uint32_t cost(const struct wf_topo_port *port)
{
	return port->global ? 3 : 1;
}

static bool usable(const struct wf_topo *topo, const uint8_t *down, const struct wf_topo_port *port)
{
	return test_is_switch(topo, port->peer) && (down == NULL || down[port->link] == 0);
}

/* Distances of all switches from one, by relaxing until nothing changes. */
static void find_distances(const struct wf_topo *topo, const uint8_t *down, uint32_t from,
                           uint32_t *dist)
{
	bool changed = true;

	for (uint32_t i = 0; i < topo->n_nodes; i++)
		dist[i] = i == from ? 0 : FAR;
	while (changed) {
		changed = false;
		for (uint32_t i = topo->n_nodes; i-- > 0;) {
			if (!test_is_switch(topo, i) || dist[i] == FAR)
				continue;
			for (uint32_t p = 0; p < topo->nodes[i].n_ports; p++) {
				const struct wf_topo_port *port = test_port(topo, i, p);

				if (usable(topo, down, port) &&
				    dist[i] + cost(port) < dist[port->peer]) {
					dist[port->peer] = dist[i] + cost(port);
					changed = true;
				}
			}
		}
	}
}

/* The set of switch sw for leaf is just the ports that come nearer, in order. */
static void check_set(const struct wf_topo *topo, const uint8_t *down,
                      const struct wf_route_switch *rs, uint32_t sw, uint32_t leaf,
                      const uint32_t *dist)
{
	const struct wf_route_set *set;
	uint32_t n = 0;

	assert_true(rs->set_of_leaf[leaf] < rs->n_sets);
	set = &rs->sets[rs->set_of_leaf[leaf]];
	for (uint32_t p = 0; p < topo->nodes[sw].n_ports; p++) {
		const struct wf_topo_port *port = test_port(topo, sw, p);

		if (dist[sw] == FAR || !usable(topo, down, port) || dist[port->peer] == FAR ||
		    dist[port->peer] + cost(port) != dist[sw])
			continue;
		assert_true(n < set->n);
		assert_int_equal(rs->ports[set->first + n++], p);
	}
	assert_int_equal(n, set->n);
	assert_int_equal(n == 0, rs->set_of_leaf[leaf] == 0);
}

/* No two sets of a switch are the same. */
static void check_distinct(const struct wf_route_switch *rs)
{
	for (uint32_t i = 0; i < rs->n_sets; i++) {
		for (uint32_t j = 0; j < i; j++) {
			const struct wf_route_set *a = &rs->sets[i];
			const struct wf_route_set *b = &rs->sets[j];

			assert_true(a->n != b->n ||
			            memcmp(rs->ports + a->first, rs->ports + b->first,
			                   a->n * sizeof(*rs->ports)) != 0);
		}
	}
}

/* Compares all of the routes with distances found another way. */
static void check_routes(const struct wf_topo *topo, const uint8_t *down)
{
	struct wf_routes *routes = NULL;
	uint32_t *dist = calloc(topo->n_nodes, sizeof(*dist));
	uint32_t leaves = 0;

	assert_non_null(dist);
	assert_int_equal(wf_routes_create(topo, down, wf_mem_heap(), &routes), 0);
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		uint32_t leaf = routes->switches[i].leaf;

		if (!test_is_switch(topo, i) || leaf == WF_TOPO_NONE)
			continue;
		assert_int_equal(leaf, leaves++);
		find_distances(topo, down, i, dist);
		for (uint32_t sw = 0; sw < topo->n_nodes; sw++) {
			if (test_is_switch(topo, sw))
				check_set(topo, down, &routes->switches[sw], sw, leaf, dist);
		}
	}
	assert_int_equal(leaves, routes->n_leaves);
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		if (test_is_switch(topo, i))
			check_distinct(&routes->switches[i]);
	}
	for (uint32_t h = 0; h < topo->n_hosts; h++) {
		const struct wf_topo_port *port = test_port(topo, topo->host_node[h], 0);

		assert_int_equal(routes->leaf_of_host[h], routes->switches[port->peer].leaf);
		assert_int_equal(routes->port_of_host[h], port->peer_port);
	}
	free(dist);
	wf_routes_destroy(routes);
}

static const char *const kinds[] = {
	"kind=single hosts=1",
	"kind=single hosts=40",
	"kind=leaf-spine hosts=2",
	"kind=leaf-spine hosts=100 radix=16",
	"kind=leaf-spine hosts=256 radix=32 blocking=3",
	"kind=leaf-spine hosts=1000 radix=128 blocking=15",
	"kind=fat-tree hosts=2",
	"kind=fat-tree hosts=16",
	"kind=fat-tree hosts=128",
	"kind=fat-tree hosts=100 radix=12",
	"kind=fat-tree hosts=300 radix=64",
	"kind=rail hosts=128 gpus=4 radix=16",
	"kind=rail hosts=128 gpus=4 radix=8",
	"kind=dragonfly hosts=72",
	"kind=dragonfly hosts=100 radix=11",
	"kind=dragonfly hosts=342",
};

static void test_all_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(kinds); i++) {
		struct wf_topo *topo = test_topo(kinds[i]);

		check_routes(topo, NULL);
		wf_topo_destroy(topo);
	}
}

/* The same with links down, from few to so many that the network falls apart. */
static void test_links_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(kinds); i++) {
		struct wf_topo *topo = test_topo(kinds[i]);
		uint8_t *down = calloc(topo->n_links, 1);

		assert_non_null(down);
		for (uint32_t step = 13; step > 1; step -= 3) {
			for (uint32_t l = 0; l < topo->n_links; l++)
				down[l] = (uint8_t)((l * 7 + step) % step == 0);
			check_routes(topo, down);
		}
		memset(down, 1, topo->n_links);
		check_routes(topo, down);
		free(down);
		wf_topo_destroy(topo);
	}
}

/* Hops from host to host, choosing among the ports of a set by salt; 0 when it does not arrive. */
static uint32_t walk(const struct wf_topo *topo, const struct wf_routes *routes, uint32_t src,
                     uint32_t dst, uint32_t salt)
{
	uint32_t leaf = routes->leaf_of_host[dst];
	uint32_t node = test_port(topo, topo->host_node[src], 0)->peer;
	uint32_t hops = 1;

	while (test_is_switch(topo, node) && hops < 20) {
		const struct wf_route_switch *rs = &routes->switches[node];
		const struct wf_route_set *set = &rs->sets[rs->set_of_leaf[leaf]];
		uint32_t port;

		if (rs->leaf == leaf)
			port = routes->port_of_host[dst];
		else if (set->n == 0)
			return 0;
		else
			port = rs->ports[set->first + (salt + hops) % set->n];
		node = test_port(topo, node, port)->peer;
		hops++;
	}
	return node == topo->host_node[dst] ? hops : 0;
}

/* Every host reaches every other, over no more links than the shape allows. */
static void test_every_pair(void **state)
{
	static const struct {
		const char *text;
		uint32_t most;
	} row[] = {
		{ "kind=single hosts=9", 2 },
		{ "kind=leaf-spine hosts=64 radix=16", 4 },
		{ "kind=fat-tree hosts=128", 6 },
		{ "kind=fat-tree hosts=90 radix=12", 6 },
		{ "kind=rail hosts=64 gpus=4 radix=32", 4 },
		{ "kind=rail hosts=128 gpus=4 radix=8", 6 },
		{ "kind=dragonfly hosts=72", 5 },
		{ "kind=dragonfly hosts=90 radix=11", 5 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_topo *topo = test_topo(row[i].text);
		struct wf_routes *routes = NULL;
		uint32_t longest = 0;

		assert_int_equal(wf_routes_create(topo, NULL, wf_mem_heap(), &routes), 0);
		for (uint32_t n = 0; n < topo->n_hosts * topo->n_hosts; n++) {
			uint32_t src = n % topo->n_hosts, dst = n / topo->n_hosts;
			uint32_t hops = walk(topo, routes, src, dst, n);

			assert_true(hops >= 2 && hops <= row[i].most);
			longest = hops > longest ? hops : longest;
		}
		assert_int_equal(longest, row[i].most);
		wf_routes_destroy(routes);
		wf_topo_destroy(topo);
	}
}

/* The same rail is one switch away within a group. */
static void test_same_rail(void **state)
{
	struct wf_topo *topo = test_topo("kind=rail hosts=64 gpus=4 radix=16");
	struct wf_routes *routes = NULL;

	(void)state;
	assert_int_equal(wf_routes_create(topo, NULL, wf_mem_heap(), &routes), 0);
	assert_int_equal(walk(topo, routes, 0, 4, 0), 2);
	assert_int_equal(walk(topo, routes, 0, 28, 0), 2);
	assert_int_equal(walk(topo, routes, 0, 1, 0), 4);
	assert_int_equal(walk(topo, routes, 0, 32, 0), 4);
	wf_routes_destroy(routes);
	wf_topo_destroy(topo);
}

/* A three-tier fat tree of radix 64: a leaf has one set up; tables are two bytes a cell. */
static void test_large(void **state)
{
	struct wf_topo *topo = test_topo("kind=fat-tree hosts=16384 radix=64");
	struct test_mem mem = test_mem_make(-1);
	struct wf_routes *routes = NULL;

	(void)state;
	assert_int_equal(wf_routes_create(topo, NULL, &mem.mem, &routes), 0);
	assert_int_equal(routes->n_leaves, 512);
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		const struct wf_route_switch *rs = &routes->switches[i];

		/*
		 * The empty set; one up; one down for each leaf below an agg, or pod below a core.
		 */
		if (topo->nodes[i].tier == 1)
			assert_int_equal(rs->n_sets, 2);
		else if (topo->nodes[i].tier == 2)
			assert_int_equal(rs->n_sets, 2 + 32);
		else if (topo->nodes[i].tier == 3)
			assert_int_equal(rs->n_sets, 1 + 16);
	}
	for (uint32_t n = 0; n < 100000; n++) {
		uint32_t src = n * 7919 % 16384, dst = n * 104729 % 16384;

		assert_true(walk(topo, routes, src, dst, n) <= 6);
	}
	wf_routes_destroy(routes);
	assert_int_equal(mem.live, 0);
	assert_true(mem.bytes < 16 << 20);
	wf_topo_destroy(topo);
}

static void test_out_of_memory(void **state)
{
	struct wf_topo *topo = test_topo("kind=dragonfly hosts=342");
	int ret = -ENOMEM;

	(void)state;
	for (long n = 0; ret != 0; n++) {
		struct test_mem mem = test_mem_make(n);
		struct wf_routes *routes = NULL;

		ret = wf_routes_create(topo, NULL, &mem.mem, &routes);
		if (ret != 0) {
			assert_int_equal(ret, -ENOMEM);
			assert_null(routes);
		}
		wf_routes_destroy(routes);
		assert_int_equal(mem.live, 0);
		assert_true(n < 100);
	}
	wf_topo_destroy(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_kinds),  cmocka_unit_test(test_links_down),
		cmocka_unit_test(test_every_pair), cmocka_unit_test(test_same_rail),
		cmocka_unit_test(test_large),      cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
