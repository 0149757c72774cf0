/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - a host of the HPCC simulator (ns-3).
 *
 * The order of what happens inside one event follows that simulator, whose adapter looks for
 * something to send when a flow starts, when a packet has left, when an acknowledgement was
 * received or is to be sent, when a pause ends, and when its timer for the pace of the queue
 * pairs is due.
 */
#include "ns3/host.h"

#include <string.h>

#include "ns3/ns3_priv.h"
#include "sim/host/telemetry.h"

enum { TIMER_PACE = WF_ENDPOINT_TIMERS, HOST_TIMERS };

#define NONE UINT32_MAX
#define ACK_CLASS 3 /* the class whose pause holds acknowledgements back */

struct wf_ns3_host {
	struct wf_endpoint ep;
	const struct wf_ns3_env *env;
	struct wf_ns3_qp **active;
	uint32_t n_active, n_flows;
	uint32_t last;                    /* of active: who sent last */
	struct wf_packet *ack, *last_ack; /* acknowledgements to send */
	uint8_t ack_queue;                /* whose pause holds acknowledgements back */
	bool ack_free;                    /* none does */
	struct wf_cc_int telemetry;       /* of the acknowledgement being looked at */
};

static struct wf_ns3_host *to_host(struct wf_node *node)
{
	return wf_container_of(wf_endpoint_of(node), struct wf_ns3_host, ep);
}

struct wf_ns3_host *wf_ns3_host_of(struct wf_device *dev)
{
	return to_host(&dev->node);
}

static bool is_paused(const struct wf_ns3_host *h, unsigned queue)
{
	return wf_endpoint_port(&h->ep)->held >> queue & 1;
}

static bool is_finished(const struct wf_ns3_qp *qp)
{
	return qp->snd_una >= qp->spec->size;
}

static bool has_bytes(const struct wf_ns3_qp *qp)
{
	return qp->snd_nxt < qp->spec->size;
}

/* Bytes in flight are counted as that simulator does: negative ones are very many. */
static bool is_window_bound(const struct wf_ns3_qp *qp)
{
	return qp->snd_nxt - qp->snd_una >= qp->cc->window;
}

/* ---- sending ---- */

static void transmit(struct wf_ns3_host *h, struct wf_packet *pkt, wf_time now)
{
	pkt->vl = wf_fabric_queue(&h->ep.dev, pkt->cls) & WF_PACKET_VL;
	wf_endpoint_send(&h->ep, pkt, now);
}

static void send_ack(struct wf_ns3_host *h, wf_time now)
{
	struct wf_packet *pkt = h->ack;

	assert(pkt != NULL && !wf_ns3_is_busy(&h->ep.dev, wf_endpoint_port(&h->ep)));
	h->ack = pkt->next;
	transmit(h, pkt, now);
	wf_packet_put(h->ep.dev.shard, pkt);
}

static void catch_up(struct wf_ns3_qp *qp, wf_time at)
{
	if (qp->cc->timer <= at)
		qp->cc->ops->on_timer(qp->cc, at);
}

static void send_data(struct wf_ns3_host *h, struct wf_ns3_qp *qp, wf_time now)
{
	uint64_t left = qp->spec->size - qp->snd_nxt;
	wf_time at = now;
	struct wf_packet pkt = {
		.src = h->ep.host,
		.dst = qp->spec->dst,
		.type = WF_PACKET_DATA,
		.cls = qp->spec->cls & WF_PACKET_CLASS,
		.flags = WF_PACKET_ECT,
		.entropy = qp->spec->sport,
		.length = (uint16_t)wf_min_u64(left, h->env->mtu),
		.qpn = qp->flow,
		.psn = (uint32_t)qp->snd_nxt,
		.u.born = at,
	};

	assert(has_bytes(qp) && qp->spec->src == h->ep.host && qp->next_avail <= now);
	pkt.size = (uint16_t)(pkt.length + h->env->header);
	if (h->env->telemetry) {
		struct wf_int_record *r = wf_int_get(h->ep.dev.shard);

		if (r != NULL)
			wf_int_attach(&pkt, r, 0);
	}
	qp->snd_nxt += pkt.length;
	qp->last_size = pkt.size;
	catch_up(qp, at);
	qp->cc->ops->on_send(qp->cc, pkt.size, at);
	qp->gap = wf_ns3_time(qp->cc->rate, pkt.size);
	qp->next_avail =
		at + (h->env->rate_bound ? qp->gap : wf_ns3_time(qp->cc->line_rate, pkt.size));
	transmit(h, &pkt, now);
}

/* Takes finished queue pairs out of the turns, from number first on; *chosen moves with its own. */
static void clear_finished(struct wf_ns3_host *h, uint32_t first, uint32_t *chosen)
{
	uint32_t n = first;

	assert(first < h->n_active && is_finished(h->active[first]) && *chosen != first);
	for (uint32_t i = first + 1; i < h->n_active; i++) {
		if (is_finished(h->active[i]))
			continue;
		if (i == *chosen)
			*chosen = n;
		h->active[n++] = h->active[i];
	}
	h->n_active = n;
}

/* Whose turn it is, of active; NONE: nobody may send now. */
static uint32_t next_qp(struct wf_ns3_host *h, wf_time at)
{
	uint32_t n = h->n_active, chosen = NONE, finished = NONE;
	uint32_t i = n == 0 ? 0 : h->last % n;

	for (uint32_t k = 0; k < n; k++) {
		struct wf_ns3_qp *qp;

		i = i + 1 == n ? 0 : i + 1;
		qp = h->active[i];
		catch_up(qp, at); /* the window goes with the rate */
		if (!is_paused(h, wf_fabric_queue(&h->ep.dev, qp->spec->cls)) && has_bytes(qp) &&
		    !is_window_bound(qp)) {
			if (qp->next_avail > at)
				continue;
			chosen = i;
			break;
		}
		if (is_finished(qp) && i < finished)
			finished = i;
	}
	if (finished != NONE)
		clear_finished(h, finished, &chosen);
	return chosen;
}

/* Nobody may send: has the adapter look again when the first queue pair's pace allows. */
static void wait_for_pace(struct wf_ns3_host *h, wf_time now)
{
	wf_time first = WF_TIME_NEVER;

	for (uint32_t i = 0; i < h->n_active; i++) {
		if (has_bytes(h->active[i]))
			first = wf_min_time(first, h->active[i]->next_avail);
	}
	/* One that could send but for its window, or a pause, stops the timer: so it is there. */
	if (first != WF_TIME_NEVER && first > now && !wf_timer_is_set(&h->ep.dev.node, TIMER_PACE))
		wf_timer_set(&h->ep.dev.node, TIMER_PACE, first);
}

/* Sends what is next; the wire may be busy. */
static void host_tx(struct wf_ns3_host *h, wf_time now)
{
	struct wf_port *port = wf_endpoint_port(&h->ep);
	uint32_t i;

	if (wf_ns3_is_busy(&h->ep.dev, port))
		return;
	if (h->ack != NULL && (h->ack_free || !is_paused(h, h->ack_queue))) {
		send_ack(h, now);
	} else {
		i = next_qp(h, now);
		if (i == NONE) {
			wait_for_pace(h, now);
			return;
		}
		h->last = i;
		send_data(h, h->active[i], now);
	}
}

void wf_ns3_host_begin(struct wf_ns3_host *h, uint32_t flow, wf_time now)
{
	struct wf_ns3_qp *qp = h->env->qp[flow];

	assert(qp->spec->src == h->ep.host && qp->snd_nxt == 0 && h->n_active < h->n_flows);
	qp->next_avail = now;
	h->active[h->n_active++] = qp;
	host_tx(h, now);
}

static void host_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	(void)slot;
	assert(slot == WF_ENDPOINT_WIRE || slot == TIMER_PACE);
	host_tx(to_host(node), now);
}

/* ---- receiving ---- */

enum answer { NO_ANSWER, ANSWER_ACK, ANSWER_NACK };

static enum answer check_order(const struct wf_ns3_host *h, struct wf_ns3_rx *rx,
                               const struct wf_packet *pkt, wf_time at)
{
	const struct wf_ns3_env *env = h->env;

	if (pkt->psn == rx->expected) {
		rx->expected += pkt->length;
		return rx->expected >= env->ack_every || rx->expected % env->chunk == 0 ? ANSWER_ACK
		                                                                        : NO_ANSWER;
	}
	if (pkt->psn < rx->expected)
		return NO_ANSWER;
	if (at < rx->nack_again && rx->last_nack == rx->expected)
		return NO_ANSWER;
	rx->nack_again = at + env->nack_interval;
	rx->last_nack = rx->expected;
	if (env->back_to_zero)
		rx->expected -= rx->expected % env->chunk;
	return ANSWER_NACK;
}

static void rx_data(struct wf_ns3_host *h, struct wf_packet *pkt, wf_time now)
{
	struct wf_ns3_rx *rx = &h->env->rx[pkt->qpn];
	enum answer answer = check_order(h, rx, pkt, now);
	struct wf_int_record *record = wf_int_detach(h->ep.dev.shard, pkt);
	struct wf_packet *ack;

	if (answer == NO_ANSWER) {
		if (record != NULL)
			wf_int_put(h->ep.dev.shard, record);
		return;
	}
	ack = wf_packet_get(h->ep.dev.shard);
	if (ack == NULL)
		return; /* the run ends */
	*ack = (struct wf_packet){
		.src = h->ep.host,
		.dst = pkt->src,
		.size = (uint16_t)h->env->ack_size,
		.type = answer == ANSWER_ACK ? WF_PACKET_ACK : WF_PACKET_NAK,
		.cls = pkt->cls,
		.entropy = pkt->entropy,
		.qpn = pkt->qpn,
		.psn = (uint32_t)rx->expected,
		.u.born = pkt->u.born,
	};
	if (record != NULL)
		wf_int_attach(ack, record, WF_INT_BACK);
	if (pkt->flags & WF_PACKET_CE)
		ack->flags |= WF_PACKET_BECN;
	if (h->ack == NULL)
		h->ack = ack;
	else
		h->last_ack->next = ack;
	h->last_ack = ack;
	host_tx(h, now);
}

/* A new rate that also counts for the packet sent last. */
static void repace(struct wf_ns3_host *h, struct wf_ns3_qp *qp, wf_time now)
{
	struct wf_node *node = &h->ep.dev.node;
	wf_time gap = wf_ns3_time(qp->cc->rate, qp->last_size);
	wf_time at;

	qp->next_avail += gap - qp->gap;
	qp->gap = gap;
	at = wf_max_time(qp->next_avail, now);
	if (wf_timer_is_set(node, TIMER_PACE) && at < node->timer[TIMER_PACE])
		wf_timer_set(node, TIMER_PACE, at);
}

static void tell_cc(struct wf_ns3_host *h, struct wf_ns3_qp *qp, const struct wf_packet *pkt,
                    const struct wf_int_record *record, uint64_t bytes, wf_time now)
{
	const struct wf_port *port = wf_endpoint_port(&h->ep);
	wf_time at = now;
	struct wf_cc_ack ack = {
		.now = at,
		.rtt = at - pkt->u.born,
		.inflight = qp->snd_nxt > qp->heard ? qp->snd_nxt - qp->heard : 0,
		.bytes = (uint32_t)bytes,
		.ecn = pkt->flags & WF_PACKET_BECN,
	};

	if (record != NULL) {
		wf_telemetry_read(h->ep.dev.fabric, record, &h->telemetry);
		ack.telemetry = &h->telemetry;
	}
	if (ack.ecn)
		ack.asked = port->in_delay + wf_ns3_time(port->rate, pkt->size);
	catch_up(qp, at);
	qp->cc->ops->on_ack(qp->cc, &ack);
	if (qp->cc->repace)
		repace(h, qp, now);
}

static void take_ack(struct wf_ns3_host *h, const struct wf_packet *pkt,
                     const struct wf_int_record *record, wf_time now)
{
	struct wf_ns3_qp *qp = h->env->qp[pkt->qpn];
	uint64_t seq = pkt->psn, bytes = 0;

	assert(qp->flow == pkt->qpn && seq <= qp->spec->size);
	if (qp->end != WF_TIME_NEVER)
		return;
	if (seq > qp->heard) {
		bytes = seq - qp->heard;
		qp->heard = seq;
	}
	if (h->env->back_to_zero)
		seq -= seq % h->env->chunk;
	qp->snd_una = wf_max_u64(qp->snd_una, seq);
	if (is_finished(qp))
		qp->end = now;
	if (pkt->type == WF_PACKET_NAK)
		qp->snd_nxt = qp->snd_una;
	if (qp->end == WF_TIME_NEVER)
		tell_cc(h, qp, pkt, record, bytes, now);
	host_tx(h, now);
}

static void rx_ack(struct wf_ns3_host *h, struct wf_packet *pkt, wf_time now)
{
	struct wf_int_record *record = wf_int_detach(h->ep.dev.shard, pkt);

	take_ack(h, pkt, record, now);
	if (record != NULL)
		wf_int_put(h->ep.dev.shard, record);
}

static void host_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now)
{
	struct wf_ns3_host *h = to_host(node);
	struct wf_packet *pkt = wf_endpoint_receive(&h->ep, cell, now);

	(void)input;
	if (pkt == NULL)
		return;
	assert(pkt->dst == h->ep.host);
	if (pkt->type == WF_PACKET_DATA)
		rx_data(h, pkt, now);
	else
		rx_ack(h, pkt, now);
}

static const struct wf_node_ops host_ops = {
	.name = "ns3 host",
	.rx = host_rx,
	.timer = host_timer,
	.warm = wf_ns3_no_warm,
};

/* ---- life ---- */

static struct wf_ns3_qp *make_qp(struct wf_ns3_host *h, uint32_t flow)
{
	const struct wf_ns3_env *env = h->env;
	const struct wf_topo *topo = h->ep.dev.fabric->topo;
	struct wf_shard *shard = h->ep.dev.node.shard;
	struct wf_ns3_qp *qp = wf_shard_alloc(shard, sizeof(*qp));
	struct wf_cc *cc = wf_shard_alloc(shard, env->cc->size);
	uint32_t port = topo->nodes[h->ep.dev.id].first_port;

	if (qp == NULL || cc == NULL)
		return NULL;
	qp->cc = cc;
	qp->flow = flow;
	qp->spec = &env->flows[flow];
	qp->end = WF_TIME_NEVER;
	wf_cc_init(cc, env->cc, qp->spec->cc_param, topo->links[topo->ports[port].link].rate,
	           qp->spec->start);
	return qp;
}

static const struct wf_device_ops device_ops = {
	.start = wf_endpoint_start,
	.set_up = wf_endpoint_set_up,
	.changed = wf_endpoint_changed,
	.fini = wf_device_fini_nothing,
};

struct wf_device *wf_ns3_host_create(struct wf_shard *shard, const struct wf_ns3_env *env,
                                     uint32_t host, const uint32_t *list, uint32_t n)
{
	struct wf_node *node =
		wf_engine_add_node(shard, &host_ops, sizeof(struct wf_ns3_host), 1, HOST_TIMERS);
	struct wf_ns3_host *h;

	if (node == NULL)
		return NULL;
	h = to_host(node);
	if (wf_endpoint_init(&h->ep, &device_ops, env->fabric, host) != 0)
		return NULL;
	h->env = env;
	h->n_flows = n;
	h->ack_queue = wf_fabric_queue(&h->ep.dev, ACK_CLASS);
	h->ack_free = env->ack_first || env->fabric->classes.queue[h->ack_queue].id != ACK_CLASS;
	h->active = wf_shard_alloc(shard, ((size_t)n + 1) * sizeof(struct wf_ns3_qp *));
	if (h->active == NULL)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		env->qp[list[i]] = make_qp(h, list[i]);
		if (env->qp[list[i]] == NULL)
			return NULL;
	}
	return &h->ep.dev;
}
