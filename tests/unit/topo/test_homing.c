/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of hosts with several ports: where they lead, and the routes to them (routes.c). */
#include "base/rng.h"
#include "topo/topo_test.h"

/*
 * Sizes by hand: hosts, leaves, spines or aggregation switches, cores, links. A pair of leaves has
 * the hosts of one, so with the same radix there are twice the leaves; two planes are two networks.
 */
static const struct size_case {
	const char *text;
	uint32_t tier1, tier2, tier3, links;
} size_cases[] = {
	{ "kind=single hosts=16 ports=2 homing=same radix=32", 1, 0, 0, 32 },
	{ "kind=single hosts=32 ports=2 homing=planes radix=32", 2, 0, 0, 64 },
	{ "kind=auto hosts=32 ports=2 homing=same radix=64", 1, 0, 0, 64 },
	{ "kind=auto hosts=64 ports=2 homing=planes radix=64", 2, 0, 0, 128 },
	/* 4 hosts' ports and 4 uplinks; a leaf with both ports of a host has 2 hosts. */
	{ "kind=leaf-spine hosts=8 ports=2 homing=pair radix=8", 4, 2, 0, 16 + 4 * 4 },
	{ "kind=leaf-spine hosts=8 ports=2 homing=same radix=8", 4, 2, 0, 16 + 4 * 4 },
	{ "kind=leaf-spine hosts=8 ports=2 homing=planes radix=8", 4, 2, 0, 16 + 4 * 4 },
	{ "kind=leaf-spine hosts=64 ports=2 homing=pair radix=16", 16, 8, 0, 128 + 16 * 8 },
	{ "kind=leaf-spine hosts=128 ports=2 homing=planes radix=16", 32, 16, 0, 256 + 32 * 8 },
	/* One port of 400 Gb/s above two of 200: a leaf of 16 ports has 10 or 11 of hosts. */
	{ "kind=leaf-spine hosts=20 ports=2 homing=pair radix=16 host_rate=200G fabric_rate=400G",
	  4, 2, 0, 40 + 4 * 6 },
	/*
	 * The k-ary fat tree of k = 8 has 128 places for ports: 64 hosts on both, or 128 on a
	 * plane.
	 */
	{ "kind=fat-tree hosts=64 ports=2 homing=pair radix=8", 32, 32, 16, 384 },
	{ "kind=fat-tree hosts=64 ports=2 homing=same radix=8", 32, 32, 16, 384 },
	{ "kind=fat-tree hosts=128 ports=2 homing=planes radix=8", 64, 64, 32, 768 },
	/* Each rail of a group has a pair of leaves. */
	{ "kind=rail hosts=128 ports=2 homing=pair radix=32", 16, 8, 0, 256 + 16 * 16 },
	{ "kind=rail hosts=128 ports=2 homing=planes radix=32", 16, 8, 0, 256 + 16 * 16 },
	/*
	 * Alibaba HPN (SIGCOMM 2024): adapters with two ports of 200 Gb/s, each to a plane of its
	 * own; leaves with 128 of them and 60 links of 400 Gb/s up, 1.067 to 1. A segment of 128
	 * servers has 16 leaves; 15 of them, 15,360 GPUs, 60 switches above in each plane.
	 */
	{ "kind=rail hosts=1024 ports=2 homing=planes radix=188 host_rate=200G fabric_rate=400G "
	  "blocking=1.067",
	  16, 6, 0, 2 * 1024 + 16 * 60 },
	{ "kind=rail hosts=15360 ports=2 homing=planes radix=188 host_rate=200G fabric_rate=400G "
	  "blocking=1.067",
	  240, 120, 0, 2 * 15360 + 240 * 60 },
};

static void test_sizes(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(size_cases); i++) {
		const struct size_case *c = &size_cases[i];
		struct wf_topo *topo = test_topo(c->text);

		if (test_count(topo, 1) != c->tier1 || test_count(topo, 2) != c->tier2 ||
		    test_count(topo, 3) != c->tier3 || topo->n_links != c->links)
			fail_msg("%s: %u leaves, %u aggs, %u cores, %u links", c->text,
			         test_count(topo, 1), test_count(topo, 2), test_count(topo, 3),
			         topo->n_links);
		assert_int_equal(topo->host_ports, 2);
		for (uint32_t h = 0; h < topo->n_hosts; h++)
			assert_int_equal(topo->nodes[topo->host_node[h]].n_ports, 2);
		wf_topo_destroy(topo);
	}
}

/* The switch that port p of host h leads to. */
static const char *leaf_of(const struct wf_topo *topo, uint32_t h, uint32_t p)
{
	return topo->nodes[test_port(topo, topo->host_node[h], p)->peer].name;
}

static void test_names(void **state)
{
	static const struct {
		const char *text;
		uint32_t host;
		const char *leaf[2];
	} row[] = {
		{ "kind=single hosts=4 ports=2 homing=same", 3, { "leaf0", "leaf0" } },
		{ "kind=single hosts=4 ports=2 homing=planes", 3, { "leaf0", "leaf1" } },
		{ "kind=leaf-spine hosts=8 ports=2 radix=8", 3, { "leaf0", "leaf1" } },
		{ "kind=leaf-spine hosts=8 ports=2 radix=8", 4, { "leaf2", "leaf3" } },
		{ "kind=leaf-spine hosts=8 ports=2 radix=8 homing=same", 2, { "leaf1", "leaf1" } },
		{ "kind=leaf-spine hosts=8 ports=2 radix=8 homing=planes",
		  5,
		  { "plane0-leaf1", "plane1-leaf1" } },
		{ "kind=rail hosts=32 ports=2 radix=16",
		  13,
		  { "group0-rail5-leaf0", "group0-rail5-leaf1" } },
		{ "kind=rail hosts=32 ports=2 radix=16 homing=planes",
		  13,
		  { "plane0-group0-rail5", "plane1-group0-rail5" } },
	};
	struct wf_topo *topo;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		topo = test_topo(row[i].text);
		for (uint32_t p = 0; p < 2; p++)
			assert_string_equal(leaf_of(topo, row[i].host, p), row[i].leaf[p]);
		wf_topo_destroy(topo);
	}
	topo = test_topo("kind=fat-tree hosts=64 ports=2 radix=8 homing=planes");
	assert_int_not_equal(wf_topo_node_by_name(topo, "plane1-pod3-agg3"), WF_TOPO_NONE);
	assert_int_not_equal(wf_topo_node_by_name(topo, "plane1-core7"), WF_TOPO_NONE);
	wf_topo_destroy(topo);
}

/* The switches of a plane have links to hosts and to one another, and to no other plane. */
static void test_planes_do_not_meet(void **state)
{
	struct wf_topo *topo = test_topo("kind=rail hosts=64 ports=2 radix=16 homing=planes");

	(void)state;
	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct wf_topo_link *l = &topo->links[i];
		const char *a = topo->nodes[l->a].name, *b = topo->nodes[l->b].name;

		if (topo->nodes[l->a].kind == WF_TOPO_HOST)
			assert_int_equal(b[strlen("plane")], '0' + l->a_port);
		else
			assert_memory_equal(a, b, strlen("plane0"));
	}
	wf_topo_destroy(topo);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} row[] = {
		{ "kind=dragonfly hosts=16 ports=2",
		  "topology.ports: hosts of kind dragonfly have one port; 1, or kind single, "
		  "leaf-spine, fat-tree, rail or auto" },
		{ "kind=hpcc ports=2", "topology.ports: hosts of kind hpcc have one port" },
		{ "kind=htsim ports=2", "topology.ports: hosts of kind htsim have one port" },
		{ "kind=single hosts=4 ports=2",
		  "topology.homing: pair needs leaves that meet above, and kind single has none; "
		  "write same or planes, or another kind" },
		{ "kind=single hosts=17 ports=2 homing=same radix=32",
		  "topology.hosts: 17 hosts on one switch of 32 ports; 1 to 16 fit" },
		{ "kind=leaf-spine hosts=65 ports=2 radix=16",
		  "topology.radix: a leaf-spine of 16-port switches holds at most 64 hosts" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_err err = { { 0 } };
		struct wf_topo *topo = NULL;

		assert_int_equal(test_build(row[i].text, wf_mem_heap(), &topo, &err), -EINVAL);
		if (strncmp(err.text, row[i].says, strlen(row[i].says)) != 0)
			fail_msg("%s: %s", row[i].text, err.text);
	}
}

/* ---- routes ---- */

static struct wf_routes *find(const struct wf_topo *topo, const uint8_t *down)
{
	struct wf_routes *routes = NULL;

	assert_int_equal(wf_routes_create(topo, down, wf_mem_heap(), &routes), 0);
	return routes;
}

/* The ports of a switch towards a host, as "4 5 6 7"; with ! in front those of the host itself. */
static const char *towards(const struct wf_topo *topo, const struct wf_routes *routes,
                           const char *name, uint32_t host, char *text)
{
	uint32_t id = wf_topo_node_by_name(topo, name), n;
	const struct wf_route_link *link = wf_routes_links(routes, host, &n);
	const struct wf_route_switch *rs = &routes->switches[id];
	const struct wf_route_set *set;

	text[0] = '\0';
	for (uint32_t i = 0; i < n; i++) {
		if (link[i].node == id)
			sprintf(text + strlen(text), "%s%u", text[0] == '\0' ? "!" : " ",
			        link[i].port);
	}
	if (text[0] != '\0')
		return text;
	assert_int_equal(rs->leaf, WF_TOPO_NONE);
	set = &rs->sets[rs->set_of_leaf[routes->leaf_of_host[host]]];
	for (uint32_t i = 0; i < set->n; i++)
		sprintf(text + strlen(text), "%s%u", i == 0 ? "" : " ", rs->ports[set->first + i]);
	return text;
}

static void take_down(const struct wf_topo *topo, const char *a, const char *b, uint8_t *down)
{
	uint32_t from = wf_topo_node_by_name(topo, a), to = wf_topo_node_by_name(topo, b);
	bool found = false;

	for (uint32_t p = 0; p < topo->nodes[from].n_ports; p++) {
		const struct wf_topo_port *port = test_port(topo, from, p);

		if (port->peer == to)
			down[port->link] = 1;
		found = found || port->peer == to;
	}
	assert_true(found);
}

/*
 * Two pairs of leaves, leaf0 and leaf1 with h0 to h3, leaf2 and leaf3 with h4 to h7; ports 4 and 5
 * of a leaf lead to spine0, 6 and 7 to spine1; ports 2l and 2l + 1 of a spine to leaf l.
 */
static void test_pair(void **state)
{
	struct wf_topo *topo = test_topo("kind=leaf-spine hosts=8 ports=2 homing=pair radix=8");
	uint8_t *down = calloc(topo->n_links, 1);
	struct wf_routes *r = find(topo, NULL);
	char text[64];

	(void)state;
	assert_non_null(down);
	assert_int_equal(r->n_leaves, 2);
	assert_string_equal(towards(topo, r, "leaf0", 2, text), "!2");
	assert_string_equal(towards(topo, r, "leaf1", 2, text), "!2");
	assert_string_equal(towards(topo, r, "leaf2", 2, text), "4 5 6 7");
	assert_string_equal(towards(topo, r, "spine0", 2, text), "0 1 2 3");
	assert_string_equal(towards(topo, r, "spine0", 6, text), "4 5 6 7");
	wf_routes_destroy(r);

	/* h2 has lost leaf0: all go to leaf1, leaf0 through a spine; h1 is where it was. */
	take_down(topo, "h2", "leaf0", down);
	r = find(topo, down);
	assert_int_equal(r->n_leaves, 3);
	assert_string_equal(towards(topo, r, "leaf0", 2, text), "4 5 6 7");
	assert_string_equal(towards(topo, r, "leaf1", 2, text), "!2");
	assert_string_equal(towards(topo, r, "spine0", 2, text), "2 3");
	assert_string_equal(towards(topo, r, "spine0", 1, text), "0 1 2 3");
	assert_string_equal(towards(topo, r, "leaf3", 2, text), "4 5 6 7");
	wf_routes_destroy(r);

	/* Both links gone: as if they were there, so that packets are lost at the last switch. */
	take_down(topo, "h2", "leaf1", down);
	r = find(topo, down);
	assert_string_equal(towards(topo, r, "leaf0", 2, text), "!2");
	assert_string_equal(towards(topo, r, "spine1", 2, text), "0 1 2 3");
	wf_routes_destroy(r);

	/* leaf0 is dead: all of its hosts are on leaf1 alone. */
	memset(down, 0, topo->n_links);
	for (uint32_t i = 0; i < topo->n_links; i++) {
		uint32_t dead = wf_topo_node_by_name(topo, "leaf0");

		down[i] = topo->links[i].a == dead || topo->links[i].b == dead;
	}
	r = find(topo, down);
	assert_int_equal(r->n_leaves, 2);
	for (uint32_t h = 0; h < 4; h++) {
		assert_string_equal(towards(topo, r, "leaf2", h, text), "4 5 6 7");
		assert_string_equal(towards(topo, r, "spine1", h, text), "2 3");
		assert_string_equal(towards(topo, r, "leaf0", h, text), "");
	}
	wf_routes_destroy(r);
	free(down);
	wf_topo_destroy(topo);
}

/* Both ports on one leaf: it has the choice, and one is enough for the others. */
static void test_same(void **state)
{
	struct wf_topo *topo = test_topo("kind=leaf-spine hosts=8 ports=2 homing=same radix=8");
	uint8_t *down = calloc(topo->n_links, 1);
	struct wf_routes *r = find(topo, NULL);
	char text[64];

	(void)state;
	assert_non_null(down);
	assert_int_equal(r->n_leaves, 4);
	assert_string_equal(towards(topo, r, "leaf0", 1, text), "!2 3");
	assert_string_equal(towards(topo, r, "leaf1", 1, text), "4 5 6 7");
	wf_routes_destroy(r);
	down[test_port(topo, topo->host_node[1], 0)->link] = 1;
	r = find(topo, down);
	assert_string_equal(towards(topo, r, "leaf0", 1, text), "!3");
	assert_string_equal(towards(topo, r, "leaf1", 1, text), "4 5 6 7");
	assert_string_equal(towards(topo, r, "spine0", 1, text), "0 1");
	wf_routes_destroy(r);
	free(down);
	wf_topo_destroy(topo);
}

/* A plane has no way to a host whose port there is down; the other has. */
static void test_planes(void **state)
{
	struct wf_topo *topo = test_topo("kind=leaf-spine hosts=8 ports=2 homing=planes radix=8");
	uint8_t *down = calloc(topo->n_links, 1);
	struct wf_routes *r;
	char text[64];

	(void)state;
	assert_non_null(down);
	take_down(topo, "h1", "plane0-leaf0", down);
	r = find(topo, down);
	assert_string_equal(towards(topo, r, "plane0-leaf1", 1, text), "");
	assert_string_equal(towards(topo, r, "plane0-spine0", 1, text), "");
	assert_string_equal(towards(topo, r, "plane1-leaf1", 1, text), "4 5 6 7");
	assert_string_equal(towards(topo, r, "plane1-leaf0", 1, text), "!1");
	assert_string_equal(towards(topo, r, "plane0-leaf1", 2, text), "4 5 6 7");
	wf_routes_destroy(r);
	free(down);
	wf_topo_destroy(topo);
}

/* Follows all ways from a switch to a host; hops: how many more may be taken. */
static void follow(const struct wf_topo *topo, const struct wf_routes *routes, const uint8_t *down,
                   uint32_t node, uint32_t host, unsigned hops)
{
	const struct wf_route_switch *rs = &routes->switches[node];
	const struct wf_route_set *set;
	uint32_t n;
	const struct wf_route_link *link = wf_routes_links(routes, host, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (link[i].node == node) {
			assert_int_equal(test_port(topo, node, link[i].port)->peer,
			                 topo->host_node[host]);
			return;
		}
	}
	assert_true(hops > 0);
	set = &rs->sets[rs->set_of_leaf[routes->leaf_of_host[host]]];
	assert_true(set->n > 0);
	for (uint32_t i = 0; i < set->n; i++) {
		const struct wf_topo_port *port = test_port(topo, node, rs->ports[set->first + i]);

		assert_int_equal(down[port->link], 0);
		follow(topo, routes, down, port->peer, host, hops - 1);
	}
}

/* With hosts' links down at random, one of each host up, every leaf has ways to every host. */
static void test_random(void **state)
{
	static const char *const kinds[] = {
		"kind=leaf-spine hosts=40 ports=2 homing=pair radix=14",
		"kind=leaf-spine hosts=40 ports=2 homing=same radix=14",
		"kind=fat-tree hosts=60 ports=2 homing=pair radix=8",
		"kind=rail hosts=64 ports=2 homing=pair radix=16",
	};

	(void)state;
	for (uint64_t n = 0; n < 8; n++) {
		struct wf_topo *topo = test_topo(kinds[n % WF_ARRAY_SIZE(kinds)]);
		uint8_t *down = calloc(topo->n_links, 1);
		struct wf_routes *r;

		assert_non_null(down);
		for (uint32_t h = 0; h < topo->n_hosts; h++) {
			uint32_t draw = wf_rand_below(wf_rand64(n, h), 4);

			if (draw < 2)
				down[test_port(topo, topo->host_node[h], draw)->link] = 1;
		}
		r = find(topo, down);
		for (uint32_t id = 0; id < topo->n_nodes; id++) {
			for (uint32_t h = 0; topo->nodes[id].tier == 1 && h < topo->n_hosts; h++)
				follow(topo, r, down, id, h, 5);
		}
		wf_routes_destroy(r);
		free(down);
		wf_topo_destroy(topo);
	}
}

static void test_memory(void **state)
{
	struct wf_topo *topo = test_topo("kind=leaf-spine hosts=8 ports=2 radix=8");
	uint8_t *down = calloc(topo->n_links, 1);
	bool done = false;

	(void)state;
	assert_non_null(down);
	down[0] = 1;
	for (long fail_at = 0; !done; fail_at++) {
		struct test_mem mem = test_mem_make(fail_at);
		struct wf_routes *routes = NULL;
		int ret = wf_routes_create(topo, down, &mem.mem, &routes);

		done = ret == 0;
		assert_true(done || ret == -ENOMEM);
		wf_routes_destroy(routes);
		assert_int_equal(mem.live, 0);
	}
	free(down);
	wf_topo_destroy(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_planes_do_not_meet),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_pair),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_planes),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
