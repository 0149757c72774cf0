/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_list.c - weft list: what can be named in a scenario, as a table or as JSON.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "cli/topics.h"
#include "fabric/config.h"
#include "text/json.h"
#include "text/suggest.h"

/* Where entries go: a table, or JSON. */
struct lister {
	struct wf_topic_sink sink;
	struct wf_json json;
	bool as_json;
};

/* What the command line asks for. */
struct request {
	const char *profiles;
	bool json;
};

static void put_entry(struct wf_topic_sink *sink, const char *name, const char *help)
{
	struct lister *l = (struct lister *)sink;

	if (!l->as_json) {
		printf("  %-20s %s\n", name, help);
		return;
	}
	wf_json_open(&l->json, NULL, '{');
	wf_json_text(&l->json, "name", name);
	wf_json_text(&l->json, "help", help);
	wf_json_close(&l->json, '{');
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

/* Who may have a value of its own: an entry of `devices:` in a scenario sets it. */
static const struct per {
	unsigned bit;
	const char *name;
} per[] = {
	{ WF_PER_HOST, "host" },
	{ WF_PER_SWITCH, "switch" },
	{ WF_PER_PORT, "port" },
	{ WF_PER_LINK, "link" },
};

static void print_per(const struct wf_param *row)
{
	const char *before = "of each ";

	printf("  %-26s ", "");
	for (size_t i = 0; i < WF_ARRAY_SIZE(per); i++) {
		if ((row->per & per[i].bit) == 0)
			continue;
		printf("%s%s", before, per[i].name);
		before = ", ";
	}
	printf("%s\n", (row->per & WF_PER_TIME) != 0 ? "; may change" : "");
}

static void put_per(struct wf_json *json, const struct wf_param *row)
{
	wf_json_open(json, "per", '[');
	for (size_t i = 0; i < WF_ARRAY_SIZE(per); i++) {
		if ((row->per & per[i].bit) != 0)
			wf_json_text(json, NULL, per[i].name);
	}
	wf_json_close(json, '[');
	wf_json_bool(json, "changes", (row->per & WF_PER_TIME) != 0);
}

static void put_parameter(struct wf_topic_sink *sink, const char *name, const struct wf_param *row)
{
	struct lister *l = (struct lister *)sink;
	char range[256];

	format_range(row, range, sizeof(range));
	if (!l->as_json) {
		printf("  %-26s %s\n", name, row->help);
		printf("  %-26s default %s%s%s; %s\n", "", row->def[0] != '\0' ? row->def : "none",
		       range[0] != '\0' ? "; " : "", range, wf_param_unit(row->kind));
		if (row->per != 0)
			print_per(row);
		return;
	}
	wf_json_open(&l->json, NULL, '{');
	wf_json_text(&l->json, "name", name);
	wf_json_text(&l->json, "unit", wf_param_unit(row->kind));
	wf_json_text(&l->json, "default", row->def);
	wf_json_text(&l->json, "range", range);
	put_per(&l->json, row);
	wf_json_text(&l->json, "help", row->help);
	wf_json_close(&l->json, '{');
}

static int list_topic(struct lister *l, const struct wf_topic *topic, bool titled)
{
	int rc;

	if (l->as_json)
		wf_json_open(&l->json, topic->name, '[');
	else if (titled)
		printf("%s%s\n", topic == wf_topic_all() ? "" : "\n", topic->title);
	rc = topic->list(&l->sink);
	if (l->as_json)
		wf_json_close(&l->json, '[');
	return rc;
}

/* One topic, or with NULL all but the parameters, which are many. */
static int list(struct lister *l, const struct wf_topic *wanted)
{
	int rc = 0;

	for (const struct wf_topic *t = wf_topic_all(); rc == 0 && t->name != NULL; t++) {
		if (wanted == NULL ? strcmp(t->name, WF_TOPIC_PARAMETERS) != 0 : t == wanted)
			rc = list_topic(l, t, wanted == NULL);
	}
	return rc;
}

/* The same as JSON, which is printed when it is complete: folders are read on the way. */
static int list_json(struct lister *l, const struct wf_topic *wanted, struct wf_err *err)
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
		rc = wf_file_refused("standard output", errno, err);
	free(text);
	return rc;
}

static int unknown_topic(const char *wanted)
{
	struct wf_suggest suggest;

	wf_suggest_init(&suggest, wanted);
	for (const struct wf_topic *t = wf_topic_all(); t->name != NULL; t++)
		wf_suggest_offer(&suggest, t->name);
	return wf_cli_usage("list", "there is no topic '%s'%s", wanted,
	                    wf_suggest_text(&suggest, "there are"));
}

static int run_list(int argc, char **argv)
{
	static struct wf_paths paths;
	struct lister l = {
		.sink = { .paths = &paths, .entry = put_entry, .parameter = put_parameter },
	};
	const struct wf_topic *topic = NULL;
	struct request req = { .json = false };
	struct wf_err err = { "" };
	int rc = wf_opt_parse(&wf_cmd_list, argc, argv, &req);

	if (rc >= 0)
		return rc;
	if (optind + 1 < argc)
		return wf_cli_usage("list", "one topic at a time");
	if (optind < argc) {
		topic = wf_topic_find(argv[optind]);
		if (topic == NULL)
			return unknown_topic(argv[optind]);
	}
	rc = wf_paths_init(&paths, req.profiles, &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	l.as_json = req.json;
	wf_arena_init(&l.sink.arena);
	rc = l.as_json ? list_json(&l, topic, &err) : list(&l, topic);
	wf_arena_fini(&l.sink.arena);
	return rc == 0 ? wf_cli_finish() : wf_cli_fail(rc, &err);
}

static void each_topic(wf_values_fn *fn, void *arg)
{
	for (const struct wf_topic *t = wf_topic_all(); t->name != NULL; t++)
		fn(arg, t->name, t->title);
}

static const struct wf_values topics = { .each = each_topic };
static const struct wf_values *const operands[] = { &topics, NULL };

static const struct wf_opt_row options[] = {
	{ .is = &wf_opt_json, .take = wf_opt_take_flag, .at = offsetof(struct request, json) },
	{ .is = &wf_opt_profiles,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct request, profiles) },
	{ .is = NULL },
};

#define TOPIC(name, title, where) ":" #name "\t" title " (`" where "`)\n"

const struct wf_cmd wf_cmd_list = {
	.name = "list",
	.summary = "list profiles, topologies, algorithms, parameters",
	.operands = "[TOPIC]",
	.values = operands,
	.options = options,
	.text = "Lists what can be named in a scenario, with a word about each. Everything comes "
		"from the tables that the program itself uses. Without a topic: all of them but "
		"the parameters.\n" WF_TOPICS(TOPIC),
	.see = "weft(1), weft-show(1), weft-scenario(5)",
	.run = run_list,
};
