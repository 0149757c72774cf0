/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mux.c - the mux of management programs: two ports with a network between them that loses,
 * repeats and reorders, in virtual time. Who gets what, retries, transfers of many segments, and
 * that nothing is left behind.
 */
#include "mgmt_test.h"

#include <errno.h>

#include "mgmt/mux.h"

#define SA WF_MAD_CLASS_SA
#define GET_TABLE WF_MAD_METHOD_GET_TABLE
#define WIRE_MAX 4096
#define LATENCY (10 * WF_US)

/* What an agent was told last, and how often. */
struct heard {
	unsigned received, failed;
	uint8_t *data; /* of the last one; freed with the next */
	size_t length;
	int status;
	void *context;
	struct wf_mux_addr addr;
};

struct side {
	struct wf_mux *mux;
	struct mem_fail mem;
	uint16_t lid;
};

struct packet {
	wf_time at;
	struct wf_mux_packet packet;
	bool to_b;
};

/* Two sides, LIDs 1 and 2, and what is on the way. */
struct net {
	struct side a, b;
	struct packet *wire;
	size_t n;
	wf_time now;
	uint64_t key, count;
	unsigned lose, repeat, delay; /* per thousand */
	unsigned sent;                /* packets */
	int lose_next;                /* so many are lost for sure */
};

static void on_event(void *arg, const struct wf_mux_event *event)
{
	struct heard *h = arg;

	free(h->data);
	h->data = malloc(event->length);
	assert_non_null(h->data);
	memcpy(h->data, event->data, event->length);
	h->length = event->length;
	h->status = event->status;
	h->context = event->context;
	h->addr = *event->addr;
	h->received += event->type == WF_MUX_RECV;
	h->failed += event->type == WF_MUX_FAILED;
}

static void net_init(struct net *net, uint64_t seed)
{
	memset(net, 0, sizeof(*net));
	net->wire = calloc(WIRE_MAX, sizeof(net->wire[0]));
	assert_non_null(net->wire);
	net->key = wf_rand_key(seed, 0, 0);
	net->a.lid = 1;
	net->b.lid = 2;
	net->a.mem = net->b.mem = mem_fail_after(INT32_MAX);
	assert_int_equal(wf_mux_create(&net->a.mem.mem, &net->a.mux), 0);
	assert_int_equal(wf_mux_create(&net->b.mem.mem, &net->b.mux), 0);
}

static void net_fini(struct net *net)
{
	wf_mux_destroy(net->a.mux);
	wf_mux_destroy(net->b.mux);
	assert_int_equal(net->a.mem.held, 0);
	assert_int_equal(net->b.mem.held, 0);
	free(net->wire);
}

static bool chance(struct net *net, unsigned per_thousand)
{
	return wf_rand_below(wf_rand64(net->key, net->count++), 1000) < per_thousand;
}

static void put(struct net *net, const struct wf_mux_packet *packet, bool to_b)
{
	struct packet *p = &net->wire[net->n++];

	assert_true(net->n <= WIRE_MAX);
	p->packet = *packet;
	p->to_b = to_b;
	p->at = net->now + LATENCY;
	if (chance(net, net->delay))
		p->at += LATENCY * wf_rand_below(wf_rand64(net->key, net->count++), 50);
}

static void drain(struct net *net, struct side *side)
{
	struct wf_mux_packet packet;

	while (wf_mux_tx(side->mux, net->now, &packet)) {
		net->sent++;
		assert_int_equal(packet.addr.lid, side == &net->a ? 2 : 1);
		if (net->lose_next-- > 0 || chance(net, net->lose))
			continue;
		put(net, &packet, side == &net->a);
		if (chance(net, net->repeat))
			put(net, &packet, side == &net->a);
	}
	assert_false(wf_mux_has_tx(side->mux));
}

static void arrive(struct net *net, size_t i)
{
	struct packet p = net->wire[i];
	struct side *to = p.to_b ? &net->b : &net->a;
	struct wf_mux_addr from = p.packet.addr;

	net->wire[i] = net->wire[--net->n];
	from.lid = p.to_b ? 1 : 2;
	from.qpn = p.packet.qp;
	wf_mux_rx(to->mux, p.packet.qp, &from, p.packet.mad, net->now);
}

/* Until nothing is under way, or that time has come. */
static void run(struct net *net, wf_time until)
{
	for (;;) {
		wf_time next;
		size_t first = 0;

		drain(net, &net->a);
		drain(net, &net->b);
		next = wf_min_time(wf_mux_deadline(net->a.mux), wf_mux_deadline(net->b.mux));
		for (size_t i = 1; i < net->n; i++)
			if (net->wire[i].at < net->wire[first].at)
				first = i;
		if (net->n > 0)
			next = wf_min_time(next, net->wire[first].at);
		if (next > until)
			break;
		net->now = wf_max_time(net->now, next);
		if (net->n > 0 && net->wire[first].at <= net->now)
			arrive(net, first);
		wf_mux_tick(net->a.mux, net->now);
		wf_mux_tick(net->b.mux, net->now);
	}
	if (until < WF_TIME_FAR)
		net->now = wf_max_time(net->now, until);
}

static struct wf_mux_agent *agent(struct side *side, struct heard *heard, uint8_t class,
                                  uint64_t methods, bool rmpp)
{
	struct wf_mux_agent_cfg cfg = {
		.qp = class == WF_MAD_CLASS_SUBN_LID || class == WF_MAD_CLASS_SUBN_DR ? 0 : 1,
		.mgmt_class = class,
		.class_version = class == SA ? 2 : 1,
		.methods[0] = methods,
		.rmpp = rmpp,
		.event = on_event,
		.arg = heard,
	};
	struct wf_mux_agent *a;

	memset(heard, 0, sizeof(*heard));
	assert_int_equal(wf_mux_register(side->mux, &cfg, &a), 0);
	return a;
}

static const struct wf_mux_addr to_b = { .lid = 2, .qpn = 1 };

static uint64_t tid_of(const uint8_t *mad)
{
	return wf_be64_get(mad + 8);
}

/* b answers what it has heard with length bytes of data behind SA's header. */
static void answer(struct wf_mux_agent *b, const struct heard *heard, size_t length,
                   unsigned retries)
{
	uint8_t *mad = calloc(1, WF_SA_DATA + length);
	struct wf_rmpp rmpp = { .version = 1, .type = 1, .flags = 1 };

	assert_non_null(mad);
	memcpy(mad, heard->data, WF_SA_DATA);
	mad[3] |= 0x80;
	wf_rmpp_encode(&rmpp, mad);
	for (size_t i = 0; i < length; i++)
		mad[WF_SA_DATA + i] = (uint8_t)(i * 7 + i / 251);
	assert_int_equal(
		wf_mux_send(b, &heard->addr, mad, WF_SA_DATA + length, 200 * WF_MS, retries, NULL),
		0);
	free(mad);
}

static void check_data(const struct heard *heard, size_t length)
{
	assert_int_equal(heard->length, WF_SA_DATA + length);
	for (size_t i = 0; i < length; i++)
		if (heard->data[WF_SA_DATA + i] != (uint8_t)(i * 7 + i / 251))
			fail_msg("byte %zu is wrong", i);
}

static void request(uint8_t *mad, uint32_t tid, uint8_t method)
{
	test_request(mad, SA, 2, method, 0x0011, 0);
	wf_be64_put(mad + 8, tid);
}

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
	assert_false(wf_mux_has_tx(net.a.mux));
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
	assert_true(wf_mux_tx(net.a.mux, 0, &packet));
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
	assert_true(wf_mux_tx(net.a.mux, 0, &packet));
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
	assert_false(wf_mux_has_tx(net.a.mux));
	net_fini(&net);
}

/* One transfer of that length; returns how long it took. */
static wf_time transfer(struct net *net, struct wf_mux_agent *a, struct wf_mux_agent *b,
                        struct heard *ha, struct heard *hb, uint32_t tid, size_t length)
{
	unsigned before = ha->received, asked = hb->received;
	uint8_t mad[WF_MAD_LEN];
	wf_time start = net->now;

	request(mad, tid, GET_TABLE);
	assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), 5 * WF_S, 20, NULL), 0);
	while (hb->received == asked)
		run(net, net->now + LATENCY);
	answer(b, hb, length, 20);
	while (ha->received == before && net->now < start + 1000 * WF_S)
		run(net, net->now + LATENCY);
	assert_int_equal(ha->received, before + 1);
	check_data(ha, length);
	return net->now - start;
}

/* Lengths around the ends of segments and windows, on a good network. */
static void test_lengths(void **state)
{
	static const size_t lengths[] = { 0,   1,     199,   200,   201,   400,
		                          401, 12999, 13000, 13001, 25801, 100000 };
	struct wf_mux_agent *a, *b;
	struct heard ha, hb;
	struct net net;

	(void)state;
	net_init(&net, 3);
	a = agent(&net.a, &ha, SA, 0, true);
	b = agent(&net.b, &hb, SA, 1 << GET_TABLE, true);
	for (uint32_t i = 0; i < WF_ARRAY_SIZE(lengths); i++) {
		size_t segments = lengths[i] == 0 ? 1 : (lengths[i] + 199) / 200;
		wf_time took;

		net.sent = 0;
		took = transfer(&net, a, b, &ha, &hb, i, lengths[i]);
		run(&net, net.now + WF_MS);
		/*
		 * the request; the segments; an ACK of the first, if there are more, of each
		 * window of 64 behind it that is full and not the end, and of the last
		 */
		assert_int_equal(net.sent, 1 + segments + (segments > 1) +
		                                   (segments > 1 ? (segments - 2) / 64 : 0) + 1);
		assert_true(took < WF_MS);
		assert_true(wf_mux_deadline(net.b.mux) >
		            net.now + WF_S); /* nobody waits for an ACK */
	}
	assert_int_equal(ha.failed + hb.failed, 0);
	free(ha.data), free(hb.data);
	net_fini(&net);
}

/* The headers of segments as Linux has them: the first says how long all is, the last its part. */
static void test_segments(void **state)
{
	struct heard hb;
	struct wf_mux_agent *b;
	struct wf_mux_addr from = { .lid = 1, .qpn = 1 };
	struct wf_mux_packet packet;
	uint8_t mad[WF_MAD_LEN];
	struct wf_rmpp rmpp;
	struct net net;

	(void)state;
	net_init(&net, 4);
	b = agent(&net.b, &hb, SA, 1 << GET_TABLE, true);
	request(mad, 5, GET_TABLE);
	wf_mux_rx(net.b.mux, 1, &from, mad, 0);
	answer(b, &hb, 450, 0);
	assert_true(wf_mux_tx(net.b.mux, 0, &packet));
	assert_false(wf_mux_has_tx(net.b.mux)); /* one, until it is acknowledged */
	assert_int_equal(packet.mad[3], WF_MAD_METHOD_GET_TABLE_RESP);
	assert_int_equal(tid_of(packet.mad), 5);
	wf_rmpp_decode(packet.mad, &rmpp);
	assert_int_equal(rmpp.flags, 3);
	assert_int_equal(rmpp.data1, 1);
	assert_int_equal(rmpp.data2, 450 + 3 * 20); /* with a class header in each */
	memcpy(mad, packet.mad, sizeof(mad));
	mad[3] = GET_TABLE;
	rmpp = (struct wf_rmpp){ .version = 1, .type = 2, .flags = 1, .data1 = 1, .data2 = 65 };
	wf_rmpp_encode(&rmpp, mad);
	wf_mux_rx(net.b.mux, 1, &from, mad, 0);
	assert_true(wf_mux_tx(net.b.mux, 0, &packet));
	wf_rmpp_decode(packet.mad, &rmpp);
	assert_int_equal(rmpp.flags, 1);
	assert_int_equal(rmpp.data1, 2);
	assert_true(wf_mux_tx(net.b.mux, 0, &packet));
	wf_rmpp_decode(packet.mad, &rmpp);
	assert_int_equal(rmpp.flags, 5);
	assert_int_equal(rmpp.data1, 3);
	assert_int_equal(rmpp.data2, 20 + 50);
	assert_false(wf_mux_has_tx(net.b.mux));
	/* no retries: after the ACK's time, an abort is all that could be said; nobody hears it */
	wf_mux_tick(net.b.mux, 200 * WF_MS - 1);
	assert_int_equal(hb.failed, 0);
	wf_mux_tick(net.b.mux, 200 * WF_MS);
	assert_int_equal(hb.failed, 1);
	assert_int_equal(hb.status, -ETIMEDOUT);
	free(hb.data);
	net_fini(&net);
}

/* Bad networks of many kinds: all data get there, unchanged, once. */
static void test_bad_networks(void **state)
{
	struct wf_mux_agent *a, *b;
	struct heard ha, hb;
	struct net net;

	(void)state;
	for (uint32_t seed = 0; seed < 24; seed++) {
		net_init(&net, 100 + seed);
		net.lose = seed % 4 * 40;
		net.repeat = seed / 4 % 3 * 100;
		net.delay = seed / 12 * 300;
		a = agent(&net.a, &ha, SA, 0, true);
		b = agent(&net.b, &hb, SA, 1 << GET_TABLE, true);
		for (uint32_t i = 0; i < 4; i++)
			transfer(&net, a, b, &ha, &hb, i, i * i * 9000 + seed);
		assert_int_equal(ha.failed, 0);
		/* all ends by itself: what is remembered is forgotten */
		run(&net, net.now + 100 * WF_S);
		assert_int_equal(wf_mux_deadline(net.a.mux), WF_TIME_NEVER);
		assert_int_equal(wf_mux_deadline(net.b.mux), WF_TIME_NEVER);
		assert_int_equal(net.a.mem.held, 2);
		assert_int_equal(net.b.mem.held, 2);
		free(ha.data), free(hb.data);
		net_fini(&net);
	}
}

/* The last ACK is lost: the answer's sender asks again, and hears it. */
static void test_last_ack_lost(void **state)
{
	struct wf_mux_agent *a, *b;
	struct heard ha, hb;
	uint8_t mad[WF_MAD_LEN];
	struct net net;

	(void)state;
	net_init(&net, 6);
	a = agent(&net.a, &ha, SA, 0, true);
	b = agent(&net.b, &hb, SA, 1 << GET_TABLE, true);
	request(mad, 1, GET_TABLE);
	assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), 5 * WF_S, 0, NULL), 0);
	run(&net, LATENCY);
	answer(b, &hb, 300, 3);
	run(&net, 2 * LATENCY); /* segment 1 is there, and its ACK on the way */
	run(&net, 3 * LATENCY); /* segment 2 is on the way */
	net.lose_next = 1;
	run(&net, 5 * LATENCY);
	assert_int_equal(ha.received, 1);
	net.sent = 0;
	run(&net, WF_S);
	assert_int_equal(net.sent, 2); /* segment 2 again, and its ACK */
	assert_int_equal(ha.received, 1);
	assert_int_equal(hb.failed, 0);
	assert_int_equal(wf_mux_deadline(net.b.mux), WF_TIME_NEVER);
	free(ha.data), free(hb.data);
	net_fini(&net);
}

/* Either side gives up, or dies, in the middle. */
static void test_endings(void **state)
{
	struct wf_mux_agent *a, *b;
	struct heard ha, hb;
	uint8_t mad[WF_MAD_LEN];
	struct net net;

	(void)state;
	for (unsigned how = 0; how < 4; how++) {
		net_init(&net, 7);
		a = agent(&net.a, &ha, SA, 0, true);
		b = agent(&net.b, &hb, SA, 1 << GET_TABLE, true);
		request(mad, 1, GET_TABLE);
		assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), 100 * WF_S, 0, NULL), 0);
		run(&net, LATENCY);
		answer(b, &hb, 50000, 0);
		run(&net, 3 * LATENCY);
		if (how == 0) {
			/* the asking program is gone: nobody acknowledges */
			wf_mux_unregister(a);
			run(&net, 300 * WF_S);
			assert_int_equal(hb.status, -ETIMEDOUT);
			assert_int_equal(net.a.mem.held, 1);
		} else if (how == 1) {
			/* the answering one is gone: the transfer is given up, then the request */
			wf_mux_unregister(b);
			run(&net, 300 * WF_S);
			assert_int_equal(ha.status, -ETIMEDOUT);
			assert_int_equal(net.b.mem.held, 1);
		} else {
			/* no memory for what comes, at one time or another */
			net.a.mem.left = how == 2 ? 0 : 1;
			run(&net, 20 * LATENCY);
			net.a.mem.left = INT32_MAX;
			run(&net, 300 * WF_S);
			assert_int_equal(hb.failed, 1);
			assert_int_equal(ha.received, 0);
			assert_int_equal(ha.failed, 1);
		}
		assert_int_equal(wf_mux_deadline(net.a.mux), WF_TIME_NEVER);
		assert_int_equal(wf_mux_deadline(net.b.mux), WF_TIME_NEVER);
		free(ha.data), free(hb.data);
		net_fini(&net);
	}
}

/*
 * A request of several segments: it gets there, the answer does not, and all of it is sent again;
 * an answer of one MAD ends it. To another side, an answer may have the same transaction ID.
 */
static void test_long_request(void **state)
{
	static const struct wf_mux_addr to_c = { .lid = 3, .qpn = 1 };
	uint8_t mad[WF_SA_DATA + 500] = { 0 };
	struct wf_rmpp rmpp = { .version = 1, .type = 1, .flags = 1 };
	struct wf_mux_agent *a, *b;
	struct wf_mux_packet packet;
	struct heard ha, hb;
	struct net net;

	(void)state;
	net_init(&net, 10);
	a = agent(&net.a, &ha, SA, 0, true);
	b = agent(&net.b, &hb, SA, 1 << WF_MAD_METHOD_GET_MULTI, true);
	request(mad, 4, WF_MAD_METHOD_GET_MULTI);
	wf_rmpp_encode(&rmpp, mad);
	for (unsigned i = 0; i < 500; i++)
		mad[WF_SA_DATA + i] = (uint8_t)(i * 7 + i / 251);
	assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), WF_S, 2, NULL), 0);
	run(&net, 10 * LATENCY);
	assert_int_equal(hb.received, 1);
	check_data(&hb, 500);
	/* again, as a new transfer once the first one is forgotten; before, only its ACK comes */
	run(&net, 15 * WF_S);
	assert_int_equal(hb.received, 1);
	assert_int_equal(ha.failed, 1);
	assert_int_equal(wf_mux_send(a, &to_b, mad, sizeof(mad), 20 * WF_S, 1, NULL), 0);
	run(&net, net.now + 25 * WF_S);
	assert_int_equal(hb.received, 3);
	check_data(&hb, 500);
	memcpy(mad, hb.data, WF_MAD_LEN);
	mad[3] = WF_MAD_METHOD_GET_MULTI_RESP;
	memset(mad + 24, 0, 12);
	assert_int_equal(wf_mux_send(b, &hb.addr, mad, WF_MAD_LEN, 0, 0, NULL), 0);
	assert_int_equal(wf_mux_send(b, &hb.addr, mad, WF_MAD_LEN, 0, 0, NULL), -EEXIST);
	run(&net, net.now + LATENCY);
	assert_int_equal(ha.received, 1);
	assert_int_equal(ha.failed, 1);
	assert_int_equal(wf_mux_send(b, &hb.addr, mad, WF_MAD_LEN, 0, 0, NULL), 0);
	assert_int_equal(wf_mux_send(b, &to_c, mad, WF_MAD_LEN, 0, 0, NULL), 0);
	while (wf_mux_tx(net.b.mux, net.now, &packet))
		;
	free(ha.data), free(hb.data);
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

/* What is wrong with segments and ACKs, and what is said of it. */
static void test_wrong(void **state)
{
	static const struct {
		struct wf_rmpp rmpp;
		unsigned status; /* of the ABORT; 0: nothing is said */
	} rows[] = {
		{ { 2, 1, 0, 3, 0, 1, 220 }, 125 }, /* version */
		{ { 1, 7, 0, 1, 0, 1, 220 }, 121 }, /* type */
		{ { 1, 1, 0, 1, 0, 1, 220 }, 120 }, /* the first without its flag */
		{ { 1, 1, 0, 3, 0, 2, 220 }, 120 }, /* the flag without the first */
		{ { 1, 1, 0, 1, 0, 0, 220 }, 120 },
		{ { 1, 1, 0, 1, 0, 2, 220 }, 0 }, /* a transfer that has not begun */
		{ { 1, 2, 0, 1, 0, 1, 65 }, 0 },  /* ACK, STOP and ABORT of nothing */
		{ { 1, 3, 0, 1, 1, 0, 0 }, 0 },
		{ { 1, 4, 0, 1, 118, 0, 0 }, 0 },
	};
	struct wf_mux_addr from = { .lid = 1, .qpn = 1 };
	struct wf_mux_packet packet;
	struct wf_rmpp rmpp;
	uint8_t mad[WF_MAD_LEN];
	struct heard hb;
	struct net net;

	(void)state;
	net_init(&net, 8);
	agent(&net.b, &hb, SA, 1 << GET_TABLE, true);
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		request(mad, 1, GET_TABLE);
		wf_rmpp_encode(&rows[i].rmpp, mad);
		wf_mux_rx(net.b.mux, 1, &from, mad, 0);
		assert_int_equal(wf_mux_has_tx(net.b.mux), rows[i].status != 0);
		if (rows[i].status == 0)
			continue;
		assert_true(wf_mux_tx(net.b.mux, 0, &packet));
		assert_int_equal(packet.mad[3], WF_MAD_METHOD_GET_TABLE_RESP);
		wf_rmpp_decode(packet.mad, &rmpp);
		assert_int_equal(rmpp.type, 4);
		assert_int_equal(rmpp.status, rows[i].status);
	}
	assert_int_equal(hb.received, 0);
	net_fini(&net);
}

static void test_wrong_acks(void **state)
{
	struct wf_mux_addr from = { .lid = 1, .qpn = 1 };
	struct wf_mux_packet packet;
	struct wf_rmpp rmpp;
	struct wf_mux_agent *b;
	uint8_t mad[WF_MAD_LEN];
	struct heard hb;
	struct net net;

	(void)state;
	net_init(&net, 8);
	b = agent(&net.b, &hb, SA, 1 << GET_TABLE, true);
	/* ACKs for what was not sent, or with a window behind it */
	for (unsigned i = 0; i < 2; i++) {
		request(mad, 2 + i, GET_TABLE);
		wf_mux_rx(net.b.mux, 1, &from, mad, 0);
		answer(b, &hb, 1000, 0);
		assert_true(wf_mux_tx(net.b.mux, 0, &packet));
		rmpp = (struct wf_rmpp){ 1, 2, 0, 1, 0, i == 0 ? 3 : 1, i == 0 ? 65 : 0 };
		wf_rmpp_encode(&rmpp, mad);
		wf_mux_rx(net.b.mux, 1, &from, mad, 0);
		assert_int_equal(hb.failed, i + 1);
		assert_int_equal(hb.status, -ECONNABORTED);
		assert_true(wf_mux_tx(net.b.mux, 0, &packet));
		wf_rmpp_decode(packet.mad, &rmpp);
		assert_int_equal(rmpp.status, i == 0 ? 123 : 122);
	}
	/* a window that never opens is waited for as long as for an ACK */
	request(mad, 9, GET_TABLE);
	wf_mux_rx(net.b.mux, 1, &from, mad, 0);
	answer(b, &hb, 1000, 2);
	assert_true(wf_mux_tx(net.b.mux, 0, &packet));
	rmpp = (struct wf_rmpp){ 1, 2, 0, 1, 0, 1, 1 };
	wf_rmpp_encode(&rmpp, mad);
	wf_mux_rx(net.b.mux, 1, &from, mad, 0);
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(hb.failed, 2);
		assert_false(wf_mux_has_tx(net.b.mux));
		wf_mux_tick(net.b.mux, i * 200 * WF_MS);
	}
	assert_int_equal(hb.failed, 3);
	free(hb.data);
	net_fini(&net);
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
	assert_false(wf_mux_has_tx(net.b.mux));
	assert_int_equal(wf_mux_send(b, &from, mad, WF_MAD_LEN + 1, 0, 0, NULL), -EINVAL);
	assert_int_equal(wf_mux_send(b, &from, mad, WF_MAD_HEADER_LEN - 1, 0, 0, NULL), -EINVAL);
	assert_int_equal(wf_mux_send(b, &from, mad, WF_MAD_HEADER_LEN, 0, 0, NULL), 0);
	assert_true(wf_mux_tx(net.b.mux, 0, &packet));
	assert_int_equal(packet.mad[1], SA);
	assert_int_equal(packet.mad[30], 0); /* what was not given is 0 */
	mad[1] = 0x30;
	assert_int_equal(wf_mux_send(r, &from, mad, 39, 0, 0, NULL), -EINVAL);
	assert_int_equal(wf_mux_send(r, &from, mad, 300, 0, 0, NULL), 0);
	assert_true(wf_mux_tx(net.b.mux, 0, &packet));
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
		cmocka_unit_test(test_dispatch),
		cmocka_unit_test(test_nobodys),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_bad_networks),
		cmocka_unit_test(test_last_ack_lost),
		cmocka_unit_test(test_endings),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_wrong_acks),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_long_request),
		cmocka_unit_test(test_offsets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
