/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ibcc.c - InfiniBand congestion control at the channel adapter (annex A10).
 *
 * A BECN, in a CN packet or an acknowledgement, raises the flow's index into the congestion control
 * table by CCTI_Increase, up to CCTI_Limit. The entry says by how many packet times a packet is
 * followed by silence: multiplier / 2^shift. Every CCTI_Timer the index falls by one, down to
 * CCTI_Min. The timer runs from the start of the flow on and is counted when somebody looks.
 */
#include "base/rows.h"
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

/* An entry of the table, as the standard has it: 2 bits of shift, 14 bits of multiplier. */
struct cct_entry {
	uint32_t shift;
	uint32_t multiplier;
};

#define ENTRY(field) .offset = offsetof(struct cct_entry, field), .size = sizeof(uint32_t)

static const struct wf_param cct_fields[] = {
	{ .name = "shift", .kind = WF_PARAM_U32, ENTRY(shift), .max = 3 },
	{ .name = "multiplier", .kind = WF_PARAM_U32, ENTRY(multiplier), .max = MULTIPLIER_MAX },
};

static const struct wf_rows cct_rows = {
	.what = "a congestion control table",
	.example = "multiplier or shift:multiplier, with commas between, e.g. 0,1,2:9",
	.fields = cct_fields,
	.n_fields = WF_ARRAY_SIZE(cct_fields),
	.n_optional = 1,
	.size = sizeof(struct cct_entry),
	.max = WF_IBCC_ENTRIES,
};

static int check_cct(const char *text, struct wf_err *err)
{
	struct cct_entry e[WF_IBCC_ENTRIES];
	unsigned n;

	return wf_rows_parse(&cct_rows, text, e, &n, err);
}

static const char *const shapes[] = { "linear", "exponential", NULL };

#define FIELD(field) WF_PARAM_FIELD(struct wf_cc_ibcc_param, field)

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
	  .check = check_cct,
	  .help = "the table from index 0: multiplier (0 to 16383) or shift:multiplier (0 to 3), "
	          "with commas; the last entry stands for all that follow" },
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

/* Fills the table from the entries in text; the last one stands for those that are not given. */
static void read_table(struct ibcc *b, const char *text)
{
	struct cct_entry e[WF_IBCC_ENTRIES];
	uint32_t delay = 0;
	unsigned n;
	int ret = wf_rows_parse(&cct_rows, text, e, &n, NULL);

	assert(ret == 0 && n > 0); /* check_cct() has seen it */
	for (uint32_t i = 0; i < WF_IBCC_ENTRIES; i++) {
		if (ret == 0 && i < n)
			delay = (e[i].multiplier << 16) >> e[i].shift;
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
	assert(b->limit < WF_IBCC_ENTRIES && delay <= DELAY_MAX);
	assert(b->period > 0);
	wf_cc_set_rate(cc, wf_max_u64(rate, 1));
	cc->timer = b->ccti > b->min ? b->tick + b->period : WF_TIME_NEVER;
}

/* Carries out the timer's ticks up to and at now. */
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
	if (p.cct[strspn(p.cct, " ")] != '\0')
		read_table(b, p.cct);
	else
		make_table(b, strcmp(p.cct_shape, "exponential") == 0, p.cct_step);
	apply(b);
}

const struct wf_cc_ops wf_cc_ibcc = {
	.name = "ibcc",
	.help = "delays between packets from BECNs and a table (InfiniBand annex A10)",
	.size = sizeof(struct ibcc),
	.marks = true,
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
