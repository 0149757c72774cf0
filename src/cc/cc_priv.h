/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_priv.h - arithmetic that the algorithms share: fractions in fixed point, division by a number
 * known in advance, powers, and the window of a rate.
 *
 * "Qn" is a fixed-point number of n binary places. No floating point decides a rate, so a run is
 * the same on every machine. A product of two 64-bit numbers is one instruction; a division is
 * many, so what is divided by often (the line rate, the base RTT) is inverted once.
 */
#ifndef WF_CC_CC_PRIV_H
#define WF_CC_CC_PRIV_H

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/param.h"
#include "cc/algs.h"

typedef unsigned __int128 wf_u128;

#define WF_Q32_ONE (UINT64_C(1) << 32)

/* 1 / d = mul / 2^shift, rounded down; 2^62 < mul <= 2^63. */
struct wf_recip {
	uint64_t mul;
	uint32_t shift;
};

static inline struct wf_recip wf_recip_of(uint64_t d)
{
	struct wf_recip r;

	assert(d != 0);
	r.shift = 126 - (uint32_t)__builtin_clzll(d);
	r.mul = (uint64_t)(((wf_u128)1 << r.shift) / d);
	return r;
}

static inline uint64_t wf_sat64(wf_u128 x)
{
	return (uint64_t)(x >> 64) != 0 ? UINT64_MAX : (uint64_t)x;
}

/* x / d in Qfrac, at most two of the last place too small; frac below 63. */
static inline uint64_t wf_recip_mul(const struct wf_recip *r, uint64_t x, uint32_t frac)
{
	assert(frac < 63);
	return wf_sat64(((wf_u128)x * r->mul) >> (r->shift - frac));
}

/* x * f, f in Q32. */
static inline uint64_t wf_mul_q32(uint64_t x, uint64_t f)
{
	return wf_sat64(((wf_u128)x * f) >> 32);
}

/* x * a / b, rounded down, at most UINT64_MAX. */
static inline uint64_t wf_mul_div(uint64_t x, uint64_t a, uint64_t b)
{
	wf_u128 p = (wf_u128)x * a;

	assert(b != 0);
	return (uint64_t)(p >> 64) == 0 ? (uint64_t)p / b : wf_sat64(p / b);
}

/* base^n in Q62, base at most 1. */
static inline uint64_t wf_pow_q62(uint64_t base, uint64_t n)
{
	uint64_t y = UINT64_C(1) << 62;

	assert(base <= y);
	for (; n != 0; n >>= 1) {
		if ((n & 1) != 0)
			y = (uint64_t)(((wf_u128)y * base) >> 62);
		base = (uint64_t)(((wf_u128)base * base) >> 62);
		if (base == 0 && n > 1)
			return 0;
	}
	return y;
}

static inline uint64_t wf_clamp_u64(uint64_t x, uint64_t low, uint64_t high)
{
	return x < low ? low : x > high ? high : x;
}

/* The bytes a line carries in a time. */
static inline uint64_t wf_cc_bdp(uint64_t rate, wf_time time)
{
	return wf_mul_div(rate, (uint64_t)time, UINT64_C(8) * (uint64_t)WF_S);
}

/* As fast as the port takes it: what an algorithm with a window alone wants. */
static inline void wf_cc_unpace(struct wf_cc *cc)
{
	cc->rate = cc->line_rate;
	cc->gap = 0;
}

/* A window that goes with a rate; see algs.h. */
struct wf_cc_win {
	uint64_t bytes; /* 0: none */
	uint64_t slack;
	uint64_t per_rate; /* bytes / line rate in Q64; 0: as much as 1 */
	bool scales;
};

static inline void wf_cc_win_init(struct wf_cc_win *w, const struct wf_cc *cc, uint64_t bytes,
                                  uint64_t slack, bool scales)
{
	uint64_t line = wf_max_u64(cc->line_rate, 1);

	w->bytes = bytes;
	w->slack = slack;
	w->scales = scales;
	w->per_rate = bytes < line ? (uint64_t)(((wf_u128)bytes << 64) / line) : 0;
}

/*
 * Sets cc->window for cc->rate: bytes * rate / line rate, rounded down, at least 1; plus the slack.
 */
static inline void wf_cc_win_apply(const struct wf_cc_win *w, struct wf_cc *cc)
{
	uint64_t x = w->bytes;

	if (x == 0)
		return;
	if (w->scales) {
		uint64_t q = (uint64_t)(((wf_u128)cc->rate * w->per_rate) >> 64);

		/* per_rate was rounded down: q may be one too small. */
		if (wf_unlikely(w->per_rate == 0))
			q = wf_mul_div(x, cc->rate, cc->line_rate);
		else if (x * cc->rate - q * cc->line_rate >= cc->line_rate)
			q++;
		x = q == 0 ? 1 : q;
	}
	cc->window = x + w->slack;
}

/*
 * Copies param, of ops->param_size bytes, to *p; NULL: the defaults. The tables are constants that
 * a test walks, so their defaults parse.
 */
void wf_cc_param_copy(const struct wf_cc_ops *ops, const void *param, void *p);

#endif
