/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - the words of a text file in memory, each with its place. */
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

#define SHOWN 40     /* bytes of a word that a message quotes */
#define MAX_VALUE 63 /* bytes of a value with a unit */

void wf_text_init(struct wf_text *text, const char *bytes, size_t len, const char *name,
                  struct wf_err *err)
{
	*text = (struct wf_text){ .name = name,
		                  .at = bytes,
		                  .end = bytes + len,
		                  .line_start = bytes,
		                  .line = 1,
		                  .err = err };
}

static bool is_blank(const struct wf_text *text, char c)
{
	return (c == ',' && text->commas) || c == ' ' || c == '\t' || c == '\r' || c == '\v' ||
	       c == '\f';
}

/* Skips blanks and a comment. Returns whether a word follows on this line. */
static bool skip_blanks(struct wf_text *text)
{
	while (text->at < text->end && is_blank(text, *text->at))
		text->at++;
	if (text->at < text->end && *text->at == '#') {
		const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));

		text->at = end == NULL ? text->end : end;
	}
	return text->at < text->end && *text->at != '\n';
}

bool wf_text_seek(struct wf_text *text)
{
	while (!skip_blanks(text)) {
		if (text->at == text->end)
			return false;
		text->at++;
		text->line_start = text->at;
		text->line++;
	}
	return true;
}

bool wf_text_word(struct wf_text *text, struct wf_word *word)
{
	bool found = skip_blanks(text);

	word->at = text->at;
	word->line = text->line;
	word->column = (unsigned)(text->at - text->line_start) + 1;
	while (text->at < text->end && !is_blank(text, *text->at) && *text->at != '\n')
		text->at++;
	word->len = (size_t)(text->at - word->at);
	return found;
}

int wf_text_expect(struct wf_text *text, const char *what, struct wf_word *word)
{
	if (wf_text_word(text, word))
		return 0;
	return wf_err_at(text->err, text->name, word->line, word->column,
	                 "%s is missing; it comes next on this line", what);
}

int wf_text_end_line(struct wf_text *text, const char *what)
{
	struct wf_word word;

	if (!wf_text_word(text, &word))
		return 0;
	return wf_err_at(text->err, text->name, word.line, word.column,
	                 "\"%.*s\" is too much; the line has only %s",
	                 (int)wf_min_u64(word.len, SHOWN), word.at, what);
}

int wf_text_number(const struct wf_text *text, const struct wf_word *word, const char *what,
                   uint64_t min, uint64_t max, uint64_t *value_p)
{
	uint64_t value = 0;
	bool good = word->len > 0;

	for (size_t i = 0; i < word->len && good; i++) {
		/* Anything below '0' becomes a large number. */
		uint64_t digit = (uint64_t)(unsigned char)word->at[i] - '0';

		good = digit <= 9 && digit <= max && value <= (max - digit) / 10;
		if (good)
			value = value * 10 + digit;
	}
	if (!good || value < min)
		return wf_err_at(text->err, text->name, word->line, word->column,
		                 "%s is \"%.*s\"; a whole number from %" PRIu64 " to %" PRIu64
		                 " is needed",
		                 what, (int)wf_min_u64(word->len, SHOWN), word->at, min, max);
	*value_p = value;
	return 0;
}

int wf_text_value(const struct wf_text *text, const struct wf_word *word, const char *what,
                  enum wf_param_kind kind, int64_t min, int64_t max, uint64_t *value_p)
{
	struct wf_param row = {
		.name = what, .kind = kind, .size = sizeof(*value_p), .min = min, .max = max
	};
	struct wf_err why = { { 0 } };
	char value[MAX_VALUE + 1] = { 0 };

	if (word->len > MAX_VALUE || memchr(word->at, '\0', word->len) != NULL)
		return wf_err_at(text->err, text->name, word->line, word->column,
		                 "%s is \"%.*s\"; a number with a unit is needed", what,
		                 (int)wf_min_u64(word->len, SHOWN), word->at);
	memcpy(value, word->at, word->len);
	if (wf_param_set(&row, value_p, value, &why) == 0)
		return 0;
	return wf_err_at(text->err, text->name, word->line, word->column, "%s: %s", what, why.text);
}

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool wf_word_is(const struct wf_word *word, const char *name)
{
	if (strlen(name) != word->len)
		return false;
	for (size_t i = 0; i < word->len; i++) {
		if (to_lower(word->at[i]) != to_lower(name[i]))
			return false;
	}
	return true;
}
