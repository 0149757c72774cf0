/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcc.c - reads the topology files of the HPCC simulator (ns-3), which others use too:
 *
 *	nodes switches links
 *	the ids of the switches; all other ids are hosts
 *	a b rate delay error_rate	for each link
 *
 * Node ids are those of the file. The ports of a node are numbered in the order of its links, from
 * 0 (in that simulator from 1).
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "base/rate.h"
#include "base/text.h"
#include "topo/topo_priv.h"

#define MIN_LINK_LINE 10 /* bytes: "0 1 1G 0 0" without its newline */

struct hpcc {
	struct wf_text text;
	uint64_t nodes, switches, links;
};

static int read_number(struct wf_text *text, const char *what, uint64_t min, uint64_t max,
                       uint64_t *value_p)
{
	struct wf_word word;
	int ret = wf_text_expect(text, what, &word);

	return ret != 0 ? ret : wf_text_number(text, &word, what, min, max, value_p);
}

static int read_header(struct hpcc *hpcc)
{
	struct wf_text *text = &hpcc->text;
	unsigned line;
	int ret;

	if (!wf_text_seek(text))
		return wf_err_at(
			text->err, text->name, text->line, 0,
			"the file is empty; its first line has the numbers of nodes, switches "
			"and links");
	line = text->line;
	ret = read_number(text, "the number of nodes", 2, WF_TOPO_MAX_NODES, &hpcc->nodes);
	if (ret == 0)
		ret = read_number(text, "the number of switches", 1, hpcc->nodes - 1,
		                  &hpcc->switches);
	if (ret == 0)
		ret = read_number(text, "the number of links", 1, WF_TOPO_MAX_LINKS, &hpcc->links);
	if (ret == 0)
		ret = wf_text_end_line(text, "the numbers of nodes, switches and links");
	if (ret != 0)
		return ret;

	/* Nothing is allocated for more than the file can hold. */
	if (hpcc->links > (uint64_t)(text->end - text->at) / MIN_LINK_LINE)
		return wf_err_at(text->err, text->name, line, 0,
		                 "%" PRIu64
		                 " links are announced, but the file is too short for them; "
		                 "is it complete?",
		                 hpcc->links);
	if (hpcc->nodes > hpcc->links + 1)
		return wf_err_at(text->err, text->name, line, 0,
		                 "%" PRIu64 " links cannot join %" PRIu64 " nodes; %" PRIu64
		                 " at least are needed",
		                 hpcc->links, hpcc->nodes, hpcc->nodes - 1);
	return 0;
}

/* Reads the ids of the switches, on one line or several, into is_switch[node id]. */
static int read_switches(struct hpcc *hpcc, uint8_t *is_switch)
{
	struct wf_text *text = &hpcc->text;

	for (uint64_t i = 0; i < hpcc->switches; i++) {
		struct wf_word word;
		uint64_t id;
		int ret;

		if (!wf_text_seek(text))
			return wf_err_at(text->err, text->name, text->line, 0,
			                 "the file ends after %" PRIu64 " of %" PRIu64
			                 " switch ids; is it complete?",
			                 i, hpcc->switches);
		ret = wf_text_expect(text, "a switch id", &word);
		if (ret == 0)
			ret = wf_text_number(text, &word, "a switch id", 0, hpcc->nodes - 1, &id);
		if (ret != 0)
			return ret;
		if (is_switch[id] != 0)
			return wf_err_at(text->err, text->name, word.line, word.column,
			                 "switch id %" PRIu64 " is there twice; each comes once",
			                 id);
		is_switch[id] = 1;
	}
	return wf_text_end_line(text,
	                        "the ids of the switches; links follow on lines of their own");
}

static void add_nodes(const struct hpcc *hpcc, struct wf_graph *graph, const uint8_t *is_switch)
{
	for (uint32_t i = 0; i < hpcc->nodes; i++) {
		if (is_switch[i] != 0)
			wf_graph_add_switch(graph, 1, 0, "sw", i, NULL, 0);
		else
			wf_graph_add_host(graph, graph->topo->n_hosts, 0);
	}
}

/* One end of a link: a node that has a port left. */
static int read_end(struct hpcc *hpcc, const struct wf_graph *graph, const char *what,
                    uint32_t *id_p)
{
	struct wf_text *text = &hpcc->text;
	const struct wf_topo_node *node;
	struct wf_word word;
	uint64_t id;
	int ret;

	ret = wf_text_expect(text, what, &word);
	if (ret == 0)
		ret = wf_text_number(text, &word, what, 0, hpcc->nodes - 1, &id);
	if (ret != 0)
		return ret;
	node = &graph->topo->nodes[id];
	if (node->kind == WF_TOPO_HOST && node->n_ports == 1)
		return wf_err_at(text->err, text->name, word.line, word.column,
		                 "host %s has a second link; a host has one", node->name);
	if (node->n_ports == WF_TOPO_MAX_PORTS)
		return wf_err_at(text->err, text->name, word.line, word.column,
		                 "%s has more than %d links; that many are allowed", node->name,
		                 WF_TOPO_MAX_PORTS);
	*id_p = (uint32_t)id;
	return 0;
}

static int read_wire(struct wf_text *text, struct wf_wire *wire)
{
	struct wf_word word;
	uint64_t delay;
	int ret;

	ret = wf_text_expect(text, "the rate", &word);
	if (ret == 0)
		ret = wf_text_value(text, &word, "the rate", WF_PARAM_RATE, WF_RATE_MIN,
		                    WF_RATE_MAX, &wire->rate);
	if (ret == 0)
		ret = wf_text_expect(text, "the delay", &word);
	if (ret == 0)
		ret = wf_text_value(text, &word, "the delay", WF_PARAM_TIME, 0, WF_S, &delay);
	if (ret == 0)
		ret = wf_text_expect(text, "the error rate", &word);
	if (ret == 0)
		ret = wf_text_value(text, &word, "the error rate", WF_PARAM_PROB, 0, WF_PROB_ONE,
		                    &wire->loss);
	if (ret != 0)
		return ret;
	wire->delay = (wf_time)delay;
	wire->line = word.line;
	return wf_text_end_line(text, "two nodes, rate, delay and error rate");
}

static int read_links(struct hpcc *hpcc, struct wf_graph *graph)
{
	struct wf_text *text = &hpcc->text;
	struct wf_wire wire;
	uint32_t a = 0, b = 0;
	int ret;

	for (uint64_t i = 0; i < hpcc->links; i++) {
		if (!wf_text_seek(text))
			return wf_err_at(text->err, text->name, text->line, 0,
			                 "the file ends after %" PRIu64 " of %" PRIu64
			                 " links; is it complete?",
			                 i, hpcc->links);
		ret = read_end(hpcc, graph, "the first node", &a);
		if (ret == 0)
			ret = read_end(hpcc, graph, "the second node", &b);
		if (ret == 0)
			ret = read_wire(text, &wire);
		if (ret != 0)
			return ret;
		if (a == b)
			return wf_err_at(text->err, text->name, wire.line, 0,
			                 "the link connects node %" PRIu32
			                 " with itself; connect two nodes",
			                 a);
		wf_graph_add_link(graph, a, b, &wire);
	}
	if (wf_text_seek(text))
		return wf_err_at(text->err, text->name, text->line, 0,
		                 "there is more than the %" PRIu64
		                 " links that the first line announces; "
		                 "correct it or leave the rest out",
		                 hpcc->links);
	return 0;
}

static int hpcc_build(const struct wf_topo_cfg *cfg, const char *bytes, size_t len,
                      const char *name, struct wf_mem *mem, struct wf_topo **topo_p,
                      struct wf_err *err)
{
	struct hpcc hpcc;
	struct wf_homed homed;
	struct wf_graph graph;
	uint8_t *is_switch;
	int ret = wf_homed_init(&homed, cfg, "hpcc", 0, err);

	if (ret != 0)
		return ret;
	wf_text_init(&hpcc.text, bytes, len, name, err);
	ret = read_header(&hpcc);
	if (ret != 0)
		return ret;
	is_switch = mem->alloc(mem, hpcc.nodes);
	if (is_switch == NULL)
		return -ENOMEM;
	ret = read_switches(&hpcc, is_switch);
	if (ret != 0)
		goto free_flags;
	ret = wf_graph_init(&graph, hpcc.nodes, hpcc.links, name, mem, err);
	if (ret != 0)
		goto free_flags;

	add_nodes(&hpcc, &graph, is_switch);
	mem->free(mem, is_switch);
	ret = read_links(&hpcc, &graph);
	if (ret == 0) {
		wf_graph_lay_out(&graph);
		ret = wf_locality_derive(graph.topo);
	}
	if (ret != 0) {
		wf_graph_abort(&graph);
		return ret;
	}
	return wf_graph_finish(&graph, name, topo_p, err);

free_flags:
	mem->free(mem, is_switch);
	return ret;
}

const struct wf_topo_ops wf_topo_hpcc = {
	.name = "hpcc",
	.help = "reads the topology file of the HPCC simulator (ns-3)",
	.build = hpcc_build,
	.reads_file = true,
};
