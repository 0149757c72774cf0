/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcc_ns3.c - HPCC to the last bit as its authors' simulator computes it, for weft run --hpcc.
 *
 * The algorithm is that of hpcc.c. What differs is what that simulator's results depend on:
 * telemetry in the units and widths of its header, and numbers in double precision. With equal
 * rates everywhere two hops are often used to exactly the same degree over different times; which
 * of them counts is then a matter of the last bit of u, so every expression here has that
 * simulator's operations in its order. They are additions, multiplications, divisions and
 * conversions of IEEE doubles, which are the same on every machine as long as none is fused
 * (-ffp-contract=off) or kept wider than a double; this is the one place where a rate comes from
 * floating point.
 *
 * multi_rate keeps a utilisation and a reference rate for each hop and takes the smallest rate;
 * sample_feedback leaves hops without a queue out between full updates. With pint one byte comes,
 * the busiest hop's code, on a share of the acknowledgements.
 */
#include "base/rng.h"
#include "cc/cc_priv.h"

_Static_assert(__FLT_EVAL_METHOD__ == 0, "doubles are computed as doubles");

#define MAX_HOPS 5             /* in that simulator's header; a longer path tells nothing */
#define PINT_DOMAIN 0x50494e54 /* "PINT" */

/* The header: 24 bits of ns, 20 of 128 * multi bytes, 17 of 80 * multi bytes, 3 for the rate. */
#define TIME_MASK ((UINT64_C(1) << 24) - 1)
#define BYTES_MASK ((UINT64_C(1) << 20) - 1)
#define QUEUE_MASK ((UINT64_C(1) << 17) - 1)
#define BYTES_UNIT 128
#define QUEUE_UNIT 80

struct record {
	uint64_t ns, bytes, queued; /* in the header's units */
	uint64_t rate;
};

/* What one rate follows: a hop's, or the busiest hop's. */
struct gauge {
	double u;
	uint64_t ref_rate;
	uint32_t stage;
};

struct hpcc {
	struct wf_cc cc;
	uint64_t acked;  /* bytes */
	uint64_t update; /* a full update is due when more is acknowledged; 0: no ACK yet */
	uint64_t rtt;    /* T, ns */
	double eta;
	uint64_t draws, key;
	struct wf_cc_win win;
	struct record last[MAX_HOPS];
	struct gauge all;
	struct gauge hop[MAX_HOPS];
	struct wf_cc_hpcc_ns3_param p;
};

#define FIELD(field) WF_PARAM_FIELD(struct wf_cc_hpcc_ns3_param, field)
#define RATE_MAX INT64_C(100000000000000)

/* Defaults: that simulator's, but for multi_rate (on, there) and a window (it has none). */
static const struct wf_param hpcc_params[] = {
	{ .name = "base_rtt",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(base_rtt),
	  .min = 100 * WF_NS,
	  .max = 100 * WF_MS,
	  .def = "auto",
	  .help = "T, the largest RTT without queues, in whole ns" },
	{ .name = "eta",
	  .kind = WF_PARAM_PROB,
	  FIELD(eta),
	  .min = (int64_t)WF_PROB_ONE / 100,
	  .max = (int64_t)WF_PROB_ONE,
	  .def = "0.95",
	  .help = "the utilisation aimed at (U_TARGET)" },
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
	{ .name = "multi_rate",
	  .kind = WF_PARAM_BOOL,
	  FIELD(multi_rate),
	  .def = "false",
	  .help = "a rate for every hop, of which the smallest counts" },
	{ .name = "sample_feedback",
	  .kind = WF_PARAM_BOOL,
	  FIELD(sample_feedback),
	  .def = "false",
	  .help = "between full updates, only hops with a queue count" },
	{ .name = "rate_ai",
	  .kind = WF_PARAM_RATE,
	  FIELD(rate_ai),
	  .max = RATE_MAX,
	  .def = "5Mbps",
	  .help = "added at each update" },
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
	  .max = INT64_C(1) << 32,
	  .def = "auto",
	  .help = "bytes in flight at the line rate; auto: line rate * base_rtt; 0: any number, "
	          "and "
	          "queues are divided by 0" },
	{ .name = "window_scales",
	  .kind = WF_PARAM_BOOL,
	  FIELD(window_scales),
	  .def = "true",
	  .help = "the window shrinks with the rate (VAR_WIN)" },
	{ .name = "window_slack",
	  .kind = WF_PARAM_BYTES,
	  FIELD(window_slack),
	  .max = INT64_MAX / 4,
	  .def = "0",
	  .help = "added to the window" },
	{ .name = "int_multi",
	  .kind = WF_PARAM_U32,
	  FIELD(int_multi),
	  .min = 1,
	  .max = 1024,
	  .def = "1",
	  .help = "the header's units, times this" },
	{ .name = "pint",
	  .kind = WF_PARAM_BOOL,
	  FIELD(pint),
	  .def = "false",
	  .help = "telemetry comes as one code (CC_MODE 10)" },
	{ .name = "pint_prob",
	  .kind = WF_PARAM_PROB,
	  FIELD(pint_prob),
	  .max = (int64_t)WF_PROB_ONE,
	  .def = "1",
	  .help = "of acknowledgements, how many carry that code" },
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

/* ---- telemetry ---- */

/* The rate as the header has it: it knows only these, and says the first for all others. */
static uint64_t known_rate(uint64_t rate)
{
	static const uint64_t known[] = { 25, 50, 100, 200, 400 };

	for (size_t i = 0; i < WF_ARRAY_SIZE(known); i++) {
		if (rate == known[i] * 1000000000)
			return rate;
	}
	return known[0] * 1000000000;
}

static struct record record_of(const struct hpcc *h, const struct wf_cc_hop *x)
{
	uint64_t multi = h->p.int_multi;

	return (struct record){
		.ns = (uint64_t)(x->at / WF_NS) & TIME_MASK,
		.bytes = x->tx_bytes / (BYTES_UNIT * multi) & BYTES_MASK,
		.queued = x->queued / (QUEUE_UNIT * multi) & QUEUE_MASK,
		.rate = known_rate(x->rate),
	};
}

/* How much a hop was used between two records, over *tau_p ns. */
static double use_of(const struct hpcc *h, const struct record *old, const struct record *x,
                     uint64_t *tau_p)
{
	uint64_t tau = (x->ns - old->ns) & TIME_MASK;
	uint64_t bytes = ((x->bytes - old->bytes) & BYTES_MASK) * BYTES_UNIT * h->p.int_multi;
	uint64_t queued = wf_min_u64(x->queued, old->queued) * QUEUE_UNIT * h->p.int_multi;
	double duration = (double)tau * 1e-9;
	double rate = (double)(bytes * 8) / duration;

	*tau_p = tau;
	return rate / (double)x->rate +
	       (double)queued * (double)h->cc.line_rate / (double)x->rate / (double)h->p.window;
}

static void average(const struct hpcc *h, struct gauge *g, double u, uint64_t tau)
{
	tau = wf_min_u64(tau, h->rtt);
	g->u = (g->u * (double)(h->rtt - tau) + u * (double)tau) / (double)h->rtt;
}

/* ---- reaction ---- */

/* A double as bits/s, as that simulator's processor converts those that do not fit. */
static uint64_t to_rate(double x)
{
	if (x != x)
		return UINT64_C(1) << 63;
	return x < 0x1p64 ? (uint64_t)x : 0;
}

/* The rate that a gauge asks for; *stage_p: its stage after a full update. */
static uint64_t rate_of(const struct hpcc *h, const struct gauge *g, double u, uint32_t *stage_p)
{
	double c = u / h->eta;
	uint64_t rate = g->ref_rate;

	assert(g->stage <= h->p.max_stage);
	assert(g->ref_rate >= h->p.min_rate && g->ref_rate <= h->cc.line_rate);
	*stage_p = g->stage + 1;
	if (c >= 1 || g->stage >= h->p.max_stage) {
		rate = to_rate((double)g->ref_rate / c);
		*stage_p = 0;
	}
	return wf_clamp_u64(rate + h->p.rate_ai, h->p.min_rate, h->cc.line_rate);
}

static void change_rate(struct hpcc *h, uint64_t rate)
{
	assert(rate >= h->p.min_rate && rate <= h->cc.line_rate);
	if (rate == h->cc.rate)
		return;
	wf_cc_set_rate(&h->cc, rate);
	wf_cc_win_apply(&h->win, &h->cc);
}

static void follow(struct hpcc *h, struct gauge *g, double u, bool full)
{
	uint32_t stage;
	uint64_t rate = rate_of(h, g, u, &stage);

	change_rate(h, rate);
	if (full) {
		g->ref_rate = rate;
		g->stage = stage;
	}
}

static void keep_all(struct hpcc *h, const struct wf_cc_int *t)
{
	for (uint32_t i = 0; i < t->hops && i < MAX_HOPS; i++)
		h->last[i] = record_of(h, &t->hop[i]);
}

/* Without multi_rate: the busiest hop counts. */
static void look_single(struct hpcc *h, const struct wf_cc_int *t, bool full)
{
	double most = 0;
	uint64_t dt = 0, tau;
	bool any = false;

	assert(t->hops <= MAX_HOPS);
	for (uint32_t i = 0; i < t->hops; i++) {
		struct record x = record_of(h, &t->hop[i]);
		double u;

		if (h->p.sample_feedback && x.queued == 0 && !full)
			continue;
		any = true;
		u = use_of(h, &h->last[i], &x, &tau);
		if (u > most) {
			most = u;
			dt = tau;
		}
		h->last[i] = x;
	}
	if (!any)
		return;
	average(h, &h->all, most, dt);
	follow(h, &h->all, h->all.u, full);
}

static void look_each(struct hpcc *h, const struct wf_cc_int *t, bool full)
{
	uint64_t least = h->cc.line_rate, tau;
	bool any = false;

	assert(t->hops <= MAX_HOPS);
	for (uint32_t i = 0; i < t->hops; i++) {
		struct record x = record_of(h, &t->hop[i]);
		struct gauge *g = &h->hop[i];
		uint64_t rate;
		uint32_t stage;
		double u;

		if (h->p.sample_feedback && x.queued == 0 && !full) {
			least = wf_min_u64(least, g->ref_rate);
			continue;
		}
		any = true;
		u = use_of(h, &h->last[i], &x, &tau);
		average(h, g, u, tau);
		h->last[i] = x;
		rate = rate_of(h, g, g->u, &stage);
		least = wf_min_u64(least, rate);
		if (full) {
			g->ref_rate = rate;
			g->stage = stage;
		}
	}
	if (any)
		change_rate(h, least);
}

static void look(struct hpcc *h, const struct wf_cc_int *t, bool full)
{
	if (h->p.pint)
		follow(h, &h->all, (double)t->use / (double)WF_Q32_ONE, full);
	else if (t->hops > MAX_HOPS)
		return;
	else if (h->p.multi_rate)
		look_each(h, t, full);
	else
		look_single(h, t, full);
}

static void hpcc_on_ack(struct wf_cc *cc, const struct wf_cc_ack *ack)
{
	struct hpcc *h = to_hpcc(cc);
	uint64_t next;
	bool full;

	h->acked += ack->bytes;
	if (ack->telemetry == NULL)
		return;
	if (h->p.pint &&
	    (wf_rand64(h->key ^ (uint64_t)ack->now, h->draws++) >> 32) >= h->p.pint_prob)
		return;
	next = h->acked + ack->inflight;
	if (h->update == 0) {
		h->update = next;
		keep_all(h, ack->telemetry);
		return;
	}
	full = h->acked > h->update;
	if (!full && !h->p.fast_react && !h->p.pint)
		return;
	look(h, ack->telemetry, full);
	if (full && next > h->update)
		h->update = next;
}

static void hpcc_start(struct wf_cc *cc, const void *param, wf_time now)
{
	const uint64_t digits = 1000000000;
	struct hpcc *h = to_hpcc(cc);
	struct wf_cc_hpcc_ns3_param *p = &h->p;
	const struct gauge first = { .u = 1, .ref_rate = cc->line_rate };
	uint64_t eta;

	(void)now;
	wf_cc_param_copy(&wf_cc_hpcc_ns3, param, p);
	if (p->base_rtt == WF_PARAM_AUTO)
		p->base_rtt = WF_CC_BASE_RTT;
	h->rtt = (uint64_t)(p->base_rtt / WF_NS);
	if (p->window == WF_PARAM_AUTO)
		p->window = wf_max_u64(wf_cc_bdp(cc->line_rate, p->base_rtt), 1);
	p->min_rate = wf_min_u64(p->min_rate, cc->line_rate);
	/* The double that is nearest to the decimal fraction that was written. */
	eta = (p->eta * digits + WF_PROB_ONE / 2) >> 32;
	h->eta = (double)eta / (double)digits;
	h->all = first;
	for (unsigned i = 0; i < MAX_HOPS; i++)
		h->hop[i] = first;
	h->key = wf_rand_key(p->pint_seed, PINT_DOMAIN, 0);
	cc->repace = true;
	wf_cc_win_init(&h->win, cc, p->window, p->window_slack, p->window_scales);
	wf_cc_set_rate(cc, cc->line_rate);
	wf_cc_win_apply(&h->win, cc);
}

const struct wf_cc_ops wf_cc_hpcc_ns3 = {
	.name = "hpcc-ns3",
	.help = "HPCC with the units and the arithmetic of its authors' simulator",
	.size = sizeof(struct hpcc),
	.telemetry = true,
	.params = hpcc_params,
	.n_params = WF_ARRAY_SIZE(hpcc_params),
	.param_size = sizeof(struct wf_cc_hpcc_ns3_param),
	.start = hpcc_start,
	.on_send = wf_cc_no_send,
	.on_ack = hpcc_on_ack,
	.on_cnp = wf_cc_no_cnp,
	.on_loss = wf_cc_no_loss,
	.on_timer = wf_cc_no_timer,
};
