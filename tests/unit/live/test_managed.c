/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed.c - the modelled fabric of InfiniBand between programs, managed by weft's subnet
 * manager or by nobody: packets cross it when, and only when, it is up.
 */
#include "check.h"

#include "live/model_priv.h"
#include "mgmt/sma.h"
#include "rig_model.h"

/* The state of a host's port, as its agent has it. */
static unsigned state_of(const struct rig_model *r, uint32_t host)
{
	const struct wf_dmodel *m = r->d.model;

	return wf_sma_port(wf_managed_sma(m->managed, m->topo->host_node[host]), 1)->port_state;
}

static void serve(struct rig_model *r)
{
	wf_model_serve(&r->d);
	(void)wf_model_rest(&r->d);
}

/* Serves until a host's port is in that state: it must come to that by itself. */
static void until_state(struct rig_model *r, uint32_t host, unsigned state)
{
	while (state_of(r, host) != state)
		serve(r);
}

/* Sends a packet from the first host to the second. Returns how many come, 0 or 1. */
static unsigned one_packet(struct rig_model *r)
{
	struct wf_packet pkt = rig_model_packet(1, 512), got;
	struct wf_live_model before, after;
	const void *payload;
	unsigned n = 0;

	pkt.pkey = WF_PKEY_DEFAULT;
	pkt.entropy = r->d.table->host[1].lid;
	wf_model_look(&r->d, &before);
	assert_true(rig_model_send(r, 0, &pkt, 512));
	do {
		serve(r);
		wf_model_look(&r->d, &after);
	} while (after.delivered + after.lost == before.delivered + before.lost);
	while (wf_ring_peek(&r->far[1].rx, &got, &payload)) {
		assert_int_equal(got.length, 512);
		wf_ring_consume(&r->far[1].rx);
		n++;
	}
	(void)wf_ring_release(&r->far[1].rx);
	assert_int_equal(n, after.delivered - before.delivered);
	return n;
}

/* The subnet is up at once; a port that was down is set up anew, by management packets. */
static void test_weft(void **state)
{
	static const enum wf_live_pace paces[] = { WF_LIVE_NONE, WF_LIVE_WALL };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(paces); i++) {
		struct rig_model *r = rig_model_create_managed(paces[i], WF_MANAGE_WEFT);
		uint32_t link = wf_model_host_link(&r->d, 1);
		struct wf_managed_result result;

		assert_int_equal(state_of(r, 0), WF_PORT_ACTIVE);
		assert_int_equal(one_packet(r), 1);
		assert_int_equal(wf_model_fault(&r->d, link, WF_LIVE_FAULT_DOWN, 1), 0);
		assert_int_equal(state_of(r, 1), WF_PORT_DOWN);
		assert_int_equal(one_packet(r), 0);
		assert_int_equal(wf_model_fault(&r->d, link, WF_LIVE_FAULT_DOWN, 0), 0);
		assert_int_equal(state_of(r, 1), WF_PORT_INIT);
		until_state(r, 1, WF_PORT_ACTIVE);
		wf_managed_result(r->d.model->managed, &result);
		assert_int_equal(result.master, 0);
		assert_true(result.smps > 0);
		assert_int_equal(one_packet(r), 1);
		rig_model_destroy(r);
	}
}

/* Nobody manages it: no port becomes active, and nothing passes. */
static void test_none(void **state)
{
	struct rig_model *r = rig_model_create_managed(WF_LIVE_NONE, WF_MANAGE_NONE);
	struct wf_managed_result result;

	(void)state;
	for (int i = 0; i < 10; i++)
		serve(r);
	assert_int_equal(state_of(r, 0), WF_PORT_INIT);
	wf_managed_result(r->d.model->managed, &result);
	assert_int_equal(result.master, WF_TOPO_NONE);
	rig_model_destroy(r);
}

/* Where nothing is under way, a managed fabric's time is the clock's, with any pace. */
static void test_time_goes_on(void **state)
{
	wf_time begin = wf_model_clock();
	struct rig_model *r = rig_model_create_managed(WF_LIVE_NONE, WF_MANAGE_WEFT);
	struct wf_live_model before, after;

	(void)state;
	wf_model_look(&r->d, &before);
	do {
		serve(r);
		wf_model_look(&r->d, &after);
	} while (after.time_ps < before.time_ps + 2 * (uint64_t)WF_MS);
	assert_true(after.time_ps <= (uint64_t)(wf_model_clock() - begin));
	rig_model_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weft),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_time_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
