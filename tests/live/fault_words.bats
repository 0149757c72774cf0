#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# Faults of a modelled fabric in the words of a scenario, while unmodified programs run.

bats_require_minimum_version 1.5.0
load common

fault() {
	"$WEFT" fault "$@"
}

# model EXPRESSION: of the fabric's state, m, and its ports, p by name, in Python.
model() {
	"$WEFT" status --json | python3 -c '
import json, sys
m = json.load(sys.stdin)["model"]
p = {x["node"] + ":" + x["peer"]: x for x in m["ports"]}
print(eval(sys.argv[1]))' "$1"
}

holds() {
	[ "$(model "$1")" = True ]
}

# flow ARGS...: RDMA WRITEs from h2 to h1 that do not end by themselves, with patience.
flow() {
	both ib_write_bw -F -u 18 -s 65536 --run_infinitely -D 1 "$@"
	until_true above tx_packets 200
}

# goes_on: packets still arrive, and the client lives.
goes_on() {
	local seen
	seen=$(model 'm["delivered"]')
	until_true holds "m['delivered'] > $seen + 500"
	kill -0 "$client"
}

# is_up HOST: what programs there see of their port.
is_up() {
	"$WEFT" status --json | jq ".hosts[] | select(.name == \"$1\").up"
}

two_leaves() {
	printf 'topology: {kind: leaf-spine, hosts: 8, radix: 4, host_rate: 10Gbps}\nfabric: {profile: roce-400g}\n' >cluster.yaml
	[ $# -eq 0 ] || printf '%s\n' "$@" >>cluster.yaml
	up cluster.yaml
}

@test "links, adapters and settings: at once, for a while, again and again, and mended" {
	needs ib_write_bw
	two_leaves
	flow
	# A cable is out for a moment: the port is down, and up again.
	fault on h1 down until 300ms
	until_true holds 'p["h1:leaf0"]["link_downed"] >= 1'
	goes_on
	# Every path upwards goes up and down, again and again; some packets are lost with it.
	fault on 'leaf0-spine*' flap every 200ms for 20ms
	until_true holds 'p["spine0:leaf0"]["link_downed"] >= 3'
	goes_on
	fault clear 'leaf0-spine*'
	[ "$(fault list)" = "no faults" ]
	# Errors of one direction, by a setting of a port.
	fault on h1:leaf0 set link.loss=1%
	until_true holds 'p["h1:leaf0"]["drops_error"] >= 20'
	holds 'p["leaf0:h1"]["drops_error"] == 0'
	goes_on
	fault clear h1:leaf0
	[ "$(fault list)" = "no faults" ]
	# A storm: the switch is paused, and its pauses spread.
	fault on h1 pause-storm until 200ms
	until_true holds 'p["leaf0:h1"]["pause_rx"] > 0'
	goes_on
	# An adapter that takes in little: its leaf is paused while programs go on, slowly.
	local pauses
	pauses=$(model 'p["h1:leaf0"]["pause_tx"]')
	fault on h1 slow-receiver rate 10Mbps
	[ "$(fault list)" = "h1: slow-receiver rate=10Mbps" ]
	until_true holds "p['h1:leaf0']['pause_tx'] > $pauses + 3"
	fault clear h1
	[ "$(fault list)" = "no faults" ]
	goes_on
	fault on 'spine*' down
	until_true holds 'not p["leaf0:spine0"]["up"]'
	fault clear
	[ "$(fault list)" = "no faults" ]
	goes_on
}

# bats test_tags=checked
@test "they are listed, in words and as JSON, and what is wrong is said" {
	two_leaves
	fault on leaf0-spine1 flap every 100s for 10s at 50s until 1000s
	fault on 'leaf*' set ecn.kmin=20KB pfc.rx=none
	fault on h5 pause-storm at 200s
	run -0 fault list
	[[ "${lines[0]}" == "leaf0-spine1: flap every 100s for 10s in 4"*"s for another 950s" ]]
	[ "${lines[1]}" = "leaf*: set ecn.kmin=20KB, pfc.rx=none" ]
	[[ "${lines[2]}" == "h5: pause-storm in "* ]]
	[ "$(fault list --json | jq -c '[.words[] | [.on, .fault, .set, .every_ps]]')" = \
		'[["leaf0-spine1","flap",null,100000000000000],["leaf*","set","ecn.kmin=20KB, pfc.rx=none",null],["h5","pause-storm",null,null]]' ]
	run -2 fault on leaf9 down
	[[ "$output" == "weft fault: leaf9: "*"did you mean leaf0?"* ]]
	run -2 fault on leaf0 dwon
	[[ "$output" == *"did you mean down?"* ]]
	run -2 fault on leaf0 set ecn.kmn=1MB
	[[ "$output" == "weft fault: unknown key 'ecn.kmn'; did you mean ecn.kmin?"* ]]
	run -2 fault on leaf0 set buffer.size=1MB
	[[ "$output" == *"buffer.size cannot change while the fabric runs"* ]]
	run -2 fault on leaf0
	run -2 fault on leaf0 down soon
	[[ "$output" == *"'soon' is not expected; at, until, every and for say when"* ]]
	run -2 fault on leaf0 down at
	run -2 fault on leaf0 set ecn
	run -2 fault on leaf0 down at 3s until 2s
	run -2 fault on "$(printf 'x%.0s' {1..600})" down
	run -2 fault clear leaf9
	[ "$(fault list --json | jq -c '.words | length')" = 3 ]
	fault clear h5
	fault clear 'leaf*'
	[ "$(fault list --json | jq -c '[.words[] | .on]')" = '["leaf0-spine1"]' ]
	fault clear
	[ "$(fault list)" = "no faults" ]
}

# bats test_tags=checked
@test "what the file says happens, too; where nothing is modelled it is refused" {
	two_leaves "faults:" "  - {on: h3, at: 0s, fault: down}" "  - {on: h4, at: 10ms, fault: flap, every: 20ms, for: 10ms}"
	[ "$(is_up h3)" = false ]
	until_true holds 'p["h4:leaf2"]["link_downed"] >= 3'
	[ "$(fault list --json | jq -c '[.words[] | .on]')" = '["h3","h4"]' ]
	fault kill-host h5
	[ "$(is_up h5)" = false ]
	fault clear
	[ "$(fault list)" = "no faults" ]
	[ "$(is_up h3)" = true ]
	[ "$(is_up h5)" = true ]
	"$WEFT" down
	run -2 "$WEFT" up --pace direct cluster.yaml
	[[ "$output" == *"faults: with pace direct nothing is modelled that could fail"* ]]
	up
	run -2 fault on h1 down
	[[ "$output" == *"nothing is modelled in this fabric"* ]]
	fault clear
}
