/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.h - how the ranks of a job are connected.
 */
#ifndef WF_JOB_NET_H
#define WF_JOB_NET_H

#include "job/nvlink.h"

#define WF_JOB_MAX_QPS 8

struct wf_job_net {
	struct wf_nvlink nvlink;
	uint32_t qps; /* queue pairs, or sockets, of a connection, 1..WF_JOB_MAX_QPS */
	uint32_t cls; /* class of data */
	bool sockets; /* messages go over TCP, not over queue pairs */
};

#endif
