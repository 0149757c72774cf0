/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecn.c - marking thresholds that depend on a port's rate, from their text.
 */
#include "base/rate.h"
#include "base/rows.h"
#include "fabric/config.h"

/* A row of ecn.by_class. */
struct by_class {
	uint32_t priority;
	struct wf_ecn ecn;
};

#define FIELD(field) WF_PARAM_FIELD(struct wf_ecn_rate, field)

static const struct wf_param fields[] = {
	{ .name = "rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(rate),
	  .min = WF_RATE_MIN,
	  .max = WF_RATE_MAX },
	{ .name = "kmin", .kind = WF_PARAM_BYTES, FIELD(ecn.kmin), .max = INT64_C(1) << 40 },
	{ .name = "kmax", .kind = WF_PARAM_BYTES, FIELD(ecn.kmax), .max = INT64_C(1) << 40 },
	{ .name = "pmax", .kind = WF_PARAM_PROB, FIELD(ecn.pmax), .max = (int64_t)WF_PROB_ONE },
};

static const struct wf_rows table = {
	.name = "ecn.by_rate",
	.what = "a table of thresholds",
	.example = "rate:kmin:kmax:pmax, with commas between, e.g. 100Gbps:400KB:1600KB:0.2",
	.fields = fields,
	.n_fields = WF_ARRAY_SIZE(fields),
	.size = sizeof(struct wf_ecn_rate),
	.max = WF_ECN_RATES,
};

int wf_ecn_parse(const char *text, struct wf_ecn_rate *rates, unsigned *n_p, struct wf_err *err)
{
	int ret = wf_rows_parse(&table, text, rates, n_p, err);

	for (unsigned i = 0; ret == 0 && i < *n_p; i++) {
		if (rates[i].ecn.kmin > rates[i].ecn.kmax)
			return wf_err_say(err, "ecn.by_rate: kmin is above kmax; kmin <= kmax is "
			                       "needed");
	}
	return ret;
}

#define CLASS_FIELD(field) WF_PARAM_FIELD(struct by_class, field)

int wf_ecn_parse_classes(const char *text, struct wf_ecn *ecn, unsigned *named_p,
                         struct wf_err *err)
{
	static const struct wf_param columns[] = {
		{ .name = "priority", .kind = WF_PARAM_U32, CLASS_FIELD(priority), .max = 7 },
		{ .name = "kmin",
		  .kind = WF_PARAM_BYTES,
		  CLASS_FIELD(ecn.kmin),
		  .max = INT64_C(1) << 40 },
		{ .name = "kmax",
		  .kind = WF_PARAM_BYTES,
		  CLASS_FIELD(ecn.kmax),
		  .max = INT64_C(1) << 40 },
		{ .name = "pmax",
		  .kind = WF_PARAM_PROB,
		  CLASS_FIELD(ecn.pmax),
		  .max = (int64_t)WF_PROB_ONE },
	};
	static const struct wf_rows rows = {
		.name = "ecn.by_class",
		.what = "a table of thresholds",
		.example = "priority:kmin:kmax:pmax, with commas between, e.g. 3:1MB:2MB:5%",
		.fields = columns,
		.n_fields = WF_ARRAY_SIZE(columns),
		.size = sizeof(struct by_class),
		.max = 8,
	};
	struct by_class e[8];
	unsigned n;
	int ret = wf_rows_parse(&rows, text, e, &n, err);

	*named_p = 0;
	for (unsigned i = 0; ret == 0 && i < n; i++) {
		if (e[i].ecn.kmin > e[i].ecn.kmax)
			return wf_err_say(err,
			                  "ecn.by_class: kmin of priority %u is above its kmax; "
			                  "kmin <= kmax is needed",
			                  (unsigned)e[i].priority);
		ecn[e[i].priority] = e[i].ecn;
		*named_p |= 1u << e[i].priority;
	}
	return ret;
}
