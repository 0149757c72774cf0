/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_priv.h - a measurement from the inside: the programs (perf.c) and the figures
 * (perf_result.c).
 */
#ifndef WF_SIM_PROG_PERF_PRIV_H
#define WF_SIM_PROG_PERF_PRIV_H

#include "sim/prog/perf.h"

/* A completion that the program will see. */
struct wf_perf_due {
	wf_time at;
	uint32_t qp; /* index into struct wf_perf_side.qp */
};

/* One of the two hosts. */
struct wf_perf_side {
	struct wf_perf *perf;
	struct wf_adapter *adapter;
	uint32_t host;
	bool requests; /* posts messages that are measured */
	struct wf_pd *pd;
	struct wf_cq *cq;
	struct wf_mr *mr;
	uint32_t peer_rkey;
	struct wf_qp **qp;       /* with which it requests or answers */
	uint64_t writes;         /* seen in memory */
	uint32_t posted;         /* messages that are measured */
	uint32_t done;           /* of them */
	wf_time *posted_at;      /* of each, in the order of posting */
	wf_time *done_at;        /* in the order of completion */
	struct wf_perf_due *due; /* a ring of as many as can be outstanding */
	uint32_t due_head, due_tail;
	enum wf_wc_status status; /* of the first completion that failed */
};

struct wf_perf {
	struct wf_perf_cfg cfg;
	uint32_t qps, depth;         /* 1 and 1 for latency */
	bool one_sided;              /* latency is that of a whole operation */
	struct wf_perf_side side[2]; /* client, server */
};

#endif
