/* SPDX-License-Identifier: Apache-2.0 */
/* ctest: tsan */
/*
 * test_ucma.c - the commands of librdmacm: what is taken for one, what each answers, and with which
 * error it fails. Errors are those of Linux (drivers/infiniband/core/ucma.c and cma.c), but for
 * commands that are shorter than their structure, behind which Linux reads on: here they are
 * refused.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "rig_ucma.h"

#define NOBODY 60000 /* no id has this name */
#define GET_EVENT_ROOM offsetof(struct rdma_ucm_event_resp, reserved)

static struct rig_fabric fabric;
static uint16_t port; /* of the test: what another left behind is not in its way */
static char *gone;    /* memory that is not there */

static int start(void **state)
{
	(void)state;
	port = 7000;
	rig_attach(&fabric);
	gone = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return gone == MAP_FAILED ? -1 : 0;
}

static int stop(void **state)
{
	(void)state;
	rig_stop(&fabric);
	return munmap(gone, 65536);
}

static int next_port(void **state)
{
	(void)state;
	port++;
	return 0;
}

/* A listener at the test's port. */
static uint32_t listener_of(int fd, uint16_t space, uint8_t type, uint64_t uid)
{
	uint32_t id = rig_create(fd, space, type, uid);

	assert_int_equal(rig_bind(fd, id, RIG_OWN, port), 0);
	assert_int_equal(rig_listen(fd, id, 4), 0);
	return id;
}

/* An id whose route to that port is resolved. */
static uint32_t routed(int fd, uint16_t space, uint8_t type, uint64_t uid)
{
	uint32_t id = rig_create(fd, space, type, uid);

	assert_int_equal(rig_resolve(fd, id, RIG_OWN, port), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_ADDR_RESOLVED, uid, NULL), id);
	assert_int_equal(rig_route(fd, id), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_ROUTE_RESOLVED, uid, NULL), id);
	return id;
}

/* Every command: its bytes, of its answer those that it must have room for, where its id is. */
#define NO_ID SIZE_MAX
static const struct {
	uint32_t cmd;
	size_t in, out;
	size_t id, response;
	uint32_t other; /* what has to be right for the id to be looked at, at offset where */
	size_t where;
} all[] = {
#define ROW(CMD, s, out)                                                                           \
	{                                                                                          \
		RDMA_USER_CM_CMD_##CMD, sizeof(struct s), out, offsetof(struct s, id)
	{ RDMA_USER_CM_CMD_CREATE_ID, sizeof(struct rdma_ucm_create_id), 4, NO_ID,
	  offsetof(struct rdma_ucm_create_id, response), RDMA_PS_TCP,
	  offsetof(struct rdma_ucm_create_id, ps) },
	ROW(DESTROY_ID, rdma_ucm_destroy_id, 4), 0, 0, 0 },
	ROW(BIND_IP, rdma_ucm_bind_ip, 0), NO_ID, AF_INET,
	  offsetof(struct rdma_ucm_bind_ip, addr)
}
, ROW(RESOLVE_IP, rdma_ucm_resolve_ip, 0), NO_ID, AF_INET,
	offsetof(struct rdma_ucm_resolve_ip, dst_addr)
}
, ROW(RESOLVE_ROUTE, rdma_ucm_resolve_route, 0), NO_ID, 0, 0
}
, ROW(QUERY_ROUTE, rdma_ucm_query, offsetof(struct rdma_ucm_query_route_resp, ibdev_index)),
	offsetof(struct rdma_ucm_query, response), 0, 0
}
,
	{ RDMA_USER_CM_CMD_CONNECT,
	  offsetof(struct rdma_ucm_connect, ece),
	  0,
	  offsetof(struct rdma_ucm_connect, id),
	  NO_ID,
	  UINT32_C(1) << 24,
	  offsetof(struct rdma_ucm_connect, conn_param.flow_control) },
	ROW(LISTEN, rdma_ucm_listen, 0), NO_ID, 0, 0
}
,
	{ RDMA_USER_CM_CMD_ACCEPT,
	  offsetof(struct rdma_ucm_accept, ece),
	  0,
	  offsetof(struct rdma_ucm_accept, id),
	  NO_ID,
	  0,
	  0 },
	ROW(REJECT, rdma_ucm_reject, 0), NO_ID, 0, 4
}
, ROW(DISCONNECT, rdma_ucm_disconnect, 0), NO_ID, 0, 0
}
, ROW(INIT_QP_ATTR, rdma_ucm_init_qp_attr, sizeof(struct ib_uverbs_qp_attr)),
	offsetof(struct rdma_ucm_init_qp_attr, response), IBV_QPS_INIT,
	offsetof(struct rdma_ucm_init_qp_attr, qp_state)
}
,
	{ RDMA_USER_CM_CMD_GET_EVENT,
	  sizeof(struct rdma_ucm_get_event),
	  GET_EVENT_ROOM,
	  NO_ID,
	  offsetof(struct rdma_ucm_get_event, response),
	  0,
	  0 },
	ROW(SET_OPTION, rdma_ucm_set_option, 0), NO_ID, 0, 0
}
, ROW(NOTIFY, rdma_ucm_notify, 0), NO_ID, 0, 4
}
, ROW(JOIN_IP_MCAST, rdma_ucm_join_ip_mcast, 4),
	offsetof(struct rdma_ucm_join_ip_mcast, response), AF_INET,
	offsetof(struct rdma_ucm_join_ip_mcast, addr)
}
, ROW(LEAVE_MCAST, rdma_ucm_destroy_id, 4), 0, 0, 0
}
, ROW(MIGRATE_ID, rdma_ucm_migrate_id, 0), NO_ID, 0, 0
}
,
#undef ROW
}
;

#define N_ALL (sizeof(all) / sizeof(all[0]))

/* A command of the table about an id, with all else as it should be but its answer's address. */
static void fill(unsigned i, uint32_t id, int fd, char *body)
{
	memset(body, 0, 1024);
	memcpy(body + all[i].where, &all[i].other, sizeof(all[i].other));
	if (all[i].id != NO_ID)
		memcpy(body + all[i].id, &id, sizeof(id));
	if (all[i].cmd == RDMA_USER_CM_CMD_MIGRATE_ID)
		memcpy(body + offsetof(struct rdma_ucm_migrate_id, fd), &fd, sizeof(fd));
}

static void test_header(void **state)
{
	struct {
		struct rdma_ucm_cmd_hdr header;
		struct rdma_ucm_disconnect body;
	} m = { { RDMA_USER_CM_CMD_DISCONNECT, sizeof(m.body), 0 }, { NOBODY } };
	char odd[64];
	int fd = rig_open(O_CLOEXEC);
	void *volatile nowhere = NULL; /* which the compiler does not know */

	(void)state;
	for (size_t size = 0; size < sizeof(m); size++) {
		assert_int_equal(write(fd, &m, size), -1);
		assert_int_equal(errno, EINVAL);
	}
	assert_int_equal(write(fd, &m, sizeof(m)), -1);
	assert_int_equal(errno, ENOENT);
	/* It may lie anywhere. */
	for (size_t shift = 0; shift < 8; shift++) {
		memcpy(odd + shift, &m, sizeof(m));
		assert_int_equal(write(fd, odd + shift, sizeof(m)), -1);
		assert_int_equal(errno, ENOENT);
	}
	assert_int_equal(write(fd, nowhere, sizeof(m)), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(write(fd, gone, sizeof(m)), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(read(fd, odd, sizeof(odd)), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ioctl(fd, 0x1b01, odd), -1);
	assert_int_equal(errno, ENOTTY);
	assert_int_equal(close(fd), 0);
}

static void test_unknown_command(void **state)
{
	static const uint32_t not_there[] = { 23, 24, 1000, UINT32_MAX, INT32_MAX };
	static const uint32_t not_here[] = {
		RDMA_USER_CM_CMD_GET_OPTION,   RDMA_USER_CM_CMD_QUERY,      RDMA_USER_CM_CMD_BIND,
		RDMA_USER_CM_CMD_RESOLVE_ADDR, RDMA_USER_CM_CMD_JOIN_MCAST,
	};
	int fd = rig_open(O_CLOEXEC);
	char body[512] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(not_there) / sizeof(not_there[0]); i++)
		assert_int_equal(rig_command(fd, not_there[i], body, 64, 64), -EINVAL);
	for (size_t i = 0; i < sizeof(not_here) / sizeof(not_here[0]); i++)
		assert_int_equal(rig_command(fd, not_here[i], body, 512, 64), -ENOSYS);
	assert_int_equal(close(fd), 0);
}

/* What a command of the table answers whose id nobody has, when all else is right. */
static int expected(unsigned i)
{
	if (all[i].cmd == RDMA_USER_CM_CMD_CREATE_ID)
		return -EFAULT; /* the answer has no place */
	return all[i].cmd == RDMA_USER_CM_CMD_GET_EVENT ? -EAGAIN : -ENOENT;
}

static void test_lengths(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK);
	struct rdma_ucm_cmd_hdr header;
	char body[1024];
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(page != MAP_FAILED);
	assert_int_equal(mprotect(page + 4096, 4096, PROT_NONE), 0);
	for (unsigned i = 0; i < N_ALL; i++) {
		fill(i, NOBODY, fd, body);
		for (size_t in = 0; in < all[i].in; in++)
			assert_int_equal(rig_command(fd, all[i].cmd, body, in, 1024), -EINVAL);
		assert_int_equal(rig_command(fd, all[i].cmd, body, all[i].in, 1024), expected(i));
		/* What is behind a command is of a later version of it, and not looked at. */
		assert_int_equal(rig_command(fd, all[i].cmd, body, all[i].in + 8, 1024),
		                 expected(i));
		assert_int_equal(rig_command(fd, all[i].cmd, body, 1024, 1024), expected(i));
		/* The header is there, what is behind it is not. */
		header = (struct rdma_ucm_cmd_hdr){ all[i].cmd, (uint16_t)all[i].in, 1024 };
		memcpy(page + 4096 - sizeof(header), &header, sizeof(header));
		assert_int_equal(
			write(fd, page + 4096 - sizeof(header), sizeof(header) + all[i].in), -1);
		assert_int_equal(errno, EFAULT);
	}
	assert_int_equal(munmap(page, 8192), 0);
	assert_int_equal(close(fd), 0);
}

/* Without room for its answer, a command does nothing. */
static void test_room(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t id = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 1);
	struct rdma_ucm_event_resp event;
	char body[1024];

	(void)state;
	assert_int_equal(rig_resolve(fd, id, RIG_OWN, port), 0);
	for (unsigned i = 0; i < N_ALL; i++) {
		fill(i, id, fd, body);
		for (size_t out = 0; out < all[i].out; out++)
			assert_int_equal(rig_command(fd, all[i].cmd, body, all[i].in, out),
			                 -ENOSPC);
	}
	assert_int_equal(rig_expect(fd, WV_UCMA_ADDR_RESOLVED, 1, &event), id);
	assert_int_equal(rig_event(fd, &event), -EAGAIN);
	assert_int_equal(rig_destroy(fd, id, NULL), 0);
	assert_int_equal(close(fd), 0);
}

/* The answer goes nowhere: not to NULL, and not to memory that is not there. */
static void test_answers(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t id, other = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 1);
	struct rdma_ucm_event_resp event;
	const uint64_t where[] = { 0, (uintptr_t)gone };
	char body[1024];

	(void)state;
	for (unsigned i = 0; i < 2 * N_ALL; i++) {
		if (all[i / 2].out == 0)
			continue;
		id = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 2);
		assert_int_equal(rig_resolve(fd, id, RIG_OWN, port), 0);
		fill(i / 2, id, fd, body);
		memcpy(body + all[i / 2].response, &where[i % 2], 8);
		if (all[i / 2].cmd == RDMA_USER_CM_CMD_JOIN_IP_MCAST) {
			struct sockaddr_in6 group = rig_address("239.1.2.3", 0);

			memcpy(body + all[i / 2].where, &group, sizeof(group));
		}
		assert_int_equal(rig_command(fd, all[i / 2].cmd, body, all[i / 2].in, 1024),
		                 all[i / 2].cmd == RDMA_USER_CM_CMD_LEAVE_MCAST ? -ENOENT
		                                                                : -EFAULT);
		if (all[i / 2].cmd == RDMA_USER_CM_CMD_DESTROY_ID)
			continue; /* which is done by then */
		/* What could not be told is told later, and nothing else is. */
		assert_int_equal(rig_expect(fd, WV_UCMA_ADDR_RESOLVED, 2, &event), id);
		assert_int_equal(rig_event(fd, &event), -EAGAIN);
		assert_int_equal(rig_destroy(fd, id, NULL), 0);
	}
	assert_int_equal(rig_migrate(fd, fd, other, NULL), -EFAULT);
	assert_int_equal(rig_destroy(fd, other, NULL), 0);
	assert_int_equal(close(fd), 0);
}

static void test_ids(void **state)
{
	int fd = rig_open(O_CLOEXEC), other = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t id = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 1);
	static const uint32_t nobodys[] = { NOBODY, 65535, 65536, UINT32_MAX, INT32_MAX };
	char body[1024];

	(void)state;
	for (unsigned i = 0; i < N_ALL; i++) {
		if (all[i].id == NO_ID)
			continue;
		for (size_t n = 0; n < sizeof(nobodys) / sizeof(nobodys[0]); n++) {
			fill(i, nobodys[n], other, body);
			assert_int_equal(rig_command(other, all[i].cmd, body, all[i].in, 1024),
			                 -ENOENT);
		}
		/* It is there, on another channel. */
		if (all[i].cmd == RDMA_USER_CM_CMD_LEAVE_MCAST)
			continue;
		fill(i, id, other, body);
		assert_int_equal(rig_command(other, all[i].cmd, body, all[i].in, 1024), -EINVAL);
	}
	assert_int_equal(rig_destroy(fd, id, NULL), 0);
	assert_int_equal(rig_destroy(fd, id, NULL), -ENOENT);
	/* Its name is nobody's until it is given again. */
	assert_int_equal(rig_route(fd, id), -ENOENT);
	assert_int_equal(close(other), 0);
	assert_int_equal(close(fd), 0);
}

static void test_spaces(void **state)
{
	static const uint16_t not_there[] = { 0, 1, 0x107, UINT16_MAX };
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_create_id cmd = { .response = (uintptr_t)&resp };
	int fd = rig_open(O_CLOEXEC);

	(void)state;
	for (size_t i = 0; i < sizeof(not_there) / sizeof(not_there[0]); i++) {
		cmd.ps = not_there[i];
		assert_int_equal(rig_ask(fd, CREATE_ID, cmd, sizeof(resp)), -EINVAL);
	}
	/* More than fit at first, and they go with their channel. */
	for (unsigned i = 0; i < 200; i++)
		(void)rig_create(fd, i % 2 == 0 ? RDMA_PS_IPOIB : RDMA_PS_IB, IBV_QPT_UD, i);
	assert_int_equal(close(fd), 0);
}

/* What is not to be done to an id that has only been made, and one that is only bound. */
static void test_states(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t id = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 1);
	struct ib_uverbs_qp_attr attr;
	uint32_t handle;

	(void)state;
	for (int bound = 0; bound < 2; bound++) {
		assert_int_equal(rig_route(fd, id), -EINVAL);
		assert_int_equal(rig_connect(fd, id, ""), -EINVAL);
		assert_int_equal(rig_accept(fd, id, 2, true), -EINVAL);
		assert_int_equal(rig_accept(fd, id, 2, false), -EINVAL);
		assert_int_equal(rig_reject(fd, id, 0), -EINVAL);
		assert_int_equal(rig_disconnect(fd, id), -EINVAL);
		assert_int_equal(rig_notify(fd, id, IBV_EVENT_COMM_EST), -EINVAL);
		assert_int_equal(rig_join(fd, id, "239.1.2.3", 3, &handle), -EINVAL);
		assert_int_equal(rig_attr(fd, id, IBV_QPS_INIT, &attr), -EINVAL);
		if (bound == 0)
			assert_int_equal(rig_bind(fd, id, "0.0.0.0", port), 0);
	}
	assert_int_equal(rig_bind(fd, id, "0.0.0.0", port), -EINVAL);
	assert_int_equal(rig_listen(fd, id, 1), 0);
	assert_int_equal(rig_listen(fd, id, 1), -EINVAL);
	assert_int_equal(rig_resolve(fd, id, RIG_OWN, port), -EINVAL);
	assert_int_equal(rig_destroy(fd, id, NULL), 0);
	id = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 1);
	assert_int_equal(rig_resolve(fd, id, RIG_OWN, port), 0);
	assert_int_equal(rig_resolve(fd, id, RIG_OWN, port), -EINVAL);
	assert_int_equal(rig_listen(fd, id, 1), -EINVAL);
	assert_int_equal(rig_bind(fd, id, RIG_OWN, port), -EINVAL);
	assert_int_equal(rig_connect(fd, id, ""), -EINVAL); /* there is no route yet */
	assert_int_equal(rig_route(fd, id), 0);
	assert_int_equal(rig_route(fd, id), -EINVAL);
	assert_int_equal(rig_attr(fd, id, IBV_QPS_INIT, &attr), 0);
	assert_int_equal(rig_attr(fd, id, IBV_QPS_RTR, &attr), -EINVAL);
	assert_int_equal(rig_attr(fd, id, IBV_QPS_RTS, &attr), -EINVAL);
	assert_int_equal(rig_attr(fd, id, 1000, &attr), -EINVAL);
	assert_int_equal(close(fd), 0);
}

static void test_addresses(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t id = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 1), second;
	struct rdma_ucm_bind_ip bind_ip = { .id = id };
	struct rdma_ucm_resolve_ip cmd = { .id = id };
	struct rdma_ucm_event_resp event;

	(void)state;
	for (unsigned family = 0; family < 100; family++) {
		if (family == AF_INET || family == AF_INET6)
			continue;
		bind_ip.addr.sin6_family = (uint16_t)family;
		assert_int_equal(rig_ask(fd, BIND_IP, bind_ip, 0), -EINVAL);
		cmd.src_addr = rig_address(RIG_OWN, 0);
		cmd.dst_addr = rig_address(RIG_OWN, port);
		cmd.dst_addr.sin6_family = (uint16_t)family;
		assert_int_equal(rig_ask(fd, RESOLVE_IP, cmd, 0), -EINVAL);
		cmd.dst_addr = rig_address(RIG_OWN, port);
		cmd.src_addr.sin6_family = (uint16_t)family;
		if (family != 0)
			assert_int_equal(rig_ask(fd, RESOLVE_IP, cmd, 0), -EINVAL);
	}
	assert_int_equal(rig_bind(fd, id, "127.77.0.2", port), -EADDRNOTAVAIL);
	assert_int_equal(rig_bind(fd, id, "127.77.9.9", port), -EADDRNOTAVAIL);
	assert_int_equal(rig_bind(fd, id, RIG_OWN, port), 0);
	second = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 2);
	assert_int_equal(rig_bind(fd, second, RIG_OWN, port), -EADDRINUSE);
	/* The two sides' addresses are of one kind. */
	assert_int_equal(rig_resolve(fd, id, "fe80::1", port), -EINVAL);
	/* Nobody has it: that is told, and it may be tried again. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rig_resolve(fd, id, "127.77.9.9", port), 0);
		assert_int_equal(rig_expect(fd, WV_UCMA_ADDR_ERROR, 1, &event), id);
		assert_int_equal((int32_t)event.status, -EHOSTUNREACH);
	}
	assert_int_equal(rig_resolve(fd, id, "127.77.0.2", port), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_ADDR_RESOLVED, 1, &event), id);
	assert_int_equal(close(fd), 0);
}

static void test_options(void **state)
{
	int fd = rig_open(O_CLOEXEC), one = 1;
	uint32_t id = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 1);
	uint8_t byte = 9;

	(void)state;
	assert_int_equal(rig_option(fd, id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &byte, 1), 0);
	assert_int_equal(rig_option(fd, id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1),
	                 0);
	assert_int_equal(rig_option(fd, id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one, 4), 0);
	assert_int_equal(rig_option(fd, id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &one, 4), 0);
	for (uint32_t name = 0; name < 4; name++) {
		uint32_t right = name % 3 == 0 ? 1 : 4;

		assert_int_equal(rig_option(fd, id, RDMA_OPTION_ID, name, &one, 2), -EINVAL);
		assert_int_equal(rig_option(fd, id, RDMA_OPTION_ID, name, &one, 0), -EINVAL);
		assert_int_equal(rig_option(fd, id, RDMA_OPTION_ID, name, NULL, right), -EFAULT);
		assert_int_equal(rig_option(fd, id, RDMA_OPTION_ID, name, gone, right), -EFAULT);
	}
	assert_int_equal(rig_option(fd, id, RDMA_OPTION_ID, 4, &one, 4), -ENOSYS);
	assert_int_equal(rig_option(fd, id, RDMA_OPTION_IB, 9, &one, 4), -ENOSYS);
	assert_int_equal(rig_option(fd, id, 2, 0, &one, 4), -ENOSYS);
	assert_int_equal(close(fd), 0);
}

static void test_empty(void **state)
{
	struct rdma_ucm_event_resp event;
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK);

	(void)state;
	assert_false(rig_has_event(fd, 0));
	assert_int_equal(rig_event(fd, &event), -EAGAIN);
	/* Whether it waits is the descriptor's, then and now. */
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(rig_event(fd, &event), -EAGAIN);
	assert_int_equal(close(fd), 0);
}

/* From a listener and a routed id to two that are connected; sets the passive one. */
static uint32_t connected(int fd, uint32_t id, uint64_t listener, uint64_t uid)
{
	struct rdma_ucm_event_resp event;
	uint32_t child;

	assert_int_equal(rig_connect(fd, id, "hello"), 0);
	child = rig_expect(fd, WV_UCMA_CONNECT_REQUEST, listener, &event);
	assert_int_equal(event.param.conn.qp_num, rig_qpn);
	assert_memory_equal(event.param.conn.private_data, "hello", 6);
	assert_int_equal(rig_accept(fd, child, uid + 1, true), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_CONNECT_RESPONSE, uid, &event), id);
	assert_int_equal(event.param.conn.qp_num, 78);
	assert_int_equal(rig_accept(fd, id, uid, false), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_ESTABLISHED, uid + 1, &event), child);
	return child;
}

static void test_connection(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t listener = listener_of(fd, RDMA_PS_TCP, IBV_QPT_RC, 1), reported;
	uint32_t id = routed(fd, RDMA_PS_TCP, IBV_QPT_RC, 2);
	uint32_t child = connected(fd, id, 1, 2);
	struct rdma_ucm_query_route_resp route;
	struct rdma_ucm_query query = { .response = (uintptr_t)&route, .id = child };
	struct rdma_ucm_event_resp event;
	struct ib_uverbs_qp_attr attr;

	(void)state;
	assert_int_equal(rig_attr(fd, child, IBV_QPS_RTR, &attr), 0);
	assert_int_equal(attr.dest_qp_num, rig_qpn);
	assert_int_equal(rig_attr(fd, id, IBV_QPS_RTR, &attr), 0);
	assert_int_equal(attr.dest_qp_num, 78);
	assert_int_equal(rig_attr(fd, id, IBV_QPS_RTS, &attr), 0);
	assert_int_equal(attr.retry_cnt, 3);
	assert_int_equal(rig_attr(fd, id, IBV_QPS_SQD, &attr), -EINVAL);
	assert_int_equal(rig_ask(fd, QUERY_ROUTE, query, sizeof(route)), 0);
	assert_int_equal(route.num_paths, 1);
	assert_int_equal(route.port_num, 1);
	/* What is done is not done again. */
	assert_int_equal(rig_connect(fd, id, ""), -EINVAL);
	assert_int_equal(rig_accept(fd, child, 3, true), -EINVAL);
	assert_int_equal(rig_accept(fd, id, 2, false), -EINVAL);
	assert_int_equal(rig_reject(fd, child, 0), -EINVAL);
	assert_int_equal(rig_notify(fd, child, IBV_EVENT_COMM_EST), -EISCONN);
	assert_int_equal(rig_notify(fd, child, IBV_EVENT_QP_FATAL), -EINVAL);
	assert_int_equal(rig_event(fd, &event), -EAGAIN);
	assert_int_equal(rig_disconnect(fd, id), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_DISCONNECTED, 3, &event), child);
	assert_int_equal(rig_disconnect(fd, child), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_DISCONNECTED, 2, &event), id);
	assert_int_equal(rig_disconnect(fd, id), 0);
	assert_int_equal(rig_destroy(fd, id, &reported), 0);
	assert_int_equal(reported, 4); /* address, route, response, end */
	assert_int_equal(rig_destroy(fd, listener, &reported), 0);
	assert_int_equal(reported, 1);
	assert_int_equal(rig_destroy(fd, child, &reported), 0);
	assert_int_equal(reported, 2);
	assert_int_equal(close(fd), 0);
}

/* Nobody listens; somebody says no; a reason that is none. */
static void test_refused(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t id = routed(fd, RDMA_PS_TCP, IBV_QPT_RC, 2), child;
	struct rdma_ucm_connect cmd = { .conn_param = { .valid = 0 }, .id = id };
	struct rdma_ucm_event_resp event;

	(void)state;
	assert_int_equal(rig_ask(fd, CONNECT, cmd, 0), -EINVAL); /* without parameters */
	cmd.conn_param.valid = 1;
	cmd.conn_param.private_data_len = 255;
	assert_int_equal(rig_ask(fd, CONNECT, cmd, 0), -EINVAL); /* more than a REQ holds */
	assert_int_equal(rig_connect(fd, id, ""), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_REJECTED, 2, &event), id);
	/* It may try again. */
	(void)listener_of(fd, RDMA_PS_TCP, IBV_QPT_RC, 1);
	assert_int_equal(rig_connect(fd, id, "again"), 0);
	child = rig_expect(fd, WV_UCMA_CONNECT_REQUEST, 1, &event);
	assert_int_equal(rig_reject(fd, child, 1), -EINVAL);
	assert_int_equal(rig_reject(fd, NOBODY, 1), -EINVAL);
	assert_int_equal(rig_reject(fd, child, 0), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_REJECTED, 2, &event), id);
	assert_int_equal(event.status, 28);
	assert_int_equal(rig_reject(fd, child, 0), -EINVAL);
	assert_int_equal(rig_accept(fd, child, 3, true), -EINVAL);
	/* Destroyed before it is accepted: that is a no, too. */
	assert_int_equal(rig_connect(fd, id, "third"), 0);
	child = rig_expect(fd, WV_UCMA_CONNECT_REQUEST, 1, &event);
	assert_int_equal(rig_destroy(fd, child, NULL), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_REJECTED, 2, &event), id);
	assert_int_equal(close(fd), 0);
}

static void test_datagrams(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t id, child;
	struct rdma_ucm_event_resp event;

	(void)state;
	(void)listener_of(fd, RDMA_PS_UDP, IBV_QPT_UD, 1);
	id = routed(fd, RDMA_PS_UDP, IBV_QPT_UD, 2);
	assert_int_equal(rig_connect(fd, id, "ask"), 0);
	child = rig_expect(fd, WV_UCMA_CONNECT_REQUEST, 1, &event);
	assert_memory_equal(event.param.ud.private_data, "ask", 4);
	assert_int_equal(rig_accept(fd, child, 3, true), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_ESTABLISHED, 2, &event), id);
	assert_int_equal(event.param.ud.qp_num, 78);
	assert_int_equal(event.param.ud.qkey, WV_UCMA_QKEY);
	assert_int_equal(rig_accept(fd, child, 3, true), -EINVAL);
	assert_int_equal(rig_destroy(fd, id, NULL), 0);
	id = routed(fd, RDMA_PS_UDP, IBV_QPT_UD, 2);
	assert_int_equal(rig_connect(fd, id, ""), 0);
	child = rig_expect(fd, WV_UCMA_CONNECT_REQUEST, 1, &event);
	assert_int_equal(rig_reject(fd, child, 0), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_UNREACHABLE, 2, &event), id);
	assert_int_equal(close(fd), 0);
}

/* What waits goes with the id that it is about. */
static void test_destroy_pending(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK), other = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t id = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 1), kept, reported;
	struct rdma_ucm_event_resp event;

	(void)state;
	kept = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 2);
	assert_int_equal(rig_resolve(fd, id, RIG_OWN, port), 0);
	assert_int_equal(rig_resolve(fd, kept, RIG_OWN, port), 0);
	assert_int_equal(rig_route(fd, id), 0);
	assert_int_equal(rig_destroy(fd, id, &reported), 0);
	assert_int_equal(reported, 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_ADDR_RESOLVED, 2, &event), kept);
	assert_false(rig_has_event(fd, 0));
	assert_int_equal(rig_event(fd, &event), -EAGAIN);
	/* A listener with a request that nobody has heard of: it is refused. */
	id = listener_of(other, RDMA_PS_TCP, IBV_QPT_RC, 3);
	assert_int_equal(rig_route(fd, kept), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_ROUTE_RESOLVED, 2, &event), kept);
	assert_int_equal(rig_connect(fd, kept, ""), 0);
	assert_true(rig_has_event(other, RIG_WAIT));
	assert_int_equal(rig_destroy(other, id, &reported), 0);
	assert_int_equal(reported, 0);
	assert_int_equal(rig_event(other, &event), -EAGAIN);
	assert_int_equal(rig_expect(fd, WV_UCMA_REJECTED, 2, &event), kept);
	assert_int_equal(close(other), 0);
	assert_int_equal(close(fd), 0);
}

/* An id of which the program has not heard yet can be told by its number; no command reaches it. */
static void test_unheard(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK), to = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t listener = listener_of(fd, RDMA_PS_TCP, IBV_QPT_RC, 1), child;
	uint32_t id = routed(to, RDMA_PS_TCP, IBV_QPT_RC, 2), reported;
	struct rdma_ucm_event_resp event;

	(void)state;
	assert_int_equal(rig_connect(to, id, ""), 0);
	assert_true(rig_has_event(fd, RIG_WAIT));
	for (child = 0; child < 1024; child++) {
		if (child != listener && child != id) {
			assert_int_equal(rig_migrate(to, fd, child, &reported), -ENOENT);
			assert_int_equal(rig_destroy(fd, child, NULL), -ENOENT);
			assert_int_equal(rig_accept(fd, child, 9, true), -ENOENT);
		}
	}
	child = rig_expect(fd, WV_UCMA_CONNECT_REQUEST, 1, &event);
	assert_int_equal(rig_migrate(to, fd, child, &reported), 0);
	assert_int_equal(reported, 0);
	assert_int_equal(rig_destroy(fd, child, NULL), -EINVAL);
	assert_int_equal(rig_destroy(to, child, NULL), 0);
	assert_int_equal(rig_expect(to, WV_UCMA_REJECTED, 2, &event), id);
	assert_int_equal(close(to), 0);
	assert_int_equal(close(fd), 0);
}

/* So many wait at most; taken out, others may come. */
static void test_backlog(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK), to = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t listener = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 1), id[3];
	struct rdma_ucm_event_resp event;

	(void)state;
	assert_int_equal(rig_bind(fd, listener, RIG_OWN, port), 0);
	assert_int_equal(rig_listen(fd, listener, 1), 0);
	for (uint64_t i = 0; i < 3; i++)
		id[i] = routed(to, RDMA_PS_TCP, IBV_QPT_RC, i);
	for (uint64_t round = 0; round < 3; round++) {
		assert_int_equal(rig_connect(to, id[1], ""), 0);
		assert_true(rig_has_event(fd, RIG_WAIT));
		assert_int_equal(rig_connect(to, id[2], ""), 0);
		assert_int_equal(rig_expect(to, WV_UCMA_REJECTED, 2, &event), id[2]);
		(void)rig_expect(fd, WV_UCMA_CONNECT_REQUEST, 1, &event);
		assert_int_equal(rig_destroy(fd, event.id, NULL), 0);
		assert_int_equal(rig_expect(to, WV_UCMA_REJECTED, 1, &event), id[1]);
	}
	assert_int_equal(close(to), 0);
	assert_int_equal(close(fd), 0);
}

static void test_migrate(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK), to = rig_open(O_CLOEXEC | O_NONBLOCK);
	int plain = memfd_create("plain", MFD_CLOEXEC), reused;
	uint32_t id = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 1), other, reported;
	struct rdma_ucm_event_resp event;

	(void)state;
	other = rig_create(fd, RDMA_PS_TCP, IBV_QPT_RC, 2);
	assert_int_equal(rig_migrate(to, -1, id, &reported), -ENOENT);
	assert_int_equal(rig_migrate(to, 60000, id, &reported), -ENOENT);
	assert_int_equal(rig_migrate(to, plain, id, &reported), -EINVAL);
	assert_int_equal(rig_migrate(to, fd, NOBODY, &reported), -ENOENT);
	assert_int_equal(rig_migrate(to, to, id, &reported), -EINVAL);
	assert_int_equal(rig_resolve(fd, id, RIG_OWN, port), 0);
	assert_int_equal(rig_resolve(fd, other, RIG_OWN, port), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_ADDR_RESOLVED, 1, &event), id);
	assert_int_equal(rig_route(fd, id), 0);
	/* To where it is: nothing changes. */
	assert_int_equal(rig_migrate(fd, fd, id, &reported), 0);
	assert_int_equal(reported, 1);
	assert_int_equal(rig_migrate(to, fd, id, &reported), 0);
	assert_int_equal(reported, 1);
	assert_int_equal(rig_expect(to, WV_UCMA_ROUTE_RESOLVED, 1, &event), id);
	assert_int_equal(rig_expect(fd, WV_UCMA_ADDR_RESOLVED, 2, &event), other);
	assert_int_equal(rig_event(fd, &event), -EAGAIN);
	assert_int_equal(rig_event(to, &event), -EAGAIN);
	assert_int_equal(rig_migrate(to, fd, id, &reported), -EINVAL);
	/* It outlives the channel that it came from, and not the one that it is on. */
	reused = dup(to);
	assert_int_equal(close(fd), 0);
	assert_int_equal(close(to), 0);
	assert_int_equal(rig_destroy(reused, id, &reported), 0);
	assert_int_equal(reported, 2);
	assert_int_equal(close(reused), 0);
	assert_int_equal(close(plain), 0);
}

/* A listener moves, and what it has been asked moves with it. */
static void test_migrate_listener(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK), to = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t listener = listener_of(fd, RDMA_PS_TCP, IBV_QPT_RC, 1), child;
	int third = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t id = routed(third, RDMA_PS_TCP, IBV_QPT_RC, 2), reported;
	struct rdma_ucm_event_resp event;

	(void)state;
	assert_int_equal(rig_connect(third, id, ""), 0);
	assert_true(rig_has_event(fd, RIG_WAIT));
	assert_int_equal(rig_migrate(to, fd, listener, &reported), 0);
	assert_false(rig_has_event(fd, 0));
	assert_int_equal(close(fd), 0);
	child = rig_expect(to, WV_UCMA_CONNECT_REQUEST, 1, &event);
	assert_int_equal(rig_accept(to, child, 3, true), 0);
	assert_int_equal(rig_expect(third, WV_UCMA_CONNECT_RESPONSE, 2, &event), id);
	/* The queue pair got something before the RTU came: it is established. */
	assert_int_equal(rig_notify(to, child, IBV_EVENT_COMM_EST), 0);
	assert_int_equal(rig_expect(to, WV_UCMA_ESTABLISHED, 3, &event), child);
	assert_int_equal(close(to), 0);
	assert_int_equal(close(third), 0);
}

static void test_groups(void **state)
{
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK), to = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t id = rig_create(fd, RDMA_PS_UDP, IBV_QPT_UD, 1), handle, second, moved, reported;
	uint32_t other = rig_create(to, RDMA_PS_UDP, IBV_QPT_UD, 2);
	struct rdma_ucm_event_resp event;

	(void)state;
	assert_int_equal(rig_bind(fd, id, RIG_OWN, 0), 0);
	assert_int_equal(rig_bind(to, other, RIG_OWN, 0), 0);
	assert_int_equal(rig_join(fd, id, "127.77.0.2", 5, &handle), -EINVAL);
	assert_int_equal(rig_join(fd, id, "239.1.2.3", 5, &handle), 0);
	assert_int_equal(rig_expect(fd, WV_UCMA_MULTICAST_JOIN, 5, &event), id);
	assert_int_equal(event.param.ud.qkey, WV_UCMA_QKEY);
	assert_int_equal(rig_join(fd, id, "239.1.2.4", 6, &second), 0);
	assert_int_not_equal(second, handle);
	/* Left before it was told: it is not. */
	assert_int_equal(rig_leave(fd, second, &reported), 0);
	assert_int_equal(reported, 0);
	assert_int_equal(rig_event(fd, &event), -EAGAIN);
	assert_int_equal(rig_leave(fd, second, &reported), -ENOENT);
	assert_int_equal(rig_leave(to, handle, &reported), -EINVAL);
	/* Two channels' memberships meet on one: each has its name still. */
	assert_int_equal(rig_join(to, other, "239.1.2.5", 7, &moved), 0);
	assert_int_equal(rig_migrate(fd, to, other, &reported), 0);
	assert_int_not_equal(moved, handle);
	assert_int_equal(rig_leave(fd, moved, &reported), 0);
	assert_int_equal(reported, 0);
	assert_int_equal(rig_event(fd, &event), -EAGAIN);
	assert_int_equal(rig_leave(fd, handle, &reported), 0);
	assert_int_equal(reported, 1);
	assert_int_equal(rig_leave(fd, NOBODY, &reported), -ENOENT);
	assert_int_equal(close(to), 0);
	assert_int_equal(close(fd), 0);
}

struct waiter {
	int fd;
	atomic_int tid; /* 0: it has not begun */
	int ret;
	struct rdma_ucm_event_resp event;
};

static void *wait_for_event(void *arg)
{
	struct waiter *w = arg;

	atomic_store(&w->tid, gettid());
	w->ret = rig_event(w->fd, &w->event);
	return NULL;
}

/* Whether a thread sleeps: from its beginning on, only the command makes it. */
static bool sleeps(int tid)
{
	char path[64], line[512] = "", *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_int_equal(fclose(f), 0);
	end = strrchr(line, ')');
	assert_non_null(end);
	return end[2] == 'S';
}

/*
 * A descriptor is closed while a thread waits in a command on it: the command goes on, as in a
 * kernel, and the channel goes with it.
 */
static void test_close_waiting(void **state)
{
	struct waiter w = { .fd = rig_open(O_CLOEXEC) };
	int fd = rig_open(O_CLOEXEC | O_NONBLOCK);
	uint32_t id = routed(fd, RDMA_PS_TCP, IBV_QPT_RC, 2);
	struct rdma_ucm_event_resp event;
	pthread_t thread;

	(void)state;
	(void)listener_of(w.fd, RDMA_PS_TCP, IBV_QPT_RC, 1);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_event, &w), 0);
	while (atomic_load(&w.tid) == 0 || !sleeps(atomic_load(&w.tid)))
		sched_yield();
	assert_int_equal(close(w.fd), 0);
	assert_null(wx_fd_get(w.fd));
	assert_int_equal(rig_connect(fd, id, ""), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(w.ret, 0);
	assert_int_equal(w.event.event, WV_UCMA_CONNECT_REQUEST);
	/* Its command was the last that referred to it: the listener is gone. */
	assert_int_equal(rig_expect(fd, WV_UCMA_REJECTED, 2, &event), id);
	assert_int_equal(close(fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_header, next_port),
		cmocka_unit_test_setup(test_unknown_command, next_port),
		cmocka_unit_test_setup(test_lengths, next_port),
		cmocka_unit_test_setup(test_room, next_port),
		cmocka_unit_test_setup(test_answers, next_port),
		cmocka_unit_test_setup(test_ids, next_port),
		cmocka_unit_test_setup(test_spaces, next_port),
		cmocka_unit_test_setup(test_states, next_port),
		cmocka_unit_test_setup(test_addresses, next_port),
		cmocka_unit_test_setup(test_options, next_port),
		cmocka_unit_test_setup(test_empty, next_port),
		cmocka_unit_test_setup(test_connection, next_port),
		cmocka_unit_test_setup(test_refused, next_port),
		cmocka_unit_test_setup(test_datagrams, next_port),
		cmocka_unit_test_setup(test_destroy_pending, next_port),
		cmocka_unit_test_setup(test_unheard, next_port),
		cmocka_unit_test_setup(test_backlog, next_port),
		cmocka_unit_test_setup(test_migrate, next_port),
		cmocka_unit_test_setup(test_migrate_listener, next_port),
		cmocka_unit_test_setup(test_groups, next_port),
		cmocka_unit_test_setup(test_close_waiting, next_port),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
