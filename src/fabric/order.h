/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - times in whole nanoseconds, with the order of what happens in the same one.
 *
 * A simulator with one queue of events runs those of the same time in the order in which they were
 * scheduled: by the time of the event that scheduled them, then by the time of the one that scheduled
 * that, and so on. Here nodes run by themselves, so a driver that has to have the same order
 * (fabric->order) puts it into the time itself:
 *
 *	| ns since the start | how long ago it was scheduled | the same of its cause | ... | rank |
 *
 * "How long ago" is coded so that longer ago is less, in as few bits as it takes:
 *
 *	00, 10 bits	a timer that ran for longer than packets travel
 *	01, 2 bits	a packet arrives; the longer it took on the wire, the less (where links are
 *			not all of the same delay, that comes before, in delay_bits more)
 *	10, 10 bits	a timer that ran for 128 ns or more
 *	110, 6 bits	for 64 to 127 ns
 *	111, 6 bits	for less
 *
 * Behind each comes for how many causes before it has been the same (one packet behind the other,
 * mostly, or one hop behind the other), and whether what was before them was longer ago: 00, longer and at once; 01 and 8 bits,
 * after so many; 10 and 8 bits, shorter, after so many, the more the less; 11 shorter and at once.
 *
 * As many causes are told as there are bits for. Rank tells those apart that have no cause, and is
 * handed on from cause to effect.
 */
#ifndef WF_FABRIC_ORDER_H
#define WF_FABRIC_ORDER_H

#include "base/base.h"

#define WF_ORDER_RANK 4   /* bits */
#define WF_ORDER_PACKET 4 /* bits */
#define WF_ORDER_RUN 8    /* bits, and two before them */
#define WF_ORDER_DELAYS 4 /* bits */
#define WF_ORDER_MIN (WF_ORDER_RANK + 12 + 2 + WF_ORDER_RUN)

/* What all orders of a driver share. */
struct wf_order {
	uint8_t bits;       /* of the order in a time; 0: there is none, times are ps */
	uint8_t delay_bits; /* that tell delays of links apart, WF_ORDER_DELAYS at most */
	uint32_t travel;    /* ns a packet takes from node to node, about */
};

/* A time of up to 1023 as ten bits: exact below 768, then in steps of 32. */
static inline uint64_t wf_order_long(uint64_t ns)
{
	return 1023 - (ns < 768 ? ns : 768 + wf_min_u64((ns - 768) / 32, 255));
}

/* The code of a timer of ns, and its length in bits. */
static inline unsigned wf_order_code(const struct wf_order *order, uint64_t ns, uint64_t *code)
{
	if (ns < 64) {
		*code = 7u << 6 | (63 - ns);
		return 9;
	}
	if (ns < 128) {
		*code = 6u << 6 | (127 - ns);
		return 9;
	}
	if (ns < order->travel)
		*code = 2u << 10 | wf_order_long(ns - 128);
	else
		*code = wf_order_long(ns - order->travel);
	return 12;
}

/* The code of a packet that takes ns on the wire, on a link of that rank; 0: of the longest delay. */
static inline uint64_t wf_order_packet(const struct wf_order *order, uint64_t ns, uint32_t rank)
{
	return (1u << order->delay_bits | rank) << 2 | (ns >= 64   ? 0u
	                                                : ns >= 16 ? 1u
	                                                : ns >= 2  ? 2u
	                                                           : 3u);
}

/* The same cause once more: run is what is behind its code, of width bits. */
static inline uint64_t wf_order_add_same(uint64_t run, unsigned width)
{
	const uint64_t most = (UINT64_C(1) << WF_ORDER_RUN) - 1;
	uint64_t rest = run & ((UINT64_C(1) << (width - 2)) - 1);
	unsigned low = width - 2 - WF_ORDER_RUN;

	switch (run >> (width - 2)) {
	case 0:
		return (UINT64_C(1) << WF_ORDER_RUN | 1) << low | rest >> WF_ORDER_RUN;
	case 1:
		return rest >> low < most ? run + (UINT64_C(1) << low) : run;
	case 2:
		return rest >> low > 0 ? run - (UINT64_C(1) << low) : run;
	default:
		return (UINT64_C(2) << WF_ORDER_RUN | (most - 1)) << low | rest >> WF_ORDER_RUN;
	}
}

/* A chain of causes, of width bits, behind one more, whose code has len bits. */
static inline uint64_t wf_order_add(uint64_t chain, unsigned width, uint64_t code, unsigned len)
{
	unsigned left = width - len;
	uint64_t last = chain >> left;

	if (last == code)
		return code << left | wf_order_add_same(chain & ((UINT64_C(1) << left) - 1), left);
	return code << left | (last < code ? UINT64_C(0) : UINT64_C(3)) << (left - 2) |
	       chain >> (len + 2);
}

/* The time of an event without cause: behind all that was scheduled before its time. */
static inline wf_time wf_order_first(const struct wf_order *order, uint64_t ns, uint32_t rank)
{
	const uint64_t ranks = UINT64_C(1) << WF_ORDER_RANK;
	uint64_t last = (UINT64_C(1) << order->bits) - ranks;

	return (wf_time)(ns << order->bits | (last + wf_min_u64(rank, ranks - 1)));
}

/* The parts of a time. */
static inline uint64_t wf_order_chain(unsigned bits, wf_time now)
{
	return ((uint64_t)now & ((UINT64_C(1) << bits) - 1)) >> WF_ORDER_RANK;
}

static inline wf_time wf_order_time(unsigned bits, wf_time now, uint64_t ns, uint64_t chain)
{
	uint64_t rank = (uint64_t)now & ((1u << WF_ORDER_RANK) - 1);

	return (wf_time)((((uint64_t)now >> bits) + ns) << bits | chain << WF_ORDER_RANK | rank);
}

/* The time at which a timer that is set now for ns later is due, with its order. */
static inline wf_time wf_order_after(const struct wf_order *order, wf_time now, uint64_t ns)
{
	unsigned bits = order->bits;
	uint64_t code;
	unsigned len = wf_order_code(order, ns, &code);

	return wf_order_time(
		bits, now, ns,
		wf_order_add(wf_order_chain(bits, now), bits - WF_ORDER_RANK, code, len));
}

/*
 * The time at which a packet arrives that is sent now, after wire and delay, with its order. rank is
 * that of the link's delay among all, of delay_bits.
 */
static inline wf_time wf_order_arrival(const struct wf_order *order, wf_time now, uint64_t wire,
                                       uint64_t delay, uint32_t rank)
{
	unsigned bits = order->bits;

	return wf_order_time(bits, now, wire + delay,
	                     wf_order_add(wf_order_chain(bits, now), bits - WF_ORDER_RANK,
	                                  wf_order_packet(order, wire, rank),
	                                  WF_ORDER_PACKET + order->delay_bits));
}

#endif
