/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcc.c - HPCC: rate and window from what each hop says of itself.
 *
 * Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019. Of each hop, an
 * acknowledgement tells time, bytes sent and queue length. Between two of them the hop was used by
 *
 *	u = (bytes sent / time + queue / T) / its rate
 *
 * and the largest u, averaged over a base RTT T, tells how far the rate is from eta of what the
 * bottleneck carries: rate = reference * eta / u + ai. The reference moves once an RTT.
 *
 * Without a division for each hop: with n = u * dt (how long the hop needs for what it sent and
 * holds), the average is u * (1 - dt / T) + n / T, and of two hops n / dt is compared crosswise.
 * What is left is one division for the rate and one for the gap that goes with it.
 *
 * u is in Q32, n in Q24 picoseconds. An update is right to 1e-9 of the rate.
 */
#include "base/rng.h"
#include "cc/cc_priv.h"

#define N_BITS 24
#define SHARE_BITS 36
#define U_MAX (UINT64_C(1) << 42)
#define PINT_DOMAIN 0x50494e54 /* "PINT" */

/* Two records further apart than this say nothing of the present. */
#define DT_MAX (UINT64_C(1) << 40)   /* ps; a second */
#define TIME_MAX (UINT64_C(1) << 61) /* Q24 ps, of a queue or of what was sent */

struct hop {
	uint64_t at; /* ps */
	uint64_t tx_bytes;
	uint64_t queued;
	uint64_t rate;
	uint64_t byte_time; /* ps per byte at rate, Q24 */
	uint64_t most;      /* bytes whose time fits */
};

/* The busiest hop: u = n / dt. */
struct busy {
	uint64_t n;  /* Q24 ps */
	uint64_t dt; /* ps */
};

struct hpcc {
	struct wf_cc cc;
	uint64_t acked; /* bytes */
	uint64_t
		update; /* the reference moves when more than this is acknowledged; 0: no ACK yet */
	uint64_t u;     /* Q32 */
	uint64_t ref_rate;
	uint64_t ref_num; /* ref_rate * eta, Q32, is ref_num * 2^ref_shift */
	int32_t ref_shift;
	uint32_t stage;
	uint64_t rtt;       /* T, ps */
	uint64_t inv_rtt;   /* 1 / T in Q64 */
	uint64_t inv_drain; /* 1 / the time the line needs for the window, Q64 */
	uint64_t rate_ai, min_rate;
	struct wf_cc_win win;
	uint32_t hops;
	struct hop hop[WF_CC_HOPS];
	uint64_t draws;
	uint64_t key;
	struct wf_cc_hpcc_param p;
};

#define FIELD(field) WF_PARAM_FIELD(struct wf_cc_hpcc_param, field)
#define RATE_MAX INT64_C(100000000000000)

/* Defaults: the paper's, section 5.1 (eta 95 %, maxStage 5, W_AI for 100 flows). */
static const struct wf_param hpcc_params[] = {
	{ .name = "base_rtt",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(base_rtt),
	  .min = 100 * WF_NS,
	  .max = 100 * WF_MS,
	  .def = "auto",
	  .help = "T, the largest RTT without queues" },
	{ .name = "eta",
	  .kind = WF_PARAM_PROB,
	  FIELD(eta),
	  .min = (int64_t)WF_PROB_ONE / 100,
	  .max = (int64_t)WF_PROB_ONE,
	  .def = "0.95",
	  .help = "the utilisation aimed at" },
	{ .name = "max_stage",
	  .kind = WF_PARAM_U32,
	  FIELD(max_stage),
	  .max = 1000000,
	  .def = "5",
	  .help = "additive increases before a multiplicative one (MI_THRESH)" },
	{ .name = "fast_react",
	  .kind = WF_PARAM_BOOL,
	  FIELD(fast_react),
	  .def = "true",
	  .help = "react to every acknowledgement; false: once an RTT" },
	{ .name = "repace",
	  .kind = WF_PARAM_BOOL,
	  FIELD(repace),
	  .def = "true",
	  .help = "a new rate also moves the time of the next packet" },
	{ .name = "rate_ai",
	  .kind = WF_PARAM_RATE,
	  .has_auto = true,
	  FIELD(rate_ai),
	  .max = RATE_MAX,
	  .def = "auto",
	  .help = "added at each update (W_AI / T); auto: line rate * (1 - eta) / 100" },
	{ .name = "min_rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(min_rate),
	  .min = WF_CC_RATE_MIN,
	  .max = RATE_MAX,
	  .def = "100Mbps",
	  .help = "the rate never falls below" },
	{ .name = "window",
	  .kind = WF_PARAM_BYTES,
	  .has_auto = true,
	  FIELD(window),
	  .min = 1,
	  .max = INT64_C(1) << 48,
	  .def = "auto",
	  .help = "bytes in flight at the line rate; auto: line rate * base_rtt" },
	{ .name = "window_scales",
	  .kind = WF_PARAM_BOOL,
	  FIELD(window_scales),
	  .def = "true",
	  .help = "the window shrinks with the rate" },
	{ .name = "window_slack",
	  .kind = WF_PARAM_BYTES,
	  FIELD(window_slack),
	  .max = INT64_MAX / 4,
	  .def = "0",
	  .help = "added to the window" },
	{ .name = "pint_prob",
	  .kind = WF_PARAM_PROB,
	  FIELD(pint_prob),
	  .max = (int64_t)WF_PROB_ONE,
	  .def = "1",
	  .help = "of acknowledgements that carry one code (PINT), how many are used" },
	{ .name = "pint_seed",
	  .kind = WF_PARAM_U64,
	  FIELD(pint_seed),
	  .max = INT64_MAX - 1,
	  .def = "1",
	  .help = "for choosing them" },
};

static struct hpcc *to_hpcc(struct wf_cc *cc)
{
	return wf_container_of(cc, struct hpcc, cc);
}

/* What holds between two calls. */
static void assert_hpcc(const struct hpcc *h)
{
	assert(h->cc.rate >= h->min_rate && h->cc.rate <= h->cc.line_rate);
	assert(h->ref_rate >= h->min_rate && h->ref_rate <= h->cc.line_rate);
	assert(h->ref_num >> 62 == 1);
	assert(h->u <= U_MAX);
	assert(h->stage <= h->p.max_stage && h->hops <= WF_CC_HOPS);
	(void)h;
}

static void set_reference(struct hpcc *h, uint64_t rate)
{
	wf_u128 num = (wf_u128)rate * h->p.eta;
	uint64_t high = (uint64_t)(num >> 64);

	assert(num != 0);
	h->ref_rate = rate;
	/* 63 bits, so that half a divisor can be added. */
	if (high != 0)
		h->ref_shift = 65 - __builtin_clzll(high);
	else
		h->ref_shift = 1 - __builtin_clzll((uint64_t)num);
	h->ref_num = (uint64_t)(h->ref_shift >= 0 ? num >> h->ref_shift : num << -h->ref_shift);
}

/* The reference rate times eta / u. */
static uint64_t scaled_reference(const struct hpcc *h, uint64_t u)
{
	uint64_t q;

	if (wf_unlikely(u >> 34 != 0 || u >> 20 == 0))
		return u == 0 ? UINT64_MAX : wf_sat64((wf_u128)h->ref_rate * h->p.eta / u);
	/* At least 28 significant bits, rounded. */
	q = (h->ref_num + u / 2) / u;
	return h->ref_shift >= 0 ? q << h->ref_shift : q >> -h->ref_shift;
}

/* ---- telemetry ---- */

static void keep_hop(struct hop *hop, const struct wf_cc_hop *x)
{
	hop->at = (uint64_t)x->at;
	hop->tx_bytes = x->tx_bytes;
	hop->queued = x->queued;
}

/* The path is new: nothing to compare with. */
static void keep_all(struct hpcc *h, const struct wf_cc_int *t)
{
	h->hops = (uint32_t)wf_min_u64(t->hops, WF_CC_HOPS);
	for (uint32_t i = 0; i < h->hops; i++) {
		const struct wf_cc_hop *x = &t->hop[i];
		struct hop *hop = &h->hop[i];

		keep_hop(hop, x);
		hop->rate = x->rate;
		hop->byte_time =
			wf_sat64(((wf_u128)8 * (uint64_t)WF_S << N_BITS) / wf_max_u64(x->rate, 1));
		hop->most = TIME_MAX / wf_max_u64(hop->byte_time, 1);
	}
}

/*
 * Compares a record with the last one of its hop, which it replaces, and updates *b if the hop is
 * the busiest so far. Returns false if it is another port's record.
 */
static bool look_at_hop(const struct hpcc *h, struct hop *hop, const struct wf_cc_hop *x,
                        struct busy *b)
{
	uint64_t dt = (uint64_t)x->at - hop->at;
	uint64_t sent = x->tx_bytes - hop->tx_bytes;
	uint64_t queued = wf_min_u64(x->queued, hop->queued);
	bool busier;
	uint64_t n;

	if (wf_unlikely(x->rate != hop->rate || x->tx_bytes < hop->tx_bytes))
		return false;
	keep_hop(hop, x);
	/* This holds also for a record that comes too late: dt is negative then. */
	if (wf_unlikely(dt >= DT_MAX || dt == 0))
		return true;
	n = wf_min_u64(sent, hop->most) * hop->byte_time;
	if (queued != 0) {
		uint64_t drain = wf_min_u64(queued, hop->most) * hop->byte_time;
		uint64_t share = (uint64_t)(((wf_u128)dt * h->inv_drain) >> (64 - SHARE_BITS));

		n += wf_min_u64(wf_sat64(((wf_u128)drain * share) >> SHARE_BITS), TIME_MAX);
	}
	/* Which hop is the busiest cannot be foreseen: no branch. */
	busier = (wf_u128)n * b->dt > (wf_u128)b->n * dt;
	b->n = busier ? n : b->n;
	b->dt = busier ? dt : b->dt;
	return true;
}

/* Averages u over a base RTT. */
static void average(struct hpcc *h, const struct busy *b)
{
	if (b->n == 0)
		return;
	if (b->dt >= h->rtt) {
		h->u = wf_sat64(((wf_u128)b->n << (32 - N_BITS)) / b->dt);
	} else {
		uint64_t w = b->dt * h->inv_rtt; /* Q64 */

		h->u -= (uint64_t)(((wf_u128)h->u * w) >> 64);
		h->u += (uint64_t)wf_min_u64(
			wf_sat64(((wf_u128)b->n * h->inv_rtt) >> (32 + N_BITS)), U_MAX);
	}
	h->u = wf_min_u64(h->u, U_MAX);
}

/* ---- reaction ---- */

static void react(struct hpcc *h, uint64_t u, bool full)
{
	uint64_t rate = h->ref_rate;
	uint32_t stage = h->stage + 1;

	if (u >= h->p.eta || h->stage >= h->p.max_stage) {
		rate = scaled_reference(h, u);
		stage = 0;
	}
	rate = rate > UINT64_MAX - h->rate_ai ? UINT64_MAX : rate + h->rate_ai;
	rate = wf_clamp_u64(rate, h->min_rate, h->cc.line_rate);
	if (rate != h->cc.rate) {
		wf_cc_set_rate(&h->cc, rate);
		wf_cc_win_apply(&h->win, &h->cc);
	}
	if (full) {
		h->stage = stage;
		if (rate != h->ref_rate)
			set_reference(h, rate);
	}
}

/* Looks at every hop of an acknowledgement. Returns false if the path is another. */
static bool look_at_all(struct hpcc *h, const struct wf_cc_int *t, struct busy *b)
{
	if (wf_unlikely(t->hops != h->hops))
		return false;
	for (uint32_t i = 0; i < h->hops; i++) {
		if (wf_unlikely(!look_at_hop(h, &h->hop[i], &t->hop[i], b)))
			return false;
	}
	return true;
}

/* The utilisation that this acknowledgement tells, Q32; 0: nothing new. */
static uint64_t look(struct hpcc *h, const struct wf_cc_ack *ack)
{
	const struct wf_cc_int *t = ack->telemetry;
	struct busy b = { .n = 0, .dt = 1 };

	if (t->use != 0)
		return t->use;
	if (wf_unlikely(!look_at_all(h, t, &b))) {
		keep_all(h, t);
		return 0;
	}
	average(h, &b);
	return wf_max_u64(h->u, 1);
}

static void hpcc_on_ack(struct wf_cc *cc, const struct wf_cc_ack *ack)
{
	struct hpcc *h = to_hpcc(cc);
	uint64_t next, u;
	bool full;

	h->acked += ack->bytes;
	if (ack->telemetry == NULL)
		return;
	if (ack->telemetry->use != 0 && h->p.pint_prob < WF_PROB_ONE &&
	    wf_rand64(h->key ^ (uint64_t)ack->now, h->draws++) >> 32 >= h->p.pint_prob)
		return;
	next = h->acked + ack->inflight;
	if (wf_unlikely(h->update == 0)) {
		h->update = next;
		keep_all(h, ack->telemetry);
		return;
	}
	full = h->acked > h->update;
	if (!full && !h->p.fast_react)
		return;
	u = look(h, ack);
	if (wf_likely(u != 0))
		react(h, u, full);
	if (full && next > h->update)
		h->update = next;
	assert_hpcc(h);
}

static void hpcc_start(struct wf_cc *cc, const void *param, wf_time now)
{
	struct hpcc *h = to_hpcc(cc);
	struct wf_cc_hpcc_param *p = &h->p;
	uint64_t drain;

	(void)now;
	wf_cc_param_copy(&wf_cc_hpcc, param, p);
	h->rtt = (uint64_t)(p->base_rtt == WF_PARAM_AUTO ? WF_CC_BASE_RTT : p->base_rtt);
	if (p->window == WF_PARAM_AUTO)
		p->window = wf_max_u64(wf_cc_bdp(cc->line_rate, (wf_time)h->rtt), 1);
	h->rate_ai = p->rate_ai;
	if (p->rate_ai == WF_PARAM_AUTO)
		h->rate_ai = wf_mul_q32(cc->line_rate, WF_PROB_ONE - p->eta) / 100;
	h->min_rate = wf_min_u64(wf_max_u64(p->min_rate, 1), cc->line_rate);
	h->inv_rtt = (uint64_t)(((wf_u128)1 << 64) / h->rtt);
	drain = wf_mul_div(p->window, (uint64_t)WF_S * 8, cc->line_rate);
	h->inv_drain = (uint64_t)(((wf_u128)1 << 64) / wf_max_u64(drain, 1 << 16));
	h->u = WF_Q32_ONE;
	h->key = wf_rand_key(p->pint_seed, PINT_DOMAIN, 0);
	cc->repace = p->repace;
	wf_cc_win_init(&h->win, cc, p->window, p->window_slack, p->window_scales);
	wf_cc_set_rate(cc, cc->line_rate);
	wf_cc_win_apply(&h->win, cc);
	set_reference(h, cc->line_rate);
	assert_hpcc(h);
}

const struct wf_cc_ops wf_cc_hpcc = {
	.name = "hpcc",
	.help = "rate and window from telemetry of every hop",
	.size = sizeof(struct hpcc),
	.telemetry = true,
	.params = hpcc_params,
	.n_params = WF_ARRAY_SIZE(hpcc_params),
	.param_size = sizeof(struct wf_cc_hpcc_param),
	.start = hpcc_start,
	.on_send = wf_cc_no_send,
	.on_ack = hpcc_on_ack,
	.on_cnp = wf_cc_no_cnp,
	.on_loss = wf_cc_no_loss,
	.on_timer = wf_cc_no_timer,
};
