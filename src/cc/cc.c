/* SPDX-License-Identifier: Apache-2.0 */
/* cc.c - the table of congestion control algorithms, the stubs, and the rate's arithmetic. */
#include "cc/cc.h"

#include <assert.h>
#include <string.h>

static const struct wf_cc_ops *const all_cc[] = {
	&wf_cc_none,
	&wf_cc_fixed,
};

/* A byte at the slowest rate that is paced still lasts less than 2^40 ps. */
#define RATE_MIN 8

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
	assert(ops->size >= sizeof(*cc));
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
	const uint64_t bit_second = (uint64_t)WF_S << WF_CC_GAP_SHIFT; /* below 2^56 */

	if (cc->line_rate != 0 && rate > cc->line_rate)
		rate = cc->line_rate;
	cc->rate = rate;
	if (rate == 0) {
		cc->gap = 0;
		return;
	}
	if (rate < RATE_MIN)
		rate = RATE_MIN;
	cc->gap = bit_second / rate * 8 + bit_second % rate * 8 / rate;
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
