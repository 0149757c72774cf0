/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_show.c - weft show: every parameter of a profile, a model or a part, and where it was set.
 * What it prints is itself a profile.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "cli/show_devices.h"
#include "cli/topics.h"
#include "scenario/bill.h"
#include "scenario/fabric_table.h"
#include "scenario/job.h"
#include "scenario/paths.h"
#include "scenario/profile.h"
#include "scenario/settings.h"
#include "sim/traffic/traffic.h"
#include "text/file.h"
#include "text/json.h"
#include "text/suggest.h"

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
	wf_json_document(&json, "weft.show", 1);
	wf_json_text(&json, "profile", profile);
	wf_json_open(&json, "parameters", '{');
	for (size_t i = 0; i < s->n; i++) {
		char value[256];

		wf_param_format(&s->table[i], s->config, value, sizeof(value));
		wf_json_text(&json, s->table[i].name, value);
	}
	wf_json_close(&json, '{');
	wf_json_open(&json, "sources", '{');
	for (size_t i = 0; i < s->n; i++) {
		char place[WF_PATH_MAX + 16];

		if (s->place[i].file == NULL)
			continue;
		snprintf(place, sizeof(place), "%s:%u", s->place[i].file, s->place[i].line);
		wf_json_text(&json, s->table[i].name, place);
	}
	wf_json_close(&json, '{');
	wf_json_close(&json, '{');
}

/* What has parameters, and where they are kept. */
static union {
	struct wf_fabric_values fabric;
	struct wf_model_cfg model;
	struct wf_gpu_cfg gpu;
	struct wf_switch_part sw;
	struct wf_cable_part cable;
} values;

/* The topics whose names are files of parameters; fabrics have a table that is made (NULL). */
static const struct topic {
	const char *name; /* as weft list has it */
	const char *what; /* how messages call it */
	enum wf_profile_kind kind;
	const struct wf_param *table;
	const size_t *n;
} topics[] = {
	{ "profiles", "fabric", WF_PROFILE_FABRIC, NULL, NULL },
	{ "models", "model", WF_PROFILE_MODEL, wf_model_params, &wf_model_n_params },
	{ "gpus", "gpu", WF_PROFILE_GPU, wf_gpu_params, &wf_gpu_n_params },
	{ "switches", "switch", WF_PROFILE_SWITCH, wf_switch_params, &wf_switch_n_params },
	{ "cables", "cable", WF_PROFILE_CABLE, wf_cable_params, &wf_cable_n_params },
};

static int show(const struct wf_paths *paths, const struct topic *topic, const char *name,
                bool as_json)
{
	const struct wf_place place = { .file = "weft show" };
	const struct wf_param *rows = topic->table;
	struct wf_settings settings;
	struct wf_err err = { "" };
	struct wf_arena arena;
	size_t n = rows != NULL ? *topic->n : 0;
	int rc = 0;

	wf_arena_init(&arena);
	if (rows == NULL)
		rc = wf_fabric_table(&arena, &rows, &n);
	if (rc == 0)
		rc = wf_settings_init(&settings, topic->what, rows, n, &values, &arena, &err);
	if (rc == 0)
		rc = wf_profile_apply(paths, topic->kind, name, "", &place, NULL, &arena, &settings,
		                      &err);
	if (rc == 0 && as_json)
		print_json(&settings, name);
	else if (rc == 0)
		print_yaml(&settings);
	wf_arena_fini(&arena);
	return rc == 0 ? wf_cli_finish() : wf_cli_fail(rc, &err);
}

static void print_points(const char *name, const struct wf_cdf *cdf)
{
	struct wf_json json;

	wf_json_init(&json, stdout);
	wf_json_document(&json, "weft.sizes", 1);
	wf_json_text(&json, "sizes", name);
	wf_json_u64(&json, "mean", wf_cdf_mean(cdf));
	wf_json_open(&json, "points", '[');
	for (unsigned i = 0; i < cdf->n; i++) {
		wf_json_open(&json, NULL, '{');
		wf_json_u64(&json, "bytes", cdf->point[i].size);
		wf_json_real(&json, "share", (double)cdf->point[i].prob / (double)WF_PROB_ONE);
		wf_json_close(&json, '{');
	}
	wf_json_close(&json, '[');
	wf_json_close(&json, '{');
}

/* A distribution of flow sizes is shown as its file has it. */
static int show_sizes(const struct wf_paths *paths, const char *name, bool as_json)
{
	struct wf_mem *heap = wf_mem_heap();
	struct wf_err err = { "" };
	char path[WF_PATH_MAX];
	struct wf_cdf cdf;
	char *text = NULL;
	size_t len = 0;
	int rc;

	if (wf_paths_find(paths, "sizes/", name, ".txt", path) != 0)
		return wf_cli_usage("show", "there is no distribution '%.40s' (weft list sizes)",
		                    name);
	rc = wf_file_read(path, WF_FILE_MAX, heap, &text, &len, &err);
	if (rc == 0)
		rc = wf_cdf_parse(text, len, path, &cdf, &err);
	if (rc == 0 && as_json)
		print_points(name, &cdf);
	else if (rc == 0)
		fwrite(text, 1, len, stdout);
	heap->free(heap, text);
	return rc == 0 ? wf_cli_finish() : wf_cli_fail(rc, &err);
}

static int unknown_topic(const char *name)
{
	struct wf_suggest suggest;

	wf_suggest_init(&suggest, name);
	for (size_t i = 0; i < WF_ARRAY_SIZE(topics); i++)
		wf_suggest_offer(&suggest, topics[i].name);
	wf_suggest_offer(&suggest, "sizes");
	return wf_cli_usage("show", "nothing of '%.40s' can be shown%s", name,
	                    wf_suggest_text(&suggest, "there are"));
}

static int run_show(int argc, char **argv)
{
	static struct wf_paths paths;
	struct request req = { .json = false };
	struct wf_err err = { "" };
	const char *topic = "profiles";
	int rc = wf_opt_parse(&wf_cmd_show, argc, argv, &req);

	if (rc >= 0)
		return rc;
	if (optind + 3 == argc && strcmp(argv[optind], "devices") == 0) {
		rc = wf_paths_init(&paths, req.profiles, &err);
		return rc != 0 ? wf_cli_fail(rc, &err)
		               : wf_show_devices(&paths, argv[optind + 1], argv[optind + 2],
		                                 req.json);
	}
	if (optind + 2 == argc)
		topic = argv[optind++];
	if (optind + 1 != argc)
		return wf_cli_usage("show", "name one profile (weft list profiles), or a topic and "
		                            "a name");
	rc = wf_paths_init(&paths, req.profiles, &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	if (strcmp(topic, "sizes") == 0)
		return show_sizes(&paths, argv[optind], req.json);
	for (size_t i = 0; i < WF_ARRAY_SIZE(topics); i++) {
		if (strcmp(topics[i].name, topic) == 0)
			return show(&paths, &topics[i], argv[optind], req.json);
	}
	return unknown_topic(topic);
}

/* A profile, or a topic. */
static void each_first(wf_values_fn *fn, void *arg)
{
	wf_topic_each("profiles", fn, arg);
	for (size_t i = 1; i < WF_ARRAY_SIZE(topics); i++)
		fn(arg, topics[i].name, wf_topic_find(topics[i].name)->title);
	fn(arg, "sizes", wf_topic_find("sizes")->title);
}

/* What may follow any topic: which one it is, is not known here. */
static void each_second(wf_values_fn *fn, void *arg)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(topics); i++)
		wf_topic_each(topics[i].name, fn, arg);
	wf_topic_each("sizes", fn, arg);
}

static const struct wf_values first = { .each = each_first };
static const struct wf_values second = { .each = each_second };
static const struct wf_values *const operands[] = { &first, &second, NULL };

static const char *const forms[] = {
	"show [--json] [--profiles DIR] [TOPIC] NAME",
	"show [--json] [--profiles DIR] devices SCENARIO NAME",
	NULL,
};

static const struct wf_opt_row options[] = {
	{ .is = &wf_opt_json, .take = wf_opt_take_flag, .at = offsetof(struct request, json) },
	{ .is = &wf_opt_profiles,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct request, profiles) },
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	{ "Examples", "  weft show roce-400g\n"
	              "  weft show ib-ndr --json\n"
	              "  weft show gpus h100\n"
	              "  weft show devices examples/devices.yaml leaf1\n" },
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_show = {
	.name = "show",
	.summary = "print all parameters of a profile, a model, a GPU, a part",
	.operands = "[TOPIC] NAME",
	.values = operands,
	.options = options,
	.text = "Prints every parameter of the profile called NAME, with the file and line that "
		"set it. The output can be used as a profile itself. NAME may also be a file, if "
		"there is a slash in it or it ends in `.yaml`.\n"
		"TOPIC says of what it is the name, as `weft list` has them; `profiles` if not "
		"given.\n"
		":profiles\tfabrics\n"
		":models, gpus\twhat is trained, and on what\n"
		":switches, cables\twatts and prices of a network's parts; cables by their rate\n"
		":sizes\ta distribution of flow sizes, as its file has it\n"
		"\n"
		"With `devices`, a scenario and a name, prints what a device of the scenario has "
		"(`leaf3`, `h12`), or one of its ports (`leaf3:5`, `leaf3:h12`), in each of its "
		"fabrics, and where that was set.\n",
	.forms = forms,
	.sections = sections,
	.see = "weft(1), weft-list(1), weft-scenario(5)",
	.run = run_show,
};
