#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# rdma-core's example programs, as Debian ships them, on both fabrics and with both libraries.

load common

# all ARGS...: every one of them, with these options besides.
all() {
	local program
	for program in ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ibv_srq_pingpong; do
		pair "$program" -n 200 "$@"
		pair "$program" -n 200 -e "$@"
	done
	pair ibv_rc_pingpong -n 200 -t "$@"
	pair ibv_rc_pingpong -n 200 -N "$@"
	pair ibv_rc_pingpong -n 20 -s 1048576 -c "$@"
	pair ibv_rc_pingpong -n 200 -s 100 -m 256 -c "$@"
}

@test "RoCE v2, by the link-local GID" {
	needs ibv_rc_pingpong
	up
	all -g 0
}

# bats test_tags=long
@test "RoCE v2, by the IPv4 GID" {
	needs ibv_rc_pingpong
	up
	all -g 1
}

@test "InfiniBand" {
	needs ibv_rc_pingpong
	up --fabric ib-ndr
	all
}

@test "an option that older versions had" {
	needs ibv_rc_pingpong
	up
	EXEC=--drop-in pair ibv_rc_pingpong -g 0 -n 50
}

@test "two programs on one host" {
	needs ibv_rc_pingpong
	up --hosts 1
	port=$(free_port)
	serve_at "$port" ibv_rc_pingpong -g 0 -n 200 -p "$port"
	on h1 ibv_rc_pingpong -g 0 -n 200 -p "$port" 127.0.0.1
	served
}

@test "a path MTU above the fabric's is refused" {
	needs ibv_rc_pingpong ibv_devinfo
	printf 'topology: {kind: single, hosts: 3}\nfabric: {profile: roce-400g, mtu: 1024B}\n' >small.yaml
	up small.yaml
	[[ "$(on h1 ibv_devinfo)" == *"active_mtu:"*"1024 (3)"* ]]
	pair ibv_rc_pingpong -g 0 -n 100 -m 1024
	port=$(free_port)
	serve_at "$port" ibv_rc_pingpong -p "$port" -g 0 -n 100 -m 2048
	run on h2 ibv_rc_pingpong -p "$port" -g 0 -n 100 -m 2048 127.0.0.1
	[ "$status" -ne 0 ]
	ended "$server" && false
	grep -q "Failed to modify QP to RTR" server.txt
	server=
}
