/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of rdma/qp_modify.c and psn.h: every pair of states with every attribute against the
 * rules of IBTA vol. 1, 11.2.5.2, written down once more, in words as the standard has them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/psn.h"
#include "rdma/rig_qp.h"

static void test_psn(void **state)
{
	static const struct {
		uint32_t a, b;
		int32_t want;
	} row[] = {
		{ 5, 5, 0 },
		{ 6, 5, 1 },
		{ 5, 6, -1 },
		{ 0, 0xffffff, 1 },
		{ 0xffffff, 0, -1 },
		{ 0x7fffff, 0, 0x7fffff },
		{ 0x800000, 0, -0x800000 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++)
		assert_int_equal(wf_psn_diff(row[i].a, row[i].b), row[i].want);
	assert_int_equal(wf_psn_add(0xffffff, 2), 1);
	assert_int_equal(wf_psn_add(0, WF_PSN_MASK), WF_PSN_MASK);
}

/* A row of the standard's table: r required, o optional, for RC, UC, UD; ' ' is not allowed. */
struct rule {
	enum wf_qp_state from, to;
	uint32_t attr;
	char rc, uc, ud;
};

static const struct rule rules[] = {
	{ WF_QPS_RESET, WF_QPS_INIT, WF_QP_PKEY_INDEX, 'r', 'r', 'r' },
	{ WF_QPS_RESET, WF_QPS_INIT, WF_QP_PORT, 'r', 'r', 'r' },
	{ WF_QPS_RESET, WF_QPS_INIT, WF_QP_ACCESS_FLAGS, 'r', 'r', ' ' },
	{ WF_QPS_RESET, WF_QPS_INIT, WF_QP_QKEY, ' ', ' ', 'r' },
	{ WF_QPS_INIT, WF_QPS_INIT, WF_QP_PKEY_INDEX, 'o', 'o', 'o' },
	{ WF_QPS_INIT, WF_QPS_INIT, WF_QP_PORT, 'o', 'o', 'o' },
	{ WF_QPS_INIT, WF_QPS_INIT, WF_QP_ACCESS_FLAGS, 'o', 'o', ' ' },
	{ WF_QPS_INIT, WF_QPS_INIT, WF_QP_QKEY, ' ', ' ', 'o' },
	{ WF_QPS_INIT, WF_QPS_RTR, WF_QP_AV, 'r', 'r', ' ' },
	{ WF_QPS_INIT, WF_QPS_RTR, WF_QP_PATH_MTU, 'r', 'r', ' ' },
	{ WF_QPS_INIT, WF_QPS_RTR, WF_QP_DEST_QPN, 'r', 'r', ' ' },
	{ WF_QPS_INIT, WF_QPS_RTR, WF_QP_RQ_PSN, 'r', 'r', ' ' },
	{ WF_QPS_INIT, WF_QPS_RTR, WF_QP_MAX_DEST_RD_ATOMIC, 'r', ' ', ' ' },
	{ WF_QPS_INIT, WF_QPS_RTR, WF_QP_MIN_RNR_TIMER, 'r', ' ', ' ' },
	{ WF_QPS_INIT, WF_QPS_RTR, WF_QP_ALT_PATH, 'o', 'o', ' ' },
	{ WF_QPS_INIT, WF_QPS_RTR, WF_QP_ACCESS_FLAGS, 'o', 'o', ' ' },
	{ WF_QPS_INIT, WF_QPS_RTR, WF_QP_PKEY_INDEX, 'o', 'o', 'o' },
	{ WF_QPS_INIT, WF_QPS_RTR, WF_QP_QKEY, ' ', ' ', 'o' },
	{ WF_QPS_RTR, WF_QPS_RTS, WF_QP_SQ_PSN, 'r', 'r', 'r' },
	{ WF_QPS_RTR, WF_QPS_RTS, WF_QP_TIMEOUT, 'r', ' ', ' ' },
	{ WF_QPS_RTR, WF_QPS_RTS, WF_QP_RETRY_CNT, 'r', ' ', ' ' },
	{ WF_QPS_RTR, WF_QPS_RTS, WF_QP_RNR_RETRY, 'r', ' ', ' ' },
	{ WF_QPS_RTR, WF_QPS_RTS, WF_QP_MAX_QP_RD_ATOMIC, 'r', ' ', ' ' },
	{ WF_QPS_RTR, WF_QPS_RTS, WF_QP_CUR_STATE, 'o', 'o', 'o' },
	{ WF_QPS_RTR, WF_QPS_RTS, WF_QP_ALT_PATH, 'o', 'o', ' ' },
	{ WF_QPS_RTR, WF_QPS_RTS, WF_QP_ACCESS_FLAGS, 'o', 'o', ' ' },
	{ WF_QPS_RTR, WF_QPS_RTS, WF_QP_PATH_MIG_STATE, 'o', 'o', ' ' },
	{ WF_QPS_RTR, WF_QPS_RTS, WF_QP_MIN_RNR_TIMER, 'o', ' ', ' ' },
	{ WF_QPS_RTR, WF_QPS_RTS, WF_QP_QKEY, ' ', ' ', 'o' },
	{ WF_QPS_RTS, WF_QPS_RTS, WF_QP_CUR_STATE, 'o', 'o', 'o' },
	{ WF_QPS_RTS, WF_QPS_RTS, WF_QP_ALT_PATH, 'o', 'o', ' ' },
	{ WF_QPS_RTS, WF_QPS_RTS, WF_QP_ACCESS_FLAGS, 'o', 'o', ' ' },
	{ WF_QPS_RTS, WF_QPS_RTS, WF_QP_PATH_MIG_STATE, 'o', 'o', ' ' },
	{ WF_QPS_RTS, WF_QPS_RTS, WF_QP_MIN_RNR_TIMER, 'o', ' ', ' ' },
	{ WF_QPS_RTS, WF_QPS_RTS, WF_QP_QKEY, ' ', ' ', 'o' },
	{ WF_QPS_RTS, WF_QPS_SQD, WF_QP_EN_SQD_ASYNC_NOTIFY, 'o', 'o', 'o' },
	{ WF_QPS_SQD, WF_QPS_RTS, WF_QP_CUR_STATE, 'o', 'o', 'o' },
	{ WF_QPS_SQD, WF_QPS_RTS, WF_QP_ALT_PATH, 'o', 'o', ' ' },
	{ WF_QPS_SQD, WF_QPS_RTS, WF_QP_ACCESS_FLAGS, 'o', 'o', ' ' },
	{ WF_QPS_SQD, WF_QPS_RTS, WF_QP_PATH_MIG_STATE, 'o', 'o', ' ' },
	{ WF_QPS_SQD, WF_QPS_RTS, WF_QP_MIN_RNR_TIMER, 'o', ' ', ' ' },
	{ WF_QPS_SQD, WF_QPS_RTS, WF_QP_QKEY, ' ', ' ', 'o' },
	{ WF_QPS_SQD, WF_QPS_SQD, WF_QP_PORT, 'o', ' ', ' ' },
	{ WF_QPS_SQD, WF_QPS_SQD, WF_QP_AV, 'o', 'o', ' ' },
	{ WF_QPS_SQD, WF_QPS_SQD, WF_QP_TIMEOUT, 'o', ' ', ' ' },
	{ WF_QPS_SQD, WF_QPS_SQD, WF_QP_RETRY_CNT, 'o', ' ', ' ' },
	{ WF_QPS_SQD, WF_QPS_SQD, WF_QP_RNR_RETRY, 'o', ' ', ' ' },
	{ WF_QPS_SQD, WF_QPS_SQD, WF_QP_MAX_QP_RD_ATOMIC, 'o', ' ', ' ' },
	{ WF_QPS_SQD, WF_QPS_SQD, WF_QP_MAX_DEST_RD_ATOMIC, 'o', ' ', ' ' },
	{ WF_QPS_SQD, WF_QPS_SQD, WF_QP_ALT_PATH, 'o', 'o', ' ' },
	{ WF_QPS_SQD, WF_QPS_SQD, WF_QP_ACCESS_FLAGS, 'o', 'o', ' ' },
	{ WF_QPS_SQD, WF_QPS_SQD, WF_QP_PKEY_INDEX, 'o', 'o', 'o' },
	{ WF_QPS_SQD, WF_QPS_SQD, WF_QP_MIN_RNR_TIMER, 'o', ' ', ' ' },
	{ WF_QPS_SQD, WF_QPS_SQD, WF_QP_PATH_MIG_STATE, 'o', 'o', ' ' },
	{ WF_QPS_SQD, WF_QPS_SQD, WF_QP_QKEY, ' ', ' ', 'o' },
	{ WF_QPS_SQE, WF_QPS_RTS, WF_QP_CUR_STATE, ' ', 'o', 'o' },
	{ WF_QPS_SQE, WF_QPS_RTS, WF_QP_ACCESS_FLAGS, ' ', 'o', ' ' },
	{ WF_QPS_SQE, WF_QPS_RTS, WF_QP_QKEY, ' ', ' ', 'o' },
};

static char rule_of(enum wf_qp_type type, enum wf_qp_state from, enum wf_qp_state to, uint32_t attr)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(rules); i++) {
		const struct rule *r = &rules[i];

		if (r->from == from && r->to == to && r->attr == attr)
			return type == WF_QPT_RC ? r->rc : type == WF_QPT_UC ? r->uc : r->ud;
	}
	return ' ';
}

static bool transition_exists(enum wf_qp_state from, enum wf_qp_state to)
{
	if (to == WF_QPS_RESET || to == WF_QPS_ERR)
		return true;
	if (from == WF_QPS_RTS && to == WF_QPS_RTS)
		return true;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rules); i++) {
		if (rules[i].from == from && rules[i].to == to)
			return true;
	}
	return false;
}

static uint32_t required(enum wf_qp_type type, enum wf_qp_state from, enum wf_qp_state to)
{
	uint32_t mask = 0;

	for (uint32_t bit = 1; bit <= WF_QP_DEST_QPN; bit <<= 1)
		mask |= rule_of(type, from, to, bit) == 'r' ? bit : 0;
	return mask;
}

/* A fresh queue pair in the given state; NULL where it cannot be brought there. */
static struct wf_qp *qp_in(struct rig *rig, enum wf_qp_type type, enum wf_qp_state state,
                           struct wf_qp_attr *attr)
{
	struct wf_qp *qp = rig_make_qp(rig, 0, type, NULL);
	static const enum wf_qp_state way[] = { WF_QPS_INIT, WF_QPS_RTR, WF_QPS_RTS, WF_QPS_SQD };
	enum wf_qp_state at = WF_QPS_RESET;

	if (state == WF_QPS_ERR) {
		attr->qp_state = WF_QPS_ERR;
		rig_must(wf_qp_modify(qp, attr, WF_QP_STATE) == 0);
		return qp;
	}
	for (size_t i = 0; at != state && !(state == WF_QPS_SQE && at == WF_QPS_RTS); i++) {
		attr->qp_state = way[i];
		rig_must(wf_qp_modify(qp, attr, WF_QP_STATE | required(type, at, way[i])) == 0);
		at = way[i];
	}
	if (state == WF_QPS_SQE) {
		struct wf_sge sge = { .addr = 1, .length = 1, .lkey = 99 };
		struct wf_send_wr wr = { .opcode = WF_WR_SEND };
		struct wf_ah_attr ah_attr = { .dest = 0 };
		struct wf_ah *ah;

		if (type == WF_QPT_RC)
			return qp;
		rig_must(wf_ah_create(rig->host[0].pd, &ah_attr, &ah) == 0);
		wr.ud.ah = ah;
		rig_must(rig_post(qp, &wr, &sge) == 0);
		rig_run(rig);
	}
	return qp;
}

static void check_one(struct rig *rig, enum wf_qp_type type, enum wf_qp_state from,
                      enum wf_qp_state to, uint32_t extra, bool missing, bool ok)
{
	struct wf_qp_attr attr;
	struct wf_qp *qp;
	uint32_t mask;
	int ret;

	rig_attr_defaults(&attr);
	qp = qp_in(rig, type, from, &attr);
	rig_must(wf_qp_state(qp) == from);
	mask = WF_QP_STATE | required(type, from, to);
	mask = missing ? mask & ~extra : mask | extra;
	attr.qp_state = to;
	attr.cur_qp_state = from;
	ret = wf_qp_modify(qp, &attr, mask);
	if (ret != (ok ? 0 : -EINVAL))
		fail_msg("type %d state %d -> %d, %s 0x%x: %d", type, (int)from, (int)to,
		         missing ? "without" : "with", extra, ret);
	assert_int_equal(wf_qp_state(qp), ok ? to : from);
	wf_qp_destroy(qp);
}

static void test_table(void **state)
{
	static const enum wf_qp_type types[] = { WF_QPT_RC, WF_QPT_UC, WF_QPT_UD };
	struct rig rig;

	(void)state;
	rig_init(&rig, 1, NULL, 1);
	for (uint32_t i = 0; i < 3 * WF_QPS_STATES * WF_QPS_STATES; i++) {
		enum wf_qp_type type = types[i % 3];
		enum wf_qp_state from = (enum wf_qp_state)(i / 3 % WF_QPS_STATES);
		enum wf_qp_state to = (enum wf_qp_state)(i / 3 / WF_QPS_STATES);
		bool ok = transition_exists(from, to);

		if (type == WF_QPT_RC && from == WF_QPS_SQE)
			continue; /* a reliable queue pair is never there */
		check_one(&rig, type, from, to, 0, false, ok);
		for (uint32_t bit = 2; bit <= WF_QP_DEST_QPN && ok; bit <<= 1) {
			char rule = rule_of(type, from, to, bit);

			check_one(&rig, type, from, to, bit, false, rule != ' ');
			if (rule == 'r')
				check_one(&rig, type, from, to, bit, true, false);
		}
	}
	rig_fini(&rig);
}

/* A value out of range changes nothing. */
static void test_values(void **state)
{
	struct wf_qp_attr attr, good;
	struct rig rig;
	struct wf_qp *qp;

	(void)state;
	rig_init(&rig, 1, NULL, 1);
	rig_attr_defaults(&good);
	good.qp_state = WF_QPS_RTR;
	qp = qp_in(&rig, WF_QPT_RC, WF_QPS_INIT, &good);
	good.qp_state = WF_QPS_RTR;
#define REJECT(field, value)                                                                       \
	do {                                                                                       \
		attr = good;                                                                       \
		attr.field = (value);                                                              \
		assert_int_equal(wf_qp_modify(qp, &attr, RIG_RTR_RC), -EINVAL);                    \
		assert_int_equal(wf_qp_state(qp), WF_QPS_INIT);                                    \
	} while (0)
	REJECT(path_mtu, (enum wf_mtu)0);
	REJECT(path_mtu, (enum wf_mtu)6);
	REJECT(rq_psn, 0x1000000);
	REJECT(dest_qp_num, 0x1000000);
	REJECT(max_dest_rd_atomic, 17);
	REJECT(min_rnr_timer, 32);
	REJECT(ah_attr.sl, 16);
	REJECT(qp_state, WF_QPS_STATES);
#undef REJECT
	assert_int_equal(wf_qp_modify(qp, &good, RIG_RTR_RC), 0);
	/* The state the caller believes in has to be the right one. */
	good.qp_state = WF_QPS_RTS;
	good.cur_qp_state = WF_QPS_INIT;
	assert_int_equal(wf_qp_modify(qp, &good, RIG_RTS_RC | WF_QP_CUR_STATE), -EINVAL);
	good.retry_cnt = 8;
	assert_int_equal(wf_qp_modify(qp, &good, RIG_RTS_RC), -EINVAL);
	rig_fini(&rig);
}

static void test_query(void **state)
{
	struct wf_qp_attr attr, got;
	struct wf_qp_init init;
	struct rig rig;
	struct wf_qp *qp;

	(void)state;
	rig_init(&rig, 1, NULL, 1);
	rig_attr_defaults(&attr);
	qp = rig_make_qp(&rig, 0, WF_QPT_RC, NULL);
	rig_bring_up(qp, &attr, 3, 77, 100, 200);
	wf_qp_query(qp, &got, &init);
	assert_int_equal(got.qp_state, WF_QPS_RTS);
	assert_int_equal(got.sq_psn, 100);
	assert_int_equal(got.rq_psn, 200);
	assert_int_equal(got.dest_qp_num, 77);
	assert_int_equal(got.path_mtu, attr.path_mtu);
	assert_int_equal(got.timeout, attr.timeout);
	assert_int_equal(got.ah_attr.dest, 3);
	assert_int_equal(init.cap.max_send_wr, 256);
	assert_int_equal(init.type, WF_QPT_RC);
	rig_reset_qp(qp);
	wf_qp_query(qp, &got, NULL);
	assert_int_equal(got.qp_state, WF_QPS_RESET);
	assert_int_equal(got.dest_qp_num, 0);
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_psn),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
