/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.c - the list of commands, as commands.h has it, and finding one.
 */
#include "cli/cli.h"

#include <string.h>

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

int wf_cmd_unknown(const char *in, const char *name)
{
	struct wf_suggest suggest;

	wf_suggest_init(&suggest, name);
	for (size_t i = 0; all[i] != NULL; i++)
		wf_suggest_offer(&suggest, all[i]->name);
	return wf_cli_usage(in, "there is no command '%s'%s", name,
	                    wf_suggest_text(&suggest, "there are"));
}
