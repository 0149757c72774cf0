/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_compat_ucma.c - a hostile program with /dev/infiniband/rdma_cm: commands that are right, and
 * wrong, on descriptors that it copies, moves, overwrites, closes and closes behind weft's back,
 * sends to itself, and closes by ranges. Nothing may crash, and nothing be left when all are
 * closed.
 *
 * A daemon runs in a thread all the time, and the adapter is attached for many inputs. The
 * program's descriptors lie in a range of their own, out of the way of all others of this process.
 * No descriptor waits; an input may, a moment, for what the daemon and the adapter's thread do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/base.h"
#include "compat/cm/ucma.h"
#include "compat/cm/ucma_priv.h"
#include "compat/fd/fd.h"
#include "compat/verbs/verbs_priv.h"
#include "live/daemon.h"

#define FIRST 300  /* of the program's descriptors */
#define HIDDEN 512 /* where weft's own are */
#define FDS 12     /* so many of either */
#define IDS 16     /* the program remembers so many */
#define MOMENT 4   /* ms */
#define MOST_ACTS 60
#define INPUTS 500

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz {
	const uint8_t *data;
	size_t size;
	uint32_t id[IDS];
	unsigned n_ids;
	int pair[2]; /* a socket to itself */
};

static struct {
	char dir[64], path[96];
	struct wf_daemon *daemon;
	int stop;
	pthread_t thread;
	struct wf_nic *nic;
} fabric;

/* What commands read and write by address. */
static union {
	uint64_t align;
	char bytes[1024];
	struct rdma_ucm_event_resp event;
	struct rdma_ucm_create_id_resp created;
} memory;

static void must(bool what)
{
	if (!what)
		abort();
}

static void *serve(void *arg)
{
	(void)arg;
	must(wf_daemon_run(fabric.daemon, fabric.stop) == 0);
	return NULL;
}

static void stop_fabric(void)
{
	uint64_t one = 1;

	wv_nic_put(fabric.nic);
	must(write(fabric.stop, &one, sizeof(one)) == (ssize_t)sizeof(one));
	pthread_join(fabric.thread, NULL);
	wf_daemon_destroy(fabric.daemon);
	rmdir(fabric.dir);
}

static void start_fabric(void)
{
	struct wf_daemon_cfg cfg = {
		.fabric = "fuzz", .n_hosts = 2, .rate = UINT64_C(1) << 36, .mtu = 4096
	};
	const char *dir = getenv("TMPDIR");

	snprintf(fabric.dir, sizeof(fabric.dir), "%s/weft-fuzz.XXXXXX", dir != NULL ? dir : "/tmp");
	must(mkdtemp(fabric.dir) != NULL);
	snprintf(fabric.path, sizeof(fabric.path), "%s/s", fabric.dir);
	cfg.path = fabric.path;
	cfg.layer = WF_LIVE_ROCE;
	must(wf_daemon_create(&cfg, &fabric.daemon) == 0);
	fabric.stop = eventfd(0, EFD_CLOEXEC);
	must(pthread_create(&fabric.thread, NULL, serve, NULL) == 0);
	must(setenv("WEFT_SOCKET", fabric.path, 1) == 0 && setenv("WEFT_HOST", "h1", 1) == 0);
	must(atexit(stop_fabric) == 0);
}

static uint8_t next(struct fuzz *f)
{
	if (f->size == 0)
		return 0;
	f->size--;
	return *f->data++;
}

static int some_fd(struct fuzz *f)
{
	uint8_t byte = next(f);

	return (byte < 240 ? FIRST : HIDDEN) + byte % FDS;
}

static uint32_t some_id(struct fuzz *f)
{
	uint8_t byte = next(f);

	return byte >= 240 || f->n_ids == 0 ? byte
	                                    : f->id[byte % (f->n_ids < IDS ? f->n_ids : IDS)];
}

static void remember(struct fuzz *f, uint32_t id)
{
	f->id[f->n_ids++ % IDS] = id;
}

/* Where an answer goes: to memory that is there, more often than not. */
static uint64_t some_place(struct fuzz *f)
{
	uint8_t byte = next(f);

	return byte < 230 ? (uintptr_t)memory.bytes : byte < 240 ? (uintptr_t)memory.bytes + 1 : 0;
}

static void put_address(struct fuzz *f, struct sockaddr_in6 *sa)
{
	/* 127.77.0.1, 127.77.0.2, 127.77.9.9, loopback, any, a group. */
	static const uint32_t v4[] = { 0x7f4d0001, 0x7f4d0001, 0x7f4d0002, 0x7f4d0909,
		                       0x7f000001, 0,          0xef010203, 0xef010204 };
	uint8_t byte = next(f);
	struct sockaddr_in in = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)(7000 + byte / 8 % 4)) };

	memset(sa, 0, sizeof(*sa));
	in.sin_addr.s_addr = htonl(v4[byte % WF_ARRAY_SIZE(v4)]);
	if (byte < 224) {
		memcpy(sa, &in, sizeof(in));
		return;
	}
	sa->sin6_family = byte < 254 ? AF_INET6 : next(f);
	sa->sin6_port = in.sin_port;
	for (unsigned i = 0; i < 16 && byte % 2 == 1; i++)
		((uint8_t *)&sa->sin6_addr)[i] = next(f);
}

union body {
	uint64_t align;
	char bytes[1024];
	struct rdma_ucm_create_id create;
	struct rdma_ucm_destroy_id destroy;
	struct rdma_ucm_bind_ip bind;
	struct rdma_ucm_resolve_ip resolve;
	struct rdma_ucm_resolve_route route;
	struct rdma_ucm_query query;
	struct rdma_ucm_connect connect;
	struct rdma_ucm_listen listen;
	struct rdma_ucm_accept accept;
	struct rdma_ucm_reject reject;
	struct rdma_ucm_disconnect disconnect;
	struct rdma_ucm_init_qp_attr attr;
	struct rdma_ucm_get_event event;
	struct rdma_ucm_set_option option;
	struct rdma_ucm_notify notify;
	struct rdma_ucm_join_ip_mcast join;
	struct rdma_ucm_migrate_id migrate;
};

static void fill_connection(struct fuzz *f, struct rdma_ucm_conn_param *p)
{
	static uint32_t qpn; /* another each time: those that were connected rest a while */

	*p = (struct rdma_ucm_conn_param){ .qp_num = ++qpn & 0xffffff, .valid = next(f) % 8 != 0 };
	p->private_data_len = next(f) % 4 == 0 ? next(f) : 0;
	p->retry_count = next(f);
}

/* What the first commands say, up to those about connections. Returns how many bytes. */
static size_t fill_first(struct fuzz *f, uint32_t cmd, union body *b)
{
	static const uint16_t spaces[] = { RDMA_PS_TCP,   RDMA_PS_TCP, RDMA_PS_UDP,
		                           RDMA_PS_IPOIB, RDMA_PS_IB,  7 };

	switch (cmd) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		b->create.uid = next(f);
		b->create.response = some_place(f);
		b->create.ps = spaces[next(f) % WF_ARRAY_SIZE(spaces)];
		b->create.qp_type = b->create.ps == RDMA_PS_TCP ? IBV_QPT_RC : IBV_QPT_UD;
		return sizeof(b->create);
	case RDMA_USER_CM_CMD_DESTROY_ID:
	case RDMA_USER_CM_CMD_LEAVE_MCAST:
		b->destroy.response = some_place(f);
		b->destroy.id = some_id(f);
		return sizeof(b->destroy);
	case RDMA_USER_CM_CMD_BIND_IP:
		put_address(f, &b->bind.addr);
		b->bind.id = some_id(f);
		return sizeof(b->bind);
	case RDMA_USER_CM_CMD_RESOLVE_IP:
		if (next(f) % 4 == 0)
			put_address(f, &b->resolve.src_addr);
		put_address(f, &b->resolve.dst_addr);
		b->resolve.id = some_id(f);
		return sizeof(b->resolve);
	case RDMA_USER_CM_CMD_RESOLVE_ROUTE:
		b->route.id = some_id(f);
		return sizeof(b->route);
	case RDMA_USER_CM_CMD_QUERY_ROUTE:
		b->query.response = some_place(f);
		b->query.id = some_id(f);
		return sizeof(b->query);
	default:
		b->listen.id = some_id(f);
		b->listen.backlog = next(f) % 4;
		return sizeof(b->listen);
	}
}

static size_t fill_rest(struct fuzz *f, uint32_t cmd, union body *b)
{
	switch (cmd) {
	case RDMA_USER_CM_CMD_CONNECT:
		fill_connection(f, &b->connect.conn_param);
		b->connect.id = some_id(f);
		return sizeof(b->connect);
	case RDMA_USER_CM_CMD_ACCEPT:
		fill_connection(f, &b->accept.conn_param);
		b->accept.uid = next(f);
		b->accept.id = some_id(f);
		return sizeof(b->accept);
	case RDMA_USER_CM_CMD_REJECT:
		b->reject.id = some_id(f);
		b->reject.private_data_len = next(f);
		b->reject.reason = next(f) % 8 == 0 ? next(f) : 0;
		return sizeof(b->reject);
	case RDMA_USER_CM_CMD_DISCONNECT:
		b->disconnect.id = some_id(f);
		return sizeof(b->disconnect);
	case RDMA_USER_CM_CMD_INIT_QP_ATTR:
		b->attr.response = some_place(f);
		b->attr.id = some_id(f);
		b->attr.qp_state = next(f) % 8;
		return sizeof(b->attr);
	case RDMA_USER_CM_CMD_SET_OPTION:
		b->option.optval = some_place(f);
		b->option.id = some_id(f);
		b->option.level = next(f) % 3;
		b->option.optname = next(f) % 5;
		b->option.optlen = next(f) % 5;
		return sizeof(b->option);
	case RDMA_USER_CM_CMD_NOTIFY:
		b->notify.id = some_id(f);
		b->notify.event = next(f) % 8;
		return sizeof(b->notify);
	case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
		b->join.response = some_place(f);
		b->join.uid = next(f);
		put_address(f, &b->join.addr);
		b->join.id = some_id(f);
		return sizeof(b->join);
	case RDMA_USER_CM_CMD_MIGRATE_ID:
		b->migrate.response = some_place(f);
		b->migrate.id = some_id(f);
		b->migrate.fd = (uint32_t)some_fd(f);
		return sizeof(b->migrate);
	case RDMA_USER_CM_CMD_GET_EVENT:
		b->event.response = some_place(f);
		return sizeof(b->event);
	default:
		return fill_first(f, cmd, b);
	}
}

/* A command, right but for what the input says; in one piece or in two. */
static void command(struct fuzz *f, int fd, uint32_t cmd)
{
	struct {
		struct rdma_ucm_cmd_hdr header;
		union body body;
	} m = { .header = { .cmd = cmd, .out = sizeof(memory) } };
	struct iovec iov[2] = { { &m, sizeof(m.header) }, { &m.body, 0 } };
	size_t size = fill_rest(f, cmd, &m.body);
	uint8_t wrong = next(f);

	m.header.in = (uint16_t)(wrong == 255 ? size + next(f) : wrong == 254 ? next(f) : size);
	if (wrong == 253)
		m.header.out = next(f);
	if (wrong == 252)
		size += next(f);
	if (wrong == 251) {
		iov[1].iov_len = size;
		(void)!writev(fd, iov, 2);
		return;
	}
	if (wrong == 250)
		m.header.cmd = next(f);
	if (write(fd, &m, sizeof(m.header) + size) < 0)
		return;
	if (cmd == RDMA_USER_CM_CMD_CREATE_ID && m.body.create.response == (uintptr_t)&memory)
		remember(f, memory.created.id);
	if (cmd == RDMA_USER_CM_CMD_GET_EVENT && m.body.event.response == (uintptr_t)&memory)
		remember(f, memory.event.id);
}

/* The event that comes in a moment. */
static void wait_event(struct fuzz *f, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (wx_fd_hidden(fd) || poll(&p, 1, MOMENT) != 1)
		return;
	command(f, fd, RDMA_USER_CM_CMD_GET_EVENT);
}

/* A descriptor is brought into the range of the program's; there may be no room. */
static void move_in(int fd)
{
	int in = fcntl(fd, F_DUPFD_CLOEXEC, FIRST);

	must(close(fd) == 0);
	if (in >= FIRST + FDS)
		must(close(in) == 0);
}

/* Sends a descriptor to itself. */
static void pass(struct fuzz *f, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { .iov_base = "x", .iov_len = 1 };
	struct msghdr hdr = { .msg_iov = &iov,
		              .msg_iovlen = 1,
		              .msg_control = control.bytes,
		              .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *came;
	char byte;

	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
	if (wx_fd_hidden(fd) || sendmsg(f->pair[0], &hdr, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		return;
	iov.iov_base = &byte;
	must(recvmsg(f->pair[1], &hdr, MSG_DONTWAIT) == 1);
	came = CMSG_FIRSTHDR(&hdr);
	must(came != NULL);
	memcpy(&fd, CMSG_DATA(came), sizeof(fd));
	move_in(fd);
}

/* Others' descriptors are not for it to read and write. */
static bool is_emulated(int fd)
{
	struct wx_file *file = wx_fd_get(fd);

	if (file != NULL)
		wx_fd_put(file);
	return file != NULL;
}

/* What a program does with descriptors. */
static void handle(struct fuzz *f, int fd)
{
	int to = some_fd(f);
	struct stat st;

	switch (next(f) % 12) {
	case 0:
		(void)close(fd);
		break;
	case 1:
		if (fcntl(fd, F_DUPFD_CLOEXEC, FIRST) >= FIRST + FDS)
			(void)close_range(FIRST + FDS, HIDDEN - 1, 0);
		break;
	case 2:
		(void)!dup2(fd, to);
		break;
	case 3:
		(void)!dup3(fd, to, O_CLOEXEC);
		break;
	case 4:
		(void)close_range((unsigned)(fd < to ? fd : to), (unsigned)(fd < to ? to : fd), 0);
		break;
	case 5: /* behind weft's back */
		if (!wx_fd_hidden(fd))
			(void)syscall(SYS_close, fd);
		break;
	case 6:
		if (!wx_fd_hidden(fd) && !wx_fd_hidden(to))
			(void)syscall(SYS_dup3, fd, to, 0);
		break;
	case 7:
		pass(f, fd);
		break;
	case 8: /* the number becomes a plain file's */
		if (!wx_fd_hidden(to))
			(void)!dup2(fabric.stop, to);
		break;
	case 9:
		(void)fstat(fd, &st);
		(void)!ioctl(fd, FIOCLEX);
		break;
	case 10:
		if (is_emulated(fd)) {
			(void)!read(fd, memory.bytes, 8);
			(void)!ioctl(fd, 0x1b01, memory.bytes);
		}
		break;
	default:
		(void)fcntl(fd, F_SETFL, O_NONBLOCK);
		break;
	}
}

static void act(struct fuzz *f)
{
	uint8_t what = next(f);
	int fd;

	if (what < 20) {
		fd = wv_ucma_open(O_CLOEXEC | O_NONBLOCK);
		must(fd >= 0 && fd < FIRST);
		move_in(fd);
	} else if (what < 70) {
		handle(f, some_fd(f));
	} else if (what < 90) {
		wait_event(f, some_fd(f));
	} else {
		fd = some_fd(f);
		if (!is_emulated(fd))
			return;
		command(f, fd,
		        what < 110 ? RDMA_USER_CM_CMD_GET_EVENT
		                   : (what - 110u) % (RDMA_USER_CM_CMD_JOIN_MCAST + 1));
	}
}

/* To attach is much more work than an input: it is done for every so many. */
static void hold_adapter(void)
{
	static unsigned n;

	if (n++ % INPUTS != 0)
		return;
	if (fabric.nic != NULL)
		wv_nic_put(fabric.nic);
	must(wv_nic_get(&fabric.nic) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { .data = data, .size = size };

	if (fabric.daemon == NULL)
		start_fabric();
	hold_adapter();
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f.pair) == 0);
	for (unsigned i = 0; i < MOST_ACTS && f.size > 0; i++)
		act(&f);
	close(f.pair[0]);
	close(f.pair[1]);
	(void)close_range(FIRST, HIDDEN + FDS, 0);
	must(!wx_fd_any());
	for (int fd = 0; fd < HIDDEN + 100; fd++)
		must(!wx_fd_hidden(fd));
	return 0;
}
