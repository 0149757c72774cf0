#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live long timeout=3600
# rdma-core's own tests between two hosts: the client of a test in a program on h1, its server in one on h2
# (pyverbs_two_hosts.py). rdma_core.bats has them in one program.

load common

# The reasons for which one may be skipped: those of rdma_core.bats that tests with two players have.
allowed="Device memory is not supported
Allocating dmabuf is not supported by /dev/dri/renderD128
Create QP type 8 is not supported
Extended CQ is not supported
There are no huge pages of size 2M allocated
Must be run by root on Ethernet link layer"

# prepare: rdma-core's tests are in the folder tests.
prepare() {
	local from=/usr/share/doc/rdma-core/tests
	/usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null || skip "python3-pyverbs is not installed"
	[ -d "$from" ] || skip "rdma-core's tests are not installed (rdma-core's documentation)"
	[[ "$(dpkg-query -W -f '${Version}' rdma-core)" == 44.* ]] || skip "rdma-core's tests are not of version 44"
	cp -r "$from" tests
	gunzip -f tests/*.gz
	# Their patience is 10 seconds for what may have to wait for a CPU.
	sed -i 's/^POLL_CQ_TIMEOUT = 10/POLL_CQ_TIMEOUT = 300/' tests/utils.py
	grep -q '^POLL_CQ_TIMEOUT = 300' tests/utils.py
	# Fewer rounds: two processes ask each other at each step.
	sed -i 's/\biters = 100$/iters = 20/' tests/test_*.py
	sed -i 's/in range(client\.num_msgs):$/in range(50):/' tests/utils.py
	grep -q 'iters = 20$' tests/test_qpex.py
	grep -q 'in range(50):$' tests/utils.py
}

# across ARGS...: runs them between h1 and h2; what they tell is in suite.txt.
across() {
	timeout 3000 /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_two_hosts.py" tests "$@" >suite.txt 2>&1 || {
		cat suite.txt
		return 1
	}
	tail -1 suite.txt
	[[ "$(tail -1 suite.txt)" == *", 0 failed" ]]
	if sed -n 's/^skipped: [^:]*: //p' suite.txt | grep -vxE "$allowed"; then
		echo "is no reason to skip a test"
		return 1
	fi
}

# number KIND: how many tests are that.
number() {
	grep -c "^$1: tests\." suite.txt
}

# whole FABRIC: all of them.
whole() {
	prepare
	up --fabric "$1"
	across
	[ "$(number crossed)" -ge 74 ]
	[ "$(grep -c '^crossed: tests.test_rdmacm' suite.txt)" -eq 10 ]
	# All others are looked at, too: those that have one player, or whose players send nothing.
	[ "$(grep -c '^\(crossed\|silent\|local\|skipped\): ' suite.txt)" -eq 170 ]
	[ "$(number silent)" -eq 4 ]
}

@test "between two hosts over RoCE v2" {
	whole roce-400g
}

@test "between two hosts over InfiniBand" {
	whole ib-ndr
}

# modelled FABRIC: those of some modules, between two leaves.
modelled() {
	prepare
	printf 'topology: {kind: leaf-spine, hosts: 8, radix: 4, host_rate: 1Gbps}\nfabric: {profile: %s}\n' "$1" \
		>cluster.yaml
	up --pace none cluster.yaml
	across --only 'test_(atomic|cq_events|mr|parent_domain|rdmacm|qp_ex_(ud|rc)_)'
	[ "$(number crossed)" -ge 45 ]
	# Leaf, spine, leaf: each packet leaves three switches.
	"$WEFT" status --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
sent = sum(h["total"]["tx_packets"] for h in d["hosts"])
switched = sum(p["tx_packets"] for p in d["model"]["ports"] if p["switch"])
assert sent > 800 and switched > 2.9 * sent, (sent, switched)'
}

@test "through a modelled fabric, RoCE v2" {
	modelled roce-400g
}

@test "through a modelled fabric, InfiniBand" {
	modelled ib-ndr
}

@test "two programs on one host are not taken for two hosts" {
	prepare
	up --fabric roce-400g
	run /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_two_hosts.py" tests --hosts h1 h1 \
		--only 'test_cq_events|test_atomic_cmp_and_swap'
	[ "$status" -eq 1 ]
	[[ "$output" == *"failed: tests.test_cq_events.CqEventsTestCase.test_cq_events_rc: its players are on ['h1']"* ]]
	[[ "$output" != *"crossed: "* ]]
	[[ "$output" == *" 0 crossed, "*", 3 failed" ]]
}
