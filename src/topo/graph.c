/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - a topology under construction: nodes, then links, then the ports that follow. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "topo/topo_priv.h"

static wf_time cable_delay(uint64_t length_mm, uint64_t ps_per_m)
{
	return (wf_time)(length_mm * ps_per_m / 1000);
}

void wf_wires_init(struct wf_wires *wires, const struct wf_topo_cfg *cfg)
{
	uint64_t fabric = cfg->fabric_rate == WF_PARAM_AUTO ? cfg->host_rate : cfg->fabric_rate;

	memset(wires, 0, sizeof(*wires));
	wires->host.rate = cfg->host_rate;
	wires->host.delay = cable_delay(cfg->host_cable, cfg->cable_delay);
	wires->fabric.rate = fabric;
	wires->fabric.delay = cable_delay(cfg->fabric_cable, cfg->cable_delay);
	wires->core.rate = fabric;
	wires->core.delay = cable_delay(cfg->core_cable, cfg->cable_delay);
}

/* Appends word to the text that ends at buf[at]; returns the new end. */
static size_t put_word(char *buf, size_t at, const char *word)
{
	while (*word != '\0' && at + 1 < WF_TOPO_NAME)
		buf[at++] = *word++;
	buf[at] = '\0';
	return at;
}

static size_t put_number(char *buf, size_t at, uint32_t n)
{
	char digits[11];
	size_t first = sizeof(digits) - 1;

	digits[first] = '\0';
	do {
		digits[--first] = (char)('0' + n % 10);
		n /= 10;
	} while (n != 0);
	return put_word(buf, at, digits + first);
}

int wf_graph_init(struct wf_graph *graph, uint64_t nodes, uint64_t links, const char *name,
                  struct wf_mem *mem, struct wf_err *err)
{
	struct wf_topo *topo;

	if (nodes > WF_TOPO_MAX_NODES)
		return wf_err_at(err, name, 0, 0,
		                 "this would be %" PRIu64 " nodes; at most %" PRIu32 " are allowed",
		                 nodes, WF_TOPO_MAX_NODES);
	if (links > WF_TOPO_MAX_LINKS)
		return wf_err_at(err, name, 0, 0,
		                 "this would be %" PRIu64 " links; at most %" PRIu32 " are allowed",
		                 links, WF_TOPO_MAX_LINKS);
	assert(nodes > 0 && links > 0);

	topo = mem->alloc(mem, sizeof(*topo));
	if (topo == NULL)
		return -ENOMEM;
	topo->mem = mem;
	topo->host_ports = 1;
	topo->nodes = mem->alloc(mem, nodes * sizeof(*topo->nodes));
	topo->links = mem->alloc(mem, links * sizeof(*topo->links));
	topo->ports = mem->alloc(mem, 2 * links * sizeof(*topo->ports));
	topo->host_node = mem->alloc(mem, nodes * sizeof(*topo->host_node));
	if (topo->nodes == NULL || topo->links == NULL || topo->ports == NULL ||
	    topo->host_node == NULL) {
		wf_topo_destroy(topo);
		return -ENOMEM;
	}

	graph->topo = topo;
	graph->max_nodes = (uint32_t)nodes;
	graph->max_links = (uint32_t)links;
	return 0;
}

static uint32_t add_node(struct wf_graph *graph, enum wf_topo_kind kind, uint8_t tier,
                         uint32_t group)
{
	struct wf_topo *topo = graph->topo;
	uint32_t id = topo->n_nodes++;
	struct wf_topo_node *node = &topo->nodes[id];

	assert(id < graph->max_nodes && topo->n_links == 0);
	node->kind = kind;
	node->tier = tier;
	node->group = group;
	node->server = WF_TOPO_NONE;
	node->host = WF_TOPO_NONE;
	return id;
}

uint32_t wf_graph_add_host(struct wf_graph *graph, uint32_t server, uint32_t group)
{
	struct wf_topo *topo = graph->topo;
	uint32_t id = add_node(graph, WF_TOPO_HOST, 0, group);
	struct wf_topo_node *node = &topo->nodes[id];

	node->server = server;
	node->host = topo->n_hosts;
	topo->host_node[topo->n_hosts++] = id;
	put_number(node->name, put_word(node->name, 0, "h"), id);
	return id;
}

uint32_t wf_graph_add_switch(struct wf_graph *graph, uint8_t tier, uint32_t group, const char *word,
                             uint32_t i, const char *word2, uint32_t j)
{
	uint32_t id = add_node(graph, WF_TOPO_SWITCH, tier, group);
	char *name = graph->topo->nodes[id].name;
	size_t at = put_number(name, put_word(name, 0, word), i);

	if (word2 != NULL)
		put_number(name, put_word(name, at, word2), j);
	return id;
}

void wf_graph_name_before(struct wf_graph *graph, uint32_t id, const char *word, uint32_t i)
{
	char *name = graph->topo->nodes[id].name;
	char old[WF_TOPO_NAME];
	size_t at;

	memcpy(old, name, sizeof(old));
	at = put_number(name, put_word(name, 0, word), i);
	put_word(name, put_word(name, at, "-"), old);
}

void wf_graph_name_behind(struct wf_graph *graph, uint32_t id, const char *word, uint32_t i)
{
	char *name = graph->topo->nodes[id].name;

	put_number(name, put_word(name, put_word(name, strlen(name), "-"), word), i);
}

void wf_graph_add_link(struct wf_graph *graph, uint32_t a, uint32_t b, const struct wf_wire *wire)
{
	struct wf_topo *topo = graph->topo;
	struct wf_topo_link *link = &topo->links[topo->n_links++];

	assert(topo->n_links <= graph->max_links);
	assert(a < topo->n_nodes && b < topo->n_nodes && a != b);
	assert(topo->nodes[a].n_ports < WF_TOPO_MAX_PORTS);
	assert(topo->nodes[b].n_ports < WF_TOPO_MAX_PORTS);
	link->a = a;
	link->b = b;
	link->a_port = (uint16_t)topo->nodes[a].n_ports++;
	link->b_port = (uint16_t)topo->nodes[b].n_ports++;
	link->rate = wire->rate;
	link->delay = wire->delay;
	link->loss = wire->loss;
	link->line = wire->line;
}

void wf_graph_lay_out(struct wf_graph *graph)
{
	struct wf_topo *topo = graph->topo;
	uint32_t first = 0;

	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		topo->nodes[i].first_port = first;
		first += topo->nodes[i].n_ports;
	}
	assert(first == 2 * topo->n_links);
	topo->n_ports = first;

	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct wf_topo_link *link = &topo->links[i];
		struct wf_topo_port *a =
			&topo->ports[topo->nodes[link->a].first_port + link->a_port];
		struct wf_topo_port *b =
			&topo->ports[topo->nodes[link->b].first_port + link->b_port];

		a->peer = link->b;
		a->peer_port = link->b_port;
		a->link = i;
		b->peer = link->a;
		b->peer_port = link->a_port;
		b->link = i;
	}
}

int wf_graph_finish(struct wf_graph *graph, const char *name, struct wf_topo **topo_p,
                    struct wf_err *err)
{
	int ret;

	wf_graph_lay_out(graph);
	ret = wf_topo_check(graph->topo, name, err);
	if (ret != 0) {
		wf_graph_abort(graph);
		return ret;
	}
	assert(graph->topo->n_nodes == graph->max_nodes &&
	       graph->topo->n_links == graph->max_links);
	*topo_p = graph->topo;
	graph->topo = NULL;
	return 0;
}

void wf_graph_abort(struct wf_graph *graph)
{
	wf_topo_destroy(graph->topo);
	graph->topo = NULL;
}
