/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_icrc_id.c - the identification of the kernel's own packets is found from their ICRC, and a
 * packet that was changed has none.
 */
#include "wire_test.h"

#include <glob.h>

#include "base/rng.h"
#include "wire/byte.h"
#include "wire/capture.h"
#include "wire/icrc_id.h"
#include "wire/opcode.h"
#include "wire/packet_codec.h"

#define DATA WEFT_SOURCE_DIR "/tests/data/rxe/"

struct sums {
	unsigned packets, wrong, changed, missed;
	unsigned refused, counting; /* packets that came as they were; and of senders that count */
	struct {
		uint32_t src;
		struct wf_icrc_sender sender;
	} host[8]; /* of a file */
};

/* Milliseconds since 1970, from the header of a classic file's record: too long ago for wf_time. */
static uint64_t time_of(const struct wf_capture_packet *packet)
{
	return (uint64_t)wf_le32_get(packet->bytes - 16) * 1000 +
	       wf_le32_get(packet->bytes - 12) / 1000;
}

/* The kernel's packets are taken as they come, and its way with identifications is learnt. */
static void watch(struct sums *sums, const struct wf_headers *h, uint64_t ms)
{
	unsigned i = 0;

	while (sums->host[i].src != 0 && sums->host[i].src != h->ipv4.src)
		assert_true(++i < 8);
	sums->host[i].src = h->ipv4.src;
	sums->refused += !wf_icrc_may_send(&sums->host[i].sender, h->ipv4.id, ms);
	sums->counting += sums->host[i].sender.state == WF_ICRC_ID_COUNTING;
}

static void check(const struct wf_capture_packet *packet, struct sums *sums)
{
	static uint8_t bytes[8192];
	struct wf_headers h;
	enum wf_reason reason;
	bool right;
	uint16_t id;

	assert_true(packet->captured < sizeof(bytes));
	memcpy(bytes, packet->bytes, packet->captured);
	assert_int_equal(wf_headers_decode(bytes, packet->captured, WF_LINK_ETHERNET, &h, &reason),
	                 0);
	if (h.encap != WF_ENCAP_ROCE2_IPV4)
		return;
	right = wf_headers_verify(&h, bytes, packet->captured, &reason) == 0;
	sums->packets++;
	sums->wrong += !right;
	/* As a socket sees it: without the identification. */
	memset(bytes + WF_ETH_LEN + 4, 0, 2);
	if (right) {
		assert_true(wf_icrc_find_id(&h, bytes, &id));
		assert_int_equal(id, h.ipv4.id);
		watch(sums, &h, time_of(packet));
	}
	/* One bit that is wrong anywhere behind the BTH's masked byte. */
	for (size_t at = (size_t)h.bth_at + 5; right && at < packet->captured - 4; at += 97) {
		bytes[at] ^= 0x10;
		sums->changed++;
		sums->missed += wf_icrc_find_id(&h, bytes, &id);
		bytes[at] ^= 0x10;
	}
}

static void test_golden(void **state)
{
	struct sums sums = { 0 };
	glob_t files;

	(void)state;
	assert_int_equal(glob(DATA "*.pcap", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		static uint8_t text[4 << 20];
		struct wf_capture capture;
		struct wf_capture_packet packet;
		FILE *f = fopen(files.gl_pathv[i], "rb");
		size_t len;

		assert_non_null(f);
		len = fread(text, 1, sizeof(text), f);
		fclose(f);
		assert_int_equal(wf_capture_init(&capture, text, len), 0);
		memset(sums.host, 0, sizeof(sums.host));
		while (wf_capture_next(&capture, &packet) == 0)
			check(&packet, &sums);
	}
	globfree(&files);
	assert_true(sums.packets > 1200);
	assert_int_equal(sums.wrong, 3);
	assert_int_equal(sums.refused, 0);
	assert_true(sums.counting > 500);
	/* 16 bits are left of the check. */
	assert_true(sums.changed > 5000);
	assert_true(sums.missed <= 1);
}

/* Lets a sender send packets with these identifications, a millisecond apart. */
static struct wf_icrc_sender after(const uint16_t *id, unsigned n)
{
	struct wf_icrc_sender s = { 0 };

	for (unsigned i = 0; i < n; i++)
		assert_true(wf_icrc_may_send(&s, id[i], 1000 + i));
	return s;
}

static void test_senders(void **state)
{
	static const uint16_t zeros[9],
		count[9] = { 65530, 65532, 65531, 65533, 65535, 2, 3, 5, 6 };
	static const uint16_t wild[9] = { 1, 40000, 200, 50000, 17, 30000, 9, 60000, 100 };
	struct wf_icrc_sender s = after(zeros, 9);

	(void)state;
	assert_int_equal(s.state, WF_ICRC_ID_CONSTANT);
	assert_true(wf_icrc_may_send(&s, 0, 100000000));
	assert_false(wf_icrc_may_send(&s, 1, 100000000));
	assert_true(wf_icrc_may_send(&s, 0, 100000000));
	/* Four in a row that do not fit: it does something else now. */
	for (unsigned i = 0; i < 4; i++)
		assert_false(wf_icrc_may_send(&s, (uint16_t)(100 + i), 100000000));
	assert_true(wf_icrc_may_send(&s, 104, 100000000));

	/* Packets may be lost, and may overtake each other; and time passes. */
	s = after(count, 9);
	assert_int_equal(s.state, WF_ICRC_ID_COUNTING);
	assert_true(wf_icrc_may_send(&s, 250, 1010));
	assert_true(wf_icrc_may_send(&s, 200, 1010));
	assert_true(wf_icrc_may_send(&s, 251, 1010));
	assert_false(wf_icrc_may_send(&s, 180, 1010));
	assert_false(wf_icrc_may_send(&s, 251 + 257, 1010));
	assert_true(wf_icrc_may_send(&s, 251 + 257, 1011));
	assert_true(wf_icrc_may_send(&s, 251 + 257 + 10000, 11011));
	assert_false(wf_icrc_may_send(&s, 5000, 11011));

	s = after(wild, 9);
	assert_int_equal(s.state, WF_ICRC_ID_LEARNING);
	assert_true(wf_icrc_may_send(&s, 33333, 2000));
}

#define PACKETS 400000

/*
 * Damage that leaves nothing of the check but chance: how many of so many packets pass, from a
 * sender of each kind. Of any identification one in 65536 does.
 */
static void test_strength(void **state)
{
	static const uint16_t zeros[9], count[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	struct wf_icrc_sender constant = after(zeros, 9), counting = after(count, 9);
	struct wf_packet pkt = { .opcode = WF_OP_RC_WRITE_MIDDLE, .length = 64, .pkey = 0xffff };
	struct wf_wire_addr src = { .ipv4 = 1 }, dst = { .ipv4 = 2 };
	unsigned any = 0, as_constant = 0, as_counting = 0;
	uint8_t bytes[256], payload[64] = { 0 };
	struct wf_wire_conf conf;
	enum wf_reason reason;
	struct wf_headers h;
	size_t len;

	(void)state;
	wf_wire_conf_init(&conf, WF_ENCAP_ROCE2_IPV4);
	assert_int_equal(
		wf_packet_encode(&pkt, &conf, &src, &dst, payload, bytes, sizeof(bytes), &len), 0);
	assert_int_equal(wf_headers_decode(bytes, len, WF_LINK_ETHERNET, &h, &reason), 0);
	assert_int_equal(wf_headers_verify(&h, bytes, len, &reason), 0);
	for (uint64_t i = 0; i < PACKETS; i++) {
		struct wf_icrc_sender s[2] = { constant, counting };
		uint64_t noise = wf_rand64(1, i);
		uint16_t id;

		memcpy(bytes + h.payload_at + i % 50, &noise, sizeof(noise));
		if (wf_icrc_find_id(&h, bytes, &id)) {
			any++;
			as_constant += wf_icrc_may_send(&s[0], id, 1010);
			as_counting += wf_icrc_may_send(&s[1], id, 1010);
		}
	}
	print_message("undetected of %u: any identification %u, counting %u, constant %u\n",
	              PACKETS, any, as_counting, as_constant);
	assert_in_range(any, 1, 20);
	assert_int_equal(as_counting, 0);
	assert_int_equal(as_constant, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_senders),
		cmocka_unit_test(test_strength),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
