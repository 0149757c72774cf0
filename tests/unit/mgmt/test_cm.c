/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cm.c - communication management: two of them and the messages between them, in virtual time.
 */
#include "check.h"

#include <errno.h>
#include <string.h>

#include "mgmt/cm.h"

#define SERVICE 0x01061234
#define MAX_EVENTS 16

struct side {
	struct wf_cm *cm;
	uint32_t host;
	struct wf_cm_event event[MAX_EVENTS];
	unsigned n;
	struct wf_cm_conn *conn;
	int refuse;
};

static int on_event(void *arg, const struct wf_cm_event *event)
{
	struct side *s = arg;

	assert_true(s->n < MAX_EVENTS);
	s->event[s->n++] = *event;
	if (event->type == WF_CM_EV_REQ || event->type == WF_CM_EV_SIDR_REQ) {
		if (s->refuse != 0)
			return s->refuse;
		s->conn = event->conn;
	}
	return 0;
}

static struct side a, b;
static wf_time now;
static unsigned sent; /* messages that were on the way */
static uint32_t lose; /* bit n: message n is lost */

static void start(void)
{
	struct wf_cm_cfg cfg = { .event = on_event };

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	a.host = 1;
	b.host = 2;
	now = 0;
	sent = 0;
	lose = 0;
	cfg.arg = &a;
	cfg.ca_guid = 0xa;
	cfg.id_base = UINT32_C(1) << WF_CM_ID_SHIFT;
	assert_int_equal(wf_cm_create(&cfg, wf_mem_heap(), &a.cm), 0);
	cfg.arg = &b;
	cfg.ca_guid = 0xb;
	cfg.id_base = UINT32_C(2) << WF_CM_ID_SHIFT;
	assert_int_equal(wf_cm_create(&cfg, wf_mem_heap(), &b.cm), 0);
}

static void stop(void)
{
	wf_cm_destroy(a.cm);
	wf_cm_destroy(b.cm);
}

static bool carry_one(struct side *from, struct side *to)
{
	uint8_t mad[WF_MAD_LEN];
	uint32_t host;

	if (!wf_cm_tx(from->cm, &host, mad))
		return false;
	assert_int_equal(host, to->host);
	if ((lose >> (sent++ & 31) & 1) == 0)
		wf_cm_rx(to->cm, from->host, mad, now);
	return true;
}

static void carry(void)
{
	while (carry_one(&a, &b) || carry_one(&b, &a))
		;
}

/* Time goes on to the next timer of either side. */
static bool wait_on(void)
{
	wf_time at = wf_min_time(wf_cm_deadline(a.cm), wf_cm_deadline(b.cm));

	if (at == WF_TIME_NEVER)
		return false;
	now = at;
	wf_cm_tick(a.cm, now);
	wf_cm_tick(b.cm, now);
	carry();
	return true;
}

static void connect_a(void)
{
	struct wf_cm_req req = {
		.service = SERVICE,
		.qpn = 0x11,
		.responder_resources = 3,
		.initiator_depth = 5,
		.remote_timeout = 20,
		.local_timeout = 20,
		.psn = 0x111111,
		.retry_count = 7,
		.rnr_retry = 6,
		.max_retries = 15,
		.path = { .ack_timeout = 17 },
	};

	assert_int_equal(wf_cm_connect(a.cm, 2, &req, "hello", 5, &a, now, &a.conn), 0);
	carry();
}

static void accept_b(void)
{
	struct wf_cm_rep rep = {
		.qpn = 0x22, .psn = 0x222222, .responder_resources = 4, .initiator_depth = 2
	};

	assert_int_equal(wf_cm_accept(b.conn, &rep, "there", 5, now), 0);
	carry();
}

/* To a connection on both sides. */
static void establish(void)
{
	start();
	assert_int_equal(wf_cm_listen(b.cm, SERVICE, &b), 0);
	connect_a();
	accept_b();
	assert_int_equal(wf_cm_establish(a.conn), 0);
	carry();
	assert_int_equal(wf_cm_info(a.conn)->state, WF_CM_ESTABLISHED);
	assert_int_equal(wf_cm_info(b.conn)->state, WF_CM_ESTABLISHED);
	a.n = b.n = 0;
}

static void test_connect(void **state)
{
	const struct wf_cm_info *i;

	(void)state;
	start();
	assert_int_equal(wf_cm_listen(b.cm, SERVICE, &b), 0);
	assert_int_equal(wf_cm_listen(b.cm, SERVICE, &b), -EADDRINUSE);
	connect_a();
	assert_int_equal(b.n, 1);
	assert_int_equal(b.event[0].type, WF_CM_EV_REQ);
	assert_int_equal(b.event[0].length, 92);
	i = wf_cm_info(b.conn);
	assert_int_equal(i->remote_qpn, 0x11);
	assert_int_equal(i->remote_psn, 0x111111);
	assert_int_equal(i->responder_resources, 5);
	assert_int_equal(i->initiator_depth, 3);
	assert_int_equal(i->rnr_retry, 6);
	accept_b();
	assert_int_equal(a.event[0].type, WF_CM_EV_REP);
	i = wf_cm_info(a.conn);
	assert_int_equal(i->remote_qpn, 0x22);
	assert_int_equal(i->remote_psn, 0x222222);
	assert_int_equal(i->responder_resources, 2);
	assert_int_equal(i->initiator_depth, 4);
	assert_int_equal(wf_cm_establish(a.conn), 0);
	carry();
	assert_int_equal(b.event[1].type, WF_CM_EV_ESTABLISHED);
	assert_int_equal(sent, 3);
	/* Nothing more is due. */
	while (wait_on())
		;
	assert_int_equal(sent, 3);
	stop();
}

static void test_disconnect(void **state)
{
	(void)state;
	establish();
	assert_int_equal(wf_cm_disconnect(a.conn, now), 0);
	carry();
	assert_int_equal(b.event[0].type, WF_CM_EV_DISCONNECTED);
	assert_int_equal(a.n, 0);
	assert_int_equal(wf_cm_disconnect(b.conn, now), 0);
	carry();
	assert_int_equal(a.event[0].type, WF_CM_EV_DISCONNECTED);
	assert_int_equal(a.event[0].status, 0);
	while (wait_on())
		;
	assert_int_equal(a.event[1].type, WF_CM_EV_TIMEWAIT_EXIT);
	assert_int_equal(b.event[1].type, WF_CM_EV_TIMEWAIT_EXIT);
	wf_cm_release(a.conn, now);
	wf_cm_release(b.conn, now);
	assert_false(wf_cm_has_tx(a.cm));
	stop();
}

/* Whichever of the first messages is lost, it is sent again. */
static void test_loss(void **state)
{
	(void)state;
	for (unsigned lost = 0; lost < 3; lost++) {
		start();
		lose = UINT32_C(1) << lost;
		assert_int_equal(wf_cm_listen(b.cm, SERVICE, &b), 0);
		connect_a();
		while (b.n == 0)
			assert_true(wait_on());
		accept_b();
		while (a.n == 0)
			assert_true(wait_on());
		assert_int_equal(wf_cm_establish(a.conn), 0);
		carry();
		while (b.n == 1)
			assert_true(wait_on());
		assert_int_equal(b.event[1].type, WF_CM_EV_ESTABLISHED);
		assert_int_equal(a.n, 1);
		assert_true(now > 4 * WF_S && now < 6 * WF_S);
		stop();
	}
}

/* Nobody answers: 16 times, 4.8 s each. */
static void test_unreachable(void **state)
{
	(void)state;
	start();
	lose = UINT32_MAX;
	connect_a();
	while (wait_on())
		;
	assert_int_equal(a.n, 1);
	assert_int_equal(a.event[0].type, WF_CM_EV_UNREACHABLE);
	assert_int_equal(a.event[0].status, -ETIMEDOUT);
	assert_int_equal(sent, 16 + 1); /* and a REJ that says so */
	assert_true(now > 76 * WF_S && now < 79 * WF_S);
	wf_cm_release(a.conn, now);
	/* The passive side's REP is not answered, either. */
	lose = 0;
	assert_int_equal(wf_cm_listen(b.cm, SERVICE, &b), 0);
	connect_a();
	lose = UINT32_MAX;
	accept_b();
	while (wait_on() && b.n < 2)
		;
	assert_int_equal(b.event[1].type, WF_CM_EV_UNREACHABLE);
	stop();
}

/* A user that takes long has the other side wait, by an MRA. */
static void test_slow(void **state)
{
	(void)state;
	start();
	assert_int_equal(wf_cm_listen(b.cm, SERVICE, &b), 0);
	connect_a();
	assert_true(wait_on()); /* REQ again, MRA */
	assert_int_equal(sent, 3);
	assert_int_equal(b.n, 1);
	now += 60 * WF_S;
	wf_cm_tick(a.cm, now);
	carry();
	assert_int_equal(sent, 3);
	accept_b();
	assert_int_equal(a.event[0].type, WF_CM_EV_REP);
	stop();
}

static void test_reject(void **state)
{
	(void)state;
	start();
	connect_a(); /* nobody listens */
	assert_int_equal(a.event[0].type, WF_CM_EV_REJECTED);
	assert_int_equal(a.event[0].status, WF_CM_REJ_INVALID_SERVICE_ID);
	wf_cm_release(a.conn, now);
	assert_int_equal(wf_cm_listen(b.cm, SERVICE, &b), 0);
	connect_a();
	assert_int_equal(wf_cm_reject(b.conn, WF_CM_REJ_CONSUMER, "no", 2), 0);
	carry();
	assert_int_equal(a.event[1].type, WF_CM_EV_REJECTED);
	assert_int_equal(a.event[1].status, WF_CM_REJ_CONSUMER);
	assert_int_equal(a.event[1].length, 148);
	wf_cm_release(a.conn, now);
	wf_cm_release(b.conn, now);
	b.refuse = -1;
	connect_a();
	assert_int_equal(a.event[2].status, WF_CM_REJ_CONSUMER);
	stop();
}

/* The other side goes without a word: what its system would have said. */
static void test_gone(void **state)
{
	(void)state;
	establish();
	wf_cm_gone(a.cm, 2, UINT32_C(3) << WF_CM_ID_SHIFT, now);
	assert_int_equal(a.n, 0);
	wf_cm_gone(a.cm, 2, UINT32_C(2) << WF_CM_ID_SHIFT, now);
	assert_int_equal(a.event[0].type, WF_CM_EV_DISCONNECTED);
	stop();
	/* Before it has answered: it is known to whom the REQ went. */
	start();
	assert_int_equal(wf_cm_listen(b.cm, SERVICE, &b), 0);
	connect_a();
	wf_cm_gone(a.cm, 2, UINT32_C(2) << WF_CM_ID_SHIFT, now);
	assert_int_equal(a.n, 0);
	{
		uint8_t mad[WF_MAD_LEN] = { 0 };
		struct wf_cm_req req = { .local_id = wf_cm_info(a.conn)->local_id };

		wf_cm_header(mad, WF_CM_REQ, 0);
		wf_cm_req_encode(&req, mad);
		wf_cm_aim(a.cm, mad, UINT32_C(2) << WF_CM_ID_SHIFT);
	}
	wf_cm_gone(a.cm, 2, UINT32_C(3) << WF_CM_ID_SHIFT, now);
	assert_int_equal(a.n, 0);
	wf_cm_gone(a.cm, 2, UINT32_C(2) << WF_CM_ID_SHIFT, now);
	assert_int_equal(a.n, 1);
	assert_int_equal(a.event[0].type, WF_CM_EV_REJECTED);
	assert_int_equal(a.event[0].status, WF_CM_REJ_CONSUMER);
	stop();
	/* Released at both ends at once: each hears the other's DREQ, and all of it goes. */
	establish();
	wf_cm_release(a.conn, now);
	wf_cm_release(b.conn, now);
	carry();
	while (wait_on())
		;
	assert_int_equal(a.n + b.n, 0);
	stop();
}

/* Nobody can be reached any more: every connection ends in one event, and nothing is left. */
static void test_fail(void **state)
{
	enum wf_cm_event_type made = WF_CM_EV_UNREACHABLE, ended = WF_CM_EV_DISCONNECTED;

	(void)state;
	for (unsigned step = 0; step < 5; step++) {
		start();
		lose = step == 2 ? 2 : 0; /* of the second, the REP is lost */
		assert_int_equal(wf_cm_listen(b.cm, SERVICE, &b), 0);
		connect_a();
		if (step >= 1)
			accept_b();
		if (step >= 3)
			assert_int_equal(wf_cm_establish(a.conn), 0);
		if (step >= 3)
			carry();
		if (step >= 4)
			assert_int_equal(wf_cm_disconnect(a.conn, now), 0);
		a.n = b.n = 0;
		wf_cm_fail(a.cm, now);
		wf_cm_fail(b.cm, now);
		wf_cm_fail(b.cm, now);
		assert_int_equal(a.n, 1);
		assert_int_equal(b.n, 1);
		assert_int_equal(a.event[0].type, step < 3 ? made : ended);
		assert_int_equal(b.event[0].type, step < 3 ? made : ended);
		wf_cm_release(a.conn, now);
		wf_cm_release(b.conn, now);
		lose = UINT32_MAX;
		while (wait_on())
			;
		assert_int_equal(a.n + b.n, 2);
		stop();
	}
}

/*
 * A queue pair that is in a connection wants another: refused, and the old one ends; then it may.
 */
static void test_stale(void **state)
{
	struct wf_cm_conn *old;

	(void)state;
	establish();
	old = a.conn;
	connect_a();
	assert_int_equal(a.n, 2);
	assert_int_equal(b.n, 0);
	assert_int_equal(a.event[0].type, WF_CM_EV_REJECTED);
	assert_int_equal(a.event[0].status, WF_CM_REJ_STALE_CONNECTION);
	assert_ptr_equal(a.event[0].conn, a.conn);
	assert_int_equal(a.event[1].type, WF_CM_EV_DISCONNECTED);
	assert_ptr_equal(a.event[1].conn, old);
	wf_cm_release(a.conn, now);
	assert_int_equal(wf_cm_disconnect(old, now), 0);
	carry();
	assert_int_equal(b.event[0].type, WF_CM_EV_DISCONNECTED);
	/* Packets of the old one may still be under way. */
	connect_a();
	assert_int_equal(a.event[2].status, WF_CM_REJ_STALE_CONNECTION);
	wf_cm_release(a.conn, now);
	while (wait_on())
		;
	wf_cm_release(old, now);
	wf_cm_release(b.conn, now);
	a.n = b.n = 0;
	connect_a();
	assert_int_equal(b.n, 1);
	assert_int_equal(b.event[0].type, WF_CM_EV_REQ);
	stop();
}

static void test_sidr(void **state)
{
	(void)state;
	start();
	assert_int_equal(wf_cm_listen(b.cm, SERVICE, &b), 0);
	assert_int_equal(wf_cm_resolve(a.cm, 2, SERVICE, 0xffff, "who", 3, &a, now, &a.conn), 0);
	carry();
	assert_int_equal(b.event[0].type, WF_CM_EV_SIDR_REQ);
	assert_int_equal(wf_cm_resolved(b.conn, WF_CM_SIDR_OK, 0x33, 0x44, "me", 2), 0);
	carry();
	assert_int_equal(a.event[0].type, WF_CM_EV_SIDR_REP);
	assert_int_equal(a.event[0].qpn, 0x33);
	assert_int_equal(a.event[0].qkey, 0x44);
	wf_cm_release(a.conn, now);
	assert_int_equal(wf_cm_resolve(a.cm, 2, SERVICE + 1, 0xffff, NULL, 0, &a, now, &a.conn), 0);
	carry();
	assert_int_equal(a.event[1].status, WF_CM_SIDR_UNSUPPORTED);
	wf_cm_release(a.conn, now);
	/* Who was asked ends before it has answered. */
	assert_int_equal(wf_cm_resolve(a.cm, 2, SERVICE, 0xffff, "who", 3, &a, now, &a.conn), 0);
	{
		uint8_t mad[WF_MAD_LEN];
		uint32_t host;

		assert_true(wf_cm_tx(a.cm, &host, mad));
		wf_cm_aim(a.cm, mad, UINT32_C(2) << WF_CM_ID_SHIFT);
		assert_true(wf_cm_is_waiting(a.cm, mad));
		a.n = 0;
		wf_cm_gone(a.cm, 2, UINT32_C(2) << WF_CM_ID_SHIFT, now);
		assert_false(wf_cm_is_waiting(a.cm, mad));
	}
	assert_int_equal(a.n, 1);
	assert_int_equal(a.event[0].type, WF_CM_EV_UNREACHABLE);
	stop();
}

/* Any bytes as messages, to connections in all states. */
static void test_nonsense(void **state)
{
	uint64_t r = 88172645463325252U;

	(void)state;
	establish();
	for (unsigned n = 0; n < 200000; n++) {
		uint8_t mad[WF_MAD_LEN];

		for (size_t i = 0; i < sizeof(mad); i += 8) {
			r ^= r << 13;
			r ^= r >> 7;
			r ^= r << 17;
			memcpy(mad + i, &r, 8);
		}
		wf_cm_header(mad, (uint16_t)(WF_CM_REQ + r % 12), r);
		if ((r & 0x100) != 0)
			memcpy(mad + WF_CM_DATA, "\0\x80\0\1\0\x40\0\1", 8); /* b's name, a's */
		a.n = b.n = 0;
		a.refuse = b.refuse = (int)(r >> 12 & 1);
		wf_cm_rx(a.cm, 2, mad, now);
		while (wf_cm_tx(a.cm, &a.host, mad))
			;
		now += WF_MS;
		wf_cm_tick(a.cm, now);
	}
	stop();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connect), cmocka_unit_test(test_disconnect),
		cmocka_unit_test(test_loss),    cmocka_unit_test(test_unreachable),
		cmocka_unit_test(test_slow),    cmocka_unit_test(test_reject),
		cmocka_unit_test(test_gone),    cmocka_unit_test(test_stale),
		cmocka_unit_test(test_sidr),    cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
