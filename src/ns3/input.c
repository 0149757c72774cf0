/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c - the flow and path files of the HPCC simulator.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/text.h"
#include "ns3/config.h"

#define FIRST_SPORT 10000
#define MAX_SIZE UINT32_C(4000000000) /* sequence numbers have 32 bits */
#define MAX_PG 7
#define MIN_FLOW_LINE 12 /* bytes: "0 1 3 1 1 2" and a newline */

/*
 * A time in seconds as ns, as that simulator has it: the nearest binary fraction, of which what is
 * less than a ns is cut off. "2.002" is 2001999999 ns.
 */
static bool read_seconds(const struct wf_word *word, uint64_t *ns)
{
	char text[64], *end;
	double s, whole;
	uint64_t part;

	if (word->len >= sizeof(text))
		return false;
	memcpy(text, word->at, word->len);
	text[word->len] = '\0';
	s = strtod(text, &end);
	if (*end != '\0' || end == text || !(s >= 0 && s < 1e6))
		return false;
	whole = (double)(uint64_t)s;
	part = (uint64_t)((s - whole) * 18446744073709551616.0);
	*ns = (uint64_t)whole * 1000000000 +
	      (uint64_t)(((unsigned __int128)part * 1000000000) >> 64);
	return true;
}

static int read_number(struct wf_text *text, const char *what, uint64_t min, uint64_t max,
                       uint32_t *value_p)
{
	struct wf_word word;
	uint64_t value;
	int ret = wf_text_expect(text, what, &word);

	if (ret == 0)
		ret = wf_text_number(text, &word, what, min, max, &value);
	if (ret == 0)
		*value_p = (uint32_t)value;
	return ret;
}

static int read_host(struct wf_text *text, const struct wf_ns3_input *in, const char *what,
                     uint32_t *id_p)
{
	const struct wf_topo *topo = in->topo;
	uint32_t n = topo != NULL ? topo->n_nodes : in->max_nodes;
	int ret = read_number(text, what, 0, n - 1, id_p);

	if (ret == 0 && topo != NULL && topo->nodes[*id_p].kind != WF_TOPO_HOST)
		return wf_err_at(text->err, text->name, text->line, 0,
		                 "%s is node %" PRIu32 ", a switch; name a host", what, *id_p);
	return ret;
}

static int read_flow(struct wf_text *text, const struct wf_ns3_input *in, struct wf_ns3_line *l)
{
	struct wf_word word;
	int ret = read_host(text, in, "the source", &l->src);

	if (ret == 0)
		ret = read_host(text, in, "the destination", &l->dst);
	if (ret == 0)
		ret = read_number(text, "the priority", 1, MAX_PG, &l->pg);
	if (ret == 0)
		ret = read_number(text, "the destination port", 0, UINT16_MAX, &l->dport);
	if (ret == 0)
		ret = read_number(text, "the size", 1, MAX_SIZE, &l->size);
	if (ret == 0)
		ret = wf_text_expect(text, "the start", &word);
	if (ret != 0)
		return ret;
	if (!read_seconds(&word, &l->start_ns))
		return wf_err_at(text->err, text->name, word.line, word.column,
		                 "the start is not a time in seconds; write e.g. 2.000001");
	if (l->src == l->dst)
		return wf_err_at(text->err, text->name, word.line, 0,
		                 "the flow goes from node %" PRIu32 " to itself; name two hosts",
		                 l->src);
	return wf_text_end_line(text, "source, destination, priority, port, size and start");
}

/* Orders pointers to lines by pair, then by their port: a wf_compare_fn. */
static int by_pair(const void *a, const void *b, const void *arg)
{
	const struct wf_ns3_line *x = *(const struct wf_ns3_line *const *)a;
	const struct wf_ns3_line *y = *(const struct wf_ns3_line *const *)b;

	(void)arg;
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	return x->sport < y->sport ? -1 : x->sport > y->sport;
}

/* The lines by pair of hosts, in the order of the file: the caller's to free. */
static struct wf_ns3_line **index_lines(const struct wf_ns3_input *in)
{
	struct wf_mem *mem = wf_mem_heap();
	size_t n = in->n_lines + (size_t)1;
	struct wf_ns3_line **index = mem->alloc(mem, n * sizeof(struct wf_ns3_line *));
	struct wf_ns3_line **room = mem->alloc(mem, n * sizeof(struct wf_ns3_line *));

	if (index != NULL && room != NULL) {
		for (uint32_t i = 0; i < in->n_lines; i++)
			index[i] = &in->lines[i];
		wf_sort(index, room, in->n_lines, sizeof(struct wf_ns3_line *), by_pair, NULL);
	} else {
		mem->free(mem, index);
		index = NULL;
	}
	mem->free(mem, room);
	return index;
}

/* The flows of a pair of hosts have ports from 10000 on. */
static int number_ports(struct wf_ns3_input *in)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_ns3_line **index = index_lines(in);
	uint32_t next = FIRST_SPORT;

	if (index == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->n_lines; i++) {
		bool same = i > 0 && index[i]->src == index[i - 1]->src &&
		            index[i]->dst == index[i - 1]->dst;

		next = same ? next + 1 : FIRST_SPORT;
		assert(i == 0 || index[i]->src >= index[i - 1]->src);
		index[i]->sport = next & UINT16_MAX;
	}
	mem->free(mem, index);
	return 0;
}

int wf_ns3_flows_parse(struct wf_ns3_input *in, const char *bytes, size_t len, const char *name,
                       struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_text text;
	uint32_t n = 0;
	int ret;

	assert(in->lines == NULL && (in->topo != NULL || in->max_nodes > 0));
	wf_text_init(&text, bytes, len, name, err);
	if (!wf_text_seek(&text))
		return wf_err_at(err, name, 0, 0,
		                 "the file is empty; its first line has the number of flows");
	ret = read_number(&text, "the number of flows", 0, len / MIN_FLOW_LINE + 1, &n);
	if (ret == 0)
		ret = wf_text_end_line(&text, "the number of flows");
	if (ret != 0)
		return ret;
	in->lines = mem->alloc(mem, (n + (size_t)1) * sizeof(*in->lines));
	if (in->lines == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		if (!wf_text_seek(&text))
			return wf_err_at(err, name, text.line, 0,
			                 "the file ends after %" PRIu32 " of %" PRIu32 " flows", i,
			                 n);
		ret = read_flow(&text, in, &in->lines[i]);
		if (ret != 0)
			return ret;
		if (i > 0 && in->lines[i].start_ns < in->lines[i - 1].start_ns)
			return wf_err_at(
				err, name, text.line, 0,
				"the flow starts before the one above; sort them by start");
	}
	in->n_lines = n;
	return number_ports(in);
}

/* ---- paths ---- */

/* Of several links between two nodes that simulator uses the last one only. */
static uint32_t port_to(const struct wf_topo *topo, uint32_t node, uint32_t peer)
{
	const struct wf_topo_node *n = &topo->nodes[node];

	for (uint32_t p = n->n_ports; p-- > 0;) {
		if (topo->ports[n->first_port + p].peer == peer)
			return p;
	}
	return WF_TOPO_NONE;
}

/* "0-16-17-1": node ids from from to to. */
static int read_path(struct wf_text *text, const struct wf_topo *topo, uint32_t from, uint32_t to,
                     struct wf_ns3_path *path)
{
	struct wf_word word;
	uint32_t last = WF_TOPO_NONE, hops = 0;
	const char *p;
	int ret = wf_text_expect(text, "the path", &word);

	if (ret != 0)
		return ret;
	for (unsigned i = 0; i < WF_NS3_HOPS; i++)
		path->hop[i].node = WF_TOPO_NONE;
	for (p = word.at; p < word.at + word.len; p++) {
		uint64_t id = 0;

		for (; p < word.at + word.len && *p >= '0' && *p <= '9' && id < topo->n_nodes; p++)
			id = id * 10 + (uint64_t)(*p - '0');
		if ((p < word.at + word.len && *p != '-') || id >= topo->n_nodes)
			goto bad;
		if (last == WF_TOPO_NONE ? id != from
		                         : port_to(topo, last, (uint32_t)id) == WF_TOPO_NONE)
			goto bad;
		if (last != WF_TOPO_NONE && topo->nodes[last].kind == WF_TOPO_SWITCH) {
			if (hops == WF_NS3_HOPS)
				goto bad;
			path->hop[hops].node = last;
			path->hop[hops++].port = port_to(topo, last, (uint32_t)id);
		}
		last = (uint32_t)id;
	}
	if (last == to)
		return 0;
bad:
	return wf_err_at(text->err, text->name, word.line, word.column,
	                 "\"%.*s\" is not a path from node %" PRIu32 " to node %" PRIu32
	                 " over at most %d switches of the topology",
	                 (int)(word.len < 80 ? word.len : 80), word.at, from, to, WF_NS3_HOPS);
}

static int read_paths(struct wf_ns3_input *in, struct wf_text *text, struct wf_ns3_line **index,
                      uint8_t *seen)
{
	while (wf_text_seek(text)) {
		struct wf_ns3_line key = { 0 }, *k = &key, **found;
		size_t flow;
		int ret = read_host(text, in, "the source", &key.src);

		if (ret == 0)
			ret = read_host(text, in, "the destination", &key.dst);
		if (ret == 0)
			ret = read_number(text, "the source port", 0, UINT16_MAX, &key.sport);
		if (ret == 0)
			ret = read_number(text, "the destination port", 0, UINT16_MAX, &key.dport);
		if (ret != 0)
			return ret;
		/* The key lies below all lines: the one found is the first that is not less. */
		found = NULL;
		for (size_t low = 0, high = in->n_lines; low < high;) {
			size_t mid = (low + high) / 2;
			int order = by_pair(&index[mid], &k, NULL);

			if (index[mid]->src == key.src && index[mid]->dst == key.dst &&
			    index[mid]->sport == key.sport) {
				found = &index[mid];
				break;
			}
			low = order < 0 ? mid + 1 : low;
			high = order < 0 ? high : mid;
		}
		if (found == NULL)
			return wf_err_at(text->err, text->name, text->line, 0,
			                 "there is no flow from %" PRIu32 " to %" PRIu32
			                 " with port %" PRIu32,
			                 key.src, key.dst, key.sport);
		flow = (size_t)(*found - in->lines);
		seen[flow] = 1;
		ret = read_path(text, in->topo, key.src, key.dst, &in->paths[2 * flow]);
		if (ret == 0)
			ret = read_path(text, in->topo, key.dst, key.src, &in->paths[2 * flow + 1]);
		if (ret == 0)
			ret = wf_text_end_line(text, "two nodes, two ports and two paths");
		if (ret != 0)
			return ret;
	}
	return 0;
}

int wf_ns3_paths_parse(struct wf_ns3_input *in, const char *bytes, size_t len, const char *name,
                       struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_ns3_line **index = index_lines(in);
	uint8_t *seen = mem->alloc(mem, in->n_lines + (size_t)1);
	struct wf_text text;
	int ret = -ENOMEM;

	assert(in->topo != NULL && in->lines != NULL && in->paths == NULL);
	in->paths = mem->alloc(mem, (2 * (size_t)in->n_lines + 1) * sizeof(*in->paths));
	if (index != NULL && seen != NULL && in->paths != NULL) {
		wf_text_init(&text, bytes, len, name, err);
		ret = read_paths(in, &text, index, seen);
	}
	for (uint32_t i = 0; ret == 0 && i < in->n_lines; i++) {
		if (!seen[i])
			ret = wf_err_at(err, name, 0, 0,
			                "the flow from %" PRIu32 " to %" PRIu32
			                " with port %" PRIu32 " has no path",
			                in->lines[i].src, in->lines[i].dst, in->lines[i].sport);
	}
	mem->free(mem, index);
	mem->free(mem, seen);
	return ret;
}

void wf_ns3_input_fini(struct wf_ns3_input *in)
{
	struct wf_mem *mem = wf_mem_heap();

	wf_topo_destroy(in->topo);
	mem->free(mem, in->lines);
	mem->free(mem, in->paths);
	memset(in, 0, sizeof(*in));
}
