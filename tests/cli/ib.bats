#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ib.bats - weft ib: subnets from files and scenarios, and OpenSM on ibsim as the judge of its engines.

load common

# net NAME: the subnet of tests/ibnets.py in NAME.net.
net() {
	/usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/ibnets.py" "$1" >"$1.net"
}

# osm NAME ENGINE OPTIONS...: OpenSM's tables for NAME.net, in NAME-ENGINE/opensm-lfts.dump. ibsim ends with the test.
osm() {
	local dir=$PWD/$1-$2 net=$PWD/$1.net engine=$2 sim
	shift 2
	mkdir -p "$dir/cache"
	(
		cd "$dir"
		# Several may run at the same time: sockets have names of their own.
		export IBSIM_SOCKNAME="weft-$BASHPID"
		ibsim -s -n "$net" >ibsim.log 2>&1 3>&- &
		sim=$!
		until_true grep -q MaxMcastCap ibsim.log
		OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir/cache \
			LD_PRELOAD=/usr/lib/$(uname -m)-linux-gnu/umad2sim/libumad2sim.so \
			opensm -o -e -r -R "$engine" -f "$dir/osm.log" --dump_files_dir "$dir" -D 0x43 "$@" \
			>osm.out 2>&1 3>&- || { cat osm.out; kill "$sim"; exit 1; }
		kill "$sim"
		wait "$sim" || true # killed
	)
}

# judge NAME ENGINE OSM-OPTIONS WEFT-OPTIONS: hops of all pairs are OpenSM's, and the balance of links is within 5 %;
# $differ is how many entries of the tables are not the same.
judge() {
	local name=$1 engine=$2 tool
	for tool in opensm ibsim; do
		command -v $tool >/dev/null || skip "$tool is not installed"
	done
	# shellcheck disable=SC2086 # words
	osm "$name" "$engine" $3
	weft ib routes "$name.net" --lfts "$name-$engine/opensm-lfts.dump" --json --seeds 1
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	mv stdout.txt theirs.json
	# shellcheck disable=SC2086 # words
	weft ib routes "$name.net" --engine "$engine" --json --seeds 1 $4
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	mv stdout.txt ours.json
	jq -e --slurp --arg name "$name $engine" '
		(.[0].routes, .[1].routes) as $x | [.[0].routes, .[1].routes] as [$a, $b] |
		if $a.reached == 0 or ($a.load | length) == 0 then error($name + ": nothing")
		elif $a.hops != $b.hops then error($name + ": hops differ")
		elif $a.pairs != $b.pairs or $a.reached != $b.reached then error($name + ": pairs differ")
		elif ($a.balance - $b.balance | fabs) > 0.05 * $a.balance
		then error("\($name): \($a.balance) and \($b.balance)") else true end' theirs.json ours.json >/dev/null
	# The same LIDs, then entry by entry.
	weft ib export "$name.net" --lfts "$name-$engine/opensm-lfts.dump" --form ibnetdiscover --out lids.net
	# shellcheck disable=SC2086 # words
	weft ib export lids.net --engine "$engine" ${4%%--lmc*} --form lfts --out ours.lfts
	[ "$(grep -c ^0x ours.lfts)" -gt 50 ]
	differ=$(diff <(grep ^0x "$name-$engine/opensm-lfts.dump" | grep -v unknown) <(grep ^0x ours.lfts) | grep -c '^[<>]') || true # none
}

@test "OpenSM's minhop, updn, ftree and dfsssp on a two-tier fat tree" {
	net fattree2
	for engine in minhop updn ftree dfsssp; do
		judge fattree2 $engine '' ''
		[ "$(jq -r .tables.engine ours.json)" = $engine ]
		[ "$differ" -eq 0 ]
	done
	judge fattree2 minhop '-l 2' '--lmc 2'
	[ "$differ" -eq 0 ]
}

@test "OpenSM's engines on a three-tier fat tree with a missing link" {
	net fattree3-hole
	for engine in minhop updn dfsssp; do
		judge fattree3-hole $engine '' ''
		[ "$(jq -r .tables.engine ours.json)" = $engine ]
		[ "$differ" -eq 0 ]
	done
	# It is no pure fat tree: both fall back to minhop, unless they are told the roots.
	judge fattree3-hole ftree '' ''
	[ "$(jq -r .tables.engine ours.json)" = minhop ]
	says "$(jq -r .tables.note ours.json)" "'pod3-leaf1' is connected to 3 switches above it"
	grep -o 'switchguid=0x[0-9a-f]*' fattree3-hole.net | head -n 16 | cut -d= -f2 >roots
	judge fattree3-hole ftree "-a $PWD/roots" "--roots $(paste -sd, roots)"
	[ "$(jq -r .tables.engine ours.json)" = ftree ]
	[ "$differ" -eq 0 ]
}

# bats test_tags=long
@test "OpenSM's engines on a dragonfly, a ring and a torus" {
	for name in dragonfly ring torus; do
		net $name
		judge $name minhop '' ''
		[ "$differ" -eq 0 ]
		judge $name minhop '-l 1' '--lmc 1'
		[ "$differ" -eq 0 ]
		judge $name dfsssp '' ''
		[ "$differ" -eq 0 ]
		[ "$(jq -r .tables.engine ours.json)" = dfsssp ]
		# No switch is equally far from all: neither updn finds a root.
		judge $name updn '' ''
		[ "$(jq -r .tables.engine ours.json)" = minhop ]
		grep -o 'switchguid=0x[0-9a-f]*' $name.net | head -n 1 | cut -d= -f2 >roots
		judge $name updn "-a $PWD/roots" "--roots $(cat roots)"
		[ "$(jq -r .tables.engine ours.json)" = updn ]
	done
}

@test "a credit loop is there with minhop, link by link, and not with dfsssp or updn" {
	for name in dragonfly ring torus; do
		net $name
		weft ib check $name.net --engine minhop
		[ "$status" -eq 1 ]
		says "$out" "error     credit-loop: "
		weft ib check $name.net --engine minhop --json
		[ "$status" -eq 1 ]
		# Each link begins where the one before it ends, and the last ends where the first begins.
		jq -e --argjson to "$(weft_peers $name.net)" '.findings[] | select(.kind == "credit-loop") |
			.steps as $s | ($s | length) > 2 and ([range($s | length)] |
			all(. as $i | $to["\($s[$i].link.node) \($s[$i].link.port)"] == $s[($i + 1) % ($s | length)].link.node))' \
			stdout.txt >/dev/null
		weft ib check $name.net --engine dfsssp
		[ "$status" -eq 0 ]
		[[ "$out" != *credit-loop* ]]
		root=$(grep -o 'switchguid=0x[0-9a-f]*' $name.net | head -n 1 | cut -d= -f2)
		weft ib check $name.net --engine updn --roots "$root"
		[ "$status" -eq 0 ]
		[[ "$out" != *credit-loop* ]]
	done
	weft ib check ring.net --engine dfsssp --vls 1
	[ "$status" -eq 1 ]
	says "$out" "dfsssp: 1 virtual lanes are too few to break all circles; at least 2 are needed"
	says "$out" "credit-loop"
}

# weft_peers FILE: {"guid port": "guid of the switch that it leads to"}, by another reader than weft's.
weft_peers() {
	/usr/bin/python3 -c 'import json, re, sys
node, to = None, {}
for line in open(sys.argv[1]):
	if head := re.match(r"Switch\s+\d+ \"S-(\w+)\"", line):
		node = head[1]
	elif line.startswith("Ca"):
		node = None
	elif node and (link := re.match(r"\[(\d+)\]\s+\"S-(\w+)\"", line)):
		to[f"0x{node} {link[1]}"] = "0x" + link[2]
print(json.dumps(to))' "$1"
}

@test "the tables that are exported are read again, and are the same" {
	net fattree3
	for engine in minhop ftree; do
		weft ib export fattree3.net --engine $engine --form lfts --out a.lfts
		[ "$status" -eq 0 ]
		weft ib routes fattree3.net --lfts a.lfts
		[ "$status" -eq 0 ]
		grep -v '^tables\|^fattree3' stdout.txt >read.txt
		weft ib routes fattree3.net --engine $engine
		grep -v '^tables\|^fattree3' stdout.txt >made.txt
		diff read.txt made.txt
	done
	# 128 hosts in leaves of 4, and pods of 16: 128 x 3, 128 x 12, 128 x 112 pairs.
	says "$(cat made.txt)" "pairs: 16,256, of 128 ports; all are reached"
	grep -qx ' *1 *384' made.txt
	grep -qx ' *3 *1,536' made.txt
	grep -qx ' *5 *14,336' made.txt
}

@test "a scenario's network becomes a file that is the same network" {
	weft ib export "$WEFT_SOURCE_DIR/examples/permutation.yaml" --form ibnetdiscover --out a.net
	[ "$status" -eq 0 ]
	weft ib import a.net
	says "$out" "as a topology: 128 hosts, "
	weft ib import a.net --form scenario --out a.yaml
	[ "$status" -eq 0 ]
	weft ib export a.yaml --form ibnetdiscover --out b.net
	[ "$status" -eq 0 ]
	# LIDs are given in the order of GUIDs, which are those of the same hosts.
	cmp a.net b.net
	weft run a.yaml --fabric ib-ndr --set run.until=20us --quiet
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	says "$out" "128 hosts"
}

@test "what is not understood is listed with its place, and what cannot be right is refused" {
	net ring
	{
		echo "[root@node]# ibnetdiscover"
		cat ring.net
		echo "ibwarn: something"
	} >noisy.net
	weft ib import noisy.net
	[ "$status" -eq 0 ]
	says "$err" "weft ib: noisy.net:1:1: this line is not understood, and left out"
	says "$err" "weft ib: noisy.net:$(wc -l <noisy.net):1: this line"
	says "$out" "noisy.net: ibnetdiscover, 18 nodes (6 switches, 12 adapters), 18 links"
	sed 's/^\[3\]/[9]/' ring.net >bad.net
	weft ib routes bad.net
	[ "$status" -eq 2 ]
	says "$err" "bad.net:"
	says "$err" "the node has no such port; its line says how many"
	weft ib routes none.net
	[ "$status" -eq 2 ]
}

@test "counters of perfquery: the worst port comes first, with its place" {
	net ring
	weft ib export ring.net --form ibnetdiscover --out lids.net
	{
		echo "# Port counters: Lid 2 port 1 (CapMask: 0x1400)"
		echo "SymbolErrorCounter:..............3"
		echo "# Port counters: Lid 3 port 1 (CapMask: 0x1400)"
		echo "SymbolErrorCounter:..............65535"
	} >pm.txt
	weft ib check lids.net --counters pm.txt
	[ "$status" -eq 0 ]
	grep port-errors stdout.txt | head -n 1 | grep -q 'lids.net:[0-9]*: .* has counted SymbolErrorCounter 65535 (full)$'
	[ "$(grep -c port-errors stdout.txt)" -eq 2 ]
	says "$out" "0 errors, 2 warnings, 0 notes"
}

@test "partitions that do not meet" {
	net ring
	guid() {
		sed -n "s/^caguid=0x//p" ring.net | sed -n "$1p"
	}
	# A port's GUID is its node's and its number here.
	printf 'red=0x8001 : 0x%x=full, 0x%x=full;\nblue=0x8002: 0x%x=full;\n' \
		$((0x$(guid 1) + 1)) $((0x$(guid 2) + 1)) $((0x$(guid 3) + 1)) >parts.conf
	weft ib check ring.net --partitions parts.conf
	[ "$status" -eq 0 ]
	says "$out" "2 ports in red (full), Default (limited), host0 HCA-1[1] the first, may not talk to 10 of 11 others"
	says "$out" "1 port in blue (full), Default (limited), host2 HCA-1[1] the first, may not talk to 11 of 11 others"
	says "$out" "9 ports in Default (limited), host3 HCA-1[1] the first, may not talk to 11 of 11 others"
	echo "red=0x8001 : NOBODY;" >parts.conf
	weft ib check ring.net --partitions parts.conf
	[ "$status" -eq 2 ]
	says "$err" "parts.conf:1:14: \"NOBODY\" is no port"
}

@test "a planted mistake is found, and changes the exit status" {
	net fattree2
	weft ib check fattree2.net --engine ftree
	[ "$status" -eq 0 ]
	# Two hosts have one GUID.
	guid=$(grep -o 'caguid=0x[0-9a-f]*' fattree2.net | sed -n 2p)
	sed "0,/caguid=/s/caguid=.*/$guid/" fattree2.net >twice.net
	weft ib check twice.net
	[ "$status" -eq 1 ]
	says "$out" "error     same-guid: "
	# A leaf without an entry.
	weft ib export fattree2.net --engine ftree --form lfts --out a.lfts
	weft ib export fattree2.net --engine ftree --form ibnetdiscover --out lids.net
	line=$(awk "/'leaf0'/ && /^Unicast/ { here = 1 } here && /Channel Adapter/ { print NR; exit }" a.lfts)
	sed "${line}d" a.lfts >hole.lfts
	weft ib check lids.net --lfts hole.lfts
	[ "$status" -eq 1 ]
	says "$out" "error     unreachable: "
	says "$out" "1 error, "
}

@test "what is asked is checked" {
	net ring
	check() {
		local says=$1
		shift
		weft ib "$@"
		[ "$status" -eq 2 ] || { echo "status $status: $*"; return 1; }
		says "$err" "$says"
	}
	check "what is to be done?"
	check "there is no action 'rout'; did you mean routes?" rout ring.net
	check "name one file" routes
	check "name one file" routes ring.net ring.net
	check "--engine: there is no engine 'nue'" routes ring.net --engine nue
	check "one of both" routes ring.net --engine updn --lfts ring.net
	check "--vls" routes ring.net --vls 16
	check "--vls" routes ring.net --vls 0
	check "--lmc" routes ring.net --lmc 8
	check "--seeds" routes ring.net --seeds 0
	check "--seeds" routes ring.net --seeds 101
	check "--roots: 'nobody' is no switch of the subnet" routes ring.net --engine updn --roots nobody
	check "--roots: 'host0 HCA-1' is no switch" routes ring.net --engine updn --roots 'host0 HCA-1'
	check "export as ibnetdiscover or as lfts" export ring.net
	check "import as scenario, or without it" import ring.net --form lfts
	check "--form goes with import and export" routes ring.net --form lfts
	check "--partitions goes with check" routes ring.net --partitions ring.net
	check "is no JSON" export ring.net --form lfts --json
	check "--out would replace what is read" routes ring.net --out ring.net
	check "there is no table in it" routes ring.net --lfts ring.net
}

@test "a file is the same twice, and by way of standard output" {
	net torus
	weft ib routes torus.net --engine dfsssp --json --out a.json
	weft ib routes torus.net --engine dfsssp --json
	cmp a.json stdout.txt
}
