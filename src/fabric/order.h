/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - times in whole nanoseconds, with the order of what happens in the same one.
 *
 * A simulator with one queue of events runs those of the same time in the order in which they were
 * scheduled: by the time of the event that scheduled them, then by the time of the one that scheduled
 * that, and so on. Here nodes run by themselves, so a driver that has to have the same order
 * (fabric->order_bits) puts it into the time itself:
 *
 *	| ns since the start | how long ago it was scheduled | its cause | its cause's cause | rank |
 *
 * "How long ago" is coded so that longer ago is less. Rank tells those apart that have no cause, and
 * is handed on from cause to effect. The more bits, the further back causes are told apart.
 */
#ifndef WF_FABRIC_ORDER_H
#define WF_FABRIC_ORDER_H

#include "base/base.h"

#define WF_ORDER_RANK 6  /* bits */
#define WF_ORDER_CAUSE 9 /* bits of each cause */
#define WF_ORDER_MIN (WF_ORDER_RANK + WF_ORDER_CAUSE)

/* How long ago, in ns, as nine bits: exact below 256 and from 1000 to 1127. */
static inline uint64_t wf_order_code(uint64_t ns)
{
	if (ns >= 1000)
		return 127 - wf_min_u64(ns - 1000, 127);
	if (ns >= 256)
		return 128 + 127 - (ns - 256) / 6;
	return 256 + 255 - ns;
}

/* The order bits of an event that is scheduled by the one that runs now, for ns later. */
static inline uint64_t wf_order_next(unsigned bits, wf_time now, uint64_t ns)
{
	uint64_t cause = (uint64_t)now & ((UINT64_C(1) << bits) - 1);
	uint64_t rank = cause & ((1u << WF_ORDER_RANK) - 1);
	uint64_t chain = wf_order_code(ns) << (bits - WF_ORDER_RANK - WF_ORDER_CAUSE);

	chain |= cause >> (WF_ORDER_RANK + WF_ORDER_CAUSE);
	return chain << WF_ORDER_RANK | rank;
}

/* That of an event without cause: behind all that was scheduled before its time. */
static inline uint64_t wf_order_first(unsigned bits, uint32_t rank)
{
	return ((UINT64_C(1) << bits) - 1) - ((1u << WF_ORDER_RANK) - 1) +
	       (rank & ((1u << WF_ORDER_RANK) - 1));
}

/* The time ns later than now, with its order. */
static inline wf_time wf_order_after(unsigned bits, wf_time now, uint64_t ns)
{
	return (wf_time)((((uint64_t)now >> bits) + ns) << bits | wf_order_next(bits, now, ns));
}

#endif
