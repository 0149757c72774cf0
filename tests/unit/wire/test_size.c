/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_size.c - packet sizes by hand, and against the bytes that encoding writes.
 */
#include "wire_test.h"

static void test_by_hand(void **state)
{
	static const struct {
		enum wf_encap encap;
		bool vlan;
		uint8_t op;
		uint16_t length, want;
	} row[] = {
		/* Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4 */
		{ WF_ENCAP_ROCE2_IPV4, false, WF_OP_RC_WRITE_MIDDLE, 4096, 62 + 4096 },
		{ WF_ENCAP_ROCE2_IPV4, true, WF_OP_RC_WRITE_MIDDLE, 4096, 66 + 4096 },
		{ WF_ENCAP_ROCE2_IPV4, false, WF_OP_RC_WRITE_FIRST, 4096, 78 + 4096 },
		{ WF_ENCAP_ROCE2_IPV4, false, WF_OP_RC_ACK, 0, 66 },
		{ WF_ENCAP_ROCE2_IPV4, false, WF_OP_RC_SEND_ONLY, 0, 64 },
		{ WF_ENCAP_ROCE2_IPV4, false, WF_OP_RC_SEND_ONLY, 1, 66 },
		{ WF_ENCAP_ROCE2_IPV4, false, WF_OP_CNP, 0, 78 },
		{ WF_ENCAP_ROCE2_IPV6, false, WF_OP_RC_ACK, 0, 86 },
		{ WF_ENCAP_ROCE1, false, WF_OP_RC_ACK, 0, 78 },
		/* LRH 8, BTH 12, ICRC 4, VCRC 2 */
		{ WF_ENCAP_IB, false, WF_OP_RC_SEND_ONLY, 0, 26 },
		{ WF_ENCAP_IB, true, WF_OP_RC_SEND_ONLY, 0, 26 },
		{ WF_ENCAP_IB, false, WF_OP_RC_ACK, 0, 30 },
		{ WF_ENCAP_IB, false, WF_OP_RC_WRITE_MIDDLE, 4096, 26 + 4096 },
		{ WF_ENCAP_IB_GRH, false, WF_OP_UD_SEND_ONLY, 256, 74 + 256 },
		{ WF_ENCAP_PFC, false, 0, 0, 64 },
		{ WF_ENCAP_FCP, false, 0, 0, 6 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++)
		assert_int_equal(
			wf_size_packet(row[i].encap, row[i].vlan, row[i].op, row[i].length),
			row[i].want);
}

static void test_largest(void **state)
{
	(void)state;
	/* BTH 12, XRCETH 4, RETH 16, immediate data 4: an XRC WRITE with immediate data. */
	assert_int_equal(wf_size_overhead_max(WF_ENCAP_ROCE2_IPV4, false), 14 + 20 + 8 + 36 + 8);
	assert_int_equal(wf_size_overhead_max(WF_ENCAP_ROCE2_IPV6, true), 18 + 40 + 8 + 36 + 8);
	assert_int_equal(wf_size_overhead_max(WF_ENCAP_ROCE1, false), 14 + 40 + 36 + 8);
	assert_int_equal(wf_size_overhead_max(WF_ENCAP_IB, true), 8 + 36 + 6);
	assert_int_equal(wf_size_overhead_max(WF_ENCAP_PFC, false), 64);
	assert_int_equal(wf_size_overhead_max(WF_ENCAP_FCP, false), 6);
	/* Ethernet 14, IPv4 20, UDP 8, ICRC 4, FCS 4; LRH 8, ICRC 4, VCRC 2. */
	assert_int_equal(wf_size_around(WF_ENCAP_ROCE2_IPV4, false), 50);
	assert_int_equal(wf_size_around(WF_ENCAP_ROCE2_IPV4, true), 54);
	assert_int_equal(wf_size_around(WF_ENCAP_IB, false), 14);
	for (unsigned op = 0; op < WF_OPCODES; op++) {
		if (wf_op_has_payload((uint8_t)op) && !wf_op_is_rd((uint8_t)op))
			assert_true(wf_size_overhead(WF_ENCAP_IB, false, (uint8_t)op) <= 50);
	}
}

static void test_pad(void **state)
{
	(void)state;
	for (uint32_t len = 0; len <= WF_MTU_MAX; len++) {
		assert_in_range(wf_size_pad(len), 0, 3);
		assert_int_equal((len + wf_size_pad(len)) % 4, 0);
	}
}

/* What the simulator counts is what a capture shows, and the FCS that captures leave out. */
static void test_against_bytes(void **state)
{
	struct test_rnd r = test_rnd_seed(3);
	uint8_t buf[TEST_PACKET_MAX];
	struct wf_headers h;
	size_t len;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		enum wf_encap encap = test_rnd_below(&r, WF_ENCAPS);
		uint8_t op = (uint8_t)test_rnd64(&r);
		uint16_t length = test_rnd_length(&r, op);

		if (!wf_op_is_known(op))
			continue;
		length = wf_encap_is_control(encap) ? 0 : length;
		test_rnd_headers(&r, encap, op, &h);
		assert_int_equal(wf_headers_complete(&h, length), 0);
		assert_int_equal(wf_headers_encode(&h, NULL, buf, sizeof(buf), &len), 0);
		assert_int_equal(wf_size_packet(encap, h.has_vlan, op, length),
		                 len + (wf_encap_is_eth(encap) ? WF_SIZE_FCS : 0));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_pad),
		cmocka_unit_test(test_against_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
