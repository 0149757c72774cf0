#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# ibsim, which answers management packets and is not ours, is the oracle of what the diagnostics print: it and weft read
# one file, OpenSM with the same engine brings both up, and each tool is asked the same of both.

bats_require_minimum_version 1.5.0
load manage

# one_file KIND: net, which both read: weft's own export. ibsim numbers the GUIDs of an adapter's ports itself, from the
# node's plus one, and weft gives the first port its node's: so adapters are one less in the file, and ports agree.
one_file() {
	local id
	fabric "$1" none 100Gbps
	runs h0 ibnetdiscover
	"$WEFT" down
	"$WEFT" ib export fabric.yaml --form ibnetdiscover >export.net
	# What weft writes of a scenario is what the agents of its fabric say: GUIDs and vendors with them.
	shape said.txt >live.txt
	shape export.net | diff - live.txt
	cp export.net net
	# shellcheck disable=SC2013 # words
	for id in $(sed -nE 's/^Ca.*"H-([0-9a-f]+)".*/\1/p' export.net); do
		printf 's/H-%s"/H-%016x"/;s/caguid=0x%x$/caguid=0x%x/\n' "$id" $((16#$id - 1)) "0x$id" $((16#$id - 1))
	done >ids.sed
	sed -i -f ids.sed net
	# The form has a word for a switch's port 0 that weft's description of subnets has not.
	sed -i 's/base port 0/enhanced port 0/' net
	# As many lanes as ibsim's ports have, and their MTU.
	printf 'name: same\ntopology: { kind: ibnetdiscover, file: net }\n' >same.yaml
	printf 'fabric: { profile: ib-ndr, sm: none, vl.count: 8, mtu: 2048 }\n' >>same.yaml
	up same.yaml
	model
}

# shape FILE: what ibnetdiscover found, without what a manager gives (LIDs) and what an unmanaged port's speed may be.
shape() {
	grep -v '^#' "$1" | sed -E 's/^((vend|dev)id|sysimgguid|caguid|switchguid)=/\1 /; s/#.*//; s/[ \t]+$//' |
		grep -v '^$' | sort
}

# simulator: ibsim on the same file, whose tools are at the first host, too; $simulator is it.
simulator() {
	sim=/usr/lib/$(uname -m)-linux-gnu/umad2sim/libumad2sim.so
	export IBSIM_SOCKNAME=weft-$BASHPID SIM_HOST=H-00c0defffe000000
	mkfifo keep
	exec 9<>keep # it ends when nobody can type
	ibsim -s -n net <&9 >ibsim.log 2>&1 3>&- &
	simulator=$!
	until_true grep -q MaxMcastCap ibsim.log
}

# managers ENGINE: an OpenSM on each, with its tables of lanes.
managers() {
	mkdir -p ours theirs
	OSM_TMP_DIR=$PWD/ours OSM_CACHE_DIR=$PWD/ours spawn h0 opensm -d 2 -Q -R "$1" -f "$PWD/ours/log" >ours/out 2>&1
	# shellcheck disable=SC2154 # of spawn
	ours=$pid
	LD_PRELOAD=$sim OSM_TMP_DIR=$PWD/theirs OSM_CACHE_DIR=$PWD/theirs opensm -d 2 -Q -R "$1" -f "$PWD/theirs/log" \
		>theirs/out 2>&1 3>&- &
	theirs=$!
	both_up() { grep -qs 'SUBNET UP' ours/log && grep -qs 'SUBNET UP' theirs/log; }
	until_true both_up || { tail ours/* theirs/*; return 1; }
	grep -q "$1 tables configured on all switches" ours/log
	grep -q "$1 tables configured on all switches" theirs/log
}

# both PROGRAM ARGS...: asked of both: ours.txt and theirs.txt.
both() {
	runs h0 "$@"
	mv said.txt ours.txt
	LD_PRELOAD=$sim "$@" >theirs.txt
}

# adapters FILE: with weft's GUIDs of nodes, which in the file, and so at ibsim, are one less.
adapters() {
	sed -E 's/H-[0-9a-f]+"(\[1\]\(([0-9a-f]+)\))/H-00\2"\1/; s/^(Ca.*)"H-[0-9a-f]+"/\1/; s/^(caguid|sysimgguid)=.*//' "$1"
}

# network: nodes, links, LIDs, widths and speeds. When and where it was looked at differs.
network() {
	both ibnetdiscover
	diff <(adapters ours.txt | grep -v '^# ') <(adapters theirs.txt | grep -Ev '^# ')
	[ "$(grep -c '"\[' ours.txt)" -eq "$(wc -l <links.txt)" ]
	# What ibsim's ports could be is made up: 12X, and HDR on whatever link.
	both iblinkinfo -l
	diff <(sed -E 's/ \(.*\)$//; s/ *\( *\)$//' ours.txt | sort) <(sed -E 's/ \( *Could.*\)$//; s/ *\( *\)$//' theirs.txt | sort)
	[ "$(grep -c 'Active/ *LinkUp' ours.txt)" -eq "$(wc -l <links.txt)" ]
}

# routes: the tables of each switch, and ways.
routes() {
	local sw pair
	# shellcheck disable=SC2013 # words
	for sw in $(cat switches.txt); do
		both ibroute "$(lid "$sw")"
		diff ours.txt theirs.txt
		# All hosts at the least: no way between spines never goes up after having gone down.
		[ "$(grep -c '^0x.*Channel Adapter' ours.txt)" -eq "$(wc -l <hosts.txt)" ]
	done
	both dump_fts
	diff ours.txt theirs.txt
	for pair in "h0 h35" "h35 h0" "h7 h8" "h1 $(tail -1 switches.txt)"; do
		# shellcheck disable=SC2086 # two names
		set -- $pair
		both ibtracert "$(lid "$1")" "$(lid "$2")"
		# Of an adapter it tells the node's GUID.
		diff <(sed -E '/ca /s/\{0x[0-9a-f]+\}//' ours.txt) <(sed -E '/ca /s/\{0x[0-9a-f]+\}//' theirs.txt)
		[ "$(grep -c '^\[' ours.txt)" -ge 2 ]
	done
}

# values FILE NAME...: fields and what they are, without those; masks in words have lines of their own.
values() {
	local file=$1
	shift
	sed -E '/^\t/d' "$file" | grep -Ev "^($(IFS='|' && echo "$*")):"
}

# asked LEAST "QUERY" NAME...: smpquery says the same of both, but for those fields, in so many lines at least.
asked() {
	local least=$1 query=$2
	shift 2
	# shellcheck disable=SC2086 # words
	both smpquery $query
	values ours.txt "${@:-none}" >ours.values
	values theirs.txt "${@:-none}" >theirs.values
	diff ours.values theirs.values || { echo "$query"; return 1; }
	[ "$(wc -l <ours.values)" -ge "$least" ]
}

@test "the same subnet, LIDs, links and routes: a fat tree, updn" {
	managed
	needs ibsim opensm
	one_file tree
	simulator
	managers updn
	network
	routes
	kill "$ours" "$theirs" "$simulator"
	ends "$ours"
}

@test "the same subnet, LIDs, links and routes: a dragonfly, minhop" {
	managed
	needs ibsim opensm
	one_file dragonfly
	simulator
	managers minhop
	network
	routes
	kill "$ours" "$theirs" "$simulator"
	ends "$ours"
}

@test "smpquery: the same answers" {
	local sw host port
	managed
	needs ibsim opensm
	one_file tree
	simulator
	managers ftree
	sw=$(lid leaf2) host=$(lid h5)
	asked 1 "NodeDesc $sw"
	asked 1 "NodeDesc $host"
	# ibsim: sizes of tables and revision are its own; it says port 0 for the port that the request came in by.
	asked 10 "NodeInfo $sw" PartCap Revision LocalPort
	# The GUIDs of the adapter's node are the file's.
	asked 8 "NodeInfo $host" PartCap Revision SystemGuid Guid
	# Sizes of tables, and how they are kept, are ibsim's own; a multicast default port of 0 it has from the start;
	# partitions it does not enforce.
	asked 10 "SwitchInfo $sw" LinearFdbCap McastFdbCap DefMcastPrimPort DefMcastNotPrimPort OptSLtoVLMapping \
		PartEnforceCap InboundPartEnf OutboundPartEnf
	# Capabilities, widths and speeds that a port could have, times and limits of errors are ibsim's own; it does not
	# enforce partitions.
	for port in 1 9; do
		asked 35 "PortInfo $sw $port" CapMask LocalPort LinkWidthSupported LinkSpeedExtSupported RespTimeVal \
			LocalPhysErr OverrunErr PartEnforceInb PartEnforceOutb
	done
	# Neither does it keep what a manager sets of an adapter's times.
	asked 30 "PortInfo $host 1" CapMask CapabilityMask2 MkeyLeasePeriod LinkWidthSupported LinkSpeedExtSupported \
		VLStallCount HoqLife GuidCap SubnetTimeout RespTimeVal LocalPhysErr OverrunErr
	# The first eight places: how many there are is ibsim's own.
	for port in "$sw 0" "$sw 1" "$host"; do
		# shellcheck disable=SC2086 # words
		both smpquery PKeyTable $port
		diff <(grep -m1 '^ *0:' ours.txt) <(grep -m1 '^ *0:' theirs.txt)
	done
	asked 3 "SL2VLTable $host"
	asked 7 "VLArbitration $host"
	for port in 1 9; do
		asked 19 "SL2VLTable $sw $port"
		asked 7 "VLArbitration $sw $port"
	done
	kill "$ours" "$theirs" "$simulator"
	ends "$ours"
}
