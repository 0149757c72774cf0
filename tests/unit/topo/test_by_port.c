/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of routes where each port of a host is a destination by itself: every address is
 * reached from every switch of its network, by the sets and by the forwarding tables, and by its
 * own port; nobody goes the way of a link that is down.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "topo/routes.h"

static struct wf_topo *build(const char *kind, const char *homing, uint32_t hosts)
{
	struct wf_topo_cfg cfg;
	struct wf_err err = { "" };
	struct wf_topo *topo;

	memset(&cfg, 0, sizeof(cfg));
	assert_int_equal(wf_param_defaults(wf_topo_params, wf_topo_n_params, &cfg, &err), 0);
	strcpy(cfg.kind, kind);
	strcpy(cfg.homing, homing);
	cfg.hosts = hosts;
	cfg.ports = 2;
	cfg.radix = strcmp(kind, "single") == 0 ? 0 : 8;
	cfg.gpus = 4;
	assert_int_equal(
		wf_topo_find(kind)->build(&cfg, NULL, 0, "test", wf_mem_heap(), &topo, &err), 0);
	return topo;
}

/* How many switches there are on the way from sw to an address, itself too; 0: no way. */
static uint32_t walk(const struct wf_topo *topo, const struct wf_routes *routes, uint32_t sw,
                     uint32_t address, bool lft, uint32_t pick)
{
	uint32_t host = address % topo->n_hosts, port = address / topo->n_hosts;

	for (uint32_t n = 1; n < 8; n++) {
		const struct wf_route_switch *rs = &routes->switches[sw];
		uint32_t leaf = routes->leaf_of_host[address];
		const struct wf_route_set *set = &rs->sets[rs->set_of_leaf[leaf]];
		const struct wf_topo_port *out;
		uint32_t number;

		if (rs->leaf == leaf) {
			out = &topo->ports[topo->nodes[sw].first_port +
			                   routes->port_of_host[address]];
			assert_int_equal(out->peer, topo->host_node[host]);
			assert_int_equal(out->peer_port, port);
			return n;
		}
		if (set->n == 0)
			return 0;
		number = lft ? rs->lft[address] : rs->ports[set->first + pick % set->n];
		out = &topo->ports[topo->nodes[sw].first_port + number];
		assert_int_equal(topo->nodes[out->peer].kind, WF_TOPO_SWITCH);
		sw = out->peer;
	}
	fail_msg("no end from a switch to %u", address);
	return 0;
}

/* From all switches to all addresses. Returns the ways that there are. */
static uint64_t check(const struct wf_topo *topo, const uint8_t *down)
{
	struct wf_routes *routes;
	uint64_t ways = 0;

	assert_int_equal(wf_routes_create_by_port(topo, down, wf_mem_heap(), &routes), 0);
	assert_int_equal(routes->n_dests, 2 * topo->n_hosts);
	assert_int_equal(wf_routes_fill_lft(routes, topo), 0);
	for (uint32_t sw = 0; sw < topo->n_nodes; sw++) {
		if (topo->nodes[sw].kind != WF_TOPO_SWITCH)
			continue;
		for (uint32_t a = 0; a < 2 * topo->n_hosts; a++) {
			uint32_t n = walk(topo, routes, sw, a, false, sw + a);

			assert_int_equal(walk(topo, routes, sw, a, true, 0), n);
			ways += n != 0;
		}
	}
	wf_routes_destroy(routes);
	return ways;
}

static uint64_t switches(const struct wf_topo *topo)
{
	return topo->n_nodes - topo->n_hosts;
}

/* Leaves in pairs meet above: all reach all. Planes do not: all reach their own half. */
static void test_all_reached(void **state)
{
	static const char *const kinds[] = { "leaf-spine", "fat-tree", "rail", "single" };
	static const char *const homings[] = { "pair", "same", "planes" };

	(void)state;
	for (size_t k = 0; k < WF_ARRAY_SIZE(kinds); k++) {
		for (size_t h = k == 3; h < WF_ARRAY_SIZE(homings); h++) {
			struct wf_topo *topo = build(kinds[k], homings[h], 16);
			uint64_t all = switches(topo) * 2 * topo->n_hosts;

			assert_int_equal(check(topo, NULL), h == 2 ? all / 2 : all);
			wf_topo_destroy(topo);
		}
	}
}

/* A host's own link is its port's only one: the address stays where it is. */
static void test_link_down(void **state)
{
	struct wf_topo *topo = build("leaf-spine", "pair", 16);
	uint8_t *down = calloc(topo->n_links, 1);
	uint64_t all = switches(topo) * 2 * topo->n_hosts;

	(void)state;
	assert_non_null(down);
	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct wf_topo_link *l = &topo->links[i];
		bool own = topo->nodes[l->a].kind == WF_TOPO_HOST ||
		           topo->nodes[l->b].kind == WF_TOPO_HOST;

		if (!own)
			continue;
		down[i] = 1;
		assert_int_equal(check(topo, down), all);
		down[i] = 0;
	}
	free(down);
	wf_topo_destroy(topo);
}

/* Memory runs out somewhere: nothing is lost. */
static void *count_alloc(struct wf_mem *mem, size_t n);
static void count_free(struct wf_mem *mem, void *p);

struct counted {
	struct wf_mem mem;
	int left, live;
};

static void *count_alloc(struct wf_mem *mem, size_t n)
{
	struct counted *c = (struct counted *)(void *)mem;
	void *p = c->left-- > 0 ? wf_mem_heap()->alloc(wf_mem_heap(), n) : NULL;

	c->live += p != NULL;
	return p;
}

static void count_free(struct wf_mem *mem, void *p)
{
	struct counted *c = (struct counted *)(void *)mem;

	c->live -= p != NULL;
	wf_mem_heap()->free(wf_mem_heap(), p);
}

static void test_no_memory(void **state)
{
	struct wf_topo *topo = build("leaf-spine", "pair", 16);
	int ret = -ENOMEM;

	(void)state;
	for (int n = 0; ret != 0; n++) {
		struct counted c = { .mem = { .alloc = count_alloc, .free = count_free },
			             .left = n };
		struct wf_routes *routes;

		ret = wf_routes_create_by_port(topo, NULL, &c.mem, &routes);
		if (ret == 0)
			wf_routes_destroy(routes);
		else
			assert_int_equal(ret, -ENOMEM);
		assert_int_equal(c.live, 0);
		assert_true(n < 100);
	}
	wf_topo_destroy(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_reached),
		cmocka_unit_test(test_link_down),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests_name("by_port", tests, NULL, NULL);
}
