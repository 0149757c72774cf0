/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of the reliable connection: every operation, once, over a clean network. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/rig_pair.h"

static const uint32_t sizes[] = { 0, 1, 3, 8, 255, 1024, 1025, 2048, 4999, 9000 };

static void check_write(struct pair *p, uint32_t size, bool imm)
{
	struct wf_sge sge = rig_sge(p->mem[0] + 3, size, p->mr[0]);
	struct wf_send_wr wr = {
		.wr_id = size,
		.opcode = imm ? WF_WR_RDMA_WRITE_WITH_IMM : WF_WR_RDMA_WRITE,
		.flags = WF_SEND_SIGNALED,
		.imm = 0xabcd,
		.rdma = { .addr = (uintptr_t)p->mem[1] + 9000, .rkey = wf_mr_rkey(p->mr[1]) },
	};

	memset(p->mem[1] + 9000, 0xee, 10000);
	if (imm)
		assert_int_equal(rig_recv(p->qp[1], 77, NULL), 0);
	assert_int_equal(rig_post(p->qp[0], &wr, &sge), 0);
	rig_run(&p->rig);
	assert_memory_equal(p->mem[0] + 3, p->mem[1] + 9000, size);
	assert_int_equal(p->mem[1][9000 + size], 0xee);
	expect_wc(p, 0, size, WF_WC_RDMA_WRITE, 0);
	if (imm)
		expect_wc(p, 1, 77, WF_WC_RECV_RDMA_WITH_IMM, size);
	expect_no_wc(p);
}

static void test_write(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 0xfffffa);
	for (size_t i = 0; i < WF_ARRAY_SIZE(sizes); i++) {
		check_write(&p, sizes[i], false);
		check_write(&p, sizes[i], true);
	}
	pair_fini(&p);
}

static void test_send(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 0xfffffa);
	for (size_t i = 0; i < WF_ARRAY_SIZE(sizes); i++) {
		uint32_t size = sizes[i];
		/* Two pieces, the first of them odd. */
		struct wf_sge to[2] = { rig_sge(p.mem[1] + 100, 333, p.mr[1]),
			                rig_sge(p.mem[1] + 9000, 9000, p.mr[1]) };
		struct wf_sge from = rig_sge(p.mem[0] + 5, size, p.mr[0]);
		struct wf_recv_wr recv = { .wr_id = 9, .sge = to, .num_sge = 2 };
		struct wf_send_wr wr = { .wr_id = 4,
			                 .opcode = WF_WR_SEND,
			                 .flags = WF_SEND_SIGNALED };
		const struct wf_recv_wr *bad;
		uint32_t head = size < 333 ? size : 333;

		assert_int_equal(wf_qp_post_recv(p.qp[1], &recv, &bad), 0);
		assert_int_equal(rig_post(p.qp[0], &wr, &from), 0);
		rig_run(&p.rig);
		assert_memory_equal(p.mem[0] + 5, p.mem[1] + 100, head);
		assert_memory_equal(p.mem[0] + 5 + head, p.mem[1] + 9000, size - head);
		expect_wc(&p, 0, 4, WF_WC_SEND, 0);
		expect_wc(&p, 1, 9, WF_WC_RECV, size);
		expect_no_wc(&p);
	}
	pair_fini(&p);
}

static void test_read(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 0xfffffa);
	for (size_t i = 0; i < WF_ARRAY_SIZE(sizes); i++) {
		struct wf_sge to = rig_sge(p.mem[0] + 10000, sizes[i], p.mr[0]);
		struct wf_send_wr wr = {
			.wr_id = 5,
			.opcode = WF_WR_RDMA_READ,
			.flags = WF_SEND_SIGNALED,
			.rdma = { .addr = (uintptr_t)p.mem[1] + 1, .rkey = wf_mr_rkey(p.mr[1]) },
		};

		assert_int_equal(rig_post(p.qp[0], &wr, &to), 0);
		rig_run(&p.rig);
		assert_memory_equal(p.mem[0] + 10000, p.mem[1] + 1, sizes[i]);
		expect_wc(&p, 0, 5, WF_WC_RDMA_READ, sizes[i]);
		expect_no_wc(&p);
	}
	pair_fini(&p);
}

static void test_atomics(void **state)
{
	struct pair p;
	uint64_t value = 41;
	uint64_t old = 0;

	(void)state;
	pair_init(&p, NULL, NULL, 5);
	memcpy(p.mem[1] + 64 - (uintptr_t)p.mem[1] % 8, &value, 8);
	for (uint32_t i = 0; i < 3; i++) {
		struct wf_sge to = rig_sge(p.mem[0], 8, p.mr[0]);
		struct wf_send_wr wr = {
			.opcode = i == 0 ? WF_WR_ATOMIC_FETCH_AND_ADD : WF_WR_ATOMIC_CMP_AND_SWP,
			.flags = WF_SEND_SIGNALED,
			.atomic = { .addr = (uintptr_t)p.mem[1] + 64 - (uintptr_t)p.mem[1] % 8,
			            .rkey = wf_mr_rkey(p.mr[1]),
			            .compare_add = i == 0 ? 1 : 42,
			            .swap = 1000 },
		};
		static const uint64_t before[] = { 41, 42, 1000 };
		static const uint64_t after[] = { 42, 1000, 1000 };

		assert_int_equal(rig_post(p.qp[0], &wr, &to), 0);
		rig_run(&p.rig);
		memcpy(&old, p.mem[0], 8);
		memcpy(&value, p.mem[1] + 64 - (uintptr_t)p.mem[1] % 8, 8);
		assert_int_equal(old, before[i]);
		assert_int_equal(value, after[i]);
		expect_wc(&p, 0, 0, i == 0 ? WF_WC_FETCH_ADD : WF_WC_COMP_SWAP, 8);
	}
	pair_fini(&p);
}

static void test_inline_and_unsignaled(void **state)
{
	struct pair p;
	uint8_t here[5] = { 1, 2, 3, 4, 5 };

	(void)state;
	pair_init(&p, NULL, NULL, 5);
	for (uint32_t i = 0; i < 3; i++) {
		struct wf_sge sge = rig_sge(here, sizeof(here), NULL);
		struct wf_send_wr wr = {
			.wr_id = i,
			.opcode = WF_WR_RDMA_WRITE,
			.flags = WF_SEND_INLINE | (i == 2 ? WF_SEND_SIGNALED : 0),
			.rdma = { .addr = (uintptr_t)p.mem[1] + i * 8,
			          .rkey = wf_mr_rkey(p.mr[1]) },
		};

		here[0] = (uint8_t)(10 + i);
		assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	}
	memset(here, 0, sizeof(here));
	rig_run(&p.rig);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(p.mem[1][i * 8], 10 + i);
		assert_int_equal(p.mem[1][i * 8 + 4], 5);
	}
	expect_wc(&p, 0, 2, WF_WC_RDMA_WRITE, 0);
	expect_no_wc(&p);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_inline_and_unsignaled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
