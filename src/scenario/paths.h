/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h - where named things are: profiles (NAME.yaml) and distributions of sizes
 * (sizes/NAME.txt).
 *
 * Looked through in this order: the folder of --profiles, that of $WEFT_PROFILES,
 * share/weft/profiles in the program's folder (a build tree) and beside it, beside the folder of
 * the library that this is in, and below the prefix that weft was configured for. The first file
 * found counts.
 */
#ifndef WF_SCENARIO_PATHS_H
#define WF_SCENARIO_PATHS_H

#include "base/err.h"
#include "base/mem.h"
#include "text/file.h"

#define WF_PATHS_MAX 6

struct wf_paths {
	char dir[WF_PATHS_MAX][WF_PATH_MAX];
	unsigned n;
};

/*
 * Finds the folders that exist. option is the argument of --profiles or NULL. Returns 0, or -EINVAL
 * with err filled when a folder that was asked for is not there.
 */
int wf_paths_init(struct wf_paths *paths, const char *option, struct wf_err *err) WF_MUST_USE;

/*
 * The file of a name: below the folder sub ("" for none) of the first folder that has it, with the
 * ending suffix. Returns 0, or -ENOENT.
 */
int wf_paths_find(const struct wf_paths *paths, const char *sub, const char *name,
                  const char *suffix, char out[WF_PATH_MAX]) WF_MUST_USE;

/*
 * All names below sub with the ending suffix, sorted, each once, in arena's memory. Returns 0 or
 * -ENOMEM. A folder that cannot be read has none.
 */
int wf_paths_list(const struct wf_paths *paths, const char *sub, const char *suffix,
                  struct wf_arena *arena, const char *const **names_p, size_t *n_p) WF_MUST_USE;

#endif
