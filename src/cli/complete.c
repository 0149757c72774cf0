/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete.c - what may come next on a command line.
 */
#include "cli/complete.h"

#include <string.h>

#include "cli/cli.h"

/* What is being completed. */
struct point {
	FILE *file;
	const char *word; /* as far as it is written */
	int fixed;        /* bytes of it that stay: "--fabric=", or in a list "a,b," */
};

/* Offers a candidate for what follows the fixed bytes, if it begins as the word does. */
static void offer(void *arg, const char *name, const char *help)
{
	const struct point *p = arg;
	const char *typed = p->word + p->fixed;

	if (strncmp(name, typed, strlen(typed)) != 0)
		return;
	fprintf(p->file, "%.*s%s\t", p->fixed, p->word, name);
	/* The first sentence, without marks. */
	for (; *help != '\0' && *help != '\n'; help++) {
		if (help[0] == '.' && (help[1] == ' ' || help[1] == '\n' || help[1] == '\0'))
			break;
		if (*help != '`')
			fputc(*help, p->file);
	}
	fputc('\n', p->file);
}

static void offer_values(struct point *p, const struct wf_values *values, int at)
{
	const char *comma = NULL;

	if (values == NULL)
		return;
	if (values->list)
		comma = strrchr(p->word + p->fixed, ',');
	if (comma != NULL)
		p->fixed = (int)(comma + 1 - p->word);
	for (size_t i = 0; values->words != NULL && values->words[i] != NULL; i++)
		offer(p, values->words[i], "");
	if (values->each != NULL)
		values->each(offer, p);
	if (values->files == NULL)
		return;
	if (values->files[0] == '!')
		fprintf(p->file, ":program %d\n", at);
	else if (values->files[0] == '/')
		fprintf(p->file, ":folders %.*s\n", p->fixed, p->word);
	else
		fprintf(p->file, ":files %.*s\t%s\n", p->fixed, p->word, values->files);
}

/* The option called name, which is len bytes long, or by its old name; NULL. */
static const struct wf_opt *long_option(const struct wf_cmd *cmd, const char *name, size_t len)
{
	for (const struct wf_opt_row *r = cmd->options; r != NULL && r->is != NULL; r++) {
		if ((strlen(r->is->name) == len && strncmp(r->is->name, name, len) == 0) ||
		    (r->old != NULL && strlen(r->old) == len && strncmp(r->old, name, len) == 0))
			return r->is;
	}
	return NULL;
}

static const struct wf_opt *short_option(const struct wf_cmd *cmd, char letter)
{
	for (const struct wf_opt_row *r = cmd->options; r != NULL && r->is != NULL; r++) {
		if (r->is->letter == letter || r->old_letter == letter)
			return r->is;
	}
	return NULL;
}

/* The option that takes the word behind this one for its argument, or NULL. */
static const struct wf_opt *wants_next(const struct wf_cmd *cmd, const char *word)
{
	const struct wf_opt *opt = NULL;

	if (word[0] != '-' || word[1] == '\0' || strchr(word, '=') != NULL)
		return NULL;
	if (word[1] == '-') {
		opt = long_option(cmd, word + 2, strlen(word + 2));
		return opt != NULL && opt->arg != NULL ? opt : NULL;
	}
	/* Of letters together, the first with an argument takes what is left for it. */
	for (word++; *word != '\0'; word++) {
		opt = short_option(cmd, *word);
		if (opt != NULL && opt->arg != NULL)
			return word[1] == '\0' ? opt : NULL;
	}
	return NULL;
}

static void offer_options(struct point *p, const struct wf_cmd *cmd)
{
	char name[64];

	for (const struct wf_opt_row *r = cmd->options; r != NULL && r->is != NULL; r++) {
		snprintf(name, sizeof(name), "--%s", r->is->name);
		if (!r->gone)
			offer(p, name, r->is->help);
	}
	snprintf(name, sizeof(name), "--%s", wf_opt_help.name);
	offer(p, name, wf_opt_help.help);
}

/* What may stand in the n-th place behind the options; at: which word that is. */
static void offer_operand(struct point *p, const struct wf_cmd *cmd, int n, int at)
{
	const struct wf_values *const *values = cmd->values;

	if (values == NULL)
		return;
	while (n > 0 && values[1] != NULL) {
		values++;
		n--;
	}
	/* The last stands for all that follow only where the operands say that more may. */
	if (n == 0 || (cmd->operands != NULL && strstr(cmd->operands, "...") != NULL))
		offer_values(p, *values, at);
}

/* The last word, which is behind the command's name. */
static void complete_word(struct point *p, const struct wf_cmd *cmd, int n, char **word)
{
	const struct wf_opt *pending = NULL, *opt;
	const char *equals = strchr(p->word, '=');
	bool ended = false;
	int operands = 0, first = n - 1;

	for (int i = 2; i + 1 < n; i++) {
		if (pending != NULL) {
			pending = NULL;
		} else if (!ended && strcmp(word[i], "--") == 0) {
			ended = true;
		} else if (!ended && word[i][0] == '-' && word[i][1] != '\0') {
			pending = wants_next(cmd, word[i]);
		} else {
			first = operands == 0 ? i : first;
			operands++;
			ended = ended || cmd->stops;
		}
	}
	if (pending != NULL) {
		offer_values(p, pending->values, n - 1);
	} else if (!ended && strncmp(p->word, "--", 2) == 0 && equals != NULL) {
		opt = long_option(cmd, p->word + 2, (size_t)(equals - p->word - 2));
		p->fixed = (int)(equals + 1 - p->word);
		if (opt != NULL)
			offer_values(p, opt->values, n - 1);
	} else if (!ended && p->word[0] == '-') {
		offer_options(p, cmd);
	} else {
		offer_operand(p, cmd, cmd->stops ? 0 : operands, first);
	}
}

void wf_complete(int n, char **word, FILE *file)
{
	struct point p = { .file = file, .word = n > 0 ? word[n - 1] : "" };
	const struct wf_cmd *cmd;

	if (n < 2)
		return;
	if (n > 2) {
		cmd = wf_cmd_find(word[1]);
		if (cmd != NULL)
			complete_word(&p, cmd, n, word);
		return;
	}
	for (size_t i = 0; wf_cmd_all()[i] != NULL; i++)
		offer(&p, wf_cmd_all()[i]->name, wf_cmd_all()[i]->summary);
	if (p.word[0] == '-') {
		offer(&p, "--help", wf_opt_help.help);
		offer(&p, "--version", "Says which version it is.");
	}
}
