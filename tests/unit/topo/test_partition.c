/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of topo/partition.c. */
#include "topo/topo_test.h"

struct shares {
	uint32_t *order;
	uint32_t *part;
};

static struct shares shares_make(const struct wf_topo *topo, uint32_t parts)
{
	struct shares s;

	s.order = calloc(topo->n_nodes, sizeof(*s.order));
	s.part = calloc(topo->n_nodes, sizeof(*s.part));
	assert_non_null(s.order);
	assert_non_null(s.part);
	assert_int_equal(wf_topo_partition(topo, parts, s.order, s.part), 0);
	return s;
}

static void shares_free(struct shares *s)
{
	free(s->order);
	free(s->part);
}

/* order is a permutation, parts are contiguous runs of it in order, and none is too heavy. */
static void check_shares(const struct wf_topo *topo, const struct shares *s, uint32_t parts)
{
	uint8_t *seen = calloc(topo->n_nodes, 1);
	uint64_t *weight = calloc(parts, sizeof(*weight));
	uint32_t heaviest = 0;

	assert_non_null(seen);
	assert_non_null(weight);
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		uint32_t id = s->order[i];

		assert_true(id < topo->n_nodes);
		assert_int_equal(seen[id]++, 0);
		assert_true(s->part[id] < parts);
		if (i > 0)
			assert_true(s->part[s->order[i - 1]] <= s->part[id]);
		weight[s->part[id]] += topo->nodes[id].n_ports;
		if (topo->nodes[id].n_ports > heaviest)
			heaviest = topo->nodes[id].n_ports;
	}
	for (uint32_t i = 0; i < parts; i++) {
		uint64_t fair = topo->n_ports / parts;

		assert_true(weight[i] <= fair + heaviest + 1);
		assert_true(weight[i] + heaviest + 1 >= fair);
	}
	free(weight);
	free(seen);
}

static void test_shares(void **state)
{
	static const char *const text[] = { "kind=single hosts=7",
		                            "kind=leaf-spine hosts=100 radix=16",
		                            "kind=fat-tree hosts=128",
		                            "kind=fat-tree hosts=90 radix=12",
		                            "kind=rail hosts=256 gpus=8 radix=16",
		                            "kind=dragonfly hosts=72" };
	static const uint32_t parts[] = { 1, 2, 3, 4, 7, 16, 1000 };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(text); i++) {
		struct wf_topo *topo = test_topo(text[i]);

		for (size_t p = 0; p < WF_ARRAY_SIZE(parts); p++) {
			struct shares s = shares_make(topo, parts[p]);

			check_shares(topo, &s, parts[p]);
			shares_free(&s);
		}
		wf_topo_destroy(topo);
	}
}

/* Links whose ends are in different parts. */
static uint32_t cut_links(const struct wf_topo *topo, const struct shares *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < topo->n_links; i++)
		n += s->part[topo->links[i].a] != s->part[topo->links[i].b];
	return n;
}

/* A k = 8 fat tree in 2, 4 and 8 parts: pods stay whole, only links to the core are cut. */
static void test_pods_stay_whole(void **state)
{
	struct wf_topo *topo = test_topo("kind=fat-tree hosts=128");

	(void)state;
	for (uint32_t parts = 2; parts <= 8; parts *= 2) {
		struct shares s = shares_make(topo, parts);

		for (uint32_t i = 0; i < topo->n_nodes; i++)
			assert_int_equal(s.part[i], topo->nodes[i].group / (8 / parts));
		assert_int_equal(cut_links(topo, &s), 128 - 128 / parts);
		shares_free(&s);
	}
	wf_topo_destroy(topo);
}

/* A host comes right after its switch and the hosts before it. */
static void test_hosts_with_switch(void **state)
{
	struct wf_topo *topo = test_topo("kind=leaf-spine hosts=32 radix=8");
	struct shares s = shares_make(topo, 1);
	uint32_t leaf = WF_TOPO_NONE;

	(void)state;
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		if (test_is_switch(topo, s.order[i]))
			leaf = s.order[i];
		else
			assert_int_equal(test_port(topo, s.order[i], 0)->peer, leaf);
	}
	shares_free(&s);
	wf_topo_destroy(topo);
}

static void test_errors(void **state)
{
	struct test_mem mem = test_mem_make(-1);
	struct wf_err err = { { 0 } };
	struct wf_topo *topo = NULL;
	uint32_t order[8], part[8];

	(void)state;
	assert_int_equal(test_build("kind=single hosts=4", &mem.mem, &topo, &err), 0);
	assert_int_equal(wf_topo_partition(topo, 0, order, part), -EINVAL);
	mem.fail_at = mem.calls;
	assert_int_equal(wf_topo_partition(topo, 2, order, part), -ENOMEM);
	wf_topo_destroy(topo);
	assert_int_equal(mem.live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_pods_stay_whole),
		cmocka_unit_test(test_hosts_with_switch),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
