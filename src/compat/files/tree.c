/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - the places of an RDMA device in the file system, and the files there that change. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compat/files/files_priv.h"
#include "live/sock.h"
#include "live/sysfs.h"

#define PORT "/sys/class/infiniband/" WF_SYSFS_DEVICE "/ports/1/"

/* The path begins with the words of prefix, and a word ends there. */
static bool is_below(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(path, prefix, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* What lives as long as the process. */
static char tree[PATH_MAX]; /* the folder of the tree; "" without one */
static size_t tree_len;
static bool inside; /* a path of the tree was used: what is relative may be below it, too */

static void __attribute__((constructor)) find_tree(void)
{
	const char *dir = getenv("WEFT_SYSFS");
	char cwd[PATH_MAX];

	if (dir == NULL || strlen(dir) >= sizeof(tree))
		return;
	tree_len = strlen(dir);
	memcpy(tree, dir, tree_len + 1);
	inside = getcwd(cwd, sizeof(cwd)) != NULL && strncmp(cwd, tree, tree_len) == 0;
}

static bool is_ours(const char *path)
{
	if (path[1] == 's')
		return is_below(path, "/sys/class/infiniband") ||
		       is_below(path, "/sys/class/infiniband_verbs");
	return is_below(path, "/dev/infiniband");
}

bool wx_is_device(const char *path)
{
	return path != NULL && tree_len != 0 &&
	       strcmp(path, "/dev/infiniband/" WF_SYSFS_UVERBS) == 0;
}

bool wx_translate(const char *path, char *buf)
{
	if (path == NULL || path[0] != '/' || tree_len == 0 || !is_ours(path) ||
	    snprintf(buf, PATH_MAX, "%s%s", tree, path) >= PATH_MAX)
		return false;
	inside = true;
	return true;
}

/*
 * The path as if there were no tree, from one in it or relative to a folder in it; NULL: neither.
 */
static const char *untranslate(int dir, const char *path, char buf[PATH_MAX])
{
	char link[32];
	size_t len;
	ssize_t n;

	if (path[0] == '/')
		return strncmp(path, tree, tree_len) == 0 ? path + tree_len : path;
	if (!inside)
		return NULL;
	if (dir == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/self/cwd");
	else
		snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = readlink(link, buf, PATH_MAX - 1);
	if (n < (ssize_t)tree_len || strncmp(buf, tree, tree_len) != 0)
		return NULL;
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	len = strlen(path);
	if ((size_t)n + 1 + len >= PATH_MAX)
		return NULL;
	buf[n] = '/';
	memcpy(buf + n + 1, path, len + 1);
	return buf + tree_len;
}

/* Asks the daemon for a host's counters. Returns 0, and the host's table, or -errno. */
static int ask(uint64_t count[WF_LIVE_COUNTS], uint32_t *host_p, struct wf_live_table **table_p,
               size_t *size_p)
{
	const char *path = getenv("WEFT_SOCKET"), *host = getenv("WEFT_HOST");
	struct wf_live_req req = { .op = WF_LIVE_COUNTERS, .version = WF_LIVE_VERSION };
	struct wf_live_reply reply = { .error = -EPROTO };
	int fds[WF_LIVE_MAX_FDS];
	struct stat st = { .st_size = 0 };
	unsigned n = 0;
	int sock, ret;

	sock = path != NULL ? wf_sock_connect(path) : -ENOENT;
	if (sock < 0)
		return sock;
	snprintf(req.attach.host, sizeof(req.attach.host), "%s", host != NULL ? host : "");
	ret = wf_sock_send(sock, &req, sizeof(req), NULL, 0, true);
	if (ret == 0)
		ret = wf_sock_recv(sock, &reply, sizeof(reply), fds, &n, true);
	close(sock);
	if (ret != (int)sizeof(reply) || reply.error != 0 || n != 2) {
		ret = -EPROTO;
		goto out;
	}
	ret = -EPROTO;
	if (pread(fds[0], count, WF_LIVE_COUNTS * sizeof(*count), 0) !=
	            (ssize_t)(WF_LIVE_COUNTS * sizeof(*count)) ||
	    fstat(fds[1], &st) != 0)
		goto out;
	*size_p = (size_t)st.st_size;
	*host_p = reply.attach.host;
	*table_p = mmap(NULL, *size_p, PROT_READ, MAP_SHARED, fds[1], 0);
	if (*table_p != MAP_FAILED)
		ret = 0;
out:
	while (n > 0)
		close(fds[--n]);
	return ret;
}

int wx_open_live(int dir, const char *path, int flags)
{
	char buf[PATH_MAX];
	uint64_t count[WF_LIVE_COUNTS];
	char text[WF_SYSFS_MAX_TEXT];
	struct wf_live_table *table;
	int saved = errno, fd = -1, len;
	uint32_t host;
	size_t size;

	if (path == NULL || tree_len == 0 || (flags & O_ACCMODE) != O_RDONLY ||
	    (flags & (O_DIRECTORY | O_PATH)) != 0)
		return -1;
	path = untranslate(dir, path, buf);
	if (path == NULL || strncmp(path, PORT, sizeof(PORT) - 1) != 0)
		return -1;
	path += sizeof(PORT) - 1;
	if (strncmp(path, "counters/", 9) != 0 && strncmp(path, "hw_counters/", 12) != 0 &&
	    strcmp(path, "state") != 0 && strcmp(path, "phys_state") != 0)
		return -1;
	if (ask(count, &host, &table, &size) == 0) {
		len = wf_sysfs_live(path, table, host, count, text);
		munmap(table, size);
		if (len > 0)
			fd = memfd_create("weft-sysfs", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
		if (fd >= 0 &&
		    (write(fd, text, (size_t)len) != len || lseek(fd, 0, SEEK_SET) != 0)) {
			close(fd);
			fd = -1;
		}
	}
	errno = saved;
	return fd;
}
