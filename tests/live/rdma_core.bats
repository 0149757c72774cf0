#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live timeout=2700
# rdma-core's own tests of a device, those that are of no vendor's. Debian has them in rdma-core's
# documentation, for the version of its pyverbs.

load common

# The reasons for which one may be skipped: what Linux's rxe has not got either, or this machine.
allowed="Device memory is not supported
Allocating dmabuf is not supported by /dev/dri/renderD128
Create QP type 8 is not supported
Create Raw Packet QP with(out)? (extended )?attrs is not supported
Extended CQ is not supported
There are no huge pages of size 2M allocated
Must be run by root on Ethernet link layer
To Create RAW QP must be done by root on Ethernet link layer
Link layer of port=1 is InfiniBand , skip RoCE test"

# suite FABRIC: runs them all on h1.
suite() {
	local from=/usr/share/doc/rdma-core/tests modules reasons
	/usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null || skip "python3-pyverbs is not installed"
	[ -d "$from" ] || skip "rdma-core's tests are not installed (rdma-core's documentation)"
	[[ "$(dpkg-query -W -f '${Version}' rdma-core)" == 44.* ]] || skip "rdma-core's tests are not of version 44"
	needs ip
	cp -r "$from" tests
	gunzip -f tests/*.gz
	# Their patience is 10 to 15 seconds for what may have to wait for a CPU.
	sed -i 's/timeout=15)/timeout=300)/; s/repeat_times=150/repeat_times=3000/' tests/base.py
	sed -i 's/^POLL_CQ_TIMEOUT = 10/POLL_CQ_TIMEOUT = 300/' tests/utils.py
	[ "$(cat tests/base.py tests/utils.py | grep -cE 'timeout=300|repeat_times=3000|TIMEOUT = 300')" -eq 3 ]
	modules=$(cd tests && ls test_*.py | grep -vE 'mlx5|efa|cuda' | sed 's/^/tests./; s/\.py$//')
	[ "$(wc -w <<<"$modules")" -ge 15 ]
	up --fabric "$1"
	# shellcheck disable=SC2086
	timeout 1200 "$WEFT" exec --host h1 -- /usr/bin/python3 -B tests/run_tests.py -v $modules \
		>suite.txt 2>&1 || {
		cat suite.txt
		return 1
	}
	grep -qE '^Ran 1[0-9][0-9] tests' suite.txt
	reasons=$(sed -nE "s/.*skipped ['\"](.*)['\"]\$/\1/p" suite.txt | sort -u)
	if grep -vxE "$allowed" <<<"$reasons"; then
		echo "is no reason to skip a test"
		return 1
	fi
}

# bats test_tags=checked
@test "rdma-core's tests over RoCE v2" {
	suite roce-400g
}

# bats test_tags=checked
@test "rdma-core's tests over InfiniBand" {
	suite ib-ndr
}
