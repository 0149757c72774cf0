/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_rate.c - short tables in a parameter's text.
 */
#include "fabric/by_rate.h"

#include <stdbool.h>
#include <string.h>

#define FIELD_TEXT 32

/* Copies what is before one of the characters in ends; *p_p is then behind that. */
static bool take(const char **p_p, char out[FIELD_TEXT], char *end)
{
	const char *p = *p_p + strspn(*p_p, " ");
	size_t len = strcspn(p, " :,");

	if (len == 0 || len >= FIELD_TEXT)
		return false;
	memcpy(out, p, len);
	out[len] = '\0';
	p += len;
	p += strspn(p, " ");
	*end = *p;
	*p_p = *p == '\0' ? p : p + 1;
	return true;
}

static int parse_row(const struct wf_by_rate *table, const char **p_p, void *row, char *end,
                     struct wf_err *err)
{
	for (unsigned i = 0; i < table->n_fields; i++) {
		char text[FIELD_TEXT];
		struct wf_err why = { "" };

		if (!take(p_p, text, end) || (i + 1 < table->n_fields) != (*end == ':'))
			return wf_err_say(err, "%s: write %s", table->name, table->example);
		if (wf_param_set(&table->fields[i], row, text, &why) != 0)
			return wf_err_say(err, "%s: %s: %s", table->name, table->fields[i].name,
			                  why.text);
	}
	return 0;
}

int wf_by_rate_parse(const struct wf_by_rate *table, const char *text, void *rows, unsigned *n_p,
                     struct wf_err *err)
{
	char end = ',';
	int ret;

	*n_p = 0;
	text += strspn(text, " ");
	if (*text == '\0')
		return 0;
	while (end == ',') {
		if (*n_p == table->max)
			return wf_err_say(err, "%s: more than %u %s; that many are allowed",
			                  table->name, table->max, table->what);
		ret = parse_row(table, &text, (char *)rows + *n_p * table->size, &end, err);
		if (ret != 0)
			return ret;
		(*n_p)++;
	}
	return 0;
}
