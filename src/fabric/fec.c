/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fec.c - codes, and their binomial tails in integers.
 *
 * A symbol of m bits is wrong with s = 1 - (1 - p)^m, a codeword of n symbols has i wrong ones with
 * C(n, i) s^i (1 - s)^(n - i), and one with more than t is given up. (A decoder takes one in t! of
 * those for another codeword; that is left out.) All terms are positive and are added up from the
 * smallest index on, so each result is right to about 2^-50 of itself, however small it is.
 */
#include "fabric/fec.h"

#include <assert.h>
#include <string.h>

#define UNITS UINT64_C(1000000000000000000) /* raw bit errors are per so many bits */

/*
 * Limits. IEEE 802.3: 10^-12 without FEC and 10^-8 with BASE-R FEC (802.3by), 5 x 10^-5 with
 * RS(528,514) (802.3bm), 2.4 x 10^-4 with RS(544,514) (802.3bs, 802.3cd). RS(272,257): where it
 * loses as many frames as RS(544,514) does at its limit.
 */
const struct wf_fec_code wf_fec_codes[] = {
	{ "none", "no FEC", 0, 0, 0, 0, 1, 1000000 },
	{ "firecode", "BASE-R FEC (2112,2080)", 2112, 1, 11, 256, 1, UNITS / 100000000 },
	{ "rs528", "RS(528,514)", 528, 10, 7, 640, 1, UNITS / 100000 * 5 },
	{ "rs544", "RS(544,514)", 544, 10, 15, 640, 1, UNITS / 100000 * 24 },
	{ "rs544x2", "RS(544,514) x 2", 544, 10, 15, 640, 2, UNITS / 100000 * 24 },
	{ "rs544x4", "RS(544,514) x 4", 544, 10, 15, 640, 4, UNITS / 100000 * 24 },
	{ "rs272", "RS(272,257)", 272, 10, 7, 320, 1, UNITS / 1000000 * 43 },
	{ "rs272x2", "RS(272,257) x 2", 272, 10, 7, 320, 2, UNITS / 1000000 * 43 },
	{ .name = NULL },
};

const struct wf_fec_code *wf_fec_find(const char *name)
{
	const struct wf_fec_code *code = wf_fec_codes;

	while (code->name != NULL && strcmp(code->name, name) != 0)
		code++;
	return code->name != NULL ? code : NULL;
}

/* ---- numbers that are not negative: m x 2^e, m at least 2^63 or 0 ---- */

struct real {
	uint64_t m;
	int e;
};

static struct real real_of(unsigned __int128 v, int e)
{
	if (v == 0)
		return (struct real){ 0, 0 };
	while (v >> 64 != 0) {
		v >>= 1;
		e++;
	}
	while (v >> 63 == 0) {
		v <<= 1;
		e--;
	}
	return (struct real){ (uint64_t)v, e };
}

static struct real mul(struct real a, struct real b)
{
	return real_of((unsigned __int128)a.m * b.m, a.e + b.e);
}

static struct real divide(struct real a, struct real b)
{
	assert(b.m != 0);
	return real_of(((unsigned __int128)a.m << 64) / b.m, a.e - 64 - b.e);
}

static struct real add(struct real a, struct real b)
{
	struct real large = a, small = b;

	if (a.m == 0)
		return b;
	if (b.m == 0)
		return a;
	if (a.e < b.e) {
		large = b;
		small = a;
	}
	if (large.e - small.e > 63)
		return large;
	/* With a few bits to spare below, so that sums of many small terms do not lose them. */
	return real_of(((unsigned __int128)large.m << 63) +
	                       ((unsigned __int128)small.m << (63 - (large.e - small.e))),
	               large.e - 63);
}

/* 1 - a, for a of at most 1. */
static struct real one_less(struct real a)
{
	const unsigned __int128 one = (unsigned __int128)1 << 126;
	int up = 126 + a.e;

	if (a.m == 0 || up < -63)
		return real_of(1, 0);
	return real_of(
		one - (up >= 0 ? (unsigned __int128)a.m << up : (unsigned __int128)a.m >> -up),
		-126);
}

static struct real power(struct real a, uint32_t n)
{
	struct real r = real_of(1, 0);

	for (; n != 0; n >>= 1) {
		if (n & 1)
			r = mul(r, a);
		a = mul(a, a);
	}
	return r;
}

/* In units of 2^-bits, cut off; at most UINT64_MAX. */
static uint64_t fixed(struct real a, int bits)
{
	int up = a.e + bits;

	if (a.m == 0 || up < -63)
		return 0;
	return up > 0 ? UINT64_MAX : a.m >> -up;
}

/* ---- one codeword ---- */

struct codeword {
	struct real lost, mended, symbols, flips;
};

/* Independent errors in symbols of several bits: Reed and Solomon's codes. */
static void reed_solomon(const struct wf_fec_code *code, struct real p, struct codeword *w)
{
	struct real q = one_less(p), sum = { 0, 0 }, s, ratio, term, at_least = real_of(1, 0);
	uint32_t n = code->symbols;

	/* s = 1 - q^m = p (1 + q + ... + q^(m-1)), and q_s = q^m */
	for (uint32_t i = 0; i < code->bits; i++) {
		sum = add(sum, at_least);
		at_least = mul(at_least, q);
	}
	s = mul(p, sum);
	ratio = divide(s, at_least);
	term = power(at_least, n);
	for (uint32_t i = 1; i <= n; i++) {
		term = divide(mul(mul(term, ratio), real_of(n - i + 1, 0)), real_of(i, 0));
		if (i > code->mends) {
			w->lost = add(w->lost, term);
		} else {
			w->mended = add(w->mended, term);
			w->symbols = add(w->symbols, mul(term, real_of(i, 0)));
		}
	}
	/* A wrong symbol has m p / s wrong bits. */
	w->flips = mul(w->symbols, divide(mul(p, real_of(code->bits, 0)), s));
}

/*
 * A burst of b bits is mended, from its first wrong bit to its last; a longer one is not. Of length
 * l there are n - l + 1 places, n - l bits besides are right, and those between the ends are
 * anything.
 */
static void fire(const struct wf_fec_code *code, struct real p, struct codeword *w)
{
	struct real q = one_less(p), right = real_of(1, 0), pp = mul(p, p);
	uint32_t n = code->symbols;

	/* From the longest burst, with no bit besides, to the shortest. */
	for (uint32_t l = n; l > 0; l--, right = mul(right, q)) {
		struct real chance =
			mul(mul(l > 1 ? pp : p, right), real_of((uint64_t)n - l + 1, 0));

		if (l > code->mends) {
			w->lost = add(w->lost, chance);
			continue;
		}
		w->mended = add(w->mended, chance);
		w->flips = add(w->flips,
		               mul(chance, l == 1 ? real_of(1, 0)
		                                  : add(real_of(2, 0), mul(p, real_of(l - 2, 0)))));
	}
	w->symbols = w->flips;
}

void wf_fec_compile(const struct wf_fec_code *code, uint64_t raw_ber, struct wf_fec *fec)
{
	struct codeword w = { .lost = { 0, 0 } };
	struct real p, group, alive = real_of(1, 0), lost = { 0, 0 };

	memset(fec, 0, sizeof(*fec));
	fec->code = code;
	if (code->symbols == 0 || raw_ber == 0)
		return;
	assert(raw_ber < UNITS);
	p = divide(real_of(raw_ber, 0), real_of(UNITS, 0));
	if (code->bits == 1)
		fire(code, p, &w);
	else
		reed_solomon(code, p, &w);
	fec->bytes = code->bytes * code->together;
	fec->mended = fixed(w.mended, 64);
	fec->symbols = fixed(w.symbols, 56);
	fec->flips = fixed(w.flips, 56);
	/* That one of n is lost: that the first is, or it is not and one of the others is. */
	group = w.lost;
	for (uint32_t i = 1; i < code->together; i++)
		group = add(w.lost, mul(one_less(w.lost), group));
	for (uint32_t i = 1; i < WF_FEC_SPAN; i++) {
		lost = add(lost, mul(alive, group));
		alive = mul(alive, one_less(group));
		fec->lost[i] = fixed(lost, 64);
	}
}
