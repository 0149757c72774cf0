/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_report.c - weft report: a results file as a page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "text/file.h"
#include "results/page.h"

/* What the command line asks for. */
struct request {
	struct wf_page_request page;
	const char *out;
};

/* results.db becomes results.html; what has no ending gets one. Returns whether it fits. */
static bool page_name(const char *results, char out[WF_PATH_MAX])
{
	const char *slash = strrchr(results, '/');
	const char *base = slash != NULL ? slash + 1 : results;
	const char *dot = strrchr(base, '.');
	int keep = (int)(dot != NULL && dot > base ? (size_t)(dot - results) : strlen(results));

	return snprintf(out, WF_PATH_MAX, "%.*s.html", keep, results) < WF_PATH_MAX;
}

/* A whole number from 1 on; 0 when text is none. */
static int64_t study_number(const char *text)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && v > 0 ? v : 0;
}

static int take_study(const struct wf_opt_call *call)
{
	struct request *req = call->request;

	req->page.study = study_number(call->arg);
	if (req->page.study == 0)
		return wf_cli_usage("report", "--study: \"%s\" is not a number from 1 on",
		                    call->arg);
	return 0;
}

static void warn(void *arg, const char *text)
{
	const struct wf_page_request *request = arg;

	fprintf(stderr, "weft report: %s: %s\n", request->file, text);
}

static int run_report(int argc, char **argv)
{
	static char named[WF_PATH_MAX];
	struct request req = { .out = NULL };
	struct wf_err err = { "" };
	int rc = wf_opt_parse(&wf_cmd_report, argc, argv, &req);

	if (rc >= 0)
		return rc;
	if (optind + 1 != argc)
		return wf_cli_usage("report", "name one results file (weft run --record FILE)");
	req.page.file = argv[optind];
	if (req.out == NULL && !page_name(req.page.file, named))
		return wf_cli_usage("report", "the name of the file is too long");
	if (req.out == NULL)
		req.out = named;
	req.page.out = wf_opt_out_path(req.out);
	if (req.page.out != NULL && wf_file_is_same(req.page.out, req.page.file))
		return wf_cli_usage("report",
		                    "the page would replace the results; name it with -o");
	rc = wf_page_write(&req.page, &err);
	if (rc == 0)
		rc = wf_page_warnings(&req.page, warn, &req.page, &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	if (req.page.out != NULL)
		printf("%s\n", req.page.out);
	return wf_cli_finish();
}

static const struct wf_values *const operands[] = { &wf_values_results, NULL };

static const struct wf_opt_row options[] = {
	{ .is = &wf_opt_out,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct request, out),
	  .more = "If not given, the name of RESULTS with `.html` for its ending. A page that "
	          "exists is replaced when the new one is complete.",
	  .old = "output" },
	{
		.is =
			&(const struct wf_opt){
				.name = "study",
				.arg = "N",
				.help = "Of a file to which several commands recorded, the N-th, "
					"rather "
					"than the last.",
			},
		.take = take_study,
	},
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	{ "Exit status",
	  "As for all commands; see weft(1). 2: there is no such file, weft did not write it, or "
	  "there is no run in it.\n" },
	{ "Examples", "  weft run examples/incast.yaml --record incast.db\n"
	              "  weft report incast.db\n" },
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_report = {
	.name = "report",
	.summary = "make a page of recorded results",
	.operands = "RESULTS",
	.values = operands,
	.options = options,
	.text = "Makes one HTML page of a results file, which `weft run --record`, `weft compare` "
		"or `weft sweep` wrote, and prints the page's name. The page stands alone: it can "
		"be mailed and opened without a network, in any browser of 2023 or later. It is "
		"light or dark as the system is, fits a phone, and prints.\n"
		"On the page are, as far as the results have them:\n"
		"- the verdict of a comparison, with its reasons;\n"
		"- how long it took on each fabric, as bars: of a training step split in what it "
		"was spent on, with the spread of the seeds;\n"
		"- of a sweep, any result by one or two of the parameters;\n"
		"- all results, a column for each fabric, the best and the worst of a row marked, "
		"as far as they differ by more than 3 % and the seeds do not overlap;\n"
		"- distributions of packet, flow and message latency, and their tails;\n"
		"- bandwidth by message size, in the columns of nccl-tests, and the collectives of "
		"a job;\n"
		"- what every rank did when: compute, communication, and communication that it "
		"waited for;\n"
		"- flows: slowdown by size, each as a dot and in a table, some with their rate and "
		"window over time;\n"
		"- the topology as a heat map of utilisation, pauses and queues, every link by "
		"itself, with a time slider, and the difference of two fabrics;\n"
		"- a strip of colour for each port over time, the worst first;\n"
		"- throughput, queue and paused time of any port, node or queue over time;\n"
		"- events, notes, the scenario, every parameter and what differs between the "
		"fabrics, and how it was made.\n"
		"What there is no data for is left out, and the page's end says so. Every chart "
		"has a table of its numbers below it, works with the keyboard, and can be saved as "
		"SVG, PNG and CSV.\n"
		"To keep the page small, ports have at most 240 points over time, each an interval "
		"of the run, shorter where samples are closer together, which is where something "
		"happens: of queues its largest sample, of everything else its average, to 1/65535 "
		"of the port's largest. Of more than 2,500 flows of a run every so manieth is "
		"there, and those that took longest for their size. A timeline has at most 64 "
		"ranks, and the list of events at most 400 of each kind and fabric, the longest. "
		"The results file has everything.\n"
		"The results file is only read, so a page can be made while a run is going. Of a "
		"run that is not over, or was killed, the page shows how far it came, and says "
		"that it is not whole. Standard error says when runs of the study are of several "
		"builds of weft, when a file that went into them was edited between them, and when "
		"one that is still where it was has been edited since.\n",
	.sections = sections,
	.see = "weft(1), weft-run(1), weft-compare(1), weft-sweep(1), weft-results(5)",
	.run = run_report,
};
