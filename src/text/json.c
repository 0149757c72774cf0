/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - a writer of JSON (RFC 8259). Numbers are whole; a tool that reads them as doubles is
 * exact up to 2^53.
 */
#include "text/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "text/human.h"
#include "text/utf8.h"

#ifndef WEFT_VERSION
#define WEFT_VERSION "0"
#endif

void wf_json_init(struct wf_json *json, FILE *file)
{
	memset(json, 0, sizeof(*json));
	json->file = file;
}

static void write_string(FILE *file, const char *text)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + strlen(text);

	fputc('"', file);
	while (p < end) {
		size_t n = wf_utf8_length(p, (size_t)(end - p));

		if (n == 0)
			fputs("\\ufffd", file);
		else if (*p == '"' || *p == '\\')
			fprintf(file, "\\%c", *p);
		else if (*p < 0x20)
			fprintf(file, "\\u%04x", *p);
		else
			fwrite(p, 1, n, file);
		p += n == 0 ? 1 : n;
	}
	fputc('"', file);
}

/* Whether what is written now stands on the line of what is around it. */
static bool is_flat(const struct wf_json *json)
{
	return json->flat != 0 && json->depth > json->flat;
}

/* Comma, new line, indentation and key before a value. */
static void begin(struct wf_json *json, const char *key)
{
	bool flat = is_flat(json);

	if (json->depth > 0) {
		if (json->used[json->depth - 1])
			fputs(flat ? ", " : ",", json->file);
		if (!flat)
			fputc('\n', json->file);
		json->used[json->depth - 1] = true;
	}
	for (unsigned i = 0; i < json->depth && !flat; i++)
		fputs("  ", json->file);
	if (key != NULL) {
		write_string(json->file, key);
		fputs(": ", json->file);
	}
}

void wf_json_open(struct wf_json *json, const char *key, char bracket)
{
	assert(json->depth < WF_JSON_MAX_DEPTH);
	begin(json, key);
	fputc(bracket, json->file);
	json->used[json->depth++] = false;
}

void wf_json_document(struct wf_json *json, const char *schema, unsigned version)
{
	char name[64];

	assert(json->depth == 0);
	snprintf(name, sizeof(name), "%s/%u", schema, version);
	wf_json_open(json, NULL, '{');
	wf_json_text(json, "schema", name);
	wf_json_text(json, "weft", WEFT_VERSION);
}

void wf_json_close(struct wf_json *json, char bracket)
{
	bool flat = is_flat(json);

	assert(json->depth > 0);
	json->depth--;
	if (json->used[json->depth] && !flat) {
		fputc('\n', json->file);
		for (unsigned i = 0; i < json->depth; i++)
			fputs("  ", json->file);
	}
	fputc(bracket == '{' ? '}' : ']', json->file);
	if (json->depth == 0)
		fputc('\n', json->file);
}

void wf_json_text(struct wf_json *json, const char *key, const char *text)
{
	begin(json, key);
	write_string(json->file, text);
}

void wf_json_u64(struct wf_json *json, const char *key, uint64_t v)
{
	begin(json, key);
	fprintf(json->file, "%" PRIu64, v);
}

void wf_json_bool(struct wf_json *json, const char *key, bool v)
{
	begin(json, key);
	fputs(v ? "true" : "false", json->file);
}

void wf_json_null(struct wf_json *json, const char *key)
{
	begin(json, key);
	fputs("null", json->file);
}

void wf_json_decimal(struct wf_json *json, const char *key, int64_t v, unsigned digits)
{
	uint64_t abs = v < 0 ? -(uint64_t)v : (uint64_t)v, one = 1;

	assert(digits > 0 && digits < 19);
	for (unsigned i = 0; i < digits; i++)
		one *= 10;
	begin(json, key);
	fprintf(json->file, "%s%" PRIu64 ".%0*" PRIu64, v < 0 ? "-" : "", abs / one, (int)digits,
	        abs % one);
}

void wf_json_real(struct wf_json *json, const char *key, double v)
{
	char text[WF_HUMAN_REAL];

	if (!isfinite(v)) {
		wf_json_null(json, key);
		return;
	}
	wf_human_real(v, text);
	begin(json, key);
	fputs(text, json->file);
}

void wf_json_ratio(struct wf_json *json, const char *key, uint64_t part, uint64_t whole)
{
	unsigned __int128 millionths;

	if (whole == 0) {
		wf_json_null(json, key);
		return;
	}
	millionths = ((unsigned __int128)part * 1000000 + whole / 2) / whole;
	begin(json, key);
	fprintf(json->file, "%" PRIu64 ".%06" PRIu64, (uint64_t)(millionths / 1000000),
	        (uint64_t)(millionths % 1000000));
}
