/* SPDX-License-Identifier: Apache-2.0 */
/* mcast.c - spanning trees of multicast groups. */
#include <errno.h>
#include <string.h>

#include "subnet/route_priv.h"

struct wf_sm_trees {
	struct wf_sm_net net;
	struct wf_sm_ways ways;
	uint32_t *end_of;   /* by the subnet's port: end + 1; 0: it is none */
	uint32_t *members;  /* ends of the group at hand */
	uint8_t *is_member; /* by switch: 2: itself, 1: something at it */
	uint8_t *taken;     /* by end */
	bool have_ways;
};

int wf_sm_trees_create(const struct wf_subnet *subnet, struct wf_sm_trees **trees_p)
{
	struct wf_mem *mem = subnet->mem;
	struct wf_sm_trees *t = mem->alloc(mem, sizeof(*t));
	int ret;

	if (t == NULL)
		return -ENOMEM;
	ret = wf_sm_net_init(&t->net, subnet);
	if (ret != 0) {
		mem->free(mem, t);
		return ret;
	}
	ret = wf_sm_ways_init(&t->ways, &t->net);
	t->have_ways = ret == 0;
	t->end_of = mem->alloc(mem, ((size_t)subnet->n_ports + 1) * sizeof(*t->end_of));
	t->members = mem->alloc(mem, ((size_t)t->net.n_ends + 1) * sizeof(*t->members));
	t->is_member = mem->alloc(mem, (size_t)t->net.n + 1);
	t->taken = mem->alloc(mem, (size_t)t->net.n_ends + 1);
	if (ret != 0 || t->end_of == NULL || t->members == NULL || t->is_member == NULL ||
	    t->taken == NULL) {
		wf_sm_trees_destroy(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < t->net.n_ends; i++)
		t->end_of[t->net.ends[i].index] = i + 1;
	*trees_p = t;
	return 0;
}

void wf_sm_trees_destroy(struct wf_sm_trees *trees)
{
	struct wf_mem *mem;

	if (trees == NULL)
		return;
	mem = trees->net.mem;
	mem->free(mem, trees->taken);
	mem->free(mem, trees->is_member);
	mem->free(mem, trees->members);
	mem->free(mem, trees->end_of);
	if (trees->have_ways)
		wf_sm_ways_fini(&trees->ways);
	wf_sm_net_fini(&trees->net);
	mem->free(mem, trees);
}

static uint8_t hops_of(const struct wf_sm_trees *t, uint32_t from, uint32_t to)
{
	return t->ways.hops[(size_t)to * t->net.n + from];
}

/*
 * How far the farthest member is from a switch. A switch that is a member itself counts a hop less
 * than one with a member at it; one from which a member cannot be reached is beyond all others.
 */
static unsigned farthest(const struct wf_sm_trees *t, uint32_t n, uint32_t from)
{
	unsigned most = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct wf_sm_end *end = &t->net.ends[t->members[i]];
		unsigned hops = hops_of(t, from, end->sw);

		if (hops != WF_HOPS_NONE && t->is_member[end->sw] != 2)
			hops++;
		if (hops > most)
			most = hops;
	}
	return most;
}

/* The first port of a switch that is on the shortest ways to another. */
static const struct wf_sm_edge *first_port(const struct wf_sm_trees *t, uint32_t from, uint32_t to)
{
	for (uint32_t i = t->net.first[from]; i < t->net.first[from + 1]; i++) {
		if (hops_of(t, t->net.edges[i].to, to) + 1 == hops_of(t, from, to))
			return &t->net.edges[i];
	}
	return NULL;
}

static void set_bit(uint64_t *mft, uint32_t sw, unsigned port)
{
	mft[(size_t)sw * WF_MFT_WORDS + port / 64] |= UINT64_C(1) << port % 64;
}

/*
 * Goes from the root to a member. Ways to two members that part never meet again: where both could
 * go by the same port they do, because each takes the first one.
 */
static void add_member(const struct wf_sm_trees *t, uint32_t root, const struct wf_sm_end *end,
                       uint64_t *mft)
{
	uint32_t sw = root;

	while (sw != end->sw) {
		const struct wf_sm_edge *edge = first_port(t, sw, end->sw);

		assert(edge != NULL);
		set_bit(mft, sw, edge->port);
		set_bit(mft, edge->to, edge->to_port);
		sw = edge->to;
	}
	set_bit(mft, sw, end->port);
}

/* The members that are ends, each once; returns how many, and the others are added to *left_p. */
static uint32_t take_members(struct wf_sm_trees *t, const uint32_t *members, uint32_t n_members,
                             uint32_t *left_p)
{
	uint32_t n = 0;

	memset(t->is_member, 0, t->net.n);
	memset(t->taken, 0, t->net.n_ends);
	for (uint32_t i = 0; i < n_members; i++) {
		uint32_t at = t->end_of[members[i]];
		const struct wf_sm_end *end;

		if (at == 0) {
			++*left_p;
			continue;
		}
		if (t->taken[at - 1])
			continue;
		t->taken[at - 1] = 1;
		end = &t->net.ends[at - 1];
		if (end->port == 0)
			t->is_member[end->sw] = 2;
		else if (t->is_member[end->sw] == 0)
			t->is_member[end->sw] = 1;
		t->members[n++] = at - 1;
	}
	return n;
}

void wf_sm_trees_build(struct wf_sm_trees *trees, const uint32_t *members, uint32_t n_members,
                       uint64_t *mft, struct wf_sm_tree *tree)
{
	const struct wf_sm_net *net = &trees->net;
	unsigned best = UINT32_MAX;
	uint32_t root = WF_SUBNET_NONE, n;

	*tree = (struct wf_sm_tree){ .root = WF_SUBNET_NONE };
	memset(mft, 0, (size_t)net->n * WF_MFT_WORDS * sizeof(*mft));
	n = take_members(trees, members, n_members, &tree->left);
	if (n < 2)
		return;
	for (uint32_t i = 0; i < net->n; i++) {
		unsigned hops = farthest(trees, n, net->order[i]);

		if (hops < best) {
			best = hops;
			root = net->order[i];
		}
	}
	tree->root = net->subnet->switches[root];
	for (uint32_t i = 0; i < n; i++) {
		const struct wf_sm_end *end = &net->ends[trees->members[i]];

		if (hops_of(trees, root, end->sw) == WF_HOPS_NONE)
			tree->left++;
		else
			add_member(trees, root, end, mft);
	}
}
