/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ibcc.c - InfiniBand congestion control at the channel adapter (annex A10).
 *
 * A BECN, in a CN packet or an acknowledgement, raises the flow's index into the congestion control
 * table by CCTI_Increase, up to CCTI_Limit. The entry says by how many packet times a packet is
 * followed by silence: multiplier / 2^shift. Every CCTI_Timer the index falls by one, down to
 * CCTI_Min. The timer runs from the start of the flow on and is counted when somebody looks.
 */
#include "cc/cc_priv.h"

#define MULTIPLIER_MAX 16383 /* 14 bits */
#define DELAY_MAX ((uint64_t)MULTIPLIER_MAX << 16)

struct ibcc {
	struct wf_cc cc;
	uint32_t ccti; /* the index */
	uint32_t limit, min, increase;
	bool on_ack;  /* acknowledgements carry BECNs */
	wf_time tick; /* the last tick of the timer that is in ccti */
	wf_time period;
	uint32_t delay[WF_IBCC_ENTRIES]; /* packet times, Q16 */
};

static const char *const shapes[] = { "linear", "exponential", NULL };

#define FIELD(field) WF_CC_FIELD(struct wf_cc_ibcc_param, field)

/*
 * Defaults: Gran et al., "First Experiences with Congestion Control in InfiniBand Hardware", IPDPS
 * 2010 (increase 1, limit 127, timer 150 units of 1.024 us). The table is the subnet manager's to
 * fill; a linear one with a quarter of a packet time per index reaches 1/33 of the line rate.
 */
static const struct wf_param ibcc_params[] = {
	{ .name = "ccti_increase",
	  .kind = WF_PARAM_U32,
	  FIELD(ccti_increase),
	  .max = WF_IBCC_ENTRIES - 1,
	  .def = "1",
	  .help = "added to the index at a BECN" },
	{ .name = "ccti_limit",
	  .kind = WF_PARAM_U32,
	  FIELD(ccti_limit),
	  .max = WF_IBCC_ENTRIES - 1,
	  .def = "127",
	  .help = "the largest index" },
	{ .name = "ccti_min",
	  .kind = WF_PARAM_U32,
	  FIELD(ccti_min),
	  .max = WF_IBCC_ENTRIES - 1,
	  .def = "0",
	  .help = "the smallest index" },
	{ .name = "ccti_timer",
	  .kind = WF_PARAM_TIME,
	  FIELD(ccti_timer),
	  .min = WF_NS,
	  .max = WF_S,
	  .def = "153.6us",
	  .help = "after each the index falls by one" },
	{ .name = "cct_shape",
	  .kind = WF_PARAM_NAME,
	  FIELD(cct_shape),
	  .names = shapes,
	  .def = "linear",
	  .help = "of the table, where cct gives none" },
	{ .name = "cct_step",
	  .kind = WF_PARAM_RATIO,
	  FIELD(cct_step),
	  .max = (int64_t)DELAY_MAX,
	  .def = "0.25",
	  .help = "linear: packet times per index; exponential: ratio of successive rates" },
	{ .name = "cct",
	  .kind = WF_PARAM_TEXT,
	  FIELD(cct),
	  .def = "",
	  .help = "the table from index 0: multiplier or shift:multiplier, with commas" },
	{ .name = "becn_on_ack",
	  .kind = WF_PARAM_BOOL,
	  FIELD(becn_on_ack),
	  .def = "true",
	  .help = "an acknowledgement with a mark counts as a BECN" },
};

static struct ibcc *to_ibcc(struct wf_cc *cc)
{
	return wf_container_of(cc, struct ibcc, cc);
}

/* Reads a number at *s, up to most; skips what is not a digit before it. */
static uint64_t read_number(const char **s, uint64_t most)
{
	uint64_t x = 0;

	while (**s == ' ')
		(*s)++;
	for (; **s >= '0' && **s <= '9'; (*s)++)
		x = wf_min_u64(x * 10 + (uint64_t)(**s - '0'), most);
	return x;
}

/* Fills the table from text; the last entry given stands for those that are not. */
static void read_table(struct ibcc *b, const char *s)
{
	uint32_t delay = 0;

	for (uint32_t i = 0; i < WF_IBCC_ENTRIES; i++) {
		if (*s != '\0') {
			uint64_t x = read_number(&s, MULTIPLIER_MAX);
			uint64_t shift = 0;

			if (*s == ':') {
				s++;
				shift = wf_min_u64(x, 3);
				x = read_number(&s, MULTIPLIER_MAX);
			}
			delay = (uint32_t)((x << 16) >> shift);
			while (*s != '\0' && *s != ',')
				s++;
			s += *s == ',' ? 1 : 0;
		}
		b->delay[i] = delay;
	}
}

static void make_table(struct ibcc *b, bool exponential, uint64_t step)
{
	uint64_t factor = WF_RATIO_ONE;

	for (uint32_t i = 0; i < WF_IBCC_ENTRIES; i++) {
		uint64_t delay = exponential ? factor - WF_RATIO_ONE : i * step;

		b->delay[i] = (uint32_t)wf_min_u64(delay, DELAY_MAX);
		factor = wf_clamp_u64((factor * step) >> 16, WF_RATIO_ONE, 2 * DELAY_MAX);
	}
}

static void apply(struct ibcc *b)
{
	struct wf_cc *cc = &b->cc;
	uint64_t delay = b->delay[b->ccti];
	uint64_t rate = wf_mul_div(cc->line_rate, WF_RATIO_ONE, WF_RATIO_ONE + delay);

	assert(b->ccti >= b->min && b->ccti <= b->limit);
	wf_cc_set_rate(cc, wf_max_u64(rate, 1));
	cc->timer = b->ccti > b->min ? b->tick + b->period : WF_TIME_NEVER;
}

/* The timer's ticks up to and at now. */
static void catch_up(struct ibcc *b, wf_time now)
{
	wf_time n = (now - b->tick) / b->period;

	if (n <= 0)
		return;
	b->tick += n * b->period;
	b->ccti -= (uint32_t)wf_min_u64((uint64_t)n, b->ccti - b->min);
}

static void ibcc_on_cnp(struct wf_cc *cc, wf_time now)
{
	struct ibcc *b = to_ibcc(cc);

	catch_up(b, now);
	b->ccti = (uint32_t)wf_min_u64((uint64_t)b->ccti + b->increase, b->limit);
	apply(b);
}

static void ibcc_on_ack(struct wf_cc *cc, const struct wf_cc_ack *ack)
{
	if (wf_unlikely(ack->ecn) && to_ibcc(cc)->on_ack)
		ibcc_on_cnp(cc, ack->now);
}

static void ibcc_on_timer(struct wf_cc *cc, wf_time now)
{
	struct ibcc *b = to_ibcc(cc);

	catch_up(b, now);
	apply(b);
}

static void ibcc_start(struct wf_cc *cc, const void *param, wf_time now)
{
	struct ibcc *b = to_ibcc(cc);
	struct wf_cc_ibcc_param p;

	wf_cc_param_copy(&wf_cc_ibcc, param, &p);
	b->limit = (uint32_t)wf_min_u64(p.ccti_limit, WF_IBCC_ENTRIES - 1);
	b->min = (uint32_t)wf_min_u64(p.ccti_min, b->limit);
	b->increase = p.ccti_increase;
	b->on_ack = p.becn_on_ack;
	b->period = p.ccti_timer;
	b->ccti = b->min;
	b->tick = now;
	if (p.cct[0] != '\0')
		read_table(b, p.cct);
	else
		make_table(b, strcmp(p.cct_shape, "exponential") == 0, p.cct_step);
	apply(b);
}

const struct wf_cc_ops wf_cc_ibcc = {
	.name = "ibcc",
	.help = "delays between packets from BECNs and a table (InfiniBand annex A10)",
	.size = sizeof(struct ibcc),
	.params = ibcc_params,
	.n_params = WF_ARRAY_SIZE(ibcc_params),
	.param_size = sizeof(struct wf_cc_ibcc_param),
	.start = ibcc_start,
	.on_send = wf_cc_no_send,
	.on_ack = ibcc_on_ack,
	.on_cnp = ibcc_on_cnp,
	.on_loss = wf_cc_no_loss,
	.on_timer = ibcc_on_timer,
};
