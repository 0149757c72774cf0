/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_down.c - weft down: a live fabric ends. */
#include <errno.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live/live.h"
#include "cli/live/options.h"
#include "live/claim.h"

static int run_down(int argc, char **argv)
{
	struct wf_live_req req = { .op = WF_LIVE_STOP };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	static char path[WF_PATH_MAX];
	const char *name = NULL;
	struct wf_err err = { "" };
	int rc = wf_opt_parse(&wf_cmd_down, argc, argv, &name);

	if (rc >= 0)
		return rc;
	if (optind != argc)
		return wf_cli_usage("down", "'%.40s' is not expected", argv[optind]);
	rc = wf_live_path(name, false, path, &err);
	if (rc == 0)
		rc = wf_live_ask(path, &req, &reply, fds, &err);
	if (rc == -ECONNREFUSED && wf_claim_clean(path) == 0) {
		fprintf(stderr,
		        "weft down: the daemon of the fabric at %s was gone: it was killed, or "
		        "crashed; what it left is removed\n",
		        path);
		return WF_EXIT_OK;
	}
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	/* The next weft up finds the place free. */
	for (int i = 0; i < 1000 && wf_claim_is_made(path); i++)
		usleep(1000);
	return WF_EXIT_OK;
}

/* What is kept of the command line is the name. */
static const struct wf_opt_row options[] = {
	{ .is = &wf_opt_name, .take = wf_opt_take_text },
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	WF_LIVE_ENVIRONMENT,
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_down = {
	.name = "down",
	.summary = "end a live fabric",
	.options = options,
	.text = "Ends a live fabric: programs on it see their port go down. What a daemon left "
		"that was killed, or crashed, is removed.\n",
	.sections = sections,
	.see = "weft(1), weft-up(1), weft-status(1)",
	.run = run_down,
};
