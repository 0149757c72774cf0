/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_open.c - the two ends of a connection: ports, sequence numbers, windows.
 */
#include "sim/prog/tcp_open.h"

#include "base/rng.h"

#define RNG_TCP 0x746370u /* domain of ports and sequence numbers: "tcp" */
#define PORT_FIRST 1024
#define PORTS 32768 /* below those of the side that opens */

static uint32_t host_of(struct wf_adapter *adapter)
{
	return wf_endpoint_of_device(wf_adapter_device(adapter))->host;
}

static uint64_t window_of(struct wf_adapter *adapter)
{
	return wf_adapter_device(adapter)->setup->cfg.tcp.rmem;
}

int wf_tcp_pair_open(const struct wf_fabric *fabric, const struct wf_tcp_pair *pair,
                     struct wf_tcp_sock **from_p, struct wf_tcp_sock **to_p)
{
	struct wf_tcp_stack *from = wf_adapter_tcp(pair->from), *to = wf_adapter_tcp(pair->to);
	uint64_t key = wf_rand_key(fabric->seed, RNG_TCP, pair->key);
	struct wf_tcp_conn_attr attr = {
		.host = host_of(pair->from),
		.peer = host_of(pair->to),
		.peer_number = wf_tcp_stack_next(to),
		.client_port = wf_udp_source(wf_rand64(key, 0)),
		.server_port = (uint16_t)(PORT_FIRST + wf_tcp_stack_next(to) % PORTS),
		.cls = pair->cls,
		.isn = (uint32_t)wf_rand64(key, 1),
		.peer_isn = (uint32_t)wf_rand64(key, 2),
		.peer_window = window_of(pair->to),
	};
	struct wf_tcp_conn_attr back = attr;
	int ret;

	back.host = attr.peer;
	back.peer = attr.host;
	back.peer_number = wf_tcp_stack_next(from);
	back.back = true;
	back.isn = attr.peer_isn;
	back.peer_isn = attr.isn;
	back.peer_window = window_of(pair->from);
	ret = wf_tcp_open(from, &attr, pair->user, pair->from_arg, from_p);
	return ret != 0 ? ret : wf_tcp_open(to, &back, pair->user, pair->to_arg, to_p);
}
