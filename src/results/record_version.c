/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_version.c - results files that somebody else wrote: of other versions of weft, which are
 * brought up, read as they are or refused, and strangers'.
 *
 * Version 6 has no digests of what went into its runs, no builds and no names of node_exporter.
 * Whoever writes to such a file adds the columns, in one transaction; whoever reads it lays views
 * over its tables and leaves it as it is.
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

/* Opens path, and looks whether there is a database in it. */
static int open_as(const char *path, int flags, int wait_ms, sqlite3 **db_p)
{
	int rc = sqlite3_open_v2(path, db_p, flags, NULL);

	if (rc != SQLITE_OK)
		return rc;
	wf_record_distrust(*db_p);
	sqlite3_busy_timeout(*db_p, wait_ms);
	(void)sqlite3_exec(*db_p, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
	return sqlite3_extended_errcode(*db_p);
}

int wf_record_open_to_read(const char *path, int wait_ms, sqlite3 **db_p)
{
	int rc = open_as(path, SQLITE_OPEN_READONLY, wait_ms, db_p);
	sqlite3 *writer = NULL;

	if (rc != SQLITE_READONLY_ROLLBACK)
		return rc & 0xff;
	(void)open_as(path, SQLITE_OPEN_READWRITE, wait_ms, &writer);
	sqlite3_close(writer);
	sqlite3_close(*db_p);
	return open_as(path, SQLITE_OPEN_READONLY, wait_ms, db_p) & 0xff;
}

const char *wf_record_why(sqlite3 *db)
{
	if (sqlite3_extended_errcode(db) == SQLITE_READONLY_ROLLBACK)
		return "somebody who wrote it was killed; whoever may write the file and its "
		       "folder has to open it first, as with weft report";
	switch (sqlite3_errcode(db)) {
	case SQLITE_READONLY:
		return "there is no right to write it, or its folder";
	case SQLITE_BUSY: /* as fcntl() says that it knows of no locks */
		return "somebody else has it locked, or its file system has no locks; name a file "
		       "on another one";
	default:
		return sqlite3_errmsg(db);
	}
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

/* What node_exporter calls counters of version 6, which has no column for it. */
/* clang-format off */
#define NAMES_OF_6                                                                                 \
	"known (counter, metric) AS (VALUES "                                                      \
	"('duplicate_request', 'duplicate_requests_packets_total')," \
	"('implied_nak_seq_err', 'implied_nak_seq_errors_total')," \
	"('local_ack_timeout_err', 'local_ack_timeout_errors_total')," \
	"('np_cnp_sent', 'np_cnp_packets_sent_total')," \
	"('np_ecn_marked_roce_packets', 'np_ecn_marked_roce_packets_received_total')," \
	"('out_of_buffer', 'out_of_buffer_drops_total')," \
	"('out_of_sequence', 'out_of_sequence_packets_received_total')," \
	"('packet_seq_err', 'packet_sequence_errors_total')," \
	"('port_rcv_errors', 'port_errors_received_total')," \
	"('port_rcv_switch_relay_errors', 'port_receive_switch_relay_errors_total')," \
	"('port_xmit_data', 'port_data_transmitted_bytes_total')," \
	"('port_xmit_packets', 'port_packets_transmitted_total')," \
	"('port_xmit_wait', 'port_transmit_wait_total')," \
	"('req_cqe_error', 'req_cqes_errors_total')," \
	"('req_cqe_flush_error', 'req_cqes_flush_errors_total')," \
	"('req_remote_access_errors', 'req_remote_access_errors_total')," \
	"('req_remote_invalid_request', 'req_remote_invalid_request_errors_total')," \
	"('resp_cqe_error', 'resp_cqes_errors_total')," \
	"('resp_cqe_flush_error', 'resp_cqes_flush_errors_total')," \
	"('resp_local_length_error', 'resp_local_length_errors_total')," \
	"('resp_remote_access_errors', 'resp_remote_access_errors_total')," \
	"('rnr_nak_retry_err', 'rnr_nak_retry_packets_received_total')," \
	"('rp_cnp_handled', 'rp_cnp_packets_handled_total')," \
	"('rp_cnp_ignored', 'rp_cnp_ignored_packets_received_total')," \
	"('rx_atomic_requests', 'rx_atomic_requests_total')," \
	"('rx_read_requests', 'rx_read_requests_total')," \
	"('rx_write_requests', 'rx_write_requests_total'))"
/* clang-format on */

/* Two of InfiniBand's had names there that promise something else. */
#define NAME_OF_6                                                                                  \
	"CASE name WHEN 'port_xmit_discards' THEN 'port_buffer_overrun_errors' "                   \
	"WHEN 'port_xmit_discards_hoq' THEN 'port_sw_hoq_lifetime_limit_discards' ELSE name END"

int wf_record_migrate(sqlite3 *db, int64_t version)
{
	static const char from_6[] =
		"ALTER TABLE run ADD COLUMN " WF_RECORD_COLUMN_DIGEST ";"
		"ALTER TABLE run ADD COLUMN " WF_RECORD_COLUMN_BUILD ";" WF_RECORD_TABLE_INPUT ";"
		"ALTER TABLE counter ADD COLUMN exporter TEXT;"
		"UPDATE counter SET name = " NAME_OF_6 ";"
		"UPDATE counter SET exporter = (WITH " NAMES_OF_6
		" SELECT metric FROM known WHERE known.counter = name);"
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
		"SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;"
		"CREATE TEMP VIEW counter AS WITH " NAMES_OF_6 " SELECT id, " NAME_OF_6
		" AS name, queue, measure, factor, unit, kind, "
		"source, help, metric AS exporter FROM main.counter c "
		"LEFT JOIN known ON known.counter = c.name";
	int rc = sqlite3_exec(db, ours, NULL, NULL, NULL);

	return rc == SQLITE_OK && version == 6 ? sqlite3_exec(db, of_6, NULL, NULL, NULL) : rc;
}
