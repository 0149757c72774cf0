#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live long
# perftest's whole matrix: operation, bandwidth or latency, service, polling or events; on both fabrics, directly
# and through the modelled fabric. A few iterations of each. What the services cannot do is not there: no reads and
# atomics but over reliable ones, no writes of datagrams; and perftest writes without events.

load common

# cells PART: a line for each, program and options. There are four parts, one for each fabric; with WEFT_TEST_ALL every
# cell is run on all.
cells() {
	local op kind service every=4 part=$1 unit=
	[ -z "${WEFT_TEST_ALL-}" ] || every=1 part=0
	for kind in bw lat; do
		# In cycles: what it tells nobody reads, and for microseconds it spins for 0.2 s to find out how long those are.
		[ $kind = bw ] || unit=" -C"
		for service in RC UC XRC; do
			echo "ib_write_$kind -c $service$unit"
		done
		for op in read atomic; do
			for service in RC XRC; do
				echo "ib_${op}_$kind -c $service$unit"
				echo "ib_${op}_$kind -c $service -e$unit"
			done
		done
		for service in RC UC UD XRC; do
			echo "ib_send_$kind -c $service$unit"
			echo "ib_send_$kind -c $service -e$unit"
		done
	done | awk -v every=$every -v part="$part" 'NR % every == part'
}

# matrix PART: each of its cells between h1 and h2, whose packets are counted.
matrix() {
	local cell n=0
	needs ib_write_bw
	while read -r cell; do
		# shellcheck disable=SC2086
		pair $cell -F -n 5 <&-
		n=$((n + 1))
	done < <(cells "$1")
	if [ -n "${WEFT_TEST_ALL-}" ]; then
		[ "$n" -eq 38 ]
	else
		[ "$n" -ge 9 ]
	fi
	[ "$(on h2 cat /sys/class/infiniband/weft0/ports/1/counters/port_xmit_packets)" -ge $((n * 5)) ]
}

@test "RoCE v2, direct" {
	up
	matrix 0
}

@test "InfiniBand, direct" {
	up --fabric ib-ndr
	matrix 1
}

@test "RoCE v2, modelled" {
	up "$WEFT_SOURCE_DIR/examples/live-two-tiers.yaml"
	matrix 2
}

@test "InfiniBand, modelled" {
	up "$WEFT_SOURCE_DIR/examples/live-two-tiers.yaml" --fabric ib-ndr
	matrix 3
}
