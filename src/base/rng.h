/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.h - counter-based random numbers.
 *
 * A draw is a pure function of (key, counter): no stream is shared, so the order in which threads
 * run entities cannot change what any of them draws. A key is made once per entity from the run's
 * seed, a domain (what the draws are for) and the entity's number. A draw is SplitMix64 (Steele,
 * Lea, Flood, OOPSLA 2014) started at the key.
 */
#ifndef WF_BASE_RNG_H
#define WF_BASE_RNG_H

#include <stdint.h>

static inline uint64_t wf_mix64(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	return x;
}

static inline uint64_t wf_rand_key(uint64_t seed, uint32_t domain, uint64_t entity)
{
	uint64_t k = wf_mix64(seed + UINT64_C(0x9e3779b97f4a7c15));

	k = wf_mix64(k ^ (uint64_t)domain * UINT64_C(0xd1b54a32d192ed03));
	return wf_mix64(k + entity * UINT64_C(0x9e3779b97f4a7c15));
}

/* 64 uniform bits. */
static inline uint64_t wf_rand64(uint64_t key, uint64_t counter)
{
	return wf_mix64(key + (counter + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* Uniform in [0, n), n >= 1, from 64 random bits; the bias is below n / 2^32. */
static inline uint32_t wf_rand_below(uint64_t bits, uint32_t n)
{
	return (uint32_t)(((bits >> 32) * n) >> 32);
}

/*
 * -ln(u), with 32 fraction bits, where u = (bits / 2 + 1) / 2^63 is uniform in (0, 1]: exponential,
 * with mean 1.
 */
uint64_t wf_rand_exp(uint64_t bits);

#endif
