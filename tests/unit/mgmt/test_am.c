/* SPDX-License-Identifier: Apache-2.0 */
/* test_am.c - an aggregation manager and agents, MAD by MAD. */
#include "mgmt_test.h"

#include "../mem_fail.h"
#include "mgmt/am.h"
#include "mgmt/ana.h"

#define SWITCHES 3
#define PORTS 100

/* Agents, and what they told the hardware last of tree 4. */
struct fabric {
	struct wf_ana *ana[SWITCHES]; /* of LIDs 1, 2, 3 */
	struct wf_ana_tree tree[SWITCHES];
	unsigned drop;   /* every so manieth MAD is lost; 0: none is */
	unsigned silent; /* this LID answers nothing */
	unsigned n;
};

static struct fabric *current;

static void told(void *arg, const struct wf_ana_tree *tree)
{
	*(struct wf_ana_tree *)arg = *tree;
}

static void make(struct fabric *f)
{
	for (unsigned i = 0; i < SWITCHES; i++) {
		const struct wf_ana_cfg cfg = { .n_ports = PORTS,
			                        .streams = true,
			                        .trees = 100,
			                        .operations = 8,
			                        .tree = told,
			                        .arg = &f->tree[i] };

		assert_int_equal(wf_ana_create(&cfg, wf_mem_heap(), &f->ana[i]), 0);
	}
	current = f;
}

static void drop(struct fabric *f)
{
	for (unsigned i = 0; i < SWITCHES; i++)
		wf_ana_destroy(f->ana[i]);
}

/* Two leaves with 50 and 1 hosts below root LID 3; one tree of each kind, 4 and 5. */
static struct wf_am_link links[2 * (51 + 2 + 2)];
static struct wf_am_place places[6];

static void plan(void)
{
	unsigned n = 0, p = 0;

	memset(places, 0, sizeof(places));
	for (uint16_t tree = 4; tree < 6; tree++) {
		for (uint16_t leaf = 1; leaf <= 2; leaf++) {
			unsigned hosts = leaf == 1 ? 50 : 1;

			places[p++] = (struct wf_am_place){ .tree = tree,
				                            .lid = leaf,
				                            .streams = tree == 5,
				                            .first = n,
				                            .n = hosts + 1,
				                            .again = tree == 5 };
			links[n++] = (struct wf_am_link){ 3, PORTS, (uint8_t)leaf };
			for (unsigned h = 1; h <= hosts; h++)
				links[n++] = (struct wf_am_link){ (uint16_t)(100 * leaf + h),
					                          (uint8_t)h, 1 };
		}
		places[p++] = (struct wf_am_place){ .tree = tree,
			                            .lid = 3,
			                            .streams = tree == 5,
			                            .root = true,
			                            .first = n,
			                            .n = 2,
			                            .again = tree == 5 };
		links[n++] = (struct wf_am_link){ 1, 1, PORTS };
		links[n++] = (struct wf_am_link){ 2, 2, PORTS };
	}
}

/* Runs until it is over; returns the most requests that were under way. */
static unsigned run(struct wf_am *am)
{
	unsigned most = 0;
	wf_time now = 0;

	while (!wf_am_is_over(am)) {
		static uint8_t mads[64][WF_MAD_LEN];
		static uint16_t lids[64];
		unsigned n = 0;

		while (n < 64 && wf_am_tx(am, &lids[n], mads[n], now))
			n++;
		most = n > most ? n : most;
		for (unsigned i = 0; i < n; i++) {
			current->n++;
			if (lids[i] == current->silent ||
			    (current->drop != 0 && current->n % current->drop == 0))
				continue;
			assert_true(wf_ana_rx(current->ana[lids[i] - 1], mads[i]));
			wf_am_rx(am, mads[i]);
			wf_am_rx(am, mads[i]); /* twice is once */
		}
		if (n == 0 && !wf_am_is_over(am)) {
			assert_true(wf_am_deadline(am) != WF_TIME_NEVER);
			now = wf_am_deadline(am);
			wf_am_tick(am, now);
		}
	}
	return most;
}

static void check_trees(const struct fabric *f)
{
	for (uint16_t tree = 4; tree < 6; tree++) {
		const struct wf_ana_tree *t = wf_ana_tree(f->ana[0], tree);

		assert_non_null(t);
		assert_true(t->enabled);
		assert_int_equal(t->streams, tree == 5);
		assert_int_equal(t->up, PORTS);
		assert_int_equal(t->n_down, 50);
		assert_int_equal(t->down[0], 0xfe); /* ports 1 to 7 */
		assert_int_equal(t->down[6], 7);    /* 48 to 50 */
		t = wf_ana_tree(f->ana[2], tree);
		assert_int_equal(t->up, 0);
		assert_int_equal(t->n_down, 2);
		assert_int_equal(t->down[0], 6);
	}
	assert_int_equal(f->tree[0].id, 5); /* told last */
	assert_int_equal(f->tree[0].n_down, 50);
}

/* 3 switches; 57 ends of links a tree; 3 places, of which one has more than 44 children. */
static void test_set_up(void **state)
{
	static const unsigned drops[] = { 0, 5 };

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(drops); i++) {
		const struct wf_am_cfg cfg = { .max_wire = 7, .timeout = WF_MS, .retries = 20 };
		struct fabric f = { .drop = drops[i] };
		struct wf_am_stats stats;
		struct wf_am *am;

		make(&f);
		plan();
		assert_int_equal(wf_am_create(&cfg, wf_mem_heap(), &am), 0);
		assert_false(wf_am_is_over(am));
		wf_am_begin(am, places, 6, links);
		assert_int_equal(run(am), 7);
		wf_am_stats(am, &stats);
		assert_int_equal(stats.sent - stats.again, 3 + 2 * (51 + 2 + 2 + 3 + 1));
		assert_int_equal(stats.answered, stats.sent - stats.again);
		assert_int_equal(stats.again == 0, drops[i] == 0);
		assert_int_equal(stats.lost + stats.refused, 0);
		for (unsigned p = 0; p < 6; p++)
			assert_false(places[p].failed);
		check_trees(&f);
		wf_am_destroy(am);
		drop(&f);
	}
}

/* A switch that does not answer has no place; the others' are set up. One refuses an id. */
static void test_failures(void **state)
{
	const struct wf_am_cfg cfg = { .max_wire = 60, .timeout = WF_MS, .retries = 2 };
	struct fabric f = { .silent = 2 };
	struct wf_am_stats stats;
	struct wf_am *am;

	(void)state;
	make(&f);
	plan();
	places[5].tree = 100; /* agents have ids below 100 */
	assert_int_equal(wf_am_create(&cfg, wf_mem_heap(), &am), 0);
	wf_am_begin(am, places, 6, links);
	(void)run(am);
	wf_am_stats(am, &stats);
	assert_int_equal(stats.lost, 1);
	assert_int_equal(stats.again, 2);
	assert_int_equal(stats.refused, 1);
	for (unsigned p = 0; p < 6; p++)
		assert_int_equal(places[p].failed, p == 1 || p == 4 || p == 5);
	assert_null(wf_ana_tree(f.ana[1], 4));
	/* Nothing to do is over at once. */
	wf_am_begin(am, places, 0, links);
	assert_true(wf_am_is_over(am));
	wf_am_destroy(am);
	drop(&f);
}

/* ---- what an agent refuses ---- */

static unsigned ask(struct wf_ana *ana, uint8_t method, uint16_t attr, uint8_t *data)
{
	uint8_t mad[WF_MAD_LEN] = { 0 };
	const struct wf_mad h = { .base_version = WF_MAD_BASE_VERSION,
		                  .mgmt_class = WF_MAD_CLASS_AM,
		                  .class_version = WF_AM_CLASS_VERSION,
		                  .method = method,
		                  .attr_id = attr };
	struct wf_mad is;

	wf_mad_encode(&h, mad);
	memcpy(mad + WF_AM_DATA, data, WF_MAD_LEN - WF_AM_DATA);
	assert_true(wf_ana_rx(ana, mad));
	memcpy(data, mad + WF_AM_DATA, WF_MAD_LEN - WF_AM_DATA);
	wf_mad_decode(mad, &is);
	assert_int_equal(is.method, WF_MAD_METHOD_GET_RESP);
	return is.status;
}

static unsigned set_qp(struct wf_ana *ana, uint32_t qpn, unsigned port, bool active)
{
	const struct wf_am_queue_pair c = { .qpn = qpn, .port = (uint8_t)port, .active = active };
	uint8_t data[WF_MAD_LEN] = { 0 };

	wf_am_queue_pair_encode(&c, data);
	return ask(ana, WF_MAD_METHOD_SET, WF_AM_QUEUE_PAIR, data);
}

static unsigned set_tree(struct wf_ana *ana, const struct wf_am_tree *c)
{
	uint8_t data[WF_MAD_LEN] = { 0 };

	wf_am_tree_encode(c, data);
	return ask(ana, WF_MAD_METHOD_SET, WF_AM_TREE, data);
}

static void test_agent(void **state)
{
	struct wf_am_tree c = { .does = WF_AM_WRITE,
		                .enabled = true,
		                .tree = 7,
		                .parent = 0x704,
		                .n = 2,
		                .child = { 0x701, 0x702 } };
	uint8_t data[WF_MAD_LEN] = { 0 };
	struct wf_am_node info;
	struct fabric f = { 0 };
	struct wf_am_tree is;

	(void)state;
	make(&f);
	assert_int_equal(ask(f.ana[0], WF_MAD_METHOD_GET, WF_AM_NODE, data), WF_MAD_OK);
	wf_am_node_decode(data, &info);
	assert_int_equal(info.trees, 100);
	assert_int_equal(info.radix, PORTS);
	assert_true(info.streams);
	/* No port, no such port, no number. */
	assert_int_equal(set_qp(f.ana[0], 0x701, 0, true), WF_MAD_INVALID_FIELD);
	assert_int_equal(set_qp(f.ana[0], 0x701, PORTS + 1, true), WF_MAD_INVALID_FIELD);
	assert_int_equal(set_qp(f.ana[0], 0, 1, true), WF_MAD_INVALID_FIELD);
	/* A tree of queue pairs that are not there, or not active. */
	for (uint32_t port = 1; port <= 4; port++)
		assert_int_equal(set_qp(f.ana[0], 0x700 + port, port, port != 2), WF_MAD_OK);
	assert_int_equal(set_tree(f.ana[0], &c), WF_MAD_INVALID_FIELD);
	assert_null(wf_ana_tree(f.ana[0], 7));
	assert_int_equal(set_qp(f.ana[0], 0x702, 2, true), WF_MAD_OK);
	assert_int_equal(set_tree(f.ana[0], &c), WF_MAD_OK);
	assert_int_equal(f.tree[0].down[0], 6);
	c = (struct wf_am_tree){ .does = WF_AM_ADD, .tree = 7, .n = 1, .child = { 0x703 } };
	assert_int_equal(set_tree(f.ana[0], &c), WF_MAD_OK);
	assert_int_equal(f.tree[0].down[0], 14);
	assert_int_equal(f.tree[0].n_down, 3);
	c.does = WF_AM_REMOVE;
	c.child[0] = 0x701;
	assert_int_equal(set_tree(f.ana[0], &c), WF_MAD_OK);
	assert_int_equal(f.tree[0].down[0], 12);
	assert_int_equal(f.tree[0].up, 4);
	/* What is set can be read. */
	wf_am_tree_encode(&(struct wf_am_tree){ .tree = 7 }, data);
	assert_int_equal(ask(f.ana[0], WF_MAD_METHOD_GET, WF_AM_TREE, data), WF_MAD_OK);
	wf_am_tree_decode(data, &is);
	assert_int_equal(is.parent, 0x704);
	assert_int_equal(is.n, 2);
	assert_int_equal(is.child[0], 0x702);
	assert_int_equal(is.child[1], 0x703);
	c.does = 9;
	assert_int_equal(set_tree(f.ana[0], &c), WF_MAD_INVALID_FIELD);
	c.does = WF_AM_WRITE;
	assert_int_equal(set_tree(f.ana[0], &c), WF_MAD_OK); /* disabled */
	assert_false(f.tree[0].enabled);
	assert_int_equal(f.tree[0].n_down, 0);
	assert_int_equal(ask(f.ana[0], WF_MAD_METHOD_SET, WF_AM_NODE, data), WF_MAD_BAD_ATTRIBUTE);
	assert_int_equal(ask(f.ana[0], WF_MAD_METHOD_GET, 0x50, data), WF_MAD_BAD_ATTRIBUTE);
	assert_int_equal(ask(f.ana[0], WF_MAD_METHOD_GET, WF_MAD_ATTR_CLASS_PORT_INFO, data),
	                 WF_MAD_OK);
	drop(&f);
}

/* Where the members are, by hand. */
static void test_layouts(void **state)
{
	const struct wf_am_tree t = { .tree = 0x1234,
		                      .does = WF_AM_REMOVE,
		                      .streams = true,
		                      .enabled = true,
		                      .n = 2,
		                      .locked_by = 0x5678,
		                      .parent = 0xabcdef,
		                      .child = { 0x111111, 0x222222 } };
	const struct wf_am_queue_pair q = { .active = true,
		                            .qpn = 0x123456,
		                            .port = 0x21,
		                            .peer_qpn = 0x654321,
		                            .peer_lid = 0xbeef,
		                            .pkey = 0xfffe,
		                            .mtu = 5,
		                            .sl = 3 };
	const struct wf_am_node n = { .streams = true,
		                      .radix = 41,
		                      .trees = 0x0102,
		                      .jobs = 0x0304,
		                      .pending = 0x0506,
		                      .queue_pairs = 0x0708 };
	static const uint8_t tree[] = { 0x12, 0x34, 0x23, 2,    0x56, 0x78, 0, 0,    0,    0xab,
		                        0xcd, 0xef, 0,    0x11, 0x11, 0x11, 0, 0x22, 0x22, 0x22 };
	static const uint8_t pair[] = { 1,    0x12, 0x34, 0x56, 0x21, 0x65, 0x43,
		                        0x21, 0xbe, 0xef, 0xff, 0xfe, 0x53 };
	static const uint8_t node[] = { 41, 1, 1, 2, 3, 4, 5, 6, 7, 8 };
	uint8_t data[192] = { 0 };

	(void)state;
	wf_am_tree_encode(&t, data);
	assert_memory_equal(data, tree, sizeof(tree));
	memset(data, 0, sizeof(data));
	wf_am_queue_pair_encode(&q, data);
	assert_memory_equal(data, pair, sizeof(pair));
	memset(data, 0, sizeof(data));
	wf_am_node_encode(&n, data);
	assert_memory_equal(data, node, sizeof(node));
}

static void test_no_memory(void **state)
{
	const struct wf_am_cfg cfg = { .max_wire = 4, .timeout = WF_MS };
	struct wf_am *am;
	long n = 0;
	int ret;

	(void)state;
	do {
		struct mem_fail mem = mem_fail_after(n++);

		ret = wf_am_create(&cfg, &mem.mem, &am);
		if (ret == 0)
			wf_am_destroy(am);
		assert_int_equal(mem.held, 0);
	} while (ret != 0);
	assert_int_equal(n, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_up),    cmocka_unit_test(test_failures),
		cmocka_unit_test(test_agent),     cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
