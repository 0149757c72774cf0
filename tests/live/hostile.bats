#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# Surroundings that wish a program no good: it is stopped and killed at any time, or there is too little of
# something. It works, or ends with an error that is said; the fabric goes on, and nothing is left in the end.

bats_require_minimum_version 1.5.0
load common

# start ARGS...: the fabric, with the daemon in $daemon; LIMIT is how ulimit bounds it.
start() {
	(
		# shellcheck disable=SC2086
		[ -z "${LIMIT-}" ] || ulimit $LIMIT
		exec "$WEFT" up --foreground "$@"
	) 3>&- &
	daemon=$!
	answers() { "$WEFT" status >/dev/null 2>&1; }
	until_true answers
}

# usable: two programs do what they should, all others are gone, and after the fabric nothing is left.
usable() {
	until_true alone
	pair ibv_rc_pingpong -g 0 -n 100 -e
	"$WEFT" down
	[ -z "${daemon-}" ] || ended "$daemon"
	nothing_left() { [ -z "$(ls -A "$WEFT_RUNTIME_DIR")" ]; }
	until_true nothing_left
	[ -z "$(find /dev/shm -user "$(id -u)" -name '*weft*' 2>/dev/null)" ]
}

# sanitized: programs have a sanitizer in them, which wants more memory than there is.
sanitized() {
	ldd "$WEFT" | grep -q 'lib[at]san'
}

# traffic: mixed traffic of which every byte is checked, between $server and $client; seconds of it.
traffic() {
	local megabytes=64
	needs cc
	sanitized || megabytes=2000
	cc -O2 -o traffic "$WEFT_SOURCE_DIR/tests/live/traffic.c" -libverbs
	spawn h1 ./traffic . 0 "$megabytes" >server.txt 2>&1
	server=$pid
	spawn h2 ./traffic . 1 "$megabytes" >client.txt 2>&1
	client=$pid
	until_true above tx_packets 100
}

# all_right: it has ended, and all was right.
all_right() {
	local one
	for one in "$server" "$client"; do
		ended "$one" || {
			cat server.txt client.txt
			return 1
		}
	done
	grep -q "all is right" server.txt
	grep -q "all is right" client.txt
	server= client=
}

# stop_and_go PID...: each in turn is stopped and goes on, as long as all of them are there, 100 times at most.
stop_and_go() {
	local one i
	for ((i = 0; i < 100; i++)); do
		for one in "$@"; do
			halt "$one" 2>/dev/null || return 0
			kill -CONT "$one" || return 0
		done
	done
}

# bats test_tags=checked
@test "programs and daemon are stopped and go on, and nobody notices: RoCE v2" {
	start
	traffic
	stop_and_go "$server" "$client" "$daemon"
	all_right
	usable
}

@test "programs and daemon are stopped and go on, and nobody notices: InfiniBand" {
	start --fabric ib-ndr
	traffic
	stop_and_go "$server" "$client" "$daemon"
	all_right
	usable
}

# bats test_tags=checked
@test "a daemon that is stopped: transfers go on to their end, and others hear of it" {
	needs ib_send_bw rping
	start
	both ib_send_bw -F -n 20000
	until_true above tx_packets 1000
	halt "$daemon"
	run ! on h2 true
	[[ "$output" == *"process $daemon is stopped"* ]]
	run ! "$WEFT" status
	[[ "$output" == *"process $daemon is stopped"* ]]
	# Their end does not depend on it.
	ended "$client"
	ended "$server"
	server= client=
	kill -CONT "$daemon"
	usable
}

# bats test_tags=checked
@test "several start a fabric at once: one does, and it answers" {
	for ((i = 0; i < 25; i++)); do
		ups=()
		for ((k = 0; k < 3; k++)); do
			"$WEFT" up >"up$k.txt" 2>&1 3>&- &
			ups+=($!)
		done
		won=0
		for pid in "${ups[@]}"; do
			if ended "$pid"; then
				won=$((won + 1))
			fi
		done
		[ "$won" -eq 1 ]
		[ "$(cat up?.txt | grep -c "a fabric runs at")" -eq 2 ]
		"$WEFT" status >status.txt
		"$WEFT" down
	done
	nothing_left() { [ -z "$(ls -A "$WEFT_RUNTIME_DIR")" ]; }
	until_true nothing_left
}

# bats test_tags=checked
@test "a program's own fabric lives as long as it does, whatever it closes" {
	needs ibv_devinfo ibv_asyncwatch
	nothing_left() { [ -z "$(ls -A "$WEFT_RUNTIME_DIR")" ]; }
	# Descriptors that it does not know, as servers close them.
	on "" bash -c 'for fd in /proc/self/fd/*; do fd=${fd##*/}; [ "$fd" -le 2 ] || eval "exec $fd>&-"; done
		ibv_devinfo' | grep -q PORT_ACTIVE
	until_true nothing_left
	# A child that has nothing to do with it does not keep it.
	on "" sh -c 'sleep 1000 >/dev/null 2>&1 3>&- & echo $! >child.txt; ibv_devinfo >/dev/null'
	until_true nothing_left
	kill "$(cat child.txt)"
	# One that uses it does.
	on "" sh -c 'stdbuf -oL ibv_asyncwatch >watch.txt 2>&1 3>&- & echo $! >child.txt
		while ! grep -q "weft0: " watch.txt; do sleep 0.05; done'
	fabric=$(basename "$WEFT_RUNTIME_DIR"/exec-*.sock .sock)
	"$WEFT" status --name "$fabric" | grep -q asyncwatch
	kill -9 "$(cat child.txt)"
	until_true nothing_left
}

# bats test_tags=checked
@test "who asks for metrics and does not read them keeps nobody waiting" {
	needs python3 ibv_rc_pingpong curl
	port=$(free_port)
	start --hosts 1000 --metrics "127.0.0.1:$port"
	cat >slow.py <<-'END'
		import socket, sys, time
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
		# The system buffers by the size of segments: with those of loopback, a whole page.
		s.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
		s.connect(("127.0.0.1", int(sys.argv[1])))
		s.send(b"GET /metrics HTTP/1.1\r\n\r\n")
		print(len(s.recv(100)), flush=True)
		time.sleep(1000)
	END
	for ((i = 0; i < 10; i++)); do
		python3 slow.py "$port" >"slow$i.txt" 3>&- &
	done
	some() { cat slow?.txt | grep -q 100; }
	until_true some
	"$WEFT" status >status.txt
	pair ibv_rc_pingpong -g 0 -n 100
	# Their places are others' when they are needed.
	curl -sf "http://127.0.0.1:$port/metrics" >metrics.txt
	[ "$(grep -c '^node_infiniband_state_id{host="h[0-9]*"' metrics.txt)" -eq 1000 ]
}

# serve_rping: a server on h1 that takes clients one after the other; on h1 there is no other.
serve_rping() {
	spawn h1 rping -s -P >server.txt 2>&1
	server=$pid
	until_true above listens 0
}

@test "programs are killed in the middle of a handshake, and others connect" {
	needs rping
	start
	serve_rping
	for ((i = 0; i < 20; i++)); do
		spawn h2 rping -c -a 127.77.0.1 -C 1000000 >client.txt 2>&1
		client=$pid
		sleep "0.0$((RANDOM % 90 + 10))" # time: it is killed at any
		kill -9 "$client" 2>/dev/null || cat client.txt
		ends "$client"
		# It gives up when a client is gone that it has accepted just now, which is the program's own idea.
		kill -0 "$server" 2>/dev/null || serve_rping
	done
	for ((i = 0; i < 10; i++)); do
		kill -9 "$server" 2>/dev/null || true
		ends "$server"
		serve_rping
		spawn h2 rping -c -a 127.77.0.1 -C 1000000 >client.txt 2>&1
		client=$pid
		sleep "0.0$((RANDOM % 90 + 10))" # time: it is killed at any
		kill -9 "$server"
		ends "$server"
		# Refused, or disconnected: it hears of it.
		ends "$client"
	done
	serve_rping
	ask rping -c -a 127.77.0.1 -C 10 -V
	kill -9 "$server"
	ends "$server"
	client= server=
	usable
}

# bounded_end FILE STATUS: a program that had too little of something has worked or said why not.
bounded_end() {
	# Not by the test's patience, and not by a signal.
	if [ "$2" -eq 124 ] || { [ "$2" -gt 128 ] && [ "$2" -lt 192 ]; } || { [ "$2" -ne 0 ] && [ ! -s "$1" ]; }; then
		echo "$1: status $2"
		cat "$1"
		return 1
	fi
}

# limited OPTION VALUE PROGRAM ARGS...: runs it on h1 with a resource limit, which weft exec has as well.
limited() {
	local option=$1 value=$2 rc=0
	shift 2
	(
		ulimit "$option" "$value"
		on h1 "$@"
	) >limited.txt 2>&1 </dev/null || rc=$?
	bounded_end limited.txt "$rc" || {
		echo "ulimit $option $value: $*"
		return 1
	}
}

# wrapped PROGRAM WORDS: makes ./PROGRAM, which runs it after these words.
wrapped() {
	printf '#!/bin/sh\n%s %s "$@"\n' "$2" "$(command -v "$1")" >"$1"
	chmod +x "$1"
}

# bats test_tags=checked
@test "a program with few descriptors" {
	needs ibv_devinfo ibv_rc_pingpong rping
	start
	for ((n = 4; n < 20; n++)); do
		limited -n "$n" ibv_devinfo
		# weft's own words for it.
		! grep "^weft" limited.txt || grep -q "Too many open files" limited.txt
	done
	grep -q PORT_ACTIVE limited.txt
	for ((n = 6; n < 26; n += 2)); do
		limited -n "$n" rping -c -a 127.77.0.2 -C 1
		port=$(free_port)
		spawn h2 ibv_rc_pingpong -g 0 -n 20 -p "$port" >server.txt 2>&1
		server=$pid
		listens "$port" "$server"
		limited -n "$n" ibv_rc_pingpong -g 0 -n 20 -p "$port" 127.0.0.1
		kill -9 "$server" 2>/dev/null || true
		ends "$server"
		server=
	done
	# What is enough is enough.
	grep -q usec/iter limited.txt
	usable
}

# settled FILE: the program that writes there is in, or has ended.
settled() {
	grep -q "weft0: " "$1" || ! kill -0 "$pid" 2>/dev/null
}

# bats test_tags=checked
@test "a daemon with few descriptors" {
	needs ibv_asyncwatch
	LIMIT="-n 40" start
	pids=()
	# One that gets in says so; one that does not ends with an error.
	for ((n = 0; n < 40; n++)); do
		spawn h1 stdbuf -oL ibv_asyncwatch >"watch$n.txt" 2>&1
		until_true settled "watch$n.txt"
		kill -0 "$pid" 2>/dev/null || break
		pids+=("$pid")
	done
	[ "$n" -gt 0 ]
	[ "$n" -lt 40 ]
	fails "$pid"
	cat "watch$n.txt"
	[ -s "watch$n.txt" ]
	kill -9 "${pids[@]}"
	for pid in "${pids[@]}"; do
		ends "$pid"
	done
	until_true answers
	usable
}

# bats test_tags=checked
@test "stacks of 64 KiB" {
	needs ibv_rc_pingpong rping ib_write_bw
	! sanitized || skip "the sanitizer wants more"
	LIMIT="-s 64" start
	for one in ibv_rc_pingpong ib_write_bw rping; do
		wrapped "$one" "ulimit -S -s 64 && exec"
	done
	pair ./ibv_rc_pingpong -g 0 -n 100 -e
	pair ./ib_write_bw -F -n 100
	spawn h1 ./rping -s -C 10 -V >server.txt 2>&1
	server=$pid
	until_true above listens 0
	ask ./rping -c -a 127.77.0.1 -C 10 -V
	served
	usable
}

# bats test_tags=checked
@test "little address space" {
	needs ibv_devinfo
	! sanitized || skip "the sanitizer wants more"
	start
	for kb in 10000 20000 40000 60000 80000 100000 150000 200000 400000 800000; do
		limited -v "$kb" ibv_devinfo
	done
	grep -q PORT_ACTIVE limited.txt
	"$WEFT" down
	ended "$daemon"
	for kb in 10000 20000 40000 80000 160000; do
		rc=0
		(ulimit -v "$kb" && exec timeout 300 "$WEFT" up) >up.txt 2>&1 || rc=$?
		bounded_end up.txt "$rc"
		[ "$rc" -ne 0 ] || "$WEFT" down
	done
	start
	usable
}

# bats test_tags=checked
@test "without standard input, output and error" {
	needs ibv_rc_pingpong rping
	"$WEFT" up <&- >&- 2>&-
	port=$(free_port)
	# Its words go nowhere; what it does is seen by its status.
	spawn h1 sh -c 'exec "$@" <&- >&- 2>&-' sh ibv_rc_pingpong -g 0 -n 100 -e -c -p "$port"
	server=$pid
	listens "$port" "$server"
	on h2 sh -c 'exec "$@" <&- >&- 2>&-' sh ibv_rc_pingpong -g 0 -n 100 -e -c -p "$port" 127.0.0.1
	ended "$server"
	"$WEFT" exec --host h1 -- rping -s -C 10 -v -V <&- >&- 2>&- 3>&- &
	server=$!
	until_true above listens 0
	on h2 rping -c -a 127.77.0.1 -C 10 -v -V <&- >&- 2>&-
	ended "$server"
	server=
	usable
}

# bats test_tags=long
@test "nice 19, beside programs that take all CPUs" {
	needs rping ibv_rc_pingpong
	hogs=()
	for ((i = 0; i < $(nproc); i++)); do
		(while :; do :; done) 3>&- &
		hogs+=($!)
	done
	start
	wrapped ibv_rc_pingpong "exec nice -n 19"
	pair ./ibv_rc_pingpong -g 0 -n 10 -e
	pair ./ibv_rc_pingpong -g 0 -n 10
	spawn h1 nice -n 19 rping -s -C 10 -V >server.txt 2>&1
	server=$pid
	until_true above listens 0
	ask rping -c -a 127.77.0.1 -C 10 -V
	served
	kill -9 "${hogs[@]}"
	for pid in "${hogs[@]}"; do
		ends "$pid"
	done
	usable
}

# bats test_tags=checked
@test "a full disk" {
	needs ibv_devinfo unshare mount
	unshare -Urm true 2>/dev/null || skip "user namespaces cannot be made here"
	mkdir small
	cat >full.sh <<-'END'
		set -eu
		mount -t tmpfs -o "$1" none small || exit 77
		export WEFT_RUNTIME_DIR=$PWD/small/weft
		fill() { dd if=/dev/zero of=small/full bs=4096 count=1024 2>/dev/null || true; }
		empty() {
			for _ in $(seq 2400); do
				[ -n "$(ls -A small/weft 2>/dev/null)" ] || return 0
				sleep 0.05
			done
			ls -AR small/weft
			return 1
		}
		# So many blocks are free: it is enough, or that it is not is said; nothing is left.
		for free in 0 1 2 8 32 128; do
			fill
			truncate -s "$(($(stat -c %s small/full) - free * 4096))" small/full
			rc=0
			{ "$WEFT" up && "$WEFT" exec --host h1 -- ibv_devinfo; } >said.txt 2>&1 || rc=$?
			[ $rc -ne 0 ] || grep -q PORT_ACTIVE said.txt
			[ $rc -eq 0 ] || grep "No space left on device" said.txt || {
				echo "$free blocks: $rc"
				cat said.txt
				exit 1
			}
			"$WEFT" down 2>/dev/null || true
			empty
			rm small/full
		done
		[ "$1" = size=4m ] || exit 0
		# Programs that are there go on, and a capture says that it cannot.
		"$WEFT" up
		"$WEFT" exec --host h1 -- true
		fill
		"$WEFT" exec --host h1 -- ibv_devinfo | grep -q PORT_ACTIVE
		rc=0
		timeout 300 "$WEFT" capture -o small/packets.pcapng >said.txt 2>&1 || rc=$?
		cat said.txt
		[ $rc -eq 1 ]
		grep -q "No space left on device" said.txt
		"$WEFT" down
		empty
	END
	rc=0
	unshare -Urm bash full.sh size=4m || rc=$?
	[ "$rc" -ne 77 ] || skip "no file system can be mounted here"
	[ "$rc" -eq 0 ]
	unshare -Urm bash full.sh size=64k
	unshare -Urm bash full.sh size=4m,nr_inodes=20
}
