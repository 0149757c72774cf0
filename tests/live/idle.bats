#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# Programs that wait, with their device open, and the daemon: under a thousandth of a CPU.

load common

# used PID...: nanoseconds of CPU time that all threads of these have used.
used() {
	local pid
	for pid in "$@"; do
		cat /proc/"$pid"/task/*/schedstat
	done | awk '{ n += $1 } END { print n + 0 }'
}

# rests PID...: in two seconds each uses less than a thousandth of them. How much there is to do for others
# does not matter: what counts is not the clock, but how long it ran.
rests() {
	local pid before=() after=()
	for pid in "$@"; do
		before+=("$(used "$pid")")
	done
	sleep 2
	for pid in "$@"; do
		after+=("$(used "$pid")")
	done
	for ((i = 0; i < $#; i++)); do
		echo "${*:i + 1:1}: $((after[i] - before[i])) ns in two seconds"
		[ $((after[i] - before[i])) -lt 2000000 ] || return 1
	done
	# One that has ended uses nothing, either.
	kill -0 "$@"
}

# come_to_rest PID...: they do, soon after they have begun to wait.
come_to_rest() {
	local i
	for ((i = 0; i < 30; i++)); do
		rests "$@" && return 0
	done
	return 1
}

setup_daemon() {
	[ -r /proc/self/schedstat ] || skip "the kernel does not tell how long a thread has run"
	"$WEFT" up --foreground "$@" 3>&- &
	daemon=$!
	answers() { "$WEFT" status >/dev/null 2>&1; }
	until_true answers
}

@test "programs that wait for a connection, an event, a client" {
	needs ibv_rc_pingpong ibv_asyncwatch rping
	setup_daemon
	port=$(free_port)
	serve_at "$port" ibv_rc_pingpong -e -g 0 -p "$port"
	spawn h1 ibv_asyncwatch >events.txt 2>&1
	client=$pid
	spawn h2 rping -s -P >rping.txt 2>&1
	waiting=$pid
	there() { [ "$("$WEFT" status --json | grep -o '"pid"' | wc -l)" -eq 3 ]; }
	until_true there
	come_to_rest "$daemon" "$server" "$client" "$waiting"
	kill -9 "$waiting"
}

# bats test_tags=long
@test "programs whose queue pairs are connected, and whose partner says nothing" {
	needs ibv_rc_pingpong
	setup_daemon
	# It sleeps until the next message, which does not come.
	both ibv_rc_pingpong -e -g 0 -n 100000000
	until_true above tx_packets 1000
	kill -STOP "$client"
	come_to_rest "$daemon" "$server"
	kill -CONT "$client"
	seen=$(total tx_packets)
	until_true above tx_packets $((seen + 1000))
}
