/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - the parts of a ring that are not on the way of every packet. */
#define _GNU_SOURCE
#include "live/ring.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

int wf_ring_memory(const char *name, size_t bytes)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int ret;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)bytes) != 0 || fcntl(fd, F_ADD_SEALS, SEALS) != 0) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

bool wf_ring_is_memory(int fd, size_t bytes)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &st) == 0 &&
	       (size_t)st.st_size == bytes;
}

char *wf_ring_map(int fd, off_t offset, uint32_t bytes)
{
	char *at = mmap(NULL, 2 * (size_t)bytes, PROT_NONE,
	                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert(bytes != 0 && (bytes & (bytes - 1)) == 0);
	if (at == MAP_FAILED)
		return NULL;
	for (int i = 0; i < 2; i++) {
		if (mmap(at + (size_t)i * bytes, bytes, PROT_READ | PROT_WRITE,
		         MAP_SHARED | MAP_FIXED, fd, offset) == MAP_FAILED) {
			wf_ring_unmap(at, bytes);
			return NULL;
		}
	}
	/* A child of this process has no business here. */
	(void)madvise(at, 2 * (size_t)bytes, MADV_DONTFORK);
	return at;
}

void wf_ring_unmap(char *base, uint32_t bytes)
{
	munmap(base, 2 * (size_t)bytes);
}

void wf_ring_refresh(struct wf_ring *r)
{
	uint64_t tail = atomic_load_explicit(&r->ctl->tail, memory_order_acquire);

	assert(r->tail <= r->pos && r->pos - r->tail <= r->mask);
	if (tail < r->tail || tail > r->pos)
		r->broken = true;
	else
		r->tail = tail;
}

bool wf_ring_release(struct wf_ring *r)
{
	assert(r->tail <= r->pos);
	if (r->tail == r->pos)
		return false;
	r->tail = r->pos;
	atomic_store_explicit(&r->ctl->tail, r->tail, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	if (wf_likely(atomic_load_explicit(&r->ctl->want_space, memory_order_relaxed) == 0))
		return false;
	/*
	 * Before the caller looks whether the producer sleeps: one that asks again now, and sleeps,
	 * either asks after this, or is seen to sleep.
	 */
	return atomic_exchange_explicit(&r->ctl->want_space, 0, memory_order_seq_cst) != 0;
}

bool wf_ring_want_space(struct wf_ring *r, uint32_t payload)
{
	atomic_store_explicit(&r->ctl->want_space, 1, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	return wf_ring_reserve(r, payload) == NULL;
}
