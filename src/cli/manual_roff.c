/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual_roff.c - the page of a command as a page of the manual: roff with the macros of man(7).
 */
#include "cli/manual_priv.h"

#include <ctype.h>
#include <string.h>

#ifndef WEFT_VERSION
#define WEFT_VERSION "0"
#endif

/* What is being written. */
struct roff {
	FILE *file;
	const struct wf_cmd *cmd; /* whose operands and arguments are set in italics */
	bool at_start;            /* of a line, where some characters begin a request */
};

/* A character that means itself. */
static void put_char(struct roff *r, char c)
{
	if (r->at_start && (c == '.' || c == '\''))
		fputs("\\&", r->file);
	r->at_start = false;
	switch (c) {
	case '\\':
		fputs("\\e", r->file);
		break;
	case '-':
		fputs("\\-", r->file);
		break;
	case '\'':
		fputs("\\(aq", r->file);
		break;
	case '^':
		fputs("\\(ha", r->file);
		break;
	case '~':
		fputs("\\(ti", r->file);
		break;
	default:
		fputc(c, r->file);
	}
}

/* Whether the word of length n is one of those in capitals in text: "NODE[:PORT],...". */
static bool is_named_in(const char *text, const char *word, int n)
{
	while (text != NULL && *text != '\0') {
		int len = 0;

		while (isupper((unsigned char)text[len]))
			len++;
		if (len == n && strncmp(text, word, (size_t)n) == 0)
			return true;
		text += len > 0 ? len : 1;
	}
	return false;
}

/* Whether it is the name of an operand or an argument of the command. */
static bool is_variable(const struct wf_cmd *cmd, const char *word, int n)
{
	bool is = is_named_in(cmd->operands, word, n);

	for (size_t i = 0; cmd->forms != NULL && cmd->forms[i] != NULL; i++)
		is = is || is_named_in(cmd->forms[i], word, n);
	for (const struct wf_opt_row *row = cmd->options; row != NULL && row->is != NULL; row++)
		is = is || is_named_in(row->is->arg, word, n);
	return is;
}

/* How many characters at text are an option: "-o", "--out"; 0: it is none. */
static int option_length(const char *text, int len)
{
	int n = 0;

	while (n < len && n < 2 && text[n] == '-')
		n++;
	if (n == 0 || n == len || !isalpha((unsigned char)text[n]))
		return 0;
	while (n < len && (isalnum((unsigned char)text[n]) || text[n] == '-'))
		n++;
	return n;
}

/* How many characters at text are the name of an operand or argument; 0: it is none. */
static int variable_length(const struct wf_cmd *cmd, const char *text, int len)
{
	int n = 0;

	while (n < len && isupper((unsigned char)text[n]))
		n++;
	if (n == 0 || (n < len && (isalnum((unsigned char)text[n]) || text[n] == '_')))
		return 0;
	return is_variable(cmd, text, n) ? n : 0;
}

static void put_font(struct roff *r, const char *font, const char *text, int len)
{
	fprintf(r->file, "\\f%s", font);
	r->at_start = false;
	for (int i = 0; i < len; i++)
		put_char(r, text[i]);
	fputs("\\fR", r->file);
}

/* Whether the blank at text[i] is between two sentences, and not behind "e.g." or "...". */
static bool ends_sentence(const char *text, int i, int len)
{
	return i > 1 && text[i - 1] == '.' && text[i - 2] != '.' && i + 1 < len &&
	       isupper((unsigned char)text[i + 1]);
}

/* Words with their fonts, and a line's end behind a sentence. */
static void put_words(struct roff *r, const char *text, int len)
{
	bool typed = false, inside = false; /* what is typed as it is; a word */

	for (int i = 0; i < len;) {
		int option = inside || typed ? 0 : option_length(text + i, len - i);
		int variable = inside || typed ? 0 : variable_length(r->cmd, text + i, len - i);
		int n = option + variable;

		inside = isalnum((unsigned char)text[i]) || text[i] == '-' || text[i] == '_' ||
		         text[i] == '/' || text[i] == '.';
		if (n != 0) {
			put_font(r, option != 0 ? "B" : "I", text + i, n);
			inside = true;
		} else if (text[i] == '`') {
			typed = !typed;
			fputs(typed ? "\\fB" : "\\fR", r->file);
			r->at_start = false;
		} else if (text[i] == ' ' && !typed && ends_sentence(text, i, len)) {
			fputc('\n', r->file);
			r->at_start = true;
		} else {
			put_char(r, text[i]);
			if (text[i] == ',' && i + 1 < len && text[i + 1] != ' ')
				fputs("\\:", r->file); /* a line may end here */
		}
		i += n != 0 ? n : 1;
	}
	fputc('\n', r->file);
	r->at_start = true;
}

static void put_macro(struct roff *r, const char *macro)
{
	fprintf(r->file, "%s\n", macro);
	r->at_start = true;
}

/* A text; inside: of an item, whose indentation its paragraphs keep. */
static void put_text(struct roff *r, const char *text, bool inside)
{
	bool literal = false, first = true;
	struct wf_manual_line line;

	while (wf_manual_next(&text, &line)) {
		if (literal && line.kind != WF_MANUAL_LITERAL)
			put_macro(r, ".EE");
		if (line.kind == WF_MANUAL_LITERAL && !literal)
			put_macro(r, first ? ".EX" : inside ? ".IP\n.EX" : ".PP\n.EX");
		literal = line.kind == WF_MANUAL_LITERAL;
		if (literal) {
			for (int i = 0; i < line.len; i++)
				put_char(r, line.text[i]);
			put_macro(r, "");
			first = false;
			continue;
		}
		if (line.kind == WF_MANUAL_ITEM) {
			put_macro(r, ".IP \\(bu 2");
		} else if (line.kind == WF_MANUAL_TERM) {
			put_macro(r, ".TP");
			put_font(r, "B", line.term, line.term_len);
			put_macro(r, "");
		} else if (!first) {
			put_macro(r, inside ? ".IP" : ".PP");
		}
		put_words(r, line.text, line.len);
		first = false;
	}
	if (literal)
		put_macro(r, ".EE");
}

static void put_option(struct roff *r, const struct wf_opt_row *row)
{
	char text[4096];
	struct wf_manual_line line;
	const char *rest;

	put_macro(r, ".TP");
	wf_manual_option(row->is, false, text, sizeof(text));
	put_words(r, text, (int)strlen(text));
	wf_manual_option_help(row, text, sizeof(text));
	rest = text;
	if (!wf_manual_next(&rest, &line))
		return;
	put_words(r, line.text, line.len);
	if (*rest == '\0')
		return;
	put_macro(r, ".RS");
	put_text(r, rest, true);
	put_macro(r, ".RE");
}

static void put_title(struct roff *r, const char *title)
{
	fputs(".SH ", r->file);
	for (; *title != '\0'; title++)
		fputc(toupper((unsigned char)*title), r->file);
	put_macro(r, "");
}

static void put_synopsis(struct roff *r)
{
	char form[1024];

	put_title(r, "Synopsis");
	for (size_t i = 0; wf_manual_form(r->cmd, i, form, sizeof(form)); i++) {
		size_t name = r->cmd->name[0] != '\0' ? strcspn(form, " ") : 0;

		if (i > 0)
			put_macro(r, ".br");
		fprintf(r->file, "\\fBweft%s", name > 0 ? " " : "");
		r->at_start = false;
		for (size_t k = 0; k < name; k++)
			put_char(r, form[k]);
		fprintf(r->file, "\\fR%s", name > 0 ? "" : " ");
		put_words(r, form + name, (int)strlen(form + name));
	}
}

static void put_page(struct roff *r)
{
	const struct wf_cmd *cmd = r->cmd;
	const struct wf_opt_row *row;

	put_title(r, "Name");
	fprintf(r->file, "weft%s%s \\- ", cmd->name[0] != '\0' ? "\\-" : "", cmd->name);
	r->at_start = false;
	put_words(r, cmd->summary, (int)strlen(cmd->summary));
	put_synopsis(r);
	put_title(r, "Description");
	put_text(r, cmd->text, false);
	put_title(r, "Options");
	for (size_t i = 0; (row = wf_manual_row(cmd, i)) != NULL; i++)
		put_option(r, row);
	for (size_t i = 0; cmd->sections != NULL && cmd->sections[i].title != NULL; i++) {
		put_title(r, cmd->sections[i].title);
		put_text(r, cmd->sections[i].text, false);
	}
	if (cmd->see == NULL)
		return;
	put_title(r, "See also");
	put_words(r, cmd->see, (int)strlen(cmd->see));
}

void wf_manual_roff(const struct wf_cmd *cmd, FILE *file)
{
	struct roff roff = { .file = file, .cmd = cmd, .at_start = true };
	char text[WF_MANUAL_OVERVIEW];
	struct wf_cmd overview;

	if (cmd == NULL) {
		wf_manual_overview(&overview, text);
		roff.cmd = &overview;
	}
	fputs(".\\\" SPDX-License-Identifier: Apache-2.0\n"
	      ".\\\" Made by weft help --roff; the source is the program's own.\n"
	      ".TH WEFT",
	      file);
	if (roff.cmd->name[0] != '\0')
		fputs("\\-", file);
	for (const char *c = roff.cmd->name; *c != '\0'; c++)
		fputc(toupper((unsigned char)*c), file);
	fputs(" 1 \"\" \"weft " WEFT_VERSION "\" \"User Commands\"\n", file);
	put_page(&roff);
}
