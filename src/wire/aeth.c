/* SPDX-License-Identifier: Apache-2.0 */
/* aeth.c - the codes for credits and for times in the syndromes of acknowledgements. */
#include "wire/aeth.h"

#include <assert.h>

#define CREDITS_MAX 32768 /* of the largest code */
#define CREDITS_MAX_CODE 30

uint32_t wf_credits_count(uint8_t code)
{
	static const uint16_t count[CREDITS_MAX_CODE + 1] = {
		0,    1,    2,    3,    4,    6,     8,     12,    16,          24,   32,
		48,   64,   96,   128,  192,  256,   384,   512,   768,         1024, 1536,
		2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, CREDITS_MAX,
	};

	assert(code <= CREDITS_MAX_CODE);
	return count[code];
}

uint8_t wf_credits_code(uint32_t n)
{
	uint32_t top;

	if (n < 4)
		return (uint8_t)n;
	if (n >= CREDITS_MAX)
		return CREDITS_MAX_CODE;
	/* 4, 6, 8, 12, 16 …: two codes to a power of two. */
	top = 31 - (uint32_t)__builtin_clz(n);
	return (uint8_t)(2 * top + (n >> (top - 1) & 1));
}

wf_time wf_rnr_wait(uint8_t value)
{
	/* In units of 10 us. */
	static const uint32_t wait[32] = {
		65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
		48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	assert(value < 32);
	return (wf_time)wait[value] * 10 * WF_US;
}
