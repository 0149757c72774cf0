/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_flows.c - how far some of the flows have come at each sample, and what limits them.
 */
#include "run/record_flows.h"

#include <stdlib.h>

struct wf_record_flows {
	struct wf_record_run *run;
	const struct wf_sim *sim;
	size_t n, step; /* how many are followed: every so manieth */
	struct wf_sim_flow_state last[WF_RECORD_FLOWS];
};

struct wf_record_flows *wf_record_flows_create(struct wf_record_run *run, const struct wf_sim *sim)
{
	struct wf_record_flows *flows = calloc(1, sizeof(*flows));
	size_t all = wf_sim_flows(sim);

	if (flows == NULL)
		return NULL;
	flows->run = run;
	flows->sim = sim;
	flows->step = (all + WF_RECORD_FLOWS - 1) / WF_RECORD_FLOWS;
	flows->n = flows->step > 0 ? (all + flows->step - 1) / flows->step : 0;
	return flows;
}

uint64_t wf_record_flows_sample(struct wf_record_flows *flows, wf_time t)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < flows->n; i++) {
		struct wf_sim_flow_state *last = &flows->last[i], state;

		if (wf_sim_flow_start(flows->sim, i * flows->step) > t)
			continue;
		wf_sim_flow_state(flows->sim, i * flows->step, &state);
		if (state.acked == last->acked && state.rate == last->rate &&
		    state.window == last->window)
			continue;
		*last = state;
		wf_record_flow_sample(flows->run, t, i * flows->step, state.acked, state.rate,
		                      state.window);
		rows++;
	}
	return rows;
}

void wf_record_flows_destroy(struct wf_record_flows *flows)
{
	free(flows);
}
