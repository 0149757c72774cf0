/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the program weft: finds the subcommand and runs it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "results/build_id.h"
#include "text/suggest.h"

#ifndef WEFT_VERSION
#define WEFT_VERSION "0"
#endif

/* A line each. */
/* clang-format off */
static const struct wf_cmd *const all[] = {
	&wf_cmd_run,    &wf_cmd_compare, &wf_cmd_sweep, &wf_cmd_report, &wf_cmd_export,
	&wf_cmd_perf,   &wf_cmd_list,    &wf_cmd_show,  &wf_cmd_up,     &wf_cmd_exec,
	&wf_cmd_status, &wf_cmd_capture, &wf_cmd_fault, &wf_cmd_down,   &wf_cmd_help,
	NULL,
};
/* clang-format on */

const struct wf_cmd *const *wf_cmd_all(void)
{
	return all;
}

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
		                "(--threads)\n");
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

int wf_cli_help(const struct wf_cmd *cmd)
{
	fputs(cmd->help, stdout);
	return wf_cli_finish();
}

static void unknown_option(const char *name, const char *wrong, const struct option *options)
{
	struct wf_suggest suggest;
	char word[64];

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(wrong, "="), wrong);
	wf_suggest_init(&suggest, word + 2);
	for (; options->name != NULL; options++)
		wf_suggest_offer(&suggest, options->name);
	wf_cli_usage(name, "there is no option %s%s", word,
	             wf_suggest_text(&suggest, "there are (each with --)"));
}

int wf_cli_option(int argc, char **argv, const char *short_options, const struct option *options)
{
	int at = optind == 0 ? 1 : optind;
	int c;

	opterr = 0;
	c = getopt_long(argc, argv, short_options, options, NULL);
	if (c != '?' && c != ':')
		return c;
	/* Permutation may have moved it: the word before optind is the one that was looked at. */
	if (optind > 1 && optind - 1 >= at)
		at = optind - 1;
	if (c == ':')
		wf_cli_usage(argv[0], "%s needs a value", argv[at]);
	else if (strncmp(argv[at], "--", 2) != 0)
		wf_cli_usage(argv[0], "there is no option -%c", optopt);
	else if (optopt != 0)
		wf_cli_usage(argv[0], "%.*s takes no value", (int)strcspn(argv[at], "="), argv[at]);
	else
		unknown_option(argv[0], argv[at], options);
	return '?';
}

static int unknown_command(const char *name)
{
	struct wf_suggest suggest;

	wf_suggest_init(&suggest, name);
	for (size_t i = 0; all[i] != NULL; i++)
		wf_suggest_offer(&suggest, all[i]->name);
	return wf_cli_usage("", "there is no command '%s'%s", name,
	                    wf_suggest_text(&suggest, "there are"));
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

	take_standard_files();
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
	for (size_t i = 0; all[i] != NULL; i++) {
		if (strcmp(all[i]->name, argv[1]) == 0)
			return all[i]->run(argc - 1, argv + 1);
	}
	return unknown_command(argv[1]);
}
