/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload.h - where the bytes of packets are while the fabric carries their headers.
 *
 * A store of buffers of one size, each with a number that fits struct wf_packet.payload; 0 is none.
 * Every shard takes from and gives to its own list, so nothing is locked; a buffer given back in
 * another shard than it was taken from stays there. Where the store has to grow, it does so in blocks
 * under a lock.
 */
#ifndef WF_SIM_HOST_PAYLOAD_H
#define WF_SIM_HOST_PAYLOAD_H

#include <stdbool.h>

#include "base/mem.h"

struct wf_payload;

/* A store for n_shards shards. Returns 0 or -ENOMEM. */
int wf_payload_create(unsigned n_shards, struct wf_payload **store_p) WF_MUST_USE;

void wf_payload_destroy(struct wf_payload *store);

/* A buffer of 4096 bytes; 0 when there is no more memory. */
uint32_t wf_payload_get(struct wf_payload *store, unsigned shard) WF_MUST_USE;

/* Its bytes. */
void *wf_payload_bytes(const struct wf_payload *store, uint32_t number);

/* Gives it back. 0 is allowed. */
void wf_payload_put(struct wf_payload *store, unsigned shard, uint32_t number);

/* Buffers that are not given back. */
uint64_t wf_payload_in_use(const struct wf_payload *store);

#endif
