/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of completion queues, shared receive queues, events and what posting refuses. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/rig_pair.h"

static void test_cq_resize_keeps_order(void **state)
{
	struct wf_wc wc;
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 1);
	for (uint32_t i = 0; i < 10; i++)
		pair_post_write(&p, i, 8);
	rig_run(&p.rig);
	for (uint32_t i = 0; i < 3; i++)
		expect_wc(&p, 0, i, WF_WC_RDMA_WRITE, 0);
	assert_int_equal(wf_cq_waiting(p.rig.host[0].cq), 7);
	assert_int_equal(wf_cq_resize(p.rig.host[0].cq, 6), -EINVAL);
	assert_int_equal(wf_cq_resize(p.rig.host[0].cq, 0), -EINVAL);
	assert_int_equal(wf_cq_resize(p.rig.host[0].cq, 7), 0);
	assert_int_equal(wf_cq_size(p.rig.host[0].cq), 7);
	for (uint32_t i = 3; i < 10; i++)
		expect_wc(&p, 0, i, WF_WC_RDMA_WRITE, 0);
	assert_false(rig_poll(&p.rig, 0, &wc));
	assert_int_equal(wf_cq_destroy(p.rig.host[0].cq), -EBUSY);
	pair_fini(&p);
}

/* A queue pair that is reset takes its completions along; others' stay, in order. */
static void test_reset_forgets_completions(void **state)
{
	struct wf_qp_attr attr = { .qp_state = WF_QPS_RESET };
	struct wf_wc wc;
	struct pair p, q;

	(void)state;
	pair_init(&p, NULL, NULL, 1);
	pair_init(&q, NULL, NULL, 1);
	for (uint32_t i = 0; i < 4; i++)
		pair_post_write(&p, i, 8);
	rig_run(&p.rig);
	assert_int_equal(wf_cq_waiting(p.rig.host[0].cq), 4);
	/* Of the other adapter's queue pair: not touched. */
	pair_post_write(&q, 9, 8);
	rig_run(&q.rig);
	assert_int_equal(wf_qp_modify(p.qp[0], &attr, WF_QP_STATE), 0);
	assert_int_equal(wf_cq_waiting(p.rig.host[0].cq), 0);
	assert_false(rig_poll(&p.rig, 0, &wc));
	expect_wc(&q, 0, 9, WF_WC_RDMA_WRITE, 0);
	pair_fini(&q);
	pair_fini(&p);
}

/* A completion too many: CQ_ERR, and the queue pair that lost one ends. */
static void test_cq_overflow(void **state)
{
	struct wf_event event;
	struct wf_wc wc;
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 1);
	assert_int_equal(wf_cq_resize(p.rig.host[0].cq, 4), 0);
	for (uint32_t i = 0; i < 8; i++)
		pair_post_write(&p, i, 8);
	rig_run(&p.rig);
	assert_int_equal(wf_qp_state(p.qp[0]), WF_QPS_ERR);
	assert_true(wf_hca_next_event(p.rig.host[0].hca, &event));
	assert_int_equal(event.type, WF_EVENT_CQ_ERR);
	assert_ptr_equal(event.cq, p.rig.host[0].cq);
	assert_true(wf_hca_next_event(p.rig.host[0].hca, &event));
	assert_int_equal(event.type, WF_EVENT_QP_FATAL);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(rig_poll(&p.rig, 0, &wc));
	assert_int_equal(wf_cq_poll(p.rig.host[0].cq, 1, &wc), -EIO);
	pair_fini(&p);
}

static void test_cq_arm(void **state)
{
	struct wf_send_wr wr = { .opcode = WF_WR_SEND };
	struct wf_sge sge;
	struct pair p;
	struct wf_cq *cq;

	(void)state;
	pair_init(&p, NULL, NULL, 1);
	cq = p.rig.host[1].cq;
	sge = rig_sge(p.mem[1], 100, p.mr[1]);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(rig_recv(p.qp[1], i, &sge), 0);
	sge = rig_sge(p.mem[0], 10, p.mr[0]);
	assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	rig_run(&p.rig);
	assert_null(wf_hca_next_comp(p.rig.host[1].hca));
	/* One that waits and came unnoticed counts, but not when only solicited ones do. */
	wf_cq_arm(cq, true);
	assert_null(wf_hca_next_comp(p.rig.host[1].hca));
	wf_cq_arm(cq, false);
	assert_ptr_equal(wf_hca_next_comp(p.rig.host[1].hca), cq);
	/* The program knows of it now; the next one counts, once. */
	wf_cq_arm(cq, false);
	assert_null(wf_hca_next_comp(p.rig.host[1].hca));
	assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	rig_run(&p.rig);
	assert_ptr_equal(wf_hca_next_comp(p.rig.host[1].hca), cq);
	assert_null(wf_hca_next_comp(p.rig.host[1].hca));
	/* Solicited only. */
	wf_cq_arm(cq, true);
	assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	rig_run(&p.rig);
	assert_null(wf_hca_next_comp(p.rig.host[1].hca));
	wr.flags = WF_SEND_SOLICITED;
	assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	rig_run(&p.rig);
	assert_ptr_equal(wf_hca_next_comp(p.rig.host[1].hca), cq);
	/* An error counts as solicited. */
	wf_cq_arm(cq, true);
	wf_qp_fail(p.qp[1], WF_WC_GENERAL_ERR);
	assert_ptr_equal(wf_hca_next_comp(p.rig.host[1].hca), cq);
	pair_fini(&p);
}

static void test_srq(void **state)
{
	struct wf_srq_attr attr = { .max_wr = 5, .max_sge = 1, .limit = 3 };
	struct wf_recv_wr recv = { 0 };
	const struct wf_recv_wr *bad;
	struct wf_qp_init init;
	struct wf_qp_attr qp_attr;
	struct wf_send_wr wr = { .opcode = WF_WR_SEND };
	struct wf_event event;
	struct wf_srq *srq;
	struct wf_wc wc;
	struct pair p;
	struct wf_qp *qp;

	(void)state;
	pair_init(&p, NULL, NULL, 1);
	assert_int_equal(wf_srq_create(p.rig.host[1].pd, &attr, &srq), 0);
	rig_init_qp(&init, &p.rig.host[1], WF_QPT_RC);
	init.srq = srq;
	assert_int_equal(wf_qp_create(p.rig.host[1].pd, &init, &qp), 0);
	assert_int_equal(wf_srq_destroy(srq), -EBUSY);
	for (uint32_t i = 0; i < 5; i++) {
		recv.wr_id = i;
		assert_int_equal(wf_srq_post_recv(srq, &recv, &bad), 0);
	}
	assert_int_equal(wf_srq_post_recv(srq, &recv, &bad), -ENOMEM);
	assert_ptr_equal(bad, &recv);
	recv.num_sge = 2;
	assert_int_equal(wf_srq_post_recv(srq, &recv, &bad), -EINVAL);
	assert_int_equal(rig_recv(qp, 1, NULL), -EINVAL);
	attr.limit = 6;
	assert_int_equal(wf_srq_modify(srq, &attr, WF_SRQ_LIMIT), -EINVAL);
	attr.max_wr = 4;
	assert_int_equal(wf_srq_modify(srq, &attr, WF_SRQ_MAX_WR), -EINVAL);
	attr.max_wr = 8;
	attr.limit = 4;
	assert_int_equal(wf_srq_modify(srq, &attr, WF_SRQ_MAX_WR | WF_SRQ_LIMIT), 0);

	rig_reset_qp(p.qp[0]);
	rig_attr_defaults(&qp_attr);
	rig_connect(p.qp[0], 0, qp, 1, &qp_attr, 1);
	for (uint32_t i = 0; i < 2; i++) {
		assert_false(wf_hca_next_event(p.rig.host[1].hca, &event));
		assert_int_equal(rig_post(p.qp[0], &wr, NULL), 0);
		rig_run(&p.rig);
		assert_true(rig_poll(&p.rig, 1, &wc));
		assert_int_equal(wc.wr_id, i);
	}
	assert_true(wf_hca_next_event(p.rig.host[1].hca, &event));
	assert_int_equal(event.type, WF_EVENT_SRQ_LIMIT_REACHED);
	assert_ptr_equal(event.srq, srq);
	wf_srq_query(srq, &attr);
	assert_int_equal(attr.limit, 0);
	/* A queue pair that goes to ERR does not flush what is not its own. */
	wf_qp_fail(qp, WF_WC_GENERAL_ERR);
	assert_true(wf_hca_next_event(p.rig.host[1].hca, &event));
	assert_int_equal(event.type, WF_EVENT_QP_FATAL);
	assert_true(wf_hca_next_event(p.rig.host[1].hca, &event));
	assert_int_equal(event.type, WF_EVENT_QP_LAST_WQE_REACHED);
	assert_false(rig_poll(&p.rig, 1, &wc));
	wf_qp_destroy(qp);
	assert_int_equal(wf_srq_destroy(srq), 0);
	pair_fini(&p);
}

static void test_post_refuses(void **state)
{
	struct wf_sge sge[5] = { 0 };
	struct wf_send_wr wr = { .opcode = WF_WR_SEND, .sge = sge, .num_sge = 5 };
	struct wf_send_wr ok = { .opcode = WF_WR_SEND, .next = &wr };
	const struct wf_send_wr *bad = NULL;
	struct wf_qp *fresh;
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 1);
	fresh = rig_make_qp(&p.rig, 0, WF_QPT_RC, NULL);
	assert_int_equal(rig_post(fresh, &ok, NULL), -EINVAL);
	assert_int_equal(rig_recv(fresh, 1, NULL), -EINVAL);
	assert_int_equal(wf_qp_post_send(p.qp[0], &ok, &bad), -EINVAL);
	assert_ptr_equal(bad, &wr);
	wr.num_sge = 1;
	wr.opcode = WF_WR_OPCODES;
	assert_int_equal(wf_qp_post_send(p.qp[0], &wr, &bad), -EINVAL);
	wr.opcode = WF_WR_RDMA_READ;
	wr.flags = WF_SEND_INLINE;
	assert_int_equal(wf_qp_post_send(p.qp[0], &wr, &bad), -EINVAL);
	wr.opcode = WF_WR_SEND;
	sge[0].length = 257;
	assert_int_equal(wf_qp_post_send(p.qp[0], &wr, &bad), -EINVAL);
	wr.flags = 0x10;
	assert_int_equal(wf_qp_post_send(p.qp[0], &wr, &bad), -EINVAL);
	wr = (struct wf_send_wr){ .opcode = WF_WR_SEND };
	for (uint32_t i = 1; i < 256; i++)
		assert_int_equal(wf_qp_post_send(p.qp[0], &wr, &bad), 0);
	assert_int_equal(wf_qp_post_send(p.qp[0], &wr, &bad), -ENOMEM);
	pair_fini(&p);
}

/* The queue of events is bounded, and an object that goes takes its events along. */
static void test_event_queue(void **state)
{
	struct wf_hca_attr attr;
	struct wf_event event;
	struct rig rig;
	struct wf_qp *qp;

	(void)state;
	wf_hca_attr_defaults(&attr);
	attr.max_events = 3;
	rig_init(&rig, 1, &attr, 1);
	qp = rig_make_qp(&rig, 0, WF_QPT_RC, NULL);
	wf_hca_port_event(rig.host[0].hca, WF_EVENT_PORT_ERR);
	{
		struct wf_qp_attr qp_attr;

		rig_attr_defaults(&qp_attr);
		rig_bring_up(qp, &qp_attr, 0, 1, 1, 1);
		wf_qp_fail(qp, WF_WC_GENERAL_ERR);
	}
	wf_hca_port_event(rig.host[0].hca, WF_EVENT_PORT_ACTIVE);
	wf_hca_port_event(rig.host[0].hca, WF_EVENT_SM_CHANGE);
	assert_int_equal(wf_hca_counter(rig.host[0].hca, WF_CTR_EVENTS_LOST), 1);
	wf_qp_destroy(qp);
	assert_true(wf_hca_next_event(rig.host[0].hca, &event));
	assert_int_equal(event.type, WF_EVENT_PORT_ERR);
	assert_true(wf_hca_next_event(rig.host[0].hca, &event));
	assert_int_equal(event.type, WF_EVENT_PORT_ACTIVE);
	assert_false(wf_hca_next_event(rig.host[0].hca, &event));
	rig_fini(&rig);
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < WF_COUNTERS; i++)
		assert_non_null(wf_counter_name((enum wf_counter)i));
	assert_string_equal(wf_counter_name(WF_CTR_OUT_OF_SEQUENCE), "out_of_sequence");
	assert_string_equal(wf_wc_status_name((enum wf_wc_status)99), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cq_resize_keeps_order),
		cmocka_unit_test(test_cq_overflow),
		cmocka_unit_test(test_reset_forgets_completions),
		cmocka_unit_test(test_cq_arm),
		cmocka_unit_test(test_srq),
		cmocka_unit_test(test_post_refuses),
		cmocka_unit_test(test_event_queue),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
