/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base.h - the few types that every layer shares.
 *
 * Time is a signed 64-bit count of picoseconds since the start of the run. One byte at 800 Gb/s
 * lasts 10 ps, so nanoseconds are too coarse, and a double loses determinism; 2^63 ps is 106 days.
 */
#ifndef WF_BASE_BASE_H
#define WF_BASE_BASE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t wf_time; /* picoseconds */

#define WF_TIME_NEVER INT64_MAX
#define WF_PS INT64_C(1)
#define WF_NS INT64_C(1000)
#define WF_US INT64_C(1000000)
#define WF_MS INT64_C(1000000000)
#define WF_S INT64_C(1000000000000)

/* Later than any run ends; a time of a run and two of these still add up. */
#define WF_TIME_FAR (INT64_C(1) << 61)

#define WF_CACHE_LINE 64

#define WF_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define WF_MUST_USE __attribute__((warn_unused_result))
#define WF_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/* A struct that may be read and written as another type. */
#define WF_MAY_ALIAS __attribute__((may_alias))
#define WF_ALIGNED(n) __attribute__((aligned(n)))
#define WF_ALWAYS_INLINE inline __attribute__((always_inline)) /* compiled for each user */
#define WF_SELDOM __attribute__((noinline))                    /* not compiled into any */
#define wf_likely(x) __builtin_expect(!!(x), 1)
#define wf_unlikely(x) __builtin_expect(!!(x), 0)
#define wf_container_of(ptr, type, member)                                                         \
	((type *)(uintptr_t)((const char *)(ptr)-offsetof(type, member)))

/* A time that was calculated in more bits, at most WF_TIME_FAR. */
static inline wf_time wf_time_cap(unsigned __int128 ps)
{
	return ps < (unsigned __int128)WF_TIME_FAR ? (wf_time)ps : WF_TIME_FAR;
}

/*
 * A value for a field that is narrower than the one it comes from. The range of what was read has
 * made sure that it fits; every parameter is run at both ends of its range (tests/whole).
 */
static inline uint8_t wf_narrow_u8(uint64_t x)
{
	assert(x <= UINT8_MAX);
	return (uint8_t)x;
}

static inline uint16_t wf_narrow_u16(uint64_t x)
{
	assert(x <= UINT16_MAX);
	return (uint16_t)x;
}

static inline uint32_t wf_narrow_u32(uint64_t x)
{
	assert(x <= UINT32_MAX);
	return (uint32_t)x;
}

static inline uint64_t wf_min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t wf_max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline wf_time wf_min_time(wf_time a, wf_time b)
{
	return a < b ? a : b;
}

static inline wf_time wf_max_time(wf_time a, wf_time b)
{
	return a > b ? a : b;
}

#endif
