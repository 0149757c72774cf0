/* SPDX-License-Identifier: Apache-2.0 */
/* sock.c - SCM_RIGHTS in and out, and the daemon's address. */
#define _GNU_SOURCE
#include "live/sock.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

union control {
	char bytes[CMSG_SPACE(WF_LIVE_MAX_FDS * sizeof(int))];
	struct cmsghdr align;
};

int wf_sock_send(int sock, const void *msg, size_t size, const int *fds, unsigned n_fds, bool wait)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)msg, .iov_len = size };
	union control control = { .bytes = { 0 } };
	struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (n_fds > WF_LIVE_MAX_FDS)
		return -EINVAL;
	if (n_fds != 0) {
		struct cmsghdr *cmsg = &control.align;

		hdr.msg_control = control.bytes;
		hdr.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, n_fds * sizeof(int));
	}
	do {
		n = sendmsg(sock, &hdr, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* Takes the descriptors out of hdr; too many are closed. */
static unsigned take_fds(struct msghdr *hdr, int fds[WF_LIVE_MAX_FDS])
{
	unsigned n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(hdr); c != NULL; c = CMSG_NXTHDR(hdr, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (n < WF_LIVE_MAX_FDS)
				fds[n++] = fd;
			else
				close(fd);
		}
	}
	return n;
}

int wf_sock_recv(int sock, void *msg, size_t size, int fds[WF_LIVE_MAX_FDS], unsigned *n_fds_p,
                 bool wait)
{
	struct iovec iov = { .iov_base = msg, .iov_len = size };
	union control control;
	struct msghdr hdr = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n;

	*n_fds_p = 0;
	memset(msg, 0, size);
	do {
		n = recvmsg(sock, &hdr, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	assert((size_t)n <= size); /* without MSG_TRUNC, no more than there is room for */
	*n_fds_p = take_fds(&hdr, fds);
	assert(*n_fds_p <= WF_LIVE_MAX_FDS);
	if ((hdr.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
		while (*n_fds_p > 0)
			close(fds[--*n_fds_p]);
		/* There is room for all descriptors but where this process may have no more. */
		return (hdr.msg_flags & MSG_CTRUNC) != 0 ? -EMFILE : -EMSGSIZE;
	}
	return (int)n;
}

/* Whether the folder is this user's alone; with make, it is made. */
static int check_dir(bool make, const char *path)
{
	struct stat st;

	if (make && mkdir(path, 0700) != 0 && errno != EEXIST)
		return -errno;
	/* In /tmp somebody else may have been there first. */
	if (lstat(path, &st) != 0)
		return errno == ENOENT && !make ? 0 : -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != getuid() || (st.st_mode & 022) != 0)
		return -EACCES;
	return 0;
}

int wf_sock_tmp_dir(char *path, size_t size)
{
	int n = snprintf(path, size, "/tmp/weft-%u", (unsigned)getuid());

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : check_dir(true, path);
}

int wf_sock_dir(bool make, char *path, size_t size)
{
	const char *own = getenv("WEFT_RUNTIME_DIR");
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	int n;

	if (own != NULL && own[0] != '\0')
		n = snprintf(path, size, "%s", own);
	else if (xdg != NULL && xdg[0] == '/')
		n = snprintf(path, size, "%s/weft", xdg);
	else
		n = snprintf(path, size, "/tmp/weft-%u", (unsigned)getuid());
	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	return check_dir(make, path);
}

int wf_sock_path(const char *name, bool make, char *path, size_t size)
{
	size_t len;
	int ret;

	if (name == NULL)
		name = getenv("WEFT_FABRIC");
	if (name == NULL)
		name = "default";
	if (name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL)
		return -EINVAL;
	ret = wf_sock_dir(make, path, size);
	if (ret != 0)
		return ret;
	len = strlen(path);
	if (len + strlen(name) + sizeof("/.sock") > size ||
	    len + strlen(name) + sizeof("/.sock") > sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return -ENAMETOOLONG;
	snprintf(path + len, size - len, "/%s.sock", name);
	return 0;
}

int wf_sock_connect(const char *path, int patience)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = patience / 1000, .tv_usec = patience % 1000 * 1000 };
	int sock, ret;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, strlen(path));
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	if (patience > 0)
		(void)setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(sock, (struct sockaddr *)&addr, sizeof(addr)) != 0) {
		ret = errno == EAGAIN ? -ETIMEDOUT : -errno;
		close(sock);
		return ret;
	}
	return sock;
}
