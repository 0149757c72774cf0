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

static const char help_text[] =
	"usage: weft sweep SCENARIO.yaml --vary PARAMETER=VALUES [--vary ...] --record FILE\n"
	"\n"
	"Runs a scenario at every combination of values, several at once, and records every run "
	"to\n"
	"one results file. Begun again with the same file it does only what is missing there.\n"
	"\n"
	"  -v, --vary PARAMETER=VALUES  50KB,100KB (these), 50KB..800KB (doubling), 1..64*4 "
	"(times\n"
	"                               four), 10us..50us+10us (steps); any parameter that --set\n"
	"                               takes; with several, every combination\n"
	"      --show NAME[,NAME...]    values of the table, as docs/results.md has them\n"
	"                               (completion,goodput,packet_latency_p99,drops,pause_tx,\n"
	"                               ecn_marked)\n"
	"  -f, --fabric NAME[,NAME...]  run these profiles instead of the scenario's fabrics\n"
	"  -s, --set PARAMETER=VALUE    change a parameter of every run\n"
	"      --seed N                 the same as --set seed=N\n"
	"  -t, --threads N              simulations at once (as many as there are processors)\n"
	"      --csv                    print CSV instead of a table: times in ps, rates in "
	"bits/s\n"
	"  -o, --out FILE               write it to FILE, whole or not at all\n" WF_CLI_RECORD_HELP
	"      --profiles DIR           look for profiles in DIR first\n"
	"  -q, --quiet                  no progress\n"
	"  -h, --help                   this text\n"
	"\n"
	"Samples and events are recorded only where --sample and --events ask for them: a sweep "
	"has\n"
	"many runs.\n"
	"\n"
	"  weft sweep examples/incast.yaml --vary fabric.ecn.kmin=50KB..800KB --record kmin.db\n"
	"  weft sweep examples/permutation.yaml --vary seed=1..10+1 --vary topology.blocking=1,2 "
	"\\\n"
	"       --show completion --csv --record blocking.db\n";

enum { OPT_SHOW = 256, OPT_CSV };

static const struct option options[] = {
	WF_CLI_STUDY_OPTIONS,
	{ "vary", required_argument, NULL, 'v' },
	{ "show", required_argument, NULL, OPT_SHOW },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ NULL, 0, NULL, 0 },
};

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

static int add_axis(struct request *req, const char *arg)
{
	struct wf_err why = { "" };

	if (req->n_axes == WF_SWEEP_MAX_AXES)
		return wf_cli_usage("sweep", "--vary is there more than %d times",
		                    WF_SWEEP_MAX_AXES);
	if (wf_axis_parse(&req->axes[req->n_axes], arg, &why) != 0)
		return wf_cli_usage("sweep", "--vary %s", why.text);
	req->n_axes++;
	return 0;
}

static int set_show(struct request *req, const char *arg)
{
	char *rest = req->show_text, *name;

	if (strlen(arg) >= sizeof(req->show_text))
		return wf_cli_usage("sweep", "--show: the list is too long");
	snprintf(req->show_text, sizeof(req->show_text), "%s", arg);
	for (req->n_show = 0; (name = strsep(&rest, ",")) != NULL;) {
		struct wf_err why = { "" };

		if (name[0] == '\0')
			continue;
		if (wf_record_name_check(name, &why) != 0)
			return wf_cli_usage("sweep", "--show: %s", why.text);
		if (req->n_show == WF_SWEEP_MAX_SHOWN)
			return wf_cli_usage("sweep", "--show: more than %d values",
			                    WF_SWEEP_MAX_SHOWN);
		req->show[req->n_show++] = name;
	}
	return 0;
}

static int take_option(struct request *req, int c)
{
	switch (c) {
	case 'v':
		return add_axis(req, optarg);
	case OPT_SHOW:
		return set_show(req, optarg);
	case OPT_CSV:
		req->csv = true;
		return 0;
	default:
		return wf_cli_study_option(&req->study, c);
	}
}

static int parse(int argc, char **argv, struct request *req)
{
	struct wf_cli_record *record = &req->study.record;
	int c, status = set_show(req, "completion,goodput,packet_latency_p99,drops,pause_tx,"
	                              "ecn_marked");

	req->study.cmd = "sweep";
	req->study.threads = wf_pool_cpus();
	while (status == 0 &&
	       (c = wf_cli_option(argc, argv, ":v:" WF_CLI_STUDY_SHORT, options)) != -1)
		status = take_option(req, c);
	if (status != 0 || req->study.help)
		return status;
	if (record->path != NULL && record->sample_text == NULL)
		record->sample_text = "none";
	if (record->path != NULL && record->events_text == NULL)
		record->events_text = "none";
	status = wf_cli_study_operand(&req->study, argc, argv, "examples/incast.yaml");
	if (status != 0)
		return status;
	if (strcmp(req->study.scenario, "-") == 0)
		return wf_cli_usage("sweep", "the scenario is read more than once; name a file");
	if (req->study.json)
		return wf_cli_usage("sweep", "there is --csv, and the results file; no --json");
	if (req->n_axes == 0)
		return wf_cli_usage("sweep", "what is varied? Write, e.g., --vary "
		                             "fabric.ecn.kmin=50KB,100KB");
	if (record->path == NULL)
		return wf_cli_usage("sweep", "the results go to a file: name it with --record");
	return 0;
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
		.at_once = req->study.threads,
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

	if (rc != 0)
		return rc;
	if (req.study.help)
		return wf_cli_help(&wf_cmd_sweep);
	rc = wf_out_open(&out, req.study.out, &err);
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
		return WF_EXIT_INTERRUPTED;
	}
	return rc == 0 ? WF_EXIT_OK : wf_cli_fail(rc, &err);
}

const struct wf_cmd wf_cmd_sweep = {
	.name = "sweep",
	.summary = "run a scenario over ranges of parameters, into one results file",
	.help = help_text,
	.run = run_sweep,
};
