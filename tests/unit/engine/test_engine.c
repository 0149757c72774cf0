/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of engine/: order of events, timers, windows, global functions, threads. */
#include "check.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "engine/cells.h"
#include "engine/engine.h"
#include "engine/engine_priv.h"
#include "engine/order.h"
#include "mem_fail.h"

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
	wf_time chain; /* timer 0 sets timer 1 this much later */
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
	struct probe *p = to_probe(node);

	note(p, now, 100 + slot, 0);
	if (slot == 0 && p->chain != 0)
		wf_timer_set(node, 1, now + p->chain);
}

static void probe_warm(const struct wf_node *node, unsigned input)
{
	(void)node;
	(void)input;
}

static const struct wf_node_ops probe_ops = { "probe", false, probe_rx, probe_timer, probe_warm };

static struct wf_engine *make_engine(wf_time window, wf_time horizon)
{
	struct wf_engine_cfg cfg = {
		.window = window,
		.horizon = horizon,
		.threads = 1,
		.shards = 1,
		.mem = wf_mem_heap(),
	};
	struct wf_engine *e = NULL;

	assert_int_equal(wf_engine_create(&cfg, &e), 0);
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

static const struct wf_engine_order_ops no_order = { .timer_size = 0 };

/* Wheels of 2^20 windows for 256 shards would take a terabyte: eight shards take one gigabyte. */
static void test_fit(void **state)
{
	struct wf_engine_cfg cfg = {
		.window = 1, .horizon = 1000000, .threads = 64, .shards = 256
	};

	(void)state;
	wf_engine_fit(&cfg);
	assert_int_equal(cfg.shards, 8);
	assert_int_equal(cfg.threads, 8);
	cfg = (struct wf_engine_cfg){
		.window = 700000, .horizon = 40000000, .threads = 64, .shards = 256
	};
	wf_engine_fit(&cfg);
	assert_int_equal(cfg.shards, 256);
	assert_int_equal(cfg.threads, 64);
}

static void test_bad_config(void **state)
{
	struct wf_engine_cfg cfg = { .window = 10, .horizon = 100, .threads = 1, .shards = 1 };
	struct wf_engine *e = NULL;

	(void)state;
	cfg.mem = wf_mem_heap();
	cfg.window = 0;
	assert_int_equal(wf_engine_create(&cfg, &e), -EINVAL);
	cfg.window = 200;
	assert_int_equal(wf_engine_create(&cfg, &e), -EINVAL);
	cfg.window = 1;
	cfg.horizon = INT64_C(1) << 40;
	assert_int_equal(wf_engine_create(&cfg, &e), -ERANGE);
	cfg.horizon = 100;
	cfg.threads = WF_ENGINE_MAX_THREADS + 1;
	assert_int_equal(wf_engine_create(&cfg, &e), -EINVAL);
	cfg.threads = 2;
	assert_int_equal(wf_engine_create(&cfg, &e), -EINVAL);
	cfg.shards = 2;
	cfg.order = &no_order;
	assert_int_equal(wf_engine_create(&cfg, &e), -EINVAL);
	assert_null(e);
}

/* Cells of several inputs and timers come in the order (time, input, timer), over chunk borders. */
static void test_merge_order(void **state)
{
	struct wf_engine *e = make_engine(1000, 100000);
	struct probe *src = make_probe(e, 0, 0), *dst = make_probe(e, 4, 2);
	unsigned k = 0;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(wf_link_connect(&src->out[i], &src->node, &dst->node, i), 0);
	/* Input i gets a cell every i + 1 time units. */
	for (unsigned i = 0; i < 4; i++) {
		for (unsigned n = 0; n < 100; n++)
			push(src, i, n, 1000 + (wf_time)n * (i + 1));
	}
	wf_timer_set(&dst->node, 1, 1050);
	wf_timer_set(&dst->node, 0, 1050);
	assert_int_equal(wf_engine_run(e, WF_S, NULL, NULL), 0);

	assert_int_equal(dst->n, 402);
	for (wf_time t = 1000; t < 1400; t++) {
		for (unsigned i = 0; i < 4; i++) {
			if ((t - 1000) % (i + 1) != 0 || (t - 1000) / (i + 1) >= 100)
				continue;
			assert_int_equal(dst->log[k].at, t);
			assert_int_equal(dst->log[k].what, i);
			assert_int_equal(dst->log[k++].value, (t - 1000) / (i + 1));
		}
		for (unsigned i = 0; i < 2 && t == 1050; i++)
			assert_int_equal(dst->log[k++].what, 100 + i);
	}
	wf_engine_destroy(e);
}

/* A timer set anew replaces the old one; a cleared one is not heard of. */
static void test_timer_set_and_clear(void **state)
{
	struct wf_engine *e = make_engine(1000, 1000);
	struct probe *p = make_probe(e, 0, 3);

	(void)state;
	wf_timer_set(&p->node, 0, 500);
	wf_timer_set(&p->node, 0, 700);
	wf_timer_set(&p->node, 1, 600);
	wf_timer_clear(&p->node, 1);
	wf_timer_set(&p->node, 2, 800);
	wf_timer_set(&p->node, 2, 100);
	assert_true(wf_timer_is_set(&p->node, 0));
	assert_false(wf_timer_is_set(&p->node, 1));
	assert_int_equal(wf_engine_run(e, WF_S, NULL, NULL), 0);
	assert_int_equal(p->n, 2);
	assert_int_equal(p->log[0].at, 100);
	assert_int_equal(p->log[0].what, 102);
	assert_int_equal(p->log[1].at, 700);
	assert_false(wf_timer_is_set(&p->node, 0));
	wf_engine_destroy(e);
}

/* A timer may be due in the window it is set in, in the next, or far beyond the wheel. */
static void test_timer_distances(void **state)
{
	static const wf_time chain[] = { 0, 1, 999, 1000, 63999, 64000, 64001, 1000000, WF_S };

	(void)state;
	for (size_t i = 1; i < WF_ARRAY_SIZE(chain); i++) {
		struct wf_engine *e = make_engine(1000, 1000);
		struct probe *p = make_probe(e, 0, 2);

		p->chain = chain[i];
		wf_timer_set(&p->node, 0, 5 * WF_S + 123);
		assert_int_equal(wf_engine_run(e, 100 * WF_S, NULL, NULL), 0);
		assert_int_equal(p->n, 2);
		assert_int_equal(p->log[0].at, 5 * WF_S + 123);
		assert_int_equal(p->log[1].at, 5 * WF_S + 123 + chain[i]);
		/* Windows without events were not run. */
		assert_true(wf_engine_windows(e) <= 3);
		wf_engine_destroy(e);
	}
}

struct global {
	struct wf_engine *engine;
	struct probe *probe;
	unsigned calls;
	wf_time at[8];
	unsigned seen[8]; /* how much the probe had logged */
};

static void on_global(void *arg, wf_time now)
{
	struct global *g = arg;

	g->at[g->calls] = now;
	g->seen[g->calls++] = g->probe->n;
	if (g->calls == 1) {
		wf_timer_set(&g->probe->node, 1, now); /* due at once */
		assert_int_equal(wf_engine_at(g->engine, now + 10, on_global, g), 0);
	}
}

/* Global functions run between events, in order, in the middle of a window too. */
static void test_global_functions(void **state)
{
	struct wf_engine *e = make_engine(1000, 10000);
	struct probe *src = make_probe(e, 0, 0), *dst = make_probe(e, 1, 2);
	struct global g = { .engine = e, .probe = dst };

	(void)state;
	assert_int_equal(wf_link_connect(&src->out[0], &src->node, &dst->node, 0), 0);
	for (unsigned i = 0; i < 10; i++)
		push(src, 0, i, 2000 + 100 * (wf_time)i);
	wf_timer_set(&dst->node, 0, 2450);
	assert_int_equal(wf_engine_at(e, 9000, on_global, &g), 0);
	assert_int_equal(wf_engine_at(e, 2400, on_global, &g), 0);
	assert_int_equal(wf_engine_run(e, WF_S, NULL, NULL), 0);

	assert_int_equal(g.calls, 3);
	assert_int_equal(g.at[0], 2400);
	assert_int_equal(g.seen[0], 4); /* 2000 .. 2300 */
	assert_int_equal(g.at[1], 2410);
	assert_int_equal(g.seen[1], 6); /* and 2400, and the timer it set */
	assert_int_equal(g.at[2], 9000);
	assert_int_equal(dst->n, 12);
	for (unsigned i = 1; i < dst->n; i++)
		assert_true(dst->log[i - 1].at <= dst->log[i].at);
	wf_engine_destroy(e);
}

/* A run that ends early can be taken up again where it stopped. */
static void test_until_and_resume(void **state)
{
	struct wf_engine *e = make_engine(1000, 10000);
	struct probe *src = make_probe(e, 0, 0), *dst = make_probe(e, 1, 0);

	(void)state;
	assert_int_equal(wf_link_connect(&src->out[0], &src->node, &dst->node, 0), 0);
	for (unsigned i = 0; i < 10; i++)
		push(src, 0, i, 2000 + 100 * (wf_time)i);
	assert_int_equal(wf_engine_run(e, 2500, NULL, NULL), 0);
	assert_int_equal(dst->n, 5);
	assert_int_equal(wf_engine_run(e, 2501, NULL, NULL), 0);
	assert_int_equal(dst->n, 6);
	assert_int_equal(wf_engine_run(e, WF_S, NULL, NULL), 0);
	assert_int_equal(dst->n, 10);
	wf_engine_destroy(e);
}

static bool stop_at_once(void *arg, wf_time now)
{
	wf_time *end = arg;

	*end = now;
	return false;
}

static void test_hook_ends_run(void **state)
{
	struct wf_engine *e = make_engine(1000, 1000);
	struct probe *p = make_probe(e, 0, 2);
	wf_time end = 0;

	(void)state;
	wf_timer_set(&p->node, 0, 1500);
	wf_timer_set(&p->node, 1, 2500);
	assert_int_equal(wf_engine_run(e, WF_S, stop_at_once, &end), 0);
	assert_int_equal(p->n, 1);
	assert_int_equal(end, 2000);
	wf_engine_destroy(e);
}

/* A node that sends a cell to a late one every 70, which takes it 100: a tenth of a window. */
static void feeder_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct probe *p = to_probe(node);

	push(p, 0, (uint64_t)now, now + 100);
	if (now < 5000)
		wf_timer_set(node, slot, now + 70);
}

static const struct wf_node_ops feeder_ops = { "feeder", false, probe_rx, feeder_timer,
	                                       probe_warm };
static const struct wf_node_ops late_ops = { "late", true, probe_rx, probe_timer, probe_warm };

/* A late node hears in a window what was sent in it, however the window is cut up. */
static void test_late_nodes(void **state)
{
	static const wf_time steps[] = { 1000000, 1000, 130, 37 };

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(steps); i++) {
		struct wf_engine *e = make_engine(1000, 2000);
		struct wf_shard *shard = wf_engine_shard(e, 0);
		/* The late one comes first in memory: that must not matter. */
		struct probe *late =
			to_probe(wf_engine_add_node(shard, &late_ops, sizeof(struct probe), 1, 1));
		struct probe *feeder = to_probe(
			wf_engine_add_node(shard, &feeder_ops, sizeof(struct probe), 0, 1));

		assert_int_equal(wf_link_connect(&feeder->out[0], &feeder->node, &late->node, 0),
		                 0);
		wf_timer_set(&feeder->node, 0, 10);
		for (wf_time t = 0; t < 10000; t += steps[i]) {
			assert_int_equal(wf_engine_run(e, t + steps[i], NULL, NULL), 0);
			assert_true(late->n == 0 || late->log[late->n - 1].at < t + steps[i]);
		}
		assert_int_equal(late->n, 73);
		for (unsigned k = 0; k < late->n; k++)
			assert_int_equal(late->log[k].at, 110 + 70 * (wf_time)k);
		wf_engine_destroy(e);
	}
}

/* Many nodes that pass cells on at random: the same on any number of threads and shards. */
#define RING_NODES 200
#define RING_LINKS 4
#define RING_WINDOW 1000

struct walker {
	struct wf_node node;
	struct wf_link out[RING_LINKS];
	uint64_t sum; /* of all that happened, in order */
	uint64_t key, count;
};

static void walk(struct walker *w, uint64_t value, wf_time now)
{
	uint64_t r = wf_rand64(w->key, w->count++);
	unsigned out = wf_rand_below(r, RING_LINKS);

	w->sum = wf_mix64(w->sum ^ (uint64_t)now ^ value);
	if (value == 0)
		return;
	wf_link_slot(&w->out[out], w->node.shard)->body[0] = value - 1;
	/* Constant, so that times on a link never go back. */
	wf_link_commit(&w->out[out], w->node.shard, now + RING_WINDOW + 50 * out);
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

	w->sum = wf_mix64(w->sum + (uint64_t)now + slot);
}

static const struct wf_node_ops walker_ops = { "walker", false, walker_rx, walker_timer,
	                                       probe_warm };

static uint64_t run_walkers(unsigned threads, unsigned shards)
{
	struct wf_engine_cfg cfg = {
		.window = RING_WINDOW,
		.horizon = 4 * RING_WINDOW,
		.threads = threads,
		.shards = shards,
		.mem = wf_mem_heap(),
	};
	static struct walker *w[RING_NODES];
	struct wf_engine *e = NULL;
	uint64_t sum = 0;

	assert_int_equal(wf_engine_create(&cfg, &e), 0);
	for (unsigned i = 0; i < RING_NODES; i++) {
		struct wf_node *n =
			wf_engine_add_node(wf_engine_shard(e, i * shards / RING_NODES), &walker_ops,
		                           sizeof(struct walker), RING_LINKS, 1);

		assert_non_null(n);
		w[i] = wf_container_of(n, struct walker, node);
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
			wf_link_commit(&w[i]->out[k], w[i]->node.shard, RING_WINDOW + i);
		}
	}
	assert_int_equal(wf_engine_run(e, WF_S, NULL, NULL), 0);
	assert_true(wf_engine_events(e) >= RING_NODES * RING_LINKS * 301);
	for (unsigned i = 0; i < RING_NODES; i++)
		sum = wf_mix64(sum ^ w[i]->sum);
	wf_engine_destroy(e);
	return sum;
}

static void test_same_on_any_number_of_threads(void **state)
{
	uint64_t want = run_walkers(1, 1);

	(void)state;
	assert_int_equal(run_walkers(1, 1), want);
	assert_int_equal(run_walkers(1, 7), want);
	assert_int_equal(run_walkers(2, 8), want);
	assert_int_equal(run_walkers(3, 12), want);
	assert_int_equal(run_walkers(4, 4), want);
}

/* The engine's time, as its users see it. */
struct clock {
	struct wf_engine *engine;
	struct probe *probe;
	unsigned hooks, calls;
	wf_time at[16];
};

static bool see_time(void *arg, wf_time now)
{
	struct clock *c = arg;

	assert_int_equal(now, wf_engine_now(c->engine));
	assert_true(c->hooks == 0 || now >= c->at[c->hooks - 1]);
	assert_true(c->hooks < WF_ARRAY_SIZE(c->at));
	c->at[c->hooks++] = now;
	return true;
}

static void see_call(void *arg, wf_time now)
{
	struct clock *c = arg;

	assert_int_equal(now, wf_engine_now(c->engine));
	c->calls++;
}

/* Windows and functions move the time alike, and the hook sees both; it never goes back. */
static void test_now(void **state)
{
	struct wf_engine *e = make_engine(1000, 10000);
	struct clock c = { .engine = e, .probe = make_probe(e, 0, 1) };

	(void)state;
	assert_int_equal(wf_engine_now(e), 0);
	wf_timer_set(&c.probe->node, 0, 2500);
	assert_int_equal(wf_engine_at(e, 2600, see_call, &c), 0);
	assert_int_equal(wf_engine_at(e, 77777, see_call, &c), 0);
	assert_int_equal(wf_engine_run(e, 50000, see_time, &c), 0);
	assert_int_equal(c.calls, 1);
	assert_int_equal(wf_engine_now(e), 2600);
	assert_int_equal(wf_engine_run(e, WF_TIME_NEVER, see_time, &c), 0);
	assert_int_equal(c.calls, 2);
	assert_int_equal(c.hooks, 3);
	assert_int_equal(c.at[0], 2600); /* the window, as far as it was run */
	assert_int_equal(c.at[1], 2600); /* the function */
	assert_int_equal(c.at[2], 77777);
	assert_int_equal(wf_engine_now(e), 77777);
	/* A run to a time that is over, and a function for one. */
	assert_int_equal(wf_engine_at(e, 10, see_call, &c), 0);
	assert_int_equal(wf_engine_run(e, 20, see_time, &c), 0);
	assert_int_equal(c.calls, 2);
	assert_int_equal(wf_engine_run(e, WF_TIME_NEVER, see_time, &c), 0);
	assert_int_equal(c.calls, 3);
	assert_int_equal(wf_engine_now(e), 77777);
	wf_engine_destroy(e);
}

/* Time passes without events, but not past one. */
static void test_rest(void **state)
{
	struct wf_engine *e = make_engine(1000, 10000);
	struct probe *p = make_probe(e, 0, 2);

	(void)state;
	wf_engine_rest(e, 123456789);
	assert_int_equal(wf_engine_now(e), 123456789);
	wf_engine_rest(e, 5);
	assert_int_equal(wf_engine_now(e), 123456789);
	wf_timer_set(&p->node, 0, 123459000);
	wf_engine_rest(e, 200000000);
	assert_int_equal(wf_engine_now(e), 123459000);
	assert_int_equal(wf_engine_run(e, WF_TIME_NEVER, NULL, NULL), 0);
	assert_int_equal(p->n, 1);
	assert_int_equal(p->log[0].at, 123459000);
	wf_engine_destroy(e);
}

/* What is asked for from outside for a time that is over is due now, in every kind of standing. */
static void test_timer_in_the_past(void **state)
{
	static const wf_time ends[] = { 2000, 2100, 2999, 100000, 5 * WF_S };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(ends); i++) {
		struct wf_engine *e = make_engine(1000, 10000);
		struct probe *p = make_probe(e, 0, 3);
		struct clock c = { .engine = e, .probe = p };

		wf_timer_set(&p->node, 0, 1500);
		wf_timer_set(&p->node, 1, 2050);
		if (i % 2 == 0)
			assert_int_equal(wf_engine_at(e, ends[i] - 1, see_call, &c), 0);
		assert_int_equal(wf_engine_run(e, ends[i], NULL, NULL), 0);
		wf_engine_rest(e, ends[i]);
		p->n = 0;
		wf_timer_clear(&p->node, 1);
		wf_timer_set(&p->node, 0, 0);
		wf_timer_set(&p->node, 2, wf_engine_now(e) - 1);
		assert_int_equal(wf_engine_run(e, WF_TIME_NEVER, NULL, NULL), 0);
		assert_int_equal(p->n, 2);
		assert_int_equal(p->log[0].at, ends[i]);
		assert_int_equal(p->log[0].what, 100);
		assert_int_equal(p->log[1].at, ends[i]);
		assert_int_equal(p->log[1].what, 102);
		wf_engine_destroy(e);
	}
}

static void send_between(void *arg, wf_time now)
{
	struct probe *p = arg;

	push(p, 0, (uint64_t)now, now + 100);
	wf_timer_set(&p->node, 0, now + 50);
}

/*
 * What a function sends between windows to a late node is not written over by what the sender sends
 * in the window after it, although the last one that it ran is long over.
 */
static void test_send_between_windows(void **state)
{
	struct wf_engine *e = make_engine(1000, 2000);
	struct wf_shard *shard = wf_engine_shard(e, 0);
	struct probe *late =
		to_probe(wf_engine_add_node(shard, &late_ops, sizeof(struct probe), 1, 1));
	struct probe *feeder =
		to_probe(wf_engine_add_node(shard, &feeder_ops, sizeof(struct probe), 0, 1));
	static const wf_time at[] = { 100, 6300, 6350, 6370, 6420, 9300, 9350 };

	(void)state;
	assert_int_equal(wf_link_connect(&feeder->out[0], &feeder->node, &late->node, 0), 0);
	push(feeder, 0, 0, 100);
	assert_int_equal(wf_engine_at(e, 6200, send_between, feeder), 0);
	assert_int_equal(wf_engine_at(e, 6270, send_between, feeder), 0);
	assert_int_equal(wf_engine_at(e, 9200, send_between, feeder), 0);
	assert_int_equal(wf_engine_run(e, WF_TIME_NEVER, NULL, NULL), 0);
	assert_int_equal(late->n, WF_ARRAY_SIZE(at));
	for (unsigned i = 0; i < late->n; i++) {
		assert_int_equal(late->log[i].at, at[i]);
		assert_int_equal(late->log[i].value, at[i] - 100);
	}
	wf_engine_destroy(e);
}

/* ---- memory that runs out ---- */

#define CROWD 40

/* Sends many cells at once, to a late node sooner than a window, to another one far later. */
struct sender {
	struct wf_node node;
	struct wf_link out[2];
	unsigned rounds;
	uint64_t sent, taken; /* cells, by one link and from one input */
};

static void sender_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct sender *s = wf_container_of(node, struct sender, node);

	for (unsigned i = 0; i < CROWD; i++, s->sent++) {
		for (unsigned j = 0; j < 2; j++) {
			unsigned k = (s->rounds + j) % 2;

			wf_link_slot(&s->out[k], node->shard)->body[0] = 2 * s->sent + k;
			wf_link_commit(&s->out[k], node->shard,
			               now + (k == 0 ? 10 : 60000) + (wf_time)i);
		}
	}
	if (++s->rounds < 50)
		wf_timer_set(node, slot, now + 700 + 100000 * (s->rounds % 16 == 0));
}

/* Every cell comes, in its order, by the input that it was sent to. */
static void sender_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct sender *s = wf_container_of(node, struct sender, node);

	(void)input;
	assert_int_equal(cell->body[0], 2 * s->taken++ + !node->ops->late);
	assert_int_equal(cell->at, now);
}

static const struct wf_node_ops sender_ops = { "sender", false, sender_rx, sender_timer,
	                                       probe_warm };
static const struct wf_node_ops taker_ops = { "taker", true, sender_rx, probe_timer, probe_warm };

static int crowd_build(struct wf_engine *e, unsigned n, unsigned shards)
{
	struct wf_node *sender[CROWD], *taker[CROWD];

	for (unsigned i = 0; i < n; i++) {
		struct wf_shard *shard = wf_engine_shard(e, i * shards / n);

		sender[i] = wf_engine_add_node(shard, &sender_ops, sizeof(struct sender), 1, 1);
		taker[i] = wf_engine_add_node(shard, &taker_ops, sizeof(struct sender), 1, 0);
		if (sender[i] == NULL || taker[i] == NULL)
			return -ENOMEM;
	}
	for (unsigned i = 0; i < n; i++) {
		struct sender *s = wf_container_of(sender[i], struct sender, node);

		if (wf_link_connect(&s->out[0], sender[i], taker[(i + 7) % n], 0) != 0 ||
		    wf_link_connect(&s->out[1], sender[i], sender[(i + 11) % n], 0) != 0)
			return -ENOMEM;
		wf_timer_set(sender[i], 0, 5 + i);
	}
	return 0;
}

static void crowd_call(void *arg, wf_time now)
{
	unsigned *calls = arg;

	(void)now;
	++*calls;
}

/* Returns what building or running it said. */
static int crowd_run(struct wf_mem *mem, unsigned threads, unsigned shards, size_t limit)
{
	struct wf_engine_cfg cfg = {
		.window = 1000,
		.horizon = 70000,
		.threads = threads,
		.shards = shards,
		.max_memory = limit,
		.mem = mem,
	};
	struct wf_engine *e = NULL;
	unsigned calls = 0;
	int ret = wf_engine_create(&cfg, &e);

	if (ret != 0)
		return ret;
	ret = crowd_build(e, CROWD, shards);
	for (wf_time t = 1500; t < 40000 && ret == 0; t += 1700)
		ret = wf_engine_at(e, t, crowd_call, &calls);
	if (ret == 0) {
		ret = wf_engine_run(e, WF_S, NULL, NULL);
		assert_int_equal(ret != 0, wf_engine_out_of_memory(e));
		if (ret != 0)
			assert_int_equal(wf_engine_run(e, WF_S, NULL, NULL), -ENOMEM);
	}
	wf_engine_destroy(e);
	return ret;
}

/*
 * Whenever memory ends, while building, in the one half of a window or the other, the run ends with
 * -ENOMEM, and until then every node gets what was sent to it.
 */
static void test_out_of_memory(void **state)
{
	static const unsigned kinds[][2] = { { 1, 1 }, { 1, 5 }, { 2, 8 } };

	(void)state;
	for (size_t k = 0; k < WF_ARRAY_SIZE(kinds); k++) {
		unsigned failed = 0, went = 0;

		for (size_t limit = 64; limit < (size_t)8 << 20;
		     limit += check_step(8) * (8192 / kinds[k][1] + limit / 64)) {
			int ret = crowd_run(wf_mem_heap(), kinds[k][0], kinds[k][1], limit);

			assert_true(ret == 0 || ret == -ENOMEM);
			failed += ret != 0;
			went += ret == 0;
		}
		assert_true(failed > 50 / check_step(8) && went > 0);
	}
}

/* Sends until there is no more memory, in one event. */
static void glutton_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct probe *p = to_probe(node);

	note(p, now, 100 + slot, 0);
	for (unsigned i = 0; i < 1000000 && !node->shard->priv->no_memory; i++)
		push(p, 0, i, now + 1500);
	assert_true(node->shard->priv->no_memory);
}

static const struct wf_node_ops glutton_ops = { "glutton", false, probe_rx, glutton_timer,
	                                        probe_warm };

/*
 * Memory ends in the first half of a window: its late nodes are not run any more, in the same shard
 * or in another, for they might miss what was sent to them.
 */
static void test_out_of_memory_between_halves(void **state)
{
	(void)state;
	for (unsigned shards = 1; shards <= 2; shards++) {
		struct wf_engine_cfg cfg = {
			.window = 1000,
			.horizon = 2000,
			.threads = 1,
			.shards = shards,
			.max_memory = (size_t)2 << 20,
			.mem = wf_mem_heap(),
		};
		struct wf_engine *e = NULL;
		struct wf_node *sink, *late, *node;
		struct probe *glutton;

		assert_int_equal(wf_engine_create(&cfg, &e), 0);
		sink = wf_engine_add_node(wf_engine_shard(e, 0), &probe_ops, sizeof(struct probe),
		                          1, 1);
		node = wf_engine_add_node(wf_engine_shard(e, 0), &glutton_ops, sizeof(struct probe),
		                          0, 1);
		late = wf_engine_add_node(wf_engine_shard(e, shards - 1), &late_ops,
		                          sizeof(struct probe), 0, 2);
		assert_true(sink != NULL && node != NULL && late != NULL);
		glutton = to_probe(node);
		assert_int_equal(wf_link_connect(&glutton->out[0], node, sink, 0), 0);
		wf_timer_set(late, 0, 500);
		wf_timer_set(late, 1, 1200);
		wf_timer_set(node, 0, 1100);
		assert_int_equal(wf_engine_run(e, WF_S, NULL, NULL), -ENOMEM);
		assert_int_equal(glutton->n, 1);
		/* It ran in the window before, and would have been next in this one. */
		assert_int_equal(to_probe(late)->n, 1);
		assert_int_equal(to_probe(late)->log[0].at, 500);
		wf_engine_destroy(e);
	}
}

/* The same with the engine's own tables. */
static void test_out_of_heap(void **state)
{
	long n = 0;

	(void)state;
	for (;; n++) {
		struct mem_fail fail = mem_fail_after(n);
		int ret = crowd_run(&fail.mem, 1, 1, 0);

		assert_int_equal(fail.held, 0);
		if (ret == 0)
			break;
		assert_int_equal(ret, -ENOMEM);
	}
	assert_true(n >= 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_config),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_merge_order),
		cmocka_unit_test(test_timer_set_and_clear),
		cmocka_unit_test(test_timer_distances),
		cmocka_unit_test(test_global_functions),
		cmocka_unit_test(test_until_and_resume),
		cmocka_unit_test(test_hook_ends_run),
		cmocka_unit_test(test_late_nodes),
		cmocka_unit_test(test_same_on_any_number_of_threads),
		cmocka_unit_test(test_now),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_timer_in_the_past),
		cmocka_unit_test(test_send_between_windows),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_out_of_memory_between_halves),
		cmocka_unit_test(test_out_of_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
