/* SPDX-License-Identifier: Apache-2.0 */
/* partition.c - reads OpenSM's partitions.conf, and says whom partitions keep apart. */
#include "subnet/partition.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "subnet/check_priv.h"
#include "subnet/guids.h"
#include "subnet/scan.h"

#define PKEY_MASK 0x7fff

/* ---- reading ---- */

struct conf {
	struct wf_scan scan; /* on the line of the word at hand */
	const struct wf_subnet *subnet;
	struct wf_partitions *parts;
	uint32_t sm;
	uint32_t part; /* of the statement at hand, or WF_SUBNET_NONE */
	bool full;     /* what members are that do not say */
};

/* Goes to the next word, on this line or a later one; false at the end. */
static bool next_word(struct conf *c)
{
	for (;;) {
		if (wf_scan_blanks(&c->scan) && *c->scan.at != '#')
			return true;
		if (!wf_scan_line(&c->scan))
			return false;
	}
}

/* Bytes of the word that begins here: up to a blank or one of ,:;=# */
static size_t word_len(const struct wf_scan *s)
{
	size_t n = 0;

	while (s->at + n < s->stop && strchr(" \t\r,:;=#", s->at[n]) == NULL)
		n++;
	return n;
}

static bool is_word(const struct wf_scan *s, size_t n, const char *word)
{
	if (strlen(word) != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		char a = s->at[i], b = word[i];

		if (a != b && ((a | 0x20) != (b | 0x20) || (b | 0x20) < 'a' || (b | 0x20) > 'z'))
			return false;
	}
	return true;
}

static bool take_sign(struct conf *c, const char *sign)
{
	return next_word(c) && wf_scan_take(&c->scan, sign);
}

/* "full", "limited" or "both", behind "=" */
static int take_kind(struct conf *c, bool *full_p)
{
	size_t n;

	if (!next_word(c))
		return wf_scan_fail(&c->scan,
		                    "the file ends here; full, limited or both is missing");
	n = word_len(&c->scan);
	if (!is_word(&c->scan, n, "full") && !is_word(&c->scan, n, "limited") &&
	    !is_word(&c->scan, n, "both"))
		return wf_scan_fail(&c->scan, "a member is full, limited or both");
	*full_p = !is_word(&c->scan, n, "limited");
	c->scan.at += n;
	return 0;
}

static int add_member(struct conf *c, uint32_t port, bool full)
{
	struct wf_partitions *p = c->parts;
	void *members = p->members;
	int ret = wf_make_room(p->mem, &members, p->n_members, p->n_members + 1, &p->max_members,
	                       sizeof(*p->members));

	p->members = members;
	if (ret == 0)
		p->members[p->n_members++] = (struct wf_member){ port, c->part, full };
	return ret;
}

/* ALL and its like: kinds has a bit for each kind of node. */
static int add_all(struct conf *c, unsigned kinds, bool full)
{
	int ret = 0;

	for (uint32_t i = 0; i < c->subnet->n_ports && ret == 0; i++) {
		unsigned kind = c->subnet->nodes[c->subnet->ports[i].node].kind;

		if (wf_subnet_is_end(c->subnet, i) && (kinds >> kind & 1))
			ret = add_member(c, i, full);
	}
	return ret;
}

static int take_member(struct conf *c)
{
	static const struct {
		const char *word;
		unsigned kinds;
	} all[] = { { "ALL", 0xe },
		    { "ALL_CAS", 1u << WF_SUBNET_ADAPTER },
		    { "ALL_VCAS", 0 },
		    { "ALL_SWITCHES", 1u << WF_SUBNET_SWITCH },
		    { "ALL_ROUTERS", 1u << WF_SUBNET_ROUTER } };
	struct wf_scan *s = &c->scan, word = *s;
	size_t n = word_len(s), i = 0;
	bool full = c->full;
	uint64_t guid = 0;
	uint32_t port;
	int ret = 0;

	if (is_word(s, n, "mgid")) {
		s->at = s->stop; /* a multicast group: to the end of the line */
		return 0;
	}
	while (i < WF_ARRAY_SIZE(all) && !is_word(s, n, all[i].word))
		i++;
	if (i == WF_ARRAY_SIZE(all) && !is_word(s, n, "SELF") &&
	    (!wf_scan_number(s, 0, UINT64_MAX, &guid) || s->at != word.at + n))
		return wf_scan_fail(&word, "here is a port's GUID, ALL, ALL_CAS, ALL_SWITCHES, "
		                           "ALL_ROUTERS, ALL_VCAS or SELF");
	s->at = word.at + n;
	if (take_sign(c, "="))
		ret = take_kind(c, &full);
	if (ret != 0)
		return ret;
	if (i < WF_ARRAY_SIZE(all))
		return add_all(c, all[i].kinds, full);
	port = guid == 0 ? c->sm : wf_subnet_find_port(c->subnet, guid);
	if (port == WF_SUBNET_NONE) {
		wf_scan_note(&word, guid == 0 ? "which port the subnet manager is at is not known"
		                              : "no port of the subnet has this GUID");
		return 0;
	}
	return add_member(c, port, full);
}

/* The partition of a name or key; statements may go on with one. */
static int take_partition(struct conf *c, const char *name, size_t n, uint16_t pkey)
{
	struct wf_partitions *p = c->parts;
	void *parts = p->parts;
	char text[WF_PARTITION_NAME];
	int ret;

	wf_scan_copy(text, sizeof(text), name, name + n);
	for (c->part = 0; c->part < p->n; c->part++) {
		if ((pkey != 0 && p->parts[c->part].pkey == pkey) ||
		    (text[0] != '\0' && strcmp(p->parts[c->part].name, text) == 0))
			return 0;
	}
	if (p->n == WF_PARTITIONS_MAX)
		return wf_scan_fail(&c->scan, "there are more than 4096 partitions");
	ret = wf_make_room(p->mem, &parts, p->n, p->n + 1, &p->max, sizeof(*p->parts));
	p->parts = parts;
	if (ret != 0)
		return ret;
	p->parts[p->n] = (struct wf_partition){ .pkey = pkey, .line = c->scan.line };
	memcpy(p->parts[p->n++].name, text, sizeof(text));
	return 0;
}

/* "ipoib", "mtu=4", "defmember=full", before the colon. */
static int take_flag(struct conf *c)
{
	static const char *const known[] = { "ipoib", "indx0", "rate",   "mtu",      "sl",
		                             "scope", "Q_Key", "TClass", "FlowLabel" };
	struct wf_scan *s = &c->scan;
	size_t n = word_len(s), i = 0;

	if (is_word(s, n, "defmember")) {
		s->at += n;
		return take_sign(c, "=") ? take_kind(c, &c->full)
		                         : wf_scan_fail(s, "here is = and full, limited or both");
	}
	while (i < WF_ARRAY_SIZE(known) && !is_word(s, n, known[i]))
		i++;
	if (i == WF_ARRAY_SIZE(known))
		wf_scan_note(s, "this is no property of a partition that is known; left out");
	s->at += n;
	if (take_sign(c, "=") && next_word(c))
		s->at += word_len(s);
	return 0;
}

/* "Default=0x7fff, ipoib :" */
static int take_head(struct conf *c)
{
	struct wf_scan *s = &c->scan;
	const char *name = s->at;
	size_t n = word_len(s);
	uint64_t pkey = 0;
	int ret;

	s->at += n;
	if (take_sign(c, "=") &&
	    (!next_word(c) || !wf_scan_number(s, 0, UINT16_MAX, &pkey) || (pkey & PKEY_MASK) == 0))
		return wf_scan_fail(s, "here is the partition's P_Key, 0x0001 to 0x7fff");
	c->full = false;
	ret = take_partition(c, name, n, (uint16_t)(pkey & PKEY_MASK));
	while (ret == 0 && !take_sign(c, ":")) {
		if (!wf_scan_take(s, ",") || !next_word(c) || word_len(s) == 0)
			return wf_scan_fail(s, "here is a comma and a property, or a colon and the "
			                       "members");
		ret = take_flag(c);
	}
	return ret;
}

static int take_statement(struct conf *c)
{
	int ret = take_head(c);

	while (ret == 0) {
		if (!next_word(c))
			return wf_scan_fail(&c->scan,
			                    "the file ends here; a partition ends with ;");
		if (wf_scan_take(&c->scan, ";"))
			return 0;
		if (wf_scan_take(&c->scan, ","))
			continue;
		ret = take_member(c);
	}
	return ret;
}

static int member_order(const void *a, const void *b, const void *arg)
{
	const struct wf_member *x = a, *y = b;

	(void)arg;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return (x->partition > y->partition) - (x->partition < y->partition);
}

/* By port and partition, each once; who is full and limited is full. */
static int sort_members(struct wf_partitions *p)
{
	struct wf_member *room = p->mem->alloc(p->mem, ((size_t)p->n_members + 1) * sizeof(*room));
	uint32_t n = 0;

	if (room == NULL)
		return -ENOMEM;
	wf_sort(p->members, room, p->n_members, sizeof(*room), member_order, NULL);
	p->mem->free(p->mem, room);
	for (uint32_t i = 0; i < p->n_members; i++) {
		if (n > 0 && member_order(&p->members[n - 1], &p->members[i], NULL) == 0)
			p->members[n - 1].full |= p->members[i].full;
		else
			p->members[n++] = p->members[i];
	}
	p->n_members = n;
	return 0;
}

int wf_partitions_read(const struct wf_subnet *subnet, uint32_t sm, const char *text, size_t len,
                       const char *name, const struct wf_subnet_ear *ear,
                       struct wf_partitions *parts, struct wf_err *err)
{
	struct conf c = { .subnet = subnet, .parts = parts, .sm = sm };
	int ret = 0;

	*parts = (struct wf_partitions){ .mem = subnet->mem };
	wf_scan_init(&c.scan, text, len, name, ear, err);
	while (ret == 0 && next_word(&c))
		ret = take_statement(&c);
	if (ret == 0)
		ret = sort_members(parts);
	if (ret != 0)
		wf_partitions_fini(parts);
	return ret;
}

void wf_partitions_fini(struct wf_partitions *parts)
{
	parts->mem->free(parts->mem, parts->members);
	parts->mem->free(parts->mem, parts->parts);
}

/* ---- who may talk to whom ---- */

/* The memberships of a port: members[*first_p .. returned). */
static uint32_t memberships(const struct wf_partitions *p, uint32_t port, uint32_t *first_p)
{
	uint32_t low = 0, high = p->n_members, end;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (p->members[mid].port < port)
			low = mid + 1;
		else
			high = mid;
	}
	*first_p = low;
	for (end = low; end < p->n_members && p->members[end].port == port; end++)
		;
	return end;
}

bool wf_partitions_meet(const struct wf_partitions *parts, uint32_t a, uint32_t b)
{
	uint32_t i, k, i_end = memberships(parts, a, &i), k_end = memberships(parts, b, &k);

	while (i < i_end && k < k_end) {
		const struct wf_member *x = &parts->members[i], *y = &parts->members[k];

		if (x->partition == y->partition && (x->full || y->full))
			return true;
		i += x->partition <= y->partition;
		k += y->partition <= x->partition;
	}
	return false;
}

/* Ports of the same memberships, by one of them. */
struct alike {
	const struct wf_subnet *subnet;
	const struct wf_partitions *parts;
	uint32_t *ports; /* adapters' ports, those that are alike together */
	uint32_t n;
};

static int alike_order(const void *a, const void *b, const void *arg)
{
	const struct wf_partitions *p = ((const struct alike *)arg)->parts;
	uint32_t i, k, i_end = memberships(p, *(const uint32_t *)a, &i);
	uint32_t k_end = memberships(p, *(const uint32_t *)b, &k);

	for (; i < i_end && k < k_end; i++, k++) {
		const struct wf_member *x = &p->members[i], *y = &p->members[k];

		if (x->partition != y->partition)
			return x->partition < y->partition ? -1 : 1;
		if (x->full != y->full)
			return x->full ? -1 : 1;
	}
	return (i < i_end) - (k < k_end);
}

/* "tenant1 (full), Default (limited)" */
static void list_parts(const struct alike *g, uint32_t port, char *text, size_t size)
{
	uint32_t i, end = memberships(g->parts, port, &i);
	size_t n = 0;

	text[0] = '\0';
	for (; i < end && n < size; i++) {
		const struct wf_member *m = &g->parts->members[i];

		n += (size_t)snprintf(text + n, size - n, "%s%s (%s)", n == 0 ? "" : ", ",
		                      g->parts->parts[m->partition].name,
		                      m->full ? "full" : "limited");
	}
}

static uint32_t end_of_group(const struct alike *g, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < g->n && alike_order(&g->ports[first], &g->ports[end], g) == 0)
		end++;
	return end;
}

static void tell_group(const struct wf_check *c, const struct alike *g, uint32_t first,
                       uint32_t end)
{
	uint32_t port = g->ports[first], none, kept = 0, example = WF_SUBNET_NONE;
	struct wf_finding f = { .id = WF_FIND_PARTITIONS, .port = port };
	char a[WF_SUBNET_NAME], b[WF_SUBNET_NAME], text[WF_FINDING_TEXT / 2];

	f.line = g->subnet->ports[port].line;
	if (memberships(g->parts, port, &none) == none) {
		f.id = WF_FIND_NO_PARTITION;
		wf_check_tell(c, &f, "%" PRIu32 " port%s, %s the first, %s in no partition",
		              end - first, end - first == 1 ? "" : "s",
		              wf_subnet_port_name(&c->names, port, a),
		              end - first == 1 ? "is" : "are");
		return;
	}
	for (uint32_t i = 0, next; i < g->n; i = next) {
		next = end_of_group(g, i);
		if (wf_partitions_meet(g->parts, port, g->ports[i]))
			continue;
		/* A port needs nobody's leave to talk to itself. */
		kept += next - i - (i == first ? 1 : 0);
		if (next - i > (i == first ? 1u : 0u) && example == WF_SUBNET_NONE)
			example = g->ports[i == first ? i + 1 : i];
	}
	if (kept == 0)
		return;
	list_parts(g, port, text, sizeof(text));
	wf_check_tell(c, &f,
	              "%" PRIu32 " port%s in %s, %s the first, may not talk to %" PRIu32
	              " of %" PRIu32 " others, such as %s",
	              end - first, end - first == 1 ? "" : "s", text,
	              wf_subnet_port_name(&c->names, port, a), kept, g->n - 1,
	              wf_subnet_port_name(&c->names, example, b));
}

int wf_partitions_check(const struct wf_subnet *subnet, const struct wf_partitions *parts,
                        const struct wf_check_ear *ear)
{
	struct wf_check c = { .subnet = subnet, .ear = ear };
	struct wf_mem *mem = subnet->mem;
	struct alike g = { .subnet = subnet, .parts = parts };
	uint32_t *room = mem->alloc(mem, ((size_t)subnet->n_ports + 1) * sizeof(*room));
	int ret = wf_subnet_names_init(&c.names, subnet);

	if (ret != 0) {
		mem->free(mem, room);
		return ret;
	}
	g.ports = mem->alloc(mem, ((size_t)subnet->n_ports + 1) * sizeof(*g.ports));
	ret = room == NULL || g.ports == NULL ? -ENOMEM : 0;
	for (uint32_t i = 0; ret == 0 && i < subnet->n_ports; i++) {
		if (wf_subnet_is_end(subnet, i) &&
		    !wf_subnet_is_switch(subnet, subnet->ports[i].node))
			g.ports[g.n++] = i;
	}
	if (ret == 0) {
		wf_sort(g.ports, room, g.n, sizeof(*room), alike_order, &g);
		for (uint32_t i = 0, next; i < g.n; i = next) {
			next = end_of_group(&g, i);
			tell_group(&c, &g, i, next);
		}
	}
	mem->free(mem, g.ports);
	mem->free(mem, room);
	wf_subnet_names_fini(&c.names);
	return ret;
}
