/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_json.c - JSON (RFC 8259) as a tree, in one pass.
 */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "netconf/tree.h"
#include "text/utf8.h"

struct reader {
	const char *at, *end, *line_start;
	uint32_t line;
	struct wf_tree_maker maker;
	char *room; /* a text without its escapes; as long as the file */
};

static int fail(const struct reader *r, const char *what)
{
	return wf_err_at(r->maker.err, r->maker.name, r->line,
	                 (unsigned)(r->at - r->line_start) + 1, "%s", what);
}

static void blanks(struct reader *r)
{
	for (; r->at < r->end && strchr(" \t\r\n", *r->at) != NULL && *r->at != '\0'; r->at++) {
		if (*r->at == '\n') {
			r->line++;
			r->line_start = r->at + 1;
		}
	}
}

static int hex4(struct reader *r, uint32_t *value_p)
{
	uint32_t value = 0;

	if (r->end - r->at < 4)
		return fail(r, "the file ends in the middle of an escape");
	for (unsigned i = 0; i < 4; i++) {
		char c = r->at[i];

		if (c >= '0' && c <= '9')
			value = value * 16 + (uint32_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			value = value * 16 + (uint32_t)((c | 0x20) - 'a' + 10);
		else
			return fail(r, "\\u wants four hexadecimal digits");
	}
	r->at += 4;
	*value_p = value;
	return 0;
}

static char *put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	}
	return to;
}

/* Behind "\u". A NUL has no place in a text that ends with one. */
static int unicode(struct reader *r, char **to)
{
	uint32_t c = 0, low = 0;
	int ret = hex4(r, &c);

	if (ret != 0)
		return ret;
	if (c >= 0xd800 && c < 0xdc00 && r->end - r->at >= 2 && r->at[0] == '\\' &&
	    r->at[1] == 'u') {
		r->at += 2;
		ret = hex4(r, &low);
		if (ret != 0)
			return ret;
		if (low < 0xdc00 || low > 0xdfff)
			return fail(r, "half of a character");
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	} else if (c >= 0xd800 && c <= 0xdfff) {
		return fail(r, "half of a character");
	}
	if (c == 0)
		return fail(r, "a NUL in a text");
	*to = put_utf8(*to, c);
	return 0;
}

static int escape(struct reader *r, char **to)
{
	static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *which;

	if (r->at == r->end)
		return fail(r, "the file ends in the middle of a text");
	if (*r->at == 'u') {
		r->at++;
		return unicode(r, to);
	}
	which = *r->at == '\0' ? NULL : strchr(names, *r->at);
	if (which == NULL)
		return fail(r, "there is no such escape");
	*(*to)++ = means[which - names];
	r->at++;
	return 0;
}

/* A text, its quote not yet passed, into r->room. */
static int string(struct reader *r, size_t *len_p)
{
	char *to = r->room;

	r->at++;
	while (r->at < r->end && *r->at != '"') {
		size_t n;

		if (*r->at == '\\') {
			int ret;

			r->at++;
			ret = escape(r, &to);
			if (ret != 0)
				return ret;
			continue;
		}
		n = wf_utf8_length((const unsigned char *)r->at, (size_t)(r->end - r->at));
		if (n == 0 || (unsigned char)*r->at < 0x20)
			return fail(r, n == 0 ? "this is no UTF-8"
			                      : "a line ends, or a control stands, in a text");
		memcpy(to, r->at, n);
		to += n;
		r->at += n;
	}
	if (r->at == r->end)
		return fail(r, "the file ends in the middle of a text");
	r->at++;
	*len_p = (size_t)(to - r->room);
	return 0;
}

static size_t digits(const struct reader *r, const char *from)
{
	const char *p = from;

	while (p < r->end && *p >= '0' && *p <= '9')
		p++;
	return (size_t)(p - from);
}

/* A number, or true, false, null: where it ends; NULL where it is none. */
static const char *word_end(const struct reader *r)
{
	static const char *const names[] = { "true", "false", "null" };
	const char *p = r->at;
	size_t n;

	for (size_t i = 0; i < WF_ARRAY_SIZE(names); i++) {
		if ((size_t)(r->end - p) >= strlen(names[i]) &&
		    memcmp(p, names[i], strlen(names[i])) == 0)
			return p + strlen(names[i]);
	}
	if (p < r->end && *p == '-')
		p++;
	n = digits(r, p);
	if (n == 0 || (n > 1 && *p == '0'))
		return NULL;
	p += n;
	if (p < r->end && *p == '.') {
		n = digits(r, p + 1);
		if (n == 0)
			return NULL;
		p += 1 + n;
	}
	if (p < r->end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < r->end && (*p == '+' || *p == '-'))
			p++;
		n = digits(r, p);
		if (n == 0)
			return NULL;
		p += n;
	}
	return p;
}

static int value(struct reader *r, struct wf_tree *parent, const char *key, size_t key_len,
                 uint32_t line, unsigned depth);

/* What stands between the brackets of node, its first one passed. */
static int inside(struct reader *r, struct wf_tree *node, unsigned depth)
{
	char close = node->kind == WF_TREE_MAP ? '}' : ']';
	bool first = true;

	for (;; first = false) {
		const char *key = NULL;
		size_t key_len = 0;
		uint32_t line;
		int ret;

		blanks(r);
		if (r->at < r->end && *r->at == close) {
			r->at++;
			return 0;
		}
		if (!first) {
			if (r->at == r->end)
				return fail(r, "the file ends in the middle: a bracket is open");
			if (*r->at != ',')
				return fail(r, node->kind == WF_TREE_MAP ? "here should be , or }"
				                                         : "here should be , or ]");
			r->at++;
			blanks(r);
		}
		line = r->line;
		if (node->kind == WF_TREE_MAP) {
			if (r->at == r->end)
				return fail(r, "the file ends in the middle: a bracket is open");
			if (*r->at != '"')
				return fail(r, "here should be a key in quotes");
			ret = string(r, &key_len);
			if (ret != 0)
				return ret;
			key = wf_tree_copy(r->maker.arena, r->room, key_len);
			if (key == NULL)
				return -ENOMEM;
			blanks(r);
			if (r->at == r->end || *r->at != ':')
				return fail(r, "here should be : behind a key");
			r->at++;
			blanks(r);
		}
		ret = value(r, node, key, key_len, line, depth);
		if (ret != 0)
			return ret;
	}
}

static int value(struct reader *r, struct wf_tree *parent, const char *key, size_t key_len,
                 uint32_t line, unsigned depth)
{
	struct wf_tree *node = NULL;
	const char *end;
	size_t len = 0;
	int ret;

	if (r->at == r->end)
		return fail(r, "the file ends where a value should be");
	if (depth == WF_TREE_MAX_DEPTH)
		return fail(r, "this is too deep");
	if (*r->at == '{' || *r->at == '[') {
		ret = wf_tree_add(&r->maker, parent, *r->at == '{' ? WF_TREE_MAP : WF_TREE_LIST,
		                  key, key_len, line, &node);
		r->at++;
		return ret != 0 ? ret : inside(r, node, depth + 1);
	}
	ret = wf_tree_add(&r->maker, parent, WF_TREE_VALUE, key, key_len, line, &node);
	if (ret != 0)
		return ret;
	if (*r->at == '"') {
		ret = string(r, &len);
		if (ret != 0)
			return ret;
		node->text = wf_tree_copy(r->maker.arena, r->room, len);
		return node->text == NULL ? -ENOMEM : 0;
	}
	end = word_end(r);
	if (end == NULL)
		return fail(r, "here should be a value");
	node->text = wf_tree_copy(r->maker.arena, r->at, (size_t)(end - r->at));
	r->at = end;
	return node->text == NULL ? -ENOMEM : 0;
}

/* The top has no parent to be found by. */
static int top(struct reader *r, struct wf_tree **root_p)
{
	struct wf_tree *root = NULL;
	bool map = r->at < r->end && *r->at == '{';
	int ret;

	if (r->at == r->end)
		return fail(r, "there is nothing in it");
	if (!map && *r->at != '[')
		return fail(r, "here should be { or [");
	ret = wf_tree_add(&r->maker, NULL, map ? WF_TREE_MAP : WF_TREE_LIST, NULL, 0, r->line,
	                  &root);
	if (ret != 0)
		return ret;
	r->at++;
	ret = inside(r, root, 1);
	if (ret != 0)
		return ret;
	blanks(r);
	if (r->at != r->end)
		return fail(r, "something follows behind the last bracket");
	*root_p = root;
	return 0;
}

int wf_tree_read_json(const char *text, size_t len, const char *name, struct wf_arena *arena,
                      struct wf_tree **root_p, struct wf_err *err)
{
	struct reader r = { .at = text,
		            .end = text + len,
		            .line_start = text,
		            .line = 1,
		            .maker = { .arena = arena, .name = name, .err = err } };

	/* A byte order mark, as some editors leave it. */
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.at += 3;
	r.room = wf_arena_alloc(arena, len + 1, 1);
	if (r.room == NULL)
		return -ENOMEM;
	blanks(&r);
	return top(&r, root_p);
}
