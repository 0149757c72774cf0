/* SPDX-License-Identifier: Apache-2.0 */
/* icrc_id.c - a CRC run backwards. */
#include "wire/icrc_id.h"

#include <assert.h>

#include "wire/headers_priv.h"
#include "wire/ib.h"

#define POLY UINT32_C(0xedb88320) /* of CRC-32, lowest bit first */
#define ONE UINT32_C(0x80000000)  /* x^0 in that order */
#define ID_AT 4                   /* in the IPv4 header */

#define LEARN 8   /* packets in a row until a sender is known */
#define UNLEARN 4 /* packets in a row that do not fit until it is no more */
#define AHEAD 256 /* packets that may have been lost, or gone to others */
#define BEHIND 64 /* packets that may have overtaken this one */
#define LEAP_MAX 32767

/* One bit back: the inverse of c & 1 ? c >> 1 ^ POLY : c >> 1. */
static uint32_t bit_back(uint32_t c)
{
	return (c & ONE) != 0 ? (c ^ POLY) << 1 | 1 : c << 1;
}

/* a times b, modulo the polynomial. */
static uint32_t times(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (uint32_t m = ONE; m != 0; m >>= 1) {
		if ((a & m) != 0)
			product ^= b;
		b = (b & 1) != 0 ? b >> 1 ^ POLY : b >> 1;
	}
	return product;
}

/* The CRC's state before n bytes of zeros that led to crc. */
static uint32_t rewind_zeros(uint32_t crc, size_t n)
{
	uint32_t step = ONE; /* x^-8, squared again and again */

	for (unsigned i = 0; i < 8; i++)
		step = bit_back(step);
	for (; n != 0; n >>= 1) {
		if ((n & 1) != 0)
			crc = times(crc, step);
		step = times(step, step);
	}
	return crc;
}

bool wf_icrc_find_id(const struct wf_headers *h, const uint8_t *bytes, uint16_t *id_p)
{
	size_t id_at = wf_headers_ip_at(h) + ID_AT;
	uint32_t state =
		rewind_zeros(wf_headers_icrc(h, bytes) ^ h->icrc, wf_headers_icrc_at(h) - id_at);

	/* From here the two bytes of the field, as they come, must lead to the difference. */
	if (state >> 16 != 0)
		return false;
	*id_p = (uint16_t)((state & 0xff) << 8 | state >> 8);
	return true;
}

static void assert_sender(const struct wf_icrc_sender *s)
{
	assert(s->state <= WF_ICRC_ID_COUNTING);
	assert(s->same <= s->follow && s->follow <= LEARN && s->refused < UNLEARN);
	assert(s->state == WF_ICRC_ID_LEARNING ? s->refused == 0 && s->follow < LEARN
	                                       : s->follow == LEARN);
	assert(s->state != WF_ICRC_ID_CONSTANT || s->same == LEARN);
	(void)s;
}

/* Whether a sender that counts can be there by now. */
static bool follows(const struct wf_icrc_sender *s, uint16_t id, uint64_t ms)
{
	uint64_t passed = ms > s->at ? ms - s->at : 0;
	uint64_t most = AHEAD + (passed < LEAP_MAX - AHEAD ? passed : LEAP_MAX - AHEAD);

	return (uint16_t)(id - s->last) <= most || (uint16_t)(s->last - id) <= BEHIND;
}

static void learn(struct wf_icrc_sender *s, uint16_t id, bool fits)
{
	s->same = !fits || s->follow == 0 ? 1 : (uint8_t)(s->same + (id == s->last));
	s->follow = !fits || s->follow == 0 ? 1 : (uint8_t)(s->follow + 1);
	if (s->follow == LEARN)
		s->state = s->same == LEARN ? WF_ICRC_ID_CONSTANT : WF_ICRC_ID_COUNTING;
}

bool wf_icrc_may_send(struct wf_icrc_sender *s, uint16_t id, uint64_t ms)
{
	bool fits = s->state == WF_ICRC_ID_CONSTANT ? id == s->last : follows(s, id, ms);

	assert_sender(s);
	if (s->state == WF_ICRC_ID_LEARNING) {
		learn(s, id, fits);
	} else if (!fits) {
		if (++s->refused == UNLEARN)
			*s = (struct wf_icrc_sender){
				.at = ms, .last = id, .follow = 1, .same = 1
			};
		assert_sender(s);
		return false;
	}
	s->refused = 0;
	s->at = ms;
	/* One that was overtaken says nothing of where the sender is. */
	if ((uint16_t)(id - s->last) <= LEAP_MAX || s->state == WF_ICRC_ID_LEARNING)
		s->last = id;
	assert_sender(s);
	return true;
}
