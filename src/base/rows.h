/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - short tables in a parameter's text: rows with commas between them, each of one or
 * several fields with colons between them ("3,4", "0:50,3:50", "100Gbps:400KB:1600KB:0.2").
 */
#ifndef WF_BASE_ROWS_H
#define WF_BASE_ROWS_H

#include "base/err.h"
#include "base/param.h"

struct wf_rows {
	const char *name;              /* of the parameter, for messages; NULL: they leave it out */
	const char *what;              /* "a list of priorities", for messages */
	const char *example;           /* how to write it */
	const struct wf_param *fields; /* of a row, in their order */
	unsigned n_fields;
	unsigned
		n_optional; /* so many fields may be left out, from the first on: they are 0 then */
	size_t size;        /* of a row's struct */
	unsigned max;       /* rows */
};

/*
 * Reads text into rows, which have room for table->max; *n_p: how many there are, 0 of an empty
 * text. Returns 0, or -EINVAL with a message in err that says which row is wrong.
 */
int wf_rows_parse(const struct wf_rows *table, const char *text, void *rows, unsigned *n_p,
                  struct wf_err *err) WF_MUST_USE;

#endif
