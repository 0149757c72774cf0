/* SPDX-License-Identifier: Apache-2.0 */
/* cc.c - the table of congestion controls, and the simplest: Reno (RFC 5681). */
#include "tcp/cc.h"

#include <string.h>

static const struct wf_tcp_cc_ops *const all[] = { &wf_tcp_cubic, &wf_tcp_dctcp, &wf_tcp_reno };

const struct wf_tcp_cc_ops *wf_tcp_cc_at(size_t i)
{
	return i < WF_ARRAY_SIZE(all) ? all[i] : NULL;
}

const struct wf_tcp_cc_ops *wf_tcp_cc_find(const char *name)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(all); i++) {
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	}
	return NULL;
}

void wf_tcp_cc_no_init(struct wf_tcp_cc *cc)
{
	(void)cc;
}

void wf_tcp_cc_no_came(struct wf_tcp_cc *cc, const struct wf_tcp_cc_ack *ack)
{
	(void)cc;
	(void)ack;
}

static void reno_avoid(struct wf_tcp_cc *cc, const struct wf_tcp_cc_ack *ack, uint32_t segs)
{
	(void)ack;
	wf_tcp_cc_linear(cc, segs);
}

static uint32_t reno_reduce(struct wf_tcp_cc *cc, bool loss)
{
	uint32_t half = wf_tcp_cc_cwnd(cc) / 2;

	(void)loss;
	return half > 2 ? half : 2;
}

const struct wf_tcp_cc_ops wf_tcp_reno = {
	.name = "reno",
	.init = wf_tcp_cc_no_init,
	.came = wf_tcp_cc_no_came,
	.avoid = reno_avoid,
	.reduce = reno_reduce,
	.restart = wf_tcp_cc_no_init,
};
