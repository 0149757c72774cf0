/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.c - a rate and a window that never change. */
#include "cc/cc.h"

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
	.start = fixed_start,
	.on_send = wf_cc_no_send,
	.on_ack = wf_cc_no_ack,
	.on_cnp = wf_cc_no_cnp,
	.on_loss = wf_cc_no_loss,
	.on_timer = wf_cc_no_timer,
};
