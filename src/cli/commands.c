/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.c - the list of commands, as commands.h has it, and finding one.
 */
#include "cli/cli.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "text/suggest.h"

#define ROW(name) &wf_cmd_##name,
static const struct wf_cmd *const all[] = { WF_CLI_COMMANDS(ROW) NULL };
#undef ROW

const struct wf_cmd *const *wf_cmd_all(void)
{
	return all;
}

const struct wf_cmd *wf_cmd_find(const char *name)
{
	for (size_t i = 0; all[i] != NULL; i++) {
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	}
	return NULL;
}

/* Whether builds for Linux have it. */
static bool needs_linux(const char *name)
{
#define NAME(command) #command,
	static const char *const live[] = { WF_CLI_LIVE_COMMANDS(NAME) };
#undef NAME

	for (size_t i = 0; i < WF_ARRAY_SIZE(live); i++) {
		if (strcmp(live[i], name) == 0)
			return true;
	}
	return false;
}

int wf_cmd_unknown(const char *in, const char *name)
{
	struct wf_suggest suggest;

	if (needs_linux(name)) {
		fprintf(stderr,
		        "weft%s%s: '%s' is about live fabrics, which need Linux, and this weft has "
		        "none\n",
		        in[0] != '\0' ? " " : "", in, name);
		return WF_EXIT_FAILED;
	}
	wf_suggest_init(&suggest, name);
	for (size_t i = 0; all[i] != NULL; i++)
		wf_suggest_offer(&suggest, all[i]->name);
	return wf_cli_usage(in, "there is no command '%s'%s", name,
	                    wf_suggest_text(&suggest, "there are"));
}
