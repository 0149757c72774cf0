/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of subnet/groups.c: which ports groups have, on trees by hand and on any graph by
 * walking every way that they allow; and that links do not wait for one another in a circle, by a
 * search that has nothing of the one that is tested.
 */
#include "subnet/subnet_test.h"

#include "base/rng.h"
#include "subnet/groups.h"
#include "subnet/route_priv.h"

static struct wf_groups *groups_of(const struct wf_subnet *s, const struct wf_tables *tables)
{
	struct wf_groups *g;

	assert_int_equal(wf_groups_create(s, tables, &g), 0);
	assert_int_equal(g->left_out, 0);
	return g;
}

static uint32_t sw_of(const struct wf_subnet *s, uint32_t node)
{
	return s->nodes[node].sw;
}

static unsigned n_ports(const struct wf_group_ports *ports)
{
	unsigned n = 0;

	for (unsigned p = 0; p < 256; p++)
		n += wf_group_has(ports, p);
	return n;
}

/* Whether a switch sends to a LID by a port: of its group, or the table's. */
static bool sends_by(const struct wf_tables *tables, const struct wf_groups *g, uint32_t sw,
                     unsigned lid, unsigned port)
{
	uint8_t number = wf_groups_of(g, sw, lid);

	if (wf_tables_port(tables, sw, lid) == port)
		return true;
	return number != 0 && wf_group_has(wf_groups_ports(g, sw, number), port);
}

/* ---- every way ---- */

struct walk {
	const struct wf_subnet *s;
	const struct wf_tables *tables;
	const struct wf_groups *g;
	unsigned lid;
	uint32_t dest;  /* node of the host */
	uint8_t *waits; /* [a * ports + b]: a packet that came by port a may leave by port b */
	unsigned longest, shortest;
};

/* From a switch on by every port that is allowed; in: the port (index) that sent it here. */
static void walk_on(struct walk *w, uint32_t node, uint32_t in, unsigned hops)
{
	const struct wf_subnet *s = w->s;

	assert_true(hops < 20);
	for (unsigned p = 1; p <= s->nodes[node].n_ports; p++) {
		const struct wf_subnet_port *port = wf_subnet_port(s, node, p);
		uint32_t index = (uint32_t)(port - s->ports);

		if (!sends_by(w->tables, w->g, sw_of(s, node), w->lid, p))
			continue;
		assert_true(port->peer != WF_SUBNET_NONE);
		if (in != WF_SUBNET_NONE)
			w->waits[(size_t)in * s->n_ports + index] = 1;
		if (wf_subnet_is_switch(s, port->peer)) {
			walk_on(w, port->peer, index, hops + 1);
			continue;
		}
		assert_int_equal(port->peer, w->dest);
		w->longest = hops > w->longest ? hops : w->longest;
		w->shortest = hops < w->shortest ? hops : w->shortest;
	}
}

/* Ports are taken away that wait for none, until none is left, or there is a circle. */
static bool has_circle(const struct wf_subnet *s, const uint8_t *waits)
{
	bool *gone = calloc(s->n_ports, sizeof(*gone));
	bool changed = true, left = false;

	assert_non_null(gone);
	while (changed) {
		changed = false;
		for (uint32_t a = 0; a < s->n_ports; a++) {
			bool waiting = false;

			for (uint32_t b = 0; b < s->n_ports && !gone[a]; b++)
				waiting |= waits[(size_t)a * s->n_ports + b] != 0 && !gone[b];
			if (gone[a] || waiting)
				continue;
			gone[a] = changed = true;
		}
	}
	for (uint32_t a = 0; a < s->n_ports; a++)
		left |= !gone[a];
	free(gone);
	return left;
}

/*
 * Every way between hosts leads there, is as long as the tables' one, and there is no circle in
 * what they wait for. Returns how many choices of more than one port there are.
 */
static unsigned check_ways(const struct wf_subnet *s, const struct wf_tables *tables,
                           const struct wf_groups *g)
{
	uint8_t *waits = calloc((size_t)s->n_ports * s->n_ports, 1);
	unsigned choices = 0;

	assert_non_null(waits);
	for (uint32_t to = 0; to < s->n_nodes; to++) {
		struct walk w = { s, tables, g, 0, to, waits, 0, UINT32_MAX };

		if (wf_subnet_is_switch(s, to))
			continue;
		w.lid = wf_subnet_port(s, to, 1)->lid;
		for (uint32_t from = 0; from < s->n_nodes; from++) {
			uint32_t at = from;

			if (wf_subnet_is_switch(s, from) || from == to)
				continue;
			at = wf_subnet_port(s, from, 1)->peer;
			w.longest = 0;
			w.shortest = UINT32_MAX;
			walk_on(&w, at, WF_SUBNET_NONE, 0);
			assert_int_equal(w.longest, w.shortest);
			choices += wf_groups_of(g, sw_of(s, at), w.lid) != 0;
		}
	}
	assert_false(has_circle(s, waits));
	free(waits);
	return choices;
}

/* ---- by hand ---- */

/* 4 leaves of 4 hosts, 2 spines, 2 links: a leaf has one group of 4 ports, a spine four of 2. */
static void test_two_tiers(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "ftree" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(engines); i++) {
		struct wf_subnet *s = test_tree(4, 4, 2, 2, 0);
		struct wf_tables *tables = test_route(s, engines[i], NULL);
		struct wf_groups *g = groups_of(s, tables);

		assert_string_equal(g->note, "");
		for (uint32_t sw = 0; sw < 6; sw++) {
			unsigned n = wf_groups_count(g, sw_of(s, sw));

			assert_int_equal(n, sw < 4 ? 1 : 4);
			for (unsigned k = 1; k <= n; k++)
				assert_int_equal(n_ports(wf_groups_ports(g, sw_of(s, sw), k)),
				                 sw < 4 ? 4 : 2);
			/* Its own hosts, and switches, go by the table. */
			assert_int_equal(
				wf_groups_of(g, sw_of(s, sw), wf_subnet_port(s, 5 - sw, 0)->lid),
				0);
			if (sw < 4)
				assert_int_equal(
					wf_groups_of(g, sw_of(s, sw),
				                     wf_subnet_port(s, 6 + 4 * sw, 1)->lid),
					0);
		}
		/* From each of 16 hosts to 12 others. */
		assert_int_equal(check_ways(s, tables, g), 16 * 12);
		wf_groups_destroy(g);
		wf_tables_destroy(tables);
		wf_subnet_destroy(s);
	}
}

/* All LIDs of a host have its group. */
static void test_lmc(void **state)
{
	struct wf_subnet *s = test_tree(2, 2, 4, 1, 2);
	struct wf_tables *tables = test_route(s, "updn", NULL);
	struct wf_groups *g = groups_of(s, tables);
	unsigned lid = wf_subnet_port(s, 8, 1)->lid; /* of leaf 1 */

	(void)state;
	assert_int_equal(wf_subnet_port(s, 8, 1)->peer, 1);
	for (unsigned k = 0; k < 4; k++)
		assert_int_equal(wf_groups_of(g, sw_of(s, 0), lid + k), 1);
	assert_int_equal(wf_groups_of(g, sw_of(s, 0), g->n_lids), 0);
	wf_groups_destroy(g);
	wf_tables_destroy(tables);
	wf_subnet_destroy(s);
}

/* A leaf without one of its links: others leave that spine out for it, and it for all. */
static void test_link_lost(void **state)
{
	struct wf_subnet *s = test_tree(4, 2, 4, 1, 0);
	struct wf_subnet_port *up = wf_subnet_port(s, 1, 3);
	struct wf_tables *tables;
	struct wf_groups *g;

	(void)state;
	assert_int_equal(up->peer, 4);
	up->state = WF_SUBNET_DOWN;
	wf_subnet_port(s, 4, up->peer_port)->state = WF_SUBNET_DOWN;
	for (int i = 0; i < 2; i++) {
		uint64_t roots[] = { s->nodes[4].guid, s->nodes[5].guid, s->nodes[6].guid,
			             s->nodes[7].guid };
		struct wf_sm_route_cfg cfg = { .roots = roots, .n_roots = 4 };

		tables = test_route(s, i == 0 ? "updn" : "minhop", &cfg);
		g = groups_of(s, tables);
		assert_string_equal(g->note, "");
		assert_int_equal(wf_groups_count(g, sw_of(s, 1)), 1);
		assert_int_equal(n_ports(wf_groups_ports(g, sw_of(s, 1), 1)), 3);
		assert_int_equal(wf_groups_count(g, sw_of(s, 0)), 2);
		assert_int_equal(check_ways(s, tables, g), 8 * 6);
		wf_groups_destroy(g);
		wf_tables_destroy(tables);
	}
	wf_subnet_destroy(s);
}

/* ---- circles ---- */

/* Shortest ways on a torus make circles, and so there are no groups; dfsssp's lanes have none. */
static void test_refused(void **state)
{
	struct wf_subnet *s = test_torus(5);
	static const char *const engines[] = { "minhop", "dfsssp" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(engines); i++) {
		struct wf_tables *tables = test_route(s, engines[i], NULL);
		struct wf_groups *g = groups_of(s, tables);

		assert_non_null(strstr(g->note, engines[i]));
		for (uint32_t sw = 0; sw < 25; sw++)
			assert_int_equal(wf_groups_count(g, sw), 0);
		for (unsigned lid = 0; lid < g->n_lids; lid++)
			assert_int_equal(wf_groups_of(g, 3, lid), 0);
		wf_groups_destroy(g);
		wf_tables_destroy(tables);
	}
	wf_subnet_destroy(s);
}

/* On a torus, with any root: updn has groups, and they are free of circles. */
static void test_torus_updn(void **state)
{
	struct wf_subnet *s = test_torus(5);
	unsigned choices = 0;

	(void)state;
	for (uint32_t r = 0; r < 25; r += 4) {
		uint64_t root = s->nodes[r].guid;
		struct wf_sm_route_cfg cfg = { .roots = &root, .n_roots = 1 };
		struct wf_tables *tables = test_route(s, "updn", &cfg);
		struct wf_groups *g = groups_of(s, tables);

		assert_string_equal(g->note, "");
		choices += check_ways(s, tables, g);
		wf_groups_destroy(g);
		wf_tables_destroy(tables);
	}
	assert_true(choices > 100);
	wf_subnet_destroy(s);
}

/* Switches that are linked at random, some of them twice, and a host at most. */
static struct wf_subnet *irregular(uint64_t seed, unsigned n)
{
	struct wf_subnet *s = test_empty(wf_mem_heap());
	uint64_t drawn = 0;

	for (unsigned i = 0; i < n; i++)
		(void)test_node(s, WF_SUBNET_SWITCH, 40, test_guid(i));
	for (unsigned i = 0; i < n; i++)
		test_link(s, i, test_node(s, WF_SUBNET_ADAPTER, 1, test_guid(1000 + i)));
	for (unsigned i = 1; i < n; i++)
		test_link(s, i, wf_rand_below(wf_rand64(seed, drawn++), i));
	for (unsigned i = 0; i < n; i++) {
		uint32_t to = wf_rand_below(wf_rand64(seed, drawn++), n);

		if (to != i)
			test_link(s, i, to);
	}
	test_lids(s, 0);
	return s;
}

/*
 * On irregular graphs updn's groups have no circle, whatever the root; minhop's have none, or there
 * are none, and both happen.
 */
static void test_irregular(void **state)
{
	unsigned refused = 0, allowed = 0, choices = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct wf_subnet *s = irregular(seed, seed % 2 == 0 ? 6 : 11);
		uint64_t root = s->nodes[seed % 6].guid;
		struct wf_sm_route_cfg cfg = { .roots = &root, .n_roots = 1 };

		for (int i = 0; i < 2; i++) {
			struct wf_tables *tables = test_route(s, i == 0 ? "updn" : "minhop", &cfg);
			struct wf_groups *g = groups_of(s, tables);

			if (i == 0)
				assert_string_equal(g->note, "");
			refused += g->note[0] != '\0';
			allowed += g->note[0] == '\0' && i == 1;
			/* minhop's tables may have circles by themselves. */
			if (g->note[0] == '\0')
				choices += check_ways(s, tables, g);
			wf_groups_destroy(g);
			wf_tables_destroy(tables);
		}
		wf_subnet_destroy(s);
	}
	assert_true(refused > 0 && allowed > 0 && choices > 0);
}

/*
 * Groups of switches that are all connected, with one link between any two: a dragonfly. Minimal
 * ways make circles there; up and down does not.
 */
static void test_dragonfly(void **state)
{
	enum { GROUPS = 5, EACH = 4 };
	struct wf_subnet *s = test_empty(wf_mem_heap());
	uint64_t root;

	(void)state;
	for (unsigned i = 0; i < GROUPS * EACH; i++)
		(void)test_node(s, WF_SUBNET_SWITCH, 8, test_guid(i));
	for (unsigned i = 0; i < GROUPS * EACH; i++)
		test_link(s, i, test_node(s, WF_SUBNET_ADAPTER, 1, test_guid(1000 + i)));
	for (unsigned g = 0; g < GROUPS; g++) {
		for (unsigned a = 0; a < EACH; a++) {
			for (unsigned b = a + 1; b < EACH; b++)
				test_link(s, g * EACH + a, g * EACH + b);
		}
		for (unsigned o = g + 1; o < GROUPS; o++)
			test_link(s, g * EACH + (o - 1) % EACH, o * EACH + g % EACH);
	}
	test_lids(s, 0);
	root = s->nodes[0].guid;
	for (int i = 0; i < 2; i++) {
		struct wf_sm_route_cfg cfg = { .roots = &root, .n_roots = 1 };
		struct wf_tables *tables = test_route(s, i == 0 ? "updn" : "minhop", &cfg);
		struct wf_groups *g = groups_of(s, tables);

		if (i == 0) {
			assert_string_equal(g->note, "");
			(void)check_ways(s, tables, g);
		} else {
			assert_non_null(strstr(g->note, "minhop"));
		}
		wf_groups_destroy(g);
		wf_tables_destroy(tables);
	}
	wf_subnet_destroy(s);
}

static void test_memory(void **state)
{
	struct wf_subnet *s = test_tree(4, 2, 2, 2, 0);
	struct wf_tables *tables = test_route(s, "ftree", NULL);
	struct wf_mem *heap = s->mem;
	int ret = -ENOMEM;

	(void)state;
	for (unsigned n = 0; ret == -ENOMEM; n++) {
		struct mem_fail mem = mem_fail_after(n);
		struct wf_groups *g = NULL;

		s->mem = &mem.mem;
		ret = wf_groups_create(s, tables, &g);
		if (ret == 0)
			wf_groups_destroy(g);
		assert_int_equal(mem.held, 0);
		assert_true(n < 100);
	}
	assert_int_equal(ret, 0);
	s->mem = heap;
	wf_tables_destroy(tables);
	wf_subnet_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_tiers),  cmocka_unit_test(test_lmc),
		cmocka_unit_test(test_link_lost),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_torus_updn), cmocka_unit_test(test_irregular),
		cmocka_unit_test(test_dragonfly),  cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
