/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_net.c - reads what ibnetdiscover prints, and files of ibsim, which look alike:
 *
 *	vendid=0x2c9
 *	switchguid=0x1(1)
 *	Switch	36 "S-0000000000000001"		# "leaf1" enhanced port 0 lid 5 lmc 0
 *	[1]	"H-0000000000000101"[1](102) 		# "host1 HCA-1" lid 7 4xEDR
 *
 *	caguid=0x101
 *	Ca	2 "H-0000000000000101"		# "host1 HCA-1"
 *	[1](102) 	"S-0000000000000001"[1]		# lid 7 lmc 0 "leaf1" lid 5 4xEDR
 *
 * Ports may have labels in brackets, links their enabled width and speed ("w=2 s=4 e=2", ibsim's
 * own). A node that is only at the other end of links, because the file is a part of one, is made
 * of what they say of it. The text is gone through twice: for the nodes, then for the links.
 */
#include <errno.h>
#include <string.h>

#include "subnet/claims.h"
#include "subnet/guids.h"
#include "subnet/scan.h"

/* GUIDs of nodes that have none, as ibsim counts them. */
#define MADE_ADAPTER 0x100000
#define MADE_SWITCH 0x200000
#define MADE_ROUTER 0x300000

/* A name of a node in the file: "S-0000000000000001". */
struct name {
	const char *at;
	uint32_t len;
	uint32_t node;     /* WF_SUBNET_NONE: it has no lines of its own, or not yet */
	uint32_t line;     /* where it came first */
	uint8_t most_port; /* highest that a link leads to */
};

struct net {
	struct wf_scan scan;
	struct wf_subnet *subnet;
	struct wf_mem *mem;
	struct name *names;
	uint32_t n_names, max_names;
	struct wf_subnet_guids by_hash; /* of the name */
	struct wf_claim *claims;
	uint8_t *told;
	uint64_t made[4];           /* next GUIDs, by kind */
	struct wf_subnet_node like; /* what was said before the line of the node */
	uint64_t port0;             /* GUID of the switch's port 0 */
	uint32_t node;              /* whose lines these are, WF_SUBNET_NONE */
	uint32_t next;              /* the second time: the node whose line comes next */
};

/* What a line of a port has. */
struct link {
	uint8_t number, peer_port;
	const char *id; /* of the peer */
	uint32_t id_len;
	uint64_t guid, peer_guid; /* of the ports; 0: not there */
	uint8_t width, speed;
	uint64_t lid, lmc, peer_lid;
	const char *desc, *desc_end; /* of the peer; NULL: not there */
};

/* ---- names ---- */

static uint64_t hash_name(const char *at, uint32_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (uint32_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)at[i]) * UINT64_C(0x100000001b3);
	return h == 0 ? 1 : h;
}

static bool same_name(const struct name *name, const char *at, uint32_t len)
{
	return name->len == len && memcmp(name->at, at, len) == 0;
}

static struct name *find_name(const struct net *net, const char *at, uint32_t len)
{
	uint32_t i = wf_guids_find(&net->by_hash, hash_name(at, len));

	if (i == WF_SUBNET_NONE)
		return NULL;
	if (same_name(&net->names[i], at, len))
		return &net->names[i];
	/* Two names of one hash: the later one is not in the table. */
	for (i = 0; i < net->n_names; i++) {
		if (same_name(&net->names[i], at, len))
			return &net->names[i];
	}
	return NULL;
}

static int take_name(struct net *net, const char *at, uint32_t len, struct name **name_p)
{
	*name_p = find_name(net, at, len);
	if (*name_p != NULL)
		return 0;
	if (net->n_names == net->max_names) {
		uint32_t max = net->max_names == 0 ? 64 : 2 * net->max_names;
		struct name *names = net->mem->alloc(net->mem, max * sizeof(*names));

		if (names == NULL)
			return -ENOMEM;
		if (net->n_names != 0)
			memcpy(names, net->names, net->n_names * sizeof(*names));
		net->mem->free(net->mem, net->names);
		net->names = names;
		net->max_names = max;
	}
	*name_p = &net->names[net->n_names];
	**name_p = (struct name){
		.at = at, .len = len, .node = WF_SUBNET_NONE, .line = net->scan.line
	};
	return wf_guids_add(&net->by_hash, net->mem, hash_name(at, len), net->n_names++);
}

/* The GUID in a name like "S-0002c90300a0b1c0"; 0: it has none. */
static uint64_t guid_of_name(const char *at, uint32_t len)
{
	struct wf_scan s;
	uint64_t guid = 0;

	if (len < 3 || at[1] != '-')
		return 0;
	wf_scan_init(&s, at + 2, len - 2, "", NULL, NULL);
	if (!wf_scan_line(&s) || !wf_scan_number(&s, 16, UINT64_MAX, &guid) || s.at != s.stop)
		return 0;
	return guid;
}

static uint8_t kind_of_name(const char *at, uint32_t len)
{
	bool lettered = len > 2 && at[1] == '-';

	if (lettered && at[0] == 'S')
		return WF_SUBNET_SWITCH;
	return lettered && at[0] == 'R' ? WF_SUBNET_ROUTER : WF_SUBNET_ADAPTER;
}

static uint64_t make_guid(struct net *net, uint8_t kind, uint8_t n_ports)
{
	uint64_t guid = net->made[kind];

	net->made[kind] += kind == WF_SUBNET_SWITCH ? 1 : n_ports + 1u;
	return guid;
}

/* ---- lines ---- */

/* Takes a name in quotes. */
static int take_quoted(struct net *net, const char **at_p, uint32_t *len_p)
{
	struct wf_scan *s = &net->scan;
	const char *end;

	wf_scan_blanks(s);
	if (!wf_scan_take(s, "\""))
		return wf_scan_fail(s, "here is a node's name in quotes; \"S-...\" or \"H-...\"");
	end = memchr(s->at, '"', (size_t)(s->stop - s->at));
	if (end == NULL || end == s->at)
		return wf_scan_fail(s, "the node's name has no end, or is empty; close the quotes");
	*at_p = s->at;
	*len_p = (uint32_t)(end - s->at);
	s->at = end + 1;
	return 0;
}

/* "vendid=0x2c9" and the like; false: it is none of them. */
static bool take_setting(struct net *net, int *ret_p)
{
	static const struct {
		const char *word;
		uint64_t max;
	} rows[] = { { "vendid=", UINT32_MAX },     { "devid=", UINT32_MAX },
		     { "sysimgguid=", UINT64_MAX }, { "switchguid=", UINT64_MAX },
		     { "caguid=", UINT64_MAX },     { "hcaguids=", UINT64_MAX },
		     { "rtguid=", UINT64_MAX } };
	struct wf_scan *s = &net->scan;
	uint64_t value, port0;
	size_t i = 0;

	while (i < WF_ARRAY_SIZE(rows) && !wf_scan_take(s, rows[i].word))
		i++;
	if (i == WF_ARRAY_SIZE(rows))
		return false;
	*ret_p = 0;
	if (!wf_scan_number(s, 0, rows[i].max, &value)) {
		*ret_p = wf_scan_fail(s, "this is no number; write it as 0x2c9");
		return true;
	}
	if (i == 0)
		net->like.vendor = (uint32_t)value;
	else if (i == 1)
		net->like.device = (uint16_t)value;
	else if (i == 2)
		net->like.system = value;
	else
		net->like.guid = value;
	if (i == 3 && wf_scan_take(s, "(") && wf_scan_number(s, 16, UINT64_MAX, &port0))
		net->port0 = port0;
	return true;
}

/* "Switch" and the like, with a blank behind it; 0: none of them. */
static uint8_t take_kind(struct wf_scan *s)
{
	static const struct {
		const char *word;
		uint8_t kind;
	} rows[] = { { "Switch", WF_SUBNET_SWITCH },
		     { "Ca", WF_SUBNET_ADAPTER },
		     { "Hca", WF_SUBNET_ADAPTER },
		     { "Rt", WF_SUBNET_ROUTER },
		     { "Router", WF_SUBNET_ROUTER } };

	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		const char *at = s->at;

		if (wf_scan_take(s, rows[i].word) && s->at < s->stop &&
		    (*s->at == ' ' || *s->at == '\t'))
			return rows[i].kind;
		s->at = at;
	}
	return 0;
}

/* The description behind "#": in quotes, or what is before the words that may follow it. */
static void take_desc(struct wf_scan *s, const char **desc_p, const char **end_p)
{
	static const char *const words[] = { " enhanced port 0", " base port 0", " lid " };
	const char *first, *last;

	wf_scan_blanks(s);
	first = s->at < s->stop ? memchr(s->at, '"', (size_t)(s->stop - s->at)) : NULL;
	last = s->stop;
	while (first != NULL && last > first + 1 && last[-1] != '"')
		last--;
	if (first != NULL && last > first + 1) {
		*desc_p = first + 1;
		*end_p = last - 1;
		s->at = last;
		return;
	}
	*desc_p = s->at;
	*end_p = s->stop;
	for (size_t i = 0; i < WF_ARRAY_SIZE(words); i++) {
		struct wf_scan behind = *s;

		if (!wf_scan_find(&behind, words[i]))
			continue;
		*end_p = behind.at - strlen(words[i]);
		s->at = *end_p;
		return;
	}
	s->at = s->stop;
}

/* "lid 5" or "lmc 0" in what is left of the line. */
static int take_word(const struct net *net, struct wf_scan *s, const char *word, uint64_t max,
                     uint64_t *value_p)
{
	if (!wf_scan_find(s, word))
		return 0;
	if (!wf_scan_number(s, 0, max, value_p)) {
		struct wf_scan here = *s;

		here.err = net->scan.err;
		return wf_scan_fail(&here, "the number is not one, or too great");
	}
	return 0;
}

static int set_lid(const struct net *net, uint32_t id, unsigned number, uint64_t lid, uint64_t lmc)
{
	int ret = wf_subnet_set_lid(net->subnet, id, number, (uint16_t)lid, (uint8_t)lmc);

	if (ret == -EINVAL && lmc != 0) {
		wf_scan_note(&net->scan, "the LID is not a multiple of 2^LMC; the LMC is left out");
		ret = wf_subnet_set_lid(net->subnet, id, number, (uint16_t)lid, 0);
	}
	return ret == -EEXIST ? 0 : ret;
}

/* ---- the first time: nodes ---- */

static int add_node(struct net *net, uint8_t kind, uint64_t n_ports)
{
	struct wf_scan *s = &net->scan;
	const char *id = NULL, *desc = NULL, *end = NULL;
	uint64_t lid = 0, lmc = 0;
	struct name *name;
	uint32_t len = 0;
	int ret = take_quoted(net, &id, &len);

	if (ret == 0)
		ret = take_name(net, id, len, &name);
	if (ret != 0)
		return ret;
	net->like.kind = kind;
	net->like.n_ports = (uint8_t)n_ports;
	net->like.line = s->line;
	if (net->like.guid == 0)
		net->like.guid = guid_of_name(id, len);
	if (net->like.guid == 0)
		net->like.guid = make_guid(net, kind, net->like.n_ports);
	if (wf_scan_find(s, "#"))
		take_desc(s, &desc, &end);
	if (desc == NULL || end == desc) {
		desc = id;
		end = id + len;
	}
	wf_scan_copy(net->like.desc, sizeof(net->like.desc), desc, end);
	wf_scan_blanks(s);
	net->like.enhanced = wf_scan_take(s, "enhanced");
	ret = take_word(net, s, "lid ", WF_LID_MAX, &lid);
	if (ret == 0)
		ret = take_word(net, s, "lmc ", WF_SUBNET_MAX_LMC, &lmc);
	if (ret == 0)
		ret = wf_subnet_add(net->subnet, &net->like, &net->node);
	if (ret != 0)
		return ret == -EINVAL && net->subnet->n_nodes == WF_SUBNET_MAX_NODES
		               ? wf_scan_fail(s, "there are too many nodes")
		               : ret;
	if (name->node == WF_SUBNET_NONE)
		name->node = net->node;
	if (kind == WF_SUBNET_SWITCH && net->port0 != 0 && net->port0 != net->like.guid)
		ret = wf_subnet_set_guid(net->subnet, net->node, 0, net->port0);
	return ret == 0 && kind == WF_SUBNET_SWITCH ? set_lid(net, net->node, 0, lid, lmc) : ret;
}

static int read_node(struct net *net, uint8_t kind)
{
	struct wf_scan *s = &net->scan;
	uint64_t n_ports;
	int ret;

	wf_scan_blanks(s);
	if (!wf_scan_number(s, 10, WF_SUBNET_MAX_PORTS, &n_ports) || n_ports == 0)
		return wf_scan_fail(s, "here is the number of its ports, 1 to 254");
	ret = add_node(net, kind, n_ports);
	net->like = (struct wf_subnet_node){ .guid = 0 };
	net->port0 = 0;
	return ret;
}

/* ---- ports ---- */

static int take_number(struct net *net, uint8_t *number_p)
{
	uint64_t number;

	if (!wf_scan_number(&net->scan, 10, WF_SUBNET_MAX_PORTS, &number) || number == 0 ||
	    !wf_scan_take(&net->scan, "]"))
		return wf_scan_fail(&net->scan, "here is a port's number, 1 to 254, in brackets");
	*number_p = (uint8_t)number;
	return 0;
}

/* "(102)", a port's GUID; "(1/1/1)", what is written beside it, is gone over, as is "[ext 3]". */
static void take_brackets(struct wf_scan *s, uint64_t *guid_p)
{
	for (;;) {
		const char *before = s->at;
		uint64_t guid;

		wf_scan_blanks(s);
		if (wf_scan_take(s, "(")) {
			if (wf_scan_number(s, 16, UINT64_MAX, &guid) && wf_scan_take(s, ")"))
				*guid_p = guid;
			else if (!wf_scan_find(s, ")"))
				s->at = s->stop;
		} else if (!wf_scan_take(s, "[ext ") || !wf_scan_find(s, "]")) {
			s->at = before;
			return;
		}
	}
}

/* What ibsim has behind a link: masks of what is enabled; the highest is taken. */
static void take_masks(struct wf_scan *s, struct link *link)
{
	uint64_t mask;

	while (wf_scan_blanks(s) && *s->at != '#') {
		if (wf_scan_take(s, "w=") && wf_scan_number(s, 0, 31, &mask))
			link->width = mask & 8   ? 12
			              : mask & 4 ? 8
			              : mask & 2 ? 4
			              : mask & 1 ? 1
			                         : 2;
		else if (wf_scan_take(s, "s=") && wf_scan_number(s, 0, 7, &mask))
			link->speed = link->speed > WF_SUBNET_QDR ? link->speed
			              : mask & 4                  ? WF_SUBNET_QDR
			              : mask & 2                  ? WF_SUBNET_DDR
			                                          : WF_SUBNET_SDR;
		else if (wf_scan_take(s, "e=") && wf_scan_number(s, 0, 15, &mask))
			link->speed = mask & 8   ? WF_SUBNET_NDR
			              : mask & 4 ? WF_SUBNET_HDR
			              : mask & 2 ? WF_SUBNET_EDR
			              : mask & 1 ? WF_SUBNET_FDR
			                         : link->speed;
		else {
			wf_scan_note(s, "this is not understood, and left out");
			return;
		}
	}
}

/* What stands behind "#": this end's LID, where it is an adapter's; the peer, its LID; the link. */
static int take_remark(const struct net *net, struct wf_scan *s, struct link *link)
{
	struct wf_scan before = *s;
	int ret = 0;

	take_desc(s, &link->desc, &link->desc_end);
	if (link->desc > before.at && link->desc[-1] == '"') {
		before.stop = link->desc - 1;
		ret = take_word(net, &before, "lid ", WF_LID_MAX, &link->lid);
		if (ret == 0)
			ret = take_word(net, &before, "lmc ", WF_SUBNET_MAX_LMC, &link->lmc);
	}
	if (ret == 0)
		ret = take_word(net, s, "lid ", WF_LID_MAX, &link->peer_lid);
	if (ret != 0)
		return ret;
	wf_scan_blanks(s);
	if (s->at < s->stop && (!wf_scan_width(s, &link->width) || !wf_scan_speed(s, &link->speed)))
		wf_scan_note(s, "this width or speed is not understood, and left out");
	return 0;
}

/* A port's line, of which the bracket has been taken. */
static int take_link(struct net *net, struct link *link)
{
	struct wf_scan *s = &net->scan;
	int ret = take_number(net, &link->number);

	if (ret == 0) {
		take_brackets(s, &link->guid);
		ret = take_quoted(net, &link->id, &link->id_len);
	}
	if (ret != 0)
		return ret;
	link->peer_port = 1;
	if (wf_scan_take(s, "["))
		ret = take_number(net, &link->peer_port);
	if (ret != 0)
		return ret;
	take_brackets(s, &link->peer_guid);
	take_masks(s, link);
	return wf_scan_take(s, "#") ? take_remark(net, s, link) : 0;
}

static int note_peer(struct net *net)
{
	struct link link = { .number = 0 };
	struct name *name;
	int ret = take_link(net, &link);

	if (ret == 0)
		ret = take_name(net, link.id, link.id_len, &name);
	if (ret == 0 && link.peer_port > name->most_port)
		name->most_port = link.peer_port;
	return ret;
}

/* Nodes that have no lines of their own. */
static int add_untold(struct net *net)
{
	int ret = 0;

	for (uint32_t i = 0; i < net->n_names && ret == 0; i++) {
		struct name *name = &net->names[i];
		struct wf_subnet_node like = { .guid = guid_of_name(name->at, name->len) };

		if (name->node != WF_SUBNET_NONE) {
			const struct wf_subnet_node *node = &net->subnet->nodes[name->node];

			if (name->most_port > node->n_ports)
				return wf_err_at(net->scan.err, net->scan.name, node->line, 0,
				                 "'%s' has %u ports here, but a link leads to its "
				                 "port %u",
				                 node->desc, node->n_ports, name->most_port);
			continue;
		}
		like.kind = kind_of_name(name->at, name->len);
		like.n_ports = name->most_port;
		like.line = name->line;
		if (like.guid == 0)
			like.guid = make_guid(net, like.kind, like.n_ports);
		wf_scan_copy(like.desc, sizeof(like.desc), name->at, name->at + name->len);
		ret = wf_subnet_add(net->subnet, &like, &name->node);
	}
	return ret;
}

/* What the peer's line would say, where it has none. */
static int fill_untold(struct net *net, const struct link *link, uint32_t peer)
{
	struct wf_subnet_node *node = &net->subnet->nodes[peer];
	struct wf_subnet_port *port = wf_subnet_port(net->subnet, peer, link->peer_port);
	bool own = node->kind == WF_SUBNET_SWITCH;
	int ret = 0;

	if (link->desc != NULL && link->desc_end > link->desc)
		wf_scan_copy(node->desc, sizeof(node->desc), link->desc, link->desc_end);
	port->width = link->width;
	port->speed = link->speed;
	if (!own && link->peer_guid != 0)
		ret = wf_subnet_set_guid(net->subnet, peer, link->peer_port, link->peer_guid);
	return ret == 0 && link->peer_lid != 0
	               ? set_lid(net, peer, own ? 0 : link->peer_port, link->peer_lid, 0)
	               : ret;
}

static int read_port(struct net *net)
{
	struct wf_subnet *subnet = net->subnet;
	struct link link = { .number = 0 };
	const struct wf_subnet_node *node = &subnet->nodes[net->node];
	struct wf_subnet_port *port;
	struct wf_claim *claim;
	uint32_t peer;
	int ret = take_link(net, &link);

	if (ret != 0)
		return ret;
	net->scan.at = net->scan.start + 1;
	if (link.number > node->n_ports)
		return wf_scan_fail(&net->scan,
		                    "the node has no such port; its line says how many");
	port = wf_subnet_port(subnet, net->node, link.number);
	claim = &net->claims[port - subnet->ports];
	if (claim->line != 0)
		return wf_scan_fail(&net->scan, "the port is there twice; each comes once");
	peer = find_name(net, link.id, link.id_len)->node;
	*claim = (struct wf_claim){ net->scan.line, peer, link.peer_port };
	port->line = net->scan.line;
	port->width = link.width;
	port->speed = link.speed;
	if (!net->told[peer])
		ret = fill_untold(net, &link, peer);
	if (ret != 0 || node->kind == WF_SUBNET_SWITCH)
		return ret;
	ret = wf_subnet_set_guid(subnet, net->node, link.number,
	                         link.guid != 0 ? link.guid : node->guid + link.number);
	return ret == 0 ? set_lid(net, net->node, link.number, link.lid, link.lmc) : ret;
}

/* ---- the file ---- */

/* Lines that say nothing of the subnet's graph. */
static bool is_heading(struct wf_scan *s)
{
	static const char *const words[] = { "Chassis ",    "Hostname:",  "Non-Chassis Nodes",
		                             "Spine Nodes", "Line Nodes", "Chassis Switches" };

	for (size_t i = 0; i < WF_ARRAY_SIZE(words); i++) {
		if (wf_scan_take(s, words[i]))
			return true;
	}
	return false;
}

static bool is_port(const struct wf_scan *s)
{
	return s->stop - s->at > 1 && s->at[0] == '[' && s->at[1] >= '0' && s->at[1] <= '9';
}

static int read_line(struct net *net, bool second)
{
	struct wf_scan *s = &net->scan;
	uint8_t kind;
	int ret;

	if (!wf_scan_blanks(s) || *s->at == '#')
		return 0;
	if (is_port(s) && (second ? net->node != WF_SUBNET_NONE : net->subnet->n_nodes != 0)) {
		s->at++;
		return second ? read_port(net) : note_peer(net);
	}
	kind = take_kind(s);
	if (kind != 0 && second)
		net->node = net->next++;
	if (kind != 0)
		return second ? 0 : read_node(net, kind);
	if (take_setting(net, &ret))
		return ret;
	if (!second && !is_heading(s))
		wf_scan_note(s, "this line is not understood, and left out");
	return 0;
}

/* Goes through the text once. What is noted is noted the first time. */
static int read_lines(struct net *net, const char *text, size_t len, bool second)
{
	struct wf_scan *s = &net->scan;
	int ret = 0;

	wf_scan_init(s, text, len, s->name, second ? NULL : s->ear, s->err);
	net->node = WF_SUBNET_NONE;
	while (ret == 0 && wf_scan_line(s))
		ret = read_line(net, second);
	return ret;
}

static int read_links(struct net *net, const char *text, size_t len)
{
	struct wf_subnet *subnet = net->subnet;
	uint32_t told = subnet->n_nodes;
	int ret = add_untold(net);

	if (ret != 0)
		return ret;
	net->claims =
		net->mem->alloc(net->mem, ((size_t)subnet->n_ports + 1) * sizeof(*net->claims));
	net->told = net->mem->alloc(net->mem, (size_t)subnet->n_nodes + 1);
	if (net->claims == NULL || net->told == NULL)
		return -ENOMEM;
	memset(net->told, 1, told);
	ret = read_lines(net, text, len, true);
	return ret == 0 ? wf_claims_join(subnet, net->claims, net->told) : ret;
}

static int net_read(struct wf_subnet *subnet, const char *text, size_t len, const char *name,
                    const struct wf_subnet_ear *ear, struct wf_err *err)
{
	struct net net = { .subnet = subnet, .mem = subnet->mem };
	int ret;

	net.scan = (struct wf_scan){ .name = name, .ear = ear, .err = err };
	net.made[WF_SUBNET_ADAPTER] = MADE_ADAPTER;
	net.made[WF_SUBNET_SWITCH] = MADE_SWITCH;
	net.made[WF_SUBNET_ROUTER] = MADE_ROUTER;
	ret = read_lines(&net, text, len, false);
	if (ret == 0 && subnet->n_nodes == 0)
		ret = wf_err_at(err, name, 0, 0,
		                "there is no node in it; a node's line begins with Switch, Ca or "
		                "Rt");
	if (ret == 0)
		ret = read_links(&net, text, len);
	net.mem->free(net.mem, net.told);
	net.mem->free(net.mem, net.claims);
	net.mem->free(net.mem, net.names);
	wf_guids_fini(&net.by_hash, net.mem);
	return ret;
}

const struct wf_subnet_form wf_subnet_ibnetdiscover = {
	.name = "ibnetdiscover",
	.help = "output of ibnetdiscover, with or without -g and -f; files of ibsim",
	.read = net_read,
};
