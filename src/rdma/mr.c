/* SPDX-License-Identifier: Apache-2.0 */
/* mr.c - protection domains, memory regions and windows: the table of keys. */
#include "rdma/mr.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "rdma/hca_priv.h"

#define MW_ACCESS (WF_ACCESS_REMOTE | WF_ACCESS_ZERO_BASED)

int wf_pd_create(struct wf_hca *hca, struct wf_pd **pd_p)
{
	struct wf_pd *pd = hca->mem->alloc(hca->mem, sizeof(*pd));

	if (pd == NULL)
		return -ENOMEM;
	pd->hca = hca;
	wf_list_append(&hca->pds, &pd->link);
	*pd_p = pd;
	return 0;
}

int wf_pd_destroy(struct wf_pd *pd)
{
	struct wf_mem *mem = pd->hca->mem;

	if (pd->refs != 0)
		return -EBUSY;
	wf_list_remove(&pd->link);
	mem->free(mem, pd);
	return 0;
}

/* Takes a free entry of the table for pd, under a key part it did not have before; or NULL. */
static struct wf_region *region_take(struct wf_pd *pd, enum wf_region_kind kind)
{
	struct wf_hca *hca = pd->hca;
	struct wf_region *r = hca->free_region;
	uint32_t key;

	if (r == NULL)
		return NULL;
	assert(r->kind == WF_REGION_FREE && !r->valid);
	hca->free_region = r->parent;
	if (hca->free_region == NULL)
		hca->free_region_tail = &hca->free_region;
	key = wf_rkey_next(r->key);
	memset(r, 0, sizeof(*r));
	r->key = key;
	r->next_key = key;
	r->kind = (uint8_t)kind;
	r->pd = pd;
	pd->refs++;
	return r;
}

static void region_put(struct wf_region *r)
{
	struct wf_hca *hca = r->pd->hca;

	assert(r->kind != WF_REGION_FREE && r->windows == 0);
	assert(r->pd->refs > 0);
	r->pd->refs--;
	r->pd = NULL;
	r->kind = WF_REGION_FREE;
	r->valid = false;
	r->parent = NULL;
	*hca->free_region_tail = r;
	hca->free_region_tail = &r->parent;
}

/* IBTA 10.6.3: remote write needs local write, and a range must not wrap. */
static int check_access(uint32_t access)
{
	if ((access & ~(uint32_t)WF_ACCESS_ALL) != 0)
		return -EINVAL;
	if ((access & (WF_ACCESS_REMOTE_WRITE | WF_ACCESS_REMOTE_ATOMIC)) != 0 &&
	    (access & WF_ACCESS_LOCAL_WRITE) == 0)
		return -EINVAL;
	return 0;
}

static int check_range(const struct wf_mr_attr *attr)
{
	return attr->length != 0 && attr->iova + (attr->length - 1) < attr->iova ? -EINVAL : 0;
}

static void set_translation(struct wf_region *r, const struct wf_mr_attr *attr)
{
	r->iova = (r->access & WF_ACCESS_ZERO_BASED) != 0 ? 0 : attr->iova;
	r->length = attr->length;
	r->host = attr->host;
}

int wf_mr_reg(struct wf_pd *pd, const struct wf_mr_attr *attr, struct wf_mr **mr_p)
{
	struct wf_region *r;

	if (check_access(attr->access) != 0 || check_range(attr) != 0)
		return -EINVAL;
	r = region_take(pd, WF_REGION_MR);
	if (r == NULL)
		return -ENOMEM;
	r->access = (uint16_t)attr->access;
	r->invalidate = attr->invalidate;
	set_translation(r, attr);
	r->valid = true;
	*mr_p = wf_container_of(r, struct wf_mr, region);
	return 0;
}

int wf_mr_rereg(struct wf_mr *mr, uint32_t flags, struct wf_pd *pd, const struct wf_mr_attr *attr)
{
	struct wf_region *r = &mr->region;
	uint32_t all = WF_REREG_TRANSLATION | WF_REREG_PD | WF_REREG_ACCESS;

	if ((flags & ~all) != 0 || flags == 0)
		return -EINVAL;
	if (r->windows != 0)
		return -EBUSY;
	if ((flags & WF_REREG_ACCESS) != 0 && check_access(attr->access) != 0)
		return -EINVAL;
	if ((flags & WF_REREG_TRANSLATION) != 0 && check_range(attr) != 0)
		return -EINVAL;
	if ((flags & WF_REREG_PD) != 0 && pd->hca != r->pd->hca)
		return -EINVAL;

	if ((flags & WF_REREG_PD) != 0) {
		r->pd->refs--;
		r->pd = pd;
		pd->refs++;
	}
	if ((flags & WF_REREG_ACCESS) != 0)
		r->access = (uint16_t)attr->access;
	if ((flags & WF_REREG_TRANSLATION) != 0)
		set_translation(r, attr);
	if (!r->valid)
		r->key = r->next_key = wf_rkey_next(r->key);
	r->valid = true;
	return 0;
}

int wf_mr_dereg(struct wf_mr *mr)
{
	if (mr->region.windows != 0)
		return -EBUSY;
	region_put(&mr->region);
	return 0;
}

int wf_mr_find(const struct wf_pd *pd, uint32_t lkey, uint64_t addr, uint64_t length,
               uint32_t access, void **host_p)
{
	const struct wf_region *r =
		wf_region_check(pd->hca, pd, 0, lkey, addr, length, access, false);

	if (r == NULL)
		return -EINVAL;
	*host_p = wf_region_host(r, addr);
	return 0;
}

uint32_t wf_mr_lkey(const struct wf_mr *mr)
{
	return mr->region.key;
}

uint32_t wf_mr_rkey(const struct wf_mr *mr)
{
	return mr->region.key;
}

int wf_mw_create(struct wf_pd *pd, enum wf_mw_type type, struct wf_mw **mw_p)
{
	struct wf_region *r;

	if (type != WF_MW_TYPE_1 && type != WF_MW_TYPE_2)
		return -EINVAL;
	r = region_take(pd, type == WF_MW_TYPE_1 ? WF_REGION_MW1 : WF_REGION_MW2);
	if (r == NULL)
		return -ENOMEM;
	*mw_p = wf_container_of(r, struct wf_mw, region);
	return 0;
}

static void mw_unbind(struct wf_region *mw)
{
	if (mw->parent != NULL) {
		assert(mw->parent->windows > 0);
		mw->parent->windows--;
	}
	mw->parent = NULL;
	mw->valid = false;
}

void wf_mw_destroy(struct wf_mw *mw)
{
	mw_unbind(&mw->region);
	region_put(&mw->region);
}

uint32_t wf_mw_rkey(const struct wf_mw *mw)
{
	return mw->region.kind == WF_REGION_MW1 ? mw->region.next_key : mw->region.key;
}

/* IBTA 10.6.7: what a window may open, and on which region. */
static int check_bind(const struct wf_region *mr, uint64_t addr, uint64_t length, uint32_t access,
                      const struct wf_pd *pd)
{
	if (mr->kind != WF_REGION_MR || !mr->valid || mr->pd != pd ||
	    (mr->access & WF_ACCESS_MW_BIND) == 0)
		return -EINVAL;
	if ((access & ~(uint32_t)MW_ACCESS) != 0)
		return -EINVAL;
	if ((access & (WF_ACCESS_REMOTE_WRITE | WF_ACCESS_REMOTE_ATOMIC)) != 0 &&
	    (mr->access & WF_ACCESS_LOCAL_WRITE) == 0)
		return -EINVAL;
	if (addr < mr->iova || length > mr->length || addr - mr->iova > mr->length - length)
		return -EINVAL;
	return 0;
}

int wf_mw_do_bind(struct wf_region *mw, uint32_t key, struct wf_region *mr, uint64_t addr,
                  uint64_t length, uint32_t access, const struct wf_pd *pd, uint32_t qpn)
{
	bool type2 = mw->kind == WF_REGION_MW2;

	if ((mw->kind != WF_REGION_MW1 && !type2) || mw->pd != pd)
		return -EINVAL;
	if ((key ^ mw->key) >> 8 != 0 || key == mw->key)
		return -EINVAL;
	if (type2 && (mw->valid || length == 0))
		return -EINVAL;
	if (length != 0 && check_bind(mr, addr, length, access, pd) != 0)
		return -EINVAL;
	if (!type2 && length != 0 && (mr->access & WF_ACCESS_ZERO_BASED) != 0)
		return -EINVAL;

	mw_unbind(mw);
	mw->key = key;
	mw->qpn = qpn;
	if (length == 0)
		return 0;
	mw->parent = mr;
	mr->windows++;
	mw->host = wf_region_host(mr, addr);
	mw->iova = (access & WF_ACCESS_ZERO_BASED) != 0 ? 0 : addr;
	mw->length = length;
	mw->access = (uint16_t)access;
	mw->valid = true;
	return 0;
}

int wf_region_invalidate(struct wf_hca *hca, const struct wf_pd *pd, uint32_t qpn, uint32_t key)
{
	uint32_t index = key >> 8;
	struct wf_region *r;

	if (index > hca->region_mask)
		return -EINVAL;
	r = &hca->regions[index];
	if (r->key != key || !r->valid || r->pd != pd)
		return -EINVAL;
	if (r->kind == WF_REGION_MW2 && r->qpn == qpn) {
		mw_unbind(r);
		return 0;
	}
	if (r->kind == WF_REGION_MR && r->invalidate && r->windows == 0) {
		r->valid = false;
		return 0;
	}
	return -EINVAL;
}
