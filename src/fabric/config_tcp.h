/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_tcp.h - the part of a fabric's configuration that is TCP's, of hosts: parameters tcp.*,
 * whose rows say what each is (config.c).
 */
#ifndef WF_FABRIC_CONFIG_TCP_H
#define WF_FABRIC_CONFIG_TCP_H

#include <stdbool.h>

#include "base/base.h"

struct wf_fabric_tcp {
	char cc[8];           /* a name of wf_tcp_cc_find() */
	char ecn[8];          /* "auto", "off" or "on" */
	uint64_t mtu;         /* bytes of an IP packet; or auto */
	uint32_t init_window; /* segments */
	wf_time rto_min;
	wf_time delack;
	uint64_t rmem;        /* bytes */
	uint64_t wmem;        /* bytes */
	uint64_t small_queue; /* bytes */
	uint64_t burst;       /* bytes */
	uint64_t chunk;       /* bytes of a system call */
	bool timestamps;
	bool idle_restart;
	uint32_t cores;
	uint32_t ring; /* packets */
	wf_time interrupt;
	wf_time syscall; /* CPU times */
	wf_time wakeup;
	wf_time tx_burst;
	wf_time tx_packet;
	wf_time rx_packet;
	wf_time rx_burst;
	wf_time ack;
	uint64_t copy_tx; /* bits/s */
	uint64_t copy_rx; /* bits/s */
	uint64_t digest;  /* bits/s */
};

#endif
