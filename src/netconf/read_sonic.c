/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_sonic.c - SONiC's config_db.json: tables of keys and fields, nested or flattened as
 * "TABLE|key", references plain or as "[TABLE|name]"; whole files, or the parts that templates
 * make.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netconf/read_priv.h"

struct sonic {
	struct wf_conf_reading *r;
	int ret; /* the first error */
};

/* Where an entry stands: "TABLE|key". */
struct entry {
	struct sonic *s;
	const char *table, *key;
	const struct wf_tree *fields; /* a mapping */
};

enum kind { INT, BYTES, MBPS, MS, FLAG, CM, FEC, MASK, NAME, SKIP };

/* A field that is a value of a struct; NAME: that is the interned text itself. */
struct field {
	const char *name;
	enum kind kind;
	size_t at;
	int64_t min, max;
};

#define NO_MAX INT64_MAX
#define COUNT(a) WF_ARRAY_SIZE(a)

/* ---- fields ---- */

static struct wf_conf_place place_of(const struct entry *e, const struct wf_tree *field)
{
	struct wf_netconf *net = e->s->r->net;

	return wf_conf_at(e->s->r, field->line,
	                  wf_conf_textf(net, "%.100s|%.200s|%.100s", e->table, e->key,
	                                field->key == NULL ? "?" : field->key));
}

static struct wf_conf_place place_of_entry(const struct entry *e)
{
	return wf_conf_at(e->s->r, e->fields->line,
	                  wf_conf_textf(e->s->r->net, "%.100s|%.200s", e->table, e->key));
}

static void odd(const struct entry *e, const struct wf_tree *field)
{
	wf_conf_add_note(e->s->r->net, WF_CONF_NOTE_ODD, place_of(e, field),
	                 "%.60s has no field %.60s that is known here", e->table,
	                 field->key == NULL ? "?" : field->key);
}

static bool convert(enum kind kind, const char *text, int64_t *v_p)
{
	switch (kind) {
	case INT:
	case BYTES:
		return wf_conf_number(text, v_p);
	case MBPS:
		if (!wf_conf_number(text, v_p) || *v_p < 0 || *v_p > 10000000)
			return false;
		*v_p *= 1000000;
		return true;
	case MS:
		if (!wf_conf_number(text, v_p) || *v_p < 0 || *v_p > 10000000)
			return false;
		*v_p *= 1000;
		return true;
	case FLAG:
		return wf_conf_flag(text, v_p);
	case CM:
		return wf_conf_metres(text, v_p);
	case FEC:
		return wf_conf_fec_of(text, v_p);
	case MASK:
		return wf_conf_mask(text, v_p);
	case NAME:
	case SKIP:
		break;
	}
	return false;
}

/* A field of the entry into base; port: for messages. */
static void take_field(const struct entry *e, const struct wf_tree *field, const struct field *row,
                       void *base, struct wf_conf_port *port)
{
	struct wf_conf_reading *r = e->s->r;
	int64_t v = 0;

	if (row->kind == SKIP)
		return;
	if (field->kind != WF_TREE_VALUE) {
		odd(e, field);
		return;
	}
	if (row->kind == NAME) {
		*(const char **)((char *)base + row->at) =
			wf_conf_text(r->net, field->text, strlen(field->text));
		return;
	}
	if (!convert(row->kind, field->text, &v)) {
		wf_conf_bad(r, port, place_of(e, field), field->text,
		            row->kind == FLAG   ? "true or false"
		            : row->kind == CM   ? "a length such as 5m"
		            : row->kind == MASK ? "priorities from 0 to 7, such as 3,4"
		                                : "a number");
		return;
	}
	if (row->max != 0 && (v < row->min || v > row->max)) {
		wf_conf_bad(
			r, port, place_of(e, field), field->text,
			wf_conf_textf(r->net, "from %lld to %lld",
		                      (long long)(row->kind == MS ? row->min / 1000 : row->min),
		                      (long long)(row->kind == MS ? row->max / 1000 : row->max)));
	}
	*(struct wf_conf_value *)((char *)base + row->at) = wf_conf_say(v, place_of(e, field));
}

static const struct field *row_of(const struct field *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	}
	return NULL;
}

/* All fields of the entry, as the rows say, into base; the others are told of. */
static void take_fields(const struct entry *e, const struct field *rows, size_t n, void *base,
                        struct wf_conf_port *port)
{
	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		const struct field *row = row_of(rows, n, f->key);

		if (row == NULL)
			odd(e, f);
		else
			take_field(e, f, row, base, port);
	}
}

/* ---- references and keys ---- */

/* "[TABLE|name]" or "name": the name. */
static const char *ref_name(struct sonic *s, const char *text)
{
	const char *bar = strchr(text, '|');
	size_t n = strlen(text);

	if (text[0] != '[' || n < 3 || text[n - 1] != ']' || bar == NULL)
		return text;
	return wf_conf_text(s->r->net, bar + 1, n - (size_t)(bar + 1 - text) - 1);
}

static void *refer(struct sonic *s, struct wf_conf_named **list, size_t size, const char *text)
{
	struct wf_conf_named *thing = wf_conf_named_of(s->r->net, list, size, ref_name(s, text));

	if (thing == NULL)
		s->ret = s->ret == 0 ? -ENOMEM : s->ret;
	else
		thing->used = true;
	return thing;
}

static void define(const struct entry *e, struct wf_conf_named *thing)
{
	if (thing->defined)
		wf_conf_add_fault(e->s->r->net, WF_CONF_FAULT_AGAIN, e->s->r->device, NULL,
		                  place_of_entry(e),
		                  wf_conf_textf(e->s->r->net, "%.100s|%.100s is there twice",
		                                e->table, e->key),
		                  "one of them");
	thing->defined = true;
	thing->at = place_of_entry(e);
}

/* Calls fn for each port of "Ethernet0,Ethernet4|3-4" and each number behind the bar. */
static void each_place(const struct entry *e,
                       void (*fn)(const struct entry *e, struct wf_conf_port *port, unsigned n))
{
	const char *bar = strrchr(e->key, '|'), *p = e->key;
	int64_t mask = 0;

	if (bar == NULL || !wf_conf_mask(bar + 1, &mask) || mask == 0) {
		/* SONiC has more queues than 8, for multicast and the CPU; they carry no RDMA. */
		bool multicast = bar != NULL && bar[1] >= '8' && bar[1] <= '9';
		bool two = bar != NULL && bar[1] >= '1' && bar[1] <= '9' && bar[2] >= '0' &&
		           bar[2] <= '9';

		wf_conf_add_note(e->s->r->net,
		                 multicast || two ? WF_CONF_NOTE_OTHER : WF_CONF_NOTE_ODD,
		                 place_of_entry(e), "of queues or groups 0 to 7 it names none");
		return;
	}
	while (p < bar) {
		const char *comma = memchr(p, ',', (size_t)(bar - p));
		const char *end = comma == NULL ? bar : comma, *last = p;
		struct wf_conf_port *port;

		/* On a chassis: "host|asic0|Ethernet0". */
		for (const char *q = p; q < end; q++)
			last = *q == '|' ? q + 1 : last;
		port = wf_conf_port_here(e->s->r,
		                         wf_conf_text(e->s->r->net, last, (size_t)(end - last)),
		                         e->fields->line, &e->s->ret);
		for (unsigned n = 0; n < WF_CONF_TCS && port != NULL; n++) {
			if ((mask >> n & 1) != 0)
				fn(e, port, n);
		}
		p = comma == NULL ? bar : comma + 1;
	}
}

/* ---- the tables ---- */

static void take_metadata(const struct entry *e)
{
	struct wf_conf_device *d = e->s->r->device;

	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		static const struct field rows[] = {
			{ "hwsku", NAME, offsetof(struct wf_conf_device, sku), 0, 0 },
			{ "platform", NAME, offsetof(struct wf_conf_device, platform), 0, 0 },
			{ "type", NAME, offsetof(struct wf_conf_device, role), 0, 0 },
			{ "default_pfcwd_status", FLAG, offsetof(struct wf_conf_device, wd_default),
			  0, 0 },
		};
		const struct field *row = row_of(rows, COUNT(rows), f->key);

		if (row != NULL)
			take_field(e, f, row, d, NULL);
		else if (f->kind == WF_TREE_VALUE && strcmp(f->key, "buffer_model") == 0)
			d->dynamic_buffers =
				wf_conf_say(strcmp(f->text, "dynamic") == 0, place_of(e, f));
		else if (f->kind == WF_TREE_VALUE && strcmp(f->key, "bgp_asn") == 0) {
			int64_t asn = 0;

			if (wf_conf_number(f->text, &asn))
				d->asn = wf_conf_say(asn, place_of(e, f));
		}
	}
	d->at = place_of_entry(e);
}

static void take_port(const struct entry *e)
{
	static const struct field rows[] = {
		{ "speed", MBPS, offsetof(struct wf_conf_port, speed), 0, 0 },
		{ "mtu", BYTES, offsetof(struct wf_conf_port, mtu), 68, 65535 },
		{ "fec", FEC, offsetof(struct wf_conf_port, fec), 0, 0 },
		{ "admin_status", FLAG, offsetof(struct wf_conf_port, up), 0, 0 },
		{ "alias", NAME, offsetof(struct wf_conf_port, alias), 0, 0 },
		{ "index", SKIP, 0, 0, 0 },
		{ "description", SKIP, 0, 0, 0 },
		{ "pfc_asym", SKIP, 0, 0, 0 },
		{ "asic_port_name", SKIP, 0, 0, 0 },
		{ "role", SKIP, 0, 0, 0 },
		{ "tpid", SKIP, 0, 0, 0 },
		{ "autoneg", SKIP, 0, 0, 0 },
		{ "adv_speeds", SKIP, 0, 0, 0 },
		{ "adv_interface_types", SKIP, 0, 0, 0 },
		{ "interface_type", SKIP, 0, 0, 0 },
		{ "valid_speeds", SKIP, 0, 0, 0 },
		{ "coreId", SKIP, 0, 0, 0 },
		{ "core_id", SKIP, 0, 0, 0 },
		{ "corePortId", SKIP, 0, 0, 0 },
		{ "core_port_id", SKIP, 0, 0, 0 },
		{ "numVoq", SKIP, 0, 0, 0 },
		{ "num_voq", SKIP, 0, 0, 0 },
		{ "subport", SKIP, 0, 0, 0 },
		{ "link_training", SKIP, 0, 0, 0 },
		{ "mux_cable", SKIP, 0, 0, 0 },
		{ "macsec", SKIP, 0, 0, 0 },
		{ "dhcp_rate_limit", SKIP, 0, 0, 0 },
		{ "mode", SKIP, 0, 0, 0 },
		{ "parent_port", SKIP, 0, 0, 0 },
		{ "tx_power", SKIP, 0, 0, 0 },
		{ "laser_freq", SKIP, 0, 0, 0 },
		{ "dom_polling", SKIP, 0, 0, 0 },
		{ "pt_intf_id", SKIP, 0, 0, 0 },
		{ "pt_timestamp_template", SKIP, 0, 0, 0 },
	};
	struct wf_conf_port *port = wf_conf_port_here(e->s->r, e->key, e->fields->line, &e->s->ret);

	if (port == NULL)
		return;
	port->defined = true;
	port->at = place_of_entry(e);
	e->s->r->device->ports_listed = wf_conf_say(1, port->at);
	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		const struct field *row = row_of(rows, COUNT(rows), f->key);

		if (strcmp(f->key, "lanes") == 0 && f->kind == WF_TREE_VALUE) {
			int64_t n = 1;

			for (const char *c = f->text; *c != '\0'; c++)
				n += *c == ',';
			port->lanes = wf_conf_say(n, place_of(e, f));
		} else if (row != NULL) {
			take_field(e, f, row, port, port);
		} else {
			odd(e, f);
		}
	}
}

static void take_cable(const struct entry *e)
{
	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		static const struct field row = { "", CM, offsetof(struct wf_conf_port, cable), 0,
			                          0 };
		struct wf_conf_port *port = wf_conf_port_here(e->s->r, f->key, f->line, &e->s->ret);

		if (port != NULL)
			take_field(e, f, &row, port, port);
	}
}

static void take_map(const struct entry *e, enum wf_conf_map_kind kind, int64_t from_max)
{
	struct wf_conf_map *map = wf_conf_map_of(e->s->r->net, e->s->r->device, kind, e->key);

	if (map == NULL) {
		e->s->ret = -ENOMEM;
		return;
	}
	define(e, &map->is);
	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		int64_t from = 0, to = 0;

		if (!wf_conf_number(f->key, &from) || from < 0 || from > from_max) {
			wf_conf_bad(e->s->r, NULL, place_of(e, f), f->key,
			            wf_conf_textf(e->s->r->net, "from 0 to %d", (int)from_max));
			continue;
		}
		if (f->kind != WF_TREE_VALUE || !wf_conf_number(f->text, &to) || to < 0 ||
		    to >= WF_CONF_TCS) {
			wf_conf_bad(e->s->r, NULL, place_of(e, f),
			            f->kind == WF_TREE_VALUE ? f->text : "?", "from 0 to 7");
			continue;
		}
		map->to[from] = (int8_t)to;
		map->line[from] = f->line;
	}
}

static void take_dscp_tc(const struct entry *e)
{
	take_map(e, WF_CONF_DSCP_TC, WF_CONF_DSCPS - 1);
}

static void take_pcp_tc(const struct entry *e)
{
	take_map(e, WF_CONF_PCP_TC, WF_CONF_TCS - 1);
}

static void take_tc_pg(const struct entry *e)
{
	take_map(e, WF_CONF_TC_PG, WF_CONF_TCS - 1);
}

static void take_tc_queue(const struct entry *e)
{
	take_map(e, WF_CONF_TC_QUEUE, WF_CONF_TCS - 1);
}

static void take_pfc_queue(const struct entry *e)
{
	take_map(e, WF_CONF_PFC_QUEUE, WF_CONF_TCS - 1);
}

static void take_pfc_pg(const struct entry *e)
{
	take_map(e, WF_CONF_PFC_PG, WF_CONF_TCS - 1);
}

/* The maps and PFC of a port; "global" has only the first, for ports that have none. */
static void take_qos_of(const struct entry *e, struct wf_conf_port *port)
{
	static const char *const maps[WF_CONF_MAPS] = { "dscp_to_tc_map",   "dot1p_to_tc_map",
		                                        "tc_to_pg_map",     "tc_to_queue_map",
		                                        "pfc_to_queue_map", "pfc_to_pg_map" };
	static const struct field rows[] = {
		{ "pfc_enable", MASK, offsetof(struct wf_conf_port, pfc_rx), 0, 0 },
		{ "pfcwd_sw_enable", MASK, offsetof(struct wf_conf_port, wd), 0, 0 },
		{ "scheduler", SKIP, 0, 0, 0 },
		{ "tc_to_dscp_map", SKIP, 0, 0, 0 },
		{ "tc_to_dot1p_map", SKIP, 0, 0, 0 },
		{ "dscp_to_fc_map", SKIP, 0, 0, 0 },
		{ "exp_to_fc_map", SKIP, 0, 0, 0 },
		{ "mpls_tc_to_tc_map", SKIP, 0, 0, 0 },
	};

	port->has_qos = true;
	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		const struct field *row = row_of(rows, COUNT(rows), f->key);
		unsigned k = 0;

		while (k < WF_CONF_MAPS && strcmp(maps[k], f->key) != 0)
			k++;
		if (k < WF_CONF_MAPS && f->kind == WF_TREE_VALUE) {
			struct wf_conf_map *map =
				wf_conf_map_of(e->s->r->net, e->s->r->device,
			                       (enum wf_conf_map_kind)k, ref_name(e->s, f->text));

			if (map != NULL)
				map->is.used = true;
			port->map[k] = map;
			port->map_at[k] = place_of(e, f);
		} else if (row != NULL) {
			take_field(e, f, row, port, port);
		} else {
			odd(e, f);
		}
	}
	port->pfc_tx = port->pfc_rx;
}

static void take_port_qos(const struct entry *e)
{
	const char *p = e->key;

	while (*p != '\0') {
		size_t n = strcspn(p, ",");
		struct wf_conf_port *port;

		/* The port "global" is none, and is taken out again when all is read. */
		port = wf_conf_port_here(e->s->r, wf_conf_text(e->s->r->net, p, n), e->fields->line,
		                         &e->s->ret);
		if (port == NULL)
			return;
		if (port->at.file == WF_CONF_NONE)
			port->at = place_of_entry(e);
		take_qos_of(e, port);
		p += n + (p[n] == ',');
	}
}

static void set_queue(const struct entry *e, struct wf_conf_port *port, unsigned n)
{
	struct wf_conf_device *d = e->s->r->device;
	struct wf_conf_queue *queue = &port->queue[n];

	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		if (f->kind == WF_TREE_VALUE && strcmp(f->key, "scheduler") == 0) {
			queue->sched = refer(e->s, &d->scheds, sizeof(*queue->sched), f->text);
			queue->sched_at = place_of(e, f);
		} else if (f->kind == WF_TREE_VALUE && strcmp(f->key, "wred_profile") == 0) {
			queue->wred = refer(e->s, &d->wreds, sizeof(*queue->wred), f->text);
			queue->wred_at = place_of(e, f);
		} else {
			odd(e, f);
		}
	}
}

static void take_queue(const struct entry *e)
{
	each_place(e, set_queue);
}

static void set_pg(const struct entry *e, struct wf_conf_port *port, unsigned n)
{
	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		if (f->kind != WF_TREE_VALUE || strcmp(f->key, "profile") != 0) {
			odd(e, f);
			continue;
		}
		port->pg[n].at = place_of(e, f);
		port->pg[n].by_switch = strcmp(f->text, "NULL") == 0;
		port->pg[n].profile = port->pg[n].by_switch
		                              ? NULL
		                              : refer(e->s, &e->s->r->device->profiles,
		                                      sizeof(struct wf_conf_profile), f->text);
	}
}

static void take_pg(const struct entry *e)
{
	e->s->r->device->buffers_said = wf_conf_say(1, place_of_entry(e));
	each_place(e, set_pg);
}

static void set_queue_buffer(const struct entry *e, struct wf_conf_port *port, unsigned n)
{
	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		if (f->kind != WF_TREE_VALUE || strcmp(f->key, "profile") != 0) {
			odd(e, f);
			continue;
		}
		port->queue[n].profile_at = place_of(e, f);
		port->queue[n].profile = strcmp(f->text, "NULL") == 0
		                                 ? NULL
		                                 : refer(e->s, &e->s->r->device->profiles,
		                                         sizeof(struct wf_conf_profile), f->text);
	}
}

static void take_queue_buffer(const struct entry *e)
{
	each_place(e, set_queue_buffer);
}

static void take_scheduler(const struct entry *e)
{
	struct wf_conf_sched *sched = refer(e->s, &e->s->r->device->scheds, sizeof(*sched), e->key);
	static const struct field rows[] = {
		{ "weight", INT, offsetof(struct wf_conf_sched, weight), 1, 100 },
		{ "meter_type", SKIP, 0, 0, 0 },
		{ "cir", SKIP, 0, 0, 0 },
		{ "pir", SKIP, 0, 0, 0 },
		{ "cbs", SKIP, 0, 0, 0 },
		{ "pbs", SKIP, 0, 0, 0 },
		{ "pir_min", SKIP, 0, 0, 0 },
	};

	if (sched == NULL)
		return;
	define(e, &sched->is);
	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		const struct field *row = row_of(rows, COUNT(rows), f->key);

		if (strcmp(f->key, "type") == 0 && f->kind == WF_TREE_VALUE) {
			if (strcmp(f->text, "STRICT") != 0 && strcmp(f->text, "DWRR") != 0 &&
			    strcmp(f->text, "WRR") != 0)
				wf_conf_bad(e->s->r, NULL, place_of(e, f), f->text,
				            "STRICT, DWRR or WRR");
			sched->strict = wf_conf_say(strcmp(f->text, "STRICT") == 0, place_of(e, f));
		} else if (row != NULL) {
			take_field(e, f, row, sched, NULL);
		} else {
			odd(e, f);
		}
	}
}

static void take_wred(const struct entry *e)
{
	static const struct field rows[] = {
		{ "green_min_threshold", BYTES, offsetof(struct wf_conf_wred, min), 0, 0 },
		{ "green_max_threshold", BYTES, offsetof(struct wf_conf_wred, max), 0, 0 },
		{ "green_drop_probability", INT, offsetof(struct wf_conf_wred, chance), 0, 100 },
		{ "wred_green_enable", FLAG, offsetof(struct wf_conf_wred, drop), 0, 0 },
		{ "wred_yellow_enable", SKIP, 0, 0, 0 },
		{ "wred_red_enable", SKIP, 0, 0, 0 },
		{ "yellow_min_threshold", SKIP, 0, 0, 0 },
		{ "yellow_max_threshold", SKIP, 0, 0, 0 },
		{ "yellow_drop_probability", SKIP, 0, 0, 0 },
		{ "red_min_threshold", SKIP, 0, 0, 0 },
		{ "red_max_threshold", SKIP, 0, 0, 0 },
		{ "red_drop_probability", SKIP, 0, 0, 0 },
		{ "weight", SKIP, 0, 0, 0 },
	};
	struct wf_conf_wred *wred = refer(e->s, &e->s->r->device->wreds, sizeof(*wred), e->key);

	if (wred == NULL)
		return;
	define(e, &wred->is);
	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		const struct field *row = row_of(rows, COUNT(rows), f->key);

		if (strcmp(f->key, "ecn") == 0 && f->kind == WF_TREE_VALUE) {
			bool green =
				strcmp(f->text, "ecn_all") == 0 || strstr(f->text, "green") != NULL;

			if (strncmp(f->text, "ecn_", 4) != 0)
				wf_conf_bad(e->s->r, NULL, place_of(e, f), f->text,
				            "ecn_none, ecn_green, ecn_all or the like");
			wred->ecn = wf_conf_say(green, place_of(e, f));
		} else if (row != NULL) {
			take_field(e, f, row, wred, NULL);
		} else {
			odd(e, f);
		}
	}
	wf_conf_default(&wred->ecn, 0);
}

static void take_pool(const struct entry *e)
{
	static const struct field rows[] = {
		{ "size", BYTES, offsetof(struct wf_conf_pool, size), 0, 0 },
		{ "xoff", BYTES, offsetof(struct wf_conf_pool, xoff), 0, 0 },
		{ "percentage", SKIP, 0, 0, 0 },
	};
	struct wf_conf_pool *pool = refer(e->s, &e->s->r->device->pools, sizeof(*pool), e->key);

	if (pool == NULL)
		return;
	define(e, &pool->is);
	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		const struct field *row = row_of(rows, COUNT(rows), f->key);

		if (f->kind == WF_TREE_VALUE && strcmp(f->key, "type") == 0)
			pool->egress = wf_conf_say(strcmp(f->text, "egress") == 0, place_of(e, f));
		else if (f->kind == WF_TREE_VALUE && strcmp(f->key, "mode") == 0)
			pool->dynamic =
				wf_conf_say(strcmp(f->text, "dynamic") == 0, place_of(e, f));
		else if (row != NULL)
			take_field(e, f, row, pool, NULL);
		else
			odd(e, f);
	}
}

static void take_profile(const struct entry *e)
{
	static const struct field rows[] = {
		{ "size", BYTES, offsetof(struct wf_conf_profile, size), 0, 0 },
		{ "xon", BYTES, offsetof(struct wf_conf_profile, xon), 0, 0 },
		{ "xoff", BYTES, offsetof(struct wf_conf_profile, xoff), 0, 0 },
		{ "xon_offset", BYTES, offsetof(struct wf_conf_profile, xon_offset), 0, 0 },
		{ "dynamic_th", INT, offsetof(struct wf_conf_profile, dynamic_th), -8, 8 },
		{ "static_th", BYTES, offsetof(struct wf_conf_profile, static_th), 0, 0 },
		{ "mode", SKIP, 0, 0, 0 },
		{ "headroom_type", SKIP, 0, 0, 0 },
		{ "packet_discard_action", SKIP, 0, 0, 0 },
	};
	struct wf_conf_profile *p = refer(e->s, &e->s->r->device->profiles, sizeof(*p), e->key);

	if (p == NULL)
		return;
	define(e, &p->is);
	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		const struct field *row = row_of(rows, COUNT(rows), f->key);

		if (f->kind == WF_TREE_VALUE && strcmp(f->key, "pool") == 0) {
			p->pool = refer(e->s, &e->s->r->device->pools, sizeof(struct wf_conf_pool),
			                f->text);
			p->pool_at = place_of(e, f);
		} else if (f->kind == WF_TREE_VALUE && strcmp(f->key, "headroom_type") == 0) {
			p->computed = wf_conf_say(strcmp(f->text, "dynamic") == 0, place_of(e, f));
		} else if (row != NULL) {
			take_field(e, f, row, p, NULL);
		} else {
			odd(e, f);
		}
	}
}

static void take_lossless_default(const struct entry *e)
{
	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		int64_t v = 0;

		if (strcmp(f->key, "over_subscribe_ratio") == 0 && f->kind == WF_TREE_VALUE &&
		    wf_conf_micro(f->text, &v))
			e->s->r->device->oversubscribe = wf_conf_say(v / 1000, place_of(e, f));
		else if (strcmp(f->key, "default_dynamic_th") != 0)
			odd(e, f);
	}
}

static void take_pattern(const struct entry *e)
{
	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		if (strcmp(f->key, "mtu") != 0 && strcmp(f->key, "small_packet_percentage") != 0)
			odd(e, f);
	}
}

static void take_wd_action(const struct entry *e, const struct wf_tree *f,
                           struct wf_conf_port *port)
{
	static const char *const names[] = { "drop", "forward", "alert" };

	for (size_t i = 0; i < COUNT(names) && f->kind == WF_TREE_VALUE; i++) {
		if (strcmp(f->text, names[i]) == 0) {
			port->wd_action = wf_conf_say((int64_t)i, place_of(e, f));
			return;
		}
	}
	wf_conf_bad(e->s->r, port, place_of(e, f), f->kind == WF_TREE_VALUE ? f->text : "?",
	            "drop, forward or alert");
}

static void take_wd(const struct entry *e)
{
	static const struct field global[] = {
		{ "POLL_INTERVAL", MS, offsetof(struct wf_conf_device, wd_poll), 100000, 1000000 },
		{ "BIG_RED_SWITCH", SKIP, 0, 0, 0 },
	};
	static const struct field rows[] = {
		{ "detection_time", MS, offsetof(struct wf_conf_port, wd_detect), 100000, 5000000 },
		{ "restoration_time", MS, offsetof(struct wf_conf_port, wd_restore), 100000,
		  60000000 },
		{ "pfc_stat_history", SKIP, 0, 0, 0 },
	};
	struct wf_conf_device *d = e->s->r->device;
	const char *p = e->key;

	d->wd_on = wf_conf_say(1, place_of_entry(e));
	if (strcmp(e->key, "GLOBAL") == 0) {
		const struct wf_tree *red = wf_tree_get(e->fields, "BIG_RED_SWITCH");

		if (red != NULL && red->kind == WF_TREE_VALUE && strcmp(red->text, "enable") == 0)
			wf_conf_add_fault(e->s->r->net, WF_CONF_FAULT_RED, d, NULL,
			                  place_of(e, red),
			                  "BIG_RED_SWITCH is on: all that is lossless is dropped, "
			                  "whether there is a storm or not",
			                  "disable");
		take_fields(e, global, COUNT(global), d, NULL);
		return;
	}
	while (*p != '\0') {
		size_t n = strcspn(p, ",");
		struct wf_conf_port *port = wf_conf_port_here(
			e->s->r, wf_conf_text(e->s->r->net, p, n), e->fields->line, &e->s->ret);

		for (const struct wf_tree *f = e->fields->child; f != NULL && port != NULL;
		     f = f->next) {
			const struct field *row = row_of(rows, COUNT(rows), f->key);

			if (strcmp(f->key, "action") == 0)
				take_wd_action(e, f, port);
			else if (row != NULL)
				take_field(e, f, row, port, port);
			else
				odd(e, f);
		}
		p += n + (p[n] == ',');
	}
}

static void take_neighbor(const struct entry *e)
{
	const char *name = wf_tree_text(e->fields, "name");
	const char *port = wf_tree_text(e->fields, "port");
	struct wf_netconf *net = e->s->r->net;
	struct wf_conf_end end[2] = { { .device = e->s->r->device } };

	if (name == NULL || port == NULL) {
		odd(e, e->fields);
		return;
	}
	end[0].name = wf_conf_text(net, e->key, strlen(e->key));
	end[1].device = wf_conf_device_of(net, name);
	end[1].name = wf_conf_text(net, port, strlen(port));
	wf_conf_add_link(net, end, place_of_entry(e), -1);
}

static void take_hash(const struct entry *e)
{
	struct wf_conf_device *d = e->s->r->device;

	for (const struct wf_tree *f = e->fields->child; f != NULL; f = f->next) {
		int64_t v = 0;

		if (strcmp(f->key, "ecmp_hash_seed") == 0 && f->kind == WF_TREE_VALUE &&
		    wf_conf_number(f->text, &v))
			d->hash_seed = wf_conf_say(v, place_of(e, f));
		else if (strcmp(f->key, "ecmp_hash_algorithm") == 0 && f->kind == WF_TREE_VALUE)
			d->hash = wf_conf_text(e->s->r->net, f->text, strlen(f->text));
	}
}

static void take_trimming(const struct entry *e)
{
	(void)e;
}

static const struct table {
	const char *name;
	void (*take)(const struct entry *e);
} tables[] = {
	{ "DEVICE_METADATA", take_metadata },
	{ "PORT", take_port },
	{ "CABLE_LENGTH", take_cable },
	{ "DSCP_TO_TC_MAP", take_dscp_tc },
	{ "DOT1P_TO_TC_MAP", take_pcp_tc },
	{ "TC_TO_PRIORITY_GROUP_MAP", take_tc_pg },
	{ "TC_TO_QUEUE_MAP", take_tc_queue },
	{ "MAP_PFC_PRIORITY_TO_QUEUE", take_pfc_queue },
	{ "PFC_PRIORITY_TO_QUEUE_MAP", take_pfc_queue },
	{ "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", take_pfc_pg },
	{ "PORT_QOS_MAP", take_port_qos },
	{ "QUEUE", take_queue },
	{ "SCHEDULER", take_scheduler },
	{ "WRED_PROFILE", take_wred },
	{ "BUFFER_POOL", take_pool },
	{ "BUFFER_PROFILE", take_profile },
	{ "BUFFER_PG", take_pg },
	{ "BUFFER_QUEUE", take_queue_buffer },
	{ "DEFAULT_LOSSLESS_BUFFER_PARAMETER", take_lossless_default },
	{ "LOSSLESS_TRAFFIC_PATTERN", take_pattern },
	{ "PFC_WD", take_wd },
	{ "PFC_WD_TABLE", take_wd },
	{ "DEVICE_NEIGHBOR", take_neighbor },
	{ "SWITCH_HASH", take_hash },
	{ "SWITCH", take_hash },
	{ "SWITCH_TRIMMING", take_trimming },
	{ "BUFFER_PORT_INGRESS_PROFILE_LIST", take_trimming },
	{ "BUFFER_PORT_EGRESS_PROFILE_LIST", take_trimming },
};

/* ---- the file ---- */

static const struct table *table_of(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT(tables); i++) {
		if (strlen(tables[i].name) == len && memcmp(tables[i].name, name, len) == 0)
			return &tables[i];
	}
	return NULL;
}

static void take_entry(struct sonic *s, const struct table *table, const char *key,
                       const struct wf_tree *fields)
{
	struct entry e = { s, table->name, key, fields };

	if (fields->kind == WF_TREE_MAP)
		table->take(&e);
	else
		wf_conf_add_note(s->r->net, WF_CONF_NOTE_ODD, place_of_entry(&e),
		                 "here should be fields in braces");
}

static void take_top(struct sonic *s, const struct wf_tree *top)
{
	const char *bar = strchr(top->key, '|');
	const struct table *table =
		table_of(top->key, bar == NULL ? strlen(top->key) : (size_t)(bar - top->key));
	struct wf_conf_place at =
		wf_conf_at(s->r, top->line, wf_conf_textf(s->r->net, "%.200s", top->key));

	if (table == NULL) {
		char name[64];

		(void)snprintf(name, sizeof(name), "%.*s",
		               bar == NULL ? 60 : (int)(bar - top->key > 60 ? 60 : bar - top->key),
		               top->key);
		wf_conf_add_note(s->r->net,
		                 wf_conf_sonic_is_other(name) ? WF_CONF_NOTE_OTHER
		                                              : WF_CONF_NOTE_ODD,
		                 at, "the table %s", name);
		return;
	}
	if (bar != NULL) {
		take_entry(s, table, bar + 1, top);
		return;
	}
	if (top->kind != WF_TREE_MAP) {
		wf_conf_add_note(s->r->net, WF_CONF_NOTE_ODD, at, "here should be keys in braces");
		return;
	}
	for (const struct wf_tree *entry = top->child; entry != NULL && s->ret == 0;
	     entry = entry->next)
		take_entry(s, table, entry->key, entry);
}

/* Whether it is YANG's form: {"sonic-port:sonic-port": …}, perhaps below the name of a test. */
static const struct wf_tree *yang_in(const struct wf_tree *root)
{
	for (const struct wf_tree *top = root->child; top != NULL; top = top->next) {
		if (strncmp(top->key, "sonic-", 6) == 0 && strchr(top->key, ':') != NULL)
			return top;
		if (top->kind == WF_TREE_MAP && top->child != NULL &&
		    strncmp(top->child->key, "sonic-", 6) == 0 &&
		    strchr(top->child->key, ':') != NULL)
			return top->child;
	}
	return NULL;
}

static int read_sonic(struct wf_conf_reading *r, const char *text, size_t len)
{
	struct sonic s = { .r = r };
	struct wf_tree *root = NULL;
	const struct wf_tree *yang;
	int ret = wf_tree_read_json(text, len, r->path, r->arena, &root, r->err);

	if (ret != 0)
		return ret;
	if (root->kind != WF_TREE_MAP)
		return wf_err_at(r->err, r->path, 1, 1, "here should be tables in braces");
	yang = yang_in(root);
	if (yang != NULL)
		return wf_err_at(r->err, r->path, yang->line, 0,
		                 "%.60s is YANG's form; a config_db.json has tables like PORT and "
		                 "PORT_QOS_MAP",
		                 yang->key);
	r->device->form = WF_CONF_FORM_SONIC;
	if (r->device->at.file == WF_CONF_NONE)
		r->device->at = wf_conf_at(r, 0, NULL);
	for (const struct wf_tree *top = root->child; top != NULL && s.ret == 0; top = top->next)
		take_top(&s, top);
	return s.ret;
}

static bool is_sonic(const char *text, size_t len, char name[WF_CONF_NAME])
{
	const char *at = NULL;
	bool found = false;

	if (wf_conf_first(text, len) != '{')
		return false;
	if (wf_conf_has(text, len, "\"sonic-", NULL) && wf_conf_has(text, len, ":sonic-", NULL))
		found = true; /* YANG's form, which the reader refuses with its place */
	for (size_t i = 0; i < COUNT(tables) && !found; i++) {
		char key[64];

		(void)snprintf(key, sizeof(key), "\"%s\"", tables[i].name);
		found = wf_conf_has(text, len, key, NULL);
		key[strlen(key) - 1] = '|';
		found = found || wf_conf_has(text, len, key, NULL);
	}
	if (found && wf_conf_has(text, len, "\"DEVICE_METADATA", &at) &&
	    wf_conf_has(at, len - (size_t)(at - text), "\"hostname\"", &at))
		wf_conf_copy_word(name, at, text + len);
	/* What every switch is called before somebody gives it a name. */
	if (strcmp(name, "sonic") == 0)
		name[0] = '\0';
	return found;
}

/* What "global" says goes to ports that do not say it themselves, and it is no port. */
static void finish_sonic(struct wf_netconf *net, struct wf_conf_device *d)
{
	struct wf_conf_port *global = wf_conf_find_port(net, d, "global");
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n_ports; i++) {
		struct wf_conf_port *port = d->ports[i];

		if (port == global)
			continue;
		d->ports[n++] = port;
		if (global != NULL && port->map[WF_CONF_DSCP_TC] == NULL && port->has_qos) {
			port->map[WF_CONF_DSCP_TC] = global->map[WF_CONF_DSCP_TC];
			port->map_at[WF_CONF_DSCP_TC] = global->map_at[WF_CONF_DSCP_TC];
		}
		if (port->map[WF_CONF_DSCP_TC] != NULL)
			wf_conf_default(&port->trust, WF_CONF_TRUST_L3);
		else if (port->map[WF_CONF_PCP_TC] != NULL)
			wf_conf_default(&port->trust, WF_CONF_TRUST_L2);
		if (d->wd_action.said == WF_CONF_UNSET && port->wd_detect.said == WF_CONF_SAID)
			wf_conf_default(&port->wd_action, WF_CONF_ACTION_DROP);
		if (d->wd_on.said == WF_CONF_SAID)
			wf_conf_default(&port->wd_poll, 200000);
		if (d->wd_poll.said == WF_CONF_SAID)
			port->wd_poll = d->wd_poll;
	}
	d->n_ports = n;
}

const struct wf_conf_reader wf_conf_sonic = {
	.name = "SONiC",
	.help = "config_db.json, whole or in parts; nested or flattened keys",
	.form = WF_CONF_FORM_SONIC,
	.is = is_sonic,
	.read = read_sonic,
	.finish = finish_sonic,
};
