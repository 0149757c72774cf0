/* SPDX-License-Identifier: Apache-2.0 */
/* none.c - no congestion control: as fast as the port takes it. */
#include "cc/cc.h"

static void none_start(struct wf_cc *cc, const void *param, wf_time now)
{
	(void)param;
	(void)now;
	cc->rate = cc->line_rate;
	cc->gap = 0;
}

const struct wf_cc_ops wf_cc_none = {
	.name = "none",
	.help = "as fast as the port takes it",
	.size = sizeof(struct wf_cc),
	.start = none_start,
	.on_send = wf_cc_no_send,
	.on_ack = wf_cc_no_ack,
	.on_cnp = wf_cc_no_cnp,
	.on_loss = wf_cc_no_loss,
	.on_timer = wf_cc_no_timer,
};
