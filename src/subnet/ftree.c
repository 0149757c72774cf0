/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftree.c - OpenSM's engine for fat trees: as many ways down through each link as through any
 * other.
 *
 * Switches are ranked from the top (0); those with adapters are all leaves, of the same rank. Each
 * switch gets an index of as many digits as there are ranks, by going through the tree from a leaf,
 * and everything is done in the order of the indices. Links between the same two switches are a
 * group. For each adapter, leaf by leaf, its way is built from its leaf upwards: into the group,
 * and its port, that has the fewest ways down so far; every switch that is reached on the way gives
 * those below it a way up, again by the port with the fewest. What is above, but not on that way,
 * gets a way as well, which is not counted. Where a leaf has fewer adapters than others, ways are
 * counted as if the missing ones were there, so that the same places of all leaves go by the same
 * switches.
 *
 * Without roots that are given, a tree has to be pure: all switches of a rank are connected alike.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/sort.h"
#include "subnet/guids.h"
#include "subnet/route_priv.h"

#define MAX_RANK 8 /* ranks of switches, as many as an index has digits */
#define UNRANKED UINT32_MAX
#define NO_INDEX UINT64_MAX
#define TOP_DIGIT 254

struct port {
	uint8_t port, to_port;
	uint32_t ups, downs; /* ways up and down through it */
};

enum direction { UP, DOWN, SIDE, DIRECTIONS };

/* Links to one switch, or one to an adapter. */
struct group {
	uint32_t to; /* switch; WF_SUBNET_NONE: an adapter */
	uint32_t first_port, n_ports;
	uint32_t ups, downs;
};

struct node {
	uint32_t rank;
	uint64_t index; /* digits, the rank first, a byte each from the highest on */
	uint32_t place; /* among all switches, by index */
	bool leaf;      /* has adapters */
	bool unsorted;  /* ways up have been counted since its groups were put in order */
	struct {
		uint32_t first, n; /* in lists */
	} groups[DIRECTIONS];
};

struct ftree {
	const struct wf_subnet *subnet;
	const struct wf_sm_net *net;
	struct wf_tables *tables;
	struct wf_err *err;
	struct node *nodes; /* by switch */
	uint32_t *rank;
	struct group *groups;
	struct port *ports;
	uint32_t *lists;  /* numbers of groups, by switch and direction */
	uint32_t *leaves; /* switches of the leaves' rank, by index */
	uint32_t n_leaves;
	uint32_t leaf_rank;
	uint32_t most; /* adapters' ports of a leaf */
	struct wf_subnet_guids indices;
	/* Of the LID at hand, by switch. */
	uint8_t *out;
	uint8_t *hops;
	bool real; /* it is a LID, not one that is missing */
};

static const char *name_of(const struct ftree *t, uint32_t sw)
{
	return wf_sm_node(t->net, sw)->desc;
}

/* ---- ranks ---- */

static int rank_from_leaves(const struct ftree *t)
{
	uint32_t n = t->net->n, top = 0;
	int ret;

	memset(t->rank, 0xff, (size_t)n * sizeof(*t->rank));
	for (uint32_t i = 0; i < t->net->n_ends; i++) {
		if (t->net->ends[i].port != 0)
			t->rank[t->net->ends[i].sw] = 0;
	}
	ret = wf_sm_rank_down(t->net, t->rank);
	if (ret != 0)
		return ret;
	/* Now it is the distance from adapters; the farthest are the roots. */
	for (uint32_t sw = 0; sw < n; sw++) {
		if (t->rank[sw] != UNRANKED && t->rank[sw] > top)
			top = t->rank[sw];
	}
	for (uint32_t sw = 0; sw < n; sw++)
		t->rank[sw] = t->rank[sw] == top ? 0 : UNRANKED;
	return wf_sm_rank_down(t->net, t->rank);
}

/* The rank of all switches that have adapters, which must be one. */
static int find_leaves(struct ftree *t, bool roots_given)
{
	const struct wf_sm_net *net = t->net;
	uint32_t max = 0;

	for (uint32_t sw = 0; sw < net->n; sw++) {
		t->nodes[sw].rank = t->rank[sw];
		t->nodes[sw].index = NO_INDEX;
		if (t->rank[sw] != UNRANKED && t->rank[sw] > max)
			max = t->rank[sw];
	}
	t->leaf_rank = max;
	for (uint32_t i = 0; i < net->n_ends; i++) {
		const struct wf_sm_end *end = &net->ends[i];
		struct node *node = &t->nodes[end->sw];

		if (end->port == 0 || node->rank == UNRANKED)
			continue;
		if (roots_given)
			t->leaf_rank = node->rank;
		roots_given = false;
		node->leaf = true;
	}
	for (uint32_t sw = 0; sw < net->n; sw++) {
		if (t->nodes[sw].leaf && t->rank[sw] != t->leaf_rank)
			return wf_err_say(t->err,
			                  "ftree: '%s' has adapters and is %" PRIu32
			                  " below the top, where the leaves are %" PRIu32
			                  "; all switches with adapters have to be equally far",
			                  name_of(t, sw), t->rank[sw], t->leaf_rank);
	}
	if (t->leaf_rank + 1 < 2 || t->leaf_rank + 1 > MAX_RANK)
		return wf_err_say(t->err,
		                  "ftree: there are %" PRIu32
		                  " ranks of switches; a fat tree has 2 to %d",
		                  t->leaf_rank + 1, MAX_RANK);
	return 0;
}

/* ---- groups ---- */

static enum direction direction_of(const struct ftree *t, uint32_t sw, uint32_t to)
{
	if (to == WF_SUBNET_NONE || t->rank[to] > t->rank[sw])
		return DOWN;
	return t->rank[to] < t->rank[sw] ? UP : SIDE;
}

/*
 * Groups of the links of sw in one direction, in the order of their first ports. Groups and ports
 * lie in arrays with room for a group and a port for each port of the subnet; *n_p of both are
 * used.
 */
static void make_groups(struct ftree *t, uint32_t sw, enum direction dir, uint32_t *n_p)
{
	const struct wf_subnet *subnet = t->subnet;
	uint32_t id = subnet->switches[sw], first = *n_p;
	uint32_t n_groups = 0, n_ports = 0;

	for (unsigned i = 1; i <= subnet->nodes[id].n_ports; i++) {
		const struct wf_subnet_port *port = wf_subnet_port(subnet, id, i);
		bool fresh = true;
		uint32_t to;

		if (!wf_subnet_goes(subnet, port) || port->peer == id)
			continue;
		to = subnet->nodes[port->peer].sw;
		if ((to != WF_SUBNET_NONE && t->rank[to] == UNRANKED) ||
		    direction_of(t, sw, to) != dir)
			continue;
		for (uint32_t g = first; to != WF_SUBNET_NONE && g < first + n_groups; g++)
			fresh &= t->groups[g].to != to;
		if (!fresh)
			continue;
		/* All its ports, which are this one and later ones. */
		t->groups[first + n_groups] =
			(struct group){ .to = to, .first_port = first + n_ports };
		for (unsigned k = i; k <= subnet->nodes[id].n_ports; k++) {
			const struct wf_subnet_port *other = wf_subnet_port(subnet, id, k);

			if (k != i && (to == WF_SUBNET_NONE || other->peer != port->peer ||
			               !wf_subnet_goes(subnet, other)))
				continue;
			t->ports[first + n_ports++] =
				(struct port){ .port = (uint8_t)k, .to_port = other->peer_port };
			t->groups[first + n_groups].n_ports++;
		}
		t->lists[first + n_groups] = first + n_groups;
		n_groups++;
	}
	t->nodes[sw].groups[dir].first = first;
	t->nodes[sw].groups[dir].n = n_groups;
	*n_p += n_ports;
}

static uint32_t *list_of(const struct ftree *t, uint32_t sw, enum direction dir)
{
	return t->lists + t->nodes[sw].groups[dir].first;
}

static bool is_pure(const struct ftree *t, uint32_t ref, uint32_t sw)
{
	for (enum direction dir = UP; dir <= DOWN; dir++) {
		uint32_t n = t->nodes[sw].groups[dir].n;

		/* Adapters may be missing. */
		if (dir == DOWN && t->rank[sw] == t->leaf_rank)
			break;
		if (n != t->nodes[ref].groups[dir].n) {
			(void)wf_err_say(t->err,
			                 "ftree: '%s' is connected to %" PRIu32
			                 " switches %s it, '%s' of the same rank to %" PRIu32
			                 "; in a fat tree it is as many, unless roots are given",
			                 name_of(t, sw), n, dir == UP ? "above" : "below",
			                 name_of(t, ref), t->nodes[ref].groups[dir].n);
			return false;
		}
		for (uint32_t i = 0; i < n; i++) {
			uint32_t links = t->groups[list_of(t, sw, dir)[i]].n_ports;

			if (links == t->groups[list_of(t, ref, dir)[0]].n_ports)
				continue;
			(void)wf_err_say(t->err,
			                 "ftree: '%s' has %" PRIu32
			                 " links to '%s', other pairs of these ranks have %" PRIu32
			                 "; in a fat tree it is as many, unless roots are given",
			                 name_of(t, sw), links,
			                 name_of(t, t->groups[list_of(t, sw, dir)[i]].to),
			                 t->groups[list_of(t, ref, dir)[0]].n_ports);
			return false;
		}
	}
	return true;
}

static int check_pure(const struct ftree *t)
{
	uint32_t ref[MAX_RANK];

	memset(ref, 0xff, sizeof(ref));
	for (uint32_t i = 0; i < t->net->n; i++) {
		uint32_t sw = t->net->order[i], rank = t->rank[sw];

		if (rank == UNRANKED || rank > t->leaf_rank)
			continue;
		if (ref[rank] == WF_SUBNET_NONE)
			ref[rank] = sw;
		if (!is_pure(t, ref[rank], sw))
			return -EINVAL;
	}
	return 0;
}

/* ---- indices ---- */

static uint64_t digit(uint64_t value, unsigned at)
{
	return value << (56 - 8 * at);
}

static int give_index(struct ftree *t, uint32_t sw, uint64_t index)
{
	t->nodes[sw].index = index;
	return wf_guids_add(&t->indices, t->net->mem, index + 1, sw);
}

/* The index of a switch's next neighbour: the lowest that is free in the digit between them. */
static int next_index(struct ftree *t, uint32_t from, uint32_t to, enum direction dir)
{
	uint64_t index = t->nodes[from].index;
	unsigned rank = (unsigned)(index >> 56);
	unsigned at = dir == DOWN ? rank + 1 : rank;

	if (at >= MAX_RANK)
		return wf_err_say(t->err, "ftree: there are more than %d ranks", MAX_RANK);
	index = (index & (UINT64_MAX >> 8)) | digit(dir == DOWN ? rank + 1 : rank - 1, 0);
	for (uint64_t i = 0; i <= TOP_DIGIT; i++) {
		uint64_t tried = (index & ~digit(0xff, at)) | digit(i, at);

		if (wf_guids_find(&t->indices, tried + 1) == WF_SUBNET_NONE)
			return give_index(t, to, tried);
	}
	return wf_err_say(t->err, "ftree: '%s' has too many neighbours to number them",
	                  name_of(t, from));
}

static int index_neighbours(struct ftree *t, uint32_t sw, enum direction dir, uint32_t *queue,
                            uint32_t *tail)
{
	for (uint32_t i = 0; i < t->nodes[sw].groups[dir].n; i++) {
		uint32_t to = t->groups[list_of(t, sw, dir)[i]].to;
		int ret;

		if (to == WF_SUBNET_NONE || t->nodes[to].index != NO_INDEX)
			continue;
		ret = next_index(t, sw, to, dir);
		if (ret != 0)
			return ret;
		queue[(*tail)++] = to;
	}
	return 0;
}

/* Goes through the tree from its first leaf. */
static int make_indices(struct ftree *t, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;
	int ret = 0;

	for (uint32_t i = 0; i < t->net->n && tail == 0; i++) {
		if (t->nodes[t->net->order[i]].leaf)
			queue[tail++] = t->net->order[i];
	}
	if (tail == 0)
		return wf_err_say(t->err, "ftree: no switch has an adapter");
	/* Digits behind those of the leaves are not used. */
	ret = give_index(
		t, queue[0],
		digit(t->leaf_rank, 0) |
			(t->leaf_rank < MAX_RANK - 1 ? UINT64_MAX >> 8 * (t->leaf_rank + 1) : 0));
	while (head < tail && ret == 0) {
		uint32_t sw = queue[head++];

		if (t->rank[sw] < t->leaf_rank)
			ret = index_neighbours(t, sw, DOWN, queue, &tail);
		if (ret == 0 && t->rank[sw] != 0)
			ret = index_neighbours(t, sw, UP, queue, &tail);
	}
	return ret;
}

static int index_order(const void *a, const void *b, const void *arg)
{
	const struct ftree *t = arg;
	uint64_t x = t->nodes[*(const uint32_t *)a].index;
	uint64_t y = t->nodes[*(const uint32_t *)b].index;

	return (x > y) - (x < y);
}

/* Numbers switches by their indices; the leaves between the first and the last with adapters. */
static int order_leaves(struct ftree *t, uint32_t *all, uint32_t *room)
{
	uint32_t n = t->net->n, first = n, last = 0;

	memcpy(all, t->net->order, (size_t)n * sizeof(*all));
	wf_sort(all, room, n, sizeof(*all), index_order, t);
	for (uint32_t i = 0; i < n; i++)
		t->nodes[all[i]].place = i;
	for (uint32_t i = 0; i < n; i++) {
		if (t->rank[all[i]] != t->leaf_rank)
			continue;
		t->leaves[t->n_leaves] = all[i];
		if (t->nodes[all[i]].leaf) {
			first = first == n ? t->n_leaves : first;
			last = t->n_leaves;
		}
		t->n_leaves++;
	}
	if (first >= last)
		return wf_err_say(t->err, "ftree: all adapters are at one switch");
	t->leaves += first;
	t->n_leaves = last - first + 1;
	return 0;
}

/* ---- ways ---- */

/* Puts groups in order by ways up or down, then by the index of the switch that they lead to. */
static void sort_groups(const struct ftree *t, uint32_t *list, uint32_t n, bool ups)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t g = list[i], k = i;
		const struct group *x = &t->groups[g];
		uint32_t count = ups ? x->ups : x->downs;

		for (; k > 0; k--) {
			const struct group *y = &t->groups[list[k - 1]];
			uint32_t other = ups ? y->ups : y->downs;

			if (other < count || y->to == WF_SUBNET_NONE || x->to == WF_SUBNET_NONE)
				break;
			if (other == count && t->nodes[y->to].place <= t->nodes[x->to].place)
				break;
			list[k] = list[k - 1];
		}
		list[k] = g;
	}
}

static struct port *least_port(const struct ftree *t, const struct group *group, bool ups)
{
	struct port *best = &t->ports[group->first_port];

	for (uint32_t i = 1; i < group->n_ports; i++) {
		struct port *port = &t->ports[group->first_port + i];

		if (ups ? port->ups < best->ups : port->downs < best->downs)
			best = port;
	}
	return best;
}

/*
 * Whether a switch has a way that is at most as long as one of so many hops, or none can be so
 * long.
 */
static bool has_way(const struct ftree *t, uint32_t sw, unsigned hops)
{
	return hops > WF_HOPS_MAX || (t->hops[sw] != WF_HOPS_NONE && hops >= t->hops[sw]);
}

static void set_way(const struct ftree *t, uint32_t sw, uint8_t port, unsigned hops)
{
	t->out[sw] = port;
	t->hops[sw] = (uint8_t)hops;
}

/*
 * From a switch that has a way, hops long, gives ways to all below it but prev. Returns whether an
 * adapter is among them.
 */
static bool go_down(struct ftree *t, uint32_t sw, uint32_t prev, unsigned hops)
{
	struct node *node = &t->nodes[sw];
	uint32_t n_down = node->groups[DOWN].n, n_side = t->real ? node->groups[SIDE].n : 0;
	bool found = false;

	if (n_down == 0)
		return false;
	if (node->unsorted)
		sort_groups(t, list_of(t, sw, DOWN), n_down, true);
	node->unsorted = false;
	sort_groups(t, list_of(t, sw, SIDE), node->groups[SIDE].n, true);
	for (uint32_t i = 0; i < n_down + n_side; i++) {
		uint32_t g =
			i < n_down ? list_of(t, sw, DOWN)[i] : list_of(t, sw, SIDE)[i - n_down];
		struct group *group = &t->groups[g];
		struct port *port;

		if (group->to == WF_SUBNET_NONE) {
			found = true;
			continue;
		}
		if (group->to == prev || has_way(t, group->to, hops + 1))
			continue;
		port = least_port(t, group, true);
		set_way(t, group->to, port->to_port, hops + 1);
		if (!go_down(t, group->to, WF_SUBNET_NONE, hops + 1))
			continue;
		found = true;
		port->ups++;
		group->ups++;
		node->unsorted = true;
	}
	return found;
}

/*
 * From a switch that has a way, hops long, gives ways to all that can come down to it, and to all
 * below those; main: the first of these ways is counted.
 */
static void go_up(struct ftree *t, uint32_t sw, uint32_t prev, bool main, unsigned hops)
{
	struct node *node = &t->nodes[sw];
	uint32_t *up = list_of(t, sw, UP), n_up = node->groups[UP].n;
	uint32_t *side = list_of(t, sw, SIDE), n_side = node->groups[SIDE].n;

	(void)go_down(t, sw, prev, hops);
	if (node->rank == 0 || n_up == 0)
		return;
	sort_groups(t, up, n_up, false);
	if (main) {
		struct group *group = &t->groups[up[0]];
		struct port *port = least_port(t, group, false);

		group->downs++;
		port->downs++;
		if (!has_way(t, group->to, hops + 1))
			set_way(t, group->to, port->to_port, hops + 1);
		go_up(t, group->to, sw, true, hops + 1);
	}
	for (uint32_t i = main ? 1 : 0; i < n_up; i++) {
		const struct group *group = &t->groups[up[i]];

		if (has_way(t, group->to, hops + 1))
			continue;
		set_way(t, group->to, least_port(t, group, false)->to_port, hops + 1);
		go_up(t, group->to, sw, false, hops + 1);
	}
	sort_groups(t, side, n_side, false);
	for (uint32_t i = 0; i < n_side; i++) {
		const struct group *group = &t->groups[side[i]];

		if (has_way(t, group->to, hops + 1))
			continue;
		set_way(t, group->to, least_port(t, group, false)->to_port, hops + 1);
		go_up(t, group->to, sw, false, hops + 1);
	}
}

/* All ways to one LID, which is at port of switch sw; 0: none, one that is missing. */
static void route_lid(struct ftree *t, uint32_t sw, unsigned lid, uint8_t port, bool main)
{
	uint32_t n = t->net->n;

	memset(t->hops, WF_HOPS_NONE, n);
	memset(t->out, WF_LFT_NONE, n);
	t->real = lid != 0;
	set_way(t, sw, port, port == 0 && t->real ? 0 : 1);
	go_up(t, sw, WF_SUBNET_NONE, main, t->hops[sw]);
	for (uint32_t i = 0; t->real && i < n; i++)
		wf_tables_row(t->tables, i)[lid] = t->out[i];
}

static unsigned lid_behind(const struct ftree *t, uint32_t sw, uint8_t port)
{
	const struct wf_subnet_port *at = wf_subnet_port(t->subnet, t->subnet->switches[sw], port);
	const struct wf_subnet_port *peer = wf_subnet_peer(t->subnet, at);

	return peer->lid != 0 && wf_subnet_by_lid(t->subnet, peer->lid) ==
	                                 (uint32_t)(peer - t->subnet->ports)
	               ? peer->lid
	               : 0;
}

/* The adapters of a switch by its ports; returns how many. route: and their ways. */
static uint32_t do_adapters(struct ftree *t, uint32_t sw, bool route)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nodes[sw].groups[DOWN].n; i++) {
		const struct group *group = &t->groups[list_of(t, sw, DOWN)[i]];
		uint8_t port = t->ports[group->first_port].port;

		if (group->to != WF_SUBNET_NONE || lid_behind(t, sw, port) == 0)
			continue;
		n++;
		if (route)
			route_lid(t, sw, lid_behind(t, sw, port), port, true);
	}
	return n;
}

static void make_ways(struct ftree *t)
{
	for (uint32_t i = 0; i < t->n_leaves; i++) {
		uint32_t n = do_adapters(t, t->leaves[i], false);

		t->most = n > t->most ? n : t->most;
	}
	for (uint32_t i = 0; i < t->n_leaves; i++) {
		uint32_t n = do_adapters(t, t->leaves[i], true);

		for (; n < t->most; n++)
			route_lid(t, t->leaves[i], 0, 0, true);
	}
	for (uint32_t i = 0; i < t->net->n_ends; i++) {
		const struct wf_sm_end *end = &t->net->ends[i];

		if (end->port == 0 && t->rank[end->sw] != UNRANKED)
			route_lid(t, end->sw, end->lid, 0, false);
	}
}

/* ---- all of it ---- */

static int plan(struct ftree *t, const struct wf_sm_route_cfg *cfg, uint32_t *all, uint32_t *room)
{
	const struct wf_sm_net *net = t->net;
	uint32_t used = 0;
	int ret;

	if (net->max_lmc > 0)
		return wf_err_say(t->err, "ftree: ports have several LIDs (LMC %u); it routes one",
		                  net->max_lmc);
	if (cfg->roots != NULL) {
		memset(t->rank, 0xff, (size_t)net->n * sizeof(*t->rank));
		if (wf_sm_take_roots(net, cfg, t->rank) == 0)
			return wf_err_say(t->err, "ftree: none of the root GUIDs is a switch of "
			                          "this subnet");
		ret = wf_sm_rank_down(net, t->rank);
	} else {
		ret = rank_from_leaves(t);
	}
	if (ret == 0)
		ret = find_leaves(t, cfg->roots != NULL);
	if (ret != 0)
		return ret;
	for (uint32_t sw = 0; sw < net->n; sw++) {
		for (enum direction dir = UP; t->rank[sw] != UNRANKED && dir < DIRECTIONS; dir++) {
			make_groups(t, sw, dir, &used);
			if (dir == SIDE && t->nodes[sw].groups[SIDE].n != 0)
				t->tables->no_credit_loop = false;
		}
	}
	ret = make_indices(t, all);
	if (ret == 0)
		ret = order_leaves(t, all, room);
	if (ret == 0 && cfg->roots == NULL)
		ret = check_pure(t);
	for (uint32_t sw = 0; ret == 0 && sw < net->n; sw++) {
		for (enum direction dir = UP; dir <= DOWN; dir++)
			sort_groups(t, list_of(t, sw, dir), t->nodes[sw].groups[dir].n,
			            dir == DOWN);
	}
	return ret;
}

static int ftree_do(struct ftree *t, const struct wf_sm_route_cfg *cfg)
{
	struct wf_mem *mem = t->net->mem;
	size_t n = (size_t)t->net->n + 1, n_ports = (size_t)t->subnet->n_ports + 1;
	uint32_t *all = mem->alloc(mem, n * sizeof(*all));
	uint32_t *room = mem->alloc(mem, n * sizeof(*room));
	uint32_t *leaves = mem->alloc(mem, n * sizeof(*leaves));
	int ret = -ENOMEM;

	t->leaves = leaves;
	t->nodes = mem->alloc(mem, n * sizeof(*t->nodes));
	t->rank = mem->alloc(mem, n * sizeof(*t->rank));
	t->groups = mem->alloc(mem, n_ports * sizeof(*t->groups));
	t->ports = mem->alloc(mem, n_ports * sizeof(*t->ports));
	t->lists = mem->alloc(mem, n_ports * sizeof(*t->lists));
	t->out = mem->alloc(mem, n);
	t->hops = mem->alloc(mem, n);
	if (all != NULL && room != NULL && leaves != NULL && t->nodes != NULL && t->rank != NULL &&
	    t->groups != NULL && t->ports != NULL && t->lists != NULL && t->out != NULL &&
	    t->hops != NULL)
		ret = plan(t, cfg, all, room);
	if (ret == 0) {
		make_ways(t);
		t->tables->rank = t->rank;
		t->rank = NULL;
	}
	wf_guids_fini(&t->indices, mem);
	mem->free(mem, t->hops);
	mem->free(mem, t->out);
	mem->free(mem, t->lists);
	mem->free(mem, t->ports);
	mem->free(mem, t->groups);
	mem->free(mem, t->rank);
	mem->free(mem, t->nodes);
	mem->free(mem, leaves);
	mem->free(mem, room);
	mem->free(mem, all);
	return ret;
}

static int ftree_route(const struct wf_subnet *subnet, const struct wf_sm_route_cfg *cfg,
                       struct wf_tables *tables, struct wf_err *err)
{
	struct wf_sm_net net;
	struct ftree t = { .subnet = subnet, .net = &net, .tables = tables, .err = err };
	int ret = wf_sm_net_init(&net, subnet);

	if (ret != 0)
		return ret;
	ret = ftree_do(&t, cfg);
	wf_sm_net_fini(&net);
	return ret;
}

const struct wf_sm_route_ops wf_sm_route_ftree = {
	.name = "ftree",
	.help = "fat trees: as many ways down through each link as through any other",
	.no_credit_loop = true,
	.route = ftree_route,
};
