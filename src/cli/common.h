/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common.h - the options that several commands have, each defined once, and what may stand for
 * arguments that several know.
 */
#ifndef WF_CLI_COMMON_H
#define WF_CLI_COMMON_H

#include "cli/option.h"

extern const struct wf_opt wf_opt_fabric;
extern const struct wf_opt wf_opt_set;
extern const struct wf_opt wf_opt_seed;
extern const struct wf_opt wf_opt_seeds;
extern const struct wf_opt wf_opt_threads;
extern const struct wf_opt wf_opt_jobs;
extern const struct wf_opt wf_opt_json;
extern const struct wf_opt wf_opt_out;
extern const struct wf_opt wf_opt_record;
extern const struct wf_opt wf_opt_sample;
extern const struct wf_opt wf_opt_events;
extern const struct wf_opt wf_opt_profiles;
extern const struct wf_opt wf_opt_quiet;
extern const struct wf_opt wf_opt_run;

extern const struct wf_values wf_values_any_file;
extern const struct wf_values wf_values_folder;
extern const struct wf_values wf_values_yaml;    /* scenarios */
extern const struct wf_values wf_values_results; /* files of --record */
extern const struct wf_values wf_values_commands;

/* A number of threads or of simulations at once: 1 to 64, a uint32_t. */
extern const struct wf_param wf_opt_param_threads;
extern const struct wf_param wf_opt_param_jobs;

/*
 * Where --out says that output goes, as wf_out_open() and the like take it: NULL, standard output,
 * for "-" and where it was not given.
 */
const char *wf_opt_out_path(const char *out);

#endif
