/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.h - what hosts count, whichever kind they are.
 */
#ifndef WF_SIM_HOST_COUNTS_H
#define WF_SIM_HOST_COUNTS_H

#include "base/hist.h"

/* Of the hosts of one shard. */
struct wf_host_counts {
	struct wf_hist packet_latency; /* ps, packets with payload */
	struct wf_hist flow_time;      /* ps, flow start to its end */
	uint64_t bytes_delivered;      /* payload, without repeats */
	uint64_t resent;               /* packets */
	uint64_t flows_done;
	uint64_t flows_failed; /* their queue pair went into error */
	wf_time last_delivery;
};

#endif
