/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of memory that turns out not to be there while it is copied: whose error it is. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/rig_pair.h"

/* The byte that is not there; a region's memory with it in it cannot be copied. */
static const uint8_t *hole;

static bool copy(void *to, const void *from, size_t n)
{
	if (hole != NULL && ((hole >= (const uint8_t *)to && hole < (const uint8_t *)to + n) ||
	                     (hole >= (const uint8_t *)from && hole < (const uint8_t *)from + n)))
		return false;
	memmove(to, from, n);
	return true;
}

struct row {
	const char *what;
	enum wf_wr_opcode opcode;
	uint32_t host;             /* whose memory has the hole */
	enum wf_wc_status sent;    /* how the work request ends */
	enum wf_wc_status arrived; /* and the receive, of a SEND */
};

static const struct row rows[] = {
	{ "read to be written", WF_WR_RDMA_WRITE, 0, WF_WC_LOC_PROT_ERR, 0 },
	{ "read to be sent", WF_WR_SEND, 0, WF_WC_LOC_PROT_ERR, WF_WC_WR_FLUSH_ERR },
	{ "written to", WF_WR_RDMA_WRITE, 1, WF_WC_REM_ACCESS_ERR, 0 },
	{ "received into", WF_WR_SEND, 1, WF_WC_REM_OP_ERR, WF_WC_LOC_PROT_ERR },
	{ "read from", WF_WR_RDMA_READ, 1, WF_WC_REM_ACCESS_ERR, 0 },
	{ "read into", WF_WR_RDMA_READ, 0, WF_WC_LOC_PROT_ERR, 0 },
	{ "added to", WF_WR_ATOMIC_FETCH_AND_ADD, 1, WF_WC_REM_ACCESS_ERR, 0 },
	{ "atomic's answer", WF_WR_ATOMIC_FETCH_AND_ADD, 0, WF_WC_LOC_PROT_ERR, 0 },
	{ "atomically written", WF_WR_ATOMIC_WRITE, 1, WF_WC_REM_ACCESS_ERR, 0 },
};

static void check(const struct row *r)
{
	bool atomic = r->opcode == WF_WR_ATOMIC_FETCH_AND_ADD || r->opcode == WF_WR_ATOMIC_WRITE;
	uint32_t size = atomic ? 8 : 5000;
	struct wf_sge sge, to;
	struct wf_send_wr wr = { .opcode = r->opcode, .flags = WF_SEND_SIGNALED };
	struct wf_hca_attr attr;
	struct wf_wc wc;
	struct pair p;

	wf_hca_attr_defaults(&attr);
	attr.fetch = attr.store = copy;
	hole = NULL;
	pair_init_with(&p, &attr, NULL, NULL, 7);
	hole = (p.mem[r->host] - (uintptr_t)p.mem[r->host] % 8) + 8 + (atomic ? 0 : 4000);
	sge = rig_sge(p.mem[0] - (uintptr_t)p.mem[0] % 8 + 8, size, p.mr[0]);
	to = rig_sge(p.mem[1] - (uintptr_t)p.mem[1] % 8 + 8, size, p.mr[1]);
	if (atomic) {
		wr.atomic.addr = to.addr;
		wr.atomic.rkey = to.lkey;
	} else if (r->opcode != WF_WR_SEND) {
		wr.rdma.addr = to.addr;
		wr.rdma.rkey = to.lkey;
	} else {
		assert_int_equal(rig_recv(p.qp[1], 9, &to), 0);
	}
	assert_int_equal(rig_post(p.qp[0], &wr, r->opcode == WF_WR_ATOMIC_WRITE ? NULL : &sge), 0);
	rig_run(&p.rig);
	assert_true(rig_poll(&p.rig, 0, &wc));
	if (wc.status != r->sent)
		fail_msg("%s: %s", r->what, wf_wc_status_name(wc.status));
	if (r->arrived == WF_WC_WR_FLUSH_ERR) {
		/* The receiver is not told; it waits for the rest. */
		assert_false(rig_poll(&p.rig, 1, &wc));
	} else if (r->opcode == WF_WR_SEND) {
		assert_true(rig_poll(&p.rig, 1, &wc));
		assert_int_equal(wc.status, r->arrived);
	}
	pair_fini(&p);
}

static void test_whose_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++)
		check(&rows[i]);
}

/* What lies beside the hole is not touched by it. */
static void test_others_go_on(void **state)
{
	struct wf_hca_attr attr;
	struct pair p;

	(void)state;
	wf_hca_attr_defaults(&attr);
	attr.fetch = attr.store = copy;
	hole = NULL;
	pair_init_with(&p, &attr, NULL, NULL, 7);
	hole = p.mem[1] + 5;
	pair_check_alive(&p);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whose_error),
		cmocka_unit_test(test_others_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
