#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# RoCE v1: the GIDs that are of that type, programs that use them, and what their packets are on the wire.

load common

# has FILTER: how many packets of the capture match.
has() {
	tshark -r all.pcapng -Y "$1" 2>/dev/null | wc -l
}

# captured FABRIC...: programs over RoCE v1 while a capture runs. Each of five WRITEs is there as sent and as received,
# and more often where a program waited so long for a CPU that it sent it again.
captured() {
	needs ib_write_bw ibv_ud_pingpong tshark
	up "$@"
	"$WEFT" capture -o all.pcapng 2>capture.txt 3>&- &
	client=$!
	until_true grep -q listening capture.txt
	pair ib_write_bw -F -n 5 -s 4096 -x 3
	pair ib_send_lat -F -C -n 5 -c UD -x 4
	pair ibv_ud_pingpong -n 5 -g 3
	kill -INT "$client"
	ended "$client"
	client=
	# Ethernet, a VLAN tag, GRH, BTH, RETH, payload, ICRC; between link-local GIDs, and nothing else.
	[ "$(has "infiniband.bth.opcode == 10 && vlan.etype == 0x8915 && frame.len == 4186")" -ge 10 ]
	[ "$(has "infiniband.bth.opcode == 10 && infiniband.grh.dgid != fe80::c0:deff:fe00:$near")" -eq 0 ]
	[ "$(has "infiniband.bth.opcode == 10 && infiniband.grh.sgid == fe80::c0:deff:fe00:$near")" -eq 0 ]
	[ "$(has "infiniband && !(infiniband.grh && vlan.etype == 0x8915)")" -eq 0 ]
	[ "$(has "_ws.malformed || _ws.expert.severity >= 6291456")" -eq 0 ]
}

@test "each GID is of both types" {
	up
	types=$(on h1 sh -c 'cd /sys/class/infiniband/weft0/ports/1; grep -H . gids/[0-5] gid_attrs/types/*')
	echo "$types"
	[ "$(grep -c 'types/[01]:RoCE v2' <<<"$types")" -eq 2 ]
	[ "$(grep -c 'types/[34]:IB/RoCE v1' <<<"$types")" -eq 2 ]
	[ "$(grep -c types <<<"$types")" -eq 4 ]
	for i in 0 1; do
		[ "$(sed -n "s/gids.$i://p" <<<"$types")" = "$(sed -n "s/gids.$((i + 3))://p" <<<"$types")" ]
	done
	run -0 on h1 ibv_devinfo -v
	[[ "$output" == *"GID[  1]:"*"::ffff:127.77.0.1, RoCE v2"*"GID[  3]:"*", RoCE v1"*"GID[  4]:"*", RoCE v1"* ]]
	/usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null || return 0
	on h1 /usr/bin/python3 -c '
import pyverbs.device as d
c = d.Context(name="weft0")
assert [(e.gid_index, e.gid_type) for e in c.query_gid_table(8)] == [(0, 2), (1, 2), (3, 1), (4, 1)]
assert c.query_gid_ex(port_num=1, gid_index=4).gid_type == 1'
}

@test "programs over RoCE v1, direct" {
	near=1 captured
}

# bats test_tags=long
@test "programs over RoCE v1, modelled" {
	near=2 captured "$WEFT_SOURCE_DIR/examples/live-two-tiers.yaml"
}

@test "a live fabric is not of one version" {
	sed 's/profile: roce-400g/profile: roce-400g-nocc\n  header: rocev1/' \
		"$WEFT_SOURCE_DIR/examples/live-two-tiers.yaml" >cluster.yaml
	run up cluster.yaml
	[ "$status" -ne 0 ]
	[[ "$output" == *"by the index of their GID"* ]]
}
