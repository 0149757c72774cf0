/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axis.h - a parameter and the values it takes in a sweep: "fabric.ecn.kmin=50KB..800KB".
 *
 *	a,b,c      these values, as they are written
 *	A..B       A, twice A, and so on, up to B
 *	A..B*F     the same with another factor than 2
 *	A..B+S     A, A + S, and so on, up to B
 *
 * A and B are numbers with a unit, which A may leave to B; lists may hold ranges.
 */
#ifndef WF_STUDY_AXIS_H
#define WF_STUDY_AXIS_H

#include "base/err.h"

#define WF_AXIS_MAX 1000 /* values */
#define WF_AXIS_NAME 128
#define WF_AXIS_VALUE 64

struct wf_axis {
	char name[WF_AXIS_NAME];
	unsigned n;
	char value[WF_AXIS_MAX][WF_AXIS_VALUE];
};

/* Reads NAME=VALUES. Returns 0 or -EINVAL with err filled. */
int wf_axis_parse(struct wf_axis *axis, const char *text, struct wf_err *err) WF_MUST_USE;

#endif
