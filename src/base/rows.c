/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - short tables in a parameter's text.
 */
#include "base/rows.h"

#include <assert.h>
#include <string.h>

#define FIELD_TEXT 32
#define FIELDS_MAX 4
#define SHOWN 60 /* characters of the text that a message quotes */

/* A row as it is written. */
struct row {
	unsigned n; /* fields */
	char field[FIELDS_MAX][FIELD_TEXT];
};

/* Says what is wrong with a row; write is what would be right, or NULL where why says that. */
static int bad_row(const struct wf_rows *table, const char *text, unsigned number, const char *why,
                   const char *write, struct wf_err *err)
{
	bool named = table->name != NULL;

	return wf_err_say(err, "%s%s\"%.*s%s\" is not %s: entry %u: %s%s%s",
	                  named ? table->name : "", named ? ": " : "", SHOWN, text,
	                  strlen(text) > SHOWN ? "..." : "", table->what, number, why,
	                  write != NULL ? "; write " : "", write != NULL ? write : "");
}

/* Splits the row at *p_p into its fields and moves *p_p to what ends it. NULL, or what is wrong. */
static const char *split_row(const char **p_p, unsigned max, struct row *row)
{
	const char *p = *p_p;

	row->n = 0;
	for (;;) {
		size_t len;

		p += strspn(p, " ");
		len = strcspn(p, " :,");
		if (len == 0)
			return row->n == 0 ? "there is nothing in it" : "a value is missing";
		if (len >= FIELD_TEXT)
			return "a value is too long";
		if (row->n == max)
			return "it has too many values";
		memcpy(row->field[row->n], p, len);
		row->field[row->n++][len] = '\0';
		p += len;
		p += strspn(p, " ");
		if (*p == '\0' || *p == ',')
			break;
		if (*p != ':')
			return "a colon or a comma is missing";
		p++;
	}
	*p_p = p;
	return NULL;
}

int wf_rows_parse(const struct wf_rows *table, const char *text, void *rows, unsigned *n_p,
                  struct wf_err *err)
{
	const char *p = text + strspn(text, " ");

	assert(table->n_fields <= FIELDS_MAX && table->n_optional < table->n_fields);
	*n_p = 0;
	while (*p != '\0') {
		char *to = (char *)rows + *n_p * table->size;
		unsigned number = *n_p + 1;
		struct row row;
		const char *wrong;

		if (*n_p == table->max)
			return bad_row(table, text, number, "it is one too many; leave it out",
			               NULL, err);
		wrong = split_row(&p, table->n_fields, &row);
		if (wrong == NULL && row.n < table->n_fields - table->n_optional)
			wrong = "a value is missing";
		if (wrong != NULL)
			return bad_row(table, text, number, wrong, table->example, err);
		memset(to, 0, table->size);
		for (unsigned i = 0; i < row.n; i++) {
			struct wf_err why = { "" };

			if (wf_param_set(&table->fields[table->n_fields - row.n + i], to,
			                 row.field[i], &why) != 0)
				return bad_row(table, text, number, why.text, NULL, err);
		}
		(*n_p)++;
		/* A comma says that another row follows, also where there is none. */
		if (*p == ',' && *(p + 1 + strspn(p + 1, " ")) == '\0')
			return bad_row(table, text, number + 1, "there is nothing in it",
			               table->example, err);
		p += *p == ',';
	}
	return 0;
}
