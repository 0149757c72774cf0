/* SPDX-License-Identifier: Apache-2.0 */
/* join.c - MCMemberRecord for the programs of a host. */
#include "live/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live/umad_priv.h"
#include "wire/byte.h"
#include "wire/ib.h"
#include "wire/sa.h"
#include "wire/transport.h"

#define MAX_JOINS 16384       /* of all programs */
#define TIMEOUT (300 * WF_MS) /* Linux: 3 s, in ten tries */
#define RETRIES 10
#define UDP_QKEY 0x01234567 /* of groups in rdma_cm's port space UDP */
#define EXACTLY 2           /* selector */

/* What rdma_cm asks for. */
#define COMPONENTS                                                                                 \
	(WF_COMPONENT(WF_MC_C_MGID) | WF_COMPONENT(WF_MC_C_PORT_GID) |                             \
	 WF_COMPONENT(WF_MC_C_JOIN_STATE) | WF_COMPONENT(WF_MC_C_PKEY) |                           \
	 WF_COMPONENT(WF_MC_C_QKEY) | WF_COMPONENT(WF_MC_C_SL) |                                   \
	 WF_COMPONENT(WF_MC_C_FLOW_LABEL) | WF_COMPONENT(WF_MC_C_TCLASS))
#define COMPONENTS_IPOIB                                                                           \
	(WF_COMPONENT(WF_MC_C_RATE) | WF_COMPONENT(WF_MC_C_RATE_SELECTOR) |                        \
	 WF_COMPONENT(WF_MC_C_MTU) | WF_COMPONENT(WF_MC_C_MTU_SELECTOR) |                          \
	 WF_COMPONENT(WF_MC_C_HOP_LIMIT))
#define COMPONENTS_LEAVE                                                                           \
	(WF_COMPONENT(WF_MC_C_MGID) | WF_COMPONENT(WF_MC_C_PORT_GID) |                             \
	 WF_COMPONENT(WF_MC_C_JOIN_STATE))

/* A program in a group. */
struct join {
	struct join *next;
	struct wf_dclient *client;
	uint32_t cookie;
	bool told; /* that it is */
};

/* A group of a host. */
struct group {
	struct group *next;
	struct host *host;
	uint8_t mgid[16];
	bool ipoib; /* in IPoIB's port space: like the broadcast group in everything */
	enum { OUT, ASKS, JOINS, IN, LEAVES } state;
	bool again; /* the port has another manager since it was asked */
	struct wf_mc_member_record broadcast, record;
	struct join *joins;
};

struct host {
	struct wf_daemon *d;
	struct wf_mux_agent *agent; /* NULL: none of its programs has joined anything */
	uint32_t number;
};

struct wf_djoins {
	struct host *host;
	struct group *groups;
	uint32_t n, requests;
	bool closing;
};

static bool is_pending(const struct group *g)
{
	return g->state == ASKS || g->state == JOINS || g->state == LEAVES;
}

/* ---- what is asked ---- */

static uint16_t pkey_index(const struct wf_live_host *h)
{
	for (uint16_t i = 0; i < WF_LIVE_PKEYS; i++) {
		if ((h->ib.pkey[i] & 0x7fff) == (WF_PKEY_DEFAULT & 0x7fff))
			return i;
	}
	return 0;
}

/* Sends a request about a group. Returns 0 or -errno: -EAGAIN: the port knows of no manager. */
static int ask(struct group *g, uint8_t method, uint64_t components,
               const struct wf_mc_member_record *r)
{
	struct wf_daemon *d = g->host->d;
	const struct wf_live_host *h = &d->table->host[g->host->number];
	struct wf_mad head = {
		.base_version = 1,
		.mgmt_class = WF_MAD_CLASS_SA,
		.class_version = WF_SA_CLASS_VERSION,
		.method = method,
		.tid = ++d->joins->requests,
		.attr_id = WF_SA_MC_MEMBER,
	};
	struct wf_sa_hdr sa = { .comp_mask = components };
	struct wf_mux_addr to = {
		.lid = h->ib.sm_lid,
		.sl = h->ib.sm_sl,
		.pkey_index = pkey_index(h),
		.qpn = WF_QPN_GSI,
		.qkey = WF_QKEY_GMP,
	};
	uint8_t mad[WF_MAD_LEN] = { 0 };

	if (to.lid == 0 || d->model == NULL)
		return -EAGAIN;
	wf_mad_encode(&head, mad);
	wf_sa_hdr_encode(&sa, mad);
	wf_mc_member_record_encode(r, mad + WF_SA_DATA);
	return wf_mux_send(g->host->agent, &to, mad, sizeof(mad), TIMEOUT, RETRIES, g);
}

/* The broadcast group of the group's partition. */
static int ask_broadcast(struct group *g)
{
	struct wf_mc_member_record r = { .mgid = { 0xff, 0x12, 0x40, 0x1b } };

	memcpy(r.mgid + 4, g->mgid + 4, 2);
	memset(r.mgid + 12, 0xff, 4);
	g->state = ASKS;
	return ask(g, WF_MAD_METHOD_GET, WF_COMPONENT(WF_MC_C_MGID), &r);
}

/* The group, and this host's port in it. */
static void name_member(const struct group *g, struct wf_mc_member_record *r)
{
	*r = (struct wf_mc_member_record){ .join_state = WF_MC_FULL_MEMBER };
	memcpy(r->mgid, g->mgid, sizeof(r->mgid));
	(void)wf_live_gid(g->host->d->table, g->host->number, WF_LIVE_GID_LOCAL, r->port_gid);
}

static int ask_in(struct group *g)
{
	const struct wf_mc_member_record *like = &g->broadcast;
	uint64_t components = COMPONENTS;
	struct wf_mc_member_record r;

	name_member(g, &r);
	r.pkey = WF_PKEY_DEFAULT;
	r.qkey = UDP_QKEY;
	r.sl = like->sl;
	r.flow_label = like->flow_label;
	r.tclass = like->tclass;
	if (g->ipoib) {
		components |= COMPONENTS_IPOIB;
		r.qkey = like->qkey;
		r.rate_selector = r.mtu_selector = EXACTLY;
		r.rate = like->rate;
		r.mtu = like->mtu;
		r.hop_limit = like->hop_limit;
	}
	g->state = JOINS;
	return ask(g, WF_MAD_METHOD_SET, components, &r);
}

static int ask_out(struct group *g)
{
	struct wf_mc_member_record r;

	name_member(g, &r);
	g->state = LEAVES;
	return ask(g, WF_MAD_METHOD_DELETE, COMPONENTS_LEAVE, &r);
}

/* ---- what is told ---- */

static void tell(const struct group *g, struct join *j, int status)
{
	const struct wf_mc_member_record *r = &g->record;
	struct wf_live_event event = { .type = WF_LIVE_EV_JOINED };

	event.joined.cookie = j->cookie;
	event.joined.status = (int16_t)status;
	j->told = status == 0;
	if (status == 0) {
		event.joined.mlid = r->mlid;
		event.joined.qkey = r->qkey;
		event.joined.flow_label = r->flow_label;
		event.joined.sl = r->sl;
		event.joined.mtu = r->mtu;
		event.joined.rate = r->rate;
		event.joined.tclass = r->tclass;
		event.joined.hop_limit = r->hop_limit;
	}
	wf_daemon_tell(j->client, &event, NULL);
}

static void drop(struct wf_daemon *d, struct join **at)
{
	struct join *j = *at;

	*at = j->next;
	free(j);
	d->joins->n--;
}

/* Who waits hears that it is not in the group. */
static void fail(struct group *g, int status)
{
	struct join **at = &g->joins;

	g->state = OUT;
	while (*at != NULL) {
		if ((*at)->told) {
			at = &(*at)->next;
			continue;
		}
		tell(g, *at, status);
		drop(g->host->d, at);
	}
}

/* ---- the states of a group ---- */

static bool is_awaited(const struct group *g)
{
	for (const struct join *j = g->joins; j != NULL; j = j->next) {
		if (!j->told)
			return true;
	}
	return false;
}

static void free_group(struct group *g)
{
	struct group **at = &g->host->d->joins->groups;

	while (*at != g)
		at = &(*at)->next;
	*at = g->next;
	free(g);
}

/* Does what is next for a group of which nothing is asked; it may be gone afterwards. */
static void go_on(struct group *g)
{
	int ret = 0;

	if (g->state == IN && g->joins == NULL) {
		if (ask_out(g) != 0)
			g->state = OUT;
	} else if (g->joins != NULL && (g->again || (g->state == OUT && is_awaited(g)))) {
		g->again = false;
		ret = ask_broadcast(g);
	}
	if (ret != 0)
		fail(g, ret);
	if (g->state == OUT && g->joins == NULL)
		free_group(g);
}

/* r: what the answer has; NULL: there is none that is good, and status says why. */
static void take_answer(struct group *g, const struct wf_mc_member_record *r, int status)
{
	int ret;

	if (g->state == ASKS && r != NULL) {
		g->broadcast = *r;
		ret = ask_in(g);
		if (ret != 0)
			fail(g, ret);
	} else if (g->state == ASKS) {
		fail(g, status == -EINVAL ? -EADDRNOTAVAIL : status);
	} else if (g->state == JOINS && r != NULL) {
		g->record = *r;
		g->state = IN;
		for (struct join *j = g->joins; j != NULL; j = j->next) {
			if (!j->told)
				tell(g, j, 0);
		}
	} else if (g->state == JOINS) {
		fail(g, status);
	} else {
		g->state = OUT;
	}
	if (!is_pending(g))
		go_on(g);
}

static void hear(void *arg, const struct wf_mux_event *event)
{
	const struct host *h = arg;
	struct group *g = event->context;
	struct wf_mc_member_record r;
	struct wf_mad head;

	/* Nobody asks here; and who ends hears no more. */
	if (g == NULL || h->d->joins->closing)
		return;
	if (event->type != WF_MUX_RECV || event->length < WF_MAD_LEN) {
		take_answer(g, NULL, event->type == WF_MUX_FAILED ? event->status : -EINVAL);
		return;
	}
	wf_mad_decode(event->data, &head);
	wf_mc_member_record_decode(event->data + WF_SA_DATA, &r);
	take_answer(g, head.status == 0 ? &r : NULL, -EINVAL);
}

/* ---- what programs want ---- */

static int make_all(struct wf_daemon *d)
{
	struct wf_djoins *all = d->joins != NULL ? d->joins : calloc(1, sizeof(*all));

	if (all != NULL && all->host == NULL)
		all->host = calloc(d->table->n_hosts, sizeof(*all->host));
	d->joins = all;
	return all == NULL || all->host == NULL ? -ENOMEM : 0;
}

/* The host's agent. */
static int make_agent(struct wf_daemon *d, uint32_t number)
{
	struct host *h = &d->joins->host[number];
	struct wf_mux_agent_cfg cfg = { .qp = 1, .event = hear, .arg = h };
	struct wf_mux *mux;

	if (h->agent != NULL)
		return 0;
	h->d = d;
	h->number = number;
	mux = wf_umad_mux(d, number);
	return mux == NULL ? -ENOMEM : wf_mux_register(mux, &cfg, &h->agent);
}

static struct group *find_group(struct wf_daemon *d, uint32_t host, const uint8_t mgid[16])
{
	struct group *g = d->joins->groups;

	while (g != NULL && (g->host->number != host || memcmp(g->mgid, mgid, 16) != 0))
		g = g->next;
	return g;
}

static struct group *make_group(struct wf_daemon *d, uint32_t host, const uint8_t mgid[16],
                                bool ipoib)
{
	struct group *g = calloc(1, sizeof(*g));

	if (g == NULL)
		return NULL;
	g->host = &d->joins->host[host];
	g->ipoib = ipoib;
	memcpy(g->mgid, mgid, sizeof(g->mgid));
	g->next = d->joins->groups;
	d->joins->groups = g;
	return g;
}

int wf_join_begin(struct wf_daemon *d, struct wf_dclient *c, const struct wf_live_req *req)
{
	struct group *g;
	struct join *j;
	int ret;

	if (!c->attached || req->join.gid[0] != 0xff)
		return -EINVAL;
	if (d->umads == NULL || d->model == NULL)
		return -ENODEV;
	ret = make_all(d);
	if (ret == 0)
		ret = make_agent(d, c->host);
	if (ret != 0)
		return ret;
	j = d->joins->n < MAX_JOINS ? calloc(1, sizeof(*j)) : NULL;
	if (j == NULL)
		return -ENOMEM;
	g = find_group(d, c->host, req->join.gid);
	if (g == NULL)
		g = make_group(d, c->host, req->join.gid, req->join.ipoib != 0);
	if (g == NULL) {
		free(j);
		return -ENOMEM;
	}
	j->client = c;
	j->cookie = req->join.cookie;
	j->next = g->joins;
	g->joins = j;
	d->joins->n++;
	if (g->state == IN)
		tell(g, j, 0);
	else if (!is_pending(g))
		go_on(g);
	return 0;
}

/* Drops a program's joins of a group: that one, or (NULL) all. Returns whether there were any. */
static bool drop_joins(struct wf_daemon *d, struct group *g, const struct wf_dclient *c,
                       const uint32_t *cookie)
{
	struct join **at = &g->joins;
	bool any = false;

	while (*at != NULL) {
		if ((*at)->client != c || (cookie != NULL && (*at)->cookie != *cookie)) {
			at = &(*at)->next;
			continue;
		}
		drop(d, at);
		any = true;
	}
	if (any && !is_pending(g))
		go_on(g);
	return any;
}

int wf_join_end(struct wf_daemon *d, struct wf_dclient *c, uint32_t cookie)
{
	bool any = false;

	for (struct group *g = d->joins == NULL ? NULL : d->joins->groups, *next; g != NULL;
	     g = next) {
		next = g->next;
		any |= drop_joins(d, g, c, &cookie);
	}
	return any ? 0 : -ENOENT;
}

void wf_join_forget(struct wf_daemon *d, const struct wf_dclient *c)
{
	for (struct group *g = d->joins == NULL ? NULL : d->joins->groups, *next; g != NULL;
	     g = next) {
		next = g->next;
		(void)drop_joins(d, g, c, NULL);
	}
}

void wf_join_port(struct wf_daemon *d, uint32_t host, uint32_t what)
{
	bool back = (what & WF_LIVE_PORT_STATE) != 0 && wf_live_is_active(d->table, host);

	if (!back && (what & (WF_LIVE_PORT_SM | WF_LIVE_PORT_LID | WF_LIVE_PORT_REREGISTER)) == 0)
		return;
	for (struct group *g = d->joins == NULL ? NULL : d->joins->groups, *next; g != NULL;
	     g = next) {
		next = g->next;
		if (g->host->number != host)
			continue;
		g->again = true;
		if (!is_pending(g))
			go_on(g);
	}
}

void wf_join_close(struct wf_daemon *d)
{
	struct wf_djoins *all = d->joins;

	if (all == NULL)
		return;
	all->closing = true;
	for (uint32_t i = 0; all->host != NULL && i < d->table->n_hosts; i++) {
		if (all->host[i].agent != NULL)
			wf_mux_unregister(all->host[i].agent);
	}
	while (all->groups != NULL) {
		struct group *g = all->groups;

		all->groups = g->next;
		while (g->joins != NULL)
			drop(d, &g->joins);
		free(g);
	}
	free(all->host);
	free(all);
	d->joins = NULL;
}
