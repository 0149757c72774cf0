/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.c - the executor: which operations may start, and what their ends let start.
 *
 * An operation on its way:
 *
 *	         deps            CALC: its time is over
 *	WAITING -----> RUNNING ----------------------------------------------> DONE
 *	                  |     SEND: WORKING -> OFFERED -> POSTED -----------/
 *	                  |     RECV: QUEUED  -> ANNOUNCED -> WORKING -------|
 *	                  |     MEET: MEETING -> WORKING --------------------|
 *	                  |     REDUCE: WORKING -> REDUCING ----------------/
 *
 * Each stream has a ring of the operations between its oldest unfinished one (base) and the last
 * one generated (loaded). Who waits for an operation hangs on a list of it; who waits for one that
 * is not generated yet, or for a mark, on a list of its stream.
 */
#include "job/exec.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "job/exec_priv.h"

/* ---- lists of waiting operations ---- */

/* The operation behind a link goes on with one dependency less. */
static void release(struct wf_exec *x, uint32_t link)
{
	uint32_t handle = link >> LINK_SHIFT;
	struct slot *s = slot_of(x, handle);

	assert(s->state == OP_WAITING && s->waits > 0);
	if (--s->waits == 0)
		push_ready(x, handle);
}

static uint32_t *link_next(struct wf_exec *x, uint32_t link)
{
	return &slot_of(x, link >> LINK_SHIFT)->link[link & LINK_MASK];
}

/* Lists have their newest first; who waited first is to go on first. */
static uint32_t reverse(struct wf_exec *x, uint32_t link)
{
	uint32_t list = NONE;

	while (link != NONE) {
		uint32_t *next = link_next(x, link), following = *next;

		*next = list;
		list = link;
		link = following;
	}
	return list;
}

static void release_all(struct wf_exec *x, uint32_t list)
{
	list = reverse(x, list);
	while (list != NONE) {
		uint32_t link = list;

		list = *link_next(x, link);
		release(x, link);
	}
}

/*
 * The mark that the operation behind a link waits for.
 */
static uint32_t mark_of(const struct wf_exec *x, uint32_t link)
{
	return slot_of(x, link >> LINK_SHIFT)->op.dep[link & LINK_MASK].number;
}

/*
 * Puts a link on the list of those that wait for marks: by mark, then first come. Most wait for
 * later marks than all before them.
 */
static void wait_for_mark(struct wf_exec *x, struct stream *st, uint32_t link, uint32_t mark)
{
	uint32_t *at = &st->mark_waiters;

	if (st->mark_waiters != NONE && st->last_mark <= mark) {
		at = link_next(x, st->last_waiter);
	} else {
		while (*at != NONE && mark_of(x, *at) <= mark)
			at = link_next(x, *at);
	}
	*link_next(x, link) = *at;
	if (*at == NONE) {
		st->last_waiter = link;
		st->last_mark = mark;
	}
	*at = link;
}

/* Lets those go on that wait for a mark which the stream has made. */
static void release_marks(struct wf_exec *x, struct stream *st)
{
	while (st->mark_waiters != NONE && mark_of(x, st->mark_waiters) < st->marks) {
		uint32_t link = st->mark_waiters;

		st->mark_waiters = *link_next(x, link);
		release(x, link);
	}
}

/* ---- loading ---- */

/* Whether a dependency still has to be waited for; if so, it is put on the right list. */
static bool must_wait(struct wf_exec *x, const struct wf_op_dep *dep, uint32_t link,
                      struct slot *self)
{
	struct stream *st;
	struct slot *s;
	unsigned which;

	assert(dep->stream < x->n_streams);
	st = &x->streams[dep->stream];
	if (dep->on == WF_ON_MARK) {
		if (dep->number < st->marks)
			return false;
		wait_for_mark(x, st, link, dep->number);
		return true;
	}
	if (dep->number < st->base)
		return false;
	if (dep->number >= st->loaded) {
		self->link[link & LINK_MASK] = st->future;
		st->future = link;
		return true;
	}
	s = ring_slot(st, dep->number);
	which = dep->on == WF_ON_START ? 1 : 0;
	if (s->state == OP_DONE || (which == 1 && s->state != OP_WAITING))
		return false;
	self->link[link & LINK_MASK] = s->waiters[which];
	s->waiters[which] = link;
	return true;
}

/* Moves those who waited for an operation to be generated to its own lists. */
static void adopt(struct wf_exec *x, struct stream *st, struct slot *s, uint32_t number)
{
	uint32_t list = reverse(x, st->future);

	st->future = NONE;
	while (list != NONE) {
		uint32_t link = list, *next = link_next(x, link);
		const struct wf_op_dep *dep =
			&slot_of(x, link >> LINK_SHIFT)->op.dep[link & LINK_MASK];
		uint32_t *to = &st->future;

		list = *next;
		if (dep->number == number)
			to = &s->waiters[dep->on == WF_ON_START ? 1 : 0];
		*next = *to;
		*to = link;
	}
}

/* Makes the ring of a stream twice as large. */
static bool grow(struct wf_exec *x, struct stream *st)
{
	uint32_t room = st->room * 2;
	struct slot *ring = x->mem->alloc(x->mem, room * sizeof(*ring));

	if (ring == NULL) {
		x->no_memory = true;
		return false;
	}
	for (uint32_t n = st->base; n != st->loaded; n++)
		ring[n & (room - 1)] = *ring_slot(st, n);
	x->mem->free(x->mem, st->ring);
	st->ring = ring;
	st->room = room;
	return true;
}

/* Takes the stream's next operation into its ring. Returns false when there is none. */
static bool load(struct wf_exec *x, struct stream *st)
{
	uint32_t number = st->loaded, handle;
	struct slot *s;
	struct wf_op op = { .unit = WF_UNIT_NONE, .group = WF_GROUP_NONE };

	if (!x->schedule->ops->next(x->schedule, st->cursor, &op)) {
		st->exhausted = true;
		return false;
	}
	if (st->loaded - st->base == st->room && !grow(x, st))
		return false;
	s = ring_slot(st, number);
	*s = (struct slot){ .op = op, .state = OP_WAITING, .waiters = { NONE, NONE } };
	st->loaded++;
	handle = handle_of(x, st, number);
	for (unsigned i = 0; i < op.n_deps; i++)
		s->waits += must_wait(x, &op.dep[i], handle << LINK_SHIFT | i, s);
	if (wf_unlikely(st->future != NONE))
		adopt(x, st, s, number);
	x->unfinished++;
	if (s->waits == 0)
		push_ready(x, handle);
	return true;
}

static void fill(struct wf_exec *x, struct stream *st)
{
	while (!st->exhausted && st->loaded - st->base < st->window && load(x, st))
		;
}

/* ---- ends ---- */

/*
 * Remembers that a group has begun; of more than there is room for, nobody asks how long they took.
 */
static void open_group(struct wf_exec *x, uint32_t group)
{
	if (x->n_open < OPEN_GROUPS)
		x->open[x->n_open++] = (struct open_group){ .group = group, .begin = x->now };
}

static wf_time close_group(struct wf_exec *x, uint32_t group)
{
	for (uint32_t i = 0; i < x->n_open; i++) {
		wf_time begin = x->open[i].begin;

		if (x->open[i].group != group)
			continue;
		x->open[i] = x->open[--x->n_open];
		return x->now - begin;
	}
	return 0;
}

static void group_mark(struct wf_exec *x, const struct wf_op *op, bool begins)
{
	struct wf_group_time *g = &x->counts->groups[op->group];
	const struct wf_job_observer *o = x->observer;

	assert(op->group < x->schedule->n_groups);
	if (begins) {
		g->begin = wf_min_time(g->begin, x->now);
		open_group(x, op->group);
		if (o != NULL && o->begin != NULL)
			o->begin(o->arg, x->rank, op->group, x->now);
	} else {
		g->end = wf_max_time(g->end, x->now);
		g->longest = wf_max_time(g->longest, close_group(x, op->group));
		g->ranks++;
		if (o != NULL && o->end != NULL)
			o->end(o->arg, x->rank, op->group, x->now);
	}
}

static void retire(struct wf_exec *x, struct stream *st)
{
	uint32_t marks = st->marks;

	while (st->base != st->loaded && ring_slot(st, st->base)->state == OP_DONE) {
		st->marks += ring_slot(st, st->base)->op.marks;
		st->base++;
	}
	if (st->marks != marks)
		release_marks(x, st);
	fill(x, st);
}

static void end_op(struct wf_exec *x, uint32_t handle)
{
	struct stream *st = &x->streams[handle >> HANDLE_SHIFT];
	struct slot *s = slot_of(x, handle);

	assert(s->state != OP_DONE && s->state != OP_WAITING);
	s->state = OP_DONE;
	x->unfinished--;
	x->end = x->now;
	x->counts->ops++;
	if (s->op.flags & WF_OP_ENDS)
		group_mark(x, &s->op, false);
	if (wf_unlikely(x->observer != NULL) && x->observer->op != NULL)
		x->observer->op(x->observer->arg, x->rank, handle >> HANDLE_SHIFT, &s->op, s->start,
		                x->now);
	release_all(x, s->waiters[0]);
	if (s == ring_slot(st, st->base))
		retire(x, st);
}

/* ---- work on units ---- */

static bool make_unit(struct wf_exec *x, uint16_t unit)
{
	uint32_t room = (unit / 16 + 1u) * 16;
	wf_time *units;

	if (unit < x->n_units)
		return true;
	units = x->mem->alloc(x->mem, room * sizeof(*units));
	if (units == NULL) {
		x->no_memory = true;
		return false;
	}
	if (x->n_units > 0)
		memcpy(units, x->units, x->n_units * sizeof(*units));
	x->mem->free(x->mem, x->units);
	x->units = units;
	x->n_units = room;
	return true;
}

/* Passes a line of units; when that is over. */
static wf_time pass_line(struct wf_exec *x, const struct wf_op *op)
{
	wf_time t = x->now;

	if (!make_unit(x, (uint16_t)(op->line + op->stages - 1)))
		return t;
	for (wf_time *unit = &x->units[op->line]; unit < &x->units[op->line] + op->stages; unit++) {
		t = wf_max_time(t, *unit);
		*unit = t + op->busy;
		t += op->pass;
	}
	return t;
}

/* When the work of an operation is over, which begins as soon as its unit is free. */
static wf_time work(struct wf_exec *x, struct slot *s)
{
	wf_time begin = x->now;

	if (s->op.stages > 0)
		begin = pass_line(x, &s->op);
	if (s->op.unit == WF_UNIT_NONE || !make_unit(x, s->op.unit))
		return begin + s->op.time;
	begin = wf_max_time(begin, x->units[s->op.unit]);
	x->units[s->op.unit] = begin + s->op.time;
	if (s->op.unit == WF_UNIT_COMPUTE)
		x->busy += s->op.time;
	if (s->op.kind == WF_OP_CALC)
		s->start = begin;
	return begin + s->op.time;
}

/* ---- messages ---- */

static void post_data(struct wf_exec *x, struct end *e, uint32_t handle, uint32_t number)
{
	struct slot *s = slot_of(x, handle);
	const struct wf_post post = { .kind = WF_POST_DATA,
		                      .conn = e->conn,
		                      .imm = number,
		                      .handle = handle,
		                      .bytes = s->op.bytes };

	s->state = OP_POSTED;
	x->driver->post(x->ctx, &post, x->now);
}

/* A send is ready to leave: with the first announcement of its tag, now or later. */
static void offer(struct wf_exec *x, uint32_t handle)
{
	struct slot *s = slot_of(x, handle);
	struct end *e = &x->ends[s->end];

	for (unsigned i = 0; i < e->n_announced; i++) {
		if (e->announced[i].tag == s->op.tag) {
			uint32_t number = e->announced[i].number;

			e->n_announced--;
			memmove(&e->announced[i], &e->announced[i + 1],
			        (e->n_announced - i) * sizeof(e->announced[0]));
			post_data(x, e, handle, number);
			return;
		}
	}
	s->state = OP_OFFERED;
	append(x, &e->head, &e->tail, handle);
}

/* Announces a receive if there is room for it. */
static bool announce(struct wf_exec *x, struct end *e, uint32_t handle)
{
	struct slot *s = slot_of(x, handle);
	uint32_t *place = &e->expected[e->number % x->receives];
	const struct wf_post post = { .kind = WF_POST_ANNOUNCE, .conn = e->conn, .imm = s->op.tag };

	if (*place != NONE)
		return false;
	*place = handle;
	e->number++;
	s->state = OP_ANNOUNCED;
	x->driver->post(x->ctx, &post, x->now);
	return true;
}

/* The end of the connection that an operation needs; the schedule's peers() named it. */
static bool find_end(struct wf_exec *x, struct slot *s)
{
	bool sends = s->op.kind == WF_OP_SEND;
	uint32_t end = wf_exec_find(x, s->op.peer, s->op.channel, sends);

	if (end == NONE) {
		s->state = OP_LOST;
		return false;
	}
	s->end = end;
	return true;
}

/* A contribution is ready to leave. */
static void reduce(struct wf_exec *x, uint32_t handle)
{
	struct slot *s = slot_of(x, handle);

	s->state = OP_REDUCING;
	s->start = x->now;
	x->driver->reduce(x->ctx, &s->op, handle, x->now);
}

static void start_op(struct wf_exec *x, uint32_t handle)
{
	struct slot *s = slot_of(x, handle);
	uint32_t waiters = s->waiters[1];
	struct end *e;
	wf_time at;

	s->state = OP_WORKING;
	s->start = x->now;
	s->waiters[1] = NONE;
	if (s->op.flags & WF_OP_BEGINS)
		group_mark(x, &s->op, true);
	release_all(x, waiters);
	switch ((enum wf_op_kind)s->op.kind) {
	case WF_OP_CALC:
		at = work(x, s);
		if (at > x->now)
			wf_exec_set_timer(x, handle, at);
		else
			end_op(x, handle);
		break;
	case WF_OP_SEND:
		if (!find_end(x, s))
			break;
		at = work(x, s);
		if (at > x->now)
			wf_exec_set_timer(x, handle, at);
		else
			offer(x, handle);
		break;
	case WF_OP_RECV:
		if (!find_end(x, s))
			break;
		e = &x->ends[s->end];
		if (e->head == NONE && announce(x, e, handle))
			break;
		s->state = OP_QUEUED;
		append(x, &e->head, &e->tail, handle);
		break;
	case WF_OP_MEET:
		s->state = OP_MEETING;
		x->driver->meet(x->ctx, &s->op, handle, x->now);
		break;
	case WF_OP_REDUCE:
		at = work(x, s);
		if (at > x->now)
			wf_exec_set_timer(x, handle, at);
		else
			reduce(x, handle);
		break;
	}
}

/* Starts what may start, and asks for the next time. */
static void settle(struct wf_exec *x)
{
	while (x->ready != NONE) {
		uint32_t handle = x->ready;

		x->ready = slot_of(x, handle)->next;
		start_op(x, handle);
	}
	if (x->n_timers > 0)
		x->driver->call_at(x->ctx, x->timers[0].at);
	if (x->unfinished == 0 && !x->finished && x->started) {
		x->finished = true;
		x->driver->finished(x->ctx, x->now);
	}
}

void wf_exec_start(struct wf_exec *x, wf_time now)
{
	x->now = now;
	for (uint32_t i = 0; i < x->n_streams; i++)
		fill(x, &x->streams[i]);
	x->started = true;
	settle(x);
}

void wf_exec_run(struct wf_exec *x, wf_time now)
{
	assert(now >= x->now);
	x->now = now;
	while (x->n_timers > 0 && x->timers[0].at <= now) {
		uint32_t handle = wf_exec_pop_timer(x);

		enum wf_op_kind kind = (enum wf_op_kind)slot_of(x, handle)->op.kind;

		if (kind == WF_OP_SEND)
			offer(x, handle);
		else if (kind == WF_OP_REDUCE)
			reduce(x, handle);
		else
			end_op(x, handle);
	}
	settle(x);
}

void wf_exec_announced(struct wf_exec *x, uint32_t end, uint32_t tag, wf_time now)
{
	struct end *e = &x->ends[end];
	uint32_t number = e->number++, before = NONE;

	x->now = now;
	for (uint32_t h = e->head; h != NONE; before = h, h = slot_of(x, h)->next) {
		struct slot *s = slot_of(x, h);

		if (s->op.tag != tag)
			continue;
		if (before == NONE)
			e->head = s->next;
		else
			slot_of(x, before)->next = s->next;
		if (e->tail == h)
			e->tail = before;
		post_data(x, e, h, number);
		settle(x);
		return;
	}
	assert(e->n_announced < WF_EXEC_RECEIVES);
	e->announced[e->n_announced].tag = tag;
	e->announced[e->n_announced++].number = number;
}

void wf_exec_arrived(struct wf_exec *x, uint32_t end, uint32_t number, wf_time posted, bool net,
                     wf_time now)
{
	struct end *e = &x->ends[end];
	uint32_t handle = e->expected[number % x->receives];
	const struct wf_job_observer *o = x->observer;
	struct slot *s;
	wf_time at;

	assert(handle != NONE);
	x->now = now;
	s = slot_of(x, handle);
	__builtin_prefetch(&s->op.peer);
	__builtin_prefetch(&s->state);
	e->expected[number % x->receives] = NONE;
	x->counts->messages[net]++;
	x->counts->bytes[net] += s->op.bytes;
	wf_hist_add(&x->counts->latency[net], (uint64_t)(now - posted));
	if (wf_unlikely(o != NULL) && o->message != NULL)
		o->message(o->arg, s->op.peer, x->rank, s->op.bytes, posted, now, net);
	s->state = OP_WORKING;
	while (e->head != NONE) {
		uint32_t next = slot_of(x, e->head)->next;

		if (!announce(x, e, e->head))
			break;
		e->head = next;
	}
	at = work(x, s);
	if (at > now)
		wf_exec_set_timer(x, handle, at);
	else
		end_op(x, handle);
	settle(x);
}

void wf_exec_sent(struct wf_exec *x, uint32_t handle, wf_time now)
{
	x->now = now;
	assert(slot_of(x, handle)->state == OP_POSTED);
	end_op(x, handle);
	settle(x);
}

void wf_exec_met(struct wf_exec *x, uint32_t handle, wf_time last, wf_time now)
{
	struct slot *s = slot_of(x, handle);

	assert(s->state == OP_MEETING && last + s->op.time >= now);
	x->now = now;
	s->state = OP_WORKING;
	wf_exec_set_timer(x, handle, last + s->op.time);
	settle(x);
}

void wf_exec_reduced(struct wf_exec *x, uint32_t handle, wf_time now)
{
	struct slot *s = slot_of(x, handle);

	assert(s->state == OP_REDUCING);
	x->now = now;
	x->counts->messages[1]++;
	x->counts->bytes[1] += s->op.bytes;
	wf_hist_add(&x->counts->latency[1], (uint64_t)(now - s->start));
	end_op(x, handle);
	settle(x);
}
