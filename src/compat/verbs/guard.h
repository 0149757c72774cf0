/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - copies of memory that may not be there. */
#ifndef WF_COMPAT_GUARD_H
#define WF_COMPAT_GUARD_H

#include <signal.h>
#include <stdbool.h>

#include "rdma/hca.h"

/* From now on faults within these copies are not the program's. Once. */
void wv_guard_install(void);

/* Whether it is: if not, wv_guard_sigaction() need not be called. */
bool wv_guard_is_on(void);

/*
 * What the program wants of a signal, as for sigaction(). Returns false when it is no matter of
 * this guard; else *ret_p is what sigaction() returns.
 */
bool wv_guard_sigaction(int sig, const struct sigaction *act, struct sigaction *old, int *ret_p);

/* Around fork(). */
void wv_guard_lock(void);
void wv_guard_unlock(void);

/*
 * Copy, and return false where memory is missing. Before wv_guard_install() that is a crash. The
 * two ways into a ring are those of nic.h.
 */
wf_hca_copy_fn wv_guard_fetch_near, wv_guard_fetch_far, wv_guard_store;

#endif
