# SPDX-License-Identifier: Apache-2.0
# run.bats - weft run: what it prints, where it goes, and that it is the same every time.

bats_require_minimum_version 1.5.0
load common

@test "the table answers the questions" {
	small_scenario >s.yaml
	weft run s.yaml
	[ "$status" -eq 0 ]
	for row in "flows done" "completion time" "goodput" "packets sent" "packets delivered" \
		"packets lost" "drops in lossless classes" "PFC pauses sent" "credit waits" \
		"ECN marks" "packet latency, p50" "packet latency, p99" "packet latency, max" \
		"flow completion, p99" "longest egress queue" "packet-hops"; do
		says "$out" "$row"
	done
	says "$out" "8 of 8"
	says "$err" "packet-hops in"
}

@test "two fabrics are two columns" {
	small_scenario >s.yaml
	weft run s.yaml --fabric ib-ndr,roce-400g,ib-ndr --quiet
	[ "$status" -eq 0 ]
	[ -z "$err" ]
	says "$out" "ib-ndr"
	says "$out" "roce-400g"
	says "$out" "ib-ndr #2"
	[ "$(grep -c '^flows done.*8 of 8.*8 of 8.*8 of 8' stdout.txt)" -eq 1 ]
}

@test "a scenario may name and change its fabrics" {
	small_scenario | sed 's/fabric: .*/fabric: [{profile: roce-400g, name: tiny, ecn: {kmin: 1KB, kmax: 2KB}}, ib-ndr]/' >s.yaml
	weft run s.yaml --quiet
	[ "$status" -eq 0 ]
	says "$out" "tiny"
	says "$out" "ib-ndr"
}

@test "JSON is valid and has the same figures" {
	small_scenario >s.yaml
	weft run s.yaml --fabric ib-ndr,roce-400g --json --ports --quiet
	[ "$status" -eq 0 ]
	python3 - stdout.txt <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		assert d["scenario"]["hosts"] == 8 and d["scenario"]["flows"] == 8
		assert [r["fabric"] for r in d["runs"]] == ["ib-ndr", "roce-400g"]
		for r in d["runs"]:
		    assert r["finished"] is True and r["flows_done"] == 8
		    assert r["bytes_delivered"] == 800000
		    assert r["packets_sent"] == r["packets_delivered"] + r["packets_dropped"] + r["packets_inside"]
		    assert r["lossless_drops"] == 0 and r["completion_ps"] > 2000000
		    assert r["packet_latency_ps"]["p50"] <= r["packet_latency_ps"]["p99"] <= r["packet_latency_ps"]["max"]
		    assert isinstance(r["ports"], list) and len(r["classes"]) > 1
	END
	python3 -m json.tool <stdout.txt >/dev/null
}

# bats test_tags=long
@test "the same on 1, 2 and 4 threads, and twice" {
	for example in incast permutation all-to-all link-failure; do
		for fabric in ib-ndr roce-400g roce-400g-lossy; do
			for threads in 1 1 2 4; do
				"$WEFT" run "$WEFT_SOURCE_DIR/examples/$example.yaml" --fabric "$fabric" \
					--set traffic.size=50KB --json --ports --quiet \
					--threads "$threads" >"$threads.json"
				if [ -f first.json ]; then
					cmp first.json "$threads.json"
				else
					mv "$threads.json" first.json
				fi
			done
			rm first.json
		done
	done
}

@test "the table does not depend on the threads either" {
	small_scenario >s.yaml
	"$WEFT" run s.yaml --threads 1 2>/dev/null >a
	"$WEFT" run s.yaml --threads 4 2>/dev/null >b
	cmp a b
}

@test "another seed is another run" {
	small_scenario >s.yaml
	"$WEFT" run s.yaml --json -q --seed 1 >a
	"$WEFT" run s.yaml --json -q --seed 1 >b
	"$WEFT" run s.yaml --json -q --seed 2 >c
	cmp a b
	run ! cmp -s a c
}

@test "the scenario may come from standard input" {
	small_scenario | "$WEFT" run - --quiet >a
	says "$(cat a)" "8 of 8"
}

@test "--set changes one parameter" {
	small_scenario >s.yaml
	weft run s.yaml --json -q --set topology.hosts=4 --set traffic.size=1KB --set traffic.0.class=0 \
		--set run.until=5ms --set name=other --set fabric.mtu=1KiB
	[ "$status" -eq 0 ]
	says "$out" '"hosts": 4'
	says "$out" '"bytes": 4000'
	says "$out" '"until_ps": 5000000000'
	says "$out" '"name": "other"'
}

@test "unfinished flows are said clearly" {
	small_scenario >s.yaml
	weft run s.yaml --set run.until=2us
	[ "$status" -eq 0 ]
	says "$out" "roce-400g: 8 of 8 flows unfinished at 2.000 us: "
	says "$out" "packets are stuck in the fabric"
	weft run s.yaml --set run.until=2us --json
	says "$out" '"finished": false'
	says "$out" '"completion_ps": null'
}

@test "--ports lists ports where something happened" {
	small_scenario | sed 's/kind: permutation/kind: incast/; s/100KB/1MB/' >s.yaml
	weft run s.yaml --ports -q --fabric ib-ndr
	[ "$status" -eq 0 ]
	says "$out" "ib-ndr: ports with losses, pauses, waits or marks"
	grep -qE '^(leaf|spine|h)[0-9]+:[0-9]+ ' stdout.txt
}

@test "a run says what its counters mean, in words and as JSON" {
	example="$WEFT_SOURCE_DIR/examples/ecn-above-xoff.yaml"
	weft run "$example" -q
	[ "$status" -eq 0 ]
	says "$out" "ECN marks begin at a queue of 4.000 MB, but PFC stops a sender"
	says "$out" "PFC pauses spread from leaf0, where the queue to h0 is the longest"
	says "$out" "PFC headroom of a port"
	weft run "$example" -q --json --threads 2
	cp stdout.txt two.json
	weft run "$example" -q --json
	cmp stdout.txt two.json
	python3 - <<-'EOF'
		import json
		above, below = json.load(open("stdout.txt"))["runs"]
		rules = [n["rule"] for n in above["notes"]]
		assert "ecn-above-xoff" in rules and "pauses-spread" in rules, rules
		assert above["total"]["ecn_marks"] == 0 and below["total"]["ecn_marks"] > 0
		assert above["total"]["pauses_sent"] > 10 * below["total"]["pauses_sent"]
		assert not {"ecn-above-xoff", "pauses-spread"} & {n["rule"] for n in below["notes"]}
		assert above["headroom_bytes"] >= above["headroom_needed_bytes"] > 0
	EOF
}

@test "--out writes the file whole, with ordinary rights" {
	small_scenario >s.yaml
	umask 022
	weft run s.yaml --out r.txt -q
	[ "$status" -eq 0 ]
	[ -z "$out" ]
	says "$(cat r.txt)" "8 of 8"
	[ "$(stat -c %a r.txt)" = 644 ]
	weft run s.yaml --json --out r.txt -q
	python3 -m json.tool <r.txt >/dev/null
	[ "$(find . -name 'r.txt*' | wc -l)" -eq 1 ]
}

@test "where nothing can be written is status 2, before anything runs, and leaves nothing" {
	small_scenario >s.yaml
	weft run s.yaml --out nowhere/r.txt
	[ "$status" -eq 2 ]
	says "$err" "nowhere/r.txt: cannot write it: No such file or directory"
	mkdir folder
	# Endless: it is said before it runs.
	sed 's/size: 100KB/size: 1000GB/; s/until: 10ms/until: 900s/' s.yaml >long.yaml
	for args in "run long.yaml --out folder" "run long.yaml --pcap folder" "run long.yaml --record folder" \
		"run long.yaml --out no/f" "run long.yaml --pcap no/f" "run long.yaml --record no/f" \
		"sweep long.yaml --vary seed=1,2 --record s.db --out no/f" \
		"sweep long.yaml --vary seed=1,2 --record no/f" \
		"compare long.yaml --out no/f" "compare long.yaml --record no/f"; do
		# shellcheck disable=SC2086
		weft $args
		[ "$status" -eq 2 ] || { echo "$args: $status $err"; return 1; }
		says "$err" "${args##* }: "
		[ -z "$out" ]
	done
	[ "$(find . -name 'folder*' | wc -l)" -eq 1 ]
}

@test "flows that wait for a timeout say so, and what has not happened has no time" {
	cat >op.yaml <<'END'
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric: {profile: roce-400g, name: lossy, flowctl: none, buffer: {size: 400KB}}
traffic: [{kind: incast, fanin: 12, size: 4MB, op: write}]
run: {until: 60ms}
END
	weft run op.yaml
	[ "$status" -eq 0 ]
	says "$out" "12 of 12 flows unfinished at "
	says "$out" "their senders wait for a timeout to send again what was lost (sender.timeout is 67.11 ms; 0 have passed), and run.until, 60.00 ms, comes before"
	[ "$(grep -E '^flow completion, (p50|p99|max) +-$' stdout.txt | wc -l)" -eq 3 ]
	run ! grep -q ' 0 ps$' <(grep completion stdout.txt)
	# With time enough they finish, and there is nothing to say.
	weft run op.yaml --set run.until=20s
	[[ "$out" != *unfinished* ]]
	# Others give up.
	weft run op.yaml --set run.until=20s --set fabric.sender.timeout=1ms
	says "$out" " failed, for their queue pairs gave up"
}

@test "ports are listed the worst first" {
	weft run "$WEFT_SOURCE_DIR/examples/ecn-above-xoff.yaml" --ports -q
	awk '/ports with losses.*the worst first:$/ { getline; on = 1; next } /^$/ { on = 0 } on' stdout.txt >ports.txt
	[ "$(wc -l <ports.txt)" -gt 10 ]
	# In each list: no port with less time lost before one with more, as none lost a packet.
	python3 - <<'END'
unit = {"ps": 1, "ns": 1e3, "us": 1e6, "ms": 1e9}
text = open("stdout.txt").read()
for part in text.split("the worst first:\n")[1:]:
    rows = [line.split() for line in part.split("\n\n")[0].splitlines()[1:]]
    drops = [int(r[3]) + int(r[4]) + int(r[5]) for r in rows]
    paused = [float(r[8]) * unit[r[9]] for r in rows]
    assert len(rows) > 4 and max(drops) == 0, rows
    assert paused == sorted(paused, reverse=True), paused
END
}

@test "a full disk is status 1" {
	[ -w /dev/full ] || skip "there is no /dev/full"
	small_scenario >s.yaml
	for args in "run s.yaml" "run s.yaml --json" "list" "list parameters --json" "show ib-ndr" \
		"--help" "--version" "help run"; do
		status=0
		# shellcheck disable=SC2086
		"$WEFT" $args >/dev/full 2>stderr.txt || status=$?
		[ "$status" -eq 1 ] || { echo "$args: $status"; return 1; }
		says "$(cat stderr.txt)" "standard output: cannot write it: No space left on device"
	done
}

@test "an interrupt ends the run and leaves nothing" {
	small_scenario | sed 's/size: 100KB/size: 1000GB/; s/until: 10ms/until: 900s/' >s.yaml
	"$WEFT" run s.yaml --out r.txt 2>stderr.txt 3>&- &
	pid=$!
	# It has begun to write, and takes SIGTERM, the 15th, itself.
	has_begun() {
		caught=$(sed -n 's/^SigCgt:\s*/0x/p' "/proc/$pid/status")
		compgen -G 'r.txt.*' >/dev/null && ((caught >> 14 & 1))
	}
	until_true has_begun
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq 143 ] || { echo "status $status"; return 1; }
	says "$(cat stderr.txt)" "interrupted; nothing is written"
	run ! compgen -G 'r.txt*'
}

# interrupt_second: begins a run of two fabrics, and interrupts it when the first is over.
interrupt_second() {
	rm -f r.db* r.json
	"$WEFT" run s.yaml --json --out r.json --record r.db --sample none 2>stderr.txt 3>&- &
	pid=$!
	has_one() { [ "$(sqlite3 -readonly r.db "SELECT count(*) > 0 FROM run WHERE state = 'finished'" 2>/dev/null)" = 1 ]; }
	until_true has_one
	kill -INT "$pid" || true # it may be over
	status=0
	wait "$pid" || status=$?
}

@test "an interrupt keeps the fabrics that have finished" {
	small_scenario | sed 's/size: 100KB/size: 100MB/; s/until: 10ms/until: 900s/
		s/^fabric: .*/fabric: [roce-400g, {profile: roce-400g, name: slow, mtu: 256}]/' >s.yaml
	# Again when it was faster than we looked.
	for _ in $(seq 20); do
		interrupt_second
		[ "$status" -eq 0 ] || break
	done
	[ "$status" -eq 130 ] || { echo "status $status"; return 1; }
	says "$(cat stderr.txt)" "interrupted; the report has 1 of 2 fabrics; what was recorded is in r.db"
	mv r.json partial.json
	weft run s.yaml --json --fabric roce-400g
	python3 - <<'END'
import json
part, whole = (json.load(open(f))["runs"] for f in ("partial.json", "stdout.txt"))
assert len(part) == 1 and part == whole, part
END
	[ "$(sqlite3 r.db "SELECT group_concat(state) FROM (SELECT state FROM run ORDER BY id)")" = finished,interrupted ]
}

@test "progress of a job is a part of its work, with the time that is left" {
	# It is over long before run.until, and takes until it is interrupted.
	cat >job.yaml <<'END'
topology: {kind: rail, hosts: 16}
fabric: [ib-ndr, roce-400g]
job: {kind: all-reduce, algorithm: ring, bytes: 8MiB, iterations: 1000}
run: {until: 100000s}
END
	python3 - <<'END'
import os, pty, re, signal, subprocess
ours, theirs = pty.openpty()
weft = subprocess.Popen([os.environ["WEFT"], "run", "job.yaml"], stderr=theirs, stdout=subprocess.DEVNULL)
os.close(theirs)
seen, found = "", None
while found is None:
    seen += os.read(ours, 4096).decode()
    assert "0.0 million" not in seen, seen
    found = re.search(r"ib-ndr, 1 of 2 fabrics: at [\d.]+ \S+, [\d.]+( million|,000) packet-hops/s, (\d+) %, \d+ (s|min|h \d+ min) left", seen)
weft.send_signal(signal.SIGINT)
assert weft.wait() == 130
# By virtual time it would be nothing.
assert 1 <= int(found[2]) < 50, found[0]
END
}

# bats test_tags=long
@test "every example runs" {
	for example in "$WEFT_SOURCE_DIR"/examples/*.yaml; do
		# They take longer; claims.bats runs them, and those in examples/incidents.
		[[ "$example" != */claim-*.yaml ]] || continue
		less=() # compare.bats runs these on all fabrics
		case $example in
		*/train-64.yaml | */train-64-racks.yaml) less=(--set job.scale=1/128 --set job.scale_error=100) ;;
		esac
		weft run "$example" --quiet "${less[@]}"
		[ "$status" -eq 0 ] || { echo "$example: $err"; return 1; }
		# What never ends is what these show.
		[[ "$example" != */pfc-deadlock.yaml && "$example" != */single-homed.yaml && "$example" != */no-apm.yaml ]] ||
			continue
		! grep -q unfinished stdout.txt || { echo "$example: $out"; return 1; }
	done
}

@test "every profile runs, and lossless ones lose nothing in an incast" {
	small_scenario | sed 's/kind: permutation/kind: incast/; s/hosts: 8/hosts: 16/' >s.yaml
	for file in "$WEFT_SOURCE_DIR"/profiles/*.yaml; do
		profile=$(basename "$file" .yaml)
		rate=$(sed -n 's/^nic.rate_max: *\([0-9]*Gbps\).*/\1/p; s/^ *rate_max: *\([0-9]*Gbps\).*/\1/p' "$file")
		weft run s.yaml --fabric "$profile" --json -q --set run.until=1s \
			--set topology.host_rate="${rate:-400Gbps}"
		[ "$status" -eq 0 ] || { echo "$profile: $err"; return 1; }
		says "$out" '"finished": true'
		says "$out" '"lossless_drops": 0'
	done
}
