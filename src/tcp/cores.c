/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.c - a CPU core: jobs in the order in which they became due, each as long as it costs.
 *
 *	ring not empty --interrupt--> JOB_POLL --> merged segments --> TCP --> JOB_READ, JOB_TX
 *	program --> JOB_WRITE --> JOB_TX --> adapter
 *
 * What a job takes is known when it begins, and what it does happens when it ends; but a burst is
 * cut when it begins.
 */
#include "tcp/stack_priv.h"

void wf_tcp_core_queue(struct core *core, struct job *job)
{
	if (job->queued)
		return;
	job->queued = true;
	job->next = NULL;
	if (core->first == NULL)
		core->first = job;
	else
		core->last->next = job;
	core->last = job;
}

/* ---- polling ---- */

/* Whether a packet goes on where what was merged ends, and says the same besides. */
static bool merges(const struct rx *m, const struct rx *r, uint16_t mss)
{
	const uint8_t same_flags = WF_PACKET_CE;
	const uint8_t same_op = WF_SEG_ECE | WF_SEG_CWR;

	return r->pkt.length > 0 && m->bytes > 0 && r->pkt.psn == m->next_seq &&
	       m->bytes % mss == 0 && (m->pkt.opcode & WF_SEG_PSH) == 0 &&
	       m->bytes + r->pkt.length <= GRO_MAX &&
	       ((m->pkt.flags ^ r->pkt.flags) & same_flags) == 0 &&
	       ((m->pkt.opcode ^ r->pkt.opcode) & same_op) == 0;
}

/* What the later packet says of the other direction holds. */
static void merge(struct wf_tcp_stack *stack, struct rx *m, struct rx *r)
{
	m->bytes += r->pkt.length;
	m->next_seq += r->pkt.length;
	m->pkt.imm = r->pkt.imm;
	m->pkt.srqn = r->pkt.srqn;
	m->pkt.payload = r->pkt.payload;
	m->pkt.opcode |= r->pkt.opcode & WF_SEG_PSH;
	r->next = stack->free_rx;
	stack->free_rx = r;
}

/* Takes packets out of the ring and merges them. Returns what that, and what follows, costs. */
static wf_time take_batch(struct wf_tcp_stack *stack, struct core *core)
{
	const struct wf_tcp_costs *cost = &stack->cfg.cost;
	struct rx **end = &core->batch;
	wf_time sum = 0;

	core->polls++;
	for (unsigned n = 0; n < POLL_BUDGET && core->ring_first != NULL; n++) {
		struct rx *r = core->ring_first;
		struct wf_tcp_sock *s = r->sock;

		core->ring_first = r->next;
		core->in_ring--;
		sum += cost->rx_packet;
		if (s->merge_poll == core->polls && s->merge != NULL &&
		    merges(s->merge, r, stack->cfg.conn.mss)) {
			merge(stack, s->merge, r);
			continue;
		}
		sum += r->pkt.length > 0 ? cost->rx_burst : cost->ack;
		s->merge = r;
		s->merge_poll = core->polls;
		r->next = NULL;
		*end = r;
		end = &r->next;
	}
	return sum;
}

/* Gives TCP what was merged. */
static void give_batch(struct wf_tcp_stack *stack, struct core *core, wf_time now)
{
	struct rx *r;

	while ((r = core->batch) != NULL) {
		core->batch = r->next;
		wf_tcp_conn_rx(r->sock->conn, &r->pkt, r->bytes, now);
		wf_tcp_settle(r->sock, now);
		r->next = stack->free_rx;
		stack->free_rx = r;
	}
	if (core->ring_first != NULL)
		wf_tcp_core_queue(core, &core->poll);
}

/* ---- jobs ---- */

static uint64_t write_room(const struct wf_tcp_sock *s)
{
	uint64_t held = wf_tcp_conn_written(s->conn) - wf_tcp_conn_acked(s->conn);

	return held < s->stack->cfg.wmem ? s->stack->cfg.wmem - held : 0;
}

/* What a program's bytes take it, besides the system call. */
static wf_time bytes_cost(const struct wf_tcp_sock *s, wf_ps_per_byte copy, uint64_t bytes)
{
	wf_time cost = wf_rate_time_long(copy, bytes);

	return s->digests ? cost + wf_rate_time_long(s->stack->cfg.cost.digest, bytes) : cost;
}

/* Begins a job. Returns false when there is nothing left of it to do. */
static bool begin(struct wf_tcp_stack *stack, struct core *core, struct job *job, wf_time now,
                  wf_time *cost_p)
{
	const struct wf_tcp_costs *cost = &stack->cfg.cost;
	struct wf_tcp_sock *s = job->sock;
	uint32_t segs;

	switch ((enum job_kind)job->kind) {
	case JOB_POLL:
		*cost_p = take_batch(stack, core);
		return true;
	case JOB_TX:
		if (s->in_adapter >= stack->cfg.small_queue) {
			s->throttled = true;
			return false;
		}
		if (!wf_tcp_conn_tx(s->conn, now, &core->burst))
			return false;
		if (core->burst.again > 0 && stack->watch != NULL)
			stack->watch(stack->watch_ctx, core->burst.pkt.dst, core->burst.again, now);
		segs = (core->burst.bytes + stack->cfg.conn.mss - 1) / stack->cfg.conn.mss;
		*cost_p = cost->tx_burst + segs * cost->tx_packet;
		return true;
	case JOB_READ:
		core->chunk = wf_min_u64(wf_tcp_conn_readable(s->conn), stack->cfg.chunk);
		*cost_p = cost->syscall + (s->asleep ? cost->wakeup : 0) +
		          bytes_cost(s, cost->copy_rx, core->chunk);
		s->asleep = false;
		return core->chunk > 0;
	case JOB_WRITE:
		core->chunk = wf_min_u64(wf_min_u64(s->to_write, write_room(s)), stack->cfg.chunk);
		*cost_p = cost->syscall + (s->full ? cost->wakeup : 0) +
		          bytes_cost(s, s->lends ? 0 : cost->copy_tx, core->chunk);
		s->full = core->chunk == 0 && s->to_write > 0;
		return core->chunk > 0;
	}
	return false;
}

static void end_of(struct wf_tcp_stack *stack, struct core *core, struct job *job, wf_time now)
{
	struct wf_tcp_sock *s = job->sock;
	uint64_t chunk = core->chunk;

	switch ((enum job_kind)job->kind) {
	case JOB_POLL:
		give_batch(stack, core, now);
		return;
	case JOB_TX:
		wf_tcp_hand_over(s, &core->burst, now);
		break;
	case JOB_READ:
		wf_tcp_conn_read(s->conn, chunk);
		if (wf_tcp_conn_readable(s->conn) > 0)
			wf_tcp_core_queue(core, &s->read);
		else
			s->asleep = true;
		s->bytes_read += chunk;
		s->user->came(s->arg, s, s->bytes_read, now);
		break;
	case JOB_WRITE:
		s->to_write -= chunk;
		wf_tcp_conn_write(s->conn, chunk, now);
		if (s->to_write > 0)
			wf_tcp_core_queue(core, &s->write);
		s->user->written(s->arg, s, wf_tcp_conn_written(s->conn), now);
		break;
	}
	wf_tcp_settle(s, now);
}

void wf_tcp_core_go(struct wf_tcp_stack *stack, struct core *core, wf_time now)
{
	while (core->running == NULL && !core->ending && core->first != NULL) {
		struct job *job = core->first;
		wf_time cost = 0;

		core->first = job->next;
		job->queued = false;
		if (!begin(stack, core, job, now, &cost))
			continue;
		cost += core->debt;
		core->debt = 0;
		core->running = job;
		core->busy += (uint64_t)cost;
		core->end = now + cost;
	}
}

void wf_tcp_core_tick(struct wf_tcp_stack *stack, struct core *core, wf_time now)
{
	if (core->end <= now) {
		struct job *job = core->running;

		core->running = NULL;
		core->end = WF_TIME_NEVER;
		core->ending = true;
		end_of(stack, core, job, now);
		core->ending = false;
	}
	if (core->interrupt <= now) {
		core->interrupt = WF_TIME_NEVER;
		wf_tcp_core_queue(core, &core->poll);
	}
	wf_tcp_core_go(stack, core, now);
}
