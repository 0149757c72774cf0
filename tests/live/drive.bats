#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# Who moves an adapter on: senders that sleep are woken, and those that are paced lose nothing by sleeping.

load common

# events KIND ROUNDS: a sender of that kind that waits for events, to a receiver that sleeps.
events() {
	needs cc
	cc -O2 -Wall -Wextra -Werror -o events "$WEFT_SOURCE_DIR/tests/live/events.c" -libverbs
	spawn h1 ./events . 0 "$1" "$2" >server.txt 2>&1
	server=$pid
	on h2 ./events . 1 "$1" "$2" >client.txt 2>&1 || {
		cat server.txt client.txt
		return 1
	}
	ended "$server"
	server=
	cat server.txt client.txt
	grep -q "$2 rounds, all completed" client.txt
}

@test "UC: a sender that waits for events is woken when there is room" {
	up
	events uc 50
}

@test "UD: a sender that waits for events is woken when there is room" {
	up
	events ud 400
}
