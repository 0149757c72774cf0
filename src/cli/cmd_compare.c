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

static int take_matters(const struct wf_opt_call *call)
{
	return wf_cli_sets_add(call->field, call->cmd, "--matters", call->arg, "matters",
	                       call->arg);
}

static int take_seeds(const struct wf_opt_call *call)
{
	return wf_cli_sets_add(call->field, call->cmd, "--seeds", call->arg, "compare.seeds",
	                       call->arg);
}

static int parse(int argc, char **argv, struct wf_cli_study *study)
{
	int status;

	study->jobs = wf_pool_cpus();
	status = wf_opt_parse(&wf_cmd_compare, argc, argv, study);
	if (status >= 0)
		return status;
	status = wf_cli_study_operand(study, "compare", argc, argv, "examples/train-64.yaml");
	return status == 0 ? -1 : status;
}

static int compare_and_print(struct wf_cli_study *req, const struct wf_scenario *scenario,
                             const struct wf_watch *watch, struct wf_out *out, struct wf_err *err)
{
	struct wf_compare_cfg cfg = { .scenario = scenario, .at_once = req->jobs, .watch = watch };
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

	if (rc >= 0)
		return rc;
	rc = wf_out_open(&out, wf_opt_out_path(req.out), &err);
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
		return wf_progress_status();
	}
	return rc == 0 ? WF_EXIT_OK : wf_cli_fail(rc, &err);
}

static const char *const matters_words[] = {
	"latency", "cost", "ethernet", "shared", "staff", NULL
};
static const struct wf_values matters = { .words = matters_words, .list = true };

static const struct wf_opt_row options[] = {
	{
		.is =
			&(const struct wf_opt){
				.name = "matters",
				.letter = 'm',
				.arg = "WORD[,WORD...]",
				.help = "What counts besides time; the same as `matters` in the "
					"scenario.\n"
					":latency\tsmall messages\n"
					":cost\tthe price\n"
					":ethernet\tit is there already\n"
					":shared\tit carries other traffic\n"
					":staff\tnobody has time to tune it\n",
				.values = &matters,
			},
		.take = take_matters,
		.at = offsetof(struct wf_cli_study, sets),
	},
	WF_CLI_STUDY_INPUT,
	{ .is = &wf_opt_seeds,
	  .take = take_seeds,
	  .at = offsetof(struct wf_cli_study, sets),
	  .more = "Every fabric is run with each; 5 if not given. Figures are medians. The same as "
	          "`compare.seeds` in the scenario." },
	WF_CLI_STUDY_ROW(jobs, wf_opt_take_param, jobs, .param = &wf_opt_param_jobs,
	                 .old = "threads", .old_letter = 't'),
	WF_CLI_STUDY_ROW(record, wf_opt_take_text, record.path,
	                 .more = "So are the sizes and the verdict, for `weft report`. "
	                         "docs/results.md explains the tables."),
	WF_CLI_STUDY_SAMPLES("If not given, as often as costs a small part of the run.",
	                     "`all` if not given."),
	WF_CLI_STUDY_OUTPUT("Standard output if not given. A file appears whole or not at all."),
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	{ "Verdict",
	  "The median step (or job) decides. A fabric that did not finish on a seed, or lost "
	  "packets of a lossless class to congestion on one, is out. One is slower than another "
	  "only if with every seed it takes longer than the other does with any, by more than 3 %; "
	  "otherwise they are alike. Like is compared with like: InfiniBand and Ethernet at their "
	  "best, as they come, and neglected (the profile's `state`).\n"
	  "Where the best of both sides are alike, what was said to matter decides, and nothing "
	  "else; where one is faster, up to 10 % of the time is given away for it. `latency` "
	  "speaks for the side whose smallest collective is faster by 15 % or more, `staff` for "
	  "the side that loses less by neglect (by 10 points or more), `cost` for the side whose "
	  "price is lower where the ranges of prices do not meet; `ethernet` and `shared` speak "
	  "for Ethernet. What was not measured speaks for nobody.\n"
	  "A slow fabric says why, from the diagnosis of its median run, and what would cure it "
	  "has been run with that seed. What is seen is called the cause only where a cure takes a "
	  "quarter of the difference away. docs/fairness.md has the reasons for these rules.\n" },
	{ "Exit status", "0: done. 1: it could not be done. 2: what was asked is wrong. 130 or "
	                 "143: interrupted.\n" },
	{ "Examples",
	  "  weft compare examples/train-64.yaml --matters ethernet,staff --record r.db\n"
	  "  weft report r.db --out r.html\n" },
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_compare = {
	.name = "compare",
	.summary = "run a job on several fabrics and say which to take",
	.operands = "SCENARIO.yaml",
	.values = wf_cli_study_values,
	.options = options,
	.text = "Takes the job (or the traffic) of a scenario to each of its fabrics and prints "
		"the figures that decide side by side, each the median of several seeds, with the "
		"least and the most below it where they differ; then which fabric to take and "
		"why.\n"
		"- what the fabric's network is made of: switches, tiers, transceivers, power and "
		"public price, the latter two from least to most;\n"
		"- the latency of an RDMA write of 8 bytes between the first and the last host;\n"
		"- a collective among the job's ranks at several sizes (`compare.collective`, "
		"`compare.sizes` in the scenario), with the time and the bus bandwidth that "
		"nccl-tests would print;\n"
		"- the job: its time, for training steps the exposed communication and the MFU "
		"(model FLOPs utilisation), the latency of its messages over the fabric, and what "
		"was counted meanwhile: PFC pauses, ECN marks, CNPs, credit waits, drops, packets "
		"sent again.\n"
		"Each figure is a simulation of its own; they run side by side on the processors "
		"there are, and the results do not depend on how many. A scenario that names no "
		"fabric is compared on " WF_COMPARE_FABRICS ". A fabric whose every figure reads "
		"like another's has no column; a line says so.\n"
		"With `topology: {kind: auto}` every fabric stands on the network that one would "
		"buy for it; with a radix of its own the network is the same for all, and the "
		"heading says it.\n"
		"With --record each fabric and seed is a run of the results file. What has "
		"finished is not done again when the same command is given later, also after an "
		"interrupt, unless a file that went into it has changed since, or it is of another "
		"build of weft.\n"
		"--json prints times in ps and rates in bytes/s.\n",
	.sections = sections,
	.see = "weft(1), weft-run(1), weft-sweep(1), weft-report(1), weft-scenario(5)",
	.run = run_compare,
};
