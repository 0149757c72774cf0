# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# report.bats - weft report on the command line; tests/web looks at the page itself.

load common

# recorded FILE: a small run in FILE.
recorded() {
	small_scenario >s.yaml
	"$WEFT" run s.yaml --fabric ib-ndr,roce-400g --record "$1" >/dev/null 2>&1
}

@test "weft report writes a page beside the results and says where" {
	recorded r.db
	weft report r.db
	[ "$status" -eq 0 ]
	[ "$out" = r.html ]
	[ -z "$err" ]
	[ "$(head -c 15 r.html)" = "<!doctype html>" ]
	[ "$(tail -n 1 r.html)" = "</html>" ]
	grep -q "<title>small - weft</title>" r.html
	grep -q "The MIT License" r.html
}

@test "weft report loads nothing from anywhere" {
	recorded r.db
	weft report r.db
	[ "$(grep -Eci "(src|href)=[\"']?(https?:)?//" r.html)" -eq 0 ]
}

@test "weft report -o names the page, - is standard output" {
	recorded r.db
	weft report r.db -o other.html
	[ "$out" = other.html ]
	"$WEFT" report r.db -o - >stdout.html
	cmp other.html stdout.html
	[ ! -e r.html ]
}

@test "weft report gives the same page again, and leaves the results alone" {
	recorded r.db
	cp r.db before.db
	weft report r.db
	cp r.html first.html
	weft report r.db
	cmp first.html r.html
	cmp before.db r.db
}

@test "weft report writes a scenario's name as text" {
	recorded r.db
	sed 's|^name: .*|name: "</title><script>alert(1)</script> \& \\"x\\""|' s.yaml >bad.yaml
	"$WEFT" run bad.yaml --record bad.db >/dev/null 2>&1
	weft report bad.db
	[ "$status" -eq 0 ]
	grep -q "<title>&#60;/title&#62;&#60;script&#62;alert(1)&#60;/script&#62; &#38; &#34;x&#34; - weft</title>" bad.html
	[ "$(grep -c "alert(1)</script>" bad.html)" -eq 0 ]
	# The elements of the template and no other.
	[ "$(grep -o "<script" bad.html | wc -l)" -eq "$(grep -o "<script" <("$WEFT" report r.db -o -) | wc -l)" ]
}

@test "weft report shows one study of several" {
	recorded r.db
	sed 's/^name: .*/name: second/' s.yaml >t.yaml
	"$WEFT" run t.yaml --record r.db >/dev/null 2>&1
	weft report r.db
	grep -q "<title>second - weft</title>" r.html
	weft report r.db --study 1
	grep -q "<title>small - weft</title>" r.html
	weft report r.db --study 3
	[ "$status" -eq 2 ]
	says "$err" "r.db: it has no study 3; its last is 2"
	weft report r.db --study x
	[ "$status" -eq 2 ]
	says "$err" '"x" is not a number from 1 on'
}

@test "weft report says what is wrong with a file" {
	weft report none.db
	[ "$status" -eq 2 ]
	says "$err" "none.db: cannot open it: No such file"

	echo "name: x" >text.db
	weft report text.db
	[ "$status" -eq 2 ]
	says "$err" "text.db: it is not a results file; weft run --record FILE writes one"

	: >empty.db
	weft report empty.db
	[ "$status" -eq 2 ]
	says "$err" "empty.db: it is not a results file"

	mkdir folder.db
	weft report folder.db
	[ "$status" -ne 0 ]
	says "$err" "folder.db: "

	sqlite3 other.db "CREATE TABLE t (x)"
	weft report other.db
	[ "$status" -eq 2 ]
	says "$err" "other.db: it is not a results file"
	[ -z "$(ls *.html 2>/dev/null)" ]
}

@test "weft report says when the file is of another version or has no run" {
	recorded r.db
	cp r.db newer.db
	sqlite3 newer.db "PRAGMA user_version = 99"
	weft report newer.db
	[ "$status" -eq 2 ]
	says "$err" "newer.db: its format has version 99 and this weft knows versions"
	cp r.db bare.db
	sqlite3 bare.db "DELETE FROM run"
	weft report bare.db
	[ "$status" -eq 2 ]
	says "$err" "bare.db: there is no run in it"
}

@test "weft report says when a file is damaged, and leaves no page" {
	recorded r.db
	head -c 20000 r.db >cut.db
	weft report cut.db
	[ "$status" -eq 2 ]
	says "$err" "cut.db: cannot read it: "
	[ ! -e cut.html ]
}

@test "a damaged results file is status 2, for every command" {
	recorded r.db
	head -c 20000 r.db >cut.db
	# Its first page is good: the damage is found later.
	cp r.db hole.db
	printf '\377%.0s' {1..24576} | dd of=hole.db bs=4096 seek=3 conv=notrunc status=none
	for db in cut.db hole.db; do
		for args in "report $db" "export $db --to csv --out csv" "export $db --to prometheus" \
			"export $db --to perfetto --run 1" "run s.yaml --record $db" \
			"sweep s.yaml --vary seed=1,2 --record $db" "compare s.yaml --record $db"; do
			cp "$db" copy.db
			# shellcheck disable=SC2086
			weft $args
			cp copy.db "$db"
			[ "$status" -eq 2 ] || { echo "$args: $status $err"; return 1; }
			says "$err" "$db: "
			says "$err" "malformed"
		done
	done
}

@test "weft report leaves the old page when the new one cannot be written" {
	recorded r.db
	weft report r.db -o no/such/folder.html
	[ "$status" -eq 2 ]
	says "$err" "no/such/folder.html: "
	ln -s r.db link.db
	cp r.db kept.db
	for same in r.db ./r.db link.db; do
		weft report r.db -o $same
		[ "$status" -eq 2 ]
		says "$err" "the page would replace the results"
	done
	cmp r.db kept.db
}

@test "weft report shows a killed run as far as it came" {
	small_scenario | sed 's/100KB/400MB/; s/10ms/1s/; s/hosts: 8, radix: 8/hosts: 64, radix: 16/' >long.yaml
	"$WEFT" run long.yaml --record k.db >/dev/null 2>&1 3>&- &
	pid=$!
	has_ticks() { [ "$(sqlite3 -readonly k.db "SELECT count(*) > 3 FROM tick" 2>/dev/null)" = 1 ]; }
	until_true has_ticks
	kill -9 "$pid"
	wait "$pid" || [ $? -eq 137 ]
	weft report k.db
	[ "$status" -eq 0 ]
	[ -s k.html ]
}

@test "weft report asks for one file" {
	for args in "" "a.db b.db"; do
		weft report $args
		[ "$status" -eq 2 ]
		says "$err" "name one results file"
	done
	weft report --help
	[ "$status" -eq 0 ]
	says "$out" "usage: weft report"
}

@test "weft report keeps what happens in a moment of a long run" {
	# All of it happens in the first milliseconds; then timeouts are waited for.
	cat >op.yaml <<'END'
name: op
topology: {kind: leaf-spine, hosts: 16, radix: 8}
fabric: {profile: roce-400g, flowctl: none, buffer: {size: 400KB}}
traffic: [{kind: incast, fanin: 12, size: 4MB, op: write}]
run: {until: 200ms}
END
	"$WEFT" run op.yaml --record r.db >/dev/null 2>&1
	weft report r.db
	python3 "$BATS_TEST_DIRNAME/page_data.py" r.html >page.json
	python3 - <<'END'
import json, sqlite3
page = json.load(open("page.json"))
db = sqlite3.connect("r.db")
[series], samples = page["series"], page["samples"]
times, n = series["times_ps"], series["n"]
end, = db.execute("SELECT end_ps FROM run").fetchone()
assert len(times) == n + 1 <= 241 and times[0] == 0 and times[-1] == end > 100e9
assert sorted(times) == times
active, = db.execute("SELECT max(t_ps) FROM tick WHERE t_ps < 20e9").fetchone()
assert active < end / 20, active
# Evenly there would be a twentieth of them.
early = sum(t <= active for t in times)
assert early >= n / 3 and early >= 40, (early, n)
# No interval has both what happened and the time in which nothing did.
assert times[early - 1] == active, (times[early - 1], active)
# The longest queue is that of its samples, and every byte is there.
queue = next(k for k in series["kinds"] if k["key"] == "queue" and k["queue"] is None)
most, = db.execute("SELECT max(value) FROM reading WHERE measure = 'queue_bytes'").fetchone()
assert max(queue["max"]) == most
tx = next(k for k in series["kinds"] if k["key"] == "tx" and k["queue"] is None)
got = sum(samples[tx["offset"] + p * n + i] / 65535 * tx["max"][p] * (times[i + 1] - times[i]) / 8e12
          for p in range(len(tx["ports"])) for i in range(n))
want, = db.execute("SELECT sum(t.value * c.factor) FROM total t JOIN counter c ON c.id = counter WHERE measure = 'tx_bytes'").fetchone()
assert abs(got / want - 1) < 1e-3, (got, want)
END
}
