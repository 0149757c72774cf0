/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_version.c - results files that somebody else wrote: of other versions of weft, which are
 * brought up, read as they are or refused, and strangers'.
 *
 * Version 6 has no digests of what went into its runs and no builds. Whoever writes to such a file
 * adds the columns, empty, in one transaction; whoever reads it lays a view over its table and
 * leaves it as it is.
 */
#include "results/record_priv.h"

#define MAX_CELL (32 << 20) /* bytes; a scenario's text has one at most */

void wf_record_distrust(sqlite3 *db)
{
	static const struct {
		int what, on;
	} settings[] = {
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 }, /* of the file: temporary ones are ours */
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
	};

	for (size_t i = 0; i < WF_ARRAY_SIZE(settings); i++)
		(void)sqlite3_db_config(db, settings[i].what, settings[i].on, NULL);
	(void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_CELL);
	(void)sqlite3_exec(db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
}

int wf_record_version_check(const char *path, int64_t version, struct wf_err *err)
{
	if (version >= WF_RECORD_OLDEST && version <= WF_RECORD_VERSION)
		return 0;
	return wf_err_say(err,
	                  "%s: its format has version %lld and this weft knows versions %d to %d; "
	                  "%s",
	                  path, (long long)version, WF_RECORD_OLDEST, WF_RECORD_VERSION,
	                  version > WF_RECORD_VERSION
	                          ? "a newer weft wrote it: use that one, or name a new file"
	                          : "an older weft wrote it: use that one, or record it again to a "
	                            "new file");
}

int wf_record_migrate(sqlite3 *db, int64_t version)
{
	static const char from_6[] =
		"ALTER TABLE run ADD COLUMN " WF_RECORD_COLUMN_DIGEST ";"
		"ALTER TABLE run ADD COLUMN " WF_RECORD_COLUMN_BUILD ";" WF_RECORD_TABLE_INPUT ";"
		"PRAGMA user_version = 7";

	return version == 6 ? sqlite3_exec(db, from_6, NULL, NULL, NULL) : SQLITE_OK;
}

/* Names are looked for among what is temporary first. */
int wf_record_view(sqlite3 *db, int64_t version)
{
	static const char ours[] = "PRAGMA temp_store = MEMORY;"
				   "CREATE TEMP VIEW port" WF_RECORD_VIEW_PORT ";"
				   "CREATE TEMP VIEW total" WF_RECORD_VIEW_TOTAL;
	static const char of_6[] =
		"CREATE TEMP VIEW run AS SELECT *, NULL AS digest, NULL AS build FROM main.run;"
		"CREATE TEMP VIEW input (run, id, kind, name, file, hash, size) AS "
		"SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0";
	int rc = sqlite3_exec(db, ours, NULL, NULL, NULL);

	return rc == SQLITE_OK && version == 6 ? sqlite3_exec(db, of_6, NULL, NULL, NULL) : rc;
}
