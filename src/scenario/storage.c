/* SPDX-License-Identifier: Apache-2.0 */
/* storage.c - from a scenario's list of storage to entries whose hosts are known. */
#include "scenario/storage.h"

#include <errno.h>
#include <string.h>

#include "scenario/device_names.h"
#include "scenario/scenario.h"

int wf_scenario_storage_read(struct wf_scenario *s, const struct wf_ynode *node, struct wf_err *err)
{
	int rc = 0;

	if (node->kind != WF_YNODE_SEQUENCE || node->n == 0)
		return wf_ynode_err(
			node, err,
			"storage is %s; write a list of mappings, e.g. "
			"[{targets: h7, kind: random, block: 4KiB}]",
			node->kind == WF_YNODE_SEQUENCE ? "empty" : wf_ynode_kind_name(node->kind));
	if (node->n > WF_SCENARIO_MAX_STORAGE)
		return wf_ynode_err(node, err, "storage has %u entries; at most %d are allowed",
		                    node->n, WF_SCENARIO_MAX_STORAGE);
	s->storage = wf_arena_alloc(&s->arena, node->n * sizeof(*s->storage), WF_CACHE_LINE);
	if (s->storage == NULL)
		return -ENOMEM;
	for (const struct wf_ynode *v = node->child; rc == 0 && v != NULL; v = v->next) {
		struct wf_scenario_storage *t = &s->storage[s->n_storage++];

		t->place = wf_place_of(v);
		rc = wf_settings_init(&t->settings, "storage", wf_storage_params,
		                      wf_storage_n_params, &t->cfg, &s->arena, err);
		if (rc == 0)
			rc = wf_settings_apply(&t->settings, v, NULL, err);
	}
	return rc;
}

static int check_class(const struct wf_scenario *s, const struct wf_scenario_storage *t,
                       struct wf_err *err)
{
	struct wf_place place = wf_settings_place(&t->settings, "class", &t->place);

	for (unsigned i = 0; i < s->n_fabrics && t->cfg.cls > 7; i++) {
		if (strcmp(s->fabrics[i].cfg.link_layer, "ethernet") == 0)
			return wf_place_err(
				&place, err,
				"class: Ethernet (fabric %s) has no priority %u; write 0 to 7",
				s->fabrics[i].label, (unsigned)t->cfg.cls);
	}
	return 0;
}

int wf_scenario_storage_check(struct wf_scenario *s, struct wf_err *err)
{
	int rc = 0;

	for (unsigned i = 0; i < s->n_storage && rc == 0; i++) {
		struct wf_scenario_storage *t = &s->storage[i];
		struct wf_err why = { "" };

		if (wf_storage_check(&t->cfg, &why) != 0)
			return wf_settings_err(&t->settings, &t->place, &why, err);
		rc = check_class(s, t, err);
	}
	return rc;
}

/* ---- names ---- */

/* The hosts that a list of names means. */
struct marks {
	const struct wf_topo *topo;
	uint8_t *host;  /* of each: 1 is meant */
	uint32_t other; /* a node that is none, or WF_TOPO_NONE */
};

static void mark(void *arg, uint32_t node, uint32_t port)
{
	struct marks *m = arg;
	uint32_t host = m->topo->nodes[node].host;

	if (port != WF_TOPO_NONE || host == WF_TOPO_NONE)
		m->other = node;
	else
		m->host[host] = 1;
}

/* Marks what one of the names means, which is len bytes of text. */
static int mark_name(struct marks *m, const char *row, const char *text, size_t len,
                     struct wf_err *why)
{
	char name[WF_STORAGE_HOSTS_TEXT];
	struct wf_err nothing = { "" };

	memcpy(name, text, len);
	name[len] = '\0';
	m->other = WF_TOPO_NONE;
	switch (wf_named_each(m->topo, name, mark, m, &nothing)) {
	case WF_NAMED_DEVICES:
		break;
	case WF_NAMED_NOTHING:
		return wf_err_say(why, "%s: %.400s", row, nothing.text);
	case WF_NAMED_PORTS:
	case WF_NAMED_LINKS:
		return wf_err_say(why, "%s: %.60s: that is no host; write hosts, e.g. %s", row,
		                  name, m->topo->nodes[m->topo->host_node[0]].name);
	}
	if (m->other == WF_TOPO_NONE)
		return 0;
	return wf_err_say(why, "%s: %.60s means %s, which is no host; write hosts, e.g. %s", row,
	                  name, m->topo->nodes[m->other].name,
	                  m->topo->nodes[m->topo->host_node[0]].name);
}

static int mark_names(struct marks *m, const char *row, const char *text, struct wf_err *why)
{
	int rc = 0;

	while (rc == 0 && *text != '\0') {
		size_t len = strcspn(text, ","), blanks = strspn(text, " "), end = len;

		while (end > blanks && text[end - 1] == ' ')
			end--;
		rc = mark_name(m, row, text + wf_min_u64(blanks, end),
		               end - wf_min_u64(blanks, end), why);
		text += len + (text[len] == ',');
	}
	return rc;
}

/* The marked hosts as a list in the scenario's memory. */
static int keep(struct wf_scenario *s, const uint8_t *marked, const uint32_t **list_p,
                uint32_t *n_p)
{
	uint32_t *list = wf_arena_alloc(&s->arena, s->n_hosts * sizeof(*list), WF_CACHE_LINE);

	if (list == NULL)
		return -ENOMEM;
	*n_p = 0;
	for (uint32_t i = 0; i < s->n_hosts; i++) {
		if (marked[i])
			list[(*n_p)++] = i;
	}
	*list_p = list;
	return 0;
}

/* marks: room for a mark of every host, twice. */
static int find_hosts(struct wf_scenario *s, const struct wf_storage_cfg *cfg, uint8_t *marks,
                      struct wf_storage_entry *e, struct wf_err *why)
{
	const struct wf_topo *topo = s->nets[0].topo;
	struct marks targets = { .topo = topo, .host = marks };
	struct marks hosts = { .topo = topo, .host = marks + s->n_hosts };
	int rc;

	memset(marks, 0, 2 * (size_t)s->n_hosts);
	rc = mark_names(&targets, "targets", cfg->targets, why);
	if (rc == 0)
		rc = mark_names(&hosts, "hosts", cfg->hosts, why);
	for (uint32_t i = 0; i < s->n_hosts && rc == 0; i++) {
		if (cfg->hosts[0] == '\0')
			hosts.host[i] = !targets.host[i];
		else if (hosts.host[i] && targets.host[i])
			rc = wf_err_say(why,
			                "hosts: %s is among the targets, too, and needs no fabric "
			                "for its own drives; leave it out of one of them",
			                topo->nodes[topo->host_node[i]].name);
	}
	if (rc == 0)
		rc = keep(s, targets.host, &e->targets, &e->n_targets);
	if (rc == 0)
		rc = keep(s, hosts.host, &e->hosts, &e->n_hosts);
	if (rc == 0 && e->n_hosts == 0)
		return wf_err_say(why,
		                  "targets: all %u hosts are, and nobody uses them; write "
		                  "fewer",
		                  (unsigned)s->n_hosts);
	return rc;
}

/* total: of all entries before it; becomes that of all with it. */
static int check_commands(const struct wf_storage_entry *e, uint64_t *total, struct wf_err *why)
{
	uint64_t commands = wf_storage_commands(e);

	*total += commands;
	if (*total <= WF_STORAGE_MAX_COMMANDS)
		return 0;
	return wf_err_say(why,
	                  "depth: with %llu more of this entry %llu I/Os may be under way at a "
	                  "time; write less depth, or fewer queues, hosts or targets, for at most "
	                  "%u",
	                  (unsigned long long)commands, (unsigned long long)*total,
	                  WF_STORAGE_MAX_COMMANDS);
}

int wf_scenario_storage_build(struct wf_scenario *s, struct wf_err *err)
{
	struct wf_mem *heap = wf_mem_heap();
	struct wf_storage_entry *list;
	uint64_t commands = 0;
	uint8_t *marks;
	int rc = 0;

	if (s->n_storage == 0)
		return 0;
	list = wf_arena_alloc(&s->arena, s->n_storage * sizeof(*list), WF_CACHE_LINE);
	marks = heap->alloc(heap, 2 * (size_t)s->n_hosts);
	if (list == NULL || marks == NULL)
		rc = -ENOMEM;
	for (unsigned i = 0; i < s->n_storage && rc == 0; i++) {
		const struct wf_scenario_storage *t = &s->storage[i];
		struct wf_err why = { "" };

		list[i].cfg = t->cfg;
		rc = find_hosts(s, &t->cfg, marks, &list[i], &why);
		if (rc == 0)
			rc = check_commands(&list[i], &commands, &why);
		if (rc == -EINVAL)
			wf_settings_err(&t->settings, &t->place, &why, err);
	}
	s->storage_entries = list;
	heap->free(heap, marks);
	return rc;
}
