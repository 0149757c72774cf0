# SPDX-License-Identifier: Apache-2.0
# tcp.bats - traffic over TCP: what is reported of it, captures that Wireshark reads, what is refused.

load common

scenario() {
	cat <<'END'
name: shared
seed: 1
topology: {kind: leaf-spine, hosts: 16, radix: 16, host_rate: 100Gbps}
fabric: {profile: roce-400g-lossy, nic: {rate_min: 0}, buffer: {size: 1MB}, tcp: {rto_min: 1ms}}
traffic:
  - {kind: incast, fanin: 15, size: 300KB, op: tcp, class: 0}
  - {kind: permutation, size: 100KB, op: write, class: 3}
run: {until: 100ms}
END
}

need_tshark() {
	command -v tshark >/dev/null || skip "tshark is not installed"
}

# count FILE FILTER: packets that match.
count() {
	tshark -r "$1" -o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE -Y "$2" 2>/dev/null | wc -l
}

@test "the report and its JSON say what TCP counted, and how much of the CPUs it took" {
	scenario >s.yaml
	weft run s.yaml --quiet
	for row in "CPU cores for TCP, mean host" "CPU cores for TCP, busiest host" "busiest CPU core for TCP" \
		"TCP segments" "TCP segments sent again" "TCP timeouts"; do
		says "$out" "$row"
	done
	weft run s.yaml --quiet --json
	python3 - stdout.txt <<-'END'
		import json, sys
		r = json.load(open(sys.argv[1]))["runs"][0]
		t = r["tcp"]
		assert r["finished"] and t["hosts"] == 16
		assert t["retrans_segs"] > 0 and t["retrans_segs"] == r["packets_resent"]
		assert 0 < t["cores_mean"] < t["cores_max"] <= 8 and abs(t["load_max"] * 8 - t["cores_max"]) < 1e-5
		assert 0 < t["core_max"] <= 1
		assert t["out_segs"] >= t["in_segs"] > t["acks"] > 0
	END
}

@test "without TCP nothing is said of it" {
	scenario | sed '/op: tcp/d' >s.yaml
	weft run s.yaml --quiet
	[ "$status" -eq 0 ]
	[[ $out != *TCP* ]]
	weft run s.yaml --quiet --json
	[ "$status" -eq 0 ]
	[[ $out != *'"tcp"'* ]]
}

@test "results have the same, and files of results know the names" {
	scenario >s.yaml
	weft run s.yaml --quiet --record r.db
	[ "$status" -eq 0 ]
	python3 - <<-'END'
		import sqlite3
		db = sqlite3.connect("r.db")
		v = dict(db.execute("select name, value from value"))
		n = dict(db.execute("select kind, n from event_count"))
		assert n["retransmit"] == v["packets_resent"]
		assert v["tcp_retrans_segs"] == v["packets_resent"] > 0
		assert 0 < v["tcp_load_max"] <= 1 and v["tcp_cores_max"] == v["tcp_load_max"] * 8
	END
	weft sweep s.yaml --vary fabric.tcp.cores=1,4 --show tcp_core_max,tcp_cores_max --record sweep.db --quiet
	[ "$status" -eq 0 ]
}

@test "captures are TCP to Wireshark, on every link layer, and nothing is wrong with them" {
	need_tshark
	scenario >s.yaml
	for fabric in "--set fabric.header=rocev1 --set fabric.cc.algorithm=none" "--fabric ib-ndr" ""; do
		# shellcheck disable=SC2086 # they are words
		weft run s.yaml --quiet --json --pcap o.pcapng --pcap-port h0 --wire-check $fabric
		[ "$status" -eq 0 ]
		[ "$(count o.pcapng tcp)" -gt 200 ]
		wrong='(tcp && (_ws.malformed || !tcp.options.timestamp.tsval)) || tcp.checksum.status == 0 || ip.checksum.status == 0'
		[ "$(count o.pcapng "$wrong")" -eq 0 ]
	done
	# What was lost, and what was sent again for it; h0 receives, so its acknowledgements have SACK.
	[ "$(count o.pcapng 'tcp.options.sack && tcp.len == 0')" -gt 10 ]
	[ "$(count o.pcapng 'tcp.options.sack && tcp.len > 0')" -eq 0 ]
	[ "$(count o.pcapng 'tcp.analysis.retransmission || tcp.analysis.fast_retransmission || tcp.analysis.out_of_order')" -gt 10 ]
	[ "$(tshark -r o.pcapng -T fields -e tcp.stream -Y tcp 2>/dev/null | sort -u | wc -l)" -eq 15 ]
}

@test "what cannot be is refused with what could" {
	scenario | sed 's/fabric: .*/fabric: {profile: ib-ndr, tcp: {mtu: 5000B}}/' >s.yaml
	weft run s.yaml --quiet
	[ "$status" -eq 2 ]
	says "$err" "s.yaml:4:"
	says "$err" "tcp.mtu: IP over InfiniBand"
	says "$err" "4092"
	scenario | sed 's/op: write/op: window/' >s.yaml
	weft run s.yaml --quiet
	[ "$status" -eq 2 ]
	says "$err" "op: window does not go together with write, send, read or tcp"
}

job() {
	cat <<'END'
topology: {kind: rail, hosts: 16, gpus: 4, host_rate: 400Gbps, radix: 0}
fabric: tcp-sockets-400g
job: {kind: all-reduce, algorithm: ring, protocol: simple, bytes: 4MB, gpus_per_server: 4}
compare: {sizes: none}
END
}

# busbw ARGS...: of the job, MB/s.
busbw() {
	"$WEFT" run s.yaml --quiet --json "$@" | jq '.runs[0].job.groups[0].busbw / 1000000 | floor'
}

@test "a job goes over sockets, whose cores bound it, on any number of threads" {
	job >s.yaml
	weft run s.yaml --quiet --json --wire-check
	[ "$status" -eq 0 ]
	one=$(jq -c '.runs[0] | del(.end_ps)' stdout.txt)
	[ "$(jq '.runs[0].job.finished' stdout.txt)" = true ]
	[ "$(jq '.runs[0].tcp.hosts' stdout.txt)" -eq 16 ]
	[ "$(jq '.runs[0].tcp.out_segs' stdout.txt)" -gt 1000 ]
	# All of the messages, and a header for each part of each.
	[ "$(jq '.runs[0].packets_delivered' stdout.txt)" -gt "$(jq '.runs[0].job.messages' stdout.txt)" ]
	for threads in 2 4; do
		weft run s.yaml --quiet --json --threads $threads
		[ "$(jq -c '.runs[0] | del(.end_ps)' stdout.txt)" = "$one" ]
	done
	four=$(busbw) two=$(busbw --set fabric.tcp.cores=2) rdma=$(busbw --fabric roce-400g)
	[ "$((two * 10))" -lt "$((four * 9))" ]
	[ "$((four * 2))" -lt "$rdma" ]
}

@test "comparisons have a column of TCP, without a latency of RDMA" {
	job >s.yaml
	weft compare s.yaml --seeds 1 --fabric ib-ndr,roce-400g,tcp-sockets-400g --json
	[ "$status" -eq 0 ]
	[ "$(jq -r '.fabrics[2].family' stdout.txt)" = tcp ]
	[ "$(jq '.fabrics[2].job_time > 2 * .fabrics[1].job_time' stdout.txt)" = true ]
	[ "$(jq '.fabrics[2].write_latency' stdout.txt)" = null ]
	[ "$(jq '.fabrics[1].write_latency > 0' stdout.txt)" = true ]
	weft perf --fabric tcp-sockets-400g --size 8
	[ "$status" -eq 2 ]
	says "$err" "nic.stack: this measures RDMA"
}
