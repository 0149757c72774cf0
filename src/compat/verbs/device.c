/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - the one device of a host, and the adapter behind it. All contexts of a process share
 * one adapter: it is attached with the first and detached with the last.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compat/cm/ucma.h"
#include "compat/verbs/verbs_priv.h"
#include "live/client.h"
#include "live/sock.h"

struct wv_device wv_the_device;

/* What lives as long as the process. */
static struct {
	pthread_mutex_t lock; /* of opening and closing */
	struct wf_nic *nic;
	struct wv_context *contexts; /* changed under both locks */
	unsigned users;              /* others that hold the adapter */
	bool prepared;
	bool opened;             /* there was an adapter */
	uint64_t sent, received; /* packets of adapters that are closed */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct wv_context *wv_contexts(void)
{
	return all.contexts;
}

bool wv_lock(struct ibv_context *c)
{
	struct wf_nic *nic = wv_nic(c);

	if (wf_unlikely(wf_nic_forked(nic)))
		return false;
	wf_nic_lock(nic);
	return true;
}

void wv_unlock(struct ibv_context *c)
{
	wf_nic_unlock(wv_nic(c));
}

/* Where the daemon is and which host this is: weft exec says so in the environment. */
static int fabric_path(char *path, size_t size)
{
	const char *given = getenv("WEFT_SOCKET");

	if (given == NULL)
		return wf_sock_path(NULL, false, path, size);
	if (snprintf(path, size, "%s", given) >= (int)size)
		return -ENAMETOOLONG;
	return 0;
}

static const char *host_name(void)
{
	const char *host = getenv("WEFT_HOST");

	return host != NULL ? host : "";
}

/* Asks the daemon for the host's address without attaching. Returns 0 or -errno. */
static int look_up(uint64_t *guid_p)
{
	struct wf_live_req req = { .op = WF_LIVE_STATUS };
	const struct wf_live_table *table;
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	char path[128];
	int ret;

	ret = fabric_path(path, sizeof(path));
	if (ret == 0)
		ret = wf_client_ask_at(path, &req, &reply, fds, WF_CLIENT_FOR_EVER);
	if (ret != 0)
		return ret;
	close(fds[0]);
	ret = wf_client_table(fds[1], &table);
	if (ret != 0)
		return ret;
	ret = -ENXIO;
	for (uint32_t i = 0; i < table->n_hosts; i++) {
		if (host_name()[0] == '\0' || strcmp(table->host[i].name, host_name()) == 0) {
			*guid_p = table->host[i].guid;
			ret = 0;
			break;
		}
	}
	wf_client_free_table(table);
	return ret;
}

struct ibv_device **ibv_get_device_list(int *num)
{
	struct ibv_device **list = calloc(2, sizeof(struct ibv_device *));
	struct ibv_device *d = &wv_the_device.ibv;
	int ret;

	if (list == NULL)
		return NULL;
	ret = look_up(&wv_the_device.guid);
	if (ret == 0) {
		d->node_type = IBV_NODE_CA;
		d->transport_type = IBV_TRANSPORT_IB;
		snprintf(d->name, sizeof(d->name), WV_DEVICE);
		snprintf(d->dev_name, sizeof(d->dev_name), "uverbs0");
		snprintf(d->dev_path, sizeof(d->dev_path), "/sys/class/infiniband_verbs/uverbs0");
		snprintf(d->ibdev_path, sizeof(d->ibdev_path), "/sys/class/infiniband/" WV_DEVICE);
		list[0] = d;
	} else {
		fprintf(stderr, "weft: no RDMA device: %s\n",
		        ret == -ENOENT || ret == -ECONNREFUSED
		                ? "there is no fabric (weft up starts one)"
		        : ret == -ENXIO ? "the fabric has no such host"
		                        : strerror(-ret));
	}
	if (num != NULL)
		*num = ret == 0;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return htobe64(((struct wv_device *)(void *)device)->guid);
}

int ibv_get_device_index(struct ibv_device *device)
{
	(void)device;
	return 0;
}

/*
 * All locks, in the order in which they are taken: that of opening, the adapter's, that of handles.
 * Those within objects are not taken: the child may not use its parent's objects. Nor are those
 * that a thread may have while it waits for the daemon, or fork() would wait, too: of the adapter's
 * (wf_nic_asking()) the child knows nothing, and that of rdma_cm's commands is made anew. What it
 * is for is under the adapter's lock as well, and so not half done.
 */
static void before_fork(void)
{
	pthread_mutex_lock(&all.lock);
	if (all.nic != NULL)
		wf_nic_lock(all.nic);
	wv_handle_lock();
	wv_guard_lock();
}

static void after_fork_parent(void)
{
	wv_guard_unlock();
	wv_handle_unlock();
	if (all.nic != NULL)
		wf_nic_unlock(all.nic);
	pthread_mutex_unlock(&all.lock);
}

/* The child may open the device anew; what its parent opened is not for it. */
static void after_fork_child(void)
{
	wv_guard_unlock();
	wv_handle_unlock();
	if (all.nic != NULL) {
		wf_nic_unlock(all.nic);
		wf_nic_fork_child(all.nic);
	}
	all.nic = NULL;
	wv_ucma_fork_child();
	wv_xrc_forget();
	all.contexts = NULL;
	all.users = 0;
	all.opened = false;
	all.sent = all.received = 0;
	pthread_mutex_unlock(&all.lock);
}

static int open_nic(void)
{
	struct wf_nic_cfg cfg = {
		.host = host_name(),
		.completion = wv_on_completion,
		.event = wv_on_event,
		.cm_event = wv_on_cm_event,
		.joined = wv_on_joined,
		.fetch_near = wv_guard_fetch_near,
		.fetch_far = wv_guard_fetch_far,
		.store = wv_guard_store,
	};
	char path[128];
	int ret;

	if (!all.prepared) {
		pthread_atfork(before_fork, after_fork_parent, after_fork_child);
		wv_guard_install();
		all.prepared = true;
	}
	if (all.nic != NULL)
		return 0;
	ret = fabric_path(path, sizeof(path));
	cfg.path = path;
	if (ret == 0)
		ret = wf_nic_open(&cfg, &all.nic);
	all.opened = all.opened || ret == 0;
	return ret;
}

static void count_packets(const struct wf_nic *nic, uint64_t *sent, uint64_t *received)
{
	const struct wf_hca *hca = wf_nic_hca((struct wf_nic *)(uintptr_t)nic);

	*sent += wf_hca_counter(hca, WF_CTR_TX_PACKETS);
	*received += wf_hca_counter(hca, WF_CTR_RX_PACKETS);
}

/*
 * The process ends. weft exec -v: what came of it. Without the lock, which a thread that was
 * ended with the process may hold: a packet more or less is no matter.
 */
static void __attribute__((destructor)) report(void)
{
	const char *verbose = getenv("WEFT_VERBOSE");
	uint64_t sent = all.sent, received = all.received;

	if (all.nic != NULL)
		wf_nic_ends(all.nic);
	if (verbose == NULL || verbose[0] == '\0' || !all.opened)
		return;
	if (all.nic != NULL)
		count_packets(all.nic, &sent, &received);
	fprintf(stderr, "weft: %s (%d) on %s: %" PRIu64 " packets sent, %" PRIu64 " received\n",
	        program_invocation_short_name, (int)getpid(),
	        host_name()[0] != '\0' ? host_name() : "the first host", sent, received);
	if (sent + received == 0)
		fprintf(stderr, "weft: no packet passed: the program opened the device and did not "
		                "use it. MPI may "
		                "have chosen shared memory or TCP, see docs/live.md\n");
}

/* With the last context the program leaves the fabric. */
static void close_nic(void)
{
	struct wf_nic *nic = all.nic;

	if (all.contexts != NULL || all.users != 0 || nic == NULL)
		return;
	assert(all.opened && all.prepared);
	assert(!wf_nic_forked(nic));
	all.nic = NULL;
	wv_xrc_forget();
	count_packets(nic, &all.sent, &all.received);
	wf_nic_close(nic);
}

int wv_nic_get(struct wf_nic **nic_p)
{
	int ret;

	pthread_mutex_lock(&all.lock);
	ret = open_nic();
	assert((ret == 0) == (all.nic != NULL));
	if (ret == 0) {
		all.users++;
		*nic_p = all.nic;
	}
	pthread_mutex_unlock(&all.lock);
	return ret;
}

void wv_nic_put(struct wf_nic *nic)
{
	if (wf_nic_forked(nic))
		return;
	pthread_mutex_lock(&all.lock);
	assert(nic == all.nic && all.users > 0);
	all.users--;
	close_nic();
	pthread_mutex_unlock(&all.lock);
}

struct ibv_context *wv_open(struct ibv_device *device, int cmd_fd)
{
	struct wv_context *c = calloc(1, sizeof(*c));
	struct ibv_context *ibv;
	int ret;

	if (c == NULL)
		return wv_fail(ENOMEM);
	ibv = &c->v.context;
	ibv->device = device;
	ibv->cmd_fd = cmd_fd;
	ibv->num_comp_vectors = 1;
	ibv->abi_compat = __VERBS_ABI_IS_EXTENDED;
	pthread_mutex_init(&ibv->mutex, NULL);
	c->v.sz = sizeof(c->v);
	wv_fill_ops(&c->v);
	ret = wv_async_open(c);
	if (ret != 0) {
		free(c);
		return wv_fail(-ret);
	}
	pthread_mutex_lock(&all.lock);
	ret = open_nic();
	if (ret == 0) {
		c->nic = all.nic;
		wf_nic_lock(c->nic);
		c->next = all.contexts;
		all.contexts = c;
		wf_nic_unlock(c->nic);
	}
	pthread_mutex_unlock(&all.lock);
	if (ret != 0) {
		wv_async_close(c);
		free(c);
		return wv_fail(-ret);
	}
	return ibv;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	/* It can do nothing, but says by its inode which context it is of: wv_is_context_fd(). */
	int fd = memfd_create("uverbs", MFD_CLOEXEC);
	struct ibv_context *ibv;

	if (fd < 0)
		return NULL;
	ibv = wv_open(device, fd);
	if (ibv == NULL)
		close(fd);
	return ibv;
}

bool wv_is_context_fd(int fd)
{
	struct stat st, other;
	bool found = false;

	if (fstat(fd, &st) != 0)
		return false;
	pthread_mutex_lock(&all.lock);
	for (struct wv_context *c = all.contexts; c != NULL && !found; c = c->next)
		found = fstat(c->v.context.cmd_fd, &other) == 0 && other.st_ino == st.st_ino &&
		        other.st_dev == st.st_dev;
	pthread_mutex_unlock(&all.lock);
	return found;
}

int ibv_close_device(struct ibv_context *ibv)
{
	struct wv_context *c = wv_context(ibv);
	struct wv_context **at = &all.contexts;

	if (wf_nic_forked(c->nic))
		return 0;
	pthread_mutex_lock(&all.lock);
	wf_nic_lock(c->nic);
	while (*at != NULL && *at != c)
		at = &(*at)->next;
	if (*at != NULL)
		*at = c->next;
	wf_nic_unlock(c->nic);
	close_nic();
	pthread_mutex_unlock(&all.lock);
	close(ibv->cmd_fd);
	wv_async_close(c);
	free(c);
	return 0;
}
