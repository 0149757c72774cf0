/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapter.h - the transport's adapter on a port of the modelled fabric.
 *
 * A node of the engine with a port, or several that are a bond, and one struct wf_hca. It hands
 * the packets that come in to the transport, pulls packets from it whenever the wire is free and
 * flow control agrees, and adds what a host costs in time: the doorbell, fetching data over PCIe,
 * PCIe's bandwidth.
 *
 *	program --post--> hca --tx--> endpoint ~~~ fabric ~~~ endpoint --rx--> hca --> program
 *
 * When a program sees a completion is a property of the completion queue: the transport lists
 * those that have something, with the time at which PCIe has brought it to memory, and the adapter
 * calls the program then.
 *
 * The program is a struct wf_program: its functions run in virtual time, on the thread of the
 * adapter's shard, and may touch only this adapter and what belongs to it.
 */
#ifndef WF_SIM_HOST_ADAPTER_H
#define WF_SIM_HOST_ADAPTER_H

#include "engine/store.h"
#include "fabric/endpoint.h"
#include "rdma/hca.h"
#include "rdma/qp.h"
#include "sim/host/counts.h"
#include "tcp/stack.h"

#define WF_ADAPTER_SIDE WF_TOPO_HOST_PORTS /* input of the node; those before are its ports' */

struct wf_adapter;

/* What runs on a host. */
struct wf_program {
	/* Virtual time began, or the time of wf_adapter_call_at() has come; it may come sooner. */
	void (*run)(void *arg, struct wf_adapter *adapter, wf_time now);
	/*
	 * Completions wait in cq, which was armed. Called at the time at which a program that polls
	 * would see them; it polls, and arms anew if it wants to be called again.
	 */
	void (*complete)(void *arg, struct wf_adapter *adapter, struct wf_cq *cq, wf_time now);
	/* Whether cq is this program's; NULL: all are that no program added later owns. */
	bool (*owns)(void *arg, const struct wf_cq *cq);
	/*
	 * For a program that polls memory: writes RDMA WRITE messages are in it by now, all of
	 * each, counted since the run began. NULL: it does not look, and the adapter need not
	 * count.
	 */
	void (*written)(void *arg, struct wf_adapter *adapter, uint64_t writes, wf_time now);
	/*
	 * A cell came in by WF_ADAPTER_SIDE, the input for a link that is not the fabric's
	 * (NVLink); borrowed until the call returns. NULL: the input is not connected.
	 */
	void (*side)(void *arg, struct wf_adapter *adapter, const struct wf_cell *cell,
	             wf_time now);
	/*
	 * The reduction that it posted with handle is over, and its result in memory
	 * (sim/host/reduce.h). NULL: it posts none.
	 */
	void (*reduced)(void *arg, struct wf_adapter *adapter, uint64_t handle, wf_time now);
	/* No reduction of a group comes to an end any more. NULL: it posts none. */
	void (*reduce_lost)(void *arg, uint32_t group, wf_time now);
};

/* What all adapters of a simulation share. */
struct wf_adapter_env {
	const struct wf_fabric *fabric;
	struct wf_store *payload; /* of struct wf_payload; NULL: contents do not matter */
	bool tcp;                 /* hosts have TCP beside it: wf_adapter_tcp() */
};

/*
 * Creates the adapter of a host, in a shard. attr is completed from the fabric: host number, rate,
 * overhead, link layer, whether data is carried. env is borrowed. Returns NULL when there is no
 * more memory.
 */
struct wf_device *wf_adapter_create(struct wf_shard *shard, const struct wf_adapter_env *env,
                                    uint32_t host, const struct wf_hca_attr *attr) WF_MUST_USE;

/* The adapter that a device is. */
struct wf_adapter *wf_adapter_of(struct wf_device *dev);

/*
 * Adds what runs on it; before the run. Up to WF_ADAPTER_PROGRAMS share it: run() of all is called
 * when one of them asked for it, written() and side() only the first may have.
 */
#define WF_ADAPTER_PROGRAMS 4
void wf_adapter_add_program(struct wf_adapter *adapter, const struct wf_program *program,
                            void *arg);

struct wf_hca *wf_adapter_hca(struct wf_adapter *adapter);
struct wf_host_counts *wf_adapter_counts(struct wf_adapter *adapter);
struct wf_device *wf_adapter_device(struct wf_adapter *adapter);

/*
 * The host's TCP, which sends and receives by the same port; NULL where the simulation has none.
 * What a program does with it becomes due when the program comes back.
 */
struct wf_tcp_stack *wf_adapter_tcp(struct wf_adapter *adapter);

/* How an adapter asks the transport: what a managed one's station has for st->pull. */
const struct wf_pull_ops *wf_adapter_pull(const struct wf_adapter *adapter);

/* Has run() called at at, once. An earlier time replaces a later one, which must be asked again. */
void wf_adapter_call_at(struct wf_adapter *adapter, wf_time at);

/* Whether one of its programs has been called, and has not come back. */
bool wf_adapter_runs(const struct wf_adapter *adapter);

/*
 * Posts a list of send work requests and rings the doorbell: what a program calls instead of
 * wf_qp_post_send(), and returns as that, or -EINVAL when a
 * program of another host calls it. The first bit leaves when the adapter knows of the work
 * and has the data; behind work of the same queue pair that still waits, it knows and has it in
 * time.
 */
int wf_adapter_post(struct wf_adapter *adapter, struct wf_qp *qp, const struct wf_send_wr *wr,
                    const struct wf_send_wr **bad_p, wf_time now) WF_MUST_USE;

/*
 * Gives the payload of a dropped packet back: wf_fabric.lost where data is carried; arg is the env.
 */
void wf_adapter_lost(void *arg, struct wf_fabric_shard *shard, const struct wf_packet *pkt,
                     bool trimmed);

/* A copy of a packet gets a payload of its own: wf_fabric.copied where data is carried. */
bool wf_adapter_copied(void *arg, struct wf_fabric_shard *shard, struct wf_packet *copy);

/*
 * When the program sees a completion that the transport made at now: READs and atomics had to fetch
 * from the responder's memory, which is charged here.
 */
wf_time wf_adapter_seen(const struct wf_adapter *adapter, enum wf_wc_opcode opcode, wf_time now);

#endif
