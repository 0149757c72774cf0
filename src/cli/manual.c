/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual.c - what is on the page of a command, and the page as plain text.
 */
#include "cli/manual_priv.h"

#include <stdarg.h>
#include <string.h>

#define COLUMNS 80
#define OPTION_TEXT 26 /* the column at which what is said of an option begins */
#define TERM_MAX 20    /* a longer word has a line of its own */
#define LONG_WORD 24   /* a longer one may be broken behind a comma */
#define FORM_OPTIONS 4 /* a synopsis names so many, or says [OPTIONS] */

/* ---- what is on a page ---- */

bool wf_manual_next(const char **at, struct wf_manual_line *line)
{
	const char *text = *at;
	const char *tab = NULL;

	if (text == NULL || *text == '\0')
		return false;
	*line = (struct wf_manual_line){ .kind = WF_MANUAL_PLAIN };
	line->len = (int)strcspn(text, "\n");
	*at = text + line->len + (text[line->len] == '\n');
	if (text[0] == ':')
		tab = memchr(text, '\t', (size_t)line->len);
	if (tab != NULL) {
		line->kind = WF_MANUAL_TERM;
		line->term = text + 1;
		line->term_len = (int)(tab - text - 1);
		line->len -= (int)(tab + 1 - text);
		text = tab + 1;
	} else if (strncmp(text, "- ", 2) == 0 || strncmp(text, "  ", 2) == 0) {
		line->kind = text[0] == '-' ? WF_MANUAL_ITEM : WF_MANUAL_LITERAL;
		line->len -= 2;
		text += 2;
	}
	line->text = text;
	return true;
}

static void add(char *text, size_t size, const char *fmt, ...) WF_PRINTF(3, 4);

/* Writes behind what is in text. */
static void add(char *text, size_t size, const char *fmt, ...)
{
	size_t at = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + at, size - at, fmt, args);
	va_end(args);
}

const struct wf_opt_row *wf_manual_row(const struct wf_cmd *cmd, size_t n)
{
	static const struct wf_opt_row help = { .is = &wf_opt_help };
	const struct wf_opt_row *row = cmd->options;

	for (; row != NULL && row->is != NULL; row++) {
		if (!row->gone && n-- == 0)
			return row;
	}
	return n == 0 ? &help : NULL;
}

void wf_manual_option(const struct wf_opt *opt, bool padded, char *text, size_t size)
{
	text[0] = '\0';
	if (opt->letter != '\0')
		add(text, size, "-%c, ", opt->letter);
	else if (padded)
		add(text, size, "    ");
	add(text, size, "--%s", opt->name);
	if (opt->arg != NULL)
		add(text, size, " %s", opt->arg);
}

void wf_manual_option_help(const struct wf_opt_row *row, char *text, size_t size)
{
	bool paragraph = row->more != NULL && strchr(":- ", row->more[0]) != NULL;

	snprintf(text, size, "%s%s%s", row->is->help,
	         row->more == NULL ? ""
	         : paragraph       ? "\n"
	                           : " ",
	         row->more == NULL ? "" : row->more);
}

/* The form that operands and options make: what is needed by name, of the rest a few. */
static void make_form(const struct wf_cmd *cmd, char *text, size_t size)
{
	const struct wf_opt_row *row;
	size_t optional = 0;

	for (size_t i = 0; (row = wf_manual_row(cmd, i))->is != &wf_opt_help; i++)
		optional += !row->required;
	snprintf(text, size, "%s", cmd->name);
	if (cmd->operands != NULL && !cmd->stops)
		add(text, size, " %s", cmd->operands);
	for (size_t i = 0; (row = wf_manual_row(cmd, i))->is != &wf_opt_help; i++) {
		const char *arg = row->is->arg;

		if (!row->required && optional > FORM_OPTIONS)
			continue;
		add(text, size, row->required ? " --%s%s%s%s" : " [--%s%s%s]%s", row->is->name,
		    arg != NULL ? " " : "", arg != NULL ? arg : "", row->many ? "..." : "");
	}
	if (optional > FORM_OPTIONS)
		add(text, size, " [OPTIONS]");
	if (cmd->operands != NULL && cmd->stops)
		add(text, size, " %s", cmd->operands);
}

bool wf_manual_form(const struct wf_cmd *cmd, size_t n, char *text, size_t size)
{
	if (cmd->forms == NULL) {
		make_form(cmd, text, size);
		return n == 0;
	}
	for (size_t i = 0; cmd->forms[i] != NULL; i++) {
		if (i == n) {
			snprintf(text, size, "%s", cmd->forms[i]);
			return true;
		}
	}
	return false;
}

/* ---- plain text ---- */

/* Where the next character goes. */
struct sheet {
	FILE *file;
	unsigned column;
};

static void go_to(struct sheet *s, unsigned column)
{
	if (s->column < column)
		fprintf(s->file, "%*s", (int)(column - s->column), "");
	s->column = s->column < column ? column : s->column;
}

static void end_line(struct sheet *s)
{
	fputc('\n', s->file);
	s->column = 0;
}

/*
 * How many bytes at text go on one line: a word, or of a long one a part up to a comma. *width_p:
 * the columns they take; *glued_p: whether what follows them has no blank before it.
 */
static int word_length(const char *text, int left, unsigned *width_p, bool *glued_p)
{
	int n = (int)strcspn(text, " \n"), comma;

	n = n < left ? n : left;
	comma = (int)strcspn(text, ",") + 1;
	*glued_p = n > LONG_WORD && comma < n;
	n = *glued_p ? comma : n;
	*width_p = 0;
	for (int i = 0; i < n; i++)
		*width_p += text[i] != '`';
	return n;
}

/* Writes words without the backquotes, in lines that begin at indent. */
static void fill(struct sheet *s, const char *text, int len, unsigned indent)
{
	bool first = true, glued = false, next_glued;
	unsigned width;

	for (int at = 0, n; at < len; at += n) {
		n = word_length(text + at, len - at, &width, &next_glued);
		if (!first && s->column + !glued + width > COLUMNS)
			end_line(s);
		if (first || s->column == 0)
			go_to(s, indent);
		else
			go_to(s, s->column + !glued);
		for (int i = 0; i < n; i++) {
			if (text[at + i] != '`')
				fputc(text[at + i], s->file);
		}
		s->column += width;
		first = false;
		glued = next_glued;
		while (at + n < len && text[at + n] == ' ')
			n++;
	}
	end_line(s);
}

/* How wide the terms are that begin at text, one after the other. */
static unsigned term_width(const char *text)
{
	struct wf_manual_line line;
	int width = 0;

	while (wf_manual_next(&text, &line) && line.kind == WF_MANUAL_TERM) {
		if (line.term_len <= TERM_MAX && line.term_len > width)
			width = line.term_len;
	}
	return (unsigned)width;
}

static void put_term(struct sheet *s, const struct wf_manual_line *line, unsigned indent,
                     unsigned width)
{
	go_to(s, indent);
	fprintf(s->file, "%.*s", line->term_len, line->term);
	s->column += (unsigned)line->term_len;
	if ((unsigned)line->term_len > width)
		end_line(s);
	fill(s, line->text, line->len, indent + width + 2);
}

/* Writes a text; compact: without empty lines. */
static void put_text(struct sheet *s, const char *text, unsigned indent, bool compact)
{
	enum wf_manual_kind last = WF_MANUAL_PLAIN;
	unsigned width = 0;
	struct wf_manual_line line;

	for (const char *at = text, *begin = at; wf_manual_next(&at, &line); begin = at) {
		bool same = line.kind == last && line.kind != WF_MANUAL_PLAIN;

		if (begin != text && !same && !compact)
			end_line(s);
		if (line.kind == WF_MANUAL_TERM && !same)
			width = term_width(begin);
		last = line.kind;
		if (line.kind == WF_MANUAL_PLAIN) {
			fill(s, line.text, line.len, indent);
		} else if (line.kind == WF_MANUAL_TERM) {
			put_term(s, &line, indent == 0 ? 2 : indent, width);
		} else if (line.kind == WF_MANUAL_ITEM) {
			go_to(s, indent);
			fputc('-', s->file), s->column++;
			fill(s, line.text, line.len, indent + 2);
		} else {
			go_to(s, indent + 2);
			fprintf(s->file, "%.*s", line.len, line.text);
			end_line(s);
		}
	}
}

static void put_option(struct sheet *s, const struct wf_opt_row *row)
{
	char text[4096];

	wf_manual_option(row->is, true, text, sizeof(text));
	go_to(s, 2);
	fputs(text, s->file);
	s->column += (unsigned)strlen(text);
	if (s->column + 2 > OPTION_TEXT)
		end_line(s);
	wf_manual_option_help(row, text, sizeof(text));
	put_text(s, text, OPTION_TEXT, true);
}

static void put_page(struct sheet *s, const struct wf_cmd *cmd)
{
	const struct wf_opt_row *row;
	char form[1024];

	for (size_t i = 0; wf_manual_form(cmd, i, form, sizeof(form)); i++) {
		fprintf(s->file, "%s weft", i == 0 ? "usage:" : "      ");
		s->column = 11;
		go_to(s, 12);
		fill(s, form, (int)strlen(form), 12);
	}
	end_line(s);
	put_text(s, cmd->text, 0, false);
	fputs("\nOptions:\n", s->file);
	for (size_t i = 0; (row = wf_manual_row(cmd, i)) != NULL; i++)
		put_option(s, row);
	for (size_t i = 0; cmd->sections != NULL && cmd->sections[i].title != NULL; i++) {
		fprintf(s->file, "\n%s:\n", cmd->sections[i].title);
		put_text(s, cmd->sections[i].text, 2, false);
	}
	if (cmd->see == NULL)
		return;
	fputs("\nSee also:\n", s->file);
	fill(s, cmd->see, (int)strlen(cmd->see), 2);
}

void wf_manual_text(const struct wf_cmd *cmd, FILE *file)
{
	struct sheet sheet = { .file = file };
	char text[WF_MANUAL_OVERVIEW];
	struct wf_cmd overview;

	if (cmd == NULL) {
		wf_manual_overview(&overview, text);
		cmd = &overview;
	}
	put_page(&sheet, cmd);
}
