# SPDX-License-Identifier: Apache-2.0
# docs.bats - the commands of README.md and docs/results.md do what they say, on a small scenario.

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
