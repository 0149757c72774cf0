/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rails.h - what a host's software does about paths, where an InfiniBand adapter has several ports.
 *
 * The transport migrates a queue pair by itself; then it has no alternate path any more. Software
 * at both ends hears of it, and nic.apm_load later loads the path that was left as the next
 * alternate one. It waits until the peer was heard by the new path, so that it has migrated as
 * well: connection managers ask one another (LAP and APR), and here their messages are that time.
 *
 * nic.apm_return after a link came up, software migrates what belongs to that port back to it, as
 * soon as it is armed; the peer follows.
 *
 * All of that is about queue pairs that have migrated: those of a run without failures are nowhere
 * here.
 */
#ifndef WF_SIM_HOST_RAILS_H
#define WF_SIM_HOST_RAILS_H

#include "fabric/fabric.h"
#include "rdma/hca.h"

struct wf_rail_qp;

struct wf_rails {
	struct wf_hca *hca;
	uint32_t n_hosts, n_ports;
	wf_time load, back; /* WF_TIME_NEVER: not at all */
	struct wf_rail_qp *qps;
	uint32_t n, room;
	uint32_t down;                       /* bit per port whose link is down */
	uint32_t lost;                       /* of those, what waits there is still to be dropped */
	wf_time back_at[WF_TOPO_HOST_PORTS]; /* when software looks what belongs to the port */
};

/* For an adapter of max_qp queue pairs; hca is set later. Returns 0 or -ENOMEM. */
int wf_rails_init(struct wf_rails *rails, struct wf_shard *shard, const struct wf_fabric *fabric,
                  const struct wf_fabric_cfg *cfg, uint32_t max_qp) WF_MUST_USE;

/* The link of a port went down, or came up. */
void wf_rails_link(struct wf_rails *rails, unsigned port, bool up, wf_time now);

/* Hears of the queue pairs that have migrated since it was called last. */
void wf_rails_hear(struct wf_rails *rails, wf_time now);

/* When wf_rails_act() has something to do; WF_TIME_NEVER: nothing. */
wf_time wf_rails_next(const struct wf_rails *rails);

/* Does what is due. */
void wf_rails_act(struct wf_rails *rails, wf_time now);

#endif
