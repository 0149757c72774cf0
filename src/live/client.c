/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - the one way in which everybody talks to a daemon. */
#define _GNU_SOURCE
#include "live/client.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "live/sock.h"

#define LOOK 1000 /* ms between two looks whether the daemon is stopped */

int wf_client_peer(int sock, pid_t *pid_p)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0)
		return -errno;
	*pid_p = cred.pid;
	return cred.uid == geteuid() || cred.uid == 0 ? 0 : -EPERM;
}

bool wf_client_is_stopped(pid_t pid)
{
	char path[32], text[256];
	const char *name_end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	name_end = strrchr(text, ')'); /* the state comes behind the name, which may be anything */
	return name_end != NULL &&
	       (strncmp(name_end, ") T", 3) == 0 || strncmp(name_end, ") t", 3) == 0);
}

int wf_client_connect(const char *path, int patience)
{
	int sock = wf_sock_connect(path, patience);
	pid_t pid;
	int ret;

	if (sock < 0)
		return sock;
	ret = wf_client_peer(sock, &pid);
	if (ret != 0) {
		close(sock);
		return ret;
	}
	return sock;
}

/* Waits until there is something to read. Returns 0 or -ETIMEDOUT. */
static int wait_for_answer(int sock, int patience)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	pid_t pid = 0;

	assert(patience >= 0);
	for (int waited = 0; waited < patience; waited += LOOK) {
		if (poll(&p, 1, LOOK) != 0)
			return 0; /* an error, too, is seen by who reads */
		if (wf_client_peer(sock, &pid) == 0 && wf_client_is_stopped(pid))
			break;
	}
	return -ETIMEDOUT;
}

/* Whoever is not let in, or is of another version, has a short answer to whatever it was. */
static bool is_answer(uint32_t op, int bytes)
{
	return bytes == (int)wf_live_reply_bytes(op) || bytes == WF_LIVE_REPLY_SHORT;
}

int wf_client_ask(int sock, struct wf_live_req *req, struct wf_live_reply *reply,
                  int fds[WF_LIVE_MAX_FDS], int patience)
{
	unsigned n = 0;
	int ret;

	assert(sock >= 0);
	memset(reply, 0, sizeof(*reply));
	memset(fds, -1, WF_LIVE_MAX_FDS * sizeof(fds[0]));
	req->version = WF_LIVE_VERSION;
	ret = wf_sock_send(sock, req, wf_live_req_bytes(req), NULL, 0, true);
	if (ret == 0 && patience != WF_CLIENT_FOR_EVER)
		ret = wait_for_answer(sock, patience);
	/* Who is not let in is told why before the connection ends: that may be there already. */
	if (ret == 0 || ret == -EPIPE || ret == -ECONNRESET)
		ret = wf_sock_recv(sock, reply, sizeof(*reply), fds, &n, true);
	if (ret == -ECONNRESET)
		ret = wf_sock_recv(sock, reply, sizeof(*reply), fds, &n, true);
	if (is_answer(req->op, ret) && n == reply->n_fds && (reply->error == 0 || n == 0))
		return reply->error;
	for (; n > 0; n--) {
		close(fds[n - 1]);
		fds[n - 1] = -1;
	}
	memset(reply, 0, sizeof(*reply));
	return ret < 0 ? ret : ret == 0 ? -ECONNRESET : -EPROTO;
}

int wf_client_ask_at(const char *path, struct wf_live_req *req, struct wf_live_reply *reply,
                     int fds[WF_LIVE_MAX_FDS], int patience)
{
	int sock = wf_client_connect(path, patience);
	int ret;

	memset(reply, 0, sizeof(*reply));
	if (sock < 0)
		return sock;
	ret = wf_client_ask(sock, req, reply, fds, patience);
	close(sock);
	return ret;
}

static bool is_name(const char name[WF_LIVE_NAME])
{
	return memchr(name, '\0', WF_LIVE_NAME) != NULL;
}

/* Whether size bytes of memory are a table, with as many hosts as it says. */
static bool is_table(const struct wf_live_table *t, size_t size)
{
	bool good = t->version == WF_LIVE_VERSION && t->n_hosts >= 1 &&
	            t->n_hosts <= WF_LIVE_MAX_HOSTS && wf_live_table_bytes(t->n_hosts) == size &&
	            is_name(t->fabric) && memchr(t->cc, '\0', sizeof(t->cc)) != NULL;

	for (uint32_t i = 0; good && i < t->n_hosts; i++)
		good = is_name(t->host[i].name) && is_name(t->host[i].peer);
	return good;
}

int wf_client_table(int fd, const struct wf_live_table **table_p)
{
	struct stat st;
	size_t size;
	void *at;

	if (fstat(fd, &st) != 0 || st.st_size < (off_t)wf_live_table_bytes(1) ||
	    st.st_size > (off_t)wf_live_table_bytes(WF_LIVE_MAX_HOSTS)) {
		close(fd);
		return -EPROTO;
	}
	size = (size_t)st.st_size;
	at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return -ENOMEM;
	if (!is_table(at, size)) {
		munmap(at, size);
		return -EPROTO;
	}
	*table_p = at;
	return 0;
}

void wf_client_free_table(const struct wf_live_table *table)
{
	if (table == NULL)
		return;
	assert(table->n_hosts >= 1 && table->n_hosts <= WF_LIVE_MAX_HOSTS);
	munmap((void *)(uintptr_t)table, wf_live_table_bytes(table->n_hosts));
}
