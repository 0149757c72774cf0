/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stale.h - runs that a results file has and that are done anew, since what went into them has
 * changed: counted by an example of what did.
 */
#ifndef WF_STUDY_STALE_H
#define WF_STUDY_STALE_H

#include <stddef.h>
#include <stdint.h>

#define WF_STALE_MAX 8
#define WF_STALE_TEXT 64

struct wf_record;
struct wf_record_head;

struct wf_stale {
	struct {
		char what[WF_STALE_TEXT]; /* "an older roce-400g.yaml" */
		size_t runs;
	} of[WF_STALE_MAX]; /* the last one counts for all that have no place of their own */
	unsigned n;
};

/* Looks for a run of head that is up to date: its number, or -1. One that is not is counted. */
int64_t wf_stale_find(struct wf_stale *stale, struct wf_record *record,
                      const struct wf_record_head *head);

#endif
