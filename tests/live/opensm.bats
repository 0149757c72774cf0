#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# OpenSM, unmodified and run by an ordinary user, brings modelled subnets up that nobody else manages, and keeps them.

bats_require_minimum_version 1.5.0
load manage

# osm NAME HOST OPTIONS...: starts it, with files in the folder NAME; $pid is it. Its log is flushed (-d 2).
osm() {
	local dir=$PWD/$1 host=$2
	shift 2
	mkdir -p "$dir/cache"
	OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir/cache spawn "$host" opensm -d 2 -f "$dir/osm.log" "$@" >"$dir/osm.txt" 2>&1
}

# is_up NAME [N]: it has said so, so many times at least.
is_up() {
	[ -s "$1/osm.log" ] && [ "$(grep -c 'SUBNET UP' "$1/osm.log")" -ge "${2:-1}" ]
}

# subnet NAME: it comes up at once, without an error.
subnet() {
	until_true is_up "$1" || { tail "$1/osm.log"; return 1; }
	if grep ' ERR ' "$1/osm.log"; then
		return 1
	fi
}

# active: all ports are.
active() {
	runs h0 iblinkinfo -l
	[ "$(grep -c 'Active/ *LinkUp' said.txt)" -eq "$(wc -l <links.txt)" ]
}

# writes FROM TO OPTIONS...: ib_write_bw between two hosts.
writes() {
	local port from=$1 to=$2
	shift 2
	port=$(free_port)
	spawn "$to" ib_write_bw -p "$port" -F -n 20 "$@" >server.txt 2>&1
	server=$pid
	listens "$port" "$server"
	if ! on "$from" ib_write_bw -p "$port" -F -n 20 "$@" 127.0.0.1 >client.txt 2>&1; then
		cat client.txt server.txt
		kill -9 "$server" 2>/dev/null
		return 1
	fi
	ended "$server"
}

# engine KIND NAME: the subnet comes up with a routing engine, and hosts reach one another.
engine() {
	fabric "$1" none 1Gbps
	# Nobody has set anything up.
	run ! on h0 sminfo
	osm "$2" h0 -R "$2"
	local sm=$pid
	subnet "$2"
	grep -q "$2 tables configured on all switches" "$2/osm.log"
	active
	runs h1 sminfo
	grep -q 'SMINFO_MASTER' said.txt
	runs h1 saquery NR
	[ "$(grep -c 'NodeRecord dump' said.txt)" -eq "$(($(wc -l <hosts.txt) + $(wc -l <switches.txt)))" ]
	writes h1 h2
	writes h5 h35
	writes h30 h0
	kill "$sm"
	ends "$sm"
	"$WEFT" down
}

@test "a fat tree: minhop, updn, ftree and dfsssp" {
	needs opensm ib_write_bw
	managed
	for name in minhop updn ftree dfsssp; do
		engine tree "$name" || { echo "$name"; return 1; }
	done
}

@test "a dragonfly: minhop, updn and dfsssp" {
	needs opensm ib_write_bw
	managed
	for name in minhop updn dfsssp; do
		engine dragonfly "$name" || { echo "$name"; return 1; }
	done
	# ftree says that this is none, and minhop is taken.
	fabric dragonfly none 1Gbps
	osm ftree h0 -R ftree
	until_true is_up ftree
	grep -q 'minhop tables configured on all switches' ftree/osm.log
	active
}

@test "a link is pulled: OpenSM routes around it, and the transfer goes on" {
	needs opensm ib_write_bw
	managed
	fabric tree none 1Gbps
	osm sm h0 -R minhop
	subnet sm
	active
	port=$(free_port)
	spawn h63 ib_write_bw -p "$port" -F -D 20 -s 65536 -u 18 >server.txt 2>&1
	server=$pid
	listens "$port" "$server"
	spawn h8 ib_write_bw -p "$port" -F -D 20 -s 65536 -u 18 127.0.0.1 >client.txt 2>&1
	client=$pid
	# The link by which the data leave the first switch, as the tables say.
	runs h0 ibtracert "$(lid h8)" "$(lid h63)"
	out=$(sed -nE '3s/^\[([0-9]+)\].*/\1/p' said.txt)
	carried() { "$WEFT" status --json | jq ".model.ports[] | select(.node == \"leaf1\" and .port == $1) | .tx_bytes"; }
	before=$(carried "$out")
	moved() { [ "$(carried "$out")" -gt $((before + 100000)) ]; }
	until_true moved
	"$WEFT" fault on "leaf1:$((out - 1))" down # whose ports begin with 0 there
	until_true is_up sm 2
	runs h0 ibtracert "$(lid h8)" "$(lid h63)"
	[ "$(sed -nE '3s/^\[([0-9]+)\].*/\1/p' said.txt)" != "$out" ]
	ended "$client" || { cat client.txt server.txt; return 1; }
	ended "$server"
}

@test "two OpenSMs: the master is killed, and the standby takes over" {
	needs opensm ib_write_bw
	managed
	fabric tree none 1Gbps
	osm first h0 -R minhop -p 5
	first=$pid
	subnet first
	# By itself the standby asks every ten seconds, and believes the fifth silence.
	printf 'sminfo_polling_timeout 1000\npolling_retry_number 2\n' >standby.conf
	osm second h40 -R minhop -p 3 -F "$PWD/standby.conf"
	second=$pid
	standby() { grep -qs 'Entering STANDBY state' second/osm.log; }
	until_true standby
	runs h1 sminfo
	grep -q 'priority 5 .*SMINFO_MASTER' said.txt
	writes h1 h50
	kill -9 "$first"
	ends "$first" 2>/dev/null
	master() { grep -qs 'Entering MASTER state' second/osm.log; }
	until_true master
	until_true is_up second
	serves() { on h1 sminfo >said.txt 2>&1 && grep -q 'priority 3 .*SMINFO_MASTER' said.txt; }
	until_true serves
	writes h2 h50
	runs h1 saquery NR
	kill "$second"
	ends "$second"
}

@test "partitions.conf: two tenants do not reach one another" {
	needs opensm ib_write_bw
	managed
	fabric tree none 1Gbps
	guid() { on "$1" ibstat -p | head -1; }
	{
		echo 'Default=0x7fff, ipoib: ALL=limited, SELF=full;'
		echo "red=0x8001: $(guid h1)=full, $(guid h2)=full;"
		echo "blue=0x8002: $(guid h3)=full, $(guid h4)=full;"
	} >partitions.conf
	osm sm h0 -P "$PWD/partitions.conf"
	until_true is_up sm
	for host in h1 h3; do
		runs h0 smpquery PKeyTable "$(lid $host)"
		grep -q "0x7fff 0x800$([ $host = h1 ] && echo 1 || echo 2)" said.txt || { cat said.txt; return 1; }
	done
	# perftest takes a P_Key by its place: 1 is the tenant's own.
	writes h2 h1 --pkey_index=1
	writes h4 h3 --pkey_index=1
	run ! writes h3 h1 --pkey_index=1
	[[ "$output" == *"Failed status"* || "$output" == *"Completion with error"* ]] || { echo "$output"; return 1; }
	# Nor as limited members of the partition in which all are.
	run ! writes h2 h1
}
