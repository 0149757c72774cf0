/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_export.c - weft export: a results file in the format of another tool.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "results/export.h"
#include "text/file.h"
#include "text/suggest.h"

/* What the command line asks for. */
struct request {
	const char *to, *out;
	uint64_t run;
	wf_time from, until;
};

static int export(const char *file, const struct wf_export_ops *ops, const struct request *req,
                  const char *out)
{
	struct wf_export *ex = NULL;
	struct wf_err err = { "" };
	int rc = wf_export_open(file, (int64_t)req->run, &ex, &err);

	if (rc == 0)
		wf_export_between(ex, req->from, req->until);
	if (rc == 0)
		rc = wf_export_write(ex, ops, out, &err);
	wf_export_close(ex);
	return rc == 0 ? WF_EXIT_OK : wf_cli_fail(rc, &err);
}

static int unknown_format(const char *to)
{
	struct wf_suggest suggest;

	if (to == NULL)
		return wf_cli_usage("export", "to which format? Say it with --to");
	wf_suggest_init(&suggest, to);
	for (size_t i = 0; wf_export_all()[i] != NULL; i++)
		wf_suggest_offer(&suggest, wf_export_all()[i]->name);
	return wf_cli_usage("export", "--to: there is no format '%.40s'%s", to,
	                    wf_suggest_text(&suggest, "there are"));
}

static int run_export(int argc, char **argv)
{
	const struct wf_export_ops *ops = NULL;
	struct request req = { .run = 0 };
	const char *out;
	int rc = wf_opt_parse(&wf_cmd_export, argc, argv, &req);

	if (rc >= 0)
		return rc;
	if (optind + 1 != argc)
		return wf_cli_usage("export",
		                    "name one results file, as weft run --record wrote it");
	if (req.to != NULL)
		ops = wf_export_find(req.to);
	if (ops == NULL)
		return unknown_format(req.to);
	out = wf_opt_out_path(req.out);
	if (out != NULL && wf_file_is_same(out, argv[optind]))
		return wf_cli_usage("export", "--out would replace the results");
	if (req.from != 0 && req.until != 0 && req.from >= req.until)
		return wf_cli_usage("export", "--from is before --until");
	if ((req.from != 0 || req.until != 0) && strcmp(req.to, "counters") != 0)
		return wf_cli_usage("export", "--from and --until go with --to counters");
	return export(argv[optind], ops, &req, out);
}

static void each_format(wf_values_fn *fn, void *arg)
{
	for (size_t i = 0; wf_export_all()[i] != NULL; i++)
		fn(arg, wf_export_all()[i]->name, wf_export_all()[i]->help);
}

static const struct wf_values formats = { .each = each_format };
static const struct wf_values *const operands[] = { &wf_values_results, NULL };

#define TIME(what)                                                                                 \
	&(const struct wf_param)                                                                   \
	{                                                                                          \
		.name = (what), .kind = WF_PARAM_TIME, .size = sizeof(wf_time), .min = 1,          \
		.max = WF_TIME_FAR                                                                 \
	}

static const struct wf_opt_row options[] = {
	{
		.is =
			&(const struct wf_opt){
				.name = "to",
				.arg = "FORMAT",
				.help = "Which format:\n"
					":csv\tevery table as a file of comma-separated values "
					"(RFC 4180), "
					"in a folder, which is made if it is not there\n"
					":perfetto\tone run as a trace in Chrome's JSON format, "
					"for "
					"ui.perfetto.dev and chrome://tracing: ranks as processes "
					"and "
					"their streams as threads, collectives and flows, and each "
					"node as "
					"a process with its counters and events\n"
					":nccl-tests\tbus bandwidth by message size, in the "
					"columns of "
					"nccl-tests\n"
					":prometheus\tthe last value of every counter and the "
					"results of "
					"the runs, in Prometheus' text format, under the names of "
					"node_exporter where it has some\n"
					":counters\tone run as real switches and adapters would "
					"print it, "
					"in a folder for each: SONiC's show commands and "
					"COUNTERS_DB, "
					"ethtool -S, hw_counters, perfquery, ibdiagnet2.db_csv, "
					"Prometheus; "
					"`before` and `after`, for the two times of --from and "
					"--until\n",
				.values = &formats,
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct request, to),
		.required = true,
	},
	{
		.is = &wf_opt_run,
		.take = wf_opt_take_param,
		.at = offsetof(struct request, run),
		.param = &(const struct wf_param){ .name = "run",
	                                           .kind = WF_PARAM_U64,
	                                           .size = sizeof(uint64_t),
	                                           .min = 1,
	                                           .max = INT64_MAX - 1 },
		.more = "A trace is of one run; the others are of all if not given.",
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "from",
				.arg = "TIME",
				.help = "counters: the time of the first snapshot, `1ms`. The "
					"beginning if not given.",
			},
		.take = wf_opt_take_param,
		.at = offsetof(struct request, from),
		.param = TIME("from"),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "until",
				.arg = "TIME",
				.help = "counters: the time of the second. The end if not given.",
			},
		.take = wf_opt_take_param,
		.at = offsetof(struct request, until),
		.param = TIME("until"),
	},
	{ .is = &wf_opt_out,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct request, out),
	  .more = "Standard output if not given. With `--to csv` it is a folder, which must be "
	          "named. A file appears whole or not at all." },
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	{ "Exit status", "0 it worked; 1 it could not be written; 2 what was asked is wrong.\n" },
	{ "Examples", "  weft run examples/incast.yaml --record incast.db\n"
	              "  weft export incast.db --to csv --out incast\n"
	              "  weft export incast.db --to perfetto --run 2 --out trace.json\n" },
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_export = {
	.name = "export",
	.summary = "write a results file in the format of another tool",
	.operands = "FILE",
	.values = operands,
	.options = options,
	.text = "Reads what `weft run --record` wrote to FILE and writes it in another format. "
		"The file may still be growing; what is there is written.\n",
	.sections = sections,
	.see = "weft(1), weft-run(1), weft-results(5), sqlite3(1)",
	.run = run_export,
};
