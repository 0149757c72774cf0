/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - the configuration file of the HPCC simulator: a key and its values on each line.
 *
 * Keys that say nothing about the model (names of output files, tracing, monitoring) are skipped,
 * as that simulator skips keys that it does not know.
 */
#include "ns3/config.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define VALUE_TEXT 512
#define KB 1000
#define MAX_KB (INT64_C(1) << 30)

#define FIELD(field) WF_PARAM_FIELD(struct wf_ns3_config, field)
#define FLAG(key, field)                                                                           \
	{                                                                                          \
		{ .name = (key), .kind = WF_PARAM_BOOL, FIELD(field) }, ""                         \
	}
#define COUNT(key, field, low, high)                                                               \
	{                                                                                          \
		{ .name = (key),                                                                   \
		  .kind = WF_PARAM_U32,                                                            \
		  FIELD(field),                                                                    \
		  .min = (low),                                                                    \
		  .max = (high) },                                                                 \
			""                                                                         \
	}
#define TIME(key, field, unit)                                                                     \
	{                                                                                          \
		{ .name = (key), .kind = WF_PARAM_TIME, FIELD(field), .max = 1000000 * WF_S },     \
			unit                                                                       \
	}
#define RATE(key, field)                                                                           \
	{                                                                                          \
		{ .name = (key),                                                                   \
		  .kind = WF_PARAM_RATE,                                                           \
		  FIELD(field),                                                                    \
		  .max = 100000 * INT64_C(1000000000) },                                           \
			""                                                                         \
	}
#define PROB(key, field)                                                                           \
	{                                                                                          \
		{ .name = (key),                                                                   \
		  .kind = WF_PARAM_PROB,                                                           \
		  FIELD(field),                                                                    \
		  .max = (int64_t)WF_PROB_ONE },                                                   \
			""                                                                         \
	}
#define TEXT(key, field)                                                                           \
	{                                                                                          \
		{ .name = (key), .kind = WF_PARAM_TEXT, FIELD(field) }, ""                         \
	}

static const struct {
	struct wf_param row;
	const char *unit; /* put behind the number */
} keys[] = {
	TEXT("TOPOLOGY_FILE", topology),
	TEXT("FLOW_FILE", flows),
	COUNT("CC_MODE", cc_mode, 0, 100),
	COUNT("PACKET_PAYLOAD_SIZE", payload, 64, 16384),
	COUNT("L2_CHUNK_SIZE", chunk, 1, UINT32_MAX),
	COUNT("L2_ACK_INTERVAL", ack_interval, 1, UINT32_MAX),
	COUNT("FAST_RECOVERY_TIMES", recovery_times, 0, 1000),
	COUNT("MI_THRESH", mi_thresh, 0, 1000),
	COUNT("INT_MULTI", int_multi, 1, 1024),
	COUNT("BUFFER_SIZE", buffer_mib, 1, 1 << 20),
	TIME("SIMULATOR_STOP_TIME", stop, "s"),
	TIME("ALPHA_RESUME_INTERVAL", alpha_resume, "us"),
	TIME("RATE_DECREASE_INTERVAL", rate_decrease, "us"),
	TIME("RP_TIMER", rp_timer, "us"),
	PROB("EWMA_GAIN", gain),
	PROB("U_TARGET", u_target),
	PROB("ERROR_RATE_PER_LINK", loss),
	PROB("PINT_PROB", pint_prob),
	{ { .name = "PINT_LOG_BASE",
	    .kind = WF_PARAM_RATIO,
	    FIELD(pint_base),
	    .min = (int64_t)WF_RATIO_ONE + 1,
	    .max = 2 * (int64_t)WF_RATIO_ONE },
	  "" },
	RATE("RATE_AI", rate_ai),
	RATE("RATE_HAI", rate_hai),
	RATE("MIN_RATE", min_rate),
	RATE("DCTCP_RATE_AI", dctcp_rate_ai),
	FLAG("ENABLE_QCN", enable_qcn),
	FLAG("CLAMP_TARGET_RATE", clamp_target),
	FLAG("HAS_WIN", has_win),
	FLAG("GLOBAL_T", global_t),
	FLAG("VAR_WIN", var_win),
	FLAG("FAST_REACT", fast_react),
	FLAG("RATE_BOUND", rate_bound),
	FLAG("ACK_HIGH_PRIO", ack_high),
	FLAG("L2_BACK_TO_ZERO", back_to_zero),
	FLAG("MULTI_RATE", multi_rate),
	FLAG("SAMPLE_FEEDBACK", sample_feedback),
};

/* What that simulator has for keys that are not in the file. */
static const struct wf_ns3_config defaults = {
	.cc_mode = 1,
	.payload = 1000,
	.chunk = 1,
	.ack_interval = 1,
	.recovery_times = 5,
	.mi_thresh = 5,
	.int_multi = 1,
	.buffer_mib = 16,
	.enable_qcn = true,
	.has_win = true,
	.global_t = true,
	.fast_react = true,
	.rate_bound = true,
	.stop = 3 * WF_S + 10 * WF_MS,
	.alpha_resume = 55 * WF_US,
	.rate_decrease = 4 * WF_US,
	.rp_timer = 1500 * WF_US,
	.gain = 0, /* 1 / 16 there, in whole numbers */
	.u_target = (WF_PROB_ONE * 95 + 50) / 100,
	.pint_prob = WF_PROB_ONE,
	.pint_base = (WF_RATIO_ONE * 105 + 50) / 100,
	.multi_rate = true,
	.rate_ai = 5000000,
	.rate_hai = 50000000,
	.min_rate = 100000000,
	.dctcp_rate_ai = 1000000000,
};

static int set_key(struct wf_text *text, size_t k, struct wf_ns3_config *config)
{
	struct wf_err why = { "" };
	struct wf_word word;
	char value[VALUE_TEXT];
	int ret;

	assert(k < WF_ARRAY_SIZE(keys) && keys[k].row.size > 0);
	ret = wf_text_expect(text, keys[k].row.name, &word);
	if (ret != 0)
		return ret;
	if (word.len + 8 > sizeof(value))
		return wf_err_at(text->err, text->name, word.line, word.column,
		                 "the value of %s is too long", keys[k].row.name);
	snprintf(value, sizeof(value), "%.*s%s", (int)word.len, word.at, keys[k].unit);
	if (keys[k].row.kind == WF_PARAM_BOOL)
		snprintf(value, sizeof(value), "%s", wf_word_is(&word, "0") ? "no" : "yes");
	if (wf_param_set(&keys[k].row, config, value, &why) != 0)
		return wf_err_at(text->err, text->name, word.line, word.column, "%s: %s",
		                 keys[k].row.name, why.text);
	return 0;
}

/* The thresholds of a rate, which is new or known from another map. */
static struct wf_ecn_rate *ecn_of(struct wf_ns3_config *config, uint64_t rate)
{
	for (unsigned i = 0; i < config->n_ecn; i++) {
		if (config->ecn[i].rate == rate)
			return &config->ecn[i];
	}
	if (config->n_ecn == WF_ECN_RATES)
		return NULL;
	assert(config->n_ecn < WF_ECN_RATES);
	config->ecn[config->n_ecn].rate = rate;
	return &config->ecn[config->n_ecn++];
}

/* "KMAX_MAP 2 100000000000 1600 400000000000 6400": a number, then as many rates and values. */
static int set_map(struct wf_text *text, const struct wf_word *key, struct wf_ns3_config *config)
{
	bool prob = wf_word_is(key, "PMAX_MAP"), max = wf_word_is(key, "KMAX_MAP");
	struct wf_word word;
	uint64_t n, rate, value;
	int ret = wf_text_expect(text, "the number of rates", &word);

	if (ret == 0)
		ret = wf_text_number(text, &word, "the number of rates", 0, WF_ECN_RATES, &n);
	for (uint64_t i = 0; ret == 0 && i < n; i++) {
		struct wf_ecn_rate *e;

		ret = wf_text_expect(text, "the rate", &word);
		if (ret == 0)
			ret = wf_text_number(text, &word, "the rate", 1, INT64_MAX, &rate);
		if (ret != 0)
			return ret;
		e = ecn_of(config, rate);
		if (e == NULL)
			return wf_err_at(text->err, text->name, word.line, word.column,
			                 "more than %d rates; that many are allowed", WF_ECN_RATES);
		ret = wf_text_expect(text, "the value", &word);
		if (ret == 0 && prob)
			ret = wf_text_value(text, &word, "the probability", WF_PARAM_PROB, 0,
			                    WF_PROB_ONE, &e->ecn.pmax);
		else if (ret == 0)
			ret = wf_text_number(text, &word, "the threshold", 0, MAX_KB, &value);
		if (ret == 0 && !prob)
			*(max ? &e->ecn.kmax : &e->ecn.kmin) = value * KB;
	}
	return ret;
}

/* That link goes down at a time: only "never" is supported. */
static int check_link_down(struct wf_text *text)
{
	struct wf_word word;
	int ret = wf_text_expect(text, "the time", &word);

	if (ret == 0 && !wf_word_is(&word, "0"))
		return wf_err_at(text->err, text->name, word.line, word.column,
		                 "LINK_DOWN: links that go down are not supported with --hpcc; "
		                 "write 0 0 0");
	return ret;
}

/* That simulator's timers of DCQCN run for whole microseconds. */
static int cut_timers(struct wf_ns3_config *c, const char *name, struct wf_err *err)
{
	wf_time *const timer[] = { &c->alpha_resume, &c->rate_decrease, &c->rp_timer };

	for (size_t i = 0; i < WF_ARRAY_SIZE(timer); i++) {
		*timer[i] -= *timer[i] % WF_US;
		if (*timer[i] == 0 && c->cc_mode == WF_NS3_DCQCN)
			return wf_err_at(err, name, 0, 0,
			                 "ALPHA_RESUME_INTERVAL, RATE_DECREASE_INTERVAL and "
			                 "RP_TIMER count in whole us; each has to be 1 at least");
	}
	return 0;
}

static int check(const struct wf_ns3_config *c, const char *name, struct wf_err *err)
{
	if (c->topology[0] == '\0' || c->flows[0] == '\0')
		return wf_err_at(err, name, 0, 0, "%s is missing",
		                 c->topology[0] == '\0' ? "TOPOLOGY_FILE" : "FLOW_FILE");
	if (c->cc_mode != WF_NS3_DCQCN && c->cc_mode != WF_NS3_HPCC &&
	    c->cc_mode != WF_NS3_TIMELY && c->cc_mode != WF_NS3_DCTCP && c->cc_mode != WF_NS3_PINT)
		return wf_err_at(err, name, 0, 0,
		                 "CC_MODE %" PRIu32 " is not supported; 1 (dcqcn), 3 (hpcc), 7 "
		                 "(timely), 8 (dctcp) and 10 (hpcc-pint) are",
		                 c->cc_mode);
	for (unsigned i = 0; i < c->n_ecn; i++) {
		if (c->ecn[i].ecn.kmin > c->ecn[i].ecn.kmax)
			return wf_err_at(err, name, 0, 0,
			                 "KMIN_MAP is above KMAX_MAP for rate %" PRIu64,
			                 c->ecn[i].rate);
	}
	return 0;
}

int wf_ns3_config_parse(struct wf_ns3_config *config, const char *bytes, size_t len,
                        const char *name, struct wf_err *err)
{
	struct wf_text text;
	struct wf_word key, rest;
	int ret = 0;

	*config = defaults;
	wf_text_init(&text, bytes, len, name, err);
	while (ret == 0 && wf_text_seek(&text)) {
		size_t k = 0;

		(void)wf_text_word(&text, &key);
		while (k < WF_ARRAY_SIZE(keys) && !wf_word_is(&key, keys[k].row.name))
			k++;
		if (k < WF_ARRAY_SIZE(keys))
			ret = set_key(&text, k, config);
		else if (wf_word_is(&key, "KMAX_MAP") || wf_word_is(&key, "KMIN_MAP") ||
		         wf_word_is(&key, "PMAX_MAP"))
			ret = set_map(&text, &key, config);
		else if (wf_word_is(&key, "LINK_DOWN"))
			ret = check_link_down(&text);
		while (wf_text_word(&text, &rest))
			; /* of keys that are skipped */
	}
	if (ret == 0)
		ret = cut_timers(config, name, err);
	return ret != 0 ? ret : check(config, name, err);
}
