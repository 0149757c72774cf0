/* SPDX-License-Identifier: Apache-2.0 */
/* siphash.c - SipHash-2-4. */
#include "base/siphash.h"

struct state {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static uint64_t word(const uint8_t *p, size_t n)
{
	uint64_t x = 0;

	for (size_t i = 0; i < n; i++)
		x |= (uint64_t)p[i] << 8 * i;
	return x;
}

static void rounds(struct state *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 = rotate(s->v2, 32);
	}
}

static void absorb(struct state *s, uint64_t m)
{
	s->v3 ^= m;
	rounds(s, 2);
	s->v0 ^= m;
}

uint64_t wf_siphash(const uint8_t key[WF_SIPHASH_KEY], const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t k0 = word(key, 8), k1 = word(key + 8, 8);
	struct state s = {
		.v0 = k0 ^ UINT64_C(0x736f6d6570736575),
		.v1 = k1 ^ UINT64_C(0x646f72616e646f6d),
		.v2 = k0 ^ UINT64_C(0x6c7967656e657261),
		.v3 = k1 ^ UINT64_C(0x7465646279746573),
	};
	size_t left = len;

	for (; left >= 8; left -= 8, p += 8)
		absorb(&s, word(p, 8));
	absorb(&s, word(p, left) | (uint64_t)len << 56);
	s.v2 ^= 0xff;
	rounds(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
