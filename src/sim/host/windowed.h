/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windowed.h - a host with a simple windowed sender and receiver on one port.
 *
 * Each flow sends its packets in order, at most a window of them unacknowledged; flows of a host
 * take turns packet by packet. The receiver acknowledges every few packets. When the fabric keeps
 * order, a gap is a loss and draws one NAK, from which the sender goes back; when it does not, the
 * receiver remembers what came early, and only the timeout finds losses. There is no congestion
 * control: the window is all.
 */
#ifndef WF_SIM_HOST_WINDOWED_H
#define WF_SIM_HOST_WINDOWED_H

#include "fabric/endpoint.h"
#include "sim/host/counts.h"
#include "sim/traffic/traffic.h"

#define WF_FLOW_NONE UINT32_MAX

/* The sending side of a flow; only its source host touches it. */
struct wf_flow_tx {
	wf_time start;    /* first packet may leave */
	wf_time deadline; /* resend what is not acknowledged by then */
	uint64_t bytes;
	uint32_t dst; /* host */
	uint32_t rx;  /* its receiving side */
	uint32_t n_packets;
	uint32_t next;    /* packet number to send next */
	uint32_t acked;   /* all before are acknowledged */
	uint32_t highest; /* one after the highest ever sent */
	uint32_t ring;    /* next flow in the ring of those that can send */
	uint16_t entropy;
	uint8_t cls;
	bool in_ring;
	uint32_t spec; /* number in the caller's list */
};

/* The receiving side; only its destination host touches it. */
struct wf_flow_rx {
	wf_time posted;  /* flow start, as specified */
	wf_time done;    /* last byte delivered; WF_TIME_NEVER before */
	uint64_t *early; /* bit per packet after expected that came already; NULL: none can */
	uint32_t src;    /* host */
	uint32_t tx;     /* its sending side */
	uint32_t n_packets;
	uint32_t expected; /* next in order */
	uint32_t answered; /* expected, in the last answer */
	uint32_t ack_next; /* next flow in the list of those that owe an answer */
	uint16_t entropy;
	uint8_t cls;
	bool owes_ack;
	bool owes_nak;
	bool nak_sent; /* for this expected: once is enough */
	uint8_t pad[2];
};

/* What all hosts of a simulation share. */
struct wf_host_env {
	const struct wf_fabric *fabric;
	struct wf_flow_tx *tx;
	struct wf_flow_rx *rx;
	uint32_t window;     /* packets */
	uint32_t early_bits; /* a power of two >= window; 0: the fabric keeps order */
	uint32_t ack_every;
	wf_time timeout;
};

/*
 * Creates host number host of the topology, in a shard, which sends flows first_tx .. + n_tx of
 * env->tx (sorted by start) . env is borrowed. Returns NULL when there is no more memory.
 */
struct wf_device *wf_host_create(struct wf_shard *shard, const struct wf_host_env *env,
                                 uint32_t host, uint32_t first_tx, uint32_t n_tx) WF_MUST_USE;

#endif
