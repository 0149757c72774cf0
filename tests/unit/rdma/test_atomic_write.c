/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of ATOMIC WRITE: its eight bytes arrive once and in order, or an error says why not.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/rig_pair.h"

#define SLOTS 8
#define WRITES 200

static uint64_t slot_addr(const struct pair *p, uint32_t i)
{
	return ((uintptr_t)p->mem[1] + 7) / 8 * 8 + (uint64_t)i * 8;
}

static int post(struct pair *p, uint64_t addr, uint64_t value)
{
	struct wf_send_wr wr = {
		.wr_id = value,
		.opcode = WF_WR_ATOMIC_WRITE,
		.flags = WF_SEND_SIGNALED,
		.atomic = { .addr = addr, .rkey = wf_mr_rkey(p->mr[1]), .swap = value },
	};

	return rig_post(p->qp[0], &wr, NULL);
}

static uint64_t value_at(uint64_t addr)
{
	uint64_t value;

	memcpy(&value, (const void *)(uintptr_t)addr, sizeof(value));
	return value;
}

/*
 * What the last one said stays, whatever was lost, doubled or late; between them go WRITEs and
 * READs.
 */
static void run(const struct wf_qp_tune *tune, const struct rig_faults *faults, uint64_t key)
{
	struct pair p;
	struct wf_wc wc;

	pair_init(&p, tune, NULL, 0xffffc0);
	p.rig.faults = *faults;
	p.rig.key = key;
	for (uint64_t i = 0; i < WRITES; i++) {
		struct wf_sge to = rig_sge(p.mem[0] + 10000, 3000, p.mr[0]);
		struct wf_send_wr wr = {
			.opcode = WF_WR_RDMA_READ,
			.rdma = { .addr = (uintptr_t)p.mem[1] + 500, .rkey = wf_mr_rkey(p.mr[1]) },
		};

		assert_int_equal(post(&p, slot_addr(&p, (uint32_t)(i % SLOTS)), 1000 + i), 0);
		if (i % 3 == 0) {
			wr.opcode = i % 2 == 0 ? WF_WR_RDMA_READ : WF_WR_RDMA_WRITE;
			assert_int_equal(rig_post(p.qp[0], &wr, &to), 0);
		}
		if (i % 16 == 15)
			rig_run(&p.rig);
	}
	rig_run(&p.rig);
	for (uint64_t i = 0; i < WRITES; i++) {
		assert_true(rig_poll(&p.rig, 0, &wc));
		assert_int_equal(wc.status, WF_WC_SUCCESS);
		assert_int_equal(wc.opcode, WF_WC_ATOMIC_WRITE);
		assert_int_equal(wc.wr_id, 1000 + i);
	}
	expect_no_wc(&p);
	for (uint64_t i = 0; i < SLOTS; i++)
		assert_int_equal(value_at(slot_addr(&p, (uint32_t)i)), 1000 + WRITES - SLOTS + i);
	pair_fini(&p);
}

static const struct rig_faults faulty = { .drop = 1u << 29, .twice = 1u << 29, .late = 1u << 29 };

static void test_clean(void **state)
{
	static const struct rig_faults none = { .drop = 0 };

	(void)state;
	run(NULL, &none, 1);
}

static void test_faulty(void **state)
{
	(void)state;
	for (uint64_t key = 1; key <= 10; key++)
		run(NULL, &faulty, key);
}

static void test_selective(void **state)
{
	static const struct wf_qp_tune selective = {
		.recovery = WF_RECOVERY_SELECTIVE, .window = 64, .reorder = 63, .ack_every = 1
	};

	(void)state;
	for (uint64_t key = 1; key <= 10; key++)
		run(&selective, &faulty, key);
}

/* Only requests with a READ's answer are asked for again as one: each value is written once. */
static void test_written_once(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 5);
	p.rig.faults.twice = UINT32_MAX;
	assert_int_equal(post(&p, slot_addr(&p, 0), 1), 0);
	assert_int_equal(post(&p, slot_addr(&p, 0), 2), 0);
	rig_run(&p.rig);
	assert_int_equal(value_at(slot_addr(&p, 0)), 2);
	assert_int_equal(wf_hca_counter(p.rig.host[1].hca, WF_CTR_RX_ATOMIC_REQUESTS), 2);
	pair_fini(&p);
}

static void test_refused(void **state)
{
	static const struct {
		uint32_t shift, rights;
		enum wf_wc_status status;
	} row[] = {
		{ 1, WF_ACCESS_REMOTE, WF_WC_REM_INV_REQ_ERR },
		{ 4, WF_ACCESS_REMOTE, WF_WC_REM_INV_REQ_ERR },
		{ 0, WF_ACCESS_REMOTE & ~WF_ACCESS_REMOTE_WRITE, WF_WC_REM_INV_REQ_ERR },
		{ PAIR_BYTES, WF_ACCESS_REMOTE, WF_WC_REM_ACCESS_ERR },
		{ 0, WF_ACCESS_REMOTE_WRITE, WF_WC_SUCCESS },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_qp_attr attr;
		struct wf_wc wc;
		struct pair p;

		rig_attr_defaults(&attr);
		attr.qp_access_flags = row[i].rights;
		pair_init(&p, NULL, &attr, 5);
		assert_int_equal(post(&p, slot_addr(&p, 0) + row[i].shift, 1), 0);
		rig_run(&p.rig);
		assert_true(rig_poll(&p.rig, 0, &wc));
		assert_int_equal(wc.status, row[i].status);
		pair_fini(&p);
	}
}

/* It has no sge, and datagrams have no such thing. */
static void test_post(void **state)
{
	struct pair p;
	struct wf_sge sge;
	struct wf_send_wr wr = { .opcode = WF_WR_ATOMIC_WRITE };

	(void)state;
	pair_init(&p, NULL, NULL, 5);
	sge = rig_sge(p.mem[0], 8, p.mr[0]);
	assert_int_equal(rig_post(p.qp[0], &wr, &sge), -EINVAL);
	wr.num_sge = 0;
	wr.flags = WF_SEND_INLINE;
	assert_int_equal(rig_post(p.qp[0], &wr, NULL), -EINVAL);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),     cmocka_unit_test(test_faulty),
		cmocka_unit_test(test_selective), cmocka_unit_test(test_written_once),
		cmocka_unit_test(test_refused),   cmocka_unit_test(test_post),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
