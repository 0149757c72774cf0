/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mad.c - management headers: fields at their offsets, and the connection setup of a golden
 * capture read through them.
 */
#include "wire_test.h"

#include "wire/capture.h"
#include "wire/mad.h"

static void test_fields(void **state)
{
	uint8_t bytes[WF_MAD_LEN];
	struct wf_rmpp rmpp;
	struct wf_smp smp;
	struct wf_mad mad;
	struct wf_sa_hdr sa;

	(void)state;
	for (size_t i = 0; i < WF_MAD_LEN; i++)
		bytes[i] = (uint8_t)i;
	wf_mad_decode(bytes, &mad);
	assert_int_equal(mad.mgmt_class, 1);
	assert_int_equal(mad.method, 3);
	assert_int_equal(mad.status, 0x0405);
	assert_int_equal(wf_smp_hop_pointer(&mad), 6);
	assert_int_equal(wf_smp_hop_count(&mad), 7);
	assert_true(mad.tid == UINT64_C(0x08090a0b0c0d0e0f));
	assert_int_equal(mad.attr_id, 0x1011);
	assert_int_equal(mad.attr_mod, 0x14151617);
	wf_smp_decode(bytes, &smp);
	assert_true(smp.mkey == UINT64_C(0x18191a1b1c1d1e1f));
	assert_int_equal(smp.dr_slid, 0x2021);
	assert_int_equal(smp.dr_dlid, 0x2223);
	wf_rmpp_decode(bytes, &rmpp);
	assert_int_equal(rmpp.version, 24);
	assert_int_equal(rmpp.type, 25);
	assert_int_equal(rmpp.resp_time, 26 >> 3);
	assert_int_equal(rmpp.flags, 26 & 7);
	assert_int_equal(rmpp.data1, 0x1c1d1e1f);
	assert_int_equal(rmpp.data2, 0x20212223);
	wf_sa_hdr_decode(bytes, &sa);
	assert_true(sa.sm_key == UINT64_C(0x2425262728292a2b));
	assert_int_equal(sa.attr_offset, 0x2c2d);
	assert_true(sa.comp_mask == UINT64_C(0x3031323334353637));
	assert_true(wf_mad_is_response(WF_MAD_METHOD_GET_RESP));
	assert_false(wf_mad_is_response(WF_MAD_METHOD_SET));
}

/* Each writes its own fields and nothing else. */
static void test_round_trip(void **state)
{
	struct test_rnd r = test_rnd_seed(6);
	uint8_t in[WF_MAD_LEN], out[WF_MAD_LEN];
	struct wf_rmpp rmpp;
	struct wf_smp smp;
	struct wf_mad mad;
	struct wf_sa_hdr sa;

	(void)state;
	for (unsigned i = 0; i < 500; i++) {
		test_rnd_fill(&r, in, sizeof(in));
		memcpy(out, in, sizeof(out));
		memset(out, 0, WF_MAD_HEADER_LEN);
		wf_mad_decode(in, &mad);
		wf_mad_encode(&mad, out);
		assert_memory_equal(in, out, WF_MAD_LEN);
		memset(out + 24, 0, 12);
		wf_smp_decode(in, &smp);
		wf_smp_encode(&smp, out);
		assert_memory_equal(in, out, WF_MAD_LEN);
		memset(out + 24, 0, WF_SA_DATA - 24);
		wf_rmpp_decode(in, &rmpp);
		wf_rmpp_encode(&rmpp, out);
		wf_sa_hdr_decode(in, &sa);
		wf_sa_hdr_encode(&sa, out);
		assert_memory_equal(in, out, WF_MAD_LEN);
	}
}

/* golden-cm.pcap: rping connects, a connection is refused, udaddy resolves a service. */
static void test_connection_setup(void **state)
{
	unsigned seen[WF_CM_APR + 1] = { 0 };
	struct wf_capture_packet packet;
	struct wf_capture capture;
	enum wf_reason reason;
	struct wf_headers h;
	struct wf_mad mad;
	uint8_t *bytes;
	size_t len;

	(void)state;
	bytes = test_read_file(WEFT_SOURCE_DIR "/tests/data/rxe/golden-cm.pcap", &len);
	assert_int_equal(wf_capture_init(&capture, bytes, len), 0);
	while (wf_capture_next(&capture, &packet) == 0) {
		assert_int_equal(wf_headers_decode(packet.bytes, packet.captured, WF_LINK_ETHERNET,
		                                   &h, &reason),
		                 0);
		if (!wf_op_is_ud(h.bth.opcode) || h.bth.qpn != WF_QPN_GSI)
			continue;
		assert_int_equal(h.payload_len, WF_MAD_LEN);
		assert_int_equal(h.deth.qkey, WF_QKEY_GMP);
		wf_mad_decode(packet.bytes + h.payload_at, &mad);
		assert_int_equal(mad.base_version, WF_MAD_BASE_VERSION);
		assert_int_equal(mad.mgmt_class, WF_MAD_CLASS_CM);
		assert_int_equal(mad.method, WF_MAD_METHOD_SEND);
		assert_in_range(mad.attr_id, WF_CM_REQ, WF_CM_APR);
		seen[mad.attr_id]++;
	}
	assert_int_equal(seen[WF_CM_REQ], 2);
	assert_int_equal(seen[WF_CM_REP], 1);
	assert_int_equal(seen[WF_CM_RTU], 1);
	assert_int_equal(seen[WF_CM_REJ], 1);
	assert_int_equal(seen[WF_CM_DREQ], 1);
	assert_int_equal(seen[WF_CM_DREP], 1);
	assert_int_equal(seen[WF_CM_SIDR_REQ], 1);
	assert_int_equal(seen[WF_CM_SIDR_REP], 1);
	free(bytes);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_connection_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
