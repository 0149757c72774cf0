# SPDX-License-Identifier: Apache-2.0
# sweep.bats - weft sweep: every combination, in parallel, and on where it was interrupted.

load common

# runs: how many are in s.db.
runs() {
	sqlite3 s.db 'SELECT count(*) FROM run'
}

@test "every combination is run and recorded" {
	small_scenario >s.yaml
	weft sweep s.yaml --vary seed=1..3+1 --vary fabric.ecn.kmin=10KB,50KB --record s.db -f roce-400g,ib-ndr
	[ "$status" -eq 0 ]
	[ "$(wc -l <stdout.txt)" -eq 13 ]
	[ "$(runs)" -eq 12 ]
	[ "$(sqlite3 s.db "SELECT count(*) FROM run WHERE state = 'finished'")" -eq 12 ]
	[ "$(sqlite3 s.db "SELECT count(DISTINCT seed) FROM run")" -eq 3 ]
	[ "$(sqlite3 s.db "SELECT value FROM parameter JOIN run ON run.id = run
		WHERE name = 'fabric.ecn.kmin' AND point = 'seed=2 fabric.ecn.kmin=50KB'
		AND fabric = 'ib-ndr'")" = 50KB ]
}

@test "the table has the values of weft run" {
	small_scenario >s.yaml
	weft run s.yaml --set traffic.size=200KB --json
	want=$(python3 -c 'import json,sys; print(json.load(open("stdout.txt"))["runs"][0]["completion_ps"])')
	weft sweep s.yaml --vary traffic.size=100KB,200KB --show completion --csv --record s.db
	[ "$(sed -n 3p stdout.txt)" = "200KB,roce-400g,$want" ]
}

@test "on any number of threads the table is the same" {
	small_scenario >s.yaml
	weft sweep s.yaml --vary seed=1..6+1 --csv --jobs 1 --record a.db
	cp stdout.txt one.txt
	weft sweep s.yaml --vary seed=1..6+1 --csv --jobs 4 --record b.db
	cmp one.txt stdout.txt
}

@test "what is there is not run again" {
	small_scenario >s.yaml
	weft sweep s.yaml --vary seed=1,2 --record s.db
	weft sweep s.yaml --vary seed=1,2,3 --record s.db
	[ "$status" -eq 0 ]
	says "$err" "2 of 3 runs are in s.db already"
	[ "$(wc -l <stdout.txt)" -eq 4 ]
	[ "$(runs)" -eq 3 ]
	# another scenario is another matter
	sed -i 's/100KB/101KB/' s.yaml
	weft sweep s.yaml --vary seed=1,2 --record s.db
	[ "$(runs)" -eq 5 ]
}

# kill_sweep: begins a sweep of 40 runs, and kills it when two or more are done; done_before is how many.
kill_sweep() {
	rm -f s.db*
	nice -n 19 "$WEFT" sweep s.yaml --vary seed=1..40+1 --jobs 1 --record s.db >all.txt 2>&1 3>&- &
	pid=$!
	has_two() {
		[ "$(sqlite3 -cmd '.timeout 2000' s.db "SELECT count(*) > 1 FROM run WHERE state = 'finished'" 2>/dev/null)" = 1 ]
	}
	until_true has_two
	kill -9 "$pid" || true # it may be over
	wait "$pid" || [ $? -eq 137 ]
	done_before=$(sqlite3 s.db "SELECT count(*) FROM run WHERE state = 'finished'")
}

@test "a killed sweep goes on" {
	small_scenario | sed 's/100KB/20MB/; s/10ms/1s/' >s.yaml
	# Again when it was faster than we looked.
	for _ in $(seq 20); do
		kill_sweep
		[ "$done_before" -eq 40 ] || break
	done
	[ "$done_before" -ge 2 ]
	[ "$done_before" -lt 40 ]
	weft sweep s.yaml --vary seed=1..40+1 --jobs 2 --record s.db --show finished --csv
	[ "$status" -eq 0 ]
	says "$err" "$done_before of 40 runs are in s.db already"
	[ "$(grep -c ',1$' stdout.txt)" -eq 40 ]
	# what it was at, if it was at one, is not taken for running or done
	[ "$(sqlite3 s.db "SELECT count(*) FROM run WHERE state = 'running'")" -eq 0 ]
	[ "$(sqlite3 s.db "SELECT count(*) FROM run WHERE state = 'finished'")" -eq 40 ]
	# all of it is one study, and what was cut off is not there beside what was done again
	[ "$(sqlite3 s.db "SELECT count(*), count(DISTINCT study), (SELECT count(*) FROM study) FROM run")" = "40|1|1" ]
}

@test "a sweep that is gone on with is one study, and the report's" {
	small_scenario >s.yaml
	weft sweep s.yaml --vary seed=1..4+1 --record s.db
	weft run s.yaml --record s.db
	weft sweep s.yaml --vary seed=1..6+1 --record s.db
	[ "$(sqlite3 s.db 'SELECT kind, count(*) FROM run r JOIN study s ON s.id = study GROUP BY s.id')" = \
		"$(printf 'sweep|6\nrun|1')" ]
	weft report s.db
	grep -q "<title>small - weft</title>" s.html
	python3 "$BATS_TEST_DIRNAME/page_data.py" s.html >page.json
	[ "$(python3 -c 'import json; t = json.load(open("page.json"))["tables"]
print(t["study"]["cells"][1], len(t["run"]["cells"]) // len(t["run"]["columns"]))')" = "sweep 6" ]
	# With nothing left to do there is no empty study, and the report still finds it.
	weft run s.yaml --record s.db
	weft sweep s.yaml --vary seed=1..6+1 --record s.db
	[ "$status" -eq 0 ]
	[ "$(wc -l <stdout.txt)" -eq 7 ]
	[ "$(sqlite3 s.db 'SELECT count(*) FROM study')" -eq 3 ]
	weft report s.db
	[ "$status" -eq 0 ]
	python3 "$BATS_TEST_DIRNAME/page_data.py" s.html >page.json
	[ "$(python3 -c 'import json; print(json.load(open("page.json"))["tables"]["study"]["cells"][1])')" = sweep ]
	# Other parameters, or others of all runs, are another study.
	weft sweep s.yaml --vary seed=1..2+1 --vary fabric.ecn.kmin=1KB,2KB --record s.db
	weft sweep s.yaml --vary seed=1..2+1 --set fabric.ecn.kmin=1KB --record s.db
	[ "$(sqlite3 s.db 'SELECT count(*) FROM study')" -eq 5 ]
}

@test "a mistake leaves no study behind" {
	small_scenario >s.yaml
	weft sweep s.yaml --vary fabric.ecn.kmim=1KB,2KB --record s.db
	[ "$status" -eq 2 ]
	[ "$(sqlite3 s.db 'SELECT count(*) FROM study')" -eq 0 ]
}

@test "mistakes are said before anything runs" {
	small_scenario >s.yaml
	weft sweep s.yaml --record s.db
	[ "$status" -eq 2 ]
	says "$err" "what is varied?"
	weft sweep s.yaml --vary seed=1,2
	[ "$status" -eq 2 ]
	says "$err" "name it with --record"
	weft sweep s.yaml --vary fabric.ecn.kmim=1KB,2KB --record s.db
	[ "$status" -eq 2 ]
	says "$err" "--vary fabric.ecn.kmim=1KB: unknown"
	weft sweep s.yaml --vary topology.hosts=8,many --record s.db
	[ "$status" -eq 2 ]
	says "$err" "--vary topology.hosts=many"
	weft sweep s.yaml --vary seed=9..1 --record s.db
	[ "$status" -eq 2 ]
	weft sweep s.yaml --vary seed=1,2 --show completion,completon --record s.db
	[ "$status" -eq 2 ]
	says "$err" "--show: no run has a value 'completon'; did you mean completion?"
	echo text >other.db
	weft sweep s.yaml --vary seed=1,2 --record other.db
	[ "$status" -eq 2 ]
	[ "$(cat other.db)" = text ]
	[ "$(sqlite3 s.db 'SELECT count(*) FROM run')" -eq 0 ]
}

# bats test_tags=long
@test "every value that a run records can be shown" {
	small_scenario >s.yaml
	"$WEFT" run s.yaml -f roce-400g,ib-ndr,tcp-400g,uec-400g --record r.db -q >/dev/null
	printf 'topology: {kind: rail, hosts: 8, gpus: 4}\nfabric: ib-ndr\njob: {kind: train, gpus_per_server: 4, layers: 4, sequence: 1024, tp: 2, pp: 2, micro_batches: 4, scale: 1/256, scale_error: 100}\n' >t.yaml
	"$WEFT" run t.yaml --record r.db -q >/dev/null
	sqlite3 r.db 'SELECT DISTINCT name FROM value' >names.txt
	[ "$(wc -l <names.txt)" -gt 70 ]
	while read -r name; do
		weft sweep s.yaml --vary seed=1 --show "$name" --record s.db
		[ "$status" -eq 0 ] || { echo "src/run/record_names.c lacks $name: $err"; return 1; }
	done <names.txt
}
