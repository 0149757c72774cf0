/* SPDX-License-Identifier: Apache-2.0 */
/* The check of packets' bytes: what is right passes, what is not is told with both packets. */
#include "check.h"

#include <errno.h>
#include <string.h>

#include "sim/look/wire_check.h"
#include "wire/opcode.h"
#include "wire/packet_codec.h"

struct rig {
	struct wf_topo_node nodes[2];
	struct wf_topo topo;
	struct wf_fabric fabric;
	struct wf_fabric_shard shards[2];
	struct wf_device devices[2];
	struct wf_wire_check *check;
	struct wf_packet pkt;
};

static void rig_init(struct rig *r, const char *header)
{
	memset(r, 0, sizeof(*r));
	strcpy(r->nodes[0].name, "h0");
	strcpy(r->nodes[1].name, "h1");
	r->topo.nodes = r->nodes;
	r->topo.n_nodes = 2;
	r->fabric.topo = &r->topo;
	r->fabric.mem = wf_mem_heap();
	strcpy(r->fabric.cfg.header, header);
	for (unsigned i = 0; i < 2; i++) {
		r->shards[i].number = i;
		r->devices[i].shard = &r->shards[i];
		r->devices[i].id = i;
	}
	assert_int_equal(wf_wire_check_create(&r->fabric, 2, &r->check), 0);
	r->pkt = (struct wf_packet){
		.type = WF_PACKET_RDMA,
		.src = 1,
		.dst = 0,
		.cls = 3,
		.opcode = WF_OP_RC_SEND_ONLY,
		.entropy = strcmp(header, "ib") == 0 ? 0 : 0xc001,
		.pkey = 0xffff,
		.length = 100,
		.qpn = 17,
		.psn = 5,
	};
	r->pkt.size = wf_size_packet(strcmp(header, "ib") == 0 ? WF_ENCAP_IB : WF_ENCAP_ROCE2_IPV4,
	                             false, r->pkt.opcode, r->pkt.length);
}

static void test_right_packets_pass(void **state)
{
	static const char *const headers[] = { "rocev2", "ib" };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct wf_err err = { "" };
		struct rig r;

		rig_init(&r, headers[i]);
		for (unsigned n = 0; n < 10; n++)
			wf_wire_check_packet(r.check, &r.devices[n & 1], &r.pkt, n);
		assert_int_equal(wf_wire_check_count(r.check), 10);
		assert_int_equal(wf_wire_check_result(r.check, &err), 0);
		assert_string_equal(err.text, "");
		wf_wire_check_destroy(r.check);
	}
}

/* Each way to be wrong, and what the message says. */
static void test_wrong_packets_are_told(void **state)
{
	static const struct {
		uint8_t opcode;
		uint16_t size;
		uint32_t qpn;
		const char *says;
	} cases[] = {
		{ 0xff, 0, 17, "no form in bytes" },
		{ WF_OP_RC_SEND_ONLY, 0, 1 << 24, "no form in bytes" },
		{ WF_OP_RC_SEND_ONLY, 1, 17, "came back as" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		struct wf_err err = { "" };
		struct rig r;

		rig_init(&r, "rocev2");
		r.pkt.opcode = cases[i].opcode;
		r.pkt.qpn = cases[i].qpn;
		r.pkt.size = (uint16_t)(r.pkt.size + cases[i].size);
		wf_wire_check_packet(r.check, &r.devices[1], &r.pkt, 700);
		assert_int_equal(wf_wire_check_result(r.check, &err), -EBADMSG);
		assert_non_null(strstr(err.text, "h1 at 700 ps"));
		assert_non_null(strstr(err.text, cases[i].says));
		wf_wire_check_destroy(r.check);
	}
}

/* The first by time and node is told, whichever shard found it. */
static void test_first_difference_counts(void **state)
{
	struct wf_err err = { "" };
	struct rig r;

	(void)state;
	rig_init(&r, "ib");
	r.pkt.opcode = 0xff;
	wf_wire_check_packet(r.check, &r.devices[1], &r.pkt, 700);
	wf_wire_check_packet(r.check, &r.devices[1], &r.pkt, 800);
	wf_wire_check_packet(r.check, &r.devices[0], &r.pkt, 700);
	assert_int_equal(wf_wire_check_count(r.check), 2);
	assert_int_equal(wf_wire_check_result(r.check, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "h0 at 700 ps"));
	wf_wire_check_destroy(r.check);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right_packets_pass),
		cmocka_unit_test(test_wrong_packets_are_told),
		cmocka_unit_test(test_first_difference_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
