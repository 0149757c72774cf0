/* SPDX-License-Identifier: Apache-2.0 */
/* json_walk.h - goes through a text in JSON, value by value. */
#ifndef WF_EVIDENCE_JSON_WALK_H
#define WF_EVIDENCE_JSON_WALK_H

#include <stdbool.h>

#include "base/err.h"

#define WF_JSON_DEPTH 32

/* As it stands in the text: of what is quoted without the quotes, escapes as they are. */
struct wf_slice {
	const char *at;
	size_t len;
};

/* A value that holds no others, and the way to it: keys, of which those in lists are empty. */
struct wf_json_value {
	struct wf_slice key[WF_JSON_DEPTH];
	unsigned depth;
	struct wf_slice value;
	bool quoted;
	unsigned line, column;
};

/* Returns 0, or -errno to stop. */
typedef int wf_json_value_fn(void *arg, const struct wf_json_value *value);

/*
 * Calls fn for each value. name is for messages. Returns 0, what fn returned, or -EINVAL with err
 * filled: it is no JSON, or deeper than WF_JSON_DEPTH.
 */
int wf_json_walk(const char *text, size_t len, const char *name, wf_json_value_fn *fn, void *arg,
                 struct wf_err *err) WF_MUST_USE;

bool wf_slice_is(struct wf_slice slice, const char *text);
bool wf_slice_starts(struct wf_slice slice, const char *text);

#endif
