/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_umad.c - what Linux says to programs at /dev/infiniband/umad0, and programs that send
 * there whatever comes to their mind. The program runs the case that it is told, and says what is
 * wrong where something is.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #what,     \
			        strerror(errno));                                                  \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

#define FAILS(call, error) MUST((call) < 0 && errno == (error))

/* Where there is no memory. */
static void *volatile lost = (void *)64;

static uint8_t big[64 + 70000];

struct mad {
	struct ib_user_mad_hdr hdr;
	uint8_t data[256];
};

static int open_umad(int flags)
{
	int fd = open("/dev/infiniband/umad0", O_RDWR | flags);

	MUST(fd >= 0);
	MUST(ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL) == 0);
	return fd;
}

static int register_agent(int fd, int qpn, int class, int version, unsigned long methods,
                          uint32_t *id)
{
	struct ib_user_mad_reg_req req = { .qpn = (uint8_t)qpn,
		                           .mgmt_class = (uint8_t) class,
		                           .mgmt_class_version = (uint8_t)version };

	req.method_mask[0] = methods;
	if (ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &req) != 0)
		return -1;
	*id = req.id;
	return 0;
}

/* A question for NodeInfo along a directed route of no hops, or of one that leads nowhere. */
static struct mad question(uint32_t id, uint32_t tid, bool nowhere)
{
	struct mad m = { .hdr = { .id = id, .timeout_ms = nowhere ? 50 : 2000, .retries = 0 } };

	m.hdr.lid = 0xffff;
	m.data[0] = m.data[2] = m.data[3] = 1;
	m.data[1] = 0x81;
	m.data[7] = nowhere;
	tid = htonl(tid);
	memcpy(m.data + 12, &tid, sizeof(tid));
	m.data[17] = 0x11;
	memset(m.data + 32, 0xff, 4);
	m.data[129] = nowhere ? 77 : 0;
	return m;
}

static void wait_for(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	MUST(poll(&p, 1, 60000) == 1 && (p.revents & POLLIN) != 0);
}

/* Each error as Linux has it, and nothing is lost by one. */
static void errors(void)
{
	uint32_t id, other = 99;
	int fd = open_umad(O_NONBLOCK);
	struct mad m, back;
	struct stat st;

	MUST(fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && major(st.st_rdev) == 231);
	MUST(stat("/dev/infiniband/issm0", &st) == 0 && minor(st.st_rdev) == 64);
	FAILS(read(fd, &back, sizeof(back)), EAGAIN);
	FAILS(read(fd, &back, 63), EINVAL);
	FAILS(ioctl(fd, IB_USER_MAD_REGISTER_AGENT, lost), EFAULT);
	FAILS(ioctl(fd, 0x1234, NULL), ENOTTY);
	FAILS(register_agent(fd, 2, 0x81, 1, 0, &other), EINVAL);
	FAILS(register_agent(fd, 1, 0x81, 1, 0, &other), EINVAL);
	m = question(0, 1, false);
	FAILS(write(fd, &m, sizeof(m)), EIO);
	MUST(register_agent(fd, 0, 0x81, 1, 0, &id) == 0 && id == 0);
	FAILS(ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL), EINVAL);
	MUST(register_agent(fd, 1, 0x32, 1, 2, &other) == 0 && other == 1);
	FAILS(register_agent(fd, 1, 0x32, 1, 6, &other), EINVAL);
	m = question(32, 1, false);
	FAILS(write(fd, &m, sizeof(m)), EINVAL);
	m = question(id, 1, false);
	FAILS(write(fd, &m, sizeof(m.hdr) + 35), EINVAL);
	FAILS(write(fd, lost, sizeof(m)), EFAULT);
	memcpy(big, &m, sizeof(m));
	FAILS(write(fd, big, sizeof(m) + 1), EINVAL);
	FAILS(write(fd, big, sizeof(big)), EINVAL);
	/* An answer is read when there is room for it, and stays while there is not. */
	MUST(write(fd, &m, sizeof(m)) == (ssize_t)sizeof(m));
	wait_for(fd);
	FAILS(read(fd, &back, sizeof(back) - 1), EINVAL);
	FAILS(read(fd, lost, sizeof(back)), EFAULT);
	MUST(read(fd, &back, sizeof(back)) == (ssize_t)sizeof(back));
	MUST(back.hdr.status == 0 && back.hdr.id == id && back.hdr.length == sizeof(back));
	MUST(back.data[3] == 0x81 && back.data[64 + 2] == 1); /* NodeType: an adapter */
	/* No answer: the head of the question comes back. */
	m = question(id, 2, true);
	MUST(write(fd, &m, sizeof(m)) == (ssize_t)sizeof(m));
	FAILS(write(fd, &m, sizeof(m)), EINVAL); /* its transaction ID is waiting */
	wait_for(fd);
	MUST(read(fd, &back, sizeof(back)) == 64 + 24);
	MUST(back.hdr.status == ETIMEDOUT && back.data[15] == 2 && back.hdr.timeout_ms == 50);
	MUST(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id) == 0);
	FAILS(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id), EINVAL);
	MUST(close(fd) == 0);
	/* With it went the agent that somebody else wants now. */
	fd = open_umad(0);
	MUST(register_agent(fd, 1, 0x32, 1, 6, &other) == 0);
}

/* A child has its parent's file, and can do nothing with it. */
static void forks(void)
{
	int fd = open_umad(O_NONBLOCK), status;
	struct mad m = question(0, 7, false);
	uint32_t id;
	pid_t pid;

	MUST(register_agent(fd, 0, 0x81, 1, 0, &id) == 0);
	pid = fork();
	if (pid == 0) {
		FAILS(write(fd, &m, sizeof(m)), EIO);
		FAILS(register_agent(fd, 0, 0x81, 1, 0, &id), EIO);
		MUST(close(fd) == 0);
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	MUST(write(fd, &m, sizeof(m)) == (ssize_t)sizeof(m));
	wait_for(fd);
	MUST(read(fd, &m, sizeof(m)) == (ssize_t)sizeof(m));
}

/* One manager on a host: the second is told so, or waits. */
static void issm(void)
{
	int fd = open("/dev/infiniband/issm0", O_RDWR | O_NONBLOCK), status;
	pid_t pid;

	MUST(fd >= 0);
	FAILS(open("/dev/infiniband/issm0", O_RDWR | O_NONBLOCK), EAGAIN);
	pid = fork();
	if (pid == 0) {
		MUST(close(fd) == 0);
		MUST(open("/dev/infiniband/issm0", O_RDWR) >= 0);
		_exit(0);
	}
	MUST(close(fd) == 0);
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	MUST(open("/dev/infiniband/issm0", O_RDWR | O_NONBLOCK) >= 0);
}

/* Bytes that are no MAD, or nearly one: no Set, which would be one that counts. */
static void flood(void)
{
	int fd = open_umad(O_NONBLOCK);
	uint32_t id[4];

	srand(7);
	MUST(register_agent(fd, 0, 0x81, 1, ~2ul, &id[0]) == 0);
	MUST(register_agent(fd, 0, 0x01, 1, ~2ul, &id[1]) == 0);
	MUST(register_agent(fd, 1, 0x04, 1, 0, &id[2]) == 0);
	MUST(register_agent(fd, 1, 0x07, 1, ~0ul, &id[3]) == 0);
	for (unsigned i = 0; i < 20000; i++) {
		struct mad m = question(id[i % 4], i, false);

		for (unsigned n = rand() % 40; n > 0; n--)
			((uint8_t *)&m)[4 + rand() % (sizeof(m) - 4)] = (uint8_t)rand();
		if (m.data[3] == 2)
			m.data[3] = 1;
		m.hdr.timeout_ms %= 100;
		m.hdr.retries %= 3;
		(void)!write(fd, &m, 64 + 36 + rand() % 220);
		if (i % 1000 == 0)
			(void)!write(fd, big, sizeof(big));
	}
	/* What comes is not read. */
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{ "errors", errors }, { "forks", forks }, { "issm", issm }, { "flood", flood }
	};

	for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run();
			return 0;
		}
	}
	return 2;
}
