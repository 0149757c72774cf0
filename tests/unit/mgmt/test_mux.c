/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mux.c - the mux of management programs: who gets what, retries, what nobody wants, and that
 * nothing is left behind.
 */
#include "mux_test.h"

static void test_request_and_answer(void **state)
{
	struct heard ha, hb, hc;
	struct wf_mux_agent *a, *b, *c;
	uint8_t mad[WF_MAD_LEN];
	struct net net;
	int context;

	(void)state;
	net_init(&net, 1);
	a = agent(&net.a, &ha, SA, 0, true);
	c = agent(&net.a, &hc, SA, 0, true);
	b = agent(&net.b, &hb, SA, 1 << WF_MAD_METHOD_GET, false);
	request(mad, 0x99, WF_MAD_METHOD_GET);
	wf_be32_put(mad + 8, 0xdeadbeef); /* the upper half is the mux's */
	assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), WF_S, 3, &context), 0);
	assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), WF_S, 3, &context), -EEXIST);
	assert_int_equal(wf_mux_send(c, &to_b, mad, sizeof(mad), WF_S, 3, &hc), 0);
	run(&net, LATENCY);
	assert_int_equal(hb.received, 2);
	assert_int_equal(hb.addr.lid, 1);
	assert_int_equal(tid_of(hb.data) & UINT32_MAX, 0x99);
	/* the second is answered: it is c's */
	memcpy(mad, hb.data, sizeof(mad));
	mad[3] = WF_MAD_METHOD_GET_RESP;
	mad[200] = 7;
	assert_int_equal(wf_mux_send(b, &hb.addr, mad, sizeof(mad), 0, 0, NULL), 0);
	run(&net, 2 * LATENCY);
	assert_int_equal(ha.received, 0);
	assert_int_equal(hc.received, 1);
	assert_int_equal(hc.length, WF_MAD_LEN);
	assert_int_equal(hc.data[200], 7);
	assert_ptr_equal(hc.context, &hc);
	/* again it is nothing that anybody waits for */
	assert_int_equal(wf_mux_send(b, &hb.addr, mad, sizeof(mad), 0, 0, NULL), 0);
	run(&net, 3 * LATENCY);
	assert_int_equal(hc.received, 1);
	/* a's is sent 4 times, then given up */
	net.sent = 0;
	run(&net, 10 * WF_S);
	assert_int_equal(net.sent, 3);
	assert_int_equal(hb.received, 5);
	assert_int_equal(ha.failed, 1);
	assert_int_equal(ha.status, -ETIMEDOUT);
	assert_ptr_equal(ha.context, &context);
	assert_int_equal(tid_of(ha.data) & UINT32_MAX, 0x99);
	assert_int_equal(wf_mux_deadline(net.a.mux), WF_TIME_NEVER);
	free(ha.data), free(hb.data), free(hc.data);
	net_fini(&net);
}

static void test_register(void **state)
{
	struct wf_mux_agent_cfg cfg = { .qp = 1,
		                        .mgmt_class = 0x32,
		                        .class_version = 1,
		                        .oui = 0x1405,
		                        .methods = { 2, 0 },
		                        .event = on_event };
	struct wf_mux_agent *a;
	struct net net;

	(void)state;
	net_init(&net, 2);
	assert_int_equal(wf_mux_register(net.a.mux, &cfg, &a), 0);
	assert_int_equal(wf_mux_register(net.a.mux, &cfg, &a), -EADDRINUSE);
	cfg.methods[0] = 6;
	assert_int_equal(wf_mux_register(net.a.mux, &cfg, &a), -EADDRINUSE);
	cfg.methods[0] = 4;
	assert_int_equal(wf_mux_register(net.a.mux, &cfg, &a), 0);
	cfg.qp = 0;
	assert_int_equal(wf_mux_register(net.a.mux, &cfg, &a), -EINVAL);
	cfg.qp = 2;
	assert_int_equal(wf_mux_register(net.a.mux, &cfg, &a), -EINVAL);
	cfg = (struct wf_mux_agent_cfg){ .qp = 0, .mgmt_class = SA, .event = on_event };
	assert_int_equal(wf_mux_register(net.a.mux, &cfg, &a), -EINVAL);
	cfg = (struct wf_mux_agent_cfg){ .qp = 1, .mgmt_class = WF_MAD_CLASS_PERF, .rmpp = true };
	assert_int_equal(wf_mux_register(net.a.mux, &cfg, &a), -EINVAL);
	net.a.mem.left = 0;
	cfg.rmpp = false;
	assert_int_equal(wf_mux_register(net.a.mux, &cfg, &a), -ENOMEM);
	net_fini(&net);
}

/* Whoever sends with a context has it back, exactly once, whatever becomes of the send. */
static void test_contexts(void **state)
{
	struct heard ha, hb;
	struct wf_mux_agent *a, *b;
	uint8_t mad[WF_MAD_LEN];
	struct net net;
	int context;

	(void)state;
	net_init(&net, 3);
	a = agent(&net.a, &ha, SA, 0, false);
	b = agent(&net.b, &hb, SA, 1 << WF_MAD_METHOD_GET, false);
	(void)b;
	/* nobody waits for an answer: with the packet that leaves */
	request(mad, 1, WF_MAD_METHOD_GET);
	assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), 0, 0, &context), 0);
	assert_int_equal(ha.ended, 0);
	run(&net, LATENCY);
	assert_int_equal(ha.ended, 1);
	assert_ptr_equal(ha.context, &context);
	/* no answer: with FAILED alone */
	assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), WF_MS, 0, &context), 0);
	run(&net, 10 * WF_MS);
	assert_int_equal(ha.failed, 1);
	assert_int_equal(ha.ended, 1);
	/* the agent ends: then; without a context nothing is told */
	assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), WF_S, 0, &context), 0);
	mad[15]++;
	assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), WF_S, 0, NULL), 0);
	wf_mux_unregister(a);
	assert_int_equal(ha.ended, 2);
	free(ha.data), free(hb.data);
	net_fini(&net);
}

/* An agent has so much room, and has it again when what it sent has ended. */
static void test_room(void **state)
{
	struct heard heard = { 0 };
	struct wf_mux_agent_cfg cfg = { .qp = 1,
		                        .mgmt_class = SA,
		                        .class_version = 2,
		                        .rmpp = true,
		                        .room = 4000,
		                        .event = on_event,
		                        .arg = &heard };
	uint8_t mad[WF_MAD_LEN], big[4001];
	struct wf_mux_agent *a;
	struct net net;
	unsigned n = 0;

	(void)state;
	net_init(&net, 4);
	assert_int_equal(wf_mux_register(net.a.mux, &cfg, &a), 0);
	request(mad, 1, WF_MAD_METHOD_GET);
	while (wf_mux_send(a, &to_b, mad, sizeof(mad), WF_MS, 0, NULL) == 0) {
		mad[15]++;
		assert_true(++n < 16);
	}
	assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), WF_MS, 0, NULL), -ENOMEM);
	assert_in_range(n, 5, 15);
	run(&net, 10 * WF_MS);
	assert_int_equal(heard.received, n); /* that nobody there knows of it */
	assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), WF_MS, 0, NULL), 0);
	/* what is longer than all of it */
	memset(big, 0, sizeof(big));
	request(big, 99, GET_TABLE);
	big[26] = 1;
	assert_int_equal(wf_mux_send(a, &to_b, big, sizeof(big), WF_MS, 0, NULL), -ENOMEM);
	wf_mux_unregister(a);
	free(heard.data);
	net_fini(&net);
}

/* A queue pair that is held up does not hold up the other. */
static void test_queue_pairs(void **state)
{
	struct heard sm, sa;
	struct wf_mux_agent *a, *b;
	struct wf_mux_packet packet;
	uint8_t mad[WF_MAD_LEN];
	struct net net;

	(void)state;
	net_init(&net, 5);
	a = agent(&net.a, &sm, WF_MAD_CLASS_SUBN_LID, 0, false);
	b = agent(&net.a, &sa, SA, 0, false);
	request(mad, 1, WF_MAD_METHOD_GET);
	assert_int_equal(wf_mux_send(b, &to_b, mad, sizeof(mad), WF_MS, 0, NULL), 0);
	test_request(mad, WF_MAD_CLASS_SUBN_LID, 1, WF_MAD_METHOD_GET, 2, 0);
	assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), WF_MS, 0, NULL), 0);
	assert_false(wf_mux_has_tx(net.a.mux, 0));
	assert_false(wf_mux_tx(net.a.mux, 0, 0, &packet));
	assert_true(wf_mux_tx(net.a.mux, 1u << 0, 0, &packet));
	assert_int_equal(packet.qp, 0);
	assert_false(wf_mux_has_tx(net.a.mux, 1u << 0));
	assert_true(wf_mux_has_tx(net.a.mux, 1u << 1));
	assert_true(wf_mux_tx(net.a.mux, 1u << 1, 0, &packet));
	assert_int_equal(packet.qp, 1);
	assert_false(wf_mux_has_tx(net.a.mux, WF_MUX_QPS));
	free(sm.data), free(sa.data);
	net_fini(&net);
}

/* Which agent gets a request: by queue pair, class, version, method, vendor. */
static void test_dispatch(void **state)
{
	struct wf_mux_agent_cfg cfg = { .qp = 1,
		                        .mgmt_class = 0x32,
		                        .class_version = 1,
		                        .oui = 0x1405,
		                        .methods = { 2, 0 },
		                        .event = on_event };
	struct heard sm, dr, vendor = { 0 };
	struct wf_mux_addr from = { .lid = 9 };
	struct wf_mux_packet packet;
	uint8_t mad[WF_MAD_LEN];
	struct wf_mux_agent *a;
	struct net net;

	(void)state;
	net_init(&net, 2);
	agent(&net.a, &sm, WF_MAD_CLASS_SUBN_LID, 1 << WF_MAD_METHOD_TRAP, false);
	agent(&net.a, &dr, WF_MAD_CLASS_SUBN_DR, 1 << WF_MAD_METHOD_GET, false);
	cfg.arg = &vendor;
	assert_int_equal(wf_mux_register(net.a.mux, &cfg, &a), 0);
	test_request(mad, WF_MAD_CLASS_SUBN_LID, 1, WF_MAD_METHOD_TRAP, 2, 0);
	wf_mux_rx(net.a.mux, 0, &from, mad, 0);
	wf_mux_rx(net.a.mux, 1, &from, mad, 0); /* the wrong queue pair */
	mad[2] = 2;
	wf_mux_rx(net.a.mux, 0, &from, mad, 0); /* another version */
	assert_int_equal(sm.received, 1);
	assert_false(wf_mux_has_tx(net.a.mux, WF_MUX_QPS));
	test_request(mad, WF_MAD_CLASS_SUBN_DR, 1, WF_MAD_METHOD_GET, 2, 0);
	wf_mux_rx(net.a.mux, 0, &from, mad, 0);
	assert_int_equal(dr.received, 1);
	test_request(mad, 0x32, 1, WF_MAD_METHOD_GET, 2, 0);
	mad[38] = 0x14, mad[39] = 0x05;
	wf_mux_rx(net.a.mux, 1, &from, mad, 0);
	assert_int_equal(vendor.received, 1);
	assert_int_equal(vendor.addr.lid, 9);
	mad[39] = 0x06; /* another vendor: nobody's, so it is answered */
	wf_mux_rx(net.a.mux, 1, &from, mad, 0);
	assert_int_equal(vendor.received, 1);
	assert_true(wf_mux_tx(net.a.mux, WF_MUX_QPS, 0, &packet));
	assert_int_equal(packet.addr.lid, 9);
	assert_int_equal(packet.qp, 1);
	assert_int_equal(test_status(packet.mad), WF_MAD_BAD_ATTRIBUTE);
	free(sm.data), free(dr.data), free(vendor.data);
	net_fini(&net);
}

/* What nobody wants: a Get or Set is answered, also along a directed route, and nothing else is. */
static void test_nobodys(void **state)
{
	struct wf_mux_addr from = { .lid = 9 };
	struct wf_mux_packet packet;
	uint8_t mad[WF_MAD_LEN];
	struct heard heard;
	struct net net;

	(void)state;
	net_init(&net, 2);
	agent(&net.a, &heard, SA, 0, true);
	test_request(mad, WF_MAD_CLASS_SUBN_DR, 1, WF_MAD_METHOD_SET, 0x20, 0);
	wf_mux_rx(net.a.mux, 0, &from, mad, 0);
	assert_true(wf_mux_tx(net.a.mux, WF_MUX_QPS, 0, &packet));
	assert_int_equal(wf_be16_get(packet.mad + 4), WF_SMP_DIRECTION | WF_MAD_BAD_ATTRIBUTE);
	test_request(mad, SA, 2, WF_MAD_METHOD_GET_RESP, 2, 0);
	wf_mux_rx(net.a.mux, 1, &from, mad, 0);
	wf_be32_put(mad + 8, 1); /* to the agent, who has asked nothing */
	wf_mux_rx(net.a.mux, 1, &from, mad, 0);
	test_request(mad, SA, 2, WF_MAD_METHOD_REPORT, 2, 0);
	wf_mux_rx(net.a.mux, 1, &from, mad, 0);
	test_request(mad, SA, 2, WF_MAD_METHOD_GET, 2, 0);
	mad[0] = 3;
	wf_mux_rx(net.a.mux, 1, &from, mad, 0);
	assert_int_equal(heard.received, 0);
	assert_false(wf_mux_has_tx(net.a.mux, WF_MUX_QPS));
	net_fini(&net);
}

/* Where data begin, by class (IBTA vol. 1, chapters 15 and 16). */
static void test_offsets(void **state)
{
	(void)state;
	for (unsigned class = 0; class < 256; class ++) {
		unsigned offset = class == SA                                       ? 56
		                  : class == 0x06 || class == 0x10 || class == 0x12 ? 64
		                  : class >= 0x30 && class < 0x50                   ? 40
		                                                                    : 24;
		struct wf_mux_agent_cfg cfg = { .qp = 1,
			                        .mgmt_class = (uint8_t) class,
			                        .rmpp = true };
		bool rmpp = class == SA || class == 0x10 || class == 0x12 || offset == 40;
		struct wf_mux_agent *a;
		struct wf_mux *mux;

		assert_int_equal(wf_mux_data_offset((uint8_t) class), offset);
		assert_int_equal(wf_mux_create(wf_mem_heap(), &mux), 0);
		assert_int_equal(wf_mux_register(mux, &cfg, &a), rmpp ? 0 : -EINVAL);
		wf_mux_destroy(mux);
	}
}

/* An agent without RMPP sees segments as they come; lengths that cannot be sent. */
static void test_plain(void **state)
{
	struct wf_rmpp rmpp = { .version = 1, .type = 1, .flags = 7, .data1 = 1, .data2 = 220 };
	struct wf_mux_addr from = { .lid = 1, .qpn = 1 };
	uint8_t mad[2 * WF_MAD_LEN] = { 0 };
	struct wf_mux_packet packet;
	struct wf_mux_agent *b, *r;
	struct heard hb, hr;
	struct net net;

	(void)state;
	net_init(&net, 9);
	b = agent(&net.b, &hb, SA, 1 << GET_TABLE, false);
	r = agent(&net.b, &hr, 0x30, 0, true);
	request(mad, 1, GET_TABLE);
	wf_rmpp_encode(&rmpp, mad);
	wf_mux_rx(net.b.mux, 1, &from, mad, 0);
	assert_int_equal(hb.received, 1);
	assert_false(wf_mux_has_tx(net.b.mux, WF_MUX_QPS));
	assert_int_equal(wf_mux_send(b, &from, mad, WF_MAD_LEN + 1, 0, 0, NULL), -EINVAL);
	assert_int_equal(wf_mux_send(b, &from, mad, WF_MAD_HEADER_LEN - 1, 0, 0, NULL), -EINVAL);
	assert_int_equal(wf_mux_send(b, &from, mad, WF_MAD_HEADER_LEN, 0, 0, NULL), 0);
	assert_true(wf_mux_tx(net.b.mux, WF_MUX_QPS, 0, &packet));
	assert_int_equal(packet.mad[1], SA);
	assert_int_equal(packet.mad[30], 0); /* what was not given is 0 */
	mad[1] = 0x30;
	assert_int_equal(wf_mux_send(r, &from, mad, 39, 0, 0, NULL), -EINVAL);
	assert_int_equal(wf_mux_send(r, &from, mad, 300, 0, 0, NULL), 0);
	assert_true(wf_mux_tx(net.b.mux, WF_MUX_QPS, 0, &packet));
	net.b.mem.left = 0;
	assert_int_equal(wf_mux_send(b, &from, mad, WF_MAD_LEN, 0, 0, NULL), -ENOMEM);
	free(hb.data);
	net_fini(&net);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_and_answer),
		cmocka_unit_test(test_register),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_queue_pairs),
		cmocka_unit_test(test_dispatch),
		cmocka_unit_test(test_nobodys),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
