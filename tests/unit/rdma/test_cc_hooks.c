/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of what the transport tells congestion control, and of running without payload. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/hca_priv.h"
#include "rdma/rig_pair.h"

/* An algorithm that only takes notes; they are its parameter. */
struct notes {
	uint32_t sends, acks, cnps, naks, timeouts, timers, ecn, no_rtt;
	uint64_t sent_bytes, acked_bytes;
	wf_time last_rtt;
	uint64_t most_inflight;
	const struct wf_cc_int *telemetry;
};

struct noting {
	struct wf_cc cc;
	struct notes *notes;
};

static struct notes *notes_of(struct wf_cc *cc)
{
	return wf_container_of(cc, struct noting, cc)->notes;
}

static void noting_start(struct wf_cc *cc, const void *param, wf_time now)
{
	struct notes *const *notes = param;

	wf_container_of(cc, struct noting, cc)->notes = *notes;
	cc->timer = now + 1;
}

static void noting_send(struct wf_cc *cc, uint32_t bytes, wf_time now)
{
	(void)now;
	notes_of(cc)->sends++;
	notes_of(cc)->sent_bytes += bytes;
}

static void noting_ack(struct wf_cc *cc, const struct wf_cc_ack *ack)
{
	struct notes *n = notes_of(cc);

	n->acks++;
	n->acked_bytes += ack->bytes;
	n->ecn += ack->ecn;
	n->no_rtt += ack->rtt == 0;
	if (ack->rtt != 0)
		n->last_rtt = ack->rtt;
	if (ack->inflight > n->most_inflight)
		n->most_inflight = ack->inflight;
	if (ack->telemetry != NULL)
		n->telemetry = ack->telemetry;
}

static void noting_cnp(struct wf_cc *cc, wf_time now)
{
	(void)now;
	notes_of(cc)->cnps++;
}

static void noting_loss(struct wf_cc *cc, enum wf_cc_loss loss, wf_time now)
{
	(void)now;
	if (loss == WF_CC_LOSS_NAK)
		notes_of(cc)->naks++;
	else
		notes_of(cc)->timeouts++;
}

static void noting_timer(struct wf_cc *cc, wf_time now)
{
	assert_true(now >= cc->timer);
	notes_of(cc)->timers++;
	cc->timer = now + 100 * WF_MS;
}

static const struct wf_cc_ops noting = {
	.name = "noting",
	.help = "takes notes",
	.size = sizeof(struct noting),
	.start = noting_start,
	.on_send = noting_send,
	.on_ack = noting_ack,
	.on_cnp = noting_cnp,
	.on_loss = noting_loss,
	.on_timer = noting_timer,
};

static void test_notes(void **state)
{
	struct notes notes = { 0 };
	struct notes *param = &notes;
	struct wf_qp_tune tune = { .cc = &noting,
		                   .cc_param = &param,
		                   .ack_every = 2,
		                   .cnp_interval = 1,
		                   .ecn_echo = true };
	struct pair p;

	(void)state;
	pair_init(&p, &tune, NULL, 0);
	pair_post_write(&p, 1, 8192);
	rig_run(&p.rig);
	assert_int_equal(notes.sends, 8);
	assert_int_equal(notes.sent_bytes, 8192 + 8 * (50 + 12) + 16);
	assert_int_equal(notes.acked_bytes, 8192);
	assert_int_equal(notes.acks, 4);
	assert_int_equal(notes.last_rtt, 2 * RIG_DELAY);
	assert_int_equal(notes.naks + notes.timeouts + notes.cnps + notes.ecn, 0);
	assert_int_equal(notes.timers, 1); /* lazily, and no more than asked for */
	/* Marks come back as CNPs and as echoes. */
	p.rig.faults.mark = UINT32_MAX;
	pair_post_write(&p, 2, 8192);
	rig_run(&p.rig);
	assert_true(notes.cnps >= 4);
	assert_true(notes.ecn >= 1);
	pair_fini(&p);
}

static bool lose_third(struct rig *rig, struct wf_packet *pkt)
{
	uint32_t *left = rig->ctx;

	(void)pkt;
	return *left == 0 || --*left != 0;
}

static void test_losses(void **state)
{
	struct notes notes = { 0 };
	struct notes *param = &notes;
	struct wf_qp_tune tune = { .cc = &noting, .cc_param = &param };
	uint32_t lose = 3;
	struct pair p;

	(void)state;
	pair_init(&p, &tune, NULL, 0);
	p.rig.ctx = &lose;
	p.rig.filter = lose_third;
	pair_post_write(&p, 1, 8192);
	rig_run(&p.rig);
	assert_int_equal(notes.naks, 1);
	assert_int_equal(notes.timeouts, 0);
	lose = 1;
	pair_post_write(&p, 2, 8);
	rig_run(&p.rig);
	assert_int_equal(notes.timeouts, 1);
	assert_int_equal(notes.acked_bytes, 8200);
	pair_fini(&p);
}

/* What happens to the first copy of a packet. */
struct first_copy {
	uint32_t psn;
	bool trim; /* or it is lost */
	bool done;
};

static bool hit_first(struct rig *rig, struct wf_packet *pkt)
{
	struct first_copy *f = rig->ctx;

	if (f->done || pkt->psn != f->psn || !wf_op_is_write(pkt->opcode))
		return true;
	f->done = true;
	if (f->trim) {
		pkt->type = WF_PACKET_TRIMMED;
		pkt->length = 0;
	}
	return f->trim;
}

/*
 * When it is known that the first copy did not come (trimmed; a NAK), the answer is to the second,
 * and has its time. After a timeout it may be to either, and has none (Karn's rule).
 */
static void test_time_of_repeats(void **state)
{
	static const struct {
		enum wf_recovery recovery;
		bool trim;
		uint32_t psn;
		uint32_t timeouts, no_rtt;
	} row[] = {
		{ WF_RECOVERY_SELECTIVE, true, 3, 0, 0 },
		{ WF_RECOVERY_SELECTIVE, true, 7, 0, 0 },
		{ WF_RECOVERY_SELECTIVE, false, 7, 1, 1 },
		/* Of five packets that go again four are timed. */
		{ WF_RECOVERY_GO_BACK_N, true, 3, 0, 1 },
		{ WF_RECOVERY_GO_BACK_N, false, 3, 0, 1 },
		/* Of eight packets four are timed, and the last one goes again. */
		{ WF_RECOVERY_GO_BACK_N, true, 7, 0, 3 },
		{ WF_RECOVERY_GO_BACK_N, false, 7, 1, 4 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct first_copy first = { .psn = row[i].psn, .trim = row[i].trim };
		struct notes notes = { 0 };
		struct notes *param = &notes;
		struct wf_qp_tune tune = { .cc = &noting,
			                   .cc_param = &param,
			                   .recovery = row[i].recovery,
			                   .ack_every = 1 };
		struct pair p;

		pair_init(&p, &tune, NULL, 0);
		p.rig.ctx = &first;
		p.rig.filter = hit_first;
		pair_post_write(&p, 1, 8192);
		rig_run(&p.rig);
		assert_true(first.done);
		assert_int_equal(notes.acked_bytes, 8192);
		assert_int_equal(notes.timeouts, row[i].timeouts);
		assert_int_equal(notes.no_rtt, row[i].no_rtt);
		assert_int_equal(notes.last_rtt, 2 * RIG_DELAY);
		pair_fini(&p);
	}
}

/*
 * Of a READ the responder is the one that sends: its algorithm hears of acknowledgements and marks.
 */
static void test_read(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct wf_send_wr wr = { .opcode = WF_WR_RDMA_READ };
		struct notes notes = { 0 };
		struct notes *param = &notes;
		struct wf_qp_tune tune = { .cc = &noting,
			                   .cc_param = &param,
			                   .ack_every = 1,
			                   .ecn_echo = true,
			                   .read_acks = true };
		struct wf_sge sge;
		struct pair p;

		tune.recovery = k == 0 ? WF_RECOVERY_GO_BACK_N : WF_RECOVERY_SELECTIVE;
		pair_init(&p, &tune, NULL, 0);
		sge = rig_sge(p.mem[0], 8192, p.mr[0]);
		wr.rdma.addr = (uintptr_t)p.mem[1];
		wr.rdma.rkey = wf_mr_rkey(p.mr[1]);
		assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
		rig_run(&p.rig);
		assert_int_equal(notes.sends, 9); /* the request, too */
		assert_int_equal(notes.acked_bytes, 8192);
		assert_int_equal(notes.last_rtt, 2 * RIG_DELAY);
		assert_int_equal(notes.ecn + notes.naks + notes.timeouts, 0);
		p.rig.faults.mark = UINT32_MAX;
		assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
		rig_run(&p.rig);
		assert_int_equal(notes.acked_bytes, 2 * 8192);
		assert_int_equal(notes.ecn, 8);
		pair_fini(&p);
	}
}

/* And telemetry comes back to it. */
static void test_read_telemetry(void **state)
{
	static const struct wf_cc_int telemetry = { .hops = 1 };
	uint32_t spare = 7;
	struct wf_hca_rx_extra out = { .echo = 42, .spare = &spare };
	struct wf_hca_rx_extra back = { .telemetry = &telemetry };
	struct notes notes = { 0 };
	struct notes *param = &notes;
	struct wf_qp_tune tune = {
		.cc = &noting, .cc_param = &param, .int_bytes = 42, .read_acks = true
	};
	struct wf_send_wr wr = { .opcode = WF_WR_RDMA_READ };
	struct wf_packet pkt;
	struct wf_sge sge;
	struct pair p;

	(void)state;
	pair_init(&p, &tune, NULL, 0);
	sge = rig_sge(p.mem[0], 8, p.mr[0]);
	wr.rdma.addr = (uintptr_t)p.mem[1];
	wr.rdma.rkey = wf_mr_rkey(p.mr[1]);
	assert_int_equal(rig_post(p.qp[0], &wr, &sge), 0);
	assert_true(wf_hca_tx(p.rig.host[0].hca, 0, &pkt, NULL));
	assert_false(pkt.flags & WF_PACKET_INT);
	wf_hca_rx(p.rig.host[1].hca, &pkt, NULL, 0);
	assert_true(wf_hca_tx(p.rig.host[1].hca, 0, &pkt, NULL));
	assert_true(pkt.flags & WF_PACKET_INT);
	assert_int_equal(pkt.size, 62 + 4 + 8 + 42);
	wf_hca_rx(p.rig.host[0].hca, &pkt, &out, 0);
	assert_int_equal(spare, 0);
	assert_true(wf_hca_tx(p.rig.host[0].hca, 0, &pkt, NULL));
	assert_int_equal(pkt.payload, 42);
	assert_int_equal(pkt.size, 62 + 4 + 42);
	wf_hca_rx(p.rig.host[1].hca, &pkt, &back, 0);
	assert_ptr_equal(notes.telemetry, &telemetry);
	pair_fini(&p);
}

/* What the driver hands over with a packet comes back with its ACK, and reaches the algorithm. */
static void test_telemetry(void **state)
{
	static const struct wf_cc_int telemetry = { .hops = 1 };
	uint32_t spare = 7;
	struct wf_hca_rx_extra out = { .echo = 42, .spare = &spare };
	struct wf_hca_rx_extra back = { .telemetry = &telemetry };
	struct notes notes = { 0 };
	struct notes *param = &notes;
	struct wf_qp_tune tune = { .cc = &noting, .cc_param = &param, .int_bytes = 42 };
	struct wf_packet pkt;
	struct pair p;

	(void)state;
	pair_init(&p, &tune, NULL, 0);
	pair_post_write(&p, 1, 8);
	assert_true(wf_hca_tx(p.rig.host[0].hca, 0, &pkt, NULL));
	assert_true(pkt.flags & WF_PACKET_INT);
	assert_int_equal(pkt.size, 62 + 16 + 8 + 42);
	wf_hca_rx(p.rig.host[1].hca, &pkt, &out, 0);
	assert_int_equal(spare, 0);
	out.echo = 43;
	wf_hca_rx(p.rig.host[1].hca, &pkt, &out, 0); /* again: an ACK tells of the newer one */
	assert_int_equal(spare, 42);
	assert_true(wf_hca_tx(p.rig.host[1].hca, 0, &pkt, NULL));
	assert_int_equal(pkt.payload, 43);
	assert_true(pkt.flags & WF_PACKET_INT);
	assert_int_equal(pkt.size, 62 + 4 + 42);
	wf_hca_rx(p.rig.host[0].hca, &pkt, &back, 0);
	assert_ptr_equal(notes.telemetry, &telemetry);
	pair_fini(&p);
}

static void on_forget(void *ctx, uint32_t echo)
{
	uint32_t *forgotten = ctx;

	*forgotten = *forgotten * 100 + echo;
}

/* What waits for an ACK that will never be sent goes back to the driver. */
static void test_forgotten_telemetry(void **state)
{
	(void)state;
	for (unsigned destroy = 0; destroy < 2; destroy++) {
		struct wf_hca_rx_extra out = { .echo = 42 };
		struct notes notes = { 0 };
		struct notes *param = &notes;
		struct wf_qp_tune tune = { .cc = &noting, .cc_param = &param, .int_bytes = 42 };
		struct wf_qp_attr attr = { .qp_state = WF_QPS_RESET };
		uint32_t forgotten = 0;
		struct wf_packet pkt;
		struct pair p;

		pair_init(&p, &tune, NULL, 0);
		p.rig.host[1].hca->attr.forget = on_forget;
		p.rig.host[1].hca->attr.forget_ctx = &forgotten;
		pair_post_write(&p, 1, 8);
		assert_true(wf_hca_tx(p.rig.host[0].hca, 0, &pkt, NULL));
		wf_hca_rx(p.rig.host[1].hca, &pkt, &out, 0);
		assert_int_equal(forgotten, 0);
		if (!destroy) {
			assert_int_equal(wf_qp_modify(p.qp[1], &attr, WF_QP_STATE), 0);
			assert_int_equal(forgotten, 42);
		}
		pair_fini(&p);
		assert_int_equal(forgotten, 42); /* once */
	}
}

/* Moves packets without payload between the two until nothing is left. */
static void move_all(struct wf_hca *hca[2])
{
	struct wf_packet pkt;
	bool more = true;

	while (more) {
		more = false;
		for (int i = 0; i < 2; i++) {
			while (wf_hca_tx(hca[i], 0, &pkt, NULL)) {
				wf_hca_rx(hca[1 - i], &pkt, NULL, 0);
				more = true;
			}
		}
	}
}

/* Without contents, lengths, keys and bounds are checked all the same. */
static void test_no_data(void **state)
{
	static const struct {
		enum wf_wr_opcode opcode;
		uint64_t addr;
		uint32_t length;
		enum wf_wc_status want;
	} row[] = {
		{ WF_WR_RDMA_WRITE, 0x1000, 1 << 20, WF_WC_SUCCESS },
		{ WF_WR_RDMA_READ, 0x1000, 1 << 20, WF_WC_SUCCESS },
		{ WF_WR_ATOMIC_FETCH_AND_ADD, 0x1000, 8, WF_WC_SUCCESS },
		{ WF_WR_RDMA_WRITE, 0x1001, 1 << 20, WF_WC_REM_ACCESS_ERR },
		{ WF_WR_RDMA_READ, 0xfff, 1, WF_WC_REM_ACCESS_ERR },
		{ WF_WR_RDMA_WRITE, 0x1000, (1 << 20) + 1, WF_WC_LOC_PROT_ERR },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_mr_attr mr = { .iova = 0x1000,
			                 .length = 1 << 20,
			                 .access = WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE };
		struct wf_send_wr wr = { .opcode = row[i].opcode, .flags = WF_SEND_SIGNALED };
		struct wf_hca_attr attr;
		struct wf_qp_attr qp_attr;
		struct wf_qp *qp[2];
		struct wf_hca *hca[2];
		struct wf_mr *reg[2];
		struct wf_sge sge;
		struct wf_wc wc;
		struct rig rig;

		wf_hca_attr_defaults(&attr);
		attr.data = false;
		rig_init(&rig, 2, &attr, 1);
		rig_attr_defaults(&qp_attr);
		for (uint32_t h = 0; h < 2; h++) {
			hca[h] = rig.host[h].hca;
			qp[h] = rig_make_qp(&rig, h, WF_QPT_RC, NULL);
			assert_int_equal(wf_mr_reg(rig.host[h].pd, &mr, &reg[h]), 0);
		}
		rig_connect(qp[0], 0, qp[1], 1, &qp_attr, 0);
		sge = (struct wf_sge){ .addr = 0x1000,
			               .length = row[i].length,
			               .lkey = wf_mr_lkey(reg[0]) };
		wr.rdma.addr = row[i].addr;
		wr.rdma.rkey = wf_mr_rkey(reg[1]);
		if (row[i].opcode == WF_WR_ATOMIC_FETCH_AND_ADD)
			wr.atomic.rkey = wf_mr_rkey(reg[1]);
		assert_int_equal(rig_post(qp[0], &wr, &sge), 0);
		move_all(hca);
		assert_true(rig_poll(&rig, 0, &wc));
		assert_int_equal(wc.status, row[i].want);
		rig_fini(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_time_of_repeats),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_read_telemetry),
		cmocka_unit_test(test_telemetry),
		cmocka_unit_test(test_forgotten_telemetry),
		cmocka_unit_test(test_no_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
