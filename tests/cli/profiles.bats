# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# profiles.bats - every profile names whose configuration it is, and does not serve for other rates.

load common

@test "every fabric profile names its source, in the file and in docs/profiles.md" {
	n=0
	for file in "$WEFT_SOURCE_DIR"/profiles/*.yaml; do
		name=$(basename "$file" .yaml)
		source=$(sed -n 's/^source: *//p' "$file")
		[ "${#source}" -gt 20 ] || { echo "$name"; return 1; }
		grep -q "^| .*\b$name\b" "$WEFT_SOURCE_DIR/docs/profiles.md" || { echo "$name"; return 1; }
		weft show "$name"
		[ "$status" -eq 0 ]
		n=$((n + 1))
	done
	[ "$n" -ge 15 ]
}

@test "a profile for other rates is refused, and can be had all the same" {
	printf 'topology: {kind: single, hosts: 4}\nfabric: roce-100g\ntraffic:\n  - {kind: permutation, size: 10KB}\n' >s.yaml
	weft run s.yaml
	[ "$status" -eq 2 ]
	says "$err" "nic.rate_max: this is made for hosts of at most 100 Gb/s, and there are links of 400;"
	weft run s.yaml --set topology.host_rate=25Gbps
	[ "$status" -eq 2 ]
	says "$err" "nic.rate_min: this is made for hosts of at least 100 Gb/s, and there are links of 25;"
	weft run s.yaml --set topology.host_rate=100Gbps
	[ "$status" -eq 0 ]
	weft run s.yaml --set fabric.nic.rate_max=0
	[ "$status" -eq 0 ]
	weft perf --fabric roce-100g --size 8
	[ "$status" -eq 2 ]
	says "$err" "links of 400"
}

# Microsoft, "Empowering Azure Storage with RDMA", NSDI 2023, appendix B: two flows at 40 Gb/s, one with a
# round trip of 2 us and one of 1.77 ms, get about 17 Gb/s each.
@test "two flows of Azure share a link whatever their round trips" {
	printf '4 1 3\n3\n0 3 40Gbps 0.0005ms 0\n1 3 40Gbps 0.0005ms 0\n2 3 40Gbps 0.884ms 0\n' >t.topo
	printf 'topology: {kind: hpcc, file: t.topo}\nfabric: roce-40g-azure\nrun: {until: 500ms}\ntraffic:\n  - {kind: incast, fanin: 2, target: 0, size: 8GB, op: write, class: 3}\n' >s.yaml
	for seed in 1 2; do
		rm -f r.db
		"$WEFT" run s.yaml --quiet --seed $seed --record r.db --sample 100ms --events none >/dev/null
		for host in h1 h2; do
			gbps=$(sqlite3 r.db "SELECT (max(value) - min(value)) * 8 / 400000000 FROM reading
				WHERE node = '$host' AND measure = 'tx_bytes' AND queue = 3 AND t_ps >= 100000000000")
			echo "$seed $host $gbps"
			[ "$gbps" -ge 15 ]
			[ "$gbps" -le 19 ]
		done
	done
}
