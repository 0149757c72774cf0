/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - a results file as one HTML page that stands alone.
 *
 * The page is a template, made from web/ when weft is built, with three places to fill: its title,
 * a JSON text, and the samples of the ports. The latter two are deflated and in base64, so nothing
 * that a scenario says can be taken for markup. The JSON text has
 *
 *	file, study  where it comes from
 *	tables       of the study, by name: the names of the columns and all cells, row after row;
 *	             what each has is the query of that name in page.c
 *	rank_step    the spans are those of every so many-th rank
 *	series       for each run: how many intervals there are (n), when they begin and end
 *	             (times_ps, n + 1 times; they are not of equal length), and for each quantity
 *	             and queue (null: the whole port) which ports have any, their maximum, and where
 *	             theirs begin among the samples. Where a single queue is all there is to whole
 *	             ports, only says which. A sample is a 16-bit integer, the share, of 65,535, of
 *	             the port's maximum. Port 2i sends from a to b of link i, port 2i + 1 from
 *	             b to a.
 *
 * web/src/data.js reads it.
 */
#ifndef WF_RESULTS_PAGE_H
#define WF_RESULTS_PAGE_H

#include "base/err.h"

struct wf_page_request {
	const char *file; /* the results file; it is only read */
	const char *out;  /* the page; NULL: standard output */
	int64_t study;    /* which study of the file; 0: the last */
};

/*
 * Writes the page; it appears whole or not at all. Runs that are not over are shown as far as they
 * are. Returns 0, -EINVAL with err filled (not a results file, a damaged one, nothing in it, no
 * such study, or out is no place to write to), -EIO with err filled (it cannot be read or written),
 * -ENOTSUP with err filled (this weft was built without the page), or -ENOMEM.
 */
int wf_page_write(const struct wf_page_request *request, struct wf_err *err) WF_MUST_USE;

/* Told of a line of text. */
typedef void wf_page_warning_fn(void *arg, const char *text);

/*
 * Tells what a reader of the page ought to know: that the study's runs are of several builds of
 * weft, or of files that were edited between them or have been since. Returns as wf_page_write().
 */
int wf_page_warnings(const struct wf_page_request *request, wf_page_warning_fn *fn, void *arg,
                     struct wf_err *err) WF_MUST_USE;

#endif
