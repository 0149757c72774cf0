/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_golden.c - what the Linux kernel's soft-RoCE driver put on the wire, packet by packet.
 *
 * Every packet of tests/data/rxe/ decodes, encodes to the same bytes, has the ICRC that we compute
 * (but for three that were sent wrong on purpose), is what golden-packets.txt says of it, and
 * survives the way through the fabric's struct wf_packet.
 */
#include "wire_test.h"

#include "wire/capture.h"
#include "wire/packet_codec.h"
#include "wire/pcapng.h"

#define DATA WEFT_SOURCE_DIR "/tests/data/rxe/"
#define PACKETS 1265

#define LINE 512

struct golden {
	FILE *lines;
	unsigned packets;
	unsigned wrong;
};

static int setup(void **state)
{
	static struct golden golden;

	golden.lines = fopen(DATA "golden-packets.txt", "r");
	*state = &golden;
	return golden.lines != NULL ? 0 : -1;
}

static int teardown(void **state)
{
	struct golden *golden = *state;

	return fclose(golden->lines);
}

/* The next line that describes a packet; the others are titles and sums. */
static void next_line(struct golden *golden, char *line)
{
	do
		assert_non_null(fgets(line, LINE, golden->lines));
	while (strstr(line, " qp=") == NULL);
}

/* The number after "key=" in the line. */
static unsigned long number(const char *line, const char *key, int base)
{
	const char *at = strstr(line, key);
	unsigned long v;
	char *end;

	assert_non_null(at);
	at += strlen(key);
	v = strtoul(at, &end, base);
	assert_true(end > at);
	return v;
}

static void check_line(const char *line, const struct wf_headers *h)
{
	size_t icrc_at = h->payload_at + h->payload_len + h->bth.pad;
	char name[64];

	snprintf(name, sizeof(name), " %s ", wf_op_name(h->bth.opcode));
	assert_non_null(strstr(line, name));
	assert_int_equal(h->bth.qpn, number(line, " qp=", 0));
	assert_int_equal(h->bth.psn, number(line, " psn=", 0));
	assert_int_equal(h->bth.ack_req, number(line, " ackreq=", 0));
	assert_int_equal(h->bth.solicited, number(line, " se=", 0));
	assert_int_equal(h->bth.pad, number(line, " pad=", 0));
	assert_int_equal(h->bth.migrated, number(line, " mig=", 0));
	assert_int_equal(h->bth.pkey, number(line, " pkey=", 0));
	assert_int_equal(h->udp.src, number(line, " sport=", 0));
	assert_int_equal(h->udp.checksum, number(line, " csum=", 0));
	assert_int_equal(h->icrc, number(line, " icrc=", 16));
	assert_int_equal(icrc_at - h->bth_at - WF_BTH_LEN, number(line, " len=", 0));
	if (h->encap == WF_ENCAP_ROCE2_IPV4) {
		assert_int_equal(h->ipv4.id, number(line, " id=", 0));
		assert_int_equal(h->ipv4.frag, number(line, " fl=", 0));
		assert_int_equal(h->ipv4.dscp << 2 | h->ipv4.ecn, number(line, " tos=", 0));
		assert_int_equal(h->ipv4.ttl, number(line, " ttl=", 0));
	}
}

/* Through struct wf_packet and back; what it has no place for is put in again by hand. */
static void check_packet(const struct wf_headers *h, const uint8_t *bytes, size_t len, bool bad)
{
	struct wf_wire_addr src = { .ipv4 = h->ipv4.src }, dst = { .ipv4 = h->ipv4.dst };
	uint8_t again[TEST_PACKET_MAX];
	struct wf_wire_conf conf;
	enum wf_reason reason;
	struct wf_headers g, unused;
	struct wf_packet p;
	size_t n;

	wf_wire_conf_init(&conf, h->encap);
	assert_int_equal(wf_packet_decode(bytes, len, &conf, &p, &unused, &reason), 0);
	assert_int_equal((p.flags & WF_PACKET_BAD) != 0, bad);
	memcpy(src.mac, h->eth.src, WF_MAC_LEN);
	memcpy(dst.mac, h->eth.dst, WF_MAC_LEN);
	memcpy(src.gid, h->ipv6.src, WF_GID_LEN);
	memcpy(dst.gid, h->ipv6.dst, WF_GID_LEN);
	assert_int_equal(wf_packet_to_headers(&p, &conf, &src, &dst, &g), 0);
	g.ipv4.id = h->ipv4.id;
	g.ipv4.ttl = h->ipv4.ttl; /* no place in an atomic */
	g.ipv4.checksum = h->ipv4.checksum;
	g.ipv6.flow = h->ipv6.flow;
	g.udp.checksum = h->udp.checksum;
	g.trailer_len = h->trailer_len;
	memcpy(g.pad, h->pad, sizeof(g.pad));
	assert_int_equal(wf_headers_encode(&g, bytes + h->payload_at, again, sizeof(again), &n), 0);
	wf_headers_sign(&g, again, n);
	if (bad)
		memcpy(again + n - 4, bytes + n - 4, 4);
	assert_int_equal(n, len);
	assert_memory_equal(again, bytes, len);
}

static void check_bytes(struct golden *golden, const uint8_t *bytes, size_t len)
{
	uint8_t again[TEST_PACKET_MAX];
	enum wf_reason reason;
	struct wf_headers h;
	char line[LINE];
	size_t n;
	bool bad;

	next_line(golden, line);
	assert_int_equal(wf_headers_decode(bytes, len, WF_LINK_ETHERNET, &h, &reason), 0);
	assert_int_equal(reason, WF_REASON_NONE);
	check_line(line, &h);
	assert_int_equal(wf_headers_len(&h), len);
	assert_int_equal(wf_headers_encode(&h, bytes + h.payload_at, again, sizeof(again), &n), 0);
	assert_int_equal(n, len);
	assert_memory_equal(again, bytes, len);

	bad = wf_headers_verify(&h, bytes, len, &reason) != 0;
	assert_int_equal(reason, bad ? WF_REASON_ICRC : WF_REASON_NONE);
	assert_int_equal(bad, strstr(line, " BAD ") != NULL);
	check_packet(&h, bytes, len, bad);
	golden->packets++;
	golden->wrong += bad;
}

/* The files in the order of golden-packets.txt, with the packets that each has. */
static void test_captures(void **state)
{
	static const struct {
		const char *name;
		unsigned packets;
	} file[] = {
		{ "cm", 53 },         { "hostpeer", 19 },  { "ipv6", 27 },       { "mcast", 4 },
		{ "pingpong", 40 },   { "rc-atomic", 14 }, { "rc-dscp", 8 },     { "rc-loss", 484 },
		{ "rc-mtu", 80 },     { "rc-nak", 42 },    { "rc-psnwrap", 29 }, { "rc-read", 34 },
		{ "rc-send-inv", 6 }, { "rc-send", 42 },   { "rc-window", 325 }, { "rc-write", 31 },
		{ "uc", 20 },         { "ud", 7 },
	};
	struct golden *golden = *state;

	for (size_t i = 0; i < WF_ARRAY_SIZE(file); i++) {
		unsigned before = golden->packets;
		struct wf_capture_packet packet;
		struct wf_capture capture;
		char path[512];
		uint8_t *bytes;
		size_t len;
		int ret;

		snprintf(path, sizeof(path), DATA "golden-%s.pcap", file[i].name);
		bytes = test_read_file(path, &len);
		assert_int_equal(wf_capture_init(&capture, bytes, len), 0);
		while ((ret = wf_capture_next(&capture, &packet)) == 0) {
			assert_int_equal(packet.link_type, WF_LINKTYPE_ETHERNET);
			assert_int_equal(packet.captured, packet.original);
			check_bytes(golden, packet.bytes, packet.captured);
		}
		assert_int_equal(ret, -ENODATA);
		assert_int_equal(golden->packets - before, file[i].packets);
		free(bytes);
	}
	assert_int_equal(golden->packets, PACKETS);
	assert_int_equal(golden->wrong, 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_captures),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
