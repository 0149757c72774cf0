/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the routing engines: subnet/net.c, spread.c, minhop.c, updn.c, ftree.c, dfsssp.c,
 * lanes.c. tests/cli/ib.bats holds them against OpenSM.
 */
#include "subnet/subnet_test.h"

#include "subnet/survey.h"

static struct wf_survey survey(const struct wf_subnet *s, const struct wf_tables *tables)
{
	struct wf_survey v;

	assert_int_equal(wf_survey_all(s, tables, &v), 0);
	return v;
}

/* Every switch's LID is reached from every switch, in so many hops as are the least. */
static void check_least(const struct wf_subnet *s, const struct wf_tables *tables)
{
	struct wf_sm_net net;
	struct wf_sm_ways ways;

	assert_int_equal(wf_sm_net_init(&net, s), 0);
	assert_int_equal(wf_sm_ways_init(&ways, &net), 0);
	for (uint32_t from = 0; from < net.n; from++) {
		for (uint32_t to = 0; to < net.n; to++) {
			unsigned lid = wf_subnet_port(s, s->switches[to], 0)->lid, hops = 0;
			uint32_t at = from;

			while (at != to && hops < net.n) {
				uint8_t port = wf_tables_port(tables, at, lid);

				assert_int_not_equal(port, WF_LFT_NONE);
				at = s->nodes[wf_subnet_port(s, s->switches[at], port)->peer].sw;
				hops++;
			}
			assert_int_equal(hops, ways.hops[(size_t)to * net.n + from]);
			assert_int_equal(wf_tables_port(tables, to, lid), 0);
		}
	}
	wf_sm_ways_fini(&ways);
	wf_sm_net_fini(&net);
}

/*
 * By hand: 4 leaves of 4 hosts, 2 spines with 2 links to each leaf: 240 pairs, 48 of them at one
 * leaf. The other 192 go up one of 16 links and down one of 16: 12 on each.
 */
static void test_even(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "ftree", "dfsssp" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(engines); i++) {
		struct wf_subnet *s = test_tree(4, 4, 2, 2, 0);
		struct wf_tables *tables = test_route(s, engines[i], NULL);
		struct wf_survey v = survey(s, tables);

		assert_int_equal(v.n_ends, 16);
		assert_int_equal(v.pairs, 240);
		assert_int_equal(v.reached, 240);
		assert_int_equal(v.hops[1], 48);
		assert_int_equal(v.hops[3], 192);
		assert_int_equal(v.links, 32);
		assert_int_equal(v.sum, 2 * 192);
		assert_int_equal(v.most, 12);
		assert_int_equal(v.idle, 0);
		if (strcmp(engines[i], "updn") != 0 && strcmp(engines[i], "ftree") != 0)
			check_least(s, tables); /* those do not connect spines */
		wf_survey_fini(&v);
		wf_tables_destroy(tables);
		wf_subnet_destroy(s);
	}
}

/*
 * Fat trees under ftree carry every shift (host i sends to i + k) without two flows on a link:
 * Zahavi, "Fat-trees routing and node ordering providing contention free traffic for MPI global
 * collectives", 2011. Hosts are in the order of leaves and ports. minhop does not.
 */
static uint32_t worst_shift(const struct wf_subnet *s, const struct wf_tables *tables,
                            uint32_t first, uint32_t n)
{
	uint32_t *on = calloc(s->n_ports, sizeof(*on)), worst = 0;

	assert_non_null(on);
	for (uint32_t k = 1; k < n; k++) {
		memset(on, 0, s->n_ports * sizeof(*on));
		for (uint32_t i = 0; i < n; i++) {
			unsigned lid = wf_subnet_port(s, first + (i + k) % n, 1)->lid;
			uint32_t at = wf_subnet_port(s, first + i, 1)->peer;

			while (wf_subnet_is_switch(s, at)) {
				uint8_t out = wf_tables_port(tables, s->nodes[at].sw, lid);
				uint32_t port = s->nodes[at].first_port + out;

				worst = ++on[port] > worst ? on[port] : worst;
				at = s->ports[port].peer;
			}
		}
	}
	free(on);
	return worst;
}

static void test_shifts(void **state)
{
	struct wf_subnet *s = test_tree(8, 8, 8, 1, 0);
	struct wf_tables *ftree = test_route(s, "ftree", NULL);

	(void)state;
	assert_int_equal(worst_shift(s, ftree, 16, 64), 1);
	wf_tables_destroy(ftree);
	wf_subnet_destroy(s);
}

/*
 * By hand: a ring of 6 with its root at switch 0. From 2 to 4 by 3 would be down and up again, so
 * the way is 2, 1, 0, 5, 4; all other pairs have a shortest way that turns at most once, from up to
 * down (1 to 4 goes 1, 0, 5, 4). So of 30 pairs 12 are neighbours, 2 switches each, 10 of the 12
 * that are two apart pass 3, the 6 opposite ones 4, and those two 5.
 */
static void test_updn_ring(void **state)
{
	struct wf_subnet *s = test_ring(6, 1);
	uint64_t root = s->nodes[0].guid;
	struct wf_sm_route_cfg cfg = { .roots = &root, .n_roots = 1 };
	struct wf_tables *tables = test_route(s, "updn", &cfg);
	struct wf_survey v = survey(s, tables);

	(void)state;
	assert_int_equal(v.reached, 30);
	assert_int_equal(v.hops[2], 12);
	assert_int_equal(v.hops[3], 10);
	assert_int_equal(v.hops[4], 6);
	assert_int_equal(v.hops[5], 2);
	assert_false(test_has_circle(s, tables));
	wf_survey_fini(&v);
	wf_tables_destroy(tables);
	wf_subnet_destroy(s);
}

/*
 * On any graph, with any root: no path goes up after having gone down. A torus of odd sides has
 * neighbours that are equally far from the root, where ways of one length are of both kinds.
 */
static void test_updn_turns(void **state)
{
	struct wf_subnet *s = test_torus(5);
	struct wf_sm_net net;
	uint32_t *rank;

	(void)state;
	assert_int_equal(wf_sm_net_init(&net, s), 0);
	rank = calloc(net.n, sizeof(*rank));
	assert_non_null(rank);
	for (uint32_t r = 0; r < 25; r++) {
		uint64_t root = s->nodes[r].guid;
		struct wf_sm_route_cfg cfg = { .roots = &root, .n_roots = 1 };
		struct wf_tables *tables = test_route(s, "updn", &cfg);
		struct wf_survey v = survey(s, tables);

		memset(rank, 0xff, net.n * sizeof(*rank));
		rank[r] = 0;
		assert_int_equal(wf_sm_rank_down(&net, rank), 0);
		assert_int_equal(v.reached, v.pairs);
		for (uint32_t i = 0; i < 625; i++) {
			unsigned lid = wf_subnet_port(s, 25 + i % 25, 1)->lid;
			uint32_t at = i / 25;
			bool down = false;

			while (at != i % 25) {
				uint8_t out = wf_tables_port(tables, at, lid);
				uint32_t to = wf_subnet_port(s, at, out)->peer;
				bool up = wf_sm_is_up(&net, rank, at, to);

				assert_false(up && down);
				down |= !up;
				at = to;
			}
		}
		assert_false(test_has_circle(s, tables));
		wf_survey_fini(&v);
		wf_tables_destroy(tables);
	}
	free(rank);
	wf_sm_net_fini(&net);
	wf_subnet_destroy(s);
}

/*
 * By hand: R (0) and R2 (1) are roots, z (2), from (3), x (4) and d (5) one below, R over all of
 * them but z, R2 over z alone, and z, from, x, d a chain in which each is above the next. From has
 * two ways of two hops to d: by R, up and down, and by x, down all along. Packets from z come down
 * to it, so it has to be x.
 */
static void test_updn_tie(void **state)
{
	static const uint8_t links[][2] = { { 0, 3 }, { 0, 4 }, { 0, 5 }, { 1, 2 },
		                            { 2, 3 }, { 3, 4 }, { 4, 5 } };
	struct wf_subnet *s = test_empty(wf_mem_heap());
	uint64_t roots[2];
	struct wf_sm_route_cfg cfg = { .roots = roots, .n_roots = 2 };
	struct wf_tables *tables;
	struct wf_survey v;

	(void)state;
	for (unsigned i = 0; i < 6; i++)
		(void)test_node(s, WF_SUBNET_SWITCH, 16, test_guid(i));
	roots[0] = s->nodes[0].guid;
	roots[1] = s->nodes[1].guid;
	for (size_t i = 0; i < WF_ARRAY_SIZE(links); i++)
		test_link(s, links[i][0], links[i][1]);
	test_link(s, 2, test_node(s, WF_SUBNET_ADAPTER, 1, test_guid(10)));
	for (unsigned i = 0; i < 4; i++)
		test_link(s, 5, test_node(s, WF_SUBNET_ADAPTER, 1, test_guid(11 + i)));
	test_lids(s, 0);
	tables = test_route(s, "updn", &cfg);
	for (uint32_t host = 7; host < 11; host++) {
		unsigned lid = wf_subnet_port(s, host, 1)->lid;

		assert_int_equal(wf_subnet_port(s, 2, wf_tables_port(tables, 2, lid))->peer, 3);
		assert_int_equal(wf_subnet_port(s, 3, wf_tables_port(tables, 3, lid))->peer, 4);
	}
	assert_int_equal(wf_survey_all(s, tables, &v), 0);
	assert_int_equal(v.hops[4], 8);
	wf_survey_fini(&v);
	wf_tables_destroy(tables);
	wf_subnet_destroy(s);
}

/* Rings and tori have circles; dfsssp breaks them with the fewest hops all the same. */
static void test_lanes(void **state)
{
	struct wf_subnet *nets[] = { test_ring(5, 2), test_ring(8, 1), test_torus(4),
		                     test_torus(5) };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(nets); i++) {
		struct wf_tables *minhop = test_route(nets[i], "minhop", NULL);
		struct wf_tables *dfsssp = test_route(nets[i], "dfsssp", NULL);
		struct wf_survey v = survey(nets[i], dfsssp);
		bool used[WF_SM_MAX_VLS] = { false };

		assert_true(test_has_circle(nets[i], minhop));
		assert_false(test_has_circle(nets[i], dfsssp));
		check_least(nets[i], dfsssp);
		assert_int_equal(v.reached, v.pairs);
		/* Without the lanes there is a circle. */
		dfsssp->sl = (dfsssp->mem->free(dfsssp->mem, dfsssp->sl), NULL);
		assert_true(test_has_circle(nets[i], dfsssp));
		wf_survey_fini(&v);
		wf_tables_destroy(dfsssp);
		/* Lanes that are left over are used as well. */
		dfsssp = test_route(nets[i], "dfsssp", &(struct wf_sm_route_cfg){ .vls = 4 });
		for (uint32_t k = 0; k < dfsssp->n_switches * dfsssp->n_lids; k++)
			used[dfsssp->sl[k]] = true;
		for (unsigned k = 0; k < WF_SM_MAX_VLS; k++)
			assert_int_equal(used[k], k < 4);
		assert_false(test_has_circle(nets[i], dfsssp));
		wf_tables_destroy(dfsssp);
		wf_tables_destroy(minhop);
		wf_subnet_destroy(nets[i]);
	}
}

/* With LMC 1 the two LIDs of a host go by different spines, from every leaf but its own. */
static void test_lmc(void **state)
{
	static const char *const engines[] = { "minhop", "updn" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(engines); i++) {
		struct wf_subnet *s = test_tree(3, 4, 2, 2, 1);
		struct wf_tables *tables = test_route(s, engines[i], NULL);

		for (uint32_t host = 5; host < 17; host++) {
			const struct wf_subnet_port *port = wf_subnet_port(s, host, 1);

			assert_int_equal(port->lmc, 1);
			for (uint32_t leaf = 0; leaf < 3; leaf++) {
				uint8_t a = wf_tables_port(tables, leaf, port->lid);
				uint8_t b = wf_tables_port(tables, leaf, port->lid + 1u);

				if (port->peer == leaf)
					assert_int_equal(a, b);
				else
					assert_int_not_equal(wf_subnet_port(s, leaf, a)->peer,
					                     wf_subnet_port(s, leaf, b)->peer);
			}
		}
		wf_tables_destroy(tables);
		wf_subnet_destroy(s);
	}
}

/* What an engine cannot route minhop does, and it is said why; strict: nobody does. */
static void test_fallback(void **state)
{
	static const struct {
		const char *engine, *why;
		unsigned vls;
	} row[] = {
		{ "updn", "no switch is equally far from nearly all adapters", 0 },
		{ "ftree", "there are 1 ranks of switches", 0 },
		{ "dfsssp",
		  "1 virtual lanes are too few to break all circles; at least 2 are needed", 1 },
	};
	struct wf_subnet *s = test_ring(6, 1);
	struct wf_tables *minhop = test_route(s, "minhop", NULL);

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_sm_route_cfg cfg = { .vls = row[i].vls };
		struct wf_tables *tables = NULL;
		struct wf_err err = { "" };

		assert_int_equal(
			wf_sm_route(s, wf_sm_route_find(row[i].engine), &cfg, true, &tables, &err),
			-EINVAL);
		assert_null(tables);
		assert_non_null(strstr(err.text, row[i].why));
		err.text[0] = '\0';
		assert_int_equal(
			wf_sm_route(s, wf_sm_route_find(row[i].engine), &cfg, false, &tables, &err),
			0);
		assert_string_equal(tables->engine, "minhop");
		assert_false(tables->no_credit_loop);
		assert_non_null(strstr(tables->note, row[i].why));
		assert_memory_equal(tables->lft, minhop->lft,
		                    (size_t)minhop->n_switches * minhop->n_lids);
		wf_tables_destroy(tables);
	}
	wf_tables_destroy(minhop);
	wf_subnet_destroy(s);
	assert_null(wf_sm_route_find("nue"));
}

/* A tree with a hole is none for ftree, unless its roots are given. */
static void test_hole(void **state)
{
	struct wf_subnet *s = test_tree(4, 4, 4, 1, 0);
	uint64_t roots[4];
	struct wf_sm_route_cfg cfg = { .roots = NULL };
	struct wf_tables *tables = NULL;
	struct wf_err err = { "" };
	struct wf_survey v;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		roots[i] = s->nodes[4 + i].guid;
	wf_subnet_part(s, 1, 6);
	assert_int_equal(wf_sm_route(s, wf_sm_route_find("ftree"), &cfg, true, &tables, &err),
	                 -EINVAL);
	assert_non_null(strstr(err.text, "'s1' is connected to 3 switches above it, 's0' of the "
	                                 "same rank to 4"));
	cfg = (struct wf_sm_route_cfg){ .roots = roots, .n_roots = 4 };
	tables = test_route(s, "ftree", &cfg);
	v = survey(s, tables);
	assert_int_equal(v.reached, v.pairs);
	assert_false(test_has_circle(s, tables));
	wf_survey_fini(&v);
	wf_tables_destroy(tables);
	roots[0] = 1;
	cfg.n_roots = 1;
	err.text[0] = '\0';
	assert_int_equal(wf_sm_route(s, wf_sm_route_find("ftree"), &cfg, true, &tables, &err),
	                 -EINVAL);
	assert_non_null(strstr(err.text, "none of the root GUIDs"));
	wf_subnet_destroy(s);
}

/*
 * Links that are down are not used, nor what is behind them; parts that cannot be reached have no
 * entry.
 */
static void test_down(void **state)
{
	static const char *const engines[] = { "minhop", "dfsssp" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(engines); i++) {
		struct wf_subnet *s = test_ring(4, 1);
		struct wf_tables *tables;
		struct wf_survey v;

		/* The links 0-1 and 2-3 fail: two parts of two switches. */
		wf_subnet_port(s, 0, 2)->state = WF_SUBNET_DOWN;
		wf_subnet_port(s, 2, 3)->state = WF_SUBNET_DOWN;
		tables = test_route(s, engines[i], NULL);
		v = survey(s, tables);
		assert_int_equal(v.pairs, 12);
		assert_int_equal(v.reached, 4);
		assert_int_equal(v.loops, 0);
		assert_int_equal(wf_tables_port(tables, 0, wf_subnet_port(s, 5, 1)->lid),
		                 WF_LFT_NONE);
		wf_survey_fini(&v);
		wf_tables_destroy(tables);
		wf_subnet_destroy(s);
	}
}

/* The same twice; and with every allocation failing in turn nothing is left. */
static void test_memory(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "ftree", "dfsssp" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(engines); i++) {
		struct wf_subnet *s = test_tree(3, 2, 2, 1, 0);
		struct wf_tables *one = test_route(s, engines[i], NULL);
		struct wf_mem *heap = s->mem;
		int ret = -ENOMEM;

		for (long n = 0; ret != 0; n++) {
			struct mem_fail mem = mem_fail_after(n);
			struct wf_sm_route_cfg cfg = { .vls = 8 };
			struct wf_tables *two = NULL;
			struct wf_err err = { "" };

			s->mem = &mem.mem;
			ret = wf_sm_route(s, wf_sm_route_find(engines[i]), &cfg, false, &two, &err);
			assert_true(ret == 0 || ret == -ENOMEM);
			if (ret == 0)
				assert_memory_equal(one->lft, two->lft,
				                    (size_t)one->n_switches * one->n_lids);
			wf_tables_destroy(two);
			assert_int_equal(mem.held, 0);
			assert_true(n < 100);
		}
		s->mem = heap;
		wf_tables_destroy(one);
		wf_subnet_destroy(s);
	}
}

/* Who has no switch, and who has nothing at all. */
static void test_small(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "ftree", "dfsssp" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(engines); i++) {
		for (unsigned k = 0; k < 3; k++) {
			struct wf_subnet *s = test_empty(wf_mem_heap());
			struct wf_sm_route_cfg cfg = { .vls = 1 };
			struct wf_tables *tables = NULL;
			struct wf_err err = { "" };
			struct wf_survey v;

			if (k > 0)
				(void)test_node(s, WF_SUBNET_ADAPTER, 1, test_guid(0));
			if (k > 1)
				test_link(s, 0, test_node(s, WF_SUBNET_ADAPTER, 1, test_guid(1)));
			test_lids(s, 0);
			assert_int_equal(wf_sm_route(s, wf_sm_route_find(engines[i]), &cfg, false,
			                             &tables, &err),
			                 0);
			v = survey(s, tables);
			assert_int_equal(v.pairs, 0);
			wf_survey_fini(&v);
			wf_tables_destroy(tables);
			wf_subnet_destroy(s);
		}
	}
}

/*
 * By hand: a chain of 5 switches. Nobody is farther than 2 from the middle one, s2; members at s0
 * and s4 make it the root. Every member hears every other exactly once, and nobody else does.
 */
static uint32_t heard(const struct wf_subnet *s, const uint64_t *mft, uint32_t from,
                      uint32_t *times)
{
	uint32_t queue[64][2], head = 0, tail = 0, n = 0; /* node, port by which it came in */

	queue[tail][0] = wf_subnet_port(s, from, 1)->peer;
	queue[tail++][1] = wf_subnet_port(s, from, 1)->peer_port;
	while (head < tail) {
		uint32_t sw = queue[head][0], in = queue[head++][1];

		for (unsigned p = 1; p <= s->nodes[sw].n_ports; p++) {
			const struct wf_subnet_port *port = wf_subnet_port(s, sw, p);

			if (p == in ||
			    !(mft[s->nodes[sw].sw * WF_MFT_WORDS + p / 64] >> p % 64 & 1))
				continue;
			if (!wf_subnet_is_switch(s, port->peer)) {
				times[port->peer]++;
				n++;
				continue;
			}
			assert_true(tail < 64);
			queue[tail][0] = port->peer;
			queue[tail++][1] = port->peer_port;
		}
	}
	return n;
}

static void test_mcast(void **state)
{
	struct wf_subnet *s = test_ring(5, 1);
	struct wf_sm_trees *trees = NULL;
	uint64_t mft[5 * WF_MFT_WORDS];
	struct wf_sm_tree tree;
	uint32_t members[4], all[5], times[10] = { 0 };

	(void)state;
	wf_subnet_part(s, 4, 3); /* 4 to 0: a chain now */
	assert_int_equal(wf_sm_trees_create(s, &trees), 0);
	members[0] = s->nodes[5].first_port + 1; /* at s0 */
	members[1] = s->nodes[9].first_port + 1; /* at s4 */
	members[2] = members[0];                 /* twice */
	members[3] = s->nodes[7].first_port;     /* port 0 of an adapter: nothing */
	wf_sm_trees_build(trees, members, 4, mft, &tree);
	assert_int_equal(tree.root, 2);
	assert_int_equal(tree.left, 1);
	assert_int_equal(heard(s, mft, 5, times), 1);
	assert_int_equal(times[9], 1);
	for (unsigned i = 0; i < 5; i++)
		all[i] = s->nodes[5 + i].first_port + 1;
	wf_sm_trees_build(trees, all, 5, mft, &tree);
	for (uint32_t from = 5; from < 10; from++) {
		memset(times, 0, sizeof(times));
		assert_int_equal(heard(s, mft, from, times), 4);
		for (uint32_t to = 5; to < 10; to++)
			assert_int_equal(times[to], from != to);
	}
	wf_sm_trees_build(trees, all, 1, mft, &tree);
	assert_int_equal(tree.root, WF_SUBNET_NONE);
	assert_int_equal(heard(s, mft, 5, times), 0);
	wf_sm_trees_destroy(trees);
	wf_subnet_destroy(s);
}

/* A switch that is a member itself hears too; on a tree with parallel links there is no circle. */
static void test_mcast_tree(void **state)
{
	struct wf_subnet *s = test_tree(4, 3, 2, 2, 0);
	struct wf_sm_trees *trees = NULL;
	uint64_t mft[6 * WF_MFT_WORDS];
	struct wf_sm_tree tree;
	uint32_t members[13], times[18];

	(void)state;
	assert_int_equal(wf_sm_trees_create(s, &trees), 0);
	for (unsigned i = 0; i < 12; i++)
		members[i] = s->nodes[6 + i].first_port + 1;
	members[12] = s->nodes[1].first_port;
	wf_sm_trees_build(trees, members, 13, mft, &tree);
	assert_int_equal(tree.root, 4); /* a spine: 2 hops to each leaf's hosts; the first of two */
	assert_int_equal(tree.left, 0);
	assert_true(mft[1 * WF_MFT_WORDS] & 1);
	for (uint32_t from = 6; from < 18; from++) {
		memset(times, 0, sizeof(times));
		assert_int_equal(heard(s, mft, from, times), 11);
		assert_int_equal(times[from], 0);
	}
	wf_sm_trees_destroy(trees);
	wf_subnet_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_even),      cmocka_unit_test(test_shifts),
		cmocka_unit_test(test_updn_ring), cmocka_unit_test(test_updn_turns),
		cmocka_unit_test(test_lanes),     cmocka_unit_test(test_updn_tie),
		cmocka_unit_test(test_lmc),       cmocka_unit_test(test_fallback),
		cmocka_unit_test(test_hole),      cmocka_unit_test(test_down),
		cmocka_unit_test(test_memory),    cmocka_unit_test(test_small),
		cmocka_unit_test(test_mcast),     cmocka_unit_test(test_mcast_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
