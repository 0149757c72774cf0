/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_icrc_id.c - the identification of the kernel's own packets is found from their ICRC, and a
 * packet that was changed has none.
 */
#include "wire_test.h"

#include <glob.h>

#include "wire/capture.h"
#include "wire/icrc_id.h"

#define DATA WEFT_SOURCE_DIR "/tests/data/rxe/"

struct sums {
	unsigned packets, wrong, changed, missed;
};

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
		while (wf_capture_next(&capture, &packet) == 0)
			check(&packet, &sums);
	}
	globfree(&files);
	assert_true(sums.packets > 1200);
	assert_int_equal(sums.wrong, 3);
	/* 16 bits are left of the check. */
	assert_true(sums.changed > 5000);
	assert_true(sums.missed <= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
