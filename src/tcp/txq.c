/* SPDX-License-Identifier: Apache-2.0 */
/*
 * txq.c - what waits for the adapter, a queue for each class: bursts, which become packets when the
 * wire takes them (TSO), and acknowledgements.
 */
#include "tcp/stack_priv.h"

#define BATCH 16

static struct tx *get_tx(struct wf_tcp_stack *stack)
{
	struct tx *t = stack->free_tx;

	if (t == NULL) {
		t = wf_tcp_pool_take(stack->pool, BATCH * sizeof(*t));
		if (t == NULL)
			return NULL;
		for (int i = 0; i < BATCH - 1; i++)
			t[i].next = &t[i + 1];
	}
	stack->free_tx = t->next;
	return t;
}

void wf_tcp_hand_over(struct wf_tcp_sock *sock, const struct wf_tcp_burst *burst, wf_time now)
{
	struct wf_tcp_stack *stack = sock->stack;
	unsigned q = burst->pkt.cls;
	struct tx *t = get_tx(stack);

	if (t == NULL)
		return;
	*t = (struct tx){
		.burst = *burst, .sock = sock, .ready = now + stack->cfg.tx_delay, .first = true
	};
	if (stack->queue[q].first == NULL)
		stack->queue[q].first = t;
	else
		stack->queue[q].last->next = t;
	stack->queue[q].last = t;
	stack->classes |= 1u << q;
	sock->in_adapter += burst->bytes;
}

uint32_t wf_tcp_stack_classes(const struct wf_tcp_stack *stack)
{
	return stack->classes;
}

wf_time wf_tcp_stack_tx_time(const struct wf_tcp_stack *stack, uint32_t held)
{
	wf_time first = WF_TIME_NEVER;

	for (uint32_t mask = stack->classes & ~held; mask != 0; mask &= mask - 1)
		first = wf_min_time(first, stack->queue[__builtin_ctz(mask)].first->ready);
	return first;
}

/* The class whose first burst was handed over first. */
static int oldest_class(const struct wf_tcp_stack *stack, uint32_t held, wf_time now)
{
	wf_time first = WF_TIME_NEVER;
	int best = -1;

	for (uint32_t mask = stack->classes & ~held; mask != 0; mask &= mask - 1) {
		int q = __builtin_ctz(mask);
		wf_time ready = stack->queue[q].first->ready;

		if (ready <= now && ready < first) {
			first = ready;
			best = q;
		}
	}
	return best;
}

/* Cuts the next packet off a burst. */
static void cut(struct wf_tcp_stack *stack, struct tx *t, struct wf_packet *pkt)
{
	uint16_t len = (uint16_t)wf_min_u64(t->burst.bytes, stack->cfg.conn.mss);

	*pkt = t->burst.pkt;
	t->burst.pkt.psn += len;
	t->burst.bytes -= len;
	if (len > 0) {
		pkt->length = len;
		pkt->size = wf_tcp_size(pkt, stack->cfg.conn.encap);
		if (t->burst.bytes > 0)
			pkt->opcode &= (uint8_t)~WF_SEG_PSH;
		if (!t->first)
			pkt->opcode &= (uint8_t)~WF_SEG_CWR;
	}
	t->first = false;
	t->sock->in_adapter -= len;
}

bool wf_tcp_stack_tx(struct wf_tcp_stack *stack, uint32_t held, wf_time now, struct wf_packet *pkt)
{
	int q = oldest_class(stack, held, now);
	struct wf_tcp_sock *s;
	struct tx *t;

	if (q < 0)
		return false;
	t = stack->queue[q].first;
	s = t->sock;
	cut(stack, t, pkt);
	if (t->burst.bytes == 0) {
		stack->queue[q].first = t->next;
		if (t->next == NULL)
			stack->classes &= ~(1u << q);
		t->next = stack->free_tx;
		stack->free_tx = t;
	}
	if (s->throttled && s->in_adapter < stack->cfg.small_queue) {
		s->throttled = false;
		wf_tcp_settle(s, now);
		wf_tcp_core_go(stack, s->core, now);
	}
	return true;
}
