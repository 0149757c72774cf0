/* SPDX-License-Identifier: Apache-2.0 */
/*
 * param.c - reads and writes values as people write them: a decimal number and a unit.
 *
 * A number is kept exactly, as an integer and a power of ten, until it is scaled to the field's
 * unit; no floating point decides a value, so a file means the same on every machine.
 */
#include "base/param.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 60 /* bytes of somebody's text that a message quotes */
#define BER_ONE UINT64_C(1000000000000000000)

typedef unsigned __int128 u128;

/* m * 10^exp */
struct decimal {
	uint64_t m;
	int exp;
};

struct unit {
	const char *name;
	uint64_t scale; /* of the field's unit */
};

/* What messages, help and the parser need to know of a kind that is a number with a unit. */
struct kind {
	const char *what;  /* "a time" */
	const char *unit;  /* for help texts */
	const char *right; /* how to write it */
	const struct unit *units;
};

static const struct unit no_units[] = { { "", 1 }, { NULL, 0 } };

static const struct unit byte_units[] = {
	{ "B", 1 },
	{ "KB", 1000 },
	{ "kB", 1000 },
	{ "MB", 1000000 },
	{ "GB", 1000000000 },
	{ "KiB", UINT64_C(1) << 10 },
	{ "MiB", UINT64_C(1) << 20 },
	{ "GiB", UINT64_C(1) << 30 },
	{ "", 1 },
	{ NULL, 0 },
};

static const struct unit time_units[] = {
	{ "ps", 1 },
	{ "ns", 1000 },
	{ "us", 1000000 },
	{ "\xc2\xb5s", 1000000 }, /* micro sign */
	{ "\xce\xbcs", 1000000 }, /* Greek mu */
	{ "ms", 1000000000 },
	{ "s", UINT64_C(1000000000000) },
	{ NULL, 0 },
};

static const struct unit rate_units[] = {
	{ "bps", 1 },
	{ "b/s", 1 },
	{ "kbps", 1000 },
	{ "kb/s", 1000 },
	{ "Mbps", 1000000 },
	{ "Mb/s", 1000000 },
	{ "M", 1000000 },
	{ "Gbps", 1000000000 },
	{ "Gb/s", 1000000000 },
	{ "G", 1000000000 },
	{ "Tbps", UINT64_C(1000000000000) },
	{ "Tb/s", UINT64_C(1000000000000) },
	{ "T", UINT64_C(1000000000000) },
	{ NULL, 0 },
};

static const struct unit length_units[] = {
	{ "mm", 1 }, { "cm", 10 }, { "m", 1000 }, { "km", 1000000 }, { NULL, 0 },
};

static const struct kind kinds[] = {
	[WF_PARAM_BOOL] = { "a switch", "true or false", "write true or false", no_units },
	[WF_PARAM_U32] = { "a whole number", "number", "write it in digits, e.g. 10", no_units },
	[WF_PARAM_U64] = { "a whole number", "number", "write it in digits, e.g. 10", no_units },
	[WF_PARAM_BYTES] = { "a size", "bytes",
	                     "write it with B, KB, MB, GB, KiB, MiB or GiB, e.g. 64KB",
	                     byte_units },
	[WF_PARAM_TIME] = { "a time", "time", "write it with ps, ns, us, ms or s, e.g. 10us",
	                    time_units },
	[WF_PARAM_RATE] = { "a rate", "bits/s",
	                    "write it with bps, kbps, Mbps, Gbps or Tbps, e.g. 400Gbps",
	                    rate_units },
	[WF_PARAM_LENGTH] = { "a length", "length", "write it with mm, cm, m or km, e.g. 5m",
	                      length_units },
	[WF_PARAM_PROB] = { "a probability", "probability",
	                    "write it from 0 to 1 or in per cent, e.g. 0.01 or 1%", no_units },
	[WF_PARAM_BER] = { "a bit error rate", "errors per bit", "write it from 0 to 1, e.g. 1e-12",
	                   no_units },
	[WF_PARAM_RATIO] = { "a ratio", "ratio", "write it as 0.125, 1/8, 2:1 or 80%", no_units },
	[WF_PARAM_TEXT] = { "a text", "text", "", no_units },
	[WF_PARAM_NAME] = { "a name", "name", "", no_units },
};

_Static_assert(WF_ARRAY_SIZE(kinds) == WF_PARAM_KINDS, "describe every kind");

/* ---- numbers ---- */

/* Appends a digit; false when the number gets too long. */
static bool add_digit(struct decimal *d, unsigned digit)
{
	if (d->m > (UINT64_MAX - digit) / 10)
		return false;
	d->m = d->m * 10 + digit;
	return true;
}

/*
 * Reads the decimal number at *text_p and moves *text_p behind it. Returns 0, -EINVAL when there is
 * none, or -E2BIG when it has more than the 19 digits that are kept.
 */
static int read_decimal(const char **text_p, struct decimal *d)
{
	const char *p = *text_p;
	bool point = false, any = false;
	int zeros = 0; /* that count only if another digit follows */

	*d = (struct decimal){ 0 };
	for (;; p++) {
		if (*p == '.' && !point) {
			point = true;
			continue;
		}
		if (*p < '0' || *p > '9')
			break;
		any = true;
		d->exp -= point;
		if (*p == '0') {
			zeros++;
			continue;
		}
		for (; zeros > 0 && d->m != 0; zeros--) {
			if (!add_digit(d, 0))
				return -E2BIG;
		}
		zeros = 0;
		if (!add_digit(d, (unsigned)(*p - '0')))
			return -E2BIG;
	}
	if (!any)
		return -EINVAL;
	d->exp += zeros;
	*text_p = p;
	return 0;
}

/* Reads an exponent, "e-12", where there is one. A unit never begins with "e". */
static int read_exponent(const char **text_p, struct decimal *d)
{
	const char *p = *text_p;
	bool minus = false;
	int e = 0;

	if (*p != 'e' && *p != 'E')
		return 0;
	p++;
	if (*p == '-' || *p == '+')
		minus = *p++ == '-';
	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (e < 100000)
			e = e * 10 + (*p - '0');
	}
	d->exp += minus ? -e : e;
	*text_p = p;
	return 0;
}

static int read_number(const char **text_p, struct decimal *d)
{
	int rc = read_decimal(text_p, d);

	return rc != 0 ? rc : read_exponent(text_p, d);
}

/* *x times 10^n; false when it does not fit. */
static bool times_ten(u128 *x, int n)
{
	const u128 limit = ~(u128)0 / 10;

	if (*x == 0)
		return true;
	for (; n > 0; n--) {
		if (*x > limit)
			return false;
		*x *= 10;
	}
	return true;
}

/*
 * num * 10^exp / den. Returns 0; -ERANGE when it does not fit into *out; -EDOM when exact is wanted
 * and it is no whole number, or when it is not zero but would be rounded to it. *out is then what
 * it is rounded to.
 */
static int scale(u128 num, int exp, u128 den, bool exact, uint64_t *out)
{
	u128 q;

	*out = 0;
	if (num == 0)
		return 0;
	if (exp > 0 && !times_ten(&num, exp))
		return -ERANGE;
	if (exp < 0 && !times_ten(&den, -exp))
		return -EDOM;
	q = num / den;
	if (exact && num % den != 0)
		return -EDOM;
	if (!exact && num % den >= den - den / 2)
		q++;
	if (q > UINT64_MAX)
		return -ERANGE;
	*out = (uint64_t)q;
	return q == 0 ? -EDOM : 0;
}

static const char *skip_blanks(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

/* A number with one of the kind's units: "10us". */
static int parse_units(const struct unit *units, const char *text, uint64_t *v)
{
	struct decimal d;
	int rc = read_number(&text, &d);

	if (rc != 0)
		return rc;
	text = skip_blanks(text);
	if (d.m == 0 && *text == '\0') { /* zero needs no unit */
		*v = 0;
		return 0;
	}
	for (; units->name != NULL; units++) {
		if (strcmp(units->name, text) == 0)
			return scale((u128)d.m * units->scale, d.exp, 1, true, v);
	}
	return -EINVAL;
}

/* A share, "0.01", "1%" or "1e-12", as a multiple of 1/one. */
static int parse_share(uint64_t one, const char *text, uint64_t *v)
{
	struct decimal d;
	int rc = read_number(&text, &d);

	if (rc != 0)
		return rc;
	text = skip_blanks(text);
	if (*text == '%') {
		d.exp -= 2;
		text++;
	}
	if (*text != '\0')
		return -EINVAL;
	return scale((u128)d.m * one, d.exp, 1, false, v);
}

/* "0.125", "1/8", "2:1", "80%" */
static int parse_ratio(const char *text, uint64_t *v)
{
	struct decimal a, b = { .m = 1 };
	int rc = read_number(&text, &a);

	if (rc != 0)
		return rc;
	if (*text == '/' || *text == ':') {
		text++;
		rc = read_number(&text, &b);
		if (rc != 0)
			return rc;
	} else if (*text == '%') {
		text++;
		a.exp -= 2;
	}
	if (*text != '\0' || b.m == 0)
		return -EINVAL;
	return scale((u128)a.m * WF_RATIO_ONE, a.exp - b.exp, b.m, false, v);
}

static int parse_bool(const char *text, uint64_t *v)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };

	for (size_t i = 0; i < WF_ARRAY_SIZE(words); i++) {
		if (strcmp(words[i], text) == 0) {
			*v = i & 1;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_number(enum wf_param_kind kind, const char *text, uint64_t *v)
{
	switch (kind) {
	case WF_PARAM_BOOL:
		return parse_bool(text, v);
	case WF_PARAM_U32:
	case WF_PARAM_U64:
	case WF_PARAM_BYTES:
	case WF_PARAM_TIME:
	case WF_PARAM_RATE:
	case WF_PARAM_LENGTH:
		return parse_units(kinds[kind].units, text, v);
	case WF_PARAM_PROB:
		return parse_share(WF_PROB_ONE, text, v);
	case WF_PARAM_BER:
		return parse_share(BER_ONE, text, v);
	case WF_PARAM_RATIO:
		return parse_ratio(text, v);
	case WF_PARAM_TEXT:
	case WF_PARAM_NAME:
	case WF_PARAM_KINDS:
		break;
	}
	return -EINVAL;
}

/* ---- writing ---- */

/* v / one as the shortest decimal that reads back as v. */
static void format_share(uint64_t v, uint64_t one, char *buf, size_t size)
{
	uint64_t ten = 1, whole = v / one;
	u128 rest = v % one, digits;
	int n = 0, len;

	for (;; n++, ten *= 10) {
		digits = (rest * ten + one / 2) / one;
		if ((digits * one + ten / 2) / ten == rest && digits < ten)
			break;
		assert(n < 18);
	}
	if (rest == 0)
		n = 0;
	len = snprintf(buf, size, "%llu", (unsigned long long)whole);
	if (n > 0 && len >= 0 && (size_t)len < size)
		snprintf(buf + len, size - (size_t)len, ".%0*llu", n, (unsigned long long)digits);
}

/* v * 10^exp with the exponent written out: "1e-12". */
static void format_exponent(uint64_t v, int exp, char *buf, size_t size)
{
	for (; v != 0 && v % 10 == 0; v /= 10)
		exp++;
	if (v == 0 || exp == 0)
		snprintf(buf, size, "%llu", (unsigned long long)v);
	else
		snprintf(buf, size, "%llue%d", (unsigned long long)v, exp);
}

/* With the largest of the units (ascending, powers of ten) that is not above v: "1.5us". */
static void format_decimal(uint64_t v, const struct unit *units, size_t n, char *buf, size_t size)
{
	const struct unit *best = &units[0];
	uint64_t rest;
	int digits = 0, len;

	for (size_t i = 1; i < n; i++) {
		if (v >= units[i].scale)
			best = &units[i];
	}
	len = snprintf(buf, size, "%llu", (unsigned long long)(v / best->scale));
	rest = v % best->scale;
	if (rest != 0) {
		for (uint64_t s = best->scale; s > 1; s /= 10)
			digits++;
		for (; rest % 10 == 0; rest /= 10)
			digits--;
		len += snprintf(buf + len, size - (size_t)len, ".%0*llu", digits,
		                (unsigned long long)rest);
	}
	snprintf(buf + len, size - (size_t)len, "%s", best->name);
}

static void format_bytes(uint64_t v, char *buf, size_t size)
{
	static const struct unit steps[] = {
		{ "GB", 1000000000 },
		{ "MB", 1000000 },
		{ "KB", 1000 },
		{ "GiB", UINT64_C(1) << 30 },
		{ "MiB", UINT64_C(1) << 20 },
		{ "KiB", UINT64_C(1) << 10 },
		{ "B", 1 },
	};
	size_t i = 0;

	while (i < WF_ARRAY_SIZE(steps) - 1 && (v == 0 || v % steps[i].scale != 0))
		i++;
	snprintf(buf, size, "%llu%s", (unsigned long long)(v / steps[i].scale), steps[i].name);
}

static void format_number(enum wf_param_kind kind, uint64_t v, char *buf, size_t size)
{
	static const struct unit times[] = {
		{ "ps", 1 },
		{ "ns", 1000 },
		{ "us", 1000000 },
		{ "ms", 1000000000 },
		{ "s", UINT64_C(1000000000000) },
	};
	static const struct unit rates[] = {
		{ "bps", 1 },
		{ "kbps", 1000 },
		{ "Mbps", 1000000 },
		{ "Gbps", 1000000000 },
		{ "Tbps", UINT64_C(1000000000000) },
	};
	static const struct unit lengths[] = { { "mm", 1 }, { "m", 1000 }, { "km", 1000000 } };
	char text[64];

	switch (kind) {
	case WF_PARAM_BOOL:
		snprintf(text, sizeof(text), "%s", v != 0 ? "true" : "false");
		break;
	case WF_PARAM_BYTES:
		format_bytes(v, text, sizeof(text));
		break;
	case WF_PARAM_TIME:
		format_decimal(v, times, WF_ARRAY_SIZE(times), text, sizeof(text));
		break;
	case WF_PARAM_RATE:
		format_decimal(v, rates, WF_ARRAY_SIZE(rates), text, sizeof(text));
		break;
	case WF_PARAM_LENGTH:
		format_decimal(v, lengths, WF_ARRAY_SIZE(lengths), text, sizeof(text));
		break;
	case WF_PARAM_PROB:
		format_share(v, WF_PROB_ONE, text, sizeof(text));
		break;
	case WF_PARAM_BER:
		format_exponent(v, -18, text, sizeof(text));
		break;
	case WF_PARAM_RATIO:
		format_share(v, WF_RATIO_ONE, text, sizeof(text));
		break;
	case WF_PARAM_U32:
	case WF_PARAM_U64:
	case WF_PARAM_TEXT:
	case WF_PARAM_NAME:
	case WF_PARAM_KINDS:
		snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
		break;
	}
	snprintf(buf, size, "%s", text);
}

/* ---- fields ---- */

static void store(const struct wf_param *row, void *config, uint64_t v)
{
	void *field = (char *)config + row->offset;
	uint32_t v32 = (uint32_t)v;
	bool on = v != 0;

	if (row->kind == WF_PARAM_BOOL) {
		assert(row->size == sizeof(on));
		memcpy(field, &on, sizeof(on));
	} else if (row->kind == WF_PARAM_U32) {
		assert(row->size == sizeof(v32) && v <= UINT32_MAX);
		memcpy(field, &v32, sizeof(v32));
	} else {
		assert(row->size == sizeof(v));
		memcpy(field, &v, sizeof(v));
	}
}

static uint64_t load(const struct wf_param *row, const void *config)
{
	const void *field = (const char *)config + row->offset;
	uint64_t v;
	uint32_t v32;
	bool on;

	if (row->kind == WF_PARAM_BOOL) {
		memcpy(&on, field, sizeof(on));
		return on;
	}
	if (row->kind == WF_PARAM_U32) {
		memcpy(&v32, field, sizeof(v32));
		return v32;
	}
	memcpy(&v, field, sizeof(v));
	return v;
}

static int set_text(const struct wf_param *row, void *config, const char *text, struct wf_err *err)
{
	size_t len = strlen(text);

	if (len >= row->size)
		return wf_err_say(err, "\"%.*s...\" has %zu characters; at most %zu are allowed",
		                  SHOWN / 2, text, len, row->size - 1);
	memset((char *)config + row->offset, 0, row->size);
	memcpy((char *)config + row->offset, text, len);
	return 0;
}

static int set_name(const struct wf_param *row, void *config, const char *text, struct wf_err *err)
{
	char list[256] = "";
	size_t at = 0;

	for (const char *const *name = row->names; *name != NULL; name++) {
		if (strcmp(*name, text) == 0)
			return set_text(row, config, text, err);
		if (at < sizeof(list))
			at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s",
			                       at == 0           ? ""
			                       : name[1] == NULL ? " or "
			                                         : ", ",
			                       *name);
	}
	return wf_err_say(err, "\"%.*s\" is not known; write %s", SHOWN, text, list);
}

static int out_of_range(const struct wf_param *row, const char *text, struct wf_err *err)
{
	char min[64], max[64];

	format_number(row->kind, (uint64_t)row->min, min, sizeof(min));
	format_number(row->kind, (uint64_t)row->max, max, sizeof(max));
	return wf_err_say(err, "\"%.*s\" is out of range; it may be %s to %s%s", SHOWN, text, min,
	                  max, row->has_auto ? ", or auto" : "");
}

static int set_number(const struct wf_param *row, void *config, const char *text,
                      struct wf_err *err)
{
	const struct kind *kind = &kinds[row->kind];
	uint64_t v = 0;
	int rc = parse_number(row->kind, text, &v);

	if (rc == -ERANGE)
		return out_of_range(row, text, err);
	if (rc == -E2BIG)
		return wf_err_say(err, "\"%.*s\" has too many digits; 19 are read", SHOWN, text);
	if (rc == -EDOM) {
		char least[64];

		format_number(row->kind, 1, least, sizeof(least));
		return wf_err_say(err, "\"%.*s\" is too fine; the smallest step is %s", SHOWN, text,
		                  least);
	}
	if (rc != 0)
		return wf_err_say(err, "\"%.*s\" is not %s; %s%s", SHOWN, text, kind->what,
		                  kind->right, row->has_auto ? ", or auto" : "");
	if (row->kind != WF_PARAM_BOOL &&
	    (v > INT64_MAX || (int64_t)v < row->min || (int64_t)v > row->max ||
	     (row->has_auto && v == WF_PARAM_AUTO)))
		return out_of_range(row, text, err);
	store(row, config, v);
	return 0;
}

int wf_param_set(const struct wf_param *row, void *config, const char *text, struct wf_err *err)
{
	if (row->kind == WF_PARAM_TEXT && row->check != NULL && row->check(text, err) != 0)
		return -EINVAL;
	if (row->kind == WF_PARAM_TEXT)
		return set_text(row, config, text, err);
	if (row->kind == WF_PARAM_NAME)
		return set_name(row, config, text, err);
	if (row->has_auto && strcmp(text, "auto") == 0) {
		store(row, config, WF_PARAM_AUTO);
		return 0;
	}
	return set_number(row, config, text, err);
}

void wf_param_format(const struct wf_param *row, const void *config, char *buf, size_t size)
{
	uint64_t v;

	if (row->kind == WF_PARAM_TEXT || row->kind == WF_PARAM_NAME) {
		snprintf(buf, size, "%s", (const char *)config + row->offset);
		return;
	}
	v = load(row, config);
	if (row->has_auto && v == WF_PARAM_AUTO)
		snprintf(buf, size, "auto");
	else
		format_number(row->kind, v, buf, size);
}

int wf_param_defaults(const struct wf_param *table, size_t n, void *config, struct wf_err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct wf_err why = { "" };

		if (wf_param_set(&table[i], config, table[i].def, &why) != 0)
			return wf_err_say(err, "the default of %s: %s", table[i].name, why.text);
	}
	return 0;
}

const struct wf_param *wf_param_find(const struct wf_param *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	}
	return NULL;
}

const char *wf_param_unit(enum wf_param_kind kind)
{
	assert((size_t)kind < WF_ARRAY_SIZE(kinds));
	return kinds[kind].unit;
}
