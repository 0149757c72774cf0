/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_show.c - weft show: every parameter of a profile, and where it was set. What it prints is
 * itself a profile.
 */
#include <string.h>

#include "cli/cli.h"
#include "scenario/fabric_table.h"
#include "text/json.h"
#include "scenario/paths.h"
#include "scenario/profile.h"
#include "scenario/settings.h"

static const char help_text[] = "usage: weft show PROFILE [OPTIONS]\n"
				"\n"
				"Prints every parameter of a profile, with the file and line that "
				"set it. The output can be\n"
				"used as a profile itself.\n"
				"\n"
				"  -j, --json          print JSON instead\n"
				"      --profiles DIR  look for profiles in DIR first\n"
				"  -h, --help          this text\n";

enum { OPT_PROFILES = 256 };

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "profiles", required_argument, NULL, OPT_PROFILES },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
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
		rc = wf_profile_apply(paths, WF_PROFILE_FABRIC, profile, "", &place, NULL, &arena,
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
	struct wf_err err = { "" };
	const char *profiles = NULL;
	bool as_json = false;
	int c, rc;

	while ((c = wf_cli_option(argc, argv, ":jh", options)) != -1) {
		if (c == 'j')
			as_json = true;
		else if (c == OPT_PROFILES)
			profiles = optarg;
		else if (c == 'h')
			return wf_cli_help(&wf_cmd_show);
		else
			return WF_EXIT_USAGE;
	}
	if (optind + 1 != argc)
		return wf_cli_usage("show", "name one profile (weft list profiles)");
	rc = wf_paths_init(&paths, profiles, &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	return show(&paths, argv[optind], as_json);
}

const struct wf_cmd wf_cmd_show = {
	.name = "show",
	.summary = "print all parameters of a profile",
	.help = help_text,
	.run = run_show,
};
