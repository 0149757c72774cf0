/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_rdma.c - what a packet costs the transport: nanoseconds of CPU for a 4 KB WRITE packet at
 * the requester (post, send, hear the ACK, complete) and at the responder (receive, acknowledge).
 *
 * The first rows have a message and an ACK to each packet; the others coalesce ACKs. Two adapters
 * without payload bytes, packets handed over by value, 10 queue pairs that send out of
 * 10 and out of 10,000 that are connected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "rdma/cq.h"
#include "rdma/hca.h"
#include "rdma/mr.h"
#include "rdma/qp.h"

#define SENDERS 10
#define BURST 160
#define ROUNDS 20000
#define DEPTH 32

#define MUST(x) ((x) ? (void)0 : die(#x))

struct end {
	struct wf_hca *hca;
	struct wf_pd *pd;
	struct wf_cq *cq;
	struct wf_mr *mr;
	struct wf_qp **qp;
};

static void die(const char *what)
{
	fprintf(stderr, "bench_rdma: not true: %s\n", what);
	exit(1);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void make_end(struct end *e, uint32_t host, uint32_t qps, enum wf_recovery recovery)
{
	struct wf_mr_attr mr = { .iova = 0x10000,
		                 .length = 1 << 30,
		                 .access = WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE_WRITE };
	struct wf_hca_attr attr;

	wf_hca_attr_defaults(&attr);
	attr.host = host;
	attr.max_qp = qps;
	attr.data = false;
	MUST(wf_hca_create(&attr, wf_mem_heap(), &e->hca) == 0);
	MUST(wf_pd_create(e->hca, &e->pd) == 0);
	MUST(wf_cq_create(e->hca, 65536, &e->cq) == 0);
	MUST(wf_mr_reg(e->pd, &mr, &e->mr) == 0);
	e->qp = calloc(qps, sizeof(struct wf_qp *));
	MUST(e->qp != NULL);
	for (uint32_t i = 0; i < qps; i++) {
		struct wf_qp_init init = {
			.type = WF_QPT_RC,
			.send_cq = e->cq,
			.recv_cq = e->cq,
			.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1 },
			.tune = { .cnp_interval = 50 * WF_US, .recovery = recovery },
		};

		MUST(wf_qp_create(e->pd, &init, &e->qp[i]) == 0);
	}
}

static void bring_up(struct wf_qp *qp, uint32_t dest, uint32_t qpn)
{
	struct wf_qp_attr attr = {
		.qp_state = WF_QPS_INIT,
		.port_num = 1,
		.path_mtu = WF_MTU_4096,
		.qp_access_flags = WF_ACCESS_REMOTE_WRITE,
		.dest_qp_num = qpn,
		.ah_attr = { .dest = dest },
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};

	MUST(wf_qp_modify(qp, &attr,
	                  WF_QP_STATE | WF_QP_PKEY_INDEX | WF_QP_PORT | WF_QP_ACCESS_FLAGS) == 0);
	attr.qp_state = WF_QPS_RTR;
	MUST(wf_qp_modify(qp, &attr,
	                  WF_QP_STATE | WF_QP_AV | WF_QP_PATH_MTU | WF_QP_DEST_QPN | WF_QP_RQ_PSN |
	                          WF_QP_MAX_DEST_RD_ATOMIC | WF_QP_MIN_RNR_TIMER) == 0);
	attr.qp_state = WF_QPS_RTS;
	MUST(wf_qp_modify(qp, &attr,
	                  WF_QP_STATE | WF_QP_TIMEOUT | WF_QP_RETRY_CNT | WF_QP_RNR_RETRY |
	                          WF_QP_SQ_PSN | WF_QP_MAX_QP_RD_ATOMIC) == 0);
}

static void post(const struct end *from, const struct end *to, uint64_t qp, uint32_t size)
{
	struct wf_sge sge = { .addr = 0x10000, .length = size, .lkey = wf_mr_lkey(from->mr) };
	struct wf_send_wr wr = {
		.wr_id = qp,
		.opcode = WF_WR_RDMA_WRITE,
		.flags = WF_SEND_SIGNALED,
		.sge = &sge,
		.num_sge = 1,
		.rdma = { .addr = 0x10000, .rkey = wf_mr_rkey(to->mr) },
	};
	const struct wf_send_wr *bad;

	MUST(wf_qp_post_send(from->qp[qp], &wr, &bad) == 0);
}

/* Up to BURST packets of e into pkt. Returns how many. */
static uint32_t send_burst(const struct end *e, struct wf_packet *pkt, wf_time now)
{
	uint32_t n = 0;

	while (n < BURST && wf_hca_tx(e->hca, now, &pkt[n], NULL))
		n++;
	return n;
}

static void take_burst(const struct end *e, const struct wf_packet *pkt, uint32_t n, wf_time now)
{
	for (uint32_t i = 0; i < n; i++)
		wf_hca_rx(e->hca, &pkt[i], NULL, now);
}

/* The responder's part: each packet answered at once, or all of them, and then what is due. */
static uint32_t answer_burst(const struct end *e, const struct wf_packet *pkt, uint32_t n,
                             bool each, struct wf_packet *ack, wf_time now)
{
	uint32_t m = 0;

	for (uint32_t i = 0; i < n; i++) {
		wf_hca_rx(e->hca, &pkt[i], NULL, now);
		if (each && wf_hca_tx(e->hca, now, &ack[m], NULL))
			m++;
	}
	return m + send_burst(e, ack + m, now);
}

static void repost(const struct end *a, const struct end *b, uint32_t size)
{
	struct wf_wc wc[32];
	int n;

	while ((n = wf_cq_poll(a->cq, 32, wc)) > 0) {
		for (int i = 0; i < n; i++) {
			MUST(wc[i].status == WF_WC_SUCCESS);
			post(a, b, wc[i].wr_id, size);
		}
	}
}

static void bench(uint32_t qps, uint32_t size, enum wf_recovery recovery, bool each)
{
	static struct wf_packet data[BURST], ack[2 * BURST];
	uint64_t cost_req = 0, cost_resp = 0, packets = 0, acks = 0;
	struct end a, b;
	wf_time now = 0;

	make_end(&a, 0, qps, recovery);
	make_end(&b, 1, qps, recovery);
	for (uint32_t i = 0; i < qps; i++) {
		bring_up(a.qp[i], 1, wf_qp_num(b.qp[i]));
		bring_up(b.qp[i], 0, wf_qp_num(a.qp[i]));
	}
	/* The senders are spread over the table. */
	for (uint32_t i = 0; i < SENDERS * 16; i++)
		post(&a, &b, i % SENDERS * (qps / SENDERS), size);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t t0 = cpu_ns(), t1, t2, t3;
		uint32_t n, m;

		now += 14 * WF_US;
		n = send_burst(&a, data, now);
		t1 = cpu_ns();
		m = answer_burst(&b, data, n, each, ack, now);
		t2 = cpu_ns();
		take_burst(&a, ack, m, now);
		repost(&a, &b, size);
		if (wf_hca_deadline(a.hca) <= now)
			wf_hca_tick(a.hca, now);
		t3 = cpu_ns();
		packets += n;
		acks += m;
		cost_req += t1 - t0 + t3 - t2;
		cost_resp += t2 - t1;
	}
	printf("%6u %8u  %-9s %10llu %8.3f %10.1f %10.1f\n", qps, size,
	       recovery == WF_RECOVERY_SELECTIVE ? "selective" : "go-back-n",
	       (unsigned long long)packets, (double)acks / (double)packets,
	       (double)cost_req / (double)packets, (double)cost_resp / (double)packets);
	wf_hca_destroy(a.hca);
	wf_hca_destroy(b.hca);
	free(a.qp);
	free(b.qp);
}

int main(void)
{
	static const uint32_t qps[] = { 10, 10000 };
	static const uint32_t sizes[] = { 4096, 65536, 1048576 };

	printf("4 KB WRITE packets, %d queue pairs send; ns of CPU per packet\n", SENDERS);
	printf("   qps  message  recovery     packets acks/pkt  requester  responder\n");
	for (size_t s = 0; s < WF_ARRAY_SIZE(sizes); s++) {
		for (size_t q = 0; q < WF_ARRAY_SIZE(qps); q++)
			bench(qps[q], sizes[s], WF_RECOVERY_GO_BACK_N, s == 0);
	}
	bench(SENDERS, 65536, WF_RECOVERY_SELECTIVE, false);
	return 0;
}
