/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - what is counted of programs and hosts, and how it is told.
 */
#ifndef WF_LIVE_STATS_H
#define WF_LIVE_STATS_H

#include <stdatomic.h>
#include <stdint.h>

#include "live/table.h"
#include "rdma/counter.h"

/*
 * One program, in the file that answers WF_LIVE_STATUS. Slot 0 is a host: all its programs, those
 * that have ended included. Hosts come first, in their order.
 */
struct wf_live_status {
	uint32_t host, slot;
	int32_t pid;
	uint32_t qps;
	uint32_t listens; /* services of communication management that it listens for */
	char program[WF_LIVE_NAME];
	uint64_t tx_packets, tx_bytes, rx_packets, rx_bytes;
	uint64_t retransmits, dropped;
	uint64_t lost, icrc_errors;
	uint64_t late_packets, late_ns;
};

/* What is counted of a program or a host: an adapter's counters, and these. */
enum wf_live_count {
	WF_LIVE_TX_OCTETS = WF_COUNTERS, /* bytes on the link, headers included */
	WF_LIVE_RX_OCTETS,
	WF_LIVE_DROPPED,      /* packets that could not be sent, or not be let in */
	WF_LIVE_LOST,         /* packets, on the way here, by a link that loses some */
	WF_LIVE_ICRC_ERRORS,  /* packets that came corrupted: discarded */
	WF_LIVE_LINK_DOWNED,  /* times that the host's link went down */
	WF_LIVE_LATE_PACKETS, /* packets of a model that goes by the clock, by which was counted: */
	WF_LIVE_LATE_NS,      /* how long after they were due the program took them in, their sum */
	/* Of a host on the wire. */
	WF_LIVE_WIRE_TX_PACKETS,
	WF_LIVE_WIRE_TX_ERRORS, /* could not be sent, or were not allowed */
	WF_LIVE_WIRE_RX_PACKETS,
	WF_LIVE_WIRE_RX_MALFORMED, /* no RoCE v2 */
	WF_LIVE_WIRE_RX_REFUSED,   /* nobody has that queue pair, or not for that sender */
	WF_LIVE_WIRE_RX_NO_ROOM,   /* the program has not taken in what came before */
	WF_LIVE_WIRE_RX_OVERFLOW,  /* the daemon has not: the socket's buffer was full */
	WF_LIVE_COUNTS
};

/* What a program tells of itself: memory that it writes and the daemon reads. */
struct wf_live_stats {
	_Atomic uint32_t qps;
	_Atomic uint64_t count[WF_LIVE_COUNTS];
};

#endif
