/* SPDX-License-Identifier: Apache-2.0 */
/* show_devices.c - what one device, or one of its ports, has, and where it was set. */
#include "cli/show_devices.h"

#include <string.h>

#include "cli/cli.h"
#include "scenario/scenario.h"
#include "text/file.h"
#include "text/json.h"

/* Whether a device, or a port of one, has a setting of its own. */
static bool has(const struct wf_param *row, bool host, bool port)
{
	unsigned kind = host ? WF_PER_HOST : WF_PER_SWITCH;
	unsigned other = host ? WF_PER_SWITCH : WF_PER_HOST;

	if (port)
		return (row->per & (WF_PER_PORT | WF_PER_LINK)) != 0 &&
		       ((row->per & kind) != 0 || (row->per & other) == 0);
	return (row->per & (kind | WF_PER_LINK)) != 0;
}

struct shown {
	const struct wf_scenario *scenario;
	const struct wf_scenario_fabric *fabric;
	uint32_t node, port;
};

/* A row as text, and its place. False: the device does not have it. */
static bool row_of(const struct shown *s, size_t i, char *value, size_t size, char *place,
                   size_t place_size)
{
	const struct wf_topo_node *node = &s->fabric->net->topo->nodes[s->node];
	const struct wf_param *row = &s->fabric->settings.table[i];
	const struct wf_fabric_values *values;
	struct wf_place at;

	if (!has(row, node->kind == WF_TOPO_HOST, s->port != WF_TOPO_NONE))
		return false;
	at = wf_devices_place(s->scenario, s->fabric, s->node, s->port, i, &values);
	wf_param_format(row, values, value, size);
	place[0] = '\0';
	if (at.file != NULL && at.line != 0)
		snprintf(place, place_size, "%s:%u", at.file, at.line);
	else if (at.file != NULL)
		snprintf(place, place_size, "%s", at.file);
	return true;
}

static void print_text(const struct shown *s)
{
	printf("# fabric %s\n", s->fabric->label);
	for (size_t i = 0; i < s->fabric->settings.n; i++) {
		const struct wf_param *row = &s->fabric->settings.table[i];
		const char *quote = row->kind == WF_PARAM_TEXT ? "\"" : "";
		char value[256], place[WF_PATH_MAX + 16], line[320];

		if (!row_of(s, i, value, sizeof(value), place, sizeof(place)))
			continue;
		snprintf(line, sizeof(line), "%s: %s%s%s", row->name, quote, value, quote);
		printf("%-40s # %s\n", line, place[0] == '\0' ? "default" : place);
	}
}

static void print_json(struct wf_json *json, const struct shown *s)
{
	char value[256], place[WF_PATH_MAX + 16];

	wf_json_open(json, NULL, '{');
	wf_json_text(json, "fabric", s->fabric->label);
	for (int sources = 0; sources < 2; sources++) {
		wf_json_open(json, sources ? "sources" : "parameters", '{');
		for (size_t i = 0; i < s->fabric->settings.n; i++) {
			if (!row_of(s, i, value, sizeof(value), place, sizeof(place)) ||
			    (sources && place[0] == '\0'))
				continue;
			wf_json_text(json, s->fabric->settings.table[i].name,
			             sources ? place : value);
		}
		wf_json_close(json, '{');
	}
	wf_json_close(json, '{');
}

static int show_all(const struct wf_scenario *scenario, const char *name, bool as_json,
                    struct wf_err *err)
{
	struct wf_json json;
	int rc = 0;

	if (as_json) {
		wf_json_init(&json, stdout);
		wf_json_document(&json, "weft.devices", 1);
		wf_json_text(&json, "device", name);
		wf_json_open(&json, "fabrics", '[');
	}
	for (unsigned i = 0; i < scenario->n_fabrics && rc == 0; i++) {
		struct shown s = { .scenario = scenario, .fabric = &scenario->fabrics[i] };

		rc = wf_devices_find(s.fabric->net, name, &s.node, &s.port, err);
		if (rc == 0 && as_json)
			print_json(&json, &s);
		else if (rc == 0)
			print_text(&s);
	}
	if (as_json && rc == 0) {
		wf_json_close(&json, '[');
		wf_json_close(&json, '{');
	}
	return rc;
}

int wf_show_devices(const struct wf_paths *paths, const char *path, const char *name, bool as_json)
{
	const struct wf_scenario_opts opts = { .paths = paths, .programs = true };
	struct wf_scenario scenario;
	struct wf_err err = { "" };
	int rc = wf_scenario_read(&scenario, path, &opts, &err);
	uint32_t node, port;

	if (rc == 0)
		rc = wf_scenario_build(&scenario, &err);
	/* The name is tried before anything is printed. */
	for (unsigned i = 0; i < scenario.n_fabrics && rc == 0; i++)
		rc = wf_devices_find(scenario.fabrics[i].net, name, &node, &port, &err);
	if (rc == 0)
		rc = show_all(&scenario, name, as_json, &err);
	wf_scenario_fini(&scenario);
	return rc == 0 ? wf_cli_finish() : wf_cli_fail(rc, &err);
}
