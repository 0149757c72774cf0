/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.c - from rules to what each device and port has.
 */
#include "scenario/devices.h"

#include <errno.h>
#include <string.h>

#include "scenario/device_names.h"
#include "scenario/scenario.h"

/* ---- sets of rules ---- */

static void set_add(struct wf_rule_set *s, unsigned i)
{
	s->bit[i / 64] |= UINT64_C(1) << (i % 64);
}

static bool set_has(const struct wf_rule_set *s, unsigned i)
{
	return s->bit[i / 64] >> (i % 64) & 1;
}

static bool set_same(const struct wf_rule_set *a, const struct wf_rule_set *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static struct wf_rule_set set_both(const struct wf_rule_set *a, const struct wf_rule_set *b)
{
	struct wf_rule_set both;

	for (size_t i = 0; i < WF_ARRAY_SIZE(both.bit); i++)
		both.bit[i] = a->bit[i] & b->bit[i];
	return both;
}

static bool set_empty(const struct wf_rule_set *s)
{
	const struct wf_rule_set none = { { 0 } };

	return set_same(s, &none);
}

/* ---- reading ---- */

/* Rows of the whole fabric cannot differ, and why. */
static int check_rows(const struct wf_device_rule *rule, struct wf_err *err)
{
	const struct wf_settings *s = &rule->settings;

	for (size_t i = 0; i < s->n; i++) {
		if (s->place[i].file == NULL)
			continue;
		if (s->table[i].per == 0)
			return wf_place_err(&s->place[i], err,
			                    "%s is the same for all devices of a fabric; write it "
			                    "under fabric",
			                    s->table[i].name);
		if (rule->timed && (s->table[i].per & WF_PER_TIME) == 0)
			return wf_place_err(
				&s->place[i], err,
				"%s cannot change while the fabric runs; write it under "
				"devices",
				s->table[i].name);
	}
	return 0;
}

/* kind: all of the rule but its settings, which are in node. */
static int read_rule(struct wf_scenario *s, const struct wf_ynode *node,
                     const struct wf_device_rule *kind, struct wf_err *err)
{
	struct wf_device_rule *rule =
		wf_arena_alloc(&s->arena, sizeof(*rule), _Alignof(struct wf_device_rule));
	const struct wf_param *rows;
	size_t n;
	int rc;

	if (s->n_rules == WF_SCENARIO_MAX_RULES)
		return wf_ynode_err(node, err, "this is one entry too many; at most %d are allowed",
		                    WF_SCENARIO_MAX_RULES);
	if (rule == NULL || wf_fabric_table(&s->arena, &rows, &n) != 0)
		return -ENOMEM;
	if (node->kind != WF_YNODE_MAPPING)
		return wf_ynode_err(node, err,
		                    "%s is %s; write a mapping of parameters, e.g. "
		                    "{ecn: {kmin: 1MB}}",
		                    node->key->text, wf_ynode_kind_name(node->kind));
	*rule = *kind;
	rc = wf_settings_init(&rule->settings, "devices", rows, n, &rule->values, &s->arena, err);
	if (rc == 0)
		rc = wf_settings_apply(&rule->settings, node, NULL, err);
	if (rc == 0)
		rc = check_rows(rule, err);
	s->rules[s->n_rules++] = rule;
	return rc;
}

int wf_devices_read(struct wf_scenario *s, const struct wf_ynode *mapping, int fabric,
                    struct wf_err *err)
{
	int rc = 0;

	if (mapping->kind != WF_YNODE_MAPPING)
		return wf_ynode_err(mapping, err,
		                    "devices is %s; write, e.g., {leaf3: {ecn: {kmin: "
		                    "1MB}}}",
		                    wf_ynode_kind_name(mapping->kind));
	for (const struct wf_ynode *v = mapping->child; rc == 0 && v != NULL; v = v->next)
		rc = read_rule(s, v,
		               &(struct wf_device_rule){ .name = v->key->text,
		                                         .fabric = fabric,
		                                         .place = wf_place_of(v->key) },
		               err);
	return rc;
}

int wf_devices_read_fault(struct wf_scenario *s, const struct wf_ynode *mapping,
                          const struct wf_scenario_fault *fault, struct wf_err *err)
{
	const struct wf_device_rule kind = {
		.name = fault->on,
		.fabric = fault->fabric,
		.timed = true,
		.at = fault->at,
		.until = fault->until,
		.place = fault->place,
	};

	return read_rule(s, mapping, &kind, err);
}

/* ---- what each has ---- */

/* While a fabric's devices are found. */
struct build {
	struct wf_scenario *s;
	struct wf_scenario_fabric *f;
	const struct wf_topo *topo;
	struct wf_mem *mem;
	struct wf_rule_set *device, *port, *link; /* by node, and by port of the topology */
	struct wf_rule_set active; /* rules that hold at the time that is looked at */
	struct wf_rule_set timed;  /* rules that do not hold all the time */
	uint16_t *of_node, *of_port;
	struct wf_device_variant *variant[WF_MAX_SETUPS - 1];
	unsigned n;
	/* the rule being looked at */
	unsigned rule;
	enum wf_named named;
	bool fits_one; /* some device that it means has such a row */
	const struct wf_param *row;
};

/* Whether a device of a kind has a row, by itself. */
static bool has_row(const struct wf_param *row, bool is_host)
{
	return (row->per & (is_host ? WF_PER_HOST : WF_PER_SWITCH)) != 0 ||
	       (row->per & WF_PER_LINK) != 0;
}

/* The same of one port, and of one end of a link. */
static bool port_has_row(const struct wf_param *row, bool is_host, bool of_link)
{
	unsigned kinds = row->per & (WF_PER_HOST | WF_PER_SWITCH);

	if (of_link && (row->per & WF_PER_LINK) != 0)
		return true;
	return (row->per & WF_PER_PORT) != 0 &&
	       (kinds == 0 || (kinds & (is_host ? WF_PER_HOST : WF_PER_SWITCH)) != 0);
}

static bool is_host(const struct build *b, uint32_t node)
{
	return b->topo->nodes[node].kind == WF_TOPO_HOST;
}

static bool of_link(const struct build *b)
{
	return b->named == WF_NAMED_LINKS;
}

static void look_for_row(void *arg, uint32_t node, uint32_t port)
{
	struct build *b = arg;

	b->fits_one |= port == WF_TOPO_NONE ? has_row(b->row, is_host(b, node))
	                                    : port_has_row(b->row, is_host(b, node), of_link(b));
}

/* Notes that the rule holds for what it means; for links' values also at their other ends. */
static void note_rule(void *arg, uint32_t id, uint32_t port)
{
	struct build *b = arg;
	const struct wf_topo_node *node = &b->topo->nodes[id];

	if (port != WF_TOPO_NONE) {
		set_add(of_link(b) ? &b->link[node->first_port + port]
		                   : &b->port[node->first_port + port],
		        b->rule);
		if (of_link(b))
			set_add(&b->port[node->first_port + port], b->rule);
		return;
	}
	set_add(&b->device[id], b->rule);
	for (uint32_t i = 0; i < node->n_ports; i++) {
		const struct wf_topo_port *p = &b->topo->ports[node->first_port + i];

		set_add(&b->link[b->topo->nodes[p->peer].first_port + p->peer_port], b->rule);
	}
}

/* Who has the row instead, for messages. */
static const char *owner(const struct wf_param *row)
{
	if ((row->per & WF_PER_HOST) != 0 && (row->per & WF_PER_SWITCH) == 0)
		return "hosts have it";
	if ((row->per & WF_PER_SWITCH) != 0 && (row->per & WF_PER_HOST) == 0)
		return "switches have it";
	return (row->per & WF_PER_LINK) != 0 ? "links have it, e.g. leaf0-spine1"
	                                     : "devices have it as a whole";
}

static enum wf_named each(struct build *b, wf_named_fn *fn, struct wf_err *err)
{
	return wf_named_each(b->topo, b->s->rules[b->rule]->name, fn, b, err);
}

static void count_nothing(void *arg, uint32_t node, uint32_t port)
{
	(void)arg;
	(void)node;
	(void)port;
}

static int place_rule(struct build *b, struct wf_err *err)
{
	const struct wf_device_rule *rule = b->s->rules[b->rule];
	const struct wf_settings *s = &rule->settings;
	struct wf_err why = { "" };

	b->named = each(b, count_nothing, &why);
	if (b->named == WF_NAMED_NOTHING)
		return wf_place_err(&rule->place, err, "%s%s%s", why.text,
		                    b->s->n_nets > 1 ? "; in the network of " : "",
		                    b->s->n_nets > 1 ? b->f->label : "");
	for (size_t i = 0; i < s->n; i++) {
		if (s->place[i].file == NULL)
			continue;
		b->row = &s->table[i];
		b->fits_one = false;
		(void)each(b, look_for_row, &why);
		if (!b->fits_one)
			return wf_place_err(&s->place[i], err, "%s: %s has no such setting; %s",
			                    b->row->name, rule->name, owner(b->row));
	}
	(void)each(b, note_rule, &why);
	return 0;
}

/* Takes one value of a rule over. */
static void take_value(struct wf_fabric_values *to, const struct wf_device_rule *rule, size_t i)
{
	const struct wf_param *row = &rule->settings.table[i], *other;
	struct wf_err err;

	memcpy((char *)to + row->offset, (const char *)&rule->values + row->offset, row->size);
	if (row->instead_of == NULL)
		return;
	/* What would count in its place is taken back, unless the same rule says it. */
	other = wf_param_find(rule->settings.table, rule->settings.n, row->instead_of);
	if (rule->settings.place[other - rule->settings.table].file == NULL)
		/* A default parses: a test walks every table. */
		if (wf_param_set(other, to, other->def, &err) != 0)
			return;
}

/* Whether rule i sets row for the variant. */
static bool sets_row(const struct wf_device_variant *v, const struct wf_device_rule *rule,
                     unsigned i, size_t row)
{
	const struct wf_param *r = &rule->settings.table[row];

	if (rule->settings.place[row].file == NULL)
		return false;
	if (set_has(&v->device, i) && has_row(r, v->is_host))
		return true;
	if (set_has(&v->port, i) && port_has_row(r, v->is_host, set_has(&v->link, i)))
		return true;
	return set_has(&v->link, i) && (r->per & WF_PER_LINK) != 0;
}

/* Puts the place that a message is about before it: of the last rule that sets what it names. */
static int bad_variant(const struct build *b, const struct wf_device_variant *v,
                       const struct wf_err *why, struct wf_err *err)
{
	const struct wf_device_rule *last = NULL;

	for (unsigned i = b->s->n_rules; i-- > 0;) {
		const struct wf_device_rule *rule = b->s->rules[i];

		if (!set_has(&v->device, i) && !set_has(&v->port, i) && !set_has(&v->link, i))
			continue;
		last = last == NULL ? rule : last;
		for (size_t k = 0; k < rule->settings.n; k++) {
			const char *name = rule->settings.table[k].name;

			if (sets_row(v, rule, i, k) && strstr(why->text, name) != NULL)
				return wf_place_err(&rule->settings.place[k], err, "%s", why->text);
		}
	}
	return wf_place_err(&last->place, err, "%s", why->text);
}

static int fill_variant(const struct build *b, struct wf_device_variant *v, struct wf_err *err)
{
	struct wf_classes classes;
	struct wf_qp_tune tune = { 0 };
	struct wf_err why = { "" };
	struct wf_maps maps;
	unsigned fields;

	v->values = b->f->values;
	for (unsigned i = 0; i < b->s->n_rules; i++) {
		for (size_t k = 0; k < b->s->rules[i]->settings.n; k++) {
			if (sets_row(v, b->s->rules[i], i, k))
				take_value(&v->values, b->s->rules[i], k);
		}
	}
	if (wf_fabric_check(&v->values.cfg, &why) != 0 ||
	    wf_classes_parse(&v->values.cfg, &classes, &why) != 0 ||
	    wf_maps_parse(&v->values.cfg, &classes, &maps, &why) != 0 ||
	    wf_hash_parse(v->values.cfg.hash_fields, &fields, &why) != 0 ||
	    wf_cc_choice_tune(&v->values.cc, &tune, &why) != 0)
		return bad_variant(b, v, &why, err);
	return 0;
}

/* The number of the variant for these rules, which is made if need be; 0: the fabric's own. */
static int find_variant(struct build *b, const struct wf_device_variant *want, uint16_t *number_p,
                        struct wf_err *err)
{
	struct wf_device_variant *v;

	*number_p = 0;
	if (set_empty(&want->device) && set_empty(&want->port) && set_empty(&want->link))
		return 0;
	for (unsigned i = 0; i < b->n; i++) {
		v = b->variant[i];
		*number_p = (uint16_t)(i + 1);
		if (v->is_host == want->is_host && set_same(&v->device, &want->device) &&
		    set_same(&v->port, &want->port) && set_same(&v->link, &want->link))
			return 0;
	}
	if (b->n == WF_ARRAY_SIZE(b->variant))
		return wf_place_err(&b->s->rules[0]->place, err,
		                    "devices: the rules make more than %u different devices and "
		                    "ports",
		                    b->n);
	v = wf_arena_alloc(&b->s->arena, sizeof(*v), _Alignof(struct wf_device_variant));
	if (v == NULL)
		return -ENOMEM;
	*v = *want;
	b->variant[b->n++] = v;
	*number_p = (uint16_t)b->n;
	return fill_variant(b, v, err);
}

/* What a node and its ports have by the rules that hold now, into arrays like those of a table. */
static int find_node(struct build *b, uint32_t id, uint16_t *of_node, uint16_t *of_port,
                     struct wf_err *err)
{
	const struct wf_topo_node *node = &b->topo->nodes[id];
	struct wf_device_variant want = { .device = set_both(&b->device[id], &b->active),
		                          .is_host = is_host(b, id) };
	int rc = find_variant(b, &want, &of_node[id], err);

	for (uint32_t i = 0; rc == 0 && i < node->n_ports; i++) {
		uint32_t port = node->first_port + i;

		want.port = set_both(&b->port[port], &b->active);
		want.link = set_both(&b->link[port], &b->active);
		rc = find_variant(b, &want, &of_port[port], err);
	}
	return rc;
}

/* ---- what changes ---- */

/* Whether some rule for a node or its ports does not hold all the time. */
static bool changes(const struct build *b, uint32_t id)
{
	const struct wf_topo_node *node = &b->topo->nodes[id];
	struct wf_rule_set both = set_both(&b->device[id], &b->timed);
	bool any = !set_empty(&both);

	for (uint32_t i = 0; i < node->n_ports && !any; i++) {
		struct wf_rule_set port = set_both(&b->port[node->first_port + i], &b->timed);
		struct wf_rule_set link = set_both(&b->link[node->first_port + i], &b->timed);

		any = !set_empty(&port) || !set_empty(&link);
	}
	return any;
}

/* The rules that hold at a time; also the next time at which that changes, or WF_TIME_NEVER. */
static wf_time set_active(struct build *b, wf_time at)
{
	wf_time next = WF_TIME_NEVER;

	memset(&b->active, 0, sizeof(b->active));
	for (unsigned i = 0; i < b->s->n_rules; i++) {
		const struct wf_device_rule *rule = b->s->rules[i];
		wf_time until = rule->until == WF_PARAM_AUTO ? WF_TIME_NEVER : rule->until;

		if (!rule->timed || (rule->at <= at && at < until))
			set_add(&b->active, i);
		if (rule->timed && rule->at > at)
			next = wf_min_time(next, rule->at);
		else if (rule->timed && until > at)
			next = wf_min_time(next, until);
	}
	return next;
}

/* Events for what a node and its ports have from at on and had not before. */
static int add_changes(struct build *b, uint32_t id, wf_time at, uint16_t *of_node,
                       uint16_t *of_port, struct wf_err *err)
{
	const struct wf_topo_node *node = &b->topo->nodes[id];
	uint16_t before[WF_TOPO_MAX_PORTS], was = of_node[id];
	struct wf_sim_fault event = { .at = at, .kind = WF_SIM_FAULT_NODE, .what = id };
	int rc;

	memcpy(before, of_port + node->first_port, node->n_ports * sizeof(*before));
	rc = find_node(b, id, of_node, of_port, err);
	event.setup = of_node[id];
	if (rc == 0 && of_node[id] != was)
		rc = wf_faults_add(b->s, b->f, &event, &b->s->rules[0]->place, err);
	event.kind = WF_SIM_FAULT_PORT;
	for (uint32_t i = 0; i < node->n_ports && rc == 0; i++) {
		event.what = node->first_port + i;
		event.setup = of_port[event.what];
		if (event.setup != before[i])
			rc = wf_faults_add(b->s, b->f, &event, &b->s->rules[0]->place, err);
	}
	return rc;
}

/* Goes through the times at which rules begin and cease to hold. */
static int find_changes(struct build *b, wf_time at, struct wf_err *err)
{
	struct wf_mem *heap = wf_mem_heap();
	uint16_t *of_node = heap->alloc(heap, b->topo->n_nodes * sizeof(*of_node));
	uint16_t *of_port = heap->alloc(heap, b->topo->n_ports * sizeof(*of_port));
	int rc = of_node == NULL || of_port == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		memcpy(of_node, b->of_node, b->topo->n_nodes * sizeof(*of_node));
		memcpy(of_port, b->of_port, b->topo->n_ports * sizeof(*of_port));
	}
	while (rc == 0 && at != WF_TIME_NEVER) {
		wf_time next = set_active(b, at);

		for (uint32_t id = 0; id < b->topo->n_nodes && rc == 0; id++) {
			if (changes(b, id))
				rc = add_changes(b, id, at, of_node, of_port, err);
		}
		at = next;
	}
	heap->free(heap, of_node);
	heap->free(heap, of_port);
	return rc;
}

static int find_all(struct build *b, struct wf_err *err)
{
	wf_time first;
	int rc = 0;

	for (b->rule = 0; b->rule < b->s->n_rules && rc == 0; b->rule++) {
		int only = b->s->rules[b->rule]->fabric;

		if (only < 0 || b->f == &b->s->fabrics[only])
			rc = place_rule(b, err);
	}
	for (unsigned i = 0; i < b->s->n_rules; i++) {
		if (b->s->rules[i]->timed)
			set_add(&b->timed, i);
	}
	/* What begins at 0 is an event as well. */
	first = set_active(b, -1);
	for (uint32_t i = 0; rc == 0 && i < b->topo->n_nodes; i++)
		rc = find_node(b, i, b->of_node, b->of_port, err);
	return rc == 0 ? find_changes(b, first, err) : rc;
}

/* Keeps what was found in the fabric, and counts the queues that its devices have all together. */
static int keep(struct build *b, struct wf_err *err)
{
	struct wf_arena *arena = &b->s->arena;
	const struct wf_fabric_cfg **cfg = wf_arena_alloc(arena, (b->n + 1) * sizeof(*cfg), 8);
	const void **user = wf_arena_alloc(arena, (b->n + 1) * sizeof(*user), 8);
	struct wf_device_variant **variant =
		wf_arena_alloc(arena, (b->n + 1) * sizeof(*variant), 8);
	struct wf_device_table *t = &b->f->devices;
	unsigned all = 0;

	if (cfg == NULL || user == NULL || variant == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < b->n; i++) {
		variant[i] = b->variant[i];
		cfg[i] = &variant[i]->values.cfg;
		user[i] = &variant[i]->values.cc;
	}
	*t = (struct wf_device_table){
		.devices = { b->n, cfg, user, b->of_node, b->of_port },
		.variant = variant,
	};
	if (wf_setups_priorities(&b->f->cfg, &t->devices, &all, err) != 0)
		return -EINVAL;
	return wf_classes_parse_with(&b->f->cfg, all, &b->f->classes, err);
}

int wf_devices_build(struct wf_scenario *s, struct wf_scenario_fabric *f, struct wf_err *err)
{
	const struct wf_topo *topo = f->net->topo;
	struct wf_mem *heap = wf_mem_heap();
	struct build *b = heap->alloc(heap, sizeof(*b));
	int rc = -ENOMEM;

	if (b == NULL)
		return -ENOMEM;
	*b = (struct build){ .s = s, .f = f, .topo = topo, .n = f->devices.devices.n };
	/* What devices are set to already keeps its number. */
	if (b->n > 0)
		memcpy(b->variant, f->devices.variant, b->n * sizeof(struct wf_device_variant *));
	b->device = heap->alloc(heap, topo->n_nodes * sizeof(*b->device));
	b->port = heap->alloc(heap, topo->n_ports * sizeof(*b->port));
	b->link = heap->alloc(heap, topo->n_ports * sizeof(*b->link));
	b->of_node = wf_arena_alloc(&s->arena, topo->n_nodes * sizeof(*b->of_node), 2);
	b->of_port = wf_arena_alloc(&s->arena, topo->n_ports * sizeof(*b->of_port), 2);
	if (b->device != NULL && b->port != NULL && b->link != NULL && b->of_node != NULL &&
	    b->of_port != NULL)
		rc = s->n_rules == 0 ? 0 : find_all(b, err);
	if (rc == 0)
		rc = keep(b, err);
	heap->free(heap, b->device);
	heap->free(heap, b->port);
	heap->free(heap, b->link);
	heap->free(heap, b);
	return rc;
}

int wf_devices_err(const struct wf_scenario *s, const struct wf_scenario_fabric *f,
                   const struct wf_err *why, struct wf_err *err)
{
	for (unsigned i = s->n_rules; i-- > 0;) {
		const struct wf_device_rule *rule = s->rules[i];

		if (rule->fabric >= 0 && f != &s->fabrics[rule->fabric])
			continue;
		for (size_t k = 0; k < rule->settings.n; k++) {
			if (rule->settings.place[k].file != NULL &&
			    strstr(why->text, rule->settings.table[k].name) != NULL)
				return wf_settings_err(&rule->settings, &rule->place, why, err);
		}
	}
	return wf_settings_err(&f->settings, &f->place, why, err);
}

/* ---- asking ---- */

struct wf_place wf_devices_place(const struct wf_scenario *s, const struct wf_scenario_fabric *f,
                                 uint32_t node, uint32_t port, size_t row,
                                 const struct wf_fabric_values **values_p)
{
	const struct wf_devices *d = &f->devices.devices;
	unsigned number = port == WF_TOPO_NONE
	                          ? d->of_node[node]
	                          : d->of_port[f->net->topo->nodes[node].first_port + port];
	const struct wf_device_variant *v;

	*values_p = &f->values;
	if (number == 0)
		return f->settings.place[row];
	v = f->devices.variant[number - 1];
	*values_p = &v->values;
	for (unsigned i = s->n_rules; i-- > 0;) {
		if (sets_row(v, s->rules[i], i, row))
			return s->rules[i]->settings.place[row];
	}
	return f->settings.place[row];
}

struct one {
	uint32_t node, port;
	unsigned n;
};

static void take_one(void *arg, uint32_t node, uint32_t port)
{
	struct one *one = arg;

	one->node = node;
	one->port = port;
	one->n++;
}

int wf_devices_find(const struct wf_scenario_net *net, const char *name, uint32_t *node_p,
                    uint32_t *port_p, struct wf_err *err)
{
	struct one one = { .n = 0 };

	if (wf_named_each(net->topo, name, take_one, &one, err) == WF_NAMED_NOTHING)
		return -EINVAL;
	if (one.n > 1)
		return wf_err_say(err, "%.60s: that is several; name one device or port, e.g. %s",
		                  name, net->topo->nodes[one.node].name);
	*node_p = one.node;
	*port_p = one.port;
	return 0;
}
