/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of ns3/order: what is due runs by time, then in the order of asking. */
#include "check.h"

#include "base/rng.h"
#include "engine/cells.h"
#include "ns3/order.h"

#define LOG_MAX 4096

/* A node that writes down what happens to it. */
struct probe {
	struct wf_node node;
	struct wf_link out[4];
	unsigned n;
	struct {
		wf_time at;
		unsigned what; /* input, or 100 + timer */
		uint64_t value;
	} log[LOG_MAX];
};

static struct probe *to_probe(struct wf_node *node)
{
	return wf_container_of(node, struct probe, node);
}

static void note(struct probe *p, wf_time at, unsigned what, uint64_t value)
{
	assert_true(p->n < LOG_MAX);
	p->log[p->n].at = at;
	p->log[p->n].what = what;
	p->log[p->n++].value = value;
}

static void probe_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	note(to_probe(node), now, input, cell->body[0]);
}

static void probe_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	note(to_probe(node), now, 100 + slot, 0);
}

static void probe_warm(const struct wf_node *node, unsigned input)
{
	(void)node;
	(void)input;
}

static const struct wf_node_ops probe_ops = { "probe", false, probe_rx, probe_timer, probe_warm };

static struct wf_ns3_order order;

static struct wf_engine *make_ordered(wf_time tick, wf_time horizon)
{
	struct wf_engine_cfg cfg = {
		.window = tick,
		.horizon = horizon,
		.threads = 1,
		.shards = 1,
		.order = &wf_ns3_order_ops,
		.order_arg = &order,
		.mem = wf_mem_heap(),
	};
	struct wf_engine *e = NULL;

	assert_int_equal(wf_engine_create(&cfg, &e), 0);
	assert_int_equal(wf_ns3_order_init(&order, wf_engine_shard(e, 0), tick, horizon), 0);
	return e;
}

static struct probe *make_probe(struct wf_engine *e, unsigned n_in, unsigned n_timers)
{
	struct wf_node *n = wf_engine_add_node(wf_engine_shard(e, 0), &probe_ops,
	                                       sizeof(struct probe), n_in, n_timers);

	assert_non_null(n);
	return to_probe(n);
}

static void push(struct probe *p, unsigned out, uint64_t value, wf_time at)
{
	wf_link_slot(&p->out[out], p->node.shard)->body[0] = value;
	wf_link_commit(&p->out[out], p->node.shard, at);
}

/*
 * What is due at the same time comes in the order in which it was asked for, whatever it is and
 * however far away it was then. Input i and timer i are asked for in turns, some before and some
 * after the time has a list of its own.
 */
static void test_order_of_asking(void **state)
{
	static const wf_time ats[] = { 0, 10, 630, 640, 5000, 1000000, 123456780 };
	struct wf_engine *e = make_ordered(10, 100);
	struct probe *src = make_probe(e, 0, 0), *dst = make_probe(e, 4, 4);
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(wf_link_connect(&src->out[i], &src->node, &dst->node, i), 0);
	for (unsigned k = 0; k < WF_ARRAY_SIZE(ats); k++) {
		for (unsigned i = 4; i-- > 0;) {
			push(src, i, k, ats[k]);
			wf_timer_set(&dst->node, i, ats[k]);
		}
		/* Set for that time already, and set for another in between. */
		wf_timer_set(&dst->node, 3, ats[k]);
		wf_timer_set(&dst->node, 2, ats[k] + 10);
		wf_timer_set(&dst->node, 2, ats[k]);
		assert_int_equal(wf_engine_run(e, ats[k] + 1, NULL, NULL), 0);
		assert_int_equal(dst->n, n + 8);
		for (unsigned i = 0; i < 8; i++)
			assert_int_equal(dst->log[n + i].at, ats[k]);
		assert_int_equal(dst->log[n].what, 3);
		assert_int_equal(dst->log[n + 1].what, 103);
		assert_int_equal(dst->log[n + 2].what, 2);
		assert_int_equal(dst->log[n + 3].what, 1);
		assert_int_equal(dst->log[n + 4].what, 101);
		assert_int_equal(dst->log[n + 5].what, 0);
		assert_int_equal(dst->log[n + 6].what, 100);
		assert_int_equal(dst->log[n + 7].what, 102);
		n += 8;
	}
	wf_engine_destroy(e);
}

/* A far event asked for first comes before a near one, and zero delays come last. */
static void test_order_far_and_near(void **state)
{
	struct wf_engine *e = make_ordered(1, 50);
	struct probe *a = make_probe(e, 1, 2), *b = make_probe(e, 1, 2);

	(void)state;
	assert_int_equal(wf_link_connect(&a->out[0], &a->node, &b->node, 0), 0);
	wf_timer_set(&b->node, 0, 1000); /* far */
	wf_timer_set(&a->node, 0, 990);  /* as far */
	assert_int_equal(wf_engine_run(e, 991, NULL, NULL), 0);
	assert_int_equal(a->n, 1);
	push(a, 0, 7, 1000); /* near, asked for later */
	wf_timer_set(&b->node, 1, 1000);
	assert_int_equal(wf_engine_next(e), 1000);
	assert_int_equal(wf_engine_run(e, 2000, NULL, NULL), 0);
	assert_int_equal(b->n, 3);
	assert_int_equal(b->log[0].what, 100);
	assert_int_equal(b->log[1].what, 0);
	assert_int_equal(b->log[1].value, 7);
	assert_int_equal(b->log[2].what, 101);
	assert_int_equal(wf_engine_next(e), WF_TIME_NEVER);
	wf_timer_set(&b->node, 0, 3000);
	wf_timer_clear(&b->node, 0);
	assert_int_equal(wf_engine_run(e, 4000, NULL, NULL), 0);
	assert_int_equal(b->n, 3);
	wf_engine_destroy(e);
}

/* Many nodes that pass cells on at random. */
#define RING_NODES 200
#define RING_LINKS 4
#define RING_DELAY 1000

struct walker {
	struct wf_node node;
	struct wf_link out[RING_LINKS];
	uint64_t sum; /* of all that happened, in order */
	uint64_t key, count;
	wf_time *last; /* of all walkers */
};

static void check_order(struct walker *w, wf_time now)
{
	assert_true(now >= *w->last);
	*w->last = now;
}

static void walk(struct walker *w, uint64_t value, wf_time now)
{
	uint64_t r = wf_rand64(w->key, w->count++);
	unsigned out = wf_rand_below(r, RING_LINKS);

	check_order(w, now);
	w->sum = wf_mix64(w->sum ^ (uint64_t)now ^ value);
	if (value == 0)
		return;
	wf_link_slot(&w->out[out], w->node.shard)->body[0] = value - 1;
	/* Constant, so that times on a link never go back. */
	wf_link_commit(&w->out[out], w->node.shard, now + RING_DELAY + 50 * out);
	if (r % 5 == 0)
		wf_timer_set(&w->node, 0, now + (wf_time)(r >> 40) % 5000);
}

static void walker_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct walker *w = wf_container_of(node, struct walker, node);

	walk(w, cell->body[0], now + 0 * input);
}

static void walker_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct walker *w = wf_container_of(node, struct walker, node);

	check_order(w, now);
	w->sum = wf_mix64(w->sum + (uint64_t)now + slot);
}

static const struct wf_node_ops walker_ops = { "walker", false, walker_rx, walker_timer,
	                                       probe_warm };

static uint64_t run_walkers(void)
{
	static struct walker *w[RING_NODES];
	struct wf_engine *e = make_ordered(1, 4 * RING_DELAY);
	uint64_t sum = 0;
	wf_time last = 0;

	for (unsigned i = 0; i < RING_NODES; i++) {
		struct wf_node *n = wf_engine_add_node(wf_engine_shard(e, 0), &walker_ops,
		                                       sizeof(struct walker), RING_LINKS, 1);

		assert_non_null(n);
		w[i] = wf_container_of(n, struct walker, node);
		w[i]->last = &last;
		w[i]->key = wf_rand_key(7, 1, i);
	}
	for (unsigned i = 0; i < RING_NODES; i++) {
		for (unsigned k = 0; k < RING_LINKS; k++) {
			struct walker *to = w[(i + 1 + k * 37) % RING_NODES];

			assert_int_equal(wf_link_connect(&w[i]->out[k], &w[i]->node, &to->node, k),
			                 0);
		}
	}
	for (unsigned i = 0; i < RING_NODES; i++) {
		for (unsigned k = 0; k < RING_LINKS; k++) {
			wf_link_slot(&w[i]->out[k], w[i]->node.shard)->body[0] = 300;
			wf_link_commit(&w[i]->out[k], w[i]->node.shard, RING_DELAY + i);
		}
	}
	assert_int_equal(wf_engine_run(e, WF_S, NULL, NULL), 0);
	assert_true(wf_engine_events(e) >= RING_NODES * RING_LINKS * 301);
	for (unsigned i = 0; i < RING_NODES; i++)
		sum = wf_mix64(sum ^ w[i]->sum);
	wf_engine_destroy(e);
	return sum;
}

/* In order of time over all nodes, and as much happens as in windows. */
static void test_in_order(void **state)
{
	(void)state;
	assert_int_equal(run_walkers(), run_walkers());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_order_of_asking),
		cmocka_unit_test(test_order_far_and_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
