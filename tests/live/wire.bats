#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# Two fabrics that meet on a real network: RoCE v2 over UDP.

bats_require_minimum_version 1.5.0
load common

eval "common_$(declare -f setup)"

# Addresses of loopback that no other test has: $net.2 and so on.
setup() {
	local number
	common_setup
	number=$(free_port)
	export net=127.$((number / 256)).$((number % 256))
}

teardown() {
	# With their children: timeout hands it on.
	for one in "$server" "$client" "${capture-}" "${space_a-}" "${space_b-}"; do
		[ -z "$one" ] || kill "$one" 2>/dev/null || true
	done
	"$WEFT" down --name a 2>/dev/null || true
	"$WEFT" down --name b 2>/dev/null || true
	rm -rf "$WEFT_RUNTIME_DIR"
}

# both_end RC WHAT: waits for the server; fails when it did or RC says that the client did, and shows what they said.
both_end() {
	local rc=$1
	wait "$server" || rc=$?
	server=
	if [ "$rc" -ne 0 ]; then
		echo "$2: $rc"
		cat client.txt server.txt
	fi
	return "$rc"
}

# across PROGRAM ARGS...: a server on h1 of fabric a, a client on h1 of fabric b; both must end well. in_a and
# in_b are how to get to where a fabric is, at_a is the address where its server is found.
across() {
	local port program=$1 rc=0
	shift
	port=$(free_port)
	$in_a timeout 300 "$WEFT" exec --name a --host h1 -- "$program" -p "$port" "$@" >server.txt 2>&1 &
	server=$!
	listens_in_a "$port"
	$in_b timeout 300 "$WEFT" exec --name b --host h1 -- "$program" -p "$port" "$@" \
		"$at_a" >client.txt 2>&1 || rc=$?
	both_end "$rc" "$program $*"
}

# connect SERVER ARGS... -- CLIENT ARGS...: the same for programs that meet by rdma_cm.
connect() {
	local serve=() rc=0
	while [ "$1" != -- ]; do
		serve+=("$1")
		shift
	done
	shift
	$in_a timeout 300 "$WEFT" exec --name a --host h1 -- "${serve[@]}" >server.txt 2>&1 &
	server=$!
	until_true serves_in_a
	$in_b timeout 300 "$WEFT" exec --name b --host h1 -- "$@" >client.txt 2>&1 || rc=$?
	both_end "$rc" "$*"
}

# serves_in_a: a program of fabric a listens for connections by rdma_cm.
serves_in_a() {
	"$WEFT" status --name a --json | grep -q '"listens": [1-9]'
}

# listens_in_a PORT: waits until somebody does, at a TCP port.
listens_in_a() {
	until_true listened_in_a "$(printf ':%04X' "$1")"
}

listened_in_a() {
	$in_a cat /proc/net/tcp /proc/net/tcp6 | awk '$4 == "0A" {print $2}' | grep -q "$1\$"
}

# Two network namespaces with a cable between them: 10.77.0.1, fd77::1 and a link-local address in the one, .2 in
# the other. As root, or in a user namespace of our own.
two_machines() {
	local enter="nsenter -n" i
	needs ip unshare nsenter
	if [ "$(id -u)" -eq 0 ]; then
		unshare -n sleep 3000 &
	else
		unshare -Urn true 2>/dev/null || skip "network namespaces cannot be made here"
		unshare -Urn sleep 3000 &
		enter="nsenter -U --preserve-credentials -n"
	fi
	space_a=$!
	is_apart "$space_a" || skip "network namespaces cannot be made here"
	in_a="$enter -t $space_a"
	$in_a unshare -n sleep 3000 &
	space_b=$!
	until_true are_apart "$space_a" "$space_b"
	is_apart "$space_b"
	in_b="$enter -t $space_b"
	$in_a ip link add veth-a type veth peer name veth-b netns "$space_b" ||
		skip "a cable between namespaces cannot be made here"
	$in_a ip addr add 10.77.0.1/24 dev veth-a
	$in_b ip addr add 10.77.0.2/24 dev veth-b
	$in_a ip addr add fd77::1/64 dev veth-a nodad
	$in_b ip addr add fd77::2/64 dev veth-b nodad
	$in_a ip addr add fe80::77:1/64 dev veth-a nodad
	$in_b ip addr add fe80::77:2/64 dev veth-b nodad
	for one in a b; do
		eval "\$in_$one ip link set lo up"
		eval "\$in_$one ip link set veth-$one up"
	done
	at_a=10.77.0.1
}

# are_apart PID PID: each has a network of its own.
are_apart() {
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink "/proc/$2/ns/net")" ]
}

# is_apart PID: waits until it has a network that is not ours.
is_apart() {
	until_true are_apart "$1" self
}

# say TEXT: to the port, which nobody takes for a packet of RoCE.
say() {
	$in_a python3 -c 'import socket, sys; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(
		sys.argv[1].encode(), ("10.77.0.2", 4791))' "$1"
}

# records FILE: what is said is in the file.
records() {
	say ""
	[ -s "$1" ] && tshark -r "$1" 2>/dev/null | grep -q .
}

# has_end FILE: the last packet is in the file.
has_end() {
	say "the end"
	tshark -r "$1" -Y 'udp.length == 15' 2>/dev/null | grep -q .
}

# record NAME: every packet of RoCE v2 on the cable goes to NAME, until stop_recording.
record() {
	$in_a tshark -i veth-a -f "udp port 4791" -w "$1" >/dev/null 2>tshark.txt &
	capture=$!
	# It says that it captures before it does.
	until_true records "$1" || {
		cat tshark.txt
		return 1
	}
}

stop_recording() {
	# What went by last is written last: a packet that can be told from others. Where there is no room for
	# it in the buffer of who records, the next one is.
	until_true has_end "$1"
	kill "$capture"
	ends "$capture"
	capture=
}

# multicast GROUP ADDRESS-OF-A ADDRESS-OF-B: what b sends to the group, a receives.
multicast() {
	has_joined() { $in_a ip maddr show dev veth-a | grep -q "$1"; }
	$in_a timeout 300 "$WEFT" exec --name a --host h1 -- mckey -m "$1" -b "$2" -C 3 >server.txt 2>&1 &
	server=$!
	until_true has_joined "$1"
	$in_b timeout 300 "$WEFT" exec --name b --host h1 -- mckey -m "$1" -b "$3" -s -C 3 >client.txt 2>&1
	both_end 0 "mckey $1"
}

in_a=
in_b=
at_a=127.0.0.1

all() {
	needs ibv_rc_pingpong ib_write_bw ib_read_bw ib_atomic_lat
	across ibv_rc_pingpong -g 1 -n 200 -e -c
	across ibv_uc_pingpong -g 1 -n 100 -e
	across ibv_ud_pingpong -g 1 -n 100 -e
	across ibv_rc_pingpong -g 1 -n 20 -s 100001 -m 256 -e -c
	across ib_write_bw -F -x 1 --force-link=Ethernet -s 65536 -n 200 -u 20
	across ib_read_bw -F -x 1 --force-link=Ethernet -s 65536 -n 200 -u 20
	across ib_atomic_lat -F -C -x 1 --force-link=Ethernet -n 100 -u 20
}

@test "two fabrics on two addresses of loopback" {
	up --name a --wire h1=$net.2
	up --name b --wire h1=$net.3:4791
	[[ "$("$WEFT" status --name a)" == *"$net.2"* ]]
	all
}

@test "a link of the wire loses and corrupts" {
	needs ib_send_bw
	up --name a --wire h1=$net.2
	up --name b --wire h1=$net.3
	"$WEFT" fault --name a link h1 loss 1% corrupt 1%
	across ib_send_bw -F -x 1 --force-link=Ethernet -s 20000 -n 100 -u 16
}

@test "rdma_cm between two addresses of loopback" {
	needs rping udaddy
	up --name a --wire h1=$net.2
	up --name b --wire h1=$net.3
	connect rping -s -a $net.2 -C 5 -V -- rping -c -a $net.2 -C 5 -V
	# Where nobody listens, the other host's daemon says so.
	run "$WEFT" exec --name b --host h1 -- rping -c -a $net.2 -p 7999 -C 1
	[ "$status" -ne 0 ]
	[[ "$output" == *"RDMA_CM_EVENT_REJECTED, error 8"* ]]
}

# killed VICTIM OTHER: two rpings talk, and one is killed: the other hears of it, as it would of a kernel.
killed() {
	local port
	port=$(free_port)
	"$WEFT" exec --name a --host h1 -- rping -s -a "$net.2" -p "$port" -C 1000000000 -v >server.txt 2>&1 3>&- &
	server=$!
	until_true listens_by_cm
	"$WEFT" exec --name b --host h1 -- rping -c -a "$net.2" -p "$port" -C 1000000000 >client.txt 2>&1 3>&- &
	client=$!
	until_true grep -q "server ping data" server.txt
	kill -9 "${!1}"
	ends "${!1}"
	eval "$1="
	until_true grep -q "$2 DISCONNECT EVENT" "$2.txt" || {
		cat "$2.txt"
		return 1
	}
	ends "${!2}" # it says that its peer is gone, and ends with that
	eval "$2="
}

listens_by_cm() { "$WEFT" status --name a --json | grep -q '"listens": [1-9]'; }

# bats test_tags=checked
@test "a program that is killed is disconnected" {
	needs rping
	up --name a --wire h1=$net.2
	up --name b --wire h1=$net.3
	killed client server
	killed server client
}

# bats test_tags=checked
@test "many queue pairs do not overrun a program" {
	needs ib_write_bw
	up --name a --wire h1=$net.2
	up --name b --wire h1=$net.3
	across ib_write_bw -F -x 1 --force-link=Ethernet -q 8 -s 65536 -n 100 -u 20
	run -0 "$WEFT" status --name a --json
	[[ "$output" == *'"rx_no_room": 0'* ]]
	[[ "$output" != *'"rx_no_room": '[1-9]* ]]
}

# bats test_tags=long
@test "128 READs at a time, and marks that slow a sender down" {
	needs ib_read_bw ib_write_bw ibv_devinfo
	up --name a --wire h1=$net.2
	up --name b --wire h1=$net.3
	# As Linux's rxe has it: perftest takes what the peer offers.
	run -0 "$WEFT" exec --name a --host h1 -- ibv_devinfo -v
	[[ "$output" =~ max_qp_rd_atom:[[:space:]]*128 ]]
	[[ "$output" =~ max_qp_init_rd_atom:[[:space:]]*128 ]]
	across ib_read_bw -F -x 1 --force-link=Ethernet -o 128 -s 4096 -n 300 -u 20
	# A traffic class whose ECN bits say that a switch has marked the packet: CNPs come back.
	across ib_write_bw -F -x 1 --force-link=Ethernet --tclass=3 -s 65536 -n 100 -u 20
	run -0 "$WEFT" exec --name b --host h1 -- cat /sys/class/infiniband/weft0/ports/1/hw_counters/rp_cnp_handled
	[ "${lines[-1]}" -gt 0 ]
}

@test "two machines: every kind of packet goes, and decodes in tshark" {
	needs tshark ibv_rc_pingpong ib_write_bw
	two_machines
	$in_a "$WEFT" up --name a --wire h1=0.0.0.0:4791
	$in_b "$WEFT" up --name b --wire h1=10.77.0.2
	[[ "$("$WEFT" status --name a)" == *"10.77.0.1"* ]]
	record wire.pcapng
	all
	stop_recording wire.pcapng
	# The MTU of 1500 leaves a path MTU of 1024.
	tshark -r wire.pcapng -Y "udp.length > 15" -T fields -e ip.id -e ip.flags.df -e udp.srcport \
		-e infiniband.bth.opcode -e _ws.malformed -e _ws.expert.severity >packets.txt
	[ "$(wc -l <packets.txt)" -gt 1000 ]
	awk -F'\t' '{
		if ($1 != "0x0000" || ($2 != 1 && $2 != "True") || $3 < 49152 || $4 == "" || $5 != "" || $6 != "") {
			print; bad = 1
		}
	} END { exit bad }' packets.txt
}

# bats test_tags=long
@test "two machines: connections, IPv6, traffic classes, multicast" {
	needs tshark rping udaddy mckey ib_write_bw ibv_ud_pingpong
	two_machines
	$in_a "$WEFT" up --name a --wire h1=10.77.0.1 --wire h1=fd77::1 --wire h1=fe80::77:1
	$in_b "$WEFT" up --name b --wire h1=10.77.0.2 --wire "h1=[::]:4791" --wire "h1=fe80::77:2%veth-b"
	record wire.pcapng
	connect rping -s -a 10.77.0.1 -C 5 -V -- rping -c -a 10.77.0.1 -C 5 -V
	connect rping -s -a fd77::1 -C 5 -V -- rping -c -a fd77::1 -C 5 -V
	connect udaddy -- udaddy -s 10.77.0.1
	connect ib_write_bw -F -R -T 104 -s 65536 -n 50 -- ib_write_bw -F -R -T 104 -s 65536 -n 50 10.77.0.1
	across ibv_rc_pingpong -g 2 -n 20 -e -c
	across ibv_rc_pingpong -g 0 -n 20 -e -c
	across ibv_ud_pingpong -g 2 -n 20 -e
	across ib_send_bw -F -x 1 --force-link=Ethernet -c UD -s 1000 -n 100
	across ib_write_bw -F -x 2 --force-link=Ethernet --tclass=106 -s 4096 -n 20
	# Who only receives is found, too.
	multicast 239.1.1.1 10.77.0.1 10.77.0.2
	multicast ff0e::77 fd77::1 fd77::2
	stop_recording wire.pcapng
	tshark -r wire.pcapng -Y "udp.length > 15" -T fields -e ip.src -e ipv6.src -e ip.dsfield -e ipv6.tclass \
		-e udp.checksum -e infiniband.bth.destqp -e infiniband.mad.attributeid -e infiniband.bth.opcode >packets.txt
	cut -f 5 packets.txt | sort -u | tee sums.txt
	[ "$(cat sums.txt)" = 0x0000 ]
	# REQ, REP, RTU, DREQ, SIDR_REQ, SIDR_REP
	for attribute in 10 13 14 15 17 18; do
		grep -q "	0x000001	0x00$attribute	100$" packets.txt
	done
	grep -q "^10.77.0.2		0x68.*	7$" packets.txt
	grep -q "^10.77.0.1		0x68.*	17$" packets.txt
	grep -q "^	fd77::2		0x0000006a" packets.txt
	grep -q "^	fe80::77:2" packets.txt
	tshark -o udp.ignore_ipv6_zero_checksum:TRUE -r wire.pcapng -Y "infiniband.mad && (_ws.malformed || _ws.expert.severity)" >bad.txt
	[ ! -s bad.txt ]
}

@test "the peer is rxe, as it was in a capture: connects, is read and written, disconnects" {
	needs rping python3
	up --name a --wire h1=$net.2
	"$WEFT" exec --name a --host h1 -- timeout 300 rping -s -a $net.2 -p 7175 -S 100 -v -C 1 >server.txt 2>&1 &
	server=$!
	has_listener() { "$WEFT" status --name a --json | grep -q '"listens": [1-9]'; }
	until_true has_listener
	run -0 timeout 300 python3 "$BATS_TEST_DIRNAME/wire_peer.py" rping 7175 \
		"$WEFT_SOURCE_DIR/tests/data/rxe/golden-cm.pcap"
	[[ "$output" == *"connected, read, written, disconnected"* ]]
	ends "$server" # it says that its client is gone, and ends with that
	server=
	grep -q "rxe says hello" server.txt || ! cat server.txt
}

# bats test_tags=checked
@test "packets from elsewhere, damaged and made up do not reach a queue pair" {
	needs ibv_rc_pingpong python3
	up --name a --wire h1=$net.2
	port=$(free_port)
	timeout 300 "$WEFT" exec --name a --host h1 -- ibv_rc_pingpong -p "$port" -g 1 -n 1 -s 64 >server.txt 2>&1 &
	server=$!
	listens_in_a "$port"
	run -0 timeout 300 python3 "$BATS_TEST_DIRNAME/wire_peer.py" attack "$port" "$WEFT" status --name a --json
	[[ "$output" == *"nothing got through"* ]]
	wait "$server"
	server=
	# The counters are where operators look, too.
	run -0 "$WEFT" exec --name a --host h1 -- cat /sys/class/infiniband/weft0/ports/1/hw_counters/rx_icrc_encapsulated
	[ "${lines[-1]}" = 1 ]
	run -0 "$WEFT" exec --name a --host h1 -- cat /sys/class/infiniband/weft0/ports/1/hw_counters/wire_rx_malformed
	[ "${lines[-1]}" = 6 ]
}

# bats test_tags=checked
@test "addresses in the cluster file" {
	cat >cluster.yaml <<-END
		topology: {kind: single, hosts: 2}
		fabric: roce-400g
		hosts:
		  h0: {wire: $net.2:4791}
		  h1: {wire: [$net.3]}
	END
	up --name a cluster.yaml
	run -0 "$WEFT" status --name a --json
	[[ "$output" == *"$net.2"*"$net.3"* ]]
	sed -i 's/wire: \[/wires: [/' cluster.yaml
	run -2 up --name b cluster.yaml
	[[ "$output" == *"cluster.yaml:5:"*"it may have wire"* ]]
}

# bats test_tags=checked
@test "what is wrong is said" {
	run -2 up --wire h1
	[[ "$output" == *"h2=192.0.2.1:4791"* ]]
	run -2 up --wire h9=$net.2
	[[ "$output" == *"no host 'h9'"* ]]
	run -2 up --wire h1=$net.2:4792
	[[ "$output" == *"port 4791"* ]]
	run -2 up --wire h1=nowhere
	run -2 up --fabric ib-ndr --wire h1=$net.2
	[[ "$output" == *"InfiniBand"* ]]
	run -1 up --wire h1=192.0.2.77
	[[ "$output" == *"Cannot assign"* ]]
	up --name a --wire h1=$net.2
	run -1 up --name b --wire h1=$net.2
	[[ "$output" == *"in use"* ]]
	run -2 up --name c --wire h1=$net.3 --wire h1=$net.4
	[[ "$output" == *"one IPv4 address"* ]]
}
