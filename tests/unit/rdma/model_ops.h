/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_ops.h - the operations of a program, each with what the model makes of it, and the check of
 * everything at the end.
 */
#ifndef WF_TESTS_MODEL_OPS_H
#define WF_TESTS_MODEL_OPS_H

#include "model_run.h"

/* Splits [at, at + size) into up to pieces sges. */
static inline uint32_t model_split(struct wf_sge *sge, const uint8_t *at, uint32_t size,
                                   uint32_t pieces, const struct wf_mr *mr)
{
	uint32_t n = 0;

	for (; n + 1 < pieces && size > 1; n++) {
		sge[n] = rig_sge(at, size / 3, mr);
		at += size / 3;
		size -= size / 3;
	}
	sge[n++] = rig_sge(at, size, mr);
	return n;
}

/* Posts wr at side of link; the model waits for its completion where there will be one. */
static inline void model_post(struct model_run *r, uint32_t link, uint32_t side,
                              struct wf_send_wr *wr, enum wf_wc_opcode opcode)
{
	struct model_dir *d = &r->dir[link][side];
	const struct wf_send_wr *bad;

	wr->wr_id = ++r->next_id;
	if ((wr->flags & WF_SEND_SIGNALED) != 0 || r->prog->link[link].sig_all) {
		d->wc[d->wcs].id = wr->wr_id;
		d->wc[d->wcs++].opcode = (uint8_t)opcode;
	}
	rig_must(wf_qp_post_send(r->qp[link][side], wr, &bad) == 0);
}

static inline void model_data(struct model_run *r, const struct model_op *op)
{
	const struct model_link *l = &r->prog->link[op->link];
	struct model_dir *d = &r->dir[op->link][op->side];
	bool write = op->kind == MODEL_WRITE || op->kind == MODEL_WRITE_IMM ||
	             op->kind == MODEL_WRITE_MW;
	bool mw = op->kind == MODEL_WRITE_MW;
	static const uint8_t opcode[MODEL_KINDS] = {
		[MODEL_WRITE] = WF_WR_RDMA_WRITE,
		[MODEL_WRITE_MW] = WF_WR_RDMA_WRITE,
		[MODEL_SEND] = WF_WR_SEND,
		[MODEL_WRITE_IMM] = WF_WR_RDMA_WRITE_WITH_IMM,
		[MODEL_SEND_IMM] = WF_WR_SEND_WITH_IMM,
		[MODEL_SEND_INV] = WF_WR_SEND_WITH_INV,
	};
	struct wf_sge sge[4];
	struct wf_send_wr wr = {
		.opcode = (enum wf_wr_opcode)opcode[op->kind],
		.flags = op->flags,
		.imm = op->kind == MODEL_SEND_INV ? d->mw_rkey : (uint32_t)(r->next_id * 77 + 5),
		.sge = sge,
	};

	if (op->size > 256)
		wr.flags &= ~(uint32_t)WF_SEND_INLINE;
	wr.num_sge =
		model_split(sge, d->src + op->src, op->size, op->pieces, r->mr[l->host[op->side]]);
	if (write) {
		wr.rdma.addr = (uintptr_t)d->rw + op->off;
		wr.rdma.rkey = mw ? d->mw_rkey : wf_mr_rkey(d->rw_mr);
		wr.flags |= d->read_pending ? WF_SEND_FENCE : 0;
		d->read_pending = false;
		memcpy(d->shadow + op->off, d->src + op->src, op->size);
	}
	if (l->type == WF_QPT_UD) {
		wr.ud.ah = r->ah[op->link][op->side];
		wr.ud.qpn = wf_qp_num(r->qp[op->link][1 - op->side]);
		wr.ud.qkey = RIG_QKEY;
	}
	if (op->kind != MODEL_WRITE && !mw) {
		d->msg[d->msgs++] = (struct model_msg){
			.kind = op->kind, .size = op->size, .imm = wr.imm, .src = d->src + op->src
		};
		if (l->type != WF_QPT_RC && d->recvs < d->msgs)
			model_post_recv(r, op->link, op->side);
	}
	if (op->kind == MODEL_SEND_INV)
		d->bound = false;
	model_post(r, op->link, op->side, &wr, write ? WF_WC_RDMA_WRITE : WF_WC_SEND);
}

static inline struct model_slot *model_slot(struct model_run *r, const struct model_op *op,
                                            uint32_t size)
{
	struct model_dir *d = &r->dir[op->link][op->side];
	struct model_slot *slot = malloc(sizeof(*slot));

	rig_must(slot != NULL);
	slot->size = size;
	slot->at = model_take(r, r->prog->link[op->link].host[op->side], size + 1, 0xee);
	d->slot[d->slots++] = slot;
	return slot;
}

static inline void model_read(struct model_run *r, const struct model_op *op)
{
	struct model_dir *d = &r->dir[op->link][op->side];
	struct model_slot *slot = model_slot(r, op, op->size);
	const struct wf_mr *mr = r->mr[r->prog->link[op->link].host[op->side]];
	struct wf_sge sge[4];
	struct wf_send_wr wr = {
		.opcode = WF_WR_RDMA_READ,
		.flags = op->flags & ~WF_SEND_INLINE,
		.sge = sge,
		.num_sge = model_split(sge, slot->at, op->size, op->pieces, mr),
		.rdma = { .addr = (uintptr_t)d->rw + op->off, .rkey = wf_mr_rkey(d->rw_mr) },
	};

	memcpy(slot->want, d->shadow + op->off, op->size);
	d->read_pending = true;
	model_post(r, op->link, op->side, &wr, WF_WC_RDMA_READ);
}

static inline void model_atomic(struct model_run *r, const struct model_op *op)
{
	struct model_dir *d = &r->dir[op->link][op->side];
	struct model_slot *slot = model_slot(r, op, 8);
	struct wf_sge sge = rig_sge(slot->at, 8, r->mr[r->prog->link[op->link].host[op->side]]);
	uint32_t off = op->off & ~7U;
	bool add = op->kind == MODEL_FAA;
	uint64_t now;
	struct wf_send_wr wr = {
		.opcode = add ? WF_WR_ATOMIC_FETCH_AND_ADD : WF_WR_ATOMIC_CMP_AND_SWP,
		.flags = (op->flags & ~WF_SEND_INLINE) | (d->read_pending ? WF_SEND_FENCE : 0),
		.sge = &sge,
		.num_sge = 1,
		.atomic = { .addr = (uintptr_t)d->rw + off,
		            .rkey = wf_mr_rkey(d->rw_mr),
		            .compare_add = op->src,
		            .swap = op->size },
	};

	d->read_pending = false;
	memcpy(&now, d->shadow + off, 8);
	memcpy(slot->want, &now, 8);
	if (!add && (op->src & 1) != 0)
		wr.atomic.compare_add = now;
	if (add)
		now += op->src;
	else if (wr.atomic.compare_add == now)
		now = op->size;
	memcpy(d->shadow + off, &now, 8);
	model_post(r, op->link, op->side, &wr, add ? WF_WC_FETCH_ADD : WF_WC_COMP_SWAP);
}

/* What the receiving side does to its memory: bind, invalidate, register anew. */
static inline void model_memory(struct model_run *r, const struct model_op *op)
{
	struct model_dir *d = &r->dir[op->link][op->side];
	struct wf_mr_attr same = { .access = WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE |
		                             WF_ACCESS_MW_BIND };
	struct wf_send_wr wr = { .opcode = WF_WR_LOCAL_INV, .flags = op->flags & ~WF_SEND_INLINE };

	if (d->bound != (op->kind == MODEL_LOCAL_INV))
		return;
	model_sync(r);
	if (op->kind == MODEL_REREG) {
		rig_must(wf_mr_rereg(d->rw_mr, WF_REREG_ACCESS, NULL, &same) == 0);
		return;
	}
	if (op->kind == MODEL_BIND) {
		d->mw_rkey = wf_rkey_next(d->mw_rkey);
		wr.opcode = WF_WR_BIND_MW;
		wr.mw.mw = d->mw;
		wr.mw.rkey = d->mw_rkey;
		wr.mw.bind = (struct wf_mw_bind){ .mr = d->rw_mr,
			                          .addr = (uintptr_t)d->rw,
			                          .length = MODEL_RW,
			                          .access = WF_ACCESS_REMOTE_WRITE };
	}
	wr.imm = d->mw_rkey;
	d->bound = op->kind == MODEL_BIND;
	model_post(r, op->link, 1 - op->side, &wr,
	           op->kind == MODEL_BIND ? WF_WC_BIND_MW : WF_WC_LOCAL_INV);
	model_sync(r);
	if (d->bound)
		rig_must(wf_mw_rkey(d->mw) == d->mw_rkey);
}

/* Paths: what migrates by itself does so when something is sent and has no answer. */
static inline void model_paths(struct model_run *r, const struct model_op *op)
{
	struct wf_qp_attr attr = { .path_mig_state = WF_MIG_MIGRATED };

	if (op->kind == MODEL_REARM) {
		model_sync(r);
		model_rearm(r, op->link);
	} else if (!model_is_armed(r, op->link)) {
		return;
	} else if (op->kind == MODEL_CUT) {
		r->dead[op->link] = model_query(r, op->link, 0).port_num;
	} else {
		rig_must(wf_qp_modify(r->qp[op->link][op->side], &attr, WF_QP_PATH_MIG_STATE) == 0);
	}
}

static inline void model_do(struct model_run *r, const struct model_op *op)
{
	uint8_t type = r->prog->link[op->link].type;
	struct model_dir *d = &r->dir[op->link][op->side];

	if (op->kind >= MODEL_REARM) {
		model_paths(r, op);
		return;
	}
	if (type == WF_QPT_UC && op->kind > MODEL_SEND_IMM && op->kind != MODEL_RECV)
		return;
	if (type == WF_QPT_UD && op->kind != MODEL_SEND && op->kind != MODEL_SEND_IMM)
		return;
	switch ((enum model_kind)op->kind) {
	case MODEL_WRITE_MW:
	case MODEL_SEND_INV:
		if (!d->bound)
			return;
		model_data(r, op);
		break;
	case MODEL_WRITE:
	case MODEL_WRITE_IMM:
	case MODEL_SEND:
	case MODEL_SEND_IMM:
		model_data(r, op);
		break;
	case MODEL_READ:
		model_read(r, op);
		break;
	case MODEL_CAS:
	case MODEL_FAA:
		model_atomic(r, op);
		break;
	case MODEL_RECV:
		model_post_recv(r, op->link, op->side);
		break;
	case MODEL_BIND:
	case MODEL_LOCAL_INV:
	case MODEL_REREG:
		model_memory(r, op);
		break;
	case MODEL_REARM:
	case MODEL_MIGRATE:
	case MODEL_CUT:
	case MODEL_SYNC:
	case MODEL_KINDS:
		model_sync(r);
		break;
	}
}

static inline void model_check_dir(struct model_dir *d)
{
	rig_must(d->completed == d->wcs);
	rig_must(d->received == d->msgs);
	rig_must(memcmp(d->rw, d->shadow, MODEL_RW) == 0);
	for (uint32_t i = 0; i < d->slots; i++) {
		rig_must(memcmp(d->slot[i]->at, d->slot[i]->want, d->slot[i]->size) == 0);
		rig_must(d->slot[i]->at[d->slot[i]->size] == 0xee);
		free(d->slot[i]);
	}
}

/* Carries prog out and checks everything; does not return when something is wrong. */
static inline void model_run(const struct model_prog *prog)
{
	struct model_run *r = calloc(1, sizeof(*r));
	struct wf_event event;

	rig_must(r != NULL);
	model_setup(r, prog);
	for (uint32_t i = 0; i < prog->ops; i++) {
		model_do(r, &prog->op[i]);
		for (uint32_t k = 0; k < prog->op[i].steps; k++) {
			if (!rig_step(&r->rig, WF_TIME_NEVER - 1))
				break;
		}
		model_poll(r);
	}
	model_sync(r);
	for (uint32_t i = 0; i < 2 * prog->links; i++)
		model_check_dir(&r->dir[i / 2][i % 2]);
	for (uint32_t i = 0; i < prog->hosts; i++) {
		while (wf_hca_next_event(r->rig.host[i].hca, &event))
			rig_must(event.type == WF_EVENT_PATH_MIG);
		rig_must(wf_hca_deadline(r->rig.host[i].hca) == WF_TIME_NEVER);
	}
	rig_fini(&r->rig);
	for (uint32_t i = 0; i < prog->hosts; i++)
		free(r->arena[i]);
	free(r);
}

#endif
