/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of fabric/sched/ets.c, fabric/sched/vlarb.c and the tables of link layers and routing.
 */
#include "check.h"

#include <string.h>

#include "fabric/fabric.h"
#include "fabric/sched/sched.h"

struct rig {
	struct wf_port port;
	struct wf_lane lanes[WF_MAX_QUEUES];
	struct wf_packet head[WF_MAX_QUEUES];
	struct wf_classes classes;
};

static void rig_init(struct rig *r, unsigned n, const uint16_t *size)
{
	memset(r, 0, sizeof(*r));
	r->classes.n = n;
	r->port.lanes = r->lanes;
	for (unsigned q = 0; q < n; q++) {
		r->classes.queue[q].id = (uint8_t)q;
		r->head[q].size = size[q];
		r->lanes[q].head = &r->head[q];
	}
}

/* Bytes each queue sends of total when all in eligible always have a packet. */
static void serve(struct rig *r, const struct wf_sched_ops *ops, uint32_t eligible, uint64_t total,
                  uint64_t *bytes)
{
	uint64_t sent = 0;

	memset(bytes, 0, WF_MAX_QUEUES * sizeof(*bytes));
	while (sent < total) {
		unsigned q = ops->pick(&r->classes, &r->port, eligible);

		assert_true(eligible >> q & 1);
		bytes[q] += r->head[q].size;
		sent += r->head[q].size;
	}
}

/* Bytes go by weight, whatever the packet sizes. */
static void test_dwrr_shares(void **state)
{
	static const uint16_t size[] = { 4158, 64, 1500 };
	uint64_t bytes[WF_MAX_QUEUES];
	struct rig r;

	(void)state;
	rig_init(&r, 3, size);
	r.classes.queue[0].weight = 50;
	r.classes.queue[1].weight = 30;
	r.classes.queue[2].weight = 20;
	serve(&r, &wf_sched_ets, 7, 100000000, bytes);
	assert_in_range(bytes[0], 49900000, 50100000);
	assert_in_range(bytes[1], 29900000, 30100000);
	assert_in_range(bytes[2], 19900000, 20100000);
	/* One of them pauses: the others share in proportion. */
	serve(&r, &wf_sched_ets, 6, 50000000, bytes);
	assert_int_equal(bytes[0], 0);
	assert_in_range(bytes[1], 29900000, 30100000);
}

static void test_strict_goes_first(void **state)
{
	static const uint16_t size[] = { 1000, 1000, 1000, 1000 };
	uint64_t bytes[WF_MAX_QUEUES];
	struct rig r;

	(void)state;
	rig_init(&r, 4, size);
	r.classes.queue[0].weight = 1;
	r.classes.queue[1].weight = 1;
	r.classes.queue[2].strict = true;
	r.classes.queue[3].strict = true;
	serve(&r, &wf_sched_ets, 15, 100000, bytes);
	assert_int_equal(bytes[3], 100000);
	serve(&r, &wf_sched_ets, 7, 100000, bytes);
	assert_int_equal(bytes[2], 100000);
}

/* An idle queue comes back without having saved anything up. */
static void test_idle_queue_saves_nothing(void **state)
{
	static const uint16_t size[] = { 1000, 1000 };
	uint64_t bytes[WF_MAX_QUEUES];
	struct rig r;

	(void)state;
	rig_init(&r, 2, size);
	r.classes.queue[0].weight = 50;
	r.classes.queue[1].weight = 50;
	serve(&r, &wf_sched_ets, 3, 10000, bytes);
	r.lanes[1].head = NULL;
	for (unsigned i = 0; i < 1000; i++)
		wf_sched_ets.alone(&r.port, 0);
	r.lanes[1].head = &r.head[1];
	serve(&r, &wf_sched_ets, 3, 100000, bytes);
	assert_in_range(bytes[1], 43000, 57000);
}

/* Rig for VL arbitration: VL 0..2 and VL15 as the last queue. */
static void rig_vl(struct rig *r)
{
	static const uint16_t size[] = { 2048, 2048, 2048, 256 };

	rig_init(r, 4, size);
	r->classes.queue[3].id = 15;
	r->classes.queue[3].exempt = true;
}

static void test_vlarb_low_weights(void **state)
{
	uint64_t bytes[WF_MAX_QUEUES];
	struct rig r;

	(void)state;
	rig_vl(&r);
	r.classes.n_low = 3;
	r.classes.low[0] = (struct wf_vlarb_entry){ .queue = 0, .weight = 64 };
	r.classes.low[1] = (struct wf_vlarb_entry){ .queue = 1, .weight = 128 };
	r.classes.low[2] = (struct wf_vlarb_entry){ .queue = 2, .weight = 64 };
	serve(&r, &wf_sched_vlarb, 7, 40000000, bytes);
	assert_in_range(bytes[0], 9950000, 10050000);
	assert_in_range(bytes[1], 19950000, 20050000);
	assert_in_range(bytes[2], 9950000, 10050000);
	/* VL15 before all. */
	serve(&r, &wf_sched_vlarb, 15, 10000, bytes);
	assert_int_equal(bytes[0] + bytes[1] + bytes[2], 0);
}

/* The high table goes first, up to its limit; then one low packet. */
static void test_vlarb_high_limit(void **state)
{
	uint64_t bytes[WF_MAX_QUEUES];
	struct rig r;

	(void)state;
	rig_vl(&r);
	r.classes.n_high = 1;
	r.classes.high[0] = (struct wf_vlarb_entry){ .queue = 1, .weight = 255 };
	r.classes.n_low = 1;
	r.classes.low[0] = (struct wf_vlarb_entry){ .queue = 0, .weight = 255 };
	r.classes.high_limit = 255;
	serve(&r, &wf_sched_vlarb, 3, 1000000, bytes);
	assert_int_equal(bytes[0], 0);

	r.classes.high_limit = 0; /* one packet each in turn */
	r.port.arb.limit_left = 0;
	serve(&r, &wf_sched_vlarb, 3, 4096000, bytes);
	assert_in_range(bytes[0], 2048000 - 4096, 2048000 + 4096);

	r.classes.high_limit = 4; /* 16 KiB: eight packets and the one that crosses */
	serve(&r, &wf_sched_vlarb, 3, 20480000, bytes);
	assert_in_range(bytes[0] * 9, bytes[1] - 200000, bytes[1] + 200000);
	/* Nothing low to send: high goes on. */
	serve(&r, &wf_sched_vlarb, 2, 1000000, bytes);
	assert_true(bytes[1] >= 1000000);
}

/* A VL whose only entry has weight 0 still gets out when nothing else can. */
static void test_vlarb_zero_weight(void **state)
{
	uint64_t bytes[WF_MAX_QUEUES];
	struct rig r;

	(void)state;
	rig_vl(&r);
	r.classes.n_low = 2;
	r.classes.low[0] = (struct wf_vlarb_entry){ .queue = 0, .weight = 1 };
	r.classes.low[1] = (struct wf_vlarb_entry){ .queue = 2, .weight = 0 };
	serve(&r, &wf_sched_vlarb, 5, 100000, bytes);
	assert_int_equal(bytes[2], 0);
	serve(&r, &wf_sched_vlarb, 4, 100000, bytes);
	assert_true(bytes[2] >= 100000);
}

/* Every op of every table is set, and names are unique. */
static void test_tables_are_complete(void **state)
{
	(void)state;
	for (const struct wf_flowctl_ops *const *o = wf_flowctl_all(); *o != NULL; o++) {
		assert_ptr_equal(wf_flowctl_find((*o)->name), *o);
		assert_true((*o)->help != NULL && (*o)->start != NULL && (*o)->admit != NULL);
		assert_true((*o)->release != NULL && (*o)->pass != NULL && (*o)->ready != NULL);
		assert_true((*o)->sent != NULL && (*o)->control != NULL);
		assert_true((*o)->make_control != NULL && (*o)->timer != NULL);
		assert_true((*o)->start != NULL && (*o)->down != NULL && (*o)->divide != NULL);
	}
	for (const struct wf_route_ops *const *o = wf_route_all(); *o != NULL; o++) {
		assert_ptr_equal(wf_route_find((*o)->name), *o);
		assert_true((*o)->help != NULL && (*o)->pick != NULL);
	}
	assert_null(wf_flowctl_find("nothing"));
	assert_null(wf_route_find("nothing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dwrr_shares),
		cmocka_unit_test(test_strict_goes_first),
		cmocka_unit_test(test_idle_queue_saves_nothing),
		cmocka_unit_test(test_vlarb_low_weights),
		cmocka_unit_test(test_vlarb_high_limit),
		cmocka_unit_test(test_vlarb_zero_weight),
		cmocka_unit_test(test_tables_are_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
