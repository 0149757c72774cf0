/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_list.c - weft list: what can be named in a scenario.
 *
 * Everything comes from the tables that the program itself uses, so that the list cannot be wrong.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cc/cc.h"
#include "fabric/flowctl/flowctl.h"
#include "fabric/route/route.h"
#include "scenario/fabric_table.h"
#include "text/json.h"
#include "scenario/paths.h"
#include "scenario/profile.h"
#include "scenario/scenario.h"
#include "text/suggest.h"
#include "sim/traffic/traffic.h"
#include "topo/topo.h"

static const char help_text[] =
	"usage: weft list [TOPIC] [OPTIONS]\n"
	"\n"
	"Lists what can be named in a scenario. Topics:\n"
	"\n"
	"  profiles    named fabrics (fabric: NAME)\n"
	"  topologies  kinds of topology (topology: {kind: NAME})\n"
	"  routing     how switches choose a path (fabric: {routing: NAME})\n"
	"  flowctl     who keeps packets from being lost (fabric: {flowctl: NAME})\n"
	"  traffic     kinds of traffic (traffic: [{kind: NAME}])\n"
	"  sizes       distributions of flow sizes (traffic: [{kind: random, sizes: NAME}])\n"
	"  models      models to train (job: {kind: train, model: NAME})\n"
	"  gpus        what they are trained on (job: {kind: train, gpu: NAME})\n"
	"  switches    watts and prices (fabric: {switch: {model: NAME}})\n"
	"  cables      the same of cables and transceivers, by rate\n"
	"  parameters  everything that can be set, with default, range and meaning\n"
	"\n"
	"Without a topic: all of them but the parameters.\n"
	"\n"
	"  -j, --json          print JSON instead of a table\n"
	"      --profiles DIR  look for profiles in DIR first\n"
	"  -h, --help          this text\n";

enum { OPT_PROFILES = 256 };

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "profiles", required_argument, NULL, OPT_PROFILES },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* Where entries go: a table, or JSON. */
struct lister {
	const struct wf_paths *paths;
	struct wf_arena arena;
	struct wf_json json;
	bool as_json;
	struct wf_err err;
};

static void put_entry(struct lister *l, const char *name, const char *help)
{
	if (!l->as_json) {
		printf("  %-20s %s\n", name, help);
		return;
	}
	wf_json_open(&l->json, NULL, '{');
	wf_json_text(&l->json, "name", name);
	wf_json_text(&l->json, "help", help);
	wf_json_close(&l->json, '{');
}

static int list_kind(struct lister *l, enum wf_profile_kind kind)
{
	const char *const *names;
	size_t n;
	int rc = wf_paths_list(l->paths, wf_profile_folder(kind), ".yaml", &l->arena, &names, &n);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		const char *text = "";
		struct wf_err err = { "" };

		/* A broken profile is named with what is wrong; the others are still listed. */
		rc = wf_profile_describe(l->paths, kind, names[i], &l->arena, &text, &err);
		if (rc == -EINVAL) {
			text = err.text;
			rc = 0;
		}
		if (rc == 0)
			put_entry(l, names[i], text);
	}
	return rc;
}

static int list_profiles(struct lister *l)
{
	return list_kind(l, WF_PROFILE_FABRIC);
}

static int list_models(struct lister *l)
{
	return list_kind(l, WF_PROFILE_MODEL);
}

static int list_gpus(struct lister *l)
{
	return list_kind(l, WF_PROFILE_GPU);
}

static int list_switches(struct lister *l)
{
	return list_kind(l, WF_PROFILE_SWITCH);
}

static int list_cables(struct lister *l)
{
	return list_kind(l, WF_PROFILE_CABLE);
}

static int list_sizes(struct lister *l)
{
	const char *const *names;
	struct wf_mem *heap = wf_mem_heap();
	size_t n;
	int rc = wf_paths_list(l->paths, "sizes", ".txt", &l->arena, &names, &n);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		char path[WF_PATH_MAX], line[128] = "";
		char *text = NULL;
		size_t len = 0;

		if (wf_paths_find(l->paths, "sizes/", names[i], ".txt", path) != 0 ||
		    wf_file_read(path, WF_FILE_MAX, heap, &text, &len, NULL) != 0)
			continue;
		/* The first line of a distribution says what it is. */
		if (len > 2 && text[0] == '#')
			snprintf(line, sizeof(line), "%.*s", (int)strcspn(text + 2, ":\r\n"),
			         text + 2);
		heap->free(heap, text);
		put_entry(l, names[i], line);
	}
	return rc;
}

static int list_topologies(struct lister *l)
{
	for (size_t i = 0; wf_topo_kinds()[i] != NULL; i++)
		put_entry(l, wf_topo_kinds()[i]->name, wf_topo_kinds()[i]->help);
	return 0;
}

static int list_routing(struct lister *l)
{
	for (size_t i = 0; wf_route_all()[i] != NULL; i++)
		put_entry(l, wf_route_all()[i]->name, wf_route_all()[i]->help);
	return 0;
}

static int list_flowctl(struct lister *l)
{
	for (size_t i = 0; wf_flowctl_all()[i] != NULL; i++)
		put_entry(l, wf_flowctl_all()[i]->name, wf_flowctl_all()[i]->help);
	return 0;
}

static int list_traffic(struct lister *l)
{
	for (size_t i = 0; wf_traffic_kinds()[i] != NULL; i++)
		put_entry(l, wf_traffic_kinds()[i]->name, wf_traffic_kinds()[i]->help);
	return 0;
}

/* The text of a limit of row. */
static void format_limit(const struct wf_param *row, int64_t v, char *buf, size_t size)
{
	struct wf_param only = *row;
	uint32_t v32 = (uint32_t)v;

	only.offset = 0;
	only.has_auto = false;
	wf_param_format(&only, row->kind == WF_PARAM_U32 ? (const void *)&v32 : (const void *)&v,
	                buf, size);
}

static void format_range(const struct wf_param *row, char *buf, size_t size)
{
	char min[64], max[64];
	size_t at = 0;

	buf[0] = '\0';
	if (row->kind == WF_PARAM_NAME) {
		for (const char *const *n = row->names; *n != NULL && at < size; n++)
			at += (size_t)snprintf(buf + at, size - at, "%s%s", at > 0 ? "|" : "", *n);
	} else if (row->kind == WF_PARAM_BOOL) {
		snprintf(buf, size, "true|false");
	} else if (row->kind != WF_PARAM_TEXT) {
		format_limit(row, row->min, min, sizeof(min));
		format_limit(row, row->max, max, sizeof(max));
		snprintf(buf, size, "%s..%s%s", min, max, row->has_auto ? "|auto" : "");
	}
}

static void put_row(struct lister *l, const char *prefix, const struct wf_param *row)
{
	char name[128], range[256];

	snprintf(name, sizeof(name), "%s%s", prefix, row->name);
	format_range(row, range, sizeof(range));
	if (!l->as_json) {
		printf("  %-26s %s\n", name, row->help);
		printf("  %-26s default %s%s%s; %s\n", "", row->def[0] != '\0' ? row->def : "none",
		       range[0] != '\0' ? "; " : "", range, wf_param_unit(row->kind));
		return;
	}
	wf_json_open(&l->json, NULL, '{');
	wf_json_text(&l->json, "name", name);
	wf_json_text(&l->json, "unit", wf_param_unit(row->kind));
	wf_json_text(&l->json, "default", row->def);
	wf_json_text(&l->json, "range", range);
	wf_json_text(&l->json, "help", row->help);
	wf_json_close(&l->json, '{');
}

static int list_cc(struct lister *l)
{
	const struct wf_cc_ops *ops;

	for (size_t i = 0; (ops = wf_cc_at(i)) != NULL; i++)
		put_entry(l, ops->name, ops->help);
	return 0;
}

static int list_parameters(struct lister *l)
{
	const struct wf_param *rows;
	size_t n;

	if (wf_fabric_table(&l->arena, &rows, &n) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < wf_scenario_n_params; i++)
		put_row(l, "", &wf_scenario_params[i]);
	for (size_t i = 0; i < wf_topo_n_params; i++)
		put_row(l, "topology.", &wf_topo_params[i]);
	for (size_t i = 0; i < n; i++)
		put_row(l, "fabric.", &rows[i]);
	for (size_t i = 0; i < wf_traffic_n_params; i++)
		put_row(l, "traffic.", &wf_traffic_params[i]);
	if (wf_job_table(&l->arena, &rows, &n) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		put_row(l, "job.", &rows[i]);
	return 0;
}

static const struct topic {
	const char *name;
	const char *title;
	int (*list)(struct lister *l);
	bool only_asked; /* not listed when no topic is named */
} topics[] = {
	{ "profiles", "Profiles (fabric: NAME)", list_profiles, false },
	{ "topologies", "Topologies (topology: {kind: NAME})", list_topologies, false },
	{ "routing", "Routing (fabric: {routing: NAME})", list_routing, false },
	{ "flowctl", "Flow control (fabric: {flowctl: NAME})", list_flowctl, false },
	{ "cc", "Congestion control (fabric: {cc: {algorithm: NAME}})", list_cc, false },
	{ "traffic", "Traffic (traffic: [{kind: NAME}])", list_traffic, false },
	{ "sizes", "Flow sizes (traffic: [{kind: random, sizes: NAME}])", list_sizes, false },
	{ "models", "Models (job: {kind: train, model: NAME})", list_models, false },
	{ "gpus", "GPUs (job: {kind: train, gpu: NAME})", list_gpus, false },
	{ "switches", "Switches (fabric: {switch: {model: NAME}})", list_switches, false },
	{ "cables", "Cables (of links of that rate)", list_cables, false },
	{ "parameters", "Parameters", list_parameters, true },
};

static int list_topic(struct lister *l, const struct topic *topic, bool titled)
{
	int rc;

	if (l->as_json)
		wf_json_open(&l->json, topic->name, '[');
	else if (titled)
		printf("%s%s\n", topic == &topics[0] ? "" : "\n", topic->title);
	rc = topic->list(l);
	if (l->as_json)
		wf_json_close(&l->json, '[');
	return rc;
}

static int list(struct lister *l, const char *wanted)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < WF_ARRAY_SIZE(topics); i++) {
		if (wanted == NULL ? !topics[i].only_asked : strcmp(wanted, topics[i].name) == 0)
			rc = list_topic(l, &topics[i], wanted == NULL);
	}
	return rc;
}

/* The same as JSON, which is printed when it is complete: folders are read on the way. */
static int list_json(struct lister *l, const char *wanted)
{
	char *text = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&text, &len);
	int rc;

	if (file == NULL)
		return -ENOMEM;
	wf_json_init(&l->json, file);
	wf_json_document(&l->json, "weft.list", 1);
	rc = list(l, wanted);
	wf_json_close(&l->json, '{');
	if ((ferror(file) != 0 || fflush(file) != 0) && rc == 0)
		rc = -ENOMEM;
	fclose(file);
	if (rc == 0 && fwrite(text, 1, len, stdout) != len)
		rc = wf_file_refused("standard output", errno, &l->err);
	free(text);
	return rc;
}

static int check_topic(const char *wanted)
{
	struct wf_suggest suggest;

	for (size_t i = 0; i < WF_ARRAY_SIZE(topics); i++) {
		if (strcmp(wanted, topics[i].name) == 0)
			return 0;
	}
	wf_suggest_init(&suggest, wanted);
	for (size_t i = 0; i < WF_ARRAY_SIZE(topics); i++)
		wf_suggest_offer(&suggest, topics[i].name);
	return wf_cli_usage("list", "there is no topic '%s'%s", wanted,
	                    wf_suggest_text(&suggest, "there are"));
}

static int run_list(int argc, char **argv)
{
	static struct wf_paths paths;
	struct lister l = { .paths = &paths };
	const char *profiles = NULL;
	int c, rc;

	while ((c = wf_cli_option(argc, argv, ":jh", options)) != -1) {
		if (c == 'j')
			l.as_json = true;
		else if (c == OPT_PROFILES)
			profiles = optarg;
		else if (c == 'h')
			return wf_cli_help(&wf_cmd_list);
		else
			return WF_EXIT_USAGE;
	}
	if (optind + 1 < argc)
		return wf_cli_usage("list", "one topic at a time");
	if (optind < argc && check_topic(argv[optind]) != 0)
		return WF_EXIT_USAGE;
	rc = wf_paths_init(&paths, profiles, &l.err);
	if (rc != 0)
		return wf_cli_fail(rc, &l.err);
	wf_arena_init(&l.arena);
	rc = (l.as_json ? list_json : list)(&l, optind < argc ? argv[optind] : NULL);
	wf_arena_fini(&l.arena);
	return rc == 0 ? wf_cli_finish() : wf_cli_fail(rc, &l.err);
}

const struct wf_cmd wf_cmd_list = {
	.name = "list",
	.summary = "list profiles, topologies, algorithms, parameters",
	.help = help_text,
	.run = run_list,
};
