#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live
# infiniband-diags and ibutils, unmodified, on a modelled subnet that weft's manager has set up: what they say is what
# the model says.

bats_require_minimum_version 1.5.0
load manage

# same_links KIND: the links and speeds that iblinkinfo tells, from every end, are the model's.
same_links() {
	runs h1 iblinkinfo -l
	# 0xGUID "  leaf0"  65  1[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==>  0xGUID  1  1[  ] "h0 weft0" ( )
	sed -E 's/^0x[0-9a-f]+ " *([^"]*)" +[0-9]+ +([0-9]+)\[.*==> +0x[0-9a-f]+ +[0-9]+ +[0-9]+\[.*\] "([^"]*)".*/\1|\2|\3/' \
		said.txt | sed 's/ weft0//g; s/|/ /g' | sort >theirs.txt
	diff links.txt theirs.txt
	[ "$(wc -l <links.txt)" -gt 100 ]
	[ "$(grep -c '4X *106.25 Gbps Active/ *LinkUp' said.txt)" -eq "$(wc -l <links.txt)" ]
}

# same_nodes: by each of those who list them.
same_nodes() {
	runs h0 ibnetdiscover
	[ ! -s said.err ] || { cat said.err; return 1; }
	sed -nE 's/^Ca.*# "(.*) weft0".*/\1/p' said.txt | sort | diff hosts.txt -
	sed -nE 's/^Switch.*# "([^"]*)".*/\1/p' said.txt | sort | diff switches.txt -
	runs h2 ibhosts
	sed -nE 's/.*"(.*) weft0".*/\1/p' said.txt | sort | diff hosts.txt -
	runs h2 ibswitches
	sed -nE 's/.*"(.*)" enhanced.*/\1/p' said.txt | sort | diff switches.txt -
}

# routes KIND SWITCH: tables lead to all LIDs, and paths are those of the tables.
routes() {
	local n
	n=$(($(wc -l <hosts.txt) + $(wc -l <switches.txt)))
	runs h3 ibroute "$(lid "$2")"
	grep -q "$n valid lids dumped" said.txt
	runs h3 dump_fts
	[ "$(grep -c "$n valid lids dumped" said.txt)" -eq "$(wc -l <switches.txt)" ]
	runs h3 ibtracert "$(lid h0)" "$(lid h35)"
	head -1 said.txt | grep -q '^From ca .* "h0 weft0"'
	tail -1 said.txt | grep -q '^To ca .* "h35 weft0"'
	[ "$(grep -c '^\[' said.txt)" -ge 3 ]
}

# asks SWITCH: what is asked of one device is answered, and with sense.
asks() {
	local sw host what
	sw=$(lid "$1") host=$(lid h5)
	runs h4 ibstat
	grep -q "CA 'weft0'" said.txt
	runs h4 ibstatus
	grep -q 'link_layer:.*InfiniBand' said.txt
	runs h4 sminfo
	grep -q "sm lid $(lid h0) .* SMINFO_MASTER" said.txt
	for what in "NodeInfo $sw" "NodeDesc $sw" "PortInfo $sw 1" "SwitchInfo $sw" "PKeyTable $sw 1" "SL2VLTable $sw 1" \
		"VLArbitration $sw 1" "NodeInfo $host" "PortInfo $host" "PKeyTable $host" "GUIDInfo $host" "-D NodeInfo 0,1" \
		"-D PortInfo 0,1 2" "-c NodeInfo $sw 0,1"; do
		# shellcheck disable=SC2086 # words
		runs h4 smpquery $what
		[ -s said.txt ]
	done
	runs h4 smpquery PortInfo "$host"
	grep -Eq "^Lid:\.+$host$" said.txt
	grep -Eq '^LinkState:\.+Active$' said.txt
	runs h4 smpquery NodeDesc "$host"
	grep -q 'h5 weft0' said.txt
	runs h4 ibportstate "$sw" 1
	grep -Eq '^LinkState:\.+Active$' said.txt
	runs h4 ibaddr "$host"
	grep -Eq "LID start 0x$(printf %x "$host") end" said.txt
	runs h4 ibccquery ClassPortInfo "$sw"
	runs h4 ibccquery CongestionInfo "$sw"
	runs h4 ibccquery SwitchCongestionSetting "$sw"
	for what in "" -x -a -l "-x $sw 1" "-a $sw" "-x -a $sw" -r "-R $sw 1" "-D $sw 1" "-E $sw 1"; do
		# shellcheck disable=SC2086 # words
		runs h4 perfquery $what
	done
	runs h4 ibqueryerrors
	grep -q "$(($(wc -l <hosts.txt) + $(wc -l <switches.txt))) nodes checked, 0 bad nodes found" said.txt
}

@test "what is there: a fat tree" {
	managed
	fabric tree weft
	same_nodes
	same_links
	routes tree leaf3
}

@test "what is there: a dragonfly" {
	managed
	fabric dragonfly weft
	same_nodes
	same_links
	routes dragonfly "$(head -1 switches.txt)"
}

@test "what is asked of one device: a fat tree" {
	managed
	fabric tree weft
	asks leaf2
}

@test "what is asked of one device: a dragonfly" {
	managed
	fabric dragonfly weft
	asks "$(tail -1 switches.txt)"
}

@test "subnet administration" {
	local n
	managed
	needs saquery
	fabric tree weft
	n=$(wc -l <hosts.txt)
	runs h7 saquery
	[ "$(grep -c '"h[0-9]* weft0"\|h[0-9]* weft0$' said.txt)" -eq "$n" ]
	runs h7 saquery -p --src-to-dst "$(lid h1):$(lid h9)"
	grep -Eq "dlid\.+$(lid h9)$" said.txt
	# Thousands of records, in hundreds of segments, of which the daemon hands on parts.
	runs h7 saquery PR
	[ "$(grep -c 'PathRecord dump' said.txt)" -eq $(((n + 12) * (n + 12))) ]
	runs h0 saquery PIR
	[ "$(grep -c 'PortInfoRecord dump' said.txt)" -eq $((64 + 12 + $(grep -cE '^(leaf|spine)' links.txt))) ]
	runs h7 saquery LR
	[ "$(grep -c 'LinkRecord dump' said.txt)" -eq "$(wc -l <links.txt)" ]
	runs h7 saquery -g
	grep -q 'ff12:401b:ffff::ffff:ffff' said.txt
	runs h7 saquery -s
	grep -q 'IsSM' said.txt
	runs h7 saquery -c
	runs h7 saquery LFTR
	runs h7 saquery SL2VL
	runs h7 saquery MCMR
}

@test "ibdiagnet" {
	managed
	needs ibdiagnet
	fabric tree weft
	runs h6 ibdiagnet -o "$PWD/report"
	# shellcheck disable=SC2016
	tr '\r' '\n' <said.txt | grep -q '76 nodes (12 Switches & 64 CA-s) discovered'
	[ "$(sed -n '/Stages Status Report/,/Please see/p' said.txt | grep -cE ' 0 +[01] *$')" -eq 6 ] # one warning: of the rate of the group, which is OpenSM's, too
	[ "$(grep -c . report/ibdiagnet.lst)" -ge "$(($(wc -l <links.txt) / 2))" ]
}

@test "ibping, both ends" {
	managed
	needs ibping
	fabric dragonfly weft
	spawn h8 ibping -S
	answered() { on h1 ibping -c 1 "$(lid h8)" >ping.txt 2>&1; }
	lid h8
	until_true answered
	runs h1 ibping -c 3 "$(lid h8)"
	grep -q '3 packets transmitted, 3 received, 0% packet loss' said.txt
	# Two cannot be who answers on a host; on two hosts they can.
	run ! on h8 ibping -S
	kill "$pid"
	ends "$pid"
	# Nobody answers, and that is said.
	on h1 ibping -c 1 -t 200 "$(lid h8)" >said.txt || true # it is what it says that counts
	grep -q '0 received, 100% packet loss' said.txt
}

@test "counters are the model's" {
	managed
	needs ib_write_bw
	fabric tree weft 1Gbps
	# Those of a switch's port by which only this host's packets go: no MADs, while nobody asks the host.
	counters() {
		local at
		at=$(lid leaf1)
		on h0 perfquery -x "$at" 2 | sed -nE 's/^Port(Xmit|Rcv)(Data|Pkts):\.+([0-9]+)$/\3/p' | tr '\n' ' '
		"$WEFT" status --json | jq -r '.model.ports[] | select(.node == "leaf1" and .port == 2) | "\(.tx_bytes) \(.tx_packets) \(.rx_packets)"'
	}
	lid leaf1
	read -r tx_data rx_data tx_packets rx_packets bytes tx rx <<<"$(counters)"
	port=$(free_port)
	spawn h9 ib_write_bw -p "$port" -F -n 200 -s 65536 >server.txt 2>&1
	server=$pid
	listens "$port" "$server"
	on h1 ib_write_bw -p "$port" -F -n 200 -s 65536 127.0.0.1 >client.txt || { cat client.txt server.txt; return 1; }
	ended "$server"
	read -r tx_data2 rx_data2 tx_packets2 rx_packets2 bytes2 tx2 rx2 <<<"$(counters)"
	[ $((tx_packets2 - tx_packets)) -gt 3000 ]
	[ $((tx_packets2 - tx_packets)) -eq $((tx2 - tx)) ]
	[ $((rx_packets2 - rx_packets)) -eq $((rx2 - rx)) ]
	# Words of four bytes. PortXmitData has all but delimiters: here it is what the model has sent.
	[ $((4 * (tx_data2 - tx_data))) -eq $((bytes2 - bytes)) ]
	[ $((rx_data2 - rx_data)) -gt 100 ]
}

@test "the interface is Linux's, whatever programs do with it" {
	managed
	needs cc
	cc -O1 -g -Wall -Wextra -Werror -o hostile_umad "$WEFT_SOURCE_DIR/tests/live/hostile_umad.c"
	fabric tree weft
	runs h1 iblinkinfo
	mv said.txt before.txt
	for name in errors forks issm flood; do
		runs h1 ./hostile_umad "$name" || { echo "$name"; return 1; }
	done
	# Nothing of it is left.
	runs h1 ./hostile_umad errors
	runs h1 iblinkinfo
	diff before.txt said.txt
	# Packets that lead nowhere have been counted where they came in, and nowhere else.
	run ! on h9 ibqueryerrors
	[[ "$output" == *'"leaf0"'*'port 2: [PortRcvSwitchRelayErrors'*'76 nodes checked, 1 bad nodes found'* ]]
}
