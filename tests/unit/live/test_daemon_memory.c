/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_daemon_memory.c - every allocation of the daemon fails in turn, and every one from some
 * point on: while it starts, and in whatever programs, captures and readers of metrics ask of it.
 * Whoever asks is told or let go; the daemon goes on, and forgets nothing in the end.
 *
 * ctest: oom checked
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "live/daemon_priv.h"
#include "live/http.h"
#include "live/sock.h"
#include "oom.h"
#include "rig_model.h"

#define ROUNDS 200 /* of the daemon's loop, at most, after which it has nothing more to do */

enum kind { DIRECT, MODELLED, WIRED };

enum who { A, B, C, D, WHO }; /* programs on h1, h2 and h3; C captures */

struct peer {
	int sock, events; /* -1: not there */
	uint32_t host, slot;
};

struct rig {
	struct wf_daemon *d;
	struct wf_topo *topo;
	struct wf_fabric_cfg fabric;
	struct wf_sim_cfg sim;
	struct wf_err err;
	struct wf_daemon_wire wire;
	struct wf_daemon_cfg cfg;
	struct peer peer[WHO];
	char dir[32], path[64];
	bool plenty; /* there is memory for the moment */
	int lowest;  /* the descriptor that is free first */
};

static int lowest_free(void)
{
	int fd = dup(0);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

static void describe(struct rig *r, enum kind kind)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };

	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < WHO; i++)
		r->peer[i].sock = r->peer[i].events = -1;
	snprintf(r->dir, sizeof(r->dir), "/tmp/weft-test.XXXXXX");
	assert_non_null(mkdtemp(r->dir));
	snprintf(r->path, sizeof(r->path), "%s/s", r->dir);
	r->cfg = (struct wf_daemon_cfg){ .path = r->path,
		                         .fabric = "test",
		                         .layer = WF_LIVE_ROCE,
		                         .n_hosts = RIG_HOSTS,
		                         .rate = UINT64_C(10000000000),
		                         .mtu = 4096,
		                         .cls = 3,
		                         .err = &r->err };
	memcpy(&r->cfg.metrics, &any, sizeof(any));
	if (kind == MODELLED) {
		r->topo = rig_model_describe(&r->fabric, false, "4096B");
		r->sim = (struct wf_sim_cfg){ .fabric = &r->fabric, .seed = 1, .topo = r->topo };
		r->cfg.model = &r->sim;
		r->cfg.pace = WF_LIVE_NONE;
	} else if (kind == WIRED) {
		/* An address of this process alone: the port is always the same. */
		r->wire.gid[10] = r->wire.gid[11] = 0xff;
		r->wire.gid[12] = 127;
		r->wire.gid[13] = (uint8_t)(getpid() >> 16 | 0x80);
		r->wire.gid[14] = (uint8_t)(getpid() >> 8);
		r->wire.gid[15] = (uint8_t)getpid();
		r->cfg.wires = &r->wire;
		r->cfg.n_wires = 1;
	}
	r->lowest = lowest_free();
}

static void start(struct rig *r, enum kind kind)
{
	describe(r, kind);
	assert_int_equal(wf_daemon_create(&r->cfg, &r->d), 0);
}

/* Nothing of it is left, and nothing but it went. */
static void finish(struct rig *r)
{
	if (r->d != NULL)
		wf_daemon_destroy(r->d);
	assert_int_equal(lowest_free(), r->lowest);
	assert_int_equal(rmdir(r->dir), 0);
	if (r->topo != NULL)
		wf_topo_destroy(r->topo);
}

/* The daemon does what there is to do, while memory is short, if it is. */
static void serve(struct rig *r)
{
	int n = 1;

	for (int i = 0; i < ROUNDS && (n > 0 || wf_http_rest(r->d) == 0); i++) {
		if (!r->plenty)
			oom_begin();
		n = wf_daemon_step(r->d, 0);
		oom_end();
		assert_true(n >= 0);
	}
}

static void hang_up(struct peer *p)
{
	if (p->sock >= 0)
		close(p->sock);
	if (p->events >= 0)
		close(p->events);
	p->sock = p->events = -1;
}

/* Takes what is there; descriptors are closed, but, to keep, the first. Returns its length. */
static int take(struct peer *p, int sock, void *msg, size_t size, bool keep)
{
	int fds[WF_LIVE_MAX_FDS];
	unsigned n;
	int len = wf_sock_recv(sock, msg, size, fds, &n, false);

	for (unsigned i = 0; i < n; i++) {
		if (i == 0 && p->events < 0 && sock == p->sock && keep)
			p->events = fds[i];
		else
			close(fds[i]);
	}
	return len;
}

/*
 * Somebody asks, and reads all that he is told. Returns 0, what the daemon says is wrong, or
 * -ECONNRESET: he is let go.
 */
static int ask(struct rig *r, enum who who, struct wf_live_req *req, struct wf_live_reply *reply)
{
	struct peer *p = &r->peer[who];
	struct wf_live_event event;
	int len;

	if (p->sock < 0)
		p->sock = wf_sock_connect(r->path, -1);
	assert_true(p->sock >= 0);
	req->version = WF_LIVE_VERSION;
	/* Where he is let go before he asks, nobody is there to be asked. */
	(void)!wf_sock_send(p->sock, req, wf_live_req_bytes(req), NULL, 0, false);
	serve(r);
	len = take(p, p->sock, reply, sizeof(*reply),
	           req->op == WF_LIVE_ATTACH || req->op == WF_LIVE_CAPTURE);
	for (unsigned i = 0; i < WHO; i++) {
		while (r->peer[i].events >= 0 &&
		       take(&r->peer[i], r->peer[i].events, &event, sizeof(event), false) > 0)
			;
	}
	if (len != WF_LIVE_REPLY_SHORT) {
		assert_true(len == 0 || len == -ECONNRESET);
		/* A program that is on the fabric stays there, when it is one thing that fails. */
		assert_true(p->events < 0 || oom.how == OOM_ALL);
		hang_up(p);
		return -ECONNRESET;
	}
	assert_true(reply->error <= 0);
	return reply->error;
}

static int attach(struct rig *r, enum who who, const char *host)
{
	struct wf_live_req req = { .op = WF_LIVE_ATTACH };
	struct wf_live_reply reply;
	int ret;

	snprintf(req.attach.host, sizeof(req.attach.host), "%s", host);
	ret = ask(r, who, &req, &reply);
	if (ret != 0) {
		hang_up(&r->peer[who]);
		return ret;
	}
	r->peer[who].host = reply.attach.host;
	r->peer[who].slot = reply.attach.slot;
	return 0;
}

/* By its socket of events, A asks for what is answered there: the type of the event; 0: none. */
static uint32_t murmur(struct rig *r, struct wf_live_req *req)
{
	struct wf_live_event event = { .type = 0 };
	struct peer *p = &r->peer[A];

	if (p->events < 0)
		return 0;
	req->version = WF_LIVE_VERSION;
	(void)!wf_sock_send(p->events, req, wf_live_req_bytes(req), NULL, 0, false);
	serve(r);
	if (take(p, p->events, &event, sizeof(event), false) <= 0)
		return 0;
	return event.type;
}

/* A reader of metrics. Returns whether he got a page to its end. */
static bool read_metrics(struct rig *r)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n";
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	char text[65536];
	size_t have = 0;
	ssize_t n = -1;
	int fd;

	assert_int_equal(getsockname(r->d->http->listener, (void *)&at, &len), 0);
	fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (void *)&at, len), 0);
	(void)!send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL);
	while (n != 0) {
		serve(r);
		n = recv(fd, text + have, sizeof(text) - have, MSG_DONTWAIT);
		if (n > 0)
			have += (size_t)n;
		else if (n < 0 && errno == ECONNRESET)
			n = 0;
		else
			assert_true(n == 0 || errno == EAGAIN);
	}
	close(fd);
	return have > 12 && memcmp(text, "HTTP/1.1 200", 12) == 0 &&
	       memmem(text, have, "\r\n0\r\n\r\n", 7) != NULL;
}

/*
 * A asks for a link. If there is none for want of memory, there is one when there is memory:
 * nothing was begun that stays half done. Returns whether it was there at once.
 */
static bool reach(struct rig *r, uint32_t host, uint32_t slot)
{
	struct wf_live_req req = { .op = WF_LIVE_CONNECT };
	struct wf_live_reply reply;
	int ret;

	req.connect.host = host;
	req.connect.slot = slot;
	ret = ask(r, A, &req, &reply);
	if (ret == 0)
		return true;
	if (r->peer[A].events >= 0 && (host >= WF_LIVE_MODEL || r->peer[B].events >= 0)) {
		r->plenty = true;
		assert_int_equal(ask(r, A, &req, &reply), 0);
		r->plenty = false;
	}
	return false;
}

static struct wf_live_req group_of(uint32_t op)
{
	struct wf_live_req req = { .op = op };
	static const uint8_t gid[16] = { 0xff, 0x0e, [15] = 7 };

	memcpy(req.group.gid, gid, sizeof(gid));
	return req;
}

/* What A and B ask of each other. Returns how many times something went wrong. */
static int talk(struct rig *r)
{
	struct wf_live_req req = { .op = WF_LIVE_CONNECT };
	struct wf_live_reply reply;
	int bad = !reach(r, r->peer[B].host, r->peer[B].slot);

	if (r->d->model != NULL)
		bad += !reach(r, WF_LIVE_MODEL, 0);
	if (r->d->wires != NULL)
		bad += !reach(r, WF_LIVE_REMOTE, 0);
	/* Another link is told of by an event, as is that there is none now. */
	req.connect.host = r->peer[D].host;
	req.connect.slot = r->peer[D].slot;
	if (r->peer[A].events >= 0 && r->peer[D].events >= 0 && r->d->model == NULL &&
	    murmur(r, &req) != WF_LIVE_EV_LINK) {
		bad++;
		r->plenty = true;
		assert_int_equal(murmur(r, &req), WF_LIVE_EV_LINK);
		r->plenty = false;
	}
	req = group_of(WF_LIVE_GROUP_JOIN);
	bad += ask(r, A, &req, &reply) != 0;
	req = group_of(WF_LIVE_GROUP_SEND);
	bad += ask(r, B, &req, &reply) != 0;
	req = group_of(WF_LIVE_GROUP_LEAVE);
	bad += ask(r, A, &req, &reply) != 0;
	for (uint32_t op = WF_LIVE_SERVICE_BIND; op <= WF_LIVE_SERVICE_SEEK; op++) {
		req = (struct wf_live_req){ .op = op };
		req.service.id = UINT64_C(0x0000000001060000) | 77;
		if (op != WF_LIVE_SERVICE_FREE)
			bad += ask(r, A, &req, &reply) != 0;
	}
	req.op = WF_LIVE_SERVICE_FIND;
	assert_true(r->peer[A].events < 0 || murmur(r, &req) == WF_LIVE_EV_SERVICE);
	return bad;
}

/* What those ask who only look, and those who break things. */
static int look(struct rig *r)
{
	static const uint32_t ops[] = { WF_LIVE_STATUS, WF_LIVE_COUNTERS, WF_LIVE_PORTS };
	struct wf_live_req req = { .op = WF_LIVE_CAPTURE };
	struct wf_live_reply reply;
	int bad = 0;

	req.capture.host = WF_LIVE_ALL;
	req.capture.snaplen = 64;
	bad += ask(r, C, &req, &reply) != 0;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(ops); i++) {
		struct peer capturer = r->peer[C];

		if (ops[i] == WF_LIVE_PORTS && r->d->model == NULL)
			continue;
		r->peer[C] = (struct peer){ .sock = -1, .events = -1 };
		req = (struct wf_live_req){ .op = ops[i] };
		snprintf(req.attach.host, sizeof(req.attach.host), "h2");
		bad += ask(r, C, &req, &reply) != 0;
		hang_up(&r->peer[C]);
		r->peer[C] = capturer;
	}
	for (uint32_t what = WF_LIVE_FAULT_DOWN; what <= WF_LIVE_FAULT_CLEAR; what++) {
		req = (struct wf_live_req){ .op = WF_LIVE_FAULT };
		req.fault.host = 1;
		req.fault.what = what;
		req.fault.value = 1;
		if (what != WF_LIVE_FAULT_KILL)
			bad += ask(r, B, &req, &reply) != 0;
	}
	return bad;
}

/* All of it. Returns whether everything went well. */
static bool live(struct rig *r)
{
	int bad = attach(r, A, "h1") != 0;

	bad += attach(r, B, "h2") != 0;
	bad += attach(r, D, "h3") != 0;
	bad += talk(r);
	bad += look(r);
	bad += !read_metrics(r);
	/* One that comes when captures are there. */
	hang_up(&r->peer[B]);
	serve(r);
	bad += attach(r, B, "h2") != 0;
	for (unsigned i = 0; i < WHO; i++)
		hang_up(&r->peer[i]);
	serve(r);
	return bad == 0;
}

static void fail_in_turn(enum kind kind, enum oom_how how)
{
	struct rig r;
	bool failed = true, well;
	long n;

	for (n = 0; failed; n++) {
		start(&r, kind);
		oom_arm(how, n);
		well = live(&r);
		failed = oom_disarm();
		if (!failed)
			assert_true(well);
		/* It goes on as if nothing had been. */
		assert_true(live(&r));
		serve(&r);
		assert_null(r.d->clients);
		finish(&r);
	}
	assert_true(n > 10); /* there were some to fail */
}

static void test_one(void **state)
{
	(void)state;
	fail_in_turn(DIRECT, OOM_ONE);
}

static void test_all(void **state)
{
	(void)state;
	fail_in_turn(DIRECT, OOM_ALL);
}

static void test_modelled(void **state)
{
	(void)state;
	fail_in_turn(MODELLED, OOM_ONE);
	fail_in_turn(MODELLED, OOM_ALL);
}

static void test_wired(void **state)
{
	(void)state;
	fail_in_turn(WIRED, OOM_ONE);
	fail_in_turn(WIRED, OOM_ALL);
}

/* It begins whole or not at all. */
static void test_start(void **state)
{
	struct rig r;
	long n = 0;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		bool failed = true;
		int ret;

		for (n = 0; failed; n++) {
			describe(&r, i % 3);
			oom_arm(i / 3, n);
			oom_begin();
			ret = wf_daemon_create(&r.cfg, &r.d);
			oom_end();
			failed = oom_disarm();
			assert_true(ret <= 0);
			assert_int_equal(ret == 0, r.d != NULL);
			if (!failed)
				assert_int_equal(ret, 0);
			if (ret == 0)
				assert_true(live(&r));
			finish(&r);
		}
		assert_true(n > 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start), cmocka_unit_test(test_one),
		cmocka_unit_test(test_all),   cmocka_unit_test(test_modelled),
		cmocka_unit_test(test_wired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
