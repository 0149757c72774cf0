/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - what is wrong with somebody's input, in words.
 *
 * Readers of scenario, profile, topology and trace text fill a struct wf_err and return -EINVAL (or
 * another -errno). The text is one line of the form
 *
 *	file:line:column: what is wrong; what would be right
 *
 * with line and column left out where there is none (0).
 */
#ifndef WF_BASE_ERR_H
#define WF_BASE_ERR_H

#include "base/base.h"

#define WF_ERR_TEXT 512

struct wf_err {
	char text[WF_ERR_TEXT];
};

/* Writes the line into err (NULL: nowhere); the first error wins. Always returns -EINVAL. */
int wf_err_at(struct wf_err *err, const char *file, unsigned line, unsigned column, const char *fmt,
              ...) WF_PRINTF(5, 6);

/* The same for a file that is not text: "file: byte 12: what is wrong". Always returns -EINVAL. */
int wf_err_byte(struct wf_err *err, const char *file, size_t offset, const char *fmt, ...)
	WF_PRINTF(4, 5);

/* The same for an error without a place in a file. Always returns -EINVAL. */
int wf_err_say(struct wf_err *err, const char *fmt, ...) WF_PRINTF(2, 3);

#endif
