/* SPDX-License-Identifier: Apache-2.0 */
/*
 * next.h - the C library's own functions, behind ours of the same name.
 *
 * NEXT(open) is the function that would be called without us. All are looked up when the library is
 * loaded, so that a call needs no more of the stack than the C library's own, and takes no lock.
 */
#ifndef WF_COMPAT_NEXT_H
#define WF_COMPAT_NEXT_H

#include <stddef.h>
#include <stdint.h>

struct wx_next {
	const char *name;
	void *fn; /* atomic; NULL until it is looked up */
} __attribute__((aligned(16)));

/* Looks it up; aborts where nobody has such a function, which then nobody can call. */
void *wx_next_find(struct wx_next *next);

#define NEXT(name_)                                                                                \
	({                                                                                         \
		static struct wx_next next_                                                        \
			__attribute__((section("wx_next"), used)) = { #name_, NULL };              \
		void *found_ = __atomic_load_n(&next_.fn, __ATOMIC_RELAXED);                       \
		(__typeof__(&(name_)))(uintptr_t)(found_ != NULL ? found_ : wx_next_find(&next_)); \
	})

#endif
