#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# A modelled InfiniBand fabric is managed: LIDs, states, routes and partitions are as a subnet manager has set them.

bats_require_minimum_version 1.5.0
load common

# cluster TOPOLOGY FABRIC
cluster() {
	printf 'topology: {%s}\nfabric: {%s}\n' "$1" "$2" >cluster.yaml
}

# Four leaves with two hosts each (h1 and h2 are on different ones), and two spines.
TIERS="kind: leaf-spine, hosts: 8, radix: 4, host_rate: 1Gbps"
PORT=/sys/class/infiniband/weft0/ports/1

# model EXPRESSION: of the fabric's state, m, its ports p, by node and peer, and its hosts h, in Python.
model() {
	"$WEFT" status --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
m = d["model"]
p = {(q["node"], q["peer"]): q for q in m["ports"]}
h = {q["name"]: q for q in d["hosts"]}
print(eval(sys.argv[1]))' "$1"
}

holds() {
	[ "$(model "$1")" = True ]
}

# says HOST FILE TEXT: of the port below /sys.
says() {
	[ "$(on "$1" cat "$PORT/$2")" = "$3" ]
}

# devinfo HOST FIELD: what ibv_devinfo has of it.
devinfo() {
	on "$1" ibv_devinfo -v | awk -v field="$2:" '$1 == field { print $2; exit }'
}

# flow ARGS...: RDMA WRITEs from h2 to h1 that do not end by themselves, and survive what takes some seconds.
flow() {
	both ib_write_bw -F -u 18 -s 65536 --run_infinitely -D 1 "$@"
	until_true holds "p['h2', 'leaf1']['tx_packets'] > 200"
}

# goes_on: packets still arrive, and both programs live.
goes_on() {
	local seen
	seen=$(model 'm["delivered"]')
	until_true holds "m['delivered'] > $seen + 500"
	kill -0 "$client" && kill -0 "$server"
}

stop_flow() {
	kill -9 "$server" "$client"
	ends "$server"
	ends "$client"
	server= client=
}

pyverbs() {
	/usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null || skip "python3-pyverbs is not installed"
}

# messages FROM TO PATH_BITS [PKEY_INDEX]: the status of the last SEND that was tried from host to host.
messages() {
	local pid server
	rm -rf meet
	mkdir meet
	spawn "$2" /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_path.py" serve meet ${4-} >server.txt 2>&1
	server=$pid
	on "$1" /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_path.py" send meet "$3" ${4-}
	ended "$server" || { cat server.txt; return 1; }
}

@test "a port is as the manager has set it, for every program that asks" {
	needs ibv_devinfo ibstat
	cluster "$TIERS" "profile: ib-ndr, sm.lmc: 2, sm.max_op_vls: 2"
	up cluster.yaml
	holds "m['management']['host'] == 'h0' and m['management']['managers'][0]['state'] == 'master'"
	local lid sm
	lid=$(model 'h["h3"]["lid"]')
	sm=$(model 'm["management"]["lid"]')
	[ "$((lid % 4))" -eq 0 ] # LMC: four LIDs
	says h3 lid "$(printf '0x%x' "$lid")"
	says h3 lid_mask_count 2
	says h3 sm_lid "$(printf '0x%x' "$sm")"
	says h3 state "4: ACTIVE"
	says h3 phys_state "5: LinkUp"
	says h3 rate "2.5 Gb/sec (1X SDR)"
	says h3 pkeys/0 0xffff
	says h3 pkeys/127 0x0000
	says h3 gids/0 "fe80:0000:0000:0000:00c0:deff:fe00:0004"
	[ "$(devinfo h3 port_lid)" = "$lid" ]
	[ "$(devinfo h3 port_lmc)" = 0x02 ]
	[ "$(devinfo h3 sm_lid)" = "$sm" ]
	[ "$(devinfo h3 pkey_tbl_len)" = 128 ]
	on h3 ibstat >ibstat.txt
	grep -q "Base lid: $lid$" ibstat.txt
	grep -q "LMC: 2$" ibstat.txt
	grep -q "SM lid: $sm$" ibstat.txt
	"$WEFT" status >status.txt
	grep -q "^managed from LID $sm (h0)$" status.txt
	grep -q "^weft's subnet manager on h0: master" status.txt
}

@test "nobody manages it: ports stay in INIT, and nothing leaves them" {
	needs ibv_devinfo ibv_rc_pingpong
	pyverbs
	cluster "$TIERS" "profile: ib-ndr, sm: none"
	up cluster.yaml
	says h1 state "2: INIT"
	says h1 phys_state "5: LinkUp"
	says h1 lid 0x0
	[ "$(devinfo h1 state)" = PORT_INIT ]
	"$WEFT" status | grep -q "^managed by nobody: no port is active$"
	run ! on h1 ibv_rc_pingpong
	[[ $output == *"Couldn't get local LID"* ]]
	[ "$(on h1 /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_path.py" nowhere 2)" = IBV_WC_RETRY_EXC_ERR ]
	holds "m['delivered'] == 0 and p['leaf0', 'h1']['rx_packets'] == 0"
}

@test "with pace direct there is nothing to manage" {
	cluster "$TIERS" "profile: ib-ndr, sm: weft"
	run ! "$WEFT" up cluster.yaml --pace direct
	[[ $output == *"sm: with pace direct there is nothing to manage"* ]]
}

@test "a packet goes where its LID leads: to nobody, or by one of several ways" {
	pyverbs
	cluster "$TIERS" "profile: ib-ndr, sm.lmc: 2"
	up cluster.yaml
	local bits ways=
	for bits in 0 1 2 3; do
		local before
		before=$(model "(p['leaf0', 'spine0']['tx_packets'], p['leaf0', 'spine1']['tx_packets'])")
		[ "$(messages h1 h2 $bits)" = IBV_WC_SUCCESS ]
		ways+=$(model "[p['leaf0', s]['tx_packets'] - b > 10 for s, b in zip(['spine0', 'spine1'], $before)]")
	done
	# Each LID has one way, and both ways are some LID's.
	[[ $ways == *"[True, False]"* && $ways == *"[False, True]"* && $ways != *"[True, True]"* ]]
	# A LID that nobody has: the first switch has no entry for it.
	local lost
	lost=$(model "p['leaf0', 'h1']['drops_route']")
	[ "$(on h1 /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_path.py" nowhere 0x1234)" = IBV_WC_RETRY_EXC_ERR ]
	holds "p['leaf0', 'h1']['drops_route'] >= $lost + 4"
}

# Hosts h1 and h2 are one tenant, h3 and h4 another; all are limited members of the default partition.
tenants() {
	cat >partitions.conf <<-'END'
		Default=0x7fff: ALL=limited, SELF=full;
		one=0x8001: 0x00c0defffe000002=full, 0x00c0defffe000003=full;
		two=0x8002: 0x00c0defffe000004=full, 0x00c0defffe000005=full;
	END
}

@test "two tenants cannot exchange a packet, and who tried is known" {
	needs ib_write_bw rping
	pyverbs
	tenants
	local enforce
	for enforce in both off; do
		cluster "$TIERS" "profile: ib-ndr, sm.partitions: partitions.conf, sm.part_enforce: $enforce"
		up cluster.yaml
		says h1 pkeys/0 0x7fff
		says h1 pkeys/1 0x8001
		says h3 pkeys/1 0x8002
		pair ib_write_bw -F -n 200 --pkey_index 1
		# By address: librdmacm's connections are of the partition that both are in.
		spawn h1 rping -s -C 20 -V -a 127.77.0.2 >server.txt 2>&1
		server=$pid
		until_true above listens 0 h1
		ask rping -c -C 20 -V -a 127.77.0.2
		served
		holds "sum(q['drops_pkey'] for q in m['ports']) == 0"
		# With keys of their own, and with the one that all have as limited members.
		[ "$(messages h1 h3 0 1)" = IBV_WC_RETRY_EXC_ERR ]
		holds "sum(q['drops_pkey'] for q in m['ports']) >= 4"
		[ "$(messages h4 h2 0 0)" = IBV_WC_RETRY_EXC_ERR ]
		holds "sum(q['drops_pkey'] for q in m['ports']) >= 8"
		if [ "$enforce" = off ]; then
			# The receiver's adapter counts it, as its programs see.
			holds "p['h3', 'leaf1']['drops_pkey'] >= 4"
			[ "$(devinfo h3 bad_pkey_cntr)" != 0x0 ]
		else
			holds "p['h3', 'leaf1']['drops_pkey'] == 0"
			[ "$(devinfo h3 bad_pkey_cntr)" = 0x0 ]
		fi
		"$WEFT" status | grep -Eq "; [0-9]+ packets of other partitions refused$"
		"$WEFT" down
	done
}

# pulled ARGS...: a link between switches that the flow crosses goes down, and the transfer goes on by another.
pulled() {
	local spine
	flow
	spine=$(model "'spine0' if p['leaf1', 'spine0']['tx_packets'] > p['leaf1', 'spine1']['tx_packets'] else 'spine1'")
	"$WEFT" fault link "leaf1-$spine" down
	until_true holds "m['management']['reroutes'] >= $1"
	goes_on
	"$WEFT" fault link "leaf1-$spine" up
	until_true holds "m['management']['reroutes'] >= $1 + 1"
	goes_on
	stop_flow
}

@test "a link that is pulled during a transfer is routed around" {
	needs ib_write_bw
	cluster "$TIERS" "profile: ib-ndr"
	up cluster.yaml
	pulled 1
}

@test "the same, with time as fast as it can be calculated" {
	needs ib_write_bw
	cluster "$TIERS" "profile: ib-ndr"
	up cluster.yaml --pace none
	pulled 1
}

@test "programs hear of their port: down, set up anew, active" {
	needs ibv_asyncwatch
	cluster "$TIERS" "profile: ib-ndr"
	up cluster.yaml
	spawn h2 stdbuf -oL ibv_asyncwatch >events.txt 2>&1
	local watch=$pid
	heard() { grep -q "$1" events.txt; }
	until_true heard "async event FD"
	"$WEFT" fault link h2-leaf1 down
	until_true heard "IBV_EVENT_PORT_ERR"
	says h2 state "1: DOWN"
	says h2 phys_state "2: Polling"
	"$WEFT" fault link h2-leaf1 up
	until_true heard "IBV_EVENT_PORT_ACTIVE"
	heard "IBV_EVENT_CLIENT_REREGISTER"
	says h2 state "4: ACTIVE"
	kill -9 "$watch"
	ends "$watch"
}

@test "the master's link is pulled: the standby takes over, and routes around the next one" {
	needs ib_write_bw ibv_asyncwatch
	cluster "$TIERS" "profile: ib-ndr, sm.hosts: 'h6,h7', sm.sminfo_polling_timeout: 200ms, sm.polling_retry_number: 2"
	up cluster.yaml
	holds "m['management']['host'] == 'h6'"
	holds "[(q['host'], q['state']) for q in m['management']['managers']] == [('h6', 'master'), ('h7', 'standby')]"
	spawn h3 stdbuf -oL ibv_asyncwatch >events.txt 2>&1
	local watch=$pid
	heard() { grep -q "$1" events.txt; }
	until_true heard "async event FD"
	flow
	"$WEFT" fault link h6-leaf3 down
	until_true holds "m['management']['host'] == 'h7'"
	until_true heard "IBV_EVENT_SM_CHANGE"
	says h3 sm_lid "$(printf '0x%x' "$(model 'h["h7"]["lid"]')")"
	goes_on
	local spine reroutes
	spine=$(model "'spine0' if p['leaf1', 'spine0']['tx_packets'] > p['leaf1', 'spine1']['tx_packets'] else 'spine1'")
	reroutes=$(model "m['management']['reroutes']")
	"$WEFT" fault link "leaf1-$spine" down
	until_true holds "m['management']['reroutes'] > $reroutes"
	goes_on
	stop_flow
	kill -9 "$watch"
	ends "$watch"
}
