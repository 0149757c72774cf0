/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_run.c - weft run: simulates a scenario on its fabrics and prints them side by side.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/capture.h"
#include "cli/cli.h"
#include "cli/cmd_run_hpcc.h"
#include "cli/progress.h"
#include "cli/study.h"
#include "text/file.h"
#include "text/human.h"
#include "scenario/paths.h"
#include "run/report.h"
#include "run/run.h"
#include "scenario/scenario.h"

static const char help_text[] =
	"usage: weft run SCENARIO.yaml [OPTIONS]\n"
	"       weft run --hpcc CONFIG [--paths FILE] [--seed N] [--threads N] --out DIR\n"
	"\n"
	"Simulates the traffic of a scenario on each of its fabrics and prints what happened, one\n"
	"column for each. SCENARIO - is standard input; docs/scenario.md says what is in one.\n"
	"\n"
	"  -f, --fabric NAME[,NAME...]  run these profiles instead of the scenario's fabrics\n"
	"  -s, --set PARAMETER=VALUE    change a parameter: fabric.ecn.kmin=50KB (all fabrics),\n"
	"                               topology.hosts=64, traffic.size=1MB (all entries),\n"
	"                               traffic.0.size=1MB (the first), run.until=1ms\n"
	"      --seed N                 the same as --set seed=N\n"
	"  -t, --threads N              threads to run on, 1 to 64 (1); the results do not depend "
	"on it\n"
	"      --ports                  list the ports with losses, pauses, waits or marks\n"
	"  -j, --json                   print JSON instead of a table\n"
	"  -o, --out FILE               write to FILE, whole or not at all\n"
	"      --pcap FILE              write what passed the ports of the hosts as a capture for\n"
	"                               Wireshark; with several fabrics, one file for each\n"
	"      --pcap-port NODE[:PORT],...  capture these ports instead: "
	"leaf0:3,h5\n" WF_CLI_RECORD_HELP
	"      --wire-check             write every packet that a host sends or receives as "
	"bytes,\n"
	"                               read them back and compare\n"
	"      --profiles DIR           look for profiles in DIR first\n"
	"  -q, --quiet                  no progress, and no line about the time it took\n"
	"      --hpcc CONFIG            run this configuration of the HPCC simulator (ns-3) in "
	"its\n"
	"                               model; fct.txt and pfc.txt go to the folder of --out\n"
	"      --paths FILE             with --hpcc: the path of each flow and of its ACKs\n"
	"  -h, --help                   this text\n"
	"\n"
	"The report goes to standard output, and depends on the scenario and its seed alone. How\n"
	"long it took goes to standard error.\n"
	"\n"
	"  weft run examples/incast.yaml\n"
	"  weft run examples/permutation.yaml --fabric roce-400g,roce-400g-spray --seed 7\n"
	"  weft run examples/incast.yaml --set fabric.buffer.headroom=1KB --ports\n";

enum { OPT_HPCC = 256, OPT_PATHS, OPT_PORTS, OPT_PCAP, OPT_PCAP_PORT, OPT_WIRE_CHECK };

static const struct option options[] = {
	WF_CLI_STUDY_OPTIONS,
	{ "ports", no_argument, NULL, OPT_PORTS },
	{ "pcap", required_argument, NULL, OPT_PCAP },
	{ "pcap-port", required_argument, NULL, OPT_PCAP_PORT },
	{ "wire-check", no_argument, NULL, OPT_WIRE_CHECK },
	{ "hpcc", required_argument, NULL, OPT_HPCC },
	{ "paths", required_argument, NULL, OPT_PATHS },
	{ NULL, 0, NULL, 0 },
};

/* What the command line asks for. */
struct request {
	struct wf_cli_study study;
	const char *hpcc, *paths;
	const char *pcap, *pcap_ports;
	bool ports, wire_check;
};

static int take_option(struct request *req, int c)
{
	switch (c) {
	case OPT_HPCC:
		req->hpcc = optarg;
		return 0;
	case OPT_PATHS:
		req->paths = optarg;
		return 0;
	case OPT_PORTS:
		req->ports = true;
		return 0;
	case OPT_PCAP:
		req->pcap = optarg;
		return 0;
	case OPT_PCAP_PORT:
		req->pcap_ports = optarg;
		return 0;
	case OPT_WIRE_CHECK:
		req->wire_check = true;
		return 0;
	default:
		return wf_cli_study_option(&req->study, c);
	}
}

static int parse(int argc, char **argv, struct request *req)
{
	int c, status = 0;

	req->study.cmd = "run";
	req->study.threads = 1;
	while (status == 0 &&
	       (c = wf_cli_option(argc, argv, ":" WF_CLI_STUDY_SHORT, options)) != -1)
		status = take_option(req, c);
	if (status != 0 || req->study.help || req->hpcc != NULL)
		return status;
	status = wf_cli_study_operand(&req->study, argc, argv, "examples/incast.yaml");
	if (status == 0 && req->pcap_ports != NULL && req->pcap == NULL)
		return wf_cli_usage("run", "--pcap-port goes with --pcap FILE");
	return status;
}

static void say_speed(const struct wf_run *run, unsigned threads)
{
	char hops[WF_HUMAN], memory[WF_HUMAN];
	double n = run->result.hops > 0 ? (double)run->result.hops : 1;

	wf_human_count(run->result.hops, hops, sizeof(hops));
	wf_human_bytes(run->result.memory, memory, sizeof(memory));
	fprintf(stderr,
	        "%s: %s packet-hops in %.2f s: %.2f million/s, %.0f ns of CPU each, %s, %u "
	        "thread%s\n",
	        run->fabric->label, hops, (double)run->wall_ns / 1e9,
	        n * 1e3 / (double)(run->wall_ns > 0 ? run->wall_ns : 1), (double)run->cpu_ns / n,
	        memory, threads, threads == 1 ? "" : "s");
}

/* What becomes of each fabric: its run, and its capture where one was asked for. */
struct work {
	struct wf_run runs[WF_SCENARIO_MAX_FABRICS];
	size_t n_made, n_runs; /* those that were begun, and those that came to their end */
	struct wf_cli_capture captures[WF_SCENARIO_MAX_FABRICS];
};

static int open_captures(const struct request *req, const struct wf_scenario *scenario,
                         struct work *work, struct wf_err *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && req->pcap != NULL && i < scenario->n_fabrics; i++)
		rc = wf_cli_capture_open(&work->captures[i], scenario, i, req->pcap,
		                         req->pcap_ports, err);
	return rc;
}

/*
 * Runs every fabric; work->runs[0..n_made) are the caller's to free, whatever is returned. -EINTR:
 * there was an interrupt.
 */
static int run_all(const struct request *req, const struct wf_scenario *scenario, struct work *work,
                   struct wf_err *err)
{
	struct wf_progress progress;

	wf_progress_init(&progress, scenario->n_fabrics, req->study.quiet);
	for (unsigned i = 0; i < scenario->n_fabrics; i++) {
		const struct wf_run_opts opts = {
			.threads = req->study.threads,
			.progress = wf_progress_step,
			.arg = &progress,
			.pcap = work->captures[i].pcap,
			.record = req->study.record.opts,
			.wire_check = req->wire_check,
		};
		int rc;

		wf_progress_begin(&progress, scenario->fabrics[i].label, scenario->cfg.until);
		rc = wf_run_fabric(scenario, i, &opts, &work->runs[i], err);
		wf_progress_end(&progress, work->runs[i].result.hops);
		if (rc != 0)
			return rc;
		work->n_made = i + 1;
		if (work->runs[i].stopped)
			return -EINTR;
		rc = wf_cli_capture_write(&work->captures[i], err);
		if (rc != 0)
			return rc;
		work->n_runs = i + 1;
		if (wf_progress_interrupted())
			return -EINTR;
	}
	return 0;
}

/* The captures, then the report. */
static int commit_all(const struct request *req, struct work *work, struct wf_report *report,
                      struct wf_out *out, struct wf_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < work->n_runs; i++)
		rc = wf_cli_capture_commit(&work->captures[i], err);
	if (rc != 0)
		return rc;
	report->n = work->n_runs;
	if (req->study.json)
		wf_report_json(report, out->file);
	else
		wf_report_table(report, out->file);
	return wf_out_commit(out, err);
}

/* What is said of the runs beside the report. */
static void say_more(const struct request *req, const struct work *work)
{
	for (size_t i = 0; req->wire_check && i < work->n_runs; i++)
		fprintf(stderr,
		        "%s: wire check: %" PRIu64 " packets, all the same as their bytes\n",
		        work->runs[i].fabric->label, work->runs[i].wire_checked);
	for (size_t i = 0; !req->study.quiet && i < work->n_runs; i++)
		say_speed(&work->runs[i], req->study.threads);
}

/* How far an interrupted run came. */
static void say_interrupted(const struct request *req, const struct work *work, unsigned fabrics)
{
	const char *path = req->study.record.path;

	fprintf(stderr, "weft run: interrupted; ");
	if (work->n_runs > 0)
		fprintf(stderr, "the report has %zu of %u fabrics", work->n_runs, fabrics);
	else if (path == NULL)
		fprintf(stderr, "nothing is written");
	if (path != NULL)
		fprintf(stderr, "%swhat was recorded is in %s", work->n_runs > 0 ? "; " : "", path);
	fputc('\n', stderr);
}

/* From a scenario that is built to the report, which appears whole or not at all. */
static int run_and_report(struct request *req, const struct wf_scenario *scenario,
                          struct work *work, struct wf_err *err)
{
	struct wf_report report = { .scenario = scenario, .runs = work->runs, .ports = req->ports };
	struct wf_err unheard = { "" };
	struct wf_out out;
	int recorded;
	/* Opened before the run: a place that cannot be written is best known early. */
	int rc = wf_out_open(&out, req->study.out, err);

	if (rc != 0)
		return rc;
	rc = open_captures(req, scenario, work, err);
	if (rc == 0)
		rc = wf_cli_record_open(&req->study.record, "run", scenario->cfg.name, err);
	if (rc == 0)
		rc = run_all(req, scenario, work, err);
	/* Fabrics that have finished are not lost with the one that has not. */
	if (rc == 0 || (rc == -EINTR && work->n_runs > 0)) {
		int committed = commit_all(req, work, &report, &out, err);

		if (committed == 0)
			say_more(req, work);
		rc = committed != 0 ? committed : rc;
	}
	if (rc == -EINTR)
		say_interrupted(req, work, scenario->n_fabrics);
	for (size_t i = 0; i < work->n_made; i++)
		wf_run_fini(&work->runs[i]);
	for (unsigned i = 0; i < scenario->n_fabrics; i++)
		wf_cli_capture_abort(&work->captures[i]);
	wf_out_abort(&out);
	recorded = wf_cli_record_close(&req->study.record, rc == 0 ? err : &unheard);
	return rc == 0 ? recorded : rc;
}

static int simulate(struct request *req, struct wf_err *err)
{
	static struct wf_paths paths;
	struct wf_scenario_opts opts = {
		.paths = &paths,
		.fabrics = req->study.fabrics,
		.overrides = req->study.sets.set,
		.n_overrides = req->study.sets.n,
	};
	struct wf_scenario scenario;
	struct work *work;
	int rc = wf_paths_init(&paths, req->study.profiles, err);

	if (rc != 0)
		return rc;
	rc = wf_scenario_read(&scenario, req->study.scenario, &opts, err);
	if (rc == 0)
		rc = wf_scenario_build(&scenario, err);
	if (rc == 0) {
		work = calloc(1, sizeof(*work));
		rc = work == NULL ? -ENOMEM : run_and_report(req, &scenario, work, err);
		free(work);
	}
	wf_scenario_fini(&scenario);
	return rc;
}

/* weft run --hpcc: what else was said must go with it. */
static int run_hpcc(const struct request *req)
{
	static const struct wf_param seed = {
		.name = "seed",
		.kind = WF_PARAM_U64,
		.size = sizeof(uint64_t),
		.max = INT64_MAX - 1,
	};
	struct wf_cmd_run_hpcc cmd = {
		.config = req->hpcc,
		.paths = req->paths,
		.out = req->study.out,
		.seed = 1,
		.quiet = req->study.quiet,
	};
	struct wf_err why = { "" };

	if (req->study.out == NULL)
		return wf_cli_usage("run", "--hpcc needs --out, the folder of fct.txt and pfc.txt");
	if (req->study.fabrics != NULL || req->ports || req->study.json ||
	    req->study.record.path != NULL || req->study.sets.n > (req->study.seed != NULL))
		return wf_cli_usage("run",
		                    "--fabric, --set, --ports, --json and --record do not go with "
		                    "--hpcc");
	if (req->study.seed != NULL && wf_param_set(&seed, &cmd.seed, req->study.seed, &why) != 0)
		return wf_cli_usage("run", "--seed: %s", why.text);
	return wf_cmd_run_hpcc(&cmd);
}

static int run_run(int argc, char **argv)
{
	static struct request req;
	struct wf_err err = { "" };
	int status = parse(argc, argv, &req);
	int rc;

	if (status != 0)
		return status;
	if (req.study.help)
		return wf_cli_help(&wf_cmd_run);
	if (req.hpcc != NULL)
		return run_hpcc(&req);
	if (req.paths != NULL)
		return wf_cli_usage("run", "--paths goes with --hpcc");
	rc = simulate(&req, &err);
	if (rc == -EINTR)
		return WF_EXIT_INTERRUPTED;
	return rc == 0 ? WF_EXIT_OK : wf_cli_fail(rc, &err);
}

const struct wf_cmd wf_cmd_run = {
	.name = "run",
	.summary = "simulate a scenario and print what happened",
	.help = help_text,
	.run = run_run,
};
