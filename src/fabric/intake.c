/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.c - an adapter's receive buffer, and what drains it.
 *
 * The bytes of TLPs are those of Neugebauer et al., "Understanding PCIe performance for end host
 * networking" (SIGCOMM 2018), section 3: a write of n bytes takes 24 bytes for each MPS of them, a
 * read is asked for with 24 bytes for each MRRS and answered with 20 for each MPS.
 */
#include "fabric/intake.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "fabric/endpoint.h"
#include "fabric/flowctl/headroom.h"
#include "fabric/watchdog.h"
#include "wire/opcode.h"

#define RNG_INTAKE 4 /* domain of the draws for misses of the MTT */

#define TLP_WRITE 24 /* bytes around a write's payload, with 64-bit addresses */
#define TLP_READ 24  /* a request to read */
#define TLP_ANSWER 20
#define MRRS 512 /* bytes that one such request asks for */

static void assert_intake(const struct wf_intake *in)
{
	assert((in->head != NULL) == (in->packets != 0));
	assert(in->head == NULL || in->since != WF_TIME_NEVER);
	assert(in->xon <= in->xoff && in->xoff <= in->size);
	(void)in;
}

enum wf_intake_full wf_intake_full_of(const struct wf_fabric_cfg *cfg)
{
	if (strcmp(cfg->nic_rx_full, "auto") == 0)
		return cfg->nic_rx_buffer == (uint64_t)WF_PARAM_AUTO ? WF_INTAKE_ENDLESS
		                                                     : WF_INTAKE_PAUSE;
	if (strcmp(cfg->nic_rx_full, "pause") == 0)
		return WF_INTAKE_PAUSE;
	return strcmp(cfg->nic_rx_full, "drop") == 0 ? WF_INTAKE_DROP : WF_INTAKE_ENDLESS;
}

bool wf_intake_is_wanted(const struct wf_fabric_cfg *cfg)
{
	const uint64_t none = (uint64_t)WF_PARAM_AUTO;

	return wf_intake_full_of(cfg) != WF_INTAKE_ENDLESS || cfg->nic_pcie_mps != none ||
	       cfg->nic_rx_rate != none || cfg->nic_rx_packets != none || cfg->nic_mtt_misses != 0;
}

/* ---- the buffer ---- */

static bool is_finite(const struct wf_intake *in)
{
	return in->full != WF_INTAKE_ENDLESS;
}

/*
 * The queue whose buffer it takes: with credits its VL; on Ethernet that of its class, as the
 * adapter knows it, whatever the last switch sent it by.
 */
static unsigned queue_of(const struct wf_endpoint *ep, const struct wf_packet *pkt)
{
	return ep->dev.fabric->flowctl->uses_credits ? pkt->vl
	                                             : wf_fabric_queue(&ep->dev, pkt->cls);
}

/*
 * Whether the peer of a queue has to stop, or may go on, by what the queue's buffer holds: it does
 * so, and so do those whom a storm stops.
 */
static void look_at(struct wf_endpoint *ep, unsigned queue, wf_time now)
{
	struct wf_intake *in = ep->intake;
	struct wf_port *port = wf_endpoint_port(ep);
	struct wf_lane *lane = wf_port_lane(port, queue);
	uint16_t *stopped = &in->stopped[port->number];
	uint16_t bit = (uint16_t)(1u << queue);
	bool stop;

	if (ep->dev.fabric->flowctl->uses_credits || !port->setup->classes.queue[queue].lossless)
		return;
	if (in->full != WF_INTAKE_PAUSE || lane->used <= in->xon)
		*stopped &= (uint16_t)~bit;
	else if (lane->used > in->xoff)
		*stopped |= bit;
	stop = ep->storm || (*stopped & bit) != 0;
	if (lane->xoff == stop)
		return;
	lane->xoff = stop;
	if (port->setup->pause_of[queue] != 0 && !wf_watchdog_is_mute(&ep->dev, port, queue))
		wf_port_want_control(&ep->dev, port, queue, now);
}

/* The head leaves when it is in memory; at once when the buffer has no end any more. */
static void wake_up(struct wf_endpoint *ep, wf_time now)
{
	const struct wf_intake *in = ep->intake;

	if (in->head != NULL)
		wf_timer_set(&ep->dev.node, WF_ENDPOINT_INTAKE,
		             is_finite(in) ? wf_max_time(in->done, now) : now);
}

/* ---- settings ---- */

/* The buffer of a class, and where a pause begins and ends. */
static void set_thresholds(struct wf_intake *in, const struct wf_endpoint *ep)
{
	const struct wf_fabric_cfg *cfg = &ep->dev.setup->cfg;
	const uint64_t none = (uint64_t)WF_PARAM_AUTO;
	uint64_t packet = ep->dev.fabric->largest;

	in->size = cfg->nic_rx_buffer != none ? cfg->nic_rx_buffer : WF_RX_BUFFER;
	in->needed = 0;
	for (unsigned i = 0; i < ep->dev.n_ports && ep->dev.fabric->flowctl == &wf_flowctl_pfc; i++)
		in->needed =
			wf_max_u64(in->needed, wf_pfc_headroom_bytes(&ep->dev, &ep->dev.ports[i]));
	if (cfg->nic_rx_xoff != none)
		in->xoff = cfg->nic_rx_xoff;
	else
		in->xoff = in->size - wf_min_u64(in->size, in->needed);
	if (cfg->nic_rx_xon != none)
		in->xon = wf_min_u64(cfg->nic_rx_xon, in->xoff);
	else
		in->xon = in->xoff - wf_min_u64(in->xoff, packet);
}

static wf_time rescaled(wf_time at, wf_time now, wf_ps_per_byte was, wf_ps_per_byte is)
{
	if (at <= now)
		return at;
	return now + wf_time_cap((unsigned __int128)(at - now) * is / was);
}

static void set_rate(struct wf_intake *in, uint64_t rate, wf_time now)
{
	wf_ps_per_byte was = in->per_byte;

	in->rate = rate;
	in->per_byte = wf_rate_per_byte(rate);
	if (was == 0 || was == in->per_byte)
		return;
	/* What is on its way goes on at the new rate. */
	in->free_at = rescaled(in->free_at, now, was, in->per_byte);
	in->done = rescaled(in->done, now, was, in->per_byte);
}

void wf_intake_set(struct wf_endpoint *ep, wf_time now)
{
	const struct wf_fabric_cfg *cfg = &ep->dev.setup->cfg;
	const uint64_t none = (uint64_t)WF_PARAM_AUTO;
	struct wf_intake *in = ep->intake;
	uint64_t rate = cfg->nic_rx_rate != none ? cfg->nic_rx_rate : cfg->nic_pcie;

	in->full = wf_intake_full_of(cfg);
	if (in->slow != 0) {
		rate = wf_min_u64(rate, in->slow);
		if (in->full == WF_INTAKE_ENDLESS)
			in->full = WF_INTAKE_PAUSE;
	}
	set_rate(in, rate, now);
	in->per_packet = cfg->nic_rx_packets != none
	                         ? (wf_time)((WF_S + cfg->nic_rx_packets - 1) / cfg->nic_rx_packets)
	                         : 0;
	in->mps = cfg->nic_pcie_mps != none ? wf_narrow_u32(cfg->nic_pcie_mps) : 0;
	in->miss = cfg->nic_mtt_misses;
	in->miss_time = cfg->nic_fetch;
	set_thresholds(in, ep);
	for (unsigned i = 0; i < ep->dev.n_ports * ep->dev.n_queues; i++) {
		wf_endpoint_turn(ep, i / ep->dev.n_queues);
		look_at(ep, i % ep->dev.n_queues, now);
	}
	wake_up(ep, now);
	assert_intake(in);
}

int wf_intake_create(struct wf_endpoint *ep)
{
	struct wf_intake *in = wf_shard_alloc(ep->dev.node.shard, sizeof(*in));

	assert(ep->intake == NULL);
	if (in == NULL)
		return -ENOMEM;
	in->since = WF_TIME_NEVER;
	in->rng_key = wf_rand_key(ep->dev.fabric->seed, RNG_INTAKE, ep->dev.id);
	ep->intake = in;
	return 0;
}

int wf_intake_check(const struct wf_endpoint *ep, struct wf_err *err)
{
	const struct wf_fabric *fabric = ep->dev.fabric;
	const struct wf_intake *in = ep->intake;
	uint64_t least = in->needed + fabric->largest;

	if (in->full != WF_INTAKE_PAUSE || fabric->flowctl != &wf_flowctl_pfc ||
	    wf_endpoint_port(ep)->setup->maps.pfc_tx == 0 ||
	    ep->dev.setup->cfg.nic_rx_xoff != (uint64_t)WF_PARAM_AUTO || in->size >= least)
		return 0;
	return wf_err_say(err,
	                  "nic.rx_buffer: %s has %lluB, but after a pause up to %lluB more come by "
	                  "its link; it needs at least %lluB, or a nic.rx_xoff of its own",
	                  fabric->topo->nodes[ep->dev.id].name, (unsigned long long)in->size,
	                  (unsigned long long)in->needed, (unsigned long long)least);
}

/* ---- what a packet takes ---- */

/* Bytes that go to memory. Atomics have none that count. */
static uint32_t payload_of(const struct wf_packet *pkt)
{
	return pkt->type == WF_PACKET_RDMA && wf_op_is_atomic(pkt->opcode) ? 0 : pkt->length;
}

static uint32_t tlps(uint32_t bytes, uint32_t of)
{
	return (bytes + of - 1) / of;
}

uint32_t wf_intake_read_bytes(const struct wf_intake *in, uint32_t bytes)
{
	return in->mps == 0 ? bytes : bytes + tlps(bytes, in->mps) * TLP_ANSWER;
}

void wf_intake_ask(struct wf_intake *in, uint32_t bytes, wf_time now)
{
	if (in->mps != 0)
		in->free_at = wf_max_time(in->free_at, now) +
		              wf_rate_time(in->per_byte, tlps(bytes, MRRS) * TLP_READ);
}

static wf_time time_of(struct wf_intake *in, const struct wf_packet *pkt)
{
	uint32_t payload = payload_of(pkt), bytes = payload;
	wf_time time;

	if (in->mps != 0)
		bytes += tlps(payload, in->mps) * TLP_WRITE;
	time = wf_max_time(wf_rate_time(in->per_byte, bytes), in->per_packet);
	if (payload != 0 && in->miss != 0 &&
	    wf_rand64(in->rng_key, in->rng_count++) >> 32 < in->miss)
		time += in->miss_time;
	return time;
}

/* PCIe begins with the head. */
static void begin(struct wf_intake *in, wf_time now)
{
	in->done = in->free_at = wf_max_time(in->free_at, now) + time_of(in, in->head);
}

/* ---- packets ---- */

static void enter(struct wf_endpoint *ep, const struct wf_packet *pkt, wf_time now)
{
	unsigned queue = queue_of(ep, pkt);
	struct wf_lane *lane = wf_port_lane(wf_endpoint_port(ep), queue);

	if (ep->dev.fabric->flowctl->uses_credits) {
		ep->dev.fabric->flowctl->keep(&ep->dev, wf_endpoint_port(ep), queue, pkt->size,
		                              now);
		return;
	}
	lane->used += pkt->size;
	if (lane->used > lane->max_used)
		lane->max_used = lane->used;
	look_at(ep, queue, now);
}

static bool has_room(const struct wf_endpoint *ep, const struct wf_packet *pkt)
{
	const struct wf_lane *lane = wf_port_lane(wf_endpoint_port(ep), queue_of(ep, pkt));

	return ep->dev.fabric->flowctl->uses_credits || !is_finite(ep->intake) ||
	       lane->used + (uint64_t)pkt->size <= ep->intake->size;
}

static bool append(struct wf_endpoint *ep, const struct wf_packet *pkt, wf_time now)
{
	struct wf_intake *in = ep->intake;
	struct wf_packet *p = wf_packet_get(ep->dev.shard);

	if (p == NULL)
		return false; /* the run ends */
	*p = *pkt;
	p->next = NULL;
	p->input = ep->port->number;
	if (in->head == NULL) {
		in->head = p;
		in->since = now;
		begin(in, now);
		wake_up(ep, now);
	} else {
		in->tail->next = p;
	}
	in->tail = p;
	in->packets++;
#ifndef NDEBUG
	ep->dev.shard->tally[p->cls].queued++;
#endif
	return true;
}

bool wf_intake_take(struct wf_endpoint *ep, const struct wf_packet *pkt, wf_time now)
{
	struct wf_intake *in = ep->intake;

	if (in->head == NULL && !is_finite(in)) {
		in->free_at = wf_max_time(in->free_at, now) + time_of(in, pkt);
		in->seen = in->free_at;
		return true;
	}
	/* Who has no payload, and nobody before it, need not wait. */
	if (in->head == NULL && payload_of(pkt) == 0 && in->per_packet == 0) {
		in->seen = now;
		return true;
	}
	if (!has_room(ep, pkt))
		wf_device_drop(&ep->dev, wf_endpoint_port(ep), queue_of(ep, pkt), pkt,
		               WF_DROP_BUFFER, now);
	else if (append(ep, pkt, now))
		enter(ep, pkt, now);
	assert_intake(in);
	return false;
}

/* It leaves the buffer of its class, and of the port at hand. */
static void leave(struct wf_endpoint *ep, const struct wf_packet *pkt, wf_time now)
{
	unsigned queue = queue_of(ep, pkt);
	struct wf_lane *lane = wf_port_lane(wf_endpoint_port(ep), queue);

	if (ep->dev.fabric->flowctl->uses_credits)
		return;
	assert(lane->used >= pkt->size);
	lane->used -= pkt->size;
	if (ep->intake->stopped[ep->port->number] >> queue & 1)
		look_at(ep, queue, now);
}

bool wf_intake_next(struct wf_endpoint *ep, struct wf_packet *pkt_p, wf_time now)
{
	struct wf_intake *in = ep->intake;
	struct wf_packet *p = in->head;

	if (p == NULL || (is_finite(in) && in->done > now))
		return false;
	*pkt_p = *p;
	in->head = p->next;
	in->packets--;
	in->bytes += p->size;
	in->seen = wf_max_time(in->done, now);
	wf_packet_put(ep->dev.shard, p);
#ifndef NDEBUG
	ep->dev.shard->tally[pkt_p->cls].queued--;
#endif
	wf_endpoint_turn(ep, pkt_p->input);
	leave(ep, pkt_p, now);
	if (in->head != NULL) {
		begin(in, now);
		wake_up(ep, now);
	} else {
		in->before += now - in->since;
		in->since = WF_TIME_NEVER;
	}
	assert_intake(in);
	return true;
}

wf_time wf_intake_waited(const struct wf_intake *in, wf_time now)
{
	return in->before + (in->head != NULL ? now - in->since : 0);
}

void wf_intake_count(const struct wf_intake *in, uint64_t *per_class)
{
	for (const struct wf_packet *p = in->head; p != NULL; p = p->next)
		per_class[p->cls]++;
}
