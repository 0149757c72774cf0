# SPDX-License-Identifier: Apache-2.0
# json.bats - what --json prints is what schemas/ says, and all of it; tests/live/json.bats has status and faults.

load common

# check WORD FILE...: what tests/json_schema.py finds of WORD.
check() {
	/usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/json_schema.py" "$@"
}

# document NAME ARGS...: what weft prints, which succeeds, as the document NAME of this file's tests.
document() {
	local name=$1
	shift
	"$WEFT" "$@" --json >"$documents/$name.json" 2>"$BATS_FILE_TMPDIR/err.txt" || {
		echo "weft $* --json:" >&2
		cat "$BATS_FILE_TMPDIR/err.txt" >&2
		return 1
	}
}

# Scenarios: congestion on four fabrics; one that runs out of time; fabrics with networks of their own; a job, a
# training step, a job that hangs; a host alone, of which no price and no latency is known; a fabric with cures.
scenarios() {
	cat >incast.yaml <<'END'
name: "in \"cast\" \\ 16:1"
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric: [ib-ndr, roce-400g, tcp-400g, {profile: uec-400g, name: "übung"}]
traffic:
  - {kind: incast, fanin: 15, size: 500KB}
END
	sed 's/^traffic:/run: {until: 5us}\n&/; s/^fabric:.*/fabric: roce-400g/' incast.yaml >short.yaml
	printf 'topology: {kind: leaf-spine, hosts: 80}\nfabric: [ib-ndr, roce-400g]\ntraffic: [{kind: shift, size: 1KB, op: write}]\n' >nets.yaml
	cat >job.yaml <<'END'
topology: {kind: rail, hosts: 8, gpus: 4}
fabric: [ib-ndr, {profile: roce-400g, name: v1, header: rocev1, cc: {algorithm: none}}]
job: {kind: all-reduce, gpus_per_server: 4, bytes: 256KB}
compare: {sizes: [8, 32K, 256K]}
END
	cat >train.yaml <<'END'
topology: {kind: rail, hosts: 8, gpus: 4}
fabric: [ib-ndr, roce-400g]
job: {kind: train, gpus_per_server: 4, layers: 4, sequence: 1024, tp: 2, pp: 2, micro_batches: 4,
  scale: 1/256, scale_error: 100}
compare: {sizes: [8, 32K]}
END
	cat >stuck.yaml <<'END'
topology: {kind: single, hosts: 4}
fabric: roce-400g
job: {kind: all-reduce, algorithm: ring, bytes: 1MB, gpus_per_server: 1}
faults: [{link: [h0, leaf0], down: 1us}]
run: {until: 1ms}
END
	cat >dead.yaml <<'END'
topology: {kind: leaf-spine, hosts: 12, radix: 8, host_rate: 100Gbps}
fabric: {profile: roce-100g, sender: {timeout: 1ms}}
devices: {leaf1: {switch: {reconverge: 2ms}}}
traffic: [{kind: shift, op: write, distance: 8, size: 10MB}]
faults: [{on: leaf0-spine0, at: 100us, fault: down}, {on: leaf1-spine0, at: 2ms, fault: down}]
run: {until: 3ms, reconverge: 5us}
END
	cat >alone.yaml <<'END'
topology: {kind: single, hosts: 1, host_rate: 3Gbps}
fabric: {name: own, link_layer: ethernet, flowctl: none}
job: {kind: all-reduce, gpus_per_server: 2, nics_per_server: 1, bytes: 1KB}
compare: {sizes: none}
END
	cat >storage.yaml <<'END'
topology: {kind: single, hosts: 4}
fabric: [ib-ndr, roce-400g]
storage:
  - {targets: h3, kind: random, block: 4KiB, depth: 4, duration: 100us}
  - {targets: [h2, h3], hosts: h0, kind: checkpoint, bytes: 1MB, name: "übung"}
compare: {sizes: none}
END
	cat >slow.yaml <<'END'
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric: [ib-ndr, roce-400g-meta]
job: {kind: all-reduce, algorithm: ring, bytes: 16MB, gpus_per_server: 4}
compare: {sizes: none}
END
}

# Everything is run once; each test looks at what came of it.
setup_file() {
	: "${WEFT:?is the path of the program under test}"
	export WEFT_SOURCE_DIR=${WEFT_SOURCE_DIR:-$(cd "$(dirname "$BATS_TEST_FILENAME")/../.." && pwd)}
	export documents=$BATS_FILE_TMPDIR/documents
	unset WEFT_PROFILES
	mkdir "$documents"
	cd "$BATS_FILE_TMPDIR" || return 1
	scenarios
	document run-incast run incast.yaml --ports
	document run-short run short.yaml --quiet
	document run-stdin run - <short.yaml
	document run-nets run nets.yaml --threads 2
	document run-dead run dead.yaml
	document run-job run job.yaml
	document run-train run train.yaml
	document run-stuck run stuck.yaml
	document run-storage run storage.yaml
	document run-storage-none run storage.yaml --set storage.start=1s --set run.until=1ms
	cp incast.yaml $'bad\xff"\n.yaml'
	document run-file run $'bad\xff"\n.yaml' --fabric roce-400g
	for example in trace-goal trace-htsim trace-simai dragonfly link-failure claim-errors ecn-above-xoff \
		tcp-beside-rdma subnet-manager; do
		document "run-$example" run "$WEFT_SOURCE_DIR/examples/$example.yaml"
	done
	document run-unmanaged run "$WEFT_SOURCE_DIR/examples/link-failure.yaml" --fabric ib-ndr \
		--set fabric.sm=weft --set fabric.sm.start=cold --set fabric.sm.sm_inactive=true --set run.until=1ms
	document compare-job compare job.yaml --seeds 2 --fabric roce-400g,roce-400g-lossy,ib-ndr
	document compare-train compare train.yaml --seeds 1
	document compare-slow compare slow.yaml --seeds 1
	document compare-alone compare alone.yaml --seeds 1
	document compare-storage compare storage.yaml --seeds 1
	document compare-stuck compare stuck.yaml --seeds 1
	document sweep sweep incast.yaml --vary seed=1,2 --vary fabric.ecn.kmin=10KB,50KB --record s.db
	document sweep-again sweep incast.yaml --vary seed=1,2 --vary fabric.ecn.kmin=10KB,50KB --record s.db \
		--show completion,mfu,completion
	document perf perf --size 2,4K --iters 5
	document perf-bw perf --test bw --size 4K --bidirectional --fabric uec-400g
	document perf-lat perf --test lat --op read --size 64 --iters 5 --hops 5 --fabric ib-ndr
	document list list
	document list-parameters list parameters
	for profile in ib-ndr uec-400g; do
		document "show-$profile" show "$profile"
	done
	document show-gpu show gpus h100
	document show-devices show devices "$WEFT_SOURCE_DIR/examples/devices.yaml" leaf0
	document show-sizes show sizes hadoop
	net=$WEFT_SOURCE_DIR/examples/topologies/ring.net
	{ echo "what is this?"; cat "$net"; } >noisy.net
	document ib-import ib import noisy.net
	document ib-routes ib routes "$net" --engine dfsssp --seeds 2
	"$WEFT" ib export "$net" --form lfts --out ring.lfts
	document ib-lfts ib routes "$net" --lfts ring.lfts
	document ib-check ib check "$WEFT_SOURCE_DIR/examples/topologies/fabric.net"
	# A credit loop is an error.
	"$WEFT" ib check "$net" --engine minhop --json >"$documents/ib-loop.json" || [ $? -eq 1 ]
	# Mistakes are errors; what is odd is listed.
	cp -r "$WEFT_SOURCE_DIR/examples/audit/stock-map" audited
	printf '{"PORT": {}, "NOBODY_KNOWS": {}}' >audited/odd.json
	"$WEFT" audit --json audited >"$documents/audit.json" || [ $? -eq 1 ]
	printf '{"PORT": {' >audited/broken.json
	"$WEFT" audit --json audited >"$documents/audit-broken.json" || [ $? -eq 2 ]
	# A storm, its healthy twin, and text that is not understood, with a counter that has reached its end. What is found is in the exit status.
	cat >sick.yaml <<'END'
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric:
  - {profile: roce-400g, name: well, buffer: {size: 4MB}}
  - {profile: roce-400g, name: ill, buffer: {size: 4MB}, faults: [{on: h15, at: 20us, until: 400us, fault: pause-storm}]}
job: {kind: all-reduce, algorithm: ring, bytes: 256KiB, iterations: 2, gpus_per_server: 1, ranks: 12}
traffic:
  - {kind: random, op: write, size: 64KB, load: 20%, duration: 200us}
run: {until: 5ms}
END
	"$WEFT" run sick.yaml --record sick.db >/dev/null
	printf 'what is this?\n# Port counters: Lid 1 port 1\nSymbolErrorCounter:...65535\nlocal_ack_timeout_err: 5\n' >counters.txt
	"$WEFT" diagnose sick.db counters.txt --json >"$documents/diagnose.json" || [ $? -ne 2 ]
	document help help
	document help-run help run
}

# bats test_tags=long
@test "the schemas are strict, and say what every key is" {
	check schemas
}

@test "every document is as its schema says" {
	check valid "$documents"/*.json
}

# bats test_tags=long
@test "a key more, a key less or another type would be seen" {
	# The small ones first: each mistake is made once, and the whole document is held against the schema then.
	mapfile -t files < <(ls -Sr "$documents"/*.json)
	check strict "${files[@]}"
	# It would be told if one were allowed.
	sed 's/"unevaluatedProperties": \(false\|{[^}]*}\)/"$comment": ""/' "$WEFT_SOURCE_DIR/schemas/weft.run.1.schema.json" >loose.json
	[ "$(grep -c '"$comment": ""' loose.json)" -gt 5 ]
	mkdir -p loose/tests loose/schemas
	cp "$WEFT_SOURCE_DIR/tests/json_schema.py" loose/tests
	cp loose.json loose/schemas/weft.run.1.schema.json
	status=0
	/usr/bin/python3 -B loose/tests/json_schema.py strict "$documents/run-short.json" >wrong.txt || status=$?
	[ "$status" -eq 1 ]
	grep -q 'weft.run/1 allows .*total: one key more$' wrong.txt
}

@test "every schema is used, and every key that it knows is printed" {
	check whole -weft.status -weft.fault -- "$documents"/*.json
	# It would be seen if one were not.
	status=0
	check whole weft.run -- "$documents/run-job.json" >gone.txt || status=$?
	[ "$status" -eq 1 ]
	grep -q 'no document has .*properties/train$' gone.txt
}

@test "what is wrong with a document is said" {
	echo '{"schema": "weft.show/1", "weft": "1", "profile": "a", "parameters": {"a": "1"}, "sources": {}}' >a.json
	check valid a.json
	sed 's/"a": "1"/"a": 1/' a.json >b.json
	sed 's/weft.show/weft.shew/' a.json >c.json
	sed 's/"weft": "1", //' a.json >d.json
	sed 's/"a": "1"/"a": "1", "a": "1"/' a.json >e.json
	cat a.json a.json >f.json
	sed 's/"a": "1"/"a": NaN/' a.json >g.json
	for file in [b-g].json; do
		status=0
		check valid "$file" >wrong.txt || status=$?
		[ "$status" -eq 1 ]
		[ "$(grep -c "^$file: " wrong.txt)" -eq 1 ]
	done
}

@test "a sweep's JSON has what its CSV has" {
	small_scenario >s.yaml
	"$WEFT" sweep s.yaml --vary seed=1,2 --vary traffic.size=100KB,200KB --record s.db --csv -q >s.csv
	weft sweep s.yaml --vary seed=1,2 --vary traffic.size=100KB,200KB --record s.db --json
	[ "$status" -eq 0 ]
	jq -r '([.axes[], "fabric", .shown[].name] | join(",")),
		(.shown as $s | .runs[] | [.point[], .fabric, .values[$s[].name]] | join(","))' stdout.txt >j.csv
	cmp s.csv j.csv
	[ "$(jq -c '.runs | sort_by(.run) | map([.run, .seed, .state])' stdout.txt)" = \
		"$(sqlite3 -json s.db 'SELECT * FROM run ORDER BY id' | jq -c '[.[] | [.id, .seed, .state]]')" ]
	for name in completion goodput drops; do
		[ "$(jq -r --arg n $name '.shown[] | select(.name == $n).unit' stdout.txt)" = \
			"$(sqlite3 s.db "SELECT DISTINCT unit FROM value WHERE name = '$name'")" ]
	done
	weft sweep s.yaml --vary seed=1,2 --record s.db --json --csv
	[ "$status" -eq 2 ]
	says "$err" "--csv or --json, not both"
	weft sweep s.yaml --vary seed=1,2 --vary seed=3 --record s.db --json
	[ "$status" -eq 2 ]
	says "$err" "--vary seed: it is varied already"
}

@test "with --json nothing else comes to standard output, and where something is wrong nothing at all" {
	small_scenario >s.yaml
	printf 'mtu: [\n' >broken.yaml
	echo text >other.db
	for args in "run none.yaml" "run s.yaml --set a=b" "run s.yaml --out no/such/folder" "run s.yaml --record other.db" \
		"compare none.yaml" "compare s.yaml --fabric none" "sweep s.yaml --vary seed=1 --record other.db" \
		"sweep s.yaml --vary run.unti=1 --record s.db" "perf --fabric none" "perf --size 0" "list none" "list a b" \
		"show none" "show ./broken.yaml" "status" "status --name none" "fault list" "fault list it" \
		"fault clear"; do
		# shellcheck disable=SC2086
		WEFT_RUNTIME_DIR=$BATS_TEST_TMPDIR/none weft $args --json
		[ "$status" -ne 0 ]
		[ -z "$out" ]
		[ -n "$err" ]
	done
	for args in "run s.yaml" "run s.yaml --quiet" "run s.yaml --wire-check --pcap s.pcapng" "run s.yaml --record s.db" \
		"list sizes" "list profiles --profiles ."; do
		# shellcheck disable=SC2086
		weft $args --json
		[ "$status" -eq 0 ]
		check valid stdout.txt
	done
	"$WEFT" run s.yaml --json --out s.json >stdout.txt 2>stderr.txt
	[ ! -s stdout.txt ]
	check valid s.json
}

@test "a document that cannot be written is an error" {
	small_scenario >s.yaml
	for args in "run s.yaml -q" "sweep s.yaml --vary seed=1 --record s.db -q" "perf --size 2 --iters 5" "list" "list parameters" \
		"show ib-ndr" "show sizes hadoop" "help"; do
		status=0
		# shellcheck disable=SC2086
		"$WEFT" $args --json >/dev/full 2>stderr.txt || status=$?
		[ "$status" -eq 1 ]
		grep -q "^standard output: cannot write it: No space left on device$" stderr.txt
	done
}
