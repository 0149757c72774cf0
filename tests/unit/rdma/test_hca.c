/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of rdma/hca.c: what is let in, P_Keys, numbers, and that a run repeats exactly. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/rig_pair.h"

static void test_attr(void **state)
{
	struct wf_hca *hca = NULL;
	struct wf_hca_attr attr;

	(void)state;
#define REJECT(field, value)                                                                       \
	do {                                                                                       \
		wf_hca_attr_defaults(&attr);                                                       \
		attr.field = (value);                                                              \
		assert_int_equal(wf_hca_create(&attr, wf_mem_heap(), &hca), -EINVAL);              \
		assert_null(hca);                                                                  \
	} while (0)
	REJECT(max_qp, 0);
	REJECT(max_qp, (1 << 20) + 1);
	REJECT(max_mr, 0);
	REJECT(max_sge, 65);
	REJECT(max_rd_atomic, 0);
	REJECT(max_rd_atomic, 129);
	REJECT(num_pkeys, WF_HCA_PKEYS + 1);
	REJECT(max_events, 0);
#undef REJECT
	wf_hca_destroy(NULL);
}

/* IBTA 10.9.3, for every combination of membership. */
static void test_pkeys(void **state)
{
	static const struct {
		uint16_t a, b;
		bool ok;
	} row[] = {
		{ 0xffff, 0xffff, true },  { 0xffff, 0x7fff, true },  { 0x7fff, 0x7fff, false },
		{ 0x8001, 0x8001, true },  { 0x0001, 0x8001, true },  { 0x0001, 0x0001, false },
		{ 0x8001, 0x8002, false }, { 0x8000, 0x8000, false },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_event event;
		struct wf_wc wc;
		struct pair p;

		pair_init(&p, NULL, NULL, 0);
		assert_int_equal(wf_hca_set_pkey(p.rig.host[0].hca, 0, row[i].a), 0);
		assert_int_equal(wf_hca_set_pkey(p.rig.host[1].hca, 0, row[i].b), 0);
		assert_int_equal(wf_hca_set_pkey(p.rig.host[1].hca, 1, 1), -EINVAL);
		assert_true(wf_hca_next_event(p.rig.host[0].hca, &event));
		assert_int_equal(event.type, WF_EVENT_PKEY_CHANGE);
		assert_int_equal(wf_hca_pkey(p.rig.host[1].hca, 0), row[i].b);
		assert_int_equal(wf_hca_pkey(p.rig.host[1].hca, 1), 0);
		pair_post_write(&p, 1, 8);
		rig_run(&p.rig);
		assert_true(rig_poll(&p.rig, 0, &wc));
		assert_int_equal(wc.status, row[i].ok ? WF_WC_SUCCESS : WF_WC_RETRY_EXC_ERR);
		assert_int_equal(wf_hca_counter(p.rig.host[1].hca, WF_CTR_PKEY_VIOLATIONS),
		                 row[i].ok ? 0 : 8);
		pair_fini(&p);
	}
}

static bool disturb(struct rig *rig, struct wf_packet *pkt)
{
	int what = *(const int *)rig->ctx;

	if (pkt->src != 0)
		return true;
	switch (what) {
	case 0:
		pkt->flags |= WF_PACKET_BAD;
		break;
	case 1:
		pkt->src = 7;
		break;
	case 2:
		pkt->qpn ^= 0x40;
		break;
	case 3:
		pkt->qpn |= 0x800000;
		break;
	case 4:
		pkt->opcode = 0x3f;
		break;
	case 5:
		pkt->opcode |= 0x20;
		break;
	case 6:
		pkt->psn |= 0x1000000;
		break;
	default:
		pkt->psn ^= 0x800000;
		break;
	}
	return true;
}

/*
 * What is not for the queue pair does not reach it: the sender hears nothing, or a second try
 * helps.
 */
static void test_wrong_packets(void **state)
{
	(void)state;
	for (int what = 0; what < 8; what++) {
		struct wf_wc wc;
		struct pair p;

		pair_init(&p, NULL, NULL, 0);
		p.rig.ctx = &what;
		p.rig.filter = disturb;
		memset(p.mem[1], 0, PAIR_BYTES);
		pair_post_write(&p, 1, 8);
		rig_run(&p.rig);
		assert_int_equal(p.mem[1][PAIR_BYTES / 2 + 1], 0);
		assert_true(rig_poll(&p.rig, 0, &wc));
		assert_int_equal(wc.status, WF_WC_RETRY_EXC_ERR);
		pair_fini(&p);
	}
}

static void test_comm_est(void **state)
{
	struct wf_qp_attr attr;
	struct wf_event event;
	struct pair p;

	(void)state;
	pair_init(&p, NULL, NULL, 0);
	rig_reset_qp(p.qp[1]);
	attr = p.attr;
	rig_to_init(p.qp[1], &attr);
	attr.qp_state = WF_QPS_RTR;
	attr.dest_qp_num = wf_qp_num(p.qp[0]);
	attr.rq_psn = 0;
	assert_int_equal(wf_qp_modify(p.qp[1], &attr, RIG_RTR_RC), 0);
	pair_post_write(&p, 1, 5000);
	rig_run(&p.rig);
	expect_wc(&p, 0, 1, WF_WC_RDMA_WRITE, 0);
	assert_true(wf_hca_next_event(p.rig.host[1].hca, &event));
	assert_int_equal(event.type, WF_EVENT_COMM_EST);
	assert_false(wf_hca_next_event(p.rig.host[1].hca, &event));
	pair_fini(&p);
}

/* Numbers are not used again soon, 0 and 1 are the management's, and there are as many as asked. */
static void test_numbers(void **state)
{
	struct wf_hca_attr attr;
	struct wf_qp_init init;
	struct wf_qp *qp, *gsi;
	struct rig rig;
	uint32_t first;

	(void)state;
	wf_hca_attr_defaults(&attr);
	attr.max_qp = 3;
	rig_init(&rig, 1, &attr, 1);
	rig_init_qp(&init, &rig.host[0], WF_QPT_GSI);
	assert_int_equal(wf_qp_create(rig.host[0].pd, &init, &gsi), 0);
	assert_int_equal(wf_qp_num(gsi), 1);
	assert_int_equal(wf_qp_create(rig.host[0].pd, &init, &qp), -EEXIST);
	init.type = WF_QPT_UC;
	assert_int_equal(wf_qp_create(rig.host[0].pd, &init, &qp), 0);
	first = wf_qp_num(qp);
	assert_ptr_equal(wf_hca_qp(rig.host[0].hca, first), qp);
	wf_qp_destroy(qp);
	assert_null(wf_hca_qp(rig.host[0].hca, first));
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(wf_qp_create(rig.host[0].pd, &init, &qp), 0);
		assert_int_not_equal(wf_qp_num(qp), first);
		assert_true(wf_qp_num(qp) > 1);
		wf_qp_destroy(qp);
	}
	assert_int_equal(wf_qp_create(rig.host[0].pd, &init, &qp), 0);
	assert_int_equal(wf_qp_create(rig.host[0].pd, &init, &qp), 0);
	assert_int_equal(wf_qp_create(rig.host[0].pd, &init, &qp), -ENOMEM);
	rig_fini(&rig);
}

static void test_create_refuses(void **state)
{
	struct wf_qp_init init;
	struct rig rig;
	struct wf_qp *qp;

	(void)state;
	rig_init(&rig, 1, NULL, 1);
#define REJECT(type, field, value)                                                                 \
	do {                                                                                       \
		rig_init_qp(&init, &rig.host[0], type);                                            \
		init.field = (value);                                                              \
		assert_int_equal(wf_qp_create(rig.host[0].pd, &init, &qp), -EINVAL);               \
	} while (0)
	REJECT(WF_QPT_RC, type, (enum wf_qp_type)9);
	REJECT(WF_QPT_RC, send_cq, NULL);
	REJECT(WF_QPT_RC, cap.max_send_wr, 1 << 20);
	REJECT(WF_QPT_RC, cap.max_recv_sge, 31);
	REJECT(WF_QPT_RC, cap.max_inline_data, 5000);
	REJECT(WF_QPT_RC, tune.reorder, 3);
	REJECT(WF_QPT_RC, tune.cnp_interval, -1);
	REJECT(WF_QPT_UC, tune.recovery, WF_RECOVERY_SELECTIVE);
#undef REJECT
	rig_init_qp(&init, &rig.host[0], WF_QPT_RC);
	init.tune.recovery = WF_RECOVERY_SELECTIVE;
	init.tune.window = 65;
	assert_int_equal(wf_qp_create(rig.host[0].pd, &init, &qp), -EINVAL);
	rig_fini(&rig);
}

struct digest {
	uint64_t hash;
	uint32_t n;
};

static bool digest_packet(struct rig *rig, struct wf_packet *pkt)
{
	struct digest *d = rig->ctx;
	uint64_t word[8];

	memcpy(word, pkt, sizeof(word));
	d->hash = wf_mix64(d->hash ^ (uint64_t)rig->now);
	for (int i = 1; i < 6; i++)
		d->hash = wf_mix64(d->hash ^ word[i]);
	d->n++;
	return true;
}

/* The same calls at the same times give the same packets at the same times. */
static void test_repeats(void **state)
{
	struct digest d[2] = { { .hash = 1 }, { .hash = 1 } };

	(void)state;
	for (int run = 0; run < 2; run++) {
		struct pair p;

		pair_init(&p, NULL, NULL, 0xffffff);
		p.rig.ctx = &d[run];
		p.rig.filter = digest_packet;
		p.rig.faults = (struct rig_faults){ .drop = 200000000, .late = 200000000 };
		for (uint32_t i = 0; i < 50; i++) {
			struct wf_sge sge = rig_sge(p.mem[0], 5000, p.mr[0]);
			struct wf_send_wr wr = { .opcode = WF_WR_SEND };

			sge.addr = (uintptr_t)p.mem[0];
			assert_int_equal(rig_recv(p.qp[1], i,
			                          &(struct wf_sge){ .addr = (uintptr_t)p.mem[1],
			                                            .length = 5000,
			                                            .lkey = wf_mr_lkey(p.mr[1]) }),
			                 0);
			assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
		}
		rig_run(&p.rig);
		pair_fini(&p);
	}
	assert_true(d[0].n > 250);
	assert_int_equal(d[0].n, d[1].n);
	assert_true(d[0].hash == d[1].hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attr),          cmocka_unit_test(test_pkeys),
		cmocka_unit_test(test_wrong_packets), cmocka_unit_test(test_comm_est),
		cmocka_unit_test(test_numbers),       cmocka_unit_test(test_create_refuses),
		cmocka_unit_test(test_repeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
