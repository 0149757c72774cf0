/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - what is wrong with a subnet's graph. */
#include "subnet/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "subnet/check_priv.h"
#include "subnet/pm.h"
#include "subnet/route_priv.h"

#define ROW(id, name, grade, help) [WF_FIND_##id] = { name, grade, help },
const struct wf_finding_row wf_finding_rows[] = { WF_FINDINGS(ROW) };
#undef ROW

const char *const wf_finding_grades[] = { "note", "warning", "error" };

void wf_check_tell(const struct wf_check *c, struct wf_finding *finding, const char *fmt, ...)
{
	char text[WF_FINDING_TEXT];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	finding->text = text;
	if (finding->port != WF_SUBNET_NONE)
		finding->node = c->subnet->ports[finding->port].node;
	c->ear->found(c->ear->arg, finding);
}

static struct wf_finding of_node(const struct wf_check *c, enum wf_finding_id id, uint32_t node)
{
	return (struct wf_finding){
		.id = id, .node = node, .port = WF_SUBNET_NONE, .line = c->subnet->nodes[node].line
	};
}

static struct wf_finding of_port(const struct wf_check *c, enum wf_finding_id id, uint32_t port)
{
	return (struct wf_finding){ .id = id, .port = port, .line = c->subnet->ports[port].line };
}

static const char *node_name(const struct wf_check *c, uint32_t node, char buf[WF_SUBNET_NAME])
{
	return wf_subnet_name(&c->names, node, buf);
}

static const char *port_name(const struct wf_check *c, const struct wf_subnet_port *port,
                             char buf[WF_SUBNET_NAME])
{
	return wf_subnet_port_name(&c->names, (uint32_t)(port - c->subnet->ports), buf);
}

/* ---- GUIDs, LIDs, names ---- */

static void check_guids(const struct wf_check *c)
{
	const struct wf_subnet *subnet = c->subnet;
	char a[WF_SUBNET_NAME], b[WF_SUBNET_NAME];

	for (uint32_t i = 0; i < subnet->n_nodes; i++) {
		const struct wf_subnet_node *node = &subnet->nodes[i];
		struct wf_finding f = of_node(c, WF_FIND_SAME_GUID, i);
		uint32_t first = wf_subnet_find(subnet, node->guid);

		if (node->guid != 0 && first != i)
			wf_check_tell(c, &f,
			              "'%s' has the GUID 0x%" PRIx64 " of '%s'; no two nodes may",
			              node->desc, node->guid, subnet->nodes[first].desc);
	}
	for (uint32_t i = 0; i < subnet->n_ports; i++) {
		const struct wf_subnet_port *port = &subnet->ports[i];
		struct wf_finding f = of_port(c, WF_FIND_SAME_GUID, i);
		uint32_t first = wf_subnet_find_port(subnet, port->guid);

		/* Of nodes with one GUID it has been said. */
		if (port->guid == 0 || first == i || wf_subnet_is_switch(subnet, port->node))
			continue;
		if (wf_subnet_find(subnet, subnet->nodes[port->node].guid) != port->node)
			continue;
		wf_check_tell(c, &f, "%s has the port GUID 0x%" PRIx64 " of %s; no two ports may",
		              port_name(c, port, a), port->guid,
		              wf_subnet_port_name(&c->names, first, b));
	}
}

static void check_lids(const struct wf_check *c)
{
	const struct wf_subnet *subnet = c->subnet;
	char a[WF_SUBNET_NAME], b[WF_SUBNET_NAME];
	uint32_t none = 0, example = WF_SUBNET_NONE, ends = 0;

	for (uint32_t i = 0; i < subnet->n_ports; i++) {
		const struct wf_subnet_port *port = &subnet->ports[i];
		struct wf_finding f = of_port(c, WF_FIND_SAME_LID, i);

		ends += wf_subnet_is_end(subnet, i);
		if (wf_subnet_is_end(subnet, i) && port->lid == 0 && none++ == 0)
			example = i;
		for (unsigned k = 0; port->lid != 0 && k < 1u << port->lmc; k++) {
			uint32_t owner = wf_subnet_by_lid(subnet, port->lid + k);

			if (owner == i || owner == WF_SUBNET_NONE)
				continue;
			wf_check_tell(c, &f, "%s and %s both have LID %u; no two ports may",
			              wf_subnet_port_name(&c->names, owner, a),
			              port_name(c, port, b), port->lid + k);
			break;
		}
	}
	if (none != 0) {
		struct wf_finding f = of_port(c, WF_FIND_NO_LID, example);

		wf_check_tell(c, &f,
		              "%" PRIu32 " of %" PRIu32
		              " ports that are connected have no LID, %s the first; a subnet "
		              "manager gives each one",
		              none, ends, wf_subnet_port_name(&c->names, example, a));
	}
}

static void check_names(const struct wf_check *c)
{
	const struct wf_subnet *subnet = c->subnet;

	for (uint32_t i = 0, n; i < subnet->n_nodes; i += n) {
		const struct wf_subnet_node *first = &subnet->nodes[c->names.order[i]];
		struct wf_finding f = of_node(c, WF_FIND_SAME_NAME, c->names.order[i]);
		uint32_t switches = 0;

		for (n = 0; i + n < subnet->n_nodes; n++) {
			const struct wf_subnet_node *node = &subnet->nodes[c->names.order[i + n]];

			if (strcmp(node->desc, first->desc) != 0)
				break;
			switches += node->kind == WF_SUBNET_SWITCH;
		}
		if (n > 1)
			wf_check_tell(c, &f,
			              "%" PRIu32 " nodes are called '%s', %" PRIu32
			              " of them switches; only GUIDs tell them apart",
			              n, first->desc, switches);
	}
}

/* ---- links ---- */

static void check_doubts(const struct wf_check *c)
{
	char a[WF_SUBNET_NAME], b[WF_SUBNET_NAME], d[WF_SUBNET_NAME];

	for (uint32_t i = 0; i < c->subnet->n_doubts; i++) {
		const struct wf_subnet_doubt *doubt = &c->subnet->doubts[i];
		const struct wf_subnet_port *one =
			wf_subnet_port(c->subnet, doubt->a, doubt->a_port);
		const struct wf_subnet_port *two =
			wf_subnet_port(c->subnet, doubt->b, doubt->b_port);
		bool sided = doubt->kind == WF_SUBNET_ONE_SIDED;
		struct wf_finding f = of_port(c, sided ? WF_FIND_ONE_SIDED : WF_FIND_CONTRADICTION,
		                              (uint32_t)(one - c->subnet->ports));
		const struct wf_subnet_port *real = wf_subnet_peer(c->subnet, two);

		f.line = doubt->line;
		if (sided)
			wf_check_tell(c, &f, "%s leads to %s, which says nothing of it",
			              port_name(c, one, a), port_name(c, two, b));
		else
			wf_check_tell(c, &f, "%s leads to %s, which leads %s%s",
			              port_name(c, one, a), port_name(c, two, b),
			              real == NULL ? "elsewhere" : "to ",
			              real == NULL ? "" : port_name(c, real, d));
	}
}

/* The rate that most links have. */
static uint64_t usual_rate(const struct wf_subnet *subnet)
{
	uint64_t best = 0;
	uint32_t most = 0;

	for (unsigned speed = 1; speed < WF_SUBNET_N_SPEEDS; speed++) {
		for (unsigned width = 1; width <= 12; width++) {
			uint32_t n = 0;

			for (uint32_t i = 0; i < subnet->n_ports; i++)
				n += subnet->ports[i].peer != WF_SUBNET_NONE &&
				     subnet->ports[i].width == width &&
				     subnet->ports[i].speed == speed;
			if (n > most) {
				most = n;
				best = wf_subnet_rate(width, speed);
			}
		}
	}
	return best;
}

/* Of two ends, what both can do; 0: one does not say. */
static uint8_t both(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static void check_rate(const struct wf_check *c, const struct wf_subnet_port *port,
                       const struct wf_subnet_port *peer, uint64_t usual)
{
	uint64_t rate = wf_subnet_rate(port->width, port->speed);
	uint8_t width = both(port->width_best, peer->width_best);
	uint8_t speed = both(port->speed_best, peer->speed_best);
	struct wf_finding f = of_port(c, WF_FIND_SLOW, (uint32_t)(port - c->subnet->ports));
	char a[WF_SUBNET_NAME], b[WF_SUBNET_NAME];

	if (rate == 0)
		return;
	if (width != 0 && speed != 0) {
		if (rate >= wf_subnet_rate(width, speed))
			return;
		wf_check_tell(c, &f, "%s to %s runs at %ux %s; both ends can do %ux %s",
		              port_name(c, port, a), port_name(c, peer, b), port->width,
		              wf_subnet_speeds[port->speed].name, width,
		              wf_subnet_speeds[speed].name);
	} else if (4 * rate <= usual) {
		wf_check_tell(c, &f,
		              "%s to %s runs at %ux %s, %" PRIu64
		              " Gb/s; most links of the subnet at %" PRIu64,
		              port_name(c, port, a), port_name(c, peer, b), port->width,
		              wf_subnet_speeds[port->speed].name, rate / 1000000000,
		              usual / 1000000000);
	}
}

static void check_links(const struct wf_check *c)
{
	const struct wf_subnet *subnet = c->subnet;
	uint64_t usual = usual_rate(subnet);
	char a[WF_SUBNET_NAME], b[WF_SUBNET_NAME];

	for (uint32_t i = 0; i < subnet->n_ports; i++) {
		const struct wf_subnet_port *port = &subnet->ports[i];
		const struct wf_subnet_port *peer = wf_subnet_peer(subnet, port);
		struct wf_finding f = of_port(c, WF_FIND_UNEVEN, i);

		if (peer == NULL || peer < port)
			continue;
		if (port->width != 0 && peer->width != 0 &&
		    (port->width != peer->width || port->speed != peer->speed))
			wf_check_tell(c, &f, "%s says it runs at %ux %s, the other end, %s, %ux %s",
			              port_name(c, port, a), port->width,
			              wf_subnet_speeds[port->speed].name, port_name(c, peer, b),
			              peer->width, wf_subnet_speeds[peer->speed].name);
		else
			check_rate(c, port, peer, usual);
		f.id = WF_FIND_NOT_ACTIVE;
		if ((port->state != 0 && port->state < WF_SUBNET_ACTIVE) ||
		    (peer->state != 0 && peer->state < WF_SUBNET_ACTIVE))
			wf_check_tell(c, &f, "%s to %s is connected, but not active at both ends",
			              port_name(c, port, a), port_name(c, peer, b));
	}
}

/* ---- parts ---- */

/* Marks all that is connected with start, as mark says; returns how many nodes. */
static uint32_t flood(const struct wf_subnet *subnet, uint32_t start, uint32_t mark, uint32_t *part,
                      uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	part[start] = mark;
	queue[tail++] = start;
	while (head < tail) {
		const struct wf_subnet_node *node = &subnet->nodes[queue[head++]];

		for (unsigned i = 1; i <= node->n_ports; i++) {
			const struct wf_subnet_port *port = &subnet->ports[node->first_port + i];

			if (!wf_subnet_goes(subnet, port) || part[port->peer] != 0)
				continue;
			part[port->peer] = mark;
			queue[tail++] = port->peer;
		}
	}
	return tail;
}

static int check_parts(const struct wf_check *c)
{
	const struct wf_subnet *subnet = c->subnet;
	struct wf_mem *mem = subnet->mem;
	uint32_t *part = mem->alloc(mem, ((size_t)subnet->n_nodes + 1) * sizeof(*part));
	uint32_t *queue = mem->alloc(mem, ((size_t)subnet->n_nodes + 1) * sizeof(*queue));
	uint32_t *size = mem->alloc(mem, ((size_t)subnet->n_nodes + 1) * sizeof(*size));
	uint32_t main = 0, n = 0;
	int ret = part == NULL || queue == NULL || size == NULL ? -ENOMEM : 0;

	for (uint32_t i = 0; ret == 0 && i < subnet->n_nodes; i++) {
		if (part[i] != 0)
			continue;
		n++;
		size[n] = flood(subnet, i, n, part, queue);
		main = size[n] > size[main] ? n : main;
	}
	for (uint32_t i = 0, told = main; ret == 0 && i < subnet->n_nodes; i++) {
		struct wf_finding f = of_node(c, WF_FIND_APART, i);
		char a[WF_SUBNET_NAME];
		bool one;

		/* Parts are numbered by their first nodes. */
		if (part[i] == main || (told != main && part[i] <= told))
			continue;
		told = part[i];
		one = size[told] == 1;
		wf_check_tell(c, &f,
		              "%" PRIu32
		              " node%s, '%s' the first, ha%s no way to the other %" PRIu32,
		              size[told], one ? "" : "s", node_name(c, i, a), one ? "s" : "ve",
		              subnet->n_nodes - size[told]);
	}
	mem->free(mem, size);
	mem->free(mem, queue);
	mem->free(mem, part);
	return ret;
}

/* ---- counters ---- */

static uint64_t faults_of(const struct wf_pm *pm)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < WF_PM_N; i++) {
		if (wf_pm_rows[i].tells == WF_PM_FAULT)
			sum += pm->count[i] < UINT32_MAX ? pm->count[i] : UINT32_MAX;
	}
	return sum;
}

static int worst_first(const void *a, const void *b, const void *arg)
{
	const struct wf_subnet *subnet = arg;
	uint64_t x = faults_of(&subnet->pm[*(const uint32_t *)a]);
	uint64_t y = faults_of(&subnet->pm[*(const uint32_t *)b]);

	return (y > x) - (y < x);
}

static void tell_port(const struct wf_check *c, uint32_t at)
{
	const struct wf_pm *pm = &c->subnet->pm[at];
	const struct wf_subnet_port *peer = wf_subnet_peer(c->subnet, &c->subnet->ports[at]);
	struct wf_finding f = of_port(c, WF_FIND_PORT_ERRORS, at);
	char text[WF_FINDING_TEXT / 2], a[WF_SUBNET_NAME], b[WF_SUBNET_NAME];
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < WF_PM_N && n < sizeof(text); i++) {
		if (wf_pm_rows[i].tells != WF_PM_FAULT || pm->count[i] == 0)
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %" PRIu64 "%s",
		                      n == 0 ? "" : ", ", wf_pm_rows[i].name, pm->count[i],
		                      pm->count[i] == wf_pm_rows[i].max ? " (full)" : "");
	}
	wf_check_tell(c, &f, "%s, connected to %s, has counted %s",
	              wf_subnet_port_name(&c->names, at, a),
	              peer == NULL ? "nothing" : port_name(c, peer, b), text);
}

static void tell_events(const struct wf_check *c)
{
	for (unsigned i = 0; i < WF_PM_N; i++) {
		struct wf_finding f = { .id = WF_FIND_PORT_EVENTS };
		uint64_t most = 0;
		uint32_t n = 0;
		char a[WF_SUBNET_NAME];

		for (uint32_t at = 0; at < c->subnet->n_ports; at++) {
			n += c->subnet->pm[at].count[i] != 0;
			if (c->subnet->pm[at].count[i] > most) {
				most = c->subnet->pm[at].count[i];
				f = of_port(c, WF_FIND_PORT_EVENTS, at);
			}
		}
		if (wf_pm_rows[i].tells == WF_PM_EVENT && n != 0)
			wf_check_tell(c, &f, "%s: %" PRIu32 " ports, %s most, %" PRIu64 "%s",
			              wf_pm_rows[i].name, n,
			              wf_subnet_port_name(&c->names, f.port, a), most,
			              most == wf_pm_rows[i].max ? " (full)" : "");
	}
}

static int check_counters(const struct wf_check *c)
{
	const struct wf_subnet *subnet = c->subnet;
	struct wf_mem *mem = subnet->mem;
	uint32_t *list, *room, n = 0;

	if (subnet->pm == NULL)
		return 0;
	list = mem->alloc(mem, ((size_t)subnet->n_ports + 1) * sizeof(*list));
	room = mem->alloc(mem, ((size_t)subnet->n_ports + 1) * sizeof(*room));
	if (list == NULL || room == NULL) {
		mem->free(mem, room);
		mem->free(mem, list);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < subnet->n_ports; i++) {
		if (faults_of(&subnet->pm[i]) != 0)
			list[n++] = i;
	}
	wf_sort(list, room, n, sizeof(*list), worst_first, subnet);
	for (uint32_t i = 0; i < n; i++)
		tell_port(c, list[i]);
	tell_events(c);
	mem->free(mem, room);
	mem->free(mem, list);
	return 0;
}

int wf_subnet_check(const struct wf_subnet *subnet, const struct wf_check_ear *ear)
{
	struct wf_check c = { .subnet = subnet, .ear = ear };
	int ret = wf_subnet_names_init(&c.names, subnet);

	if (ret != 0)
		return ret;
	check_guids(&c);
	check_lids(&c);
	check_doubts(&c);
	ret = check_parts(&c);
	if (ret == 0) {
		check_links(&c);
		ret = check_counters(&c);
	}
	if (ret == 0)
		check_names(&c);
	wf_subnet_names_fini(&c.names);
	return ret;
}
