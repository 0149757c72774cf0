/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - packets between the rings of programs and the gates of the modelled fabric. */
#define _GNU_SOURCE
#include "live/model.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "live/model_packet.h"
#include "live/model_priv.h"
#include "live/umad.h"
#include "wire/opcode.h"

#define MAX_BLOCKS 512      /* of records: what can be under way, 32768 packets */
#define BAD_BATCH 64        /* packets that may not be sent are looked at in a row */
#define LATER (10 * WF_US)  /* when there is no record */
#define STUCK (100 * WF_MS) /* a program that takes in nothing for so long gets nothing */
#define TX_TIME (1 * WF_MS) /* of its port: what a program may have wait for it */
#define TX_LEAST (UINT32_C(32) << 10)

/* ---- records ---- */

static struct wf_dcarried *record(const struct wf_dmodel *m, uint32_t number)
{
	return &m->blocks[number / WF_MODEL_BLOCK][number % WF_MODEL_BLOCK];
}

static struct wf_dcarried *get(struct wf_dmodel *m)
{
	struct wf_dcarried *r = m->free;

	if (r == NULL && m->n_blocks < MAX_BLOCKS) {
		struct wf_dcarried *block = calloc(WF_MODEL_BLOCK, sizeof(*block));

		for (uint32_t i = 0; block != NULL && i < WF_MODEL_BLOCK; i++) {
			block[i].number = m->n_blocks * WF_MODEL_BLOCK + i;
			block[i].next = m->free;
			m->free = &block[i];
		}
		if (block != NULL)
			m->blocks[m->n_blocks++] = block;
		r = m->free;
	}
	if (r != NULL)
		m->free = r->next;
	return r;
}

static void put(struct wf_dmodel *m, struct wf_dcarried *r)
{
	r->from->under_way--;
	r->next = m->free;
	m->free = r;
}

/* One of its copies is under way no longer. */
static void put_copy(struct wf_dmodel *m, struct wf_dcarried *r)
{
	assert(r->copies > 0);
	if (--r->copies == 0)
		put(m, r);
}

/* ---- from programs ---- */

wf_time wf_model_sent_at(const struct wf_dmodel *m, uint32_t stamp)
{
	wf_time age = (wf_time)(int32_t)(m->clock - stamp) * WF_NS;

	if (m->pace != WF_LIVE_WALL)
		return 0;
	return m->target - wf_max_time(age, 0);
}

/* The next packet of a program, if it can leave now; see struct wf_gate_ops. */
static bool take(struct wf_dmodel *m, struct wf_dclient *c, uint32_t held, wf_time now,
                 struct wf_packet *out, wf_time *again_p)
{
	struct wf_ring *rx = &c->model.rx;
	struct wf_model_way way;
	struct wf_packet pkt;
	const void *payload;
	struct wf_dcarried *r;

	for (unsigned n = 0; n < BAD_BATCH && wf_ring_peek(rx, &pkt, &payload); n++) {
		wf_time at = wf_model_sent_at(m, pkt.src);

		if (at > now) {
			*again_p = wf_min_time(*again_p, at);
			return false;
		}
		if (!wf_model_accept(m->d->table, c->host, c->slot, &pkt, &way)) {
			m->refused++;
			wf_ring_consume(rx);
			continue;
		}
		if (pkt.cls == 0)
			pkt.cls = m->cls & WF_PACKET_CLASS;
		if ((held >> pkt.cls & 1) != 0)
			return false;
		r = get(m);
		if (r == NULL) {
			*again_p = wf_min_time(*again_p, now + LATER);
			return false;
		}
		r->from = c;
		r->pkt = pkt;
		r->slot = way.slot;
		r->bytes = way.length;
		r->copies = 1;
		memcpy(r->payload, payload, way.length);
		wf_ring_consume(rx);
		/* In good time, so that the program has more when this has left. */
		if (rx->pos - rx->tail >= m->d->table->tx_room / 4 && wf_ring_release(rx))
			(void)wf_pipe_wake(&c->model);
		*out = (struct wf_packet){
			.type = WF_PACKET_RDMA,
			.dst = way.host,
			.size = way.size,
			.cls = pkt.cls,
			.flags = pkt.flags & WF_PACKET_ECT,
			.opcode = pkt.opcode,
			.entropy = pkt.entropy,
			.pkey = pkt.pkey,
			.length = way.length,
			.qpn = r->number,
		};
		c->under_way++;
		m->under_way++;
		m->moved = true;
		return true;
	}
	return false;
}

/* It was this one's turn: the others' are next. */
static void rotate(struct wf_dclient **first, struct wf_dclient **at)
{
	struct wf_dclient *c = *at;

	*at = c->host_next;
	c->host_next = NULL;
	while (*first != NULL)
		first = &(*first)->host_next;
	*first = c;
}

static bool gate_next(void *arg, uint32_t host, uint32_t held, wf_time now, struct wf_packet *pkt,
                      wf_time *again_p)
{
	struct wf_dmodel *m = arg;

	for (struct wf_dclient **at = &m->clients[host]; *at != NULL; at = &(*at)->host_next) {
		if (take(m, *at, held, now, pkt, again_p)) {
			rotate(&m->clients[host], at);
			return true;
		}
	}
	return false;
}

/* ---- to programs ---- */

/* Puts a packet into the ring of who it is for. Returns false when there is no room. */
static bool hand_over(struct wf_dclient *c, const struct wf_dcarried *r)
{
	void *at = wf_ring_reserve(&c->model.tx, r->bytes);

	if (at == NULL)
		return false;
	memcpy(at, r->payload, r->bytes);
	wf_ring_commit(&c->model.tx, &r->pkt, r->bytes);
	c->model_touched = true;
	return true;
}

static void give_up(struct wf_dmodel *m, struct wf_dclient *c)
{
	while (c->backlog != NULL) {
		struct wf_dcarried *r = c->backlog;

		c->backlog = r->next;
		m->unclaimed++;
		put(m, r);
	}
}

void wf_model_flush(struct wf_dmodel *m, struct wf_dclient *c, wf_time clock)
{
	if (c->backlog == NULL)
		return;
	while (c->backlog != NULL && hand_over(c, c->backlog)) {
		struct wf_dcarried *r = c->backlog;

		c->backlog = r->next;
		m->delivered++;
		put(m, r);
	}
	if (c->backlog != NULL && (clock - c->full_since > STUCK || c->model.tx.broken)) {
		c->stuck = true;
		give_up(m, c);
	}
	if (c->backlog == NULL)
		m->backlogs--;
	else
		(void)wf_ring_want_space(&c->model.tx, c->backlog->bytes);
}

/* Its ring is full: it waits outside, and virtual time with it. */
static void keep(struct wf_dmodel *m, struct wf_dclient *c, struct wf_dcarried *r)
{
	if (c->backlog == NULL) {
		c->backlog_tail = &c->backlog;
		c->full_since = wf_model_clock();
		m->backlogs++;
		(void)wf_ring_want_space(&c->model.tx, r->bytes);
	}
	r->next = NULL;
	*c->backlog_tail = r;
	c->backlog_tail = &r->next;
}

/* What the fabric has done to a packet that came to a host, or to one of its copies. */
static void take_marks(const struct wf_dmodel *m, struct wf_dcarried *r, uint32_t host,
                       const struct wf_packet *pkt, wf_time now)
{
	/* When it is due, so that its program can tell how late it is. An atomic has no room. */
	if (!wf_op_is_atomic(r->pkt.opcode))
		r->pkt.payload = (uint32_t)((uint64_t)(now + m->zero) / WF_NS);
	r->pkt.flags |= pkt->flags & (WF_PACKET_CE | WF_PACKET_BAD);
	if (m->managed != NULL) {
		/* Of the partition that its sender's port is in; where its DLID led. */
		r->pkt.pkey = pkt->pkey;
		if ((r->pkt.dst & WF_LIVE_GROUP) == 0)
			r->pkt.dst = host;
	}
	if (pkt->type == WF_PACKET_TRIMMED) {
		r->pkt.type = WF_PACKET_TRIMMED;
		r->pkt.length = 0;
		r->bytes = 0;
	}
}

/* Whether a program is in the group of a packet. */
static bool is_member(struct wf_dmodel *m, const struct wf_dclient *c, uint32_t number)
{
	const struct wf_dgroup *g = m->group;

	if (g == NULL || g->number != number) {
		for (g = m->d->groups; g != NULL && g->number != number;)
			g = g->next;
		m->group = g;
	}
	for (const struct wf_dport *p = g == NULL ? NULL : g->ports; p != NULL; p = p->next) {
		if (p->client == c)
			return p->member;
	}
	return false;
}

/* The same packet once more, for a program that has no room for it now. NULL: no memory. */
static struct wf_dcarried *duplicate(struct wf_dmodel *m, const struct wf_dcarried *r)
{
	struct wf_dcarried *copy = get(m);

	if (copy == NULL)
		return NULL;
	copy->from = r->from;
	copy->pkt = r->pkt;
	copy->slot = r->slot;
	copy->bytes = r->bytes;
	copy->copies = 1;
	memcpy(copy->payload, r->payload, r->bytes);
	r->from->under_way++;
	return copy;
}

/* A copy for a group has come to a host: each of its programs that is in the group gets it. */
static void deliver_group(struct wf_dmodel *m, uint32_t host, struct wf_dcarried *r,
                          const struct wf_packet *pkt, wf_time now)
{
	const struct wf_packet sent = r->pkt;
	struct wf_dcarried *copy;
	bool taken = false;

	take_marks(m, r, host, pkt, now);
	for (struct wf_dclient *c = m->clients[host]; c != NULL; c = c->host_next) {
		if (c->doomed || c->model.tx.broken || !is_member(m, c, sent.dst))
			continue;
		if (c->backlog == NULL && hand_over(c, r)) {
			c->stuck = false;
			m->delivered++;
			taken = true;
		} else if (!c->stuck && (copy = duplicate(m, r)) != NULL) {
			keep(m, c, copy);
			taken = true;
		}
	}
	m->unclaimed += !taken;
	r->pkt = sent; /* the other copies are as they were */
	put_copy(m, r);
}

static void gate_deliver(void *arg, uint32_t host, const struct wf_packet *pkt, wf_time now)
{
	struct wf_dmodel *m = arg;
	struct wf_dcarried *r = record(m, pkt->qpn);
	struct wf_dclient *c = m->clients[host];

	m->under_way--;
	m->moved = true;
	if (m->managed != NULL && wf_model_is_group(&r->pkt)) {
		deliver_group(m, host, r, pkt, now);
		return;
	}
	take_marks(m, r, host, pkt, now);
	while (c != NULL && (c->slot != r->slot || c->doomed))
		c = c->host_next;
	if (c != NULL && c->backlog == NULL && hand_over(c, r)) {
		c->stuck = false;
		m->delivered++;
		put(m, r);
	} else if (c == NULL || c->stuck || c->model.tx.broken) {
		m->unclaimed++;
		put(m, r);
	} else {
		keep(m, c, r);
	}
}

static void gate_lost(void *arg, const struct wf_packet *pkt)
{
	struct wf_dmodel *m = arg;

	m->under_way--;
	m->lost++;
	m->moved = true;
	put_copy(m, record(m, pkt->qpn));
}

static void gate_copied(void *arg, const struct wf_packet *pkt)
{
	struct wf_dmodel *m = arg;

	m->under_way++;
	record(m, pkt->qpn)->copies++;
}

const struct wf_gate_ops wf_model_gates = {
	.next = gate_next,
	.deliver = gate_deliver,
	.lost = gate_lost,
	.copied = gate_copied,
	.go_on = wf_model_go_on,
};

/* ---- clients ---- */

int wf_model_connect(struct wf_daemon *d, struct wf_dclient *c, struct wf_live_reply *reply,
                     int fds[WF_LIVE_MAX_FDS])
{
	struct wf_dmodel *m = d->model;
	int memory, wake, knock, ret;

	if (m == NULL || c->on_model)
		return -ENOENT;
	memory = wf_pipe_memory();
	if (memory < 0)
		return memory;
	wake = fcntl(c->wake, F_DUPFD_CLOEXEC, 0);
	knock = fcntl(m->wake, F_DUPFD_CLOEXEC, 0);
	ret = wake < 0 || knock < 0 ? -EMFILE : wf_pipe_open(&c->model, memory, 1, wake);
	if (ret != 0) {
		if (wake >= 0)
			close(wake);
		if (knock >= 0)
			close(knock);
		close(memory);
		return ret;
	}
	c->on_model = true;
	c->model_woken = UINT64_MAX;
	c->host_next = m->clients[c->host];
	m->clients[c->host] = c;
	reply->connect.side = 0;
	reply->n_fds = 2;
	fds[0] = memory;
	fds[1] = knock;
	return 0;
}

bool wf_model_is_done(const struct wf_daemon *d, struct wf_dclient *c)
{
	if (!c->on_model || d->model == NULL)
		return true;
	/* Whoever still holds the memory might go on writing: no more than fits counts. */
	if (c->model_end == 0)
		c->model_end = c->model.rx.pos + WF_RING_BYTES;
	return c->under_way == 0 &&
	       (c->model.rx.broken || c->model.rx.pos >= c->model_end ||
	        !wf_live_is_active(d->table, c->host) || !wf_ring_ready(&c->model.rx));
}

void wf_model_leave(struct wf_daemon *d, struct wf_dclient *c)
{
	struct wf_dmodel *m = d->model;

	if (m != NULL) {
		struct wf_dclient **at = &m->clients[c->host];

		while (*at != c)
			at = &(*at)->host_next;
		*at = c->host_next;
		if (c->backlog != NULL)
			m->backlogs--;
		give_up(m, c);
	}
	c->on_model = false;
	wf_pipe_close(&c->model);
}

/* ---- the whole ---- */

/* How programs set up their queue pairs, and how much they may have wait for their port. */
static int fill_table(struct wf_dmodel *m, const struct wf_daemon_cfg *cfg)
{
	struct wf_live_table *t = m->d->table;
	uint64_t room = cfg->rate / 8 * (uint64_t)TX_TIME / (uint64_t)WF_S;
	int ret = wf_gated_tune(m->sim, cfg->model->cc, &t->tune, cfg->err);

	if (ret != 0)
		return ret;
	if (t->tune.int_bytes != 0)
		return wf_err_say(
			cfg->err,
			"cc.algorithm: %s lives on what switches write into packets, which "
			"programs do not get to see; choose another, or pace: direct",
			t->tune.cc->name);
	if (t->tune.cc != NULL) {
		memcpy(t->cc, t->tune.cc->name, strlen(t->tune.cc->name) + 1);
		if (t->tune.cc_param != NULL)
			memcpy(t->cc_param, t->tune.cc_param, t->tune.cc->param_size);
	}
	t->tune.cc = NULL;
	t->tune.cc_param = NULL;
	t->pace = m->pace;
	if (m->pace == WF_LIVE_NONE)
		room = WF_RING_BYTES / 4;
	t->tx_room = (uint32_t)wf_min_u64(wf_max_u64(room, TX_LEAST), WF_RING_BYTES);
	return 0;
}

/* The simulation, and who manages it. */
static int make_sim(struct wf_dmodel *m, const struct wf_daemon_cfg *cfg)
{
	struct wf_sim_cfg sim = *cfg->model;
	int ret = 0;

	if (cfg->managed != NULL)
		ret = wf_managed_create(cfg->managed, m->topo, wf_mem_heap(), &m->managed,
		                        cfg->err);
	if (ret != 0)
		return ret;
	sim.gate = &wf_model_gates;
	sim.gate_arg = m;
	sim.threads = 1;
	sim.manager = m->managed == NULL ? NULL : wf_managed_manager(m->managed);
	return wf_sim_create(&sim, &m->sim, cfg->err);
}

int wf_model_open(struct wf_daemon *d, const struct wf_daemon_cfg *cfg)
{
	struct wf_dmodel *m;
	int ret;

	if (cfg->pace == WF_LIVE_DIRECT)
		return 0;
	/* Programs choose the version of RoCE, so room is for packets of both. */
	assert(strcmp(cfg->model->fabric->header, "rocev2") != 0 &&
	       strcmp(cfg->model->fabric->header, "rocev1") != 0);
	m = calloc(1, sizeof(*m));
	if (m == NULL)
		return -ENOMEM;
	d->model = m;
	m->d = d;
	m->topo = cfg->model->topo;
	m->pace = cfg->pace;
	m->cls = cfg->cls;
	m->words = cfg->words;
	m->words_arg = cfg->words_arg;
	m->armed = WF_TIME_NEVER;
	m->zero = wf_model_clock();
	m->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	m->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	m->clients = calloc(cfg->n_hosts, sizeof(struct wf_dclient *));
	m->blocks = calloc(MAX_BLOCKS, sizeof(struct wf_dcarried *));
	if (m->wake < 0 || m->timer < 0)
		return -EMFILE;
	if (m->clients == NULL || m->blocks == NULL)
		return -ENOMEM;
	ret = make_sim(m, cfg);
	if (ret == 0 && m->managed != NULL)
		ret = wf_umad_start(d);
	if (ret == 0)
		ret = fill_table(m, cfg);
	for (uint32_t i = 0; ret == 0 && i < m->topo->n_hosts; i++)
		(void)wf_model_host_port(d, i, &d->table->host[i]);
	if (ret == 0)
		ret = wf_watch_add(d->epoll, m->wake, EPOLLIN, &m->watch);
	return ret != 0 ? ret : wf_watch_add(d->epoll, m->timer, EPOLLIN, &m->watch);
}

void wf_model_close(struct wf_daemon *d)
{
	struct wf_dmodel *m = d->model;

	if (m == NULL)
		return;
	d->model = NULL;
	wf_sim_destroy(m->sim);
	wf_managed_destroy(m->managed);
	for (uint32_t i = 0; i < m->n_blocks; i++)
		free(m->blocks[i]);
	free(m->blocks);
	free(m->clients);
	if (m->wake >= 0)
		close(m->wake);
	if (m->timer >= 0)
		close(m->timer);
	free(m);
}
