#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# What is killed without warning: others get the errors that the specification names, and nothing is left.

load common

# busy: both have sent something.
busy() {
	"$WEFT" status --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
sys.exit(any(sum(p["tx_packets"] for p in h["programs"]) < 100 for h in d["hosts"]))'
}

# begin: a transfer that does not end by itself.
begin() {
	both ib_send_bw -F --run_infinitely -D 1
	until_true busy
}

# gives_up: the client ends with IBV_WC_RETRY_EXC_ERR.
gives_up() {
	fails "$client"
	client=
	cat client.txt
	grep -q "status 12" client.txt
}

# answers: the daemon does.
answers() {
	"$WEFT" status >/dev/null 2>&1
}

@test "a peer is killed: its partner's sends fail, and the fabric goes on" {
	needs ib_send_bw ibv_rc_pingpong
	up
	begin
	kill -9 "$server"
	ended "$server" || true
	server=
	gives_up
	until_true alone
	pair ibv_rc_pingpong -g 0 -n 100
}

@test "the daemon is killed: the port goes down, sends fail, a new fabric works at once" {
	needs ib_send_bw ibv_rc_pingpong ibv_asyncwatch
	"$WEFT" up --foreground 3>&- &
	daemon=$!
	until_true answers
	spawn h1 stdbuf -oL ibv_asyncwatch >events.txt 2>&1
	watcher=$pid
	until_true grep -q weft0 events.txt
	begin
	kill -9 "$daemon"
	ended "$daemon" || true
	until_true grep -q PORT_ERR events.txt
	kill -9 "$watcher"
	gives_up
	kill -9 "$server" 2>/dev/null || true
	server=
	up
	pair ibv_rc_pingpong -g 0 -n 100
}

# held: files that the daemon holds, shared memory and sockets among them.
held() {
	find "/proc/$daemon/fd" -type l | wc -l
}

@test "no shared memory is left behind" {
	needs ib_send_bw
	"$WEFT" up --foreground 3>&- &
	daemon=$!
	until_true answers
	before=$(held)
	begin
	[ "$(held)" -gt "$before" ]
	kill -9 "$server" "$client"
	ended "$server" || true
	ended "$client" || true
	server= client=
	until_true alone
	given_back() { [ "$(held)" -le "$before" ]; }
	until_true given_back
	# It has no names; what is there is others'.
	[ -z "$(find /dev/shm -name '*weft*' -user "$(id -u)" 2>/dev/null)" ]
	"$WEFT" down
	ended "$daemon"
	[ -z "$(ls "$WEFT_RUNTIME_DIR")" ]
}
