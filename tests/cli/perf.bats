# SPDX-License-Identifier: Apache-2.0
# perf.bats - weft perf: perftest's columns, the same bytes every time, and what is refused.

load common

@test "the columns are those of perftest" {
	weft perf --size 8,4K --iters 50
	[ "$status" -eq 0 ]
	[ -z "$err" ]
	says "$out" " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]"
	says "$out" " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
	[ "$(grep -c '^ #bytes' stdout.txt)" -eq 4 ]
	[ "$(grep -c '^ 4096 *50 ' stdout.txt)" -eq 4 ]
	says "$out" " ib-ndr: write latency, RC, 1 switch, "
	says "$out" " roce-400g: write bandwidth, 1 queue pair, depth 128, RC, 1 switch, "
	# What is under a heading ends where the heading ends, whatever the size.
	[ "$(awk '/^ #bytes|^ [0-9]/ && NF { print length }' stdout.txt | sort -u | wc -l)" -le 4 ]
}

@test "the same command prints the same bytes" {
	for args in "--size 2..64K --iters 20" "--op read --size 64,1M --hops 5 --iters 20 --json"; do
		weft perf $args
		[ "$status" -eq 0 ]
		cp stdout.txt a
		weft perf $args
		cmp a stdout.txt
	done
}

@test "every operation and test" {
	for op in write write-imm send read; do
		weft perf --op "$op" --size 64 --iters 20 --fabric ib-ndr
		[ "$status" -eq 0 ]
		[ "$(grep -c '^ 64 ' stdout.txt)" -eq 2 ]
	done
	for op in cas fadd; do
		weft perf --op "$op" --iters 20 --test lat
		[ "$status" -eq 0 ]
		[ "$(grep -c '^ 8 ' stdout.txt)" -eq 2 ]
	done
	weft perf --size 64K --iters 20 --test bw --qps 4 --depth 2 --bidirectional
	[ "$status" -eq 0 ]
	says "$out" "write bidirectional bandwidth, 4 queue pairs, depth 2"
	[ "$(grep -c '^ 65536 *40 ' stdout.txt)" -eq 2 ]
}

@test "options change what they say" {
	lat() {
		weft perf --size 8 --iters 5 --test lat --fabric ib-ndr --json "$@"
		[ "$status" -eq 0 ]
		python3 -c 'import json,sys; print(json.load(sys.stdin)["fabrics"][0]["latency"][0]["mean_ps"])' \
			<stdout.txt
	}
	base=$(lat)
	[ "$(($(lat --set fabric.nic.rx=350ns) - base))" -eq 50000 ]
	[ "$(($(lat --inline 0) - base))" -eq 450000 ]
	[ "$(($(lat --set topology.cable.host=13m) - base))" -eq 100000 ]
	[ "$(lat --hops 3)" = "$(lat --topology leaf-spine)" ]
	[ "$(lat --hops 1)" = "$base" ]
	weft perf --size 8 --iters 5 --hops 5 --mtu 1024
	says "$out" "5 switches, links of 400.0 Gb/s, MTU 1024"
	weft perf --fabric ib-hdr --set topology.host_rate=200Gbps --size 8 --iters 5
	says "$out" "ib-hdr: write latency, RC, 1 switch, links of 200.0 Gb/s"
}

@test "JSON has what the tables have" {
	weft perf --size 2..8 --iters 10 --json
	[ "$status" -eq 0 ]
	python3 - <stdout.txt 3<&0 <<'END'
import json
r = json.load(open(3))
assert r["op"] == "write" and r["switches"] == 1 and r["host_rate_bps"] == 400000000000
assert [f["fabric"] for f in r["fabrics"]] == ["ib-ndr", "roce-400g"]
for f in r["fabrics"]:
    assert [l["bytes"] for l in f["latency"]] == [2, 4, 8]
    for l in f["latency"]:
        assert l["min_ps"] <= l["typical_ps"] <= l["p99_ps"] <= l["p999_ps"] <= l["max_ps"]
    for b in f["bandwidth"]:
        assert b["average_bps"] <= b["peak_bps"] < 400000000000
END
}

@test "what is wrong is said, with status 2" {
	refused() {
		local want=$1
		shift
		weft perf "$@"
		[ "$status" -eq 2 ]
		[ -z "$out" ]
		[ "$(wc -l <stderr.txt)" -eq 1 ]
		says "$err" "$want"
	}
	refused "did you mean write?" --op wrte
	refused "'0' is no size" --size 0
	refused "before it begins" --size 8..2
	refused "cas is always of 8 bytes" --op cas --size 16
	refused "none of 1 (single), 3" --hops 2
	refused "none of lat, bw and both" --test x
	refused "there are single, leaf-spine and fat-tree" --topology ring
	refused "did you mean ib-ndr?" --fabric ib-ndd
	refused "256, 512, 1024, 2048 or 4096" --mtu 1000
	refused "did you mean nic.rx?" --set fabric.nic.rrx=1ns
	refused "begins with fabric. or topology." --set x=1
	refused "write PARAMETER=VALUE" --set fabric.mtu
	refused "1 to 1024" --qps 0
	refused "1 to 16384" --depth 20000
	refused "use fewer" --depth 16384 --qps 1024
	refused "--bidirectional is of bandwidth" --test lat --bidirectional
	refused "has no priority 9" --class 9 --size 8
	refused "two hosts are needed" --set topology.hosts=1
	refused "is not expected" ib-ndr
	refused "needs a value" --fabric
	refused "there is no option --sizes" --sizes 8
}

@test "numbers at both ends of their ranges run, or say what does not go together" {
	local args
	for args in "--iters 1" "--qps 1024 --depth 16 --iters 2048" "--depth 16384 --iters 100" "--depth 1 --iters 10" \
		"--class 0" "--class 7" "--mtu 256" "--inline 0" "--inline 4096" \
		"--set topology.host_rate=1Mbps --set fabric.nic.rate_min=0 --set fabric.sender.timeout=1000s --iters 3" \
		"--set topology.host_rate=10Tbps --set fabric.nic.rate_max=0 --iters 3"; do
		# shellcheck disable=SC2086
		weft perf --size 64 $args
		[ "$status" -eq 0 ] || { echo "$args: $err"; return 1; }
	done
	weft perf --iters 10000001
	[ "$status" -eq 2 ]
	says "$err" "1 to 10000000"
	weft perf --class 16
	[ "$status" -eq 2 ]
	says "$err" "0 to 15"
	weft perf --inline 4097
	[ "$status" -eq 2 ]
	says "$err" "0B to 4KiB"
}

@test "a measurement that fails is no table" {
	weft perf --size 1M --set fabric.link.ber=1e-3 --set fabric.sender.timeout=10us
	[ "$status" -eq 1 ]
	[ -z "$out" ]
	says "$err" "1048576 bytes: the client's queue pair failed"
}
