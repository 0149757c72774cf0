/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mux.h - what a kernel does for the management programs of a port: it sends their MADs and waits
 * for answers, gives each program what is for it, and cuts and joins what is longer than a MAD
 * (RMPP, IBTA vol. 1, 13.6).
 *
 *   wf_mux_send()  ->  +--------+  ->  wf_mux_tx()         MADs to queue pairs 0 and 1
 *   wf_mux_rx()    ->  | wf_mux |  ->  wf_mux_event_fn     answers, requests, what was not answered
 *   wf_mux_tick()  ->  +--------+  ->  wf_mux_deadline()
 *
 * An agent is a program's wish: a queue pair, and maybe requests of a class by their methods. Upper
 * halves of transaction IDs are the agents', so an answer finds who has asked. A Get or Set that no
 * agent wants is answered (attribute not supported). What hardware answers by itself (sma.h, pma.h)
 * does not come here. Without I/O.
 *
 * A transfer of several segments, from either side:
 *
 *   sender                                 receiver
 *     segment 1            -->
 *                          <--               ACK 1, window to 65
 *     segments 2 to 65     -->
 *                          <--               ACK 65, window to 129
 *     ... the last         -->
 *                          <--               ACK of the last: the agent gets all of it
 *   no ACK in time: again from the one behind the last that was acknowledged, so many times
 *   STOP, ABORT: either side gives up, and says why
 */
#ifndef WF_MGMT_MUX_H
#define WF_MGMT_MUX_H

#include "base/base.h"
#include "base/mem.h"
#include "wire/mad.h"

struct wf_mux;
struct wf_mux_agent;

/* The other side of a MAD: where it goes, or where it has come from. */
struct wf_mux_addr {
	uint16_t lid;
	uint8_t sl, path_bits;
	uint16_t pkey_index;
	uint32_t qpn, qkey;
	bool global; /* there is a global header, and the rest means something */
	uint8_t gid[16];
	uint32_t flow_label;
	uint8_t gid_index, hop_limit, traffic_class;
};

enum wf_mux_event_type {
	WF_MUX_RECV,   /* a request, or the answer to one; data is all of it */
	WF_MUX_FAILED, /* what was sent got no answer, or was not taken; data is its header */
	/*
	 * What was sent with a context has ended without more to say: it went out and nobody waits
	 * for an answer, or its agent ends. There are no data, and the context is the sender's
	 * again.
	 */
	WF_MUX_ENDED,
};

struct wf_mux_event {
	enum wf_mux_event_type type;
	const struct wf_mux_addr *addr;
	const uint8_t *data; /* borrowed */
	size_t length; /* WF_MAD_LEN, or of what was joined: header, class header and all data */
	int status;    /* FAILED: -ETIMEDOUT, -ECONNABORTED (the other side gave up), -ENOMEM */
	void *context; /* of the send that it belongs to; NULL: of none. It has ended with this. */
};

/*
 * Told within wf_mux_rx() and wf_mux_tick(), ENDED within wf_mux_tx() and wf_mux_unregister(), too.
 * It may send, but not when told ENDED, and neither register nor unregister.
 */
typedef void wf_mux_event_fn(void *arg, const struct wf_mux_event *event);

struct wf_mux_agent_cfg {
	uint8_t qp;         /* 0 or 1 */
	uint8_t mgmt_class; /* 0: no requests, only answers to its own */
	uint8_t class_version;
	uint32_t oui;        /* of the classes 0x30 to 0x4f */
	uint64_t methods[2]; /* bit m % 64 of methods[m / 64]: requests with method m */
	bool rmpp;           /* cut and join for it; else it sees segments as they are */
	size_t room; /* bytes that what it sends, and what comes in segments, may take; 0: any */
	wf_mux_event_fn *event;
	void *arg;
};

/* Returns 0 or -ENOMEM. */
int wf_mux_create(struct wf_mem *mem, struct wf_mux **mux_p) WF_MUST_USE;

/* Frees it, its agents (as wf_mux_unregister() does) and all they have sent. NULL is allowed. */
void wf_mux_destroy(struct wf_mux *mux);

/*
 * Returns 0, -EINVAL (no such queue pair; a class that does not go with it, or does not know RMPP),
 * -EADDRINUSE (another agent has one of the methods) or -ENOMEM.
 */
int wf_mux_register(struct wf_mux *mux, const struct wf_mux_agent_cfg *cfg,
                    struct wf_mux_agent **agent_p) WF_MUST_USE;

/* What it has sent is not waited for any more, what was coming is dropped. */
void wf_mux_unregister(struct wf_mux_agent *agent);

/*
 * Sends a MAD: WF_MAD_LEN bytes, or, where RMPP is active in its header and the agent has it, any
 * length from the class header on. data is copied. A request is sent again after timeout, so many
 * times, until there is an answer; with timeout 0 nobody waits for one. Of a request, the upper
 * half of the transaction ID becomes the agent's. Returns 0, -EINVAL (the length), -EEXIST (a
 * request with that transaction ID is waiting) or -ENOMEM (the agent's room is used up, too).
 */
int wf_mux_send(struct wf_mux_agent *agent, const struct wf_mux_addr *addr, const void *data,
                size_t length, wf_time timeout, unsigned retries, void *context) WF_MUST_USE;

/* A MAD came to queue pair 0 or 1. */
void wf_mux_rx(struct wf_mux *mux, unsigned qp, const struct wf_mux_addr *addr, const uint8_t *mad,
               wf_time now);

/*
 * The next MAD to send by one of the queue pairs in qps (bit 0 and bit 1: those whose port has
 * room), and by which; false: there is none now.
 */
struct wf_mux_packet {
	unsigned qp;
	struct wf_mux_addr addr;
	uint8_t mad[WF_MAD_LEN];
};

#define WF_MUX_QPS 3u /* both */

bool wf_mux_tx(struct wf_mux *mux, unsigned qps, wf_time now, struct wf_mux_packet *packet_p);

/* wf_mux_tx() may have something: to be asked before the driver sleeps. */
bool wf_mux_has_tx(const struct wf_mux *mux, unsigned qps);

/* The next time at which wf_mux_tick() does something; WF_TIME_NEVER. */
wf_time wf_mux_deadline(const struct wf_mux *mux);
void wf_mux_tick(struct wf_mux *mux, wf_time now);

/* The offset of the data of a class, behind its header; WF_MAD_HEADER_LEN of those without RMPP. */
unsigned wf_mux_data_offset(uint8_t mgmt_class);

#endif
