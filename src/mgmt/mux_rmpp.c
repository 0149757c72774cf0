/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mux_rmpp.c - RMPP (IBTA vol. 1, 13.6): cutting into segments, windows, joining them, giving up.
 *
 * Windows and times are those of Linux: the first is one segment, then 64 behind each ACK; 2 s at
 * most until an ACK; 40 s without a segment end a transfer, which is remembered for 10 s when it is
 * complete, as its last ACK may be lost. A second request in answer to an answer (double-sided
 * transfers, of MultiPathRecord queries longer than a MAD) is not done.
 */
#include "mgmt/mux_priv.h"

#include <errno.h>
#include <string.h>

#include "mgmt/agent_priv.h"

#define RMPP_DATA 220 /* bytes of a MAD behind RMPP's header */
#define RMPP_AT (WF_MAD_LEN - RMPP_DATA)
#define ACK_TIME_MAX (2 * WF_S)
#define IDLE_TIME (40 * WF_S)
#define REMEMBER_TIME (10 * WF_S)
#define RECVS_MAX 1024 /* transfers that an agent takes at a time */
#define SIZE_MIN 4096

#define RECV_OF(ptr) wf_container_of(ptr, struct wf_mux_recv, agent_link)

static uint32_t data_size(uint8_t mgmt_class)
{
	return WF_MAD_LEN - wf_mux_data_offset(mgmt_class);
}

void wf_mux_rmpp_begin(struct wf_mux_send *send)
{
	uint32_t size = data_size(send->mgmt_class);
	uint32_t length = (uint32_t)(send->length - wf_mux_data_offset(send->mgmt_class));

	send->segments = length == 0 ? 1 : (length + size - 1) / size;
	send->seg = send->acked = 0;
	send->window = 1;
}

bool wf_mux_rmpp_may_send(const struct wf_mux_send *send)
{
	return send->seg < send->segments && send->seg < send->window;
}

wf_time wf_mux_rmpp_ack_time(const struct wf_mux_send *send)
{
	return send->timeout == 0 ? ACK_TIME_MAX : wf_min_time(send->timeout, ACK_TIME_MAX);
}

void wf_mux_rmpp_next(struct wf_mux_send *send, uint8_t *mad)
{
	uint32_t size = data_size(send->mgmt_class), offset = wf_mux_data_offset(send->mgmt_class);
	uint32_t seg = ++send->seg;
	size_t at = offset + (size_t)(seg - 1) * size, n;
	uint32_t missing = (uint32_t)(offset + (size_t)send->segments * size - send->length);
	struct wf_rmpp rmpp;

	assert(seg <= send->segments);
	n = wf_min_u64(size, send->length - at);
	memset(mad, 0, WF_MAD_LEN);
	memcpy(mad, send->data, offset);
	memcpy(mad + offset, send->data + at, n);
	wf_rmpp_decode(mad, &rmpp);
	rmpp.version = WF_RMPP_VERSION;
	rmpp.type = WF_RMPP_DATA;
	rmpp.flags = WF_RMPP_ACTIVE;
	rmpp.status = 0;
	rmpp.data1 = seg;
	rmpp.data2 = 0;
	if (seg == 1) {
		rmpp.flags |= WF_RMPP_FIRST;
		rmpp.data2 = send->segments * RMPP_DATA - missing;
	}
	if (seg == send->segments) {
		rmpp.flags |= WF_RMPP_LAST;
		rmpp.data2 = RMPP_DATA - missing;
	}
	wf_rmpp_encode(&rmpp, mad);
}

/* What is said back to who sent a segment or an ACK. */
static void say(struct wf_mux_agent *agent, const struct wf_mux_addr *addr, const uint8_t *mad,
                enum wf_rmpp_type type, uint8_t status, uint32_t data1, uint32_t data2)
{
	struct wf_rmpp rmpp = {
		.version = WF_RMPP_VERSION,
		.type = (uint8_t)type,
		.resp_time = WF_RMPP_NO_TIME,
		.flags = WF_RMPP_ACTIVE,
		.status = status,
		.data1 = data1,
		.data2 = data2,
	};
	uint8_t answer[WF_MAD_LEN] = { 0 };

	memcpy(answer, mad, wf_mux_data_offset(mad[1]));
	answer[WF_MAD_AT_METHOD] ^= 0x80;
	wf_rmpp_encode(&rmpp, answer);
	wf_mux_control(agent->mux, agent->cfg.qp, addr, answer);
}

static void ack(const struct wf_mux_recv *recv)
{
	say(recv->agent, &recv->addr, recv->header, WF_RMPP_ACK, 0, recv->seg, recv->window);
}

void wf_mux_recv_free(struct wf_mux *mux, struct wf_mux_recv *recv)
{
	wf_mux_timer_stop(&recv->timer);
	wf_mux_link_del(&recv->agent_link);
	wf_mux_give_room(recv->agent, sizeof(*recv) + recv->size);
	mux->mem->free(mux->mem, recv->data);
	mux->mem->free(mux->mem, recv);
}

static void recv_expired(struct wf_mux *mux, struct wf_mux_timer *timer, wf_time now)
{
	struct wf_mux_recv *recv = wf_container_of(timer, struct wf_mux_recv, timer);

	(void)now;
	if (!recv->complete)
		say(recv->agent, &recv->addr, recv->header, WF_RMPP_ABORT, WF_RMPP_TOO_LONG, 0, 0);
	wf_mux_recv_free(mux, recv);
}

static struct wf_mux_recv *find_recv(const struct wf_mux_agent *agent,
                                     const struct wf_mux_addr *addr, const struct wf_mad *h,
                                     unsigned *n_p)
{
	*n_p = 0;
	for (struct wf_mux_link *l = agent->recvs.next; l != &agent->recvs; l = l->next, (*n_p)++) {
		struct wf_mux_recv *recv = RECV_OF(l);

		if (recv->tid == h->tid && recv->mgmt_class == h->mgmt_class &&
		    recv->method == h->method && recv->addr.lid == addr->lid &&
		    recv->addr.qpn == addr->qpn)
			return recv;
	}
	return NULL;
}

/* A transfer begins. An answer that nobody waits for is none. */
static struct wf_mux_recv *start(struct wf_mux_agent *agent, const struct wf_mux_addr *addr,
                                 const struct wf_mad *h)
{
	struct wf_mux *mux = agent->mux;
	struct wf_mux_recv *recv;

	if (wf_mad_is_response(h->method) &&
	    wf_mux_find_send(mux, agent, h->tid, h->mgmt_class, false) == NULL)
		return NULL;
	if (!wf_mux_take_room(agent, sizeof(*recv)))
		return NULL;
	recv = mux->mem->alloc(mux->mem, sizeof(*recv));
	if (recv == NULL) {
		wf_mux_give_room(agent, sizeof(*recv));
		return NULL;
	}
	recv->agent = agent;
	recv->addr = *addr;
	recv->tid = h->tid;
	recv->mgmt_class = h->mgmt_class;
	recv->method = h->method;
	recv->window = 1;
	recv->timer.expired = recv_expired;
	wf_mux_link_init(&recv->timer.link);
	wf_mux_link_add(&agent->recvs, &recv->agent_link);
	return recv;
}

/* Room for that many bytes. */
static bool grow(struct wf_mux *mux, struct wf_mux_recv *recv, size_t n)
{
	size_t size = recv->size < SIZE_MIN ? SIZE_MIN : recv->size;
	uint8_t *data;

	if (n <= recv->size)
		return true;
	while (size < n)
		size *= 2;
	if (!wf_mux_take_room(recv->agent, size - recv->size))
		return false;
	data = mux->mem->alloc(mux->mem, size);
	if (data == NULL) {
		wf_mux_give_room(recv->agent, size - recv->size);
		return false;
	}
	if (recv->size > 0)
		memcpy(data, recv->data, recv->size);
	mux->mem->free(mux->mem, recv->data);
	recv->data = data;
	recv->size = size;
	return true;
}

/* All segments are there. */
static void complete(struct wf_mux_recv *recv, wf_time now)
{
	struct wf_mux *mux = recv->agent->mux;
	uint32_t size = data_size(recv->mgmt_class), offset = wf_mux_data_offset(recv->mgmt_class);
	uint32_t pad = RMPP_DATA - recv->last_length;
	uint8_t *data = recv->data;

	/* a length that cannot be is as if the segment were full */
	if (recv->last_length > RMPP_DATA || recv->last_length < offset - RMPP_AT)
		pad = 0;
	recv->complete = true;
	recv->data = NULL;
	wf_mux_give_room(recv->agent, recv->size);
	recv->size = 0;
	wf_mux_timer_set(mux, &recv->timer, now + REMEMBER_TIME);
	ack(recv);
	wf_mux_deliver(recv->agent, &recv->addr, data, offset + (size_t)recv->seg * size - pad,
	               recv->tid, recv->mgmt_class, wf_mad_is_response(recv->method));
	mux->mem->free(mux->mem, data);
}

/* A segment in the window that has not come before. Returns 0, or why the transfer ends. */
static int take(struct wf_mux_recv *recv, const uint8_t *mad, const struct wf_rmpp *rmpp)
{
	uint32_t size = data_size(recv->mgmt_class), offset = wf_mux_data_offset(recv->mgmt_class);
	uint32_t seg = rmpp->data1;
	bool is_last = (rmpp->flags & WF_RMPP_LAST) != 0;

	if (recv->last != 0 && (seg > recv->last || (is_last && seg != recv->last)))
		return WF_RMPP_BAD_LENGTH;
	if (is_last && recv->map >> (seg - recv->seg - 1) > 1)
		return WF_RMPP_BAD_LENGTH; /* one behind the last is there already */
	if (!grow(recv->agent->mux, recv, offset + (size_t)seg * size))
		return WF_RMPP_RESOURCES;
	if (seg == 1)
		memcpy(recv->data, mad, offset);
	memcpy(recv->data + offset + (size_t)(seg - 1) * size, mad + offset, size);
	if (is_last) {
		recv->last = seg;
		recv->last_length = rmpp->data2;
	}
	recv->map |= UINT64_C(1) << (seg - recv->seg - 1);
	for (; (recv->map & 1) != 0; recv->map >>= 1)
		recv->seg++;
	return 0;
}

/* The request whose answer comes in segments waits for the next one, not for all of them. */
static void request_waits(const struct wf_mux_recv *recv, wf_time now)
{
	struct wf_mux *mux = recv->agent->mux;
	struct wf_mux_send *send;

	if (!wf_mad_is_response(recv->method))
		return;
	send = wf_mux_find_send(mux, recv->agent, recv->tid, recv->mgmt_class, false);
	if (send == NULL || send->timeout == 0)
		return;
	wf_mux_link_del(&send->ready);
	wf_mux_timer_set(mux, &send->timer, now + send->timeout);
}

static void give_up(struct wf_mux_recv *recv, int why)
{
	say(recv->agent, &recv->addr, recv->header,
	    why == WF_RMPP_RESOURCES ? WF_RMPP_STOP : WF_RMPP_ABORT, (uint8_t)why, 0, 0);
	wf_mux_recv_free(recv->agent->mux, recv);
}

/* A send that the other side does not want any more, or that has gone wrong. */
static void fail(struct wf_mux_agent *agent, const struct wf_mad *h)
{
	struct wf_mux_send *send = wf_mux_find_send(agent->mux, agent, h->tid, h->mgmt_class,
	                                            !wf_mad_is_response(h->method));

	if (send != NULL)
		wf_mux_send_end(agent->mux, send, -ECONNABORTED);
}

static void data_rx(struct wf_mux_agent *agent, const struct wf_mux_addr *addr, const uint8_t *mad,
                    const struct wf_mad *h, const struct wf_rmpp *rmpp, wf_time now)
{
	unsigned n;
	struct wf_mux_recv *recv = find_recv(agent, addr, h, &n);
	uint32_t seg = rmpp->data1;
	int why;

	if ((seg == 1) != ((rmpp->flags & WF_RMPP_FIRST) != 0) || seg == 0) {
		say(agent, addr, mad, WF_RMPP_ABORT, WF_RMPP_BAD_FIRST, 0, 0);
		return;
	}
	if (recv == NULL && seg == 1 && n < RECVS_MAX)
		recv = start(agent, addr, h);
	if (recv == NULL || seg > recv->window ||
	    (seg > recv->seg && (recv->map >> (seg - recv->seg - 1) & 1) != 0))
		return;
	memcpy(recv->header, mad, wf_mux_data_offset(mad[1]));
	if (recv->complete || seg <= recv->seg) {
		/* an ACK was lost; where none was sent yet, the window's end brings it */
		if (recv->complete || seg <= recv->acked)
			ack(recv);
		return;
	}
	why = take(recv, mad, rmpp);
	if (why != 0) {
		give_up(recv, why);
		fail(agent, h);
		return;
	}
	request_waits(recv, now);
	if (recv->last != 0 && recv->seg == recv->last) {
		complete(recv, now);
		return;
	}
	wf_mux_timer_set(agent->mux, &recv->timer, now + IDLE_TIME);
	if (recv->seg == recv->window) {
		recv->acked = recv->seg;
		recv->window += WF_MUX_WINDOW;
		ack(recv);
	}
}

static void ack_rx(struct wf_mux_agent *agent, const struct wf_mux_addr *addr, const uint8_t *mad,
                   const struct wf_mad *h, const struct wf_rmpp *rmpp, wf_time now)
{
	struct wf_mux_send *send = wf_mux_find_send(agent->mux, agent, h->tid, h->mgmt_class,
	                                            !wf_mad_is_response(h->method));
	uint32_t seg = rmpp->data1, window = rmpp->data2;

	if (send == NULL || !send->rmpp || send->acked == send->segments)
		return;
	if (window < seg || seg > send->segments || seg > send->window) {
		say(agent, addr, mad, WF_RMPP_ABORT,
		    window < seg ? WF_RMPP_WINDOW_TOO_SMALL : WF_RMPP_SEGMENT_TOO_BIG, 0, 0);
		fail(agent, h);
		return;
	}
	if (seg < send->acked || (window < send->window && seg < send->segments))
		return; /* an old one */
	if (seg > send->acked) {
		send->acked = seg;
		send->retries_left = send->retries;
	}
	if (send->seg < seg)
		send->seg = seg;
	send->window = window;
	if (send->acked == send->segments) {
		wf_mux_link_del(&send->ready);
		if (send->is_response || send->timeout == 0)
			wf_mux_send_end(agent->mux, send, 0);
		else
			wf_mux_timer_set(agent->mux, &send->timer, now + send->timeout);
	} else if (wf_mux_rmpp_may_send(send)) {
		wf_mux_send_ready(agent->mux, send);
	} else {
		wf_mux_timer_set(agent->mux, &send->timer, now + wf_mux_rmpp_ack_time(send));
	}
}

/* STOP or ABORT: of what we send, or of what comes. */
static void end_rx(struct wf_mux_agent *agent, const struct wf_mux_addr *addr,
                   const struct wf_mad *h)
{
	unsigned n;
	struct wf_mux_recv *recv = find_recv(agent, addr, h, &n);

	if (recv != NULL && !recv->complete)
		wf_mux_recv_free(agent->mux, recv);
	fail(agent, h);
}

void wf_mux_rmpp_rx(struct wf_mux_agent *agent, const struct wf_mux_addr *addr, const uint8_t *mad,
                    wf_time now)
{
	struct wf_rmpp rmpp;
	struct wf_mad h;

	wf_mad_decode(mad, &h);
	wf_rmpp_decode(mad, &rmpp);
	if (rmpp.type == WF_RMPP_STOP || rmpp.type == WF_RMPP_ABORT)
		end_rx(agent, addr, &h);
	else if (rmpp.version != WF_RMPP_VERSION)
		say(agent, addr, mad, WF_RMPP_ABORT, WF_RMPP_BAD_VERSION, 0, 0);
	else if (rmpp.type == WF_RMPP_DATA)
		data_rx(agent, addr, mad, &h, &rmpp, now);
	else if (rmpp.type == WF_RMPP_ACK)
		ack_rx(agent, addr, mad, &h, &rmpp, now);
	else
		say(agent, addr, mad, WF_RMPP_ABORT, WF_RMPP_BAD_TYPE, 0, 0);
}
