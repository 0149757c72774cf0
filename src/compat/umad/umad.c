/* SPDX-License-Identifier: Apache-2.0 */
/*
 * umad.c - files by which MADs are sent and received.
 *
 * A file is two sockets to the daemon, which does what a kernel would (live/umad.h): by one it is
 * asked, the other is what the program's descriptor is, so that the program can wait for it as it
 * likes. What a program writes and reads goes between its memory and a socket by the system alone:
 * where there is no memory, the system says EFAULT.
 */
#define _GNU_SOURCE
#include "compat/umad/umad.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/ib_user_mad.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compat/fd/fd.h"
#include "live/client.h"
#include "live/sysfs.h"
#include "live/umad_proto.h"

#define MAD 256 /* bytes of one that is not in segments */

_Static_assert(sizeof(struct ib_user_mad_hdr) == WF_UMAD_HDR &&
                       sizeof(struct ib_user_mad_hdr_old) == WF_UMAD_HDR_OLD,
               "as programs write them");
_Static_assert(offsetof(struct ib_user_mad_hdr, length) == WF_UMAD_AT_LENGTH &&
                       offsetof(struct ib_user_mad_hdr, lid) == WF_UMAD_AT_LID &&
                       offsetof(struct ib_user_mad_hdr, pkey_index) == WF_UMAD_AT_PKEY_INDEX,
               "the same");

struct umad {
	int ask;               /* hidden; the connection to the daemon */
	pthread_mutex_t asks;  /* one question at a time */
	pthread_mutex_t reads; /* and one that reads */
	/* Under asks. */
	bool pkeys; /* its headers have P_Key indices */
	bool used;  /* it has had an agent */
};

/* ---- memory of the program ---- */

/* Copies at most a page. Returns 0, -EFAULT, or why the system does not help. */
static int copy(void *to, const void *from, size_t n)
{
	int ends[2], ret = 0;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	if (syscall(SYS_write, ends[1], from, n) != (long)n ||
	    syscall(SYS_read, ends[0], to, n) != (long)n)
		ret = -EFAULT;
	(void)syscall(SYS_close, ends[0]);
	(void)syscall(SYS_close, ends[1]);
	return ret;
}

/* ---- asking the daemon ---- */

/* Sends pieces as one message. Returns 0 or -errno; -EIO: the daemon is gone. */
static int send_pieces(int sock, struct iovec *iov, unsigned n)
{
	const struct msghdr msg = { .msg_iov = iov, .msg_iovlen = n };

	for (;;) {
		if (syscall(SYS_sendmsg, sock, &msg, MSG_NOSIGNAL) >= 0)
			return 0;
		if (errno == EFAULT || errno == ENOMEM || errno == ENOBUFS)
			return errno == EFAULT ? -EFAULT : -ENOMEM;
		if (errno != EINTR)
			return -EIO;
	}
}

/* The daemon's answer. Returns 0 or -errno. */
static int hear(const struct umad *u, struct wf_umad_reply *reply)
{
	long n;

	do {
		n = syscall(SYS_recvfrom, u->ask, reply, sizeof(*reply), 0, NULL, NULL);
	} while (n < 0 && errno == EINTR);
	if (n != (long)sizeof(*reply))
		return -EIO;
	return reply->error <= 0 ? reply->error : -EIO;
}

static int ask(const struct umad *u, struct wf_umad_ask *question, uint32_t *id_p)
{
	struct iovec iov = { question, WF_UMAD_ASK_BYTES };
	struct wf_umad_reply reply = { .error = 0 };
	int ret = send_pieces(u->ask, &iov, 1);

	if (ret == 0)
		ret = hear(u, &reply);
	if (ret == 0 && id_p != NULL)
		*id_p = reply.id;
	return ret;
}

/* Connects to the daemon and says what for. Returns the hidden connection or -errno. */
static int join(uint32_t op, bool waits, struct wf_live_reply *reply, int fds[WF_LIVE_MAX_FDS])
{
	const char *path = getenv("WEFT_SOCKET"), *host = getenv("WEFT_HOST");
	struct wf_live_req req = { .op = op, .mads.waits = waits };
	int sock, ret;

	if (path == NULL)
		return -ENOENT;
	snprintf(req.mads.host, sizeof(req.mads.host), "%s", host != NULL ? host : "");
	sock = wf_client_connect(path, WF_CLIENT_FOR_EVER);
	if (sock < 0)
		return sock == -ECONNREFUSED ? -ENOENT : sock;
	ret = wf_client_ask(sock, &req, reply, fds, WF_CLIENT_FOR_EVER);
	if (ret == 0)
		return wx_fd_hide(sock);
	close(sock);
	return ret;
}

/* ---- reading ---- */

static size_t head_of(struct umad *u)
{
	return __atomic_load_n(&u->pkeys, __ATOMIC_RELAXED) ? WF_UMAD_HDR : WF_UMAD_HDR_OLD;
}

/* The first part that waits, as far as it says what it is. */
struct first {
	uint32_t total, at;
	uint8_t hdr[WF_UMAD_HDR];
};

/* Receives into pieces. Returns the bytes of the message, which may be more, or -errno. */
static ssize_t receive(int sock, struct iovec *iov, unsigned n, int flags)
{
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = n };
	long ret;

	do {
		ret = syscall(SYS_recvmsg, sock, &msg, flags | MSG_TRUNC);
	} while (ret < 0 && errno == EINTR);
	/* 0: the daemon is gone; it sends nothing that is empty. */
	return ret > 0 ? ret : ret == 0 ? -EIO : -errno;
}

/* What waits first, which stays where it is. Returns its bytes or -errno. */
static ssize_t look(int sock, struct first *first)
{
	struct iovec iov = { first, sizeof(*first) };
	ssize_t n = receive(sock, &iov, 1, MSG_PEEK | MSG_DONTWAIT);
	size_t part;

	if (n < 0)
		return n;
	part = first->total < WF_UMAD_PART ? first->total : WF_UMAD_PART;
	if (n < (ssize_t)sizeof(*first) || first->at != 0 || first->total > INT32_MAX ||
	    n != (ssize_t)(WF_UMAD_PART_BYTES + part))
		return -EIO;
	return n;
}

/* The first part into the program's memory: its header, and as much of the MAD as size says. */
static int copy_first(int sock, const struct first *first, size_t head, uint8_t *buf, size_t size)
{
	uint8_t unused[WF_UMAD_PART_BYTES + WF_UMAD_HDR - WF_UMAD_HDR_OLD];
	struct iovec iov[4] = {
		{ unused, WF_UMAD_PART_BYTES },
		{ buf, head },
		{ unused, WF_UMAD_HDR - head },
		{ buf + head, size },
	};
	ssize_t n = receive(sock, iov, 4, MSG_PEEK | MSG_DONTWAIT);
	uint32_t length;

	if (n < 0)
		return (int)n;
	memcpy(&length, first->hdr + WF_UMAD_AT_LENGTH, sizeof(length));
	/* The system has just written there. */
	if (head != WF_UMAD_HDR && length >= WF_UMAD_HDR) {
		length -= (uint32_t)(WF_UMAD_HDR - head);
		memcpy(buf + WF_UMAD_AT_LENGTH, &length, sizeof(length));
	}
	return 0;
}

/* Waits for the next part, whether the program's descriptor waits or not. */
static void wait_part(int sock)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };

	(void)syscall(SYS_ppoll, &p, 1, NULL, NULL, 0);
}

/* The other parts, of which the daemon sends each as soon as there is room. */
static int copy_rest(int sock, uint32_t total, uint8_t *mad)
{
	uint32_t at = WF_UMAD_PART;

	while (at < total) {
		uint32_t head[2] = { 0 };
		struct iovec iov[2] = {
			{ head, sizeof(head) },
			{ mad + at - WF_UMAD_HDR, wf_min_u64(total - at, WF_UMAD_PART) },
		};
		ssize_t n = receive(sock, iov, 2, MSG_DONTWAIT);

		if (n == -EAGAIN) {
			wait_part(sock);
			continue;
		}
		if (n < 0)
			return (int)n;
		if (n != (ssize_t)(sizeof(head) + iov[1].iov_len) || head[0] != total ||
		    head[1] != at)
			return -EIO;
		at += (uint32_t)iov[1].iov_len;
	}
	return 0;
}

/* What waits, if there is room for it; else it stays. Returns the bytes or -errno. */
static ssize_t take(struct umad *u, int sock, uint8_t *buf, size_t size)
{
	size_t head = head_of(u), length, least, part;
	struct first first;
	ssize_t ret = look(sock, &first);
	uint32_t status;

	if (ret < 0)
		return ret;
	memcpy(&status, first.hdr + WF_UMAD_AT_STATUS, sizeof(status));
	length = first.total - WF_UMAD_HDR;
	least = status == 0 && length > MAD ? MAD : length;
	if (size < head + least)
		return -EINVAL;
	part = (size_t)ret - WF_UMAD_PART_BYTES - WF_UMAD_HDR;
	if (size < head + length) {
		ret = copy_first(sock, &first, head, buf, least);
		return ret != 0 ? ret : -ENOSPC;
	}
	ret = copy_first(sock, &first, head, buf, part);
	if (ret != 0)
		return ret;
	ret = receive(sock, NULL, 0, MSG_DONTWAIT); /* it is gone */
	assert(ret > 0);
	ret = copy_rest(sock, first.total, buf + head);
	return ret != 0 ? ret : (ssize_t)(head + length);
}

static ssize_t read_umad(struct wx_file *f, void *buf, size_t size, bool nonblock)
{
	struct umad *u = wx_file_priv(f);
	ssize_t ret;

	if (size < head_of(u))
		return -EINVAL;
	for (;;) {
		pthread_mutex_lock(&u->reads);
		ret = take(u, wx_file_fd(f), buf, size);
		pthread_mutex_unlock(&u->reads);
		if (ret != -EAGAIN || nonblock)
			return ret;
		ret = wx_file_wait(f);
		if (ret != 0)
			return ret;
	}
}

/* ---- writing ---- */

/* A part of what is written: the first has the header. Returns 0 or -errno. */
static int send_part(const struct umad *u, size_t head, const uint8_t *buf, size_t at, size_t n,
                     bool last)
{
	static const uint8_t zeros[WF_UMAD_HDR - WF_UMAD_HDR_OLD];
	size_t own = at == 0 ? WF_UMAD_HDR : 0, theirs = at == 0 ? head : 0;
	struct wf_umad_ask question;
	struct iovec iov[4] = {
		{ &question, WF_UMAD_ASK_BYTES },
		{ (void *)(uintptr_t)buf, theirs },
		{ (void *)(uintptr_t)zeros, own - theirs },
		{ (void *)(uintptr_t)(buf + at + theirs), n - theirs },
	};

	memset(&question, 0, WF_UMAD_ASK_BYTES);
	question.op = last ? WF_UMAD_SEND : WF_UMAD_SEND_MORE;
	question.length = (uint32_t)(n - theirs + own);
	return send_pieces(u->ask, iov, 4);
}

/*
 * All of it in parts. Memory that ends in the middle of what goes in several is found out when some
 * have been sent: what there is then is no MAD, which the daemon says. Returns 0 or -errno.
 */
static int send_all(const struct umad *u, size_t head, const uint8_t *buf, size_t size)
{
	size_t most = WF_UMAD_PART - WF_UMAD_HDR;
	struct wf_umad_reply reply;
	int ret = 0;

	for (size_t at = 0; at < size && ret == 0; at += most) {
		bool last = size - at <= most;

		ret = send_part(u, head, buf, at, last ? size - at : most, last);
		if (ret == -EFAULT && at != 0) {
			struct wf_umad_ask end = { .op = WF_UMAD_CANCEL };

			(void)ask(u, &end, NULL);
		}
	}
	return ret != 0 ? ret : hear(u, &reply);
}

static ssize_t write_umad(struct wx_file *f, const void *buf, size_t size, bool nonblock)
{
	struct umad *u = wx_file_priv(f);
	size_t head = head_of(u);
	int ret;

	(void)nonblock; /* as the kernel, which takes what there is memory for */
	if (size < head + WF_UMAD_LEAST || size > WF_UMAD_MAX - WF_UMAD_HDR)
		return -EINVAL;
	pthread_mutex_lock(&u->asks);
	ret = send_all(u, head, buf, size);
	pthread_mutex_unlock(&u->asks);
	return ret != 0 ? ret : (ssize_t)size;
}

/* ---- agents ---- */

/* The program learns the number of its agent, or has none. */
static int tell_id(const struct umad *u, uint32_t id, void *to)
{
	struct wf_umad_ask question = { .op = WF_UMAD_UNREGISTER };
	int ret = copy(to, &id, sizeof(id));

	if (ret == 0)
		return 0;
	question.agent.id = id;
	(void)ask(u, &question, NULL);
	return ret;
}

static int do_register(struct umad *u, void *arg)
{
	struct wf_umad_ask question = { .op = WF_UMAD_REGISTER };
	struct ib_user_mad_reg_req req = { .id = 0 };
	uint32_t id;
	int ret = copy(&req, arg, sizeof(req));

	if (ret != 0)
		return ret;
	question.agent.qpn = req.qpn;
	question.agent.mgmt_class = req.mgmt_class;
	question.agent.class_version = req.mgmt_class_version;
	question.agent.oui = (uint32_t)req.oui[0] << 16 | (uint32_t)req.oui[1] << 8 | req.oui[2];
	question.agent.rmpp = req.rmpp_version;
	memcpy(question.agent.methods, req.method_mask, sizeof(question.agent.methods));
	ret = ask(u, &question, &id);
	if (ret == 0)
		ret = tell_id(u, id, (char *)arg + offsetof(struct ib_user_mad_reg_req, id));
	if (ret == 0)
		u->used = true;
	return ret;
}

static int do_register2(struct umad *u, void *arg)
{
	const uint32_t known = IB_USER_MAD_REG_FLAGS_CAP;
	struct wf_umad_ask question = { .op = WF_UMAD_REGISTER };
	struct ib_user_mad_reg_req2 req = { .id = 0 };
	uint32_t id;
	int ret = copy(&req, arg, sizeof(req));

	if (ret != 0)
		return ret;
	if (req.qpn > 1)
		return -EINVAL;
	if ((req.flags & ~known) != 0) {
		ret = copy((char *)arg + offsetof(struct ib_user_mad_reg_req2, flags), &known,
		           sizeof(known));
		return ret != 0 ? ret : -EINVAL;
	}
	if (req.mgmt_class != 0 && (req.oui & 0xff000000) != 0)
		return -EINVAL;
	question.agent.qpn = (uint8_t)req.qpn;
	question.agent.mgmt_class = req.mgmt_class;
	question.agent.class_version = req.mgmt_class_version;
	question.agent.oui = req.oui;
	question.agent.rmpp = (req.flags & IB_USER_MAD_USER_RMPP) != 0 ? 0 : req.rmpp_version;
	memcpy(question.agent.methods, req.method_mask, sizeof(question.agent.methods));
	ret = ask(u, &question, &id);
	if (ret == 0)
		ret = tell_id(u, id, (char *)arg + offsetof(struct ib_user_mad_reg_req2, id));
	if (ret == 0 && !u->used) {
		u->used = true;
		__atomic_store_n(&u->pkeys, true, __ATOMIC_RELAXED);
	}
	return ret;
}

static int do_unregister(const struct umad *u, const void *arg)
{
	struct wf_umad_ask question = { .op = WF_UMAD_UNREGISTER };
	int ret = copy(&question.agent.id, arg, sizeof(question.agent.id));

	return ret != 0 ? ret : ask(u, &question, NULL);
}

static int ioctl_umad(struct wx_file *f, unsigned long request, void *arg)
{
	struct umad *u = wx_file_priv(f);
	int ret = -ENOTTY;

	pthread_mutex_lock(&u->asks);
	if (request == IB_USER_MAD_REGISTER_AGENT) {
		ret = do_register(u, arg);
	} else if (request == IB_USER_MAD_REGISTER_AGENT2) {
		ret = do_register2(u, arg);
	} else if (request == IB_USER_MAD_UNREGISTER_AGENT) {
		ret = do_unregister(u, arg);
	} else if (request == IB_USER_MAD_ENABLE_PKEY) {
		ret = u->used ? -EINVAL : 0;
		if (!u->used)
			__atomic_store_n(&u->pkeys, true, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&u->asks);
	return ret;
}

/* ---- opening and closing ---- */

/* A child that lets go of what it inherited has its own descriptors of the connection, too. */
static void release_umad(void *priv, bool owned)
{
	struct umad *u = priv;

	(void)owned;
	wx_fd_close_hidden(u->ask);
	free(u);
}

static const struct wx_fd_ops umad_ops = {
	.name = "umad",
	.major = WF_SYSFS_MAD_MAJOR,
	.minor = WF_SYSFS_UMAD_MINOR,
	.read = read_umad,
	.write = write_umad,
	.ioctl = ioctl_umad,
	.release = release_umad,
};

int wv_umad_open(int flags)
{
	struct umad *u = calloc(1, sizeof(*u));
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS], ret;
	struct wx_file *f;

	if (u == NULL)
		return -ENOMEM;
	(void)pthread_mutex_init(&u->asks, NULL);
	(void)pthread_mutex_init(&u->reads, NULL);
	u->ask = join(WF_LIVE_UMAD_OPEN, false, &reply, fds);
	ret = u->ask;
	if (ret >= 0)
		ret = reply.n_fds == 1 ? wx_fd_open_socket(&umad_ops, u, fds[0], flags, &f) : -EIO;
	if (ret >= 0)
		return ret;
	wx_fd_close_hidden(u->ask < 0 ? -1 : u->ask);
	free(u);
	return ret;
}

/* ---- the manager ---- */

static ssize_t read_issm(struct wx_file *f, void *buf, size_t size, bool nonblock)
{
	(void)f;
	(void)buf;
	(void)size;
	(void)nonblock;
	return -EINVAL;
}

static ssize_t write_issm(struct wx_file *f, const void *buf, size_t size, bool nonblock)
{
	(void)f;
	(void)buf;
	(void)size;
	(void)nonblock;
	return -EINVAL;
}

static int ioctl_issm(struct wx_file *f, unsigned long request, void *arg)
{
	(void)f;
	(void)request;
	(void)arg;
	return -ENOTTY;
}

/* priv is one more than the connection's number, as it is never NULL. */
static void release_issm(void *priv, bool owned)
{
	(void)owned;
	wx_fd_close_hidden((int)(intptr_t)priv - 1);
}

static const struct wx_fd_ops issm_ops = {
	.name = "issm",
	.major = WF_SYSFS_MAD_MAJOR,
	.minor = WF_SYSFS_ISSM_MINOR,
	.read = read_issm,
	.write = write_issm,
	.ioctl = ioctl_issm,
	.release = release_issm,
};

/* Another is the manager: until its end. Returns 0 or -errno. */
static int wait_turn(int sock)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	struct wf_umad_reply reply;

	if (syscall(SYS_ppoll, &p, 1, NULL, NULL, 0) < 0)
		return -errno;
	if (syscall(SYS_recvfrom, sock, &reply, sizeof(reply), MSG_DONTWAIT, NULL, NULL) !=
	    (long)sizeof(reply))
		return -ENODEV;
	return reply.error;
}

int wv_issm_open(int flags)
{
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	int sock = join(WF_LIVE_ISSM_OPEN, (flags & O_NONBLOCK) == 0, &reply, fds);
	int ret = 0;
	struct wx_file *f;

	if (sock < 0)
		return sock;
	if (reply.mads.waits != 0)
		ret = wait_turn(sock);
	if (ret == 0)
		ret = wx_fd_open(&issm_ops, (void *)((intptr_t)sock + 1), flags, &f);
	if (ret < 0)
		wx_fd_close_hidden(sock);
	return ret;
}
