/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_compare.c - weft compare: the same job on several fabrics, one answer.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/study.h"
#include "study/compare.h"
#include "text/file.h"
#include "run/pool.h"

static const char help_text[] =
	"usage: weft compare SCENARIO.yaml [OPTIONS]\n"
	"\n"
	"Runs the job of a scenario on each of its fabrics and prints the figures that decide: "
	"latency,\n"
	"bus bandwidth by size, the job's time, MFU where it is training, tails, pauses, marks, "
	"drops;\n"
	"then which fabric to take and why. A scenario without fabrics is compared on\n"
	"  " WF_COMPARE_FABRICS "\n"
	"\n"
	"  -m, --matters WORD[,WORD...]  what counts besides time: latency (small messages), "
	"cost,\n"
	"                               ethernet (it is there already), shared (with other\n"
	"                               traffic), staff (nobody has time to tune it)\n"
	"  -f, --fabric NAME[,NAME...]  compare these profiles\n"
	"  -s, --set PARAMETER=VALUE    change a parameter, as in weft run\n"
	"      --seed N                 the first seed\n"
	"      --seeds N                seeds that every fabric is run with (5); figures are "
	"medians\n"
	"  -t, --threads N              simulations at once (as many as there are processors)\n"
	"  -j, --json                   print JSON instead of tables\n"
	"  -o, --out FILE               write to FILE, whole or not at all\n" WF_CLI_RECORD_HELP
	"      --profiles DIR           look for profiles in DIR first\n"
	"  -q, --quiet                  no progress\n"
	"  -h, --help                   this text\n"
	"\n"
	"  weft compare examples/train-64.yaml --matters ethernet,staff --record r.db\n"
	"  weft report r.db -o r.html\n";

enum { SEEDS = 2000 };

static const struct option options[] = {
	WF_CLI_STUDY_OPTIONS,
	{ "matters", required_argument, NULL, 'm' },
	{ "seeds", required_argument, NULL, SEEDS },
	{ NULL, 0, NULL, 0 },
};

static int take_option(struct wf_cli_study *study, int c)
{
	if (c == 'm')
		return wf_cli_sets_add(&study->sets, study->cmd, "--matters", optarg, "matters",
		                       optarg);
	if (c == SEEDS)
		return wf_cli_sets_add(&study->sets, study->cmd, "--seeds", optarg, "compare.seeds",
		                       optarg);
	return wf_cli_study_option(study, c);
}

static int parse(int argc, char **argv, struct wf_cli_study *study)
{
	int c, status = 0;

	study->cmd = "compare";
	study->threads = wf_pool_cpus();
	while (status == 0 &&
	       (c = wf_cli_option(argc, argv, ":m:" WF_CLI_STUDY_SHORT, options)) != -1)
		status = take_option(study, c);
	if (status != 0 || study->help)
		return status;
	return wf_cli_study_operand(study, argc, argv, "examples/train-64.yaml");
}

static int compare_and_print(struct wf_cli_study *req, const struct wf_scenario *scenario,
                             const struct wf_watch *watch, struct wf_out *out, struct wf_err *err)
{
	struct wf_compare_cfg cfg = { .scenario = scenario,
		                      .at_once = req->threads,
		                      .watch = watch };
	struct wf_compare *result = calloc(1, sizeof(*result));
	struct wf_err unheard = { "" };
	int closed, rc = result == NULL ? -ENOMEM : 0;

	if (rc == 0)
		rc = wf_cli_record_open(&req->record, "compare", scenario->cfg.name, err);
	if (rc == 0) {
		cfg.record = req->record.opts;
		rc = wf_compare(&cfg, result, err);
		closed = wf_cli_record_close(&req->record, rc == 0 ? err : &unheard);
		rc = rc == 0 ? closed : rc;
		if (!req->quiet)
			wf_cli_record_stale(&req->record, "compare", &result->stale);
	}
	if (rc == 0 && req->json)
		wf_compare_json(result, out->file);
	else if (rc == 0)
		wf_compare_table(result, out->file);
	if (rc == 0)
		rc = wf_out_commit(out, err);
	if (result != NULL)
		wf_compare_fini(result);
	free(result);
	return rc;
}

static int compare_with(struct wf_cli_study *req, const struct wf_watch *watch, struct wf_out *out,
                        struct wf_err *err)
{
	static struct wf_paths paths;
	struct wf_scenario_opts opts = {
		.paths = &paths,
		.fabrics = req->fabrics,
		.default_fabrics = WF_COMPARE_FABRICS,
		.overrides = req->sets.set,
		.n_overrides = req->sets.n,
	};
	struct wf_scenario scenario;
	int rc = wf_paths_init(&paths, req->profiles, err);

	if (rc != 0)
		return rc;
	rc = wf_scenario_read(&scenario, req->scenario, &opts, err);
	if (rc == 0)
		rc = wf_scenario_build(&scenario, err);
	if (rc == 0)
		rc = compare_and_print(req, &scenario, watch, out, err);
	wf_scenario_fini(&scenario);
	return rc;
}

static int run_compare(int argc, char **argv)
{
	static struct wf_cli_study req;
	struct wf_progress_team *team;
	struct wf_watch watch;
	struct wf_err err = { "" };
	struct wf_out out;
	int rc = parse(argc, argv, &req);

	if (rc != 0)
		return rc;
	if (req.help)
		return wf_cli_help(&wf_cmd_compare);
	rc = wf_out_open(&out, req.out, &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	team = wf_progress_team_create("simulations", req.quiet, &watch);
	rc = team == NULL ? -ENOMEM : compare_with(&req, &watch, &out, &err);
	wf_progress_team_destroy(team);
	wf_out_abort(&out);
	if (rc == -EINTR) {
		if (req.record.path != NULL)
			fprintf(stderr,
			        "weft compare: interrupted; what has finished is in %s, and the "
			        "same "
			        "command goes on with it\n",
			        req.record.path);
		else
			fprintf(stderr, "weft compare: interrupted; nothing is written (with "
			                "--record it could go on)\n");
		return WF_EXIT_INTERRUPTED;
	}
	return rc == 0 ? WF_EXIT_OK : wf_cli_fail(rc, &err);
}

const struct wf_cmd wf_cmd_compare = {
	.name = "compare",
	.summary = "run a job on several fabrics and say which to take",
	.help = help_text,
	.run = run_compare,
};
