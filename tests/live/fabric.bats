#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live checked
# Fabrics begin and end, programs see their host's device.

bats_require_minimum_version 1.5.0
load common

@test "up, status, down" {
	up
	run "$WEFT" status
	[ "$status" -eq 0 ]
	[[ "$output" == *"RoCE v2, 2 hosts"* ]]
	"$WEFT" status --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert [h["name"] for h in d["hosts"]] == ["h1", "h2"], d
assert all(h["up"] and h["programs"] == [] for h in d["hosts"]), d'
	"$WEFT" down
	run "$WEFT" status
	[ "$status" -eq 1 ]
	[[ "$output" == *"weft up starts one"* ]]
}

@test "what hosts have sent is told when their programs have ended" {
	needs ibv_rc_pingpong
	up
	pair ibv_rc_pingpong -g 0 -n 100
	until_true alone
	"$WEFT" status --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert all(h["total"]["tx_packets"] >= 100 and h["programs"] == [] for h in d["hosts"]), d
assert all(h["total"]["qps"] == 0 for h in d["hosts"]), d'
	"$WEFT" status | awk '$1 ~ /^h[12]$/ && $6 >= 100 { n++ } END { exit n != 2 }'
}

@test "what a program sent before it rests is told while it rests" {
	/usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null || skip "python3-pyverbs is not installed"
	up
	spawn h2 /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_rests.py" >destination.txt
	until_true test -s destination.txt
	# shellcheck disable=SC2046
	spawn h1 /usr/bin/python3 -B "$WEFT_SOURCE_DIR/tests/live/pyverbs_rests.py" $(cat destination.txt)
	until_true above tx_packets 2 h1
}

@test "a program's name does not speak to the terminal" {
	needs ibv_asyncwatch
	up
	spawn h1 bash -c 'exec -a $'"'"'bad\e[2J\aname'"'"' ibv_asyncwatch' >server.txt 2>&1
	server=$pid
	named() { "$WEFT" status | grep -qF "bad?[2J?name"; }
	until_true named
}

@test "who waits for what weft up inherited does not wait for the fabric" {
	up 7> >(cat >/dev/null; touch done.txt)
	until_true test -e done.txt
	"$WEFT" status >/dev/null
}

@test "two of a name: the second is refused, and the first goes on" {
	up
	run up
	[ "$status" -eq 1 ]
	[[ "$output" == *"runs at"*"already"* ]]
	"$WEFT" status >/dev/null
}

@test "several side by side" {
	up
	up --name other --fabric ib-ndr --hosts 3
	[[ "$("$WEFT" status --name other)" == *"InfiniBand, 3 hosts"* ]]
	[[ "$("$WEFT" status)" == *"RoCE v2, 2 hosts"* ]]
	"$WEFT" down --name other
	"$WEFT" status >/dev/null
}

@test "a cluster file names the hosts" {
	cat >cluster.yaml <<-'END'
		topology: {kind: leaf-spine, hosts: 8, radix: 8}
		fabric: ib-hdr
	END
	up cluster.yaml
	[[ "$("$WEFT" status)" == *"InfiniBand, 8 hosts"* ]]
}

@test "what is wrong is said" {
	run up --hosts 0
	[ "$status" -eq 2 ]
	run up --fabric no-such
	[ "$status" -eq 2 ]
	[[ "$output" == *"no-such"* ]]
	run "$WEFT" down
	[ "$status" -eq 1 ]
	up
	run "$WEFT" exec --host h7 -- true
	[ "$status" -eq 2 ]
	[[ "$output" == *"no host 'h7'"* ]]
	run -127 "$WEFT" exec --host h1 -- /no/such/program
}

@test "a socket left by a daemon that was killed is taken over" {
	up_and_killed
	up
	"$WEFT" status >/dev/null
}

@test "what is preloaded brings no library along that only the daemon uses" {
	needs readelf
	lib=$(find "$(dirname "$WEFT")" "$(dirname "$WEFT")/../lib" -path '*/weft/libibverbs.so.1' 2>/dev/null | head -n 1)
	readelf -d "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >needed.txt
	grep -q '^libc\.so' needed.txt
	run grep -Ev '^(libc|libm|libgcc_s|ld-linux[-a-z0-9_]*|lib[a-z]*san)\.so' needed.txt
	[ "$status" -eq 1 ]
}

@test "without a fabric, exec starts a private one" {
	needs ibv_devinfo
	run on "" ibv_devinfo
	[ "$status" -eq 0 ]
	[[ "$output" == *"PORT_ACTIVE"* ]]
	# It goes with the program.
	nothing_left() { [ -z "$(ls "$WEFT_RUNTIME_DIR")" ]; }
	until_true nothing_left
}

@test "the device, on RoCE" {
	needs ibv_devices ibv_devinfo
	up
	run on h1 ibv_devices
	[ "$status" -eq 0 ]
	[[ "$output" == *"weft0"*"00c0defffe000001"* ]]
	run on h2 ibv_devinfo -v
	[ "$status" -eq 0 ]
	[[ "$output" == *"link_layer:"*"Ethernet"* ]]
	[[ "$output" == *"GID[  0]:"*"fe80::c0:deff:fe00:2, RoCE v2"* ]]
	[[ "$output" == *"GID[  1]:"*"::ffff:127.77.0.2, RoCE v2"* ]]
}

@test "the device, on InfiniBand" {
	needs ibv_devinfo
	up --fabric ib-ndr
	run on h2 ibv_devinfo -v
	[ "$status" -eq 0 ]
	[[ "$output" == *"port_lid:"*"3"*"InfiniBand"* ]]
	[[ "$output" == *"fe80:0000:0000:0000:00c0:deff:fe00:0002"* ]]
}

@test "status --watch shows it again and again, and ends with the fabric" {
	up
	"$WEFT" status --watch >watch.txt 2>&1 3>&- &
	client=$!
	twice() { [ "$(grep -c "2 hosts" watch.txt)" -ge 2 ]; }
	until_true twice
	"$WEFT" down
	rc=0
	ended "$client" || rc=$?
	client=
	[ "$rc" -eq 1 ]
	run "$WEFT" status --watch --json
	[ "$status" -eq 2 ]
}

@test "metrics for Prometheus" {
	needs curl ibv_rc_pingpong ib_write_lat
	port=$(free_port)
	up --metrics "127.0.0.1:$port"
	pair ibv_rc_pingpong -g 0 -n 100
	pair ib_write_lat -F -n 5
	"$WEFT" fault link h2 down
	curl -sf "http://127.0.0.1:$port/metrics" >metrics.txt
	grep -q '^node_infiniband_state_id{host="h1",device="weft0",port="1"} 4$' metrics.txt
	grep -q '^node_infiniband_state_id{host="h2",device="weft0",port="1"} 1$' metrics.txt
	awk '/^node_infiniband_port_packets_transmitted_total.host="h1"/ { seen = $2 } END { exit seen < 200 }' metrics.txt
	awk '/^node_infiniband_rx_write_requests_total.host="h1"/ { seen = $2 } END { exit seen < 5 }' metrics.txt
	run up --name other --metrics nowhere
	[ "$status" -eq 2 ]
}

@test "letters of options, and what completion knows of what runs" {
	"$WEFT" up -f ib-ndr -n letters --hosts 3
	[[ "$("$WEFT" status -n letters)" == "fabric "*"InfiniBand, 3 hosts"* ]]
	run -0 "$WEFT" completion --words -- weft status --name lett
	[ "$output" = "letters	a live fabric" ]
	WEFT_FABRIC=letters run -0 "$WEFT" completion --words -- weft exec -H ''
	[ "$(cut -f 1 <<<"$output" | paste -sd ' ')" = "h1 h2 h3" ]
	"$WEFT" down -n letters
	WEFT_FABRIC=letters run -0 "$WEFT" completion --words -- weft exec -H ''
	[ -z "$output" ]
}

@test "more addresses than there may be are refused with a word" {
	many=()
	for i in {1..17}; do many+=(--wire "h1=127.0.0.$i"); done
	run -2 "$WEFT" up "${many[@]}"
	[[ "$output" == *"weft up: --wire is there more than 16 times"* ]]
}

@test "metrics over IPv6, and what the answer is called" {
	needs curl
	grep -q . /proc/net/if_inet6 2>/dev/null || skip "there is no IPv6"
	port=$(free_port)
	up --metrics "[::1]:$port"
	curl -sf -D head.txt "http://[::1]:$port/metrics" >metrics.txt
	grep -q '^node_infiniband_state_id{host="h2",device="weft0",port="1"} 4$' metrics.txt
	tr -d '\r' <head.txt | grep -qx 'Content-Type: text/plain; version=0.0.4'
	[ "$(curl -s -o none.txt -w '%{http_code}' "http://[::1]:$port/other")" = 404 ]
	[ "$(curl -s -o none.txt -w '%{http_code}' -d x=y "http://[::1]:$port/metrics")" = 405 ]
	run up --name other --metrics "[::1]:$port:5"
	[ "$status" -eq 2 ]
}
