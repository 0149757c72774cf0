/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_load.c - reads the files that a scenario's values name.
 */
#include "scenario/scenario_priv.h"

#include <errno.h>
#include <string.h>

#include "text/suggest.h"

/* The path of a file that the scenario names, as seen from the scenario. */
static int path_of(const struct wf_scenario *s, const char *name, const struct wf_place *place,
                   char out[WF_PATH_MAX], struct wf_err *err)
{
	/* A name on the command line is seen from here, not from the scenario. */
	const char *from = place->line != 0 ? s->file : "";

	if (wf_file_beside(from, name, out) != 0)
		return wf_place_err(place, err, "the name of the file is too long");
	if (!wf_file_exists(out))
		return wf_place_err(place, err, "there is no file %s", out);
	return 0;
}

static int read_topology(struct wf_scenario *s, struct wf_err *err)
{
	struct wf_place place = wf_settings_place(&s->topo_settings, "file", &s->topo_place);
	struct wf_place kind = wf_settings_place(&s->topo_settings, "kind", &s->topo_place);
	const struct wf_topo_ops *ops = wf_topo_find(s->topo_cfg.kind);
	const char *name = s->topo_cfg.file;
	char path[WF_PATH_MAX], *text = NULL;
	int rc;

	if (ops == NULL || !ops->reads_file)
		return 0;
	if (name[0] == '\0')
		return wf_place_err(&kind, err,
		                    "kind: %s is read from a file; write, "
		                    "e.g., file: topology.txt",
		                    ops->name);
	rc = path_of(s, name, &place, path, err);
	if (rc == 0)
		rc = wf_infiles_read(s->inputs, "topology", name, path, WF_FILE_MAX, &s->arena.mem,
		                     &text, &s->topo_len, err);
	if (rc != 0)
		return rc;
	s->topo_text = text;
	s->topo_file = wf_arena_strdup(&s->arena, path, strlen(path));
	return s->topo_file == NULL ? -ENOMEM : 0;
}

/* Reads the distribution that sizes names: first by name, then as a file. */
static int read_sizes(struct wf_scenario *s, struct wf_scenario_traffic *t,
                      const struct wf_paths *paths, struct wf_err *err)
{
	struct wf_place place = wf_settings_place(&t->settings, "sizes", &t->place);
	struct wf_mem *heap = wf_mem_heap();
	const char *name = t->cfg.sizes;
	char path[WF_PATH_MAX];
	char *text = NULL;
	size_t len = 0;
	int rc;

	if (strpbrk(name, "/.") != NULL) {
		rc = path_of(s, name, &place, path, err);
		if (rc != 0)
			return rc;
	} else if (wf_paths_find(paths, "sizes/", name, ".txt", path) != 0) {
		const char *const *names;
		struct wf_suggest suggest;
		size_t n;

		rc = wf_paths_list(paths, "sizes", ".txt", &s->arena, &names, &n);
		if (rc != 0)
			return rc;
		wf_suggest_init(&suggest, name);
		for (size_t i = 0; i < n; i++)
			wf_suggest_offer(&suggest, names[i]);
		return wf_place_err(&place, err, "sizes: there is no distribution '%.60s'%s", name,
		                    wf_suggest_text(&suggest, "there are"));
	}
	rc = wf_infiles_read(s->inputs, "sizes", name, path, WF_FILE_MAX, heap, &text, &len, err);
	if (rc != 0)
		return rc;
	rc = wf_cdf_parse(text, len, path, &t->cfg.cdf, err);
	heap->free(heap, text);
	return rc;
}

/* Reads the partitions of a fabric that is managed. */
static int read_partitions(struct wf_scenario *s, struct wf_scenario_fabric *f, struct wf_err *err)
{
	struct wf_manage_cfg *manage = &f->values.manage;
	struct wf_place place = wf_settings_place(&f->settings, "sm.partitions", &f->place);
	char path[WF_PATH_MAX], *text = NULL;
	size_t len;
	int rc;

	if (manage->partitions[0] == '\0')
		return 0;
	rc = path_of(s, manage->partitions, &place, path, err);
	if (rc == 0)
		rc = wf_infiles_read(s->inputs, "partitions", manage->partitions, path, WF_FILE_MAX,
		                     &s->arena.mem, &text, &len, err);
	if (rc != 0)
		return rc;
	manage->sm.partitions = text;
	manage->sm.partitions_name = wf_arena_strdup(&s->arena, path, strlen(path));
	return manage->sm.partitions_name == NULL ? -ENOMEM : 0;
}

int wf_scenario_load(struct wf_scenario *s, const struct wf_paths *paths, struct wf_err *err)
{
	int rc = read_topology(s, err);

	for (unsigned i = 0; rc == 0 && i < s->n_fabrics; i++) {
		s->inputs->fabric = (int)i;
		rc = wf_bill_read(s, &s->fabrics[i], paths, err);
		if (rc == 0)
			rc = read_partitions(s, &s->fabrics[i], err);
	}
	s->inputs->fabric = WF_INFILE_OF_ALL;
	for (unsigned i = 0; rc == 0 && i < s->n_traffic; i++) {
		if (s->traffic[i].cfg.sizes[0] != '\0')
			rc = read_sizes(s, &s->traffic[i], paths, err);
	}
	return rc;
}
