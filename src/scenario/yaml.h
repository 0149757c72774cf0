/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml.h - a YAML file as a small tree whose nodes know where they stand.
 *
 * What is read is the part of YAML that configuration needs: one document of mappings, sequences
 * and scalars. Anchors, aliases, tags and several documents are errors, and so are two equal keys;
 * depth and size are bounded. Nobody else knows which library reads the text.
 */
#ifndef WF_SCENARIO_YAML_H
#define WF_SCENARIO_YAML_H

#include "base/err.h"
#include "base/mem.h"

#define WF_YAML_MAX_DEPTH 32
#define WF_YAML_MAX_BYTES ((size_t)1 << 20) /* the time to read some texts grows with the square */
#define WF_YAML_MAX_NODES 200000
#define WF_YAML_MAX_KEYS 1000 /* of one mapping */

enum wf_ynode_kind { WF_YNODE_SCALAR, WF_YNODE_SEQUENCE, WF_YNODE_MAPPING };

struct wf_ynode {
	enum wf_ynode_kind kind;
	unsigned line, column;  /* from 1 */
	const char *file;       /* name for messages */
	const char *text;       /* scalar: its text */
	struct wf_ynode *key;   /* value in a mapping: its key, a scalar */
	struct wf_ynode *child; /* sequence, mapping: the first item or value */
	struct wf_ynode *next;  /* the next item or value of the parent */
	struct wf_ynode *last;  /* sequence, mapping: the last child */
	unsigned n;             /* sequence, mapping: children */
};

/*
 * Reads len bytes of text. Nodes and their texts are in arena's memory; name, for messages, is
 * copied there too. Returns 0, -EINVAL with err filled, or -ENOMEM. An empty text is an error.
 */
int wf_yaml_parse(const char *text, size_t len, const char *name, struct wf_arena *arena,
                  struct wf_ynode **root_p, struct wf_err *err) WF_MUST_USE;

/* The value of key in a mapping, or NULL. */
struct wf_ynode *wf_ynode_get(const struct wf_ynode *mapping, const char *key);

/* "a mapping", "a list", "a value" */
const char *wf_ynode_kind_name(enum wf_ynode_kind kind);

/* An error at the node's place (its value). Always returns -EINVAL. */
int wf_ynode_err(const struct wf_ynode *node, struct wf_err *err, const char *fmt, ...)
	WF_PRINTF(3, 4);

/* Copies a string into the arena; NULL without memory. */
char *wf_arena_strdup(struct wf_arena *arena, const char *text, size_t len) WF_MUST_USE;

#endif
