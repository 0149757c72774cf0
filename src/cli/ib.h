/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ib.h - what weft ib looks at: a subnet from a file or a scenario, its tables, what came of them.
 */
#ifndef WF_CLI_IB_H
#define WF_CLI_IB_H

#include <stdio.h>

#include "subnet/check.h"
#include "subnet/members.h"
#include "subnet/names.h"
#include "subnet/read.h"
#include "subnet/route.h"
#include "subnet/survey.h"
#include "topo/topo.h"

#define WF_IB_MAX_SEEDS 100

/* What the command line asks for. */
struct wf_ib_ask {
	const char *action, *file;
	const char *engine, *roots, *lfts, *counters; /* NULL: not given */
	const char *partitions;
	const char *form, *out, *profiles;
	uint32_t vls, seeds, lmc;
	bool lmc_given, json;
};

/* What was not understood. */
struct wf_ib_note {
	struct wf_ib_note *next;
	const char *file, *what;
	unsigned line, column;
};

struct wf_ib {
	const struct wf_ib_ask *ask;
	struct wf_arena arena; /* all that follows */
	struct wf_subnet *subnet;
	const struct wf_topo *topo; /* of a scenario, or of the file as a topology; NULL: none */
	struct wf_err no_topo;      /* why there is none */
	const char *form;           /* of the file: "db_csv", "scenario" */
	const char *text;           /* of the file, where it is no scenario */
	size_t len;
	bool lids_made; /* some ports had no LID, and were given one */
	struct wf_tables *tables;
	struct wf_parts *parts; /* NULL: none were asked for */
	struct wf_members members;
	struct wf_subnet_names names;
	struct wf_ib_note *notes, **last_note;
	unsigned n_notes;
};

/* Reads what ask names. ib goes to wf_ib_fini() whatever is returned: 0, -errno with err filled. */
int wf_ib_read(struct wf_ib *ib, const struct wf_ib_ask *ask, struct wf_err *err);

/* Reads or makes tables, as asked for. engine: that of OpenSM's default if none was. */
int wf_ib_route(struct wf_ib *ib, const char *engine, struct wf_err *err);

/* The file as a topology: ib->topo, or why not. Returns 0 or -ENOMEM. */
int wf_ib_as_topology(struct wf_ib *ib);

void wf_ib_fini(struct wf_ib *ib);

/* Print to file what was asked for; return 0 or -ENOMEM. errors_p: findings that are errors. */
int wf_ib_print_routes(struct wf_ib *ib, FILE *file);
int wf_ib_print_check(struct wf_ib *ib, FILE *file, unsigned *errors_p);
int wf_ib_print_import(struct wf_ib *ib, FILE *file);

#endif
