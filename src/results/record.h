/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - results in a SQLite file, written while the runs go. docs/results.md is its manual.
 *
 *	wf_record_open ── wf_record_begin ── add… add… ── wf_record_end ── … ── wf_record_close
 *
 * Rows gather in memory and are written a batch at a time, each in one transaction, so that others
 * can read the file while it grows and a process that is killed leaves what it had written. What
 * goes wrong while writing (a full disk) is remembered: from then on nothing is written, nobody
 * else is disturbed, and wf_record_end() and wf_record_close() say what it was: -EIO, or -EINVAL
 * where the file that was to be added to is damaged.
 *
 * A record may be shared by threads, each with runs of its own; a run is one thread's at a time.
 * Other processes may write the same file.
 */
#ifndef WF_RESULTS_RECORD_H
#define WF_RESULTS_RECORD_H

#include <stdbool.h>

#include "base/err.h"
#include "base/hist.h"
#include "topo/topo.h"

struct wf_record;
struct wf_record_run;

/*
 * Opens path, or creates it. With its first run or note a study begins there: kind is "run",
 * "compare" or "sweep", name the scenario's; record_find.h has what goes on with one that is there
 * instead. A file that weft did not write is left alone. On success *record_p is owned by the
 * caller. Returns 0, -EINVAL with err filled (no such folder, not writable, somebody else's file),
 * or -ENOMEM.
 */
int wf_record_open(const char *path, const char *kind, const char *name,
                   struct wf_record **record_p, struct wf_err *err) WF_MUST_USE;

/*
 * Ends the writing: the file is complete and stands alone. Every run was ended. Returns 0, or -EIO
 * or -EINVAL with the first thing that went wrong in err. record is freed either way; NULL is
 * allowed.
 */
int wf_record_close(struct wf_record *record, struct wf_err *err) WF_MUST_USE;

/* A file that went into a run. */
struct wf_record_input {
	const char *kind; /* what it was read as: "profile" */
	const char *name; /* as it was asked for; "" */
	const char *file; /* its path */
	const char *hash; /* of its contents */
	uint64_t size;
};

/* What a run is of; all is borrowed for the call. */
struct wf_record_head {
	const char *label;         /* heads its column */
	const char *fabric;        /* the fabric's label */
	unsigned place;            /* in the scenario's list of fabrics */
	const char *point;         /* of a sweep; NULL */
	const char *scenario_file; /* its name */
	const char *scenario;      /* its text */
	const char *overrides;     /* a line each; "" */
	uint64_t seed;
	wf_time until;
	wf_time sample; /* interval asked for; 0: as fits the cost */
	const char
		*digest; /* of all that went into it; NULL: not known, and nobody finds it again */
	const struct wf_record_input *inputs;
	size_t n_inputs;
};

/*
 * Begins a run. It is in the file, as running, when this returns. On success *run_p belongs to the
 * record until wf_record_end(). Returns 0, -EIO with err filled, or -ENOMEM.
 */
int wf_record_begin(struct wf_record *record, const struct wf_record_head *head,
                    struct wf_record_run **run_p, struct wf_err *err) WF_MUST_USE;

enum wf_record_state { WF_RECORD_FINISHED, WF_RECORD_INTERRUPTED, WF_RECORD_FAILED };

/* How a run ended. */
struct wf_record_tail {
	enum wf_record_state state;
	wf_time end;
	double cpu_s, wall_s;
};

/* Ends a run and writes what is left of it; run is freed. Returns 0, or -EIO with err filled. */
int wf_record_end(struct wf_record_run *run, const struct wf_record_tail *tail,
                  struct wf_err *err) WF_MUST_USE;

/* The rows of table input; wf_record_begin() does this. */
void wf_record_inputs(struct wf_record_run *run, const struct wf_record_input *inputs, size_t n);

/*
 * The rows. Texts are copied. They go to the file when enough have gathered, or when
 * wf_record_flush() finds that the last time was a while ago.
 */
void wf_record_parameter(struct wf_record_run *run, const char *name, const char *value,
                         const char *source);
void wf_record_value(struct wf_record_run *run, const char *name, uint64_t value, const char *unit);
void wf_record_real(struct wf_record_run *run, const char *name, double value, const char *unit);
void wf_record_text(struct wf_record_run *run, const char *name, const char *text);

/* A value there is not: the row says so with NULL. */
void wf_record_none(struct wf_record_run *run, const char *name, const char *unit);

/* Nodes and links. */
void wf_record_topo(struct wf_record_run *run, const struct wf_topo *topo);

/* What is counted: a row of table counter, whose id is found or made. */
struct wf_record_counter {
	const char *name;
	int queue; /* -1: the whole port */
	const char *measure;
	double factor;
	const char *unit, *kind, *source, *help;
	const char *exporter; /* its name in node_exporter, behind node_infiniband_; NULL: none */
};

/* The ids of n counters, for wf_record_sample(). Returns 0, or -EIO with err filled. */
int wf_record_counters(struct wf_record_run *run, const struct wf_record_counter *counters,
                       size_t n, uint32_t *ids, struct wf_err *err) WF_MUST_USE;

/* Samples were taken at t; those of what changed follow. */
void wf_record_tick(struct wf_record_run *run, wf_time t);
void wf_record_sample(struct wf_record_run *run, wf_time t, uint32_t node, unsigned port,
                      uint32_t counter, uint64_t value);
void wf_record_sample_real(struct wf_record_run *run, wf_time t, uint32_t node, unsigned port,
                           uint32_t counter, double value);

#define WF_RECORD_NONE UINT32_MAX /* in a column that a row leaves empty */

struct wf_record_event {
	wf_time at;
	const char *kind;
	uint32_t node;
	uint32_t port, queue; /* or WF_RECORD_NONE */
	wf_time dur;          /* -1: none */
	uint32_t src, dst;    /* nodes, or WF_RECORD_NONE */
	const char *detail;   /* or NULL */
};

void wf_record_event(struct wf_record_run *run, const struct wf_record_event *e);

/* There were n events of a kind, of which so many were recorded as rows. */
void wf_record_event_count(struct wf_record_run *run, const char *kind, uint64_t n,
                           uint64_t recorded);

struct wf_record_flow {
	uint64_t id;
	uint32_t src, dst; /* nodes */
	uint64_t bytes;
	unsigned cls;
	wf_time start, end; /* end: WF_TIME_NEVER = it did not come */
};

void wf_record_flow(struct wf_record_run *run, const struct wf_record_flow *flow);

/* How far a flow had come at t, and its rate (bit/s) and window (bytes); 0: it has none. */
void wf_record_flow_sample(struct wf_record_run *run, wf_time t, uint64_t flow, uint64_t acked,
                           uint64_t rate, uint64_t window);

/* Where a rank of a job runs: its NIC's node. */
void wf_record_rank(struct wf_record_run *run, uint32_t rank, uint32_t node);

/* A message between ranks; net: over the fabric, else over NVLink. */
void wf_record_message(struct wf_record_run *run, uint32_t src, uint32_t dst, uint64_t bytes,
                       wf_time begin_at, wf_time end, bool net);

struct wf_record_collective {
	uint64_t id;
	const char *name, *kind, *algorithm;
	uint32_t ranks;
	uint64_t bytes;
	wf_time begin, end; /* end: WF_TIME_NEVER = not over */
	wf_time took;
	double algbw, busbw; /* bytes/s */
};

void wf_record_collective(struct wf_record_run *run, const struct wf_record_collective *c);
void wf_record_collective_rank(struct wf_record_run *run, uint64_t collective, uint32_t rank,
                               wf_time begin_at, wf_time end);

/* What a rank did: kind is "compute", "communication" or "exposed". */
struct wf_record_span {
	uint32_t rank, stream;
	const char *kind, *name;
	wf_time begin, end;
};

void wf_record_span(struct wf_record_run *run, const struct wf_record_span *span);

/* A point of a bus-bandwidth curve. */
struct wf_record_bandwidth {
	const char *collective, *algorithm;
	uint32_t ranks;
	uint64_t bytes;
	wf_time time;
	double algbw, busbw; /* bytes/s */
};

void wf_record_bandwidth(struct wf_record_run *run, const struct wf_record_bandwidth *b);

/* A distribution of times in ps, called what. */
void wf_record_hist(struct wf_record_run *run, const char *what, const struct wf_hist *hist);

/* Words of a run; rule is the rule that found it, or NULL. */
void wf_record_note(struct wf_record_run *run, const char *kind, const char *rule,
                    const char *text);

/* Words of the whole study. Returns 0, or -EIO with err filled. */
int wf_record_study_note(struct wf_record *record, const char *kind, const char *text,
                         struct wf_err *err) WF_MUST_USE;

/* The run has come to virtual time now: writes what has gathered, if it is time to. */
void wf_record_flush(struct wf_record_run *run, wf_time now);

/* The number of a run in the file. */
int64_t wf_record_run_id(const struct wf_record_run *run);

#endif
