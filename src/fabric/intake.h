/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.h - what an adapter does with packets until they are in memory: its receive buffer.
 *
 *	wire --> room? --> buffer --> PCIe, memory --> the host
 *	           | no       | above xoff: a pause (PFC); credits come back when a packet leaves
 *	           +--> dropped
 *
 * Packets leave in the order in which they came, one after another, each when PCIe has brought its
 * payload to memory. What has no payload takes no time there, but waits for its turn. The buffer
 * has so many bytes for each class (nic.rx_buffer) or, with credits, for each VL (vl.buffer); of a
 * host with several ports, for each port by itself.
 *
 * A host without an intake never fills up, and this costs it nothing. One whose buffer is endless
 * has an intake where something is charged for that is free otherwise (the headers of TLPs, misses
 * of the MTT, packets): its packets go to the host at once, and it is told when they are in memory.
 */
#ifndef WF_FABRIC_INTAKE_H
#define WF_FABRIC_INTAKE_H

#include "fabric/fabric.h"

enum wf_intake_full { WF_INTAKE_ENDLESS, WF_INTAKE_PAUSE, WF_INTAKE_DROP };

struct wf_intake {
	struct wf_packet *head, *tail; /* wait, in the order in which they came */
	wf_time done;                  /* the head is in memory then */
	wf_time free_at;               /* PCIe, from the adapter to memory, is idle from then on */
	wf_time seen;                  /* what was handed over last is in memory then */

	/* what it is set to */
	enum wf_intake_full full;
	uint64_t slow; /* bits/s that a fault leaves of the rate; 0: there is none */
	uint64_t rate; /* bits/s */
	wf_ps_per_byte per_byte;
	wf_time per_packet; /* at least */
	uint32_t mps;       /* bytes; 0: TLPs' headers are free */
	uint64_t miss;      /* units of 2^-32 */
	wf_time miss_time;
	uint64_t size, xoff, xon; /* bytes of each class; of no meaning with credits */
	uint64_t needed;          /* bytes between xoff and size, so that nothing is lost */
	uint64_t rng_key;
	uint64_t rng_count;

	uint16_t stopped[WF_TOPO_HOST_PORTS]; /* by port: bit per queue whose peer has to stop */
	wf_time since;                        /* packets have been waiting since */
	wf_time before;                       /* and so long before that */
	uint64_t bytes;                       /* that left while some waited */
	uint64_t packets;                     /* that wait now */
};

struct wf_endpoint;

/* What a configuration says of a full buffer. */
enum wf_intake_full wf_intake_full_of(const struct wf_fabric_cfg *cfg);

/* Whether a host that is set to cfg needs an intake. */
bool wf_intake_is_wanted(const struct wf_fabric_cfg *cfg);

/* Gives a host its intake, from its shard's memory. Returns 0 or -ENOMEM. */
int wf_intake_create(struct wf_endpoint *ep) WF_MUST_USE;

/*
 * Sets it up from what the host is set to, when its port is connected and whenever that changes,
 * while no node runs.
 */
void wf_intake_set(struct wf_endpoint *ep, wf_time now);

/* Checks that it can hold what comes after a pause. Returns 0, or -EINVAL with err filled. */
int wf_intake_check(const struct wf_endpoint *ep, struct wf_err *err) WF_MUST_USE;

/*
 * A packet came in. Returns true when it goes to the host at once: then it took no buffer, and its
 * credits are to be given. False: it waits, and has credits until they are given; or was dropped.
 */
bool wf_intake_take(struct wf_endpoint *ep, const struct wf_packet *pkt, wf_time now);

/*
 * Takes the oldest packet out if it is in memory by now; its credits are to be given. Returns false
 * when there is none. The timer WF_ENDPOINT_INTAKE is set to when there will be one.
 */
bool wf_intake_next(struct wf_endpoint *ep, struct wf_packet *pkt_p, wf_time now);

/* The adapter asks memory for bytes that it will send: what that takes of the way there. */
void wf_intake_ask(struct wf_intake *in, uint32_t bytes, wf_time now);

/* The bytes that PCIe carries for so many of data that are read. */
uint32_t wf_intake_read_bytes(const struct wf_intake *in, uint32_t bytes);

/* How long packets have been waiting in it, up to now. */
wf_time wf_intake_waited(const struct wf_intake *in, wf_time now);

/* Packets that wait, by class: for checking. */
void wf_intake_count(const struct wf_intake *in, uint64_t *per_class);

#endif
