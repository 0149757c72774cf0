/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.c - SHA-256 as FIPS 180-4 has it, a block of 64 bytes at a time.
 */
#include "base/sha256.h"

#include <string.h>

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t turn(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

static void take_block(struct wf_sha256 *h, const uint8_t *p)
{
	uint32_t w[64], s[8];

	for (int i = 0; i < 16; i++)
		w[i] = get32(p + 4 * i);
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, h->state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t a = s[0], e = s[4];
		uint32_t t1 = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
		              ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
		uint32_t t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
		              ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		h->state[i] += s[i];
}

void wf_sha256_init(struct wf_sha256 *h)
{
	/* The same of the square roots of the first 8 primes. */
	*h = (struct wf_sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void wf_sha256_add(struct wf_sha256 *h, const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t have = h->len % 64;

	h->len += len;
	while (len > 0) {
		size_t n = 64 - have < len ? 64 - have : len;

		if (n == 64) {
			take_block(h, p);
		} else {
			memcpy(h->block + have, p, n);
			if (have + n == 64)
				take_block(h, h->block);
		}
		have = (have + n) % 64;
		p += n;
		len -= n;
	}
}

void wf_sha256_text(struct wf_sha256 *h, char text[WF_SHA256_TEXT])
{
	static const char digit[] = "0123456789abcdef";
	static const uint8_t pad[64] = { 0x80 };
	uint64_t bits = h->len * 8;
	uint8_t end[8];

	put32(end, (uint32_t)(bits >> 32));
	put32(end + 4, (uint32_t)bits);
	wf_sha256_add(h, pad, 64 - (h->len + 8) % 64);
	wf_sha256_add(h, end, sizeof(end));
	for (int i = 0; i < 64; i++)
		text[i] = digit[h->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
	text[64] = '\0';
}
