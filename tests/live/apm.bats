#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# Automatic path migration by the verbs, and the bit MigReq of the packets as Wireshark reads it.

bats_require_minimum_version 1.5.0
load common

# migreq: of the packets of reliable connections in apm.pcapng, in order, the values of MigReq that follow each other.
migreq() {
	tshark -r apm.pcapng -Y 'infiniband.bth.opcode <= 31' -T fields -e infiniband.bth.m 2>tshark.txt |
		sed 's/True/1/; s/False/0/' | uniq | tr -d '\n'
}

apm() {
	/usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null || skip "python3-pyverbs is not installed"
	needs tshark
	up "$@"
	"$WEFT" capture -o apm.pcapng 2>capture.txt 3>&- &
	capture=$!
	until_true grep -q listening capture.txt
	on h1 /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_apm.py" >apm.txt 2>&1 || { cat apm.txt; return 1; }
	kill -INT "$capture"
	ended "$capture"
	[ "$(tr '\n' ' ' <apm.txt)" = "migrated armed moved back " ] || { cat apm.txt; return 1; }
	# Both at 1; one says 0 to the other's 1; both 0; one has migrated and then the other, 1; 0 again; 1.
	[[ "$(migreq)" =~ ^1(01)+01(0)1$ ]] || { migreq; return 1; }
}

@test "alternate paths over RoCE v2" {
	apm
}

@test "alternate paths over InfiniBand" {
	apm --fabric ib-ndr
}
