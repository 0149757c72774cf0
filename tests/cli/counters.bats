#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# counters.bats - the names under which ports' and adapters' counters are shown: they stay as they are.
# tests/data/counters has what is long. A new counter is a row more in each of them.

bats_require_minimum_version 1.5.0
load common

# Some hosts send to one: there is something to tell of ports.
incast() {
	small_scenario | sed 's/kind: permutation.*}/kind: incast, fanin: 7, size: 300KB}/'
}

# golden FILE NAME: FILE is what tests/data/counters has under NAME.
golden() {
	diff -u "$WEFT_SOURCE_DIR/tests/data/counters/$2" "$1"
}

@test "weft run --json: keys of the total, of classes and of ports" {
	incast >s.yaml
	weft run s.yaml --fabric ib-ndr,roce-400g --json --ports --quiet
	[ "$status" -eq 0 ]
	python3 - stdout.txt <<-'END'
		import json, sys
		counts = """tx_packets tx_bytes drops drops_congestion drops_buffer drops_life drops_error drops_down
		drops_route drops_hops drops_mtu drops_pkey drops_watchdog fec_corrected fec_uncorrected link_retries
		ecn_marks trimmed pauses_sent pauses_received paused_ps watchdog_acted watchdog_restored
		credit_waits credit_wait_ps vl_stalls max_queue_bytes max_buffer_bytes""".split()
		for r in json.load(open(sys.argv[1]))["runs"]:
		    assert list(r["total"]) == counts, list(r["total"])
		    assert r["ports"] and r["classes"]
		    for c in r["classes"]:
		        assert list(c) == ["id", "lossless"] + counts, list(c)
		    for p in r["ports"]:
		        assert list(p) == ["node", "port", "to", "class"] + counts, list(p)
	END
}

@test "weft run --ports: the table's columns" {
	incast >s.yaml
	weft run s.yaml --fabric ib-ndr,roce-400g --ports --quiet
	[ "$status" -eq 0 ]
	grep -A 1 "ports with losses" stdout.txt | grep "^port " | sort -u >columns.txt
	golden columns.txt ports.txt
}

@test "results: the table of counters, and their names for Prometheus" {
	incast >s.yaml
	weft run s.yaml --fabric ib-ndr,roce-400g --record r.db --sample none --quiet
	[ "$status" -eq 0 ]
	python3 - >counter.txt <<-'END'
		import sqlite3
		columns = "name, queue, measure, factor, unit, kind, source, help"
		for row in sqlite3.connect("r.db").execute(f"SELECT {columns} FROM counter ORDER BY name"):
		    print(*["-" if v is None else v for v in row], sep=" | ")
	END
	golden counter.txt results.txt
	# Of each counter one value, so that all have a metric.
	python3 - <<-'END'
		import sqlite3
		db = sqlite3.connect("r.db")
		db.execute("DELETE FROM sample")
		db.execute("INSERT INTO sample SELECT 1, 1, 0, 0, id, 8 FROM counter")
		db.commit()
	END
	weft export r.db --to prometheus --run 1
	[ "$status" -eq 0 ]
	grep -v '^# HELP' stdout.txt | grep -A 1 '^# TYPE' | grep -v -e '^--' -e weft_run_ |
		sed 's/{.*}//' | LC_ALL=C sort >metrics.txt
	golden metrics.txt export.txt
}
