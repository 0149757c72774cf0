/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.c - distributions, in integers, so that draws are the same on every machine.
 */
#include "base/rng.h"

/*
 * ln(u) = log2(u) ln(2). The whole part of a binary logarithm is the place of the highest bit; its
 * fraction comes out bit by bit: square the mantissa, and when it reaches 2 note a one and halve
 * it.
 */
uint64_t wf_rand_exp(uint64_t bits)
{
	const uint64_t ln2 = UINT64_C(0xb17217f7d1cf79ab); /* of 2^64 */
	uint64_t x = (bits >> 1) + 1;
	unsigned top = 63 - (unsigned)__builtin_clzll(x);
	uint64_t mantissa = x << (63 - top); /* 1.63 */
	uint64_t log2 = top;

	for (unsigned i = 0; i < 32; i++) {
		unsigned __int128 square = (unsigned __int128)mantissa * mantissa; /* 2.126 */
		unsigned one = (unsigned)(square >> 127);

		mantissa = (uint64_t)(square >> (63 + one));
		log2 = log2 << 1 | one;
	}
	return (uint64_t)(((unsigned __int128)((UINT64_C(63) << 32) - log2) * ln2) >> 64);
}
