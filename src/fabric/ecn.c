/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecn.c - marking thresholds that depend on a port's rate, from their text.
 */
#include <errno.h>
#include <string.h>

#include "fabric/config.h"

#define FIELDS 4
#define FIELD_TEXT 32

static const struct wf_param rows[FIELDS] = {
	{ .name = "rate",
	  .kind = WF_PARAM_RATE,
	  .offset = offsetof(struct wf_ecn_rate, rate),
	  .size = sizeof(uint64_t),
	  .min = 1,
	  .max = INT64_MAX },
	{ .name = "kmin",
	  .kind = WF_PARAM_BYTES,
	  .offset = offsetof(struct wf_ecn_rate, ecn.kmin),
	  .size = sizeof(uint64_t),
	  .max = INT64_C(1) << 40 },
	{ .name = "kmax",
	  .kind = WF_PARAM_BYTES,
	  .offset = offsetof(struct wf_ecn_rate, ecn.kmax),
	  .size = sizeof(uint64_t),
	  .max = INT64_C(1) << 40 },
	{ .name = "pmax",
	  .kind = WF_PARAM_PROB,
	  .offset = offsetof(struct wf_ecn_rate, ecn.pmax),
	  .size = sizeof(uint64_t),
	  .max = (int64_t)WF_PROB_ONE },
};

/* Copies what is before one of the characters in ends; *p_p is then behind that. */
static bool take(const char **p_p, char out[FIELD_TEXT], char *end)
{
	const char *p = *p_p + strspn(*p_p, " ");
	size_t len = strcspn(p, " :,");

	if (len == 0 || len >= FIELD_TEXT)
		return false;
	memcpy(out, p, len);
	out[len] = '\0';
	p += len;
	p += strspn(p, " ");
	*end = *p;
	*p_p = *p == '\0' ? p : p + 1;
	return true;
}

static int parse_one(const char **p_p, struct wf_ecn_rate *rate, char *end, struct wf_err *err)
{
	for (int i = 0; i < FIELDS; i++) {
		char text[FIELD_TEXT];
		struct wf_err why = { "" };

		if (!take(p_p, text, end) || (i < FIELDS - 1) != (*end == ':'))
			return wf_err_say(err, "ecn.by_rate: write rate:kmin:kmax:pmax, with "
			                       "commas between, e.g. 100Gbps:400KB:1600KB:0.2");
		if (wf_param_set(&rows[i], rate, text, &why) != 0)
			return wf_err_say(err, "ecn.by_rate: %s: %s", rows[i].name, why.text);
	}
	if (rate->ecn.kmin > rate->ecn.kmax)
		return wf_err_say(err, "ecn.by_rate: kmin is above kmax; kmin <= kmax is needed");
	return 0;
}

int wf_ecn_parse(const char *text, struct wf_ecn_rate *rates, unsigned *n_p, struct wf_err *err)
{
	char end = ',';
	int ret;

	*n_p = 0;
	text += strspn(text, " ");
	if (*text == '\0')
		return 0;
	while (end == ',') {
		if (*n_p == WF_ECN_RATES)
			return wf_err_say(err,
			                  "ecn.by_rate: more than %d rates; that many are "
			                  "allowed",
			                  WF_ECN_RATES);
		ret = parse_one(&text, &rates[*n_p], &end, err);
		if (ret != 0)
			return ret;
		(*n_p)++;
	}
	return 0;
}
