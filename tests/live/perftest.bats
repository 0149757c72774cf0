#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# perftest, as Debian ships it: every operation and service, inline, events, several queue pairs.

load common

# quick PROGRAM ARGS...: a short run.
quick() {
	local program=$1
	shift
	pair "$program" -F -n 100 "$@"
}

# operations: what all fabrics do.
operations() {
	quick ib_write_bw
	quick ib_write_bw -c UC
	quick ib_write_bw -q 4 -b
	quick ib_write_bw --use_old_post_send
	quick ib_write_lat -s 64 -I 64
	quick ib_read_bw
	quick ib_read_bw -e
	quick ib_read_lat
	quick ib_send_bw
	quick ib_send_bw -c UC
	quick ib_send_bw -c UD
	quick ib_send_bw -e
	quick ib_send_bw -q 4 --use-srq
	quick ib_send_bw -b
	quick ib_send_bw -s 64 -I 64
	quick ib_send_lat
	quick ib_send_lat -c UD
	quick ib_atomic_bw -A FETCH_AND_ADD -q 4
	quick ib_atomic_lat -A CMP_AND_SWAP
}

@test "RoCE v2" {
	needs ib_write_bw
	up
	operations
}

@test "InfiniBand" {
	needs ib_write_bw
	up --fabric ib-ndr
	operations
}

@test "multicast" {
	needs ib_send_bw
	up
	# By the IPv6 GID: perftest wants both GIDs of one kind, and that of the group is IPv6.
	quick ib_send_bw -c UD -g -x 0
}

@test "a thousand queue pairs" {
	needs ib_write_bw
	up
	pair ib_write_bw -F -q 1000 -n 5 -s 4096
}
