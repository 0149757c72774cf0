/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.c - a rate and a window that never change. */
#include "cc/cc_priv.h"

#define FIELD(field) WF_PARAM_FIELD(struct wf_cc_fixed_param, field)

static const struct wf_param fixed_params[] = {
	{ .name = "rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(rate),
	  .max = INT64_MAX - 1,
	  .def = "0",
	  .help = "the rate; 0: as fast as the port takes it" },
	{ .name = "window",
	  .kind = WF_PARAM_BYTES,
	  FIELD(window),
	  .max = INT64_MAX - 1,
	  .def = "0",
	  .help = "bytes unacknowledged at most; 0: any number. IRN's BDP-FC (SIGCOMM 2018) is the "
	          "bandwidth-delay product here" },
};

static void fixed_start(struct wf_cc *cc, const void *param, wf_time now)
{
	const struct wf_cc_fixed_param *p = param;

	(void)now;
	wf_cc_set_rate(cc, p == NULL ? cc->line_rate : p->rate);
	if (p != NULL && p->window != 0)
		cc->window = p->window;
}

const struct wf_cc_ops wf_cc_fixed = {
	.name = "fixed",
	.help = "a rate and a window that never change",
	.size = sizeof(struct wf_cc),
	.params = fixed_params,
	.n_params = WF_ARRAY_SIZE(fixed_params),
	.param_size = sizeof(struct wf_cc_fixed_param),
	.start = fixed_start,
	.on_send = wf_cc_no_send,
	.on_ack = wf_cc_no_ack,
	.on_cnp = wf_cc_no_cnp,
	.on_loss = wf_cc_no_loss,
	.on_timer = wf_cc_no_timer,
};
