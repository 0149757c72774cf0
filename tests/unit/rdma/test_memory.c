/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of rdma/mr.c: keys, rights, bounds, windows; and every allocation failed in turn. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem_fail.h"
#include "rdma/rig_pair.h"

static void test_reg_rules(void **state)
{
	static const struct {
		uint32_t access;
		uint64_t iova, length;
		int want;
	} row[] = {
		{ 0, 0, 10, 0 },
		{ WF_ACCESS_REMOTE_READ, 5, 10, 0 },
		{ WF_ACCESS_REMOTE_WRITE, 5, 10, -EINVAL },
		{ WF_ACCESS_REMOTE_ATOMIC, 5, 10, -EINVAL },
		{ WF_ACCESS_REMOTE_WRITE | WF_ACCESS_LOCAL_WRITE, 5, 10, 0 },
		{ WF_ACCESS_ON_DEMAND, 5, 10, 0 },
		{ 0x80, 5, 10, -EINVAL },
		{ 0, UINT64_MAX, 1, 0 },
		{ 0, UINT64_MAX, 2, -EINVAL },
		{ 0, 0, 0, 0 },
	};
	struct rig rig;

	(void)state;
	rig_init(&rig, 1, NULL, 1);
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_mr_attr attr = { .iova = row[i].iova,
			                   .length = row[i].length,
			                   .access = row[i].access };
		struct wf_mr *mr;

		assert_int_equal(wf_mr_reg(rig.host[0].pd, &attr, &mr), row[i].want);
		if (row[i].want == 0)
			assert_int_equal(wf_mr_dereg(mr), 0);
	}
	rig_fini(&rig);
}

/* A key that was given back is not given out again at once, and not with the same key part. */
static void test_keys_are_fresh(void **state)
{
	struct wf_mr_attr attr = { .length = 10 };
	struct rig rig;
	uint32_t last = 0;

	(void)state;
	rig_init(&rig, 1, NULL, 1);
	for (int i = 0; i < 2000; i++) {
		struct wf_mr *mr;

		assert_int_equal(wf_mr_reg(rig.host[0].pd, &attr, &mr), 0);
		assert_int_not_equal(wf_mr_lkey(mr), 0);
		assert_int_not_equal(wf_mr_lkey(mr) >> 8, last >> 8);
		last = wf_mr_lkey(mr);
		assert_int_equal(wf_pd_destroy(rig.host[0].pd), -EBUSY);
		assert_int_equal(wf_mr_dereg(mr), 0);
	}
	rig_fini(&rig);
}

static void test_table_full(void **state)
{
	struct wf_mr_attr attr = { .length = 10 };
	struct wf_mr *mr[256];
	struct wf_mw *mw;
	struct rig rig;

	(void)state;
	rig_init(&rig, 1, NULL, 1);
	for (int i = 0; i < 256; i++)
		assert_int_equal(wf_mr_reg(rig.host[0].pd, &attr, &mr[i]), 0);
	assert_int_equal(wf_mr_reg(rig.host[0].pd, &attr, &mr[0]), -ENOMEM);
	assert_int_equal(wf_mw_create(rig.host[0].pd, WF_MW_TYPE_1, &mw), -ENOMEM);
	assert_int_equal(wf_mr_dereg(mr[7]), 0);
	assert_int_equal(wf_mw_create(rig.host[0].pd, WF_MW_TYPE_1, &mw), 0);
	rig_fini(&rig);
}

/* Writes 8 bytes from host 0 to addr of host 1 with rkey; returns how it ended. */
static enum wf_wc_status write_to(struct pair *p, uint64_t addr, uint32_t rkey)
{
	struct wf_sge sge = rig_sge(p->mem[0], 8, p->mr[0]);
	struct wf_send_wr wr = { .opcode = WF_WR_RDMA_WRITE,
		                 .flags = WF_SEND_SIGNALED,
		                 .rdma = { .addr = addr, .rkey = rkey } };
	struct wf_wc wc;

	assert_int_equal(rig_post(p->qp[0], &wr, &sge), 0);
	rig_run(&p->rig);
	assert_true(rig_poll(&p->rig, 0, &wc));
	if (wc.status != WF_WC_SUCCESS)
		pair_recycle(p, 9);
	return wc.status;
}

static void test_iova_and_zero_based(void **state)
{
	struct wf_mr_attr attr = { .iova = UINT64_C(0x123456789000),
		                   .length = 4096,
		                   .access = WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE };
	struct wf_mr *mr;
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 1);
	attr.host = p.mem[1] + 1000;
	assert_int_equal(wf_mr_reg(p.rig.host[1].pd, &attr, &mr), 0);
	assert_int_equal(write_to(&p, attr.iova + 16, wf_mr_rkey(mr)), WF_WC_SUCCESS);
	assert_memory_equal(p.mem[0], p.mem[1] + 1016, 8);
	assert_int_equal(write_to(&p, attr.iova + 4089, wf_mr_rkey(mr)), WF_WC_REM_ACCESS_ERR);
	assert_int_equal(write_to(&p, (uintptr_t)attr.host, wf_mr_rkey(mr)), WF_WC_REM_ACCESS_ERR);
	assert_int_equal(wf_mr_dereg(mr), 0);
	assert_int_equal(write_to(&p, attr.iova + 16, 5), WF_WC_REM_ACCESS_ERR);

	attr.access |= WF_ACCESS_ZERO_BASED;
	assert_int_equal(wf_mr_reg(p.rig.host[1].pd, &attr, &mr), 0);
	assert_int_equal(write_to(&p, 4088, wf_mr_rkey(mr)), WF_WC_SUCCESS);
	assert_memory_equal(p.mem[0], p.mem[1] + 1000 + 4088, 8);
	/* Registered anew: the key stays, what was asked for has changed. */
	attr.length = 100;
	{
		uint32_t old = wf_mr_rkey(mr);

		assert_int_equal(wf_mr_rereg(mr, WF_REREG_TRANSLATION, NULL, &attr), 0);
		assert_int_equal(wf_mr_rkey(mr), old);
		assert_int_equal(write_to(&p, 100, old), WF_WC_REM_ACCESS_ERR);
	}
	assert_int_equal(write_to(&p, 92, wf_mr_rkey(mr)), WF_WC_SUCCESS);
	assert_int_equal(write_to(&p, 93, wf_mr_rkey(mr)), WF_WC_REM_ACCESS_ERR);
	assert_int_equal(wf_mr_rereg(mr, 0, NULL, &attr), -EINVAL);
	pair_fini(&p);
}

static void test_other_pd(void **state)
{
	struct wf_mr_attr attr = { .length = 100,
		                   .access = WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE };
	struct wf_pd *pd;
	struct wf_mr *mr;
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 1);
	assert_int_equal(wf_pd_create(p.rig.host[1].hca, &pd), 0);
	attr.host = p.mem[1];
	assert_int_equal(wf_mr_reg(pd, &attr, &mr), 0);
	assert_int_equal(write_to(&p, 0, wf_mr_rkey(mr)), WF_WC_REM_ACCESS_ERR);
	assert_int_equal(wf_mr_rereg(mr, WF_REREG_PD, p.rig.host[1].pd, NULL), 0);
	assert_int_equal(write_to(&p, 0, wf_mr_rkey(mr)), WF_WC_SUCCESS);
	assert_int_equal(wf_pd_destroy(pd), 0);
	pair_fini(&p);
}

static void test_window_type1(void **state)
{
	struct wf_mw_bind bind = { .length = 64, .access = WF_ACCESS_REMOTE_WRITE };
	struct wf_mw *mw;
	struct wf_wc wc;
	uint32_t old;
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 1);
	assert_int_equal(wf_mw_create(p.rig.host[1].pd, WF_MW_TYPE_1, &mw), 0);
	bind.mr = p.mr[1];
	bind.addr = (uintptr_t)p.mem[1] + 512;
	assert_int_equal(wf_qp_bind_mw(p.qp[1], mw, 6, WF_SEND_SIGNALED, &bind), 0);
	rig_run(&p.rig);
	assert_true(rig_poll(&p.rig, 1, &wc));
	assert_int_equal(wc.opcode, WF_WC_BIND_MW);
	assert_int_equal(wc.status, WF_WC_SUCCESS);
	assert_int_equal(wf_mr_dereg(p.mr[1]), -EBUSY);
	assert_int_equal(write_to(&p, bind.addr + 56, wf_mw_rkey(mw)), WF_WC_SUCCESS);
	assert_int_equal(write_to(&p, bind.addr + 57, wf_mw_rkey(mw)), WF_WC_REM_ACCESS_ERR);
	/* Bound anew, the old key is no good; unbound, none is. */
	old = wf_mw_rkey(mw);
	bind.addr += 64;
	assert_int_equal(wf_qp_bind_mw(p.qp[1], mw, 7, 0, &bind), 0);
	rig_run(&p.rig);
	assert_int_not_equal(wf_mw_rkey(mw), old);
	assert_int_equal(write_to(&p, bind.addr - 64, old), WF_WC_REM_ACCESS_ERR);
	assert_int_equal(write_to(&p, bind.addr, wf_mw_rkey(mw)), WF_WC_SUCCESS);
	bind.length = 0;
	assert_int_equal(wf_qp_bind_mw(p.qp[1], mw, 8, 0, &bind), 0);
	rig_run(&p.rig);
	assert_int_equal(write_to(&p, bind.addr, wf_mw_rkey(mw)), WF_WC_REM_ACCESS_ERR);
	wf_mw_destroy(mw);
	assert_int_equal(wf_mr_dereg(p.mr[1]), 0);
	pair_fini(&p);
}

/* A type 2 window belongs to the queue pair it was bound on, until invalidated. */
static void test_window_type2(void **state)
{
	struct wf_send_wr wr = { .opcode = WF_WR_BIND_MW, .flags = WF_SEND_SIGNALED };
	struct wf_qp *other[2];
	struct wf_mw *mw;
	struct wf_wc wc;
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 1);
	assert_int_equal(wf_mw_create(p.rig.host[1].pd, WF_MW_TYPE_2, &mw), 0);
	wr.mw.mw = mw;
	wr.mw.rkey = wf_rkey_next(wf_mw_rkey(mw));
	wr.mw.bind = (struct wf_mw_bind){ .mr = p.mr[1],
		                          .addr = (uintptr_t)p.mem[1],
		                          .length = 64,
		                          .access = WF_ACCESS_REMOTE_WRITE | WF_ACCESS_ZERO_BASED };
	assert_int_equal(rig_post(p.qp[1], &wr, NULL), 0);
	rig_run(&p.rig);
	assert_true(rig_poll(&p.rig, 1, &wc));
	assert_int_equal(wc.status, WF_WC_SUCCESS);
	assert_int_equal(write_to(&p, 8, wr.mw.rkey), WF_WC_SUCCESS);
	assert_memory_equal(p.mem[0], p.mem[1] + 8, 8);

	other[0] = p.qp[0];
	other[1] = p.qp[1];
	for (uint32_t i = 0; i < 2; i++)
		p.qp[i] = rig_make_qp(&p.rig, i, WF_QPT_RC, NULL);
	rig_connect(p.qp[0], 0, p.qp[1], 1, &p.attr, 5);
	assert_int_equal(write_to(&p, 8, wr.mw.rkey), WF_WC_REM_ACCESS_ERR);
	p.qp[0] = other[0];
	p.qp[1] = other[1];

	wr = (struct wf_send_wr){ .opcode = WF_WR_LOCAL_INV,
		                  .flags = WF_SEND_SIGNALED,
		                  .imm = wf_mw_rkey(mw) };
	assert_int_equal(rig_post(p.qp[1], &wr, NULL), 0);
	rig_run(&p.rig);
	while (rig_poll(&p.rig, 1, &wc))
		assert_true(wc.opcode != WF_WC_LOCAL_INV || wc.status == WF_WC_SUCCESS);
	assert_int_equal(write_to(&p, 8, wf_mw_rkey(mw)), WF_WC_REM_ACCESS_ERR);
	pair_fini(&p);
}

/* Creates one of everything. Returns the first error; what was made goes with the adapter. */
static int create_all(struct wf_hca *hca)
{
	struct wf_srq_attr srq_attr = { .max_wr = 4, .max_sge = 1 };
	struct wf_qp_init init = { .type = WF_QPT_RC, .cap = { .max_send_wr = 4 } };
	struct wf_ah_attr ah_attr = { .dest = 1 };
	struct wf_srq *srq;
	struct wf_pd *pd;
	struct wf_qp *qp;
	struct wf_ah *ah;
	int ret;

	ret = wf_pd_create(hca, &pd);
	ret = ret != 0 ? ret : wf_cq_create(hca, 10, &init.send_cq);
	ret = ret != 0 ? ret : wf_cq_resize(init.send_cq, 20);
	ret = ret != 0 ? ret : wf_srq_create(pd, &srq_attr, &srq);
	if (ret != 0)
		return ret;
	srq_attr.max_wr = 8;
	ret = wf_srq_modify(srq, &srq_attr, WF_SRQ_MAX_WR);
	init.recv_cq = init.send_cq;
	init.srq = srq;
	ret = ret != 0 ? ret : wf_qp_create(pd, &init, &qp);
	return ret != 0 ? ret : wf_ah_create(pd, &ah_attr, &ah);
}

static void test_out_of_memory(void **state)
{
	struct wf_hca_attr attr;
	int n = 0;
	int ret;

	(void)state;
	wf_hca_attr_defaults(&attr);
	do {
		struct mem_fail c = mem_fail_after(n);
		struct wf_hca *hca = NULL;

		ret = wf_hca_create(&attr, &c.mem, &hca);
		if (ret == 0)
			ret = create_all(hca);
		else
			assert_null(hca);
		assert_true(ret == 0 || ret == -ENOMEM);
		wf_hca_destroy(hca);
		assert_int_equal(c.held, 0);
	} while (n++ < 100 && ret != 0);
	assert_in_range(n, 12, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reg_rules),    cmocka_unit_test(test_keys_are_fresh),
		cmocka_unit_test(test_table_full),   cmocka_unit_test(test_iova_and_zero_based),
		cmocka_unit_test(test_other_pd),     cmocka_unit_test(test_window_type1),
		cmocka_unit_test(test_window_type2), cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
