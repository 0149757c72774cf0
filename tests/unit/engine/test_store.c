/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of engine/store: numbers, and objects that come back to their owner. */
#include "check.h"

#include <errno.h>

#include "engine/cells.h"
#include "engine/store.h"

#define OBJECT 64
#define WINDOW 1000

static struct wf_engine *make_engine(unsigned threads, unsigned shards, size_t limit)
{
	struct wf_engine_cfg cfg = {
		.window = WINDOW,
		.horizon = 20 * WINDOW,
		.threads = threads,
		.shards = shards,
		.max_memory = limit,
		.mem = wf_mem_heap(),
	};
	struct wf_engine *e = NULL;

	assert_int_equal(wf_engine_create(&cfg, &e), 0);
	return e;
}

/* Every object has memory of its own, wherever it was given back. */
static void test_numbers(void **state)
{
	enum { N = 5000, SHARDS = 256 };
	static uint32_t number[N];
	struct wf_engine *e = make_engine(1, SHARDS, 0);
	struct wf_store *s = NULL;

	(void)state;
	assert_int_equal(wf_store_create(e, OBJECT, &s), 0);
	for (unsigned i = 0; i < N; i++) {
		number[i] = wf_store_get(s, i % 3 == 0 ? SHARDS - 1 : 0);
		assert_int_not_equal(number[i], 0);
		((uint64_t *)wf_store_at(s, number[i]))[OBJECT / 8 - 1] = i;
		((uint64_t *)wf_store_at(s, number[i]))[0] = ~(uint64_t)i;
	}
	assert_int_equal(wf_store_in_use(s), N);
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(((uint64_t *)wf_store_at(s, number[i]))[OBJECT / 8 - 1], i);
		assert_true(((uint64_t *)wf_store_at(s, number[i]))[0] == ~(uint64_t)i);
		wf_store_put(s, i % SHARDS, number[i]);
	}
	assert_int_equal(wf_store_in_use(s), 0);
	/* All are back with their owners, who need no more. */
	for (unsigned i = 0; i < N; i++)
		number[i] = wf_store_get(s, i % 3 == 0 ? SHARDS - 1 : 0);
	assert_int_equal(wf_store_made(s), N);
	wf_engine_destroy(e);
}

/* Memory that ends is said once, and ends the run. */
static void test_no_memory(void **state)
{
	struct wf_engine *e = make_engine(1, 1, 200000);
	struct wf_store *s = NULL;
	unsigned n = 0;

	(void)state;
	assert_int_equal(wf_store_create(e, OBJECT, &s), 0);
	while (wf_store_get(s, 0) != 0)
		n++;
	assert_in_range(n, 500, 3000);
	assert_int_equal(wf_store_in_use(s), n);
	assert_true(wf_engine_out_of_memory(e));
	assert_int_equal(wf_engine_run(e, WF_S, NULL, NULL), -ENOMEM);
	wf_engine_destroy(e);
}

/* A node that sends objects to another one, which looks at them and gives them back. */
#define PER_TURN 5
#define TURNS 200

struct end {
	struct wf_node node;
	struct wf_link out;
	struct wf_store *store;
	unsigned shard, turns;
	uint64_t sent, taken;
};

static struct end *to_end(struct wf_node *node)
{
	return wf_container_of(node, struct end, node);
}

static void end_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct end *e = to_end(node);

	for (unsigned i = 0; i < PER_TURN; i++) {
		uint32_t number = wf_store_get(e->store, e->shard);

		assert_int_not_equal(number, 0);
		*(uint64_t *)wf_store_at(e->store, number) = e->sent++;
		wf_link_slot(&e->out, node->shard)->body[0] = number;
		wf_link_commit(&e->out, node->shard, now + 10 * WINDOW + i);
	}
	if (++e->turns < TURNS)
		wf_timer_set(node, slot, now + WINDOW);
}

static void end_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct end *e = to_end(node);
	uint32_t number = (uint32_t)cell->body[0];

	(void)input;
	(void)now;
	assert_int_equal(*(uint64_t *)wf_store_at(e->store, number), e->taken++);
	wf_store_put(e->store, e->shard, number);
}

static void end_warm(const struct wf_node *node, unsigned input)
{
	(void)node;
	(void)input;
}

static const struct wf_node_ops end_ops = { "end", false, end_rx, end_timer, end_warm };

/* All the traffic goes one way round; objects are as many as are under way, not as were sent. */
static void test_give_back(void **state)
{
	static const unsigned kinds[][2] = { { 1, 1 }, { 1, 8 }, { 2, 8 }, { 4, 16 } };
	enum { NODES = 400 }; /* so many that threads share the work of a window */

	(void)state;
	for (size_t k = 0; k < WF_ARRAY_SIZE(kinds); k++) {
		unsigned shards = kinds[k][1];
		struct wf_engine *e = make_engine(kinds[k][0], shards, 0);
		struct end *end[NODES];
		struct wf_store *s = NULL;

		assert_int_equal(wf_store_create(e, OBJECT, &s), 0);
		for (unsigned i = 0; i < NODES; i++) {
			end[i] = to_end(wf_engine_add_node(wf_engine_shard(e, i % shards), &end_ops,
			                                   sizeof(struct end), 1, 1));
			end[i]->store = s;
			end[i]->shard = i % shards;
			wf_timer_set(&end[i]->node, 0, 10 * i);
		}
		for (unsigned i = 0; i < NODES; i++)
			assert_int_equal(wf_link_connect(&end[i]->out, &end[i]->node,
			                                 &end[(i + 1) % NODES]->node, 0),
			                 0);
		assert_int_equal(wf_engine_run(e, WF_S, NULL, NULL), 0);
		for (unsigned i = 0; i < NODES; i++)
			assert_int_equal(end[i]->taken, TURNS * PER_TURN);
		assert_int_equal(wf_store_in_use(s), 0);
		/* 10 windows and what is taken before the first comes back. */
		assert_in_range(wf_store_made(s), NODES * PER_TURN * 10, NODES * PER_TURN * 13);
		wf_engine_destroy(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_give_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
