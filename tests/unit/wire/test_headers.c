/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_headers.c - whole packets: known ones, random ones of every opcode on every link, cut at
 * every byte, with every bit flipped, and wrong in each way that has a name.
 */
#include "wire_test.h"

#include "wire/byte.h"

/* A complete packet with random fields and payload; returns its length. */
static size_t make(struct test_rnd *r, enum wf_encap encap, uint8_t op, uint16_t length,
                   struct wf_headers *h, uint8_t *buf)
{
	uint8_t payload[WF_MTU_MAX];
	size_t len;

	test_rnd_fill(r, payload, length);
	test_rnd_headers(r, encap, op, h);
	assert_int_equal(wf_headers_complete(h, length), 0);
	test_rnd_fill(r, h->pad, h->bth.pad);
	assert_int_equal(wf_headers_encode(h, payload, buf, TEST_PACKET_MAX, &len), 0);
	wf_headers_sign(h, buf, len);
	return len;
}

static enum wf_link_layer link_of(enum wf_encap encap)
{
	return wf_encap_is_eth(encap) ? WF_LINK_ETHERNET : WF_LINK_INFINIBAND;
}

/* Decodes a copy of exactly that size, so that a look beyond its end is found. */
static int decode_copy(const uint8_t *bytes, size_t len, enum wf_link_layer link,
                       struct wf_headers *h, enum wf_reason *reason)
{
	uint8_t *copy = malloc(len > 0 ? len : 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	ret = wf_headers_decode(copy, len, link, h, reason);
	assert_int_equal(ret == 0, *reason == WF_REASON_NONE);
	if (ret == 0 && wf_headers_verify(h, copy, len, reason) != 0)
		ret = -EILSEQ;
	free(copy);
	return ret;
}

/* The sample packet of IBTA vol. 1, 7.8.3, "local packet": its ICRC is printed as 0x9625b75a. */
static void test_sample_packet(void **state)
{
	static const uint8_t bytes[] = {
		0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x20, 0x24, 0x87,
		0x00, 0x87, 0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71, 0x0a, 0x1c,
		0x01, 0x5d, 0x40, 0x02, 0x38, 0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e,
		0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c, 0xfb, 0xa4, 0x72, 0x8b, 0xc0, 0x69,
		0x0e, 0xd4, 0x00, 0x00, 0x96, 0x25, 0xb7, 0x5a, 0x45, 0xfa,
	};
	enum wf_reason reason;
	struct wf_headers h;

	(void)state;
	assert_int_equal(decode_copy(bytes, sizeof(bytes), WF_LINK_INFINIBAND, &h, &reason), 0);
	assert_int_equal(h.encap, WF_ENCAP_IB);
	assert_int_equal(h.bth.opcode, WF_OP_RC_WRITE_ONLY);
	assert_int_equal(h.bth.pad, 2);
	assert_int_equal(h.reth.dma_len, 14);
	assert_int_equal(h.payload_len, 14);
	assert_int_equal(h.payload_at, 36);
}

/* A congestion notification as ConnectX sends it: BTH, 16 zero bytes, ICRC. */
static void test_cnp(void **state)
{
	struct wf_headers h = {
		.encap = WF_ENCAP_ROCE2_IPV4,
		.bth = { .opcode = WF_OP_CNP, .pkey = 0xffff, .becn = true, .qpn = 0xd2 },
	};
	static const uint8_t want[28] = { 0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x00, 0xd2 };
	uint8_t buf[128];
	size_t len;

	(void)state;
	assert_int_equal(wf_headers_complete(&h, 0), 0);
	assert_int_equal(wf_headers_encode(&h, NULL, buf, sizeof(buf), &len), 0);
	assert_int_equal(len, 14 + 20 + 8 + 28 + 4);
	assert_memory_equal(buf + h.bth_at, want, sizeof(want));
}

static void check_round_trip(struct test_rnd *r, enum wf_encap encap, uint8_t op)
{
	uint8_t buf[TEST_PACKET_MAX], again[TEST_PACKET_MAX];
	enum wf_reason reason;
	struct wf_headers h, g;
	size_t len, n;

	len = make(r, encap, op, test_rnd_length(r, op), &h, buf);
	assert_int_equal(decode_copy(buf, len, link_of(encap), &g, &reason), 0);
	assert_int_equal(g.encap, encap);
	assert_int_equal(g.bth.opcode, op);
	assert_int_equal(g.payload_len, h.payload_len);
	assert_int_equal(g.payload_at, h.payload_at);
	assert_int_equal(g.trailer_len, h.trailer_len);
	assert_int_equal(g.icrc, h.icrc);
	assert_int_equal(g.vcrc, h.vcrc & (wf_encap_is_eth(encap) ? 0 : 0xffff));
	assert_int_equal(wf_headers_encode(&g, buf + g.payload_at, again, sizeof(again), &n), 0);
	assert_int_equal(n, len);
	assert_memory_equal(again, buf, len);
}

static void test_round_trip(void **state)
{
	struct test_rnd r = test_rnd_seed(7);

	(void)state;
	for (enum wf_encap encap = 0; encap < WF_ENCAP_PFC; encap++)
		for (unsigned op = 0; op < WF_OPCODES; op++)
			for (unsigned i = 0; i < 20 && wf_op_is_known((uint8_t)op); i++)
				check_round_trip(&r, encap, (uint8_t)op);
}

/* Every payload length from nothing to the largest MTU, so every pad. */
static void test_lengths(void **state)
{
	struct test_rnd r = test_rnd_seed(8);
	uint8_t buf[TEST_PACKET_MAX];
	enum wf_reason reason;
	struct wf_headers h;

	(void)state;
	for (unsigned length = 0; length <= WF_MTU_MAX; length += length < 300 ? 1 : 61) {
		enum wf_encap encap = length % WF_ENCAP_PFC;
		size_t len = make(&r, encap, WF_OP_RC_SEND_LAST, (uint16_t)length, &h, buf);

		assert_int_equal(decode_copy(buf, len, link_of(encap), &h, &reason), 0);
		assert_int_equal(h.payload_len, length);
	}
}

static void test_control_frames(void **state)
{
	struct test_rnd r = test_rnd_seed(9);
	uint8_t buf[128], again[128];
	enum wf_reason reason;
	struct wf_headers h, g;
	size_t len, n;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		enum wf_encap encap = i % 2 == 0 ? WF_ENCAP_PFC : WF_ENCAP_FCP;

		test_rnd_headers(&r, encap, 0, &h);
		assert_int_equal(wf_headers_complete(&h, 0), 0);
		assert_int_equal(wf_headers_encode(&h, NULL, buf, sizeof(buf), &len), 0);
		wf_headers_sign(&h, buf, len);
		assert_int_equal(len, encap == WF_ENCAP_PFC ? 60 : 6);
		assert_int_equal(decode_copy(buf, len, link_of(encap), &g, &reason), 0);
		assert_int_equal(g.encap, encap);
		assert_memory_equal(&g.pfc, encap == WF_ENCAP_PFC ? &h.pfc : &g.pfc, sizeof(g.pfc));
		assert_int_equal(wf_headers_encode(&g, NULL, again, sizeof(again), &n), 0);
		assert_int_equal(n, len);
		assert_memory_equal(again, buf, len);
	}
	assert_int_equal(wf_headers_complete(&h, 1), -EINVAL);
}

/* Cut at every byte: an error, except where only Ethernet's padding is cut. */
static void test_truncation(void **state)
{
	struct test_rnd r = test_rnd_seed(10);
	uint8_t buf[TEST_PACKET_MAX];
	enum wf_reason reason;
	struct wf_headers h, g;

	(void)state;
	for (unsigned i = 0; i < WF_OPCODES * WF_ENCAPS; i++) {
		uint8_t op = (uint8_t)(i / WF_ENCAPS);
		enum wf_encap encap = i % WF_ENCAPS;
		uint16_t length = wf_op_has_payload(op) ? op % 9 : 0;
		size_t len;

		if (!wf_op_is_known(op))
			continue;
		len = make(&r, encap, op, wf_encap_is_control(encap) ? 0 : length, &h, buf);
		for (size_t cut = 0; cut < len; cut++) {
			int ret = decode_copy(buf, cut, link_of(encap), &g, &reason);

			if (cut >= len - h.trailer_len)
				assert_int_equal(ret, 0);
			else
				assert_int_not_equal(ret, 0);
		}
	}
}

/* Whether no checksum in the bytes covers this one: those that a router may change. */
static bool is_unprotected(const struct wf_headers *h, size_t at, unsigned bit)
{
	size_t ip = WF_ETH_LEN + (h->has_vlan ? WF_VLAN_LEN : 0);

	if (!wf_encap_is_eth(h->encap))
		return false;
	if (at < ip || at >= (size_t)h->payload_at + h->payload_len + h->bth.pad + WF_SIZE_ICRC)
		return true;
	if (at == h->bth_at + 4u)
		return true;
	if (h->encap != WF_ENCAP_ROCE1 && (at == h->bth_at - 2u || at == h->bth_at - 1u))
		return true;
	if (h->encap == WF_ENCAP_ROCE2_IPV4)
		return false;
	return (at == ip && bit < 4) || (at > ip && at < ip + 4) || at == ip + 7;
}

static void test_every_bit_flipped(void **state)
{
	static const uint8_t ops[] = { WF_OP_RC_SEND_ONLY, WF_OP_UD_SEND_ONLY_IMM, WF_OP_RC_ACK };
	struct test_rnd r = test_rnd_seed(11);
	uint8_t buf[TEST_PACKET_MAX];
	enum wf_reason reason;
	struct wf_headers h, g;

	(void)state;
	for (unsigned i = 0; i < WF_ENCAP_PFC * WF_ARRAY_SIZE(ops); i++) {
		enum wf_encap encap = i % WF_ENCAP_PFC;
		uint8_t op = ops[i / WF_ENCAP_PFC];
		size_t len = make(&r, encap, op, wf_op_has_payload(op) ? 13 : 0, &h, buf);

		for (size_t bit = 0; bit < len * 8; bit++) {
			int ret;

			buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
			ret = decode_copy(buf, len, link_of(encap), &g, &reason);
			if (!is_unprotected(&h, bit / 8, bit % 8))
				assert_int_not_equal(ret, 0);
			buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
}

/* One byte put into a good packet with a payload of 8 bytes, and what is said of it. */
static void test_reasons(void **state)
{
	static const struct {
		enum wf_encap encap;
		size_t at;
		uint8_t value;
		enum wf_reason want;
	} row[] = {
		{ WF_ENCAP_ROCE2_IPV4, 12, 0x12, WF_REASON_ETHERTYPE },
		{ WF_ENCAP_ROCE2_IPV4, 14, 0x55, WF_REASON_IP_VERSION },
		{ WF_ENCAP_ROCE2_IPV4, 14, 0x46, WF_REASON_IP_OPTIONS },
		{ WF_ENCAP_ROCE2_IPV4, 17, 19, WF_REASON_IP_LENGTH },
		{ WF_ENCAP_ROCE2_IPV4, 16, 0xff, WF_REASON_IP_LENGTH },
		{ WF_ENCAP_ROCE2_IPV4, 17, 27, WF_REASON_SHORT },
		{ WF_ENCAP_ROCE2_IPV4, 20, 0x20, WF_REASON_IP_FRAGMENT },
		{ WF_ENCAP_ROCE2_IPV4, 21, 0x01, WF_REASON_IP_FRAGMENT },
		{ WF_ENCAP_ROCE2_IPV4, 23, 6, WF_REASON_IP_PROTOCOL },
		{ WF_ENCAP_ROCE2_IPV4, 36, 0, WF_REASON_UDP_PORT },
		{ WF_ENCAP_ROCE2_IPV4, 39, 1, WF_REASON_UDP_LENGTH },
		{ WF_ENCAP_ROCE2_IPV4, 42, 0x1f, WF_REASON_OPCODE },
		{ WF_ENCAP_ROCE2_IPV4, 42, WF_OP_RC_ACK, WF_REASON_LENGTH },
		{ WF_ENCAP_ROCE2_IPV4, 42, WF_OP_RC_CMP_SWAP, WF_REASON_SHORT },
		{ WF_ENCAP_ROCE2_IPV4, 43, 0x01, WF_REASON_BTH_VERSION },
		{ WF_ENCAP_ROCE2_IPV6, 14, 0x40, WF_REASON_IP_VERSION },
		{ WF_ENCAP_ROCE2_IPV6, 18, 0xff, WF_REASON_IP_LENGTH },
		{ WF_ENCAP_ROCE2_IPV6, 20, 6, WF_REASON_IP_PROTOCOL },
		{ WF_ENCAP_ROCE1, 20, 17, WF_REASON_IP_PROTOCOL },
		{ WF_ENCAP_ROCE1, 19, 15, WF_REASON_SHORT },
		{ WF_ENCAP_ROCE1, 19, 23, WF_REASON_PAD },
		{ WF_ENCAP_IB, 0, 0x01, WF_REASON_LRH_VERSION },
		{ WF_ENCAP_IB, 1, 0x00, WF_REASON_LRH_NEXT },
		{ WF_ENCAP_IB, 1, 0x01, WF_REASON_LRH_NEXT },
		{ WF_ENCAP_IB, 5, 0x01, WF_REASON_LRH_LENGTH },
		{ WF_ENCAP_IB_GRH, 13, 0x04, WF_REASON_IP_LENGTH },
		{ WF_ENCAP_PFC, 15, 0x02, WF_REASON_PFC },
		{ WF_ENCAP_FCP, 0, 0x20, WF_REASON_FCP },
	};
	struct test_rnd r = test_rnd_seed(12);
	uint8_t buf[TEST_PACKET_MAX];
	enum wf_reason reason;
	struct wf_headers h, g;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		size_t len;

		do
			len = make(&r, row[i].encap, WF_OP_RC_SEND_ONLY,
			           wf_encap_is_control(row[i].encap) ? 0 : 8, &h, buf);
		while (h.has_vlan);
		buf[row[i].at] = row[i].value;
		assert_int_equal(wf_headers_decode(buf, len, link_of(row[i].encap), &g, &reason),
		                 -EBADMSG);
		assert_int_equal(reason, row[i].want);
	}
	for (reason = 0; reason < WF_REASONS; reason++)
		assert_true(strlen(wf_reason_text(reason)) > 0);
}

static void test_checksum_reasons(void **state)
{
	static const struct {
		enum wf_encap encap;
		int at; /* from the end if negative */
		enum wf_reason want;
	} row[] = {
		{ WF_ENCAP_ROCE2_IPV4, -1, WF_REASON_ICRC },
		{ WF_ENCAP_ROCE2_IPV6, -4, WF_REASON_ICRC },
		{ WF_ENCAP_ROCE1, -5, WF_REASON_ICRC },
		{ WF_ENCAP_IB, -1, WF_REASON_VCRC },
		{ WF_ENCAP_IB, -3, WF_REASON_VCRC },
		{ WF_ENCAP_FCP, -1, WF_REASON_LPCRC },
		{ WF_ENCAP_FCP, 1, WF_REASON_LPCRC },
	};
	struct test_rnd r = test_rnd_seed(13);
	uint8_t buf[TEST_PACKET_MAX];
	enum wf_reason reason;
	struct wf_headers h, g;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		uint16_t length = wf_encap_is_control(row[i].encap) ? 0 : 64;
		size_t len = make(&r, row[i].encap, WF_OP_RC_SEND_ONLY, length, &h, buf);

		buf[row[i].at < 0 ? len - (size_t)-row[i].at : (size_t)row[i].at] ^= 4;
		assert_int_equal(decode_copy(buf, len, link_of(row[i].encap), &g, &reason),
		                 -EILSEQ);
		assert_int_equal(reason, row[i].want);
	}
}

/* Padding that is not zero, and a longer trailer, are no reason to refuse a frame. */
static void test_trailer(void **state)
{
	struct test_rnd r = test_rnd_seed(14);
	uint8_t buf[TEST_PACKET_MAX];
	enum wf_reason reason;
	struct wf_headers h, g;
	size_t len;

	(void)state;
	do
		len = make(&r, WF_ENCAP_ROCE2_IPV4, WF_OP_RC_SEND_ONLY, 0, &h, buf);
	while (h.has_vlan);
	assert_int_equal(len, 60);
	assert_int_equal(h.trailer_len, 2);
	memset(buf + 58, 0x55, 22);
	assert_int_equal(decode_copy(buf, 80, WF_LINK_ETHERNET, &g, &reason), 0);
	assert_int_equal(g.trailer_len, 22);
	assert_int_equal(wf_headers_len(&g), 80);
}

static void test_encode_refuses(void **state)
{
	struct test_rnd r = test_rnd_seed(15);
	uint8_t buf[TEST_PACKET_MAX];
	struct wf_headers h;
	size_t len, n = 77;

	(void)state;
	for (enum wf_encap encap = 0; encap < WF_ENCAPS; encap++) {
		len = make(&r, encap, WF_OP_RC_SEND_ONLY, 0, &h, buf);
		for (size_t size = 0; size < len; size++)
			assert_int_equal(wf_headers_encode(&h, NULL, buf, size, &n), -ENOSPC);
		assert_int_equal(n, 77);
	}
	test_rnd_headers(&r, WF_ENCAP_IB, 0x1f, &h);
	assert_int_equal(wf_headers_complete(&h, 0), -EINVAL);
	test_rnd_headers(&r, WF_ENCAP_IB, WF_OP_RC_ACK, &h);
	assert_int_equal(wf_headers_complete(&h, 4), -EINVAL);
	test_rnd_headers(&r, WF_ENCAP_IB, WF_OP_RC_SEND_ONLY, &h);
	assert_int_equal(wf_headers_complete(&h, WF_MTU_MAX + 1), -EINVAL);
}

/* More payload than the largest MTU: all lengths agree, and yet it is no packet. */
static void test_too_long(void **state)
{
	struct test_rnd r = test_rnd_seed(17);
	uint8_t buf[TEST_PACKET_MAX];
	enum wf_reason reason;
	struct wf_headers h, g;
	size_t len;

	(void)state;
	len = make(&r, WF_ENCAP_IB, WF_OP_RC_SEND_ONLY, WF_MTU_MAX, &h, buf);
	h.lrh.length++;
	wf_lrh_encode(&h.lrh, buf);
	assert_int_equal(wf_headers_decode(buf, len + 4, WF_LINK_INFINIBAND, &g, &reason),
	                 -EBADMSG);
	assert_int_equal(reason, WF_REASON_LENGTH);
}

/* Bytes of no meaning at all: never a crash, and nothing is found in them. */
static void test_noise(void **state)
{
	struct test_rnd r = test_rnd_seed(16);
	uint8_t buf[200];
	enum wf_reason reason;
	struct wf_headers h;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		size_t len = test_rnd_below(&r, sizeof(buf));

		test_rnd_fill(&r, buf, len);
		if (len != WF_FCP_LEN)
			assert_int_not_equal(decode_copy(buf, len, i % WF_LINKS, &h, &reason), 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample_packet),
		cmocka_unit_test(test_cnp),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_control_frames),
		cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_every_bit_flipped),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_checksum_reasons),
		cmocka_unit_test(test_trailer),
		cmocka_unit_test(test_encode_refuses),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
