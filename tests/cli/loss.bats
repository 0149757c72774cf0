# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# loss.bats - three kinds of loss, from the run to the verdict: congestion, errors on links, links that were down. Only the
# first breaks the promise of a lossless class.

bats_require_minimum_version 1.5.0
load common

# network FABRIC...: two leaves under two spines, and a permutation that fills half of the lines; other lines come on stdin.
network() {
	printf 'topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: 100Gbps}\n'
	printf 'traffic: [{kind: permutation, size: 4MB, op: write}]\nfabric:\n'
	printf '  - {profile: %s, sender: {timeout: 200us}}\n' "$@"
}

# The counters of the first run, t, its notes by rule, n, and the run, r.
holds() {
	python3 - "$1" <<'END'
import json, sys
r = json.load(open("stdout.txt"))["runs"][0]
t, n = r["total"], {x["rule"]: x["text"] for x in r["notes"]}
assert eval(sys.argv[1]), (t, n)
END
}

@test "bit errors are no drops of a lossless class" {
	network 'roce-400g, link: {ber: 1e-7}' >s.yaml
	weft run s.yaml --json -q
	holds 't["drops_error"] > 10 and t["drops"] == t["drops_error"] == r["packets_dropped"]'
	holds 't["drops_congestion"] == t["drops_down"] == r["lossless_drops"] == 0'
	holds '"link.ber is 1e-07" in n["link-errors"] and "lossless-drops" not in n'
	# Of both ends of the link, and with a rate that belongs to what was asked for.
	python3 - <<'END'
import json, re
r = json.load(open("stdout.txt"))["runs"][0]
note = next(x["text"] for x in r["notes"] if x["rule"] == "link-errors")
errors, rate = re.search(r"^([\d,]+) packets.* bit error rate of ([\d.e-]+) ", note).groups()
n = int(errors.replace(",", ""))
assert n == r["total"]["drops_error"], note
assert abs(float(rate) / 1e-7 - 1) < 5 / n ** 0.5 + 0.05, note
assert re.search(r"most from \w+ \(port \d+\) to \w+ \(port \d+\): \d+ of [\d,]+ packets, a rate of ", note), note
END
	weft run s.yaml -q --ports
	says "$out" "errors on links"
	says "$out" "ports with losses"
	run ! grep -q "congestion: \|links that were down" stdout.txt
}

@test "a link that was down is named, with the time and what it took" {
	{
		network ib-ndr
		printf 'faults:\n  - {link: [leaf0, spine0], down: 50us, up: 90us}\n  - {link: [h5, leaf1], down: 100us, up: 120us}\n'
		printf 'run: {reconverge: 10us}\n'
	} >s.yaml
	weft run s.yaml --json -q
	holds 't["drops_down"] > 0 and t["drops"] == t["drops_down"] == r["packets_dropped"]'
	holds 't["drops_congestion"] == t["drops_error"] == t["drops_route"] == r["lossless_drops"] == 0'
	grep -q 'the link from leaf0 (port [0-9]*) to spine0 (port [0-9]*) was down for 40.00 us: [0-9]* packets were lost' stdout.txt
	grep -q 'the link from h5 (port 0) to leaf1 (port 1) was down for 20.00 us: [0-9]* packets were lost' stdout.txt
}

@test "a verdict accuses whom congestion made drop, and nobody else" {
	network 'roce-400g, name: errors, link: {ber: 1e-7}' 'roce-400g, name: clean' >s.yaml
	printf 'compare: {seeds: 1}\n' >>s.yaml
	weft compare s.yaml
	says "$out" "lost to link errors"
	run ! grep -q "promises to keep" stdout.txt
	# The same with headroom for nobody.
	cat >s.yaml <<'END'
topology: {kind: single, hosts: 9, host_rate: 100Gbps}
traffic: [{kind: incast, fanin: 8, target: 0, size: 2MB, op: write}]
fabric:
  - {profile: roce-400g, name: tight, buffer: {size: 4MB, headroom: 10KB}, sender: {timeout: 200us}}
  - {profile: roce-400g, name: right}
compare: {seeds: 1}
END
	weft compare s.yaml
	grep -q "tight.*and loses packets that it promises to keep" <<<"$(tr '\n' ' ' <stdout.txt | tr -s ' ')"
	run ! grep -q "lost to link errors" stdout.txt
	weft run s.yaml --json -q
	holds 't["drops_congestion"] == t["drops_buffer"] > 0 and r["lossless_drops"] > 0 and "lossless-drops" in n'
	holds 't["drops_error"] == t["drops_down"] == 0'
}

@test "the kinds are counters, values and events of a results file, and older files are refused" {
	{
		network 'roce-400g, link: {ber: 1e-7}' ib-ndr
		printf 'faults: [{link: [leaf0, spine0], down: 50us, up: 90us}]\n'
	} >s.yaml
	weft run s.yaml -q --record r.db
	[ "$status" -eq 0 ]
	python3 - <<'END'
import sqlite3
db = sqlite3.connect("r.db")
for run, names in ((1, {"drops_error": ["rx_crc_errors_phy"], "drops_down": ["tx_discards_phy", "rx_link_down_discards"]}),
                   (2, {"drops_error": ["port_rcv_errors"], "drops_down": ["port_inactive_discards", "port_rcv_link_down_discards"]})):
    value = dict(db.execute("SELECT name, value FROM value WHERE run = ?", (run,)))
    events = dict(db.execute("SELECT detail, count(*) FROM event WHERE run = ? AND kind = 'drop' GROUP BY detail", (run,)))
    assert value["drops_congestion"] == 0 and value["drops_down"] > 0, value
    assert (value["drops_error"] > 0) == (run == 1), value
    assert events == {k: n for k, n in (("error", value["drops_error"]), ("down", value["drops_down"])) if n}, events
    counted = dict(db.execute("SELECT c.name, sum(t.value) FROM total t JOIN counter c ON c.id = t.counter "
                              "WHERE t.run = ? GROUP BY c.name", (run,)))
    for measure, of in names.items():
        assert sum(counted.get(name, 0) for name in of) == value[measure], (run, of, counted)
    # What was on the link is told by the port to which it did not come.
    assert counted[names["drops_down"][1]] > 0, counted
# InfiniBand's PortXmitDiscards is all that a port did not send.
assert counted.get("port_xmit_discards", 0) == counted.get("port_inactive_discards", 0), counted
assert db.execute("PRAGMA user_version").fetchone()[0] == 7
END
	sqlite3 r.db "PRAGMA user_version = 5"
	weft run s.yaml -q --record r.db
	[ "$status" -eq 2 ]
	says "$err" "version 5"
}

@test "READs end in spite of errors on links, whatever paces their responses" {
	for cc in hpcc timely dctcp dcqcn 'nscc}, sender: {recovery: selective'; do
		for seed in 1 2 3; do
			cat >s.yaml <<-END
				seed: $seed
				topology: {kind: single, hosts: 4, host_rate: 100Gbps}
				fabric: [{profile: roce-100g, cc: {algorithm: $cc}, link: {loss: 0.001}}]
				traffic: [{kind: permutation, size: 4MB, op: read}]
			END
			weft run s.yaml --json -q
			holds 'r["finished"] and r["flows_done"] == 4 and t["drops_error"] > 0'
		done
	done
}
