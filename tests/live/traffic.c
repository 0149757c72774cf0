/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic.c - mixed traffic between two programs of which every byte and every count is checked.
 *
 *	traffic FOLDER SIDE MEGABYTES [GID]
 *
 * Side 0 and side 1 find each other by files in FOLDER. Each has QPS reliable queue pairs and one
 * for datagrams, and drives MEGABYTES of operations, of sizes from a byte to 256 KiB, towards the
 * other:
 *
 *	WRITE      into a place of its own, then READ back and compared
 *	READ       of memory whose contents are known
 *	SEND       numbered: the receiver expects each number once, and all in order
 *	FETCH_ADD  of a counter that only this queue pair changes: the old value is one less
 *	CMP_SWAP   likewise, from n to n + 1
 *	datagrams  numbered: they may be lost, but not come twice, nor changed
 *
 * At the end each says how much it has done, and the other compares that with what it has got.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QPS 4
#define DEPTH 8                 /* operations of a queue pair at once */
#define RECVS 16                /* receive buffers of a queue pair */
#define MAX ((uint32_t)1 << 18) /* bytes of an operation */
#define KNOWN ((uint32_t)1 << 20)
#define DGRAM 1024 /* bytes of a datagram at most */
#define GRH 40
#define QKEY 0x11111111
#define BYE UINT64_MAX

enum op { WRITE, READ, SEND, FETCH_ADD, CMP_SWAP, OPS };

/* What a message begins with; the rest of it follows from its number. */
struct head {
	uint64_t number; /* BYE: the last one; what follows is how often each operation was done */
	uint64_t bytes;  /* of the message */
};

/* Memory that the other side reaches; each queue pair has one. */
struct shared {
	char written[DEPTH][MAX];
	uint64_t added, swapped;
};

struct slot {
	enum op op;
	uint64_t number; /* of this operation among all of its kind and queue pair */
	uint32_t bytes, offset;
};

struct side {
	struct ibv_qp *qp;
	struct shared *shared;
	struct ibv_mr *shared_mr;
	char *out; /* DEPTH buffers of MAX: what is sent, or comes; DEPTH more: what comes back */
	char *in;  /* RECVS buffers of MAX */
	struct ibv_mr *out_mr, *in_mr;
	struct slot slot[DEPTH];
	uint32_t posted, completed;
	uint64_t done[OPS]; /* posted, of each kind */
	uint64_t got;       /* messages */
	uint64_t told[OPS]; /* by the other side, at its end */
	bool said_bye, bye;
	uint64_t random;
};

/* What the other side has to know. */
struct card {
	uint32_t qpn[QPS], ud_qpn, rkey[QPS], known_rkey;
	uint64_t shared[QPS], known;
	union ibv_gid gid;
	uint16_t lid;
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct side side[QPS];
static struct card mine, other;
static struct ibv_port_attr port;
static char *known; /* KNOWN bytes */
static struct ibv_qp *ud;
static struct ibv_ah *ah;
static char *ud_out, *ud_in;
static struct ibv_mr *ud_out_mr, *ud_in_mr;
static uint64_t ud_sent, ud_completed, ud_got, ud_next;
static int gid_index;

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "traffic: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

static void *must(void *p, const char *what)
{
	if (p == NULL)
		die("%s: %s", what, strerror(errno));
	return p;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t draw(struct side *s)
{
	s->random += UINT64_C(0x9e3779b97f4a7c15);
	return mix(s->random);
}

/* The eight bytes at 8 * i of what key names. */
static uint64_t word(uint64_t key, uint32_t i)
{
	return (key + i) * UINT64_C(0x9e3779b97f4a7c15);
}

static void fill(char *to, uint64_t key, uint32_t bytes)
{
	uint64_t w;
	uint32_t i;

	for (i = 0; 8 * i + 8 <= bytes; i++) {
		w = word(key, i);
		memcpy(to + 8 * i, &w, 8);
	}
	w = word(key, i);
	memcpy(to + 8 * i, &w, bytes - 8 * i);
}

static void check(const char *at, uint64_t key, uint32_t bytes, const char *what)
{
	uint64_t w;
	uint32_t i;

	for (i = 0; 8 * i + 8 <= bytes; i++) {
		w = word(key, i);
		if (memcmp(at + 8 * i, &w, 8) != 0)
			die("%s: wrong at byte %u of %u", what, 8 * i, bytes);
	}
	w = word(key, i);
	if (memcmp(at + 8 * i, &w, bytes - 8 * i) != 0)
		die("%s: wrong at the end of %u bytes", what, bytes);
}

/* Many short ones, some long ones. */
static uint32_t any_size(struct side *s, uint32_t least, uint32_t most)
{
	uint64_t r = draw(s);
	uint32_t limit = r % 4 < 2 ? 256 : r % 4 == 2 ? 8192 : MAX;

	if (limit > most)
		limit = most;
	return least + (uint32_t)((r >> 8) % (limit - least + 1));
}

static uint64_t key_of(uint32_t q, enum op op, uint64_t number)
{
	return mix((uint64_t)q << 56 ^ (uint64_t)op << 48 ^ number);
}

static void post_recv(uint32_t q, uint32_t i)
{
	struct side *s = &side[q];
	struct ibv_sge sge = { (uintptr_t)(s->in + (size_t)i * MAX), MAX, s->in_mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };

	if (ibv_post_recv(s->qp, &wr, &bad) != 0)
		die("post_recv failed");
}

static void post_ud_recv(uint32_t i)
{
	struct ibv_sge sge = { (uintptr_t)(ud_in + (size_t)i * (GRH + DGRAM)), GRH + DGRAM,
		               ud_in_mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };

	if (ibv_post_recv(ud, &wr, &bad) != 0)
		die("post_recv of datagrams failed");
}

static char *out_of(const struct side *s, uint32_t i)
{
	return s->out + (size_t)i * MAX;
}

/* The WRITE; makes *wr the READ that brings it back, to another buffer. */
static void post_write(uint32_t q, uint32_t i, struct ibv_send_wr *wr)
{
	struct side *s = &side[q];
	struct ibv_send_wr *bad, first = *wr;
	struct ibv_sge sge = *wr->sg_list;

	fill(out_of(s, i), key_of(q, WRITE, s->slot[i].number), s->slot[i].bytes);
	first.sg_list = &sge;
	first.opcode = IBV_WR_RDMA_WRITE;
	first.send_flags = 0;
	first.wr.rdma.remote_addr = other.shared[q] + (uint64_t)i * MAX;
	first.wr.rdma.rkey = other.rkey[q];
	if (ibv_post_send(s->qp, &first, &bad) != 0)
		die("post_send of a WRITE failed");
	memset(out_of(s, DEPTH + i), 0, s->slot[i].bytes);
	wr->sg_list->addr = (uintptr_t)out_of(s, DEPTH + i);
	wr->opcode = IBV_WR_RDMA_READ;
	wr->wr.rdma = first.wr.rdma;
}

static void post_send(uint32_t q, uint32_t i)
{
	struct head head = { .number = side[q].slot[i].number, .bytes = side[q].slot[i].bytes };
	char *at = out_of(&side[q], i);

	fill(at, key_of(q, SEND, head.number), (uint32_t)head.bytes);
	memcpy(at, &head, sizeof(head));
}

/* The number of the operation is that of those of its kind before. */
static uint32_t post_op(uint32_t q, enum op op, uint32_t bytes)
{
	struct side *s = &side[q];
	uint32_t i = s->posted % DEPTH;
	struct slot *slot = &s->slot[i];
	struct ibv_sge sge = { (uintptr_t)out_of(s, i), bytes, s->out_mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = i | 1u << 16,
		                        .sg_list = &sge,
		                        .num_sge = 1,
		                        .send_flags = IBV_SEND_SIGNALED };

	*slot = (struct slot){ .op = op, .number = s->done[op]++, .bytes = bytes };
	switch (op) {
	case WRITE:
		post_write(q, i, &wr);
		break;
	case READ:
		slot->offset = (uint32_t)(draw(s) % ((KNOWN - bytes) / 8)) * 8;
		memset(out_of(s, i), 0, bytes);
		wr.opcode = IBV_WR_RDMA_READ;
		wr.wr.rdma.remote_addr = other.known + slot->offset;
		wr.wr.rdma.rkey = other.known_rkey;
		break;
	case SEND:
		post_send(q, i);
		wr.opcode = IBV_WR_SEND;
		break;
	default:
		wr.opcode =
			op == FETCH_ADD ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
		wr.wr.atomic.remote_addr =
			other.shared[q] + (op == FETCH_ADD ? offsetof(struct shared, added)
		                                           : offsetof(struct shared, swapped));
		wr.wr.atomic.rkey = other.rkey[q];
		wr.wr.atomic.compare_add = op == FETCH_ADD ? 1 : slot->number;
		wr.wr.atomic.swap = slot->number + 1;
	}
	if (ibv_post_send(s->qp, &wr, &bad) != 0)
		die("post_send failed");
	s->posted++;
	return bytes * (op == WRITE ? 2 : 1);
}

static void post_bye(uint32_t q)
{
	struct side *s = &side[q];
	uint32_t i = s->posted % DEPTH;
	struct head head = { .number = BYE, .bytes = sizeof(head) + sizeof(s->done) };
	struct ibv_sge sge = { (uintptr_t)out_of(s, i), (uint32_t)head.bytes, s->out_mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = i | 1u << 16,
		                        .sg_list = &sge,
		                        .num_sge = 1,
		                        .opcode = IBV_WR_SEND,
		                        .send_flags = IBV_SEND_SIGNALED };

	memcpy(out_of(s, i), &head, sizeof(head));
	memcpy(out_of(s, i) + sizeof(head), s->done, sizeof(s->done));
	s->slot[i] = (struct slot){ .op = SEND };
	if (ibv_post_send(s->qp, &wr, &bad) != 0)
		die("post_send of the last message failed");
	s->posted++;
	s->said_bye = true;
}

static void completed(uint32_t q, uint32_t i)
{
	struct side *s = &side[q];
	const struct slot *slot = &s->slot[i];
	uint64_t old;

	if (i != s->completed++ % DEPTH)
		die("completions are not in order");
	if (slot->op == WRITE)
		check(out_of(s, DEPTH + i), key_of(q, WRITE, slot->number), slot->bytes,
		      "WRITE and READ");
	else if (slot->op == READ)
		check(out_of(s, i), slot->offset / 8, slot->bytes, "READ");
	if (slot->op != FETCH_ADD && slot->op != CMP_SWAP)
		return;
	memcpy(&old, out_of(s, i), sizeof(old));
	if (old != slot->number)
		die("atomic %d: %lu instead of %lu", slot->op, old, slot->number);
}

static void received(uint32_t q, uint32_t i, uint32_t bytes)
{
	struct side *s = &side[q];
	char *at = s->in + (size_t)i * MAX;
	struct head head;

	memcpy(&head, at, sizeof(head));
	if (bytes < sizeof(head) || head.bytes != bytes || s->bye)
		die("a message of %u bytes that says %lu", bytes, head.bytes);
	if (head.number == BYE) {
		memcpy(s->told, at + sizeof(head), sizeof(s->told));
		s->bye = true;
	} else {
		if (head.number != s->got++)
			die("message %lu instead of %lu", head.number, s->got - 1);
		fill(at, key_of(q, SEND, head.number), sizeof(head));
		check(at, key_of(q, SEND, head.number), bytes, "SEND");
	}
	post_recv(q, i);
}

static void post_datagram(void)
{
	uint32_t i = (uint32_t)(ud_sent % DEPTH);
	struct head head = { .number = ud_sent, .bytes = sizeof(head) + draw(&side[0]) % 900 };
	struct ibv_sge sge = { (uintptr_t)(ud_out + (size_t)i * DGRAM), (uint32_t)head.bytes,
		               ud_out_mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = 1u << 16,
		                        .sg_list = &sge,
		                        .num_sge = 1,
		                        .opcode = IBV_WR_SEND,
		                        .send_flags = IBV_SEND_SIGNALED };

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = other.ud_qpn;
	wr.wr.ud.remote_qkey = QKEY;
	fill(ud_out + (size_t)i * DGRAM, key_of(QPS, SEND, head.number), (uint32_t)head.bytes);
	memcpy(ud_out + (size_t)i * DGRAM, &head, sizeof(head));
	if (ibv_post_send(ud, &wr, &bad) != 0)
		die("post_send of a datagram failed");
	ud_sent++;
}

static void received_datagram(uint32_t i, uint32_t bytes)
{
	char *at = ud_in + (size_t)i * (GRH + DGRAM) + GRH;
	struct head head;

	memcpy(&head, at, sizeof(head));
	if (bytes != GRH + head.bytes || head.number < ud_next)
		die("datagram %lu of %u bytes, after number %lu", head.number, bytes, ud_next);
	ud_next = head.number + 1;
	ud_got++;
	fill(at, key_of(QPS, SEND, head.number), sizeof(head));
	check(at, key_of(QPS, SEND, head.number), (uint32_t)head.bytes, "datagram");
	post_ud_recv(i);
}

static void poll_all(void)
{
	struct ibv_wc wc[16];
	int n = ibv_poll_cq(cq, 16, wc);

	if (n < 0)
		die("poll_cq failed");
	for (int k = 0; k < n; k++) {
		uint32_t q = 0, i = wc[k].wr_id & 0xffff;
		bool sent = wc[k].wr_id >> 16 != 0;

		if (wc[k].status != IBV_WC_SUCCESS)
			die("%s", ibv_wc_status_str(wc[k].status));
		while (q < QPS && side[q].qp->qp_num != wc[k].qp_num)
			q++;
		if (q == QPS && sent)
			ud_completed++;
		else if (q == QPS)
			received_datagram(i, wc[k].byte_len);
		else if (sent)
			completed(q, i);
		else
			received(q, i, wc[k].byte_len);
	}
}

static void *memory(size_t bytes, struct ibv_mr **mr_p)
{
	void *at = must(aligned_alloc(4096, (bytes + 4095) / 4096 * 4096), "memory");

	memset(at, 0, bytes);
	*mr_p = must(ibv_reg_mr(pd, at, bytes,
	                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
	                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC),
	             "reg_mr");
	return at;
}

static struct ibv_qp *make_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 2 * DEPTH, RECVS, 1, 1, 0 },
		.qp_type = type,
	};
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
		.qp_access_flags =
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	};
	struct ibv_qp *qp = must(ibv_create_qp(pd, &init), "create_qp");

	if (ibv_modify_qp(qp, &a,
	                  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	                          (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)) != 0)
		die("modify_qp to INIT failed");
	return qp;
}

static void make(void)
{
	struct ibv_mr *known_mr;

	for (uint32_t q = 0; q < QPS; q++) {
		struct side *s = &side[q];

		s->qp = make_qp(IBV_QPT_RC);
		s->shared = memory(sizeof(*s->shared), &s->shared_mr);
		s->out = memory((size_t)2 * DEPTH * MAX, &s->out_mr);
		s->in = memory((size_t)RECVS * MAX, &s->in_mr);
		for (uint32_t i = 0; i < RECVS; i++)
			post_recv(q, i);
		mine.qpn[q] = s->qp->qp_num;
		mine.rkey[q] = s->shared_mr->rkey;
		mine.shared[q] = (uintptr_t)s->shared;
	}
	known = memory(KNOWN, &known_mr);
	fill(known, 0, KNOWN);
	mine.known = (uintptr_t)known;
	mine.known_rkey = known_mr->rkey;
	ud = make_qp(IBV_QPT_UD);
	ud_out = memory((size_t)DEPTH * DGRAM, &ud_out_mr);
	ud_in = memory((size_t)RECVS * (GRH + DGRAM), &ud_in_mr);
	for (uint32_t i = 0; i < RECVS; i++)
		post_ud_recv(i);
	mine.ud_qpn = ud->qp_num;
	if (ibv_query_port(context, 1, &port) != 0 ||
	    ibv_query_gid(context, 1, gid_index, &mine.gid) != 0)
		die("query_port or query_gid failed");
	mine.lid = port.lid;
}

/* Leaves a file in the folder, and waits for that of the other side, serving it meanwhile. */
static void meet(const char *folder, int me, const char *name, const void *put, void *get,
                 size_t bytes)
{
	char path[4096], temporary[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.%d", folder, name, me);
	snprintf(temporary, sizeof(temporary), "%s/%s.%d.new", folder, name, me);
	f = must(fopen(temporary, "w"), temporary);
	if (fwrite(put, 1, bytes, f) != bytes || fclose(f) != 0 || rename(temporary, path) != 0)
		die("%s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "%s/%s.%d", folder, name, 1 - me);
	while ((f = fopen(path, "r")) == NULL) {
		poll_all();
		usleep(1000); /* time: between two looks */
	}
	if (fread(get, 1, bytes, f) != bytes)
		die("%s is too short", path);
	fclose(f);
}

static void connect_all(void)
{
	struct ibv_qp_attr a = {
		.path_mtu = port.active_mtu,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = { .dlid = other.lid,
		             .port_num = 1,
		             .is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET,
		             .grh = { .dgid = other.gid,
		                      .sgid_index = (uint8_t)gid_index,
		                      .hop_limit = 64 } },
	};
	bool ok = true;

	for (uint32_t q = 0; q < QPS; q++) {
		a.dest_qp_num = other.qpn[q];
		a.qp_state = IBV_QPS_RTR;
		ok = ok &&
		     ibv_modify_qp(side[q].qp, &a,
		                   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		                           IBV_QP_MIN_RNR_TIMER) == 0;
		a.qp_state = IBV_QPS_RTS;
		ok = ok && ibv_modify_qp(side[q].qp, &a,
		                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		                                 IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		                                 IBV_QP_MAX_QP_RD_ATOMIC) == 0;
	}
	a.qp_state = IBV_QPS_RTR;
	ok = ok && ibv_modify_qp(ud, &a, IBV_QP_STATE) == 0;
	a.qp_state = IBV_QPS_RTS;
	ok = ok && ibv_modify_qp(ud, &a, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0;
	if (!ok)
		die("modify_qp failed: %s", strerror(errno));
	ah = must(ibv_create_ah(pd, &a.ah_attr), "create_ah");
}

/*
 * Drives all queue pairs until so many bytes were moved and the other side has said its last word.
 */
static void drive(uint64_t goal)
{
	static const uint32_t least[OPS] = { 1, 1, sizeof(struct head), 8, 8 };
	static const uint32_t most[OPS] = { MAX, MAX, MAX, 8, 8 };
	uint64_t bytes = 0, ops = 0;
	bool busy = true;

	while (busy) {
		busy = ud_completed != ud_sent;
		for (uint32_t q = 0; q < QPS; q++) {
			struct side *s = &side[q];

			while (bytes < goal && s->posted - s->completed < DEPTH) {
				enum op op = (enum op)(draw(s) % OPS);

				ops++;
				bytes += post_op(q, op, any_size(s, least[op], most[op]));
			}
			if (bytes >= goal && !s->said_bye && s->posted - s->completed < DEPTH)
				post_bye(q);
			busy = busy || !s->said_bye || !s->bye || s->posted != s->completed;
		}
		if (ud_sent < ops && ud_sent - ud_completed < DEPTH)
			post_datagram();
		poll_all();
	}
}

/* What the other side says it has done is what was done here. */
static void compare(void)
{
	for (uint32_t q = 0; q < QPS; q++) {
		const struct side *s = &side[q];

		if (s->told[SEND] != s->got || s->told[FETCH_ADD] != s->shared->added ||
		    s->told[CMP_SWAP] != s->shared->swapped)
			die("queue pair %u: %lu messages of %lu, added %lu of %lu, swapped %lu of "
			    "%lu",
			    q, s->got, s->told[SEND], s->shared->added, s->told[FETCH_ADD],
			    s->shared->swapped, s->told[CMP_SWAP]);
	}
	fill(side[0].out, 0, MAX);
	if (memcmp(known, side[0].out, MAX) != 0)
		die("memory that nobody writes has changed");
}

int main(int argc, char **argv)
{
	struct ibv_device **devices;
	uint64_t total[OPS] = { 0 }, sent;
	int me;

	if (argc < 4)
		die("usage: traffic FOLDER SIDE MEGABYTES [GID]");
	me = atoi(argv[2]);
	gid_index = argc > 4 ? atoi(argv[4]) : 0;
	devices = must(ibv_get_device_list(NULL), "get_device_list");
	context = must(ibv_open_device(must(devices[0], "a device")), "open_device");
	ibv_free_device_list(devices);
	pd = must(ibv_alloc_pd(context), "alloc_pd");
	cq = must(ibv_create_cq(context, 1024, NULL, NULL, 0), "create_cq");
	make();
	meet(argv[1], me, "card", &mine, &other, sizeof(mine));
	connect_all();
	for (uint32_t q = 0; q < QPS; q++)
		side[q].random = mix((uint64_t)me << 8 | q);
	meet(argv[1], me, "ready", &ud_sent, &sent, sizeof(sent));
	drive(strtoull(argv[3], NULL, 10) << 20);
	compare();
	meet(argv[1], me, "done", &ud_sent, &sent, sizeof(sent));
	if (ud_got == 0 || ud_got > sent)
		die("%lu datagrams of %lu", ud_got, sent);
	for (uint32_t q = 0; q < QPS; q++) {
		for (int op = 0; op < OPS; op++)
			total[op] += side[q].done[op];
	}
	printf("all is right: %s MB; %lu writes, %lu reads, %lu sends, %lu additions, %lu swaps; "
	       "%lu of %lu datagrams came\n",
	       argv[3], total[WRITE], total[READ], total[SEND], total[FETCH_ADD], total[CMP_SWAP],
	       ud_got, sent);
	return 0;
}
