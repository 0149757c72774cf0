/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_find.h - goes on with a study that a results file has, and reads what its runs came to.
 *
 *	wf_record_open ── wf_record_resume ── wf_record_find: there? ── wf_record_read…
 *	                                          └─ not: wf_record_begin … wf_record_end
 */
#ifndef WF_RESULTS_RECORD_FIND_H
#define WF_RESULTS_RECORD_FIND_H

#include "results/record.h"

/*
 * Takes up the newest study of the record's kind that is of the same scenario (its text) and
 * overrides: the runs that follow belong to it. Its runs that did not
 * finish and its words of the whole study are taken away, for they are made again. Where there is
 * no such study a new one begins with the first run, called name. Comes before the first run.
 * Returns 0, -EIO with err filled, or -ENOMEM.
 */
int wf_record_resume(struct wf_record *record, const char *name, const char *scenario,
                     const char *overrides, struct wf_err *err) WF_MUST_USE;

/*
 * The newest run of the record's study that finished, with the digest, overrides, fabric, place,
 * point and seed of head, of this build of weft. Returns its number, or -1: there is none.
 */
int64_t wf_record_find(struct wf_record *record, const struct wf_record_head *head);

/*
 * Where there is none: whether there is one that something else went into, and in what an example
 * of what is other than it was: "an older roce-400g.yaml", "another build of weft". A run of head
 * that finishes takes its place.
 */
bool wf_record_stale(struct wf_record *record, const struct wf_record_head *head, char *what,
                     size_t size);

/* A number among the values of a run, by its name. False: it has none. */
bool wf_record_read(struct wf_record *record, int64_t run, const char *name, double *value,
                    char *unit, size_t size);

/* A text among them; what does not fit is cut off. False: it has none, and text is "". */
bool wf_record_read_text(struct wf_record *record, int64_t run, const char *name, char *text,
                         size_t size);

/* Each point of a run's bandwidth curves, by collective, algorithm and size; texts are lent. */
typedef void wf_record_bandwidth_fn(void *arg, const struct wf_record_bandwidth *point);
void wf_record_read_bandwidth(struct wf_record *record, int64_t run, wf_record_bandwidth_fn *fn,
                              void *arg);

/* Each note of a run, in its order; rule may be NULL, texts are lent. */
typedef void wf_record_note_fn(void *arg, const char *kind, const char *rule, const char *text);
void wf_record_read_notes(struct wf_record *record, int64_t run, wf_record_note_fn *fn, void *arg);

#endif
