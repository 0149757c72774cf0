/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - a sender without acknowledgements that never polls in vain: it posts, and sleeps until
 * completions come. The receiver sleeps all the time.
 *
 *	events FOLDER SIDE uc|ud ROUNDS
 *
 * SIDE 0 receives until the file FOLDER/done is there; SIDE 1 sends. What they tell each other is
 * in files of FOLDER.
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH 64
#define BIG (8 << 20) /* many times what a ring holds, in one message */

struct info {
	uint32_t qpn, rkey;
	uint64_t addr;
	union ibv_gid gid;
};

struct end {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	char *memory;
	bool ud;
	struct info it;
};

static void must(bool well, const char *what)
{
	if (well)
		return;
	fprintf(stderr, "events: %s\n", what);
	exit(1);
}

static void put(const char *name, const void *data, size_t n)
{
	char other[64];
	int fd;

	snprintf(other, sizeof(other), "%s.new", name);
	fd = open(other, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	must(fd >= 0 && write(fd, data, n) == (ssize_t)n, "a file cannot be written");
	close(fd);
	must(rename(other, name) == 0, "a file cannot be renamed");
}

static void get(const char *name, void *data, size_t n)
{
	int fd;

	while ((fd = open(name, O_RDONLY)) < 0)
		usleep(1000); /* time: between two looks */
	must(read(fd, data, n) == (ssize_t)n, "a file cannot be read");
	close(fd);
}

static void create(struct end *e)
{
	struct ibv_qp_init_attr init = { .qp_type = e->ud ? IBV_QPT_UD : IBV_QPT_UC,
		                         .cap = { DEPTH, DEPTH, 1, 1, 0 } };
	struct ibv_device **list = ibv_get_device_list(NULL);

	must(list != NULL && list[0] != NULL, "there is no device");
	e->context = ibv_open_device(list[0]);
	must(e->context != NULL, "the device cannot be opened");
	ibv_free_device_list(list);
	e->pd = ibv_alloc_pd(e->context);
	e->channel = ibv_create_comp_channel(e->context);
	must(e->pd != NULL && e->channel != NULL, "no protection domain, no channel");
	e->cq = ibv_create_cq(e->context, 4 * DEPTH, NULL, e->channel, 0);
	must(e->cq != NULL, "no completion queue");
	init.send_cq = init.recv_cq = e->cq;
	e->qp = ibv_create_qp(e->pd, &init);
	e->memory = calloc(1, BIG);
	must(e->qp != NULL && e->memory != NULL, "no queue pair, no memory");
	e->mr = ibv_reg_mr(e->pd, e->memory, BIG, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	must(e->mr != NULL, "memory cannot be registered");
}

static void connect_qp(struct end *e)
{
	struct ibv_ah_attr way = { .is_global = 1,
		                   .port_num = 1,
		                   .grh = { .dgid = e->it.gid, .sgid_index = 1, .hop_limit = 1 } };
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT,
		                 .port_num = 1,
		                 .qkey = 1,
		                 .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		                 .path_mtu = IBV_MTU_4096,
		                 .dest_qp_num = e->it.qpn,
		                 .ah_attr = way };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	int ret = ibv_modify_qp(e->qp, &a, mask | (e->ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));

	a.qp_state = IBV_QPS_RTR;
	mask = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	ret |= ibv_modify_qp(e->qp, &a, IBV_QP_STATE | (e->ud ? 0 : mask));
	a.qp_state = IBV_QPS_RTS;
	ret |= ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN);
	must(ret == 0, "the queue pair cannot be modified");
	e->ah = e->ud ? ibv_create_ah(e->pd, &way) : NULL;
	must(e->ah != NULL || !e->ud, "no address handle");
}

static void post(struct end *e, uint32_t bytes)
{
	struct ibv_sge sge = { (uintptr_t)e->memory, bytes, e->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
		                  .num_sge = 1,
		                  .opcode = e->ud ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
		                  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	if (e->ud) {
		wr.wr.ud.ah = e->ah;
		wr.wr.ud.remote_qpn = e->it.qpn;
		wr.wr.ud.remote_qkey = 1;
	} else {
		wr.wr.rdma.remote_addr = e->it.addr;
		wr.wr.rdma.rkey = e->it.rkey;
	}
	must(ibv_post_send(e->qp, &wr, &bad) == 0, "it cannot be posted");
}

static int take(struct end *e)
{
	struct ibv_wc wc[16];
	int n = ibv_poll_cq(e->cq, 16, wc);

	for (int i = 0; i < n; i++)
		must(wc[i].status == IBV_WC_SUCCESS, ibv_wc_status_str(wc[i].status));
	must(n >= 0, "the queue cannot be polled");
	return n;
}

/* Sleeps until that many have completed. */
static void wait_for(struct end *e, int left)
{
	struct ibv_cq *cq;
	void *context;

	while (left > 0) {
		int n = take(e);

		if (n == 0) {
			must(ibv_req_notify_cq(e->cq, 0) == 0, "no notice");
			n = take(e);
		}
		left -= n;
		if (n > 0)
			continue;
		must(ibv_get_cq_event(e->channel, &cq, &context) == 0, "no event");
		ibv_ack_cq_events(cq, 1);
	}
}

int main(int argc, char **argv)
{
	struct end e = { 0 };
	struct info me;
	char byte = 0;
	int side, rounds;

	must(argc == 5 && chdir(argv[1]) == 0, "FOLDER SIDE uc|ud ROUNDS");
	side = atoi(argv[2]);
	e.ud = strcmp(argv[3], "ud") == 0;
	rounds = atoi(argv[4]);
	create(&e);
	me = (struct info){ .qpn = e.qp->qp_num, .rkey = e.mr->rkey, .addr = (uintptr_t)e.memory };
	must(ibv_query_gid(e.context, 1, 1, &me.gid) == 0, "no address");
	put(side == 0 ? "side0" : "side1", &me, sizeof(me));
	get(side == 0 ? "side1" : "side0", &e.it, sizeof(e.it));
	connect_qp(&e);
	if (side == 0) {
		put("ready", &byte, 1);
		get("done", &byte, 1);
		return 0;
	}
	get("ready", &byte, 1);
	for (int i = 0; i < rounds; i++) {
		for (int k = 0; k < DEPTH; k++)
			post(&e, e.ud ? 4096 : 65536);
		wait_for(&e, DEPTH);
		if (e.ud)
			continue;
		post(&e, BIG);
		wait_for(&e, 1);
	}
	put("done", &byte, 1);
	printf("%d rounds, all completed\n", rounds);
	return 0;
}
