/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_live_events.c - a hostile daemon at the sockets of a program, where it tells of events and
 * where it answers: messages of all kinds and of none, with descriptors or without, of memory that
 * is what it should be or is not; while the program sends, connects, asks and leaves. The program's
 * adapter must neither crash nor leak a descriptor nor lose track of its peers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "../tests/unit/live/rig_nic.h"
#include "live/sock.h"
#include "live/tap.h"
#include "wire/mad.h"
#include "wire/opnum.h"

#define GROUP (WF_LIVE_GROUP | 3)
#define MOST_FDS 8 /* more than the program takes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz {
	struct rig *rig;
	struct wf_nic *nic;
	struct wf_ah *ah[2]; /* to host 1, to a group */
	struct wf_cm *cm;
	struct wf_cm_conn *conn;
	struct wf_pipe far; /* the other side of keep[0], if that becomes a link */
	int daemon;         /* its end of the socket of events */
	int answers;        /* and of that of answers */
	int keep[4]; /* memory that is sent more than once, an eventfd, files that are neither */
	const uint8_t *data;
	size_t size;
};

static uint8_t next(struct fuzz *f)
{
	if (f->size == 0)
		return 0;
	f->size--;
	return *f->data++;
}

static int on_cm(void *arg, const struct wf_cm_event *event)
{
	(void)arg;
	return event->type == WF_CM_EV_REQ || event->type == WF_CM_EV_SIDR_REQ ? -ECONNREFUSED : 0;
}

/* A descriptor as the input wants it, which the caller closes. */
static int make_fd(struct fuzz *f)
{
	switch (next(f) % 8) {
	case 0:
	case 1:
		return wf_pipe_memory();
	case 2:
		return wf_tap_memory();
	case 3:
	case 4:
		return dup(f->keep[1]);
	case 5:
		return dup(f->keep[0]);
	case 6:
		return dup(f->keep[2]);
	default:
		return dup(f->keep[3]);
	}
}

static void send_bytes(struct fuzz *f, int sock, const void *msg, size_t size, unsigned n_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(MOST_FDS * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)msg, .iov_len = size };
	struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[MOST_FDS];

	for (unsigned i = 0; i < n_fds; i++)
		rig_must((fds[i] = make_fd(f)) >= 0);
	if (n_fds != 0) {
		hdr.msg_control = control.bytes;
		hdr.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.align), fds, n_fds * sizeof(int));
	}
	if (sock >= 0)
		(void)!sendmsg(sock, &hdr, MSG_DONTWAIT | MSG_NOSIGNAL);
	for (unsigned i = 0; i < n_fds; i++)
		close(fds[i]);
}

/* A host that is there more often than not. */
static uint32_t some_host(struct fuzz *f)
{
	static const uint32_t hosts[] = { 0, 1, 2, WF_LIVE_MODEL, WF_LIVE_REMOTE, WF_LIVE_ALL };
	uint8_t byte = next(f);

	return byte < 128 ? byte % 2 : hosts[byte % WF_ARRAY_SIZE(hosts)];
}

/* An event as it should be, but for what it tells. */
static void send_event(struct fuzz *f)
{
	struct wf_live_event event = { .type = next(f) % (WF_LIVE_EV_JOINED + 2) };
	unsigned right = event.type == WF_LIVE_EV_LINK ? 2 : event.type == WF_LIVE_EV_TAP ? 1 : 0;

	event.link.host = some_host(f);
	event.link.slot = next(f) % 16;
	if (event.type == WF_LIVE_EV_LINK) {
		event.link.side = next(f) % 3;
	} else if (event.type == WF_LIVE_EV_SERVICE) {
		event.service.slot = event.link.slot;
		event.service.host = some_host(f);
		event.service.id = wf_cm_service(WF_CM_PS_TCP, next(f) % 2);
	} else if (event.type == WF_LIVE_EV_GROUP) {
		event.group.group = next(f) % 4 != 0 ? GROUP : next(f);
		event.group.n = next(f) % (WF_LIVE_GROUP_PORTS + 2);
		for (unsigned i = 0; i < event.group.n && i < 8; i++) {
			event.group.port[i].host = some_host(f);
			event.group.port[i].slot = next(f) % 16;
		}
	} else if (event.type == WF_LIVE_EV_TAP || event.type == WF_LIVE_EV_TAP_END) {
		event.tap.capture = next(f) % 4;
		event.tap.snaplen = (uint32_t)next(f) << (next(f) % 32);
	} else if (event.type == WF_LIVE_EV_PORT) {
		event.port.state = next(f) % 6;
		event.port.what = next(f);
	}
	event.n_fds = next(f) % 8 == 0 ? next(f) % MOST_FDS : right;
	send_bytes(f, f->daemon, &event, wf_live_event_bytes(&event), event.n_fds);
}

/* An answer before the question, or bytes that are none. */
static void send_answer(struct fuzz *f, unsigned right_fds)
{
	struct wf_live_reply reply = { .error = 0 };
	uint8_t how = next(f);

	if (how % 4 == 0)
		reply.error = -(int32_t)next(f);
	reply.n_fds = how % 16 == 1 ? next(f) % MOST_FDS : reply.error == 0 ? right_fds : 0;
	reply.service.id = wf_cm_service(WF_CM_PS_TCP, next(f) % 2);
	reply.service.host = how / 16 % 2 == 0 ? GROUP : some_host(f);
	reply.service.slot = next(f);
	for (size_t i = 8; i < sizeof(reply) && how >= 224; i++)
		((char *)&reply)[i] = (char)next(f);
	if (how / 16 % 4 == 3)
		reply.group.group = how % 32 < 16 ? GROUP : WF_LIVE_REMOTE | how;
	send_bytes(f, f->answers, &reply,
	           how == 255 ? next(f) % (sizeof(reply) + 1) : sizeof(reply), reply.n_fds);
}

/* The program makes a call for which the daemon is asked; it has answered already. */
static void call(struct fuzz *f)
{
	struct wf_nic *nic = f->nic;
	struct wf_ah_attr to = { .port_num = 1, .is_global = true };
	uint64_t service = wf_cm_service(WF_CM_PS_TCP, 1);
	uint8_t what = next(f), gid[16] = { [10] = 0xff, 0xff, 10, 0, 0, next(f) % 4 };
	uint32_t number;

	send_answer(f, what % 8 == 7 ? 2 : 0);
	to.dgid[0] = 0xff;
	to.dgid[15] = what / 8 % 4;
	nic->locked = false;
	wf_nic_lock(nic);
	switch (what % 8) {
	case 0:
		(void)!wf_nic_resolve(nic, &to);
		break;
	case 1:
		(void)!wf_nic_join(nic, f->rig->ud, to.dgid);
		break;
	case 2:
		(void)!wf_nic_leave(nic, f->rig->ud, to.dgid);
		break;
	case 3:
		(void)!wf_nic_service(nic, WF_LIVE_SERVICE_BIND + what / 8 % 3, &service, 0);
		break;
	case 4:
		(void)!wf_nic_find_service(nic, service, &number);
		break;
	case 5:
		memcpy(to.dgid, gid, sizeof(gid));
		(void)!wf_nic_resolve(nic, &to);
		break;
	case 6:
		(void)wf_nic_gid(nic, WF_LIVE_REMOTE | what / 8u, 0, gid);
		break;
	default:
		if (nic->model == NULL)
			(void)!wf_nic_open_model(nic);
		break;
	}
	wf_nic_unlock(nic);
	nic->locked = true;
	/* What nobody has read yet is not the answer to the next question. */
	while (recv(f->answers, gid, sizeof(gid), MSG_DONTWAIT) > 0)
		;
	while (nic->sock >= 0 && recv(nic->sock, gid, sizeof(gid), MSG_DONTWAIT) > 0)
		;
}

/* The program sends: to its peer, to a program of host 1, to the group. */
static void post(struct fuzz *f)
{
	struct rig *r = f->rig;
	struct wf_sge sge = { (uintptr_t)r->memory, 1 + next(f), wf_mr_lkey(r->mr) };
	struct wf_send_wr wr = { .sge = &sge, .num_sge = 1, .opcode = WF_WR_SEND };
	uint8_t how = next(f);
	const struct wf_send_wr *bad;

	wr.ud.ah = f->ah[how / 4 % 2];
	wr.ud.qpn = how / 4 % 2 == 1 ? WF_QPN_MULTICAST : (how / 8u) << WF_LIVE_QPN_BITS | 2;
	wr.ud.qkey = 0x1234;
	(void)!wf_qp_post_send(how % 4 == 0 ? r->rc : r->ud, &wr, &bad);
}

/* The program connects to a service of host 1, or gives up. */
static void connect_or_not(struct fuzz *f)
{
	struct wf_cm_req req = { .qpn = 5, .max_retries = 3, .transport = WF_CM_RC };
	wf_time now = wf_nic_now(f->nic);

	if (f->conn != NULL) {
		wf_cm_release(f->conn, now);
		f->conn = NULL;
		return;
	}
	req.service = wf_cm_service(WF_CM_PS_TCP, next(f) % 2);
	rig_must(wf_cm_connect(f->cm, 1, &req, NULL, 0, f, now, &f->conn) == 0);
}

/* Whoever is asked something reads it, or lets it lie. */
static void read_asked(struct fuzz *f)
{
	struct wf_live_req req;
	int fds[WF_LIVE_MAX_FDS];
	unsigned n;

	while (f->daemon >= 0 && wf_sock_recv(f->daemon, &req, sizeof(req), fds, &n, false) > 0)
		;
}

/* A message of a connection manager's comes there, which is one by its packet. */
static void write_mad(struct fuzz *f)
{
	struct wf_packet pkt = { .opcode = WF_OP_UD_SEND_ONLY, .qpn = WF_QPN_GSI, .pkey = 0xffff };
	uint8_t *mad = f->far.tx.broken ? NULL : wf_ring_reserve(&f->far.tx, WF_MAD_LEN);

	if (mad == NULL)
		return;
	pkt.length = pkt.input = WF_MAD_LEN;
	pkt.u.deth.src_qpn = WF_QPN_GSI;
	pkt.u.deth.qkey = WF_QKEY_GMP;
	for (unsigned i = 0; i < WF_MAD_LEN; i++)
		mad[i] = next(f);
	wf_ring_commit(&f->far.tx, &pkt, WF_MAD_LEN);
}

/* A packet comes by the memory that is sent more than once. */
static void write_packet(struct fuzz *f)
{
	struct wf_packet pkt = { .qpn = wf_qp_num(f->rig->ud), .pkey = 0xffff };
	uint8_t how = next(f);
	uint32_t bytes = next(f);

	for (size_t i = 8; i < sizeof(pkt) && how % 2 == 0 && f->size > 0; i++)
		((uint8_t *)&pkt)[i] = next(f);
	if (how >= 250)
		memset(f->far.shared, how, 256);
	if (how % 4 == 1)
		write_mad(f);
	else if (!f->far.tx.broken && wf_ring_reserve(&f->far.tx, bytes) != NULL)
		wf_ring_commit(&f->far.tx, &pkt, bytes);
}

static void act(struct fuzz *f)
{
	uint8_t what = next(f);
	size_t n;

	switch (what % 8) {
	case 0: /* any bytes */
		n = next(f);
		n = n < f->size ? n : f->size;
		f->data += n;
		f->size -= n;
		send_bytes(f, f->daemon, f->data - n, n, what / 8 % (MOST_FDS + 1));
		break;
	case 1:
	case 2:
		post(f);
		break;
	case 3:
		connect_or_not(f);
		break;
	case 4:
		read_asked(f);
		write_packet(f);
		break;
	case 5:
		call(f);
		break;
	default:
		if (what == 255 && f->daemon >= 0) {
			close(f->daemon);
			f->daemon = -1;
		}
		send_event(f);
		break;
	}
	(void)wf_nic_progress(f->nic);
	wf_nic_events(f->nic);
	wf_nic_assert(f->nic);
}

static void begin(struct fuzz *f, bool modelled)
{
	struct wf_ah_attr to[2] = { { .dest = 1, .port_num = 1 },
		                    { .dest = GROUP, .port_num = 1, .is_global = true } };
	/* Nobody waits for a daemon that does not answer: that is the kernel's doing. */
	struct timeval moment = { .tv_usec = 1000 };
	int pair[2];

	f->rig = rig_create();
	f->nic = f->rig->nic;
	f->nic->cfg.cm_event = on_cm;
	rig_must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
	f->nic->events = pair[0];
	f->daemon = pair[1];
	rig_must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	f->nic->sock = pair[0];
	f->answers = pair[1];
	rig_must(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof(moment)) == 0);
	f->nic->table->host[0].wire = 0xff;
	f->nic->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f->keep[0] = wf_pipe_memory();
	rig_must(wf_pipe_open(&f->far, f->keep[0], 1, -1) == 0);
	f->keep[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f->keep[2] = memfd_create("fuzz", MFD_CLOEXEC);
	f->keep[3] = open("/dev/null", O_RDWR | O_CLOEXEC);
	to[1].dgid[0] = 0xff;
	for (int i = 0; i < 2; i++)
		rig_must(wf_ah_create(f->rig->pd, &to[i], &f->ah[i]) == 0);
	f->nic->groups = calloc(1, sizeof(struct wf_nic_group *));
	f->nic->groups[0] = calloc(1, sizeof(struct wf_nic_group));
	f->nic->groups[0]->number = GROUP;
	f->nic->groups[0]->known = true;
	f->nic->n_groups = 1;
	rig_must(wf_nic_cm(f->nic, &f->cm) == 0);
	if (modelled) {
		/* The way to it may be the memory in which packets come. */
		wf_pipe_close(&f->nic->peers[RIG_PEERS - 1]->pipe);
		rig_must(wf_pipe_open(&f->nic->peers[RIG_PEERS - 1]->pipe, f->keep[0], 0, -1) == 0);
		f->nic->model = f->nic->peers[RIG_PEERS - 1];
		f->nic->model->host = WF_LIVE_MODEL;
		f->nic->model->slot = 0;
	}
}

static void end(struct fuzz *f)
{
	wf_nic_tap_remove(f->nic, WF_LIVE_ALL);
	for (int i = 0; i < 2; i++)
		wf_ah_destroy(f->ah[i]);
	for (int i = 0; i < 4; i++)
		close(f->keep[i]);
	close(f->nic->events);
	close(f->nic->sock);
	f->nic->sock = -1;
	close(f->answers);
	close(f->nic->wake);
	if (f->daemon >= 0)
		close(f->daemon);
	f->nic->model = NULL;
	wf_pipe_close(&f->far);
	for (unsigned i = 0; i < RIG_BYTES; i++)
		rig_must(f->rig->secret[i] == RIG_KEY_BYTE);
	rig_destroy(f->rig);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { .data = data, .size = size };
	int lowest = dup(0);

	close(lowest);
	begin(&f, next(&f) % 4 == 0);
	while (f.size > 0)
		act(&f);
	end(&f);
	rig_must(dup(0) == lowest);
	close(lowest);
	return 0;
}
