/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rdma_model_rxe.c - the Linux rxe driver as the model: weft's responder gets the requests of
 * golden captures and must answer each as rxe did, packet for packet.
 *
 * Two adapters play the two guests. A request in the capture goes to the adapter of its
 * destination, with that adapter's own numbers and keys; what the adapter sends is compared with
 * the responses that the capture has in that direction: opcode, PSN, syndrome, MSN, length,
 * payload.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rdma/rig_qp.h"
#include "wire/capture.h"
#include "wire/packet_codec.h"

#define REGION (UINT64_C(16) << 20)
#define WAITING 256

struct guest {
	struct wf_qp *qp;
	struct wf_mr *mr, *recv_mr;
	uint8_t *mem;
	uint64_t iova; /* what the capture's addresses count from; 0: not known yet */
	bool up;
	struct wf_packet out[WAITING]; /* sent and not yet seen in the capture */
	uint32_t head, tail;
};

struct replay {
	struct rig rig;
	struct guest guest[2];
	uint32_t compared;
};

static uint8_t *read_file(const char *name, size_t *len_p)
{
	const char *root = getenv("WEFT_SOURCE_DIR");
	char path[512];
	uint8_t *bytes;
	FILE *f;
	long len;

	snprintf(path, sizeof(path), "%s/tests/data/rxe/%s", root != NULL ? root : WEFT_SOURCE_DIR,
	         name);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	len = ftell(f);
	rewind(f);
	bytes = malloc((size_t)len);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)len, f), len);
	fclose(f);
	*len_p = (size_t)len;
	return bytes;
}

/* The region of guest g begins where the page of the first address seen begins. */
static void know_region(struct replay *r, uint32_t g, uint64_t va)
{
	struct guest *guest = &r->guest[g];
	struct wf_mr_attr attr = { .host = guest->mem,
		                   .iova = va & ~UINT64_C(0xfff),
		                   .length = REGION,
		                   .access = WF_ACCESS_LOCAL_WRITE | WF_ACCESS_REMOTE };

	if (guest->iova != 0)
		return;
	guest->iova = attr.iova;
	assert_int_equal(wf_mr_reg(r->rig.host[g].pd, &attr, &guest->mr), 0);
}

/* The first request says with which PSN the connection began, in that direction. */
static void bring_up(struct replay *r, uint32_t g, uint32_t psn)
{
	struct guest *guest = &r->guest[g];
	struct wf_qp_attr attr;

	rig_attr_defaults(&attr);
	attr.max_dest_rd_atomic = 8;
	attr.min_rnr_timer = 12;
	rig_bring_up(guest->qp, &attr, 1 - g, wf_qp_num(r->guest[1 - g].qp), 0, psn);
	guest->up = true;
}

static void post_big_recv(struct replay *r, uint32_t g)
{
	struct guest *guest = &r->guest[g];
	struct wf_sge sge;

	if (guest->recv_mr == NULL)
		guest->recv_mr =
			rig_reg(&r->rig.host[g], guest->mem, REGION, WF_ACCESS_LOCAL_WRITE);
	sge = rig_sge(guest->mem + REGION / 2, 65536, guest->recv_mr);
	assert_int_equal(rig_recv(guest->qp, 1, &sge), 0);
}

static void feed(struct replay *r, uint32_t g, struct wf_packet *pkt, const uint8_t *payload)
{
	struct wf_hca_rx_extra extra = { .payload = payload };
	struct guest *guest = &r->guest[g];
	uint8_t buf[4096];

	if (wf_op_has_reth(pkt->opcode) && pkt->u.reth.dma_len != 0)
		know_region(r, g, pkt->u.reth.va);
	if (wf_op_is_atomic(pkt->opcode))
		know_region(r, g, pkt->atomic_va);
	if (!guest->up)
		bring_up(r, g, pkt->psn);
	if (wf_op_takes_recv(pkt->opcode))
		post_big_recv(r, g);
	if (wf_op_has_reth(pkt->opcode) && guest->mr != NULL)
		pkt->u.reth.rkey = wf_mr_rkey(guest->mr);
	if (wf_op_is_atomic(pkt->opcode))
		pkt->atomic_rkey = wf_mr_rkey(guest->mr);
	pkt->qpn = wf_qp_num(guest->qp);
	pkt->src = 1 - g;
	pkt->dst = g;
	wf_hca_rx(r->rig.host[g].hca, pkt, &extra, ++r->rig.now);
	while (wf_hca_tx(r->rig.host[g].hca, r->rig.now, &guest->out[guest->tail % WAITING], buf))
		assert_true(++guest->tail - guest->head < WAITING);
}

static void compare(struct replay *r, uint32_t g, const struct wf_packet *want)
{
	struct guest *guest = &r->guest[g];
	const struct wf_packet *got = &guest->out[guest->head++ % WAITING];

	assert_true(guest->head <= guest->tail);
	assert_string_equal(wf_op_name(got->opcode), wf_op_name(want->opcode));
	assert_int_equal(got->psn, want->psn);
	assert_int_equal(got->pkey, want->pkey);
	assert_int_equal(got->flags & WF_PACKET_ACK_REQ, want->flags & WF_PACKET_ACK_REQ);
	if (wf_op_has_aeth(want->opcode)) {
		assert_int_equal(got->u.aeth.syndrome, want->u.aeth.syndrome);
		assert_int_equal(got->u.aeth.msn, want->u.aeth.msn);
	}
	if (wf_op_is_read_resp(want->opcode))
		assert_int_equal(got->length, want->length);
	r->compared++;
}

static void replay_file(const char *name, uint32_t least)
{
	struct replay *r = calloc(1, sizeof(*r));
	struct wf_capture_packet packet;
	struct wf_capture capture;
	struct wf_wire_conf conf;
	size_t len;
	uint8_t *bytes = read_file(name, &len);

	assert_non_null(r);
	rig_init(&r->rig, 2, NULL, 1);
	for (uint32_t g = 0; g < 2; g++) {
		r->guest[g].mem = calloc(1, REGION);
		assert_non_null(r->guest[g].mem);
		r->guest[g].qp = rig_make_qp(&r->rig, g, WF_QPT_RC, NULL);
	}
	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	assert_int_equal(wf_capture_init(&capture, bytes, len), 0);
	while (wf_capture_next(&capture, &packet) == 0) {
		uint32_t from = packet.bytes[29] == 2 ? 0 : 1; /* the IPv4 source's last byte */
		enum wf_reason reason;
		struct wf_headers h;
		struct wf_packet pkt;

		assert_int_equal(
			wf_packet_decode(packet.bytes, packet.captured, &conf, &pkt, &h, &reason),
			0);
		if (wf_op_is_response(pkt.opcode))
			compare(r, from, &pkt);
		else
			feed(r, 1 - from, &pkt, packet.bytes + h.payload_at);
	}
	for (uint32_t g = 0; g < 2; g++) {
		assert_int_equal(r->guest[g].head, r->guest[g].tail);
		free(r->guest[g].mem);
	}
	assert_true(r->compared >= least);
	rig_fini(&r->rig);
	free(r);
	free(bytes);
}

static void test_answers_like_rxe(void **state)
{
	static const struct {
		const char *name;
		uint32_t least;
	} files[] = {
		{ "golden-rc-send.pcap", 17 },   { "golden-rc-write.pcap", 11 },
		{ "golden-rc-read.pcap", 17 },   { "golden-rc-atomic.pcap", 7 },
		{ "golden-rc-window.pcap", 66 }, { "golden-rc-dscp.pcap", 4 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(files); i++) {
		print_message("  %s\n", files[i].name);
		replay_file(files[i].name, files[i].least);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_like_rxe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
