/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of job/reduce.c and of what the algorithms do with it: who asks the network in which
 * order, who falls back, and that heads contribute all data, once, in the same pieces everywhere.
 */
#include "job/reduce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "job/coll_priv.h"
#include "job/plan_coll.h"

#define MAX_ASKED 16

/* A network that remembers who asked, and lets the first few in. */
struct net {
	uint32_t lets, n;
	struct {
		uint32_t n, groups, first_rank, last_rank;
	} asked[MAX_ASKED];
	uint32_t n_groups;
	int ret;
};

static int join(void *arg, const uint32_t *ranks, uint32_t n, uint32_t n_groups, uint32_t *first_p)
{
	struct net *net = arg;

	assert_true(net->n < MAX_ASKED);
	net->asked[net->n].n = n;
	net->asked[net->n].groups = n_groups;
	net->asked[net->n].first_rank = ranks[0];
	net->asked[net->n].last_rank = ranks[n * n_groups - 1];
	*first_p = net->n++ < net->lets ? net->n_groups : WF_GROUP_NONE;
	net->n_groups += n_groups;
	return net->ret;
}

static struct wf_coll_cfg defaults(void)
{
	struct wf_coll_cfg cfg = { 0 };
	struct wf_err err = { "" };

	assert_int_equal(wf_param_defaults(wf_coll_params, wf_coll_n_params, &cfg, &err), 0);
	cfg.collnet = true;
	return cfg;
}

static const struct wf_cluster cluster = { .n_ranks = 64, .gpus = 8, .nics = 8 };

/* In the order in which they were learned, each once; who is in one server does not ask. */
static void test_asking(void **state)
{
	static const uint32_t list[] = { 0, 8, 16, 24 }, again[] = { 0, 8, 16, 24 };
	const struct wf_comm all = { .n = 64, .stride = 1 }, tp = { .n = 8, .stride = 1 };
	const struct wf_comm dp = { .n = 8, .base = 3, .stride = 8 };
	const struct wf_comm odd = { .n = 13, .stride = 1 };
	const struct wf_comm named = { .n = 4, .list = list }, same = { .n = 4, .list = again };
	struct net net = { .lets = 3 };
	const struct wf_net_reducer reducer = { &net, join };
	struct wf_coll_cfg cfg = defaults();
	struct wf_grants *g;

	(void)state;
	assert_int_equal(wf_grants_create(wf_mem_heap(), &g), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(wf_grants_learn(g, &cluster, &cfg, &tp, 0), 0);
		assert_int_equal(wf_grants_learn(g, &cluster, &cfg, &dp, 1), 0);
		assert_int_equal(wf_grants_learn(g, &cluster, &cfg, &odd, 1), 0);
		assert_int_equal(wf_grants_learn(g, &cluster, &cfg, &all, 1), 0);
		assert_int_equal(wf_grants_learn(g, &cluster, &cfg, i == 0 ? &named : &same, 2), 0);
		assert_int_equal(wf_grants_learn(g, &cluster, &cfg, &dp, 2), 0);
	}
	assert_int_equal(wf_grants_ask(g, &reducer), 0);
	assert_int_equal(net.n, 4);
	assert_int_equal(net.asked[0].n, 8);
	assert_int_equal(net.asked[0].groups, 1);
	assert_int_equal(net.asked[0].first_rank, 3);
	assert_int_equal(net.asked[0].last_rank, 59);
	/* Each of a server's eight GPUs is a head: of group 0 the first, of group 7 the last. */
	assert_int_equal(net.asked[1].n, 8);
	assert_int_equal(net.asked[1].groups, 8);
	assert_int_equal(net.asked[1].first_rank, 0);
	assert_int_equal(net.asked[1].last_rank, 63);
	assert_int_equal(net.asked[2].n, 4);
	assert_int_equal(wf_grants_first(g, &all, 1), 1);
	assert_int_equal(wf_grants_first(g, &all, 0), WF_GROUP_NONE);
	assert_int_equal(wf_grants_first(g, &same, 2), 9);
	assert_true(wf_grants_has(g, &all));
	assert_false(wf_grants_has(g, &tp));
	assert_false(wf_grants_has(g, &odd));
	/* On its second lane it was refused: then it has it on none. */
	assert_int_equal(wf_grants_first(g, &dp, 1), 0);
	assert_false(wf_grants_has(g, &dp));
	wf_grants_destroy(g);
	wf_grants_destroy(NULL);
}

/* What is chosen by those who were let in, and by those who were not, whatever was wished for. */
static void test_choice(void **state)
{
	static const struct {
		enum wf_coll_alg wish;
		uint32_t lets;
		const char *alg;
	} rows[] = {
		{ WF_ALG_AUTO, 1, "nvls" },
		{ WF_ALG_AUTO, 0, "tree" },
		{ WF_ALG_COLLNET, 1, "collnet-direct" },
		{ WF_ALG_COLLNET, 0, "tree" },
		{ WF_ALG_NVLS, 0, "tree" },
		{ WF_ALG_RING, 0, "ring" },
		{ WF_ALG_RING, 1, "ring" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		const struct wf_coll coll = { .kind = WF_COLL_ALL_REDUCE,
			                      .alg = (uint8_t)rows[i].wish,
			                      .bytes = 1 << 20,
			                      .comm = { .n = 64, .stride = 1 } };
		struct net net = { .lets = rows[i].lets };
		const struct wf_net_reducer reducer = { &net, join };
		struct wf_coll_cfg cfg = defaults();
		struct wf_schedule *s;
		struct wf_plan *plan;
		struct wf_group group;

		assert_int_equal(wf_plan_coll_create(&cluster, &coll, 1, wf_mem_heap(), &plan), 0);
		assert_int_equal(wf_plan_schedule(plan, &cfg, NULL, &reducer, wf_mem_heap(), &s),
		                 0);
		assert_int_equal(net.n, 1);
		s->ops->group(s, 0, &group);
		assert_string_equal(group.algorithm, rows[i].alg);
		wf_schedule_destroy(s);
	}
}

/* What a rank's streams contribute. */
struct given {
	uint64_t bytes;
	uint32_t n, group; /* of all its reductions, which are of one group */
	uint64_t piece[64];
};

static void walk(const struct wf_schedule *s, uint32_t rank, struct given *given)
{
	void *cursor = calloc(1, s->ops->cursor);

	assert_non_null(cursor);
	memset(given, 0, sizeof(*given));
	for (uint32_t stream = 0; stream < s->ops->streams(s, rank); stream++) {
		struct wf_op op = { .group = WF_GROUP_NONE };

		memset(cursor, 0, s->ops->cursor);
		s->ops->start(s, rank, stream, cursor);
		for (uint32_t number = 0; s->ops->next(s, cursor, &op); number++) {
			for (unsigned d = 0; d < op.n_deps; d++) {
				if (op.dep[d].stream == stream && op.dep[d].on == WF_ON_END)
					assert_true(op.dep[d].number < number);
			}
			if (op.kind == WF_OP_REDUCE) {
				assert_true(given->n == 0 || given->group == op.peer);
				given->group = op.peer;
				given->bytes += op.bytes;
				given->piece[given->n++ % 64] = op.bytes;
			}
			op = (struct wf_op){ .group = WF_GROUP_NONE };
		}
	}
	free(cursor);
}

/* All data is contributed by each server, by its heads, in pieces that all servers have alike. */
static void test_data(void **state)
{
	static const struct {
		enum wf_coll_alg alg;
		uint32_t ranks, gpus, nics;
		uint64_t bytes;
	} rows[] = {
		{ WF_ALG_NVLS, 64, 8, 8, 8 },
		{ WF_ALG_NVLS, 64, 8, 8, 100000001 },
		{ WF_ALG_COLLNET, 64, 8, 8, 5 },
		{ WF_ALG_COLLNET, 32, 8, 4, 33333333 },
		{ WF_ALG_COLLNET_CHAIN, 16, 4, 4, 1 << 20 },
		{ WF_ALG_COLLNET_CHAIN, 7, 1, 1, 12345 },
		{ WF_ALG_COLLNET_CHAIN, 7, 1, 1, 0 },
	};
	static struct given given[64];

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		const struct wf_cluster c = { rows[i].ranks, rows[i].gpus, rows[i].nics, 0 };
		const struct wf_coll coll = { .kind = WF_COLL_ALL_REDUCE,
			                      .alg = (uint8_t)rows[i].alg,
			                      .bytes = rows[i].bytes,
			                      .comm = { .n = rows[i].ranks, .stride = 1 } };
		struct net net = { .lets = 1, .n_groups = 100 };
		const struct wf_net_reducer reducer = { &net, join };
		struct wf_coll_cfg cfg = defaults();
		struct wf_schedule *s;
		struct wf_plan *plan;

		assert_int_equal(wf_plan_coll_create(&c, &coll, 1, wf_mem_heap(), &plan), 0);
		assert_int_equal(wf_plan_schedule(plan, &cfg, NULL, &reducer, wf_mem_heap(), &s),
		                 0);
		assert_int_equal(net.asked[0].groups, rows[i].nics);
		for (uint32_t server = 0; server < rows[i].ranks / rows[i].gpus; server++) {
			uint64_t sum = 0;
			uint32_t heads = 0;

			for (uint32_t k = 0; k < rows[i].gpus; k++) {
				struct given *of = &given[k], one;

				walk(s, server * rows[i].gpus + k, &one);
				sum += one.bytes;
				heads += one.n > 0;
				if (one.n > 0)
					assert_int_equal(one.group, 100 + heads - 1);
				if (server == 0)
					*of = one;
				assert_memory_equal(of, &one, sizeof(one));
			}
			assert_int_equal(sum, rows[i].bytes);
			assert_int_equal(heads, rows[i].nics);
		}
		wf_schedule_destroy(s);
	}
}

/* Without memory, wherever it runs out. */
struct short_mem {
	struct wf_mem mem;
	long left;
};

static void *short_alloc(struct wf_mem *mem, size_t size)
{
	struct short_mem *m = wf_container_of(mem, struct short_mem, mem);

	return m->left-- > 0 ? wf_mem_heap()->alloc(wf_mem_heap(), size) : NULL;
}

static void short_free(struct wf_mem *mem, void *ptr)
{
	(void)mem;
	wf_mem_heap()->free(wf_mem_heap(), ptr);
}

static void test_memory(void **state)
{
	const struct wf_coll coll = { .kind = WF_COLL_ALL_REDUCE,
		                      .bytes = 8,
		                      .comm = { .n = 64, .stride = 1 } };
	struct wf_coll_cfg cfg = defaults();
	int ret = -ENOMEM;

	(void)state;
	for (long n = 0; ret == -ENOMEM; n++) {
		struct short_mem mem = { { short_alloc, short_free }, n };
		struct net net = { .lets = 1 };
		const struct wf_net_reducer reducer = { &net, join };
		struct wf_schedule *s;
		struct wf_plan *plan;

		assert_int_equal(wf_plan_coll_create(&cluster, &coll, 1, wf_mem_heap(), &plan), 0);
		ret = wf_plan_schedule(plan, &cfg, NULL, &reducer, &mem.mem, &s);
		if (ret == 0)
			wf_schedule_destroy(s);
		assert_true(ret == 0 || ret == -ENOMEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asking),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
