/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ibnetdiscover.c - a topology of a real InfiniBand subnet, from any file that subnet/read.h reads.
 *
 * What is left out: routers, the nodes inside switches that reduce (each is an adapter at a
 * switch's last port), links of a switch to itself, from adapter to adapter and of ports that are
 * down, what has no link then, and switches that no adapter can reach.
 *
 * Each port of an adapter that is connected is a host; with ports: 2 in the scenario each adapter
 * is one, which has to have two. Those whose descriptions begin with the same word ("node7 mlx5_0",
 * "node7 mlx5_3") are of one server and follow one another; servers come in the order of the file.
 * Ports keep their order, without those that are left out. A link has the lower rate of its ends;
 * where the file does not say it, what the scenario says.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/sort.h"
#include "subnet/read.h"
#include "topo/topo_priv.h"

struct import {
	const struct wf_topo_cfg *cfg;
	struct wf_subnet *subnet;
	struct wf_mem *mem;
	const char *name;
	struct wf_err *err;
	struct wf_wires wires;
	uint8_t *keeps;    /* by the subnet's port: its link is in */
	uint32_t *node_of; /* by the subnet's port (adapters'), or port 0 (switches'): node id */
	uint32_t *place;   /* by the subnet's port: which of its node's ports here */
	uint32_t *queue;
	uint32_t hosts, switches, links;
};

static const char *const inside[] = { "Mellanox Technologies Aggregation Node" };

static bool is_inside(const struct wf_subnet_node *node)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(inside); i++) {
		if (strcmp(node->desc, inside[i]) == 0)
			return true;
	}
	return false;
}

static bool is_up(const struct wf_subnet_port *port)
{
	return port->state != WF_SUBNET_DOWN;
}

static bool may_link(const struct import *im, const struct wf_subnet_port *port)
{
	const struct wf_subnet_port *peer = wf_subnet_peer(im->subnet, port);
	const struct wf_subnet_node *a = &im->subnet->nodes[port->node], *b;

	if (peer == NULL || peer->node == port->node || !is_up(port) || !is_up(peer))
		return false;
	b = &im->subnet->nodes[peer->node];
	if (a->kind == WF_SUBNET_ROUTER || b->kind == WF_SUBNET_ROUTER)
		return false;
	if (a->kind == WF_SUBNET_ADAPTER && (b->kind == WF_SUBNET_ADAPTER || is_inside(a)))
		return false;
	return b->kind != WF_SUBNET_ADAPTER || !is_inside(b);
}

/* Keeps the links that adapters can reach. */
static void choose_links(struct import *im)
{
	const struct wf_subnet *subnet = im->subnet;
	uint32_t head = 0, tail = 0;

	/* node_of of a switch's port 0 says meanwhile that it has been reached. */
	memset(im->node_of, 0xff, (size_t)subnet->n_ports * sizeof(*im->node_of));
	for (uint32_t i = 0; i < subnet->n_ports; i++) {
		const struct wf_subnet_port *port = &subnet->ports[i];
		uint32_t zero;

		if (subnet->nodes[port->node].kind != WF_SUBNET_ADAPTER || !may_link(im, port))
			continue;
		zero = subnet->nodes[port->peer].first_port;
		if (im->node_of[zero] == WF_SUBNET_NONE)
			im->queue[tail++] = port->peer;
		im->node_of[zero] = 0;
	}
	while (head < tail) {
		const struct wf_subnet_node *node = &subnet->nodes[im->queue[head++]];

		for (uint32_t i = node->first_port + 1; i <= node->first_port + node->n_ports;
		     i++) {
			const struct wf_subnet_port *port = &subnet->ports[i];
			uint32_t zero;

			if (!may_link(im, port))
				continue;
			im->keeps[i] = 1;
			im->keeps[wf_subnet_peer(subnet, port) - subnet->ports] = 1;
			zero = subnet->nodes[port->peer].first_port;
			if (subnet->nodes[port->peer].kind != WF_SUBNET_SWITCH ||
			    im->node_of[zero] != WF_SUBNET_NONE)
				continue;
			im->node_of[zero] = 0;
			im->queue[tail++] = port->peer;
		}
	}
	im->switches = tail;
}

/* Counts hosts and links, and numbers the ports that are kept. */
static int count(struct import *im)
{
	const struct wf_subnet *subnet = im->subnet;
	uint32_t ends = 0;

	for (uint32_t id = 0; id < subnet->n_nodes; id++) {
		const struct wf_subnet_node *node = &subnet->nodes[id];
		uint32_t n = 0;

		for (uint32_t i = node->first_port + 1; i <= node->first_port + node->n_ports;
		     i++) {
			if (im->keeps[i])
				im->place[i] = n++;
		}
		ends += n;
		if (node->kind != WF_SUBNET_ADAPTER || n == 0)
			continue;
		if (im->cfg->ports > 1 && n != im->cfg->ports)
			return wf_err_at(im->err, im->name, node->line, 0,
			                 "'%s' has %" PRIu32
			                 " connected port%s, and topology.ports "
			                 "is %" PRIu32 "; with 1 each port is a host",
			                 node->desc, n, n == 1 ? "" : "s", im->cfg->ports);
		im->hosts += im->cfg->ports > 1 ? 1 : n;
	}
	im->links = ends / 2;
	return im->hosts != 0 ? 0
	                      : wf_err_at(im->err, im->name, 0, 0,
	                                  "no adapter in it is connected to a switch");
}

/* ---- servers ---- */

/* An adapter, and whose it is. */
struct adapter {
	uint32_t id;
	uint32_t server; /* by the first adapter that its first word has */
};

/* Bytes of the word with which a description begins. */
static size_t first_word(const char *desc)
{
	return strcspn(desc, " ");
}

static int by_word(const void *a, const void *b, const void *arg)
{
	const struct wf_subnet *subnet = arg;
	const char *x = subnet->nodes[((const struct adapter *)a)->id].desc;
	const char *y = subnet->nodes[((const struct adapter *)b)->id].desc;
	size_t m = first_word(x), n = first_word(y);
	int ret = memcmp(x, y, m < n ? m : n);

	return ret != 0 ? ret : (m > n) - (m < n);
}

/* Servers in the order of the file; "mlx5_2" before "mlx5_10". */
static int by_server(const void *a, const void *b, const void *arg)
{
	const struct wf_subnet *subnet = arg;
	const struct adapter *x = a, *y = b;
	const char *m = subnet->nodes[x->id].desc, *n = subnet->nodes[y->id].desc;

	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	if (strlen(m) != strlen(n))
		return strlen(m) < strlen(n) ? -1 : 1;
	return strcmp(m, n);
}

/* Puts adapters in the order in which they are to be hosts. */
static void order_adapters(const struct import *im, struct adapter *list, struct adapter *room,
                           uint32_t n)
{
	wf_sort(list, room, n, sizeof(*list), by_word, im->subnet);
	for (uint32_t i = 0; i < n; i++) {
		bool same = i > 0 && by_word(&list[i - 1], &list[i], im->subnet) == 0;

		/* The sort keeps the file's order among equal ones. */
		list[i].server = same ? list[i - 1].server : list[i].id;
	}
	wf_sort(list, room, n, sizeof(*list), by_server, im->subnet);
}

static int add_hosts(struct import *im, struct wf_graph *graph)
{
	const struct wf_subnet *subnet = im->subnet;
	size_t size = (size_t)subnet->n_nodes + 1;
	struct adapter *list = im->mem->alloc(im->mem, size * sizeof(*list));
	struct adapter *room = im->mem->alloc(im->mem, size * sizeof(*room));
	uint32_t n = 0, server = 0;
	int ret = list == NULL || room == NULL ? -ENOMEM : 0;

	for (uint32_t id = 0; ret == 0 && id < subnet->n_nodes; id++) {
		if (subnet->nodes[id].kind == WF_SUBNET_ADAPTER)
			list[n++].id = id;
	}
	if (ret == 0)
		order_adapters(im, list, room, n);
	for (uint32_t k = 0, before = WF_SUBNET_NONE; ret == 0 && k < n; k++) {
		const struct wf_subnet_node *node = &subnet->nodes[list[k].id];
		uint32_t host = WF_TOPO_NONE;

		for (uint32_t i = node->first_port + 1; i <= node->first_port + node->n_ports;
		     i++) {
			if (!im->keeps[i])
				continue;
			server += before != WF_SUBNET_NONE && before != list[k].server;
			before = list[k].server;
			if (host == WF_TOPO_NONE || im->cfg->ports == 1) {
				host = wf_graph_add_host(graph, server, 0);
				im->place[i] = 0;
			}
			im->node_of[i] = host;
		}
	}
	im->mem->free(im->mem, room);
	im->mem->free(im->mem, list);
	return ret;
}

/* ---- switches and links ---- */

/*
 * The name that a description has for a switch: "MF0;leaf7:MQM9700/U1", as managed ones say, is
 * leaf7. Empty: it can be no name here. Names like h12 and sw3 are those of nodes without one.
 */
static void take_name(const struct wf_graph *graph, const char *desc, char name[WF_TOPO_NAME])
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-";
	static const char managed[] = "MF0;";
	size_t n, made;

	name[0] = '\0';
	if (strncmp(desc, managed, sizeof(managed) - 1) == 0)
		desc += sizeof(managed) - 1;
	n = strspn(desc, allowed);
	if (n == 0 || n >= WF_TOPO_NAME || (desc[n] != '\0' && desc[n] != ':'))
		return;
	made = desc[0] == 'h' ? 1 : strncmp(desc, "sw", 2) == 0 ? 2 : 0;
	if (made != 0 && strspn(desc + made, "0123456789") == n - made)
		return;
	memcpy(name, desc, n);
	name[n] = '\0';
	if (wf_topo_node_by_name(graph->topo, name) != WF_TOPO_NONE)
		name[0] = '\0';
}

static void add_switches(struct import *im, struct wf_graph *graph)
{
	const struct wf_subnet *subnet = im->subnet;
	uint32_t n = 0;

	for (uint32_t id = 0; id < subnet->n_nodes; id++) {
		const struct wf_subnet_node *node = &subnet->nodes[id];
		char name[WF_TOPO_NAME];
		uint32_t at;

		if (node->kind != WF_SUBNET_SWITCH ||
		    im->node_of[node->first_port] == WF_SUBNET_NONE)
			continue;
		take_name(graph, node->desc, name);
		at = wf_graph_add_switch(graph, 1, 0, "sw", n++, NULL, 0);
		if (name[0] != '\0')
			memcpy(graph->topo->nodes[at].name, name, sizeof(name));
		im->node_of[node->first_port] = at;
	}
	assert(n == im->switches);
}

static uint32_t node_at(const struct import *im, const struct wf_subnet_port *port)
{
	const struct wf_subnet_node *node = &im->subnet->nodes[port->node];

	return im->node_of[node->kind == WF_SUBNET_SWITCH ? node->first_port
	                                                  : (uint32_t)(port - im->subnet->ports)];
}

static void add_links(struct import *im, struct wf_graph *graph)
{
	const struct wf_subnet *subnet = im->subnet;

	for (uint32_t i = 0; i < subnet->n_ports; i++) {
		const struct wf_subnet_port *port = &subnet->ports[i];
		const struct wf_subnet_port *peer = wf_subnet_peer(subnet, port);
		bool host;
		struct wf_wire wire;
		struct wf_topo_link *link;
		uint64_t a, b;

		if (!im->keeps[i] || peer < port)
			continue;
		host = subnet->nodes[port->node].kind == WF_SUBNET_ADAPTER ||
		       subnet->nodes[peer->node].kind == WF_SUBNET_ADAPTER;
		wire = host ? im->wires.host : im->wires.fabric;
		wire.line = port->line != 0 ? port->line : peer->line;
		a = wf_subnet_rate(port->width, port->speed);
		b = wf_subnet_rate(peer->width, peer->speed);
		if (a != 0 || b != 0)
			wire.rate = a == 0 ? b : b == 0 ? a : wf_min_u64(a, b);
		wf_graph_add_link(graph, node_at(im, port), node_at(im, peer), &wire);
		/* Ports keep their order, which is not that of links. */
		link = &graph->topo->links[graph->topo->n_links - 1];
		link->a_port = (uint16_t)im->place[i];
		link->b_port = (uint16_t)im->place[peer - subnet->ports];
	}
}

static int build(struct import *im, struct wf_topo **topo_p)
{
	struct wf_graph graph;
	int ret;

	choose_links(im);
	ret = count(im);
	if (ret == 0)
		ret = wf_graph_init(&graph, (uint64_t)im->hosts + im->switches, im->links, im->name,
		                    im->mem, im->err);
	if (ret != 0)
		return ret;
	graph.topo->host_ports = im->cfg->ports;
	ret = add_hosts(im, &graph);
	if (ret == 0) {
		add_switches(im, &graph);
		add_links(im, &graph);
		wf_graph_lay_out(&graph);
		ret = wf_locality_derive(graph.topo);
	}
	if (ret != 0) {
		wf_graph_abort(&graph);
		return ret;
	}
	return wf_graph_finish(&graph, im->name, topo_p, im->err);
}

static int ibnetdiscover_build(const struct wf_topo_cfg *cfg, const char *bytes, size_t len,
                               const char *name, struct wf_mem *mem, struct wf_topo **topo_p,
                               struct wf_err *err)
{
	struct import im = { .cfg = cfg, .mem = mem, .name = name, .err = err };
	size_t n;
	int ret = wf_subnet_read(bytes, len, name, NULL, mem, &im.subnet, err);

	if (ret != 0)
		return ret;
	wf_wires_init(&im.wires, cfg);
	n = (size_t)im.subnet->n_ports + 1;
	im.keeps = mem->alloc(mem, n);
	im.node_of = mem->alloc(mem, n * sizeof(*im.node_of));
	im.place = mem->alloc(mem, n * sizeof(*im.place));
	im.queue = mem->alloc(mem, ((size_t)im.subnet->n_nodes + 1) * sizeof(*im.queue));
	if (im.keeps == NULL || im.node_of == NULL || im.place == NULL || im.queue == NULL)
		ret = -ENOMEM;
	else
		ret = build(&im, topo_p);
	mem->free(mem, im.queue);
	mem->free(mem, im.place);
	mem->free(mem, im.node_of);
	mem->free(mem, im.keeps);
	wf_subnet_destroy(im.subnet);
	return ret;
}

const struct wf_topo_ops wf_topo_ibnetdiscover = {
	.name = "ibnetdiscover",
	.help = "reads a file of an InfiniBand subnet: ibnetdiscover's, ibsim's, ibdiagnet2.db_csv",
	.build = ibnetdiscover_build,
	.reads_file = true,
};
