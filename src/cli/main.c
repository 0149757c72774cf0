/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the program weft: finds the command and runs it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

#ifndef WEFT_VERSION
#define WEFT_VERSION "0"
#endif

int wf_cli_usage(const char *name, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "weft%s%s: ", name[0] != '\0' ? " " : "", name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "; weft %s%s--help says more\n", name, name[0] != '\0' ? " " : "");
	return WF_EXIT_USAGE;
}

int wf_cli_fail(int rc, const struct wf_err *err)
{
	if (err->text[0] != '\0')
		fprintf(stderr, "%s\n", err->text);
	else if (rc == -ENOMEM)
		fprintf(stderr, "weft: there is not enough memory\n");
	else if (rc == -EAGAIN)
		fprintf(stderr, "weft: the system does not let it start so many threads; use fewer "
		                "(--threads, --jobs)\n");
	else
		fprintf(stderr, "weft: %s\n", strerror(-rc));
	return rc == -EINVAL ? WF_EXIT_USAGE : WF_EXIT_FAILED;
}

int wf_cli_finish(void)
{
	errno = 0;
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return WF_EXIT_OK;
	fprintf(stderr, "standard output: cannot write it: %s\n",
	        strerror(errno != 0 ? errno : EIO));
	return WF_EXIT_FAILED;
}

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

int main(int argc, char **argv)
{
	static char help[] = "help";
	char *just_help[] = { help, NULL };
	const struct wf_cmd *cmd;

	take_standard_files();
	if (argc < 2) {
		wf_cmd_help.run(1, just_help);
		return WF_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("weft %s\n", WEFT_VERSION);
		return wf_cli_finish();
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return wf_cmd_help.run(1, just_help);
	cmd = wf_cmd_find(argv[1]);
	return cmd != NULL ? cmd->run(argc - 1, argv + 1) : wf_cmd_unknown("", argv[1]);
}
