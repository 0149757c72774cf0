/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.h - a host's part in reductions of the fabric's switches (fabric/aggregate.h).
 *
 *	program --post--> requests --packets--> endpoint ~~~ tree ~~~ endpoint --> reduced()
 *
 * For each of its groups and each kind of tree an adapter has a queue of requests, which it cuts
 * into packets. A streaming tree takes whole packets one after the other, as the adapter does by
 * itself; in a low-latency tree each packet is an operation of its own, which software posts. All
 * members of a group post the same reductions in the same order. Packets share the wire, PCIe and
 * the class's queue with what the transport sends, by turns.
 *
 * Nothing is sent again. With a link of a tree down its groups stand still, until a manager finds
 * it out.
 */
#ifndef WF_SIM_HOST_REDUCE_H
#define WF_SIM_HOST_REDUCE_H

#include "sim/host/adapter.h"

#define WF_REDUCE_REQUESTS 64 /* of a group in a kind of tree, posted and not over */

struct wf_reducer;

/*
 * Gives an adapter in a fabric with reductions its part in them; pull is whom it asked for packets
 * so far, slot its timer. Returns 0 or -ENOMEM.
 */
int wf_reducer_create(struct wf_adapter *a, const struct wf_pull_ops *pull, unsigned slot,
                      struct wf_reducer **reducer_p) WF_MUST_USE;

/*
 * The program contributes bytes to the next reduction of a group (fabric/sharp.h), of which the
 * host is a member, in a class; it is told of its end with reduced(). At most WF_REDUCE_REQUESTS
 * are under way. From a program that runs.
 */
void wf_adapter_reduce(struct wf_adapter *a, uint32_t group, uint64_t bytes, uint8_t cls,
                       uint64_t handle, wf_time now);

/* The fabric's trees are there (wf_fabric's sharp_shut is false now). While no node runs. */
void wf_adapter_reduce_open(struct wf_adapter *a, wf_time now);

/* The trees of a group are lost for good, and its programs are told. While no node runs. */
void wf_adapter_reduce_lost(struct wf_adapter *a, uint32_t group, wf_time now);

/* How such an adapter is asked for packets, and its node's functions. */
extern const struct wf_pull_ops wf_reducer_pull;
extern const struct wf_node_ops wf_reducer_node;

#endif
