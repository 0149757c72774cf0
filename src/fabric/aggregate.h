/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aggregate.h - the part of a switch that reduces.
 *
 *	                        last child's?
 *	from a child --> slot of (group, tree, number) --> unit --> to the parent, by one port
 *	                                                    | root
 *	from the parent ------------------------------------+-----> to all children
 *
 * A packet of a reduction (WF_PACKET_AGG) is consumed by each switch on its tree. What comes from
 * children is added up in a slot; when all of a number have come, one packet goes on. The unit
 * takes in what comes one after the other at its rate, a packet with its last bit, and a result
 * leaves its latency after the last contribution was taken in. What comes from the parent is copied
 * to the children as it comes.
 *
 * There are as many slots of a group and tree as may be under way: a host sends number k only when
 * it has the result of k less that many, so every switch is done with that one.
 *
 * Of such packets: qpn is the group's number (fabric/sharp.h), psn counts in its tree, opcode says
 * which tree and which way, and u.agg.sum stands for the data: it is added up where data would be,
 * so that whoever knows what was put in can check what comes out.
 */
#ifndef WF_FABRIC_AGGREGATE_H
#define WF_FABRIC_AGGREGATE_H

#include "fabric/fabric.h"
#include "fabric/sharp.h"
#include "wire/size.h"

/* What data of a length takes on the link, as a packet of a reduction. */
static inline uint16_t wf_agg_size(const struct wf_fabric *fabric, uint32_t length)
{
	return (uint16_t)(fabric->header + WF_SIZE_AGG + length + wf_size_pad(length));
}

/* opcode of such a packet. */
static inline uint8_t wf_agg_opcode(enum wf_sharp_kind kind, bool down)
{
	return (uint8_t)((unsigned)kind << 1 | (down ? 1u : 0u));
}

static inline enum wf_sharp_kind wf_agg_kind(const struct wf_packet *pkt)
{
	return (enum wf_sharp_kind)(pkt->opcode >> 1);
}

static inline bool wf_agg_is_down(const struct wf_packet *pkt)
{
	return (pkt->opcode & 1) != 0;
}

struct wf_switch;
struct wf_agg;

/*
 * Gives a switch of such a fabric its part in all trees; its node has a timer more, number slot.
 * Returns 0 or -ENOMEM.
 */
int wf_agg_create(struct wf_switch *sw, unsigned slot) WF_MUST_USE;

/* The number that a manager has for a group's tree of a kind. */
static inline uint16_t wf_agg_tree(uint32_t group, enum wf_sharp_kind kind)
{
	return (uint16_t)(group * WF_SHARP_KINDS + (unsigned)kind);
}

#define WF_AGG_GROUPS (UINT16_MAX / WF_SHARP_KINDS) /* that have numbers for their trees */

/*
 * In a managed fabric a switch is in a tree from when it is told so: with ports up (0 at the root)
 * and down, a bit for each, counted from 1. What is not the place that sharp.h has for it is none.
 * Other fabrics have all trees from the start.
 */
void wf_agg_set_tree(struct wf_switch *sw, uint16_t tree, bool on, unsigned up,
                     const uint8_t down[32]);

/* A packet of a reduction came in by port in; its credits have not been given back. */
void wf_agg_take(struct wf_switch *sw, struct wf_port *in, const struct wf_packet *pkt,
                 wf_time now);

/* The timer is due. */
void wf_agg_timer(struct wf_switch *sw, wf_time now);

/* The timer's number. */
unsigned wf_agg_slot(const struct wf_agg *agg);

#endif
