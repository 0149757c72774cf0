# SPDX-License-Identifier: Apache-2.0
# compare.bats - weft compare: figures side by side, a verdict, the same every time.

load common

job() {
	cat <<'END'
name: small job
topology: {kind: rail, hosts: 16, gpus: 4, host_rate: 400Gbps, radix: 0}
job: {kind: all-reduce, algorithm: ring, bytes: 4MB, gpus_per_server: 4}
compare: {sizes: [8, 32K, 4M]}
END
}

@test "the default fabrics are compared, and there is a verdict" {
	job >s.yaml
	weft compare s.yaml --seeds 2
	[ "$status" -eq 0 ]
	for word in ib-ndr ib-ndr-static roce-400g roce-400g-qps roce-400g-spray roce-400g-mistuned uec-400g \
		"RDMA write of 8 B" "all-reduce, 32 KiB" "bus bandwidth" "message latency, p50" \
		"PFC pauses" "CNPs sent" "packets sent again" "medians of seeds 1 to 2" \
		"At their best: " "As they come: " "Neglected: "; do
		says "$out" "$word"
	done
}

@test "columns that do not differ are one, and that is said" {
	job >s.yaml
	# Nothing is lost here, so that lossy RoCE is RoCE to the last digit.
	weft compare s.yaml --seeds 2 --fabric roce-400g,roce-400g-lossy,ib-ndr
	[ "$status" -eq 0 ]
	says "$out" "roce-400g-lossy: every figure as roce-400g, so it has no column"
	[ "$(grep -c '^RDMA write of 8 B, one way  *[0-9.]* us  *[0-9.]* us$' stdout.txt)" -eq 1 ]
	weft compare s.yaml --seeds 2 --fabric roce-400g,roce-400g-lossy,ib-ndr --json
	[ "$(jq -r '.fabrics[1].same_as' stdout.txt)" = roce-400g ]
	[ "$(jq '.fabrics[0] | has("same_as")' stdout.txt)" = false ]
}

@test "seeds: medians and ranges are those of the single runs" {
	cat >s.yaml <<'END'
topology: {kind: leaf-spine, hosts: 16, radix: 8}
job: {kind: all-to-all, bytes: 4MB, gpus_per_server: 1, channels: 1}
compare: {sizes: none}
END
	for seed in 3 4 5 6; do
		weft compare s.yaml --fabric roce-400g-meta --seed $seed --seeds 1 --json
		[ "$status" -eq 0 ]
		jq '.fabrics[0].job_time' stdout.txt
	done | sort -g >each.txt
	[ "$(sort -u each.txt | wc -l)" -gt 1 ]
	weft compare s.yaml --fabric roce-400g-meta --seed 3 --seeds 4 --json
	[ "$(jq '.fabrics[0].low.job_time' stdout.txt)" = "$(sed -n 1p each.txt)" ]
	[ "$(jq '.fabrics[0].job_time' stdout.txt)" = "$(sed -n 2p each.txt)" ]
	[ "$(jq '.fabrics[0].high.job_time' stdout.txt)" = "$(sed -n 4p each.txt)" ]
	[ "$(jq -c '[.fabrics[0].seeds[].seed]' stdout.txt)" = "[3,4,5,6]" ]
	for n in 0 101 x; do
		weft compare s.yaml --seeds $n
		[ "$status" -eq 2 ]
		says "$err" "--seeds"
	done
}

@test "what the new parameters allow works at both ends" {
	cat >s.yaml <<'END'
topology: {kind: single, hosts: 2}
job: {kind: all-reduce, algorithm: ring, bytes: 1MB, gpus_per_server: 1}
compare: {sizes: none}
END
	for n in 1 100; do
		weft compare s.yaml --fabric ib-ndr --seeds $n --json
		[ "$status" -eq 0 ]
		[ "$(jq '.fabrics[0].seeds | length' stdout.txt)" -eq $n ]
	done
	# A fabric's queue pairs are a job's that does not say its own.
	for n in 1 8; do
		weft compare s.yaml --fabric roce-400g --seeds 1 --json --set fabric.nic.qps_per_connection=$n
		[ "$status" -eq 0 ]
		jq '.fabrics[0].job_time' stdout.txt >fabric.txt
		weft compare s.yaml --fabric roce-400g --seeds 1 --json --set job.qps_per_connection=$n
		[ "$(jq '.fabrics[0].job_time' stdout.txt)" = "$(cat fabric.txt)" ]
	done
	weft compare s.yaml --fabric roce-400g --set fabric.nic.qps_per_connection=9
	[ "$status" -eq 2 ]
	says "$err" "it may be 1 to 8"
	weft compare s.yaml --fabric roce-400g --set fabric.state=good
	[ "$status" -eq 2 ]
	says "$err" "'good' is none of best, default, neglected, none"
}

@test "a slow fabric says why, and its cures have been run" {
	cat >s.yaml <<'END'
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric: [ib-ndr, roce-400g-meta]
job: {kind: all-reduce, algorithm: ring, bytes: 16MB, gpus_per_server: 4}
compare: {sizes: none}
END
	weft compare s.yaml --seeds 3 --json
	[ "$status" -eq 0 ]
	cp stdout.txt all.json
	jq -e '.fabrics[1].why | startswith("paths collide: the link from ")' all.json
	jq -e '[.reasons[] | select(startswith("roce-400g-meta takes"))] | length == 1' all.json
	# The cure is what a run of it gives.
	seed=$(jq '.fabrics[1].cures[0].seed' all.json)
	weft compare s.yaml --seed "$seed" --seeds 1 --json --fabric roce-400g-meta --set job.qps_per_connection=4
	[ "$(jq '.fabrics[0].job_time' stdout.txt)" = "$(jq '.fabrics[1].cures[0].after_ps' all.json)" ]
	weft compare s.yaml --seed "$seed" --seeds 1 --json --fabric roce-400g-meta --set fabric.routing=spray
	[ "$(jq '.fabrics[0].job_time' stdout.txt)" = "$(jq '.fabrics[1].cures[1].after_ps' all.json)" ]
}

@test "an interrupted comparison keeps what it has, and goes on" {
	job >s.yaml
	weft compare s.yaml --seeds 4 --fabric ib-ndr,roce-400g --json
	[ "$status" -eq 0 ]
	cp stdout.txt whole.json
	# As a kill leaves it: some runs are there, one is half, the verdict is not.
	weft compare s.yaml --seeds 4 --fabric ib-ndr,roce-400g --record r.db --quiet
	sqlite3 r.db "DELETE FROM note WHERE kind IN ('verdict', 'reason');
		DELETE FROM run WHERE seed = 4; UPDATE run SET state = 'running' WHERE seed = 3"
	kept=$(sqlite3 r.db "SELECT id FROM run WHERE seed <= 2 ORDER BY id")
	weft compare s.yaml --seeds 4 --fabric ib-ndr,roce-400g --record r.db --json
	[ "$status" -eq 0 ]
	cmp stdout.txt whole.json
	[ "$(sqlite3 r.db "SELECT count(*) FROM study")" -eq 1 ]
	[ "$(sqlite3 r.db "SELECT count(*) FROM run WHERE state = 'finished'")" -eq 8 ]
	[ "$(sqlite3 r.db "SELECT id FROM run WHERE seed <= 2 ORDER BY id")" = "$kept" ] # they were not done again
	[ "$(sqlite3 r.db "SELECT count(*) FROM note WHERE kind = 'verdict'")" -eq 1 ]
}

@test "an interrupt leaves what has finished" {
	job | sed 's/bytes: 4MB/bytes: 64MB/' >s.yaml
	weft compare s.yaml --seeds 3 --fabric ib-ndr,roce-400g --json
	cp stdout.txt whole.json
	"$WEFT" compare s.yaml --seeds 3 --fabric ib-ndr,roce-400g --jobs 1 --record r.db >stdout.txt 2>stderr.txt 3>&- &
	pid=$!
	has_one() { [ "$(sqlite3 r.db "SELECT count(*) > 0 FROM run WHERE state = 'finished'" 2>/dev/null)" = 1 ]; }
	until_true has_one
	kill -INT "$pid" || true # it may be over
	status=0
	wait "$pid" || status=$?
	if [ "$status" -eq 130 ]; then # else it was faster than we are
		says "$(cat stderr.txt)" "what has finished is in r.db, and the same command goes on with it"
		[ ! -s stdout.txt ]
	fi
	[ "$(sqlite3 r.db "SELECT count(*) FROM run WHERE state = 'finished'")" -ge 1 ]
	kept=$(sqlite3 r.db "SELECT min(id) FROM run WHERE state = 'finished'")
	weft compare s.yaml --seeds 3 --fabric ib-ndr,roce-400g --record r.db --json
	cmp stdout.txt whole.json
	[ "$(sqlite3 r.db "SELECT min(id) FROM run WHERE state = 'finished'")" = "$kept" ]
	[ "$(sqlite3 r.db "SELECT count(*), count(DISTINCT study) FROM run")" = "6|1" ]
}

# bats test_tags=long
@test "JSON has the figures of the table, and any number of threads gives the same" {
	job >s.yaml
	weft compare s.yaml --json --fabric ib-ndr,roce-400g --jobs 1
	[ "$status" -eq 0 ]
	cp stdout.txt one.json
	weft compare s.yaml --json --fabric ib-ndr,roce-400g --jobs 3
	cmp one.json stdout.txt
	python3 - <<'END'
import json
d = json.load(open("one.json"))
ib, roce = d["fabrics"]
assert d["ranks"] == 16 and [p["bytes"] for p in ib["sizes"]] == [8, 32768, 4194304]
assert ib["finished"] and roce["finished"]
assert 1e6 < ib["write_latency"] < roce["write_latency"] < 5e6, (ib, roce)
assert ib["pfc_pauses"] is None and roce["credit_waits"] is None
assert ib["collective_large"] == ib["sizes"][2]["time_ps"]
assert ib["busbw"] == ib["sizes"][2]["busbw"] > 1e10
assert d["outcome"] in ("either", "take") and len(d["reasons"]) >= 1
assert (d["choice"] == "") == (d["outcome"] == "either")
END
}

@test "the job's figures are those of weft run" {
	job >s.yaml
	weft run s.yaml --fabric roce-400g --json
	[ "$status" -eq 0 ]
	cp stdout.txt run.json
	weft compare s.yaml --fabric roce-400g --json --seeds 1
	python3 - <<'END'
import json
run = json.load(open("run.json"))["runs"][0]
f = json.load(open("stdout.txt"))["fabrics"][0]
for kind in ("drops_congestion", "drops_error", "drops_down"):
    assert f[kind] == run["total"][kind], (kind, f, run)
assert f["ecn_marks"] == run["total"]["ecn_marks"], (f, run)
END
}

# bats test_tags=long
@test "what matters is heard" {
	job >s.yaml
	weft compare s.yaml --fabric ib-ndr,roce-400g --matters ethernet,cost
	[ "$status" -eq 0 ]
	says "$out" "Existing Ethernet matters"
	says "$out" "Cost matters: public prices of switches, cables and optics: ib-ndr (switches: 6) "
	weft compare s.yaml --fabric ib-ndr,roce-400g --matters ethernet
	says "$out" "Take roce-400g"
	# Nobody has a point that nothing was measured for.
	weft compare s.yaml --fabric ib-ndr,roce-400g --matters staff
	says "$out" "no neglected InfiniBand was compared, so this speaks for nobody"
	says "$out" "No difference that counts"
	weft compare s.yaml --matters money
	[ "$status" -eq 2 ]
	says "$err" "'money' is none of latency, cost, ethernet, shared, staff"
}

@test "it is recorded" {
	job >s.yaml
	weft compare s.yaml --fabric ib-ndr,roce-400g --record r.db
	[ "$status" -eq 0 ]
	[ "$(sqlite3 r.db "SELECT count(*) FROM run WHERE state = 'finished'")" -eq 10 ]
	[ "$(sqlite3 r.db "SELECT count(*) FROM bandwidth")" -eq 30 ]
	[ "$(sqlite3 r.db "SELECT count(*) FROM note WHERE kind = 'verdict'")" -eq 1 ]
	[ "$(sqlite3 r.db "SELECT count(*) FROM value WHERE name = 'job_time'")" -eq 10 ]
	# The first seed's runs have everything, the others their values.
	[ "$(sqlite3 r.db "SELECT count(DISTINCT run) FROM sample")" -eq 2 ]
	[ "$(sqlite3 r.db "SELECT count(DISTINCT run) FROM parameter")" -eq 10 ]
}

@test "mistakes are named with their place" {
	job | sed 's/8, 32K, 4M/8, x/' >s.yaml
	weft compare s.yaml
	[ "$status" -eq 2 ]
	says "$err" "s.yaml:4:"
	says "$err" "compare.sizes"
	job | sed 's/compare: .*/compare: {collective: allreduce}/' >s.yaml
	weft compare s.yaml
	[ "$status" -eq 2 ]
	says "$err" "there is no collective 'allreduce'"
}

@test "traffic can be compared too" {
	small_scenario >s.yaml
	weft compare s.yaml --fabric ib-ndr,roce-400g
	[ "$status" -eq 0 ]
	says "$out" "As they come"
}

# bats test_tags=long
@test "the main job: on its own network no fabric is ahead; on racks ECMP is behind" {
	small=(--set job.layers=1 --set job.scale_error=100)
	weft compare "$WEFT_SOURCE_DIR/examples/train-64.yaml" --json "${small[@]}" --set job.scale=1/256 --seeds 2 \
		--set compare.sizes=8
	[ "$status" -eq 0 ]
	python3 - <<'END'
import json
d = json.load(open("stdout.txt"))
f = {x["fabric"]: x for x in d["fabrics"]}
assert len(f) == 7 and all(v["finished"] for v in f.values())
assert {s for v in f.values() for s in v["state"]} == {"best", "default", "neglected"}
assert d["outcome"] == "either", d["verdict"]
best = min(v["step_time"] for v in f.values())
assert all(v["step_time"] < 1.05 * best for v in f.values()), {k: v["step_time"] for k, v in f.items()}
assert f["ib-ndr-static"]["same_as"] == "ib-ndr" and f["roce-400g-spray"]["same_as"] == "roce-400g"
END
	weft compare "$WEFT_SOURCE_DIR/examples/train-64-racks.yaml" --json "${small[@]}" --set job.scale=1/64 --seeds 1
	[ "$status" -eq 0 ]
	python3 - <<'END'
import json
f = {x["fabric"]: x for x in json.load(open("stdout.txt"))["fabrics"]}
mfu = {k: v["mfu"] for k, v in f.items()}
assert 0.95 * mfu["ib-ndr"] < mfu["roce-spray"] <= mfu["ib-ndr"] * 1.01, mfu
assert mfu["roce-ecmp"] < 0.9 * mfu["ib-ndr"], mfu
assert mfu["roce-ecmp"] < mfu["roce-4-qps"] < mfu["roce-spray"], mfu
assert f["roce-ecmp"]["why"].startswith("paths collide"), f["roce-ecmp"]["why"]
cures = {c["what"]: c["after_ps"] / c["before_ps"] for c in f["roce-ecmp"]["cures"]}
assert len(cures) == 2 and all(c < 0.95 for c in cures.values()), cures
END
}
