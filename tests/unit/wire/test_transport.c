/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_transport.c - byte order, and the BTH and extended headers: where each field lies, and that
 * no bit is lost on the way in and out.
 */
#include "wire_test.h"

#include "wire/byte.h"

static void test_byte_order(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	uint8_t buf[8];

	(void)state;
	assert_int_equal(wf_be16_get(bytes), 0x0102);
	assert_int_equal(wf_be24_get(bytes), 0x010203);
	assert_int_equal(wf_be32_get(bytes), 0x01020304);
	assert_true(wf_be64_get(bytes) == UINT64_C(0x0102030405060708));
	assert_int_equal(wf_le16_get(bytes), 0x0201);
	assert_int_equal(wf_le32_get(bytes), 0x04030201);
	assert_true(wf_le64_get(bytes) == UINT64_C(0x0807060504030201));
	wf_be64_put(buf, UINT64_C(0x0102030405060708));
	assert_memory_equal(buf, bytes, 8);
	wf_le64_put(buf, UINT64_C(0x0807060504030201));
	assert_memory_equal(buf, bytes, 8);
	memset(buf, 0xee, sizeof(buf));
	wf_be24_put(buf, 0xff010203);
	assert_memory_equal(buf, bytes, 3);
	assert_int_equal(buf[3], 0xee);
}

static void test_bth_fields(void **state)
{
	static const uint8_t bytes[WF_BTH_LEN] = { 0x0a, 0xe0, 0x24, 0x87, 0xc5, 0x87,
		                                   0xb1, 0xb3, 0x81, 0x0d, 0xec, 0x2a };
	struct wf_bth bth;

	(void)state;
	wf_bth_decode(bytes, &bth);
	assert_int_equal(bth.opcode, WF_OP_RC_WRITE_ONLY);
	assert_true(bth.solicited);
	assert_true(bth.migrated);
	assert_int_equal(bth.pad, 2);
	assert_int_equal(bth.tver, 0);
	assert_int_equal(bth.pkey, 0x2487);
	assert_true(bth.fecn);
	assert_true(bth.becn);
	assert_int_equal(bth.reserved6, 5);
	assert_int_equal(bth.qpn, 0x87b1b3);
	assert_true(bth.ack_req);
	assert_int_equal(bth.reserved7, 1);
	assert_int_equal(bth.psn, 0x0dec2a);
}

/* Each flag is one bit of one byte. */
static void test_bth_flags(void **state)
{
	static const struct {
		struct wf_bth bth;
		uint8_t at, value;
	} row[] = {
		{ { .solicited = true }, 1, 0x80 }, { { .migrated = true }, 1, 0x40 },
		{ { .pad = 3 }, 1, 0x30 },          { { .tver = 15 }, 1, 0x0f },
		{ { .fecn = true }, 4, 0x80 },      { { .becn = true }, 4, 0x40 },
		{ { .reserved6 = 0x3f }, 4, 0x3f }, { { .ack_req = true }, 8, 0x80 },
		{ { .reserved7 = 0x7f }, 8, 0x7f },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		uint8_t want[WF_BTH_LEN] = { 0 }, got[WF_BTH_LEN];

		want[row[i].at] = row[i].value;
		wf_bth_encode(&row[i].bth, got);
		assert_memory_equal(got, want, WF_BTH_LEN);
	}
}

static void test_extended_fields(void **state)
{
	uint8_t bytes[WF_ATOMICETH_LEN];
	struct wf_atomiceth atomiceth;
	struct wf_reth reth;
	struct wf_deth deth;
	struct wf_aeth aeth;
	struct wf_rdeth rdeth;
	struct wf_xrceth xrceth;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	wf_reth_decode(bytes, &reth);
	assert_true(reth.va == UINT64_C(0x0102030405060708));
	assert_int_equal(reth.rkey, 0x090a0b0c);
	assert_int_equal(reth.dma_len, 0x0d0e0f10);
	wf_atomiceth_decode(bytes, &atomiceth);
	assert_true(atomiceth.va == UINT64_C(0x0102030405060708));
	assert_int_equal(atomiceth.rkey, 0x090a0b0c);
	assert_true(atomiceth.swap_add == UINT64_C(0x0d0e0f1011121314));
	assert_true(atomiceth.compare == UINT64_C(0x15161718191a1b1c));
	wf_deth_decode(bytes, &deth);
	assert_int_equal(deth.qkey, 0x01020304);
	assert_int_equal(deth.src_qpn, 0x060708);
	wf_aeth_decode(bytes, &aeth);
	assert_int_equal(aeth.syndrome, 1);
	assert_int_equal(aeth.msn, 0x020304);
	wf_rdeth_decode(bytes, &rdeth);
	assert_int_equal(rdeth.eecn, 0x020304);
	wf_xrceth_decode(bytes, &xrceth);
	assert_int_equal(xrceth.srqn, 0x020304);
	assert_true(wf_atomicacketh_decode(bytes) == UINT64_C(0x0102030405060708));
	assert_int_equal(wf_immdt_decode(bytes), 0x01020304);
	assert_int_equal(wf_ieth_decode(bytes), 0x01020304);
}

/* Any bytes at all come back as they were: reserved fields too. */
static void test_any_bytes_round_trip(void **state)
{
	struct test_rnd r = test_rnd_seed(4);

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		uint8_t in[32], out[32];
		struct wf_headers h;

		test_rnd_fill(&r, in, sizeof(in));
#define ROUND(name, len)                                                                           \
	wf_##name##_decode(in, &h.name);                                                           \
	wf_##name##_encode(&h.name, out);                                                          \
	assert_memory_equal(in, out, len)
		ROUND(bth, WF_BTH_LEN);
		ROUND(rdeth, WF_RDETH_LEN);
		ROUND(xrceth, WF_XRCETH_LEN);
		ROUND(deth, WF_DETH_LEN);
		ROUND(reth, WF_RETH_LEN);
		ROUND(atomiceth, WF_ATOMICETH_LEN);
		ROUND(aeth, WF_AETH_LEN);
#undef ROUND
		wf_atomicacketh_encode(wf_atomicacketh_decode(in), out);
		assert_memory_equal(in, out, WF_ATOMICACKETH_LEN);
		wf_immdt_encode(wf_immdt_decode(in), out);
		assert_memory_equal(in, out, WF_IMMDT_LEN);
		wf_ieth_encode(wf_ieth_decode(in), out);
		assert_memory_equal(in, out, WF_IETH_LEN);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_byte_order),
		cmocka_unit_test(test_bth_fields),
		cmocka_unit_test(test_bth_flags),
		cmocka_unit_test(test_extended_fields),
		cmocka_unit_test(test_any_bytes_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
