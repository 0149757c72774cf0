/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c - copies between registered memory and packets, of which the memory may be gone.
 *
 * An adapter of hardware has pinned the pages, or finds them missing (on-demand paging) and ends
 * the work request. Here the program's own mapping is used, so what the program has unmapped would
 * kill it. Faults within such a copy end the copy; all others are for whoever was to handle them
 * before.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "compat/verbs/verbs_priv.h"

static const int signals[] = { SIGSEGV, SIGBUS };
static struct sigaction before[WF_ARRAY_SIZE(signals)];

/* Where a fault of this thread leads to; NULL: it is not ours. */
static _Thread_local sigjmp_buf *volatile landing __attribute__((tls_model("initial-exec")));

static void forward(const struct sigaction *to, int sig, siginfo_t *info, void *context)
{
	if ((to->sa_flags & SA_SIGINFO) != 0) {
		to->sa_sigaction(sig, info, context);
	} else if (to->sa_handler != SIG_DFL && to->sa_handler != SIG_IGN) {
		to->sa_handler(sig);
	} else {
		/*
		 * What was done is done again, and then ends the program; a signal that was sent
		 * is, too.
		 */
		(void)sigaction(sig, to, NULL);
		if (info->si_code <= 0)
			(void)raise(sig);
	}
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	sigjmp_buf *to = landing;
	sigset_t set;

	if (to != NULL && info->si_code > 0) {
		landing = NULL;
		(void)sigemptyset(&set);
		(void)sigaddset(&set, sig);
		(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		siglongjmp(*to, 1);
	}
	for (size_t i = 0; i < WF_ARRAY_SIZE(signals); i++) {
		if (signals[i] == sig)
			forward(&before[i], sig, info, context);
	}
}

void wv_guard_install(void)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(signals); i++) {
		struct sigaction act;

		if (sigaction(signals[i], NULL, &before[i]) != 0)
			continue;
		act = before[i];
		act.sa_sigaction = on_fault;
		act.sa_flags = (act.sa_flags & ~SA_RESETHAND) | SA_SIGINFO | SA_ONSTACK;
		(void)sigaction(signals[i], &act, NULL);
	}
}

static bool move(void *to, const void *from, size_t n)
{
	memmove(to, from, n);
	return true;
}

static inline bool guarded(wf_hca_copy_fn *copy, void *to, const void *from, size_t n)
{
	sigjmp_buf here;

	/* Without the mask of signals, which costs a system call; on_fault() sets it right. */
	if (sigsetjmp(here, 0) != 0)
		return false;
	landing = &here;
	atomic_signal_fence(memory_order_seq_cst);
	(void)copy(to, from, n);
	atomic_signal_fence(memory_order_seq_cst);
	landing = NULL;
	return true;
}

bool wv_guard_fetch(void *to, const void *from, size_t n)
{
	return guarded(wf_nic_copy, to, from, n);
}

bool wv_guard_store(void *to, const void *from, size_t n)
{
	return guarded(move, to, from, n);
}
