#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live timeout=300
# What is killed without warning: others get the errors that the specification names, and nothing is left.

load common

# begin: a transfer that would take very long; its pids are in $server and $client.
begin() {
	local port
	port=$(free_port)
	"$WEFT" exec --host h1 -- ib_send_bw -F -D 1000 -p "$port" >server.txt 2>&1 &
	server=$!
	listens "$port"
	"$WEFT" exec --host h2 -- ib_send_bw -F -D 1000 -p "$port" 127.0.0.1 >client.txt 2>&1 &
	client=$!
	busy
}

# busy: waits until both have sent something.
busy() {
	local i
	for ((i = 0; i < 200; i++)); do
		"$WEFT" status --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
sys.exit(any(sum(p["tx_packets"] for p in h["programs"]) < 100 for h in d["hosts"]))' && return 0
		sleep 0.05
	done
	return 1
}

# ends PID: waits for the end of a process, for a minute at most, and says how it ended.
ends() {
	local i
	for ((i = 0; i < 600; i++)); do
		if ! kill -0 "$1" 2>/dev/null; then
			status=0
			wait "$1" || status=$?
			return 0
		fi
		sleep 0.1
	done
	return 1
}

# alone: waits until no program is attached any more.
alone() {
	local i
	for ((i = 0; i < 100; i++)); do
		[[ "$("$WEFT" status --json)" == *'"pid"'* ]] || return 0
		sleep 0.05
	done
	return 1
}

@test "a peer is killed: its partner's sends fail, and the fabric goes on" {
	needs ib_send_bw ibv_rc_pingpong
	up
	begin
	kill -9 "$server"
	wait "$server" || true
	server=
	ends "$client"
	client=
	[ "$status" -ne 0 ]
	grep -q "vendor err\|status 12\|transport retry\|Failed status" client.txt
	alone
	pair ibv_rc_pingpong -g 0 -n 100
}

@test "the daemon is killed: the port goes down, sends fail, a new fabric works at once" {
	needs ib_send_bw ibv_rc_pingpong
	"$WEFT" up --foreground &
	daemon=$!
	for ((i = 0; i < 100; i++)); do
		"$WEFT" status >/dev/null 2>&1 && break
		sleep 0.05
	done
	begin
	kill -9 "$daemon"
	wait "$daemon" || true
	ends "$client"
	client=
	[ "$status" -ne 0 ]
	kill -9 "$server"
	server=
	up
	pair ibv_rc_pingpong -g 0 -n 100
}

@test "no shared memory is left behind" {
	needs ib_send_bw
	up
	ls /dev/shm >before.txt
	begin
	kill -9 "$server" "$client"
	wait "$server" "$client" || true
	server=
	client=
	alone
	ls /dev/shm >after.txt
	diff before.txt after.txt
}

@test "a program that does nothing uses no CPU" {
	needs ibv_rc_pingpong
	up
	port=$(free_port)
	# It waits for a connection, with its device open.
	"$WEFT" exec --host h1 -- ibv_rc_pingpong -g 0 -p "$port" >server.txt 2>&1 &
	server=$!
	listens "$port"
	sleep 0.2
	read -r _ _ _ _ _ _ _ _ _ _ _ _ _ user1 system1 _ <"/proc/$server/stat"
	sleep 3
	read -r _ _ _ _ _ _ _ _ _ _ _ _ _ user2 system2 _ <"/proc/$server/stat"
	# In hundredths of a second, of which there were 300.
	[ $((user2 + system2 - user1 - system1)) -eq 0 ]
}
