/* SPDX-License-Identifier: Apache-2.0 */
/* ctest: tshark */
/*
 * test_tshark.c - captures that weft writes, read by Wireshark's tshark: RoCE v2 over IPv4 and
 * IPv6, RoCE v1, InfiniBand with and without GRH, PFC frames and flow control packets, every
 * opcode, with and without payload. No packet is malformed or draws a remark, IP's checksum is
 * right, and tshark reads every field as it was meant.
 *
 * What tshark cannot do: it knows no ICRC or VCRC (test_golden.c and test_headers.c check them), it
 * takes RD's opcodes for those of a vendor's transport with a longer BTH, so they are left out, and
 * it shows what follows the BTH of XRC, CNP and ATOMIC WRITE as unknown. It is told not to guess at
 * payloads, and that RoCE leaves the UDP checksum 0 over IPv6 too.
 */
#include "wire_test.h"

#include <inttypes.h>
#include <unistd.h>

#include "wire/mad.h"
#include "wire/pcapng.h"

#define COLUMNS 64
#define TSHARK                                                                                     \
	"tshark -n -r %s -o ip.check_checksum:TRUE -o udp.ignore_ipv6_zero_checksum:TRUE "         \
	"--disable-protocol rpcordma --disable-protocol infiniband.eoib "                          \
	"-T fields -E separator=/t -E occurrence=f -e _ws.malformed -e _ws.expert"

/* A field that tshark shows, and what it should say of one packet. */
struct column {
	const char *field;
	int base; /* how tshark prints it; 0: as C does */
	bool there;
	uint64_t value;
};

struct columns {
	struct column column[COLUMNS];
	size_t n;
};

static void want(struct columns *c, const char *field, int base, bool there, uint64_t value)
{
	assert_true(c->n < COLUMNS);
	c->column[c->n++] = (struct column){ field, base, there, value };
}

static void want_link(struct columns *c, const struct wf_headers *h)
{
	bool ib = h->encap == WF_ENCAP_IB || h->encap == WF_ENCAP_IB_GRH;
	bool grh = h->encap == WF_ENCAP_ROCE1 || h->encap == WF_ENCAP_IB_GRH;
	bool v4 = h->encap == WF_ENCAP_ROCE2_IPV4, v6 = h->encap == WF_ENCAP_ROCE2_IPV6;

	want(c, "vlan.id", 0, h->has_vlan, h->vlan.vid);
	want(c, "vlan.priority", 0, h->has_vlan, h->vlan.pcp);
	want(c, "ip.dsfield.dscp", 0, v4, h->ipv4.dscp);
	want(c, "ip.dsfield.ecn", 0, v4, h->ipv4.ecn);
	want(c, "ip.ttl", 0, v4, h->ipv4.ttl);
	want(c, "ip.checksum", 0, v4, h->ipv4.checksum);
	want(c, "ip.checksum.status", 0, v4, 1); /* good */
	want(c, "ipv6.flow", 0, v6, h->ipv6.flow);
	want(c, "ipv6.plen", 0, v6, h->ipv6.length);
	want(c, "udp.srcport", 0, v4 || v6, h->udp.src);
	want(c, "udp.dstport", 0, v4 || v6, 4791);
	want(c, "infiniband.lrh.vl", 0, ib, h->lrh.vl);
	want(c, "infiniband.lrh.sl", 0, ib, h->lrh.sl);
	want(c, "infiniband.lrh.lnh", 0, ib, h->lrh.lnh);
	want(c, "infiniband.lrh.dlid", 0, ib, h->lrh.dlid);
	want(c, "infiniband.lrh.slid", 0, ib, h->lrh.slid);
	want(c, "infiniband.lrh.pktlen", 0, ib, h->lrh.length);
	want(c, "infiniband.grh.ipver", 0, grh, 6);
	want(c, "infiniband.grh.tclass", 0, grh, (uint64_t)h->ipv6.dscp << 2 | h->ipv6.ecn);
	want(c, "infiniband.grh.flowlabel", 0, grh, h->ipv6.flow);
	want(c, "infiniband.grh.paylen", 0, grh, h->ipv6.length);
	want(c, "infiniband.grh.nxthdr", 0, grh, 0x1b);
	want(c, "infiniband.grh.hoplmt", 0, grh, h->ipv6.hops);
}

static void want_control(struct columns *c, const struct wf_headers *h)
{
	bool pfc = h->encap == WF_ENCAP_PFC, fcp = h->encap == WF_ENCAP_FCP;

	want(c, "macc.opcode", 0, pfc, 0x0101);
	want(c, "macc.cbfc.enbv", 0, pfc, h->pfc.enabled);
	want(c, "macc.cbfc.pause_time.c0", 0, pfc, h->pfc.quanta[0]);
	want(c, "macc.cbfc.pause_time.c3", 0, pfc, h->pfc.quanta[3]);
	want(c, "macc.cbfc.pause_time.c7", 0, pfc, h->pfc.quanta[7]);
	want(c, "infiniband_link.op", 0, fcp, h->fcp.op);
	want(c, "infiniband_link.fctbs", 0, fcp, h->fcp.fctbs);
	want(c, "infiniband_link.vl", 0, fcp, h->fcp.vl);
	want(c, "infiniband_link.fccl", 0, fcp, h->fcp.fccl);
	want(c, "infiniband_link.lpcrc", 0, fcp, __builtin_bswap16(h->fcp.lpcrc));
}

static void want_transport(struct columns *c, const struct wf_headers *h)
{
	uint8_t op = h->bth.opcode;
	bool bth = !wf_encap_is_control(h->encap);
	bool known = bth && !wf_op_is_xrc(op) && !wf_op_is_cnp(op) && !wf_op_is_atomic_write(op);
	bool ib = h->encap == WF_ENCAP_IB || h->encap == WF_ENCAP_IB_GRH;
	bool atomic = known && wf_op_is_atomic(op);
	bool reth = known && wf_op_has_reth(op);
	bool aeth = known && wf_op_has_aeth(op);
	bool deth = known && wf_op_has_deth(op);

	want(c, "infiniband.bth.opcode", 0, bth, op);
	want(c, "infiniband.bth.se", 0, bth, h->bth.solicited);
	want(c, "infiniband.bth.m", 0, bth, h->bth.migrated);
	want(c, "infiniband.bth.padcnt", 0, bth, h->bth.pad);
	want(c, "infiniband.bth.tver", 0, bth, 0);
	want(c, "infiniband.bth.p_key", 0, bth, h->bth.pkey);
	want(c, "infiniband.bth.destqp", 0, bth, h->bth.qpn);
	want(c, "infiniband.bth.a", 0, bth, h->bth.ack_req);
	want(c, "infiniband.bth.psn", 0, bth, h->bth.psn);
	want(c, "infiniband.reth.va", 0, reth || atomic, atomic ? h->atomiceth.va : h->reth.va);
	want(c, "infiniband.reth.r_key", 0, reth || atomic,
	     atomic ? h->atomiceth.rkey : h->reth.rkey);
	want(c, "infiniband.reth.dmalen", 0, reth, h->reth.dma_len);
	want(c, "infiniband.atomiceth.swapdt", 0, atomic, h->atomiceth.swap_add);
	want(c, "infiniband.atomiceth.cmpdt", 0, atomic, h->atomiceth.compare);
	want(c, "infiniband.aeth.syndrome", 0, aeth, h->aeth.syndrome);
	want(c, "infiniband.aeth.msn", 0, aeth, h->aeth.msn);
	want(c, "infiniband.atomicacketh.origremdt", 0, known && wf_op_is_atomic_ack(op),
	     h->atomic_orig);
	want(c, "infiniband.deth.q_key", 0, deth, h->deth.qkey);
	want(c, "infiniband.deth.srcqp", 0, deth, h->deth.src_qpn);
	want(c, "infiniband.immdt", 16, known && wf_op_has_imm(op), h->imm);
	want(c, "infiniband.ieth", 16, known && wf_op_has_inv(op), h->inv_rkey);
	want(c, "infiniband.invariant.crc", 0, known, __builtin_bswap32(h->icrc));
	want(c, "infiniband.variant.crc", 0, known && ib, __builtin_bswap16(h->vcrc));
}

static void wants(struct columns *c, const struct wf_headers *h)
{
	c->n = 0;
	want_link(c, h);
	want_control(c, h);
	want_transport(c, h);
}

/* A capture being written, and the packets that went into it. */
struct capture {
	char path[64];
	FILE *file;
	struct wf_headers packets[1024];
	size_t n;
};

static void capture_write(struct capture *c, const uint8_t *block, size_t len)
{
	assert_int_equal(fwrite(block, 1, len, c->file), len);
}

static void capture_begin(struct capture *c, enum wf_link_layer link)
{
	struct wf_pcapng_interface interface = {
		.link_type = link == WF_LINK_ETHERNET ? WF_LINKTYPE_ETHERNET : WF_LINKTYPE_ERF,
		.name = "port0",
	};
	uint8_t block[WF_PCAPNG_BLOCK_MAX];
	size_t len;
	int fd;

	snprintf(c->path, sizeof(c->path), "/tmp/weft-tshark-XXXXXX");
	fd = mkstemp(c->path);
	assert_true(fd >= 0);
	c->file = fdopen(fd, "wb");
	assert_non_null(c->file);
	c->n = 0;
	assert_int_equal(wf_pcapng_put_section(block, sizeof(block), "weft", &len), 0);
	capture_write(c, block, len);
	assert_int_equal(wf_pcapng_put_interface(block, sizeof(block), &interface, &len), 0);
	capture_write(c, block, len);
}

static void capture_add(struct capture *c, struct wf_headers *h, const void *payload)
{
	static uint8_t bytes[TEST_PACKET_MAX], block[2 * TEST_PACKET_MAX];
	struct wf_pcapng_packet packet = {
		.at = (wf_time)c->n * WF_US,
		.dir = c->n % 2 == 0 ? WF_PCAPNG_DIR_IN : WF_PCAPNG_DIR_OUT,
		.bytes = bytes,
	};
	size_t len;

	assert_int_equal(wf_headers_encode(h, payload, bytes, sizeof(bytes), &len), 0);
	wf_headers_sign(h, bytes, len);
	packet.captured = packet.original = (uint32_t)len;
	if (!wf_encap_is_eth(h->encap))
		packet.erf = h->encap == WF_ENCAP_FCP ? WF_ERF_INFINIBAND_LINK : WF_ERF_INFINIBAND;
	assert_int_equal(wf_pcapng_put_packet(block, sizeof(block), &packet, &len), 0);
	capture_write(c, block, len);
	assert_true(c->n < WF_ARRAY_SIZE(c->packets));
	c->packets[c->n++] = *h;
}

/* One line of tshark against one packet. */
static void check_line(char *line, const struct wf_headers *h, size_t number)
{
	struct columns c;
	char *cell;

	for (int i = 0; i < 2; i++) {
		cell = strsep(&line, "\t");
		if (strlen(cell) > 0)
			fail_msg("packet %zu (%s): tshark says %s", number + 1,
			         wf_op_name(h->bth.opcode), cell);
	}
	wants(&c, h);
	for (size_t i = 0; i < c.n; i++) {
		const struct column *col = &c.column[i];

		cell = strsep(&line, "\t\n");
		assert_non_null(cell);
		if ((strlen(cell) > 0) != col->there ||
		    (col->there && strtoull(cell, NULL, col->base) != col->value))
			fail_msg("packet %zu (%s): %s is '%s', not 0x%" PRIx64, number + 1,
			         wf_op_name(h->bth.opcode), col->field, cell,
			         col->there ? col->value : 0);
	}
}

/* Has tshark read the capture, and removes it. */
static void capture_check(struct capture *c)
{
	static char command[8192], line[8192];
	struct columns columns;
	size_t n = 0;
	FILE *pipe;
	int len;

	assert_int_equal(fclose(c->file), 0);
	len = snprintf(command, sizeof(command), TSHARK, c->path);
	wants(&columns, &c->packets[0]);
	for (size_t i = 0; i < columns.n; i++)
		len += snprintf(command + len, sizeof(command) - (size_t)len, " -e %s",
		                columns.column[i].field);
	len += snprintf(command + len, sizeof(command) - (size_t)len, " 2>/dev/null");
	assert_true(len < (int)sizeof(command));
	pipe = popen(command, "r");
	assert_non_null(pipe);
	for (; fgets(line, sizeof(line), pipe) != NULL && n < c->n; n++)
		check_line(line, &c->packets[n], n);
	assert_int_equal(pclose(pipe), 0);
	assert_int_equal(n, c->n);
	unlink(c->path);
}

/* Random fields, but of the kind that a sender puts there. */
static void sane_headers(struct test_rnd *r, enum wf_encap encap, uint8_t op, struct wf_headers *h)
{
	test_rnd_headers(r, encap, op, h);
	h->eth.src[0] &= 0xfc;
	h->eth.dst[0] &= 0xfc;
	h->vlan.vid = (uint16_t)(1 + h->vlan.vid % 4094);
	h->vlan.dei = false;
	h->ipv4.src = 0x0a000000 | (h->ipv4.src & 0xffff);
	h->ipv4.dst = 0x0a000000 | (h->ipv4.dst & 0xffff);
	h->ipv4.frag = WF_IPV4_DF;
	h->ipv4.ttl |= 0x20;
	h->ipv6.hops |= 0x20;
	memset(h->ipv6.src, 0, 8);
	memset(h->ipv6.dst, 0, 8);
	h->ipv6.src[0] = h->ipv6.dst[0] = 0xfd;
	h->udp.src |= 0xc000;
	h->udp.checksum = 0;
	h->bth.reserved6 = h->bth.reserved7 = 0;
	h->bth.qpn |= 0x100; /* no management */
	h->deth.src_qpn |= 0x100;
	h->deth.reserved = 0;
	h->lrh.reserved2 = h->lrh.reserved5 = 0;
	h->pfc.enabled &= 0xff;
	memset(h->cnp, 0, sizeof(h->cnp));
}

static void check_encap(enum wf_encap encap, uint64_t seed)
{
	static const uint16_t lengths[] = { 0, 1, 2, 3, 4, 256, 1021, 4096 };
	static struct capture capture;
	struct test_rnd r = test_rnd_seed(seed);
	uint8_t payload[WF_MTU_MAX];
	struct wf_headers h;

	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(0xa5 + 7 * i);
	capture_begin(&capture, wf_encap_is_eth(encap) ? WF_LINK_ETHERNET : WF_LINK_INFINIBAND);
	for (unsigned op = 0; op < WF_OPCODES; op++) {
		uint8_t o = (uint8_t)op;
		size_t n = wf_op_has_payload(o) ? WF_ARRAY_SIZE(lengths) : 1;

		for (size_t i = 0; i < n && wf_op_is_known(o) && !wf_op_is_rd(o); i++) {
			sane_headers(&r, encap, o, &h);
			assert_int_equal(wf_headers_complete(&h, lengths[i]), 0);
			capture_add(&capture, &h, payload);
		}
	}
	assert_true(capture.n > 300);
	capture_check(&capture);
}

static void test_roce2_ipv4(void **state)
{
	(void)state;
	check_encap(WF_ENCAP_ROCE2_IPV4, 30);
}

static void test_roce2_ipv6(void **state)
{
	(void)state;
	check_encap(WF_ENCAP_ROCE2_IPV6, 31);
}

static void test_roce1(void **state)
{
	(void)state;
	check_encap(WF_ENCAP_ROCE1, 32);
}

static void test_infiniband(void **state)
{
	(void)state;
	check_encap(WF_ENCAP_IB, 33);
}

static void test_infiniband_grh(void **state)
{
	(void)state;
	check_encap(WF_ENCAP_IB_GRH, 34);
}

static void test_control_frames(void **state)
{
	static const enum wf_encap encaps[] = { WF_ENCAP_PFC, WF_ENCAP_FCP };
	static struct capture capture;
	struct test_rnd r = test_rnd_seed(35);
	struct wf_headers h;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(encaps); i++) {
		capture_begin(&capture, (enum wf_link_layer)i);
		for (unsigned n = 0; n < 100; n++) {
			sane_headers(&r, encaps[i], 0, &h);
			assert_int_equal(wf_headers_complete(&h, 0), 0);
			capture_add(&capture, &h, NULL);
		}
		capture_check(&capture);
	}
}

/* A subnet manager asks for NodeInfo by directed route. */
static void test_management(void **state)
{
	static const struct wf_mad mad = {
		.base_version = WF_MAD_BASE_VERSION,
		.mgmt_class = WF_MAD_CLASS_SUBN_DR,
		.class_version = 1,
		.method = WF_MAD_METHOD_GET,
		.tid = 0x1234,
		.attr_id = 0x0011,
	};
	static const struct wf_smp smp = { .dr_slid = 0xffff, .dr_dlid = 0xffff };
	static struct capture capture;
	struct wf_headers h = {
		.encap = WF_ENCAP_IB,
		.lrh = { .vl = WF_VL_MGMT, .slid = WF_LID_PERMISSIVE, .dlid = WF_LID_PERMISSIVE },
		.bth = { .opcode = WF_OP_UD_SEND_ONLY, .pkey = WF_PKEY_DEFAULT },
	};
	uint8_t payload[WF_MAD_LEN] = { 0 };

	(void)state;
	wf_mad_encode(&mad, payload);
	wf_smp_encode(&smp, payload);
	assert_int_equal(wf_headers_complete(&h, sizeof(payload)), 0);
	capture_begin(&capture, WF_LINK_INFINIBAND);
	capture_add(&capture, &h, payload);
	capture_check(&capture);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roce2_ipv4),     cmocka_unit_test(test_roce2_ipv6),
		cmocka_unit_test(test_roce1),          cmocka_unit_test(test_infiniband),
		cmocka_unit_test(test_infiniband_grh), cmocka_unit_test(test_control_frames),
		cmocka_unit_test(test_management),
	};

	if (system("command -v tshark >/dev/null 2>&1") != 0) {
		printf("skipped: there is no tshark\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
