#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# weft diagnose --live: what is wrong with a live fabric, from its counters.

bats_require_minimum_version 1.5.0
load common

# first WHAT: whether the first finding has that rule and device.
first() {
	[ "$("$WEFT" diagnose --live --json | jq -r '.cases[0].findings[0] // {} | "\(.rule) \(.device)"')" = "$1" ]
}

@test "an adapter that pauses without end is the first finding" {
	up "$WEFT_SOURCE_DIR/examples/live-two-tiers.yaml"
	run -0 "$WEFT" diagnose --live
	[[ "$output" == *"nothing found"* ]]
	"$WEFT" fault pause-storm h1
	until_true first "pause-storm h1"
	run -1 "$WEFT" diagnose --live
	[[ "$output" == *"h1 port 1 to leaf0 sends pauses without a break"* ]]
}

@test "there is no fabric" {
	run -1 "$WEFT" diagnose --live --name nobody
	[[ "$output" == *nobody* ]]
}
