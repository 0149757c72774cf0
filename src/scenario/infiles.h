/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infiles.h - every file that is read on the way to a run, known by its contents.
 *
 * A run follows from what is in its files, in the order in which they are read: which file comes
 * next is said by those before it. So a digest over their contents and the names that they call one
 * another by stands for all of them, wherever the folder is and whatever their dates are. All files
 * of a scenario are read through here, and by wf_scenario_read(): what is not in the list cannot
 * have had a part in a run.
 */
#ifndef WF_SCENARIO_INFILES_H
#define WF_SCENARIO_INFILES_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sha256.h"

#define WF_INFILE_OF_ALL (-1)

struct wf_infile {
	const char *kind; /* "scenario", "profile", "topology" ...: what it was read as */
	const char *name; /* as it was asked for: "roce-400g", "topo.txt" */
	const char *file; /* its path */
	char hash[WF_SHA256_TEXT];
	uint64_t size;
	int fabric; /* whose runs alone it has a part in, or WF_INFILE_OF_ALL */
	struct wf_infile *next;
};

struct wf_infiles {
	struct wf_arena *arena; /* where all of it lies */
	struct wf_infile *first, *last;
	int fabric; /* of what is read next */
};

/* An empty list, in arena's memory; NULL without memory. */
struct wf_infiles *wf_infiles_create(struct wf_arena *arena) WF_MUST_USE;

/* What was read from file as kind under name is text. Returns 0 or -ENOMEM. */
int wf_infiles_add(struct wf_infiles *files, const char *kind, const char *name, const char *file,
                   const char *text, size_t len) WF_MUST_USE;

/*
 * Reads a file as wf_file_read() does and adds it. files NULL: no run will follow from it. Returns
 * as that does.
 */
int wf_infiles_read(struct wf_infiles *files, const char *kind, const char *name, const char *file,
                    size_t limit, struct wf_mem *mem, char **text_p, size_t *len_p,
                    struct wf_err *err) WF_MUST_USE;

/* Adds a file that is read when there is use for it, with wf_infiles_again(). Returns as above. */
int wf_infiles_note(struct wf_infiles *files, const char *kind, const char *name, const char *file,
                    struct wf_err *err) WF_MUST_USE;

/*
 * Reads a file that was added before, from any thread. That it has changed since is an error: the
 * run would not be the one that it is known as. files NULL: it is just read.
 */
int wf_infiles_again(const struct wf_infiles *files, const char *file, size_t limit,
                     struct wf_mem *mem, char **text_p, size_t *len_p,
                     struct wf_err *err) WF_MUST_USE;

/*
 * Adds the files of now that files does not have, where may_add says so. Returns 0, -ENOMEM, or
 * -EIO with err filled where a file is not as it is in files, or not in it.
 */
int wf_infiles_join(struct wf_infiles *files, const struct wf_infiles *now, bool may_add,
                    struct wf_err *err) WF_MUST_USE;

/* Whether a file has a part in the runs of a fabric. */
static inline bool wf_infile_is_of(const struct wf_infile *input, unsigned fabric)
{
	return input->fabric == WF_INFILE_OF_ALL || input->fabric == (int)fabric;
}

/* The digest of all that a run on a fabric follows from. */
void wf_infiles_digest(const struct wf_infiles *files, unsigned fabric, char text[WF_SHA256_TEXT]);

#endif
