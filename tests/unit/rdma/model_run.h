/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_run.h - carries a program of model.h out, beside a simple model that says what must come of
 * it: the operations of one direction of a connection happen one after the other, each once.
 *
 * Each direction has its own area at the receiver, its own source at the sender, and slots for what
 * is received and read, so no other direction can interfere. READs are not ordered with what
 * follows them; a fence is added where the result would depend on it.
 */
#ifndef WF_TESTS_MODEL_RUN_H
#define WF_TESTS_MODEL_RUN_H

#include "model_state.h"

static inline uint8_t *model_take(struct model_run *r, uint32_t host, uint32_t size, uint8_t fill)
{
	uint8_t *at = r->arena[host] + r->used[host];

	r->used[host] += (size + 63) / 64 * 64;
	rig_must(r->used[host] <= MODEL_ARENA);
	memset(at, fill, size);
	return at;
}

static inline void model_setup_dir(struct model_run *r, uint32_t link, uint32_t side)
{
	const struct model_link *l = &r->prog->link[link];
	struct model_dir *d = &r->dir[link][side];
	uint32_t to = l->host[1 - side];

	d->src = model_take(r, l->host[side], MODEL_SRC, 0);
	for (uint32_t i = 0; i < MODEL_SRC; i++)
		d->src[i] = (uint8_t)wf_mix64(i + link * 100000 + side * 50000 + 1);
	d->rw = model_take(r, to, MODEL_RW, 0);
	d->rw_mr = rig_reg(&r->rig.host[to], d->rw, MODEL_RW,
	                   WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE | WF_ACCESS_MW_BIND);
	rig_must(wf_mw_create(r->rig.host[to].pd, WF_MW_TYPE_2, &d->mw) == 0);
	d->mw_rkey = wf_mw_rkey(d->mw);
}

static inline void model_setup_link(struct model_run *r, uint32_t link)
{
	static const struct wf_cc_fixed_param rate = { .rate = UINT64_C(2000000000),
		                                       .window = 20000 };
	const struct model_link *l = &r->prog->link[link];
	struct wf_qp_attr attr;

	rig_attr_defaults(&attr);
	attr.path_mtu = (enum wf_mtu)l->mtu;
	attr.max_rd_atomic = attr.max_dest_rd_atomic = l->max_rd;
	for (uint32_t side = 0; side < 2; side++) {
		struct rig_host *h = &r->rig.host[l->host[side]];
		struct wf_ah_attr ah = { .dest = l->host[1 - side] };
		struct wf_qp_init init;

		rig_init_qp(&init, h, (enum wf_qp_type)l->type);
		init.sq_sig_all = l->sig_all;
		init.srq = l->srq ? r->srq[l->host[side]] : NULL;
		init.tune = (struct wf_qp_tune){
			.cc = l->paced ? &wf_cc_fixed : NULL,
			.cc_param = l->paced ? &rate : NULL,
			.cnp_interval = 4 * WF_US,
			.recovery = l->selective ? WF_RECOVERY_SELECTIVE : WF_RECOVERY_GO_BACK_N,
			.window = l->window,
			.reorder = l->reorder,
			.ack_every = l->ack_every,
			.credits = l->credits,
			.ecn_echo = true,
		};
		rig_must(wf_qp_create(h->pd, &init, &r->qp[link][side]) == 0);
		rig_must(wf_ah_create(h->pd, &ah, &r->ah[link][side]) == 0);
		model_setup_dir(r, link, side);
	}
	rig_connect(r->qp[link][0], l->host[0], r->qp[link][1], l->host[1], &attr, l->psn);
	/* Half of them, whatever they are otherwise. */
	for (uint32_t side = 0; side < 2; side++)
		wf_qp_set_backoff(r->qp[link][side], l->psn % 2 != 0);
}

static inline void model_setup(struct model_run *r, const struct model_prog *prog)
{
	struct wf_srq_attr srq = { .max_wr = 256, .max_sge = 4 };
	struct wf_hca_attr hca;

	wf_hca_attr_defaults(&hca);
	hca.max_qp = 64;
	hca.max_mr = 256;
	if (prog->apm) {
		hca.ports = 2;
		hca.lag = WF_LAG_OWN;
		hca.port_step = prog->hosts;
	}
	r->prog = prog;
	rig_init(&r->rig, prog->hosts, &hca, prog->seed);
	r->rig.faults = prog->faults;
	if (prog->apm) {
		r->rig.filter = model_filter;
		r->rig.ctx = r;
	}
	for (uint32_t i = 0; i < prog->hosts; i++) {
		r->arena[i] = malloc(MODEL_ARENA);
		rig_must(r->arena[i] != NULL);
		r->mr[i] =
			rig_reg(&r->rig.host[i], r->arena[i], MODEL_ARENA, WF_ACCESS_LOCAL_WRITE);
		rig_must(wf_srq_create(r->rig.host[i].pd, &srq, &r->srq[i]) == 0);
	}
	for (uint32_t i = 0; i < prog->links; i++)
		model_setup_link(r, i);
}

/* A completion of a receive: the next message of its direction, whole and in its slot. */
static inline void model_received(struct model_run *r, struct model_dir *d, const struct wf_wc *wc,
                                  bool ud)
{
	const struct model_msg *m = &d->msg[d->received];
	const uint8_t *slot = (const uint8_t *)(uintptr_t)wc->wr_id;
	uint32_t head = ud ? WF_GRH_LEN : 0;

	(void)r;
	rig_must(d->received < d->msgs);
	d->received++;
	rig_must(wc->byte_len == m->size + head);
	if (m->kind == MODEL_WRITE_IMM) {
		rig_must(wc->opcode == WF_WC_RECV_RDMA_WITH_IMM && slot[0] == 0xee);
	} else {
		rig_must(wc->opcode == WF_WC_RECV);
		rig_must(memcmp(slot + head, m->src, m->size) == 0);
		rig_must(slot[head + m->size] == 0xee);
	}
	if (m->kind == MODEL_SEND_INV)
		rig_must(wc->flags == WF_WC_WITH_INV && wc->imm == m->imm);
	else if (m->kind != MODEL_SEND)
		rig_must(wc->flags == WF_WC_WITH_IMM && wc->imm == m->imm);
}

static inline void model_completed(struct model_dir *d, const struct wf_wc *wc)
{
	rig_must(d->completed < d->wcs);
	rig_must(wc->wr_id == d->wc[d->completed].id);
	rig_must(wc->opcode == d->wc[d->completed].opcode);
	d->completed++;
}

static inline void model_poll(struct model_run *r)
{
	struct wf_wc wc;

	for (uint32_t h = 0; h < r->prog->hosts; h++) {
		while (rig_poll(&r->rig, h, &wc)) {
			uint32_t i = 0;

			if (wc.status != WF_WC_SUCCESS)
				rig_die(__FILE__, __LINE__, wf_wc_status_name(wc.status));
			while (r->prog->link[i / 2].host[i % 2] != h ||
			       wf_qp_num(r->qp[i / 2][i % 2]) != wc.qp_num)
				rig_must(++i < 2 * r->prog->links);
			if (wc.opcode >= WF_WC_RECV)
				model_received(r, &r->dir[i / 2][1 - i % 2], &wc,
				               r->prog->link[i / 2].type == WF_QPT_UD);
			else
				model_completed(&r->dir[i / 2][i % 2], &wc);
		}
	}
}

/* Posts a receive for what comes in direction d. */
static inline void model_post_recv(struct model_run *r, uint32_t link, uint32_t side)
{
	const struct model_link *l = &r->prog->link[link];
	uint32_t host = l->host[1 - side];
	uint8_t *at = model_take(r, host, WF_GRH_LEN + MODEL_MSG + 1, 0xee);
	struct wf_sge sge[2] = { rig_sge(at, 1500, r->mr[host]),
		                 rig_sge(at + 1500, WF_GRH_LEN + MODEL_MSG - 1500, r->mr[host]) };
	struct wf_recv_wr wr = { .wr_id = (uintptr_t)at, .sge = sge, .num_sge = 2 };
	const struct wf_recv_wr *bad;

	r->dir[link][side].recvs++;
	if (l->srq)
		rig_must(wf_srq_post_recv(r->srq[host], &wr, &bad) == 0);
	else
		rig_must(wf_qp_post_recv(r->qp[link][1 - side], &wr, &bad) == 0);
}

/* Whatever was posted is carried out: there are receives for all, and time passes. */
static inline void model_sync(struct model_run *r)
{
	uint32_t need[RIG_HOSTS] = { 0 }, have[RIG_HOSTS] = { 0 };
	uint64_t steps = 0;

	for (uint32_t i = 0; i < 2 * r->prog->links; i++) {
		struct model_dir *d = &r->dir[i / 2][i % 2];
		uint32_t host = r->prog->link[i / 2].host[1 - i % 2];

		while (!r->prog->link[i / 2].srq && d->recvs < d->msgs)
			model_post_recv(r, i / 2, i % 2);
		need[host] += r->prog->link[i / 2].srq ? d->msgs : 0;
		have[host] += r->prog->link[i / 2].srq ? d->recvs : 0;
	}
	for (uint32_t i = 0; i < 2 * r->prog->links; i++) {
		uint32_t host = r->prog->link[i / 2].host[1 - i % 2];

		for (; r->prog->link[i / 2].srq && have[host] < need[host]; have[host]++)
			model_post_recv(r, i / 2, i % 2);
	}
	while (rig_step(&r->rig, WF_TIME_NEVER - 1)) {
		model_poll(r);
		rig_must(++steps < 2000000);
	}
	model_poll(r);
}

#endif
