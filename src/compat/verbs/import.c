/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.c - objects by their numbers, for contexts that share a descriptor. Adapters are their
 * processes' own, so a descriptor that came from another process leads nowhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "compat/verbs/verbs_priv.h"

struct ibv_context *ibv_import_device(int cmd_fd)
{
	if (!wv_is_context_fd(cmd_fd))
		return wv_fail(EOPNOTSUPP);
	return wv_open(&wv_the_device.ibv, cmd_fd);
}

/* Which object: its number, and what its context's descriptor is of. */
struct wanted {
	uint32_t handle;
	struct stat st;
};

static bool is_of(const struct ibv_context *c, const struct wanted *w)
{
	struct stat st;

	return fstat(c->cmd_fd, &st) == 0 && st.st_ino == w->st.st_ino && st.st_dev == w->st.st_dev;
}

static bool is_pd(const void *handle, const void *arg)
{
	const struct wv_pd *pd = handle;
	const struct wanted *w = arg;

	return pd->parent == NULL && pd->ibv.handle == w->handle && is_of(pd->ibv.context, w);
}

static bool is_mr(const void *handle, const void *arg)
{
	const struct wv_mr *mr = handle;
	const struct wanted *w = arg;

	return !mr->imported && mr->ibv.handle == w->handle && is_of(mr->ibv.context, w);
}

struct ibv_pd *ibv_import_pd(struct ibv_context *c, uint32_t handle)
{
	struct wanted w = { .handle = handle };
	const struct wv_pd *pd;

	if (fstat(c->cmd_fd, &w.st) != 0)
		return NULL;
	pd = wv_handle_find(WV_PD, is_pd, &w);
	return pd != NULL ? wv_pd_over(c, (struct wv_pd *)(uintptr_t)pd) : wv_fail(ENOENT);
}

void ibv_unimport_pd(struct ibv_pd *pd)
{
	(void)!ibv_dealloc_pd(pd);
}

struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct wanted w = { .handle = handle };
	const struct wv_mr *from;
	struct wv_mr *mr;

	if (!wv_handle_is(pd, WV_PD))
		return wv_fail(EINVAL);
	if (fstat(pd->context->cmd_fd, &w.st) != 0)
		return NULL;
	from = wv_handle_find(WV_MR, is_mr, &w);
	if (from == NULL)
		return wv_fail(ENOENT);
	mr = wv_handle_make(sizeof(*mr), WV_MR);
	if (mr == NULL)
		return NULL;
	*mr = *from;
	mr->imported = true;
	mr->ibv.context = pd->context;
	mr->ibv.pd = pd;
	mr->ibv.addr = NULL; /* whoever imports it may have the memory elsewhere */
	return &mr->ibv;
}

void ibv_unimport_mr(struct ibv_mr *ibv)
{
	struct wv_mr *mr = (struct wv_mr *)(void *)ibv;

	if (!wv_handle_is(mr, WV_MR) || !mr->imported)
		return;
	wv_handle_free(mr);
}
