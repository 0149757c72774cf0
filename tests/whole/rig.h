/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig.h - a fabric for a scenario test in a few lines.
 *
 *	struct rig r;
 *	rig_init(&r, "credit", "single", 33);
 *	rig_set(&r, "vl.buffer", "32KiB");
 *	rig_flow(&r, src, dst, bytes, start, class);
 *	rig_run(&r, threads);	... r.result, r.sim ...
 *	rig_same(&r);		... the same on 1, 2 and 4 threads ...
 *	rig_fini(&r);
 */
#ifndef WF_TESTS_RIG_H
#define WF_TESTS_RIG_H

#include "check.h"

#include <stdio.h>
#include <string.h>

#include "same.h"
#include "sim/prog/cc_choice.h"
#include "sim/sim.h"
#include "sim/sim_priv.h"

#define RIG_FAULTS 512

struct rig {
	struct wf_topo_cfg topo_cfg;
	struct wf_fabric_cfg fabric;
	struct wf_cc_choice *cc; /* NULL: none */
	struct wf_flow_list flows;
	struct wf_sim_fault faults[RIG_FAULTS];
	size_t n_faults;
	struct wf_topo *topo;
	struct wf_sim *sim;
	struct wf_sim_result *result;
	wf_time until;
	wf_time reconverge;
	wf_time deadlock_check; /* 0: not while it runs */
	uint64_t seed;
	bool wire;                      /* on 4 threads every packet's bytes are checked */
	size_t max_memory;              /* 0: no limit */
	struct wf_mem *mem;             /* the simulation's; NULL: the heap */
	const struct wf_gate_ops *gate; /* NULL: flows */
	void *gate_arg;
	const struct wf_sim_app *app;         /* NULL: flows alone */
	const struct wf_sim_manager *manager; /* NULL: nobody manages it */
};

static inline void rig_topo(struct rig *r, const char *name, const char *value)
{
	const struct wf_param *row = wf_param_find(wf_topo_params, wf_topo_n_params, name);
	struct wf_err err = { "" };

	assert_non_null(row);
	if (wf_param_set(row, &r->topo_cfg, value, &err) != 0)
		fail_msg("%s: %s", name, err.text);
}

static inline void rig_set(struct rig *r, const char *name, const char *value)
{
	const struct wf_param *row = wf_param_find(wf_fabric_params, wf_fabric_n_params, name);
	struct wf_err err = { "" };

	assert_non_null(row);
	if (wf_param_set(row, &r->fabric, value, &err) != 0)
		fail_msg("%s: %s", name, err.text);
}

/* A parameter of congestion control: "cc.algorithm", "cc.ibcc.ccti_timer" ... */
static inline void rig_cc(struct rig *r, const char *name, const char *value)
{
	struct wf_err err = { "" };
	const struct wf_param *row;
	struct wf_arena arena;
	struct wf_param *rows;
	size_t n;

	wf_arena_init(&arena);
	assert_int_equal(wf_cc_choice_rows(&arena.mem, 0, &rows, &n), 0);
	if (r->cc == NULL) {
		r->cc = wf_mem_heap()->alloc(wf_mem_heap(), sizeof(*r->cc));
		assert_non_null(r->cc);
		assert_int_equal(wf_param_defaults(rows, n, r->cc, &err), 0);
	}
	row = wf_param_find(rows, n, name);
	assert_non_null(row);
	if (wf_param_set(row, r->cc, value, &err) != 0)
		fail_msg("%s: %s", name, err.text);
	wf_arena_fini(&arena);
}

static inline void rig_init(struct rig *r, const char *layer, const char *kind, unsigned hosts)
{
	struct wf_err err = { "" };
	char number[16];

	memset(r, 0, sizeof(*r));
	r->flows.mem = wf_mem_heap();
	r->until = WF_S;
	r->seed = 1;
	assert_int_equal(wf_param_defaults(wf_topo_params, wf_topo_n_params, &r->topo_cfg, &err),
	                 0);
	assert_int_equal(wf_param_defaults(wf_fabric_params, wf_fabric_n_params, &r->fabric, &err),
	                 0);
	snprintf(number, sizeof(number), "%u", hosts);
	rig_topo(r, "kind", kind);
	rig_topo(r, "hosts", number);
	rig_set(r, "flowctl", layer);
	if (strcmp(layer, "credit") == 0) {
		rig_set(r, "link_layer", "infiniband");
		rig_set(r, "header", "ib");
		rig_set(r, "link.gap", "0B");
		rig_set(r, "routing", "lft");
	} else {
		rig_set(r, "link_layer", "ethernet");
		rig_set(r, "header", "rocev2");
		rig_set(r, "classes.lossless", "3");
		rig_set(r, "classes.ecn", "3");
		rig_set(r, "classes.strict", "6");
		rig_set(r, "classes.weights", "0:50,3:50");
		rig_set(r, "routing", "ecmp");
	}
}

static inline void rig_flow(struct rig *r, uint32_t src, uint32_t dst, uint64_t bytes,
                            wf_time start, uint8_t cls)
{
	struct wf_flow_spec f = {
		.src = src, .dst = dst, .bytes = bytes, .start = start, .cls = cls
	};

	assert_int_equal(wf_flow_list_add(&r->flows, &f), 0);
}

/* fanin hosts, the last of n not among them, send to the last. */
static inline void rig_incast(struct rig *r, unsigned fanin, unsigned target, uint64_t bytes)
{
	for (unsigned i = 0, src = 0; i < fanin; src++) {
		if (src == target)
			continue;
		rig_flow(r, src, target, bytes, 0, 3);
		i++;
	}
}

/* Host i sends to host (i + by) mod n. */
static inline void rig_shift(struct rig *r, unsigned n, unsigned by, uint64_t bytes)
{
	for (unsigned i = 0; i < n; i++)
		rig_flow(r, i, (i + by) % n, bytes, 0, 3);
}

/* Builds topology and simulation; returns what wf_sim_create() says. */
static inline int rig_build(struct rig *r, unsigned threads, struct wf_err *err)
{
	const struct wf_topo_ops *ops = wf_topo_find(r->topo_cfg.kind);
	struct wf_sim_cfg cfg;

	if (r->topo == NULL &&
	    ops->build(&r->topo_cfg, NULL, 0, "test", wf_mem_heap(), &r->topo, err) != 0)
		fail_msg("%s", err->text);
	cfg = (struct wf_sim_cfg){
		.topo = r->topo,
		.fabric = &r->fabric,
		.cc = r->cc,
		.flows = r->flows.flow,
		.n_flows = r->flows.n,
		.gate = r->gate,
		.app = r->app,
		.gate_arg = r->gate_arg,
		.manager = r->manager,
		.faults = r->faults,
		.n_faults = r->n_faults,
		.reconverge = r->reconverge,
		.deadlock_check = r->deadlock_check,
		.until = r->until,
		.seed = r->seed,
		.threads = threads,
		.max_memory = r->max_memory,
		.mem = r->mem,
	};
	return wf_sim_create(&cfg, &r->sim, err);
}

static inline void rig_result(struct rig *r)
{
	if (r->result == NULL)
		r->result = wf_mem_heap()->alloc(wf_mem_heap(), sizeof(*r->result));
	assert_non_null(r->result);
	wf_sim_result(r->sim, r->result);
}

/* Builds and runs to the end, and checks what must hold there. */
static inline void rig_run(struct rig *r, unsigned threads)
{
	struct wf_err err = { "" };

	if (rig_build(r, threads, &err) != 0)
		fail_msg("%s", err.text);
	if (r->wire && threads == 4)
		assert_int_equal(wf_sim_check_wire(r->sim), 0);
	assert_int_equal(wf_sim_run(r->sim, NULL, NULL), 0);
	if (wf_sim_check(r->sim, &err) != 0)
		fail_msg("%s", err.text);
	rig_result(r);
}

/* After the last flow is done, what is still on links comes home. */
static inline void rig_drain(struct rig *r)
{
	struct wf_err err = { "" };

	assert_int_equal(
		wf_engine_run(r->sim->engine, wf_sim_now(r->sim) + 100 * WF_MS, NULL, NULL), 0);
	if (wf_sim_check(r->sim, &err) != 0)
		fail_msg("%s", err.text);
}

/* Frees the simulation; the rig can be run again. */
static inline void rig_again(struct rig *r)
{
	wf_sim_destroy(r->sim);
	r->sim = NULL;
}

/*
 * Runs it on 1, 2 and 4 threads, which must come to the same, to the last byte. What is there after
 * that is the last run's.
 */
static inline void rig_same(struct rig *r)
{
	static struct same one, more;

	for (unsigned threads = 1; threads <= 4; threads *= 2) {
		rig_again(r);
		rig_run(r, threads);
		same_take(r->sim, 0, threads == 1 ? &one : &more);
		if (threads > 1)
			same_check(&one, &more);
	}
}

static inline void rig_fini(struct rig *r)
{
	rig_again(r);
	wf_mem_heap()->free(wf_mem_heap(), r->result);
	wf_mem_heap()->free(wf_mem_heap(), r->cc);
	wf_topo_destroy(r->topo);
	wf_flow_list_fini(&r->flows);
}

/*
 * A PFC frame comes to host, between runs: class cls, lossless, stops for so many times 512 bits,
 * or, with 0, goes on.
 */
static inline void rig_pause(struct wf_sim *sim, uint32_t host, uint8_t cls, uint16_t quanta)
{
	struct wf_device *dev = wf_network_host(&sim->net, host);
	const struct wf_packet frame = {
		.type = WF_PACKET_PAUSE,
		.u.pause = { .mask = (uint16_t)(1u << cls), .quanta = { quanta } },
	};

	dev->fabric->flowctl->control(dev, &dev->ports[0], &frame, wf_sim_now(sim));
}

/* Counters of a queue with this priority or VL. */
static inline const struct wf_sim_counts *rig_queue(const struct rig *r, unsigned id)
{
	for (unsigned q = 0; q < r->result->n_queues; q++) {
		if (r->result->queue_id[q] == id)
			return &r->result->queue[q];
	}
	fail_msg("there is no queue %u", id);
	return NULL;
}

#endif
