/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.c - how commands say what is wrong, and end.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

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
	/* What went wrong earlier is asked for again, when nothing was left to write just now. */
	if (errno == 0 && putchar('\n') != EOF)
		(void)fflush(stdout);
	fprintf(stderr, "standard output: cannot write it: %s\n",
	        strerror(errno != 0 ? errno : EIO));
	return WF_EXIT_FAILED;
}
