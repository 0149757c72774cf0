/* SPDX-License-Identifier: Apache-2.0 */
/* pint.c - a utilisation in a byte: 2^(code / 16 - 8). */
#include "cc/pint.h"

#include <assert.h>

#include "cc/cc_priv.h"

#define STEPS 16  /* codes an octave */
#define LOWEST 24 /* log2 of the smallest utilisation, in Q32 */
#define CODE_MAX 255

/* 2^(i / 16) in Q32; a test computes them anew. */
static const uint64_t step[STEPS] = {
	UINT64_C(0x100000000), UINT64_C(0x10b5586d0), UINT64_C(0x1172b83c8), UINT64_C(0x12387a6e7),
	UINT64_C(0x1306fe0a3), UINT64_C(0x13dea64c1), UINT64_C(0x14bfdad53), UINT64_C(0x15ab07dd5),
	UINT64_C(0x16a09e668), UINT64_C(0x17a11473f), UINT64_C(0x18ace5423), UINT64_C(0x19c49182a),
	UINT64_C(0x1ae89f996), UINT64_C(0x1c199bdd8), UINT64_C(0x1d5818dd0), UINT64_C(0x1ea4afa2a),
};

uint64_t wf_pint_decode(uint8_t code)
{
	uint32_t octave = code / STEPS;

	return (step[code % STEPS] << octave) >> (32 - LOWEST);
}

uint8_t wf_pint_encode(uint64_t u, uint64_t random)
{
	uint32_t code, log;
	uint64_t low, high, up;

	if (u <= wf_pint_decode(0))
		return 0;
	if (u >= wf_pint_decode(CODE_MAX))
		return CODE_MAX;
	log = 63 - (uint32_t)__builtin_clzll(u);
	assert(log >= LOWEST);
	code = (log - LOWEST) * STEPS;
	while (wf_pint_decode((uint8_t)(code + 1)) <= u)
		code++;
	low = wf_pint_decode((uint8_t)code);
	high = wf_pint_decode((uint8_t)(code + 1));
	assert(low <= u && u < high);
	up = ((u - low) << 24) / (high - low); /* of 2^24; the difference is below 2^37 */
	return (uint8_t)(code + ((random >> 40) < up ? 1 : 0));
}
