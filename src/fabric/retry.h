/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry.h - links that send again what they lost: link.retry llr.
 *
 *	sender    P Q R S . . . | P Q R S      what is sent before the NACK comes is in vain
 *	               \       /
 *	receiver        P wrong: NACK, and all until P comes is thrown away
 *
 * Go-back-N over one link: order is kept and nothing is lost, at the price of a round trip of the
 * link each time, in which the wire carries nothing new. That is how it is done here as well: the
 * sender knows when it puts P on the wire whether it will come through, keeps its wire for P until
 * it does, and P arrives that much later, once. So no packet arrives sooner than the engine's
 * windows allow, and flow control sees each packet once.
 */
#ifndef WF_FABRIC_RETRY_H
#define WF_FABRIC_RETRY_H

#include "fabric/errors.h"
#include "fabric/fabric.h"

/* Of a port that sends. */
struct wf_retry {
	const struct wf_port *in; /* the other end, whose losses it knows */
	struct wf_burst burst;    /* the same that it sees */
	uint64_t rng_key;
	uint32_t rng_count;
	uint32_t max;  /* times that a packet is sent again */
	wf_time round; /* from the end of a packet to the beginning of what is sent again */
	wf_time taken; /* from its wire, in all */
	/* By queue: times that packets were sent again, and packets that the FEC gave up. */
	uint32_t again[WF_MAX_QUEUES], uncorrected[WF_MAX_QUEUES];
	/* What is not confirmed yet; room 0: no matter how much that is. */
	uint64_t room, used, largest;
	struct wf_retry_sent {
		wf_time until; /* when it is confirmed */
		uint32_t bytes;
	} * sent; /* a ring */
	uint32_t first, n, length;
};

/*
 * Has a link send again what it loses, or no more, as the setup of its port out says, which sends
 * to port in. While no node runs. Returns 0 or -ENOMEM.
 */
int wf_retry_set(struct wf_device *dev, struct wf_port *out, struct wf_port *in) WF_MUST_USE;

/*
 * The time by which pkt, whose cell is written and that takes the wire for time, comes later
 * because it is lost and sent again, as often as chance has it. After too often, or too long
 * (wf_fabric.retry_time), the cell is marked as lost.
 */
wf_time wf_retry_send(struct wf_device *dev, struct wf_port *port, const struct wf_packet *pkt,
                      wf_time time, wf_time now);

/* When the wire is free again for the next packet, after one of bytes that ends at end. */
wf_time wf_retry_wait(struct wf_retry *retry, const struct wf_packet *pkt, uint32_t bytes,
                      wf_time end);

/*
 * The longest that a packet of time may hold the wire of a link longer: for a wait behind one
 * replay.
 */
static inline wf_time wf_retry_longest(const struct wf_port *port, wf_time time)
{
	return port->hooked & WF_HOOK_RETRY ? port->retry->round + time : 0;
}

#endif
