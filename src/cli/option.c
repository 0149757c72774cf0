/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option.c - reads a command line by a command's table of options.
 */
#include "cli/option.h"

#include <assert.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/manual.h"
#include "text/suggest.h"

#define MAX_ROWS 32

/* What getopt_long() answers: the long names. Letters answer as themselves. */
enum { HELP = 256, NEW, OLD = NEW + MAX_ROWS };

const struct wf_opt wf_opt_help = {
	.name = "help",
	.letter = 'h',
	.help = "Shows this text.",
};

/* The table as getopt_long() wants it. */
struct table {
	const struct wf_opt_row *rows;
	struct option option[2 * MAX_ROWS + 2];
	char letters[4 * MAX_ROWS + 8];
	size_t n, n_letters;
};

int wf_opt_take_text(const struct wf_opt_call *call)
{
	*(const char **)call->field = call->arg;
	return 0;
}

int wf_opt_take_flag(const struct wf_opt_call *call)
{
	*(bool *)call->field = true;
	return 0;
}

int wf_opt_take_param(const struct wf_opt_call *call)
{
	struct wf_err why = { "" };

	if (wf_param_set(call->row->param, call->field, call->arg, &why) != 0)
		return wf_cli_usage(call->cmd, "--%s: %s", call->row->is->name, why.text);
	return 0;
}

static void add_long(struct table *t, const char *name, const struct wf_opt *is, int answer)
{
	if (name == NULL)
		return;
	t->option[t->n++] = (struct option){
		.name = name,
		.has_arg = is->arg != NULL ? required_argument : no_argument,
		.val = answer,
	};
}

static void add_letter(struct table *t, char letter, const struct wf_opt *is)
{
	if (letter == '\0')
		return;
	assert(strchr(t->letters, letter) == NULL);
	t->letters[t->n_letters++] = letter;
	if (is->arg != NULL)
		t->letters[t->n_letters++] = ':';
}

static void build(struct table *t, const struct wf_cmd *cmd)
{
	*t = (struct table){ .rows = cmd->options };
	if (cmd->stops)
		t->letters[t->n_letters++] = '+';
	t->letters[t->n_letters++] = ':';
	for (int i = 0; t->rows != NULL && t->rows[i].is != NULL; i++) {
		const struct wf_opt_row *row = &t->rows[i];

		assert(i < MAX_ROWS);
		add_long(t, row->is->name, row->is, NEW + i);
		add_long(t, row->old, row->is, OLD + i);
		add_letter(t, row->is->letter, row->is);
		add_letter(t, row->old_letter, row->is);
	}
	add_long(t, wf_opt_help.name, &wf_opt_help, HELP);
	add_letter(t, wf_opt_help.letter, &wf_opt_help);
}

/* The row of what getopt_long() answered; *old_p: whether it was an old spelling. */
static const struct wf_opt_row *row_of(const struct table *t, int answer, bool *old_p)
{
	const struct wf_opt_row *row = t->rows;

	*old_p = answer >= OLD;
	if (answer >= NEW)
		return &row[answer - (answer >= OLD ? OLD : NEW)];
	while (row->is->letter != answer && row->old_letter != answer)
		row++;
	*old_p = row->old_letter == answer;
	return row;
}

static void say_old(const char *cmd, const struct wf_opt_row *row, int answer)
{
	if (answer < NEW)
		fprintf(stderr, "weft %s: -%c is an old spelling of --%s, for this version only\n",
		        cmd, answer, row->is->name);
	else
		fprintf(stderr, "weft %s: --%s is an old spelling of --%s, for this version only\n",
		        cmd, row->old, row->is->name);
}

static int take(const struct wf_cmd *cmd, const struct table *t, int answer, void *request)
{
	bool old;
	const struct wf_opt_row *row = row_of(t, answer, &old);
	const struct wf_opt_call call = {
		.cmd = cmd->name,
		.row = row,
		.arg = row->is->arg != NULL ? optarg : NULL,
		.request = request,
		.field = (char *)request + row->at,
	};

	if (old)
		say_old(cmd->name, row, answer);
	if (!row->gone)
		return row->take(&call);
	fprintf(stderr, "weft %s: --%s does nothing any more, and is taken in this version only\n",
	        cmd->name, row->is->name);
	return 0;
}

static void unknown(const struct wf_cmd *cmd, const char *wrong)
{
	struct wf_suggest suggest;
	char word[64];

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(wrong, "="), wrong);
	wf_suggest_init(&suggest, word + 2);
	for (const struct wf_opt_row *r = cmd->options; r != NULL && r->is != NULL; r++) {
		if (!r->gone)
			wf_suggest_offer(&suggest, r->is->name);
	}
	wf_suggest_offer(&suggest, wf_opt_help.name);
	wf_cli_usage(cmd->name, "there is no option %s%s", word,
	             wf_suggest_text(&suggest, "there are (each with --)"));
}

/* Whether the word is short for several options; says which. */
static bool is_short_for_several(const struct wf_cmd *cmd, const char *word)
{
	size_t len = strcspn(word + 2, "="), at = 0, n = 0;
	char names[512] = "";

	for (const struct wf_opt_row *r = cmd->options; r != NULL && r->is != NULL; r++) {
		if (r->gone || strncmp(r->is->name, word + 2, len) != 0 || at >= sizeof(names))
			continue;
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s--%s", n > 0 ? ", " : "",
		                       r->is->name);
		n++;
	}
	if (n < 2)
		return false;
	wf_cli_usage(cmd->name, "%.*s is short for several: %s", (int)len + 2, word, names);
	return true;
}

/* Says what is wrong with the word that getopt_long() did not take. */
static int refuse(const struct wf_cmd *cmd, int answer, const char *word)
{
	if (answer == ':' && strncmp(word, "--", 2) != 0)
		return wf_cli_usage(cmd->name, "-%c needs a value", optopt);
	if (answer == ':')
		return wf_cli_usage(cmd->name, "%s needs a value", word);
	if (strncmp(word, "--", 2) != 0)
		return wf_cli_usage(cmd->name, "there is no option -%c", optopt);
	if (optopt != 0)
		return wf_cli_usage(cmd->name, "%.*s takes no value", (int)strcspn(word, "="),
		                    word);
	if (!is_short_for_several(cmd, word))
		unknown(cmd, word);
	return WF_EXIT_USAGE;
}

int wf_opt_parse(const struct wf_cmd *cmd, int argc, char **argv, void *request)
{
	struct table t;
	int at, answer, status = 0;

	build(&t, cmd);
	opterr = 0;
	while (status == 0) {
		at = optind == 0 ? 1 : optind;
		answer = getopt_long(argc, argv, t.letters, t.option, NULL);
		if (answer == -1)
			return -1;
		/* Permutation may have moved it: the word before optind was looked at. */
		if (optind > 1 && optind - 1 >= at)
			at = optind - 1;
		if (answer == '?' || answer == ':')
			return refuse(cmd, answer, argv[at]);
		if (answer == HELP || answer == wf_opt_help.letter) {
			wf_manual_text(cmd, stdout);
			return wf_cli_finish();
		}
		status = take(cmd, &t, answer, request);
	}
	return status;
}
