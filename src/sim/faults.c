/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - links that go down and come back, and the routes that follow.
 */
#include <errno.h>
#include <string.h>

#include "base/sort.h"
#include "sim/sim_priv.h"

/* Keeps account of how long a link is down. */
static void note_outage(struct wf_sim *sim, uint32_t link, bool up, wf_time now)
{
	struct wf_sim_outage *o = &sim->faults.outages[link];

	if (sim->faults.down[link] == !up)
		return;
	if (up) {
		o->before += now - o->since;
	} else {
		o->times++;
		o->since = now;
	}
}

void wf_sim_set_link(struct wf_sim *sim, uint32_t link, bool up, wf_time now)
{
	note_outage(sim, link, up, now);
	sim->faults.down[link] = !up;
	sim->fabric.broken |= !up; /* until routes are found with all links up */
	wf_sim_incident_link(sim, link, up, now);
	wf_network_set_link(&sim->net, link, up, now);
}

void wf_sim_reroute(void *arg, wf_time now)
{
	struct wf_sim *sim = arg;
	struct wf_routes *routes, *old = sim->fabric.routes;

	(void)now;
	if (wf_fabric_find_routes(&sim->fabric, sim->faults.down, &routes) != 0) {
		sim->failed = true;
		return;
	}
	sim->fabric.routes = routes;
	sim->fabric.broken = memchr(sim->faults.down, 1, sim->topo->n_links) != NULL;
	wf_network_set_routes(&sim->net);
	wf_routes_destroy(old);
}

static void next_fault(void *arg, wf_time now)
{
	struct wf_sim *sim = arg;
	const struct wf_sim_fault *f = &sim->faults.list[sim->faults.next++];

	wf_sim_set_link(sim, f->link, f->up, now);
	if (wf_engine_at(sim->engine, now + sim->faults.reconverge, wf_sim_reroute, sim) != 0)
		sim->failed = true;
}

static int by_time(const void *a, const void *b, const void *arg)
{
	const struct wf_sim_fault *x = a, *y = b;

	(void)arg;
	return x->at < y->at ? -1 : x->at > y->at;
}

int wf_sim_make_faults(struct wf_sim *sim, const struct wf_sim_cfg *cfg)
{
	struct wf_mem *mem = sim->mem;

	sim->faults.reconverge = cfg->reconverge;
	sim->faults.n = cfg->n_faults;
	sim->faults.down = mem->alloc(mem, sim->topo->n_links);
	sim->faults.outages = mem->alloc(mem, sim->topo->n_links * sizeof(*sim->faults.outages));
	sim->gated.faults = mem->alloc(mem, sim->topo->n_links * sizeof(*sim->gated.faults));
	/* The second half of it is to sort in. */
	sim->faults.list = mem->alloc(mem, 2 * cfg->n_faults * sizeof(*sim->faults.list));
	if (sim->faults.down == NULL || sim->faults.outages == NULL || sim->gated.faults == NULL ||
	    sim->faults.list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < cfg->n_faults; i++) {
		int ret = wf_engine_at(sim->engine, cfg->faults[i].at, next_fault, sim);

		if (ret != 0)
			return ret;
		sim->faults.list[i] = cfg->faults[i];
	}
	/* In the order of time, so that each call takes the next. */
	wf_sort(sim->faults.list, sim->faults.list + sim->faults.n, sim->faults.n,
	        sizeof(*sim->faults.list), by_time, NULL);
	return 0;
}
