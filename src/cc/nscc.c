/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nscc.c - the Ultra Ethernet sender (network-signalled congestion control).
 *
 * Ultra Ethernet 1.0, as summarised in arXiv 2508.08906. Every acknowledgement carries a mark or
 * none, and a queueing delay: the RTT less the smallest one seen.
 *
 *	                  no mark                       mark
 *	short delay       proportional increase,        nothing: the path changes, not the window
 *	                  after a window of them fast
 *	long delay        fair increase                 multiplicative decrease by the average
 *	                                                delay, once an RTT
 *
 * Increases are collected and added after a few packets or an RTT (fulfil). After a loss or a very
 * long delay, quick adapt sets the window to what got through in the last RTT, and then ignores
 * what was in flight. The constants scale with the bandwidth-delay product relative to 100 Gb/s x
 * 12 us, for which they were chosen.
 *
 * The window counts bytes in flight; who sprays packets over paths and what is sent again is the
 * transport's affair.
 */
#include "cc/cc_priv.h"

#define REF_RTT (12 * WF_US)
#define REF_BDP UINT64_C(150000) /* bytes: 100 Gb/s for 12 us */
#define FULFIL_PACKETS 8
#define AVG_BITS 16

struct nscc {
	struct wf_cc cc;
	uint64_t cwnd; /* bytes */
	uint64_t max;
	wf_time base;   /* the smallest RTT */
	wf_time target; /* queueing delay */
	wf_time period; /* of fulfil */
	wf_time qa_delay;
	struct wf_recip inv_target;
	int64_t avg;       /* delay, Q16 ps */
	uint64_t pending;  /* increase not yet added, bytes * bytes */
	uint64_t received; /* bytes since the last fulfil */
	uint64_t low;      /* bytes in a row with hardly any delay */
	uint64_t achieved; /* bytes since the last look of quick adapt */
	uint64_t ignored, to_ignore;
	uint64_t inflight;
	uint64_t prop, fair, eta; /* bytes */
	uint64_t fast;            /* Q16 */
	wf_time last_fulfil, last_dec, qa_end;
	bool fast_on, qa_wanted, qa_started;
	struct wf_cc_nscc_param p;
};

#define FIELD(field) WF_PARAM_FIELD(struct wf_cc_nscc_param, field)
#define RATIO_MAX (INT64_C(1) << 32)

/* Defaults: those of the summary and of its simulator (htsim). */
static const struct wf_param nscc_params[] = {
	{ .name = "base_rtt",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(base_rtt),
	  .min = 100 * WF_NS,
	  .max = WF_S,
	  .def = "auto",
	  .help = "the largest RTT without queues" },
	{ .name = "target_qdelay",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(target_qdelay),
	  .min = WF_NS,
	  .max = WF_S,
	  .def = "auto",
	  .help = "queueing delay aimed at; auto: 3/4 of base_rtt with trimming, else base_rtt" },
	{ .name = "trimming",
	  .kind = WF_PARAM_BOOL,
	  FIELD(trimming),
	  .def = "true",
	  .help = "the network trims packets that do not fit" },
	{ .name = "mtu",
	  .kind = WF_PARAM_BYTES,
	  FIELD(mtu),
	  .min = 1,
	  .max = 1 << 20,
	  .def = "4096",
	  .help = "payload of a packet" },
	{ .name = "window",
	  .kind = WF_PARAM_BYTES,
	  .has_auto = true,
	  FIELD(window),
	  .min = 1,
	  .max = INT64_C(1) << 40,
	  .def = "auto",
	  .help = "bytes in flight at the start; auto: the largest" },
	{ .name = "window_max",
	  .kind = WF_PARAM_RATIO,
	  FIELD(window_max),
	  .min = 1,
	  .max = RATIO_MAX,
	  .def = "1.5",
	  .help = "the largest window, in bandwidth-delay products" },
	{ .name = "prop",
	  .kind = WF_PARAM_RATIO,
	  FIELD(prop),
	  .max = RATIO_MAX,
	  .def = "4",
	  .help = "proportional increase, packets" },
	{ .name = "fair",
	  .kind = WF_PARAM_RATIO,
	  FIELD(fair),
	  .max = RATIO_MAX,
	  .def = "5",
	  .help = "fair increase, packets" },
	{ .name = "eta",
	  .kind = WF_PARAM_RATIO,
	  FIELD(eta),
	  .max = RATIO_MAX,
	  .def = "0.15",
	  .help = "added every RTT, packets" },
	{ .name = "fast",
	  .kind = WF_PARAM_RATIO,
	  FIELD(fast),
	  .max = RATIO_MAX,
	  .def = "0.25",
	  .help = "fast increase, of the bytes acknowledged" },
	{ .name = "gamma",
	  .kind = WF_PARAM_PROB,
	  FIELD(gamma),
	  .max = (int64_t)WF_PROB_ONE,
	  .def = "0.8",
	  .help = "how hard the window falls" },
	{ .name = "max_md",
	  .kind = WF_PARAM_PROB,
	  FIELD(max_md),
	  .max = (int64_t)WF_PROB_ONE,
	  .def = "0.5",
	  .help = "most that one decrease takes" },
	{ .name = "delay_gain",
	  .kind = WF_PARAM_PROB,
	  FIELD(delay_gain),
	  .max = (int64_t)WF_PROB_ONE,
	  .def = "0.0125",
	  .help = "the gain of the average delay" },
	{ .name = "fast_delay",
	  .kind = WF_PARAM_TIME,
	  FIELD(fast_delay),
	  .max = WF_S,
	  .def = "1us",
	  .help = "a window of delays below it starts fast increase" },
	{ .name = "quick_adapt",
	  .kind = WF_PARAM_BOOL,
	  FIELD(quick_adapt),
	  .def = "true",
	  .help = "after a loss, or a long delay, the window is what got through" },
	{ .name = "qa_threshold",
	  .kind = WF_PARAM_RATIO,
	  FIELD(qa_threshold),
	  .max = RATIO_MAX,
	  .def = "4",
	  .help = "a long delay, in target_qdelay" },
	{ .name = "qa_gate",
	  .kind = WF_PARAM_U32,
	  FIELD(qa_gate),
	  .max = 63,
	  .def = "3",
	  .help = "quick adapt only if less than the largest window / 2^gate got through" },
};

static struct nscc *to_nscc(struct wf_cc *cc)
{
	return wf_container_of(cc, struct nscc, cc);
}

/* What holds between two calls. */
static void assert_nscc(const struct nscc *s)
{
	assert(s->max >= s->p.mtu);
	assert(s->cwnd >= s->p.mtu && s->cwnd <= s->max && s->cc.window == s->cwnd);
	assert(s->base > 0 && s->target > 0);
	assert(s->avg >= 0);
	assert(s->qa_started || s->to_ignore == 0);
	(void)s;
}

static void set(struct nscc *s, uint64_t cwnd)
{
	s->cwnd = wf_clamp_u64(cwnd, s->p.mtu, s->max);
	s->cc.window = s->cwnd;
}

/* The largest window follows from the smallest RTT. */
static void set_base(struct nscc *s, wf_time rtt)
{
	uint64_t bdp = wf_cc_bdp(s->cc.line_rate, rtt);

	s->base = rtt;
	s->max = wf_max_u64(wf_mul_div(bdp, s->p.window_max, WF_RATIO_ONE), s->p.mtu);
	set(s, s->cwnd);
}

static void average(struct nscc *s, wf_time sample)
{
	int64_t d = sample * (1 << AVG_BITS) - s->avg;

	s->avg += (int64_t)((__int128)d * (int64_t)s->p.delay_gain / (int64_t)WF_PROB_ONE);
}

/* Whether quick adapt took over this acknowledgement or loss. */
static bool quick_adapt(struct nscc *s, bool loss, bool mark, wf_time delay, wf_time now)
{
	bool done = false;

	if (!s->p.quick_adapt)
		return false;
	if (s->ignored < s->to_ignore && mark) {
		done = true;
	} else if (!s->qa_started || now > s->qa_end) {
		bool wanted = s->qa_wanted || loss || delay > s->qa_delay;

		if (s->qa_started && wanted && s->achieved < s->max >> s->p.qa_gate) {
			set(s, s->achieved);
			s->to_ignore = s->inflight;
			s->ignored = 0;
			s->qa_wanted = false;
			done = true;
		}
		s->achieved = 0;
		s->qa_started = true;
		s->qa_end = now + s->base + s->target;
	}
	if (done)
		s->pending = s->received = 0;
	return done;
}

static void increase_short(struct nscc *s, uint32_t bytes, wf_time delay)
{
	uint64_t gap;

	if (delay < s->p.fast_delay) {
		s->low += bytes;
		if (s->fast_on || s->low > s->cwnd) {
			s->fast_on = true;
			set(s, s->cwnd + ((bytes * s->fast) >> 16));
			return;
		}
	} else {
		s->low = 0;
	}
	s->fast_on = false;
	gap = wf_recip_mul(&s->inv_target, (uint64_t)(s->target - delay), 32);
	s->pending += wf_mul_q32(bytes * s->prop, gap);
}

static void decrease(struct nscc *s, wf_time now)
{
	int64_t target = s->target * (1 << AVG_BITS);
	uint64_t share;

	s->fast_on = false;
	s->low = 0;
	if (s->avg <= target || now - s->last_dec <= s->base)
		return;
	share = wf_mul_div((uint64_t)(s->avg - target), WF_Q32_ONE, (uint64_t)s->avg);
	share = wf_min_u64(wf_mul_q32(share, s->p.gamma), s->p.max_md);
	set(s, s->cwnd - wf_mul_q32(s->cwnd, share));
	s->last_dec = now;
}

/* Adds what has been collected, when it is time. */
static void fulfil(struct nscc *s, wf_time now)
{
	bool late = now - s->last_fulfil >= s->period;
	uint64_t more;

	if (s->received <= FULFIL_PACKETS * s->p.mtu && !late)
		return;
	more = s->pending / s->cwnd;
	if (late) {
		more += s->eta;
		s->last_fulfil = now;
	}
	s->pending = s->received = 0;
	set(s, s->cwnd + wf_min_u64(more, s->max));
}

static void nscc_on_ack(struct wf_cc *cc, const struct wf_cc_ack *ack)
{
	struct nscc *s = to_nscc(cc);
	wf_time delay;

	s->achieved += ack->bytes;
	s->received += ack->bytes;
	s->ignored += ack->bytes;
	s->inflight = ack->inflight;
	if (ack->rtt > 0) {
		if (ack->rtt < s->base)
			set_base(s, ack->rtt);
		delay = wf_min_time(ack->rtt - s->base, 4 * WF_S);
		average(s, !ack->ecn && delay > s->target ? s->base / 4 : delay);
	} else {
		/* Without a time of its own it counts as late as the others lately, as in htsim. */
		delay = s->avg >> AVG_BITS;
	}
	if (quick_adapt(s, false, ack->ecn, delay, ack->now))
		return;
	if (!ack->ecn && delay >= s->target)
		s->pending += ack->bytes * s->fair;
	else if (!ack->ecn)
		increase_short(s, ack->bytes, delay);
	else if (delay >= s->target)
		decrease(s, ack->now);
	fulfil(s, ack->now);
	assert_nscc(s);
}

/* A packet was trimmed or lost: the window shrinks by it, or quick adapt does more. */
static void nscc_on_loss(struct wf_cc *cc, enum wf_cc_loss loss, wf_time now)
{
	struct nscc *s = to_nscc(cc);
	uint64_t bytes = s->p.mtu;

	(void)loss;
	s->ignored += bytes;
	average(s, s->base);
	s->qa_wanted = true;
	if (!quick_adapt(s, true, true, 0, now))
		set(s, s->cwnd > bytes ? s->cwnd - bytes : bytes);
	assert_nscc(s);
}

static void nscc_start(struct wf_cc *cc, const void *param, wf_time now)
{
	struct nscc *s = to_nscc(cc);
	struct wf_cc_nscc_param *p = &s->p;
	wf_time rtt;
	uint64_t bdp;

	wf_cc_param_copy(&wf_cc_nscc, param, p);
	rtt = p->base_rtt == WF_PARAM_AUTO ? WF_CC_BASE_RTT : p->base_rtt;
	s->target = p->target_qdelay;
	if (p->target_qdelay == WF_PARAM_AUTO)
		s->target = p->trimming ? rtt * 3 / 4 : rtt;
	s->inv_target = wf_recip_of((uint64_t)s->target);
	s->period = rtt;
	s->qa_delay = (wf_time)wf_min_u64(
		wf_mul_div((uint64_t)s->target, p->qa_threshold, WF_RATIO_ONE), (uint64_t)WF_S);
	set_base(s, rtt);
	bdp = wf_cc_bdp(cc->line_rate, rtt);
	/* The constants are for the reference network and grow with the bandwidth-delay product. */
	s->fair = wf_mul_div(wf_mul_div(p->fair, p->mtu, WF_RATIO_ONE), bdp, REF_BDP);
	s->eta = wf_mul_div(wf_mul_div(p->eta, p->mtu, WF_RATIO_ONE), bdp, REF_BDP);
	s->prop = wf_mul_div(wf_mul_div(p->prop, p->mtu, WF_RATIO_ONE), bdp, REF_BDP);
	s->prop = wf_mul_div(s->prop, (uint64_t)s->target, (uint64_t)REF_RTT);
	s->fast = wf_mul_div(p->fast, bdp, REF_BDP);
	s->last_fulfil = s->last_dec = now;
	wf_cc_unpace(cc);
	set(s, p->window == WF_PARAM_AUTO ? s->max : p->window);
	assert_nscc(s);
}

const struct wf_cc_ops wf_cc_nscc = {
	.name = "nscc",
	.help = "a window from marks and delays (Ultra Ethernet sender)",
	.size = sizeof(struct nscc),
	.marks = true,
	.params = nscc_params,
	.n_params = WF_ARRAY_SIZE(nscc_params),
	.param_size = sizeof(struct wf_cc_nscc_param),
	.start = nscc_start,
	.on_send = wf_cc_no_send,
	.on_ack = nscc_on_ack,
	.on_cnp = wf_cc_no_cnp,
	.on_loss = nscc_on_loss,
	.on_timer = wf_cc_no_timer,
};
