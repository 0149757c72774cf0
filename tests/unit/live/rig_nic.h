/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig_nic.h - a program's adapter without a daemon and without a thread, and links to it of which
 * the test holds the other side: what a hostile program could do. Used by unit tests and by a
 * fuzzer.
 */
#ifndef WF_TESTS_RIG_NIC_H
#define WF_TESTS_RIG_NIC_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/nic_priv.h"
#include "rdma/cq.h"
#include "rdma/mr.h"

#define RIG_PEERS 2
#define RIG_BYTES 65536
#define RIG_KEY_BYTE 0x5a

#define rig_must(x) ((x) ? (void)0 : rig_die(__FILE__, __LINE__, #x))

static inline void rig_die(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
	abort();
}

/* The adapter is on host 0, slot 1; the peers are on host 1, slots 1 and 2. */
struct rig {
	struct wf_nic *nic;
	struct wf_pipe far[RIG_PEERS]; /* the other side */
	struct wf_pd *pd;
	struct wf_cq *cq;
	struct wf_qp *rc; /* connected to queue pair (1 << bits | 2) of peer 0 */
	struct wf_qp *ud;
	struct wf_mr *mr; /* remote rights; its memory is `memory` */
	char memory[RIG_BYTES];
	char secret[RIG_BYTES]; /* registered without remote rights */
	struct wf_mr *hidden;
};

/* Called before payload is copied out of a ring, with where it is there; NULL: nobody is. */
static void (*rig_before_store)(void *payload);

static inline bool rig_store(void *to, const void *from, size_t n)
{
	if (rig_before_store != NULL)
		rig_before_store((void *)(uintptr_t)from);
	memmove(to, from, n);
	return true;
}

static inline void rig_completion(void *arg, struct wf_cq *cq)
{
	(void)arg;
	(void)cq;
}

static inline void rig_event(void *arg, const struct wf_event *event)
{
	(void)arg;
	(void)event;
}

static inline void rig_add_peer(struct rig *r, unsigned i)
{
	struct wf_nic_peer *p = calloc(1, sizeof(*p));
	int fd = wf_pipe_memory();

	rig_must(p != NULL && fd >= 0);
	rig_must(wf_pipe_open(&p->pipe, fd, 0, -1) == 0);
	rig_must(wf_pipe_open(&r->far[i], fd, 1, -1) == 0);
	close(fd);
	p->host = 1;
	p->slot = i + 1;
	p->link = WF_NIC_LINKED;
	r->nic->peers[r->nic->n_peers++] = p;
}

static inline void rig_make_hca(struct rig *r)
{
	struct wf_hca_attr attr;

	wf_hca_attr_defaults(&attr);
	attr.host = 0;
	attr.max_qp = 64;
	attr.max_mr = 64;
	attr.qpn_base = 1 << WF_LIVE_QPN_BITS;
	attr.qpn_bits = WF_LIVE_QPN_BITS;
	attr.place = wf_nic_place;
	attr.place_ctx = r->nic;
	attr.fetch = wf_nic_copy_far;
	attr.store = rig_store;
	attr.underway = wf_nic_underway;
	attr.underway_ctx = r->nic;
	rig_must(wf_hca_create(&attr, wf_mem_heap(), &r->nic->hca) == 0);
}

/* Connects the queue pair to peer 0, which is on host; from RESET. */
static inline void rig_connect(struct rig *r, uint32_t host, uint8_t timeout)
{
	struct wf_qp_attr a = {
		.qp_state = WF_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = WF_ACCESS_REMOTE,
		.path_mtu = WF_MTU_4096,
		.dest_qp_num = 1 << WF_LIVE_QPN_BITS | 2,
		.ah_attr = { .dest = host, .port_num = 1 },
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.timeout = timeout,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};

	rig_must(wf_qp_modify(r->rc, &a,
	                      WF_QP_STATE | WF_QP_PKEY_INDEX | WF_QP_PORT | WF_QP_ACCESS_FLAGS) ==
	         0);
	a.qp_state = WF_QPS_RTR;
	rig_must(wf_qp_modify(r->rc, &a,
	                      WF_QP_STATE | WF_QP_AV | WF_QP_PATH_MTU | WF_QP_DEST_QPN |
	                              WF_QP_RQ_PSN | WF_QP_MAX_DEST_RD_ATOMIC |
	                              WF_QP_MIN_RNR_TIMER) == 0);
	a.qp_state = WF_QPS_RTS;
	rig_must(wf_qp_modify(r->rc, &a,
	                      WF_QP_STATE | WF_QP_TIMEOUT | WF_QP_RETRY_CNT | WF_QP_RNR_RETRY |
	                              WF_QP_SQ_PSN | WF_QP_MAX_QP_RD_ATOMIC) == 0);
	wf_nic_bind(r->nic, r->rc, host, a.dest_qp_num);
}

static inline void rig_make_qps(struct rig *r)
{
	struct wf_qp_init init = { .type = WF_QPT_RC, .cap = { 64, 64, 4, 4, 64 } };
	struct wf_qp_attr a = { .qp_state = WF_QPS_INIT, .port_num = 1, .qkey = 0x1234 };

	init.send_cq = init.recv_cq = r->cq;
	rig_must(wf_qp_create(r->pd, &init, &r->rc) == 0);
	init.type = WF_QPT_UD;
	rig_must(wf_qp_create(r->pd, &init, &r->ud) == 0);
	rig_must(wf_qp_modify(r->ud, &a,
	                      WF_QP_STATE | WF_QP_PKEY_INDEX | WF_QP_PORT | WF_QP_QKEY) == 0);
	a.qp_state = WF_QPS_RTR;
	rig_must(wf_qp_modify(r->ud, &a, WF_QP_STATE) == 0);
	a.qp_state = WF_QPS_RTS;
	rig_must(wf_qp_modify(r->ud, &a, WF_QP_STATE | WF_QP_SQ_PSN) == 0);
	rig_connect(r, 1, 14);
}

static inline void rig_make_memory(struct rig *r)
{
	struct wf_mr_attr a = {
		.host = r->memory,
		.iova = (uintptr_t)r->memory,
		.length = sizeof(r->memory),
		.access = WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE,
	};

	rig_must(wf_mr_reg(r->pd, &a, &r->mr) == 0);
	a.host = r->secret;
	a.iova = (uintptr_t)r->secret;
	a.access = WF_ACCESS_LOCAL_WRITE;
	rig_must(wf_mr_reg(r->pd, &a, &r->hidden) == 0);
	memset(r->secret, RIG_KEY_BYTE, sizeof(r->secret));
}

static inline struct rig *rig_create(void)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct wf_nic *nic = calloc(1, sizeof(*nic));

	rig_must(r != NULL && nic != NULL);
	r->nic = nic;
	nic->cfg.completion = rig_completion;
	nic->cfg.event = rig_event;
	nic->sock = nic->events = nic->wake = -1;
	nic->slot = 1;
	nic->locked = true; /* by the test */
	nic->orphan = false;
	nic->table = calloc(1, wf_live_table_bytes(2));
	nic->stats = calloc(1, sizeof(*nic->stats));
	nic->bound = calloc((size_t)1 << WF_LIVE_QPN_BITS, sizeof(struct wf_nic_bound));
	nic->peers = calloc(RIG_PEERS, sizeof(struct wf_nic_peer *));
	rig_must(nic->table != NULL && nic->stats != NULL && nic->bound != NULL &&
	         nic->peers != NULL);
	nic->max_peers = RIG_PEERS;
	nic->table->n_hosts = 2;
	rig_make_hca(r);
	for (unsigned i = 0; i < RIG_PEERS; i++)
		rig_add_peer(r, i);
	rig_must(wf_pd_create(nic->hca, &r->pd) == 0);
	rig_must(wf_cq_create(nic->hca, 256, &r->cq) == 0);
	rig_make_memory(r);
	rig_make_qps(r);
	return r;
}

static inline void rig_destroy(struct rig *r)
{
	struct wf_nic *nic = r->nic;

	wf_nic_gsi_close(nic);
	for (uint32_t i = 0; i < 1u << WF_LIVE_QPN_BITS; i++)
		wf_nic_set_bound(nic, &nic->bound[i], NULL);
	for (uint32_t i = 0; i < nic->n_peers; i++)
		wf_nic_peer_break(nic, nic->peers[i]);
	wf_nic_reap(nic);
	rig_must(nic->gone == NULL);
	for (unsigned i = 0; i < RIG_PEERS; i++)
		wf_pipe_close(&r->far[i]);
	wf_hca_destroy(nic->hca);
	for (uint32_t i = 0; i < nic->n_groups; i++)
		free(nic->groups[i]);
	free(nic->groups);
	free(nic->remotes);
	free(nic->peers);
	free(nic->bound);
	free(nic->stats);
	free(nic->table);
	free(nic);
	free(r);
}

/* Peer i sends a packet, as it likes. */
static inline void rig_send(struct rig *r, unsigned i, const struct wf_packet *pkt,
                            const void *payload, uint32_t bytes)
{
	void *at = wf_ring_reserve(&r->far[i].tx, bytes);

	rig_must(at != NULL);
	if (bytes != 0)
		memcpy(at, payload, bytes);
	wf_ring_commit(&r->far[i].tx, pkt, bytes);
}

#endif
