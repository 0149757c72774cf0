/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - what goes wrong at a time: links that go down, adapters that let nobody send or take
 * in little, devices that are set to something else; and the routes that follow.
 *
 * Switches may learn of a change at different times. Each uses the table of routes that it found
 * last; a table lives as long as a switch uses it.
 */
#include <errno.h>
#include <string.h>

#include "base/sort.h"
#include "fabric/endpoint.h"
#include "sim/sim_priv.h"

/* Faults that were planned together, in the order of time. */
struct wf_sim_plan {
	struct wf_sim *sim;
	struct wf_sim_plan *next;
	size_t n, done;
	bool dropped, no_settings; /* what is left of it does not happen, or not that of devices */
	struct wf_sim_fault list[];
};

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
	wf_sim_changed(sim, up ? WF_SIM_CHANGE_LINK_UP : WF_SIM_CHANGE_LINK_DOWN, link, now);
	if (up && sim->manager.train != NULL)
		sim->manager.train(sim->manager.arg, link, now);
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
	wf_sim_changed(sim, WF_SIM_CHANGE_ROUTES, 0, now);
}

int wf_sim_plan_routes(struct wf_sim *sim, wf_time now)
{
	int ret = 0;

	/* In a managed fabric that is the manager's to do. */
	for (size_t i = 0; i < sim->faults.n_groups && ret == 0 && !sim->fabric.managed; i++) {
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
int wf_sim_link_fault(struct wf_sim *sim, uint32_t link, bool on, wf_time now)
{
	uint32_t *causes = &sim->faults.causes[link];

	assert(on || *causes > 0);
	*causes += on ? 1u : -1u;
	if (*causes != (on ? 1u : 0u))
		return 0;
	sim->faults.changes++;
	wf_sim_set_link(sim, link, !on, now);
	return wf_sim_plan_routes(sim, now);
}

void wf_sim_storm_fault(struct wf_sim *sim, uint32_t host, bool on, wf_time now)
{
	uint32_t *storms = &sim->faults.storms[host];

	assert(on || *storms > 0);
	*storms += on ? 1u : -1u;
	if (*storms != (on ? 1u : 0u))
		return;
	sim->faults.changes++;
	wf_endpoint_storm(wf_endpoint_of_device(wf_network_host(&sim->net, host)), on, now);
	wf_sim_changed(sim, on ? WF_SIM_CHANGE_STORM : WF_SIM_CHANGE_STORM_OVER,
	               sim->topo->host_node[host], now);
}

/* An adapter takes in no more than the least rate of the faults that hold. */
void wf_sim_slow_fault(struct wf_sim *sim, uint32_t host, bool on, uint64_t rate, wf_time now)
{
	struct wf_sim_slow **at = &sim->faults.slows[host], *slow;
	uint64_t least = 0;

	if (on) {
		slow = sim->mem->alloc(sim->mem, sizeof(*slow));
		if (slow == NULL) {
			sim->failed = true;
			return;
		}
		*slow = (struct wf_sim_slow){ .next = *at, .rate = rate };
		*at = slow;
	} else {
		while ((*at)->rate != rate)
			at = &(*at)->next;
		slow = *at;
		*at = slow->next;
		sim->mem->free(sim->mem, slow);
	}
	for (slow = sim->faults.slows[host]; slow != NULL; slow = slow->next)
		least = least == 0 ? slow->rate : wf_min_u64(least, slow->rate);
	if (wf_endpoint_slow(wf_endpoint_of_device(wf_network_host(&sim->net, host)), least, now) !=
	    0)
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
	wf_sim_changed(sim, f->kind == WF_SIM_FAULT_NODE ? WF_SIM_CHANGE_NODE : WF_SIM_CHANGE_PORT,
	               f->what, now);
}

void wf_sim_happens(struct wf_sim *sim, const struct wf_sim_fault *f, wf_time now)
{
	/* Where all stand still nobody has looked since: the fault may change that. */
	if (now >= sim->deadlocks.due)
		(void)wf_sim_deadlocks_due(sim, now);
	switch (f->kind) {
	case WF_SIM_FAULT_LINK:
		if (wf_sim_link_fault(sim, f->what, f->on, now) != 0)
			sim->failed = true;
		break;
	case WF_SIM_FAULT_STORM:
		wf_sim_storm_fault(sim, f->what, f->on, now);
		break;
	case WF_SIM_FAULT_SLOW:
		wf_sim_slow_fault(sim, f->what, f->on, f->rate, now);
		break;
	case WF_SIM_FAULT_NODE:
	case WF_SIM_FAULT_PORT:
		set_fault(sim, f, now);
		break;
	case WF_SIM_FAULT_NOTHING:
		break;
	}
}

static bool is_setting(const struct wf_sim_fault *f)
{
	return f->kind == WF_SIM_FAULT_NODE || f->kind == WF_SIM_FAULT_PORT;
}

/* Called once for each fault of a plan, at its time. */
static void next_fault(void *arg, wf_time now)
{
	struct wf_sim_plan *plan = arg;
	struct wf_sim_fault *f = &plan->list[plan->done++];

	if (plan->dropped || (plan->no_settings && is_setting(f)))
		return;
	wf_sim_happens(plan->sim, f, now);
	if (f->every == 0 || f->kind == WF_SIM_FAULT_NOTHING)
		return;
	/* Such a one is a plan by itself. */
	assert(plan->n == 1);
	f->at += f->every;
	plan->done = 0;
	if (wf_engine_at(plan->sim->engine, f->at, next_fault, plan) != 0)
		plan->sim->failed = true;
}

static int by_time(const void *a, const void *b, const void *arg)
{
	const struct wf_sim_fault *x = a, *y = b;

	(void)arg;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Gives plans back that are over: those of a fabric that runs would only grow. */
static void forget_plans(struct wf_sim *sim)
{
	struct wf_sim_plan **at = &sim->faults.plans;

	while (*at != NULL) {
		struct wf_sim_plan *plan = *at;

		if (plan->done < plan->n) {
			at = &plan->next;
			continue;
		}
		*at = plan->next;
		sim->mem->free(sim->mem, plan);
	}
}

static int plan_faults(struct wf_sim *sim, const struct wf_sim_fault *faults, size_t n)
{
	struct wf_mem *mem = sim->mem;
	/* The second half of the list is to sort in. */
	struct wf_sim_plan *plan = mem->alloc(mem, sizeof(*plan) + 2 * n * sizeof(plan->list[0]));
	int ret = 0;

	if (plan == NULL)
		return -ENOMEM;
	forget_plans(sim);
	plan->sim = sim;
	plan->n = n;
	if (n > 0)
		memcpy(plan->list, faults, n * sizeof(*faults));
	/* In the order of time, so that each call takes the next. */
	wf_sort(plan->list, plan->list + n, n, sizeof(*plan->list), by_time, NULL);
	plan->next = sim->faults.plans;
	sim->faults.plans = plan;
	/* The engine keeps them with the soonest last: so each joins at the end. */
	for (size_t i = n; i-- > 0 && ret == 0;)
		ret = wf_engine_at(sim->engine, plan->list[i].at, next_fault, plan);
	return ret;
}

int wf_sim_plan_faults(struct wf_sim *sim, const struct wf_sim_fault *faults, size_t n)
{
	size_t begin = 0;
	int ret = 0;

	/*
	 * Those that happen again and again are planned one by one, the others between them
	 * together.
	 */
	for (size_t i = 0; i < n && ret == 0; i++) {
		if (faults[i].every == 0)
			continue;
		if (i > begin)
			ret = plan_faults(sim, faults + begin, i - begin);
		if (ret == 0)
			ret = plan_faults(sim, faults + i, 1);
		begin = i + 1;
	}
	return ret == 0 && n > begin ? plan_faults(sim, faults + begin, n - begin) : ret;
}

void wf_sim_drop_fault(struct wf_sim *sim, enum wf_sim_fault_kind kind, uint32_t what)
{
	for (struct wf_sim_plan *p = sim->faults.plans; p != NULL; p = p->next) {
		for (size_t i = p->done; i < p->n; i++) {
			if (p->list[i].kind == kind && p->list[i].what == what)
				p->list[i].kind = WF_SIM_FAULT_NOTHING;
		}
	}
}

void wf_sim_drop_faults(struct wf_sim *sim, bool settings_alone)
{
	for (struct wf_sim_plan *p = sim->faults.plans; p != NULL; p = p->next) {
		p->no_settings = true;
		p->dropped |= !settings_alone;
	}
}

int wf_sim_make_faults(struct wf_sim *sim, const struct wf_sim_cfg *cfg)
{
	struct wf_mem *mem = sim->mem;
	uint32_t n_links = sim->topo->n_links;
	int ret;

	sim->faults.reconverge = cfg->reconverge;
	sim->faults.down = mem->alloc(mem, n_links);
	sim->faults.causes = mem->alloc(mem, n_links * sizeof(*sim->faults.causes));
	sim->faults.storms = mem->alloc(mem, sim->topo->n_hosts * sizeof(*sim->faults.storms));
	sim->faults.outages = mem->alloc(mem, n_links * sizeof(*sim->faults.outages));
	sim->gated.faults = mem->alloc(mem, n_links * sizeof(*sim->gated.faults));
	sim->gated.storm = mem->alloc(mem, sim->topo->n_hosts * sizeof(*sim->gated.storm));
	sim->faults.slows = mem->alloc(mem, sim->topo->n_hosts * sizeof(*sim->faults.slows));
	if (sim->faults.slows == NULL || sim->gated.storm == NULL || sim->faults.down == NULL ||
	    sim->faults.causes == NULL || sim->faults.storms == NULL ||
	    sim->faults.outages == NULL || sim->gated.faults == NULL)
		return -ENOMEM;
	ret = make_groups(sim);
	return ret == 0 ? wf_sim_plan_faults(sim, cfg->faults, cfg->n_faults) : ret;
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
	mem->free(mem, sim->faults.storms);
	for (uint32_t i = 0; sim->faults.slows != NULL && i < sim->topo->n_hosts; i++) {
		while (sim->faults.slows[i] != NULL) {
			struct wf_sim_slow *slow = sim->faults.slows[i];

			sim->faults.slows[i] = slow->next;
			mem->free(mem, slow);
		}
	}
	mem->free(mem, sim->faults.slows);
	mem->free(mem, sim->faults.groups);
	mem->free(mem, sim->faults.table_of);
	while (sim->faults.plans != NULL) {
		struct wf_sim_plan *plan = sim->faults.plans;

		sim->faults.plans = plan->next;
		mem->free(mem, plan);
	}
	mem->free(mem, sim->faults.down);
}
