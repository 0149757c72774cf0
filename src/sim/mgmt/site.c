/* SPDX-License-Identifier: Apache-2.0 */
/* site.c - agents and managers of nodes: MADs in and out, and what is set of ports. */
#include "sim/mgmt/site.h"

#include <errno.h>
#include <string.h>

#include "fabric/groups.h"
#include "fabric/route/route.h"
#include "sim/sim_priv.h"
#include "wire/addr.h"

#define SA_WAITS WF_US /* for room at a port */

static struct wf_site *to_site(struct wf_station *st)
{
	return wf_container_of(st, struct wf_site, st);
}

/*
 * What has no link (port 0) comes from the node itself: from a switch's own port, or of a host from
 * its first, where its manager and its programs are.
 */
static unsigned end_of(const struct wf_site *site, unsigned port)
{
	if (site->is_switch)
		return 0;
	return port == 0 ? 1 : port;
}

/* The LID by which what came in by a port, or leaves by it, finds this node. */
static uint16_t own_lid(const struct wf_site *site, unsigned port)
{
	return wf_sma_port(site->sma, end_of(site, port))->lid;
}

/* ---- out ---- */

/* At the start: to the other end of a port's link. */
static void hop(struct wf_site *site, unsigned port, const struct wf_station_to *to, bool gmp,
                const uint8_t *mad)
{
	struct wf_managed *m = site->all;
	const struct wf_topo_node *node = &m->topo->nodes[site->st.dev->id];
	const struct wf_topo_port *tp = &m->topo->ports[node->first_port + port - 1];
	struct wf_site_hop *h = m->free_hops;

	if (!site->st.dev->ports[port - 1].up)
		return;
	if (h != NULL)
		m->free_hops = h->next;
	else
		h = m->mem->alloc(m->mem, sizeof(*h));
	if (h == NULL) {
		wf_shard_no_memory(site->st.dev->node.shard);
		return;
	}
	h->next = NULL;
	h->site = m->site[tp->peer];
	h->from = (struct wf_site_from){
		.port = tp->peer_port + 1u,
		.slid = to->slid,
		.dlid = to->dlid,
		.sl = to->sl,
		.pkey = to->pkey,
		.gmp = gmp,
		.src_qpn = to->src_qpn,
		.dst_qpn = to->dst_qpn,
		.qkey = to->qkey,
	};
	memcpy(h->bytes, mad, WF_MAD_LEN);
	if (m->hops == NULL)
		m->hops = h;
	else
		m->last_hop->next = h;
	m->last_hop = h;
}

static void send_by(struct wf_site *site, unsigned port, uint16_t dlid, uint16_t slid, uint8_t sl,
                    const uint8_t *mad)
{
	const struct wf_station_to to = { .dlid = dlid, .slid = slid, .sl = sl, .pkey = 0xffff };

	if (port == 0 || port > site->st.dev->n_ports)
		return;
	if (site->all->starting)
		hop(site, port, &to, false, mad);
	else
		(void)wf_station_send_smp(&site->st, port - 1, &to, mad, site->now);
}

static void mine(struct wf_site *site, const struct wf_site_from *from, uint8_t *mad);

/* To a LID, by the forwarding table or that port of a host's. To the port's own: it is there. */
static void send_to(struct wf_site *site, unsigned port, uint16_t dlid, uint16_t slid, uint8_t sl,
                    uint8_t *mad)
{
	uint32_t way = end_of(site, port) - 1; /* of a host */

	if (dlid == own_lid(site, port) && dlid != 0) {
		mine(site, &(struct wf_site_from){ .slid = slid, .dlid = dlid, .sl = sl }, mad);
		return;
	}
	if (site->is_switch)
		way = wf_station_way(&site->st, dlid);
	if (way < site->st.dev->n_ports)
		send_by(site, way + 1, dlid, slid, sl, mad);
}

/* ---- waiting ---- */

static struct wf_site_shard *shard_of(const struct wf_site *site)
{
	return &site->all->shards[site->st.dev->shard->number];
}

/* A MAD waits until a worker is done with it. At the start nobody waits. */
static void wait_for(struct wf_site *site, struct wf_site_worker *worker,
                     const struct wf_site_from *from, const uint8_t *mad)
{
	struct wf_site_shard *shard = shard_of(site);
	struct wf_site_mad *w = shard->free;

	if (worker->waiting == worker->room) {
		worker->dropped++;
		return;
	}
	if (w != NULL)
		shard->free = w->next;
	else
		w = wf_shard_alloc(site->st.dev->node.shard, sizeof(*w));
	if (w == NULL) {
		wf_shard_no_memory(site->st.dev->node.shard);
		return;
	}
	w->next = NULL;
	w->from = *from;
	memcpy(w->bytes, mad, WF_MAD_LEN);
	worker->free_at = wf_max_time(worker->free_at, site->now);
	if (!site->all->starting)
		worker->free_at += worker->time;
	w->at = worker->free_at;
	if (worker->head == NULL)
		worker->head = w;
	else
		worker->tail->next = w;
	worker->tail = w;
	worker->waiting++;
	shard->waiting++;
}

/* Takes out the first that is done by now. */
static bool is_done(struct wf_site *site, struct wf_site_worker *worker, struct wf_site_mad *mad_p)
{
	struct wf_site_mad *w = worker->head;

	if (w == NULL || w->at > site->now)
		return false;
	*mad_p = *w;
	worker->head = w->next;
	worker->waiting--;
	shard_of(site)->waiting--;
	w->next = shard_of(site)->free;
	shard_of(site)->free = w;
	return true;
}

/* ---- the agent and the manager ---- */

/* For the programs of this host. */
static void for_users(struct wf_site *site, const struct wf_site_from *from, const uint8_t *mad)
{
	const struct wf_managed *m = site->all;
	struct wf_managed_mad is = {
		.gmp = from->gmp,
		.lid = from->slid,
		.dlid = from->dlid,
		.sl = from->sl,
		.pkey = from->pkey,
		.qpn = from->src_qpn,
		.qkey = from->qkey,
		.own_qpn = from->dst_qpn,
	};

	if (m->users == NULL || site->is_switch)
		return;
	memcpy(is.bytes, mad, WF_MAD_LEN);
	m->users->mad(m->users->arg, m->topo->nodes[site->st.dev->id].host, &is, site->now);
}

/*
 * For who manages: weft's own manager, or a program. An answer is for who asked: transaction IDs of
 * programs have an upper half.
 */
static void for_manager(struct wf_site *site, const struct wf_site_from *from, const uint8_t *mad)
{
	struct wf_mad head;

	wf_mad_decode(mad, &head);
	if (site->sm != NULL && !(wf_mad_is_response(head.method) && head.tid >> 32 != 0))
		wait_for(site, &site->manager, from, mad);
	else
		for_users(site, from, mad);
}

/* An SMP of a directed route is on its way from here, or is for who asked at this node. */
static void go_on(struct wf_site *site, const struct wf_site_from *from, enum wf_dr way,
                  const struct wf_dr_next *next, uint8_t *mad)
{
	switch (way) {
	case WF_DR_OUT:
		send_by(site, next->port, WF_LID_PERMISSIVE, WF_LID_PERMISSIVE, 0, mad);
		break;
	case WF_DR_BY_LID:
		send_to(site, from->port, next->lid != 0 ? next->lid : from->slid,
		        own_lid(site, from->port), from->sl, mad);
		break;
	case WF_DR_MINE:
		mine(site, from, mad);
		break;
	case WF_DR_DROP:
		break;
	}
}

/* It has come to its node: to the agent, or to the manager. */
static void mine(struct wf_site *site, const struct wf_site_from *from, uint8_t *mad)
{
	struct wf_dr_next next;

	switch (wf_sma_rx(site->sma, from->port, mad, site->now)) {
	case WF_SMA_FOR_SM:
		for_manager(site, from, mad);
		break;
	case WF_SMA_ANSWER:
		if (mad[1] != WF_MAD_CLASS_SUBN_DR)
			send_to(site, from->port, from->slid, own_lid(site, from->port), from->sl,
			        mad);
		else
			go_on(site, from, wf_dr_tx(&site->node, mad, &next), &next, mad);
		break;
	case WF_SMA_DROP:
		break;
	}
}

/* At the start: the same without packets. */
static void hop_gmp(struct wf_site *site, unsigned port, const struct wf_station_to *to,
                    const uint8_t *mad)
{
	uint32_t way =
		site->is_switch ? wf_station_way(&site->st, to->dlid) : end_of(site, port) - 1;

	if (way < site->st.dev->n_ports)
		hop(site, way + 1, to, true, mad);
}

/* To a LID as data, by that port of a host's; to the port's own, it is there. */
static void send_gmp(struct wf_site *site, unsigned port, const struct wf_station_to *to,
                     const uint8_t *mad)
{
	if (to->dlid == own_lid(site, port)) {
		const struct wf_site_from self = {
			.slid = to->slid,
			.dlid = to->dlid,
			.sl = to->sl,
			.pkey = to->pkey,
			.gmp = true,
			.src_qpn = to->src_qpn,
			.dst_qpn = to->dst_qpn,
			.qkey = to->qkey,
		};

		wait_for(site, &site->agent, &self, mad);
	} else if (site->all->starting) {
		hop_gmp(site, port, to, mad);
	} else {
		(void)wf_station_send_gmp(&site->st, port == 0 ? 0 : port - 1, to, mad, site->now);
	}
}

/* ---- subnet administration ---- */

/* What it is asked, and what its reports are answered with; the rest is for programs. */
static bool is_for_sa(const struct wf_site *site, const struct wf_site_from *from,
                      const uint8_t *mad)
{
	if (site->sa == NULL || mad[1] != WF_MAD_CLASS_SA || from->dst_qpn != 1)
		return false;
	return mad[3] == WF_MAD_METHOD_REPORT_RESP ||
	       (!wf_mad_is_response(mad[3]) && mad[3] != WF_MAD_METHOD_REPORT);
}

/* Where a host's first port has a P_Key in its table; 0 where it has it no more. */
static uint16_t key_index(const struct wf_site *site, uint16_t pkey)
{
	for (uint16_t i = 0; i < wf_sma_node(site->sma)->partition_cap; i++) {
		if (((wf_sma_pkey(site->sma, 1, i) ^ pkey) & 0x7fff) == 0)
			return i;
	}
	return 0;
}

static void sa_takes(struct wf_site *site, const struct wf_site_from *from, const uint8_t *mad)
{
	const struct wf_mux_addr addr = {
		.lid = from->slid,
		.sl = from->sl,
		.path_bits = (uint8_t)(from->dlid - own_lid(site, 1)),
		.pkey_index = key_index(site, from->pkey),
		.qpn = from->src_qpn,
		.qkey = WF_QKEY_GMP,
	};

	wf_sa_rx(site->sa, &addr, mad, site->now);
}

/* One MAD after the other, as long as there is room for them at the port. */
static void sa_sends(struct wf_site *site)
{
	struct wf_mux_packet packet;

	while (site->sa_at <= site->now && wf_sa_has_tx(site->sa)) {
		if (site->st.port[0].n_gmps >= WF_STATION_VL15 / 2) {
			site->sa_at = site->now + SA_WAITS;
			return;
		}
		if (!wf_sa_tx(site->sa, site->now, &packet))
			return;
		site->sa_at = site->now + site->manager.time;
		send_gmp(site, 1,
		         &(struct wf_station_to){
				 .dlid = packet.addr.lid,
				 .slid = (uint16_t)(own_lid(site, 1) + packet.addr.path_bits),
				 .sl = packet.addr.sl,
				 .pkey = wf_sma_pkey(site->sma, 1, packet.addr.pkey_index),
				 .dst_qpn = packet.addr.qpn,
				 .src_qpn = 1,
				 .qkey = packet.addr.qkey,
			 },
		         packet.mad);
	}
}

static wf_time sa_deadline(const struct wf_site *site)
{
	wf_time at = wf_sa_deadline(site->sa);

	return wf_sa_has_tx(site->sa) ? wf_min_time(at, site->sa_at) : at;
}

/* A MAD for queue pair 1: one of a class that every device has, or for who administrates. */
static void handle_gmp(struct wf_site *site, const struct wf_site_from *from, uint8_t *mad)
{
	const struct wf_station_to back = {
		.dlid = from->slid,
		.slid = own_lid(site, from->port),
		.sl = from->sl,
		.pkey = from->pkey,
		.dst_qpn = from->src_qpn,
		.src_qpn = 1,
		.qkey = WF_QKEY_GMP,
	};
	bool answers = false;

	if (mad[1] == WF_MAD_CLASS_PERF && from->dst_qpn == 1 && (mad[3] & 0x80) == 0)
		answers = wf_pma_rx(site->pma, mad);
	else if (mad[1] == WF_MAD_CLASS_CC && from->dst_qpn == 1 && (mad[3] & 0x80) == 0)
		answers = wf_cca_rx(site->cca, mad, site->now);
	else if (mad[1] == WF_MAD_CLASS_AM && from->dst_qpn == 1 && site->ana != NULL &&
	         (mad[3] & 0x80) == 0)
		answers = wf_ana_rx(site->ana, mad);
	else if (mad[1] == WF_MAD_CLASS_AM && from->dst_qpn == 1 && site->am != NULL)
		wf_am_rx(site->am, mad);
	else if (is_for_sa(site, from, mad))
		wait_for(site, &site->manager, from, mad);
	else
		for_users(site, from, mad);
	if (answers)
		send_gmp(site, from->port, &back, mad);
}

/* The agent has come to a MAD that came in. */
static void handle(struct wf_site *site, const struct wf_site_from *from, uint8_t *mad)
{
	struct wf_dr_next next;

	if (from->gmp)
		handle_gmp(site, from, mad);
	else if (from->port == 0 || mad[1] != WF_MAD_CLASS_SUBN_DR)
		mine(site, from, mad);
	else
		go_on(site, from, wf_dr_rx(&site->node, from->port, mad, &next), &next, mad);
}

/* An SMP that a manager or a program here made: out, or to the agent here. */
static void send_smp(struct wf_site *site, uint16_t lid, uint8_t sl, uint8_t *mad)
{
	struct wf_site_from self = { .slid = lid, .dlid = lid, .sl = sl };
	struct wf_dr_next next;
	enum wf_dr way;

	if (mad[1] != WF_MAD_CLASS_SUBN_DR) {
		if (lid == own_lid(site, 0))
			wait_for(site, &site->agent, &self, mad);
		else
			send_to(site, 0, lid, own_lid(site, 0), sl, mad);
		return;
	}
	self.slid = self.dlid = WF_LID_PERMISSIVE;
	way = wf_dr_tx(&site->node, mad, &next);
	if (way == WF_DR_MINE)
		wait_for(site, &site->agent, &self, mad);
	else
		go_on(site, &self, way, &next, mad);
}

static void manager_sends(struct wf_site *site)
{
	struct wf_sm_addr to;
	uint8_t mad[WF_MAD_LEN];

	while (wf_sm_tx(site->sm, &to, mad))
		send_smp(site, to.lid, to.sl, mad);
}

/* Trees are set from queue pair 1 of the manager's host. */
static void trees_send(struct wf_site *site)
{
	struct wf_station_to to = {
		.slid = own_lid(site, 1),
		.pkey = WF_PKEY_DEFAULT,
		.dst_qpn = 1,
		.src_qpn = 1,
		.qkey = WF_QKEY_GMP,
	};
	uint8_t mad[WF_MAD_LEN];

	while (wf_am_tx(site->am, &to.dlid, mad, site->now))
		send_gmp(site, 1, &to, mad);
}

static void agent_sends(struct wf_site *site)
{
	struct wf_sma_packet to;
	uint8_t mad[WF_MAD_LEN];

	while (wf_sma_tx(site->sma, site->now, &to, mad))
		send_to(site, to.port, to.dlid, own_lid(site, to.port), to.sl, mad);
}

wf_time wf_site_deadline(const struct wf_site *site)
{
	wf_time at = wf_min_time(wf_sma_deadline(site->sma), site->leave_at);

	if (site->agent.head != NULL)
		at = wf_min_time(at, site->agent.head->at);
	if (site->sm == NULL)
		return at;
	if (site->manager.head != NULL)
		at = wf_min_time(at, site->manager.head->at);
	if (site->am != NULL)
		at = wf_min_time(at, wf_am_deadline(site->am));
	at = wf_min_time(at, sa_deadline(site));
	return wf_min_time(at, wf_sm_deadline(site->sm));
}

/* Links that were to be taken down: those whose port has nothing more to send. */
static void leave(struct wf_site *site)
{
	uint8_t *disabled =
		site->all->disabled + site->all->topo->nodes[site->st.dev->id].first_port;

	site->leave_at = WF_TIME_NEVER;
	for (unsigned p = 0; p < site->st.dev->n_ports; p++) {
		if (site->leaves[p] == 0)
			continue;
		if (site->st.port[p].waiting != 0) {
			site->leave_at = site->now + WF_SITE_LEAVE;
			continue;
		}
		disabled[p] |= site->leaves[p];
		site->leaves[p] = 0;
		shard_of(site)->links_changed = true;
	}
}

/* A MAD that has waited for the manager: its own, or for its SA. */
static void manager_takes(struct wf_site *site, const struct wf_site_mad *w)
{
	const struct wf_sm_addr from = {
		w->bytes[1] == WF_MAD_CLASS_SUBN_DR ? WF_LID_PERMISSIVE : w->from.slid,
		w->from.sl,
	};

	if (w->from.gmp)
		sa_takes(site, &w->from, w->bytes);
	else
		wf_sm_rx(site->sm, &from, w->bytes, site->now);
}

void wf_site_work(struct wf_site *site, wf_time now)
{
	struct wf_site_mad w;

	site->now = now;
	while (is_done(site, &site->agent, &w))
		handle(site, &w.from, w.bytes);
	if (wf_sma_deadline(site->sma) <= now)
		wf_sma_tick(site->sma, now);
	if (site->leave_at <= now)
		leave(site);
	agent_sends(site);
	if (site->sm == NULL)
		return;
	while (is_done(site, &site->manager, &w))
		manager_takes(site, &w);
	if (wf_sm_deadline(site->sm) <= now)
		wf_sm_tick(site->sm, now);
	if (wf_sa_deadline(site->sa) <= now)
		wf_sa_tick(site->sa, now);
	sa_sends(site);
	manager_sends(site);
	if (site->am == NULL)
		return;
	if (wf_am_deadline(site->am) <= now)
		wf_am_tick(site->am, now);
	wf_trees_work(site);
	trees_send(site);
}

/* The same within the simulation, which then knows when to call again. */
static void work(struct wf_site *site, wf_time now)
{
	wf_site_work(site, now);
	if (wf_site_deadline(site) != WF_TIME_NEVER)
		wf_station_call_at(&site->st, wf_max_time(wf_site_deadline(site), now));
}

void wf_site_send(struct wf_site *site, const struct wf_managed_mad *mad, wf_time now)
{
	const struct wf_station_to to = {
		.dlid = mad->lid,
		.slid = own_lid(site, 1),
		.sl = mad->sl,
		.pkey = mad->pkey,
		.dst_qpn = mad->qpn,
		.src_qpn = mad->own_qpn,
		.qkey = mad->qkey,
	};
	uint8_t bytes[WF_MAD_LEN];

	site->now = now;
	memcpy(bytes, mad->bytes, WF_MAD_LEN);
	if (mad->gmp)
		send_gmp(site, 1, &to, bytes);
	else
		send_smp(site, mad->lid, mad->sl, bytes);
	work(site, now);
}

void wf_site_take(struct wf_site *site, const struct wf_site_from *from, uint8_t *mad)
{
	const struct wf_station_to on = {
		.dlid = from->dlid,
		.slid = from->slid,
		.sl = from->sl,
		.pkey = from->pkey,
		.dst_qpn = from->dst_qpn,
		.src_qpn = from->src_qpn,
		.qkey = from->qkey,
	};
	bool passes = site->is_switch && from->dlid != WF_LID_PERMISSIVE &&
	              wf_station_way(&site->st, from->dlid) != WF_STATION_MINE;

	if (passes && from->gmp)
		hop_gmp(site, 0, &on, mad);
	else if (passes)
		send_to(site, 0, from->dlid, from->slid, from->sl, mad);
	else
		handle(site, from, mad);
}

/* ---- the station's ---- */

static void site_rx(struct wf_station *st, unsigned port, const struct wf_packet *pkt, uint8_t *mad,
                    wf_time now)
{
	struct wf_site *site = to_site(st);
	const struct wf_site_from from = {
		.port = port + 1,
		.slid = (uint16_t)pkt->src,
		.dlid = pkt->entropy,
		.sl = pkt->cls,
		.pkey = pkt->pkey,
		.gmp = pkt->type == WF_PACKET_GMP,
		.src_qpn = pkt->u.deth.src_qpn,
		.dst_qpn = pkt->qpn,
		.qkey = pkt->u.deth.qkey,
	};

	site->now = now;
	wait_for(site, &site->agent, &from, mad);
	work(site, now);
}

static void site_timer(struct wf_station *st, wf_time now)
{
	work(to_site(st), now);
}

/* A link is there with what its rate is called. */
static void link_up(struct wf_site *site, unsigned port, wf_time now)
{
	unsigned width, speed;

	if (!wf_site_trains(site, port, &width, &speed))
		(void)!wf_ib_rate_link(site->st.dev->ports[port - 1].rate, &width, &speed);
	wf_sma_link_up(site->sma, port, width, speed, now);
}

void wf_site_reset(struct wf_site *site, unsigned port, wf_time now)
{
	site->now = now;
	wf_sma_link_reset(site->sma, port, now);
	work(site, now);
}

/* A manager's tables follow from all that has changed. */
static bool is_answered(const struct wf_managed *m)
{
	if (m->changed == WF_TIME_NEVER)
		return true;
	for (unsigned i = 0; i < m->cfg.n_managers; i++) {
		const struct wf_site *site = m->site[m->topo->host_node[m->cfg.manager[i]]];

		if (site->deeds.answered == m->changed)
			return true;
	}
	return false;
}

static void site_link(struct wf_station *st, unsigned port, bool up, wf_time now)
{
	struct wf_site *site = to_site(st);

	site->now = now;
	/* Several changes before there are new tables count from the first on. */
	if (site->all->changed != now && is_answered(site->all))
		site->all->since = now;
	site->all->changed = now;
	if (up) {
		link_up(site, port + 1, now);
	} else {
		site->downs[port]++;
		wf_sma_link_down(site->sma, port + 1, now);
	}
	work(site, now);
}

/* Somebody of another partition: the manager is told who. */
static void site_pkey(struct wf_station *st, unsigned port, const struct wf_packet *pkt,
                      wf_time now)
{
	struct wf_site *site = to_site(st);
	const struct wf_trap_key key = {
		.lid1 = pkt->type == WF_PACKET_GMP ? (uint16_t)pkt->src
		                                   : site->all->lid_of[wf_packet_src(pkt)],
		.lid2 = pkt->entropy,
		.key = pkt->pkey,
		.sl = pkt->cls,
		.qp2 = pkt->qpn,
	};

	site->now = now;
	wf_sma_violation(site->sma, port + 1,
	                 site->is_switch ? WF_TRAP_BAD_SWITCH_PKEY : WF_TRAP_BAD_PKEY, &key, now);
	wf_site_note(site, 0);
	work(site, now);
}

static void site_group(struct wf_station *st, uint16_t mlid, uint64_t ports[WF_STATION_WORDS])
{
	wf_sma_mft_ports(to_site(st)->sma, mlid, ports);
}

const struct wf_station_ops wf_site_station = {
	.rx = site_rx,
	.timer = site_timer,
	.link = site_link,
	.group = site_group,
	.pkey = site_pkey,
};

/* ---- what a manager has set ---- */

static void take_state(struct wf_site *site, unsigned port)
{
	const struct wf_port_info *info = wf_sma_port(site->sma, port);

	if (port != 0)
		wf_station_set_state(&site->st, port - 1, info->port_state >= WF_PORT_ARMED,
		                     info->port_state == WF_PORT_ACTIVE, site->now);
}

static void take_lid(struct wf_site *site, unsigned port)
{
	const struct wf_port_info *info = wf_sma_port(site->sma, port);

	if (site->is_switch)
		return;
	site->st.port[port - 1].lid = info->lid;
	site->st.port[port - 1].lmc = info->lmc;
	shard_of(site)->lids_changed = true;
}

/* The station has P_Keys and lanes as arrays of the shard's memory: their size never changes. */
static void take_pkeys(struct wf_site *site, unsigned port)
{
	unsigned n = site->is_switch ? wf_sma_switch(site->sma)->partition_enforcement_cap
	                             : wf_sma_node(site->sma)->partition_cap;
	struct wf_station_port *p;

	if (port == 0)
		return;
	p = &site->st.port[port - 1];
	if (site->pkeys[port] == NULL)
		site->pkeys[port] =
			wf_shard_alloc(site->st.dev->node.shard, n * sizeof(*site->pkeys[port]));
	if (site->pkeys[port] == NULL) {
		wf_shard_no_memory(site->st.dev->node.shard);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		site->pkeys[port][i] = wf_sma_pkey(site->sma, port, i);
	p->pkeys = site->pkeys[port];
	p->n_pkeys = (uint16_t)n;
}

static void take_enforcement(struct wf_site *site, unsigned port)
{
	const struct wf_port_info *info = wf_sma_port(site->sma, port);

	if (port == 0)
		return;
	site->st.port[port - 1].guard_in = !site->is_switch || info->partition_enforcement_inbound;
	site->st.port[port - 1].guard_out = site->is_switch && info->partition_enforcement_outbound;
}

static void take_lanes(struct wf_site *site, unsigned port)
{
	unsigned n = site->st.dev->n_ports + 1;
	uint8_t *table = port == 0 ? NULL : site->sl2vl[port];

	if (port == 0)
		return;
	if (table == NULL)
		table = wf_shard_alloc(site->st.dev->node.shard, n * WF_SLS);
	if (table == NULL) {
		wf_shard_no_memory(site->st.dev->node.shard);
		return;
	}
	for (unsigned in = 0; in < n; in++) {
		for (uint8_t sl = 0; sl < WF_SLS; sl++)
			table[in * WF_SLS + sl] = wf_sma_vl(site->sma, in, port, sl);
	}
	site->sl2vl[port] = table;
	site->st.port[port - 1].sl2vl = table;
}

static void take_groups(struct wf_site *site)
{
	struct wf_sma_adaptive a;

	wf_sma_adaptive(site->sma, &a);
	wf_port_groups_set(&site->st, &(struct wf_port_groups){
					      .of = a.group_of,
					      .n_of = a.n_lids,
					      .ports = a.ports,
					      .n = a.n_groups,
					      .on = a.enabled,
				      });
}

void wf_site_note(struct wf_site *site, unsigned what)
{
	if (site->is_switch)
		return;
	site->changed |= what;
	shard_of(site)->changes++;
}

static void site_changed(void *arg, unsigned port, unsigned what)
{
	struct wf_site *site = arg;

	wf_site_note(site, what);
	if (what & WF_SMA_STATE)
		take_state(site, port);
	if (what & WF_SMA_LID)
		take_lid(site, port);
	if (what & WF_SMA_PKEYS)
		take_pkeys(site, port);
	if (what & WF_SMA_ENFORCE)
		take_enforcement(site, port);
	if (what & WF_SMA_SL_TO_VL)
		take_lanes(site, port);
	if (what & WF_SMA_LFT) {
		uint32_t n;

		site->st.lft = wf_sma_lft_table(site->sma, &n);
		site->st.n_lft = n;
	}
	if (what & WF_SMA_ADAPTIVE)
		take_groups(site);
	wf_site_obey(site, port, what);
}

/* Links are taken down and up while no node runs, and when the answer to this has left. */
static void site_physical(void *arg, unsigned port, enum wf_port_phys to)
{
	struct wf_site *site = arg;

	if (to == WF_PHYS_LINK_UP) {
		site->all->disabled[site->all->topo->nodes[site->st.dev->id].first_port + port -
		                    1] |= WF_MANAGED_RESET;
		shard_of(site)->links_changed = true;
		return;
	}
	site->leaves[port - 1] |= to == WF_PHYS_POLLING ? WF_MANAGED_BOUNCE : WF_MANAGED_DISABLED;
	site->leave_at = site->now + WF_SITE_LEAVE;
	if (site->all->starting)
		leave(site);
}

static const struct wf_sma_ops agent_ops = {
	.changed = site_changed,
	.physical = site_physical,
};

/* ---- being there ---- */

static char *append(char *to, const char *text)
{
	while (*text != '\0')
		*to++ = *text++;
	*to = '\0';
	return to;
}

static void ignore_congestion(void *arg, unsigned what)
{
	(void)arg;
	(void)what;
}

static int make_other_agents(struct wf_site *site)
{
	const struct wf_pma_cfg pma = {
		.is_switch = site->is_switch,
		.n_ports = (uint8_t)site->st.dev->n_ports,
		.resp_time = WF_SITE_RESP_TIME,
		.ops = &wf_site_counters,
		.arg = site,
	};
	const struct wf_cca_cfg cca = {
		.is_switch = site->is_switch,
		.n_ports = (uint8_t)site->st.dev->n_ports,
		.table_blocks = 2,
		.changed = ignore_congestion,
		.arg = site,
	};
	int ret = wf_pma_create(&pma, wf_mem_heap(), &site->pma);

	return ret == 0 ? wf_cca_create(&cca, wf_mem_heap(), &site->cca) : ret;
}

static int make_agent(struct wf_site *site)
{
	struct wf_managed *m = site->all;
	const struct wf_device *dev = site->st.dev;
	const struct wf_topo_node *node = &m->topo->nodes[dev->id];
	const struct wf_fabric_cfg *cfg = &dev->setup->cfg;
	struct wf_sma_cfg c;
	char name[WF_NODE_DESCRIPTION_LEN];
	int ret;

	wf_sma_cfg_init(&c, site->is_switch);
	c.n_ports = (uint8_t)dev->n_ports;
	c.node_guid =
		site->is_switch ? wf_wire_guid_switch(dev->id) : wf_wire_guid_host(node->host);
	c.port_guid = c.system_image_guid = c.node_guid;
	c.vendor_id = WF_WIRE_VENDOR;
	c.device_id = site->is_switch ? WF_WIRE_PART_SWITCH : WF_WIRE_PART_ADAPTER;
	c.revision = WF_WIRE_REVISION;
	c.guid_step = WF_WIRE_GUID_PORT;
	/* "h12 weft0", "leaf3" */
	(void)append(append(name, node->name), site->is_switch ? "" : " weft0");
	c.description = name;
	c.vls = (uint8_t)wf_ib_vls_decode(wf_ib_vls_encode((unsigned)cfg->vl_count));
	c.mtu = (uint32_t)cfg->mtu;
	wf_site_sets(dev, &c);
	if (site->is_switch && dev->fabric->route->any_ports) {
		c.group_cap = WF_PORT_GROUPS;
		if (wf_port_groups_create(&site->st) != 0)
			return -ENOMEM;
	}
	if (!site->is_switch)
		c.capability_mask |= WF_CAP_CM; /* the system of hosts sets it */
	c.ops = &agent_ops;
	c.arg = site;
	ret = wf_sma_create(&c, wf_mem_heap(), &site->sma);
	if (ret == 0)
		ret = make_other_agents(site);
	if (ret == 0)
		ret = wf_trees_make_agent(site);
	for (unsigned p = 1; p <= dev->n_ports && ret == 0; p++) {
		ret = wf_site_preset(site, p);
		link_up(site, p, 0);
		take_pkeys(site, p);
		take_enforcement(site, p);
	}
	return ret;
}

int wf_site_create(struct wf_managed *m, struct wf_device *dev, struct wf_store *mads,
                   struct wf_err *err)
{
	struct wf_shard *shard = dev->node.shard;
	const struct wf_topo_node *node = &m->topo->nodes[dev->id];
	struct wf_site *site;

	if (dev->n_ports > WF_MANAGED_PORTS)
		return wf_err_say(err,
		                  "topology.radix: %s has %u ports; switches of a managed fabric "
		                  "have %d at the most",
		                  node->name, dev->n_ports, WF_MANAGED_PORTS);
	if (wf_ib_vls_decode(wf_ib_vls_encode((unsigned)dev->setup->cfg.vl_count)) !=
	    dev->setup->cfg.vl_count)
		return wf_err_say(err,
		                  "vl.count: ports of a managed fabric have 1, 2, 4, 8 or 15 "
		                  "virtual lanes, not %u",
		                  (unsigned)dev->setup->cfg.vl_count);
	/* It outlives the engine, whose memory is the rest. Agents take more when they run. */
	site = wf_mem_heap()->alloc(wf_mem_heap(), sizeof(*site));
	if (site == NULL)
		return -ENOMEM;
	m->site[dev->id] = site;
	if (wf_station_init(&site->st, dev, mads, &wf_site_station) != 0)
		return -ENOMEM;
	site->all = m;
	site->is_switch = node->kind == WF_TOPO_SWITCH;
	site->node = (struct wf_dr_node){ site->is_switch, dev->n_ports };
	site->agent.room = WF_SITE_ROOM;
	site->agent.time = site->is_switch ? m->cfg.switch_time : m->cfg.host_time;
	site->manager.room = WF_SITE_ROOM_MANAGER;
	site->manager.time = m->cfg.manager_time;
	site->pkeys = wf_shard_alloc(shard, (dev->n_ports + 1) * sizeof(*site->pkeys));
	site->sl2vl = wf_shard_alloc(shard, (dev->n_ports + 1) * sizeof(*site->sl2vl));
	site->classes = wf_shard_alloc(shard, (dev->n_ports + 1) * sizeof(*site->classes));
	site->downs = wf_shard_alloc(shard, dev->n_ports * sizeof(*site->downs));
	site->leaves = wf_shard_alloc(shard, dev->n_ports * sizeof(*site->leaves));
	site->leave_at = WF_TIME_NEVER;
	if (site->pkeys == NULL || site->sl2vl == NULL || site->classes == NULL ||
	    site->downs == NULL || site->leaves == NULL)
		return -ENOMEM;
	/* Programs outside say by which LID their packets go. */
	site->st.dlid_of = site->is_switch || m->sim->gated.env.ops != NULL ? NULL : m->lid_of;
	return make_agent(site);
}

void wf_site_destroy(struct wf_site *site)
{
	if (site == NULL)
		return;
	wf_sma_destroy(site->sma);
	wf_pma_destroy(site->pma);
	wf_cca_destroy(site->cca);
	wf_ana_destroy(site->ana);
	wf_am_destroy(site->am);
	wf_sa_destroy(site->sa);
	wf_sm_destroy(site->sm);
	wf_mem_heap()->free(wf_mem_heap(), site);
}
