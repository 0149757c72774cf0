/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic_priv.h - the inside of a program's adapter.
 */
#ifndef WF_LIVE_NIC_PRIV_H
#define WF_LIVE_NIC_PRIV_H

#include <pthread.h>

#include "live/pipe.h"
#include "live/nic.h"
#include "live/nic_drive.h"
#include "live/nic_peer.h"

#define WF_NIC_QPS ((UINT32_C(1) << WF_LIVE_QPN_BITS) - 2)

struct wf_nic_group {
	uint8_t gid[16];
	uint32_t number;
	uint32_t joined; /* queue pairs of this program in it */
	bool known;      /* the daemon tells who is in it */
	uint32_t n;
	struct {
		uint32_t host, slot;
	} port[WF_LIVE_GROUP_PORTS];
};

struct wf_nic {
	pthread_mutex_t lock;
	pthread_mutex_t asking; /* of whoever asks the daemon by sock: wf_nic_asking() */
	struct wf_hca *hca;
	struct wf_nic_cfg cfg;
	struct wf_live_table *table;
	struct wf_live_stats *stats;
	uint32_t host, slot;
	wf_time start; /* of its clock */
	int sock;      /* questions to the daemon */
	int events;    /* what it tells */
	int wake;      /* eventfd: wakes the service thread */
	bool orphan;   /* the daemon is gone: the device is dead */
	bool forked;
	bool active; /* the port, as its event said last */
	uint64_t dropped, tx_octets, rx_octets;
	uint32_t rounds;
	bool taken;      /* packets came whose room is not given back yet */
	uint32_t late;   /* rounds in a row in which timers waited for what has come already */
	uint32_t n_taps; /* captures that want copies of all packets */
	struct wf_nic_tap *taps[WF_LIVE_CAPTURES];
	uint64_t lost, icrc_errors;     /* by faults */
	uint64_t late_packets, late_ns; /* see enum wf_live_count */

	struct wf_nic_peer **peers;
	uint32_t n_peers, max_peers;
	struct wf_nic_peer *gone;   /* those that queue pairs are still bound to */
	bool reap;                  /* some of the peers are gone */
	uint32_t n_asked;           /* peers that are ASKED */
	wf_time asked;              /* when one was asked for last */
	struct wf_nic_peer *last;   /* found last */
	struct wf_nic_peer *sender; /* of the packet that came last by the model */
	struct wf_nic_peer *self;
	struct wf_nic_peer
		*model; /* the way to all other hosts; NULL: straight to their programs */
	struct wf_nic_remote {
		uint8_t gid[16];
		uint32_t number; /* 0: none yet. Its place may be another's by and by, */
		bool held;       /* but not when this program has asked for it */
	} * remotes;             /* addresses outside of the fabric, by place */
	uint32_t n_remotes;
	uint32_t ip_info; /* of the packet in hand, from the wire */
	struct wf_nic_peer
		*placed;        /* in whose ring wf_nic_place() found room for the packet in hand */
	struct wf_nic_gsi *gsi; /* NULL while the program has not asked for it */
	struct wf_nic_group **groups;
	uint32_t n_groups;
	uint32_t cookies; /* that joins of the host have had */
	uint32_t missed;  /* a group of whose members there was no memory to know; 0: none */
	struct wf_nic_bound *bound; /* queue pairs, by the lower bits of their numbers */

	/* Who moves it on: nic_drive.h. */
	pthread_t thread;
	bool stop;           /* the thread is to end */
	_Atomic bool ending; /* the process is, without having closed the adapter */
	bool locked;         /* somebody has the lock */
	wf_time clock;       /* the system's, when wf_nic_progress() was last called */
	struct wf_drive drive;
	char bounce[4096]; /* payload that has no place in a ring yet */
};

static inline struct wf_nic_bound *wf_nic_bound(const struct wf_nic *nic, uint32_t qpn)
{
	return &nic->bound[qpn & ((UINT32_C(1) << WF_LIVE_QPN_BITS) - 1)];
}

/* nic.c */

/* The system's clock. */
wf_time wf_nic_clock(void);

/* nic_fault.c */

enum wf_nic_verdict {
	WF_NIC_PASS,
	WF_NIC_WAIT,  /* not yet: peer->blocked says until when */
	WF_NIC_LOSE,  /* and counted */
	WF_NIC_SPOIL, /* it comes corrupted, to be discarded; and counted */
};

/* When a packet that is sent now was sent: goes into its src, where the receiver looks for it. */
static inline uint32_t wf_nic_stamp(const struct wf_nic *nic, wf_time now)
{
	return (uint32_t)((uint64_t)(now + nic->start) / WF_NS);
}

/*
 * What the faults of its way do to the next packet of a peer's ring, which was sent at stamp.
 * Called once for every packet as long as there are faults, and again for one that had to wait.
 */
enum wf_nic_verdict wf_nic_fault(struct wf_nic *nic, struct wf_nic_peer *peer, uint32_t stamp,
                                 wf_time now);

/* Whether faults may keep packets to a peer, or the answers, from coming before timeout. */
bool wf_nic_holds_up(const struct wf_nic *nic, const struct wf_nic_peer *peer, wf_time timeout);

/* Faults came or went: whoever waited looks again. */
void wf_nic_unblock(struct wf_nic *nic);

/* When the first packet may be taken that waits; WF_TIME_NEVER. */
wf_time wf_nic_blocked(const struct wf_nic *nic);

/* nic_tap.c */

/* A packet that is sent or was received, with its payload: a copy of it for each capture. */
void wf_nic_tap(struct wf_nic *nic, const struct wf_packet *pkt, const void *payload,
                uint32_t bytes, bool sent);

/*
 * Begins to feed a capture, through the tap in fd, which it closes; the capture with that number
 * ends.
 */
void wf_nic_tap_add(struct wf_nic *nic, uint32_t capture, uint32_t snaplen, int fd);
void wf_nic_tap_remove(struct wf_nic *nic, uint32_t capture); /* WF_LIVE_ALL: all of them */

/* nic_gsi.c */

/* When something is due: the transport's or communication management's. */
wf_time wf_nic_deadline(const struct wf_nic *nic);

/* Where a packet to queue pair 1 goes; NULL: there is no way. */
struct wf_nic_peer *wf_nic_gsi_way(struct wf_nic *nic, const struct wf_packet *pkt,
                                   const void *payload);
/* The daemon says who listens for a service on a host; slot 0: nobody. */
void wf_nic_gsi_found(struct wf_nic *nic, uint32_t host, uint64_t service, uint32_t slot);
/* The daemon is gone. */
void wf_nic_gsi_orphan(struct wf_nic *nic);
bool wf_nic_gsi_may_receive(const struct wf_nic *nic, const struct wf_packet *pkt);
/*
 * Something came for queue pair 1, by the ring of from. Whose the message is, is looked up in the
 * copy of it: what is in the ring may still change.
 */
void wf_nic_gsi_receive(struct wf_nic *nic, const struct wf_nic_peer *from, wf_time now);
/* Runs timers and posts what is to be sent; gsi is not NULL. */
void wf_nic_gsi_progress(struct wf_nic *nic, wf_time now);
bool wf_nic_gsi_pending(const struct wf_nic *nic);
void wf_nic_gsi_gone(struct wf_nic *nic, uint32_t host, uint32_t slot);
void wf_nic_gsi_close(struct wf_nic *nic);

/* nic_io.c */

/* Receives, sends, runs timers, tells of completions. Returns how much there was to do. */
unsigned wf_nic_progress(struct wf_nic *nic);

/* Tells the program of completions that it has asked for, and of events. */
void wf_nic_tell(struct wf_nic *nic);

/* Where payload goes: straight into the ring. */
void *wf_nic_place(void *arg, const struct wf_packet *pkt);

/*
 * Whether the queue pair's peer has not taken in yet what was sent to it; see wf_hca_underway_fn.
 */
bool wf_nic_underway(void *arg, const struct wf_qp *qp, wf_time timeout);

/* Hands a packet on to the program of this host whose queue it is for; see wf_hca_forward_fn. */
enum wf_forward wf_nic_forward(void *arg, struct wf_qp *qp, const struct wf_packet *pkt,
                               const void *payload);

/* Takes in all that a peer has sent; for one that is gone. */
void wf_nic_drain(struct wf_nic *nic, struct wf_nic_peer *peer);

/*
 * Wakes the peers that have not taken in what was sent to them, although they seemed to be awake.
 */
void wf_nic_nudge(struct wf_nic *nic);

/* Tells the daemon what was counted. */
void wf_nic_publish(struct wf_nic *nic);

/*
 * Asks all peers whose rings are full to wake the thread when there is room. Returns whether there
 * is some already.
 */
bool wf_nic_ask_for_room(struct wf_nic *nic);

/* Whether anything waits in a ring. */
bool wf_nic_pending(const struct wf_nic *nic);

#endif
