# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# export.bats - weft export: what others' tools make of it.

load common

record() {
	cat >s.yaml <<'END'
name: 'two, "quoted"'
seed: 1
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric:
  - {profile: roce-400g, buffer: {size: 8MB}}
  - ib-ndr
traffic:
  - {kind: incast, fanin: 12, size: 1MB, op: write}
run: {until: 1s}
END
	weft run s.yaml --record r.db --quiet
	[ "$status" -eq 0 ]
}

@test "CSV has every table, as it is" {
	record
	weft export r.db --to csv --out folder
	[ "$status" -eq 0 ]
	[ -z "$out$err" ]
	python3 - <<'END'
import csv, os, sqlite3
db = sqlite3.connect("r.db")
tables = [n for n, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
assert sorted(t + ".csv" for t in tables) == sorted(os.listdir("folder"))
for table in tables:
    cursor = db.execute("SELECT * FROM " + table)
    with open("folder/" + table + ".csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == [d[0] for d in cursor.description]
    want = cursor.fetchall()
    assert len(rows) == 1 + len(want), table
    for got, row in zip(rows[1:], want):
        for a, b in zip(got, row):
            same = a == "" if b is None else float(a) == b if isinstance(b, float) else a == str(b)
            assert same, (table, a, b)
END
	weft export r.db --to csv --run 2 --out one
	[ "$(cut -d, -f1 one/sample.csv | sort -u | tr '\n' ' ')" = "2 run " ]
	[ "$(wc -l <one/study.csv)" -eq 2 ]
}

@test "a trace is JSON, and adds up" {
	record
	weft export r.db --to perfetto
	[ "$status" -eq 2 ]
	says "$err" "2 runs"
	weft export r.db --to perfetto --run 1 --out t.json
	[ "$status" -eq 0 ]
	python3 -m json.tool t.json >/dev/null
	python3 - <<'END'
import json, sqlite3
from decimal import Decimal
events = json.load(open("t.json"), parse_float=Decimal)["traceEvents"]
db = sqlite3.connect("r.db")
one = lambda sql: db.execute(sql).fetchone()[0]
pauses = [e for e in events if e["ph"] == "X" and e["cat"] == "pause"]
assert len(pauses) == one("SELECT count(*) FROM event WHERE run = 1 AND kind = 'pause'") > 0
assert sum(e["dur"] for e in pauses) * 10**6 == one(
    "SELECT sum(dur_ps) FROM event WHERE run = 1 AND kind = 'pause'")
assert sum(e["ph"] == "b" for e in events) == sum(e["ph"] == "e" for e in events) == 12
names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
assert len(names) == len({e["pid"] for e in events})
# What a port sent is what its rates add up to.
port = [e for e in events if e["ph"] == "C" and names[e["pid"]] == "leaf0"
        and e["name"] == "port 0 tx_prio3_bytes (Gb/s)"]
end = Decimal(one("SELECT end_ps FROM run WHERE id = 1")) / 10**6
times = [e["ts"] for e in port] + [end]
assert times == sorted(times)
bits = sum(Decimal(e["args"]["value"]) * 1000 * (b - a) for e, a, b in zip(port, times, times[1:]))
want = 8 * one("SELECT max(value) FROM reading WHERE run = 1 AND node = 'leaf0' AND port = 0 "
               "AND counter = 'tx_prio3_bytes'")
assert abs(bits - want) < want / 100, (bits, want)
END
}

@test "Prometheus reads its text" {
	record
	weft export r.db --to prometheus --out m.txt
	[ "$status" -eq 0 ]
	if command -v promtool >/dev/null; then
		promtool check metrics <m.txt
	fi
	python3 - <<'END'
import re, sqlite3
db = sqlite3.connect("r.db")
types, seen = {}, {}
for line in open("m.txt"):
    if line.startswith("# TYPE "):
        _, _, name, kind = line.split()
        assert name not in types, name
        types[name] = kind
    elif not line.startswith("#"):
        name, labels, value = re.fullmatch(r'(\w+)\{(.*)\} (\S+)\n', line).groups()
        assert list(types)[-1] == name
        labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels))
        seen.setdefault(name, []).append((labels, float(value)))
total = lambda name: sum(v for _, v in seen[name])
want = lambda sql: db.execute(sql).fetchone()[0]
by = "SELECT sum(t.value) FROM total t JOIN counter c ON c.id = t.counter AND c.name = '%s'"
assert total("node_ethtool_received_prio3_pause") == want(by % "rx_prio3_pause") > 0
assert total("node_infiniband_port_data_transmitted_bytes_total") == 4 * want(by % "port_xmit_data")
assert total("node_infiniband_np_ecn_marked_roce_packets_received_total") > 0
assert types["node_infiniband_port_transmit_wait_total"] == "counter"
assert {l["fabric"] for l, _ in seen["weft_run_goodput_bytes_per_second"]} == {"roce-400g", "ib-ndr"}
assert want("SELECT count(*) FROM total") == sum(
    len(v) for k, v in seen.items() if not k.startswith("weft_run_"))
END
}

@test "bus bandwidth in nccl-tests' columns" {
	record
	weft export r.db --to nccl-tests
	[ "$status" -eq 2 ]
	says "$err" "no run in it measured bandwidth"
	sqlite3 r.db "INSERT INTO bandwidth VALUES
		(1, 'all-reduce', 'ring', 16, 1024, 12340000, 82981000, 155589000),
		(1, 'all-reduce', 'ring', 16, 1048576, 123400000, 8497374000, 15932576000),
		(1, 'all-gather', 'ring', 16, 1073741824, 23400000000, 45886000000, 43018000000)"
	weft export r.db --to nccl-tests
	[ "$status" -eq 0 ]
	[ "$(grep -v '^#' <<<"$out")" = "\
  1073741824      16777216     float    none      -1    23400   45.89   43.02    N/A    23400   45.89   43.02    N/A
        1024           256     float     sum      -1    12.34    0.08    0.16    N/A    12.34    0.08    0.16    N/A
     1048576        262144     float     sum      -1    123.4    8.50   15.93    N/A    123.4    8.50   15.93    N/A" ]
	says "$out" "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"
	says "$out" "# Avg bus bandwidth    : 43.018 "
	says "$out" "# Avg bus bandwidth    : 8.04408 "
}

@test "what cannot be exported is refused" {
	weft export nowhere.db --to csv --out x
	[ "$status" -eq 2 ]
	says "$err" "nowhere.db: there is no such file"
	echo "some text that is no database at all" >text
	weft export text --to csv --out x
	[ "$status" -eq 2 ]
	says "$err" "text: this is not a results file of weft"
	record
	weft export r.db
	[ "$status" -eq 2 ]
	says "$err" "to which format?"
	weft export r.db --to excel
	[ "$status" -eq 2 ]
	says "$err" "weft export: --to: there is no format 'excel'; there are csv, perfetto, nccl-tests, prometheus"
	weft export r.db --to csv
	[ "$status" -eq 2 ]
	says "$err" "--out"
	weft export r.db --to csv --run 7 --out x
	[ "$status" -eq 2 ]
	says "$err" "there is no run 7; the runs are 1 to 2"
	[ ! -e x ]
	cp r.db kept.db
	weft export r.db --to prometheus --out ./r.db
	[ "$status" -eq 2 ]
	says "$err" "--out would replace the results"
	cmp r.db kept.db
	weft export r.db --to prometheus --out nowhere/m.txt
	[ "$status" -ne 0 ] && says "$err" "nowhere/m.txt"
}
