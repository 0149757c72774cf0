/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.c - reads a scenario: every value set, and checked as far as it can be without building.
 */
#include "scenario/scenario_priv.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric/flowctl/flowctl.h"
#include "fabric/route/route.h"
#include "text/file.h"
#include "scenario/profile.h"
#include "text/suggest.h"
#include "scenario/words.h"

const struct wf_param wf_scenario_params[] = {
	{ .name = "name",
	  .kind = WF_PARAM_TEXT,
	  WF_PARAM_FIELD(struct wf_scenario_cfg, name),
	  .def = "",
	  .help = "heads the report" },
	{ .name = "seed",
	  .kind = WF_PARAM_U64,
	  WF_PARAM_FIELD(struct wf_scenario_cfg, seed),
	  .max = INT64_MAX,
	  .def = "1",
	  .help = "all random choices follow from it" },
	{ .name = "run.until",
	  .kind = WF_PARAM_TIME,
	  WF_PARAM_FIELD(struct wf_scenario_cfg, until),
	  .min = 1,
	  .max = 1000000 * WF_S,
	  .def = "1s",
	  .help = "virtual time at which the run ends, even if flows are unfinished" },
	{ .name = "run.reconverge",
	  .kind = WF_PARAM_TIME,
	  WF_PARAM_FIELD(struct wf_scenario_cfg, reconverge),
	  .max = 1000 * WF_S,
	  .def = "1ms",
	  .help = "from a link's going down or coming back to new routes everywhere" },
	{ .name = "run.deadlock_check",
	  .kind = WF_PARAM_TIME,
	  WF_PARAM_FIELD(struct wf_scenario_cfg, deadlock_check),
	  .max = 1000 * WF_S,
	  .def = "100us",
	  .help = "looks for queues that wait for one another in a circle every so often, among "
	          "those that have stood still for as long; 0: at the end alone" },
	{ .name = "run.stop_at_deadlock",
	  .kind = WF_PARAM_BOOL,
	  WF_PARAM_FIELD(struct wf_scenario_cfg, stop_at_deadlock),
	  .def = "false",
	  .help = "the run ends when such a look finds a deadlock" },
	{ .name = "matters",
	  .kind = WF_PARAM_TEXT,
	  WF_PARAM_FIELD(struct wf_scenario_cfg, matters),
	  .def = "",
	  .help = "weft compare: what counts besides time: latency, cost, ethernet, shared, "
	          "staff" },
	{ .name = "compare.collective",
	  .kind = WF_PARAM_TEXT,
	  WF_PARAM_FIELD(struct wf_scenario_cfg, compare_collective),
	  .def = "all-reduce",
	  .help = "weft compare: what is measured at each of compare.sizes among the job's ranks" },
	{ .name = "compare.sizes",
	  .kind = WF_PARAM_TEXT,
	  WF_PARAM_FIELD(struct wf_scenario_cfg, compare_sizes),
	  .def = "8,512,4K,32K,256K,2M,16M,128M",
	  .help = "weft compare: sizes of it, K and M are powers of 1024, 8..1M doubles; none" },
	{ .name = "compare.seeds",
	  .kind = WF_PARAM_U32,
	  WF_PARAM_FIELD(struct wf_scenario_cfg, compare_seeds),
	  .min = 1,
	  .max = WF_SCENARIO_MAX_SEEDS,
	  .def = "5",
	  .help = "weft compare: seeds that every fabric is run with, beginning with seed" },
	{ .name = "live.pace",
	  .kind = WF_PARAM_TEXT,
	  WF_PARAM_FIELD(struct wf_scenario_cfg, live_pace),
	  .def = "wall",
	  .help = "weft up: wall (packets cross this fabric in real time), none (as fast as it can "
	          "be calculated) or direct (from program to program)" },
	{ .name = "live.class",
	  .kind = WF_PARAM_U64,
	  WF_PARAM_FIELD(struct wf_scenario_cfg, live_class),
	  .has_auto = true,
	  .max = 15,
	  .def = "auto",
	  .help = "weft up: priority or SL of packets that programs send with service level 0; "
	          "auto: "
	          "the first lossless priority" },
};

const size_t wf_scenario_n_params = WF_ARRAY_SIZE(wf_scenario_params);

static const char *const top_keys[] = { "topology", "fabric", "traffic", "faults", "job",
	                                "storage",  "hosts",  "devices", NULL };
static const char *const fabric_keys[] = { "profile", "name", "devices", "faults", NULL };

/* What reading needs besides the scenario. */
struct reader {
	struct wf_scenario *s;
	const struct wf_scenario_opts *opts;
	const struct wf_ynode *root;
	struct wf_err *err;
};

static int missing(const struct reader *r, const char *key, const char *example)
{
	return wf_err_at(r->err, r->s->file, r->root->line, 1, "%s is missing; write, e.g., %s",
	                 key, example);
}

/* ---- topology ---- */

static int read_topology(struct reader *r)
{
	struct wf_scenario *s = r->s;
	const struct wf_ynode *node = wf_ynode_get(r->root, "topology");

	if (node == NULL)
		return missing(r, "topology", "topology: {kind: fat-tree, hosts: 128}");
	s->topo_place = wf_place_of(node);
	return wf_settings_apply(&s->topo_settings, node, NULL, r->err);
}

/* ---- fabrics ---- */

/* A quoted text may hold anything; a name stands in the line of a table. */
static void make_printable(char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
	}
}

/* Gives fabric a label that no earlier one has. */
static void set_label(struct wf_scenario *s, struct wf_scenario_fabric *fabric, const char *label)
{
	unsigned copies = 1;

	assert(s->fabrics != NULL && fabric != NULL && label != NULL);
	snprintf(fabric->label, sizeof(fabric->label), "%s", label);
	make_printable(fabric->label);
	for (unsigned i = 0; i < s->n_fabrics; i++) {
		if (&s->fabrics[i] == fabric || strcmp(s->fabrics[i].label, fabric->label) != 0)
			continue;
		snprintf(fabric->label, sizeof(fabric->label), "%.*s #%u", WF_SCENARIO_LABEL - 8,
		         label, ++copies);
		make_printable(fabric->label);
		i = (unsigned)-1; /* begin again with the new label */
	}
}

static int add_fabric(struct reader *r, const struct wf_place *place,
                      struct wf_scenario_fabric **fabric_p)
{
	struct wf_scenario *s = r->s;
	struct wf_scenario_fabric *fabric = &s->fabrics[s->n_fabrics];
	const struct wf_param *rows;
	size_t n;

	if (s->n_fabrics == WF_SCENARIO_MAX_FABRICS)
		return wf_place_err(place, r->err,
		                    "this is one fabric too many; at most %d are run",
		                    WF_SCENARIO_MAX_FABRICS);
	if (wf_fabric_table(&s->arena, &rows, &n) != 0)
		return -ENOMEM;
	s->n_fabrics++;
	fabric->place = *place;
	*fabric_p = fabric;
	return wf_settings_init(&fabric->settings, "fabric", rows, n, &fabric->values, &s->arena,
	                        r->err);
}

/* Its profile, and those below it, have a part in this fabric's runs alone. */
static int apply_profile(struct reader *r, struct wf_scenario_fabric *fabric, const char *name,
                         const char *from, const struct wf_place *place)
{
	struct wf_infiles *inputs = r->s->inputs;
	int rc;

	inputs->fabric = (int)(fabric - r->s->fabrics);
	rc = wf_profile_apply(r->opts->paths, WF_PROFILE_FABRIC, name, from, place, inputs,
	                      &r->s->arena, &fabric->settings, r->err);
	inputs->fabric = WF_INFILE_OF_ALL;
	return rc;
}

/* A fabric that is a profile and nothing else. */
static int add_named_fabric(struct reader *r, const char *name, const char *from,
                            const struct wf_place *place)
{
	struct wf_scenario_fabric *fabric = NULL;
	int rc = add_fabric(r, place, &fabric);

	if (rc != 0)
		return rc;
	set_label(r->s, fabric, name);
	return apply_profile(r, fabric, name, from, place);
}

/* {profile: roce-400g, name: small buffer, buffer: {size: 16MB}} */
static int add_mapped_fabric(struct reader *r, const struct wf_ynode *node)
{
	const struct wf_ynode *profile = wf_ynode_get(node, "profile");
	const struct wf_ynode *name = wf_ynode_get(node, "name");
	struct wf_place place = wf_place_of(node);
	struct wf_scenario_fabric *fabric = NULL;
	int rc = add_fabric(r, &place, &fabric);

	if (rc != 0)
		return rc;
	if (profile != NULL && profile->kind != WF_YNODE_SCALAR)
		return wf_ynode_err(profile, r->err, "profile is %s; write one name",
		                    wf_ynode_kind_name(profile->kind));
	if (name != NULL && name->kind != WF_YNODE_SCALAR)
		return wf_ynode_err(name, r->err, "name is %s; write one text",
		                    wf_ynode_kind_name(name->kind));
	set_label(r->s, fabric,
	          name != NULL      ? name->text
	          : profile != NULL ? profile->text
	                            : "default");
	if (profile != NULL) {
		struct wf_place at = wf_place_of(profile);

		rc = apply_profile(r, fabric, profile->text, profile->file, &at);
		if (rc != 0)
			return rc;
	}
	rc = wf_settings_apply(&fabric->settings, node, fabric_keys, r->err);
	if (rc == 0 && wf_ynode_get(node, "devices") != NULL)
		rc = wf_devices_read(r->s, wf_ynode_get(node, "devices"),
		                     (int)(fabric - r->s->fabrics), r->err);
	if (rc == 0 && wf_ynode_get(node, "faults") != NULL)
		rc = wf_faults_read(r->s, wf_ynode_get(node, "faults"),
		                    (int)(fabric - r->s->fabrics), r->err);
	return rc;
}

static int read_fabric(struct reader *r, const struct wf_ynode *node)
{
	struct wf_place place = wf_place_of(node);

	if (node->kind == WF_YNODE_SCALAR)
		return add_named_fabric(r, node->text, node->file, &place);
	if (node->kind == WF_YNODE_MAPPING)
		return add_mapped_fabric(r, node);
	return wf_ynode_err(node, r->err,
	                    "a fabric is a list; write the name of a profile or a "
	                    "mapping of parameters");
}

/* Profiles a,b instead of what the scenario says. */
static int read_fabric_option(struct reader *r, const char *p)
{
	const struct wf_place place = { .file = "--fabric" };

	for (;;) {
		size_t len = strcspn(p, ",");
		char *name = wf_arena_strdup(&r->s->arena, p, len);
		int rc;

		if (name == NULL)
			return -ENOMEM;
		rc = add_named_fabric(r, name, "", &place);
		if (rc != 0 || p[len] == '\0')
			return rc;
		p += len + 1;
	}
}

static int read_fabrics(struct reader *r)
{
	const struct wf_ynode *node = wf_ynode_get(r->root, "fabric");
	int rc = 0;

	if (r->opts->fabrics != NULL)
		return read_fabric_option(r, r->opts->fabrics);
	if (node == NULL && r->opts->default_fabrics != NULL)
		return read_fabric_option(r, r->opts->default_fabrics);
	if (node == NULL)
		return missing(r, "fabric", "fabric: roce-400g");
	if (node->kind != WF_YNODE_SEQUENCE)
		return read_fabric(r, node);
	if (node->n == 0)
		return wf_ynode_err(node, r->err, "fabric is an empty list; write at least one");
	for (const struct wf_ynode *v = node->child; rc == 0 && v != NULL; v = v->next)
		rc = read_fabric(r, v);
	return rc;
}

/* ---- traffic ---- */

static int read_traffic(struct reader *r)
{
	const struct wf_ynode *node = wf_ynode_get(r->root, "traffic");
	struct wf_scenario *s = r->s;
	int rc = 0;

	if (node == NULL && (r->opts->programs || s->job.given || s->n_storage > 0))
		return 0;
	if (node == NULL)
		return missing(r, "traffic, job or storage",
		               "traffic: [{kind: permutation, size: 1MB}]");
	if (node->kind != WF_YNODE_SEQUENCE || node->n == 0)
		return wf_ynode_err(
			node, r->err,
			"traffic is %s; write a list of mappings, e.g. "
			"[{kind: permutation, size: 1MB}]",
			node->kind == WF_YNODE_SEQUENCE ? "empty" : wf_ynode_kind_name(node->kind));
	if (node->n > WF_SCENARIO_MAX_TRAFFIC)
		return wf_ynode_err(node, r->err, "traffic has %u entries; at most %d are allowed",
		                    node->n, WF_SCENARIO_MAX_TRAFFIC);
	for (const struct wf_ynode *v = node->child; rc == 0 && v != NULL; v = v->next) {
		struct wf_scenario_traffic *t = &s->traffic[s->n_traffic++];

		t->place = wf_place_of(v);
		rc = wf_settings_init(&t->settings, "traffic", wf_traffic_params,
		                      wf_traffic_n_params, &t->cfg, &s->arena, r->err);
		if (rc == 0)
			rc = wf_settings_apply(&t->settings, v, NULL, r->err);
	}
	return rc;
}

static int read_storage(struct reader *r)
{
	const struct wf_ynode *node = wf_ynode_get(r->root, "storage");

	return node == NULL ? 0 : wf_scenario_storage_read(r->s, node, r->err);
}

static int read_job(struct reader *r)
{
	const struct wf_ynode *node = wf_ynode_get(r->root, "job");
	struct wf_scenario_job *job = &r->s->job;
	const struct wf_param *rows;
	size_t n;
	int rc;

	if (node == NULL)
		return 0;
	job->given = true;
	job->place = wf_place_of(node);
	if (wf_job_table(&r->s->arena, &rows, &n) != 0)
		return -ENOMEM;
	rc = wf_settings_init(&job->settings, "job", rows, n, &job->cfg, &r->s->arena, r->err);
	return rc != 0 ? rc : wf_settings_apply(&job->settings, node, NULL, r->err);
}

static int check_job(struct reader *r)
{
	struct wf_scenario_job *job = &r->s->job;
	struct wf_err why = { "" };

	if (!job->given)
		return 0;
	if (wf_job_check(&job->cfg, &why) != 0)
		return wf_settings_err(&job->settings, &job->place, &why, r->err);
	return wf_job_load(&job->cfg, &job->settings, &job->place, r->opts->paths, r->s->file,
	                   r->s->inputs, &r->s->arena, r->err);
}

/* ---- hosts of live fabrics ---- */

static int add_wire(struct reader *r, const struct wf_ynode *host, const struct wf_ynode *address)
{
	struct wf_scenario *s = r->s;
	size_t len;
	char *text;

	if (address->kind != WF_YNODE_SCALAR)
		return wf_ynode_err(address, r->err, "wire is %s; write an address, e.g. %s",
		                    wf_ynode_kind_name(address->kind), "0.0.0.0:4791");
	if (s->n_wires == WF_SCENARIO_MAX_WIRES)
		return wf_ynode_err(address, r->err, "there are more than %d addresses",
		                    WF_SCENARIO_MAX_WIRES);
	len = strlen(host->key->text) + strlen(address->text) + 2;
	text = wf_arena_alloc(&s->arena, len, 1);
	if (text == NULL)
		return -ENOMEM;
	snprintf(text, len, "%s=%s", host->key->text, address->text);
	s->wires[s->n_wires++] = text;
	return 0;
}

/* h1: {wire: 192.0.2.1}, or a list of addresses. Only live fabrics have use for it. */
static int read_host(struct reader *r, const struct wf_ynode *host)
{
	const struct wf_ynode *wire;
	int rc = 0;

	if (host->kind != WF_YNODE_MAPPING)
		return wf_ynode_err(host, r->err, "%s is %s; write, e.g., {wire: 0.0.0.0:4791}",
		                    host->key->text, wf_ynode_kind_name(host->kind));
	for (wire = host->child; rc == 0 && wire != NULL; wire = wire->next) {
		if (strcmp(wire->key->text, "wire") != 0)
			return wf_ynode_err(wire, r->err, "a host has no '%s'; it may have wire",
			                    wire->key->text);
		if (wire->kind != WF_YNODE_SEQUENCE)
			rc = add_wire(r, host, wire);
		else
			for (const struct wf_ynode *v = wire->child; rc == 0 && v != NULL;
			     v = v->next)
				rc = add_wire(r, host, v);
	}
	return rc;
}

static int read_hosts(struct reader *r)
{
	const struct wf_ynode *node = wf_ynode_get(r->root, "hosts");
	int rc = 0;

	if (node == NULL)
		return 0;
	if (node->kind != WF_YNODE_MAPPING)
		return wf_ynode_err(node, r->err,
		                    "hosts is %s; write, e.g., {h1: {wire: 0.0.0.0:4791}}",
		                    wf_ynode_kind_name(node->kind));
	for (const struct wf_ynode *v = node->child; rc == 0 && v != NULL; v = v->next)
		rc = read_host(r, v);
	return rc;
}

/* ---- the command line ---- */

/* "1.size" of "traffic.1.size": which entry, and moves *name_p behind it; -1 for all of them. */
static long entry_index(const char **name_p)
{
	const char *p = *name_p;
	long i = 0;

	if (*p < '0' || *p > '9')
		return -1;
	for (; *p >= '0' && *p <= '9'; p++)
		i = i < 100000 ? i * 10 + (*p - '0') : i;
	if (*p != '.')
		return -1;
	*name_p = p + 1;
	return i;
}

static int override_traffic(struct reader *r, const struct wf_override *o, const char *name,
                            const struct wf_place *place)
{
	long only = entry_index(&name);
	int rc = 0;

	if (only >= (long)r->s->n_traffic)
		return wf_place_err(place, r->err, "there is no traffic %ld; there are 0 to %u",
		                    only, r->s->n_traffic - 1);
	for (unsigned i = 0; rc == 0 && i < r->s->n_traffic; i++) {
		if (only < 0 || (long)i == only)
			rc = wf_settings_set(&r->s->traffic[i].settings, name, o->value, place,
			                     r->err);
	}
	return rc;
}

static int override_storage(struct reader *r, const struct wf_override *o, const char *name,
                            const struct wf_place *place)
{
	long only = entry_index(&name);
	int rc = 0;

	if (r->s->n_storage == 0)
		return wf_place_err(place, r->err, "the scenario has no storage");
	if (only >= (long)r->s->n_storage)
		return wf_place_err(place, r->err, "there is no storage %ld; there are 0 to %u",
		                    only, r->s->n_storage - 1);
	for (unsigned i = 0; rc == 0 && i < r->s->n_storage; i++) {
		if (only < 0 || (long)i == only)
			rc = wf_settings_set(&r->s->storage[i].settings, name, o->value, place,
			                     r->err);
	}
	return rc;
}

static int apply_override(struct reader *r, const struct wf_override *o)
{
	const struct wf_place place = { .file = o->where };
	struct wf_scenario *s = r->s;
	int rc = 0;

	if (strncmp(o->name, "fabric.", 7) == 0) {
		for (unsigned i = 0; rc == 0 && i < s->n_fabrics; i++)
			rc = wf_settings_set(&s->fabrics[i].settings, o->name + 7, o->value, &place,
			                     r->err);
		return rc;
	}
	if (strncmp(o->name, "topology.", 9) == 0)
		return wf_settings_set(&s->topo_settings, o->name + 9, o->value, &place, r->err);
	if (strncmp(o->name, "job.", 4) == 0 && s->job.given)
		return wf_settings_set(&s->job.settings, o->name + 4, o->value, &place, r->err);
	if (strncmp(o->name, "traffic.", 8) == 0)
		return override_traffic(r, o, o->name + 8, &place);
	if (strncmp(o->name, "storage.", 8) == 0)
		return override_storage(r, o, o->name + 8, &place);
	if (wf_param_find(wf_scenario_params, wf_scenario_n_params, o->name) != NULL)
		return wf_settings_set(&s->settings, o->name, o->value, &place, r->err);
	return wf_place_err(
		&place, r->err,
		"unknown parameter; it begins with fabric., topology., traffic., storage., job. or "
		"run., or is seed or name");
}

/* ---- checks ---- */

/* That the algorithms of a fabric exist. */
static int check_algorithms(const struct wf_scenario_fabric *f, struct wf_err *err)
{
	struct wf_suggest suggest;
	struct wf_place place;

	if (wf_flowctl_find(f->cfg.flowctl) == NULL) {
		wf_suggest_init(&suggest, f->cfg.flowctl);
		for (size_t i = 0; wf_flowctl_all()[i] != NULL; i++)
			wf_suggest_offer(&suggest, wf_flowctl_all()[i]->name);
		place = wf_settings_place(&f->settings, "flowctl", &f->place);
		return wf_place_err(&place, err, "flowctl: there is no '%s'%s", f->cfg.flowctl,
		                    wf_suggest_text(&suggest, "there are"));
	}
	if (wf_route_find(f->cfg.routing) == NULL) {
		wf_suggest_init(&suggest, f->cfg.routing);
		for (size_t i = 0; wf_route_all()[i] != NULL; i++)
			wf_suggest_offer(&suggest, wf_route_all()[i]->name);
		place = wf_settings_place(&f->settings, "routing", &f->place);
		return wf_place_err(&place, err, "routing: there is no '%s'%s", f->cfg.routing,
		                    wf_suggest_text(&suggest, "there are"));
	}
	return 0;
}

static int check_fabric(struct reader *r, struct wf_scenario_fabric *f)
{
	struct wf_qp_tune tune = { 0 };
	struct wf_err why = { "" };
	int rc = check_algorithms(f, r->err);

	if (rc != 0)
		return rc;
	if (wf_states_parse(f->values.use.state, &f->states, &why) != 0) {
		struct wf_place place = wf_settings_place(&f->settings, "state", &f->place);

		return wf_place_err(&place, r->err, "state: %s", why.text);
	}
	if (wf_fabric_check(&f->cfg, &why) != 0 ||
	    wf_classes_parse(&f->cfg, &f->classes, &why) != 0 ||
	    wf_cc_choice_tune(&f->values.cc, &tune, &why) != 0)
		return wf_settings_err(&f->settings, &f->place, &why, r->err);
	if (f->values.manage.sm.adaptive && !wf_route_find(f->cfg.routing)->any_ports) {
		struct wf_place place = wf_settings_place(&f->settings, "sm.adaptive", &f->place);

		return wf_place_err(&place, r->err,
		                    "sm.adaptive: with routing %s a switch does not choose among "
		                    "the ports of a group; write routing: adaptive",
		                    f->cfg.routing);
	}
	if (strcmp(f->cfg.link_layer, "ethernet") != 0)
		return 0;
	if (wf_manage_kind_of(&f->values.manage, WF_MANAGE_IDEAL) != WF_MANAGE_IDEAL) {
		struct wf_place place = wf_settings_place(&f->settings, "sm", &f->place);

		return wf_place_err(&place, r->err,
		                    "sm: Ethernet (fabric %s) has no subnet manager; leave it out",
		                    f->label);
	}
	if (r->s->job.given && r->s->job.cfg.net.cls > 7) {
		struct wf_place place =
			wf_settings_place(&r->s->job.settings, "class", &r->s->job.place);

		return wf_place_err(&place, r->err,
		                    "class: Ethernet (fabric %s) has no priority %u; write 0 to 7",
		                    f->label, (unsigned)r->s->job.cfg.net.cls);
	}
	for (unsigned i = 0; i < r->s->n_traffic; i++) {
		const struct wf_scenario_traffic *t = &r->s->traffic[i];

		if (t->cfg.cls > 7) {
			struct wf_place place = wf_settings_place(&t->settings, "class", &t->place);

			return wf_place_err(
				&place, r->err,
				"class: Ethernet (fabric %s) has no priority %u; write 0 "
				"to 7",
				f->label, (unsigned)t->cfg.cls);
		}
	}
	return 0;
}

/* Flows go over queue pairs or TCP all of them or none, and so they do beside a job. */
static int check_op(struct reader *r, const struct wf_scenario_traffic *t)
{
	bool window = wf_flow_op_find(t->cfg.op) == WF_FLOW_WINDOW;
	bool first = wf_flow_op_find(r->s->traffic[0].cfg.op) == WF_FLOW_WINDOW;
	struct wf_place place = wf_settings_place(&t->settings, "op", &t->place);

	if (window && (r->s->job.given || r->s->n_storage > 0))
		return wf_place_err(&place, r->err,
		                    "op: traffic beside %s goes over queue pairs or TCP; write op: "
		                    "write, send, read or tcp",
		                    r->s->job.given ? "a job" : "storage");
	if (window != first)
		return wf_place_err(&place, r->err,
		                    "op: window does not go together with write, send, read or tcp "
		                    "in one run; use one or the other");
	return 0;
}

static int check_traffic(struct reader *r, const struct wf_scenario_traffic *t)
{
	struct wf_suggest suggest;
	struct wf_place place;

	if (wf_traffic_find(t->cfg.kind) != NULL)
		return check_op(r, t);
	wf_suggest_init(&suggest, t->cfg.kind);
	for (size_t i = 0; wf_traffic_kinds()[i] != NULL; i++)
		wf_suggest_offer(&suggest, wf_traffic_kinds()[i]->name);
	place = wf_settings_place(&t->settings, "kind", &t->place);
	return wf_place_err(&place, r->err, "kind: there is no traffic '%s'%s", t->cfg.kind,
	                    wf_suggest_text(&suggest, "there are"));
}

/* ---- all of it ---- */

static int alloc_lists(struct wf_scenario *s)
{
	s->fabrics = wf_arena_alloc(&s->arena, WF_SCENARIO_MAX_FABRICS * sizeof(*s->fabrics), 64);
	s->traffic = wf_arena_alloc(&s->arena, WF_SCENARIO_MAX_TRAFFIC * sizeof(*s->traffic), 64);
	s->faults = wf_arena_alloc(&s->arena, WF_SCENARIO_MAX_FAULTS * sizeof(*s->faults), 64);
	s->rules = wf_arena_alloc(&s->arena,
	                          WF_SCENARIO_MAX_RULES * sizeof(struct wf_device_rule *), 64);
	s->nets = wf_arena_alloc(&s->arena, WF_SCENARIO_MAX_FABRICS * sizeof(*s->nets), 64);
	if (s->fabrics == NULL || s->traffic == NULL || s->faults == NULL || s->rules == NULL ||
	    s->nets == NULL)
		return -ENOMEM;
	return 0;
}

static int read_root(struct reader *r)
{
	struct wf_scenario *s = r->s;
	int rc = alloc_lists(s);

	if (rc == 0)
		rc = wf_settings_init(&s->settings, "", wf_scenario_params, wf_scenario_n_params,
		                      &s->cfg, &s->arena, r->err);
	if (rc == 0)
		rc = wf_settings_init(&s->topo_settings, "topology", wf_topo_params,
		                      wf_topo_n_params, &s->topo_cfg, &s->arena, r->err);
	if (rc == 0)
		rc = wf_settings_apply(&s->settings, r->root, top_keys, r->err);
	if (rc == 0)
		rc = read_topology(r);
	if (rc == 0 && wf_ynode_get(r->root, "devices") != NULL)
		rc = wf_devices_read(s, wf_ynode_get(r->root, "devices"), -1, r->err);
	if (rc == 0)
		rc = read_fabrics(r);
	if (rc == 0)
		rc = read_job(r);
	if (rc == 0)
		rc = read_storage(r);
	if (rc == 0)
		rc = read_traffic(r);
	if (rc == 0 && wf_ynode_get(r->root, "faults") != NULL)
		rc = wf_faults_read(s, wf_ynode_get(r->root, "faults"), -1, r->err);
	if (rc == 0)
		rc = read_hosts(r);
	for (size_t i = 0; rc == 0 && i < r->opts->n_overrides; i++)
		rc = apply_override(r, &r->opts->overrides[i]);
	make_printable(s->cfg.name);
	if (rc == 0)
		rc = check_job(r);
	for (unsigned i = 0; rc == 0 && i < s->n_traffic; i++)
		rc = check_traffic(r, &s->traffic[i]);
	for (unsigned i = 0; rc == 0 && i < s->n_fabrics; i++)
		rc = check_fabric(r, &s->fabrics[i]);
	if (rc == 0)
		rc = wf_scenario_storage_check(s, r->err);
	return rc == 0 ? wf_scenario_load(s, r->opts->paths, r->err) : rc;
}

/* The options that change what is in the file, a line each; NULL without memory. */
static const char *list_overrides(struct wf_arena *arena, const struct wf_scenario_opts *opts)
{
	size_t len = opts->fabrics != NULL ? strlen(opts->fabrics) + 16 : 1;
	char *text, *p;

	for (size_t i = 0; i < opts->n_overrides; i++)
		len += strlen(opts->overrides[i].where) + 1;
	text = p = wf_arena_alloc(arena, len, 1);
	if (text == NULL)
		return NULL;
	if (opts->fabrics != NULL)
		p += snprintf(p, len, "--fabric %s\n", opts->fabrics);
	for (size_t i = 0; i < opts->n_overrides; i++)
		p += snprintf(p, len - (size_t)(p - text), "%s\n", opts->overrides[i].where);
	return text;
}

/* Reads text, which is in the scenario's memory. */
static int read_text(struct wf_scenario *scenario, const char *text, size_t len, const char *name,
                     const struct wf_scenario_opts *opts, struct wf_err *err)
{
	struct reader r = { .s = scenario, .opts = opts, .err = err };
	struct wf_ynode *root = NULL;
	int rc = wf_yaml_parse(text, len, name, &scenario->arena, &root, err);

	if (rc != 0)
		return rc;
	r.root = root;
	scenario->file = root->file;
	scenario->text = text;
	scenario->overrides = list_overrides(&scenario->arena, opts);
	scenario->inputs = wf_infiles_create(&scenario->arena);
	if (scenario->overrides == NULL || scenario->inputs == NULL)
		return -ENOMEM;
	rc = wf_infiles_add(scenario->inputs, "scenario", "", scenario->file, text, len);
	return rc != 0 ? rc : read_root(&r);
}

int wf_scenario_read(struct wf_scenario *scenario, const char *path,
                     const struct wf_scenario_opts *opts, struct wf_err *err)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	char *text = NULL;
	size_t len = 0;
	int rc;

	memset(scenario, 0, sizeof(*scenario));
	wf_arena_init(&scenario->arena);
	rc = wf_file_read(path, WF_YAML_MAX_BYTES, &scenario->arena.mem, &text, &len, err);
	return rc != 0 ? rc : read_text(scenario, text, len, name, opts, err);
}

int wf_scenario_parse(struct wf_scenario *scenario, const char *text, size_t len, const char *name,
                      const struct wf_scenario_opts *opts, struct wf_err *err)
{
	const char *copy;

	memset(scenario, 0, sizeof(*scenario));
	wf_arena_init(&scenario->arena);
	copy = wf_arena_strdup(&scenario->arena, text, len);
	return copy == NULL ? -ENOMEM : read_text(scenario, copy, len, name, opts, err);
}

void wf_scenario_fini(struct wf_scenario *scenario)
{
	for (unsigned i = 0; i < scenario->n_nets; i++)
		wf_topo_destroy(scenario->nets[i].topo);
	if (scenario->flows.mem != NULL)
		wf_flow_list_fini(&scenario->flows);
	wf_arena_fini(&scenario->arena);
}
