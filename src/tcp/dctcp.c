/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dctcp.c - DCTCP (RFC 8257): the window goes down by half of the share of bytes that were marked.
 *
 *	alpha = (1 - g) alpha + g F,  cwnd = cwnd (1 - alpha / 2),  g = 1/16, F over a window
 *
 * A loss halves the window as in Reno, and between marks it grows as in Reno.
 */
#include "tcp/cc.h"

#define ALPHA_ONE 1024
#define G 16

static void dctcp_init(struct wf_tcp_cc *cc)
{
	cc->dctcp.alpha = ALPHA_ONE; /* the first mark is taken seriously: RFC 8257, 3.3 */
	cc->dctcp.until = 0;
	cc->dctcp.came = cc->dctcp.marked = 0;
}

static void dctcp_came(struct wf_tcp_cc *cc, const struct wf_tcp_cc_ack *ack)
{
	uint32_t alpha = cc->dctcp.alpha;

	cc->dctcp.came += ack->bytes;
	cc->dctcp.marked += ack->ece ? ack->bytes : 0;
	if (ack->una <= cc->dctcp.until)
		return;
	if (cc->dctcp.came > 0) {
		/* Below G the part that goes is rounded up, so that alpha comes down to 0. */
		alpha -= alpha >= G ? alpha / G : alpha;
		alpha += (uint32_t)(cc->dctcp.marked * (ALPHA_ONE / G) / cc->dctcp.came);
		cc->dctcp.alpha = alpha < ALPHA_ONE ? alpha : ALPHA_ONE;
	}
	cc->dctcp.came = cc->dctcp.marked = 0;
	cc->dctcp.until = ack->nxt;
}

static void dctcp_avoid(struct wf_tcp_cc *cc, const struct wf_tcp_cc_ack *ack, uint32_t segs)
{
	(void)ack;
	wf_tcp_cc_linear(cc, segs);
}

static uint32_t dctcp_reduce(struct wf_tcp_cc *cc, bool loss)
{
	uint64_t cut = cc->cwnd * (loss ? ALPHA_ONE : cc->dctcp.alpha) / (2 * ALPHA_ONE);
	uint64_t less = (cc->cwnd - cut) / WF_TCP_CC_ONE;

	return less > 2 ? (uint32_t)less : 2;
}

const struct wf_tcp_cc_ops wf_tcp_dctcp = {
	.name = "dctcp",
	.ecn = true,
	.init = dctcp_init,
	.came = dctcp_came,
	.avoid = dctcp_avoid,
	.reduce = dctcp_reduce,
	.restart = wf_tcp_cc_no_init,
};
