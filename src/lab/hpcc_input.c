/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcc_input.c - the flow and path files of the HPCC simulator, and all its files together.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab/hpcc_config.h"
#include "base/text.h"
#include "job/trace.h"

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

/* topo NULL: any number may be a host's. */
static int read_host(struct wf_text *text, const struct wf_topo *topo, const char *what,
                     uint32_t *id_p)
{
	uint32_t n = topo != NULL ? topo->n_nodes : WF_TRACE_MAX_RANKS;
	int ret = read_number(text, what, 0, n - 1, id_p);

	if (ret == 0 && topo != NULL && topo->nodes[*id_p].kind != WF_TOPO_HOST)
		return wf_err_at(text->err, text->name, text->line, 0,
		                 "%s is node %" PRIu32 ", a switch; name a host", what, *id_p);
	return ret;
}

static int read_flow(struct wf_text *text, const struct wf_topo *topo, struct wf_hpcc_line *l)
{
	struct wf_word word;
	int ret = read_host(text, topo, "the source", &l->src);

	if (ret == 0)
		ret = read_host(text, topo, "the destination", &l->dst);
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

/* Orders pointers to lines by pair, then by their place in the file or their port. */
static int by_pair(const void *a, const void *b)
{
	const struct wf_hpcc_line *x = *(const struct wf_hpcc_line *const *)a;
	const struct wf_hpcc_line *y = *(const struct wf_hpcc_line *const *)b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	if (x->sport != y->sport)
		return x->sport < y->sport ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The lines by pair of hosts, in the order of the file: the caller's to free. */
static struct wf_hpcc_line **index_lines(const struct wf_hpcc_input *in)
{
	struct wf_hpcc_line **index = calloc(in->n_lines + (size_t)1, sizeof(*index));

	for (uint32_t i = 0; index != NULL && i < in->n_lines; i++)
		index[i] = &in->lines[i];
	if (index != NULL)
		qsort(index, in->n_lines, sizeof(*index), by_pair);
	return index;
}

/* The flows of a pair of hosts have ports from 10000 on. */
static int number_ports(struct wf_hpcc_input *in)
{
	struct wf_hpcc_line **index = index_lines(in);
	uint32_t next = FIRST_SPORT;

	if (index == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->n_lines; i++) {
		bool same = i > 0 && index[i]->src == index[i - 1]->src &&
		            index[i]->dst == index[i - 1]->dst;

		next = same ? next + 1 : FIRST_SPORT;
		index[i]->sport = next & UINT16_MAX;
	}
	free(index);
	return 0;
}

int wf_hpcc_flows_parse(struct wf_hpcc_input *in, const char *bytes, size_t len, const char *name,
                        struct wf_err *err)
{
	struct wf_text text;
	uint32_t n = 0;
	int ret;

	wf_text_init(&text, bytes, len, name, err);
	if (!wf_text_seek(&text))
		return wf_err_at(err, name, 0, 0,
		                 "the file is empty; its first line has the number of flows");
	ret = read_number(&text, "the number of flows", 0, len / MIN_FLOW_LINE + 1, &n);
	if (ret == 0)
		ret = wf_text_end_line(&text, "the number of flows");
	if (ret != 0)
		return ret;
	in->lines = calloc(n + (size_t)1, sizeof(*in->lines));
	if (in->lines == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		if (!wf_text_seek(&text))
			return wf_err_at(err, name, text.line, 0,
			                 "the file ends after %" PRIu32 " of %" PRIu32 " flows", i,
			                 n);
		ret = read_flow(&text, in->topo, &in->lines[i]);
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
                     struct wf_pin_path *path)
{
	struct wf_word word;
	uint32_t last = WF_TOPO_NONE, hops = 0;
	const char *p;
	int ret = wf_text_expect(text, "the path", &word);

	if (ret != 0)
		return ret;
	for (unsigned i = 0; i < WF_PIN_HOPS; i++)
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
			if (hops == WF_PIN_HOPS)
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
	                 (int)(word.len < 80 ? word.len : 80), word.at, from, to, WF_PIN_HOPS);
}

static int read_paths(struct wf_hpcc_input *in, struct wf_text *text, struct wf_hpcc_line **index,
                      uint8_t *seen)
{
	while (wf_text_seek(text)) {
		struct wf_hpcc_line key = { 0 }, *k = &key, **found;
		size_t flow;
		int ret = read_host(text, in->topo, "the source", &key.src);

		if (ret == 0)
			ret = read_host(text, in->topo, "the destination", &key.dst);
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
			int order = by_pair(&index[mid], &k);

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

int wf_hpcc_paths_parse(struct wf_hpcc_input *in, const char *bytes, size_t len, const char *name,
                        struct wf_err *err)
{
	struct wf_hpcc_line **index = index_lines(in);
	uint8_t *seen = calloc(in->n_lines + (size_t)1, 1);
	struct wf_text text;
	int ret = -ENOMEM;

	in->paths = calloc(2 * (size_t)in->n_lines + 1, sizeof(*in->paths));
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
	free(index);
	free(seen);
	return ret;
}

/* ---- all together ---- */

#define FOLDERS_UP 2

/* Reads the file called name: beside from, or one or two folders further up. */
static int read_named(const char *from, const char *name, char path[WF_PATH_MAX], char **text_p,
                      size_t *len_p, struct wf_err *err)
{
	char up[sizeof(((struct wf_hpcc_config *)0)->flows) + 3 * FOLDERS_UP];
	size_t n = 0;

	if (wf_file_beside(from, name, path) != 0)
		return wf_err_say(err, "%s: the name is too long", name);
	for (int i = 0; i < FOLDERS_UP && name[0] != '/' && !wf_file_exists(path); i++) {
		char other[WF_PATH_MAX];

		memcpy(up + n, "../", 3);
		n += 3;
		memcpy(up + n, name, strlen(name) + 1);
		if (wf_file_beside(from, up, other) == 0 && wf_file_exists(other))
			memcpy(path, other, WF_PATH_MAX);
	}
	return wf_file_read(path, WF_FILE_MAX, wf_mem_heap(), text_p, len_p, err);
}

static int read_topology(struct wf_hpcc_input *in, const char *config, struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	char path[WF_PATH_MAX], *text = NULL;
	struct wf_topo_cfg cfg;
	size_t len = 0;
	int ret = wf_param_defaults(wf_topo_params, wf_topo_n_params, &cfg, err);

	if (ret == 0)
		ret = read_named(config, in->config.topology, path, &text, &len, err);
	if (ret != 0)
		return ret;
	ret = wf_topo_find("hpcc")->build(&cfg, text, len, path, mem, &in->topo, err);
	mem->free(mem, text);
	return ret;
}

static int read_flows(struct wf_hpcc_input *in, const char *config, struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	char path[WF_PATH_MAX], *text = NULL;
	size_t len = 0;
	int ret = read_named(config, in->config.flows, path, &text, &len, err);

	if (ret != 0)
		return ret;
	ret = wf_hpcc_flows_parse(in, text, len, path, err);
	mem->free(mem, text);
	return ret;
}

int wf_hpcc_input_read(struct wf_hpcc_input *in, const char *config, const char *paths,
                       struct wf_err *err)
{
	struct wf_mem *mem = wf_mem_heap();
	char *text = NULL;
	size_t len = 0;
	int ret;

	memset(in, 0, sizeof(*in));
	ret = wf_file_read(config, WF_FILE_MAX, mem, &text, &len, err);
	if (ret != 0)
		return ret;
	ret = wf_hpcc_config_parse(&in->config, text, len, config, err);
	mem->free(mem, text);
	if (ret == 0)
		ret = read_topology(in, config, err);
	if (ret == 0)
		ret = read_flows(in, config, err);
	if (ret == 0 && paths != NULL) {
		ret = wf_file_read(paths, WF_FILE_MAX, mem, &text, &len, err);
		if (ret == 0) {
			ret = wf_hpcc_paths_parse(in, text, len, paths, err);
			mem->free(mem, text);
		}
	}
	if (ret != 0)
		wf_hpcc_input_fini(in);
	return ret;
}

void wf_hpcc_input_fini(struct wf_hpcc_input *in)
{
	wf_topo_destroy(in->topo);
	free(in->lines);
	free(in->paths);
	memset(in, 0, sizeof(*in));
}
