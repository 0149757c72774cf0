/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_sweep.c - weft sweep: a scenario over ranges of parameters, into one results file.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/study.h"
#include "text/file.h"
#include "run/pool.h"
#include "run/record_names.h"
#include "study/sweep.h"

/* What the table shows unless --show says it. */
#define SHOWN "completion,goodput,packet_latency_p99,drops,pause_tx,ecn_marked"

/* What the command line asks for. */
struct request {
	struct wf_cli_study study;
	bool csv;
	struct wf_axis axes[WF_SWEEP_MAX_AXES];
	unsigned n_axes;
	char show_text[1024];
	const char *show[WF_SWEEP_MAX_SHOWN];
	unsigned n_show;
};

static int take_vary(const struct wf_opt_call *call)
{
	struct request *req = call->request;
	struct wf_err why = { "" };

	if (req->n_axes == WF_SWEEP_MAX_AXES)
		return wf_cli_usage("sweep", "--vary is there more than %d times",
		                    WF_SWEEP_MAX_AXES);
	if (wf_axis_parse(&req->axes[req->n_axes], call->arg, &why) != 0)
		return wf_cli_usage("sweep", "--vary %s", why.text);
	req->n_axes++;
	return 0;
}

static int set_show(struct request *req, const char *arg)
{
	char *rest = NULL, *name;

	if (strlen(arg) >= sizeof(req->show_text))
		return wf_cli_usage("sweep", "--show: the list is too long");
	snprintf(req->show_text, sizeof(req->show_text), "%s", arg);
	req->n_show = 0;
	for (name = strtok_r(req->show_text, ",", &rest); name != NULL;
	     name = strtok_r(NULL, ",", &rest)) {
		struct wf_err why = { "" };

		if (wf_record_name_check(name, &why) != 0)
			return wf_cli_usage("sweep", "--show: %s", why.text);
		if (req->n_show == WF_SWEEP_MAX_SHOWN)
			return wf_cli_usage("sweep", "--show: more than %d values",
			                    WF_SWEEP_MAX_SHOWN);
		req->show[req->n_show++] = name;
	}
	return 0;
}

static int take_show(const struct wf_opt_call *call)
{
	return set_show(call->request, call->arg);
}

/* What the options mean for each other. Returns -1 to go on, or WF_EXIT_USAGE. */
static int check(const struct request *req)
{
	if (strcmp(req->study.scenario, "-") == 0)
		return wf_cli_usage("sweep", "the scenario is read more than once; name a file");
	if (req->study.json && req->csv)
		return wf_cli_usage("sweep", "--csv or --json, not both");
	if (req->n_axes == 0)
		return wf_cli_usage("sweep", "what is varied? Write, e.g., --vary "
		                             "fabric.ecn.kmin=50KB,100KB");
	if (req->study.record.path == NULL)
		return wf_cli_usage("sweep", "the results go to a file: name it with --record");
	return -1;
}

static int parse(int argc, char **argv, struct request *req)
{
	struct wf_cli_record *record = &req->study.record;
	int status = set_show(req, SHOWN);

	req->study.jobs = wf_pool_cpus();
	if (status == 0)
		status = wf_opt_parse(&wf_cmd_sweep, argc, argv, req);
	if (status >= 0)
		return status;
	if (record->path != NULL && record->sample_text == NULL)
		record->sample_text = "none";
	if (record->path != NULL && record->events_text == NULL)
		record->events_text = "none";
	status = wf_cli_study_operand(&req->study, "sweep", argc, argv, "examples/incast.yaml");
	return status != 0 ? status : check(req);
}

/* Runs what is missing and prints all of it. */
static int run_and_print(const struct request *req, struct wf_sweep *sweep, struct wf_out *out,
                         struct wf_err *err)
{
	int rc;

	if (!req->study.quiet && wf_sweep_found(sweep) > 0)
		fprintf(stderr, "weft sweep: %zu of %zu runs are in %s already\n",
		        wf_sweep_found(sweep), wf_sweep_runs(sweep), req->study.record.path);
	if (!req->study.quiet)
		wf_cli_record_stale(&req->study.record, "sweep", wf_sweep_stale(sweep));
	rc = wf_sweep_run(sweep, err);
	if (rc == 0 && wf_progress_interrupted())
		rc = -EINTR;
	if (rc != 0)
		return rc;
	if (req->csv)
		wf_sweep_csv(sweep, req->show, req->n_show, out->file);
	else if (req->study.json)
		wf_sweep_json(sweep, req->study.record.path, req->show, req->n_show, out->file);
	else
		wf_sweep_table(sweep, req->show, req->n_show, out->file);
	return wf_out_commit(out, err);
}

static int sweep_with(struct request *req, const struct wf_watch *watch, struct wf_out *out,
                      struct wf_err *err)
{
	static struct wf_paths paths;
	struct wf_sweep_cfg cfg = {
		.scenario = req->study.scenario,
		.opts = { .paths = &paths,
		          .fabrics = req->study.fabrics,
		          .overrides = req->study.sets.set,
		          .n_overrides = req->study.sets.n },
		.axes = req->axes,
		.n_axes = req->n_axes,
		.at_once = req->study.jobs,
		.watch = watch,
	};
	struct wf_sweep *sweep = NULL;
	struct wf_err unheard = { "" };
	int rc = wf_paths_init(&paths, req->study.profiles, err), closed;

	if (rc == 0)
		rc = wf_cli_record_open(&req->study.record, "sweep", req->study.scenario, err);
	if (rc != 0)
		return rc;
	cfg.record = req->study.record.opts;
	rc = wf_sweep_create(&cfg, &sweep, err);
	if (rc == 0)
		rc = run_and_print(req, sweep, out, err);
	wf_sweep_destroy(sweep);
	closed = wf_cli_record_close(&req->study.record, rc == 0 ? err : &unheard);
	return rc == 0 ? closed : rc;
}

static int run_sweep(int argc, char **argv)
{
	static struct request req;
	struct wf_progress_team *team;
	struct wf_watch watch;
	struct wf_err err = { "" };
	struct wf_out out;
	int rc = parse(argc, argv, &req);

	if (rc >= 0)
		return rc;
	rc = wf_out_open(&out, wf_opt_out_path(req.study.out), &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	team = wf_progress_team_create("runs", req.study.quiet, &watch);
	rc = team == NULL ? -ENOMEM : sweep_with(&req, &watch, &out, &err);
	wf_progress_team_destroy(team);
	wf_out_abort(&out);
	if (rc == -EINTR) {
		fprintf(stderr,
		        "weft sweep: interrupted; the same command goes on with what %s does not "
		        "have yet\n",
		        req.study.record.path);
		return wf_progress_status();
	}
	return rc == 0 ? WF_EXIT_OK : wf_cli_fail(rc, &err);
}

static const struct wf_opt_row options[] = {
	{
		.is =
			&(const struct wf_opt){
				.name = "vary",
				.arg = "PARAMETER=VALUES",
				.help = "Any parameter that --set takes. Values are a list, whose "
					"members "
					"may be ranges. Up to 8 parameters: every combination of "
					"their "
					"values is run, and the last one changes fastest.\n"
					":50KB,100KB\tthese two\n"
					":50KB..800KB\tdoubling\n"
					":1..64*4\ttimes four\n"
					":10us..50us+10us\tin steps\n",
			},
		.take = take_vary,
		.old_letter = 'v',
		.required = true,
		.many = true,
	},
	WF_CLI_STUDY_ROW(record, wf_opt_take_text, record.path,
	                 .more = "docs/results.md explains the tables.", .required = true),
	WF_CLI_STUDY_SAMPLES("`none` if not given: a sweep has many runs.", "`none` if not given."),
	{
		.is =
			&(const struct wf_opt){
				.name = "show",
				.arg = "NAME[,NAME...]",
				.help = "What the table shows: names of the table `value` in the "
					"results "
					"file (docs/results.md). If not given: " SHOWN ".",
			},
		.take = take_show,
	},
	WF_CLI_STUDY_INPUT,
	WF_CLI_STUDY_ROW(jobs, wf_opt_take_param, jobs, .param = &wf_opt_param_jobs,
	                 .old = "threads", .old_letter = 't'),
	{
		.is =
			&(const struct wf_opt){
				.name = "csv",
				.help = "Prints CSV instead of a table: times in picoseconds, "
					"sizes in "
					"bytes, rates in bits per second.",
			},
		.take = wf_opt_take_flag,
		.at = offsetof(struct request, csv),
	},
	WF_CLI_STUDY_OUTPUT("Standard output if not given. A file appears whole or not at all."),
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	{ "Exit status",
	  "0: all runs are in the file. 1: it could not be done. 2: what was asked is wrong; "
	  "nothing was run. 130 or 143: interrupted; the file has what was finished.\n" },
	{ "Examples",
	  "  weft sweep examples/incast.yaml --vary fabric.ecn.kmin=50KB..800KB --record kmin.db\n"
	  "  weft sweep examples/permutation.yaml --vary seed=1..10+1 \\\n"
	  "       --vary topology.blocking=1,2 --show completion --csv --record blocking.db\n" },
	{ NULL, NULL },
};

_Static_assert(offsetof(struct request, study) == 0, "the rows of study.h count from here");

const struct wf_cmd wf_cmd_sweep = {
	.name = "sweep",
	.summary = "run a scenario over ranges of parameters, into one file",
	.operands = "SCENARIO.yaml",
	.values = wf_cli_study_values,
	.options = options,
	.text = "Runs the scenario at every combination of the values, on each of its fabrics, as "
		"many simulations at once as there are processors, and records each run to the "
		"results file. Then it prints one line for each run.\n"
		"A sweep can be interrupted or killed. The same command with the same file does "
		"only the runs that the file does not have, finished, of the same scenario text, "
		"options and point, the same contents of all files that were read on the way "
		"(profiles, topologies, sizes, models, traces), and the same build of weft; more "
		"values may be added in the same way. Runs of other contents are done anew, and "
		"standard error says which file it was.\n",
	.sections = sections,
	.see = "weft(1), weft-run(1), weft-report(1), weft-export(1), weft-scenario(5), "
	       "weft-results(5)",
	.run = run_sweep,
};
