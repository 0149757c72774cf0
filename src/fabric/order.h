/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - times in whole nanoseconds, with the order of what happens in the same one.
 *
 * A simulator with one queue of events runs those of the same time in the order in which they were
 * scheduled: by the time of the event that scheduled them, then by the time of the one that scheduled
 * that, and so on. Here nodes run by themselves, so a driver that has to have the same order
 * (fabric->order_bits) puts it into the time itself:
 *
 *	| ns since the start | how long ago it was scheduled | its cause | its cause's ... | run | rank |
 *
 * "How long ago" is coded so that longer ago is less. What is too far back to be told is mostly more
 * of the same, one packet behind the other. So run counts for how long it has been the same: where
 * that ended with a longer time it is the smaller the more recent that is, where with a shorter time
 * the larger, and halfway where it has always been. Rank tells those apart that have no cause, and is
 * handed on from cause to effect. The more bits, the further back causes are told.
 */
#ifndef WF_FABRIC_ORDER_H
#define WF_FABRIC_ORDER_H

#include "base/base.h"

#define WF_ORDER_RANK 4  /* bits */
#define WF_ORDER_RUN 9   /* bits */
#define WF_ORDER_CAUSE 8 /* bits of each cause */
#define WF_ORDER_REST (WF_ORDER_RANK + WF_ORDER_RUN)
#define WF_ORDER_MIN (WF_ORDER_REST + WF_ORDER_CAUSE)

/* How long ago, in ns: exact below 208, in eights from 1000 on. */
static inline uint64_t wf_order_code(uint64_t ns)
{
	if (ns >= 1000)
		return 15 - wf_min_u64((ns - 1000) / 8, 15);
	if (ns >= 208)
		return 16 + 31 - (ns - 208) / 25;
	return 48 + 207 - ns;
}

/* The run after cause last is pushed out of the chain by next, which is now the oldest in it. */
static inline uint64_t wf_order_run(uint64_t run, uint64_t last, uint64_t next)
{
	const uint64_t always = UINT64_C(1) << (WF_ORDER_RUN - 1);

	if (last != next)
		return last < next ? 0 : 2 * always - 1;
	return run < always ? run + 1 : run > always ? run - 1 : run;
}

/* The order bits of an event that is scheduled by the one that runs now, for ns later. */
static inline uint64_t wf_order_next(unsigned bits, wf_time now, uint64_t ns)
{
	unsigned levels = (bits - WF_ORDER_REST) / WF_ORDER_CAUSE;
	uint64_t cause = (uint64_t)now & ((UINT64_C(1) << bits) - 1);
	uint64_t rank = cause & ((1u << WF_ORDER_RANK) - 1);
	uint64_t run = cause >> WF_ORDER_RANK & ((1u << WF_ORDER_RUN) - 1);
	uint64_t chain = cause >> WF_ORDER_REST;
	uint64_t last = chain & ((1u << WF_ORDER_CAUSE) - 1);

	chain = chain >> WF_ORDER_CAUSE | wf_order_code(ns) << (levels - 1) * WF_ORDER_CAUSE;
	run = wf_order_run(run, last, chain & ((1u << WF_ORDER_CAUSE) - 1));
	return (chain << WF_ORDER_RUN | run) << WF_ORDER_RANK | rank;
}

/* That of an event without cause: behind all that was scheduled before its time. */
static inline uint64_t wf_order_first(unsigned bits, uint32_t rank)
{
	unsigned levels = (bits - WF_ORDER_REST) / WF_ORDER_CAUSE;
	uint64_t chain = (UINT64_C(1) << levels * WF_ORDER_CAUSE) - 1;

	return (chain << WF_ORDER_RUN | UINT64_C(1) << (WF_ORDER_RUN - 1)) << WF_ORDER_RANK |
	       wf_min_u64(rank, (1u << WF_ORDER_RANK) - 1);
}

/* The time ns later than now, with its order. */
static inline wf_time wf_order_after(unsigned bits, wf_time now, uint64_t ns)
{
	return (wf_time)((((uint64_t)now >> bits) + ns) << bits | wf_order_next(bits, now, ns));
}

#endif
