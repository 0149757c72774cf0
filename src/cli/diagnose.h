/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.h - what weft diagnose looks at: evidence from files, folders, a results file or a live
 * fabric, and what it says of it.
 */
#ifndef WF_CLI_DIAGNOSE_H
#define WF_CLI_DIAGNOSE_H

#include <stdio.h>

#include "diagnose/diagnose.h"
#include "results/evidence.h"
#include "text/json.h"

/* Exit status where there are warnings, and no errors. */
#define WF_EXIT_WARNING 3

#define WF_CLI_VICTIMS 5

/* What was not understood. */
struct wf_cli_note {
	struct wf_cli_note *next;
	const char *file, *what;
	unsigned line, column;
};

/* A flow that had no part in the congestion and was slow all the same. */
struct wf_cli_victim {
	uint64_t id, bytes;
	wf_time took;
	char src[64], dst[64];
};

/* One thing that is diagnosed: a run of a results file, or all the files together. */
struct wf_cli_case {
	const char *name; /* of the file, or what was given */
	struct wf_evidence *ev;
	struct wf_diagnosis d;
	bool diagnosed;
	bool recorded;                      /* run says something */
	struct wf_results_run run, healthy; /* and a run of the same file without a finding */
	bool has_healthy;
	struct wf_cli_victim victim[WF_CLI_VICTIMS];
	unsigned n_victims;
};

struct wf_cli_diagnose {
	struct wf_arena arena;
	struct wf_cli_note *notes, **last_note;
	unsigned n_notes, n_files;
	struct wf_err *err;
};

void wf_cli_diagnose_init(struct wf_cli_diagnose *c, struct wf_err *err);
void wf_cli_diagnose_fini(struct wf_cli_diagnose *c);

/*
 * Reads a file, or all files below a folder, into ev as snapshot when. NAME=PATH says whose it is;
 * else it is the prompt's in the text, the first folder's below a folder, or the file's name.
 * Returns 0, or -errno with err filled.
 */
int wf_cli_diagnose_read(struct wf_cli_diagnose *c, struct wf_evidence *ev, const char *path,
                         unsigned when);

/* Whether a file is one of SQLite's. */
bool wf_cli_is_results(const char *path);

/* Asks the rules. Returns 0 or -ENOMEM. */
int wf_cli_case_diagnose(struct wf_cli_case *k);
void wf_cli_case_fini(struct wf_cli_case *k);

#ifdef WEFT_LIVE
/*
 * Of cli/live. Asks the daemon of the fabric called name (NULL: the default) for the counters of
 * its switches and hosts, and what is connected. ev is not finished yet. Returns 0, or a negative
 * error with err filled.
 */
int wf_live_evidence(const char *name, struct wf_evidence *ev, struct wf_err *err) WF_MUST_USE;

/* Of cli/live: --name. */
extern const struct wf_opt wf_opt_name;
#endif

/* Writes for people, and as JSON in a list that is open. */
void wf_cli_case_print(const struct wf_cli_case *k, FILE *file);
void wf_cli_case_json(const struct wf_cli_case *k, struct wf_json *json);

#endif
