# SPDX-License-Identifier: Apache-2.0
# docs.bats - the commands of README.md, docs/results.md and docs/json.md do what they say, on a small scenario.

load common

# The lines with weft of a file, without comments. Left out: commands of live fabrics (tests/live runs
# those), files of the HPCC simulator (hpcc.bats), options of a reader's choice in words (DIR).
commands() {
	sed -n 's/^\t\{0,1\}\(weft .*\)$/\1/p' "$WEFT_SOURCE_DIR/$1" | sed 's/ \+#.*//' |
		grep -Ev '^weft (up|down|status|exec|fault|capture)|--hpcc|DIR|^weft is'
}

run_all() {
	n=0
	while read -r line; do
		line=$(sed 's/\bweft /"$WEFT" /g; s/ run / run --quiet /' <<<"$line")
		eval "$line" >out.txt 2>err.txt </dev/null || { echo "$line"; cat err.txt; return 1; }
		n=$((n + 1))
	done
}

@test "README.md" {
	printf 'topology: {kind: leaf-spine, hosts: 8, radix: 8}\nfabric: [ib-ndr, roce-400g]\ntraffic:\n  - {kind: permutation, size: 100KB}\n' >mine.yaml
	commands README.md | sed 's/--size 2\.\.8M/--size 2..8/' >list
	[ "$(wc -l <list)" -ge 7 ]
	run_all <list
	[ "$n" -eq "$(wc -l <list)" ]
}

@test "docs/results.md" {
	mkdir examples
	printf 'name: in\ntopology: {kind: single, hosts: 8}\nfabric: [ib-ndr, roce-400g]\ntraffic:\n  - {kind: incast, fanin: 6, size: 100KB}\n' >examples/incast.yaml
	printf 'topology: {kind: single, hosts: 4}\nfabric: [ib-ndr, roce-400g]\njob: {kind: all-reduce, gpus_per_server: 2, bytes: 1MB}\ncompare: {sizes: [8]}\n' >c.yaml
	"$WEFT" compare c.yaml --record compare.db >/dev/null
	commands docs/results.md >list
	[ "$(wc -l <list)" -ge 5 ]
	run_all <list
	[ "$n" -eq "$(wc -l <list)" ]
}

# weft status needs a live fabric: here it is a document that its schema allows.
status_document() {
	local counts='"qps": 1, "listens": 0, "tx_packets": 2, "tx_bytes": 3, "rx_packets": 4, "rx_bytes": 5, "retransmits": 0,
		"dropped": 0, "lost": 0, "icrc_errors": 0, "late_packets": 0, "late_ns": 0'
	echo '{"schema": "weft.status/1", "weft": "0", "fabric": "f", "link_layer": "ethernet", "hosts": [{"name": "h1",
		"address": "127.77.0.1", "lid": 0, "up": true, "total": {'"$counts"'},
		"programs": [{"program": "p", "pid": 6, "slot": 1, '"$counts"'}]}]}'
}

@test "docs/json.md" {
	mkdir examples
	printf 'topology: {kind: single, hosts: 8}\nfabric: [ib-ndr, roce-400g]\ntraffic:\n  - {kind: incast, fanin: 6, size: 500KB}\n' >examples/incast.yaml
	status_document >status.json
	/usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/json_schema.py" valid status.json
	sed -n 's/^\t\(.*\<jq\>.*\)$/\1/p' "$WEFT_SOURCE_DIR/docs/json.md" |
		sed 's/weft status --json/cat status.json/; s/\bweft /"$WEFT" /g' >list
	[ "$(wc -l <list)" -eq 9 ]
	set -o pipefail
	while read -r line; do
		eval "$line" >out.txt 2>err.txt </dev/null || { echo "$line"; cat err.txt; return 1; }
		[ -s out.txt ]
		grep -qv '^null$' out.txt
	done <list
	# Every schema is in the table.
	for file in "$WEFT_SOURCE_DIR"/schemas/*; do
		name=$(basename "$file" .schema.json)
		grep -q "^| \`${name%.*}/${name##*.}\` | \`$(jq -r '.title | rtrimstr(" --json")' "$file")\` |" "$WEFT_SOURCE_DIR/docs/json.md"
	done
}
