/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_rate.h - short tables in a parameter's text: "rate:value:value, rate:value:value".
 */
#ifndef WF_FABRIC_BY_RATE_H
#define WF_FABRIC_BY_RATE_H

#include "base/err.h"
#include "base/param.h"

struct wf_by_rate {
	const char *name;              /* of the parameter, for messages */
	const char *example;           /* how to write it */
	const struct wf_param *fields; /* of a row, in their order */
	unsigned n_fields;
	size_t size;      /* of a row's struct */
	unsigned max;     /* rows */
	const char *what; /* how messages call rows */
};

/*
 * Reads text into rows, which have room for table->max; *n_p: how many there are. Returns 0, or
 * -EINVAL with a message in err that begins with the parameter's name.
 */
int wf_by_rate_parse(const struct wf_by_rate *table, const char *text, void *rows, unsigned *n_p,
                     struct wf_err *err) WF_MUST_USE;

#endif
