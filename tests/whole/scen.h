/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scen.h - a whole scenario for a test, from its YAML to what its simulation came to.
 *
 *	struct scen s;
 *	scen_load(&s, text);
 *	scen_run(&s, fabric, threads);	... s.result, s.total, s.sim ...
 *	scen_same(&s, fabric);		... the same on 1, 2 and 4 threads ...
 *	scen_fini(&s);
 */
#ifndef WF_TESTS_SCEN_H
#define WF_TESTS_SCEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../unit/load.h"
#include "same.h"
#include "sim/sim_priv.h"

struct scen {
	struct wf_paths paths;
	struct wf_scenario scenario;
	const struct wf_scenario_fabric *fabric; /* of the last scen_run() */
	struct wf_sim *sim;
	struct wf_sim_result *result;
	struct wf_sim_counts total;
	uint64_t lossless_drops; /* to congestion */
	bool wire;               /* set it: on 4 threads every packet's bytes are checked */
};

static inline void scen_load(struct scen *s, const char *text)
{
	struct wf_scenario_opts opts = { .paths = &s->paths };

	memset(s, 0, sizeof(*s));
	assert_int_equal(wf_paths_init(&s->paths, NULL, NULL), 0);
	load_scenario(&s->scenario, text, "x.yaml", &opts);
}

static inline void scen_again(struct scen *s)
{
	wf_sim_destroy(s->sim);
	free(s->result);
	s->sim = NULL;
	s->result = NULL;
}

static inline void scen_add_up(struct scen *s)
{
	const struct wf_sim_counts none = { 0 };

	s->result = calloc(1, sizeof(*s->result));
	assert_non_null(s->result);
	wf_sim_result(s->sim, s->result);
	s->total = none;
	wf_counts_add(&s->total, &s->result->whole);
	s->lossless_drops = 0;
	for (unsigned q = 0; q < s->result->n_queues; q++) {
		wf_counts_add(&s->total, &s->result->queue[q]);
		if (s->fabric->classes.queue[q].lossless)
			s->lossless_drops += s->result->queue[q].drops_congestion;
	}
}

/* Builds the simulation of the fabric of that label, which must be possible. */
static inline void scen_build(struct scen *s, const char *label, unsigned threads)
{
	const struct wf_scenario *sc = &s->scenario;
	const struct wf_scenario_fabric *f = sc->fabrics;
	struct wf_err err = { "" };
	struct wf_sim_cfg cfg;

	scen_again(s);
	while (f < sc->fabrics + sc->n_fabrics && strcmp(f->label, label) != 0)
		f++;
	if (f == sc->fabrics + sc->n_fabrics)
		fail_msg("there is no fabric %s", label);
	s->fabric = f;
	cfg = (struct wf_sim_cfg){
		.topo = f->net->topo,
		.fabric = &f->cfg,
		.cc = &f->values.cc,
		.devices = wf_devices_of(&f->devices),
		.flows = sc->flows.flow,
		.n_flows = sc->flows.n,
		.storage = sc->storage_entries,
		.n_storage = sc->n_storage,
		.faults = f->events,
		.n_faults = f->n_events,
		.reconverge = sc->cfg.reconverge,
		.deadlock_check = sc->cfg.deadlock_check,
		.stop_at_deadlock = sc->cfg.stop_at_deadlock,
		.until = sc->cfg.until,
		.seed = sc->cfg.seed,
		.threads = threads,
	};
	if (wf_sim_create(&cfg, &s->sim, &err) != 0)
		fail_msg("%s: %s", label, err.text);
}

/* Runs it, and checks what must hold of any run. */
static inline void scen_run(struct scen *s, const char *label, unsigned threads)
{
	struct wf_err err = { "" };

	scen_build(s, label, threads);
	if (s->wire && threads == 4)
		assert_int_equal(wf_sim_check_wire(s->sim), 0);
	assert_int_equal(wf_sim_run(s->sim, NULL, NULL), 0);
	if (wf_sim_check(s->sim, &err) != 0)
		fail_msg("%s: %s", label, err.text);
	scen_add_up(s);
}

/*
 * Runs it on 1, 2 and 4 threads, which must come to the same, to the last byte. What is there after
 * that is the last run's.
 */
static inline void scen_same(struct scen *s, const char *label)
{
	static struct same one, more;

	for (unsigned threads = 1; threads <= 4; threads *= 2) {
		scen_run(s, label, threads);
		same_take(s->sim, s->scenario.n_storage, threads == 1 ? &one : &more);
		if (threads > 1)
			same_check(&one, &more);
	}
}

/* A device by its name. */
static inline struct wf_device *scen_device(const struct scen *s, const char *name)
{
	uint32_t node = wf_topo_node_by_name(s->fabric->net->topo, name);

	assert_true(node != WF_TOPO_NONE);
	return s->sim->net.devices[node];
}

/* The port of a device that leads to a peer: the first of several. */
static inline unsigned scen_port_to(const struct scen *s, const char *name, const char *peer)
{
	const struct wf_topo *topo = s->fabric->net->topo;
	const struct wf_topo_node *node = &topo->nodes[scen_device(s, name)->id];

	for (uint32_t i = 0; i < node->n_ports; i++) {
		if (strcmp(topo->nodes[topo->ports[node->first_port + i].peer].name, peer) == 0)
			return i;
	}
	fail_msg("%s is not linked to %s", name, peer);
	return 0;
}

/* What the ports of a device that lead to a peer counted in the queue of a priority or VL. */
static inline struct wf_sim_counts scen_port(const struct scen *s, const char *name,
                                             const char *peer, unsigned id)
{
	const struct wf_topo *topo = s->fabric->net->topo;
	const struct wf_device *dev = scen_device(s, name);
	struct wf_sim_counts sum = { 0 }, c;
	bool found = false;

	for (uint32_t p = 0; p < dev->n_ports; p++) {
		uint32_t to = topo->ports[topo->nodes[dev->id].first_port + p].peer;

		for (unsigned q = 0; q < s->result->n_queues; q++) {
			if (strcmp(topo->nodes[to].name, peer) != 0 || s->result->queue_id[q] != id)
				continue;
			assert_true(wf_sim_port_counts(s->sim, dev->id, p, q, &c));
			wf_counts_add(&sum, &c);
			found = true;
		}
	}
	if (!found)
		fail_msg("%s is not linked to %s, or has no queue %u", name, peer, id);
	return sum;
}

/* What all ports counted in the queue of a priority or VL. */
static inline struct wf_sim_counts scen_queue(const struct scen *s, unsigned id)
{
	const struct wf_sim_counts none = { 0 };

	for (unsigned q = 0; q < s->result->n_queues; q++) {
		if (s->result->queue_id[q] == id)
			return s->result->queue[q];
	}
	return none;
}

/*
 * How many ports of switches (or of hosts) have something in a counter, which is said by its place
 * in the counts.
 */
static inline unsigned scen_ports_with(const struct scen *s, bool hosts, size_t counter)
{
	const struct wf_topo *topo = s->fabric->net->topo;
	struct wf_sim_counts c;
	unsigned n = 0;

	for (uint32_t id = 0; id < topo->n_nodes; id++) {
		for (uint32_t p = 0; p < topo->nodes[id].n_ports; p++) {
			uint64_t v, sum = 0;

			for (unsigned q = 0; q < s->result->n_queues; q++) {
				assert_true(wf_sim_port_counts(s->sim, id, p, q, &c));
				memcpy(&v, (const char *)&c + counter, sizeof(v));
				sum += v;
			}
			n += sum != 0 && (topo->nodes[id].kind == WF_TOPO_HOST) == hosts;
		}
	}
	return n;
}

static inline void scen_fini(struct scen *s)
{
	scen_again(s);
	wf_scenario_fini(&s->scenario);
}

#endif
