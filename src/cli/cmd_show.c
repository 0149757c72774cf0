/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_show.c - weft show: every parameter of a profile, and where it was set. What it prints is
 * itself a profile.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "cli/topics.h"
#include "scenario/fabric_table.h"
#include "text/json.h"
#include "scenario/paths.h"
#include "scenario/profile.h"
#include "scenario/settings.h"

/* What the command line asks for. */
struct request {
	const char *profiles;
	bool json;
};

static void print_yaml(const struct wf_settings *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct wf_param *row = &s->table[i];
		bool quoted = row->kind == WF_PARAM_TEXT;
		char value[256], line[320];

		wf_param_format(row, s->config, value, sizeof(value));
		snprintf(line, sizeof(line), "%s: %s%s%s", row->name, quoted ? "\"" : "", value,
		         quoted ? "\"" : "");
		if (s->place[i].file == NULL)
			printf("%-40s # default\n", line);
		else
			printf("%-40s # %s:%u\n", line, s->place[i].file, s->place[i].line);
	}
}

static void print_json(const struct wf_settings *s, const char *profile)
{
	struct wf_json json;

	wf_json_init(&json, stdout);
	wf_json_open(&json, NULL, '{');
	wf_json_text(&json, "profile", profile);
	wf_json_open(&json, "parameters", '{');
	for (size_t i = 0; i < s->n; i++) {
		char value[256];

		wf_param_format(&s->table[i], s->config, value, sizeof(value));
		wf_json_text(&json, s->table[i].name, value);
	}
	wf_json_close(&json, '{');
	wf_json_close(&json, '{');
}

static int show(const struct wf_paths *paths, const char *profile, bool as_json)
{
	const struct wf_place place = { .file = "weft show" };
	static struct wf_fabric_values values;
	const struct wf_param *rows;
	struct wf_settings settings;
	struct wf_err err = { "" };
	struct wf_arena arena;
	size_t n;
	int rc;

	wf_arena_init(&arena);
	rc = wf_fabric_table(&arena, &rows, &n);
	if (rc == 0)
		rc = wf_settings_init(&settings, "fabric", rows, n, &values, &arena, &err);
	if (rc == 0)
		rc = wf_profile_apply(paths, WF_PROFILE_FABRIC, profile, "", &place, &arena,
		                      &settings, &err);
	if (rc == 0 && as_json)
		print_json(&settings, profile);
	else if (rc == 0)
		print_yaml(&settings);
	wf_arena_fini(&arena);
	return rc == 0 ? wf_cli_finish() : wf_cli_fail(rc, &err);
}

static int run_show(int argc, char **argv)
{
	static struct wf_paths paths;
	struct request req = { .json = false };
	struct wf_err err = { "" };
	int rc = wf_opt_parse(&wf_cmd_show, argc, argv, &req);

	if (rc >= 0)
		return rc;
	if (optind + 1 != argc)
		return wf_cli_usage("show", "name one profile (weft list profiles)");
	rc = wf_paths_init(&paths, req.profiles, &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	return show(&paths, argv[optind], req.json);
}

static void each_profile(wf_values_fn *fn, void *arg)
{
	wf_topic_each("profiles", fn, arg);
}

static const struct wf_values profile = { .each = each_profile };
static const struct wf_values *const operands[] = { &profile, NULL };

static const struct wf_opt_row options[] = {
	{ .is = &wf_opt_json, .take = wf_opt_take_flag, .at = offsetof(struct request, json) },
	{ .is = &wf_opt_profiles,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct request, profiles) },
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	{ "Examples", "  weft show roce-400g\n"
	              "  weft show ib-ndr --json\n" },
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_show = {
	.name = "show",
	.summary = "print all parameters of a profile",
	.operands = "PROFILE",
	.values = operands,
	.options = options,
	.text = "Prints every parameter of a profile, with the file and line that set it. The "
		"output can be used as a profile itself. `weft list profiles` names the profiles; "
		"PROFILE may also be a file, if there is a slash in it or it ends in `.yaml`.\n",
	.sections = sections,
	.see = "weft(1), weft-list(1), weft-scenario(5)",
	.run = run_show,
};
