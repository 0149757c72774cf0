/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - a host's TCP: its sockets, their timers, and what comes in. */
#include "tcp/stack.h"

#include <errno.h>
#include <string.h>

#include "tcp/stack_priv.h"

#define RX_BATCH 32
#define SOCKS_MIN 16

int wf_tcp_stack_create(const struct wf_tcp_stack_cfg *cfg, struct wf_mem *mem,
                        struct wf_tcp_stack **stack_p)
{
	struct wf_tcp_stack *stack = mem->alloc(mem, sizeof(*stack));

	assert(cfg->cores >= 1 && cfg->cores <= WF_TCP_CORES_MAX);
	if (stack == NULL)
		return -ENOMEM;
	stack->cfg = *cfg;
	stack->mem = mem;
	if (wf_tcp_pool_create(mem, &stack->pool) != 0)
		goto free_stack;
	stack->cores = wf_tcp_pool_take(stack->pool, cfg->cores * sizeof(*stack->cores));
	if (stack->cores == NULL)
		goto free_pool;
	for (uint32_t i = 0; i < cfg->cores; i++) {
		stack->cores[i].end = stack->cores[i].interrupt = WF_TIME_NEVER;
		stack->cores[i].poll.kind = JOB_POLL;
	}
	*stack_p = stack;
	return 0;

free_pool:
	wf_tcp_pool_destroy(stack->pool);
free_stack:
	mem->free(mem, stack);
	return -ENOMEM;
}

void wf_tcp_stack_destroy(struct wf_tcp_stack *stack)
{
	struct wf_mem *mem;

	if (stack == NULL)
		return;
	mem = stack->mem;
	wf_tcp_pool_destroy(stack->pool);
	mem->free(mem, stack);
}

void wf_tcp_stack_set_costs(struct wf_tcp_stack *stack, const struct wf_tcp_costs *cost)
{
	stack->cfg.cost = *cost;
}

uint32_t wf_tcp_stack_next(const struct wf_tcp_stack *stack)
{
	return stack->n_socks;
}

/* Room for more sockets, and for their timers. */
static bool make_room(struct wf_tcp_stack *stack)
{
	uint32_t room = stack->room == 0 ? SOCKS_MIN : 2 * stack->room;
	struct wf_tcp_sock **socks;
	struct timer_item *heap;

	if (stack->n_socks < stack->room)
		return true;
	socks = wf_tcp_pool_take(stack->pool, room * sizeof(struct wf_tcp_sock *));
	heap = wf_tcp_pool_take(stack->pool, room * sizeof(*heap));
	if (socks == NULL || heap == NULL)
		return false;
	if (stack->n_socks > 0) {
		memcpy(socks, stack->socks, stack->n_socks * sizeof(struct wf_tcp_sock *));
		memcpy(heap, stack->heap, stack->n_socks * sizeof(*heap));
	}
	stack->socks = socks;
	stack->heap = heap;
	stack->room = room;
	return true;
}

static struct job job_of(struct wf_tcp_sock *sock, enum job_kind kind)
{
	return (struct job){ .sock = sock, .kind = (uint8_t)kind };
}

int wf_tcp_open(struct wf_tcp_stack *stack, const struct wf_tcp_conn_attr *attr,
                const struct wf_tcp_user *user, void *arg, struct wf_tcp_sock **sock_p)
{
	struct wf_tcp_sock *s = wf_tcp_pool_take(stack->pool, sizeof(*s));
	uint32_t number = stack->n_socks;

	if (s == NULL || !make_room(stack) ||
	    wf_tcp_conn_create(stack->pool, &stack->cfg.conn, attr, stack->counter, &s->conn) != 0)
		return -ENOMEM;
	s->stack = stack;
	s->user = user;
	s->arg = arg;
	s->number = number;
	s->core = &stack->cores[number % stack->cfg.cores];
	s->tx = job_of(s, JOB_TX);
	s->read = job_of(s, JOB_READ);
	s->write = job_of(s, JOB_WRITE);
	s->asleep = true;
	s->heap_pos = number;
	stack->socks[number] = s;
	stack->heap[number] = (struct timer_item){ WF_TIME_NEVER, s };
	stack->n_socks++;
	*sock_p = s;
	return 0;
}

void wf_tcp_sock_set(struct wf_tcp_sock *sock, bool lends, bool digests)
{
	sock->lends = lends;
	sock->digests = digests;
}

struct wf_tcp_conn *wf_tcp_sock_conn(const struct wf_tcp_sock *sock)
{
	return sock->conn;
}

/* ---- timers: a heap in which every socket is, by when it may be due ---- */

static void heap_put(struct wf_tcp_stack *stack, uint32_t pos, const struct timer_item *item)
{
	stack->heap[pos] = *item;
	item->sock->heap_pos = pos;
}

static bool before(const struct timer_item *a, const struct timer_item *b)
{
	return a->at != b->at ? a->at < b->at : a->sock->number < b->sock->number;
}

static void heap_up(struct wf_tcp_stack *stack, uint32_t pos, const struct timer_item *item)
{
	for (; pos > 0 && before(item, &stack->heap[(pos - 1) / 2]); pos = (pos - 1) / 2)
		heap_put(stack, pos, &stack->heap[(pos - 1) / 2]);
	heap_put(stack, pos, item);
}

static void heap_down(struct wf_tcp_stack *stack, uint32_t pos, const struct timer_item *item)
{
	for (;;) {
		uint32_t child = 2 * pos + 1;

		if (child + 1 < stack->n_socks &&
		    before(&stack->heap[child + 1], &stack->heap[child]))
			child++;
		if (child >= stack->n_socks || !before(&stack->heap[child], item))
			break;
		heap_put(stack, pos, &stack->heap[child]);
		pos = child;
	}
	heap_put(stack, pos, item);
}

/* A time that is too early costs a look; one that moves away, as most do, costs nothing. */
static void plan(struct wf_tcp_sock *s)
{
	struct timer_item item = { wf_tcp_conn_deadline(s->conn), s };

	if (item.at < s->stack->heap[s->heap_pos].at)
		heap_up(s->stack, s->heap_pos, &item);
}

static wf_time first_timer(const struct wf_tcp_stack *stack)
{
	return stack->n_socks > 0 ? stack->heap[0].at : WF_TIME_NEVER;
}

static void run_timers(struct wf_tcp_stack *stack, wf_time now)
{
	while (first_timer(stack) <= now) {
		struct wf_tcp_sock *s = stack->heap[0].sock;
		struct timer_item item;

		if (wf_tcp_conn_deadline(s->conn) <= now) {
			wf_tcp_conn_tick(s->conn, now);
			wf_tcp_settle(s, now);
		}
		item = (struct timer_item){ wf_tcp_conn_deadline(s->conn), s };
		heap_down(stack, s->heap_pos, &item);
		wf_tcp_core_go(stack, s->core, now);
	}
}

/* ---- what a connection wants ---- */

static void give_acks(struct wf_tcp_sock *s, wf_time now)
{
	struct wf_tcp_burst burst = { .bytes = 0 };
	wf_time cost = s->stack->cfg.cost.ack;

	while (wf_tcp_conn_ack(s->conn, now, &burst.pkt)) {
		wf_tcp_hand_over(s, &burst, now);
		s->core->debt += cost;
	}
}

/* A writer that found no room is woken when a third of what may be there is free. */
static bool has_room(const struct wf_tcp_sock *s)
{
	uint64_t held = wf_tcp_conn_written(s->conn) - wf_tcp_conn_acked(s->conn);

	return held + s->stack->cfg.wmem / 3 <= s->stack->cfg.wmem;
}

void wf_tcp_settle(struct wf_tcp_sock *s, wf_time now)
{
	uint64_t acked = wf_tcp_conn_acked(s->conn);

	give_acks(s, now);
	if (!s->throttled && wf_tcp_conn_wants_tx(s->conn))
		wf_tcp_core_queue(s->core, &s->tx);
	if (s->asleep && wf_tcp_conn_readable(s->conn) > 0)
		wf_tcp_core_queue(s->core, &s->read);
	if (s->full && has_room(s))
		wf_tcp_core_queue(s->core, &s->write);
	if (acked > s->told) {
		s->told = acked;
		s->user->acked(s->arg, s, acked, now);
	}
	plan(s);
}

void wf_tcp_send(struct wf_tcp_sock *s, uint64_t bytes, wf_time now)
{
	s->to_write += bytes;
	if (!s->full)
		wf_tcp_core_queue(s->core, &s->write);
	wf_tcp_core_go(s->stack, s->core, now);
}

/* ---- from the adapter ---- */

static struct rx *get_rx(struct wf_tcp_stack *stack)
{
	struct rx *r = stack->free_rx;

	if (r == NULL) {
		r = wf_tcp_pool_take(stack->pool, RX_BATCH * sizeof(*r));
		if (r == NULL)
			return NULL;
		for (int i = 0; i < RX_BATCH - 1; i++)
			r[i].next = &r[i + 1];
	}
	stack->free_rx = r->next;
	return r;
}

void wf_tcp_stack_rx(struct wf_tcp_stack *stack, const struct wf_packet *pkt, wf_time seen)
{
	struct core *core;
	struct rx *r;

	if ((pkt->flags & WF_PACKET_BAD) != 0 || pkt->qpn >= stack->n_socks) {
		stack->counter[WF_TCP_CTR_BAD]++;
		return;
	}
	core = stack->socks[pkt->qpn]->core;
	if (core->in_ring >= stack->cfg.ring) {
		stack->counter[WF_TCP_CTR_RING_DROPS]++;
		return;
	}
	r = get_rx(stack);
	if (r == NULL)
		return;
	stack->counter[WF_TCP_CTR_IN_SEGS]++;
	*r = (struct rx){ .pkt = *pkt,
		          .sock = stack->socks[pkt->qpn],
		          .bytes = pkt->length,
		          .next_seq = pkt->psn + pkt->length };
	if (core->ring_first == NULL)
		core->ring_first = r;
	else
		core->ring_last->next = r;
	core->ring_last = r;
	core->in_ring++;
	/* While the core polls, or is about to, it asks for no interrupt. */
	if (!core->poll.queued && core->running != &core->poll && core->interrupt == WF_TIME_NEVER)
		core->interrupt = seen + stack->cfg.interrupt;
}

/* ---- time ---- */

wf_time wf_tcp_stack_deadline(const struct wf_tcp_stack *stack)
{
	wf_time first = first_timer(stack);

	for (uint32_t i = 0; i < stack->cfg.cores; i++)
		first = wf_min_time(first,
		                    wf_min_time(stack->cores[i].end, stack->cores[i].interrupt));
	return first;
}

void wf_tcp_stack_tick(struct wf_tcp_stack *stack, wf_time now)
{
	while (wf_tcp_stack_deadline(stack) <= now) {
		for (uint32_t i = 0; i < stack->cfg.cores; i++)
			wf_tcp_core_tick(stack, &stack->cores[i], now);
		run_timers(stack, now);
	}
}

/* ---- looking at it ---- */

bool wf_tcp_stack_failed(const struct wf_tcp_stack *stack)
{
	return wf_tcp_pool_failed(stack->pool);
}

void wf_tcp_stack_watch(struct wf_tcp_stack *stack, wf_tcp_watch_fn *fn, void *ctx)
{
	stack->watch = fn;
	stack->watch_ctx = ctx;
}

uint64_t wf_tcp_stack_counter(const struct wf_tcp_stack *stack, enum wf_tcp_counter id)
{
	return stack->counter[id];
}

uint64_t wf_tcp_stack_busy(const struct wf_tcp_stack *stack, uint64_t *most_p)
{
	uint64_t sum = 0, most = 0;

	for (uint32_t i = 0; i < stack->cfg.cores; i++) {
		sum += stack->cores[i].busy;
		most = wf_max_u64(most, stack->cores[i].busy);
	}
	*most_p = most;
	return sum;
}
