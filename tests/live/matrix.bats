#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# perftest's whole matrix: operation, bandwidth or latency, service, polling or events; on both fabrics, directly
# and through the modelled fabric. A few iterations of each. What the services cannot do is not there: no reads and
# atomics but over reliable ones, no writes of datagrams; and perftest writes without events.

load common

# cells: a line for each, program and options. Builds that are slow take every seventh, which are of all kinds.
cells() {
	local op kind service every=7
	[ "${WEFT_BUILD_TYPE:-}" != Release ] || every=1
	for kind in bw lat; do
		for service in RC UC XRC; do
			echo "ib_write_$kind -c $service"
		done
		for op in read atomic; do
			for service in RC XRC; do
				echo "ib_${op}_$kind -c $service"
				echo "ib_${op}_$kind -c $service -e"
			done
		done
		for service in RC UC UD XRC; do
			echo "ib_send_$kind -c $service"
			echo "ib_send_$kind -c $service -e"
		done
	done | awk -v every=$every 'NR % every == 0'
}

# matrix: each cell between h1 and h2, whose packets are counted.
matrix() {
	local cell n=0
	needs ib_write_bw
	while read -r cell; do
		# shellcheck disable=SC2086
		pair $cell -F -n 5 <&-
		n=$((n + 1))
	done < <(cells)
	[ "${WEFT_BUILD_TYPE:-}" != Release ] || [ "$n" -eq 38 ]
	[ "$(on h2 cat /sys/class/infiniband/weft0/ports/1/counters/port_xmit_packets)" -ge $((n * 5)) ]
}

@test "RoCE v2, direct" {
	up
	matrix
}

@test "InfiniBand, direct" {
	up --fabric ib-ndr
	matrix
}

@test "RoCE v2, modelled" {
	up "$WEFT_SOURCE_DIR/examples/live-two-tiers.yaml"
	matrix
}

@test "InfiniBand, modelled" {
	up "$WEFT_SOURCE_DIR/examples/live-two-tiers.yaml" --fabric ib-ndr
	matrix
}
