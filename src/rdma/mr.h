/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mr.h - protection domains, memory regions and memory windows.
 *
 * A key is an index into the adapter's table (upper 24 bits) and a key part (lower 8 bits) that
 * changes each time the index is used anew, so a stale key is found out. A region's lkey and rkey
 * are the same number; what each may do is a matter of its access rights.
 *
 * Contents are the caller's: a region lends the adapter length bytes at host, which programs and
 * packets address from iova on. Without a host address only keys, rights and bounds are checked.
 */
#ifndef WF_RDMA_MR_H
#define WF_RDMA_MR_H

#include "rdma/hca.h"

/* Returns 0 or -ENOMEM; *pd_p is owned by the caller. */
int wf_pd_create(struct wf_hca *hca, struct wf_pd **pd_p) WF_MUST_USE;

/* Returns 0, or -EBUSY while something still belongs to it. */
int wf_pd_destroy(struct wf_pd *pd) WF_MUST_USE;

struct wf_mr_attr {
	void *host;      /* borrowed while registered; NULL: contents do not matter */
	uint64_t iova;   /* address of its first byte; 0 with WF_ACCESS_ZERO_BASED */
	uint64_t length; /* bytes; iova + length does not pass 2^64 */
	uint32_t access; /* WF_ACCESS_* */
	bool invalidate; /* LOCAL_INV and SEND_WITH_INV may invalidate it */
};

/*
 * Registers a region. Returns 0, -EINVAL (remote write or atomic without local write, unknown
 * rights, a range that wraps) or -ENOMEM (table full).
 */
int wf_mr_reg(struct wf_pd *pd, const struct wf_mr_attr *attr, struct wf_mr **mr_p) WF_MUST_USE;

#define WF_REREG_TRANSLATION 1
#define WF_REREG_PD 2
#define WF_REREG_ACCESS 4

/*
 * Changes what flags name; the keys stay. A region that was invalidated becomes valid again, under
 * a new key. pd and attr are looked at as flags say. Returns 0, -EINVAL, or -EBUSY while windows
 * are bound to it.
 */
int wf_mr_rereg(struct wf_mr *mr, uint32_t flags, struct wf_pd *pd,
                const struct wf_mr_attr *attr) WF_MUST_USE;

/* Returns 0, or -EBUSY while windows are bound to it. */
int wf_mr_dereg(struct wf_mr *mr) WF_MUST_USE;

/*
 * Where the contents of [addr, addr + length) of a region of pd are, if it has all of access; NULL:
 * it has no contents. Returns 0 or -EINVAL (no such key in pd, rights, bounds).
 */
int wf_mr_find(const struct wf_pd *pd, uint32_t lkey, uint64_t addr, uint64_t length,
               uint32_t access, void **host_p) WF_MUST_USE;

uint32_t wf_mr_lkey(const struct wf_mr *mr);
uint32_t wf_mr_rkey(const struct wf_mr *mr);

/* A window bound to nothing. Returns 0, -EINVAL (type) or -ENOMEM. */
int wf_mw_create(struct wf_pd *pd, enum wf_mw_type type, struct wf_mw **mw_p) WF_MUST_USE;

/* Unbinds and frees. */
void wf_mw_destroy(struct wf_mw *mw);

/* The window's key: of type 1 after the last bind posted, of type 2 after the last carried out. */
uint32_t wf_mw_rkey(const struct wf_mw *mw);

/* The key that follows rkey: the same index, the next key part. */
static inline uint32_t wf_rkey_next(uint32_t rkey)
{
	return (rkey & 0xffffff00) | ((rkey + 1) & 0xff);
}

#endif
