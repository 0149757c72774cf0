/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic_peer.h - the programs that an adapter talks to, and what it asks the daemon about them.
 */
#ifndef WF_LIVE_NIC_PEER_H
#define WF_LIVE_NIC_PEER_H

#include <stdbool.h>

#include "live/pipe.h"
#include "live/proto.h"

struct wf_nic;

/* A packet that found its ring full. */
struct wf_nic_staged {
	struct wf_nic_staged *next;
	struct wf_packet pkt;
	uint32_t bytes;
	char payload[];
};

/*
 * What there is between this program and another.
 *
 *	        a packet for it: the daemon         the daemon gives a link, as the other program
 *	        is asked                            or this one has asked for it
 *	ABSENT -----------------------------> ASKED ------------------------------------> LINKED
 *	  ^  |                                 |                                             |
 *	  |  +---the other program asks--------|--------------------------------> LINKED     |
 *	  +------the daemon says no, or ends---+                                   it ends   v
 *	                                                                                   GONE
 *
 * A link for which the other program had no memory is ABSENT again, on both sides (UNLINK).
 *
 * ABSENT  there is no link; the daemon is asked again after a while.
 * ASKED   packets for it wait as for a full ring.
 * LINKED  there is a pipe.
 * GONE    it has ended, and stays as long as queue pairs are bound to it: another program with its
 *         slot is another peer.
 */
enum wf_nic_link { WF_NIC_ABSENT, WF_NIC_ASKED, WF_NIC_LINKED, WF_NIC_GONE };

/* Another program, or this one itself. */
struct wf_nic_peer {
	struct wf_pipe pipe; /* LINKED */
	uint32_t host, slot;
	enum wf_nic_link link;
	uint32_t bound; /* queue pairs that are */
	bool touched;   /* something was written since it was last woken */
	bool told;      /* that it has to wake this program's thread */
	bool watched;   /* it was not woken, and has to show that it takes in what was sent */
	wf_time sent;   /* watched: when */
	struct wf_nic_peer *next; /* GONE: in the list of them */
	/* What is next in its ring may not be taken before; WF_TIME_NEVER: paused. */
	wf_time blocked;
	uint64_t draws; /* packets of it that faults were asked about */
	bool full;     /* packets are staged, and queue pairs held, until there is room or a link */
	bool waits;    /* full: it was asked for room, and wakes this program when there is some */
	wf_time tried; /* ABSENT: when the daemon was last asked; WF_TIME_NEVER: not again */
	struct wf_nic_staged *staged, **staged_tail;
	uint32_t *held; /* numbers of the queue pairs that are held */
	uint32_t n_held, max_held;
};

/* What a connected queue pair has to do with its peer. */
struct wf_nic_bound {
	struct wf_nic_peer *peer; /* whose packets it takes; NULL: anybody's */
	uint64_t sent;            /* where the last packet to it ends in the ring */
};

static inline bool wf_nic_is_linked(const struct wf_nic_peer *peer)
{
	return peer->link == WF_NIC_LINKED;
}

/* The peer of a queue pair number on a host; asks for the link. NULL: no memory. */
struct wf_nic_peer *wf_nic_peer(struct wf_nic *nic, uint32_t host, uint32_t slot);

/* Takes in what the daemon tells. */
void wf_nic_events(struct wf_nic *nic);

/* Nothing is staged for it: the queue pairs that were held for it go on. */
void wf_nic_unhold(struct wf_nic *nic, struct wf_nic_peer *peer);

/*
 * The link is of no use any more: its peer is gone. Others are not moved in the list of peers. If
 * it is the model, the device is gone, as with the daemon.
 */
void wf_nic_peer_break(struct wf_nic *nic, struct wf_nic_peer *peer);

/*
 * Remembers the address of a number, which came with a packet, or (held) by asking for it. Returns
 * 0 or -errno.
 */
int wf_nic_know_remote(struct wf_nic *nic, uint32_t number, const uint8_t gid[16],
                       bool held) WF_MUST_USE;

/* The link to it leads to all that are outside. */
static inline bool wf_nic_is_wire(const struct wf_nic_peer *peer)
{
	return peer->host == WF_LIVE_REMOTE;
}

/* The link to it leads to the modelled fabric. */
static inline bool wf_nic_is_model(const struct wf_nic_peer *peer)
{
	return peer->host == WF_LIVE_MODEL;
}

/* Makes the link to the modelled fabric. Lets go of the lock. Returns 0 or -errno. */
int wf_nic_open_model(struct wf_nic *nic) WF_MUST_USE;

/* The program that sent a packet which came by the model; NULL: no memory. */
struct wf_nic_peer *wf_nic_sender(struct wf_nic *nic, uint32_t program);

/* A queue pair is bound to peer in place of the one before; either may be NULL. */
void wf_nic_set_bound(struct wf_nic *nic, struct wf_nic_bound *bound, struct wf_nic_peer *peer);

/* Frees those that are gone, unless a queue pair is bound to them. */
void wf_nic_reap(struct wf_nic *nic);

struct wf_nic_group *wf_nic_group(struct wf_nic *nic, uint32_t number);

/*
 * Asks the daemon something that an event will answer. Returns 0 or -errno; -EAGAIN: it has too
 * much to read already.
 */
int wf_nic_murmur(struct wf_nic *nic, struct wf_live_req *req) WF_MUST_USE;

/*
 * Around whatever asks the daemon and waits: one thread at a time does, from the first look at what
 * it asks for to the last use of the answer. Who asks has nic->asking, which is taken before the
 * lock; the lock is let go for that, and while an answer is awaited. So the calls that ask never
 * see each other half done, but what packets and events change may be another afterwards: peers may
 * be gone, links made, the daemon dead.
 */
void wf_nic_asking(struct wf_nic *nic);
void wf_nic_asked(struct wf_nic *nic);

/*
 * Asks the daemon, and waits for the answer; between the two. Not for what packets and events bring
 * about, which must not wait: see wf_nic_murmur(). Returns 0 or -errno (-ENODEV: there is no
 * daemon); the caller owns fds.
 */
int wf_nic_ask(struct wf_nic *nic, struct wf_live_req *req, struct wf_live_reply *reply,
               int fds[WF_LIVE_MAX_FDS]) WF_MUST_USE;

#endif
