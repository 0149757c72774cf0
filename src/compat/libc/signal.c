/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal.c - the C library's functions that set what a signal does. Two signals are ours as well
 * (compat/verbs/guard.c): what the program wants of them is kept and done there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>

#include "base/base.h"
#include "compat/libc/libc.h"
#include "compat/libc/next.h"
#include "compat/verbs/guard.h"

/* Other names that programs know these by. */
int __sigaction(int sig, const struct sigaction *act, struct sigaction *old);
__sighandler_t bsd_signal(int sig, __sighandler_t handler);

int wx_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	return NEXT(sigaction)(sig, act, old);
}

int sigaction(int sig, const struct sigaction *act, struct sigaction *oact)
{
	int ret;

	if (!wv_guard_is_on())
		return wx_sigaction(sig, act, oact);
	return wv_guard_sigaction(sig, act, oact, &ret) ? ret : wx_sigaction(sig, act, oact);
}

int __sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	return sigaction(sig, act, old);
}

/* The signals that are ours, by the one function; flags make the others of it. */
static bool set_ours(int sig, __sighandler_t handler, int flags, __sighandler_t *old_p)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = flags }, old;
	int ret;

	if (handler == SIG_ERR || !wv_guard_is_on() || !wv_guard_sigaction(sig, &act, &old, &ret))
		return false;
	*old_p = ret == 0 ? old.sa_handler : SIG_ERR;
	return true;
}

__sighandler_t signal(int sig, __sighandler_t handler)
{
	__sighandler_t old;

	return set_ours(sig, handler, SA_RESTART, &old) ? old : NEXT(signal)(sig, handler);
}

__sighandler_t bsd_signal(int sig, __sighandler_t handler)
{
	return signal(sig, handler);
}

__sighandler_t __sysv_signal(int sig, __sighandler_t handler)
{
	__sighandler_t old;

	return set_ours(sig, handler, SA_RESETHAND | SA_NODEFER, &old)
	               ? old
	               : NEXT(__sysv_signal)(sig, handler);
}

__sighandler_t sysv_signal(int sig, __sighandler_t handler)
{
	return __sysv_signal(sig, handler);
}
