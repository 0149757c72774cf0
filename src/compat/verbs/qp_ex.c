/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp_ex.c - the extended way to post: work requests are built up piece by piece and posted all
 * together, or not at all.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compat/verbs/verbs_priv.h"

static struct wv_qp *to_qp(struct ibv_qp_ex *ex)
{
	return (struct wv_qp *)(void *)ex;
}

/* Makes room for n elements of size bytes in *at. */
static bool grow(void **at, size_t size, size_t n, size_t max)
{
	void *more = realloc(*at, n > max ? n * size : max * size);

	if (more != NULL)
		*at = more;
	return more != NULL;
}

/* Begins a work request; NULL when there is no memory, which ibv_wr_complete() will say. */
static struct wf_send_wr *begin(struct ibv_qp_ex *ex, enum wf_wr_opcode opcode)
{
	struct wv_build *b = &to_qp(ex)->build;
	struct wf_send_wr *wr;

	if (b->n == b->max) {
		uint32_t max = b->max != 0 ? 2 * b->max : 64;

		if (!grow((void **)&b->wr, sizeof(*b->wr), max, max) ||
		    !grow((void **)&b->ref, sizeof(*b->ref), max, max)) {
			b->error = ENOMEM;
			return NULL;
		}
		b->max = max;
	}
	assert(b->n < b->max && b->n_sge <= b->max_sge && b->n_bytes <= b->max_bytes);
	memset(&b->ref[b->n], 0, sizeof(b->ref[b->n]));
	b->ref[b->n].sge = b->n_sge;
	wr = &b->wr[b->n++];
	memset(wr, 0, sizeof(*wr));
	wr->wr_id = ex->wr_id;
	wr->opcode = opcode;
	wr->flags = ex->wr_flags & ~(unsigned int)IBV_SEND_INLINE;
	return wr;
}

/* The work request that is being built; NULL: there is none. */
static struct wf_send_wr *present(struct ibv_qp_ex *ex)
{
	struct wv_build *b = &to_qp(ex)->build;

	return b->n != 0 && b->error == 0 ? &b->wr[b->n - 1] : NULL;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t compare,
                              uint64_t swap)
{
	struct wf_send_wr *wr = begin(ex, WF_WR_ATOMIC_CMP_AND_SWP);

	if (wr == NULL)
		return;
	wr->atomic.addr = addr;
	wr->atomic.rkey = rkey;
	wr->atomic.compare_add = compare;
	wr->atomic.swap = swap;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t add)
{
	struct wf_send_wr *wr = begin(ex, WF_WR_ATOMIC_FETCH_AND_ADD);

	if (wr == NULL)
		return;
	wr->atomic.addr = addr;
	wr->atomic.rkey = rkey;
	wr->atomic.compare_add = add;
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
                       const struct ibv_mw_bind_info *info)
{
	struct wf_send_wr *wr = begin(ex, WF_WR_BIND_MW);

	if (wr == NULL)
		return;
	wr->mw.mw = ((struct wv_mw *)(void *)mw)->mw;
	wr->mw.rkey = rkey;
	wr->mw.bind = (struct wf_mw_bind){
		.mr = info->mr != NULL ? ((struct wv_mr *)(void *)info->mr)->mr : NULL,
		.addr = info->addr,
		.length = info->length,
		.access = info->mw_access_flags & WV_MW_ACCESS,
	};
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	struct wf_send_wr *wr = begin(ex, WF_WR_LOCAL_INV);

	if (wr != NULL)
		wr->imm = rkey;
}

static void rdma(struct ibv_qp_ex *ex, enum wf_wr_opcode opcode, uint32_t rkey, uint64_t addr,
                 uint32_t imm)
{
	struct wf_send_wr *wr = begin(ex, opcode);

	if (wr == NULL)
		return;
	wr->rdma.addr = addr;
	wr->rdma.rkey = rkey;
	wr->imm = imm;
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	rdma(ex, WF_WR_RDMA_READ, rkey, addr, 0);
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	rdma(ex, WF_WR_RDMA_WRITE, rkey, addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, __be32 imm)
{
	rdma(ex, WF_WR_RDMA_WRITE_WITH_IMM, rkey, addr, be32toh(imm));
}

static void wr_send(struct ibv_qp_ex *ex)
{
	(void)begin(ex, WF_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	struct wf_send_wr *wr = begin(ex, WF_WR_SEND_WITH_IMM);

	if (wr != NULL)
		wr->imm = be32toh(imm);
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	struct wf_send_wr *wr = begin(ex, WF_WR_SEND_WITH_INV);

	if (wr != NULL)
		wr->imm = rkey;
}

static void wr_send_tso(struct ibv_qp_ex *ex, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
	(void)hdr;
	(void)hdr_sz;
	(void)mss;
	to_qp(ex)->build.error = EOPNOTSUPP;
}

static void wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, const void *value)
{
	struct wf_send_wr *wr = begin(ex, WF_WR_ATOMIC_WRITE);

	if (wr == NULL)
		return;
	wr->atomic.addr = addr;
	wr->atomic.rkey = rkey;
	memcpy(&wr->atomic.swap, value, sizeof(wr->atomic.swap));
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t srqn)
{
	struct wf_send_wr *wr = present(ex);

	if (wr != NULL)
		wr->srqn = srqn;
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct wf_send_wr *wr = present(ex);

	if (wr == NULL)
		return;
	wr->ud.ah = ((struct wv_ah *)(void *)ah)->ah;
	wr->ud.qpn = qpn;
	wr->ud.qkey = qkey;
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_sge *list)
{
	struct wv_build *b = &to_qp(ex)->build;

	if (present(ex) == NULL)
		return;
	if (b->n_sge + n > b->max_sge) {
		uint32_t max = 2 * (b->n_sge + (uint32_t)n) + 64;

		if (!grow((void **)&b->sge, sizeof(*b->sge), max, max)) {
			b->error = ENOMEM;
			return;
		}
		b->max_sge = max;
	}
	memcpy(&b->sge[b->n_sge], list, n * sizeof(*list));
	b->ref[b->n - 1].sge = b->n_sge;
	b->ref[b->n - 1].n_sge = (uint32_t)n;
	b->n_sge += (uint32_t)n;
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(ex, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_data_buf *buf)
{
	struct wv_build *b = &to_qp(ex)->build;
	struct ibv_sge sge = { .lkey = 0 };
	size_t total = 0;

	if (present(ex) == NULL)
		return;
	for (size_t i = 0; i < n; i++)
		total += buf[i].length;
	if (total > UINT32_MAX / 2) {
		b->error = EINVAL;
		return;
	}
	if (b->n_bytes + total > b->max_bytes) {
		size_t max = 2 * (b->n_bytes + total) + 1024;

		if (!grow((void **)&b->bytes, 1, max, max)) {
			b->error = ENOMEM;
			return;
		}
		b->max_bytes = max;
	}
	sge.length = (uint32_t)total;
	wr_set_sge_list(ex, 1, &sge);
	if (b->error != 0)
		return;
	b->ref[b->n - 1].is_inline = true;
	b->ref[b->n - 1].bytes = b->n_bytes;
	for (size_t i = 0; i < n; i++) {
		memcpy(b->bytes + b->n_bytes, buf[i].addr, buf[i].length);
		b->n_bytes += buf[i].length;
	}
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(ex, 1, &buf);
}

static void clear(struct wv_build *b)
{
	b->n = b->n_sge = 0;
	b->n_bytes = 0;
	b->error = 0;
}

static void wr_start(struct ibv_qp_ex *ex)
{
	clear(&to_qp(ex)->build);
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	clear(&to_qp(ex)->build);
}

/* Where things are is final only now: the arrays may have moved. */
static void settle(struct wv_build *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		b->wr[i].next = i + 1 < b->n ? &b->wr[i + 1] : NULL;
		b->wr[i].sge = b->sge + b->ref[i].sge;
		b->wr[i].num_sge = b->ref[i].n_sge;
		if (b->ref[i].is_inline) {
			b->sge[b->ref[i].sge].addr = (uintptr_t)(b->bytes + b->ref[i].bytes);
			b->wr[i].flags |= WF_SEND_INLINE;
		}
	}
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct wv_qp *qp = to_qp(ex);
	struct wv_build *b = &qp->build;
	const struct wf_send_wr *refused;
	int ret = b->error;

	if (ret == 0 && b->n != 0) {
		settle(b);
		if (!wv_lock(ex->qp_base.context))
			return EIO;
		ret = -wf_qp_post_send(qp->qp, b->wr, &refused);
		wf_nic_kick(wv_nic(ex->qp_base.context));
		wv_unlock(ex->qp_base.context);
	}
	clear(b);
	return ret;
}

void wv_qp_ex_init(struct wv_qp *qp)
{
	struct ibv_qp_ex *ex = &qp->ex;

	qp->extended = true;
	ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	ex->wr_bind_mw = wr_bind_mw;
	ex->wr_local_inv = wr_local_inv;
	ex->wr_rdma_read = wr_rdma_read;
	ex->wr_rdma_write = wr_rdma_write;
	ex->wr_rdma_write_imm = wr_rdma_write_imm;
	ex->wr_send = wr_send;
	ex->wr_send_imm = wr_send_imm;
	ex->wr_send_inv = wr_send_inv;
	ex->wr_send_tso = wr_send_tso;
	ex->wr_atomic_write = wr_atomic_write;
	ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_set_xrc_srqn = wr_set_xrc_srqn;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
}

void wv_qp_ex_fini(struct wv_qp *qp)
{
	free(qp->build.wr);
	free(qp->build.ref);
	free(qp->build.sge);
	free(qp->build.bytes);
}
