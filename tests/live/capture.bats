#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# weft capture: what programs send and receive, as Wireshark reads it; checked against the counters, and byte
# by byte by read_capture.py, which shares no code with weft.

bats_require_minimum_version 1.5.0
load common

teardown() {
	local pid
	for pid in ${server:+"$server"} ${client:+"$client"} ${captures-}; do
		kill -9 "$pid" 2>/dev/null || true
	done
	"$WEFT" down 2>/dev/null || true
	"$WEFT" down --name b 2>/dev/null || true
	rm -rf "$WEFT_RUNTIME_DIR"
}

# capture NAME ARGS...: begins to capture into NAME.pcapng; what it says is in NAME.txt, its number in $capture.
capture() {
	local name=$1
	shift
	"$WEFT" capture -o "$name.pcapng" "$@" 2>"$name.txt" 3>&- &
	capture=$!
	captures="${captures-} $capture"
	until_true grep -q listening "$name.txt"
}

# end_capture [SIGNAL]: ends the last one, which ends well.
end_capture() {
	kill "-${1:-INT}" "$capture"
	ended "$capture"
}

# decode NAME: what tshark finds in NAME.pcapng goes to NAME.fields, a line for each packet; nothing is wrong.
decode() {
	tshark -r "$1.pcapng" -T fields -e frame.interface_name -e frame.cap_len -e frame.len -e ip.src -e ip.dst \
		-e eth.dst -e infiniband.lrh.slid -e infiniband.lrh.dlid -e infiniband.grh.dgid \
		-e infiniband.bth.opcode -e infiniband.mad.attributeid -e _ws.malformed \
		-e _ws.expert.severity >"$1.fields" 2>tshark.txt || { cat tshark.txt; return 1; }
	! awk -F '\t' '{split($13, s, ","); bad = $12 != ""; for (i in s) if (s[i] >= 6291456) bad = 1
		if (bad) {print "packet " NR ": " $0}}' "$1.fields" | grep .
}

# count NAME AWK: packets of NAME.fields that match.
count() {
	awk -F '\t' '{name = $1; captured = $2; len = $3; src = $4; dst = $5; mac = $6; slid = $7; dlid = $8
		dgid = $9; opcode = $10; mad = $11}
		'"$2"' {n++} END {print n + 0}' "$1.fields"
}

# counters HOST: what its port has counted.
counters() {
	"$WEFT" exec --host "$1" -- sh -c 'cd /sys/class/infiniband/weft0/ports/1/counters &&
		cat port_xmit_packets port_rcv_packets port_xmit_data port_rcv_data' | tr '\n' ' '
}

# shows NAME PYTHON: the expression about what is in NAME.pcapng (t, and its interfaces i) is true.
shows() {
	[ "$1.json" -nt "$1.pcapng" ] ||
		python3 "$WEFT_SOURCE_DIR/tests/live/read_capture.py" "$1.pcapng" >"$1.json" || return 1
	python3 -c '
import json, sys
t = json.load(open(sys.argv[1]))
i = t["interfaces"]
if not eval("(" + sys.argv[2] + ")"):
    sys.exit(f"{sys.argv[2]}: not so: {t}")' "$1.json" "$2"
}

# is_all NAME: every packet that the counters of h1 and h2 know of is in it, or it knows that it missed it.
is_all() {
	local host tx rx txd rxd
	for host in h1 h2; do
		read -r tx rx txd rxd <<<"$(counters "$host")"
		# What arrived and was dropped is in the capture, but not among the packets received.
		shows "$1" "i['$host']['in'] + i['$host']['out'] + i['$host']['missed'] ==
			i['$host']['received'] >= $tx + $rx"
		shows "$1" "i['$host']['missed'] > 0 or i['$host']['out'] == $tx and
			i['$host']['out_bytes'] // 4 == $txd and i['$host']['in_bytes'] // 4 == $rxd"
	done
	shows "$1" "t['bad_icrc'] == 0 and t['statistics'] == len(i)"
	grep -qx "$(shows_number "$1" "t['packets']") packets captured" "$1.txt"
	grep -qx "$(shows_number "$1" "sum(x['missed'] for x in i.values())") packets missed" "$1.txt"
}

shows_number() {
	python3 -c '
import json, sys
t = json.load(open(sys.argv[1]))
i = t["interfaces"]
print(eval(sys.argv[2]))' "$1.json" "$2"
}

# connect: a connection of librdmacm, and a few messages.
connect() {
	spawn h1 rping -s -a 127.77.0.1 -C 5 >server.txt 2>&1
	server=$pid
	until_true above listens 0
	ask rping -c -a 127.77.0.1 -C 5
	served
}

@test "RoCE v2: every kind of packet, and no other count than the adapters'" {
	needs tshark ibv_rc_pingpong ib_atomic_lat ib_read_lat rping
	up
	capture o
	pair ibv_rc_pingpong -g 0 -n 50 -s 3001 -c
	pair ibv_uc_pingpong -g 1 -n 10
	pair ibv_ud_pingpong -g 1 -n 10
	pair ib_atomic_lat -F -C -x 1 -n 5
	pair ib_read_lat -F -C -x 1 -n 5 -s 5000
	end_capture
	is_all o
	shows o "t['cut'] == 0"
	decode o
	for opcode in 0 2 12 13 15 17 18 20 32 100; do
		[ "$(count o "opcode == $opcode")" -gt 0 ]
	done
	# A connection's messages, by name, from the one to the other, as sent and as received.
	capture cm
	connect
	end_capture
	decode cm
	shows cm "t['bad_icrc'] == 0"
	[ "$(count cm 'mad == "0x0010"')" -eq 2 ]
	[ "$(count cm 'mad == "0x0010" && src == "127.77.0.2" && name == "h2"')" -eq 1 ]
	[ "$(count cm 'mad == "0x0013" && src == "127.77.0.1" && name == "h2"')" -eq 1 ]
}

# bats test_tags=long
@test "InfiniBand: every kind of packet, and no other count than the adapters'" {
	needs tshark ibv_rc_pingpong ibv_xsrq_pingpong ib_atomic_lat rping
	up --fabric ib-ndr
	capture o
	pair ibv_rc_pingpong -n 50 -s 3001 -c
	pair ibv_ud_pingpong -n 10
	pair ibv_xsrq_pingpong -n 10
	pair ib_atomic_lat -F -C -n 5
	end_capture TERM
	is_all o
	decode o
	for opcode in 0 2 17 18 20 100 160 177; do
		[ "$(count o "opcode == $opcode")" -gt 0 ]
	done
	capture cm
	connect
	end_capture
	decode cm
	shows cm "t['bad_icrc'] == 0"
	[ "$(count cm 'mad == "0x0010" && slid == 3')" -eq 2 ]
}

# bats test_tags=long
@test "what is too much is missed, and counted; --snaplen cuts packets" {
	needs tshark ib_write_bw
	up
	capture all
	all=$capture
	capture cut --snaplen 80
	# One does not keep up. What it has room for is 4 MiB.
	halt "$all"
	pair ib_write_bw -F -x 1 -n 100
	kill -CONT "$all"
	end_capture
	capture=$all end_capture
	is_all all
	is_all cut
	shows all "i['h1']['missed'] > 300 and i['h2']['missed'] > 300 and i['h1']['in'] > 500"
	shows cut "t['cut'] > 0"
	decode cut
	[ "$(count cut 'captured > 80')" -eq 0 ]
	[ "$(count cut 'captured == 80 && len == 4170')" -gt 0 ]
}

@test "readable while it runs; --host, --count and --duration; several at once" {
	needs tshark ibv_rc_pingpong
	up --hosts 3
	capture h1 --host h1
	first=$capture
	capture ten --count 10 --host h2 --host h3
	ten=$capture
	capture short --duration 1ms
	ended "$capture"
	shows short "t['packets'] == 0 and list(i) == ['h1', 'h2', 'h3'] and t['statistics'] == 3"
	pair ibv_rc_pingpong -g 0 -n 10
	ended "$ten"
	shows ten "t['packets'] == 10 and list(i) == ['h2', 'h3']"
	decode ten
	# 10 messages of 4 packets and their acknowledgements, there and back; it goes on.
	in_file() { decode h1 && [ "$(count h1 'opcode != ""')" -ge 82 ]; }
	until_true in_file
	kill -0 "$first"
	pair ibv_rc_pingpong -g 0 -n 10
	capture=$first end_capture
	read -r tx rx _ <<<"$(counters h1)"
	shows h1 "t['packets'] == $tx + $rx and list(i) == ['h1']"
}

@test "into a pipe" {
	needs tshark ibv_rc_pingpong
	up
	("$WEFT" capture -o - --count 40 2>pipe.txt; echo "ended with $?" >>pipe.txt) 3>&- |
		tshark -r - >read.txt 2>/dev/null 3>&- &
	client=$!
	until_true grep -q listening pipe.txt
	pair ibv_rc_pingpong -g 0 -n 10
	ended "$client"
	client=
	[ "$(wc -l <read.txt)" -eq 40 ]
	grep -q "40 packets captured" pipe.txt
	grep -q "ended with 0" pipe.txt
	# Whoever reads goes away, and the capture with it.
	("$WEFT" capture 2>again.txt; echo "ended with $?" >>again.txt) 3>&- | head -c 1000 >read.bin 3>&- &
	client=$!
	until_true grep -qs listening again.txt
	pair ibv_rc_pingpong -g 0 -n 10
	ended "$client"
	client=
	until_true grep -q "ended with 0" again.txt
	[ "$(stat -c %s read.bin)" -eq 1000 ]
}

# bats test_tags=long
@test "who dies harms nobody else" {
	needs ibv_rc_pingpong
	up
	capture victim
	victim=$capture
	capture o --snaplen 64
	both ibv_rc_pingpong -g 0 -n 100000000
	until_true above rx_packets 2000
	# A capture is killed while programs feed it: they go on.
	kill -9 "$victim"
	until_true above rx_packets $(($(total rx_packets) + 2000))
	# Programs are killed: the other capture goes on, and has what they sent.
	kill -9 "$server" "$client"
	ends "$server"
	ends "$client"
	server= client=
	pair ibv_rc_pingpong -g 0 -n 10
	# The fabric ends, and the capture with it.
	"$WEFT" down
	ended "$capture"
	shows o "t['bad_icrc'] == 0 and t['packets'] > 1000 and t['statistics'] == 2 and
		all(x['in'] + x['out'] + x['missed'] == x['received'] for x in i.values())"
}

# bats test_tags=long
@test "groups, packets that come corrupted, and the wire" {
	needs tshark mckey ibv_rc_pingpong ib_send_bw
	for fabric in roce-400g ib-ndr; do
		up --fabric $fabric
		capture $fabric
		spawn h1 stdbuf -oL mckey -m 239.1.2.3 -C 5 >server.txt 2>&1
		server=$pid
		until_true grep -q "receiving data transfers" server.txt
		ask mckey -m 239.1.2.3 -s -C 5
		served
		end_capture
		decode $fabric
		# Who sends is in the group, too.
		shows $fabric "t['bad_icrc'] == 0 and i['h1']['in'] == i['h2']['in'] == i['h2']['out'] == 5"
		"$WEFT" down
	done
	[ "$(count roce-400g 'dst == "239.1.2.3" && mac == "01:00:5e:01:02:03"')" -eq 15 ]
	[ "$(count ib-ndr 'dlid == 49152 && dgid == "ff12:4001:ffff::f01:203"')" -eq 15 ]

	# Addresses of loopback that no other test has.
	port=$(free_port)
	here=127.$((port / 256)).$((port % 256)).1 there=127.$((port / 256)).$((port % 256)).2
	up --wire "h1=$here"
	up --name b --wire "h1=$there"
	capture outside --host h1
	serve_at "$port" ibv_rc_pingpong -g 1 -n 10 -e -p "$port"
	EXEC="--name b" on h1 ibv_rc_pingpong -g 1 -n 10 -e -p "$port" 127.0.0.1
	served
	end_capture
	decode outside
	shows outside "t['bad_icrc'] == 0"
	[ "$(count outside "src == \"$here\" && dst == \"$there\"")" -gt 40 ]
	[ "$(count outside "src == \"$there\" && dst == \"$here\"")" -gt 40 ]
	"$WEFT" down

	up
	"$WEFT" fault link h1 corrupt 1%
	capture bad
	pair ib_send_bw -F -x 1 --force-link=Ethernet -s 4096 -n 500 -u 16
	end_capture
	decode bad
	shows bad "t['bad_icrc'] > 0"
}

@test "what is asked wrongly" {
	up
	run -2 "$WEFT" capture -o x --host h9
	[[ "$output" == *"'h9' is no host"* ]]
	run -2 "$WEFT" capture -o x --snaplen 0
	run -2 "$WEFT" capture -o x --count 0
	run -2 "$WEFT" capture -o x --duration fast
	run -2 "$WEFT" capture -o x more
	run -1 "$WEFT" capture -o /nonexistent/x
	[[ "$output" == *"/nonexistent/x: No such file"* ]]
	run -1 "$WEFT" capture -o x --name nobody
	[[ "$output" == *"there is no fabric"* ]]
}

@test "spellings of an older version" {
	up
	run -0 "$WEFT" capture --write a.pcapng --duration 1ms
	[[ "$output" == *"weft capture: --write is an old spelling of --out, for this version only"* ]]
	[ -s a.pcapng ]
	run -0 "$WEFT" capture -w b.pcapng -s 128 --duration 1ms
	[[ "$output" == *"weft capture: -w is an old spelling of --out"* ]]
	[[ "$output" == *"weft capture: -s is an old spelling of --snaplen"* ]]
	[[ "$output" == *", 128 bytes of a packet"* ]]
	[ -s b.pcapng ]
	run -0 "$WEFT" capture -o c.pcapng --duration 1ms
	[[ "$output" != *"old spelling"* ]]
	[ -s c.pcapng ]
}
