#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# Multicast on modelled subnets that are managed, by weft or by OpenSM: programs join by rdma_cm, which asks the subnet
# administration; switches copy by their tables; each member gets one copy of each datagram.

bats_require_minimum_version 1.5.0
load manage

GROUP=ff12:4001:ffff::f01:203 # that rdma_cm makes of 239.1.2.3

# members N: so many hosts are in the group, as subnet administration says to whoever has its key.
members() {
	on h0 saquery --smkey 1 -m >members.txt 2>&1 || [ "$1" -eq 0 ] || return 1
	[ "$(grep -A2 "$GROUP" members.txt | grep -c 'PortGid\.*fe80')" -eq "$1" ]
}

# heard HOST: packets that its programs have got.
heard() {
	"$WEFT" status --json | jq ".hosts[] | select(.name == \"$1\") | .total.rx_packets"
}

# receivers COUNT HOST...: programs of rdma_cm that receive so many datagrams each, in server-HOST.txt.
receivers() {
	local count=$1 host
	shift
	receiving=()
	for host in "$@"; do
		spawn "$host" stdbuf -oL mckey -m 239.1.2.3 -C "$count" >"server-$host.txt" 2>&1
		receiving+=("$pid")
	done
	for host in "$@"; do
		until_true grep -q "receiving data transfers" "server-$host.txt" || { cat "server-$host.txt"; return 1; }
	done
}

# send HOST COUNT
send() {
	on "$1" mckey -m 239.1.2.3 -s -C "$2" >client.txt 2>&1 || { cat client.txt; return 1; }
}

# received HOST...: the receivers there end well.
received() {
	local i=0 host
	for host in "$@"; do
		ended "${receiving[i]}" || { cat "server-$host.txt"; return 1; }
		i=$((i + 1))
	done
}

# one_copy: members on four switches, two of them on one host, and a host between that is none.
one_copy() {
	local host
	receivers 10 h1 h9 h33 h62 h62
	until_true members 4
	send h20 10
	received h1 h9 h33 h62 h62
	for host in h1 h9 h33; do
		[ "$(heard $host)" -eq 10 ] || { heard $host; return 1; }
	done
	[ "$(heard h62)" -eq 20 ]
	[ "$(heard h2)" -eq 0 ]
	# The group of those who have left is gone, with its tree.
	until_true members 0
}

# climbs: the port of leaf1 by which packets for the group go up, as the model has counted; h9 is a member there.
climbs() {
	"$WEFT" status --json | jq -r '.model.ports[] | select(.node == "leaf1" and (.peer | startswith("spine"))) |
		"\(.port) \(.tx_packets)"' | sort
}

# rerouted COMMAND...: a tree link goes down, COMMAND waits for new routes, and the members hear what is sent then.
rerouted() {
	local port host
	receivers 30 h1 h33 h62
	until_true members 3
	send h9 10
	# All ten went up by the same port.
	climbs >before.txt
	send h9 10
	climbs >after.txt
	port=$(join before.txt after.txt | awk '$3 - $2 >= 10 { print $1 }')
	[ "$(wc -w <<<"$port")" -eq 1 ]
	"$WEFT" fault on "leaf1:$((port - 1))" down
	"$@"
	until_true members 3
	send h9 10
	received h1 h33 h62
	for host in h1 h33 h62; do
		[ "$(heard $host)" -eq 30 ] || { heard $host; return 1; }
	done
}

@test "weft's manager: one copy for each member" {
	needs mckey saquery
	managed
	fabric tree weft
	one_copy
}

reroutes() { "$WEFT" status --json | jq -e '.model.management.reroutes > 0' >/dev/null; }

@test "weft's manager: a link of the tree is lost" {
	needs mckey saquery
	managed
	fabric tree weft
	rerouted until_true reroutes
}

# osm: OpenSM is the manager; $pid is it.
osm() {
	mkdir -p "$PWD/sm/cache"
	OSM_TMP_DIR=$PWD/sm OSM_CACHE_DIR=$PWD/sm/cache spawn h0 opensm -d 2 -f "$PWD/sm/osm.log" "$@" >sm/osm.txt 2>&1
	until_true up_times 1
}

# up_times N: OpenSM has said so often that the subnet is up.
up_times() {
	[ -s sm/osm.log ] && [ "$(grep -c 'SUBNET UP' sm/osm.log)" -ge "$1" ]
}

@test "OpenSM: one copy for each member" {
	needs mckey saquery opensm
	managed
	fabric tree none 1Gbps
	osm -R minhop
	one_copy
}

@test "OpenSM: a link of the tree is lost" {
	needs mckey saquery opensm
	managed
	fabric tree none 1Gbps
	osm -R minhop
	rerouted until_true up_times 2
}

@test "a program that is killed leaves its groups" {
	needs mckey saquery
	managed
	fabric tree weft
	receivers 10 h1 h9
	until_true members 2
	kill -9 "${receiving[1]}"
	until_true members 1
	send h20 10
	ended "${receiving[0]}"
	[ "$(heard h1)" -eq 10 ]
	[ "$(heard h9)" -eq 0 ]
}

@test "nobody manages the subnet: a join fails, with a word" {
	needs mckey
	managed
	fabric tree none
	run timeout 60 "$WEFT" exec --host h1 -- mckey -m 239.1.2.3 -C 1
	[ "$status" -ne 0 ]
	[ "$status" -ne 124 ]
	[[ "$output" == *"MULTICAST_ERROR"* ]] || { echo "$output"; return 1; }
}
