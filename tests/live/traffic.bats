#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# Mixed traffic over links that lose and corrupt packets: every byte and every count is right. scripts/soak is
# the same for longer.

load common

# mixed MEGABYTES: both ways at once.
mixed() {
	needs cc
	cc -O2 -Wall -Wextra -Werror -o traffic "$WEFT_SOURCE_DIR/tests/live/traffic.c" -libverbs
	spawn h1 ./traffic . 0 "$1" >server.txt 2>&1
	server=$pid
	ask ./traffic . 1 "$1"
	served
	cat server.txt client.txt
	grep -q "all is right" server.txt
	grep -q "all is right" client.txt
}

# again: what was lost was sent again.
again() {
	[ "$(on h1 cat /sys/class/infiniband/weft0/ports/1/hw_counters/packet_seq_err)" -gt 0 ]
	[ "$(on h1 cat /sys/class/infiniband/weft0/ports/1/hw_counters/duplicate_request)" -gt 0 ]
}

@test "RoCE v2, 0.1 % lost and 0.1 % corrupted on each link" {
	up
	"$WEFT" fault loss 0.1% corrupt 0.1%
	mixed 64
	again
}

@test "InfiniBand, 0.1 % lost and 0.1 % corrupted on each link" {
	up --fabric ib-ndr
	"$WEFT" fault loss 0.1% corrupt 0.1%
	mixed 64
	again
}
