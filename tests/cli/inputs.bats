#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# inputs.bats - runs are known by what went into them: every kind of file that is read on the way.

load common
bats_require_minimum_version 1.5.0

q() {
	sqlite3 "$@"
}

# sweep: goes on with the sweep of s.yaml; $anew is how many of its runs were done.
sweep() {
	local before after
	before=$(q s.db 'SELECT coalesce(max(id), 0) FROM run' 2>/dev/null) || before=0
	weft sweep s.yaml --vary seed=1,2 --record s.db --profiles p
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	after=$(q s.db 'SELECT max(id) FROM run')
	anew=$((after - before))
	[ "$(q s.db "SELECT count(*) FROM run WHERE state <> 'finished'")" -eq 0 ]
}

# walk FILE...: everything is done, then nothing, wherever the folder is and whatever the dates; then
# each file is edited, with a line that means nothing unless edit_FILE knows better.
walk() {
	sweep
	[ "$anew" -gt 0 ]
	runs=$anew
	find . -type f ! -name 's.db*' -exec touch -d '2001-01-01' {} +
	echo "# nobody reads this" >>p/nobody.yaml
	echo "kind: nobody reads this" >>p/gpus/nobody.yaml
	mv "$PWD" "$PWD.moved"
	cd "$PWD.moved"
	sweep
	[ "$anew" -eq 0 ] || { echo "$anew of $runs done anew though nothing has changed"; return 1; }
	for file; do
		[ -e "$file" ]
		case $file in
		*.et) sed -i 's/\xfa/\xfb/' "$file" ;;
		*.json | *.txt | *.cm | *.goal) printf '\n' >>"$file" ;;
		*) echo "# edited" >>"$file" ;;
		esac
		sweep
		[ "$anew" -eq "$runs" ] || { echo "$file: $anew of $runs done anew"; return 1; }
		says "$err" "$runs runs in s.db are of an older ${file##*/}: done anew"
		# In place of those that were there, and known by what they are of now.
		[ "$(q s.db 'SELECT count(*), count(DISTINCT study) FROM run')" = "$runs|1" ]
		[ "$(q s.db "SELECT DISTINCT hash FROM input WHERE file = '$file'")" = \
			"$(sha256sum "$file" | cut -d' ' -f1)" ]
	done
	sweep
	[ "$anew" -eq 0 ]
}

# A folder of its own, with profiles in p.
begin() {
	mkdir w
	cd w
	cp -r "$WEFT_SOURCE_DIR/profiles" p
}

@test "a profile, those below it, and what its network is made of" {
	begin
	mkdir q
	printf 'base: base.yaml\nmtu: 1024B\n' >q/mine.yaml
	printf 'base: roce-400g-qps\n' >q/base.yaml
	small_scenario | sed 's/^fabric.*/fabric: {profile: q\/mine.yaml}/' >s.yaml
	walk q/mine.yaml q/base.yaml p/roce-400g-qps.yaml p/roce-400g.yaml p/switches/sn5600.yaml p/cables/400g.yaml
}

@test "only runs of the fabric that a profile is of are done anew" {
	begin
	small_scenario >s.yaml
	f=roce-400g,ib-ndr,tcp-400g
	weft sweep s.yaml --vary seed=1,2 --record s.db --profiles p -f $f
	[ "$status" -eq 0 ]
	echo "# edited" >>p/ib-ndr.yaml
	weft sweep s.yaml --vary seed=1,2 --record s.db --profiles p -f $f
	says "$err" "4 of 6 runs are in s.db already"
	says "$err" "2 runs in s.db are of an older ib-ndr.yaml: done anew"
	# tcp-400g stands on it
	echo "# edited" >>p/roce-400g.yaml
	weft sweep s.yaml --vary seed=1,2 --record s.db --profiles p -f $f
	says "$err" "2 of 6 runs are in s.db already"
	says "$err" "4 runs in s.db are of an older roce-400g.yaml: done anew"
	[ "$(q s.db 'SELECT count(*), count(DISTINCT digest) FROM run')" = "6|3" ]
}

@test "sizes, by name and as a file" {
	begin
	mkdir d
	cp "$WEFT_SOURCE_DIR/examples/sizes/irn.txt" d/
	small_scenario | sed '/permutation/d' | sed 's/^traffic:/&\
  - {kind: random, load: 0.1, duration: 5us, sizes: storage}\
  - {kind: random, load: 0.1, duration: 5us, sizes: d\/irn.txt}/' >s.yaml
	walk p/sizes/storage.txt d/irn.txt
	# What two files have is not what they have the other way round.
	cp d/irn.txt irn.txt
	cp p/sizes/storage.txt d/irn.txt
	cp irn.txt p/sizes/storage.txt
	sweep
	[ "$anew" -eq "$runs" ]
}

@test "a topology of the HPCC simulator" {
	begin
	mkdir d
	cp "$WEFT_SOURCE_DIR/examples/topologies/two-racks.txt" d/
	small_scenario | sed 's/^topology.*/topology: {kind: hpcc, file: d\/two-racks.txt}/; s/roce-400g/roce-100g/' >s.yaml
	walk d/two-racks.txt
}

@test "a topology of htsim" {
	begin
	mkdir d
	cp "$(find "$WEFT_SOURCE_DIR/tests/data/htsim" -name '*.topo' | LC_ALL=C sort | head -n 1)" d/t.txt
	small_scenario | sed 's/^topology.*/topology: {kind: htsim, file: d\/t.txt}/' >s.yaml
	walk d/t.txt
}

@test "a model and a GPU" {
	begin
	cat >s.yaml <<-END
		topology: {kind: rail, hosts: 8, gpus: 4}
		fabric: ib-ndr
		job: {kind: train, model: llama3-8b, gpu: h200, gpus_per_server: 4, layers: 4, sequence: 1024, tp: 2, pp: 2, micro_batches: 4, scale: 1/256, scale_error: 100}
	END
	walk p/models/llama3-8b.yaml p/gpus/h200.yaml
}

# job KIND FILE TOPOLOGY: a scenario of a job that is read from a file.
job() {
	printf 'topology: %s\nfabric: ib-ndr\njob: {kind: %s, file: %s, gpus_per_server: %d}\n' "$3" "$1" "$2" "$4"
}

# bats test_tags=long
@test "jobs: GOAL, htsim, SimAI and the HPCC simulator's flows" {
	begin
	mkdir d
	cp "$WEFT_SOURCE_DIR"/examples/traces/* d/
	printf '3\n0 2 3 100 1000000 2.000000\n1 2 3 100 1000000 2.000000\n2 0 3 100 1000 2.001\n' >d/flow.txt
	job goal d/ring-exchange.goal '{kind: single, hosts: 4}' 1 >s.yaml
	walk d/ring-exchange.goal p/gpus/h100.yaml
	job htsim d/chain.cm '{kind: single, hosts: 8}' 1 >s.yaml
	rm s.db
	walk d/chain.cm
	job simai d/two-layers.simai.txt '{kind: rail, hosts: 16, gpus: 8, radix: 0}' 8 >s.yaml
	rm s.db
	walk d/two-layers.simai.txt
	job hpcc d/flow.txt '{kind: single, hosts: 3}' 1 >s.yaml
	rm s.db
	walk d/flow.txt
}

@test "jobs: Chakra, every rank's file, and the groups" {
	begin
	mkdir d
	for r in 0 1 2 3; do
		printf '\7\12\0050.0.4\7\010\001\030\004\070\372\001' >"d/t.$r.et"
	done
	echo '{"g": [0, 1]}' >d/groups.json
	job chakra d/t '{kind: single, hosts: 8}' 1 | sed 's/gpus_per/groups: d\/groups.json, &/' >s.yaml
	walk d/t.0.et d/t.3.et d/groups.json
	# One more file is one more rank.
	cp d/t.2.et d/t.4.et
	sweep
	[ "$anew" -eq "$runs" ]
	says "$err" "of an older t.4.et"
}

@test "a name on the command line is seen from here" {
	begin
	mkdir d
	cp "$WEFT_SOURCE_DIR"/examples/topologies/two-racks.txt t.txt
	small_scenario | sed 's/^topology.*/topology: {kind: hpcc, file: d\/none.txt}/; s/roce-400g/roce-100g/' >d/s.yaml
	weft sweep d/s.yaml --vary seed=1,2 --set topology.file=t.txt --record s.db --profiles p
	[ "$status" -eq 0 ]
	weft sweep d/s.yaml --vary seed=1,2 --set topology.file=t.txt --record s.db --profiles p
	says "$err" "2 of 2 runs are in s.db already"
	# Another file that is found first is another file.
	echo >>t.txt
	weft sweep d/s.yaml --vary seed=1,2 --set topology.file=t.txt --record s.db --profiles p
	says "$err" "2 runs in s.db are of an older t.txt: done anew"
	mkdir first
	{ cat p/roce-400g.yaml; echo "# mine"; } >first/roce-400g.yaml
	WEFT_PROFILES=p weft sweep d/s.yaml --vary seed=1,2 --set topology.file=t.txt --record s.db --profiles first
	says "$err" "2 runs in s.db are of an older roce-400g.yaml: done anew"
}

@test "weft compare goes on with runs of the same files alone" {
	begin
	job all-reduce x '{kind: rail, hosts: 8, gpus: 4}' 4 | sed 's/file: x, //; s/gpus_per/bytes: 64KiB, &/' >s.yaml
	weft compare s.yaml -f ib-ndr,roce-400g --seeds 2 --set compare.sizes=none --record c.db --profiles p -q
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	cp ../stdout.txt first.txt
	weft compare s.yaml -f ib-ndr,roce-400g --seeds 2 --set compare.sizes=none --record c.db --profiles p
	cmp ../stdout.txt first.txt
	[ "$(q c.db 'SELECT count(*), max(id) FROM run')" = "4|4" ]
	sed -i 's/^mtu:.*/mtu: 1024B/' p/roce-400g.yaml
	weft compare s.yaml -f ib-ndr,roce-400g --seeds 2 --set compare.sizes=none --record c.db --profiles p
	[ "$status" -eq 0 ]
	says "$err" "weft compare: 2 runs in c.db are of an older roce-400g.yaml: done anew"
	[ "$(q c.db 'SELECT count(*), max(id) FROM run')" = "4|6" ]
	run ! cmp -s ../stdout.txt first.txt
	cp ../stdout.txt again.txt
	weft compare s.yaml -f ib-ndr,roce-400g --seeds 2 --set compare.sizes=none --profiles p -q
	cmp ../stdout.txt again.txt
}

has_one() {
	[ "$(q s.db "SELECT count(*) FROM run WHERE state = 'finished'" 2>/dev/null)" -gt 0 ]
}

@test "a file that is edited while a sweep goes ends it" {
	begin
	small_scenario | sed 's/size: 100KB/size: 40MB/' >s.yaml
	"$WEFT" sweep s.yaml --vary seed=1..1000+1 --record s.db --profiles p --jobs 1 -q >out.txt 2>err.txt 3>&- &
	pid=$!
	until_true has_one
	echo "# edited" >>p/roce-400g.yaml
	wait $pid && status=0 || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat err.txt)" = "p/roce-400g.yaml: it has changed since weft began; begin again" ] || { cat err.txt; return 1; }
	[ ! -s out.txt ]
	[ "$(q s.db "SELECT count(*) < 1000, count(DISTINCT digest) FROM run WHERE state = 'finished'")" = "1|1" ]
}

@test "what another build of weft did is done anew" {
	begin
	small_scenario >s.yaml
	sweep
	weft --version
	short=$(q s.db 'SELECT DISTINCT substr(build, 1, 12) FROM run')
	[[ "$out" == weft\ *" (build $short)" ]]
	q s.db "UPDATE run SET build = '00' || substr(build, 3) WHERE id = 1"
	weft report s.db
	says "$err" "weft report: s.db: the runs of study 1 are of 2 builds of weft"
	sweep
	[ "$anew" -eq 1 ]
	says "$err" "1 run in s.db is of another build of weft: done anew"
	weft report s.db
	[ -z "$err" ]
}

@test "the report says what was edited between the runs, or since" {
	begin
	small_scenario >s.yaml
	sweep
	weft report s.db
	[ -z "$err" ]
	cp p/roce-400g.yaml was.yaml
	echo "# edited" >>p/roce-400g.yaml
	weft report s.db
	[ "$status" -eq 0 ]
	[ "$err" = "weft report: s.db: p/roce-400g.yaml has been edited since 2 of its runs read it" ]
	# A redo that was cut off after the first run.
	sweep
	q s.db "UPDATE input SET hash = '$(sha256sum was.yaml | cut -d' ' -f1)' WHERE run = (SELECT max(id) FROM run) AND file LIKE '%roce%'"
	weft report s.db
	[ "$err" = "weft report: s.db: p/roce-400g.yaml was edited between the runs of the study: they are not of the same" ]
	cd ..
	weft report w/s.db
	[[ "$err" != *since* ]]
}

@test "a file of an older weft is shown as it is, and gone on with" {
	begin
	cp "$WEFT_SOURCE_DIR/tests/data/results/v6.sqlite" o.db
	cp o.db copy.db
	weft report o.db -o o.html
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	weft report o.db --study 1 -o o.html
	[ "$status" -eq 0 ]
	weft export o.db --to csv --out csv
	[ "$status" -eq 0 ]
	# It does not say what node_exporter calls its counters; this weft knows, now and when it has been brought up.
	weft export o.db --to prometheus --run 4 --out read.txt
	[ "$status" -eq 0 ]
	[ "$(grep -c '^# TYPE node_infiniband_' read.txt)" -eq 2 ]
	grep -q '^# TYPE node_infiniband_port_data_transmitted_bytes_total counter$' read.txt
	cmp o.db copy.db
	small_scenario >other.yaml
	cp o.db up.db
	weft run other.yaml --record up.db -q
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	weft export up.db --to prometheus --run 4 --out brought_up.txt
	cmp read.txt brought_up.txt
	q o.db 'SELECT scenario FROM study WHERE id = 1' >s.yaml
	truncate -s -1 s.yaml # what sqlite3 ends a row with
	weft sweep s.yaml --vary seed=1,2 --record o.db --profiles p
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	says "$err" "2 runs in o.db are of another build of weft: done anew"
	[ "$(q o.db 'PRAGMA user_version')" -eq 7 ]
	[ "$(q o.db 'SELECT group_concat(study) FROM (SELECT study FROM run ORDER BY id)')" = 2,2,1,1 ]
	q o.db 'PRAGMA user_version = 8'
	for command in "report o.db" "export o.db --to csv --out csv" "run s.yaml --record o.db -q"; do
		weft $command
		[ "$status" -eq 2 ]
		says "$err" "o.db: its format has version 8 and this weft knows versions 6 to 7; a newer weft wrote it"
	done
}
