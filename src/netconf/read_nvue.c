/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_nvue.c - NVIDIA's NVUE: "nv config show" as JSON, as YAML (startup.yaml) or as commands.
 *
 * All three become one tree. A command's last word is a value where the others have one, and a
 * mapping of nothing where the tree is made of commands, so value_of() takes both.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netconf/read_priv.h"

struct nvue {
	struct wf_conf_reading *r;
	int ret;
};

/* What belongs to a profile: a port that nobody sees. */
struct profile {
	struct wf_conf_named is;
	struct wf_conf_port port;
};

/* Kinds of profiles, and which of a port's policies they are. */
enum kind { MAPPING, PFC, ECN };

static const char *value_of(const struct wf_tree *node)
{
	if (node == NULL)
		return NULL;
	if (node->kind == WF_TREE_MAP)
		return node->last == NULL ? "" : node->last->key;
	if (node->kind == WF_TREE_LIST)
		return node->child == NULL || node->child->text == NULL ? "" : node->child->text;
	return node->text;
}

static const char *text_at(const struct wf_tree *map, const char *key)
{
	return value_of(wf_tree_get(map, key));
}

/* "qos|pfc|my-profile|tx" */
static struct wf_conf_place place_of(const struct nvue *n, const struct wf_tree *node)
{
	char text[256] = "";
	const struct wf_tree *way[WF_TREE_MAX_DEPTH];
	unsigned depth = 0;
	size_t len = 0;

	assert(node != NULL);
	for (const struct wf_tree *up = node; up != NULL && depth < WF_TREE_MAX_DEPTH;
	     up = up->parent) {
		if (up->key != NULL && strcmp(up->key, "set") != 0)
			way[depth++] = up;
	}
	while (depth-- > 0 && len < sizeof(text) - 1) {
		int k = snprintf(text + len, sizeof(text) - len, "%s%.60s", len == 0 ? "" : "|",
		                 way[depth]->key);

		len += k < 0 ? 0 : (size_t)k;
	}
	return wf_conf_at(n->r, node->line, wf_conf_text(n->r->net, text, strlen(text)));
}

static void odd(const struct nvue *n, const struct wf_tree *node)
{
	wf_conf_add_note(n->r->net, WF_CONF_NOTE_ODD, place_of(n, node), "%.80s",
	                 node->key == NULL ? "an item of a list" : node->key);
}

static bool is_one_of(const char *text, const char *const *names)
{
	for (size_t i = 0; names[i] != NULL; i++) {
		if (strcmp(text, names[i]) == 0)
			return true;
	}
	return false;
}

static struct profile *profile_of(const struct nvue *n, enum kind kind, const char *name,
                                  const struct wf_tree *node)
{
	static const char *const kinds[] = { "mapping", "pfc", "congestion-control" };
	struct profile *p =
		wf_conf_named_of(n->r->net, &n->r->device->policies, sizeof(*p),
	                         wf_conf_textf(n->r->net, "%s %.100s", kinds[kind], name));

	if (p == NULL)
		return NULL;
	p->port.name = p->is.name;
	p->port.device = n->r->device;
	if (node != NULL) {
		p->is.defined = true;
		p->is.at = place_of(n, node);
	}
	return p;
}

/* ---- profiles ---- */

/* "dscp: {26: {switch-priority: 3}}" */
static void take_marks(struct nvue *n, const struct wf_tree *node, struct wf_conf_map *map,
                       unsigned limit)
{
	for (const struct wf_tree *mark = node->child; mark != NULL; mark = mark->next) {
		const char *to = text_at(mark, "switch-priority");
		int64_t from = 0, v = 0;

		if (mark->key == NULL || to == NULL) {
			odd(n, mark);
			continue;
		}
		for (const char *p = mark->key; *p != '\0';) {
			unsigned k = 0;

			for (; *p >= '0' && *p <= '9' && k < 100; p++)
				k = k * 10 + (unsigned)(*p - '0');
			from = k;
			if (k >= limit || !wf_conf_number(to, &v) || v < 0 || v > 7) {
				wf_conf_bad(n->r, NULL, place_of(n, mark), to, "from 0 to 7");
				break;
			}
			map->to[from] = (int8_t)v;
			map->line[from] = mark->line;
			if (*p == '\0')
				break;
			p++;
		}
	}
}

static void take_mapping(struct nvue *n, const struct wf_tree *node)
{
	struct profile *p = profile_of(n, MAPPING, node->key, node);
	struct wf_conf_map *dscp =
		wf_conf_map_of(n->r->net, n->r->device, WF_CONF_DSCP_TC, node->key);
	struct wf_conf_map *pcp =
		wf_conf_map_of(n->r->net, n->r->device, WF_CONF_PCP_TC, node->key);

	if (p == NULL || dscp == NULL || pcp == NULL)
		return;
	dscp->is.defined = dscp->is.used = pcp->is.defined = pcp->is.used = true;
	dscp->is.at = pcp->is.at = p->is.at;
	p->port.map[WF_CONF_DSCP_TC] = dscp;
	p->port.map[WF_CONF_PCP_TC] = pcp;
	p->port.map_at[WF_CONF_DSCP_TC] = p->port.map_at[WF_CONF_PCP_TC] = p->is.at;
	for (const struct wf_tree *f = node->child; f != NULL; f = f->next) {
		if (strcmp(f->key, "trust") == 0) {
			const char *v = value_of(f);

			p->port.trust = wf_conf_say(strcmp(v, "l2") == 0     ? WF_CONF_TRUST_L2
			                            : strcmp(v, "l3") == 0   ? WF_CONF_TRUST_L3
			                            : strcmp(v, "both") == 0 ? 3
			                                                     : 0,
			                            place_of(n, f));
		} else if (strcmp(f->key, "dscp") == 0) {
			take_marks(n, f, dscp, WF_CONF_DSCPS);
		} else if (strcmp(f->key, "pcp") == 0) {
			take_marks(n, f, pcp, WF_CONF_TCS);
		} else if (strcmp(f->key, "port-default-sp") != 0) {
			odd(n, f);
		}
	}
}

/* Priorities or classes as keys, "3", "0,3" or "0-2", or as a list: a mask. */
static int64_t mask_of(struct nvue *n, const struct wf_tree *node)
{
	int64_t all = 0, mask = 0;

	if (node->kind == WF_TREE_VALUE && wf_conf_mask(node->text, &mask))
		return mask;
	for (const struct wf_tree *f = node->child; f != NULL; f = f->next) {
		const char *text = f->key != NULL ? f->key : f->text;

		if (text != NULL && wf_conf_mask(text, &mask))
			all |= mask;
		else
			odd(n, f);
	}
	return all;
}

static void take_pfc(struct nvue *n, const struct wf_tree *node)
{
	struct profile *p = profile_of(n, PFC, node->key, node);
	static const char *const known[] = { "xoff-threshold", "xon-threshold", "port-buffer",
		                             NULL };
	int64_t mask = 0, rx = 1, tx = 1, v = 0;
	struct wf_conf_place at;

	if (p == NULL)
		return;
	at = p->is.at;
	for (const struct wf_tree *f = node->child; f != NULL; f = f->next) {
		if (strcmp(f->key, "switch-priority") == 0) {
			mask = mask_of(n, f);
			at = place_of(n, f);
		} else if (strcmp(f->key, "tx") == 0 && wf_conf_flag(value_of(f), &v)) {
			tx = v;
		} else if (strcmp(f->key, "rx") == 0 && wf_conf_flag(value_of(f), &v)) {
			rx = v;
		} else if (strcmp(f->key, "cable-length") == 0 && wf_conf_metres(value_of(f), &v)) {
			p->port.cable = wf_conf_say(v, place_of(n, f));
		} else if (!is_one_of(f->key, known)) {
			odd(n, f);
		}
	}
	p->port.pfc_rx = wf_conf_say(rx != 0 ? mask : 0, at);
	p->port.pfc_tx = wf_conf_say(tx != 0 ? mask : 0, at);
	p->port.has_qos = true;
}

static void take_threshold(struct nvue *n, const struct wf_tree *f, struct wf_conf_wred *wred)
{
	const char *text = value_of(f);
	int64_t v = 0;
	bool flag = wf_conf_flag(text, &v);

	if (strcmp(f->key, "ecn") == 0 && flag)
		wred->ecn = wf_conf_say(v, place_of(n, f));
	else if (strcmp(f->key, "red") == 0 && flag)
		wred->drop = wf_conf_say(v, place_of(n, f));
	else if (!wf_conf_number(text, &v))
		wf_conf_bad(n->r, NULL, place_of(n, f), text, "a number");
	else if (strcmp(f->key, "min-threshold") == 0 || strcmp(f->key, "min-threshold-bytes") == 0)
		wred->min = wf_conf_say(v, place_of(n, f));
	else if (strcmp(f->key, "max-threshold") == 0 || strcmp(f->key, "max-threshold-bytes") == 0)
		wred->max = wf_conf_say(v, place_of(n, f));
	else if (strcmp(f->key, "probability") == 0)
		wred->chance = wf_conf_say(v, place_of(n, f));
	else
		odd(n, f);
}

/* Of congestion control or of a scheduler: "traffic-class: {0,3: {...}}". */
static void take_classes(struct nvue *n, const struct wf_tree *node, enum kind kind, bool ecn)
{
	struct profile *p = profile_of(n, kind, node->key, node);
	const struct wf_tree *classes = wf_tree_get(node, "traffic-class");

	for (const struct wf_tree *c = classes == NULL ? NULL : classes->child;
	     c != NULL && p != NULL; c = c->next) {
		int64_t mask = 0, v = 0;

		if (c->key == NULL || !wf_conf_mask(c->key, &mask)) {
			odd(n, c);
			continue;
		}
		for (unsigned q = 0; q < WF_CONF_TCS; q++) {
			struct wf_conf_queue *queue = &p->port.queue[q];
			const char *name =
				wf_conf_textf(n->r->net, "%.100s traffic-class %u", node->key, q);

			if ((mask >> q & 1) == 0)
				continue;
			if (ecn) {
				queue->wred = wf_conf_wred_of(n->r, name, place_of(n, c));
				queue->wred_at = place_of(n, c);
				for (const struct wf_tree *f = c->child;
				     f != NULL && queue->wred != NULL; f = f->next)
					take_threshold(n, f, queue->wred);
				continue;
			}
			queue->sched = wf_conf_sched_of(n->r, name, place_of(n, c));
			queue->sched_at = place_of(n, c);
			if (queue->sched == NULL)
				continue;
			if (text_at(c, "mode") != NULL)
				queue->sched->strict = wf_conf_say(
					strcmp(text_at(c, "mode"), "strict") == 0, place_of(n, c));
			if (text_at(c, "bw-percent") != NULL &&
			    wf_conf_number(text_at(c, "bw-percent"), &v))
				queue->sched->weight = wf_conf_say(v, place_of(n, c));
		}
	}
}

static void take_queue_mapping(struct nvue *n, const struct wf_tree *node)
{
	struct wf_conf_map *map =
		wf_conf_map_of(n->r->net, n->r->device, WF_CONF_TC_QUEUE, "default-global");
	const struct wf_tree *all = wf_tree_get(node, "switch-priority");

	if (map == NULL)
		return;
	map->is.defined = map->is.used = true;
	map->is.at = place_of(n, node);
	for (const struct wf_tree *sp = all == NULL ? NULL : all->child; sp != NULL;
	     sp = sp->next) {
		const char *tc = text_at(sp, "traffic-class");
		int64_t mask = 0, v = 0;

		if (sp->key == NULL || !wf_conf_mask(sp->key, &mask) || tc == NULL ||
		    !wf_conf_number(tc, &v) || v < 0 || v > 7) {
			odd(n, sp);
			continue;
		}
		for (unsigned k = 0; k < WF_CONF_TCS; k++) {
			if ((mask >> k & 1) != 0) {
				map->to[k] = (int8_t)v;
				map->line[k] = sp->line;
			}
		}
	}
}

/* ---- qos ---- */

static void take_watchdog(struct nvue *n, const struct wf_tree *node)
{
	static const char *const known[] = { "recovery-interval",   "rx-pause-duration",
		                             "rx-pause-threshold",  "transmit-queue-threshold",
		                             "tx-frames-threshold", NULL };
	struct wf_conf_device *d = n->r->device;
	int64_t v = 0;

	for (const struct wf_tree *f = node->child; f != NULL; f = f->next) {
		bool poll = strcmp(f->key, "polling-interval") == 0;
		bool times = strcmp(f->key, "robustness") == 0;

		if (!poll && !times) {
			if (!is_one_of(f->key, known))
				odd(n, f);
			continue;
		}
		if (!wf_conf_number(value_of(f), &v) || v < (poll ? 100 : 1) ||
		    v > (poll ? 5000 : 1000)) {
			wf_conf_bad(n->r, NULL, place_of(n, f), value_of(f),
			            poll ? "from 100 to 5000" : "from 1 to 1000");
			continue;
		}
		if (poll)
			d->wd_poll = wf_conf_say(v * 1000, place_of(n, f));
		else
			d->wd_detect = wf_conf_say(v, place_of(n, f));
	}
}

static void take_roce(struct nvue *n, const struct wf_tree *node)
{
	const char *state = text_at(node, "state"), *mode = text_at(node, "mode");
	struct wf_conf_device *d = n->r->device;
	int64_t on = 1;

	if (state == NULL)
		state = text_at(node, "enable");
	if (state != NULL)
		(void)wf_conf_flag(state, &on);
	/* 1: lossless, 0: lossy; for finish_nvue(). */
	if (on != 0)
		d->oversubscribe = wf_conf_say(mode == NULL || strncmp(mode, "lossless", 8) == 0,
		                               place_of(n, node));
}

static void each_child(struct nvue *n, const struct wf_tree *node,
                       void (*fn)(struct nvue *n, const struct wf_tree *child))
{
	for (const struct wf_tree *c = node->child; c != NULL; c = c->next) {
		if (c->key != NULL && c->kind == WF_TREE_MAP)
			fn(n, c);
		else
			odd(n, c);
	}
}

static void take_ecn(struct nvue *n, const struct wf_tree *node)
{
	take_classes(n, node, ECN, true);
}

static void take_scheduler(struct nvue *n, const struct wf_tree *node)
{
	/*
	 * Ports have one profile of each kind; schedulers share that of congestion control's
	 * name.
	 */
	take_classes(n, node, ECN, false);
}

static void take_qos(struct nvue *n, const struct wf_tree *qos)
{
	static const char *const known[] = { "traffic-pool", "advance-buffer-config", "remark",
		                             "link-pause",   "buffer-monitor",        NULL };

	for (const struct wf_tree *f = qos->child; f != NULL; f = f->next) {
		if (strcmp(f->key, "roce") == 0)
			take_roce(n, f);
		else if (strcmp(f->key, "mapping") == 0)
			each_child(n, f, take_mapping);
		else if (strcmp(f->key, "pfc") == 0)
			each_child(n, f, take_pfc);
		else if (strcmp(f->key, "congestion-control") == 0)
			each_child(n, f, take_ecn);
		else if (strcmp(f->key, "egress-scheduler") == 0)
			each_child(n, f, take_scheduler);
		else if (strcmp(f->key, "egress-queue-mapping") == 0)
			each_child(n, f, take_queue_mapping);
		else if (strcmp(f->key, "pfc-watchdog") == 0)
			take_watchdog(n, f);
		else if (!is_one_of(f->key, known))
			odd(n, f);
	}
}

/* ---- interfaces ---- */

static void take_link(struct nvue *n, struct wf_conf_port *port, const struct wf_tree *link)
{
	for (const struct wf_tree *f = link->child; f != NULL; f = f->next) {
		const char *text = value_of(f);
		int64_t v = 0;

		if (strcmp(f->key, "mtu") == 0 && wf_conf_number(text, &v)) {
			port->mtu = wf_conf_say(v, place_of(n, f));
		} else if (strcmp(f->key, "speed") == 0 && strcmp(text, "auto") != 0) {
			const char *p = text;

			for (; *p >= '0' && *p <= '9' && v < 100000000; p++)
				v = v * 10 + (*p - '0');
			if (v == 0)
				wf_conf_bad(n->r, port, place_of(n, f), text, "such as 400G");
			else
				port->speed = wf_conf_say(v * (*p == 'G' ? 1000000000 : 1000000),
				                          place_of(n, f));
		} else if (strcmp(f->key, "fec") == 0 && wf_conf_fec_of(text, &v)) {
			port->fec = wf_conf_say(v, place_of(n, f));
		} else if (strcmp(f->key, "state") == 0) {
			port->up = wf_conf_say(strcmp(text, "down") != 0, place_of(n, f));
		}
	}
}

static void take_port_qos(struct nvue *n, struct wf_conf_port *port, const struct wf_tree *qos)
{
	for (const struct wf_tree *f = qos->child; f != NULL; f = f->next) {
		const char *profile = text_at(f, "profile");
		int kind = strcmp(f->key, "mapping") == 0              ? MAPPING
		           : strcmp(f->key, "pfc") == 0                ? PFC
		           : strcmp(f->key, "congestion-control") == 0 ? ECN
		                                                       : -1;

		if (kind >= 0 && profile != NULL) {
			port->policy[kind] = wf_conf_text(n->r->net, profile, strlen(profile));
			port->policy_at[kind] = place_of(n, f);
			port->has_qos = true;
		} else if (strcmp(f->key, "pfc-watchdog") == 0) {
			const char *state = text_at(f, "state");
			int64_t v = 1;

			if (state != NULL)
				(void)wf_conf_flag(state, &v);
			port->wd = wf_conf_say(v != 0 ? 0xff : 0, place_of(n, f));
		} else if (strcmp(f->key, "egress-scheduler") != 0 &&
		           strcmp(f->key, "remark") != 0) {
			odd(n, f);
		}
	}
}

struct at_port {
	struct nvue *n;
	const struct wf_tree *node;
};

/* A port that is broken up is several. */
static void break_out(struct nvue *n, const char *name, const struct wf_tree *link)
{
	const char *text = text_at(link, "breakout");
	int64_t parts = text == NULL || *text < '1' || *text > '8' ? 0 : *text - '0';

	for (int64_t i = 0; i < parts; i++) {
		struct wf_conf_port *port =
			wf_conf_port_here(n->r, wf_conf_textf(n->r->net, "%.60ss%d", name, (int)i),
		                          link->line, &n->ret);

		if (port == NULL)
			return;
		port->defined = true;
		if (port->at.file == WF_CONF_NONE)
			port->at = place_of(n, link);
	}
}

static void take_port(void *arg, const char *name)
{
	const struct at_port *at = arg;
	struct nvue *n = at->n;
	const struct wf_tree *link = wf_tree_get(at->node, "link");
	struct wf_conf_port *port;

	if (strncmp(name, "swp", 3) != 0 || n->ret != 0)
		return; /* eth0, lo, bonds and bridges */
	if (text_at(link, "breakout") != NULL && text_at(link, "breakout")[0] != '\0') {
		break_out(n, name, link);
		return;
	}
	port = wf_conf_port_here(n->r, name, at->node->line, &n->ret);
	if (port == NULL)
		return;
	port->defined = true;
	if (port->at.file == WF_CONF_NONE)
		port->at = place_of(n, at->node);
	if (link != NULL)
		take_link(n, port, link);
	if (wf_tree_get(at->node, "qos") != NULL)
		take_port_qos(n, port, wf_tree_get(at->node, "qos"));
}

/* Whom routing talks to over a port: another switch. */
static void take_neighbor(void *arg, const char *name)
{
	const struct at_port *at = arg;
	struct wf_conf_port *port;

	if (strncmp(name, "swp", 3) != 0 || at->n->ret != 0)
		return;
	port = wf_conf_port_here(at->n->r, name, at->node->line, &at->n->ret);
	if (port == NULL)
		return;
	port->defined = port->fabric = true;
	if (port->at.file == WF_CONF_NONE)
		port->at = place_of(at->n, at->node);
}

static void take_vrf(struct nvue *n, const struct wf_tree *vrf)
{
	const struct wf_tree *bgp = wf_tree_get(wf_tree_get(vrf, "router"), "bgp");
	const struct wf_tree *all = wf_tree_get(bgp, "neighbor");

	for (const struct wf_tree *c = all == NULL ? NULL : all->child; c != NULL; c = c->next) {
		struct at_port at = { n, c };

		if (c->key != NULL)
			wf_conf_each_port(n->r, c->key, take_neighbor, &at);
	}
}

static void take_top(struct nvue *n, const struct wf_tree *top)
{
	struct wf_conf_device *d = n->r->device;
	int64_t v = 0;

	if (strcmp(top->key, "qos") == 0) {
		take_qos(n, top);
	} else if (strcmp(top->key, "interface") == 0) {
		for (const struct wf_tree *c = top->child; c != NULL; c = c->next) {
			struct at_port at = { n, c };

			if (c->key != NULL)
				wf_conf_each_port(n->r, c->key, take_port, &at);
		}
	} else if (strcmp(top->key, "vrf") == 0) {
		each_child(n, top, take_vrf);
	} else if (strcmp(top->key, "router") == 0) {
		const char *asn = text_at(wf_tree_get(top, "bgp"), "autonomous-system");

		if (asn != NULL && wf_conf_number(asn, &v))
			d->asn = wf_conf_say(v, place_of(n, top));
	} else if (strcmp(top->key, "system") == 0) {
		const struct wf_tree *f = wf_tree_get(top, "forwarding");
		const char *seed = text_at(f, "hash-seed");

		if (seed != NULL && wf_conf_number(seed, &v))
			d->hash_seed = wf_conf_say(v, place_of(n, f));
	} else {
		wf_conf_add_note(n->r->net, WF_CONF_NOTE_OTHER, place_of(n, top), "%.60s",
		                 top->key);
	}
}

static int take_tree(struct wf_conf_reading *r, const struct wf_tree *root)
{
	struct nvue n = { .r = r };

	r->device->form = WF_CONF_FORM_NVUE;
	if (r->device->at.file == WF_CONF_NONE)
		r->device->at = wf_conf_at(r, 0, NULL);
	/* [{"header": ...}, {"set": ...}] or what is in it. */
	for (const struct wf_tree *i = root->child; root->kind == WF_TREE_LIST && i != NULL;
	     i = i->next) {
		const struct wf_tree *set = wf_tree_get(i, "set");

		for (const struct wf_tree *top = set == NULL ? NULL : set->child;
		     top != NULL && n.ret == 0; top = top->next) {
			if (top->key != NULL)
				take_top(&n, top);
		}
	}
	for (const struct wf_tree *top = root->child;
	     root->kind == WF_TREE_MAP && top != NULL && n.ret == 0; top = top->next) {
		if (strcmp(top->key, "set") != 0) {
			take_top(&n, top);
			continue;
		}
		for (const struct wf_tree *in = top->child; in != NULL && n.ret == 0;
		     in = in->next) {
			if (in->key != NULL)
				take_top(&n, in);
		}
	}
	return n.ret;
}

/* ---- the three forms ---- */

static int read_json(struct wf_conf_reading *r, const char *text, size_t len)
{
	struct wf_tree *root = NULL;
	int ret = wf_tree_read_json(text, len, r->path, r->arena, &root, r->err);

	return ret != 0 ? ret : take_tree(r, root);
}

static int read_yaml(struct wf_conf_reading *r, const char *text, size_t len)
{
	struct wf_tree *root = NULL;
	int ret = wf_tree_read_yaml(text, len, r->path, r->arena, &root, r->err);

	return ret != 0 ? ret : take_tree(r, root);
}

static int read_set(struct wf_conf_reading *r, const char *text, size_t len)
{
	struct wf_lines *l = wf_arena_alloc(r->arena, sizeof(*l), _Alignof(struct wf_lines));
	struct wf_tree_maker maker = { .arena = r->arena, .name = r->path, .err = r->err };
	struct wf_tree *root = NULL;
	int ret = wf_tree_add(&maker, NULL, WF_TREE_MAP, NULL, 0, 1, &root);

	if (l == NULL)
		return -ENOMEM;
	wf_lines_init(l, text, len);
	while (ret == 0 && wf_lines_next(l)) {
		struct wf_tree *at = root;

		if (l->word[0][0] == '#')
			continue;
		if (!wf_lines_are(l, "nv set *") || l->cut) {
			if (!wf_lines_are(l, "nv config"))
				wf_conf_add_note(
					r->net, WF_CONF_NOTE_ODD, wf_conf_at(r, l->line, NULL),
					"%.*s", (int)(l->raw_len > 100 ? 100 : l->raw_len), l->raw);
			continue;
		}
		for (unsigned i = 2; i < l->n && i < WF_TREE_MAX_DEPTH && ret == 0; i++) {
			size_t n = strlen(l->word[i]);
			struct wf_tree *next = wf_tree_find(&maker, at, l->word[i], n);

			if (next == NULL)
				ret = wf_tree_add(&maker, at, WF_TREE_MAP, l->word[i], n, l->line,
				                  &next);
			at = next;
		}
	}
	return ret != 0 ? ret : take_tree(r, root);
}

static bool hostname_in(const char *text, size_t len, const char *before, char name[WF_CONF_NAME])
{
	const char *at = NULL;

	if (wf_conf_has(text, len, before, &at))
		wf_conf_copy_word(name, at, text + len);
	return true;
}

static bool is_json(const char *text, size_t len, char name[WF_CONF_NAME])
{
	char first = wf_conf_first(text, len);

	if ((first != '{' && first != '[') ||
	    (!wf_conf_has(text, len, "\"interface\"", NULL) &&
	     !wf_conf_has(text, len, "\"qos\"", NULL)) ||
	    (first == '[' && !wf_conf_has(text, len, "\"set\"", NULL)))
		return false;
	return hostname_in(text, len, "\"hostname\"", name);
}

static bool is_yaml(const char *text, size_t len, char name[WF_CONF_NAME])
{
	if (wf_conf_first(text, len) == '{' || wf_conf_first(text, len) == '[' ||
	    (!wf_conf_has_line(text, len, "- set:", NULL) &&
	     !wf_conf_has_line(text, len, "set:", NULL) &&
	     !(wf_conf_has_line(text, len, "interface:", NULL) &&
	       wf_conf_has_line(text, len, "qos:", NULL))))
		return false;
	return hostname_in(text, len, "hostname:", name);
}

static bool is_set(const char *text, size_t len, char name[WF_CONF_NAME])
{
	return wf_conf_has_line(text, len, "nv set ", NULL) &&
	       hostname_in(text, len, "nv set system hostname ", name);
}

/* ---- when all is read ---- */

static struct profile *find(struct wf_conf_device *d, const char *kind, const char *name)
{
	size_t n = strlen(kind);

	for (struct wf_conf_named *p = d->policies; p != NULL; p = p->next) {
		if (p->defined && strncmp(p->name, kind, n) == 0 && p->name[n] == ' ' &&
		    strcmp(p->name + n + 1, name) == 0)
			return (struct profile *)p;
	}
	return NULL;
}

static void default_maps(struct wf_netconf *net, struct wf_conf_device *d,
                         struct wf_conf_map *maps[WF_CONF_MAPS], bool roce)
{
	for (struct wf_conf_named *p = d->maps[WF_CONF_DSCP_TC]; p != NULL; p = p->next) {
		struct wf_conf_map *m = (struct wf_conf_map *)p;

		for (unsigned i = 0; i < WF_CONF_DSCPS; i++)
			m->to[i] = m->to[i] < 0 ? (int8_t)(i / 8) : m->to[i];
	}
	maps[WF_CONF_DSCP_TC] = wf_conf_map_of(net, d, WF_CONF_DSCP_TC, "default-global");
	maps[WF_CONF_PCP_TC] = wf_conf_map_of(net, d, WF_CONF_PCP_TC, "default-global");
	maps[WF_CONF_TC_QUEUE] = wf_conf_map_of(net, d, WF_CONF_TC_QUEUE, "default-global");
	maps[WF_CONF_PFC_QUEUE] = wf_conf_map_of(net, d, WF_CONF_PFC_QUEUE, "default-global");
	for (unsigned k = 0; k < WF_CONF_MAPS; k++) {
		for (unsigned i = 0; i < WF_CONF_DSCPS && maps[k] != NULL; i++) {
			if (maps[k]->to[i] >= 0)
				continue;
			if (k == WF_CONF_DSCP_TC)
				maps[k]->to[i] = (int8_t)(i / 8);
			else if (i < WF_CONF_TCS && k == WF_CONF_PCP_TC)
				maps[k]->to[i] = (int8_t)i;
			else if (i < WF_CONF_TCS)
				maps[k]->to[i] = (int8_t)(!roce || i == 3 || i == 6 ? i : 0);
		}
		if (maps[k] != NULL)
			maps[k]->is.defined = maps[k]->is.used = true;
	}
	/* PFC stops the queue that its priority leads to. */
	for (unsigned i = 0;
	     i < WF_CONF_TCS && maps[WF_CONF_TC_QUEUE] != NULL && maps[WF_CONF_PFC_QUEUE] != NULL;
	     i++)
		maps[WF_CONF_PFC_QUEUE]->to[i] = maps[WF_CONF_TC_QUEUE]->to[i];
}

/* What "nv set qos roce" means for a port that says nothing else. */
static void apply_roce(struct wf_netconf *net, struct wf_conf_device *d, struct wf_conf_port *port)
{
	struct wf_conf_reading r = { .net = net, .device = d };
	struct wf_conf_place at = d->oversubscribe.at;
	struct wf_conf_wred *wred = wf_conf_wred_of(&r, "roce traffic-class 3", at);
	struct wf_conf_sched *strict = wf_conf_sched_of(&r, "roce traffic-class 6", at);
	struct wf_conf_sched *shared = wf_conf_sched_of(&r, "roce traffic-class 0,3", at);
	int64_t mask = d->oversubscribe.v != 0 ? 8 : 0;

	if (wred == NULL || strict == NULL || shared == NULL)
		return;
	wf_conf_default(&wred->ecn, 1);
	wf_conf_default(&wred->drop, 0);
	wf_conf_default(&wred->min, 150000);
	wf_conf_default(&wred->max, 1500000);
	wf_conf_default(&wred->chance, 100);
	wf_conf_default(&strict->strict, 1);
	wf_conf_default(&shared->strict, 0);
	wf_conf_default(&shared->weight, 50);
	for (unsigned q = 0; q < WF_CONF_TCS; q++) {
		struct wf_conf_queue *queue = &port->queue[q];

		if (queue->sched == NULL && (q == 0 || q == 3 || q == 6)) {
			queue->sched = q == 6 ? strict : shared;
			queue->sched_at = at;
		}
		if (queue->wred == NULL && (q == 0 || q == 3)) {
			queue->wred = wred;
			queue->wred_at = at;
		}
	}
	if (port->trust.said == WF_CONF_UNSET)
		port->trust = (struct wf_conf_value){ 3, at, WF_CONF_DEFAULT };
	if (port->pfc_rx.said == WF_CONF_UNSET)
		port->pfc_rx = port->pfc_tx = (struct wf_conf_value){ mask, at, WF_CONF_SAID };
	port->has_qos = true;
}

static void finish_port(struct wf_netconf *net, struct wf_conf_device *d, struct wf_conf_port *port,
                        struct wf_conf_map *maps[WF_CONF_MAPS])
{
	static const char *const kinds[] = { "mapping", "pfc", "congestion-control" };

	for (unsigned k = 0; k < 3; k++) {
		const char *name = port->policy[k] == NULL ? "default-global" : port->policy[k];
		struct profile *p = find(d, kinds[k], name);

		if (p != NULL)
			wf_conf_inherit(port, &p->port);
		else if (port->policy[k] != NULL)
			wf_conf_add_fault(net, WF_CONF_FAULT_GROUP, d, port, port->policy_at[k],
			                  wf_conf_textf(net, "the %s profile %.100s is not defined",
			                                kinds[k], name),
			                  "define it, or name one that is there");
	}
	if (d->oversubscribe.said == WF_CONF_SAID)
		apply_roce(net, d, port);
	for (unsigned k = 0; k < WF_CONF_MAPS; k++) {
		if (port->map[k] == NULL && maps[k] != NULL) {
			port->map[k] = maps[k];
			port->map_at[k] = maps[k]->is.at.line != 0 ? maps[k]->is.at : port->at;
		}
	}
	wf_conf_default(&port->trust, WF_CONF_TRUST_L2);
	port->wd_poll = d->wd_poll;
	wf_conf_default(&port->wd_poll, 100000);
	port->wd_detect = port->wd_poll;
	port->wd_detect.v *= d->wd_detect.said == WF_CONF_SAID ? d->wd_detect.v : 3;
	port->wd_restore = port->wd_poll;
	wf_conf_default(&port->wd_action, WF_CONF_ACTION_DROP);
}

static void finish_nvue(struct wf_netconf *net, struct wf_conf_device *d)
{
	struct wf_conf_map *maps[WF_CONF_MAPS] = { NULL };

	default_maps(net, d, maps, d->oversubscribe.said == WF_CONF_SAID);
	for (uint32_t i = 0; i < d->n_ports; i++)
		finish_port(net, d, d->ports[i], maps);
	d->oversubscribe.said = WF_CONF_UNSET;
	d->wd_detect.said = WF_CONF_UNSET;
}

const struct wf_conf_reader wf_conf_nvue_json = {
	.name = "NVUE JSON",
	.help = "NVIDIA Cumulus: nv config show -o json",
	.form = WF_CONF_FORM_NVUE,
	.is = is_json,
	.read = read_json,
	.finish = finish_nvue,
};

const struct wf_conf_reader wf_conf_nvue_yaml = {
	.name = "NVUE YAML",
	.help = "NVIDIA Cumulus: nv config show, startup.yaml",
	.form = WF_CONF_FORM_NVUE,
	.is = is_yaml,
	.read = read_yaml,
	.finish = finish_nvue,
};

const struct wf_conf_reader wf_conf_nvue_set = {
	.name = "NVUE commands",
	.help = "NVIDIA Cumulus: nv config show -o commands, nv set lines",
	.form = WF_CONF_FORM_NVUE,
	.is = is_set,
	.read = read_set,
	.finish = finish_nvue,
};
