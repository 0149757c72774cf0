/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - the numbers by which things of a live fabric are known.
 *
 *	host   0 .. n_hosts-1, in the order of the table
 *	slot   which of a host's programs, 1 .. WF_LIVE_SLOTS-1; its queue pairs have the numbers
 *	       slot << WF_LIVE_QPN_BITS | 2 .. , so a queue pair's number says whose it is
 *	group  a multicast group: WF_LIVE_GROUP | number, in struct wf_packet.dst
 *	remote an address outside of the fabric: WF_LIVE_REMOTE | the daemon's number for it
 *	model  in place of a host: the modelled fabric between the hosts, the daemon's (model.h)
 *
 * Slots go round, so that the number of a program that ended is not soon another's.
 */
#ifndef WF_LIVE_NUMBER_H
#define WF_LIVE_NUMBER_H

#include <assert.h>
#include <stdint.h>

#define WF_LIVE_QPN_BITS 14
#define WF_LIVE_SLOTS (UINT32_C(1) << (24 - WF_LIVE_QPN_BITS))
#define WF_LIVE_SRQN_BITS 6 /* of 16, for shared receive queues of XRC: the others are the slot */
#define WF_LIVE_GROUP UINT32_C(0x80000000)
#define WF_LIVE_REMOTE UINT32_C(0x40000000)
#define WF_LIVE_MODEL UINT32_C(0x20000000)
#define WF_LIVE_MAX_HOSTS 4096
#define WF_LIVE_HOST_BITS 12
#define WF_LIVE_REMOTE_BITS 16 /* of a remote's number: its place; */
#define WF_LIVE_TURN_BITS 13   /* how often that was another's before */
#define WF_LIVE_REMOTES (UINT32_C(1) << WF_LIVE_REMOTE_BITS)
#define WF_LIVE_REMOTE_NUMBERS (UINT32_C(1) << (WF_LIVE_REMOTE_BITS + WF_LIVE_TURN_BITS))

_Static_assert(WF_LIVE_SLOTS << WF_LIVE_SRQN_BITS <= 1u << 16, "they fit");
_Static_assert(WF_LIVE_MAX_HOSTS == UINT32_C(1) << WF_LIVE_HOST_BITS, "a host has so many bits");
_Static_assert(WF_LIVE_SLOTS <= UINT32_C(1) << (32 - WF_LIVE_HOST_BITS), "a program is one number");
_Static_assert(WF_LIVE_REMOTE_NUMBERS <= WF_LIVE_MODEL && WF_LIVE_MAX_HOSTS <= WF_LIVE_MODEL,
               "what a number names is seen by its upper bits");

static inline uint32_t wf_live_slot(uint32_t qpn)
{
	return qpn >> WF_LIVE_QPN_BITS;
}

/*
 * A program in one number. In a ring to the model, the payload field of a packet for queue pair 1
 * or a group says whose it is; in one from it, src says who sent a packet.
 */
static inline uint32_t wf_live_program(uint32_t host, uint32_t slot)
{
	return slot << WF_LIVE_HOST_BITS | host;
}

static inline uint32_t wf_live_program_host(uint32_t program)
{
	return program & (WF_LIVE_MAX_HOSTS - 1);
}

static inline uint32_t wf_live_program_slot(uint32_t program)
{
	return program >> WF_LIVE_HOST_BITS;
}

#endif
