#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live checked
# The names under which a live fabric shows what its hosts and ports count: they stay as they are.
# tests/data/counters has what is long. A new counter is a row more there.

bats_require_minimum_version 1.5.0
load common

PORT=/sys/class/infiniband/weft0/ports/1

# golden FILE NAME: FILE is what tests/data/counters has under NAME.
golden() {
	diff -u "$WEFT_SOURCE_DIR/tests/data/counters/$2" "$1"
}

# keys PYTHON: one a line of what that is, of the fabric's state s.
keys() {
	"$WEFT" status --json | python3 -c '
import json, sys
s = json.load(sys.stdin)
print(*eval(sys.argv[1]), sep="\n")' "$1"
}

# loopback: an address of this machine that no other test has.
loopback() {
	local number
	number=$(free_port)
	echo "127.$((number / 256)).$((number % 256)).9"
}

@test "weft status: keys and columns of hosts, programs and ports" {
	printf '%s\n' 'topology: {kind: single, hosts: 2}' 'fabric: {profile: ib-ndr}' >cluster.yaml
	up cluster.yaml
	keys 's["hosts"][0]["total"]' | LC_ALL=C sort >keys.txt
	golden keys.txt status_host.txt
	keys 's["model"]["ports"][0]' >keys.txt
	golden keys.txt status_port.txt
	"$WEFT" status | grep -E '^(host|switch or host) ' >columns.txt
	golden columns.txt status.txt
}

@test "weft status: what passes on the wire" {
	up --wire "h1=$(loopback)"
	keys 's["hosts"][0]["wire"]' | LC_ALL=C sort >keys.txt
	golden keys.txt status_wire.txt
}

@test "metrics: families, what they are, and their helps" {
	port=$(free_port)
	printf '%s\n' 'topology: {kind: single, hosts: 2}' 'fabric: {profile: ib-ndr}' >cluster.yaml
	up cluster.yaml --metrics "127.0.0.1:$port"
	curl -sf "http://127.0.0.1:$port/metrics" | grep '^#' | LC_ALL=C sort >metrics.txt
	golden metrics.txt metrics.txt
}

@test "files below /sys" {
	up
	on h1 sh -c "cd $PORT && ls counters/* hw_counters/*" | LC_ALL=C sort >files.txt
	golden files.txt sys.txt
	"$WEFT" down
	up --wire "h1=$(loopback)"
	on h1 sh -c "cd $PORT && ls counters/* hw_counters/*" | LC_ALL=C sort >files.txt
	golden files.txt sys_wire.txt
	# Each can be read, and nothing has happened.
	[ "$(on h1 sh -c "cd $PORT && cat counters/* hw_counters/*" | sort -u)" = 0 ]
}
