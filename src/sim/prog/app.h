/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.h - programs on the hosts of a simulation: the one way to put them there.
 *
 * A simulation with an application has the transport's adapter on every host. What runs where is
 * the application's: start() gives hosts their programs with wf_adapter_add_program(); a host
 * without one answers what comes for it as far as it was set up to, and does nothing of its own.
 */
#ifndef WF_SIM_PROG_APP_H
#define WF_SIM_PROG_APP_H

#include "base/err.h"
#include "sim/host/adapter.h"

/* Every function is set. The adapters belong to the simulation. */
struct wf_sim_app {
	void *arg;
	bool data; /* payload bytes are carried; false: only their lengths are */
	bool tcp;  /* hosts have TCP: wf_adapter_tcp() */
	/*
	 * Delay of the application's own links between adapters and nodes that it adds in start()
	 * (struct wf_program.side); 0: there are none.
	 */
	wf_time side_delay;
	/* What the adapter of a host needs room for; attr comes with wf_hca_attr_defaults(). */
	void (*attr)(void *arg, uint32_t host, struct wf_hca_attr *attr);
	/*
	 * The fabric is built; virtual time has not begun. Sets up what the programs need, without
	 * a packet being sent. adapters by host index; both are borrowed while the simulation
	 * lives. Returns 0, -ENOMEM, or -EINVAL with err filled.
	 */
	int (*start)(void *arg, const struct wf_fabric *fabric, struct wf_adapter **adapters,
	             struct wf_err *err);
	/*
	 * Whether the programs have come to their end. Asked between windows, when no program runs;
	 * when it says so and all flows are over, the run ends.
	 */
	bool (*done)(void *arg, wf_time now);
	/*
	 * How much of their work the programs have done, of WF_SIM_ALL, at a guess; NULL: not
	 * known.
	 */
	uint32_t (*share)(void *arg);
};

#endif
