/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp.h - flows as byte streams of TCP, each on a connection of its own that is there from the
 * start.
 *
 * A flow begins when its program sends, and is over when the receiver's program has read the last
 * byte.
 */
#ifndef WF_SIM_PROG_TCP_H
#define WF_SIM_PROG_TCP_H

#include "base/err.h"
#include "sim/host/adapter.h"
#include "sim/traffic/traffic.h"

struct wf_tcp_flows;
struct wf_sim_flow_state;

/* Whether any of n flows goes over TCP. */
bool wf_tcp_any(const struct wf_flow_spec *flows, size_t n);

/*
 * Plans those of n flows that go over TCP. flows is copied. On success *flows_p is owned by the
 * caller. Returns 0 or -ENOMEM.
 */
int wf_tcp_flows_create(const struct wf_fabric *fabric, const struct wf_flow_spec *flows, size_t n,
                        struct wf_tcp_flows **flows_p) WF_MUST_USE;

/* Opens their connections on adapters that have TCP. Returns 0 or -ENOMEM. */
int wf_tcp_flows_start(struct wf_tcp_flows *flows, const struct wf_fabric *fabric,
                       struct wf_adapter **adapters) WF_MUST_USE;

/* Whether flow i, in the order given, is one of them. */
bool wf_tcp_flows_has(const struct wf_tcp_flows *flows, size_t i);

/* When it begins, and when it ended; WF_TIME_NEVER: it has not. */
wf_time wf_tcp_flow_start(const struct wf_tcp_flows *flows, size_t i);
wf_time wf_tcp_flow_end(const struct wf_tcp_flows *flows, size_t i);

/* How far it has come: wf_sim_flow_state(). */
void wf_tcp_flow_state(const struct wf_tcp_flows *flows, size_t i, struct wf_sim_flow_state *state);

/* Its connection at the sender (or at the receiver). */
struct wf_tcp_conn *wf_tcp_flow_conn(const struct wf_tcp_flows *flows, size_t i, bool receiver);

/* Frees everything but the connections. NULL is allowed. */
void wf_tcp_flows_destroy(struct wf_tcp_flows *flows);

#endif
