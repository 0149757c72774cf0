/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig_pair.h - two hosts with a reliable connection between them.
 */
#ifndef WF_TESTS_RIG_PAIR_H
#define WF_TESTS_RIG_PAIR_H

#include "rig_qp.h"

#define PAIR_BYTES 20000

/* Two hosts, a queue pair each, a region each, all of it filled with a pattern. */
struct pair {
	struct rig rig;
	struct wf_qp *qp[2];
	struct wf_mr *mr[2];
	uint8_t *mem[2];
	struct wf_qp_attr attr; /* what they were connected with */
};

/* hca: NULL for the usual adapters. */
static inline void pair_init_with(struct pair *p, const struct wf_hca_attr *hca,
                                  const struct wf_qp_tune *tune, const struct wf_qp_attr *attr,
                                  uint32_t psn)
{
	struct wf_qp_attr usual;

	rig_init(&p->rig, 2, hca, 1);
	rig_attr_defaults(&usual);
	for (uint32_t i = 0; i < 2; i++) {
		p->mem[i] = malloc(PAIR_BYTES);
		rig_must(p->mem[i] != NULL);
		for (uint32_t k = 0; k < PAIR_BYTES; k++)
			p->mem[i][k] = (uint8_t)(k * 7 + (k >> 8) + i * 101);
		p->mr[i] = rig_reg(&p->rig.host[i], p->mem[i], PAIR_BYTES,
		                   WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE | WF_ACCESS_MW_BIND);
		p->qp[i] = rig_make_qp(&p->rig, i, WF_QPT_RC, tune);
	}
	p->attr = attr != NULL ? *attr : usual;
	rig_connect(p->qp[0], 0, p->qp[1], 1, &p->attr, psn);
}

static inline void pair_init(struct pair *p, const struct wf_qp_tune *tune,
                             const struct wf_qp_attr *attr, uint32_t psn)
{
	pair_init_with(p, NULL, tune, attr, psn);
}

static inline void pair_fini(struct pair *p)
{
	rig_fini(&p->rig);
	free(p->mem[0]);
	free(p->mem[1]);
}

static inline void expect_wc(struct pair *p, uint32_t host, uint64_t wr_id,
                             enum wf_wc_opcode opcode, uint32_t byte_len)
{
	struct wf_wc wc;

	rig_must(rig_poll(&p->rig, host, &wc));
	rig_must(wc.status == WF_WC_SUCCESS);
	rig_must(wc.wr_id == wr_id);
	rig_must(wc.opcode == opcode);
	rig_must(wc.byte_len == byte_len);
	rig_must(wc.qp_num == wf_qp_num(p->qp[host]));
}

static inline void expect_no_wc(struct pair *p)
{
	struct wf_wc wc;

	rig_must(!rig_poll(&p->rig, 0, &wc));
	rig_must(!rig_poll(&p->rig, 1, &wc));
}

/* Both queue pairs through RESET and up again. */
static inline void pair_recycle(struct pair *p, uint32_t psn)
{
	rig_reset_qp(p->qp[0]);
	rig_reset_qp(p->qp[1]);
	rig_connect(p->qp[0], 0, p->qp[1], 1, &p->attr, psn);
}

/* An RDMA WRITE of size bytes from host 0 to the upper half of host 1, signaled. */
static inline void pair_post_write(struct pair *p, uint64_t wr_id, uint32_t size)
{
	struct wf_sge sge = rig_sge(p->mem[0], size, p->mr[0]);
	struct wf_send_wr wr = {
		.wr_id = wr_id,
		.opcode = WF_WR_RDMA_WRITE,
		.flags = WF_SEND_SIGNALED,
		.rdma = { .addr = (uintptr_t)p->mem[1] + PAIR_BYTES / 2,
		          .rkey = wf_mr_rkey(p->mr[1]) },
	};

	rig_must(rig_post(p->qp[0], &wr, &sge) == 0);
}

/* It works: a WRITE goes through. */
static inline void pair_check_alive(struct pair *p)
{
	memset(p->mem[1] + PAIR_BYTES / 2, 0, 5000);
	pair_post_write(p, 4711, 5000);
	rig_run(&p->rig);
	expect_wc(p, 0, 4711, WF_WC_RDMA_WRITE, 0);
	expect_no_wc(p);
	rig_must(memcmp(p->mem[0], p->mem[1] + PAIR_BYTES / 2, 5000) == 0);
}

#endif
