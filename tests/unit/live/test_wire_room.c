/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wire_room.c - packets from outside for a program that does not take them in: they wait, in
 * order, the sockets are not read when much waits, and one that is stuck does not stop the others.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "check.h"
#include "live/wire_priv.h"
#include "wire/opcode.h"

#define PAYLOAD 4096
#define ENTRY 4160

struct rig {
	struct wf_daemon d;
	struct wf_dwires wires;
	struct wf_dwire host;
	struct wf_dgone gone;
	struct wf_dclient program;
	struct wf_pipe far;
	uint32_t sent, taken;
	int socket; /* stands for one of the host's on which something has come */
};

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct epoll_event event = { .events = EPOLLIN };
	int memory = wf_pipe_memory();

	assert_non_null(r);
	r->socket = eventfd(1, EFD_CLOEXEC);
	assert_true(r->socket >= 0);
	assert_true(memory >= 0);
	assert_int_equal(wf_pipe_open(&r->program.wire, memory, 1, -1), 0);
	assert_int_equal(wf_pipe_open(&r->far, memory, 0, -1), 0);
	close(memory);
	r->program.attached = r->program.on_wire = true;
	r->program.own = calloc(1, sizeof(*r->program.own));
	assert_non_null(r->program.own);
	r->d.clients = &r->program;
	r->d.gone = &r->gone;
	r->d.wires = &r->wires;
	r->d.epoll = epoll_create1(EPOLL_CLOEXEC);
	r->host.epoll = epoll_create1(EPOLL_CLOEXEC);
	event.data.ptr = &r->host;
	assert_int_equal(epoll_ctl(r->d.epoll, EPOLL_CTL_ADD, r->host.epoll, &event), 0);
	assert_int_equal(epoll_ctl(r->host.epoll, EPOLL_CTL_ADD, r->socket, &event), 0);
	r->wires.wire = &r->host;
	r->wires.n = 1;
	r->wires.now = wf_daemon_now();
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	wf_wire_drop_waiting(r->program.own);
	free(r->program.own);
	wf_pipe_close(&r->program.wire);
	wf_pipe_close(&r->far);
	close(r->d.epoll);
	close(r->host.epoll);
	close(r->socket);
	free(r);
	return 0;
}

static void come(struct rig *r, uint32_t n)
{
	struct wf_packet pkt = { .opcode = WF_OP_RC_WRITE_MIDDLE, .length = PAYLOAD };
	uint8_t payload[PAYLOAD];

	for (uint32_t i = 0; i < n; i++) {
		pkt.psn = r->sent++;
		memset(payload, (int)pkt.psn, sizeof(payload));
		wf_wire_deliver(&r->d, &r->host, &r->program, &pkt, payload, PAYLOAD);
	}
	wf_wire_pause(&r->d, &r->host);
}

/* The program takes in at most n; each must be the next. */
static uint32_t take(struct rig *r, uint32_t n)
{
	struct wf_packet pkt;
	const void *payload;
	uint32_t took = 0;

	for (; took < n && wf_ring_peek(&r->far.rx, &pkt, &payload); took++) {
		assert_int_equal(pkt.psn, r->taken++);
		assert_int_equal(((const uint8_t *)payload)[PAYLOAD - 1], (uint8_t)pkt.psn);
		wf_ring_consume(&r->far.rx);
	}
	(void)wf_ring_release(&r->far.rx);
	return took;
}

/* A round of the daemon. */
static void serve(struct rig *r)
{
	wf_wire_drain(&r->d, &r->program);
	wf_wire_pause(&r->d, &r->host);
}

static uint64_t lost(const struct rig *r)
{
	return r->gone.count[WF_LIVE_WIRE_RX_NO_ROOM];
}

/* Whether the loop would read the host's sockets. */
static bool is_read(const struct rig *r)
{
	struct epoll_event event;

	return epoll_wait(r->d.epoll, &event, 1, 0) == 1;
}

static void test_in_order(void **state)
{
	struct rig *r = *state;

	come(r, 1000); /* four rings full */
	assert_int_equal(lost(r), 0);
	assert_false(r->host.paused);
	assert_int_equal(wf_wire_patience(&r->d), -1);
	/* It is asked for when there is room, and told so. */
	assert_false(wf_wire_has_room(&r->program));
	assert_int_equal(atomic_load(&r->program.wire.tx.ctl->want_space), 1);
	(void)take(r, 10);
	assert_false(wf_wire_has_room(&r->program)); /* not for every small hole */
	(void)take(r, 80);
	assert_true(wf_wire_has_room(&r->program));
	while (r->taken < r->sent) {
		come(r, r->sent < 1100);
		serve(r);
		assert_true(take(r, 100) > 0);
	}
	assert_int_equal(r->program.own->waiting, 0);
	come(r, 1);
	assert_int_equal(r->program.own->waiting, 0);
	assert_int_equal(take(r, 2), 1);
	assert_int_equal(lost(r), 0);
}

static void test_pause_and_stuck(void **state)
{
	struct rig *r = *state;
	uint32_t most = (8u << 20) / ENTRY + WF_RING_BYTES / ENTRY;

	assert_true(is_read(r));
	come(r, most + 1);
	assert_true(r->host.paused);
	assert_false(is_read(r));
	assert_true(wf_wire_patience(&r->d) >= 0);
	come(r, WF_WIRE_BATCH - 1); /* the batch in hand */
	assert_int_equal(lost(r), 0);
	/* It makes room: they are read again. */
	(void)take(r, 200);
	serve(r);
	assert_false(r->host.paused);
	assert_true(is_read(r));
	come(r, 200);
	assert_true(r->host.paused);
	/* It does not, for long: others have their turn, and it loses. */
	r->wires.now += 249;
	serve(r);
	assert_true(r->host.paused);
	r->wires.now += 1;
	serve(r);
	assert_false(r->host.paused);
	assert_true(is_read(r));
	assert_int_equal(wf_wire_patience(&r->d), -1);
	come(r, 5);
	assert_int_equal(lost(r), 5);
	r->sent -= 5;
	/* It goes on, and has lost nothing of what waited. */
	while (take(r, 300) != 0)
		serve(r);
	assert_int_equal(r->taken, r->sent);
	assert_false(r->program.own->stuck);
	come(r, 1000);
	assert_int_equal(lost(r), 5);
}

/* A program that writes nonsense where it says how far it is loses its link. */
static void test_broken(void **state)
{
	struct rig *r = *state;

	come(r, 1000);
	atomic_store(&r->program.wire.tx.ctl->tail, UINT64_MAX);
	serve(r);
	assert_true(r->program.doomed);
	assert_false(wf_wire_has_room(&r->program));
	come(r, 1);
	assert_int_equal(lost(r), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pause_and_stuck, setup, teardown),
		cmocka_unit_test_setup_teardown(test_broken, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
