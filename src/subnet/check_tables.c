/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_tables.c - what is wrong with forwarding tables: where they do not lead, where they lead in
 * a circle, and where packets on links can wait for one another in a circle.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "subnet/check_priv.h"
#include "subnet/lanes.h"

struct tables_check {
	struct wf_check check;
	struct wf_sm_net net;
	const struct wf_tables *tables;
	struct wf_cdg cdg;
	uint32_t *host_at; /* by switch: an end there, or WF_SUBNET_NONE */
	uint8_t *fate;     /* by switch, of the LID at hand */
	struct wf_finding_step *steps;
	uint32_t *circle, *before, *queue; /* by edge */
};

enum fate { LOST, ARRIVES, LOOPS };

static const char *end_name(const struct tables_check *t, uint32_t end, char buf[WF_SUBNET_NAME])
{
	return wf_subnet_port_name(&t->check.names, t->net.ends[end].index, buf);
}

static uint32_t port_of_edge(const struct tables_check *t, uint32_t sw, uint32_t edge)
{
	return wf_sm_node(&t->net, sw)->first_port + t->net.edges[edge].port;
}

/* The switch at which an edge begins. */
static uint32_t begin_of(const struct tables_check *t, uint32_t edge)
{
	uint32_t low = 0, high = t->net.n;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (t->net.first[mid] <= edge)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* ---- where tables do not lead ---- */

static void find_fates(struct tables_check *t, const struct wf_sm_end *end)
{
	struct wf_ways_to *ways = &t->cdg.ways;

	wf_ways_to_find(ways, end->lid);
	for (uint32_t sw = 0; sw < t->net.n; sw++)
		t->fate[sw] = ways->inputs[sw] != 0 ? LOOPS : LOST;
	for (uint32_t i = ways->n_order; i-- > 0;) {
		uint32_t sw = ways->order[i], edge = ways->out[sw];

		if (sw == end->sw && wf_tables_port(t->tables, sw, end->lid) == end->port)
			t->fate[sw] = ARRIVES;
		else if (edge != WF_SUBNET_NONE)
			t->fate[sw] = t->fate[t->net.edges[edge].to];
	}
}

/* The last switch on the way from sw to a LID that does not arrive. */
static uint32_t where_lost(const struct tables_check *t, uint32_t sw)
{
	while (t->cdg.ways.out[sw] != WF_SUBNET_NONE)
		sw = t->net.edges[t->cdg.ways.out[sw]].to;
	return sw;
}

static void tell_lost(struct tables_check *t, uint32_t at, uint32_t from, uint64_t paths)
{
	const struct wf_sm_end *end = &t->net.ends[at];
	struct wf_finding f = { .id = WF_FIND_UNREACHABLE, .port = end->index };
	uint32_t last = where_lost(t, from);
	uint8_t port = wf_tables_port(t->tables, last, end->lid);
	char a[WF_SUBNET_NAME], b[WF_SUBNET_NAME], d[WF_SUBNET_NAME];

	f.line = t->check.subnet->ports[end->index].line;
	if (port == WF_LFT_NONE)
		wf_check_tell(&t->check, &f,
		              "%s, LID %u, is not reached by %" PRIu64
		              " others, such as %s: '%s' has no entry for it",
		              end_name(t, at, a), end->lid, paths, end_name(t, t->host_at[from], b),
		              wf_subnet_name(&t->check.names, t->net.subnet->switches[last], d));
	else
		wf_check_tell(&t->check, &f,
		              "%s, LID %u, is not reached by %" PRIu64
		              " others, such as %s: '%s' sends it by port %u, which does not lead "
		              "there",
		              end_name(t, at, a), end->lid, paths, end_name(t, t->host_at[from], b),
		              wf_subnet_name(&t->check.names, t->net.subnet->switches[last], d),
		              port);
}

static void tell_loop(struct tables_check *t, uint32_t at, uint32_t from, uint64_t paths)
{
	const struct wf_sm_end *end = &t->net.ends[at];
	struct wf_finding f = { .id = WF_FIND_TABLE_LOOP, .port = end->index };
	uint32_t sw = from, first;
	char a[WF_SUBNET_NAME], b[WF_SUBNET_NAME], d[WF_SUBNET_NAME];

	while (t->cdg.ways.inputs[sw] == 0)
		sw = t->net.edges[t->cdg.ways.out[sw]].to;
	first = sw;
	do {
		uint32_t edge = t->cdg.ways.out[sw];

		t->steps[f.n_steps++] = (struct wf_finding_step){
			.port = port_of_edge(t, sw, edge),
			.paths = paths,
			.from = t->net.ends[t->host_at[from]].index,
			.to = end->index,
		};
		sw = t->net.edges[edge].to;
	} while (sw != first);
	f.steps = t->steps;
	f.line = t->check.subnet->ports[end->index].line;
	wf_check_tell(&t->check, &f,
	              "packets to %s, LID %u, from %" PRIu64
	              " others, such as %s, go in a circle of %" PRIu32 " switches, by '%s'",
	              end_name(t, at, a), end->lid, paths, end_name(t, t->host_at[from], b),
	              f.n_steps,
	              wf_subnet_name(&t->check.names, t->net.subnet->switches[first], d));
}

static void check_ways(struct tables_check *t)
{
	for (uint32_t at = 0; at < t->net.n_ends; at++) {
		const struct wf_sm_end *end = &t->net.ends[at];
		uint64_t n[LOOPS + 1] = { 0 };
		uint32_t from[LOOPS + 1] = { 0 };

		if (end->port == 0)
			continue;
		find_fates(t, end);
		for (uint32_t i = t->net.n; i-- > 0;) {
			uint32_t sw = t->net.order[i];
			uint32_t hosts = t->cdg.hosts[sw] - (sw == end->sw ? 1u << end->lmc : 0);

			if (hosts == 0 || t->fate[sw] == ARRIVES)
				continue;
			n[t->fate[sw]] += hosts;
			from[t->fate[sw]] = sw;
		}
		if (n[LOST] != 0)
			tell_lost(t, at, from[LOST], n[LOST]);
		if (n[LOOPS] != 0)
			tell_loop(t, at, from[LOOPS], n[LOOPS]);
	}
}

/* ---- credit loops ---- */

/* The shortest circle through an edge that is in one; returns its length, with it in t->circle. */
static uint32_t shortest(struct tables_check *t, uint32_t start)
{
	uint32_t head = 0, tail = 0, n = 0;

	memset(t->before, 0xff, (size_t)t->net.first[t->net.n] * sizeof(*t->before));
	t->queue[tail++] = start;
	while (head < tail && t->before[start] == WF_SUBNET_NONE) {
		uint32_t edge = t->queue[head++], to = t->net.edges[edge].to;

		for (uint32_t i = t->net.first[to]; i < t->net.first[to + 1]; i++) {
			if (*wf_cdg_uses(&t->cdg, edge, i) == 0 || t->before[i] != WF_SUBNET_NONE)
				continue;
			t->before[i] = edge;
			t->queue[tail++] = i;
		}
	}
	assert(t->before[start] != WF_SUBNET_NONE);
	/* Backwards from the start to itself, then the other way round. */
	for (uint32_t edge = t->before[start]; edge != start; edge = t->before[edge])
		t->queue[n++] = edge;
	t->circle[0] = start;
	for (uint32_t i = 0; i < n; i++)
		t->circle[1 + i] = t->queue[n - 1 - i];
	return n + 1;
}

/* Whether the path from sw to a LID comes by the switch called by. */
static bool comes_by(const struct tables_check *t, uint32_t sw, unsigned lid, uint32_t by)
{
	for (uint32_t steps = 0; steps <= t->net.n; steps++) {
		uint32_t edge;

		if (sw == by)
			return true;
		edge = wf_ways_to_edge(&t->cdg.ways, sw, lid);
		if (edge == WF_SUBNET_NONE)
			return false;
		sw = t->net.edges[edge].to;
	}
	return false;
}

/*
 * One of the pairs whose packets to a LID of end go from edge a, which is at switch begin, to edge
 * b.
 */
static bool find_pair(struct tables_check *t, uint32_t begin, uint32_t a, uint32_t b,
                      const struct wf_sm_end *end, uint8_t lane, struct wf_finding_step *step)
{
	const struct wf_ways_to *ways = &t->cdg.ways;

	for (unsigned lid = end->lid; lid < end->lid + (1u << end->lmc); lid++) {
		if (wf_ways_to_edge(ways, begin, lid) != a ||
		    wf_ways_to_edge(ways, t->net.edges[a].to, lid) != b)
			continue;
		for (uint32_t j = 0; j < t->net.n; j++) {
			uint32_t sw = t->net.order[j];

			if (t->cdg.hosts[sw] == 0 || wf_tables_sl(t->tables, sw, lid) != lane ||
			    !comes_by(t, sw, lid, begin))
				continue;
			step->from = t->net.ends[t->host_at[sw]].index;
			step->to = end->index;
			return true;
		}
	}
	return false;
}

static void fill_step(struct tables_check *t, uint32_t a, uint32_t b, uint8_t lane,
                      struct wf_finding_step *step)
{
	uint32_t begin = begin_of(t, a);
	bool found = false;

	*step = (struct wf_finding_step){
		.port = port_of_edge(t, begin, a),
		.paths = *wf_cdg_uses(&t->cdg, a, b),
		.from = WF_SUBNET_NONE,
		.to = WF_SUBNET_NONE,
	};
	for (uint32_t i = 0; i < t->net.n_ends && !found; i++) {
		if (t->net.ends[i].port != 0)
			found = find_pair(t, begin, a, b, &t->net.ends[i], lane, step);
	}
	assert(found);
}

static void tell_circle(struct tables_check *t, uint32_t n, uint8_t lane)
{
	struct wf_finding f = { .id = WF_FIND_CREDIT_LOOP, .lane = lane, .steps = t->steps };
	char a[WF_SUBNET_NAME];
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		fill_step(t, t->circle[i], t->circle[(i + 1) % n], lane, &t->steps[i]);
		least = wf_min_u64(least, t->steps[i].paths);
	}
	f.n_steps = n;
	f.port = t->steps[0].port;
	wf_check_tell(&t->check, &f,
	              "on VL %u packets on %" PRIu32
	              " links wait for one another in a circle, from %s on; its weakest place "
	              "has %" PRIu64 " path%s",
	              lane, n, wf_subnet_port_name(&t->check.names, f.port, a), least,
	              least == 1 ? "" : "s");
}

static void check_lanes(struct tables_check *t)
{
	bool used[16] = { false };

	for (uint32_t i = 0; i < t->net.n_ends; i++) {
		const struct wf_sm_end *end = &t->net.ends[i];

		for (unsigned k = 0; end->port != 0 && k < 1u << end->lmc; k++) {
			for (uint32_t sw = 0; sw < t->net.n; sw++)
				used[wf_tables_sl(t->tables, sw, end->lid + k) & 15] |=
					t->cdg.hosts[sw] != 0;
		}
	}
	for (unsigned lane = 0; lane < WF_ARRAY_SIZE(used); lane++) {
		uint32_t n;

		if (!used[lane])
			continue;
		(void)wf_cdg_count(&t->cdg, t->tables->sl, (uint8_t)lane);
		n = wf_cdg_circle(&t->cdg, t->circle);
		if (n != 0)
			tell_circle(t, shortest(t, t->circle[0]), (uint8_t)lane);
	}
}

static int run_checks(struct tables_check *t)
{
	struct wf_mem *mem = t->net.mem;
	size_t n = (size_t)t->net.n + 1, edges = (size_t)t->net.first[t->net.n] + 1;
	int ret = -ENOMEM;

	t->host_at = mem->alloc(mem, n * sizeof(*t->host_at));
	t->fate = mem->alloc(mem, n);
	t->steps = mem->alloc(mem, (n + edges) * sizeof(*t->steps));
	t->circle = mem->alloc(mem, edges * sizeof(*t->circle));
	t->before = mem->alloc(mem, edges * sizeof(*t->before));
	t->queue = mem->alloc(mem, edges * sizeof(*t->queue));
	if (t->host_at != NULL && t->fate != NULL && t->steps != NULL && t->circle != NULL &&
	    t->before != NULL && t->queue != NULL) {
		for (uint32_t i = t->net.n_ends; i-- > 0;) {
			if (t->net.ends[i].port != 0)
				t->host_at[t->net.ends[i].sw] = i;
		}
		check_ways(t);
		check_lanes(t);
		ret = 0;
	}
	mem->free(mem, t->queue);
	mem->free(mem, t->before);
	mem->free(mem, t->circle);
	mem->free(mem, t->steps);
	mem->free(mem, t->fate);
	mem->free(mem, t->host_at);
	return ret;
}

int wf_tables_check(const struct wf_subnet *subnet, const struct wf_tables *tables,
                    const struct wf_check_ear *ear)
{
	struct tables_check t = { .check = { .subnet = subnet, .ear = ear }, .tables = tables };
	int ret = wf_subnet_names_init(&t.check.names, subnet);

	if (ret != 0)
		return ret;
	ret = wf_sm_net_init(&t.net, subnet);
	if (ret == 0) {
		ret = wf_cdg_init(&t.cdg, &t.net, tables);
		if (ret == 0) {
			ret = run_checks(&t);
			wf_cdg_fini(&t.cdg);
		}
		wf_sm_net_fini(&t.net);
	}
	wf_subnet_names_fini(&t.check.names);
	return ret;
}
