/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - a named fabric, model, GPU or part: a file of parameters, perhaps on top of another
 * one.
 *
 *	description: one line for weft list
 *	source: whose configuration it is, and where that is written
 *	base: another profile, whose values hold where this one says nothing
 *	ecn: {kmin: 150KB}
 */
#ifndef WF_SCENARIO_PROFILE_H
#define WF_SCENARIO_PROFILE_H

#include "scenario/infiles.h"
#include "scenario/paths.h"
#include "scenario/settings.h"

/* Each kind has a folder of its own: fabrics are in profiles/ itself. */
enum wf_profile_kind {
	WF_PROFILE_FABRIC,
	WF_PROFILE_MODEL,
	WF_PROFILE_GPU,
	WF_PROFILE_SWITCH,
	WF_PROFILE_CABLE,
	WF_PROFILE_KINDS,
};

/* The folder of a kind below profiles/, with a slash behind it, or "". */
const char *wf_profile_folder(enum wf_profile_kind kind);

/*
 * Sets what the profile called name sets. A name with a slash in it, or that ends in .yaml, is a
 * file, as seen from the file from. place is where the name was written. What is read is added to
 * inputs (NULL: no run follows from it). Returns 0, -ENOMEM, or -EINVAL with err filled.
 */
int wf_profile_apply(const struct wf_paths *paths, enum wf_profile_kind kind, const char *name,
                     const char *from, const struct wf_place *place, struct wf_infiles *inputs,
                     struct wf_arena *arena, struct wf_settings *s, struct wf_err *err) WF_MUST_USE;

/*
 * The profile's line of description in arena's memory, "" when it has none. Errors as above.
 */
int wf_profile_describe(const struct wf_paths *paths, enum wf_profile_kind kind, const char *name,
                        struct wf_arena *arena, const char **text_p,
                        struct wf_err *err) WF_MUST_USE;

#endif
