/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_peer.c - links to other programs: asked for, made, refused, ended, and what waits for them;
 * and that nobody else waits when a program's call waits for the daemon.
 *
 * ctest: tsan
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "check.h"
#include "live/sock.h"
#include "rig_nic.h"
#include "wire/opcode.h"

#define STRANGER 9 /* a slot of host 1 that there is no link to */

struct meeting {
	struct rig *rig;
	struct wf_nic *nic;
	struct wf_ah *ah;
	int daemon; /* its end of the socket of events */
};

static int set_up(void **state)
{
	struct meeting *m = calloc(1, sizeof(*m));
	struct wf_ah_attr attr = { .dest = 1, .port_num = 1 };
	int pair[2];

	assert_non_null(m);
	m->rig = rig_create();
	m->nic = m->rig->nic;
	assert_int_equal(wf_ah_create(m->rig->pd, &attr, &m->ah), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	m->nic->events = pair[0];
	m->daemon = pair[1];
	*state = m;
	return 0;
}

static int tear_down(void **state)
{
	struct meeting *m = *state;

	close(m->nic->events);
	if (m->daemon >= 0)
		close(m->daemon);
	wf_ah_destroy(m->ah);
	rig_destroy(m->rig);
	free(m);
	return 0;
}

/* Posts a datagram to a slot of host 1. */
static void send_to(struct meeting *m, uint32_t slot)
{
	struct wf_sge sge = { (uintptr_t)m->rig->memory, 100, wf_mr_lkey(m->rig->mr) };
	struct wf_send_wr wr = {
		.sge = &sge, .num_sge = 1, .opcode = WF_WR_SEND, .flags = WF_SEND_SIGNALED
	};
	const struct wf_send_wr *bad;

	wr.ud.ah = m->ah;
	wr.ud.qpn = slot << WF_LIVE_QPN_BITS | 2;
	wr.ud.qkey = 0x1234;
	assert_int_equal(wf_qp_post_send(m->rig->ud, &wr, &bad), 0);
	(void)wf_nic_progress(m->nic);
}

/* What the daemon was asked; op 0: nothing. */
static struct wf_live_req asked(struct meeting *m)
{
	struct wf_live_req req = { .op = 0 };
	int fds[WF_LIVE_MAX_FDS];
	unsigned n;
	int ret = wf_sock_recv(m->daemon, &req, sizeof(req), fds, &n, false);

	if (ret == -EAGAIN)
		return (struct wf_live_req){ .op = 0 };
	assert_int_equal(ret, wf_live_req_bytes(&req));
	assert_int_equal(req.version, WF_LIVE_VERSION);
	return req;
}

static void tell(struct meeting *m, struct wf_live_event *event, const int *fds)
{
	assert_int_equal(wf_sock_send(m->daemon, event, wf_live_event_bytes(event), fds,
	                              event->n_fds, false),
	                 0);
}

/* The daemon makes the link; the other end of it is *far. */
static void make_link(struct meeting *m, uint32_t slot, struct wf_pipe *far)
{
	struct wf_live_event event = { .type = WF_LIVE_EV_LINK, .n_fds = 2 };
	int fds[2] = { wf_pipe_memory(), eventfd(0, EFD_CLOEXEC) };

	assert_true(fds[0] >= 0 && fds[1] >= 0);
	event.link.host = 1;
	event.link.slot = slot;
	assert_int_equal(wf_pipe_open(far, fds[0], 1, -1), 0);
	tell(m, &event, fds);
	close(fds[0]);
	close(fds[1]);
}

static unsigned count_packets(struct wf_pipe *far)
{
	const void *payload;
	struct wf_packet pkt;
	unsigned n = 0;

	while (wf_ring_peek(&far->rx, &pkt, &payload)) {
		wf_ring_consume(&far->rx);
		n++;
	}
	return n;
}

/* Packets wait for the link, in order, and nobody else waits with them. */
static void test_first_contact(void **state)
{
	struct meeting *m = *state;
	struct wf_live_req req;
	struct wf_pipe far;

	send_to(m, STRANGER);
	req = asked(m);
	assert_int_equal(req.op, WF_LIVE_CONNECT);
	assert_int_equal(req.connect.host, 1);
	assert_int_equal(req.connect.slot, STRANGER);
	assert_int_equal(m->nic->n_asked, 1);
	/* The queue pair waits; another one goes on, to a peer that is known. */
	send_to(m, STRANGER);
	assert_int_equal(asked(m).op, 0);
	assert_int_equal(m->nic->dropped, 0);
	{
		struct wf_sge sge = { (uintptr_t)m->rig->memory, 8, wf_mr_lkey(m->rig->mr) };
		struct wf_send_wr wr = { .sge = &sge, .num_sge = 1, .opcode = WF_WR_SEND };
		const struct wf_send_wr *bad;

		assert_int_equal(wf_qp_post_send(m->rig->rc, &wr, &bad), 0);
		(void)wf_nic_progress(m->nic);
		assert_int_equal(count_packets(&m->rig->far[0]), 1);
	}
	make_link(m, STRANGER, &far);
	(void)wf_nic_progress(m->nic);
	(void)wf_nic_progress(m->nic);
	assert_int_equal(count_packets(&far), 2);
	assert_int_equal(m->nic->n_asked, 0);
	send_to(m, STRANGER);
	assert_int_equal(count_packets(&far), 1);
	assert_int_equal(m->nic->dropped, 0);
	wf_nic_assert(m->nic);
	wf_pipe_close(&far);
}

/*
 * Nobody is there: what waited is lost, the queue pair goes on, and the daemon is asked anew later.
 */
static void test_nobody(void **state)
{
	struct meeting *m = *state;
	struct wf_live_event event = { .type = WF_LIVE_EV_NO_LINK };
	struct wf_wc wc;

	event.link.host = 1;
	event.link.slot = STRANGER;
	send_to(m, STRANGER);
	send_to(m, STRANGER);
	assert_int_equal(asked(m).op, WF_LIVE_CONNECT);
	tell(m, &event, NULL);
	(void)wf_nic_progress(m->nic);
	assert_int_equal(m->nic->n_asked, 0);
	send_to(m, STRANGER);
	assert_int_equal(m->nic->dropped, 3);
	assert_int_equal(asked(m).op, 0); /* not so soon */
	send_to(m, 1);
	assert_int_equal(count_packets(&m->rig->far[0]), 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(wf_cq_poll(m->rig->cq, 1, &wc), 1);
	m->nic->start -= WF_S;
	send_to(m, STRANGER);
	assert_int_equal(asked(m).op, WF_LIVE_CONNECT);
	/* An answer to something that was not asked. */
	event.link.slot = 77;
	tell(m, &event, NULL);
	wf_nic_events(m->nic);
	wf_nic_assert(m->nic);
}

/*
 * A link cannot be taken, here or there: the daemon is told, what waits is lost, and after a while
 * there may be another.
 */
static void test_no_memory(void **state)
{
	struct meeting *m = *state;
	struct wf_live_event event = { .type = WF_LIVE_EV_LINK, .n_fds = 2 };
	int fds[2] = { eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC) };
	struct wf_live_req req;
	struct wf_pipe far;

	event.link.host = 1;
	event.link.slot = STRANGER;
	send_to(m, STRANGER);
	assert_int_equal(asked(m).op, WF_LIVE_CONNECT);
	tell(m, &event, fds); /* no memory that could be mapped */
	close(fds[0]);
	close(fds[1]);
	(void)wf_nic_progress(m->nic);
	req = asked(m);
	assert_int_equal(req.op, WF_LIVE_UNLINK);
	assert_int_equal(req.connect.host, 1);
	assert_int_equal(req.connect.slot, STRANGER);
	assert_int_equal(m->nic->n_asked, 0);
	assert_int_equal(m->nic->dropped, 1);
	m->nic->start -= WF_S;
	send_to(m, STRANGER);
	assert_int_equal(asked(m).op, WF_LIVE_CONNECT);
	make_link(m, STRANGER, &far);
	(void)wf_nic_progress(m->nic);
	assert_int_equal(count_packets(&far), 1);
	/* Now the other program has none. */
	event = (struct wf_live_event){ .type = WF_LIVE_EV_UNLINK };
	event.link.host = 1;
	event.link.slot = STRANGER;
	tell(m, &event, NULL);
	wf_nic_events(m->nic);
	wf_nic_assert(m->nic);
	send_to(m, STRANGER);
	assert_int_equal(asked(m).op, 0);
	assert_int_equal(count_packets(&far), 0);
	wf_pipe_close(&far);
	m->nic->start -= WF_S;
	send_to(m, STRANGER);
	assert_int_equal(asked(m).op, WF_LIVE_CONNECT);
	make_link(m, STRANGER, &far);
	(void)wf_nic_progress(m->nic);
	assert_int_equal(count_packets(&far), 1);
	wf_nic_assert(m->nic);
	wf_pipe_close(&far);
}

/* The other program asks at the same time: one link is made of it. */
static void test_both_ask(void **state)
{
	struct meeting *m = *state;
	struct wf_pipe far, second;
	uint32_t peers;

	send_to(m, STRANGER);
	make_link(m, STRANGER, &far);
	make_link(m, STRANGER, &second);
	(void)wf_nic_progress(m->nic);
	peers = m->nic->n_peers;
	assert_int_equal(count_packets(&far), 1);
	send_to(m, STRANGER);
	assert_int_equal(count_packets(&far), 1);
	assert_int_equal(count_packets(&second), 0);
	assert_int_equal(m->nic->n_peers, peers);
	wf_pipe_close(&far);
	wf_pipe_close(&second);
}

/* Programs come and go, and nothing of them is kept but what a queue pair is bound to. */
static void test_come_and_go(void **state)
{
	struct meeting *m = *state;
	struct wf_live_event event = { .type = WF_LIVE_EV_GONE };
	uint32_t peers = m->nic->n_peers;

	event.gone.host = 1;
	for (uint32_t i = 0; i < 2000; i++) {
		struct wf_pipe far;

		event.gone.slot = STRANGER + i % 100;
		make_link(m, event.gone.slot, &far);
		tell(m, &event, NULL);
		wf_nic_events(m->nic);
		(void)wf_nic_progress(m->nic);
		assert_int_equal(m->nic->n_peers, peers);
		assert_null(m->nic->gone);
		wf_pipe_close(&far);
	}
	/* The one that the queue pair is bound to stays until that is not. */
	event.gone.slot = 1;
	tell(m, &event, NULL);
	wf_nic_events(m->nic);
	(void)wf_nic_progress(m->nic);
	assert_int_equal(m->nic->n_peers, peers - 1);
	assert_non_null(m->nic->gone);
	wf_nic_remove_qp(m->nic, m->rig->rc);
	assert_null(m->nic->gone);
}

/*
 * What its peer has not taken in is under way, and not lost: unless a fault keeps it, or a delay
 * that would be longer than the timeout on hardware, too.
 */
static void test_underway(void **state)
{
	struct meeting *m = *state;
	struct wf_live_host *host = m->nic->table->host;
	struct wf_sge sge = { (uintptr_t)m->rig->memory, 8, wf_mr_lkey(m->rig->mr) };
	struct wf_send_wr wr = { .sge = &sge, .num_sge = 1, .opcode = WF_WR_SEND };
	const struct wf_send_wr *bad;

	assert_int_equal(wf_qp_post_send(m->rig->rc, &wr, &bad), 0);
	(void)wf_nic_progress(m->nic);
	assert_true(wf_nic_underway(m->nic, m->rig->rc, 67 * WF_MS));
	host[0].delay = host[1].delay = WF_MS / 2;
	assert_true(wf_nic_underway(m->nic, m->rig->rc, 67 * WF_MS));
	assert_false(wf_nic_underway(m->nic, m->rig->rc, 2 * WF_MS));
	host[1].delay = 40 * WF_MS;
	assert_false(wf_nic_underway(m->nic, m->rig->rc, 67 * WF_MS));
	host[0].delay = host[1].delay = 0;
	host[1].paused = 1;
	assert_false(wf_nic_underway(m->nic, m->rig->rc, 67 * WF_MS));
	host[1].paused = 0;
	assert_int_equal(count_packets(&m->rig->far[0]), 1);
	(void)wf_ring_release(&m->rig->far[0].rx);
	assert_false(wf_nic_underway(m->nic, m->rig->rc, 67 * WF_MS));
}

/* A WRITE of 16 packets that nobody answers: how many packets go, so many ms after the last. */
static void go_unanswered(struct meeting *m, const unsigned then[][2])
{
	struct wf_sge sge = { (uintptr_t)m->rig->memory, RIG_BYTES, wf_mr_lkey(m->rig->mr) };
	struct wf_send_wr wr = { .sge = &sge, .num_sge = 1, .opcode = WF_WR_RDMA_WRITE };
	const struct wf_send_wr *bad;

	assert_int_equal(wf_qp_post_send(m->rig->rc, &wr, &bad), 0);
	for (unsigned i = 0; i < 5; i++) {
		m->nic->start -= then[i][0] * WF_MS;
		(void)wf_nic_progress(m->nic);
		assert_int_equal(count_packets(&m->rig->far[0]), then[i][1]);
		(void)wf_ring_release(&m->rig->far[0].rx);
	}
}

/* Within the fabric: all of it every 4.096 us * 2^14 = 67 ms. */
static void test_unanswered(void **state)
{
	static const unsigned then[][2] = {
		{ 0, 16 }, { 68, 16 }, { 68, 16 }, { 68, 16 }, { 68, 16 }
	};

	go_unanswered(*state, then);
}

/* On the wire: one packet after 4.096 us * 2^16 * 4 = 1.07 s, and again after twice as long. */
static void test_wire_unanswered(void **state)
{
	static const unsigned then[][2] = {
		{ 0, 16 }, { 269, 0 }, { 805, 1 }, { 1074, 0 }, { 1074, 1 }
	};
	struct wf_qp_attr reset = { .qp_state = WF_QPS_RESET };
	struct meeting *m = *state;

	m->nic->peers[0]->host = WF_LIVE_REMOTE;
	m->nic->peers[0]->slot = 0;
	assert_int_equal(wf_qp_modify(m->rig->rc, &reset, WF_QP_STATE), 0);
	rig_connect(m->rig, WF_LIVE_REMOTE | 5, 16);
	go_unanswered(m, then);
}

static unsigned n_fatal;

static void on_event(void *arg, const struct wf_event *event)
{
	(void)arg;
	n_fatal += event->type == WF_EVENT_DEVICE_FATAL;
}

static unsigned n_unreachable;

static int on_cm(void *arg, const struct wf_cm_event *event)
{
	(void)arg;
	n_unreachable += event->type == WF_CM_EV_UNREACHABLE;
	return 0;
}

/*
 * The daemon ends: so does all that is outstanding, what waited for a link, and connections that
 * are being made.
 */
static void test_orphan(void **state)
{
	struct meeting *m = *state;
	struct wf_sge sge = { (uintptr_t)m->rig->memory, 100, wf_mr_lkey(m->rig->mr) };
	struct wf_recv_wr recv = { .wr_id = 5, .sge = &sge, .num_sge = 1 };
	struct wf_cm_req req = { .service = 0x1060123, .qpn = 77, .max_retries = 15 };
	const struct wf_recv_wr *bad;
	struct wf_cm_conn *conn;
	struct wf_cm *cm;
	struct wf_wc wc;

	m->nic->cfg.event = on_event;
	m->nic->cfg.cm_event = on_cm;
	n_fatal = n_unreachable = 0;
	assert_int_equal(wf_nic_cm(m->nic, &cm), 0);
	assert_int_equal(wf_cm_connect(cm, 1, &req, NULL, 0, NULL, wf_nic_now(m->nic), &conn), 0);
	assert_int_equal(wf_qp_post_recv(m->rig->rc, &recv, &bad), 0);
	send_to(m, STRANGER);
	assert_int_equal(wf_cq_poll(m->rig->cq, 1, &wc), 1);
	close(m->daemon);
	m->daemon = -1;
	wf_nic_events(m->nic);
	(void)wf_nic_progress(m->nic);
	assert_int_equal(n_fatal, 1);
	assert_int_equal(n_unreachable, 1);
	assert_int_equal(m->nic->n_asked, 0);
	assert_int_equal(wf_cq_poll(m->rig->cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(wc.status, WF_WC_WR_FLUSH_ERR);
	assert_false(wf_nic_is_up(m->nic));
	wf_nic_events(m->nic);
	wf_nic_assert(m->nic);
}

/*
 * The daemon says that the model is gone, or spoils its memory: there is no way to anybody, and no
 * device; the adapter is still whole.
 */
static void test_model_gone(void **state)
{
	struct meeting *m = *state;
	struct wf_live_event event = { .type = WF_LIVE_EV_GONE };
	struct wf_nic_peer *model = m->nic->peers[RIG_PEERS - 1];

	m->nic->model = model;
	model->host = event.gone.host = WF_LIVE_MODEL;
	model->slot = event.gone.slot = 0;
	tell(m, &event, NULL);
	wf_nic_events(m->nic);
	assert_true(m->nic->orphan);
	assert_ptr_equal(m->nic->model, model);
	(void)wf_nic_progress(m->nic);
	send_to(m, STRANGER);
	memset(m->rig->far[RIG_PEERS - 1].shared, 0xff, 256);
	(void)wf_nic_progress(m->nic);
	wf_nic_assert(m->nic);
	m->nic->model = NULL;
}

/* A thread of the program that makes a call for which the daemon has to be asked. */
struct caller {
	struct meeting *m;
	pthread_t thread;
	int (*call)(struct caller *c);
	uint64_t service;
	struct wf_ah_attr to;
	int ret;
};

static void *call(void *arg)
{
	struct caller *c = arg;

	wf_nic_lock(c->m->nic);
	c->ret = c->call(c);
	wf_nic_unlock(c->m->nic);
	return NULL;
}

static int call_service(struct caller *c)
{
	return wf_nic_service(c->m->nic, WF_LIVE_SERVICE_BIND, &c->service, 0);
}

static int call_resolve(struct caller *c)
{
	return wf_nic_resolve(c->m->nic, &c->to);
}

static int call_join(struct caller *c)
{
	return wf_nic_join(c->m->nic, c->m->rig->ud, c->to.dgid);
}

/* The test lets go of the lock, so that the calls can have it; questions come to *daemon. */
static void let_ask(struct meeting *m, int *daemon)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	m->nic->sock = pair[0];
	*daemon = pair[1];
	m->nic->locked = false;
}

static void stop_asking(struct meeting *m, int daemon)
{
	close(m->nic->sock);
	m->nic->sock = -1;
	close(daemon);
	m->nic->locked = true;
}

static void start_call(struct meeting *m, struct caller *c, int (*what)(struct caller *c))
{
	c->m = m;
	c->call = what;
	assert_int_equal(pthread_create(&c->thread, NULL, call, c), 0);
}

static void end_call(struct caller *c)
{
	assert_int_equal(pthread_join(c->thread, NULL), 0);
}

/* The next question; waits for it. */
static struct wf_live_req question(int daemon)
{
	struct wf_live_req req;
	int fds[WF_LIVE_MAX_FDS];
	unsigned n;

	assert_int_equal(wf_sock_recv(daemon, &req, sizeof(req), fds, &n, true), WF_LIVE_REQ_SHORT);
	assert_int_equal(n, 0);
	return req;
}

static void reply_to(int daemon, struct wf_live_reply *reply, const int *fds)
{
	assert_int_equal(wf_sock_send(daemon, reply, WF_LIVE_REPLY_SHORT, fds, reply->n_fds, true),
	                 0);
}

/* Sends and receives on the connection that there is. The lock is free, now and from then on. */
static void exchange(struct meeting *m)
{
	struct wf_packet pkt = {
		.dst = 0,
		.src = 1,
		.type = WF_PACKET_RDMA,
		.opcode = WF_OP_RC_SEND_ONLY,
		.pkey = WF_PKEY_DEFAULT,
		.qpn = wf_qp_num(m->rig->rc),
		.flags = WF_PACKET_ACK_REQ,
		.length = 8,
	};
	struct wf_sge sge = { (uintptr_t)m->rig->memory, 8, wf_mr_lkey(m->rig->mr) };
	struct wf_send_wr wr = { .sge = &sge, .num_sge = 1, .opcode = WF_WR_SEND };
	struct wf_recv_wr recv = { .wr_id = 5, .sge = &sge, .num_sge = 1 };
	const struct wf_recv_wr *bad_recv;
	const struct wf_send_wr *bad;
	struct wf_wc wc;

	assert_int_equal(pthread_mutex_trylock(&m->nic->lock), 0);
	m->nic->locked = true;
	assert_int_equal(wf_qp_post_recv(m->rig->rc, &recv, &bad_recv), 0);
	assert_int_equal(wf_qp_post_send(m->rig->rc, &wr, &bad), 0);
	rig_send(m->rig, 0, &pkt, "received", 8);
	(void)wf_nic_progress(m->nic);
	(void)wf_nic_progress(m->nic);
	assert_int_equal(count_packets(&m->rig->far[0]), 2); /* and an acknowledgement */
	assert_int_equal(wf_cq_poll(m->rig->cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(wc.status, WF_WC_SUCCESS);
	assert_memory_equal(m->rig->memory, "received", 8);
	wf_nic_unlock(m->nic);
}

/* The daemon is stopped; a thread that asks it waits, and the others do not. */
static void test_others_go_on(void **state)
{
	struct meeting *m = *state;
	struct caller c = { .service = 4711 };
	struct wf_live_reply reply = { .error = 0 };
	int daemon;

	let_ask(m, &daemon);
	start_call(m, &c, call_service);
	assert_int_equal(question(daemon).service.id, 4711);
	exchange(m);
	reply.service.id = 4712;
	reply_to(daemon, &reply, NULL);
	end_call(&c);
	assert_int_equal(c.ret, 0);
	assert_int_equal(c.service, 4712);
	stop_asking(m, daemon);
}

/* Two threads ask: each gets its own answer, and there is never more than one question. */
static void test_two_ask(void **state)
{
	struct meeting *m = *state;
	struct caller c[2] = { { .service = 100 }, { .service = 200 } };
	int daemon;

	let_ask(m, &daemon);
	for (int i = 0; i < 2; i++)
		start_call(m, &c[i], call_service);
	for (int i = 0; i < 2; i++) {
		struct wf_live_reply reply = { .error = 0 };
		char more;

		reply.service.id = question(daemon).service.id + 1;
		assert_int_equal(recv(daemon, &more, 1, MSG_DONTWAIT | MSG_PEEK), -1);
		reply_to(daemon, &reply, NULL);
	}
	for (int i = 0; i < 2; i++) {
		end_call(&c[i]);
		assert_int_equal(c[i].ret, 0);
	}
	assert_int_equal(c[0].service, 101);
	assert_int_equal(c[1].service, 201);
	stop_asking(m, daemon);
}

/* Who is in a group comes by the socket of events, and may be seen before the answer is. */
static void test_group_before_answer(void **state)
{
	struct meeting *m = *state;
	struct caller c = { .to = { .is_global = true, .dgid = { 0xff, 0x0e, [15] = 7 } } };
	struct wf_live_event event = { .type = WF_LIVE_EV_GROUP };
	struct wf_live_reply reply = { .error = 0 };
	const struct wf_nic_group *g;
	int daemon;

	let_ask(m, &daemon);
	start_call(m, &c, call_resolve);
	assert_int_equal(question(daemon).op, WF_LIVE_GROUP_SEND);
	event.group.group = reply.group.group = WF_LIVE_GROUP | 3;
	event.group.n = 1;
	event.group.port[0].host = 1;
	event.group.port[0].slot = 2;
	tell(m, &event, NULL);
	wf_nic_lock(m->nic);
	wf_nic_events(m->nic);
	wf_nic_unlock(m->nic);
	reply_to(daemon, &reply, NULL);
	end_call(&c);
	assert_int_equal(c.ret, 0);
	assert_int_equal(c.to.dest, WF_LIVE_GROUP | 3);
	g = wf_nic_group(m->nic, WF_LIVE_GROUP | 3);
	assert_non_null(g);
	assert_memory_equal(g->gid, c.to.dgid, 16);
	assert_true(g->known);
	assert_int_equal(g->n, 1);
	assert_int_equal(g->port[0].slot, 2);
	stop_asking(m, daemon);
}

/* While the link to the wire is asked for, it comes and breaks: the peer is another one then. */
static void test_peer_ends_meanwhile(void **state)
{
	struct meeting *m = *state;
	struct caller c = { .to = { .is_global = true,
		                    .dgid = { [10] = 0xff, 0xff, 192, 0, 2, 1 } } };
	struct wf_live_event event = { .type = WF_LIVE_EV_LINK, .n_fds = 2 };
	int fds[2] = { wf_pipe_memory(), eventfd(0, EFD_CLOEXEC) };
	struct wf_live_reply reply = { .error = 0 };
	uint32_t peers;
	int daemon;

	m->nic->table->layer = WF_LIVE_ROCE;
	m->nic->table->host[0].wire = 7;
	let_ask(m, &daemon);
	start_call(m, &c, call_resolve);
	assert_int_equal(question(daemon).op, WF_LIVE_REMOTE_NUMBER);
	exchange(m);
	reply.remote.number = WF_LIVE_REMOTE | 5;
	memcpy(reply.remote.gid, c.to.dgid, 16);
	reply_to(daemon, &reply, NULL);
	assert_int_equal(question(daemon).op, WF_LIVE_CONNECT);
	event.link.host = WF_LIVE_REMOTE;
	tell(m, &event, fds);
	wf_nic_lock(m->nic);
	wf_nic_events(m->nic);
	peers = m->nic->n_peers;
	for (uint32_t i = 0; i < peers; i++) {
		if (wf_nic_is_wire(m->nic->peers[i]))
			wf_nic_peer_break(m->nic, m->nic->peers[i]);
	}
	wf_nic_reap(m->nic);
	assert_int_equal(m->nic->n_peers, peers - 1);
	wf_nic_unlock(m->nic);
	memset(&reply, 0, sizeof(reply));
	reply.n_fds = 2;
	reply_to(daemon, &reply, fds);
	end_call(&c);
	assert_int_equal(c.ret, 0);
	assert_int_equal(c.to.dest, WF_LIVE_REMOTE | 5);
	assert_int_equal(m->nic->n_peers, peers);
	assert_true(wf_nic_is_wire(m->nic->peers[peers - 1]));
	assert_true(wf_nic_is_linked(m->nic->peers[peers - 1]));
	/* The second time nobody is asked. */
	c.to.dest = 0;
	start_call(m, &c, call_resolve);
	end_call(&c);
	assert_int_equal(c.to.dest, WF_LIVE_REMOTE | 5);
	close(fds[0]);
	close(fds[1]);
	stop_asking(m, daemon);
}

/* The daemon dies instead of answering, and the queue pair goes while a group is joined. */
static void test_no_answer(void **state)
{
	struct meeting *m = *state;
	struct caller c = { .to = { .dgid = { 0xff, 0x0e, [15] = 7 } } };
	struct wf_live_reply reply = { .error = 0 };
	int daemon;

	let_ask(m, &daemon);
	start_call(m, &c, call_join);
	assert_int_equal(question(daemon).op, WF_LIVE_GROUP_JOIN);
	wf_nic_lock(m->nic);
	wf_qp_destroy(m->rig->ud);
	wf_nic_unlock(m->nic);
	reply.group.group = WF_LIVE_GROUP | 3;
	reply_to(daemon, &reply, NULL);
	end_call(&c);
	assert_int_equal(c.ret, -EINVAL);
	start_call(m, &c, call_service);
	(void)question(daemon);
	shutdown(daemon, SHUT_RDWR);
	end_call(&c);
	assert_int_equal(c.ret, -ECONNRESET);
	m->nic->orphan = true;
	start_call(m, &c, call_service);
	end_call(&c);
	assert_int_equal(c.ret, -ENODEV);
	stop_asking(m, daemon);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first_contact, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nobody, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_both_ask, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_come_and_go, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_underway, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unanswered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_wire_unanswered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_orphan, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_model_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_others_go_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_two_ask, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_group_before_answer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_peer_ends_meanwhile, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_answer, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
