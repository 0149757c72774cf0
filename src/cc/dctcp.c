/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dctcp.c - DCTCP: a cut in proportion to the share of marked packets.
 *
 * Alizadeh et al., "Data Center TCP", SIGCOMM 2010, and RFC 8257. Once a window, alpha moves by g
 * towards the share that was marked; the first mark of a window takes alpha / 2; a window without a
 * cut adds. "window" moves the bytes in flight by one MTU; "rate" moves a rate, and the window with
 * it.
 */
#include "cc/cc_priv.h"

#define RATE_MAX INT64_C(100000000000000)
#define WINDOW_MAX (UINT64_C(1) << 46)

struct dctcp {
	struct wf_cc cc;
	uint64_t acked;
	uint64_t update;  /* alpha moves when more than this is acknowledged; 0: no ACK yet */
	uint64_t recover; /* cut: no other until more than this is acknowledged */
	uint64_t alpha;   /* Q32 */
	uint64_t marked;  /* bytes, or acknowledgements, since alpha moved */
	uint64_t batch;   /* acknowledgements expected until alpha moves */
	uint64_t begin;   /* acked when alpha moved */
	uint64_t size;    /* "window": in flight at most, bytes in Q16 */
	uint64_t size_max;
	uint64_t min_rate;
	bool by_rate;
	bool cut;     /* in this window */
	bool growing; /* slow start */
	struct wf_cc_win win;
	struct wf_cc_dctcp_param p;
};

static const char *const modes[] = { "window", "rate", NULL };

#define FIELD(field) WF_PARAM_FIELD(struct wf_cc_dctcp_param, field)

/* Defaults: RFC 8257 (g 1/16), a start at the bandwidth-delay product as RDMA does. */
static const struct wf_param dctcp_params[] = {
	{ .name = "mode",
	  .kind = WF_PARAM_NAME,
	  FIELD(mode),
	  .names = modes,
	  .def = "window",
	  .help = "what moves: the window, or a rate" },
	{ .name = "g",
	  .kind = WF_PARAM_PROB,
	  FIELD(g),
	  .max = (int64_t)WF_PROB_ONE,
	  .def = "0.0625",
	  .help = "the gain of alpha" },
	{ .name = "mtu",
	  .kind = WF_PARAM_BYTES,
	  FIELD(mtu),
	  .min = 1,
	  .max = 1 << 20,
	  .def = "4096",
	  .help = "payload of a packet" },
	{ .name = "base_rtt",
	  .kind = WF_PARAM_TIME,
	  .has_auto = true,
	  FIELD(base_rtt),
	  .min = 100 * WF_NS,
	  .max = WF_S,
	  .def = "auto",
	  .help = "the RTT without queues" },
	{ .name = "window",
	  .kind = WF_PARAM_BYTES,
	  .has_auto = true,
	  FIELD(window),
	  .min = 1,
	  .max = (int64_t)WINDOW_MAX,
	  .def = "auto",
	  .help = "bytes in flight at the start, or at the line rate; auto: line rate * base_rtt" },
	{ .name = "window_max",
	  .kind = WF_PARAM_BYTES,
	  .has_auto = true,
	  FIELD(window_max),
	  .min = 1,
	  .max = (int64_t)WINDOW_MAX,
	  .def = "auto",
	  .help = "bytes in flight at most; auto: eight times window" },
	{ .name = "window_scales",
	  .kind = WF_PARAM_BOOL,
	  FIELD(window_scales),
	  .def = "true",
	  .help = "mode rate: the window shrinks with the rate" },
	{ .name = "window_slack",
	  .kind = WF_PARAM_BYTES,
	  FIELD(window_slack),
	  .max = INT64_MAX / 4,
	  .def = "0",
	  .help = "added to the window" },
	{ .name = "slow_start",
	  .kind = WF_PARAM_BOOL,
	  FIELD(slow_start),
	  .def = "false",
	  .help = "mode window: double every RTT until the first mark" },
	{ .name = "count_acks",
	  .kind = WF_PARAM_BOOL,
	  FIELD(count_acks),
	  .def = "false",
	  .help = "alpha from marked acknowledgements of packets in flight; false: from bytes" },
	{ .name = "loss_reacts",
	  .kind = WF_PARAM_BOOL,
	  FIELD(loss_reacts),
	  .def = "true",
	  .help = "a loss halves, a timeout goes to the least" },
	{ .name = "rate_ai",
	  .kind = WF_PARAM_RATE,
	  FIELD(rate_ai),
	  .max = RATE_MAX,
	  .def = "1Gbps",
	  .help = "mode rate: added every RTT without a cut" },
	{ .name = "min_rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(min_rate),
	  .min = WF_CC_RATE_MIN,
	  .max = RATE_MAX,
	  .def = "100Mbps",
	  .help = "mode rate: the rate never falls below" },
};

static struct dctcp *to_dctcp(struct wf_cc *cc)
{
	return wf_container_of(cc, struct dctcp, cc);
}

/* What holds between two calls. */
static void assert_dctcp(const struct dctcp *d)
{
	assert(d->alpha <= WF_Q32_ONE);
	assert(d->begin <= d->acked);
	assert(!(d->cut && d->growing));
	assert(d->cc.window >= 1);
	if (d->by_rate)
		assert(d->cc.rate >= d->min_rate && d->cc.rate <= d->cc.line_rate);
	else
		assert(d->size >= d->p.mtu << 16 && d->size <= d->size_max);
	(void)d;
}

/* Sets the rate, or the window (Q16), within the bounds. */
static void set(struct dctcp *d, uint64_t x)
{
	if (d->by_rate) {
		wf_cc_set_rate(&d->cc, wf_clamp_u64(x, d->min_rate, d->cc.line_rate));
		wf_cc_win_apply(&d->win, &d->cc);
		return;
	}
	d->size = wf_clamp_u64(x, d->p.mtu << 16, d->size_max);
	d->cc.window = (d->size >> 16) + d->p.window_slack;
}

static uint64_t get(const struct dctcp *d)
{
	return d->by_rate ? d->cc.rate : d->size;
}

/* Takes share (Q32) / 2, once until what is in flight now is acknowledged. */
static void cut(struct dctcp *d, uint64_t share, uint64_t next)
{
	uint64_t x = get(d);

	assert(share <= WF_Q32_ONE);
	set(d, x - wf_mul_q32(x, share) / 2);
	d->cut = true;
	d->growing = false;
	d->recover = next;
}

/* A window was acknowledged: alpha follows what was marked of it. */
static void move_alpha(struct dctcp *d, uint64_t next)
{
	uint64_t all = d->p.count_acks ? d->batch : wf_max_u64(d->acked - d->begin, 1);
	uint64_t share;

	if (d->update != 0) {
		share = wf_mul_div(wf_min_u64(d->marked, all), WF_Q32_ONE, all);
		d->alpha -= wf_mul_q32(d->alpha, d->p.g);
		d->alpha = wf_min_u64(d->alpha + wf_mul_q32(share, d->p.g), WF_Q32_ONE);
		d->marked = 0;
		d->batch = (next - d->acked) / d->p.mtu + 1;
	} else {
		d->batch = next / d->p.mtu + 1;
	}
	d->update = next;
	d->begin = d->acked;
}

static void grow(struct dctcp *d, uint32_t bytes, bool window_done)
{
	if (d->by_rate && window_done)
		set(d, d->cc.rate + d->p.rate_ai);
	else if (d->growing)
		set(d, d->size + ((uint64_t)bytes << 16));
	else if (!d->by_rate && window_done)
		set(d, d->size + (d->p.mtu << 16));
}

static void dctcp_on_ack(struct wf_cc *cc, const struct wf_cc_ack *ack)
{
	struct dctcp *d = to_dctcp(cc);
	bool window_done;
	uint64_t next;

	d->acked += ack->bytes;
	next = d->acked + ack->inflight;
	if (ack->ecn)
		d->marked += d->p.count_acks ? 1 : ack->bytes;
	window_done = d->acked > d->update;
	if (window_done)
		move_alpha(d, next);
	if (d->cut && d->acked > d->recover)
		d->cut = false;
	if (ack->ecn && !d->cut)
		cut(d, d->alpha, next);
	if (!d->cut)
		grow(d, ack->bytes, window_done);
	assert_dctcp(d);
}

static void dctcp_on_loss(struct wf_cc *cc, enum wf_cc_loss loss, wf_time now)
{
	struct dctcp *d = to_dctcp(cc);

	(void)now;
	if (!d->p.loss_reacts)
		return;
	if (loss == WF_CC_LOSS_TIMEOUT)
		set(d, 0);
	else if (!d->cut)
		cut(d, WF_Q32_ONE, wf_max_u64(d->update, d->acked));
	assert_dctcp(d);
}

static void dctcp_start(struct wf_cc *cc, const void *param, wf_time now)
{
	struct dctcp *d = to_dctcp(cc);
	struct wf_cc_dctcp_param *p = &d->p;
	uint64_t most;

	(void)now;
	wf_cc_param_copy(&wf_cc_dctcp, param, p);
	if (p->window == WF_PARAM_AUTO) {
		wf_time rtt = p->base_rtt == WF_PARAM_AUTO ? WF_CC_BASE_RTT : p->base_rtt;

		p->window = wf_clamp_u64(wf_cc_bdp(cc->line_rate, rtt), 1, WINDOW_MAX);
	}
	d->by_rate = strcmp(p->mode, "rate") == 0;
	d->growing = p->slow_start && !d->by_rate;
	d->alpha = WF_Q32_ONE;
	d->min_rate = wf_min_u64(wf_max_u64(p->min_rate, 1), cc->line_rate);
	most = p->window_max == WF_PARAM_AUTO ? wf_min_u64(8 * p->window, WINDOW_MAX)
	                                      : p->window_max;
	d->size_max = wf_max_u64(most, p->mtu) << 16;
	if (d->by_rate) {
		wf_cc_win_init(&d->win, cc, p->window, p->window_slack, p->window_scales);
		set(d, cc->line_rate);
	} else {
		wf_cc_unpace(cc);
		set(d, p->window << 16);
	}
	assert_dctcp(d);
}

const struct wf_cc_ops wf_cc_dctcp = {
	.name = "dctcp",
	.help = "a window, or a rate, from the share of marked packets",
	.size = sizeof(struct dctcp),
	.marks = true,
	.params = dctcp_params,
	.n_params = WF_ARRAY_SIZE(dctcp_params),
	.param_size = sizeof(struct wf_cc_dctcp_param),
	.start = dctcp_start,
	.on_send = wf_cc_no_send,
	.on_ack = dctcp_on_ack,
	.on_cnp = wf_cc_no_cnp,
	.on_loss = dctcp_on_loss,
	.on_timer = wf_cc_no_timer,
};
