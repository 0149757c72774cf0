/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - from the list of what goes wrong to events of each fabric.
 */
#include "scenario/faults.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/rate.h"
#include "base/sort.h"
#include "scenario/device_names.h"
#include "scenario/scenario.h"
#include "text/suggest.h"

#define NOT_YET (-1)
#define FIELD(field) WF_PARAM_FIELD(struct times, field)

/* The times of an entry, and a rate. */
struct times {
	wf_time at, until, every, lasts, down, up;
	uint64_t rate;
};

static const struct wf_param time_params[] = {
	{ .name = "at",
	  .kind = WF_PARAM_TIME,
	  FIELD(at),
	  .has_auto = true,
	  .max = 1000000 * WF_S,
	  .def = "auto",
	  .help = "when it begins" },
	{ .name = "until",
	  .kind = WF_PARAM_TIME,
	  FIELD(until),
	  .has_auto = true,
	  .max = 1000000 * WF_S,
	  .def = "auto",
	  .help = "when it is over; auto: never" },
	{ .name = "every",
	  .kind = WF_PARAM_TIME,
	  FIELD(every),
	  .has_auto = true,
	  .min = 1,
	  .max = 1000 * WF_S,
	  .def = "auto",
	  .help = "flap: how often it goes down" },
	{ .name = "for",
	  .kind = WF_PARAM_TIME,
	  FIELD(lasts),
	  .has_auto = true,
	  .min = 1,
	  .max = 1000 * WF_S,
	  .def = "auto",
	  .help = "flap: for how long each time" },
	{ .name = "rate",
	  .kind = WF_PARAM_RATE,
	  FIELD(rate),
	  .has_auto = true,
	  .min = WF_RATE_MIN,
	  .max = WF_RATE_MAX,
	  .def = "auto",
	  .help = "slow-receiver: what the adapter takes in" },
	{ .name = "down",
	  .kind = WF_PARAM_TIME,
	  FIELD(down),
	  .has_auto = true,
	  .max = 1000000 * WF_S,
	  .def = "auto",
	  .help = "when the link goes down" },
	{ .name = "up",
	  .kind = WF_PARAM_TIME,
	  FIELD(up),
	  .has_auto = true,
	  .max = 1000000 * WF_S,
	  .def = "auto",
	  .help = "when it comes back; auto: never" },
};

static const char *const other_keys[] = { "link", "on", "fault", "set", NULL };

static const char *const words[] = {
	[WF_FAULT_DOWN] = "down",
	[WF_FAULT_FLAP] = "flap",
	[WF_FAULT_STORM] = "pause-storm",
	[WF_FAULT_SLOW] = "slow-receiver",
};

/* ---- reading ---- */

/* [leaf0, spine1] or [leaf0, spine1, 2] */
static int read_link(const struct wf_ynode *node, struct wf_scenario_fault *f, struct wf_err *err)
{
	static const struct wf_param row = {
		.kind = WF_PARAM_U32,
		.size = sizeof(uint32_t),
		.max = WF_TOPO_MAX_PORTS,
	};
	const struct wf_ynode *v = node->child;
	struct wf_err why = { "" };
	int i = 0;

	if (node->kind != WF_YNODE_SEQUENCE || node->n < 2 || node->n > 3)
		return wf_ynode_err(node, err,
		                    "link is %s; write the names of its two ends, e.g. "
		                    "[leaf0, spine1]",
		                    node->kind == WF_YNODE_SEQUENCE
		                            ? "not a pair"
		                            : wf_ynode_kind_name(node->kind));
	for (; i < 2; i++, v = v->next) {
		if (v->kind != WF_YNODE_SCALAR || strlen(v->text) >= sizeof(f->ends[i]))
			return wf_ynode_err(v, err,
			                    "this is not the name of a node; write one, "
			                    "e.g. leaf0");
		memcpy(f->ends[i], v->text, strlen(v->text) + 1);
	}
	if (v != NULL &&
	    (v->kind != WF_YNODE_SCALAR || wf_param_set(&row, &f->parallel, v->text, &why) != 0))
		return wf_ynode_err(v, err,
		                    "which of several links between the two is a number "
		                    "from 0; %s",
		                    why.text);
	return 0;
}

static bool is_set(wf_time at)
{
	return at != WF_PARAM_AUTO;
}

/* A time that counts from now. */
static wf_time from(wf_time now, wf_time at)
{
	return now != NOT_YET && is_set(at) ? now + at : at;
}

/* {link: [leaf0, spine1], down: 20us, up: 50us} */
static int read_link_fault(const struct wf_ynode *node, const struct wf_settings *settings,
                           const struct times *t, struct wf_scenario_fault *f, struct wf_err *err)
{
	const struct wf_ynode *link = wf_ynode_get(node, "link");
	struct wf_place place = wf_place_of(node);

	f->place = wf_place_of(link);
	if (is_set(t->at) || is_set(t->until) || is_set(t->every) || is_set(t->lasts) ||
	    wf_ynode_get(node, "fault") != NULL || wf_ynode_get(node, "set") != NULL)
		return wf_ynode_err(node, err,
		                    "link goes with down and up; with at, until, fault or "
		                    "set write on: leaf0-spine1");
	if (!is_set(t->down))
		return wf_ynode_err(node, err, "down is missing; write, e.g., down: 20us");
	if (t->up <= t->down) {
		place = wf_settings_place(settings, "up", &place);
		return wf_place_err(&place, err,
		                    "up: the link comes back before it goes down; "
		                    "write a later time");
	}
	f->kind = WF_FAULT_DOWN;
	f->at = t->down;
	f->until = t->up;
	return read_link(link, f, err);
}

static int read_word(const struct wf_ynode *node, struct wf_scenario_fault *f, struct wf_err *err)
{
	struct wf_suggest suggest;
	size_t i = 0;

	if (node->kind != WF_YNODE_SCALAR)
		return wf_ynode_err(node, err, "fault is %s; write a word, e.g. down",
		                    wf_ynode_kind_name(node->kind));
	while (i < WF_ARRAY_SIZE(words) && strcmp(words[i], node->text) != 0)
		i++;
	if (i < WF_ARRAY_SIZE(words)) {
		f->kind = (enum wf_scenario_fault_kind)i;
		return 0;
	}
	wf_suggest_init(&suggest, node->text);
	for (i = 0; i < WF_ARRAY_SIZE(words); i++)
		wf_suggest_offer(&suggest, words[i]);
	return wf_ynode_err(node, err, "there is no fault '%.40s'%s; settings are changed with set",
	                    node->text, wf_suggest_text(&suggest, "there are"));
}

/* That the times go together. */
static int check_times(const struct wf_ynode *node, const struct wf_settings *settings,
                       const struct times *t, const struct wf_scenario_fault *f, struct wf_err *err)
{
	struct wf_place place = wf_place_of(node);

	if (is_set(t->down) || is_set(t->up))
		return wf_ynode_err(node, err, "down and up go with link; write at and until");
	if (!is_set(t->at))
		return wf_ynode_err(node, err, "at is missing; write, e.g., at: 20us");
	if (t->until <= t->at) {
		place = wf_settings_place(settings, "until", &place);
		return wf_place_err(&place, err,
		                    "until: it is over before it begins; write a later "
		                    "time");
	}
	if (f->kind != WF_FAULT_SLOW && t->rate != (uint64_t)WF_PARAM_AUTO)
		return wf_ynode_err(node, err, "rate goes with fault: slow-receiver");
	if (f->kind == WF_FAULT_SLOW && t->rate == (uint64_t)WF_PARAM_AUTO)
		return wf_ynode_err(node, err,
		                    "a slow-receiver needs a rate; write, e.g., rate: 32Gbps");
	if (f->kind != WF_FAULT_FLAP && (is_set(t->every) || is_set(t->lasts)))
		return wf_ynode_err(node, err, "every and for go with fault: flap");
	if (f->kind == WF_FAULT_FLAP && (!is_set(t->every) || !is_set(t->lasts)))
		return wf_ynode_err(node, err,
		                    "a flap needs every and for; write, e.g., every: "
		                    "100us, for: 10us");
	if (f->kind == WF_FAULT_FLAP && t->lasts >= t->every) {
		place = wf_settings_place(settings, "for", &place);
		return wf_place_err(&place, err,
		                    "for: it would be down all the time; write less "
		                    "than every");
	}
	return 0;
}

/* {on: leaf0-spine1, at: 20us, fault: down}, or with set: a mapping */
static int read_named_fault(struct wf_scenario *s, const struct wf_ynode *node,
                            const struct wf_settings *settings, struct times *t, wf_time now,
                            struct wf_scenario_fault *f, struct wf_err *err)
{
	const struct wf_ynode *on = wf_ynode_get(node, "on");
	const struct wf_ynode *fault = wf_ynode_get(node, "fault"),
			      *set = wf_ynode_get(node, "set");
	int rc = 0;

	if (on->kind != WF_YNODE_SCALAR)
		return wf_ynode_err(on, err, "on is %s; write one name, e.g. leaf0-spine1",
		                    wf_ynode_kind_name(on->kind));
	if ((fault != NULL) == (set != NULL))
		return wf_ynode_err(node, err,
		                    "write what goes wrong: fault (down, flap, "
		                    "pause-storm, slow-receiver) or set, one of them");
	f->place = wf_place_of(on);
	f->on = on->text;
	f->kind = WF_FAULT_SET;
	if (fault != NULL)
		rc = read_word(fault, f, err);
	if (now != NOT_YET && !is_set(t->at))
		t->at = 0;
	if (rc == 0)
		rc = check_times(node, settings, t, f, err);
	if (rc != 0)
		return rc;
	f->at = from(now, t->at);
	f->until = from(now, t->until);
	f->every = t->every;
	f->lasts = t->lasts;
	f->rate = t->rate;
	f->rule = s->n_rules;
	return set == NULL ? 0 : wf_devices_read_fault(s, set, f, err);
}

/* now: the fabric's time, from which the entry's count; NOT_YET: it does not run. */
static int read_fault(struct wf_scenario *s, const struct wf_ynode *node, int fabric, wf_time now,
                      struct wf_err *err)
{
	struct wf_scenario_fault *f = &s->faults[s->n_faults++];
	struct times times = { 0 };
	struct wf_settings settings;
	int rc = wf_settings_init(&settings, "fault", time_params, WF_ARRAY_SIZE(time_params),
	                          &times, &s->arena, err);

	if (rc == 0)
		rc = wf_settings_apply(&settings, node, other_keys, err);
	f->fabric = fabric;
	if (rc != 0)
		return rc;
	if (wf_ynode_get(node, "link") != NULL)
		return read_link_fault(node, &settings, &times, f, err);
	if (wf_ynode_get(node, "on") != NULL)
		return read_named_fault(s, node, &settings, &times, now, f, err);
	return wf_ynode_err(
		node, err,
		"on is missing; write, e.g., on: leaf0-spine1 (or link: [leaf0, spine1])");
}

int wf_faults_read(struct wf_scenario *s, const struct wf_ynode *node, int fabric,
                   struct wf_err *err)
{
	int rc = 0;

	if (node->kind != WF_YNODE_SEQUENCE)
		return wf_ynode_err(node, err,
		                    "faults is %s; write a list, e.g. [{on: leaf0-spine1, "
		                    "at: 20us, fault: down}]",
		                    wf_ynode_kind_name(node->kind));
	if (node->n > WF_SCENARIO_MAX_FAULTS - s->n_faults)
		return wf_ynode_err(node, err, "faults has %u entries; at most %d are allowed",
		                    node->n, WF_SCENARIO_MAX_FAULTS);
	for (const struct wf_ynode *v = node->child; rc == 0 && v != NULL; v = v->next)
		rc = read_fault(s, v, fabric, NOT_YET, err);
	return rc;
}

int wf_faults_read_one(struct wf_scenario *s, const struct wf_ynode *node, wf_time now,
                       struct wf_err *err)
{
	if (node->kind != WF_YNODE_MAPPING || wf_ynode_get(node, "link") != NULL)
		return wf_ynode_err(node, err,
		                    "write what it happens to and what, e.g. {on: leaf0-spine1, "
		                    "fault: down}");
	if (s->n_faults == WF_SCENARIO_MAX_FAULTS)
		return wf_ynode_err(node, err, "there are %d faults already; clear them",
		                    WF_SCENARIO_MAX_FAULTS);
	return read_fault(s, node, -1, now, err);
}

/* ---- events ---- */

int wf_faults_add(struct wf_scenario *s, struct wf_scenario_fabric *f,
                  const struct wf_sim_fault *event, const struct wf_place *place,
                  struct wf_err *err)
{
	if (f->n_events == WF_SCENARIO_MAX_EVENTS)
		return wf_place_err(
			place, err,
			"with this there are more than %d events; write fewer faults, or a "
			"flap that is rarer or ends sooner",
			WF_SCENARIO_MAX_EVENTS);
	if (f->n_events == f->events_room) {
		size_t room = f->events_room == 0 ? 64 : 2 * f->events_room;
		struct wf_sim_fault *more = wf_arena_alloc(&s->arena, room * sizeof(*more), 64);

		if (more == NULL)
			return -ENOMEM;
		if (f->n_events > 0)
			memcpy(more, f->events, f->n_events * sizeof(*more));
		f->events = more;
		f->events_room = room;
	}
	f->events[f->n_events++] = *event;
	return 0;
}

/* While the events of one fault are made. */
struct build {
	struct wf_scenario *s;
	struct wf_scenario_fabric *f;
	const struct wf_scenario_fault *fault;
	const struct wf_topo *topo;
	wf_time every; /* the events happen again and again; 0: once */
	struct wf_err *err;
	int rc;
};

/* Something begins at at and is over at until, if that is a time. */
static void add_span(struct build *b, enum wf_sim_fault_kind kind, uint32_t what, wf_time at,
                     wf_time until)
{
	struct wf_sim_fault event = {
		.at = at,
		.every = b->every,
		.kind = kind,
		.on = true,
		.what = what,
		.rate = b->fault->rate,
	};

	if (b->rc == 0)
		b->rc = wf_faults_add(b->s, b->f, &event, &b->fault->place, b->err);
	event.at = until;
	event.on = false;
	if (b->rc == 0 && is_set(until))
		b->rc = wf_faults_add(b->s, b->f, &event, &b->fault->place, b->err);
}

static void add_link(struct build *b, uint32_t link)
{
	const struct wf_scenario_fault *f = b->fault;
	wf_time end = wf_min_time(f->until, b->s->cfg.until);

	if (f->kind == WF_FAULT_DOWN)
		add_span(b, WF_SIM_FAULT_LINK, link, f->at, f->until);
	if (f->kind == WF_FAULT_FLAP && b->s->endless && !is_set(f->until)) {
		b->every = f->every;
		add_span(b, WF_SIM_FAULT_LINK, link, f->at, f->at + f->lasts);
		return;
	}
	if (b->s->endless)
		end = f->until;
	for (wf_time at = f->at; f->kind == WF_FAULT_FLAP && at < end && b->rc == 0; at += f->every)
		add_span(b, WF_SIM_FAULT_LINK, link, at, wf_min_time(at + f->lasts, f->until));
}

static const struct wf_topo_port *port_at(const struct build *b, uint32_t node, uint32_t port)
{
	return &b->topo->ports[b->topo->nodes[node].first_port + port];
}

/* All links of a device, the link of a port, or a link, which is named by both its ends. */
static void add_links(void *arg, uint32_t id, uint32_t port)
{
	struct build *b = arg;
	const struct wf_topo_node *node = &b->topo->nodes[id];

	for (uint32_t i = 0; port == WF_TOPO_NONE && i < node->n_ports; i++)
		add_link(b, port_at(b, id, i)->link);
	if (port != WF_TOPO_NONE)
		add_link(b, port_at(b, id, port)->link);
}

static void add_link_once(void *arg, uint32_t id, uint32_t port)
{
	struct build *b = arg;
	const struct wf_topo_link *l = &b->topo->links[port_at(b, id, port)->link];

	if (l->a == id && l->a_port == port)
		add_link(b, port_at(b, id, port)->link);
}

static void add_host(void *arg, uint32_t id, uint32_t port)
{
	struct build *b = arg;
	const struct wf_topo_node *node = &b->topo->nodes[id];

	if (b->rc != 0)
		return;
	if (port != WF_TOPO_NONE || node->kind != WF_TOPO_HOST) {
		b->rc = wf_place_err(&b->fault->place, b->err,
		                     "%s: %s is no host; adapters do that, e.g. %s",
		                     words[b->fault->kind], b->fault->on,
		                     b->topo->nodes[b->topo->host_node[0]].name);
		return;
	}
	add_span(b, b->fault->kind == WF_FAULT_STORM ? WF_SIM_FAULT_STORM : WF_SIM_FAULT_SLOW,
	         node->host, b->fault->at, b->fault->until);
}

static void look_only(void *arg, uint32_t id, uint32_t port)
{
	(void)arg;
	(void)id;
	(void)port;
}

/* " of roce-400g", where the networks differ. */
static const char *of_fabric(const struct build *b, char text[160])
{
	snprintf(text, 160, " of %s", b->f->label);
	return b->s->n_nets == 1 ? "" : text;
}

/* Adapters do it, not links. */
static bool is_of_hosts(const struct wf_scenario_fault *f)
{
	return f->kind == WF_FAULT_STORM || f->kind == WF_FAULT_SLOW;
}

static void add_named(struct build *b)
{
	struct wf_err why = { "" };
	enum wf_named named = wf_named_each(b->topo, b->fault->on, look_only, NULL, &why);
	char of[160];

	if (named == WF_NAMED_NOTHING) {
		b->rc = wf_place_err(&b->fault->place, b->err, "%s%s", why.text, of_fabric(b, of));
		return;
	}
	(void)wf_named_each(b->topo, b->fault->on,
	                    is_of_hosts(b->fault)     ? add_host
	                    : named == WF_NAMED_LINKS ? add_link_once
	                                              : add_links,
	                    b, &why);
}

static int no_node(const struct build *b, const char *name)
{
	struct wf_suggest suggest;
	char of[160];

	wf_suggest_init(&suggest, name);
	for (uint32_t i = 0; i < b->topo->n_nodes; i++)
		wf_suggest_offer(&suggest, b->topo->nodes[i].name);
	return wf_place_err(&b->fault->place, b->err, "link: the topology%s has no node '%s'%s",
	                    of_fabric(b, of), name, wf_suggest_text(&suggest, "the nodes are"));
}

/* The f->parallel-th link between two nodes. */
static int find_link(const struct build *b, uint32_t *link_p)
{
	const struct wf_scenario_fault *f = b->fault;
	const struct wf_topo *topo = b->topo;
	uint32_t ends[2], found = 0;
	const struct wf_topo_node *node;
	char of[160];

	for (int i = 0; i < 2; i++) {
		ends[i] = wf_topo_node_by_name(topo, f->ends[i]);
		if (ends[i] == WF_TOPO_NONE)
			return no_node(b, f->ends[i]);
	}
	node = &topo->nodes[ends[0]];
	for (uint32_t i = 0; i < node->n_ports; i++) {
		const struct wf_topo_port *port = &topo->ports[node->first_port + i];

		if (port->peer == ends[1] && found++ == f->parallel) {
			*link_p = port->link;
			return 0;
		}
	}
	if (found > 0)
		return wf_place_err(
			&f->place, b->err,
			"link: there are only %u links between %s and %s%s; write 0 to %u",
			(unsigned)found, f->ends[0], f->ends[1], of_fabric(b, of),
			(unsigned)found - 1);
	return wf_place_err(&f->place, b->err,
	                    "link: there is no link between %s and %s%s; %s is linked to %s%s",
	                    f->ends[0], f->ends[1], of_fabric(b, of), f->ends[0],
	                    topo->nodes[topo->ports[node->first_port].peer].name,
	                    node->n_ports > 1 ? " and others" : "");
}

static void build_fault(struct build *b)
{
	uint32_t link = 0;

	if (b->fault->kind == WF_FAULT_SET)
		return; /* its events are made with the devices' variants */
	if (b->fault->on != NULL)
		add_named(b);
	else
		b->rc = find_link(b, &link);
	if (b->fault->on == NULL && b->rc == 0)
		add_link(b, link);
}

int wf_faults_build(struct wf_scenario *s, struct wf_scenario_fabric *f, struct wf_err *err)
{
	struct build b = { .s = s, .f = f, .topo = f->net->topo, .err = err };

	for (unsigned i = 0; i < s->n_faults && b.rc == 0; i++) {
		b.fault = &s->faults[i];
		if (b.fault->fabric < 0 || f == &s->fabrics[b.fault->fabric])
			build_fault(&b);
	}
	return b.rc;
}

int wf_faults_build_last(struct wf_scenario *s, struct wf_scenario_fabric *f, struct wf_err *err)
{
	struct build b = { .s = s, .f = f, .topo = f->net->topo, .err = err };

	assert(s->n_faults > 0);
	b.fault = &s->faults[s->n_faults - 1];
	build_fault(&b);
	return b.rc;
}

/* ---- telling ---- */

const char *wf_fault_word(enum wf_scenario_fault_kind kind)
{
	return kind == WF_FAULT_SET ? "set" : words[kind];
}
