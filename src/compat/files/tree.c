/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - the places of an RDMA device in the file system, and the files there that change. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compat/files/tree.h"
#include "live/client.h"
#include "live/sysfs.h"

#define PORT "/sys/class/infiniband/" WF_SYSFS_DEVICE "/ports/1/"

/* What lives as long as the process. */
static char tree[WX_PATH_MAX]; /* the folder of the tree; "" without one */
static size_t tree_len;
static bool inside; /* a path of the tree was used: what is relative may be below it, too */

void wx_tree_set(const char *dir)
{
	char cwd[WX_PATH_MAX];

	tree[0] = '\0';
	tree_len = 0;
	inside = false;
	if (dir == NULL || strlen(dir) >= sizeof(tree))
		return;
	tree_len = strlen(dir);
	memcpy(tree, dir, tree_len + 1);
	inside = tree_len != 0 && getcwd(cwd, sizeof(cwd)) != NULL &&
	         strncmp(cwd, tree, tree_len) == 0;
}

static void __attribute__((constructor)) find_tree(void)
{
	wx_tree_set(getenv("WEFT_SYSFS"));
}

/*
 * Whether there is memory at p, as the system sees it: it reads a set of signals before it finds
 * that there is no such thing to do with it.
 */
static bool is_readable(const void *p)
{
	const void *word = (const void *)((uintptr_t)p & ~(uintptr_t)7);
	int saved = errno;
	/* NULL would be no set at all. */
	bool is = word != NULL &&
	          (syscall(SYS_rt_sigprocmask, -1, word, NULL, 8) == 0 || errno != EFAULT);

	errno = saved;
	return is;
}

int wx_path_copy(const char *path, char *to, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if ((i == 0 || ((uintptr_t)(path + i) & 4095) == 0) && !is_readable(path + i))
			return -1;
		to[i] = path[i];
		if (to[i] == '\0')
			return (int)i;
	}
	return -1;
}

bool wx_is_candidate(const char *path)
{
	char start[4] = "";

	if (path == NULL)
		return false;
	(void)wx_path_copy(path, start, sizeof(start));
	if (start[0] != '/')
		return inside && start[0] != '\0';
	return memcmp(start, "/sys", 4) == 0 || memcmp(start, "/dev", 4) == 0 ||
	       (tree_len != 0 && strncmp(start, tree, sizeof(start)) == 0);
}

bool wx_path_is(const char *path, const char *text)
{
	char copy[64];

	assert(strlen(text) < sizeof(copy));
	return path != NULL && wx_path_copy(path, copy, sizeof(copy)) >= 0 &&
	       strcmp(copy, text) == 0;
}

/* The path begins with the words of prefix, and a word ends there. */
static bool is_below(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(path, prefix, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

bool wx_is_device(const char *path, unsigned *major_p, unsigned *minor_p)
{
	static const struct {
		const char *path;
		unsigned major, minor;
	} devices[] = {
		{ "/dev/infiniband/" WF_SYSFS_UVERBS, WF_SYSFS_UVERBS_MAJOR,
		  WF_SYSFS_UVERBS_MINOR },
		{ "/dev/infiniband/" WF_SYSFS_UMAD, WF_SYSFS_MAD_MAJOR, WF_SYSFS_UMAD_MINOR },
		{ "/dev/infiniband/" WF_SYSFS_ISSM, WF_SYSFS_MAD_MAJOR, WF_SYSFS_ISSM_MINOR },
	};

	for (size_t i = 0; tree_len != 0 && i < WF_ARRAY_SIZE(devices); i++) {
		if (wx_path_is(path, devices[i].path)) {
			*major_p = devices[i].major;
			*minor_p = devices[i].minor;
			return true;
		}
	}
	return false;
}

bool wx_translate(const char *path, char buf[WX_PATH_MAX])
{
	assert(tree_len < WX_PATH_MAX);
	if (tree_len == 0 || !wx_is_candidate(path) ||
	    wx_path_copy(path, buf + tree_len, WX_PATH_MAX - tree_len) < 0 ||
	    (!is_below(buf + tree_len, "/sys/class/infiniband") &&
	     !is_below(buf + tree_len, "/sys/class/infiniband_verbs") &&
	     !is_below(buf + tree_len, "/sys/class/infiniband_mad") &&
	     !is_below(buf + tree_len, "/dev/infiniband")))
		return false;
	memcpy(buf, tree, tree_len);
	inside = true;
	return true;
}

/*
 * The path as if there were no tree, from one in it or relative to a folder in it; NULL: neither.
 */
static const char *untranslate(int dir, const char *path, char buf[WX_PATH_MAX])
{
	char link[32];
	ssize_t n;
	int len;

	buf[0] = '\0';
	(void)wx_path_copy(path, buf, 1);
	if (buf[0] == '\0')
		return NULL;
	if (buf[0] == '/') {
		if (wx_path_copy(path, buf, WX_PATH_MAX) < 0)
			return NULL;
		return strncmp(buf, tree, tree_len) == 0 ? buf + tree_len : buf;
	}
	if (!inside)
		return NULL;
	if (dir == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/self/cwd");
	else
		snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = readlink(link, buf, WX_PATH_MAX - 2);
	if (n < (ssize_t)tree_len || strncmp(buf, tree, tree_len) != 0)
		return NULL;
	buf[n] = '/';
	len = wx_path_copy(path, buf + n + 1, (size_t)(WX_PATH_MAX - 1 - n));
	while (len >= 2 && buf[n + 1] == '.' && buf[n + 2] == '/') {
		memmove(buf + n + 1, buf + n + 3, (size_t)len - 1);
		len -= 2;
	}
	return len >= 0 ? buf + tree_len : NULL;
}

/* Asks the daemon for a host's counters. Returns 0, and the host's table, or -errno. */
static int ask(uint64_t count[WF_LIVE_COUNTS], uint32_t *host_p,
               const struct wf_live_table **table_p)
{
	const char *path = getenv("WEFT_SOCKET"), *host = getenv("WEFT_HOST");
	struct wf_live_req req = { .op = WF_LIVE_COUNTERS };
	size_t size = WF_LIVE_COUNTS * sizeof(count[0]);
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	int ret = -ENOENT;

	snprintf(req.attach.host, sizeof(req.attach.host), "%s", host != NULL ? host : "");
	if (path != NULL)
		ret = wf_client_ask_at(path, &req, &reply, fds, WF_CLIENT_FOR_EVER);
	if (ret != 0)
		return ret;
	if (pread(fds[0], count, size, 0) != (ssize_t)size)
		ret = -EPROTO;
	close(fds[0]);
	if (ret != 0)
		close(fds[1]);
	else
		ret = wf_client_table(fds[1], table_p);
	*host_p = reply.attach.host;
	if (ret == 0 && *host_p >= (*table_p)->n_hosts) {
		wf_client_free_table(*table_p);
		ret = -EPROTO;
	}
	return ret;
}

/*
 * What a file of the port that changes says now, as a descriptor; -1: the daemon does not answer.
 */
static __attribute__((noinline)) int open_now(const char *file, int flags)
{
	uint64_t count[WF_LIVE_COUNTS];
	char text[WF_SYSFS_MAX_TEXT];
	const struct wf_live_table *table;
	int fd = -1, len;
	uint32_t host;

	if (ask(count, &host, &table) != 0)
		return -1;
	len = wf_sysfs_live(file, table, host, count, text);
	wf_client_free_table(table);
	if (len > 0)
		fd = memfd_create("weft-sysfs", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
	if (fd >= 0 && (write(fd, text, (size_t)len) != len || lseek(fd, 0, SEEK_SET) != 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int wx_open_live(int dir, const char *path, int flags)
{
	char buf[WX_PATH_MAX];
	int saved = errno, fd;

	if (path == NULL || tree_len == 0 || (flags & O_ACCMODE) != O_RDONLY ||
	    (flags & (O_DIRECTORY | O_PATH)) != 0)
		return -1;
	path = untranslate(dir, path, buf);
	if (path == NULL || strncmp(path, PORT, sizeof(PORT) - 1) != 0)
		return -1;
	path += sizeof(PORT) - 1;
	if (!wf_sysfs_is_live(path))
		return -1;
	fd = open_now(path, flags);
	errno = saved;
	return fd;
}
