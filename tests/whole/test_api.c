/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios: programs on the public interface move real bytes over modelled fabrics. */
/* ctest: tsan */
#include "check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "weft/weft.h"

#define BUFFER (1 << 20)
#define PIECES 64

/* One host's end of a connection, its memory and what came of its work. */
struct side {
	struct weft_fabric *fabric;
	struct weft_adapter *adapter;
	struct weft_cq *cq;
	struct weft_mr *mr;
	struct weft_qp *qp;
	unsigned char *memory;
	unsigned done[256]; /* completions by wr_id */
	unsigned received, bad;
	enum weft_status last;
	weft_time last_at;
};

struct rig {
	struct weft_fabric *fabric;
	struct side side[2];
};

static void on_completion(void *arg, const struct weft_wc *wc)
{
	struct side *s = arg;

	assert_int_equal(wc->time, weft_adapter_now(s->adapter));
	assert_true(wc->time >= s->last_at);
	s->last_at = wc->time;
	s->last = wc->status;
	s->bad += wc->status != WEFT_SUCCESS;
	s->done[wc->wr_id & 255]++;
	s->received += wc->status == WEFT_SUCCESS && wc->opcode >= WEFT_WC_RECV;
}

static void open_side(struct rig *r, unsigned i, uint32_t host, enum weft_qp_type type)
{
	struct side *s = &r->side[i];
	struct weft_qp_attr attr = { .type = type };

	s->fabric = r->fabric;
	s->adapter = weft_adapter_open(r->fabric, host);
	assert_non_null(s->adapter);
	s->memory = calloc(1, BUFFER);
	assert_non_null(s->memory);
	assert_int_equal(weft_cq_create(s->adapter, 1024, &s->cq), 0);
	weft_cq_on_completion(s->cq, on_completion, s);
	assert_int_equal(weft_mr_create(s->adapter, s->memory, BUFFER, WEFT_ALL_ACCESS, &s->mr), 0);
	attr.send_cq = attr.recv_cq = s->cq;
	assert_int_equal(weft_qp_create(s->adapter, &attr, &s->qp), 0);
}

static void rig_init(struct rig *r, const struct weft_fabric_attr *attr, enum weft_qp_type type)
{
	char error[512] = "";

	memset(r, 0, sizeof(*r));
	if (weft_fabric_create(attr, error, sizeof(error), &r->fabric) != 0)
		fail_msg("%s", error);
	open_side(r, 0, 0, type);
	open_side(r, 1, weft_fabric_hosts(r->fabric) - 1, type);
	if (type == WEFT_UD) {
		assert_int_equal(weft_qp_activate(r->side[0].qp, 7), 0);
		assert_int_equal(weft_qp_activate(r->side[1].qp, 7), 0);
	} else {
		assert_int_equal(weft_qp_connect(r->side[0].qp, r->side[1].qp, NULL), 0);
	}
}

/* Nothing is on its way any more, so every payload was given back. */
static void rig_fini(struct rig *r)
{
	struct weft_stats stats;

	weft_fabric_stats(r->fabric, &stats);
	assert_int_equal(stats.payload_held, 0);
	assert_int_equal(stats.packets_sent, stats.packets_delivered + stats.packets_dropped);
	weft_fabric_destroy(r->fabric);
	free(r->side[0].memory);
	free(r->side[1].memory);
}

static void fill(unsigned char *memory, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		memory[i] = (unsigned char)(seed * 31 + i * 7 + (i >> 8) * 13);
}

static struct weft_sge sge_at(const struct side *s, size_t at, size_t n)
{
	return (struct weft_sge){ (uintptr_t)(s->memory + at), (uint32_t)n, weft_mr_lkey(s->mr) };
}

/* Posts a request from side 0 about bytes at..at+n of both sides' memories. */
static int request(struct rig *r, enum weft_opcode op, uint64_t id, size_t at, size_t n)
{
	struct weft_sge sge = sge_at(&r->side[0], at, n);
	struct weft_send send = {
		.wr_id = id,
		.opcode = op,
		.sge = &sge,
		.n_sge = 1,
		.imm = 0x1234,
		.remote_addr = (uintptr_t)(r->side[1].memory + at),
		.rkey = weft_mr_rkey(r->side[1].mr),
		.compare_add = 5,
		.swap = 9,
	};

	return weft_post_send(r->side[0].qp, &send);
}

static int receive(struct rig *r, unsigned side, uint64_t id, size_t at, size_t n)
{
	struct weft_sge sge = sge_at(&r->side[side], at, n);
	const struct weft_recv recv = { .wr_id = id, .sge = &sge, .n_sge = 1 };

	return weft_post_recv(r->side[side].qp, &recv);
}

static const char *const lossy_ber[] = { "fabric.link.ber=4e-7", "fabric.sender.timeout=50us",
	                                 NULL };

/*
 * Fabrics with PFC, with credits and with neither, whole and with bit errors, on 1 and 3 threads.
 */
static const struct weft_fabric_attr fabrics[] = {
	{ .profile = "roce-400g", .hosts = 2 },
	{ .profile = "ib-ndr", .hosts = 2 },
	{ .profile = "roce-400g", .topology = "leaf-spine", .hosts = 64, .threads = 3 },
	{ .profile = "roce-400g", .hosts = 2, .set = lossy_ber },
	{ .profile = "ib-ndr", .hosts = 2, .set = lossy_ber },
	{ .profile = "roce-400g-lossy", .hosts = 2, .set = lossy_ber, .seed = 5 },
	{ .profile = "roce-400g-spray", .topology = "leaf-spine", .hosts = 64, .set = lossy_ber },
	{ .profile = "uec-400g", .topology = "leaf-spine", .hosts = 64, .set = lossy_ber },
};

static bool is_lossy(size_t i)
{
	return fabrics[i].set != NULL;
}

static void check_loss(const struct rig *r, size_t i)
{
	struct weft_stats stats;

	weft_fabric_stats(r->fabric, &stats);
	assert_int_equal(stats.packets_dropped > 0, is_lossy(i));
	assert_int_equal(stats.packets_dropped, stats.drops_error);
	assert_int_equal(stats.drops_congestion + stats.drops_down, 0);
}

static void test_write_and_read(void **state)
{
	static const enum weft_opcode ops[] = { WEFT_WRITE, WEFT_READ };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(fabrics) * 2; i++) {
		enum weft_opcode op = ops[i % 2];
		struct rig r;

		rig_init(&r, &fabrics[i / 2], WEFT_RC);
		fill(r.side[0].memory, BUFFER, op == WEFT_WRITE);
		fill(r.side[1].memory, BUFFER, op != WEFT_WRITE);
		for (unsigned k = 0; k < PIECES; k++)
			assert_int_equal(
				request(&r, op, k, (size_t)k * BUFFER / PIECES, BUFFER / PIECES),
				0);
		assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
		for (unsigned k = 0; k < PIECES; k++)
			assert_int_equal(r.side[0].done[k], 1);
		assert_int_equal(r.side[0].bad, 0);
		assert_memory_equal(r.side[0].memory, r.side[1].memory, BUFFER);
		fill(r.side[0].memory, BUFFER, 1); /* it is the side that was copied */
		assert_memory_equal(r.side[0].memory, r.side[1].memory, BUFFER);
		check_loss(&r, i / 2);
		rig_fini(&r);
	}
}

#define SENDERS 8

/*
 * Eight hosts write to one, whose queue is short: packets are trimmed, and so sent again though
 * none was dropped; all bytes arrive, and the payloads that were cut off were given back.
 */
static void test_trimmed(void **state)
{
	static const char *const set[] = { "fabric.buffer.queue_alpha=1/2048", NULL };
	static const struct weft_fabric_attr attr = {
		.profile = "uec-400g", .hosts = SENDERS + 1, .set = set, .threads = 2
	};
	const uint64_t packets = SENDERS * BUFFER / 4096;
	struct weft_stats stats;
	struct rig r[SENDERS];
	char error[512] = "";

	(void)state;
	memset(r, 0, sizeof(r));
	if (weft_fabric_create(&attr, error, sizeof(error), &r[0].fabric) != 0)
		fail_msg("%s", error);
	for (uint32_t i = 0; i < SENDERS; i++) {
		r[i].fabric = r[0].fabric;
		open_side(&r[i], 0, i, WEFT_RC);
		open_side(&r[i], 1, SENDERS, WEFT_RC);
		assert_int_equal(weft_qp_connect(r[i].side[0].qp, r[i].side[1].qp, NULL), 0);
		fill(r[i].side[0].memory, BUFFER, i);
		assert_int_equal(request(&r[i], WEFT_WRITE, 1, 0, BUFFER), 0);
	}
	assert_int_equal(weft_run(r[0].fabric, WEFT_FOREVER), 0);
	weft_fabric_stats(r[0].fabric, &stats);
	assert_int_equal(stats.packets_dropped, 0);
	assert_int_equal(stats.packets_sent, stats.packets_delivered);
	assert_int_equal(stats.payload_held, 0);
	/* A packet and its acknowledgement each, and the trimmed ones twice. */
	assert_true(stats.packets_sent > 2 * packets + packets / 8);
	for (uint32_t i = 0; i < SENDERS; i++) {
		assert_int_equal(r[i].side[0].done[1], 1);
		assert_int_equal(r[i].side[0].bad, 0);
		assert_memory_equal(r[i].side[0].memory, r[i].side[1].memory, BUFFER);
	}
	weft_fabric_destroy(r[0].fabric);
	for (uint32_t i = 0; i < SENDERS; i++) {
		free(r[i].side[0].memory);
		free(r[i].side[1].memory);
	}
}

static void test_send(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(fabrics); i++) {
		const size_t n = BUFFER / PIECES - 3;
		struct rig r;

		rig_init(&r, &fabrics[i], WEFT_RC);
		fill(r.side[0].memory, BUFFER, 3);
		for (unsigned k = 0; k < PIECES; k++) {
			assert_int_equal(receive(&r, 1, k, k * n, n), 0);
			assert_int_equal(request(&r, WEFT_SEND_IMM, k, k * n, n), 0);
		}
		assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
		assert_int_equal(r.side[1].received, PIECES);
		assert_int_equal(r.side[0].bad + r.side[1].bad, 0);
		assert_memory_equal(r.side[0].memory, r.side[1].memory, PIECES * n);
		check_loss(&r, i);
		rig_fini(&r);
	}
}

static void test_atomics(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(fabrics); i++) {
		uint64_t *counter, *old;
		struct rig r;

		rig_init(&r, &fabrics[i], WEFT_RC);
		counter = (uint64_t *)(void *)r.side[1].memory;
		old = (uint64_t *)(void *)r.side[0].memory;
		counter[100] = 5;
		for (unsigned k = 0; k < 100; k++) {
			struct weft_sge sge = sge_at(&r.side[0], 8 * k, 8);
			struct weft_send send = {
				.opcode = WEFT_FETCH_ADD,
				.sge = &sge,
				.n_sge = 1,
				.remote_addr = (uintptr_t)counter,
				.rkey = weft_mr_rkey(r.side[1].mr),
				.compare_add = 3,
			};

			assert_int_equal(weft_post_send(r.side[0].qp, &send), 0);
		}
		assert_int_equal(request(&r, WEFT_CMP_SWAP, 200, 800, 8), 0);
		assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
		assert_int_equal(r.side[0].bad, 0);
		assert_int_equal(r.side[0].done[200], 1);
		assert_int_equal(*counter, 300);
		for (unsigned k = 0; k < 100; k++)
			assert_int_equal(old[k], 3 * k);
		assert_int_equal(old[100], 5);
		assert_int_equal(counter[100], 9);
		rig_fini(&r);
	}
}

/* Datagrams, with their sender's address in front of the data. */
static void test_datagrams(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct weft_sge sge;
		struct weft_send send = { .opcode = WEFT_SEND, .sge = &sge, .n_sge = 1, .qkey = 7 };
		struct rig r;

		rig_init(&r, &fabrics[i], WEFT_UD);
		fill(r.side[0].memory, 1000, 1);
		sge = sge_at(&r.side[0], 0, 1000);
		send.dest_host = weft_fabric_hosts(r.fabric) - 1;
		send.dest_qp = weft_qp_num(r.side[1].qp);
		assert_int_equal(receive(&r, 1, 1, 0, 1040), 0);
		assert_int_equal(weft_post_send(r.side[0].qp, &send), 0);
		send.dest_host = weft_fabric_hosts(r.fabric);
		assert_int_equal(weft_post_send(r.side[0].qp, &send), -EINVAL);
		assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
		assert_int_equal(r.side[1].received, 1);
		assert_memory_equal(r.side[0].memory, r.side[1].memory + 40, 1000);
		rig_fini(&r);
	}
}

/* An unreliable connection, a shared receive queue, and a queue that is polled. */
static void test_uc_srq_and_polling(void **state)
{
	struct weft_srq *srq;
	struct weft_cq *cq;
	struct weft_sge sge;
	struct weft_recv recv = { .wr_id = 77, .sge = &sge, .n_sge = 1 };
	struct weft_qp_attr attr = { .type = WEFT_UC };
	struct weft_wc wc[4];
	struct rig r;

	(void)state;
	rig_init(&r, &fabrics[0], WEFT_UC);
	weft_qp_destroy(r.side[1].qp);
	assert_int_equal(weft_qp_reset(r.side[0].qp), 0);
	assert_int_equal(weft_srq_create(r.side[1].adapter, 16, 1, &srq), 0);
	assert_int_equal(weft_cq_create(r.side[1].adapter, 16, &cq), 0);
	attr.send_cq = attr.recv_cq = cq;
	attr.srq = srq;
	assert_int_equal(weft_qp_create(r.side[1].adapter, &attr, &r.side[1].qp), 0);
	assert_int_equal(weft_qp_connect(r.side[0].qp, r.side[1].qp, NULL), 0);
	sge = sge_at(&r.side[1], 0, 10000);
	assert_int_equal(weft_srq_post_recv(srq, &recv), 0);
	fill(r.side[0].memory, 10000, 1);
	assert_int_equal(request(&r, WEFT_SEND_IMM, 1, 0, 10000), 0);
	assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
	assert_int_equal(weft_cq_poll(cq, 4, wc), 1);
	assert_int_equal(wc[0].wr_id, 77);
	assert_int_equal(wc[0].byte_len, 10000);
	assert_true(wc[0].has_imm && wc[0].imm == 0x1234);
	assert_int_equal(weft_cq_poll(cq, 4, wc), 0);
	assert_memory_equal(r.side[0].memory, r.side[1].memory, 10000);
	assert_int_equal(weft_srq_destroy(srq), -EBUSY);
	assert_int_equal(weft_cq_destroy(cq), -EBUSY);
	weft_qp_destroy(r.side[1].qp);
	assert_int_equal(weft_srq_destroy(srq), 0);
	assert_int_equal(weft_cq_destroy(cq), 0);
	rig_fini(&r);
}

/* Errors come through as completions; then the queue pair flushes, and can be used again. */
static void test_errors(void **state)
{
	struct weft_conn conn;
	struct rig r;

	(void)state;
	rig_init(&r, &fabrics[1], WEFT_RC);
	weft_conn_defaults(r.fabric, &conn);
	/* Outside the peer's memory. */
	assert_int_equal(request(&r, WEFT_WRITE, 1, BUFFER - 10, 10), 0);
	assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
	assert_int_equal(r.side[0].last, WEFT_SUCCESS);
	weft_mr_destroy(r.side[1].mr);
	assert_int_equal(weft_mr_create(r.side[1].adapter, r.side[1].memory, 100, WEFT_ALL_ACCESS,
	                                &r.side[1].mr),
	                 0);
	assert_int_equal(request(&r, WEFT_READ, 2, 50, 60), 0);
	assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
	assert_int_equal(r.side[0].last, WEFT_REM_ACCESS_ERR);
	assert_int_equal(weft_qp_state(r.side[0].qp), WEFT_QPS_ERR);
	assert_int_equal(request(&r, WEFT_WRITE, 3, 0, 10), 0);
	assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
	assert_int_equal(r.side[0].last, WEFT_WR_FLUSH_ERR);
	assert_int_equal(r.side[0].done[3], 1);
	/* Nobody receives. */
	assert_int_equal(weft_qp_reset(r.side[0].qp) | weft_qp_reset(r.side[1].qp), 0);
	conn.rnr_retry = 2;
	assert_int_equal(weft_qp_connect(r.side[0].qp, r.side[1].qp, &conn), 0);
	assert_int_equal(request(&r, WEFT_SEND, 4, 0, 10), 0);
	assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
	assert_int_equal(r.side[0].last, WEFT_RNR_RETRY_EXC_ERR);
	/* The peer is gone, and what it had posted is flushed. */
	assert_int_equal(weft_qp_reset(r.side[0].qp) | weft_qp_reset(r.side[1].qp), 0);
	conn.retry_count = 1;
	assert_int_equal(weft_qp_connect(r.side[0].qp, r.side[1].qp, &conn), 0);
	assert_int_equal(receive(&r, 1, 5, 0, 10), 0);
	assert_int_equal(weft_qp_fail(r.side[1].qp), 0);
	assert_int_equal(request(&r, WEFT_WRITE, 6, 0, 10), 0);
	assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
	assert_int_equal(r.side[0].last, WEFT_RETRY_EXC_ERR);
	assert_int_equal(r.side[1].last, WEFT_WR_FLUSH_ERR);
	assert_int_equal(r.side[1].done[5], 1);
	assert_string_not_equal(weft_status_name(WEFT_RETRY_EXC_ERR),
	                        weft_status_name(WEFT_SUCCESS));
	rig_fini(&r);
}

/* What weft_call_at() calls. */
struct caller {
	struct side *side;
	unsigned n;
	weft_time at[8];
};

static void on_call(void *arg)
{
	struct caller *c = arg;
	weft_time now = weft_adapter_now(c->side->adapter);

	c->at[c->n++] = now;
	if (c->n == 2)
		assert_int_equal(weft_call_at(c->side->adapter, now, on_call, c), 0);
	if (c->n == 3)
		weft_stop(c->side->fabric);
}

/* Calls come at their time, in order; time goes on where it stopped. */
static void test_time(void **state)
{
	struct weft_adapter *a;
	struct caller c = { 0 };
	struct rig r;

	(void)state;
	rig_init(&r, &fabrics[0], WEFT_RC);
	c.side = &r.side[0];
	a = r.side[0].adapter;
	assert_int_equal(weft_call_at(a, 3 * WEFT_US + 17, on_call, &c), 0);
	assert_int_equal(weft_call_at(a, 20 * WEFT_US, on_call, &c), 0);
	assert_int_equal(weft_call_at(a, 5, on_call, &c), 0);
	assert_int_equal(weft_run(r.fabric, 2 * WEFT_US), 0);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.at[0], 5);
	assert_int_equal(weft_fabric_now(r.fabric), 2 * WEFT_US);
	assert_int_equal(weft_call_at(a, 1 * WEFT_US, on_call, &c), -EINVAL);
	assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.at[1], 3 * WEFT_US + 17);
	assert_int_equal(c.at[2], 3 * WEFT_US + 17);
	assert_true(weft_fabric_now(r.fabric) < 5 * WEFT_US);
	assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
	assert_int_equal(c.n, 4);
	assert_int_equal(c.at[3], 20 * WEFT_US);
	rig_fini(&r);
}

/* Two fabrics in one process know nothing of each other, and equal ones do the same. */
static void test_two_fabrics(void **state)
{
	struct rig r[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		rig_init(&r[i], &fabrics[4], WEFT_RC);
		fill(r[i].side[0].memory, BUFFER, i);
	}
	for (weft_time t = WEFT_US; t < 100 * WEFT_US; t += 3 * WEFT_US) {
		for (unsigned i = 0; i < 2; i++) {
			if (t == WEFT_US)
				assert_int_equal(request(&r[i], WEFT_WRITE, 0, 0, BUFFER), 0);
			assert_int_equal(weft_run(r[i].fabric, t), 0);
			assert_int_equal(weft_fabric_now(r[i].fabric), t);
		}
	}
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(weft_run(r[i].fabric, WEFT_FOREVER), 0);
		assert_memory_equal(r[i].side[0].memory, r[i].side[1].memory, BUFFER);
	}
	assert_int_equal(r[0].side[0].last_at, r[1].side[0].last_at);
	rig_fini(&r[0]);
	rig_fini(&r[1]);
}

/* The text of a scenario, and what is wrong with a wish. */
static void test_making_fabrics(void **state)
{
	static const char *const no_value[] = { "fabric.mtu", NULL };
	static const char *const unknown[] = { "fabric.emtu=4", NULL };
	static const struct weft_fabric_attr wrong[] = {
		{ .hosts = 2 },
		{ .profile = "ib-ndr" },
		{ .profile = "ib-nrd", .hosts = 2 },
		{ .profile = "ib-ndr", .hosts = 2, .topology = "ring" },
		{ .profile = "ib-ndr", .hosts = 2, .set = no_value },
		{ .profile = "ib-ndr", .hosts = 2, .set = unknown },
		{ .profile = "ib-ndr", .hosts = 2, .threads = 65 },
		{ .profile = "ib-ndr", .hosts = 2, .profiles = "/nowhere" },
		{ .scenario = "topology: [" },
	};
	const struct weft_fabric_attr good = {
		.scenario = "topology: {kind: leaf-spine, hosts: 8, radix: 8}\n"
			    "fabric: {profile: roce-400g, mtu: 1KiB}\n"
			    "traffic: [{kind: incast}]\n",
	};
	struct weft_fabric *fabric = NULL;
	struct rig r;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(wrong); i++) {
		char error[512] = "";

		assert_int_equal(weft_fabric_create(&wrong[i], error, sizeof(error), &fabric),
		                 -EINVAL);
		assert_true(strlen(error) > 10);
		assert_null(fabric);
		assert_int_equal(weft_fabric_create(&wrong[i], NULL, 0, &fabric), -EINVAL);
	}
	rig_init(&r, &good, WEFT_RC);
	assert_int_equal(weft_fabric_hosts(r.fabric), 8);
	assert_null(weft_adapter_open(r.fabric, 8));
	fill(r.side[0].memory, BUFFER, 1);
	assert_int_equal(request(&r, WEFT_WRITE_IMM, 0, 0, BUFFER), 0);
	assert_int_equal(receive(&r, 1, 0, 0, 0), 0);
	assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
	assert_int_equal(r.side[1].received, 1);
	assert_memory_equal(r.side[0].memory, r.side[1].memory, BUFFER);
	rig_fini(&r);
}

/* Program mistakes are told, not believed. */
static void test_wrong_use(void **state)
{
	struct weft_qp_attr attr = { .type = WEFT_RC };
	struct weft_qp *qp;
	struct weft_mr *mr;
	struct weft_cq *cq;
	struct rig r;
	char byte;

	(void)state;
	rig_init(&r, &fabrics[0], WEFT_RC);
	assert_int_equal(weft_mr_create(r.side[0].adapter, NULL, 10, WEFT_ALL_ACCESS, &mr),
	                 -EINVAL);
	assert_int_equal(weft_mr_create(r.side[0].adapter, &byte, 1, WEFT_REMOTE_WRITE, &mr),
	                 -EINVAL);
	assert_int_equal(weft_mr_create(r.side[0].adapter, &byte, 1, 0x100, &mr), -EINVAL);
	assert_int_equal(weft_cq_create(r.side[0].adapter, 0, &cq), -EINVAL);
	assert_int_equal(weft_qp_create(r.side[0].adapter, &attr, &qp), -EINVAL);
	attr.send_cq = attr.recv_cq = r.side[1].cq; /* another host's */
	assert_int_equal(weft_qp_create(r.side[0].adapter, &attr, &qp), -EINVAL);
	assert_int_equal(weft_qp_connect(r.side[0].qp, r.side[0].qp, NULL), -EINVAL);
	assert_int_equal(weft_qp_connect(r.side[0].qp, r.side[1].qp, NULL), -EINVAL); /* twice */
	assert_int_equal(weft_qp_activate(r.side[0].qp, 1), -EINVAL);
	assert_int_equal(request(&r, (enum weft_opcode)7, 0, 0, 1), -EINVAL);
	for (unsigned i = 0; i < 128; i++)
		assert_int_equal(request(&r, WEFT_WRITE, 0, 0, 1), 0);
	assert_int_equal(request(&r, WEFT_WRITE, 0, 0, 1), -ENOMEM);
	assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
	rig_fini(&r);
}

/* A fabric whose link goes down and comes up again while a program may be doing nothing. */
static const struct weft_fabric_attr flapping = {
	.scenario = "name: x\nseed: 1\n"
		    "topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: 400Gbps}\n"
		    "fabric: ib-ndr\n"
		    "faults:\n  - {link: [leaf0, spine0], down: 40us, up: 240us}\n"
		    "run: {until: 100ms, reconverge: 50us}\n",
};

/*
 * Work that is posted after a run whose last event was a link's, not a host's, is done: the time is
 * that of the last change of routes (240 us and 50 us), and the work is dated from there.
 */
static void test_work_after_a_fault(void **state)
{
	(void)state;
	for (unsigned idle = 0; idle < 2; idle++) {
		struct rig r;

		rig_init(&r, &flapping, WEFT_RC);
		if (idle) {
			assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
			assert_int_equal(weft_fabric_now(r.fabric), 290 * WF_US);
		}
		for (unsigned i = 0; i < 3; i++) {
			weft_time posted = weft_fabric_now(r.fabric);

			assert_int_equal(request(&r, WEFT_WRITE, i, 0, 4096), 0);
			assert_int_equal(weft_run(r.fabric, WEFT_FOREVER), 0);
			assert_int_equal(r.side[0].done[i], 1);
			assert_in_range(r.side[0].last_at, posted + 1 * WF_US, posted + 20 * WF_US);
			assert_true(weft_fabric_now(r.fabric) >= 290 * WF_US);
		}
		assert_int_equal(r.side[0].bad, 0);
		rig_fini(&r);
	}
}

/* Time passes also when nothing happens, and a run to a time that is over does nothing. */
static void test_idle_time(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, &flapping, WEFT_RC);
	for (weft_time t = 7 * WF_US; t < 500 * WF_US; t += 7 * WF_US) {
		assert_int_equal(weft_run(r.fabric, t), 0);
		assert_int_equal(weft_fabric_now(r.fabric), t);
		assert_int_equal(weft_run(r.fabric, t - 1), 0);
		assert_int_equal(weft_fabric_now(r.fabric), t);
	}
	assert_int_equal(request(&r, WEFT_WRITE, 0, 0, 4096), 0);
	assert_int_equal(weft_run(r.fabric, WF_MS), 0);
	assert_int_equal(weft_fabric_now(r.fabric), WF_MS);
	assert_int_equal(r.side[0].done[0], 1);
	assert_in_range(r.side[0].last_at, 498 * WF_US, 510 * WF_US);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_and_read), cmocka_unit_test(test_trimmed),
		cmocka_unit_test(test_send),           cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_datagrams),      cmocka_unit_test(test_uc_srq_and_polling),
		cmocka_unit_test(test_errors),         cmocka_unit_test(test_time),
		cmocka_unit_test(test_two_fabrics),    cmocka_unit_test(test_making_fabrics),
		cmocka_unit_test(test_wrong_use),      cmocka_unit_test(test_work_after_a_fault),
		cmocka_unit_test(test_idle_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
