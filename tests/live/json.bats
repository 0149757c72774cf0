#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live checked
# What weft status and weft fault list print with --json is what schemas/ says, and all of it (tests/cli/json.bats).

bats_require_minimum_version 1.5.0
load common
load dead

check() {
	/usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/json_schema.py" "$@"
}

# look NAME: both documents of the fabric called so.
look() {
	"$WEFT" status --name "$1" --json >"status-$1.json"
	"$WEFT" fault --name "$1" list --json >"fault-$1.json"
}

# attached FABRIC PROGRAM: before it, weft exec has looked at the fabric itself.
attached() {
	[[ "$("$WEFT" status --name "$1" --json)" == *"\"program\": \"$2\""* ]]
}

# flows FABRIC, stands FABRIC: its model has delivered something; it is in a deadlock.
flows() {
	[ "$("$WEFT" status --name "$1" --json | jq ".model.delivered > 200")" = true ]
}
stands() {
	[ "$("$WEFT" status --name "$1" --json | jq ".model.deadlocks | length")" = 1 ]
}

# A fabric of each kind: without a model, on the wire, InfiniBand; modelled, with faults, by the clock and not, in a deadlock.
fabrics() {
	local name watch fault=("$WEFT" fault --name modelled)
	up --name plain
	up --name wire --fabric roce-400g --wire "h1=127.177.$((BASHPID / 256 % 256)).$((BASHPID % 256))"
	up --name ib --fabric ib-ndr --hosts 3
	printf 'topology: {kind: leaf-spine, hosts: 4, radix: 4, host_rate: 1Gbps}\nfabric: roce-400g\n' >cluster.yaml
	up cluster.yaml --name modelled
	up cluster.yaml --name unpaced --pace none
	up cluster.yaml --name managed --fabric ib-ndr
	EXEC="--name plain" spawn h1 ibv_asyncwatch >asyncwatch.txt 2>&1
	watch=$pid
	until_true attached plain ibv_asyncwatch
	"${fault[@]}" link leaf0-spine0 down
	"${fault[@]}" link h0 loss 1% delay 1ms
	"${fault[@]}" pause-storm h1
	"${fault[@]}" kill-host h2
	"${fault[@]}" on h3-leaf1 flap every 1s for 1ms until 1000s
	"${fault[@]}" on leaf0 set ecn.kmin=20KB at 500s
	# Packets that stand still, and go on.
	dead_cluster "profile: ib-hdr, sm: ideal, nic: {rate_min: 0, rate_max: 0}, vl: {buffer: 8KiB}"
	up dead.yaml --name dead
	EXEC="--name dead" both ib_write_bw -F -u 18 -s 65536 --run_infinitely -D 1
	until_true flows dead
	"$WEFT" fault --name dead link sw3-sw5 down
	until_true stands dead
	"$WEFT" fault --name dead link sw3-sw4 down
	for name in plain wire ib modelled unpaced managed dead; do
		look "$name"
	done
	kill -9 "$watch" "$server" "$client"
	for name in plain wire ib modelled unpaced managed dead; do
		"$WEFT" down --name "$name"
	done
}

@test "every document is as its schema says, and all that the schemas know is printed" {
	needs ibv_asyncwatch ib_write_bw jq
	fabrics
	check valid ./*.json
	check strict ./*.json
	check whole weft.status weft.fault -- ./*.json
	[ "$(jq -c '[.faults[] | [.host // .switch, .down]]' fault-modelled.json)" = \
		'[["leaf0",true],["h0",false],["h1",false],["h2",false]]' ]
	[ "$(jq -c .faults fault-plain.json)" = '[]' ]
	# What has to be there is missed where it is not.
	run -1 check whole weft.status -- status-plain.json
	[[ "$output" == *"no document has "*"properties/model"* ]]
}

@test "when the daemon has died nothing is printed" {
	up_and_killed
	for command in "status --json" "fault list --json"; do
		# shellcheck disable=SC2086
		run --separate-stderr -1 "$WEFT" $command
		[ -z "$output" ]
		[ -n "$stderr" ]
	done
}
