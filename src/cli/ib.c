/* SPDX-License-Identifier: Apache-2.0 */
/* ib.c - what weft ib looks at, from files. */
#include "cli/ib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scenario/scenario.h"
#include "text/file.h"
#include "topo/subnet.h"

#define MAX_ROOTS 4096

static const char *copy(struct wf_ib *ib, const char *text)
{
	size_t n = strlen(text) + 1;
	char *to = wf_arena_alloc(&ib->arena, n, 1);

	return to == NULL ? NULL : memcpy(to, text, n);
}

static void hear(void *arg, const char *file, unsigned line, unsigned column, const char *what)
{
	struct wf_ib *ib = arg;
	struct wf_ib_note *note = wf_arena_alloc(&ib->arena, sizeof(*note), sizeof(void *));

	if (note == NULL)
		return;
	*note = (struct wf_ib_note){ NULL, copy(ib, file), copy(ib, what), line, column };
	*ib->last_note = note;
	ib->last_note = &note->next;
	ib->n_notes++;
}

static int read_text(struct wf_ib *ib, const char *path, const char **text_p, size_t *len_p,
                     struct wf_err *err)
{
	char *text;
	int ret = wf_file_read(path, WF_FILE_MAX, &ib->arena.mem, &text, len_p, err);

	if (ret == 0)
		*text_p = text;
	return ret;
}

/* The first network of a scenario. */
static int read_scenario(struct wf_ib *ib, struct wf_err *err)
{
	static struct wf_paths paths;
	struct wf_scenario_opts opts = { .paths = &paths, .programs = true };
	struct wf_scenario *scenario =
		wf_arena_alloc(&ib->arena, sizeof(*scenario), sizeof(void *));
	const struct wf_topo *topo;
	int ret;

	if (scenario == NULL)
		return -ENOMEM;
	opts.default_fabrics = "ib-ndr";
	ret = wf_paths_init(&paths, ib->ask->profiles, err);
	if (ret != 0)
		return ret;
	ret = wf_scenario_read(scenario, ib->ask->file, &opts, err);
	if (ret == 0)
		ret = wf_scenario_build(scenario, err);
	if (ret == 0) {
		topo = scenario->nets[0].topo;
		ret = wf_topo_to_subnet(topo, ib->ask->file, &ib->arena.mem, &ib->subnet, err);
	}
	wf_scenario_fini(scenario);
	ib->form = "scenario";
	return ret;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* Ports that have no LID get one; all do, where LMC was asked for. */
static int give_lids(struct wf_ib *ib, struct wf_err *err)
{
	struct wf_subnet *subnet = ib->subnet;
	unsigned lmc = ib->ask->lmc_given ? ib->ask->lmc : 0;
	int ret;

	for (uint32_t i = 0; i < subnet->n_ports; i++) {
		const struct wf_subnet_port *port = &subnet->ports[i];

		ib->lids_made |= port->lid == 0 && wf_subnet_is_end(subnet, i);
		if (!ib->ask->lmc_given && port->lmc > lmc)
			lmc = port->lmc;
	}
	if (!ib->lids_made && !ib->ask->lmc_given)
		return 0;
	ret = wf_subnet_assign_lids(subnet, lmc, WF_SUBNET_NONE);
	return ret == -ENOSPC ? wf_err_say(err,
	                                   "%s: a subnet has 49,151 LIDs, which are too few for "
	                                   "its ports with LMC %u",
	                                   ib->ask->file, lmc)
	                      : ret;
}

static int read_parts(struct wf_ib *ib, const struct wf_subnet_ear *ear, struct wf_err *err)
{
	const char *name = ib->ask->partitions, *text;
	size_t len;
	int ret = read_text(ib, name, &text, &len, err);

	if (ret == 0 && strlen(text) != len)
		ret = wf_err_say(err, "%s: this is no text: it has a byte that is 0", name);
	if (ret == 0)
		ret = wf_parts_read(&ib->arena.mem, text, name, &ib->parts, err);
	if (ret == 0)
		ret = wf_members_init(&ib->members, ib->subnet, WF_SUBNET_NONE, ib->parts, name,
		                      ear);
	return ret;
}

int wf_ib_read(struct wf_ib *ib, const struct wf_ib_ask *ask, struct wf_err *err)
{
	const struct wf_subnet_ear ear = { hear, ib };
	const char *text;
	size_t len;
	int ret;

	*ib = (struct wf_ib){ .ask = ask };
	wf_arena_init(&ib->arena);
	ib->last_note = &ib->notes;
	if (ends_with(ask->file, ".yaml") || ends_with(ask->file, ".yml")) {
		ret = read_scenario(ib, err);
	} else {
		ret = read_text(ib, ask->file, &ib->text, &ib->len, err);
		if (ret == 0) {
			ib->form = wf_subnet_form_of(ib->text, ib->len)->name;
			ret = wf_subnet_read(ib->text, ib->len, ask->file, &ear, &ib->arena.mem,
			                     &ib->subnet, err);
		}
	}
	if (ret == 0 && ask->counters != NULL) {
		ret = read_text(ib, ask->counters, &text, &len, err);
		if (ret == 0)
			ret = wf_subnet_read_pm(ib->subnet, text, len, ask->counters, &ear, err);
	}
	if (ret == 0 && ask->lfts != NULL) {
		ret = read_text(ib, ask->lfts, &text, &len, err);
		if (ret == 0)
			ret = wf_subnet_read_lfts(ib->subnet, text, len, ask->lfts, &ear,
			                          &ib->tables, err);
	}
	if (ret == 0 && ask->partitions != NULL)
		ret = read_parts(ib, &ear, err);
	return ret != 0 ? ret : wf_subnet_names_init(&ib->names, ib->subnet);
}

/* A GUID, or the description of a node. 0: there is no such node. */
static uint64_t find_root(const struct wf_subnet *subnet, const char *word, size_t n)
{
	char text[WF_SUBNET_DESC], *end;
	uint64_t guid;

	if (n == 0 || n >= sizeof(text))
		return 0;
	memcpy(text, word, n);
	text[n] = '\0';
	errno = 0;
	guid = strtoull(text, &end, 16);
	if (*end == '\0' && errno == 0 && wf_subnet_find(subnet, guid) != WF_SUBNET_NONE)
		return guid;
	for (uint32_t i = 0; i < subnet->n_nodes; i++) {
		if (strcmp(subnet->nodes[i].desc, text) == 0)
			return subnet->nodes[i].guid;
	}
	return 0;
}

static int take_roots(struct wf_ib *ib, struct wf_sm_route_cfg *cfg, struct wf_err *err)
{
	uint64_t *roots;

	if (ib->ask->roots == NULL)
		return 0;
	roots = wf_arena_alloc(&ib->arena, MAX_ROOTS * sizeof(*roots), sizeof(*roots));
	if (roots == NULL)
		return -ENOMEM;
	for (const char *at = ib->ask->roots; *at != '\0';) {
		size_t n = strcspn(at, ",");
		uint64_t guid = find_root(ib->subnet, at, n);
		uint32_t id = guid == 0 ? WF_SUBNET_NONE : wf_subnet_find(ib->subnet, guid);

		if (id == WF_SUBNET_NONE || !wf_subnet_is_switch(ib->subnet, id))
			return wf_err_say(err,
			                  "--roots: '%.*s' is no switch of the subnet; name a GUID "
			                  "(0x2c90300a0b1c0) or a description",
			                  (int)(n < 40 ? n : 40), at);
		if (cfg->n_roots == MAX_ROOTS)
			return wf_err_say(err, "--roots: at most %d are taken", MAX_ROOTS);
		roots[cfg->n_roots++] = guid;
		at += n;
		at += *at == ',';
	}
	cfg->roots = roots;
	return 0;
}

int wf_ib_route(struct wf_ib *ib, const char *engine, struct wf_err *err)
{
	struct wf_sm_route_cfg cfg = { .vls = ib->ask->vls };
	int ret;

	if (ib->tables != NULL)
		return 0;
	ret = give_lids(ib, err);
	if (ret == 0)
		ret = take_roots(ib, &cfg, err);
	return ret != 0 ? ret
	                : wf_sm_route(ib->subnet, wf_sm_route_find(engine), &cfg, false,
	                              &ib->tables, err);
}

int wf_ib_as_topology(struct wf_ib *ib)
{
	struct wf_topo_cfg *cfg;
	struct wf_topo *topo;
	int ret;

	if (ib->text == NULL)
		return 0;
	cfg = wf_arena_alloc(&ib->arena, sizeof(*cfg), sizeof(void *));
	if (cfg == NULL)
		return -ENOMEM;
	ret = wf_param_defaults(wf_topo_params, wf_topo_n_params, cfg, &ib->no_topo);
	if (ret == 0)
		ret = wf_topo_find("ibnetdiscover")
		              ->build(cfg, ib->text, ib->len, ib->ask->file, &ib->arena.mem, &topo,
		                      &ib->no_topo);
	if (ret == 0)
		ib->topo = topo;
	return ret == -EINVAL ? 0 : ret;
}

void wf_ib_fini(struct wf_ib *ib)
{
	wf_arena_fini(&ib->arena);
}
