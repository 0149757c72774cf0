/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_watch.c - what a simulation tells while it runs agrees with what it counts, and telling it
 * changes nothing.
 */
#include "rig.h"

#include <stdlib.h>

#include "sim/look/watch.h"

#define MAX_NOTES 200000

struct log {
	struct rig *rig;
	wf_time interval;
	unsigned ticks;
	wf_time last, next;
	uint64_t bytes; /* sent at the last tick by all ports */
	struct wf_incident *notes;
	size_t n;
	uint64_t per_kind[WF_INCIDENTS];
	uint64_t paused_ps;
};

static void take(void *arg, const struct wf_incident *note)
{
	struct log *log = arg;

	assert_true(log->n < MAX_NOTES);
	assert_true(note->kind < WF_INCIDENTS);
	log->notes[log->n++] = *note;
	log->per_kind[note->kind]++;
	log->paused_ps += (uint64_t)note->dur;
}

static wf_time tick(void *arg, wf_time now, wf_time next)
{
	struct log *log = arg;
	const struct wf_topo *topo = log->rig->topo;
	uint64_t bytes = 0;

	for (uint32_t node = 0; node < topo->n_nodes; node++) {
		for (unsigned p = 0; p < topo->nodes[node].n_ports; p++) {
			struct wf_sim_counts c;

			for (unsigned q = 0; wf_sim_port_counts(log->rig->sim, node, p, q, &c);
			     q++) {
				assert_true(wf_sim_queue_used(log->rig->sim, node, q) ||
				            c.tx_packets == 0);
				bytes += c.tx_bytes;
			}
		}
	}
	assert_true(now >= log->last + (log->ticks > 0));
	/* Nothing has happened since the last time before what then was next. */
	assert_true(now >= log->next);
	assert_true(next >= now);
	log->next = next == WF_TIME_NEVER ? now : next;
	assert_true(bytes >= log->bytes);
	log->bytes = bytes;
	log->last = now;
	log->ticks++;
	wf_sim_take_incidents(log->rig->sim, take, log);
	return (now / log->interval + 1) * log->interval;
}

static int order(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct wf_incident));
}

/* Runs the rig watched; log->notes are sorted and the caller's to free. */
static void run_watched(struct rig *r, unsigned threads, uint32_t kinds, struct log *log)
{
	struct wf_err err = { "" };

	*log = (struct log){ .rig = r, .interval = WF_US };
	log->notes = calloc(MAX_NOTES, sizeof(*log->notes));
	assert_non_null(log->notes);
	if (rig_build(r, threads, &err) != 0)
		fail_msg("%s", err.text);
	wf_sim_set_tick(r->sim, 0, tick, log);
	wf_sim_keep_incidents(r->sim, kinds);
	assert_int_equal(wf_sim_run(r->sim, NULL, NULL), 0);
	rig_result(r);
	wf_sim_end_incidents(r->sim);
	wf_sim_take_incidents(r->sim, take, log);
	qsort(log->notes, log->n, sizeof(*log->notes), order);
}

static void small_buffers(struct rig *r, const char *flowctl)
{
	rig_init(r, flowctl, "leaf-spine", 16);
	rig_topo(r, "radix", "8");
	rig_set(r, "buffer.size", strcmp(flowctl, "pfc") == 0 ? "4MB" : "2MB");
	rig_set(r, "sender.window", "1MiB");
	rig_incast(r, 12, 15, 1 << 20);
}

static uint64_t total(const struct rig *r, size_t offset)
{
	uint64_t sum = 0;

	for (unsigned q = 0; q < r->result->n_queues; q++) {
		uint64_t v;

		memcpy(&v, (const char *)&r->result->queue[q] + offset, sizeof(v));
		sum += v;
	}
	return sum;
}

/* Pauses: as long in the notes as in the counters; the same run on any number of threads. */
static void test_pauses(void **state)
{
	struct wf_sim_result plain;
	struct log one, four;
	struct rig r;

	(void)state;
	small_buffers(&r, "pfc");
	rig_run(&r, 1);
	plain = *r.result;
	rig_again(&r);

	run_watched(&r, 1, UINT32_MAX, &one);
	assert_memory_equal(r.result, &plain, offsetof(struct wf_sim_result, memory));
	assert_true(one.ticks > 50);
	assert_true(one.per_kind[WF_INCIDENT_PAUSE] > 10);
	assert_int_equal(one.paused_ps, total(&r, offsetof(struct wf_sim_counts, paused_ps)));
	for (size_t i = 0; i < one.n; i++) {
		if (one.notes[i].kind == WF_INCIDENT_PAUSE)
			assert_true(one.notes[i].dur > 0 &&
			            one.notes[i].at + one.notes[i].dur <= r.result->end);
	}
	rig_again(&r);

	run_watched(&r, 4, UINT32_MAX, &four);
	assert_int_equal(four.ticks, one.ticks);
	assert_int_equal(four.bytes, one.bytes);
	assert_int_equal(four.n, one.n);
	assert_memory_equal(four.notes, one.notes, one.n * sizeof(*one.notes));
	free(one.notes);
	free(four.notes);
	rig_fini(&r);
}

/* Losses and what is sent again, of the windowed sender and of the transport. */
static void test_losses(void **state)
{
	(void)state;
	for (int transport = 0; transport < 2; transport++) {
		struct log log;
		struct rig r;

		small_buffers(&r, "none");
		for (size_t i = 0; i < r.flows.n && transport; i++)
			r.flows.flow[i].op = WF_FLOW_WRITE;
		run_watched(&r, 1, UINT32_MAX, &log);
		assert_true(r.result->finished);
		assert_true(log.per_kind[WF_INCIDENT_DROP] > 0);
		assert_int_equal(log.per_kind[WF_INCIDENT_DROP], r.result->packets_dropped);
		assert_true(r.result->resent > 0);
		assert_int_equal(log.per_kind[WF_INCIDENT_RETRANSMIT], r.result->resent);
		for (size_t i = 0; i < log.n; i++) {
			assert_true(log.notes[i].kind == WF_INCIDENT_DROP ||
			            log.notes[i].kind == WF_INCIDENT_RETRANSMIT);
			if (log.notes[i].kind == WF_INCIDENT_DROP)
				assert_int_equal(log.notes[i].why, WF_DROP_BUFFER);
			/* Data goes to host 15; acknowledgements come from it. */
			assert_true(log.notes[i].dst == 15 || log.notes[i].src == 15);
		}
		free(log.notes);
		rig_fini(&r);
	}
}

struct part {
	uint64_t hops[64];
	uint32_t share[64];
	unsigned n;
};

static bool note_share(void *arg, wf_time now, uint64_t hops, uint32_t share)
{
	struct part *p = arg;

	(void)now;
	if (p->n == WF_ARRAY_SIZE(p->share))
		return true;
	p->hops[p->n] = hops;
	p->share[p->n++] = share;
	return true;
}

/*
 * How much of it is done: what it says agrees with the packets' way, for flows that all end
 * together.
 */
static void test_share(void **state)
{
	(void)state;
	for (int transport = 0; transport < 2; transport++) {
		struct part p = { .n = 0 };
		struct wf_err err = { "" };
		struct rig r;

		rig_init(&r, "pfc", "leaf-spine", 16);
		rig_topo(&r, "radix", "8");
		rig_incast(&r, 12, 15, 64 << 20);
		for (size_t i = 0; i < r.flows.n && transport; i++)
			r.flows.flow[i].op = WF_FLOW_WRITE;
		assert_int_equal(rig_build(&r, 1, &err), 0);
		assert_int_equal(wf_sim_share(r.sim), 0);
		assert_int_equal(wf_sim_run(r.sim, note_share, &p), 0);
		rig_result(&r);
		assert_true(r.result->finished);
		assert_int_equal(wf_sim_share(r.sim), WF_SIM_ALL);
		assert_true(p.n > 4);
		for (unsigned i = 0; i < p.n; i++) {
			double of_hops = (double)p.hops[i] / (double)r.result->hops;

			assert_true(i == 0 || p.share[i] >= p.share[i - 1]);
			assert_float_equal((float)p.share[i] / WF_SIM_ALL, (float)of_hops, 0.05f);
		}
		rig_fini(&r);
	}
}

/*
 * Only what was asked for is noted; links are noted at both ends, broken queue pairs with the
 * reason.
 */
static void test_kinds(void **state)
{
	struct log log;
	struct rig r;

	(void)state;
	rig_init(&r, "none", "single", 4);
	rig_set(&r, "sender.timeout", "20us");
	rig_flow(&r, 0, 1, 64 << 20, 0, 3);
	r.flows.flow[0].op = WF_FLOW_WRITE;
	r.faults[r.n_faults++] = (struct wf_sim_fault){ .at = 10 * WF_US, .on = true, .what = 0 };
	r.until = 200 * WF_MS;
	run_watched(&r, 1, 1u << WF_INCIDENT_LINK_DOWN | 1u << WF_INCIDENT_QP_ERROR, &log);
	assert_int_equal(log.per_kind[WF_INCIDENT_LINK_DOWN], 2);
	assert_int_equal(log.per_kind[WF_INCIDENT_QP_ERROR], 1);
	assert_int_equal(log.n, 3);
	for (size_t i = 0; i < log.n; i++) {
		if (log.notes[i].kind == WF_INCIDENT_LINK_DOWN)
			assert_int_equal(log.notes[i].at, 10 * WF_US);
		else
			assert_int_equal(log.notes[i].why, WF_WC_RETRY_EXC_ERR);
	}
	free(log.notes);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
