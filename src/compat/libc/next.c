/* SPDX-License-Identifier: Apache-2.0 */
/* next.c - looks up the C library's own functions. */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "compat/libc/next.h"

/* The table that NEXT() makes, as the linker lays it out. */
extern struct wx_next __start_wx_next[] __attribute__((visibility("hidden")));
extern struct wx_next __stop_wx_next[] __attribute__((visibility("hidden")));

static bool is_ours(void *fn)
{
	Dl_info info, self;

	return dladdr(fn, &info) != 0 && dladdr(__start_wx_next, &self) != 0 &&
	       info.dli_fbase == self.dli_fbase;
}

/*
 * The next one in the order of libraries; where this library comes after the C library there is
 * none, and the C library is asked by its name. Never ourselves.
 */
static void *look_up(const struct wx_next *next)
{
	void *fn = dlsym(RTLD_NEXT, next->name), *libc;

	if (fn != NULL && !is_ours(fn))
		return fn;
	libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	if (libc == NULL)
		return NULL;
	fn = dlsym(libc, next->name);
	return fn != NULL && !is_ours(fn) ? fn : NULL;
}

void *wx_next_find(struct wx_next *next)
{
	void *fn = look_up(next);

	if (fn == NULL) {
		fprintf(stderr, "weft: the C library has no %s()\n", next->name);
		abort();
	}
	__atomic_store_n(&next->fn, fn, __ATOMIC_RELAXED);
	return fn;
}

/* Those that this C library does not have stay NULL: nobody calls them. */
static void __attribute__((constructor(101))) find_all(void)
{
	for (struct wx_next *next = __start_wx_next; next < __stop_wx_next; next++) {
		void *fn = look_up(next);

		assert(next->name != NULL);
		if (fn != NULL)
			__atomic_store_n(&next->fn, fn, __ATOMIC_RELAXED);
	}
}
