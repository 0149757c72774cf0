/* SPDX-License-Identifier: Apache-2.0 */
/*
 * telemetry.h - what switches write into packets on their way (in-band telemetry).
 *
 * With "int" every switch adds a record of the port that the packet leaves by. With "pint" a packet
 * carries one code: the utilisation of the busiest port so far, of which a switch keeps an average
 * (Ben Basat et al., "PINT: Probabilistic In-band Network Telemetry", SIGCOMM 2020).
 *
 * A packet with WF_PACKET_INT carries the number of a record (engine/store.h) in atomic_va, from
 * the host that sent it to the one that receives it and back in the acknowledgement. Whoever has
 * the packet has the record, so no two threads ever touch it at once; what was in atomic_va before
 * is kept in the record.
 */
#ifndef WF_FABRIC_TELEMETRY_H
#define WF_FABRIC_TELEMETRY_H

#include <string.h>

#include "engine/store.h"
#include "fabric/fabric.h"

#define WF_INT_HOPS 8
#define WF_INT_BACK (UINT64_C(1) << 32) /* in atomic_va: it is on its way back, and complete */

struct wf_switch;

struct wf_int_hop {
	wf_time at;        /* when the packet left */
	uint64_t tx_bytes; /* sent by the port before it */
	uint64_t rate;     /* of the port, bits/s */
	uint64_t queued;   /* bytes that wait for the port behind it */
};

struct wf_int_record {
	uint32_t unused; /* the store's */
	uint32_t number; /* in the store */
	uint64_t kept;   /* the packet's atomic_va */
	uint32_t hops;   /* the last WF_INT_HOPS of them are there (int) */
	uint32_t code;   /* of the busiest hop (pint) */
	uint32_t bytes;  /* of the packet's size that are telemetry */
	struct wf_int_hop hop[WF_INT_HOPS];
};

/*
 * The store of records of a fabric's shards, owned by the engine; *store_p is NULL where the fabric
 * has no telemetry. Returns 0 or -ENOMEM.
 */
int wf_int_make_store(const struct wf_fabric *fabric, struct wf_engine *engine,
                      struct wf_store **store_p) WF_MUST_USE;

/* An empty record, or NULL when there is no more memory (and the run ends). */
struct wf_int_record *wf_int_get(struct wf_fabric_shard *shard);

static inline void wf_int_put(struct wf_fabric_shard *shard, struct wf_int_record *r)
{
	wf_store_put(shard->records, shard->number, r->number);
}

/* The record of a packet that has one. */
static inline struct wf_int_record *wf_int_record(const struct wf_fabric_shard *shard,
                                                  const struct wf_packet *pkt)
{
	return wf_store_at(shard->records, (uint32_t)pkt->atomic_va);
}

/* Gives a packet its record; direction is 0, or WF_INT_BACK in an acknowledgement. */
static inline void wf_int_attach(struct wf_packet *pkt, struct wf_int_record *r, uint64_t direction)
{
	r->kept = pkt->atomic_va;
	pkt->atomic_va = r->number | direction;
	pkt->flags |= WF_PACKET_INT;
}

/*
 * Takes the record out of a packet, which is then as if it had never had one. NULL: there is none.
 */
static inline struct wf_int_record *wf_int_detach(const struct wf_fabric_shard *shard,
                                                  struct wf_packet *pkt)
{
	struct wf_int_record *r;

	if (!(pkt->flags & WF_PACKET_INT))
		return NULL;
	r = wf_int_record(shard, pkt);
	pkt->atomic_va = r->kept;
	pkt->flags &= (uint8_t)~WF_PACKET_INT;
	return r;
}

/* A packet leaves a switch: writes into its record. */
void wf_int_stamp(struct wf_switch *sw, struct wf_port *out, const struct wf_packet *pkt,
                  wf_time now);

/* pint.c */

/* Fills the table of codes, in mem. Returns 0, -EINVAL with err filled, or -ENOMEM. */
int wf_pint_init(struct wf_pint *pint, const struct wf_fabric_cfg *cfg, struct wf_mem *mem,
                 struct wf_err *err) WF_MUST_USE;

void wf_pint_fini(struct wf_pint *pint, struct wf_mem *mem);

/* The code for utilisation u (Q32), with 64 random bits: the one below or the one above it. */
uint32_t wf_pint_encode(const struct wf_pint *pint, uint64_t u, uint64_t random);

/* The utilisation that a code stands for, Q32, never 0. */
uint64_t wf_pint_decode(const struct wf_pint *pint, uint32_t code);

/* A packet of size bytes leaves by a port, and leaves queued bytes behind. Returns its use, Q32. */
uint64_t wf_pint_use(const struct wf_pint *pint, struct wf_port *out, uint64_t queued, wf_time at);

#endif
