/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - whether a topology closes, and if not, where. */
#include <errno.h>
#include <inttypes.h>

#include "base/rate.h"
#include "topo/topo_priv.h"

struct check {
	const struct wf_topo *topo;
	const char *name; /* of the file */
	struct wf_err *err;
};

static int check_link(const struct check *check, uint32_t id)
{
	const struct wf_topo *topo = check->topo;
	const struct wf_topo_link *link = &topo->links[id];
	const struct wf_topo_node *a, *b;

	if (link->a >= topo->n_nodes || link->b >= topo->n_nodes)
		return wf_err_at(check->err, check->name, link->line, 0,
		                 "link %" PRIu32 " from node %" PRIu32 " to node %" PRIu32
		                 " leads nowhere; nodes are 0 to %" PRIu32,
		                 id, link->a, link->b, topo->n_nodes - 1);
	a = &topo->nodes[link->a];
	b = &topo->nodes[link->b];
	if (link->a == link->b)
		return wf_err_at(check->err, check->name, link->line, 0,
		                 "link %" PRIu32 " connects %s with itself; connect two nodes", id,
		                 a->name);
	if (a->kind == WF_TOPO_HOST && b->kind == WF_TOPO_HOST)
		return wf_err_at(check->err, check->name, link->line, 0,
		                 "link %" PRIu32
		                 " connects the hosts %s and %s; one end must be a switch",
		                 id, a->name, b->name);
	if (link->a_port >= a->n_ports || link->b_port >= b->n_ports)
		return wf_err_at(
			check->err, check->name, link->line, 0,
			"link %" PRIu32 " from %s port %u to %s port %u: there is no such port; "
			"they have %" PRIu32 " and %" PRIu32,
			id, a->name, link->a_port, b->name, link->b_port, a->n_ports, b->n_ports);
	if (link->rate < (uint64_t)WF_RATE_MIN || link->rate > (uint64_t)WF_RATE_MAX)
		return wf_err_at(check->err, check->name, link->line, 0,
		                 "link %" PRIu32 " from %s to %s has a rate of %" PRIu64
		                 " bits/s; it must be 1 Mb/s to 10 Tb/s",
		                 id, a->name, b->name, link->rate);
	return 0;
}

/* The line of the first link of a node, since a node has no line of its own. */
static unsigned line_of(const struct wf_topo *topo, const struct wf_topo_node *node)
{
	uint32_t link;

	if (node->n_ports == 0)
		return 0;
	link = topo->ports[node->first_port].link;
	return link < topo->n_links ? topo->links[link].line : 0;
}

static int check_port(const struct check *check, uint32_t id, uint32_t number)
{
	const struct wf_topo *topo = check->topo;
	const struct wf_topo_node *node = &topo->nodes[id];
	const struct wf_topo_port *port = &topo->ports[node->first_port + number];
	const struct wf_topo_link *link;

	if (port->link < topo->n_links) {
		link = &topo->links[port->link];
		if (link->a == id && link->a_port == number && port->peer == link->b &&
		    port->peer_port == link->b_port)
			return 0;
		if (link->b == id && link->b_port == number && port->peer == link->a &&
		    port->peer_port == link->a_port)
			return 0;
	}
	return wf_err_at(check->err, check->name, line_of(topo, node), 0,
	                 "port %" PRIu32 " of %s is left over; connect it to one link", number,
	                 node->name);
}

static int check_node(const struct check *check, uint32_t id)
{
	const struct wf_topo *topo = check->topo;
	const struct wf_topo_node *node = &topo->nodes[id];
	int ret;

	if (node->n_ports == 0)
		return wf_err_at(check->err, check->name, 0, 0,
		                 "%s (node %" PRIu32 ") has no link; connect it or leave it out",
		                 node->name, id);
	if (node->first_port > topo->n_ports || node->n_ports > topo->n_ports - node->first_port)
		return wf_err_at(check->err, check->name, 0, 0,
		                 "%s has ports that do not exist; there are %" PRIu32, node->name,
		                 topo->n_ports);
	if (node->n_ports > WF_TOPO_MAX_PORTS)
		return wf_err_at(check->err, check->name, line_of(topo, node), 0,
		                 "%s has %" PRIu32 " ports; at most %d are allowed", node->name,
		                 node->n_ports, WF_TOPO_MAX_PORTS);
	for (uint32_t i = 0; i < node->n_ports; i++) {
		ret = check_port(check, id, i);
		if (ret != 0)
			return ret;
	}
	if (node->kind == WF_TOPO_HOST && node->n_ports != topo->host_ports) {
		const struct wf_topo_port *second = &topo->ports[node->first_port + 1];

		if (node->n_ports < topo->host_ports)
			return wf_err_at(check->err, check->name, line_of(topo, node), 0,
			                 "host %s has %" PRIu32 " links of %" PRIu32, node->name,
			                 node->n_ports, topo->host_ports);

		return wf_err_at(check->err, check->name, topo->links[second->link].line, 0,
		                 "host %s has %" PRIu32 " links, the second to %s; a host has one",
		                 node->name, node->n_ports, topo->nodes[second->peer].name);
	}
	return 0;
}

static int check_shape(const struct check *check)
{
	const struct wf_topo *topo = check->topo;
	uint64_t ports = 0;
	int ret;

	if (topo->n_hosts == 0)
		return wf_err_at(check->err, check->name, 0, 0,
		                 "there is no host; at least one is needed");
	for (uint32_t i = 0; i < topo->n_links; i++) {
		ret = check_link(check, i);
		if (ret != 0)
			return ret;
	}
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		ret = check_node(check, i);
		if (ret != 0)
			return ret;
		ports += topo->nodes[i].n_ports;
	}
	if (ports != topo->n_ports || topo->n_ports != 2 * topo->n_links)
		return wf_err_at(check->err, check->name, 0, 0,
		                 "%" PRIu32 " links have %" PRIu64 " ports; each has two ends",
		                 topo->n_links, ports);
	return 0;
}

/* Marks all that can be reached from node start; a host is the end of a path. */
static void flood(const struct wf_topo *topo, uint32_t start, uint32_t *queue, uint8_t *seen)
{
	uint32_t head = 0, tail = 0;

	seen[start] = 1;
	queue[tail++] = start;
	while (head < tail) {
		const struct wf_topo_node *node = &topo->nodes[queue[head++]];
		const struct wf_topo_port *port = &topo->ports[node->first_port];

		for (uint32_t i = 0; i < node->n_ports; i++) {
			if (seen[port[i].peer] == 0) {
				seen[port[i].peer] = 1;
				queue[tail++] = port[i].peer;
			}
		}
	}
}

static int check_reach(const struct check *check)
{
	const struct wf_topo *topo = check->topo;
	struct wf_mem *mem = topo->mem;
	uint32_t start = topo->host_node[0];
	uint32_t *queue;
	uint8_t *seen;
	int ret = 0;

	queue = mem->alloc(mem, topo->n_nodes * sizeof(*queue));
	if (queue == NULL)
		return -ENOMEM;
	seen = mem->alloc(mem, topo->n_nodes);
	if (seen == NULL) {
		ret = -ENOMEM;
		goto free_queue;
	}

	flood(topo, start, queue, seen);
	for (uint32_t i = 0; i < topo->n_nodes && ret == 0; i++) {
		const struct wf_topo_node *node = &topo->nodes[i];

		if (seen[i] == 0)
			ret = wf_err_at(
				check->err, check->name, line_of(topo, node), 0,
				"no path between %s (node %" PRIu32
				", linked to %s) and %s (node %" PRIu32 "); connect the two parts",
				node->name, i, topo->nodes[topo->ports[node->first_port].peer].name,
				topo->nodes[start].name, start);
	}
	mem->free(mem, seen);
free_queue:
	mem->free(mem, queue);
	return ret;
}

int wf_topo_check(const struct wf_topo *topo, const char *name, struct wf_err *err)
{
	struct check check = { topo, name, err };
	int ret;

	ret = check_shape(&check);
	if (ret != 0)
		return ret;
	return check_reach(&check);
}
