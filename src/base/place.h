/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - bytes into memory that somebody watches. */
#ifndef WF_BASE_PLACE_H
#define WF_BASE_PLACE_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/* Where memory is not there is for the caller to find out, and no matter of sanitizers. */
#define WF_PLACE_ANYWHERE __attribute__((no_sanitize("address"), no_sanitize("undefined")))

/*
 * As memmove(), but the last bytes come last, and up to 8 of them at once. Programs look at the
 * last byte, or word, of what is written to them by RDMA, and take it that all before it has come,
 * as it has with adapters of hardware. The C library copies in any order.
 */
WF_PLACE_ANYWHERE static inline void wf_place(void *to, const void *from, size_t n)
{
	size_t last = n >= 8 ? 8 : n >= 4 ? 4 : n >= 2 ? 2 : n;
	char *end = (char *)to + (n - last);
	uint64_t word = 0;

	/* Before anything is written, which may be here. */
	memcpy(&word, (const char *)from + (n - last), last);
	memmove(to, from, n - last);
	atomic_thread_fence(memory_order_release);
	/* Of a size that is known: one store. */
	if (last == 8)
		memcpy(end, &word, 8);
	else if (last == 4)
		memcpy(end, &word, 4);
	else if (last == 2)
		memcpy(end, &word, 2);
	else if (last == 1)
		memcpy(end, &word, 1);
}

#endif
