#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live checked
# What is killed without warning: others get the errors that the specification names, and nothing is left.

bats_require_minimum_version 1.5.0
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

# gives_up STATUS: the client ends with that status of a work completion, or one of those.
gives_up() {
	fails "$client"
	client=
	cat client.txt
	grep -qE "status ($1):" client.txt
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
	ends "$server"
	server=
	gives_up 12 # IBV_WC_RETRY_EXC_ERR
	until_true alone
	pair ibv_rc_pingpong -g 0 -n 100
}

@test "the daemon is killed: the device is gone, sends fail, a new fabric works at once" {
	needs ib_send_bw ibv_rc_pingpong ibv_asyncwatch
	"$WEFT" up --foreground 3>&- &
	daemon=$!
	until_true answers
	spawn h1 stdbuf -oL ibv_asyncwatch >events.txt 2>&1
	watcher=$pid
	until_true grep -q weft0 events.txt
	begin
	kill -9 "$daemon"
	ends "$daemon"
	until_true grep -q DEVICE_FATAL events.txt
	kill -9 "$watcher"
	# IBV_WC_FATAL_ERR is what was under way; where nothing was, what it posts next is IBV_WC_WR_FLUSH_ERR.
	gives_up "19|5"
	# The server waits for what will not come, and hears of it.
	fails "$server"
	server=
	# What is left is said, and does not stand in the way.
	run ! on h1 true
	[[ "$output" == *"is gone: it was killed"* ]]
	run ! "$WEFT" status
	[[ "$output" == *"is gone: it was killed"* ]]
	up
	pair ibv_rc_pingpong -g 0 -n 100
}

# heard WORDS FILE PID: the program has ended, or these words are in the file.
heard() {
	grep -q "$1" "$2" || ! kill -0 "$3" 2>/dev/null
}

@test "the daemon is killed: idle programs of rdma_cm hear of it, and weft down clears up" {
	needs rping
	"$WEFT" up --foreground 3>&- &
	daemon=$!
	until_true answers
	# One pair is connected and rests; one listens for somebody who does not come.
	spawn h1 stdbuf -oL rping -s -v -P >server.txt 2>&1
	server=$pid
	until_true above listens 0
	spawn h2 sh -c 'rping -c -a 127.77.0.1 -C 100000000 -v >client.txt 2>&1'
	client=$pid
	until_true above tx_packets 10
	spawn h2 stdbuf -oL rping -s -v >waits.txt 2>&1
	waits=$pid
	until_true above listens 1
	kill -9 "$daemon"
	ends "$daemon"
	until_true heard "DISCONNECT\|removal" server.txt "$server"
	until_true heard "DISCONNECT\|removal" client.txt "$client"
	ends "$client"
	until_true grep -q removal waits.txt
	kill -9 "$server" "$waits" 2>/dev/null || true
	server= client=
	run "$WEFT" down
	[ "$status" -eq 0 ]
	[[ "$output" == *"what it left is removed"* ]]
	[ -z "$(ls -A "$WEFT_RUNTIME_DIR")" ]
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
	ends "$server"
	ends "$client"
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
