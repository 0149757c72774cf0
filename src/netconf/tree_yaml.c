/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_yaml.c - the YAML of configurations as a tree: blocks of mappings and lists, plain and
 * quoted values, {} and lists of plain values in brackets. What else YAML has is an error with its
 * place.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "netconf/tree.h"

/* What a line has; "- a: b" is a dash, and then a: b two columns further on. */
struct part {
	const char *at, *end;
	uint32_t line, indent;
	bool dash;
};

struct reader {
	const char *next, *end; /* of the text: what is not yet seen */
	const char *rest;       /* of this line, behind a dash; NULL: the next line comes */
	const char *line_start, *line_end;
	uint32_t line;
	struct part part;
	bool done; /* there is no part */
	struct wf_tree_maker maker;
};

static int fail(const struct reader *r, const char *what)
{
	return wf_err_at(r->maker.err, r->maker.name, r->part.line, r->part.indent + 1, "%s", what);
}

/* Goes to the next line that has something; where a comment ends it is cut. */
static bool next_line(struct reader *r)
{
	while (r->next < r->end) {
		const char *stop = memchr(r->next, '\n', (size_t)(r->end - r->next)), *p;
		char quote = '\0';

		r->line_start = r->next;
		r->line_end = stop == NULL ? r->end : stop;
		r->next = stop == NULL ? r->end : stop + 1;
		r->line++;
		for (p = r->line_start; p < r->line_end; p++) {
			if (quote != '\0')
				quote = *p == quote ? '\0' : quote;
			else if ((*p == '"' || *p == '\'') &&
			         (p == r->line_start || strchr(" [,", p[-1]) != NULL))
				quote = *p;
			else if (*p == '#' && (p == r->line_start || p[-1] == ' '))
				break;
		}
		r->line_end = p;
		while (r->line_end > r->line_start &&
		       (r->line_end[-1] == ' ' || r->line_end[-1] == '\r' ||
		        r->line_end[-1] == '\t'))
			r->line_end--;
		for (p = r->line_start; p < r->line_end && *p == ' '; p++)
			;
		if (p == r->line_end ||
		    (p == r->line_start && r->line_end - p == 3 && memcmp(p, "---", 3) == 0))
			continue;
		r->rest = p;
		return true;
	}
	return false;
}

/* Goes to the next part. Tabs before it are no indentation in YAML, and end up in a key. */
static void next_part(struct reader *r)
{
	const char *p;

	if (r->rest == NULL && !next_line(r)) {
		r->done = true;
		r->part = (struct part){ .line = r->line };
		return;
	}
	p = r->rest;
	r->part = (struct part){ .at = p,
		                 .end = r->line_end,
		                 .line = r->line,
		                 .indent = (uint32_t)(p - r->line_start) };
	r->rest = NULL;
	if (*p == '-' && (p + 1 == r->line_end || p[1] == ' ')) {
		r->part.dash = true;
		for (p++; p < r->line_end && *p == ' '; p++)
			;
		r->rest = p < r->line_end ? p : NULL;
	}
}

/* The end of a quoted text that begins at p, behind its last quote; NULL: it has none. */
static const char *quoted_end(const char *p, const char *end)
{
	const char *stop = p + 1 < end ? memchr(p + 1, *p, (size_t)(end - p - 1)) : NULL;

	return stop == NULL ? NULL : stop + 1;
}

/* Finds the key of a part: *end_p behind it, *value_p behind the colon; false: it has none. */
static bool find_key(const struct part *part, const char **end_p, const char **value_p)
{
	const char *p = part->at;

	if (*p == '"' || *p == '\'') {
		p = quoted_end(p, part->end);
		if (p == NULL || p == part->end || *p != ':')
			return false;
	} else {
		while (p < part->end && !(*p == ':' && (p + 1 == part->end || p[1] == ' ')))
			p++;
		if (p == part->end || p == part->at)
			return false;
	}
	*end_p = p;
	for (p++; p < part->end && *p == ' '; p++)
		;
	*value_p = p;
	return true;
}

/* A value without its quotes. */
static int scalar(struct reader *r, struct wf_tree *node, const char *at, const char *end)
{
	bool quoted = at < end && (*at == '"' || *at == '\'');

	if (quoted && quoted_end(at, end) != end)
		return fail(r, "a quote is open, or something follows behind it");
	if (!quoted && at < end && strchr("&*!|>{[%@`", *at) != NULL && *at != '\0')
		return fail(r, "this form of YAML is not read here: plain and quoted values are");
	if (quoted && memchr(at, '\\', (size_t)(end - at)) != NULL)
		return fail(r, "escapes are not read here");
	node->text = wf_tree_copy(r->maker.arena, quoted ? at + 1 : at,
	                          (size_t)(end - at) - (quoted ? 2 : 0));
	return node->text == NULL ? -ENOMEM : 0;
}

/* "[a, b]" */
static int flow_list(struct reader *r, struct wf_tree *list, const char *at, const char *end)
{
	while (at < end) {
		const char *stop, *last;
		struct wf_tree *item = NULL;
		int ret;

		while (at < end && *at == ' ')
			at++;
		stop = at < end && (*at == '"' || *at == '\'') ? quoted_end(at, end) : at;
		if (stop == NULL)
			return fail(r, "a quote is open, or something follows behind it");
		while (stop < end && *stop != ',')
			stop++;
		last = stop;
		while (last > at && last[-1] == ' ')
			last--;
		ret = wf_tree_add(&r->maker, list, WF_TREE_VALUE, NULL, 0, r->part.line, &item);
		if (ret == 0)
			ret = scalar(r, item, at, last);
		if (ret != 0)
			return ret;
		at = stop < end ? stop + 1 : end;
	}
	return 0;
}

/* What stands in the line behind a key or a dash. */
static int inline_value(struct reader *r, struct wf_tree *parent, const char *key, size_t key_len,
                        const char *at, const char *end)
{
	struct wf_tree *node = NULL;
	bool list = end - at >= 2 && *at == '[' && end[-1] == ']';
	bool map = end - at == 2 && memcmp(at, "{}", 2) == 0;
	int ret = wf_tree_add(&r->maker, parent,
	                      map    ? WF_TREE_MAP
	                      : list ? WF_TREE_LIST
	                             : WF_TREE_VALUE,
	                      key, key_len, r->part.line, &node);

	if (ret != 0 || map)
		return ret;
	return list ? flow_list(r, node, at + 1, end - 1) : scalar(r, node, at, end);
}

static int block(struct reader *r, struct wf_tree *parent, const char *key, size_t key_len,
                 uint32_t line, uint32_t least, unsigned depth, struct wf_tree **node_p);

static int block_list(struct reader *r, struct wf_tree *list, unsigned depth)
{
	uint32_t indent = r->part.indent;

	while (!r->done && r->part.indent == indent && r->part.dash) {
		uint32_t line = r->part.line;
		int ret;

		next_part(r);
		ret = block(r, list, NULL, 0, line, indent + 1, depth, NULL);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int block_map(struct reader *r, struct wf_tree *map, unsigned depth)
{
	uint32_t indent = r->part.indent;

	while (!r->done && r->part.indent == indent && !r->part.dash) {
		const struct part part = r->part;
		const char *at = part.at, *end = NULL, *val = NULL;
		size_t len;
		int ret;

		if (!find_key(&part, &end, &val))
			return fail(r, "here should be a key and a colon");
		len = (size_t)(end - at);
		if (*at == '"' || *at == '\'') {
			at++;
			len -= 2;
		}
		if (val < part.end) {
			ret = inline_value(r, map, at, len, val, part.end);
			next_part(r);
		} else {
			next_part(r);
			/* A list may stand as far left as its key. */
			ret = block(r, map, at, len, part.line,
			            !r->done && r->part.dash && r->part.indent == indent
			                    ? indent
			                    : indent + 1,
			            depth, NULL);
		}
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int block(struct reader *r, struct wf_tree *parent, const char *key, size_t key_len,
                 uint32_t line, uint32_t least, unsigned depth, struct wf_tree **node_p)
{
	const char *end = NULL, *val = NULL;
	struct wf_tree *node = NULL;
	enum wf_tree_kind kind;
	uint32_t indent = r->part.indent;
	int ret;

	if (r->done || indent < least) {
		ret = wf_tree_add(&r->maker, parent, WF_TREE_VALUE, key, key_len, line, &node);
		if (ret == 0)
			node->text = "";
		return ret;
	}
	if (depth == WF_TREE_MAX_DEPTH)
		return fail(r, "this is too deep");
	if (!r->part.dash && !find_key(&r->part, &end, &val)) {
		ret = inline_value(r, parent, key, key_len, r->part.at, r->part.end);
		next_part(r);
		return ret;
	}
	kind = r->part.dash ? WF_TREE_LIST : WF_TREE_MAP;
	ret = wf_tree_add(&r->maker, parent, kind, key, key_len, line, &node);
	if (ret == 0)
		ret = kind == WF_TREE_LIST ? block_list(r, node, depth + 1)
		                           : block_map(r, node, depth + 1);
	if (ret != 0)
		return ret;
	if (!r->done && r->part.indent >= least && r->part.indent != indent)
		return fail(r, "this is indented as nothing before it");
	if (!r->done && r->part.indent == indent && r->part.dash != (kind == WF_TREE_LIST) &&
	    (kind == WF_TREE_MAP || parent == NULL || parent->kind == WF_TREE_LIST))
		return fail(r, "a list and keys in one place");
	if (node_p != NULL)
		*node_p = node;
	return 0;
}

int wf_tree_read_yaml(const char *text, size_t len, const char *name, struct wf_arena *arena,
                      struct wf_tree **root_p, struct wf_err *err)
{
	struct reader r = { .next = text,
		            .end = text + len,
		            .maker = { .arena = arena, .name = name, .err = err } };
	struct wf_tree *root = NULL;
	int ret;

	next_part(&r);
	if (r.done)
		return wf_err_at(err, name, 1, 1, "there is nothing in it");
	ret = block(&r, NULL, NULL, 0, 1, 0, 0, &root);
	if (ret != 0)
		return ret;
	if (root == NULL)
		return wf_err_at(err, name, 1, 1, "here should be keys, or a list");
	if (!r.done)
		return fail(&r, "this is indented as nothing before it");
	*root_p = root;
	return 0;
}
