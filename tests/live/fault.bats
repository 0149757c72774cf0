#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live timeout=600
# Faults on demand, while unmodified programs run.

bats_require_minimum_version 1.5.0
load common

fault() {
	"$WEFT" fault "$@"
}

# total FIELD: the sum of a counter over all programs there are.
total() {
	"$WEFT" status --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(sum(p[sys.argv[1]] for h in d["hosts"] for p in h["programs"]))' "$1"
}

# until_true COMMAND: tries it for twenty seconds at most.
until_true() {
	local i
	for ((i = 0; i < 400; i++)); do
		"$@" && return 0
		sleep 0.05
	done
	return 1
}

moves() {
	[ "$(total tx_packets)" -gt 1000 ]
}

counted() {
	"$WEFT" status --json | python3 -c '
import json, sys
p = [p for h in json.load(sys.stdin)["hosts"] for p in h["programs"]]
sys.exit(not all(sum(q[c] for q in p) for c in ("lost", "icrc_errors", "retransmits")))'
}

# fails PID: waits for it, and it must not end well.
fails() {
	local rc=0
	wait "$1" || rc=$?
	[ "$rc" -ne 0 ]
}

# start PROGRAM ARGS...: a server on h1 and a client on h2 in the background.
start() {
	local port program=$1
	shift
	port=$(free_port)
	on h1 "$program" -p "$port" "$@" >server.txt 2>&1 &
	server=$!
	listens "$port"
	on h2 "$program" -p "$port" "$@" 127.0.0.1 >client.txt 2>&1 &
	client=$!
	until_true moves
}

@test "list, clear, what is wrong is said" {
	up
	[ "$(fault list)" = "no faults" ]
	fault link h1-s1 loss 0.1% corrupt 1%
	fault link s1-h2 delay 10us
	fault pause-storm h2
	run fault list
	[[ "${lines[0]}" == "link h1-s1: loss 0.1% corrupt 1%" ]]
	[[ "${lines[1]}" == "link h2-s1: delay 10us pause-storm" ]]
	fault pause-storm h2 off
	fault clear h1
	[ "$(fault list)" = "link h2-s1: delay 10us" ]
	fault clear
	[ "$(fault list)" = "no faults" ]
	fault loss 1%
	fault list --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert [h["host"] for h in d] == ["h1", "h2"] and all(abs(h["loss"] - .01) < 1e-9 for h in d), d'
	run -2 fault link h9-s1 down
	[[ "$output" == *"no host and no link"* ]]
	run -2 fault link h1-s1 loss 101%
	run -2 fault link h1-s1 los 1%
	[[ "$output" == *"loss"* ]]
	run -2 fault link h1-s1 delay
	run -2 fault link h1-s1
	run -2 fault kill-host
	run -2 fault
}

@test "0.1 % loss and corruption: every byte arrives, on both fabrics" {
	needs ibv_rc_pingpong
	local fabric
	for fabric in roce-400g ib-ndr; do
		up --fabric "$fabric"
		fault loss 0.1% corrupt 0.1%
		pair ibv_rc_pingpong -g 0 -n 500 -s 65536 -c
		"$WEFT" down
	done
}

@test "perftest under loss and corruption: all of it, and counted" {
	needs ib_write_bw ib_send_bw
	up
	fault loss 0.1% corrupt 0.1%
	start ib_send_bw -D 8 -s 16384 --force-link=Ethernet -x 1 -u 16
	until_true counted
	wait "$client"
	wait "$server"
	server= client=
}

@test "delay: a message takes milliseconds" {
	needs ib_send_lat
	up
	fault delay 500us
	pair ib_send_lat -n 100 -s 8 -x 1 --force-link=Ethernet
	# Two links of 500 us one way; t_typical is the fifth column.
	awk '/^ *8 / { if ($5 < 1000 || $5 > 20000) exit 1; seen = 1 } END { exit !seen }' client.txt
}

@test "link down during a transfer: RETRY_EXC_ERR after the retries, PORT_ERR, and up again" {
	needs ib_write_bw
	up
	start ib_write_bw -D 40 -s 65536 --force-link=Ethernet -x 1 -u 14
	fault link h1-s1 down
	[[ "$("$WEFT" status)" == *"h1 "*"down"* ]]
	fails "$client"
	cat client.txt
	grep -q "status 12" client.txt # IBV_WC_RETRY_EXC_ERR
	kill -9 "$server" 2>/dev/null || true
	fault link h1-s1 up
	server= client=
	pair ibv_rc_pingpong -g 0 -n 100
}

@test "asynchronous events of the port" {
	needs ibv_asyncwatch
	up
	on h1 stdbuf -oL ibv_asyncwatch >events.txt 2>&1 &
	client=$!
	until_true grep -q "weft0" events.txt
	fault link h1-s1 down
	until_true grep -q PORT_ERR events.txt
	fault link h1-s1 up
	until_true grep -q PORT_ACTIVE events.txt
	# It is not h1's port.
	fault link h2-s1 down
	[ "$(grep -c PORT_ERR events.txt)" -eq 1 ]
}

@test "a link that is down for less than the retries is not noticed" {
	needs ib_write_bw
	up
	start ib_write_bw -D 4 -s 65536 --force-link=Ethernet -x 1 -u 16
	fault link h2-s1 down
	sleep 0.1
	fault link h2-s1 up
	wait "$client"
	wait "$server"
	server= client=
}

@test "pause-storm: nothing gets to the host, and goes on when it ends" {
	needs ib_write_bw
	up
	start ib_write_bw -D 6 -s 65536 --force-link=Ethernet -x 1 -u 18
	fault pause-storm h1
	sleep 0.2
	before=$(total rx_packets)
	sleep 0.3
	[ "$(total rx_packets)" -eq "$before" ]
	fault clear
	wait "$client"
	wait "$server"
	server= client=
}

@test "kill-host: its programs end, peers get RETRY_EXC_ERR, it can be brought back" {
	needs ib_write_bw
	up
	start ib_write_bw -D 40 -s 65536 --force-link=Ethernet -x 1 -u 14
	fault kill-host h1
	fails "$server"
	fails "$client"
	grep -q "status 12" client.txt
	server= client=
	run -1 "$WEFT" exec --host h1 -- true
	[[ "$output" == *"was killed"* ]]
	[[ "$(fault list)" == *"host dead"* ]]
	fault clear h1
	pair ibv_rc_pingpong -g 0 -n 100
}
