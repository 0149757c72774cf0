/* SPDX-License-Identifier: Apache-2.0 */
/* mux.c - agents, what they send and wait for, and who gets what comes. */
#include "mgmt/mux_priv.h"

#include <errno.h>
#include <string.h>

#include "mgmt/agent_priv.h"

#define CLASS_VENDOR_FROM 0x30
#define CLASS_VENDOR_TO 0x4f
#define OUI_AT 37
#define RMPP_FLAGS_AT 26
#define TID_AT 8

#define SEND_OF(member, ptr) wf_container_of(ptr, struct wf_mux_send, member)
#define AGENT_OF(ptr) wf_container_of(ptr, struct wf_mux_agent, link)
#define RECV_OF(ptr) wf_container_of(ptr, struct wf_mux_recv, agent_link)
#define CONTROL_OF(ptr) wf_container_of(ptr, struct wf_mux_control, ready)

int wf_mux_create(struct wf_mem *mem, struct wf_mux **mux_p)
{
	struct wf_mux *mux = mem->alloc(mem, sizeof(*mux));

	if (mux == NULL)
		return -ENOMEM;
	mux->mem = mem;
	wf_mux_link_init(&mux->agents);
	wf_mux_link_init(&mux->timers);
	for (unsigned qp = 0; qp < 2; qp++) {
		wf_mux_link_init(&mux->ready[qp]);
		wf_mux_link_init(&mux->controls[qp]);
	}
	for (unsigned i = 0; i < WF_MUX_HASH; i++)
		wf_mux_link_init(&mux->hash[i]);
	*mux_p = mux;
	return 0;
}

void wf_mux_destroy(struct wf_mux *mux)
{
	if (mux == NULL)
		return;
	while (!wf_mux_link_alone(&mux->agents))
		wf_mux_unregister(AGENT_OF(mux->agents.next));
	for (unsigned qp = 0; qp < 2; qp++) {
		while (!wf_mux_link_alone(&mux->controls[qp])) {
			struct wf_mux_control *control = CONTROL_OF(mux->controls[qp].next);

			wf_mux_link_del(&control->ready);
			mux->mem->free(mux->mem, control);
		}
	}
	mux->mem->free(mux->mem, mux);
}

void wf_mux_timer_set(struct wf_mux *mux, struct wf_mux_timer *timer, wf_time at)
{
	struct wf_mux_link *before = &mux->timers;

	wf_mux_link_del(&timer->link);
	timer->at = at;
	/* most are set for about the same while, so their place is near the end */
	while (before->prev != &mux->timers &&
	       wf_container_of(before->prev, struct wf_mux_timer, link)->at > at)
		before = before->prev;
	wf_mux_link_add(before, &timer->link);
}

void wf_mux_timer_stop(struct wf_mux_timer *timer)
{
	wf_mux_link_del(&timer->link);
}

static bool is_vendor(uint8_t mgmt_class)
{
	return mgmt_class >= CLASS_VENDOR_FROM && mgmt_class <= CLASS_VENDOR_TO;
}

static bool is_smp(uint8_t mgmt_class)
{
	return mgmt_class == WF_MAD_CLASS_SUBN_LID || mgmt_class == WF_MAD_CLASS_SUBN_DR;
}

unsigned wf_mux_data_offset(uint8_t mgmt_class)
{
	if (mgmt_class == WF_MAD_CLASS_SA)
		return WF_SA_DATA;
	if (mgmt_class == 0x06 || mgmt_class == 0x10 || mgmt_class == 0x12) /* devices, booting */
		return 64;
	return is_vendor(mgmt_class) ? 40 : WF_MAD_HEADER_LEN;
}

/* Classes whose header has RMPP's. */
static bool has_rmpp(uint8_t mgmt_class)
{
	return mgmt_class == WF_MAD_CLASS_SA || mgmt_class == 0x10 || mgmt_class == 0x12 ||
	       is_vendor(mgmt_class);
}

static bool is_rmpp_active(const struct wf_mux_agent *agent, const uint8_t *mad)
{
	return agent->cfg.rmpp && has_rmpp(mad[1]) && (mad[RMPP_FLAGS_AT] & WF_RMPP_ACTIVE) != 0;
}

static bool overlaps(const struct wf_mux_agent_cfg *a, const struct wf_mux_agent_cfg *b)
{
	return a->qp == b->qp && a->mgmt_class == b->mgmt_class &&
	       a->class_version == b->class_version &&
	       (!is_vendor(a->mgmt_class) || a->oui == b->oui) &&
	       ((a->methods[0] & b->methods[0]) | (a->methods[1] & b->methods[1])) != 0;
}

int wf_mux_register(struct wf_mux *mux, const struct wf_mux_agent_cfg *cfg,
                    struct wf_mux_agent **agent_p)
{
	struct wf_mux_agent *agent;

	if (cfg->qp > 1 || (cfg->mgmt_class != 0 && is_smp(cfg->mgmt_class) != (cfg->qp == 0)) ||
	    (cfg->rmpp && !has_rmpp(cfg->mgmt_class)))
		return -EINVAL;
	for (struct wf_mux_link *l = mux->agents.next; l != &mux->agents; l = l->next)
		if (cfg->mgmt_class != 0 && overlaps(&AGENT_OF(l)->cfg, cfg))
			return -EADDRINUSE;
	agent = mux->mem->alloc(mux->mem, sizeof(*agent));
	if (agent == NULL)
		return -ENOMEM;
	agent->mux = mux;
	agent->cfg = *cfg;
	/* Never 0: that is how answers to a kernel's own requests are known. */
	if (++mux->last_hi_tid == 0)
		mux->last_hi_tid++;
	agent->hi_tid = mux->last_hi_tid;
	wf_mux_link_init(&agent->sends);
	wf_mux_link_init(&agent->recvs);
	wf_mux_link_add(&mux->agents, &agent->link);
	*agent_p = agent;
	return 0;
}

bool wf_mux_take_room(struct wf_mux_agent *agent, size_t size)
{
	if (agent->cfg.room != 0 &&
	    (size > agent->cfg.room || agent->used > agent->cfg.room - size))
		return false;
	agent->used += size;
	return true;
}

void wf_mux_give_room(struct wf_mux_agent *agent, size_t size)
{
	assert(size <= agent->used);
	agent->used -= size;
}

/* What a send takes. The length of a MAD is there in any case. */
static size_t send_size(size_t length)
{
	return sizeof(struct wf_mux_send) + (length < WF_MAD_LEN ? WF_MAD_LEN : length);
}

/* Whoever has sent it with a context gets that back. */
static void send_free(struct wf_mux *mux, struct wf_mux_send *send)
{
	struct wf_mux_agent *agent = send->agent;
	const struct wf_mux_event event = {
		.type = WF_MUX_ENDED,
		.addr = &send->addr,
		.context = send->context,
	};

	wf_mux_timer_stop(&send->timer);
	wf_mux_link_del(&send->agent_link);
	wf_mux_link_del(&send->hash_link);
	wf_mux_link_del(&send->ready);
	if (send->context != NULL)
		agent->cfg.event(agent->cfg.arg, &event);
	wf_mux_give_room(agent, send_size(send->length));
	mux->mem->free(mux->mem, send);
}

void wf_mux_unregister(struct wf_mux_agent *agent)
{
	struct wf_mux *mux = agent->mux;

	while (!wf_mux_link_alone(&agent->sends))
		send_free(mux, SEND_OF(agent_link, agent->sends.next));
	while (!wf_mux_link_alone(&agent->recvs))
		wf_mux_recv_free(mux, RECV_OF(agent->recvs.next));
	wf_mux_link_del(&agent->link);
	mux->mem->free(mux->mem, agent);
}

void wf_mux_send_end(struct wf_mux *mux, struct wf_mux_send *send, int status)
{
	struct wf_mux_event event = {
		.type = WF_MUX_FAILED,
		.addr = &send->addr,
		.data = send->data,
		.length = WF_MAD_HEADER_LEN,
		.status = status,
		.context = send->context,
	};

	wf_mux_timer_stop(&send->timer);
	wf_mux_link_del(&send->hash_link);
	wf_mux_link_del(&send->ready);
	if (status != 0) {
		send->context = NULL;
		send->agent->cfg.event(send->agent->cfg.arg, &event);
	}
	send_free(mux, send);
}

void wf_mux_send_ready(struct wf_mux *mux, struct wf_mux_send *send)
{
	wf_mux_timer_stop(&send->timer);
	if (wf_mux_link_alone(&send->ready))
		wf_mux_link_add(&mux->ready[send->agent->cfg.qp], &send->ready);
}

static struct wf_mux_link *bucket(struct wf_mux *mux, uint64_t tid)
{
	return &mux->hash[(tid ^ tid >> 32) % WF_MUX_HASH];
}

struct wf_mux_send *wf_mux_find_send(struct wf_mux *mux, const struct wf_mux_agent *agent,
                                     uint64_t tid, uint8_t mgmt_class, bool is_response)
{
	struct wf_mux_link *head = bucket(mux, tid);

	for (struct wf_mux_link *l = head->next; l != head; l = l->next) {
		struct wf_mux_send *send = SEND_OF(hash_link, l);

		if (send->tid == tid && send->agent == agent && send->mgmt_class == mgmt_class &&
		    send->is_response == is_response)
			return send;
	}
	return NULL;
}

/* Nobody has answered, or acknowledged a segment, in time. */
static void send_expired(struct wf_mux *mux, struct wf_mux_timer *timer, wf_time now)
{
	struct wf_mux_send *send = SEND_OF(timer, timer);

	if (send->retries_left == 0) {
		wf_mux_send_end(mux, send, -ETIMEDOUT);
		return;
	}
	send->retries_left--;
	/* all got there, but no answer came: all again; else from the first that may be missing */
	if (send->rmpp && send->acked == send->segments)
		wf_mux_rmpp_begin(send);
	send->seg = send->acked;
	if (send->rmpp && !wf_mux_rmpp_may_send(send))
		wf_mux_timer_set(mux, timer, now + wf_mux_rmpp_ack_time(send));
	else
		wf_mux_send_ready(mux, send);
}

int wf_mux_send(struct wf_mux_agent *agent, const struct wf_mux_addr *addr, const void *data,
                size_t length, wf_time timeout, unsigned retries, void *context)
{
	struct wf_mux *mux = agent->mux;
	const uint8_t *mad = data;
	struct wf_mux_send *send;
	bool rmpp, is_response;
	uint64_t tid;

	if (length < WF_MAD_HEADER_LEN)
		return -EINVAL;
	rmpp = length > RMPP_FLAGS_AT && is_rmpp_active(agent, mad);
	if (rmpp ? length < wf_mux_data_offset(mad[1]) || length > UINT32_MAX / 2
	         : length > WF_MAD_LEN)
		return -EINVAL;
	is_response = wf_mad_is_response(mad[WF_MAD_AT_METHOD]);
	tid = wf_be64_get(mad + TID_AT);
	if (!is_response)
		tid = (uint64_t)agent->hi_tid << 32 | (tid & UINT32_MAX);
	send = wf_mux_find_send(mux, agent, tid, mad[1], is_response);
	if (send != NULL && (!is_response || send->addr.lid == addr->lid))
		return -EEXIST;
	if (!wf_mux_take_room(agent, send_size(length)))
		return -ENOMEM;
	send = mux->mem->alloc(mux->mem, send_size(length));
	if (send == NULL) {
		wf_mux_give_room(agent, send_size(length));
		return -ENOMEM;
	}
	send->agent = agent;
	send->addr = *addr;
	send->context = context;
	send->tid = tid;
	send->is_response = is_response;
	send->mgmt_class = mad[1];
	send->rmpp = rmpp;
	send->timeout = timeout;
	send->retries = send->retries_left = retries;
	send->length = length;
	memcpy(send->data, data, length);
	wf_be64_put(send->data + TID_AT, tid);
	send->timer.expired = send_expired;
	wf_mux_link_init(&send->timer.link);
	wf_mux_link_init(&send->ready);
	wf_mux_link_add(&agent->sends, &send->agent_link);
	wf_mux_link_add(bucket(mux, tid), &send->hash_link);
	if (rmpp)
		wf_mux_rmpp_begin(send);
	wf_mux_send_ready(mux, send);
	return 0;
}

void wf_mux_control(struct wf_mux *mux, unsigned qp, const struct wf_mux_addr *addr,
                    const uint8_t *mad)
{
	struct wf_mux_control *control = mux->mem->alloc(mux->mem, sizeof(*control));

	if (control == NULL)
		return;
	control->packet.qp = qp;
	control->packet.addr = *addr;
	memcpy(control->packet.mad, mad, WF_MAD_LEN);
	wf_mux_link_add(&mux->controls[qp], &control->ready);
}

static struct wf_mux_agent *find_by_tid(const struct wf_mux *mux, unsigned qp, uint64_t tid)
{
	for (struct wf_mux_link *l = mux->agents.next; l != &mux->agents; l = l->next)
		if (AGENT_OF(l)->hi_tid == tid >> 32 && AGENT_OF(l)->cfg.qp == qp)
			return AGENT_OF(l);
	return NULL;
}

static struct wf_mux_agent *find_by_method(const struct wf_mux *mux, unsigned qp,
                                           const struct wf_mad *h, const uint8_t *mad)
{
	struct wf_mux_agent_cfg want = {
		.qp = (uint8_t)qp,
		.mgmt_class = h->mgmt_class,
		.class_version = h->class_version,
		.oui = wf_be24_get(mad + OUI_AT),
	};

	want.methods[h->method / 64 % 2] = UINT64_C(1) << h->method % 64;
	for (struct wf_mux_link *l = mux->agents.next; l != &mux->agents; l = l->next)
		if (AGENT_OF(l)->cfg.mgmt_class != 0 && overlaps(&AGENT_OF(l)->cfg, &want))
			return AGENT_OF(l);
	return NULL;
}

void wf_mux_deliver(struct wf_mux_agent *agent, const struct wf_mux_addr *addr, const uint8_t *data,
                    size_t length, uint64_t tid, uint8_t mgmt_class, bool is_response)
{
	struct wf_mux_event event = {
		.type = WF_MUX_RECV,
		.addr = addr,
		.data = data,
		.length = length,
	};

	if (is_response) {
		struct wf_mux_send *send =
			wf_mux_find_send(agent->mux, agent, tid, mgmt_class, false);

		if (send == NULL)
			return;
		event.context = send->context;
		send->context = NULL;
		wf_mux_send_end(agent->mux, send, 0);
	}
	agent->cfg.event(agent->cfg.arg, &event);
}

/* As hardware of today does where no program wants a request. */
static void answer_unsupported(struct wf_mux *mux, unsigned qp, const struct wf_mux_addr *addr,
                               const uint8_t *mad)
{
	uint8_t answer[WF_MAD_LEN];

	memcpy(answer, mad, sizeof(answer));
	wf_agent_answer(answer, WF_MAD_BAD_ATTRIBUTE);
	wf_mux_control(mux, qp, addr, answer);
}

void wf_mux_rx(struct wf_mux *mux, unsigned qp, const struct wf_mux_addr *addr, const uint8_t *mad,
               wf_time now)
{
	struct wf_mux_agent *agent;
	bool is_response;
	struct wf_mad h;

	wf_mad_decode(mad, &h);
	if (h.base_version != WF_MAD_BASE_VERSION || is_smp(h.mgmt_class) != (qp == 0))
		return;
	is_response = wf_mad_is_response(h.method);
	agent = is_response ? find_by_tid(mux, qp, h.tid) : find_by_method(mux, qp, &h, mad);
	if (agent == NULL) {
		if (h.method == WF_MAD_METHOD_GET || h.method == WF_MAD_METHOD_SET)
			answer_unsupported(mux, qp, addr, mad);
	} else if (is_rmpp_active(agent, mad)) {
		wf_mux_rmpp_rx(agent, addr, mad, now);
	} else {
		wf_mux_deliver(agent, addr, mad, WF_MAD_LEN, h.tid, h.mgmt_class, is_response);
	}
}

/* What went out for now: it waits for an answer, or has ended. */
static void sent(struct wf_mux *mux, struct wf_mux_send *send, wf_time now)
{
	if (send->timeout == 0) {
		wf_mux_send_end(mux, send, 0);
		return;
	}
	wf_mux_timer_set(mux, &send->timer, now + send->timeout);
}

static bool control_tx(struct wf_mux *mux, unsigned qp, struct wf_mux_packet *packet_p)
{
	struct wf_mux_control *control;

	if (wf_mux_link_alone(&mux->controls[qp]))
		return false;
	control = CONTROL_OF(mux->controls[qp].next);
	*packet_p = control->packet;
	wf_mux_link_del(&control->ready);
	mux->mem->free(mux->mem, control);
	return true;
}

/* The next of what agents send by a queue pair. */
static bool send_tx(struct wf_mux *mux, unsigned qp, wf_time now, struct wf_mux_packet *packet_p)
{
	struct wf_mux_send *send;

	if (wf_mux_link_alone(&mux->ready[qp]))
		return false;
	send = SEND_OF(ready, mux->ready[qp].next);
	wf_mux_link_del(&send->ready);
	packet_p->qp = qp;
	packet_p->addr = send->addr;
	if (!send->rmpp) {
		memcpy(packet_p->mad, send->data, WF_MAD_LEN);
		sent(mux, send, now);
		return true;
	}
	wf_mux_rmpp_next(send, packet_p->mad);
	if (wf_mux_rmpp_may_send(send))
		wf_mux_link_add(&mux->ready[qp], &send->ready);
	else
		wf_mux_timer_set(mux, &send->timer, now + wf_mux_rmpp_ack_time(send));
	return true;
}

bool wf_mux_tx(struct wf_mux *mux, unsigned qps, wf_time now, struct wf_mux_packet *packet_p)
{
	for (unsigned qp = 0; qp < 2; qp++) {
		if ((qps >> qp & 1) != 0 &&
		    (control_tx(mux, qp, packet_p) || send_tx(mux, qp, now, packet_p)))
			return true;
	}
	return false;
}

bool wf_mux_has_tx(const struct wf_mux *mux, unsigned qps)
{
	for (unsigned qp = 0; qp < 2; qp++) {
		if ((qps >> qp & 1) != 0 &&
		    (!wf_mux_link_alone(&mux->controls[qp]) || !wf_mux_link_alone(&mux->ready[qp])))
			return true;
	}
	return false;
}

wf_time wf_mux_deadline(const struct wf_mux *mux)
{
	return wf_mux_link_alone(&mux->timers)
	               ? WF_TIME_NEVER
	               : wf_container_of(mux->timers.next, struct wf_mux_timer, link)->at;
}

void wf_mux_tick(struct wf_mux *mux, wf_time now)
{
	while (wf_mux_deadline(mux) <= now) {
		struct wf_mux_timer *timer =
			wf_container_of(mux->timers.next, struct wf_mux_timer, link);

		wf_mux_timer_stop(timer);
		timer->expired(mux, timer, now);
	}
}
