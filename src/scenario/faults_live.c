/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults_live.c - entries of faults for a fabric that runs.
 */
#include "scenario/faults_live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scenario/device_names.h"

/* An entry: its memory, in which it lies itself, and what there was before it. */
struct wf_faults_entry {
	struct wf_faults_entry *next;
	struct wf_arena arena, before;
	unsigned n_rules, n_faults;
	struct wf_device_table devices;
	struct wf_classes classes;
};

void wf_faults_live_init(struct wf_faults_live *live, struct wf_scenario *s,
                         struct wf_scenario_fabric *f)
{
	*live = (struct wf_faults_live){ .s = s, .f = f, .devices = f->devices };
}

/* Takes the last entry back, with all that came of it. */
static void pop(struct wf_faults_live *live)
{
	struct wf_faults_entry was = *live->entries;

	live->s->n_rules = was.n_rules;
	live->s->n_faults = was.n_faults;
	live->f->devices = was.devices;
	live->f->classes = was.classes;
	live->f->events = NULL;
	live->f->n_events = live->f->events_room = 0;
	live->entries = was.next;
	wf_arena_fini(&was.arena);
}

void wf_faults_live_fini(struct wf_faults_live *live)
{
	while (live->entries != NULL)
		pop(live);
}

/*
 * Begins an entry: until end(), what is read and found for the fabric is in its memory. Returns 0
 * or
 * -ENOMEM.
 */
static int begin(struct wf_faults_live *live)
{
	struct wf_scenario *s = live->s;
	struct wf_scenario_fabric *f = live->f;
	struct wf_faults_entry *entry;
	struct wf_arena arena;

	wf_arena_init(&arena);
	entry = wf_arena_alloc(&arena, sizeof(*entry), _Alignof(struct wf_faults_entry));
	if (entry == NULL)
		return -ENOMEM;
	*entry = (struct wf_faults_entry){
		.next = live->entries,
		.before = s->arena,
		.n_rules = s->n_rules,
		.n_faults = s->n_faults,
		.devices = f->devices,
		.classes = f->classes,
	};
	live->entries = entry;
	s->arena = arena;
	f->events = NULL;
	f->n_events = f->events_room = 0;
	return 0;
}

/* Keeps the entry, or takes it back where rc is an error. Returns rc. */
static int end(struct wf_faults_live *live, int rc)
{
	struct wf_faults_entry *entry = live->entries;

	entry->arena = live->s->arena;
	live->s->arena = entry->before;
	if (rc != 0)
		pop(live);
	return rc;
}

/* Finds all that devices will be set to; what is over already is left out. */
static int find_settings(struct wf_faults_live *live, wf_time now, struct wf_gated_change *change,
                         struct wf_err *err)
{
	struct wf_scenario_fabric *f = live->f;
	unsigned before = f->devices.devices.n;
	int rc = wf_devices_build(live->s, f, err);
	size_t n = 0;

	for (size_t i = 0; i < f->n_events && rc == 0; i++) {
		if (f->events[i].at >= now)
			f->events[n++] = f->events[i];
	}
	f->n_events = n;
	change->settings = true;
	if (f->devices.devices.n > before)
		change->devices = &f->devices.devices;
	return rc;
}

static int apply(const struct wf_faults_live *live, struct wf_sim *sim,
                 struct wf_gated_change *change, struct wf_err *err)
{
	change->faults = live->f->events;
	change->n = live->f->n_events;
	return wf_gated_change(sim, change, err);
}

int wf_faults_live_add(struct wf_faults_live *live, struct wf_sim *sim, const char *text,
                       const char *name, struct wf_err *err)
{
	struct wf_scenario *s = live->s;
	struct wf_gated_change change = { .settings = false };
	struct wf_ynode *root = NULL;
	wf_time now = wf_sim_now(sim);
	unsigned n_rules = s->n_rules;
	int rc = begin(live);

	if (rc != 0)
		return rc;
	rc = wf_yaml_parse(text, strlen(text), name, &s->arena, &root, err);
	if (rc == 0)
		rc = wf_faults_read_one(s, root, now, err);
	if (rc == 0 && s->n_rules != n_rules)
		rc = find_settings(live, now, &change, err);
	if (rc == 0)
		rc = wf_faults_build_last(s, live->f, err);
	if (rc == 0)
		rc = apply(live, sim, &change, err);
	return end(live, rc);
}

/* ---- mending ---- */

/* Has something that lasts from at to *until be over now. */
static void cut(wf_time at, wf_time *until, wf_time now)
{
	wf_time over = wf_max_time(at, now);

	if (*until == WF_PARAM_AUTO || *until > over)
		*until = over;
}

/* Ends the entries for on, NULL: all. Returns whether one of them was a setting. */
static bool cut_entries(struct wf_scenario *s, const char *on, wf_time now)
{
	bool set = false;

	for (unsigned i = 0; i < s->n_faults; i++) {
		struct wf_scenario_fault *f = &s->faults[i];

		if (on != NULL && (f->on == NULL || strcmp(f->on, on) != 0))
			continue;
		cut(f->at, &f->until, now);
		if (f->kind != WF_FAULT_SET)
			continue;
		cut(f->at, &s->rules[f->rule]->until, now);
		set = true;
	}
	return set;
}

struct mend {
	const struct wf_topo *topo;
	struct wf_sim *sim;
	int rc;
};

static void mend(void *arg, uint32_t id, uint32_t port)
{
	struct mend *m = arg;
	const struct wf_topo_node *node = &m->topo->nodes[id];

	for (uint32_t i = 0; i < node->n_ports && m->rc == 0; i++) {
		if (port == WF_TOPO_NONE || port == i)
			m->rc = wf_gated_mend_link(m->sim,
			                           m->topo->ports[node->first_port + i].link);
	}
	if (port == WF_TOPO_NONE && node->kind == WF_TOPO_HOST)
		wf_gated_mend_host(m->sim, node->host);
}

/* All is as it was; entries that were added are forgotten. */
static int clear_all(struct wf_faults_live *live, struct wf_sim *sim)
{
	int rc = wf_gated_clear(sim, wf_devices_of(&live->devices));

	while (live->entries != NULL)
		pop(live);
	(void)cut_entries(live->s, NULL, 0);
	return rc;
}

int wf_faults_live_clear(struct wf_faults_live *live, struct wf_sim *sim, const char *on,
                         struct wf_err *err)
{
	struct mend m = { .topo = live->f->net->topo, .sim = sim };
	struct wf_gated_change change = { .settings = false };
	wf_time now = wf_sim_now(sim);
	int rc;

	if (on[0] == '\0')
		return clear_all(live, sim);
	if (wf_named_each(m.topo, on, mend, &m, err) == WF_NAMED_NOTHING)
		return -EINVAL;
	if (m.rc != 0 || !cut_entries(live->s, on, now))
		return m.rc;
	rc = begin(live);
	if (rc != 0)
		return rc;
	rc = find_settings(live, now, &change, err);
	if (rc == 0)
		rc = apply(live, sim, &change, err);
	return end(live, rc);
}

/* ---- telling ---- */

/* "ecn.kmin=1MB, ecn.kmax=2MB", as much as fits. */
static void put_settings(const struct wf_device_rule *rule, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < rule->settings.n && used < size; i++) {
		char value[WF_HEADROOM_TEXT];

		if (rule->settings.place[i].file == NULL)
			continue;
		wf_param_format(&rule->settings.table[i], &rule->values, value, sizeof(value));
		used += (size_t)snprintf(text + used, size - used, "%s%s=%s", used > 0 ? ", " : "",
		                         rule->settings.table[i].name, value);
	}
}

/* "rate=32Gbps" */
static void put_rate(uint64_t rate, char *text, size_t size)
{
	const uint64_t giga = 1000000000, mega = 1000000;
	bool whole = rate % giga == 0;

	if (rate % mega == 0)
		snprintf(text, size, "rate=%llu%s",
		         (unsigned long long)(rate / (whole ? giga : mega)),
		         whole ? "Gbps" : "Mbps");
	else
		snprintf(text, size, "rate=%llubps", (unsigned long long)rate);
}

bool wf_faults_live_line(const struct wf_faults_live *live, unsigned i, wf_time now,
                         struct wf_faults_line *line)
{
	const struct wf_scenario *s = live->s;
	const struct wf_scenario_fault *f = NULL;

	for (unsigned k = 0; k < s->n_faults; k++) {
		if (s->faults[k].until != WF_PARAM_AUTO &&
		    s->faults[k].until <= wf_max_time(now, s->faults[k].at))
			continue;
		if (i-- == 0) {
			f = &s->faults[k];
			break;
		}
	}
	if (f == NULL)
		return false;
	*line = (struct wf_faults_line){
		.on = f->on,
		.ends = { f->on == NULL ? f->ends[0] : NULL, f->on == NULL ? f->ends[1] : NULL },
		.word = wf_fault_word(f->kind),
		.at = f->at,
		.until = f->until,
		.every = f->every,
		.lasts = f->lasts,
	};
	if (f->kind == WF_FAULT_SET)
		put_settings(s->rules[f->rule], line->settings, sizeof(line->settings));
	if (f->kind == WF_FAULT_SLOW)
		put_rate(f->rate, line->settings, sizeof(line->settings));
	return true;
}
