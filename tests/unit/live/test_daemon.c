/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_daemon.c - the daemon's socket: what programs ask, and what nobody should ask.
 *
 * ctest: tsan
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "live/daemon_priv.h"
#include "live/pipe.h"
#include "live/sock.h"
#include "live/tap.h"
#include "rig_daemon.h"

#define NOBODY 65534

static int setup(void **state)
{
	struct rig_fabric *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	rig_start(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	rig_stop(*state);
	free(*state);
	return 0;
}

static int dial(const struct rig_fabric *f)
{
	int sock = wf_sock_connect(f->path, -1);

	assert_true(sock >= 0);
	return sock;
}

/* Asks, and returns what the daemon says; descriptors are left in fds. */
static int ask(int sock, struct wf_live_req *req, struct wf_live_reply *reply, int *fds)
{
	unsigned n;

	req->version = WF_LIVE_VERSION;
	assert_int_equal(wf_sock_send(sock, req, wf_live_req_bytes(req), NULL, 0, true), 0);
	assert_int_equal(wf_sock_recv(sock, reply, sizeof(*reply), fds, &n, true),
	                 wf_live_reply_bytes(req->op));
	assert_int_equal(n, reply->n_fds);
	return reply->error;
}

struct client {
	int sock, fds[WF_LIVE_MAX_FDS];
	uint32_t host, slot;
};

static struct client attach(const struct rig_fabric *f, const char *host)
{
	struct wf_live_req req = { .op = WF_LIVE_ATTACH };
	struct wf_live_reply reply;
	struct client c = { .sock = dial(f) };

	strcpy(req.attach.host, host);
	assert_int_equal(ask(c.sock, &req, &reply, c.fds), 0);
	assert_int_equal(reply.n_fds, 4);
	c.host = reply.attach.host;
	c.slot = reply.attach.slot;
	return c;
}

static void leave(struct client *c)
{
	close(c->sock);
	for (int i = 0; i < 4; i++) {
		if (c->fds[i] >= 0)
			close(c->fds[i]);
	}
}

static struct wf_live_event next_event(const struct client *c, int *fds)
{
	struct wf_live_event event;
	unsigned n;
	int len = wf_sock_recv(c->fds[0], &event, sizeof(event), fds, &n, true);

	assert_int_equal(len, wf_live_event_bytes(&event));
	assert_int_equal(n, event.n_fds);
	return event;
}

static void test_link(void **state)
{
	struct rig_fabric *f = *state;
	struct client a = attach(f, "h1"), b = attach(f, "h2");
	struct wf_live_req req = { .op = WF_LIVE_CONNECT };
	struct wf_live_reply reply;
	struct wf_live_event event;
	int fds[WF_LIVE_MAX_FDS];
	struct wf_pipe pipe;

	req.connect.host = b.host;
	req.connect.slot = b.slot;
	assert_int_equal(ask(a.sock, &req, &reply, fds), 0);
	assert_int_equal(wf_pipe_open(&pipe, fds[0], reply.connect.side, fds[1]), 0);
	wf_pipe_close(&pipe);
	close(fds[0]);
	event = next_event(&b, fds);
	assert_int_equal(event.type, WF_LIVE_EV_LINK);
	assert_int_equal(event.link.slot, a.slot);
	assert_int_not_equal(event.link.side, reply.connect.side);
	close(fds[0]);
	close(fds[1]);
	/* Once is enough. */
	assert_int_equal(ask(a.sock, &req, &reply, fds), -EALREADY);
	leave(&a);
	event = next_event(&b, fds);
	assert_int_equal(event.type, WF_LIVE_EV_GONE);
	assert_int_equal(event.gone.slot, a.slot);
	leave(&b);
}

/* Who could not take a link says so: the other hears of it, and it may be made anew. */
static void test_unlink(void **state)
{
	struct rig_fabric *f = *state;
	struct client a = attach(f, "h1"), b = attach(f, "h2");
	struct wf_live_req req = { .op = WF_LIVE_CONNECT };
	struct wf_live_reply reply;
	struct wf_live_event event;
	int fds[WF_LIVE_MAX_FDS];

	req.connect.host = b.host;
	req.connect.slot = b.slot;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ask(a.sock, &req, &reply, fds), 0);
		close(fds[0]);
		close(fds[1]);
		event = next_event(&b, fds);
		assert_int_equal(event.type, WF_LIVE_EV_LINK);
		close(fds[0]);
		close(fds[1]);
		req.op = WF_LIVE_UNLINK;
		req.connect.host = a.host;
		req.connect.slot = a.slot;
		for (int twice = 0; twice < 2; twice++) /* the second is about nothing */
			assert_int_equal(wf_sock_send(b.fds[0], &req, wf_live_req_bytes(&req), NULL,
			                              0, true),
			                 0);
		event = next_event(&a, fds);
		assert_int_equal(event.type, WF_LIVE_EV_UNLINK);
		assert_int_equal(event.link.host, b.host);
		assert_int_equal(event.link.slot, b.slot);
		req.op = WF_LIVE_CONNECT;
		req.connect.host = b.host;
		req.connect.slot = b.slot;
	}
	leave(&a);
	leave(&b);
}

/* Asks by the socket of events, and returns the event that answers. */
static struct wf_live_event murmur(const struct client *c, struct wf_live_req *req, int *fds)
{
	req->version = WF_LIVE_VERSION;
	assert_int_equal(wf_sock_send(c->fds[0], req, wf_live_req_bytes(req), NULL, 0, true), 0);
	return next_event(c, fds);
}

/* What adapters ask while packets wait is answered by events. */
static void test_answers_by_events(void **state)
{
	struct rig_fabric *f = *state;
	struct client a = attach(f, "h1"), b = attach(f, "h2");
	struct wf_live_req req = { .op = WF_LIVE_CONNECT };
	struct wf_live_reply reply;
	struct wf_live_event near, far;
	int fds[WF_LIVE_MAX_FDS], other[WF_LIVE_MAX_FDS];

	req.connect.host = b.host;
	req.connect.slot = b.slot;
	near = murmur(&a, &req, fds);
	far = next_event(&b, other);
	assert_int_equal(near.type, WF_LIVE_EV_LINK);
	assert_int_equal(far.type, WF_LIVE_EV_LINK);
	assert_int_equal(near.link.host, b.host);
	assert_int_equal(near.link.slot, b.slot);
	assert_int_equal(far.link.slot, a.slot);
	assert_int_not_equal(near.link.side, far.link.side);
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(other[i]);
	}
	/*
	 * Somebody who is not there; and, as the answers come in order, nothing of the link again.
	 */
	assert_int_equal(wf_sock_send(a.fds[0], &req, WF_LIVE_REQ_SHORT, NULL, 0, true), 0);
	req.connect.slot = b.slot + 1;
	near = murmur(&a, &req, fds);
	assert_int_equal(near.type, WF_LIVE_EV_NO_LINK);
	assert_int_equal(near.link.slot, b.slot + 1);
	/* Who listens for a service: nobody, and then somebody. */
	req = (struct wf_live_req){ .op = WF_LIVE_SERVICE_FIND };
	req.service.id = 0x1061234;
	req.service.host = b.host;
	near = murmur(&a, &req, fds);
	assert_int_equal(near.type, WF_LIVE_EV_SERVICE);
	assert_int_equal(near.service.id, 0x1061234);
	assert_int_equal(near.service.slot, 0);
	/* One who connects from there will not listen; one who has bound it may. */
	req.op = WF_LIVE_SERVICE_BIND;
	req.service.flag = WF_LIVE_BIND_ACTIVE | WF_LIVE_BIND_REUSE;
	assert_int_equal(ask(b.sock, &req, &reply, fds), 0);
	req.op = WF_LIVE_SERVICE_FIND;
	near = murmur(&a, &req, fds);
	assert_int_equal(near.service.slot, 0);
	req.op = WF_LIVE_SERVICE_BIND;
	req.service.flag = WF_LIVE_BIND_REUSE;
	assert_int_equal(ask(b.sock, &req, &reply, fds), 0);
	req.op = WF_LIVE_SERVICE_FIND;
	near = murmur(&a, &req, fds);
	assert_int_equal(near.service.slot, WF_LIVE_BOUND);
	req.op = WF_LIVE_SERVICE_LISTEN;
	assert_int_equal(ask(b.sock, &req, &reply, fds), 0);
	req.op = WF_LIVE_SERVICE_FIND;
	near = murmur(&a, &req, fds);
	assert_int_equal(near.service.slot, b.slot);
	/* What else is said there ends the connection. */
	req.op = WF_LIVE_STOP;
	assert_int_equal(wf_sock_send(a.fds[0], &req, WF_LIVE_REQ_SHORT, NULL, 0, true), 0);
	far = next_event(&b, fds);
	assert_int_equal(far.type, WF_LIVE_EV_GONE);
	leave(&a);
	leave(&b);
}

/* Nobody is left at the listener for whom the loop would go round, and nothing is done. */
static void expect_rest(const struct rig_fabric *f)
{
	struct pollfd at = { .fd = f->daemon->listener, .events = POLLIN };

	assert_int_equal(poll(&at, 1, 0), 0);
}

/* Without descriptors, who comes is told so, and the loop does not go round for nothing. */
static void test_no_descriptors(void **state)
{
	struct rig_fabric *f = *state;
	struct wf_live_req req = { .op = WF_LIVE_STATUS, .version = WF_LIVE_VERSION };
	struct wf_live_reply reply;
	int taken[1024], fds[WF_LIVE_MAX_FDS], sock, n = 0;
	struct rlimit limit, few;
	unsigned n_fds;

	/* One socket of ours is there already; then the process has as many as it may. */
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 512;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (n < 1024 && (taken[n] = dup(0)) >= 0)
		n++;
	assert_int_equal(errno, EMFILE);
	{
		struct sockaddr_un addr = { .sun_family = AF_UNIX };

		strcpy(addr.sun_path, f->path);
		assert_int_equal(connect(sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	}
	assert_int_equal(wf_sock_recv(sock, &reply, sizeof(reply), fds, &n_fds, true),
	                 WF_LIVE_REPLY_SHORT);
	assert_int_equal(reply.error, -EMFILE);
	expect_rest(f);
	while (n > 0)
		close(taken[--n]);
	close(sock);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	sock = dial(f);
	assert_int_equal(ask(sock, &req, &reply, fds), 0);
	close(fds[0]);
	close(fds[1]);
	close(sock);
}

/* A child of another user, who may reach the socket: 0 when it was told that it may not come in. */
static int come_as(const struct rig_fabric *f, uid_t uid)
{
	struct wf_live_req req = { .op = WF_LIVE_STATUS, .version = WF_LIVE_VERSION };
	struct wf_live_reply reply = { .error = 0 };
	int fds[WF_LIVE_MAX_FDS], sock;
	unsigned n = 0;

	if (setgid(uid) != 0 || setuid(uid) != 0)
		return 2;
	sock = wf_sock_connect(f->path, -1);
	if (sock < 0)
		return 3;
	/* It may have hung up. */
	(void)!wf_sock_send(sock, &req, wf_live_req_bytes(&req), NULL, 0, true);
	if (wf_sock_recv(sock, &reply, sizeof(reply), fds, &n, true) != WF_LIVE_REPLY_SHORT &&
	    wf_sock_recv(sock, &reply, sizeof(reply), fds, &n, true) != WF_LIVE_REPLY_SHORT)
		return 4;
	return reply.error == -EPERM && n == 0 ? 0 : 5;
}

/* Even if the folder and the socket are open to all, the fabric is its user's, and root's. */
static void test_other_user(void **state)
{
	struct rig_fabric *f = *state;
	int status;
	pid_t pid;

	if (getuid() != 0)
		skip(); /* there is nobody else whom we could be */
	assert_int_equal(chmod(f->dir, 0755), 0);
	assert_int_equal(chmod(f->path, 0777), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(come_as(f, NOBODY));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(dial(f));
}

/* A second one at the same path does not come up, and does no harm to the first. */
static void test_second(void **state)
{
	struct rig_fabric *f = *state;
	struct wf_daemon_cfg cfg = { .fabric = "test", .n_hosts = 1, .mtu = 4096, .path = f->path };
	struct wf_daemon *d;

	for (int i = 0; i < 10; i++)
		assert_int_equal(wf_daemon_create(&cfg, &d), -EEXIST);
	close(dial(f));
}

static void test_table_is_read_only(void **state)
{
	struct rig_fabric *f = *state;
	struct client a = attach(f, "h1");

	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, a.fds[2], 0),
	                 MAP_FAILED);
	assert_int_not_equal(ftruncate(a.fds[2], 0), 0);
	assert_int_not_equal(ftruncate(a.fds[3], 0), 0); /* the stats, that the daemon reads */
	leave(&a);
}

static void test_refused(void **state)
{
	struct rig_fabric *f = *state;
	struct wf_live_req req = { .op = WF_LIVE_CONNECT };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	int sock = dial(f);
	unsigned n;

	assert_int_equal(ask(sock, &req, &reply, fds), -EINVAL); /* not attached */
	req.op = WF_LIVE_ATTACH;
	strcpy(req.attach.host, "nobody");
	assert_int_equal(ask(sock, &req, &reply, fds), -ENOENT);
	memset(req.attach.host, 'x', sizeof(req.attach.host)); /* without an end */
	assert_int_equal(ask(sock, &req, &reply, fds), -ENOENT);
	req.op = 12345;
	assert_int_equal(ask(sock, &req, &reply, fds), -EINVAL);
	req.op = WF_LIVE_WORDS;
	strcpy(req.text, "{on: h1, fault: down}");
	assert_int_equal(ask(sock, &req, &reply, fds), -EINVAL);
	assert_non_null(strstr(reply.text, "nothing is modelled"));
	memset(req.text, 'x', sizeof(req.text)); /* without an end */
	assert_int_equal(wf_sock_send(sock, &req, sizeof(req), NULL, 0, true), 0);
	assert_int_equal(wf_sock_recv(sock, &reply, sizeof(reply), fds, &n, true),
	                 WF_LIVE_REPLY_SHORT);
	assert_int_equal(reply.error, -EINVAL);
	close(sock);
}

/*
 * A capture of a host, or of all of them, on a new connection; its events and the table are in fds.
 */
static struct client begin_capture(const struct rig_fabric *f, uint32_t host,
                                   struct wf_live_reply *reply)
{
	struct wf_live_req req = { .op = WF_LIVE_CAPTURE };
	struct client c = { .sock = dial(f), .fds = { -1, -1, -1, -1 } };

	req.capture.host = host;
	req.capture.snaplen = 100;
	(void)ask(c.sock, &req, reply, c.fds);
	return c;
}

/* The next event is a tap. Returns its memory, mapped. */
static struct wf_tap next_tap(const struct client *c, const struct client *program)
{
	int fds[WF_LIVE_MAX_FDS];
	struct wf_live_event event = next_event(c, fds);
	struct wf_tap tap;

	assert_int_equal(event.type, WF_LIVE_EV_TAP);
	assert_int_equal(event.n_fds, 1);
	assert_int_equal(event.tap.snaplen, 100);
	assert_int_equal(event.tap.host, program->host);
	assert_int_equal(event.tap.slot, program->slot);
	assert_int_equal(wf_tap_open(&tap, fds[0]), 0);
	close(fds[0]);
	return tap;
}

/* A program and a capture have the same tap. */
static void check_tapped(const struct client *program, const struct client *capture)
{
	struct wf_tap to = next_tap(program, program), from = next_tap(capture, program);
	struct wf_packet pkt = { .psn = 77 };
	struct wf_tap_note note = { .at = 5 };
	struct wf_tap_entry entry;

	wf_tap_put(&to, &pkt, &note, "abc", 3);
	assert_true(wf_tap_peek(&from, &entry));
	assert_int_equal(entry.pkt.psn, 77);
	assert_int_equal(entry.note.at, 5);
	assert_int_equal(entry.bytes, 3);
	wf_tap_close(&to);
	wf_tap_close(&from);
}

static void test_capture(void **state)
{
	struct rig_fabric *f = *state;
	struct client a = attach(f, "h1"), b, all, one;
	struct wf_live_reply reply;
	struct wf_live_event event;
	int fds[WF_LIVE_MAX_FDS];

	all = begin_capture(f, WF_LIVE_ALL, &reply);
	assert_int_equal(reply.error, 0);
	assert_int_equal(reply.n_fds, 2);
	assert_int_equal(reply.capture.more, 0);
	check_tapped(&a, &all);
	one = begin_capture(f, 1, &reply);
	assert_int_equal(reply.error, 0);
	/* One that comes later, on the host that both want. */
	b = attach(f, "h2");
	check_tapped(&b, &all);
	check_tapped(&b, &one);
	leave(&b);
	for (unsigned i = 0; i < 2; i++) {
		event = next_event(i == 0 ? &all : &one, fds);
		assert_int_equal(event.type, WF_LIVE_EV_GONE);
		assert_int_equal(event.gone.host, b.host);
		assert_int_equal(event.gone.slot, b.slot);
	}
	/* A capture ends: only those that fed it hear of it. */
	leave(&one);
	leave(&all);
	event = next_event(&a, fds);
	assert_int_equal(event.type, WF_LIVE_EV_TAP_END);
	leave(&a);
}

static void test_captures(void **state)
{
	struct rig_fabric *f = *state;
	struct client program[40], capture[WF_LIVE_CAPTURES + 1];
	struct wf_live_req req = { .op = WF_LIVE_CAPTURE };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];

	for (unsigned i = 0; i < WF_ARRAY_SIZE(program); i++)
		program[i] = attach(f, i % 2 == 0 ? "h1" : "h2");
	/* Some at a time; each once. */
	capture[0] = begin_capture(f, WF_LIVE_ALL, &reply);
	req.capture.host = WF_LIVE_ALL;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(program); i++) {
		struct wf_live_event event = next_event(&capture[0], fds);

		assert_int_equal(event.type, WF_LIVE_EV_TAP);
		close(fds[0]);
		if (i == 31) {
			assert_int_equal(reply.capture.more, 1);
			assert_int_equal(ask(capture[0].sock, &req, &reply, fds), 0);
			assert_int_equal(reply.n_fds, 0);
		}
	}
	assert_int_equal(reply.capture.more, 0);
	for (unsigned i = 0; i < WF_ARRAY_SIZE(program); i++)
		leave(&program[i]);
	/* What is refused. */
	for (unsigned i = 1; i <= WF_LIVE_CAPTURES; i++) {
		capture[i] = begin_capture(f, 0, &reply);
		assert_int_equal(reply.error, i < WF_LIVE_CAPTURES ? 0 : -EUSERS);
	}
	req.capture.host = 2;
	assert_int_equal(ask(capture[0].sock, &req, &reply, fds), -EINVAL);
	req.op = WF_LIVE_ATTACH;
	memset(&req.attach, 0, sizeof(req.attach));
	assert_int_equal(ask(capture[0].sock, &req, &reply, fds), -EALREADY);
	for (unsigned i = 0; i <= WF_LIVE_CAPTURES; i++)
		leave(&capture[i]);
	program[0] = attach(f, "h1");
	req.op = WF_LIVE_CAPTURE;
	req.capture.host = 0;
	assert_int_equal(ask(program[0].sock, &req, &reply, fds), -EINVAL);
	leave(&program[0]);
}

/* Any bytes, of any length, with any descriptors: it goes on. */
static void test_noise(void **state)
{
	struct rig_fabric *f = *state;
	uint8_t bytes[1024];
	struct wf_live_req req = { .op = WF_LIVE_STATUS };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	uint32_t answers = 0;
	int sock;

	for (uint32_t round = 0; round < 400; round++) {
		sock = dial(f);
		for (uint32_t i = 0; i < 20; i++) {
			/* One that is too long, or empty, ends the connection. */
			size_t size = 1 + wf_rand64(round, i) % (i < 19 ? WF_LIVE_REQ_SHORT : 1000);
			unsigned n;

			for (size_t k = 0; k < sizeof(bytes); k++)
				bytes[k] = (uint8_t)wf_rand64(round << 8 | i, k);
			if (i % 2 == 0) { /* a form that it knows */
				struct wf_live_req *r = (struct wf_live_req *)(void *)bytes;

				r->op = (uint32_t)(wf_rand64(round, 99 + i) % WF_LIVE_STATUS);
				r->version = WF_LIVE_VERSION;
				if (i == 0)
					memcpy(r->attach.host, "h2", 3);
				size = wf_live_req_bytes(r);
			}
			if (wf_sock_send(sock, bytes, size, &sock, i % 3 == 0, false) != 0)
				break;
			if (size != 0 &&
			    wf_sock_recv(sock, &reply, sizeof(reply), fds, &n, true) > 0) {
				answers++;
				while (n > 0)
					close(fds[--n]);
			}
		}
		close(sock);
	}
	assert_true(answers > 4000);
	sock = dial(f);
	assert_int_equal(ask(sock, &req, &reply, fds), 0);
	close(fds[0]);
	close(fds[1]);
	close(sock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unlink, setup, teardown),
		cmocka_unit_test_setup_teardown(test_answers_by_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_user, setup, teardown),
		cmocka_unit_test_setup_teardown(test_second, setup, teardown),
		cmocka_unit_test_setup_teardown(test_table_is_read_only, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_capture, setup, teardown),
		cmocka_unit_test_setup_teardown(test_captures, setup, teardown),
		cmocka_unit_test_setup_teardown(test_noise, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
