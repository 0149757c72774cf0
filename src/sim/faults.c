/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - what goes wrong at a time: links that go down, adapters that let nobody send, devices
 * that are set to something else; and the routes that follow.
 *
 * Switches may learn of a change at different times. Each uses the table of routes that it found
 * last; a table lives as long as a switch uses it.
 */
#include <errno.h>
#include <string.h>

#include "base/sort.h"
#include "fabric/endpoint.h"
#include "sim/sim_priv.h"

/* Routes, and how many use them: switches, and the fabric those that were found last. */
struct wf_sim_table {
	struct wf_routes *routes;
	uint32_t users;
	struct wf_sim_table *next;
};

/* ---- links ---- */

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

/* ---- routes ---- */

static bool is_switch(const struct wf_sim *sim, uint32_t node)
{
	return sim->topo->nodes[node].kind == WF_TOPO_SWITCH;
}

/* How long a switch takes to learn of a change. */
static wf_time delay_of(const struct wf_sim *sim, uint32_t node)
{
	wf_time own = wf_fabric_setup(&sim->fabric, node)->cfg.switch_reconverge;

	return own != WF_PARAM_AUTO ? own : sim->faults.reconverge;
}

/* One user of routes less. */
static void leave_table(struct wf_sim *sim, struct wf_sim_table *t)
{
	struct wf_sim_table **at = &sim->faults.tables;

	if (--t->users > 0)
		return;
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	wf_routes_destroy(t->routes);
	sim->mem->free(sim->mem, t);
}

static struct wf_sim_table *add_table(struct wf_sim *sim, struct wf_routes *routes)
{
	struct wf_sim_table *t = sim->mem->alloc(sim->mem, sizeof(*t));

	if (t == NULL)
		return NULL;
	*t = (struct wf_sim_table){ .routes = routes, .users = 1, .next = sim->faults.tables };
	sim->faults.tables = t;
	return t;
}

/* The fabric's routes are those of t from now on, and what is dropped is told apart by them. */
static void set_newest(struct wf_sim *sim, struct wf_sim_table *t)
{
	struct wf_sim_table *old = sim->faults.newest;

	sim->faults.newest = t;
	sim->fabric.routes = t->routes;
	if (old != NULL)
		leave_table(sim, old);
	sim->fabric.broken = memchr(sim->faults.down, 1, sim->topo->n_links) != NULL ||
	                     sim->faults.tables->next != NULL;
}

/* A group of switches has learned of a change: it finds its routes anew. */
static void reroute(void *arg, wf_time now)
{
	const struct wf_sim_group *group = arg;
	struct wf_sim *sim = group->sim;
	struct wf_sim_table *t = NULL;
	struct wf_routes *routes;

	(void)now;
	if (wf_fabric_find_routes(&sim->fabric, sim->faults.down, &routes) == 0) {
		t = add_table(sim, routes);
		if (t == NULL)
			wf_routes_destroy(routes);
	}
	if (t == NULL) {
		sim->failed = true;
		return;
	}
	for (uint32_t id = 0; id < sim->topo->n_nodes; id++) {
		struct wf_sim_table *old = sim->faults.table_of[id];

		if (!is_switch(sim, id) || delay_of(sim, id) != group->delay)
			continue;
		t->users++;
		sim->faults.table_of[id] = t;
		wf_network_set_routes(&sim->net, id, routes);
		leave_table(sim, old);
	}
	set_newest(sim, t);
}

int wf_sim_plan_routes(struct wf_sim *sim, wf_time now)
{
	int ret = 0;

	for (size_t i = 0; i < sim->faults.n_groups && ret == 0; i++) {
		struct wf_sim_group *group = &sim->faults.groups[i];

		/* Whoever learns of it after the end never does. Gates' end is not known yet. */
		if (sim->gated.env.ops != NULL || now <= sim->until - group->delay)
			ret = wf_engine_at(sim->engine, now + group->delay, reroute, group);
	}
	return ret;
}

/* Groups switches by how long they take; all have the routes of the start. */
static int make_groups(struct wf_sim *sim)
{
	struct wf_mem *mem = sim->mem;
	uint32_t n_nodes = sim->topo->n_nodes;
	struct wf_sim_table *t;

	sim->faults.table_of = mem->alloc(mem, n_nodes * sizeof(struct wf_sim_table *));
	sim->faults.groups = mem->alloc(mem, n_nodes * sizeof(*sim->faults.groups));
	t = add_table(sim, sim->fabric.routes);
	if (sim->faults.table_of == NULL || sim->faults.groups == NULL || t == NULL)
		return -ENOMEM;
	sim->faults.newest = t;
	for (uint32_t id = 0; id < n_nodes; id++) {
		size_t i = 0;

		if (!is_switch(sim, id))
			continue;
		t->users++;
		sim->faults.table_of[id] = t;
		while (i < sim->faults.n_groups && sim->faults.groups[i].delay != delay_of(sim, id))
			i++;
		sim->faults.groups[i] = (struct wf_sim_group){ sim, delay_of(sim, id) };
		sim->faults.n_groups += i == sim->faults.n_groups;
	}
	return 0;
}

/* ---- what happens at a time ---- */

/* A link is down as long as something keeps it down. */
static void link_fault(struct wf_sim *sim, uint32_t link, bool on, wf_time now)
{
	uint32_t *causes = &sim->faults.causes[link];

	assert(on || *causes > 0);
	*causes += on ? 1u : -1u;
	if (*causes != (on ? 1u : 0u))
		return;
	wf_sim_set_link(sim, link, !on, now);
	if (wf_sim_plan_routes(sim, now) != 0)
		sim->failed = true;
}

/* A node or a port of one is set to something else. */
static void set_fault(struct wf_sim *sim, const struct wf_sim_fault *f, wf_time now)
{
	const struct wf_topo *topo = sim->topo;
	uint32_t node = f->what;

	if (f->kind == WF_SIM_FAULT_NODE) {
		sim->fabric.setup_of_node[node] = f->setup;
	} else {
		const struct wf_topo_port *port = &topo->ports[f->what];

		sim->fabric.setup_of_port[f->what] = f->setup;
		node = topo->ports[topo->nodes[port->peer].first_port + port->peer_port].peer;
	}
	wf_network_changed(&sim->net, node, now);
}

static void next_fault(void *arg, wf_time now)
{
	struct wf_sim *sim = arg;
	const struct wf_sim_fault *f = &sim->faults.list[sim->faults.next++];

	switch (f->kind) {
	case WF_SIM_FAULT_LINK:
		link_fault(sim, f->what, f->on, now);
		break;
	case WF_SIM_FAULT_STORM:
		wf_endpoint_storm(wf_endpoint_of_device(wf_network_host(&sim->net, f->what)), f->on,
		                  now);
		break;
	case WF_SIM_FAULT_NODE:
	case WF_SIM_FAULT_PORT:
		set_fault(sim, f, now);
		break;
	}
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
	uint32_t n_links = sim->topo->n_links;
	int ret;

	sim->faults.reconverge = cfg->reconverge;
	sim->faults.n = cfg->n_faults;
	sim->faults.down = mem->alloc(mem, n_links);
	sim->faults.causes = mem->alloc(mem, n_links * sizeof(*sim->faults.causes));
	sim->faults.outages = mem->alloc(mem, n_links * sizeof(*sim->faults.outages));
	sim->gated.faults = mem->alloc(mem, n_links * sizeof(*sim->gated.faults));
	/* The second half of it is to sort in. */
	sim->faults.list = mem->alloc(mem, 2 * cfg->n_faults * sizeof(*sim->faults.list));
	if (sim->faults.down == NULL || sim->faults.causes == NULL || sim->faults.outages == NULL ||
	    sim->gated.faults == NULL || sim->faults.list == NULL)
		return -ENOMEM;
	ret = make_groups(sim);
	for (size_t i = 0; i < cfg->n_faults && ret == 0; i++) {
		sim->faults.list[i] = cfg->faults[i];
		ret = wf_engine_at(sim->engine, cfg->faults[i].at, next_fault, sim);
	}
	/* In the order of time, so that each call takes the next. */
	wf_sort(sim->faults.list, sim->faults.list + sim->faults.n, sim->faults.n,
	        sizeof(*sim->faults.list), by_time, NULL);
	return ret;
}

void wf_sim_end_faults(struct wf_sim *sim)
{
	struct wf_mem *mem = sim->mem;

	while (sim->faults.tables != NULL) {
		struct wf_sim_table *t = sim->faults.tables;

		sim->faults.tables = t->next;
		if (t->routes != sim->fabric.routes)
			wf_routes_destroy(t->routes);
		mem->free(mem, t);
	}
	mem->free(mem, sim->faults.outages);
	mem->free(mem, sim->faults.causes);
	mem->free(mem, sim->faults.groups);
	mem->free(mem, sim->faults.table_of);
	mem->free(mem, sim->faults.list);
	mem->free(mem, sim->faults.down);
}
