/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c - copies between registered memory and packets, of which the memory may be gone.
 *
 * An adapter of hardware has pinned the pages, or finds them missing (on-demand paging) and ends
 * the work request. Here the program's own mapping is used, so what the program has unmapped would
 * kill it. A fault at an address that such a copy was about ends the copy. All other faults are the
 * program's: its own handler gets them, whenever it installed it (compat/libc/signal.c asks
 * wv_guard_sigaction()), or what the system does without one happens.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

#include "base/place.h"
#include "compat/fd/fd.h"
#include "compat/libc/libc.h"
#include "compat/verbs/guard.h"
#include "compat/verbs/verbs_priv.h"

/* What the program wants of a signal; what a handler reads may change under it. */
struct wish {
	atomic_uint version; /* odd while it is written */
	struct sigaction act;
};

static const int signals[] = { SIGSEGV, SIGBUS };
static struct wish wishes[WF_ARRAY_SIZE(signals)];
static atomic_bool installed;
static pthread_mutex_t wish_lock = PTHREAD_MUTEX_INITIALIZER; /* of writers */

/* A copy that is under way. */
struct landing {
	sigjmp_buf to;
	uintptr_t a, b; /* what it copies from, what to */
	size_t n;
};

/* This thread's; NULL: there is none. */
static _Thread_local struct landing *volatile landing __attribute__((tls_model("initial-exec")));

static struct wish *wish_of(int sig)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(signals); i++) {
		if (signals[i] == sig)
			return &wishes[i];
	}
	return NULL;
}

static struct sigaction read_wish(struct wish *w)
{
	struct sigaction act;
	unsigned version;

	do {
		version = atomic_load_explicit(&w->version, memory_order_acquire);
		act = w->act;
		atomic_thread_fence(memory_order_acquire);
	} while ((version & 1) != 0 ||
	         version != atomic_load_explicit(&w->version, memory_order_relaxed));
	return act;
}

/* A handler may write, too: so writers have no signals. */
static void lock_wishes(sigset_t *mask)
{
	sigset_t every;

	(void)sigfillset(&every);
	(void)pthread_sigmask(SIG_SETMASK, &every, mask);
	(void)pthread_mutex_lock(&wish_lock);
}

static void unlock_wishes(const sigset_t *mask)
{
	(void)pthread_mutex_unlock(&wish_lock);
	(void)pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/* Under the lock. */
static void write_wish(struct wish *w, const struct sigaction *act)
{
	unsigned before = atomic_fetch_add(&w->version, 1);

	assert((before & 1) == 0);
	(void)before;
	atomic_thread_fence(memory_order_release);
	w->act = *act;
	atomic_fetch_add_explicit(&w->version, 1, memory_order_release);
}

/* Does what would have happened without us. */
static void forward(int sig, siginfo_t *info, void *context)
{
	struct sigaction to = read_wish(wish_of(sig));
	struct sigaction none = { .sa_handler = SIG_DFL };
	bool sent = info->si_code <= 0; /* by somebody, and not by a fault */
	sigset_t mask;

	if ((to.sa_flags & SA_SIGINFO) == 0 && to.sa_handler == SIG_IGN && sent)
		return;
	if ((to.sa_flags & SA_SIGINFO) == 0 &&
	    (to.sa_handler == SIG_DFL || to.sa_handler == SIG_IGN)) {
		/* What was done is done again, and then ends the program; or the signal does. */
		(void)wx_sigaction(sig, &none, NULL);
		if (sent)
			(void)raise(sig);
		return;
	}
	if ((to.sa_flags & SA_RESETHAND) != 0) {
		lock_wishes(&mask);
		write_wish(wish_of(sig), &none);
		unlock_wishes(&mask);
	}
	if ((to.sa_flags & SA_SIGINFO) != 0)
		to.sa_sigaction(sig, info, context);
	else
		to.sa_handler(sig);
}

/* On arm64 the highest byte is the program's own, and the address of a fault has it not. */
static uintptr_t untagged(uintptr_t at)
{
#ifdef __aarch64__
	at &= UINTPTR_MAX >> 8;
#endif
	return at;
}

/* An address that is none faults without one: then the copy must have had such an address. */
static bool is_about(const struct landing *l, const siginfo_t *info)
{
	uintptr_t at = untagged((uintptr_t)info->si_addr);

	if (info->si_code == SI_KERNEL)
		return (l->a | (l->a + l->n) | l->b | (l->b + l->n)) >> 47 != 0;
	return at - l->a < l->n || at - l->b < l->n;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	struct landing *l = landing;
	int saved = errno;

	if (l != NULL && info->si_code > 0 && is_about(l, info)) {
		landing = NULL;
		/* As it was when the copy began, which the program's sa_mask has added to. */
		(void)pthread_sigmask(SIG_SETMASK, &((ucontext_t *)context)->uc_sigmask, NULL);
		errno = saved;
		siglongjmp(l->to, 1);
	}
	forward(sig, info, context);
	errno = saved;
}

/* Our handler, with what the program wants besides. */
static int install(int sig, const struct sigaction *wish)
{
	struct sigaction act = *wish;

	act.sa_sigaction = on_fault;
	act.sa_flags = (act.sa_flags & ~SA_RESETHAND) | SA_SIGINFO | SA_ONSTACK;
	return wx_sigaction(sig, &act, NULL);
}

void wv_guard_install(void)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(signals); i++) {
		struct sigaction act;

		if (wx_sigaction(signals[i], NULL, &act) != 0)
			continue;
		write_wish(&wishes[i], &act);
		(void)install(signals[i], &act);
	}
	atomic_store(&installed, true);
}

__attribute__((no_sanitize("thread"))) bool wv_guard_is_on(void)
{
	return atomic_load_explicit(&installed, memory_order_acquire);
}

bool wv_guard_sigaction(int sig, const struct sigaction *act, struct sigaction *old, int *ret_p)
{
	struct wish *w = wish_of(sig);
	struct sigaction before;
	sigset_t mask;

	if (w == NULL || !wv_guard_is_on() || wx_fd_borrowed())
		return false;
	lock_wishes(&mask);
	before = read_wish(w);
	*ret_p = 0;
	if (act != NULL) {
		/* First the wish: a fault that comes between is the new handler's. */
		write_wish(w, act);
		*ret_p = install(sig, act);
	}
	unlock_wishes(&mask);
	if (old != NULL)
		*old = before;
	return true;
}

void wv_guard_lock(void)
{
	(void)pthread_mutex_lock(&wish_lock);
}

void wv_guard_unlock(void)
{
	(void)pthread_mutex_unlock(&wish_lock);
}

static bool move(void *to, const void *from, size_t n)
{
	wf_place(to, from, n);
	return true;
}

static inline bool guarded(wf_hca_copy_fn *copy, void *to, const void *from, size_t n)
{
	struct landing here;

	assert(landing == NULL); /* copies do not nest: handlers that fault do not copy */
	here.a = untagged((uintptr_t)from);
	here.b = untagged((uintptr_t)to);
	here.n = n;
	/* Without the mask of signals, which costs a system call; on_fault() sets it right. */
	if (sigsetjmp(here.to, 0) != 0)
		return false;
	landing = &here;
	atomic_signal_fence(memory_order_seq_cst);
	(void)copy(to, from, n);
	atomic_signal_fence(memory_order_seq_cst);
	landing = NULL;
	return true;
}

bool wv_guard_fetch_near(void *to, const void *from, size_t n)
{
	return guarded(wf_nic_copy_near, to, from, n);
}

bool wv_guard_fetch_far(void *to, const void *from, size_t n)
{
	return guarded(wf_nic_copy_far, to, from, n);
}

bool wv_guard_store(void *to, const void *from, size_t n)
{
	return guarded(move, to, from, n);
}
