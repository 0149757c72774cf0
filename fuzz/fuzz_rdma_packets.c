/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_rdma_packets.c - arbitrary packets into an adapter with queue pairs of every service, in the
 * middle of work. Whatever comes, it writes nowhere but into the registered memory, keeps its
 * invariants, and lets itself be torn down.
 */
#include "../tests/unit/rdma/rig_qp.h"

#define QPS 4
#define BYTES 16384
#define GUARD 256

struct target {
	struct rig rig;
	struct wf_qp *qp[QPS];
	struct wf_mr *mr;
	struct wf_mw *mw;
	uint8_t *block; /* guard, region, guard */
	const uint8_t *data;
	size_t left;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t take(struct target *t, size_t n)
{
	uint64_t v = 0;

	for (; n > 0 && t->left > 0; n--, t->left--)
		v = v << 8 | *t->data++;
	return v;
}

static void setup(struct target *t)
{
	static const struct wf_qp_tune tune[QPS] = {
		{ .cnp_interval = 1, .credits = true },
		{ .recovery = WF_RECOVERY_SELECTIVE, .window = 64, .reorder = 3, .direct = true },
	};
	static const enum wf_qp_type type[QPS] = { WF_QPT_RC, WF_QPT_RC, WF_QPT_UC, WF_QPT_UD };
	struct wf_hca_attr hca;
	struct wf_qp_attr attr;

	/* Two ports, with addresses 0 and 1. */
	wf_hca_attr_defaults(&hca);
	hca.max_qp = 64;
	hca.max_mr = 256;
	hca.ports = 2;
	hca.lag = WF_LAG_OWN;
	hca.port_step = 1;
	rig_init(&t->rig, 1, &hca, 1);
	t->block = malloc(BYTES + 2 * GUARD);
	rig_must(t->block != NULL);
	memset(t->block, 0xee, BYTES + 2 * GUARD);
	t->mr = rig_reg(&t->rig.host[0], t->block + GUARD, BYTES,
	                WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE | WF_ACCESS_MW_BIND);
	rig_must(wf_mw_create(t->rig.host[0].pd, WF_MW_TYPE_2, &t->mw) == 0);
	rig_attr_defaults(&attr);
	attr.path_mtu = WF_MTU_256;
	for (uint32_t i = 0; i < QPS; i++) {
		t->qp[i] = rig_make_qp(&t->rig, 0, type[i], &tune[i]);
		rig_bring_up(t->qp[i], &attr, 0, wf_qp_num(t->qp[i]), 0xfffff0, 0xfffff0);
	}
}

/* A packet near enough to a right one that it gets past the first check. */
static void make_packet(struct target *t, struct wf_packet *pkt)
{
	uint32_t qp = (uint32_t)take(t, 1) % QPS;
	static const uint8_t service[QPS] = { 0x00, 0x00, 0x20, 0x60 };

	memset(pkt, 0, sizeof(*pkt));
	pkt->type = WF_PACKET_RDMA;
	pkt->qpn = wf_qp_num(t->qp[qp]);
	pkt->opcode = (uint8_t)take(t, 1);
	if (pkt->opcode < 0xe0)
		pkt->opcode = (uint8_t)((pkt->opcode & 0x1f) | service[qp]);
	pkt->psn = (0xffffe0 + (uint32_t)take(t, 1)) & 0xffffff;
	pkt->flags = (uint8_t)take(t, 1);
	if (pkt->flags >= 0xe0)
		pkt->type = WF_PACKET_TRIMMED;
	pkt->flags &= WF_PACKET_ACK_REQ | WF_PACKET_CE | WF_PACKET_SOLICITED | WF_PACKET_MIGRATED;
	pkt->src = pkt->dst = wf_op_service(pkt->opcode) != WF_SERVICE_UD && take(t, 1) % 8 == 0;
	pkt->pkey = 0xffff;
	if (wf_op_is_atomic(pkt->opcode)) {
		pkt->atomic_rkey = wf_mr_rkey(t->mr);
		pkt->atomic_va = (uintptr_t)t->block + GUARD + take(t, 2);
		pkt->u.atomic.compare = take(t, 1);
		pkt->u.atomic.swap_add = take(t, 1);
		return;
	}
	pkt->length = (uint16_t)(take(t, 2) % 4200);
	if (pkt->length > 300)
		pkt->length = 256;
	pkt->imm = (uint32_t)take(t, 1) % 4 == 0 ? wf_mw_rkey(t->mw) : 0x1234;
	if (wf_op_has_reth(pkt->opcode)) {
		pkt->u.reth.va = (uintptr_t)t->block + GUARD + take(t, 2);
		pkt->u.reth.rkey = take(t, 1) % 8 == 0 ? wf_mw_rkey(t->mw) : wf_mr_rkey(t->mr);
		pkt->u.reth.dma_len = (uint32_t)take(t, 2);
	} else if (wf_op_has_deth(pkt->opcode)) {
		pkt->u.deth.qkey = RIG_QKEY;
		pkt->u.deth.src_qpn = 5;
	} else if (wf_op_has_aeth(pkt->opcode)) {
		pkt->u.aeth.syndrome = (uint8_t)take(t, 1);
		pkt->u.aeth.msn = (uint32_t)take(t, 1);
		if (pkt->u.aeth.msn % 2 == 0) /* of selective repeat: a PSN */
			pkt->u.aeth.msn = (0xffffe0 + pkt->u.aeth.msn / 2) & 0xffffff;
		else
			pkt->u.aeth.msn = (uint32_t)take(t, 3);
	}
}

static void post_something(struct target *t)
{
	struct wf_qp *qp = t->qp[take(t, 1) % QPS];
	struct wf_sge sge = rig_sge(t->block + GUARD, (uint32_t)take(t, 2) % 2000, t->mr);
	struct wf_ah_attr ah_attr = { .dest = 0 };
	struct wf_send_wr wr = { .opcode = (enum wf_wr_opcode)(take(t, 1) % WF_WR_OPCODES),
		                 .flags = (uint32_t)take(t, 1) % WF_SEND_FLAGS };
	struct wf_ah *ah;

	if (take(t, 1) % 2 == 0) {
		(void)rig_recv(qp, 1, &sge);
		return;
	}
	wr.rdma.addr = sge.addr;
	wr.rdma.rkey = sge.lkey;
	if (wr.opcode == WF_WR_ATOMIC_CMP_AND_SWP || wr.opcode == WF_WR_ATOMIC_FETCH_AND_ADD) {
		wr.atomic.rkey = sge.lkey;
		sge.length = 8;
	}
	if (wr.opcode == WF_WR_BIND_MW) {
		wr.mw.mw = t->mw;
		wr.mw.rkey = wf_rkey_next(wf_mw_rkey(t->mw));
		wr.mw.bind = (struct wf_mw_bind){ .mr = t->mr,
			                          .addr = (uintptr_t)t->block + GUARD,
			                          .length = BYTES,
			                          .access = WF_ACCESS_REMOTE };
	}
	wr.imm = wf_mw_rkey(t->mw);
	if (wf_qp_type(qp) == WF_QPT_UD) {
		rig_must(wf_ah_create(t->rig.host[0].pd, &ah_attr, &ah) == 0);
		wr.ud.ah = ah;
		wr.ud.qpn = wf_qp_num(qp);
		wr.ud.qkey = RIG_QKEY;
	}
	(void)rig_post(qp, &wr, &sge);
}

/* Another state, or all the way through RESET and up again. */
static void change_state(struct target *t)
{
	struct wf_qp *qp = t->qp[take(t, 1) % QPS];
	struct wf_qp_attr attr;

	rig_attr_defaults(&attr);
	attr.path_mtu = WF_MTU_256;
	attr.qp_state = (enum wf_qp_state)(take(t, 1) % 16);
	if (attr.qp_state > 12) {
		attr.alt_port_num = (uint8_t)(attr.qp_state - 12);
		attr.alt_ah_attr.dest = attr.alt_port_num - 1u;
		attr.path_mig_state = (enum wf_mig_state)(take(t, 1) % 4);
		(void)!wf_qp_modify(qp, &attr, WF_QP_ALT_PATH | WF_QP_PATH_MIG_STATE);
		return;
	}
	if (attr.qp_state < WF_QPS_STATES) {
		(void)!wf_qp_modify(qp, &attr, WF_QP_STATE);
		return;
	}
	rig_reset_qp(qp);
	rig_bring_up(qp, &attr, 0, wf_qp_num(qp), 0xfffff0, 0xfffff0);
}

static void act(struct target *t)
{
	static uint8_t payload[4096];
	struct wf_hca_rx_extra extra = { .payload = payload };
	struct rig_packet *out;
	struct wf_packet pkt;

	switch (take(t, 1) % 8) {
	case 0:
		post_something(t);
		break;
	case 1:
		(void)rig_step(&t->rig, t->rig.now + 50 * WF_US);
		break;
	case 2:
		out = rig_packet_get(&t->rig);
		if (rig_tx(&t->rig, &t->rig.host[0], out))
			rig_must(out->pkt.length <= 4096 || wf_op_is_atomic(out->pkt.opcode));
		rig_packet_put(&t->rig, out);
		break;
	case 3:
		change_state(t);
		break;
	default:
		make_packet(t, &pkt);
		wf_hca_rx(t->rig.host[0].hca, &pkt, &extra, t->rig.now);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target *t = calloc(1, sizeof(*t));
	struct wf_wc wc;

	rig_must(t != NULL);
	t->data = data;
	t->left = size < 4096 ? size : 4096;
	setup(t);
	while (t->left > 0) {
		act(t);
		while (rig_poll(&t->rig, 0, &wc))
			rig_must(wc.status < WF_WC_STATUSES);
	}
	for (uint32_t i = 0; i < 200 && rig_step(&t->rig, WF_TIME_NEVER - 1); i++)
		continue;
	for (uint32_t i = 0; i < GUARD; i++)
		rig_must(t->block[i] == 0xee && t->block[GUARD + BYTES + i] == 0xee);
	rig_fini(&t->rig);
	free(t->block);
	free(t);
	return 0;
}
