/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_nxos.c - Cisco NX-OS: running-config, whole or the part that "show run interface" has, and
 * the output of show class-map and show policy-map, which may come in files of their own.
 *
 * A qos-group is a traffic class, and a queue and group of buffers of the same number. Classes and
 * policies are kept until all files are read, because interfaces may be in another one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "netconf/read_priv.h"

#define MAX_CLASSES 64 /* of a policy */

/* What class-map says: which packets. */
struct class_map {
	struct wf_conf_named is;
	uint64_t dscps;
	uint8_t coses;
	int qos_group; /* below 0: none */
};

enum policy_kind { P_QOS, P_QUEUING, P_NETWORK, P_SYSTEM };

struct policy {
	struct wf_conf_named is;
	enum policy_kind kind;
	/* P_QOS: classes in their order, and their groups. */
	const char *class[MAX_CLASSES];
	struct wf_conf_value group[MAX_CLASSES];
	unsigned n;
	/* P_QUEUING: queues of a port that nobody sees; input: its groups of buffers. */
	struct wf_conf_port port;
	/* P_NETWORK: of each qos-group. */
	struct wf_conf_value pause[WF_CONF_TCS], mtu[WF_CONF_TCS];
	/* P_SYSTEM: which of the others hold for all interfaces. */
	const char *policy[3], *network;
	struct wf_conf_place policy_at[3], network_at;
};

enum section { TOP, CLASS, POLICY, PORT, SYSTEM, OTHER };

struct nxos {
	struct wf_conf_reading *r;
	struct wf_lines *l;
	enum section section;
	struct class_map *class;
	struct policy *policy;
	int at;     /* class of the policy: index (P_QOS) or qos-group; below 0: none */
	bool input; /* the class is one of c-in */
	struct wf_conf_port *port;
	const char *seen[WF_SEEN];
	int ret;
};

static struct wf_conf_place here(const struct nxos *n)
{
	return wf_conf_at(n->r, n->l->line, NULL);
}

static struct policy *system_policy(struct wf_netconf *net, struct wf_conf_device *d)
{
	struct policy *p = wf_conf_named_of(net, &d->policies, sizeof(*p), "\001system qos");

	if (p != NULL)
		p->kind = P_SYSTEM;
	return p;
}

/* ---- class maps ---- */

/* "class-map type qos match-any NAME", "class-map match-all NAME" */
static void begin_class(struct nxos *n)
{
	const struct wf_lines *l = n->l;
	const char *name = l->word[l->n - 1];
	struct class_map *class =
		wf_conf_named_of(n->r->net, &n->r->device->classes, sizeof(*class), name);

	if (class == NULL)
		return;
	if (!class->is.defined)
		class->qos_group = -1;
	class->is.defined = true;
	class->is.at = here(n);
	n->section = CLASS;
	n->class = class;
}

/* "match dscp 24,26", "match dscp 26 48", "match cos 3", "match qos-group 3" */
static bool take_match(struct nxos *n)
{
	const struct wf_lines *l = n->l;
	bool dscp = strcmp(l->word[1], "dscp") == 0, cos = strcmp(l->word[1], "cos") == 0;

	if (strcmp(l->word[0], "match") != 0)
		return strcmp(l->word[0], "Description:") == 0 ||
		       strcmp(l->word[0], "description") == 0;
	for (unsigned i = 2; i < l->n; i++) {
		for (const char *p = l->word[i]; *p != '\0';) {
			unsigned v = 0;
			const char *start = p;

			for (; *p >= '0' && *p <= '9' && v < 100; p++)
				v = v * 10 + (unsigned)(*p - '0');
			if (p == start)
				return !dscp && !cos;
			if (dscp && v < WF_CONF_DSCPS)
				n->class->dscps |= UINT64_C(1) << v;
			else if (cos && v < WF_CONF_TCS)
				n->class->coses |= (uint8_t)(1u << v);
			else if (strcmp(l->word[1], "qos-group") == 0 && v < WF_CONF_TCS)
				n->class->qos_group = (int)v;
			p += *p == ',' || *p == '-';
		}
	}
	return dscp || cos || strcmp(l->word[1], "qos-group") == 0 ||
	       strcmp(l->word[1], "precedence") == 0;
}

/* ---- policies ---- */

static void begin_policy(struct nxos *n)
{
	const struct wf_lines *l = n->l;
	struct policy *p =
		wf_conf_named_of(n->r->net, &n->r->device->policies, sizeof(*p), l->word[l->n - 1]);

	n->at = -1;
	if (p == NULL)
		return;
	p->kind = wf_lines_are(l, "* type queuing")       ? P_QUEUING
	          : wf_lines_are(l, "* type network-qos") ? P_NETWORK
	                                                  : P_QOS;
	p->is.defined = true;
	p->is.at = here(n);
	p->port.name = p->is.name;
	p->port.device = n->r->device;
	n->section = POLICY;
	n->policy = p;
}

/* "c-out-8q-q3", "c-in-q3", "c-8q-nq3", "c-nq3": 3; "…-default": 0; below 0: another name. */
static int group_of(const char *name)
{
	size_t len = strlen(name);

	if (len > 8 && strcmp(name + len - 8, "-default") == 0)
		return 0;
	if (strcmp(name, "class-default") == 0)
		return 0;
	if (len < 3 || name[len - 2] != 'q' || name[len - 1] < '0' || name[len - 1] > '7')
		return -1;
	return name[len - 1] - '0';
}

/* "class type queuing c-out-8q-q3", "class ROCEv2" */
static bool begin_class_of_policy(struct nxos *n)
{
	const struct wf_lines *l = n->l;
	const char *name = l->word[l->n - 1];
	struct policy *p = n->policy;

	if (p->kind != P_QOS) {
		n->at = group_of(name);
		n->input = strncmp(name, "c-in", 4) == 0;
		return n->at >= 0;
	}
	if (p->n == MAX_CLASSES)
		return false;
	n->at = (int)p->n;
	p->class[p->n++] = wf_conf_text(n->r->net, name, strlen(name));
	return true;
}

/* "950 kbytes" */
static bool bytes_of(const char *number, const char *unit, int64_t *v_p)
{
	int64_t times = strcmp(unit, "kbytes") == 0   ? 1000
	                : strcmp(unit, "mbytes") == 0 ? 1000000
	                : strcmp(unit, "bytes") == 0  ? 1
	                                              : 0;

	if (!wf_conf_number(number, v_p) || *v_p < 0 || *v_p > 1000000000)
		return false;
	*v_p *= times;
	return times != 0;
}

static bool take_detect(struct nxos *n)
{
	const struct wf_lines *l = n->l;
	struct wf_conf_queue *queue = &n->policy->port.queue[n->at];
	struct wf_conf_wred *wred = wf_conf_wred_of(
		n->r, wf_conf_textf(n->r->net, "%.100s q%d", n->policy->is.name, n->at), here(n));
	bool ecn = false;

	if (wred == NULL)
		return false;
	queue->wred = wred;
	queue->wred_at = here(n);
	for (unsigned i = 1; i < l->n; i++) {
		bool min = strcmp(l->word[i], "minimum-threshold") == 0;
		int64_t v = 0;

		if ((min || strcmp(l->word[i], "maximum-threshold") == 0) && i + 2 < l->n &&
		    bytes_of(l->word[i + 1], l->word[i + 2], &v))
			*(min ? &wred->min : &wred->max) = wf_conf_say(v, here(n));
		else if (strcmp(l->word[i], "drop-probability") == 0 &&
		         wf_conf_number(l->word[i + 1], &v))
			wred->chance = wf_conf_say(v, here(n));
		ecn |= strcmp(l->word[i], "ecn") == 0;
	}
	wred->ecn = wf_conf_say(ecn, here(n));
	wred->drop = wf_conf_say(1, here(n));
	return true;
}

/* "pause buffer-size 27456 pause-threshold 12480 resume-threshold 12480", of an input queue */
static bool take_pause(struct nxos *n)
{
	const struct wf_lines *l = n->l;
	struct wf_conf_profile *p =
		wf_conf_named_of(n->r->net, &n->r->device->profiles, sizeof(*p),
	                         wf_conf_textf(n->r->net, "%.100s q%d", n->policy->is.name, n->at));
	int64_t size = 0, threshold = 0, v = 0;

	if (p == NULL)
		return false;
	p->is.defined = p->is.used = true;
	p->is.at = here(n);
	for (unsigned i = 1; i + 1 < l->n; i++) {
		if (!wf_conf_number(l->word[i + 1], &v))
			continue;
		if (strcmp(l->word[i], "buffer-size") == 0)
			size = v;
		else if (strcmp(l->word[i], "pause-threshold") == 0)
			threshold = v;
		else if (strcmp(l->word[i], "resume-threshold") == 0)
			p->xon = wf_conf_say(v, here(n));
	}
	p->size = wf_conf_say(size, here(n));
	p->static_th = wf_conf_say(threshold, here(n));
	p->xoff = wf_conf_say(size - threshold, here(n));
	n->policy->port.pg[n->at].profile = p;
	n->policy->port.pg[n->at].at = here(n);
	return true;
}

static bool take_queuing(struct nxos *n)
{
	const struct wf_lines *l = n->l;
	struct wf_conf_queue *queue = &n->policy->port.queue[n->at];
	bool strict = wf_lines_are(l, "priority level");
	struct wf_conf_sched *sched;
	int64_t v = 0;

	if (wf_lines_are(l, "random-detect"))
		return take_detect(n);
	if (wf_lines_are(l, "pause buffer-size"))
		return take_pause(n);
	if (strict || wf_lines_are(l, "bandwidth")) {
		sched = wf_conf_sched_of(
			n->r, wf_conf_textf(n->r->net, "%.100s q%d", n->policy->is.name, n->at),
			here(n));
		if (sched == NULL)
			return false;
		queue->sched = sched;
		queue->sched_at = here(n);
		sched->strict = wf_conf_say(strict, here(n));
		if (!strict && wf_conf_number(l->word[l->n - 1], &v))
			sched->weight = wf_conf_say(v, here(n));
		return true;
	}
	return wf_lines_are(l, "queue-limit") || wf_lines_are(l, "shape") ||
	       wf_lines_are(l, "congestion-control") || wf_lines_are(l, "match");
}

static bool take_policy(struct nxos *n)
{
	const struct wf_lines *l = n->l;
	int64_t v = 0;

	if (strcmp(l->word[0], "class") == 0)
		return begin_class_of_policy(n);
	if (strcmp(l->word[0], "description") == 0 || strcmp(l->word[0], "Description:") == 0)
		return true;
	if (n->at < 0)
		return false;
	if (n->policy->kind == P_QUEUING)
		return take_queuing(n);
	if (n->policy->kind == P_QOS) {
		if (wf_lines_are(l, "set qos-group *") && wf_conf_number(l->word[2], &v) &&
		    v >= 0 && v < WF_CONF_TCS) {
			n->policy->group[n->at] = wf_conf_say(v, here(n));
			return true;
		}
		return wf_lines_are(l, "set") || wf_lines_are(l, "police");
	}
	if (wf_lines_are(l, "pause pfc-cos *") && wf_conf_number(l->word[2], &v) && v >= 0 &&
	    v < WF_CONF_TCS)
		n->policy->pause[n->at] = wf_conf_say(v, here(n));
	else if (wf_lines_are(l, "mtu *") && wf_conf_number(l->word[1], &v))
		n->policy->mtu[n->at] = wf_conf_say(v, here(n));
	else
		return wf_lines_are(l, "match qos-group") || wf_lines_are(l, "congestion-control");
	return true;
}

/* ---- interfaces and system qos ---- */

/* "service-policy type qos input NAME [no-stats]"; which of the three it is. */
static bool take_service(struct nxos *n, const char *policy[3], struct wf_conf_place at[3])
{
	const struct wf_lines *l = n->l;
	bool queuing = wf_lines_are(l, "service-policy type queuing");
	unsigned which = 0, name = 4;

	if (!wf_lines_are(l, "service-policy type * *"))
		return false;
	if (wf_lines_are(l, "service-policy type network-qos *")) {
		struct policy *sys = system_policy(n->r->net, n->r->device);

		if (sys == NULL || n->section != SYSTEM)
			return false;
		sys->network = wf_conf_text(n->r->net, l->word[3], strlen(l->word[3]));
		sys->network_at = here(n);
		return true;
	}
	if (strcmp(l->word[3], "input") != 0 && strcmp(l->word[3], "output") != 0)
		return false;
	if (queuing)
		which = strcmp(l->word[3], "output") == 0 ? 1 : 2;
	else if (strcmp(l->word[2], "qos") != 0 || strcmp(l->word[3], "input") != 0)
		return false;
	policy[which] = wf_conf_text(n->r->net, l->word[name], strlen(l->word[name]));
	at[which] = here(n);
	return true;
}

static void fault_command(struct nxos *n, const char *right)
{
	wf_conf_add_fault(n->r->net, WF_CONF_FAULT_COMMAND, n->r->device, n->port, here(n),
	                  wf_conf_textf(n->r->net, "NX-OS has no command \"%.*s\"",
	                                (int)(n->l->raw_len > 80 ? 80 : n->l->raw_len), n->l->raw),
	                  right);
}

/* Lines that guides have, and NX-OS has not: whoever typed them believes in something. */
static bool take_foreign(struct nxos *n)
{
	static const struct {
		const char *words, *right;
	} rows[] = {
		{ "priority-flow-control priority",
		  "pause pfc-cos in a class of the network-qos policy" },
		{ "priority-flow-control receive",
		  "priority-flow-control mode on at the interface" },
		{ "priority-flow-control send", "priority-flow-control mode on at the interface" },
		{ "priority-flow-control on", "priority-flow-control mode on at the interface" },
		{ "ecn enable", "random-detect ... ecn in a class of the queuing policy" },
		{ "mls qos", "class-map type qos with match dscp" },
		{ "qos trust", "service-policy type qos input at the interface" },
	};

	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		if (wf_lines_are(n->l, rows[i].words)) {
			fault_command(n, rows[i].right);
			return true;
		}
	}
	return false;
}

static bool take_pfc_mode(struct nxos *n)
{
	const char *mode = n->l->word[2];
	int64_t v = strcmp(mode, "on") == 0 ? 1 : strcmp(mode, "auto") == 0 ? 2 : 0;

	if (v == 0 && strcmp(mode, "off") != 0)
		return false;
	n->port->pfc_mode = wf_conf_say(v, here(n));
	n->port->has_qos = true;
	return true;
}

/* "400000", "400g", "auto" */
static bool take_speed(struct nxos *n)
{
	int64_t v = 0;
	const char *p = n->l->word[1];

	for (; *p >= '0' && *p <= '9' && v < 10000000; p++)
		v = v * 10 + (*p - '0');
	if (*p == 'g' || *p == 'G')
		v *= 1000;
	if (v > 0)
		n->port->speed = wf_conf_say(v * 1000000, here(n));
	return true;
}

static bool take_port_line(struct nxos *n)
{
	const struct wf_lines *l = n->l;
	int64_t v = 0;

	if (take_service(n, n->port->policy, n->port->policy_at)) {
		n->port->has_qos = true;
		return true;
	}
	if (wf_lines_are(l, "priority-flow-control mode *"))
		return take_pfc_mode(n);
	if (wf_lines_are(l, "priority-flow-control watch-dog-interval *")) {
		n->port->wd = wf_conf_say(strcmp(l->word[2], "on") == 0 ? 0xff : 0, here(n));
		return true;
	}
	if (wf_lines_are(l, "mtu *") && wf_conf_number(l->word[1], &v))
		n->port->mtu = wf_conf_say(v, here(n));
	else if (wf_lines_are(l, "speed *"))
		return take_speed(n);
	else if (wf_lines_are(l, "fec *") && wf_conf_fec_of(l->word[1], &v))
		n->port->fec = wf_conf_say(v, here(n));
	else if (wf_lines_are(l, "channel-group *"))
		n->port->bundle = wf_conf_text(n->r->net, l->word[1], strlen(l->word[1]));
	else if (l->n == 1 && strcmp(l->word[0], "shutdown") == 0)
		n->port->up = wf_conf_say(0, here(n));
	else
		return wf_lines_are(l, "no shutdown") || wf_lines_are(l, "description") ||
		       take_foreign(n);
	return true;
}

static void begin_interface(struct nxos *n)
{
	const char *name = n->l->word[1];

	if (!wf_conf_is_ethernet(name) && !wf_conf_is_bundle(name)) {
		n->section = OTHER;
		wf_conf_skip_line(n->r, n->l, n->seen);
		return;
	}
	n->port = wf_conf_port_here(n->r, name, n->l->line, &n->ret);
	if (n->port == NULL)
		return;
	n->section = PORT;
	n->port->defined = true;
	n->port->is_bundle = wf_conf_is_bundle(name);
	n->port->at = here(n);
}

/* The watchdog of the whole switch, and its times. */
static bool take_watchdog(struct nxos *n)
{
	const struct wf_lines *l = n->l;
	struct wf_conf_device *d = n->r->device;
	int64_t v = 0;

	if (wf_lines_are(l, "priority-flow-control watch-dog-interval *")) {
		d->wd_on = wf_conf_say(strcmp(l->word[2], "on") == 0, here(n));
		return true;
	}
	if (wf_lines_are(l, "priority-flow-control watch-dog interval *") &&
	    wf_conf_number(l->word[3], &v) && v > 0 && v < 1000000) {
		d->wd_poll = wf_conf_say(v * 1000, here(n));
		d->wd_detect = d->wd_poll;
		if (wf_lines_are(l, "* * * * shutdown-multiplier *") &&
		    wf_conf_number(l->word[5], &v) && v > 0 && v < 1000)
			d->wd_detect.v *= v;
		return true;
	}
	if (wf_lines_are(l, "priority-flow-control auto-restore multiplier *") &&
	    wf_conf_number(l->word[3], &v) && v >= 0 && v < 100000) {
		d->wd_restore = wf_conf_say(v * 100000, here(n));
		return true;
	}
	return wf_lines_are(l, "priority-flow-control fixed-restore multiplier *");
}

static bool is_prompt(const struct wf_lines *l)
{
	size_t len = strlen(l->word[0]);

	return len > 1 && l->word[0][len - 1] == '#' && strcmp(l->word[1], "show") == 0;
}

/* A line that begins something, wherever it stands; false: it belongs to what is open. */
static bool take_begin(struct nxos *n)
{
	const struct wf_lines *l = n->l;

	if (wf_lines_are(l, "class-map *"))
		begin_class(n);
	else if (wf_lines_are(l, "policy-map *"))
		begin_policy(n);
	else if (wf_lines_are(l, "interface *") && l->indent == 0)
		begin_interface(n);
	else if (wf_lines_are(l, "system qos"))
		n->section = SYSTEM;
	else if (is_prompt(l) || wf_lines_are(l, "Type") || l->word[0][0] == '=' ||
	         l->word[0][0] == '!')
		n->section = n->section == PORT ? PORT : OTHER;
	else
		return false;
	return true;
}

static bool take_top(struct nxos *n)
{
	const struct wf_lines *l = n->l;
	int64_t v = 0;

	n->section = OTHER;
	n->port = NULL;
	if (take_watchdog(n) || take_foreign(n))
		return true;
	if (wf_lines_are(l, "priority-flow-control mode")) {
		fault_command(n, "priority-flow-control mode on at each interface");
		return true;
	}
	for (unsigned i = 1; i + 1 < l->n && wf_lines_are(l, "ip load-sharing"); i++) {
		if (strcmp(l->word[i], "universal-id") == 0 && wf_conf_number(l->word[i + 1], &v)) {
			n->r->device->hash_seed = wf_conf_say(v, here(n));
			return true;
		}
	}
	return wf_lines_are(l, "hostname *") || wf_lines_are(l, "version *");
}

static void take_line(struct nxos *n)
{
	struct policy *sys;
	bool taken;

	if (take_begin(n))
		return;
	if (n->l->indent == 0 && n->section != OTHER)
		n->section = TOP;
	switch (n->section) {
	case CLASS:
		taken = take_match(n);
		break;
	case POLICY:
		taken = take_policy(n);
		break;
	case PORT:
		taken = take_port_line(n);
		break;
	case SYSTEM:
		sys = system_policy(n->r->net, n->r->device);
		taken = sys != NULL && take_service(n, sys->policy, sys->policy_at);
		break;
	case TOP:
	case OTHER:
	default:
		taken = n->l->indent == 0 ? take_top(n) : false;
		break;
	}
	if (!taken)
		wf_conf_skip_line(n->r, n->l, n->seen);
}

static int read_nxos(struct wf_conf_reading *r, const char *text, size_t len)
{
	struct wf_lines *l = wf_arena_alloc(r->arena, sizeof(*l), _Alignof(struct wf_lines));
	struct nxos n = { .r = r, .l = l, .section = OTHER };

	if (l == NULL)
		return -ENOMEM;
	r->device->form = WF_CONF_FORM_NXOS;
	if (r->device->at.file == WF_CONF_NONE)
		r->device->at = wf_conf_at(r, 0, NULL);
	wf_lines_init(l, text, len);
	while (n.ret == 0 && wf_lines_next(l))
		take_line(&n);
	return n.ret;
}

static bool is_nxos(const char *text, size_t len, char name[WF_CONF_NAME])
{
	static const char *const marks[] = { "class-map type qos",
		                             "policy-map type network-qos",
		                             "policy-map type queuing",
		                             "system qos",
		                             "Type qos class-maps",
		                             "Type qos policy-maps",
		                             "!Command: show running-config",
		                             "priority-flow-control watch-dog",
		                             "priority-flow-control mode ",
		                             "feature lldp" };
	const char *at = NULL;
	bool found = false;

	if (wf_conf_has_line(text, len, "qos profile ", NULL) ||
	    wf_conf_has_line(text, len, "service-profile ", NULL))
		return false; /* EOS has class maps, too */
	for (size_t i = 0; i < WF_ARRAY_SIZE(marks) && !found; i++)
		found = wf_conf_has_line(text, len, marks[i], NULL);
	if (!found)
		return false;
	if (wf_conf_has_line(text, len, "hostname ", &at) ||
	    wf_conf_has_line(text, len, "switchname ", &at)) {
		wf_conf_copy_word(name, at, text + len);
	} else if (wf_conf_has(text, len, "# show ", &at)) {
		const char *start = at - 7;

		while (start > text && (unsigned char)start[-1] > ' ')
			start--;
		wf_conf_copy_word(name, start, at - 7);
	}
	return true;
}

/* ---- when all is read ---- */

static struct policy *find(struct wf_conf_device *d, const char *name)
{
	for (struct wf_conf_named *p = d->policies; p != NULL; p = p->next) {
		if (name != NULL && p->defined && strcmp(p->name, name) == 0)
			return (struct policy *)p;
	}
	return NULL;
}

/* Which classes a policy gives groups, as maps of the port. */
static void apply_qos(struct wf_netconf *net, struct wf_conf_device *d, struct wf_conf_port *port,
                      struct policy *p, struct wf_conf_place at)
{
	struct wf_conf_map *dscp = wf_conf_map_of(net, d, WF_CONF_DSCP_TC, p->is.name);
	struct wf_conf_map *pcp = wf_conf_map_of(net, d, WF_CONF_PCP_TC, p->is.name);
	bool l2 = false, l3 = false;

	if (dscp == NULL || pcp == NULL)
		return;
	for (unsigned i = 0; i < p->n && !dscp->is.defined; i++) {
		struct wf_conf_named *c = d->classes;
		const struct class_map *class;
		bool all = strcmp(p->class[i], "class-default") == 0;

		while (c != NULL && c->name != p->class[i])
			c = c->next;
		class = (const struct class_map *)c;
		if ((class == NULL && !all) || p->group[i].said == WF_CONF_UNSET)
			continue;
		for (unsigned k = 0; k < WF_CONF_DSCPS; k++) {
			if ((all || (class->dscps >> k & 1) != 0) && dscp->to[k] < 0) {
				dscp->to[k] = (int8_t)p->group[i].v;
				dscp->line[k] = p->group[i].at.line;
			}
			if (k < WF_CONF_TCS && (all || (class->coses >> k & 1) != 0) &&
			    pcp->to[k] < 0) {
				pcp->to[k] = (int8_t)p->group[i].v;
				pcp->line[k] = p->group[i].at.line;
			}
		}
		l3 |= !all && class->dscps != 0;
		l2 |= !all && class->coses != 0;
	}
	if (!dscp->is.defined) {
		for (unsigned k = 0; k < WF_CONF_DSCPS; k++)
			dscp->to[k] = dscp->to[k] < 0 ? 0 : dscp->to[k];
		for (unsigned k = 0; k < WF_CONF_TCS; k++)
			pcp->to[k] = pcp->to[k] < 0 ? 0 : pcp->to[k];
		dscp->is.defined = pcp->is.defined = true;
		dscp->is.at = pcp->is.at = p->is.at;
		/* Which of the two headers a class asks for. */
		dscp->is.used = l3;
		pcp->is.used = l2;
	}
	port->map[WF_CONF_DSCP_TC] = dscp;
	port->map[WF_CONF_PCP_TC] = pcp;
	port->map_at[WF_CONF_DSCP_TC] = port->map_at[WF_CONF_PCP_TC] = at;
	port->trust = (struct wf_conf_value){ (dscp->is.used ? WF_CONF_TRUST_L3 : 0) |
		                                      (pcp->is.used ? WF_CONF_TRUST_L2 : 0),
		                              at, WF_CONF_SAID };
}

/*
 * Which network-qos policy holds: as system qos says; where that part is missing, one that
 * pauses.
 */
static struct policy *network_of(struct wf_conf_device *d, struct policy *sys)
{
	if (sys != NULL && sys->network != NULL)
		return find(d, sys->network);
	for (struct wf_conf_named *p = d->policies; p != NULL && sys == NULL; p = p->next) {
		struct policy *one = (struct policy *)p;

		if (one->kind != P_NETWORK || !p->defined)
			continue;
		for (unsigned i = 0; i < WF_CONF_TCS; i++) {
			if (one->pause[i].said == WF_CONF_SAID)
				return one;
		}
	}
	return NULL;
}

/* The same of what leaves: one that is not every switch's own. */
static struct policy *queuing_of(struct wf_conf_device *d)
{
	for (struct wf_conf_named *p = d->policies; p != NULL; p = p->next) {
		if (((struct policy *)p)->kind == P_QUEUING && p->defined &&
		    strncmp(p->name, "default-", 8) != 0)
			return (struct policy *)p;
	}
	return NULL;
}

static void apply_network(struct wf_netconf *net, struct wf_conf_device *d,
                          struct wf_conf_port *port, struct policy *nq)
{
	struct wf_conf_map *pg = wf_conf_map_of(net, d, WF_CONF_PFC_PG, nq->is.name);
	struct wf_conf_map *queue = wf_conf_map_of(net, d, WF_CONF_PFC_QUEUE, nq->is.name);
	int64_t mask = 0;
	struct wf_conf_place at = nq->is.at;

	if (pg == NULL || queue == NULL)
		return;
	for (unsigned i = 0; i < WF_CONF_TCS; i++) {
		if (nq->pause[i].said != WF_CONF_SAID)
			continue;
		mask |= INT64_C(1) << nq->pause[i].v;
		/* What is longer than the class allows is dropped, whatever the port takes. */
		if (nq->mtu[i].said == WF_CONF_SAID &&
		    (port->mtu.said != WF_CONF_SAID || port->mtu.v > nq->mtu[i].v))
			port->mtu = nq->mtu[i];
		at = nq->pause[i].at;
		pg->to[nq->pause[i].v] = queue->to[nq->pause[i].v] = (int8_t)i;
		pg->line[nq->pause[i].v] = queue->line[nq->pause[i].v] = at.line;
	}
	pg->is.defined = queue->is.defined = pg->is.used = queue->is.used = true;
	pg->is.at = queue->is.at = at;
	port->map[WF_CONF_PFC_PG] = pg;
	port->map[WF_CONF_PFC_QUEUE] = queue;
	port->map_at[WF_CONF_PFC_PG] = port->map_at[WF_CONF_PFC_QUEUE] = at;
	port->pfc_rx = port->pfc_tx = (struct wf_conf_value){ mask, at, WF_CONF_SAID };
}

static void dangling(struct wf_netconf *net, struct wf_conf_device *d, struct wf_conf_port *port,
                     const char *name, struct wf_conf_place at)
{
	/* What every switch brings along. */
	if (strncmp(name, "default-", 8) == 0 || at.file == WF_CONF_NONE)
		return;
	for (struct wf_conf_named *p = d->policies; p != NULL; p = p->next) {
		if (p->defined && p->name[0] != '\001') {
			wf_conf_add_fault(
				net, WF_CONF_FAULT_GROUP, d, port, at,
				wf_conf_textf(net, "policy-map %.100s is not defined", name),
				"define it, or name one that is there");
			return;
		}
	}
	/* No file with policies was given: nothing is known. */
}

static void finish_port(struct wf_netconf *net, struct wf_conf_device *d, struct wf_conf_port *port,
                        struct policy *sys)
{
	struct policy *nq = network_of(d, sys);

	for (unsigned i = 0; i < 3; i++) {
		struct policy *p;

		if (port->policy[i] == NULL && sys != NULL) {
			port->policy[i] = sys->policy[i];
			port->policy_at[i] = sys->policy_at[i];
		}
		p = find(d, port->policy[i]);
		if (port->policy[i] != NULL && p == NULL)
			dangling(net, d, port, port->policy[i], port->policy_at[i]);
		if (p != NULL && i == 0)
			apply_qos(net, d, port, p, port->policy_at[0]);
		else if (p != NULL)
			wf_conf_inherit(port, &p->port);
		for (unsigned k = 0; k < WF_CONF_TCS && i == 2 && p != NULL; k++)
			port->pg[k] = p->port.pg[k];
	}
	if (sys == NULL && port->policy[1] == NULL && queuing_of(d) != NULL)
		wf_conf_inherit(port, &queuing_of(d)->port);
	if (nq != NULL)
		apply_network(net, d, port, nq);
	wf_conf_default(&port->pfc_mode, 2);
	if (port->wd.said == WF_CONF_UNSET || d->wd_on.said != WF_CONF_SAID || d->wd_on.v == 0)
		port->wd = (struct wf_conf_value){ 0, port->at, WF_CONF_UNSET };
	port->wd_poll = d->wd_poll;
	port->wd_detect = d->wd_detect;
	port->wd_restore = d->wd_restore;
	wf_conf_default(&port->wd_poll, 100000);
	wf_conf_default(&port->wd_detect, port->wd_poll.v);
	wf_conf_default(&port->wd_action, WF_CONF_ACTION_DROP);
}

static void finish_nxos(struct wf_netconf *net, struct wf_conf_device *d)
{
	struct policy *sys = NULL;

	for (struct wf_conf_named *p = d->policies; p != NULL; p = p->next) {
		if (strcmp(p->name, "\001system qos") == 0)
			sys = (struct policy *)p;
	}
	if (sys != NULL && sys->network != NULL && find(d, sys->network) == NULL)
		dangling(net, d, NULL, sys->network, sys->network_at);
	wf_conf_dissolve(net, d, "port-channel");
	for (uint32_t i = 0; i < d->n_ports; i++)
		finish_port(net, d, d->ports[i], sys);
}

const struct wf_conf_reader wf_conf_nxos = {
	.name = "NX-OS",
	.help = "Cisco NX-OS: running-config, show run interface, show class-map, show policy-map",
	.form = WF_CONF_FORM_NXOS,
	.is = is_nxos,
	.read = read_nxos,
	.finish = finish_nxos,
};
