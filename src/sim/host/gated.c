/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gated.c - a simulation that is run by the piece, and its links while it stands.
 */
#include "sim/host/gated.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sim/prog/conn.h"
#include "sim/sim_priv.h"

wf_time wf_gated_next(const struct wf_sim *sim)
{
	return wf_engine_next(sim->engine);
}

int wf_gated_run(struct wf_sim *sim, wf_time until)
{
	wf_time end;

	return wf_sim_run_until(sim, until, &end);
}

void wf_gated_wake(struct wf_sim *sim, uint32_t host, wf_time at)
{
	struct wf_device *dev = wf_network_host(&sim->net, host);

	if (dev->ports[0].up)
		wf_port_wake(dev, &dev->ports[0], wf_max_time(at, wf_sim_now(sim)));
}

void wf_gated_storm(struct wf_sim *sim, uint32_t host, bool on)
{
	if (sim->gated.storm[host] == on)
		return;
	sim->gated.storm[host] = on;
	wf_sim_storm_fault(sim, host, on, wf_sim_now(sim));
}

/* A configuration that did not count before does now: every device looks at what it has anew. */
static void refresh(struct wf_sim *sim)
{
	for (uint32_t id = 0; id < sim->topo->n_nodes; id++)
		wf_network_changed(&sim->net, id, wf_sim_now(sim));
}

static int more_setups(struct wf_sim *sim, const struct wf_devices *devices, struct wf_err *err)
{
	struct wf_setup *old;
	int ret = wf_fabric_more_setups(&sim->fabric, devices, &old, err);

	if (ret != 0)
		return ret;
	refresh(sim);
	sim->mem->free(sim->mem, old);
	return 0;
}

/* What happens after now, also again. */
static int plan_later(struct wf_sim *sim, const struct wf_sim_fault *faults, size_t n, wf_time now)
{
	struct wf_sim_fault *later = sim->mem->alloc(sim->mem, (n + 1) * sizeof(*later));
	size_t n_later = 0;
	int ret;

	if (later == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		later[n_later] = faults[i];
		if (faults[i].at == now)
			later[n_later].at += faults[i].every;
		n_later += later[n_later].at > now;
	}
	ret = wf_sim_plan_faults(sim, later, n_later);
	sim->mem->free(sim->mem, later);
	return ret;
}

int wf_gated_change(struct wf_sim *sim, const struct wf_gated_change *change, struct wf_err *err)
{
	wf_time now = wf_sim_now(sim);
	int ret = change->devices == NULL ? 0 : more_setups(sim, change->devices, err);

	if (ret != 0)
		return ret;
	if (change->settings)
		wf_sim_drop_faults(sim, true);
	/* The engine may rest: what is due happens now, not when it runs again. */
	for (size_t i = 0; i < change->n; i++) {
		assert(change->faults[i].at >= now);
		if (change->faults[i].at == now)
			wf_sim_happens(sim, &change->faults[i], now);
	}
	return sim->failed ? -ENOMEM : plan_later(sim, change->faults, change->n, now);
}

int wf_gated_mend_link(struct wf_sim *sim, uint32_t link)
{
	const struct wf_gated_fault none = { .down = false };
	int ret;

	wf_sim_drop_fault(sim, WF_SIM_FAULT_LINK, link);
	ret = wf_gated_set_link(sim, link, &none);
	while (ret == 0 && sim->faults.causes[link] > 0)
		ret = wf_sim_link_fault(sim, link, false, wf_sim_now(sim));
	return ret;
}

void wf_gated_mend_host(struct wf_sim *sim, uint32_t host)
{
	wf_sim_drop_fault(sim, WF_SIM_FAULT_STORM, host);
	sim->gated.storm[host] = false;
	while (sim->faults.storms[host] > 0)
		wf_sim_storm_fault(sim, host, false, wf_sim_now(sim));
	wf_sim_drop_fault(sim, WF_SIM_FAULT_SLOW, host);
	while (sim->faults.slows[host] != NULL)
		wf_sim_slow_fault(sim, host, false, sim->faults.slows[host]->rate, wf_sim_now(sim));
}

/* Setups by their numbers; of NULL: all have the fabric's own. */
static void set_numbers(uint16_t *to, const uint16_t *of, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = of == NULL ? 0 : of[i];
}

int wf_gated_clear(struct wf_sim *sim, const struct wf_devices *devices)
{
	int ret = 0;

	wf_sim_drop_faults(sim, false);
	for (uint32_t i = 0; i < sim->topo->n_links && ret == 0; i++)
		ret = wf_gated_mend_link(sim, i);
	for (uint32_t i = 0; i < sim->topo->n_hosts; i++)
		wf_gated_mend_host(sim, i);
	if (sim->fabric.setup_of_node != NULL) {
		set_numbers(sim->fabric.setup_of_node, devices == NULL ? NULL : devices->of_node,
		            sim->topo->n_nodes);
		set_numbers(sim->fabric.setup_of_port, devices == NULL ? NULL : devices->of_port,
		            sim->topo->n_ports);
		refresh(sim);
	}
	return ret;
}

uint32_t wf_gated_changes(const struct wf_sim *sim)
{
	return sim->faults.changes;
}

bool wf_gated_is_down(const struct wf_sim *sim, uint32_t link)
{
	return sim->faults.down[link] != 0;
}

bool wf_gated_storms(const struct wf_sim *sim, uint32_t host)
{
	return sim->faults.storms[host] > 0;
}

int wf_gated_tune(const struct wf_sim *sim, const struct wf_cc_choice *cc, struct wf_qp_tune *tune,
                  struct wf_err *err)
{
	return wf_conn_tune(&sim->fabric, WF_TOPO_NONE, cc, tune, err);
}

void wf_gated_fault(const struct wf_sim *sim, uint32_t link, struct wf_gated_fault *fault_p)
{
	*fault_p = sim->gated.faults[link];
}

wf_time wf_gated_delay_max(const struct wf_sim *sim)
{
	return sim->gated.delay_max;
}

/*
 * Packets on a link never overtake one another: one that gets shorter stays silent until what was
 * sent before is as far as it would be.
 */
static void set_delay(struct wf_device *dev, struct wf_port *port, wf_time more, wf_time now)
{
	if (more < 0) {
		port->free_at = wf_max_time(port->free_at, now) - more;
		if (wf_timer_is_set(&dev->node, port->number))
			wf_timer_set(&dev->node, port->number,
			             wf_max_time(dev->node.timer[port->number], port->free_at));
	}
	port->delay += more;
}

/* One direction of a link. */
static void set_half(struct wf_sim *sim, uint32_t link, bool from_a,
                     const struct wf_gated_fault *was, const struct wf_gated_fault *is, wf_time now)
{
	struct wf_half h = wf_network_half(&sim->net, link, from_a);

	set_delay(h.src, h.out, is->delay - was->delay, now);
	h.in->in_delay = h.out->delay;
	h.in->more_loss = is->loss;
	h.in->corrupt = is->corrupt;
	wf_port_set_loss(&sim->fabric, h.dst->id, h.in);
}

int wf_gated_set_link(struct wf_sim *sim, uint32_t link, const struct wf_gated_fault *fault)
{
	struct wf_gated_fault *was = &sim->gated.faults[link];
	wf_time now = wf_sim_now(sim);

	if (fault->delay < 0 || fault->delay > sim->gated.delay_max)
		return -ERANGE;
	set_half(sim, link, true, was, fault, now);
	set_half(sim, link, false, was, fault, now);
	if (was->down != fault->down && wf_sim_link_fault(sim, link, fault->down, now) != 0)
		return -ENOMEM;
	*was = *fault;
	return 0;
}
