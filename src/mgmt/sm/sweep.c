/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - the phases of a sweep, one after the other. A phase queues its work when it begins;
 * when all of that is done, wf_sm_phase_over() begins the next.
 */
#include <string.h>

#include "mgmt/sm/steps_priv.h"

/* Between sweeps nothing is under way that belongs to one. */
static void assert_idle(const struct wf_sm *sm)
{
	assert(sm->phase == WF_SM_PHASE_IDLE && sm->next == NULL);
	assert(sm->queue.n == 0 && sm->under_way == 0);
	(void)sm;
}

static void phase_begin(struct wf_sm *sm, enum wf_sm_phase phase);

static void schedule(struct wf_sm *sm)
{
	sm->next_sweep =
		sm->cfg.sweep_interval == 0 ? WF_TIME_NEVER : sm->now + sm->cfg.sweep_interval;
}

/* The graph that is being built is thrown away. */
static void drop_next(struct wf_sm *sm)
{
	wf_sm_wire_drop(sm);
	wf_sm_view_destroy(sm->next);
	sm->next = NULL;
	sm->cur = sm->view;
	for (struct wf_sm_dev *dev = sm->devs; dev != NULL; dev = dev->next)
		dev->used = false;
}

static void sweep_end(struct wf_sm *sm)
{
	drop_next(sm);
	sm->phase = WF_SM_PHASE_IDLE;
	sm->sweep.end = sm->now;
	if (sm->sweep.heavy)
		sm->stats.last_heavy = sm->sweep;
	else
		sm->stats.last_light = sm->sweep;
	schedule(sm);
	assert_idle(sm);
	wf_sm_tell(sm, WF_SM_EV_SWEEP_END);
}

void wf_sm_sweep_abort(struct wf_sm *sm)
{
	if (sm->phase != WF_SM_PHASE_IDLE)
		sweep_end(sm);
}

static void discover(struct wf_sm *sm)
{
	if (wf_sm_view_create(sm->mem, &sm->next) != 0) {
		sm->sweep.errors++;
		sm->erred = true;
		sweep_end(sm);
		return;
	}
	sm->cur = sm->next;
	phase_begin(sm, WF_SM_PHASE_DISCOVER);
}

void wf_sm_sweep_begin(struct wf_sm *sm, bool heavy)
{
	assert_idle(sm);
	sm->sweep = (struct wf_sm_sweep){ .heavy = heavy, .begin = sm->now };
	sm->heavy_wanted = false;
	sm->light_wanted = false;
	sm->rerouted = false;
	sm->restarts = 0;
	if (heavy)
		sm->stats.heavy++;
	else
		sm->stats.light++;
	wf_sm_tell(sm, WF_SM_EV_SWEEP_BEGIN);
	if (heavy) {
		discover(sm);
		return;
	}
	sm->cur = sm->view;
	phase_begin(sm, WF_SM_PHASE_LIGHT);
}

/* Only multicast tables are written. */
void wf_sm_sweep_multicast(struct wf_sm *sm)
{
	assert_idle(sm);
	sm->mcast_wanted = false;
	if (sm->view == NULL || sm->state != WF_SM_MASTER)
		return;
	sm->sweep = (struct wf_sm_sweep){ .begin = sm->now };
	sm->cur = sm->view;
	phase_begin(sm, WF_SM_PHASE_MULTICAST);
}

/* ---- the end of discovery ---- */

static bool own_port_is_down(const struct wf_sm_view *view)
{
	return view->self == WF_SUBNET_NONE || !view->ports[wf_sm_self(view)].known ||
	       (!wf_subnet_is_switch(view->subnet, view->self) &&
	        view->subnet->ports[wf_sm_self(view)].state <= WF_SUBNET_DOWN);
}

static void count(struct wf_sm *sm)
{
	const struct wf_sm_view *view = sm->cur;
	struct wf_sm_sweep *sweep = &sm->sweep;

	sweep->nodes = view->subnet->n_nodes;
	sweep->switches = view->subnet->n_switches;
	sweep->links = 0;
	sweep->ports = 0;
	for (uint32_t i = 0; i < view->subnet->n_ports; i++) {
		sweep->links += view->subnet->ports[i].peer != WF_SUBNET_NONE;
		sweep->ports += wf_sm_is_end_port(view, i);
	}
	sweep->links /= 2;
}

/* The manager is cut off from its subnet: whatever was there is lost. */
static void cut_off(struct wf_sm *sm)
{
	struct wf_sm_view *old = sm->view;

	if (old != NULL) {
		wf_sm_tell_lost(sm);
		sm->view = NULL;
		wf_sm_view_destroy(old);
	}
	sm->first = true;
	sweep_end(sm);
	if (sm->state == WF_SM_MASTER)
		wf_sm_become(sm, WF_SM_DISCOVERING);
	sm->heavy_wanted = false; /* not before the next interval */
}

static void discovered(struct wf_sm *sm)
{
	if (own_port_is_down(sm->cur)) {
		cut_off(sm);
		return;
	}
	wf_sm_drop_halves(sm);
	count(sm);
	if (sm->heavy_wanted && sm->restarts < WF_SM_RESTARTS) {
		/* Something has changed meanwhile: once more. */
		sm->restarts++;
		sm->heavy_wanted = false;
		drop_next(sm);
		discover(sm);
		return;
	}
	phase_begin(sm, WF_SM_PHASE_TABLES);
}

/* All has been read: is it this manager that sets the subnet up? */
static void judge(struct wf_sm *sm)
{
	switch (wf_sm_judge(sm)) {
	case WF_SM_GO_ON:
		break;
	case WF_SM_STOP:
		wf_sm_sweep_abort(sm);
		return;
	case WF_SM_HAND_OVER:
		phase_begin(sm, WF_SM_PHASE_HANDING_OVER);
		return;
	}
	wf_sm_find_fresh(sm);
	if (wf_sm_give_lids(sm) != 0) {
		wf_sm_note(sm, "there are not enough LIDs, or no memory for them");
		sm->sweep.errors++;
		sm->erred = true;
		sweep_end(sm);
		return;
	}
	phase_begin(sm, WF_SM_PHASE_PKEYS);
}

/* ---- the end of a sweep ---- */

/* The graph that was built takes the place of the last. */
static void publish(struct wf_sm *sm)
{
	struct wf_sm_view *old = sm->view;
	bool erred = sm->sweep.errors > 0;

	wf_sm_tell_lost(sm);
	sm->view = sm->next;
	sm->next = NULL;
	sm->cur = sm->view;
	wf_sm_view_destroy(old);
	wf_sm_devs_free(sm, true);
	sm->first = false;
	sm->erred = erred;
	sweep_end(sm);
	wf_sm_tell_found(sm);
	if (!erred)
		wf_sm_tell(sm, WF_SM_EV_UP);
}

/* ---- phases ---- */

static void out_of_memory(struct wf_sm *sm, int ret)
{
	if (ret != 0)
		sm->sweep.errors++;
}

static void phase_begin(struct wf_sm *sm, enum wf_sm_phase phase)
{
	sm->phase = phase;
	switch (phase) {
	case WF_SM_PHASE_LIGHT:
		wf_sm_light(sm);
		break;
	case WF_SM_PHASE_DISCOVER:
		wf_sm_discover(sm);
		break;
	case WF_SM_PHASE_TABLES:
		wf_sm_ask_tables(sm);
		break;
	case WF_SM_PHASE_PKEYS:
		out_of_memory(sm, wf_sm_want_pkeys(sm));
		break;
	case WF_SM_PHASE_PORTS:
		wf_sm_want_ports(sm, WF_SM_STAGE_CONFIG);
		break;
	case WF_SM_PHASE_ROUTES:
		out_of_memory(sm, wf_sm_want_routes(sm));
		break;
	case WF_SM_PHASE_ADAPTIVE:
		out_of_memory(sm, wf_sm_want_adaptive(sm));
		break;
	case WF_SM_PHASE_LANES:
		wf_sm_want_lanes(sm);
		break;
	case WF_SM_PHASE_MULTICAST:
		out_of_memory(sm, wf_sm_want_groups(sm));
		break;
	case WF_SM_PHASE_ARM:
		wf_sm_want_ports(sm, WF_SM_STAGE_ARM);
		break;
	case WF_SM_PHASE_ACTIVATE:
		wf_sm_want_ports(sm, WF_SM_STAGE_ACTIVE);
		break;
	case WF_SM_PHASE_HANDING_OVER: /* wf_sm_judge() has queued it */
	case WF_SM_PHASE_IDLE:
	case WF_SM_PHASES:
		break;
	}
}

static void routed(struct wf_sm *sm)
{
	if (sm->rerouted) {
		sm->stats.reroutes++;
		wf_sm_tell(sm, WF_SM_EV_ROUTED);
	}
	phase_begin(sm, WF_SM_PHASE_LANES);
}

void wf_sm_phase_over(struct wf_sm *sm)
{
	sm->sweep.phase_end[sm->phase] = sm->now;
	switch (sm->phase) {
	case WF_SM_PHASE_DISCOVER:
		discovered(sm);
		break;
	case WF_SM_PHASE_TABLES:
		judge(sm);
		break;
	case WF_SM_PHASE_PKEYS:
	case WF_SM_PHASE_PORTS:
	case WF_SM_PHASE_ROUTES:
	case WF_SM_PHASE_LANES:
	case WF_SM_PHASE_ARM:
		phase_begin(sm, sm->phase + 1);
		break;
	case WF_SM_PHASE_ADAPTIVE:
		if (!wf_sm_next_adaptive(sm))
			routed(sm);
		break;
	case WF_SM_PHASE_MULTICAST:
		if (sm->next != NULL) {
			sm->mcast_wanted = false;
			phase_begin(sm, WF_SM_PHASE_ARM);
			break;
		}
		if (sm->sweep.errors > 0)
			sm->erred = true;
		sm->phase = WF_SM_PHASE_IDLE;
		break;
	case WF_SM_PHASE_ACTIVATE:
		publish(sm);
		break;
	case WF_SM_PHASE_LIGHT:
	case WF_SM_PHASE_HANDING_OVER:
		sweep_end(sm);
		break;
	case WF_SM_PHASE_IDLE:
	case WF_SM_PHASES:
		assert(false);
		break;
	}
}
