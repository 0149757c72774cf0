#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# Extended reliable connections: rdma-core's example, with one client and with several, and perftest, which sets
# attributes that such queue pairs have no use for.

load common

# several N ARGS...: a server on h1, N clients on h2, which share a domain: the server sends what is for one of them
# through each one's queue pair in turn.
several() {
	local n=$1 port pids=() i
	shift
	port=$(free_port)
	serve_at "$port" ibv_xsrq_pingpong -p "$port" -c "$n" -n 200 "$@"
	for ((i = 0; i < n; i++)); do
		spawn h2 ibv_xsrq_pingpong -p "$port" -n 200 "$@" 127.0.0.1 >"client$i.txt" 2>&1
		pids+=("$pid")
	done
	for ((i = 0; i < n; i++)); do
		ended "${pids[i]}" || {
			cat "client$i.txt" server.txt
			return 1
		}
	done
	served
}

@test "ibv_xsrq_pingpong over RoCE v2" {
	needs ibv_xsrq_pingpong
	up
	several 1 -g 0
	several 1 -g 1 -e
	several 3 -g 1
}

# bats test_tags=long
@test "ibv_xsrq_pingpong over InfiniBand" {
	needs ibv_xsrq_pingpong
	up --fabric ib-ndr
	several 1
	several 3 -e
}

# perftest: between several queue pairs, and both ways.
perftest() {
	pair ib_send_bw -F -n 100 -c XRC -e -q 3 -b
}

# bats test_tags=long
@test "perftest over RoCE v2" {
	needs ib_write_bw
	up
	perftest
}

# Each operation: matrix.bats has them in release builds, on both fabrics.
# bats test_tags=checked
@test "perftest over InfiniBand" {
	local op
	needs ib_write_bw
	up --fabric ib-ndr
	for op in write send read atomic; do
		pair ib_${op}_bw -F -n 100 -c XRC
		pair ib_${op}_lat -F -C -n 100 -c XRC
	done
	perftest
}
