#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# Unmodified programs over the modelled fabric of a cluster file: its switches, rates, delays, flow control.

bats_require_minimum_version 1.5.0
load common

# cluster TOPOLOGY FABRIC [LINE...]: a file of these; h1 and h2 are on different leaves where there are any.
cluster() {
	printf 'topology: {%s}\nfabric: {%s}\n' "$1" "$2" >cluster.yaml
	shift 2
	[ $# -eq 0 ] || printf '%s\n' "$@" >>cluster.yaml
}

# model EXPRESSION: of the fabric's state, m, and its ports of switches, s, in Python.
model() {
	"$WEFT" status --json | python3 -c '
import json, sys
m = json.load(sys.stdin)["model"]
s = [p for p in m["ports"] if p["switch"]]
print(eval(sys.argv[1]))' "$1"
}

PORT=/sys/class/infiniband/weft0/ports/1

# holds EXPRESSION: it is true.
holds() {
	[ "$(model "$1")" = True ]
}

# flow ARGS...: RDMA WRITEs from h2 to h1 that do not end by themselves.
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

stop_flow() {
	kill -9 "$server" "$client"
	ends "$server"
	ends "$client"
	server= client=
	until_true alone
}

# measured PROGRAM ARGS...: as pair, again when it could not tell how fast the clock of the CPU is, for which it
# must not be interrupted for long. What it tells is some per cent off when it was for a short time.
measured() {
	local i
	for ((i = 0; i < 20; i++)); do
		pair "$@"
		grep -q "Correlation coefficient" client.txt || return 0
	done
	return 1
}

# bandwidth: what ib_write_bw says of its average, in bytes a second.
bandwidth() {
	awk '$1 ~ /^[0-9]+$/ && NF == 5 { print int($4 * 1048576) }' client.txt
}

@test "RoCE v2 over leaves and spines: services, contents, connections, groups" {
	needs ibv_rc_pingpong ib_write_bw rping mckey
	cluster "kind: leaf-spine, hosts: 8, radix: 4, host_rate: 10Gbps" "profile: roce-400g"
	up cluster.yaml
	pair ibv_rc_pingpong -g 0 -n 200 -c -e
	pair ibv_rc_pingpong -g 1 -n 100 -e
	pair ibv_uc_pingpong -g 0 -n 50 -e
	pair ibv_ud_pingpong -g 0 -n 100
	pair ibv_srq_pingpong -g 0 -n 200 -q 4 -e
	pair ib_read_bw -F -u 18 -n 100 -q 2
	pair ib_atomic_bw -F -u 18 -n 100
	spawn h1 rping -s -a 127.77.0.2 -C 20 -V >server.txt 2>&1
	server=$pid
	until_true above listens 0
	ask rping -c -a 127.77.0.2 -C 20 -V
	served
	spawn h1 stdbuf -oL mckey -m 239.1.2.3 -C 10 >server.txt 2>&1
	server=$pid
	until_true grep -q "receiving data transfers" server.txt
	ask mckey -m 239.1.2.3 -s -C 10
	served
	holds 'm["lost"] == 0 and m["refused"] == 0 and m["delivered"] > 1000'
	holds 'sum(p["tx_packets"] for p in s if p["node"].startswith("spine")) > 500'
	# Two programs of one host talk as they always did, past the switches.
	seen=$(model 'm["delivered"]')
	port=$(free_port)
	serve_at "$port" ibv_rc_pingpong -g 0 -n 10 -p "$port"
	on h1 ibv_rc_pingpong -g 0 -n 10 -p "$port" 127.0.0.1
	served
	holds "m[\"delivered\"] == $seen"
}

# bats test_tags=long
@test "InfiniBand: a slow link upwards, and credits keep everything back" {
	needs ibv_rc_pingpong ib_write_bw
	cluster "kind: leaf-spine, hosts: 8, radix: 4, host_rate: 1Gbps, fabric_rate: 125Mbps, blocking: 8" \
		"profile: ib-ndr, vl: {buffer: 16KiB}"
	up cluster.yaml
	pair ibv_rc_pingpong -n 100 -c -e
	pair ibv_ud_pingpong -n 50 -e
	flow
	until_true holds 'sum(p["credit_waits"] for p in m["ports"]) > 10'
	holds 'm["lost"] == 0'
	stop_flow
}

# bats test_tags=long
@test "a port is as fast as the file says, and no faster" {
	needs ib_write_bw
	cluster "kind: single, hosts: 3, host_rate: 200Mbps" "profile: roce-400g"
	up cluster.yaml
	measured ib_write_bw -F -u 18 -s 65536 -n 200
	rate=$(bandwidth)
	echo "$rate bytes/s"
	# 25 MB/s with headers, by a clock that may be some per cent off.
	[ "$rate" -lt 27000000 ]
	[ "$rate" -gt 250000 ]
	holds 'sum(p["tx_bytes"] for p in s) > 200 * 65536'
}

# bats test_tags=long
@test "as fast as it can be calculated, virtual time is longer than what passes here" {
	needs ibv_rc_pingpong
	# 100 ms to each host.
	cluster "kind: single, hosts: 3, host_rate: 1Gbps, cable: {host: 100km, delay: 1us}" \
		"profile: ib-ndr" "live: {pace: none}"
	up cluster.yaml
	# 1000 there and back: by the clock they would take longer than on() waits.
	pair ibv_rc_pingpong -n 1000 -e
	holds 'm["time_ps"] > 400 * 10**12 and m["slip_ps"] == 0'
}

# bats test_tags=long
@test "a link is as long as the file says, or a fault makes it" {
	needs ib_send_lat
	# 40 km to each host at 50 ns a metre: 2 ms.
	cluster "kind: single, hosts: 3, host_rate: 10Gbps, cable: {host: 40km, delay: 50ns}" \
		"profile: roce-400g"
	up cluster.yaml
	measured ib_send_lat -F -u 18 -n 20
	awk '$1 == 2 { seen = $3 } END { print "least: " seen " us"; exit !(seen >= 3700 && seen < 400000) }' client.txt
	"$WEFT" fault link h1 delay 5ms
	measured ib_send_lat -F -u 18 -n 10
	awk '$1 == 2 { seen = $3 } END { print "least: " seen " us"; exit !(seen >= 8300 && seen < 900000) }' client.txt
	[ "$("$WEFT" fault list)" = "link h1-leaf0: delay 5ms" ]
	run -1 "$WEFT" fault link h1 delay 1900ms
}

# bats test_tags=checked
@test "two send to one: the switch pauses them, nothing is lost" {
	needs ib_write_bw
	cluster "kind: single, hosts: 3, host_rate: 125Mbps" \
		"profile: roce-400g, buffer: {size: 400KB, reserved: 0B, alpha: 1/8}, ecn: {kmin: 90MB, kmax: 99MB}"
	up cluster.yaml
	flow
	port=$(free_port)
	spawn h1 ib_write_bw -F -u 18 -s 65536 --run_infinitely -D 1 -p "$port" >more.txt 2>&1
	more=$pid
	listens "$port" "$more"
	spawn h0 ib_write_bw -F -u 18 -s 65536 --run_infinitely -D 1 -p "$port" 127.0.0.1 >most.txt 2>&1
	most=$pid
	until_true holds 'sum(p["pause_tx"] for p in s if p["peer"] != "h1") > 5'
	holds 'm["lost"] == 0 and sum(p["drops_buffer"] for p in s) == 0'
	kill -9 "$more" "$most"
	stop_flow
}

# bats test_tags=long
@test "DCQCN: marks become CNPs, and CNPs slow the sender down" {
	needs ib_write_bw
	cluster "kind: leaf-spine, hosts: 8, radix: 4, host_rate: 1Gbps, fabric_rate: 125Mbps, blocking: 8" \
		"profile: roce-400g, ecn: {kmin: 20KB, kmax: 100KB, pmax: 100%}"
	up cluster.yaml
	flow
	until_true holds 'sum(p["ecn_marked"] for p in s) > 20'
	stop_flow
	[ "$(on h1 cat /sys/class/infiniband/weft0/ports/1/hw_counters/np_cnp_sent)" -gt 0 ]
	[ "$(on h1 cat /sys/class/infiniband/weft0/ports/1/hw_counters/np_ecn_marked_roce_packets)" -gt 0 ]
	[ "$(on h2 cat /sys/class/infiniband/weft0/ports/1/hw_counters/rp_cnp_handled)" -gt 0 ]
}

# bats test_tags=long
@test "a lossy fabric drops, and queue pairs recover" {
	needs ib_write_bw
	cluster "kind: leaf-spine, hosts: 8, radix: 4, host_rate: 1Gbps, fabric_rate: 250Mbps, blocking: 4" \
		"profile: roce-400g, flowctl: none, buffer: {size: 100KB}, cc: {algorithm: none}"
	up cluster.yaml
	flow -u 16
	until_true holds 'sum(p["drops_buffer"] for p in s) > 0 and m["lost"] > 0'
	goes_on
	stop_flow
}

# bats test_tags=long
@test "links between switches go down and come back" {
	needs ibv_rc_pingpong ib_write_bw
	cluster "kind: leaf-spine, hosts: 8, radix: 4, host_rate: 10Gbps" "profile: roce-400g"
	up cluster.yaml
	"$WEFT" fault link leaf0-spine0 down
	pair ibv_rc_pingpong -g 0 -n 100 -e
	holds 'all(p["tx_packets"] == 0 for p in s if p["node"] == "spine0")'
	"$WEFT" fault link spine1-leaf0 down
	run -0 "$WEFT" fault list
	[[ "${lines[0]}" == "link leaf0-spine0: down" ]]
	[[ "${lines[1]}" == "link leaf0-spine1: down" ]]
	both ibv_rc_pingpong -g 0 -n 100 -e
	fails "$client"
	kill -9 "$server"
	ends "$server"
	client= server=
	# Nothing leads there any more: that is the links' doing, and not the switch's.
	holds 'sum(p["drops_down"] for p in s) > 0 and sum(p["drops_route"] for p in s) == 0'
	holds 'all(p["link_downed"] == ({p["node"], p["peer"]} in ({"leaf0", "spine0"}, {"leaf0", "spine1"})) for p in s)'
	"$WEFT" fault clear leaf0-spine1
	"$WEFT" fault link leaf0-spine1 loss 1%
	flow
	until_true holds 'sum(p["drops_error"] for p in s) > 0'
	holds 'sum(p["drops_buffer"] + p["drops_life"] for p in s) == 0'
	goes_on
	stop_flow
	"$WEFT" fault clear
	[ "$("$WEFT" fault list)" = "no faults" ]
	pair ibv_rc_pingpong -g 0 -n 100 -e
	run -2 "$WEFT" fault link leaf0-leaf1 down
}

# bats test_tags=checked
@test "faults of hosts: corruption, the cable, a pause storm that spreads, death" {
	needs ibv_rc_pingpong ib_write_bw ibv_asyncwatch
	cluster "kind: single, hosts: 4, host_rate: 1Gbps" \
		"profile: roce-400g, buffer: {size: 400KB, reserved: 0B}, ecn: {kmin: 90MB, kmax: 99MB}"
	up cluster.yaml
	"$WEFT" fault link h1 corrupt 2%
	flow
	until_true above icrc_errors 5
	# Errors are what they are called where they are found out, and no switch has dropped anything.
	until_true holds 'sum(p["drops_error"] for p in m["ports"] if not p["switch"]) > 5'
	holds 'sum(p["drops_error"] + p["drops_down"] + p["drops_buffer"] for p in s) == 0'
	goes_on
	stop_flow
	errors=$(on h1 cat $PORT/counters/port_rcv_errors)
	[ "$errors" -gt 0 ]
	[ "$(on h1 cat $PORT/counters/symbol_error)" -ge "$errors" ]
	"$WEFT" fault clear
	"$WEFT" fault link h1 loss 5%
	flow
	until_true sh -c '[ "$("$0" exec --host h1 -- cat "$1")" -gt "$2" ]' "$WEFT" $PORT/counters/port_rcv_errors $((errors + 5))
	goes_on
	stop_flow
	"$WEFT" fault clear
	[ "$(on h1 cat $PORT/counters/link_downed)" -eq 0 ]
	spawn h1 stdbuf -oL ibv_asyncwatch >events.txt 2>&1
	watcher=$pid
	until_true grep -q weft0 events.txt
	"$WEFT" fault link h1-leaf0 down
	until_true grep -q PORT_ERR events.txt
	holds 'all(not p["up"] for p in s if p["peer"] == "h1")'
	"$WEFT" fault link h1-leaf0 up
	until_true grep -q PORT_ACTIVE events.txt
	[ "$(on h1 cat $PORT/counters/link_downed)" -eq 1 ]
	[ "$(on h1 cat $PORT/counters/link_error_recovery)" -eq 0 ]
	holds 'all(p["link_downed"] == (p["peer"] == "h1") for p in s)'
	kill -9 "$watcher"
	flow -u 22
	# The host pauses the switch, and the switch, when it is full, the sender.
	"$WEFT" fault pause-storm h1
	until_true holds 'sum(p["pause_rx"] for p in s if p["peer"] == "h1") > 2'
	until_true holds 'sum(p["pause_tx"] for p in s if p["peer"] == "h2") > 0'
	seen=$(model 'sum(p["tx_packets"] for p in s if p["peer"] == "h1")')
	"$WEFT" fault pause-storm h1 off
	until_true holds "sum(p['tx_packets'] for p in s if p['peer'] == 'h1') > $seen + 100"
	"$WEFT" fault kill-host h2
	rc=0
	ended "$client" || rc=$?
	[ "$rc" -eq 137 ]
	client=
	kill -9 "$server" 2>/dev/null || true
	ends "$server"
	server=
	"$WEFT" fault clear
	pair ibv_rc_pingpong -g 0 -n 100 -e
}

# bats test_tags=checked
@test "programs and the daemon are killed in the middle" {
	needs ib_send_bw ibv_rc_pingpong
	cluster "kind: single, hosts: 3, host_rate: 1Gbps" "profile: ib-ndr"
	"$WEFT" up --foreground cluster.yaml 3>&- &
	daemon=$!
	until_true "$WEFT" status >/dev/null
	both ib_send_bw -F -u 15 --run_infinitely -D 1
	until_true above tx_packets 1000
	kill -9 "$server"
	ends "$server"
	server=
	fails "$client"
	grep -q "status 12" client.txt
	client=
	until_true alone
	pair ibv_rc_pingpong -n 100 -e
	until_true holds 'm["under_way"] == 0'
	both ib_send_bw -F -u 15 --run_infinitely -D 1
	until_true above tx_packets 1000
	kill -9 "$daemon"
	ends "$daemon"
	fails "$client"
	client=
	kill -9 "$server" 2>/dev/null || true
	server=
	up cluster.yaml
	pair ibv_rc_pingpong -n 100 -e
}

# bats test_tags=checked
@test "what is said of it: status, metrics, and what cannot be" {
	needs curl ibv_rc_pingpong ib_write_bw
	port=$(free_port)
	up --pace wall --metrics "127.0.0.1:$port"
	pair ibv_rc_pingpong -g 0 -n 100 -e
	[[ "$("$WEFT" status)" == *"modelled, pace wall"* ]]
	# The machine's part in what programs see.
	[[ "$("$WEFT" status)" =~ "programs took packets in "[0-9]+" us after they were due" ]]
	"$WEFT" status --json >status.json
	python3 -c 'import json, sys
total = [h["total"] for h in json.load(open("status.json"))["hosts"]]
sys.exit(not all(t["late_packets"] == t["rx_packets"] >= 100 and t["late_ns"] > 0 for t in total))'
	curl -sf "http://127.0.0.1:$port/metrics" >metrics.txt
	grep -q '^weft_model_slip_seconds_total ' metrics.txt
	awk '/^weft_late_packets_total.host="h1"/ { n = $2 } END { exit n < 100 }' metrics.txt
	awk '/^weft_switch_port_transmitted_packets_total.switch="s1",port="1",peer="h1"/ { n = $2 } END { exit n < 100 }' metrics.txt
	# Three kinds of loss, each by itself.
	"$WEFT" fault link h1 loss 3%
	flow
	until_true holds 'all(p["drops_error"] > 0 for p in m["ports"] if {p["node"], p["peer"]} == {"h1", "s1"})'
	stop_flow
	"$WEFT" fault clear
	"$WEFT" fault link h2 down
	curl -sf "http://127.0.0.1:$port/metrics" >metrics.txt
	awk '/^weft_switch_port_link_errors_total.switch="s1",port="1",peer="h1"/ { n = $2 } END { exit n < 1 }' metrics.txt
	awk '/^node_infiniband_port_errors_received_total.host="h1"/ { n = $2 } END { exit n < 1 }' metrics.txt
	awk '/^weft_switch_port_(buffer|lifetime|route)_drops_total/ { n += $2; k++ } END { exit n != 0 || k != 6 }' metrics.txt
	grep -q '^weft_switch_port_link_downed_total{switch="s1",port="2",peer="h2"} 1$' metrics.txt
	grep -q '^node_infiniband_link_downed_total{host="h2",device="weft0",port="1"} 1$' metrics.txt
	grep -q '^weft_switch_port_link_down_drops_total{switch="s1",port="1",peer="h1"} ' metrics.txt
	"$WEFT" down
	run -2 up --pace slow
	[[ "$output" == *"wall, none or direct"* ]]
	cluster "kind: single, hosts: 2" "profile: roce-400g, cc: {algorithm: hpcc}"
	run -2 up cluster.yaml
	[[ "$output" == *"hpcc"* ]]
	cluster "kind: single, hosts: 2" "profile: roce-400g" "live: {pace: direct}"
	up cluster.yaml
	[[ "$("$WEFT" status)" != *"modelled"* ]]
	run -2 "$WEFT" fault link leaf0-spine0 down
}
