/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp.h - from a fabric's parameters (tcp.*) to the TCP of a host.
 */
#ifndef WF_SIM_HOST_TCP_H
#define WF_SIM_HOST_TCP_H

#include "fabric/fabric.h"
#include "tcp/stack.h"

/* What the TCP of a host that is set to setup does, and what it costs. */
void wf_host_tcp_cfg(const struct wf_fabric *fabric, const struct wf_setup *setup,
                     struct wf_tcp_stack_cfg *cfg);

#endif
