/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of wire/tcp.c: segments of Linux are read and written as they are, byte by byte;
 * sizes; every link layer; what is broken.
 */
#include "check.h"

#include <errno.h>
#include <string.h>

#include "wire/byte.h"
#include "wire/packet_codec.h"
#include "wire/tcp.h"

/*
 * From Linux 6.18, between two network namespaces: a data segment of 1448 bytes, all of them 'x',
 * up to its payload; and two acknowledgements with timestamps and a block of SACK that grows.
 */
static const uint8_t linux_data[] = {
	0xd6, 0x0a, 0x76, 0x85, 0x52, 0x24, 0x8e, 0x34, 0xff, 0x1a, 0xed, 0xfe, 0x08, 0x00,
	0x45, 0x00, 0x05, 0xdc, 0xf9, 0x46, 0x40, 0x00, 0x40, 0x06, 0x27, 0x39, 0x0a, 0x4d,
	0x00, 0x01, 0x0a, 0x4d, 0x00, 0x02, 0xde, 0x1a, 0x13, 0x89, 0x51, 0x2a, 0xfc, 0x92,
	0xe7, 0x4f, 0x82, 0x1b, 0x80, 0x10, 0x00, 0x3f, 0x89, 0x5c, 0x00, 0x00, 0x01, 0x01,
	0x08, 0x0a, 0xc9, 0xc0, 0xab, 0xce, 0xe0, 0x0c, 0x1f, 0xc0,
};

static const uint8_t linux_ack[2][78] = {
	{ 0x8e, 0x34, 0xff, 0x1a, 0xed, 0xfe, 0xd6, 0x0a, 0x76, 0x85, 0x52, 0x24, 0x08,
	  0x00, 0x45, 0x00, 0x00, 0x40, 0xe1, 0x6b, 0x40, 0x00, 0x40, 0x06, 0x44, 0xb0,
	  0x0a, 0x4d, 0x00, 0x02, 0x0a, 0x4d, 0x00, 0x01, 0x13, 0x89, 0xde, 0x1a, 0xe7,
	  0x4f, 0x82, 0x1b, 0x51, 0x2b, 0x07, 0xe2, 0xb0, 0x10, 0x00, 0x4b, 0x3e, 0x53,
	  0x00, 0x00, 0x01, 0x01, 0x08, 0x0a, 0xe0, 0x0c, 0x20, 0xa0, 0xc9, 0xc0, 0xab,
	  0xce, 0x01, 0x01, 0x05, 0x0a, 0x51, 0x2b, 0x0d, 0x8a, 0x51, 0x2b, 0x13, 0x32 },
	{ 0x8e, 0x34, 0xff, 0x1a, 0xed, 0xfe, 0xd6, 0x0a, 0x76, 0x85, 0x52, 0x24, 0x08,
	  0x00, 0x45, 0x00, 0x00, 0x40, 0xe1, 0x6c, 0x40, 0x00, 0x40, 0x06, 0x44, 0xaf,
	  0x0a, 0x4d, 0x00, 0x02, 0x0a, 0x4d, 0x00, 0x01, 0x13, 0x89, 0xde, 0x1a, 0xe7,
	  0x4f, 0x82, 0x1b, 0x51, 0x2b, 0x07, 0xe2, 0xb0, 0x10, 0x00, 0x4b, 0x38, 0xab,
	  0x00, 0x00, 0x01, 0x01, 0x08, 0x0a, 0xe0, 0x0c, 0x20, 0xa0, 0xc9, 0xc0, 0xab,
	  0xce, 0x01, 0x01, 0x05, 0x0a, 0x51, 0x2b, 0x0d, 0x8a, 0x51, 0x2b, 0x18, 0xda },
};

#define TCP_AT 34

/* Reads a frame, and writes it again: everything from TCP's header on is as it was. */
static void check_frame(const uint8_t *frame, size_t len, struct wf_packet *p)
{
	uint8_t bytes[WF_SEGMENT_BYTES_MAX];
	struct wf_wire_conf conf;
	enum wf_reason reason;
	struct wf_headers h;
	size_t n;

	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	assert_true(wf_tcp_is(frame, len, &conf));
	assert_int_equal(wf_packet_decode(frame, len, &conf, p, &h, &reason), 0);
	assert_int_equal(p->type, WF_PACKET_TCP);
	assert_int_equal(p->flags & WF_PACKET_BAD, 0);
	assert_int_equal(p->size, len + WF_SIZE_FCS);
	assert_int_equal(wf_packet_encode(p, &conf, NULL, NULL, frame + len - p->length, bytes,
	                                  sizeof(bytes), &n),
	                 0);
	assert_int_equal(n, len);
	assert_memory_equal(bytes + TCP_AT, frame + TCP_AT, len - TCP_AT);
}

static void test_linux(void **state)
{
	uint8_t frame[sizeof(linux_data) + 1448];
	struct wf_packet p;

	(void)state;
	memcpy(frame, linux_data, sizeof(linux_data));
	memset(frame + sizeof(linux_data), 'x', 1448);
	check_frame(frame, sizeof(frame), &p);
	assert_int_equal(p.entropy, 0xde1a);
	assert_int_equal(p.pkey, 5001);
	assert_int_equal(p.opcode, WF_SEG_TS);
	assert_int_equal(p.psn, 0x512afc92);
	assert_int_equal(p.imm, 0xe74f821b);
	assert_int_equal(p.srqn, 0x3f);
	assert_int_equal(p.length, 1448);
	assert_int_equal(p.payload, 0xc9c0abce);
	assert_int_equal(p.u.tcp.ts_echo, 0xe00c1fc0);
	/* A bit that is wrong is seen. */
	frame[100] ^= 4;
	{
		struct wf_wire_conf conf;
		enum wf_reason reason;

		wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
		assert_int_equal(wf_tcp_decode(frame, sizeof(frame), &conf, &p, &reason), 0);
		assert_true((p.flags & WF_PACKET_BAD) != 0);
	}

	for (unsigned i = 0; i < 2; i++) {
		check_frame(linux_ack[i], sizeof(linux_ack[i]), &p);
		assert_int_equal(p.opcode, WF_SEG_BACK | WF_SEG_TS | 1 << 6);
		assert_int_equal(p.length, 0);
		assert_int_equal(wf_tcp_sack(&p, 0).from, 0x512b0d8a);
		assert_int_equal(wf_tcp_sack(&p, 0).to, i == 0 ? 0x512b1332 : 0x512b18da);
	}
}

static struct wf_packet ack_of(uint32_t imm)
{
	struct wf_packet p = { .src = 3,
		               .dst = 5,
		               .type = WF_PACKET_TCP,
		               .cls = 2,
		               .opcode = WF_SEG_BACK | WF_SEG_TS | WF_SEG_ECE,
		               .entropy = 50000,
		               .pkey = 1024,
		               .psn = 7,
		               .imm = imm,
		               .srqn = 60000,
		               .payload = 11 };

	p.u.tcp_ack.ts_echo = 12;
	return p;
}

/* Two blocks, over the end of the numbers, and one before the acknowledgement. */
static void test_blocks(void **state)
{
	const struct wf_tcp_block far = { 5 + WF_TCP_REACH, 6 + WF_TCP_REACH };
	const struct wf_tcp_block wraps = { 0xfffffff0, 16 }, next = { 100, 200 };
	const struct wf_tcp_block old = { 0xffffff00, 0xffffff80 };
	struct wf_packet p = ack_of(0xffffffe0);

	(void)state;
	assert_true(wf_tcp_add_sack(&p, &wraps));
	assert_false(wf_tcp_add_sack(&p, &far));
	assert_true(wf_tcp_add_sack(&p, &next));
	assert_false(wf_tcp_add_sack(&p, &next));
	assert_int_equal(wf_tcp_blocks(&p), 2);
	assert_int_equal(wf_tcp_sack(&p, 0).from, wraps.from);
	assert_int_equal(wf_tcp_sack(&p, 0).to, wraps.to);
	assert_int_equal(wf_tcp_sack(&p, 1).to, next.to);
	p = ack_of(0xffffffe0);
	p.flags |= WF_PACKET_DSACK;
	assert_true(wf_tcp_add_sack(&p, &old));
	assert_true(wf_tcp_add_sack(&p, &wraps));
	assert_int_equal(wf_tcp_sack(&p, 0).from, old.from);
	assert_int_equal(wf_tcp_sack(&p, 0).to, old.to);
	assert_int_equal(wf_tcp_sack(&p, 1).from, wraps.from);
}

/* By hand: 14 + 20 + 20 + 12 + 4 bytes beside the payload; on InfiniBand 38 + 4 + 20 + 32. */
static void test_sizes(void **state)
{
	struct wf_packet p = ack_of(1);

	(void)state;
	assert_int_equal(wf_tcp_size(&p, WF_ENCAP_ROCE2_IPV4), 70);
	assert_int_equal(wf_tcp_size(&p, WF_ENCAP_ROCE2_IPV6), 90);
	assert_int_equal(wf_tcp_size(&p, WF_ENCAP_ROCE1), 74);
	assert_int_equal(wf_tcp_size(&p, WF_ENCAP_IB), 8 + 12 + 8 + 4 + 20 + 32 + 4 + 2);
	p.opcode = 0;
	assert_int_equal(wf_tcp_size(&p, WF_ENCAP_ROCE2_IPV4), 64); /* the least of Ethernet */
	p.length = 1000;
	assert_int_equal(wf_tcp_size(&p, WF_ENCAP_ROCE2_IPV4), 1058);
	assert_int_equal(wf_tcp_mss(1500, WF_ENCAP_ROCE2_IPV4, true), 1448);
	assert_int_equal(wf_tcp_mss(9000, WF_ENCAP_ROCE2_IPV6, false), 8940);
	/* As large as an RDMA packet of 4096 bytes: 4158 bytes on Ethernet. */
	assert_int_equal(wf_tcp_mtu_as_rdma(4096, WF_ENCAP_ROCE2_IPV4), 4140);
	assert_int_equal(wf_tcp_largest(4140, WF_ENCAP_ROCE2_IPV4), 4096 + 62);
	assert_int_equal(wf_tcp_mtu_as_rdma(4096, WF_ENCAP_IB), 4092);
}

/* Every link layer: what was written is read again. */
static void test_encaps(void **state)
{
	static const enum wf_encap encaps[] = { WF_ENCAP_ROCE2_IPV4, WF_ENCAP_ROCE2_IPV6,
		                                WF_ENCAP_ROCE1, WF_ENCAP_IB };

	(void)state;
	for (unsigned i = 0; i < 4 * 4; i++) {
		const struct wf_tcp_block block = { 10, 20 };
		uint8_t bytes[WF_SEGMENT_BYTES_MAX];
		struct wf_packet p = ack_of(1), q;
		struct wf_wire_conf conf;
		enum wf_reason reason;
		struct wf_headers h;
		size_t len;

		wf_wire_conf_init(&conf, encaps[i % 4]);
		conf.vlan = wf_encap_is_tagged(conf.encap);
		if (i / 4 == 0)
			p.flags = WF_PACKET_BAD;
		else if (i / 4 == 1)
			assert_true(wf_tcp_add_sack(&p, &block));
		else if (i / 4 == 2)
			p.opcode = WF_SEG_PSH | WF_SEG_CWR;
		if (i / 4 >= 2)
			p.length = 4001;
		if (i / 4 == 3 && wf_encap_is_eth(conf.encap))
			p.flags |= WF_PACKET_ECT | WF_PACKET_CE;
		assert_int_equal(
			wf_packet_encode(&p, &conf, NULL, NULL, NULL, bytes, sizeof(bytes), &len),
			0);
		assert_int_equal(wf_packet_decode(bytes, len, &conf, &q, &h, &reason), 0);
		if (!wf_packet_is_same(&p, &q, &conf))
			fail_msg("case %u is not the same", i);
		assert_int_equal(q.size, wf_tcp_size(&p, conf.encap));
		/* Any field that differs is seen. */
		q.srqn++;
		assert_false(wf_packet_is_same(&p, &q, &conf));
		/* Whatever is cut off, it is no packet, or says so. */
		for (size_t cut = 0; cut < len; cut += 1 + cut / 8)
			(void)!wf_packet_decode(bytes, cut, &conf, &q, &h, &reason);
	}
}

static void test_refused(void **state)
{
	uint8_t bytes[WF_SEGMENT_BYTES_MAX], frame[78];
	struct wf_packet p = ack_of(1);
	struct wf_wire_conf conf;
	enum wf_reason reason;
	size_t len;

	(void)state;
	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	assert_int_equal(wf_packet_encode(&p, &conf, NULL, NULL, NULL, bytes, 60, &len), -ENOSPC);
	p.opcode |= WF_SEG_BLOCKS;
	assert_int_equal(wf_packet_encode(&p, &conf, NULL, NULL, NULL, bytes, sizeof(bytes), &len),
	                 -EINVAL);
	p.opcode = 0;
	p.length = 9200;
	assert_int_equal(wf_packet_encode(&p, &conf, NULL, NULL, NULL, bytes, sizeof(bytes), &len),
	                 -EINVAL);
	/*
	 * A header that says to be longer than the packet, an option without an end, a block too
	 * far.
	 */
	memcpy(frame, linux_ack[0], sizeof(frame));
	frame[46] = 0xf0;
	assert_int_equal(wf_tcp_decode(frame, sizeof(frame), &conf, &p, &reason), -EBADMSG);
	assert_int_equal(reason, WF_REASON_SHORT);
	memcpy(frame, linux_ack[0], sizeof(frame));
	frame[57] = 99;
	assert_int_equal(wf_tcp_decode(frame, sizeof(frame), &conf, &p, &reason), -EBADMSG);
	assert_int_equal(reason, WF_REASON_LENGTH);
	memcpy(frame, linux_ack[0], sizeof(frame));
	frame[74] ^= 0x40;
	assert_int_equal(wf_tcp_decode(frame, sizeof(frame), &conf, &p, &reason), -EBADMSG);
	memcpy(frame, linux_ack[0], sizeof(frame));
	frame[17] = 0xff;
	assert_int_equal(wf_tcp_decode(frame, sizeof(frame), &conf, &p, &reason), -EBADMSG);
	assert_int_equal(reason, WF_REASON_IP_LENGTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linux),   cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_sizes),   cmocka_unit_test(test_encaps),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
