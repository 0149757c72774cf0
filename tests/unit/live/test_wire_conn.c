/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wire_conn.c - the daemon reads the messages of two programs' connections, one of which is
 * killed at every step: the other is told what an operating system would have told it.
 */
#include "live/wire_conn.h"

#include <string.h>

#include "check.h"
#include "live/gsi.h"

#define SERVICE 0x01061234
#define HOST_A 1
#define HOST_B 2
#define SLOT 5

struct side {
	struct wf_cm *cm;
	struct wf_cm_conn *conn;
	struct wf_cm_event last;
	unsigned n;
};

struct rig {
	struct side a, b; /* a is the one on the wire that is watched */
	struct wf_wire_conns conns;
	wf_time now;
	unsigned carried;
	uint16_t last; /* the attribute of the last message */
};

static int on_event(void *arg, const struct wf_cm_event *event)
{
	struct side *s = arg;

	s->last = *event;
	s->n++;
	if (event->type == WF_CM_EV_REQ)
		s->conn = event->conn;
	return 0;
}

static void start(struct rig *r)
{
	struct wf_cm_cfg cfg = { .event = on_event };

	memset(r, 0, sizeof(*r));
	cfg.arg = &r->a;
	cfg.id_base = (uint32_t)SLOT << WF_CM_ID_SHIFT;
	assert_int_equal(wf_cm_create(&cfg, wf_mem_heap(), &r->a.cm), 0);
	cfg.arg = &r->b;
	cfg.id_base = UINT32_C(9) << WF_CM_ID_SHIFT;
	assert_int_equal(wf_cm_create(&cfg, wf_mem_heap(), &r->b.cm), 0);
}

static void stop(struct rig *r)
{
	wf_wire_conns_clear(&r->conns);
	wf_cm_destroy(r->a.cm);
	wf_cm_destroy(r->b.cm);
}

/* Carries at most n messages, as the daemon of a does. */
static void carry(struct rig *r, unsigned n)
{
	uint8_t mad[WF_MAD_LEN];
	uint32_t to;

	while (n > 0) {
		if (r->a.cm != NULL && wf_cm_tx(r->a.cm, &to, mad)) {
			assert_int_equal(to, HOST_B);
			wf_wire_conns_sent(&r->conns, to, mad);
			wf_cm_rx(r->b.cm, HOST_A, mad, r->now);
		} else if (wf_cm_tx(r->b.cm, &to, mad)) {
			assert_int_equal(to, HOST_A);
			wf_wire_conns_got(&r->conns, HOST_B, mad);
			wf_cm_rx(r->a.cm, HOST_B, mad, r->now);
		} else {
			return;
		}
		r->last = wf_gsi_attr(mad);
		r->carried++;
		n--;
	}
}

/* The daemon of a has seen the message, and nobody else does. */
static void lose(struct rig *r)
{
	uint8_t mad[WF_MAD_LEN];
	uint32_t to;

	assert_true(wf_cm_tx(r->a.cm, &to, mad));
	wf_wire_conns_sent(&r->conns, to, mad);
}

static void connect(struct side *from, uint32_t to, wf_time now)
{
	struct wf_cm_req req = {
		.service = SERVICE,
		.qpn = 0x111,
		.remote_timeout = 20,
		.local_timeout = 20,
		.max_retries = 15,
		.path.ack_timeout = 19,
	};

	assert_int_equal(wf_cm_connect(from->cm, to, &req, "x", 1, from, now, &from->conn), 0);
}

/* Makes a connection, as far as steps lead: 1 REQ, 2 REP, 3 RTU. */
static void make(struct rig *r, bool active, unsigned steps)
{
	struct side *from = active ? &r->a : &r->b, *to = active ? &r->b : &r->a;
	struct wf_cm_rep rep = { .qpn = 0x222 };

	assert_int_equal(wf_cm_listen(to->cm, SERVICE, to), 0);
	connect(from, active ? HOST_B : HOST_A, r->now);
	carry(r, 1);
	assert_int_equal(to->last.type, WF_CM_EV_REQ);
	if (steps == 1)
		return;
	assert_int_equal(wf_cm_accept(to->conn, &rep, "y", 1, r->now), 0);
	carry(r, 1);
	assert_int_equal(from->last.type, WF_CM_EV_REP);
	if (steps == 2)
		return;
	assert_int_equal(wf_cm_establish(from->conn), 0);
	carry(r, 1);
	assert_int_equal(to->last.type, WF_CM_EV_ESTABLISHED);
}

/* a's program is killed; cm is who takes over. */
static void kill_a(struct rig *r)
{
	struct wf_cm_cfg cfg = {
		.event = on_event,
		.arg = &r->a,
		.id_base = (uint32_t)SLOT << WF_CM_ID_SHIFT,
	};

	wf_cm_destroy(r->a.cm);
	r->a.n = 0;
	assert_int_equal(wf_cm_create(&cfg, wf_mem_heap(), &r->a.cm), 0);
	wf_wire_conns_bury(&r->conns, r->a.cm, r->now);
	assert_int_equal(r->conns.n, 0);
}

static void test_killed(void **state)
{
	static const struct {
		bool active;
		unsigned steps;
		enum wf_cm_event_type event;
	} rows[] = {
		{ true, 3, WF_CM_EV_DISCONNECTED }, { false, 3, WF_CM_EV_DISCONNECTED },
		{ true, 2, WF_CM_EV_REJECTED },     { false, 2, WF_CM_EV_REJECTED },
		{ true, 1, WF_CM_EV_REJECTED },     { false, 1, WF_CM_EV_REJECTED },
	};
	struct rig r;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		start(&r);
		make(&r, rows[i].active, rows[i].steps);
		assert_int_equal(r.conns.n, 1);
		kill_a(&r);
		carry(&r, 1);
		assert_int_equal(r.b.last.type, rows[i].event);
		assert_int_equal(r.a.n, 0); /* nobody is told on this side */
		wf_cm_release(r.b.conn, r.now);
		carry(&r, 10);
		/* After a while nothing is left of it. */
		r.now += 60 * WF_S;
		wf_cm_tick(r.a.cm, r.now);
		assert_int_equal(wf_cm_count(r.a.cm), 0);
		stop(&r);
	}
}

/* The first DREQs are lost. */
static void test_repeated(void **state)
{
	uint8_t mad[WF_MAD_LEN];
	struct rig r;
	uint32_t to;

	(void)state;
	start(&r);
	make(&r, true, 3);
	kill_a(&r);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(wf_cm_tx(r.a.cm, &to, mad));
		assert_int_equal(wf_gsi_attr(mad), WF_CM_DREQ);
		assert_false(wf_cm_has_tx(r.a.cm));
		r.now = wf_cm_deadline(r.a.cm);
		assert_true(r.now < 600 * WF_S);
		wf_cm_tick(r.a.cm, r.now);
	}
	carry(&r, 1);
	assert_int_equal(r.b.last.type, WF_CM_EV_DISCONNECTED);
	stop(&r);
}

/* Nobody answers: it is given up. */
static void test_given_up(void **state)
{
	uint8_t mad[WF_MAD_LEN];
	unsigned n = 0;
	struct rig r;
	uint32_t to;

	(void)state;
	start(&r);
	make(&r, true, 3);
	kill_a(&r);
	for (unsigned i = 0; i < 100 && wf_cm_count(r.a.cm) != 0; i++) {
		while (wf_cm_tx(r.a.cm, &to, mad))
			n++;
		r.now = wf_cm_deadline(r.a.cm);
		wf_cm_tick(r.a.cm, r.now);
	}
	assert_int_equal(wf_cm_count(r.a.cm), 0);
	assert_int_equal(n, 16);
	stop(&r);
}

/* What is over is forgotten: the other side is not told twice. */
static void test_over(void **state)
{
	struct rig r;

	(void)state;
	/* It disconnects, but that gets lost; killed before it asks again, somebody else does. */
	start(&r);
	make(&r, true, 3);
	assert_int_equal(wf_cm_disconnect(r.a.conn, r.now), 0);
	lose(&r);
	assert_int_equal(r.conns.n, 1);
	kill_a(&r);
	carry(&r, 1);
	assert_int_equal(r.last, WF_CM_DREQ);
	assert_int_equal(r.b.last.type, WF_CM_EV_DISCONNECTED);
	stop(&r);
	/* It disconnects, and is answered. */
	start(&r);
	make(&r, true, 3);
	assert_int_equal(wf_cm_disconnect(r.a.conn, r.now), 0);
	carry(&r, 1);
	assert_int_equal(r.conns.n, 1);
	assert_int_equal(r.last, WF_CM_DREQ);
	assert_int_equal(wf_cm_disconnect(r.b.conn, r.now), 0);
	carry(&r, 1);
	assert_int_equal(r.last, WF_CM_DREP);
	assert_int_equal(r.conns.n, 0);
	stop(&r);
	/* It is disconnected, and killed before it answers. */
	start(&r);
	make(&r, false, 3);
	assert_int_equal(wf_cm_disconnect(r.b.conn, r.now), 0);
	carry(&r, 1);
	assert_int_equal(r.conns.n, 1);
	kill_a(&r);
	carry(&r, 1);
	assert_int_equal(r.last, WF_CM_DREP);
	assert_int_equal(r.b.last.type, WF_CM_EV_DISCONNECTED);
	stop(&r);
	/* It rejects. */
	start(&r);
	make(&r, false, 1);
	assert_int_equal(wf_cm_reject(r.a.conn, WF_CM_REJ_CONSUMER, NULL, 0), 0);
	carry(&r, 1);
	assert_int_equal(r.conns.n, 0);
	stop(&r);
	/* It is rejected. */
	start(&r);
	make(&r, true, 1);
	assert_int_equal(wf_cm_reject(r.b.conn, WF_CM_REJ_CONSUMER, NULL, 0), 0);
	carry(&r, 1);
	assert_int_equal(r.conns.n, 0);
	stop(&r);
}

/* Messages that come again, cross or name somebody else's connection change nothing. */
static void test_again(void **state)
{
	struct wf_cm_pair pair = { 1, (uint32_t)SLOT << WF_CM_ID_SHIFT | 1, 0 };
	uint8_t mad[WF_MAD_LEN];
	struct rig r;

	(void)state;
	start(&r);
	make(&r, true, 2);
	/* The REQ was sent again before the REP was seen. */
	memset(mad, 0, sizeof(mad));
	wf_cm_header(mad, WF_CM_REQ, 1);
	wf_cm_req_encode(&wf_cm_info(r.a.conn)->req, mad);
	wf_wire_conns_sent(&r.conns, HOST_B, mad);
	assert_int_equal(r.conns.n, 1);
	assert_int_equal(wf_cm_establish(r.a.conn), 0);
	carry(&r, 1);
	/* A DREP, and one from another host, with a wrong ID. */
	memset(mad, 0, sizeof(mad));
	wf_cm_header(mad, WF_CM_DREP, 1);
	wf_cm_pair_encode(&pair, mad);
	wf_wire_conns_got(&r.conns, HOST_B, mad);
	pair.local_id = wf_cm_info(r.a.conn)->remote_id;
	wf_cm_pair_encode(&pair, mad);
	wf_wire_conns_got(&r.conns, HOST_B + 1, mad);
	assert_int_equal(r.conns.n, 1);
	/* What is not of communication management is not read as such. */
	mad[1] = WF_MAD_CLASS_PERF;
	wf_wire_conns_got(&r.conns, HOST_B, mad);
	assert_int_equal(r.conns.n, 1);
	kill_a(&r);
	carry(&r, 1);
	assert_int_equal(r.b.last.type, WF_CM_EV_DISCONNECTED);
	stop(&r);
}

/* Requests that are never answered do not fill it for ever. */
static void test_flood(void **state)
{
	struct wf_cm_req req = { .service = SERVICE, .qpn = 7 };
	uint8_t mad[WF_MAD_LEN];
	struct rig r;

	(void)state;
	start(&r);
	make(&r, true, 3);
	for (uint32_t i = 0; i < 3 * WF_WIRE_CONNS_MAX; i++) {
		req.local_id = 1000 + i;
		memset(mad, 0, sizeof(mad));
		wf_cm_header(mad, WF_CM_REQ, 1);
		wf_cm_req_encode(&req, mad);
		wf_wire_conns_got(&r.conns, HOST_B + 1 + i % 7, mad);
		wf_wire_conns_got(&r.conns, HOST_B + 1 + i % 7, mad);
	}
	assert_int_equal(r.conns.n, WF_WIRE_CONNS_MAX);
	/* The connection is still among them. */
	kill_a(&r);
	for (unsigned i = 0; i < 2 * WF_WIRE_CONNS_MAX && r.b.last.type != WF_CM_EV_DISCONNECTED;
	     i++) {
		uint32_t to;

		assert_true(wf_cm_tx(r.a.cm, &to, mad));
		if (to == HOST_B)
			wf_cm_rx(r.b.cm, HOST_A, mad, r.now);
	}
	assert_int_equal(r.b.last.type, WF_CM_EV_DISCONNECTED);
	stop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed),   cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_given_up), cmocka_unit_test(test_over),
		cmocka_unit_test(test_again),    cmocka_unit_test(test_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
