/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gated.c - a simulation that is run by the piece, and its links while it stands.
 */
#include "sim/host/gated.h"

#include <errno.h>

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
	wf_endpoint_storm(wf_endpoint_of_device(wf_network_host(&sim->net, host)), on,
	                  wf_sim_now(sim));
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
	if (was->down != fault->down) {
		wf_sim_set_link(sim, link, !fault->down, now);
		if (wf_sim_plan_routes(sim, now) != 0)
			return -ENOMEM;
	}
	*was = *fault;
	return 0;
}
