/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mux_rmpp.c - transfers of many segments: lengths and windows, bad networks, ends in the
 * middle, wrong segments and ACKs.
 */
#include "mux_test.h"

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
	assert_true(wf_mux_tx(net.b.mux, WF_MUX_QPS, 0, &packet));
	assert_false(wf_mux_has_tx(net.b.mux, WF_MUX_QPS)); /* one, until it is acknowledged */
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
	assert_true(wf_mux_tx(net.b.mux, WF_MUX_QPS, 0, &packet));
	wf_rmpp_decode(packet.mad, &rmpp);
	assert_int_equal(rmpp.flags, 1);
	assert_int_equal(rmpp.data1, 2);
	assert_true(wf_mux_tx(net.b.mux, WF_MUX_QPS, 0, &packet));
	wf_rmpp_decode(packet.mad, &rmpp);
	assert_int_equal(rmpp.flags, 5);
	assert_int_equal(rmpp.data1, 3);
	assert_int_equal(rmpp.data2, 20 + 50);
	assert_int_equal(packet.mad[WF_SA_DATA + 49], (uint8_t)(449 * 7 + 1));
	assert_int_equal(packet.mad[WF_SA_DATA + 50], 0);
	assert_false(wf_mux_has_tx(net.b.mux, WF_MUX_QPS));
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
	while (wf_mux_tx(net.b.mux, WF_MUX_QPS, net.now, &packet))
		;
	free(ha.data), free(hb.data);
	net_fini(&net);
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
		assert_int_equal(wf_mux_has_tx(net.b.mux, WF_MUX_QPS), rows[i].status != 0);
		if (rows[i].status == 0)
			continue;
		assert_true(wf_mux_tx(net.b.mux, WF_MUX_QPS, 0, &packet));
		assert_int_equal(packet.mad[3], WF_MAD_METHOD_GET_TABLE_RESP);
		wf_rmpp_decode(packet.mad, &rmpp);
		assert_int_equal(rmpp.type, 4);
		assert_int_equal(rmpp.status, rows[i].status);
	}
	assert_int_equal(hb.received, 0);
	net_fini(&net);
}

/* A receiver by hand: a waits for a table (transaction 1 of its own), which comes as one likes. */
struct receiver {
	struct net net;
	struct heard heard;
	struct wf_mux_agent *a;
	uint64_t tid;
};

static void receiver_init(struct receiver *r, wf_time timeout)
{
	struct wf_mux_packet packet;
	uint8_t mad[WF_MAD_LEN];

	net_init(&r->net, 11);
	r->a = agent(&r->net.a, &r->heard, SA, 0, true);
	request(mad, 1, GET_TABLE);
	assert_int_equal(wf_mux_send(r->a, &to_b, mad, sizeof(mad), timeout, 0, NULL), 0);
	assert_true(wf_mux_tx(r->net.a.mux, WF_MUX_QPS, 0, &packet));
	r->tid = tid_of(packet.mad);
}

static void receiver_fini(struct receiver *r)
{
	wf_mux_unregister(r->a);
	free(r->heard.data);
	net_fini(&r->net);
}

/* A segment, or what has another type; the bytes behind the header are its number. */
static void segment(struct receiver *r, struct wf_rmpp rmpp, wf_time now)
{
	uint8_t mad[WF_MAD_LEN];

	request(mad, 0, WF_MAD_METHOD_GET_TABLE_RESP);
	wf_be64_put(mad + 8, r->tid);
	memset(mad + WF_SA_DATA, (int)rmpp.data1, WF_SA_DATA_LEN);
	mad[WF_SA_HEADER] = 0x77;
	rmpp.version = 1;
	rmpp.flags |= 1;
	wf_rmpp_encode(&rmpp, mad);
	wf_mux_rx(r->net.a.mux, 1, &to_b, mad, now);
}

static void first(struct receiver *r, wf_time now)
{
	segment(r, (struct wf_rmpp){ .type = 1, .flags = 2, .data1 = 1 }, now);
}

static void middle(struct receiver *r, uint32_t seg, wf_time now)
{
	segment(r, (struct wf_rmpp){ .type = 1, .data1 = seg }, now);
}

static void last(struct receiver *r, uint32_t seg, uint32_t length, wf_time now)
{
	segment(r, (struct wf_rmpp){ .type = 1, .flags = 4, .data1 = seg, .data2 = length }, now);
}

/* What the receiver says next: its type and status, window in *window_p. */
static unsigned said(struct receiver *r, uint32_t *window_p)
{
	struct wf_mux_packet packet;
	struct wf_rmpp rmpp;

	if (!wf_mux_tx(r->net.a.mux, WF_MUX_QPS, 0, &packet))
		return 0;
	assert_int_equal(packet.mad[3], GET_TABLE);
	assert_int_equal(tid_of(packet.mad), r->tid);
	wf_rmpp_decode(packet.mad, &rmpp);
	*window_p = rmpp.data2;
	return (unsigned)rmpp.type << 8 | (rmpp.type == 2 ? rmpp.data1 : rmpp.status);
}

static void test_receiver(void **state)
{
	static const uint32_t lengths[] = { 20, 60, 220, 0, 19, 221 };
	struct receiver r;
	uint32_t window;

	(void)state;
	/* what a length cannot be counts as a full segment */
	for (unsigned i = 0; i < WF_ARRAY_SIZE(lengths); i++) {
		unsigned n = i < 3 ? lengths[i] - 20 : 200;

		receiver_init(&r, WF_S);
		first(&r, 0);
		assert_int_equal(said(&r, &window), 0x201);
		assert_int_equal(window, 65);
		middle(&r, 3, 0); /* and twice, and out of its turn */
		middle(&r, 3, 0);
		middle(&r, 66, 0); /* not in the window */
		last(&r, 4, lengths[i], 0);
		assert_int_equal(said(&r, &window), 0);
		middle(&r, 2, 0);
		assert_int_equal(said(&r, &window), 0x204);
		assert_int_equal(r.heard.received, 1);
		assert_int_equal(r.heard.length, WF_SA_DATA + 600 + n);
		assert_int_equal(r.heard.data[1], SA);
		assert_int_equal(r.heard.data[WF_SA_HEADER], 0x77);
		for (unsigned b = 0; b < 600 + n; b++)
			assert_int_equal(r.heard.data[WF_SA_DATA + b], 1 + b / 200);
		/* what comes again of it is acknowledged, and nothing else */
		last(&r, 4, lengths[i], 0);
		assert_int_equal(said(&r, &window), 0x204);
		assert_int_equal(r.heard.received, 1);
		receiver_fini(&r);
	}
}

/* What does not go together ends a transfer, and the request. */
static void test_receiver_gives_up(void **state)
{
	struct receiver r;
	uint32_t window;

	(void)state;
	for (unsigned how = 0; how < 6; how++) {
		long held;

		receiver_init(&r, 1000 * WF_S);
		held = r.net.a.mem.held;
		first(&r, 0);
		assert_int_equal(said(&r, &window), 0x201);
		switch (how) {
		case 0: /* one behind the last */
			last(&r, 3, 100, 0);
			middle(&r, 4, 0);
			assert_int_equal(said(&r, &window), 0x400 | 119);
			break;
		case 1: /* a second last one */
			last(&r, 5, 100, 0);
			last(&r, 3, 100, 0);
			assert_int_equal(said(&r, &window), 0x400 | 119);
			break;
		case 2: /* the last before one that is there */
			middle(&r, 5, 0);
			last(&r, 3, 100, 0);
			assert_int_equal(said(&r, &window), 0x400 | 119);
			break;
		case 3: /* the other side gives up */
			segment(&r, (struct wf_rmpp){ .type = 4, .status = 126 }, 0);
			assert_int_equal(said(&r, &window), 0);
			break;
		case 4:
			segment(&r, (struct wf_rmpp){ .type = 3, .status = 1 }, 0);
			assert_int_equal(said(&r, &window), 0);
			break;
		default: /* no memory for more: STOP, as far as there is some for saying so */
			for (uint32_t seg = 2; seg <= 20; seg++)
				middle(&r, seg, 0);
			r.net.a.mem.left = 0;
			middle(&r, 21, 0);
			r.net.a.mem.left = 1000;
			break;
		}
		assert_int_equal(r.heard.failed, 1);
		assert_int_equal(r.heard.status, -ECONNABORTED);
		assert_int_equal(r.net.a.mem.held, held - 1); /* the request's is gone, too */
		receiver_fini(&r);
	}
}

/* The request's time begins anew with each segment; without one, 40 s are the end. */
static void test_receiver_times(void **state)
{
	struct receiver r;
	uint32_t window;

	(void)state;
	receiver_init(&r, 10 * WF_S);
	first(&r, 9 * WF_S);
	assert_int_equal(said(&r, &window), 0x201);
	middle(&r, 2, 18 * WF_S);
	wf_mux_tick(r.net.a.mux, 28 * WF_S - 1);
	assert_int_equal(r.heard.failed, 0);
	wf_mux_tick(r.net.a.mux, 28 * WF_S);
	assert_int_equal(r.heard.failed, 1);
	assert_int_equal(r.heard.status, -ETIMEDOUT);
	assert_int_equal(said(&r, &window), 0);
	wf_mux_tick(r.net.a.mux, 58 * WF_S - 1);
	assert_int_equal(said(&r, &window), 0);
	wf_mux_tick(r.net.a.mux, 58 * WF_S);
	assert_int_equal(said(&r, &window), 0x400 | 118);
	assert_int_equal(wf_mux_deadline(r.net.a.mux), WF_TIME_NEVER);
	receiver_fini(&r);
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
		assert_true(wf_mux_tx(net.b.mux, WF_MUX_QPS, 0, &packet));
		rmpp = (struct wf_rmpp){ 1, 2, 0, 1, 0, i == 0 ? 3 : 1, i == 0 ? 65 : 0 };
		wf_rmpp_encode(&rmpp, mad);
		wf_mux_rx(net.b.mux, 1, &from, mad, 0);
		assert_int_equal(hb.failed, i + 1);
		assert_int_equal(hb.status, -ECONNABORTED);
		assert_true(wf_mux_tx(net.b.mux, WF_MUX_QPS, 0, &packet));
		wf_rmpp_decode(packet.mad, &rmpp);
		assert_int_equal(rmpp.status, i == 0 ? 123 : 122);
	}
	free(hb.data);
	net_fini(&net);
}

/* An ACK that comes after its time, when all was to be sent again; one that opens no window. */
static void test_late_acks(void **state)
{
	struct wf_mux_addr from = { .lid = 1, .qpn = 1 };
	struct wf_mux_packet packet;
	struct wf_rmpp rmpp;
	struct wf_mux_agent *b;
	uint8_t mad[WF_MAD_LEN];
	struct heard hb;
	struct net net;

	(void)state;
	net_init(&net, 12);
	b = agent(&net.b, &hb, SA, 1 << GET_TABLE, true);
	request(mad, 8, GET_TABLE);
	wf_mux_rx(net.b.mux, 1, &from, mad, 0);
	answer(b, &hb, 1000, 2);
	assert_true(wf_mux_tx(net.b.mux, WF_MUX_QPS, 0, &packet));
	rmpp = (struct wf_rmpp){ 1, 2, 0, 1, 0, 1, 65 };
	wf_rmpp_encode(&rmpp, mad);
	wf_mux_rx(net.b.mux, 1, &from, mad, 0);
	for (unsigned i = 2; i <= 5; i++) {
		assert_true(wf_mux_tx(net.b.mux, WF_MUX_QPS, 0, &packet));
		wf_rmpp_decode(packet.mad, &rmpp);
		assert_int_equal(rmpp.data1, i);
		assert_int_equal(rmpp.type, 1);
	}
	wf_mux_tick(net.b.mux, 200 * WF_MS);
	rmpp = (struct wf_rmpp){ 1, 2, 0, 1, 0, 4, 65 };
	wf_rmpp_encode(&rmpp, mad);
	wf_mux_rx(net.b.mux, 1, &from, mad, 200 * WF_MS);
	rmpp.data1 = 2; /* an old one */
	wf_rmpp_encode(&rmpp, mad);
	wf_mux_rx(net.b.mux, 1, &from, mad, 200 * WF_MS);
	assert_true(wf_mux_tx(net.b.mux, WF_MUX_QPS, 200 * WF_MS, &packet));
	wf_rmpp_decode(packet.mad, &rmpp);
	assert_int_equal(rmpp.data1, 5);
	assert_false(wf_mux_has_tx(net.b.mux, WF_MUX_QPS));
	rmpp = (struct wf_rmpp){ 1, 2, 0, 1, 0, 5, 5 }; /* the last, with a smaller window */
	wf_rmpp_encode(&rmpp, mad);
	wf_mux_rx(net.b.mux, 1, &from, mad, 200 * WF_MS);
	assert_int_equal(wf_mux_deadline(net.b.mux), WF_TIME_NEVER);
	/* a window that never opens is waited for as long as for an ACK */
	request(mad, 9, GET_TABLE);
	wf_mux_rx(net.b.mux, 1, &from, mad, 0);
	answer(b, &hb, 1000, 2);
	assert_true(wf_mux_tx(net.b.mux, WF_MUX_QPS, 0, &packet));
	rmpp = (struct wf_rmpp){ 1, 2, 0, 1, 0, 1, 1 };
	wf_rmpp_encode(&rmpp, mad);
	wf_mux_rx(net.b.mux, 1, &from, mad, 0);
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(hb.failed, 0);
		assert_false(wf_mux_has_tx(net.b.mux, WF_MUX_QPS));
		wf_mux_tick(net.b.mux, i * 200 * WF_MS);
	}
	assert_int_equal(hb.failed, 1);
	free(hb.data);
	net_fini(&net);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_bad_networks),
		cmocka_unit_test(test_last_ack_lost),
		cmocka_unit_test(test_endings),
		cmocka_unit_test(test_long_request),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_receiver),
		cmocka_unit_test(test_receiver_gives_up),
		cmocka_unit_test(test_receiver_times),
		cmocka_unit_test(test_wrong_acks),
		cmocka_unit_test(test_late_acks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
