/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_priv.h - what is behind the handles of include/weft/weft.h.
 *
 * Queue pairs, shared receive queues and regions are the transport's own objects under the public
 * name: the handle is a pointer to one. Their user pointer is the adapter.
 */
#ifndef WF_API_API_PRIV_H
#define WF_API_API_PRIV_H

#include <stdbool.h>

#include "scenario/scenario.h"
#include "rdma/cq.h"
#include "rdma/mr.h"
#include "rdma/qp.h"
#include "rdma/srq.h"
#include "sim/prog/app.h"
#include "weft/weft.h"

/* A call that waits for its time: the program's own, or a completion to be shown. */
struct wf_api_wait {
	wf_time at;
	uint64_t number;  /* in the order in which they were asked for */
	weft_call_fn *fn; /* NULL: a completion of cq */
	void *arg;
	struct weft_cq *cq;
	struct weft_wc wc;
};

struct weft_cq {
	struct weft_adapter *adapter;
	struct wf_cq *cq;
	weft_wc_fn *fn; /* NULL: it is polled */
	void *arg;
	bool *gone;           /* set when it is destroyed while it is shown; NULL: it is not */
	wf_time last;         /* when the last completion is or was shown: they keep their order */
	struct weft_cq *next; /* of the adapter's */
};

struct weft_adapter {
	struct weft_fabric *fabric;
	struct wf_adapter *adapter;
	struct wf_pd *pd;
	uint32_t host;
	wf_time now;               /* of the callback that runs */
	struct wf_api_wait *waits; /* a heap by (at, number) */
	size_t n_waits, room;
	uint64_t next_number;
	struct weft_cq *cqs;
	struct wf_ah **ahs; /* by host: towards which datagrams were sent; NULL: towards none yet */
};

struct weft_fabric {
	struct wf_scenario scenario;
	struct wf_paths paths;
	struct wf_sim *sim;
	const struct wf_fabric *fabric; /* the simulation's */
	struct weft_adapter *adapters;  /* by host */
	uint32_t max_qp, max_mr;
	bool running;
	bool stop;      /* set by any thread, with an atomic store */
	bool no_memory; /* the same: a completion could not be kept */
};

/* The time on an adapter. */
wf_time wf_api_time(const struct weft_adapter *a);

/* Work or completions may have come about outside of a callback: has the adapter look. */
void wf_api_touch(struct weft_adapter *a);

/* Adds a call. Returns 0 or -ENOMEM. */
int wf_api_wait_add(struct weft_adapter *a, const struct wf_api_wait *wait) WF_MUST_USE;

/* Shows the completions in a queue that has a callback. */
void wf_api_show(struct weft_cq *cq, wf_time now);

#endif
