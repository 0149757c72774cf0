/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axis.c - reads lists and ranges of values.
 */
#include "study/axis.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 1e-9 /* of a value: what adding up may have cost */

struct number {
	double value;
	char unit[16];
};

/* Reads a plain number and the unit behind it; false: it is none. */
static bool read_number(const char *text, struct number *number)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return false;
	number->value = strtod(text, &end);
	if (end == text || !isfinite(number->value) || strlen(end) >= sizeof(number->unit))
		return false;
	for (const char *p = end; *p != '\0'; p++) {
		if (!isalpha((unsigned char)*p) && *p != '%')
			return false;
	}
	snprintf(number->unit, sizeof(number->unit), "%s", end);
	return true;
}

static int add(struct wf_axis *axis, const char *value, struct wf_err *err)
{
	if (axis->n == WF_AXIS_MAX)
		return wf_err_say(err, "%s: more than %d values", axis->name, WF_AXIS_MAX);
	if (value[0] == '\0')
		return wf_err_say(err, "%s: a value is missing; write, e.g., 50KB,100KB or 1..64",
		                  axis->name);
	if (strlen(value) >= WF_AXIS_VALUE)
		return wf_err_say(err, "%s: '%.40s...' is too long", axis->name, value);
	snprintf(axis->value[axis->n++], WF_AXIS_VALUE, "%s", value);
	return 0;
}

static int add_range(struct wf_axis *axis, const char *word, const char *dots, struct wf_err *err)
{
	struct number from, to, step = { .value = 2 };
	char first[WF_AXIS_VALUE], last[WF_AXIS_VALUE];
	size_t len = strcspn(dots + 2, "*+");
	char how = dots[2 + len];
	int rc = 0;

	snprintf(first, sizeof(first), "%.*s", (int)(dots - word), word);
	snprintf(last, sizeof(last), "%.*s", (int)len, dots + 2);
	if (!read_number(first, &from) || !read_number(last, &to) ||
	    (how != '\0' && !read_number(dots + 3 + len, &step)))
		return wf_err_say(err,
		                  "%s: '%.60s' is no range; write, e.g., 50KB..800KB, 1..8*2 "
		                  "or 10us..50us+10us",
		                  axis->name, word);
	if (from.unit[0] == '\0')
		snprintf(from.unit, sizeof(from.unit), "%s", to.unit);
	if (strcmp(from.unit, to.unit) != 0 ||
	    (how == '+' && step.unit[0] != '\0' && strcmp(step.unit, to.unit) != 0))
		return wf_err_say(err, "%s: '%.60s': write the whole range in one unit", axis->name,
		                  word);
	if (from.value > to.value || (how == '+' ? step.value <= 0 : step.value <= 1) ||
	    (how != '+' && (from.value <= 0 || step.unit[0] != '\0')))
		return wf_err_say(err, "%s: '%.60s' does not get from its beginning to its end",
		                  axis->name, word);
	for (unsigned i = 0; rc == 0; i++) {
		double v =
			how == '+' ? from.value + i * step.value : from.value * pow(step.value, i);
		char text[WF_AXIS_VALUE];

		if (v > to.value * (1 + SLACK))
			return 0;
		snprintf(text, sizeof(text), "%.12g%s", v, to.unit);
		rc = add(axis, text, err);
	}
	return rc;
}

int wf_axis_parse(struct wf_axis *axis, const char *text, struct wf_err *err)
{
	const char *eq = strchr(text, '=');
	const char *p;
	int rc = 0;

	axis->n = 0;
	if (eq == NULL || eq == text || eq[1] == '\0' || (size_t)(eq - text) >= sizeof(axis->name))
		return wf_err_say(err,
		                  "'%.60s': write PARAMETER=VALUES, e.g. "
		                  "fabric.ecn.kmin=50KB,100KB",
		                  text);
	snprintf(axis->name, sizeof(axis->name), "%.*s", (int)(eq - text), text);
	for (p = eq + 1; rc == 0; p++) {
		char word[3 * WF_AXIS_VALUE];
		size_t len = strcspn(p, ",");
		const char *dots;

		if (len >= sizeof(word))
			return wf_err_say(err, "%s: '%.40s...' is too long", axis->name, p);
		snprintf(word, sizeof(word), "%.*s", (int)len, p);
		dots = strstr(word, "..");
		rc = dots != NULL ? add_range(axis, word, dots, err) : add(axis, word, err);
		p += len;
		if (*p == '\0')
			break;
	}
	return rc;
}
