/* SPDX-License-Identifier: Apache-2.0 */
/* mr.c - protection domains, memory regions, memory windows. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compat/verbs/verbs_priv.h"

/* Rights that change nothing here: where the memory's pages are does not matter. */
#define HINTS (IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE)

_Static_assert((int)WF_ACCESS_LOCAL_WRITE == (int)IBV_ACCESS_LOCAL_WRITE &&
                       (int)WF_ACCESS_ZERO_BASED == (int)IBV_ACCESS_ZERO_BASED &&
                       (int)WF_ACCESS_ON_DEMAND == (int)IBV_ACCESS_ON_DEMAND,
               "rights");
_Static_assert(WF_REREG_TRANSLATION == (int)IBV_REREG_MR_CHANGE_TRANSLATION &&
                       WF_REREG_PD == (int)IBV_REREG_MR_CHANGE_PD &&
                       WF_REREG_ACCESS == (int)IBV_REREG_MR_CHANGE_ACCESS,
               "what is registered anew");
_Static_assert((int)WF_MW_TYPE_2 == (int)IBV_MW_TYPE_2, "kinds of windows");

/* Of protection domains; under the lock of the adapter. */
static uint32_t last_pd;

/* The lowest addresses, where no program has anything. */
#define NOTHING UINT64_C(4096)

struct ibv_pd *ibv_alloc_pd(struct ibv_context *c)
{
	struct wv_pd *pd = wv_handle_make(sizeof(*pd), WV_PD);
	int ret;

	if (pd == NULL)
		return NULL;
	pd->ibv.context = c;
	if (!wv_lock(c)) {
		wv_handle_free(pd);
		return wv_fail(EIO);
	}
	ret = wf_pd_create(wf_nic_hca(wv_nic(c)), &pd->pd);
	pd->ibv.handle = ++last_pd;
	wv_unlock(c);
	if (ret != 0) {
		wv_handle_free(pd);
		return wv_fail(-ret);
	}
	return &pd->ibv;
}

/* Under the lock. */
static void leave_parent(struct wv_pd *pd)
{
	assert(pd->parent->children > 0 && pd->parent->pd == pd->pd);
	pd->parent->children--;
}

int ibv_dealloc_pd(struct ibv_pd *ibv)
{
	struct wv_pd *pd = (struct wv_pd *)(void *)ibv;
	int ret = 0;

	if (!wv_handle_is(pd, WV_PD))
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	if (pd->children != 0)
		ret = -EBUSY;
	else if (pd->parent == NULL)
		ret = wf_pd_destroy(pd->pd);
	else
		leave_parent(pd);
	wv_unlock(ibv->context);
	if (ret != 0)
		return -ret;
	wv_handle_free(pd);
	return 0;
}

struct ibv_pd *wv_pd_over(struct ibv_context *c, struct wv_pd *parent)
{
	struct wv_pd *pd = wv_handle_make(sizeof(*pd), WV_PD);

	if (pd == NULL)
		return NULL;
	pd->ibv.context = c;
	pd->ibv.handle = parent->ibv.handle;
	pd->parent = parent;
	pd->pd = parent->pd;
	if (!wv_lock(c)) {
		wv_handle_free(pd);
		return wv_fail(EIO);
	}
	parent->children++;
	wv_unlock(c);
	return &pd->ibv;
}

struct ibv_pd *wv_alloc_parent_domain(struct ibv_context *c,
                                      struct ibv_parent_domain_init_attr *attr)
{
	/* Our memory is our own; a program's allocator is of no use to it. */
	if ((attr->comp_mask & ~(uint32_t)(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
	                                   IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)) != 0)
		return wv_fail(EOPNOTSUPP);
	if (!wv_handle_is(attr->pd, WV_PD))
		return wv_fail(EINVAL);
	return wv_pd_over(c, (struct wv_pd *)(void *)attr->pd);
}

struct ibv_td *wv_alloc_td(struct ibv_context *c, struct ibv_td_init_attr *attr)
{
	struct ibv_td *td;

	if (attr->comp_mask != 0)
		return wv_fail(EOPNOTSUPP);
	td = calloc(1, sizeof(*td));
	if (td == NULL)
		return wv_fail(ENOMEM);
	td->context = c;
	return td;
}

int wv_dealloc_td(struct ibv_td *td)
{
	free(td);
	return 0;
}

/* Whether all of the range is mapped. */
static bool is_mapped(const void *addr, size_t length)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)addr & ~(page - 1);
	uintptr_t end = ((uintptr_t)addr + length + page - 1) & ~(page - 1);
	unsigned char vec[256];

	while (from < end) {
		uintptr_t n = end - from;

		if (n > sizeof(vec) * page)
			n = sizeof(vec) * page;
		if (mincore((void *)from, n, vec) != 0 && errno == ENOMEM)
			return false;
		from += n;
	}
	return true;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                             unsigned int access)
{
	struct wf_mr_attr attr = {
		.host = addr,
		.iova = (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova,
		.length = length,
		.access = access & ~(unsigned int)HINTS,
	};
	bool on_demand = (access & IBV_ACCESS_ON_DEMAND) != 0;
	struct wv_mr *mr;
	int ret;

	if (!wv_handle_is(pd, WV_PD))
		return wv_fail(EINVAL);
	if (on_demand && addr == NULL && length == SIZE_MAX) {
		/*
		 * All of the program's memory. An address of NULL would mean that there are no
		 * contents.
		 */
		attr.iova = NOTHING;
		attr.host = (void *)NOTHING;
		attr.length = length - NOTHING;
	} else if (!on_demand && !is_mapped(addr, length)) {
		return wv_fail(EFAULT);
	}
	mr = wv_handle_make(sizeof(*mr), WV_MR);
	if (mr == NULL)
		return NULL;
	if (!wv_lock(pd->context)) {
		wv_handle_free(mr);
		return wv_fail(EIO);
	}
	ret = wf_mr_reg(wv_pd(pd), &attr, &mr->mr);
	if (ret == 0)
		mr->ibv.lkey = mr->ibv.rkey = wf_mr_lkey(mr->mr);
	wv_unlock(pd->context);
	mr->ibv.context = pd->context;
	mr->ibv.pd = pd;
	mr->ibv.addr = addr;
	mr->ibv.length = length;
	mr->ibv.handle = mr->ibv.lkey >> 8;
	if (ret != 0) {
		wv_handle_free(mr);
		return wv_fail(-ret);
	}
	return &mr->ibv;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return reg_mr(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

#undef ibv_reg_mr_iova
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                               int access)
{
	return reg_mr(pd, addr, length, iova, (unsigned int)access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                                unsigned int access)
{
	return reg_mr(pd, addr, length, iova, access);
}

int ibv_rereg_mr(struct ibv_mr *ibv, int flags, struct ibv_pd *pd, void *addr, size_t length,
                 int access)
{
	struct wv_mr *mr = (struct wv_mr *)(void *)ibv;
	struct wf_mr_attr attr = {
		.host = addr,
		.iova = (uintptr_t)addr,
		.length = length,
		.access = (uint32_t)access & ~(uint32_t)HINTS,
	};
	bool move = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
	bool change_pd = (flags & IBV_REREG_MR_CHANGE_PD) != 0;
	int ret;

	errno = EINVAL;
	if ((flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0 || !wv_handle_is(mr, WV_MR) ||
	    (change_pd && !wv_handle_is(pd, WV_PD)) || (move && (addr == NULL || length == 0)))
		return IBV_REREG_MR_ERR_INPUT;
	if (move && !is_mapped(addr, length)) {
		errno = EFAULT;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if (!wv_lock(ibv->context))
		return IBV_REREG_MR_ERR_INPUT;
	ret = wf_mr_rereg(mr->mr, (uint32_t)flags, change_pd ? wv_pd(pd) : NULL, &attr);
	if (ret == 0)
		ibv->lkey = ibv->rkey = wf_mr_lkey(mr->mr);
	wv_unlock(ibv->context);
	if (ret != 0) {
		errno = -ret;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if (change_pd)
		ibv->pd = pd;
	if (move) {
		ibv->addr = addr;
		ibv->length = length;
	}
	return 0;
}

int ibv_dereg_mr(struct ibv_mr *ibv)
{
	struct wv_mr *mr = (struct wv_mr *)(void *)ibv;
	int ret;

	if (!wv_handle_is(mr, WV_MR) || mr->imported)
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	ret = wf_mr_dereg(mr->mr);
	wv_unlock(ibv->context);
	if (ret != 0)
		return -ret;
	wv_handle_free(mr);
	return 0;
}

struct ibv_mw *wv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct wv_mw *mw = wv_handle_make(sizeof(*mw), WV_MW);
	int ret;

	if (mw == NULL)
		return NULL;
	if (!wv_lock(pd->context)) {
		wv_handle_free(mw);
		return wv_fail(EIO);
	}
	ret = wf_mw_create(wv_pd(pd), (enum wf_mw_type)type, &mw->mw);
	if (ret == 0)
		mw->ibv.rkey = wf_mw_rkey(mw->mw);
	wv_unlock(pd->context);
	if (ret != 0) {
		wv_handle_free(mw);
		return wv_fail(-ret);
	}
	mw->ibv.context = pd->context;
	mw->ibv.pd = pd;
	mw->ibv.type = type;
	return &mw->ibv;
}

int wv_dealloc_mw(struct ibv_mw *ibv)
{
	struct wv_mw *mw = (struct wv_mw *)(void *)ibv;

	if (!wv_handle_is(mw, WV_MW))
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	wf_mw_destroy(mw->mw);
	wv_unlock(ibv->context);
	wv_handle_free(mw);
	return 0;
}

/* Has the pages of an sge of on-demand memory brought in. Returns 0 or an errno. */
static int prefetch(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, const struct ibv_sge *sge)
{
	bool write = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	uint32_t access = WF_ACCESS_ON_DEMAND | (write ? WF_ACCESS_LOCAL_WRITE : 0);
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from;
	char *at;
	int ret;

	if (!wv_lock(pd->context))
		return EIO;
	ret = wf_mr_find(wv_pd(pd), sge->lkey, sge->addr, sge->length, access, (void **)&at);
	wv_unlock(pd->context);
	if (ret != 0 || advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return -ret;
	from = (uintptr_t)at & ~(page - 1);
	ret = madvise((void *)from, (uintptr_t)at + sge->length - from,
	              write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
	/* A system that does not know how brings them in when they are used. */
	return ret == 0 || errno == EINVAL ? 0 : EFAULT;
}

int wv_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
                 struct ibv_sge *sge, uint32_t n)
{
	int ret = 0;

	if (advice > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return EOPNOTSUPP;
	if ((flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH) != 0 || n == 0 ||
	    !wv_handle_is(pd, WV_PD))
		return EINVAL;
	for (uint32_t i = 0; i < n && ret == 0; i++) {
		ret = prefetch(pd, advice, &sge[i]);
		/* What is not waited for tells of no error of its pages. */
		if (ret == EFAULT && (flags & IBV_ADVISE_MR_FLAG_FLUSH) == 0)
			ret = 0;
	}
	return ret;
}
