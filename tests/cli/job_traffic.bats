# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# job_traffic.bats - a job and other traffic on one fabric.

load common

both() {
	cat <<'END'
name: all-reduce beside storage
topology: {kind: leaf-spine, hosts: 16, radix: 16, host_rate: 400Gbps, blocking: 2:1}
fabric: [ib-ndr, roce-400g]
job: {kind: all-reduce, algorithm: ring, bytes: 8MB, gpus_per_server: 4}
traffic:
  - {kind: incast, fanin: 8, target: 0, size: 2MB, op: read}
run: {until: 100ms}
END
}

# field FILE FABRIC KEY: a value of the JSON.
field() {
	python3 -c 'import json,sys; r=json.load(open(sys.argv[1]))["runs"][int(sys.argv[2])]
for k in sys.argv[3].split("."): r=r[k]
print(r)' "$@"
}

@test "both come to their end, and each feels the other" {
	both >both.yaml
	sed '/^traffic/,/incast/d' both.yaml >job.yaml
	sed '/^job/d' both.yaml >traffic.yaml
	for s in both job traffic; do
		weft run $s.yaml --json
		[ "$status" -eq 0 ]
		cp stdout.txt $s.json
	done
	for f in 0 1; do
		[ "$(field both.json $f flows_done)" -eq 8 ]
		[ "$(field both.json $f job.finished)" = True ]
		[ "$(field both.json $f job.end_ps)" -gt "$(field job.json $f job.end_ps)" ]
		[ "$(field both.json $f completion_ps)" -gt "$(field traffic.json $f completion_ps)" ]
	done
}

@test "on any number of threads they do the same" {
	both >s.yaml
	weft run s.yaml --json --threads 1
	cp stdout.txt one.json
	weft run s.yaml --json --threads 4
	cmp one.json stdout.txt
}

@test "beside a job traffic goes over queue pairs" {
	both | sed 's/, op: read//' >s.yaml
	weft run s.yaml
	[ "$status" -eq 2 ]
	says "$err" "traffic beside a job goes over queue pairs"
}
