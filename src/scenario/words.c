/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - words of a scenario as bits.
 */
#include "scenario/words.h"

#include <string.h>

struct word {
	const char *word;
	unsigned bit;
};

static const struct word matter_words[] = {
	{ "latency", WF_MATTER_LATENCY },   { "cost", WF_MATTER_COST },
	{ "ethernet", WF_MATTER_ETHERNET }, { "shared", WF_MATTER_SHARED },
	{ "staff", WF_MATTER_STAFF },       { NULL, 0 },
};

static const struct word state_words[] = {
	{ "best", WF_STATE_BEST },
	{ "default", WF_STATE_DEFAULT },
	{ "neglected", WF_STATE_NEGLECTED },
	{ "none", 0 },
	{ NULL, 0 },
};

static int parse_words(const char *text, const struct word *words, const char *all, unsigned *bits,
                       struct wf_err *err)
{
	const char *p = text + strspn(text, ", []");

	*bits = 0;
	while (*p != '\0') {
		const struct word *w = words;
		size_t len = strcspn(p, ", []");

		while (w->word != NULL && (strlen(w->word) != len || strncmp(p, w->word, len) != 0))
			w++;
		if (w->word == NULL)
			return wf_err_say(err, "'%.*s' is none of %s", (int)(len < 40 ? len : 40),
			                  p, all);
		*bits |= w->bit;
		p += len;
		p += strspn(p, ", []");
	}
	return 0;
}

int wf_matters_parse(const char *text, unsigned *matters, struct wf_err *err)
{
	return parse_words(text, matter_words, "latency, cost, ethernet, shared, staff", matters,
	                   err);
}

int wf_states_parse(const char *text, unsigned *states, struct wf_err *err)
{
	return parse_words(text, state_words, "best, default, neglected, none", states, err);
}
