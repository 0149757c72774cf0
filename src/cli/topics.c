/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topics.c - what can be named in a scenario.
 *
 * Everything comes from the tables that the program itself uses, so that a list cannot be wrong.
 */
#include "cli/topics.h"

#include <errno.h>
#include <string.h>

#include "cc/cc.h"
#include "fabric/flowctl/flowctl.h"
#include "fabric/route/route.h"
#include "fabric/watchdog.h"
#include "scenario/fabric_table.h"
#include "scenario/profile.h"
#include "scenario/scenario.h"
#include "sim/storage/config.h"
#include "sim/traffic/traffic.h"
#include "topo/topo.h"

static int list_kind(struct wf_topic_sink *sink, enum wf_profile_kind kind)
{
	const char *const *names;
	size_t n;
	int rc = wf_paths_list(sink->paths, wf_profile_folder(kind), ".yaml", &sink->arena, &names,
	                       &n);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		const char *text = "";
		struct wf_err err = { "" };

		/* A broken profile is named with what is wrong; the others are still listed. */
		rc = wf_profile_describe(sink->paths, kind, names[i], &sink->arena, &text, &err);
		if (rc == -EINVAL) {
			text = err.text;
			rc = 0;
		}
		if (rc == 0)
			sink->entry(sink, names[i], text);
	}
	return rc;
}

static int list_profiles(struct wf_topic_sink *sink)
{
	return list_kind(sink, WF_PROFILE_FABRIC);
}

static int list_models(struct wf_topic_sink *sink)
{
	return list_kind(sink, WF_PROFILE_MODEL);
}

static int list_gpus(struct wf_topic_sink *sink)
{
	return list_kind(sink, WF_PROFILE_GPU);
}

static int list_switches(struct wf_topic_sink *sink)
{
	return list_kind(sink, WF_PROFILE_SWITCH);
}

static int list_cables(struct wf_topic_sink *sink)
{
	return list_kind(sink, WF_PROFILE_CABLE);
}

static int list_sizes(struct wf_topic_sink *sink)
{
	const char *const *names;
	struct wf_mem *heap = wf_mem_heap();
	size_t n;
	int rc = wf_paths_list(sink->paths, "sizes", ".txt", &sink->arena, &names, &n);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		char path[WF_PATH_MAX], line[128] = "";
		char *text = NULL;
		size_t len = 0;

		if (wf_paths_find(sink->paths, "sizes/", names[i], ".txt", path) != 0 ||
		    wf_file_read(path, WF_FILE_MAX, heap, &text, &len, NULL) != 0)
			continue;
		/* The first line of a distribution says what it is. */
		if (len > 2 && text[0] == '#')
			snprintf(line, sizeof(line), "%.*s", (int)strcspn(text + 2, ":\r\n"),
			         text + 2);
		heap->free(heap, text);
		sink->entry(sink, names[i], line);
	}
	return rc;
}

static int list_topologies(struct wf_topic_sink *sink)
{
	for (size_t i = 0; wf_topo_kinds()[i] != NULL; i++)
		sink->entry(sink, wf_topo_kinds()[i]->name, wf_topo_kinds()[i]->help);
	return 0;
}

static int list_routing(struct wf_topic_sink *sink)
{
	for (size_t i = 0; wf_route_all()[i] != NULL; i++)
		sink->entry(sink, wf_route_all()[i]->name, wf_route_all()[i]->help);
	return 0;
}

static int list_flowctl(struct wf_topic_sink *sink)
{
	for (size_t i = 0; wf_flowctl_all()[i] != NULL; i++)
		sink->entry(sink, wf_flowctl_all()[i]->name, wf_flowctl_all()[i]->help);
	return 0;
}

static void format_time(wf_time t, char buf[32])
{
	static const struct wf_param row = { .kind = WF_PARAM_TIME, .size = sizeof(wf_time) };

	wf_param_format(&row, &t, buf, 32);
}

static int list_watchdogs(struct wf_topic_sink *sink)
{
	for (unsigned i = 0; i < WF_WATCHDOG_IDS; i++) {
		const struct wf_watchdog_rules *r = wf_watchdog_at((enum wf_watchdog_id)i);
		const struct wf_watchdog_set set = {
			.rules = r,
			.poll = WF_PARAM_AUTO,
			.detect = WF_PARAM_AUTO,
			.restore = WF_PARAM_AUTO,
			.speedup = 1,
		};
		struct wf_watchdog_times t = wf_watchdog_times(&set, 1);
		char poll[32], detect[32], restore[32], text[320];

		format_time(t.poll, poll);
		format_time(t.detect, detect);
		format_time(t.restore, restore);
		if (wf_watchdog_is_adapters((enum wf_watchdog_id)i))
			snprintf(text, sizeof(text), "adapters: %s", r->help);
		else
			snprintf(text, sizeof(text), "%s; poll %s, detect %s, restore %s%s",
			         r->help, poll, detect, restore,
			         (r->flags & WF_WATCHDOG_GROWS) != 0 ? ", each for 32 ports" : "");
		sink->entry(sink, r->name, text);
	}
	return 0;
}

static int list_traffic(struct wf_topic_sink *sink)
{
	for (size_t i = 0; wf_traffic_kinds()[i] != NULL; i++)
		sink->entry(sink, wf_traffic_kinds()[i]->name, wf_traffic_kinds()[i]->help);
	return 0;
}

static int list_cc(struct wf_topic_sink *sink)
{
	const struct wf_cc_ops *ops;

	for (size_t i = 0; (ops = wf_cc_at(i)) != NULL; i++)
		sink->entry(sink, ops->name, ops->help);
	return 0;
}

/* Tells of a row of a table whose names begin with prefix. */
static void put_row(struct wf_topic_sink *sink, const char *prefix, const struct wf_param *row)
{
	char name[128];

	snprintf(name, sizeof(name), "%s%s", prefix, row->name);
	sink->parameter(sink, name, row);
}

static int list_parameters(struct wf_topic_sink *sink)
{
	const struct wf_param *rows;
	size_t n;

	if (wf_fabric_table(&sink->arena, &rows, &n) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < wf_scenario_n_params; i++)
		put_row(sink, "", &wf_scenario_params[i]);
	for (size_t i = 0; i < wf_topo_n_params; i++)
		put_row(sink, "topology.", &wf_topo_params[i]);
	for (size_t i = 0; i < n; i++)
		put_row(sink, "fabric.", &rows[i]);
	for (size_t i = 0; i < wf_traffic_n_params; i++)
		put_row(sink, "traffic.", &wf_traffic_params[i]);
	for (size_t i = 0; i < wf_storage_n_params; i++)
		put_row(sink, "storage.", &wf_storage_params[i]);
	if (wf_job_table(&sink->arena, &rows, &n) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		put_row(sink, "job.", &rows[i]);
	return 0;
}

#define ROW(name, title, where) { #name, title " (" where ")", list_##name },
static const struct wf_topic topics[] = { WF_TOPICS(ROW){ NULL, NULL, NULL } };
#undef ROW

const struct wf_topic *wf_topic_all(void)
{
	return topics;
}

const struct wf_topic *wf_topic_find(const char *name)
{
	for (const struct wf_topic *topic = topics; topic->name != NULL; topic++) {
		if (strcmp(topic->name, name) == 0)
			return topic;
	}
	return NULL;
}

/* ---- for completion ---- */

struct teller {
	struct wf_topic_sink sink;
	wf_values_fn *fn;
	void *arg;
};

static void tell_entry(struct wf_topic_sink *sink, const char *name, const char *help)
{
	struct teller *t = (struct teller *)sink;

	t->fn(t->arg, name, help);
}

static void tell_parameter(struct wf_topic_sink *sink, const char *name, const struct wf_param *row)
{
	struct teller *t = (struct teller *)sink;
	char word[160];

	snprintf(word, sizeof(word), "%s=", name);
	t->fn(t->arg, word, row->help);
}

void wf_topic_each(const char *name, wf_values_fn *fn, void *arg)
{
	static struct wf_paths paths;
	struct teller t = {
		.sink = { .paths = &paths, .entry = tell_entry, .parameter = tell_parameter },
		.fn = fn,
		.arg = arg,
	};
	struct wf_err err = { "" };

	if (wf_paths_init(&paths, NULL, &err) != 0)
		return;
	wf_arena_init(&t.sink.arena);
	/* Without memory there is less to choose from. */
	(void)!wf_topic_find(name)->list(&t.sink);
	wf_arena_fini(&t.sink.arena);
}
