#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# A modelled fabric that stands still says so: weft status, and the daemon where it stays in the foreground.

bats_require_minimum_version 1.5.0
load common
load dead

# circle: "sw3 -> sw4, sw4 -> sw3 | over", of the deadlocks that the fabric tells of.
circle() {
	"$WEFT" status --json | jq -r '.model.deadlocks[] |
		([.circle[] | .node + " -> " + .to] | sort | join(", ")) + if .ended_ps == null then "" else " | over" end'
}

is_circle() {
	[ "$(circle)" = "$1" ]
}

# deadlocked FABRIC LAYER: packets go round between two switches, stand still, and go on when their link goes down.
deadlocked() {
	local daemon port
	needs ib_write_bw jq curl
	port=$(free_port)
	dead_cluster "$1"
	"$WEFT" up dead.yaml --foreground --metrics "127.0.0.1:$port" 2>up.txt 3>&- &
	daemon=$!
	answers() { "$WEFT" status >/dev/null 2>&1; }
	until_true answers
	[ -z "$(circle)" ]
	both ib_write_bw -F -u 18 -s 65536 --run_infinitely -D 1
	until_true above tx_packets 200
	[ -z "$(circle)" ]
	"$WEFT" fault link sw3-sw5 down
	until_true is_circle "sw3 -> sw4, sw4 -> sw3"
	"$WEFT" status >status.txt
	grep -Eq "^deadlock since [0-9.]+ s: 2 queues wait for one another in a circle;$" status.txt
	grep -Eq "^  sw3:[0-9]+ +-> sw4 +priority [0-9]: [0-9]+ packets, first h2 -> h1, since " status.txt
	grep -Eq "^  sw4:[0-9]+ +-> sw3 +priority [0-9]: [0-9]+ packets, first h2 -> h1, since " status.txt
	[ "$(grep -c ", the last$" status.txt)" -eq 1 ]
	said() { grep -Eq "$1" up.txt; }
	until_true said "^weft up: deadlock at [0-9.]+ s: sw[34]:[0-9] -> sw[34], sw[34]:[0-9] -> sw[34]; [23] queues with [0-9]+ packets$"
	[ "$(curl -sf "http://127.0.0.1:$port/metrics" | grep "^weft_model_deadlocks ")" = "weft_model_deadlocks 1" ]
	# The link that they wait for takes what waits for it with it.
	"$WEFT" fault link sw3-sw4 down
	until_true is_circle "sw3 -> sw4, sw4 -> sw3 | over"
	"$WEFT" status | grep -Eq "^deadlock since [0-9.]+ s, over by [0-9.]+ s: "
	until_true said "^weft up: deadlock, over at "
	"$WEFT" down
	wait "$daemon"
}

@test "PFC" {
	deadlocked "profile: roce-400g-nocc, nic: {rate_min: 0, rate_max: 0}, buffer: {size: 2MB, alpha: 1/32}"
}

@test "credits: nothing happens in the model any more, and it is found all the same" {
	deadlocked "profile: ib-hdr, sm: ideal, nic: {rate_min: 0, rate_max: 0}, vl: {buffer: 8KiB}"
}
