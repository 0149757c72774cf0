/* SPDX-License-Identifier: Apache-2.0 */
/* part.c - reading partitions.conf, and whose P_Keys it says a port has. */
#include "subnet/part.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "subnet/scan.h"

#define RATE_DEFAULT 3 /* 10 Gbit/s */
#define MTU_DEFAULT 4  /* 2048 */
#define SCOPE_DEFAULT 2
#define QKEY_DEFAULT 0xb1b /* of IP's groups */
#define IPV4 0x401b        /* signatures of IP's MGIDs, where their P_Keys follow */
#define IPV6 0x601b

struct reader {
	const char *at;
	const char *name;
	unsigned line;
	const char *line_start;
	struct wf_err *err;
	struct wf_parts *parts;
};

/* A word with its place: what stands between delimiters, without blanks at its ends. */
struct token {
	const char *at;
	size_t len;
	unsigned line, column;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Over blanks and comments. */
static void skip(struct reader *r)
{
	for (;;) {
		if (*r->at == '#') {
			while (*r->at != '\0' && *r->at != '\n')
				r->at++;
		} else if (is_blank(*r->at)) {
			if (*r->at++ == '\n') {
				r->line++;
				r->line_start = r->at;
			}
		} else {
			return;
		}
	}
}

static struct token take(struct reader *r)
{
	struct token t;

	skip(r);
	t = (struct token){ .at = r->at,
		            .line = r->line,
		            .column = (unsigned)(r->at - r->line_start) + 1 };
	while (*r->at != '\0' && *r->at != '\n' && strchr("=,:;#", *r->at) == NULL)
		r->at++;
	t.len = (size_t)(r->at - t.at);
	while (t.len > 0 && is_blank(t.at[t.len - 1]))
		t.len--;
	skip(r);
	return t;
}

static bool take_char(struct reader *r, char c)
{
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

static int wrong(struct reader *r, const struct token *t, const char *what)
{
	return wf_err_at(r->err, r->name, t->line, t->column, "\"%.*s\" is %s",
	                 (int)(t->len < 40 ? t->len : 40), t->at, what);
}

/* The token is word, or its beginning. */
static bool begins(const struct token *t, const char *word)
{
	return t->len > 0 && t->len <= strlen(word) && memcmp(t->at, word, t->len) == 0;
}

static unsigned digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

/* As C has numbers: 0x for hexadecimal ones. */
static bool number(const struct token *t, uint64_t *value_p)
{
	bool hex = t->len > 2 && t->at[0] == '0' && (t->at[1] == 'x' || t->at[1] == 'X');
	unsigned base = hex ? 16 : 10;
	uint64_t value = 0;

	for (size_t i = hex ? 2 : 0; i < t->len; i++) {
		unsigned d = digit(t->at[i]);

		if (d >= base || value > (UINT64_MAX - d) / base)
			return false;
		value = value * base + d;
	}
	*value_p = value;
	return t->len > 0;
}

/* ---- partitions ---- */

static int make_room(struct wf_mem *mem, void **items, uint32_t n, uint32_t *max_p, size_t size)
{
	uint32_t max = *max_p == 0 ? 8 : 2 * *max_p;
	void *room;

	if (n < *max_p)
		return 0;
	room = mem->alloc(mem, max * size);
	if (room == NULL)
		return -ENOMEM;
	if (n != 0)
		memcpy(room, *items, n * size);
	mem->free(mem, *items);
	*items = room;
	*max_p = max;
	return 0;
}

static int add_rule(struct wf_parts *parts, const struct wf_part_rule *rule)
{
	void *rules = parts->rule;
	int ret = make_room(parts->mem, &rules, parts->n_rules, &parts->max_rules,
	                    sizeof(*parts->rule));

	parts->rule = rules;
	if (ret == 0)
		parts->rule[parts->n_rules++] = *rule;
	return ret;
}

static struct wf_part *find(const struct wf_parts *parts, uint16_t pkey)
{
	for (uint32_t i = 0; i < parts->n; i++) {
		if (parts->part[i].pkey == pkey)
			return &parts->part[i];
	}
	return NULL;
}

static struct wf_part *find_name(struct wf_parts *parts, const struct token *name)
{
	for (uint32_t i = 0; i < parts->n; i++) {
		const char *has = parts->part[i].name;

		if (name->len > 0 && strlen(has) == name->len &&
		    memcmp(has, name->at, name->len) == 0)
			return &parts->part[i];
	}
	return NULL;
}

static int add_part(struct wf_parts *parts, const struct token *name, uint16_t pkey,
                    uint32_t *which_p)
{
	void *part = parts->part;
	int ret = make_room(parts->mem, &part, parts->n, &parts->max, sizeof(*parts->part));
	struct wf_part *p;

	parts->part = part;
	if (ret != 0)
		return ret;
	p = &parts->part[parts->n];
	*p = (struct wf_part){ .pkey = pkey };
	memcpy(p->name, name->at, name->len < WF_PART_NAME ? name->len : WF_PART_NAME - 1);
	*which_p = parts->n++;
	return 0;
}

/* The lowest key that no partition has; 0: there is none. */
static uint16_t free_pkey(struct wf_parts *parts)
{
	for (uint16_t pkey = 1; pkey < WF_PART_DEFAULT; pkey++) {
		if (find(parts, pkey) == NULL)
			return pkey;
	}
	return 0;
}

/* ---- a definition ---- */

struct definition {
	struct wf_part flags;
	bool full, index0;
};

struct flag {
	const char *name;
	uint64_t max; /* of its value; 0: it has none */
};

enum { FLAG_MTU, FLAG_RATE, FLAG_SCOPE, FLAG_QKEY, FLAG_TCLASS, FLAG_SL, FLAG_FLOW, FLAGS };

static const struct flag flags[FLAGS] = {
	[FLAG_MTU] = { "mtu", 5 },
	[FLAG_RATE] = { "rate", 63 },
	[FLAG_SCOPE] = { "scope", 15 },
	[FLAG_QKEY] = { "Q_Key", UINT32_MAX },
	[FLAG_TCLASS] = { "TClass", 255 },
	[FLAG_SL] = { "sl", 15 },
	[FLAG_FLOW] = { "FlowLabel", 0xfffff },
};

static void set_flag(struct wf_part *p, unsigned flag, uint64_t value)
{
	switch (flag) {
	case FLAG_MTU:
		p->mtu = (uint8_t)value;
		break;
	case FLAG_RATE:
		p->rate = (uint8_t)value;
		break;
	case FLAG_SCOPE:
		p->scopes = (uint16_t)(p->scopes | 1u << value);
		break;
	case FLAG_QKEY:
		p->qkey = (uint32_t)value;
		break;
	case FLAG_TCLASS:
		p->tclass = (uint8_t)value;
		break;
	case FLAG_SL:
		p->sl = (uint8_t)value;
		break;
	default:
		p->flow_label = (uint32_t)value;
		break;
	}
}

static int read_membership(struct reader *r, const struct token *t, bool *full_p)
{
	if (begins(t, "full") || begins(t, "both"))
		*full_p = true;
	else if (begins(t, "limited"))
		*full_p = false;
	else
		return wrong(r, t, "no membership; write full or limited");
	return 0;
}

/* One of the flags that a group can have, too; 1: it is none of them. */
static int read_group_flag(struct reader *r, const struct token *name, const struct token *value,
                           struct wf_part *p)
{
	uint64_t n;

	for (unsigned i = 0; i < FLAGS; i++) {
		if (!begins(name, flags[i].name))
			continue;
		if (!number(value, &n) || n > flags[i].max)
			return wf_err_at(r->err, r->name, name->line, name->column,
			                 "%s has no number that it can have; write one from 0 to "
			                 "%llu",
			                 flags[i].name, (unsigned long long)flags[i].max);
		set_flag(p, i, n);
		return 0;
	}
	return 1;
}

static int read_flag(struct reader *r, struct definition *d)
{
	struct token name = take(r), value = { .len = 0 };
	bool has = take_char(r, '=');
	int ret;

	if (has)
		value = take(r);
	ret = read_group_flag(r, &name, &value, &d->flags);
	if (ret <= 0)
		return ret;
	if (has && begins(&name, "defmember"))
		return read_membership(r, &value, &d->full);
	if (!has && begins(&name, "ipoib"))
		d->flags.ipoib = true;
	else if (!has && begins(&name, "indx0"))
		d->index0 = true;
	else
		return wrong(r, &name,
		             "no flag of a partition; write ipoib, indx0, defmember=, mtu=, rate=, "
		             "sl=, scope=, Q_Key=, TClass= or FlowLabel=");
	return 0;
}

/* ---- groups ---- */

static int add_group(struct wf_parts *parts, const struct wf_part_group *group)
{
	void *groups = parts->group;
	int ret;

	for (uint32_t i = 0; i < parts->n_groups; i++) {
		if (memcmp(parts->group[i].mgid, group->mgid, sizeof(group->mgid)) == 0)
			return 0;
	}
	ret = make_room(parts->mem, &groups, parts->n_groups, &parts->max_groups,
	                sizeof(*parts->group));
	parts->group = groups;
	if (ret == 0)
		parts->group[parts->n_groups++] = *group;
	return ret;
}

/* A group with flags, in each scope that they have. */
static int add_groups(struct wf_parts *parts, const struct wf_part *like, uint16_t pkey,
                      const uint8_t mgid[16])
{
	unsigned scopes = like->scopes != 0 ? like->scopes : 1u << SCOPE_DEFAULT;
	int ret = 0;

	for (uint8_t scope = 0; scope < 16 && ret == 0; scope++) {
		struct wf_part_group group = {
			.pkey = pkey,
			.rate = like->rate,
			.mtu = like->mtu,
			.sl = like->sl,
			.tclass = like->tclass,
			.scope = scope,
			.qkey = like->qkey,
			.flow_label = like->flow_label,
		};

		if ((scopes >> scope & 1) == 0)
			continue;
		memcpy(group.mgid, mgid, sizeof(group.mgid));
		group.mgid[1] = (uint8_t)((mgid[1] & 0xf0) | scope);
		ret = add_group(parts, &group);
	}
	return ret;
}

/* IP's MGIDs have the partition's key in them. */
static void put_key(uint8_t mgid[16], uint16_t pkey)
{
	mgid[4] = (uint8_t)((pkey | WF_PKEY_FULL) >> 8);
	mgid[5] = (uint8_t)pkey;
}

static int add_broadcast(struct wf_parts *parts, const struct wf_part *from, uint16_t pkey)
{
	uint8_t mgid[16] = { 0xff, 0x12, IPV4 >> 8, IPV4 & 0xff };
	struct wf_part with = *from;

	memset(mgid + 12, 0xff, 4);
	put_key(mgid, pkey);
	if (with.qkey == 0)
		with.qkey = QKEY_DEFAULT;
	return add_groups(parts, &with, pkey, mgid);
}

/* A multicast GID as it is written, to the next comma or the line's end; false: it is none. */
static bool take_mgid(struct reader *r, uint8_t mgid[16])
{
	uint16_t words[8] = { 0 };
	unsigned n = 0, gap = 8, digits = 0, value = 0;

	for (;; r->at++) {
		if (digit(*r->at) < 16 && digits < 4) {
			value = value << 4 | digit(*r->at);
			digits++;
			continue;
		}
		if (digits != 0) {
			if (n == 8)
				return false;
			words[n++] = (uint16_t)value;
		}
		if (*r->at != ':')
			break;
		if (r->at[1] == ':' && gap == 8) {
			gap = n;
			r->at++;
		} else if (digits == 0) {
			return false;
		}
		digits = value = 0;
	}
	if (gap == 8 ? n != 8 || digits == 0 : n == 8)
		return false;
	for (unsigned i = 0; i < n; i++) {
		unsigned at = 2 * (i < gap ? i : 8 - n + i);

		mgid[at] = (uint8_t)(words[i] >> 8);
		mgid[at + 1] = (uint8_t)words[i];
	}
	return mgid[0] == 0xff &&
	       (*r->at == '\0' || is_blank(*r->at) || strchr(",;#", *r->at) != NULL);
}

/* What an IP group has of its partition. */
static bool is_ip(const uint8_t mgid[16])
{
	unsigned signature = (unsigned)mgid[2] << 8 | mgid[3];

	return signature == IPV4 || signature == IPV6;
}

static bool is_partitions(const uint8_t mgid[16], const struct wf_part *own,
                          const struct wf_part *like, uint16_t pkey)
{
	unsigned key = (unsigned)mgid[4] << 8 | mgid[5];

	return (key == 0 || key == (pkey | WF_PKEY_FULL)) && own->rate == like->rate &&
	       own->mtu == like->mtu;
}

/* "=MGID, flag=value, ...", to the end of the line. */
static int read_group(struct reader *r, const struct wf_part *like, uint16_t pkey)
{
	struct wf_part own = *like;
	uint8_t mgid[16] = { 0 };
	struct token at = { .at = r->at,
		            .len = strcspn(r->at, ",;#\n"),
		            .line = r->line,
		            .column = (unsigned)(r->at - r->line_start) + 1 };
	unsigned line = r->line;

	own.tclass = 0;
	if (!take_char(r, '=') || (skip(r), !take_mgid(r, mgid)))
		return wrong(r, &at, "no group; write mgid= and a multicast GID, ff12:401b::16");
	while (skip(r), r->line == line && take_char(r, ',')) {
		struct token name = take(r), value = { .len = 0 };
		int ret;

		if (take_char(r, '='))
			value = take(r);
		ret = read_group_flag(r, &name, &value, &own);
		if (ret > 0)
			return wrong(r, &name,
			             "no flag of a group; write mtu=, rate=, sl=, scope=, Q_Key=, "
			             "TClass= or FlowLabel=");
		if (ret != 0)
			return ret;
	}
	if (is_ip(mgid)) {
		if (!is_partitions(mgid, &own, like, pkey))
			return wrong(r, &at,
			             "an IP group that is not as its partition; leave its P_Key "
			             "0, and out mtu= and rate=");
		put_key(mgid, pkey);
		if (own.qkey == 0)
			own.qkey = QKEY_DEFAULT;
	}
	return add_groups(r->parts, &own, pkey, mgid);
}

/* ---- members ---- */

/* "name = pkey": finds the partition, or makes it. */
static int read_header(struct reader *r, uint32_t *which_p)
{
	struct token name = take(r), id = { .len = 0 };
	struct wf_part *part;
	uint64_t pkey = 0;

	if (take_char(r, '=')) {
		id = take(r);
	} else if (name.len > 0 && digit(*name.at) < 10) {
		id = name;
		name.len = 0;
	}
	if (id.len > 0 && (!number(&id, &pkey) || pkey > UINT16_MAX))
		return wrong(r, &id, "no P_Key; write a number from 1 to 0x7fff");
	pkey &= WF_PART_DEFAULT;
	part = pkey == 0 ? find_name(r->parts, &name) : find(r->parts, (uint16_t)pkey);
	if (part != NULL) {
		*which_p = (uint32_t)(part - r->parts->part);
		return 0;
	}
	if (pkey == 0)
		pkey = free_pkey(r->parts);
	if (pkey == 0)
		return wrong(r, &name, "one partition too many: there is no P_Key left");
	return add_part(r->parts, &name, (uint16_t)pkey, which_p);
}

static bool who_is(const struct token *t, struct wf_part_rule *rule)
{
	static const char *const words[] = {
		[WF_PART_ALL] = "ALL",
		[WF_PART_ALL_CAS] = "ALL_CAS",
		[WF_PART_ALL_SWITCHES] = "ALL_SWITCHES",
		[WF_PART_ALL_ROUTERS] = "ALL_ROUTERS",
		[WF_PART_SELF] = "SELF",
	};

	for (unsigned i = 0; i < WF_ARRAY_SIZE(words); i++) {
		if (begins(t, words[i])) {
			rule->who = (uint8_t)i;
			return true;
		}
	}
	rule->who = WF_PART_GUID;
	return number(t, &rule->guid) && rule->guid != 0;
}

/* Whether it was a line of its own, behind which no comma has to stand, is in *line_p. */
static int read_member(struct reader *r, const struct definition *d, uint32_t which, bool *line_p)
{
	struct token name = take(r), value;
	struct wf_part_rule rule = {
		.part = (uint16_t)which,
		.full = d->full,
		.index0 = d->index0,
		.line = name.line,
		.column = (uint16_t)wf_min_u64(name.column, UINT16_MAX),
	};
	int ret;

	*line_p = name.len == 4 && memcmp(name.at, "mgid", 4) == 0;
	if (*line_p)
		return read_group(r, &d->flags, r->parts->part[which].pkey);
	if (take_char(r, '=')) {
		value = take(r);
		ret = read_membership(r, &value, &rule.full);
		if (ret != 0)
			return ret;
	}
	if (name.len == 0 || begins(&name, "NONE"))
		return 0;
	if (!who_is(&name, &rule))
		return wrong(r, &name,
		             "no port; write its GUID, ALL, ALL_CAS, ALL_SWITCHES, "
		             "ALL_ROUTERS or SELF");
	return add_rule(r->parts, &rule);
}

static int unexpected(struct reader *r, const char *wanted)
{
	return wf_err_at(r->err, r->name, r->line, (unsigned)(r->at - r->line_start) + 1,
	                 *r->at == '\0' ? "the file ends here; write %s"
	                                : "something else stands here; write %s",
	                 wanted);
}

/* Flags that are given for a partition for the first time. */
static void take_over(struct wf_part *part, const struct wf_part *from)
{
	struct wf_part now = *from;

	memcpy(now.name, part->name, sizeof(now.name));
	now.pkey = part->pkey;
	if (from->ipoib || !part->ipoib)
		*part = now;
}

static int read_definition(struct reader *r)
{
	struct definition d = { .flags = { .rate = RATE_DEFAULT, .mtu = MTU_DEFAULT } };
	uint32_t which = 0;
	int ret = read_header(r, &which);

	while (ret == 0 && take_char(r, ','))
		ret = read_flag(r, &d);
	if (ret != 0)
		return ret;
	if (!take_char(r, ':'))
		return unexpected(r, "':' before the ports of a partition");
	take_over(&r->parts->part[which], &d.flags);
	if (d.flags.ipoib)
		ret = add_broadcast(r->parts, &d.flags, r->parts->part[which].pkey);
	if (ret != 0)
		return ret;
	for (;;) {
		bool line;

		skip(r);
		if (*r->at == '\0' || take_char(r, ';'))
			return 0;
		ret = read_member(r, &d, which, &line);
		if (ret != 0)
			return ret;
		if (!line && !take_char(r, ',') && *r->at != '\0' && *r->at != ';')
			return unexpected(r, "',' or ';'");
	}
}

/* ---- the file ---- */

static int rule_order(const void *a, const void *b, const void *arg)
{
	const struct wf_part_rule *x = a, *y = b;

	(void)arg;
	return (x->part > y->part) - (x->part < y->part);
}

/* OpenSM has P_Keys as they are on the wire: their lower byte counts most. */
static int part_order(const void *a, const void *b, const void *arg)
{
	const struct wf_parts *parts = arg;
	uint16_t x = parts->part[*(const uint16_t *)a].pkey;
	uint16_t y = parts->part[*(const uint16_t *)b].pkey;

	x = (uint16_t)(x << 8 | x >> 8);
	y = (uint16_t)(y << 8 | y >> 8);
	return (x > y) - (x < y);
}

static int put_in_order(struct wf_parts *parts)
{
	struct wf_mem *mem = parts->mem;
	struct wf_part_rule *room = mem->alloc(mem, parts->n_rules * sizeof(*room));
	uint16_t *more = mem->alloc(mem, parts->n * sizeof(*more));
	int ret = -ENOMEM;

	parts->order = mem->alloc(mem, parts->n * sizeof(*parts->order));
	if (room != NULL && more != NULL && parts->order != NULL) {
		wf_sort(parts->rule, room, parts->n_rules, sizeof(*room), rule_order, NULL);
		for (uint32_t i = parts->n_rules; i-- > 0;) {
			struct wf_part *part = &parts->part[parts->rule[i].part];

			part->first_rule = i;
			part->n_rules++;
		}
		for (uint32_t i = 0; i < parts->n; i++)
			parts->order[i] = (uint16_t)i;
		wf_sort(parts->order, more, parts->n, sizeof(*more), part_order, parts);
		ret = 0;
	}
	mem->free(mem, more);
	mem->free(mem, room);
	return ret;
}

static int add_default(struct wf_parts *parts, bool has_file)
{
	static const struct token name = { .at = "Default", .len = 7 };
	struct wf_part_rule rule = { .who = WF_PART_ALL, .full = !has_file };
	uint32_t which;
	int ret = add_part(parts, &name, WF_PART_DEFAULT, &which);

	if (ret != 0)
		return ret;
	parts->part[which].ipoib = !has_file;
	parts->part[which].rate = RATE_DEFAULT;
	parts->part[which].mtu = MTU_DEFAULT;
	if (!has_file) {
		ret = add_broadcast(parts, &parts->part[which], WF_PART_DEFAULT);
		if (ret != 0)
			return ret;
	}
	ret = add_rule(parts, &rule);
	rule.who = WF_PART_SELF;
	rule.full = true;
	return ret != 0 ? ret : add_rule(parts, &rule);
}

int wf_parts_read(struct wf_mem *mem, const char *text, const char *name, struct wf_parts **parts_p,
                  struct wf_err *err)
{
	struct wf_parts *parts = mem->alloc(mem, sizeof(*parts));
	struct reader r = { .at = text,
		            .name = name != NULL ? name : "partitions.conf",
		            .line = 1,
		            .line_start = text,
		            .err = err };
	int ret;

	if (parts == NULL)
		return -ENOMEM;
	parts->mem = mem;
	r.parts = parts;
	ret = add_default(parts, text != NULL);
	while (ret == 0 && text != NULL) {
		skip(&r);
		if (*r.at == '\0')
			break;
		ret = read_definition(&r);
	}
	if (ret == 0)
		ret = put_in_order(parts);
	if (ret != 0)
		wf_parts_destroy(parts);
	else
		*parts_p = parts;
	return ret;
}

void wf_parts_destroy(struct wf_parts *parts)
{
	if (parts == NULL)
		return;
	parts->mem->free(parts->mem, parts->order);
	parts->mem->free(parts->mem, parts->group);
	parts->mem->free(parts->mem, parts->rule);
	parts->mem->free(parts->mem, parts->part);
	parts->mem->free(parts->mem, parts);
}

/* ---- who is a member ---- */

static bool meant(const struct wf_part_rule *rule, const struct wf_part_port *port)
{
	switch ((enum wf_part_who)rule->who) {
	case WF_PART_ALL:
		return true;
	case WF_PART_ALL_CAS:
		return port->kind == WF_SUBNET_ADAPTER;
	case WF_PART_ALL_SWITCHES:
		return port->kind == WF_SUBNET_SWITCH;
	case WF_PART_ALL_ROUTERS:
		return port->kind == WF_SUBNET_ROUTER;
	case WF_PART_SELF:
		return port->self;
	case WF_PART_GUID:
		return port->guid == rule->guid;
	}
	return false;
}

unsigned wf_parts_pkeys(const struct wf_parts *parts, const struct wf_part_port *port,
                        uint16_t *pkeys, unsigned max, uint16_t *first_p)
{
	unsigned n = 0;

	*first_p = WF_PART_DEFAULT;
	for (uint32_t i = 0; i < parts->n; i++) {
		const struct wf_part *part = &parts->part[parts->order[i]];
		const struct wf_part_rule *last = NULL;

		for (uint32_t j = 0; j < part->n_rules; j++) {
			const struct wf_part_rule *rule = &parts->rule[part->first_rule + j];

			if (meant(rule, port))
				last = rule;
		}
		if (last == NULL)
			continue;
		if (last->index0)
			*first_p = part->pkey;
		if (n < max)
			pkeys[n] = (uint16_t)(part->pkey | (last->full ? WF_PKEY_FULL : 0));
		n++;
	}
	return n;
}

void wf_parts_name(const struct wf_parts *parts, uint16_t pkey, char *text, size_t size)
{
	const struct wf_part *part = find(parts, pkey & WF_PART_DEFAULT);

	text[0] = '\0';
	if (part != NULL)
		wf_scan_copy(text, size, part->name, part->name + strlen(part->name));
	if (text[0] == '\0')
		snprintf(text, size, "0x%04x", pkey & WF_PART_DEFAULT);
}
