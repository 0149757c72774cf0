# SPDX-License-Identifier: Apache-2.0
# compare.bats - weft compare: figures side by side, a verdict, the same every time.
# ctest: timeout=600

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
	weft compare s.yaml
	[ "$status" -eq 0 ]
	for word in ib-ndr roce-400g-spray roce-400g-lossy roce-400g-mistuned tcp-400g \
		"RDMA write of 8 B" "all-reduce, 32 KiB" "bus bandwidth" "message latency, p50" \
		"PFC pauses" "CNPs sent" "packets sent again" "Take "; do
		says "$out" "$word"
	done
}

@test "JSON has the figures of the table, and any number of threads gives the same" {
	job >s.yaml
	weft compare s.yaml --json --fabric ib-ndr,roce-400g --threads 1
	[ "$status" -eq 0 ]
	cp stdout.txt one.json
	weft compare s.yaml --json --fabric ib-ndr,roce-400g --threads 3
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
assert d["choice"] in ("ib-ndr", "roce-400g") and len(d["reasons"]) >= 2
END
}

@test "the job's figures are those of weft run" {
	job >s.yaml
	weft run s.yaml --fabric roce-400g --json
	[ "$status" -eq 0 ]
	cp stdout.txt run.json
	weft compare s.yaml --fabric roce-400g --json
	python3 - <<'END'
import json
run = json.load(open("run.json"))["runs"][0]
f = json.load(open("stdout.txt"))["fabrics"][0]
assert f["drops"] == run["packets_dropped"], (f, run)
assert f["ecn_marks"] == run["total"]["ecn_marks"], (f, run)
END
}

@test "what matters is heard" {
	job >s.yaml
	weft compare s.yaml --fabric ib-ndr,roce-400g --matters ethernet,cost
	[ "$status" -eq 0 ]
	says "$out" "Existing Ethernet matters"
	says "$out" "Cost matters"
	says "$out" "Take roce-400g"
	weft compare s.yaml --matters money
	[ "$status" -eq 2 ]
	says "$err" "'money' is none of latency, cost, ethernet, shared, staff"
}

@test "it is recorded" {
	job >s.yaml
	weft compare s.yaml --fabric ib-ndr,roce-400g --record r.db
	[ "$status" -eq 0 ]
	[ "$(sqlite3 r.db "SELECT count(*) FROM run WHERE state = 'finished'")" -eq 2 ]
	[ "$(sqlite3 r.db "SELECT count(*) FROM bandwidth")" -eq 6 ]
	[ "$(sqlite3 r.db "SELECT count(*) FROM note WHERE kind = 'verdict'")" -eq 1 ]
	[ "$(sqlite3 r.db "SELECT count(*) FROM value WHERE name = 'job_time'")" -eq 2 ]
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
	says "$out" "Take "
}

@test "the main job: paths that collide cost MFU, even ones do not" {
	weft compare "$WEFT_SOURCE_DIR/examples/train-64.yaml" --json --set job.layers=1 \
		--set job.scale=1/256 --set job.scale_error=100 --set compare.sizes=8
	[ "$status" -eq 0 ]
	python3 - <<'END'
import json
f = {x["fabric"]: x for x in json.load(open("stdout.txt"))["fabrics"]}
mfu = {k: v["mfu"] for k, v in f.items()}
assert len(f) == 4 and all(v["finished"] for v in f.values())
assert 0.92 * mfu["ib-ndr"] < mfu["roce-400g-spray"] <= mfu["ib-ndr"] * 1.01, mfu
assert mfu["roce-400g-meta"] < 0.95 * mfu["ib-ndr"], mfu
assert mfu["tcp-400g"] < 0.7 * mfu["ib-ndr"], mfu
assert f["ib-ndr"]["step_time"] < f["roce-400g-meta"]["step_time"] < f["tcp-400g"]["step_time"]
END
}
