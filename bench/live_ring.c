/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_ring.c - what the machine gives: bytes copied into a ring by one thread and out of it by
 * another, on a CPU each, with nothing else in between. The measure for live fabrics on the same
 * machine.
 *
 *	bench_live_ring [megabytes [CPU CPU]]
 *
 * prints GB/s of plain copies, and of those past the caches.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "live/nic_priv.h"

#define CHUNK 4096
#define BUFFER (1 << 20)

struct half {
	struct wf_ring *ring;
	uint64_t chunks;
	int cpu;
	wf_hca_copy_fn *copy;
};

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

static void *consume(void *arg)
{
	struct half *h = arg;
	char *to = calloc(1, BUFFER);

	stay_on(h->cpu);
	for (uint64_t i = 0; to != NULL && i < h->chunks;) {
		const void *payload;
		struct wf_packet pkt;

		if (!wf_ring_peek(h->ring, &pkt, &payload))
			continue;
		memcpy(to + i * CHUNK % BUFFER, payload, CHUNK);
		wf_ring_consume(h->ring);
		if (++i % 16 == 0)
			(void)wf_ring_release(h->ring);
	}
	free(to);
	return NULL;
}

static void produce(struct half *h)
{
	char *from = calloc(1, BUFFER);
	struct wf_packet pkt = { .psn = 0 };

	stay_on(h->cpu);
	for (uint64_t i = 0; from != NULL && i < h->chunks;) {
		void *at = wf_ring_reserve(h->ring, CHUNK);

		if (at == NULL)
			continue;
		(void)h->copy(at, from + i++ * CHUNK % BUFFER, CHUNK);
		wf_ring_commit(h->ring, &pkt, CHUNK);
	}
	free(from);
}

/* GB/s, or 0 where there is no memory. */
static double measure(uint64_t chunks, int from, int to, wf_hca_copy_fn *copy)
{
	struct half tx = { .cpu = from, .chunks = chunks, .copy = copy };
	struct half rx = { .cpu = to, .chunks = chunks };
	struct timespec begin, end;
	struct wf_pipe pipe;
	pthread_t thread;

	if (wf_pipe_open_self(&pipe) != 0)
		return 0;
	tx.ring = &pipe.tx;
	rx.ring = &pipe.rx;
	if (pthread_create(&thread, NULL, consume, &rx) != 0)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	produce(&tx);
	pthread_join(thread, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	wf_pipe_close(&pipe);
	return (double)chunks * CHUNK /
	       ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec));
}

int main(int argc, char **argv)
{
	uint64_t chunks = ((argc > 1 ? strtoull(argv[1], NULL, 10) : 2048) << 20) / CHUNK;
	int from = argc > 3 ? (int)strtol(argv[2], NULL, 10) : 0;
	int to = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 1;

	printf("%.2f %.2f\n", measure(chunks, from, to, wf_nic_copy_near),
	       measure(chunks, from, to, wf_nic_copy_far));
	return 0;
}
