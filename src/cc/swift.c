/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swift.c - Swift: a window from the distance to a target delay.
 *
 * Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter",
 * SIGCOMM 2020, section 3. The target grows with the hops of the path (topology scaling) and, as
 * 1 / sqrt(window), with the number of flows that share a queue (flow scaling). Below the target
 * the window grows by ai packets an RTT; above it, at most once an RTT, it falls by beta times the
 * excess, max_mdf at most. A window below one packet is a packet every RTT / window: it is paced.
 *
 * The delay is the whole RTT: fabric and remote host are not told apart, so there is one window
 * where the paper has two.
 */
#include "cc/cc_priv.h"

#define CWND_ONE WF_Q32_ONE /* a packet; windows are in Q32 */

struct swift {
	struct wf_cc cc;
	uint64_t cwnd; /* packets, Q32 */
	uint64_t min, max;
	wf_time rtt; /* the last one */
	wf_time last_dec;
	uint32_t timeouts; /* in a row */
	uint64_t fs_cwnd;  /* the window for which fs_delay was computed */
	wf_time fs_delay;
	uint64_t fs_low, fs_high; /* 1 / sqrt of fs_max_cwnd and fs_min_cwnd, Q24 */
	struct wf_recip inv_mtu;
	bool dec_once; /* last_dec is set */
	struct wf_cc_swift_param p;
};

#define FIELD(field) WF_PARAM_FIELD(struct wf_cc_swift_param, field)
#define PACKETS_MAX (INT64_C(1) << 36) /* 2^20 packets */

/* Defaults: the paper's base target of 25 us, beta 0.8, max_mdf 0.5; scaling as in section 3.5. */
static const struct wf_param swift_params[] = {
	{ .name = "base_target",
	  .kind = WF_PARAM_TIME,
	  FIELD(base_target),
	  .min = 100 * WF_NS,
	  .max = WF_S,
	  .def = "25us",
	  .help = "the delay aimed at without hops and with a large window" },
	{ .name = "per_hop",
	  .kind = WF_PARAM_TIME,
	  FIELD(per_hop),
	  .max = WF_S,
	  .def = "1us",
	  .help = "added to the target for each hop" },
	{ .name = "hops",
	  .kind = WF_PARAM_U32,
	  FIELD(hops),
	  .max = 1000,
	  .def = "3",
	  .help = "of the path, where no telemetry tells" },
	{ .name = "fs_range",
	  .kind = WF_PARAM_TIME,
	  FIELD(fs_range),
	  .max = WF_S,
	  .def = "25us",
	  .help = "most that flow scaling adds to the target" },
	{ .name = "fs_min_cwnd",
	  .kind = WF_PARAM_RATIO,
	  FIELD(fs_min_cwnd),
	  .min = 1,
	  .max = PACKETS_MAX,
	  .def = "0.1",
	  .help = "packets; with a smaller window flow scaling adds all of fs_range" },
	{ .name = "fs_max_cwnd",
	  .kind = WF_PARAM_RATIO,
	  FIELD(fs_max_cwnd),
	  .min = 1,
	  .max = PACKETS_MAX,
	  .def = "100",
	  .help = "packets; with a larger window flow scaling adds nothing" },
	{ .name = "ai",
	  .kind = WF_PARAM_RATIO,
	  FIELD(ai),
	  .max = PACKETS_MAX,
	  .def = "1",
	  .help = "packets added every RTT" },
	{ .name = "beta",
	  .kind = WF_PARAM_PROB,
	  FIELD(beta),
	  .max = (int64_t)WF_PROB_ONE,
	  .def = "0.8",
	  .help = "how hard the window falls" },
	{ .name = "max_mdf",
	  .kind = WF_PARAM_PROB,
	  FIELD(max_mdf),
	  .max = (int64_t)WF_PROB_ONE,
	  .def = "0.5",
	  .help = "most that one decrease takes" },
	{ .name = "min_cwnd",
	  .kind = WF_PARAM_RATIO,
	  FIELD(min_cwnd),
	  .min = 1,
	  .max = PACKETS_MAX,
	  .def = "0.01",
	  .help = "packets; the smallest window" },
	{ .name = "max_cwnd",
	  .kind = WF_PARAM_RATIO,
	  .has_auto = true,
	  FIELD(max_cwnd),
	  .min = 1,
	  .max = PACKETS_MAX,
	  .def = "auto",
	  .help = "packets; the largest window; auto: what the line carries in base_target" },
	{ .name = "retx_reset",
	  .kind = WF_PARAM_U32,
	  FIELD(retx_reset),
	  .min = 1,
	  .max = 1000,
	  .def = "5",
	  .help = "timeouts in a row after which the window is the smallest" },
	{ .name = "mtu",
	  .kind = WF_PARAM_BYTES,
	  FIELD(mtu),
	  .min = 1,
	  .max = 1 << 20,
	  .def = "4096",
	  .help = "payload of a packet" },
};

static struct swift *to_swift(struct wf_cc *cc)
{
	return wf_container_of(cc, struct swift, cc);
}

/* What holds between two calls. */
static void assert_swift(const struct swift *s)
{
	assert(s->min >= 1 && s->min <= CWND_ONE && s->max >= CWND_ONE);
	assert(s->cwnd >= s->min && s->cwnd <= s->max);
	assert(s->cc.window >= s->p.mtu);
	assert(s->cc.rate >= 1 && s->cc.rate <= s->cc.line_rate);
	assert(s->fs_delay >= 0 && s->fs_delay <= s->p.fs_range);
	assert(s->rtt > 0);
	(void)s;
}

/* The root of x, rounded down. */
static uint64_t root(uint64_t x)
{
	uint64_t r, next;

	if (x == 0)
		return 0;
	r = UINT64_C(1) << (32 - __builtin_clzll(x) / 2);
	/* Newton's method, started from above, falls until it arrives. */
	while ((next = (r + x / r) / 2) < r)
		r = next;
	return r;
}

/* 1 / sqrt(cwnd), Q24; cwnd in Q16. */
static uint64_t inverse_root(uint64_t cwnd)
{
	return root(UINT64_MAX / wf_max_u64(cwnd, 1));
}

/* Flow scaling, recomputed when the window has changed by more than a 64th. */
static wf_time flow_scaling(struct swift *s)
{
	uint64_t off = s->cwnd > s->fs_cwnd ? s->cwnd - s->fs_cwnd : s->fs_cwnd - s->cwnd;
	uint64_t x;

	if (off <= s->fs_cwnd >> 6)
		return s->fs_delay;
	s->fs_cwnd = s->cwnd;
	x = wf_clamp_u64(inverse_root(s->cwnd >> 16), s->fs_low, s->fs_high);
	s->fs_delay = 0;
	if (s->fs_high > s->fs_low)
		s->fs_delay = (wf_time)wf_mul_div((uint64_t)s->p.fs_range, x - s->fs_low,
		                                  s->fs_high - s->fs_low);
	return s->fs_delay;
}

static void set(struct swift *s, uint64_t cwnd)
{
	struct wf_cc *cc = &s->cc;
	uint64_t rate;

	s->cwnd = wf_clamp_u64(cwnd, s->min, s->max);
	if (wf_likely(s->cwnd >= CWND_ONE)) {
		cc->window = wf_mul_q32(s->cwnd, s->p.mtu);
		wf_cc_unpace(cc);
		return;
	}
	/* A packet every RTT / window. */
	cc->window = s->p.mtu;
	rate = wf_mul_div(s->p.mtu * 8 * s->cwnd >> 12, (uint64_t)WF_S,
	                  (uint64_t)wf_max_time(s->rtt, 1));
	wf_cc_set_rate(cc, wf_max_u64(rate >> 20, WF_CC_RATE_MIN));
}

static bool may_decrease(const struct swift *s, wf_time now)
{
	return !s->dec_once || now - s->last_dec >= s->rtt;
}

/* Takes share (Q32), once an RTT. */
static void decrease(struct swift *s, uint64_t share, wf_time now)
{
	if (!may_decrease(s, now))
		return;
	share = wf_min_u64(share, s->p.max_mdf);
	s->last_dec = now;
	s->dec_once = true;
	set(s, s->cwnd - wf_mul_q32(s->cwnd, share));
}

static void increase(struct swift *s, uint32_t bytes)
{
	uint64_t packets = wf_recip_mul(&s->inv_mtu, bytes, 32);
	uint64_t more = wf_sat64(((wf_u128)packets * s->p.ai) >> 16);

	if (s->cwnd >= CWND_ONE)
		more = wf_mul_div(more, UINT64_C(1) << 28, s->cwnd >> 4);
	set(s, s->cwnd + wf_min_u64(more, s->max));
}

static void swift_on_ack(struct wf_cc *cc, const struct wf_cc_ack *ack)
{
	struct swift *s = to_swift(cc);
	uint32_t hops = s->p.hops;
	wf_time target;

	s->timeouts = 0;
	/* A packet that has no time of its own took as long as the one before. */
	if (ack->rtt > 0)
		s->rtt = ack->rtt;
	if (ack->telemetry != NULL && ack->telemetry->hops != 0)
		hops = ack->telemetry->hops;
	target = s->p.base_target + hops * s->p.per_hop + flow_scaling(s);
	if (s->rtt < target)
		increase(s, ack->bytes);
	else
		decrease(s,
		         wf_mul_q32(wf_mul_div((uint64_t)(s->rtt - target), WF_Q32_ONE,
		                               (uint64_t)s->rtt),
		                    s->p.beta),
		         ack->now);
	assert_swift(s);
}

static void swift_on_loss(struct wf_cc *cc, enum wf_cc_loss loss, wf_time now)
{
	struct swift *s = to_swift(cc);

	if (loss == WF_CC_LOSS_NAK)
		s->timeouts = 0;
	else if (++s->timeouts >= s->p.retx_reset)
		set(s, s->min);
	decrease(s, s->p.max_mdf, now);
	assert_swift(s);
}

static void swift_start(struct wf_cc *cc, const void *param, wf_time now)
{
	struct swift *s = to_swift(cc);
	struct wf_cc_swift_param *p = &s->p;

	(void)now;
	wf_cc_param_copy(&wf_cc_swift, param, p);
	s->inv_mtu = wf_recip_of(p->mtu);
	s->rtt = p->base_target;
	s->max = p->max_cwnd << 16;
	if (p->max_cwnd == WF_PARAM_AUTO)
		s->max = wf_recip_mul(&s->inv_mtu, wf_cc_bdp(cc->line_rate, p->base_target), 32);
	s->max = wf_clamp_u64(s->max, CWND_ONE, (uint64_t)PACKETS_MAX << 16);
	s->min = wf_clamp_u64(p->min_cwnd << 16, 1 << 16, CWND_ONE);
	s->fs_low = inverse_root(p->fs_max_cwnd);
	s->fs_high = inverse_root(p->fs_min_cwnd);
	set(s, s->max);
	assert_swift(s);
}

const struct wf_cc_ops wf_cc_swift = {
	.name = "swift",
	.help = "a window from the distance to a target delay",
	.size = sizeof(struct swift),
	.params = swift_params,
	.n_params = WF_ARRAY_SIZE(swift_params),
	.param_size = sizeof(struct wf_cc_swift_param),
	.start = swift_start,
	.on_send = wf_cc_no_send,
	.on_ack = swift_on_ack,
	.on_cnp = wf_cc_no_cnp,
	.on_loss = swift_on_loss,
	.on_timer = wf_cc_no_timer,
};
