#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# Programs and libraries on top of verbs, as Debian ships them, on both fabrics: UCX, Open MPI, libfabric,
# qperf, pyverbs.

load common

# ucx TEST SIZE: ucx_perftest between h1 and h2, over what UCX_TLS says.
ucx() {
	local port
	port=$(free_port)
	serve_at "$port" ucx_perftest -p "$port"
	if ! on h2 ucx_perftest -p "$port" -t "$1" -n 200 -s "$2" 127.0.0.1 >client.txt 2>&1; then
		echo "ucx_perftest -t $1 over $UCX_TLS:"
		cat client.txt server.txt
		return 1
	fi
	grep -q '^Final: *200 ' client.txt
	served
}

# ucx_all: over reliable connections and over datagrams.
ucx_all() {
	local test
	export UCX_NET_DEVICES=weft0:1 UCX_WARN_UNUSED_ENV_VARS=n
	for UCX_TLS in rc_v,ud_v:aux ud_v; do
		export UCX_TLS
		for test in tag_lat tag_bw ucp_put_lat ucp_get stream_bw; do
			ucx $test 2000
		done
		ucx ucp_fadd 8
	done
	# Data went over the fabric, and not another way.
	[ "$(on h1 cat /sys/class/infiniband/weft0/ports/1/counters/port_rcv_packets)" -gt 1000 ]
}

@test "UCX finds the device" {
	needs ucx_info
	up
	run on h1 ucx_info -d
	[ "$status" -eq 0 ]
	[[ "$output" == *"Transport: rc_verbs"*"Device: weft0:1"* ]]
	[[ "$output" == *"Transport: ud_verbs"*"Device: weft0:1"* ]]
}

@test "UCX over RoCE v2" {
	needs ucx_perftest
	up
	ucx_all
}

# bats test_tags=long
@test "UCX over InfiniBand" {
	needs ucx_perftest
	up --fabric ib-ndr
	ucx_all
}

# mpi ARGS...: eight ranks on four hosts; what they compute is checked. HOSTS: the hosts' names.
mpi() {
	local hosts=${HOSTS-h1 h2 h3 h4}
	needs mpicc mpirun
	[ -x sums ] || mpicc -o sums "$WEFT_SOURCE_DIR/tests/live/sums.c"
	cat >rank.sh <<-END
		#!/bin/sh
		hosts="$hosts"
		exec "$WEFT" exec --host \$(echo \$hosts | cut -d' ' -f\$((OMPI_COMM_WORLD_RANK % 4 + 1))) -- "\$@"
	END
	chmod +x rank.sh
	# Ranks look like being on one machine, and must not take its shared memory.
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 UCX_WARN_UNUSED_ENV_VARS=n \
		timeout 600 mpirun --oversubscribe -np 8 --mca mpi_yield_when_idle 1 \
		-x UCX_WARN_UNUSED_ENV_VARS "$@" ./rank.sh ./sums
	for h in $hosts; do
		[ "$(on $h cat /sys/class/infiniband/weft0/ports/1/counters/port_rcv_packets)" -gt 100 ]
	done
}

# bats test_tags=long
@test "Open MPI over UCX, eight ranks on four hosts, RoCE v2" {
	up --hosts 4
	mpi --mca pml ucx --mca osc ucx -x UCX_TLS=rc_v,ud_v:aux -x UCX_NET_DEVICES=weft0:1
}

# bats test_tags=long
@test "Open MPI over UCX, eight ranks on four hosts, InfiniBand" {
	up --hosts 4 --fabric ib-ndr
	mpi --mca pml ucx --mca osc ucx -x UCX_TLS=rc_v,ud_v:aux -x UCX_NET_DEVICES=weft0:1
}

# Debian's has no connection manager for RoCE, and knows no speed above HDR. Its patch of munmap() does not
# go with that of the address sanitizer, and eight ranks that poll have much to wait for in such a build.
# bats test_tags=long
@test "Open MPI over its own verbs code, eight ranks on four hosts, InfiniBand" {
	cat >cluster.yaml <<-END
		name: cluster
		topology: {kind: single, hosts: 4, host_rate: 200Gbps}
		fabric: ib-hdr
		live: {pace: direct}
	END
	up cluster.yaml
	HOSTS="h0 h1 h2 h3" mpi --mca pml ob1 --mca btl openib,self --mca btl_openib_allow_ib 1 \
		--mca btl_openib_warn_no_device_params_found 0 --mca memory ^patcher
}

# qperf_all N ARGS...: so many tests, each of which measures something, for a second, which is its least.
qperf_all() {
	local n=$1 port
	shift
	needs qperf
	port=$(free_port)
	serve_at "$port" qperf -lp "$port"
	# Its own patience is five seconds.
	run on h2 qperf -to 120 -lp "$port" -t 1 "$@"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c ' = ' <<<"$output")" -ge "$n" ]
	on h2 qperf -lp "$port" 127.0.0.1 quit
	ends "$server"
	server=
}

# bats test_tags=long
@test "qperf over InfiniBand" {
	up --fabric ib-ndr
	qperf_all 4 127.0.0.1 rc_lat rc_rdma_write_bw uc_lat ud_bw
}

# On RoCE it connects with rdma_cm only, since it knows LIDs and no GIDs; and that only for RC.
# bats test_tags=long
@test "qperf over RoCE v2, with rdma_cm" {
	up
	qperf_all 3 -cm 1 127.77.0.1 rc_bw rc_rdma_read_bw rc_fetch_add_mr
}

@test "libfabric finds the device" {
	needs fi_info
	up
	run on h1 fi_info -p verbs
	[ "$status" -eq 0 ]
	[[ "$output" == *"weft0"* ]]
}

# fi_all: each kind of endpoint, what arrives compared; all but datagrams connect with rdma_cm. Where a message and its
# sender's disconnect are looked at together, ofi_rxm of libfabric 1.17 gives the message's buffer to the endpoint that
# it has just freed (rxm_close_conn); with shared receive queues the buffer is not the endpoint's.
fi_all() {
	local port kind
	export FI_OFI_RXM_USE_SRX=1
	for kind in "verbs;ofi_rxd rdm" "verbs dgram" "verbs msg" "verbs;ofi_rxm rdm"; do
		port=$(free_port)
		serve_at "$port" fi_pingpong -B "$port" -p "${kind% *}" -e "${kind#* }" -c -I 20
		if ! on h2 fi_pingpong -P "$port" -p "${kind% *}" -e "${kind#* }" -c -I 20 127.0.0.1 \
			>client.txt 2>&1; then
			echo "fi_pingpong over $kind:"
			cat client.txt server.txt
			return 1
		fi
		grep -q '^1k  *20 ' client.txt
		served
	done
}

# bats test_tags=long
@test "libfabric over RoCE v2" {
	needs fi_pingpong
	up
	fi_all
}

# bats test_tags=long
@test "libfabric over InfiniBand" {
	needs fi_pingpong
	up --fabric ib-ndr
	fi_all
}

@test "pyverbs: queue pairs, memory, completion events" {
	/usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null || skip "python3-pyverbs is not installed"
	for fabric in roce-400g ib-ndr; do
		up --fabric $fabric
		on h1 /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_traffic.py"
		"$WEFT" down
	done
}

@test "pyverbs: memory that is not there any more" {
	/usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null || skip "python3-pyverbs is not installed"
	up
	on h1 /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_missing.py"
}

@test "pyverbs: asynchronous events" {
	/usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null || skip "python3-pyverbs is not installed"
	up
	spawn h1 /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_events.py" >server.txt 2>&1
	server=$pid
	until_true grep -q '^port$' server.txt
	"$WEFT" fault link h1 down
	until_true grep -q '^down$' server.txt
	[ "$(on h1 cat /sys/class/infiniband/weft0/ports/1/state)" = "1: DOWN" ]
	"$WEFT" fault link h1 up
	until_true grep -q '^up$' server.txt
	[ "$(on h1 cat /sys/class/infiniband/weft0/ports/1/state)" = "4: ACTIVE" ]
	served
}
