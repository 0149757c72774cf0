/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.c - finds profiles and distributions by name.
 */
#include "scenario/paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenario/self.h"
#include "scenario/yaml.h"

#define MAX_NAMES 4096

/* Where data is installed: by its whole path, and from the folders of programs and libraries. */
#ifndef WEFT_DATADIR
#define WEFT_DATADIR "/usr/local/share"
#endif
#ifndef WEFT_DATA_FROM_BIN
#define WEFT_DATA_FROM_BIN "../share"
#endif
#ifndef WEFT_DATA_FROM_LIB
#define WEFT_DATA_FROM_LIB "../share"
#endif

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Adds a folder if it exists and is not there yet. */
static void add(struct wf_paths *paths, const char *dir)
{
	if (!is_folder(dir) || paths->n == WF_PATHS_MAX || strlen(dir) >= WF_PATH_MAX)
		return;
	for (unsigned i = 0; i < paths->n; i++) {
		if (strcmp(paths->dir[i], dir) == 0)
			return;
	}
	memcpy(paths->dir[paths->n++], dir, strlen(dir) + 1);
}

/* Adds the profiles in the folder of data that is at the way data from the folder of file. */
static void add_from(struct wf_paths *paths, const char *file, const char *data)
{
	const char *slash = strrchr(file, '/');
	char path[WF_PATH_MAX];
	int n;

	if (slash == NULL)
		return;
	n = snprintf(path, sizeof(path), "%.*s/%s/weft/profiles", (int)(slash - file), file, data);
	if (n > 0 && n < WF_PATH_MAX)
		add(paths, path);
}

/* Those that came with this weft, wherever it was moved to. */
static void add_own(struct wf_paths *paths)
{
	char file[WF_PATH_MAX];

	if (wf_self_program(file) == 0) {
		add_from(paths, file, "share"); /* a build tree */
		add_from(paths, file, WEFT_DATA_FROM_BIN);
	}
	if (wf_self_object(file) == 0)
		add_from(paths, file, WEFT_DATA_FROM_LIB);
}

int wf_paths_init(struct wf_paths *paths, const char *option, struct wf_err *err)
{
	const char *env = getenv("WEFT_PROFILES");

	paths->n = 0;
	if (option != NULL && !is_folder(option))
		return wf_err_say(err, "--profiles %s: there is no such folder", option);
	if (env != NULL && env[0] != '\0' && !is_folder(env))
		return wf_err_say(err, "WEFT_PROFILES=%s: there is no such folder", env);
	if (option != NULL)
		add(paths, option);
	if (env != NULL && env[0] != '\0')
		add(paths, env);
	add_own(paths);
	add(paths, WEFT_DATADIR "/weft/profiles");
	return 0;
}

int wf_paths_find(const struct wf_paths *paths, const char *sub, const char *name,
                  const char *suffix, char out[WF_PATH_MAX])
{
	for (unsigned i = 0; i < paths->n; i++) {
		int n = snprintf(out, WF_PATH_MAX, "%s/%s%s%s", paths->dir[i], sub, name, suffix);

		if (n > 0 && n < WF_PATH_MAX && wf_file_exists(out))
			return 0;
	}
	return -ENOENT;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds the names in one folder to names[0..*n). */
static int list_folder(const char *dir, const char *suffix, struct wf_arena *arena,
                       const char **names, size_t *n)
{
	size_t tail = strlen(suffix);
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = 0;

	if (d == NULL)
		return 0;
	while (rc == 0 && *n < MAX_NAMES && (e = readdir(d)) != NULL) {
		size_t len = strlen(e->d_name);

		if (e->d_name[0] == '.' || len <= tail ||
		    strcmp(e->d_name + len - tail, suffix) != 0)
			continue;
		names[*n] = wf_arena_strdup(arena, e->d_name, len - tail);
		if (names[*n] == NULL)
			rc = -ENOMEM;
		else
			(*n)++;
	}
	closedir(d);
	return rc;
}

int wf_paths_list(const struct wf_paths *paths, const char *sub, const char *suffix,
                  struct wf_arena *arena, const char *const **names_p, size_t *n_p)
{
	const char **names = wf_arena_alloc(arena, MAX_NAMES * sizeof(*names), sizeof(*names));
	size_t n = 0, kept = 0;

	if (names == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < paths->n; i++) {
		char dir[WF_PATH_MAX];
		int rc;

		if (snprintf(dir, sizeof(dir), "%s/%s", paths->dir[i], sub) >= (int)sizeof(dir))
			continue;
		rc = list_folder(dir, suffix, arena, names, &n);
		if (rc != 0)
			return rc;
	}
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++) {
		if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0)
			names[kept++] = names[i];
	}
	*names_p = names;
	*n_p = kept;
	return 0;
}
