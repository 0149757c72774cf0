/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - writes JSON, key by key, in the order of the calls. Whether it could be written is asked
 * of the file at the end.
 */
#ifndef WF_TEXT_JSON_H
#define WF_TEXT_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"

#define WF_JSON_MAX_DEPTH 16

struct wf_json {
	FILE *file;
	unsigned depth;
	unsigned flat; /* what is deeper than this stands on one line; 0: nothing does */
	bool used[WF_JSON_MAX_DEPTH]; /* something is written at that depth */
};

/* Starts an empty text to file. */
void wf_json_init(struct wf_json *json, FILE *file);

/*
 * Opens the object that is the whole of a document, and says in its first two keys which schema it
 * follows ("weft.run/1": schemas/weft.run.1.schema.json) and which weft wrote it. All that weft
 * prints as JSON begins so; docs/json.md says when a version is raised. The caller closes it.
 */
void wf_json_document(struct wf_json *json, const char *schema, unsigned version);

/* Opens an object or a list; key is NULL in a list and at the top. */
void wf_json_open(struct wf_json *json, const char *key, char bracket);

/* Closes what was opened with '{' or '['; with the last one the line ends. */
void wf_json_close(struct wf_json *json, char bracket);

/* Values; key is NULL in a list. */
void wf_json_text(struct wf_json *json, const char *key, const char *text);
void wf_json_u64(struct wf_json *json, const char *key, uint64_t v);
void wf_json_bool(struct wf_json *json, const char *key, bool v);
void wf_json_null(struct wf_json *json, const char *key);

/* v / 10^digits, exactly. */
void wf_json_decimal(struct wf_json *json, const char *key, int64_t v, unsigned digits);

/* A number in as few digits as say which it is; null when it is not finite. */
void wf_json_real(struct wf_json *json, const char *key, double v);

/* part / whole with six decimals; null when whole is 0. */
void wf_json_ratio(struct wf_json *json, const char *key, uint64_t part, uint64_t whole);

#endif
