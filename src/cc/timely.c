/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timely.c - TIMELY: rates from the gradient of the RTT.
 *
 * Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, algorithm
 * 1 with hyper-active increase. Below t_low the rate grows, above t_high it falls with the RTT,
 * in between it follows the sign and size of the averaged RTT difference, relative to min_rtt.
 */
#include "cc/cc_priv.h"

#define DIFF_BITS 20                      /* the average difference is in Q20 ps */
#define DIFF_MAX ((wf_time)1 << 42)       /* ps; 4.4 s */
#define RATE_MAX INT64_C(100000000000000) /* bits/s */

struct timely {
	struct wf_cc cc;
	uint64_t acked;
	uint64_t update; /* bytes acknowledged after which the rate moves; 0: no RTT yet */
	wf_time last_rtt;
	int64_t diff;    /* Q20 ps */
	uint32_t rising; /* increases in a row */
	uint64_t min_rate, ai, hai;
	struct wf_cc_win win;
	struct wf_cc_timely_param p;
};

#define FIELD(field) WF_PARAM_FIELD(struct wf_cc_timely_param, field)

/*
 * Defaults: the paper's (section 6.1); delta of 10 Mb/s at 10 Gb/s in proportion to the line rate.
 */
static const struct wf_param timely_params[] = {
	{ .name = "ewma",
	  .kind = WF_PARAM_PROB,
	  FIELD(ewma),
	  .max = (int64_t)WF_PROB_ONE,
	  .def = "0.875",
	  .help = "weight of the newest RTT difference" },
	{ .name = "beta",
	  .kind = WF_PARAM_PROB,
	  FIELD(beta),
	  .max = (int64_t)WF_PROB_ONE,
	  .def = "0.8",
	  .help = "how hard the rate falls" },
	{ .name = "t_low",
	  .kind = WF_PARAM_TIME,
	  FIELD(t_low),
	  .max = WF_S,
	  .def = "50us",
	  .help = "below this RTT the rate grows" },
	{ .name = "t_high",
	  .kind = WF_PARAM_TIME,
	  FIELD(t_high),
	  .min = 1,
	  .max = WF_S,
	  .def = "500us",
	  .help = "above this RTT the rate falls" },
	{ .name = "min_rtt",
	  .kind = WF_PARAM_TIME,
	  FIELD(min_rtt),
	  .min = WF_NS,
	  .max = WF_S,
	  .def = "20us",
	  .help = "what the gradient is relative to" },
	{ .name = "hai_after",
	  .kind = WF_PARAM_U32,
	  FIELD(hai_after),
	  .max = 1000000,
	  .def = "5",
	  .help = "increases in a row before hai_rate is added" },
	{ .name = "segment",
	  .kind = WF_PARAM_BYTES,
	  FIELD(segment),
	  .max = INT64_C(1) << 40,
	  .def = "64KB",
	  .help = "bytes between updates; 0: one update an RTT" },
	{ .name = "ai_rate",
	  .kind = WF_PARAM_RATE,
	  .has_auto = true,
	  FIELD(ai_rate),
	  .max = RATE_MAX,
	  .def = "auto",
	  .help = "added by an increase; auto: line rate / 1000" },
	{ .name = "hai_rate",
	  .kind = WF_PARAM_RATE,
	  .has_auto = true,
	  FIELD(hai_rate),
	  .max = RATE_MAX,
	  .def = "auto",
	  .help = "added after hai_after increases; auto: five times ai_rate" },
	{ .name = "min_rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(min_rate),
	  .min = WF_CC_RATE_MIN,
	  .max = RATE_MAX,
	  .def = "100Mbps",
	  .help = "the rate never falls below" },
	{ .name = "window",
	  .kind = WF_PARAM_BYTES,
	  FIELD(window),
	  .max = INT64_MAX / 4,
	  .def = "0",
	  .help = "bytes in flight at most; 0: no window" },
	{ .name = "window_scales",
	  .kind = WF_PARAM_BOOL,
	  FIELD(window_scales),
	  .def = "false",
	  .help = "the window shrinks with the rate" },
	{ .name = "window_slack",
	  .kind = WF_PARAM_BYTES,
	  FIELD(window_slack),
	  .max = INT64_MAX / 4,
	  .def = "0",
	  .help = "added to the window" },
};

static struct timely *to_timely(struct wf_cc *cc)
{
	return wf_container_of(cc, struct timely, cc);
}

/*
 * The averaged difference after a sample, Q20 ps. Rounded away from zero: an average that fades
 * keeps its sign, and it is the sign that tells an increase from a decrease.
 */
static int64_t average(const struct timely *t, wf_time rtt)
{
	wf_time d = rtt - t->last_rtt;
	__int128 sum;

	d = wf_max_time(wf_min_time(d, DIFF_MAX), -DIFF_MAX);
	sum = (__int128)t->diff * (int64_t)(WF_PROB_ONE - t->p.ewma);
	sum += (__int128)(d * (1 << DIFF_BITS)) * (int64_t)t->p.ewma;
	sum += sum > 0 ? (int64_t)WF_PROB_ONE - 1 : 1 - (int64_t)WF_PROB_ONE;
	return (int64_t)(sum / (int64_t)WF_PROB_ONE);
}

/* What is left of the rate, Q32; more than 1: it grows. */
static uint64_t factor(const struct timely *t, wf_time rtt, int64_t diff)
{
	uint64_t share;

	if (rtt < t->p.t_low)
		return UINT64_MAX;
	if (rtt > t->p.t_high) {
		share = wf_mul_div((uint64_t)(rtt - t->p.t_high), WF_Q32_ONE, (uint64_t)rtt);
		return WF_Q32_ONE - wf_mul_q32(share, t->p.beta);
	}
	if (diff <= 0)
		return UINT64_MAX;
	share = wf_mul_div((uint64_t)diff, UINT64_C(1) << (32 - DIFF_BITS), (uint64_t)t->p.min_rtt);
	share = wf_mul_q32(share, t->p.beta);
	return share < WF_Q32_ONE ? WF_Q32_ONE - share : 0;
}

static void update(struct timely *t, wf_time rtt)
{
	uint64_t rate = t->cc.rate;
	uint64_t left;

	assert(rtt > 0);
	t->diff = average(t, rtt);
	assert(t->diff <= DIFF_MAX * (1 << DIFF_BITS) && t->diff >= -DIFF_MAX * (1 << DIFF_BITS));
	left = factor(t, rtt, t->diff);
	if (left > WF_Q32_ONE) {
		rate += t->rising < t->p.hai_after ? t->ai : t->hai;
		t->rising += t->rising < UINT32_MAX ? 1 : 0;
		rate = wf_min_u64(rate, t->cc.line_rate);
	} else {
		rate = wf_max_u64(wf_mul_q32(rate, left), t->min_rate);
		t->rising = 0;
	}
	assert(rate >= t->min_rate && rate <= t->cc.line_rate);
	wf_cc_set_rate(&t->cc, rate);
	wf_cc_win_apply(&t->win, &t->cc);
}

static void timely_on_ack(struct wf_cc *cc, const struct wf_cc_ack *ack)
{
	struct timely *t = to_timely(cc);
	uint64_t next;

	t->acked += ack->bytes;
	if (ack->rtt <= 0 || t->acked <= t->update)
		return;
	next = t->acked + (t->p.segment != 0 ? t->p.segment : ack->inflight);
	if (t->update != 0)
		update(t, ack->rtt);
	if (next > t->update) {
		t->update = next;
		t->last_rtt = ack->rtt;
	}
}

static void timely_start(struct wf_cc *cc, const void *param, wf_time now)
{
	struct timely *t = to_timely(cc);
	struct wf_cc_timely_param *p = &t->p;

	(void)now;
	wf_cc_param_copy(&wf_cc_timely, param, p);
	t->ai = p->ai_rate == WF_PARAM_AUTO ? cc->line_rate / 1000 : p->ai_rate;
	t->hai = p->hai_rate == WF_PARAM_AUTO ? 5 * t->ai : p->hai_rate;
	t->min_rate = wf_min_u64(wf_max_u64(p->min_rate, 1), cc->line_rate);
	wf_cc_win_init(&t->win, cc, p->window, p->window_slack, p->window_scales);
	wf_cc_set_rate(cc, cc->line_rate);
	wf_cc_win_apply(&t->win, cc);
}

const struct wf_cc_ops wf_cc_timely = {
	.name = "timely",
	.help = "rates from the gradient of the RTT",
	.size = sizeof(struct timely),
	.params = timely_params,
	.n_params = WF_ARRAY_SIZE(timely_params),
	.param_size = sizeof(struct wf_cc_timely_param),
	.start = timely_start,
	.on_send = wf_cc_no_send,
	.on_ack = timely_on_ack,
	.on_cnp = wf_cc_no_cnp,
	.on_loss = wf_cc_no_loss,
	.on_timer = wf_cc_no_timer,
};
