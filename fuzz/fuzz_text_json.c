/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_text_json.c - whatever is written as JSON is JSON: any texts, numbers and nesting are read
 * back by a strict reader of RFC 8259, which finds as many values, and the same texts.
 *
 * Input: steps of a byte for what is written (value, opened, closed), then eight of a number or up
 * to a zero of a text, as it asks for.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/json.h"

#define TEXT 64
#define TEXTS 256
#define HEAD_TEXTS 4 /* what wf_json_document() writes: two keys and their values */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool what)
{
	if (!what)
		abort();
}

/* ---- what is written ---- */

struct writer {
	const uint8_t *at, *end;
	struct wf_json json;
	char bracket[WF_JSON_MAX_DEPTH];
	unsigned depth;
	size_t values;
	char text[TEXTS][TEXT]; /* keys and texts, in their order; those above are not compared */
	size_t texts;
};

static uint64_t number(struct writer *w)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 8 && w->at < w->end; i++)
		v = v << 8 | *w->at++;
	return v;
}

static const char *text(struct writer *w)
{
	char *to = w->text[w->texts < TEXTS ? w->texts : TEXTS - 1];
	size_t n = 0;

	while (w->at < w->end && n + 1 < TEXT && *w->at != 0)
		to[n++] = (char)*w->at++;
	if (w->at < w->end && *w->at == 0)
		w->at++;
	to[n] = '\0';
	w->texts++;
	return to;
}

static const char *key(struct writer *w)
{
	return w->bracket[w->depth - 1] == '{' ? text(w) : NULL;
}

static double real(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void put_value(struct writer *w, unsigned what)
{
	struct wf_json *j = &w->json;
	const char *k = key(w);

	w->values++;
	switch (what) {
	case 0:
		wf_json_text(j, k, text(w));
		break;
	case 1:
		wf_json_u64(j, k, number(w));
		break;
	case 2:
		wf_json_decimal(j, k, (int64_t)number(w), 1 + (unsigned)(number(w) % 18));
		break;
	case 3:
		wf_json_real(j, k, real(number(w)));
		break;
	case 4:
		wf_json_ratio(j, k, number(w), number(w));
		break;
	case 5:
		wf_json_bool(j, k, (number(w) & 1) != 0);
		break;
	default:
		wf_json_null(j, k);
		break;
	}
}

static void put_close(struct writer *w)
{
	wf_json_close(&w->json, w->bracket[--w->depth]);
}

static void put_open(struct writer *w, char bracket)
{
	if (w->depth == WF_JSON_MAX_DEPTH)
		return;
	w->values++;
	wf_json_open(&w->json, key(w), bracket);
	w->bracket[w->depth++] = bracket;
}

static void write_all(struct writer *w, FILE *file)
{
	wf_json_init(&w->json, file);
	if (w->at < w->end)
		w->json.flat = *w->at++ & 3;
	wf_json_document(&w->json, "weft.fuzz", 1);
	w->bracket[w->depth++] = '{';
	w->values = 3;
	while (w->at < w->end) {
		unsigned c = *w->at++;

		if ((c & 7) != 7)
			put_value(w, c & 7);
		else if ((c & 8) != 0)
			put_open(w, (c & 16) != 0 ? '{' : '[');
		else if (w->depth > 1)
			put_close(w);
	}
	while (w->depth > 0)
		put_close(w);
}

/* ---- what is read ---- */

struct reader {
	const unsigned char *at;
	const struct writer *wrote;
	size_t values, texts;
};

static void skip(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\n')
		r->at++;
}

static void expect(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	must(strncmp((const char *)r->at, word, n) == 0);
	r->at += n;
}

static unsigned read_hex(struct reader *r)
{
	unsigned v = 0;

	for (unsigned i = 0; i < 4; i++) {
		char digit[2] = { (char)*r->at++, '\0' };

		must(strspn(digit, "0123456789abcdefABCDEF") == 1);
		v = v << 4 | (unsigned)strtoul(digit, NULL, 16);
	}
	return v;
}

/* A character of a string that is no ASCII: its bytes must be UTF-8 in its shortest form. */
static void read_wide(struct reader *r)
{
	unsigned lead = *r->at++;
	unsigned more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	uint32_t c = lead & (0x3fu >> more);

	must(lead >= 0xc0 && lead < 0xf8);
	for (unsigned i = 0; i < more; i++) {
		must((*r->at & 0xc0) == 0x80);
		c = c << 6 | (*r->at++ & 0x3f);
	}
	must(c >= least[more] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff));
}

static int read_escape(struct reader *r)
{
	unsigned c = *++r->at;

	r->at++;
	if (c == 'u')
		return (int)read_hex(r);
	must(c == '"' || c == '\\');
	return (int)c;
}

/* Compares with what was written where that is ASCII; what is not may have become U+FFFD. */
static void read_string(struct reader *r)
{
	const char *want = NULL;
	size_t n = 0;

	expect(r, "\"");
	if (r->texts >= HEAD_TEXTS && r->texts - HEAD_TEXTS < TEXTS - 1)
		want = r->wrote->text[r->texts - HEAD_TEXTS];
	for (; *r->at != '"'; n++) {
		int c = -1;

		must(*r->at >= 0x20);
		if (*r->at == '\\')
			c = read_escape(r);
		else if (*r->at < 0x80)
			c = *r->at++;
		else
			read_wide(r);
		if (want != NULL && (c < 0 || c > 0x7f))
			want = NULL;
		must(want == NULL || (n < TEXT && want[n] == c));
	}
	must(want == NULL || want[n] == '\0');
	r->at++;
	r->texts++;
}

static void read_number(struct reader *r)
{
	if (*r->at == '-')
		r->at++;
	must(*r->at >= '0' && *r->at <= '9');
	must(*r->at != '0' || r->at[1] < '0' || r->at[1] > '9');
	r->at += strspn((const char *)r->at, "0123456789");
	if (*r->at == '.') {
		must(r->at[1] >= '0' && r->at[1] <= '9');
		r->at += 1 + strspn((const char *)r->at + 1, "0123456789");
	}
	if (*r->at == 'e' || *r->at == 'E') {
		r->at += r->at[1] == '+' || r->at[1] == '-' ? 2 : 1;
		must(*r->at >= '0' && *r->at <= '9');
		r->at += strspn((const char *)r->at, "0123456789");
	}
}

static void read_value(struct reader *r, unsigned depth);

static void read_members(struct reader *r, unsigned depth, bool keys)
{
	unsigned char end = keys ? '}' : ']';

	must(depth < WF_JSON_MAX_DEPTH);
	r->at++;
	skip(r);
	while (*r->at != end) {
		if (keys) {
			read_string(r);
			expect(r, ":");
			skip(r);
		}
		read_value(r, depth + 1);
		skip(r);
		must(*r->at == ',' || *r->at == end);
		if (*r->at == ',') {
			r->at++;
			skip(r);
			must(*r->at != end);
		}
	}
	r->at++;
}

static void read_value(struct reader *r, unsigned depth)
{
	r->values++;
	if (*r->at == '{' || *r->at == '[')
		read_members(r, depth, *r->at == '{');
	else if (*r->at == '"')
		read_string(r);
	else if (*r->at == 't')
		expect(r, "true");
	else if (*r->at == 'f')
		expect(r, "false");
	else if (*r->at == 'n')
		expect(r, "null");
	else
		read_number(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct writer w = { .at = data, .end = data + size };
	char *made = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&made, &len);
	struct reader r;

	must(file != NULL);
	write_all(&w, file);
	must(fclose(file) == 0);
	must(strlen(made) == len);
	r = (struct reader){ .at = (const unsigned char *)made, .wrote = &w };
	read_value(&r, 0);
	must(strcmp((const char *)r.at, "\n") == 0);
	must(r.values == w.values);
	free(made);
	return 0;
}
