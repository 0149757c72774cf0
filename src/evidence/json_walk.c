/* SPDX-License-Identifier: Apache-2.0 */
/* json_walk.c - goes through a text in JSON, value by value, without keeping any of it. */
#include "evidence/json_walk.h"

#include <string.h>

struct walk {
	const char *at, *end, *line_start;
	const char *name;
	struct wf_err *err;
	unsigned line;
	char open[WF_JSON_DEPTH]; /* '{' or '[' of each depth */
	struct wf_json_value value;
};

bool wf_slice_is(struct wf_slice slice, const char *text)
{
	return slice.len == strlen(text) && memcmp(slice.at, text, slice.len) == 0;
}

bool wf_slice_starts(struct wf_slice slice, const char *text)
{
	size_t n = strlen(text);

	return slice.len >= n && memcmp(slice.at, text, n) == 0;
}

static int fail(const struct walk *w, const char *what)
{
	return wf_err_at(w->err, w->name, w->line, (unsigned)(w->at - w->line_start) + 1, "%s",
	                 what);
}

static void skip(struct walk *w)
{
	for (; w->at < w->end && strchr(" \t\r\n", *w->at) != NULL && *w->at != '\0'; w->at++) {
		if (*w->at == '\n') {
			w->line++;
			w->line_start = w->at + 1;
		}
	}
}

static bool take(struct walk *w, char c)
{
	skip(w);
	if (w->at == w->end || *w->at != c)
		return false;
	w->at++;
	return true;
}

static int take_string(struct walk *w, struct wf_slice *slice)
{
	const char *from;

	if (!take(w, '"'))
		return fail(w, "here is a text in quotes");
	from = w->at;
	while (w->at < w->end && *w->at != '"' && *w->at != '\n')
		w->at += *w->at == '\\' && w->end - w->at > 1 ? 2 : 1;
	if (w->at >= w->end || *w->at != '"')
		return fail(w, "a text in quotes does not end; is the file complete?");
	*slice = (struct wf_slice){ from, (size_t)(w->at - from) };
	w->at++;
	return 0;
}

static int take_scalar(struct walk *w, wf_json_value_fn *fn, void *arg)
{
	struct wf_json_value *v = &w->value;
	int ret = 0;

	v->line = w->line;
	v->column = (unsigned)(w->at - w->line_start) + 1;
	v->quoted = *w->at == '"';
	if (v->quoted) {
		ret = take_string(w, &v->value);
	} else {
		const char *from = w->at;

		while (w->at < w->end && *w->at != '\0' && strchr(" \t\r\n,]}:\"", *w->at) == NULL)
			w->at++;
		v->value = (struct wf_slice){ from, (size_t)(w->at - from) };
		if (w->at == from)
			return fail(w, "here is a value");
	}
	return ret != 0 ? ret : fn(arg, v);
}

/* The key before a value in an object. */
static int take_key(struct walk *w)
{
	struct wf_json_value *v = &w->value;
	int ret;

	if (v->depth == 0)
		return 0;
	v->key[v->depth - 1] = (struct wf_slice){ "", 0 };
	if (w->open[v->depth - 1] == '[')
		return 0;
	ret = take_string(w, &v->key[v->depth - 1]);
	if (ret == 0 && !take(w, ':'))
		return fail(w, "a key is followed by a colon");
	return ret;
}

/* Behind a value: closes what ends. Goes on after a comma. */
static int after(struct walk *w, bool *more_p)
{
	struct wf_json_value *v = &w->value;

	while (v->depth > 0) {
		if (take(w, ',')) {
			*more_p = true;
			return 0;
		}
		if (!take(w, w->open[v->depth - 1] == '{' ? '}' : ']'))
			return fail(w, "here is a comma, or the end of what is open; is the file "
			               "complete?");
		v->depth--;
	}
	*more_p = false;
	return 0;
}

int wf_json_walk(const char *text, size_t len, const char *name, wf_json_value_fn *fn, void *arg,
                 struct wf_err *err)
{
	struct walk w = { .at = text,
		          .end = text + len,
		          .line_start = text,
		          .name = name,
		          .err = err,
		          .line = 1 };
	bool more = true;
	int ret = 0;

	while (ret == 0 && more) {
		ret = take_key(&w);
		skip(&w);
		if (ret != 0)
			break;
		if (w.at == w.end)
			return fail(&w, "the text ends here; is the file complete?");
		if (*w.at == '{' || *w.at == '[') {
			char open = *w.at++;

			if (w.value.depth == WF_JSON_DEPTH)
				return fail(&w, "this is too deep");
			w.open[w.value.depth++] = open;
			if (!take(&w, open == '{' ? '}' : ']'))
				continue;
			w.value.depth--;
		} else {
			ret = take_scalar(&w, fn, arg);
		}
		if (ret == 0)
			ret = after(&w, &more);
	}
	skip(&w);
	if (ret == 0 && w.at != w.end)
		return fail(&w, "here the text should end");
	return ret;
}
