# SPDX-License-Identifier: Apache-2.0
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
		"$WEFT" show ./again.yaml --json | sed "s|./again.yaml|$profile|" >b
		cmp a b
		python3 -m json.tool <a >/dev/null
	done
	says "$out" "routing: \"spray\""
	says "$out" "roce-400g-spray.yaml:"
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
