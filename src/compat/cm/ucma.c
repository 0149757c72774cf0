/* SPDX-License-Identifier: Apache-2.0 */
/* ucma.c - channels: descriptors that take commands and tell of events. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "compat/cm/ucma.h"
#include "compat/cm/ucma_priv.h"
#include "compat/verbs/verbs_priv.h"
#include "wire/transport.h"

#define MISC_MAJOR 10
#define MINOR 58      /* any of those that Linux gives out as it likes */
#define MAX_IDS 65536 /* librdmacm has no more names */

static const struct wx_fd_ops ops;

/*
 * One command at a time, although some ask the daemon and let go of the adapter's lock meanwhile:
 * no other takes its id away. Taken before that lock; events are got without it.
 */
static pthread_mutex_t commands_lock = PTHREAD_MUTEX_INITIALIZER;

/* By handle. Under the lock of the adapter. */
static struct wv_ucma_id **names;
static uint32_t max_names, next_name;

static int give_name(struct wv_ucma_id *id)
{
	assert(max_names <= MAX_IDS);
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

struct wv_ucma_id *wv_ucma_find(uint32_t handle)
{
	struct wv_ucma_id *id = handle < max_names ? names[handle] : NULL;

	assert(id == NULL || id->handle == handle);
	return id;
}

void wv_ucma_check_id(const struct wv_ucma_id *id)
{
	assert(wf_nic_is_locked(id->channel->nic));
	assert(id->handle < max_names && names[id->handle] == id);
	assert(id->state <= WV_UCMA_LISTEN && id->psn <= WF_PSN_MASK && id->sgid < WF_LIVE_GIDS);
	assert(id->state != WV_UCMA_IDLE || (id->service == 0 && !id->device));
	assert(id->state != WV_UCMA_LISTEN || (id->service != 0 && id->conn == NULL));
	assert((id->state != WV_UCMA_CONNECT && id->state != WV_UCMA_DISCONNECT) ||
	       id->conn != NULL);
	assert(id->conn == NULL || id->device);
	assert(!id->unheard || (id->uid == 0 && id->conn != NULL && id->mcs == NULL));
	for (const struct wv_ucma_mc *mc = id->mcs; mc != NULL; mc = mc->next)
		assert(mc->id == id);
	(void)id;
}

int wv_ucma_get(const struct wv_ucma_channel *ch, uint32_t handle, struct wv_ucma_id **id_p)
{
	struct wv_ucma_id *id = wv_ucma_find(handle);

	assert(wf_nic_is_locked(ch->nic));
	if (id == NULL || id->unheard)
		return -ENOENT;
	wv_ucma_check_id(id);
	*id_p = id;
	return id->channel == ch ? 0 : -EINVAL;
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

void wv_ucma_leave(struct wf_nic *nic, struct wv_ucma_mc *mcs)
{
	while (mcs != NULL) {
		struct wv_ucma_mc *mc = mcs;

		mcs = mc->next;
		if (mc->asked)
			wf_nic_leave_host(nic, mc->cookie);
		free(mc);
	}
}

void wv_ucma_destroy(struct wv_ucma_id *id)
{
	struct wv_ucma_mc *mcs = id->mcs;
	struct wf_nic *nic = id->channel->nic;
	bool listens = id->state == WV_UCMA_LISTEN;
	uint64_t service = id->service;
	struct wf_cm *cm;

	assert(wf_nic_is_locked(nic) && names[id->handle] == id);
	wv_ucma_purge(id);
	if (id->conn != NULL)
		wf_cm_release(id->conn, wf_nic_now(nic));
	if (listens && wf_nic_cm(nic, &cm) == 0)
		wf_cm_unlisten(cm, service);
	names[id->handle] = NULL;
	free(id);
	/* It is gone before the lock is. */
	wv_ucma_leave(nic, mcs);
	/* Those that packets make and unmake have no service. */
	if (service != 0)
		(void)!wf_nic_service(nic, WF_LIVE_SERVICE_FREE, &service, listens);
}

void wv_ucma_fork_child(void)
{
	pthread_mutex_init(&commands_lock, NULL);
}

void wv_ucma_removed(void)
{
	for (uint32_t i = 0; i < max_names; i++) {
		struct wv_ucma_id *id = names[i];

		/* Of a connection that is not accepted yet, its listener hears nothing more. */
		if (id != NULL && id->uid != 0 && id->state != WV_UCMA_IDLE)
			(void)wv_ucma_tell(id, WV_UCMA_DEVICE_REMOVAL, 0);
	}
}

int wv_ucma_answer(uint64_t to, size_t room, const void *answer, size_t size)
{
	return wv_guard_store((void *)(uintptr_t)to, answer, room < size ? room : size) ? 0
	                                                                                : -EFAULT;
}

/* The next event; waits for it, unless the descriptor does not. */
static int get_event(struct wv_ucma_channel *ch, const void *in, size_t out, bool nonblock)
{
	const struct rdma_ucm_get_event *cmd = in;
	struct wv_ucma_event *event;
	int ret = 0;

	wf_nic_lock(ch->nic);
	while (ch->events == NULL && ret == 0) {
		if (!nonblock)
			wf_nic_wait(ch->nic);
		wf_nic_unlock(ch->nic);
		ret = nonblock ? -EAGAIN : wx_file_wait(ch->file);
		wf_nic_lock(ch->nic);
	}
	if (ch->events != NULL) {
		wv_ucma_check(ch);
		event = ch->events;
		ret = wv_ucma_answer(cmd->response, out, &event->resp, sizeof(event->resp));
		/* What the program could not be told waits for its next try. */
		if (ret == 0)
			free(wv_ucma_take(ch));
	}
	wf_nic_unlock(ch->nic);
	return ret;
}

/* Moves an id and its events here from the channel that the command names by its descriptor. */
static int migrate_id(struct wv_ucma_channel *ch, const void *in, size_t out)
{
	const struct rdma_ucm_migrate_id *cmd = in;
	struct wx_file *f = wx_fd_get((int)cmd->fd);
	struct rdma_ucm_migrate_resp resp;
	struct wv_ucma_channel *from;
	struct wv_ucma_id *id;
	int ret = -EINVAL;

	(void)out; /* as Linux has it */
	if (f == NULL)
		return fcntl((int)cmd->fd, F_GETFD) < 0 ? -ENOENT : -EINVAL;
	if (wx_file_ops(f) == &ops && wx_file_owned(f)) {
		from = wx_file_priv(f);
		assert(from->nic == ch->nic); /* a process has one at a time */
		pthread_mutex_lock(&commands_lock);
		wf_nic_lock(ch->nic);
		ret = wv_ucma_get(from, cmd->id, &id);
		if (ret == 0) {
			resp.events_reported = id->events_reported;
			ret = wv_ucma_answer(cmd->response, sizeof(resp), &resp, sizeof(resp));
		}
		if (ret == 0 && from != ch)
			wv_ucma_move_events(id, ch);
		wv_ucma_check(from);
		wv_ucma_check(ch);
		wf_nic_unlock(ch->nic);
		pthread_mutex_unlock(&commands_lock);
	}
	wx_fd_put(f); /* not under the lock: it may be the last */
	return ret;
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

#define COMMAND(NAME, fn, in, out) [RDMA_USER_CM_CMD_##NAME] = { fn, in, out }
#define ANSWER(name) sizeof(struct rdma_ucm_##name##_resp)

static const struct {
	wv_ucma_fn *fn; /* under the lock; NULL: run() knows */
	size_t size;    /* of what is read; ECE and the like may follow */
	size_t out;     /* of its answer, for which there must be room */
} commands[] = {
	COMMAND(CREATE_ID, wv_ucma_create_id, sizeof(struct rdma_ucm_create_id), ANSWER(create_id)),
	COMMAND(DESTROY_ID, wv_ucma_destroy_id, sizeof(struct rdma_ucm_destroy_id),
	        ANSWER(destroy_id)),
	COMMAND(BIND_IP, wv_ucma_bind_ip, sizeof(struct rdma_ucm_bind_ip), 0),
	COMMAND(RESOLVE_IP, wv_ucma_resolve_ip, sizeof(struct rdma_ucm_resolve_ip), 0),
	COMMAND(RESOLVE_ROUTE, wv_ucma_resolve_route, sizeof(struct rdma_ucm_resolve_route), 0),
	COMMAND(QUERY_ROUTE, wv_ucma_query_route, sizeof(struct rdma_ucm_query),
	        offsetof(struct rdma_ucm_query_route_resp, ibdev_index)),
	COMMAND(CONNECT, wv_ucma_connect, offsetof(struct rdma_ucm_connect, ece), 0),
	COMMAND(LISTEN, wv_ucma_listen, sizeof(struct rdma_ucm_listen), 0),
	COMMAND(ACCEPT, wv_ucma_accept, offsetof(struct rdma_ucm_accept, ece), 0),
	COMMAND(REJECT, wv_ucma_reject, sizeof(struct rdma_ucm_reject), 0),
	COMMAND(DISCONNECT, wv_ucma_disconnect, sizeof(struct rdma_ucm_disconnect), 0),
	COMMAND(INIT_QP_ATTR, wv_ucma_init_qp_attr, sizeof(struct rdma_ucm_init_qp_attr),
	        sizeof(struct ib_uverbs_qp_attr)),
	COMMAND(GET_EVENT, NULL, sizeof(struct rdma_ucm_get_event),
	        offsetof(struct rdma_ucm_event_resp, reserved)),
	COMMAND(GET_OPTION, refuse, 0, 0),
	COMMAND(SET_OPTION, wv_ucma_set_option, sizeof(struct rdma_ucm_set_option), 0),
	COMMAND(NOTIFY, wv_ucma_notify, sizeof(struct rdma_ucm_notify), 0),
	COMMAND(JOIN_IP_MCAST, wv_ucma_join_ip_mcast, sizeof(struct rdma_ucm_join_ip_mcast),
	        ANSWER(create_id)),
	COMMAND(LEAVE_MCAST, wv_ucma_leave_mcast, sizeof(struct rdma_ucm_destroy_id),
	        ANSWER(destroy_id)),
	COMMAND(MIGRATE_ID, NULL, sizeof(struct rdma_ucm_migrate_id), 0),
	COMMAND(QUERY, refuse, 0, 0),
	COMMAND(BIND, refuse, 0, 0),
	COMMAND(RESOLVE_ADDR, refuse, 0, 0),
	COMMAND(JOIN_MCAST, refuse, 0, 0),
};

/* Commands lie behind their header at any address; the structures want theirs aligned. */
union command {
	uint64_t align;
	char bytes[512];
};

_Static_assert(sizeof(struct rdma_ucm_connect) <= sizeof(union command) &&
                       sizeof(struct rdma_ucm_accept) <= sizeof(union command) &&
                       sizeof(struct rdma_ucm_reject) <= sizeof(union command),
               "the longest fit");

static int run(struct wv_ucma_channel *ch, const struct rdma_ucm_cmd_hdr *header,
               const union command *in, bool nonblock)
{
	int ret;

	assert(header->cmd < WF_ARRAY_SIZE(commands) && header->in >= commands[header->cmd].size);
	if (header->cmd == RDMA_USER_CM_CMD_GET_EVENT)
		return get_event(ch, in, header->out, nonblock);
	if (header->cmd == RDMA_USER_CM_CMD_MIGRATE_ID)
		return migrate_id(ch, in, header->out);
	pthread_mutex_lock(&commands_lock);
	wf_nic_lock(ch->nic);
	ret = commands[header->cmd].fn(ch, in, header->out);
	wv_ucma_check(ch);
	wf_nic_kick(ch->nic);
	wf_nic_unlock(ch->nic);
	pthread_mutex_unlock(&commands_lock);
	return ret;
}

/* A command: a header, and behind it what it says. */
static ssize_t write_channel(struct wx_file *f, const void *buf, size_t size, bool nonblock)
{
	struct rdma_ucm_cmd_hdr header;
	union command in = { .align = 0 };
	int ret;

	if (size < sizeof(header))
		return -EINVAL;
	if (!wv_guard_store(&header, buf, sizeof(header)))
		return -EFAULT;
	if (header.cmd >= WF_ARRAY_SIZE(commands) || header.in + sizeof(header) > size)
		return -EINVAL;
	if (header.out < commands[header.cmd].out)
		return -ENOSPC;
	if (header.in < commands[header.cmd].size)
		return -EINVAL;
	/* What is behind all that any command has is of no interest. */
	if (!wv_guard_store(in.bytes, (const char *)buf + sizeof(header),
	                    header.in < sizeof(in) ? header.in : sizeof(in)))
		return -EFAULT;
	ret = run(wx_file_priv(f), &header, &in, nonblock);
	return ret != 0 ? ret : (ssize_t)size;
}

/* As the kernel's, which has neither. */
static ssize_t read_channel(struct wx_file *f, void *buf, size_t size, bool nonblock)
{
	(void)f;
	(void)buf;
	(void)size;
	(void)nonblock;
	return -EINVAL;
}

static int ioctl_channel(struct wx_file *f, unsigned long request, void *arg)
{
	(void)f;
	(void)request;
	(void)arg;
	return -ENOTTY;
}

static void release_channel(void *priv, bool owned)
{
	struct wv_ucma_channel *ch = priv;

	if (owned) { /* in a child, what is on it is the parent's */
		pthread_mutex_lock(&commands_lock);
		wf_nic_lock(ch->nic);
		for (uint32_t i = 0; i < max_names; i++) {
			struct wv_ucma_id *id = wv_ucma_find(i);

			if (id != NULL && id->channel == ch)
				wv_ucma_destroy(id);
		}
		assert(ch->events == NULL);
		wf_nic_kick(ch->nic);
		wf_nic_unlock(ch->nic);
		pthread_mutex_unlock(&commands_lock);
		wv_nic_put(ch->nic);
	}
	free(ch);
}

static const struct wx_fd_ops ops = {
	.name = "rdma_cm",
	.major = MISC_MAJOR,
	.minor = MINOR,
	.read = read_channel,
	.write = write_channel,
	.ioctl = ioctl_channel,
	.release = release_channel,
};

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
	ret = wx_fd_open(&ops, ch, flags, &ch->file);
	if (ret < 0) {
		wv_nic_put(ch->nic);
		free(ch);
	}
	return ret;
}
