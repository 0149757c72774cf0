#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# Faults on demand, while unmodified programs run.

bats_require_minimum_version 1.5.0
load common

fault() {
	"$WEFT" fault "$@"
}

# flow PROGRAM ARGS...: traffic from h2 to h1 that does not end by itself. Waits until it moves.
flow() {
	both "$@" -F -s 65536 --force-link=Ethernet -x 1 --run_infinitely -D 1
	until_true above tx_packets 1000
}

# goes_on: more packets than there were get through, and no program has ended.
goes_on() {
	local seen
	seen=$(total rx_packets)
	until_true above rx_packets $((seen + 1000))
	kill -0 "$client" && kill -0 "$server" && return 0
	cat client.txt server.txt
	return 1
}

stop_flow() {
	kill -9 "$server" "$client"
	ends "$server"
	ends "$client"
	server= client=
}

# bats test_tags=checked
@test "list, clear, what is wrong is said" {
	up
	[ "$(fault list)" = "no faults" ]
	fault link h1-s1 loss 0.1% corrupt 1%
	fault link s1-h2 delay 10us
	fault pause-storm h2
	run -0 fault list
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
d = json.load(sys.stdin)["faults"]
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

# counted: something was lost, something came corrupted, something was sent again.
counted() {
	"$WEFT" status --json | python3 -c '
import json, sys
p = [p for h in json.load(sys.stdin)["hosts"] for p in h["programs"]]
sys.exit(not all(sum(q[c] for q in p) for c in ("lost", "icrc_errors", "retransmits")))'
}

@test "perftest under loss and corruption: it goes on, and all is counted" {
	needs ib_write_bw ib_send_bw
	up
	fault loss 0.1% corrupt 0.1%
	pair ib_send_bw -F -n 2000 -s 16384 --force-link=Ethernet -x 1 -u 16
	flow ib_write_bw -u 16
	until_true counted
	goes_on
	stop_flow
}

# bats test_tags=checked
@test "delay: a message takes milliseconds" {
	needs ibv_rc_pingpong
	up
	fault delay 500us
	pair ibv_rc_pingpong -g 0 -n 100 -s 8
	cat client.txt
	# There and back, two links of 500 us each: 2 ms. The client posts its first message before
	# it reads its clock, so that on a busy machine one of the 100 round trips may be missing.
	awk '/usec\/iter/ { if ($(NF - 1) < 1980) exit 1; seen = 1 } END { exit !seen }' client.txt
}

@test "link down during a transfer: RETRY_EXC_ERR after the retries, PORT_ERR, and up again" {
	needs ib_write_bw
	up
	flow ib_write_bw -u 14
	fault link h1-s1 down
	[[ "$("$WEFT" status)" == *"h1 "*"down"* ]]
	fails "$client"
	cat client.txt
	grep -q "status 12" client.txt # IBV_WC_RETRY_EXC_ERR
	client=
	kill -9 "$server" 2>/dev/null || true
	fault link h1-s1 up
	server=
	pair ibv_rc_pingpong -g 0 -n 100
}

# bats test_tags=checked
@test "asynchronous events of the port" {
	needs ibv_asyncwatch
	up
	spawn h1 stdbuf -oL ibv_asyncwatch >events.txt 2>&1
	client=$pid
	until_true grep -q "weft0" events.txt
	fault link h1-s1 down
	until_true grep -q PORT_ERR events.txt
	fault link h1-s1 up
	until_true grep -q PORT_ACTIVE events.txt
	# It is not h1's port, whose next event is another.
	fault link h2-s1 down
	# Both are told, late as it may look.
	halt "$client"
	fault link h1-s1 down
	fault link h1-s1 up
	kill -CONT "$client"
	active_again() { [ "$(grep -c PORT_ACTIVE events.txt)" -eq 2 ]; }
	until_true active_again
	[ "$(grep -c PORT_ERR events.txt)" -eq 2 ]
	kill -9 "$client"
	# Who comes while it is down hears that it comes up.
	fault link h1-s1 down
	spawn h1 stdbuf -oL ibv_asyncwatch >late.txt 2>&1
	client=$pid
	until_true grep -q "weft0" late.txt
	fault link h1-s1 up
	until_true grep -q PORT_ACTIVE late.txt
	[ "$(grep -c PORT_ERR late.txt)" -eq 0 ]
}

# bats test_tags=checked
@test "a link that is down for less than the retries is not noticed" {
	needs ib_write_bw
	up
	# The retries last for half a minute, one of them for four seconds.
	flow ib_write_bw -u 20
	fault link h2-s1 down
	# What the sender loses must be sent again; a lost acknowledgement need not be.
	until_true above dropped 0 h2
	fault link h2-s1 up
	goes_on
	until_true above retransmits 0
	stop_flow
}

# gives_up HOST: a flow from h2 to HOST, whose link is stopped, uses up its retries, of which it has less patience than
# one with -u 20: so much time has passed, and nothing has got to the host in it.
gives_up() {
	local port flow
	port=$(free_port)
	flow=(ib_write_bw -F -s 65536 --force-link=Ethernet -x 1 --run_infinitely -D 1 -u 14 -p "$port")
	spawn "$1" "${flow[@]}" >other-server.txt 2>&1
	other=$pid
	listens "$port" "$other"
	spawn h2 "${flow[@]}" 127.0.0.1 >other.txt 2>&1
	fails "$pid"
	cat other.txt
	grep -q "status 12" other.txt # IBV_WC_RETRY_EXC_ERR
	kill -9 "$other" 2>/dev/null || true
	ends "$other"
}

# bats test_tags=checked
@test "pause-storm: nothing gets to the host, and goes on when it ends" {
	needs ib_write_bw
	up
	# The retries last for half a minute.
	flow ib_write_bw -u 20
	fault pause-storm h1
	gives_up h1
	fault clear
	goes_on
	stop_flow
}

# bats test_tags=checked
@test "a pause-storm that does not end: RETRY_EXC_ERR" {
	needs ib_write_bw
	up
	flow ib_write_bw -u 14
	fault pause-storm h1
	fails "$client"
	grep -q "status 12" client.txt
	client=
}

# bats test_tags=checked
@test "kill-host: its programs end, peers get RETRY_EXC_ERR, it can be brought back" {
	needs ib_write_bw
	up
	flow ib_write_bw -u 14
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

# bats test_tags=checked
@test "a program that is stopped is not taken for dead" {
	needs ib_write_bw
	up --hosts 3
	flow ib_write_bw -u 14
	halt "$server"
	# As much time passes as its retries take.
	fault pause-storm h3
	gives_up h3
	kill -CONT "$server"
	goes_on
	stop_flow
}
