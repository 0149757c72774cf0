/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every completion status is provoked; then the queue pair has flushed what waited, and works again
 * after RESET. IBTA vol. 1, 10.10.2 and 11.6.2.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/rig_pair.h"

#define NO_WC WF_WC_STATUSES /* no receive completes before the flush */

enum trick {
	TRICK_NONE,
	TRICK_BAD_LKEY, /* of the send */
	TRICK_BAD_RKEY,
	TRICK_BEYOND,    /* the remote address is right, the end is outside */
	TRICK_RECV_LKEY, /* the receive's memory is not registered */
	TRICK_RECV_SMALL,
	TRICK_NO_RECV,
	TRICK_NO_RIGHT, /* the responder's queue pair forbids it */
	TRICK_LOST,     /* no packet arrives */
	TRICK_TOO_LONG,
	TRICK_MISALIGNED,
	TRICK_NO_RD, /* max_rd_atomic is 0 */
	TRICK_BAD_BIND,
	TRICK_BAD_INV,
	TRICK_RESP_SHORT, /* a READ response of the wrong length */
	TRICK_RESP_KIND,  /* an atomic acknowledge instead of an ACK */
	TRICK_NAK_RD,     /* a NAK that only RD has */
	TRICK_NAK_RESERVED,
	TRICK_ACK_RESERVED,
	TRICK_DEREG, /* the region goes away while the READ is answered */
	TRICK_FAIL,  /* the driver gives up */
};

struct error_case {
	const char *name;
	enum wf_wr_opcode opcode;
	enum trick trick;
	uint32_t size;
	enum wf_wc_status send, recv;
	enum wf_qp_state peer; /* state of the responder afterwards */
};

static const struct error_case cases[] = {
	{ "lkey of a SEND", WF_WR_SEND, TRICK_BAD_LKEY, 100, WF_WC_LOC_PROT_ERR, NO_WC,
	  WF_QPS_RTS },
	{ "lkey of a WRITE", WF_WR_RDMA_WRITE, TRICK_BAD_LKEY, 5000, WF_WC_LOC_PROT_ERR, NO_WC,
	  WF_QPS_RTS },
	{ "lkey of a READ", WF_WR_RDMA_READ, TRICK_BAD_LKEY, 5000, WF_WC_LOC_PROT_ERR, NO_WC,
	  WF_QPS_RTS },
	{ "lkey of an atomic", WF_WR_ATOMIC_FETCH_AND_ADD, TRICK_BAD_LKEY, 8, WF_WC_LOC_PROT_ERR,
	  NO_WC, WF_QPS_RTS },
	{ "SEND too long", WF_WR_SEND, TRICK_TOO_LONG, 0, WF_WC_LOC_LEN_ERR, NO_WC, WF_QPS_RTS },
	{ "atomic of 4 bytes", WF_WR_ATOMIC_CMP_AND_SWP, TRICK_NONE, 4, WF_WC_LOC_LEN_ERR, NO_WC,
	  WF_QPS_RTS },
	{ "READ without resources", WF_WR_RDMA_READ, TRICK_NO_RD, 8, WF_WC_LOC_QP_OP_ERR, NO_WC,
	  WF_QPS_RTS },
	{ "LOCAL_INV of nothing", WF_WR_LOCAL_INV, TRICK_BAD_INV, 0, WF_WC_LOC_QP_OP_ERR, NO_WC,
	  WF_QPS_RTS },
	{ "BIND outside", WF_WR_BIND_MW, TRICK_BAD_BIND, 0, WF_WC_MW_BIND_ERR, NO_WC, WF_QPS_RTS },
	{ "rkey of a WRITE", WF_WR_RDMA_WRITE, TRICK_BAD_RKEY, 100, WF_WC_REM_ACCESS_ERR, NO_WC,
	  WF_QPS_ERR },
	{ "rkey of a long WRITE", WF_WR_RDMA_WRITE, TRICK_BAD_RKEY, 5000, WF_WC_REM_ACCESS_ERR,
	  NO_WC, WF_QPS_ERR },
	{ "rkey of a READ", WF_WR_RDMA_READ, TRICK_BAD_RKEY, 5000, WF_WC_REM_ACCESS_ERR, NO_WC,
	  WF_QPS_ERR },
	{ "rkey of an atomic", WF_WR_ATOMIC_FETCH_AND_ADD, TRICK_BAD_RKEY, 8, WF_WC_REM_ACCESS_ERR,
	  NO_WC, WF_QPS_ERR },
	{ "WRITE past the end", WF_WR_RDMA_WRITE, TRICK_BEYOND, 100, WF_WC_REM_ACCESS_ERR, NO_WC,
	  WF_QPS_ERR },
	{ "READ past the end", WF_WR_RDMA_READ, TRICK_BEYOND, 100, WF_WC_REM_ACCESS_ERR, NO_WC,
	  WF_QPS_ERR },
	{ "WRITE_IMM with a bad rkey", WF_WR_RDMA_WRITE_WITH_IMM, TRICK_BAD_RKEY, 100,
	  WF_WC_REM_ACCESS_ERR, WF_WC_LOC_ACCESS_ERR, WF_QPS_ERR },
	{ "SEND_INV of a bad key", WF_WR_SEND_WITH_INV, TRICK_BAD_RKEY, 100, WF_WC_REM_ACCESS_ERR,
	  WF_WC_LOC_ACCESS_ERR, WF_QPS_ERR },
	{ "WRITE forbidden", WF_WR_RDMA_WRITE, TRICK_NO_RIGHT, 8, WF_WC_REM_INV_REQ_ERR, NO_WC,
	  WF_QPS_ERR },
	{ "READ forbidden", WF_WR_RDMA_READ, TRICK_NO_RIGHT, 8, WF_WC_REM_INV_REQ_ERR, NO_WC,
	  WF_QPS_ERR },
	{ "atomic forbidden", WF_WR_ATOMIC_CMP_AND_SWP, TRICK_NO_RIGHT, 8, WF_WC_REM_INV_REQ_ERR,
	  NO_WC, WF_QPS_ERR },
	{ "atomic misaligned", WF_WR_ATOMIC_CMP_AND_SWP, TRICK_MISALIGNED, 8, WF_WC_REM_INV_REQ_ERR,
	  NO_WC, WF_QPS_ERR },
	{ "SEND larger than the receive", WF_WR_SEND, TRICK_RECV_SMALL, 100, WF_WC_REM_INV_REQ_ERR,
	  WF_WC_LOC_LEN_ERR, WF_QPS_ERR },
	{ "long SEND larger than the receive", WF_WR_SEND, TRICK_RECV_SMALL, 5000,
	  WF_WC_REM_INV_REQ_ERR, WF_WC_LOC_LEN_ERR, WF_QPS_ERR },
	{ "lkey of a receive", WF_WR_SEND, TRICK_RECV_LKEY, 100, WF_WC_REM_OP_ERR,
	  WF_WC_LOC_PROT_ERR, WF_QPS_ERR },
	{ "nobody answers", WF_WR_RDMA_WRITE, TRICK_LOST, 100, WF_WC_RETRY_EXC_ERR, NO_WC,
	  WF_QPS_RTS },
	{ "nobody answers a READ", WF_WR_RDMA_READ, TRICK_LOST, 100, WF_WC_RETRY_EXC_ERR, NO_WC,
	  WF_QPS_RTS },
	{ "no receive", WF_WR_SEND, TRICK_NO_RECV, 100, WF_WC_RNR_RETRY_EXC_ERR, NO_WC,
	  WF_QPS_RTS },
	{ "no receive for an immediate", WF_WR_RDMA_WRITE_WITH_IMM, TRICK_NO_RECV, 5000,
	  WF_WC_RNR_RETRY_EXC_ERR, NO_WC, WF_QPS_RTS },
	{ "READ response too short", WF_WR_RDMA_READ, TRICK_RESP_SHORT, 100, WF_WC_BAD_RESP_ERR,
	  NO_WC, WF_QPS_RTS },
	{ "atomic acknowledge of a WRITE", WF_WR_RDMA_WRITE, TRICK_RESP_KIND, 100,
	  WF_WC_BAD_RESP_ERR, NO_WC, WF_QPS_RTS },
	{ "NAK of RD", WF_WR_RDMA_WRITE, TRICK_NAK_RD, 100, WF_WC_REM_INV_RD_REQ_ERR, NO_WC,
	  WF_QPS_RTS },
	{ "NAK reserved", WF_WR_RDMA_WRITE, TRICK_NAK_RESERVED, 100, WF_WC_BAD_RESP_ERR, NO_WC,
	  WF_QPS_RTS },
	{ "ACK of a reserved kind", WF_WR_RDMA_WRITE, TRICK_ACK_RESERVED, 100, WF_WC_RETRY_EXC_ERR,
	  NO_WC, WF_QPS_RTS },
	{ "region gone under a READ", WF_WR_RDMA_READ, TRICK_DEREG, 9000, WF_WC_REM_ACCESS_ERR,
	  NO_WC, WF_QPS_ERR },
	{ "general", WF_WR_RDMA_WRITE, TRICK_FAIL, 100, WF_WC_GENERAL_ERR, NO_WC, WF_QPS_RTS },
	{ "fatal", WF_WR_RDMA_WRITE, TRICK_FAIL, 100, WF_WC_FATAL_ERR, NO_WC, WF_QPS_RTS },
	{ "aborted", WF_WR_RDMA_WRITE, TRICK_FAIL, 100, WF_WC_REM_ABORT_ERR, NO_WC, WF_QPS_RTS },
	{ "response timeout", WF_WR_SEND, TRICK_FAIL, 100, WF_WC_RESP_TIMEOUT_ERR, NO_WC,
	  WF_QPS_RTS },
};

static bool spoil(struct rig *rig, struct wf_packet *pkt)
{
	enum trick trick = *(const enum trick *)rig->ctx;

	if (trick == TRICK_LOST)
		return false;
	if (trick == TRICK_RESP_SHORT && wf_op_is_read_resp(pkt->opcode))
		pkt->length--;
	if (!wf_op_is_ack(pkt->opcode))
		return true;
	if (trick == TRICK_RESP_KIND)
		pkt->opcode = WF_OP_RC_ATOMIC_ACK;
	if (trick == TRICK_NAK_RD)
		pkt->u.aeth.syndrome = 0x64;
	if (trick == TRICK_NAK_RESERVED)
		pkt->u.aeth.syndrome = 0x7f;
	if (trick == TRICK_ACK_RESERVED)
		pkt->u.aeth.syndrome |= 0x80; /* IBTA 9.7.5.1.4: bits 7 to 5 are 1xx */
	return true;
}

static void post_recvs(struct pair *p, const struct error_case *c)
{
	struct wf_sge sge = rig_sge(p->mem[1], c->trick == TRICK_RECV_SMALL ? 99 : 9000, p->mr[1]);

	if (c->trick == TRICK_RECV_LKEY)
		sge.lkey ^= 1;
	if (c->trick == TRICK_NO_RECV)
		return;
	assert_int_equal(rig_recv(p->qp[1], 50, &sge), 0);
	assert_int_equal(rig_recv(p->qp[1], 51, &sge), 0);
}

/* The work request that fails. */
static void post_culprit(struct pair *p, const struct error_case *c, struct wf_mw *mw)
{
	struct wf_sge sge[2] = { rig_sge(p->mem[0], c->size, p->mr[0]) };
	struct wf_send_wr wr = { .wr_id = 1, .opcode = c->opcode, .sge = sge, .num_sge = 1 };
	const struct wf_send_wr *bad;

	wr.rdma.addr = (uintptr_t)p->mem[1];
	wr.rdma.rkey = wf_mr_rkey(p->mr[1]) ^ (c->trick == TRICK_BAD_RKEY);
	if (c->trick == TRICK_BEYOND)
		wr.rdma.addr += PAIR_BYTES - c->size + 1;
	if (c->opcode == WF_WR_ATOMIC_CMP_AND_SWP || c->opcode == WF_WR_ATOMIC_FETCH_AND_ADD) {
		wr.atomic.addr =
			((uintptr_t)p->mem[1] + 7) / 8 * 8 + (c->trick == TRICK_MISALIGNED);
		wr.atomic.rkey = wf_mr_rkey(p->mr[1]) ^ (c->trick == TRICK_BAD_RKEY);
	}
	if (c->trick == TRICK_BAD_LKEY)
		sge[0].lkey ^= 1;
	if (c->trick == TRICK_TOO_LONG) {
		sge[0].length = WF_MSG_MAX;
		sge[1] = rig_sge(p->mem[0], 1, p->mr[0]);
		wr.num_sge = 2;
	}
	wr.imm = 0xdead00;
	if (c->opcode == WF_WR_BIND_MW) {
		wr.mw.mw = mw;
		wr.mw.rkey = wf_rkey_next(wf_mw_rkey(mw));
		wr.mw.bind = (struct wf_mw_bind){ .mr = p->mr[0],
			                          .addr = (uintptr_t)p->mem[0] + 1,
			                          .length = PAIR_BYTES };
	}
	assert_int_equal(wf_qp_post_send(p->qp[0], &wr, &bad), 0);
}

/* Unsignaled, but an error is always told; what was posted behind it is flushed. */
static void expect_error(struct pair *p, const struct error_case *c)
{
	enum wf_wc_status want[] = { WF_WC_SUCCESS, c->send, WF_WC_WR_FLUSH_ERR };
	struct wf_wc wc;

	for (uint32_t i = 0; i < 3; i++) {
		assert_true(rig_poll(&p->rig, 0, &wc));
		assert_int_equal(wc.wr_id, i);
		assert_int_equal(wc.status, want[i]);
	}
	assert_false(rig_poll(&p->rig, 0, &wc));
	assert_int_equal(wf_qp_state(p->qp[0]), WF_QPS_ERR);
	assert_int_equal(wf_qp_state(p->qp[1]), c->peer);
	if (c->recv != NO_WC) {
		assert_true(rig_poll(&p->rig, 1, &wc));
		assert_int_equal(wc.status, c->recv);
		assert_int_equal(wc.wr_id, 50);
	}
	while (rig_poll(&p->rig, 1, &wc))
		assert_int_equal(wc.status, WF_WC_WR_FLUSH_ERR);
	/* Whatever is posted to it now is flushed, too. */
	pair_post_write(p, 77, 8);
	assert_true(rig_poll(&p->rig, 0, &wc));
	assert_int_equal(wc.status, WF_WC_WR_FLUSH_ERR);
	assert_int_equal(wc.wr_id, 77);
}

static void run_case(const struct error_case *c)
{
	enum trick trick = c->trick;
	struct wf_qp_attr attr;
	struct wf_mw *mw;
	struct pair p;

	rig_attr_defaults(&attr);
	attr.rnr_retry = 2;
	attr.retry_cnt = 2;
	if (c->trick == TRICK_NO_RIGHT)
		attr.qp_access_flags = WF_ACCESS_LOCAL_WRITE;
	if (c->trick == TRICK_NO_RD)
		attr.max_rd_atomic = 0;
	pair_init(&p, NULL, &attr, 0xffffff);
	assert_int_equal(wf_mw_create(p.rig.host[0].pd, WF_MW_TYPE_2, &mw), 0);
	post_recvs(&p, c);
	if (c->trick != TRICK_NO_RIGHT)
		pair_post_write(&p, 0, 100);
	else
		assert_int_equal(rig_post(p.qp[0],
		                          &(struct wf_send_wr){ .opcode = WF_WR_SEND,
		                                                .flags = WF_SEND_SIGNALED },
		                          NULL),
		                 0);
	rig_run(&p.rig);
	if (c->trick == TRICK_NO_RIGHT) {
		struct wf_wc wc;

		assert_true(rig_poll(&p.rig, 1, &wc));
	}
	p.rig.ctx = &trick;
	p.rig.filter = spoil;
	post_culprit(&p, c, mw);
	pair_post_write(&p, 2, 100);
	if (c->trick == TRICK_FAIL)
		wf_qp_fail(p.qp[0], c->send);
	for (int i = 0; i < 4 && c->trick == TRICK_DEREG; i++)
		(void)rig_step(&p.rig, WF_TIME_NEVER - 1);
	if (c->trick == TRICK_DEREG)
		assert_int_equal(wf_mr_dereg(p.mr[1]), 0);
	rig_run(&p.rig);
	expect_error(&p, c);

	p.rig.filter = NULL;
	if (c->trick == TRICK_DEREG)
		p.mr[1] = rig_reg(&p.rig.host[1], p.mem[1], PAIR_BYTES,
		                  WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE);
	rig_attr_defaults(&p.attr);
	pair_recycle(&p, 17);
	pair_check_alive(&p);
	pair_fini(&p);
}

static void test_every_status(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		print_message("  %s: %s\n", cases[i].name, wf_wc_status_name(cases[i].send));
		run_case(&cases[i]);
	}
}

/* Only what RD would have said is left out above. */
static void test_all_statuses_covered(void **state)
{
	static const enum wf_wc_status rd_only[] = { WF_WC_LOC_EEC_OP_ERR, WF_WC_LOC_RDD_VIOL_ERR,
		                                     WF_WC_INV_EECN_ERR, WF_WC_INV_EEC_STATE_ERR };
	bool seen[WF_WC_STATUSES] = { [WF_WC_SUCCESS] = true, [WF_WC_WR_FLUSH_ERR] = true };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rd_only); i++)
		seen[rd_only[i]] = true;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		seen[cases[i].send] = true;
		if (cases[i].recv != NO_WC)
			seen[cases[i].recv] = true;
	}
	for (size_t i = 0; i < WF_WC_STATUSES; i++)
		assert_true(seen[i]);
}

/* Everything before a failed work request is answered first, READs too. */
static void test_error_after_reads(void **state)
{
	struct wf_wc wc;
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 3);
	for (uint32_t i = 0; i < 4; i++) {
		struct wf_sge sge = rig_sge(p.mem[0] + 10000, 3000, p.mr[0]);
		struct wf_send_wr wr = {
			.wr_id = i,
			.opcode = i < 3 ? WF_WR_RDMA_READ : WF_WR_RDMA_WRITE,
			.flags = WF_SEND_SIGNALED,
			.rdma = { .addr = (uintptr_t)p.mem[1],
			          .rkey = wf_mr_rkey(p.mr[1]) ^ (i < 3 ? 0 : 1) },
		};

		assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	}
	rig_run(&p.rig);
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(rig_poll(&p.rig, 0, &wc));
		assert_int_equal(wc.wr_id, i);
		assert_int_equal(wc.status, i < 3 ? WF_WC_SUCCESS : WF_WC_REM_ACCESS_ERR);
	}
	assert_memory_equal(p.mem[0] + 10000, p.mem[1], 3000);
	pair_fini(&p);
}

static void test_events(void **state)
{
	struct wf_event event;
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 3);
	{
		struct wf_sge sge = rig_sge(p.mem[0], 8, p.mr[0]);
		struct wf_send_wr wr = { .opcode = WF_WR_RDMA_WRITE, .rdma = { .rkey = 1 } };

		assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	}
	rig_run(&p.rig);
	assert_true(wf_hca_next_event(p.rig.host[1].hca, &event));
	assert_int_equal(event.type, WF_EVENT_QP_ACCESS_ERR);
	assert_ptr_equal(event.qp, p.qp[1]);
	assert_false(wf_hca_next_event(p.rig.host[1].hca, &event));
	assert_false(wf_hca_next_event(p.rig.host[0].hca, &event));
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_status),
		cmocka_unit_test(test_all_statuses_covered),
		cmocka_unit_test(test_error_after_reads),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
