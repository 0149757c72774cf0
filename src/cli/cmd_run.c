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

/* What the command line asks for. */
struct request {
	struct wf_cli_study study;
	const char *hpcc, *paths;
	const char *pcap, *pcap_ports;
	bool ports, wire_check;
};

static int parse(int argc, char **argv, struct request *req)
{
	int status;

	req->study.threads = 1;
	status = wf_opt_parse(&wf_cmd_run, argc, argv, req);
	if (status >= 0 || req->hpcc != NULL)
		return status;
	if (req->paths != NULL)
		return wf_cli_usage("run", "--paths goes with --hpcc");
	status = wf_cli_study_operand(&req->study, "run", argc, argv, "examples/incast.yaml");
	if (status == 0 && req->pcap != NULL && strcmp(req->pcap, "-") == 0)
		return wf_cli_usage("run", "--pcap: a capture is a file, which appears when it is "
		                           "whole; name it");
	if (status == 0 && req->pcap_ports != NULL && req->pcap == NULL)
		return wf_cli_usage("run", "--pcap-port goes with --pcap FILE");
	return status == 0 ? -1 : status;
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
	int rc = wf_out_open(&out, wf_opt_out_path(req->study.out), err);

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
static int run_hpcc(const struct request *req, int argc, char **argv)
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

	if (wf_opt_out_path(req->study.out) == NULL)
		return wf_cli_usage("run", "--hpcc needs --out, the folder of fct.txt and pfc.txt");
	if (optind != argc)
		return wf_cli_usage("run", "--hpcc names what is run: '%.40s' is not expected",
		                    argv[optind]);
	if (req->study.fabrics != NULL || req->ports || req->study.json || req->wire_check ||
	    req->pcap != NULL || req->pcap_ports != NULL || req->study.profiles != NULL ||
	    req->study.record.path != NULL || req->study.record.sample_text != NULL ||
	    req->study.record.events_text != NULL || req->study.sets.n > (req->study.seed != NULL))
		return wf_cli_usage("run",
		                    "only --out, --paths, --seed, --threads and --quiet go with "
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

	if (status >= 0)
		return status;
	if (req.hpcc != NULL)
		return run_hpcc(&req, argc, argv);
	rc = simulate(&req, &err);
	if (rc == -EINTR)
		return wf_progress_status();
	return rc == 0 ? WF_EXIT_OK : wf_cli_fail(rc, &err);
}

static const char *const forms[] = {
	"run SCENARIO.yaml [OPTIONS]",
	"run --hpcc CONFIG [--paths FILE] [--seed N] [--quiet] --out PATH",
	NULL,
};

static const struct wf_opt_row options[] = {
	WF_CLI_STUDY_INPUT,
	WF_CLI_STUDY_ROW(threads, wf_opt_take_param, threads, .more = "1 if not given.",
	                 .param = &wf_opt_param_threads),
	{
		.is =
			&(const struct wf_opt){
				.name = "ports",
				.help = "Lists the ports with losses, pauses, credit waits or "
					"marks, named "
					"node:port, the worst first.",
			},
		.take = wf_opt_take_flag,
		.at = offsetof(struct request, ports),
	},
	WF_CLI_STUDY_ROW(record, wf_opt_take_text, record.path, .more = WF_CLI_RECORD_MORE),
	WF_CLI_STUDY_SAMPLES("If not given, as often as costs a small part of the run.",
	                     "`all` if not given."),
	WF_CLI_STUDY_OUTPUT(
		"Standard output if not given. A file appears whole or not at all. With --hpcc it "
		"is a folder, which must be named."),
	{
		.is =
			&(const struct wf_opt){
				.name = "pcap",
				.arg = "FILE",
				.help = "Writes what passed the ports of the hosts as a capture "
					"(pcapng) "
					"that Wireshark and tshark read, whole or not at all: one "
					"interface for each port, packets it sends at the time at "
					"which "
					"their first bit leaves, packets sent to it at the time at "
					"which "
					"their last bit arrives, link control too. Payload is "
					"zeros. A "
					"packet lost on its way to the port is there: it was on "
					"the wire. "
					"With several fabrics there is one file for each, with its "
					"label "
					"before the ending of the name. Flows of the windowed "
					"sender (`op: "
					"window`) look like RC SEND ONLY packets and their "
					"acknowledgements.",
				.values = &wf_values_any_file,
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct request, pcap),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "pcap-port",
				.arg = "NODE[:PORT],...",
				.help = "With --pcap: captures these ports instead, like "
					"`leaf0:3,h5`; a "
					"node alone is all its ports.",
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct request, pcap_ports),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "wire-check",
				.help = "Writes every packet that a host sends or receives as "
					"bytes, reads "
					"them back and compares. A difference ends the run with "
					"exit "
					"status 1 and both packets on standard error; else their "
					"number is "
					"printed there.",
			},
		.take = wf_opt_take_flag,
		.at = offsetof(struct request, wire_check),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "hpcc",
				.arg = "CONFIG",
				.help = "Runs a configuration file of the HPCC simulator (ns-3), "
					"with the "
					"topology and flow files that it names (looked for beside "
					"it, then "
					"one and two folders further up), in the model of that "
					"simulator. "
					"`fct.txt` and `pfc.txt` go to the folder of --out, in "
					"that "
					"simulator's format. --seed is that simulator's RngRun. "
					"Such a run "
					"has one queue of events and takes one thread, whatever "
					"--threads "
					"says. docs/validation.md says what differs from weft's "
					"own model.",
				.values = &wf_values_any_file,
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct request, hpcc),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "paths",
				.arg = "FILE",
				.help = "With --hpcc: the path of each flow and that of its "
					"acknowledgements, a line for each flow: source, "
					"destination, "
					"source port, destination port, and two lists of nodes "
					"with `-` "
					"between them. Without it flows are hashed onto the "
					"shortest paths.",
				.values = &wf_values_any_file,
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct request, paths),
	},
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	{ "Notes",
	  "Below the table, and as `notes` in JSON, a run says in words what its counters and its "
	  "configuration mean together: PFC that acts before ECN, pauses that spread to hosts that "
	  "have nothing to do with the congestion, drops for want of headroom, links with errors "
	  "or that were down, deadlocks, packets sent again, paths that collide, credits that "
	  "stall, congestion control that collapses. docs/scenario.md lists the rules.\n" },
	{ "Scenario", "  name: incast 32:1\n"
	              "  seed: 1\n"
	              "  topology: {kind: fat-tree, hosts: 128, host_rate: 400Gbps}\n"
	              "  fabric: [ib-ndr, {profile: roce-400g, ecn: {kmin: 100KB}}]\n"
	              "  traffic:\n"
	              "    - {kind: incast, fanin: 32, target: 0, size: 8MB}\n"
	              "  faults:\n"
	              "    - {link: [leaf0, pod0-agg1], down: 20us, up: 80us}\n"
	              "  run: {until: 100ms, reconverge: 1ms}\n"
	              "`weft list parameters` prints what can be set.\n" },
	{ "Exit status",
	  "0 when the run ended, also when flows are unfinished; 1 when it could not be done; 2 "
	  "when the scenario or the command line is wrong; 130 or 143 when it was interrupted: "
	  "then the report has the fabrics that had finished.\n" },
	{ "Examples",
	  "  weft run examples/incast.yaml\n"
	  "  weft run examples/permutation.yaml --fabric roce-400g,roce-400g-spray --seed 7\n"
	  "  weft run examples/incast.yaml --set fabric.buffer.headroom=1KB --ports\n" },
	{ NULL, NULL },
};

_Static_assert(offsetof(struct request, study) == 0, "the rows of study.h count from here");

const struct wf_cmd wf_cmd_run = {
	.name = "run",
	.summary = "simulate a scenario and print what happened",
	.operands = "SCENARIO.yaml",
	.values = wf_cli_study_values,
	.options = options,
	.forms = forms,
	.text = "Simulates the traffic or the job of a scenario on each of its fabrics and prints "
		"what happened, one column for each: flows done, completion time, goodput, packets "
		"sent, delivered and lost, pauses, credit waits, marks, latencies, queue lengths. "
		"SCENARIO is a YAML file, or `-` for standard input; docs/scenario.md says what is "
		"in one.\n"
		"The report depends on the scenario and its seed alone, and is the same on any "
		"number of threads. How long the simulation took goes to standard error, and so "
		"does a line of progress when standard error is a terminal.\n",
	.sections = sections,
	.see = "weft(1), weft-compare(1), weft-sweep(1), weft-report(1), weft-scenario(5), "
	       "weft-results(5)",
	.run = run_run,
};
