/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_warn.c - what somebody who reads the report of a study ought to know of how it came about.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "results/build_id.h"
#include "results/page_priv.h"
#include "text/file.h"

#define TEXT 512

struct teller {
	struct wf_page *page;
	wf_page_warning_fn *fn;
	void *arg;
};

/* Column 0 of each row is a name, and the words are about it. */
static void tell_rows(const struct teller *t, const char *sql, const char *words)
{
	sqlite3_stmt *stmt = wf_page_query(t->page, sql, t->page->study, WF_BUILD_ID_SHORT);

	while (wf_page_row(t->page, stmt)) {
		const unsigned char *name = sqlite3_column_text(stmt, 0);
		char text[TEXT];

		snprintf(text, sizeof(text), "%.200s %s", name != NULL ? (const char *)name : "",
		         words);
		t->fn(t->arg, text);
	}
}

/* Whether a file is there and has other contents. */
static bool has_changed(const char *file, const char *hash)
{
	struct wf_mem *heap = wf_mem_heap();
	char *text = NULL, now[WF_SHA256_TEXT];
	struct wf_sha256 h;
	size_t len = 0;

	if (strcmp(file, "-") == 0 || wf_file_read(file, WF_FILE_MAX, heap, &text, &len, NULL) != 0)
		return false;
	wf_sha256_init(&h);
	wf_sha256_add(&h, text, len);
	wf_sha256_text(&h, now);
	heap->free(heap, text);
	return strcmp(now, hash) != 0;
}

/* Files that are still where they were and are not what they were. */
static void tell_edited(const struct teller *t)
{
	sqlite3_stmt *stmt = wf_page_query(
		t->page,
		"SELECT file, max(hash), count(DISTINCT run) FROM input JOIN run ON run.id = run "
		"WHERE study = ?1 GROUP BY file HAVING min(hash) = max(hash) ORDER BY "
		"min(input.id)",
		t->page->study, 0);

	while (wf_page_row(t->page, stmt)) {
		const char *file = (const char *)sqlite3_column_text(stmt, 0);
		const char *hash = (const char *)sqlite3_column_text(stmt, 1);
		char text[TEXT];

		if (file == NULL || hash == NULL || !has_changed(file, hash))
			continue;
		snprintf(text, sizeof(text),
		         "%.200s has been edited since %lld of its runs read it", file,
		         sqlite3_column_int64(stmt, 2));
		t->fn(t->arg, text);
	}
}

int wf_page_warnings(const struct wf_page_request *request, wf_page_warning_fn *fn, void *arg,
                     struct wf_err *err)
{
	struct wf_page page;
	const struct teller t = { &page, fn, arg };
	int rc = wf_page_open(&page, request, err);

	if (rc == 0) {
		tell_rows(
			&t,
			"SELECT 'the runs of study ' || ?1 || ' are of ' || n || ' builds of weft ("
			"' || builds || '):' FROM (SELECT count(DISTINCT coalesce(build, '')) AS "
			"n, "
			"group_concat(DISTINCT coalesce(substr(build, 1, ?2), 'unknown')) AS "
			"builds "
			"FROM run WHERE study = ?1) WHERE n > 1",
			"what differs between them may be of that");
		tell_rows(&t,
		          "SELECT file FROM input JOIN run ON run.id = run WHERE study = ?1 "
		          "GROUP BY file HAVING min(hash) <> max(hash)",
		          "was edited between the runs of the study: they are not of the same");
		tell_edited(&t);
		rc = page.rc;
	}
	wf_page_close(&page);
	return rc;
}
