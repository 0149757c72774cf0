/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_chakra.c - Chakra execution traces as a plan.
 *
 * A rank's nodes become items of lanes: calculations on the GPU, everything on the CPU and memory,
 * collectives (a lane for several groups), messages. A lane's items run one after the other, in the
 * file's order as far as dependencies allow, like the streams of a GPU. Messages of a rank go on
 * the lane of its colour; ranks that exchange messages have different colours, so that nobody's
 * sends stand before receives that others wait for.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/rng.h"
#include "base/sort.h"
#include "job/chakra.h"
#include "job/read.h"
#include "job/script.h"

#define LANE_GPU 0
#define LANE_CPU 1
#define LANE_COLL 2
#define COLL_LANES 8
#define LANE_P2P (LANE_COLL + COLL_LANES)
#define COLOURS (WF_PLAN_MAX_LANES - LANE_P2P)
#define NO_COLOUR UINT8_MAX
#define MAX_TAG ((UINT32_C(1) << 20) - 1)

/* A node by its id. */
struct entry {
	uint64_t id;
	uint32_t index;
};

/*
 * How far each lane has to be before what waits for a node may start: numbers of items, plus one.
 */
struct reach {
	uint32_t lane[WF_PLAN_MAX_LANES];
};

enum mark { WHITE, OPEN, DONE };

/* Half of a message, for finding its other half. */
struct half {
	uint32_t src, dst, tag;
	uint32_t rank;
	size_t offset;
};

struct chakra {
	const struct wf_chakra_cfg *cfg;
	struct wf_script *script;
	struct wf_mem *mem;
	struct wf_arena arena; /* everything but the script */
	struct wf_err *err;
	struct wf_chakra_trace *traces; /* of each rank */
	uint8_t *colour;                /* of each rank */
	uint32_t *comms;                /* of the world, then of each group */
	uint64_t **order;               /* of the world's and each group's members: what they do */
	struct half *halves;
	size_t n_halves;

	/* of the rank that is being written */
	uint32_t rank;
	struct entry *entries;
	struct reach *reach;
	uint8_t *mark;
	uint32_t *stack; /* nodes that wait for those above them */
	uint32_t *next;  /* of each: which dependency is looked at next */
};

static int say(const struct chakra *c, const struct wf_chakra_node *node, const char *what)
{
	return wf_err_byte(c->err, c->cfg->files[c->rank].name, node->offset, "node %" PRIu64 " %s",
	                   node->id, what);
}

/* ---- messages ---- */

static bool is_message(const struct wf_chakra_node *node)
{
	return node->type == WF_CHAKRA_SEND || node->type == WF_CHAKRA_RECV;
}

/* The other rank of a message, seen from this one. */
static uint64_t peer_of(const struct wf_chakra_node *node)
{
	return node->type == WF_CHAKRA_SEND ? node->comm_dst : node->comm_src;
}

static int check_message(const struct chakra *c, const struct wf_chakra_node *node)
{
	bool send = node->type == WF_CHAKRA_SEND;

	if ((node->has & (send ? WF_CHAKRA_HAS_COMM_DST : WF_CHAKRA_HAS_COMM_SRC)) == 0)
		return say(c, node,
		           send ? "sends but has no comm_dst" : "receives but has no comm_src");
	if (peer_of(node) >= c->cfg->cluster.n_ranks || peer_of(node) == c->rank)
		return say(c, node, "has a message with a rank that is not there, or with its own");
	if ((node->has & WF_CHAKRA_HAS_COMM_SIZE) == 0 || node->comm_size > WF_READ_MAX_BYTES)
		return say(c, node, "has a message without comm_size, or of over a terabyte");
	if (node->comm_tag > MAX_TAG)
		return say(c, node, "has a comm_tag over 1048575");
	return 0;
}

/*
 * Gives each rank a colour that no rank has with which it exchanges messages, while there are any.
 */
static int colour_ranks(struct chakra *c)
{
	size_t n = 0;

	memset(c->colour, NO_COLOUR, c->cfg->cluster.n_ranks);
	for (c->rank = 0; c->rank < c->cfg->cluster.n_ranks; c->rank++) {
		const struct wf_chakra_trace *trace = &c->traces[c->rank];
		uint32_t taken = 0, colour = 0;

		for (size_t i = 0; i < trace->n_nodes; i++) {
			const struct wf_chakra_node *node = &trace->nodes[i];
			int ret = is_message(node) ? check_message(c, node) : 0;

			if (ret != 0)
				return ret;
			if (!is_message(node))
				continue;
			n++;
			if (c->colour[peer_of(node)] != NO_COLOUR)
				taken |= UINT32_C(1) << c->colour[peer_of(node)];
		}
		while (colour < COLOURS && (taken >> colour & 1) != 0)
			colour++;
		c->colour[c->rank] = (uint8_t)(colour < COLOURS ? colour : c->rank % COLOURS);
	}
	c->halves = wf_arena_alloc(&c->arena, (n + 1) * sizeof(*c->halves), sizeof(uint64_t));
	return c->halves != NULL ? 0 : -ENOMEM;
}

static int by_message(const void *a, const void *b, const void *arg)
{
	const struct half *x = a, *y = b;

	(void)arg;
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

/* Sees that each message is sent as often as it is received. */
static int match_messages(struct chakra *c)
{
	struct half *room = c->mem->alloc(c->mem, (c->n_halves + 1) * sizeof(*room));

	if (room == NULL)
		return -ENOMEM;
	wf_sort(c->halves, room, c->n_halves, sizeof(*room), by_message, NULL);
	c->mem->free(c->mem, room);
	for (size_t i = 0, end; i < c->n_halves; i = end) {
		const struct half *h = &c->halves[i];
		int64_t balance = 0;

		for (end = i; end < c->n_halves && by_message(h, &c->halves[end], NULL) == 0; end++)
			balance += c->halves[end].rank == h->src ? 1 : -1;
		if (balance != 0)
			return wf_err_byte(c->err, c->cfg->files[h->rank].name, h->offset,
			                   "rank %" PRIu32 " sends to rank %" PRIu32
			                   " with tag %" PRIu32 " %" PRId64
			                   " times %s than that receives",
			                   h->src, h->dst, h->tag, balance < 0 ? -balance : balance,
			                   balance < 0 ? "fewer" : "more");
	}
	return 0;
}

/* ---- items ---- */

static void extend(struct reach *reach, const struct reach *other)
{
	for (uint32_t l = 0; l < WF_PLAN_MAX_LANES; l++) {
		if (reach->lane[l] < other->lane[l])
			reach->lane[l] = other->lane[l];
	}
}

/* Adds step, which is to wait for what node waits for, and says how others wait for it. */
static int add(struct chakra *c, uint32_t lane, struct wf_step *step, struct reach *reach)
{
	struct wf_step wait = { .kind = WF_ITEM_WAIT, .group = WF_GROUP_NONE };
	struct wf_item_dep dep = { 0 };
	int ret = 0;

	/* What is on its own lane comes first anyway. */
	for (uint32_t l = 0; ret == 0 && l < WF_PLAN_MAX_LANES; l++) {
		if (reach->lane[l] == 0 || l == lane)
			continue;
		if (step->n_deps == WF_ITEM_DEPS) {
			memcpy(wait.dep, step->dep, sizeof(wait.dep));
			wait.n_deps = step->n_deps;
			ret = wf_script_add(c->script, c->rank, lane, &wait, NULL);
			step->n_deps = 0;
		}
		step->dep[step->n_deps++] =
			(struct wf_item_dep){ .number = reach->lane[l] - 1, .lane = l };
	}
	if (ret == 0)
		ret = wf_script_add(c->script, c->rank, lane, step, &dep);
	memset(reach, 0, sizeof(*reach));
	reach->lane[lane] = dep.number + 1;
	return ret;
}

static int add_group(struct chakra *c, const char *name, const struct wf_coll *coll,
                     uint32_t *group_p)
{
	return wf_script_group(c->script, name, name, coll, group_p);
}

/* The number of a node's group: 0 for all ranks, or one more than its place in the list. */
static int find_group(const struct chakra *c, const struct wf_chakra_node *node, uint32_t *number_p)
{
	if (node->part_dims && node->group == NULL)
		return say(c, node,
		           "leaves dimensions out with involved_dim, which is not supported; "
		           "name a group in comm_group");
	*number_p = 0;
	if (node->group == NULL)
		return 0;
	for (uint32_t g = 0; g < c->cfg->n_groups; g++) {
		const struct wf_read_group *group = &c->cfg->groups[g];

		if (strlen(group->name) == node->group_len &&
		    memcmp(group->name, node->group, node->group_len) == 0) {
			*number_p = g + 1;
			return 0;
		}
	}
	return say(c, node, "is for a group that is not in the list of groups");
}

static int coll_kind(const struct chakra *c, const struct wf_chakra_node *node,
                     enum wf_coll_kind *kind_p)
{
	static const struct {
		enum wf_chakra_coll theirs;
		enum wf_coll_kind ours;
	} kinds[] = {
		{ WF_CHAKRA_ALL_REDUCE, WF_COLL_ALL_REDUCE },
		{ WF_CHAKRA_ALL_GATHER, WF_COLL_ALL_GATHER },
		{ WF_CHAKRA_BROADCAST, WF_COLL_BROADCAST },
		{ WF_CHAKRA_ALL_TO_ALL, WF_COLL_ALL_TO_ALL },
		{ WF_CHAKRA_REDUCE_SCATTER, WF_COLL_REDUCE_SCATTER },
		{ WF_CHAKRA_REDUCE_SCATTER_BLOCK, WF_COLL_REDUCE_SCATTER },
		{ WF_CHAKRA_BARRIER, WF_COLL_BARRIER },
	};

	if ((node->has & WF_CHAKRA_HAS_COMM_TYPE) == 0)
		return say(c, node, "is a collective without comm_type");
	for (size_t i = 0; i < WF_ARRAY_SIZE(kinds); i++) {
		if (node->comm_type == (uint64_t)kinds[i].theirs) {
			*kind_p = kinds[i].ours;
			return 0;
		}
	}
	return say(c, node,
	           "is a collective of a kind (comm_type) that is not supported; all-reduce, "
	           "all-gather, reduce-scatter, all-to-all, broadcast and barrier are");
}

static uint32_t group_size(const struct chakra *c, uint32_t group)
{
	return group == 0 ? c->cfg->cluster.n_ranks : c->cfg->groups[group - 1].n;
}

static uint32_t group_rank(const struct chakra *c, uint32_t group, uint32_t pos)
{
	return group == 0 ? pos : c->cfg->groups[group - 1].ranks[pos];
}

/* The place of this rank in a group; its size when it is not in it. */
static uint32_t group_pos(const struct chakra *c, uint32_t group)
{
	uint32_t low = 0, high = group_size(c, group);

	if (group == 0)
		return c->rank;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (group_rank(c, group, mid) < c->rank)
			low = mid + 1;
		else
			high = mid;
	}
	return low < group_size(c, group) && group_rank(c, group, low) == c->rank
	               ? low
	               : group_size(c, group);
}

static int add_coll(struct chakra *c, const struct wf_chakra_node *node, struct reach *reach)
{
	struct wf_step step = { .kind = WF_ITEM_COLL, .bytes = node->comm_size };
	struct wf_coll coll;
	uint32_t group = 0, pos;
	int ret = find_group(c, node, &group);

	if (ret == 0)
		ret = coll_kind(c, node, &step.coll);
	if (ret != 0)
		return ret;
	pos = group_pos(c, group);
	if (pos == group_size(c, group))
		return say(c, node, "is for a group that its rank is not in");
	if (step.coll == WF_COLL_ALL_GATHER) /* Chakra: what each rank gives; here: what it gets */
		step.bytes *= group_size(c, group);
	if (node->comm_size > WF_READ_MAX_BYTES || step.bytes > WF_READ_MAX_BYTES)
		return say(c, node, "is a collective of over a terabyte");
	if (node->root >= group_size(c, group))
		return say(c, node, "has a root that is not in its group");
	if (group_size(c, group) == 1 || (step.bytes == 0 && step.coll != WF_COLL_BARRIER))
		return 0; /* others wait for what it waits for */
	step.comm = c->comms[group];
	step.root = (uint32_t)node->root;
	coll = (struct wf_coll){ .kind = (uint8_t)step.coll,
		                 .bytes = step.bytes,
		                 .comm = { .n = group_size(c, group) } };
	c->order[group][pos] = wf_mix64(c->order[group][pos] * 31 + step.bytes * WF_COLL_KINDS +
	                                (uint64_t)step.coll + 1);
	ret = add_group(c, wf_coll_kind_name(step.coll), &coll, &step.group);
	return ret != 0 ? ret : add(c, LANE_COLL + group % COLL_LANES, &step, reach);
}

static int add_message(struct chakra *c, const struct wf_chakra_node *node, struct reach *reach)
{
	bool send = node->type == WF_CHAKRA_SEND;
	uint32_t peer = (uint32_t)peer_of(node), src = send ? c->rank : peer;
	struct wf_step step = { .kind = send ? WF_ITEM_SEND : WF_ITEM_RECV,
		                .bytes = node->comm_size,
		                .delta = (int64_t)peer - c->rank,
		                .tag = (uint32_t)node->comm_tag };
	struct reach before = *reach;
	int ret = add_group(c, send ? "send" : "recv", NULL, &step.group);

	c->halves[c->n_halves++] = (struct half){ .src = src,
		                                  .dst = send ? peer : c->rank,
		                                  .tag = step.tag,
		                                  .rank = c->rank,
		                                  .offset = node->offset };
	if (ret == 0 && !send)
		memset(reach, 0, sizeof(*reach));
	if (ret == 0)
		ret = add(c, LANE_P2P + c->colour[src], &step, reach);
	/*
	 * A receive is started as soon as its lane comes to it, as if there were room for every
	 * message before it is wanted; what waits for it waits for what it waits for as well.
	 */
	if (!send)
		extend(reach, &before);
	return ret;
}

static int add_work(struct chakra *c, const struct wf_chakra_node *node, struct reach *reach)
{
	bool gpu = node->type == WF_CHAKRA_COMP && !node->cpu;
	struct wf_step step = { .kind = gpu ? WF_ITEM_CALC : WF_ITEM_WAIT, .group = WF_GROUP_NONE };
	int ret = 0;

	if (node->micros > WF_READ_MAX_NS / 1000)
		return say(c, node, "lasts over 11 days");
	step.time = (wf_time)node->micros * WF_US;
	if (step.time == 0 && gpu && c->cfg->gpu != NULL) {
		/* The time for its operations, or for its data if that is longer. */
		if (node->num_ops > UINT64_C(1) << 62 || node->tensor_size > WF_READ_MAX_BYTES)
			return say(c, node, "computes more than can be counted");
		step.time = wf_max_time(wf_gpu_compute_time(c->cfg->gpu, node->num_ops),
		                        wf_gpu_memory_time(c->cfg->gpu, node->tensor_size));
	}
	if (step.time == 0)
		return 0;
	ret = gpu ? add_group(c, "compute", NULL, &step.group) : 0;
	return ret != 0 ? ret : add(c, gpu ? LANE_GPU : LANE_CPU, &step, reach);
}

static int add_node(struct chakra *c, const struct wf_chakra_node *node, struct reach *reach)
{
	switch ((enum wf_chakra_type)node->type) {
	case WF_CHAKRA_COLL:
		return add_coll(c, node, reach);
	case WF_CHAKRA_SEND:
	case WF_CHAKRA_RECV:
		return add_message(c, node, reach);
	case WF_CHAKRA_COMP:
	case WF_CHAKRA_MEM_LOAD:
	case WF_CHAKRA_MEM_STORE:
	case WF_CHAKRA_STORAGE:
	case WF_CHAKRA_CHECKPOINT:
		return add_work(c, node, reach);
	case WF_CHAKRA_INVALID:
	case WF_CHAKRA_METADATA:
	case WF_CHAKRA_BATCH:
	case WF_CHAKRA_TYPES:
		break;
	}
	return 0;
}

/* ---- the order of a rank's nodes ---- */

static int by_id(const void *a, const void *b, const void *arg)
{
	const struct entry *x = a, *y = b;

	(void)arg;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int index_nodes(struct chakra *c, const struct wf_chakra_trace *trace)
{
	struct entry *room = c->mem->alloc(c->mem, (trace->n_nodes + 1) * sizeof(*room));

	if (room == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < trace->n_nodes; i++)
		c->entries[i] = (struct entry){ .id = trace->nodes[i].id, .index = (uint32_t)i };
	wf_sort(c->entries, room, trace->n_nodes, sizeof(*room), by_id, NULL);
	c->mem->free(c->mem, room);
	for (size_t i = 1; i < trace->n_nodes; i++) {
		if (c->entries[i - 1].id == c->entries[i].id)
			return say(c, &trace->nodes[c->entries[i].index],
			           "is there a second time; ids are used once");
	}
	return 0;
}

static int find_node(const struct chakra *c, const struct wf_chakra_trace *trace,
                     const struct wf_chakra_node *from, uint64_t id, uint32_t *index_p)
{
	size_t low = 0, high = trace->n_nodes;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (c->entries[mid].id == id) {
			*index_p = c->entries[mid].index;
			return 0;
		}
		if (c->entries[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return say(c, from, "waits for a node that is not in the file");
}

/* Adds a node after those it waits for, which come first if they are not there yet. */
static int add_in_order(struct chakra *c, const struct wf_chakra_trace *trace, uint32_t first)
{
	uint32_t depth = 0, other = 0;
	int ret;

	if (c->mark[first] == DONE)
		return 0;
	c->stack[depth++] = first;
	c->mark[first] = OPEN;
	while (depth > 0) {
		uint32_t top = c->stack[depth - 1];
		const struct wf_chakra_node *node = &trace->nodes[top];

		if (c->next[top] == node->n_deps) {
			ret = add_node(c, node, &c->reach[top]);
			if (ret != 0)
				return ret;
			c->mark[top] = DONE;
			depth--;
			continue;
		}
		ret = find_node(c, trace, node, trace->deps[node->first_dep + c->next[top]],
		                &other);
		if (ret != 0)
			return ret;
		if (c->mark[other] == OPEN)
			return say(c, node, "waits for one that waits for it");
		if (c->mark[other] == WHITE) {
			c->mark[other] = OPEN;
			c->stack[depth++] = other;
			continue;
		}
		extend(&c->reach[top], &c->reach[other]);
		c->next[top]++;
	}
	return 0;
}

static int write_rank(struct chakra *c)
{
	const struct wf_chakra_trace *trace = &c->traces[c->rank];
	size_t n = trace->n_nodes + 1;
	struct wf_arena arena;
	int ret = -ENOMEM;

	wf_arena_init(&arena);
	c->entries = wf_arena_alloc(&arena, n * sizeof(*c->entries), sizeof(uint64_t));
	c->reach = wf_arena_alloc(&arena, n * sizeof(*c->reach), sizeof(uint64_t));
	c->stack = wf_arena_alloc(&arena, n * sizeof(*c->stack), sizeof(uint64_t));
	c->next = wf_arena_alloc(&arena, n * sizeof(*c->next), sizeof(uint64_t));
	c->mark = wf_arena_alloc(&arena, n, sizeof(uint64_t));
	if (c->entries != NULL && c->reach != NULL && c->stack != NULL && c->next != NULL &&
	    c->mark != NULL)
		ret = index_nodes(c, trace);
	for (uint32_t i = 0; ret == 0 && i < trace->n_nodes; i++)
		ret = add_in_order(c, trace, i);
	wf_arena_fini(&arena);
	return ret;
}

/* ---- groups ---- */

static int add_comms(struct chakra *c)
{
	uint32_t n = c->cfg->n_groups + 1;
	int ret = 0;

	c->comms = wf_arena_alloc(&c->arena, n * sizeof(*c->comms), sizeof(uint64_t));
	c->order = wf_arena_alloc(&c->arena, n * sizeof(*c->order), sizeof(uint64_t));
	if (c->comms == NULL || c->order == NULL)
		return -ENOMEM;
	for (uint32_t g = 0; ret == 0 && g < n; g++) {
		uint32_t size = group_size(c, g), *list = NULL;

		c->order[g] = wf_arena_alloc(&c->arena, size * sizeof(uint64_t), sizeof(uint64_t));
		if (g > 0)
			list = wf_script_keep(c->script, size * sizeof(*list));
		if (c->order[g] == NULL || (g > 0 && list == NULL))
			return -ENOMEM;
		if (g > 0)
			memcpy(list, c->cfg->groups[g - 1].ranks, size * sizeof(*list));
		ret = wf_script_comm(c->script, size, 1, list, &c->comms[g]);
	}
	return ret;
}

/* Sees that all ranks of a group do the same on it. */
static int check_order(const struct chakra *c)
{
	for (uint32_t g = 0; g <= c->cfg->n_groups; g++) {
		for (uint32_t i = 1; i < group_size(c, g); i++) {
			if (c->order[g][i] != c->order[g][0])
				return wf_err_say(
					c->err,
					"%s: rank %" PRIu32
					" has other collectives of %s%s than rank %" PRIu32
					"; all of a group have the same, in the same order",
					c->cfg->files[group_rank(c, g, i)].name,
					group_rank(c, g, i), g == 0 ? "all ranks" : "group ",
					g == 0 ? "" : c->cfg->groups[g - 1].name,
					group_rank(c, g, 0));
		}
	}
	return 0;
}

static int read_all(struct chakra *c)
{
	uint32_t n_ranks = c->cfg->cluster.n_ranks;
	int ret = 0;

	c->traces = wf_arena_alloc(&c->arena, n_ranks * sizeof(*c->traces), sizeof(uint64_t));
	c->colour = wf_arena_alloc(&c->arena, n_ranks, sizeof(uint64_t));
	if (c->traces == NULL || c->colour == NULL)
		return -ENOMEM;
	for (uint32_t r = 0; ret == 0 && r < n_ranks; r++) {
		const struct wf_read_file *file = &c->cfg->files[r];

		ret = wf_chakra_parse(file->bytes, file->len, file->name, &c->arena, &c->traces[r],
		                      c->err);
		if (ret == 0 && c->traces[r].n_nodes >= UINT32_MAX)
			ret = wf_err_byte(c->err, file->name, 0, "there are more than 2^32 nodes");
	}
	if (ret == 0)
		ret = add_comms(c);
	if (ret == 0)
		ret = colour_ranks(c);
	for (c->rank = 0; ret == 0 && c->rank < n_ranks; c->rank++)
		ret = write_rank(c);
	if (ret == 0)
		ret = match_messages(c);
	return ret != 0 ? ret : check_order(c);
}

int wf_read_chakra(const struct wf_chakra_cfg *cfg, struct wf_mem *mem, struct wf_plan **plan_p,
                   struct wf_err *err)
{
	struct chakra c = { .cfg = cfg, .mem = mem, .err = err };
	int ret = wf_script_create(&cfg->cluster, WF_PLAN_MAX_LANES, cfg->cluster.n_ranks, 1, mem,
	                           &c.script);

	if (ret != 0)
		return ret;
	wf_arena_init(&c.arena);
	ret = read_all(&c);
	wf_arena_fini(&c.arena);
	if (ret != 0) {
		wf_script_destroy(c.script);
		return ret;
	}
	*plan_p = wf_script_plan(c.script);
	return 0;
}
