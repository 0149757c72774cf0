/* SPDX-License-Identifier: Apache-2.0 */
/* cc.c - the table of congestion control algorithms, the stubs, and the rate's arithmetic. */
#include "cc/cc.h"

#include <assert.h>
#include <string.h>

#include "cc/cc_priv.h"

static const struct wf_cc_ops *const all_cc[] = {
	&wf_cc_none,  &wf_cc_fixed, &wf_cc_dcqcn, &wf_cc_hpcc, &wf_cc_timely,
	&wf_cc_swift, &wf_cc_dctcp, &wf_cc_ibcc,  &wf_cc_nscc, &wf_cc_hpcc_ns3,
};

void wf_cc_no_send(struct wf_cc *cc, uint32_t bytes, wf_time now)
{
	(void)cc;
	(void)bytes;
	(void)now;
}

void wf_cc_no_ack(struct wf_cc *cc, const struct wf_cc_ack *ack)
{
	(void)cc;
	(void)ack;
}

void wf_cc_no_cnp(struct wf_cc *cc, wf_time now)
{
	(void)cc;
	(void)now;
}

void wf_cc_no_loss(struct wf_cc *cc, enum wf_cc_loss loss, wf_time now)
{
	(void)cc;
	(void)loss;
	(void)now;
}

void wf_cc_no_timer(struct wf_cc *cc, wf_time now)
{
	(void)now;
	cc->timer = WF_TIME_NEVER;
}

void wf_cc_init(struct wf_cc *cc, const struct wf_cc_ops *ops, const void *param,
                uint64_t line_rate, wf_time now)
{
	assert(ops->size >= sizeof(*cc) && line_rate != 0);
	memset(cc, 0, ops->size);
	cc->ops = ops;
	cc->line_rate = line_rate;
	cc->window = WF_CC_NO_WINDOW;
	cc->timer = WF_TIME_NEVER;
	ops->start(cc, param, now);
	assert(cc->ops == ops && cc->window > 0);
}

void wf_cc_set_rate(struct wf_cc *cc, uint64_t rate)
{
	const uint64_t byte_second = ((uint64_t)WF_S * 8) << WF_CC_GAP_SHIFT; /* below 2^63 */

	if (cc->line_rate != 0 && rate > cc->line_rate)
		rate = cc->line_rate;
	cc->rate = rate;
	if (rate == 0) {
		cc->gap = 0;
		return;
	}
	if (rate < WF_CC_RATE_MIN)
		rate = WF_CC_RATE_MIN;
	cc->gap = (byte_second - 1) / rate + 1;
	assert(cc->gap != 0);
}

void wf_cc_param_copy(const struct wf_cc_ops *ops, const void *param, void *p)
{
	struct wf_err err;
	int ret;

	if (param != NULL) {
		memcpy(p, param, ops->param_size);
		return;
	}
	ret = wf_param_defaults(ops->params, ops->n_params, p, &err);
	assert(ret == 0);
	(void)ret;
}

const struct wf_cc_ops *wf_cc_at(size_t i)
{
	return i < WF_ARRAY_SIZE(all_cc) ? all_cc[i] : NULL;
}

const struct wf_cc_ops *wf_cc_find(const char *name)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(all_cc); i++) {
		if (strcmp(all_cc[i]->name, name) == 0)
			return all_cc[i];
	}
	return NULL;
}
