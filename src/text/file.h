/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - files in and out: what is read is checked first, what is written appears whole or not.
 */
#ifndef WF_TEXT_FILE_H
#define WF_TEXT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"

#define WF_FILE_MAX ((size_t)64 << 20) /* bytes of a file that is read */
#define WF_PATH_MAX 4096

/*
 * Reads the whole of a regular file, or of standard input when path is "-", into memory from mem,
 * with a NUL behind it. Returns 0, -EINVAL with err filled (there is no such file, it is no regular
 * file, or it is longer than limit), or -ENOMEM. On success the caller owns *text_p.
 */
int wf_file_read(const char *path, size_t limit, struct wf_mem *mem, char **text_p, size_t *len_p,
                 struct wf_err *err) WF_MUST_USE;

/* Whether path names an existing file of any kind. */
bool wf_file_exists(const char *path);

/* Whether a and b name the same existing file, whatever they call it. */
bool wf_file_is_same(const char *a, const char *b);

/*
 * Writes to out the path of name as seen from the file called from: in the same folder, unless name
 * is absolute. Returns 0, or -ENAMETOOLONG when it does not fit.
 */
int wf_file_beside(const char *from, const char *name, char out[WF_PATH_MAX]) WF_MUST_USE;

/*
 * path cannot be begun to be written, for error. Fills err. Returns -EINVAL where the name is to
 * blame, or the right to write there; else -EIO.
 */
int wf_file_refused(const char *path, int error, struct wf_err *err);

/* A file that is being written. */
struct wf_out {
	FILE *file;             /* write here */
	char path[WF_PATH_MAX]; /* "" for standard output */
	char temp[WF_PATH_MAX]; /* where it grows until it is complete; "" where it does not */
};

/*
 * Begins to write path, in a temporary file beside it; path NULL is standard output. A device or a
 * pipe is written to as it is, never replaced. Returns 0, -EINVAL with err filled where path is no
 * place to write to (empty, no such folder, a folder, no right to), or -EIO with err filled.
 */
int wf_out_open(struct wf_out *out, const char *path, struct wf_err *err) WF_MUST_USE;

/*
 * Ends the writing: everything is on the disk and under its name, or nothing is there and -EIO is
 * returned with err filled. out is closed either way.
 */
int wf_out_commit(struct wf_out *out, struct wf_err *err) WF_MUST_USE;

/* Gives up: nothing is left behind. After wf_out_commit() it does nothing. */
void wf_out_abort(struct wf_out *out);

#endif
