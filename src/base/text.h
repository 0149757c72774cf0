/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - the words of a text file in memory, each with its place.
 *
 * Words are separated by blanks (a carriage return is one, and a comma where commas says so); from
 * a '#' that starts a word on, the rest of a line is a comment. Lines without words do not count.
 * Any bytes are allowed.
 */
#ifndef WF_BASE_TEXT_H
#define WF_BASE_TEXT_H

#include <stdbool.h>

#include "base/base.h"
#include "base/err.h"
#include "base/param.h"

struct wf_text {
	const char *name; /* of the file, for messages */
	const char *at;
	const char *end;
	const char *line_start;
	unsigned line; /* from 1 */
	bool commas;   /* separate words, too */
	struct wf_err *err;
};

struct wf_word {
	const char *at;
	size_t len;
	unsigned line;
	unsigned column; /* from 1, in bytes */
};

/* Starts before the first line. Borrows the text, name and err. */
void wf_text_init(struct wf_text *text, const char *bytes, size_t len, const char *name,
                  struct wf_err *err);

/* Goes to the next line that has a word, unless a word of this line is still to come. */
bool wf_text_seek(struct wf_text *text);

/* Takes the next word of this line. At its end returns false, with the place behind it in *word. */
bool wf_text_word(struct wf_text *text, struct wf_word *word);

/*
 * Takes the next word of this line, which must be there; what names it in messages ("the number of
 * nodes"). Returns 0, or -EINVAL with err filled.
 */
int wf_text_expect(struct wf_text *text, const char *what, struct wf_word *word) WF_MUST_USE;

/* Sees that this line has no more words; what names all it has. */
int wf_text_end_line(struct wf_text *text, const char *what) WF_MUST_USE;

/* The word as a whole number from min to max. Returns 0, or -EINVAL with err filled. */
int wf_text_number(const struct wf_text *text, const struct wf_word *word, const char *what,
                   uint64_t min, uint64_t max, uint64_t *value_p) WF_MUST_USE;

/*
 * The word as a value of a kind of base/param.h that is stored in 64 bits, from min to max in that
 * kind's unit. Returns 0, or -EINVAL with err filled.
 */
int wf_text_value(const struct wf_text *text, const struct wf_word *word, const char *what,
                  enum wf_param_kind kind, int64_t min, int64_t max, uint64_t *value_p) WF_MUST_USE;

/* Whether the word is name, in whatever case of letters. */
bool wf_word_is(const struct wf_word *word, const char *name);

#endif
