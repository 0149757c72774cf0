/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapter_priv.h - an adapter from the inside, for what stands beside the transport on its port.
 */
#ifndef WF_SIM_HOST_ADAPTER_PRIV_H
#define WF_SIM_HOST_ADAPTER_PRIV_H

#include "sim/host/adapter.h"
#include "sim/host/bond.h"
#include "sim/host/rails.h"

/* Timers of the node, after its ports'. */
enum {
	WF_ADAPTER_TICK = WF_ENDPOINT_TIMERS,
	WF_ADAPTER_RUN,
	WF_ADAPTER_COMPLETE,
	WF_ADAPTER_WRITTEN,
	WF_ADAPTER_TCP,
	WF_ADAPTER_TIMERS,
	WF_ADAPTER_BOND = WF_ADAPTER_TIMERS, /* of those with several ports */
	WF_ADAPTER_BONDED_TIMERS
};

/* For the node's rx(), no input: the packet is out of the receive buffer. */
#define WF_ADAPTER_TAKEN (WF_ADAPTER_SIDE + 1)

#define WF_ADAPTER_WRITTEN_MAX 16 /* a power of two */

struct wf_reducer;

struct wf_adapter {
	struct wf_endpoint ep;
	const struct wf_adapter_env *env;
	struct wf_host_counts *counts;
	struct wf_hca *hca;
	const struct wf_pull_ops *pull;     /* whom it asks for packets; */
	const struct wf_pull_ops *own_pull; /* and behind its station, where it has one */
	struct wf_tcp_stack *tcp;           /* NULL: none */
	bool tcp_last;                      /* that gave the last packet */
	struct {
		const struct wf_program *ops;
		void *arg;
	} program[WF_ADAPTER_PROGRAMS];
	unsigned n_programs;
	bool looks; /* a program polls memory */
	unsigned shard_number;
	wf_time pcie_tx;     /* PCIe is busy reading until */
	wf_time pcie_rx;     /* and writing */
	wf_ps_per_byte pcie; /* between adapter and memory */
	struct {
		uint64_t writes;           /* this many */
		wf_time at;                /* are in memory then */
	} written[WF_ADAPTER_WRITTEN_MAX]; /* a ring: for a program that polls memory */
	uint32_t written_head, written_tail;
	struct wf_cc_int telemetry;      /* of the acknowledgement being looked at */
	struct wf_bond *bond;            /* NULL: it has one port */
	struct wf_rails *rails;          /* NULL: its ports are one, or it has one */
	unsigned last;                   /* of several ports, the one that sent last */
	const struct wf_node_ops *inner; /* the node's functions but for reductions */
	struct wf_reducer *reducer;      /* NULL: it takes part in none (reduce.h) */
};

static inline struct wf_adapter *wf_adapter_of_endpoint(struct wf_endpoint *ep)
{
	return wf_container_of(ep, struct wf_adapter, ep);
}

/* PCIe has to bring what is sent: the next packet may have to wait until it is idle again. */
void wf_adapter_charge(struct wf_adapter *a, const struct wf_packet *pkt, wf_time now);

/* After anything that may have changed what the transport wants. */
void wf_adapter_settle(struct wf_adapter *a, wf_time now);

/* The node's functions, and the last before a packet leaves; for those that stand around them. */
void wf_adapter_rx(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now);
void wf_adapter_timer(struct wf_node *node, unsigned slot, wf_time now);
void wf_adapter_warm(const struct wf_node *node, unsigned input);
void wf_adapter_leave(struct wf_endpoint *ep, struct wf_packet *pkt, wf_time now);

/*
 * Where the port at hand is shut for good to its queue pairs, the next packet that they send is
 * lost, as fast as it would have left: so they wait for answers in vain, and find out.
 */
void wf_adapter_lose_next(struct wf_adapter *a, wf_time now);

/* ---- several ports: adapter_ports.c ---- */

extern const struct wf_node_ops wf_ports_node, wf_managed_ports_node;

void wf_ports_set_up(struct wf_device *dev, struct wf_port *port, bool up, wf_time now);

/* Wakes the ports for which the transport has something. */
void wf_ports_wake(struct wf_adapter *a, wf_time now);

/*
 * Says in attr how it shares queue pairs out over its ports, and makes what that needs. Of one port
 * there is nothing to say but that. Returns 0 or -ENOMEM.
 */
int wf_ports_fill(struct wf_adapter *a, struct wf_hca_attr *attr) WF_MUST_USE;

#endif
