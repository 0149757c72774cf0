/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_infiles.c - files are known by their contents and by how they were asked for, and a run is
 * not done with one that has changed.
 */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenario/infiles.h"
#include "text/file.h"

static void add(struct wf_infiles *files, int fabric, const char *kind, const char *name,
                const char *file, const char *text)
{
	files->fabric = fabric;
	assert_int_equal(wf_infiles_add(files, kind, name, file, text, strlen(text)), 0);
}

struct row {
	int fabric;
	const char *kind, *name, *file, *text;
};

static const struct row base[] = {
	{ WF_INFILE_OF_ALL, "scenario", "", "s.yaml", "x" },
	{ 0, "profile", "a", "p/a.yaml", "one" },
	{ 1, "profile", "b", "p/b.yaml", "two" },
	{ WF_INFILE_OF_ALL, "sizes", "s.txt", "s.txt", "three" },
};

/* The digests of two fabrics with a row changed, or left out where it has no kind. */
static void digests(size_t which, const struct row *other, char text[2][WF_SHA256_TEXT])
{
	struct wf_arena arena;
	struct wf_infiles *files;

	wf_arena_init(&arena);
	files = wf_infiles_create(&arena);
	assert_non_null(files);
	for (size_t i = 0; i < WF_ARRAY_SIZE(base); i++) {
		const struct row *r = i == which ? other : &base[i];

		if (r->kind != NULL)
			add(files, r->fabric, r->kind, r->name, r->file, r->text);
	}
	wf_infiles_digest(files, 0, text[0]);
	wf_infiles_digest(files, 1, text[1]);
	wf_arena_fini(&arena);
}

static void test_digest(void **state)
{
	static const struct {
		size_t which;
		struct row other;
		bool changes[2]; /* the digest of the fabric */
	} rows[] = {
		/* Contents and names count, places do not. */
		{ 0, { WF_INFILE_OF_ALL, "scenario", "", "s.yaml", "y" }, { true, true } },
		{ 0, { WF_INFILE_OF_ALL, "scenario", "", "d/t.yaml", "x" }, { false, false } },
		{ 1, { 0, "profile", "a", "p/a.yaml", "One" }, { true, false } },
		{ 1, { 0, "profile", "A", "p/a.yaml", "one" }, { true, false } },
		{ 1, { 0, "profile", "a", "q/a.yaml", "one" }, { false, false } },
		{ 1, { 1, "profile", "a", "p/a.yaml", "one" }, { true, true } },
		{ 2, { 1, "profile", "b", "p/b.yaml", "two " }, { false, true } },
		{ 2, { 1, NULL, NULL, NULL, NULL }, { false, true } },
		{ 3, { WF_INFILE_OF_ALL, "trace", "s.txt", "s.txt", "three" }, { true, true } },
		/* Nothing runs into what follows. */
		{ 3, { WF_INFILE_OF_ALL, "size", "ss.txt", "s.txt", "three" }, { true, true } },
	};
	char was[2][WF_SHA256_TEXT], is[2][WF_SHA256_TEXT];

	(void)state;
	digests(0, &base[0], was);
	assert_string_not_equal(was[0], was[1]);
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		digests(rows[i].which, &rows[i].other, is);
		for (int f = 0; f < 2; f++) {
			if ((strcmp(was[f], is[f]) != 0) != rows[i].changes[f])
				fail_msg("row %zu, fabric %d", i, f);
		}
	}
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static void test_again(void **state)
{
	char path[] = "/tmp/weft-infile-XXXXXX", *text = NULL;
	struct wf_mem *heap = wf_mem_heap();
	struct wf_infiles *files;
	struct wf_arena arena;
	struct wf_err err = { "" };
	size_t len = 0;

	(void)state;
	assert_true(close(mkstemp(path)) == 0);
	write_file(path, "abc");
	wf_arena_init(&arena);
	files = wf_infiles_create(&arena);
	assert_non_null(files);
	assert_int_equal(wf_infiles_note(files, "trace", "t", path, &err), 0);
	assert_string_equal(files->first->hash,
	                    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_int_equal(files->first->size, 3);
	assert_int_equal(wf_infiles_again(files, path, WF_FILE_MAX, heap, &text, &len, &err), 0);
	assert_string_equal(text, "abc");
	heap->free(heap, text);
	write_file(path, "abd");
	assert_int_equal(wf_infiles_again(files, path, WF_FILE_MAX, heap, &text, &len, &err),
	                 -EINVAL);
	assert_non_null(strstr(err.text, "it has changed since the scenario was read"));
	/* Where nobody keeps account there is nothing to compare with. */
	assert_int_equal(wf_infiles_again(NULL, path, WF_FILE_MAX, heap, &text, &len, &err), 0);
	heap->free(heap, text);
	unlink(path);
	assert_int_equal(wf_infiles_note(files, "trace", "t", path, &err), -EINVAL);
	wf_arena_fini(&arena);
}

/* What a sweep reads at one point is what it read at another, and in the beginning. */
static void test_join(void **state)
{
	struct wf_infiles *files, *now, *edited;
	struct wf_arena arena;
	struct wf_err err = { "" };

	(void)state;
	wf_arena_init(&arena);
	files = wf_infiles_create(&arena);
	now = wf_infiles_create(&arena);
	edited = wf_infiles_create(&arena);
	assert_true(files != NULL && now != NULL && edited != NULL);
	add(now, 0, "scenario", "", "s.yaml", "a");
	add(now, 0, "profile", "x", "x.yaml", "b");
	add(edited, 0, "profile", "y", "x.yaml", "c");
	assert_int_equal(wf_infiles_join(files, now, false, &err), -EIO);
	assert_string_equal(err.text, "s.yaml: it has changed since weft began; begin again");
	assert_int_equal(wf_infiles_join(files, now, true, &err), 0);
	assert_int_equal(wf_infiles_join(files, now, false, &err), 0);
	assert_string_equal(files->last->file, "x.yaml");
	for (int may_add = 0; may_add < 2; may_add++) {
		err.text[0] = '\0';
		assert_int_equal(wf_infiles_join(files, edited, may_add, &err), -EIO);
		assert_string_equal(err.text,
		                    "x.yaml: it has changed since weft began; begin again");
	}
	wf_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_digest),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
