/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dcqcn.c - DCQCN's reaction point.
 *
 * Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3, with
 * the settings of the adapters that implement it.
 *
 *	            CNP                    rpg_threshold increases
 *	line rate -------> fast recovery ---------------------------> additive increase
 *	                    ^ halve the way to the target             the target grows by ai
 *	                    |                                               |  more by timer
 *	                    +------------- CNP (decrease) -----+            v  and by bytes
 *	                                                       +------ hyper increase (hai)
 *
 * Nothing here is an event of its own. What the timers would have done is worked out when a packet,
 * a CNP or an acknowledgement comes, from the ticks that have passed:
 *
 *  - alpha without a CNP is a power: alpha * (1 - g)^n. It is raised only at a CNP and at a
 *    decrease, so its value does not depend on how often somebody looked.
 *  - n increases with the same step: the distance between target and rate halves towards the step,
 *    and does not change any more after at most 64 of them; then the target moves by n steps at
 *    once. At the full rate nothing changes any more. So hours cost a few hundred instructions.
 *
 * The stage counters hold the increases since the last decrease. An increase is fast recovery while
 * both are below the threshold, hyper increase when both are above it, additive otherwise; without
 * a byte counter, the timer's alone counts.
 */
#include "cc/cc_priv.h"

#define ALPHA_ONE (UINT64_C(1) << 60) /* alpha is in Q60 */
#define ALPHA_UNIT (ALPHA_ONE >> 10)  /* of initial_alpha_value */
#define FOREVER UINT64_MAX
#define FIRST_CNP_PERCENT 85 /* of the line rate: NVIDIA, "DCQCN CC Parameters" */

struct dcqcn {
	struct wf_cc cc;
	uint64_t left; /* bytes until the byte counter's next increase */
	struct wf_cc_win win;

	bool limited;      /* a CNP has come: alpha and the timers run */
	bool dec_wanted;   /* a CNP waits for the decrease timer's tick at dec_at */
	bool alpha_marked; /* a CNP waits for alpha's next tick */
	bool by_alpha_timer;
	bool by_dec_timer;

	uint64_t target;     /* bits/s; never below cc.rate */
	uint64_t time_stage; /* increases by the timer since the last decrease */
	uint64_t byte_stage;
	uint64_t alpha;   /* Q60, after the tick at alpha_at */
	wf_time alpha_at; /* the last tick of alpha that is in it */
	wf_time dec_at;   /* a tick of the decrease timer */
	wf_time last_dec;
	wf_time rp_at; /* the increase timer's next tick; WF_TIME_NEVER before the first decrease */

	uint64_t min_rate, max_rate, ai, hai;
	struct wf_cc_dcqcn_param p;
};

static const char *const cnp_or_timer[] = { "cnp", "timer", NULL };

#define FIELD(field) WF_PARAM_FIELD(struct wf_cc_dcqcn_param, field)
#define RATE_MAX INT64_C(100000000000000)

/*
 * The defaults are those of the paper (section 5.2 and the deployed values): timer 55 us, byte
 * counter 10 MB, F 5, g 1/256, alpha every 55 us, 40 Mb/s and ten times that at 40 Gb/s, here in
 * proportion to the line rate. ConnectX adapters ship with rpg_time_reset 300us, rpg_byte_reset
 * 32767, rpg_threshold 1, rpg_ai_rate 5Mbps, rpg_hai_rate 50Mbps, rpg_min_rate 1Mbps, rpg_gd 11,
 * rpg_min_dec_fac 50, dce_tcp_rtt 1us, dce_tcp_g 1019 (of 1024, what stays: about 1/205 here),
 * initial_alpha_value 1023, rate_reduce_monitor_period 4us, rate_to_set_on_first_cnp 0,
 * clamp_tgt_rate 0, both timers (profiles/roce-400g.yaml).
 */
static const struct wf_param dcqcn_params[] = {
	{ .name = "rpg_time_reset",
	  .kind = WF_PARAM_TIME,
	  FIELD(rpg_time_reset),
	  .min = WF_NS,
	  .max = WF_S,
	  .def = "55us",
	  .help = "time between rate increases if no CNP comes" },
	{ .name = "rpg_byte_reset",
	  .kind = WF_PARAM_BYTES,
	  FIELD(rpg_byte_reset),
	  .max = INT64_MAX - 1,
	  .def = "10MB",
	  .help = "bytes between rate increases if no CNP comes; 0: no byte counter" },
	{ .name = "rpg_threshold",
	  .kind = WF_PARAM_U32,
	  FIELD(rpg_threshold),
	  .max = 1000000,
	  .def = "5",
	  .help = "increases by fast recovery before additive increase" },
	{ .name = "rpg_ai_rate",
	  .kind = WF_PARAM_RATE,
	  .has_auto = true,
	  FIELD(rpg_ai_rate),
	  .max = RATE_MAX,
	  .def = "auto",
	  .help = "added by an additive increase; auto: line rate / 1000" },
	{ .name = "rpg_hai_rate",
	  .kind = WF_PARAM_RATE,
	  .has_auto = true,
	  FIELD(rpg_hai_rate),
	  .max = RATE_MAX,
	  .def = "auto",
	  .help = "added by a hyper increase; auto: ten times rpg_ai_rate" },
	{ .name = "rpg_gd",
	  .kind = WF_PARAM_U32,
	  FIELD(rpg_gd),
	  .max = 15,
	  .def = "11",
	  .help = "log2; a decrease takes alpha (of 1024) / 2^rpg_gd of the rate" },
	{ .name = "rpg_min_rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(rpg_min_rate),
	  .min = WF_CC_RATE_MIN,
	  .max = RATE_MAX,
	  .def = "1Mbps",
	  .help = "the rate never falls below" },
	{ .name = "rpg_max_rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(rpg_max_rate),
	  .max = RATE_MAX,
	  .def = "0",
	  .help = "the rate never exceeds; 0: the line rate" },
	{ .name = "rpg_min_dec_fac",
	  .kind = WF_PARAM_U32,
	  FIELD(rpg_min_dec_fac),
	  .max = 100,
	  .def = "50",
	  .help = "per cent of the rate that one decrease leaves at least" },
	{ .name = "dce_tcp_g",
	  .kind = WF_PARAM_PROB,
	  FIELD(dce_tcp_g),
	  .max = (int64_t)WF_PROB_ONE,
	  .def = "0.00390625",
	  .help = "g, the gain of alpha" },
	{ .name = "dce_tcp_rtt",
	  .kind = WF_PARAM_TIME,
	  FIELD(dce_tcp_rtt),
	  .min = WF_NS,
	  .max = WF_S,
	  .def = "55us",
	  .help = "time between updates of alpha" },
	{ .name = "initial_alpha_value",
	  .kind = WF_PARAM_U32,
	  FIELD(initial_alpha_value),
	  .max = 1024,
	  .def = "1024",
	  .help = "alpha at the first CNP, of 1024" },
	{ .name = "rate_to_set_on_first_cnp",
	  .kind = WF_PARAM_RATE,
	  .has_auto = true,
	  FIELD(rate_to_set_on_first_cnp),
	  .max = RATE_MAX,
	  .def = "auto",
	  .help = "rate and target at the first CNP; 0: 85 % of the line rate, as NVIDIA's "
	          "adapters; "
	          "auto: the first is like any other, as in the paper" },
	{ .name = "rate_reduce_monitor_period",
	  .kind = WF_PARAM_TIME,
	  FIELD(rate_reduce_monitor_period),
	  .min = WF_NS,
	  .max = WF_S,
	  .def = "4us",
	  .help = "least time between two decreases" },
	{ .name = "clamp_tgt_rate",
	  .kind = WF_PARAM_BOOL,
	  FIELD(clamp_tgt_rate),
	  .def = "true",
	  .help = "every decrease sets the target rate; false: only one after an increase" },
	{ .name = "alpha_update",
	  .kind = WF_PARAM_NAME,
	  FIELD(alpha_update),
	  .names = cnp_or_timer,
	  .def = "cnp",
	  .help = "when alpha grows: at a CNP, or at its timer's tick after one" },
	{ .name = "rate_decrease",
	  .kind = WF_PARAM_NAME,
	  FIELD(rate_decrease),
	  .names = cnp_or_timer,
	  .def = "cnp",
	  .help = "when the rate falls: at a CNP, or at the monitor period's end after one" },
	{ .name = "decrease_phase",
	  .kind = WF_PARAM_TIME,
	  FIELD(decrease_phase),
	  .max = WF_S,
	  .def = "1ns",
	  .help = "how long after alpha's timer that of decreases starts" },
	{ .name = "cnp_on_ack",
	  .kind = WF_PARAM_BOOL,
	  FIELD(cnp_on_ack),
	  .def = "false",
	  .help = "an acknowledgement that echoes a mark counts as a CNP" },
	{ .name = "release",
	  .kind = WF_PARAM_BOOL,
	  FIELD(release),
	  .def = "false",
	  .help = "back at the full rate, the next CNP counts as the first" },
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

static struct dcqcn *to_dcqcn(struct wf_cc *cc)
{
	return wf_container_of(cc, struct dcqcn, cc);
}

/* What holds between two calls. */
static void assert_dcqcn(const struct dcqcn *d)
{
	assert(d->target >= d->cc.rate && d->target <= d->max_rate);
	assert(d->cc.rate >= d->min_rate);
	assert(d->alpha <= ALPHA_ONE);
	assert(d->limited || d->cc.rate == d->max_rate);
	assert(d->by_dec_timer || !d->dec_wanted);
	assert(d->by_alpha_timer || !d->alpha_marked);
	assert(d->left > 0);
	(void)d;
}

static void set_rate(struct dcqcn *d, uint64_t rate)
{
	wf_cc_set_rate(&d->cc, rate);
	wf_cc_win_apply(&d->win, &d->cc);
}

/* ---- alpha ---- */

static void alpha_raise(struct dcqcn *d)
{
	uint64_t g = d->p.dce_tcp_g << 28;

	d->alpha += (uint64_t)(((wf_u128)(ALPHA_ONE - d->alpha) * g) >> 60);
}

/* Carries out alpha's ticks up to and at now. */
static void alpha_advance(struct dcqcn *d, wf_time now)
{
	uint64_t keep = (WF_PROB_ONE - d->p.dce_tcp_g) << 30; /* 1 - g in Q62 */
	uint64_t n;

	if (now - d->alpha_at < d->p.dce_tcp_rtt)
		return;
	n = (uint64_t)((now - d->alpha_at) / d->p.dce_tcp_rtt);
	d->alpha_at += (wf_time)n * d->p.dce_tcp_rtt;
	if (d->alpha_marked) {
		d->alpha_marked = false;
		alpha_raise(d);
		n--;
	}
	if (n != 0)
		d->alpha = (uint64_t)(((wf_u128)d->alpha * wf_pow_q62(keep, n)) >> 62);
}

/* ---- increase ---- */

/*
 * n increases, each of which moves the target up by step, to the maximum at most, and the rate half
 * the way to the target (rounded up, so that it arrives).
 */
static void climb(struct dcqcn *d, uint64_t step, uint64_t n)
{
	uint64_t behind = d->target - d->cc.rate;

	while (n > 0) {
		uint64_t room = d->max_rate - d->target;
		uint64_t add = wf_min_u64(step, room);
		uint64_t next = (behind + add) / 2;

		if (next == behind && add == 0)
			break;
		if (next == behind && add == step) {
			uint64_t m = wf_min_u64(n, room / step);

			d->target += m * step;
			n -= m;
			continue;
		}
		d->target += add;
		behind = next;
		n--;
	}
	if (d->cc.rate != d->target - behind)
		set_rate(d, d->target - behind);
}

/* The step of the next increase counted in mine; *n_p: for how many increases it stays that. */
static uint64_t step_of(const struct dcqcn *d, uint64_t mine, uint64_t other, uint64_t *n_p)
{
	uint64_t f = d->p.rpg_threshold;

	if (mine < f && other < f) {
		*n_p = f - mine;
		return 0;
	}
	if (mine > f && other > f) {
		*n_p = FOREVER;
		return d->hai;
	}
	*n_p = other > f ? f + 1 - mine : FOREVER;
	return d->ai;
}

/* Carries out n increases of the timer (by_time) or of the byte counter. */
static void increase(struct dcqcn *d, bool by_time, uint64_t n)
{
	uint64_t *stage = by_time ? &d->time_stage : &d->byte_stage;
	bool alone = d->p.rpg_byte_reset == 0;

	while (n > 0) {
		uint64_t other = alone ? *stage : by_time ? d->byte_stage : d->time_stage;
		uint64_t same;
		uint64_t step = step_of(d, *stage, other, &same);

		/*
		 * Without a byte counter the timer's stage stands for both; the next increase
		 * passes the threshold.
		 */
		if (alone && *stage == d->p.rpg_threshold)
			same = 1;
		same = wf_min_u64(same, n);
		climb(d, step, same);
		*stage += same;
		n -= same;
	}
}

/* Carries out the increase timer's ticks up to and at now. */
static void increase_until(struct dcqcn *d, wf_time now)
{
	uint64_t n;

	if (now < d->rp_at)
		return;
	n = 1 + (uint64_t)((now - d->rp_at) / d->p.rpg_time_reset);
	d->rp_at += (wf_time)n * d->p.rpg_time_reset;
	increase(d, true, n);
}

/* ---- decrease ---- */

static void restart_increase(struct dcqcn *d, wf_time now)
{
	d->time_stage = d->byte_stage = 0;
	d->rp_at = now + d->p.rpg_time_reset;
	if (d->p.rpg_byte_reset != 0)
		d->left = d->p.rpg_byte_reset;
}

static void decrease(struct dcqcn *d, wf_time now)
{
	uint64_t rate = d->cc.rate;
	uint64_t cut, least;

	alpha_advance(d, now);
	if (d->p.clamp_tgt_rate || d->time_stage != 0 || d->byte_stage != 0)
		d->target = rate;
	cut = wf_sat64(((wf_u128)rate * d->alpha) >> (50 + d->p.rpg_gd));
	least = rate / 100 * d->p.rpg_min_dec_fac + rate % 100 * d->p.rpg_min_dec_fac / 100;
	rate = cut < rate ? wf_max_u64(rate - cut, least) : least;
	rate = wf_max_u64(rate, d->min_rate);
	if (d->target < rate)
		d->target = rate;
	set_rate(d, rate);
	d->last_dec = now;
	restart_increase(d, now);
}

/* Carries out what the timers did up to and at now; an increase comes before a decrease. */
static void catch_up(struct dcqcn *d, wf_time now)
{
	if (d->dec_wanted && d->dec_at <= now) {
		increase_until(d, d->dec_at);
		d->dec_wanted = false;
		decrease(d, d->dec_at);
	}
	increase_until(d, now);
}

/* Asks to be called when the rate changes next. */
static void arm(struct dcqcn *d)
{
	d->cc.timer = d->dec_wanted ? d->dec_at : WF_TIME_NEVER;
	if (d->cc.rate != d->max_rate)
		d->cc.timer = wf_min_time(d->cc.timer, d->rp_at);
	assert_dcqcn(d);
}

/* The first CNP: the limiter is set up. Returns whether it takes the place of a decrease. */
static bool first_cnp(struct dcqcn *d, wf_time now)
{
	uint64_t rate = d->p.rate_to_set_on_first_cnp;
	bool given = rate != (uint64_t)WF_PARAM_AUTO;

	if (rate == 0)
		rate = d->cc.line_rate / 100 * FIRST_CNP_PERCENT;
	d->limited = true;
	d->alpha = d->p.initial_alpha_value * ALPHA_UNIT;
	d->alpha_at = now;
	d->alpha_marked = false;
	d->dec_at = now + d->p.rate_reduce_monitor_period + d->p.decrease_phase;
	d->dec_wanted = d->by_dec_timer;
	if (given) {
		set_rate(d, wf_clamp_u64(rate, d->min_rate, d->cc.rate));
		restart_increase(d, now);
	}
	d->target = d->cc.rate;
	d->last_dec = now;
	return given || d->by_dec_timer;
}

/* Handles a CNP; asked as in struct wf_cc_ack. */
static void take_cnp(struct wf_cc *cc, wf_time asked, wf_time now)
{
	struct dcqcn *d = to_dcqcn(cc);
	wf_time period = d->p.rate_reduce_monitor_period;

	catch_up(d, now);
	if (!d->limited || (d->p.release && cc->rate == d->max_rate && !d->dec_wanted)) {
		if (!first_cnp(d, now))
			decrease(d, now);
		arm(d);
		return;
	}
	if (d->by_dec_timer && !d->dec_wanted) {
		if (now >= d->dec_at)
			d->dec_at += ((now - d->dec_at) / period + 1) * period;
		d->dec_wanted = true;
	} else if (!d->by_dec_timer && now - d->last_dec >= period) {
		decrease(d, now);
	}
	/* A tick at this very time that was asked for later comes behind it. */
	alpha_advance(d, d->p.dce_tcp_rtt < asked ? now - 1 : now);
	if (d->by_alpha_timer) {
		d->alpha_marked = true;
	} else {
		alpha_raise(d);
		d->alpha_at = now;
	}
	arm(d);
}

static void dcqcn_on_cnp(struct wf_cc *cc, wf_time now)
{
	take_cnp(cc, 0, now);
}

static void dcqcn_on_ack(struct wf_cc *cc, const struct wf_cc_ack *ack)
{
	if (wf_unlikely(ack->ecn) && to_dcqcn(cc)->p.cnp_on_ack)
		take_cnp(cc, ack->asked, ack->now);
}

static void dcqcn_on_send(struct wf_cc *cc, uint32_t bytes, wf_time now)
{
	struct dcqcn *d = to_dcqcn(cc);
	uint64_t over;

	if (wf_likely(bytes < d->left)) {
		d->left -= bytes;
		return;
	}
	over = bytes - d->left;
	d->left = d->p.rpg_byte_reset - over % d->p.rpg_byte_reset;
	catch_up(d, now);
	increase(d, false, 1 + over / d->p.rpg_byte_reset);
	arm(d);
}

static void dcqcn_on_timer(struct wf_cc *cc, wf_time now)
{
	struct dcqcn *d = to_dcqcn(cc);

	catch_up(d, now);
	arm(d);
}

static void dcqcn_start(struct wf_cc *cc, const void *param, wf_time now)
{
	struct dcqcn *d = to_dcqcn(cc);
	struct wf_cc_dcqcn_param *p = &d->p;

	(void)now;
	wf_cc_param_copy(&wf_cc_dcqcn, param, p);
	d->by_alpha_timer = strcmp(p->alpha_update, "timer") == 0;
	d->by_dec_timer = strcmp(p->rate_decrease, "timer") == 0;
	d->max_rate =
		p->rpg_max_rate == 0 ? cc->line_rate : wf_min_u64(p->rpg_max_rate, cc->line_rate);
	d->min_rate = wf_min_u64(wf_max_u64(p->rpg_min_rate, 1), d->max_rate);
	d->ai = p->rpg_ai_rate == WF_PARAM_AUTO ? cc->line_rate / 1000 : p->rpg_ai_rate;
	d->hai = p->rpg_hai_rate == WF_PARAM_AUTO ? 10 * d->ai : p->rpg_hai_rate;
	d->left = UINT64_MAX;
	d->rp_at = WF_TIME_NEVER;
	wf_cc_win_init(&d->win, cc, p->window, p->window_slack, p->window_scales);
	d->target = d->max_rate;
	set_rate(d, d->max_rate);
	assert_dcqcn(d);
}

const struct wf_cc_ops wf_cc_dcqcn = {
	.name = "dcqcn",
	.help = "rates from congestion notification packets (RoCE v2)",
	.size = sizeof(struct dcqcn),
	.marks = true,
	.params = dcqcn_params,
	.n_params = WF_ARRAY_SIZE(dcqcn_params),
	.param_size = sizeof(struct wf_cc_dcqcn_param),
	.start = dcqcn_start,
	.on_send = dcqcn_on_send,
	.on_ack = dcqcn_on_ack,
	.on_cnp = dcqcn_on_cnp,
	.on_loss = wf_cc_no_loss,
	.on_timer = dcqcn_on_timer,
};
