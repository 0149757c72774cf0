/* SPDX-License-Identifier: Apache-2.0 */
/* test_drive.c - who moves an adapter on: no wake-up is lost, whoever sleeps. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "check.h"
#include "rig_nic.h"
#include "wire/opcode.h"

struct drive {
	struct rig *rig;
	struct wf_ah *ah;
	int woken; /* the daemon's side of nothing: keeps nic->events open */
};

static int setup(void **state)
{
	struct drive *t = calloc(1, sizeof(*t));
	struct wf_ah_attr attr = { .dest = 1, .port_num = 1 };
	int events[2];

	assert_non_null(t);
	t->rig = rig_create();
	assert_int_equal(wf_ah_create(t->rig->pd, &attr, &t->ah), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, events), 0);
	t->rig->nic->events = events[0];
	t->woken = events[1];
	t->rig->nic->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_true(t->rig->nic->wake >= 0);
	t->rig->nic->drive.state = WF_DRIVE_THREAD;
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct drive *t = *state;

	close(t->rig->nic->wake);
	close(t->rig->nic->events);
	close(t->woken);
	wf_ah_destroy(t->ah);
	rig_destroy(t->rig);
	free(t);
	return 0;
}

/* Whether the thread was called since this was last asked. */
static bool called(struct drive *t)
{
	uint64_t count;

	return read(t->rig->nic->wake, &count, sizeof(count)) == (ssize_t)sizeof(count);
}

static int post(struct drive *t, uint32_t bytes)
{
	struct wf_sge sge = { (uintptr_t)t->rig->memory, bytes, wf_mr_lkey(t->rig->mr) };
	struct wf_send_wr wr = {
		.sge = &sge,
		.num_sge = 1,
		.opcode = WF_WR_SEND,
		.ud = { .ah = t->ah, .qpn = 1 << WF_LIVE_QPN_BITS | 2, .qkey = 1 },
	};
	const struct wf_send_wr *bad;

	return wf_qp_post_send(t->rig->ud, &wr, &bad);
}

/* Datagrams to peer 0 until its ring is full and one is staged. */
static void fill(struct drive *t)
{
	struct wf_nic_peer *p = t->rig->nic->peers[0];
	struct wf_wc wc;

	while (!p->full) {
		assert_int_equal(post(t, 4096), 0);
		(void)wf_nic_progress(t->rig->nic);
		while (wf_cq_poll(t->rig->cq, 1, &wc) == 1)
			assert_int_equal(wc.status, WF_WC_SUCCESS);
	}
	assert_non_null(p->staged);
}

/* Peer 0 takes one packet in. Returns whether it was asked to wake us for that. */
static bool take_one(struct drive *t)
{
	struct wf_packet pkt;
	const void *payload;

	assert_true(wf_ring_peek(&t->rig->far[0].rx, &pkt, &payload));
	wf_ring_consume(&t->rig->far[0].rx);
	return wf_ring_release(&t->rig->far[0].rx);
}

/*
 * A peer that takes in one packet at a time is asked for more room after each of them, until a
 * quarter of its ring is free and what was staged can go.
 */
static void test_asks_again(void **state)
{
	struct drive *t = *state;
	struct wf_nic_peer *p = t->rig->nic->peers[0];
	unsigned taken = 0;

	fill(t);
	while (p->full) {
		assert_true(take_one(t));
		(void)wf_nic_progress(t->rig->nic);
		taken++;
		assert_true(taken < 400);
	}
	assert_true(taken > 16);
	assert_null(p->staged);
}

static bool peers_told(struct drive *t, bool asleep)
{
	for (unsigned i = 0; i < RIG_PEERS; i++) {
		if (t->rig->nic->peers[i]->told != asleep ||
		    (t->rig->far[i].shared->side[0].asleep != 0) != asleep)
			return false;
	}
	return true;
}

/* Before the thread sleeps everybody is told; what is there already keeps it awake. */
static void test_arm(void **state)
{
	struct drive *t = *state;
	struct wf_nic *nic = t->rig->nic;
	struct wf_packet pkt = { .qpn = 5 };

	assert_true(wf_drive_arm(nic));
	assert_int_equal(nic->drive.state, WF_DRIVE_WAITS);
	assert_int_equal(nic->drive.until, WF_TIME_NEVER);
	assert_true(peers_told(t, true));
	nic->drive.state = WF_DRIVE_THREAD;
	/* A packet waits. */
	rig_send(t->rig, 1, &pkt, NULL, 0);
	assert_false(wf_drive_arm(nic));
	assert_int_equal(nic->drive.state, WF_DRIVE_THREAD);
	assert_true(peers_told(t, false));
	assert_true(wf_nic_progress(nic) > 0);
	/* It is delayed by a fault: the thread sleeps until it is due. */
	rig_send(t->rig, 1, &pkt, NULL, 0);
	nic->peers[1]->blocked = wf_nic_now(nic) + WF_S;
	assert_true(wf_drive_arm(nic));
	assert_int_equal(nic->drive.until, nic->peers[1]->blocked);
	nic->peers[1]->blocked = 0;
}

/* With a full ring the thread sleeps only after it asked, and not when there is room. */
static void test_arm_full(void **state)
{
	struct drive *t = *state;
	struct wf_nic *nic = t->rig->nic;

	fill(t);
	/* Somebody took the request, and there is still not enough room. */
	assert_true(take_one(t));
	assert_true(wf_drive_arm(nic));
	assert_int_equal(nic->drive.state, WF_DRIVE_WAITS);
	assert_true(take_one(t));
	nic->drive.state = WF_DRIVE_THREAD;
	for (int i = 0; i < 100; i++)
		(void)take_one(t);
	assert_false(wf_drive_arm(nic));
	assert_int_equal(nic->drive.state, WF_DRIVE_THREAD);
	(void)wf_nic_progress(nic);
	assert_false(nic->peers[0]->full);
}

/* A call that leaves something behind wakes the thread that sleeps; one that does not, does not. */
static void test_calls_thread(void **state)
{
	struct drive *t = *state;
	struct wf_nic *nic = t->rig->nic;
	struct wf_wc wc;

	assert_true(wf_drive_arm(nic));
	assert_int_equal(post(t, 64), 0);
	wf_nic_kick(nic);
	assert_false(called(t));
	assert_int_equal(nic->drive.state, WF_DRIVE_WAITS);
	while (wf_cq_poll(t->rig->cq, 1, &wc) == 1)
		;
	/* A reliable message has a timer. */
	{
		struct wf_sge sge = { (uintptr_t)t->rig->memory, 64, wf_mr_lkey(t->rig->mr) };
		struct wf_send_wr wr = { .sge = &sge, .num_sge = 1, .opcode = WF_WR_SEND };
		const struct wf_send_wr *bad;

		assert_int_equal(wf_qp_post_send(t->rig->rc, &wr, &bad), 0);
	}
	wf_nic_kick(nic);
	assert_true(called(t));
	assert_true(nic->drive.until < WF_TIME_NEVER);
	wf_nic_kick(nic);
	assert_false(called(t));
}

/* More packets than a call sends: nothing comes back for them, so the thread has to go on. */
static void test_leaves_more(void **state)
{
	struct drive *t = *state;
	struct wf_nic *nic = t->rig->nic;

	/* The longest message of the rig's queue pair, and then as many as it takes. */
	assert_true(wf_drive_arm(nic));
	for (int i = 0; i < 64; i++)
		assert_int_equal(post(t, 16), 0);
	{
		struct wf_sge sge = { (uintptr_t)t->rig->memory, 16, wf_mr_lkey(t->rig->mr) };
		struct wf_send_wr wr = { .sge = &sge, .num_sge = 1, .opcode = WF_WR_SEND };
		const struct wf_send_wr *bad;

		for (int i = 0; i < 8; i++)
			assert_int_equal(wf_qp_post_send(t->rig->rc, &wr, &bad), 0);
	}
	wf_nic_kick(nic);
	assert_true(wf_hca_tx_time(nic->hca) == 0);
	assert_true(called(t));
	assert_int_equal(nic->drive.until, 0);
}

/* A program that polls takes over; when it will wait, the thread does. */
static void test_polls(void **state)
{
	struct drive *t = *state;
	struct wf_nic *nic = t->rig->nic;
	int polls = 0;

	assert_true(wf_drive_arm(nic));
	while (nic->drive.state == WF_DRIVE_WAITS && polls < 1000) {
		wf_nic_poll(nic);
		polls++;
	}
	assert_int_equal(nic->drive.state, WF_DRIVE_PROGRAM);
	assert_true(polls > 1);
	assert_true(called(t));
	assert_true(peers_told(t, false));
	wf_nic_wait(nic);
	assert_int_equal(nic->drive.state, WF_DRIVE_THREAD);
	assert_true(called(t));
	/* It was said once. */
	wf_nic_wait(nic);
	assert_false(called(t));
}

/* Whether a poll that finds nothing, after long, lets others have the CPU for a moment. */
static bool naps(struct wf_nic *nic)
{
	struct rusage before, after;

	wf_nic_poll(nic);
	nic->drive.program = (struct wf_crowd){ .since = nic->clock - WF_S };
	assert_int_equal(getrusage(RUSAGE_THREAD, &before), 0);
	wf_nic_poll(nic);
	assert_int_equal(getrusage(RUSAGE_THREAD, &after), 0);
	return after.ru_nvcsw != before.ru_nvcsw;
}

/*
 * On few CPUs a program that polls leaves one to the daemon that its packets pass through: that of
 * the model, and that of the wire. Another program polls as well, and needs no such thing.
 */
static void test_naps(void **state)
{
	struct drive *t = *state;
	struct wf_nic *nic = t->rig->nic;

	assert_false(naps(nic));
	nic->model = nic->peers[1];
	assert_true(naps(nic));
	nic->drive.many_cpus = true;
	assert_false(naps(nic));
	nic->drive.many_cpus = false;
	nic->model = NULL;
	assert_false(naps(nic));
	nic->peers[1]->host = WF_LIVE_REMOTE;
	assert_true(naps(nic));
	nic->drive.many_cpus = true;
	assert_false(naps(nic));
}

/* A peer that comes while the thread sleeps may have sent before it knew that. */
static void test_new_peer(void **state)
{
	struct drive *t = *state;
	struct wf_nic *nic = t->rig->nic;

	assert_true(wf_drive_arm(nic));
	nic->peers[1]->told = false;
	wf_pipe_set_asleep(&nic->peers[1]->pipe, false);
	wf_drive_new_peer(nic, nic->peers[1]);
	assert_true(called(t));
	assert_true(peers_told(t, true));
	nic->drive.state = WF_DRIVE_THREAD;
	wf_drive_new_peer(nic, nic->peers[1]);
	assert_false(called(t));
}

static void wait_for(struct wf_nic *nic, enum wf_drive_state state)
{
	bool there = false;

	while (!there) {
		wf_nic_lock(nic);
		there = nic->drive.state == state;
		wf_nic_unlock(nic);
	}
}

/* The thread itself, through all states, woken by each of those who may. */
static void test_thread(void **state)
{
	struct drive *t = *state;
	struct wf_nic *nic = t->rig->nic;
	struct wf_packet pkt = { .qpn = 5 };
	pthread_t thread;

	nic->drive.state = WF_DRIVE_NOBODY;
	nic->locked = false;
	t->rig->far[0].wake_fd = fcntl(nic->wake, F_DUPFD_CLOEXEC, 0);
	assert_int_equal(pthread_create(&thread, NULL, wf_drive_main, nic), 0);
	wait_for(nic, WF_DRIVE_WAITS);
	/* A peer sends, and wakes whoever sleeps. */
	for (uint64_t i = 1; i <= 100; i++) {
		bool taken = false;

		rig_send(t->rig, 0, &pkt, NULL, 0);
		wf_pipe_fence();
		(void)wf_pipe_wake(&t->rig->far[0]);
		while (!taken) {
			wf_ring_refresh(&t->rig->far[0].tx);
			taken = t->rig->far[0].tx.tail == t->rig->far[0].tx.pos;
		}
	}
	/* The program polls for a while, and then does not. */
	for (bool there = false; !there;) {
		wf_nic_lock(nic);
		wf_nic_poll(nic);
		there = nic->drive.state == WF_DRIVE_PROGRAM;
		wf_nic_unlock(nic);
	}
	wait_for(nic, WF_DRIVE_WAITS);
	wf_nic_lock(nic);
	nic->stop = true;
	wf_drive_call_thread(nic);
	wf_nic_unlock(nic);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(nic->drive.state, WF_DRIVE_NOBODY);
	nic->locked = true;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_asks_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arm, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arm_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_calls_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(test_leaves_more, setup, teardown),
		cmocka_unit_test_setup_teardown(test_polls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_naps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_new_peer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_thread, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
