/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c - the list of forms of configurations, and what their readers share.
 */
#include "netconf/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "netconf/read_priv.h"

/* The more exact a form's mark is, the earlier it is asked. */
static const struct wf_conf_reader *const readers[] = {
	&wf_conf_lldp, &wf_conf_sonic, &wf_conf_nvue_json, &wf_conf_nvue_set, &wf_conf_cumulus,
	&wf_conf_nxos, &wf_conf_eos,   &wf_conf_nic,       &wf_conf_links,    &wf_conf_nvue_yaml,
};

const char *wf_conf_reader_name(const struct wf_conf_reader *reader)
{
	return reader->name;
}

void wf_conf_each_reader(void (*fn)(void *arg, const char *name, const char *help), void *arg)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(readers); i++)
		fn(arg, readers[i]->name, readers[i]->help);
}

void wf_conf_look(const char *text, size_t len, struct wf_conf_look *look)
{
	*look = (struct wf_conf_look){ NULL, "" };
	for (size_t i = 0; i < WF_ARRAY_SIZE(readers); i++) {
		look->device[0] = '\0';
		if (readers[i]->is(text, len, look->device)) {
			look->reader = readers[i];
			return;
		}
	}
	look->device[0] = '\0';
}

int wf_conf_read(struct wf_netconf *net, const struct wf_conf_look *look, const char *path,
                 const char *text, size_t len, const char *device, const char *port,
                 struct wf_err *err)
{
	struct wf_arena arena;
	struct wf_conf_reading r = { .net = net, .path = path, .port = port, .err = err };
	int ret;

	r.file = wf_conf_add_file(net, path);
	r.device = wf_conf_device_of(net, device);
	if (r.device == NULL || r.file == WF_CONF_NONE)
		return -ENOMEM;
	if (r.device->form != WF_CONF_FORM_NONE && look->reader->form != WF_CONF_FORM_NONE &&
	    r.device->form != look->reader->form)
		return wf_err_at(
			err, path, 0, 0,
			"it is of %s, of which another file is that of another system (%s)", device,
			wf_conf_form_names[r.device->form]);
	wf_arena_init(&arena);
	r.arena = &arena;
	ret = look->reader->read(&r, text, len);
	wf_arena_fini(&arena);
	return ret == 0 && net->no_memory ? -ENOMEM : ret;
}

void wf_conf_finish_none(struct wf_netconf *net, struct wf_conf_device *device)
{
	(void)net;
	(void)device;
}

int wf_conf_finish(struct wf_netconf *net)
{
	static const struct wf_conf_reader *const by_form[] = {
		[WF_CONF_FORM_SONIC] = &wf_conf_sonic,     [WF_CONF_FORM_NVUE] = &wf_conf_nvue_json,
		[WF_CONF_FORM_CUMULUS] = &wf_conf_cumulus, [WF_CONF_FORM_EOS] = &wf_conf_eos,
		[WF_CONF_FORM_NXOS] = &wf_conf_nxos,       [WF_CONF_FORM_NIC] = &wf_conf_nic,
	};

	for (uint32_t i = 0; i < net->n_devices; i++) {
		if (net->devices[i]->form != WF_CONF_FORM_NONE)
			by_form[net->devices[i]->form]->finish(net, net->devices[i]);
	}
	wf_conf_connect(net);
	return net->no_memory ? -ENOMEM : 0;
}

/* ---- what stands in a text ---- */

bool wf_conf_has(const char *text, size_t len, const char *what, const char **at_p)
{
	size_t n = strlen(what);
	const char *p = text, *end = text + len;

	while ((size_t)(end - p) >= n) {
		p = memchr(p, what[0], (size_t)(end - p) - n + 1);
		if (p == NULL)
			return false;
		if (memcmp(p, what, n) == 0) {
			if (at_p != NULL)
				*at_p = p + n;
			return true;
		}
		p++;
	}
	return false;
}

bool wf_conf_has_line(const char *text, size_t len, const char *what, const char **at_p)
{
	const char *end = text + len;
	size_t n = strlen(what);

	for (const char *p = text; p < end;) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		if ((size_t)(end - p) >= n && memcmp(p, what, n) == 0) {
			if (at_p != NULL)
				*at_p = p + n;
			return true;
		}
		if (stop == NULL)
			return false;
		p = stop + 1;
	}
	return false;
}

void wf_conf_copy_word(char name[WF_CONF_NAME], const char *at, const char *end)
{
	size_t n = 0;

	while (at < end && (*at == ' ' || *at == ':' || *at == '"' || *at == '\'' || *at == '\t'))
		at++;
	while (at < end && n + 1 < WF_CONF_NAME && (unsigned char)*at > ' ' && *at != '"' &&
	       *at != '\'' && *at != ',' && (unsigned char)*at != 0x7f)
		name[n++] = *at++;
	name[n] = '\0';
}

char wf_conf_first(const char *text, size_t len)
{
	size_t i = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	while (i < len && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n'))
		i++;
	return i == len ? '\0' : text[i];
}

/* ---- values ---- */

struct wf_conf_place wf_conf_at(const struct wf_conf_reading *r, uint32_t line, const char *key)
{
	return (struct wf_conf_place){ key, r->file, line };
}

struct wf_conf_value wf_conf_say(int64_t v, struct wf_conf_place at)
{
	return (struct wf_conf_value){ v, at, WF_CONF_SAID };
}

void wf_conf_default(struct wf_conf_value *value, int64_t v)
{
	if (value->said == WF_CONF_UNSET)
		*value = (struct wf_conf_value){ v, { NULL, WF_CONF_NONE, 0 }, WF_CONF_DEFAULT };
}

bool wf_conf_number(const char *text, int64_t *v_p)
{
	bool below = *text == '-';
	const char *p = text + (below || *text == '+');
	int64_t v = 0;

	if (*p == '\0')
		return false;
	for (; *p != '\0'; p++) {
		if (*p < '0' || *p > '9' || v > INT64_MAX / 100)
			return false;
		v = v * 10 + (*p - '0');
	}
	*v_p = below ? -v : v;
	return true;
}

bool wf_conf_micro(const char *text, int64_t *v_p)
{
	int64_t v = 0, unit = 1000000;
	const char *p = text;
	bool any = false;

	for (; *p >= '0' && *p <= '9'; p++, any = true) {
		if (v > INT64_MAX / 1000000000)
			return false;
		v = v * 10 + (*p - '0');
	}
	v *= 1000000;
	if (*p == '.') {
		for (p++; *p >= '0' && *p <= '9'; p++, any = true) {
			unit /= 10;
			v += (*p - '0') * unit;
		}
	}
	*v_p = v;
	return any && *p == '\0';
}

bool wf_conf_mask(const char *text, int64_t *mask_p)
{
	int64_t mask = 0;

	for (const char *p = text; *p != '\0';) {
		unsigned low = (unsigned)(*p - '0'), high = low;

		if (low > 7)
			return false;
		p++;
		if (*p == '-') {
			high = (unsigned)(p[1] - '0');
			if (high > 7 || high < low)
				return false;
			p += 2;
		}
		for (; low <= high; low++)
			mask |= INT64_C(1) << low;
		while (*p == ' ')
			p++;
		if (*p != ',' && *p != '\0')
			return false;
		if (*p == ',')
			p++;
		while (*p == ' ')
			p++;
	}
	*mask_p = mask;
	return true;
}

bool wf_conf_metres(const char *text, int64_t *cm_p)
{
	char copy[32];
	size_t n = strlen(text);
	int64_t v = 0;

	if (n > 0 && text[n - 1] == 'm')
		n--;
	if (n == 0 || n >= sizeof(copy))
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	if (!wf_conf_micro(copy, &v))
		return false;
	*cm_p = v / 10000;
	return true;
}

bool wf_conf_flag(const char *text, int64_t *v_p)
{
	static const char *const yes[] = { "true",    "enable", "enabled", "on",  "yes",
		                           "True(1)", "up",     "1",       "True" };
	static const char *const no[] = { "false",    "disable", "disabled", "off",  "no",
		                          "False(0)", "down",    "0",        "False" };

	for (size_t i = 0; i < WF_ARRAY_SIZE(yes); i++) {
		if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
			*v_p = strcmp(text, yes[i]) == 0;
			return true;
		}
	}
	return false;
}

bool wf_conf_fec_of(const char *text, int64_t *v_p)
{
	static const struct {
		const char *name;
		enum wf_conf_fec fec;
	} names[] = {
		{ "rs", WF_CONF_FEC_RS },         { "reed-solomon", WF_CONF_FEC_RS },
		{ "rs-fec", WF_CONF_FEC_RS },     { "rs-cons16", WF_CONF_FEC_RS },
		{ "rs-ieee", WF_CONF_FEC_RS },    { "fc", WF_CONF_FEC_FC },
		{ "fire-code", WF_CONF_FEC_FC },  { "fc-fec", WF_CONF_FEC_FC },
		{ "baser", WF_CONF_FEC_FC },      { "base-r", WF_CONF_FEC_FC },
		{ "none", WF_CONF_FEC_NONE },     { "off", WF_CONF_FEC_NONE },
		{ "disabled", WF_CONF_FEC_NONE }, { "auto", WF_CONF_FEC_AUTO },
	};

	for (size_t i = 0; i < WF_ARRAY_SIZE(names); i++) {
		if (strcmp(text, names[i].name) == 0) {
			*v_p = names[i].fec;
			return true;
		}
	}
	return false;
}

void wf_conf_bad(struct wf_conf_reading *r, struct wf_conf_port *port, struct wf_conf_place at,
                 const char *value, const char *right)
{
	wf_conf_add_fault(r->net, WF_CONF_FAULT_VALUE, r->device, port, at,
	                  wf_conf_textf(r->net, "\"%.60s\" is no value for it", value), right);
}

struct wf_conf_port *wf_conf_port_here(struct wf_conf_reading *r, const char *name, uint32_t line,
                                       int *ret_p)
{
	struct wf_conf_port *port = wf_conf_port_of(r->net, r->device, name);

	if (port == NULL && *ret_p == 0)
		*ret_p = r->net->no_memory
		                 ? -ENOMEM
		                 : wf_err_at(r->err, r->path, line, 0,
		                             "it has more than %d ports; no more are read",
		                             WF_CONF_MAX_PORTS);
	return port;
}

/* ---- lines ---- */

void wf_lines_init(struct wf_lines *l, const char *text, size_t len)
{
	l->next = text;
	l->end = text + len;
	l->line = 0;
	l->n = 0;
}

static void split(struct wf_lines *l)
{
	char *to = l->room;
	const char *p = l->raw, *end = l->raw + l->raw_len;

	l->n = 0;
	while (l->n + 1 < WF_LINE_WORDS) {
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		if (p == end || (size_t)(end - p) + 2 > sizeof(l->room) - (size_t)(to - l->room))
			break;
		l->word[l->n++] = to;
		while (p < end && *p != ' ' && *p != '\t') {
			/* A NUL would end the word where the file does not. */
			*to++ = *p == '\0' ? '?' : *p;
			p++;
		}
		*to++ = '\0';
	}
	l->cut = p < end;
	l->word[l->n] = "";
}

bool wf_lines_next(struct wf_lines *l)
{
	while (l->next < l->end) {
		const char *p = l->next, *stop = memchr(p, '\n', (size_t)(l->end - p));
		const char *end = stop == NULL ? l->end : stop;

		l->next = stop == NULL ? l->end : stop + 1;
		l->line++;
		l->indent = 0;
		while (p < end && (*p == ' ' || *p == '\t')) {
			l->indent += *p == '\t' ? 8 : 1;
			p++;
		}
		while (end > p && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
			end--;
		if (p == end)
			continue;
		l->raw = p;
		l->raw_len = (size_t)(end - p);
		split(l);
		return true;
	}
	return false;
}

bool wf_lines_are(const struct wf_lines *l, const char *words)
{
	unsigned i = 0;

	for (const char *p = words; *p != '\0'; i++) {
		const char *stop = strchr(p, ' ');
		size_t n = stop == NULL ? strlen(p) : (size_t)(stop - p);

		if (i >= l->n)
			return false;
		if (!(n == 1 && *p == '*') &&
		    (strlen(l->word[i]) != n || memcmp(l->word[i], p, n) != 0))
			return false;
		p += n + (stop != NULL);
	}
	return true;
}

bool wf_conf_is_ethernet(const char *name)
{
	return strncmp(name, "Ethernet", 8) == 0 || strncmp(name, "Eth", 3) == 0 ||
	       strncmp(name, "swp", 3) == 0;
}

bool wf_conf_is_bundle(const char *name)
{
	return strncmp(name, "port-channel", 12) == 0 || strncmp(name, "Port-Channel", 12) == 0;
}

void wf_conf_dissolve(struct wf_netconf *net, struct wf_conf_device *d, const char *stem)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n_ports; i++) {
		struct wf_conf_port *port = d->ports[i];
		const struct wf_conf_port *bundle;

		if (port->bundle == NULL)
			continue;
		bundle = wf_conf_find_port(net, d, wf_conf_textf(net, "%s%s", stem, port->bundle));
		for (unsigned k = 0; bundle != NULL && k < 3; k++) {
			if (port->policy[k] == NULL) {
				port->policy[k] = bundle->policy[k];
				port->policy_at[k] = bundle->policy_at[k];
			}
		}
		if (bundle != NULL) {
			wf_conf_inherit(port, bundle);
			if (port->mtu.said == WF_CONF_UNSET)
				port->mtu = bundle->mtu;
		}
	}
	for (uint32_t i = 0; i < d->n_ports; i++) {
		if (!d->ports[i]->is_bundle)
			d->ports[n++] = d->ports[i];
	}
	d->n_ports = n;
}

/* The number that ends a name; how long the name is before it: "swp50s3" is 6 and 3. */
static size_t number_of(const char *name, size_t len, unsigned *number_p)
{
	size_t at = len;
	unsigned v = 0;

	while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	for (size_t i = at; i < len && v < 100000; i++)
		v = v * 10 + (unsigned)(name[i] - '0');
	*number_p = v;
	return at;
}

void wf_conf_each_port(struct wf_conf_reading *r, const char *list,
                       void (*fn)(void *arg, const char *name), void *arg)
{
	unsigned n = 0;

	for (const char *p = list; *p != '\0' && n < WF_CONF_MAX_PORTS;) {
		size_t len = strcspn(p, ", ");
		const char *dash = memchr(p, '-', len);
		size_t first = dash == NULL ? len : (size_t)(dash - p);
		unsigned from = 0, to = 0;
		size_t stem = number_of(p, first, &from);

		if (dash != NULL)
			(void)number_of(p, len, &to);
		if (len != 0 && (dash == NULL || stem == first || to < from))
			fn(arg, wf_conf_text(r->net, p, len));
		else if (len != 0)
			for (unsigned k = from; k <= to && n < WF_CONF_MAX_PORTS; k++, n++)
				fn(arg, wf_conf_textf(r->net, "%.*s%u",
				                      (int)(stem > 100 ? 100 : stem), p, k));
		n++;
		p += len;
		p += strspn(p, ", ");
	}
}

void wf_conf_skip_line(struct wf_conf_reading *r, const struct wf_lines *l,
                       const char *seen[WF_SEEN])
{
	static const char *const ours[] = {
		"qos",      "flow-control", "pfc",           "queu",     "random-detect", "ecn",
		"buffer",   "dcbx",         "traffic-class", "pause",    "dscp",          "roce",
		"lossless", "class-map",    "policy-map",    "service-p"
	};
	int len = (int)(l->raw_len > 100 ? 100 : l->raw_len);
	const char *first;

	for (size_t i = 0; i < WF_ARRAY_SIZE(ours); i++) {
		if (wf_conf_has(l->raw, l->raw_len, ours[i], NULL)) {
			wf_conf_add_note(r->net, WF_CONF_NOTE_ODD, wf_conf_at(r, l->line, NULL),
			                 "%.*s", len, l->raw);
			return;
		}
	}
	first = wf_conf_textf(r->net, "%.60s", l->word[0]);
	for (size_t i = 0; i < WF_SEEN; i++) {
		if (seen[i] == first)
			return;
		if (seen[i] == NULL) {
			seen[i] = first;
			break;
		}
	}
	wf_conf_add_note(r->net, WF_CONF_NOTE_OTHER, wf_conf_at(r, l->line, NULL), "%.*s", len,
	                 l->raw);
}

struct wf_conf_wred *wf_conf_wred_of(struct wf_conf_reading *r, const char *name,
                                     struct wf_conf_place at)
{
	struct wf_conf_wred *wred =
		wf_conf_named_of(r->net, &r->device->wreds, sizeof(*wred), name);

	if (wred != NULL && !wred->is.defined) {
		wred->is.defined = wred->is.used = true;
		wred->is.at = at;
	}
	return wred;
}

struct wf_conf_sched *wf_conf_sched_of(struct wf_conf_reading *r, const char *name,
                                       struct wf_conf_place at)
{
	struct wf_conf_sched *sched =
		wf_conf_named_of(r->net, &r->device->scheds, sizeof(*sched), name);

	if (sched != NULL && !sched->is.defined) {
		sched->is.defined = sched->is.used = true;
		sched->is.at = at;
	}
	return sched;
}

static void inherit_value(struct wf_conf_value *to, const struct wf_conf_value *from)
{
	if (to->said != WF_CONF_SAID && from->said != WF_CONF_UNSET)
		*to = *from;
}

static void inherit_queue(struct wf_conf_queue *to, const struct wf_conf_queue *from)
{
	if (to->sched == NULL) {
		to->sched = from->sched;
		to->sched_at = from->sched_at;
	}
	if (to->wred == NULL) {
		to->wred = from->wred;
		to->wred_at = from->wred_at;
	}
	inherit_value(&to->guaranteed, &from->guaranteed);
}

void wf_conf_inherit(struct wf_conf_port *port, const struct wf_conf_port *from)
{
	inherit_value(&port->trust, &from->trust);
	inherit_value(&port->pfc_mode, &from->pfc_mode);
	inherit_value(&port->pfc_rx, &from->pfc_rx);
	inherit_value(&port->pfc_tx, &from->pfc_tx);
	inherit_value(&port->cable, &from->cable);
	inherit_value(&port->wd, &from->wd);
	inherit_value(&port->wd_action, &from->wd_action);
	inherit_value(&port->wd_detect, &from->wd_detect);
	inherit_value(&port->wd_restore, &from->wd_restore);
	inherit_value(&port->wd_poll, &from->wd_poll);
	for (unsigned i = 0; i < WF_CONF_MAPS; i++) {
		if (port->map[i] == NULL) {
			port->map[i] = from->map[i];
			port->map_at[i] = from->map_at[i];
		}
	}
	for (unsigned i = 0; i < WF_CONF_TCS; i++)
		inherit_queue(&port->queue[i], &from->queue[i]);
	port->has_qos |= from->has_qos;
}
