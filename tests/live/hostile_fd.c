/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_fd.c - what programs do to descriptors, processes, signals and stacks, without a thought
 * for a library that lives in them. Each case is a function; the program runs the one that it is
 * told, and says what is wrong where something is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_user_cm.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE "/dev/infiniband/rdma_cm"
#define LINE "a line of a plain file\n"

static const char *self;

#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #what,     \
			        strerror(errno));                                                  \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static int channel(int flags)
{
	int fd = open(DEVICE, O_RDWR | flags);

	MUST(fd >= 0);
	return fd;
}

/* Creates an id on the channel: what works is a channel. */
static int create_id(int fd)
{
	struct {
		struct rdma_ucm_cmd_hdr header;
		struct rdma_ucm_create_id cmd;
	} c = { { RDMA_USER_CM_CMD_CREATE_ID, sizeof(c.cmd), 4 }, { .uid = 1 } };
	uint32_t id = 0;

	c.cmd.response = (uintptr_t)&id;
	c.cmd.ps = RDMA_PS_TCP;
	c.cmd.qp_type = IBV_QPT_RC;
	return write(fd, &c, sizeof(c)) == (ssize_t)sizeof(c) ? 0 : -errno;
}

static int get_event(int fd, void *to)
{
	struct {
		struct rdma_ucm_cmd_hdr header;
		struct rdma_ucm_get_event cmd;
	} c = { { RDMA_USER_CM_CMD_GET_EVENT, sizeof(c.cmd), sizeof(struct rdma_ucm_event_resp) },
		{ .response = (uintptr_t)to } };

	return write(fd, &c, sizeof(c)) == (ssize_t)sizeof(c) ? 0 : -errno;
}

/* Something for get_event() to tell: the address of nobody is looked for. */
static void make_event(int fd)
{
	struct {
		struct rdma_ucm_cmd_hdr header;
		struct rdma_ucm_create_id cmd;
	} c = { { RDMA_USER_CM_CMD_CREATE_ID, sizeof(c.cmd), 4 }, { .uid = 1 } };
	struct {
		struct rdma_ucm_cmd_hdr header;
		struct rdma_ucm_resolve_ip cmd;
	} r = { { RDMA_USER_CM_CMD_RESOLVE_IP, sizeof(r.cmd), 0 }, { .timeout_ms = 1000 } };
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_addr = { htonl(0x7f4d0001) },
		                  .sin_port = 1 };
	uint32_t id = 0;

	c.cmd.response = (uintptr_t)&id;
	c.cmd.ps = RDMA_PS_TCP;
	c.cmd.qp_type = IBV_QPT_RC;
	MUST(write(fd, &c, sizeof(c)) == (ssize_t)sizeof(c));
	r.cmd.id = id;
	memcpy(&r.cmd.dst_addr, &to, sizeof(to));
	MUST(write(fd, &r, sizeof(r)) == (ssize_t)sizeof(r));
}

static bool is_plain(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static bool is_channel(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && create_id(fd) == 0;
}

/* A line goes into the plain file that has the number. */
static void write_line(int fd)
{
	off_t before = lseek(fd, 0, SEEK_CUR);

	MUST(is_plain(fd));
	MUST(write(fd, LINE, sizeof(LINE) - 1) == (ssize_t)sizeof(LINE) - 1);
	MUST(lseek(fd, 0, SEEK_CUR) == before + (off_t)sizeof(LINE) - 1);
}

static int plain(void)
{
	int fd = open("plain.txt", O_CREAT | O_RDWR | O_TRUNC, 0644);

	MUST(fd >= 0);
	return fd;
}

static int n_open(void)
{
	int n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Numbers of channels become plain files, in all ways there are. */
static void reuse(void)
{
	int file = plain(), ch = channel(O_CLOEXEC);

	MUST(dup2(file, ch) == ch);
	write_line(ch);
	ch = channel(0);
	MUST(dup3(file, ch, O_CLOEXEC) == ch);
	write_line(ch);
	ch = channel(0);
	MUST(close_range((unsigned)ch, (unsigned)ch, 0) == 0);
	MUST(fcntl(file, F_DUPFD, ch) == ch);
	write_line(ch);
	ch = channel(0);
	MUST(close(ch) == 0);
	MUST(fcntl(file, F_DUPFD_CLOEXEC, ch) == ch);
	write_line(ch);
	/* Behind the C library's back. */
	ch = channel(0);
	MUST(syscall(SYS_close, ch) == 0);
	MUST(syscall(SYS_dup3, file, ch, 0) == ch);
	write_line(ch);
	/* A call that fails changes nothing. */
	ch = channel(0);
	MUST(dup2(4000, ch) == -1 && errno == EBADF);
	MUST(dup3(file, ch, 0x7777) == -1 && errno == EINVAL);
	MUST(is_channel(ch));
}

static void many(void)
{
	int file = plain(), ch = channel(0), copy = dup(ch), high;

	MUST(copy >= 0 && is_channel(copy));
	MUST((high = fcntl(ch, F_DUPFD, 100)) >= 100 && is_channel(high));
	MUST(close(ch) == 0);
	MUST(is_channel(copy) && is_channel(high));
	MUST(dup2(copy, file) == file && is_channel(file));
	MUST(dup2(file, file) == file && is_channel(file));
	MUST(close(copy) == 0 && close(high) == 0);
	MUST(is_channel(file));
	MUST(fcntl(copy, F_GETFD) == -1 && errno == EBADF);
	MUST(close(file) == 0);
	MUST(create_id(file) == -EBADF);
}

/* Nothing of a channel is left when it is closed, however that is done. */
static void leaks(void)
{
	int ch = channel(0), keep = channel(0), before, file;

	MUST(close(ch) == 0);
	before = n_open();
	for (int i = 0; i < 50; i++) {
		ch = channel(0);
		file = dup(ch);
		MUST(close(ch) == 0);
		if (i % 2 == 0)
			MUST(close(file) == 0);
		else
			MUST(close_range((unsigned)file, (unsigned)file, 0) == 0);
	}
	MUST(n_open() == before);
	MUST(is_channel(keep));
}

/*
 * A program that closes all that it does not know, as daemons do: what follows is as it was before.
 */
static void all_closed(void)
{
	int ch = channel(0), copy = fcntl(ch, F_DUPFD, 200), file;

	MUST(copy >= 200);
	closefrom(100);
	MUST(create_id(copy) == -EBADF);
	MUST(is_channel(ch));
	make_event(ch); /* the descriptor by which it is told of is still there */
	MUST(fcntl(ch, F_GETFD) == 0);
	MUST(close_range(3, ~0u, 0) == 0);
	MUST(create_id(ch) == -EBADF);
	file = plain();
	MUST(file == 3);
	write_line(file);
	MUST(fcntl(file, F_DUPFD, copy) == copy);
	write_line(copy);
	_exit(0); /* it has nothing to say goodbye with */
}

static void child_vfork(void)
{
	int file = plain(), ch = channel(O_CLOEXEC), status;
	volatile pid_t pid;

	pid = vfork();
	if (pid == 0) {
		(void)close(ch);
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	MUST(is_channel(ch));
	pid = vfork();
	if (pid == 0) {
		(void)dup2(file, ch);
		(void)close_range(3, ~0u, 0);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	MUST(is_channel(ch));
}

extern char **environ;

static void child_spawn(void)
{
	int file = plain(), ch = channel(0), status;
	posix_spawn_file_actions_t actions;
	char *argv[] = { "true", NULL };
	pid_t pid;

	MUST(posix_spawn_file_actions_init(&actions) == 0);
	MUST(posix_spawn_file_actions_adddup2(&actions, file, ch) == 0);
	MUST(posix_spawn_file_actions_addclose(&actions, file) == 0);
	MUST(posix_spawn_file_actions_addclosefrom_np(&actions, 3) == 0);
	MUST(posix_spawn(&pid, "/bin/true", &actions, NULL, argv, environ) == 0);
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	MUST(is_channel(ch));
	MUST(system("exec 3>&- 4>&- 5>&- 6>&-; true") == 0);
	MUST(is_channel(ch));
	MUST(is_plain(file));
}

static void child_fork(void)
{
	int ch = channel(0), status;
	pid_t pid = fork();

	MUST(pid >= 0);
	if (pid == 0) {
		int file = plain(), own;

		MUST(create_id(ch) == -EIO);
		MUST(close(ch) == 0);
		MUST(fcntl(file, F_DUPFD, ch) == ch);
		write_line(ch);
		own = channel(0);
		MUST(is_channel(own));
		MUST(close(own) == 0);
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	MUST(is_channel(ch));
}

/* A program that inherits a channel cannot use it, and does nothing to its parent's. */
static void child_exec(void)
{
	int ch = channel(0), status;
	struct pollfd p = { .fd = ch, .events = POLLIN };
	char number[16];
	pid_t pid = fork();

	MUST(pid >= 0);
	snprintf(number, sizeof(number), "%d", ch);
	if (pid == 0) {
		execl(self, self, "inherited", number, NULL);
		_exit(1);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	MUST(poll(&p, 1, 0) == 0);
	MUST(is_channel(ch));
}

static void inherited(int ch)
{
	struct stat st;

	MUST(fstat(ch, &st) == 0);
	MUST(create_id(ch) == -EBADF);
	MUST(close(ch) == 0);
}

static int pass(int sock, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = "" };
	struct iovec iov = { "x", 1 };
	struct msghdr msg = { .msg_iov = &iov,
		              .msg_iovlen = 1,
		              .msg_control = &control,
		              .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(sock, &msg, 0) == 1 ? 0 : -errno;
}

static int take(int sock)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = "" };
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
		              .msg_iovlen = 1,
		              .msg_control = &control,
		              .msg_controllen = sizeof(control) };
	int fd;

	MUST(recvmsg(sock, &msg, 0) == 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

static void messages(void)
{
	int sock[2], ch, came, status;
	pid_t pid;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, sock) == 0);
	ch = channel(0);
	MUST(pass(sock[0], ch) == 0);
	came = take(sock[1]);
	MUST(came != ch && close(ch) == 0);
	MUST(is_channel(came));
	pid = fork();
	MUST(pid >= 0);
	if (pid == 0) { /* it is its parent's, whichever way it came */
		MUST(create_id(take(sock[1])) < 0);
		_exit(0);
	}
	MUST(pass(sock[0], came) == 0);
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	MUST(is_channel(came));
}

static struct ibv_context *context;
static volatile int stop;

static void *churn(void *arg)
{
	while (!stop) {
		struct ibv_pd *pd = ibv_alloc_pd(context);

		MUST(pd != NULL && ibv_dealloc_pd(pd) == 0);
	}
	return arg;
}

static void nothing(int sig)
{
	(void)sig;
}

/* A program's handlers are weft's to know, too. */
static void set_handler(void)
{
	struct sigaction act = { .sa_handler = nothing };

	MUST(sigaction(SIGBUS, &act, NULL) == 0);
}

static void *churn_handlers(void *arg)
{
	while (!stop)
		set_handler();
	return arg;
}

static struct ibv_context *device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *c;

	MUST(list != NULL && list[0] != NULL);
	c = ibv_open_device(list[0]);
	MUST(c != NULL);
	ibv_free_device_list(list);
	return c;
}

/* Children of a program whose other threads are in the middle of calls. */
static void fork_threads(void)
{
	pthread_t t[3];

	context = device();
	for (int i = 0; i < 3; i++)
		MUST(pthread_create(&t[i], NULL, i < 2 ? churn : churn_handlers, NULL) == 0);
	for (int i = 0; i < 60; i++) {
		pid_t pid = fork();
		int status;

		MUST(pid >= 0);
		if (pid == 0) {
			struct ibv_context *c = device();
			struct ibv_pd *pd = ibv_alloc_pd(c);

			MUST(pd != NULL && ibv_dealloc_pd(pd) == 0);
			set_handler();
			_exit(0);
		}
		MUST(waitpid(pid, &status, 0) == pid && status == 0);
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		MUST(pthread_join(t[i], NULL) == 0);
}

static int waited_on;
static volatile int waiting, done;
static volatile int result;

static void *wait_event(void *arg)
{
	struct rdma_ucm_event_resp resp;

	waiting = 1;
	result = get_event(waited_on, &resp);
	done = 1;
	return arg;
}

/* Waits until the other threads of this process sleep: the one that waits for an event does. */
static void until_asleep(void)
{
	while (!waiting)
		usleep(1000); /* time: between two looks */
	/* time: nothing depends on it but how often the interesting order is met */
	usleep(50000);
}

/* Another thread closes the channel on which one waits. */
static void close_waiting(void)
{
	struct sigaction act = { .sa_handler = nothing };
	int keep = channel(0);
	pthread_t t;

	MUST(sigaction(SIGUSR1, &act, NULL) == 0);
	waited_on = channel(0);
	MUST(pthread_create(&t, NULL, wait_event, NULL) == 0);
	until_asleep();
	MUST(close(waited_on) == 0);
	while (!done) {
		MUST(pthread_kill(t, SIGUSR1) == 0);
		usleep(1000); /* time: between two signals */
	}
	MUST(pthread_join(t, NULL) == 0);
	MUST(result == -EINTR);
	MUST(is_channel(keep));
}

static void cancel(void)
{
	int before, keep = channel(0);
	pthread_t t;

	before = n_open();
	for (int i = 0; i < 20; i++) {
		void *how = NULL;

		waiting = 0;
		waited_on = channel(0);
		MUST(pthread_create(&t, NULL, wait_event, NULL) == 0);
		if (i == 0)
			until_asleep();
		MUST(pthread_cancel(t) == 0 && pthread_join(t, &how) == 0);
		MUST(how == PTHREAD_CANCELED);
		MUST(is_channel(waited_on)); /* no lock is held */
		MUST(close(waited_on) == 0);
	}
	MUST(n_open() == before);
	MUST(is_channel(keep));
}

/* Pointers that lead nowhere are EFAULT, as from the system. */
static void pointers(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *bad[] = { NULL,        (char *)1,  (char *)-1, (char *)(1UL << 47),
		              page + 4096, page + 4093 };
	struct stat st;
	char to[64];
	int ch;

	MUST(page != MAP_FAILED);
	memcpy(page + 4093, "/sy", 3);
	MUST(mprotect(page + 4096, 4096, PROT_NONE) == 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *volatile p = bad[i];

		errno = 0;
		MUST(open(p, O_RDONLY) == -1 && errno == EFAULT);
		MUST(openat(AT_FDCWD, p, O_RDONLY) == -1 && errno == EFAULT);
		MUST(stat(p, &st) == -1 && errno == EFAULT);
		MUST(lstat(p, &st) == -1 && errno == EFAULT);
		MUST(access(p, R_OK) == -1 && errno == EFAULT);
		MUST(readlink(p, to, sizeof(to)) == -1 && errno == EFAULT);
		MUST(chdir(p) == -1 && errno == EFAULT);
	}
	ch = channel(0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *volatile p = bad[i];

		MUST(write(ch, p, 64) == -1 && errno == EFAULT);
		MUST(fstat(ch, (struct stat *)p) == -1 && errno == EFAULT);
	}
	make_event(ch);
	MUST(get_event(ch, NULL) == -EFAULT);
	MUST(get_event(ch, page + 4096) == -EFAULT);
	/* What was not told is told the next time. */
	MUST(get_event(ch, page) == 0);
	errno = 7;
	MUST(access("/", F_OK) == 0 && fcntl(ch, F_GETFD) == 0 && fstat(ch, &st) == 0 &&
	     errno == 7);
	MUST(S_ISCHR(st.st_mode));
	MUST(read(ch, to, 1) == -1 && errno == EINVAL);
}

#define USED 7168 /* bytes of its stack that the program has used; 4 KiB are the C library's own */

/* What every program does, at the end of its stack. */
static void *look(void *arg)
{
	volatile char used[USED];
	struct stat st;
	char text[64];
	int fd;

	used[0] = used[USED - 1] = 1;
	fd = open("/etc/passwd", O_RDONLY);
	MUST(fd >= 0 && close(fd) == 0);
	MUST(stat("/etc", &st) == 0 && lstat("/etc", &st) == 0);
	MUST(access("/dev/null", F_OK) == 0);
	MUST(readlink("/proc/self/exe", text, sizeof(text)) > 0);
	MUST(stat("/dev/infiniband/uverbs0", &st) == 0 && S_ISCHR(st.st_mode));
	fd = open("/sys/class/infiniband/weft0/node_type", O_RDONLY);
	MUST(fd >= 0 && read(fd, text, sizeof(text)) > 0 && close(fd) == 0);
	return arg;
}

/* What only programs of RDMA do. */
static void *connect_somewhere(void *arg)
{
	char text[64];
	int fd;

	fd = open("/sys/class/infiniband/weft0/ports/1/state", O_RDONLY);
	MUST(fd >= 0 && read(fd, text, sizeof(text)) > 0 && close(fd) == 0);
	fd = channel(0);
	MUST(is_channel(fd));
	make_event(fd);
	MUST(close(fd) == 0);
	return arg;
}

/* Threads with the smallest stack there is, and nothing below it but a page that faults. */
static void small_stack(void)
{
	void *(*const fns[])(void *) = { look, connect_somewhere };
	int ch = channel(0); /* the adapter is there, and its own thread */
	pthread_attr_t attr;
	pthread_t t;

	MUST(pthread_attr_init(&attr) == 0);
	MUST(pthread_attr_setstacksize(&attr, 16384) == 0);
	for (int i = 0; i < 2; i++) {
		MUST(pthread_create(&t, &attr, fns[i], NULL) == 0);
		MUST(pthread_join(t, NULL) == 0);
	}
	MUST(is_channel(ch));
}

static sigjmp_buf back;
static volatile void *fault_at;
static volatile int faults;

static void on_fault(int sig, siginfo_t *info, void *context_)
{
	(void)sig;
	(void)context_;
	fault_at = info->si_addr;
	faults++;
	siglongjmp(back, 1);
}

static enum ibv_wc_status write_to(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_mr *mr,
                                   char *to)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, 64, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
		                  .num_sge = 1,
		                  .opcode = IBV_WR_RDMA_WRITE,
		                  .send_flags = IBV_SEND_SIGNALED,
		                  .wr.rdma = { (uintptr_t)to, mr->rkey } };
	struct ibv_send_wr *rejected;
	struct ibv_wc wc;
	int n;

	MUST(ibv_post_send(qp, &wr, &rejected) == 0);
	while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
		;
	MUST(n == 1);
	return wc.status;
}

/* A queue pair that is connected to itself. */
static struct ibv_qp *loop(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 }
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT,
		                 .port_num = 1,
		                 .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
	struct ibv_port_attr port;
	union ibv_gid gid;

	MUST(qp != NULL && ibv_query_gid(context, 1, 0, &gid) == 0);
	MUST(ibv_query_port(context, 1, &port) == 0);
	MUST(ibv_modify_qp(qp, &a,
	                   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
	     0);
	a = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR,
		                  .path_mtu = IBV_MTU_1024,
		                  .dest_qp_num = qp->qp_num,
		                  .min_rnr_timer = 12,
		                  .max_dest_rd_atomic = 1,
		                  .ah_attr = { .is_global = 1,
		                               .port_num = 1,
		                               .dlid = port.lid,
		                               .grh = { .dgid = gid, .hop_limit = 1 } } };
	MUST(ibv_modify_qp(qp, &a,
	                   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
	                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
	                           IBV_QP_MIN_RNR_TIMER) == 0);
	a = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
		                  .timeout = 14,
		                  .retry_cnt = 7,
		                  .rnr_retry = 7,
		                  .max_rd_atomic = 1 };
	MUST(ibv_modify_qp(qp, &a,
	                   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
	return qp;
}

/* A handler that is installed after the device was opened: memory that is gone is not for it. */
static void handler_later(void)
{
	struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO }, seen;
	char *memory =
		mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	enum ibv_wc_status status;
	sigset_t before, after;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;

	MUST(memory != MAP_FAILED);
	context = device();
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	MUST(pd != NULL && cq != NULL);
	mr = ibv_reg_mr(pd, memory, 16384, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	MUST(mr != NULL);
	qp = loop(pd, cq);
	MUST(sigfillset(&act.sa_mask) == 0);
	MUST(sigaction(SIGSEGV, &act, NULL) == 0);
	MUST(sigaction(SIGSEGV, NULL, &seen) == 0 && seen.sa_sigaction == on_fault &&
	     seen.sa_flags == SA_SIGINFO);
	MUST(write_to(qp, cq, mr, memory + 8192) == IBV_WC_SUCCESS);
	MUST(pthread_sigmask(SIG_SETMASK, NULL, &before) == 0);
	MUST(mprotect(memory + 12288, 4096, PROT_NONE) == 0);
	status = write_to(qp, cq, mr, memory + 12288);
	/* It is its own responder, whose error may come before what it answers. */
	MUST(status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_WR_FLUSH_ERR);
	MUST(pthread_sigmask(SIG_SETMASK, NULL, &after) == 0);
	MUST(memcmp(&before, &after, sizeof(before)) == 0);
	MUST(faults == 0);
	/* The program's own faults are for it. */
	if (sigsetjmp(back, 1) == 0)
		*(volatile char *)(memory + 12288) = 1;
	MUST(faults == 1 && fault_at == memory + 12288);
	/* And so is no handler. */
	MUST(signal(SIGSEGV, SIG_DFL) != SIG_ERR);
	MUST(sigaction(SIGSEGV, NULL, &seen) == 0 && seen.sa_handler == SIG_DFL);
}

static void dies(void)
{
	handler_later();
	*(volatile char *)NULL = 1;
}

/* As NCCL and other plugins come by the library: by name, function by function, with versions. */
static void by_name(void)
{
	static const struct {
		const char *name, *version;
	} functions[] = {
		{ "ibv_get_device_list", "IBVERBS_1.1" }, { "ibv_free_device_list", "IBVERBS_1.1" },
		{ "ibv_get_device_name", "IBVERBS_1.1" }, { "ibv_open_device", "IBVERBS_1.1" },
		{ "ibv_close_device", "IBVERBS_1.1" },    { "ibv_get_async_event", "IBVERBS_1.1" },
		{ "ibv_ack_async_event", "IBVERBS_1.1" }, { "ibv_query_device", "IBVERBS_1.1" },
		{ "ibv_query_port", "IBVERBS_1.1" },      { "ibv_query_gid", "IBVERBS_1.1" },
		{ "ibv_query_qp", "IBVERBS_1.1" },        { "ibv_alloc_pd", "IBVERBS_1.1" },
		{ "ibv_dealloc_pd", "IBVERBS_1.1" },      { "ibv_reg_mr", "IBVERBS_1.1" },
		{ "ibv_reg_mr_iova2", "IBVERBS_1.8" },    { "ibv_reg_dmabuf_mr", "IBVERBS_1.12" },
		{ "ibv_dereg_mr", "IBVERBS_1.1" },        { "ibv_create_cq", "IBVERBS_1.1" },
		{ "ibv_destroy_cq", "IBVERBS_1.1" },      { "ibv_create_qp", "IBVERBS_1.1" },
		{ "ibv_modify_qp", "IBVERBS_1.1" },       { "ibv_destroy_qp", "IBVERBS_1.1" },
		{ "ibv_fork_init", "IBVERBS_1.1" },       { "ibv_event_type_str", "IBVERBS_1.1" },
		{ "ibv_query_ece", "IBVERBS_1.10" },      { "ibv_set_ece", "IBVERBS_1.10" },
	};
	static const char *const names[] = { "libibverbs.so.1", "libibverbs.so" };

	for (size_t k = 0; k < 2; k++) {
		void *lib = dlopen(names[k], RTLD_NOW);
		struct ibv_device **(*list_fn)(int *) = NULL;
		struct ibv_device **list;
		int n = 0;

		MUST(lib != NULL);
		for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
			void *fn = dlvsym(lib, functions[i].name, functions[i].version);
			Dl_info info;

			if (fn == NULL)
				fprintf(stderr, "%s: %s\n", functions[i].name, dlerror());
			MUST(fn != NULL && dladdr(fn, &info) != 0);
			MUST(strstr(info.dli_fname, "/weft/") != NULL);
			MUST(fn == dlsym(lib, functions[i].name));
			if (i == 0)
				list_fn = (struct ibv_device * *(*)(int *)) fn;
		}
		list = list_fn(&n);
		MUST(list != NULL && n == 1 && strcmp(list[0]->name, "weft0") == 0);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} cases[] = {
		{ "reuse", reuse },           { "many", many },
		{ "leaks", leaks },           { "closefrom", all_closed },
		{ "vfork", child_vfork },     { "spawn", child_spawn },
		{ "fork", child_fork },       { "exec", child_exec },
		{ "messages", messages },     { "threads", fork_threads },
		{ "close", close_waiting },   { "cancel", cancel },
		{ "pointers", pointers },     { "stack", small_stack },
		{ "handler", handler_later }, { "dies", dies },
		{ "by-name", by_name },
	};

	self = argv[0];
	if (argc == 3 && strcmp(argv[1], "inherited") == 0) {
		inherited(atoi(argv[2]));
		return 0;
	}
	for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name) == 0) {
			cases[i].fn();
			return 0;
		}
	}
	fprintf(stderr, "usage: hostile_fd CASE\n");
	return 2;
}
