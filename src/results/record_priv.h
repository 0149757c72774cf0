/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_priv.h - what the files of the recorder share.
 */
#ifndef WF_RESULTS_RECORD_PRIV_H
#define WF_RESULTS_RECORD_PRIV_H

#include <pthread.h>
#include <sqlite3.h>

#include "results/record.h"

#define WF_RECORD_APPLICATION 2003134068 /* "weft", as SQLite's application_id */
#define WF_RECORD_VERSION 7              /* user_version */
#define WF_RECORD_OLDEST 6               /* that is read, and brought up where it is written to */

/* Of table run, what version 7 added. */
/* clang-format off */
#define WF_RECORD_COLUMN_DIGEST "digest TEXT /* SHA-256 of what went in; NULL: not known */"
#define WF_RECORD_COLUMN_BUILD "build TEXT /* of which sources weft was built */"
#define WF_RECORD_TABLE_INPUT                                                                      \
	"CREATE TABLE input (\n"                                                                   \
	"\trun  INTEGER NOT NULL REFERENCES run,\n"                                                \
	"\tid   INTEGER NOT NULL,\n"                                                               \
	"\tkind TEXT NOT NULL,                  -- 'scenario', 'profile', 'topology', 'trace' ...\n" \
	"\tname TEXT NOT NULL,                  -- as it was asked for: 'roce-400g'; ''\n"         \
	"\tfile TEXT NOT NULL,                  -- where it was\n"                                \
	"\thash TEXT NOT NULL,                  -- SHA-256 of its contents\n"                     \
	"\tsize INTEGER NOT NULL,               -- bytes\n"                                       \
	"\tPRIMARY KEY (run, id)\n"                                                               \
	") WITHOUT ROWID"
/* clang-format on */

/* The statements that make an empty file a results file; ends with NULL. */
extern const char *const wf_record_schema[];

/* The columns and the query of a view that weft itself reads through. */
/* clang-format off */
#define WF_RECORD_VIEW_PORT                                                                        \
	" (run, node, port, link, rate, peer, peer_port) AS\n"                                     \
	"\tSELECT run, a, a_port, id, rate, b, b_port FROM link\n"                                 \
	"\tUNION ALL\n"                                                                            \
	"\tSELECT run, b, b_port, id, rate, a, a_port FROM link"
#define WF_RECORD_VIEW_TOTAL                                                                       \
	" (run, node, port, counter, value) AS\n"                                                  \
	"\tSELECT run, node, port, counter, value FROM\n"                                          \
	"\t\t(SELECT run, node, port, counter, value, max(t_ps) FROM sample\n"                     \
	"\t\t GROUP BY run, node, port, counter)"
/* clang-format on */

/* Tables that rows are gathered for. */
enum wf_record_table {
	WF_TABLE_INPUT,
	WF_TABLE_PARAMETER,
	WF_TABLE_VALUE,
	WF_TABLE_NODE,
	WF_TABLE_LINK,
	WF_TABLE_TICK,
	WF_TABLE_SAMPLE,
	WF_TABLE_EVENT,
	WF_TABLE_EVENT_COUNT,
	WF_TABLE_FLOW,
	WF_TABLE_FLOW_SAMPLE,
	WF_TABLE_RANK,
	WF_TABLE_MESSAGE,
	WF_TABLE_COLLECTIVE,
	WF_TABLE_COLLECTIVE_RANK,
	WF_TABLE_SPAN,
	WF_TABLE_BANDWIDTH,
	WF_TABLE_LATENCY,
	WF_TABLE_NOTE,
	WF_RECORD_TABLES
};

/* What a study is of. */
struct wf_record_study {
	char *kind, *name, *scenario, *overrides;
};

struct wf_record {
	pthread_mutex_t lock; /* around everything below */
	sqlite3 *db;
	sqlite3_stmt *insert[WF_RECORD_TABLES];
	sqlite3_stmt *bulk;     /* many samples at once */
	sqlite3_stmt *progress; /* end_ps of a run */
	int64_t study;          /* 0: it begins with its first run or note */
	struct wf_record_study *about;
	bool resumed;       /* its runs replace those of the same point that were there */
	int lock_fd;        /* of FILE-lock; -1: not open */
	bool failed;        /* nothing is written any more */
	bool damaged;       /* since the file is */
	struct wf_err why;  /* what was wrong */
	unsigned open_runs; /* begun and not ended */
	char path[];
};

/* Rows that wait, one behind the other: see record_rows.c. */
struct wf_record_buf {
	unsigned char *data;
	size_t used, room;
	bool no_memory;
};

struct wf_record_run {
	struct wf_record *record;
	int64_t id;
	uint64_t flushed_ns; /* when rows were last written, by the clock on the wall */
	struct wf_record_buf buf;
};

/*
 * Inserts every row of buf, in a transaction of the caller's. Returns SQLITE_OK or what SQLite
 * says.
 */
int wf_record_rows_insert(struct wf_record *record, const struct wf_record_buf *buf) WF_MUST_USE;

/* Its name in the file; each of them has a column run. */
const char *wf_record_table_name(enum wf_record_table table);

/* ---- other versions ---- */

/*
 * Whether a file of a version of the format can be read, and brought up. Returns 0, or -EINVAL with
 * err filled: it says what to do.
 */
int wf_record_version_check(const char *path, int64_t version, struct wf_err *err) WF_MUST_USE;

/* Brings a file up, in a transaction of the caller's. Returns SQLITE_OK or what SQLite says. */
int wf_record_migrate(sqlite3 *db, int64_t version) WF_MUST_USE;

/*
 * Opens a file to read it. What somebody who was killed in the middle of a change has left is taken
 * back first, where we may write. *db_p is the caller's to close whatever is returned: SQLITE_OK or
 * what SQLite says.
 */
int wf_record_open_to_read(const char *path, int wait_ms, sqlite3 **db_p) WF_MUST_USE;

/* What was wrong with it, or with the last statement. */
const char *wf_record_why(sqlite3 *db);

/*
 * Nothing that a file brings along is run: not its views, which may be without end, nor its
 * triggers; and no cell of it is larger than anything that weft writes.
 */
void wf_record_distrust(sqlite3 *db);

/*
 * Has the names of an older file mean what this version's do, and those of views what they mean in
 * a file that weft made, for this connection alone. Returns SQLITE_OK or what SQLite says.
 */
int wf_record_view(sqlite3 *db, int64_t version) WF_MUST_USE;

/* ---- who is alive ---- */

/*
 * Opens FILE-lock; it is closed by wf_record_lock_close(), while the database is still open.
 * Returns 0 or -errno.
 */
int wf_record_lock_open(struct wf_record *record) WF_MUST_USE;
void wf_record_lock_close(struct wf_record *record);

/* Says that a run is being written here, or no longer. Returns 0 or -errno. */
int wf_record_lock_run(struct wf_record *record, int64_t run, bool hold);

/* Whether another process, or another record of this one, is writing a run. */
bool wf_record_lock_is_held(const struct wf_record *record, int64_t run);

/* ---- runs ---- */

/*
 * Takes away the runs that a subselect yields, "(SELECT id FROM ...)", and all that belongs to
 * them. Returns SQLITE_OK or what SQLite says.
 */
int wf_record_drop_runs(struct wf_record *record, const char *which) WF_MUST_USE;

/*
 * Takes away the finished runs that run has been done anew for: those of its study of the same
 * point, fabric and seed. Where another process has done the very same meanwhile, whose run may be
 * known there by its number, it takes away run. The lock is held. Returns SQLITE_OK or what SQLite
 * says.
 */
int wf_record_replace(struct wf_record *record, int64_t run) WF_MUST_USE;

/* Prepares the statements for all tables. Returns SQLITE_OK or what SQLite says. */
int wf_record_rows_prepare(struct wf_record *record) WF_MUST_USE;

/*
 * Makes the row of the study, if there is none yet. The lock is held. Returns SQLITE_OK or what it
 * says.
 */
int wf_record_study_begin(struct wf_record *record) WF_MUST_USE;

/* The newest study that is the same as record->about; 0: none. The lock is held. */
int64_t wf_record_study_find(struct wf_record *record);

/* Copies what a study is of. False: there is no memory. */
bool wf_record_study_set(struct wf_record *record, const char *kind, const char *name,
                         const char *scenario, const char *overrides) WF_MUST_USE;

/* Seconds since 1970. */
double wf_record_now(void);

/*
 * Remembers what SQLite says of the statement that has just failed; nothing is written any more.
 * The lock is held.
 */
void wf_record_fail(struct wf_record *record);

/* Says in err what has gone wrong, if anything has: -EIO or 0. */
int wf_record_said(const struct wf_record *record, struct wf_err *err) WF_MUST_USE;

/* Writes what waits, and that the run has come to now. The first error is kept in the record. */
void wf_record_write(struct wf_record_run *run, wf_time now);

#endif
