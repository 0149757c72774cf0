/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - the schedule of a plan.
 *
 * Lane l of a rank becomes 1 + C streams: a control stream and one for each of the C channels that
 * some of its items use. The control stream has, for each item, an operation that begins it and one
 * that ends it (of a calculation, one that does both); each makes a mark, so that item k of the
 * lane begins with mark 2k and is over with mark 2k + 1. Each channel's stream has the operations
 * of its part of each communicating item, and one mark behind them.
 *
 *	control    ... begin k ............................ end k (mark 2k + 1) ...
 *	               (mark 2k) \                        /
 *	channel 0                 send, recv, ... , mark j      j: communicating items before k
 *	channel 1                 send, recv, ... , mark j
 *
 * A collective that stays inside a server and shares its NVLinks with nothing is not executed: the
 * control stream has one operation for it, with which its ranks meet, and the channels nothing
 * (job/inside.h).
 */
#include "job/plan.h"

#include <errno.h>
#include <string.h>

#include "job/coll_priv.h"
#include "job/inside.h"

#define TAG_ITEMS (1u << 31) /* and up: tags of point-to-point items */
#define SEEN 16
#define LOOK_AHEAD 1000

struct plan_schedule {
	struct wf_schedule schedule;
	struct wf_plan *plan;
	struct wf_coll_cfg cfg;
	struct wf_mem *mem;
	struct lane {
		uint32_t first;    /* its control stream; those of its channels follow */
		uint32_t channels; /* that some item uses */
		uint32_t window;   /* of a channel's stream */
	} lane[WF_PLAN_MAX_LANES];
	uint32_t n_streams;
	struct wf_grants *grants; /* who reduces in the network's switches; NULL: nobody asked */
	struct wf_inside *inside; /* what collectives inside a server take; NULL: all is executed */
	struct wf_nvlink nvlink;
};

/* One stream's state; the plan's own cursor lies behind it. */
struct cursor {
	uint32_t rank, lane;
	uint32_t item;    /* number of the present one */
	uint32_t comms;   /* communicating items so far, this one not */
	uint32_t number;  /* of the next operation */
	uint32_t k;       /* control: which operation of the item is next */
	uint32_t begun;   /* channel: number of the item's first operation */
	bool loaded;      /* item is valid */
	uint16_t channel; /* 0: control; else channel - 1 */
	uint64_t left;    /* point to point: bytes to go */
	const struct wf_gen_ops *gen;
	struct wf_item now;
	struct wf_part part;
	union wf_gen_state state;
};

static const struct plan_schedule *of(const struct wf_schedule *s)
{
	return wf_container_of(s, const struct plan_schedule, schedule);
}

static uint32_t control_stream(const struct plan_schedule *p, uint32_t lane)
{
	return p->lane[lane].first;
}

/* How GPUs of a server are connected, where what passes through them is estimated. */
static const struct wf_nvlink *nvlink_of(const struct plan_schedule *p)
{
	return p->inside != NULL && p->nvlink.lines ? &p->nvlink : NULL;
}

/* A rank's part in the collective that is the cursor's item, on a channel. */
static const struct wf_gen_ops *init_part(const struct plan_schedule *p, struct cursor *c,
                                          uint32_t channel)
{
	const struct wf_gen_ops *gen = wf_part_init(&c->part, &p->plan->cluster, &p->cfg,
	                                            nvlink_of(p), &c->now.coll, c->rank, channel);

	/* None is WF_GROUP_NONE, and one more 0. */
	c->part.reducer = wf_grants_first(p->grants, &c->now.coll.comm, c->lane) + 1;
	return gen;
}

/* Whether an item is a collective that is not executed. */
static bool is_calculated(const struct plan_schedule *p, const struct wf_item *item)
{
	return p->inside != NULL && item->kind == WF_ITEM_COLL && item->coll.comm.n >= 2 &&
	       wf_inside_has(&p->plan->cluster, &item->coll.comm);
}

/* Whether it has operations on the channels. */
static bool communicates(const struct plan_schedule *p, const struct wf_item *item)
{
	return item->kind != WF_ITEM_CALC && item->kind != WF_ITEM_WAIT && !is_calculated(p, item);
}

static uint32_t plan_streams(const struct wf_schedule *s, uint32_t rank)
{
	(void)rank;
	return of(s)->n_streams;
}

/* The lane that a stream belongs to. */
static uint32_t lane_of(const struct plan_schedule *p, uint32_t stream)
{
	uint32_t lane = p->plan->n_lanes - 1;

	while (p->lane[lane].first > stream)
		lane--;
	return lane;
}

static uint32_t plan_window(const struct wf_schedule *s, uint32_t rank, uint32_t stream)
{
	const struct lane *lane = &of(s)->lane[lane_of(of(s), stream)];

	(void)rank;
	return stream == lane->first ? 8 : lane->window;
}

static void plan_start(const struct wf_schedule *s, uint32_t rank, uint32_t stream, void *cursor)
{
	const struct plan_schedule *p = of(s);
	struct cursor *c = cursor;

	c->rank = rank;
	c->lane = lane_of(p, stream);
	c->channel = (uint16_t)(stream - p->lane[c->lane].first);
	p->plan->ops->start(p->plan, rank, c->lane, c + 1);
}

static bool take_item(const struct plan_schedule *p, struct cursor *c)
{
	c->now = (struct wf_item){ .group = WF_GROUP_NONE };
	c->loaded = p->plan->ops->next(p->plan, c + 1, &c->now);
	c->k = 0;
	return c->loaded;
}

static void item_over(const struct plan_schedule *p, struct cursor *c)
{
	c->comms += communicates(p, &c->now);
	c->item++;
	c->loaded = false;
}

/* ---- the control stream ---- */

/* What an item waits for: the one before it, and those it names. */
static uint32_t begin_deps(const struct plan_schedule *p, const struct cursor *c,
                           struct wf_op_dep *deps)
{
	uint32_t n = 0;

	if (c->item > 0)
		deps[n++] = (struct wf_op_dep){ .stream = (uint16_t)control_stream(p, c->lane),
			                        .number = 2 * c->item - 1,
			                        .on = WF_ON_MARK };
	for (uint32_t i = 0; i < c->now.n_deps; i++)
		deps[n++] = (struct wf_op_dep){
			.stream = (uint16_t)control_stream(p, c->now.dep[i].lane),
			.number = 2 * c->now.dep[i].number + 1,
			.on = WF_ON_MARK,
		};
	return n;
}

/* Tells groups with the same first rank and number of ranks from one another. */
static uint32_t comm_tag(const struct wf_comm *comm)
{
	uint32_t tag = comm->stride;

	for (uint32_t i = 0; comm->list != NULL && i < comm->n; i++)
		tag = (tag ^ comm->list[i]) * UINT32_C(16777619);
	return tag;
}

/* Makes op a meeting of n ranks of the item's group, the first of which is at pos. */
static void meet_op(const struct cursor *c, uint32_t pos, uint32_t n, wf_time time,
                    struct wf_op *op)
{
	const struct wf_comm *comm = &c->now.coll.comm;

	op->kind = WF_OP_MEET;
	op->time = time;
	op->peer = wf_comm_rank(comm, pos);
	op->tag = comm_tag(comm);
	op->channel = (uint16_t)c->lane;
	op->blocks = n;
}

/* GPUs of a server that do a collective together begin together, if its launch is time for that. */
static void begin_together(const struct plan_schedule *p, const struct cursor *c, struct wf_op *op)
{
	struct wf_run run;
	struct wf_part part = { 0 };

	if (nvlink_of(p) == NULL || c->now.kind != WF_ITEM_COLL ||
	    p->cfg.launch < p->nvlink.latency)
		return;
	(void)wf_part_init(&part, &p->plan->cluster, &p->cfg, nvlink_of(p), &c->now.coll, c->rank,
	                   0);
	if (!wf_part_has_line(&part))
		return;
	run = wf_part_run(&part, part.pos);
	/* The first message over NVLink waits for word that it may come. */
	meet_op(c, run.first, run.end - run.first,
	        p->cfg.launch + wf_max_time(0, p->nvlink.latency - part.step_nvlink), op);
}

/* The operation with which an item begins, which for what is calculated is all there is. */
static void begin_op(const struct plan_schedule *p, const struct cursor *c, struct wf_op *op)
{
	bool marked = c->now.group != WF_GROUP_NONE;

	op->group = c->now.group;
	op->flags = marked ? WF_OP_BEGINS : 0;
	op->marks = 1;
	op->time = p->cfg.launch;
	if (communicates(p, &c->now)) {
		begin_together(p, c, op);
		return;
	}
	op->flags |= marked ? WF_OP_ENDS : 0;
	op->marks = 2;
	op->time = c->now.time;
	if (c->now.kind == WF_ITEM_COLL)
		meet_op(c, 0, c->now.coll.comm.n, wf_inside_time(p->inside, &c->now.coll), op);
	if (c->now.kind == WF_ITEM_CALC)
		op->unit = WF_UNIT_COMPUTE;
}

static bool control_next(const struct plan_schedule *p, struct cursor *c, struct wf_op *op)
{
	uint16_t stream = (uint16_t)control_stream(p, c->lane);
	struct wf_op_dep deps[1 + WF_ITEM_DEPS + 256];
	uint32_t n, joins, k;

	if (!c->loaded && !take_item(p, c))
		return false;
	op->kind = WF_OP_CALC;
	n = begin_deps(p, c, deps);
	joins = wf_op_joins(n);
	k = c->k++;
	if (k < joins) {
		wf_op_join(op, k, deps, n, stream, c->number - k);
		if (k == joins - 1) {
			begin_op(p, c, op);
			if (!communicates(p, &c->now))
				item_over(p, c);
		}
		c->number++;
		return true;
	}
	k -= joins;
	deps[0] = (struct wf_op_dep){ .stream = stream, .number = 2 * c->item, .on = WF_ON_MARK };
	for (n = 1; n <= p->lane[c->lane].channels; n++)
		deps[n] = (struct wf_op_dep){ .stream = (uint16_t)(stream + n),
			                      .number = c->comms,
			                      .on = WF_ON_MARK };
	wf_op_join(op, k, deps, n, stream, c->number - k);
	c->number++;
	if (k == wf_op_joins(n) - 1) {
		op->group = c->now.group;
		op->flags = c->now.group != WF_GROUP_NONE ? WF_OP_ENDS : 0;
		op->marks = 1;
		item_over(p, c);
	}
	return true;
}

/* ---- a channel's stream ---- */

/* The first of a stream's two own units. */
static uint32_t channel_unit(uint32_t stream)
{
	return 1 + 2 * stream;
}

/* The first unit of a stream's line: they are behind the streams' own. */
static uint32_t line_unit(const struct plan_schedule *p, uint32_t stream)
{
	return channel_unit(plan_streams(&p->schedule, 0)) + stream * p->plan->cluster.gpus;
}

/* Which channel a point-to-point message takes: both ends know. */
static uint32_t p2p_channel(const struct plan_schedule *p, const struct cursor *c)
{
	return (c->rank + c->now.peer) % p->lane[c->lane].channels;
}

static void begin_part(const struct plan_schedule *p, struct cursor *c)
{
	uint32_t channel = c->channel - 1u;

	c->begun = c->number;
	c->gen = NULL;
	c->left = 0;
	if (c->now.kind == WF_ITEM_COLL) {
		c->gen = init_part(p, c, channel);
		memset(&c->state, 0, sizeof(c->state));
		if (c->gen != NULL)
			c->gen->start(&c->part, &c->state);
	} else if (channel == p2p_channel(p, c)) {
		c->left = wf_max_u64(1, c->now.bytes);
	}
}

/* The next piece of a point-to-point message; as many as slots may be under way. */
static bool p2p_next(const struct plan_schedule *p, struct cursor *c, struct wf_op *op)
{
	uint32_t k = c->number - c->begun;
	uint64_t bytes = wf_min_u64(c->left, p->cfg.p2p_chunk);
	bool local = wf_cluster_local(&p->plan->cluster, c->rank, c->now.peer);

	if (c->left == 0)
		return false;
	c->left -= bytes;
	op->kind = c->now.kind == WF_ITEM_SEND ? WF_OP_SEND : WF_OP_RECV;
	op->peer = c->now.peer;
	op->tag = TAG_ITEMS + c->now.tag;
	op->bytes = c->now.bytes == 0 ? 0 : bytes;
	if (c->now.kind == WF_ITEM_SEND) {
		op->time = local ? p->cfg.nvlink_simple : p->cfg.net_simple;
	} else {
		op->unit = WF_UNIT_CHANNEL;
		op->time =
			wf_time_cap((unsigned __int128)bytes * 8 * (uint64_t)WF_S / p->cfg.reduce);
	}
	if (k >= p->cfg.steps)
		wf_gen_after(op, k - p->cfg.steps);
	return true;
}

static bool channel_next(const struct plan_schedule *p, struct cursor *c, struct wf_op *op)
{
	uint32_t control = control_stream(p, c->lane);
	bool more;

	if (!c->loaded) {
		do {
			if (!take_item(p, c))
				return false;
			if (!communicates(p, &c->now))
				item_over(p, c);
		} while (!c->loaded);
		begin_part(p, c);
	}
	if (c->now.kind == WF_ITEM_COLL)
		more = c->gen != NULL && c->gen->next(&c->part, &c->state, op);
	else
		more = p2p_next(p, c, op);
	c->number++;
	if (!more) {
		op->kind = WF_OP_CALC;
		op->marks = 1;
		item_over(p, c);
		return true;
	}
	for (unsigned i = 0; i < op->n_deps; i++) {
		op->dep[i].stream = (uint16_t)(control + c->channel);
		op->dep[i].number += c->begun;
	}
	if (op->n_deps == 0) {
		/* A collective's first step. */
		if (c->now.kind == WF_ITEM_COLL && op->kind == WF_OP_SEND)
			op->time += c->part.late;
		op->dep[op->n_deps++] = (struct wf_op_dep){ .stream = (uint16_t)control,
			                                    .number = 2 * c->item,
			                                    .on = WF_ON_MARK };
	}
	if (op->unit == WF_UNIT_CHANNEL || op->unit == WF_UNIT_BACK)
		op->unit =
			(uint16_t)(channel_unit(control + c->channel) + op->unit - WF_UNIT_CHANNEL);
	op->line = (uint16_t)(op->line + line_unit(p, control + c->channel));
	op->group = c->now.group;
	op->channel = (uint16_t)(control + c->channel);
	return true;
}

static bool plan_next(const struct wf_schedule *s, void *cursor, struct wf_op *op)
{
	struct cursor *c = cursor;

	return c->channel == 0 ? control_next(of(s), c, op) : channel_next(of(s), c, op);
}

/* ---- who talks to whom ---- */

struct telling {
	wf_schedule_peer_fn *fn;
	void *arg;
	uint16_t channel;
};

static void tell(void *arg, uint32_t peer)
{
	const struct telling *t = arg;

	t->fn(t->arg, peer, t->channel);
}

static bool same_peers(const struct wf_coll *a, const struct wf_coll *b)
{
	return a->kind == b->kind && a->alg == b->alg && a->proto == b->proto &&
	       a->bytes == b->bytes && a->root == b->root && a->comm.n == b->comm.n &&
	       a->comm.base == b->comm.base && a->comm.stride == b->comm.stride &&
	       a->comm.list == b->comm.list;
}

static void coll_peers(const struct plan_schedule *p, struct cursor *c, struct telling *t)
{
	for (uint32_t i = 0; i < p->lane[c->lane].channels; i++) {
		const struct wf_gen_ops *gen = init_part(p, c, i);

		t->channel = (uint16_t)(control_stream(p, c->lane) + 1 + i);
		if (gen != NULL)
			gen->peers(&c->part, tell, t);
	}
}

static void lane_peers(const struct plan_schedule *p, struct cursor *c, struct telling *t)
{
	struct wf_coll seen[SEEN];
	unsigned n_seen = 0, i;

	while (take_item(p, c)) {
		if (c->now.kind == WF_ITEM_SEND) {
			t->channel = (uint16_t)(control_stream(p, c->lane) + 1 + p2p_channel(p, c));
			tell(t, c->now.peer);
		}
		if (c->now.kind != WF_ITEM_COLL || is_calculated(p, &c->now))
			continue;
		for (i = 0; i < n_seen && i < SEEN; i++) {
			if (same_peers(&seen[i], &c->now.coll))
				break;
		}
		if (i < n_seen && i < SEEN)
			continue;
		seen[n_seen++ % SEEN] = c->now.coll;
		coll_peers(p, c, t);
	}
}

static int plan_peers(const struct wf_schedule *s, uint32_t rank, wf_schedule_peer_fn *fn,
                      void *arg)
{
	const struct plan_schedule *p = of(s);
	struct telling t = { .fn = fn, .arg = arg };
	struct cursor *c;

	c = p->mem->alloc(p->mem, s->ops->cursor);
	if (c == NULL)
		return -ENOMEM;
	for (uint32_t lane = 0; lane < p->plan->n_lanes; lane++) {
		memset(c, 0, s->ops->cursor);
		plan_start(s, rank, control_stream(p, lane), c);
		lane_peers(p, c, &t);
	}
	p->mem->free(p->mem, c);
	return 0;
}

static void plan_group(const struct wf_schedule *s, uint32_t group, struct wf_group *group_p)
{
	of(s)->plan->ops->group(of(s)->plan, group, &of(s)->cfg, group_p);
}

static void plan_destroy(struct wf_schedule *s)
{
	struct plan_schedule *p = wf_container_of(s, struct plan_schedule, schedule);

	p->plan->ops->destroy(p->plan);
	wf_inside_destroy(p->inside);
	wf_grants_destroy(p->grants);
	p->mem->free(p->mem, (void *)(uintptr_t)p->schedule.ops);
	p->mem->free(p->mem, p);
}

static const struct wf_schedule_ops plan_ops = {
	.name = "plan",
	.streams = plan_streams,
	.window = plan_window,
	.start = plan_start,
	.next = plan_next,
	.peers = plan_peers,
	.group = plan_group,
	.destroy = plan_destroy,
};

/*
 * How much of a lane's streams is to be held: what the collectives want that the first items of
 * some ranks are. It decides how well they overlap, not whether they end. On the way: the longest
 * message.
 */
static uint32_t widest(struct plan_schedule *p, uint32_t lane, struct cursor *c)
{
	uint32_t ranks[2] = { 0, p->plan->cluster.n_ranks - 1 };
	uint32_t window = 2 * p->cfg.steps;

	for (unsigned i = 0; i < 2; i++) {
		memset(c, 0, p->schedule.ops->cursor);
		plan_start(&p->schedule, ranks[i], control_stream(p, lane), c);
		for (unsigned n = 0; n < LOOK_AHEAD && take_item(p, c); n++) {
			const struct wf_gen_ops *gen;

			if (c->now.kind != WF_ITEM_COLL)
				continue;
			gen = init_part(p, c, 0);
			if (gen != NULL && gen->window(&c->part) > window)
				window = gen->window(&c->part);
			/* The only one whose messages are not bound by a buffer. */
			if (gen != NULL && c->part.coll.alg == WF_ALG_HALVING)
				p->schedule.max_message =
					wf_max_u64(p->schedule.max_message,
				                   wf_part_wire(&c->part, c->part.bytes));
		}
	}
	return window;
}

/* ---- what stays inside servers ---- */

/* Whether some ranks of a group are in the same server. */
static bool shares_server(const struct wf_cluster *cluster, const struct wf_comm *comm)
{
	/* Ranks that are a stride apart fall into servers in the same way again and again. */
	uint32_t n = comm->list != NULL || comm->n <= cluster->gpus ? comm->n : cluster->gpus + 1;

	for (uint32_t i = 1; i < n; i++) {
		if (wf_cluster_local(cluster, wf_comm_rank(comm, i - 1), wf_comm_rank(comm, i)))
			return true;
	}
	return false;
}

static bool uses_nvlink(const struct plan_schedule *p, const struct cursor *c)
{
	switch (c->now.kind) {
	case WF_ITEM_COLL:
		return shares_server(&p->plan->cluster, &c->now.coll.comm);
	case WF_ITEM_SEND:
	case WF_ITEM_RECV:
		return wf_cluster_local(&p->plan->cluster, c->rank, c->now.peer);
	case WF_ITEM_CALC:
	case WF_ITEM_WAIT:
		break;
	}
	return false;
}

/* The shortest time that ranks of a server meet for, of those that are known and this one. */
static void note_meet(struct plan_schedule *p, wf_time time)
{
	wf_time *shortest = &p->schedule.shortest_meet;

	*shortest = *shortest == 0 ? time : wf_min_time(*shortest, time);
}

/*
 * Goes through a lane of all ranks: learns the times of collectives that stay inside a server, and
 * whether the lane uses NVLink at all.
 */
static int survey(struct plan_schedule *p, uint32_t lane, struct cursor *c, bool *uses_p)
{
	int ret = 0;

	*uses_p = false;
	for (uint32_t rank = 0; rank < p->schedule.n_ranks && ret == 0; rank++) {
		memset(c, 0, p->schedule.ops->cursor);
		plan_start(&p->schedule, rank, control_stream(p, lane), c);
		while (ret == 0 && take_item(p, c)) {
			bool uses = uses_nvlink(p, c);

			*uses_p |= uses;
			if (is_calculated(p, &c->now)) {
				ret = wf_inside_learn(p->inside, &c->now.coll);
				if (ret == 0)
					note_meet(p, wf_inside_time(p->inside, &c->now.coll));
			} else if (uses && nvlink_of(p) != NULL &&
			           p->cfg.launch >= p->nvlink.latency) {
				note_meet(p, p->cfg.launch);
			}
		}
	}
	return ret;
}

/*
 * Finds out what need not be executed. Where two lanes use NVLink, one may slow the other down:
 * then all is.
 */
static int look_inside(struct plan_schedule *p, const struct wf_nvlink *nvlink, struct cursor *c)
{
	uint32_t lanes = 0, streams = plan_streams(&p->schedule, 0);
	int ret;

	/* Units have numbers of 16 bits. */
	if (line_unit(p, streams) > UINT16_MAX)
		return 0;
	p->nvlink = *nvlink;
	ret = wf_inside_create(&p->plan->cluster, &p->cfg, nvlink, p->mem, &p->inside);

	for (uint32_t lane = 0; lane < p->plan->n_lanes && ret == 0 && lanes < 2; lane++) {
		bool uses;

		ret = survey(p, lane, c, &uses);
		lanes += uses;
	}
	if (ret == 0 && lanes == 1)
		return 0;
	p->schedule.shortest_meet = 0;
	wf_inside_destroy(p->inside);
	p->inside = NULL;
	return ret;
}

/* Gives lanes their streams. */
static void lay_out(struct plan_schedule *p)
{
	p->n_streams = 0;
	for (uint32_t lane = 0; lane < p->plan->n_lanes; lane++) {
		p->lane[lane].first = p->n_streams;
		p->n_streams += 1 + p->lane[lane].channels;
	}
}

/* The most channels that an item of a lane has operations on, on any rank. */
static uint32_t busiest(const struct plan_schedule *p, uint32_t lane, struct cursor *c)
{
	uint32_t most = 0;

	for (uint32_t rank = 0; rank < p->schedule.n_ranks; rank++) {
		memset(c, 0, p->schedule.ops->cursor);
		plan_start(&p->schedule, rank, control_stream(p, lane), c);
		while (take_item(p, c)) {
			uint32_t channels = communicates(p, &c->now);

			if (channels > 0 && c->now.kind == WF_ITEM_COLL) {
				(void)wf_part_init(&c->part, &p->plan->cluster, &p->cfg,
				                   nvlink_of(p), &c->now.coll, rank, 0);
				channels = c->now.coll.comm.n < 2 ? 0 : c->part.active;
			}
			most = channels > most ? channels : most;
		}
	}
	return most;
}

/* What the plan's items need: known times, streams, windows. */
static int measure(struct plan_schedule *p, const struct wf_nvlink *nvlink, struct cursor *c)
{
	uint32_t channels[WF_PLAN_MAX_LANES];
	int ret;

	for (uint32_t lane = 0; lane < p->plan->n_lanes; lane++)
		p->lane[lane].channels = p->cfg.channels;
	lay_out(p);
	ret = nvlink != NULL ? look_inside(p, nvlink, c) : 0;
	for (uint32_t lane = 0; lane < p->plan->n_lanes && ret == 0; lane++) {
		channels[lane] = busiest(p, lane, c);
		p->lane[lane].window = widest(p, lane, c);
	}
	for (uint32_t lane = 0; lane < p->plan->n_lanes && ret == 0; lane++)
		p->lane[lane].channels = channels[lane];
	lay_out(p);
	return ret;
}

/* Asks for all communicators, in the order of ranks and lanes. */
static int ask_network(struct plan_schedule *p, const struct wf_net_reducer *reducer,
                       struct cursor *c)
{
	int ret = wf_grants_create(p->mem, &p->grants);

	for (uint32_t rank = 0; rank < p->schedule.n_ranks && ret == 0; rank++) {
		for (uint32_t lane = 0; lane < p->plan->n_lanes && ret == 0; lane++) {
			memset(c, 0, p->schedule.ops->cursor);
			p->plan->ops->start(p->plan, rank, lane, c + 1);
			while (ret == 0 && take_item(p, c)) {
				if (c->now.kind == WF_ITEM_COLL)
					ret = wf_grants_learn(p->grants, &p->plan->cluster, &p->cfg,
					                      &c->now.coll.comm, lane);
			}
		}
	}
	if (ret == 0)
		ret = wf_grants_ask(p->grants, reducer);
	p->cfg.grants = p->grants;
	return ret;
}

int wf_plan_schedule(struct wf_plan *plan, const struct wf_coll_cfg *cfg,
                     const struct wf_nvlink *nvlink, const struct wf_net_reducer *reducer,
                     struct wf_mem *mem, struct wf_schedule **schedule_p)
{
	int ret;
	struct plan_schedule *p = mem->alloc(mem, sizeof(*p));
	struct wf_schedule_ops *ops = mem->alloc(mem, sizeof(*ops));
	struct cursor *c;

	if (p == NULL || ops == NULL) {
		mem->free(mem, p);
		mem->free(mem, ops);
		plan->ops->destroy(plan);
		return -ENOMEM;
	}
	/* The size of a cursor is this plan's. */
	*ops = plan_ops;
	ops->name = plan->ops->name;
	ops->cursor = sizeof(struct cursor) + plan->ops->cursor;
	p->schedule.ops = ops;
	p->schedule.n_ranks = plan->cluster.n_ranks;
	p->schedule.n_groups = plan->n_groups;
	p->schedule.max_message = wf_max_u64(cfg->buffer, cfg->p2p_chunk);
	p->plan = plan;
	p->cfg = *cfg;
	p->mem = mem;
	p->cfg.channels = wf_coll_channels(cfg, &plan->cluster);
	c = mem->alloc(mem, ops->cursor);
	if (c == NULL) {
		plan_destroy(&p->schedule);
		return -ENOMEM;
	}
	ret = 0;
	if (cfg->collnet && reducer != NULL)
		ret = ask_network(p, reducer, c);
	if (ret == 0)
		ret = measure(p, nvlink, c);
	mem->free(mem, c);
	if (ret != 0) {
		plan_destroy(&p->schedule);
		return ret;
	}
	*schedule_p = &p->schedule;
	return 0;
}
