#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live timeout=300
# Programs that connect with librdmacm, as Debian ships them, on both fabrics and with both libraries.

bats_require_minimum_version 1.5.0
load common

# ready HOST N: waits until programs of the host listen for N services, for ten seconds at most.
ready() {
	local i
	for ((i = 0; i < 200; i++)); do
		if "$WEFT" status --json | python3 -c '
import json, sys
hosts = json.load(sys.stdin)["hosts"]
n = sum(p["listens"] for h in hosts if h["name"] == sys.argv[1] for p in h["programs"])
sys.exit(n < int(sys.argv[2]))' "$1" "$2"; then
			return 0
		fi
		sleep 0.05
	done
	echo "nobody listens on $1:"
	cat server.txt
	return 1
}

# serve PROGRAM ARGS...: starts it on h1 and waits until it listens.
serve() {
	on h1 "$@" >server.txt 2>&1 &
	server=$!
	ready h1 1
}

# served: the server ended well.
served() {
	if ! wait "$server"; then
		echo "the server failed:"
		cat server.txt
		return 1
	fi
	server=
}

# ask PROGRAM ARGS...: runs it on h2; it ends well.
ask() {
	if ! on h2 "$@" >client.txt 2>&1; then
		echo "$*: the client failed:"
		cat client.txt server.txt
		return 1
	fi
}

# connect SERVER -- CLIENT: both end well.
connect() {
	local first=()
	while [ "$1" != -- ]; do
		first+=("$1")
		shift
	done
	shift
	serve "${first[@]}"
	ask "$@"
	served
}

# stop SIGNAL: ends the programs on h1; for servers that go on for ever.
stop() {
	local pid
	for pid in $("$WEFT" status --json | python3 -c '
import json, sys
hosts = json.load(sys.stdin)["hosts"]
print(*[p["pid"] for h in hosts if h["name"] == "h1" for p in h["programs"]])'); do
		kill "-$1" "$pid"
	done
	wait "$server" || true
	server=
}

# all: every program that makes reliable connections.
all() {
	connect rping -s -a 127.77.0.1 -C 20 -V -- rping -c -a 127.77.0.1 -C 20 -V
	connect rping -s -C 5 -S 4000 -V -q -- rping -c -a 127.77.0.1 -C 5 -S 4000 -V -q
	connect rdma_server -- rdma_client -s 127.77.0.1
	connect rdma_xserver -- rdma_xclient -s 127.77.0.1
	connect ucmatose -c 10 -C 20 -S 3000 -- ucmatose -s 127.77.0.1 -c 10 -C 20 -S 3000
	connect ucmatose -c 3 -m -- ucmatose -s 127.77.0.1 -c 3 -m
	connect udaddy -c 5 -C 20 -S 1000 -- udaddy -s 127.77.0.1 -c 5 -C 20 -S 1000
	serve cmtime
	ask cmtime -s 127.77.0.1 -c 100
	stop TERM
}

# sockets: librdmacm's own sockets.
sockets() {
	connect rstream -S all -C 20 -T v -- rstream -s 127.77.0.1 -S all -C 20 -T v
	# Not -T a: its client takes a server that has sent everything and closed for an error.
	connect rstream -S 4096 -C 20 -T n -- rstream -s 127.77.0.1 -S 4096 -C 20 -T n
	connect rstream -S 4096 -C 20 -T b -- rstream -s 127.77.0.1 -S 4096 -C 20 -T b
	connect riostream -S all -C 20 -T v -- riostream -s 127.77.0.1 -S all -C 20 -T v
}

@test "rdma_cm on RoCE v2" {
	needs rping ucmatose
	up
	all
}

@test "rdma_cm on InfiniBand" {
	needs rping ucmatose
	up --fabric ib-ndr
	all
}

@test "rdma_cm with the drop-in library" {
	needs rping ucmatose
	up
	EXEC=--drop-in all
}

@test "rsockets on RoCE v2" {
	needs rstream riostream
	up
	sockets
}

@test "rsockets on InfiniBand" {
	needs rstream riostream
	up --fabric ib-ndr
	sockets
}

@test "perftest connects with -R" {
	needs ib_write_bw ib_send_lat
	local fabric
	for fabric in roce-400g ib-ndr; do
		up --fabric "$fabric"
		connect ib_write_bw -R -n 500 -s 4096 -- ib_write_bw -R -n 500 -s 4096 127.77.0.1
		connect ib_send_lat -R -n 500 -- ib_send_lat -R -n 500 127.77.0.1
		"$WEFT" down
	done
}

# group: a receiver and a sender of datagrams to a multicast group.
group() {
	on h1 mckey -m 239.1.2.3 -C 10 >server.txt 2>&1 &
	server=$!
	# It has joined once its queue pair has buffers; datagrams before that are lost, as they may be.
	for ((i = 0; i < 200; i++)); do
		grep -q "receiving data transfers" server.txt && break
		sleep 0.05
	done
	ask mckey -m 239.1.2.3 -s -C 10
	served
	grep -q "receiving data transfers" server.txt
}

@test "mckey: multicast groups by IP address" {
	needs mckey
	up
	group
	"$WEFT" down
	up --fabric ib-ndr
	group
}

@test "a persistent server, two clients at once, then more" {
	needs rping
	up --hosts 3
	serve rping -s -P -V
	on h2 rping -c -a 127.77.0.1 -C 30 -V >one.txt 2>&1 &
	client=$!
	on h3 rping -c -a 127.77.0.1 -C 30 -V
	wait "$client"
	client=
	on h1 rping -c -a 127.77.0.1 -C 5 -V
	on h2 rping -c -a 127.0.0.1 -C 5 -V
	stop TERM
}

@test "nobody listens, nobody is there" {
	needs rping
	up
	run on h2 rping -c -a 127.77.0.1 -C 1
	[ "$status" -ne 0 ]
	[[ "$output" == *"RDMA_CM_EVENT_REJECTED, error 8"* ]]
	run on h2 rping -c -a 127.77.0.9 -C 1
	[ "$status" -ne 0 ]
	[[ "$output" == *"RDMA_CM_EVENT_ADDR_ERROR"* ]]
	run on h2 rping -s -a 127.77.0.1 -C 1
	[ "$status" -ne 0 ]
	[[ "$output" == *"Cannot assign requested address"* ]]
}

@test "a port is one program's, on each host" {
	needs rping
	up
	serve rping -s -C 1
	run on h1 rping -s -C 1
	[ "$status" -ne 0 ]
	[[ "$output" == *"Address already in use"* ]]
	# Another host has ports of its own.
	on h2 rping -s -C 1 >other.txt 2>&1 &
	client=$!
	ready h2 1
	on h1 rping -c -a 127.77.0.2 -C 1
	wait "$client"
	client=
	ask rping -c -a 127.77.0.1 -C 1
	served
	# It is free again.
	connect rping -s -C 1 -- rping -c -a 127.77.0.1 -C 1
}

@test "who is killed is disconnected" {
	needs rping
	up
	serve rping -s -P
	on h2 rping -c -a 127.77.0.1 -C 100000000 -d >client.txt 2>&1 &
	client=$!
	for ((i = 0; i < 200; i++)); do
		[ "$(grep -c "send completion" client.txt)" -gt 2 ] && break
		sleep 0.05
	done
	stop KILL
	wait "$client" || true
	client=
	grep -qE "RDMA_CM_EVENT_DISCONNECTED|cq completion failed|wr flushed" client.txt
	# The port is free at once.
	connect rping -s -C 1 -- rping -c -a 127.77.0.1 -C 1
}
