/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig_ucma.h - a fabric in a thread of the test, and the commands that librdmacm writes, each as a
 * function. All return 0 or -errno.
 */
#ifndef WF_TESTS_RIG_UCMA_H
#define WF_TESTS_RIG_UCMA_H

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "compat/cm/ucma.h"
#include "compat/cm/ucma_priv.h"
#include "live/rig_daemon.h"

#define RIG_OWN "127.77.0.1" /* the address of the host that the test is on */
#define RIG_WAIT 300000      /* ms until what must happen has not */

/* The fabric, and this program on its first host. */
static inline void rig_attach(struct rig_fabric *f)
{
	rig_start(f);
	assert_int_equal(setenv("WEFT_SOCKET", f->path, 1), 0);
	assert_int_equal(setenv("WEFT_HOST", "h1", 1), 0);
}

static inline int rig_open(int flags)
{
	int fd = wv_ucma_open(flags);

	assert_true(fd >= 0);
	return fd;
}

/* A command whose header says in and out, with as many bytes behind it. */
static inline int rig_command(int fd, uint32_t cmd, const void *body, size_t in, size_t out)
{
	union {
		struct rdma_ucm_cmd_hdr header;
		char bytes[2048];
	} m;
	size_t size = sizeof(m.header) + in;
	ssize_t ret;

	assert_true(size <= sizeof(m));
	m.header = (struct rdma_ucm_cmd_hdr){ cmd, (uint16_t)in, (uint16_t)out };
	memcpy(m.bytes + sizeof(m.header), body, in);
	ret = write(fd, &m, size);
	if (ret < 0)
		return -errno;
	assert_int_equal(ret, size);
	return 0;
}

#define rig_ask(fd, CMD, body, out)                                                                \
	rig_command(fd, RDMA_USER_CM_CMD_##CMD, &(body), sizeof(body), out)

static inline uint32_t rig_create(int fd, uint16_t space, uint8_t type, uint64_t uid)
{
	struct rdma_ucm_create_id_resp resp = { .id = UINT32_MAX };
	struct rdma_ucm_create_id cmd = {
		.uid = uid,
		.response = (uintptr_t)&resp,
		.ps = space,
		.qp_type = type,
	};

	assert_int_equal(rig_ask(fd, CREATE_ID, cmd, sizeof(resp)), 0);
	assert_int_not_equal(resp.id, UINT32_MAX);
	return resp.id;
}

static inline int rig_destroy(int fd, uint32_t id, uint32_t *reported_p)
{
	struct rdma_ucm_destroy_id_resp resp = { .events_reported = UINT32_MAX };
	struct rdma_ucm_destroy_id cmd = { .response = (uintptr_t)&resp, .id = id };
	int ret = rig_ask(fd, DESTROY_ID, cmd, sizeof(resp));

	if (reported_p != NULL)
		*reported_p = resp.events_reported;
	return ret;
}

static inline struct sockaddr_in6 rig_address(const char *text, uint16_t port)
{
	struct sockaddr_in6 sa = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, text, &in.sin_addr) == 1) {
		memset(&sa, 0, sizeof(sa));
		memcpy(&sa, &in, sizeof(in));
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, &sa.sin6_addr), 1);
	}
	return sa;
}

static inline int rig_bind(int fd, uint32_t id, const char *text, uint16_t port)
{
	struct rdma_ucm_bind_ip cmd = { .addr = rig_address(text, port), .id = id };

	return rig_ask(fd, BIND_IP, cmd, 0);
}

static inline int rig_resolve(int fd, uint32_t id, const char *text, uint16_t port)
{
	struct rdma_ucm_resolve_ip cmd = {
		.dst_addr = rig_address(text, port),
		.id = id,
		.timeout_ms = 2000,
	};

	return rig_ask(fd, RESOLVE_IP, cmd, 0);
}

static inline int rig_route(int fd, uint32_t id)
{
	struct rdma_ucm_resolve_route cmd = { .id = id, .timeout_ms = 2000 };

	return rig_ask(fd, RESOLVE_ROUTE, cmd, 0);
}

static inline int rig_listen(int fd, uint32_t id, uint32_t backlog)
{
	struct rdma_ucm_listen cmd = { .id = id, .backlog = backlog };

	return rig_ask(fd, LISTEN, cmd, 0);
}

/* The queue pair that was connected last: each is another, since those that were rest a while. */
static uint32_t rig_qpn = 1000;

static inline int rig_connect(int fd, uint32_t id, const char *text)
{
	struct rdma_ucm_connect cmd = {
		.conn_param = { .qp_num = ++rig_qpn, .valid = 1, .retry_count = 3 },
		.id = id,
	};

	cmd.conn_param.private_data_len = (uint8_t)strlen(text);
	memcpy(cmd.conn_param.private_data, text, strlen(text));
	return rig_ask(fd, CONNECT, cmd, 0);
}

static inline int rig_accept(int fd, uint32_t id, uint64_t uid, bool valid)
{
	struct rdma_ucm_accept cmd = {
		.uid = uid,
		.conn_param = { .qp_num = 78, .valid = valid },
		.id = id,
	};

	return rig_ask(fd, ACCEPT, cmd, 0);
}

static inline int rig_reject(int fd, uint32_t id, uint8_t reason)
{
	struct rdma_ucm_reject cmd = { .id = id, .reason = reason };

	return rig_ask(fd, REJECT, cmd, 0);
}

static inline int rig_disconnect(int fd, uint32_t id)
{
	struct rdma_ucm_disconnect cmd = { .id = id };

	return rig_ask(fd, DISCONNECT, cmd, 0);
}

static inline int rig_notify(int fd, uint32_t id, uint32_t event)
{
	struct rdma_ucm_notify cmd = { .id = id, .event = event };

	return rig_ask(fd, NOTIFY, cmd, 0);
}

static inline int rig_attr(int fd, uint32_t id, uint32_t state, struct ib_uverbs_qp_attr *attr)
{
	struct rdma_ucm_init_qp_attr cmd = {
		.response = (uintptr_t)attr,
		.id = id,
		.qp_state = state,
	};

	return rig_ask(fd, INIT_QP_ATTR, cmd, sizeof(*attr));
}

static inline int rig_option(int fd, uint32_t id, uint32_t level, uint32_t name, const void *value,
                             uint32_t size)
{
	struct rdma_ucm_set_option cmd = { (uintptr_t)value, id, level, name, size };

	return rig_ask(fd, SET_OPTION, cmd, 0);
}

static inline int rig_join(int fd, uint32_t id, const char *text, uint64_t uid, uint32_t *handle_p)
{
	struct rdma_ucm_create_id_resp resp = { .id = UINT32_MAX };
	struct rdma_ucm_join_ip_mcast cmd = {
		.response = handle_p == NULL ? 0 : (uintptr_t)&resp,
		.uid = uid,
		.addr = rig_address(text, 0),
		.id = id,
	};
	int ret = rig_ask(fd, JOIN_IP_MCAST, cmd, sizeof(resp));

	if (handle_p != NULL)
		*handle_p = resp.id;
	return ret;
}

static inline int rig_leave(int fd, uint32_t handle, uint32_t *reported_p)
{
	struct rdma_ucm_destroy_id_resp resp = { .events_reported = UINT32_MAX };
	struct rdma_ucm_destroy_id cmd = { .response = (uintptr_t)&resp, .id = handle };
	int ret = rig_ask(fd, LEAVE_MCAST, cmd, sizeof(resp));

	if (reported_p != NULL)
		*reported_p = resp.events_reported;
	return ret;
}

static inline int rig_migrate(int fd, int from, uint32_t id, uint32_t *reported_p)
{
	struct rdma_ucm_migrate_resp resp = { .events_reported = UINT32_MAX };
	struct rdma_ucm_migrate_id cmd = {
		.response = reported_p == NULL ? 0 : (uintptr_t)&resp,
		.id = id,
		.fd = (uint32_t)from,
	};
	int ret = rig_ask(fd, MIGRATE_ID, cmd, sizeof(resp));

	if (reported_p != NULL)
		*reported_p = resp.events_reported;
	return ret;
}

static inline int rig_event(int fd, struct rdma_ucm_event_resp *event)
{
	struct rdma_ucm_get_event cmd = { .response = (uintptr_t)event };

	return rig_ask(fd, GET_EVENT, cmd, sizeof(*event));
}

static inline bool rig_has_event(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

/* The next event, which is of this type and for this name. Returns the id that it tells of. */
static inline uint32_t rig_expect(int fd, uint32_t type, uint64_t uid,
                                  struct rdma_ucm_event_resp *event)
{
	struct rdma_ucm_event_resp own;

	event = event != NULL ? event : &own;
	assert_true(rig_has_event(fd, RIG_WAIT));
	assert_int_equal(rig_event(fd, event), 0);
	assert_int_equal(event->event, type);
	assert_int_equal(event->uid, uid);
	return event->id;
}

#endif
