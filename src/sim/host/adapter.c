/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapter.c - pulls packets from the transport and puts them on the fabric, and the other way.
 */
#include "sim/host/adapter.h"

#include <errno.h>
#include <string.h>

#include "fabric/station.h"
#include "rdma/cq.h"
#include "sim/host/adapter_priv.h"
#include "sim/host/payload.h"
#include "sim/host/reduce.h"
#include "sim/host/tcp.h"
#include "sim/host/telemetry.h"
#include "wire/opcode.h"
#include "wire/size.h"
#include "wire/transport.h"

struct wf_adapter *wf_adapter_of(struct wf_device *dev)
{
	return wf_adapter_of_endpoint(wf_endpoint_of_device(dev));
}

/* What holds between any two events. */
static void assert_adapter(const struct wf_adapter *a)
{
	assert(a->n_programs <= WF_ADAPTER_PROGRAMS);
	assert(a->pcie != 0);
	assert(a->written_head - a->written_tail <= WF_ADAPTER_WRITTEN_MAX);
	/* Whatever waits for a time has a timer that is not later. */
	assert(a->ep.dev.node.timer[WF_ADAPTER_TICK] <= wf_hca_deadline(a->hca));
	assert(a->ep.dev.node.timer[WF_ADAPTER_WRITTEN] != WF_TIME_NEVER ||
	       a->written_head == a->written_tail);
	(void)a;
}

struct wf_hca *wf_adapter_hca(struct wf_adapter *a)
{
	return a->hca;
}

struct wf_host_counts *wf_adapter_counts(struct wf_adapter *a)
{
	return a->counts;
}

struct wf_device *wf_adapter_device(struct wf_adapter *a)
{
	return &a->ep.dev;
}

wf_time wf_adapter_seen(const struct wf_adapter *a, enum wf_wc_opcode opcode, wf_time now)
{
	bool fetches =
		opcode == WF_WC_RDMA_READ || opcode == WF_WC_COMP_SWAP || opcode == WF_WC_FETCH_ADD;

	return now + (fetches ? a->ep.dev.setup->cfg.nic_fetch : 0);
}

struct wf_tcp_stack *wf_adapter_tcp(struct wf_adapter *a)
{
	return a->tcp;
}

/* Gives a packet that wants one a record, or an acknowledgement the one that it brings back. */
static void attach_record(struct wf_adapter *a, struct wf_packet *pkt)
{
	bool back = wf_op_is_ack(pkt->opcode);
	struct wf_int_record *r;

	pkt->flags &= (uint8_t)~WF_PACKET_INT;
	if (back) {
		r = wf_store_at(a->ep.dev.shard->records, pkt->payload);
		pkt->payload = 0;
	} else {
		r = wf_int_get(a->ep.dev.shard);
		if (r == NULL)
			return;
	}
	r->bytes = a->ep.dev.fabric->int_bytes;
	wf_int_attach(pkt, r, back ? WF_INT_BACK : 0);
}

/* Where TLPs have headers, too: those of what was read, and those that asked for it. */
static void charge_headers(struct wf_adapter *a, const struct wf_packet *pkt, wf_time now)
{
	uint32_t more = wf_intake_read_bytes(a->ep.intake, pkt->length) - pkt->length;

	a->pcie_tx += wf_rate_time(a->pcie, more);
	wf_intake_ask(a->ep.intake, pkt->length, now);
}

/* PCIe has to bring the payload: the next packet may have to wait until it is idle again. */
static void charge_pcie(struct wf_adapter *a, const struct wf_packet *pkt, wf_time now)
{
	a->pcie_tx = wf_max_time(a->pcie_tx, now) + wf_rate_time(a->pcie, pkt->length);
	if (wf_unlikely(a->ep.intake != NULL))
		charge_headers(a, pkt, now);
}

/* What belongs to a packet with contents. */
static struct wf_payload *payload_of(const struct wf_adapter_env *env, const struct wf_packet *pkt)
{
	return wf_store_at(env->payload, pkt->payload);
}

/* The packet is put on the wire now. */
static void adapter_leave(struct wf_endpoint *ep, struct wf_packet *pkt, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(ep);

	if (pkt->length != 0 && !wf_op_is_atomic(pkt->opcode)) {
		if (a->env->payload == NULL)
			wf_packet_set_born(pkt, now, a->ep.dev.fabric->born_step);
		else if (pkt->payload != 0)
			payload_of(a->env, pkt)->born = now;
		charge_pcie(a, pkt, now);
	}
	if (pkt->flags & WF_PACKET_INT)
		attach_record(a, pkt);
}

/* Gives a packet with payload its bytes' number. */
static void keep_payload(struct wf_adapter *a, struct wf_packet *pkt, const void *bytes)
{
	if (a->env->payload == NULL || wf_op_is_atomic(pkt->opcode) || pkt->length == 0)
		return;
	pkt->payload = wf_store_get(a->env->payload, a->shard_number);
	if (pkt->payload != 0)
		memcpy(payload_of(a->env, pkt)->bytes, bytes, pkt->length);
}

void wf_adapter_lost(void *arg, struct wf_fabric_shard *shard, const struct wf_packet *pkt,
                     bool trimmed)
{
	const struct wf_adapter_env *env = arg;

	(void)trimmed; /* its payload is gone either way */
	if (pkt->type == WF_PACKET_RDMA && !wf_op_is_atomic(pkt->opcode) && pkt->length != 0 &&
	    pkt->payload != 0)
		wf_store_put(env->payload, shard->number, pkt->payload);
}

bool wf_adapter_copied(void *arg, struct wf_fabric_shard *shard, struct wf_packet *copy)
{
	const struct wf_adapter_env *env = arg;
	const struct wf_payload *from;
	uint32_t own;

	if (copy->type != WF_PACKET_RDMA || wf_op_is_atomic(copy->opcode) || copy->length == 0)
		return true;
	own = wf_store_get(env->payload, shard->number);
	if (own == 0)
		return false;
	from = payload_of(env, copy);
	copy->payload = own;
	payload_of(env, copy)->born = from->born;
	memcpy(payload_of(env, copy)->bytes, from->bytes, copy->length);
	return true;
}

static bool adapter_next(struct wf_endpoint *ep, wf_time now, struct wf_packet *pkt)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(ep);
	uint8_t bytes[WF_MTU_MAX];

	if (!wf_hca_tx(a->hca, now, pkt, a->env->payload != NULL ? bytes : NULL))
		return false;
	pkt->type = WF_PACKET_RDMA;
	keep_payload(a, pkt, bytes);
	return true;
}

static bool adapter_rivals(const struct wf_endpoint *ep)
{
	const struct wf_adapter *a = wf_container_of(ep, const struct wf_adapter, ep);
	uint32_t classes = wf_hca_classes(a->hca);

	return (classes & (classes - 1)) != 0 && (classes & ~ep->held) != 0;
}

static void adapter_hold(struct wf_endpoint *ep)
{
	wf_hca_hold(wf_adapter_of_endpoint(ep)->hca, ep->held);
}

static const struct wf_pull_ops pull_ops = {
	.next = adapter_next,
	.rivals = adapter_rivals,
	.hold = adapter_hold,
	.leave = adapter_leave,
};

/* Sets the timers by what the transport wants next. */
static void plan(struct wf_adapter *a, wf_time now)
{
	wf_time deadline = wf_hca_deadline(a->hca);

	if (deadline == WF_TIME_NEVER)
		wf_timer_clear(&a->ep.dev.node, WF_ADAPTER_TICK);
	else if (a->ep.dev.node.timer[WF_ADAPTER_TICK] != deadline)
		wf_timer_set(&a->ep.dev.node, WF_ADAPTER_TICK, wf_max_time(deadline, now));
}

/* When the transport has something for the wire: at once, later, or not at all. */
static void wake_for_tx(struct wf_adapter *a, wf_time now)
{
	wf_time at = wf_hca_tx_time(a->hca);

	if (at == WF_TIME_NEVER)
		return;
	wf_port_wake(&a->ep.dev, wf_endpoint_port(&a->ep), wf_max_time(at, now));
}

void wf_adapter_lose_next(struct wf_adapter *a, wf_time now)
{
	struct wf_device *dev = &a->ep.dev;
	struct wf_port *port = wf_endpoint_port(&a->ep);
	struct wf_packet pkt;

	if (port->free_at > now || !a->own_pull->next(&a->ep, now, &pkt)) {
		plan(a, now);
		return;
	}
	pkt.vl = wf_fabric_queue(dev, pkt.cls) & WF_PACKET_VL;
	adapter_leave(&a->ep, &pkt, now);
	dev->shard->tally[pkt.cls].sent++;
	wf_device_drop(dev, port, pkt.vl, &pkt, WF_DROP_DOWN, now);
	port->free_at = now + wf_port_time(port, pkt.size + dev->fabric->gap);
	plan(a, now);
}

static WF_ALWAYS_INLINE void adapter_tx(struct wf_adapter *a, wf_time now)
{
	struct wf_port *port = wf_endpoint_port(&a->ep);
	bool control = port->control != 0;
	wf_time again = WF_TIME_NEVER;
	uint32_t look;
	bool busy;

	if (wf_unlikely(!port->up)) {
		if (a->rails != NULL)
			wf_adapter_lose_next(a, now);
		return;
	}
	if (control)
		wf_port_transmit_control(&a->ep.dev, port, now);
	else if (now >= a->pcie_tx)
		(void)wf_endpoint_pull(&a->ep, a->pull, now, &again);
	busy = a->pcie_tx > wf_max_time(port->free_at, now);
	/* Nothing was asked of what waits when link control went first: it may be let go by now. */
	look = control ? a->ep.waiting : a->ep.waiting & ~port->blocked;
	wf_endpoint_again(&a->ep, !busy && look != 0, again, now);
	/* What waits was not looked at while PCIe is busy: it may be that it is let go by now. */
	if (busy && (a->ep.waiting != 0 || wf_hca_tx_time(a->hca) != WF_TIME_NEVER))
		wf_port_wake(&a->ep.dev, port, a->pcie_tx);
	else
		wake_for_tx(a, now);
	plan(a, now);
}

/* Has the program called when it sees the first of the queues that have something for it. */
static void wait_for_complete(struct wf_adapter *a, wf_time now)
{
	wf_time at = wf_hca_comp_time(a->hca);

	if (at == WF_TIME_NEVER)
		wf_timer_clear(&a->ep.dev.node, WF_ADAPTER_COMPLETE);
	else if (a->ep.dev.node.timer[WF_ADAPTER_COMPLETE] != wf_max_time(at, now))
		wf_timer_set(&a->ep.dev.node, WF_ADAPTER_COMPLETE, wf_max_time(at, now));
}

/* After anything that may have changed what the transport wants. */
static void settle(struct wf_adapter *a, wf_time now)
{
	wake_for_tx(a, now);
	plan(a, now);
	wait_for_complete(a, now);
	assert_adapter(a);
}

void wf_adapter_settle(struct wf_adapter *a, wf_time now)
{
	settle(a, now);
}

void wf_adapter_leave(struct wf_endpoint *ep, struct wf_packet *pkt, wf_time now)
{
	adapter_leave(ep, pkt, now);
}

void wf_adapter_charge(struct wf_adapter *a, const struct wf_packet *pkt, wf_time now)
{
	charge_pcie(a, pkt, now);
}

/* Whether the adapter has to fetch data before the first packet of wr can leave. */
static bool must_fetch(const struct wf_adapter *a, const struct wf_send_wr *wr)
{
	uint64_t bytes = 0;

	if (wr->opcode >= WF_WR_RDMA_READ && wr->opcode <= WF_WR_BIND_MW)
		return false;
	for (uint32_t i = 0; i < wr->num_sge; i++)
		bytes += wr->sge[i].length;
	return (wr->flags & WF_SEND_INLINE) == 0 && bytes > a->ep.dev.setup->cfg.nic_inline;
}

int wf_adapter_post(struct wf_adapter *a, struct wf_qp *qp, const struct wf_send_wr *wr,
                    const struct wf_send_wr **bad_p, wf_time now)
{
	const struct wf_fabric_cfg *cfg = &a->ep.dev.setup->cfg;
	wf_time ready = now + cfg->nic_doorbell + cfg->nic_tx;
	int ret;

	/* At what time would it be, on that host? */
	if (!wf_adapter_runs(a) && a->ep.dev.node.shard->running != NULL) {
		*bad_p = wr;
		return -EINVAL;
	}
	if (must_fetch(a, wr))
		ready += cfg->nic_fetch;
	wf_qp_delay(qp, ready);
	ret = wf_qp_post_send(qp, wr, bad_p);
	/* Whatever calls a program settles when it comes back. */
	if (!wf_adapter_runs(a)) {
		settle(a, now);
		if (a->bond != NULL)
			wf_ports_wake(a, now);
	}
	return ret;
}

/* Calls the program whose queue it is. */
static void complete_one(struct wf_adapter *a, struct wf_cq *cq, wf_time now)
{
	for (unsigned i = a->n_programs; i-- > 0;) {
		const struct wf_program *p = a->program[i].ops;

		if (p->owns == NULL || p->owns(a->program[i].arg, cq)) {
			p->complete(a->program[i].arg, a, cq, now);
			return;
		}
	}
}

/* Calls the program for every queue whose completions it sees by now. */
static void adapter_complete(struct wf_adapter *a, wf_time now)
{
	wf_hca_set_now(a->hca, now);
	while (wf_hca_comp_time(a->hca) <= now)
		complete_one(a, wf_hca_next_comp(a->hca), now);
	settle(a, now);
}

/* Tells the program of the writes that are in memory by now. */
static void adapter_written(struct wf_adapter *a, wf_time now)
{
	uint64_t writes = 0;

	while (a->written_tail != a->written_head &&
	       a->written[a->written_tail % WF_ADAPTER_WRITTEN_MAX].at <= now)
		writes = a->written[a->written_tail++ % WF_ADAPTER_WRITTEN_MAX].writes;
	if (a->written_tail != a->written_head)
		wf_timer_set(&a->ep.dev.node, WF_ADAPTER_WRITTEN,
		             a->written[a->written_tail % WF_ADAPTER_WRITTEN_MAX].at);
	wf_hca_set_now(a->hca, now);
	if (writes != 0)
		a->program[0].ops->written(a->program[0].arg, a, writes, now);
	settle(a, now);
}

/* Notes that a WRITE is placed as soon as PCIe has brought it to memory. */
static void note_writes(struct wf_adapter *a, uint64_t writes, wf_time now)
{
	wf_time at = wf_max_time(now, a->pcie_rx);

	/* With no room left, the newest notice stands for this one, too. */
	if (a->written_head - a->written_tail == WF_ADAPTER_WRITTEN_MAX)
		a->written_head--;
	else if (a->written_head == a->written_tail)
		wf_timer_set(&a->ep.dev.node, WF_ADAPTER_WRITTEN, at);
	a->written[a->written_head % WF_ADAPTER_WRITTEN_MAX].at = at;
	a->written[a->written_head++ % WF_ADAPTER_WRITTEN_MAX].writes = writes;
}

static void count_rx(struct wf_adapter *a, const struct wf_packet *pkt, wf_time now)
{
	uint64_t age;

	if (wf_op_is_atomic(pkt->opcode) || pkt->length == 0)
		return;
	if (wf_unlikely(a->ep.intake != NULL))
		a->pcie_rx = wf_max_time(a->pcie_rx, a->ep.intake->seen);
	else
		a->pcie_rx = wf_max_time(a->pcie_rx, now) + wf_rate_time(a->pcie, pkt->length);
	wf_hca_set_seen(a->hca, a->pcie_rx);
	if (a->env->payload == NULL)
		age = wf_packet_age(pkt, now, a->ep.dev.fabric->born_step);
	else
		age = (uint64_t)(now - payload_of(a->env, pkt)->born);
	wf_hist_add(&a->counts->packet_latency, age);
}

/*
 * Hands a packet to the transport with its record: an acknowledgement's is read, a request's is
 * kept until the acknowledgement that answers it.
 */
static void give_packet(struct wf_adapter *a, const struct wf_packet *pkt, struct wf_int_record *r,
                        const void *payload, wf_time now)
{
	bool back = r != NULL && wf_op_is_ack(pkt->opcode);
	uint32_t spare = r != NULL ? r->number : 0;
	struct wf_hca_rx_extra extra = {
		.payload = payload,
		.telemetry = back ? &a->telemetry : NULL,
		.echo = back ? 0 : spare,
		.spare = &spare,
	};

	if (back)
		wf_telemetry_read(a->ep.dev.fabric, r, &a->telemetry);
	wf_hca_rx(a->hca, pkt, &extra, now);
	if (spare != 0)
		wf_store_put(a->ep.dev.shard->records, a->shard_number, spare);
}

static void adapter_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(wf_endpoint_of(node));
	struct wf_packet *pkt = wf_packet_of(cell);
	struct wf_int_record *record;
	const void *bytes = NULL;
	uint32_t payload = 0;
	uint64_t writes;

	if (input == WF_ADAPTER_SIDE) {
		wf_hca_set_now(a->hca, now);
		a->program[0].ops->side(a->program[0].arg, a, cell, now);
		settle(a, now);
		return;
	}
	if (wf_likely(input != WF_ADAPTER_TAKEN))
		pkt = wf_endpoint_receive(&a->ep, cell, now);
	if (pkt == NULL)
		return;
	record = wf_int_detach(a->ep.dev.shard, pkt);
	count_rx(a, pkt, now);
	wf_packet_forget_born(pkt);
	if (a->env->payload != NULL && !wf_op_is_atomic(pkt->opcode) && pkt->length != 0) {
		payload = pkt->payload;
		bytes = payload_of(a->env, pkt)->bytes;
	}
	writes = wf_hca_counter(a->hca, WF_CTR_RX_WRITES);
	give_packet(a, pkt, record, bytes, now);
	if (a->looks && wf_hca_counter(a->hca, WF_CTR_RX_WRITES) != writes)
		note_writes(a, wf_hca_counter(a->hca, WF_CTR_RX_WRITES), now);
	if (payload != 0)
		wf_store_put(a->env->payload, a->shard_number, payload);
	settle(a, now);
}

/* What is in memory by now, out of a receive buffer. */
static void take_in(struct wf_adapter *a, wf_time now)
{
	struct wf_cell cell;

	while (wf_endpoint_taken_in(&a->ep, wf_packet_of(&cell), now))
		adapter_rx(&a->ep.dev.node, WF_ADAPTER_TAKEN, &cell, now);
}

static void adapter_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(wf_endpoint_of(node));

	switch (slot) {
	case WF_ENDPOINT_WIRE:
		adapter_tx(a, now);
		break;
	case WF_ENDPOINT_FLOWCTL:
		wf_endpoint_flowctl(&a->ep, now);
		break;
	case WF_ENDPOINT_INTAKE:
		take_in(a, now);
		break;
	case WF_ADAPTER_TICK:
		wf_hca_tick(a->hca, now);
		settle(a, now);
		break;
	case WF_ADAPTER_RUN:
		wf_hca_set_now(a->hca, now);
		for (unsigned i = 0; i < a->n_programs; i++)
			a->program[i].ops->run(a->program[i].arg, a, now);
		settle(a, now);
		break;
	case WF_ADAPTER_COMPLETE:
		adapter_complete(a, now);
		break;
	case WF_ADAPTER_WRITTEN:
		adapter_written(a, now);
		break;
	default:
		assert(0);
	}
}

void wf_adapter_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	adapter_rx(node, input, cell, now);
}

void wf_adapter_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	adapter_timer(node, slot, now);
}

/* ---- TCP beside the transport: these stand in for the functions above where hosts have it ---- */

static bool tcp_give(struct wf_adapter *a, wf_time now, struct wf_packet *pkt)
{
	return wf_tcp_stack_tx(a->tcp, a->ep.held, now, pkt);
}

/* The two take turns. */
static bool both_next(struct wf_endpoint *ep, wf_time now, struct wf_packet *pkt)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(ep);

	if (!a->tcp_last && tcp_give(a, now, pkt)) {
		a->tcp_last = true;
		return true;
	}
	if (adapter_next(ep, now, pkt)) {
		a->tcp_last = false;
		return true;
	}
	return a->tcp_last && tcp_give(a, now, pkt);
}

static bool both_rivals(const struct wf_endpoint *ep)
{
	const struct wf_adapter *a = wf_container_of(ep, const struct wf_adapter, ep);
	uint32_t classes = wf_hca_classes(a->hca) | wf_tcp_stack_classes(a->tcp);

	return (classes & (classes - 1)) != 0 && (classes & ~ep->held) != 0;
}

static void both_leave(struct wf_endpoint *ep, struct wf_packet *pkt, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(ep);

	if (pkt->type != WF_PACKET_TCP) {
		adapter_leave(ep, pkt, now);
		return;
	}
	if (pkt->length == 0)
		return;
	pkt->u.tcp.born = now;
	charge_pcie(a, pkt, now);
}

static const struct wf_pull_ops both_ops = {
	.next = both_next,
	.rivals = both_rivals,
	.hold = adapter_hold,
	.leave = both_leave,
};

/* After anything that may have changed what TCP wants. */
static void tcp_settle(struct wf_adapter *a, wf_time now)
{
	wf_time at = wf_tcp_stack_tx_time(a->tcp, a->ep.held);
	wf_time deadline = wf_tcp_stack_deadline(a->tcp);

	if (at != WF_TIME_NEVER && wf_endpoint_port(&a->ep)->up)
		wf_port_wake(&a->ep.dev, wf_endpoint_port(&a->ep),
		             wf_max_time(wf_max_time(at, a->pcie_tx), now));
	if (deadline == WF_TIME_NEVER)
		wf_timer_clear(&a->ep.dev.node, WF_ADAPTER_TCP);
	else if (a->ep.dev.node.timer[WF_ADAPTER_TCP] != deadline)
		wf_timer_set(&a->ep.dev.node, WF_ADAPTER_TCP, wf_max_time(deadline, now));
	if (wf_tcp_stack_failed(a->tcp))
		wf_shard_no_memory(a->ep.dev.node.shard);
}

/* A segment is in memory when PCIe has brought it there. */
static void tcp_rx(struct wf_adapter *a, const struct wf_packet *pkt, wf_time now)
{
	if (pkt->length > 0) {
		if (wf_unlikely(a->ep.intake != NULL))
			a->pcie_rx = wf_max_time(a->pcie_rx, a->ep.intake->seen);
		else
			a->pcie_rx =
				wf_max_time(a->pcie_rx, now) + wf_rate_time(a->pcie, pkt->length);
		wf_hist_add(&a->counts->packet_latency, (uint64_t)(now - pkt->u.tcp.born));
	}
	wf_tcp_stack_rx(a->tcp, pkt, wf_max_time(now, a->pcie_rx));
}

static void both_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(wf_endpoint_of(node));
	struct wf_packet *pkt = wf_packet_of(cell);

	if (input == WF_ADAPTER_SIDE || pkt->type != WF_PACKET_TCP) {
		adapter_rx(node, input, cell, now);
	} else {
		if (wf_likely(input != WF_ADAPTER_TAKEN))
			pkt = wf_endpoint_receive(&a->ep, cell, now);
		if (pkt != NULL)
			tcp_rx(a, pkt, now);
	}
	tcp_settle(a, now);
}

static void both_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of_endpoint(wf_endpoint_of(node));
	struct wf_cell cell;

	if (slot == WF_ADAPTER_TCP)
		wf_tcp_stack_tick(a->tcp, now);
	else if (slot != WF_ENDPOINT_INTAKE)
		adapter_timer(node, slot, now);
	else
		while (wf_endpoint_taken_in(&a->ep, wf_packet_of(&cell), now))
			both_rx(node, WF_ADAPTER_TAKEN, &cell, now);
	tcp_settle(a, now);
}

void wf_adapter_warm(const struct wf_node *node, unsigned input)
{
	const struct wf_device *dev = wf_container_of(node, const struct wf_device, node);

	(void)input;
	__builtin_prefetch(&dev->ports[0]);
	__builtin_prefetch(wf_device_lane(dev, 0, 0));
}

static const struct wf_node_ops adapter_ops = {
	.name = "adapter",
	.late = true,
	.rx = adapter_rx,
	.timer = adapter_timer,
	.warm = wf_adapter_warm,
};

static const struct wf_node_ops both_node_ops = {
	.name = "adapter",
	.late = true,
	.rx = both_rx,
	.timer = both_timer,
	.warm = wf_adapter_warm,
};

/* ---- in a managed fabric ---- */

static void managed_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	if (wf_station_takes_timer(wf_device_of(node), slot, now))
		return;
	if (wf_adapter_of_endpoint(wf_endpoint_of(node))->tcp != NULL)
		both_timer(node, slot, now);
	else
		adapter_timer(node, slot, now);
	wf_station_look_again(wf_device_of(node), now);
}

static const struct wf_node_ops managed_ops = {
	.name = "adapter",
	.late = true,
	.rx = adapter_rx,
	.timer = managed_timer,
	.warm = wf_adapter_warm,
};

static const struct wf_node_ops managed_both_ops = {
	.name = "adapter",
	.late = true,
	.rx = both_rx,
	.timer = managed_timer,
	.warm = wf_adapter_warm,
};

/* Gives a host its TCP. */
static int make_tcp(struct wf_adapter *a)
{
	struct wf_tcp_stack_cfg cfg;

	wf_host_tcp_cfg(a->ep.dev.fabric, a->ep.dev.setup, &cfg);
	a->pull = &both_ops;
	return wf_tcp_stack_create(&cfg, wf_shard_mem(a->ep.dev.node.shard), &a->tcp);
}

/* The transport will not answer any more what came with a record. */
static void forget_echo(void *ctx, uint32_t echo)
{
	const struct wf_device *dev = ctx;

	wf_store_put(dev->shard->records, dev->shard->number, echo);
}

static int adapter_start(struct wf_device *dev, struct wf_err *err)
{
	wf_timer_set(&dev->node, WF_ADAPTER_RUN, 0);
	return wf_endpoint_start(dev, err);
}

/* The time between two of so many per second, no less; 0: any number. */
static wf_time gap_of(uint64_t per_second)
{
	if (per_second == (uint64_t)WF_PARAM_AUTO)
		return 0;
	return (wf_time)((WF_S + (wf_time)per_second - 1) / (wf_time)per_second);
}

/* What the adapter has of its device's setup besides the port. */
static void set_up_host(struct wf_adapter *a)
{
	const struct wf_fabric_cfg *cfg = &a->ep.dev.setup->cfg;

	a->pcie = wf_rate_per_byte(cfg->nic_pcie);
	wf_hca_set_messages(a->hca, gap_of(cfg->nic_messages), gap_of(cfg->nic_qp_messages));
}

static void adapter_changed(struct wf_device *dev, wf_time now)
{
	struct wf_adapter *a = wf_adapter_of(dev);
	struct wf_tcp_stack_cfg tcp;

	set_up_host(a);
	if (a->tcp != NULL) {
		wf_host_tcp_cfg(dev->fabric, dev->setup, &tcp);
		wf_tcp_stack_set_costs(a->tcp, &tcp.cost);
	}
	wf_endpoint_changed(dev, now);
}

static void adapter_fini(struct wf_device *dev)
{
	wf_hca_destroy(wf_adapter_of(dev)->hca);
	wf_tcp_stack_destroy(wf_adapter_of(dev)->tcp);
}

static const struct wf_device_ops device_ops = {
	.start = adapter_start,
	.set_up = wf_endpoint_set_up,
	.changed = adapter_changed,
	.fini = adapter_fini,
};

static const struct wf_device_ops bonded_device_ops = {
	.start = adapter_start,
	.set_up = wf_ports_set_up,
	.changed = adapter_changed,
	.fini = adapter_fini,
};

/* The node, in a shard; *ops_p becomes what it does but for reductions. */
static struct wf_node *add_node(struct wf_shard *shard, const struct wf_adapter_env *env,
                                bool bonded, const struct wf_node_ops **ops_p)
{
	unsigned timers = env->tcp ? WF_ADAPTER_TIMERS : WF_ADAPTER_TCP;
	const struct wf_node_ops *ops = env->tcp ? &both_node_ops : &adapter_ops;
	bool reduces = env->fabric->sharp != NULL;

	if (bonded) {
		timers = WF_ADAPTER_BONDED_TIMERS + env->fabric->managed;
		ops = env->fabric->managed ? &wf_managed_ports_node : &wf_ports_node;
	} else if (env->fabric->managed) {
		timers++;
		ops = env->tcp ? &managed_both_ops : &managed_ops;
	}
	*ops_p = ops;
	return wf_engine_add_node(shard, reduces ? &wf_reducer_node : ops,
	                          sizeof(struct wf_adapter), WF_ADAPTER_SIDE + 1, timers + reduces);
}

/* The node, and its ports. NULL: there is no more memory. */
static struct wf_adapter *make_node(struct wf_shard *shard, const struct wf_adapter_env *env,
                                    uint32_t host)
{
	const struct wf_fabric *fabric = env->fabric;
	unsigned n_ports = wf_endpoint_ports(fabric, host);
	bool bonded = n_ports > 1;
	const struct wf_node_ops *ops;
	struct wf_node *node = add_node(shard, env, bonded, &ops);
	struct wf_adapter *a;

	if (node == NULL)
		return NULL;
	a = wf_adapter_of_endpoint(wf_endpoint_of(node));
	a->inner = ops;
	if (wf_endpoint_init(&a->ep, bonded ? &bonded_device_ops : &device_ops, fabric, host) != 0)
		return NULL;
	if (!bonded)
		return a;
	assert(!env->tcp && fabric->sharp == NULL);
	a->bond = wf_shard_alloc(shard, sizeof(*a->bond));
	if (a->bond == NULL)
		return NULL;
	wf_bond_init(a->bond, fabric, &a->ep.dev.setup->cfg, n_ports);
	return a;
}

/* Gives a host its part in the fabric's reductions. */
static int make_reducer(struct wf_adapter *a)
{
	unsigned slot = a->tcp != NULL ? WF_ADAPTER_TIMERS : WF_ADAPTER_TCP;
	int ret = wf_reducer_create(a, a->pull, slot, &a->reducer);

	a->pull = &wf_reducer_pull;
	return ret;
}

struct wf_device *wf_adapter_create(struct wf_shard *shard, const struct wf_adapter_env *env,
                                    uint32_t host, const struct wf_hca_attr *attr)
{
	const struct wf_fabric *fabric = env->fabric;
	struct wf_fabric_shard *fs = wf_shard_user(shard);
	struct wf_hca_attr full = *attr;
	uint32_t id = fabric->topo->host_node[host];
	struct wf_adapter *a = make_node(shard, env, host);

	if (a == NULL)
		return NULL;
	full.host = host;
	if (wf_ports_fill(a, &full) != 0)
		return NULL;
	full.line_rate = wf_fabric_rate(
		fabric,
		&fabric->topo->links[fabric->topo->ports[fabric->topo->nodes[id].first_port].link]);
	full.overhead = (uint16_t)(fabric->header - WF_BTH_LEN);
	full.roce = !fabric->flowctl->uses_credits;
	full.data = env->payload != NULL;
	full.forget = forget_echo;
	full.forget_ctx = &a->ep.dev;
	if (wf_hca_create(&full, wf_shard_mem(shard), &a->hca) != 0)
		return NULL;
	if (a->rails != NULL)
		a->rails->hca = a->hca;
	a->env = env;
	a->counts = fs->user;
	a->shard_number = fs->number;
	set_up_host(a);
	a->pull = &pull_ops;
	if (env->tcp && make_tcp(a) != 0)
		return NULL;
	if (fabric->sharp != NULL && make_reducer(a) != 0)
		return NULL;
	a->own_pull = a->pull;
	if (fabric->managed)
		a->pull = &wf_station_pull;
	return &a->ep.dev;
}

const struct wf_pull_ops *wf_adapter_pull(const struct wf_adapter *a)
{
	return a->own_pull;
}

void wf_adapter_add_program(struct wf_adapter *a, const struct wf_program *program, void *arg)
{
	assert(a->n_programs < WF_ADAPTER_PROGRAMS);
	a->program[a->n_programs].ops = program;
	a->program[a->n_programs].arg = arg;
	a->looks |= program->written != NULL;
	a->n_programs++;
}

bool wf_adapter_runs(const struct wf_adapter *a)
{
	return a->ep.dev.node.shard->running == &a->ep.dev.node;
}

void wf_adapter_call_at(struct wf_adapter *a, wf_time at)
{
	if (a->ep.dev.node.timer[WF_ADAPTER_RUN] > at)
		wf_timer_set(&a->ep.dev.node, WF_ADAPTER_RUN, at);
}
