/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cm.c - messages of communication management: those of a golden capture read as Linux meant
 * them, and written back the same.
 */
#include "wire_test.h"

#include "wire/capture.h"
#include "wire/cm.h"

static void check_req(const uint8_t *in, uint8_t *out)
{
	struct wf_cm_req req;
	struct wf_cm_ip ip;
	unsigned length, at = wf_cm_private(WF_CM_REQ, &length);

	wf_cm_req_decode(in, &req);
	wf_cm_req_encode(&req, out);
	assert_int_equal(req.service >> 16, WF_CM_PS_TCP);
	assert_int_equal(req.transport, WF_CM_RC);
	assert_int_equal(req.remote_timeout, 20);
	assert_int_equal(req.max_retries, 15);
	assert_int_equal(req.pkey, 0xffff);
	wf_cm_ip_decode(in + at, &ip);
	assert_int_equal(ip.ip, 4);
	wf_cm_ip_encode(&ip, out + at);
}

static void check_rest(uint16_t attr_id, const uint8_t *in, uint8_t *out)
{
	struct wf_cm_sidr_req sreq;
	struct wf_cm_sidr_rep srep;
	struct wf_cm_pair pair;
	struct wf_cm_rep rep;
	struct wf_cm_rej rej;

	switch (attr_id) {
	case WF_CM_REP:
		wf_cm_rep_decode(in, &rep);
		wf_cm_rep_encode(&rep, out);
		break;
	case WF_CM_REJ:
		wf_cm_rej_decode(in, &rej);
		assert_int_equal(rej.reason, WF_CM_REJ_INVALID_SERVICE_ID);
		wf_cm_rej_encode(&rej, out);
		break;
	case WF_CM_RTU:
	case WF_CM_DREQ:
	case WF_CM_DREP:
		wf_cm_pair_decode(in, &pair);
		wf_cm_pair_encode(&pair, out);
		break;
	case WF_CM_SIDR_REQ:
		wf_cm_sidr_req_decode(in, &sreq);
		assert_int_equal(sreq.service >> 16, WF_CM_PS_UDP);
		wf_cm_sidr_req_encode(&sreq, out);
		break;
	case WF_CM_SIDR_REP:
		wf_cm_sidr_rep_decode(in, &srep);
		assert_int_equal(srep.qkey, 0x01234567);
		wf_cm_sidr_rep_encode(&srep, out);
		break;
	default:
		fail_msg("attribute %x", attr_id);
	}
}

static void test_golden(void **state)
{
	struct wf_capture_packet packet;
	struct wf_capture capture;
	enum wf_reason reason;
	struct wf_headers h;
	struct wf_mad mad;
	unsigned n = 0;
	uint8_t *bytes;
	size_t len;

	(void)state;
	bytes = test_read_file(WEFT_SOURCE_DIR "/tests/data/rxe/golden-cm.pcap", &len);
	assert_int_equal(wf_capture_init(&capture, bytes, len), 0);
	while (wf_capture_next(&capture, &packet) == 0) {
		unsigned at, length;
		uint8_t out[WF_MAD_LEN];
		const uint8_t *in;

		assert_int_equal(wf_headers_decode(packet.bytes, packet.captured, WF_LINK_ETHERNET,
		                                   &h, &reason),
		                 0);
		if (!wf_op_is_ud(h.bth.opcode) || h.bth.qpn != WF_QPN_GSI)
			continue;
		in = packet.bytes + h.payload_at;
		wf_mad_decode(in, &mad);
		memset(out, 0, sizeof(out));
		wf_cm_header(out, mad.attr_id, mad.tid);
		at = wf_cm_private(mad.attr_id, &length);
		memcpy(out + at, in + at, length);
		if (mad.attr_id == WF_CM_REQ)
			check_req(in, out);
		else
			check_rest(mad.attr_id, in, out);
		assert_memory_equal(in, out, WF_MAD_LEN);
		n++;
	}
	assert_int_equal(n, 9);
	free(bytes);
}

/* Every bit of a message's fields comes back. */
static void test_round_trip(void **state)
{
	struct test_rnd r = test_rnd_seed(7);
	uint8_t in[WF_MAD_LEN], out[WF_MAD_LEN], again[WF_MAD_LEN];
	struct wf_cm_req req;
	struct wf_cm_rep rep;
	struct wf_cm_mra mra;

	(void)state;
	for (unsigned i = 0; i < 500; i++) {
		test_rnd_fill(&r, in, sizeof(in));
		memcpy(out, in, sizeof(out));
		wf_cm_req_decode(in, &req);
		wf_cm_req_encode(&req, out);
		wf_cm_req_decode(out, &req);
		memcpy(again, in, sizeof(again));
		wf_cm_req_encode(&req, again);
		assert_memory_equal(out, again, WF_MAD_LEN);
		wf_cm_rep_decode(in, &rep);
		assert_true(rep.failover <= 3 && rep.rnr_retry <= 7 && rep.ack_delay <= 31);
		wf_cm_mra_decode(in, &mra);
		assert_true(mra.about <= 3 && mra.timeout <= 31);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
