/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_capture.c - captures written and read back; files of both formats and byte orders by hand;
 * files that are cut or lie.
 */
#include "wire_test.h"

#include "wire/byte.h"
#include "wire/capture.h"
#include "wire/pcapng.h"

/* A file that grows by what is put at its end. */
struct file {
	uint8_t bytes[65536];
	size_t len;
	bool big; /* endian */
};

static void put16(struct file *f, unsigned v)
{
	if (f->big)
		wf_be16_put(f->bytes + f->len, (uint16_t)v);
	else
		wf_le16_put(f->bytes + f->len, (uint16_t)v);
	f->len += 2;
}

static void put32(struct file *f, uint32_t v)
{
	if (f->big)
		wf_be32_put(f->bytes + f->len, v);
	else
		wf_le32_put(f->bytes + f->len, v);
	f->len += 4;
}

static void put_section(struct file *f)
{
	put32(f, 0x0a0d0d0a);
	put32(f, 28);
	put32(f, 0x1a2b3c4d);
	put16(f, 1);
	put16(f, 0);
	put32(f, UINT32_MAX);
	put32(f, UINT32_MAX);
	put32(f, 28);
}

static void put_interface(struct file *f, unsigned link_type, uint8_t tsresol)
{
	put32(f, 1);
	put32(f, 32);
	put16(f, link_type);
	put16(f, 0);
	put32(f, 0);
	put16(f, 9);
	put16(f, 1);
	f->bytes[f->len] = tsresol;
	f->len += 4;
	put32(f, 0);
	put32(f, 32);
}

static void put_packet(struct file *f, uint32_t interface, uint64_t count, uint32_t captured)
{
	put32(f, 6);
	put32(f, 36);
	put32(f, interface);
	put32(f, (uint32_t)(count >> 32));
	put32(f, (uint32_t)count);
	put32(f, captured);
	put32(f, 1000);
	memcpy(f->bytes + f->len, "abcd", 4);
	f->len += 4;
	put32(f, 36);
}

/* Reads all of it from a copy of that size; returns the last answer and how many packets. */
static int read_all(const uint8_t *bytes, size_t len, unsigned *packets)
{
	uint8_t *copy = malloc(len > 0 ? len : 1);
	struct wf_capture_packet packet;
	struct wf_capture capture;
	uint32_t sum = 0;
	int ret;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	*packets = 0;
	ret = wf_capture_init(&capture, copy, len);
	while (ret == 0) {
		ret = wf_capture_next(&capture, &packet);
		for (size_t i = 0; ret == 0 && i < packet.captured; i++)
			sum += packet.bytes[i];
		*packets += ret == 0;
	}
	free(copy);
	(void)sum;
	return ret;
}

static size_t write_capture(uint8_t *buf, size_t size)
{
	static const struct wf_pcapng_interface interfaces[] = {
		{ WF_LINKTYPE_ETHERNET, "host0", 0 },
		{ WF_LINKTYPE_INFINIBAND, NULL, 0 },
	};
	static const uint8_t bytes[] = "0123456789";
	size_t at = 0, n;

	assert_int_equal(wf_pcapng_put_section(buf, size, "weft", &n), 0);
	at += n;
	for (size_t i = 0; i < WF_ARRAY_SIZE(interfaces); i++) {
		assert_int_equal(wf_pcapng_put_interface(buf + at, size - at, &interfaces[i], &n),
		                 0);
		at += n;
	}
	for (unsigned i = 0; i < 8; i++) {
		struct wf_pcapng_packet packet = {
			.interface = i % 2,
			.at = INT64_C(7123456789012345) + i * WF_US,
			.dir = i % 3,
			.bytes = bytes,
			.captured = i,
			.original = i * 100,
		};

		assert_int_equal(wf_pcapng_put_packet(buf + at, size - at, &packet, &n), 0);
		assert_int_equal(n % 4, 0);
		assert_true(n <= WF_PCAPNG_BLOCK_MAX + i);
		at += n;
	}
	return at;
}

static void test_write_and_read(void **state)
{
	struct wf_capture_packet packet;
	struct wf_capture capture;
	uint8_t buf[4096];
	size_t len;

	(void)state;
	len = write_capture(buf, sizeof(buf));
	assert_int_equal(wf_capture_init(&capture, buf, len), 0);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(wf_capture_next(&capture, &packet), 0);
		assert_int_equal(packet.interface, i % 2);
		assert_int_equal(packet.link_type,
		                 i % 2 == 0 ? WF_LINKTYPE_ETHERNET : WF_LINKTYPE_INFINIBAND);
		assert_true(packet.at == INT64_C(7123456789012000) + i * WF_US);
		assert_int_equal(packet.captured, i);
		assert_int_equal(packet.original, i * 100);
		assert_memory_equal(packet.bytes, "0123456789", i);
	}
	assert_int_equal(wf_capture_next(&capture, &packet), -ENODATA);
	assert_int_equal(wf_capture_next(&capture, &packet), -ENODATA);
}

static void test_write_needs_room(void **state)
{
	static const struct wf_pcapng_interface interface = { WF_LINKTYPE_ETHERNET, "eth0", 0 };
	struct wf_pcapng_packet packet = { .bytes = "abc", .captured = 3, .original = 3 };
	uint8_t buf[WF_PCAPNG_BLOCK_MAX];
	char longest[200];
	size_t n = 0;

	(void)state;
	for (size_t size = 0; size < 28; size++) {
		assert_int_equal(wf_pcapng_put_section(buf, size, "weft", &n), -ENOSPC);
		assert_int_equal(wf_pcapng_put_interface(buf, size, &interface, &n), -ENOSPC);
		assert_int_equal(wf_pcapng_put_packet(buf, size, &packet, &n), -ENOSPC);
	}
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(wf_pcapng_put_section(buf, sizeof(buf), longest, &n), 0);
	assert_int_equal(n, 28 + 4 + WF_PCAPNG_TEXT + 4);
	assert_int_equal(wf_pcapng_put_section(buf, sizeof(buf), NULL, &n), 0);
	assert_int_equal(n, 28 + 4);
}

/* InfiniBand: each packet after its ERF header. */
static void test_erf(void **state)
{
	static const struct wf_pcapng_interface interface = { WF_LINKTYPE_ERF, "port1", 0 };
	struct wf_pcapng_packet packet = {
		.at = 3 * WF_S + WF_S / 2,
		.erf = WF_ERF_INFINIBAND,
		.bytes = "abcdef",
		.captured = 6,
		.original = 7,
	};
	struct wf_capture_packet got;
	struct wf_capture capture;
	static const uint8_t zeros[42];
	uint8_t buf[1024];
	size_t at = 0, n;

	(void)state;
	assert_int_equal(wf_pcapng_put_section(buf, sizeof(buf), "weft", &at), 0);
	assert_int_equal(wf_pcapng_put_interface(buf + at, sizeof(buf) - at, &interface, &n), 0);
	at += n;
	assert_int_equal(wf_pcapng_put_packet(buf + at, 16 + 32 + 8, &packet, &n), -ENOSPC);
	assert_int_equal(wf_pcapng_put_packet(buf + at, sizeof(buf) - at, &packet, &n), 0);
	at += n;
	packet.erf = WF_ERF_INFINIBAND_LINK;
	packet.original = 6;
	assert_int_equal(wf_pcapng_put_packet(buf + at, sizeof(buf) - at, &packet, &n), 0);
	at += n;
	assert_int_equal(wf_capture_init(&capture, buf, at), 0);
	assert_int_equal(wf_capture_next(&capture, &got), 0);
	assert_int_equal(got.link_type, WF_LINKTYPE_ERF);
	assert_true(got.at == packet.at);
	assert_int_equal(got.captured, WF_ERF_LEN + 6);
	assert_int_equal(got.original, WF_ERF_LEN + 7);
	assert_true(wf_le64_get(got.bytes) == (UINT64_C(3) << 32 | UINT64_C(1) << 31));
	assert_int_equal(got.bytes[8], 21);
	assert_int_equal(wf_be16_get(got.bytes + 10), 22);
	assert_int_equal(wf_be16_get(got.bytes + 14), 7);
	assert_memory_equal(got.bytes + WF_ERF_LEN, "abcdef", 6);
	assert_int_equal(wf_capture_next(&capture, &got), 0);
	assert_int_equal(got.bytes[8], 25);
	assert_int_equal(got.captured, WF_ERF_LEN + WF_ERF_LINK_PADDED);
	assert_memory_equal(got.bytes + WF_ERF_LEN, "abcdef", 6);
	assert_memory_equal(got.bytes + WF_ERF_LEN + 6, zeros, 42);
}

/* The units in which a file may give its times. */
static void test_times(void **state)
{
	static const struct {
		uint8_t tsresol;
		uint64_t count;
		wf_time want;
	} row[] = {
		{ 0, 3, 3 * WF_S },
		{ 6, 3, 3 * WF_US },
		{ 9, 3, 3 * WF_NS },
		{ 12, 3, 3 },
		{ 15, 3999, 3 },
		{ 127, UINT64_MAX, 0 },
		{ 0x80 | 0, 2, 2 * WF_S },
		{ 0x80 | 10, 1024, WF_S },
		{ 0x80 | 32, UINT64_C(1) << 31, WF_S / 2 },
		{ 0xff, 1, 0 },
		{ 0, UINT64_MAX, WF_TIME_NEVER },
		{ 6, UINT64_MAX, WF_TIME_NEVER },
	};
	struct wf_capture_packet packet;
	struct wf_capture capture;

	(void)state;
	for (size_t i = 0; i < 2 * WF_ARRAY_SIZE(row); i++) {
		struct file f = { .big = i % 2 != 0 };

		put_section(&f);
		put_interface(&f, 1, row[i / 2].tsresol);
		put_packet(&f, 0, row[i / 2].count, 4);
		assert_int_equal(wf_capture_init(&capture, f.bytes, f.len), 0);
		assert_int_equal(wf_capture_next(&capture, &packet), 0);
		assert_true(packet.at == row[i / 2].want);
		assert_memory_equal(packet.bytes, "abcd", 4);
	}
}

/* A second section in the other byte order, a block of no interest, a simple packet. */
static void test_sections(void **state)
{
	struct wf_capture_packet packet;
	struct wf_capture capture;
	struct file f = { .big = false };

	(void)state;
	put_section(&f);
	put_interface(&f, 1, 6);
	put_packet(&f, 0, 5, 4);
	f.big = true;
	put_section(&f);
	put32(&f, 0x0bad);
	put32(&f, 16);
	put32(&f, 0);
	put32(&f, 16);
	put_interface(&f, 247, 9);
	put32(&f, 3);
	put32(&f, 20);
	put32(&f, 3);
	put32(&f, 0x41424344);
	put32(&f, 20);
	assert_int_equal(wf_capture_init(&capture, f.bytes, f.len), 0);
	assert_int_equal(wf_capture_next(&capture, &packet), 0);
	assert_int_equal(packet.link_type, 1);
	assert_int_equal(wf_capture_next(&capture, &packet), 0);
	assert_int_equal(packet.link_type, 247);
	assert_int_equal(packet.captured, 3);
	assert_memory_equal(packet.bytes, "ABC", 3);
	assert_int_equal(wf_capture_next(&capture, &packet), -ENODATA);
}

static void test_classic(void **state)
{
	static const struct {
		uint32_t magic;
		bool big;
		wf_time want;
	} row[] = {
		{ 0xa1b2c3d4, false, 2 * WF_S + 7 * WF_US },
		{ 0xa1b2c3d4, true, 2 * WF_S + 7 * WF_US },
		{ 0xa1b23c4d, false, 2 * WF_S + 7 * WF_NS },
		{ 0xa1b23c4d, true, 2 * WF_S + 7 * WF_NS },
	};
	struct wf_capture_packet packet;
	struct wf_capture capture;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct file f = { .big = row[i].big };

		put32(&f, row[i].magic);
		put32(&f, 0);
		put32(&f, 0);
		put32(&f, 0);
		put32(&f, 65535);
		put32(&f, 247);
		put32(&f, 2);
		put32(&f, 7);
		put32(&f, 4);
		put32(&f, 99);
		put32(&f, 0x01010101);
		assert_int_equal(wf_capture_init(&capture, f.bytes, f.len), 0);
		assert_int_equal(wf_capture_next(&capture, &packet), 0);
		assert_int_equal(packet.link_type, 247);
		assert_true(packet.at == row[i].want);
		assert_int_equal(packet.captured, 4);
		assert_int_equal(packet.original, 99);
		assert_int_equal(wf_capture_next(&capture, &packet), -ENODATA);
	}
}

/* A file cut anywhere but between blocks is broken; what came before it is read. */
static void test_truncation(void **state)
{
	uint8_t buf[4096];
	unsigned packets, before = 0, ends = 0;
	size_t len;

	(void)state;
	len = write_capture(buf, sizeof(buf));
	for (size_t cut = 0; cut <= len; cut++) {
		int ret = read_all(buf, cut, &packets);

		assert_true(packets >= before);
		before = packets;
		ends += ret == -ENODATA;
		assert_true(ret == -ENODATA || ret == -EBADMSG);
	}
	assert_int_equal(packets, 8);
	assert_int_equal(ends, 1 + 2 + 8);
}

/* Wrong in one place, each: no packet comes of it. */
static void test_liars(void **state)
{
	struct file f = { .big = false };
	unsigned packets;

	(void)state;
	put_section(&f);
	put_packet(&f, 0, 0, 4); /* an interface that does not exist */
	assert_int_equal(read_all(f.bytes, f.len, &packets), -EBADMSG);
	assert_int_equal(packets, 0);

	f.len = 28;
	put_interface(&f, 1, 6);
	put_packet(&f, 0, 0, 5); /* more bytes than the block has */
	assert_int_equal(read_all(f.bytes, f.len, &packets), -EBADMSG);
	assert_int_equal(packets, 0);

	f.len = 60;
	put_packet(&f, 0, 0, UINT32_MAX);
	assert_int_equal(read_all(f.bytes, f.len, &packets), -EBADMSG);
	f.len = 60;
	put_packet(&f, 0, 0, 4);
	assert_int_equal(read_all(f.bytes, f.len, &packets), -ENODATA);
	assert_int_equal(packets, 1);
	f.bytes[f.len - 4] = 40; /* the second length is another */
	assert_int_equal(read_all(f.bytes, f.len, &packets), -EBADMSG);
	wf_le32_put(f.bytes + 64, 8); /* a block shorter than a block */
	assert_int_equal(read_all(f.bytes, f.len, &packets), -EBADMSG);
	wf_le32_put(f.bytes + 64, 0xfffffffc);
	assert_int_equal(read_all(f.bytes, f.len, &packets), -EBADMSG);

	f.len = 28;
	for (unsigned i = 0; i <= WF_CAPTURE_INTERFACES; i++)
		put_interface(&f, 1, 6);
	assert_int_equal(read_all(f.bytes, f.len, &packets), -EBADMSG);
	assert_int_equal(read_all((const uint8_t *)"no capture at all, but long", 27, &packets),
	                 -EBADMSG);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_and_read),
		cmocka_unit_test(test_write_needs_room),
		cmocka_unit_test(test_erf),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_classic),
		cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_liars),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
