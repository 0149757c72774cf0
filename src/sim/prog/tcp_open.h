/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_open.h - an established connection between two hosts of a simulation.
 */
#ifndef WF_SIM_PROG_TCP_OPEN_H
#define WF_SIM_PROG_TCP_OPEN_H

#include "sim/host/adapter.h"

struct wf_tcp_pair {
	struct wf_adapter *from, *to; /* who opened it, and who waited; they have TCP */
	uint8_t cls;
	uint64_t key; /* of its ports and sequence numbers: another for each connection */
	const struct wf_tcp_user *user;
	void *from_arg, *to_arg;
};

/* Opens both ends, while no node runs. Returns 0 or -ENOMEM. */
int wf_tcp_pair_open(const struct wf_fabric *fabric, const struct wf_tcp_pair *pair,
                     struct wf_tcp_sock **from_p, struct wf_tcp_sock **to_p) WF_MUST_USE;

#endif
