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

@test "with the drop-in library" {
	needs ibv_rc_pingpong
	up
	EXEC=--drop-in all -g 0
}

@test "two programs on one host" {
	needs ibv_rc_pingpong
	up --hosts 1
	port=$(free_port)
	serve_at "$port" ibv_rc_pingpong -g 0 -n 200 -p "$port"
	on h1 ibv_rc_pingpong -g 0 -n 200 -p "$port" 127.0.0.1
	served
}
