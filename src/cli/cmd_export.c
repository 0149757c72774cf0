/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_export.c - weft export: a results file in the format of another tool.
 */
#include <string.h>

#include "base/param.h"
#include "cli/cli.h"
#include "results/export.h"

static const char help_text[] =
	"usage: weft export FILE --to FORMAT [OPTIONS]\n"
	"\n"
	"Writes what weft run --record wrote to FILE in the format of another tool.\n"
	"\n"
	"      --to csv         every table as a file of comma-separated values, in a folder\n"
	"      --to perfetto    one run as a trace for ui.perfetto.dev and chrome://tracing:\n"
	"                       ranks and their streams, collectives, flows, pauses, counters\n"
	"      --to nccl-tests  bus bandwidth by message size, as nccl-tests prints it\n"
	"      --to prometheus  the last value of every counter, and the results, in Prometheus'\n"
	"                       text format, under node_exporter's names where it has some\n"
	"      --run N          only this run; weft export FILE --to csv lists them in run.csv\n"
	"  -o, --out PATH       write to this file, or for csv into this folder\n"
	"  -h, --help           this text\n"
	"\n"
	"  weft run examples/incast.yaml --record incast.db\n"
	"  weft export incast.db --to csv --out incast\n"
	"  weft export incast.db --to perfetto --run 2 --out trace.json\n";

enum { OPT_TO = 256, OPT_RUN };

static const struct option options[] = {
	{ "to", required_argument, NULL, OPT_TO },
	{ "run", required_argument, NULL, OPT_RUN },
	{ "out", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int parse_run(const char *text, uint64_t *run)
{
	static const struct wf_param row = {
		.name = "run",
		.kind = WF_PARAM_U64,
		.size = sizeof(uint64_t),
		.min = 1,
		.max = INT64_MAX - 1,
	};
	struct wf_err why = { "" };

	if (wf_param_set(&row, run, text, &why) != 0)
		return wf_cli_usage("export", "--run: %s", why.text);
	return 0;
}

static int export(const char *file, const struct wf_export_ops *ops, uint64_t run, const char *out)
{
	struct wf_export *ex = NULL;
	struct wf_err err = { "" };
	int rc = wf_export_open(file, (int64_t)run, &ex, &err);

	if (rc == 0)
		rc = wf_export_write(ex, ops, out, &err);
	wf_export_close(ex);
	return rc == 0 ? WF_EXIT_OK : wf_cli_fail(rc, &err);
}

static int run_export(int argc, char **argv)
{
	const struct wf_export_ops *ops = NULL;
	const char *to = NULL, *out = NULL;
	uint64_t run = 0;
	int c, status;

	while ((c = wf_cli_option(argc, argv, ":o:h", options)) != -1) {
		if (c == OPT_TO) {
			to = optarg;
		} else if (c == OPT_RUN) {
			status = parse_run(optarg, &run);
			if (status != 0)
				return status;
		} else if (c == 'o') {
			out = optarg;
		} else if (c == 'h') {
			return wf_cli_help(&wf_cmd_export);
		} else {
			return WF_EXIT_USAGE;
		}
	}
	if (optind + 1 != argc)
		return wf_cli_usage("export",
		                    "name one results file, as weft run --record wrote it");
	if (to != NULL)
		ops = wf_export_find(to);
	if (ops == NULL)
		return wf_cli_usage("export",
		                    "%s%s; --to is csv, perfetto, nccl-tests or prometheus",
		                    to == NULL ? "to which format" : "there is no format ",
		                    to == NULL ? "?" : to);
	return export(argv[optind], ops, run, out);
}

const struct wf_cmd wf_cmd_export = {
	.name = "export",
	.summary = "write a results file in the format of another tool",
	.help = help_text,
	.run = run_export,
};
