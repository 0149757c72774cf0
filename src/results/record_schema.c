/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_schema.c - the tables of a results file; docs/results.md explains them.
 *
 * Every time is virtual time in integer picoseconds and its column ends in _ps; the exceptions are
 * wall-clock time in seconds since 1970, and end in _unix. SQLite keeps the comments inside of a
 * statement: `sqlite3 R.db .schema` shows them.
 */
#include "results/record_priv.h"

/* clang-format off */
const char *const wf_record_schema[] = {
	"PRAGMA application_id = 2003134068",
	"PRAGMA user_version = 7",

	/*
	 * Runs that belong together: of one invocation of weft, and of those that went on with it.
	 */
	"CREATE TABLE study (\n"
	"\tid           INTEGER PRIMARY KEY,\n"
	"\tkind         TEXT NOT NULL,          -- 'run', 'compare' or 'sweep'\n"
	"\tname         TEXT NOT NULL,          -- of the scenario\n"
	"\tscenario     TEXT,                   -- its whole text, and\n"
	"\toverrides    TEXT,                   -- what changed it in all runs: what can be gone on with\n"
	"\tweft_version TEXT NOT NULL,\n"
	"\tstarted_unix REAL NOT NULL,\n"
	"\tlast_unix    REAL NOT NULL           -- when it was begun or last gone on with\n"
	")",

	/* One simulation: a scenario on one fabric with one set of parameters. */
	"CREATE TABLE run (\n"
	"\tid            INTEGER PRIMARY KEY,\n"
	"\tstudy         INTEGER NOT NULL REFERENCES study,\n"
	"\tlabel         TEXT NOT NULL,         -- heads its column\n"
	"\tfabric        TEXT NOT NULL,         -- the fabric's label\n"
	"\tplace         INTEGER NOT NULL,      -- in the scenario's list of fabrics, from 0\n"
	"\tpoint         TEXT,                  -- 'fabric.ecn.kmin=50KB': of a sweep\n"
	"\tscenario_file TEXT NOT NULL,\n"
	"\tscenario      TEXT NOT NULL,         -- the whole YAML text\n"
	"\toverrides     TEXT NOT NULL,         -- '--set ...' as given, a line each; ''\n"
	"\tseed          INTEGER NOT NULL,\n"
	"\tweft_version  TEXT NOT NULL,\n"
	"\tstate         TEXT NOT NULL,         -- 'running', 'finished', 'interrupted' or 'failed'\n"
	"\tstarted_unix  REAL NOT NULL,\n"
	"\tfinished_unix REAL,\n"
	"\tend_ps        INTEGER,               -- how far virtual time came; while running: so far\n"
	"\tuntil_ps      INTEGER NOT NULL,      -- how far it may come\n"
	"\tsample_ps     INTEGER NOT NULL,      -- interval asked for; 0: as fits the cost\n"
	"\tpid           INTEGER NOT NULL,      -- the process that writes it\n"
	"\tcpu_s         REAL,                  -- what it took, recording included\n"
	"\twall_s        REAL,\n"
	"\t" WF_RECORD_COLUMN_DIGEST ",\n"
	"\t" WF_RECORD_COLUMN_BUILD "\n"
	")",

	/* The files that went into a run, in the order in which they were read. */
	WF_RECORD_TABLE_INPUT,

	/* What every parameter was: seed, run.*, topology.*, fabric.*, traffic.N.*, job.* */
	"CREATE TABLE parameter (\n"
	"\trun    INTEGER NOT NULL REFERENCES run,\n"
	"\tname   TEXT NOT NULL,\n"
	"\tvalue  TEXT NOT NULL,                -- as it is written in a scenario\n"
	"\tsource TEXT,                         -- 'file:line', '--set ...', or NULL: the default\n"
	"\tPRIMARY KEY (run, name)\n"
	") WITHOUT ROWID",

	/* The result in single values: 'completion', 'goodput', 'mfu' ... */
	"CREATE TABLE value (\n"
	"\trun   INTEGER NOT NULL REFERENCES run,\n"
	"\tname  TEXT NOT NULL,\n"
	"\tvalue,                               -- number or text; NULL: there is none\n"
	"\tunit  TEXT NOT NULL,                 -- 'ps', 'bytes', 'bit/s', 'packets', '' ...\n"
	"\tPRIMARY KEY (run, name)\n"
	") WITHOUT ROWID",

	/* The topology. */
	"CREATE TABLE node (\n"
	"\trun    INTEGER NOT NULL REFERENCES run,\n"
	"\tid     INTEGER NOT NULL,\n"
	"\tname   TEXT NOT NULL,                -- 'h12', 'leaf3'\n"
	"\tkind   TEXT NOT NULL,                -- 'host' (a NIC port of a server) or 'switch'\n"
	"\ttier   INTEGER NOT NULL,             -- 0 host, 1 leaf, 2 spine or aggregation, 3 core\n"
	"\tpod    INTEGER NOT NULL,             -- pod or group: what lies close together\n"
	"\tserver INTEGER,                      -- hosts: which server\n"
	"\thost   INTEGER,                      -- hosts: number among the hosts\n"
	"\tPRIMARY KEY (run, id)\n"
	") WITHOUT ROWID",

	"CREATE TABLE link (\n"
	"\trun      INTEGER NOT NULL REFERENCES run,\n"
	"\tid       INTEGER NOT NULL,\n"
	"\ta        INTEGER NOT NULL,           -- node at one end\n"
	"\ta_port   INTEGER NOT NULL,\n"
	"\tb        INTEGER NOT NULL,           -- and at the other\n"
	"\tb_port   INTEGER NOT NULL,\n"
	"\trate     INTEGER NOT NULL,           -- bit/s each way\n"
	"\tdelay_ps INTEGER NOT NULL,           -- propagation\n"
	"\tPRIMARY KEY (run, id)\n"
	") WITHOUT ROWID",

	/* Ports: both ends of every link. */
	"CREATE VIEW port" WF_RECORD_VIEW_PORT,

	/*
	 * What is counted. name is what operators know, in its unit; value * factor is in the base
	 * unit of measure, the same on every fabric.
	 */
	"CREATE TABLE counter (\n"
	"\tid      INTEGER PRIMARY KEY,\n"
	"\tname    TEXT NOT NULL UNIQUE,        -- 'rx_prio3_pause', 'port_xmit_wait', 'np_cnp_sent'\n"
	"\tqueue   INTEGER,                     -- priority or VL; NULL: the whole port\n"
	"\tmeasure TEXT NOT NULL,               -- 'tx_bytes', 'queue_bytes', 'stopped_ps' ...\n"
	"\tfactor  REAL NOT NULL,\n"
	"\tunit    TEXT NOT NULL,               -- of name: 'us', '4 bytes', 'packets'\n"
	"\tkind    TEXT NOT NULL,               -- 'counter' (only grows), 'gauge' or 'maximum'\n"
	"\tsource  TEXT NOT NULL,               -- 'ethtool', 'infiniband', 'hw_counters' or 'weft'\n"
	"\thelp    TEXT NOT NULL,\n"
	"\texporter TEXT                        -- node_exporter's name for it, behind node_infiniband_\n"
	")",

	/*
	 * Counters over virtual time. Only what changed since the last sample of the same counter
	 * is here: a counter that is not has the value it had before, and 0 if it never was. The
	 * sample at the run's end_ps has also those counters that are not followed over time.
	 */
	"CREATE TABLE sample (\n"
	"\trun     INTEGER NOT NULL REFERENCES run,\n"
	"\tt_ps    INTEGER NOT NULL,\n"
	"\tnode    INTEGER NOT NULL,\n"
	"\tport    INTEGER NOT NULL,\n"
	"\tcounter INTEGER NOT NULL REFERENCES counter,\n"
	"\tvalue   NOT NULL                     -- INTEGER, or REAL where the unit asks for it\n"
	")",

	/* The times at which samples were taken, whether something had changed or not. */
	"CREATE TABLE tick (\n"
	"\trun  INTEGER NOT NULL REFERENCES run,\n"
	"\tt_ps INTEGER NOT NULL,\n"
	"\tPRIMARY KEY (run, t_ps)\n"
	") WITHOUT ROWID",

	/* samples with their names */
	"CREATE VIEW reading (run, t_ps, node, port, counter, value, queue, measure, base, node_id) AS\n"
	"\tSELECT s.run, s.t_ps, n.name, s.port, c.name, s.value, c.queue, c.measure,\n"
	"\t       s.value * c.factor, s.node\n"
	"\tFROM sample s JOIN counter c ON c.id = s.counter\n"
	"\tJOIN node n ON n.run = s.run AND n.id = s.node",

	/* The last value of every counter that was ever other than 0. */
	"CREATE VIEW total" WF_RECORD_VIEW_TOTAL,

	/* How often what happened. */
	"CREATE TABLE event_count (\n"
	"\trun      INTEGER NOT NULL REFERENCES run,\n"
	"\tkind     TEXT NOT NULL,              -- as in table event; no row: not looked for\n"
	"\tn        INTEGER NOT NULL,           -- in truth\n"
	"\trecorded INTEGER NOT NULL,           -- with a row of their own in table event\n"
	"\tPRIMARY KEY (run, kind)\n"
	") WITHOUT ROWID",

	/* What happened, one row each, as far as there is room for a kind: see event_count. */
	"CREATE TABLE event (\n"
	"\trun    INTEGER NOT NULL REFERENCES run,\n"
	"\tt_ps   INTEGER NOT NULL,\n"
	"\tkind   TEXT NOT NULL,                -- 'pause', 'drop', 'retransmit', 'qp_error', 'link_...', ...\n"
	"\tnode   INTEGER NOT NULL,             -- where: pause: who has to stop; drop: who drops\n"
	"\tport   INTEGER,\n"
	"\tqueue  INTEGER,                      -- priority or VL\n"
	"\tdur_ps INTEGER,                      -- pause, deadlock: how long; watchdog_restored: for how long it acted\n"
	"\tsrc    INTEGER,                      -- drop, retransmit, qp_error: hosts at the ends (nodes)\n"
	"\tdst    INTEGER,\n"
	"\tdetail TEXT                          -- drop: 'buffer', 'life', 'error' ...; watchdog: what it did\n"
	")",

	/* Traffic of a scenario without a job. */
	"CREATE TABLE flow (\n"
	"\trun      INTEGER NOT NULL REFERENCES run,\n"
	"\tid       INTEGER NOT NULL,\n"
	"\tsrc      INTEGER NOT NULL,           -- node\n"
	"\tdst      INTEGER NOT NULL,\n"
	"\tbytes    INTEGER NOT NULL,\n"
	"\tclass    INTEGER NOT NULL,           -- traffic class (priority or SL)\n"
	"\tstart_ps INTEGER NOT NULL,\n"
	"\tend_ps   INTEGER,                    -- last byte delivered; NULL: it was not\n"
	"\tPRIMARY KEY (run, id)\n"
	") WITHOUT ROWID",

	/* Some of the flows over time: how far they came and what limited them. Only changes. */
	"CREATE TABLE flow_sample (\n"
	"\trun    INTEGER NOT NULL REFERENCES run,\n"
	"\tt_ps   INTEGER NOT NULL,\n"
	"\tflow   INTEGER NOT NULL,             -- its id\n"
	"\tacked  INTEGER NOT NULL,             -- bytes that the sender knows to have arrived\n"
	"\trate   INTEGER,                      -- bit/s that congestion control allows; NULL: none\n"
	"\twindow INTEGER                       -- bytes that may be unacknowledged; NULL: any number\n"
	")",

	/* Ranks of a job and where they run. */
	"CREATE TABLE rank (\n"
	"\trun  INTEGER NOT NULL REFERENCES run,\n"
	"\tid   INTEGER NOT NULL,\n"
	"\tnode INTEGER NOT NULL,               -- its NIC\n"
	"\tPRIMARY KEY (run, id)\n"
	") WITHOUT ROWID",

	/*
	 * Messages of a job: every n-th of a rank, where value 'messages_sampled_1_of' is the
	 * largest n.
	 */
	"CREATE TABLE message (\n"
	"\trun      INTEGER NOT NULL REFERENCES run,\n"
	"\tsrc      INTEGER NOT NULL,           -- rank\n"
	"\tdst      INTEGER NOT NULL,\n"
	"\tbytes    INTEGER NOT NULL,\n"
	"\tbegin_ps INTEGER NOT NULL,           -- posted\n"
	"\tend_ps   INTEGER NOT NULL,           -- received\n"
	"\tnet      INTEGER NOT NULL            -- 1: over the fabric, 0: over NVLink\n"
	")",

	"CREATE TABLE collective (\n"
	"\trun       INTEGER NOT NULL REFERENCES run,\n"
	"\tid        INTEGER NOT NULL,\n"
	"\tname      TEXT NOT NULL,             -- 'dp gradients, bucket 3'\n"
	"\tkind      TEXT NOT NULL,             -- 'all-reduce', 'all-gather', ...\n"
	"\talgorithm TEXT NOT NULL,             -- 'ring', 'tree', ...\n"
	"\tranks     INTEGER NOT NULL,\n"
	"\tbytes     INTEGER NOT NULL,          -- as nccl-tests counts them\n"
	"\tbegin_ps  INTEGER NOT NULL,          -- the first rank's\n"
	"\tend_ps    INTEGER,                   -- the last rank's; NULL: not over\n"
	"\ttook_ps   INTEGER,                   -- from begin to end; where several groups of ranks\n"
	"\t                                     -- did the same, the longest on a rank\n"
	"\talgbw     REAL,                      -- bytes/s\n"
	"\tbusbw     REAL,\n"
	"\tPRIMARY KEY (run, id)\n"
	") WITHOUT ROWID",

	"CREATE TABLE collective_rank (\n"
	"\trun        INTEGER NOT NULL REFERENCES run,\n"
	"\tcollective INTEGER NOT NULL,\n"
	"\trank       INTEGER NOT NULL,\n"
	"\tbegin_ps   INTEGER NOT NULL,\n"
	"\tend_ps     INTEGER,\n"
	"\tPRIMARY KEY (run, collective, rank)\n"
	") WITHOUT ROWID",

	/* What a rank did when. */
	"CREATE TABLE span (\n"
	"\trun      INTEGER NOT NULL REFERENCES run,\n"
	"\trank     INTEGER NOT NULL,\n"
	"\tstream   INTEGER NOT NULL,           -- 0 compute, 1 and up communication\n"
	"\tkind     TEXT NOT NULL,              -- 'compute', 'communication' or 'exposed'\n"
	"\tbegin_ps INTEGER NOT NULL,\n"
	"\tend_ps   INTEGER NOT NULL,\n"
	"\tname     TEXT NOT NULL\n"
	")",

	/* Bus bandwidth by message size, as nccl-tests measures it. */
	"CREATE TABLE bandwidth (\n"
	"\trun        INTEGER NOT NULL REFERENCES run,\n"
	"\tcollective TEXT NOT NULL,            -- 'all-reduce', ...\n"
	"\talgorithm  TEXT NOT NULL,\n"
	"\tranks      INTEGER NOT NULL,\n"
	"\tbytes      INTEGER NOT NULL,\n"
	"\ttime_ps    INTEGER NOT NULL,\n"
	"\talgbw      REAL NOT NULL,            -- bytes/s\n"
	"\tbusbw      REAL NOT NULL,\n"
	"\tPRIMARY KEY (run, collective, algorithm, bytes)\n"
	") WITHOUT ROWID",

	/* Distributions: how many values were at most le_ps and above the row before. */
	"CREATE TABLE latency (\n"
	"\trun   INTEGER NOT NULL REFERENCES run,\n"
	"\twhat  TEXT NOT NULL,                 -- 'packet', 'flow', 'message', ...\n"
	"\tle_ps INTEGER NOT NULL,\n"
	"\tn     INTEGER NOT NULL,\n"
	"\tPRIMARY KEY (run, what, le_ps)\n"
	") WITHOUT ROWID",

	"CREATE VIEW cdf (run, what, le_ps, share) AS\n"
	"\tSELECT run, what, le_ps, 1.0 * sum(n) OVER (PARTITION BY run, what ORDER BY le_ps)\n"
	"\t       / sum(n) OVER (PARTITION BY run, what)\n"
	"\tFROM latency",

	/* Words: the verdict and its reasons, and what else there is to say. */
	"CREATE TABLE note (\n"
	"\tstudy INTEGER NOT NULL REFERENCES study,\n"
	"\trun   INTEGER REFERENCES run,        -- NULL: of the whole study\n"
	"\tkind  TEXT NOT NULL,                 -- 'verdict', 'reason', 'note', 'warning'\n"
	"\trule  TEXT,                          -- of a note: which rule speaks, 'path-collision'\n"
	"\ttext  TEXT NOT NULL\n"
	")",
	NULL,
};
/* clang-format on */
