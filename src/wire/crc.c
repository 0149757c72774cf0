/* SPDX-License-Identifier: Apache-2.0 */
/* crc.c - CRC-32 and CRC-16, eight bytes a step. */
#include "wire/crc.h"

#include "wire/byte.h"

/*
 * Eight bytes a step ("slicing by 8"): table k says what a byte does to the CRC when k more bytes
 * follow it in the step. A CRC is linear, so the entry of a byte is the sum of the entries of its
 * bits: each table is spelled by eight numbers, and the compiler does the rest. The unit test
 * derives every entry again from the polynomial.
 */
#define BIT(b, n, c) (((b) >> (n)&1) ? (c) : 0)
#define ENTRY(b, c0, c1, c2, c3, c4, c5, c6, c7)                                                   \
	(BIT(b, 0, c0) ^ BIT(b, 1, c1) ^ BIT(b, 2, c2) ^ BIT(b, 3, c3) ^ BIT(b, 4, c4) ^           \
	 BIT(b, 5, c5) ^ BIT(b, 6, c6) ^ BIT(b, 7, c7))
#define ROW4(b, ...)                                                                               \
	ENTRY(b, __VA_ARGS__), ENTRY((b) + 1, __VA_ARGS__), ENTRY((b) + 2, __VA_ARGS__),           \
		ENTRY((b) + 3, __VA_ARGS__)
#define ROW16(b, ...)                                                                              \
	ROW4(b, __VA_ARGS__), ROW4((b) + 4, __VA_ARGS__), ROW4((b) + 8, __VA_ARGS__),              \
		ROW4((b) + 12, __VA_ARGS__)
#define ROW64(b, ...)                                                                              \
	ROW16(b, __VA_ARGS__), ROW16((b) + 16, __VA_ARGS__), ROW16((b) + 32, __VA_ARGS__),         \
		ROW16((b) + 48, __VA_ARGS__)
#define TABLE(...)                                                                                 \
	{                                                                                          \
		ROW64(0, __VA_ARGS__), ROW64(64, __VA_ARGS__), ROW64(128, __VA_ARGS__),            \
			ROW64(192, __VA_ARGS__)                                                    \
	}

/* clang-format off */
static const uint32_t crc32_table[8][256] = {
	TABLE(0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832,
	      0x1db71064, 0x3b6e20c8, 0x76dc4190, 0xedb88320),
	TABLE(0x191b3141, 0x32366282, 0x646cc504, 0xc8d98a08,
	      0x4ac21251, 0x958424a2, 0xf0794f05, 0x3b83984b),
	TABLE(0x01c26a37, 0x0384d46e, 0x0709a8dc, 0x0e1351b8,
	      0x1c26a370, 0x384d46e0, 0x709a8dc0, 0xe1351b80),
	TABLE(0xb8bc6765, 0xaa09c88b, 0x8f629757, 0xc5b428ef,
	      0x5019579f, 0xa032af3e, 0x9b14583d, 0xed59b63b),
	TABLE(0x3d6029b0, 0x7ac05360, 0xf580a6c0, 0x30704bc1,
	      0x60e09782, 0xc1c12f04, 0x58f35849, 0xb1e6b092),
	TABLE(0xcb5cd3a5, 0x4dc8a10b, 0x9b914216, 0xec53826d,
	      0x03d6029b, 0x07ac0536, 0x0f580a6c, 0x1eb014d8),
	TABLE(0xa6770bb4, 0x979f1129, 0xf44f2413, 0x33ef4e67,
	      0x67de9cce, 0xcfbd399c, 0x440b7579, 0x8816eaf2),
	TABLE(0xccaa009e, 0x4225077d, 0x844a0efa, 0xd3e51bb5,
	      0x7cbb312b, 0xf9766256, 0x299dc2ed, 0x533b85da),
};

static const uint16_t crc16_table[8][256] = {
	TABLE(0x1ba1, 0x3742, 0x6e84, 0xdd08, 0x1a01, 0x3402, 0x6804, 0xd008),
	TABLE(0xffb0, 0x5f71, 0xbee2, 0xddd5, 0x1bbb, 0x3776, 0x6eec, 0xddd8),
	TABLE(0xfef4, 0x5df9, 0xbbf2, 0xd7f5, 0x0ffb, 0x1ff6, 0x3fec, 0x7fd8),
	TABLE(0xf875, 0x50fb, 0xa1f6, 0xe3fd, 0x67eb, 0xcfd6, 0x3fbd, 0x7f7a),
	TABLE(0x33da, 0x67b4, 0xcf68, 0x3ec1, 0x7d82, 0xfb04, 0x5619, 0xac32),
	TABLE(0x4874, 0x90e8, 0x81c1, 0xa393, 0xe737, 0x6e7f, 0xdcfe, 0x19ed),
	TABLE(0x28cb, 0x5196, 0xa32c, 0xe649, 0x6c83, 0xd906, 0x121d, 0x243a),
	TABLE(0x49cf, 0x939e, 0x872d, 0xae4b, 0xfc87, 0x591f, 0xb23e, 0xc46d),
};
/* clang-format on */

uint32_t wf_crc32_update(uint32_t crc, const void *data, size_t len)
{
	const uint32_t(*t)[256] = crc32_table;
	const uint8_t *p = data;

	for (; len >= 8; len -= 8, p += 8) {
		uint32_t a = wf_le32_get(p) ^ crc;
		uint32_t b = wf_le32_get(p + 4);

		crc = t[7][a & 0xff] ^ t[6][a >> 8 & 0xff] ^ t[5][a >> 16 & 0xff] ^ t[4][a >> 24] ^
		      t[3][b & 0xff] ^ t[2][b >> 8 & 0xff] ^ t[1][b >> 16 & 0xff] ^ t[0][b >> 24];
	}
	for (; len > 0; len--, p++)
		crc = crc >> 8 ^ t[0][(crc ^ *p) & 0xff];
	return crc;
}

uint16_t wf_crc16_update(uint16_t crc, const void *data, size_t len)
{
	const uint16_t(*t)[256] = crc16_table;
	const uint8_t *p = data;

	for (; len >= 8; len -= 8, p += 8) {
		uint32_t a = wf_le32_get(p) ^ crc;
		uint32_t b = wf_le32_get(p + 4);

		crc = t[7][a & 0xff] ^ t[6][a >> 8 & 0xff] ^ t[5][a >> 16 & 0xff] ^ t[4][a >> 24] ^
		      t[3][b & 0xff] ^ t[2][b >> 8 & 0xff] ^ t[1][b >> 16 & 0xff] ^ t[0][b >> 24];
	}
	for (; len > 0; len--, p++)
		crc = (uint16_t)(crc >> 8 ^ t[0][(crc ^ *p) & 0xff]);
	return crc;
}
