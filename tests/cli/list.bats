# SPDX-License-Identifier: Apache-2.0
# ctest: checked
# list.bats - weft list, show, help and --version.

load common

@test "weft list names what there is" {
	weft list
	[ "$status" -eq 0 ]
	[ -z "$err" ]
	for word in ib-ndr roce-400g fat-tree dragonfly hpcc ecmp adaptive spray lft credit pfc none \
		permutation incast all-to-all random websearch hadoop storage; do
		says "$out" "  $word "
	done
}

@test "weft list TOPIC names only that" {
	weft list routing
	says "$out" "ecmp"
	[[ "$out" != *fat-tree* ]]
}

@test "weft list parameters has every parameter with default and range" {
	weft list parameters
	for name in seed run.until topology.hosts fabric.ecn.kmin fabric.vl.sl2vl fabric.sender.window \
		traffic.fanin; do
		says "$out" "  $name "
	done
	says "$out" "default 150KB; 0B.."
	# Who may have one of its own, and whether it may change.
	[ "$(grep -A 2 "^  fabric.ecn.kmin " stdout.txt | tail -n 1 | sed 's/^ *//')" = "of each switch, port; may change" ]
	[ "$(grep -A 2 "^  fabric.nic.rx " stdout.txt | tail -n 1 | sed 's/^ *//')" = "of each host" ]
	[ "$(grep -A 2 "^  run.until " stdout.txt | grep -c "of each")" = 0 ]
}

@test "weft list is valid JSON" {
	for topic in "" profiles topologies routing flowctl traffic sizes switches cables parameters; do
		weft list $topic --json
		[ "$status" -eq 0 ]
		python3 -m json.tool <stdout.txt >/dev/null
	done
}

@test "weft show prints a profile that can be read again" {
	for profile in ib-ndr roce-400g roce-400g-spray; do
		weft show "$profile"
		[ "$status" -eq 0 ]
		cp stdout.txt again.yaml
		"$WEFT" show "$profile" --json >a
		"$WEFT" show ./again.yaml --json >b
		[ "$(jq -c .parameters a)" = "$(jq -c .parameters b)" ]
		# Every parameter is one that somebody set, again, on the line that sets it.
		[ "$(jq -c '.sources | to_entries | map(.key)' b)" = "$(jq -c '.parameters | to_entries | map(.key)' b)" ]
		[ "$(jq -r '.sources["routing"]' b)" = "./again.yaml:$(grep -n ^routing: again.yaml | cut -d: -f1)" ]
	done
	says "$out" "routing: \"spray\""
	says "$out" "roce-400g-spray.yaml:"
}

@test "weft show prints whatever weft list names that has parameters" {
	for topic in profiles models gpus switches cables; do
		"$WEFT" list "$topic" --json >names.json
		n=0
		# some: they are counted
		for name in $(python3 -c 'import json; d = json.load(open("names.json")); print(*[e["name"] for e in next(v for v in d.values() if type(v) is list)])'); do
			"$WEFT" show "$topic" "$name" >again.yaml
			# Who has set a parameter is another file, of course.
			"$WEFT" show "$topic" "$name" --json | jq 'del(.sources)' >a
			"$WEFT" show "$topic" ./again.yaml --json | sed "s|./again.yaml|$name|" | jq 'del(.sources)' >b
			cmp a b
			n=$((n + 1))
		done
		[ "$n" -ge 1 ] || { echo "there are no $topic"; return 1; }
	done
	weft show gpus h100
	says "$out" "gpus/h100.yaml:"
	weft show models llama3-70b --json
	[ "$(python3 -c 'import json, sys; print(json.load(sys.stdin)["parameters"]["layers"])' <<<"$out")" = 80 ]
	weft show profiles ib-ndr
	cp stdout.txt a
	weft show ib-ndr
	cmp a stdout.txt
}

@test "weft show prints a distribution of sizes as its file has it" {
	weft show sizes websearch
	[ "$status" -eq 0 ]
	cmp stdout.txt "$WEFT_SOURCE_DIR/profiles/sizes/websearch.txt"
	"$WEFT" show sizes websearch --json | python3 -c '
import json, sys
shown = json.load(sys.stdin)
rows = [line.split() for line in open(sys.argv[1]) if line.strip() and not line.startswith("#")]
assert len(rows) == len(shown["points"]) > 5, shown
for (size, percent), point in zip(rows, shown["points"]):
    assert point["bytes"] == int(size), (size, point)
    assert abs(point["share"] - float(percent) / 100) < 1e-6, (percent, point)
' "$WEFT_SOURCE_DIR/profiles/sizes/websearch.txt"
	weft show sizes web
	[ "$status" -eq 2 ]
	says "$err" "weft show: there is no distribution 'web' (weft list sizes)"
}

@test "weft show says what it cannot" {
	weft show gpu h100
	[ "$status" -eq 2 ]
	says "$err" "weft show: nothing of 'gpu' can be shown; did you mean gpus?"
	weft show gpus h10
	[ "$status" -eq 2 ]
	says "$err" "there is no GPU 'h10'"
	weft show gpus h100 h200
	[ "$status" -eq 2 ]
	says "$err" "weft show: name one profile"
}

@test "profiles are found where they are asked for" {
	mkdir mine
	printf 'description: my own\nbase: ib-ndr\nmtu: 2KiB\n' >mine/own.yaml
	weft list profiles --profiles mine
	says "$out" "my own"
	says "$out" "roce-400g"
	WEFT_PROFILES=mine weft show own
	says "$out" "mtu: 2KiB"
	printf 'mtu: [\n' >mine/own.yaml
	weft list profiles --profiles mine
	[ "$status" -eq 0 ]
	says "$out" "mine/own.yaml:"
}

@test "help everywhere" {
	weft
	[ "$status" -eq 2 ]
	says "$out" "usage: weft COMMAND"
	for args in "--help" "-h" "help"; do
		weft $args
		[ "$status" -eq 0 ]
		says "$out" "weft run"
	done
	# The topics of its help are those that there are.
	weft help list
	topics=$("$WEFT" list --json | python3 -c 'import json, sys; print(*[k for k, v in json.load(sys.stdin).items() if type(v) is list])')
	[ "$(wc -w <<<"$topics")" -ge 10 ]
	for topic in $topics parameters; do
		says "$out" $'\n'"  $topic "
	done
	for command in run perf list show help; do
		weft help "$command"
		[ "$status" -eq 0 ]
		says "$out" "usage: weft $command"
		cp stdout.txt a
		weft "$command" --help
		[ "$status" -eq 0 ]
		cmp a stdout.txt
	done
}

@test "help texts fit a terminal" {
	for args in "--help" "help run" "help perf" "help list" "help show"; do
		weft $args
		[ -z "$(awk 'length > 100' stdout.txt)" ]
	done
}

@test "the version" {
	weft --version
	[ "$status" -eq 0 ]
	[[ "$out" =~ ^weft\ [0-9]+\.[0-9]+\.[0-9]+\ \(build\ [0-9a-f]{12}\)$ ]]
}
