/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ring.c - rings between processes: order, room, and a side that does not play by the rules.
 */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "wire/packet.h"

/* A header in shared memory whose writer changes its length just before and after it is copied. */
static struct wf_packet *changing;
static uint16_t before, after;

static void *__attribute__((noinline)) copy_and_change(void *to, const void *from, size_t n)
{
	bool changes = changing != NULL && from == changing;

	if (changes)
		changing->input = before;
	(void)memcpy(to, from, n);
	if (changes)
		changing->input = after;
	return to;
}

#define memcpy copy_and_change
#include "live/pipe.h"
#undef memcpy

static int setup(void **state)
{
	static struct wf_pipe side[2];
	int fd = wf_pipe_memory();

	assert_true(fd >= 0);
	assert_int_equal(wf_pipe_open(&side[0], fd, 0, -1), 0);
	assert_int_equal(wf_pipe_open(&side[1], fd, 1, -1), 0);
	close(fd);
	*state = side;
	return 0;
}

static int teardown(void **state)
{
	struct wf_pipe *side = *state;

	wf_pipe_close(&side[0]);
	wf_pipe_close(&side[1]);
	return 0;
}

static void put(struct wf_ring *tx, uint32_t number, uint32_t bytes)
{
	struct wf_packet pkt = { .psn = number };
	char *at = wf_ring_reserve(tx, bytes);

	assert_non_null(at);
	memset(at, (int)(number & 0xff), bytes);
	wf_ring_commit(tx, &pkt, bytes);
}

static void get(struct wf_ring *rx, uint32_t number, uint32_t bytes)
{
	const void *payload = NULL;
	struct wf_packet pkt = { 0 };

	assert_true(wf_ring_peek(rx, &pkt, &payload));
	assert_int_equal(pkt.psn, number);
	assert_int_equal(pkt.input, bytes);
	for (uint32_t i = 0; i < bytes; i++)
		assert_int_equal(((const uint8_t *)payload)[i], number & 0xff);
	wf_ring_consume(rx);
}

static void test_order(void **state)
{
	struct wf_pipe *side = *state;
	const void *payload;
	struct wf_packet pkt;

	/* Several times round, with entries of all sizes: each crosses the end in one piece. */
	for (uint32_t i = 0; i < 5000; i++) {
		put(&side[0].tx, i, i * 37 % (WF_RING_PAYLOAD + 1));
		get(&side[1].rx, i, i * 37 % (WF_RING_PAYLOAD + 1));
		(void)wf_ring_release(&side[1].rx);
	}
	assert_false(wf_ring_peek(&side[1].rx, &pkt, &payload));
	assert_false(side[0].tx.broken || side[1].rx.broken);
}

static void test_full(void **state)
{
	struct wf_pipe *side = *state;
	uint32_t n = 0;

	while (wf_ring_reserve(&side[0].tx, 4096) != NULL)
		put(&side[0].tx, n++, 4096);
	assert_int_equal(n, (WF_RING_BYTES - WF_CACHE_LINE) / wf_ring_entry_bytes(4096));
	assert_true(wf_ring_want_space(&side[0].tx, 4096));
	get(&side[1].rx, 0, 4096);
	assert_true(wf_ring_release(&side[1].rx)); /* it was asked for */
	put(&side[0].tx, n, 4096);
	for (uint32_t i = 1; i <= n; i++)
		get(&side[1].rx, i, 4096);
	assert_false(wf_ring_ready(&side[1].rx));
}

/* Payload that looks like a header where the next one will be is not taken for it. */
static void test_old_payload(void **state)
{
	struct wf_pipe *side = *state;
	uint64_t forged = 2 * wf_ring_entry_bytes(64) + 1;
	char *at;
	struct wf_packet pkt = { .psn = 1 };

	/* An entry of two lines; the second line of payload lies where a later header will be. */
	at = wf_ring_reserve(&side[0].tx, 4096);
	for (uint32_t i = 0; i < 4096; i += 8)
		memcpy(at + i, &forged, sizeof(forged));
	/* Not committed: a shorter one takes its place. */
	at = wf_ring_reserve(&side[0].tx, 64);
	memset(at, 1, 64);
	wf_ring_commit(&side[0].tx, &pkt, 64);
	put(&side[0].tx, 2, 64);
	get(&side[1].rx, 1, 64);
	get(&side[1].rx, 2, 64);
	assert_false(wf_ring_ready(&side[1].rx));
}

static void test_hostile_producer(void **state)
{
	struct wf_pipe *side = *state;
	struct wf_packet pkt = { .psn = 1 };
	const void *payload;

	put(&side[0].tx, 1, 0);
	/* It says that its payload is longer than any can be. */
	((struct wf_packet *)(void *)side[1].rx.base)->input = WF_RING_PAYLOAD + 1;
	assert_false(wf_ring_peek(&side[1].rx, &pkt, &payload));
	assert_true(side[1].rx.broken);
}

/* What counts is what was copied, whatever the header was before, and is by now. */
static void test_changed_header(void **state)
{
	struct wf_pipe *side = *state;
	struct wf_packet pkt = { .psn = 1 };
	const void *payload;

	put(&side[0].tx, 1, 8);
	put(&side[0].tx, 2, 64);
	changing = (struct wf_packet *)(void *)side[1].rx.base;
	changing->input = UINT16_MAX;
	before = 8;
	after = UINT16_MAX;
	get(&side[1].rx, 1, 8);
	assert_int_equal(changing->input, UINT16_MAX);
	changing = NULL;
	get(&side[1].rx, 2, 64);
	put(&side[0].tx, 3, 8);
	changing = (struct wf_packet *)(void *)wf_ring_at(&side[1].rx, side[1].rx.pos);
	before = WF_RING_PAYLOAD + 1;
	after = 8;
	assert_false(wf_ring_peek(&side[1].rx, &pkt, &payload));
	assert_int_equal(changing->input, 8);
	assert_true(side[1].rx.broken);
	changing = NULL;
}

static void test_hostile_consumer(void **state)
{
	struct wf_pipe *side = *state;

	put(&side[0].tx, 1, 100);
	atomic_store(&side[1].rx.ctl->tail, UINT64_C(1) << 40); /* ahead of all that was sent */
	wf_ring_refresh(&side[0].tx);
	assert_true(side[0].tx.broken);
}

static void test_memory_is_sealed(void **state)
{
	int fd = wf_pipe_memory();
	struct wf_pipe shared;
	int plain[2];

	(void)state;
	assert_true(fd >= 0);
	assert_int_not_equal(ftruncate(fd, 4096), 0);
	assert_int_not_equal(ftruncate(fd, 1 << 28), 0);
	close(fd);
	assert_int_equal(pipe(plain), 0);
	assert_int_not_equal(wf_pipe_open(&shared, plain[0], 0, -1), 0);
	close(plain[0]);
	close(plain[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_old_payload, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_producer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changed_header, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_consumer, setup, teardown),
		cmocka_unit_test(test_memory_is_sealed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
