/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the program weft: finds the command and runs it.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "results/build_id.h"

#ifndef WEFT_VERSION
#define WEFT_VERSION "0"
#endif

/*
 * Standard input, output and error may be closed. What is opened next would be in their place, and
 * words meant for people would go there: nothing is, in reading and in writing.
 */
static void take_standard_files(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static void take_signal(int number)
{
	(void)number;
}

/*
 * A file that would become larger than it may (ulimit -f) is an error of whoever writes it, as a
 * full disk is. Programs that are begun from here do not inherit a handler.
 */
static void take_limits(void)
{
	const struct sigaction action = { .sa_handler = take_signal, .sa_flags = SA_RESTART };

	(void)sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv)
{
	static char help[] = "help";
	char *just_help[] = { help, NULL };
	const struct wf_cmd *cmd;

	take_standard_files();
	take_limits();
	if (argc < 2) {
		wf_cmd_help.run(1, just_help);
		return WF_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("weft %s (build %.*s)\n", WEFT_VERSION, WF_BUILD_ID_SHORT, wf_build_id());
		return wf_cli_finish();
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return wf_cmd_help.run(1, just_help);
	cmd = wf_cmd_find(argv[1]);
	return cmd != NULL ? cmd->run(argc - 1, argv + 1) : wf_cmd_unknown("", argv[1]);
}
