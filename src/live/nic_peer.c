/* SPDX-License-Identifier: Apache-2.0 */
/* nic_peer.c - the programs and groups this one talks to, and what the daemon says of them. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/client.h"
#include "live/nic_priv.h"
#include "rdma/xrc.h"
#include "live/sock.h"
#include "wire/byte.h"

#define TRY_AGAIN (100 * WF_MS) /* before the daemon is asked again for who was not there */
#define MAX_PEERS (UINT32_C(1) << 20)

void wf_nic_asking(struct wf_nic *nic)
{
	wf_nic_unlock(nic);
	pthread_mutex_lock(&nic->asking);
	wf_nic_lock(nic);
}

void wf_nic_asked(struct wf_nic *nic)
{
	assert(nic->locked);
	pthread_mutex_unlock(&nic->asking);
}

int wf_nic_ask(struct wf_nic *nic, struct wf_live_req *req, struct wf_live_reply *reply,
               int fds[WF_LIVE_MAX_FDS])
{
	int ret;

	memset(reply, 0, sizeof(*reply));
	if (nic->orphan || nic->forked)
		return -ENODEV;
	wf_nic_unlock(nic);
	ret = wf_client_ask(nic->sock, req, reply, fds, WF_CLIENT_FOR_EVER);
	wf_nic_lock(nic);
	return ret;
}

static struct wf_nic_peer *find_peer(const struct wf_nic *nic, uint32_t host, uint32_t slot)
{
	for (uint32_t i = 0; i < nic->n_peers; i++) {
		struct wf_nic_peer *p = nic->peers[i];

		if (p->host == host && p->slot == slot && p->link != WF_NIC_GONE)
			return p;
	}
	return NULL;
}

static struct wf_nic_peer *add_peer(struct wf_nic *nic, uint32_t host, uint32_t slot)
{
	struct wf_nic_peer *p;

	if (nic->n_peers == nic->max_peers) {
		uint32_t n = nic->max_peers != 0 ? 2 * nic->max_peers : 16;
		struct wf_nic_peer **more =
			n > MAX_PEERS ? NULL
				      : realloc(nic->peers, n * sizeof(struct wf_nic_peer *));

		if (more == NULL)
			return NULL;
		nic->peers = more;
		nic->max_peers = n;
	}
	assert(nic->n_peers < nic->max_peers);
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->host = host;
	p->slot = slot;
	p->tried = -TRY_AGAIN;
	nic->peers[nic->n_peers++] = p;
	return p;
}

static void set_link(struct wf_nic *nic, struct wf_nic_peer *p, enum wf_nic_link to)
{
	assert(p->link != WF_NIC_GONE && p->link != to);
	nic->n_asked += (uint32_t)(to == WF_NIC_ASKED) - (uint32_t)(p->link == WF_NIC_ASKED);
	p->link = to;
	if (to == WF_NIC_ABSENT && nic->last == p)
		nic->last = NULL;
	assert(nic->n_asked <= nic->n_peers);
}

void wf_nic_unhold(struct wf_nic *nic, struct wf_nic_peer *p)
{
	assert(p->staged == NULL);
	p->full = p->waits = false;
	for (uint32_t i = 0; i < p->n_held; i++) {
		struct wf_qp *qp = wf_hca_qp(nic->hca, p->held[i]);

		if (qp != NULL)
			wf_qp_hold(qp, false);
	}
	p->n_held = 0;
}

/* Nothing waits for it any more. */
static void let_go(struct wf_nic *nic, struct wf_nic_peer *p)
{
	while (p->staged != NULL) {
		struct wf_nic_staged *s = p->staged;

		p->staged = s->next;
		nic->dropped++;
		free(s);
	}
	wf_nic_unhold(nic, p);
}

int wf_nic_murmur(struct wf_nic *nic, struct wf_live_req *req)
{
	req->version = WF_LIVE_VERSION;
	if (nic->orphan || nic->forked)
		return -ENODEV;
	return wf_sock_send(nic->events, req, wf_live_req_bytes(req), NULL, 0, false);
}

/* There is no memory for a link that the daemon counts as made: it may be made again later. */
static void refuse_link(struct wf_nic *nic, uint32_t host, uint32_t slot)
{
	struct wf_live_req req = { .op = WF_LIVE_UNLINK };

	req.connect.host = host;
	req.connect.slot = slot;
	(void)!wf_nic_murmur(nic, &req);
}

/* Makes the pipe whose memory and wake-up are in fds, which it takes over. */
static void join_pipe(struct wf_nic *nic, struct wf_nic_peer *p, unsigned side, const int fds[2])
{
	int ret = -EALREADY;

	if (!wf_nic_is_linked(p)) {
		ret = wf_pipe_open(&p->pipe, fds[0], side, fds[1]);
		if (ret == 0)
			set_link(nic, p, WF_NIC_LINKED);
		else if (p->link == WF_NIC_ASKED)
			set_link(nic, p, WF_NIC_ABSENT);
		if (ret != 0)
			refuse_link(nic, p->host, p->slot);
	}
	if (ret != 0)
		close(fds[1]);
	close(fds[0]);
	if (ret == 0)
		wf_drive_new_peer(nic, p);
	else if (!wf_nic_is_linked(p))
		let_go(nic, p);
	/* What waits is sent by who comes next to wf_nic_progress(), and asks for more room. */
	p->waits = p->full;
}

/* Asks for a link. */
static void ask_link(struct wf_nic *nic, struct wf_nic_peer *p)
{
	struct wf_live_req req = { .op = WF_LIVE_CONNECT };

	assert(p->link == WF_NIC_ABSENT);
	p->tried = wf_nic_now(nic);
	if (p->host == nic->host && p->slot == nic->slot) {
		if (wf_pipe_open_self(&p->pipe) == 0)
			set_link(nic, p, WF_NIC_LINKED);
		nic->self = p;
		return;
	}
	req.connect.host = p->host;
	req.connect.slot = p->slot;
	if (wf_nic_murmur(nic, &req) != 0)
		return;
	/* Through the model: this program hears of its end, and that is all. */
	if (nic->model != NULL && p->host < nic->table->n_hosts && p->host != nic->host)
		p->tried = WF_TIME_NEVER;
	else
		set_link(nic, p, WF_NIC_ASKED);
	nic->asked = p->tried;
}

/*
 * The same for a program's call that may wait. Returns the peer, which may be another one by then,
 * or NULL: no memory.
 */
static struct wf_nic_peer *make_link(struct wf_nic *nic, uint32_t host, uint32_t slot)
{
	struct wf_live_req req = { .op = WF_LIVE_CONNECT };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	struct wf_nic_peer *p;
	int ret;

	req.connect.host = host;
	req.connect.slot = slot;
	ret = wf_nic_ask(nic, &req, &reply, fds);
	p = find_peer(nic, host, slot);
	if (p == NULL)
		p = add_peer(nic, host, slot);
	if (ret == 0 && reply.n_fds == 2 && p != NULL) {
		join_pipe(nic, p, reply.connect.side, fds);
		return p;
	}
	for (unsigned i = 0; ret == 0 && i < reply.n_fds; i++)
		close(fds[i]);
	if (ret == 0 && reply.n_fds != 0)
		refuse_link(nic, host, slot);
	if (ret == -EALREADY)
		wf_nic_events(nic); /* it was sent to us before the answer was */
	return p;
}

int wf_nic_open_model(struct wf_nic *nic)
{
	struct wf_nic_peer *p;

	wf_nic_asking(nic);
	p = make_link(nic, WF_LIVE_MODEL, 0);
	wf_nic_asked(nic);
	if (p == NULL)
		return -ENOMEM;
	if (!wf_nic_is_linked(p))
		return -EPROTO;
	/* What waits here has not left the host: the less, the better; see struct wf_live_table. */
	if (nic->table->tx_room < WF_RING_BYTES)
		p->pipe.tx.less = WF_RING_BYTES - nic->table->tx_room;
	nic->model = p;
	return 0;
}

struct wf_nic_peer *wf_nic_sender(struct wf_nic *nic, uint32_t program)
{
	uint32_t host = wf_live_program_host(program), slot = wf_live_program_slot(program);
	struct wf_nic_peer *p = nic->sender;

	if (wf_likely(p != NULL && p->host == host && p->slot == slot && p->link != WF_NIC_GONE))
		return p;
	p = find_peer(nic, host, slot);
	if (p == NULL && host < nic->table->n_hosts)
		p = add_peer(nic, host, slot);
	nic->sender = p;
	return p;
}

static uint32_t place_of(uint32_t number)
{
	return number & (WF_LIVE_REMOTES - 1);
}

int wf_nic_know_remote(struct wf_nic *nic, uint32_t number, const uint8_t gid[16], bool held)
{
	uint32_t i = place_of(number);

	if ((number & ~(WF_LIVE_REMOTE_NUMBERS - 1)) != WF_LIVE_REMOTE)
		return -EPROTO;
	if (i < nic->n_remotes && nic->remotes[i].number == number)
		held = held || nic->remotes[i].held;
	if (i >= nic->n_remotes) {
		uint32_t n = nic->n_remotes != 0 ? nic->n_remotes : 64;
		struct wf_nic_remote *more;

		while (n <= i)
			n *= 2;
		more = realloc(nic->remotes, n * sizeof(*more));
		if (more == NULL)
			return -ENOMEM;
		memset(more + nic->n_remotes, 0, (n - nic->n_remotes) * sizeof(*more));
		nic->remotes = more;
		nic->n_remotes = n;
	}
	assert(i < nic->n_remotes && nic->n_remotes <= WF_LIVE_REMOTES);
	nic->remotes[i].number = number;
	nic->remotes[i].held = held;
	memcpy(nic->remotes[i].gid, gid, 16);
	return 0;
}

static int ask_remote(struct wf_nic *nic, struct wf_live_req *req, uint32_t *number_p)
{
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	int ret = wf_nic_ask(nic, req, &reply, fds);

	if (ret == 0)
		ret = wf_nic_know_remote(nic, reply.remote.number, reply.remote.gid,
		                         req->op == WF_LIVE_REMOTE_NUMBER);
	if (ret == 0)
		*number_p = reply.remote.number;
	return ret;
}

/* The number of an address outside of the fabric, if this program has asked for it. */
static bool find_remote(const struct wf_nic *nic, const uint8_t gid[16], uint32_t *number_p)
{
	for (uint32_t i = 0; i < nic->n_remotes; i++) {
		if (nic->remotes[i].held && memcmp(nic->remotes[i].gid, gid, 16) == 0) {
			*number_p = nic->remotes[i].number;
			return true;
		}
	}
	return false;
}

/* The same, asking for it where it is not known, and for the link to all that are outside. */
static int reach_remote(struct wf_nic *nic, const uint8_t gid[16], uint32_t *number_p)
{
	struct wf_live_req req = { .op = WF_LIVE_REMOTE_NUMBER };
	const struct wf_nic_peer *p;
	int ret = 0;

	wf_nic_asking(nic);
	if (!find_remote(nic, gid, number_p)) {
		memcpy(req.remote.gid, gid, sizeof(req.remote.gid));
		ret = ask_remote(nic, &req, number_p);
	}
	/* The pipe is made now, so that what comes first finds it. */
	p = ret != 0 ? NULL : wf_nic_peer(nic, *number_p, 0);
	if (p != NULL && !wf_nic_is_linked(p))
		p = make_link(nic, p->host, p->slot);
	if (ret == 0 && p == NULL)
		ret = -ENOMEM;
	wf_nic_asked(nic);
	return ret;
}

bool wf_nic_gid_known(const struct wf_nic *nic, uint32_t host, uint32_t index, uint8_t gid[16])
{
	uint32_t i = place_of(host);

	if ((host & WF_LIVE_REMOTE) == 0)
		return wf_live_gid(nic->table, host, index, gid);
	if (i >= nic->n_remotes || nic->remotes[i].number != host)
		return false;
	memcpy(gid, nic->remotes[i].gid, 16);
	return true;
}

bool wf_nic_gid(struct wf_nic *nic, uint32_t host, uint32_t index, uint8_t gid[16])
{
	struct wf_live_req req = { .op = WF_LIVE_REMOTE_GID };
	uint32_t number;
	bool known;

	if ((host & WF_LIVE_REMOTE) == 0 || wf_nic_gid_known(nic, host, index, gid))
		return wf_nic_gid_known(nic, host, index, gid);
	req.remote.number = host;
	wf_nic_asking(nic);
	known = ask_remote(nic, &req, &number) == 0 && number == host &&
	        wf_nic_gid_known(nic, host, index, gid);
	wf_nic_asked(nic);
	return known;
}

struct wf_nic_peer *wf_nic_peer(struct wf_nic *nic, uint32_t host, uint32_t slot)
{
	bool remote = (host & WF_LIVE_REMOTE) != 0;
	struct wf_nic_peer *p;

	if (wf_unlikely(remote)) {
		host = WF_LIVE_REMOTE;
		slot = 0;
	}
	p = find_peer(nic, host, slot);
	if (p == NULL)
		p = add_peer(nic, host, slot);
	if (p == NULL)
		return NULL;
	if (p->link == WF_NIC_ABSENT && p->tried != WF_TIME_NEVER &&
	    wf_nic_now(nic) - p->tried >= TRY_AGAIN)
		ask_link(nic, p);
	/* For who is not there the daemon is asked again, when a packet comes here. */
	nic->last = p->link != WF_NIC_ABSENT ? p : NULL;
	return p;
}

/* What a queue pair's P_Key is by its index. */
static void take_pkeys(struct wf_nic *nic)
{
	uint16_t pkeys[WF_LIVE_PKEYS];

	wf_live_pkeys(nic->table, nic->host, pkeys);
	wf_hca_set_pkeys(nic->hca, pkeys, WF_LIVE_PKEYS);
}

/*
 * By what the events say, one after the other: by now the port may be up again, which is two
 * events. What management sets of a port is there before it is active.
 */
static void port_changed(struct wf_nic *nic, bool active, uint32_t what)
{
	static const struct {
		uint32_t bit;
		enum wf_event_type event;
	} rows[] = {
		{ WF_LIVE_PORT_LID, WF_EVENT_LID_CHANGE },
		{ WF_LIVE_PORT_SM, WF_EVENT_SM_CHANGE },
		{ WF_LIVE_PORT_GID, WF_EVENT_GID_CHANGE },
		{ WF_LIVE_PORT_REREGISTER, WF_EVENT_CLIENT_REREGISTER },
	};
	bool was = nic->active;

	nic->active = active;
	if (was && !active)
		wf_hca_port_event(nic->hca, WF_EVENT_PORT_ERR);
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		if ((what & rows[i].bit) != 0)
			wf_hca_port_event(nic->hca, rows[i].event);
	}
	if ((what & WF_LIVE_PORT_PKEYS) != 0)
		take_pkeys(nic);
	if (!was && active)
		wf_hca_port_event(nic->hca, WF_EVENT_PORT_ACTIVE);
}

/*
 * The daemon is gone, and with it the device: nobody can make links, tell of ends or keep the
 * fabric. The program hears of it, and what it has outstanding ends.
 */
static void become_orphan(struct wf_nic *nic)
{
	if (nic->orphan)
		return;
	nic->orphan = true;
	for (uint32_t i = 0; i < nic->n_peers; i++) {
		struct wf_nic_peer *p = nic->peers[i];

		if (p->link != WF_NIC_ASKED)
			continue;
		set_link(nic, p, WF_NIC_ABSENT);
		let_go(nic, p);
	}
	port_changed(nic, false, 0);
	wf_hca_port_event(nic->hca, WF_EVENT_DEVICE_FATAL);
	wf_hca_fail(nic->hca);
	wf_nic_gsi_orphan(nic);
}

void wf_nic_peer_break(struct wf_nic *nic, struct wf_nic_peer *p)
{
	if (p->link == WF_NIC_GONE)
		return;
	/* The way to all others stays where it is, and leads nowhere. */
	if (p == nic->model) {
		become_orphan(nic);
		return;
	}
	if (wf_nic_is_linked(p))
		wf_pipe_close(&p->pipe);
	set_link(nic, p, WF_NIC_GONE);
	nic->reap = true;
	if (nic->last == p)
		nic->last = NULL;
	let_go(nic, p);
}

static void free_peer(struct wf_nic *nic, struct wf_nic_peer *p)
{
	assert(p->link == WF_NIC_GONE && p->bound == 0 && p->staged == NULL);
	assert(p != nic->last && p != nic->model);
	if (nic->sender == p)
		nic->sender = NULL;
	if (nic->placed == p)
		nic->placed = NULL;
	if (nic->self == p)
		nic->self = NULL;
	free(p->held);
	free(p);
}

void wf_nic_set_bound(struct wf_nic *nic, struct wf_nic_bound *bound, struct wf_nic_peer *peer)
{
	struct wf_nic_peer *old = bound->peer, **at = &nic->gone;

	bound->peer = peer;
	if (peer != NULL)
		peer->bound++;
	if (old == NULL)
		return;
	assert(old->bound > 0);
	old->bound--;
	if (old->bound != 0 || old->link != WF_NIC_GONE)
		return;
	/* One that is still in the list of peers goes with wf_nic_reap(). */
	while (*at != NULL && *at != old)
		at = &(*at)->next;
	if (*at == NULL)
		return;
	*at = old->next;
	free_peer(nic, old);
}

void wf_nic_reap(struct wf_nic *nic)
{
	uint32_t kept = 0;

	assert(nic->last == NULL || nic->last->link == WF_NIC_ASKED ||
	       nic->last->link == WF_NIC_LINKED);
	nic->reap = false;
	for (uint32_t i = 0; i < nic->n_peers; i++) {
		struct wf_nic_peer *p = nic->peers[i];

		if (p->link != WF_NIC_GONE) {
			nic->peers[kept++] = p;
		} else if (p->bound != 0) {
			p->next = nic->gone;
			nic->gone = p;
		} else {
			free_peer(nic, p);
		}
	}
	nic->n_peers = kept;
}

struct wf_nic_group *wf_nic_group(struct wf_nic *nic, uint32_t number)
{
	for (uint32_t i = 0; i < nic->n_groups; i++) {
		if (nic->groups[i]->number == number)
			return nic->groups[i];
	}
	return NULL;
}

static struct wf_nic_group *add_group(struct wf_nic *nic, const uint8_t gid[16], uint32_t number)
{
	struct wf_nic_group *g = wf_nic_group(nic, number);
	struct wf_nic_group **more;

	if (g != NULL) {
		memcpy(g->gid, gid, sizeof(g->gid));
		return g;
	}
	more = realloc(nic->groups, (nic->n_groups + 1) * sizeof(*more));
	if (more == NULL)
		return NULL;
	nic->groups = more;
	g = calloc(1, sizeof(*g));
	if (g == NULL)
		return NULL;
	memcpy(g->gid, gid, sizeof(g->gid));
	g->number = number;
	nic->groups[nic->n_groups++] = g;
	return g;
}

static struct wf_nic_group *find_group(const struct wf_nic *nic, const uint8_t gid[16])
{
	for (uint32_t i = 0; i < nic->n_groups; i++) {
		if (memcmp(nic->groups[i]->gid, gid, 16) == 0)
			return nic->groups[i];
	}
	return NULL;
}

static int ask_group(struct wf_nic *nic, uint32_t op, const uint8_t gid[16],
                     struct wf_nic_group **g_p)
{
	struct wf_live_req req = { .op = op };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	int ret;

	memcpy(req.group.gid, gid, sizeof(req.group.gid));
	ret = wf_nic_ask(nic, &req, &reply, fds);
	if (ret != 0)
		return ret;
	*g_p = add_group(nic, gid, reply.group.group);
	return *g_p == NULL ? -ENOMEM : 0;
}

/* The number of a group that packets are to be sent to. */
static int reach_group(struct wf_nic *nic, const uint8_t gid[16], uint32_t *number_p)
{
	struct wf_nic_group *g = find_group(nic, gid);
	int ret = 0;

	if (g == NULL || !g->known) {
		wf_nic_asking(nic);
		/* Who is in it comes before the answer: if that could not be kept, once more. */
		do {
			nic->missed = 0;
			ret = ask_group(nic, WF_LIVE_GROUP_SEND, gid, &g);
			if (ret == 0) {
				g->known = true;
				wf_nic_events(nic);
			}
		} while (ret == 0 && nic->missed == g->number);
		wf_nic_asked(nic);
	}
	if (ret == 0)
		*number_p = g->number;
	return ret;
}

int wf_nic_resolve(struct wf_nic *nic, struct wf_ah_attr *attr)
{
	const struct wf_nic_peer *p;
	int host;

	if (attr->is_global && wf_live_is_group(attr->dgid)) {
		attr->by_lid = nic->table->managed != 0;
		return reach_group(nic, attr->dgid, &attr->dest);
	}
	if (nic->table->layer == WF_LIVE_ROCE || (attr->is_global && attr->dlid == 0))
		host = attr->is_global ? wf_live_host_of_gid(nic->table, attr->dgid) : -1;
	else
		host = wf_live_host_of_lid(nic->table, attr->dlid);
	if (nic->table->managed != 0) {
		attr->by_lid = true;
		if (host >= 0 && attr->is_global && attr->dlid == 0)
			attr->dlid = nic->table->host[host].lid;
	}
	if (host >= 0) {
		attr->dest = (uint32_t)host;
		return 0;
	}
	/* The wire is UDP, which RoCE v1 is not. */
	if (!attr->is_global || attr->roce1 || !wf_nic_is_outside(nic, attr->dgid))
		return -EHOSTUNREACH;
	p = find_peer(nic, WF_LIVE_REMOTE, 0);
	if (p != NULL && wf_nic_is_linked(p) && find_remote(nic, attr->dgid, &attr->dest))
		return 0;
	return reach_remote(nic, attr->dgid, &attr->dest);
}

bool wf_nic_is_outside(const struct wf_nic *nic, const uint8_t gid[16])
{
	return wf_live_host_of_gid(nic->table, gid) < 0 &&
	       (nic->table->host[nic->host].wire & 1u << wf_live_source(gid)) != 0;
}

int wf_nic_join(struct wf_nic *nic, struct wf_qp *qp, const uint8_t gid[16])
{
	uint32_t qpn = wf_qp_num(qp);
	struct wf_nic_group *g;
	int ret;

	wf_nic_asking(nic);
	ret = ask_group(nic, WF_LIVE_GROUP_JOIN, gid, &g);
	if (ret == 0)
		ret = wf_hca_qp(nic->hca, qpn) != qp ? -EINVAL : wf_qp_attach_mcast(qp, g->number);
	if (ret == 0)
		g->joined++;
	wf_nic_asked(nic);
	return ret;
}

int wf_nic_leave(struct wf_nic *nic, struct wf_qp *qp, const uint8_t gid[16])
{
	uint32_t qpn = wf_qp_num(qp);
	struct wf_nic_group *g;
	int ret = -EINVAL;

	wf_nic_asking(nic);
	g = find_group(nic, gid);
	if (g != NULL && wf_hca_qp(nic->hca, qpn) == qp)
		ret = wf_qp_detach_mcast(qp, g->number);
	if (ret == 0 && g->joined > 0 && --g->joined == 0)
		ret = ask_group(nic, WF_LIVE_GROUP_LEAVE, gid, &g);
	wf_nic_asked(nic);
	return ret;
}

int wf_nic_join_host(struct wf_nic *nic, const uint8_t gid[16], bool ipoib, uint32_t *cookie_p)
{
	struct wf_live_req req = { .op = WF_LIVE_JOIN };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	int ret;

	*cookie_p = ++nic->cookies;
	memcpy(req.join.gid, gid, sizeof(req.join.gid));
	req.join.cookie = *cookie_p;
	req.join.ipoib = ipoib;
	wf_nic_asking(nic);
	ret = wf_nic_ask(nic, &req, &reply, fds);
	wf_nic_asked(nic);
	return ret;
}

void wf_nic_leave_host(struct wf_nic *nic, uint32_t cookie)
{
	struct wf_live_req req = { .op = WF_LIVE_JOIN_END };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];

	req.join.cookie = cookie;
	wf_nic_asking(nic);
	(void)!wf_nic_ask(nic, &req, &reply, fds);
	wf_nic_asked(nic);
}

/* It may come before the answer to the question for it, which brings the group's GID. */
static void take_group(struct wf_nic *nic, const struct wf_live_event *event)
{
	static const uint8_t no_gid[16];
	struct wf_nic_group *g = wf_nic_group(nic, event->group.group);

	if (g == NULL)
		g = add_group(nic, no_gid, event->group.group);
	if (g == NULL)
		nic->missed = event->group.group;
	if (g == NULL || event->group.n > WF_LIVE_GROUP_PORTS)
		return;
	g->n = event->group.n;
	memcpy(g->port, event->group.port, g->n * sizeof(g->port[0]));
}

/* Nobody reads what is sent to it. It is there, so that it may be asked for another link. */
static void part(struct wf_nic *nic, struct wf_nic_peer *p)
{
	if (p == nic->model || p == nic->self)
		return;
	wf_pipe_close(&p->pipe);
	set_link(nic, p, WF_NIC_ABSENT);
	p->touched = p->told = p->watched = false;
	p->blocked = 0;
	p->tried = wf_nic_now(nic);
	let_go(nic, p);
	/* What was sent by it is under way no longer. */
	for (uint32_t i = 0; i < 1u << WF_LIVE_QPN_BITS && p->bound != 0; i++) {
		if (nic->bound[i].peer == p)
			nic->bound[i].sent = 0;
	}
}

static void take_event(struct wf_nic *nic, const struct wf_live_event *event, const int *fds,
                       unsigned n_fds)
{
	struct wf_nic_peer *p;

	switch (event->type) {
	case WF_LIVE_EV_LINK:
		if (n_fds != 2)
			break;
		p = find_peer(nic, event->link.host, event->link.slot);
		if (p == NULL)
			p = add_peer(nic, event->link.host, event->link.slot);
		if (p == NULL) {
			refuse_link(nic, event->link.host, event->link.slot);
			break;
		}
		join_pipe(nic, p, event->link.side, fds);
		return;
	case WF_LIVE_EV_UNLINK:
		p = find_peer(nic, event->link.host, event->link.slot);
		if (p != NULL && wf_nic_is_linked(p))
			part(nic, p);
		break;
	case WF_LIVE_EV_NO_LINK:
		p = find_peer(nic, event->link.host, event->link.slot);
		if (p == NULL || p->link != WF_NIC_ASKED)
			break;
		set_link(nic, p, WF_NIC_ABSENT);
		let_go(nic, p);
		break;
	case WF_LIVE_EV_SERVICE:
		wf_nic_gsi_found(nic, event->service.host, event->service.id, event->service.slot);
		break;
	case WF_LIVE_EV_GONE:
		/* What it has sent has come by now: it waits in a ring. */
		if (nic->model != NULL)
			wf_nic_drain(nic, nic->model);
		p = find_peer(nic, event->gone.host, event->gone.slot);
		if (p == NULL)
			break;
		wf_nic_drain(nic, p);
		if (p->host == nic->host)
			wf_xrc_forget(nic->hca, p->slot << WF_LIVE_QPN_BITS,
			              UINT32_C(1) << WF_LIVE_QPN_BITS);
		wf_nic_peer_break(nic, p);
		wf_nic_gsi_gone(nic, event->gone.host, event->gone.slot);
		break;
	case WF_LIVE_EV_GROUP:
		take_group(nic, event);
		break;
	case WF_LIVE_EV_JOINED:
		if (nic->cfg.joined != NULL)
			nic->cfg.joined(nic->cfg.arg, &event->joined);
		break;
	case WF_LIVE_EV_PORT:
		wf_nic_unblock(nic);
		port_changed(nic, event->port.state == WF_LIVE_PORT_ACTIVE, event->port.what);
		break;
	case WF_LIVE_EV_TAP:
		if (n_fds != 1)
			break;
		wf_nic_tap_add(nic, event->tap.capture, event->tap.snaplen, fds[0]);
		return;
	case WF_LIVE_EV_TAP_END:
		wf_nic_tap_remove(nic, event->tap.capture);
		break;
	default:
		break;
	}
	while (n_fds > 0)
		close(fds[--n_fds]);
}

void wf_nic_events(struct wf_nic *nic)
{
	int fds[WF_LIVE_MAX_FDS];
	struct wf_live_event event;
	unsigned n;

	while (!nic->orphan && nic->events >= 0) {
		int ret = wf_sock_recv(nic->events, &event, sizeof(event), fds, &n, false);

		if (ret == -EAGAIN)
			break;
		if (ret <= 0 || (size_t)ret != wf_live_event_bytes(&event)) {
			while (n > 0)
				close(fds[--n]);
			become_orphan(nic);
			break;
		}
		take_event(nic, &event, fds, n);
	}
}
