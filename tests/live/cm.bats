#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# Programs that connect with librdmacm, as Debian ships them, on both fabrics and with both libraries.

bats_require_minimum_version 1.5.0
load common

# serve PROGRAM ARGS...: starts it on h1 and waits until it listens.
serve() {
	spawn h1 "$@" >server.txt 2>&1
	server=$pid
	if ! until_true above listens 0 h1; then
		echo "nobody listens on h1:"
		cat server.txt
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

# stop SIGNAL: ends the server; for one that goes on for ever.
stop() {
	kill "-$1" "$server"
	ends "$server"
	server=
}

# all: every program that makes reliable connections.
all() {
	connect rping -s -a 127.77.0.1 -C 20 -V -- rping -c -a 127.77.0.1 -C 20 -V
	connect rping -s -C 5 -S 4000 -V -q -- rping -c -a 127.77.0.1 -C 5 -S 4000 -V -q
	connect rdma_server -- rdma_client -s 127.77.0.1
	connect rdma_xserver -- rdma_xclient -s 127.77.0.1
	connect rdma_xserver -c x -- rdma_xclient -c x -s 127.77.0.1
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

# bats test_tags=checked
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

@test "rsockets on RoCE v2" {
	needs rstream riostream
	up
	sockets
}

# bats test_tags=long
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
		connect ib_write_bw -F -R -n 500 -s 4096 -- ib_write_bw -F -R -n 500 -s 4096 127.77.0.1
		connect ib_send_lat -F -C -R -n 500 -- ib_send_lat -F -C -R -n 500 127.77.0.1
		"$WEFT" down
	done
}

# group: a receiver and a sender of datagrams to a multicast group.
group() {
	spawn h1 stdbuf -oL mckey -m 239.1.2.3 -C 10 >server.txt 2>&1
	server=$pid
	# It has joined once its queue pair has buffers; datagrams before that are lost, as they may be.
	until_true grep -q "receiving data transfers" server.txt
	ask mckey -m 239.1.2.3 -s -C 10
	served
}

# bats test_tags=long
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
	# rping loses one of two requests that come before it has looked at the first.
	spawn h2 rping -c -a 127.77.0.1 -C 1000 -V >one.txt 2>&1
	client=$pid
	until_true above tx_packets 50
	on h3 rping -c -a 127.77.0.1 -C 30 -V
	ended "$client"
	client=
	on h1 rping -c -a 127.77.0.1 -C 5 -V
	on h2 rping -c -a 127.0.0.1 -C 5 -V
	stop TERM
}

# bats test_tags=checked
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

# bats test_tags=checked
@test "a port is one program's, on each host" {
	needs rping
	up
	serve rping -s -C 1
	run on h1 rping -s -C 1
	[ "$status" -ne 0 ]
	[[ "$output" == *"Address already in use"* ]]
	# Another host has ports of its own.
	spawn h2 rping -s -C 1 >other.txt 2>&1
	client=$pid
	until_true above listens 0 h2
	on h1 rping -c -a 127.77.0.2 -C 1
	ended "$client"
	client=
	ask rping -c -a 127.77.0.1 -C 1
	served
	# It is free again.
	connect rping -s -C 1 -- rping -c -a 127.77.0.1 -C 1
}

# bats test_tags=checked
@test "who is killed is disconnected" {
	needs rping
	up
	serve rping -s -P
	spawn h2 rping -c -a 127.77.0.1 -C 100000000 -d >client.txt 2>errors.txt
	client=$pid
	several_sent() { [ "$(grep -c "send completion" client.txt)" -gt 2 ]; }
	until_true several_sent
	stop KILL
	rc=0
	ended "$client" || rc=$?
	client=
	cat errors.txt
	# It ends by itself, whether it takes that for an error or not; 124 is one that had to be killed.
	[ "$rc" -ne 124 ]
	# In a file with its other output this might be in the middle of a word of that, which comes in blocks.
	grep -q "DISCONNECT EVENT" errors.txt
	grep -q "RDMA_CM_EVENT_DISCONNECTED" client.txt
	# The port is free at once.
	connect rping -s -C 1 -- rping -c -a 127.77.0.1 -C 1
}

# late PORT: a server on h1 that has bound its port and does not listen yet, and a client on h2 that connects.
late() {
	spawn h1 /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_late.py" 127.77.0.1 "$1" serve \
		>server.txt 2>&1
	server=$pid
	until_true grep -q "^bound$" server.txt
	spawn h2 /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_late.py" 127.77.0.1 "$1" connect \
		>client.txt 2>&1
	client=$pid
	until_true grep -q "^connecting$" client.txt
	# On a machine that is quick the request now waits, longer than one for a port that nobody has.
	sleep 0.5 # time: that it waits long is what is tested
}

# bats test_tags=checked
@test "a client that is early waits for a server that has bound its port" {
	/usr/bin/python3 -c 'import pyverbs.cmid' 2>/dev/null || skip "python3-pyverbs is not installed"
	up
	late 7711
	touch go
	ended "$client" || {
		cat client.txt server.txt
		return 1
	}
	client=
	grep -q "^connected$" client.txt
	served
}

# bats test_tags=checked
@test "a client that is early is rejected when that server ends" {
	/usr/bin/python3 -c 'import pyverbs.cmid' 2>/dev/null || skip "python3-pyverbs is not installed"
	up
	late 7712
	stop KILL
	fails "$client"
	client=
	cat client.txt
	grep -q "^rejected$" client.txt
}

# rs PROGRAM ARGS...: what runs it with sockets that are rsockets. weft's library stays before librspreload.
rs() {
	local lib
	lib=$(echo /usr/lib/*/rsocket/librspreload.so.1)
	[ -e "$lib" ] || skip "librspreload is not installed (scripts/setup --test)"
	# shellcheck disable=SC2016
	as=(sh -c 'LD_PRELOAD=$LD_PRELOAD:$0 exec "$@"' "$lib" "$@")
}

# carried: how many packets h1 has received.
carried() {
	on h1 cat /sys/class/infiniband/weft0/ports/1/counters/port_rcv_packets
}

# preloaded: programs that know TCP only. Those that wait for what they have accepted with select(), or use accept4() or
# epoll, are not for librspreload: docs/live.md.
preloaded() {
	local before
	head -c 3000000 /dev/urandom >in
	before=$(carried)
	rs nc.traditional -l -p 7001
	serve "${as[@]}"
	rs nc.traditional -q 0 127.77.0.1 7001
	on h2 "${as[@]}" <in
	served
	# The server's output is what came.
	cmp in server.txt
	[ "$(carried)" -gt $((before + 700)) ]
	rs iperf -s -P 1 -p 7002
	serve "${as[@]}"
	rs iperf -c 127.77.0.1 -p 7002 -n 20M
	ask "${as[@]}"
	served
	[ "$(carried)" -gt $((before + 5000)) ]
}

@test "programs with librspreload on RoCE v2" {
	needs nc.traditional iperf
	up
	preloaded
}

# bats test_tags=long
@test "programs with librspreload on InfiniBand" {
	needs nc.traditional iperf
	up --fabric ib-ndr
	preloaded
}
