/* SPDX-License-Identifier: Apache-2.0 */
/* test_wire_cnp.c - queue pairs of a host on the wire slow down when CNPs come, and only then. */
#include "base/err.h"
#include "base/param.h"
#include "check.h"
#include "rig_nic.h"
#include "wire/opcode.h"

#define PACKETS 8

static struct wf_qp *make_qp(struct rig *r)
{
	struct wf_qp_init init = { .type = WF_QPT_RC,
		                   .send_cq = r->cq,
		                   .recv_cq = r->cq,
		                   .cap = { 64, 64, 4, 4, 64 },
		                   .tune = { .window = 128 } };
	struct wf_qp_attr a = {
		.port_num = 1,
		.path_mtu = WF_MTU_4096,
		.dest_qp_num = 1 << WF_LIVE_QPN_BITS | 2,
		.ah_attr = { .dest = 1, .port_num = 1 },
		.max_rd_atomic = 4,
		.timeout = 20,
		.retry_cnt = 7,
	};
	struct wf_qp *qp;

	wf_nic_tune(r->nic, WF_QPT_RC, &init.tune);
	assert_int_equal(wf_qp_create(r->pd, &init, &qp), 0);
	a.qp_state = WF_QPS_INIT;
	assert_int_equal(
		wf_qp_modify(qp, &a,
	                     WF_QP_STATE | WF_QP_PKEY_INDEX | WF_QP_PORT | WF_QP_ACCESS_FLAGS),
		0);
	a.qp_state = WF_QPS_RTR;
	assert_int_equal(wf_qp_modify(qp, &a,
	                              WF_QP_STATE | WF_QP_AV | WF_QP_PATH_MTU | WF_QP_DEST_QPN |
	                                      WF_QP_RQ_PSN | WF_QP_MAX_DEST_RD_ATOMIC |
	                                      WF_QP_MIN_RNR_TIMER),
	                 0);
	a.qp_state = WF_QPS_RTS;
	assert_int_equal(wf_qp_modify(qp, &a,
	                              WF_QP_STATE | WF_QP_TIMEOUT | WF_QP_RETRY_CNT |
	                                      WF_QP_RNR_RETRY | WF_QP_SQ_PSN |
	                                      WF_QP_MAX_QP_RD_ATOMIC),
	                 0);
	return qp;
}

static void post_write(struct rig *r, struct wf_qp *qp)
{
	struct wf_sge sge = { (uintptr_t)r->memory, PACKETS * 4096, wf_mr_lkey(r->mr) };
	struct wf_send_wr wr = { .sge = &sge, .num_sge = 1, .opcode = WF_WR_RDMA_WRITE };
	const struct wf_send_wr *bad;

	assert_int_equal(wf_qp_post_send(qp, &wr, &bad), 0);
}

/* How many packets go at one moment. */
static unsigned burst(struct rig *r, wf_time now)
{
	static char payload[4096];
	struct wf_packet pkt;
	unsigned n = 0;

	while (wf_hca_tx_time(r->nic->hca) <= now && wf_hca_tx(r->nic->hca, now, &pkt, payload))
		n++;
	return n;
}

static void come_cnp(struct rig *r, struct wf_qp *qp, wf_time now)
{
	struct wf_packet pkt = {
		.src = 1,
		.type = WF_PACKET_RDMA,
		.opcode = WF_OP_CNP,
		.pkey = 0xffff,
		.qpn = wf_qp_num(qp),
	};
	struct wf_hca_rx_extra extra = { 0 };

	wf_hca_rx(r->nic->hca, &pkt, &extra, now);
}

static void test_slows_down(void **state)
{
	struct rig *r = rig_create();
	wf_time now = 10 * WF_S;
	uint64_t line;
	struct wf_qp *qp;

	(void)state;
	r->nic->table->layer = WF_LIVE_ROCE;
	r->nic->table->host[0].wire = 1u << WF_LIVE_GID_IPV4;
	qp = make_qp(r);
	line = wf_qp_rate(qp);
	assert_int_equal(line, UINT64_C(400000000000));
	/* Before the first CNP nothing is held back. */
	post_write(r, qp);
	assert_int_equal(burst(r, now), PACKETS);
	/* One every 50 us, as switches that mark all packets lead to. */
	for (unsigned i = 0; i < 20; i++) {
		now += 50 * WF_US;
		come_cnp(r, qp, now);
	}
	assert_int_equal(wf_hca_counter(r->nic->hca, WF_CTR_RP_CNP_HANDLED), 20);
	post_write(r, qp);
	(void)burst(r, now);
	assert_true(wf_qp_rate(qp) < line / 10);
	assert_true(burst(r, now) == 0 && wf_hca_tx_time(r->nic->hca) > now);
	rig_destroy(r);
}

/* Where there is no wire, there is nothing to slow down for. */
static void test_no_wire(void **state)
{
	struct rig *r = rig_create();
	struct wf_qp *qp;

	(void)state;
	qp = make_qp(r);
	come_cnp(r, qp, 10 * WF_S);
	post_write(r, qp);
	assert_int_equal(burst(r, 10 * WF_S), PACKETS);
	rig_destroy(r);
}

/* Through the model, the host's port sees to the line rate: a thread that sleeps loses no slots. */
static void test_model(void **state)
{
	const struct wf_cc_ops *dcqcn = wf_cc_find("dcqcn");
	struct rig *r = rig_create();
	struct wf_live_table *t = r->nic->table;
	wf_time now = 10 * WF_S;
	struct wf_err err = { "" };
	struct wf_qp *qp;

	(void)state;
	t->layer = WF_LIVE_ROCE;
	t->pace = WF_LIVE_WALL;
	strcpy(t->cc, dcqcn->name);
	t->tune.window = 128;
	assert_int_equal(wf_param_defaults(dcqcn->params, dcqcn->n_params, t->cc_param, &err), 0);
	qp = make_qp(r);
	post_write(r, qp);
	assert_int_equal(burst(r, now), PACKETS);
	/* Below it, the congestion control spaces them. */
	for (unsigned i = 0; i < 20; i++)
		come_cnp(r, qp, now += 50 * WF_US);
	post_write(r, qp);
	assert_true(burst(r, now) < PACKETS);
	rig_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slows_down),
		cmocka_unit_test(test_no_wire),
		cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
