/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same.h - what a simulation came to, to the last byte, for runs that must come to the same: those
 * on 1, 2 and 4 threads (scen_same(), rig_same()).
 */
#ifndef WF_TESTS_SAME_H
#define WF_TESTS_SAME_H

#include "../unit/check.h"

#include <string.h>

#include "base/rng.h"
#include "base/siphash.h"
#include "sim/look/deadlock.h"
#include "sim/sim_priv.h"
#include "sim/storage/storage.h"

struct same {
	struct wf_sim_result result;
	uint64_t flows;     /* when each began and ended */
	uint64_t ports;     /* what each queue of each port counted */
	uint64_t deadlocks; /* that were found, queue by queue */
	uint64_t storage;   /* what each entry came to */
};

static inline uint64_t same_add(uint64_t hash, const void *what, size_t len)
{
	static const uint8_t key[WF_SIPHASH_KEY] = { 0 };

	return wf_mix64(hash + wf_siphash(key, what, len));
}

static inline uint64_t same_flows(const struct wf_sim *sim)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < wf_sim_flows(sim); i++) {
		const wf_time at[] = { wf_sim_flow_start(sim, i), wf_sim_flow_end(sim, i) };

		hash = same_add(hash, at, sizeof(at));
	}
	return hash;
}

static inline uint64_t same_ports(const struct wf_sim *sim, unsigned n_queues)
{
	uint64_t hash = 0;

	for (uint32_t id = 0; id < sim->net.topo->n_nodes; id++) {
		for (uint32_t p = 0; p < sim->net.topo->nodes[id].n_ports; p++) {
			for (unsigned q = 0; q < n_queues; q++) {
				struct wf_sim_counts c;

				assert_true(wf_sim_port_counts(sim, id, p, q, &c));
				hash = same_add(hash, &c, sizeof(c));
			}
		}
	}
	return hash;
}

static inline uint64_t same_link(uint64_t hash, const struct wf_deadlock_link *l)
{
	const uint64_t what[] = { l->node,    l->port,       l->queue,    (uint64_t)l->since,
		                  l->packets, l->bytes,      l->src,      l->dst,
		                  l->held,    l->held_bytes, l->held_src, l->held_dst,
		                  l->valley };

	return same_add(hash, what, sizeof(what));
}

static inline uint64_t same_deadlocks(const struct wf_sim *sim)
{
	uint64_t hash = 0;
	uint32_t n;
	const struct wf_deadlock *d = wf_sim_deadlocks(sim, &n);

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t what[] = { d[i].certain,         (uint64_t)d[i].formed,
			                  (uint64_t)d[i].found, d[i].times,
			                  (uint64_t)d[i].ended, d[i].closed,
			                  d[i].queues,          d[i].hosts,
			                  d[i].packets };

		hash = same_add(hash, what, sizeof(what));
		for (uint32_t k = 0; k < d[i].n; k++)
			hash = same_link(hash, &d[i].link[k]);
	}
	return hash;
}

static inline void same_take(const struct wf_sim *sim, size_t n_storage, struct same *same)
{
	memset(same, 0, sizeof(*same));
	wf_sim_result(sim, &same->result);
	same->result.memory = 0; /* each thread has its own */
	same->flows = same_flows(sim);
	same->ports = same_ports(sim, same->result.n_queues);
	same->deadlocks = same_deadlocks(sim);
	for (size_t i = 0; i < n_storage; i++) {
		struct wf_storage_result r;

		wf_sim_storage_result(sim, i, &r);
		same->storage = same_add(same->storage, &r, sizeof(r));
	}
}

static inline void same_check(const struct same *a, const struct same *b)
{
	assert_memory_equal(&a->result, &b->result, sizeof(a->result));
	assert_int_equal(a->flows, b->flows);
	assert_int_equal(a->ports, b->ports);
	assert_int_equal(a->deadlocks, b->deadlocks);
	assert_int_equal(a->storage, b->storage);
}

#endif
