#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# watchdog.bats - what a report, its JSON and a results file say of PFC watchdogs, and what is refused.

bats_require_minimum_version 1.5.0
load common

# storm SETTINGS: h1 pauses without end from 130 to 1330 us while h0 sends to it.
storm() {
	cat <<-END
		topology: {kind: single, hosts: 4, host_rate: 100Gbps}
		fabric: {profile: roce-100g, pfc: {quanta: 8192}, cc: {algorithm: none}, $1}
		traffic: [{kind: shift, op: write, distance: 1, size: 100MB}]
		faults: [{on: h1, at: 130us, until: 1330us, fault: pause-storm}]
		run: {until: 3ms}
	END
}

@test "what a watchdog drops is told apart, in the table, in JSON and in the notes" {
	storm "watchdog: {rules: sonic, phase: 0, speedup: 1000}" >s.yaml
	weft run s.yaml --quiet --out -
	[ "$status" -eq 0 ]
	tr -s ' \n' ' ' <stdout.txt >words.txt
	grep -qE 'PFC watchdog [0-9,]{5,} drops in lossless classes 0' words.txt
	grep -qE 'PFC watchdog acted 1 PFC watchdog restored 1' words.txt
	grep -qE 'the PFC watchdog \(sonic\) acted 1 time on class 3 of leaf0 to h1 \(for 1.200 ms\), and restored 1: it, not congestion, dropped [0-9,]+ packets of lossless classes, [0-9,]+ of them because' words.txt
	says "$(cat words.txt)" "watchdog times are at 1/1000 of those of sonic: a poll every 200.0 us, detection after 200.0 us, restoration after 200.0 us"
	weft run s.yaml --quiet --json --ports
	python3 - <<-'END'
		import json
		r = json.load(open("stdout.txt"))["runs"][0]
		t = r["total"]
		assert t["watchdog_acted"] == t["watchdog_restored"] == 1
		assert t["drops_watchdog"] > 5000 and t["drops_congestion"] == r["lossless_drops"] == 0
		assert t["drops"] == t["drops_watchdog"] == r["packets_dropped"]
		assert [n["rule"] for n in r["notes"]].count("pfc-watchdog") == 2, r["notes"]
		# The queue to h1, and what h1 sends to h2.
		(p,) = [p for p in r["ports"] if p["watchdog_acted"]]
		assert (p["node"], p["to"], p["drops_watchdog"]) == ("leaf0", "h1", t["drops_watchdog"]), p
	END
}

@test "no speedup, no action: no note; alert and forward say what they did" {
	storm "watchdog: {rules: sonic}" >s.yaml
	weft run s.yaml --quiet
	[[ "$out" != *"watchdog"* ]]
	storm "watchdog: {rules: sonic, detect: 10s, speedup: 1000}" >s.yaml
	weft run s.yaml --quiet
	says "$(tr -s ' \n' ' ' <stdout.txt)" "detection after 10.00 ms, restoration after 200.0 us; it did not act"
	for action in forward alert; do
		storm "watchdog: {rules: arista, phase: 0, action: $action, speedup: 1000}" >s.yaml
		weft run s.yaml --quiet
		tr -s ' \n' ' ' <stdout.txt >$action.txt
	done
	says "$(cat forward.txt)" "acted 1 time on class 3 of leaf0 to h1 (for 1.200 ms), and restored 1: what was there was sent in spite of pauses"
	says "$(cat alert.txt)" "and restored 1: it only says so (watchdog.action: alert)"
	# A pause of 335 us is said again every 168 us: polls every 100 us miss it.
	storm "watchdog: {rules: cisco, speedup: 1000}" | sed 's/pfc: {quanta: 8192}, //' >s.yaml
	weft run s.yaml --quiet
	says "$(tr -s ' \n' ' ' <stdout.txt)" "a pause is said again every 167.8 us (pfc.quanta), which polls do not see each time"
}

@test "results: what it did and when it ended, as events" {
	storm "watchdog: {rules: juniper, phase: 0, adapter: connectx-auto, speedup: 1000}" >s.yaml
	weft run s.yaml --record r.db --events watchdog,watchdog_restored --quiet
	[ "$status" -eq 0 ]
	python3 - <<-'END'
		import sqlite3
		db = sqlite3.connect("r.db")
		rows = db.execute("SELECT t_ps / 1000000, e.kind, n.name, port, queue, dur_ps / 1000000, detail FROM event e "
		                  "JOIN node n ON n.run = e.run AND n.id = e.node ORDER BY e.rowid").fetchall()
		# The adapter has stopped long before the switch would have acted.
		assert rows == [(230, "watchdog", "h1", 0, 3, None, "mute"),
		                (1330, "watchdog_restored", "h1", 0, 3, 1100, "mute")], rows
	END
	storm "watchdog: {rules: juniper, phase: 0, speedup: 1000}" >s.yaml
	weft run s.yaml --record q.db --events watchdog,watchdog_restored --quiet
	python3 - <<-'END'
		import sqlite3
		db = sqlite3.connect("q.db")
		rows = db.execute("SELECT t_ps / 1000000, kind, dur_ps / 1000000, detail FROM event ORDER BY rowid").fetchall()
		assert rows == [(400, "watchdog", None, "drop"), (600, "watchdog_restored", 200, "drop"),
		                (800, "watchdog", None, "drop"), (1000, "watchdog_restored", 200, "drop"),
		                (1200, "watchdog", None, "drop"), (1400, "watchdog_restored", 200, "drop")], rows
		total = dict(db.execute("SELECT c.measure, sum(t.value) FROM total t JOIN counter c ON c.id = t.counter GROUP BY 1"))
		assert total["watchdog_acted"] == total["watchdog_restored"] == 3 and total["drops_watchdog"] > 100, total
	END
}

@test "the rules are listed, and what cannot be is refused" {
	weft list watchdogs
	for name in sonic sonic-nvidia sonic-nvidia-2023 cumulus arista cisco juniper connectx connectx-auto microsoft; do
		says "$out" "  $name "
	done
	says "$out" "poll 100ms, detect 300ms, restore 100ms"
	storm "watchdog: {rules: sonik}" >s.yaml
	weft run s.yaml
	[ "$status" -eq 2 ]
	[[ "$err" == 's.yaml:2:'*': watchdog.rules: "sonik"'* ]]
	says "$err" "sonic"
	small_scenario | sed 's/fabric: .*/fabric: {profile: ib-ndr, watchdog: {rules: sonic}}/' >s.yaml
	weft run s.yaml
	[ "$status" -eq 2 ]
	[ "$err" = "s.yaml:4:45: watchdog.rules: flowctl is credit, and the watchdog is one of PFC; write none, or flowctl: pfc (InfiniBand has vl.hoq_life)" ]
	storm "watchdog: {rules: arista, poll: 1ms, speedup: 20000}" >s.yaml
	weft run s.yaml
	[ "$status" -eq 2 ]
	says "$err" "watchdog.speedup: polls would be less than 100ns apart; write at most 10000, or a longer watchdog.poll"
	# An adapter has no switch's watchdog, and a switch none of adapters.
	storm "watchdog: {speedup: 1000}" >s.yaml
	echo "devices: {h1: {watchdog: {rules: sonic}}}" >>s.yaml
	weft run s.yaml
	[ "$err" = "s.yaml:6:34: watchdog.rules: h1 has no such setting; switches have it" ] || { echo "$err"; return 1; }
	storm "watchdog: {speedup: 1000}" >s.yaml
	echo "devices: {leaf0: {watchdog: {adapter: connectx}}}" >>s.yaml
	weft run s.yaml
	[ "$err" = "s.yaml:6:39: watchdog.adapter: leaf0 has no such setting; hosts have it" ] || { echo "$err"; return 1; }
}
