/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sets.c - reads --set and what is short for it.
 */
#include "cli/sets.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

int wf_cli_sets_add(struct wf_cli_sets *sets, const char *cmd, const char *option, const char *arg,
                    const char *name, const char *value)
{
	char *where = sets->text[sets->n].where, *copy = sets->text[sets->n].name;

	if (sets->n == WF_CLI_MAX_SETS)
		return wf_cli_usage(cmd, "%s is one change too many: at most %d are allowed",
		                    option, WF_CLI_MAX_SETS);
	if (strlen(option) + strlen(arg) + 2 > sizeof(sets->text->where))
		return wf_cli_usage(cmd, "%s: the value is too long", option);
	snprintf(where, sizeof(sets->text->where), "%s %s", option, arg);
	snprintf(copy, sizeof(sets->text->name), "%s", name);
	sets->set[sets->n++] = (struct wf_override){ .where = where, .name = copy, .value = value };
	return 0;
}

int wf_cli_sets_parse(struct wf_cli_sets *sets, const char *cmd, const char *arg)
{
	const char *eq = strchr(arg, '=');
	char name[WF_CLI_SET_NAME];

	if (eq == NULL || eq == arg || (size_t)(eq - arg) >= sizeof(name))
		return wf_cli_usage(cmd, "--set %s: write PARAMETER=VALUE", arg);
	snprintf(name, sizeof(name), "%.*s", (int)(eq - arg), arg);
	return wf_cli_sets_add(sets, cmd, "--set", arg, name, eq + 1);
}

int wf_cli_take_set(const struct wf_opt_call *call)
{
	return wf_cli_sets_parse(call->field, call->cmd, call->arg);
}
