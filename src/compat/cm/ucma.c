/* SPDX-License-Identifier: Apache-2.0 */
/* ucma.c - channels: descriptors that take commands and tell of events. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "compat/cm/ucma_priv.h"
#include "compat/verbs/verbs_priv.h"
#include "wire/transport.h"

#define MAX_FDS 65536
#define MAX_IDS 65536 /* librdmacm has no more names */

/* By descriptor. */
static _Atomic(struct wv_ucma_channel *) channels[MAX_FDS];
static atomic_uint n_channels;

/* By handle. Under the lock of the adapter. */
static struct wv_ucma_id **names;
static uint32_t max_names, next_name;

bool wv_ucma_is(int fd)
{
	return wv_ucma_channel(fd) != NULL;
}

struct wv_ucma_channel *wv_ucma_channel(int fd)
{
	if (wf_likely(atomic_load_explicit(&n_channels, memory_order_relaxed) == 0) || fd < 0 ||
	    fd >= MAX_FDS)
		return NULL;
	return atomic_load_explicit(&channels[fd], memory_order_acquire);
}

int wv_ucma_open(int flags)
{
	struct wv_ucma_channel *ch = calloc(1, sizeof(*ch));
	int ret;

	if (ch == NULL)
		return -ENOMEM;
	ch->tail = &ch->events;
	ret = wv_nic_get(&ch->nic);
	if (ret != 0) {
		free(ch);
		return ret == -ECONNREFUSED ? -ENOENT : ret;
	}
	ch->fd = eventfd(0, ((flags & O_CLOEXEC) != 0 ? EFD_CLOEXEC : 0) |
	                            ((flags & O_NONBLOCK) != 0 ? EFD_NONBLOCK : 0));
	if (ch->fd < 0 || ch->fd >= MAX_FDS) {
		ret = ch->fd < 0 ? -errno : -EMFILE;
		if (ch->fd >= 0)
			(void)close(ch->fd);
		wv_nic_put(ch->nic);
		free(ch);
		return ret;
	}
	atomic_store_explicit(&channels[ch->fd], ch, memory_order_release);
	atomic_fetch_add_explicit(&n_channels, 1, memory_order_release);
	return ch->fd;
}

int wv_ucma_close(int fd)
{
	struct wv_ucma_channel *ch =
		atomic_exchange_explicit(&channels[fd], NULL, memory_order_acq_rel);

	if (ch == NULL)
		return -EBADF;
	atomic_fetch_sub_explicit(&n_channels, 1, memory_order_relaxed);
	if (wf_nic_forked(ch->nic))
		return 0; /* what is on it is the parent's */
	wf_nic_lock(ch->nic);
	for (uint32_t i = 0; i < max_names; i++) {
		struct wv_ucma_id *id = wv_ucma_find(ch, i);

		if (id != NULL)
			wv_ucma_destroy(id);
	}
	wf_nic_kick(ch->nic);
	wf_nic_unlock(ch->nic);
	wv_nic_put(ch->nic);
	free(ch);
	return 0;
}

static int give_name(struct wv_ucma_id *id)
{
	for (uint32_t i = 0; i < max_names; i++) {
		uint32_t h = next_name++ % max_names;

		if (names[h] == NULL) {
			names[h] = id;
			id->handle = h;
			return 0;
		}
	}
	if (max_names < MAX_IDS) {
		uint32_t max = max_names == 0 ? 64 : 2 * max_names;
		struct wv_ucma_id **more = realloc(names, max * sizeof(*more));

		if (more != NULL) {
			memset(more + max_names, 0, (max - max_names) * sizeof(*more));
			names = more;
			id->handle = max_names;
			names[max_names] = id;
			next_name = max_names + 1;
			max_names = max;
			return 0;
		}
	}
	return -ENOMEM;
}

struct wv_ucma_id *wv_ucma_find(const struct wv_ucma_channel *ch, uint32_t handle)
{
	struct wv_ucma_id *id = handle < max_names ? names[handle] : NULL;

	return id != NULL && id->channel == ch ? id : NULL;
}

struct wv_ucma_id *wv_ucma_create(struct wv_ucma_channel *ch, uint16_t space, uint8_t qp_type)
{
	struct wv_ucma_id *id = calloc(1, sizeof(*id));
	uint32_t psn = 0;

	if (id == NULL)
		return NULL;
	if (give_name(id) != 0) {
		free(id);
		return NULL;
	}
	/* Where packets' numbers begin is for nobody to guess. */
	if (getrandom(&psn, sizeof(psn), GRND_NONBLOCK) != (ssize_t)sizeof(psn))
		psn = (uint32_t)wf_nic_now(ch->nic);
	id->psn = psn & WF_PSN_MASK;
	id->channel = ch;
	id->space = space;
	id->qp_type = qp_type;
	return id;
}

void wv_ucma_destroy(struct wv_ucma_id *id)
{
	struct wf_nic *nic = id->channel->nic;
	struct wf_cm *cm;

	wv_ucma_purge(id);
	if (id->conn != NULL)
		wf_cm_release(id->conn, wf_nic_now(nic));
	if (id->state == WV_UCMA_LISTEN && wf_nic_cm(nic, &cm) == 0)
		wf_cm_unlisten(cm, id->service);
	if (id->service != 0)
		(void)!wf_nic_service(nic, WF_LIVE_SERVICE_FREE, &id->service,
		                      id->state == WV_UCMA_LISTEN);
	while (id->mcs != NULL) {
		struct wv_ucma_mc *mc = id->mcs;

		id->mcs = mc->next;
		free(mc);
	}
	names[id->handle] = NULL;
	free(id);
}

void wv_ucma_answer(uint64_t to, size_t room, const void *answer, size_t size)
{
	if (to != 0)
		memcpy((void *)(uintptr_t)to, answer, room < size ? room : size);
}

static int get_event(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_get_event *cmd = in;
	struct pollfd wait = { .fd = ch->fd, .events = POLLIN };
	struct wv_ucma_event *event;

	while ((event = wv_ucma_take(ch)) == NULL) {
		int flags = fcntl(ch->fd, F_GETFL), ret = 0;

		if (flags >= 0 && (flags & O_NONBLOCK) != 0)
			return -EAGAIN;
		wf_nic_wait(ch->nic);
		wf_nic_unlock(ch->nic);
		if (poll(&wait, 1, -1) < 0)
			ret = -errno;
		wf_nic_lock(ch->nic);
		if (ret != 0)
			return ret;
	}
	wv_ucma_answer(cmd->response, out, &event->resp, sizeof(event->resp));
	free(event);
	return 0;
}

/*
 * What librdmacm says when it may use addresses of InfiniBand; it may not, and then has other
 * words.
 */
static int refuse(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	(void)ch;
	(void)in;
	(void)out;
	return -ENOSYS;
}

static const struct {
	wv_ucma_fn *fn;
	size_t size; /* of what is read; ECE and the like may follow */
} commands[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = { wv_ucma_create_id, sizeof(struct rdma_ucm_create_id) },
	[RDMA_USER_CM_CMD_DESTROY_ID] = { wv_ucma_destroy_id, sizeof(struct rdma_ucm_destroy_id) },
	[RDMA_USER_CM_CMD_BIND_IP] = { wv_ucma_bind_ip, sizeof(struct rdma_ucm_bind_ip) },
	[RDMA_USER_CM_CMD_RESOLVE_IP] = { wv_ucma_resolve_ip, sizeof(struct rdma_ucm_resolve_ip) },
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = { wv_ucma_resolve_route,
	                                     sizeof(struct rdma_ucm_resolve_route) },
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = { wv_ucma_query_route, sizeof(struct rdma_ucm_query) },
	[RDMA_USER_CM_CMD_CONNECT] = { wv_ucma_connect, offsetof(struct rdma_ucm_connect, ece) },
	[RDMA_USER_CM_CMD_LISTEN] = { wv_ucma_listen, sizeof(struct rdma_ucm_listen) },
	[RDMA_USER_CM_CMD_ACCEPT] = { wv_ucma_accept, offsetof(struct rdma_ucm_accept, ece) },
	[RDMA_USER_CM_CMD_REJECT] = { wv_ucma_reject, sizeof(struct rdma_ucm_reject) },
	[RDMA_USER_CM_CMD_DISCONNECT] = { wv_ucma_disconnect, sizeof(struct rdma_ucm_disconnect) },
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = { wv_ucma_init_qp_attr,
	                                    sizeof(struct rdma_ucm_init_qp_attr) },
	[RDMA_USER_CM_CMD_GET_EVENT] = { get_event, sizeof(struct rdma_ucm_get_event) },
	[RDMA_USER_CM_CMD_GET_OPTION] = { refuse, 0 },
	[RDMA_USER_CM_CMD_SET_OPTION] = { wv_ucma_set_option, sizeof(struct rdma_ucm_set_option) },
	[RDMA_USER_CM_CMD_NOTIFY] = { wv_ucma_notify, sizeof(struct rdma_ucm_notify) },
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = { wv_ucma_join_ip_mcast,
	                                     sizeof(struct rdma_ucm_join_ip_mcast) },
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = { wv_ucma_leave_mcast,
	                                   sizeof(struct rdma_ucm_destroy_id) },
	[RDMA_USER_CM_CMD_MIGRATE_ID] = { wv_ucma_migrate_id, sizeof(struct rdma_ucm_migrate_id) },
	[RDMA_USER_CM_CMD_QUERY] = { refuse, 0 },
	[RDMA_USER_CM_CMD_BIND] = { refuse, 0 },
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = { refuse, 0 },
	[RDMA_USER_CM_CMD_JOIN_MCAST] = { refuse, 0 },
};

/* Commands lie behind their header at any address; the structures want theirs aligned. */
union command {
	uint64_t align;
	char bytes[512];
};

ssize_t wv_ucma_write(int fd, const void *buf, size_t size)
{
	struct wv_ucma_channel *ch = wv_ucma_channel(fd);
	struct rdma_ucm_cmd_hdr header;
	union command in;
	int ret = -EINVAL;

	if (ch == NULL || wf_nic_forked(ch->nic)) {
		errno = ch == NULL ? EBADF : EIO;
		return -1;
	}
	if (size >= sizeof(header)) {
		memcpy(&header, buf, sizeof(header));
		if (header.cmd >= WF_ARRAY_SIZE(commands))
			ret = -ENOSYS;
		else if (header.in + sizeof(header) <= size && header.in <= sizeof(in) &&
		         header.in >= commands[header.cmd].size)
			ret = 0;
	}
	if (ret == 0) {
		memset(&in, 0, sizeof(in));
		memcpy(in.bytes, (const char *)buf + sizeof(header), header.in);
		wf_nic_lock(ch->nic);
		ret = commands[header.cmd].fn(ch, &in, header.out);
		wf_nic_kick(ch->nic);
		wf_nic_unlock(ch->nic);
	}
	if (ret != 0) {
		errno = -ret;
		return -1;
	}
	return (ssize_t)size;
}
