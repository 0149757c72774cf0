/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_find.h - looks for runs that a results file already has, and reads their values.
 */
#ifndef WF_LAB_RECORD_FIND_H
#define WF_LAB_RECORD_FIND_H

#include "lab/record.h"

/*
 * The newest run that finished, of the same version of weft, on the same scenario, overrides, fabric,
 * point and seed as head. Returns its number, or -1: there is none.
 */
int64_t wf_record_find(struct wf_record *record, const struct wf_record_head *head);

/* A value of a run by its name. False: it has none. */
bool wf_record_read(struct wf_record *record, int64_t run, const char *name, double *value,
                    char *unit, size_t size);

#endif
