/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_packet_codec.c - the fabric's packet to bytes and back, on every link: random ones of every
 * opcode, each field on its own, control frames, and what has no form on the wire.
 */
#include "wire_test.h"

#include "wire/packet_codec.h"

#define ENCAPS WF_ENCAP_PFC /* those of data packets come first */

static bool op_fits(uint8_t op)
{
	return wf_op_is_known(op) && !wf_op_is_rd(op);
}

/* Every field random, within what it may hold. */
static void random_packet(struct test_rnd *r, uint8_t op, struct wf_packet *p)
{
	test_rnd_fill(r, p, sizeof(*p));
	p->type = WF_PACKET_RDMA;
	p->src = test_rnd_below(r, 49151);
	p->dst = test_rnd_below(r, 49151);
	p->mark = 0;
	p->flags &= WF_PACKET_ECT | WF_PACKET_CE | WF_PACKET_BECN | WF_PACKET_ACK_REQ |
	            WF_PACKET_SOLICITED | WF_PACKET_MIGRATED;
	p->opcode = op;
	p->qpn &= WF_QPN_MASK;
	p->psn &= WF_PSN_MASK;
	if (!wf_op_is_atomic(op))
		p->length = test_rnd_length(r, op);
	if (wf_op_has_aeth(op))
		p->u.aeth.msn &= WF_MSN_MASK;
	if (wf_op_has_deth(op))
		p->u.deth.src_qpn &= WF_QPN_MASK;
}

static void check_round_trip(struct test_rnd *r, const struct wf_wire_conf *conf,
                             const struct wf_packet *p)
{
	uint8_t buf[WF_PACKET_BYTES_MAX], payload[WF_MTU_MAX];
	uint16_t length = p->type == WF_PACKET_RDMA && wf_op_has_payload(p->opcode) ? p->length : 0;
	enum wf_reason reason;
	struct wf_headers h;
	struct wf_packet q;
	size_t len;

	test_rnd_fill(r, payload, length);
	assert_int_equal(wf_packet_encode(p, conf, NULL, NULL, payload, buf, sizeof(buf), &len), 0);
	assert_int_equal(wf_packet_decode(buf, len, conf, &q, &h, &reason), 0);
	assert_int_equal((q.flags & WF_PACKET_BAD) != 0, (p->flags & WF_PACKET_BAD) != 0);
	assert_true(wf_packet_is_same(p, &q, conf));
	assert_int_equal(h.payload_len, length);
	assert_memory_equal(buf + h.payload_at, payload, length);
	assert_int_equal(q.size, len + (wf_encap_is_eth(conf->encap) ? WF_SIZE_FCS : 0));
}

static void test_round_trip(void **state)
{
	struct test_rnd r = test_rnd_seed(20);
	struct wf_wire_conf conf;
	struct wf_packet p;

	(void)state;
	for (unsigned i = 0; i < ENCAPS * WF_OPCODES * 20; i++) {
		uint8_t op = (uint8_t)(i / ENCAPS);

		if (!op_fits(op))
			continue;
		wf_wire_conf_init(&conf, i % ENCAPS);
		conf.vlan = test_rnd_below(&r, 2) != 0;
		conf.vid = 100;
		random_packet(&r, op, &p);
		if (test_rnd_below(&r, 4) == 0)
			p.flags |= WF_PACKET_BAD;
		check_round_trip(&r, &conf, &p);
	}
}

/* Fields of the packet at their places in the headers. */
static void test_fields(void **state)
{
	struct wf_packet p = {
		.src = 1,
		.dst = 2,
		.type = WF_PACKET_RDMA,
		.cls = 3,
		.flags = WF_PACKET_ECT | WF_PACKET_CE | WF_PACKET_ACK_REQ,
		.opcode = WF_OP_RC_WRITE_ONLY_IMM,
		.entropy = 0xc123,
		.pkey = 0x8001,
		.length = 5,
		.vl = 5,
		.qpn = 0x123456,
		.psn = 0xfedcba,
		.imm = 0xdeadbeef,
		.u.reth = { .va = UINT64_C(0x1122334455667788), .rkey = 0x99, .dma_len = 5 },
	};
	struct wf_wire_conf conf;
	struct wf_headers h;

	(void)state;
	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	conf.vlan = true;
	conf.vid = 7;
	assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), 0);
	assert_int_equal(h.ipv4.src, 0x0a000002);
	assert_int_equal(h.ipv4.dst, 0x0a000003);
	assert_int_equal(h.ipv4.dscp, 26);
	assert_int_equal(h.ipv4.ecn, WF_ECN_CE);
	assert_int_equal(h.ipv4.ttl, conf.hop_limit);
	assert_int_equal(h.vlan.pcp, 3);
	assert_int_equal(h.vlan.vid, 7);
	assert_int_equal(h.udp.src, 0xc123);
	assert_int_equal(h.bth.pad, 3);
	assert_true(h.bth.ack_req);
	assert_false(h.bth.fecn);
	assert_int_equal(h.imm, 0xdeadbeef);
	assert_true(h.reth.va == UINT64_C(0x1122334455667788));

	wf_wire_conf_init(&conf, WF_ENCAP_IB);
	assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), 0);
	assert_int_equal(h.lrh.slid, 2);
	assert_int_equal(h.lrh.dlid, 3);
	assert_int_equal(h.lrh.sl, 3);
	assert_int_equal(h.lrh.vl, 5);
	assert_true(h.bth.fecn);
	p.opcode = WF_OP_RC_FETCH_ADD;
	p.vl = 6;
	assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), 0);
	assert_int_equal(h.lrh.vl, 6);
}

/* XRC, byte by byte: the XRCETH is what comes after the BTH (IBTA annex A14). */
static void test_xrc(void **state)
{
	static const uint8_t write[] = {
		0xaa, 0x70, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0xfe, 0xdc, 0xba, /* BTH */
		0x00, 0x00, 0x4b, 0x2d,                                                 /* XRCETH */
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,                         /* RETH */
		0x00, 0x00, 0x00, 0x99, 0x00, 0x00, 0x00, 0x01,                         /* */
		'w',  0x00, 0x00, 0x00,
	};
	static const uint8_t add[] = {
		0xb4, 0x40, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0xfe, 0xdc, 0xba, /* BTH */
		0x00, 0x00, 0x00, 0x00,                                                 /* XRCETH */
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, /* AtomicETH */
		0x00, 0x00, 0x00, 0x99, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	};
	struct wf_packet p = {
		.type = WF_PACKET_RDMA,
		.opcode = WF_OP_XRC_WRITE_ONLY,
		.flags = WF_PACKET_ACK_REQ | WF_PACKET_MIGRATED,
		.pkey = WF_PKEY_DEFAULT,
		.length = 1,
		.srqn = 0x4b2d,
		.qpn = 0x123456,
		.psn = 0xfedcba,
		.u.reth = { .va = UINT64_C(0x1122334455667788), .rkey = 0x99, .dma_len = 1 },
	};
	uint8_t buf[WF_PACKET_BYTES_MAX];
	const size_t bth = wf_size_link_header(WF_ENCAP_ROCE2_IPV4, false);
	struct wf_wire_conf conf;
	size_t len;

	(void)state;
	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	assert_int_equal(wf_packet_encode(&p, &conf, NULL, NULL, "w", buf, sizeof(buf), &len), 0);
	assert_int_equal(len, bth + sizeof(write) + WF_SIZE_ICRC);
	assert_memory_equal(buf + bth, write, sizeof(write));
	p.opcode = WF_OP_XRC_FETCH_ADD;
	p.atomic_va = p.u.reth.va;
	p.atomic_rkey = 0x99;
	p.u.atomic.swap_add = 5;
	p.u.atomic.compare = 0;
	assert_int_equal(wf_packet_encode(&p, &conf, NULL, NULL, NULL, buf, sizeof(buf), &len), 0);
	assert_int_equal(len, bth + sizeof(add) + WF_SIZE_ICRC);
	assert_memory_equal(buf + bth, add, sizeof(add));
}

/* is_same sees a change in any field that is on the wire, and none in the others. */
static void test_is_same(void **state)
{
	static const struct {
		size_t at;
		uint8_t op;
		bool seen;
	} row[] = {
		{ offsetof(struct wf_packet, at), WF_OP_RC_SEND_ONLY, false },
		{ offsetof(struct wf_packet, src), WF_OP_RC_SEND_ONLY, true },
		{ offsetof(struct wf_packet, dst), WF_OP_RC_SEND_ONLY, true },
		{ offsetof(struct wf_packet, size), WF_OP_RC_SEND_ONLY, false },
		{ offsetof(struct wf_packet, input), WF_OP_RC_SEND_ONLY, false },
		{ offsetof(struct wf_packet, flags), WF_OP_RC_SEND_ONLY, true },
		{ offsetof(struct wf_packet, opcode), WF_OP_RC_SEND_ONLY, true },
		{ offsetof(struct wf_packet, entropy), WF_OP_RC_SEND_ONLY, true },
		{ offsetof(struct wf_packet, pkey), WF_OP_RC_SEND_ONLY, true },
		{ offsetof(struct wf_packet, length), WF_OP_RC_SEND_ONLY, true },
		{ offsetof(struct wf_packet, length), WF_OP_RC_ACK, false },
		{ offsetof(struct wf_packet, atomic_rkey), WF_OP_RC_CMP_SWAP, true },
		{ offsetof(struct wf_packet, srqn), WF_OP_RC_SEND_ONLY, false },
		{ offsetof(struct wf_packet, srqn), WF_OP_XRC_SEND_ONLY, true },
		{ offsetof(struct wf_packet, srqn), WF_OP_XRC_READ_REQ, true },
		{ offsetof(struct wf_packet, srqn), WF_OP_XRC_ACK, false },
		{ offsetof(struct wf_packet, atomic_rkey), WF_OP_XRC_FETCH_ADD, true },
		{ offsetof(struct wf_packet, qpn), WF_OP_RC_SEND_ONLY, true },
		{ offsetof(struct wf_packet, psn), WF_OP_RC_SEND_ONLY, true },
		{ offsetof(struct wf_packet, imm), WF_OP_RC_SEND_ONLY, false },
		{ offsetof(struct wf_packet, imm), WF_OP_RC_SEND_ONLY_IMM, true },
		{ offsetof(struct wf_packet, imm), WF_OP_RC_SEND_ONLY_INV, true },
		{ offsetof(struct wf_packet, payload), WF_OP_RC_SEND_ONLY_IMM, false },
		{ offsetof(struct wf_packet, atomic_va) + 5, WF_OP_RC_CMP_SWAP, true },
		{ offsetof(struct wf_packet, u.reth.va), WF_OP_RC_READ_REQ, true },
		{ offsetof(struct wf_packet, u.reth.rkey), WF_OP_RC_READ_REQ, true },
		{ offsetof(struct wf_packet, u.reth.dma_len), WF_OP_RC_READ_REQ, true },
		{ offsetof(struct wf_packet, u.atomic.swap_add), WF_OP_RC_CMP_SWAP, true },
		{ offsetof(struct wf_packet, u.atomic.compare), WF_OP_RC_FETCH_ADD, true },
		{ offsetof(struct wf_packet, u.aeth.orig), WF_OP_RC_ACK, false },
		{ offsetof(struct wf_packet, u.aeth.orig), WF_OP_RC_ATOMIC_ACK, true },
		{ offsetof(struct wf_packet, u.aeth.msn), WF_OP_RC_READ_RESP_LAST, true },
		{ offsetof(struct wf_packet, u.aeth.msn), WF_OP_RC_READ_RESP_MIDDLE, false },
		{ offsetof(struct wf_packet, u.aeth.syndrome), WF_OP_RC_ACK, true },
		{ offsetof(struct wf_packet, u.deth.qkey), WF_OP_UD_SEND_ONLY, true },
		{ offsetof(struct wf_packet, u.deth.src_qpn), WF_OP_UD_SEND_ONLY, true },
	};
	struct wf_wire_conf conf;

	(void)state;
	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_packet a = { .type = WF_PACKET_RDMA, .opcode = row[i].op };
		struct wf_packet b = a;

		assert_true(wf_packet_is_same(&a, &b, &conf));
		((uint8_t *)&b)[row[i].at] ^= 1;
		assert_int_equal(!wf_packet_is_same(&a, &b, &conf), row[i].seen);
	}
}

static void test_pause(void **state)
{
	struct test_rnd r = test_rnd_seed(21);
	struct wf_packet p = { .type = WF_PACKET_PAUSE, .src = 4 };
	struct wf_wire_conf conf;
	struct wf_headers h;

	(void)state;
	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	p.u.pause.mask = 1u << 3 | 1u << 6;
	p.u.pause.quanta[0] = 0xffff;
	p.u.pause.quanta[1] = 17;
	assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), 0);
	assert_int_equal(h.pfc.enabled, 0x48);
	assert_int_equal(h.pfc.quanta[3], 0xffff);
	assert_int_equal(h.pfc.quanta[6], 17);
	assert_int_equal(h.eth.src[5], 4);
	for (unsigned mask = 0; mask < 0xff; mask++) {
		p.u.pause.mask = (uint16_t)mask;
		test_rnd_fill(&r, p.u.pause.quanta, sizeof(p.u.pause.quanta));
		check_round_trip(&r, &conf, &p);
	}
	p.u.pause.mask = 0xff;
	assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), -EINVAL);
	p.u.pause.mask = 0x100;
	assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), -EINVAL);
	p.u.pause.mask = 1;
	wf_wire_conf_init(&conf, WF_ENCAP_IB);
	assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), -EINVAL);
}

static void test_credit(void **state)
{
	struct test_rnd r = test_rnd_seed(22);
	struct wf_packet p = { .type = WF_PACKET_CREDIT };
	struct wf_wire_conf conf;
	struct wf_headers h;

	(void)state;
	wf_wire_conf_init(&conf, WF_ENCAP_IB);
	for (unsigned i = 0; i < 500; i++) {
		p.u.credit.vl = test_rnd_below(&r, 16);
		p.u.credit.limit = (uint32_t)test_rnd64(&r);
		p.psn = (uint32_t)test_rnd64(&r);
		p.flags = i % 2 == 0 ? WF_PACKET_BAD : 0;
		check_round_trip(&r, &conf, &p);
	}
	p.u.credit.vl = 16;
	assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), -EINVAL);
	p.u.credit.vl = 0;
	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), -EINVAL);
}

/* The simple sender's packets can be captured, and look like RC. */
static void test_simple_sender(void **state)
{
	static const struct {
		uint8_t type, op, syndrome;
		uint16_t length;
	} row[] = {
		{ WF_PACKET_DATA, WF_OP_RC_SEND_ONLY, 0, 1000 },
		{ WF_PACKET_ACK, WF_OP_RC_ACK, 0x1f, 0 },
		{ WF_PACKET_NAK, WF_OP_RC_ACK, 0x60, 0 },
	};
	uint8_t buf[WF_PACKET_BYTES_MAX];
	struct wf_wire_conf conf;
	enum wf_reason reason;
	struct wf_headers h;
	struct wf_packet q;
	size_t len;

	(void)state;
	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_packet p = { .type = row[i].type & 15u,
			               .length = row[i].length,
			               .u.born = 99 };

		p.psn = 0x12345678;
		assert_int_equal(
			wf_packet_encode(&p, &conf, NULL, NULL, NULL, buf, sizeof(buf), &len), 0);
		assert_int_equal(wf_packet_decode(buf, len, &conf, &q, &h, &reason), 0);
		assert_int_equal(q.type, WF_PACKET_RDMA);
		assert_int_equal(q.opcode, row[i].op);
		assert_int_equal(q.psn, 0x345678);
		assert_int_equal(q.length, row[i].length);
		assert_int_equal(q.u.aeth.syndrome, row[i].syndrome);
		assert_true(wf_packet_is_same(&p, &q, &conf));
	}
}

/* A trimmed packet: a DSCP of its own by its class, no payload, and it is no plain empty packet. */
static void test_trimmed(void **state)
{
	static const uint8_t ops[] = { WF_OP_RC_WRITE_FIRST, WF_OP_RC_WRITE_MIDDLE,
		                       WF_OP_RC_SEND_ONLY, WF_OP_RC_READ_RESP_LAST };
	struct test_rnd r = test_rnd_seed(29);
	struct wf_wire_conf conf;
	struct wf_headers h;

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(ops) * 8; i++) {
		struct wf_packet p, q;

		wf_wire_conf_init(&conf, i % 2 != 0 ? WF_ENCAP_ROCE2_IPV6 : WF_ENCAP_ROCE2_IPV4);
		random_packet(&r, ops[i % WF_ARRAY_SIZE(ops)], &p);
		p.cls = (i / WF_ARRAY_SIZE(ops)) & WF_PACKET_CLASS;
		p.length = 0;
		q = p;
		p.type = WF_PACKET_TRIMMED;
		check_round_trip(&r, &conf, &p);
		assert_false(wf_packet_is_same(&p, &q, &conf));
		assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), 0);
		assert_int_equal(i % 2 != 0 ? h.ipv6.dscp : h.ipv4.dscp, 8 * p.cls + 4);
		wf_wire_conf_init(&conf, WF_ENCAP_IB);
		assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), -EINVAL);
	}
}

static void test_refused(void **state)
{
	struct wf_packet p = { .type = WF_PACKET_RDMA, .opcode = WF_OP_RC_SEND_ONLY };
	uint8_t buf[WF_PACKET_BYTES_MAX];
	struct test_rnd r = test_rnd_seed(23);
	struct wf_wire_conf conf;
	enum wf_reason reason;
	struct wf_headers h;
	size_t len;

	(void)state;
	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	assert_int_equal(wf_packet_encode(&p, &conf, NULL, NULL, NULL, buf, 59, &len), -ENOSPC);
	assert_int_equal(wf_packet_encode(&p, &conf, NULL, NULL, NULL, buf, 60, &len), 0);
	assert_int_equal(wf_packet_decode(buf, 41, &conf, &p, &h, &reason), -EBADMSG);
	assert_int_equal(reason, WF_REASON_IP_LENGTH);
	for (unsigned op = 0; op < WF_OPCODES; op++) {
		p = (struct wf_packet){ .type = WF_PACKET_RDMA, .opcode = (uint8_t)op };
		assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h),
		                 op_fits((uint8_t)op) ? 0 : -EINVAL);
	}
	p = (struct wf_packet){ .type = WF_PACKET_RDMA, .opcode = WF_OP_RC_ACK, .psn = 1 << 24 };
	assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), -EINVAL);

	p = (struct wf_packet){ .type = WF_PACKET_RDMA, .opcode = WF_OP_RC_ACK };
	p.u.aeth.msn = 1 << 24;
	assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), -EINVAL);
	p = (struct wf_packet){ .type = WF_PACKET_RDMA, .opcode = WF_OP_UD_SEND_ONLY };
	p.u.deth.src_qpn = 1 << 24;
	assert_int_equal(wf_packet_to_headers(&p, &conf, NULL, NULL, &h), -EINVAL);

	/* Good bytes that a packet has no place for. */
	for (unsigned i = 0; i < 2; i++) {
		test_rnd_headers(&r, WF_ENCAP_ROCE2_IPV4,
		                 i == 0 ? WF_OP_RD_SEND_ONLY : WF_OP_XRC_SEND_ONLY, &h);
		h.xrceth.srqn = 0x10000;
		assert_int_equal(wf_headers_complete(&h, 0), 0);
		assert_int_equal(wf_headers_encode(&h, NULL, buf, sizeof(buf), &len), 0);
		assert_int_equal(wf_packet_decode(buf, len, &conf, &p, &h, &reason), -EBADMSG);
		assert_int_equal(reason, WF_REASON_OPCODE);
	}
	test_rnd_headers(&r, WF_ENCAP_PFC, 0, &h);
	h.pfc.enabled = 0xff;
	assert_int_equal(wf_headers_complete(&h, 0), 0);
	assert_int_equal(wf_headers_encode(&h, NULL, buf, sizeof(buf), &len), 0);
	assert_int_equal(wf_packet_decode(buf, len, &conf, &p, &h, &reason), -EBADMSG);
	assert_int_equal(reason, WF_REASON_PFC);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_fields),
		cmocka_unit_test(test_is_same),       cmocka_unit_test(test_xrc),
		cmocka_unit_test(test_pause),         cmocka_unit_test(test_credit),
		cmocka_unit_test(test_simple_sender), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_trimmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
