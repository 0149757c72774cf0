/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mux_test.h - what the tests of the mux share: two ports with a network between them that loses,
 * repeats and reorders, in virtual time.
 */
#ifndef WF_TESTS_MUX_TEST_H
#define WF_TESTS_MUX_TEST_H

#include "mgmt_test.h"

#include <errno.h>

#include "mgmt/mux.h"

#define SA WF_MAD_CLASS_SA
#define GET_TABLE WF_MAD_METHOD_GET_TABLE
#define WIRE_MAX 4096
#define LATENCY (10 * WF_US)

/* What an agent was told last, and how often. */
struct heard {
	unsigned received, failed, ended;
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

static inline void on_event(void *arg, const struct wf_mux_event *event)
{
	struct heard *h = arg;

	if (event->type == WF_MUX_ENDED) {
		assert_non_null(event->context);
		h->context = event->context;
		h->ended++;
		return;
	}
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

static inline void net_init(struct net *net, uint64_t seed)
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

static inline void net_fini(struct net *net)
{
	wf_mux_destroy(net->a.mux);
	wf_mux_destroy(net->b.mux);
	assert_int_equal(net->a.mem.held, 0);
	assert_int_equal(net->b.mem.held, 0);
	free(net->wire);
}

static inline bool chance(struct net *net, unsigned per_thousand)
{
	return wf_rand_below(wf_rand64(net->key, net->count++), 1000) < per_thousand;
}

static inline void put(struct net *net, const struct wf_mux_packet *packet, bool to_b)
{
	struct packet *p = &net->wire[net->n++];

	assert_true(net->n <= WIRE_MAX);
	p->packet = *packet;
	p->to_b = to_b;
	p->at = net->now + LATENCY;
	if (chance(net, net->delay))
		p->at += LATENCY * wf_rand_below(wf_rand64(net->key, net->count++), 50);
}

static inline void drain(struct net *net, struct side *side)
{
	struct wf_mux_packet packet;

	while (wf_mux_tx(side->mux, WF_MUX_QPS, net->now, &packet)) {
		net->sent++;
		assert_int_equal(packet.addr.lid, side == &net->a ? 2 : 1);
		if (net->lose_next-- > 0 || chance(net, net->lose))
			continue;
		put(net, &packet, side == &net->a);
		if (chance(net, net->repeat))
			put(net, &packet, side == &net->a);
	}
	assert_false(wf_mux_has_tx(side->mux, WF_MUX_QPS));
}

static inline void arrive(struct net *net, size_t i)
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
static inline void run(struct net *net, wf_time until)
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

static inline struct wf_mux_agent *agent(struct side *side, struct heard *heard, uint8_t class,
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

static inline uint64_t tid_of(const uint8_t *mad)
{
	return wf_be64_get(mad + 8);
}

/* b answers what it has heard with length bytes of data behind SA's header. */
static inline void answer(struct wf_mux_agent *b, const struct heard *heard, size_t length,
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

static inline void check_data(const struct heard *heard, size_t length)
{
	assert_int_equal(heard->length, WF_SA_DATA + length);
	for (size_t i = 0; i < length; i++)
		if (heard->data[WF_SA_DATA + i] != (uint8_t)(i * 7 + i / 251))
			fail_msg("byte %zu is wrong", i);
}

static inline void request(uint8_t *mad, uint32_t tid, uint8_t method)
{
	test_request(mad, SA, 2, method, 0x0011, 0);
	wf_be64_put(mad + 8, tid);
}

#endif
