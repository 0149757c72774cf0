#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# DAPL (libdapl2), which connects in three ways: with rdma_cm (cma), over TCP (scm), and with datagrams of its own (ucm).

load common

# dat HOST: the file that names DAPL's interfaces. Debian's has none for this device: cma is told the address of a host,
# which it looks up, or a network interface such as ib0, which is not there.
dat() {
	cat >"dat$1.conf" <<-END
		cma u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "127.77.0.$1 0" ""
		scm u2.0 nonthreadsafe default libdaploscm.so.2 dapl.2.0 "weft0 1" ""
		ucm u2.0 nonthreadsafe default libdaploucm.so.2 dapl.2.0 "weft0 1" ""
	END
}

# dtest_all WAY...: sends, writes, reads and looks at what came, connected in each of these ways.
dtest_all() {
	local way
	needs dtest
	# dtest has its TCP ports in its code: one at a time on this machine, whoever runs it.
	exec 8<"$(command -v dtest)"
	flock 8
	dat 1
	dat 2
	# The patience of ucm: tries, and milliseconds.
	export DAPL_UCM_RETRY=100 DAPL_UCM_REP_TIME=4000 DAPL_UCM_RTU_TIME=4000
	for way in "$@"; do
		DAT_OVERRIDE=$PWD/dat1.conf serve_at 15828 dtest -P "$way" -b 70000 -D
		if ! DAT_OVERRIDE=$PWD/dat2.conf ask dtest -P "$way" -b 70000 -D -h 127.77.0.1 ||
			! grep "DAPL Test Complete. PASSED" client.txt; then
			echo "over $way"
			cat client.txt server.txt
			return 1
		fi
		served
		# dtest's status is 0 whatever it found.
		if ! grep "DAPL Test Complete. PASSED" server.txt; then
			echo "over $way"
			cat server.txt
			return 1
		fi
	done
	[ "$(on h1 cat /sys/class/infiniband/weft0/ports/1/counters/port_rcv_packets)" -gt 1000 ]
}

# ucm sends its datagrams to LIDs, without a global route, so that RoCE has none for it.
# bats test_tags=long
@test "DAPL over RoCE v2" {
	up
	dtest_all cma
}

# bats test_tags=long
@test "DAPL over InfiniBand" {
	up --fabric ib-ndr
	dtest_all scm ucm
}
