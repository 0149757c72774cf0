/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapter.c - pulls packets from the transport and puts them on the fabric, and the other way.
 */
#include "sim/host/adapter.h"

#include <string.h>

#include "rdma/cq.h"
#include "sim/host/telemetry.h"
#include "wire/opcode.h"
#include "wire/transport.h"

/* Timers of the node: 0 the port's wire, 1 its flow control, then */
enum { TIMER_TICK = 2, TIMER_RUN, TIMER_COMPLETE, TIMER_WRITTEN, ADAPTER_TIMERS };

#define BORN_SHIFT 4 /* the birth of a packet, in 16 ps, travels where its payload's number would */
#define MAX_READY 16 /* completion queues that wait to be seen */
#define MAX_WRITTEN 16 /* a power of two */

struct wf_adapter {
	struct wf_device dev;
	const struct wf_adapter_env *env;
	struct wf_host_counts *counts;
	struct wf_hca *hca;
	struct {
		const struct wf_program *ops;
		void *arg;
	} program[WF_ADAPTER_PROGRAMS];
	unsigned n_programs;
	bool looks;             /* a program polls memory */
	uint32_t staged_queues; /* bit per queue with a staged packet */
	unsigned shard_number;
	wf_time pcie_tx;     /* PCIe is busy reading until */
	wf_time pcie_rx;     /* and writing */
	wf_ps_per_byte pcie; /* between adapter and memory */
	struct {
		struct wf_cq *cq;
		wf_time at;
	} ready[MAX_READY]; /* queues with completions, and when the program sees them */
	unsigned n_ready;
	struct {
		uint64_t writes; /* this many */
		wf_time at;      /* are in memory then */
	} written[MAX_WRITTEN];  /* a ring: for a program that polls memory */
	uint32_t written_head, written_tail;
	struct wf_cc_int telemetry; /* of the acknowledgement being looked at */
	struct wf_packet staged[WF_MAX_QUEUES];
};

static struct wf_adapter *to_adapter(struct wf_node *node)
{
	return wf_container_of(wf_device_of(node), struct wf_adapter, dev);
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
	return &a->dev;
}

wf_time wf_adapter_seen(const struct wf_adapter *a, enum wf_wc_opcode opcode, wf_time now)
{
	bool fetches =
		opcode == WF_WC_RDMA_READ || opcode == WF_WC_COMP_SWAP || opcode == WF_WC_FETCH_ADD;

	return now + (fetches ? a->dev.fabric->cfg.nic_fetch : 0);
}

/* Tells the transport which classes may not send: those of queues with a staged packet. */
static void update_held(struct wf_adapter *a)
{
	uint32_t held = 0;

	for (uint8_t c = 0; c < WF_MAX_CLASSES && a->staged_queues != 0; c++) {
		if (a->staged_queues >> wf_fabric_queue(a->dev.fabric, c) & 1)
			held |= 1u << c;
	}
	wf_hca_hold(a->hca, held);
}

/* Whether a packet may leave by its queue now; if not, notes the wait and when to ask again. */
static bool may_send(struct wf_adapter *a, const struct wf_packet *pkt, wf_time now,
                     wf_time *again_p)
{
	struct wf_port *port = &a->dev.ports[0];
	struct wf_lane *lane = wf_device_lane(&a->dev, 0, pkt->vl);
	wf_time at = wf_flowctl_ready(a->dev.fabric->flowctl, port, lane, pkt->vl, pkt->size, now);

	if (at <= now) {
		port->blocked &= (uint16_t) ~(1u << pkt->vl);
		wf_lane_go(lane, now);
		return true;
	}
	port->blocked |= (uint16_t)(1u << pkt->vl);
	if (at == WF_TIME_NEVER)
		wf_lane_stop(lane, now);
	*again_p = wf_min_time(*again_p, at);
	return false;
}

/* Gives a packet that wants one a record, or an acknowledgement the one that it brings back. */
static void attach_record(struct wf_adapter *a, struct wf_packet *pkt)
{
	bool back = wf_op_is_ack(pkt->opcode);
	struct wf_int_record *r;

	pkt->flags &= (uint8_t)~WF_PACKET_INT;
	if (back) {
		r = (struct wf_int_record *)(uintptr_t)pkt->atomic_va;
		pkt->atomic_va = 0;
	} else {
		r = wf_int_get(a->dev.shard);
		if (r == NULL)
			return;
	}
	r->bytes = a->dev.fabric->int_bytes;
	wf_int_attach(pkt, r, back ? WF_INT_BACK : 0);
}

static void send(struct wf_adapter *a, struct wf_packet *pkt, wf_time now)
{
	if (a->env->payload == NULL && pkt->length != 0 && !wf_op_is_atomic(pkt->opcode))
		pkt->payload = (uint32_t)(now >> BORN_SHIFT);
	if (pkt->flags & WF_PACKET_INT)
		attach_record(a, pkt);
	a->dev.shard->tally[pkt->cls].sent++;
	wf_port_transmit(&a->dev, &a->dev.ports[0], wf_device_lane(&a->dev, 0, pkt->vl), pkt, now);
}

static bool send_staged(struct wf_adapter *a, wf_time now, wf_time *again_p)
{
	for (uint32_t mask = a->staged_queues; mask != 0; mask &= mask - 1) {
		unsigned q = (unsigned)__builtin_ctz(mask);

		if (!may_send(a, &a->staged[q], now, again_p))
			continue;
		a->staged_queues &= ~(1u << q);
		update_held(a);
		send(a, &a->staged[q], now);
		return true;
	}
	return false;
}

/* Gives a packet with payload its bytes' number. */
static void keep_payload(struct wf_adapter *a, struct wf_packet *pkt, const void *bytes)
{
	if (a->env->payload == NULL || wf_op_is_atomic(pkt->opcode) || pkt->length == 0)
		return;
	pkt->payload = wf_payload_get(a->env->payload, a->shard_number);
	if (pkt->payload == 0)
		a->dev.shard->no_memory = true;
	else
		memcpy(wf_payload_bytes(a->env->payload, pkt->payload), bytes, pkt->length);
}

void wf_adapter_lost(void *arg, struct wf_fabric_shard *shard, const struct wf_packet *pkt,
                     bool trimmed)
{
	const struct wf_adapter_env *env = arg;

	(void)trimmed; /* its payload is gone either way */
	if (pkt->type == WF_PACKET_RDMA && !wf_op_is_atomic(pkt->opcode) && pkt->length != 0)
		wf_payload_put(env->payload, shard->number, pkt->payload);
}

/* PCIe has to bring the payload: the next packet may have to wait for it. */
static void charge_pcie(struct wf_adapter *a, const struct wf_packet *pkt, wf_time now)
{
	if (pkt->length == 0 || wf_op_is_atomic(pkt->opcode))
		return;
	a->pcie_tx = wf_max_time(a->pcie_tx, now) + wf_rate_time(a->pcie, pkt->length);
}

/* Pulls packets until one can be sent. Returns false when there is none. */
static bool send_new(struct wf_adapter *a, wf_time now, wf_time *again_p)
{
	uint8_t bytes[4096];
	struct wf_packet pkt;

	while (wf_hca_tx(a->hca, now, &pkt, a->env->payload != NULL ? bytes : NULL)) {
		pkt.type = WF_PACKET_RDMA;
		pkt.vl = wf_fabric_queue(a->dev.fabric, pkt.cls) & WF_PACKET_VL;
		keep_payload(a, &pkt, bytes);
		charge_pcie(a, &pkt, now);
		if (may_send(a, &pkt, now, again_p)) {
			send(a, &pkt, now);
			return true;
		}
		assert(!(a->staged_queues >> pkt.vl & 1));
		a->staged[pkt.vl] = pkt;
		a->staged_queues |= 1u << pkt.vl;
		update_held(a);
	}
	return false;
}

/* Sets the timers by what the transport wants next. */
static void plan(struct wf_adapter *a, wf_time now)
{
	wf_time deadline = wf_hca_deadline(a->hca);

	if (deadline == WF_TIME_NEVER)
		wf_timer_clear(&a->dev.node, TIMER_TICK);
	else if (a->dev.node.timer[TIMER_TICK] != deadline)
		wf_timer_set(&a->dev.node, TIMER_TICK, wf_max_time(deadline, now));
}

/* When the transport has something for the wire: at once, later, or not at all. */
static void wake_for_tx(struct wf_adapter *a, wf_time now)
{
	wf_time at = wf_hca_tx_time(a->hca);

	if (at == WF_TIME_NEVER)
		return;
	wf_port_wake(&a->dev, &a->dev.ports[0], wf_max_time(at, now));
}

static void adapter_tx(struct wf_adapter *a, wf_time now)
{
	struct wf_port *port = &a->dev.ports[0];
	wf_time again = WF_TIME_NEVER;

	if (!port->up)
		return;
	if (port->control != 0)
		wf_port_transmit_control(&a->dev, port, now);
	else if (!send_staged(a, now, &again) && now >= a->pcie_tx)
		(void)send_new(a, now, &again);
	if (port->control != 0 || (a->staged_queues & ~port->blocked) != 0)
		wf_port_wake(&a->dev, port, now);
	else if (again != WF_TIME_NEVER)
		wf_port_wake(&a->dev, port, again);
	if (wf_hca_tx_time(a->hca) != WF_TIME_NEVER && a->pcie_tx > wf_max_time(port->free_at, now))
		wf_port_wake(&a->dev, port, a->pcie_tx);
	else
		wake_for_tx(a, now);
	plan(a, now);
}

/* Lists the completion queues that were armed and have something; the program sees them in time. */
static void collect(struct wf_adapter *a, wf_time now)
{
	struct wf_cq *cq;

	while (a->n_ready < MAX_READY && (cq = wf_hca_next_comp(a->hca)) != NULL) {
		wf_time at = wf_max_time(now, a->pcie_rx);

		a->ready[a->n_ready].cq = cq;
		a->ready[a->n_ready++].at = at;
		if (a->dev.node.timer[TIMER_COMPLETE] > at)
			wf_timer_set(&a->dev.node, TIMER_COMPLETE, at);
	}
}

/* After anything that may have changed what the transport wants. */
static void settle(struct wf_adapter *a, wf_time now)
{
	wake_for_tx(a, now);
	plan(a, now);
	collect(a, now);
}

/* Whether the adapter has to fetch data before the first packet of wr can leave. */
static bool must_fetch(const struct wf_adapter *a, const struct wf_send_wr *wr)
{
	uint64_t bytes = 0;

	if (wr->opcode >= WF_WR_RDMA_READ && wr->opcode <= WF_WR_BIND_MW)
		return false;
	for (uint32_t i = 0; i < wr->num_sge; i++)
		bytes += wr->sge[i].length;
	return (wr->flags & WF_SEND_INLINE) == 0 && bytes > a->dev.fabric->cfg.nic_inline;
}

int wf_adapter_post(struct wf_adapter *a, struct wf_qp *qp, const struct wf_send_wr *wr,
                    const struct wf_send_wr **bad_p, wf_time now)
{
	const struct wf_fabric_cfg *cfg = &a->dev.fabric->cfg;
	wf_time ready = now + cfg->nic_doorbell + cfg->nic_tx;
	int ret;

	if (must_fetch(a, wr))
		ready += cfg->nic_fetch;
	wf_qp_delay(qp, ready);
	ret = wf_qp_post_send(qp, wr, bad_p);
	/* Whatever calls a program settles when it comes back. */
	if (a->dev.node.shard->running != &a->dev.node)
		settle(a, now);
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

/* Calls the program for every queue whose time has come. */
static void adapter_complete(struct wf_adapter *a, wf_time now)
{
	unsigned n = a->n_ready, kept = 0;

	for (unsigned i = 0; i < n; i++) {
		struct wf_cq *cq = a->ready[i].cq;

		if (a->ready[i].at > now) {
			a->ready[kept++] = a->ready[i];
			wf_timer_set(&a->dev.node, TIMER_COMPLETE, a->ready[i].at);
			continue;
		}
		complete_one(a, cq, now);
	}
	/* The program may have caused new ones, which are behind the first n. */
	memmove(&a->ready[kept], &a->ready[n], (a->n_ready - n) * sizeof(a->ready[0]));
	a->n_ready -= n - kept;
	settle(a, now);
}

/* Tells the program of the writes that are in memory by now. */
static void adapter_written(struct wf_adapter *a, wf_time now)
{
	uint64_t writes = 0;

	while (a->written_tail != a->written_head &&
	       a->written[a->written_tail % MAX_WRITTEN].at <= now)
		writes = a->written[a->written_tail++ % MAX_WRITTEN].writes;
	if (a->written_tail != a->written_head)
		wf_timer_set(&a->dev.node, TIMER_WRITTEN,
		             a->written[a->written_tail % MAX_WRITTEN].at);
	if (writes != 0)
		a->program[0].ops->written(a->program[0].arg, a, writes, now);
	settle(a, now);
}

/* Notes that a WRITE is placed as soon as PCIe has brought it to memory. */
static void note_writes(struct wf_adapter *a, uint64_t writes, wf_time now)
{
	wf_time at = wf_max_time(now, a->pcie_rx);

	/* With no room left, the newest notice stands for this one, too. */
	if (a->written_head - a->written_tail == MAX_WRITTEN)
		a->written_head--;
	else if (a->written_head == a->written_tail)
		wf_timer_set(&a->dev.node, TIMER_WRITTEN, at);
	a->written[a->written_head % MAX_WRITTEN].at = at;
	a->written[a->written_head++ % MAX_WRITTEN].writes = writes;
}

static void adapter_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	struct wf_adapter *a = to_adapter(node);

	switch (slot) {
	case 0:
		adapter_tx(a, now);
		break;
	case 1:
		a->dev.fabric->flowctl->timer(&a->dev, &a->dev.ports[0], now);
		break;
	case TIMER_TICK:
		wf_hca_tick(a->hca, now);
		settle(a, now);
		break;
	case TIMER_RUN:
		for (unsigned i = 0; i < a->n_programs; i++)
			a->program[i].ops->run(a->program[i].arg, a, now);
		settle(a, now);
		break;
	case TIMER_COMPLETE:
		adapter_complete(a, now);
		break;
	case TIMER_WRITTEN:
		adapter_written(a, now);
		break;
	default:
		assert(0);
	}
}

static void count_rx(struct wf_adapter *a, const struct wf_packet *pkt, wf_time now)
{
	uint32_t age;

	if (wf_op_is_atomic(pkt->opcode) || pkt->length == 0)
		return;
	a->pcie_rx = wf_max_time(a->pcie_rx, now) + wf_rate_time(a->pcie, pkt->length);
	if (a->env->payload != NULL)
		return;
	age = (uint32_t)(now >> BORN_SHIFT) - pkt->payload;
	wf_hist_add(&a->counts->packet_latency, (uint64_t)age << BORN_SHIFT);
}

/*
 * Hands a packet to the transport with its record: an acknowledgement's is read, a request's is kept
 * until the acknowledgement that answers it.
 */
static void give_packet(struct wf_adapter *a, const struct wf_packet *pkt, struct wf_int_record *r,
                        const void *payload, wf_time now)
{
	bool back = r != NULL && wf_op_is_ack(pkt->opcode);
	uint64_t spare = (uintptr_t)r;
	struct wf_hca_rx_extra extra = {
		.payload = payload,
		.telemetry = back ? &a->telemetry : NULL,
		.echo = back ? 0 : (uintptr_t)r,
		.spare = &spare,
	};

	if (back)
		wf_telemetry_read(a->dev.fabric, r, &a->telemetry);
	wf_hca_rx(a->hca, pkt, &extra, now);
	if (spare != 0)
		wf_int_put(a->dev.shard, (struct wf_int_record *)(uintptr_t)spare);
}

static void adapter_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct wf_adapter *a = to_adapter(node);
	struct wf_packet *pkt = (struct wf_packet *)(void *)cell;
	struct wf_port *port = &a->dev.ports[0];
	struct wf_int_record *record;
	const void *bytes = NULL;
	uint32_t payload = 0;
	uint64_t writes;

	if (input == WF_ADAPTER_SIDE) {
		a->program[0].ops->side(a->program[0].arg, a, cell, now);
		settle(a, now);
		return;
	}
#ifndef NDEBUG
	if (!wf_packet_is_control(pkt->type))
		a->dev.shard->tally[pkt->cls].on_links--;
#endif
	if (wf_unlikely(port->lossy) && wf_port_loses(&a->dev, port, pkt, now))
		return;
	if (wf_packet_is_control(pkt->type)) {
		a->dev.fabric->flowctl->control(&a->dev, port, pkt, now);
		return;
	}
	a->dev.shard->tally[pkt->cls].delivered++;
	a->dev.fabric->flowctl->pass(&a->dev, port, pkt->vl, pkt->size, now);
	record = wf_int_detach(pkt);
	count_rx(a, pkt, now);
	if (a->env->payload != NULL && !wf_op_is_atomic(pkt->opcode) && pkt->length != 0) {
		payload = pkt->payload;
		bytes = wf_payload_bytes(a->env->payload, payload);
	}
	writes = wf_hca_counter(a->hca, WF_CTR_RX_WRITES);
	give_packet(a, pkt, record, bytes, now);
	if (a->looks && wf_hca_counter(a->hca, WF_CTR_RX_WRITES) != writes)
		note_writes(a, wf_hca_counter(a->hca, WF_CTR_RX_WRITES), now);
	if (payload != 0)
		wf_payload_put(a->env->payload, a->shard_number, payload);
	settle(a, now);
}

static void adapter_warm(const struct wf_node *node, unsigned input)
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
	.warm = adapter_warm,
};

struct wf_adapter *wf_adapter_create(struct wf_shard *shard, const struct wf_adapter_env *env,
                                     uint32_t host, const struct wf_hca_attr *attr)
{
	const struct wf_fabric *fabric = env->fabric;
	struct wf_node *node = wf_engine_add_node(shard, &adapter_ops, sizeof(struct wf_adapter),
	                                          WF_ADAPTER_SIDE + 1, ADAPTER_TIMERS);
	struct wf_fabric_shard *fs = wf_shard_user(shard);
	struct wf_hca_attr full = *attr;
	uint32_t id = fabric->topo->host_node[host];
	struct wf_adapter *a;

	if (node == NULL)
		return NULL;
	a = to_adapter(node);
	if (wf_device_init(&a->dev, fabric, id) != 0)
		return NULL;
	full.host = host;
	full.line_rate =
		fabric->topo->links[fabric->topo->ports[fabric->topo->nodes[id].first_port].link]
			.rate;
	full.overhead = (uint16_t)(fabric->header - WF_BTH_LEN);
	full.roce = !fabric->flowctl->uses_credits;
	full.data = env->payload != NULL;
	if (wf_hca_create(&full, wf_shard_mem(shard), &a->hca) != 0)
		return NULL;
	a->env = env;
	a->counts = fs->user;
	a->shard_number = fs->number;
	a->pcie = wf_rate_per_byte(fabric->cfg.nic_pcie);
	return a;
}

void wf_adapter_fini(struct wf_adapter *a)
{
	wf_hca_destroy(a->hca);
}

void wf_adapter_add_program(struct wf_adapter *a, const struct wf_program *program, void *arg)
{
	assert(a->n_programs < WF_ADAPTER_PROGRAMS);
	a->program[a->n_programs].ops = program;
	a->program[a->n_programs].arg = arg;
	a->looks |= program->written != NULL;
	a->n_programs++;
}

void wf_adapter_start(struct wf_adapter *a)
{
	a->dev.fabric->flowctl->start(&a->dev, &a->dev.ports[0], 0);
	wf_timer_set(&a->dev.node, TIMER_RUN, 0);
}

void wf_adapter_call_at(struct wf_adapter *a, wf_time at)
{
	if (a->dev.node.timer[TIMER_RUN] > at)
		wf_timer_set(&a->dev.node, TIMER_RUN, at);
}
