/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_link.c - Ethernet, VLAN, IP, UDP, PFC, LRH and flow control packets: where each field lies,
 * and that no bit is lost. Also the hosts' addresses.
 */
#include "wire_test.h"

#include "wire/addr.h"
#include "wire/byte.h"

static void test_ethernet_fields(void **state)
{
	static const uint8_t bytes[] = { 1,  2,  3,  4,    5,    6,    7,    8,    9,
		                         10, 11, 12, 0x81, 0x00, 0x7a, 0xbc, 0x86, 0xdd };
	struct wf_vlan vlan;
	struct wf_eth eth;

	(void)state;
	wf_eth_decode(bytes, &eth);
	assert_memory_equal(eth.dst, bytes, 6);
	assert_memory_equal(eth.src, bytes + 6, 6);
	assert_int_equal(eth.type, WF_ETHERTYPE_VLAN);
	wf_vlan_decode(bytes + WF_ETH_LEN, &vlan);
	assert_int_equal(vlan.pcp, 3);
	assert_true(vlan.dei);
	assert_int_equal(vlan.vid, 0xabc);
	assert_int_equal(vlan.type, WF_ETHERTYPE_IPV6);
}

/* The example that every description of the IPv4 checksum uses. */
static void test_ipv4(void **state)
{
	static const uint8_t bytes[WF_IPV4_LEN] = { 0x45, 0x6a, 0x00, 0x73, 0x12, 0x34, 0x40,
		                                    0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
		                                    0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7 };
	static const uint8_t known[WF_IPV4_LEN] = { 0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40,
		                                    0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
		                                    0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7 };
	struct wf_ipv4 ip;

	(void)state;
	wf_ipv4_decode(bytes, &ip);
	assert_int_equal(ip.version, 4);
	assert_int_equal(ip.ihl, 5);
	assert_int_equal(ip.dscp, 26);
	assert_int_equal(ip.ecn, WF_ECN_ECT0);
	assert_int_equal(ip.length, 0x73);
	assert_int_equal(ip.id, 0x1234);
	assert_int_equal(ip.frag, WF_IPV4_DF);
	assert_int_equal(ip.ttl, 64);
	assert_int_equal(ip.proto, WF_IP_PROTO_UDP);
	assert_int_equal(ip.src, 0xc0a80001);
	assert_int_equal(ip.dst, 0xc0a800c7);
	wf_ipv4_decode(known, &ip);
	assert_int_equal(wf_ipv4_checksum(&ip), 0xb861);
	ip.checksum = 0x1111;
	assert_int_equal(wf_ipv4_checksum(&ip), 0xb861);
}

static void test_ipv6_fields(void **state)
{
	uint8_t bytes[WF_IPV6_LEN] = { 0x66, 0xa1, 0x23, 0x45, 0x01, 0x00, 0x1b, 0xff };
	struct wf_ipv6 ip;

	(void)state;
	bytes[8] = 0xfe;
	bytes[39] = 0x77;
	wf_ipv6_decode(bytes, &ip);
	assert_int_equal(ip.version, 6);
	assert_int_equal(ip.dscp, 26);
	assert_int_equal(ip.ecn, WF_ECN_ECT0);
	assert_int_equal(ip.flow, 0x12345);
	assert_int_equal(ip.length, 256);
	assert_int_equal(ip.next, WF_IP_PROTO_IBA);
	assert_int_equal(ip.hops, 255);
	assert_int_equal(ip.src[0], 0xfe);
	assert_int_equal(ip.dst[15], 0x77);
}

static void test_pfc_fields(void **state)
{
	struct wf_pfc pfc = { .opcode = WF_PFC_OPCODE, .enabled = 0x08, .quanta[3] = 0xffff };
	uint8_t bytes[WF_PFC_LEN], want[WF_PFC_LEN] = { 0x01, 0x01, 0x00, 0x08 };

	(void)state;
	want[10] = want[11] = 0xff;
	wf_pfc_encode(&pfc, bytes);
	assert_memory_equal(bytes, want, WF_PFC_LEN);
}

static void test_ib_fields(void **state)
{
	static const uint8_t lrh_bytes[WF_LRH_LEN] = { 0x70, 0x12, 0x37, 0x5c,
		                                       0x00, 0x0e, 0x17, 0xd2 };
	static const uint8_t fcp_bytes[WF_FCP_LEN] = { 0x1a, 0xbc, 0x7d, 0xef, 0x34, 0x12 };
	struct wf_lrh lrh;
	struct wf_fcp fcp;

	(void)state;
	wf_lrh_decode(lrh_bytes, &lrh);
	assert_int_equal(lrh.vl, 7);
	assert_int_equal(lrh.lver, 0);
	assert_int_equal(lrh.sl, 1);
	assert_int_equal(lrh.lnh, WF_LNH_LOCAL);
	assert_int_equal(lrh.dlid, 0x375c);
	assert_int_equal(lrh.length, 14);
	assert_int_equal(lrh.slid, 0x17d2);
	wf_fcp_decode(fcp_bytes, &fcp);
	assert_int_equal(fcp.op, WF_FCP_OP_INIT);
	assert_int_equal(fcp.fctbs, 0xabc);
	assert_int_equal(fcp.vl, 7);
	assert_int_equal(fcp.fccl, 0xdef);
	assert_int_equal(fcp.lpcrc, 0x1234);
}

/* Any bytes at all come back as they were. */
static void test_any_bytes_round_trip(void **state)
{
	struct test_rnd r = test_rnd_seed(5);

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		uint8_t in[48], out[48];
		struct wf_headers h;

		test_rnd_fill(&r, in, sizeof(in));
		memset(in + 20, 0, 26); /* PFC's pad; the others do not care */
#define ROUND(name, len)                                                                           \
	wf_##name##_decode(in, &h.name);                                                           \
	wf_##name##_encode(&h.name, out);                                                          \
	assert_memory_equal(in, out, len)
		ROUND(eth, WF_ETH_LEN);
		ROUND(vlan, WF_VLAN_LEN);
		ROUND(ipv4, WF_IPV4_LEN);
		ROUND(udp, WF_UDP_LEN);
		ROUND(lrh, WF_LRH_LEN);
		ROUND(fcp, WF_FCP_LEN);
		ROUND(pfc, WF_PFC_LEN);
		test_rnd_fill(&r, in, sizeof(in));
		ROUND(ipv6, WF_IPV6_LEN);
#undef ROUND
	}
}

static void test_host_addresses(void **state)
{
	static const uint32_t hosts[] = { 0, 1, 5, 255, 256, 49150, 65536, 0xfffffd };
	static const uint8_t mac5[] = { 2, 0, 0, 0, 0, 5 };
	static const uint8_t gid5[] = {
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 5
	};
	struct wf_wire_addr addr;

	(void)state;
	wf_wire_addr_init(&addr, 5);
	assert_memory_equal(addr.mac, mac5, 6);
	assert_memory_equal(addr.gid, gid5, 16);
	assert_int_equal(addr.ipv4, 0x0a000006);
	assert_int_equal(addr.lid, 6);
	for (size_t i = 0; i < WF_ARRAY_SIZE(hosts); i++) {
		wf_wire_addr_init(&addr, hosts[i]);
		assert_int_equal(wf_wire_addr_host_ipv4(addr.ipv4), hosts[i]);
		assert_int_equal(wf_wire_addr_host_gid(addr.gid), hosts[i]);
		assert_int_equal(wf_wire_addr_host_lid(addr.lid), hosts[i] % 49151);
	}
	assert_int_equal(wf_wire_addr_host_ipv4(0x0a000000), WF_WIRE_HOST_NONE);
	assert_int_equal(wf_wire_addr_host_ipv4(0x0affffff), WF_WIRE_HOST_NONE);
	assert_int_equal(wf_wire_addr_host_ipv4(0xc0a80001), WF_WIRE_HOST_NONE);
	assert_int_equal(wf_wire_addr_host_lid(0), WF_WIRE_HOST_NONE);
	assert_int_equal(wf_wire_addr_host_lid(WF_LID_MULTICAST), WF_WIRE_HOST_NONE);
	addr.gid[3] = 1;
	assert_int_equal(wf_wire_addr_host_gid(addr.gid), WF_WIRE_HOST_NONE);
}

/* No DSCP is given twice, so a class is known by it. */
static void test_classes(void **state)
{
	struct wf_wire_conf conf;

	(void)state;
	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	for (int cls = 0; cls < WF_WIRE_CLASSES; cls++) {
		assert_in_range(conf.dscp[cls], 0, 63);
		assert_in_range(conf.vl[cls], 0, 7);
		assert_int_equal(wf_wire_conf_class(&conf, conf.dscp[cls]), cls);
	}
	assert_int_equal(conf.dscp[3], 26);
	assert_int_equal(conf.dscp[6], 48);
	assert_int_equal(wf_wire_conf_class(&conf, 63), -1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ethernet_fields), cmocka_unit_test(test_ipv4),
		cmocka_unit_test(test_ipv6_fields),     cmocka_unit_test(test_pfc_fields),
		cmocka_unit_test(test_ib_fields),       cmocka_unit_test(test_any_bytes_round_trip),
		cmocka_unit_test(test_host_addresses),  cmocka_unit_test(test_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
