/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_lldp.c - who is connected to whom: lldpctl's JSON in its three forms (a list of interfaces,
 * a mapping of them, json0 where everything is in lists), and links in YAML, containerlab's too.
 */
#include <errno.h>
#include <string.h>

#include "netconf/read_priv.h"

/* What json0 puts into a list of one, as the others have it. */
static const struct wf_tree *plain(const struct wf_tree *node)
{
	return node != NULL && node->kind == WF_TREE_LIST ? node->child : node;
}

/* "x", {"value": "x"} or [{"value": "x"}] */
static const char *value_of(const struct wf_tree *node)
{
	node = plain(node);
	if (node == NULL)
		return NULL;
	return node->kind == WF_TREE_VALUE ? node->text : wf_tree_text(node, "value");
}

static const char *name_of_chassis(const struct wf_tree *chassis)
{
	const char *name;

	chassis = plain(chassis);
	if (chassis == NULL || chassis->kind != WF_TREE_MAP || chassis->child == NULL)
		return NULL;
	name = value_of(wf_tree_get(chassis, "name"));
	if (name != NULL)
		return name;
	/* "chassis": {"leaf01": {...}}, or without a name {"id": {...}, ...}. */
	if (chassis->child->kind == WF_TREE_MAP && strcmp(chassis->child->key, "id") != 0)
		return chassis->child->key;
	return value_of(wf_tree_get(chassis, "id"));
}

static const char *name_of_port(const struct wf_tree *port)
{
	const struct wf_tree *id;
	const char *type, *name, *descr;

	port = plain(port);
	id = plain(wf_tree_get(port, "id"));
	type = wf_tree_text(id, "type");
	name = value_of(id);
	descr = value_of(wf_tree_get(port, "descr"));
	return name == NULL || (type != NULL && strcmp(type, "mac") == 0 && descr != NULL) ? descr
	                                                                                   : name;
}

static void take_interface(struct wf_conf_reading *r, const char *name, const struct wf_tree *node)
{
	const char *device = name_of_chassis(wf_tree_get(node, "chassis"));
	const char *port = name_of_port(wf_tree_get(node, "port"));
	struct wf_conf_place at =
		wf_conf_at(r, node->line, wf_conf_textf(r->net, "lldp|interface|%.200s", name));
	struct wf_conf_end end[2] = { { .device = r->device,
		                        .name = wf_conf_text(r->net, name, strlen(name)) } };

	if (device == NULL || device[0] == '\0' || port == NULL) {
		wf_conf_add_note(r->net, WF_CONF_NOTE_ODD, at,
		                 "a neighbour whose name or port is not there");
		return;
	}
	end[1].device = wf_conf_device_of(r->net, device);
	end[1].name = wf_conf_text(r->net, port, strlen(port));
	wf_conf_add_link(r->net, end, at, -1);
}

/* One of a list: {"eth0": {...}} or {"name": "eth0", ...}. */
static void take_item(struct wf_conf_reading *r, const struct wf_tree *item)
{
	const char *name = wf_tree_text(item, "name");

	if (name != NULL) {
		take_interface(r, name, item);
		return;
	}
	for (const struct wf_tree *one = item->child; one != NULL; one = one->next) {
		if (item->kind == WF_TREE_MAP && one->kind == WF_TREE_MAP)
			take_interface(r, one->key, one);
	}
}

static int read_lldp(struct wf_conf_reading *r, const char *text, size_t len)
{
	const struct wf_tree *lldp, *all;
	struct wf_tree *root = NULL;
	int ret = wf_tree_read_json(text, len, r->path, r->arena, &root, r->err);

	if (ret != 0)
		return ret;
	lldp = plain(wf_tree_get(root, "lldp"));
	all = wf_tree_get(lldp, "interface");
	if (all == NULL)
		return 0; /* nobody has said anything */
	if (all->kind == WF_TREE_MAP)
		take_item(r, all);
	for (const struct wf_tree *i = all->child; all->kind == WF_TREE_LIST && i != NULL;
	     i = i->next)
		take_item(r, i);
	return 0;
}

static bool is_lldp(const char *text, size_t len, char name[WF_CONF_NAME])
{
	const char *at = NULL;

	if (wf_conf_first(text, len) != '{' || !wf_conf_has(text, len, "\"lldp\"", NULL) ||
	    wf_conf_has(text, len, "\"PORT\"", NULL))
		return false;
	if (wf_conf_has(text, len, "\"local-chassis\"", &at) &&
	    wf_conf_has(at, len - (size_t)(at - text), "\"chassis\"", &at)) {
		while (at < text + len && (*at == ':' || *at == '{' || (unsigned char)*at <= ' '))
			at++;
		wf_conf_copy_word(name, at, text + len);
		if (strcmp(name, "id") == 0)
			name[0] = '\0';
	}
	return true;
}

const struct wf_conf_reader wf_conf_lldp = {
	.name = "LLDP",
	.help = "lldpctl -f json or -f json0: what is connected to what",
	.form = WF_CONF_FORM_NONE,
	.is = is_lldp,
	.read = read_lldp,
	.finish = wf_conf_finish_none,
};

/* ---- links in YAML ---- */

/* "leaf01:Ethernet0" */
static bool split_end(struct wf_conf_reading *r, const char *text, size_t len,
                      struct wf_conf_end *end)
{
	const char *colon = memchr(text, ':', len);

	if (colon == NULL || colon == text || colon + 1 == text + len)
		return false;
	end->device = wf_conf_device_of(r->net, wf_conf_text(r->net, text, (size_t)(colon - text)));
	end->name = wf_conf_text(r->net, colon + 1, (size_t)(text + len - colon - 1));
	return end->device != NULL;
}

/* "leaf01:Ethernet0 spine01:Ethernet4 40m"; what stands between them may be a dash or an arrow. */
static bool take_words(struct wf_conf_reading *r, const char *text, struct wf_conf_end end[2],
                       int64_t *length_p)
{
	unsigned n = 0;

	for (const char *p = text; *p != '\0';) {
		size_t len = strcspn(p, " ,");
		char word[32];

		if (memchr(p, ':', len) != NULL) {
			if (n == 2 || !split_end(r, p, len, &end[n]))
				return false;
			n++;
		} else if (len > 0 && len < sizeof(word) && *p >= '0' && *p <= '9') {
			memcpy(word, p, len);
			word[len] = '\0';
			if (!wf_conf_metres(word, length_p))
				return false;
		}
		p += len;
		p += strspn(p, " ,");
	}
	return n == 2;
}

static bool take_keys(struct wf_conf_reading *r, const struct wf_tree *item,
                      struct wf_conf_end end[2], int64_t *length_p)
{
	const struct wf_tree *both = wf_tree_get(item, "endpoints");
	const char *a = wf_tree_text(item, "a"), *b = wf_tree_text(item, "b");
	const char *length = wf_tree_text(item, "length");

	if (both != NULL && both->kind == WF_TREE_LIST && both->child != NULL &&
	    both->child->next != NULL) {
		a = both->child->text;
		b = both->child->next->text;
	}
	if (length != NULL && !wf_conf_metres(length, length_p))
		return false;
	return a != NULL && b != NULL && split_end(r, a, strlen(a), &end[0]) &&
	       split_end(r, b, strlen(b), &end[1]);
}

static int read_links(struct wf_conf_reading *r, const char *text, size_t len)
{
	const struct wf_tree *links;
	struct wf_tree *root = NULL;
	int ret = wf_tree_read_yaml(text, len, r->path, r->arena, &root, r->err);

	if (ret != 0)
		return ret;
	links = wf_tree_get(root, "links");
	if (links == NULL)
		links = wf_tree_get(wf_tree_get(root, "topology"), "links");
	if (links == NULL || links->kind != WF_TREE_LIST)
		return wf_err_at(r->err, r->path, root->line, 0,
		                 "here should be links: and a list");
	for (const struct wf_tree *item = links->child; item != NULL; item = item->next) {
		struct wf_conf_end end[2] = { { NULL, NULL, NULL }, { NULL, NULL, NULL } };
		int64_t length = -1;

		if (!(item->kind == WF_TREE_VALUE ? take_words(r, item->text, end, &length)
		                                  : take_keys(r, item, end, &length)))
			return wf_err_at(r->err, r->path, item->line, 0,
			                 "a link has two ends, each a device, a colon and a port: "
			                 "\"leaf01:Ethernet0 spine01:Ethernet4 40m\"");
		wf_conf_add_link(r->net, end, wf_conf_at(r, item->line, NULL), length);
	}
	return 0;
}

static bool is_links(const char *text, size_t len, char name[WF_CONF_NAME])
{
	name[0] = '\0';
	return wf_conf_first(text, len) != '{' && wf_conf_has_line(text, len, "links:", NULL);
}

const struct wf_conf_reader wf_conf_links = {
	.name = "links",
	.help = "a list of links in YAML, weft's or containerlab's: what is connected to what",
	.form = WF_CONF_FORM_NONE,
	.is = is_links,
	.read = read_links,
	.finish = wf_conf_finish_none,
};
