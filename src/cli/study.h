/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study.h - the options that all commands have which simulate a scenario.
 */
#ifndef WF_CLI_STUDY_H
#define WF_CLI_STUDY_H

#include "cli/common.h"
#include "cli/record.h"
#include "cli/sets.h"

/* What is kept of them: the first member of what such a command keeps. */
struct wf_cli_study {
	const char *scenario;
	const char *fabrics;  /* --fabric; NULL: the scenario's */
	const char *out;      /* as written; wf_opt_out_path() says where that is */
	const char *profiles; /* NULL: none */
	const char *seed;     /* as written; NULL: the scenario's */
	uint32_t threads;     /* of one simulation */
	uint32_t jobs;        /* simulations at once */
	bool json, quiet;
	struct wf_cli_sets sets;
	struct wf_cli_record record;
};

/* The row of an option of common.h that study.h keeps, with what else there is to say of it. */
#define WF_CLI_STUDY_ROW(option, how, member, ...)                                                 \
	{                                                                                          \
		.is = &wf_opt_##option, .take = (how),                                             \
		.at = offsetof(struct wf_cli_study, member), __VA_ARGS__                           \
	}

/* Rows about what is simulated, what is recorded of it, and what becomes of the output. */
#define WF_CLI_STUDY_INPUT                                                                         \
	WF_CLI_STUDY_ROW(fabric, wf_opt_take_text, fabrics,                                        \
	                 .more = "Instead of the scenario's fabrics."),                            \
		WF_CLI_STUDY_ROW(set, wf_cli_take_set, sets, .more = WF_CLI_SET_EXAMPLES,          \
	                         .many = true),                                                    \
		WF_CLI_STUDY_ROW(seed, wf_cli_study_take_seed, seed,                               \
	                         .more = "The same as `--set seed=N`."),                           \
		WF_CLI_STUDY_ROW(profiles, wf_opt_take_text, profiles, .more = NULL)
#define WF_CLI_STUDY_SAMPLES(sample_more, events_more)                                             \
	WF_CLI_STUDY_ROW(sample, wf_opt_take_text, record.sample_text, .more = (sample_more)),     \
		WF_CLI_STUDY_ROW(events, wf_opt_take_text, record.events_text,                     \
	                         .more = (events_more))
#define WF_CLI_STUDY_OUTPUT(out_more)                                                              \
	WF_CLI_STUDY_ROW(json, wf_opt_take_flag, json, .more = NULL),                              \
		WF_CLI_STUDY_ROW(out, wf_opt_take_text, out, .more = (out_more)),                  \
		WF_CLI_STUDY_ROW(quiet, wf_opt_take_flag, quiet, .more = NULL)

#define WF_CLI_SET_EXAMPLES                                                                        \
	":fabric.ecn.kmin=50KB\tin all fabrics\n"                                                  \
	":topology.hosts=64\tin the topology\n"                                                    \
	":traffic.size=1MB\tin all entries of traffic\n"                                           \
	":traffic.0.size=1MB\tin the first\n"                                                      \
	":job.bytes=64MiB\tin the job\n"                                                           \
	":run.until=1ms\tof the run\n"

#define WF_CLI_RECORD_MORE                                                                         \
	"A file that weft wrote before gets further runs; any other is refused. It can be read "   \
	"while it is written, and a run that is killed leaves what was written. Recording does "   \
	"not change what is simulated. When the file can no longer be written the report is "      \
	"printed all the same, and the exit status is 1. docs/results.md explains the tables."

/* For the rows: request is the struct wf_cli_study. */
int wf_cli_study_take_seed(const struct wf_opt_call *call);

/*
 * Takes the one scenario that argv must name behind its options; example is one to name if it does
 * not. Checks the options of the command cmd against each other. Returns 0 or WF_EXIT_USAGE.
 */
int wf_cli_study_operand(struct wf_cli_study *study, const char *cmd, int argc, char **argv,
                         const char *example);

/* What stands where a scenario does. */
extern const struct wf_values *const wf_cli_study_values[];

#endif
