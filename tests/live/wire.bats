#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live timeout=300
# Two fabrics that meet on a real network: RoCE v2 over UDP.

bats_require_minimum_version 1.5.0
load common

teardown() {
	[ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
	"$WEFT" down --name a 2>/dev/null || true
	"$WEFT" down --name b 2>/dev/null || true
	[ -z "${space-}" ] || ip netns del "$space-a" 2>/dev/null || true
	[ -z "${space-}" ] || ip netns del "$space-b" 2>/dev/null || true
	rm -rf "$WEFT_RUNTIME_DIR"
}

# across PROGRAM ARGS...: a server on h1 of fabric a, a client on h1 of fabric b; both must end well. In is how
# to get to where a fabric is, at the address where its server is found.
across() {
	local port program=$1 rc=0
	shift
	port=$(free_port)
	${in_a-} timeout 60 "$WEFT" exec --name a --host h1 -- "$program" -p "$port" "$@" >server.txt 2>&1 &
	server=$!
	if [ -n "${in_a-}" ]; then sleep 2; else listens "$port"; fi
	${in_b-} timeout 60 "$WEFT" exec --name b --host h1 -- "$program" -p "$port" "$@" \
		"${at_a:-127.0.0.1}" >client.txt 2>&1 || rc=$?
	wait "$server" || rc=$?
	server=
	if [ "$rc" -ne 0 ]; then
		echo "$program $*:"
		cat client.txt server.txt
	fi
	return "$rc"
}

all() {
	needs ibv_rc_pingpong ib_write_bw ib_read_bw ib_atomic_lat
	across ibv_rc_pingpong -g 1 -n 200 -e -c
	across ibv_uc_pingpong -g 1 -n 100 -e
	across ibv_ud_pingpong -g 1 -n 100 -e
	across ibv_rc_pingpong -g 1 -n 20 -s 100001 -m 256 -e -c
	across ib_write_bw -x 1 --force-link=Ethernet -s 65536 -n 200 -u 20
	across ib_read_bw -x 1 --force-link=Ethernet -s 65536 -n 200 -u 20
	across ib_atomic_lat -x 1 --force-link=Ethernet -n 100 -u 20
}

@test "two fabrics on two addresses of loopback" {
	up --name a --wire h1=127.0.0.2
	up --name b --wire h1=127.0.0.3:4791
	[[ "$("$WEFT" status --name a)" == *"127.0.0.2"* ]]
	all
}

@test "a link of the wire loses and corrupts" {
	needs ibv_rc_pingpong
	up --name a --wire h1=127.0.0.2
	up --name b --wire h1=127.0.0.3
	"$WEFT" fault --name a link h1 loss 1% corrupt 1%
	across ibv_rc_pingpong -g 1 -n 100 -s 20000 -e -c
}

@test "over a veth pair between two network namespaces; every packet decodes in tshark" {
	needs ip tshark ibv_rc_pingpong ib_write_bw
	[ "$(id -u)" -eq 0 ] || skip "needs root to make network namespaces"
	space="weft-$$"
	ip netns add "$space-a" || skip "network namespaces cannot be made here"
	ip netns add "$space-b"
	ip link add veth-a netns "$space-a" type veth peer name veth-b netns "$space-b"
	ip -n "$space-a" addr add 10.77.0.1/24 dev veth-a
	ip -n "$space-b" addr add 10.77.0.2/24 dev veth-b
	for one in a b; do
		ip -n "$space-$one" link set lo up
		ip -n "$space-$one" link set "veth-$one" up
	done
	in_a="ip netns exec $space-a"
	in_b="ip netns exec $space-b"
	at_a=10.77.0.1
	$in_a "$WEFT" up --name a --wire h1=0.0.0.0:4791
	$in_b "$WEFT" up --name b --wire h1=10.77.0.2
	[[ "$("$WEFT" status --name a)" == *"10.77.0.1"* ]]
	$in_a tshark -i veth-a -f "udp port 4791" -w wire.pcapng >/dev/null 2>tshark.txt &
	capture=$!
	for ((i = 0; i < 200; i++)); do
		grep -q "Capturing" tshark.txt && break
		sleep 0.05
	done
	sleep 1
	all
	sleep 1
	kill "$capture"
	wait "$capture" || true
	# The MTU of 1500 leaves a path MTU of 1024.
	tshark -r wire.pcapng -T fields -e ip.id -e ip.flags.df -e udp.srcport -e infiniband.bth.opcode \
		-e _ws.malformed -e _ws.expert.severity >packets.txt
	[ "$(wc -l <packets.txt)" -gt 1000 ]
	awk -F'\t' '{
		if ($1 != "0x0000" || ($2 != 1 && $2 != "True") || $3 < 49152 || $4 == "" || $5 != "" || $6 != "") {
			print; bad = 1
		}
	} END { exit bad }' packets.txt
}

@test "what is wrong is said" {
	run -2 up --wire h1
	[[ "$output" == *"h2=192.0.2.1:4791"* ]]
	run -2 up --wire h9=127.0.0.2
	[[ "$output" == *"no host 'h9'"* ]]
	run -2 up --wire h1=127.0.0.2:4792
	[[ "$output" == *"port 4791"* ]]
	run -2 up --wire h1=nowhere
	run -2 up --fabric ib-ndr --wire h1=127.0.0.2
	[[ "$output" == *"InfiniBand"* ]]
	run -1 up --wire h1=192.0.2.77
	[[ "$output" == *"Cannot assign"* ]]
	up --name a --wire h1=127.0.0.2
	run -1 up --name b --wire h1=127.0.0.2
	[[ "$output" == *"in use"* ]]
}
