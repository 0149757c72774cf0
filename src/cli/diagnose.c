/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose.c - evidence from files and folders, for weft diagnose. */
#include "cli/diagnose.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "evidence/read.h"
#include "text/file.h"

#define MAX_DEPTH 16
#define NAME_MAX_LEN 128

void wf_cli_diagnose_init(struct wf_cli_diagnose *c, struct wf_err *err)
{
	*c = (struct wf_cli_diagnose){ .err = err };
	wf_arena_init(&c->arena);
	c->last_note = &c->notes;
}

void wf_cli_diagnose_fini(struct wf_cli_diagnose *c)
{
	wf_arena_fini(&c->arena);
}

static const char *keep(struct wf_cli_diagnose *c, const char *text)
{
	size_t n = strlen(text) + 1;
	char *to = wf_arena_alloc(&c->arena, n, 1);

	return to == NULL ? "" : memcpy(to, text, n);
}

static void hear(void *arg, const char *file, unsigned line, unsigned column, const char *what)
{
	struct wf_cli_diagnose *c = arg;
	struct wf_cli_note *note = wf_arena_alloc(&c->arena, sizeof(*note), sizeof(void *));

	if (note == NULL)
		return;
	*note = (struct wf_cli_note){ NULL, keep(c, file), keep(c, what), line, column };
	*c->last_note = note;
	c->last_note = &note->next;
	c->n_notes++;
}

bool wf_cli_is_results(const char *path)
{
	char head[16] = "";
	FILE *file = fopen(path, "rb");
	size_t n;

	if (file == NULL)
		return false;
	n = fread(head, 1, sizeof(head), file);
	(void)fclose(file);
	return n == sizeof(head) && memcmp(head, "SQLite format 3", sizeof(head)) == 0;
}

static int read_file(struct wf_cli_diagnose *c, struct wf_evidence *ev, const char *path,
                     const char *device, unsigned when)
{
	const struct wf_subnet_ear ear = { hear, c };
	const struct wf_ev_source source = { path, device, when };
	struct wf_mem *heap = wf_mem_heap();
	char *text;
	size_t len;
	int ret = wf_file_read(path, WF_FILE_MAX, heap, &text, &len, c->err);

	if (ret != 0)
		return ret;
	c->n_files++;
	ret = wf_evidence_read(ev, text, len, &source, &ear, c->err);
	heap->free(heap, text);
	return ret;
}

/* A file's name without its ending. */
static void stem_of(const char *path, char name[NAME_MAX_LEN])
{
	const char *slash = strrchr(path, '/'), *from = slash == NULL ? path : slash + 1;
	size_t n = strcspn(from, ".");

	if (n == 0)
		n = strlen(from);
	snprintf(name, NAME_MAX_LEN, "%.*s", (int)(n < NAME_MAX_LEN ? n : NAME_MAX_LEN - 1), from);
}

static int read_path(struct wf_cli_diagnose *c, struct wf_evidence *ev, const char *path,
                     const char *device, unsigned when, unsigned depth);

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder, in their order. Returns how many, or -errno. */
static long list_folder(const char *path, char ***names_p, struct wf_err *err)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	size_t n = 0, room = 0;
	char **names = NULL;

	if (dir == NULL)
		return wf_err_say(err, "%s: %s", path, strerror(errno));
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		if (n == room) {
			char **more = realloc(names, (room = room * 2 + 64) * sizeof(*names));

			if (more == NULL)
				break;
			names = more;
		}
		names[n] = strdup(entry->d_name);
		if (names[n] == NULL)
			break;
		n++;
	}
	(void)closedir(dir);
	*names_p = names;
	if (entry != NULL) {
		while (n > 0)
			free(names[--n]);
		free(names);
		return -ENOMEM;
	}
	if (n > 0)
		qsort(names, n, sizeof(*names), by_name);
	return (long)n;
}

/* What is right below a folder is a device's that has its name, or the folder's own. */
static int read_folder(struct wf_cli_diagnose *c, struct wf_evidence *ev, const char *path,
                       const char *device, unsigned when, unsigned depth)
{
	char **names = NULL, below[WF_PATH_MAX], stem[NAME_MAX_LEN];
	long n = list_folder(path, &names, c->err);
	int ret = n < 0 ? (int)n : 0;

	for (long i = 0; names != NULL && i < n; i++) {
		if (ret == 0 && (size_t)snprintf(below, sizeof(below), "%s/%s", path, names[i]) >=
		                        sizeof(below))
			ret = wf_err_say(c->err, "%s: the name is too long", path);
		stem_of(names[i], stem);
		if (ret == 0)
			ret = read_path(c, ev, below, device != NULL ? device : stem, when,
			                depth + 1);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return ret;
}

static int read_path(struct wf_cli_diagnose *c, struct wf_evidence *ev, const char *path,
                     const char *device, unsigned when, unsigned depth)
{
	char stem[NAME_MAX_LEN];
	bool folder = false;

	if (strcmp(path, "-") != 0) {
		struct stat st;

		if (stat(path, &st) != 0)
			return wf_err_say(c->err, "%s: %s", path, strerror(errno));
		folder = S_ISDIR(st.st_mode);
	}
	if (folder) {
		if (depth > MAX_DEPTH)
			return wf_err_say(c->err, "%s: folders are too deep here", path);
		return read_folder(c, ev, path, device, when, depth);
	}
	stem_of(path, stem);
	return read_file(c, ev, path, device != NULL ? device : stem, when);
}

int wf_cli_diagnose_read(struct wf_cli_diagnose *c, struct wf_evidence *ev, const char *path,
                         unsigned when)
{
	const char *is = strchr(path, '=');
	char name[NAME_MAX_LEN];

	/* A file may have such a name itself. */
	if (is == NULL || is == path || (size_t)(is - path) >= sizeof(name) || wf_file_exists(path))
		return read_path(c, ev, path, NULL, when, 0);
	snprintf(name, sizeof(name), "%.*s", (int)(is - path), path);
	return read_path(c, ev, is + 1, name, when, 0);
}

int wf_cli_case_diagnose(struct wf_cli_case *k)
{
	int ret = wf_evidence_finish(k->ev);

	if (ret == 0)
		ret = wf_diagnose(k->ev, wf_mem_heap(), &k->d);
	k->diagnosed = ret == 0;
	return ret;
}

void wf_cli_case_fini(struct wf_cli_case *k)
{
	if (k->diagnosed)
		wf_diagnosis_fini(&k->d);
	wf_evidence_destroy(k->ev);
	*k = (struct wf_cli_case){ .name = NULL };
}
