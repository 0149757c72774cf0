/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infiles.c - the list of files that runs follow from, and its digests.
 */
#include "scenario/infiles.h"

#include <errno.h>
#include <string.h>

#include "scenario/yaml.h"
#include "text/file.h"

struct wf_infiles *wf_infiles_create(struct wf_arena *arena)
{
	struct wf_infiles *files = wf_arena_alloc(arena, sizeof(*files), sizeof(void *));

	if (files != NULL)
		*files = (struct wf_infiles){ .arena = arena, .fabric = WF_INFILE_OF_ALL };
	return files;
}

static void hash_text(const char *text, size_t len, char hash[WF_SHA256_TEXT])
{
	struct wf_sha256 h;

	wf_sha256_init(&h);
	wf_sha256_add(&h, text, len);
	wf_sha256_text(&h, hash);
}

static void append(struct wf_infiles *files, struct wf_infile *in)
{
	in->next = NULL;
	if (files->last != NULL)
		files->last->next = in;
	else
		files->first = in;
	files->last = in;
}

int wf_infiles_add(struct wf_infiles *files, const char *kind, const char *name, const char *file,
                   const char *text, size_t len)
{
	struct wf_infile *in = wf_arena_alloc(files->arena, sizeof(*in), sizeof(void *));

	if (in == NULL)
		return -ENOMEM;
	*in = (struct wf_infile){
		.kind = kind,
		.name = wf_arena_strdup(files->arena, name, strlen(name)),
		.file = wf_arena_strdup(files->arena, file, strlen(file)),
		.size = len,
		.fabric = files->fabric,
	};
	if (in->name == NULL || in->file == NULL)
		return -ENOMEM;
	hash_text(text, len, in->hash);
	append(files, in);
	return 0;
}

int wf_infiles_read(struct wf_infiles *files, const char *kind, const char *name, const char *file,
                    size_t limit, struct wf_mem *mem, char **text_p, size_t *len_p,
                    struct wf_err *err)
{
	int rc = wf_file_read(file, limit, mem, text_p, len_p, err);

	if (rc != 0 || files == NULL)
		return rc;
	rc = wf_infiles_add(files, kind, name, file, *text_p, *len_p);
	if (rc != 0)
		mem->free(mem, *text_p);
	return rc;
}

int wf_infiles_note(struct wf_infiles *files, const char *kind, const char *name, const char *file,
                    struct wf_err *err)
{
	struct wf_mem *heap = wf_mem_heap();
	char *text;
	size_t len;
	int rc = wf_infiles_read(files, kind, name, file, WF_FILE_MAX, heap, &text, &len, err);

	if (rc == 0)
		heap->free(heap, text);
	return rc;
}

int wf_infiles_again(const struct wf_infiles *files, const char *file, size_t limit,
                     struct wf_mem *mem, char **text_p, size_t *len_p, struct wf_err *err)
{
	int rc = wf_file_read(file, limit, mem, text_p, len_p, err);
	char hash[WF_SHA256_TEXT];

	if (rc != 0 || files == NULL)
		return rc;
	hash_text(*text_p, *len_p, hash);
	for (const struct wf_infile *in = files->first; in != NULL; in = in->next) {
		if (strcmp(in->file, file) == 0 && strcmp(in->hash, hash) == 0)
			return 0;
	}
	mem->free(mem, *text_p);
	return wf_err_at(err, file, 0, 0,
	                 "it has changed since the scenario was read; begin again");
}

int wf_infiles_join(struct wf_infiles *files, const struct wf_infiles *now, bool may_add,
                    struct wf_err *err)
{
	for (const struct wf_infile *in = now->first; in != NULL; in = in->next) {
		const struct wf_infile *was = files->first;
		struct wf_infile *copy;

		while (was != NULL && strcmp(was->file, in->file) != 0)
			was = was->next;
		if (was == NULL ? !may_add : strcmp(was->hash, in->hash) != 0) {
			wf_err_at(err, in->file, 0, 0,
			          "it has changed since weft began; begin again");
			return -EIO;
		}
		if (was != NULL)
			continue;
		copy = wf_arena_alloc(files->arena, sizeof(*copy), sizeof(void *));
		if (copy == NULL)
			return -ENOMEM;
		*copy = *in;
		copy->file = wf_arena_strdup(files->arena, in->file, strlen(in->file));
		copy->kind = copy->name = "";
		if (copy->file == NULL)
			return -ENOMEM;
		append(files, copy);
	}
	return 0;
}

void wf_infiles_digest(const struct wf_infiles *files, unsigned fabric, char text[WF_SHA256_TEXT])
{
	struct wf_sha256 h;

	wf_sha256_init(&h);
	for (const struct wf_infile *in = files->first; in != NULL; in = in->next) {
		if (!wf_infile_is_of(in, fabric))
			continue;
		/* With their NULs, so that nothing runs into what follows. */
		wf_sha256_add(&h, in->kind, strlen(in->kind) + 1);
		wf_sha256_add(&h, in->name, strlen(in->name) + 1);
		wf_sha256_add(&h, in->hash, sizeof(in->hash));
	}
	wf_sha256_text(&h, text);
}
