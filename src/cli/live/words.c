/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - weft fault on: from words to an entry of a scenario's faults, and into the model. */
#include "cli/live/words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "live/model_state.h"
#include "scenario/faults_live.h"

#define NAME "weft fault"

/* ---- in the daemon ---- */

/* Whoever typed it has no line and column to look at. */
static void strip_place(struct wf_err *err)
{
	char text[WF_ERR_TEXT];
	unsigned line, column;
	int at = 0;

	if (sscanf(err->text, NAME ":%u:%u: %n", &line, &column, &at) != 2 || at == 0)
		return;
	snprintf(text, sizeof(text), "%s", err->text + at);
	snprintf(err->text, sizeof(err->text), "%s", text);
}

static int words_add(void *arg, struct wf_sim *sim, const char *text, struct wf_err *err)
{
	int ret = wf_faults_live_add(arg, sim, text, NAME, err);

	strip_place(err);
	return ret;
}

static int words_clear(void *arg, struct wf_sim *sim, const char *on, struct wf_err *err)
{
	return wf_faults_live_clear(arg, sim, on, err);
}

static bool words_line(void *arg, const struct wf_sim *sim, unsigned i, struct wf_live_words *line)
{
	struct wf_faults_line l;
	bool flap;

	if (!wf_faults_live_line(arg, i, wf_sim_now(sim), &l))
		return false;
	flap = strcmp(l.word, wf_fault_word(WF_FAULT_FLAP)) == 0;
	memset(line, 0, sizeof(*line));
	if (l.on != NULL)
		snprintf(line->on, sizeof(line->on), "%s", l.on);
	else
		snprintf(line->on, sizeof(line->on), "%s-%s", l.ends[0], l.ends[1]);
	snprintf(line->word, sizeof(line->word), "%s", l.word);
	snprintf(line->settings, sizeof(line->settings), "%s", l.settings);
	line->at = l.at;
	line->until = l.until != WF_PARAM_AUTO ? l.until : -1;
	line->every = flap ? l.every : -1;
	line->lasts = flap ? l.lasts : -1;
	return true;
}

const struct wf_daemon_words wf_live_words = {
	.add = words_add,
	.clear = words_clear,
	.line = words_line,
};

/* ---- in weft fault ---- */

/* An entry that grows. */
struct entry {
	char *text;
	size_t used;
	bool full;
};

static void put(struct entry *e, const char *text)
{
	size_t len = strlen(text);

	e->full |= e->used + len >= WF_LIVE_TEXT;
	if (e->full)
		return;
	memcpy(e->text + e->used, text, len + 1);
	e->used += len;
}

/* As YAML reads it back, whatever is in it. */
static void put_quoted(struct entry *e, const char *text)
{
	put(e, "'");
	for (; *text != '\0'; text++) {
		char one[3] = { *text, *text == '\'' ? '\'' : '\0', '\0' };

		put(e, one);
	}
	put(e, "'");
}

/* "nic.pcie=32Gbps" ... until a word without "=". */
static char **put_settings(struct entry *e, char **word)
{
	const char *before = "";

	put(e, ", set: {");
	for (; *word != NULL && strchr(*word, '=') != NULL; word++) {
		char *value = strchr(*word, '=');

		*value = '\0';
		put(e, before);
		put_quoted(e, *word);
		put(e, ": ");
		put_quoted(e, value + 1);
		*value = '=';
		before = ", ";
	}
	put(e, "}");
	return word;
}

int wf_live_words_entry(char **word, char text[WF_LIVE_TEXT])
{
	static const char *const times[] = { "at", "until", "every", "for", "rate" };
	struct entry e = { .text = text };

	if (word[0] == NULL || word[1] == NULL)
		return wf_cli_usage("fault", "on: write what it happens to and what, e.g. on "
		                             "leaf0-spine1 flap every 1s for 100ms");
	put(&e, "{on: ");
	put_quoted(&e, word[0]);
	if (strcmp(word[1], "set") == 0) {
		if (word[2] == NULL || strchr(word[2], '=') == NULL)
			return wf_cli_usage("fault", "set: write a parameter and its value, e.g. "
			                             "set nic.pcie=32Gbps");
		word = put_settings(&e, word + 2);
	} else {
		put(&e, ", fault: ");
		put_quoted(&e, word[1]);
		word += 2;
	}
	for (; word[0] != NULL; word += 2) {
		size_t i = 0;

		while (i < WF_ARRAY_SIZE(times) && strcmp(times[i], word[0]) != 0)
			i++;
		if (i == WF_ARRAY_SIZE(times))
			return wf_cli_usage("fault",
			                    "'%.40s' is not expected; at, until, every and for "
			                    "say when, rate how slow a receiver is",
			                    word[0]);
		if (word[1] == NULL)
			return wf_cli_usage("fault", "%s needs a %s", word[0],
			                    strcmp(word[0], "rate") == 0 ? "rate, e.g. 32Gbps"
			                                                 : "time, e.g. 10ms");
		put(&e, ", ");
		put(&e, word[0]);
		put(&e, ": ");
		put_quoted(&e, word[1]);
	}
	put(&e, "}");
	if (e.full)
		return wf_cli_usage("fault", "that is too much for one fault: more than %d letters",
		                    WF_LIVE_TEXT - 1);
	return WF_EXIT_OK;
}
