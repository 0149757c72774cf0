/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - a host of the HPCC simulator (ns-3): a queue pair for each flow, on one port.
 *
 * The adapter sends acknowledgements first, then the queue pairs take turns, packet by packet:
 * each when its pace, its window and PFC allow. The receiver acknowledges every packet in order
 * and echoes its congestion mark and telemetry; a gap draws a NACK, at most one in nack_interval
 * for the same gap, from which the sender goes back. There is no timeout: a loss at the end is
 * for ever. Time is in whole nanoseconds, and events come in the order of ns3/order.h.
 */
#ifndef WF_NS3_HOST_H
#define WF_NS3_HOST_H

#include "cc/cc.h"
#include "fabric/endpoint.h"

/* A flow, as it is asked for. */
struct wf_ns3_flow {
	uint32_t src, dst;    /* hosts */
	uint32_t size;        /* payload bytes, at least 1 */
	uint16_t sport;       /* for hashing */
	uint8_t cls;          /* priority */
	wf_time start;        /* whole ns */
	const void *cc_param; /* of the algorithm; borrowed */
};

/* Its sending side; only its source touches it. */
struct wf_ns3_qp {
	struct wf_cc *cc;
	uint64_t snd_nxt, snd_una;
	uint64_t
		heard; /* the largest number that was acknowledged: snd_una, but for whole chunks */
	wf_time next_avail; /* whole ns: its pace */
	wf_time gap;        /* whole ns that the last packet takes at the rate now */
	wf_time end;        /* whole ns: the last acknowledgement came; WF_TIME_NEVER: not yet */
	uint32_t last_size; /* bytes on the wire of the last packet */
	uint32_t flow;
	const struct wf_ns3_flow *spec;
};

/* Its receiving side; only its destination touches it. */
struct wf_ns3_rx {
	uint64_t expected;
	uint64_t last_nack;
	wf_time nack_again; /* whole ns: the same NACK may be sent from then on */
};

/* What all hosts share. */
struct wf_ns3_env {
	const struct wf_fabric *fabric;
	const struct wf_cc_ops *cc;
	const struct wf_ns3_flow *flows;
	struct wf_ns3_qp **qp; /* by flow */
	struct wf_ns3_rx *rx;  /* by flow */
	uint32_t mtu;          /* payload bytes of a full packet */
	uint32_t header;       /* bytes around the payload */
	uint32_t ack_size;
	uint32_t ack_every; /* bytes: no acknowledgement before so many have come */
	uint32_t chunk;     /* bytes: ... but at each whole number of these */
	wf_time nack_interval;
	bool rate_bound;   /* queue pairs are paced at their rate; else at the line's */
	bool ack_first;    /* acknowledgements leave even when their class is paused */
	bool telemetry;    /* packets collect what switches say */
	bool back_to_zero; /* losses are repaired, and acknowledged, in whole chunks */
};

struct wf_ns3_host;

/*
 * Creates host number host of the topology, in a shard, with the sending sides of flows list[0..n).
 * env is borrowed. Returns NULL when there is no more memory.
 */
struct wf_device *wf_ns3_host_create(struct wf_shard *shard, const struct wf_ns3_env *env,
                                     uint32_t host, const uint32_t *list, uint32_t n) WF_MUST_USE;

/* The host that a device is. */
struct wf_ns3_host *wf_ns3_host_of(struct wf_device *dev);

/* A flow of the host begins to send. */
void wf_ns3_host_begin(struct wf_ns3_host *host, uint32_t flow, wf_time now);

#endif
