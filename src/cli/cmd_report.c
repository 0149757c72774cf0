/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_report.c - weft report: a results file as a page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "text/file.h"
#include "results/page.h"

static const char help_text[] =
	"usage: weft report RESULTS [-o FILE] [--study N]\n"
	"\n"
	"Makes one HTML page of a results file (weft run --record, weft compare, weft sweep):\n"
	"the fabrics compared, latency distributions, bandwidth by message size, queues and\n"
	"pauses over time, what every rank did when, the topology as a heat map. The page\n"
	"stands alone: it needs no network. A run that is still going, or was killed, is shown\n"
	"as far as it came.\n"
	"\n"
	"  -o, --output FILE  where to write it (default: RESULTS with .html for its ending;\n"
	"                     - for standard output)\n"
	"      --study N      of a file that several commands recorded to: the N-th (default:\n"
	"                     the last)\n"
	"  -h, --help         this text\n";

enum { OPT_STUDY = 256 };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "study", required_argument, NULL, OPT_STUDY },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
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

static void warn(void *arg, const char *text)
{
	const struct wf_page_request *request = arg;

	fprintf(stderr, "weft report: %s: %s\n", request->file, text);
}

static int run_report(int argc, char **argv)
{
	static char named[WF_PATH_MAX];
	struct wf_page_request request = { 0 };
	struct wf_err err = { "" };
	const char *out = NULL;
	int c, rc;

	while ((c = wf_cli_option(argc, argv, ":o:h", options)) != -1) {
		if (c == 'o')
			out = optarg;
		else if (c == 'h')
			return wf_cli_help(&wf_cmd_report);
		else if (c != OPT_STUDY)
			return WF_EXIT_USAGE;
		else if ((request.study = study_number(optarg)) == 0)
			return wf_cli_usage("report", "--study: \"%s\" is not a number from 1 on",
			                    optarg);
	}
	if (optind + 1 != argc)
		return wf_cli_usage("report", "name one results file (weft run --record FILE)");
	request.file = argv[optind];
	if (out == NULL && !page_name(request.file, named))
		return wf_cli_usage("report", "the name of the file is too long");
	if (out == NULL)
		out = named;
	request.out = strcmp(out, "-") == 0 ? NULL : out;
	if (strcmp(out, request.file) == 0)
		return wf_cli_usage("report",
		                    "the page would replace the results; name it with -o");
	rc = wf_page_write(&request, &err);
	if (rc == 0)
		rc = wf_page_warnings(&request, warn, &request, &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	if (request.out != NULL)
		printf("%s\n", request.out);
	return wf_cli_finish();
}

const struct wf_cmd wf_cmd_report = {
	.name = "report",
	.summary = "make a page of recorded results",
	.help = help_text,
	.run = run_report,
};
