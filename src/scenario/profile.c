/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.c - reads profiles and those they stand on.
 */
#include "scenario/profile.h"

#include <errno.h>
#include <string.h>

#include "text/suggest.h"

#define MAX_BASES 8

static const char *const other_keys[] = { "base", "description", "source", NULL };

static const struct {
	const char *folder;
	const char *what; /* how messages call one */
} kinds[] = {
	[WF_PROFILE_FABRIC] = { "", "profile" },
	[WF_PROFILE_MODEL] = { "models/", "model" },
	[WF_PROFILE_GPU] = { "gpus/", "GPU" },
	[WF_PROFILE_SWITCH] = { "switches/", "switch" },
	[WF_PROFILE_CABLE] = { "cables/", "cable" },
};
_Static_assert(WF_ARRAY_SIZE(kinds) == WF_PROFILE_KINDS, "a row for every kind");

const char *wf_profile_folder(enum wf_profile_kind kind)
{
	return kinds[kind].folder;
}

static bool is_file_name(const char *name)
{
	size_t len = strlen(name);

	return strchr(name, '/') != NULL || (len > 5 && strcmp(name + len - 5, ".yaml") == 0);
}

static int not_found(const struct wf_paths *paths, enum wf_profile_kind kind, const char *name,
                     const struct wf_place *place, struct wf_arena *arena, struct wf_err *err)
{
	const char *const *names;
	struct wf_suggest suggest;
	size_t n;
	int rc = wf_paths_list(paths, kinds[kind].folder, ".yaml", arena, &names, &n);

	if (rc != 0)
		return rc;
	if (n == 0)
		return wf_place_err(place, err,
		                    "there is no %s '%.60s', nor any other; say where they are "
		                    "with --profiles or WEFT_PROFILES",
		                    kinds[kind].what, name);
	wf_suggest_init(&suggest, name);
	for (size_t i = 0; i < n; i++)
		wf_suggest_offer(&suggest, names[i]);
	return wf_place_err(place, err, "there is no %s '%.60s'%s", kinds[kind].what, name,
	                    wf_suggest_text(&suggest, "there are"));
}

/* Reads the file of a profile, found under name, as a tree. */
static int read_tree(enum wf_profile_kind kind, const char *name, const char *path,
                     struct wf_infiles *inputs, struct wf_arena *arena, struct wf_ynode **root_p,
                     struct wf_err *err)
{
	struct wf_mem *heap = wf_mem_heap();
	char *text = NULL;
	size_t len = 0;
	int rc = wf_infiles_read(inputs, kinds[kind].what, name, path, WF_YAML_MAX_BYTES, heap,
	                         &text, &len, err);

	if (rc != 0)
		return rc;
	rc = wf_yaml_parse(text, len, path, arena, root_p, err);
	heap->free(heap, text);
	return rc;
}

static int read_profile(const struct wf_paths *paths, enum wf_profile_kind kind, const char *name,
                        const char *from, const struct wf_place *place, struct wf_infiles *inputs,
                        struct wf_arena *arena, struct wf_ynode **root_p, struct wf_err *err)
{
	char path[WF_PATH_MAX];
	int rc;

	if (is_file_name(name)) {
		if (wf_file_beside(from, name, path) != 0)
			return wf_place_err(place, err, "the name of the %s is too long",
			                    kinds[kind].what);
		if (!wf_file_exists(path))
			return wf_place_err(place, err, "there is no %s file %s", kinds[kind].what,
			                    path);
	} else if (name[0] == '\0' ||
	           wf_paths_find(paths, kinds[kind].folder, name, ".yaml", path) != 0) {
		return not_found(paths, kind, name, place, arena, err);
	}
	rc = read_tree(kind, name, path, inputs, arena, root_p, err);
	if (rc != 0)
		return rc;
	if ((*root_p)->kind != WF_YNODE_MAPPING)
		return wf_ynode_err(*root_p, err, "a %s is a mapping of parameters; this is %s",
		                    kinds[kind].what, wf_ynode_kind_name((*root_p)->kind));
	return 0;
}

int wf_profile_apply(const struct wf_paths *paths, enum wf_profile_kind kind, const char *name,
                     const char *from, const struct wf_place *place, struct wf_infiles *inputs,
                     struct wf_arena *arena, struct wf_settings *s, struct wf_err *err)
{
	struct wf_ynode *chain[MAX_BASES] = { NULL }; /* this one, its base, the base's base */
	struct wf_place at = *place;
	unsigned n = 0;
	int rc = 0;

	for (;;) {
		struct wf_ynode *base;

		if (n == MAX_BASES)
			return wf_place_err(
				&at, err,
				"base '%.60s' is the %dth profile on top of another; do "
				"they stand in a circle?",
				name, MAX_BASES);
		rc = read_profile(paths, kind, name, from, &at, inputs, arena, &chain[n], err);
		if (rc != 0)
			return rc;
		base = wf_ynode_get(chain[n++], "base");
		if (base == NULL)
			break;
		if (base->kind != WF_YNODE_SCALAR)
			return wf_ynode_err(base, err, "base is %s; write the name of one profile",
			                    wf_ynode_kind_name(base->kind));
		name = base->text;
		from = base->file;
		at = wf_place_of(base);
	}
	while (rc == 0 && n > 0)
		rc = wf_settings_apply(s, chain[--n], other_keys, err);
	return rc;
}

int wf_profile_describe(const struct wf_paths *paths, enum wf_profile_kind kind, const char *name,
                        struct wf_arena *arena, const char **text_p, struct wf_err *err)
{
	const struct wf_place nowhere = { .file = NULL };
	struct wf_ynode *root = NULL;
	const struct wf_ynode *node;
	int rc = read_profile(paths, kind, name, "", &nowhere, NULL, arena, &root, err);

	if (rc != 0)
		return rc;
	node = wf_ynode_get(root, "description");
	*text_p = node != NULL && node->kind == WF_YNODE_SCALAR ? node->text : "";
	return 0;
}
