/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_names.c - finds devices, ports and links by their names.
 */
#include "scenario/device_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/suggest.h"

#define PATTERN 128

bool wf_name_fits(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;

	while (*text != '\0') {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star != NULL) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

/* Whether a word that stands for several devices means this one. */
static bool is_of_group(const struct wf_topo_node *node, const char *word)
{
	bool host = node->kind == WF_TOPO_HOST;

	if (strcmp(word, "hosts") == 0)
		return host;
	if (strcmp(word, "switches") == 0)
		return !host;
	return !host && strncmp(word, "tier", 4) == 0 && word[4] >= '1' && word[4] <= '9' &&
	       word[5] == '\0' && node->tier == word[4] - '0';
}

/* A part of a name, with its own end. False: it is too long or empty. */
static bool cut(char out[PATTERN], const char *text, size_t len)
{
	if (len == 0 || len >= PATTERN)
		return false;
	memcpy(out, text, len);
	out[len] = '\0';
	return true;
}

/* Calls fn for the devices that a pattern means; how many there are. */
static unsigned each_device(const struct wf_topo *topo, const char *pattern, wf_named_fn *fn,
                            void *arg)
{
	bool exact = wf_topo_node_by_name(topo, pattern) != WF_TOPO_NONE;
	unsigned n = 0;

	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		const struct wf_topo_node *node = &topo->nodes[i];

		if (exact ? strcmp(pattern, node->name) != 0
		          : !wf_name_fits(pattern, node->name) && !is_of_group(node, pattern))
			continue;
		n++;
		if (fn != NULL)
			fn(arg, i, WF_TOPO_NONE);
	}
	return n;
}

/* ---- ports ---- */

struct ports {
	const struct wf_topo *topo;
	const char *which;
	wf_named_fn *fn;
	void *arg;
	unsigned n;
	uint32_t example;
};

static void ports_of(void *arg, uint32_t id, uint32_t none)
{
	struct ports *p = arg;
	const struct wf_topo_node *node = &p->topo->nodes[id];

	(void)none;
	p->example = id;
	for (uint32_t i = 0; i < node->n_ports; i++) {
		const struct wf_topo_port *port = &p->topo->ports[node->first_port + i];
		char number[16];

		snprintf(number, sizeof(number), "%u", (unsigned)i);
		if (!wf_name_fits(p->which, number) &&
		    !wf_name_fits(p->which, p->topo->nodes[port->peer].name))
			continue;
		p->n++;
		if (p->fn != NULL)
			p->fn(p->arg, id, i);
	}
}

static enum wf_named no_device(const struct wf_topo *topo, const char *name, struct wf_err *err)
{
	struct wf_suggest suggest;

	wf_suggest_init(&suggest, name);
	for (uint32_t i = 0; i < topo->n_nodes; i++)
		wf_suggest_offer(&suggest, topo->nodes[i].name);
	wf_err_say(err, "%.60s: the network has no such device%s", name,
	           wf_suggest_text(&suggest, "the devices are"));
	return WF_NAMED_NOTHING;
}

/* "leaf0:5", "leaf*:h3" */
static enum wf_named each_port(const struct wf_topo *topo, const char *name, const char *colon,
                               struct ports *p, struct wf_err *err)
{
	char device[PATTERN];

	if (!cut(device, name, (size_t)(colon - name)) || colon[1] == '\0') {
		wf_err_say(err,
		           "%.60s: that is no port; write a device and a port's number, or what "
		           "it leads to, e.g. leaf0:5 or leaf0:h5",
		           name);
		return WF_NAMED_NOTHING;
	}
	p->which = colon + 1;
	if (each_device(topo, device, ports_of, p) == 0)
		return no_device(topo, device, err);
	if (p->n > 0)
		return WF_NAMED_PORTS;
	wf_err_say(err,
	           "%.60s: %s has no such port; write 0 to %u, or what it leads to, e.g. %s:%s",
	           name, topo->nodes[p->example].name,
	           (unsigned)topo->nodes[p->example].n_ports - 1, topo->nodes[p->example].name,
	           topo->nodes[topo->ports[topo->nodes[p->example].first_port].peer].name);
	return WF_NAMED_NOTHING;
}

/* ---- links ---- */

/* The links between devices that fit a and b; nth of those between the same two, 0: all. */
static unsigned each_link(const struct wf_topo *topo, const char *a, const char *b, unsigned nth,
                          const struct ports *p)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct wf_topo_link *l = &topo->links[i];
		const struct wf_topo_node *from = &topo->nodes[l->a], *to = &topo->nodes[l->b];
		bool fits = (wf_name_fits(a, from->name) && wf_name_fits(b, to->name)) ||
		            (wf_name_fits(a, to->name) && wf_name_fits(b, from->name));
		unsigned place = 1;

		for (uint32_t k = 0; fits && nth != 0 && k < from->n_ports; k++) {
			const struct wf_topo_port *port = &topo->ports[from->first_port + k];

			place += port->peer == l->b && k < l->a_port;
		}
		if (!fits || (nth != 0 && place != nth))
			continue;
		n++;
		if (p->fn != NULL) {
			p->fn(p->arg, l->a, l->a_port);
			p->fn(p->arg, l->b, l->b_port);
		}
	}
	return n;
}

/* Which of several links is meant: a number from 1 on; 0: text is none. */
static unsigned number_of(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return text[digits] == '\0' && digits < 10 ? (unsigned)strtoul(text, NULL, 10) : 0;
}

/* "leaf0-spine1", "leaf0-spine1/2": names may have hyphens themselves, so every one is tried. */
static enum wf_named try_links(const struct wf_topo *topo, const char *name, const struct ports *p,
                               struct wf_err *err)
{
	const char *slash = strrchr(name, '/'), *end = slash != NULL ? slash : name + strlen(name);
	unsigned nth = slash != NULL ? number_of(slash + 1) : 0;
	char a[PATTERN], b[PATTERN];
	bool both = false;

	if (slash != NULL && nth == 0) {
		wf_err_say(err,
		           "%.60s: links between the same two are numbered from 1 on; write "
		           "%.*s/1, or %.*s for all of them",
		           name, (int)(end - name), name, (int)(end - name), name);
		return WF_NAMED_NOTHING;
	}
	for (const char *dash = strchr(name, '-'); dash != NULL && dash < end;
	     dash = strchr(dash + 1, '-')) {
		if (!cut(a, name, (size_t)(dash - name)) ||
		    !cut(b, dash + 1, (size_t)(end - dash - 1)))
			continue;
		if (each_link(topo, a, b, nth, p) > 0)
			return WF_NAMED_LINKS;
		if (both || each_device(topo, a, NULL, NULL) == 0 ||
		    each_device(topo, b, NULL, NULL) == 0)
			continue;
		both = true;
		wf_err_say(err, "%.60s: there is no %s between %.40s and %.40s", name,
		           nth != 0 && each_link(topo, a, b, 0, &(struct ports){ 0 }) > 0
		                   ? "such link: they have fewer"
		                   : "link",
		           a, b);
	}
	return both ? WF_NAMED_NOTHING : no_device(topo, name, err);
}

enum wf_named wf_named_each(const struct wf_topo *topo, const char *name, wf_named_fn *fn,
                            void *arg, struct wf_err *err)
{
	struct ports p = { .topo = topo, .fn = fn, .arg = arg };
	const char *colon = strrchr(name, ':');

	if (each_device(topo, name, fn, arg) > 0)
		return WF_NAMED_DEVICES;
	if (colon != NULL)
		return each_port(topo, name, colon, &p, err);
	if (strchr(name, '-') != NULL)
		return try_links(topo, name, &p, err);
	return no_device(topo, name, err);
}
