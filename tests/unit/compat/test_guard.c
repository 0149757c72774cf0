/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_guard.c - copies of memory that is not there, and the faults and handlers that are the
 * program's own. sigaction() and signal() are weft's here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "compat/verbs/guard.h"

#define PAGE 4096
#define BIG (1 << 22)

static char *gone; /* a page that is there, and one that is not */

static int set_up(void **state)
{
	(void)state;
	gone = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(gone != MAP_FAILED);
	assert_int_equal(mprotect(gone + PAGE, PAGE, PROT_NONE), 0);
	wv_guard_install();
	return 0;
}

static void test_copies(void **state)
{
	static char from[PAGE], to[PAGE];

	(void)state;
	memset(from, 7, sizeof(from));
	assert_true(wv_guard_store(to, from, PAGE));
	assert_memory_equal(to, from, PAGE);
	assert_true(wv_guard_fetch_near(gone, from, PAGE));
	assert_true(wv_guard_fetch_far(gone, from, PAGE));
	assert_true(wv_guard_store(to, from, 0));
	errno = 5;
	assert_false(wv_guard_store(gone + PAGE, from, 1));
	assert_false(wv_guard_store(gone + PAGE - 8, from, 16));
	assert_false(wv_guard_store(to, gone + PAGE - 8, 16));
	assert_false(wv_guard_fetch_near(to, gone + 8, PAGE));
	assert_false(wv_guard_fetch_far(to, gone + 8, PAGE));
	assert_false(wv_guard_store(NULL, from, 8));
#ifdef __aarch64__
	/* The highest byte is the program's own there. (qemu says nothing true of an address that
	 * its host has not, so those below are not tried.) */
	assert_false(
		wv_guard_store((void *)((uintptr_t)(gone + PAGE) | UINT64_C(0xa5) << 56), from, 1));
#else
#ifndef __SANITIZE_ADDRESS__ /* whose own look at that address faults elsewhere */
	assert_false(wv_guard_store((void *)(uintptr_t)(UINT64_C(1) << 47), from, 8));
#endif
	assert_false(wv_guard_store(to, (void *)(uintptr_t)(UINT64_C(0xdead) << 48), 8));
#endif
	assert_int_equal(errno, 5);
}

static sigjmp_buf back;
static volatile sig_atomic_t faults, alarms;
static void *volatile fault_at;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	faults++;
	fault_at = info->si_addr;
	siglongjmp(back, 1);
}

static void on_fault_plain(int sig)
{
	(void)sig;
	faults++;
	siglongjmp(back, 1);
}

/* A fault of the program's own. */
static void fault(void)
{
	faults = 0;
	if (sigsetjmp(back, 1) == 0)
		*(volatile char *)(gone + PAGE + 3) = 1;
	assert_int_equal(faults, 1);
}

static void test_handlers(void **state)
{
	struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO }, seen;
	sigset_t before, after;

	(void)state;
	sigfillset(&act.sa_mask);
	assert_int_equal(sigaction(SIGSEGV, &act, &seen), 0);
	assert_int_equal(sigaction(SIGSEGV, NULL, &seen), 0);
	assert_ptr_equal(seen.sa_sigaction, on_fault);
	assert_int_equal(seen.sa_flags, SA_SIGINFO);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
	assert_false(wv_guard_store(gone + PAGE, "", 1));
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
	for (int sig = 1; sig < NSIG; sig++)
		assert_int_equal(sigismember(&before, sig), sigismember(&after, sig));
	assert_int_equal(faults, 0);
	fault();
	assert_ptr_equal(fault_at, gone + PAGE + 3);
	/* Once, and then as if there were none. */
	act.sa_flags |= SA_RESETHAND;
	assert_int_equal(sigaction(SIGSEGV, &act, NULL), 0);
	fault();
	assert_int_equal(sigaction(SIGSEGV, NULL, &seen), 0);
	assert_ptr_equal(seen.sa_handler, SIG_DFL);
	assert_false(wv_guard_store(gone + PAGE, "", 1));
	assert_ptr_equal(signal(SIGSEGV, on_fault_plain), SIG_DFL);
	fault();
	assert_ptr_equal(signal(SIGSEGV, SIG_IGN), on_fault_plain);
	/* What is ignored is so when somebody sends it. */
	assert_int_equal(raise(SIGSEGV), 0);
	assert_false(wv_guard_store(gone + PAGE, "", 1));
	assert_ptr_equal(signal(SIGSEGV, SIG_DFL), SIG_IGN);
}

static void test_default(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		(void)signal(SIGSEGV, SIG_DFL); /* cmocka has its own */
		*(volatile char *)(gone + PAGE) = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* A handler of another signal that faults, in the middle of a copy. */
static void on_alarm(int sig)
{
	(void)sig;
	if (sigsetjmp(back, 1) == 0)
		*(volatile char *)(gone + PAGE + 3) = 1;
	alarms++;
}

static void test_handler_in_copy(void **state)
{
	struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	char *from = malloc(BIG), *to = malloc(BIG);

	(void)state;
	assert_true(from != NULL && to != NULL);
	memset(from, 3, BIG);
	faults = 0;
	assert_int_equal(sigaction(SIGSEGV, &act, NULL), 0);
	assert_true(signal(SIGALRM, on_alarm) != SIG_ERR);
	assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
	while (alarms < 50) {
		to[BIG - 1] = 0;
		assert_true(wv_guard_store(to, from, BIG));
		assert_int_equal(to[BIG - 1], 3);
	}
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_true(faults >= 50);
	assert_true(signal(SIGSEGV, SIG_DFL) != SIG_ERR);
	free(from);
	free(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_handlers),
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_handler_in_copy),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
