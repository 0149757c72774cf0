/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wire_remote.c - the addresses outside of a fabric: strangers cannot fill the table, nor make
 * their sources collide; those who are wanted stay.
 */
#include "live/wire_remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "wire/byte.h"

struct rig {
	struct wf_wire_remotes t;
	struct wf_wire_held held[2]; /* of two programs */
};

static int setup(void **state)
{
	static const uint8_t key[WF_SIPHASH_KEY] = { 1, 2, 3 };
	struct rig *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	assert_int_equal(wf_wire_remotes_init(&r->t, key), 0);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	wf_wire_remotes_check(&r->t);
	wf_wire_remotes_release(&r->t, &r->held[0]);
	wf_wire_remotes_release(&r->t, &r->held[1]);
	assert_int_equal(r->t.n[WF_WIRE_IS_FIRM], 0);
	wf_wire_remotes_check(&r->t);
	wf_wire_remotes_fini(&r->t);
	free(r);
	return 0;
}

static const uint8_t *gid(uint32_t n)
{
	static uint8_t one[16];

	memset(one, 0, sizeof(one));
	one[0] = 0x20;
	wf_be32_put(one + 12, n);
	return one;
}

static uint32_t hold(struct rig *r, unsigned program, uint32_t n)
{
	uint32_t number;

	assert_int_equal(wf_wire_remotes_hold(&r->t, &r->held[program], gid(n), &number), 0);
	return number;
}

static enum wf_wire_kind kind(const struct rig *r, uint32_t n)
{
	const struct wf_wire_remote *at =
		wf_wire_remotes_get(&r->t, wf_wire_remotes_find(&r->t, gid(n)));

	return at == NULL ? WF_WIRE_IS_FREE : at->kind;
}

/* A number stays while its kind gets better. */
static void test_kinds(void **state)
{
	struct rig *r = *state;
	uint32_t number;

	assert_int_equal(wf_wire_remotes_find(&r->t, gid(1)), WF_WIRE_NOBODY);
	assert_null(wf_wire_remotes_get(&r->t, WF_WIRE_NOBODY));
	assert_null(wf_wire_remotes_get(&r->t, WF_LIVE_REMOTE));
	assert_null(wf_wire_remotes_get(&r->t, 0));
	number = wf_wire_remotes_meet(&r->t, gid(1));
	assert_int_equal(kind(r, 1), WF_WIRE_IS_STRANGER);
	wf_wire_remotes_answer(&r->t, number);
	assert_int_equal(kind(r, 1), WF_WIRE_IS_ANSWERED);
	assert_int_equal(hold(r, 0, 1), number);
	assert_int_equal(hold(r, 0, 1), number);
	assert_int_equal(hold(r, 1, 1), number);
	assert_int_equal(kind(r, 1), WF_WIRE_IS_FIRM);
	assert_int_equal(wf_wire_remotes_meet(&r->t, gid(1)), number);
	wf_wire_remotes_answer(&r->t, number);
	assert_int_equal(kind(r, 1), WF_WIRE_IS_FIRM);
	/* Until the last program that holds it has ended. */
	wf_wire_remotes_release(&r->t, &r->held[0]);
	assert_int_equal(kind(r, 1), WF_WIRE_IS_FIRM);
	wf_wire_remotes_release(&r->t, &r->held[1]);
	assert_int_equal(kind(r, 1), WF_WIRE_IS_ANSWERED);
	assert_memory_equal(wf_wire_remotes_get(&r->t, number)->gid, gid(1), 16);
}

/* Datagrams of a million sources: whoever is wanted is still there, and can still come. */
static void test_flood(void **state)
{
	struct rig *r = *state;
	uint32_t firm = hold(r, 0, 1), answered = wf_wire_remotes_meet(&r->t, gid(2));
	uint32_t busy = wf_wire_remotes_meet(&r->t, gid(3));

	wf_wire_remotes_answer(&r->t, answered);
	for (uint32_t i = 0; i < 1000000; i++) {
		(void)wf_wire_remotes_meet(&r->t, gid(1000 + i));
		/* One that goes on sending is never the one that was not heard of for longest. */
		if (i % 1000 == 0)
			assert_int_equal(wf_wire_remotes_meet(&r->t, gid(3)), busy);
	}
	wf_wire_remotes_check(&r->t);
	assert_int_equal(r->t.n[WF_WIRE_IS_STRANGER], WF_WIRE_STRANGERS);
	assert_true(r->t.used <= WF_WIRE_STRANGERS + 3);
	assert_int_equal(wf_wire_remotes_find(&r->t, gid(1)), firm);
	assert_int_equal(wf_wire_remotes_find(&r->t, gid(2)), answered);
	assert_int_equal(wf_wire_remotes_find(&r->t, gid(1000)), WF_WIRE_NOBODY);
	assert_int_not_equal(wf_wire_remotes_find(&r->t, gid(1000999)), WF_WIRE_NOBODY);
	/* Nor do programs that answer all of it crowd out the firm ones. */
	for (uint32_t i = 0; i < 100000; i++)
		wf_wire_remotes_answer(&r->t, wf_wire_remotes_meet(&r->t, gid(5000000 + i)));
	assert_int_equal(r->t.n[WF_WIRE_IS_ANSWERED], WF_WIRE_ANSWERED);
	assert_int_equal(wf_wire_remotes_find(&r->t, gid(1)), firm);
	assert_int_equal(wf_wire_remotes_find(&r->t, gid(2)), WF_WIRE_NOBODY);
}

/* A number that was somebody's is not another's. */
static void test_turns(void **state)
{
	struct rig *r = *state;
	uint32_t old = wf_wire_remotes_meet(&r->t, gid(1));

	for (uint32_t i = 0; i < WF_WIRE_STRANGERS; i++)
		(void)wf_wire_remotes_meet(&r->t, gid(100 + i));
	assert_null(wf_wire_remotes_get(&r->t, old));
	wf_wire_remotes_answer(&r->t, old); /* nothing happens */
	assert_int_equal(r->t.n[WF_WIRE_IS_ANSWERED], 0);
	assert_int_not_equal(wf_wire_remotes_meet(&r->t, gid(1)), old);
}

/* As many as there are places for firm ones; the rest stays for those who come. */
static void test_full(void **state)
{
	struct rig *r = *state;
	uint32_t number;

	for (uint32_t i = 0; i < WF_WIRE_FIRM; i++)
		(void)hold(r, i % 2, i);
	assert_int_equal(wf_wire_remotes_hold(&r->t, &r->held[0], gid(1u << 20), &number), -ENOMEM);
	assert_int_equal(kind(r, 1u << 20), WF_WIRE_IS_FREE);
	(void)wf_wire_remotes_meet(&r->t, gid(1u << 20));
	assert_int_equal(wf_wire_remotes_hold(&r->t, &r->held[0], gid(1u << 20), &number), -ENOMEM);
	assert_int_equal(kind(r, 1u << 20), WF_WIRE_IS_STRANGER);
	(void)hold(r, 0, 1); /* one that is there */
	wf_wire_remotes_check(&r->t);
	/* A program ends, and there is room again. */
	wf_wire_remotes_release(&r->t, &r->held[1]);
	(void)hold(r, 0, 1u << 20);
}

/*
 * Sources whose halves have the same exclusive or, which shared one place of a hash that had no
 * key: the longest chain is that of chance.
 */
static void test_collisions(void **state)
{
	struct rig *r = *state;
	uint32_t longest = 0, number;

	for (uint64_t i = 0; i < 20000; i++) {
		uint8_t one[16];

		wf_be64_put(one, UINT64_C(0x2001000000000000) | i);
		wf_be64_put(one + 8, i);
		assert_int_equal(wf_wire_remotes_hold(&r->t, &r->held[0], one, &number), 0);
	}
	for (uint32_t i = 0; i < WF_LIVE_REMOTES; i++) {
		uint32_t n = 0;

		for (uint32_t at = r->t.bucket[i]; at != 0; at = r->t.at[at - 1].chain)
			n++;
		longest = n > longest ? n : longest;
	}
	assert_true(longest <= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flood, setup, teardown),
		cmocka_unit_test_setup_teardown(test_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_collisions, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
