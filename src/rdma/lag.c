/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lag.c - which port of an adapter a queue pair has, and moving it to another.
 *
 * The rest of the adapter knows one set of rings of those that have something to send. With
 * several ports these are empty but for who has joined them since a port was last asked; each port
 * has rings of its own, which take the place of the adapter's while it is asked. All that takes a
 * few steps, whatever waits.
 */
#include "rdma/lag.h"

#include <assert.h>

#include "rdma/lag_priv.h"

uint32_t wf_lag_port(uint32_t number, uint32_t used)
{
	uint32_t skip;

	if (used == 0 || (used >> number & 1) != 0)
		return number;
	for (skip = number % (uint32_t)__builtin_popcount(used); skip > 0; skip--)
		used &= used - 1;
	return (uint32_t)__builtin_ctz(used);
}

uint32_t wf_lag_hash(uint64_t key, uint32_t src, uint32_t dst, uint16_t entropy, uint32_t ports)
{
	uint64_t flow = (uint64_t)src << 32 | dst;

	flow ^= (uint64_t)entropy * UINT64_C(0x9e3779b97f4a7c15);
	return wf_rand_below(wf_mix64(flow ^ key), ports);
}

/* ---- rings ---- */

void wf_lag_init(struct wf_hca *hca)
{
	for (uint32_t i = 0; i < WF_HCA_PORTS; i++) {
		struct wf_txq *q = &hca->lag.port[i];

		wf_list_init(&q->ack_ring);
		wf_list_init(&q->tx_ring);
		wf_list_init(&q->held_acks);
		wf_list_init(&q->held_ring);
	}
}

/* Moves all of from to the empty list to. */
static void take_list(struct wf_list *to, struct wf_list *from)
{
	assert(wf_list_empty(to));
	if (wf_list_empty(from))
		return;
	*to = *from;
	to->next->prev = to;
	to->prev->next = to;
	wf_list_init(from);
}

static void move_link(struct wf_list *link, struct wf_list *to)
{
	wf_list_remove(link);
	wf_list_append(to, link);
}

/* The port that qp would have if all were in use. */
static uint32_t own_number(const struct wf_qp *qp)
{
	const struct wf_hca_attr *attr = &qp->hca->attr;
	uint16_t entropy = qp->entropy;

	switch (attr->lag) {
	case WF_LAG_AFFINITY:
		return qp->lag_turn;
	case WF_LAG_HASH:
		if (qp->init.tune.spray)
			entropy = wf_qp_spray(qp, qp->sprayed);
		return wf_lag_hash(attr->lag_key, attr->host, qp->dest, entropy, attr->ports);
	case WF_LAG_OWN:
		return qp->attr.port_num == 0 ? 0 : qp->attr.port_num - 1u;
	case WF_LAG_BACKUP:
		break;
	}
	return 0;
}

static uint8_t port_of(const struct wf_qp *qp)
{
	uint32_t number = (own_number(qp) + qp->lag_shift) % qp->hca->attr.ports;

	return (uint8_t)wf_lag_port(number, qp->hca->lag.used);
}

/*
 * Shares out who has joined the adapter's rings while no port was asked. Of who sprays, each packet
 * may have another port than the one before.
 */
static void share_out(struct wf_hca *hca)
{
	assert(hca->lag.asked == 0 && wf_list_empty(&hca->held_acks) &&
	       wf_list_empty(&hca->held_ring));
	while (!wf_list_empty(&hca->ack_ring)) {
		struct wf_qp *qp = wf_container_of(hca->ack_ring.next, struct wf_qp, ack_link);

		move_link(&qp->ack_link, &hca->lag.port[qp->lag_port].ack_ring);
	}
	while (!wf_list_empty(&hca->tx_ring)) {
		struct wf_qp *qp = wf_container_of(hca->tx_ring.next, struct wf_qp, tx_link);

		if (qp->init.tune.spray)
			qp->lag_port = port_of(qp);
		move_link(&qp->tx_link, &hca->lag.port[qp->lag_port].tx_ring);
	}
}

void wf_hca_ask(struct wf_hca *hca, uint32_t port, wf_time now)
{
	struct wf_txq *q = &hca->lag.port[port];

	assert(port < hca->attr.ports);
	wf_hca_wake(hca, now);
	share_out(hca);
	take_list(&hca->ack_ring, &q->ack_ring);
	take_list(&hca->tx_ring, &q->tx_ring);
	take_list(&hca->held_acks, &q->held_acks);
	take_list(&hca->held_ring, &q->held_ring);
	hca->held = q->held;
	hca->lag.asked = port + 1;
	hca->lag.sent = hca->counter[WF_CTR_TX_PACKETS];
}

/* Those of the last n that were listed who spray may have another port for their next packet. */
static void again(struct wf_hca *hca, uint64_t n)
{
	struct wf_list *l = hca->tx_ring.prev;

	for (; n > 0 && l != &hca->tx_ring; n--) {
		struct wf_qp *qp = wf_container_of(l, struct wf_qp, tx_link);

		l = l->prev;
		if (qp->init.tune.spray)
			wf_lag_place(qp);
	}
}

void wf_hca_asked(struct wf_hca *hca)
{
	struct wf_txq *q = &hca->lag.port[hca->lag.asked - 1];

	assert(hca->lag.asked != 0);
	hca->lag.asked = 0;
	again(hca, hca->counter[WF_CTR_TX_PACKETS] - hca->lag.sent);
	q->held = hca->held;
	hca->held = 0;
	take_list(&q->ack_ring, &hca->ack_ring);
	take_list(&q->tx_ring, &hca->tx_ring);
	take_list(&q->held_acks, &hca->held_acks);
	take_list(&q->held_ring, &hca->held_ring);
}

wf_time wf_hca_tx_time_by(struct wf_hca *hca, uint32_t port)
{
	const struct wf_heap *heap = &hca->heap[WF_HEAP_PACE];
	const struct wf_txq *q = &hca->lag.port[port];

	share_out(hca);
	if ((hca->classes & ~q->held) == 0)
		return WF_TIME_NEVER;
	if (!wf_list_empty(&q->ack_ring) || !wf_list_empty(&q->tx_ring))
		return 0;
	return heap->n != 0 ? heap->item[0].at : WF_TIME_NEVER;
}

/* ---- ports ---- */

/* What waits to be sent goes to the end of the port's rings; what is paced follows when it may. */
void wf_lag_place(struct wf_qp *qp)
{
	struct wf_hca *hca = qp->hca;
	uint8_t port = port_of(qp);
	struct wf_txq *to = &hca->lag.port[port];

	assert(hca->lag.asked == 0);
	if (port == qp->lag_port)
		return;
	qp->lag_port = port;
	if (!wf_list_empty(&qp->ack_link))
		move_link(&qp->ack_link, &to->ack_ring);
	if (qp->tx_where == WF_TX_RING || qp->tx_where == WF_TX_HELD) {
		move_link(&qp->tx_link, &to->tx_ring);
		qp->tx_where = WF_TX_RING;
	}
}

void wf_lag_add(struct wf_qp *qp)
{
	qp->lag_turn = (uint8_t)(qp->hca->lag.next++ % qp->hca->attr.ports);
	wf_lag_place(qp);
}

void wf_lag_lost(struct wf_qp *qp)
{
	if (!qp->hca->attr.lag_follow)
		return;
	qp->lag_shift = (uint8_t)((qp->lag_shift + 1) % qp->hca->attr.ports);
	wf_lag_place(qp);
}

void wf_hca_use_ports(struct wf_hca *hca, uint32_t used)
{
	assert(used >> hca->attr.ports == 0);
	if (used == 0)
		return;
	hca->lag.used = used;
	for (uint32_t i = 0; i <= hca->qp_mask; i++) {
		if (hca->qps[i] != NULL)
			wf_lag_place(hca->qps[i]);
	}
}

void wf_hca_came(struct wf_hca *hca, uint32_t qpn, uint32_t port)
{
	struct wf_qp *qp = hca->attr.lag_follow ? wf_hca_qp(hca, qpn) : NULL;
	uint32_t ports = hca->attr.ports;

	if (qp == NULL || qp->lag_port == port)
		return;
	qp->lag_shift = (uint8_t)((port + ports - own_number(qp)) % ports);
	wf_lag_place(qp);
}
