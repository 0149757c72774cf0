/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - a configuration struct, its table of parameters, and where each value came from.
 *
 * Values come from a mapping in a file (nested or dotted names), from another file over it, or from
 * the command line; the last one counts. Because every value remembers its place, a check that
 * fails long after reading can still point at the line to change.
 */
#ifndef WF_SCENARIO_SETTINGS_H
#define WF_SCENARIO_SETTINGS_H

#include "base/param.h"
#include "scenario/yaml.h"

/* Where something was written. */
struct wf_place {
	const char *file; /* NULL: nowhere, it is a default */
	unsigned line, column;
	unsigned order; /* later is larger */
};

struct wf_settings {
	const struct wf_param *table;
	size_t n;
	void *config;
	struct wf_place *place; /* of each row */
	unsigned order;
	const char *what; /* "fabric": how --set and messages call it; "" for none */
};

/*
 * Sets config, which table of n rows describes, to its defaults. Places live in arena. Returns 0,
 * -ENOMEM, or -EINVAL with err filled for a mistake in the table.
 */
int wf_settings_init(struct wf_settings *s, const char *what, const struct wf_param *table,
                     size_t n, void *config, struct wf_arena *arena,
                     struct wf_err *err) WF_MUST_USE;

/*
 * Takes all values of a mapping. others, ended by NULL, are keys that somebody else reads. Returns
 * 0 or -EINVAL with err filled.
 */
int wf_settings_apply(struct wf_settings *s, const struct wf_ynode *mapping,
                      const char *const *others, struct wf_err *err) WF_MUST_USE;

/*
 * Takes one value by its dotted name, written at place. Returns 0 or -EINVAL with err filled.
 */
int wf_settings_set(struct wf_settings *s, const char *name, const char *text,
                    const struct wf_place *place, struct wf_err *err) WF_MUST_USE;

/* The place of the parameter called name, or fallback where it has none. */
struct wf_place wf_settings_place(const struct wf_settings *s, const char *name,
                                  const struct wf_place *fallback);

/*
 * Puts a place before a message of the form "<parameter>: <text>": that of the parameter, or of one
 * that the text names if it was written later, or fallback. Always returns -EINVAL.
 */
int wf_settings_err(const struct wf_settings *s, const struct wf_place *fallback,
                    const struct wf_err *why, struct wf_err *err);

/* The place of a node. */
struct wf_place wf_place_of(const struct wf_ynode *node);

/* An error at a place. Always returns -EINVAL. */
int wf_place_err(const struct wf_place *place, struct wf_err *err, const char *fmt, ...)
	WF_PRINTF(3, 4);

#endif
