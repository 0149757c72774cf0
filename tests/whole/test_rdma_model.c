/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rdma_model.c - thousands of random verbs programs against a simple model of what must come
 * of them, over a network that loses, doubles, delays and corrupts packets.
 *
 * WEFT_MODEL_SEED=n starts at program n (and is printed when one fails); WEFT_MODEL_RUNS=n runs
 * that many. A program that fails is shortened and printed. Programs run in a child, so a crash is
 * a failure like any other.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "rdma/model_ops.h"

#define RUNS 3000
#define BATCH 500

static void draw(struct model_prog *prog, uint64_t seed)
{
	struct model_source source = { .key = wf_rand_key(seed, 7, 3) };

	model_draw(&source, prog);
	prog->seed = seed;
}

/* Runs prog in a child. Returns whether it failed. */
static bool fails(const struct model_prog *prog)
{
	int status;
	pid_t pid = fork();

	rig_must(pid >= 0);
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 2);
		alarm(20);
		model_run(prog);
		_exit(0);
	}
	rig_must(waitpid(pid, &status, 0) == pid);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static bool try_prog(struct model_prog *prog, const struct model_prog *candidate)
{
	if (!fails(candidate))
		return false;
	*prog = *candidate;
	return true;
}

static bool drop_ops(struct model_prog *prog, uint32_t at, uint32_t n)
{
	struct model_prog c = *prog;

	memmove(&c.op[at], &c.op[at + n], (c.ops - at - n) * sizeof(c.op[0]));
	c.ops -= n;
	return try_prog(prog, &c);
}

/* Leaves out what is not needed for the failure. */
static void shrink(struct model_prog *prog)
{
	uint32_t *fault[] = { &prog->faults.twice, &prog->faults.late, &prog->faults.bad,
		              &prog->faults.drop, &prog->faults.mark };

	for (uint32_t n = prog->ops / 2; n > 0; n /= 2) {
		for (uint32_t at = 0; at + n <= prog->ops;) {
			if (!drop_ops(prog, at, n))
				at += n;
		}
	}
	for (size_t i = 0; i < WF_ARRAY_SIZE(fault); i++) {
		uint32_t was = *fault[i];

		*fault[i] = 0;
		if (was != 0 && !fails(prog))
			*fault[i] = was;
	}
	for (uint32_t i = 0; i < prog->ops; i++) {
		struct model_prog c = *prog;

		c.op[i].steps = 0;
		c.op[i].pieces = 1;
		(void)try_prog(prog, &c);
		c = *prog;
		c.op[i].size = c.op[i].size > 8 ? 8 : c.op[i].size;
		(void)try_prog(prog, &c);
	}
}

/* Runs programs [seed, seed + n). Returns how many were fine before one failed. */
static uint64_t run_batch(uint64_t seed, uint64_t n, volatile uint64_t *done)
{
	int status;
	pid_t pid;

	*done = 0;
	fflush(NULL);
	pid = fork();
	rig_must(pid >= 0);
	if (pid == 0) {
		for (; *done < n; (*done)++) {
			struct model_prog prog;

			alarm(60);
			draw(&prog, seed + *done);
			model_run(&prog);
		}
		_exit(0);
	}
	rig_must(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? n : *done;
}

static uint64_t from_env(const char *name, uint64_t def)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 0) : def;
}

static void test_model(void **state)
{
	uint64_t first = from_env("WEFT_MODEL_SEED", 1);
	uint64_t runs = from_env("WEFT_MODEL_RUNS", RUNS);
	void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(shared != MAP_FAILED);
	for (uint64_t i = 0; i < runs; i += BATCH) {
		uint64_t n = wf_min_u64(BATCH, runs - i);
		uint64_t ok = run_batch(first + i, n, shared);
		struct model_prog prog;

		if (ok == n)
			continue;
		draw(&prog, first + i + ok);
		fprintf(stderr,
		        "program %llu fails; replay it with WEFT_MODEL_SEED=%llu "
		        "WEFT_MODEL_RUNS=1. Shortened:\n",
		        (unsigned long long)prog.seed, (unsigned long long)prog.seed);
		shrink(&prog);
		model_print(&prog, stderr);
		fail_msg("program %llu", (unsigned long long)prog.seed);
	}
	printf("%llu programs from seed %llu\n", (unsigned long long)runs,
	       (unsigned long long)first);
	assert_int_equal(munmap(shared, 4096), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
