#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# perftest, as Debian ships it: inline, shared receive queues, lists of work requests, several queue pairs.
# matrix.bats has every operation with every service, polling and with events.

load common

# quick PROGRAM ARGS...: a short run.
quick() {
	local program=$1
	shift
	pair "$program" -F -n 100 "$@"
}

# operations: what all fabrics do.
operations() {
	quick ib_write_bw -q 4 -b
	quick ib_write_bw --use_old_post_send
	quick ib_write_lat -C -s 64 -I 64
	quick ib_send_bw -q 4 --use-srq
	quick ib_send_bw -b
	quick ib_send_bw -s 64 -I 64
	quick ib_atomic_bw -A FETCH_AND_ADD -q 4
	quick ib_atomic_lat -C -A CMP_AND_SWAP
}

# bats test_tags=long
@test "RoCE v2" {
	needs ib_write_bw
	up
	operations
}

# bats test_tags=long
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

# bats test_tags=long
@test "a thousand queue pairs" {
	needs ib_write_bw
	up
	pair ib_write_bw -F -q 1000 -n 5 -s 4096
}
