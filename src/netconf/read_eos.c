/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_eos.c - Arista EOS's running-config: QoS maps, QoS profiles, interfaces, PFC and its
 * watchdog.
 *
 * What stands in a section is indented. Interfaces and profiles say the same kinds of things, so a
 * profile is a port that nobody sees, and interfaces with service-profile inherit from it.
 */
#include <errno.h>
#include <string.h>

#include "netconf/read_priv.h"

struct profile {
	struct wf_conf_named is;
	struct wf_conf_port port;
};

enum section { TOP, PORT, OTHER };

struct eos {
	struct wf_conf_reading *r;
	struct wf_lines *l;
	enum section section;
	struct wf_conf_port *port; /* PORT: of an interface, or a profile's */
	int queue;                 /* below 0: not in one */
	uint32_t queue_indent;
	const char *seen[WF_SEEN];
	int ret;
};

static struct wf_conf_place here(const struct eos *e)
{
	return wf_conf_at(e->r, e->l->line, NULL);
}

/* ---- values ---- */

/* "256 kbytes" in bytes; times and cells have none. */
static bool bytes_of(const char *number, const char *unit, int64_t *v_p)
{
	int64_t times = strcmp(unit, "bytes") == 0    ? 1
	                : strcmp(unit, "kbytes") == 0 ? 1000
	                : strcmp(unit, "mbytes") == 0 ? 1000000
	                                              : 0;

	if (!wf_conf_number(number, v_p) || *v_p < 0 || *v_p > 1000000000)
		return false;
	*v_p *= times;
	return times != 0;
}

/* "forced 400gfull", "400g-8", "100gfull" in bits/s. */
static bool speed_of(const char *text, int64_t *v_p)
{
	int64_t v = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9' && v < 1000000; p++)
		v = v * 10 + (*p - '0');
	if (p == text || (*p != 'g' && *p != 'f' && *p != '\0'))
		return false;
	*v_p = *p == 'g' ? v * 1000000000 : v * 1000000;
	return true;
}

static bool micros(const char *seconds, int64_t *v_p)
{
	return wf_conf_micro(seconds, v_p);
}

/* ---- queues ---- */

static const char *queue_name(const struct eos *e)
{
	return wf_conf_textf(e->r->net, "%.100s tx-queue %d", e->port->name, e->queue);
}

/* "random-detect ecn minimum-threshold 256 kbytes maximum-threshold 512 kbytes …" */
static bool take_detect(struct eos *e)
{
	const struct wf_lines *l = e->l;
	struct wf_conf_queue *queue = &e->port->queue[e->queue];
	bool ecn = strcmp(l->word[1], "ecn") == 0;
	struct wf_conf_wred *wred;

	if (ecn && strcmp(l->word[2], "count") == 0)
		return true;
	if (!ecn && strcmp(l->word[1], "drop") != 0)
		return false;
	wred = wf_conf_wred_of(e->r, queue_name(e), here(e));
	if (wred == NULL)
		return false;
	queue->wred = wred;
	queue->wred_at = here(e);
	*(ecn ? &wred->ecn : &wred->drop) = wf_conf_say(1, here(e));
	for (unsigned i = 2; i + 1 < l->n; i++) {
		bool min = strcmp(l->word[i], "minimum-threshold") == 0;
		int64_t v = 0;

		if ((min || strcmp(l->word[i], "maximum-threshold") == 0) &&
		    bytes_of(l->word[i + 1], l->word[i + 2], &v))
			*(min ? &wred->min : &wred->max) = wf_conf_say(v, here(e));
		else if ((strcmp(l->word[i], "max-mark-probability") == 0 ||
		          strcmp(l->word[i], "drop-probability") == 0) &&
		         wf_conf_number(l->word[i + 1], &v))
			wred->chance = wf_conf_say(v, here(e));
	}
	return true;
}

static bool take_queue_line(struct eos *e)
{
	const struct wf_lines *l = e->l;
	struct wf_conf_queue *queue = &e->port->queue[e->queue];
	bool strict = wf_lines_are(l, "priority strict");
	int64_t v = 0;

	if (wf_lines_are(l, "random-detect"))
		return take_detect(e);
	if (wf_lines_are(l, "no random-detect ecn"))
		return true;
	if (wf_lines_are(l, "bandwidth guaranteed")) {
		queue->guaranteed = wf_conf_say(1, here(e));
		return true;
	}
	if (strict || wf_lines_are(l, "no priority") || wf_lines_are(l, "bandwidth percent *")) {
		struct wf_conf_sched *sched = wf_conf_sched_of(e->r, queue_name(e), here(e));

		if (sched == NULL)
			return false;
		queue->sched = sched;
		queue->sched_at = sched->is.at;
		if (wf_conf_number(l->word[2], &v) && l->n == 3)
			sched->weight = wf_conf_say(v, here(e));
		else
			sched->strict = wf_conf_say(strict, here(e));
		return true;
	}
	return wf_lines_are(l, "shape rate");
}

/* "uc-tx-queue 3": what is further in belongs to it. Multicast's queues carry no RDMA. */
static bool take_queue(struct eos *e)
{
	bool mc = strcmp(e->l->word[0], "mc-tx-queue") == 0;
	int64_t v = 0;

	if (!mc && strcmp(e->l->word[0], "uc-tx-queue") != 0 &&
	    strcmp(e->l->word[0], "tx-queue") != 0)
		return false;
	if (!wf_conf_number(e->l->word[1], &v) || v < 0 || v > 15)
		return false;
	e->queue = mc || v > 7 ? WF_CONF_TCS : (int)v;
	e->queue_indent = e->l->indent;
	return true;
}

/* ---- PFC and its watchdog ---- */

static bool action_of(const char *text, int64_t *v_p)
{
	if (strcmp(text, "drop") == 0)
		*v_p = WF_CONF_ACTION_DROP;
	else if (strcmp(text, "errdisable") == 0)
		*v_p = WF_CONF_ACTION_ERRDISABLE;
	else if (strcmp(text, "notify-only") == 0)
		*v_p = WF_CONF_ACTION_ALERT;
	else if (strcmp(text, "no-drop") == 0 || strcmp(text, "forward") == 0)
		*v_p = WF_CONF_ACTION_FORWARD;
	else
		return false;
	return true;
}

/* "priority-flow-control pause watchdog …" at a port or in a profile. */
static bool take_port_watchdog(struct eos *e)
{
	const struct wf_lines *l = e->l;
	struct wf_conf_port *port = e->port;
	int64_t v = 0;

	if (l->n == 3 || strcmp(l->word[3], "disable") == 0) {
		port->wd = wf_conf_say(l->n == 3 ? 0xff : 0, here(e));
		return true;
	}
	if (wf_lines_are(l, "* * * port action *") && action_of(l->word[5], &v)) {
		port->wd_action = wf_conf_say(v, here(e));
		return true;
	}
	if (!wf_lines_are(l, "* * * port timer"))
		return false;
	for (unsigned i = 5; i + 1 < l->n; i++) {
		struct wf_conf_value *to =
			strcmp(l->word[i], "timeout") == 0            ? &port->wd_detect
			: strcmp(l->word[i], "recovery-time") == 0    ? &port->wd_restore
			: strcmp(l->word[i], "polling-interval") == 0 ? &port->wd_poll
								      : NULL;

		if (to != NULL && micros(l->word[i + 1], &v))
			*to = wf_conf_say(v, here(e));
	}
	return true;
}

static bool take_pfc(struct eos *e)
{
	const struct wf_lines *l = e->l;
	struct wf_conf_port *port = e->port;
	int64_t v = 0;

	if (wf_lines_are(l, "priority-flow-control pause watchdog"))
		return take_port_watchdog(e);
	if (wf_lines_are(l, "priority-flow-control on") ||
	    wf_lines_are(l, "priority-flow-control mode on")) {
		port->pfc_mode = wf_conf_say(1, here(e));
	} else if (wf_lines_are(l, "no priority-flow-control") ||
	           wf_lines_are(l, "priority-flow-control off")) {
		port->pfc_mode = wf_conf_say(0, here(e));
	} else if (wf_lines_are(l, "priority-flow-control priority * *") &&
	           wf_conf_number(l->word[2], &v) && v >= 0 && v < WF_CONF_TCS) {
		int64_t bit = INT64_C(1) << v;
		bool on = strcmp(l->word[3], "no-drop") == 0;

		if (!on && strcmp(l->word[3], "drop") != 0)
			return false;
		port->pfc_rx =
			wf_conf_say(on ? port->pfc_rx.v | bit : port->pfc_rx.v & ~bit, here(e));
		port->pfc_tx = port->pfc_rx;
	} else {
		return false;
	}
	port->has_qos = true;
	return true;
}

/* "priority-flow-control pause watchdog default timeout 0.2", of the whole switch. */
static bool take_watchdog(struct eos *e)
{
	const struct wf_lines *l = e->l;
	struct wf_conf_device *d = e->r->device;
	int64_t v = 0;

	if (wf_lines_are(l, "* * * action *") && action_of(l->word[4], &v)) {
		d->wd_action = wf_conf_say(v, here(e));
		return true;
	}
	if (wf_lines_are(l, "* * * override action *"))
		return action_of(l->word[5], &v);
	if (!wf_lines_are(l, "* * * default * *") || !micros(l->word[5], &v))
		return false;
	if (strcmp(l->word[4], "timeout") == 0) {
		d->wd_detect = wf_conf_say(v, here(e));
		d->wd_on = wf_conf_say(v != 0, here(e));
	} else if (strcmp(l->word[4], "recovery-time") == 0) {
		d->wd_restore = wf_conf_say(v, here(e));
	} else if (strcmp(l->word[4], "polling-interval") == 0) {
		d->wd_poll = wf_conf_say(v, here(e));
	} else {
		return false;
	}
	return true;
}

/* ---- interfaces and profiles ---- */

static bool take_port_line(struct eos *e)
{
	const struct wf_lines *l = e->l;
	struct wf_conf_port *port = e->port;
	int64_t v = 0;

	if (take_queue(e) || take_pfc(e))
		return true;
	if (wf_lines_are(l, "mtu *") && wf_conf_number(l->word[1], &v)) {
		port->mtu = wf_conf_say(v, here(e));
	} else if (wf_lines_are(l, "qos trust *")) {
		if (strcmp(l->word[2], "dscp") != 0 && strcmp(l->word[2], "cos") != 0)
			return false;
		port->trust = wf_conf_say(strcmp(l->word[2], "dscp") == 0 ? WF_CONF_TRUST_L3
		                                                          : WF_CONF_TRUST_L2,
		                          here(e));
		port->has_qos = true;
	} else if (wf_lines_are(l, "no qos trust")) {
		port->trust = wf_conf_say(0, here(e));
	} else if (wf_lines_are(l, "service-profile *") || wf_lines_are(l, "qos profile *")) {
		const char *name = l->word[l->n - 1];

		port->policy[0] = wf_conf_text(e->r->net, name, strlen(name));
		port->policy_at[0] = here(e);
		port->has_qos = true;
	} else if (wf_lines_are(l, "error-correction encoding *") &&
	           wf_conf_fec_of(l->word[2], &v)) {
		port->fec = wf_conf_say(v, here(e));
	} else if (wf_lines_are(l, "no error-correction encoding")) {
		port->fec = wf_conf_say(WF_CONF_FEC_NONE, here(e));
	} else if (wf_lines_are(l, "speed") && speed_of(l->word[l->n - 1], &v)) {
		port->speed = wf_conf_say(v, here(e));
	} else if (wf_lines_are(l, "channel-group *")) {
		port->bundle = wf_conf_text(e->r->net, l->word[1], strlen(l->word[1]));
	} else if (l->n == 1 && strcmp(l->word[0], "shutdown") == 0) {
		port->up = wf_conf_say(0, here(e));
	} else if (wf_lines_are(l, "no switchport")) {
		wf_conf_default(&port->trust, WF_CONF_TRUST_L3);
	} else if (!wf_lines_are(l, "no shutdown") && !wf_lines_are(l, "qos cos *") &&
	           !wf_lines_are(l, "qos dscp *") && !wf_lines_are(l, "description") &&
	           !wf_lines_are(l, "dcbx mode *")) {
		return false;
	}
	return true;
}

static void begin_profile(struct eos *e)
{
	struct profile *p =
		wf_conf_named_of(e->r->net, &e->r->device->policies, sizeof(*p), e->l->word[2]);

	if (p == NULL)
		return;
	if (p->port.name == NULL)
		p->port.name = wf_conf_textf(e->r->net, "qos profile %.100s", p->is.name);
	p->is.defined = true;
	p->is.at = here(e);
	p->port.device = e->r->device;
	e->section = PORT;
	e->port = &p->port;
}

static void begin_interface(struct eos *e)
{
	const char *name = e->l->word[1];

	if (!wf_conf_is_ethernet(name) && !wf_conf_is_bundle(name)) {
		e->section = OTHER;
		wf_conf_skip_line(e->r, e->l, e->seen);
		return;
	}
	e->port = wf_conf_port_here(e->r, name, e->l->line, &e->ret);
	if (e->port == NULL)
		return;
	e->section = PORT;
	e->port->defined = true;
	e->port->is_bundle = wf_conf_is_bundle(name);
	e->port->at = here(e);
}

/* "qos map dscp 8 9 10 to traffic-class 1 drop-precedence 2" */
static bool take_map(struct eos *e)
{
	const struct wf_lines *l = e->l;
	bool dscp = strcmp(l->word[2], "dscp") == 0, cos = strcmp(l->word[2], "cos") == 0;
	bool tc = strcmp(l->word[2], "traffic-class") == 0;
	enum wf_conf_map_kind kind = dscp  ? WF_CONF_DSCP_TC
	                             : cos ? WF_CONF_PCP_TC
	                                   : WF_CONF_TC_QUEUE;
	struct wf_conf_map *map;
	unsigned to = 3;
	int64_t target = 0, v = 0;

	while (to < l->n && strcmp(l->word[to], "to") != 0)
		to++;
	if (to + 2 >= l->n || (!dscp && !cos && !tc))
		return strcmp(l->word[2], "exp") == 0;
	if (tc && strstr(l->word[to + 1], "tx-queue") == NULL)
		return true; /* rewrites what leaves */
	if (tc && strcmp(l->word[to + 1], "mc-tx-queue") == 0)
		return true;
	if (!wf_conf_number(l->word[to + 2], &target) || target < 0 || target > 7)
		return false;
	map = wf_conf_map_of(e->r->net, e->r->device, kind, "global");
	if (map == NULL)
		return false;
	map->is.defined = map->is.used = true;
	map->is.at = here(e);
	for (unsigned i = 3; i < to; i++) {
		if (!wf_conf_number(l->word[i], &v) || v < 0 ||
		    v >= (dscp ? WF_CONF_DSCPS : WF_CONF_TCS))
			return false;
		map->to[v] = (int8_t)target;
		map->line[v] = l->line;
	}
	return true;
}

static void take_top(struct eos *e)
{
	const struct wf_lines *l = e->l;
	bool taken = true;
	int64_t v = 0;

	e->section = OTHER;
	e->queue = -1;
	if (wf_lines_are(l, "interface *"))
		begin_interface(e);
	else if (wf_lines_are(l, "qos profile *"))
		begin_profile(e);
	else if (wf_lines_are(l, "qos map"))
		taken = take_map(e);
	else if (wf_lines_are(l, "priority-flow-control pause watchdog"))
		taken = take_watchdog(e);
	else if (wf_lines_are(l, "priority-flow-control all off"))
		e->r->device->pfc_off = wf_conf_say(1, here(e));
	else
		taken = wf_lines_are(l, "end") || wf_lines_are(l, "hostname *") ||
		        wf_lines_are(l, "qos rewrite");
	if (!taken && (wf_lines_are(l, "ip load-sharing") || wf_lines_are(l, "load-balance") ||
	               wf_lines_are(l, "port-channel load-balance"))) {
		for (unsigned i = 1; i + 1 < l->n; i++) {
			if (strcmp(l->word[i], "seed") == 0 && wf_conf_number(l->word[i + 1], &v)) {
				e->r->device->hash_seed = wf_conf_say(v, here(e));
				taken = true;
			}
		}
	}
	if (!taken)
		wf_conf_skip_line(e->r, e->l, e->seen);
}

static void take_line(struct eos *e)
{
	if (e->l->word[0][0] == '!')
		return;
	if (e->l->indent == 0) {
		take_top(e);
		return;
	}
	if (e->section != PORT) {
		/* The beginning of the section was told of; lines of ours in it are, too. */
		if (wf_conf_has(e->l->raw, e->l->raw_len, "flow-control", NULL) ||
		    wf_conf_has(e->l->raw, e->l->raw_len, "random-detect", NULL))
			wf_conf_skip_line(e->r, e->l, e->seen);
		return;
	}
	if (e->queue >= 0 && e->l->indent > e->queue_indent) {
		if (e->queue < WF_CONF_TCS && !take_queue_line(e))
			wf_conf_skip_line(e->r, e->l, e->seen);
		return;
	}
	e->queue = -1;
	if (!take_port_line(e))
		wf_conf_skip_line(e->r, e->l, e->seen);
}

static int read_eos(struct wf_conf_reading *r, const char *text, size_t len)
{
	struct wf_lines *l = wf_arena_alloc(r->arena, sizeof(*l), _Alignof(struct wf_lines));
	struct eos e = { .r = r, .l = l, .queue = -1 };

	if (l == NULL)
		return -ENOMEM;
	r->device->form = WF_CONF_FORM_EOS;
	if (r->device->at.file == WF_CONF_NONE)
		r->device->at = wf_conf_at(r, 0, NULL);
	wf_lines_init(l, text, len);
	while (e.ret == 0 && wf_lines_next(l))
		take_line(&e);
	return e.ret;
}

static bool is_eos(const char *text, size_t len, char name[WF_CONF_NAME])
{
	static const char *const marks[] = { "qos profile ",
		                             "service-profile ",
		                             "uc-tx-queue ",
		                             "tx-queue ",
		                             "priority-flow-control pause watchdog",
		                             "qos map dscp ",
		                             "switchport",
		                             "interface Ethernet",
		                             "interface Management" };
	const char *at = NULL;
	bool found = false;

	for (size_t i = 0; i < WF_ARRAY_SIZE(marks) && !found; i++)
		found = wf_conf_has_line(text, len, marks[i], NULL);
	if (found && wf_conf_has_line(text, len, "hostname ", &at))
		wf_conf_copy_word(name, at, text + len);
	return found;
}

/* ---- when all is read ---- */

/* EOS's own map: by the upper three bits, where 0 is above 1. */
static struct wf_conf_map *default_map(struct wf_netconf *net, struct wf_conf_device *d,
                                       enum wf_conf_map_kind kind, unsigned n, unsigned shift)
{
	struct wf_conf_map *map = wf_conf_map_of(net, d, kind, "global");

	for (unsigned i = 0; i < n && map != NULL; i++) {
		unsigned tc = i >> shift;

		if (map->to[i] < 0)
			map->to[i] = (int8_t)(kind == WF_CONF_TC_QUEUE ? tc
			                      : tc == 0                ? 1
			                      : tc == 1                ? 0
			                                               : tc);
	}
	if (map != NULL)
		map->is.defined = map->is.used = true;
	return map;
}

static void finish_port(struct wf_netconf *net, struct wf_conf_device *d, struct wf_conf_port *port)
{
	if (port->policy[0] != NULL) {
		struct profile *p =
			wf_conf_named_of(net, &d->policies, sizeof(*p), port->policy[0]);

		if (p != NULL && p->is.defined)
			wf_conf_inherit(port, &p->port);
		else if (p != NULL)
			wf_conf_add_fault(net, WF_CONF_FAULT_GROUP, d, port, port->policy_at[0],
			                  wf_conf_textf(net, "qos profile %.100s is not defined",
			                                port->policy[0]),
			                  "define it, or name one that is there");
	}
	wf_conf_default(&port->trust, WF_CONF_TRUST_L2);
	wf_conf_default(&port->pfc_mode, 0);
	if (d->pfc_off.said == WF_CONF_SAID)
		port->pfc_mode = (struct wf_conf_value){ 0, d->pfc_off.at, WF_CONF_SAID };
	if (port->wd.said == WF_CONF_UNSET && d->wd_on.said == WF_CONF_SAID && d->wd_on.v != 0)
		port->wd = (struct wf_conf_value){ 0xff, d->wd_on.at, WF_CONF_SAID };
	if (port->wd_detect.said == WF_CONF_UNSET)
		port->wd_detect = d->wd_detect;
	if (port->wd_restore.said == WF_CONF_UNSET)
		port->wd_restore = d->wd_restore;
	if (port->wd_poll.said == WF_CONF_UNSET)
		port->wd_poll = d->wd_poll;
	if (port->wd_action.said == WF_CONF_UNSET)
		port->wd_action = d->wd_action;
	wf_conf_default(&port->wd_action, WF_CONF_ACTION_ERRDISABLE);
}

static void finish_eos(struct wf_netconf *net, struct wf_conf_device *d)
{
	struct wf_conf_map *dscp = default_map(net, d, WF_CONF_DSCP_TC, WF_CONF_DSCPS, 3);
	struct wf_conf_map *pcp = default_map(net, d, WF_CONF_PCP_TC, WF_CONF_TCS, 0);
	struct wf_conf_map *queue = default_map(net, d, WF_CONF_TC_QUEUE, WF_CONF_TCS, 0);

	wf_conf_dissolve(net, d, "Port-Channel");
	for (uint32_t i = 0; i < d->n_ports; i++) {
		struct wf_conf_port *port = d->ports[i];

		finish_port(net, d, port);
		port->map[WF_CONF_DSCP_TC] = dscp;
		port->map[WF_CONF_PCP_TC] = pcp;
		port->map[WF_CONF_TC_QUEUE] = queue;
		for (unsigned k = 0; k <= WF_CONF_TC_QUEUE && dscp != NULL; k++)
			port->map_at[k] = port->map[k] == NULL ? port->at : port->map[k]->is.at;
	}
}

const struct wf_conf_reader wf_conf_eos = {
	.name = "EOS",
	.help = "Arista EOS: running-config",
	.form = WF_CONF_FORM_EOS,
	.is = is_eos,
	.read = read_eos,
	.finish = finish_eos,
};
