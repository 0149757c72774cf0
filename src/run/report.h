/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - runs of one scenario, side by side, for people and for programs.
 *
 * What is written depends on the scenario and its seed alone: how long it took, and on how many
 * threads, is none of it.
 */
#ifndef WF_RUN_REPORT_H
#define WF_RUN_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "run/run.h"

struct wf_report {
	const struct wf_scenario *scenario;
	const struct wf_run *runs;
	size_t n;
	bool ports; /* the ports too */
};

/* A table with one column for each run. */
void wf_report_table(const struct wf_report *report, FILE *file);

/* The same figures as JSON; times are in ps, sizes in bytes, rates in bits/s. */
void wf_report_json(const struct wf_report *report, FILE *file);

#endif
