/* SPDX-License-Identifier: Apache-2.0 */
/* members.c - the partitions of a subnet's ports, and whom they keep apart. */
#include "subnet/members.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "subnet/check_priv.h"
#include "subnet/guids.h"

/* ---- who is a member ---- */

/* Says of which rules the subnet has no port. */
static void tell_rules(const struct wf_members *m, const struct wf_subnet *subnet, uint32_t sm,
                       const char *name, const struct wf_subnet_ear *ear)
{
	for (uint32_t i = 0; i < m->parts->n_rules; i++) {
		const struct wf_part_rule *rule = &m->parts->rule[i];
		const char *what = NULL;

		if (rule->line == 0) /* it is said by no file */
			continue;
		if (rule->who == WF_PART_SELF && sm == WF_SUBNET_NONE)
			what = "which port the subnet manager is at is not known";
		if (rule->who == WF_PART_GUID &&
		    wf_subnet_find_port(subnet, rule->guid) == WF_SUBNET_NONE)
			what = "no port of the subnet has this GUID";
		if (what != NULL)
			ear->note(ear->arg, name, rule->line, rule->column, what);
	}
}

static int key_order(const void *a, const void *b, const void *arg)
{
	uint16_t x = *(const uint16_t *)a & WF_PART_DEFAULT;
	uint16_t y = *(const uint16_t *)b & WF_PART_DEFAULT;

	(void)arg;
	return (x > y) - (x < y);
}

/* Takes the P_Keys of a port in, by partition; room has space for all. */
static int add_port(struct wf_members *m, const struct wf_part_port *port, uint32_t id,
                    uint16_t *room)
{
	uint16_t first, *keys = &room[m->parts->n];
	unsigned n = wf_parts_pkeys(m->parts, port, keys, m->parts->n, &first);
	void *all = m->keys;
	int ret = wf_make_room(m->mem, &all, m->n_keys, m->n_keys + n, &m->max_keys,
	                       sizeof(*m->keys));

	m->keys = all;
	if (ret != 0)
		return ret;
	wf_sort(keys, room, n, sizeof(*keys), key_order, NULL);
	memcpy(&m->keys[m->n_keys], keys, n * sizeof(*keys));
	m->n_keys += n;
	m->end[id] = m->n_keys;
	return 0;
}

int wf_members_init(struct wf_members *m, const struct wf_subnet *subnet, uint32_t sm,
                    const struct wf_parts *parts, const char *name, const struct wf_subnet_ear *ear)
{
	struct wf_mem *mem = subnet->mem;
	uint16_t *room;
	int ret = 0;

	*m = (struct wf_members){ .mem = mem, .parts = parts };
	m->end = mem->alloc(mem, ((size_t)subnet->n_ports + 1) * sizeof(*m->end));
	room = mem->alloc(mem, 2 * (size_t)parts->n * sizeof(*room));
	if (m->end == NULL || room == NULL)
		ret = -ENOMEM;
	for (uint32_t i = 0; ret == 0 && i < subnet->n_ports; i++) {
		const struct wf_part_port port = {
			.guid = subnet->ports[i].guid,
			.kind = subnet->nodes[subnet->ports[i].node].kind,
			.self = i == sm,
		};

		m->end[i] = m->n_keys;
		if (wf_subnet_is_end(subnet, i))
			ret = add_port(m, &port, i, room);
	}
	mem->free(mem, room);
	if (ret != 0)
		wf_members_fini(m);
	else if (ear != NULL)
		tell_rules(m, subnet, sm, name, ear);
	return ret;
}

void wf_members_fini(struct wf_members *m)
{
	m->mem->free(m->mem, m->keys);
	m->mem->free(m->mem, m->end);
}

/* ---- who may talk to whom ---- */

/* The P_Keys of a port: keys[*first_p .. returned). */
static uint32_t memberships(const struct wf_members *m, uint32_t port, uint32_t *first_p)
{
	*first_p = port == 0 ? 0 : m->end[port - 1];
	return m->end[port];
}

bool wf_members_meet(const struct wf_members *m, uint32_t a, uint32_t b)
{
	uint32_t i, k, i_end = memberships(m, a, &i), k_end = memberships(m, b, &k);

	while (i < i_end && k < k_end) {
		uint16_t x = m->keys[i], y = m->keys[k];
		int order = key_order(&x, &y, NULL);

		if (order == 0 && ((x | y) & WF_PKEY_FULL))
			return true;
		i += order <= 0;
		k += order >= 0;
	}
	return false;
}

/* Ports of the same memberships, by one of them. */
struct alike {
	const struct wf_subnet *subnet;
	const struct wf_members *members;
	uint32_t *ports; /* adapters' ports, those that are alike together */
	uint32_t n;
};

static int alike_order(const void *a, const void *b, const void *arg)
{
	const struct wf_members *m = ((const struct alike *)arg)->members;
	uint32_t i, k, i_end = memberships(m, *(const uint32_t *)a, &i);
	uint32_t k_end = memberships(m, *(const uint32_t *)b, &k);

	for (; i < i_end && k < k_end; i++, k++) {
		int order = key_order(&m->keys[i], &m->keys[k], NULL);

		if (order != 0)
			return order;
		if (m->keys[i] != m->keys[k])
			return m->keys[i] & WF_PKEY_FULL ? -1 : 1;
	}
	return (i < i_end) - (k < k_end);
}

/* "Default (limited), tenant1 (full)"; a partition without a name by its P_Key */
static void list_parts(const struct alike *g, uint32_t port, char *text, size_t size)
{
	uint32_t i, end = memberships(g->members, port, &i);
	size_t n = 0;

	text[0] = '\0';
	for (; i < end && n < size; i++) {
		uint16_t key = g->members->keys[i];
		char name[WF_PART_NAME];

		wf_parts_name(g->members->parts, key, name, sizeof(name));
		n += (size_t)snprintf(text + n, size - n, "%s%s (%s)", n == 0 ? "" : ", ", name,
		                      key & WF_PKEY_FULL ? "full" : "limited");
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
	uint32_t port = g->ports[first], kept = 0, example = WF_SUBNET_NONE;
	struct wf_finding f = { .id = WF_FIND_PARTITIONS, .port = port };
	char a[WF_SUBNET_NAME], b[WF_SUBNET_NAME], text[WF_FINDING_TEXT / 2];

	f.line = g->subnet->ports[port].line;
	for (uint32_t i = 0, next; i < g->n; i = next) {
		next = end_of_group(g, i);
		if (wf_members_meet(g->members, port, g->ports[i]))
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

int wf_members_check(const struct wf_subnet *subnet, const struct wf_members *members,
                     const struct wf_check_ear *ear)
{
	struct wf_check c = { .subnet = subnet, .ear = ear };
	struct wf_mem *mem = subnet->mem;
	struct alike g = { .subnet = subnet, .members = members };
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
