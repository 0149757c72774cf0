/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_cumulus.c - Cumulus Linux before NVUE, and below it: datapath.conf, traffic.conf,
 * qos_features.conf. Lines "a.b.c = value"; groups of ports are defined by their keys, and hold
 * where a list names them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "netconf/read_priv.h"

#define MAX_LIST 64

struct group {
	struct wf_conf_named is;
	const char *ports; /* as written; NULL: not said */
	struct wf_conf_place ports_at;
	bool ecn, listed;
	struct wf_conf_place listed_at;
	int64_t mask; /* of classes */
	struct wf_conf_value rx, tx, ecn_on, red_on, min, max, chance, cable;
};

struct cumulus {
	struct wf_conf_reading *r;
	uint32_t line;
	int ret;
};

static struct wf_conf_place here(const struct cumulus *c, const char *key)
{
	return wf_conf_at(c->r, c->line, key);
}

/* "[3,4]" or "3": numbers; -1 of what is no list of numbers below limit. */
static int numbers(const char *text, unsigned limit, unsigned list[WF_CONF_DSCPS])
{
	int n = 0;

	for (const char *p = text; *p != '\0';) {
		unsigned v = 0;

		if (strchr("[], ", *p) != NULL) {
			p++;
			continue;
		}
		if (*p < '0' || *p > '9')
			return -1;
		for (; *p >= '0' && *p <= '9' && v < 1000; p++)
			v = v * 10 + (unsigned)(*p - '0');
		if (v >= limit || n == WF_CONF_DSCPS)
			return -1;
		list[n++] = v;
	}
	return n;
}

static struct group *group_of(struct cumulus *c, const char *feature, const char *name, size_t len)
{
	struct group *g = wf_conf_named_of(
		c->r->net, &c->r->device->policies, sizeof(*g),
		wf_conf_textf(c->r->net, "%s.%.*s", feature, (int)(len > 100 ? 100 : len), name));

	if (g != NULL)
		g->ecn = strcmp(feature, "ecn_red") == 0;
	return g;
}

/* "pfc.port_group_list = [ROCE_PFC]" */
static void take_list(struct cumulus *c, const char *feature, const char *key, const char *text)
{
	for (const char *p = text; *p != '\0';) {
		size_t len = strcspn(p, "[], ");
		struct group *g = len == 0 ? NULL : group_of(c, feature, p, len);

		if (g != NULL) {
			g->listed = true;
			g->listed_at = here(c, key);
		}
		p += len + (len == 0);
	}
}

static bool take_group(struct cumulus *c, const char *feature, const char *rest, const char *key,
                       const char *text)
{
	const char *dot = strchr(rest, '.');
	struct wf_conf_value *to;
	unsigned list[WF_CONF_DSCPS];
	struct group *g;
	int64_t v = 0;
	int n;

	if (strcmp(rest, "port_group_list") == 0) {
		take_list(c, feature, key, text);
		return true;
	}
	if (dot == NULL)
		return false;
	g = group_of(c, feature, rest, (size_t)(dot - rest));
	if (g == NULL)
		return false;
	g->is.defined = true;
	g->is.at = g->is.at.file == WF_CONF_NONE ? here(c, key) : g->is.at;
	dot++;
	if (strcmp(dot, "port_set") == 0) {
		g->ports = wf_conf_text(c->r->net, text, strlen(text));
		g->ports_at = here(c, key);
		return true;
	}
	if (strcmp(dot, "cos_list") == 0 || strcmp(dot, "egress_queue_list") == 0) {
		n = numbers(text, WF_CONF_TCS, list);
		for (int i = 0; i < n; i++)
			g->mask |= INT64_C(1) << list[i];
		return n >= 0;
	}
	to = strcmp(dot, "tx_enable") == 0             ? &g->tx
	     : strcmp(dot, "rx_enable") == 0           ? &g->rx
	     : strcmp(dot, "ecn_enable") == 0          ? &g->ecn_on
	     : strcmp(dot, "red_enable") == 0          ? &g->red_on
	     : strcmp(dot, "min_threshold_bytes") == 0 ? &g->min
	     : strcmp(dot, "max_threshold_bytes") == 0 ? &g->max
	     : strcmp(dot, "probability") == 0         ? &g->chance
	     : strcmp(dot, "cable_length") == 0        ? &g->cable
	                                               : NULL;
	if (to == NULL)
		return strcmp(dot, "port_buffer_bytes") == 0 || strcmp(dot, "xoff_size") == 0 ||
		       strcmp(dot, "xon_delta") == 0 || strcmp(dot, "cable_length") == 0;
	if (to == &g->cable ? !wf_conf_metres(text, &v)
	                    : !wf_conf_flag(text, &v) && !wf_conf_number(text, &v))
		return false;
	*to = wf_conf_say(v, here(c, key));
	return true;
}

/* "traffic.cos_3.priority_source.dscp = [26]" */
static bool take_traffic(struct cumulus *c, const char *rest, const char *key, const char *text)
{
	struct wf_conf_device *d = c->r->device;
	bool dscp;
	unsigned list[WF_CONF_DSCPS];
	struct wf_conf_map *map;
	int n;

	if (strcmp(rest, "packet_priority_source_set") == 0) {
		int64_t trust = (strstr(text, "dscp") != NULL ? WF_CONF_TRUST_L3 : 0) |
		                (strstr(text, "802.1p") != NULL || strstr(text, "cos") != NULL
		                         ? WF_CONF_TRUST_L2
		                         : 0);

		d->oversubscribe = wf_conf_say(trust, here(c, key));
		return true;
	}
	if (strncmp(rest, "cos_", 4) != 0 || rest[4] < '0' || rest[4] > '7')
		return strncmp(rest, "packet_priority_remark", 22) == 0 ||
		       strncmp(rest, "port_group_list", 15) == 0;
	dscp = strcmp(rest + 5, ".priority_source.dscp") == 0;
	if (!dscp && strcmp(rest + 5, ".priority_source.8021p") != 0)
		return strncmp(rest + 5, ".priority_remark", 16) == 0;
	map = wf_conf_map_of(c->r->net, d, dscp ? WF_CONF_DSCP_TC : WF_CONF_PCP_TC, "traffic");
	n = numbers(text, dscp ? WF_CONF_DSCPS : WF_CONF_TCS, list);
	if (map == NULL || n < 0)
		return false;
	if (!map->is.defined)
		map->is.at = here(c, key);
	map->is.defined = map->is.used = true;
	for (int i = 0; i < n; i++) {
		map->to[list[i]] = (int8_t)(rest[4] - '0');
		map->line[list[i]] = c->line;
	}
	return true;
}

/* "priority_group.bulk.cos_list = [0,1]", ".weight = 16": 0 is strict. */
static bool take_priority_group(struct cumulus *c, const char *rest, const char *key,
                                const char *text)
{
	const char *dot = strchr(rest, '.');
	struct group *g;
	unsigned list[WF_CONF_DSCPS];
	int64_t v = 0;
	int n;

	if (dot == NULL)
		return false;
	if (strcmp(dot, ".cos_list") != 0 && strcmp(dot, ".weight") != 0)
		return true; /* pools, of which only their sharing is known */
	g = group_of(c, "priority_group", rest, (size_t)(dot - rest));
	if (g == NULL)
		return false;
	g->is.at = here(c, key);
	if (strcmp(dot, ".weight") == 0) {
		if (!wf_conf_number(text, &v) || v < 0 || v > 127)
			return false;
		g->chance = wf_conf_say(v, here(c, key));
		return true;
	}
	n = numbers(text, WF_CONF_TCS, list);
	for (int i = 0; i < n; i++)
		g->mask |= INT64_C(1) << list[i];
	return n >= 0;
}

static bool take_key(struct cumulus *c, const char *key, const char *text)
{
	struct wf_conf_device *d = c->r->device;
	int64_t v = 0;

	if (strncmp(key, "traffic.", 8) == 0)
		return take_traffic(c, key + 8, key, text);
	if (strncmp(key, "pfc.", 4) == 0)
		return take_group(c, "pfc", key + 4, key, text);
	if (strncmp(key, "ecn_red.", 8) == 0)
		return take_group(c, "ecn_red", key + 8, key, text);
	if (strncmp(key, "default_ecn_red_conf.", 21) == 0) {
		struct group *g = group_of(c, "ecn_red", "default_ecn_red_conf", 20);

		if (g == NULL)
			return false;
		g->listed = true;
		if (g->ports == NULL)
			g->ports = "allports";
		return take_group(c, "ecn_red",
		                  wf_conf_textf(c->r->net, "default_ecn_red_conf.%.100s", key + 21),
		                  key, text);
	}
	if (strncmp(key, "priority_group.", 15) == 0)
		return take_priority_group(c, key + 15, key, text);
	if (strcmp(key, "pfc_wd.poll_interval") == 0 && wf_conf_number(text, &v) && v >= 0 &&
	    v < 1000000)
		d->wd_poll = wf_conf_say(v * 1000, here(c, key));
	else if (strcmp(key, "pfc_wd.robustness") == 0 && wf_conf_number(text, &v))
		d->wd_detect = wf_conf_say(v, here(c, key));
	else
		return strstr(key, "service_pool") != NULL || strstr(key, "hash_") != NULL ||
		       strncmp(key, "scheduling.", 11) == 0 ||
		       strncmp(key, "flow_control.", 13) == 0;
	return true;
}

/* "key = value  # why" */
static void take_line(struct cumulus *c, const struct wf_lines *l)
{
	const char *eq = memchr(l->raw, '=', l->raw_len), *end = l->raw + l->raw_len, *at, *stop;
	const char *hash = memchr(l->raw, '#', l->raw_len);

	if (l->raw[0] == '#')
		return;
	stop = hash == NULL ? end : hash;
	if (eq == NULL || eq > stop) {
		wf_conf_add_note(c->r->net, WF_CONF_NOTE_ODD, here(c, NULL), "%.*s",
		                 (int)(l->raw_len > 100 ? 100 : l->raw_len), l->raw);
		return;
	}
	at = eq + 1;
	while (at < stop && (*at == ' ' || *at == '\t'))
		at++;
	while (stop > at && (stop[-1] == ' ' || stop[-1] == '\t'))
		stop--;
	while (eq > l->raw && (eq[-1] == ' ' || eq[-1] == '\t'))
		eq--;
	if (!take_key(c, wf_conf_text(c->r->net, l->raw, (size_t)(eq - l->raw)),
	              wf_conf_text(c->r->net, at, (size_t)(stop - at))))
		wf_conf_add_note(c->r->net, WF_CONF_NOTE_ODD, here(c, NULL), "%.*s",
		                 (int)(l->raw_len > 100 ? 100 : l->raw_len), l->raw);
}

static int read_cumulus(struct wf_conf_reading *r, const char *text, size_t len)
{
	struct wf_lines *l = wf_arena_alloc(r->arena, sizeof(*l), _Alignof(struct wf_lines));
	struct cumulus c = { .r = r };

	if (l == NULL)
		return -ENOMEM;
	r->device->form = WF_CONF_FORM_CUMULUS;
	if (r->device->at.file == WF_CONF_NONE)
		r->device->at = wf_conf_at(r, 0, NULL);
	wf_lines_init(l, text, len);
	while (wf_lines_next(l)) {
		c.line = l->line;
		take_line(&c, l);
	}
	return c.ret;
}

static bool is_cumulus(const char *text, size_t len, char name[WF_CONF_NAME])
{
	name[0] = '\0';
	return wf_conf_has_line(text, len, "traffic.cos_", NULL) ||
	       wf_conf_has_line(text, len, "traffic.packet_priority", NULL) ||
	       wf_conf_has_line(text, len, "pfc.port_group_list", NULL) ||
	       wf_conf_has_line(text, len, "priority_group.", NULL) ||
	       wf_conf_has_line(text, len, "default_ecn_red_conf.", NULL);
}

/* ---- when all is read ---- */

struct apply {
	struct wf_netconf *net;
	struct wf_conf_reading r;
	struct group *g;
	int ret;
};

static void apply_to(struct apply *a, struct wf_conf_port *port)
{
	struct group *g = a->g;

	port->has_qos = true;
	if (!g->ecn) {
		/* Both are on where it is not said. */
		port->pfc_rx = wf_conf_say(g->rx.said == WF_CONF_SAID && g->rx.v == 0 ? 0 : g->mask,
		                           g->is.at);
		port->pfc_tx = wf_conf_say(g->tx.said == WF_CONF_SAID && g->tx.v == 0 ? 0 : g->mask,
		                           g->is.at);
		port->cable = g->cable.said == WF_CONF_SAID ? g->cable : port->cable;
		return;
	}
	for (unsigned q = 0; q < WF_CONF_TCS; q++) {
		struct wf_conf_wred *wred;

		if ((g->mask >> q & 1) == 0)
			continue;
		wred = wf_conf_wred_of(&a->r, g->is.name, g->is.at);
		if (wred == NULL)
			return;
		wred->ecn = g->ecn_on;
		wred->drop = g->red_on;
		wred->min = g->min;
		wred->max = g->max;
		wred->chance = g->chance;
		port->queue[q].wred = wred;
		port->queue[q].wred_at = g->is.at;
	}
}

static void apply_name(void *arg, const char *name)
{
	struct apply *a = arg;
	struct wf_conf_port *port = wf_conf_port_of(a->net, a->r.device, name);

	if (port == NULL)
		return;
	port->defined = true;
	if (port->at.file == WF_CONF_NONE)
		port->at = a->g->ports_at;
	apply_to(a, port);
}

static void make_port(void *arg, const char *name)
{
	struct apply *a = arg;
	struct wf_conf_port *port = wf_conf_port_of(a->net, a->r.device, name);

	if (port != NULL && port->at.file == WF_CONF_NONE)
		port->at = a->g->ports_at;
	if (port != NULL)
		port->defined = true;
}

static void apply_group(struct wf_netconf *net, struct wf_conf_device *d, struct group *g)
{
	struct apply a = { .net = net,
		           .r = { .net = net, .device = d, .file = g->is.at.file },
		           .g = g };

	if (g->listed && !g->is.defined) {
		wf_conf_add_fault(net, WF_CONF_FAULT_GROUP, d, NULL, g->listed_at,
		                  wf_conf_textf(net,
		                                "the list names the port group %.100s, of which "
		                                "nothing is said, so it holds for no port",
		                                g->is.name),
		                  "the name in the list is that of the keys below it");
		return;
	}
	if (g->ports == NULL)
		return;
	if (!g->listed) {
		wf_conf_each_port(&a.r, g->ports, make_port, &a);
		return;
	}
	if (strcmp(g->ports, "allports") == 0) {
		for (uint32_t i = 0; i < d->n_ports; i++)
			apply_to(&a, d->ports[i]);
		return;
	}
	wf_conf_each_port(&a.r, g->ports, apply_name, &a);
}

/* The classes of a priority group with weight 0 are strict. */
static void apply_weights(struct wf_netconf *net, struct wf_conf_device *d, struct group *g)
{
	struct wf_conf_reading r = { .net = net, .device = d };
	struct wf_conf_sched *s = wf_conf_sched_of(&r, g->is.name, g->is.at);

	if (s == NULL || g->chance.said != WF_CONF_SAID)
		return;
	s->strict = wf_conf_say(g->chance.v == 0, g->chance.at);
	s->weight = g->chance;
	for (uint32_t i = 0; i < d->n_ports; i++) {
		for (unsigned q = 0; q < WF_CONF_TCS; q++) {
			if ((g->mask >> q & 1) != 0) {
				d->ports[i]->queue[q].sched = s;
				d->ports[i]->queue[q].sched_at = g->chance.at;
			}
		}
	}
}

static void finish_cumulus(struct wf_netconf *net, struct wf_conf_device *d)
{
	struct wf_conf_map *dscp = wf_conf_map_of(net, d, WF_CONF_DSCP_TC, "traffic");
	struct wf_conf_map *pcp = wf_conf_map_of(net, d, WF_CONF_PCP_TC, "traffic");

	for (struct wf_conf_named *p = d->policies; p != NULL; p = p->next) {
		if (strncmp(p->name, "priority_group.", 15) != 0)
			apply_group(net, d, (struct group *)p);
	}
	for (struct wf_conf_named *p = d->policies; p != NULL; p = p->next) {
		if (strncmp(p->name, "priority_group.", 15) == 0)
			apply_weights(net, d, (struct group *)p);
	}
	for (uint32_t i = 0; i < d->n_ports && dscp != NULL && pcp != NULL; i++) {
		struct wf_conf_port *port = d->ports[i];

		if (port->trust.said == WF_CONF_UNSET)
			port->trust = d->oversubscribe;
		wf_conf_default(&port->trust, WF_CONF_TRUST_L2);
		port->map[WF_CONF_DSCP_TC] = dscp;
		port->map[WF_CONF_PCP_TC] = pcp;
		port->map_at[WF_CONF_DSCP_TC] = dscp->is.at;
		port->map_at[WF_CONF_PCP_TC] = pcp->is.at;
	}
	for (unsigned i = 0; i < WF_CONF_DSCPS && dscp != NULL && pcp != NULL; i++) {
		dscp->to[i] = dscp->to[i] < 0 && !dscp->is.defined ? (int8_t)(i / 8) : dscp->to[i];
		if (i < WF_CONF_TCS && pcp->to[i] < 0)
			pcp->to[i] = (int8_t)i;
	}
	if (dscp != NULL && pcp != NULL)
		dscp->is.defined = dscp->is.used = pcp->is.defined = pcp->is.used = true;
	d->oversubscribe.said = WF_CONF_UNSET;
}

const struct wf_conf_reader wf_conf_cumulus = {
	.name = "Cumulus files",
	.help = "Cumulus Linux: datapath.conf, traffic.conf, qos_features.conf",
	.form = WF_CONF_FORM_CUMULUS,
	.is = is_cumulus,
	.read = read_cumulus,
	.finish = finish_cumulus,
};
