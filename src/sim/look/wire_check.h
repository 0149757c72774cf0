/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_check.h - proves that simulated packets are packets: each is written as bytes, read back and
 * compared.
 *
 * The fabric carries decoded fields, so a field without a place on the wire, or a size that its
 * bytes would not have, could go unnoticed for ever. Every shard checks its own packets; nothing is
 * shared.
 */
#ifndef WF_SIM_LOOK_WIRE_CHECK_H
#define WF_SIM_LOOK_WIRE_CHECK_H

#include <stdbool.h>

#include "base/err.h"
#include "fabric/fabric.h"
#include "wire/addr.h"

struct wf_wire_check;
struct wf_sim;

/* How the packets of a fabric look on the wire. */
void wf_wire_check_conf(const struct wf_fabric_cfg *cfg, struct wf_wire_conf *conf);

/* The same, of what a simulation's packets are marked with. */
void wf_sim_wire_marks(const struct wf_sim *sim, struct wf_wire_conf *conf);

/* A check for n_shards shards; fabric is borrowed. Returns 0 or -ENOMEM. */
int wf_wire_check_create(const struct wf_fabric *fabric, unsigned n_shards,
                         struct wf_wire_check **check_p) WF_MUST_USE;

/* NULL is allowed. */
void wf_wire_check_destroy(struct wf_wire_check *check);

/* Checks a packet that dev puts on a wire. After a difference its shard looks no further. */
void wf_wire_check_packet(struct wf_wire_check *check, const struct wf_device *dev,
                          const struct wf_packet *pkt, wf_time now);

/* Packets checked so far. */
uint64_t wf_wire_check_count(const struct wf_wire_check *check);

/*
 * 0 while all were the same; else -EBADMSG, with the packet that was sent and the one that was read
 * back in err (NULL: not wanted). Of several differences, the first by time and node.
 */
int wf_wire_check_result(const struct wf_wire_check *check, struct wf_err *err) WF_MUST_USE;

#endif
