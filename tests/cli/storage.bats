# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# storage.bats - storage in scenarios: the report, JSON, results files, sweeps and comparisons.

load common

scenario() {
	cat >s.yaml <<'END'
name: storage
topology: {kind: single, hosts: 4}
fabric: [ib-ndr, roce-400g]
storage:
  - {targets: h3, kind: random, block: 4KiB, depth: 4, duration: 200us}
  - {targets: [h2, h3], hosts: h0, kind: checkpoint, bytes: 1MB, name: nightly}
run: {until: 100ms}
END
}

# field FILE PATH: a value of the JSON.
field() {
	jq -r "$2" "$1"
}

@test "every entry has its rows, headed by its name" {
	scenario
	weft run s.yaml
	[ "$status" -eq 0 ]
	[ "$(grep -c '^random: I/Os  ' stdout.txt)" -eq 1 ]
	[ "$(grep -c '^nightly: I/Os  ' stdout.txt)" -eq 1 ]
	[ "$(sed -n '/^nightly/,$p' stdout.txt | grep -c '^  time to the last byte ')" -eq 1 ]
	[ "$(sed -n '/^random/,/^nightly/p' stdout.txt | grep -c '^  read latency, p99.9 ')" -eq 1 ]
	# Nothing was read in the second, nothing failed, and there are no flows.
	[ "$(sed -n '/^nightly/,$p' stdout.txt | grep -c 'read latency')" -eq 0 ]
	[ "$(grep -c 'failed\|flows done' stdout.txt)" -eq 0 ]
}

@test "JSON and the results file say the same" {
	scenario
	weft run s.yaml --json --record s.db
	[ "$status" -eq 0 ]
	for r in 0 1; do
		entry=".runs[$r].storage[0]"
		[ "$(field stdout.txt "$entry.kind")" = random ]
		[ "$(field stdout.txt ".runs[$r].storage[1].bytes_written")" -eq 1000000 ]
		[ "$(field stdout.txt ".runs[$r].storage[1].writes")" -eq 8 ]
		ios=$(($(field stdout.txt "$entry.reads") + $(field stdout.txt "$entry.writes")))
		value() {
			sqlite3 s.db "SELECT value FROM value WHERE run = $((r + 1)) AND name = '$1'"
		}
		[ "$(value storage.0.ios)" -eq "$ios" ]
		[ "$(value storage_ios)" -eq $((ios + 8)) ]
		[ "$(value storage.0.read_latency_p99)" -eq "$(field stdout.txt "$entry.read_latency_ps.p99")" ]
		[ "$(value storage.0.read_latency_p999)" -eq "$(field stdout.txt "$entry.read_latency_p999_ps")" ]
		[ "$(value storage.0.iops)" -eq "$(field stdout.txt "$entry.iops")" ]
		[ "$(value storage_time)" -eq "$(field stdout.txt ".runs[$r].storage[1].time_ps")" ]
		[ "$(field stdout.txt "$entry.time_ps")" = null ]
		reads=$(sqlite3 s.db "SELECT sum(n) FROM latency WHERE run = $((r + 1)) AND what = 'storage_read'")
		[ "$reads" -eq "$(field stdout.txt "$entry.reads")" ]
	done
	[ "$(sqlite3 s.db "SELECT value FROM parameter WHERE run = 1 AND name = 'storage.1.name'")" = nightly ]
	[ "$(sqlite3 s.db "SELECT source FROM parameter WHERE run = 1 AND name = 'storage.0.depth'")" = s.yaml:5 ]
}

@test "entries are set on the command line, all of them or one" {
	scenario
	weft run s.yaml --set storage.1.bytes=2MB --set storage.queues=2 --json
	[ "$status" -eq 0 ]
	[ "$(field stdout.txt '.runs[0].storage[1].bytes_written')" -eq 2000000 ]
	[ "$(field stdout.txt '.runs[0].storage[0].queues')" -eq 6 ]
	[ "$(field stdout.txt '.runs[0].storage[1].queues')" -eq 4 ]
	weft run s.yaml --set storage.2.bytes=2MB
	[ "$status" -eq 2 ]
	says "$err" "there is no storage 2; there are 0 to 1"
	small_scenario >t.yaml
	weft run t.yaml --set storage.depth=2
	[ "$status" -eq 2 ]
	says "$err" "the scenario has no storage"
}

@test "sweeps and comparisons have its figures" {
	scenario
	weft sweep s.yaml --vary storage.0.depth=1,16 --show storage_iops,storage.0.read_latency_p99 --csv --record s.db
	[ "$status" -eq 0 ]
	[ "$(wc -l <stdout.txt)" -eq 5 ]
	# Sixteen times as many are under way, and about as many more go through.
	[ "$(sed -n 4p stdout.txt | cut -d, -f3)" -gt $((8 * $(sed -n 2p stdout.txt | cut -d, -f3))) ]
	weft sweep s.yaml --vary seed=1 --show storage_iop --record t.db
	[ "$status" -eq 2 ]
	says "$err" "did you mean storage_i"
	weft sweep s.yaml --vary seed=1 --show storage.0.iop --record t.db
	[ "$status" -eq 2 ]
	weft compare s.yaml --seeds 1 --json
	[ "$status" -eq 0 ]
	[ "$(field stdout.txt '.fabrics[0].seeds[0].storage_time')" -eq "$(field stdout.txt '.fabrics[0].seeds[0].job_time')" ]
	[ "$(field stdout.txt '.fabrics[1].storage_read_p99 > 60000000')" = true ]
}

@test "an I/O that fails is said, and ends nothing else" {
	scenario
	cat >>s.yaml <<'END'
faults: [{on: h1, at: 100us, fault: down}]
END
	weft run s.yaml --set fabric.sender.timeout=20us --json
	[ "$status" -eq 0 ]
	[ "$(field stdout.txt '.runs[1].storage[0].failed')" -eq 4 ]
	[ "$(field stdout.txt '.runs[1].storage[1].failed')" -eq 0 ]
	[ "$(field stdout.txt '.runs[1].finished')" = true ]
	[ "$(field stdout.txt '.runs[1].end_ps < 2000000000')" = true ]
	weft run s.yaml --set fabric.sender.timeout=20us
	says "$out" "roce-400g: storage: 0 I/Os are under way at"
	says "$out" "4 failed, for their queue pairs gave up"
}

@test "storage over TCP says so, and what it costs the cores" {
	scenario
	weft run s.yaml --set storage.0.transport=tcp --json
	[ "$status" -eq 0 ]
	for r in 0 1; do
		[ "$(field stdout.txt ".runs[$r].storage[0].transport")" = tcp ]
		[ "$(field stdout.txt ".runs[$r].storage[1].transport")" = rdma ]
		[ "$(field stdout.txt ".runs[$r].tcp.cores_mean > 0")" = true ]
	done
	weft run s.yaml --set storage.transport=tcp
	[ "$status" -eq 0 ]
	[ "$(grep -c '^busiest CPU core for TCP' stdout.txt)" -eq 1 ]
	weft run s.yaml
	[ "$(grep -c 'TCP' stdout.txt)" -eq 0 ]
	# Where jobs use sockets, so does storage that says nothing else.
	weft run s.yaml --set fabric.nic.stack=sockets --set storage.0.transport=rdma --json
	[ "$(field stdout.txt '.runs[1].storage[0].transport')" = rdma ]
	[ "$(field stdout.txt '.runs[1].storage[1].transport')" = tcp ]
}

@test "a job, flows over RDMA and TCP, and storage over both share hosts" {
	cat >all.yaml <<'END'
topology: {kind: rail, hosts: 16, gpus: 4, host_rate: 400Gbps}
fabric: roce-400g
job: {kind: all-reduce, algorithm: ring, bytes: 1MB, gpus_per_server: 4, ranks: 12}
traffic: [{kind: shift, op: write, size: 20KB}, {kind: shift, op: tcp, size: 20KB, class: 0}]
storage:
  - {targets: h14, transport: rdma, duration: 50us, depth: 4}
  - {targets: h14, transport: tcp, duration: 50us, depth: 4, class: 0}
run: {until: 100ms}
END
	for t in 1 2 4; do
		weft run all.yaml --threads $t --json
		[ "$status" -eq 0 ]
		[ "$(field stdout.txt '.runs[0].finished')" = true ]
		[ "$(field stdout.txt '[.runs[0].storage[] | .reads + .writes > 0] | all')" = true ]
		cp stdout.txt "$t.txt"
	done
	cmp 1.txt 2.txt
	cmp 1.txt 4.txt
}

# What the head of examples/storage-tcp.yaml says.
@test "storage over TCP costs latency, and cores" {
	weft run "$WEFT_SOURCE_DIR/examples/storage-tcp.yaml" --json
	[ "$status" -eq 0 ]
	jq -r '.runs[] | [.storage[0].read_latency_ps.p50, .storage[1].iops, .storage[2].time_ps] | @tsv' stdout.txt >all.txt
	read -r read iops time < <(sed -n 1p all.txt)
	read -r tcp_read tcp_iops tcp_time < <(sed -n 2p all.txt)
	read -r _ more_iops more_time < <(sed -n 3p all.txt)
	read -r _ _ ipoib_time < <(sed -n 4p all.txt)
	[ "$read" -lt 75000000 ]
	[ "$tcp_read" -gt $((read + 20000000)) ]
	[ "$tcp_read" -lt $((read + 35000000)) ]
	[ "$tcp_iops" -lt $((iops * 8 / 10)) ]
	[ "$more_iops" -gt $((iops * 9 / 10)) ]
	[ "$tcp_time" -gt $((time * 11 / 10)) ]
	[ "$more_time" -lt "$tcp_time" ]
	[ "$ipoib_time" -gt 200000000000 ]
	weft run "$WEFT_SOURCE_DIR/examples/storage-tcp.yaml" --set fabric.tcp.ring=8192 --json
	[ "$(field stdout.txt '.runs[3].storage[2].time_ps < 6000000000')" = true ]
}

# examples/storage-checkpoint.yaml says what sharing a class with a job costs it, and what its own does.
@test "a checkpoint costs the job most on a lane that they share" {
	weft run "$WEFT_SOURCE_DIR/examples/storage-checkpoint.yaml" --json
	[ "$status" -eq 0 ]
	jq -r '.runs[] | [.job.end_ps, .storage[0].time_ps, .packets_dropped, .lossless_drops] | @tsv' stdout.txt >all.txt
	read -r same_vl _ _ _ < <(sed -n 1p all.txt)
	read -r own_vl _ _ _ < <(sed -n 2p all.txt)
	read -r same_class _ _ _ < <(sed -n 3p all.txt)
	read -r own_class quick lost drops < <(sed -n 4p all.txt)
	read -r lossy slow dropped _ < <(sed -n 5p all.txt)
	[ "$same_vl" -gt $((own_vl * 11 / 10)) ]
	[ "$same_class" -ge "$own_class" ]
	[ "$lossy" -lt $((own_class * 101 / 100)) ]
	[ $((lost + drops)) -eq 0 ]
	[ "$dropped" -gt 0 ]
	[ "$slow" -gt $((2 * quick)) ]
}
