/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_live_socket.c - hostile programs at the daemon's socket: they connect, send requests and
 * bytes that are none, with file descriptors or without, answer nothing, read what they are told or
 * do not, and go. Packets go directly, through a model, or one host is at a real address. The
 * daemon must not crash, give two programs one slot, forget what hosts there are or leak a
 * descriptor.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tests/unit/live/rig_model.h"
#include "live/daemon_priv.h"
#include "live/sock.h"
#include "mgmt/cm.h"

#define CLIENTS 6
#define HOSTS RIG_HOSTS
#define ROUNDS 10000 /* after which the daemon has nothing more to do */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct client {
	int sock;
	int events; /* what the daemon tells; -1: not attached */
};

struct rig {
	struct wf_daemon *daemon;
	struct wf_topo *topo; /* of the model; NULL: there is none */
	char path[100];
	struct client client[CLIENTS];
};

static void must(bool what)
{
	if (!what)
		abort();
}

/* A process that has ended and stays one: whoever the daemon is told to kill. */
static pid_t nobody(void)
{
	siginfo_t info;
	pid_t pid = fork();

	must(pid >= 0);
	if (pid == 0)
		_exit(0);
	must(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
	return pid;
}

/* Lets the daemon do all there is to do; those whom it has let in are not this process to it. */
static void settle(struct rig *r, pid_t pid)
{
	int n, rounds = 0;

	do {
		must(rounds++ < ROUNDS);
		n = wf_daemon_step(r->daemon, 0);
		must(n >= 0);
		r->daemon->stop = false;
		for (struct wf_dclient *c = r->daemon->clients; c != NULL; c = c->next) {
			if (c->pid == pid)
				continue;
			c->pid = pid;
			if (c->pidfd >= 0)
				close(c->pidfd);
			c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		}
	} while (n > 0);
}

static void leave(struct client *c)
{
	if (c->sock >= 0)
		close(c->sock);
	if (c->events >= 0)
		close(c->events);
	c->sock = c->events = -1;
}

/* Takes in one message and closes the descriptors with it, but the one of events. */
static bool take(struct client *c, int sock)
{
	struct wf_live_event buf;
	int fds[WF_LIVE_MAX_FDS];
	unsigned n;
	int len = wf_sock_recv(sock, &buf, sizeof(buf), fds, &n, false);

	for (unsigned i = 0; i < n; i++) {
		if (i == 0 && n == 4 && sock == c->sock && c->events < 0)
			c->events = fds[i];
		else
			close(fds[i]);
	}
	return len > 0;
}

static void read_all(struct client *c, bool events)
{
	while (c->sock >= 0 && take(c, c->sock))
		;
	while (events && c->events >= 0 && take(c, c->events))
		;
}

static void send_to(int sock, const void *msg, size_t size, unsigned n_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(8 * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = (void *)(uintptr_t)msg, .iov_len = size };
	struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n_fds != 0) {
		struct cmsghdr *cmsg = &control.align;

		hdr.msg_control = control.bytes;
		hdr.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		for (unsigned i = 0; i < n_fds; i++)
			memcpy(CMSG_DATA(cmsg) + i * sizeof(int), &sock, sizeof(int));
	}
	(void)!sendmsg(sock, &hdr, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void check(const struct wf_daemon *d)
{
	must(d->table->n_hosts == HOSTS);
	for (uint32_t i = 0; i < HOSTS; i++)
		must(d->table->host[i].name[0] == 'h' && d->table->host[i].ipv4 != 0);
	for (const struct wf_dclient *a = d->clients; a != NULL; a = a->next) {
		must(!a->attached || (a->host < HOSTS && a->slot != 0 && a->slot < WF_LIVE_SLOTS));
		for (const struct wf_dclient *b = a->next; b != NULL; b = b->next)
			must(!a->attached || !b->attached || a->host != b->host ||
			     a->slot != b->slot);
	}
}

/* A question about what there is, or nearly: two bytes say what it is about. */
static void shape(struct wf_live_req *req, uint8_t a, uint8_t b)
{
	static const uint32_t hosts[] = { 0, 1, 2, WF_LIVE_MODEL, WF_LIVE_REMOTE, WF_LIVE_ALL };
	static const uint8_t outside[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
	uint32_t host = hosts[a % WF_ARRAY_SIZE(hosts)];

	if (req->op == WF_LIVE_CONNECT || req->op == WF_LIVE_UNLINK) {
		req->connect.host = host;
		req->connect.slot = b % 8;
	} else if (req->op == WF_LIVE_FAULT) {
		req->fault.host = host;
		req->fault.what = b % (WF_LIVE_FAULT_CLEAR + 2);
		req->fault.value = b / 16u;
		req->fault.link = a / 8u;
	} else if (req->op >= WF_LIVE_GROUP_JOIN && req->op <= WF_LIVE_GROUP_SEND) {
		req->group.gid[0] = 0xff;
		req->group.gid[1] = 0x0e;
		req->group.gid[15] = b % 4;
	} else if (req->op == WF_LIVE_JOIN) {
		req->join.gid[0] = 0xff;
		req->join.cookie = b % 4;
	} else if (req->op >= WF_LIVE_SERVICE_BIND && req->op <= WF_LIVE_SERVICE_SEEK) {
		req->service.id = wf_cm_service(WF_CM_PS_TCP, b % 4);
		req->service.host = host;
		req->service.flag = a / 8u % 4;
	} else if (req->op == WF_LIVE_CAPTURE) {
		req->capture.host = host;
		req->capture.snaplen = b;
	} else if (req->op == WF_LIVE_REMOTE_NUMBER || req->op == WF_LIVE_REMOTE_GID) {
		req->remote.number = WF_LIVE_REMOTE | b;
		memcpy(req->remote.gid, outside, sizeof(outside));
		req->remote.gid[15] = b;
	}
}

/* One thing that one of them does; returns how much of the input said so. */
static size_t act(struct rig *r, const uint8_t *data, size_t size)
{
	struct client *c = &r->client[data[0] % CLIENTS];
	unsigned what = data[0] / CLIENTS % 8;
	struct wf_live_req req = { .version = WF_LIVE_VERSION };
	size_t n = size > 2 ? data[1] % (sizeof(req) + 8) : 0;

	if (n > size - (size > 2 ? 2 : size))
		n = size > 2 ? size - 2 : 0;
	if (c->sock < 0) {
		c->sock = wf_sock_connect(r->path, -1);
	} else if (what == 0) {
		leave(c);
	} else if (what == 1) {
		/* Any bytes, at either socket. */
		send_to(c->events >= 0 && size % 2 == 0 ? c->events : c->sock, data + 2, n,
		        data[0] % 7);
		return 2 + n;
	} else if (what == 2) {
		read_all(c, true);
	} else {
		/* A request as it should be, but for what it asks. */
		req.op = size > 1 ? data[1] % (WF_LIVE_WORDS_LIST + 2) : 0;
		n = size > 2 ? size - 2 : 0;
		if (n > sizeof(req.attach))
			n = sizeof(req.attach);
		if ((what == 5 || what == 6) && n >= 2) {
			n = 2;
			shape(&req, data[2], data[3]);
		} else if (what == 3 || n == 0)
			n = 0; /* the first host, nobody, no group */
		else
			memcpy(&req.attach, data + 2, n);
		/* Some are answered by events. */
		send_to((what == 4 || what == 6) && c->events >= 0 ? c->events : c->sock, &req,
		        wf_live_req_bytes(&req), 0);
		return 2 + n;
	}
	return 1;
}

/* Direct, direct, modelled, wired: as the size says. */
static void start(struct rig *r, unsigned kind, bool ib)
{
	struct wf_daemon_cfg cfg = {
		.path = r->path, .fabric = "fuzz", .n_hosts = HOSTS, .rate = 1, .mtu = 4096
	};
	/* An address of this process alone: the port is always the same. */
	struct wf_daemon_wire wire = {
		.gid = { [10] = 0xff, 0xff, 127, 0xfe, (uint8_t)(getpid() >> 8), (uint8_t)getpid() }
	};
	struct wf_fabric_cfg fabric;
	struct wf_sim_cfg sim = { .fabric = &fabric, .seed = 1 };
	struct wf_err err = { "" };

	r->topo = NULL;
	cfg.err = &err;
	cfg.layer = ib ? WF_LIVE_IB : WF_LIVE_ROCE;
	if (kind == 2) {
		r->topo = rig_model_describe(&fabric, ib, "4096B");
		sim.topo = r->topo;
		cfg.model = &sim;
		cfg.pace = WF_LIVE_NONE;
		cfg.rate = UINT64_C(10000000000);
		cfg.cls = 3;
	} else if (kind == 3 && !ib) {
		cfg.wires = &wire;
		cfg.n_wires = 1;
	}
	must(wf_daemon_create(&cfg, &r->daemon) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *dir = getenv("TMPDIR");
	static pid_t pid;
	struct rig r;
	int lowest = dup(0);

	close(lowest);
	if (pid == 0)
		pid = nobody();
	snprintf(r.path, sizeof(r.path), "%s/weft-fuzz-%d.sock", dir != NULL ? dir : "/tmp",
	         getpid());
	start(&r, size / 2 % 4, size % 2 != 0);
	for (unsigned i = 0; i < CLIENTS; i++)
		r.client[i] = (struct client){ -1, -1 };
	while (size > 0) {
		size_t n = act(&r, data, size);

		n = n < size ? n : size;
		data += n;
		size -= n;
		settle(&r, pid);
		check(r.daemon);
		/*
		 * All but the last read their answers; whoever is told something reads that when it
		 * likes.
		 */
		for (unsigned i = 0; i + 1 < CLIENTS; i++)
			read_all(&r.client[i], false);
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		leave(&r.client[i]);
	settle(&r, pid);
	must(r.daemon->clients == NULL);
	wf_daemon_destroy(r.daemon);
	wf_topo_destroy(r.topo);
	must(dup(0) == lowest);
	close(lowest);
	return 0;
}
