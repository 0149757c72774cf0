/* SPDX-License-Identifier: Apache-2.0 */
/*
 * param.h - every parameter a person can set is a row of a table.
 *
 * A module that takes a configuration declares a plain struct and a table of rows that name each
 * field, its kind, range, default and one line of help. Whoever reads configuration (scenario: YAML
 * and --set) walks the table; whoever prints help walks the same table. A dotted name ("ecn.kmin")
 * is a nested mapping in YAML.
 *
 * The text of a value is "<number><unit>", as people write it:
 *
 *	kind            field      units
 *	WF_PARAM_BOOL   bool       true false yes no on off
 *	WF_PARAM_U32    uint32_t   none
 *	WF_PARAM_U64    uint64_t   none
 *	WF_PARAM_BYTES  uint64_t   B kB KB MB GB (10^3 steps) KiB MiB GiB (2^10 steps)
 *	WF_PARAM_TIME   wf_time    ps ns us ms s
 *	WF_PARAM_RATE   uint64_t   bits/s: bps kbps Mbps Gbps Tbps; also "400G", "25Gb/s"
 *	WF_PARAM_LENGTH uint64_t   millimetres: mm cm m km
 *	WF_PARAM_PROB   uint64_t   units of 2^-32: "0.01", "1%", "1e-6"; 0 to 1
 *	WF_PARAM_BER    uint64_t   units of 10^-18: "1e-12"; 0 to 1
 *	WF_PARAM_RATIO  uint64_t   units of 2^-16: "0.125", "1/8", "2", "2:1", "80%"
 *	WF_PARAM_TEXT   char[n]    any; n from the row
 *	WF_PARAM_NAME   char[n]    one of row->names
 *
 * A number is exact: "0.125us" is 125000 ps, and what is finer than the field's unit ("0.5ps") is
 * an error (a probability or ratio is rounded). "0" needs no unit; bytes need none at all.
 *
 * The range min..max is in the field's own unit, after conversion. The word "auto", where a row
 * allows it (has_auto), stores WF_PARAM_AUTO (in a wf_time or a uint64_t field).
 */
#ifndef WF_BASE_PARAM_H
#define WF_BASE_PARAM_H

#include <stdbool.h>

#include "base/base.h"
#include "base/err.h"

#define WF_PARAM_AUTO INT64_MAX
#define WF_PROB_ONE (UINT64_C(1) << 32)
#define WF_RATIO_ONE (UINT64_C(1) << 16)

enum wf_param_kind {
	WF_PARAM_BOOL,
	WF_PARAM_U32,
	WF_PARAM_U64,
	WF_PARAM_BYTES,
	WF_PARAM_TIME,
	WF_PARAM_RATE,
	WF_PARAM_LENGTH,
	WF_PARAM_PROB,
	WF_PARAM_BER,
	WF_PARAM_RATIO,
	WF_PARAM_TEXT,
	WF_PARAM_NAME,
	WF_PARAM_KINDS
};

struct wf_param {
	const char *name; /* dotted: "ecn.kmin" */
	enum wf_param_kind kind;
	bool has_auto;
	size_t offset; /* of the field in the struct the table is for */
	size_t size;   /* of the field, bytes */
	int64_t min;   /* in the field's unit; not for text and names */
	int64_t max;
	const char *def;          /* text of the default */
	const char *const *names; /* WF_PARAM_NAME: the words allowed, ends with NULL */
	const char *help;         /* one line */
	/* WF_PARAM_TEXT: returns 0, or says in err what is wrong with text; NULL: any is right. */
	int (*check)(const char *text, struct wf_err *err);
	const char
		*instead_of; /* a row that counts in place of this one, unless this is set later */
	unsigned per; /* what may have a value of its own: bits that the table's owner defines */
};

/* Of a row: where its field is in a type, and how large. */
#define WF_PARAM_FIELD(type, field)                                                                \
	.offset = offsetof(type, field), .size = sizeof(((type *)0)->field)

/*
 * Sets every field of *config to its default. Returns 0, or -EINVAL with err filled when a default
 * does not parse (a mistake in the table; a test walks every table).
 */
int wf_param_defaults(const struct wf_param *table, size_t n, void *config,
                      struct wf_err *err) WF_MUST_USE;

/* The row called name, or NULL. */
const struct wf_param *wf_param_find(const struct wf_param *table, size_t n, const char *name);

/*
 * Parses text into row's field of *config. Returns 0, or -EINVAL with a message in err that says
 * what is wrong and what would be right, and does not name a file: the caller puts the place
 * before it.
 */
int wf_param_set(const struct wf_param *row, void *config, const char *text,
                 struct wf_err *err) WF_MUST_USE;

/* Writes the value of row's field as text that wf_param_set() reads back to the same value. */
void wf_param_format(const struct wf_param *row, const void *config, char *buf, size_t size);

/* The unit of a kind for help texts: "bytes", "time", "" … */
const char *wf_param_unit(enum wf_param_kind kind);

#endif
