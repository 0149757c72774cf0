/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bottleneck.h - flows of one algorithm over one queue, for tests.
 *
 *	sender 0 --+
 *	   ...     +--> queue (rate, marks, telemetry) --> receiver --> acknowledgements
 *	sender n --+
 *
 * Packet by packet, with constant delays on both sides of a FIFO queue that never drops. A sender
 * obeys its rate and its window. The receiver acknowledges every packet and sends a CNP at most
 * once per cnp_interval, which travels with the acknowledgement.
 */
#ifndef WF_TESTS_CC_BOTTLENECK_H
#define WF_TESTS_CC_BOTTLENECK_H

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "cc/algs.h"
#include "cc/cc_priv.h"
#include "check.h"

#define BN_FLOWS 16
#define BN_RING 65536
#define BN_PAYLOAD 4096
#define BN_WIRE 4178

struct bn_flow {
	struct wf_cc *cc;
	wf_time start;
	wf_time next_tx;
	wf_time cnp_next;
	uint64_t inflight;
	uint64_t delivered; /* payload bytes in the measured part */
};

struct bn_ack {
	wf_time at, sent;
	uint32_t flow;
	bool ecn, cnp;
	struct wf_cc_int telemetry;
};

/* What is set, then what comes out. */
struct bottleneck {
	const struct wf_cc_ops *ops;
	const void *param;
	uint32_t flows;
	uint64_t line;        /* of each sender and of the queue, bits/s */
	wf_time rtt;          /* without queue */
	wf_time stagger;      /* flow i starts at i times this */
	uint64_t kmin, kmax;  /* bytes */
	uint64_t pmax;        /* of 2^32 */
	wf_time cnp_interval; /* 0: no CNPs */
	wf_time measure;      /* from here on */
	wf_time end;

	struct bn_flow flow[BN_FLOWS];
	uint64_t sent; /* bytes that left the queue */
	uint64_t draws;
	wf_time busy;   /* the queue is empty at */
	uint64_t q_max; /* bytes, in the measured part */
	uint64_t q_sum;
	uint64_t packets;
	uint32_t head, tail;
	struct bn_ack *ring;
};

static inline wf_time bn_time(const struct bottleneck *b, uint64_t bytes)
{
	return (wf_time)(bytes * 8 * 1000000 / (b->line / 1000000));
}

static inline uint64_t bn_bytes(const struct bottleneck *b, wf_time t)
{
	return (uint64_t)t / 1000 * (b->line / 1000000000) / 8;
}

static inline bool bn_mark(struct bottleneck *b, uint64_t queue)
{
	uint64_t p;

	if (queue <= b->kmin)
		return false;
	if (queue > b->kmax)
		return true;
	p = b->pmax * (queue - b->kmin) / (b->kmax - b->kmin);
	return wf_rand64(99, b->draws++) >> 32 < p;
}

/* When flow f may send its next packet; WF_TIME_NEVER: when an acknowledgement came. */
static inline wf_time bn_ready(const struct bn_flow *f)
{
	if (f->inflight != 0 && f->inflight + BN_PAYLOAD > f->cc->window)
		return WF_TIME_NEVER;
	return f->next_tx;
}

/* The packet arrives at the queue half of the forward way later, is marked, and leaves. */
static inline void bn_send(struct bottleneck *b, uint32_t i, wf_time now)
{
	struct bn_flow *f = &b->flow[i];
	struct bn_ack *a = &b->ring[b->head++ % BN_RING];
	wf_time at = now + b->rtt / 4;
	uint64_t queue = b->busy > at ? bn_bytes(b, b->busy - at) : 0;
	wf_time begin = wf_max_time(b->busy, at);

	assert_true(b->head - b->tail < BN_RING);
	if (now >= f->cc->timer)
		f->cc->ops->on_timer(f->cc, now);
	f->cc->ops->on_send(f->cc, BN_WIRE, now);
	f->inflight += BN_PAYLOAD;
	f->next_tx = now + wf_max_time(wf_cc_gap(f->cc, BN_WIRE), bn_time(b, BN_WIRE));
	b->busy = begin + bn_time(b, BN_WIRE);
	memset(a, 0, sizeof(*a));
	a->flow = i;
	a->sent = now;
	a->ecn = bn_mark(b, queue);
	a->telemetry.hops = 1;
	a->telemetry.hop[0].at = begin;
	a->telemetry.hop[0].rate = b->line;
	a->telemetry.hop[0].tx_bytes = b->sent;
	/* Constant rates before the queue: what comes behind this packet is like what was ahead. */
	a->telemetry.hop[0].queued = queue;
	b->sent += BN_WIRE;
	a->at = b->busy + b->rtt * 3 / 4;
	if (a->ecn && b->cnp_interval != 0 && b->busy >= f->cnp_next) {
		a->cnp = true;
		f->cnp_next = b->busy + b->cnp_interval;
	}
	if (now >= b->measure) {
		b->q_max = wf_max_u64(b->q_max, queue);
		b->q_sum += queue;
		b->packets++;
	}
}

static inline void bn_take(struct bottleneck *b)
{
	const struct bn_ack *a = &b->ring[b->tail++ % BN_RING];
	struct bn_flow *f = &b->flow[a->flow];
	struct wf_cc_ack ack = {
		.now = a->at,
		.rtt = a->at - a->sent,
		.bytes = BN_PAYLOAD,
		.ecn = a->ecn,
		.telemetry = &a->telemetry,
	};

	f->inflight -= BN_PAYLOAD;
	ack.inflight = f->inflight;
	if (a->at >= b->measure)
		f->delivered += BN_PAYLOAD;
	if (a->at >= f->cc->timer)
		f->cc->ops->on_timer(f->cc, a->at);
	f->cc->ops->on_ack(f->cc, &ack);
	if (a->cnp)
		f->cc->ops->on_cnp(f->cc, a->at);
	assert_in_range(f->cc->rate, 1, b->line);
	assert_true(f->cc->window > 0);
}

static inline void bn_run(struct bottleneck *b)
{
	char *mem = calloc(b->flows, b->ops->size);

	b->ring = calloc(BN_RING, sizeof(*b->ring));
	assert_non_null(mem);
	assert_non_null(b->ring);
	for (uint32_t i = 0; i < b->flows; i++) {
		struct bn_flow *f = &b->flow[i];

		f->cc = (struct wf_cc *)(void *)(mem + i * b->ops->size);
		f->start = f->next_tx = (wf_time)i * b->stagger + (wf_time)i * WF_NS;
		wf_cc_init(f->cc, b->ops, b->param, b->line, f->start);
	}
	for (;;) {
		wf_time ack = b->head != b->tail ? b->ring[b->tail % BN_RING].at : WF_TIME_NEVER;
		wf_time at = WF_TIME_NEVER;
		uint32_t who = 0;

		for (uint32_t i = 0; i < b->flows; i++) {
			wf_time t = bn_ready(&b->flow[i]);

			if (t < at) {
				at = t;
				who = i;
			}
		}
		if (wf_min_time(ack, at) >= b->end)
			break;
		if (ack <= at) {
			struct bn_flow *f = &b->flow[b->ring[b->tail % BN_RING].flow];
			bool blocked = bn_ready(f) == WF_TIME_NEVER;

			bn_take(b);
			if (blocked)
				f->next_tx = wf_max_time(f->next_tx, ack);
		} else {
			bn_send(b, who, at);
		}
	}
	free(b->ring);
	free(mem);
}

/* Jain's index of fairness of what was delivered, in thousandths. */
static inline uint64_t bn_jain(const struct bottleneck *b)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < b->flows; i++) {
		double x = (double)b->flow[i].delivered;

		sum += x;
		squares += x * x;
	}
	return (uint64_t)(1000 * sum * sum / (b->flows * squares));
}

/* Per cent of the queue's capacity that was used in the measured part (payload). */
static inline uint64_t bn_used(const struct bottleneck *b)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < b->flows; i++)
		sum += b->flow[i].delivered;
	return sum * 100 / (bn_bytes(b, b->end - b->measure) * BN_PAYLOAD / BN_WIRE);
}

static inline uint64_t bn_mean_queue(const struct bottleneck *b)
{
	return b->q_sum / wf_max_u64(b->packets, 1);
}

#endif
