/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_fail.h - memory that runs out after so many calls, and counts what is not given back.
 */
#ifndef WF_TESTS_MEM_FAIL_H
#define WF_TESTS_MEM_FAIL_H

#include "base/mem.h"

struct mem_fail {
	struct wf_mem mem;
	long left; /* calls that still succeed */
	long held; /* blocks that are out */
};

static inline void *mem_fail_alloc(struct wf_mem *mem, size_t size)
{
	struct mem_fail *f = wf_container_of(mem, struct mem_fail, mem);
	void *ptr = f->left > 0 ? wf_mem_heap()->alloc(wf_mem_heap(), size) : NULL;

	f->left--;
	f->held += ptr != NULL;
	return ptr;
}

static inline void mem_fail_free(struct wf_mem *mem, void *ptr)
{
	struct mem_fail *f = wf_container_of(mem, struct mem_fail, mem);

	f->held -= ptr != NULL;
	wf_mem_heap()->free(wf_mem_heap(), ptr);
}

/* The first left calls succeed. */
static inline struct mem_fail mem_fail_after(long left)
{
	return (struct mem_fail){ .mem = { mem_fail_alloc, mem_fail_free }, .left = left };
}

#endif
