/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_help.c - weft help: what there is, or all about one subcommand.
 */
#include <string.h>

#include "cli/cli.h"

static const char help_text[] = //
	"usage: weft help [COMMAND]\n"
	"\n"
	"Says what commands there are, or all about one of them.\n";

static int overview(void)
{
	printf("usage: weft COMMAND [ARGUMENTS]\n"
	       "\n"
	       "An RDMA fabric in software: InfiniBand and RoCE, packet by packet, in virtual "
	       "time.\n"
	       "\n");
	for (size_t i = 0; wf_cmd_all()[i] != NULL; i++)
		printf("  weft %-8s %s\n", wf_cmd_all()[i]->name, wf_cmd_all()[i]->summary);
	printf("\n"
	       "  weft COMMAND --help  all about a command\n"
	       "  weft --version       the version\n"
	       "\n"
	       "A first run: weft run examples/incast.yaml\n"
	       "Exit status: 0 it worked, 1 it could not be done, 2 what was asked is wrong.\n");
	return wf_cli_finish();
}

static int run_help(int argc, char **argv)
{
	if (argc == 1)
		return overview();
	if (argc > 2)
		return wf_cli_usage("help", "one command at a time");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return wf_cli_help(&wf_cmd_help);
	for (size_t i = 0; wf_cmd_all()[i] != NULL; i++) {
		if (strcmp(wf_cmd_all()[i]->name, argv[1]) == 0)
			return wf_cli_help(wf_cmd_all()[i]);
	}
	if (wf_cmd_is_left_out(argv[1])) {
		fprintf(stderr,
		        "weft help: '%s' is about live fabrics, which need Linux, and this weft "
		        "has none\n",
		        argv[1]);
		return WF_EXIT_FAILED;
	}
	return wf_cli_usage("help", "there is no command '%s'", argv[1]);
}

const struct wf_cmd wf_cmd_help = {
	.name = "help",
	.summary = "what a command does",
	.help = help_text,
	.run = run_help,
};
