/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate.h - how long bytes take at a rate: the one place that says which rates there can be.
 *
 * A rate is kept as picoseconds per byte in fixed point, with WF_RATE_SHIFT binary places, so that
 * the time of a packet is a product. Between WF_RATE_MIN and WF_RATE_MAX that number has at least
 * 20 bits, so that it is right within 1e-6, and its product with the bytes of any packet fits 64
 * bits. It is rounded up: what takes a whole number of picoseconds comes out whole, and everything
 * else is cut off to the picosecond below. Faster than that, the smallest packets would take no
 * time at all.
 */
#ifndef WF_BASE_RATE_H
#define WF_BASE_RATE_H

#include "base/base.h"

#define WF_RATE_MIN INT64_C(1000000)        /* bits/s */
#define WF_RATE_MAX INT64_C(10000000000000) /* bits/s */
#define WF_RATE_SHIFT 24
#define WF_RATE_BYTES (UINT32_C(1) << 17) /* wf_rate_time() is for fewer */

typedef uint64_t wf_ps_per_byte; /* in units of 2^-WF_RATE_SHIFT ps */

/* What a byte takes at rate, which lies between WF_RATE_MIN and WF_RATE_MAX. */
static inline wf_ps_per_byte wf_rate_per_byte(uint64_t rate)
{
	const unsigned __int128 bit = (unsigned __int128)WF_S << (WF_RATE_SHIFT + 3);

	assert(rate >= (uint64_t)WF_RATE_MIN && rate <= (uint64_t)WF_RATE_MAX);
	return (wf_ps_per_byte)((bit + rate - 1) / rate);
}

/* The time of a packet: of fewer than WF_RATE_BYTES bytes. */
static inline wf_time wf_rate_time(wf_ps_per_byte per_byte, uint32_t bytes)
{
	assert(bytes < WF_RATE_BYTES);
	return (wf_time)((bytes * per_byte) >> WF_RATE_SHIFT);
}

/* The time of any number of bytes. */
static inline wf_time wf_rate_time_long(wf_ps_per_byte per_byte, uint64_t bytes)
{
	return wf_time_cap(((unsigned __int128)bytes * per_byte) >> WF_RATE_SHIFT);
}

/* The bytes that pass in a time. */
static inline uint64_t wf_rate_bytes(wf_ps_per_byte per_byte, wf_time time)
{
	return (uint64_t)(((unsigned __int128)(uint64_t)time << WF_RATE_SHIFT) / per_byte);
}

_Static_assert((8 * WF_S / WF_RATE_MIN << WF_RATE_SHIFT) <= (int64_t)(UINT64_MAX / WF_RATE_BYTES),
               "the slowest rate's product fits 64 bits");
_Static_assert((8 * WF_S << (WF_RATE_SHIFT - 8)) / WF_RATE_MAX >= (1 << 20) >> 8,
               "the fastest rate is right within 1e-6");

#endif
