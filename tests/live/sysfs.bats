#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live checked
# The device below /sys and /dev, where programs and scripts look for it.

load common

PORT=/sys/class/infiniband/weft0/ports/1

@test "ibstatus, a shell script" {
	needs ibstatus
	up --fabric ib-ndr
	run on h2 ibstatus
	[ "$status" -eq 0 ]
	[[ "$output" == *"fe80:0000:0000:0000:00c0:deff:fe00:0002"*"0x3"*"4: ACTIVE"* ]]
	[[ "$output" == *"5: LinkUp"*"400 Gb/sec (4X NDR)"*"InfiniBand"* ]]
}

@test "each way to look at a file" {
	up
	[ "$(on h1 cat $PORT/gids/1)" = "0000:0000:0000:0000:0000:ffff:7f4d:0001" ]
	[ "$(on h1 cat $PORT/gid_attrs/types/1 $PORT/gid_attrs/ndevs/1 | tr '\n' ' ')" = "RoCE v2 lo " ]
	on h1 test -c /dev/infiniband/uverbs0
	on h1 test -d /sys/class/infiniband_verbs/uverbs0/device/
	[ "$(on h1 ls /sys/class/infiniband)" = weft0 ]
	on h1 ls -l /sys/class/infiniband/weft0/device/ /dev/infiniband | grep -q '^crw.*231, 192.*uverbs0'
	# shellcheck disable=SC2016
	[ "$(on h1 sh -c 'cd /sys/class/infiniband && echo * && cat weft0/node_guid')" = $'weft0\n00c0:deff:fe00:0001' ]
	[ "$(on h1 bash -c 'echo /sys/class/infiniband/*/ports/*')" = "$PORT" ]
	[ "$(on h1 find /sys/class/infiniband_verbs/ -name ibdev -exec cat {} +)" = weft0 ]
	on h1 python3 - <<-'END'
		import glob, os, stat
		top = "/sys/class/infiniband/weft0"
		assert os.listdir("/sys/class/infiniband") == ["weft0"]
		assert stat.S_ISCHR(os.stat("/dev/infiniband/uverbs0").st_mode)
		assert open(top + "/device/numa_node").read() == "-1\n"
		assert int(open(top + "/device/local_cpus").read().replace(",", ""), 16) != 0
		assert sorted(os.listdir(top + "/ports")) == ["1"]
		assert os.access(top + "/node_type", os.R_OK)
		assert os.access("/dev/infiniband/uverbs0", os.R_OK | os.W_OK)
		assert len(glob.glob(top + "/ports/*/gids/*")) == 8
		assert not os.path.exists(top + "/ports/2")
		assert "fw_ver" in [e.name for e in os.scandir(top)]
	END
	# What is not the device's is as it always was.
	[ "$(on h1 cat /proc/sys/kernel/hostname)" = "$(cat /proc/sys/kernel/hostname)" ]
	[ "$(on h1 ls /sys/class/net)" = "$(ls /sys/class/net)" ]
	run on h1 cat $PORT/no_such
	[ "$status" -ne 0 ]
}

@test "counters move, and stay when the programs are gone" {
	needs ibv_rc_pingpong
	up
	[ "$(on h1 cat $PORT/counters/port_xmit_packets)" = 0 ]
	pair ibv_rc_pingpong -g 0 -n 100 -s 4096 -m 4096
	for h in h1 h2; do
		packets=$(on $h cat $PORT/counters/port_xmit_packets)
		words=$(on $h cat $PORT/counters/port_xmit_data)
		late=$(on $h cat $PORT/hw_counters/local_ack_timeout_err)
		# 100 messages, and an acknowledgement of each of the other's at most, if none was late.
		[ "$packets" -ge 100 ]
		[ "$packets" -le 220 ] || [ "$late" -gt 0 ]
		# Words of four bytes: payload, and headers of less than 100 bytes.
		[ "$words" -ge $((100 * 4096 / 4)) ]
		[ "$words" -le $((packets * (4096 / 4 + 25))) ]
	done
	# What one of them sent, the other received, but for what came after its end.
	sent=$(on h1 cat $PORT/counters/port_xmit_data)
	received=$(on h2 cat $PORT/counters/port_rcv_data)
	[ "$received" -le "$sent" ]
	[ "$received" -ge $((100 * 4096 / 4)) ]
	# By a relative path and by a folder's descriptor, too.
	[ "$(on h1 sh -c "cd $PORT && cat counters/port_xmit_packets")" -ge 100 ]
	on h1 grep -r . $PORT/counters | grep -q 'port_xmit_packets:[1-9]'
	# Those of the transport: nothing was lost on the way.
	[ "$(on h2 cat $PORT/hw_counters/out_of_sequence)" = 0 ]
}

@test "nothing is left of it" {
	up --name a
	up --name b
	on_a() { timeout 300 "$WEFT" exec --name a --host h1 -- "$@"; }
	on_a true
	timeout 300 "$WEFT" exec --name b --host h1 -- true
	"$WEFT" down --name a
	left() { [ "$(ls "$WEFT_RUNTIME_DIR")" = "$1" ]; }
	until_true left $'b.sock\nb.sock.lock\nb.sock.sys'
	"$WEFT" down --name b
	until_true left ""
}
