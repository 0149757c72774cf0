/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed.h - a fabric that weft's subnet manager manages, for a scenario test in a few lines.
 *
 *	struct managed t;
 *	managed_init(&t, "leaf-spine", 16);
 *	managed_set(&t, "qos", "true");		... and rig_set(&t.r, ...), rig_topo(&t.r, ...)
 *	managed_topo(&t);			... fault(&t, ...), rig_flow(&t.r, ...)
 *	managed_build(&t, threads);
 *	managed_run(&t);			... t.r.result, t.result
 *	managed_fini(&t);
 */
#ifndef WF_TESTS_MANAGED_H
#define WF_TESTS_MANAGED_H

#include "rig.h"

#include "mgmt/sma.h"
#include "sim/mgmt/managed.h"

struct managed {
	struct rig r;
	struct wf_sm_cfg sm;
	struct wf_managed_cfg cfg;
	struct wf_managed *m;
	struct wf_managed_result result;
};

static inline void managed_set(struct managed *t, const char *name, const char *value)
{
	const struct wf_param *row = wf_param_find(wf_sm_params, wf_sm_n_params, name);
	struct wf_err err = { "" };

	assert_non_null(row);
	if (wf_param_set(row, &t->sm, value, &err) != 0)
		fail_msg("%s: %s", name, err.text);
}

static inline void managed_init(struct managed *t, const char *kind, unsigned hosts)
{
	struct wf_err err = { "" };

	memset(t, 0, sizeof(*t));
	rig_init(&t->r, "credit", kind, hosts);
	rig_topo(&t->r, "host_rate", "400Gbps");
	assert_int_equal(wf_sm_cfg_init(&t->sm, &err), 0);
	t->cfg = (struct wf_managed_cfg){
		.sm = &t->sm,
		.n_managers = 1,
		.switch_time = 20 * WF_US,
		.host_time = 20 * WF_US,
		.manager_time = 5 * WF_US,
	};
}

static inline void managed_topo(struct managed *t)
{
	const struct wf_topo_ops *ops = wf_topo_find(t->r.topo_cfg.kind);
	struct wf_err err = { "" };

	if (ops->build(&t->r.topo_cfg, NULL, 0, "test", wf_mem_heap(), &t->r.topo, &err) != 0)
		fail_msg("%s", err.text);
}

static inline void managed_build(struct managed *t, unsigned threads)
{
	struct wf_err err = { "" };

	if (t->r.topo == NULL)
		managed_topo(t);
	if (wf_managed_create(&t->cfg, t->r.topo, wf_mem_heap(), &t->m, &err) != 0)
		fail_msg("%s", err.text);
	t->r.manager = wf_managed_manager(t->m);
	if (rig_build(&t->r, threads, &err) != 0)
		fail_msg("%s", err.text);
}

static inline void managed_run(struct managed *t)
{
	struct wf_err err = { "" };

	assert_int_equal(wf_sim_run(t->r.sim, NULL, NULL), 0);
	if (wf_sim_check(t->r.sim, &err) != 0)
		fail_msg("%s", err.text);
	rig_result(&t->r);
	wf_managed_result(t->m, &t->result);
}

static inline void managed_fini(struct managed *t)
{
	rig_again(&t->r); /* the simulation */
	wf_managed_destroy(t->m);
	rig_fini(&t->r);
}

/* A link between two nodes goes down, or comes back. */
static inline void fault(struct managed *t, const char *a, const char *b, wf_time at, bool down)
{
	const struct wf_topo *topo = t->r.topo;
	uint32_t na = wf_topo_node_by_name(topo, a), nb = wf_topo_node_by_name(topo, b);

	assert_true(na != WF_TOPO_NONE && nb != WF_TOPO_NONE);
	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct wf_topo_link *l = &topo->links[i];

		if ((l->a == na && l->b == nb) || (l->a == nb && l->b == na))
			t->r.faults[t->r.n_faults++] = (struct wf_sim_fault){
				.at = at, .kind = WF_SIM_FAULT_LINK, .on = down, .what = i
			};
	}
	assert_true(t->r.n_faults > 0);
}

#endif
