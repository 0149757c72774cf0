/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_cc.c - what congestion control costs a packet: nanoseconds of CPU for on_timer() where it
 * is due, on_send(), the gap, and on_ack(), with 5 hops of telemetry, one mark in 64
 * acknowledgements and a CNP every 50 us.
 *
 *	bench_cc                     all algorithms
 *	bench_cc NAME [PACKETS]      one; to count instructions:
 *	valgrind --tool=callgrind --toggle-collect=run_packets build/release/bench_cc hpcc 100000
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "cc/cc.h"

#define LINE UINT64_C(400000000000)
#define PACKETS 4000000
#define FLOWS 64 /* so that their state is not all in the first cache */
#define WIRE 4178
#define PAYLOAD 4096
#define HOPS 5

struct flow {
	struct wf_cc *cc;
	wf_time cnp;
	struct wf_cc_int telemetry;
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Rates and queues that a flow might see: about its share, with some noise. */
static void see_hops(struct wf_cc_int *t, uint64_t r, wf_time now)
{
	t->hops = HOPS;
	for (uint32_t h = 0; h < HOPS; h++) {
		struct wf_cc_hop *hop = &t->hop[h];

		hop->rate = LINE;
		hop->tx_bytes += (uint64_t)(now - hop->at) / 22;
		hop->at = now;
		hop->queued = (r >> (8 * h)) & 0x3fff;
	}
}

/* Not inlined, so that callgrind finds it. Returns something that depends on all of it. */
__attribute__((noinline)) uint64_t run_packets(struct flow *flow, uint64_t packets, bool idle);

uint64_t run_packets(struct flow *flow, uint64_t packets, bool idle)
{
	uint64_t sum = 0;
	wf_time now = 0;

	for (uint64_t i = 0; i < packets; i++) {
		struct flow *f = &flow[i % FLOWS];
		struct wf_cc *cc = f->cc;
		uint64_t r = wf_mix64(i);
		struct wf_cc_ack ack = {
			.rtt = 10 * WF_US + (wf_time)(r & 0x3fffff),
			.inflight = 100000,
			.bytes = PAYLOAD,
			.ecn = r >> 58 == 0,
			.telemetry = &f->telemetry,
		};

		now += 84 * WF_NS;
		ack.now = now;
		see_hops(&f->telemetry, r, now);
		sum += (uint64_t)ack.rtt;
		if (idle)
			continue;
		if (now >= cc->timer)
			cc->ops->on_timer(cc, now);
		cc->ops->on_send(cc, WIRE, now);
		sum += (uint64_t)wf_cc_gap(cc, WIRE) + cc->window;
		if (now >= f->cnp) {
			f->cnp = now + 50 * WF_US;
			cc->ops->on_cnp(cc, now);
		}
		cc->ops->on_ack(cc, &ack);
	}
	return sum;
}

static uint64_t measure(const struct wf_cc_ops *ops, uint64_t packets, bool idle)
{
	struct flow *flow = calloc(FLOWS, sizeof(*flow));
	uint64_t t0, sum;

	if (flow == NULL)
		exit(1);
	for (int i = 0; i < FLOWS; i++) {
		flow[i].cc = calloc(1, ops->size);
		if (flow[i].cc == NULL)
			exit(1);
		wf_cc_init(flow[i].cc, ops, NULL, LINE, 0);
		flow[i].cnp = 10 * WF_US;
	}
	t0 = cpu_ns();
	sum = run_packets(flow, packets, idle);
	t0 = cpu_ns() - t0;
	for (int i = 0; i < FLOWS; i++)
		free(flow[i].cc);
	free(flow);
	/* What is computed is used. */
	if (sum == 0)
		printf("nothing happened\n");
	return t0;
}

static void bench(const struct wf_cc_ops *ops, uint64_t packets)
{
	uint64_t best = UINT64_MAX, idle = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t a = measure(ops, packets, false);
		uint64_t b = measure(ops, packets, true);

		best = a < best ? a : best;
		idle = b < idle ? b : idle;
	}
	printf("%-8s %8zu %10.1f\n", ops->name, ops->size,
	       best < idle ? 0 : (double)(best - idle) / (double)packets);
}

int main(int argc, char **argv)
{
	const struct wf_cc_ops *ops;

	if (argc > 1) {
		ops = wf_cc_find(argv[1]);
		if (ops == NULL) {
			fprintf(stderr, "bench_cc: no algorithm is called %s\n", argv[1]);
			return 1;
		}
		measure(ops, argc > 2 ? strtoull(argv[2], NULL, 10) : PACKETS, false);
		return 0;
	}
	printf("CPU per packet sent and acknowledged, %d flows\n", FLOWS);
	printf("name        bytes  ns/packet\n");
	for (size_t i = 0; (ops = wf_cc_at(i)) != NULL; i++)
		bench(ops, PACKETS);
	return 0;
}
