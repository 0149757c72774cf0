# SPDX-License-Identifier: Apache-2.0
# record.bats - weft run --record: what is in the file, as the sqlite3 program reads it.

load common

# q FILE SQL: what the query says.
q() {
	sqlite3 -bail -cmd ".timeout 60000" "$1" "$2"
}

# busy: a scenario with pauses, marks and drops on three fabrics.
busy() {
	cat <<'END'
name: busy
seed: 1
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric:
  - {profile: roce-400g, buffer: {size: 8MB}}
  - {profile: roce-400g, name: lossy, flowctl: none, buffer: {size: 2MB}}
  - ib-ndr
traffic:
  - {kind: incast, fanin: 12, size: 1MB, op: write}
run: {until: 5s}
END
}

# rows FILE: everything but what depends on the clock, in an order of its own.
rows() {
	sqlite3 "$1" .dump | sed -E \
		-e '/^INSERT INTO study/s/[0-9.e+]+,[0-9.e+]+\);$/T);/' \
		-e '/^INSERT INTO run/s/,(-?[0-9.e+]+|NULL),(-?[0-9.e+]+|NULL),([0-9]+),([0-9]+),([0-9]+),[0-9]+,[0-9.e+-]+,[0-9.e+-]+,(.[0-9a-f]{64}.,.[0-9a-f]{64}.)\);$/,T,\3,\4,\5,\6);/'
}

@test "one file, readable, with what the report says" {
	busy >s.yaml
	weft run s.yaml --json --record r.db
	[ "$status" -eq 0 ]
	[ "$(echo r.db*)" = r.db ]
	[ "$(head -c 15 r.db)" = "SQLite format 3" ]
	[ "$(q r.db 'PRAGMA integrity_check')" = ok ]
	[ "$(q r.db "SELECT group_concat(label), group_concat(DISTINCT state) FROM run")" = \
		"roce-400g,lossy,ib-ndr|finished" ]
	[ "$(q r.db "SELECT kind, name FROM study")" = "run|busy" ]
	[ "$(q r.db "SELECT scenario FROM run WHERE id = 1")" = "$(cat s.yaml)" ]
	python3 - <<'END'
import json, sqlite3
db = sqlite3.connect("r.db")
report = json.load(open("stdout.txt"))
one = lambda sql, *args: db.execute(sql, args).fetchone()[0]
for n, run in enumerate(report["runs"], 1):
    value = dict(db.execute("SELECT name, value FROM value WHERE run = ?", (n,)))
    total = run["total"]
    assert value["completion"] == run["completion_ps"]
    assert value["goodput"] == run["goodput_bps"]
    assert value["hops"] == run["hops"]
    assert one("SELECT end_ps FROM run WHERE id = ?", n) == run["end_ps"]
    assert value["packet_latency_p99"] == run["packet_latency_ps"]["p99"]
    # The counters of all ports add up to the report's, whatever they are called.
    for measure, key in (("tx_packets", "tx_packets"), ("ecn_marked", "ecn_marks"),
                         ("drops_buffer", "drops_buffer"), ("drops_error", "drops_error"),
                         ("drops_down", "drops_down"), ("drops_route", "drops_route"),
                         ("drops_hops", "drops_hops"), ("drops_mtu", "drops_mtu"), ("drops_watchdog", "drops_watchdog"),
                         ("fec_corrected", "fec_corrected"), ("fec_uncorrected", "fec_uncorrected"), ("link_retries", "link_retries"),
                         ("pause_rx", "pauses_received"), ("pause_tx", "pauses_sent")):
        got = one("SELECT coalesce(sum(t.value * c.factor), 0) FROM total t JOIN counter c "
                  "ON c.id = t.counter WHERE t.run = ? AND c.measure = ?", n, measure)
        assert got == total[key], (n, measure, got, total[key])
    # In the counter's unit, which is cut off at 4 bytes and at a nanosecond, per port.
    stopped = one("SELECT coalesce(sum(t.value * c.factor), 0) FROM total t JOIN counter c "
                  "ON c.id = t.counter WHERE t.run = ? AND c.measure = 'stopped_ps'", n)
    ports = 2 * one("SELECT count(*) FROM link WHERE run = ?", n)
    want = total["paused_ps"] + total["credit_wait_ps"]
    assert want - 1000 * ports <= stopped <= want + 1, (n, stopped, want)
    sent = one("SELECT sum(t.value * c.factor) FROM total t JOIN counter c "
               "ON c.id = t.counter WHERE t.run = ? AND c.measure = 'tx_bytes'", n)
    assert total["tx_bytes"] - 4 * ports <= sent <= total["tx_bytes"]
    # Every event is there or counted, and the pauses last as long as the counters say.
    events = dict(db.execute("SELECT kind, count(*) FROM event WHERE run = ? GROUP BY 1", (n,)))
    assert (events.get("drop", 0) + events.get("retransmit", 0) + value["events_left_out"]
            == run["packets_dropped"] + run["packets_resent"])
    assert value["events_left_out"] == 0 or max(events.values()) >= 2000
    # The counts are the true ones, whether there is a row for each or not.
    count = {k: (n, r) for k, n, r in db.execute("SELECT kind, n, recorded FROM event_count WHERE run = ?", (n,))}
    assert {k: r for k, (_, r) in count.items() if r > 0} == events
    assert count["drop"][0] == run["packets_dropped"] and count["retransmit"][0] == run["packets_resent"]
    paused = one("SELECT coalesce(sum(dur_ps), 0) FROM event WHERE run = ? AND kind = 'pause'", n)
    assert paused == total["paused_ps"]
    # Flows ended when they did.
    assert one("SELECT count(*) FROM flow WHERE run = ? AND end_ps IS NOT NULL", n) == 12
    assert one("SELECT max(end_ps) - min(start_ps) FROM flow WHERE run = ?", n) == run["completion_ps"]
    # Counters only grow, and gauges end at nothing when all is over.
    assert one("SELECT count(*) FROM (SELECT s.value < lag(s.value) OVER w AS less FROM sample s "
               "JOIN counter c ON c.id = s.counter AND c.kind = 'counter' WHERE s.run = ? WINDOW w AS "
               "(PARTITION BY node, port, counter ORDER BY t_ps)) WHERE less", n) == 0
    assert one("SELECT count(*) FROM tick WHERE run = ?", n) > 20
assert db.execute("SELECT count(*) FROM event WHERE kind = 'pause'").fetchone()[0] > 0
assert db.execute("SELECT count(*) FROM event WHERE kind = 'drop'").fetchone()[0] > 0
assert db.execute("SELECT value FROM parameter WHERE run = 1 AND name = 'fabric.buffer.size'"
                  ).fetchone()[0] == "8MB"
assert db.execute("SELECT source FROM parameter WHERE run = 1 AND name = 'fabric.buffer.size'"
                  ).fetchone()[0] == "s.yaml:5"
END
}

@test "recording changes nothing, and the rows are the same on any number of threads" {
	busy >s.yaml
	weft run s.yaml --json
	plain=$out
	for threads in 1 3; do
		weft run s.yaml --json --threads $threads --record $threads.db
		[ "$out" = "$plain" ]
		rows $threads.db >$threads.txt
	done
	grep -c 'INSERT INTO sample' 1.txt
	cmp 1.txt 3.txt
}

@test "flows over time: what arrived, and the rate and window that they were allowed" {
	cat >s.yaml <<'END'
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric: [roce-400g, {profile: roce-400g, name: swift, cc: {algorithm: swift}}, ib-ndr]
traffic:
  - {kind: incast, fanin: 4, size: 2MB, op: write}
run: {until: 20ms}
END
	weft run s.yaml --record r.db --quiet
	[ "$status" -eq 0 ]
	# All of it arrives, and never less than before.
	[ "$(q r.db "SELECT count(*), sum(bytes = (SELECT max(acked) FROM flow_sample s WHERE s.run = flow.run AND s.flow = flow.id)) FROM flow")" = "12|12" ]
	[ "$(q r.db "SELECT count(*) FROM (SELECT acked - lag(acked) OVER (PARTITION BY run, flow ORDER BY t_ps) AS more FROM flow_sample) WHERE more < 0")" -eq 0 ]
	# DCQCN cuts the rate of its four senders, and has no window; Swift has one; InfiniBand has neither here.
	[ "$(q r.db "SELECT count(DISTINCT flow), max(rate), min(rate) < 200e9, count(window) FROM flow_sample WHERE run = 1")" = "4|400000000000|1|0" ]
	[ "$(q r.db "SELECT count(*) = count(window), min(window) < max(window) FROM flow_sample WHERE run = 2")" = "1|1" ]
	[ "$(q r.db "SELECT count(*) > 10, count(rate), count(window) FROM flow_sample WHERE run = 3")" = "1|0|0" ]
	# Of many flows some are followed; of a run without samples none.
	sed -i 's/incast, fanin: 4, size: 2MB/all-to-all, size: 4KB/' s.yaml
	weft run s.yaml -f ib-ndr --record many.db --quiet
	[ "$(q many.db "SELECT (SELECT count(*) FROM flow), count(DISTINCT flow), sum(flow % 4 <> 0) FROM flow_sample")" = "240|60|0" ]
	weft run s.yaml -f ib-ndr --sample none --record none.db --quiet
	[ "$(q none.db "SELECT count(*) FROM flow_sample")" -eq 0 ]
}

@test "every query of docs/results.md runs" {
	busy >s.yaml
	weft run s.yaml --record r.db --quiet
	awk '/^```sql$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > "query" n ".sql" }' \
		"$WEFT_SOURCE_DIR/docs/results.md"
	[ "$(ls query*.sql | wc -l)" -ge 15 ]
	for query in query*.sql; do
		sqlite3 -bail r.db <"$query" >rows.txt 2>&1 || { cat "$query" rows.txt; return 1; }
		# Those of jobs find nothing in a run of flows.
		grep -qE 'FROM (bandwidth|collective|span)|node = .leaf0. AND port = 0' "$query" || [ -s rows.txt ] ||
			{ echo "nothing comes of:"; cat "$query"; return 1; }
	done
	sqlite3 -bail r.db .schema >/dev/null
}

@test "a second recording is added, with options that change the scenario" {
	small_scenario >s.yaml
	weft run s.yaml --record r.db
	weft run s.yaml --record r.db --seed 9 --set fabric.ecn.kmin=7KB --fabric roce-400g
	[ "$status" -eq 0 ]
	[ "$(q r.db 'SELECT group_concat(seed), max(study), max(id) FROM run')" = "1,9|2|2" ]
	[ "$(q r.db 'SELECT overrides FROM run WHERE id = 2')" = \
		"$(printf '%s\n' '--fabric roce-400g' '--seed 9' '--set fabric.ecn.kmin=7KB')" ]
	[ "$(q r.db "SELECT value, source FROM parameter WHERE run = 2 AND name = 'fabric.ecn.kmin'")" = \
		"7KB|--set fabric.ecn.kmin=7KB" ]
}

@test "samples at an interval, or none; events of some kinds" {
	busy >s.yaml
	weft run s.yaml --record r.db --sample 5us --events drop,link_down
	[ "$status" -eq 0 ]
	# Every five microseconds, each time at the end of a window: not earlier, and little later.
	[ "$(q r.db 'SELECT count(*) FROM tick WHERE run = 1 AND t_ps % 5000000 > 1000000
		AND t_ps < (SELECT end_ps FROM run WHERE id = 1)')" -eq 0 ]
	[ "$(q r.db 'SELECT max(d) FROM (SELECT t_ps / 5000000 - lag(t_ps / 5000000, 1, 0)
		OVER (PARTITION BY run ORDER BY t_ps) AS d FROM tick WHERE run = 1)')" -eq 1 ]
	[ "$(q r.db 'SELECT group_concat(DISTINCT kind) FROM event')" = drop ]
	weft run s.yaml --record none.db --sample none --events none
	[ "$(q none.db 'SELECT count(*) FROM event')" -eq 0 ]
	[ "$(q none.db 'SELECT count(*) FROM tick')" -eq 3 ]
	# The end is the same.
	attach="ATTACH 'r.db' AS r"
	for table in total counter; do
		[ "$(q none.db "$attach; SELECT count(*) FROM (SELECT * FROM main.$table EXCEPT SELECT * FROM r.$table)")" -eq 0 ]
	done
}

@test "wrong options are refused" {
	small_scenario >s.yaml
	weft run s.yaml --sample 1us
	[ "$status" -eq 2 ]
	says "$err" "--sample goes with --record"
	weft run s.yaml --record r.db --sample often
	[ "$status" -eq 2 ]
	says "$err" "--sample: "
	weft run s.yaml --record r.db --events pause,storm
	[ "$status" -eq 2 ]
	says "$err" 'no kind of event "storm"'
	[ ! -e r.db ]
}

@test "other people's files are left alone" {
	small_scenario >s.yaml
	echo "not a database, but longer than nothing" >text.db
	cp text.db text.copy
	weft run s.yaml --record text.db
	[ "$status" -eq 2 ]
	says "$err" "text.db: this is not a results file of weft"
	cmp text.db text.copy
	q other.db "CREATE TABLE t (a); INSERT INTO t VALUES (1)"
	cp other.db other.copy
	weft run s.yaml --record other.db
	[ "$status" -eq 2 ]
	says "$err" "other.db: this is not a results file of weft"
	cmp other.db other.copy
	weft run s.yaml --record nowhere/r.db
	[ "$status" -eq 2 ]
	says "$err" "nowhere/r.db: cannot be created"
	weft run s.yaml --record r.db
	q r.db "PRAGMA user_version = 99"
	weft run s.yaml --record r.db
	[ "$status" -eq 2 ]
	says "$err" "its format has version 99 and this weft knows versions 6 to 7; a newer weft wrote it"
}

@test "a disk that is full costs the recording, not the run" {
	busy >s.yaml
	weft run s.yaml
	plain=$out
	# Files end at 200 KB.
	status=0
	(ulimit -f 200; exec "$WEFT" run s.yaml --record r.db --sample 100ns) \
		>stdout.txt 2>stderr.txt || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat stdout.txt)" = "$plain" ]
	says "$(cat stderr.txt)" "r.db: "
	says "$(cat stderr.txt)" "recording has stopped"
	[ "$(q r.db 'PRAGMA integrity_check')" = ok ]
	[ "$(q r.db "SELECT count(*) > 0 FROM run")" -eq 1 ]
}

# long: a run that takes until it is killed.
long() {
	small_scenario | sed 's/size: 100KB/size: 1000GB/; s/until: 10ms/until: 900s/'
}

# wait_for SQL: until the query on r.db says 1.
wait_for() {
	says_one() { [ "$(sqlite3 -readonly r.db "$1" 2>/dev/null)" = 1 ]; }
	until_true says_one "$1"
}

@test "a run is read while it goes, and what is written is there when it is killed" {
	long >long.yaml
	"$WEFT" run long.yaml --record r.db --quiet >/dev/null 2>&1 3>&- &
	pid=$!
	wait_for "SELECT count(DISTINCT t_ps) > 3 FROM sample"
	then=$(q r.db "SELECT end_ps FROM run")
	wait_for "SELECT end_ps > $then FROM run"
	[ "$(q r.db "SELECT state FROM run")" = running ]
	kill -KILL "$pid"
	wait "$pid" || [ $? -eq 137 ]
	[ "$(q r.db 'PRAGMA integrity_check')" = ok ]
	[ "$(q r.db "SELECT state, end_ps > 0, count(*) FROM run")" = "running|1|1" ]
	[ "$(q r.db "SELECT count(*) > 0 FROM sample")" = 1 ]
	# The next recording to the file says what became of it.
	small_scenario >s.yaml
	weft run s.yaml --record r.db --quiet
	[ "$status" -eq 0 ]
	[ "$(q r.db "SELECT group_concat(state) FROM (SELECT state FROM run ORDER BY id)")" = \
		"interrupted,finished" ]
	[ "$(echo r.db*)" = r.db ]
}

@test "an interrupt ends a recording in good order" {
	long >long.yaml
	"$WEFT" run long.yaml --record r.db >stdout.txt 2>stderr.txt 3>&- &
	pid=$!
	wait_for "SELECT count(*) > 0 FROM sample"
	kill -INT "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq 130 ]
	says "$(cat stderr.txt)" "what was recorded is in r.db"
	[ "$(q r.db "SELECT state FROM run")" = interrupted ]
	[ "$(q r.db "SELECT count(*) FROM value WHERE name = 'goodput'")" -eq 1 ]
	[ "$(echo r.db*)" = r.db ]
}

@test "two processes record to the same file" {
	busy >s.yaml
	"$WEFT" run s.yaml --record r.db --sample 1us --quiet >a.txt 3>&- &
	first=$!
	"$WEFT" run s.yaml --record r.db --sample 1us --quiet >b.txt 3>&- &
	second=$!
	wait "$first"
	wait "$second"
	cmp a.txt b.txt
	[ "$(q r.db "SELECT count(*), count(DISTINCT study), group_concat(DISTINCT state) FROM run")" = \
		"6|2|finished" ]
	# Both have all rows.
	[ "$(q r.db "SELECT count(DISTINCT n) FROM (SELECT r.label, count(*) AS n FROM run r
		JOIN sample s ON s.run = r.id GROUP BY r.id) GROUP BY label" | sort -u)" = 1 ]
	[ "$(echo r.db*)" = r.db ]
}

@test "a job: ranks, collectives, timelines and messages, the same on any number of threads" {
	cat >job.yaml <<'END'
name: job
seed: 1
topology: {kind: rail, hosts: 32, radix: 0}
fabric: roce-400g
job: {kind: all-reduce, algorithm: ring, bytes: 4MB, iterations: 3}
run: {until: 1s}
END
	weft run job.yaml --json
	plain=$out
	for threads in 1 3; do
		weft run job.yaml --json --threads $threads --record $threads.db
		[ "$status" -eq 0 ]
		[ "$out" = "$plain" ]
		rows $threads.db >$threads.txt
	done
	cmp 1.txt 3.txt
	[ "$(q 1.db 'SELECT count(*), min(n.kind) FROM rank k JOIN node n ON n.run = k.run AND n.id = k.node')" = "32|host" ]
	[ "$(q 1.db 'SELECT count(*), count(DISTINCT algorithm), min(kind), min(bytes), min(ranks) FROM collective')" = \
		"3|1|all-reduce|4000000|32" ]
	# A collective begins with its first rank and ends with its last; busbw is nccl-tests'.
	[ "$(q 1.db 'SELECT count(*) FROM collective c WHERE begin_ps <> (SELECT min(begin_ps) FROM
		collective_rank k WHERE k.collective = c.id) OR end_ps <> (SELECT max(end_ps) FROM
		collective_rank k WHERE k.collective = c.id)')" -eq 0 ]
	[ "$(q 1.db 'SELECT count(*) FROM collective WHERE abs(busbw / (bytes * 1e12 / (end_ps - begin_ps)
		* 2 * 31 / 32) - 1) > 1e-6')" -eq 0 ]
	[ "$(q 1.db 'SELECT count(*), abs(avg(c.end_ps - c.begin_ps) / b.time_ps - 1) < 1e-6 FROM
		bandwidth b JOIN collective c')" = "3|1" ]
	# Nothing is computed meanwhile, so all communication is exposed.
	[ "$(q 1.db "SELECT sum(end_ps - begin_ps) FILTER (WHERE kind = 'communication') =
		sum(end_ps - begin_ps) FILTER (WHERE kind = 'exposed') FROM span")" -eq 1 ]
	# Messages are thinned out evenly; the distribution has them all.
	[ "$(q 1.db "SELECT (SELECT value FROM value WHERE name = 'job_messages') =
		(SELECT sum(n) FROM latency WHERE what = 'message')")" -eq 1 ]
	[ "$(q 1.db "SELECT count(*) > 100 AND count(*) <= 20000 AND min(end_ps > begin_ps) FROM message")" -eq 1 ]
	weft export 1.db --to perfetto --out t.json
	python3 -m json.tool t.json >/dev/null
	grep -q '"rank 31 (h31)"' t.json
	weft export 1.db --to nccl-tests
	says "$out" "     4000000       1000000     float     sum      -1"
}

@test "a training step is recorded beside what watches it" {
	cat >train.yaml <<'END'
topology: {kind: rail, hosts: 8, gpus: 4, radix: 0}
fabric: roce-400g
job: {kind: train, gpus_per_server: 4, layers: 4, sequence: 1024, tp: 2, pp: 2, micro_batches: 4, scale: 1/256, scale_error: 100}
END
	weft run train.yaml --json
	plain=$out
	for threads in 1 3; do
		weft run train.yaml --json --threads $threads --record $threads.db
		[ "$status" -eq 0 ]
		[ "$out" = "$plain" ]
		rows $threads.db >$threads.txt
	done
	cmp 1.txt 3.txt
	# The recorder sees what the step's own observer sees: the same time of computing.
	python3 - "$plain" <<'END'
import json, sqlite3, sys
train = json.loads(sys.argv[1])["runs"][0]["job"]["train"]
db = sqlite3.connect("1.db")
value = lambda name: db.execute("SELECT value FROM value WHERE name = ?", (name,)).fetchone()[0]
step = value("step_time") / 256
assert abs(step - value("job_end")) < 1, step
assert abs(value("mfu") - train["mfu_ppm"] / 1e6) < 1e-6
assert abs(value("step_busy") / 256 - train["computing_ps"]) < 1
parts = sum(value(f"exposed_{kind}") for kind in ("tp", "pp", "ep", "dp"))
assert 0 < parts <= value("exposed") < value("step_time")
compute, ranks = db.execute("SELECT sum(end_ps - begin_ps), count(DISTINCT rank) FROM span WHERE kind = 'compute'").fetchone()
assert ranks == 8
assert abs(compute / ranks - value("step_busy") / 256) < 1e-3 * compute / ranks, (compute, value("step_busy"))
names = {n for n, in db.execute("SELECT DISTINCT name FROM span WHERE kind = 'communication'")}
assert {"activations", "gradients", "tp all-gather"} <= names, names
kinds = {a for a, in db.execute("SELECT DISTINCT algorithm FROM collective")}
assert kinds and kinds <= {"ring", "tree"}, kinds
END
}

@test "the algorithm that is recorded is the one that was used" {
	for bytes in 8B 64MB; do
		printf 'topology: {kind: rail, hosts: 8, gpus: 4, radix: 0}\nfabric: ib-ndr\njob: {kind: all-reduce, bytes: %s, gpus_per_server: 4}\n' $bytes >a.yaml
		weft run a.yaml --quiet --record $bytes.db
	done
	[ "$(q 8B.db 'SELECT algorithm FROM collective')" = tree ]
	[ "$(q 64MB.db 'SELECT algorithm FROM collective')" = nvls-tree ]
}

@test "the diagnoses that are printed are recorded, by run and by sweep" {
	example=$WEFT_SOURCE_DIR/examples/ecn-above-xoff.yaml
	weft run "$example" --json --record run.db
	[ "$status" -eq 0 ]
	python3 -c 'import json
for i, run in enumerate(json.load(open("stdout.txt"))["runs"], 1):
    for n in run["notes"]:
        print(i, n["text"])' >printed.txt
	[ "$(wc -l <printed.txt)" -ge 2 ]
	q run.db "SELECT run || ' ' || text FROM note WHERE kind = 'note' ORDER BY run, rowid" >recorded.txt
	cmp printed.txt recorded.txt
	cut -d' ' -f2- printed.txt | sort >texts.txt
	weft sweep "$example" --vary seed=3 --jobs 1 --record sweep.db
	q sweep.db "SELECT text FROM note WHERE kind = 'note'" | sort | cmp texts.txt -
}

@test "events are counted, and what is frequent does not crowd out what is rare" {
	cat >op.yaml <<'END'
name: op
seed: 1
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric: {profile: roce-400g, flowctl: none, buffer: {size: 400KB}}
traffic:
  - {kind: incast, fanin: 12, size: 4MB, op: write}
faults:
  - {link: [leaf1, spine0], down: 80ms, up: 90ms}
run: {until: 200ms}
END
	weft run op.yaml --json --out run.json --record r.db
	[ "$status" -eq 0 ]
	weft report r.db
	python3 "$BATS_TEST_DIRNAME/page_data.py" r.html >page.json
	python3 - <<'END'
import json, math, sqlite3
run = json.load(open("run.json"))["runs"][0]
db = sqlite3.connect("r.db")
count = {k: (n, r) for k, n, r in db.execute("SELECT kind, n, recorded FROM event_count")}
assert count["drop"][0] == run["packets_dropped"] > 10000, count
assert count["retransmit"][0] == run["packets_resent"] > 10000, count
# Both ends of the link, long after rows of drops have become rare.
assert count["link_down"] == (2, 2) and count["link_up"] == (2, 2), count
assert count["qp_error"] == (0, 0) and count["pause"] == (0, 0), count
rows = dict(db.execute("SELECT kind, count(*) FROM event GROUP BY 1"))
assert {k: r for k, (_, r) in count.items() if r > 0} == rows, (count, rows)
for kind in ("drop", "retransmit"):
    n, recorded = count[kind]
    # 2,000 rows of all, 2,000 of every second, ... to the last ones.
    assert 2000 < recorded <= 2000 * math.log2(n / 2000 + 1) + 1, (kind, count)
    last, = db.execute("SELECT max(t_ps) FROM event WHERE kind = ?", (kind,)).fetchone()
    first, = db.execute("SELECT min(t_ps) FROM event WHERE kind = ?", (kind,)).fetchone()
    assert last - first > 60e9, (kind, first, last)
left, = db.execute("SELECT value FROM value WHERE name = 'events_left_out'").fetchone()
assert left == sum(n - r for n, r in count.values())
page = json.load(open("page.json"))["tables"]["event_count"]
cells = [page["cells"][i:i + 4] for i in range(0, len(page["cells"]), 4)]
assert page["columns"] == ["run", "kind", "n", "recorded"]
assert {k: (n, r) for _, k, n, r in cells} == {k: v for k, v in count.items() if v[0] > 0}
END
	# Only what was asked for is counted.
	weft run op.yaml --events link_up --record some.db
	[ "$(q some.db 'SELECT kind, n, recorded FROM event_count')" = "link_up|2|2" ]
}

# ticks FILE FROM TO: samples between two times, in us.
ticks() {
	q "$1" "SELECT count(*) FROM tick WHERE run = 1 AND t_ps > $2 * 1000000 AND t_ps <= $3 * 1000000"
}

@test "samples are spread over the run, of a large fabric too" {
	cat >incast.yaml <<'END'
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric: ib-ndr
traffic: [{kind: incast, fanin: 12, size: 2MB, op: write}]
END
	weft run incast.yaml --record r.db
	end=$(q r.db 'SELECT end_ps / 1000000 FROM run')
	for i in 0 1 2 3 4 5 6 7 8 9; do
		n=$(ticks r.db $((end * i / 10)) $((end * (i + 1) / 10)))
		((n >= 5 && n <= 100)) || { echo "tenth $i of $end us: $n samples"; return 1; }
	done
	sed 's/hosts: 16, radix: 8/hosts: 512, radix: 64/; s/kind: incast, fanin: 12/kind: permutation/; s/2MB/1MB/' incast.yaml >large.yaml
	weft run large.yaml --record large.db
	# It takes some tens of microseconds, and a sample of it thousands of rows.
	[ "$(q large.db 'SELECT end_ps / 1000000 < 100 FROM run')" -eq 1 ]
	[ "$(q large.db 'SELECT count(*) FROM tick')" -ge 12 ]
}

@test "samples are close together where something happens" {
	# Steady traffic, which loses packets for a moment; and long pauses for timeouts after it.
	cat >op.yaml <<'END'
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric: roce-400g
traffic: [{kind: permutation, size: 16MB, op: write}, {kind: permutation, size: 1MB, start: 3ms, op: write}]
faults: [{link: [leaf1, spine0], down: 600us, up: 610us}]
run: {until: 1s, reconverge: 50us}
END
	weft run op.yaml --record r.db
	[ "$status" -eq 0 ]
	[ "$(q r.db "SELECT n > 0 FROM event_count WHERE kind = 'drop'")" -eq 1 ]
	before=$(ticks r.db 550 590) during=$(ticks r.db 600 640)
	((during >= 10 && during >= before * 3 / 2)) || { echo "before $before, during $during"; return 1; }
	# Nothing is smeared over the time in which nothing was sent: it has a sample at its beginning and a
	# tick at its end.
	python3 - <<'END'
import sqlite3
db = sqlite3.connect("r.db")
ticks = [t for t, in db.execute("SELECT t_ps FROM tick ORDER BY 1")]
gaps = [(a, b) for a, b in zip(ticks, ticks[1:]) if b - a > 100e6]
assert gaps, "nothing stood still"
for a, b in gaps:
    assert db.execute("SELECT count(*) FROM sample s JOIN counter c ON c.id = counter WHERE t_ps = ? AND "
                      "measure = 'tx_bytes'", (b,)).fetchone() == (0,), (a / 1e6, b / 1e6)
END
}

@test "when traffic stops the queues are sampled as they are then" {
	cat >op.yaml <<'END'
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric: {profile: roce-400g, buffer: {size: 4MB, headroom: 1KB}}
traffic: [{kind: incast, fanin: 12, size: 4MB, op: write}, {kind: permutation, size: 4MB, op: write}]
run: {until: 200ms}
END
	weft run op.yaml --record r.db
	says "$out" "their senders wait for a timeout"
	python3 - <<'END'
import sqlite3
db = sqlite3.connect("r.db")
ticks = [t for t, in db.execute("SELECT t_ps FROM tick ORDER BY 1")]
gaps = [a for a, b in zip(ticks, ticks[1:]) if b - a > 10e9]
assert gaps, "nothing stood still"
for a in gaps:
    full = db.execute("SELECT node, port, value FROM (SELECT node, port, counter, value, max(t_ps) FROM reading "
                      "WHERE measure IN ('queue_bytes', 'buffer_bytes') AND t_ps <= ? GROUP BY 1, 2, 3) WHERE value > 0", (a,)).fetchall()
    assert full == [], (a / 1e6, full)
END
}

@test "a deadlock has an event for each queue of its circle, a note, and its lines in the report" {
	sed '/name: agreed/d; /name: lossy/d; /name: ib,/d' "$WEFT_SOURCE_DIR/examples/pfc-deadlock.yaml" >dead.yaml
	weft run dead.yaml --record r.db --out run.txt
	weft run dead.yaml --json --out run.json
	weft run dead.yaml --threads 4 --out threads.txt
	cmp run.txt threads.txt
	python3 - <<'END'
import json, sqlite3
db = sqlite3.connect("r.db")
run = json.load(open("run.json"))["runs"][0]
dead, = run["deadlocks"]
assert dead["certain"] and dead["ended_ps"] is None, dead
names = dict(db.execute("SELECT id, name FROM node"))
rows = db.execute("SELECT node, port, queue, t_ps, dur_ps, src, dst, detail FROM event WHERE kind = 'deadlock'").fetchall()
end, = db.execute("SELECT end_ps FROM run").fetchone()
assert sorted((names[n], p, q, names[s], names[d]) for n, p, q, _, _, s, d, _ in rows) == \
    sorted((l["node"], l["port"], l["class"], l["src"], l["dst"]) for l in dead["circle"]), rows
assert {(t, t + dur) for _, _, _, t, dur, _, _, _ in rows} == {(dead["formed_ps"], end)}, (rows, end)
closed = dead["circle"][dead["closed_by"]]
assert [names[r[0]] for r in rows if r[7] is not None and "closes the circle" in r[7]] == [closed["node"]], rows
assert sum("valley" in (r[7] or "") for r in rows) == sum(l["held"]["valley"] for l in dead["circle"]) > 0
assert db.execute("SELECT n, recorded FROM event_count WHERE kind = 'deadlock'").fetchall() == [(len(rows),) * 2]
assert db.execute("SELECT count(*) FROM note WHERE rule = 'deadlock' AND text LIKE 'deadlock: %'").fetchone() == (1,)
# In the report, a line for each, with its packets and where they come from.
text = " ".join(open("run.txt").read().split())
for i, l in enumerate(dead["circle"]):
    before = dead["circle"][i - 1]["node"]
    assert f"- {l['node']}:{l['port']} -> {l['to']}, class {l['class']}: {l['packets']:,} packets" in text, (l, text)
    assert f"first {l['src']} -> {l['dst']}; {l['held']['packets']:,} of them from {before}" in text, (l, text)
END
}
