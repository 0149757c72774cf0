/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - a file of keys and values as a tree whose nodes know their lines: JSON, the part of YAML
 * that configurations are written in, and the commands of NVUE, which say the same as both.
 *
 * Nodes and their texts are in the arena's memory and go with it. Two equal keys of one mapping are
 * an error, and so is what is cut off; depth and number of nodes are bounded.
 */
#ifndef WF_NETCONF_TREE_H
#define WF_NETCONF_TREE_H

#include "base/err.h"
#include "base/mem.h"

#define WF_TREE_MAX_DEPTH 32
#define WF_TREE_MAX_NODES 4000000

enum wf_tree_kind { WF_TREE_VALUE, WF_TREE_LIST, WF_TREE_MAP };

struct wf_tree {
	enum wf_tree_kind kind;
	uint32_t line;          /* of the key, or of an item of a list; from 1 */
	const char *key;        /* of a value in a mapping; NULL in a list */
	const char *text;       /* value: as a text; "null", "true", "12" as they are written */
	struct wf_tree *child;  /* list, mapping: the first */
	struct wf_tree *last;   /* list, mapping: the last */
	struct wf_tree *next;   /* of the same parent */
	struct wf_tree *parent; /* NULL at the top */
};

/* Each returns 0, -EINVAL with err filled, or -ENOMEM. name, for messages, is borrowed. */
int wf_tree_read_json(const char *text, size_t len, const char *name, struct wf_arena *arena,
                      struct wf_tree **root_p, struct wf_err *err) WF_MUST_USE;
int wf_tree_read_yaml(const char *text, size_t len, const char *name, struct wf_arena *arena,
                      struct wf_tree **root_p, struct wf_err *err) WF_MUST_USE;

/* The value of key in a mapping; NULL where there is none, or where map is NULL or no mapping. */
struct wf_tree *wf_tree_get(const struct wf_tree *map, const char *key);

/* The text of that value where it is one; else NULL. */
const char *wf_tree_text(const struct wf_tree *map, const char *key);

/* ---- for those who make trees ---- */

struct wf_tree_maker {
	struct wf_arena *arena;
	const char *name; /* of the file */
	struct wf_err *err;
	size_t n; /* nodes */
	/* The nodes by parent and key, for finding twins: a table of size slots. */
	struct wf_tree **slots;
	size_t size, used;
};

/*
 * A new last child of parent (NULL: it is the top), of length key_len key, which is copied; key
 * NULL in lists. *node_p: the node. Returns 0, -EINVAL with err filled where there is such a key,
 * or too many nodes, or -ENOMEM.
 */
int wf_tree_add(struct wf_tree_maker *maker, struct wf_tree *parent, enum wf_tree_kind kind,
                const char *key, size_t key_len, uint32_t line,
                struct wf_tree **node_p) WF_MUST_USE;

/* The child of parent that has this key, or NULL; in no more steps than a table takes. */
struct wf_tree *wf_tree_find(const struct wf_tree_maker *maker, const struct wf_tree *parent,
                             const char *key, size_t key_len);

/* Copies a text; NULL without memory. */
char *wf_tree_copy(struct wf_arena *arena, const char *text, size_t len) WF_MUST_USE;

#endif
