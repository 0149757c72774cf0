/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.c - writes a message into a struct wf_err: one line, printable, cut at a whole character.
 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of a longer path only the end is kept, so that the message itself has room. */
#define MAX_FILE 200

/* A name or a value quoted from a file may hold anything; a message is one line for a terminal. */
static void make_printable(char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
	}
}

/* Takes away the beginning of a UTF-8 character that did not fit. */
static void drop_partial_char(char *text)
{
	size_t len = strlen(text);
	size_t start = len;
	size_t want = 1;
	unsigned char c;

	while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	if (start == 0)
		return;
	c = (unsigned char)text[start - 1];
	if (c >= 0xf0)
		want = 4;
	else if (c >= 0xe0)
		want = 3;
	else if (c >= 0xc0)
		want = 2;
	if (len - (start - 1) < want)
		text[start - 1] = '\0';
}

static void append(struct wf_err *err, size_t at, const char *fmt, va_list args) WF_PRINTF(3, 0);

static void append(struct wf_err *err, size_t at, const char *fmt, va_list args)
{
	int n = vsnprintf(err->text + at, sizeof(err->text) - at, fmt, args);

	if (n >= 0 && (size_t)n >= sizeof(err->text) - at)
		drop_partial_char(err->text);
	make_printable(err->text);
}

/* Returns what to print before a file's name and moves *file to the part that is kept. */
static const char *shorten(const char **file)
{
	size_t len = strlen(*file);

	if (len <= MAX_FILE)
		return "";
	*file += len - MAX_FILE;
	return "...";
}

int wf_err_byte(struct wf_err *err, const char *file, size_t offset, const char *fmt, ...)
{
	const char *dots = shorten(&file);
	va_list args;
	int n;

	if (err == NULL || err->text[0] != '\0')
		return -EINVAL;
	n = snprintf(err->text, sizeof(err->text), "%s%s: byte %zu: ", dots, file, offset);
	va_start(args, fmt);
	append(err, n > 0 ? (size_t)n : 0, fmt, args);
	va_end(args);
	return -EINVAL;
}

int wf_err_at(struct wf_err *err, const char *file, unsigned line, unsigned column, const char *fmt,
              ...)
{
	const char *dots = shorten(&file);
	va_list args;
	int n;

	if (err == NULL || err->text[0] != '\0')
		return -EINVAL;
	if (line == 0)
		n = snprintf(err->text, sizeof(err->text), "%s%s: ", dots, file);
	else if (column == 0)
		n = snprintf(err->text, sizeof(err->text), "%s%s:%u: ", dots, file, line);
	else
		n = snprintf(err->text, sizeof(err->text), "%s%s:%u:%u: ", dots, file, line,
		             column);
	va_start(args, fmt);
	append(err, n > 0 ? (size_t)n : 0, fmt, args);
	va_end(args);
	return -EINVAL;
}

int wf_err_say(struct wf_err *err, const char *fmt, ...)
{
	va_list args;

	if (err == NULL || err->text[0] != '\0')
		return -EINVAL;
	va_start(args, fmt);
	append(err, 0, fmt, args);
	va_end(args);
	return -EINVAL;
}
