/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.c - puts the report's page together: the template with the study's data in it.
 */
#include "results/page.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "text/file.h"
#include "results/page_priv.h"
#include "results/page_template.h"

#define MAX_RANKS 64     /* that a timeline shows */
#define MAX_SPANS 30000  /* of all runs */
#define MAX_EVENTS "400" /* of a kind and run */
#define MAX_COLLECTIVES "500"
#define MAX_FLOWS "2500"  /* of a run, or nearly twice as many */
#define MAX_FOLLOWED "16" /* over time, of a run */
#define MAX_STEPS "150"   /* of each */
#define MAX_SLOW "200"    /* and those that took longest */
#define STUDY " WHERE run IN (SELECT id FROM run WHERE study = ?1) "
/*
 * Of runs that differ in their seed alone, one stands for all where there is no place for each: the
 * one with samples.
 */
#define NTH                                                                                        \
	"row_number() OVER (PARTITION BY label, coalesce(point, '') ORDER BY (SELECT count(*) "    \
	"FROM tick WHERE run = run.id) > 1 DESC, state = 'finished' DESC, id)"
#define LEADS                                                                                      \
	" WHERE run IN (SELECT id FROM (SELECT id, " NTH                                           \
	" AS nth FROM run WHERE study = ?1) WHERE nth = 1) "

/*
 * Flows, or messages of a job: every so manieth (even), and of the others those that took longest
 * for their size.
 */
#define FLOWS(table, src, dst, start, which)                                                       \
	"SELECT run, " src " AS src, " dst " AS dst, bytes, " start " AS start_ps, "               \
	"end_ps - " start " AS took_ps, nth % (1 + n / " MAX_FLOWS ") = 0 AS even FROM "           \
	"(SELECT *, row_number() OVER w AS nth, count(*) OVER (PARTITION BY run) AS n, "           \
	"row_number() OVER (PARTITION BY run ORDER BY end_ps IS NOT NULL, "                        \
	"(end_ps - " start ") * 1.0 / max(bytes, 1) DESC) AS slow FROM " table LEADS "AND " which  \
	" WINDOW w AS (PARTITION BY run ORDER BY " start ", src, dst)) AS f "                      \
	"WHERE even OR slow <= " MAX_SLOW " ORDER BY run, nth"
#define ONE_OF(column)                                                                             \
	"(SELECT " column " FROM flow WHERE flow.run = s.run AND flow.id = s.flow) AS " column
#define RANK(end) "(SELECT node FROM rank WHERE rank.run = f.run AND rank.id = f." end ")"

/*
 * What the page knows of a study. ?1 is the study and ?2 the distance between the ranks that are
 * shown. Nodes and links are those of a run and of all later ones whose topology is the same, which
 * the page finds out: most often all are.
 */
static const struct table {
	const char *key, *sql;
} tables[] = {
	{ "study",
	  "SELECT id, kind, name, started_unix, (SELECT count(*) - 1 FROM study) AS others "
	  "FROM study WHERE id = ?1" },
	{ "run", "SELECT id, label, fabric, point, state, seed, weft_version, started_unix, "
	         "finished_unix, until_ps, sample_ps, cpu_s, wall_s, scenario_file, digest, build, "
	         "coalesce(end_ps, (SELECT max(t_ps) FROM tick WHERE run = run.id), 0) AS end_ps, "
	         "(SELECT count(*) FROM tick WHERE run = run.id) AS ticks, " NTH " = 1 AS lead "
	         "FROM run WHERE study = ?1 ORDER BY place, id" },
	{ "input", "SELECT run, kind, name, file, hash, size FROM input" LEADS "ORDER BY run, id" },
	{ "scenario", "SELECT scenario_file AS file, scenario AS text, overrides FROM run "
	              "WHERE study = ?1 GROUP BY 1, 2, 3 ORDER BY min(id)" },
	{ "parameter", "SELECT run, name, value, source IS NOT NULL AS given FROM parameter" LEADS
	               "ORDER BY name, run" },
	{ "value", "SELECT run, name, value, unit FROM value" STUDY
	           "AND name NOT GLOB 'compare.*' ORDER BY name, run" },
	{ "note", "SELECT run, kind, text FROM note WHERE study = ?1 ORDER BY rowid" },
	{ "latency", "SELECT run, what, le_ps, n FROM latency" LEADS "ORDER BY run, what, le_ps" },
	{ "bandwidth", "SELECT run, collective, algorithm, ranks, bytes, time_ps, algbw, busbw "
	               "FROM bandwidth" STUDY "ORDER BY collective, algorithm, ranks, run, bytes" },
	{ "collective", "SELECT run, id, name, kind, algorithm, ranks, bytes, begin_ps, end_ps, "
	                "took_ps, algbw, busbw FROM collective" LEADS "AND id < " MAX_COLLECTIVES
	                " ORDER BY id, run" },
	{ "collective_count", "SELECT count(DISTINCT id) AS n FROM collective" STUDY },
	{ "span", "SELECT run, rank, kind, begin_ps, end_ps - begin_ps AS length_ps, name "
	          "FROM span" LEADS "AND rank % ?2 = 0 ORDER BY run, rank, begin_ps, rowid" },
	{ "node", "SELECT run, id, name, tier, pod, server FROM node" LEADS "ORDER BY run, id" },
	{ "link", "SELECT run, id, a, a_port, b, b_port, rate, delay_ps FROM link" LEADS
	          "ORDER BY run, id" },
	/* A run that is not over has not counted them yet. */
	{ "flow", FLOWS("flow", "src", "dst", "start_ps", "1") },
	{ "message", FLOWS("message", RANK("src"), RANK("dst"), "begin_ps", "net = 1") },
	{ "flow_sample",
	  "SELECT run, flow, t_ps, acked, rate, window, " ONE_OF("src") ", " ONE_OF(
		  "dst") ", " ONE_OF("start_ps") " FROM (SELECT *, "
	                                         "row_number() OVER (PARTITION BY run, flow ORDER "
	                                         "BY t_ps) AS nth, "
	                                         "count(*) OVER (PARTITION BY run, flow) AS n, "
	                                         "dense_rank() OVER (PARTITION BY run ORDER BY "
	                                         "flow) AS which "
	                                         "FROM flow_sample" LEADS ") AS s JOIN "
	                                         "(SELECT run, count(DISTINCT flow) AS flows "
	                                         "FROM flow_sample GROUP BY run) USING (run) WHERE "
	                                         "(which - 1) % (1 + (flows - 1) / " MAX_FOLLOWED
	                                         ") = 0 AND "
	                                         "(nth = 1 OR nth = n OR nth % (1 + n / " MAX_STEPS
	                                         ") = 0) "
	                                         "ORDER BY run, flow, t_ps" },
	{ "flow_count",
	  "SELECT run, count(*) AS n, count(end_ps) AS done, sum(x) * sum(x) / "
	  "(count(x) * sum(x * x)) AS jain FROM (SELECT run, end_ps, "
	  "bytes * 1.0 / nullif(end_ps - start_ps, 0) AS x FROM flow" LEADS ") GROUP BY run" },
	{ "message_count", "SELECT run, count(*) AS n, count(*) AS done, NULL AS jain "
	                   "FROM message" LEADS "AND net = 1 GROUP BY run" },
	{ "event_count", "SELECT run, kind, n, recorded FROM event_count" LEADS
	                 "AND n > 0 UNION ALL SELECT run, kind, count(*), count(*) FROM event" LEADS
	                 "AND run NOT IN (SELECT run FROM event_count) GROUP BY 1, 2" },
	{ "event", "SELECT run, t_ps, kind, node, port, queue, dur_ps, src, dst, detail FROM "
	           "(SELECT *, row_number() OVER (PARTITION BY run, kind "
	           "ORDER BY coalesce(dur_ps, 0) DESC, t_ps, rowid) AS place FROM event" LEADS
	           ") WHERE place <= " MAX_EVENTS " ORDER BY t_ps, run, place" },
};

static void put_table(struct wf_page *page, const struct table *table, int64_t rank_step)
{
	sqlite3_stmt *stmt = wf_page_query(page, table->sql, page->study, rank_step);
	int n = stmt != NULL ? sqlite3_column_count(stmt) : 0;

	wf_json_open(&page->json, table->key, '{');
	wf_json_open(&page->json, "columns", '[');
	for (int i = 0; i < n; i++)
		wf_json_text(&page->json, NULL, sqlite3_column_name(stmt, i));
	wf_json_close(&page->json, '[');
	wf_json_open(&page->json, "cells", '[');
	while (wf_page_row(page, stmt)) {
		for (int i = 0; i < n; i++)
			wf_page_put(page, stmt, i);
	}
	wf_json_close(&page->json, '[');
	wf_json_close(&page->json, '{');
}

/* The smallest distance between ranks with which the timelines fit into the page. */
static int64_t rank_step(struct wf_page *page)
{
	int64_t ranks =
		wf_page_number(page, "SELECT max(rank) + 1 FROM span" LEADS, page->study, 0);
	int64_t spans = wf_page_number(page, "SELECT count(*) FROM span" LEADS, page->study, 0);
	int64_t by_ranks = ranks / MAX_RANKS + (ranks % MAX_RANKS > 0);
	int64_t by_spans = spans / MAX_SPANS + (spans % MAX_SPANS > 0);
	int64_t step = by_ranks > by_spans ? by_ranks : by_spans;

	return step > 0 ? step : 1;
}

static void put_data(struct wf_page *page, FILE *file)
{
	const char *slash = strrchr(page->file, '/');
	int64_t step = rank_step(page);

	wf_json_init(&page->json, file);
	wf_json_open(&page->json, NULL, '{');
	wf_json_text(&page->json, "file", slash != NULL ? slash + 1 : page->file);
	wf_json_u64(&page->json, "rank_step", (uint64_t)step);
	wf_json_open(&page->json, "tables", '{');
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		put_table(page, &tables[i], step);
	wf_json_close(&page->json, '{');
	wf_page_put_series(page);
	wf_json_close(&page->json, '{');
}

static void write_base64(FILE *file, const unsigned char *p, size_t len)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t v = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
		             (n > 2 ? p[i + 2] : 0);

		fputc(digit[v >> 18], file);
		fputc(digit[v >> 12 & 63], file);
		fputc(n > 1 ? digit[v >> 6 & 63] : '=', file);
		fputc(n > 2 ? digit[v & 63] : '=', file);
	}
}

/* Deflates len bytes and writes them in base64. Returns 0 or -ENOMEM. */
static int pack(const char *bytes, size_t len, FILE *file)
{
	uLongf room = compressBound(len);
	unsigned char *packed = malloc(room);
	int rc = packed != NULL ? 0 : -ENOMEM;

	if (rc == 0 && compress2(packed, &room, (const Bytef *)bytes, len, 9) != Z_OK)
		rc = -ENOMEM;
	if (rc == 0)
		write_base64(file, packed, room);
	free(packed);
	return rc;
}

/* The title; everything else of a scenario is in base64. */
static void write_title(struct wf_page *page, FILE *file)
{
	sqlite3_stmt *stmt =
		wf_page_query(page, "SELECT name FROM study WHERE id = ?1", page->study, 0);

	while (wf_page_row(page, stmt)) {
		const unsigned char *text = sqlite3_column_text(stmt, 0);

		for (; text != NULL && *text != '\0'; text++) {
			if (strchr("<>&\"'", *text) != NULL)
				fprintf(file, "&#%d;", *text);
			else
				fputc(*text, file);
		}
		fputs(" - weft", file);
	}
}

static void write_piece(FILE *file, size_t i)
{
	assert(i < WF_PAGE_PIECES);
	fwrite(wf_page_template[i].text, 1, wf_page_template[i].len, file);
}

struct blocks {
	char *data, *samples;
	size_t data_len, samples_len;
};

static int write_page(struct wf_page *page, const struct blocks *blocks, struct wf_out *out,
                      struct wf_err *err)
{
	int rc;

	write_piece(out->file, 0);
	write_title(page, out->file);
	write_piece(out->file, 1);
	rc = pack(blocks->data, blocks->data_len, out->file);
	write_piece(out->file, 2);
	if (rc == 0)
		rc = pack(blocks->samples, blocks->samples_len, out->file);
	write_piece(out->file, 3);
	if (rc == 0)
		rc = page->rc;
	return rc == 0 ? wf_out_commit(out, err) : rc;
}

int wf_page_write(const struct wf_page_request *request, struct wf_err *err)
{
	struct blocks blocks = { 0 };
	struct wf_out out = { NULL, "", "" };
	struct wf_page page;
	FILE *data = NULL;
	int rc;

	if (wf_page_missing != NULL) {
		wf_err_say(err,
		           "weft report: this weft has no page: %s. Build it again where Node.js, "
		           "npm and its registry are there (scripts/setup), or from a release, "
		           "which has the page",
		           wf_page_missing);
		return -ENOTSUP;
	}
	rc = wf_page_open(&page, request, err);
	if (rc == 0) /* before the work */
		rc = wf_out_open(&out, request->out, err);
	if (rc != 0)
		goto close;
	rc = -ENOMEM;
	data = open_memstream(&blocks.data, &blocks.data_len);
	page.samples = open_memstream(&blocks.samples, &blocks.samples_len);
	if (data == NULL || page.samples == NULL)
		goto close;
	put_data(&page, data);
	if (fflush(data) != 0 || fflush(page.samples) != 0)
		goto close;
	rc = page.rc;
	if (rc == 0)
		rc = write_page(&page, &blocks, &out, err);
close:
	if (data != NULL)
		fclose(data);
	if (page.samples != NULL)
		fclose(page.samples);
	free(blocks.data);
	free(blocks.samples);
	wf_out_abort(&out);
	wf_page_close(&page);
	return rc;
}
